# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# What `job` says of processes that use RDMA, TCP or nothing, on the host, in a chroot that acts as a container, in a network namespace:
# the carrier is never another than it is, and what is in the way is named.
# kernels: 6.12
# asked: 6.1 7.x
# turn: 4
# boot: job

JOB=build/tests/vm/job-play
PLAY=build/tests/vm/qp-play
FAR=10.9.2.2

# The peer of TCP is in another namespace: what stays in one is not traffic to another host.
prepare() {
	. tests/vm/guest/rxe-up && ip netns add far && ip link add n0 type veth peer name n1 netns far &&
		ip address add 10.9.2.1/24 dev n0 && ip link set n0 up && ip -n far address add $FAR/24 dev n1 &&
		ip -n far link set n1 up && ip -n far link set lo up && cp "$JOB" "$PLAY" "$W/" && chmod 755 "$W" "$W/job-play" && JOB=$W/job-play &&
		cp /bin/true "$W/libnccl.so.2.27.3" && cp /bin/true "$W/libucp.so.0.0.0" && : >"$W/out" && mkdir -p /dev/shm &&
		{ ip netns exec far "$JOB" --sink 7000 >/dev/null 2>&1 & } && until_true 20 far_listens 7000
}
far_listens() { ip netns exec far ss -Hltn "sport = :$1" | grep -q .; }

# A root of its own: a view of this one with other device files. box [DEVICE…]: those it has
box() {
	local name numbers
	umount -R "$W/box" 2>/dev/null || :
	mkdir -p "$W/box"
	mount --bind / "$W/box"
	mount -t proc proc "$W/box/proc"
	mount --bind /sys "$W/box/sys"
	mount -t tmpfs tmpfs "$W/box/run"
	mkdir -p "$W/box$W"
	mount --bind "$W" "$W/box$W"
	mount -t tmpfs tmpfs "$W/box/dev"
	mkdir -p "$W/box/dev/infiniband" "$W/box/dev/shm"
	mknod -m 666 "$W/box/dev/null" c 1 3
	for name; do
		numbers=$(cat /sys/class/infiniband_verbs/"$name"/dev 2>/dev/null || cat /sys/class/misc/"$name"/dev)
		mknod -m 666 "$W/box/dev/infiniband/$name" c "${numbers%:*}" "${numbers#*:}"
	done
}

# run COMMAND…: in the background, until it says that it is ready; $job is its process
run() {
	: >"$W/ready"
	"$@" >"$W/ready" 2>&1 &
	job=$!
	until_true 60 is_ready
	grep -q '^ready' "$W/ready" || fail "$(cat "$W/ready")"
}

is_ready() { grep -q '^ready' "$W/ready" || ! kill -0 "$job" 2>/dev/null; }

# says STATUS VERDICT [EXPRESSION]: of the process $job
says() {
	local status=0
	"$R" job "$job" --json >"$W/job.json" || status=$?
	jq -e --arg v "$2" ".processes[0] | .verdict == \$v and (${3:-true})" "$W/job.json" >/dev/null && [ "$status" = "$1" ] && return
	echo "status $status, not $1; not $2 ${3-}"
	jq -c '.processes[] | del(.env)' "$W/job.json"
	return 1
}

# here STATUS EXPRESSION [COMMAND…]: job without a process
here() {
	local status=0 expression=$2 expected=$1
	shift 2
	"$@" "$R" job --json >"$W/job.json" || status=$?
	jq -e "$expression" "$W/job.json" >/dev/null && [ "$status" = "$expected" ] && return
	echo "status $status, not $expected; not $expression"
	jq -c . "$W/job.json"
	return 1
}

nccl() { run env "$@" --map "$W/libnccl.so.2.27.3" --send $FAR 7000 24; }

test_queue_pairs_are_rdma() {
	"$PLAY" >"$W/play" 2>&1 &
	until_true 60 grep -q '^A ready' "$W/play"
	job=$(sed -n 's/^A pid \([0-9]*\) .*/\1/p' "$W/play")
	says 0 rdma '.nics[0].ibdev == "rxe0" and .nics[0].qps == 1 and .nics[0].share == 1'
}

