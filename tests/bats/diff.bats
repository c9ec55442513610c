#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# diff on a made-up host with accelerators and switches: PCI links and configuration space. The rest: bundle.bats.

load made-up-host

# poke ADDRESS OFFSET BYTE: one byte of a function's configuration space, in hexadecimal, in the copy of the host.
poke() {
	printf '%b' "\\x$3" | dd of="$BATS_TEST_TMPDIR/other/sys/bus/pci/devices/$1/config" bs=1 seek="$((0x$2))" conv=notrunc status=none
}

changes() {
	"$RD" diff "$HOST" "$BATS_TEST_TMPDIR/other" --json | jq -r '.changes[] | [.area, .subject, .field, .before, .after] | join(" ")'
}

@test "diff tells configuration space and the links of all bridges above" {
	cp -r "$HOST" "$BATS_TEST_TMPDIR/other"
	echo 8 >"$BATS_TEST_TMPDIR/other/sys/bus/pci/devices/0000:11:00.0/current_link_width"
	poke 0000:12:00.0 106 1d
	poke 0000:15:00.0 48 20
	poke 0000:15:00.0 49 21
	run changes
	[ "${#lines[@]}" -eq 5 ]
	[ "${lines[0]}" = "link 0000:11:00.0 current_link_width 16 8" ]
	[ "${lines[1]}" = "setting 0000:12:00.0 acs_control 0x0000 0x001d" ]
	[ "${lines[2]}" = "setting 0000:15:00.0 max_payload_bytes 512 256" ]
	[ "${lines[3]}" = "setting 0000:15:00.0 max_read_request_bytes 4096 512" ]
	[ "${lines[4]}" = "setting 0000:15:00.0 relaxed_ordering on off" ]
	# A bundle has all of it.
	"$RD" --from "$BATS_TEST_TMPDIR/other" capture "$BATS_TEST_TMPDIR/other.tar.zst" >/dev/null
	run "$RD" diff "$BATS_TEST_TMPDIR/other" "$BATS_TEST_TMPDIR/other.tar.zst" --json
	jq -e '.changes == []' <<<"$output"
}

@test "diff: what one of two looks could not read for want of root is no change" {
	local config
	cp -r "$HOST" "$BATS_TEST_TMPDIR/other"
	find "$BATS_TEST_TMPDIR/other/sys/devices" -name config | while read -r config; do truncate -s 64 "$config"; done
	run changes
	[ "${#lines[@]}" -eq 1 ]
	[[ ${lines[0]} == "host host pci_configuration read first 64 bytes only"* ]]
}

@test "diff: a GPU that idles comes last, with the port above it" {
	local dir
	cp -r "$HOST" "$BATS_TEST_TMPDIR/other"
	dir=$(readlink -f "$BATS_TEST_TMPDIR/other/sys/bus/pci/devices/0000:13:00.0")
	echo "2.5 GT/s PCIe" >"$dir/current_link_speed"
	echo "2.5 GT/s PCIe" >"${dir%/*}/current_link_speed"
	echo 58 >"$BATS_TEST_TMPDIR/other/proc/sys/kernel/numa_balancing"
	run "$RD" -n diff "$HOST" "$BATS_TEST_TMPDIR/other" --raw -o weight,subject
	[[ ${lines[0]} == "58 sysctl" ]]
	[[ ${lines[1]} == "15 0000:12:00.0" && ${lines[2]} == "15 0000:13:00.0" ]]
	# Of a NIC it is as telling as ever.
	echo "2.5 GT/s PCIe" >"$BATS_TEST_TMPDIR/other/sys/bus/pci/devices/0000:15:00.0/current_link_speed"
	run "$RD" -n diff "$HOST" "$BATS_TEST_TMPDIR/other" --raw -o weight,subject
	[[ ${lines[0]} == "85 0000:15:00.0" ]]
}

@test "diff: the exit status says whether a change matters; containers and counters do not" {
	local other=$BATS_TEST_TMPDIR/other before=$BATS_TEST_TMPDIR/before
	cp -r "$HOST" "$before"
	mkdir -p "$before/sys/class/infiniband/mlx5_0/ports/1/counters"
	echo 1 >"$before/sys/class/infiniband/mlx5_0/ports/1/counters/link_downed"
	cp -r "$before" "$other"
	run -0 "$RD" diff "$before" "$other"
	mkdir -p "$other/sys/class/net/veth12" "$other/sys/class/net/br-5e"
	echo up >"$other/sys/class/net/veth12/operstate"
	run -0 "$RD" diff "$before" "$other" --fail
	[[ $output == *veth12*present* ]]
	echo 9 >"$other/sys/class/infiniband/mlx5_0/ports/1/counters/link_downed"
	run -0 "$RD" diff "$before" "$other"
	echo "1: DOWN" >"$other/sys/class/infiniband/mlx5_0/ports/1/state"
	run -1 "$RD" diff "$before" "$other" --json
	[ "$(jq .status <<<"$output")" -eq 1 ]
	run -3 "$RD" diff "$before" "$BATS_TEST_TMPDIR/none"
}
