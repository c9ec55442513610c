# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# The recorder of queue pairs: what it says of transitions, what it costs, and that nothing of it stays.
# kernels: 6.12
# asked: 6.1 7.x
# sample 6.1: transitions
# sample 7.x: transitions
# turn: 7
# boot: qp

prepare() {
	{ [ -e /sys/class/infiniband/rxe0 ] || . tests/vm/guest/rxe-up; } && . tests/vm/cases/qp.sh
}

# Every transition of both ends, with what it set, and how long each state lasted.
test_transitions() {
	record all
	play pair
	kill "${pid[pair]}"
	saw all '.kind == "destroy" and .ibdev == "rxe0" and .lqpn == $a'
	saw all '.kind == "destroy" and .ibdev == "rxe1" and .lqpn == $b'
	end all
	jq -es --argjson a "$a" --argjson b "$b" '
		def of($dev; $n): map(select(.ibdev? == $dev and .lqpn == $n));
		def states: map(select(.kind == "modify") | .old_state + ">" + .new_state);
		(of("rxe0"; $a) | states) == ["RESET>INIT", "INIT>RTR", "RTR>RTS"] and
		(of("rxe1"; $b) | states) == ["RESET>INIT", "INIT>RTR", "RTR>RTS"] and
		(of("rxe0"; $a) | map(.kind)) == ["create", "modify", "modify", "modify", "destroy"] and
		(of("rxe0"; $a)[2] | .path_mtu_bytes == 1024 and .rqpn == $b and .rq_psn == 101 and .sgid_index == 1 and
			.hop_limit == 64 and .flow_label == 0 and .traffic_class == 0 and .udp_sport >= 49152 and
			(.peer_gid | endswith("0a09:0002")) and .comm == "qp-play" and .errno == null and
			.duration_seconds > 0 and (.attr_mask | index("AV")) != null) and
		(of("rxe0"; $a)[3] | .timeout == 14 and .retry_cnt == 7 and .rnr_retry == 7 and .sq_psn == 100 and
			.max_rd_atomic == 1 and .path_mtu_bytes == null and .peer_gid == null) and
		(of("rxe0"; $a)[4] | .old_state == "RTS" and .state_age_kind == "exact" and .state_seconds > 0) and
		(.[-1] | .schema == "rdmadiag/qp-state-trace-summary/1" and .lost == 0 and .status == 0 and
			.events == .delivered and ([.transitions[].calls] | add) == ([.durations[].calls] | add))' "$W/all.json"
}

# The call that failed is told with its errno; what it would have set did not happen.
test_failed_call() {
	record all
	play pair --gid-a 50
	saw all '.ibdev == "rxe0" and .lqpn == $a and .new_state == "RTR" and .errno == "ENODATA" and .old_state == "INIT"'
	end all
}

# The state before is known of queue pairs that are older than the recorder.
test_older_than_the_recorder() {
	play pair
	record all
	kill "${pid[pair]}"
	saw all '.kind == "destroy" and .lqpn == $a and .old_state == "RTS" and .state_age_kind == "at_least"'
	end all
}

test_filters_and_limits() {
	record all --device rxe1 --events 3
	play pair
	until_true 20 ended all
	true_of "$W/all.json" '(map(select(.kind)) | length == 3 and all(.ibdev == "rxe1")) and .[-1].shown == 3'
}

# How long until a queue pair gives up, of what the recorder saw it set to.
test_timeouts_of_what_was_seen() {
	"$R" qp-state --trace --timeouts -i 1 --json >"$W/giveup.json" 2>"$W/giveup.err" &
	local recorder=$!
	until_true 60 test -s "$W/giveup.json"
	play pair
	until_true 60 gives_up
	kill -INT "$recorder"
	until_true 30 is_over "$recorder"
}

gives_up() {
	jq -es --argjson a "$a" 'any(.[].timeouts[]; .ibdev == "rxe0" and .lqpn == $a and .timeout == 14 and .retry_cnt == 7 and
		.retry_for_ever and (.note | contains("soft-RoCE")))' "$W/giveup.json"
}

# More events than the ring has room for, between two looks: none is lost, so that all ages are exact.
# A guest that another one starves can be late by more than the ring holds: then it says so, and nothing was tested.
test_many_between_two_looks() {
	local looks many late
	"$R" --json qp-state --trace -i 60 --comm qp-many >"$W/far.json" 2>"$W/far.err" &
	looks=$!
	until_true 60 test -s "$W/far.json"
	build/tests/vm/qp-many rxe0 6000 >"$W/many.out" &
	many=$!
	until_true 120 grep -q ready "$W/many.out"
	until_true 120 saw_all
	kill -INT "$looks"
	kill "$many"
	wait "$many" || :
	late=$(jq -rs '[.[] | .errors[]? | select(.object == "recorder") | .message] | first // empty' "$W/far.json")
	[ -z "$late" ] || skip "the machine was late: $late"
	true_of "$W/far.json" '.[-1].qps | all(.state_age_kind == "exact")'
}

saw_all() {
	tail -n 1 "$W/far.json" | jq -e '.qps | length == 6000' >/dev/null 2>&1
}

is_over() {
	! kill -0 "$1" 2>/dev/null
}

# However it ends, nothing stays hooked: killed, with the process that holds the hooks alive and not.
test_killed() {
	record all
	kill -KILL "${pid[all]}"
	wait "${pid[all]}" || :
	gone
}

test_killed_with_its_holder() {
	local holder
	record all
	holder=$(holder all)
	kill -KILL "${pid[all]}" "$holder"
	wait "${pid[all]}" || :
	gone
}

test_without_root() {
	local status=0
	setpriv --reuid 65534 --clear-groups "$R" qp-state --trace >"$W/out" 2>&1 || status=$?
	[ $status = 3 ]
	grep -q 'CAP_BPF' "$W/out"
	grep -q 'try: sudo rdmadiag qp-state --trace' "$W/out"
}
