#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
# qp-state on captures of two virtual machines (tests/vm/cases/58-qp-join.sh makes such): tables, documents, exit codes, the other end. What needs
# a kernel of its own is in tests/vm.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	RD=${RDMADIAG:-$PWD/build/rdmadiag}
	export NO_COLOR=1
	A=tests/bundles/pair-a.tar.zst B=tests/bundles/pair-b.tar.zst
	HALF_A=tests/bundles/half-a.tar.zst HALF_B=tests/bundles/half-b.tar.zst
}

qp() {
	"$RD" --from "$A" qp-state "$@"
}

@test "a table, and a document with the keys of the contract" {
	run -0 qp
	[[ ${lines[0]} == IBDEV*PORT*LQPN*TYPE*STATE*RQPN*PEER*PID*COMM*JOB* ]]
	[[ $output == *"GSI"*"ib_core"* ]]
	[[ $output == *"RC"*"RTS"*"10.9.1.2"*"rping"* ]]
	qp --json | jq -e '.schema == "rdmadiag/qp-state/1" and .status == 0 and .source == "bundle" and .host == "pair-a" and
		(.qps | length) >= 3 and (.qps | all(has("ibdev", "port", "lqpn", "rqpn", "type", "state", "sq_psn", "rq_psn",
		"path_mig_state", "pdn", "pid", "comm", "kernel", "job", "state_seconds", "state_age_kind", "peer_gid",
		"udp_sport", "verdict"))) and (.summary | length) > 0'
	qp --json | jq -e '.qps | map(select(.comm == "rping")) | length == 1 and
		.[0].peer_gid == "0000:0000:0000:0000:0000:ffff:0a09:0102" and .[0].peer_source == "rdma_cm" and .[0].cm_state == "CONNECT"'
}

@test "filters choose; what is no state is refused" {
	[ "$(qp -n --raw -o lqpn --type GSI)" = 1 ]
	[ "$(qp -n --raw -o comm --peer 10.9.1.2)" = rping ]
	[ "$(qp -n --raw -o state --type RC | sort -u)" = RTS ]
	[ -z "$(qp -n --raw --state '!RTS')" ]
	[ -z "$(qp -n --raw --job 'slurm:*')" ]
	run -3 --separate-stderr qp --state RTX
	[[ $stderr == *"--state: invalid name 'RTX'"*'RESET, INIT'* ]]
	[[ $stderr == *"'!RTS' excludes it" ]]
	[ "$(qp -n --raw -o ibdev "$(qp -n --raw -o ibdev | head -1)" | sort -u)" = "$(qp -n --raw -o ibdev | head -1)" ]
	for none in mlx5_9 ""; do
		run -3 --separate-stderr qp "$none"
		[[ $stderr == *"no such RDMA device"* ]]
	done
	run -3 --separate-stderr qp --device mlx5_9
	[[ $stderr == *"mlx5_9: "*"no such RDMA device"* ]]
	run -3 --separate-stderr qp --by colour
}

@test "a number that no queue pair has is named, and is not an empty table with exit 0" {
	run -3 --separate-stderr qp --lqpn 999
	[[ $stderr == *"queue pair 999: not listed on rxe0"* ]]
	run -3 --separate-stderr qp --json --lqpn 17,999
	jq -e '.status == 3 and (.qps | map(.lqpn)) == [17] and
		(.errors | map(select(.object == "queue pair 999" and .errno == "ENOENT")) | length) == 1' <<<"$output"
	# What another filter excludes exists.
	run -0 --separate-stderr qp --lqpn 17 --state ERR
	[ -z "$stderr" ]
	run --separate-stderr qp --lqpn 17,999 -i 1 -c 1
	[[ $stderr == *"queue pair 999: not listed on rxe0"* ]]
	[[ $output == *" 17 "* ]]
	run -3 --separate-stderr qp --lqpn 999 -i 1 -c 1
	[[ $stderr == *"queue pair 999: not listed on rxe0"* ]]
	[ -z "$output" ]
}

