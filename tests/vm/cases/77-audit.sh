# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# trace-errno --audit on the running kernel: calls that fail, and a kernel against its own files.
# kernels: 6.12
# asked: 6.1 7.x
# turn: 4
# boot: check

prepare() {
	[ -e /sys/class/infiniband/rxe0 ] || . tests/vm/guest/rxe-up --one
}

# probe NAME [OPTION...]: $W/NAME.json
probe() {
	local status=0
	"$R" trace-errno --audit --probe --json "${@:2}" >"$W/$1.json" 2>"$W/$1.err" || status=$?
	echo "exit status $status"
	[ $status = "${expected:-0}" ]
}

# origin CALL FUNCTIONS: one of these, separated by |, is its origin
origin() {
	true_of "$W/first.json" 'any(.[0].probes[]; (.call | contains($call)) and .result == "seen" and
		(.origin | test("^(" + $functions + ")([.].*)?$")))' --arg call "$1" --arg functions "$2"
}

# All calls are seen, with the origins that are known from the source of each kernel; and again with these as the baseline.
test_probe() {
	probe first --write-baseline "$W/baseline.json"
	true_of "$W/first.json" '.[0] | (.probes | length == 14 and all(.[]; .result == "seen")) and .findings == []'
	origin "memory that is not mapped" "ib_umem_get|__ib_umem_get_va"
	origin "domain that does not exist" uverbs_get_uobject_from_file
	origin "shorter than its header" ib_uverbs_ioctl
	origin "multicast group" ib_attach_mcast
	origin "RESET to RTS" "rxe_qp_chk_attr|rxe_qp_from_attr"
	[ "$KERNEL" != 6.1 ] || gone
	probe second --baseline "$W/baseline.json" --device rxe0
	true_of "$W/second.json" '.[0] | .changes == [] and all(.probes[]; .expected == .origin)'
}

# A baseline that knows better: another origin is a difference, and is named.
test_probe_with_another_origin() {
	only 6.12 7.x
	jq '(.probes[] | select(.call | contains("not mapped")) | .origin) = "some_function"' "$W/baseline.json" >"$W/other.json"
	expected=1 probe third --baseline "$W/other.json"
	true_of "$W/third.json" '.[0] | [.findings[] | .id] == ["probe-other-origin"] and .status == 1'
}

test_probe_of_no_device() {
	expected=3 probe none --device nosuch0
	grep -q nosuch0 "$W/none.err"
}

# What is loaded, compared with the files of the same kernel and the other way round.
test_running_kernel_and_its_files() {
	local status=0 release
	release=$(uname -r)
	"$R" trace-errno --audit --json --modules "/lib/modules/$release" --write-baseline "$W/files.json" >"$W/files.out" 2>"$W/files.err" || status=$?
	[ $status = 0 ] || fail "$(cat "$W/files.err")"
	true_of "$W/files.json" '.[0] | .complete and (.modules | length > 20) and all(.modules[]; .btf)'
	"$R" trace-errno --audit --json --baseline "$W/files.json" >"$W/live.json" 2>"$W/live.err" || status=$?
	true_of "$W/live.json" '.[0] | .compared > 200 and all(.changes[]; .severity != "critical" and .change != "removed" and .change != "added")'
}
