#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In another folder the same commit becomes the same bytes, without a warning: its programs for the kernel, and a part of its
# objects, because the whole is built with WERROR=1 in the fresh machine, and as a package in a folder of its own.
set -eu
cd "$(dirname "$0")/../.."
other=build/other-folder/of-another-name
unset MAKEFLAGS MAKELEVEL MFLAGS
make -s -j"$(nproc)" all
rm -rf build/other-folder
mkdir -p $other
cp -r Makefile bpf cmd data lib $other
mapfile -t objects < <(find lib cmd -name '*.c' | sort | awk 'NR % 12 == 1 { sub(/c$/, "o"); print "build/obj/" $0 }')
make -C $other -j"$(nproc)" V=1 WERROR=1 "${objects[@]}" >build/other-folder/log 2>&1 || {
	grep -E -B2 -A8 'error|warning|Error' build/other-folder/log || tail -20 build/other-folder/log
	exit 1
}
mapfile -t programs < <(cd $other && find build/bpf -name '*.skel.h')
for object in "${objects[@]}" "${programs[@]:?no programs for the kernel}"; do
	cmp "$object" "$other/$object" || {
		echo "the binary depends on the folder it is built in"
		exit 1
	}
done
rm -rf build/other-folder/of-another-name
