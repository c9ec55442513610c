# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
# nic-map on a machine with two NUMA nodes, three host bridges, switches behind switches, NICs with soft-RoCE and stand-ins
# for accelerators. Display devices become NVIDIA's by sysfs files that are bound over: 22:00.0 and the like are found by
# their place, not by their number.
# kernels: 6.12
# asked: 6.1 7.x
# turn: 1
# boot: pci
# qemu: -machine q35 -object memory-backend-ram,id=m0,size=768M -object memory-backend-ram,id=m1,size=768M
# qemu: -smp 2,sockets=2,cores=1,threads=1
# qemu: -numa node,nodeid=0,cpus=0,memdev=m0 -numa node,nodeid=1,cpus=1,memdev=m1
# qemu: -device pxb-pcie,id=pxb0,bus_nr=32,bus=pcie.0,numa_node=0 -device pxb-pcie,id=pxb2,bus_nr=64,bus=pcie.0,numa_node=0
# qemu: -device pxb-pcie,id=pxb1,bus_nr=96,bus=pcie.0,numa_node=1
# One root port with a switch: NIC a, accelerator A, and below another switch accelerator B and NIC b.
# qemu: -device pcie-root-port,id=rp0,bus=pxb0,chassis=10,slot=10,x-speed=16,x-width=16 -device x3130-upstream,id=up0,bus=rp0
# qemu: -device xio3130-downstream,id=dn00,bus=up0,chassis=20,slot=20,addr=0
# qemu: -device xio3130-downstream,id=dn01,bus=up0,chassis=21,slot=21,addr=1
# qemu: -device xio3130-downstream,id=dn02,bus=up0,chassis=22,slot=22,addr=2
# qemu: -netdev user,id=na -device e1000e,id=nica,netdev=na,mac=52:54:00:00:00:0a,bus=dn00,romfile=
# qemu: -device bochs-display,bus=dn01
# qemu: -device x3130-upstream,id=up0b,bus=dn02
# qemu: -device xio3130-downstream,id=dn03,bus=up0b,chassis=23,slot=23,addr=0
# qemu: -device xio3130-downstream,id=dn04,bus=up0b,chassis=24,slot=24,addr=1
# qemu: -device bochs-display,bus=dn03
# qemu: -netdev user,id=nb -device e1000e,id=nicb,netdev=nb,mac=52:54:00:00:00:0b,bus=dn04,romfile=
# NIC c: another root port of the same host bridge. NIC d: another host bridge of the same node.
# qemu: -device pcie-root-port,id=rp0c,bus=pxb0,chassis=11,slot=11
# qemu: -netdev user,id=nc -device e1000e,id=nicc,netdev=nc,mac=52:54:00:00:00:0c,bus=rp0c,romfile=
# qemu: -device pcie-root-port,id=rp2,bus=pxb2,chassis=12,slot=12
# qemu: -netdev user,id=nd -device e1000e,id=nicd,netdev=nd,mac=52:54:00:00:00:0d,bus=rp2,romfile=
# The other node: NIC e and accelerator C below one switch.
# qemu: -device pcie-root-port,id=rp1,bus=pxb1,chassis=13,slot=13 -device x3130-upstream,id=up1,bus=rp1
# qemu: -device xio3130-downstream,id=dn10,bus=up1,chassis=25,slot=25,addr=0
# qemu: -device xio3130-downstream,id=dn11,bus=up1,chassis=26,slot=26,addr=1
# qemu: -netdev user,id=ne -device e1000e,id=nice,netdev=ne,mac=52:54:00:00:00:0e,bus=dn10,romfile=
# qemu: -device bochs-display,bus=dn11

. tests/vm/guest/pci-up

prepare() {
	pci_up && "$R" nic-map --json >"$W/map.json"
}

of_map() {
	true_of "$W/map.json" ".[0] | $1"
}

# The accelerators are A, B, C in PCI order.
path() { # GPU NIC PATH
	of_map ".gpus[$1].pci as \$g | any(.paths[]; .gpu == \$g and .nic == \"rxe_nic$2\" and .path == \"$3\")"
}

test_every_distance() {
	path 0 a PIX
	path 0 b PXB
	path 0 c PHB
	path 0 d NODE
	path 0 e SYS
	path 1 a PXB
	path 1 b PIX
	path 1 c PHB
	path 1 d NODE
	path 1 e SYS
	path 2 a SYS
	path 2 b SYS
	path 2 c SYS
	path 2 d SYS
	path 2 e PIX
}

test_accelerators_not_the_consoles() {
	of_map '[.gpus[] | .vendor] == ["NVIDIA", "NVIDIA", "NVIDIA"]'
	of_map '[.gpus[].numa_node] == [0, 0, 1]'
	of_map 'all(.gpus[]; .name == null or (.name | contains("H100")))'
}

