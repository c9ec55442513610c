# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# Devices that go away under their users and under the trace.
# kernels: 6.12
# asked: 6.1 7.x
# sample 6.1: *
# sample 7.x: *
# boot: main

prepare() {
	[ -e /sys/class/infiniband/rxe1 ] || . tests/vm/guest/rxe-up || return
	modprobe dummy numdummies=0 && ip link add d2 type dummy && ip address add 10.9.2.1/24 dev d2 && ip link set d2 up &&
		rdma link add rxe2 type rxe netdev d2 && trace removal
}

# The kernel waits for the device's last user, and removes it behind our back.
test_deleted_while_used() {
	local holder deleter
	"$FAIL" reg-mr-unmapped --repeat 1000000 --dev rxe2 >/dev/null &
	holder=$!
	sleep 1
	rdma link delete rxe2 &
	deleter=$!
	sleep 1
	kill $holder
	wait $holder || :
	wait $deleter
	[ ! -e /sys/class/infiniband/rxe2 ]
	kill -0 "${pid[removal]}"
	until_true 60 true_of "$W/removal.json" 'map(select(.pid == $pid and .errno == "EFAULT")) | length > 10 and all(.[]; .ibdev == "rxe2")' \
		--argjson pid "$holder"
	# And it goes on.
	verb reg-mr-unmapped --dev rxe1
}

verb() {
	run "$@"
	until_true 60 true_of "$W/removal.json" 'any(.[]; .pid == $pid and .ibdev == "rxe1" and .errno == "EFAULT")' --argjson pid "$ran"
}

test_removed_device() {
	run removed-device --dev rxe0 --cmd 'ip link delete v0'
	shows removal removed-device
}

finish() {
	end removal
}
