#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Demonstrates trace-errno: a program whose verbs fail, and the kernel functions that failed them. Runs on this host if it
# has an RDMA device and may trace, otherwise in a virtual machine with soft-RoCE.
# RDMADIAG_DEMO_KERNEL selects the kernel of the machine: 6.1, 6.12 (default) or 7.x.
set -euo pipefail
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

# What the program reports, then what the kernel did.
show() {
	local dev
	dev=$(ls /sys/class/infiniband | head -1)
	say '$ verbs-fail reg-mr-readonly modify-qp-missing-attr rdma-bind-in-use      # what the program reports:'
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

# What the README and the demonstration say, without their numbers.
shape() { sed -E 's/\x1b\[[0-9;]*m//g; s/0x[0-9a-f]+/0/g; s/[0-9]+/0/g; s/ +/ /g; s/ $//'; }

# kept PATTERN: fails unless all lines of the README's example that match were printed, with other numbers.
kept() {
	awk '/^## /{ wanted = /^## Try it/ } /^```/{ block = !block; shown = 0; next } wanted && block && /^\$ /{ shown = 1 } shown' \
		README.md | grep -v '^ *\.\.\.$' | grep -E "$1" | shape | grep -vxFf <(shape <"$printed") >"$printed.missing" || return 0
	echo "demo: the README shows what was not printed:"
	sed 's/^/    /' "$printed.missing"
	return 1
} >&2

scripts/deps.sh vm
mkdir -p "${fail%/*}"
printed=$(mktemp)
trap 'rm -f "$printed" "$printed.missing"' EXIT
"${CC:-cc}" -O2 -o "$fail" tests/vm/verbs-fail.c -libverbs -lrdmacm -pthread
if may_trace_here; then
	show | tee "$printed"
	kept '\): .*\(E|^ibv_|^rdma_' # functions, addresses and causes are those of this device
else
	echo "No RDMA device here that may be traced: starting a virtual machine with kernel $kernel and soft-RoCE (about 20 s)."
	tests/vm/vm fetch "$kernel"
	tests/vm/vm run "$kernel" --timeout 180 -- bash -c '. tests/vm/guest/rxe-up --one >/dev/null && tests/demo.sh show' | tee "$printed"
	if [ "$kernel" = 6.12 ]; then kept .; else kept 'cause:|: E[A-Z]+ \('; fi
fi
