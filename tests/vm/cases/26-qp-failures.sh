# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# How queue pairs fail on soft-RoCE: state, verdict, age and errno at each end, A (requester, rxe0) and B (rxe1).
# kernels: 6.12
# asked: 6.1 7.x
# turn: 3
# boot: qp

# One watch and one recorder for all.
prepare() {
	. tests/vm/cases/qp.sh && { [ -e /sys/class/infiniband/rxe0 ] || . tests/vm/guest/rxe-up; } &&
		watch looks --stuck 2 && record events
}

finish() {
	kill -INT "${pid[looks]}" "${pid[events]}"
}

# However the test ends, the next one finds the network as rxe-up left it.
mend_afterwards() {
	trap 'kill $(jobs -p) 2>/dev/null || :; mend' EXIT
}

mend() {
	ip link set v0 up
	ip link set v1 arp on up
	ip address replace 10.9.0.1/24 dev v0
	ip address replace 10.9.0.2/24 dev v1
	ip neigh replace 10.9.0.2 lladdr 02:00:00:00:09:02 dev v0 nud permanent
	ip neigh replace 10.9.0.1 lladdr 02:00:00:00:09:01 dev v1 nud permanent
	ip route replace 10.9.0.2 dev v0 src 10.9.0.1 table 109
	ip route replace 10.9.0.1 dev v1 src 10.9.0.2 table 109
	until_true 20 grep -q ACTIVE /sys/class/infiniband/rxe0/ports/1/state
	until_true 20 grep -q ACTIVE /sys/class/infiniband/rxe1/ports/1/state
	until_true 20 grep -q ffff:0a09 /sys/class/infiniband/rxe0/ports/1/gids/1
}

test_healthy() {
	play pair
	judged looks a '.state == "RTS" and .verdict == "ok" and .psn_per_second > 2'
	judged looks b '.state == "RTS" and .verdict == "ok" and .psn_per_second > 2'
}

test_idle() {
	play pair --stop-a RTS --pause 100000
	judged looks a '.state == "RTS" and .verdict == "idle"'
	judged looks b '.state == "RTS" and .verdict == "idle"'
}

# soft-RoCE takes 7 retries for "for ever": the program waits, and sees nothing.
test_peer_killed() {
	play pair --retry 7
	kill -KILL "$peer"
	judged looks a '.state == "RTS" and .verdict == "cut-off" and (.reason | test("remote QP .* no longer exists.*device-wide"))'
	! said pair 'A wc'
	[ "$(tail -1 "$W/looks.json" | jq --argjson b "$b" '[.qps[] | select(.ibdev == "rxe1" and .lqpn == $b)] | length')" = 0 ]
}

# The kernel logs when it failed, but for 6.1.
test_peer_killed_few_retries() {
	local kind=exact
	[ "$KERNEL" != 6.1 ] || kind=interval
	play pair --retry 3
	kill -KILL "$peer"
	judged looks a '.state == "ERR" and .verdict == "retries-exhausted" and .state_age_kind == "'$kind'" and
		.state_max_seconds >= .state_seconds and .fix != null'
	until_true 10 said pair 'A wc 12'
}

test_interface_down() {
	mend_afterwards
	play pair --retry 7
	ip link set v1 down
	if [ "$KERNEL" = 6.1 ]; then
		judged looks a '.state == "RTS" and .verdict != "ok"'
	else
		judged looks a '.state == "ERR" and .state_age_kind == "interval"'
		until_true 10 said pair 'A wc'
	fi
	judged looks b '.state == "RTS" and .verdict == "cut-off" and (.fix | test("ip link set v1 up")) and
		(.reason | test("port rxe1/1 is DOWN: interface v1 is down"))'
	saw events '.kind == "device-event" and .ibdev == "rxe1" and .event == "PORT_ERR"'
}

test_link_flap() {
	mend_afterwards
	play pair --retry 7
	ip link set v1 down
	mend
	saw events '.kind == "device-event" and .ibdev == "rxe1" and .event == "PORT_ACTIVE"'
}

# The requester has an address no more when it is to go on; the other end is connected to nobody.
test_address_removed() {
	mend_afterwards
	rm -f "$W/go"
	play pair --wait "$W/go"
	ip address del 10.9.0.1/24 dev v0
	until_true 20 no_gid
	: >"$W/go"
	until_true 20 said pair 'A modify RTR ENODATA'
	saw events '.ibdev == "rxe0" and .lqpn == $a and .new_state == "RTR" and .errno == "ENODATA"'
	judged looks a '.state == "INIT" and .verdict == "stuck"'
	judged looks b '.state == "RTS" and .verdict == "idle"'
	saw events '.kind == "device-event" and .ibdev == "rxe0" and .event == "GID_CHANGE"'
}

no_gid() { ! grep -q ffff:0a09 /sys/class/infiniband/rxe0/ports/1/gids/1; }

