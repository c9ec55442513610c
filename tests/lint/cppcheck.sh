#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Static analysis without findings: cppcheck.sh [FILE…]. Exit 77 (skip) where cppcheck is not installed.
cd "$(dirname "$0")/../.." || exit 1
[ $# -gt 0 ] || set -- lib cmd
if ! command -v cppcheck >/dev/null; then
	echo "cppcheck is not here"
	exit 77
fi
mkdir -p build/cppcheck
# Left out: system headers; leaks, as cppcheck does not know scope guards (the sanitized tests find those).
cppcheck --quiet --error-exitcode=1 --inline-suppr -j "$(nproc)" --std=c11 --language=c \
	--cppcheck-build-dir=build/cppcheck \
	--enable=warning,performance,portability \
	--suppress=missingIncludeSystem --suppress=unmatchedSuppression --suppress='*:build/*' \
	--suppress=memleak --suppress=resourceLeak \
	--suppress=normalCheckLevelMaxBranches --suppress=checkersReport \
	-D__x86_64__ -D__linux__ '-DLIBBPF_OPTS(type, name, ...)=struct type name = { 0 }' -D_GNU_SOURCE= -DRD_VERSION='"0"' -DRD_DATADIR='"/"' -DRD_SYSCONFDIR='"/"' -I. -Ilib "$@"
