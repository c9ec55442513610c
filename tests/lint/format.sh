#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# All C is as clang-format 14 leaves it: other versions differ in small ways, so exit 77 (skip) without it.
cd "$(dirname "$0")/../.." || exit 1
format=
for name in clang-format-14 clang-format; do
	case $($name --version 2>/dev/null) in
	*"version 14."*) format=$name && break ;;
	esac
done
if [ -z "$format" ]; then
	echo "clang-format 14 is not here"
	exit 77
fi
mapfile -t files < <(find lib cmd bpf tests -name '*.[ch]' | sort)
"$format" --dry-run -Werror "${files[@]}"
