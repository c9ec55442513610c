# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# Failing verbs of real programs: verb, errno, device, queue pair, origin and chain.
# kernels: 6.12
# asked: 6.1 7.x
# sample 6.1: reg-mr-* write2 create-* modify-* rdma-* chains-and-stacks user-stack
# sample 7.x: reg-mr-* write2 create-* modify-* rdma-* chains-and-stacks user-stack
# sample arm64: reg-mr-readonly reg-mr-memlock modify-qp-missing-attr
# turn 1: user-stack-cplusplus user-stack-python what-libibverbs-says
# whole: user-stack-static user-stack-32-bit user-stack-perftest
# boot: main

# One trace for all: on 6.1 each costs 10 s to come and half a minute to go.
prepare() {
	{ [ -e /sys/class/infiniband/rxe0 ] || . tests/vm/guest/rxe-up; } && trace all --benign --stack --user-stack
}

verb() {
	run "$@" --dev rxe0
	shows all "$1"
}

test_reg_mr_unmapped() { verb reg-mr-unmapped; }
test_reg_mr_readonly() {
	verb reg-mr-readonly
	true_of "$W/all.json" 'any(.[]; .pid == $pid and .cause_id == "memory-read-only")' --argjson pid "$ran"
}
test_write2() { verb write2; }
test_create_cq_limit() { verb create-cq-limit; }
test_create_qp_limit() { verb create-qp-limit; }
test_modify_qp_missing_attr() { verb modify-qp-missing-attr; }
test_modify_qp_rtr_unreachable() { verb modify-qp-rtr-unreachable; }
test_modify_qp_rtr_empty_gid() { verb modify-qp-rtr-empty-gid; }
test_rdma_bind_in_use() { verb rdma-bind-in-use; }
test_rdma_resolve_nowhere() { verb rdma-resolve-nowhere; }

# Root has CAP_IPC_LOCK, which hides this one.
test_reg_mr_memlock() {
	verb reg-mr-memlock --uid 65534
	true_of "$W/all.json" 'any(.[]; .pid == $pid and .uid == 65534 and .errno == "ENOMEM" and .cause_id == "memlock-limit")' --argjson pid "$ran"
}

# What the kernel itself has on its stack at the first failure, as far as it is hooked, is in the chain in that order.
# The stack lacks functions that were left by a tail call. After a translated error the failing call was another one.
test_chains_and_stacks() {
	"$R" trace-errno --list --json >"$W/list.json"
	jq -es --slurpfile list "$W/list.json" "$bare"'
		def within($chain): reduce $chain[] as $f (.; if .[0] == $f then .[1:] else . end) | length == 0;
		($list[0].functions | map(select(.selected) | { key: .function | bare, value: true }) | from_entries) as $hooked |
		map(select(.chain and (.chain[0].translated | not))) |
		length >= 10 and all(.[];
			(.chain | map(.function | bare)) as $chain |
			(.kernel_stack | map(.function | bare | select($hooked[.]))) as $stack |
			if ($stack | length) > 0 and ($stack | within($chain)) then true
			else ({ $stack, $chain } | tojson | stderr | false) end)' "$W/all.json"
}

# stack_is NAME WANTED-FUNCTIONS COMMAND…: runs it under gdb up to its first call that fails with one of the errnos of such a
# request, and compares all frames with those of the event: function by function where both have a name, and the place in it.
stack_is() {
	local name=$1 wanted=$2 child n
	shift 2
	gdb --version >/dev/null 2>&1 || skip "no gdb runs here"
	cat >"$W/gdb" <<-'EOF'
		set debuginfod enabled off
		set startup-with-shell off
		set backtrace past-main on
		set print demangle off
		catch syscall ioctl
		condition 1 (int)$eax == -22 || (int)$eax == -28
		run
		info proc
		while 1
		printf "%lx %lx ", $pc, $sp
		info symbol (unsigned long)$pc - 1
		up
		end
	EOF
	gdb -batch -x "$W/gdb" --args "$@" >"$W/gdb.out" 2>&1 </dev/null || :
	child=$(sed -n 's/^process //p' "$W/gdb.out")
	until_true 30 eval '[ "$(grep -c "\"pid\":${child:-none}," "$W/all.json")" -ge 1 ]' || { cat "$W/gdb.out"; return 1; }
	jq -r --argjson pid "$child" 'select(.pid? == $pid and (.errno == "EINVAL" or .errno == "ENOSPC")) |
		(.user_stack[] | "\(.function // "-") \(.offset)"), "end \(.user_stack_end)"' "$W/all.json" |
		awk '{ print } $1 == "end" { exit }' >"$W/ours"
	# An inlined function is at the same place of the same frame.
	awk 'length($2) >= 8 && $1 $2 ~ /^[0-9a-f]+$/ && !seen[$1 " " $2]++ {
		if ($4 == "+") print $3, $5 + 1; else if ($4 == "in") print $3, 1; else print "-", 0 }' "$W/gdb.out" >"$W/gdb.frames"
	# Aliases of a function are two names of one place; what has no symbol, is placed in its file by us.
	if ! grep -vx 'end null' "$W/ours" | paste -d ' ' "$W/gdb.frames" - | awk '
		NF != 4 || ($1 != "-" && $3 != "-" && $2 != $4) { bad = 1 } END { exit bad || NR < 4 }' ||
		! grep -qx 'end null' "$W/ours"; then
		echo "$name: gdb, ours:"
		cat "$W/gdb.out"
		paste "$W/gdb.frames" "$W/ours"
		return 1
	fi
	for n in $wanted; do
		grep -qE "^$n( |[.(@])" "$W/ours" || fail "$name: no $n: $(tr '\n' ';' <"$W/ours")" || return
	done
	echo "$name: $(tr '\n' ';' <"$W/ours")"
}

