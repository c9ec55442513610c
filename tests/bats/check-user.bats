#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats sets stderr
# check --user on made-up hosts, as a tree of files: users whose jobs can use RDMA although it does not look so, and users whose jobs cannot.

load here

setup() {
	export NO_COLOR=1
	H=$BATS_TEST_TMPDIR/host
	local nic=sys/devices/pci0000:00/0000:00:1c.0
	put $nic/vendor 0x15b3
	put $nic/class 0x020700
	put $nic/infiniband/mlx5_0/ports/1/state '4: ACTIVE'
	put $nic/infiniband/mlx5_0/ports/1/link_layer InfiniBand
	mkdir -p "$H/sys/bus/pci/devices" "$H/sys/bus/pci/drivers/mlx5_core" "$H/sys/class/infiniband"
	ln -s ../../../devices/pci0000:00/0000:00:1c.0 "$H/sys/bus/pci/devices/0000:00:1c.0"
	ln -s ../../../bus/pci/drivers/mlx5_core "$H/$nic/driver"
	ln -s ../../../0000:00:1c.0 "$H/$nic/infiniband/mlx5_0/device"
	ln -s ../../devices/pci0000:00/0000:00:1c.0/infiniband/mlx5_0 "$H/sys/class/infiniband/mlx5_0"
	put sys/class/infiniband_verbs/uverbs0/ibdev mlx5_0
	put sys/class/infiniband_verbs/uverbs0/dev 231:192
	put sys/class/infiniband_verbs/uverbs0/abi_version 1
	put proc/sys/kernel/hostname node-1
	put proc/1/comm systemd
	put proc/2/comm kthreadd
	put user/alice '1000 1000 27'
	put group/rdma 27
	limits slurmd 812 unlimited
	host '0666 0 0'
}

put() { mkdir -p "$H/$(dirname "$1")" && printf '%b\n' "$2" >"$H/$1"; }

# host MODE_OWNER_GROUP [PROVIDER]: what a process finds
host() { put job/host "dev uverbs0 231:192 $1\ndev rdma_cm 10:58 ${3-0666 0 0}\nprovider ${2-mlx5 1 1}\nproviders\nrdma mlx5_0"; }

# limits COMM PID BYTES
limits() {
	put "proc/$2/comm" "$1"
	put "proc/$2/limits" "Max locked memory         $3              $3              bytes"
}

# says RESULT USER [TEXT]: of user-rdma, and the exit status that goes with it; TEXT: in what was observed
says() {
	local status=0 wanted=0
	case $1 in warn) wanted=1 ;; fail) wanted=2 ;; undecided) wanted=3 ;; esac
	"$RD" --from "$H" check --user "$2" --json >"$BATS_TEST_TMPDIR/out" || status=$?
	jq -c '.checks[] | select(.id == "user-rdma") | [.result, .subject, .observed]' "$BATS_TEST_TMPDIR/out"
	[ "$status" = "$wanted" ]
	jq -e --arg r "${1/undecided/unknown}" --arg t "${3-}" \
		'[.checks[] | select(.id == "user-rdma" and .result == $r and ((.observed // "") | contains($t)))] | length == 1' "$BATS_TEST_TMPDIR/out"
}

@test "users whose jobs can use RDMA although it does not look so" {
	says pass 1000:1000
	host '0660 0 27'
	says pass alice
	says pass "1000:1000,$(seq -s, 5000 5200),27"
	host '0600 0 0'
	says pass 0:0
	host '0600 1000 0'
	says pass 1000:1000
	# The limit of a login is raised by PAM; root's does not apply.
	host '0666 0 0'
	rm -r "$H/proc/812"
	put etc/security/limits.conf '*  hard memlock 64\n*    soft memlock 64 # low\n@rdma  -  memlock unlimited'
	says pass alice
	says pass 0:0
	# The batch system counts, not what starts containers.
	rm -r "$H/etc"
	limits slurmd 812 unlimited
	limits dockerd 900 8388608
	says pass alice
}

@test "users whose jobs cannot use RDMA" {
	host '0660 0 27'
	says fail 1000:1000 'mode 0660, owner 0, group 27; the process has uid 1000'
	host '0606 0 27'
	says fail alice 'mode 0606'
	host '0666 0 0' 'efa 1 1'
	says fail alice 'no libibverbs provider for mlx5'
	host '0666 0 0' 'mlx5 2 3'
	says fail alice 'supports 2 to 3'
	host '0666 0 0'
	limits slurmd 812 65536
	says fail alice 'limit 64 KiB, from slurmd, process 812'
	rm -r "$H/proc/812"
	put etc/systemd/system.conf.d/a.conf 'DefaultLimitMEMLOCK=8M'
	says warn alice "limit 8 MiB, from systemd's DefaultLimitMEMLOCK="
	# A soft limit is not above the hard one, which nothing raises here.
	put etc/security/limits.d/b.conf 'alice soft memlock unlimited'
	says warn alice 'limit 8 MiB'
	put etc/security/limits.d/c.conf 'alice - memlock 64'
	says fail alice 'limit 64 KiB, from limits.conf'
	limits sshd 700 4096
	put run/sshd.pid 700
	rm -r "$H/etc"
	says fail alice 'limit 4 KiB, from sshd, process 700'
}

