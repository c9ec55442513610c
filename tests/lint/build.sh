#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The program builds without a warning, with V=1, and in another folder to the same bytes.
set -eu
cd "$(dirname "$0")/../.."
other=build/other-folder/of-another-name
unset MAKEFLAGS MAKELEVEL MFLAGS
make -s -j"$(nproc)" all
rm -rf build/other-folder
mkdir -p $other
cp -r Makefile bpf cmd data lib $other
make -C $other -j"$(nproc)" V=1 WERROR=1 all >build/other-folder/log 2>&1 || {
	grep -E -B2 -A8 'error|warning|Error' build/other-folder/log || tail -20 build/other-folder/log
	exit 1
}
if ! cmp build/rdmadiag $other/build/rdmadiag; then
	echo "the binary depends on the folder it is built in"
	exit 1
fi
rm -rf build/other-folder/of-another-name
