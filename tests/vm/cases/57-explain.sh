# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# What programs print as they fail on a real kernel is recognized: the form, its code, the device, the queue pair that exists.
# kernels: 6.12
# asked: 6.1 7.x
# whole: ucx-peer-killed
# turn: 1
# boot: main

prepare() {
	[ -e /sys/class/infiniband/rxe1 ] || . tests/vm/guest/rxe-up
}

# told EXPRESSION COMMAND…: what the command prints is explained so: EXPRESSION holds for an entry (its codes as names in $codes).
told() {
	local expression=$1
	shift
	timeout 60 "$@" >"$W/printed" 2>&1 || :
	"$R" explain --json --log "$W/printed" >"$W/explain.json" 2>"$W/explain.err" || :
	jq -e "any(.lines[]; [.codes[].name] as \$codes | .objects as \$o | $expression)" "$W/explain.json" >/dev/null && return
	cat "$W/printed" "$W/explain.err"
	jq -c '.lines[]? | [.id, .objects, [.codes[].name]]' "$W/explain.json"
	return 1
}

test_pingpong_wrong_gid_index() {
	ibv_rc_pingpong -d rxe1 -g 1 >"$W/server.out" 2>&1 &
	until_true 10 listens 18515
	told '.id | test("gid|rtr|modify|perftest")' ibv_rc_pingpong -d rxe0 -g 99 10.9.0.2
	kill $! || :
}

listens() {
	ss -Hltn "sport = :$1" | grep -q .
}

test_rping_without_route() {
	told '($codes | any(. == "RDMA_CM_EVENT_ADDR_ERROR" or . == "ENETUNREACH" or . == "ENODEV"))' rping -c -a 203.0.113.1 -C 1
}

test_rping_without_server() {
	told '($codes | index("RDMA_CM_EVENT_REJECTED")) and .next != null' rping -c -a 10.9.0.2 -p 4242 -C 1
}

test_perftest_without_server() {
	told '.id | test("perftest|connect|socket")' ib_write_bw -d rxe0 -x 1 10.9.0.2
}

test_perftest_unknown_device() {
	told '.id | test("perftest|device")' ib_write_bw -d rxe9
}

test_memlock() {
	told '($codes | index("ENOMEM")) and any(.causes[]; .id == "memlock")' "$FAIL" --uid 1000 reg-mr-memlock
}

test_read_only_mapping() {
	told '($codes | index("EFAULT"))' "$FAIL" reg-mr-readonly
}

test_address_in_use() {
	told '($codes | index("EADDRINUSE"))' "$FAIL" rdma-bind-in-use
}

test_unreachable_gid() {
	told '(.id | test("rtr|modify")) and ($codes | any(. == "ETIMEDOUT" or . == "ENETUNREACH" or . == "EHOSTUNREACH"))' \
		"$FAIL" modify-qp-rtr-unreachable
}

# Which of its transports notices it first is left to UCX.
test_ucx_peer_killed() {
	local server
	export UCX_TLS=rc_verbs,ud_verbs,self UCX_RC_VERBS_TIMEOUT=50ms UCX_RC_VERBS_RETRY_COUNT=1 UCX_IB_GID_INDEX=1
	UCX_NET_DEVICES=rxe1:1 ucx_perftest -t tag_bw -n 100000000 >"$W/server.out" 2>&1 &
	server=$!
	until_true 20 listens 13337
	(sleep 4 && kill -KILL $server) &
	told '.id | test("^ucx-(ud-timeout|verbs-completion|ep-error)")' \
		env UCX_NET_DEVICES=rxe0:1 ucx_perftest 10.9.0.2 -t tag_bw -n 100000000
}

# A line about a queue pair that lives: its state and owner are those that the kernel has.
test_queue_pair_that_lives() {
	local qpn
	ibv_rc_pingpong -d rxe1 -g 1 >"$W/server.out" 2>&1 &
	until_true 10 listens 18515
	qpn=$(rdma -j resource show qp link rxe1/1 | jq '[.[] | select(.comm == "ibv_rc_pingpong") | .lqpn][0]')
	"$R" explain --json "[1.0] [$(hostname):1:0] rc_verbs_iface.c:65 UCX ERROR send completion with error: transport retry counter exceeded [qpn $(printf 0x%x "$qpn") wrid 0x1 vendor_err 0x81]" \
		>"$W/explain.json"
	kill $!
	jq -e --argjson qpn "$qpn" '.lines[0].objects.lqpn == $qpn' "$W/explain.json"
}

test_kernel_lines() {
	dmesg >"$W/dmesg"
	"$R" explain --json --log "$W/dmesg" >"$W/explain.json" 2>&1 || [ $? -eq 3 ]
}
