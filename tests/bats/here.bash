# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# For all files: they run at the top of the checkout, with the binary in RD.

bats_require_minimum_version 1.5.0

cd "$BATS_TEST_DIRNAME/../.." || exit 1
RD=${RDMADIAG:-$PWD/build/rdmadiag}
