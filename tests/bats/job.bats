#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
# job on made-up hosts, as a tree of files: documents, exit codes, selection. What needs a kernel is in tests/vm/cases/64-job.sh.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	RD=${RDMADIAG:-$PWD/build/rdmadiag}
	export NO_COLOR=1
	H=$BATS_TEST_TMPDIR/host
	put sys/class/infiniband_verbs/uverbs0/ibdev mlx5_0
	put sys/class/infiniband_verbs/uverbs0/dev 231:192
	put sys/class/infiniband_verbs/uverbs0/abi_version 1
	put sys/class/infiniband/mlx5_0/ports/1/state '4: ACTIVE'
	put sys/class/infiniband/mlx5_0/ports/1/link_layer InfiniBand
	put proc/sys/kernel/hostname node-1
	process 77 "dev uverbs0 ENOENT" providers "fds 9" "lib /opt/libnccl.so.2.27.3" "tcp 10.0.0.2 90000000 9" "addr 10.0.0.1" "rdma mlx5_0" "env NCCL_IB_HCA=mlx5" "env NCCL_DEBUG=a\x1b[31m"
	process 78 "dev uverbs0 231:192 0666 0 0" "provider mlx5 1 1" providers "fds 9" "rdma mlx5_0"
}

put() { mkdir -p "$H/$(dirname "$1")" && printf '%b\n' "$2" >"$H/$1"; }

# process PID LINE…
process() {
	local pid=$1
	shift
	put "proc/$pid/comm" "job$pid"
	put "proc/$pid/status" 'Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nGroups:\t\nCapEff:\t0\nSeccomp:\t0'
	put "proc/$pid/cgroup" "0::/system.slice/slurmstepd.scope/job_$pid/step_0"
	put "job/$pid" "$(printf '%s\n' "$@")"
}

@test "a document with the keys of the contract, the worst process in its status" {
	run -2 "$RD" --from "$H" job --json
	jq -e '.schema == "rdmadiag/job/1" and .status == 2 and [.processes[].pid] == [77, 78]' <<<"$output"
	jq -e '.processes[0] | .comm == "job77" and .job == "slurm:77.0" and .asked == "rdma" and .verdict == "tcp" and .able == false and
		.sockets.bytes == 90000009 and .env.NCCL_IB_HCA == "mlx5" and .libraries[0].version == "2.27.3" and .runtime == "Slurm"' <<<"$output"
	jq -e '.processes[0].can[0] | .id == "job-device-file" and .result == "fail" and has("expected") and has("fix") and .subject == "mlx5_0"' <<<"$output"
	jq -e '.processes[1] | .nics == [] and .libraries == [] and .asked == null' <<<"$output"
	jq -e '.findings[0] | .id == "job-tcp" and .severity == "critical" and (.advice | contains("ConstrainDevices"))' <<<"$output"
}

@test "the first line has the process, the carrier, the reason and what to do; nothing of a process controls a terminal" {
	run -2 "$RD" --from "$H" job 77
	[[ ${lines[0]} == "job77, process 77: tcp: 85 MiB over 1 TCP connection, no connected queue pair; mlx5_0: /dev/infiniband/uverbs0 is missing; fix: "* ]]
	[[ $output != *$'\e'* ]]
}

@test "limits of RDMA objects: of its control group and those above, and few of few are no shortage" {
	local at=sys/fs/cgroup/system.slice
	limit() { put "$at/$1rdma.max" "mlx5_0 hca_handle=$2 hca_object=max" && put "$at/$1rdma.current" "mlx5_0 hca_handle=$3 hca_object=9"; }

	limit slurmstepd.scope/job_78/step_0/ 8 1
	limit '' max 1
	run "$RD" --from "$H" job 78 --json
	jq -e '[.processes[0].can[] | select(.id == "job-cgroup")] == []' <<<"$output"
	limit slurmstepd.scope/job_78/step_0/ 8 8
	run "$RD" --from "$H" job 78 --json
	jq -e '.processes[0].can | any(.id == "job-cgroup" and .result == "fail" and .observed == "8 of 8 in use")' <<<"$output"
	limit slurmstepd.scope/job_78/step_0/ max 0
	limit '' 0 0
	run "$RD" --from "$H" job 78 --json
	jq -e '.processes[0].can | any(.id == "job-cgroup" and .result == "fail" and .subject == "mlx5_0 hca_handle")' <<<"$output"
}

@test "processes are selected by number, job, control group and name" {
	for words in "--pid 78" 78 "--job slurm:78" "--cgroup /system.slice/slurmstepd.scope/job_78/" "--comm *78"; do
		run "$RD" --from "$H" job $words --json
		jq -e '[.processes[].pid] == [78]' <<<"$output"
	done
	run -3 --separate-stderr "$RD" --from "$H" job --comm nosuch
	[[ $stderr == *"no process matches"* ]]
	run -3 --separate-stderr "$RD" --from "$H" job 99
	run -3 --separate-stderr "$RD" job x
}

@test "without a process: what one would find; a recording without one has the files of its host" {
	rm -r "$H/job"
	run -3 "$RD" --from "$H" job --json
	put dev/null ''
	run -2 "$RD" --from "$H" job --json
	jq -e '.processes[0] | .pid == null and .able == false' <<<"$output"
	put job/host "$(printf '%s\n' 'dev uverbs0 ENOENT' providers 'rdma mlx5_0' 'env UCX_TLS=^rc,dc,ud')"
	run -0 "$RD" --from "$H" job
	[ "${lines[0]}" = "a process started here: cannot use RDMA: mlx5_0: /dev/infiniband/uverbs0 is missing" ]
	put job/host "$(printf '%s\n' 'dev uverbs0 231:192 0666 0 0' 'provider mlx5 1 1' providers 'rdma mlx5_0' 'env UCX_TLS=^rc,dc,ud')"
	run -0 "$RD" --from "$H" job
	[ "${lines[0]}" = "a process started here: uses TCP: set by UCX_TLS=^rc,dc,ud" ]
}

