#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Healthy hosts that nobody here has are called healthy; faults planted in them come out as MATRIX.md says. The whole matrix:
# tests/bundles/silent/silent.py --matrix build/rdmadiag FOLDER > tests/bundles/silent/MATRIX.md

bats_require_minimum_version 1.5.0

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

@test "hosts in order that could trip a rule, and broken ones beside them, are called what they are" {
	run tests/bundles/silent/twins.py "${RDMADIAG:-build/rdmadiag}" "$WORK/twins"
	grep -v '^ok' <<<"$output"
	[ "$status" -eq 0 ]
	[ "$(grep -c '^ok' <<<"$output")" -ge 180 ]
}

@test "KINDS.md is what the rows say, and has three of each of every kind" {
	diff tests/bundles/silent/KINDS.md <(tests/bundles/silent/twins.py --table)
	run awk -F'|' 'NR > 7 && ($4 + 0 < 3 || $5 + 0 < 3) { print $2 }' tests/bundles/silent/KINDS.md
	[ -z "$output" ]
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

@test "rules about RoCE leave iWARP alone, where the kernel shows the MAC address as a GID of RoCE v1" {
	local dev gid n=0
	tests/bundles/silent/silent.py --lay irdma-hpc "$WORK/iwarp"
	for dev in "$WORK"/iwarp/sys/class/infiniband/*; do
		echo "4: RNIC" >"$dev/node_type"
		for gid in "$dev"/ports/1/gids/*; do echo 0000:0000:0000:0000:0000:0000:0000:0000 >"$gid"; done
		for gid in "$dev"/ports/1/gid_attrs/types/*; do echo "IB/RoCE v1" >"$gid"; done
		n=$((n + 1))
		echo "b496:9100:112$n:0000:0000:0000:0000:0000" >"$dev/ports/1/gids/0"
	done
	run -0 "${RDMADIAG:-build/rdmadiag}" --from "$WORK/iwarp" check
	[[ $output == "RDMA OK - 2 of 2 ports active"* ]]
	# The same, called RoCE: it has none of version 2.
	for dev in "$WORK"/iwarp/sys/class/infiniband/*; do echo "1: CA" >"$dev/node_type"; done
	run -1 "${RDMADIAG:-build/rdmadiag}" --from "$WORK/iwarp" topo-check --only gid-v2
}

@test "a limit of the board is a note: a port reached over two functions, the only NIC on one of two sockets" {
	local dev n=0
	tests/bundles/silent/silent.py --lay hgx-b200 "$WORK/one"
	# One card is left, on the first socket; all others have never been there.
	for dev in "$WORK"/one/sys/class/infiniband/*; do
		n=$((n + 1))
		[ "${dev##*/}" = mlx5_0 ] || { rm -rf "$(readlink -f "$dev/device")" "$dev"; }
	done
	[ $n -gt 4 ]
	find "$WORK/one" -xtype l -delete
	run "${RDMADIAG:-build/rdmadiag}" --from "$WORK/one" topo-check --only gpu-nic-socket --json
	jq -e '.checks | length == 1 and .[0].result == "pass" and (.[0].observed | startswith("the only NIC"))' <<<"$output"
	# Where there is another one, on a switch of the other socket or not, it is a fault that none is near.
	tests/bundles/silent/silent.py --lay hgx-b200 "$WORK/two"
	for dev in "$WORK"/two/sys/class/infiniband/*; do
		[[ ${dev##*/} == mlx5_[01] ]] || { rm -rf "$(readlink -f "$dev/device")" "$dev"; }
	done
	find "$WORK/two" -xtype l -delete
	run -1 "${RDMADIAG:-build/rdmadiag}" --from "$WORK/two" topo-check --only gpu-nic-socket

	tests/bundles/silent/silent.py --lay hgx-b200 "$WORK/split"
	echo "800 Gb/sec (4X XDR)" >"$WORK/split/sys/class/infiniband/mlx5_0/ports/1/rate"
	run -1 "${RDMADIAG:-build/rdmadiag}" --from "$WORK/split" topo-check --only pcie-bandwidth
	cp "$WORK/split/sys/class/infiniband/mlx5_0/sys_image_guid" "$WORK/split/sys/class/infiniband/mlx5_1/"
	run -0 "${RDMADIAG:-build/rdmadiag}" --from "$WORK/split" topo-check --only pcie-bandwidth --severity note
	[[ $output == *"which other functions reach as well"* ]]
}