@test "groups, and limits of the device" {
	run -0 qp --by peer
	[[ $output == *"10.9.1.2"*"ok"* ]]
	qp --by state --json | jq -e '[.groups[].qps] | add == 3'
	qp --summary --json | jq -e '(.summary | map(select(.resource == "qp"))[0] | .used == 3 and .listed == 3 and .max > 1000) and
		(.processes | map(select(.comm == "rping"))[0].qp == 1)'
}

@test "both ends of two hosts are matched, and connected" {
	run -0 "$RD" qp-state --join "$A" "$B"
	[[ ${lines[0]} == "2 pairs of 2 hosts: 2 connected, 0 half-open, "* ]]
	"$RD" --json qp-state --join "$A" "$B" | jq -e '.schema == "rdmadiag/qp-state-join/1" and .status == 0 and (.pairs | length) == 2 and
		(.pairs | all(.verdict == "connected" and .a.host == "pair-a" and .b.host == "pair-b" and .a.state == "RTS" and
		.b.state == "RTS")) and (.pairs | any(.reason == "QP numbers and GIDs match"))'
	"$RD" --json --from "$A" qp-state --join "$B" | jq -e '[.pairs[].verdict] == ["connected", "connected"]'
}

@test "an end whose peer is gone is half open, by its GID; numbers alone prove nothing" {
	run -2 "$RD" --json qp-state --join "$HALF_A" "$HALF_B"
	jq -e '[.pairs[] | select(.verdict == "half-open")] | length == 1 and .[0].a.host == "pair-a" and .[0].b == null and
		(.[0].reason | test("^peer QP [0-9]+ no longer exists on pair-b rxe0; RTS here$"))' <<<"$output"
	jq -e '.findings | map(.id) | .[0] == "qp-peer-gone" and all(. != "qp-half-open")' <<<"$output"
	jq -e '.findings[0] | .severity == "critical" and (.observed | test("^peer QP [0-9]+ no longer exists")) and
		(.advice | test("pair-b"))' <<<"$output"
	# Of one host alone nothing is known of the other.
	run -3 "$RD" --json qp-state --join "$HALF_A"
	jq -e '.pairs | length == 2 and all(.verdict == "peer-not-visible")' <<<"$output"
}

@test "the same host twice, no bundle, and a damaged one are refused" {
	run -3 --separate-stderr "$RD" qp-state --join "$A" "$HALF_A"
	[[ $stderr == *"host pair-a is already given by another bundle"* ]]
	run -3 --separate-stderr "$RD" --from "$A" qp-state --join "$A"
	[[ $stderr == *"host pair-a is already given by another bundle"*"one capture per host"* ]]
	run -3 --separate-stderr "$RD" qp-state --join
	head -c 2000 "$A" >"$BATS_TEST_TMPDIR/cut.tar.zst"
	run -3 --separate-stderr "$RD" qp-state --join "$BATS_TEST_TMPDIR/cut.tar.zst"
	[[ $stderr == *cut.tar.zst* ]]
	run -3 --separate-stderr qp extra
}

@test "iWARP and XRC are joined by the addresses of their connections" {
	local T=$BATS_TEST_TMPDIR kind
	for kind in iwarp xrc; do
		tests/bundles/jobs.py "$T" $kind
		"$RD" --json qp-state --join "$T"/$kind-[ab].tar.zst | jq -e '.status == 0 and (.pairs | length) == 1 and
			(.pairs[0] | .verdict == "connected" and .a.lqpn != .b.lqpn and .reason == "addresses and ports match")'
		tests/bundles/jobs.py "$T/gone" $kind gone
		run -2 "$RD" --json qp-state --join "$T"/gone/$kind-[ab].tar.zst
		jq -e '.findings[0].id == "qp-peer-gone" and (.pairs | length) == 1 and (.pairs[0] | .verdict == "half-open" and
			.b == null and (.reason | startswith("peer connection 10.9.1.2:7174 no longer exists on '$kind'-b rxe0")))' <<<"$output"
	done
}

