# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# explain: lines, words, files, standard input; what a host adds.

setup() {
	bats_require_minimum_version 1.5.0
	RD=$BATS_TEST_DIRNAME/../../build/rdmadiag
	T=$BATS_TEST_TMPDIR
	LINE='gpu-a:3468:3905 [4] ib_plugin.c:1615 NCCL WARN NET/IB : Got completion from peer 192.0.2.36<54862> with status=12 opcode=0 len=0 vendor err 129 (Recv) localGid ::ffff:10.64.4.21 remoteGids::ffff:10.64.4.22 hca mlx5_4'
}

host() { # NAME
	python3 "$BATS_TEST_DIRNAME/../bundles/silent/silent.py" --lay "$1" "$T/host" >/dev/null
}

@test "a line: what it means, then what to do, then its codes and causes" {
	run -0 --separate-stderr "$RD" explain "$LINE"
	[[ ${lines[0]} == critical:* ]]
	[[ ${lines[0]} == *"ibdev mlx5_4, "*"peer_gid ::ffff:10.64.4.22, peer 192.0.2.36, status 12, vendor_err 129"* ]]
	[[ ${lines[1]} == "  next: "* ]]
	[[ $output == *"status 12 (IBV_WC_RETRY_EXC_ERR): "* ]]
	[[ $output == *"possible cause: "* ]]
	[ -z "$stderr" ]
}

@test "the same line from standard input, from a file, as words, and after --" {
	printf '%s\n' "$LINE" >"$T/log"
	expected=$("$RD" explain --json "$LINE" | jq -c '.lines[0] | [.id, .objects, .codes]')
	for args in "--log $T/log" "--log -" "" "-" "-- $LINE" "$LINE"; do
		# shellcheck disable=SC2086 # words
		[ "$("$RD" explain --json $args <"$T/log" | jq -c '.lines[0] | [.id, .objects, .codes]')" = "$expected" ]
	done
}

@test "a line in JSON, as loggers of containers write it, is the line itself" {
	wanted=$("$RD" explain --json -- "$LINE" | jq -c '.lines[0] | [.id, .objects, .codes]')
	wrapped=$(jq -cn --arg log $'\033[31m'"$LINE"$'\033[0m\n' '{$log, stream: "stderr"}' | sed 's/</\\u003c/g; s/>/\\u003e/g')
	[[ $wrapped == *'\u003c54862\u003e'* ]]
	[ "$("$RD" explain --json <<<"$wrapped" | jq -c '.lines[0] | [.id, .objects, .codes]')" = "$wanted" ]
	[ "$("$RD" explain --json <<<'{"msg": "error gathering device information while adding custom device \"/dev/infiniband/uverbs3\": no such file or directory\n"}\u00zz\u000' | jq '.lines | length')" = 1 ]
}

@test "values and names: completions, vendor errors, errnos, events, counters, rules" {
	for word in status=12 vendor_err=129 errno=12 errno=ENOMEM syndrome=0x35e6ec IBV_WC_RNR_RETRY_EXC_ERR RDMA_CM_EVENT_REJECTED \
		IBV_EVENT_PORT_ERR local_ack_timeout_err acs-redirect; do
		run -0 --separate-stderr "$RD" explain "$word"
		[ -n "$output" ]
	done
	[ "$("$RD" explain --json status=12 vendor_err=129 | jq '.lines | length')" = 2 ]
	why=$("$RD" topo-check --explain acs-redirect --json | jq -r '.rules[0].why')
	[[ $("$RD" explain acs-redirect) == *"$why"* ]]
}

@test "an unknown line: exit 3, and what to do; a bare number is ambiguous" {
	for args in "12" "no such line" "status=250"; do
		run -3 --separate-stderr "$RD" explain "$args"
		[ -z "$output" ]
		[ "${#stderr_lines[@]}" -eq 2 ]
	done
	for line in 'VPN: Remote access error 12, please contact support' 'local length error in field name: max 12 characters' \
		'Backend torch was instantiated with 4 workers' 'Handshake failed for request from 192.0.2.1: tls: bad certificate' \
		'Caught signal 15 (Terminated)' '[error] connect() to 192.0.2.1:8080 failed: Connection refused' \
		'rmmod: ERROR: Module usb_storage is in use by: uas' 'ts=1 host=gpu-a level=info msg="scrape ok"' \
		'qpOASES: QP could not be solved, status = 5' 'applesmc: wait status failed: 5 != 4' 'mlx90614 1-005a: read failed: Remote I/O error' \
		'ssh: connect to host node12 port 22: No route to host' 'gloo gateway-proxy: gRPC config rejected: Error adding listener(s)'; do
		run -3 --separate-stderr "$RD" explain -- "$line"
	done
	[ "$("$RD" explain --json "no such line" | jq -c '[.status, .lines, (.errors | length)]')" = "[3,[],1]" ]
}

