#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
# topo-check on a made-up host: page, document, exit codes. Each rule both ways: tests/unit/test-check-*.c; on kernels: tests/vm.

load made-up-host

topo() {
	"$RD" --from "$HOST" topo-check "$@"
}

# A copy of the host with a NIC whose link lost half its lanes.
break_link() {
	cp -r "$HOST" "$BATS_TEST_TMPDIR/broken"
	echo 8 >"$BATS_TEST_TMPDIR/broken/sys/bus/pci/devices/0000:15:00.0/current_link_width"
}

@test "what is wrong stands first, with what to do" {
	break_link
	run -2 "$RD" --from "$BATS_TEST_TMPDIR/broken" topo-check --only pcie-link-width
	[[ ${lines[0]} == "topo-check of made-up: 1 critical, 0 warnings, 0 unknown"* ]]
	[[ ${lines[1]} == "critical: "*"PCIe link"*"[pcie-link-width]" ]]
	[[ ${lines[1]} == *"mlx5_0: x8; expected: x16"* && ${lines[2]} == "  fix: lspci -vvs 0000:15:00.0 "* ]]
	[[ ${lines[3]} == "  advice: reseat the card"* && ${lines[4]} == "  why: "* ]]
	run -0 topo --only pcie-link-width
}

@test "-i looks again, a line of JSON each, and exits as the last look found" {
	two_samples "$BATS_TEST_TMPDIR/two" /sys/bus/pci/devices/0000:15:00.0/current_link_width 8
	run -2 "$RD" --from "$BATS_TEST_TMPDIR/two" topo-check -i 1
	[ "$(grep -c '^topo-check of made-up: 0 critical' <<<"$output")" -eq 1 ]
	[ "$(grep -c '^topo-check of made-up: 1 critical' <<<"$output")" -eq 1 ]
	run -2 "$RD" --from "$BATS_TEST_TMPDIR/two" topo-check -i 1 --json
	[ "$(jq -c .status <<<"$output" | paste -sd,)" = 0,2 ]
	[ "${#lines[@]}" -eq 2 ]
	run -0 "$RD" --from "$BATS_TEST_TMPDIR/two" topo-check -c 1
	# Of this host, whatever it has.
	run --separate-stderr "$RD" topo-check -i 0.1 -c 3 --json
	[ "${#lines[@]}" -eq 3 ]
}

@test "a document has the keys of the contract" {
	break_link
	run -2 "$RD" --from "$BATS_TEST_TMPDIR/broken" topo-check --json
	jq -e '.schema == "rdmadiag/topo-check/1" and .status == 2 and
		all(.checks[]; has("id", "result", "subject", "observed", "expected", "why", "fix", "advice")) and
		([.checks[] | select(.result == "fail")] | length) == 1 and
		(.findings[] | select(.id == "pcie-link-width") | .severity) == "critical"' <<<"$output"
	[ "$(jq '[.checks[].id] | unique | length' <<<"$output")" -eq "$("$RD" topo-check --list -n --raw | wc -l)" ]
}

@test "--severity hides and does not count; --skip leaves out" {
	break_link
	run -2 "$RD" --from "$BATS_TEST_TMPDIR/broken" topo-check --severity critical
	[[ $output != *unknown:* ]]
	run "$RD" --from "$BATS_TEST_TMPDIR/broken" topo-check --skip pcie-link-width --json
	[ "$status" -ne 2 ]
	jq -e 'all(.checks[]; .id != "pcie-link-width")' <<<"$output"
}

@test "a table where one is asked for" {
	run topo -o result,id --only pcie-link-width
	[[ ${lines[0]} == RESULT*RULE ]]
	[[ ${lines[1]} == pass*pcie-link-width ]]
	run topo -n -o id --only pcie-link-width
	[ "$output" = pcie-link-width ]
}

