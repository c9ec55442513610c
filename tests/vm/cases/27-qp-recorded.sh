# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# What a running recorder keeps, as other commands find it.
# kernels: 6.12
# asked: 6.1 7.x
# sample 6.1: peer-timers-and-age
# sample 7.x: peer-timers-and-age
# turn: 7
# boot: qp

prepare() {
	{ [ -e /sys/class/infiniband/rxe0 ] || . tests/vm/guest/rxe-up; } && . tests/vm/cases/qp.sh
}

# shown EXPRESSION [GLOBAL-OPTION…]: of queue pair $a of rxe0, in one look without --trace
shown() {
	local expression=$1
	shift
	"$R" --json "$@" qp-state --no-probe >"$W/look.json"
	jq -e --argjson a "$a" ".qps[] | select(.ibdev == \"rxe0\" and .lqpn == \$a) | $expression" "$W/look.json" >/dev/null && return
	echo "not shown: $expression"
	jq -c '.qps[], .errors' "$W/look.json"
	return 1
}

NOTHING='.peer == null and .peer_source == null and .timeout == null and .state_age_kind != "exact" and .udp_sport == null'
ALL='.peer == "10.9.0.2" and .peer_source == "recorder" and .timeout == 14 and .retry_cnt == 7 and .min_rnr_timer == 12 and
	.state == "RTS" and .state_age_kind == "exact" and .state_seconds > 0 and .path_mtu_bytes == 1024 and .udp_sport >= 49152'

# Of a program that connects while it runs, everything; after it ended, nothing.
test_peer_timers_and_age() {
	record all
	play pair
	shown "$ALL"
	"$R" --json qp-state --no-probe --by peer >"$W/by.json"
	jq -e '[.groups[].group] | sort == ["10.9.0.1", "10.9.0.2"]' "$W/by.json"
	# Ages are exact from the first of several samples on.
	"$R" --json qp-state -i 0.5 -c 2 >"$W/twice.json"
	jq -es --argjson a "$a" 'all(.[]; .qps[] | select(.ibdev == "rxe0" and .lqpn == $a) | .state_age_kind == "exact")' "$W/twice.json"
	"$R" capture "$W/recorded.tar.gz"
	end all
	shown "$ALL" --from "$W/recorded.tar.gz"
	shown "$NOTHING"
}

# With a bundle that was redacted: the same, without the address.
test_redacted() {
	record all
	play pair
	"$R" capture --redact "$W/redacted.tar.gz"
	shown '.peer_source == "recorder" and .peer != null and .peer != "10.9.0.2" and .timeout == 14' --from "$W/redacted.tar.gz"
	tar -xzOf "$W/redacted.tar.gz" --wildcards '*bpf/rdmadiag_qps' >"$W/maps"
	[ -s "$W/maps" ]
	! LC_ALL=C grep -qP '\xff\xff\x0a\x09\x00\x02' "$W/maps"
}

# A recorder that began later saw none of the calls.
test_older_than_the_recorder() {
	play pair
	record all
	shown "$NOTHING"
}

# The program that ended is forgotten, also if its number is used again.
test_destroyed() {
	local first
	record all
	play pair
	first=$a
	kill "${pid[pair]}"
	saw all '.kind == "destroy" and .ibdev == "rxe0" and .lqpn == $a'
	"$R" --json qp-state >"$W/look.json"
	jq -e --argjson a "$first" '[.qps[] | select(.lqpn == $a)] == []' "$W/look.json"
	play again --gid-a 50
	shown '.state == "INIT" and .state_age_kind == "exact" and .peer == null and .timeout == null and .last_errno == "ENODATA"'
}

# It failed without a call of the program: the peer is still known.
test_peer_of_a_failed_one() {
	record all
	play pair --retry 3
	kill -KILL "$peer"
	until_true 30 said pair 'A wc 12'
	shown '.state == "ERR" and .peer == "10.9.0.2" and .timeout == 14 and .retry_cnt == 3'
}

# Killed, it leaves nothing that others could find.
test_killed() {
	record all
	play pair
	shown "$ALL"
	kill -KILL "${pid[all]}"
	wait "${pid[all]}" || :
	gone
	shown "$NOTHING"
}

# The one that began first knows the peer, whichever is asked.
test_two_recorders() {
	record all
	play pair
	record later
	shown "$ALL"
	end all
	shown "$NOTHING"
}

# Where nothing else has the peer, the connections of the process are shown, without a claim; of another process nothing.
test_tcp_connections() {
	ip netns add far
	ip link add w0 type veth peer name w1 netns far
	ip addr add 10.8.0.1/24 dev w0
	ip link set w0 up
	ip -n far addr add 10.8.0.2/24 dev w1
	ip -n far link set w1 up
	ip netns exec far perl -MIO::Socket::INET -e 'IO::Socket::INET->new(Listen => 9, LocalAddr => "10.8.0.2:8000") and sleep 1000' &
	until_true 60 bash -c 'exec 3<>/dev/tcp/10.8.0.2/8000' 2>/dev/null
	printf '#!/bin/bash\nexec 3<>/dev/tcp/10.8.0.2/8000\nexec %s "$@"\n' "$PWD/$PLAY" >"$W/play"
	chmod +x "$W/play"
	play other
	PLAY=$W/play play pair
	shown '.peer == null and .peer_source == null and .process_tcp_peers == "10.8.0.2"'
	"$R" --json qp-state --no-probe >"$W/look.json"
	jq -e '[.qps[] | select(.process_tcp_peers == "10.8.0.2")] | length == 2' "$W/look.json"
	jq -e '[.qps[] | select(.type == "RC" and .process_tcp_peers == "")] | length == 2' "$W/look.json"
	"$R" qp-state --no-probe --by peer >"$W/by.out" 2>&1
	grep -q 'process-tcp-peers\|TCP connections to 10.8.0.2' "$W/by.out"
	setpriv --reuid 65534 --clear-groups "$R" --json qp-state >"$W/look.json"
	jq -e '.qps | all(.process_tcp_peers == null)' "$W/look.json"
	"$R" capture --no-probe "$W/tcp.tar.gz"
	"$R" capture --no-probe --redact "$W/tcp-redacted.tar.gz"
	shown '.process_tcp_peers == "10.8.0.2"' --from "$W/tcp.tar.gz"
	shown '.process_tcp_peers != "10.8.0.2" and (.process_tcp_peers | length > 0)' --from "$W/tcp-redacted.tar.gz"
}

# Another user cannot read it: then nothing is known, and nothing fails.
test_without_root() {
	record all
	play pair
	setpriv --reuid 65534 --clear-groups "$R" --json qp-state >"$W/look.json"
	jq -e --argjson a "$a" '.qps[] | select(.ibdev == "rxe0" and .lqpn == $a) | .state == "RTS" and '"$NOTHING" "$W/look.json"
	jq -e '.errors == []' "$W/look.json"
}
