# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# What qp-state says of packets that get lost, at each end: the job runs first, then packets get lost, then somebody looks.
# asked: 6.1 6.12 7.x
# boot: pair

prepare() {
	. tests/vm/guest/pair-up a && until_true 240 test -e "$MEET/b-up" && . tests/vm/cases/qp-pair.sh &&
		modprobe -a cls_flower act_gact && there 'modprobe -a cls_flower act_gact'
}

# lose PERCENT END…: of the packets that this end sends. They are dropped where they arrive: soft-RoCE learns of a packet that its
# own host drops, and its queue pair fails.
lose() {
	local side filter
	filter="tc qdisc add dev pair0 clsact && tc filter add dev pair0 ingress protocol ip flower ip_proto udp dst_port 4791 \
		action pass random netrand drop $((100 / $1))"
	shift
	for side; do
		if [ "$side" = a ]; then
			there "$filter"
		else
			bash -c "$filter"
		fi
	done
}

# Where ACKs are lost, soft-RoCE sometimes stops retransmitting for good: then nothing at either end says that work is outstanding.
# 1 % may be no packet in the few seconds of these tests: it is recorded, and must not be taken for something else.
test_loss_1_percent_of_what_a_sends() {
	job --timeout 15
	lose 1 a
	look
	says a '.verdict == "slow" or .verdict == "cannot-tell" or .verdict == "ok"'
}

test_loss_1_percent_of_what_b_sends() {
	job --timeout 15
	lose 1 b
	look
	says a '.verdict == "slow" or .verdict == "cannot-tell" or .verdict == "ok"'
}

test_loss_1_percent_both_ways() {
	job --timeout 15
	lose 1 a b
	look
	says a '.verdict == "slow" or .verdict == "cannot-tell" or .verdict == "ok"'
}

test_loss_5_percent_of_what_a_sends() {
	job --timeout 15
	lose 5 a
	look
	says a '.verdict == "slow" and (.reason | contains("NAKs")) and (.advice | startswith("find where packets are lost"))'
	says b '.verdict != "ok" and .verdict != "idle" and (.reason | contains("packets"))'
}

# Few packets of a busy machine may be too few to judge: then the reason names ACKs, else the next steps, too.
test_loss_5_percent_of_what_b_sends() {
	job --timeout 15
	lose 5 b
	look
	says a '.verdict != "ok" and (all | contains("ACK"))'
	says b '.verdict == "idle" or (.verdict != "ok" and (.reason | contains("duplicate")))'
}

test_loss_5_percent_both_ways() {
	job --timeout 15
	lose 5 a b
	look
	says a '.verdict == "slow" and (.reason | contains("NAKs")) and (.advice | startswith("find where packets are lost"))'
	says b '.verdict != "ok" and .verdict != "idle" and (.reason | contains("packets"))'
}

test_loss_20_percent_of_what_a_sends() {
	job --timeout 15
	lose 20 a
	look
	says a '.verdict == "slow" and (.reason | contains("NAKs")) and (.advice | startswith("find where packets are lost"))'
	says b '.verdict != "ok" and .verdict != "idle" and (.reason | contains("packets"))'
}

test_loss_20_percent_of_what_b_sends() {
	job --timeout 15
	lose 20 b
	look
	says a '.verdict != "ok" and (all | contains("ACK"))'
	says b '.verdict == "idle" or (.verdict != "ok" and (.reason | contains("duplicate")))'
}

test_loss_20_percent_both_ways() {
	job --timeout 15
	lose 20 a b
	look
	says a '.verdict == "slow" and (.reason | contains("NAKs")) and (.advice | startswith("find where packets are lost"))'
	says b '.verdict != "ok" and .verdict != "idle" and (.reason | contains("packets"))'
}

# A job that sends little: 20 % of few packets are few.
test_loss_20_percent_of_few() {
	job --timeout 15 --pause 300
	lose 20 a
	look
	says a '.verdict != "ok" or (.reason | test("^[0-9.]+ packets per second$") | not)'
}
