# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# trace-errno -- COMMAND, its user and its children; what the filters let through and what not.
# kernels: 6.12
# asked: 6.1 7.x
# sample 7.x: backend-fexit-multi
# whole: filters backend-fexit backend-kprobe session-of-its-own
# turn: 5
# boot: command

prepare() {
	[ -e /sys/class/infiniband/rxe1 ] || . tests/vm/guest/rxe-up || return
	cp "$FAIL" /run/other-name
}

# status_of ARG…: what trace-errno ends with
status_of() {
	local status=0
	"$R" trace-errno --json "$@" >"$W/status.json" 2>"$W/status.err" || status=$?
	echo $status
}

test_status_is_passed_on() {
	only 6.12 7.x
	[ "$(status_of -- true)" = 0 ]
	[ "$(status_of -- sh -c 'exit 3')" = 3 ]
	[ "$(status_of -- sh -c 'kill -TERM $$')" = 143 ]
	[ "$(status_of -- sh -c 'kill -SEGV $$')" = 139 ]
}

# Nothing is hooked before it is clear that this can work: one message, quickly, exit 3.
test_what_cannot_work() {
	refused() { # WORD ARG…
		local word=$1
		shift
		[ "$(status_of "$@")" = 3 ] || fail "not refused: $*"
		true_of "$W/status.json" '.[-1].status == 3'
		[ "$(wc -l <"$W/status.err")" -le 2 ]
		grep -q -e "$word" "$W/status.err"
	}
	refused no-such-command -- no-such-command
	refused /no/such/command -- /no/such/command
	refused no-such-user -u no-such-user -- true
	refused 4294967296 -u 4294967296 -- true
	refused no_such_function --function 'no_such_function_*'
	refused rxe7 --device rxe7
	refused /no/such --cgroup /no/such
	refused 4194303 --pid 4194303
}

# Failures of which the causes need the limits of the device, its GIDs, addresses, routes and neighbours, other ids, control groups,
# memory; and one that is benign.
all_kinds() {
	local kind
	for kind in reg-mr-unmapped reg-mr-readonly create-cq-limit create-qp-limit modify-qp-missing-attr modify-qp-rtr-empty-gid \
		rdma-bind-in-use rdma-resolve-nowhere rdma-disconnect-idle twin-enodata-query write2 reg-mr-unmapped; do
		"$FAIL" $kind --dev "$RXE0" >"$W/said" || :
	done
	"$FAIL" reg-mr-memlock --dev "$RXE0" --uid 65534 >"$W/said" || :
}

# What --record wrote is shown again without this kernel, byte for byte: as JSON lines, and as text, of which equal events are folded.
test_recorded_is_replayed() {
	local out=$W/recorded.tar.zst but='s/,"\(source":"[a-z]*\|read_at":"[^"]*\)"//g'
	export -f all_kinds
	export W
	# shellcheck disable=SC2046 # words
	"$R" trace-errno --json $(fast) --benign --record "$out" -- bash -c all_kinds >"$W/live.json" 2>"$W/live.err" || :
	cp "$out" "$W/live.json" "$RD_VM_OUT"
	true_of "$W/live.json" '([.[] | select(.cause_id?)] | length) >= 8 and (.[-1] | .functions > 100 and .events >= 12)'
	"$R" --from "$out" trace-errno --json >"$W/again.json"
	grep -q '"source":"bundle"' "$W/again.json"
	diff <(sed "$but" "$W/live.json") <(sed "$but" "$W/again.json")
	# shellcheck disable=SC2046 # words
	"$R" trace-errno $(fast) --record "$out" -- bash -c all_kinds >"$W/live.txt" 2>"$W/live.err" || :
	grep -q RLIMIT_MEMLOCK "$W/live.txt"
	"$R" --from "$out" trace-errno 2>/dev/null | diff "$W/live.txt" -
}

