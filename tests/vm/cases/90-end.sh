# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# All hooks of a host go away, however the trace ended.
# kernels: 6.12
# asked: 6.1 7.x
# sample 6.1: nothing-is-left
# sample 7.x: nothing-is-left
# boot: main

prepare() {
	[ -e /sys/class/infiniband/rxe0 ] || [ -e /sys/class/infiniband/rxe3 ] || {
		modprobe -a rdma_ucm rdma_rxe dummy && ip link add d3 type dummy && ip link set d3 up && rdma link add rxe3 type rxe netdev d3
	}
}

# Those of all the tests before.
test_nothing_is_left() {
	gone
}

# A reader that has its line and goes.
test_head() {
	local dev
	dev=$(ls /sys/class/infiniband | head -1)
	# shellcheck disable=SC2046 # words
	{
		"$R" trace-errno $(fast) -v --json 2>"$W/head.err" || :
		now >"$W/ended"
	} | {
		until_true 120 grep -q ': hooked ' "$W/head.err"
		"$FAIL" reg-mr-unmapped --dev "$dev" --repeat 50 >/dev/null
		head -1 >"$W/head.json"
		now >"$W/closed"
	}
	true_of "$W/head.json" '.[0].errno == "EFAULT"'
	[ $(($(<"$W/ended") - $(<"$W/closed"))) -le $((1000 * SLOW)) ]
	[ "$(wc -l <"$W/head.err")" -le 6 ]
}

test_kill_both() {
	local holder status=0
	gone
	trace a
	true_of "$W/a.json" 'length == 0'
	holder=$(holder a)
	kill -KILL "${pid[a]}" "$holder"
	wait "${pid[a]}" || status=$?
	[ $status = 137 ]
	gone
}
