# SPDX-License-Identifier: GPL-2.0-or-later
"""The rows of twins.py: (what, host, steps, expectation), by kind of mistake. What is printed where: twinrows.py."""
from hostgen import Port, Rdma, port_gids, put_class, render_net, render_rdma
from kinds import V1
from netlink import applications, ets, pfc
from twinrows import *

KIND = "GIDs that cannot be read, and that are zero"
rows(KIND,
     ("one entry gives EIO", "hgx-b200", gids_fail("mlx5_0", [3], "EIO"), "unknown gid-usable"),
     ("all entries give EACCES", "mi300x-pollara", gids_fail("rocep9s0", range(12)), "unknown gid-usable"),
     ("types give EACCES", "h100-roce-lag", gids_fail("mlx5_bond_0", range(12), what="gid_attrs/types"), "unknown gid-usable gid-v2"),
     ("the table cannot be listed, EMFILE", "oci-h100", lambda m: unlisted(f"{m.ib('mlx5_3')}/ports/1/gids", "EMFILE")(m), "unknown gid-usable"),
     ("all entries give ENOMEM", "mi300x-thor2-ipv6", gids_fail("bnxt_re4", range(12), "ENOMEM"), "unknown gid-usable"),
     ("attributes of empty entries give EINVAL, as the kernel does", "kvm-h100", gids_fail("mlx5_0", range(4, 12), "EINVAL", "gid_attrs/types"), "quiet gid-usable gid-v2 gid-uniform"),
     ("the front-end port is the uplink of a switchdev NIC", "hgx-b200", gids("mlx5_9"), "quiet gid-usable"),
     ("the same, in a bridge", "hgx-b200", [bridged("enp90s0f1np1"), gids("mlx5_9")], "quiet gid-usable"),
     ("the table of a rail is zero that has a default route", "hgx-b200", [gateway("gpu3rdma0", "10.64.3.1"), gids("mlx5_3")], "critical gid-usable", {"words": "mlx5_3"}),
     ("a port without an address is one", "hpc-no-gpu", [gids("mlx5_1"), addrs("eno1np0")], "quiet gid-usable"),
     ("the table is zero", "hgx-b200", [gids("mlx5_3"), addrs("gpu3rdma0")], "critical gid-usable", {"words": "mlx5_3"}),
     ("the table is zero", "mi300x-pollara", [gids("rocep201s0"), addrs("enp201s0")], "critical gid-usable", {"words": "rocep201s0"}),
     ("the table is zero, and types of another give EINVAL where it is empty", "mi300x-thor2", [gids("bnxt_re5"), addrs("benic6p1"), gids_fail("bnxt_re0", range(4, 12), "EINVAL", "gid_attrs/types")], "critical gid-usable", {"words": "bnxt_re5"}),
     ("version 1 only", "h100-roce-lag", gid_attrs("mlx5_bond_0", "types", "IB/RoCE v1"), "warning gid-v2", {"words": "mlx5_bond_0"}),
     ("a virtual function has no node GUID", "kvm-h100", dev_put("mlx5_2", "node_guid", "0000:0000:0000:0000"), "warning node-guid", {"words": "mlx5_2"}),
     ("no address on one of sixteen", "oci-h100", addrs("rdma3"), "critical gid-usable", {"words": "mlx5_4"}))

KIND = "contents that the kernel never prints, and bad ones"
rows(KIND,
    ("/proc/modules empty", "mi300x-thor2", put("proc/modules", b""), "quiet amd-peer"),
    ("/proc/modules empty", "dgx-a100", [put("proc/modules", b""), put("sys/module/nvidia_peermem", None)], "quiet peermem"),
    ("vendor out of range", "hgx-b200", pci_put("mlx5_0", "vendor", "99999999999999999999"), "quiet nic-missing"),
    ("device out of range", "hgx-b200", pci_put("mlx5_0", "device", "0x1002100210021"), "quiet nic-missing"),
    ("subsystem device out of range", "hgx-b200", pci_put("mlx5_0", "subsystem_device", "0x10000"), "quiet nic-missing"),
    ("P_Key out of range", "dgx-h100", dev_put("mlx5_3", "ports/1/pkeys/0", "0x1ffff"), "quiet ib-pkey"),
    ("type of an IOMMU group is no word of the kernel", "h100-pure-ib", put("sys/kernel/iommu_groups/3/type", "garbage"), "quiet iommu-mode"),
     ("state of a port is garbage", "dgx-h100", dev_put("mlx5_0", "ports/1/state", "garbage"), "unknown port-state"),
     ("state of a port is empty", "dgx-a100", dev_put("mlx5_2", "ports/1/state", ""), "unknown port-state"),
     ("interfaces of GIDs are empty", "hgx-b200", gid_attrs("mlx5_0", "ndevs", ""), "quiet gid-netns gid-usable"),
     ("interfaces of GIDs are garbage", "mi300x-thor2", gid_attrs("bnxt_re1", "ndevs", "\x01\x7f?"), "quiet gid-netns gid-usable"),
     ("types of GIDs are garbage", "mi300x-pollara", gid_attrs("rocep9s0", "types", "RoCE v22"), "unknown gid-v2"),
     ("ibdev of a uverbs device is empty", "h100-4nic", [devices(6, 6), THIS_HOST, put("sys/class/infiniband_verbs/uverbs0/ibdev", "")], "unknown dev-infiniband"),
     ("ibdev of a uverbs device is garbage", "kvm-h100", [devices(8, 8), THIS_HOST, put("sys/class/infiniband_verbs/uverbs3/ibdev", "?!")], "unknown dev-infiniband"),
     ("class of a GPU is empty", "a100-nps4-shared", pci_put("GPU0", "class", ""), "quiet gpu-missing gpu-driver"),
     ("class of a GPU is garbage", "mi300x-thor2", pci_put("GPU2", "class", "accelerator"), "quiet gpu-missing gpu-driver"),
     ("vendor of a NIC is empty", "dgx-2", pci_put("mlx5_3", "vendor", ""), "quiet nic-missing nic-driver"),
     ("/proc/modules is empty", "dgx-a100", put("proc/modules", b""), "quiet peermem"),
     ("/proc/modules is garbage", "mi300x-pollara", put("proc/modules", "no such thing"), "unknown amd-peer"),
     ("link width is garbage", "hgx-b200", pci_put("mlx5_0", "current_link_width", "wide"), "quiet pcie-link-width nic-missing"),
     ("link layer is empty", "dgx-h100", dev_put("mlx5_3", "ports/1/link_layer", ""), "quiet link-layer-uniform port-state"),
     ("state of an interface is garbage", "oci-h100", net_put("rdma3", "operstate", "?"), "quiet roce-netdev"),
     ("a GID is garbage", "mi300x-thor2", dev_put("bnxt_re2", "ports/1/gids/3", "none"), "quiet gid-usable gid-uniform"),
     ("NUMA node of a GPU is garbage", "gb200", pci_put("GPU1", "numa_node", "near"), "quiet numa-node gpu-nic-socket"),
     ("version of the GPU driver is empty", "dgx-a100", put("proc/driver/nvidia/version", ""), "quiet peermem dmabuf"),
     ("limits are garbage", "dgx-a100", put("proc/2101/limits", "?"), "quiet memlock"),
     ("LID is garbage", "h100-pure-ib", dev_put("mlx5_0", "ports/1/lid", "0x"), "quiet ib-lid"),
     ("rate is garbage", "dgx-a100", dev_put("mlx5_0", "ports/1/rate", "fast"), "quiet port-speed-uniform pcie-bandwidth"),
     ("MTU of an interface is garbage", "oci-h100", net_put("rdma0", "mtu", "many"), "quiet roce-mtu mtu-uniform"),
     ("a port is down, another's state is garbage", "dgx-h100", [down("mlx5_5"), dev_put("mlx5_0", "ports/1/state", "garbage")], "critical port-state", {"words": "mlx5_5"}),
     ("an interface is in another network namespace", "hgx-b200", hide_net("gpu2rdma0"), "critical gid-netns", {"words": "mlx5_2"}),
     ("a device has no uverbs device", "h100-4nic", [devices(6, 6, only=range(1, 6)), THIS_HOST, put("sys/class/infiniband_verbs/uverbs0", None)], "critical dev-infiniband", {"words": "mlx5_0"}),
     ("a GPU has no driver", "mi300x-pollara", pci_put("GPU3", "driver", None), "critical gpu-driver"),
     ("peer memory not loaded, closed driver", "dgx-a100", without("nvidia_peermem"), "critical peermem"),
     ("the same, of cards whose driver gives no peer memory", "dgx-a100", [without("nvidia_peermem"), *(put(f"proc/driver/nvidia/gpus/0000:{bus}:00.0/information", "Model: NVIDIA GeForce RTX 4090") for bus in "07 0f 47 4e 87 90 b7 bd".split())], "warning gpu-geforce"),
     ("LID 0xffff on an active port", "h100-pure-ib", dev_put("mlx5_3", "ports/1/lid", "0xffff"), "critical ib-lid", {"words": "mlx5_3"}))

KIND = "what a rule needs and could not read, and bad values"
rows(KIND,
     ("a port without GIDs, interfaces cannot be listed", "hgx-b200", [gids("mlx5_8"), unlisted("sys/class/net"), refuse("route")], "unknown gid-usable"),
     ("a port without GIDs, interfaces give EIO", "hpc-no-gpu", [gids("mlx5_1"), unlisted("sys/class/net", "EIO"), refuse("route", None, "EIO"), fail("proc/net/fib_trie"), fail("proc/net/if_inet6")], "unknown gid-usable"),
     ("no BTF, no peer memory", "hgx-b200", [without("nvidia_peermem"), put("sys/kernel/btf/ib_uverbs", None)], "unknown peermem dmabuf"),
     ("no BTF", "mi300x-pollara", put("sys/kernel/btf/ib_uverbs", None), "unknown amd-peer"),
     ("DCB denied", "mi300x-thor2", [refuse("route", 78)], "unknown roce-lossless"),
     ("no rtnetlink", "oci-h100", refuse("route"), "unknown arp-flux rp-filter neighbour-failed roce-lossless"),
     ("64 bytes of configuration space", "dgx-h100", model(half_config), "unknown acs-redirect"),
     ("kernel log denied", "gb200", fail("dev/kmsg", "EPERM"), "unknown log-nic-health log-pcie-errors"),
     ("/proc/modules denied", "kvm-h100", fail("proc/modules"), "unknown peermem"),
     ("limits of the launcher denied", "dgx-2", fail("proc/2101/limits"), "unknown memlock"),
     ("no netlink, and a port down", "mi300x-thor2", [refuse("route"), down("bnxt_re2")], "critical port-state", {"words": "bnxt_re2"}),
     ("no BTF, no peer memory, closed driver", "a100-nps4-shared", [without("nvidia_peermem"), put("sys/kernel/btf/ib_uverbs", None)], "critical peermem"),
     ("an RDMA core without DMA-BUF, no peers", "mi300x-pollara", put("sys/kernel/btf/ib_uverbs", b"\x9f\xeb\x01\x00ib_umem_get\0"), "critical amd-peer"),
     ("log denied, ACS redirects", "dgx-h100", [fail("dev/kmsg", "EPERM"), acs("GPU0"), acs("mlx5_0")], "critical acs-redirect"),
     ("memlock of the launcher is 8 MiB", "dgx-2", put("proc/2101/limits", "Limit                     Soft Limit           Hard Limit           Units     \nMax locked memory         8388608              8388608              bytes     "), "critical memlock"))

KIND = "settings that providers publish, and bad ones"
rows(KIND,
     ("arp_ignore 1, arp_announce 2", "oci-h100", sysctl(arp_ignore=1, arp_announce=2, rp_filter=2), "quiet arp-flux rp-filter"),
     ("of the interfaces only", "oci-h100", [sysctl(arp_ignore=0, arp_announce=0), lambda m: [sysctl(**{f"rdma{n}__arp_ignore": 2, f"rdma{n}__arp_announce": 2})(m) for n in range(16)]], "quiet arp-flux rp-filter"),
     ("rp_filter 1, a network for each port", "kvm-h100", everywhere(rp_filter=1), "quiet rp-filter arp-flux"),
     ("rp_filter 1, point to point", "mi300x-thor2", everywhere(rp_filter=1), "quiet rp-filter arp-flux"),
     ("storage in the network of a rail, arp_ignore 1", "hgx-b200", [addrs("enp90s0f0np0", "10.64.0.50/24"), sysctl(arp_ignore=1, arp_announce=2, rp_filter=2)], "quiet arp-flux rp-filter"),
     ("rp_filter 1, IPv6 only", "mi300x-thor2-ipv6", everywhere(rp_filter=1), "quiet rp-filter arp-flux"),
     ("arp_announce 0: a note", "oci-h100", sysctl(arp_ignore=1, arp_announce=0), "note arp-flux"),
     ("ARP flux: arp_ignore 0", "oci-h100", sysctl(arp_ignore=0, arp_announce=0), "warning arp-flux"),
     ("rp_filter 1 for all", "oci-h100", everywhere(rp_filter=1), "warning rp-filter"),
     ("rp_filter 1 on one", "oci-h100", sysctl(rdma5__rp_filter=1), "warning rp-filter", {"words": "rdma5"}),
     ("arp_ignore 8: no answer at all", "oci-h100", sysctl(arp_ignore=8), "warning arp-flux"),
     ("rails in pairs in one network, arp_ignore 0", "hgx-b200", [addrs(f"gpu{n}rdma0", f"10.64.{n // 2}.{21 + n}/24") for n in range(8)], "warning arp-flux"))