test_wrong_gid_index() {
	play pair --gid-a 50
	saw events '.ibdev == "rxe0" and .lqpn == $a and .new_state == "RTR" and .errno == "ENODATA" and .sgid_index == 50'
	saw events '.ibdev == "rxe1" and .lqpn == $b and .new_state == "RTR" and .errno == "EINVAL"'
	judged looks a '.state == "INIT" and .verdict == "stuck"'
	judged looks b '.state == "INIT" and .verdict == "stuck"'
	line_holds looks '[.findings[] | select(.id == "qp-stuck" and .severity == "warning" and .fix != null)] | length > 0'
}

test_mtu_mismatch() {
	play pair --mtu-a 1024 --mtu-b 256
	judged looks a '.state == "ERR" and .verdict == "failed"'
	judged looks b '.state == "ERR" and .verdict == "failed"'
	saw events '.ibdev == "rxe0" and .lqpn == $a and .path_mtu_bytes == 1024'
	saw events '.ibdev == "rxe1" and .lqpn == $b and .path_mtu_bytes == 256'
	until_true 10 said pair 'A wc 9'
}

test_receiver_not_ready() {
	play pair --send --no-receive --rnr 0
	judged looks a '.state == "ERR" and .verdict == "retries-exhausted"'
	judged looks b '.state == "RTS" and .verdict == "cut-off" and (.reason | test("is in ERR"))'
	until_true 10 said pair 'A wc 13'
}

test_receiver_never_ready() {
	play pair --send --no-receive --rnr 7
	judged looks a '.state == "RTS" and .verdict == "no-receives" and (.reason | test("not ready"))'
	judged looks b '.state == "RTS" and .verdict == "no-receives" and (.reason | test("program of this QP"))'
	! said pair 'A wc'
}

test_left_in_init() {
	play pair --stop-a INIT --stop-b RTR
	judged looks a '.state == "INIT" and (.verdict == "ok" or .verdict == "cannot-tell")'
	judged looks a '.state == "INIT" and .verdict == "cannot-tell" and .state_seconds >= 2 and (.reason | test("only queue pair"))'
	judged looks b '.state == "RTR" and .verdict == "cannot-tell" and (.reason | test("only receives"))'
}

test_no_access() {
	play pair --no-access
	judged looks a '.state == "ERR" and .verdict == "failed"'
	judged looks b '.state == "ERR" and .verdict == "failed"'
	until_true 10 said pair 'A wc 10'
	[ "$KERNEL" != 7.x ] || saw events '.kind == "event" and .ibdev == "rxe1" and .lqpn == $b and .event == "QP_ACCESS_ERR"'
}

# The program gave up by itself: a recorder beside the looks sees that call, and what was posted comes back flushed (5).
test_flushed() {
	rm -f "$W/abort"
	watch both --trace
	until_true 60 test -s "$W/both.json"
	play pair --abort "$W/abort"
	judged both b '.state == "RTS"'
	: >"$W/abort"
	judged both b '.state == "ERR" and .verdict == "flushed" and .state_age_kind == "exact" and .fix != null'
	until_true 10 said pair 'B wc 5'
	# Looks without one find what the recorder keeps.
	judged looks b '.state == "ERR" and .verdict == "flushed" and .state_age_kind == "exact"'
}

# With a recorder, the address of the peer is known, and is one of this host.
with_recorder() {
	rm -f "$W/both.json"
	watch both --trace
	until_true 60 test -s "$W/both.json"
	play pair --retry 7
	judged both a '.verdict == "ok" or .verdict == "cannot-tell"'
}

test_local_peer_killed() {
	with_recorder
	kill -KILL "$peer"
	judged both a '.state == "RTS" and .verdict == "cut-off" and (.advice | test("restart the job")) and
		(.reason | test("its remote QP \($b) of rxe1, on this host, no longer exists"))'
}

test_address_of_peer_removed() {
	mend_afterwards
	with_recorder
	ip address del 10.9.0.2/24 dev v1
	judged both b '.state == "RTS" and .verdict == "cut-off" and (.reason | test("its source address was removed: GID index 1 of rxe1/1 is empty"))'
}

test_neighbour_failed() {
	mend_afterwards
	with_recorder
	ip link set v1 arp off
	ip neigh del 10.9.0.2 dev v0
	judged both a '.state == "RTS" and .verdict != "ok" and (.reason | test("its peer 10.9.0.2 does not respond to ARP"))'
}

# One look shows no motion, but how long the state lasts: the recorder knows.
test_one_look() {
	play pair --stop-a INIT
	"$R" --json qp-state --device rxe0 --lqpn "$a" >"$W/one.json"
	true_of "$W/one.json" '.[0].qps | length == 1 and (.[0] | .state == "INIT" and
		(.verdict == "cannot-tell" or .verdict == "ok") and .state_age_kind == "exact" and .fix != null)'
	"$R" qp-state --state INIT --columns lqpn,verdict,reason >"$W/one.out"
	grep -q "^ *$a .*in INIT for [0-9.]* s" "$W/one.out"
}
