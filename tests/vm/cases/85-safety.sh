# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# What keeps tracing safe on a host that works: who may, what is attached, how it goes away.
# kernels: 6.12
# asked: 6.1 7.x
# sample 6.1: missing-capabilities-are-named
# sample 7.x: missing-capabilities-are-named user-with-fexit holder-has-no-capability
# turn: 8
# boot: safety

prepare() {
	[ -e /sys/class/infiniband/rxe0 ] || . tests/vm/guest/rxe-up --one
}

# fails COMMAND…: "!" would not end a test.
fails() {
	if "$@"; then
		fail "has not failed: $*"
	fi
}

# caps_of PROCESS: its capabilities that are permitted, in force, inheritable, ambient
caps_of() {
	sed -n 's/^Cap\(Prm\|Eff\|Inh\|Amb\):\t//p' "/proc/$1/status" | sort -u
}

# The hooks stay, and work, with no capability behind them; what was missed is still told.
test_holder_has_no_capability() {
	local holder
	trace a
	holder=$(holder a)
	[ "$(caps_of "$holder")" = 0000000000000000 ]
	grep -qx $'NoNewPrivs:\t1' "/proc/$holder/status"
	run reg-mr-unmapped --dev rxe0
	shows a reg-mr-unmapped
	end a
	true_of "$W/a.json" '.[-1] | .errors == [] and .events > 0'
	[ "$KERNEL" != 7.x ] || true_of "$W/a.json" '.[-1].missed == 0'
	gone
}

# with CAPABILITIES COMMAND…: as nobody, with these and no others
with() {
	local caps="" cap
	for cap in ${1//,/ }; do
		caps+=,+$cap
	done
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps="-all$caps" --ambient-caps="-all$caps" \
		--bounding-set="-all$caps" -- "${@:2}"
}

# traces CAPABILITIES [ARG…]: a user without root sees a failure, by its whole chain
traces() {
	local fails
	: >"$W/user.pid"
	chmod 666 "$W/user.pid"
	with "$1" "$R" trace-errno --json "${@:2}" -- \
		sh -c "echo \$\$ >$W/user.pid; exec $FAIL reg-mr-unmapped --dev rxe0 >&2" >"$W/user.json" 2>"$W/user.err" || {
		cat "$W/user.err"
		return 1
	}
	fails=$(<"$W/user.pid")
	shows user reg-mr-unmapped "$fails"
	true_of "$W/user.json" 'any(.[]; .uid == 65534) and .[-1].status == 0'
}

# refused CAPABILITIES WORD [ARG…]: it says which capability is missing, and what to type
refused() {
	local status=0
	with "$1" "$R" trace-errno --json "${@:3}" -- true >"$W/user.json" 2>"$W/user.err" || status=$?
	[ $status = 3 ] || fail "not refused with $1: $status"
	cat "$W/user.err"
	grep -q -- "$2" "$W/user.err"
	grep -q 'try: sudo ' "$W/user.err"
	true_of "$W/user.json" '.[-1] | .status == 3 and .errors[0].errno != null'
}

test_missing_capabilities_are_named() {
	refused syslog 'CAP_BPF and CAP_PERFMON'
	refused bpf,syslog 'needs CAP_PERFMON'
	refused perfmon 'needs CAP_BPF'
	refused bpf,perfmon CAP_SYS_ADMIN --backend fexit
}

test_user_with_kprobe_multi() {
	only 6.12 7.x
	traces bpf,perfmon
	true_of "$W/user.json" '.[-1].backends | keys == ["kprobe-multi"]'
	gone
}

test_user_with_fexit() {
	only 7.x # see killed-holder
	traces bpf,perfmon,sys_admin --backend fexit-multi
	gone
}

# Without kprobe-multi there are only ways that need more, or a sysctl that asks for less.
test_user_with_kprobes() {
	only 6.1
	sysctl -qw kernel.perf_event_paranoid=3
	refused bpf,perfmon CAP_SYS_ADMIN
	sysctl -qw kernel.perf_event_paranoid=2
	traces bpf,perfmon
	true_of "$W/user.json" '.[-1].backends | keys == ["kprobe"]'
	gone
}

# status NAME: what trace-errno --status says, in $W/NAME.json
status() {
	"$R" trace-errno --status --json >"$W/$1.json" 2>"$W/$1.err"
	true_of "$W/$1.json" '.[0].schema == "rdmadiag/trace-errno-status/1" and .[0].status == 0'
}

test_status_of_nothing() {
	gone
	status none
	true_of "$W/none.json" '.[0].attached == [] and .[0].run_statistics == false'
	grep -q 'nothing is attached' "$W/none.err"
}

# What is attached, by whom; while a program of somebody else carries the same names.
test_status_and_detach_all() {
	local holder began status=0
	trace a --comm some-name
	holder=$(holder a)
	status a1
	true_of "$W/a1.json" '.[0].attached | length == 1 and all(.[];
		.pid == $pid and .holder_pid == $holder and .user == "root" and .uid == 0 and .what == "trace-errno" and
		.state == "on" and .functions > 200 and .links > 0 and .run_seconds == null and
		(.backends | add) == .functions and (.command | endswith("trace-errno -v --json --events 1000000 --comm some-name")))' \
		--argjson pid "${pid[a]}" --argjson holder "$holder"
	[ "$(jq '.attached[0].links' "$W/a1.json")" = "$(bpftool -j link show | jq length)" ]
	"$R" trace-errno --detach-all --json >"$W/detach.json"
	true_of "$W/detach.json" '.[0].schema == "rdmadiag/trace-errno-detach/1" and .[0].status == 0 and
		(.[0].attached | length == 1 and .[0].result == "detached" and .[0].links == 0)'
	nothing_of_ours
	wait "${pid[a]}" || status=$?
	[ $status = 3 ]
	true_of "$W/a.json" '.[-1] | .status == 3 and .ended_early == "detached" and
		any(.errors[]; .errno == "ECANCELED" and (.message | test("hooks detached at the request")))'
	grep -q 'trace ended early: hooks detached at the request of process [0-9]* of user 0' "$W/a.err"
}

