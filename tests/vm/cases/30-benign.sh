# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# What healthy programs do fails by design in places: marked, with the reason. Real failures that look alike are not.
# kernels: 6.1 6.12 7.x
# boot: main

prepare() {
	[ -e /sys/class/infiniband/rxe1 ] || . tests/vm/guest/rxe-up || return
	trace plain --benign --buffer 4m
}

# healthy COMM COUNT: so many events at least of programs of that name, all marked
healthy() {
	sleep 0.3
	true_of "$W/plain.json" 'map(select(.comm == $comm)) | length >= $count and
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

# Between two looks during the transfer packets go, and not one of our programs runs.
test_transfer_runs_no_probe() {
	local before after packets
	sysctl -qw kernel.bpf_stats_enabled=1
	packets=$(sent)
	write_bw -D 60
	until_true 20 sent_since "$packets" 500
	sleep 1
	packets=$(sent)
	before=$(runs)
	sleep 2
	after=$(runs)
	echo "packets: $packets, $(sent); runs: $before, $after"
	jq -e 'add > 0' <<<"$before"
	[ "$before" = "$after" ]
	sent_since "$packets" 500
	sysctl -qw kernel.bpf_stats_enabled=0
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
	sleep 0.5
	true_of "$W/plain.json" 'any(.[]; .pid == $pid and .errno == "ENODATA" and .benign)' --argjson pid "$ran"
	run modify-qp-rtr-empty-gid --dev rxe0
	shows plain modify-qp-rtr-empty-gid
	true_of "$W/plain.json" 'any(.[]; .pid == $pid and .errno == "ENODATA" and (.benign | not) and
		.origin.function == "rdma_get_gid_attr")' --argjson pid "$ran"
}

test_hidden_unless_asked() {
	only 6.12 7.x
	"$R" trace-errno --json -- sh -c "ibv_devinfo -d rxe0 >/dev/null" >"$W/hidden.json"
	true_of "$W/hidden.json" 'length == 1 and .[0].events >= 1 and .[0].benign == .[0].events'
}

finish() {
	end plain
}