@test "devices: results about others are hidden; the counts and the exit status follow" {
	break_link
	local broken=$BATS_TEST_TMPDIR/broken other
	echo "1: DOWN" >"$broken/sys/class/infiniband/mlx5_3/ports/1/state"
	"$RD" --from "$broken" topo-check --json | jq -e '[.findings[] | select(.severity == "critical").subject] | contains(["0000:15:00.0", "mlx5_3/1"])'
	# The link is that of mlx5_0.
	run -2 "$RD" --from "$broken" topo-check mlx5_0
	[[ ${lines[0]} == "topo-check of made-up: 1 critical,"*"; "*" about other devices hidden" ]]
	[[ $output == *"mlx5_0: x8"* && $output != *"mlx5_3/1"* ]]
	run -2 "$RD" --from "$broken" topo-check --device mlx5_3/1
	[[ ${lines[0]} == "topo-check of made-up: 1 critical,"* ]]
	[[ $output == *"mlx5_3/1"* && $output != *"mlx5_0: x8"* ]]
	# Neither is about another device.
	for other in mlx5_10 eth10; do
		run "$RD" --from "$broken" topo-check --device "$other" --json
		[ "$status" -ne 2 ]
		jq -e --argjson status "$status" '.status == $status and all(.findings[]; .subject != "mlx5_3/1" and .subject != "0000:15:00.0") and
			([.checks[] | select(.result == "fail")] | length) == 0' <<<"$output"
	done
	run -3 --separate-stderr topo mlx5_77
	[ -z "$output" ]
	[[ $stderr == *"mlx5_77: no such RDMA device"*"nic-map"* ]]
	topo --device mlx5_0,nope --json | jq -e '.status == 3 and .errors[0].object == "nope"'
	refused topo "--list mlx5_0" "--list --device mlx5_0" "--learn --device mlx5_0" "--learn a b"
}

@test "rules are listed and explained" {
	[ "$("$RD" topo-check --list --json | jq -r .schema)" = rdmadiag/topo-check-list/1 ]
	run -0 "$RD" topo-check --list
	[[ $output == *pcie-link-width* ]]
	for id in $("$RD" topo-check --list -n --raw -o id); do
		run -0 "$RD" topo-check --explain "$id"
		[[ $output == "$id"*"  why: "*"  reads: "* && ($output == *"  fix: "* || $output == *"  advice: "*) ]]
	done
}

@test "a host without RDMA: exit 3, one or two lines; also with -v and --json" {
	cp -r "$HOST" "$BATS_TEST_TMPDIR/bare"
	rm -r "$BATS_TEST_TMPDIR/bare/sys/class/infiniband"
	run -3 --separate-stderr "$RD" --from "$BATS_TEST_TMPDIR/bare" topo-check
	[ -z "$output" ]
	[[ ${stderr_lines[0]} == *"no RDMA stack"* ]]
	[ "${#stderr_lines[@]}" -le 2 ]
	run -3 "$RD" --from "$BATS_TEST_TMPDIR/bare" topo-check --json
	jq -e '.status == 3 and any(.errors[]; .object == "/sys/class/infiniband") and (.checks | type) == "array"' <<<"$output"
}

@test "bad usage: exit 3, nothing on standard output" {
	refused topo "--only nonsense" "--skip pcie-link-widht" "--explain nonsense" "--severity bad" "--pid 0" "operand" \
		"--interval 1 --list" "--count 2 --explain acs-redirect" "--interval x" "--count 0" "--list --live" "--live --json"
	run topo --skip pcie-link-widht
	[[ $output == *"--skip pcie-link-width; list"* ]]
}

@test "nowhere to write: exit 3 and a message; a closed pipe: quiet" {
	[ -e /dev/full ] || skip "no /dev/full"
	run -3 --separate-stderr bash -c "'$RD' --from '$HOST' topo-check >/dev/full"
	run --separate-stderr bash -c "'$RD' --from '$HOST' topo-check -v | head -1"
	[ "$(grep -v ": confined: " <<<"$stderr")" = "" ]
}

