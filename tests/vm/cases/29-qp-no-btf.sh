# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# The recorder where the RDMA core has no BTF, as in builds from elsewhere. Last of its boot: it takes the modules away.
# kernels: 6.1 6.12 7.x
# boot: qp

# Without BTF of the module nobody knows where things lie: that is said, and what to do.
test_trace() {
	local status=0
	modprobe -r rdma_rxe rdma_ucm ib_umad rdma_cm ib_uverbs iw_cm ib_cm ib_core || skip "the modules cannot be unloaded"
	tests/vm/guest/strip-btf ib_core || skip "ib_core cannot be loaded without its BTF"
	"$R" qp-state --trace >"$W/out" 2>&1 || status=$?
	[ $status = 3 ]
	grep -q 'no BTF' "$W/out"
	grep -q 'try: ' "$W/out"
}