@test "job -- COMMAND has the status of the command, and its output; the verdict is on standard error" {
	run -7 --separate-stderr "$RD" job -- sh -c 'echo out; exit 7'
	[ "$output" = out ]
	[[ $stderr == "rdmadiag: "* ]]
	run -137 "$RD" job -- sh -c 'kill -9 $$'
	run -3 --separate-stderr "$RD" job --json -- true
}

@test "qp-state names a process without queue pairs, and where to look" {
	run "$RD" --from tests/bundles/pair-a.tar.zst qp-state --pid 4711
	[[ $output == *"process 4711 has no queue pair that the kernel lists; why: rdmadiag job 4711"* ]]
}

@test "versions that do not work together: of the program's table and the site's, with the thread; a damaged line is reported" {
	export RDMADIAG_DATADIR=$BATS_TEST_TMPDIR/site
	put proc/modules 'nvidia_peermem 16384 0 - Live 0x0 (POE)'
	put proc/driver/nvidia/version 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Release Build'
	mkdir "$RDMADIAG_DATADIR"
	echo 'warning our/site#1 libnccl>=2.21,nvidia_peermem of this site' >"$RDMADIAG_DATADIR/versions"
	process 79 'fds 9' 'lib /x/site-packages/nvidia/nccl/lib/libnccl.so.2' 'wheel libnccl 2.21.5' 'env NCCL_CUMEM_ENABLE=0'
	run -0 "$RD" --from "$H" job 79 --json
	jq -e '[.processes[0].can[] | select(.id == "job-versions")] | map([.result, .subject, .observed]) == [
		["warn", "versions", "of this site (our/site#1)"],
		["pass", "versions",
			"NCCL before 2.23 does not recognize nvidia_peermem, so transfers are copied through host memory (NVIDIA/nccl#1676)"]]' <<<"$output"
	jq -e '.processes[0].libraries[0].version == "2.21.5"' <<<"$output"
	echo nonsense >"$RDMADIAG_DATADIR/versions"
	run -0 --separate-stderr "$RD" --from "$H" job 79
	[[ $stderr == *"/site/versions: line 1: expected note|warning THREAD CONDITION,... TEXT"* && $output == *"NVIDIA/nccl#1676"* ]]
}

@test "accelerators: which of their files a process can open is a note; a CPU job in a container is healthy" {
	put sys/bus/pci/devices/0000:01:00.0/class 0x030200
	put sys/bus/pci/devices/0000:01:00.0/vendor 0x10de
	put sys/bus/pci/devices/0000:01:00.0/device 0x2330
	process 79 'dev uverbs0 231:192 0666 0 0' 'provider mlx5 1 1' providers 'fds 9' 'rdma mlx5_0' 'dev nvidiactl ENOENT'
	run -0 "$RD" --from "$H" job 79 --json
	jq -e '.processes[0] | (.verdict == "idle") and (.can[] | select(.id == "job-accelerator") | .result == "pass" and
		.observed == "none of the 1 of this host has a device file in its root")' <<<"$output"
	process 79 'dev nvidia0 195:0 0660 0 44' 'dev nvidiactl 195:255 0666 0 0' 'dev nvidia-uvm 510:0 0666 0 0'
	sed -i 's/Uid:.*/Uid:\t9\t9\t9\t9/' "$H/proc/79/status"
	run "$RD" --from "$H" job 79 --json
	jq -e '.processes[0].can[] | select(.id == "job-accelerator") | .observed | contains("/dev/nvidia0 has mode 0660, owner 0, group 44")' <<<"$output"
}

@test "locked memory of a Slurm step: which object has to change, by the limits of slurmd" {
	local limit='Max locked memory         %s              %s              bytes'
	limits() { put "proc/$1/limits" "$(printf "$limit" "$2" "$3")"; }
	fix() {
		run "$RD" --from "$H" job 78 --json
		jq -r '.processes[0].can[] | select(.id == "job-memlock") | .observed + "; " + (.fix // .advice)' <<<"$output"
	}

	limits 78 65536 unlimited
	[[ $(fix) == "limit 64 KiB, and CAP_IPC_LOCK"*"PropagateResourceLimitsExcept=MEMLOCK in slurm.conf, LimitMEMLOCK=infinity in the unit of slurmd" ]]
	put proc/900/comm slurmd
	limits 900 unlimited unlimited
	[[ $(fix) == "limit 64 KiB, slurmd has no limit, "*"the limit of the login node came with the job"* ]]
	limits 78 65536 65536
	[[ $(fix) == *"memlock in limits.conf of this node"* ]]
	limits 900 65536 65536
	[[ $(fix) == "limit 64 KiB, slurmd has 64 KiB, "*"systemctl edit slurmd"* ]]
	put proc/901/comm slurmd
	limits 901 unlimited unlimited
	[[ $(fix) == "limit 64 KiB, and CAP_IPC_LOCK"*"PropagateResourceLimitsExcept=MEMLOCK in slurm.conf, LimitMEMLOCK=infinity in the unit of slurmd" ]]
}
