# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# topo-check on real PCI bridges, with stand-ins for accelerators: the right rule fires, and stops when it is mended.
# kernels: 6.12
# asked: 6.1 7.x
# turn: 1
# boot: pci

. tests/vm/guest/pci-up

prepare() {
	pci_up
}

# result RULE [ARG…]: the worst that the rule says, and about whom
result() {
	local rule=$1
	shift
	"$R" topo-check --only "$rule" --json "$@" >"$W/topo.json" 2>"$W/topo.err" || :
	jq -r --arg rule "$rule" '[.checks[] | select(.id == $rule)] | first | .result' "$W/topo.json"
}

# says RULE RESULT [ARG…]
says() {
	local rule=$1 want=$2 got
	shift 2
	got=$(result "$rule" "$@")
	[ "$got" = "$want" ] && return
	echo "$rule: $got, wanted $want"
	cat "$W/topo.err"
	jq -c '.checks[]' "$W/topo.json" | head -5
	return 1
}

# faulty RULE: it finds something
faulty() {
	local got
	got=$(result "$1")
	echo "$1: $got"
	[[ $got == @(fail|warn|note) ]]
}

# repaired RULE: the commands of its fixes, as they would be pasted, end what it found
repaired() {
	jq -r '[.checks[] | .fix // empty] | unique[]' "$W/topo.json" >"$W/fix"
	cat "$W/fix"
	[ -s "$W/fix" ]
	bash -e "$W/fix"
	until_true 20 says "$1" pass
}

# The root port above a NIC.
root_port() {
	readlink -f "/sys/class/net/$1/device" | grep -oE '/pci[0-9a-f:]+/[0-9a-f:.]+' | head -1 | sed 's,.*/,,'
}

# Without its nearest NICs an accelerator goes over two root ports, and these can redirect.
test_acs_on_and_off() {
	local port
	port=$(root_port nicc)
	rdma link delete rxe_nica
	rdma link delete rxe_nicb
	says acs-redirect pass
	setpci -s "$port" ECAP_ACS+6.w=001c
	says acs-redirect warn
	jq -e --arg port "$port" '.checks[0].subject == $port and (.checks[0].fix | contains("setpci -s " + $port))' "$W/topo.json"
	[ "$(jq .status "$W/topo.json")" = 1 ]
	repaired acs-redirect
	rdma link add rxe_nica type rxe netdev nica
	rdma link add rxe_nicb type rxe netdev nicb
	until_true 20 all_active
}

# Those commands that do no harm here.
test_fixes_end_what_was_found() {
	local rule nic one
	one=$("$R" nic-map --json | jq -r '[.nics[] | select(.role == "compute") | .netdev // .ibdev[4:]] | first')
	ip link set "$one" down
	until_true 20 faulty port-state
	repaired port-state
	for rule in dev-mode arp-flux rp-filter roce-mtu; do
		case $rule in
		dev-mode) chmod 600 /dev/infiniband/uverbs* ;;
		arp-flux) ip address add 10.1.1.99/24 dev nicd && sysctl -qw net.ipv4.conf.all.arp_ignore=0 net.ipv4.conf.all.arp_announce=0 ;;
		rp-filter) sysctl -qw net.ipv4.conf.all.rp_filter=1 ;;
		roce-mtu) ip link set "$one" mtu 1500 ;;
		esac
		until_true 20 faulty $rule
		repaired $rule
	done
	for nic in nica nicb nicc nicd nice; do ip link set $nic mtu 1500; done
	ip address del 10.1.1.99/24 dev nicd
	until_true 20 all_active
}

test_without_privilege_unknown_never_pass() {
	chmod 755 "$W"
	setpriv --reuid 65534 --regid 65534 --clear-groups "$R" topo-check --json >"$W/nobody.json" || :
	true_of "$W/nobody.json" '.[0].checks | map(select(.id == "acs-redirect")) | length > 0 and
		all(.[]; .result == "unknown" and (.observed | contains("root")))'
}

test_module_missing() {
	cp /proc/modules "$W/modules"
	mount --bind "$W/modules" /proc/modules
	echo "nvidia 1 0 - Live 0x0 (POE)" >>"$W/modules"
	# Nothing tells whether that is the flavour that does without.
	says peermem unknown
	echo "nvidia_peermem 1 0 - Live 0x0 (OE)" >>"$W/modules"
	says peermem pass
	echo "nv_peer_mem 1 0 - Live 0x0 (OE)" >>"$W/modules"
	says peermem-old fail
	umount /proc/modules
}

test_accelerator_without_a_driver() {
	says gpu-driver fail
	says numa-node pass
	says gpu-nic-socket pass
}

# What was learnt holds, until something goes.
test_profile() {
	"$R" topo-check --learn "$W/profile" 2>/dev/null
	says profile-nic pass --profile "$W/profile"
	says profile-value pass --profile "$W/profile"
	rdma link delete rxe_nice
	says profile-nic fail --profile "$W/profile"
	jq -e 'any(.checks[]; .subject == "NIC rxe_nice" and .observed == "missing")' "$W/topo.json"
	rdma link add rxe_nice type rxe netdev nice
	until_true 20 all_active
	says profile-nic pass --profile "$W/profile"
	ip link set nicd mtu 1400
	until_true 20 says profile-value warn --profile "$W/profile"
	jq -e '.checks[0].subject == "port.rxe_nicd/1.netdev_mtu_bytes" and .checks[0].observed == "1400"' "$W/topo.json"
	ip link set nicd mtu 1500
	until_true 20 says profile-value pass --profile "$W/profile"
}

test_recorded_host_gives_the_same() {
	"$R" capture "$W/topo.tar.zst"
	"$R" --from "$W/topo.tar.zst" topo-check --json | jq -c '[.checks[] | select(.id | startswith("log-") | not) |
		[.id, .result]] | sort' >"$W/b" || :
	"$R" topo-check --json | jq -c '[.checks[] | select(.id | startswith("log-") | not) | [.id, .result]] | sort' >"$W/a" || :
	diff "$W/a" "$W/b"
}
