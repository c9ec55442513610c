#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
# counters --fabric without a network: what is refused, plans, topologies held against each other.

load here

setup() {
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

# The exit status that it must have, and options.
fabric() {
	run "-$1" --separate-stderr "$RD" counters --fabric "${@:2}"
}

@test "a command line that makes no sense is refused, exit 3" {
	for args in "mlx5_0" "--nonzero" "--plan" "--shard 0/4" "--shard 5/4" "--shard x" "--shard 1/2 --shards f" \
		"--topology $PLAN" "--interval 0.01" "--window 0" "--subsets nonsense" "--plan --shard 1/2 --interval 1" \
		"--live --json" "--count 3" "--openmetrics --interval 1" "--record x.txt" "--record x.json" "--from none.csv"; do
		# shellcheck disable=SC2086 # words
		fabric 3 $args
		[ -z "$output" ]
		[ -n "$stderr" ]
		[[ $stderr != *"errno"* ]]
	done
	run -3 --separate-stderr "$RD" counters --plan
	[[ $stderr == *"requires --fabric"* ]]
}

@test "a host without a way into a network says so, exit 3" {
	[ ! -e /dev/infiniband/umad0 ] || skip "this host has one"
	fabric 3
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -le 2 ]
	[[ $stderr == "rdmadiag: "*"("E*")"* ]]
	fabric 3 --json
	[ "$(json 'd["status"], len(d["errors"])')" = "(3, 1)" ]
}

@test "the plan gives every port to one host, evenly, whoever asks" {
	printf '%s\n' n00 n11 n22 n33 n40 n51 n62 n73 >"$HOSTS"
	fabric 0 --plan --shards "$HOSTS" --topology "$PLAN" --json
	[ "$(json 'sum(h["ports"] for h in d["plan"]) == d["ports"] == 128')" = True ]
	[ "$(json 'all(h["ports"] <= 16 + 4 for h in d["plan"])')" = True ]
	[ "$(json 'all(h["found"] and h["own"] == 1 and h["leaf"] > 0 and h["predicted_seconds"] > 0 for h in d["plan"])')" = True ]
	[ "$(json 'd["latency_kind"]')" = assumed ]
	topology=$(json 'd["topology"]')
	tac "$HOSTS" >"$HOSTS.other"
	fabric 0 --plan --shards "$HOSTS.other" --topology "$PLAN" --json
	[ "$(json 'd["topology"]')" = "$topology" ]
}

@test "the share of a host that is not there is shown as not covered, exit 1" {
	printf '%s\n' n00 n11 gone >"$HOSTS"
	fabric 1 --plan --shards "$HOSTS" --topology "$PLAN"
	[[ $output =~ (3[0-9]|4[0-9])" of 128 ports not covered" ]]
	fabric 1 --plan --shards "$HOSTS" --topology "$PLAN" --json
	[ "$(json '[h["host"] for h in d["plan"] if not h["found"]]')" = "['gone']" ]
}

@test "eight and 64 hosts share the largest network evenly" {
	file=$PWD/../shared/data/fabric/psmn-X5.ibnetdiscover.txt
	[ -e "$file" ] || skip "the data is not here"
	for n in 8 64; do
		fabric 0 --plan --shard "1/$n" --topology "$file" --json
		[ "$(json 'sum(h["ports"] for h in d["plan"]) == d["ports"] > 400')" = True ]
		[ "$(json "all(h['ports'] <= d['ports'] / $n + 1 + (d['ports'] / $n) ** 0.5 for h in d['plan'])")" = True ]
	done
}

@test "a topology as planned has nothing to say; cables and nodes that differ are named" {
	fabric 0 --compare "$PLAN" --topology "$PLAN"
	[ "${lines[0]}" = "$PLAN: 0 differences from $PLAN" ]
	grep -v '^link 0x200 1 ' "$PLAN" | sed 's/^link 0x201 1 0x3010 1/link 0x201 1 0x3011 1/; s/^link 0x201 2 0x3011 1/link 0x201 2 0x3010 1/' >"$NOW"
	fabric 1 --compare "$PLAN" --topology "$NOW" --json
	[ "$(json 'sorted(f["id"] for f in d["findings"])')" = \
		"['fabric-cable-missing', 'fabric-cable-moved', 'fabric-cable-moved']" ]
	grep -v 0x3000 "$PLAN" >"$NOW"
	fabric 2 --compare "$PLAN" --topology "$NOW"
	[[ $output == *"critical: n00 mlx5_0 (0x0000000000003000): channel adapter in the saved topology is missing from the fabric"* ]]
}

