# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# What healthy programs do fails by design in places: marked, with the reason. Real failures that look alike are not.
# kernels: 6.12
# asked: 6.1 7.x
# sample 6.1: ibv-* rping twin-* job-* other-pid-namespace
# sample 7.x: ibv-* rping twin-* job-* other-pid-namespace hidden-unless-asked
# turn: 6
# boot: main

prepare() {
	[ -e /sys/class/infiniband/rxe1 ] || . tests/vm/guest/rxe-up || return
	trace plain --benign --buffer 4m
}

# healthy COMM COUNT: so many events at least of programs of that name, all marked
healthy() {
	until_true 60 true_of "$W/plain.json" 'map(select(.comm == $comm)) | length >= $count and
		all(.[]; .benign and (.benign_reason | length > 20))' --arg comm "$1" --argjson count "$2"
}

test_ibv_devinfo() {
	ibv_devinfo -v >"$W/devinfo.out"
	healthy ibv_devinfo 2
}

test_ibv_rc_pingpong() {
	ibv_rc_pingpong -d rxe1 -g 1 -n 200 >"$W/server.out" &
	until_true 10 listens 18515
	ibv_rc_pingpong -d rxe0 -g 1 -n 200 127.0.0.1
	wait $!
	healthy ibv_rc_pingpong 2
}

listens() {
	ss -Hltn "sport = :$1" | grep -q .
}

test_rping() {
	rping -s -a 10.9.0.2 -C 5 &
	sleep 1
	rping -c -a 10.9.0.2 -I 10.9.0.1 -C 5 -v
	wait $! || :
	healthy rping 2
}

sent() {
	cat /sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts
}

runs() {
	bpftool -j prog show | jq -c 'map({ key: "\(.id) \(.name)", value: (.run_cnt // 0) }) | from_entries'
}

write_bw() { # ARG…
	ib_write_bw -d rxe1 -x 1 -s 4096 "$@" >"$W/server.out" 2>&1 &
	until_true 10 listens 18515
	ib_write_bw -d rxe0 -x 1 -s 4096 "$@" 127.0.0.1 >"$W/client.out" 2>&1 &
}

test_ib_write_bw() {
	write_bw -n 200
	wait
	grep -q '^ 4096' "$W/client.out"
	healthy ib_write_bw 2
}

# Between two looks during the transfer packets go, and not one of our programs runs; on a busy machine it may still begin.
test_transfer_runs_no_probe() {
	sysctl -qw kernel.bpf_stats_enabled=1
	write_bw -D 600
	until_true 30 only_packets
	sysctl -qw kernel.bpf_stats_enabled=0
}

only_packets() {
	local before packets
	packets=$(sent)
	before=$(runs)
	sleep 2
	echo "packets: $packets, $(sent); runs: $before, $(runs)"
	jq -e 'add > 0' <<<"$before" && [ "$before" = "$(runs)" ] && sent_since "$packets" 500
}

sent_since() {
	[ $(($(sent) - $1)) -ge "$2" ]
}

# The same function and errno as the ENOSPC of every device open, from mistakes.
test_twin_of_enospc() {
	run twin-enospc-command --dev rxe0
	shows plain twin-enospc-command
	run twin-enospc-response --dev rxe0
	shows plain twin-enospc-response
}

# The ENODATA of an empty GID index is benign for who reads the table, not for who wants to use it.
test_twin_of_enodata() {
	run twin-enodata-query --dev rxe0
	until_true 60 true_of "$W/plain.json" 'any(.[]; .pid == $pid and .errno == "ENODATA" and .benign)' --argjson pid "$ran"
	run modify-qp-rtr-empty-gid --dev rxe0
	shows plain modify-qp-rtr-empty-gid
}

# Where a process runs says whose job it is. The names are those that Slurm's and Kubernetes' own daemons give.
in_cgroup() { # PATH
	local n
	mkdir -p "/sys/fs/cgroup$1"
	bash -c 'echo $$ >"/sys/fs/cgroup$0/cgroup.procs" && exec "$FAIL" reg-mr-unmapped --dev rxe0' "$1" &
	ran=$!
	wait $ran
	# The reader polls, and on a busy machine it is late.
	for ((n = 0; n < 100; n++)); do
		! grep -q "\"pid\":$ran," "$W/plain.json" || break
		sleep 0.2
	done
}

test_job_of_slurm() {
	local cgroup=/system.slice/slurmstepd.scope/job_42/step_0/user/task_0
	in_cgroup $cgroup
	true_of "$W/plain.json" 'any(.[]; .pid == $pid and .cgroup == $cgroup and .job == "slurm:42.0" and .errno == "EFAULT")' \
		--argjson pid "$ran" --arg cgroup $cgroup
}

test_job_of_kubernetes() {
	local uid=3f2a9c5e_1b7d_4c4f_9e0a_0d7c6b5a4321 cgroup
	cgroup=/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod$uid.slice/cri-containerd-0123456789abcdef.scope
	in_cgroup $cgroup
	true_of "$W/plain.json" 'any(.[]; .pid == $pid and .cgroup == $cgroup and .job == "kubernetes:\($uid | gsub("_"; "-"))")' \
		--argjson pid "$ran" --arg cgroup $cgroup --arg uid $uid
}

# In the namespace the program is process 1; the event has the number that this host knows it by.
test_other_pid_namespace() {
	unshare -pf --mount-proc "$FAIL" reg-mr-unmapped --dev rxe0 &
	ran=$!
	wait $ran
	until_true 60 true_of "$W/plain.json" 'map(select(.errno == "EFAULT")) | .[-1] | .pid == .tid and .pid > $pid and .pid < $pid + 50 and
		.comm == "verbs-fail"' --argjson pid "$ran"
}

test_hidden_unless_asked() {
	only 6.12 7.x
	"$R" trace-errno --json -- sh -c "ibv_devinfo -d rxe0 >/dev/null" >"$W/hidden.json"
	true_of "$W/hidden.json" 'length == 1 and .[0].events == 0 and .[0].benign >= 1'
}

# They are left out before the buffer, which stays free for others.
test_take_no_room() {
	only 6.12 7.x
	trace room --buffer 4k
	for _ in {1..5}; do ibv_devinfo -v >"$W/devinfo.out"; done
	run reg-mr-unmapped --dev rxe0
	shows room reg-mr-unmapped
	end room
	tail -1 "$W/room.json" | jq -c '{ events, delivered, lost, benign }'
	true_of "$W/room.json" '.[-1] | .benign > 250 and .events == 1 and .delivered == 1 and .lost == 0'
}

finish() {
	end plain
}
