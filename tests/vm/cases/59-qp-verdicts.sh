# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# What qp-state says of a fault at each end: the job runs first, then the fault comes, then somebody looks; no recorder.
# `check --verdicts` runs this on all kernels and writes what was said as a table.
# kernels: 6.12
# asked: 6.1 7.x
# turn: 2
# boot: pair

# Jobs that are to work have the ACK timeout of NCCL, 4.3 s: on a busy host the clock of an emulated machine jumps, and ACKs come
# later than shorter ones, which qp-state says.
prepare() {
	. tests/vm/guest/pair-up a && until_true 240 test -e "$MEET/b-up" && . tests/vm/cases/qp-pair.sh
}

test_healthy_writes() {
	job --timeout 20
	look
	says a '.verdict == "ok" and .psn_per_second > 2'
	says b '.verdict == "ok" and .psn_per_second > 2'
	says a-once '.verdict == "cannot-tell" and (.fix | contains("-i"))'
}

test_application_idle() {
	job --rest
	later
	look
	says a '.verdict == "idle" and (.fix | contains("gdb -p " + $pid)) and (all | test("counters|ping") | not)'
	says b '.verdict == "idle" and (.fix | contains("gdb -p " + $pid)) and (all | test("counters|ping") | not)'
}

test_peer_killed() {
	job
	there "kill -KILL $pid_b"
	look
	says a '.verdict == "retrying" and first("process"; "counters") and first("process"; "path")'
	no_qp b
}

test_peer_stopped_while_we_send() {
	job --send
	there "kill -STOP $pid_b"
	look
	# A retransmission moves the PSN of soft-RoCE forth and back, which looks like a few packets per second.
	says a '(.verdict == "no-receives" or .verdict == "slow") and (.advice | contains("posts no receive")) and (all | test("counters|ping") | not)'
	says b '.verdict == "no-receives" and (all | contains($pid) and (test("counters|ping") | not))'
}

test_own_program_stopped() {
	job --send
	kill -STOP "$pid_a"
	look
	says a '.verdict == "idle" and (.fix | contains($pid))'
	says b '.verdict == "idle"'
}

test_interface_of_a_down() {
	job
	ip link set pair0 down
	look
	says a '(.verdict == "cut-off" or .state == "ERR") and (.reason | test("rxe0/1.* DOWN|pair0.* down"; "i"))'
	says a-once '.verdict != "ok" and .verdict != "idle"'
	says b '.verdict == "idle" and (.fix | contains("ssh 10.9.1.1 rdmadiag qp-state"))'
}

test_interface_of_b_down() {
	job
	there 'ip link set pair0 down'
	look
	says a '.verdict == "retrying" and first("process"; "counters")'
	says b '.verdict == "cut-off" and (.reason | test("rxe0/1.* DOWN|pair0.* down"; "i"))'
	says b-once '.verdict == "cut-off"'
}

test_no_receives() {
	job --send --no-receive
	later
	look
	says a '.verdict == "no-receives" and (.reason | contains("remote")) and (all | test("counters|ping") | not)'
	says b '.verdict == "no-receives" and (all | contains($pid))'
}

test_wrong_key() {
	job --bad-key
	later
	until_true 60 grep -q '^A wc' "$W/play.out"
	look
	says a '.state == "ERR" and .verdict == "failed" and (all | test("retry|ping|counters") | not)'
	says b '.state == "ERR" and .verdict == "failed" and (all | test("retry|ping|counters") | not)'
}

test_address_of_b_removed() {
	job
	there 'ip address del 10.9.1.2/24 dev pair0'
	look
	says a '.verdict != "ok" and .verdict != "idle"'
	says b '.verdict != "ok"'
}

test_receive_only_rc() {
	job --stop-b RTR --timeout 20
	look
	says a '.verdict == "ok"'
	says b '.state == "RTR" and .verdict == "receiving"'
}
