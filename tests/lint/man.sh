#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The pages are sound mdoc. Exit 77 (skip) where mandoc is not installed.
cd "$(dirname "$0")/../.." || exit 1
if ! command -v mandoc >/dev/null; then
	echo "mandoc is not here"
	exit 77
fi
mandoc -T lint -W warning man/*.[1-9] 2>&1 | grep -v 'outdated mandoc.db' && exit 1
exit 0
