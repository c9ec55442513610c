#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats sets stderr
# What variables come to: settings of public threads, a case for each rule, and lists of any length.

load made-up-host

map() {
	"$RD" --from "$HOST" nic-map --check-env "$@"
}

# cases KIND LEAST: all of these pass, and there are so many at least.
cases() {
	run tests/bundles/env/env.py "$RD" "$BATS_TEST_TMPDIR" "$1"
	grep -v '^ok' <<<"$output"
	[ "$status" -eq 0 ]
	[ "$(grep -c '^ok' <<<"$output")" -ge "$2" ]
}

@test "settings of public threads: each finding, no other, and the effect in words" {
	cases threads 70
}

@test "settings that providers publish are no warnings, and broken twins of them are" {
	cases published 34
	[ "$(grep -c '^ok .*https://' <<<"$output")" -ge 15 ]
}

@test "each rule has a case" {
	cases rules 60
}

@test "each variable that is judged has its row: rule, file and function, case; ENV.md is the table" {
	run python3 -B -c 'import sys; sys.path.insert(0, "tests/bundles/env"); import rules
print("\n".join(rules.gaps())); print(len(rules.judged()))'
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 1 ]
	[ "${lines[0]}" -ge 125 ]
	diff tests/rules/ENV.md <(tests/bundles/env/env.py --table)
}

@test "the first line counts: judged, only listed, unknown" {
	printf '%s\n' NCCL_IB_TIMEOUT=22 NCCL_DEBUG=INFO NCCL_FOO_BAR=1 PATH=/bin >"$BATS_TEST_TMPDIR/env"
	run -0 map --env-file "$BATS_TEST_TMPDIR/env"
	[ "${lines[0]}" = "nic-map: 3 variables (1 judged, 1 only listed, 1 unknown name): no problems found" ]
	# What nobody looked at is not called right.
	echo NCCL_DEBUG=INFO >"$BATS_TEST_TMPDIR/env"
	run map --env-file "$BATS_TEST_TMPDIR/env"
	[ "${lines[0]}" = "nic-map: 1 variable (0 judged, 1 only listed, 0 unknown names): no known problem" ]
}

@test "a document has what each is, and the length of its value" {
	printf '%s\n' NCCL_IB_TIMEOUT=22 NCCL_FOO_BAR=1 MC_REDIS_PASSWORD=hunter2 >"$BATS_TEST_TMPDIR/env"
	map --env-file "$BATS_TEST_TMPDIR/env" --json >"$BATS_TEST_TMPDIR/out"
	jq -e '.variables | length == 3 and (.[] | select(.name == "NCCL_IB_TIMEOUT") | .judged == "yes" and .library == "NCCL" and
		.value == "22" and .value_bytes == 2 and (.effect | test("17.2 s")) and has("selects"))' "$BATS_TEST_TMPDIR/out"
	jq -e '.variables[] | select(.name == "NCCL_FOO_BAR") | .judged == "unknown"' "$BATS_TEST_TMPDIR/out"
	run ! grep -q hunter2 "$BATS_TEST_TMPDIR/out"
}

@test "of this command and of a process, quotes are a part of the value; in a file they are the shell's" {
	NCCL_IB_HCA='"mlx5_0"' run -1 map
	[[ $output == *"Quotes are part of the value"*"[env-quoted]"* ]]
	printf '%s\n' 'export NCCL_IB_HCA="=mlx5_0" # one of them' "declare -x NCCL_IB_TIMEOUT='22'" >"$BATS_TEST_TMPDIR/env"
	map --env-file "$BATS_TEST_TMPDIR/env" --json | jq -e '[.variables[].value] == ["=mlx5_0", "22"]'
	# Of a name that is there twice a shell keeps the last.
	printf 'NCCL_IB_TIMEOUT=1\nNCCL_IB_TIMEOUT=22\n' >"$BATS_TEST_TMPDIR/env"
	run -0 map --env-file "$BATS_TEST_TMPDIR/env"
}

@test "a list of 79 KB is quoted once, and 4,000 lines are a matter of seconds of a processor" {
	local name entry
	for name in NCCL_IB_HCA UCX_NET_DEVICES NVSHMEM_HCA_LIST UCX_TLS NCCL_SOCKET_IFNAME NCCL_FOO; do
		python3 -c 'print(f"'$name'=" + ",".join(f"mlx5_{n}:1" for n in range(1000, 20000))[:79000])' >"$BATS_TEST_TMPDIR/env"
		map --env-file "$BATS_TEST_TMPDIR/env" >"$BATS_TEST_TMPDIR/out" || [ $? -le 2 ]
		grep -q "$name" "$BATS_TEST_TMPDIR/out"
		[ "$(wc -c <"$BATS_TEST_TMPDIR/out")" -lt 6000 ]
	done
	for entry in 'NCCL_IB_X%d=1' 'NCCL_IB_HCA=mlx5_%d' 'NCCL_DEBUGX%d=1'; do
		python3 -c "print('\n'.join('$entry' % n for n in range(4000)))" >"$BATS_TEST_TMPDIR/env"
		(ulimit -t 20 && map --env-file "$BATS_TEST_TMPDIR/env" >"$BATS_TEST_TMPDIR/out") || [ $? -le 2 ]
	done
}

@test "RCCL leaves GPUDirect RDMA off on Hyper-V with NUMA balancing, unless ordering is relaxed" {
	HOST=$BATS_TEST_TMPDIR/mi300x
	tests/bundles/silent/silent.py --lay mi300x-thor2 "$HOST"
	echo NCCL_IB_PCI_RELAXED_ORDERING=0 >"$BATS_TEST_TMPDIR/env"
	run -0 map --env-file "$BATS_TEST_TMPDIR/env"
	mkdir -p "$HOST/proc/sys/kernel"
	echo 1 >"$HOST/proc/sys/kernel/numa_balancing"
	run -0 map --env-file "$BATS_TEST_TMPDIR/env"
	echo "Hyper-V UEFI Release v4.1" >"$HOST/sys/class/dmi/id/bios_version"
	run -1 map --env-file "$BATS_TEST_TMPDIR/env"
	[[ $output == *"[env-numa-balancing]"*"fix: sysctl -w kernel.numa_balancing=0"* ]]
	echo 0 >"$HOST/proc/sys/kernel/numa_balancing"
	run -0 map --env-file "$BATS_TEST_TMPDIR/env"
	echo 1 >"$HOST/proc/sys/kernel/numa_balancing"
	echo NCCL_IB_PCI_RELAXED_ORDERING=2 >"$BATS_TEST_TMPDIR/env"
	run -0 map --env-file "$BATS_TEST_TMPDIR/env"
}