# At any limit: an end at once that names the limit, or a trace.
test_too_few_file_descriptors() {
	only 6.12
	local most began took
	for most in 8 32 128; do # with more, fexit attaches for most of a minute
		began=$(now)
		(
			ulimit -n "$most"
			exec "$R" trace-errno --json --backend fexit -- true >"$W/few.json" 2>"$W/few.err"
		) && continue
		took=$(($(now) - began))
		grep -qE 'ulimit -n|open files|EMFILE' "$W/few.err" "$W/few.json" || fail "$most: $(head -2 "$W/few.err")" || return
		[ "$took" -lt $((60000 * SLOW)) ] || fail "$most: $took ms" || return
	done
}

# The daemon has lost its parents before it fails. What runs beside it is not shown.
test_children_and_others() {
	local inside=$W/inside outside
	(
		until_true 60 [ -e "$W/go" ]
		exec "$FAIL" reg-mr-readonly --dev rxe0
	) &
	outside=$!
	INSIDE=$inside "$R" trace-errno --json --user-stack -- sh -c '
		: >"$W/go"
		(setsid sh -c "echo \$\$ >$INSIDE; sleep 1; exec $FAIL create-cq-limit --dev rxe0" >/dev/null &)
		$FAIL reg-mr-unmapped --dev rxe0 >/dev/null
		sleep 3
		exit 5' >"$W/children.json" || [ $? = 5 ]
	wait $outside
	shows children create-cq-limit "$(<"$inside")"
	true_of "$W/children.json" 'map(select(.chain)) | map(.verb) == ["ibv_reg_mr", "ibv_create_cq"] and
		all(.[]; .pid != $outside)' --argjson outside $outside
}

# As an ordinary user, whom RLIMIT_MEMLOCK binds.
test_as_user() {
	only 6.12 7.x
	"$R" trace-errno --json -u nobody -- \
		sh -c 'id -u >&2; echo $$ >&2; exec "$FAIL" reg-mr-memlock --dev rxe0 >&2' >"$W/user.json" 2>"$W/user.err"
	cat "$W/user.err"
	[ "$(grep -m 1 -x '[0-9]*' "$W/user.err")" = 65534 ]
	shows user reg-mr-memlock "$(grep -x '[0-9]*' "$W/user.err" | tail -1)"
	true_of "$W/user.json" '.[0].uid == 65534'
}

# typed COMMAND…: runs it on a terminal of 33 lines, and prints how many bytes its shell would then read there. Its status is left
# in $W/status, its output in $W/terminal.
typed() {
	printf '%q ' "$@" >"$W/typed.sh"
	script -qc "stty rows 33 cols 111; . $W/typed.sh; echo \$? >$W/status
		perl -e 'ioctl(STDIN, 0x541b, \$n = pack(\"i\", 0)); print unpack(\"i\", \$n)' >$W/typed" /dev/null </dev/null >"$W/terminal"
	cat "$W/typed"
}

# A user's program on root's terminal types into it (perl: TIOCSTI of "id" and a newline on all that it can reach), reads a
# descriptor of root's, and looks at what it was given.
test_as_user_on_a_terminal() {
	local i
	cat >"$W/attack" <<-'EOF'
		perl -e 'open($t, "+<", "/dev/tty"); for $f ($t, STDIN, STDOUT, STDERR) { ioctl($f, 0x5412, $_) for split //, "id\n" }'
		ls /proc/$$/fd | tr '\n' ' '
		(cat <&7) 2>/dev/null | grep root && echo inherited
		echo "home $HOME user $USER logname $LOGNAME shell $SHELL size $(stty size)"
		grep -E '^(Uid|CapEff|NoNewPrivs)' /proc/self/status | tr '\t\n' ' '
		echo "errors" >&2
		exit 5
	EOF
	chmod 755 "$W" "$W/attack"
	exec 7</etc/shadow
	i=$(typed setpriv --reuid nobody --regid nogroup --clear-groups sh "$W/attack")
	echo "without us it types $i bytes"
	[ "$KERNEL" != 6.1 ] || [ "$i" -ge 3 ]
	[ "$(typed "$R" trace-errno -u nobody -- sh "$W/attack")" = 0 ]
	cat "$W/terminal"
	[ "$(<"$W/status")" = 5 ]
	# 10: the script itself. What script(1) types when its input ends may stand before it.
	grep -q '0 1 10 2 home /nonexistent user nobody logname nobody shell /usr/sbin/nologin size 33 111' "$W/terminal"
	grep -q '^Uid: 65534 65534 65534 65534 CapEff: 0000000000000000 NoNewPrivs: 1 errors' "$W/terminal"
	! grep inherited "$W/terminal"
}

