# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# Each fault of tests/faultbench: its cause with the values, or that it cannot be told. And origins that lie deeper.
# kernels: 6.12
# asked: 6.1 7.x
# sample 6.1: one-fault-of-each-cause
# sample 7.x: one-fault-of-each-cause
# whole: backend-kprobe-multi backend-fexit-multi backend-fexit backend-kprobe
# turn: 6
# boot: causes
# append: secretmem.enable=1

prepare() {
	built || return 0
	. tests/faultbench/guest up || return
	export RD_FAULT_OUT=$RD_VM_OUT/faults
	mkdir -p "$RD_FAULT_OUT"
}

built() {
	[ -e "build/tests/faultbench/$RD_VM_KERNEL/fbdrv.ko" ]
}

can_run() {
	built || skip "the modules were not built: $(tail -1 "build/tests/vm/$RD_VM_KERNEL-faultbench.log")"
}

# 6.1 cannot hook all functions of a module at once, and one by one takes fexit longer than kprobes.
backend() {
	[ "$KERNEL" != 6.1 ] || echo --backend kprobe
}

# fault NAME: runs it; its process is $ran
fault() {
	"$FAULT" "$1" "${FAULT_ARGS[@]}" >"$W/fault" 2>&1 || :
	cat "$W/fault"
	ran=$(awk '$1 == "truth" && $2 == "pid" { print $3 }' "$W/fault")
}

# of FILE PID EXPRESSION: true of an event of that process, soon
soon_true_of() {
	until_true 30 true_of "$1" "any(.[]; .pid == \$pid and ($3))" --argjson pid "$2" >"$W/soon" || { cat "$W/soon"; return 1; }
}

one_of_each() {
	build/tests/faultbench/verbs-fault --list | awk '!seen[$3]++' >"$W/list"
}

# judge NAME: compares what the trace of that name has printed; keeps it, and fails, if something is wrong
judge() {
	fault cq-vector
	soon_true_of "$W/$1.json" "$ran" true # it has come to the last of them
	tests/faultbench/judge.py "$KERNEL" "$W/list" "$W/results" "$RD_FAULT_OUT" "$W/$1.json" >"$RD_VM_OUT/$1"
}

# judged NAME [ARG…]: all faults of $W/list, by a trace with these arguments. On a busy machine libibverbs does not always reply in its
# time (and is not queried for 60 s then), and a process may end before what it had open is read: unknown causes are tried again.
judged() {
	local round bad unknown
	trace "$@"
	if grep -q 'no function could be hooked with' "$W/$1.err"; then return; fi
	# shellcheck disable=SC2046 # words
	fault_all $(awk '{ print $1 }' "$W/list") >"$W/results" || : # its errors are those of the faults
	for round in 1 2 3; do
		bad=0
		judge "$1" || bad=1
		mapfile -t unknown < <(awk '$3 == "unknown" && $NF == "WRONG" { print $1 }' "$RD_VM_OUT/$1")
		[ $bad = 1 ] && [ $round != 3 ] && [ ${#unknown[@]} -gt 0 ] || break
		echo "again: ${unknown[*]}"
		nap 60
		FAULT_ARGS+=(--linger)
		fault_all "${unknown[@]}" >>"$W/results" || :
	done
	end "$1"
	[ $bad = 0 ] || { grep WRONG "$RD_VM_OUT/$1"; return 1; }
}

test_all_faults() {
	can_run
	build/tests/faultbench/verbs-fault --list >"$W/list"
	# shellcheck disable=SC2046 # words
	judged judged $(backend)
}

# One fault of each cause by each backend that the kernel has. Emulated, each takes minutes: they can be run one by one.
by_backend() {
	can_run
	one_of_each
	judged "judged-$1" --backend "$1"
}

test_backend_kprobe_multi() { by_backend kprobe-multi; }
test_backend_fexit_multi() { by_backend fexit-multi; }
test_backend_fexit() { by_backend fexit; }
test_backend_kprobe() { by_backend kprobe; }

# Where the values of a cause lie differs by kernel.
test_one_fault_of_each_cause() {
	only 6.1 7.x
	can_run
	one_of_each
	# shellcheck disable=SC2046 # words
	judged sampled $(backend)
}

# A process that fails all the time takes the causes from none of the others.
test_busy_process() {
	local name cause
	can_run
	# shellcheck disable=SC2046 # words
	trace busy $(backend)
	"$FAULT" cq-entries "${FAULT_ARGS[@]}" --again >/dev/null &
	# How fast it fails, and so whether facts are left unread for itself, depends on the machine.
	until_true 300 eval '[ "$(wc -l <"$W/busy.json")" -gt 100 ]'
	while read -r name cause; do
		fault "$name"
		soon_true_of "$W/busy.json" "$ran" ".cause_id == \"$cause\""
	done <<-END
		rtr-gid-200 gid-index-unused
		cq-vector limit-exceeded
		cm-bind-not-local address-not-local
		cgroup-own cgroup-rdma-limit
	END
	kill "$!"
	end busy
}

# What the kernel counts has the origins of the events, also where a failure with the same errno was ignored before.
test_counts_agree_with_events() {
	local name
	only 6.12 7.x
	can_run
	trace counted
	for name in drv-ignored drv-attempt-2 drv-cleanup-3; do
		fault "$name"
		soon_true_of "$W/counted.json" "$ran" '.chain | length > 0'
	done
	end counted
	true_of "$W/counted.json" '.[-1] as $last | map(select(.chain and (.benign | not)) | [.origin.function, .errno, .verb, .ibdev]) |
		length >= 3 and (group_by(.) | map([.[0][], length]) | sort) ==
			($last.by_origin | map([.function, .errno, .verb, .ibdev, .count - (.benign // 0)] | select(.[4] > 0)) | sort)'
}

# Destroying is not traced until --deepen has seen it fail.
test_deepen() {
	only 6.12 7.x
	can_run
	trace deepen --deepen
	fault mr-bound
	soon_true_of "$W/deepen.json" "$ran" '.errno == "EINVAL" and (.origin_exact | not) and (.origin_below | length > 0)'
	until_true 60 grep -q 'for the next call that fails there' "$W/deepen.err"
	fault mr-bound
	soon_true_of "$W/deepen.json" "$ran" '.errno == "EINVAL" and .origin.module == "rdma_rxe" and .origin_exact'
	end deepen
}

# A driver that is loaded during the trace: its functions are hooked, and before that an event says what is not traced.
test_module_load() {
	only 6.12 7.x
	can_run
	until_true 90 rmmod fbdrv 2>/dev/null # hooks of the trace before may still hold it
	trace loads
	insmod "build/tests/faultbench/$RD_VM_KERNEL/fbdrv.ko"
	until_true 60 grep -q 'fbdrv was loaded during the trace' "$W/loads.err"
	fault drv-state
	soon_true_of "$W/loads.json" "$ran" 'any(.chain[]; .module == "fbdrv")'
	end loads
}