@test "each rule, on a host that is well and on one that is broken" {
	run tests/bats/topo-rules.py "$RD" "$BATS_TEST_TMPDIR"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "a NIC without firmware, a virtual port without a GUID, a LAG that spreads queue pairs only" {
	local host=$BATS_TEST_TMPDIR/host nic
	cp -r "$HOST" "$host"
	nic=$(readlink -f "$host/sys/class/infiniband/mlx5_3/device")
	rm -r "$host/sys/class/infiniband/mlx5_3" "$nic/driver"
	echo 0x058000 >"$nic/class"
	echo 0x0218 >"$nic/device"
	run -2 "$RD" --from "$host" topo-check --only nic-driver
	[[ ${lines[1]} == "critical: ${nic##*/}: "*"device ID 0218: the NIC has started without its firmware"* ]]
	[[ ${lines[2]} == "  fix: mstflint -d ${nic##*/} query" ]]

	echo "1: DOWN" >"$host/sys/class/infiniband/mlx5_0/ports/1/state"
	run "$RD" --from "$host" topo-check --only port-state
	[[ $output == *"the subnet manager has not disabled this one"* && $output != *"link set"* ]]
	echo "flags : fpu hypervisor" >"$host/proc/cpuinfo"
	run "$RD" --from "$host" topo-check --only port-state
	[[ $output == *"advice: "*"ip link set PF vf N state auto"* && $output != *"node GUID is 0"* && $output != *"check cable"* ]]
	echo 0000:0000:0000:0000 >"$host/sys/class/infiniband/mlx5_0/node_guid"
	run "$RD" --from "$host" topo-check --only port-state
	[[ $output == *"the node GUID is 0"* ]]
	echo "2: Polling" >"$host/sys/class/infiniband/mlx5_0/ports/1/phys_state"
	run "$RD" --from "$host" topo-check --only port-state
	[[ $output == *"check cable"* && $output != *"vf N"* ]]

	nic=$host/sys/kernel/debug/mlx5/$(basename "$(readlink -f "$HOST/sys/class/infiniband/mlx5_1/device")")/lag
	mkdir -p "$nic"
	for mode in "queue_affinity note" "hash pass" "multiport_eswitch pass" "garbage unknown"; do
		echo "${mode% *}" >"$nic/port_sel_mode"
		run "$RD" --from "$host" topo-check --only roce-lag-affinity --json
		jq -e --arg of "${mode#* }" '(.findings | map(.severity) | if . == [] then ["pass"] else . end) == [$of]' <<<"$output"
	done
}

@test "a profile: learnt, held against its own host, and against one that lacks something" {
	cp -r "$HOST" "$BATS_TEST_TMPDIR/other"
	"$RD" --from "$HOST" topo-check --learn "$BATS_TEST_TMPDIR/profile"
	run -0 "$RD" --from "$HOST" topo-check --profile "$BATS_TEST_TMPDIR/profile" --only profile-gpu,profile-nic,profile-value
	diff <("$RD" --from "$HOST" topo-check --learn) "$BATS_TEST_TMPDIR/profile"
	rm "$BATS_TEST_TMPDIR/other/sys/bus/pci/devices/0000:13:00.0"
	echo 28.39.1 >"$(readlink -f "$BATS_TEST_TMPDIR/other/sys/class/infiniband/mlx5_4")/fw_ver"
	run -2 "$RD" --from "$BATS_TEST_TMPDIR/other" topo-check --profile "$BATS_TEST_TMPDIR/profile"
	[[ $output == *"[profile-gpu]"*"GPU 0000:13:00.0: missing"* ]]
	[[ $output == *"nic.mlx5_4.firmware: "*"28.39.1; expected: 28.41.1000"* ]]
	run -2 "$RD" --from "$BATS_TEST_TMPDIR/other" nic-map --profile "$BATS_TEST_TMPDIR/profile"
	[[ $(grep -m1 "critical:" <<<"$output") == *"critical: GPU 0000:13:00.0 and 1 more: "* ]]
}

@test "a profile: links of bridges above, configuration space; what cannot be read is unknown" {
	local config broken=$BATS_TEST_TMPDIR/broken
	topo --learn >"$BATS_TEST_TMPDIR/profile"
	grep -qx "bridge.0000:11:00.0.link_width = 16" "$BATS_TEST_TMPDIR/profile"
	# GPUs lower theirs when idle.
	run -1 grep -E "^(gpu.*|bridge.0000:12:00.0)[.]link_mtps" "$BATS_TEST_TMPDIR/profile"
	cp -r "$HOST" "$broken"
	echo 8 >"$broken/sys/bus/pci/devices/0000:11:00.0/current_link_width"
	printf '\x1d' | dd of="$broken/sys/bus/pci/devices/0000:12:00.0/config" bs=1 seek=$((0x106)) conv=notrunc status=none
	printf '\x21' | dd of="$broken/sys/bus/pci/devices/0000:15:00.0/config" bs=1 seek=$((0x49)) conv=notrunc status=none
	run -1 "$RD" --from "$broken" topo-check --profile "$BATS_TEST_TMPDIR/profile" --only profile-value
	[[ $output == *"bridge.0000:11:00.0.link_width: 8; expected: 16"* ]]
	[[ $output == *"bridge.0000:12:00.0.acs_control: 0x001d; expected: 0x0000"* ]]
	[[ $output == *"nic.mlx5_0.max_read_request_bytes: 512; expected: 4096"* ]]
	[ "$(grep -c "; expected: " <<<"$output")" -eq 3 ]
	run -1 "$RD" --from "$broken" nic-map --profile "$BATS_TEST_TMPDIR/profile"
	[ "$(grep -c "^    .*; expected: " <<<"$output")" -eq 3 ]
	# Who is not root sees 64 bytes of each function.
	rm -r "$broken"
	cp -r "$HOST" "$broken"
	find "$broken/sys/devices" -name config | while read -r config; do truncate -s 64 "$config"; done
	run --separate-stderr "$RD" --from "$broken" topo-check --profile "$BATS_TEST_TMPDIR/profile" --only profile-gpu,profile-nic,profile-value -v
	[[ ${lines[0]} == *": 0 critical, 0 warnings, 1 unknown;"* ]]
	[[ $output == *"not readable (PCI configuration"* ]]
}

@test "a profile asks for an interface only where it was up" {
	local other=$BATS_TEST_TMPDIR/other
	cp -r "$HOST" "$other"
	echo down >"$other/sys/class/net/ib1/operstate"
	"$RD" --from "$other" topo-check --learn >"$BATS_TEST_TMPDIR/profile"
	grep -qx "port.mlx5_0/1.netdev_state = up" "$BATS_TEST_TMPDIR/profile"
	run -1 grep -E "^port.mlx5_1/1.netdev_(state|mtu_bytes)" "$BATS_TEST_TMPDIR/profile"
	# The one may be up now, the other not down.
	run -0 topo --profile "$BATS_TEST_TMPDIR/profile" --only profile-value
	echo down >"$other/sys/class/net/ib0/operstate"
	echo 2044 >"$other/sys/class/net/ib0/mtu"
	run -1 "$RD" --from "$other" topo-check --profile "$BATS_TEST_TMPDIR/profile" --only profile-value
	[[ $output == *"port.mlx5_0/1.netdev_state: down; expected: up"* ]]
	[[ $output == *"port.mlx5_0/1.netdev_mtu_bytes: 2044; expected: 4092"* ]]
	rm "$other/sys/class/net/ib0"
	run "$RD" --from "$other" topo-check --profile "$BATS_TEST_TMPDIR/profile" --only profile-value
	[[ $output == *"port.mlx5_0/1.netdev: "*"; none; expected: ib0"* ]]
	[ "$(grep -c "; expected: " <<<"$output")" -eq 1 ]
}

@test "a profile that is none: exit 3, and which line" {
	printf 'count.gpus = 8\nnonsense\n' >"$BATS_TEST_TMPDIR/bad"
	for file in "$BATS_TEST_TMPDIR/bad" "$BATS_TEST_TMPDIR/missing" "$BATS_TEST_TMPDIR"; do
		run -3 --separate-stderr topo --profile "$file"
		[ "${#stderr_lines[@]}" -le 2 ]
	done
	run topo --profile "$BATS_TEST_TMPDIR/bad"
	[[ $output == *"line 2"* ]]
	# What a full disk left of one would let every host pass.
	: >"$BATS_TEST_TMPDIR/empty"
	run -3 --separate-stderr topo --profile "$BATS_TEST_TMPDIR/empty"
	[[ ${stderr_lines[0]} == *"contains no 'key = value' line"* ]]
}

@test "a rule that the profile requires and that cannot tell: exit 3" {
	echo "rule.ib-pkey = required" >"$BATS_TEST_TMPDIR/profile"
	run -3 topo --profile "$BATS_TEST_TMPDIR/profile" --skip link-layer-uniform
}