@test "of a large job the table lists what is not connected, and says so; -v and the document list all" {
	local T=$BATS_TEST_TMPDIR
	tests/bundles/jobs.py "$T" 12 200
	run -2 "$RD" qp-state --join "$T"/n*.tar.zst
	[[ ${lines[0]} == "1200 pairs of 12 hosts: 1198 connected, 2 half-open, "* ]]
	[ "$(grep -c '^n0000.* half-open ' <<<"$output")" -eq 2 ]
	[ "$(grep -c '^n0000' <<<"$output")" -eq 2 ]
	[[ ${lines[-1]} == "1198 more pairs are not shown, 1198 of them connected: -v shows all" ]]
	[ "$("$RD" -v qp-state --join "$T"/n*.tar.zst | grep -c '^n0000')" -eq 1200 ]
	[ "$("$RD" --raw qp-state --join "$T"/n*.tar.zst | grep -c '^n0000')" -eq 1200 ]
	[ "$("$RD" --json qp-state --join "$T"/n*.tar.zst | jq '.pairs | length')" -eq 1200 ]
}

@test "timeouts are those of the specification" {
	"$RD" --json qp-state --timeouts --timeout 18 --retry 7 | jq -e '.timeouts[0] | .ack_timeout_seconds == 1.073742 and
		.retry_exc_least_seconds == 8.589935 and .retry_exc_most_seconds == 34.359738 and .retry_for_ever == false'
	"$RD" --json qp-state --timeouts --timeout 0 | jq -e '.timeouts[0] | .retry_for_ever and .ack_timeout_seconds == null'
	"$RD" --json qp-state --timeouts --rnr-retry 7 --min-rnr-timer 12 | jq -e '.timeouts[0] | .rnr_for_ever and
		.rnr_timer_seconds == 0.00064 and .rnr_exc_least_seconds == null'
	for bad in "--timeout 32" "--retry 8" "--timeout x" "--min-rnr-timer -1"; do
		# shellcheck disable=SC2086 # two words
		run -3 --separate-stderr "$RD" qp-state --timeouts $bad
	done
	run -3 --separate-stderr "$RD" qp-state --timeout 18
}

@test "where no timeout is known, the reason is named, and the exit code is 3" {
	run -3 --separate-stderr qp --timeouts --json
	jq -e '.status == 3 and .timeouts == [] and (.findings | map(select(.id == "timeouts-unknown" and .severity == "unknown" and
		(.observed | contains("2 of 2 queue pairs: no recorder saw them connect; the kernel")) and (.observed | contains("queries were not recorded")) and
		(.advice | contains("qp-state --trace")))) | length) == 1' <<<"$output"
	run -3 --separate-stderr qp --timeouts
	[[ $output == *"[timeouts-unknown]"* ]]
	# The kernel's own queue pairs have no such timeouts.
	run -0 --separate-stderr qp --timeouts --type GSI
	[[ $output != *unknown* ]]
}

# queried FOLDER BUNDLE ARGUMENTS…: the capture with what the driver filled in for a queue pair.
queried() {
	mkdir -p "$1"
	tar -C "$1" --zstd -xf "$2"
	tests/bats/qp-query.py "$1" "$RD" "${@:3}"
}