test_rping_is_rdma() {
	rping -s -a 10.9.0.2 -C 100000000 >/dev/null 2>&1 &
	until_true 20 sh -c 'rdma -j resource show cm_id | grep -q LISTEN'
	rping -c -a 10.9.0.2 -C 100000000 >/dev/null 2>&1 &
	job=$!
	until_true 60 sh -c "rdma resource show qp | grep -q 'RTS.*pid $job'"
	says 0 rdma '.nics[0].peers == 1 and .able'
}

test_perftest_is_rdma() {
	ib_write_bw -d rxe1 -x 1 -D 1000 >/dev/null 2>&1 &
	until_true 30 rxe_listens 18515
	ib_write_bw -d rxe0 -x 1 -D 1000 10.9.0.2 >/dev/null 2>&1 &
	job=$!
	until_true 60 sh -c "rdma resource show qp | grep -q 'RTS.*pid $job'"
	says 0 rdma
}

# UCX drops what soft-RoCE delivers to UD queue pairs, for the address in its header. connected: a queue pair of type RC of process $job
ucx_on() { # DEVICE COMMAND…: in the background, as which it is one process
	exec env UCX_TLS=rc,self UCX_NET_DEVICES="$1:1" UCX_IB_GID_INDEX=1 UCX_UD_ETH_DGID_CHECK=${check:-n} "${@:2}"
}
connected() { rdma resource show qp | grep -q "type RC state RTS.*pid $job"; }

test_ucx_over_rc_is_rdma_and_requested() {
	ucx_on rxe1 ucx_perftest -t tag_bw -n 100000000 -p 13400 >/dev/null 2>&1 &
	until_true 30 rxe_listens 13400
	ucx_on rxe0 ucx_perftest -t tag_bw -n 100000000 -p 13400 127.0.0.1 >/dev/null 2>&1 &
	job=$!
	until_true 60 connected
	says 0 rdma '.asked == "rdma" and any(.libraries[]; .name == "libucp") and .nics[0].peers == 1'
}

test_ucx_that_only_sets_up_a_connection() {
	check=y ucx_on rxe1 ucx_perftest -t tag_bw -n 100000000 -p 13400 >/dev/null 2>&1 &
	until_true 30 rxe_listens 13400
	check=y ucx_on rxe0 ucx_perftest -t tag_bw -n 100000000 -p 13400 127.0.0.1 >/dev/null 2>&1 &
	job=$!
	until_true 60 sh -c "rdma resource show qp | grep -q 'type RC state INIT.*pid $job'"
	says 3 cannot-tell '.reason | contains("only those of type UD are ready")'
}

# pingpong SERVER-COMMAND… -- CLIENT-COMMAND…: two ends of libfabric; $job is the client
pingpong() {
	local server=()
	while [ "$1" != -- ]; do server+=("$1") && shift; done
	shift
	command -v fi_pingpong >/dev/null || skip "needs fi_pingpong (libfabric-bin)"
	"${server[@]}" -I 100000000 >"$W/play" 2>&1 &
	until_true 60 sh -c 'ss -Hltn "sport = :47592" | grep -q . || ip netns exec far ss -Hltn "sport = :47592" | grep -q .'
	"$@" >"$W/play" 2>&1 &
	job=$!
}
sent() { "$R" job "$job" --json | jq -e '.processes[0].sockets.bytes > 20000000' >/dev/null 2>&1; }

test_libfabric_over_verbs_is_rdma() {
	local mode
	for mode in 'verbs -e msg' 'verbs;ofi_rxm -e rdm'; do
		export FI_OFI_RXM_MSG_TX_SIZE=128 FI_OFI_RXM_MSG_RX_SIZE=128 FI_OFI_RXM_TX_SIZE=128 FI_OFI_RXM_RX_SIZE=128 FI_UNIVERSE_SIZE=2
		# shellcheck disable=SC2086 # two words behind the provider
		pingpong fi_pingpong -p $mode -d rxe1 -S 65536 -- fi_pingpong -p $mode -d rxe0 -I 100000000 -S 65536 10.9.0.2
		until_true 60 connected
		says 0 rdma '.nics[0].ibdev == "rxe0" and .nics[0].peers == 1 and any(.libraries[]; .name == "libfabric")'
		pkill -9 fi_pingpong
	done
}

