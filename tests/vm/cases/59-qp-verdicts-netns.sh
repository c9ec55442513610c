# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# Both ends on one host, in two network namespaces: soft-RoCE can have a device in each since 7.x. The peer's address is one of
# this host, but not of this namespace.
# asked: 7.x
# boot: qp

prepare() {
	. tests/vm/cases/qp.sh && . tests/vm/cases/qp-pair.sh && { [ -e /sys/class/infiniband/rxe0 ] || . tests/vm/guest/rxe-up; } &&
		ip netns add far && ip link add n0 type veth peer name n1 netns far &&
		ip address add 10.9.2.1/24 dev n0 && ip link set n0 up &&
		ip -n far address add 10.9.2.2/24 dev n1 && ip -n far link set n1 up &&
		rdma link add rxe2 type rxe netdev n0 && ip netns exec far rdma link add rxe3 type rxe netdev n1 &&
		until_true 60 has_gid rxe2 && until_true 60 has_gid rxe3
}

has_gid() { grep -q ffff:0a09 "/sys/class/infiniband/$1/ports/1/gids/1"; }

# pair_here [ARG…]: A here, B in the other namespace. Queue pairs: $qpn_a (of rxe2), $qpn_b (of rxe3)
pair_here() {
	ip netns exec far "$PLAY" --alone B --host 10.9.2.2 --dev-b rxe3 --timeout 17 "$@" >"$W/far.out" 2>&1 &
	pid_b=$!
	"$PLAY" --alone A --host 10.9.2.2 --dev-a rxe2 --timeout 17 "$@" >"$W/near.out" 2>&1 &
	pid_a=$!
	until_true 60 said near 'A ready' || {
		cat "$W/near.out" "$W/far.out"
		return 1
	}
	qpn_a=$(sed -n 's/^A pid .* qpn //p' "$W/near.out")
	qpn_b=$(sed -n 's/^B pid .* qpn //p' "$W/far.out")
}

# Numbers of queue pairs are those of a device, so each end is looked up in its own.
look_here() {
	"$R" --json qp-state -i 2 -c 3 --type RC >"$W/here.json"
	jq '.qps |= map(select(.ibdev == "rxe2"))' "$W/here.json" >"$W/a.json"
	jq '.qps |= map(select(.ibdev == "rxe3"))' "$W/here.json" >"$W/b.json"
	rows "${FUNCNAME[1]#test_}"
}

test_healthy_in_two_namespaces() {
	pair_here
	look_here
	says a '.verdict == "ok"'
	says b '.verdict == "ok"'
}

test_peer_killed_in_another_namespace() {
	pair_here
	kill -KILL "$pid_b"
	look_here
	says a '(.verdict == "retrying" or .verdict == "cut-off") and (.advice | startswith("check the cable") | not)'
	no_qp b
}

test_interface_down_in_another_namespace() {
	pair_here
	ip -n far link set n1 down
	look_here
	says a '.verdict != "ok" and .verdict != "idle"'
	says b '.verdict == "cut-off" and (.reason | contains("rxe3/1"))'
}
