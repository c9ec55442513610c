# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# For files about the host that tests/bench/nic-map-tree makes up: made once a file, its folder in HOST; the binary in RD.

setup_file() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	export HOST=$BATS_FILE_TMPDIR/host
	tests/bench/nic-map-tree "$HOST"
}

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	export RD=${RDMADIAG:-$PWD/build/rdmadiag} NO_COLOR=1
}