@test "what the driver fills in for a queue pair names its peer and its timeouts" {
	queried "$BATS_TEST_TMPDIR/queried" "$A" 17
	qp() { "$RD" --from "$BATS_TEST_TMPDIR/queried" qp-state "$@"; }
	qp --json | jq -e '.qps | map(select(.lqpn == 17))[0] | .peer_source == "kernel-query" and .peer == "10.0.0.2" and .timeout == 18 and
		.retry_cnt == 6 and .rnr_retry == 5 and .min_rnr_timer == 12 and .path_mtu_bytes == 4096 and .dlid == null and .alt_port == null'
	qp --json | jq -e '[.findings[].id] | index("peer-unknown") == null'
	[ "$(qp -n --raw -o lqpn --peer 10.0.0.2)" = 17 ]
	qp --by peer --json | jq -e '.groups | map(.group) == ["10.0.0.2", "10.9.1.2"]'
	qp --entropy 4 --json | jq -e '.flows | map(select(.lqpn == 17))[0] | .udp_sport_from == "numbers"'
	# Of the other one nothing is known: said, but the table is one.
	qp --timeouts --json | jq -e '.status == 0 and (.timeouts | length) == 1 and (.timeouts[0] | .lqpn == 17 and .source == "kernel-query" and
		.ack_timeout_seconds == 1.073742) and (.findings | map(select(.id == "timeouts-unknown" and
		(.observed | contains("were missed")))) | length) == 1'
}

@test "what was filled in for another connection is not used; a redacted one names no host" {
	queried "$BATS_TEST_TMPDIR/moved" "$A" 17 99
	"$RD" --from "$BATS_TEST_TMPDIR/moved" --json qp-state | jq -e '.qps | map(select(.lqpn == 17))[0] | .peer_source == null and
		.timeout == null'
	queried "$BATS_TEST_TMPDIR/plain" "$A" 17 17 203.0.113.77
	"$RD" --from "$BATS_TEST_TMPDIR/plain" capture --redact "$BATS_TEST_TMPDIR/redacted.tar"
	"$RD" --from "$BATS_TEST_TMPDIR/redacted.tar" --json qp-state >"$BATS_TEST_TMPDIR/redacted.json"
	jq -e '.qps | map(select(.lqpn == 17))[0] | .peer_source == "kernel-query" and .peer != null and .timeout == 18' "$BATS_TEST_TMPDIR/redacted.json"
	run ! grep -q 203.0.113.77 "$BATS_TEST_TMPDIR/redacted.json"
}

@test "that a peer is unknown is a note with the reason; one of rdma_cm is known" {
	qp --json | jq -e '.status == 0 and (.findings | map(select(.id == "peer-unknown" and .severity == "note" and
		.subject == "rxe0 qpn 17 (ibv_rc_pingpong)" and (.observed | startswith("1 of 2 queue pairs: ")))) | length) == 1'
	qp --json --lqpn 18 | jq -e '[.findings[].id] | index("peer-unknown") == null'
	run -0 qp --fail
}

@test "flows are spread over links; one flow is on one of them" {
	qp --entropy 4 --json | jq -e '.entropy[0] | .flows == 2 and .links == 4 and .ideal_percent == 25 and
		.worst_percent <= 100 and .expected_percent >= 50'
	# Each flow has its port: of QP 17 to 17 that is 0xc000 | (17 * 17).
	qp --entropy 4 --json | jq -e '.flows | length == 2 and
		(map(select(.lqpn == 17 and .rqpn == 17))[0] | .udp_sport == 49441 and .udp_sport_from == "assumed")'
	qp --entropy 4 | grep -q '^rxe0 *17 *17 .* 49441 assumed'
	run -3 --separate-stderr qp --entropy 1
}

@test "a redacted capture lists the same queue pairs" {
	"$RD" --from "$A" capture --redact "$BATS_TEST_TMPDIR/r.tar"
	run -0 "$RD" --from "$BATS_TEST_TMPDIR/r.tar" --json qp-state
	[[ $output != *10.9.1.2* ]]
	[[ $output != *0a09:0102* ]]
	[ "$(jq -c '[.qps[] | [.ibdev, .lqpn, .rqpn, .state, .comm]]' <<<"$output")" = \
		"$(qp --json | jq -c '[.qps[] | [.ibdev, .lqpn, .rqpn, .state, .comm]]')" ]
}