# The same code below a shell with job control, on this kernel.
test_session_of_its_own() {
	build/tests/vm/test-trace-tty
	build/tests/vm/test-trace-user
}

# Each filter has its own trace, all at once over the same three failures.
test_filters() {
	only 6.12 7.x
	local name one two three traces
	traces=(by_pid by_comm by_cgroup by_device by_errno by_function by_number)
	mkdir -p /sys/fs/cgroup/job/step
	mkfifo "$W/fifo"
	sh -c 'read -r _ <$W/fifo; exec "$FAIL" reg-mr-unmapped --dev rxe0' &
	one=$!
	trace by_pid --pid $one
	trace by_comm --comm other-name
	trace by_cgroup --cgroup /sys/fs/cgroup/job
	trace by_device --device rxe1
	trace by_errno --errno ENODATA
	trace by_function --function 'rxe_cq_*' --function 'rxe_create_cq'
	trace by_number --errno 14 --events 1
	echo go >"$W/fifo"
	wait $one
	/run/other-name create-cq-limit --dev rxe1 &
	two=$!
	wait $two
	bash -c 'echo $$ >/sys/fs/cgroup/job/step/cgroup.procs; exec "$FAIL" modify-qp-rtr-empty-gid --dev rxe0' &
	three=$!
	wait $three
	wait "${pid[by_number]}"
	sleep 0.5
	for name in "${traces[@]}"; do
		[ $name = by_number ] || end $name
	done
	has() { # NAME PID: its events are those of this process
		true_of "$W/$1.json" 'map(select(.chain)) | length == 1 and .[0].pid == $pid' --argjson pid "$2"
		true_of "$W/$1.json" '.[-1] | .events == 1'
	}
	has by_pid $one
	has by_comm $two
	has by_cgroup $three
	has by_device $two
	has by_errno $three
	has by_function $two
	has by_number $one
}

# All filters in one trace: each of the others fails to pass one of them.
test_filters_together() {
	trace together --comm other-name --device rxe1 --errno EINVAL --function rxe_create_cq --events 1
	run create-cq-limit --dev rxe1
	/run/other-name reg-mr-unmapped --dev rxe1
	/run/other-name create-cq-limit --dev rxe0
	/run/other-name create-qp-limit --dev rxe1
	/run/other-name create-cq-limit --dev rxe1 &
	ran=$!
	wait $ran
	wait "${pid[together]}"
	true_of "$W/together.json" 'map(select(.chain)) | length == 1 and .[0].pid == $pid' --argjson pid $ran
}

# rdmadiag itself in a container: its processes have other numbers than those the kernel's programs see.
test_inside_a_pid_namespace() {
	only 6.12 7.x
	unshare -pf --mount-proc "$R" trace-errno --json -- sh -c '"$FAIL" reg-mr-unmapped --dev rxe0 >&2' >"$W/inside.json"
	true_of "$W/inside.json" 'map(select(.chain)) | length == 1 and .[0].verb == "ibv_reg_mr" and .[0].comm == "verbs-fail"'
}

# Each way of hooking gives the same chain.
with_backend() { # NAME
	only 6.12 7.x
	local case
	rm -f "$W/ids"
	"$R" trace-errno --json --backend "$1" -- sh -c '
		for case in reg-mr-unmapped create-cq-limit modify-qp-missing-attr rdma-resolve-nowhere; do
			sh -c "echo $case \$\$ >>$W/ids; exec $FAIL $case --dev rxe0" >/dev/null
		done' >"$W/backend.json"
	true_of "$W/backend.json" '.[-1].backends | keys == [$name]' --arg name "$1"
	while read -r case ran; do
		shows backend "$case"
	done <"$W/ids"
	[ "$(wc -l <"$W/ids")" = 4 ]
}