test_libfabric_over_tcp() {
	pingpong ip netns exec far fi_pingpong -p tcp -e msg -S 1048576 -- fi_pingpong -p tcp -e msg -I 100000000 -S 1048576 $FAR
	until_true 60 sent
	says 1 tcp '.asked == null and .able and (.reason | endswith("RDMA can be used (rxe0, rxe1)"))'
	pkill -9 fi_pingpong
	export FI_PROVIDER=tcp
	pingpong ip netns exec far fi_pingpong -e msg -S 1048576 -- fi_pingpong -e msg -I 100000000 -S 1048576 $FAR
	until_true 60 sent
	says 0 tcp '.asked == "tcp" and .asked_by == "FI_PROVIDER=tcp"'
	pkill -9 fi_pingpong
}

test_libfabric_without_device_files() {
	box
	export FI_PROVIDER=verbs,tcp
	pingpong ip netns exec far unshare -m chroot "$W/box" fi_pingpong -e msg -S 1048576 -- \
		unshare -m chroot "$W/box" fi_pingpong -e msg -I 100000000 -S 1048576 $FAR
	until_true 60 sent
	says 2 tcp '.able == false and .asked_by == "FI_PROVIDER=verbs,tcp" and (.reason | contains("is missing"))'
	pkill -9 fi_pingpong
	FI_PROVIDER=verbs unshare -m chroot "$W/box" fi_pingpong -e msg >/dev/null 2>&1 &
	job=$!
	until_true 60 sh -c "grep -q libfabric /proc/$job/maps"
	says 2 idle '.able == false'
}

# ranks ARGUMENT…: an MPI program on two hosts, of which the namespace acts as one; or, with -np 2 in front, on this one. $job is rank 0.
ranks() {
	command -v mpirun >/dev/null && [ -x build/tests/vm/mpi-play ] || skip "needs mpirun and mpicc"
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PATH=$W:$PATH
	[ -e "$W/mpi-play" ] || cp build/tests/vm/mpi-play "$W/"
	: >"$W/play"
	cat >"$W/rsh" <<-'EOF'
		#!/bin/sh
		shift
		exec ip netns exec far unshare -u sh -c 'hostname far; eval "$*"' - "$@"
	EOF
	cat >"$W/each" <<-'EOF'
		#!/bin/sh
		UCX_NET_DEVICES=rxe$OMPI_COMM_WORLD_RANK:1 exec "$@"
	EOF
	chmod +x "$W/rsh" "$W/each"
	[ "$1" = -np ] || set -- --host "$(hostname):1,far:1" -np 2 --mca plm_rsh_agent "$W/rsh" --mca oob_tcp_if_include 10.9.2.0/24 --mca btl_tcp_if_include 10.9.2.0/24 "$@"
	mpirun --oversubscribe "$@" >"$W/play" 2>&1 &
	until_true 120 grep -q ^ready "$W/play" || { cat "$W/play" && return 1; }
	job=$(sed -n 's/^ready //p' "$W/play")
}

test_open_mpi_over_ucx_is_rdma() {
	export UCX_TLS=rc,self UCX_IB_GID_INDEX=1 UCX_UD_ETH_DGID_CHECK=n
	ranks -np 2 --mca pml ucx "$W/each" mpi-play
	says 0 rdma '.nics[0].ibdev == "rxe0" and .asked == "rdma"'
	"$R" job --comm mpi-play --json | jq -e '.status == 0 and (.processes | length) == 2 and all(.processes[]; .verdict == "rdma")'
}

test_open_mpi_over_tcp() {
	ranks --mca pml ob1 --mca btl tcp,self mpi-play
	until_true 60 sent
	says 0 tcp '.asked_by == "OMPI_MCA_btl=tcp,self"'
	pkill mpirun
	ranks --mca pml ob1 mpi-play
	until_true 60 sent
	says 1 tcp '.asked == null and (.reason | contains("OMPI_MCA_pml=ob1 leaves out UCX"))'
}

