#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154,SC2030,SC2031 # bats sets stderr; each test has a shell of its own
# The snippets for workload managers and monitoring, with a host on which all is well and one on which a link lost lanes.

load here

setup_file() {
	local rd=${RDMADIAG:-$PWD/build/rdmadiag} host=$BATS_FILE_TMPDIR/good
	tests/bench/nic-map-tree "$host"
	cp -r "$host" "$BATS_FILE_TMPDIR/bad"
	echo 8 >"$BATS_FILE_TMPDIR/bad/sys/bus/pci/devices/0000:15:00.0/current_link_width"
	mkdir -p "$BATS_FILE_TMPDIR/none/sys/class/net"
	for host in good bad none; do
		# shellcheck disable=SC2016 # for the script
		printf '#!/bin/sh\nexec %s --from %s "$@"\n' "$rd" "$BATS_FILE_TMPDIR/$host" >"$BATS_FILE_TMPDIR/rd-$host"
		chmod +x "$BATS_FILE_TMPDIR/rd-$host"
	done
}

setup() {
	T=$BATS_FILE_TMPDIR
}

@test "node-problem-detector: its own exit codes, 80 bytes" {
	RDMADIAG=$T/rd-good run -0 integration/node-problem-detector
	[[ $output == "12 of 12 ports active"* ]]
	RDMADIAG=$T/rd-bad run -1 integration/node-problem-detector
	[[ $output == "mlx5_0 (0000:15:00.0): PCIe link is narrower"* ]]
	[ "${#output}" -le 80 ]
	RDMADIAG=$T/rd-none run -2 integration/node-problem-detector
	jq -e '.plugin == "custom" and .pluginConfig.max_output_length == 80 and .rules[0].condition == .conditions[0].type' \
		integration/rdmadiag-monitor.json
}

@test "NHC: a broken host dies with the line, others do not" {
	cat >"$BATS_TEST_TMPDIR/nhc" <<-'NHC'
		die() { echo "die $*"; }
		log() { echo "log $*"; }
		. integration/rdmadiag.nhc
		check_rdma 3
	NHC
	RDMADIAG=$T/rd-good run bash "$BATS_TEST_TMPDIR/nhc"
	[ "$status" -eq 0 ] && [ -z "$output" ]
	RDMADIAG=$T/rd-bad run -1 bash "$BATS_TEST_TMPDIR/nhc"
	[[ $output == "die 1 check_rdma:  RDMA CRITICAL - "*"PCIe link is narrower"* ]]
	[[ $output != *"failed=1"* ]]
	RDMADIAG=$T/rd-none run -0 bash "$BATS_TEST_TMPDIR/nhc"
}

@test "Slurm's health check: drains, leaves other reasons alone, takes back" {
	mkdir "$BATS_TEST_TMPDIR/bin"
	cat >"$BATS_TEST_TMPDIR/bin/scontrol" <<-'SH'
		#!/bin/sh
		case $* in *show*) cat "$STATE" ;; *) echo "scontrol $*" ;; esac
	SH
	chmod +x "$BATS_TEST_TMPDIR/bin/scontrol"
	export PATH=$BATS_TEST_TMPDIR/bin:$PATH STATE=$BATS_TEST_TMPDIR/state SLURMD_NODENAME=n7
	echo "NodeName=n7 State=IDLE" >"$STATE"
	RDMADIAG=$T/rd-bad run integration/slurm-healthcheck
	[[ $output == "scontrol update NodeName=n7 State=DRAIN Reason=rdmadiag: RDMA CRITICAL - "* ]]
	RDMADIAG=$T/rd-good run integration/slurm-healthcheck
	[ -z "$output" ]
	echo "NodeName=n7 State=IDLE+DRAIN Reason=disk" >"$STATE"
	for host in good bad none; do
		RDMADIAG=$T/rd-$host run integration/slurm-healthcheck
		[ "$status" -eq 0 ] && [ -z "$output" ]
	done
	echo "NodeName=n7 State=IDLE+DRAIN Reason=rdmadiag: RDMA CRITICAL" >"$STATE"
	RDMADIAG=$T/rd-good run integration/slurm-healthcheck
	[ "$output" = "scontrol update NodeName=n7 State=RESUME" ]
	RDMADIAG=$T/rd-bad run integration/slurm-healthcheck
	[ -z "$output" ]
}

@test "Nagios and Icinga: their files name options that there are" {
	run "${RDMADIAG:-build/rdmadiag}" check --help
	for option in --deadline --since --exclusive; do
		[[ $output == *"$option"* ]]
		grep -q -e "$option" integration/icinga2.conf
	done
	grep -q 'rdmadiag check --deadline 5' integration/nagios.cfg
}

@test "they are installed, and can be run" {
	unset DATADIR SYSCONFDIR # those of this build
	make -s install DESTDIR="$BATS_TEST_TMPDIR/root" PREFIX=/usr/local >/dev/null
	[ -x "$BATS_TEST_TMPDIR/root/usr/local/share/doc/rdmadiag/examples/slurm-prolog" ]
	[ ! -x "$BATS_TEST_TMPDIR/root/usr/local/share/doc/rdmadiag/examples/nagios.cfg" ]
}

@test "the unit: installed off, with the program's path, and hardened" {
	unset DATADIR SYSCONFDIR # those of this build
	make -s install DESTDIR="$BATS_TEST_TMPDIR/root" PREFIX=/usr/local >/dev/null
	unit=$BATS_TEST_TMPDIR/root/usr/local/lib/systemd/system/rdmadiag-trace.service
	grep -q '^ExecStart=/usr/local/bin/rdmadiag trace-errno --service ' "$unit"
	! find "$BATS_TEST_TMPDIR/root" -name '*.wants' | grep .
	command -v systemd-analyze >/dev/null || skip "no systemd-analyze here"
	run systemd-analyze security --offline=yes --threshold=30 --no-pager "$unit"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "Slurm: a healthy node runs the job, a broken one is drained with our line" {
	[ "$(id -u)" -eq 0 ] || skip "needs root for namespaces of its own"
	for tool in slurmctld slurmd munged sbatch scontrol unshare; do
		PATH=$PATH:/usr/sbin command -v $tool >/dev/null || skip "no $tool here"
	done
	unshare --net --mount --pid --fork true 2>/dev/null || skip "no namespaces here"
	run timeout 600 tests/slurm "$T/rd-good" "$T/rd-bad"
	[ "$status" -ne 77 ] || skip "$output"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"healthy: the job ran"* ]]
	[[ $output == *"recipe: the bundle of n1"* ]]
	[[ $output == *"broken: drained, Reason=rdmadiag: RDMA CRITICAL - "*"PCIe link is narrower"* ]]
}