# Which end is which, and the verdict of each.
joined() {
	"$RD" --json qp-state --join "$@" | jq -c '[.pairs[] | [([.a, .b] | map([.ibdev, .lqpn]) | sort), .verdict]] | sort'
}

@test "two hosts that are redacted with one key can be joined, with two keys they cannot" {
	local T=$BATS_TEST_TMPDIR
	head -c 32 /dev/urandom >"$T/key"
	head -c 16 /dev/urandom >"$T/other"
	"$RD" --from "$A" capture --redact-key "$T/key" "$T/a.tar"
	"$RD" --from "$B" capture --redact-key "$T/key" "$T/b.tar"
	"$RD" --from "$B" capture --redact-key "$T/other" "$T/c.tar"
	[ "$(joined "$T/a.tar" "$T/b.tar")" = "$(joined "$A" "$B")" ]
	[ "$(joined "$T/a.tar" "$T/b.tar" | jq length)" -eq 2 ]
	run -3 --separate-stderr "$RD" qp-state --join "$T/a.tar" "$T/c.tar"
	[[ $stderr == *"c.tar: redacted with a different key than $T/a.tar: cannot be joined"*"--redact-key"* ]]
	run -3 --separate-stderr "$RD" --json --from "$T/c.tar" qp-state --join "$T/b.tar"
	jq -e '.pairs == [] and .status == 3 and (.errors[0].message | contains("different key"))' <<<"$output"
	run -3 --separate-stderr "$RD" qp-state --join "$A" "$T/b.tar"
	[[ $stderr == *"b.tar: is redacted, but $A is not: cannot be joined"* ]]
	# A capture of a redacted bundle has its pseudonyms.
	"$RD" --from "$T/b.tar" capture "$T/copy.tar"
	[ "$(joined "$T/a.tar" "$T/copy.tar")" = "$(joined "$A" "$B")" ]
	"$RD" --from "$A" capture --redact-key "$T/key" "$T/again.tar"
	diff <("$RD" --from "$T/a.tar" --json qp-state | jq 'del(.read_at)') \
		<("$RD" --from "$T/again.tar" --json qp-state | jq 'del(.read_at)')
	! grep -aq 'pair-[ab]' "$T/a.tar" "$T/b.tar"
}

@test "bundles in which one pseudonym means two networks are refused" {
	local T=$BATS_TEST_TMPDIR host
	head -c 32 /dev/urandom >"$T/key"
	for host in a b; do
		"$RD" --from "tests/bundles/pair-$host.tar.zst" capture --redact-key "$T/key" "$T/$host.tar"
		mkdir "$T/$host"
		tar -C "$T/$host" -xf "$T/$host.tar"
		jq -e '(.redaction.key | test("^[0-9a-f]{16}$")) and .redaction.networks == {}' "$T/$host/manifest.json"
	done
	# networks A B: of the two hosts
	networks() {
		for host in a b; do
			jq -c --argjson net "$1" 'del(.hash, .samples[].shape, .samples[].requests[].hash) | .redaction.networks = $net' \
				"$T/$host/manifest.json" >"$T/manifest"
			mv "$T/manifest" "$T/$host/manifest.json"
			shift
		done
	}
	networks '{"244.7":"00000000000000aa","245.1":"00000000000000bb"}' '{"244.7":"00000000000000aa"}'
	[ "$(joined "$T/a" "$T/b")" = "$(joined "$A" "$B")" ]
	networks '{"244.7":"00000000000000aa","245.1":"00000000000000bb"}' '{"244.7":"00000000000000cc"}'
	run -3 --separate-stderr "$RD" qp-state --join "$T/a" "$T/b"
	[[ $stderr == *"$T/b: pseudonym 244.7.0.0/16 is a different network in $T/a: cannot be joined"*"with another key"* ]]
	networks '{"244.7":"aa"}' '{"244.777":"00000000000000aa"}'
	for host in a b; do
		run -3 --separate-stderr "$RD" --from "$T/$host" qp-state
		[[ $stderr == *"manifest.json: invalid "* ]]
	done
}