test_ucx_that_is_told_to_use_tcp() {
	UCX_TLS=tcp,self UCX_NET_DEVICES=n1 ip netns exec far ucx_perftest -t tag_bw -s 1048576 -n 100000000 -p 13401 >/dev/null 2>&1 &
	until_true 30 far_listens 13401
	UCX_TLS=tcp,self UCX_NET_DEVICES=n0 ucx_perftest -t tag_bw -s 1048576 -n 100000000 -p 13401 $FAR >/dev/null 2>&1 &
	job=$!
	until_true 60 sh -c "$R job $job --json | jq -e '.processes[0].sockets.bytes > 20000000'" >/dev/null 2>&1
	says 0 tcp '.asked == "tcp" and .asked_by == "UCX_TLS=tcp,self"'
}

test_tcp_that_a_variable_requests_is_none_of_our_business() {
	nccl NCCL_IB_DISABLE=1 "$JOB"
	says 0 tcp '.asked == "tcp" and .able'
}

test_tcp_that_nothing_requests() {
	nccl "$JOB"
	says 1 tcp '.asked == null and .able and .sockets.bytes > 25000000'
}

test_a_variable_of_a_library_that_is_not_there() {
	run env NCCL_IB_DISABLE=1 "$JOB" --map "$W/libucp.so.0.0.0" --send $FAR 7000 24
	says 1 tcp '.asked == null'
}

test_no_device_file_in_a_container() {
	box
	nccl NCCL_IB_HCA=rxe unshare -m chroot "$W/box" "$JOB"
	says 2 tcp '.able == false and any(.can[]; .id == "job-device-file" and .result == "fail") and (.reason | contains("missing"))'
	jq -e '.findings[0] | .id == "job-tcp" and .severity == "critical" and (.advice | contains("--device=/dev/infiniband"))' "$W/job.json"
}

test_one_of_two_devices_is_enough() {
	box uverbs1 rdma_cm
	mknod -m 666 "$W/box/dev/nvidia0" c 195 0
	nccl unshare -m chroot "$W/box" "$JOB"
	says 1 tcp 'any(.can[]; .id == "job-accelerator" and .result == "pass" and (.observed | startswith("/dev/nvidiactl is missing"))) and .able and any(.can[]; .result == "skip" and .subject == "rxe0") and any(.can[]; .id == "job-device" and .subject == "rxe1")'
}