# Programs without frame pointers, down to main and to what called it.
test_user_stack() {
	run write2 --dev rxe0 --repeat 200
	# The first events wait for the names of the kernel's functions.
	until_true 30 eval '[ "$(grep -c "\"pid\":$ran,.*WRITE:REG_MR" "$W/all.json")" -gt 1 ]'
	true_of "$W/all.json" 'any(.[]; .pid == $pid and .user_stack and
		(.user_stack | map(.function) | index("worker") and index("run_write") and index("main")) and
		any(.user_stack[]; .function == "main" and (.object | endswith("/verbs-fail")) and .offset > 0 and
			(.file | endswith("verbs-fail.c")) and .line > 0))' --argjson pid "$ran"
	grep -q 'process that unwinds user stacks: uid 65534, no capabilities, .*, seccomp$' "$W/all.err"
}

test_user_stack_cplusplus() {
	[ -x build/tests/vm/stacks ] || skip "not built for this architecture"
	stack_is C++ 'main _start _ZL10fail_belowli' build/tests/vm/stacks
}

test_user_stack_static() {
	[ -x build/tests/vm/stacks ] || skip "not built for this architecture"
	stack_is static 'main _start _ZL10fail_belowli' build/tests/vm/stacks-static
}

test_user_stack_32_bit() {
	[ -x build/tests/vm/stacks-32 ] || skip "the compiler cannot make 32-bit programs"
	stack_is 32-bit 'main _start _ZL10fail_belowli' build/tests/vm/stacks-32
}

test_user_stack_python() {
	cat >"$W/stack.py" <<-'EOF'
		import fcntl, os, struct
		fd = os.open("/dev/infiniband/uverbs0", os.O_RDWR)
		def fail(depth):
		    if depth:
		        return sorted([2, 1], key=lambda n: fail(depth - 1))
		    fcntl.ioctl(fd, 0xc0181b01, struct.pack("HHHHQQ", 24, 0, 0, 0, 0, 0))
		fail(2)
	EOF
	stack_is Python 'ioctl _PyEval_EvalFrameDefault Py_RunMain __libc_start_main\S* _start' /usr/bin/python3 "$W/stack.py"
}

test_user_stack_perftest() {
	stack_is perftest 'ioctl execute_ioctl verbs_open_device __libc_start_main\S*' "$(command -v ib_write_bw)" -d rxe0
}

# Whoever parses the program's files can do nothing, and when it dies the trace goes on.
test_user_stack_that_kills() {
	only 6.12 7.x
	LD_PRELOAD=$PWD/build/tests/vm/libdw-fault.so "$R" trace-errno --json --user-stack -- \
		sh -c '"$FAIL" write2 --dev rxe0 --repeat 500 >&2' >"$W/fault.json"
	true_of "$W/fault.json" 'map(select(.user_stack)) | length > 0 and
		all(.[]; .user_stack[0].object and all(.user_stack[]; .function == null))'
	tail -1 "$W/fault.json" | jq -c .errors
	true_of "$W/fault.json" '.[-1].errors | map(select(.object // "" | startswith("user stacks of PID")).message) ==
		["the process that unwinds them ended"]'
}

# replied FILE WHO…: captures; not before libibverbs has replied in the time that it has, which depends on the machine
replied() {
	rm -f "$1" "$W/verbs"
	"${@:2}" "$R" capture "$1" 2>"$W/capture.err" || [ $? -le 3 ] || return 0
	tar -xOf "$1" root/verbs/rxe0 >"$W/verbs" 2>"$W/verbs.err"
}

# libibverbs works in a process that can open no more than it needs; also where root alone may open the device, and for users.
test_what_libibverbs_says() {
	says() { # FILE WHO…: the device's limits are what ibv_devinfo says
		until_true 60 replied "$@" || { cat "$W/capture.err" "$W/verbs.err"; return 1; }
		cat "$W/verbs"
		for key in max_qp max_cq max_mr max_pd max_sge max_cqe max_qp_wr; do
			[ "$(sed -n "s/^$key=//p" "$W/verbs")" = "$(sed -n "s/^[[:space:]]*$key:[[:space:]]*//p" "$W/devinfo")" ]
		done
		grep -q '^port1.active_mtu_bytes=1024$' "$W/verbs"
	}
	ibv_devinfo -v -d rxe0 >"$W/devinfo"
	chmod 600 /dev/infiniband/uverbs*
	says "$W/root.tar" env
	chmod 666 /dev/infiniband/uverbs*
	mkdir -m 777 -p /run/user-capture
	says /run/user-capture/user.tar setpriv --reuid 65534 --regid 65534 --clear-groups
}

finish() {
	end all
}
