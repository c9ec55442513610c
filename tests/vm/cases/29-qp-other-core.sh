# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# The recorder where the RDMA core is built otherwise: functions that cannot be seen under their name, and no BTF. Last of its boot:
# it takes the modules away.
# kernels: 6.12
# asked: 6.1 7.x
# turn: 3
# boot: qp

prepare() {
	. tests/vm/cases/qp.sh
}

# Hooks of the recorder before may still hold them.
unload() {
	modprobe -rq rdma_rxe rdma_ucm ib_umad rdma_cm ib_uverbs iw_cm ib_cm
	modprobe -rq ib_uverbs_support # from 7.x on
	[ ! -e /sys/module/ib_core ] || modprobe -rq ib_core
}

# core OPTION…: soft-RoCE on an RDMA core that objcopy has changed
core() {
	rdma link delete rxe0 2>/dev/null || :
	rdma link delete rxe1 2>/dev/null || :
	until_true 90 unload || skip "the modules cannot be unloaded"
	tests/vm/guest/objcopied ib_core "$@" || skip "ib_core cannot be loaded as changed by objcopy"
	if [ -e /sys/class/net/v0 ]; then
		. tests/vm/guest/rxe-up --again
	else
		. tests/vm/guest/rxe-up
	fi
}

# records_by FUNCTION…: these are what transitions are recorded by, and all are, with what they set
records_by() {
	local function
	record all
	for function; do
		grep "^rdmadiag:   $function by " "$W/all.err"
	done
	play pair
	saw all '.ibdev == "rxe0" and .lqpn == $a and .new_state == "RTS"'
	kill "${pid[pair]}"
	saw all '.kind == "destroy" and .ibdev == "rxe0" and .lqpn == $a'
	saw all '.kind == "destroy" and .ibdev == "rxe1" and .lqpn == $b'
	end all
	true_of "$W/all.json" 'def of($dev; $n): map(select(.ibdev? == $dev and .lqpn == $n and .kind == "modify"));
		([of("rxe0"; $a), of("rxe1"; $b)] | all(.[]; map(.old_state + ">" + .new_state) == ["RESET>INIT", "INIT>RTR", "RTR>RTS"])) and
		(of("rxe0"; $a) | .[1].rqpn == $b and .[1].path_mtu_bytes == 1024 and .[2].retry_cnt == 7 and
			all(.[]; .errno == null and .comm == "qp-play" and .duration_seconds > 0))' \
		--argjson a "$a" --argjson b "$b"
}

test_callers_instead() {
	core --redefine-sym _ib_modify_qp=vendor_modify_qp
	records_by ib_modify_qp_with_udata ib_modify_qp
}

test_driver_instead() {
	core --redefine-sym _ib_modify_qp=vendor_modify_qp --redefine-sym ib_modify_qp=vendor_modify_qp_kernel \
		--redefine-sym ib_modify_qp_with_udata=vendor_modify_qp_user
	records_by rxe_modify_qp
	! grep 'ib_modify_qp' "$W/all.err"
}

# Without BTF of the module nobody knows where things lie: that is said, and what to do.
test_trace() {
	local status=0
	core --remove-section=.BTF --remove-section=.BTF.base
	"$R" qp-state --trace >"$W/out" 2>&1 || status=$?
	[ $status = 3 ]
	grep -q 'no BTF' "$W/out"
	grep -q 'try: ' "$W/out"
}