@test "a damaged file is refused with its line" {
	echo 'node 1 switch' >>"$PLAN"
	fabric 3 --compare "$PLAN" --topology "$PLAN"
	[[ $stderr == *"$PLAN: line "*": expected: node GUID"* ]]
	fabric 3 --compare /no/such --topology "$PLAN"
	[[ $stderr == *"/no/such"*"(ENOENT)"* ]]
	echo 'SymbolErrorCounter ten' >"$NOW"
	fabric 3 --thresholds "$NOW"
	[[ $stderr == *"$NOW: line 1: "* ]]
	echo 'node[1-3]' >"$HOSTS"
	fabric 3 --plan --shards "$HOSTS" --topology "$PLAN"
	[[ $stderr == *"scontrol show hostnames"* ]]
}

@test "a reader that goes away ends it quietly" {
	printf '%s\n' n00 n11 >"$HOSTS"
	run --separate-stderr bash -c '"$1" counters --fabric --plan --shards "$2" --topology "$3" | head -1' - "$RD" "$HOSTS" "$PLAN"
	[ -z "$stderr" ]
	run -3 --separate-stderr bash -c '"$1" counters --fabric --plan --shards "$2" --topology "$3" >/dev/full' - "$RD" "$HOSTS" "$PLAN"
}

# share FILE HOST SHARE SECONDS PORT[:ERRORS]...: a document of a share of two, as --json prints it.
share() {
	python3 - "$@" <<'END'
import json, sys
file, host, index, seconds, *ports = sys.argv[1:]
rows = [{"node": "leaf, \"one\"", "port": int(p.split(":")[0]), "node_guid": "0x0000000000000100", "lid": 7, "kind": "switch",
         "state": "ACTIVE", "link": "4x HDR", "fresh": ":x" not in p, "age_seconds": 0.5, "error": "ETIMEDOUT" if ":x" in p else None,
         "counters": {"SymbolErrorCounter": int((p + ":0").split(":")[1]) if ":x" not in p else None}} for p in ports]
bad = [{"id": "fabric-errors", "severity": "warning", "subject": f"port {p.split(':')[0]}", "title": "errors", "observed": p,
        "expected": "0", "why": "a cable", "fix": "perfquery -R 7 3\nsminfo", "advice": "swap it; then look again"} for p in ports if ":" in p and ":x" not in p]
json.dump({"schema": "rdmadiag/counters-fabric/1", "version": "1", "host": host, "time": f"2026-01-02T03:04:{int(seconds):02}.250000Z",
           "source": "live", "sweep": {"nodes": 1, "ports": len(rows), "fresh": len(rows)},
           "shard": {"host": host, "index": int(index), "of": 2, "ports": len(rows), "all_ports": 6,
                     "topology": "0x00000000000000" + ("bb" if host.startswith("other") else "aa")},
           "ports": rows, "findings": bad, "errors": [], "status": 1 if bad else 0}, open(file, "w"))
END
}

@test "shares are put together: coverage, skew, and findings once" {
	share "$PLAN.1" one 1 10 1 2 3:300
	share "$PLAN.2" two 2 12 4 5 6:x
	fabric 1 --merge "$PLAN.1" "$PLAN.2" --json
	[ "$(json 'd["schema"], d["skew_seconds"], d["coverage"]')" = "('rdmadiag/counters-fabric-merge/1', 2.0, {'shares': 2, 'shares_missing': 0, 'ports': 6, 'fresh': 5, 'unread': 1, 'ports_missing': 0, 'duplicates': 0})" ]
	[ "$(json '[(f["id"], f["subject"], f["fix"], f["advice"]) for f in d["findings"]]')" = "[('fabric-errors', 'port 3', 'perfquery -R 7 3\nsminfo', 'swap it; then look again')]" ]
	[ "$(json '[(p["port"], p["fresh"], p["age_seconds"], p["counters"]["SymbolErrorCounter"]) for p in d["ports"]][2:6:3]')" = "[(3, True, 2.5, 300), (6, False, 0.5, None)]" ]
	fabric 1 --merge "$PLAN.1" "$PLAN.2"
	[ "${lines[0]}" = "2 of 2 shares: 0 critical, 1 warning; 1 nodes, 5 ports read, 1 NOT read; read within 2.0 s" ]
}

@test "of a port that two files have the newest reading counts, and a finding of both is reported once" {
	share "$PLAN.1" one 1 10 1 2 3:300
	share "$PLAN.2" two 2 12 3:400 4 5
	fabric 1 --merge "$PLAN.2" "$PLAN.1" --json
	[ "$(json 'd["coverage"]["duplicates"], [p["counters"]["SymbolErrorCounter"] for p in d["ports"]], len(d["findings"])')" = "(1, [0, 0, 400, 0, 0], 1)" ]
}