test_interfaces_nodes_and_gids() {
	of_map '[.nics[] | .netdev] | sort == ["nica", "nicb", "nicc", "nicd", "nice"]'
	of_map 'all(.nics[]; .ibdev == "rxe_" + .netdev and .via == "netdev" and .state == "ACTIVE" and .driver == "e1000e")'
	of_map '[.nics[] | select(.numa_node == 1) | .netdev] == ["nice"]'
	of_map 'all(.nics[]; .gid_type == "RoCE v2" and (.ip | startswith("10.1.")) and .mtu_bytes == 1024)'
	local netdev
	for netdev in nica nicb nicc nicd nice; do
		of_map "any(.nics[]; .netdev == \"$netdev\" and .pci == \"$(basename "$(readlink "/sys/class/net/$netdev/device")")\")"
	done
}

test_assignment() {
	of_map '[.assignment.nvshmem[] | .nics] == [["rxe_nica"], ["rxe_nicb"], ["rxe_nice"]]'
	of_map '[.assignment.nccl[] | .nics[0]] | .[0] == "rxe_nica" and .[1] == "rxe_nicb" and .[2] == "rxe_nice"'
}

test_path_lists_every_bridge() {
	"$R" nic-map --path 0 rxe_nicb --json >"$W/path.json"
	true_of "$W/path.json" '.[0].bridges | map(.kind) ==
		["endpoint", "switch, downstream", "switch, upstream", "switch, downstream", "switch, upstream",
		 "switch, downstream", "endpoint"]'
	"$R" nic-map --path 0 rxe_nice --json >"$W/far.json"
	true_of "$W/far.json" '.[0].bridges | map(select(.kind == "root port")) | length == 2 and all(.[]; .acs == "off")'
}

test_topology_file_gives_the_same() {
	"$R" nic-map --nccl-xml >"$W/topo.xml"
	"$R" --from "$W/topo.xml" nic-map --json >"$W/topo.json"
	jq -r '.paths[] | [.gpu, .nic, .nccl_path] | @tsv' "$W/map.json" | sort >"$W/a"
	jq -r '.paths[] | [.gpu, .nic, .nccl_path] | @tsv' "$W/topo.json" | sort >"$W/b"
	diff "$W/a" "$W/b"
}

test_capture_gives_the_same() {
	"$R" capture "$W/host.tar.zst"
	"$R" --from "$W/host.tar.zst" nic-map --json | jq 'del(.time, .source, .read_at)' >"$W/b"
	"$R" nic-map --json | jq 'del(.time, .source)' >"$W/a"
	diff "$W/a" "$W/b"
}

# The addresses come from netlink, here out of the recording.
test_a_host_compared_with_itself() {
	"$R" --from "$W/host.tar.zst" nic-map --compare "$W/host.tar.zst" --json >"$W/rails.json"
	true_of "$W/rails.json" '.[0] | .findings == [] and (.rails | length) == 6 and
		all(.rails[]; .subnet | test("^10\\.1\\.[1-5]\\.0/24$"))'
}

# An interface cannot be moved from under soft-RoCE, but who looks can stand elsewhere: devices are seen, interfaces are not.
test_interface_of_another_namespace() {
	ip netns add elsewhere
	ip netns exec elsewhere "$R" nic-map --json >"$W/elsewhere.json"
	ip netns delete elsewhere
	true_of "$W/elsewhere.json" '.[0].nics | length == 5 and
		all(.[]; .netns == "another" and .ip == null and .gid == null and .gid_index == null and .state == "ACTIVE")'
	true_of "$W/elsewhere.json" '.[0].nics | all(.[]; .netdev == .ibdev[4:])'
	of_map 'all(.nics[]; .netns == "this")'
}

test_live_view_survives_a_removal() {
	local at
	at=$(readlink -f /sys/class/net/nice/device)
	TERM=screen tmux -L rd new-session -d -x 80 -y 24 "$R nic-map --live -i 3; echo ended with \$? >$W/ended; sleep 60"
	until_true 60 on_screen rxe_nice
	echo 1 >"$at/remove"
	until_true 60 on_screen '^- rxe_nice'
	on_screen '^4 of 4' # as in the heading: what was removed is shown, not counted
	until_true 60 off_screen rxe_nice
	captured nic-map
	if on_screen 'rxe_nice\|cannot'; then fail "$(tmux -L rd capture-pane -p)"; fi
	tmux -L rd send-keys q
	until_true 20 grep -q 'ended with 0' "$W/ended"
	tmux -L rd kill-server
}
