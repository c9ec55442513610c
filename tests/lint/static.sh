#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `make static` makes a program that loads libmnl when it is needed: each function of libmnl that the program calls has a wrapper.
set -euo pipefail
cd "$(dirname "$0")/../.."
list=lib/source/shared/libmnl.c
missing=$(comm -23 <(nm -D -u build/rdmadiag | awk '$2 ~ /^mnl_/ { sub(/@.*/, "", $2); print $2 }' | sort -u) \
	<(grep -o 'x(mnl_[a-z0-9_]*)' $list | sed 's/x(//; s/)//' | sort -u))
[ -z "$missing" ] || {
	printf '%s: no wrapper for %s\n' $list "${missing//$'\n'/, }"
	exit 1
}