# Without permission to look: not known, which is not nothing.
test_status_of_a_user() {
	local status=0
	with bpf,perfmon "$R" trace-errno --status --json >"$W/user.json" 2>"$W/user.err" || status=$?
	[ $status = 3 ]
	true_of "$W/user.json" '.[0] | .status == 3 and .errors[0].errno == "EPERM"'
	grep -q 'traces are unknown' "$W/user.err"
	fails grep -q 'nothing is attached' "$W/user.err"
}

# Whose it is the kernel says. What a user may do for himself needs no root.
test_a_trace_of_a_user() {
	only 6.12 7.x # on 6.1 each trace costs most of a minute
	local status=0
	: >"$W/a.err"
	with sys_admin "$R" trace-errno -v --json --events 1000000 >"$W/a.json" 2>"$W/a.err" &
	pid[a]=$!
	until_true 120 started a
	status a1
	true_of "$W/a1.json" '.[0].attached | length == 1 and .[0].uid == 65534 and .[0].user == "nobody"'
	with sys_admin "$R" trace-errno --detach-all
	wait "${pid[a]}" || status=$?
	[ $status = 3 ]
	nothing_of_ours
}

# A user who sees all, but may end only what is his.
test_detach_of_another_user() {
	only 6.12 7.x
	local status=0
	trace a
	with sys_admin "$R" trace-errno --detach-all --json >"$W/other.json" 2>"$W/other.err" || status=$?
	[ $status = 3 ]
	true_of "$W/other.json" '.[0].attached | length == 1 and .[0].result == "not permitted" and .[0].links > 0'
	kill -0 "${pid[a]}"
	end a
	gone
}

# A program and a process that have our names, and not our record, are nobody's business of ours.
test_others_are_left_alone() {
	local other
	gone
	cat >"$W/other.bpf.c" <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		struct {
			__uint(type, BPF_MAP_TYPE_ARRAY);
			__uint(max_entries, 1);
			__type(key, __u32);
			__type(value, char[512]);
		} rdmadiag_owner SEC(".maps");
		SEC("socket") int fexit_leave(void *ctx)
		{
			__u32 zero = 0;

			return bpf_map_lookup_elem(&rdmadiag_owner, &zero) != 0;
		}
	END
	clang -target bpf -g -O2 -I"/usr/include/$(uname -m)-linux-gnu" -c -o "$W/other.o" "$W/other.bpf.c"
	bpftool prog load "$W/other.o" /sys/fs/bpf/not_ours
	cp "$(command -v sleep)" "$W/rdmadiag-hold"
	"$W/rdmadiag-hold" 1000 &
	other=$!
	status others
	true_of "$W/others.json" '.[0].attached == []'
	"$R" trace-errno --detach-all
	kill -0 $other
	bpftool -j prog show | jq -e 'map(.name) == ["fexit_leave"]'
	kill $other
	rm /sys/fs/bpf/not_ours
	gone
}

