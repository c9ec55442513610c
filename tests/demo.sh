#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The main job, shown: a program whose verbs fail, and rdmadiag naming the kernel functions that failed them. On this
# host where it has an RDMA device and we may trace, else in a virtual machine with soft-RoCE.
# RDMADIAG_DEMO_KERNEL chooses the machine's kernel: 6.1, 6.12 (default) or 7.x.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=path.sh
. tests/path.sh
kernel=${RDMADIAG_DEMO_KERNEL-6.12}
fail=build/tests/verbs-fail

may_trace_here() {
	[ "$(id -u)" = 0 ] && [ -n "$(ls /sys/class/infiniband 2>/dev/null)" ]
}

say() {
	printf '\n\033[1m%s\033[0m\n' "$*"
}

# What the program is told, then what the kernel did.
show() {
	local dev
	dev=$(ls /sys/class/infiniband | head -1)
	say '$ verbs-fail reg-mr-readonly modify-qp-missing-attr rdma-bind-in-use      # all that the program learns:'
	"$fail" reg-mr-readonly modify-qp-missing-attr rdma-bind-in-use --dev "$dev"
	say '$ rdmadiag trace-errno -- verbs-fail reg-mr-readonly modify-qp-missing-attr rdma-bind-in-use'
	build/rdmadiag trace-errno -- "$fail" reg-mr-readonly modify-qp-missing-attr rdma-bind-in-use --dev "$dev"
	say '$ rdmadiag trace-errno --summary -u nobody -- verbs-fail reg-mr-memlock --repeat 1000'
	build/rdmadiag trace-errno --summary -u nobody -- "$fail" reg-mr-memlock --memlock 65536 --repeat 1000 --dev "$dev" |
		grep -v '^verbs-fail' || true
}

if [ "${1-}" = show ]; then
	show
	exit
fi
scripts/deps.sh vm
mkdir -p "${fail%/*}"
"${CC:-cc}" -O2 -o "$fail" tests/vm/verbs-fail.c -libverbs -lrdmacm -pthread
if may_trace_here; then
	show
else
	echo "No RDMA device that may be traced here: a virtual machine with kernel $kernel and soft-RoCE shows it (about 20 s)."
	tests/vm/vm fetch "$kernel"
	tests/vm/vm run "$kernel" --timeout 180 -- bash -c '. tests/vm/guest/rxe-up --one >/dev/null && tests/demo.sh show'
fi
