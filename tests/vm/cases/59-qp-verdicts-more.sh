# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# What qp-state says of a fault at each end: the job runs first, then the fault comes, then somebody looks; no recorder.
# The rarer ones: `check --verdicts` runs them.
# asked: 6.1 6.12 7.x
# boot: pair

# Jobs that are to work have the ACK timeout of NCCL, 4.3 s: on a busy host the clock of an emulated machine jumps, and ACKs come
# later than shorter ones, which qp-state says.
prepare() {
	. tests/vm/guest/pair-up a && until_true 240 test -e "$MEET/b-up" && . tests/vm/cases/qp-pair.sh
}

test_healthy_sends_both_ways() {
	job --both --send --timeout 20
	look
	says a '.verdict == "ok"'
	says b '.verdict == "ok"'
}

test_requester_killed() {
	job
	kill -KILL "$pid_a"
	look
	no_qp a
	says b '.verdict == "idle" and (.fix | contains("ssh 10.9.1.1 rdmadiag qp-state"))'
}

test_peer_killed_few_retries() {
	job --retry 2
	there "kill -KILL $pid_b"
	until_true 60 grep -q '^A wc' "$W/play.out"
	look
	# 6.1 does not log why: what is not known is not guessed.
	if [ "$KERNEL" = 6.1 ]; then
		says a '.state == "ERR" and .verdict == "failed" and (.reason | contains("cause unknown"))'
	else
		says a '.state == "ERR" and .verdict == "retries-exhausted" and first("process"; "counters") and first("process"; "path")'
	fi
	says a-once '.verdict == "retries-exhausted" or .verdict == "failed"'
	no_qp b
}

# Longer than somebody looks: no retransmission is due in that time. NCCL's default.
test_peer_killed_timeout_20() {
	job --timeout 20
	there "kill -KILL $pid_b"
	look
	says a '.verdict == "idle" or .verdict == "retrying" or .verdict == "cannot-tell"'
	says a '.verdict != "idle" or (.fix | (contains("no work request is outstanding") | not) and contains("-i "))'
	no_qp b
}

test_peer_stopped_while_we_write() {
	job --timeout 20
	there "kill -STOP $pid_b"
	look
	says a '.verdict == "ok"'
	says b '.verdict == "ok"'
}

test_path_drops_roce() {
	job
	there 'tc qdisc add dev pair0 clsact && tc filter add dev pair0 ingress protocol ip flower ip_proto udp dst_port 4791 action drop'
	look
	says a '.verdict == "retrying" and (.advice | test("path")) and first("process"; "path")'
	says b '.verdict == "idle"'
}

test_path_mtus_differ() {
	job --mtu-a 1024 --mtu-b 256
	until_true 60 grep -q '^A wc' "$W/play.out"
	look
	says a '.state == "ERR" and .verdict == "failed" and (all | test("retry|ping") | not)'
	says b '.state == "ERR" and .verdict == "failed" and (all | test("retry|ping") | not)'
}

test_interface_mtu_of_a_lowered() {
	job
	ip link set pair0 mtu 600
	look
	# 6.1 drops what it cannot send, and retransmits nothing.
	if [ "$KERNEL" = 6.1 ]; then
		says a '.state == "RTS" and .verdict == "idle"'
	else
		says a '.state == "ERR" and .verdict == "failed" and (all | test("retry|ping") | not)'
	fi
	says b '.verdict == "idle"'
}

test_interface_mtu_of_b_lowered() {
	job --timeout 20
	there 'ip link set pair0 mtu 600'
	look
	# virtio receives frames that are larger than its MTU: whatever that says, it works.
	says a '.verdict == "ok"'
	says b '.verdict == "ok"'
}

test_address_of_a_removed() {
	job
	ip address del 10.9.1.1/24 dev pair0
	look
	says a '.verdict != "ok" and .verdict != "idle"'
	says b '.verdict != "ok"'
}

test_peer_gave_up() {
	job --abort /run/later
	later
	sleep 1
	look
	says a '.verdict == "retrying" and first("process"; "counters") and first("process"; "path")'
	says b '.state == "ERR" and (.verdict == "failed" or .verdict == "flushed") and (.reason | contains("retry") | not)'
}

test_receive_only_rc_idle() {
	job --stop-b RTR --rest
	later
	look
	says a '.verdict == "idle"'
	says b '.state == "RTR" and .verdict != "stuck" and .verdict != "receiving" and .verdict != "ok"'
}

test_receive_only_uc() {
	job --uc --send --stop-b RTR
	look
	says a '.verdict == "cannot-tell" and (.reason | contains("UC has no ACKs"))'
	says b '.state == "RTR" and .verdict == "receiving"'
}

test_left_in_rtr() {
	job --stop-a RTR --stop-b RTR
	look
	says a '.state == "RTR" and (.verdict == "cannot-tell" or .verdict == "stuck")'
	says b '.state == "RTR" and (.verdict == "cannot-tell" or .verdict == "stuck")'
}

# rping, of which rdma_cm knows the peer: it is named. Without its link the peer cannot disconnect.
test_rdma_cm_peer_gone() {
	# With new devices: after qp-join/connected-then-half-open, whose peer is killed behind a link that is down, rdma_cm connects no more.
	local devices='rdma link delete rxe0; rdma link add rxe0 type rxe netdev pair0'
	there "${MEND//HOST/$HOST_B}; $devices; ${MEND//HOST/$HOST_B}"
	bash -c "${MEND//HOST/$HOST_A}; $devices; ${MEND//HOST/$HOST_A}"
	rping -s -a $HOST_A -C 100000000 >/dev/null 2>&1 &
	pid_a=$!
	until_true 60 bash -c 'rdma resource show cm_id | grep -q LISTEN'
	# rping gives up where the neighbour does not respond in two seconds, which a busy machine may take.
	there "while sleep 0.2; do rping -c -a $HOST_A -C 100000000; done >/dev/null 2>&1 & echo \$! >/run/play"
	until_true 60 bash -c 'rdma resource show qp | grep -q "type RC state RTS"'
	qpn_a=$(rdma -j resource show qp | jq '[.[] | select(.type == "RC")][0].lqpn')
	read -r qpn_b < <(there "rdma -j resource show qp | jq '[.[] | select(.type == \"RC\")][0].lqpn'")
	there 'ip link set pair0 down; kill -KILL $(cat /run/play); pkill -KILL -x rping; sleep 0.5; ip link set pair0 up'
	look
	says a '.verdict != "ok" and (.fix | contains("ssh 10.9.1.2 rdmadiag qp-state --lqpn \($peer)")) and
		first("ssh"; "counters")'
	says a '.verdict != "idle" or (all | test("counters|ping") | not)'
	no_qp b
}