# The recorder of queue pairs is shown and ended in the same way.
test_recorder() {
	local recorder status=0
	"$R" qp-state --trace -v --json >"$W/rec.json" 2>"$W/rec.err" &
	recorder=$!
	until_true 120 grep -q ': hooked ' "$W/rec.err"
	status rec1
	true_of "$W/rec1.json" '.[0].attached | length == 1 and .[0].what == "qp-state" and .[0].pid == $pid' \
		--argjson pid $recorder
	"$R" trace-errno --detach-all
	wait $recorder || status=$?
	[ $status = 3 ]
	true_of "$W/rec.json" '.[-1] | .status == 3 and any(.errors[]; .message | test("hooks detached at the request"))'
	nothing_of_ours
}

# Looks go on without it, and each says so.
test_recorder_beside_looks() {
	only 6.12 7.x
	local looks
	"$R" qp-state --trace -i 1 --json >"$W/looks.json" 2>"$W/looks.err" &
	looks=$!
	until_true 120 [ -s "$W/looks.json" ]
	"$R" trace-errno --detach-all
	until_true 30 grep -q 'recording ended early' "$W/looks.json"
	kill -0 $looks
	kill -INT $looks
	wait $looks || :
	true_of "$W/looks.json" '.[0].errors == [] and any(.[-1].errors[]; .object == "recorder" and
		(.message | test("hooks detached at the request.*known only from samples")))'
	nothing_of_ours
}

# A holder that was stopped is woken to let go.
test_detach_of_a_stopped_holder() {
	only 6.12 7.x
	local holder status=0
	trace a
	holder=$(holder a)
	kill -STOP "$holder"
	until_true 10 grep -q '^State:.T' "/proc/$holder/status"
	status a2
	true_of "$W/a2.json" '.[0].attached[0].state == "stopped"'
	"$R" trace-errno --detach-all
	wait "${pid[a]}" || status=$?
	[ $status = 3 ]
	nothing_of_ours
}

# By fexit everything is shown as by other hooks, also to a user. The kernel takes away what a killed holder had: as long as that takes,
# it is shown, and waited for.
test_killed_holder() {
	only 6.12
	local shell case
	: >"$W/a.err"
	with bpf,perfmon,sys_admin "$R" trace-errno -v --json --backend fexit >"$W/a.json" 2>"$W/a.err" &
	shell=$! pid[a]=$!
	until_true 120 started a
	pid[a]=$(pgrep -P $shell)
	for case in reg-mr-unmapped create-cq-limit modify-qp-missing-attr rdma-resolve-nowhere; do
		run $case --dev rxe0
		shows a $case
	done
	kill -KILL "${pid[a]}" "$(holder a)"
	status killed
	true_of "$W/killed.json" '.[0].attached | length == 1 and .[0].state == "detaching" and .[0].pid == null and .[0].links > 50'
	"$R" trace-errno --detach-all --json >"$W/killed2.json"
	true_of "$W/killed2.json" '.[0].attached[0].result == "detached"'
	nothing_of_ours
}

test_max_hooks() {
	local status=0
	"$R" trace-errno --json --max-hooks 10 -- touch "$W/ran" >"$W/max.json" 2>"$W/max.err" || status=$?
	[ $status = 3 ]
	[ ! -e "$W/ran" ]
	grep -Eq '[0-9]{3} functions would be hooked, the limit is 10' "$W/max.err"
	true_of "$W/max.json" '.[-1].status == 3'
	nothing_of_ours
}

# A command that was stopped and forgotten.
test_reader_that_stops() {
	local status=0
	trace a --max-unread 2
	sleep 4
	kill -0 "$(holder a)"
	kill -STOP "${pid[a]}"
	gone
	kill -CONT "${pid[a]}"
	wait "${pid[a]}" || status=$?
	[ $status = 3 ]
	true_of "$W/a.json" '.[-1] | .status == 3 and .ended_early == "unread"'
}

