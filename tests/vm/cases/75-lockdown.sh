# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# A kernel that keeps its memory from root: no tracefs, no programs that read it.
# kernels: 6.12
# asked: 7.x
# turn: 2
# boot: lockdown
# append: lockdown=confidentiality

prepare() {
	grep -q '\[confidentiality\]' /sys/kernel/security/lockdown && . tests/vm/guest/rxe-up --one
}

# It goes on, and says what is lost: the name of the device that a call without a device file of its own is about.
test_confidentiality() {
	trace locked
	run reg-mr-unmapped --dev rxe0
	sleep 0.5
	end locked
	cat "$W/locked.err"
	true_of "$W/locked.json" 'any(.[]; .pid == $pid and .errno == "EFAULT" and (.origin.function | test("ib_umem_get")))' \
		--argjson pid "$ran"
	grep -qi lockdown "$W/locked.err"
	true_of "$W/locked.json" 'any(.[-1].errors[]; .message + .hint + .object | test("lock"; "i"))'
}

# Without the verb, what libibverbs does at each open is still known by where it fails.
test_healthy_programs() {
	trace healthy
	ibv_devinfo -v >/dev/null
	ibv_devinfo -v >/dev/null
	sleep 0.5
	end healthy
	tail -1 "$W/healthy.json" | jq -c '{ events, benign }'
	true_of "$W/healthy.json" '.[-1] | .events == 0 and .benign > 1'
}

# Being root does not help, and is not asked for.
test_queue_pairs() {
	local status=0
	"$R" qp-state --trace --duration 1 >"$W/qp.out" 2>&1 || status=$?
	cat "$W/qp.out"
	[ $status = 3 ]
	grep -qi lockdown "$W/qp.out"
	! grep -qi 'as root' "$W/qp.out"
}