settings(KIND,
         ("DSCP 10 and ECT(1), as set up there", "oci-h100", "NCCL_IB_TC=41 NCCL_IB_SL=0 NCCL_IB_GID_INDEX=3", "quiet env-tc-no-pfc env-gid-gone env-tc-is-dscp"),
         ("DSCP 26 and ECT(0)", "hgx-b200", "NCCL_IB_TC=106 NCCL_IB_GID_INDEX=3", "quiet env-tc-no-pfc env-tc-is-dscp"),
         ("DSCP 24, in priority 3 by its upper bits", "hgx-b200", "NCCL_IB_TC=96", "quiet env-tc-no-pfc env-tc-is-dscp"),
         ("a guest, whose host has the classes", "kvm-h100", "NCCL_IB_TC=136 NCCL_IB_SL=5 NCCL_IB_GID_INDEX=3 NCCL_IB_TIMEOUT=22 NCCL_IB_QPS_PER_CONNECTION=8", "quiet env-tc-no-pfc env-gid-gone"),
         ("control messages in a class of their own", "mi300x-pollara", "NCCL_IB_TC=104 NCCL_IB_FIFO_TC=192 NCCL_IB_GID_INDEX=1", "quiet env-tc-no-pfc env-gid-gone"),
         ("a DSCP in place of a traffic class", "hgx-b200", "NCCL_IB_TC=26", "warning env-tc-is-dscp"),
         ("more than eight bits", "mi300x-thor2", "NCCL_IB_TC=416", "warning env-out-of-range"),
         ("of a lossy priority", "h100-roce-lag", "NCCL_IB_TC=160", "warning env-tc-no-pfc"))

KIND = "variables newer than the rules, and misspelt ones"
settings(KIND,
         ("failing over, since NCCL 2.30", "dgx-h100", "NCCL_IB_RESILIENCY_PORT_FAILOVER=1 NCCL_IB_RESILIENCY_PORT_RECOVERY=1", "quiet env-unknown-name"),
         ("diagnostics of NCCL 2.32", "hgx-b200", "NCCL_RUN_DIAGNOSTICS=1 NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,DIAG", "quiet env-unknown-name"),
         ("transport of NVSHMEM 3.7", "dgx-a100", "NVSHMEM_REMOTE_TRANSPORT=gpunetio NVSHMEM_GPUNETIO_ENABLE_GDAKI=1", "quiet env-unknown-name env-rdma-off"),
         ("libfabric with several NICs, NVSHMEM 3.6", "aws-p5", "NVSHMEM_REMOTE_TRANSPORT=libfabric NVSHMEM_LIBFABRIC_PROVIDER=efa NVSHMEM_LIBFABRIC_MAX_NIC_PER_PE=4", "quiet env-unknown-name env-rdma-off"),
         ("a transport that nobody knows yet", "h100-pure-ib", "NVSHMEM_REMOTE_TRANSPORT=uet", "quiet env-rdma-off env-unknown-name"),
         ("a network that a plugin has", "kvm-h100", "NCCL_NET=gIB", "quiet env-rdma-off env-selects-nothing"),
         ("settings of NVLink between hosts", "gb200", "NCCL_IB_DATA_DIRECT=1 NCCL_MNNVL_ENABLE=1 NCCL_NVLS_ENABLE=1 NCCL_CUMEM_HOST_ENABLE=1 NCCL_NET_GDR_C2C=1", "quiet env-unknown-name"),
         ("GPU-initiated networking", "dgx-h100", "NCCL_GIN_TYPE=3 NCCL_GIN_ENABLE=1", "quiet env-unknown-name"),
         ("algorithm and protocol lists", "dgx-h100", "NCCL_ALGO=PAT,Ring NCCL_PROTO=^LL128", "quiet env-unknown-name env-unknown-value"),
         ("GPU-driven transport of UCX", "dgx-h100", "UCX_TLS=rc_gda,cuda UCX_RNDV_SCHEME=get_zcopy", "quiet env-rdma-off env-unknown-name"),
         ("a transport of UCX that is misspelt", "dgx-h100", "UCX_TLS=rcx", "note env-unknown-value"),
         ("NCCL_IB_HCAS", "dgx-h100", "NCCL_IB_HCAS=mlx5_0", "note env-unknown-name"),
         ("NCCL_IB_TIMOUT", "hgx-b200", "NCCL_IB_TIMOUT=22", "note env-unknown-name"),
         ("NVSHMEM_REMOTE_TRANSPRT", "dgx-a100", "NVSHMEM_REMOTE_TRANSPRT=ibgda", "note env-unknown-name"),
         ("NVSHMEM without a network", "h100-pure-ib", "NVSHMEM_REMOTE_TRANSPORT=none", "critical env-rdma-off"),
         ("NCCL over TCP", "kvm-h100", "NCCL_NET=Socket", "critical env-rdma-off"))

KIND = "iWARP, usNIC, management, ports that are down"
IRDMA = ("enp23s0f0", "enp23s0f1", "enp177s0f0", "enp177s0f1")
rows(KIND,
    ("default-route port lossy", "hgx-b200", lossy("enp90s0f1np1"), "quiet roce-lossless"),
    ("default-route port lossy", "a100-nps4-shared", lossy("enp161s0f0np0"), "quiet roce-lossless"),
    ("default-route port lossy", "oci-h100", lossy("eth0"), "quiet roce-lossless"),
     ("iWARP, with pause frames", "irdma-hpc", iwarp(), "quiet gid-v2 gid-usable gid-uniform roce-lossless"),
     ("iWARP, without pause frames", "irdma-hpc", [iwarp(), lossy(*IRDMA)], "quiet gid-v2 gid-usable gid-uniform roce-lossless"),
     ("usNIC", "hpc-no-gpu", [dev_put("mlx5_1", "node_type", "6: usNIC UDP"), gid_attrs("mlx5_1", "types", "IB/RoCE v1"), lossy("eno1np0"), lambda m: m.protocol.update(mlx5_1="usnic")], "quiet gid-v2 gid-usable roce-lossless"),
     ("ports without a cable are lossy", "h100-pure-ib", lossy("enp27s0f1np1", "enp157s0f1np1"), "quiet roce-lossless roce-netdev port-state"),
     ("the second front-end port is down and lossy", "oci-h100", lossy("eth1"), "quiet roce-lossless roce-netdev port-state"),
     ("a port for storage is down", "hgx-b200", down("mlx5_10"), "quiet port-state roce-netdev roce-lossless"),
     ("the outer ports of all Gaudi are down", "gaudi2", lambda m: [(setattr(p, "state", "DOWN"), setattr(p, "phys", "Disabled"), setattr(p.net, "carrier", False)) for f in m.host.gpus() for p in f.rdma[0].ports[21:]], "quiet port-state roce-netdev"),
     ("a port for storage has its link-local address only", "hgx-b200", addrs("enp216s0f0np0"), "quiet gid-usable"),
     ("one compute port has PFC on another priority", "hgx-b200", lossless(4, {}, "gpu3rdma0"), "warning roce-pfc-uniform", {"words": "mlx5_3"}),
     ("one compute port is lossy", "hgx-b200", lossy("gpu3rdma0"), "warning roce-lossless", {"words": "mlx5_3"}),
     ("one compute port is lossy", "mi300x-thor2", lossy("benic4p1"), "warning roce-lossless", {"words": "bnxt_re3"}),
     ("all compute ports are lossy", "oci-h100", lossy(*[f"rdma{n}" for n in range(16)]), "warning roce-lossless"),
     ("RoCE v1 only, and it is RoCE", "irdma-hpc", gid_attrs("irdma1", "types", "IB/RoCE v1"), "warning gid-v2", {"words": "irdma1"}),
     ("a compute port is down", "oci-h100", down("mlx5_9"), "critical port-state", {"words": "mlx5_9"}))