test_mode_of_the_device_file() {
	box uverbs0 uverbs1
	chmod 600 "$W"/box/dev/infiniband/*
	nccl NCCL_IB_HCA=rxe unshare -m chroot "$W/box" "$JOB" --uid 65534
	says 2 tcp '.able == false and any(.can[]; .id == "job-device-mode" and .result == "fail")'
}

test_a_device_file_of_another_device() {
	box
	mknod -m 666 "$W/box/dev/infiniband/uverbs0" c 1 3
	mknod -m 666 "$W/box/dev/infiniband/uverbs1" c 1 3
	nccl NCCL_NET=IB unshare -m chroot "$W/box" "$JOB"
	says 2 tcp '.able == false and (.reason | contains("has number 1:3"))'
}

providers() {
	box uverbs0 uverbs1
	mkdir -p "$W/providers"
	mount --bind "$W/providers" "$W/box/usr/lib/x86_64-linux-gnu/libibverbs"
}

test_no_provider() {
	rm -rf "$W/providers"
	providers
	nccl NCCL_NET=IB unshare -m chroot "$W/box" "$JOB"
	says 2 tcp '.able == false and any(.can[]; .id == "job-provider" and .result == "fail")'
}

# As a provider that is older than the driver of the kernel: the versions that it supports, 1 and 2, become 3 and 4.
test_a_provider_of_another_interface() {
	rm -rf "$W/providers"
	mkdir -p "$W/providers"
	perl -0777 -pe 's/\x01\0\0\0\x02\0\0\0/\x03\0\0\0\x04\0\0\0/g' </usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so >"$W/providers/librxe-rdmav34.so"
	providers
	nccl NCCL_NET=IB unshare -m chroot "$W/box" "$JOB"
	says 2 tcp '.able == false and any(.can[]; .id == "job-provider-abi" and (.observed | contains("supports 3 to 4")))'
}

test_locked_memory() {
	nccl NCCL_NET=IB prlimit --memlock=65536:65536 "$JOB" --uid 65534
	says 2 tcp '.able and any(.can[]; .id == "job-memlock" and .result == "fail")'
}

test_open_files() {
	run env NCCL_NET=IB prlimit --nofile=64:64 "$JOB" --map "$W/libnccl.so.2.27.3" --send $FAR 7000 24 --files 70
	says 2 tcp 'any(.can[]; .id == "job-nofile" and .result == "fail")'
}

test_limits_of_the_rdma_controller() {
	mkdir -p /sys/fs/cgroup/few
	echo +rdma >/sys/fs/cgroup/cgroup.subtree_control || skip "no rdma controller"
	echo "rxe0 hca_handle=0 hca_object=0" >/sys/fs/cgroup/few/rdma.max
	nccl NCCL_NET=IB sh -c 'echo $$ >/sys/fs/cgroup/few/cgroup.procs; exec "$@"' - "$JOB"
	says 2 tcp 'any(.can[]; .id == "job-cgroup" and .result == "fail")'
	"$R" job --cgroup /few --json | jq -e --argjson p "$job" '[.processes[].pid] == [$p]'
}

test_a_namespace_without_gid() {
	ip netns add bare
	ip netns exec bare ip link set lo up
	run ip netns exec bare env NVSHMEM_REMOTE_TRANSPORT=ibrc "$JOB"
	says 2 idle '.able == false and any(.can[]; .id == "job-gid" and .result == "fail")'
	kill "$job"
	ip netns del bare
}

test_ports_that_are_down() {
	ip link set v0 down
	ip link set v1 down
	here 2 '.processes[0].able == false and any(.processes[0].can[]; .id == "job-port" and .result == "fail")'
	ip link set v0 up
	ip link set v1 up
}

test_a_process_that_is_started_here() {
	here 0 '.processes[0] | .able and .pid == null'
}

test_a_process_that_is_started_in_a_container() {
	box
	here 2 '.processes[0] | .able == false' unshare -m chroot "$W/box" env -C "$PWD"
}

test_idle() {
	run "$JOB"
	says 0 idle '.asked == null'
}

test_cannot_although_requested() {
	box
	run env NVSHMEM_REMOTE_TRANSPORT=ibrc unshare -m chroot "$W/box" "$JOB"
	says 2 idle '.able == false'
	[[ $("$R" job "$job") == "job-play, process $job: cannot use RDMA: rxe0: /dev/infiniband/uverbs0 is missing"* ]]
}

test_shared_memory_is_host() {
	head -c 65536 /dev/zero >/dev/shm/nccl-AbCdEf
	run "$JOB" --map /dev/shm/nccl-AbCdEf --map "$W/libnccl.so.2.27.3"
	says 0 host
	rm /dev/shm/nccl-AbCdEf
}

test_tcp_inside_the_host_is_host() {
	"$JOB" --sink 7001 >/dev/null 2>&1 &
	until_true 20 rxe_listens 7001
	run "$JOB" --send 10.9.2.1 7001 24
	says 0 host '.sockets.bytes == 0 and .sockets.local_bytes > 25000000'
}

test_only_rdma_cm_is_open() {
	nccl NCCL_NET=IB "$JOB" --open /dev/infiniband/rdma_cm
	says 2 tcp
}

test_a_context_without_queue_pair() {
	run "$JOB" --open /dev/infiniband/uverbs0
	says 0 idle
}

test_a_process_of_another_user() {
	run "$JOB"
	local status=0
	setpriv --reuid 65534 --clear-groups "$R" job "$job" --json >"$W/job.json" || status=$?
	[ $status = 3 ]
	jq -e '.processes[0].verdict == "cannot-tell"' "$W/job.json"
}

test_an_own_process_without_root() {
	nccl setpriv --reuid 65534 --clear-groups "$JOB"
	local status=0
	setpriv --reuid 65534 --clear-groups "$R" job "$job" --json >"$W/job.json" || status=$?
	jq -e '.processes[0] | .verdict == "tcp" and .able' "$W/job.json"
	[ $status = 1 ]
}

test_a_process_that_has_ended() {
	"$R" job 4000000 || [ $? = 3 ]
}

test_selection_by_name_and_the_worst_first() {
	run "$JOB"
	nccl "$JOB"
	"$R" job --comm 'job-pl?y' >"$W/out" || [ $? = 1 ]
	[[ $(head -1 "$W/out") == *"processes; job-play, process $job: tcp: "* ]]
}

test_advice_by_what_runs_it() {
	local pod=/sys/fs/cgroup/kubepods.slice/kubepods-pod01234567_89ab_cdef_0123_456789abcdef.slice
	mkdir -p $pod
	box
	nccl NCCL_NET=IB sh -c "echo \$\$ >$pod/cgroup.procs"'; exec "$@"' - unshare -m chroot "$W/box" "$JOB"
	says 2 tcp '.runtime == "Kubernetes" and .job == "kubernetes:01234567-89ab-cdef-0123-456789abcdef"'
	jq -e '.findings[0].advice | contains("device plugin")' "$W/job.json"
	"$R" job --job 'kubernetes:*' --json | jq -e --argjson p "$job" 'any(.processes[]; .pid == $p)'
}

test_a_bundle_has_it() {
	"$PLAY" >"$W/play" 2>&1 &
	until_true 60 grep -q '^A ready' "$W/play"
	job=$(sed -n 's/^A pid \([0-9]*\) .*/\1/p' "$W/play")
	says 0 rdma
	"$R" capture --force "$W/x.tar" >/dev/null
	"$R" --from "$W/x.tar" job "$job" --json | jq -e '.processes[0] | .verdict == "rdma" and .able and .nics[0].ibdev == "rxe0"'
	"$R" --from "$W/x.tar" job --json | jq -e --argjson p "$job" 'any(.processes[]; .pid == $p and .verdict == "rdma")'
}

