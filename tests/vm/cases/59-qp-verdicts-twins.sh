# shellcheck shell=bash disable=SC2016,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# What qp-state says of a sick queue pair and of a healthy one on the same device, at each end; no recorder.
# asked: 6.1 6.12 7.x
# boot: pair

declare -A qa=() qb=() pa=() pb=()

prepare() {
	. tests/vm/guest/pair-up a && until_true 240 test -e "$MEET/b-up" && . tests/vm/cases/qp-pair.sh &&
		modprobe -a cls_flower act_gact && there 'modprobe -a cls_flower act_gact'
}

# begin: neither end has queue pairs
begin() {
	local thaw='echo 0 >/sys/fs/cgroup/job/cgroup.freeze; ip address del 10.9.1.3/24 dev pair0;'
	there "{ $thaw } 2>/dev/null; ${MEND//HOST/$HOST_B}"
	bash -c "{ $thaw } 2>/dev/null; ${MEND//HOST/$HOST_A}"
}

# pair NAME ARGS-OF-A [ARGS-OF-B]: qp-play at both ends: queue pairs (the last) ${qa[NAME]}, ${qb[NAME]}, processes ${pa[NAME]}, ${pb[NAME]}
pair() {
	local port=$((18600 + ${#qa[@]})) of_b=${3-$2}
	there "$PLAY --alone B --port $port --host $HOST_B --dev-b rxe0 --later $LATER $of_b >/run/$1.out 2>&1 & echo \$! >>/run/play"
	# shellcheck disable=SC2086 # words
	"$PLAY" --alone A --port $port --host $HOST_B --later $LATER $2 >"$W/$1.out" 2>&1 &
	echo $! >>/run/play
	pa[$1]=$!
	until_true "${never:-60}" grep -q '^A ready' "$W/$1.out" || [ -n "${never-}" ] || {
		cat "$W/$1.out"
		there "cat /run/$1.out"
		return 1
	}
	qa[$1]=$(sed -n 's/^A pid .* qpn //p' "$W/$1.out" | tail -n 1)
	read -r "pb[$1]" "qb[$1]" < <(there "sed -n 's/^B pid \\(.*\\) qpn /\\1 /p' /run/$1.out | tail -n 1")
}

sick() { pair sick "$@" && qpn_a=${qa[sick]} qpn_b=${qb[sick]} pid_a=${pa[sick]} pid_b=${pb[sick]}; }
twin() { pair twin "$@"; }
BUSY='--timeout 20 --pause 20'

# twin_says END EXPRESSION
twin_says() { qpn_a=${qa[twin]} qpn_b=${qb[twin]} pid_a=${pa[twin]} pid_b=${pb[twin]} says "$@"; }

# twin_healthy: it has rows in the table, too, and nothing is said against it that it did not do
twin_healthy() {
	local name=${FUNCNAME[1]#test_} side
	for side in a b; do
		qpn_a=${qa[twin]} qpn_b=${qb[twin]} row "${name//_/ } (twin)" $side 3
		twin_says $side '.verdict | IN("ok", "receiving", "idle", "cannot-tell")'
	done
}

freeze='mkdir -p /sys/fs/cgroup/job; echo PID >/sys/fs/cgroup/job/cgroup.procs; echo 1 >/sys/fs/cgroup/job/cgroup.freeze'
DROP='tc qdisc add dev pair0 clsact && tc filter add dev pair0 ingress protocol ip flower ip_proto udp dst_port 4791 action'

test_few_receives_beside_a_busy_one() {
	begin
	twin "$BUSY"
	sick '--send --timeout 20' '--send --timeout 20 --receives 1 --pause 400'
	look
	says a '.verdict != "ok" and .verdict != "idle" and (.reason | contains("RNR NAKs received"))'
	says b '.verdict != "ok" and .verdict != "idle" and (.reason | contains("RNR NAKs sent"))'
	twin_healthy
}

test_killed_beside_a_busy_one() {
	begin
	twin "$BUSY"
	sick '--timeout 15'
	there "kill -KILL $pid_b"
	look
	says a '(.verdict == "retrying" or .verdict == "cannot-tell") and (.reason | contains("retransmitted"))'
	no_qp b
	twin_healthy
}

test_stopped_receiver_beside_a_busy_one() {
	begin
	twin "$BUSY"
	sick '--send --timeout 20'
	there "kill -STOP $pid_b"
	look
	says a '(.verdict | IN("no-receives", "cannot-tell")) and (.advice | contains("posts no receive"))'
	says b '(.verdict | IN("no-receives", "cannot-tell")) and (.reason | contains("is stopped")) and (.fix | startswith("kill -CONT " + $pid))'
	twin_healthy
}

test_frozen_receiver_beside_a_busy_one() {
	begin
	twin "$BUSY"
	sick '--send --timeout 20'
	there "${freeze//PID/$pid_b}"
	look
	says a '(.verdict | IN("no-receives", "cannot-tell")) and (.advice | contains("posts no receive"))'
	says b '(.verdict | IN("no-receives", "cannot-tell")) and (.reason | contains("is frozen")) and (.fix | contains("gdb") | not)'
	twin_healthy
}

test_frozen_receiver() {
	begin
	sick '--send --timeout 20'
	there "${freeze//PID/$pid_b}"
	look
	says a '.verdict | IN("no-receives", "slow")'
	says b '.verdict == "no-receives" and (.reason | contains("is frozen"))'
}

test_frozen_requester_beside_a_busy_one() {
	begin
	twin "$BUSY"
	sick '--send --timeout 17'
	bash -c "${freeze//PID/$pid_a}"
	look
	says a '.verdict == "idle" and (.reason | contains("is frozen"))'
	says b '.verdict == "idle"'
	twin_healthy
}

test_stopped_requester_beside_a_busy_one() {
	begin
	twin "$BUSY"
	sick '--timeout 17'
	kill -STOP "$pid_a"
	look
	says a '.verdict == "idle" and (.reason | contains("is stopped"))'
	says b '.verdict == "idle"'
	twin_healthy
}

test_all_acks_dropped() {
	begin
	twin '--timeout 17 --rest'
	sick '--timeout 16'
	later
	bash -c "$DROP drop"
	look
	says a '(.verdict | IN("retrying", "cannot-tell")) and (.reason | contains("retransmitted"))'
	says b '.verdict == "cannot-tell" and (.reason | contains("ACKs do not arrive"))'
	twin_healthy
}

test_all_dropped_both_ways() {
	begin
	twin '--timeout 17 --rest'
	sick '--timeout 16'
	later
	bash -c "$DROP drop"
	there "$DROP drop"
	look
	says a '(.verdict | IN("retrying", "cannot-tell")) and (.reason | contains("retransmitted"))'
	says b '.verdict == "idle"'
	twin_healthy
}

test_psn_expected_too_high() {
	begin
	twin "$BUSY"
	never=2 sick '--timeout 15' '--timeout 15 --psn-off 1000'
	look
	says a '(.verdict | IN("retrying", "cannot-tell")) and (.reason | contains("retransmitted"))'
	says b '.verdict == "cannot-tell" and (.reason | contains("duplicate requests"))'
	twin_healthy
}

test_psn_expected_too_low() {
	begin
	twin "$BUSY"
	never=2 sick '--timeout 15' '--timeout 15 --psn-off -50'
	look
	says a '(.verdict | IN("retrying", "cannot-tell")) and (.reason | contains("retransmitted"))'
	twin_healthy
}

test_wrong_gid() {
	begin
	there 'ip address add 10.9.1.3/24 dev pair0; for n in {1..50}; do
		grep -l ffff:0a09:0103 /sys/class/infiniband/rxe0/ports/1/gids/[0-9] && break; sleep 0.1; done' >"$W/gid"
	twin "$BUSY"
	never=2 sick '--timeout 15' "--timeout 15 --gid-said $(sed 's,.*/,,' "$W/gid")"
	look
	says a '(.verdict | IN("retrying", "cannot-tell")) and (.reason | contains("retransmitted"))'
	says b '.verdict == "idle"'
	twin_healthy
}

test_path_mtu_of_a_is_smaller() {
	begin
	twin "$BUSY"
	never=2 sick '--timeout 15 --mtu-a 256'
	look
	says a '.verdict == "failed"'
	says b '.verdict == "failed"'
	twin_healthy
}

test_completion_queue_overflows() {
	begin
	twin "$BUSY"
	sick '--send --timeout 15' '--send --timeout 15 --cq 4'
	later
	look
	says a '(.verdict | IN("retrying", "cannot-tell")) and (.reason | contains("retransmitted"))'
	says b '.verdict == "failed"'
	twin_healthy
}

test_one_of_four_left_in_rtr() {
	begin
	twin '--timeout 20 --pause 50 --many 4' '--timeout 20 --pause 50 --many 4 --stop-b RTR'
	sick '--timeout 20 --pause 50 --many 4 --stop-a RTR'
	look
	says a '.verdict == "stuck"'
	says b '.verdict == "idle"'
	twin_says b '.verdict == "receiving"'
	twin_healthy
}

test_half_open_idle() {
	begin
	twin '--timeout 17 --rest'
	sick '--timeout 17 --rest'
	later
	there "kill -KILL $pid_b"
	look
	says a '.verdict == "idle" and (.fix | contains("--lqpn " + $peer))'
	no_qp b
	twin_healthy
}

test_loss_beside_an_idle_one() {
	begin
	twin '--timeout 15 --rest'
	sick '--timeout 15'
	later
	there "$DROP pass random netrand drop 20"
	look
	says a '.verdict != "ok" and .verdict != "idle"'
	twin_healthy
}

test_shared_receive_queue_exhausted() {
	begin
	twin "$BUSY"
	sick '--send --timeout 20 --srq --no-receive'
	later
	look
	says a '(.verdict | IN("no-receives", "cannot-tell")) and (.advice | contains("posts no receive"))'
	says b '(.verdict | IN("no-receives", "cannot-tell")) and (.reason | contains("receive work requests"))'
	twin_healthy
}

test_rnr_retries_exhausted_beside_a_busy_one() {
	begin
	twin "$BUSY"
	sick '--send --timeout 17 --rnr 2 --no-receive'
	later
	until_true 60 grep -q '^A wc' "$W/sick.out"
	look
	says a '.state == "ERR" and (.verdict == "retries-exhausted" or (.verdict == "failed" and env.KERNEL == "6.1"))'
	twin_healthy
}

test_one_of_fifty_killed() {
	begin
	twin '--timeout 20 --pause 300 --many 50'
	sick '--timeout 15'
	there "kill -KILL $pid_b"
	look
	says a '(.verdict | IN("retrying", "cannot-tell")) and (.reason | contains("retransmitted"))'
	no_qp b
	twin_healthy
}

test_uc_peer_killed() {
	begin
	twin "$BUSY"
	sick '--uc'
	there "kill -KILL $pid_b"
	look
	says a '.verdict == "cannot-tell" and (.reason | contains("UC has no ACKs"))'
	no_qp b
	twin_healthy
}

test_ud_without_peer() {
	begin
	twin "$BUSY"
	ibv_ud_pingpong -d rxe0 -g 1 -n 100000000 >/dev/null 2>&1 &
	echo $! >>/run/play
	sleep 1
	there "ibv_ud_pingpong -d rxe0 -g 1 -n 100000000 $HOST_A >/dev/null 2>&1 & echo \$! >>/run/play"
	until_true 30 bash -c 'rdma resource show qp | grep -q "type UD state RTS"'
	sleep 2
	there 'kill -KILL $(tail -n 1 /run/play)'
	qpn_a=$(rdma -j resource show qp | jq '[.[] | select(.type == "UD")][0].lqpn') qpn_b=0
	"$R" --json qp-state -i 2 -c 3 >"$W/a.json" 2>"$W/a.err"
	cp "$W/a.json" "$W/b.json"
	says a '.verdict == "ok" and (.reason | contains("no connection"))'
	twin_says a '.verdict == "ok"'
}

# The log has a line of the queue pair that had this number before: that failed otherwise.
test_number_reused_after_a_line_of_the_log() {
	local first devices='rdma link delete rxe0; rdma link add rxe0 type rxe netdev pair0'
	begin
	bash -c "$devices; ${MEND//HOST/$HOST_A}"
	sick '--bad-key'
	later
	until_true 60 grep -q '^A wc' "$W/sick.out"
	first=$qpn_a
	begin
	bash -c "$devices; ${MEND//HOST/$HOST_A}"
	sick '--timeout 17'
	[ "$qpn_a" = "$first" ]
	ip link set pair0 mtu 600
	until_true 30 bash -c 'rdma resource show qp | grep -q "type RC state ERR"'
	look
	says a '.state == "ERR" and .verdict == "failed" and (.reason | contains("kernel log") | not)'
	says b '.verdict == "idle"'
}
