# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# No RDMA at all; then the core alone, whose few functions make it cheap to come and go in every way.
# kernels: 6.12
# asked: 6.1 7.x
# sample 6.1: no-modules too-few-privileges ctrl-c-while-attaching
# sample 7.x: no-modules too-few-privileges closed-pipe
# boot: main

test_no_modules() {
	local status=0
	"$R" trace-errno --json >"$W/none.json" 2>"$W/none.err" || status=$?
	[ $status = 3 ]
	true_of "$W/none.json" '.[0].status == 3 and .[0].errors[0].errno == "ENODEV"'
	[ "$(wc -l <"$W/none.err")" -le 2 ]
	grep -q modprobe "$W/none.err"
	status=0
	"$R" counters --fabric --json >"$W/none.json" 2>"$W/none.err" || status=$?
	[ $status = 3 ]
	true_of "$W/none.json" '.[0].status == 3 and .[0].errors[0].errno == "ENODEV"'
	modprobe ib_uverbs
}

test_too_few_privileges() {
	local status=0
	setpriv --reuid 65534 --regid 65534 --clear-groups "$R" trace-errno >"$W/nobody.out" 2>&1 || status=$?
	cat "$W/nobody.out"
	[ $status = 3 ]
	[ "$(wc -l <"$W/nobody.out")" -le 2 ]
	grep -q CAP_BPF "$W/nobody.out"
	grep -q CAP_PERFMON "$W/nobody.out"
	grep -q "sudo setcap cap_bpf,cap_perfmon" "$W/nobody.out"
}

# A second one while the holder of the first still takes its hooks away, which on 6.1 goes on for 10 s.
test_ctrl_c_and_sigterm() {
	modprobe ib_uverbs
	trace a
	in_time 1000 end a INT
	true_of "$W/a.json" '.[-1] | .schema == "rdmadiag/trace-errno-summary/1" and .status == 0 and .functions > 20'
	trace b
	in_time 1000 end b TERM
	true_of "$W/b.json" '.[-1] | .status == 0 and .functions > 20'
	gone
}

test_kill_the_command() {
	local status=0
	trace a
	end a KILL || status=$?
	[ $status = 137 ]
	gone
}

# Without its holder there is no trace: it ends, and says so.
test_kill_the_holder() {
	local status=0
	trace a
	kill -KILL "$(holder a)"
	wait "${pid[a]}" || status=$?
	[ $status = 3 ]
	true_of "$W/a.json" '.[-1] | .status == 3 and any(.errors[]; .message | test("holds? the hooks|held the hooks"))'
	gone
}

test_closed_pipe() {
	only 6.12 7.x # what ends there on 6.1 is in end and command: each trace costs half a minute
	{
		"$R" trace-errno -v --json --events 1000000 2>"$W/a.err"
		echo $? >"$W/status"
		now >"$W/ended"
	} | {
		until_true 120 grep -q ': hooked ' "$W/a.err"
		now >"$W/closed"
	}
	cat "$W/closed" "$W/ended" "$W/status" "$W/a.err"
	[ $(($(<"$W/ended") - $(<"$W/closed"))) -le $((1000 * SLOW)) ]
	[ "$(<"$W/status")" = 0 ]
	gone
}

# Its end is the end of the trace, with the prompt back at once.
test_command_ends() {
	only 6.12 7.x # what ends there on 6.1 is in end and command: each trace costs half a minute
	local status=0
	"$R" trace-errno --json -- bash -c 'echo $((${EPOCHREALTIME/./} / 1000)) >$W/ended; exit 7' >"$W/a.json" || status=$?
	[ $status = 7 ]
	[ $(($(now) - $(<"$W/ended"))) -le $((1000 * SLOW)) ]
	true_of "$W/a.json" '.[-1].events == 0'
	gone
}

test_duration() {
	only 6.12 7.x
	"$R" trace-errno --json --duration 1.5 >"$W/a.json"
	true_of "$W/a.json" '.[-1] | .seconds >= 1.5 and .seconds < 4'
}

# Given up while it attaches: nothing stays either.
test_ctrl_c_while_attaching() {
	only 6.1 6.12
	"$R" trace-errno --backend fexit >"$W/a.out" 2>&1 &
	pid[a]=$!
	until_true 60 holder a
	sleep 0.2
	in_time 1000 gives_up
	grep -q 'cancelled while attaching' "$W/a.out"
	gone
}

gives_up() {
	local status=0
	end a || status=$?
	cat "$W/a.out"
	[ $status = 3 ]
}
