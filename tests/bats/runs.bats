#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
# nic-map --against: published logs and topology files say what RUNS.md has; files that are none are refused.

load made-up-host

@test "published logs and topology files are compared as RUNS.md says" {
	run tests/bundles/runs/runs.py "$RD" "$BATS_TEST_TMPDIR/work"
	grep -v '^ok' <<<"$output"
	[ "$status" -eq 0 ]
	[ "$(grep -c '^ok' <<<"$output")" -ge 40 ]
}

@test "RUNS.md is what the runs say" {
	diff tests/bundles/runs/RUNS.md <(tests/bundles/runs/runs.py --table)
}

@test "--against: first line, table, findings; exit status" {
	cat >"$BATS_TEST_TMPDIR/log" <<-END
		NCCL version 2.28.3+cuda12.9
		made-up:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [2]mlx5_12:1/IB [RO]; OOB eth8:192.0.2.1<0>
		made-up:1:2 [0] NCCL INFO NCCL_IB_HCA set to =mlx5_0,mlx5_1,mlx5_2
		made-up:1:2 [0] NCCL INFO Using network IB
	END
	run -1 "$RD" --from "$HOST" nic-map --against "$BATS_TEST_TMPDIR/log"
	[[ ${lines[0]} == "nic-map against "*"log (made-up, NCCL 2.28.3): "*" agree, 2 differ"* ]]
	[[ $output == *"device  mlx5_2/1"*"not in the list"*differs* ]]
	[[ $output == *"device  mlx5_12/1"*differs* ]]
	[[ $output == *"against-not-used"* && $output == *"against-not-here"* ]]
	"$RD" --from "$HOST" nic-map --against "$BATS_TEST_TMPDIR/log" --json | jq -e '.status == 1 and .kind == "log" and
		.nccl_version == "2.28.3" and .differs == 2 and .run_host == "made-up" and
		([.against[] | select(.verdict == "same")] | length) == .same'
}

@test "--against: sockets on a host with RDMA are critical, with the variable that made it so" {
	printf 'x:1:2 [0] NCCL INFO NCCL_IB_DISABLE set by environment to 1.\nx:1:2 [0] NCCL INFO Using network Socket\n' \
		>"$BATS_TEST_TMPDIR/log"
	run -2 "$RD" --from "$HOST" nic-map --against "$BATS_TEST_TMPDIR/log"
	[[ $output == *"critical: "*"NCCL_IB_DISABLE=1"*"advice: unset NCCL_IB_DISABLE in the job's environment"* ]]
}

@test "--against: a log of several hosts names them, what is no log is refused" {
	printf 'a:1:2 [0] NCCL INFO Using network IB\nb:1:2 [0] NCCL INFO Using network IB\n' >"$BATS_TEST_TMPDIR/two"
	run -3 --separate-stderr "$RD" --from "$HOST" nic-map --against "$BATS_TEST_TMPDIR/two"
	[[ ${stderr_lines[0]} == *"2 hosts (a, b)"*made-up* ]]
	against() {
		"$RD" --from "$HOST" nic-map --against "$@"
	}
	printf 'hello\n' >"$BATS_TEST_TMPDIR/none"
	: >"$BATS_TEST_TMPDIR/empty"
	printf '<system version="1"><cpu' >"$BATS_TEST_TMPDIR/cut"
	refused against "$BATS_TEST_TMPDIR/none" "$BATS_TEST_TMPDIR/empty" "$BATS_TEST_TMPDIR/cut" "$BATS_TEST_TMPDIR/gone" \
		"$BATS_TEST_TMPDIR/two --matrix" "$BATS_TEST_TMPDIR/two -c 2"
}

@test "--against: a topology file of this host agrees, and one with a NIC less does not" {
	"$RD" --from "$HOST" nic-map --nccl-xml >"$BATS_TEST_TMPDIR/topo.xml"
	run -0 "$RD" --from "$HOST" nic-map --against "$BATS_TEST_TMPDIR/topo.xml"
	grep -v mlx5_3 "$BATS_TEST_TMPDIR/topo.xml" >"$BATS_TEST_TMPDIR/less.xml"
	run -1 "$RD" --from "$HOST" nic-map --against "$BATS_TEST_TMPDIR/less.xml"
	[[ $output == *mlx5_3*against-not-used* ]]
}

@test "--against: one process over sockets among others over InfiniBand is critical" {
	cat >"$BATS_TEST_TMPDIR/log" <<-END
		NCCL version 2.28.3+cuda12.9
		made-up:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth8:192.0.2.1<0>
		made-up:1:2 [0] NCCL INFO Using network IB
		made-up:3:4 [1] NCCL INFO NET/IB : No device found.
		made-up:3:4 [1] NCCL INFO NET/Socket : Using [0]eth8:192.0.2.1<0>
		made-up:3:4 [1] NCCL INFO Using network Socket
	END
	run -2 "$RD" --from "$HOST" nic-map --against "$BATS_TEST_TMPDIR/log"
	[[ $output == *"Socket in 1 of 2 communicators"* ]]
	[[ $output == *"[against-tcp]"* ]]
}
