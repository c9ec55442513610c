#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
# counters --fabric without a network: what is refused, plans, topologies held against each other.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	RD=${RDMADIAG:-$PWD/build/rdmadiag}
	export NO_COLOR=1
	PLAN=$BATS_TEST_TMPDIR/plan
	NOW=$BATS_TEST_TMPDIR/now
	HOSTS=$BATS_TEST_TMPDIR/hosts
	tree >"$PLAN"
}

# A fat tree: 8 leaves with 4 hosts each, 4 spines.
tree() {
	echo '# rdmadiag topology 1'
	for s in 0 1 2 3; do echo "node 0x10$s switch 8 \"spine$s\""; done
	for l in 0 1 2 3 4 5 6 7; do
		echo "node 0x20$l switch 8 \"leaf$l\""
		for h in 0 1 2 3; do
			echo "node 0x30$l$h ca 1 \"n$l$h mlx5_0\""
			echo "link 0x20$l $((h + 1)) 0x30$l$h 1 4xHDR"
			echo "link 0x20$l $((h + 5)) 0x10$h $((l + 1)) 4xHDR"
		done
	done
}

# What a document holds: json EXPRESSION, in Python, the document being d.
json() {
	python3 -c 'import json, sys; d = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1" <<<"$output"
}

fabric() {
	run --separate-stderr "$RD" counters --fabric "$@"
}

@test "a command line that makes no sense is refused, exit 3" {
	for args in "mlx5_0" "--nonzero" "--plan" "--shard 0/4" "--shard 5/4" "--shard x" "--shard 1/2 --shards f" \
		"--topology $PLAN" "--interval 0.01" "--window 0" "--subsets nonsense" "--plan --shard 1/2 --interval 1" \
		"--live --json" "--count 3" "--openmetrics --interval 1" "--record x.txt"; do
		# shellcheck disable=SC2086 # words
		fabric $args
		[ "$status" -eq 3 ] || { echo "$args: $status" && false; }
		[ -z "$output" ]
		[ -n "$stderr" ]
		[[ $stderr != *"errno"* ]]
	done
	run --separate-stderr "$RD" counters --plan
	[ "$status" -eq 3 ]
	[[ $stderr == *"requires --fabric"* ]]
}

@test "a host without a way into a network says so, exit 3" {
	[ ! -e /dev/infiniband/umad0 ] || skip "this host has one"
	fabric
	[ "$status" -eq 3 ]
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -le 2 ]
	[[ $stderr == "rdmadiag: "*"("E*")"* ]]
	fabric --json
	[ "$status" -eq 3 ]
	[ "$(json 'd["status"], len(d["errors"])')" = "(3, 1)" ]
}

@test "the plan gives every port to one host, evenly, whoever asks" {
	printf '%s\n' n00 n11 n22 n33 n40 n51 n62 n73 >"$HOSTS"
	fabric --plan --shards "$HOSTS" --topology "$PLAN" --json
	[ "$status" -eq 0 ]
	[ "$(json 'sum(h["ports"] for h in d["plan"]) == d["ports"] == 128')" = True ]
	[ "$(json 'all(h["ports"] <= 16 + 4 for h in d["plan"])')" = True ]
	[ "$(json 'all(h["found"] and h["own"] == 1 and h["leaf"] > 0 and h["predicted_seconds"] > 0 for h in d["plan"])')" = True ]
	[ "$(json 'd["latency_kind"]')" = assumed ]
	topology=$(json 'd["topology"]')
	tac "$HOSTS" >"$HOSTS.other"
	fabric --plan --shards "$HOSTS.other" --topology "$PLAN" --json
	[ "$(json 'd["topology"]')" = "$topology" ]
}

@test "the share of a host that is not there is shown as not covered, exit 1" {
	printf '%s\n' n00 n11 gone >"$HOSTS"
	fabric --plan --shards "$HOSTS" --topology "$PLAN"
	[ "$status" -eq 1 ]
	[[ $output =~ (3[0-9]|4[0-9])" of 128 ports not covered" ]]
	fabric --plan --shards "$HOSTS" --topology "$PLAN" --json
	[ "$(json '[h["host"] for h in d["plan"] if not h["found"]]')" = "['gone']" ]
}

@test "eight and 64 hosts share the largest network evenly" {
	file=$PWD/../shared/data/fabric/psmn-X5.ibnetdiscover.txt
	[ -e "$file" ] || skip "the data is not here"
	for n in 8 64; do
		fabric --plan --shard "1/$n" --topology "$file" --json
		[ "$status" -eq 0 ]
		[ "$(json 'sum(h["ports"] for h in d["plan"]) == d["ports"] > 400')" = True ]
		[ "$(json "all(h['ports'] <= d['ports'] / $n + 1 + (d['ports'] / $n) ** 0.5 for h in d['plan'])")" = True ]
	done
}

@test "a topology as planned has nothing to say; cables and nodes that differ are named" {
	fabric --compare "$PLAN" --topology "$PLAN"
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "$PLAN: 0 differences from $PLAN" ]
	grep -v '^link 0x200 1 ' "$PLAN" | sed 's/^link 0x201 1 0x3010 1/link 0x201 1 0x3011 1/; s/^link 0x201 2 0x3011 1/link 0x201 2 0x3010 1/' >"$NOW"
	fabric --compare "$PLAN" --topology "$NOW" --json
	[ "$status" -eq 1 ]
	[ "$(json 'sorted(f["id"] for f in d["findings"])')" = \
		"['fabric-cable-missing', 'fabric-cable-moved', 'fabric-cable-moved']" ]
	grep -v 0x3000 "$PLAN" >"$NOW"
	fabric --compare "$PLAN" --topology "$NOW"
	[ "$status" -eq 2 ]
	[[ $output == *"critical: n00 mlx5_0 (0x0000000000003000): channel adapter in the saved topology is missing from the fabric"* ]]
}

@test "a damaged file is refused with its line" {
	echo 'node 1 switch' >>"$PLAN"
	fabric --compare "$PLAN" --topology "$PLAN"
	[ "$status" -eq 3 ]
	[[ $stderr == *"$PLAN: line "*": expected: node GUID"* ]]
	fabric --compare /no/such --topology "$PLAN"
	[ "$status" -eq 3 ]
	[[ $stderr == *"/no/such"*"(ENOENT)"* ]]
	echo 'SymbolErrorCounter ten' >"$NOW"
	fabric --thresholds "$NOW"
	[ "$status" -eq 3 ]
	[[ $stderr == *"$NOW: line 1: "* ]]
	echo 'node[1-3]' >"$HOSTS"
	fabric --plan --shards "$HOSTS" --topology "$PLAN"
	[ "$status" -eq 3 ]
	[[ $stderr == *"scontrol show hostnames"* ]]
}

@test "a reader that goes away ends it quietly" {
	printf '%s\n' n00 n11 >"$HOSTS"
	run --separate-stderr bash -c '"$1" counters --fabric --plan --shards "$2" --topology "$3" | head -1' - "$RD" "$HOSTS" "$PLAN"
	[ -z "$stderr" ]
	run --separate-stderr bash -c '"$1" counters --fabric --plan --shards "$2" --topology "$3" >/dev/full' - "$RD" "$HOSTS" "$PLAN"
	[ "$status" -eq 3 ]
}