@test "what is not known is neither" {
	put etc/security/limits.conf '* - memlock 64'
	says unknown alice 'differ'
	# The names of the user and of its groups are not in a bundle.
	put etc/security/limits.conf 'bob - memlock 64'
	says unknown 1000:1000 'which entries'
	says pass alice
	put etc/security/limits.conf '@other - memlock 64'
	says unknown alice 'which entries'
	put etc/security/limits.conf 'alice -\n'
	says unknown alice 'which entries'
	rm -r "$H/etc"
	host '0660 0 0 acl'
	says undecided alice 'access list was not read'
	# A bundle from before: limits.conf was not recorded, either.
	rm -r "$H/job"
	says undecided alice 'libibverbs were not read'
	says undecided alice 'which entries'
	[[ $("$RD" --from "$H" check --user alice) == *"RDMA UNKNOWN - whether a job of the user can use RDMA is unknown"* ]]
}

@test "access lists: a user before groups, all below the mask, others only without a match" {
	local owner=1.6.4294967295 group=4.6.4294967295 mask=16.6.4294967295 other=32.6.4294967295
	host "0666 0 0 acl=$owner,8.6.27,4.0.4294967295,$mask,32.0.4294967295"
	says pass alice
	host "0660 0 27 acl=$owner,2.4.1000,$group,$mask,$other"
	says fail alice 'mode 0660, owner 0, group 27, and an access list; the process has uid 1000'
	host "0660 0 0 acl=$owner,8.6.27,$group,16.4.4294967295,$other"
	says fail alice
	host "0666 0 0 acl=$owner,8.0.27,$group,$mask,$other"
	says fail alice
	says pass 1001:1001
}

@test "a bundle from before is unknown where it lacks something" {
	for bundle in schema-1-rxe trace-rxe pair-a; do
		run -3 "$RD" --from tests/bundles/$bundle.tar.zst check --user 1000:1000 --json
		jq -e '[.checks[] | select(.id == "user-rdma") | .result] | unique == ["unknown"]' <<<"$output"
	done
}

@test "rdma_cm that the user must not open is a note" {
	host '0666 0 0' 'mlx5 1 1' '0600 0 0'
	run -0 "$RD" --from "$H" check --user alice --json
	jq -e 'any(.checks[]; .id == "user-rdma" and .subject == "rdma_cm" and (.observed | contains("must not be opened")))' <<<"$output"
}

@test "a user that is not there" {
	run -3 --separate-stderr "$RD" --from "$H" check --user bob
	[[ $output == "RDMA UNKNOWN - bob: users are not in a bundle"* ]]
	[[ $stderr == *"try: give UID:GID"* ]]
	run -3 --separate-stderr "$RD" check --user no-such-user
	[[ $output == "RDMA UNKNOWN - no-such-user: not found by the services of /etc/nsswitch.conf"* ]]
	for user in '' 1000: 1000:x 1000:1000, 1000:4294967295 99999999999:1 a:b; do
		run -3 "$RD" --from "$H" check --user "$user"
	done
	# The user that runs this is known.
	run "$RD" check --user "$(id -un)"
	[[ $output != *nsswitch* ]]
}

@test "capture records what job and check --user read of the processes that are selected" {
	sleep 60 &
	local pid=$!
	NCCL_IB_HCA=mlx5 SECRET_TOKEN=x UCX_TLS=rc sleep 61 &
	local other=$!
	"$RD" capture --no-probe --pid $pid "$BATS_TEST_TMPDIR/a.tar" >/dev/null
	tar xf "$BATS_TEST_TMPDIR/a.tar" -C "$BATS_TEST_TMPDIR"
	[ -f "$BATS_TEST_TMPDIR/root/job/$pid" ]
	[ ! -e "$BATS_TEST_TMPDIR/root/job/$other" ]
	! grep -q '^env' "$BATS_TEST_TMPDIR/root/job/host"
	run "$RD" --from "$BATS_TEST_TMPDIR/a.tar" job --json
	jq -e --argjson p $pid '[.processes[].pid] == [$p]' <<<"$output"
	"$RD" capture --no-probe --comm 'slee[p]' --redact "$BATS_TEST_TMPDIR/b.tar" >/dev/null
	run "$RD" --from "$BATS_TEST_TMPDIR/b.tar" job --json
	jq -e --argjson p $other 'any(.processes[]; .pid == $p and .env == {"NCCL_IB_HCA": "mlx5", "UCX_TLS": "rc"})' <<<"$output"
	# What was selected once is kept in a copy.
	"$RD" --from "$BATS_TEST_TMPDIR/a.tar" capture --redact "$BATS_TEST_TMPDIR/c.tar" >/dev/null
	run "$RD" --from "$BATS_TEST_TMPDIR/c.tar" job --json
	jq -e --argjson p $pid '[.processes[].pid] == [$p]' <<<"$output"
	run -0 --separate-stderr "$RD" capture --no-probe --comm nosuch "$BATS_TEST_TMPDIR/d.tar"
	[[ $stderr == *"no process matches"* ]]
	kill $pid $other
}