@test "a missing share, a share of another topology and an old one are named" {
	share "$PLAN.1" one 1 10 1 2 3
	share "$PLAN.2" two 2 12 4 5 6
	printf '%s\n' two one >"$HOSTS"
	fabric 1 --merge --shards "$HOSTS" "$PLAN.1"
	[[ ${lines[0]} == "1 of 2 shares: 0 critical, 1 warning; 1 nodes, 3 ports read, 3 of missing shares; "* ]]
	[[ $output == *"share 2 (two) of 2"*"3 ports not read"* ]]
	share "$PLAN.3" other 2 12 4 5 6
	fabric 1 --merge --json "$PLAN.1" "$PLAN.2" "$PLAN.3"
	[ "$(json '[f["id"] for f in d["findings"]], "other" in d["findings"][0]["subject"]')" = "(['fabric-share-topology'], True)" ]
	sed -i 's/03:04:12/03:24:12/' "$PLAN.2"
	fabric 1 --merge --json "$PLAN.1" "$PLAN.2"
	[ "$(json '[(f["id"], f["subject"].split()[0]) for f in d["findings"]]')" = "[('fabric-share-old', 'one')]" ]
}

@test "of lines of one host the latest sweep is used" {
	share "$PLAN.1" one 1 10 1:300 2 3
	share "$PLAN.2" one 1 20 1 2
	share "$PLAN.3" two 2 20 4 5 6
	(cat "$PLAN.2" && echo && cat "$PLAN.1" && echo) >"$PLAN.lines"
	fabric 0 --merge --json "$PLAN.lines" "$PLAN.3"
	[ "$(json 'len(d["shares"]), [p["port"] for p in d["ports"]], d["coverage"]["duplicates"]')" = "(2, [1, 2, 4, 5, 6], 0)" ]
}

@test "documents of changes are completed by those before them, in any order of what changed" {
	share "$PLAN.1" one 1 10 1 2 3 4
	for change in '11 3:5' '12 1:7 4:8' '13 2:9 3:6'; do
		# shellcheck disable=SC2086 # words
		share "$PLAN.2" one 1 $change
		jq -c '. + {changes_only: true, ports: (.ports | map({node_guid, port, fresh, age_seconds, error, counters})), findings: []}' "$PLAN.2" >"$PLAN.3"
		cat "$PLAN.3" >>"$PLAN.1"
	done
	share "$PLAN.2" two 2 13 5 6
	fabric 0 --merge --json "$PLAN.1" "$PLAN.2"
	[ "$(json '[(p["port"], p["fresh"], p["counters"]["SymbolErrorCounter"]) for p in d["ports"]]')" = \
		"[(1, True, 7), (2, True, 9), (3, True, 6), (4, True, 8), (5, True, 0), (6, True, 0)]" ]
	# What is in no earlier document cannot be completed.
	tail -n 1 "$PLAN.1" >"$PLAN.4"
	fabric 3 --merge "$PLAN.4" "$PLAN.2"
}

@test "a damaged or foreign file is refused by name" {
	share "$PLAN.1" one 1 10 1 2 3
	head -c 900 "$PLAN.1" >"$PLAN.cut"
	sed 's/"0x0000000000000100"/"leaf"/' "$PLAN.1" >"$PLAN.guid"
	sed 's/"index": 1/"index": 3/' "$PLAN.1" >"$PLAN.index"
	sed 's/"time": "2026/"time": "x/' "$PLAN.1" >"$PLAN.time"
	sed 's/counters-fabric/qp-state/' "$PLAN.1" >"$PLAN.schema"
	printf '%*s' 100000 '' | tr ' ' '[' | sed 's/^/{"schema": "rdmadiag\/counters-fabric\/1", "ports": /' >"$PLAN.deep"
	sed 's/"findings"/"found"/' "$PLAN.1" >"$PLAN.unjudged"
	(echo time,host && echo 2026-01-02T03:04:05Z,one) >"$PLAN.csv"
	: >"$PLAN.empty"
	for file in cut guid index time schema deep unjudged csv empty; do
		fabric 3 --merge "$PLAN.1" "$PLAN.$file"
		[ -z "$output" ]
		[[ $stderr == *"$PLAN.$file: "* ]]
	done
	fabric 3 --merge /no/such
	[[ $stderr == *"/no/such"*"(ENOENT)"* ]]
	fabric 3 --merge
}
