# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# Peers and timers of queue pairs that ran before anything looked: what their driver fills in when the kernel lists them.
# kernels: 6.12
# asked: 6.1 7.x
# sample 6.1: by-hand two-thousand
# sample 7.x: by-hand two-thousand
# turn: 2
# boot: qp

prepare() {
	{ [ -e /sys/class/infiniband/rxe0 ] || . tests/vm/guest/rxe-up; } && . tests/vm/cases/qp.sh
}

# query EXPRESSION [ARG…]: the document of qp-state
query() {
	local expression=$1
	shift
	"$R" --json "$@" qp-state >"$W/query.json"
	true_of "$W/query.json" ".[0] | $expression" --argjson a "${a:-0}"
}

# The device of module/rdpeer.c, until the test ends
rdpeer() {
	local file=build/tests/vm/$RD_VM_KERNEL-module/rdpeer.ko
	[ -e "$file" ] || skip "there is no rdpeer.ko for $KERNEL: $(tail -1 "build/tests/vm/$RD_VM_KERNEL-module.log")"
	insmod "$file" "$@"
	trap 'kill $(jobs -p) 2>/dev/null || :; rmmod rdpeer' EXIT
}

A='.qps[] | select(.ibdev == "rxe0" and .lqpn == $a)'
SET='.peer == "10.9.0.2" and .peer_source == "kernel-query" and .timeout == 14 and .retry_cnt == 7 and .rnr_retry == 7 and
	.min_rnr_timer == 12 and .sgid_index == 1 and .path_mtu_bytes == 1024'

# Of a program that connects by hand: all that it set, in the list, in a bundle, and in what other options show.
test_by_hand() {
	play pair
	query "$A | $SET"
	"$R" capture "$W/query.tar.gz"
	query "$A | $SET" --from "$W/query.tar.gz"
	"$R" --json qp-state --by peer >"$W/by.json"
	true_of "$W/by.json" '.[0] | [.groups[].group] | sort == ["10.9.0.1", "10.9.0.2"]'
	"$R" --json qp-state --timeouts >"$W/timeouts.json"
	true_of "$W/timeouts.json" '.[0] | .status == 0 and (.timeouts | length) == 2 and all(.timeouts[]; .source == "kernel-query" and .timeout == 14)'
	"$R" --json qp-state --entropy 4 >"$W/entropy.json"
	true_of "$W/entropy.json" '.[0] | .flows | length == 2 and all(.[]; .peer != null and .udp_sport_from == "numbers")'
	"$R" capture --redact "$W/hidden.tar.gz"
	query "$A | .peer_source == \"kernel-query\" and .peer != \"10.9.0.2\" and .timeout == 14" --from "$W/hidden.tar.gz"
	tar -xzOf "$W/hidden.tar.gz" --wildcards '*bpf/rdmadiag_query' >"$W/maps"
	[ -s "$W/maps" ]
	! LC_ALL=C grep -qP '\xff\xff\x0a\x09\x00\x02' "$W/maps"
}

# UC has a peer, and no timers.
test_uc() {
	play pair --uc
	query "$A | .type == \"UC\" and .peer == \"10.9.0.2\" and .timeout == null and .path_mtu_bytes == 1024"
}

# rdma_cm sets the timers; and UD has no peer.
test_rdma_cm() {
	rping -s -a "$RXE_IP1" >/dev/null 2>&1 &
	until_true 20 rxe_cm_listens
	rping -c -a "$RXE_IP1" -C 1000000 >/dev/null 2>&1 &
	until_true 30 both_rts
	pkill -STOP -x rping
	query '[.qps[] | select(.comm == "rping") | .timeout > 0 and .retry_cnt != null and .sgid_index == 1 and .path_mtu_bytes != null] == [true, true]'
	query 'all(.qps[] | select(.type == "GSI" or .type == "UD"); .peer == null and .timeout == null)'
	pkill -CONT -x rping
}

both_rts() {
	[ "$("$R" -n --raw qp-state --no-probe --comm rping --state RTS -o lqpn | wc -l)" = 2 ]
}

# Each of 2,000 has what it was set to, not what the one before it has.
test_two_thousand() {
	build/tests/vm/qp-many rxe0 2000 1 >"$W/many.out" &
	until_true 120 grep -q ready "$W/many.out"
	query '[.qps[] | select(.comm == "qp-many" and .peer == "10.9.0.1" and .rqpn == 8388608 + .lqpn and
		.timeout == 1 + .lqpn % 31 and .retry_cnt == .lqpn % 8 and .rnr_retry == ((.lqpn / 8 | floor) % 8) and
		.min_rnr_timer == .lqpn % 32 and .sgid_index == 1 and .path_mtu_bytes == 1024)] | length == 2000'
}

# A driver fills in what the table has of it, and leaves poison elsewhere; XRC, and an alternate path. Meanwhile a kernel thread queries.
test_half_filled() {
	local row='.qps[] | select(.ibdev == "rdpeer0") | [.lqpn, .peer_gid[-4:]?, .dlid, .path_mtu_bytes, .timeout, .retry_cnt,
		.rnr_retry, .min_rnr_timer, .sgid_index, .alt_port, .alt_peer_gid[-4:]?]'
	rdpeer thread=1
	query "[$row] == [[257, \"0011\", 17, 2048, 1, 2, 3, 21, 3, null, null], [258, \"0012\", 18, 2048, 2, 3, 4, null, 3, null, null],
		[259, \"0013\", 19, 2048, null, null, null, null, 3, null, null], [260, \"0014\", 20, 2048, 4, 5, 6, 24, 3, 1, \"0024\"]]"
	rmmod rdpeer
	# bnxt_re: no alternate path, and only RC.
	insmod "build/tests/vm/$RD_VM_KERNEL-module/rdpeer.ko" driver=6 writes=15
	query "[$row] | .[0][:9] == [257, \"0011\", null, 2048, 1, 2, 3, 21, 3] and .[1][1:] == .[2][1:] and .[3][9:] == [null, null] and
		.[1][1:] == [range(10) | null]"
	rmmod rdpeer
	# irdma: no peer, no timeout.
	insmod "build/tests/vm/$RD_VM_KERNEL-module/rdpeer.ko" driver=9 writes=6
	query "[$row] | .[0] == [257, null, null, 2048, null, 2, 3, null, null, null, null]"
	rmmod rdpeer
	# Another driver: nothing.
	insmod "build/tests/vm/$RD_VM_KERNEL-module/rdpeer.ko" driver=0
	query "[$row | .[1:]] | unique == [[range(10) | null]]"
}

# Nothing is attached without the privilege, with --no-probe, by check; and nothing stays.
test_not_attached() {
	play pair
	setpriv --reuid 65534 --regid 65534 --clear-groups "$R" --json qp-state >"$W/user.json"
	true_of "$W/user.json" '.[0] | .status == 0 and ([.findings[] | select(.id == "peer-unknown" and
		(.observed | contains("CAP_BPF and CAP_PERFMON")))] | length) == 1'
	"$R" -v --json qp-state --no-probe >"$W/off.json" 2>"$W/off.err"
	true_of "$W/off.json" ".[0] | $A | .peer == null and .timeout == null" --argjson a "$a"
	"$R" -v check >"$W/check.out" 2>>"$W/off.err" || :
	! grep -q ib_query_qp "$W/off.err"
	"$R" -v qp-state 2>&1 >/dev/null | grep -q 'looking at ib_query_qp'
	gone
}