@test "a line is of the program that prints it, not of another that prints nearly the same" {
	is() { # ID LINE
		[ "$("$RD" explain --json -- "$2" | jq -r '.lines[0].id')" = "$1" ]
	}
	is nvme-pci-timeout 'nvme nvme0: I/O tag 641 (c281) opcode 0x1 (I/O Cmd) QID 8 timeout, aborting req_op:WRITE(1) size:4096'
	is nvme-timeout 'nvme nvme1: I/O tag 12 (300c) type 4 opcode 0x2 (Read) QID 3 timeout'
	is nv-symbol 'nv_peer_mem: Unknown symbol nvidia_p2p_get_pages (err -22)'
	is nv-peer-mem-symbol 'nv_peer_mem: Unknown symbol ib_register_client (err -22)'
	is peermem-pages-failed 'nv_peer_mem: nv_mem_get_pages: error -22 while calling nvidia_p2p_get_pages'
	is nvshmem-gid-type 'WARN: IB: read failed in ib_roce_get_version_num: Invalid argument'
	is ucx-gdaki-channel 'gdaki.c:397  UCX  ERROR   gdaki channel chunk init: create_cq/qp failed (ch=2 ep=4)'
	is ibstat-device "ibpanic: [7851] main: stat of IB device 'mlx5_1' failed: Invalid argument"
	is spdk-target-qp-state 'rdma.c: 526:spdk_nvmf_rdma_set_ibv_state: *ERROR*: QP#0: expected state: IBV_QPS_ERR, actual state: msix'
}

@test "files that are not there, are empty, or are directories: exit 3 with their name and errno" {
	: >"$T/empty"
	for file in "$T/none" "$T/empty" "$T"; do
		run -3 --separate-stderr "$RD" explain --log "$file"
		[[ ${stderr_lines[0]} == "rdmadiag: $file: "*"(E"*")" ]]
	done
}

@test "standard input is a bundle or a log, not both" {
	for args in "--from - explain --log -" "--from - explain" "explain --log - --log -"; do
		# shellcheck disable=SC2086 # words
		run -3 --separate-stderr "$RD" $args </dev/null
		[[ ${stderr_lines[0]} == *"standard input is either a bundle or a log"* ]]
	done
}

@test "--fail maps what lines mean for jobs to the exit status" {
	run -0 --separate-stderr "$RD" explain "$LINE"
	run -2 --separate-stderr "$RD" explain --fail "$LINE"
	[ "$("$RD" explain --fail --json "$LINE" | jq .status)" = 2 ]
}

@test "a log: repetitions are counted, consequences come last, peers are ranked" {
	for n in 1 2 3; do printf '%s\nnothing\n' "${LINE/192.0.2.36/192.0.2.$n}"; done >"$T/log"
	printf '%s\n' "${LINE/status=12/status=5}" "$LINE" >>"$T/log"
	"$RD" explain --json --log "$T/log" >"$T/json"
	jq -e '[.lines[] | select(.objects.status == 12)] | length == 1 and .[0].count == 4 and .[0].first == 1' "$T/json"
	jq -e '.lines_read == 8 and .lines_unknown == 3' "$T/json"
	jq -e '.peers[0] == {"peer": "192.0.2.36", "files": 1, "lines": 2}' "$T/json"
	cp "$T/log" "$T/log2"
	run --separate-stderr "$RD" explain --log "$T/log" --log "$T/log2"
	[[ $output == *"192.0.2.36 (4 lines, 2 of 2 files)"* ]]
	[[ $output == *"which host failed first: cannot tell"* ]]
}