test_backend_kprobe_multi() { with_backend kprobe-multi; }
test_backend_kprobe() { with_backend kprobe; }

test_backend_fexit() {
	only 6.12 7.x
	with_backend fexit
	gone
}

test_backend_fexit_multi() {
	only 7.x
	with_backend fexit-multi
}

# Ctrl-C ends the trace, and takes its hooks away; the shell goes on.
test_shell_ends_a_trace() {
	command -v tmux >/dev/null || skip "tmux is not here"
	TERM=screen tmux -L rd new-session -d -x 100 -y 24 "$R shell; echo ended with \$? >$W/shell.ended; sleep 60"
	until_true 60 on_screen 'live>'
	tmux -L rd send-keys "trace-errno $(fast)" Enter
	until_true 120 sh -c '[ "$(bpftool -j link show | jq length)" -gt 0 ]'
	until_true 60 on_screen 'tracing\|watching\|hooks'
	tmux -L rd send-keys C-c
	until_true 120 sh -c '[ "$(bpftool -j link show | jq length)" = 0 ]'
	tmux -L rd send-keys 'use' Enter
	until_true 60 on_screen 'in use: live'
	tmux -L rd send-keys 'quit' Enter
	until_true 20 grep -q 'ended with 0' "$W/shell.ended"
	tmux -L rd kill-server
}

# --live: origins with their counts, the newest event, the processes behind a row; nothing is written over the screen.
test_live_view_of_failures() {
	only 6.12 7.x
	command -v tmux >/dev/null || skip "tmux is not here"
	TERM=screen tmux -L rd new-session -d -x 120 -y 30 "$R trace-errno $(fast) --live 2>$W/live.err; echo ended with \$? >$W/live.ended; sleep 60"
	until_true 120 on_screen '0 failed calls'
	for i in 1 2 3; do "$FAIL" modify-qp-rtr-empty-gid --dev rxe0 >/dev/null 2>&1 || :; done
	until_true 60 on_screen '^  ENODATA *ibv_modify_qp *rxe0 .* 3 '
	on_screen ' 3 failed calls'
	on_screen '^newest: entry .* of the GID table of rxe0'
	captured trace-errno
	tmux -L rd send-keys Enter
	until_true 60 on_screen 'process  *.*: 1 call$'
	captured trace-errno-Enter
	tmux -L rd send-keys q
	until_true 120 grep -q 'ended with 0' "$W/live.ended"
	grep -q ' events in ' "$W/live.err"
	until_true 120 nothing_of_ours
	tmux -L rd kill-server 2>/dev/null || :
}

# Thousands of failures, and a device that is removed meanwhile: the view goes on, and its count is that of the program.
test_live_view_of_a_burst() {
	only 6.12 7.x
	command -v tmux >/dev/null || skip "tmux is not here"
	local n
	ip link add d9 type dummy
	ip link set d9 up
	rdma link add rxe9 type rxe netdev d9
	TERM=screen tmux -L rd new-session -d -x 80 -y 24 "$R trace-errno $(fast) --live --errno EFAULT 2>$W/burst.err; echo ended with \$? >$W/burst.ended; sleep 60"
	until_true 120 on_screen '0 failed calls'
	(while [ ! -e "$W/enough" ]; do "$FAIL" burst --threads 2 --repeat 500 --dev rxe0; sleep 1; done >"$W/burst.out") &
	pid[burst]=$!
	until_true 60 on_screen 'EFAULT *ibv_reg_mr *rxe0'
	rdma link delete rxe9
	few_bytes trace-errno
	touch "$W/enough"
	wait "${pid[burst]}"
	n=$(sed -n 's/.*(EFAULT), \([0-9]*\) times$/\1/p' "$W/burst.out" | awk '{ n += $1 } END { print n }')
	[ "$n" -ge 1000 ]
	until_true 60 on_screen " $n failed calls"
	tmux -L rd send-keys q
	until_true 120 grep -q 'ended with 0' "$W/burst.ended"
	tmux -L rd kill-server 2>/dev/null || :
	ip link delete d9
}
