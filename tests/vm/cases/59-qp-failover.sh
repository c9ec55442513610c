# shellcheck shell=bash disable=SC2016,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# qp-state --failover, while a job with queue pairs on two NICs loses one of them. Each machine has rxe1 on m1 and rxe2 on m2.
# kernels: 6.12
# asked: 6.1 7.x
# whole: 34-seconds-of-silence
# turn: 8
# boot: pair

PLAY=build/tests/vm/qp-play

# NICS NUMBER: a machine's two further NICs
NICS='nics() { modprobe macvlan
	for n in 1 2; do
		ip link add m$n link pair0 type macvlan mode bridge && sysctl -qw net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.m$n.rp_filter=0 \
			net.ipv6.conf.m$n.accept_dad=0 &&
			ip address add 10.9.$((n + 1)).$1/24 dev m$n && ip link set m$n up && rdma link add rxe$n type rxe netdev m$n || return
		until grep -qs ffff:0a09 /sys/class/infiniband/rxe$n/ports/1/gids/1; do sleep 0.2; done
	done; }'
UNDO='{ kill -KILL $(cat /run/play); rm -f /run/play /run/shift; rdma link delete rxe1; rdma link delete rxe2; ip link del m1; ip link del m2; } >/dev/null 2>&1'

prepare() {
	. tests/vm/guest/pair-up a && until_true 240 test -e "$MEET/b-up"
}

# job [ARG…]: qp-play at both ends, until it has done work over rxe1, and a watch that has seen it
job() {
	# A device that a process uses is not removed: the one of the run before.
	[ -z "${pid_a:-}" ] || kill -KILL "$pid_a" || :
	# shellcheck disable=SC2046 # words
	trap 'kill $(jobs -p) || :; there "$UNDO" || :; eval "$UNDO" || :' EXIT
	there "$UNDO; $NICS; nics 2 && { $PLAY --alone B --host 10.9.1.2 --dev-b rxe1 --over rxe2 $* >/run/play.out 2>&1 & echo \$! >/run/play; }"
	eval "$UNDO" || :
	eval "$NICS"
	nics 1
	for n in 2 3; do until_true 60 reaches "$n"; done
	"$PLAY" --alone A --host 10.9.1.2 --dev-a rxe1 --over rxe2 "$@" >"$W/play.out" 2>&1 &
	pid_a=$!
	until_true 60 grep -q '^A ready' "$W/play.out" || {
		cat "$W/play.out"
		there 'cat /run/play.out'
		return 1
	}
	"$R" -v --json qp-state --failover -i 1 >"$W/over.json" 2>"$W/over.err" &
	watch=$!
	samples 5
}

# reaches NET: the peer there has a neighbour entry; soft-RoCE waits a second only
reaches() {
	(: <"/dev/tcp/10.9.$1.2/9") 2>/dev/null || :
	ip neigh show "10.9.$1.2" | grep -qE 'REACHABLE|STALE|DELAY'
}

# samples N: so many more of the watch
samples() {
	local n
	n=$(grep -c 'sample of' "$W/over.err" || :)
	until_true 60 more_than $((n + $1))
}
more_than() { [ "$(grep -c 'sample of' "$W/over.err")" -ge "$1" ]; }

holds() { jq -es --argjson pid "$pid_a" "$1" "$W/over.json" >/dev/null 2>&1; }

# saw EXPRESSION: of all events so far, before long
saw() {
	until_true 90 holds "$1" && return
	echo "not seen: $1"
	cat "$W/play.out" "$W/over.json"
	tail -n 3 "$W/over.err"
	"$R" qp-state -i 1 -c 2 -o +verdict,reason --type RC || :
	return 1
}

# ends STATUS: the watch
ends() {
	local status=0
	kill -INT "$watch"
	wait "$watch" || status=$?
	tail -n 1 "$W/over.json"
	[ $status = "$1" ] && holds ".[-1].status == $1 and (.[-1].schema | endswith(\"failover-summary/1\"))"
}

# The same watch at the other end, the responder
watch_b() {
	there "export RDMADIAG_DATADIR=\$PWD/data; rm -f $MEET/over.*; $R --json qp-state --failover -i 1 >$MEET/over.json 2>$MEET/over.err & echo \$! >/run/watch"
	sleep 8
}
holds_b() { jq -es "$1" "$MEET/over.json" >/dev/null 2>&1; }
saw_b() {
	until_true 180 holds_b "$1" && return
	echo "not seen at b: $1"
	cat "$MEET/over.json" "$MEET/over.err"
	return 1
}
ends_b() {
	there 'kill -INT $(cat /run/watch)'
	saw_b ".[-1].status == $1 and (.[-1].schema | endswith(\"failover-summary/1\"))"
}

# Its peer is cut off: the retries of 3.8 s end, and the second NIC has the traffic. The link comes back.
test_remote_link_is_cut() {
	job --timeout 17 --retry 6
	there 'ip link set m1 down'
	saw 'map(.event) | index("path-died") != null and index("moved") != null'
	holds 'map(select(.event == "path-died")) | length == 1 and (.[0] | .ibdev == "rxe1" and .pid == $pid and .qps == 1 and
		.detected_seconds > 1 and .detected_max_seconds < 60)' || saw false
	holds 'map(select(.event == "moved")) | length == 1 and (.[0] | .from == "rxe1" and .to == "rxe2" and .gbps > 0 and
		.before_gbps > 0 and .expected_backup == null and .after_seconds > 1)' || saw false
	there 'ip link set m1 up'
	samples 3
	ends 1
	holds '.[-1].findings | map(.id) == ["failover-moved"]'
}