KIND = "limits of the board, and PCIe that has degraded"
rows(KIND,
     ("one NIC, two sockets", "hgx-b200", only_nics("mlx5_0"), "quiet gpu-nic-socket nic-missing switch-uneven"),
     ("one NIC, two sockets", "dgx-h100", only_nics("mlx5_3"), "quiet gpu-nic-socket nic-missing switch-uneven"),
     ("one card, two sockets", "a100-pcie-spare", only_nics("mlx5_0", "mlx5_1"), "quiet gpu-nic-socket nic-missing"),
     ("a port behind two functions", "hgx-b200", [each(lambda n, **_: dev_put(f"mlx5_{n}", "ports/1/rate", "800 Gb/sec (4X XDR)"), range(8)),
                                                 each(lambda n, **_: guid(f"mlx5_{n}", "a088:c203:0042:00%02x" % (n // 2)), range(8))], "quiet pcie-bandwidth"),
     ("a card of 100 Gb/s in a slot of eight lanes", "a100-nps4-shared", link("mlx5_3", (4, 8), above=(4, 8)), "quiet pcie-link-width pcie-bandwidth"),
     ("cards of PCIe 5.0 in slots of 4.0, 200 Gb/s", "a100-pcie-spare", [link("mlx5_0", (4, 16), most=(5, 16)), link("mlx5_3", (4, 16), most=(5, 16))], "quiet pcie-link-speed pcie-bandwidth"),
     ("registers of virtual functions read 0", "kvm-h100", [], "quiet pcie-link-width pcie-link-speed pcie-bandwidth"),
     ("idle GPUs save power: 2.5 GT/s", "hgx-b200", [link(f"GPU{n}", (1, 16)) for n in range(8)], "quiet pcie-link-speed"),
     ("eight lanes of sixteen", "hgx-b200", link("mlx5_0", (5, 8)), "critical pcie-link-width"),
     ("PCIe 4.0 of 5.0", "dgx-h100", link("mlx5_5", (4, 16)), "critical pcie-link-speed"),
     ("400 Gb/s in a slot of PCIe 4.0 x8", "dgx-h100", link("mlx5_0", (4, 8), above=(4, 8)), "critical pcie-link-width"),
     ("a GPU has eight lanes of sixteen", "hgx-b200", link("GPU3", (5, 8)), "critical pcie-link-width"),
     ("a NIC has gone", "dgx-a100", gone("mlx5_6"), "critical nic-missing"),
     ("two NICs, both on one of two sockets", "hgx-b200", only_nics("mlx5_0", "mlx5_1"), "warning gpu-nic-socket"))

KIND = "one peer that does not answer, and all of them"
rows(KIND,
    ("failed 1, reachable 1", "hgx-b200", near("gpu0rdma0", reachable=1, failed=1), "quiet neighbour-failed"),
    ("failed 2, reachable 2", "oci-h100", near("rdma2", reachable=2, failed=2), "quiet neighbour-failed"),
     ("one failed, three reachable", "hgx-b200", near("gpu0rdma0", reachable=3, failed=1), "quiet neighbour-failed"),
     ("one failed, two stale", "kvm-h100", near("eth1", stale=2, failed=1), "quiet neighbour-failed"),
     ("a router's link-local address failed", "oci-h100", near("rdma0", stale=2, router=FAILED), "quiet neighbour-failed"),
     ("a router's link-local address failed, nothing else", "mi300x-thor2", near("benic1p1", router=FAILED), "quiet neighbour-failed"),
     ("one failed of four, IPv6", "mi300x-thor2-ipv6", near("benic1p1", reachable=3, failed=1), "quiet neighbour-failed"),
     ("incomplete: asked just now", "mi300x-pollara", near("enp9s0", reachable=1, incomplete=2), "quiet neighbour-failed"),
     ("all four failed", "hgx-b200", near("gpu3rdma0", failed=4), "warning neighbour-failed", {"words": "gpu3rdma0"}),
     ("the only peer failed", "mi300x-thor2", near("benic3p1", failed=1), "warning neighbour-failed", {"words": "benic3p1"}),
     ("five of six failed", "oci-h100", near("rdma7", reachable=1, failed=5), "warning neighbour-failed", {"words": "rdma7"}),
     ("all failed, IPv6", "mi300x-thor2-ipv6", near("benic5p1", failed=3), "warning neighbour-failed", {"words": "benic5p1"}))

KIND = "containers with some device files, and hosts without"
rows(KIND,
    ("some device files, /proc/1 unreadable", "h100-4nic", [devices(1, 6), fail("proc/1/comm")], "quiet dev-infiniband"),
     ("a container with one of six", "h100-4nic", [devices(1, 6), container()], "quiet dev-infiniband dev-mode"),
     ("a container with two of eight, without rdma_cm", "mi300x-thor2", [devices(2, 8, rdma_cm=False), container("python3")], "quiet dev-infiniband dev-mode"),
     ("a container with all", "hgx-b200", [devices(12, 12), container("sleep")], "quiet dev-infiniband dev-mode"),
     ("a container with one of twelve NICs, the others in other network namespaces", "hgx-b200", [container("sleep"), no_rdma(*(f"mlx5_{n}" for n in range(12) if n != 2))], "quiet nic-driver"),
     ("this host, with all", "dgx-a100", [devices(10, 10), THIS_HOST], "quiet dev-infiniband dev-mode"),
     ("a container of systemd with four of 32", "aws-p5", [devices(4, 32, rdma_cm=False), container("systemd")], "quiet dev-infiniband dev-mode"),
     ("a container with eight of ten, other processes", "dgx-a100", [devices(8, 10), container("tini"), put("proc/2/comm", "python3")], "quiet dev-infiniband"),
     ("all, processes hidden", "dgx-a100", [devices(10, 10), put("proc/1/comm", None)], "quiet dev-infiniband"),
     ("a container with all, for one group only", "h100-4nic", [devices(6, 6, mode=0o660), container()], "warning dev-mode"),
     ("a container with none", "h100-4nic", [devices(0, 6, rdma_cm=False), container()], "critical dev-infiniband"),
     ("a container with rdma_cm only", "hgx-b200", [devices(0, 12), container("python3")], "critical dev-infiniband"),
     ("this host lacks one", "mi300x-thor2", [devices(8, 8, only=[0, 1, 2, 4, 5, 6, 7]), THIS_HOST], "critical dev-infiniband", {"words": "uverbs3"}),
     ("this host lacks all", "dgx-a100", [devices(0, 10, rdma_cm=False), THIS_HOST], "critical dev-infiniband"),
     ("only root may use them", "aws-p5", [devices(32, 32, mode=0o600), THIS_HOST], "warning dev-mode"))

KIND = "log lines of other modules, and the real ones"
rows(KIND,
    ("health, severity INFO", "dgx-h100", log("mlx5_core 0000:5e:00.0: print_health_info:423:(pid 0): Health issue observed, High temperature, severity(6) INFO:"), "quiet log-nic-health"),
     ("ksmbd does not fit the RDMA core", "storage-server", log("ksmbd: disagrees about version of symbol ib_mr_pool_destroy", "ksmbd: Unknown symbol ib_mr_pool_destroy (err -22)"), "warning log-rdma-symbols", {"words": "ksmbd"}),
     ("a module of storage, beside GPUs", "hgx-b200", log("drbd_transport_rdma: disagrees about version of symbol rdma_disconnect", "drbd_transport_rdma: Unknown symbol rdma_disconnect (err -22)"), "warning log-rdma-symbols", {"words": "drbd_transport_rdma"}),
     ("a module of storage misses a symbol that is not RDMA's", "storage-server", log("lnet: disagrees about version of symbol module_layout"), "quiet log-peermem-symbols log-rdma-symbols"),
     ("an interface of another driver goes up and down", "mi300x-thor2", log(*["ixgbe 0000:71:00.0 eno8303: NIC Link is Down", "ixgbe 0000:71:00.0 eno8303: NIC Link is Up 10 Gbps, Flow Control: RX/TX"] * 8), "quiet log-link-flaps"),
     ("corrected errors", "dgx-h100", log("pcieport 0000:15:01.0: AER: Corrected error message received from 0000:18:00.0", "mlx5_core 0000:18:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)"), "quiet log-pcie-errors"),
     ("a cable was plugged, a module is known", "oci-h100", log("mlx5_core 0000:0c:00.0: Port module event: module 0, Cable plugged", "mlx5_core 0000:0c:00.0 rdma0: Link up"), "quiet log-optics log-link-flaps"),
     ("NVMe over RDMA reconnects", "storage-server", log("nvme nvme4: rdma connection establishment failed (-104)", "nvme nvme4: Failed reconnect attempt 3/10", "nvme nvme4: failed to send request -5"), "quiet log-nic-health log-qp-limit"),
     ("a program asks for too large a table", "kvm-h100", log("python3: page allocation failure: order:9, mode:0x40dc0"), "quiet log-oom"),
     ("firmware of a NIC was reset, not fatal", "mi300x-thor2", log("bnxt_en 0000:19:00.0 benic1p1: Non-fatal firmware reset event, data1: 0x1, data2: 0x8000, min wait 2000 ms, max wait 60000 ms"), "quiet log-nic-health"),
     ("a program has written such a line", "dgx-a100", put("dev/kmsg", "6,0,0,-;Linux version 6.8.0-60-generic\n12,1,20011,-;NVRM: GPU 0000:07:00.0: GPU has fallen off the bus."), "quiet log-pcie-errors"),
     ("an interface of i40e goes up and down", "irdma-hpc", log(*["i40e 0000:18:00.0 eno1: NIC Link is Down"] * 8), "quiet log-link-flaps"),
     ("the USB controller has died", "hgx-b200", log("xhci_hcd 0000:00:14.0: xHCI host controller not responding, assume dead", "xhci_hcd 0000:00:14.0: HC died; cleaning up"), "quiet log-pcie-errors log-nic-health"),
     ("firmware refuses a key with protection information", "storage-server", log("mlx5_core 0000:a1:00.0: mlx5_cmd_check:810:(pid 923941): create_mkey(0x200) op_mod(0x0) failed, status bad parameter(0x3), syndrome (0x35e6ec)"), "warning log-mkey-pi"),
     ("the cable of a spare port was pulled", "dgx-h100", log("mlx5_core 0000:29:00.0: Port module event: module 0, Cable unplugged"), "quiet log-optics"),
     ("no memory keys are left", "storage-server", log("mlx5_core 0000:a1:00.0: mlx5_cmd_out_err:808:(pid 1): CREATE_MKEY(0x200) op_mod(0x0) failed, status limits exceeded(0x8), syndrome (0x59c8a4), err(-12)"), "warning log-mkey-limit"),
     ("an interface of ice goes up and down", "irdma-hpc", log(*["ice 0000:17:00.1 enp23s0f1: NIC Link is Down"] * 8), "warning log-link-flaps"),
     ("nvidia_peermem does not fit", "dgx-a100", log("nvidia_peermem: disagrees about version of symbol ib_register_peer_memory_client", "nvidia_peermem: Unknown symbol ib_register_peer_memory_client (err -22)"), "critical log-peermem-symbols"),
     ("a GPU has fallen off the bus", "dgx-a100", log("NVRM: Xid (PCI:0000:07:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.", "NVRM: GPU 0000:07:00.0: GPU has fallen off the bus."), "critical log-pcie-errors"),
     ("a NIC's firmware has failed", "dgx-h100", log("mlx5_core 0000:5e:00.0: poll_health:979:(pid 0): device's health compromised - reached miss count"), "critical log-nic-health", {"words": "5e:00.0"}),
     ("a NIC's module is too hot", "oci-h100", log("mlx5_core 0000:0c:00.0: Port module event[error]: module 0, Cable error, High Temperature"), "critical log-optics"),
     ("a NIC's link goes up and down", "mi300x-thor2", log(*["bnxt_en 0000:19:00.0 benic1p1: NIC Link is Down", "bnxt_en 0000:19:00.0 benic1p1: NIC Link is Up, 400000 Mbps full duplex, Flow control: none"] * 8), "warning log-link-flaps"))

KIND = "nic-map: failing over, NICs for storage"
SAID = r"fails? over to|would fail over"
rows(KIND,
     *[(f"nic-map{more}", base, [], f"no-text {SAID}", {"command": f"nic-map{more}"}) for base, more in
       (("dgx-h100", ""), ("h100-4nic", ""), ("hgx-b200", " --assignment"), ("gb200", ""), ("a100-nps4-shared", ""), ("dgx-2", " --assignment"))],
     *[("storage beside compute", base, [], "quiet backup-not-compute", {"map": True}) for base in ("dgx-2", "dgx-a100", "hgx-b200", "h100-4nic")],
     ("both compute ports but one are down", "gb200", [down("mlx5_0"), down("mlx5_1"), down("mlx5_4")], "critical port-state", {"map": True}))
settings(KIND,
         ("failing over with NICs of storage", "dgx-2", "NCCL_IB_HCA=mlx5_8,mlx5_9", "warning env-not-compute"),
         ("devices that are down", "h100-pure-ib", "NCCL_IB_HCA=mlx5_2", "critical env-selects-nothing"))

KIND = "InfiniBand functions that control NVLink"
BRIDGES = ("mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3")
rows(KIND,
     ("they have RDMA devices, ports down", "hgx-b200-16nic", [down(d) for d in BRIDGES], "quiet port-state nic-driver ib-no-sm"),
     ("they are given to a virtual machine", "hgx-b200-16nic", [no_rdma(*BRIDGES), lambda m: [setattr(m.fn(f"0000:{bus:02x}:00.0"), "driver", "vfio-pci") for bus in (5, 6, 7, 8)]], "quiet nic-driver nic-missing"),
     ("fixes can be typed", "hgx-b200-16nic", [], "fixes", {"map": True}),
     ("fixes can be typed", "h100-4nic", [], "fixes", {"map": True}),
     ("fixes can be typed", "a100-pcie-spare", [], "fixes", {"map": True}),
     ("fixes can be typed", "gb200", [], "fixes", {"map": True}),
     ("a compute NIC has no RDMA device", "hgx-b200-16nic", no_rdma("mlx5_7"), "warning nic-driver", {"words": "4f:00.0"}),
     ("a compute port is down", "hgx-b200-16nic", down("mlx5_11"), "critical port-state", {"words": "mlx5_11"}),
     ("a compute NIC has no RDMA device", "dgx-h100", no_rdma("mlx5_4"), "warning nic-driver", {"words": "4f:00.0"}))

KIND = "bonds, and what their members have set"
LEGS = [f"ens{n}f{k}np{k}" for n in range(10, 18) for k in range(2)]
rows(KIND,
    ("PFC of one bond differs", "h100-roce-lag", lossless(4, {}, "ens13f0np0", "ens13f1np1"), "warning roce-pfc-uniform"),
     ("pause frames on both, no PFC", "h100-roce-lag", pause_only(*LEGS), "quiet roce-lossless roce-pause roce-pfc-uniform"),
     ("pause frames on both, no PFC", "storage-server", pause_only("ens1f0np0", "ens1f1np1"), "quiet roce-lossless roce-pause"),
     ("PFC on both", "gb200", [], "quiet roce-lossless roce-trust roce-pause"),
     ("DCB of the members denied", "h100-roce-lag", refuse("route", 78), "unknown roce-lossless"),
     ("neither on either", "h100-roce-lag", lossy("ens12f0np0", "ens12f1np1"), "warning roce-lossless", {"words": "ens12f|mlx5_bond_2"}),
     ("on one member only", "h100-roce-lag", lossy("ens12f1np1"), "warning roce-lossless", {"words": "ens12f1np1"}),
     ("on one member only", "storage-server", lossy("ens1f0np0"), "warning roce-lossless", {"words": "ens1f0np0"}))
settings(KIND,
         ("traffic class of the lossless priority", "h100-roce-lag", "NCCL_IB_TC=106 NCCL_IB_GID_INDEX=3", "quiet env-tc-no-pfc env-gid-gone"),
         ("traffic class of another priority, that is lossless here", "h100-roce-lag", "NCCL_IB_TC=128", "quiet env-tc-no-pfc", lossless(4, {}, *LEGS)),
         ("traffic class where no priority is lossless", "h100-roce-lag", "NCCL_IB_TC=160", "quiet env-tc-no-pfc", pause_only(*LEGS)),
         ("traffic class of a lossy priority", "h100-roce-lag", "NCCL_IB_TC=128", "warning env-tc-no-pfc"),
         ("traffic class of a lossy priority on one of eight", "hgx-b200", "NCCL_IB_TC=106", "warning env-tc-no-pfc", lossless(4, {}, "gpu3rdma0")),
         ("UCX, traffic class of a lossy priority", "hgx-b200", "UCX_IB_TRAFFIC_CLASS=160", "warning env-tc-no-pfc"),
         ("NVSHMEM, traffic class of a lossy priority", "hgx-b200", "NVSHMEM_IB_TRAFFIC_CLASS=160", "warning env-tc-no-pfc"),
         ("NVSHMEM, GID index beyond the table", "hgx-b200", "NVSHMEM_IB_GID_INDEX=9", "critical env-gid-gone"),
         ("UCX, GID index beyond the table", "hgx-b200", "UCX_IB_GID_INDEX=9", "critical env-gid-gone"),
         ("GID chosen by address range", "hgx-b200", "NCCL_IB_ROCE_VERSION_NUM=2 NCCL_IB_ADDR_RANGE=10.64.0.0/16", "quiet env-gid-gone"),
         ("GID index that a port for storage lacks, which is not given", "hgx-b200", "NCCL_IB_GID_INDEX=3 NCCL_IB_HCA==mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7", "quiet env-gid-gone", addrs("enp216s0f0np0")),
         ("GID index beyond the table", "h100-roce-lag", "NCCL_IB_GID_INDEX=7", "critical env-gid-gone"),
         ("GID index that one of eight lacks", "hgx-b200", "NCCL_IB_GID_INDEX=3", "critical env-gid-gone", addrs("gpu2rdma0")))

KIND = "GPU memory: peer memory modules and DMA-BUF"
CONFIG = "CONFIG_PCI=y\n{}\nCONFIG_INFINIBAND=m"
NO_P2P, P2P = CONFIG.format("# CONFIG_PCI_P2PDMA is not set"), CONFIG.format("CONFIG_PCI_P2PDMA=y")
NO_DMABUF = put("sys/kernel/btf/ib_uverbs", b"\x9f\xeb\x01\x00ib_umem_get\0")
BOOT = "boot/config-6.8.0-60-generic"
CLOSED = driver("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\nGCC version:  gcc version 12.3.0\n")
rows(KIND,
    ("memory_peers/nv_mem", "dgx-2", [without("nvidia_peermem"), put("sys/kernel/mm/memory_peers/nv_mem/version", "1.3-0")], "quiet peermem"),
    ("memory_peers/nv_mem_nc", "dgx-2", [without("nvidia_peermem"), put("sys/kernel/mm/memory_peers/nv_mem_nc/version", "1.3-0")], "quiet peermem"),
    ("RCCL: /sys/kernel/memory_peers/amdkfd/version", "mi300x-thor2", [NO_DMABUF, put("sys/kernel/memory_peers/amdkfd/version", "1.0")], "quiet amd-peer"),
    ("RCCL: /sys/memory_peers/amdkfd/version", "mi300x-thor2", [NO_DMABUF, put("sys/memory_peers/amdkfd/version", "1.0")], "quiet amd-peer"),
    ("peer memory does not load, DMA-BUF works", "hgx-b200", [without("nvidia_peermem"), put(BOOT, P2P), log("nvidia_peermem: Unknown symbol ib_register_peer_memory_client (err -2)")], "quiet log-peermem-symbols peermem"),
     ("nvidia_peermem in /sys/module only", "dgx-a100", [without("nvidia_peermem"), put("sys/module/nvidia_peermem/version", "550.54.15")], "quiet peermem"),
     ("DMA-BUF only", "hgx-b200", [without("nvidia_peermem"), put(BOOT, P2P)], "quiet peermem dmabuf"),
     ("DMA-BUF only", "gb200", without("nvidia_peermem"), "quiet peermem dmabuf"),
     ("configuration of the kernel denied", "hgx-b200", [without("nvidia_peermem"), fail(BOOT)], "quiet peermem dmabuf"),
     ("no P2PDMA, with peer memory", "kvm-h100", put(BOOT, NO_P2P), "quiet peermem dmabuf"),
     ("amdkfd as a peer", "mi300x-thor2", [NO_DMABUF, put("sys/kernel/mm/memory_peers/amdkfd/version", "1.0")], "quiet amd-peer"),
     ("amdkfd as a peer, no P2PDMA", "mi300x-pollara", [put(BOOT, NO_P2P), put("sys/kernel/mm/memory_peers/amdkfd/version", "1.0")], "quiet amd-peer"),
     ("neither, closed driver", "dgx-2", without("nvidia_peermem"), "critical peermem"),
     ("neither, closed driver", "kvm-h100", [without("nvidia_peermem"), CLOSED], "critical peermem"),
     ("neither: RDMA core without DMA-BUF", "hgx-b200", [without("nvidia_peermem"), NO_DMABUF], "critical peermem"),
     ("nv_peer_mem alone", "dgx-2", [without("nvidia_peermem"), lambda m: m.host.modules.append("nv_peer_mem 1.3|"), put("sys/kernel/mm/memory_peers/nv_mem/version", "1.3-0")], "warning peermem-old"),
     ("both peer memory modules", "dgx-a100", [lambda m: m.host.modules.append("nv_peer_mem 1.3|")], "critical peermem-old"),
     ("no P2PDMA, no peer", "mi300x-thor2", put(BOOT, NO_P2P), "warning amd-peer"),
     ("no DMA-BUF, no peer", "mi355x-ionic-ipv6", NO_DMABUF, "critical amd-peer"))

KIND = "addresses of rails, modes and aggregators of bonds, the hop limit"


def legs(change, *bonds):
    """A change of the second member of bonds."""
    return lambda m: [change(net_of(m, b).slaves[1]) for b in bonds]


def mode(name, *bonds):
    return lambda m: [setattr(net_of(m, b), "mode", name) for b in bonds]


def standby(leg):
    leg.aggregator, leg.standby = 2, True


RAILS = [f"gpu{n}rdma0" for n in range(8)]
rows(KIND,
     ("one rail was moved to a subnet of its own, and works", "hgx-b200", addrs("gpu7rdma0", "10.90.7.21/24"), "quiet rail-address"),
     ("all in one subnet, one out of sequence", "hgx-b200", [*[addrs(n, f"10.64.0.{20 + k if k != 3 else 90}/16") for k, n in enumerate(RAILS)], everywhere(arp_ignore=1, arp_announce=2)], "quiet rail-address"),
     ("two planes of four rails", "hgx-b200", [addrs(n, f"10.64.{k + 12 * (k > 3)}.21/24") for k, n in enumerate(RAILS)], "quiet rail-address"),
     ("rails in another order than the devices", "hgx-b200", [addrs(n, f"10.64.{(0, 3, 1, 2, 6, 5, 7, 4)[k]}.21/24") for k, n in enumerate(RAILS)], "quiet rail-address"),
     ("four /24 and four /26", "hgx-b200", [addrs(n, f"10.64.{k}.21/{24 if k < 4 else 26}") for k, n in enumerate(RAILS)], "quiet rail-address"),
     ("a rail in a subnet that no peer is in", "hgx-b200", [addrs("gpu7rdma0", "10.90.7.21/24"), near("gpu7rdma0", failed=5)], "warning rail-address", {"words": "gpu7rdma0"}),
     ("the first rail in the subnet of the second", "mi300x-pollara", addrs("enp9s0", "10.50.1.77/24"), "warning rail-address", {"words": "enp9s0"}),
     ("a rail with a larger subnet", "kvm-h100", addrs("eth5", "172.27.4.5/16"), "warning rail-address", {"words": "eth5"}),
     ("all bonds are active-backup", "h100-roce-lag", mode("active-backup 1", *[f"bond{n}" for n in range(8)]), "quiet bond-mode bond-aggregator"),
     ("two of eight bonds are active-backup", "h100-roce-lag", mode("active-backup 1", "bond1", "bond2"), "quiet bond-mode"),
     ("the mode of one cannot be read", "h100-roce-lag", fail("sys/devices/virtual/net/bond1/bonding/mode"), "unknown bond-mode"),
     ("the only bond is active-backup", "storage-server", mode("active-backup 1", "bond0"), "quiet bond-mode bond-aggregator"),
     ("a member without a link is alone in its aggregator", "h100-roce-lag", legs(lambda leg: setattr(leg, "carrier", False), "bond3"), "warning port-speed-uniform", {"words": "mlx5_bond_3"}),
     ("aggregators are not told", "storage-server", each(lambda n: net_put(n, "bonding_slave/ad_aggregator_id", "N/A"), ("ens1f0np0", "ens1f1np1")), "unknown bond-aggregator"),
     ("one bond balances by turns", "h100-roce-lag", mode("balance-rr 0", "bond4"), "warning bond-mode", {"words": "bond4"}),
     ("a member in another aggregator", "storage-server", legs(standby, "bond0"), "warning bond-aggregator", {"words": "ens1f1np1"}),
     ("all bonds have a member in another aggregator", "h100-roce-lag", legs(standby, *[f"bond{n}" for n in range(8)]), "warning bond-aggregator"),
     ("hop limit 255", "hgx-b200", put("proc/sys/net/ipv4/ip_default_ttl", "255"), "quiet roce-hop-limit"),
     ("hop limit 1, no gateway on RDMA interfaces", "mi300x-thor2", put("proc/sys/net/ipv4/ip_default_ttl", "1"), "quiet roce-hop-limit"),
     ("hop limit denied", "dgx-h100", fail("proc/sys/net/ipv4/ip_default_ttl"), "unknown roce-hop-limit"),
     ("hop limit 1, routed", "dgx-h100", put("proc/sys/net/ipv4/ip_default_ttl", "1"), "warning roce-hop-limit"))

KIND = "settings of the host that jobs and daemons meet"


def daemon(name, soft, pid=3100):
    return each(lambda step: step, [put(f"proc/{pid}/comm", name), put(f"proc/{pid}/status", f"Name:\t{name}\nPPid:\t1"),
            put(f"proc/{pid}/limits", f"Limit                     Soft Limit           Hard Limit           Units     \nMax open files            {soft:<20} 1048576              files     ")])


THP = "sys/kernel/mm/transparent_hugepage/defrag"
rows(KIND,
     ("a daemon with the limit of its unit", "storage-server", daemon("ceph-osd", 1048576), "quiet open-files memlock"),
     ("a daemon without a limit", "storage-server", daemon("ceph-osd", "unlimited"), "quiet open-files memlock"),
     ("a program that serves nobody", "storage-server", daemon("python3", 1024), "quiet open-files memlock"),
     ("limits denied", "storage-server", [daemon("ceph-osd", 1024), fail("proc/3100/limits")], "unknown open-files"),
     ("daemons beside slurmd, whose limit is low", "storage-server", [daemon("daos_engine", 1024), put("proc/2101/limits", "Max locked memory         65536                65536                bytes     ")], "critical memlock"),
     ("daos_engine without a limit of its own", "storage-server", daemon("daos_engine", 1024), "warning open-files", {"words": "daos_engine"}),
     ("compaction at each fault", "mi300x-thor2", put(THP, "[always] defer defer+madvise madvise never"), "quiet memory-tuning"),
     ("NUMA balancing", "mi300x-pollara", put("proc/sys/kernel/numa_balancing", "1"), "quiet memory-tuning"),
     ("compaction at each fault", "hgx-b200", put(THP, "[always] defer defer+madvise madvise never"), "text allocations wait", {"command": "topo-check --only memory-tuning"}),
     ("NUMA balancing", "mi300x-thor2", put("proc/sys/kernel/numa_balancing", "1"), "text kernel.numa_balancing=0", {"command": "topo-check --only memory-tuning"}),
     ("no AtomicOps on any accelerator", "mi300x-pollara", lambda m: [setattr(f, "atomics", False) for f in m.host.gpus()], "text AtomicOp requests disabled", {"command": "topo-check --only pcie-atomics"}),
     ("no AtomicOps on any accelerator", "mi300x-thor2", lambda m: [setattr(f, "atomics", False) for f in m.host.gpus()], "quiet pcie-atomics"),
     ("registers denied", "mi300x-thor2", half_config, "unknown pcie-atomics"),
     ("no AtomicOps on one accelerator", "mi300x-thor2", lambda m: setattr(m.host.gpus()[3], "atomics", False), "warning pcie-atomics", {"words": "AtomicOp"}),
     ("ports of data direct functions without ACS control", "gb300", lambda m: [setattr(f, "acs", 0) for f in m.host.fns if f.acs], "quiet acs-redirect"),
     ("registers denied", "gb300", half_config, "unknown acs-redirect"),
     ("GPUs are for virtual machines, all isolated", "gb300", lambda m: [(setattr(f, "acs", 0x1D), None) for f in m.host.fns if f.acs] + [setattr(g, "driver", "vfio-pci") for g in m.host.gpus()], "quiet acs-redirect"),
     ("requests of one data direct function are redirected", "gb300", lambda m: setattr(next(f for f in m.host.fns if f.cls == 0x080100).up, "acs", 0x1D), "critical acs-redirect", {"words": "0008:02:00.0"}),
     ("completions of one GPU are redirected", "gb300", lambda m: setattr(next(f for f in m.host.fns if f.cls == 0x080100).up.up.children[1], "acs", 0x1D), "critical acs-redirect", {"words": "0008:02:01.0"}))

KIND = "drivers for displays"
GRAPHICS = Kind((0x8086, 0x4C8A, 0x8086, 0x4C8A), 0x030000, "i915", (1, 1), bars=(16 << 20, 256 << 20))
MATROX = Kind((0x102B, 0x0538, 0x1028, 0x0A8F), 0x030000, None, (1, 1))
SOUND = Kind((0x10DE, 0x10FA, 0x1458, 0x3FF5), 0x040300, "snd_hda_intel", (3, 16))
L40S = (0x10DE, 0x26B9, 0x10DE, 0x1851)
rows(KIND,
     ("a Matrox console without a driver", "dgx-h100", plug(MATROX, INTEL5), "quiet gpu-driver gpu-missing"),
     ("integrated graphics of Intel", "irdma-hpc", lambda m: m.host.endpoint(None, GRAPHICS, 0, 0, (0, 2), 0), "quiet gpu-driver peermem bar1-size", {"map": True}),
     ("sound of a graphics card", "dgx-h100", plug(SOUND, INTEL5), "quiet gpu-driver gpu-missing"),
     ("a second console of a management controller", "mi300x-thor2", plug(ASPEED, AMD5), "quiet gpu-driver gpu-missing", {"map": True}),
     ("all GPUs given to guests, NVIDIA's driver not installed", "hgx-b200", [bind("vfio-pci"), no_nvidia], "quiet gpu-driver peermem gpu-missing"),
     ("half of the GPUs given to guests", "dgx-h100", bind("vfio-pci", "GPU0", "GPU1", "GPU2", "GPU3"), "quiet gpu-driver gpu-missing"),
     ("half of the GPUs on nouveau", "dgx-h100", bind("nouveau", "GPU0", "GPU1", "GPU2", "GPU3"), "critical gpu-driver", {"words": "nouveau"}),
     ("all on nova_core", "hgx-b200", [bind("nova_core"), no_nvidia], "critical gpu-driver", {"words": "nova_core"}),
     ("A100 PCIe on nouveau", "a100-pcie-spare", [bind("nouveau"), no_nvidia], "critical gpu-driver", {"words": "nouveau"}),
     ("L40S on nouveau", "a100-pcie-spare", [lambda m: [setattr(g, "ids", L40S) for g in m.host.gpus()], bind("nouveau"), no_nvidia], "critical gpu-driver", {"words": "nouveau"}),
     ("nouveau is kept out, and NVIDIA's driver not installed", "h100-pure-ib", [bind(None), no_nvidia], "critical gpu-driver", {"words": "no driver"}),
     ("all without amdgpu", "mi300x-thor2", bind(None), "critical gpu-driver", {"words": "no driver"}))

KIND = "flash recovery, and other memory controllers"
rows(KIND,
     ("another vendor's memory controller of that number", "dgx-h100", plug(memory(0x8086, 0x0218), INTEL5), "quiet nic-driver"),
     ("an expander of CXL memory", "hpc-no-gpu", plug(memory(0x144D, 0x0211, 0x050210), AMD5), "quiet nic-driver"),
     ("DMA controller of a BlueField", "hgx-b200", plug(memory(0x15B3, 0xC2D2, 0x080100), INTEL5), "quiet nic-driver"),
     ("NVMe drive that a BlueField emulates", "hgx-b200", plug(memory(0x15B3, 0x6001, 0x010802, "nvme"), INTEL5), "quiet nic-driver"),
     ("a ConnectX-3 with its firmware", "storage-server", plug(memory(0x15B3, 0x1007, 0x020000, "mlx4_core"), AMD5), "quiet nic-driver"),
     ("a virtual function for a guest", "hpc-no-gpu", plug(memory(0x15B3, 0x101E, 0x020000, "vfio-pci"), AMD5), "quiet nic-driver"),
     ("ConnectX-6, secure", "dgx-a100", recovery(0x0210, "mlx5_6"), "critical nic-driver", {"words": "0210"}),
     ("BlueField-3 of the front-end", "hgx-b200", recovery(0x021C, "mlx5_8"), "critical nic-driver", {"words": "021c"}),
     ("the only InfiniBand card", "hpc-no-gpu", recovery(0x020F, "mlx5_0"), "critical nic-driver", {"words": "020f"}),
     ("both cards of a storage server", "storage-server", recovery(0x0212, "mlx5_bond_0", "mlx5_2"), "critical nic-driver", {"words": "0212"}),
     ("all compute cards, a bad firmware was burnt", "dgx-h100", recovery(0x0218, *(f"mlx5_{n}" for n in (0, 3, 4, 5, 6, 9, 10, 11))), "critical nic-driver", {"words": "0218"}))

KIND = "ports that are down, their links up"
NO_GUID = "0000:0000:0000:0000"
PURE_IB = ("mlx5_0", "mlx5_3", "mlx5_4", "mlx5_5", "mlx5_6", "mlx5_9", "mlx5_10", "mlx5_11")
rows(KIND,
     ("seven virtual functions wait for containers", "dgx-h100", vfs("mlx5_3", 20, 7), "quiet port-state ib-no-sm", {"map": True}),
     ("virtual functions that have no GUID yet", "h100-4nic", vfs("mlx5_0", 20, 4, NO_GUID), "quiet port-state ib-no-sm", {"map": True}),
     ("virtual functions of each compute card", "h100-pure-ib", [vfs(d, 20 + 4 * n, 4) for n, d in enumerate(PURE_IB)], "quiet port-state nic-missing", {"map": True}),
     ("virtual functions of a host without GPUs", "hpc-no-gpu", vfs("mlx5_0", 2, 2), "quiet port-state ib-no-sm"),
     ("virtual functions, and two in use", "dgx-a100-sriov", lambda m: [(setattr(p, "state", "ACTIVE"), setattr(p, "lid", 77), setattr(p, "sm_lid", 1)) for p in (m.fn(d).rdma[0].ports[0] for d in ("mlx5_12", "mlx5_19"))], "quiet port-state ib-no-sm ib-lid"),
     ("one of eight of a guest", "azure-nd-h100-v5", link_up("mlx5_3"), "critical port-state", {"words": "mlx5_3"}),
     ("one of eight of a guest, without a GUID", "azure-nd-h100-v5", link_up("mlx5_3", guid=NO_GUID), "critical port-state", {"words": "mlx5_3"}),
     ("half of a guest's", "azure-nd-h100-v5", link_up(*(f"mlx5_{n}" for n in range(4))), "critical port-state"),
     ("all of a guest", "azure-nd-h100-v5", link_up(*(f"mlx5_{n}" for n in range(8))), "critical port-state"),
     ("one of a guest is down, and has no link", "azure-nd-h100-v5", down("mlx5_6"), "critical port-state", {"words": "mlx5_6"}))

KIND = "modes of RoCE LAG"
LAGS = [f"mlx5_bond_{n}" for n in range(8)]
rows(KIND,
     ("hash", "h100-roce-lag", lag_mode("hash", *LAGS), "quiet roce-lag-affinity"),
     ("multiport_eswitch", "h100-roce-lag", lag_mode("multiport_eswitch", *LAGS), "quiet roce-lag-affinity"),
     ("debugfs is denied", "h100-roce-lag", fail("sys/kernel/debug/mlx5"), "quiet roce-lag-affinity"),
     ("a bond of ports without RDMA", "mi300x-thor2", lambda m: bonded(m.host, "bond9", [net_of(m, "eno8303"), net_of(m, "eno8403")], ("10.227.7.37/22",), "10.227.4.1"), "quiet roce-lag-affinity"),
     ("two ports of a card, not in a bond", "oci-h100", lag_mode("hash", "mlx5_0"), "quiet roce-lag-affinity"),
     ("queue_affinity on one of eight", "h100-roce-lag", [lag_mode("hash", *LAGS), lag_mode("queue_affinity", "mlx5_bond_3")], "note roce-lag-affinity", {"words": "mlx5_bond_3"}),
     ("queue_affinity on two of eight", "h100-roce-lag", [lag_mode("hash", *LAGS), lag_mode("queue_affinity", "mlx5_bond_0", "mlx5_bond_7")], "note roce-lag-affinity", {"words": "mlx5_bond_7"}),
     ("queue_affinity on all", "h100-roce-lag", lag_mode("queue_affinity", *LAGS), "note roce-lag-affinity"),
     ("queue_affinity for storage", "storage-server", lag_mode("queue_affinity", "mlx5_bond_0"), "note roce-lag-affinity", {"words": "mlx5_bond_0"}),
     ("queue_affinity on all, one link down", "h100-roce-lag", [lag_mode("queue_affinity", *LAGS), lambda m: setattr(net_of(m, "ens12f1np1"), "carrier", False)], "note roce-lag-affinity"))

KIND = "protection information of NVMe"
PI = "mlx5_core 0000:a1:00.0: mlx5_cmd_out_err:808:(pid 4121): CREATE_MKEY(0x200) op_mod(0x0) failed, status bad parameter(0x3), syndrome (0x35e6ec), err(-22)"
NO_KEYS = "mlx5_core 0000:a1:00.0: mlx5_cmd_out_err:808:(pid 1): CREATE_MKEY(0x200) op_mod(0x0) failed, status limits exceeded(0x8), syndrome (0x59c8a4), err(-12)"
NO_POOL = "nvme nvme9: failed to initialize PI MR pool sized 128 for QID 1"
rows(KIND,
     ("a bad parameter of another kind", "storage-server", log(PI.replace("35e6ec", "1f9f02")), "quiet log-mkey-pi"),
     ("a drive of this host changes its size", "storage-server", log("nvme nvme3: rescanning namespaces.", "nvme3n1: detected capacity change from 0 to 7501476528"), "quiet log-mkey-pi"),
     ("a program has written the line", "storage-server", records((12, 900, PI)), "quiet log-mkey-pi"),
     ("no pool for reads and writes", "storage-server", log("nvme nvme1: failed to initialize MR pool sized 128 for QID 1"), "quiet log-mkey-pi"),
     ("the target is not there", "storage-server", log("nvme nvme1: rdma connection establishment failed (-110)"), "quiet log-mkey-pi"),
     ("of mlx5_core, new kernel", "storage-server", log(PI), "warning log-mkey-pi"),
     ("of nvme alone", "dgx-a100", log(NO_POOL, "nvme nvme9: rdma connection establishment failed (-22)"), "warning log-mkey-pi"),
     ("of both", "storage-server", log(PI, NO_POOL), "warning log-mkey-pi"),
     ("the record has the device", "dgx-h100", put("dev/kmsg", f"6,0,0,-;Linux version 6.8.0-60-generic\n3,1,20011,-;{PI.replace('a1:00.0', '29:00.1')}\n SUBSYSTEM=pci\n DEVICE=+pci:0000:29:00.1"), "warning log-mkey-pi", {"words": "29:00.1"}),
     ("no keys are left, and so no pool", "storage-server", log(NO_KEYS, NO_POOL), "warning log-mkey-limit"))

KIND = "faults of an IOMMU"
DMAR = "DMAR: [DMA {} Request device [{}] fault addr 0xffb3c000 [fault reason 0x05] PTE Write access is not set"
FAULT = "{}: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0021 address=0xfde7c000 flags=0x0020]"
rows(KIND,
     ("the USB controller at boot", "hgx-b200", log(DMAR.format("Read NO_PASID]", "00:14.0")), "quiet log-iommu-faults"),
     ("a drive", "storage-server", log(FAULT.format("nvme 0000:f0:00.0")), "quiet log-iommu-faults"),
     ("an Ethernet port without RDMA", "dgx-a100", log(FAULT.format("ixgbe 0000:e2:00.0")), "quiet log-iommu-faults"),
     ("the console", "hpc-no-gpu", log(FAULT.format("ast 0000:fa:00.0")), "quiet log-iommu-faults"),
     ("a function that is not there, beside a NIC", "dgx-h100", log(DMAR.format("Read NO_PASID]", "5e:00.1")), "quiet log-iommu-faults"),
     ("a drive at a NIC's place in another domain", "gb200", log("arm-smmu-v3 arm-smmu-v3.4.auto: event: F_TRANSLATION client: 0005:01:00.0 sid: 0x100 ssid: 0x0 iova: 0x0 ipa: 0x0"), "quiet log-iommu-faults"),
     ("interrupts of the USB controller", "dgx-h100", log("DMAR: [INTR-REMAP] Request device [00:14.0] fault index 0x8080 [fault reason 0x25] Blocked a compatibility format interrupt request"), "quiet log-iommu-faults"),
     ("an IOMMU starts", "mi300x-thor2", log("pci 0000:00:00.2: AMD-Vi: IOMMU performance counters supported", "AMD-Vi: Interrupt remapping enabled"), "quiet log-iommu-faults"),
     ("a NIC, Linux 4.18", "dgx-h100", log("DMAR: [DMA Write] Request device [5e:00.0] fault addr ffb3c000 [fault reason 05] PTE Write access is not set"), "warning log-iommu-faults", {"words": "5e:00.0"}),
     ("a NIC, with a PASID", "dgx-h100", log(DMAR.format("Read PASID 0x1]", "5e:00.0")), "warning log-iommu-faults", {"words": "5e:00.0"}),
     ("the second function of a card", "dgx-h100", log(DMAR.format("Write NO_PASID]", "29:00.1")), "warning log-iommu-faults", {"words": "29:00.1"}),
     ("a NIC of AMD's host", "mi300x-thor2", log(FAULT.format("bnxt_en 0000:19:00.0")), "warning log-iommu-faults", {"words": "19:00.0"}),
     ("a NIC of AMD's host, Linux 4.18", "mi300x-thor2", log("AMD-Vi: Event logged [IO_PAGE_FAULT device=19:00.0 domain=0x0021 address=0x00000000fde7c000 flags=0x0020]"), "warning log-iommu-faults", {"words": "19:00.0"}),
     ("a GPU of AMD's host", "mi300x-pollara", lambda m: log(FAULT.format(f"amdgpu {m.fn('GPU2').addr}"))(m), "warning log-iommu-faults"),
     ("a NIC behind an SMMU", "gb200", lambda m: log(f"arm-smmu-v3 arm-smmu-v3.4.auto: event: F_TRANSLATION client: {m.fn('mlx5_0').addr} sid: 0x100 ssid: 0x0 iova: 0x0 ipa: 0x0")(m), "warning log-iommu-faults"))

KIND = "cards for screens, and devices that guests have"
GTX = Kind((0x10DE, 0x1F82, 0x1458, 0x3FF5), 0x030000, "nouveau", (3, 16), bars=(16 << 20, 256 << 20, 32 << 20))
T400 = GTX.but(ids=(0x10DE, 0x1FF2, 0x10DE, 0x1613))
WX = Kind((0x1002, 0x699F, 0x1002, 0x0B04), 0x030000, "amdgpu", (3, 8), bars=(256 << 20, 2 << 20))
P600 = GTX.but(ids=(0x10DE, 0x1CB2, 0x103C, 0x11BD), driver="nvidia", model="Quadro P600")
RAPHAEL = Kind((0x1002, 0x164E, 0x1002, 0x164E), 0x030000, None, (4, 16), bars=(256 << 20, 2 << 20))
VGA = (0x10DE, 0x26B1, 0x10DE, 0x16A1)


def guests(driver):
    return lambda m: [(setattr(f, "driver", driver), setattr(f, "rdma", []), setattr(f, "nets", [])) for f in m.host.gpus()]


rows(KIND,
     ("GTX on nouveau", "hpc-no-gpu", plug(GTX, AMD5), "quiet peermem iommu-mode bar1-size"),
     ("GTX on nouveau, all of its memory mapped (Resizable BAR)", "hpc-no-gpu", plug(GTX.but(bars=(16 << 20, 8 << 30, 32 << 20)), AMD5), "quiet peermem gpu-driver iommu-mode"),
     ("T400 on nouveau", "storage-server", plug(T400, AMD5), "quiet peermem iommu-mode bar1-size"),
     ("graphics of an EPYC 4004, amdgpu kept out", "irdma-hpc", plug(RAPHAEL, INTEL4), "quiet gpu-driver amd-peer bar1-size roce-mtu"),
     ("graphics of an EPYC 4004, amdgpu loaded", "irdma-hpc", [plug(RAPHAEL.but(driver="amdgpu"), INTEL4), lambda m: m.host.modules.append("amdgpu ")], "quiet bar1-size roce-mtu"),
     ("Radeon Pro beside MI300X", "mi300x-thor2", plug(WX, AMD5), "quiet bar1-size"),
     ("Quadro P600 beside H100", "h100-4nic", plug(P600, INTEL5), "quiet bar1-size", {"map": True}),
     ("GPUs passed through, nvgrace_gpu_vfio_pci", "gb200", [guests("nvgrace_gpu_vfio_pci"), no_nvidia], "quiet peermem"),
     ("GPUs passed through, pciback of Xen", "h100-4nic", [guests("pciback"), no_nvidia], "quiet peermem"),
     ("IOMMU fault of a GPU that a guest has", "hgx-b200", [bind("vfio-pci"), no_nvidia, lambda m: log(DMAR.format("Write NO_PASID]", m.fn("GPU0").addr[5:]))(m)], "quiet log-iommu-faults"),
     ("queue_affinity of an active-backup bond", "storage-server", [lag_mode("queue_affinity", "mlx5_bond_0"), mode("active-backup 1", "bond0")], "no-text queue_affinity", {"command": "topo-check"}),
     ("commands for members, not for their bond", "h100-roce-lag", lossless(4, {}, "ens13f0np0", "ens13f1np1"), "no-text dcb pfc set dev bond", {"command": "topo-check"}),
     ("one of eight on nouveau", "dgx-h100", bind("nouveau", "GPU5"), "critical gpu-driver", {"words": "nouveau"}),
     ("RTX 6000, class VGA, on nouveau, four of them", "a100-pcie-spare", [lambda m: [(setattr(g, "ids", VGA), setattr(g, "cls", 0x030000)) for g in m.host.gpus()], bind("nouveau"), no_nvidia], "critical gpu-driver", {"words": "nouveau"}),
     ("ConnectX-2 in flash recovery", "hpc-no-gpu", recovery(0x0191, "mlx5_0"), "critical nic-driver"),
     ("ILLEGAL_DEV_TABLE_ENTRY of a NIC", "mi300x-thor2", log("iommu ivhd0: AMD-Vi: Event logged [ILLEGAL_DEV_TABLE_ENTRY device=0000:19:00.0 pasid=0x00000 address=0xfffffffdf8000000 flags=0x0a00]"), "warning log-iommu-faults"),
     ("interrupt of a NIC refused", "dgx-h100", log("DMAR: [INTR-REMAP] Request device [5e:00.0] fault index 0x8080 [fault reason 0x22] Present field in the IRTE entry is clear"), "warning log-iommu-faults"),
     ("pages cannot be pinned, as mlx5_ib says it", "dgx-h100", log("infiniband mlx5_0: mr_umem_get:838:(pid 8123): umem get failed (-14)"), "warning log-pin-pages"))

# All have pages of 64 KiB and nodes without processors, the memory of GPUs.
KIND = "PCI domains of six digits, behind an SMMU"
SMMU = "arm-smmu-v3 arm-smmu-v3.4.auto: event: F_TRANSLATION client: {} sid: 0x100 ssid: 0x0 iova: 0x0 ipa: 0x0"
TRANSLATES = model(lambda m: setattr(m.host, "iommu", "DMA"))
rows(KIND,
     ("in order", "gb200", [far], "quiet pcie-link-width hugepages-numa iommu-mode", {"map": True}),
     ("in order", "gb300", [far], "quiet acs-redirect hugepages-numa iommu-mode", {"map": True}),
     ("huge pages on the sockets alone", "gb300", [far, model(lambda m: setattr(m.host, "hugepages", 20))], "quiet hugepages-numa"),
     ("a NIC's link is narrow", "gb200", [far, link("mlx5_4", (5, 8))], "critical pcie-link-width", {"words": "100010:03:00.0"}),
     ("a NIC used an address that is not mapped", "gb200", [far, lambda m: log(SMMU.format(m.fn("mlx5_4").addr))(m)], "warning log-iommu-faults", {"words": "100010:03:00.0"}),
     ("the SMMU translates", "gb200", [far, TRANSLATES], "warning iommu-mode", {"words": "SMMU group"}),
     ("the SMMU translates", "gb300", [far, TRANSLATES], "warning iommu-mode", {"words": "SMMU group"}),
     ("completions of one GPU are redirected", "gb300", [far, lambda m: setattr(next(f for f in m.host.fns if f.cls == 0x080100).up.up.children[1], "acs", 0x1D)], "critical acs-redirect", {"words": "10000[0-9a-f]:"}),
     ("a NIC used an address that is not mapped", "gb300", [far, lambda m: log(SMMU.format(m.fn("mlx5_5").addr))(m)], "warning log-iommu-faults", {"words": "100012:03:00.0"}))

KIND = "drivers of clouds and of vendors"
BNXT = "usr/lib/x86_64-linux-gnu/libibverbs/libbnxt_re-rdmav34.so{}"
OPA = model(lambda m: (setattr(m.fn("mlx5_0"), "driver", "hfi1"), setattr(m.fn("mlx5_0"), "ids", (0x8086, 0x24F0, 0x8086, 0x24F0)),
                       m.files.update({BNXT.format("").replace("bnxt_re", "hfi1verbs"): ""})))
GDR = each(dev_put, lambda m: [r.name for f in m.host.nics() for r in f.rdma], "gdr", "1")
rows(KIND,
     ("EFA of Amazon's installer", "aws-p5", out_of_tree("efa"), "quiet modules-mixed"),
     ("Broadcom's packages", "mi300x-thor2", out_of_tree("bnxt_en", "bnxt_re"), "quiet modules-mixed"),
     ("Pensando's packages", "mi300x-pollara", out_of_tree("ionic", "ionic_rdma"), "quiet modules-mixed"),
     ("Intel's packages", "irdma-hpc", out_of_tree("ice", "irdma"), "quiet modules-mixed"),
     ("the driver of EFA reaches GPUs itself", "aws-p5", [without("nvidia_peermem"), CLOSED, GDR], "quiet peermem dmabuf"),
     ("efa_nv_peermem, RDMA core without DMA-BUF", "aws-p5", [without("nvidia_peermem"), NO_DMABUF, lambda m: m.host.modules.append("efa_nv_peermem 1.2.2|")], "quiet peermem dmabuf"),
     ("iWARP, which NCCL does not use", "irdma-hpc", iwarp(), "no-text NCCL_IB_HCA", {"command": "nic-map --env nccl"}),
     ("iWARP on the port for storage alone", "irdma-hpc", iwarp(only=("irdma1",)), "text NCCL_IB_HCA='=irdma3:1'", {"command": "nic-map --env nccl"}),
     ("the provider of Broadcom's packages", "mi300x-thor2", [put(BNXT.format(".inbox"), ""), put(BNXT.format(""), None), put("usr/local/lib/libbnxt_re-rdmav34.so", "")], "unknown provider-library"),
     ("providers in /usr/lib, as on Alpine", "hgx-b200", [put("usr/lib/x86_64-linux-gnu", None), put("usr/lib/libibverbs/libmlx5-rdmav57.so", "")], "quiet provider-library"),
     ("Omni-Path has packets of 10 KiB", "hpc-no-gpu", [OPA, model(lambda m: setattr(net_of(m, "ib0"), "mtu", 10236))], "quiet ipoib-mode"),
     ("spare ports: their interfaces may be down", "h100-pure-ib", THIS_HOST, "no-text [1-9] unknown", {"command": "topo-check --only roce-netdev"}),
     ("siw over the interface of a NIC is none", "hpc-no-gpu", siw("mlx5_1"), "no-text siw0 +(management|storage|compute)", {"command": "nic-map -n -o ibdev,role"}),
     ("siw over the interface of a NIC", "irdma-hpc", siw("irdma3"), "quiet firmware-uniform pcie-bandwidth", {"map": True}),
     ("mlx5_core alone of NVIDIA's packages", "hgx-b200", out_of_tree("mlx5_core"), "warning modules-mixed"),
     ("bnxt_en alone of Broadcom's packages", "mi300x-thor2", out_of_tree("bnxt_en"), "warning modules-mixed"),
     ("ib_core alone of NVIDIA's packages", "h100-4nic", lambda m: setattr(m.host, "modules", [x.replace("24.04-0.6.6|", "") if x.startswith("mlx5_ib") else x for x in m.host.modules]), "critical modules-mixed", {"words": "mlx5_ib"}),
     ("nvidia_peermem, which does not serve EFA", "aws-p5", CLOSED, "critical peermem", {"words": "efa_nv_peermem"}),
     ("the same, beside a device in software", "aws-p5", [CLOSED, rxe("ens32")], "critical peermem", {"words": "efa_nv_peermem"}),
     ("EFA without any peer memory", "aws-p5", [without("nvidia_peermem"), NO_DMABUF], "critical peermem", {"words": "efa_nv_peermem"}),
     ("the provider of the kernel's driver set aside", "mi300x-thor2", [put(BNXT.format(".inbox"), ""), put(BNXT.format(""), None)], "critical provider-library", {"words": "bnxt"}),
     ("Pensando's provider is not installed", "mi300x-pollara", put(BNXT.format("").replace("bnxt_re", "ionic"), None), "critical provider-library", {"words": "ionic"}),
     ("providers in /usr/lib, all but one", "hgx-b200", [put("usr/lib/x86_64-linux-gnu", None), put("usr/lib/libibverbs/libefa-rdmav57.so", "")], "critical provider-library", {"words": "mlx5"}),
     ("InfiniBand has not", "hpc-no-gpu", model(lambda m: setattr(net_of(m, "ib0"), "mtu", 10236)), "warning ipoib-mode"),
     ("advice of an Omni-Path port", "hpc-no-gpu", [OPA, down("mlx5_0")], "no-text mlxlink", {"command": "topo-check"}),
     ("advice of a missing NIC", "mi300x-thor2", gone("bnxt_re3"), "text grep -e bnxt_en -e AER", {"command": "topo-check"}),
     ("advice of a missing accelerator", "mi300x-pollara", gone("GPU2"), "text grep -e amdgpu -e AER", {"command": "topo-check"}),
     ("advice of a missing accelerator", "dgx-h100", gone("GPU2"), "text grep -e NVRM -e AER", {"command": "topo-check"}),
     ("advice of an accelerator without driver", "mi300x-thor2", pci_put("GPU3", "driver", None), "no-text NVRM$", {"command": "topo-check"}),
     ("advice of a slow port", "mi300x-thor2", lambda m: setattr(m.fn("bnxt_re2").rdma[0].ports[0], "rate", 200), "text ethtool -m benic3p1", {"command": "topo-check"}),
     ("advice of a slow port", "hgx-b200", lambda m: setattr(m.fn("mlx5_2").rdma[0].ports[0], "rate", 200), "text mlxlink -d", {"command": "topo-check"}),
     ("advice of a virtual function that is down", "kvm-h100", down("mlx5_2"), "text vf N state auto", {"command": "topo-check"}),
     ("advice of a LAG that is down", "h100-roce-lag", down("mlx5_bond_2"), "text ethtool -m ens12f0np0", {"command": "topo-check"}),
     ("advice of a port that is down", "hgx-b200", down("mlx5_2"), "text ethtool -m gpu2rdma0", {"command": "topo-check"}))

KIND = "pods, hypervisors and their guests"
OTHERS = [f"mlx5_{n}" for n in range(1, 12)]
ONE_NET = [addrs(f"gpu{n}rdma0", f"10.64.0.{21 + n}/24") for n in range(8)]
ISOLATED = model(lambda m: [setattr(f, "acs", 0x1D) for f in m.host.fns if f.acs is not None])
TRANSLATED = model(lambda m: setattr(m.host, "iommu", "DMA-FQ"))
HIDDEN = [model(lambda m: setattr(m.host, "cpu", m.host.cpu + " hypervisor")), put("sys/class/dmi/id/sys_vendor", "QEMU")]
rows(KIND,
     ("a pod with one device file; other interfaces are elsewhere", "hgx-b200", [container(), devices(1, 12), elsewhere(*OTHERS)], "quiet gid-netns gid-usable"),
     ("all GPUs for guests, the IOMMU translates", "hgx-b200", [bind("vfio-pci"), no_nvidia, TRANSLATED, ISOLATED], "quiet iommu-mode gid-usable", {"map": True}),
     ("the same, NICs without addresses", "hgx-b200", [bind("vfio-pci"), no_nvidia, *[addrs(n) for n in RAILS]], "quiet gid-usable", {"map": True}),
     ("the same, NICs in switchdev mode", "hgx-b200", [bind("vfio-pci"), no_nvidia, switchdev(*[f"mlx5_{n}" for n in range(8)])], "quiet gid-usable roce-netdev roce-mtu", {"map": True}),
     ("no NUMA node in a guest", "hpc-no-gpu", [*HIDDEN, model(lambda m: setattr(m.fn("mlx5_1"), "numa", -1))], "quiet numa-node"),
     ("rails of one subnet, each in its VRF", "hgx-b200", [*ONE_NET, vrf(*RAILS), everywhere(rp_filter=1)], "quiet arp-flux rp-filter"),
     ("all ports in an Open vSwitch, two without a cable", "irdma-hpc", vrf(*IRDMA, each=False), "quiet port-state roce-netdev"),
     ("ports on the board that have neither a cable nor an address", "irdma-hpc", [down("irdma1"), down("irdma3"), *[addrs(n) for n in IRDMA], gateway("enp23s0f1", None)], "unknown port-state roce-netdev"),
     ("links of functions whose pods come and go", "dgx-a100-sriov", lambda m: log(*[f"mlx5_core {m.fn('mlx5_12').addr} ibp75s0v0: Link down"] * 8)(m), "quiet log-link-flaps"),
     ("a link of a switchdev NIC's virtual function goes up and down", "hgx-b200", [switchdev("mlx5_3"), lambda m: log(*[f"mlx5_core {m.fn('mlx5_3').addr} eth30: Link down"] * 8)(m)], "quiet log-link-flaps"),
     ("a drive was replaced", "hgx-b200", lambda m: log(f"pcieport {next(f for f in m.host.fns if f.kind.driver == 'nvme').up.addr}: pciehp: Slot(12): Card not present")(m), "quiet log-pcie-errors"),
     ("a NIC was replaced", "hgx-b200", lambda m: log(f"pcieport {m.fn('mlx5_3').up.addr}: pciehp: Slot(12): Card not present")(m), "warning log-pcie-errors"),
     ("a link of a switchdev NIC goes up and down", "hgx-b200", [switchdev("mlx5_3"), lambda m: log(*[f"mlx5_core {m.fn('mlx5_3').addr} gpu3rdma0: Link down"] * 8)(m)], "warning log-link-flaps"),
     ("a NIC is in a pod as a whole", "hgx-b200", no_rdma("mlx5_3"), "quiet switch-uneven nic-driver"),
     ("a pod without the interface of its own device", "hgx-b200", [container(), devices(2, 12), elsewhere(*OTHERS)], "critical gid-netns", {"words": "mlx5_1"}),
     ("half of the GPUs for guests, the IOMMU translates", "dgx-h100", [bind("vfio-pci", "GPU0", "GPU1", "GPU2", "GPU3"), TRANSLATED], "warning iommu-mode", {"words": "mlx5_0"}),
     ("a NIC in switchdev mode is down", "hgx-b200", [switchdev("mlx5_3"), down("mlx5_3")], "critical port-state", {"words": "mlx5_3"}),
     ("no NUMA node", "hpc-no-gpu", model(lambda m: setattr(m.fn("mlx5_1"), "numa", -1)), "warning numa-node"),
     ("rails of one subnet in one VRF", "hgx-b200", [*ONE_NET, vrf(*RAILS, each=False)], "warning arp-flux"),
     ("ports on the board without a cable, with an address", "irdma-hpc", [down("irdma1"), down("irdma3")], "critical port-state", {"words": "irdma1"}))

KIND = "other generations, and networks for storage"
BROADWELL = (0x8086, 0x6F08, 0, 0)
APU = Kind((0x1002, 0x1638, 0x1002, 0x1636), 0x030000, "amdgpu", (3, 16), bars=(256 << 20, 2 << 20))
PSP = Kind((0x1022, 0x15DF, 0x1022, 0x15DF), 0x108000, "ccp", (3, 16))
BAR0 = "0x0000200000000000 0x0000200003ffffff 0x000000000014220c"
unordered = model(lambda m: setattr(m.fn("mlx5_0"), "relaxed", False))
limited = each(dev_put, ("mlx5_8", "mlx5_9"), "ports/1/pkeys/0", "0x7fff")


def graphics(kind, *beside):
    """A graphics card; other functions of the same device."""
    def step(m):
        up = m.host.slot(AMD5, 0, 0x6F, 0x70)
        for n, k in enumerate((kind, *beside)):
            m.host.endpoint(up, k, fn=n)
        m.host.modules.append("amdgpu ")
    return step


rows(KIND,
     ("relaxed ordering below Broadwell's root ports", "hpc-no-gpu", [unordered, model(lambda m: setattr(m.fn("mlx5_0").up, "ids", BROADWELL))], "quiet relaxed-ordering"),
     ("graphics in the processor, for computing", "hpc-no-gpu", graphics(APU, PSP), "quiet bar1-size iommu-mode"),
     ("GB10, whose memory is the processor's", "gb200", [model(lambda m: [setattr(g, "ids", (0x10DE, 0x2E12, 0, 0)) for g in m.host.gpus()]), each(pci_put, [f"GPU{n}" for n in range(4)], "resource", BAR0)], "quiet bar1-size"),
     ("IPoIB of storage in connected mode", "dgx-2", each(net_put, ("ib8", "ib9"), "mode", "connected"), "quiet ipoib-mode"),
     ("ports of storage are limited members", "dgx-2", limited, "quiet ib-pkey"),
     ("the lowest speed, or an unknown one", "hpc-no-gpu", model(lambda m: setattr(m.fn("mlx5_0").rdma[0].ports[0], "rate", 10)), "unknown ib-width"),
     ("relaxed ordering is off", "hpc-no-gpu", unordered, "warning relaxed-ordering", {"words": "mlx5_0"}),
     ("a graphics card with a small window, for computing", "irdma-hpc", graphics(APU), "warning bar1-size"),
     ("IPoIB of one compute port in connected mode", "dgx-2", net_put("ib3", "mode", "connected"), "warning ipoib-mode", {"words": "ib3"}),
     ("a compute port is a limited member", "dgx-2", dev_put("mlx5_3", "ports/1/pkeys/0", "0x7fff"), "warning ib-pkey", {"words": "mlx5_3"}),
     ("one lane", "hpc-no-gpu", dev_put("mlx5_0", "ports/1/rate", "25 Gb/sec (1X EDR)"), "critical ib-width"))

KIND = "partitions, container runtimes, links of bonds, DSCP maps, errors that were contained"
COMPUTE = ("mlx5_0", "mlx5_3", "mlx5_4", "mlx5_5", "mlx5_6", "mlx5_9", "mlx5_10", "mlx5_11")


def limited_to(size, *programs):
    """Programs that run, with this limit of locked memory: (name, process)."""
    text = "Limit                     Soft Limit           Hard Limit           Units     \nMax locked memory         %-20s %-20s bytes     "
    return lambda m: [(put(f"proc/{pid}/comm", name)(m), put(f"proc/{pid}/limits", text % (size, size))(m)) for name, pid in programs]


def contained(find):
    return lambda m: m.host.log.append(f"pcieport {find(m).up.addr}: DPC: containment event, status:0x1f01 source:0x0000")


def of_mlx5_3(text):
    return lambda m: m.host.log.append(f"mlx5_core {m.fn('mlx5_3').addr}: {text}")


def unplugged(leg):
    leg.carrier, leg.lost = False, 1


rows(KIND,
     ("a partition for each rail", "dgx-h100", [dev_put(d, "ports/1/pkeys/0", f"0x{0x8010 + n:x}") for n, d in enumerate(COMPUTE)], "quiet ib-pkey"),
     ("one port is in another partition, too", "dgx-h100", dev_put("mlx5_3", "ports/1/pkeys/1", "0x8005"), "quiet ib-pkey"),
     ("the kubelet has a limit, and containerd has none", "hgx-b200", [limited_to(8 << 20, ("kubelet", 2101)), limited_to("unlimited", ("containerd", 2200))], "quiet memlock"),
     ("errors of a drive were contained", "hgx-b200", contained(lambda m: next(f for f in m.host.fns if f.kind.driver == "nvme")), "quiet log-pcie-errors"),
     ("a DSCP of one port has another lossy priority", "hgx-b200", lossless(3, {46: 6}, "gpu3rdma0"), "quiet roce-pfc-uniform"),
     ("the driver of a NIC was restarted", "hgx-b200", of_mlx5_3("mlx5_health_try_recover:344:(pid 1): health recovery succeeded"), "quiet log-nic-health"),
     ("one port of eight is in another partition", "dgx-h100", dev_put("mlx5_3", "ports/1/pkeys/0", "0x8005"), "warning ib-pkey", {"words": "mlx5_3"}),
     ("containerd has a limit", "hgx-b200", [limited_to("unlimited", ("kubelet", 2101)), limited_to(8 << 20, ("containerd", 2200))], "critical memlock", {"words": "containerd"}),
     ("the kubelet has a limit, and no runtime runs", "hgx-b200", limited_to(8 << 20, ("kubelet", 2101)), "critical memlock", {"words": "kubelet"}),
     ("errors of a NIC were contained", "hgx-b200", contained(lambda m: m.fn("mlx5_3")), "warning log-pcie-errors"),
     ("a NIC does not come back after an error", "hgx-b200", of_mlx5_3("mlx5_health_try_recover:338:(pid 1): health recovery flow aborted, PCI reads still not working"), "critical log-nic-health"),
     ("a NIC is too hot", "hgx-b200", of_mlx5_3("temp_warn:170:(pid 0): High temperature on sensors with bit set 0 1"), "warning log-nic-health"),
     ("DSCP 26 of one port has a lossy priority", "hgx-b200", lossless(3, {26: 0}, "gpu3rdma0"), "warning roce-pfc-uniform", {"words": "mlx5_3.*DSCP 26"}),
     ("DSCP 10 of one port has a lossy priority", "oci-h100", lossless(5, {26: 5, 46: 6}, "rdma3"), "warning roce-pfc-uniform", {"words": "rdma3.*DSCP 10"}),
     ("a link of the only bond is down", "storage-server", legs(unplugged, "bond0"), "warning bond-aggregator", {"words": "ens1f1np1"}),
     ("a link of the only bond is down, which is active-backup", "storage-server", [mode("active-backup 1", "bond0"), legs(unplugged, "bond0")], "warning bond-aggregator"),
     ("a link of each bond is down", "h100-roce-lag", legs(unplugged, *[f"bond{n}" for n in range(8)]), "warning bond-aggregator"))

KIND = "subnets, stale addresses, classes, cabling, of one port or of all"


def uncabled(leg):
    leg.carrier = False


def subnet(dev, prefix):
    return lambda m: dev_put(dev, "ports/1/gids/0", f"{prefix}:{m.fn(dev).rdma[0].guid}")(m)


def stale(name, dev, *new):
    """The interface has other addresses; the GIDs are those of before."""
    def step(m):
        entries = [(n, *gid) for n, gid in enumerate(port_gids(m.fn(dev).rdma[0], m.fn(dev).rdma[0].ports[0]))]
        addrs(name, *new)(m)
        gids(dev, entries)(m)
    return step


def bridge_of_ovs(name):
    """A port of an Open vSwitch, whose own interface has the addresses and the default route."""
    def step(m):
        net = net_of(m, name)
        net.master = Net("ovs-system", "02:00:00:00:00:09", 0, up=False)
        m.host.virtual += [net.master, Net("br-ex", net.mac, net.speed, net.addrs, net.mtu, gateway=net.gateway)]
        net.addrs, net.gateway = [], None
    return step


def forced(tclass, *devs):
    return each(dev_put, devs, "tc/1/traffic_class", tclass)


def aer(find, severity="Uncorrected (Fatal)"):
    return lambda m: m.host.log.append(f"{find(m).driver} {find(m).addr}: PCIe Bus Error: severity={severity}, type=Transaction Layer, (Receiver ID)")


def drive(m):
    return next(f for f in m.host.fns if f.kind.driver == "nvme")


EIGHT, CLASS = [f"mlx5_{n}" for n in range(8)], "Global tclass=106"
DESKTOP = [only_nics("mlx5_2"), *[gone(f"GPU{n}") for n in (3, 2, 1)]]  # a card in its LAN
rows(KIND,
     ("each rail is a subnet of its own", "dgx-h100", [subnet(d, f"fec0:0000:0000:00{n:02x}") for n, d in enumerate(COMPUTE)], "quiet ib-sm-lid"),
     ("the subnet manager of one rail has moved", "dgx-h100", dev_put("mlx5_3", "ports/1/sm_lid", "0x7"), "note ib-sm-lid", {"words": "mlx5_3.*LID 7"}),
     ("the second link of each bond was never cabled", "h100-roce-lag", legs(uncabled, *[f"bond{n}" for n in range(8)]), "note bond-aggregator", {"words": "each of 8"}),
     ("an address was added", "hgx-b200", lambda m: net_of(m, "gpu3rdma0").addrs.append("10.99.3.21/24"), "quiet gid-usable"),
     ("all have a traffic class", "hgx-b200", forced(CLASS, *EIGHT), "quiet roce-tclass"),
     ("a port for storage has no traffic class", "hgx-b200", [forced(CLASS, *EIGHT), forced("", "mlx5_10")], "quiet roce-tclass"),
     ("the only NIC is in an Open vSwitch", "a100-pcie-spare", [*DESKTOP, bridge_of_ovs("ens3np0")], "unknown gid-usable"),
     ("a card in a LAN with packets of 1500 bytes", "a100-pcie-spare", DESKTOP, "quiet roce-mtu"),
     ("ConnectX-3 has RoCE v1 alone", "hpc-no-gpu", [dev_put("mlx5_1", "hca_type", "MT4099"), gid_attrs("mlx5_1", "types", V1, range(6))], "quiet gid-v2"),
     ("no huge pages, and no accelerators", "aws-p5", [*[gone(f"GPU{n}") for n in range(7, -1, -1)], no_nvidia, model(lambda m: setattr(m.host, "hugepages", 0))], "quiet hugepages-efa"),
     ("fatal errors of a drive", "hgx-b200", aer(drive), "quiet log-pcie-errors"),
     ("a pod with the device of one NIC, each namespace having its own", "dgx-h100", [container(), devices(1, 1), no_rdma(*[f"mlx5_{n}" for n in range(1, 12)])], "unknown nic-driver"),
     ("one port of eight is in another subnet", "dgx-h100", subnet("mlx5_3", "fec0:0000:0000:0001"), "warning ib-sm-lid", {"words": "mlx5_3.*0xfec0000000000001"}),
     ("the GIDs of one port are those of an address that it had", "hgx-b200", stale("gpu3rdma0", "mlx5_3", "10.64.3.99/24"), "warning gid-usable", {"words": "mlx5_3.*10.64.3.21"}),
     ("one port of eight has no traffic class", "hgx-b200", [forced(CLASS, *EIGHT), forced("", "mlx5_3")], "warning roce-tclass", {"words": "mlx5_3"}),
     ("the second link of one bond was never cabled", "h100-roce-lag", legs(uncabled, "bond3"), "warning port-speed-uniform", {"words": "mlx5_bond_3"}),
     ("RoCE v1 alone", "hpc-no-gpu", gid_attrs("mlx5_1", "types", V1, range(6)), "warning gid-v2"),
     ("no huge pages for eight accelerators", "aws-p5", model(lambda m: setattr(m.host, "hugepages", 0)), "warning hugepages-efa"),
     ("fatal errors of a NIC", "hgx-b200", aer(lambda m: m.fn("mlx5_3")), "critical log-pcie-errors"),
     ("fatal errors of the port above a NIC", "hgx-b200", aer(lambda m: m.fn("mlx5_3").up), "critical log-pcie-errors"))
settings(KIND,
         ("UCX without RC alone", "hgx-b200", "UCX_TLS=^rc", "quiet env-rdma-off"),
         ("UCX without RC, DC and UD", "hgx-b200", "UCX_TLS=^rc,dc,ud", "critical env-rdma-off"))
rows(KIND,
     ("a port without an address is not named", "hgx-b200", addrs("gpu3rdma0"), "no-text mlx5_3:1", {"command": "nic-map --env nccl"}),
     ("a port with one is", "hgx-b200", [], "text mlx5_3:1", {"command": "nic-map --env nccl"}))

KIND = "VLANs, GUIDs, links that go down, of one port or of all"


def in_vlan(name, number):
    """The addresses of the interface are on a VLAN above it."""
    def step(m):
        net = net_of(m, name)
        above = Net(f"{name}.{number}", net.mac, net.speed, net.addrs, net.mtu)
        above.vlan, above.lower, net.vlans, net.addrs = number, net, [above], []
        m.host.virtual.append(above)
    return step


def beside_vlan(name, dev):
    """Another VLAN on the interface, whose GIDs come first, but for those of link-local addresses."""
    def step(m):
        net = net_of(m, name)
        above = Net(f"{name}.500", net.mac, net.speed, ["10.80.0.21/24"], net.mtu)
        above.vlan, above.lower, net.vlans = 500, net, [above]
        m.host.virtual.append(above)
        entries = sorted(port_gids(m.fn(dev).rdma[0], m.fn(dev).rdma[0].ports[0]), key=lambda gid: (not gid[0].startswith("fe80"), not gid[2].endswith(".500")))
        gids(dev, [(n, *gid) for n, gid in enumerate(entries)])(m)
    return step


def went_down(times, *devs):
    return lambda m: [setattr(m.fn(d).rdma[0].ports[0], "link_downed", times) for d in devs]


rows(KIND,
     ("each rail in a VLAN of its own", "hgx-b200", [in_vlan(n, 100 + k) for k, n in enumerate(RAILS)], "quiet rail-address gid-usable"),
     ("a VLAN for storage beside the address of one rail", "hgx-b200", beside_vlan("gpu3rdma0", "mlx5_3"), "quiet rail-address"),
     ("an address of a service on one rail", "hgx-b200", lambda m: net_of(m, "gpu3rdma0").addrs.insert(0, "10.64.3.250/32"), "quiet rail-address"),
     ("all links were lost as often, with their switches", "dgx-h100", went_down(12, *COMPUTE), "quiet link-downed"),
     ("virtual functions have no GUIDs yet", "dgx-h100", vfs("mlx5_3", 12, 2, "0000:0000:0000:0000"), "quiet node-guid"),
     ("the address of one rail is in no VLAN", "hgx-b200", [in_vlan(n, 100 + k) for k, n in enumerate(RAILS) if k != 3], "warning rail-address", {"words": "gpu3rdma0.*not in"}),
     ("the address of one rail is in a VLAN", "hgx-b200", in_vlan("gpu3rdma0", 103), "warning rail-address", {"words": "gpu3rdma0.103.* in a"}),
     ("one rail is in another VLAN", "hgx-b200", [in_vlan(n, 1000 if n == "gpu3rdma0" else 100) for n in RAILS], "warning rail-address", {"words": "VLAN 1000"}),
     ("a mask of a rail in a VLAN", "hgx-b200", [*[in_vlan(n, 100) for n in RAILS], lambda m: setattr(net_of(m, "gpu3rdma0.100"), "addrs", ["10.64.3.21/16"])], "warning rail-address", {"words": "gpu3rdma0.100"}),
     ("one link was lost more often than the others", "dgx-h100", [went_down(12, *COMPUTE), went_down(60, "mlx5_3")], "warning link-downed", {"words": "mlx5_3"}),
     ("two cards have one GUID", "dgx-h100", lambda m: setattr(m.fn("mlx5_3").rdma[0], "guid", m.fn("mlx5_4").rdma[0].guid), "warning node-guid", {"words": "mlx5_3.*mlx5_4"}))


def nonfatal(dev, total, **counts):
    return pci_put(dev, "aer_dev_nonfatal", "".join(f"{name} {n}\n" for name, n in counts.items()) + f"TOTAL_ERR_NONFATAL {total}")


rows("partitions, container runtimes, links of bonds, DSCP maps, errors that were contained",
     ("requests that a card does not support", "hgx-b200", [nonfatal(d, 2, CmpltTO=0, UnsupReq=2) for d in ("GPU3", "mlx5_3")], "quiet aer-uncorrectable"),
     ("completions that did not come, beside them", "hgx-b200", nonfatal("mlx5_3", 3, CmpltTO=1, UnsupReq=2), "warning aer-uncorrectable", {"words": "mlx5_3: 0 fatal, 1 nonfatal"}))

KIND = "adapters without RDMA, subfunctions, classes of VLANs, halves of a port, NICs of a guest, backups"


def raw(dev):
    """Its port does raw packets only: the GID table has no entries (mana_ib without RDMA)."""
    def step(m):
        at = f"{m.ib(dev)}/ports/1"
        m.files.update({f"{at}/gids": None, f"{at}/gid_attrs": None})
        m.empty.append(f"{at}/gids")
        m.fn(dev).driver = "mana"
    return step


def subfunction(dev, number, name, *own):
    """A NIC in switchdev mode, whose subfunction has an RDMA device and the addresses, as on the Arm side of a BlueField."""
    def step(m):
        switchdev(dev)(m)
        fn, net = m.fn(dev), Net(name, "02:c4:15:00:00:01", 200, list(own), 9000)
        m.host.virtual.append(net)
        m.files[f"sys/devices/virtual/net/{name}"] = None
        net.index = 90
        guid = net.link_local().packed[8:].hex()
        rdma = Rdma(f"{dev}_sf", fn.kind, ":".join(guid[i:i + 4] for i in range(0, 16, 4)), [Port("Ethernet", 200, net)])
        path = f"{fn.path()}/mlx5_core.sf.{number}"
        m.files["sys/class/infiniband_verbs/uverbs90/ibdev"] = f"{rdma.name}\n"
        render_rdma(m.files, path, rdma)
        put_class(m.files, path, "net", name)
        render_net(m.files, f"sys/devices/{path}/net/{name}/", net)
    return step


def by_tag(m):
    """No NIC trusts the DSCP."""
    plain = m.dcb

    def dcb(nic):
        found = plain(nic)
        return (ets(8, [100] * 8, [255] * 8, (1, 0, 2, 3, 4, 5, 6, 7)) + pfc(8, 8, 7) + applications({}), 13) if found and nic.lossless else found
    m.dcb = dcb


def halves(*devs):
    """Devices of one port, at two places."""
    return [only_nics(*devs), *[dev_put(d, "ports/1/rate", "800 Gb/sec (4X XDR)") for d in devs], *[guid(d, "a088:c203:0042:0000") for d in devs]]


def backup(*without, left=()):
    """A bond over two cards with one active link; these devices have no GIDs, or the ones left: the default GID of the bond."""
    def step(m):
        bond = net_of(m, "bond0")
        bond.mode, bond.slaves[1].standby = "active-backup 1", True
        for dev in without:
            gids(dev, left)(m)
    return step


IN_VLANS = [in_vlan(n, 100 + k) for k, n in enumerate([*RAILS, "enp90s0f0np0", "enp216s0f0np0"])]
rows(KIND,
     ("an adapter that does raw packets only", "azure-nd-h100-v5", raw("mlx5_8"), "quiet gid-usable gid-v2 roce-lossless nic-missing"),
     ("a subfunction has the address", "hgx-b200", subfunction("mlx5_10", 4, "enp216s0f0s0", "10.96.1.99/24"), "quiet gid-usable gid-uniform roce-netdev"),
     ("PCP trusted, rails and storage in VLANs", "hgx-b200", [*IN_VLANS, by_tag], "quiet roce-trust roce-lossless"),
     ("each half of a port", "hgx-b200", halves("mlx5_0", "mlx5_4"), "quiet pcie-bandwidth"),
     ("a NIC of another board in place of one", "azure-nd-h100-v5", lambda m: setattr(m.fn("mlx5_3"), "ids", (0x15B3, 0x101E, 0x15B3, 0x0024)), "quiet nic-missing"),
     ("PCP trusted, without VLANs", "hgx-b200", by_tag, "warning roce-trust", {"words": "mlx5_3"}),
     ("one half of a port has half of the lanes", "hgx-b200", [*halves("mlx5_0", "mlx5_4"), link("mlx5_4", (5, 8), (5, 8), (5, 8))], "warning pcie-bandwidth", {"words": "mlx5_4: PCIe link of 252"}),
     ("a NIC of a guest has gone", "azure-nd-h100-v5", gone("mlx5_3"), "warning nic-missing", {"words": "7 compute NICs"}),
     ("the same, beside an adapter that does raw packets only", "azure-nd-h100-v5", [raw("mlx5_8"), gone("mlx5_3")], "warning nic-missing"),
     ("the backup link of a bond has no GIDs", "dgx-h100", backup("mlx5_8"), "quiet gid-usable gid-v2"),
     ("it has the default GID of the bond alone", "dgx-h100", [backup("mlx5_8", left=[(0, "fe80:0000:0000:0000:a288:c2ff:fe30:0b1e", "RoCE v2", "bond0")]), gateway("bond0", None)], "quiet gid-usable gid-v2"),
     ("the active link of a bond has no GIDs", "dgx-h100", backup("mlx5_2", "mlx5_8"), "critical gid-usable", {"words": "mlx5_2"}),
     ("a link of a bond with two active ones has no GIDs", "dgx-h100", gids("mlx5_8"), "critical gid-usable", {"words": "mlx5_8"}))