@test "a host shows a cause, excludes it, or leaves it open; other hosts and devices are compared with nothing" {
	host hgx-b200
	printf '%s\n' "${LINE#gpu-a:3468:3905 }" >"$T/log"
	here() { "$RD" --from "$T/host" explain --json --log "$T/log" | jq -r '.lines[0] | (.now | join("|")), ([.causes[].here] | unique | join(","))'; }
	run here
	[[ ${lines[0]} == *"mlx5_4/1"*"ACTIVE"* ]]
	[[ ${lines[1]} == *no* ]]
	sed -i 's/mlx5_4/mlx5_77/' "$T/log"
	run here
	[[ ${lines[0]} == "this host has no such device: "* ]]
	[ "${lines[1]}" = unknown ]
	printf '%s\n' "$LINE" >"$T/log"
	run here
	[[ ${lines[0]} == "gpu-a printed this line: it is not compared with "* ]]
	[ "${lines[1]}" = unknown ]
}

@test "a line cannot steer the terminal, and long or binary input ends" {
	run -0 --separate-stderr "$RD" explain $'\033[2J'"$LINE"
	[[ $output != *$'\033'* ]]
	head -c 3000000 /dev/zero | tr '\0' 'x' >"$T/long"
	{ cat "$T/long"; printf '\n%s\n' "$LINE"; head -c 100000 /dev/urandom; } >"$T/log"
	run -0 --separate-stderr "$RD" explain --log "$T/log"
	[[ ${lines[0]} == critical:* ]]
}

