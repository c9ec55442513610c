#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# All shell scripts pass shellcheck. Exit 77 (skip) where it is not installed.
cd "$(dirname "$0")/../.." || exit 1
if ! command -v shellcheck >/dev/null; then
	echo "shellcheck is not here"
	exit 77
fi
mapfile -t scripts < <(grep -rlIE '^#!/(usr/)?bin/(env )?(ba|da)?sh' --exclude-dir=.git --exclude-dir=build . | sort)
shellcheck --severity=warning "${scripts[@]}" completions/rdmadiag.bash
