#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# turn: 2
# What another user or another host can write is bounded, and over the bound the command says so. Within 400 MB of address
# space and 10 s of CPU, twice what tests/bench/worst, which measures all of these inputs, aims at.

load made-up-host
# worst NAME: makes this input of tests/bench/worst_inputs.py, its path in INPUT.
worst() {
	INPUT=$(python3 -B tests/bench/worst_inputs.py "$BATS_TEST_TMPDIR" "$1")
}

# bounded OPTIONS…: runs rdmadiag with little memory and little time.
bounded() {
	case $RD in *san/*) skip "sanitizers reserve terabytes" ;; esac
	# shellcheck disable=SC2016 # for the inner shell
	run --separate-stderr bash -c 'ulimit -v 400000 -t 10; exec "$@"' - "$RD" "$@"
}

@test "850,000 variables are refused" {
	worst env_names
	bounded --from "$HOST" nic-map --check-env --env-file "$INPUT"
	[ "$status" -eq 3 ]
	[[ $stderr == *"more than 4096 variables"* ]]
}

@test "a variable longer than any process can have is refused" {
	{ printf NCCL_IB_HCA=; head -c 131072 /dev/zero | tr '\0' ,; } >"$BATS_TEST_TMPDIR/env"
	bounded --from "$HOST" nic-map --check-env --env-file "$BATS_TEST_TMPDIR/env"
	[ "$status" -eq 3 ]
	[[ $stderr == *"128 KiB"* ]]
}

@test "more settings for all jobs than are judged are unknown, not good" {
	cp -r "$HOST" "$BATS_TEST_TMPDIR/host"
	mkdir -p "$BATS_TEST_TMPDIR/host/etc"
	seq -f 'NCCL_A%.0f=1' 5000 >"$BATS_TEST_TMPDIR/host/etc/nccl.conf"
	bounded --from "$BATS_TEST_TMPDIR/host" topo-check --only job-env
	[ "$status" -eq 3 ]
	[[ $output == *"more than 4096 variables"* ]]
}

@test "more pairs of accelerators and NICs than are shown are refused" {
	worst xml_pairs
	bounded --from "$INPUT" nic-map --json
	[ "$status" -eq 3 ]
	[[ $stderr == *"too many pairs of an accelerator and an RDMA device: 65536, at most 16384"* ]]
}

@test "an element of half a million attributes is refused" {
	worst xml_names
	bounded --from "$INPUT" nic-map
	[ "$status" -eq 3 ]
	[[ $stderr == *"xml_names.xml: line 1: more than 32 attributes in an element"* ]]
	bounded --from "$HOST" nic-map --against "$INPUT"
	[ "$status" -eq 3 ]
	[[ $stderr == *"xml_names.xml: line 1: more than 32 attributes in an element"* ]]
}

@test "as many as are shown" {
	worst xml_most
	bounded --from "$INPUT" nic-map --json
	[ "$status" -eq 0 ]
	[ "$(jq '.paths | length' <<<"$output")" -eq 16384 ]
}

@test "a host of 2048 NICs: no matrix, and a rule names 256 and counts the rest" {
	worst host_nics
	bounded --from "$INPUT" nic-map
	[ "$status" -eq 0 ]
	[[ $stderr == *"matrix omitted: too many devices: 2056, at most 512"* ]]
	bounded --from "$INPUT" nic-map --matrix
	[ "$status" -eq 3 ]
	bounded --from "$INPUT" topo-check --json
	[ "$status" -eq 2 ]
	[ "$(jq '[.findings[] | select(.id == "nic-driver")] | length' <<<"$output")" -eq 257 ]
	jq -e '.findings[] | select(.subject | test("^[0-9]+ more$")) | .observed == "only the first 256 are listed"' <<<"$output"
}

@test "a saved sample of millions of empty objects is refused" {
	worst counters_nested
	bounded --from "$HOST" counters --since "$INPUT"
	[ "$status" -eq 3 ]
	[[ $stderr == *"not a saved sample of counters"* ]]
}

@test "a saved sample of more ports than a host has is refused" {
	worst counters_ports
	bounded --from "$HOST" counters --since "$INPUT"
	[ "$status" -eq 3 ]
	[[ $stderr == *"more than 4096 ports"* ]]
}

@test "one name again and again in an archive" {
	worst bundle_repeated
	bounded --from "$INPUT" nic-map
	[ "$status" -eq 3 ]
	[[ $stderr == *"contains more than 524288 files"* ]]
}

@test "headers of an archive count, too" {
	worst bundle_headers
	bounded --from "$INPUT" nic-map
	[ "$status" -eq 3 ]
	[[ $stderr == *"contains more than"* ]]
}

@test "a profile of 65,000 objects" {
	worst profile
	bounded --from "$HOST" topo-check --profile "$INPUT"
	[ "$status" -eq 2 ]
}

@test "a profile of 65,000 patterns is refused" {
	worst profile_patterns
	bounded --from "$HOST" topo-check --profile "$INPUT"
	[ "$status" -eq 3 ]
	[[ $stderr == *"too many lines with '*': at most 1024"* ]]
}

@test "a host of 400,000 routes" {
	worst host_routes
	bounded --from "$INPUT" nic-map
	[ "$status" -eq 0 ]
}

@test "--nccl-xml and --env hold no control characters, C1 among them" {
	local topo='<system version="1"><cpu numaid="0"><pci busid="0000:01:00.0" class="0x020700" link_speed="16 GT/s" link_width="16"><nic><net name="%s" dev="0" speed="400000" port="1"/></nic></pci></cpu></system>'
	# shellcheck disable=SC2059 # the name goes in
	printf "$topo" $'ib\xc2\x9b31m&#9;x' >"$BATS_TEST_TMPDIR/topo.xml"
	run -0 "$RD" --from "$BATS_TEST_TMPDIR/topo.xml" nic-map --nccl-xml
	[[ $output == *'name="ib\xc2\x9b31m\x09x"'* ]]
	# No XML, and said without them.
	# shellcheck disable=SC2059
	printf "$topo" $'ib\x1b[31mx' >"$BATS_TEST_TMPDIR/"$'\e[31m.xml'
	run -3 --separate-stderr "$RD" --from "$BATS_TEST_TMPDIR/"$'\e[31m.xml' nic-map --nccl-xml
	[[ $stderr == *'\x1b[31m.xml: line 1: not well-formed (invalid token)'* && $stderr != *$'\e'* ]]
}