test_a_bundle_has_what_was_selected() {
	nccl NCCL_IB_HCA=rxe "$JOB"
	"$R" capture --force --redact --pid "$job" "$W/x.tar" >/dev/null
	"$R" --from "$W/x.tar" job --json |
		jq -e --argjson p "$job" 'any(.processes[]; .pid == $p and .verdict == "tcp" and .asked == "rdma" and .sockets.bytes > 25000000)'
}

# user RESULT USER [ARGUMENT…]: of user-rdma
user() {
	local result=$1 user=$2
	shift 2
	"$R" "$@" check --deadline 60 --user "$user" --json >"$W/check.json" || :
	jq -c '.status, (.checks[] | select(.id == "user-rdma"))' "$W/check.json"
	jq -e --arg r "$result" 'any(.checks[]; .id == "user-rdma" and .result == $r)' "$W/check.json" >/dev/null
}

test_a_job_of_a_user() {
	chmod 0666 /dev/infiniband/*
	user pass 0:0
	user pass root
	chmod 0660 /dev/infiniband/*
	chgrp 4242 /dev/infiniband/*
	user fail 1000:1000
	jq -e '.status == 2 and any(.checks[]; .observed // "" | contains("has mode 0660, owner 0, group 4242; the process has uid 1000"))' "$W/check.json"
	"$R" capture --force "$W/x.tar" >/dev/null
	user fail 1000:1000 --from "$W/x.tar"
	user fail nobody
	user pass root
	! user fail 1000:1000,4242
	"$R" check --user nosuch && return 1
	chmod 0666 /dev/infiniband/*
	chgrp 0 /dev/infiniband/*
}

# Last: the mode can be changed only while there is no other namespace.
test_zz_exclusive_mode() {
	ip netns pids far | xargs -r kill
	ip link del n0
	ip netns del far
	until_true 20 rdma system set netns exclusive || skip "the mode cannot be changed"
	ip netns add alone
	run ip netns exec alone env NVSHMEM_REMOTE_TRANSPORT=ibrc "$JOB"
	says 2 idle '.able == false and any(.can[]; .id == "job-namespace" and .result == "fail")'
	kill "$job"
	test_queue_pairs_are_rdma
	local status=0
	ip netns exec alone "$R" job "$job" --json >"$W/job.json" || status=$?
	jq -e --arg fix "nsenter -t $job -n rdmadiag job $job" '.processes[0].verdict == "cannot-tell" and .findings[0].fix == $fix and
		.processes[0].able == null and all(.processes[0].can[]; .result != "fail")' "$W/job.json" || { jq -c . "$W/job.json" && return 1; }
	[ "$status" = 3 ]
}
