#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# qp-state over time: from a host that was recorded in three samples, and what goes wrong before anything is hooked.

load here
load terminal

setup() {
	R=${RDMADIAG:-$PWD/build/rdmadiag}
	export NO_COLOR=1
	# One sender whose peer was killed (17), one that has given up (18), one connection half made (19).
	HUNG=tests/bundles/qp-hung.tar.zst
}

teardown() {
	[ -z "${SOCKET-}" ] || tm kill-server 2>/dev/null || :
}

# all EXPRESSION: over the list of all documents of three looks
looks() {
	"$R" --from "$HUNG" --json qp-state -i 1 "${@:2}" | jq -es "$1"
}

@test "one look cannot tell whether packets move" {
	"$R" --from "$HUNG" --json qp-state --lqpn 17 | jq -e '.qps | length == 1 and
		(.[0] | .state == "RTS" and .verdict == "cannot-tell" and .state_age_kind == "at_least" and .fix != null)'
}

@test "two looks can: the device sends again and nothing moves" {
	looks 'length == 3 and all(.[1:][]; .qps[] | select(.ibdev == "rxe0" and .lqpn == 17) |
		.verdict == "retrying" and .psn_per_second == 0 and (.reason | test("device-wide")))'
}

@test "the kernel log says why one has failed" {
	looks 'all(.[]; .qps[] | select(.ibdev == "rxe0" and .lqpn == 18) |
		.state == "ERR" and .verdict == "retries-exhausted" and (.reason | test("RETRY_EXC_ERR")))'
}

@test "a log that cannot be read is said beside the table, not only in the document" {
	local dir="$BATS_TEST_TMPDIR/nolog"
	mkdir "$dir"
	tar --zstd -xf "$HUNG" -C "$dir"
	rm "$dir/root/dev/kmsg"
	sed -i 's|\({"ask":"read","path":"/dev/kmsg","at_ns":[0-9]*\)}|\1,"errno":"EPERM"}|' "$dir/manifest.json"
	run -0 --separate-stderr "$R" --from "$dir" qp-state
	[[ $stderr == *"/dev/kmsg: "*"not permitted"* ]]
	[[ $output == *"cause unknown"* ]]
	"$R" --from "$dir" --json qp-state 2>&1 | jq -e '.errors | map(select(.object == "/dev/kmsg" and .errno == "EPERM")) | length == 1'
}

@test "what is stuck is so after as long as was said" {
	looks '[.[] | .qps[] | select(.lqpn == 19 and .ibdev == "rxe0") | .reason | test("only queue pair of its process")] == [false, true, true]' --stuck 2
	looks 'all(.[]; .qps[] | select(.lqpn == 19) | .reason | test("stuck after 100 s"))' --stuck 100
}

@test "findings name the device, what was seen and what to do" {
	looks '.[2].findings | any(.id == "qp-retrying" and .severity == "warning" and (.subject | test("rxe0 qpn 17")) and .fix != null) and
		any(.id == "qp-retries-exhausted" and .severity == "critical")'
}

@test "--fail maps the findings of the last look" {
	run -2 "$R" --from "$HUNG" qp-state -i 1 --fail
	run -0 "$R" --from "$HUNG" qp-state -i 1
}

@test "-c ends before the samples do" {
	[ "$("$R" --from "$HUNG" --json qp-state -c 2 | wc -l)" -eq 2 ]
}

@test "each look has its time above its table, and none with --raw" {
	[ "$("$R" --from "$HUNG" qp-state -i 1 | grep -c '^[0-9][0-9]:[0-9][0-9]:[0-9][0-9]$')" -eq 3 ]
	[ "$("$R" --from "$HUNG" --raw qp-state -i 1 | grep -c '^[0-9][0-9]:[0-9][0-9]:[0-9][0-9]$')" -eq 0 ]
}

@test "other tables than the list are repeated, too" {
	local other
	for other in "--by peer" --summary "--entropy 4" --timeouts; do
		# shellcheck disable=SC2086 # two words
		run "$R" --from "$HUNG" qp-state -i 1 $other
		# No timeout is known in this recording.
		[ "$status" -eq "$([ "$other" = --timeouts ] && echo 3 || echo 0)" ]
		[ "$(grep -c ^IBDEV <<<"$output")" -ge 3 ]
	done
}

@test "what does not go together is refused" {
	for args in "--duration 5" "--events 3" "--trace --by peer" "--trace --summary" "--trace -i 1 --duration 5" "--trace --timeouts --events 3" "--stuck x" "--stuck 0" \
		"-c 0" "-c x" "-i 0.01" "--trace --events 0"; do
		# shellcheck disable=SC2086 # words
		run "$R" qp-state $args
		echo "$args: $output"
		[ "$status" -eq 3 ]
		[[ "$output" == *"try: "* ]]
	done
	run -3 "$R" --from "$HUNG" qp-state --trace
	[[ "$output" == *"has no recorded events of queue pairs"* ]]
}

@test "--live wants a terminal, and no JSON" {
	run -3 "$R" --from "$HUNG" qp-state --live </dev/null
	[[ "$output" == *"must be a terminal"* ]]
	run -3 "$R" --from "$HUNG" --json qp-state --live
}

@test "--live fits 80x24: states, verdicts, a page about one, groups" {
	command -v tmux >/dev/null || skip "no tmux"
	SOCKET=$BATS_TEST_TMPDIR/tmux
	tm -f /dev/null new-session -d -x 80 -y 24 "$R --from $HUNG qp-state --live -i 0.5; echo status=\$?; sleep 600"
	seen '2 problems, 2 unknown in 6 QPs: 1 ERR 1 RTR 1 INIT'
	seen 'retries-exhausted rxe0 .* 18 ERR'
	tm send-keys g
	seen '^.*q quit'
	tm send-keys / 1 8 Enter
	seen 'filter: 18'
	tm send-keys Home Enter
	seen 'reason .*kernel log'
	tm send-keys q
	seen 'status=0'
	tm kill-server
}

@test "a reader that goes, and a full disk" {
	"$R" --from "$HUNG" qp-state -i 1 | head -1
	run bash -c "$R --from $HUNG qp-state -i 1 >/dev/full"
	[ "$status" -ne 0 ]
	[[ "$output" == *"No space left"* ]]
}
