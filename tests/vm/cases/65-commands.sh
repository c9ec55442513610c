# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# What commands say of a plain soft-RoCE machine, beside other tests in one machine of another architecture; and all unit tests.
# asked: 6.1 6.12 7.x
# sample arm64: check nic-map
# boot: main

prepare() {
	[ -e /sys/class/infiniband/rxe0 ] || . tests/vm/guest/rxe-up
}

# Both ends in one subnet of one host is what it warns of, and nothing has failed.
test_check() {
	local status=0
	"$R" check --deadline $((20 * SLOW)) --json >"$W/check.json" || status=$?
	[ $status = 1 ]
	true_of "$W/check.json" '.[0].checks | any(.[]; .id == "host-answers" and .result == "pass") and
		([.[] | select(.result == "fail" or .result == "warn") | .id] | unique) == ["arp-flux"] and
		([.[] | select(.id == "port-state") | .result] | unique) == ["pass"]'
}

test_nic_map() {
	"$R" nic-map --json >"$W/map.json"
	true_of "$W/map.json" '.[0].nics | [.[] | [.ibdev, .netdev, .ip, .state, .gid_type, .mtu_bytes]] | sort ==
		[["rxe0", "v0", "10.9.0.1", "ACTIVE", "RoCE v2", 1024], ["rxe1", "v1", "10.9.0.2", "ACTIVE", "RoCE v2", 1024]]'
}

test_units() {
	local program failed=''
	for program in build/tests/unit/test-*; do
		[ -x "$program" ] || continue
		[[ $program != */test-select* ]] || cc --version >/dev/null 2>&1 || continue # they compile modules
		timeout $((120 * SLOW)) "$program" >"$W/unit" 2>&1 || { failed+=" ${program##*/test-}"; grep -a 'FAILED\|Error\|error:' "$W/unit" | head -8; }
	done
	[ -z "$failed" ] || fail "failed:$failed"
}