@test "a key that is missing or too short is refused before the work" {
	run -3 --separate-stderr "$RD" --from "$A" capture --redact-key "$BATS_TEST_TMPDIR/none" "$BATS_TEST_TMPDIR/x.tar"
	[[ $stderr == *none*"No such file"*"head -c 32 /dev/urandom"* ]]
	echo short >"$BATS_TEST_TMPDIR/key"
	run -3 --separate-stderr "$RD" --from "$A" capture --redact-key "$BATS_TEST_TMPDIR/key" "$BATS_TEST_TMPDIR/x.tar"
	[[ $stderr == *"at least 16 bytes"* ]]
	[ ! -e "$BATS_TEST_TMPDIR/x.tar" ]
}

@test "a host without RDMA is told, in the document, too" {
	mkdir -p "$BATS_TEST_TMPDIR/bare/sys" "$BATS_TEST_TMPDIR/bare/proc"
	run -3 --separate-stderr "$RD" --from "$BATS_TEST_TMPDIR/bare" qp-state
	[[ $stderr == *"no RDMA stack"* ]]
	run -3 --separate-stderr "$RD" --json --from "$BATS_TEST_TMPDIR/bare" qp-state
	jq -e '.qps == [] and .status == 3 and .errors[0].errno == "ENOENT"' <<<"$output"
}

@test "metrics: every state of every device, and what is in use" {
	run -0 qp --openmetrics
	[[ $output == *'rdmadiag_qps{ibdev="rxe0",state="RTS"} 3'* ]]
	[[ $output == *'rdmadiag_qps{ibdev="rxe0",state="ERR"} 0'* ]]
	[[ $output == *'rdmadiag_rdma_resources{ibdev="rxe0",resource="qp"} 3'* ]]
	[[ $output == *"# EOF" ]]
	qp --summary --openmetrics | grep -q '^rdmadiag_rdma_resources_max{ibdev="rxe0",resource="qp"} [1-9]'
}

@test "qp-state: of a list with a device that is not there, nothing is shown as if it were all" {
	for options in "" --timeouts "--entropy 8" --summary "--by pid"; do
		run -3 --separate-stderr "$RD" --from "$HALF_A" qp-state $options rxe0 nosuch
		[[ $stderr == *"nosuch"* ]]
	done
	[ "$("$RD" --json --from "$HALF_A" qp-state rxe0 nosuch | jq '.qps | length')" -eq 0 ]
	run -3 "$RD" qp-state --timeouts --retry 3 nosuch
	[[ $output == *"nosuch: "* ]]
}

@test "--failover: what there is before, and the summary of a watch" {
	run -1 --separate-stderr qp --failover
	[[ ${lines[0]} == PID*IBDEV*UNUSABLE*PEERS*BACKUP*LEAST* ]]
	[[ $output == *"one NIC only [failover-no-backup]"* ]]
	run -1 --separate-stderr qp --failover --json
	jq -e '.schema == "rdmadiag/qp-state-failover/1" and .status == 1 and (.paths | length == 2 and
		all(.ibdev == "rxe0" and .backup == null and .unusable == 0)) and ([.paths[].peers] | sort) == [null, 1]' <<<"$output"
	# Nothing moved, and nothing failed, while it was captured.
	run -0 --separate-stderr qp --failover --json -i 1
	jq -es 'length == 1 and .[0].schema == "rdmadiag/qp-state-failover-summary/1" and .[0].findings == []' <<<"$output"
	run -3 --separate-stderr qp --failover --pid 1
	[[ $stderr == *"no process has a connected"* ]]
	for other in --summary "--by pid" --timeouts --fail "-o pid"; do
		run -3 qp --failover $other
		[[ $output == *"mutually exclusive"* ]]
	done
}
