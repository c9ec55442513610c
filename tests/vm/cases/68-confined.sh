# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
# Files of others are parsed without privileges; what is said of this host by way of the opener is what is said without it.
# kernels: 6.12
# asked: 6.1 7.x
# sample 6.1: *
# sample 7.x: *
# turn: 4
# boot: check

prepare() {
	modprobe -qa crc32_generic crc32c_generic || :
	modprobe -a ib_core ib_uverbs rdma_cm rdma_ucm udp_tunnel ip6_udp_tunnel rdma_rxe || return
	local n
	for n in 0 1; do
		[ ! -e "/sys/class/infiniband/rxe$n" ] || continue # of check, where both run in one boot
		ip link add "v$n" type veth peer name "p$n" && ip link set "p$n" up &&
			ip address add "10.$((n + 1)).0.1/24" dev "v$n" && ip link set "v$n" up &&
			rdma link add "rxe$n" type rxe netdev "v$n" || return
	done
	until_true 30 both_active
	"$R" capture "$W/host.tar.zst" >/dev/null && mkdir -m 0700 "$W/closed-to-others" && "$R" capture "$W/closed-to-others/host.tar" >/dev/null &&
		"$R" topo-check --learn >"$W/profile" && "$R" counters --save "$W/saved" >/dev/null
}

both_active() {
	[ "$(cat /sys/class/infiniband/rxe*/ports/1/state | grep -c ACTIVE)" = 2 ] &&
		grep -q 0a01:0001 /sys/class/infiniband/rxe0/ports/1/gids/*
}

# confined COMMAND…: it is, and its output is in $W/out
confined() {
	"$@" >"$W/out" 2>"$W/err" || [ $? -le 2 ] || { cat "$W/err"; return 1; }
	grep -q "confined: .*no capabilities, no new privileges, .*seccomp$" "$W/err" || { cat "$W/err"; return 1; }
	if grep "dropped its privileges" "$W/out" "$W/err"; then return 1; fi
}

test_a_bundle() {
	confined "$R" --from "$W/host.tar.zst" -v nic-map
	grep -q rxe0 "$W/out"
	grep -q "confined: uid 65534" "$W/err"
	confined "$R" --from "$W/host.tar.zst" -v check
	grep -q " ports=2;.* active=2;" "$W/out"
	confined "$R" --from "$W/closed-to-others/host.tar" -v qp-state
	confined "$R" --from "$W/host.tar.zst" -v counters --save "$W/again"
	[ -s "$W/again" ]
	confined "$R" -v diff "$W/host.tar.zst" "$W/closed-to-others/host.tar"
}

test_as_a_user() {
	chmod 0644 "$W/host.tar.zst"
	confined setpriv --reuid 65533 --regid 65533 --clear-groups "$R" --from "$W/host.tar.zst" -v check --deadline 20
	grep -q " ports=2;.* active=2;" "$W/out"
}

# Rows and results, but for what differs from moment to moment.
facts() {
	jq 'del(.time, .read_at, .errors) | .checks? |= (. // [] | map(select(.id | startswith("profile") | not) | {id, subject, result, observed}))' "$W/out"
}

test_this_host_through_the_opener() {
	"$R" topo-check --json >"$W/out" || [ $? -le 2 ]
	facts | jq .checks >"$W/direct"
	confined "$R" -v topo-check --json --profile "$W/profile"
	facts | jq .checks >"$W/through"
	diff "$W/direct" "$W/through"
	[ "$(jq length "$W/direct")" -gt 50 ]
	"$R" nic-map --json >"$W/out"
	facts | jq 'del(.checks, .findings)' >"$W/direct"
	confined "$R" -v nic-map --json --profile "$W/profile"
	facts | jq 'del(.checks, .findings)' >"$W/through"
	diff "$W/direct" "$W/through"
}

test_check_with_files_of_others() {
	confined "$R" -v check --deadline 20 --profile "$W/profile" --since "$W/saved" --textfile "$W/x.prom"
	grep -q " ports=2;.* active=2;" "$W/out"
	grep -q '^rdmadiag_check_ports' "$W/x.prom"
}

test_counters_and_differences() {
	confined "$R" -v counters --since "$W/saved"
	confined "$R" -v diff "$W/host.tar.zst" live
	[ "$(grep -cE "^(device|port) " "$W/out")" = 0 ] || { cat "$W/out"; return 1; }
}

test_nothing_stays() {
	[ -z "$(pgrep -x rdmadiag)" ] || { ps -ef | grep '[r]dmadiag'; return 1; }
}
