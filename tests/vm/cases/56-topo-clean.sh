# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# topo-check on a host with two soft-RoCE devices: no alarm while all is well; links, addresses, settings, limits broken and
# mended. A machine of its own: what other tests leave in its counters and its log would alarm, and rightly.
# kernels: 6.12
# asked: 6.1 7.x
# turn: 1
# boot: clean

prepare() {
	[ -e /sys/class/infiniband/rxe1 ] || . tests/vm/guest/rxe-up
}

# The worst result of the rule.
says() { # RULE RESULT [ARG…]
	local rule=$1 want=$2 got
	shift 2
	"$R" topo-check --only "$rule" --json "$@" >"$W/topo.json" 2>"$W/topo.err" || :
	got=$(jq -r --arg rule "$rule" '[.checks[] | select(.id == $rule)] | first | .result' "$W/topo.json")
	[ "$got" = "$want" ] && return
	echo "$rule: $got, wanted $want"
	cat "$W/topo.err"
	jq -c '.checks[]' "$W/topo.json" | head -5
	return 1
}

test_no_false_alarm() {
	# Both ends of the pair are in one subnet of one namespace, which no real host would have.
	"$R" topo-check --json --skip arp-flux,rp-filter,rail-route >"$W/clean.json" || :
	true_of "$W/clean.json" 'all(.[0].checks[]; .result != "warn" and .result != "fail") and .[0].status == 0'
	"$R" topo-check --skip arp-flux,rp-filter,rail-route | head -1 | grep -q '0 critical, 0 warnings'
}

test_link_down() {
	says port-state pass
	ip link set v0 down
	until_true 20 says port-state fail
	says roce-netdev fail
	ip link set v0 up
	until_true 20 says port-state pass
	until_true 20 says roce-netdev pass
}

mtu_of() {
	"$R" nic-map --json | jq -e --arg netdev "$1" --argjson mtu "$2" 'any(.nics[]; .netdev == $netdev and .mtu_bytes == $mtu)'
}

# Soft devices sit on interfaces of any kind, and are no twins: what changed is shown, and nobody is blamed.
test_mtu_changed() {
	mtu_of v1 1024
	ip link set v1 mtu 600
	until_true 10 mtu_of v1 512
	says mtu-uniform skip
	ip link set v1 mtu 1500
	until_true 10 mtu_of v1 1024
}

test_address_removed() {
	says gid-usable pass
	ip address flush dev v1
	until_true 20 says gid-usable fail
	ip address add 10.9.0.2/24 dev v1
	until_true 20 says gid-usable pass
}

test_rp_filter_set() {
	local before
	before=$(cat /proc/sys/net/ipv4/conf/v0/rp_filter)
	sysctl -qw net.ipv4.conf.v0.rp_filter=0 net.ipv4.conf.v1.rp_filter=0 net.ipv4.conf.all.rp_filter=0
	says rp-filter pass
	sysctl -qw net.ipv4.conf.v0.rp_filter=1
	says rp-filter warn
	sysctl -qw "net.ipv4.conf.v0.rp_filter=$before"
}

test_memlock_lowered() {
	cp "$(command -v sleep)" /run/slurmd
	(ulimit -l unlimited && exec /run/slurmd 1000) &
	until_true 10 pgrep -x slurmd
	says memlock pass
	prlimit --pid $! --memlock=65536:65536
	says memlock fail
	jq -e '.checks[0].subject | startswith("slurmd, process ")' "$W/topo.json"
	# The limit does not hold for a process that has CAP_IPC_LOCK, as root's have; what it starts may have it not.
	says memlock pass --pid $!
	kill $!
	(ulimit -l 64 && exec setpriv --inh-caps -ipc_lock --bounding-set -ipc_lock /run/slurmd 1000) &
	until_true 10 says memlock fail --pid $!
	kill $!
}

test_device_file_for_root_only() {
	says dev-mode pass
	says dev-infiniband pass
	chmod 0600 /dev/infiniband/uverbs0
	says dev-mode warn
	mv /dev/infiniband/uverbs0 /dev/infiniband/away
	says dev-infiniband fail
	mv /dev/infiniband/away /dev/infiniband/uverbs0
	chmod 0666 /dev/infiniband/uverbs0
	says dev-mode pass
}

# An interface cannot be moved from under soft-RoCE, but who looks can stand elsewhere: devices are seen, interfaces are not.
test_interface_of_another_namespace() {
	says gid-netns pass
	ip netns add elsewhere
	ip netns exec elsewhere "$R" topo-check --only gid-netns --json >"$W/elsewhere.json" || :
	ip netns delete elsewhere
	true_of "$W/elsewhere.json" '.[0].checks | length == 2 and all(.[]; .result == "fail")'
	says gid-netns pass
}
