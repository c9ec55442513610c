# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# qp-state --join of captures of two machines. Their programs are stopped once they are connected: what they have remains, and the
# processors are free. The captures lie in build/tests/vm/KERNEL-pair; those of tests/bundles/{pair,half}-* were made so.
# kernels: 6.12
# asked: 6.1 7.x
# turn: 8
# boot: pair

prepare() {
	. tests/vm/guest/pair-up a && until_true 240 test -e "$MEET/b-up"
}

# connected N: that many queue pairs of this machine are in RTS
CONNECTED='connected() { [ "$(rdma resource show qp | grep -c "type RC state RTS")" -ge $1 ]; }'
eval "$CONNECTED"

# Programs that are stopped end by SIGKILL only; other tests of this boot count queue pairs.
leave() {
	# shellcheck disable=SC2046 # words
	kill -KILL $(jobs -p)
	there 'kill -KILL $(cat /run/rping /run/pingpong); ip link set pair0 up
		until ! rdma resource show qp | grep -q "type RC"; do sleep 0.2; done'
} >/dev/null 2>&1

# One pair whose addresses rdma_cm knows, one whose addresses the kernel is queried for.
connect() {
	rping -s -a 10.9.1.1 -C 100000000 >/dev/null 2>&1 &
	ibv_rc_pingpong -d rxe0 -g 1 -n 100000000 >/dev/null 2>&1 &
	until_true 60 listening
	there 'rping -c -a 10.9.1.1 -C 100000000 & echo $! >/run/rping
		ibv_rc_pingpong -d rxe0 -g 1 -n 100000000 10.9.1.1 & echo $! >/run/pingpong'
	until_true 120 connected 2
	there "$CONNECTED; until connected 2; do sleep 0.2; done; kill -STOP \$(cat /run/rping /run/pingpong)"
	# shellcheck disable=SC2046 # words
	kill -STOP $(jobs -p)
}

listening() { ss -Hltn 'sport = :18515' | grep -q . && rdma resource show cm_id | grep -q LISTEN; }

# captured NAME: both machines, to $RD_VM_OUT/NAME-a.tar.zst and -b
captured() {
	"$R" capture "$RD_VM_OUT/$1-a.tar.zst"
	there "$R capture $MEET/$1-b.tar.zst"
	cp "$MEET/$1-b.tar.zst" "$RD_VM_OUT"
}

# joined NAME STATUS EXPRESSION: of the pairs of both captures, in either order
joined() {
	local status=0 order
	for order in "a b" "b a"; do
		# shellcheck disable=SC2086 # words
		set -- "$1" "$2" "$3" $order
		"$R" --json qp-state --join "$RD_VM_OUT/$1-$4.tar.zst" "$RD_VM_OUT/$1-$5.tar.zst" >"$W/joined.json" || status=$?
		[ $status = "$2" ]
		true_of "$W/joined.json" ".[0] | .status == $2 and (.pairs | $3)"
		status=0
	done
}

test_connected_then_half_open() {
	trap leave EXIT
	connect
	captured pair
	joined pair 0 'length == 2 and all(.[]; .verdict == "connected" and .a.state == "RTS" and .b.state == "RTS" and
		([.a.host, .b.host] | sort) == ["pair-a", "pair-b"]) and
		all(.[]; .reason == "QP numbers and GIDs match")'

	# Without its link b cannot say that its end is gone.
	there 'ip link set pair0 down; kill -KILL $(cat /run/rping)
		until [ "$(rdma resource show qp | grep -c "type RC")" = 1 ]; do sleep 0.2; done'
	captured half
	joined half 2 '(map(select(.verdict == "half-open")) | length == 1 and (.[0] | .a.host == "pair-a" and .b == null and
		(.reason | contains("no longer exists on pair-b rxe0"))))'
	"$R" qp-state --join "$RD_VM_OUT"/half-[ab].tar.zst >"$W/half.out" 2>&1 || [ $? = 2 ]
	grep -q '^critical: pair-a rxe0 QP ' "$W/half.out"
}
