# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# To be sourced in the top folder, or with its path in `top`: programs that `make test-deps` unpacked below build/ are found, and
# those for administrators.
PATH=$PATH:/usr/sbin:/sbin:${top:-$PWD}/build/tools/bin
export PATH
