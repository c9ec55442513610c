#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Healthy hosts that nobody here has are called healthy; faults planted in them come out as MATRIX.md says. The whole matrix:
# tests/bundles/silent/silent.py --matrix build/rdmadiag FOLDER > tests/bundles/silent/MATRIX.md

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	# Thousands of small files: in memory where there is room for them.
	WORK=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
}

teardown() {
	rm -rf "$WORK"
}

@test "each healthy host is told nothing that its owner would call wrong" {
	run tests/bundles/silent/silent.py "${RDMADIAG:-build/rdmadiag}" "$WORK"
	grep -v '^ok' <<<"$output"
	[ "$status" -eq 0 ]
	[ "$(grep -c '^ok' <<<"$output")" -ge 20 ]
}

@test "sixty faults, chosen by a seed, are named as the matrix says" {
	run tests/bundles/silent/silent.py --faults "${RDMADIAG:-build/rdmadiag}" "$WORK" 60 "${SEED:-1}"
	grep -v '^ok' <<<"$output"
	[ "$status" -eq 0 ]
	[ "$(grep -c '^ok' <<<"$output")" -eq 60 ]
}

@test "HOSTS.md is what the hosts say" {
	diff tests/bundles/silent/HOSTS.md <(tests/bundles/silent/silent.py --hosts)
}

@test "of all faults nine in ten are named first, and none is blamed on something else" {
	local all first wrong
	read -r all first wrong < <(sed -nE \
		's/^([0-9]+) faults: first ([0-9]+) .*, wrong ([0-9]+) .*/\1 \2 \3/p' tests/bundles/silent/MATRIX.md)
	[ "$all" -ge 400 ]
	[ $((first * 10)) -ge $((all * 9)) ]
	[ "$wrong" -eq 0 ]
}

@test "what --env prints is nothing that --check-env finds fault with" {
	local host
	for host in dgx-h100 oci-h100 h100-roce-lag mi300x-thor2-ipv6 gb200; do
		tests/bundles/silent/silent.py --lay "$host" "$WORK/$host"
		"${RDMADIAG:-build/rdmadiag}" --from "$WORK/$host" nic-map --env all >"$WORK/env"
		[ "$(wc -l <"$WORK/env")" -ge 5 ]
		"${RDMADIAG:-build/rdmadiag}" --from "$WORK/$host" nic-map --check-env --env-file "$WORK/env"
	done
}
