# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
# check on soft-RoCE: a clean machine gives no alarm; what is broken is named, and no longer named when it is mended; a read that
# hangs in the kernel takes nothing with it.
# kernels: 6.12
# asked: 6.1 7.x
# turn: 4
# boot: check

prepare() {
	modprobe -qa crc32_generic crc32c_generic || :
	modprobe -a ib_core ib_uverbs rdma_cm rdma_ucm udp_tunnel ip6_udp_tunnel rdma_rxe || return
	local n
	for n in 0 1; do
		ip link add "v$n" type veth peer name "p$n" && ip link set "p$n" up &&
			ip address add "10.$((n + 1)).0.1/24" dev "v$n" && ip link set "v$n" up &&
			rdma link add "rxe$n" type rxe netdev "v$n" || return
	done
	until_true 30 both_active
}

both_active() {
	[ "$(cat /sys/class/infiniband/rxe*/ports/1/state | grep -c ACTIVE)" = 2 ] &&
		grep -q 0a01:0001 /sys/class/infiniband/rxe0/ports/1/gids/*
}

# check_json ARG…: into $W/check.json; its status is ours
check_json() {
	"$R" check --deadline 20 --json "$@" >"$W/check.json"
}

# result RULE RESULT: some result of that rule is so
result() {
	true_of "$W/check.json" 'any(.[0].checks[]; .id == $id and .result == $result)' --arg id "$1" --arg result "$2"
}

test_a_clean_machine_gives_no_alarm() {
	local status=0
	check_json || status=$?
	[ $status = 0 ] || { jq -c '.checks[] | select(.result == "fail" or .result == "warn")' "$W/check.json"; return 1; }
	result host-answers pass
	result job-leftovers pass
	"$R" check --deadline 20 | grep '^RDMA OK - 2 of 2 ports active, '
}

test_without_root_neither_alarm_nor_lie() {
	local status=0
	setpriv --reuid 65534 --regid 65534 --clear-groups "$R" check --deadline 20 --json >"$W/check.json" || status=$?
	[ $status = 0 ] || { jq -c '.errors, [.checks[] | select(.observed // "" | test("read failed"))][0]' "$W/check.json"; return 1; }
	result roce-firewall unknown || result roce-firewall pass
	result job-leftovers pass
}

test_two_in_one_subnet() {
	ip address add 10.1.0.2/24 dev v1
	sysctl -qw net.ipv4.conf.all.rp_filter=1
	local status=0
	check_json || status=$?
	ip address del 10.1.0.2/24 dev v1
	sysctl -qw net.ipv4.conf.all.rp_filter=0
	[ $status = 1 ]
	result rp-filter warn
	result arp-flux warn
	check_json
	result rp-filter skip
}

test_an_address_that_is_there_twice() {
	ip address add 10.1.0.1/32 dev v1
	local status=0
	check_json || status=$?
	ip address del 10.1.0.1/32 dev v1
	[ $status = 2 ]
	result duplicate-address fail
	check_json
	result duplicate-address pass
}

test_a_neighbour_that_does_not_answer() {
	ip neigh add 10.1.0.77 dev v0 nud failed || skip "this kernel does not take a failed neighbour"
	ip neigh show dev v0 | grep -q FAILED || skip "the failed neighbour went at once"
	check_json || :
	ip neigh flush dev v0 nud all
	ip neigh del 10.1.0.77 dev v0 2>/dev/null || :
	result neighbour-failed warn
	check_json
	result neighbour-failed pass
}

test_a_firewall_that_drops_roce() {
	command -v nft >/dev/null || skip "no nft here"
	nft -f - <<'NFT' || skip "nftables does not work here"
table inet filter { chain input { type filter hook input priority 0; policy accept; udp dport 4791 drop; }; }
NFT
	local status=0
	check_json || status=$?
	nft delete table inet filter
	[ $status = 1 ]
	result roce-firewall warn
	check_json
	result roce-firewall pass
}

# The processes that hold queue pairs are alive: nobody's leftovers. In a job's control group, with --exclusive, they are.
test_queue_pairs_of_a_job() {
	mkdir -p /sys/fs/cgroup/system.slice/slurmstepd.scope/job_4711/step_0
	(
		echo $BASHPID >/sys/fs/cgroup/system.slice/slurmstepd.scope/job_4711/step_0/cgroup.procs
		exec ibv_rc_pingpong -d rxe0 -g 1 >/dev/null 2>&1
	) &
	local server=$! status=0
	until_true 20 has_qp
	check_json
	result job-leftovers pass
	check_json --exclusive || status=$?
	kill $server
	wait $server || :
	[ $status = 1 ]
	result job-leftovers warn
	true_of "$W/check.json" 'any(.[0].checks[]; .id == "job-leftovers" and (.observed | contains("slurm:4711")))'
	until_true 20 no_qp
	check_json --exclusive
}

has_qp() { rdma resource show qp | grep -q 'comm ibv_rc_pingpong'; }
no_qp() { ! has_qp; }

test_a_read_that_hangs() {
	tests/hang /sys/class/infiniband/rxe0/ports/1/state >"$W/hang" &
	local hang=$! begin took
	until_true 20 test -s "$W/hang"
	grep -q ready "$W/hang" || skip "$(cat "$W/hang")"
	begin=$(now)
	"$R" check --deadline 4 --json >"$W/check.json" || :
	took=$(($(now) - begin))
	kill $hang
	wait $hang || :
	result host-answers warn
	true_of "$W/check.json" 'any(.[0].errors[]; .object | endswith("rxe0/ports/1/state"))'
	# The other device is judged as ever.
	true_of "$W/check.json" '[.[0].checks[] | select(.result == "fail")] == []'
	result job-leftovers pass
	[ "$took" -lt 20000 ]
	check_json
	result host-answers pass
}
