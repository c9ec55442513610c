#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
# counters on made-up hosts: tables, documents, comparing, judging. What kernels count needs a machine of its own: tests/vm.

load here

setup() {
	export NO_COLOR=1
	HOST=$BATS_TEST_TMPDIR/host
	PORT=$HOST/sys/class/infiniband/mlx5_0/ports/1
	SHARED=$PWD/../shared/data/sysfs
	mkdir -p "$PORT/counters" "$PORT/hw_counters" "$HOST/proc/sys/kernel/random"
	echo one >"$HOST/proc/sys/kernel/random/boot_id"
	echo made-up >"$HOST/proc/sys/kernel/hostname"
	echo 0002:c903:0000:0001 >"$HOST/sys/class/infiniband/mlx5_0/node_guid"
	echo '4: ACTIVE' >"$PORT/state"
	echo InfiniBand >"$PORT/link_layer"
	count counters symbol_error 3 link_downed 255 port_rcv_data 1000 port_xmit_wait 3221225472 VL15_dropped 'N/A (no PMA)'
	count hw_counters out_of_buffer 4294967290 local_ack_timeout_err 0
}

# FOLDER NAME VALUE…
count() {
	local folder=$1
	shift
	while [ $# -gt 0 ]; do
		echo "$2" >"$PORT/$folder/$1"
		shift 2
	done
}

counters() {
	"$RD" --from "$HOST" counters "$@"
}

value() { # NAME KEY: of the document on standard input
	jq -c --arg n "$1" ".counters[] | select(.name == \$n) | .$2"
}

@test "a table of all counters; what is no number is a dash, what is at its end says so" {
	run -0 counters --all
	[[ $output == *$'\n'IBDEV*PORT*GROUP*NAME*VALUE*UNIT*NOTE* ]]
	[[ $output == *"link_downed "*"255 times"*"at least"* ]]
	[[ $output == *"VL15_dropped "*"- packets"*"not a number"* ]]
	[ "$(grep -c '^mlx5_0 ' <<<"$output")" -eq 7 ]
}

@test "an error counter at its maximum is a finding, whatever it is compared with; a value that looks like one is none" {
	local finding="warning: mlx5_0/1: error counters at their maximum: what happens now is not counted; link_downed at least 255"

	run -0 counters
	[[ ${lines[0]} == "$finding "* ]]
	[[ $output == *"perfquery -C mlx5_0 -P 1 -R"* ]]
	run -1 counters --fail
	counters --json | jq -e '[.findings[].severity] == ["warning"]'
	counters --save "$BATS_TEST_TMPDIR/before"
	run -1 counters --since "$BATS_TEST_TMPDIR/before"
	[[ ${lines[0]} == "$finding "* ]]
	# One that grew to its maximum in between is named as what it counts.
	sed -i 's/"value": *255/"value": 250/' "$BATS_TEST_TMPDIR/before"
	run -2 counters --since "$BATS_TEST_TMPDIR/before"
	[[ ${lines[0]} == "critical: mlx5_0/1: link flaps"*"link_downed at least 5 "* ]]
	[[ $output != *"at their maximum"* ]]

	# 15, 255, 65535: not the maximum of these.
	count counters link_downed 254 local_link_integrity_errors 14 port_xmit_data 4294967294
	count hw_counters out_of_buffer 65535 peer_ifindex 15 local_ack_timeout_err 255
	run -0 counters --fail
	[[ $output != *"at their maximum"* ]]
	counters --save "$BATS_TEST_TMPDIR/before"
	run -0 counters --since "$BATS_TEST_TMPDIR/before" --all
	[[ $output != *"saturated"* ]]
}

@test "a document has the keys of the contract; unknown is null, large numbers are right" {
	counters --json >"$BATS_TEST_TMPDIR/now"
	jq -e '.schema == "rdmadiag/counters/1" and .status == 0 and .causes == [] and .boot_id == "one" and
		(.counters | length) == 7 and
		all(.counters[]; has("ibdev", "port", "netdev", "group", "name", "value", "overflow", "bits", "delta",
			"per_second", "saturated"))' "$BATS_TEST_TMPDIR/now"
	[ "$(value VL15_dropped value <"$BATS_TEST_TMPDIR/now")" = null ]
	[ "$(value link_downed saturated <"$BATS_TEST_TMPDIR/now")" = true ]
	[ "$(value port_xmit_wait value <"$BATS_TEST_TMPDIR/now")" = 3221225472 ]
	[ "$(value port_xmit_wait overflow <"$BATS_TEST_TMPDIR/now")" = '"saturates"' ]
	[ "$(value out_of_buffer bits <"$BATS_TEST_TMPDIR/now")" = 32 ]
}

@test "choosing: --nonzero, --filter, --group, devices" {
	[ "$(counters -n --nonzero | wc -l)" -eq 5 ]
	[ "$(counters -n --filter '*_d*' | wc -l)" -eq 3 ]
	[ "$(counters -n --group hw | wc -l)" -eq 2 ]
	[ "$(counters -n mlx5_0/1 | wc -l)" -eq 7 ]
	[ "$(counters -n mlx5_0:1 | wc -l)" -eq 7 ]
	[ "$(counters -n mlx5_0/1 | wc -l)" -eq 7 ]
	[ "$(counters -n --device mlx5_0/1 mlx5_0 | wc -l)" -eq 7 ]
	[ "$(counters -n mlx5_1 | wc -l)" -eq 0 ]
	run -3 --separate-stderr counters --group fast
	[ -z "$output" ]
	[[ $stderr == *"unknown group 'fast'"* ]]
}

@test "--save and --since: what moved, what wrapped, what stands at its end, and the cause" {
	counters --save "$BATS_TEST_TMPDIR/before"
	count counters symbol_error 5 port_rcv_data 1000000
	count hw_counters out_of_buffer 4 local_ack_timeout_err 9
	run -1 counters --since "$BATS_TEST_TMPDIR/before" --changed
	[[ $output == *"warning: mlx5_0/1: "*"fix: "* ]]
	counters --since "$BATS_TEST_TMPDIR/before" --json >"$BATS_TEST_TMPDIR/now" || [ $? -eq 1 ]
	[ "$(value out_of_buffer delta <"$BATS_TEST_TMPDIR/now")" = 10 ]
	[ "$(value out_of_buffer delta_note <"$BATS_TEST_TMPDIR/now")" = '"wrapped"' ]
	[ "$(value link_downed delta_kind <"$BATS_TEST_TMPDIR/now")" = '"at_least"' ]
	[ "$(value VL15_dropped delta <"$BATS_TEST_TMPDIR/now")" = null ]
	jq -e '.status == 1 and ([.causes[].id] | contains(["ack-timeout"])) and
		all(.causes[]; (.counters | length) > 0 and .confidence != null and (.fix // .advice) != null) and
		(.causes[] | select(.id == "ack-timeout").fix) == "rdmadiag qp-state mlx5_0" and
		(.findings | length) == (.causes | length) + 1' "$BATS_TEST_TMPDIR/now"
}

@test "nothing moved: exit 0, and what counters cannot tell is said" {
	count counters link_downed 25 port_xmit_wait 4294967295
	counters --save "$BATS_TEST_TMPDIR/before"
	run -0 counters --since "$BATS_TEST_TMPDIR/before" --changed
	[[ ${lines[0]} == "note: all ports: no counter indicates a fault; this does not rule out faults that counters do not show"*DEVX* ]]
	[[ $output == *"note: mlx5_0/1: saturated counters: they no longer count; port_xmit_wait at least 4294967295 "* ]]
}

@test "a reset, a reboot, another device and one that has gone are told apart" {
	counters --save "$BATS_TEST_TMPDIR/before"
	count counters symbol_error 1
	counters --since "$BATS_TEST_TMPDIR/before" --json >"$BATS_TEST_TMPDIR/now" || :
	[ "$(value symbol_error delta_note <"$BATS_TEST_TMPDIR/now")" = '"reset"' ]
	[ "$(value symbol_error delta_kind <"$BATS_TEST_TMPDIR/now")" = '"at_least"' ]

	echo 0002:c903:0000:0009 >"$HOST/sys/class/infiniband/mlx5_0/node_guid"
	run -1 counters --since "$BATS_TEST_TMPDIR/before"
	[[ ${lines[0]} == *"different device under this name"* ]]

	mv "$HOST/sys/class/infiniband/mlx5_0" "$HOST/sys/class/infiniband/mlx5_9"
	run -2 counters --since "$BATS_TEST_TMPDIR/before"
	[[ ${lines[0]} == "critical: mlx5_0/1: device is missing"* ]]
	mv "$HOST/sys/class/infiniband/mlx5_9" "$BATS_TEST_TMPDIR/away"
	run -2 counters --since "$BATS_TEST_TMPDIR/before"
	mv "$BATS_TEST_TMPDIR/away" "$HOST/sys/class/infiniband/mlx5_0"

	echo two >"$HOST/proc/sys/kernel/random/boot_id"
	count counters link_downed 0
	run -3 counters --since "$BATS_TEST_TMPDIR/before"
	[[ ${lines[0]} == unknown:*"was rebooted"* ]]
}

@test "--since takes a bundle, too, and nothing that is neither" {
	cp -r "$HOST" "$BATS_TEST_TMPDIR/then"
	count counters link_downed 0 symbol_error 9
	counters --since "$BATS_TEST_TMPDIR/then" --json | value symbol_error delta | grep -x 6
	for bad in '' '{' '{}' '[1]' 'hello' '{"schema":"rdmadiag/counters/1","counters":[{}]}'; do
		printf '%s' "$bad" >"$BATS_TEST_TMPDIR/bad"
		run -3 --separate-stderr counters --since "$BATS_TEST_TMPDIR/bad"
		[ -z "$output" ]
		[ "${#stderr_lines[@]}" -le 2 ]
	done
	run -3 --separate-stderr counters --since /nowhere/at/all
	[[ $stderr == *"/nowhere/at/all"*ENOENT* ]]
}

@test "samples in the wrong order are not compared: each counter would have been reset" {
	local at=$BATS_TEST_TMPDIR/order
	for second in 8 9; do
		mkdir -p "$at/$second"
		count counters link_downed "$second"
		"$RD" --from "$HOST" capture "$at/$second.tar" >/dev/null
		tar -C "$at/$second" -xf "$at/$second.tar"
		jq ".samples[0].monotonic_ns = ${second}000000000 | del(.hash)" "$at/$second/manifest.json" >"$at/new"
		mv "$at/new" "$at/$second/manifest.json"
	done
	run -1 "$RD" --from "$at/9" counters --since "$at/8"
	[[ ${lines[0]} == *"link went down, or retrained; link_downed 1 "* ]]
	run -3 --separate-stderr "$RD" --from "$at/8" counters --since "$at/9"
	[ -z "$output" ]
	[[ ${stderr_lines[0]} == *"/order/9: is newer than the sample"* ]]
}

@test "a sample that was cut off says so, and how to make one" {
	counters --save "$BATS_TEST_TMPDIR/before"
	head -c 300 "$BATS_TEST_TMPDIR/before" >"$BATS_TEST_TMPDIR/cut"
	run -3 --separate-stderr counters --since "$BATS_TEST_TMPDIR/cut"
	[[ ${stderr_lines[0]} == *"/cut: truncated sample"* ]]
	[[ ${stderr_lines[1]} == *"counters --save"* ]]
}

@test "--thresholds: 0, 1, 2, and 3 for a table that is no good" {
	local limits=$BATS_TEST_TMPDIR/limits
	echo 'symbol_error value 3 critical x' >"$limits"
	run -0 counters --thresholds "$limits"
	echo 'symbol_error value 2 warning look at the cable' >"$limits"
	run -1 counters --thresholds "$limits"
	[[ ${lines[0]} == *"mlx5_0/1 symbol_error: above its limit; value 3; expected: at most 2 [threshold]" ]]
	[[ ${lines[1]} == *"look at the cable" ]]
	echo 'symbol_error value 2 critical x' >>"$limits"
	run -2 counters --thresholds "$limits"
	echo '# nothing yet' >"$limits"
	run -3 counters --thresholds "$limits"
	[[ $output == *"file has no limits"* ]]
	# What has a limit and cannot be read is no pass; what the device does not count is another matter.
	echo 'VL15_dropped value 0 critical x' >"$limits"
	run -0 counters --thresholds "$limits"
	mkdir "$PORT/counters/port_rcv_errors"
	echo 'port_rcv_errors value 0 critical x' >"$limits"
	run -3 counters --thresholds "$limits"
	[[ ${lines[0]} == "unknown: mlx5_0/1 port_rcv_errors: limit not checked: counter not readable"* ]]
	rmdir "$PORT/counters/port_rcv_errors"
	echo 'symbol_error delta 2 critical x' >"$limits"
	run -3 --separate-stderr counters --thresholds "$limits"
	[[ $stderr == *"require an earlier sample"* ]]
	echo 'symbol_error delta two critical x' >"$limits"
	run -3 --separate-stderr counters --thresholds "$limits"
	[[ $stderr == *"line 1 is not"* ]]
}

@test "the thresholds that are shipped are a table" {
	count counters link_downed 25
	counters --save "$BATS_TEST_TMPDIR/before"
	run -0 counters --since "$BATS_TEST_TMPDIR/before" --thresholds thresholds
}

@test "a program that has capabilities of its file takes no table from the environment of who starts it" {
	local folder
	command -v setcap >/dev/null && [ "$(id -u)" -eq 0 ] || skip "who gives capabilities is root"
	folder=$(mktemp -d -p /tmp)
	mkdir "$folder/bin" "$folder/data"
	cp "$RD" "$folder/bin"
	find data -maxdepth 1 -type f -exec cp -t "$folder/data" {} +
	cp -r "$HOST" "$folder/host"
	chmod -R go+rX "$folder"
	chmod 755 "$folder"
	ask() {
		run --separate-stderr env RDMADIAG_DATADIR="$folder/none" ASAN_OPTIONS=detect_leaks=0 setpriv --reuid 65534 --regid 65534 \
			--clear-groups "$folder/bin/rdmadiag" --from "$folder/host" counters --since "$folder/before"
	}
	counters --save "$folder/before"
	chmod a+r "$folder/before"
	ask
	[ "$status" -eq 3 ]
	[[ $stderr == *"$folder/none: no such directory (set by RDMADIAG_DATADIR)"* ]]
	setcap cap_net_raw=p "$folder/bin/rdmadiag" || { rm -r "$folder"; skip "a file system without capabilities"; }
	ask
	rm -r "$folder"
	[ "$status" -ne 3 ]
	[[ $stderr != *"$folder/none"* ]]
}

@test "a bundle of several samples is compared from its first to its last" {
	# What a recording source keeps of a folder that changes is tested in unit tests; here its form on disk.
	run -0 "$RD" --from "$HOST" capture "$BATS_TEST_TMPDIR/one.tar"
	run -0 diff <("$RD" --from "$BATS_TEST_TMPDIR/one.tar" counters --json | jq 'del(.source, .read_at, .time, .monotonic_seconds, .ports)') \
		<(counters --json | jq 'del(.source, .read_at, .time, .monotonic_seconds, .ports)')
}

@test "devices that come and go from sample to sample: the last is still compared with the first" {
	local at=$BATS_TEST_TMPDIR/five
	mkdir -p "$HOST/sys/class/infiniband/mlx5_1" "$at"
	"$RD" --from "$HOST" capture "$at/one.tar" >/dev/null
	tar -C "$at" -xf "$at/one.tar" && rm "$at/one.tar"
	mkdir -p "$at"/t00{0,1,2,3}/root/sys/class/infiniband "$at/t001/root/sys/class/infiniband/mlx5_0/ports/1/counters"
	echo 7 >"$at/t001/root/sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error"
	jq 'def look($n; names): {realtime_ns: $n, monotonic_ns: $n,
			requests: [{ask: "list", path: "/sys/class/infiniband", names: names}]};
		.samples += [range(1; 5) | look(.; if . % 2 == 0 then ["mlx5_0", "mlx5_1"] else ["mlx5_0"] end)] | del(.hash)' \
		"$at/manifest.json" >"$at/new" && mv "$at/new" "$at/manifest.json"
	# glibc overwrites what is freed.
	MALLOC_PERTURB_=165 "$RD" --from "$at" counters --json >"$BATS_TEST_TMPDIR/now" || :
	[ "$(value symbol_error delta <"$BATS_TEST_TMPDIR/now")" = 4 ]
	[ "$(value port_rcv_data delta <"$BATS_TEST_TMPDIR/now")" = 0 ]
}

@test "--explain: name, pattern, unknown name" {
	run -0 "$RD" counters --explain local_ack_timeout_err
	[[ $output == *"32 bits, wraps at 4294967295; cause"* ]]
	run "$RD" counters --explain 'link*'
	[[ $output == *"Saturates at 255"* ]]
	run -3 --separate-stderr "$RD" counters --explain nonsense
	[ -z "$output" ]
}

@test "recorded trees: 17 N/A are null, 255 is at least 255, i40iw counts once" {
	[ -e "$SHARED/gpud-h100.tar.gz" ] || skip "recorded facts are not here"
	local bundle=$SHARED/node-exporter-mlx4-i40iw.tar.gz
	[ "$("$RD" --from "$bundle" counters --json | jq '[.counters[] | select(.value == null)] | length')" -eq 17 ]
	[ "$("$RD" --from "$bundle" counters --json | jq '[.counters[] | select(.ibdev == "i40iw0")] |
		length == ([.[] | [.port, .group, .name]] | unique | length)')" = true ]
	bundle=$SHARED/gpud-h100.tar.gz
	"$RD" --from "$bundle" counters mlx5_1 --json >"$BATS_TEST_TMPDIR/now"
	[ "$(value link_downed value <"$BATS_TEST_TMPDIR/now")" = 255 ]
	[ "$(value link_downed saturated <"$BATS_TEST_TMPDIR/now")" = true ]
	[ "$(value port_xmit_wait value <"$BATS_TEST_TMPDIR/now")" = 2489603687 ]
	[ "$(value port_xmit_wait saturated <"$BATS_TEST_TMPDIR/now")" = false ]
}

@test "no RDMA: exit 3, what to do; the document is printed all the same" {
	rm -r "$HOST/sys/class/infiniband"
	mkdir -p "$HOST/sys/class"
	run -3 --separate-stderr counters
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 2 ]
	run -3 --separate-stderr counters --json
	jq -e '.status == 3 and (.errors | length) == 1' <<<"$output"
}

@test "a pipe that closes and a full disk" {
	run bash -c "'$RD' --from '$HOST' counters | head -1; echo \${PIPESTATUS[0]}"
	[ "${lines[1]}" -eq 0 ]
	run -3 --separate-stderr bash -c "'$RD' --from '$HOST' counters >/dev/full"
	run -3 --separate-stderr counters --save /nowhere/file
	[[ $stderr == *"/nowhere/"*ENOENT* ]]
}

@test "a port that is not there is an error, not an empty table" {
	run -3 --separate-stderr counters nosuch
	[ -z "$output" ]
	[[ $stderr == *"nosuch: no such RDMA device"*ENODEV*nic-map* ]]
	for none in "" mlx5_0, mlx5_0/1x; do
		run -3 counters "$none"
	done
	run -3 counters -i 1 -c 1 mlx5_0 mlx5_0:2
	# One that has gone since is an answer.
	counters --save "$BATS_TEST_TMPDIR/before" mlx5_0:1
	mv "$HOST/sys/class/infiniband/mlx5_0" "$HOST/sys/class/infiniband/mlx5_1"
	run --separate-stderr counters --since "$BATS_TEST_TMPDIR/before" mlx5_0:1
	[[ $stderr != *"no such RDMA device"* ]]
}
