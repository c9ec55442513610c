# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# A kernel that keeps its memory from root: no tracefs, no programs that read it.
# kernels: 6.12 7.x
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