# In a window of two seconds the programs take more than almost nothing; where nothing measures, that is said, and it goes on.
test_max_cpu() {
	local status=0
	trace a --max-cpu 0.0001
	grep -q 'run statistics are off' "$W/a.err"
	run reg-mr-unmapped --dev rxe0
	sleep 3
	end a
	true_of "$W/a.json" '.[-1] | .ended_early == null and .run_seconds == null and any(.errors[]; .object == "--max-cpu")'
	trace b --max-cpu 0.0001 --run-stats
	[ "$(cat /proc/sys/kernel/bpf_stats_enabled)" = 0 ]
	"$FAIL" burst --dev rxe0 --repeat 1000000 >/dev/null &
	wait "${pid[b]}" || status=$?
	kill $!
	[ $status = 3 ]
	true_of "$W/b.json" '.[-1] | .ended_early == "max-cpu" and .run_seconds > 0'
	grep -Eq 'ended early: BPF programs used [0-9.]+% of a CPU' "$W/b.err"
	gone
}

# Statistics that somebody else has switched on, and off in between: then the limit held in part only.
test_run_statistics() {
	only 6.12 7.x
	sysctl -qw kernel.bpf_stats_enabled=1
	trace c --max-cpu 100000
	run reg-mr-unmapped --dev rxe0
	sleep 3
	status c1
	true_of "$W/c1.json" '.[0].run_statistics and .[0].attached[0].run_seconds > 0'
	end c
	true_of "$W/c.json" '.[-1] | .ended_early == null and .run_seconds > 0 and .errors == []'
	trace d --max-cpu 100000
	sysctl -qw kernel.bpf_stats_enabled=0
	sleep 4
	end d
	true_of "$W/d.json" '.[-1] | .run_seconds == null and any(.errors[]; .message | test("only in part"))'
	gone
}

# The table in rdmadiag(1): who has the capability is told what root is, who has not lacks just that.
said() { # NAME COMMAND…: a document without what differs from call to call
	"${@:2}" | jq 'del(.time, .monotonic_seconds, .counters[]?.value)' >"$W/$1"
}

same_as_root() { # CAPABILITIES ARG…
	said root "$R" --json "${@:2}"
	said user with "$1" "$R" --json "${@:2}"
	diff "$W/root" "$W/user"
}

# unknown CAPABILITIES: the rules that such a user cannot have judged, and root can
unknown() {
	comm -13 <("$R" --json topo-check | jq -r '.checks[] | select(.result == "unknown").id' | sort -u) \
		<(with "$1" "$R" --json topo-check | jq -r '.checks[] | select(.result == "unknown").id' | sort -u)
}

test_what_works_without() {
	local rules R=$W/rdmadiag # it looks for data beside itself, too
	cp build/tests/vm/rdmadiag "$R"
	modprobe nf_tables
	same_as_root "" nic-map
	same_as_root "" qp-state
	same_as_root "" qp-state --summary
	same_as_root "" counters
	same_as_root syslog,net_admin topo-check
	same_as_root syslog,net_admin check --deadline 60 # what a busy machine is too slow for is not compared
	rules=$(unknown net_admin)
	[ -n "$rules" ]
	fails grep -v '^log-' <<<"$rules"
	[ "$(unknown syslog)" = roce-firewall ]
	with "" head -c 4096 /sys/bus/pci/devices/0000:00:01.0/config | wc -c | grep -x 64
	with sys_admin head -c 4096 /sys/bus/pci/devices/0000:00:01.0/config | wc -c | grep -vx 64
}

test_umad_and_environment() {
	sleep 1000 &
	fails with "" "$R" nic-map --check-env --pid $! >"$W/env" 2>&1
	grep -q EACCES "$W/env"
	fails with sys_ptrace "$R" nic-map --check-env --pid $! >"$W/env" 2>&1
	grep -q EACCES "$W/env"
	with sys_ptrace,dac_read_search "$R" nic-map --check-env --pid $! >"$W/env" 2>&1 || [ $? != 3 ]
	fails grep -q EACCES "$W/env"
	kill $!
	fails with dac_read_search sh -c ': 3<>/dev/infiniband/umad0'
	with dac_override sh -c ': 3<>/dev/infiniband/umad0'
}