@test "forms of a site take precedence" {
	mkdir -p "$T/data/explain.d"
	cp "$BATS_TEST_DIRNAME"/../../data/* "$T/data" 2>/dev/null || :
	printf '%s\n' 'form site-form warning' $'\tsource site 1 file function' $'\tmatch our daemon lost {ibdev}' $'\tmeans The daemon lost its device.' \
		$'\tnext restart it on {ibdev}' 'broken' >"$T/data/explain.d/ours.conf"
	RDMADIAG_DATADIR=$T/data run --separate-stderr "$RD" explain "our daemon lost mlx5_3."
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "warning: The daemon lost its device. [ibdev mlx5_3]" ]
	[ "${lines[2]}" = "  next: restart it on mlx5_3" ]
	[[ $stderr == *"line 6"* ]]
}

@test "a log: causes that an earlier line has are not listed again, those of another code are" {
	for code in "12 mlx5_0 129" "12 mlx5_1 129" "12 mlx5_2 136" "5 mlx5_0 249"; do
		read -r status device vendor <<<"$code"
		echo "NCCL WARN NET/IB: Got completion from peer 192.0.2.1<5> with status=$status opcode=0 len=0 vendor err $vendor (Send) hca $device"
	done >"$T/log"
	run -0 --separate-stderr "$RD" explain --log "$T/log"
	[ "$(grep -c '^  status 12 ' <<<"$output")" -eq 2 ]
	[ "$(grep -c "^  codes and possible causes as of: $T/log:1\$" <<<"$output")" -eq 1 ]
	[[ $output == *"mlx5-vendor-remote-access"*"What follows from an earlier failure:"*"status 5 "* ]]
}

@test "a line of normal work is a note, beside a failure of the same driver" {
	severity() { "$RD" explain --json -- "$1" | jq -r '.lines[0].severity'; }
	[ "$(severity 'nvme nvme1: Removing ctrl: NQN "target1"')" = note ]
	[ "$(severity 'bnxt_en 0000:c1:00.0 eth0: NIC Link is Up, 100000 Mbps (NRZ) full duplex')" = note ]
	[ "$(severity 'bnxt_en 0000:c1:00.0 eth0: NIC Link is Down')" = warning ]
	[ "$(severity 'bnxt_en 0000:c1:00.0 (unnamed net_device) (uninitialized): Device requests max timeout of 60 seconds')" = note ]
	[ "$(severity 'bnxt_en 0000:c1:00.0 (unnamed net_device) (uninitialized): Failed to init ring')" = warning ]
	# A probe that fails in a log of steps is none; the same call with level ERROR is one.
	step='[1747579606.64] [node:4717:0] ib_mlx5dv_md.c:1788 UCX  DEBUG mlx5dv_open_device(rdmap16s27) failed: Operation not supported'
	[ "$(severity "$step")" = note ]
	[ "$(severity "${step/DEBUG/ERROR}")" = critical ]
	[ "$(severity 'node:4717:4717 [1] NCCL INFO NVLS multicast support is not available on dev 1')" = note ]
	[ "$(severity "libibverbs: Warning: couldn't load driver 'librxe-rdmav25.so': librxe-rdmav25.so: cannot open shared object file")" = note ]
	[ "$(severity "libibverbs: Warning: couldn't load driver 'libmlx5-rdmav25.so': libmlx5-rdmav25.so: cannot open shared object file")" = warning ]
	[ "$(severity 'nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error (First)')" = warning ]
	[ "$(severity 'NVRM: Xid (PCI:0000:19:00): 63, pid=1, name=x, Row Remapper: New row marked for remapping')" = warning ]
	[ "$(severity "NVRM: Xid (PCI:0000:19:00): 119, pid=1, name=x, Timeout after 6s of waiting for RPC response from GPU0 GSP!")" = critical ]
	[ "$(severity 'node:4717:4717 [1] NCCL INFO Failed to open libibverbs.so[.1]')" = warning ]
	[ "$(severity 'node:4717:4717 [0] NCCL INFO Channel 00/0 : 8[0] -> 0[0] [receive] via NET/IB/0(3)/GDRDMA')" = note ]
	[ "$(severity 'node:4717:4717 [0] NCCL INFO Channel 00/0 : 8[0] -> 0[0] [receive] via NET/IB/0(3)')" = warning ]
	# A call that returned 0, a pointer or a number of completions did not fail; lines of tests, builds and source code tell of none.
	for line in 'ibv_modify_qp returned 0' 'ibv_reg_mr returned 0x7f3a12345000' 'ibv_poll_cq returned 16' \
		'PASS: ibv_reg_mr failed as expected: Invalid argument' 'checking for ibv_reg_dmabuf_mr... no' \
		'  if (ret) fprintf(stderr, "ibv_create_qp failed: %s\n", strerror(errno));' \
		'# HELP rdma_retries number of transport retry counter exceeded'; do
		[ "$(severity "$line")" = note ]
	done
	[ "$(severity 'ibv_modify_qp returned 110')" = critical ]
	[ "$(severity 'ibv_poll_cq returned -5')" = critical ]
	# The status of an event of the connection manager is an errno, if it is negative, and that of no completion.
	[ "$("$RD" explain --json -- 'error: RDMA_CM_EVENT_ROUTE_ERROR, status -22' | jq -c '.lines[0].objects | [.status, .errno]')" = '[null,22]' ]
	# A driver without an interface ends its address with a colon, which is no part of it.
	[ "$("$RD" explain --json -- 'hfi1 0000:05:00.0: hfi1_0: CCE Error: (SBus_ERR)' | jq -r '.lines[0].objects.pci')" = 0000:05:00.0 ]
	run "$RD" explain -- 'mlx5_core 0000:5e:00.0 eth1: Error cqe on cqn 0x41d, ci 0x1f, qn 0x1234, opcode 0xd, syndrome 0x4, vendor syndrome 0x51'
	[[ $output == *MLX5_CQE_SYNDROME_LOCAL_PROT_ERR* && $output != *"not public"* ]]
	# What looks like an errno but can be none is not one that is not public.
	run -0 "$RD" explain -- '[79199.669653] mlx5_0:mr_umem_get:709:(pid 15855): umem get failed (-131668346275144)'
	[[ $output == *"could not be pinned"* && $output != *"not public"* ]]
}

@test "objects: a GID is no host, a peer's number is none of this host, a count is no queue pair" {
	of() { "$RD" explain --json -- "$1" | jq -c ".lines[0] | [$2]"; }
	[ "$(of '[  211.4] _ib_cache_gid_del: can'"'"'t delete gid fe80:0000:0000:0000:020a:f7ff:fee3:6e32 error=-22' '.host, .objects.errno')" = '[null,22]' ]
	[ "$(of 'remote address: LID 0x01 QPN 0x003a PSN 0xc0fd7e RKey 0x002442 VAddr 0x007f443b2f8000' '.objects.lqpn, .objects.rqpn')" = '[null,58]' ]
	[ "$(of 'Failed to modify QP: 0 times' '.severity, .objects.lqpn')" = '["note",null]' ]
	[ "$(of 'torch.distributed.DistStoreError: wait timeout after 600000ms, keys: /default_pg/0//cuda//0' '.severity')" != '[null]' ]
}

@test "no form has the name of another, which would never be used" {
	[ -z "$(sed -n 's/^form \([^ ]*\) .*/\1/p' "$BATS_TEST_DIRNAME"/../../data/explain* | sort | uniq -d)" ]
}