# The NIC itself loses its link, and has it again: its queue pairs are not rebuilt.
test_own_link_is_cut_and_restored() {
	job --timeout 17 --retry 6
	ip link set m1 down
	saw 'map(.event) | index("path-died") != null and index("moved") != null'
	ip link set m1 up
	saw 'map(.event) | index("back") != null and index("stays") != null'
	holds 'map(select(.event == "stays")) | .[0] | .from == "rxe1" and .to == "rxe2" and .rebuilt == false' || saw false
	ends 1
	holds '.[-1].findings | map(.id) == ["failover-stays"]'
}

# As test_remote_link_is_cut, with the timeout of NCCL; three times, as `make soak` does.
test_34_seconds_of_silence() {
	local n
	for n in 1 2 3; do
		job --timeout 20 --retry 6
		there 'ip link set m1 down'
		SLOW=6 saw 'map(.event) | index("path-died") != null and index("moved") != null'
		holds 'map(select(.event == "path-died")) | length == 1 and (.[0] | .ibdev == "rxe1" and .detected_max_seconds > 28)' || saw false
		holds 'map(select(.event == "moved")) | length == 1 and (.[0] | .to == "rxe2" and .after_seconds > 28)' || saw false
		ends 1
	done
}

test_without_a_link_to_move_to() {
	job --timeout 17 --retry 6
	# The backup first: between the two the job would move to it.
	there 'ip link set m2 down; ip link set m1 down'
	saw 'map(select(.event == "path-died") | .ibdev) | unique | contains(["rxe1"])'
	samples 5
	holds 'map(select(.event == "moved")) == []' || saw false
	ends 2
	holds '.[-1].findings | map(.id) | contains(["failover-none"])'
}

# Both ends lose the NIC, as with a switch that fails. The responder, whose queue pairs never fail, sees its link and its traffic.
test_both_ends_lose_their_link() {
	job --timeout 17 --retry 6
	watch_b
	ip link set m1 down &
	there 'ip link set m1 down'
	saw 'map(.event) | index("path-died") != null and index("moved") != null'
	holds 'map(select(.event == "path-died")) | length == 1 and (.[0] | .ibdev == "rxe1" and .pid == $pid)' || saw false
	holds 'map(select(.event == "moved")) | length == 1 and (.[0] | .from == "rxe1" and .to == "rxe2")' || saw false
	saw_b 'any(.event == "moved" and .from == "rxe1" and .to == "rxe2")'
	ends 1
	ends_b 1
}

# Both NICs of both ends: nothing is left.
test_both_ends_lose_both_links() {
	job --timeout 17 --retry 6
	ip link set m2 down
	there 'ip link set m2 down; ip link set m1 down'
	ip link set m1 down
	saw 'map(select(.event == "path-died") | .ibdev) | unique | contains(["rxe1"])'
	samples 5
	holds 'map(select(.event == "moved")) == []' || saw false
	ends 2
}

# Nothing fails: a program may use another NIC as it likes, and the one before again.
test_traffic_that_shifts_to_and_fro() {
	job --timeout 14 --retry 6 --shift /run/shift
	watch_b
	: >/run/shift
	there ': >/run/shift'
	samples 6
	rm -f /run/shift
	there 'rm -f /run/shift'
	samples 6
	: >/run/shift
	samples 4
	ends 0
	holds 'length == 1 and (.[0].findings == [])'
	ends_b 0
}

# Nothing fails: a program may use another NIC as it likes.
test_traffic_that_shifts_by_itself() {
	job --timeout 20 --retry 6 --shift /run/shift
	: >/run/shift
	samples 6
	ends 0
	holds 'length == 1 and (.[0].findings == [])'
}

# Before anything fails: peers and timers by the kernel's own queries, without these unknown.
test_before() {
	local status=0
	job --timeout 17 --retry 6
	"$R" --json qp-state --failover --no-probe >"$W/before.json" || status=$?
	[ $status = 3 ]
	true_of "$W/before.json" '.[0] | .status == 3 and (.findings | map(.id) | unique) == ["failover-unknown"]'
	"$R" --json qp-state --failover >"$W/before.json" || { cat "$W/before.json"; false; }
	true_of "$W/before.json" '.[0] | .findings == [] and (.paths | map([.ibdev, .backup, .qps, .unusable, .peers]) | sort) ==
		[["rxe1", "rxe2", 1, 0, 1], ["rxe2", "rxe1", 1, 0, 1]] and all(.paths[]; .detect_least_seconds > 3 and .detect_most_seconds < 16
			and .unrouted == 0 and .watchdog_seconds == null)'
	ip route del 10.9.3.0/24 dev m2
	status=0
	"$R" --json qp-state --failover >"$W/before.json" || status=$?
	[ $status = 1 ]
	true_of "$W/before.json" '.[0].findings | map(select(.id == "failover-route")) | length == 1 and
		(.[0].subject | startswith("rxe2 ")) and .[0].observed == "1 of 1 peers, first: 10.9.3.2"'
	ip route add 10.9.3.0/24 dev m2 src 10.9.3.1
	there 'ip link set m2 down'
	ip link set m2 down
	status=0
	"$R" --json qp-state --failover >"$W/before.json" || status=$?
	[ $status = 1 ]
	true_of "$W/before.json" '.[0].findings | map(select(.id == "failover-unusable" and .severity == "warning")) | length == 1'
	ends 0
}
