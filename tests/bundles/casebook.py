#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Cases reported in public, with the cause that their thread settled on: each as a host that has the evidence, and the rule
that has to name it. casebook.py RDMADIAG WORK-FOLDER: lays out a healthy made-up host, puts in the evidence of one case after
the other, and holds what topo-check says against it; speaks TAP. casebook.py --table: CASEBOOK.md.

Evidence marked "thread" stands in the thread so; "memory" is what such a host has, written from memory. The numbers up to 69
are those of the casebook; from 73 on they are this file's own. Two kinds must raise no alarm (rule None): a thread that was
not settled (status O), and one whose host was in order, the cause being elsewhere (status H)."""
import json, os, shutil, subprocess, sys

GPU = "sys/bus/pci/devices/0000:13:00.0/"
IB = "sys/class/infiniband/mlx5_0/ports/1/"
ROCE = "sys/class/infiniband/mlx5_8/ports/1/"
ZERO = ":".join(["0000"] * 8) + "\n"
LIMITS = "Limit                     Soft Limit           Hard Limit           Units     \nMax locked memory         %-20s %-20s bytes     \n"
V1, V2 = "IB/RoCE v1\n", "RoCE v2\n"
ENTRY = "%s 16384 2 - Live 0x0000000000000000 (OE)\n"
OPEN = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build\n"
CLOSED = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\n"


def log(*lines):
    return {"dev/kmsg": "6,0,1,-;Linux version 6.1.0\n" + "".join(f"4,{n},{n * 1000000},-;{line}\n" for n, line in enumerate(lines, 1))}


def launcher(comm, size):
    return {"proc/4242/comm": comm, "proc/4242/limits": LIMITS % (size, size), "proc/1/comm": "systemd",
            "proc/1/limits": LIMITS % (size, size)}


def gid_table(table):
    """The port's GIDs are these and no others: by index, GID and type."""
    files = {}
    for i in {*range(4), *table}:
        gid, kind = table.get(i, (ZERO, None))
        files |= {f"{ROCE}gids/{i}": gid, f"{ROCE}gid_attrs/types/{i}": kind, f"{ROCE}gid_attrs/ndevs/{i}": kind and "eth8\n"}
    return files


def mapped(address):
    """The GID of an IPv4 address: eight digits."""
    return ZERO[:25] + f"ffff:{address[:4]}:{address[4:]}\n"


def no_rdma(*also):
    """mlx5_0 is not there, and its interface neither."""
    return {"sys/class/infiniband/mlx5_0": None, "sys/class/net/ib0": None, **dict.fromkeys(also)}


def link(addr, now, most, lanes, most_lanes):
    """Speed and width of the link above a function: now, and at most."""
    at = f"sys/bus/pci/devices/0000:{addr}/"
    return {at + "current_link_speed": f"{now} GT/s PCIe\n", at + "max_link_speed": f"{most} GT/s PCIe\n",
            at + "current_link_width": f"{lanes}\n", at + "max_link_width": f"{most_lanes}\n"}


def device_files(*kinds):
    """Files of all twelve devices in /dev/infiniband."""
    files = {f"sys/class/infiniband_verbs/uverbs{n}/ibdev": f"mlx5_{n}\n" for n in range(12)}
    return files | {f"dev/infiniband/{kind}{n}": "" for kind in kinds for n in range(12)}


def acs(control):
    """The control register of the switch's downstream ports above GPU and NIC."""
    def change(data):
        return data[:0x106] + control.to_bytes(2, "little") + data[0x108:]
    return {f"sys/bus/pci/devices/0000:{a}/config": change for a in ("12:00.0", "12:01.0", "12:02.0", "12:03.0")}


# The interface of the RoCE port has an IPv4 address.
ADDRESSED = {
    "proc/net/route": "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
                      "eth8\t0000080A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n",
    "proc/net/fib_trie": "Main:\n  +-- 0.0.0.0/0 3 0 5\n     +-- 10.8.0.0/24 2 0 2\n        |-- 10.8.0.0\n           /24 link UNICAST\n"
                         "Local:\n  +-- 0.0.0.0/0 3 0 5\n     +-- 10.8.0.0/24 2 0 2\n        |-- 10.8.0.1\n           /32 host LOCAL\n"}


# row, what, rule, where the evidence is from, files
CASES = [
    ("1", "memlock of 8192 kB inside mpirun", "memlock", "thread: ulimit -l was 8192 (nccl-tests#206)", launcher("slurmd", 8192 << 10)),
    ("2", "ibv_reg_mr of a sample program", "memlock", "thread: ulimit -l unlimited solved it; the 64 kB are from memory (the-geek-in-the-corner#6)", launcher("slurmd", 64 << 10)),
    ("3", "ibv_create_cq", "memlock", "thread: max locked memory (kbytes, -l) 64 (ucx#8229)", launcher("slurmd", 64 << 10)),
    ("4", "memory keys used up", "log-mkey-limit", "thread (ucx#6264)", log("mlx5_core 0000:41:00.0: mlx5_cmd_out_err:800:(pid 233522): CREATE_MKEY(0x200) op_mod(0x0) failed, status limits exceeded(0x8), syndrome (0x18af6), err(-12)")),
    ("5", "only on some nodes; suspects, no cause", None, "thread: vm.max_map_count 65530 (ucx#8702)", {"proc/sys/vm/max_map_count": "65530\n", **launcher("slurmd", "unlimited")}),
    ("7", "queue pairs used up", "log-qp-limit", "thread (libfabric#7368)", log("mlx5_core 0000:5e:00.0: mlx5_cmd_check:824:(pid 46096): CREATE_QP(0x500) op_mod(0x0) failed, status limits exceeded(0x8), syndrome (0x19c6d6)")),
    ("9", "doorbell pages used up", "log-uar-limit", "thread (ucx#6049)", log("mlx5_core 0000:61:00.0: mlx5_cmd_check:795:(pid 53945): ALLOC_UAR(0x802) op_mod(0x0) failed, status limits exceeded(0x8), syndrome (0x5a7939)")),
    ("11", "DEVX queue pair; external, unsettled", None, "memory: a syndrome that nobody has explained", log("mlx5_core 0000:41:00.0: mlx5_cmd_check:795:(pid 1): CREATE_QP(0x500) op_mod(0x0) failed, status bad parameter(0x3), syndrome (0x123456)")),
    ("13b", "EFA's receive buffers", "memlock", "thread: max locked memory was 65536 (awsome-distributed-ai#647)", launcher("slurmd", 65536)),
    ("18", "the GID is link-local", "gid-usable", "thread: the GID in use is fe80::9e63:c0ff:fe65:ab90 (Mooncake#204); that the port has no other, and its interface an IPv4 address, is from memory", gid_table({0: ("fe80:0000:0000:0000:9e63:c0ff:fe65:ab90\n", V1), 1: ("fe80:0000:0000:0000:9e63:c0ff:fe65:ab90\n", V2)}) | ADDRESSED),
    ("21", "retry count of 20", "log-retry-count", "thread (charm#2532)", log("mlx5_core 0000:04:00.0: mlx5_cmd_check:795:(pid 9993): RTR2RTS_QP(0x504) op_mod(0x0) failed, status bad parameter(0x3), syndrome (0x4bb88f)")),
    ("24", "irdma shows LID 1 on Ethernet", "roce-lid", "thread: lid 1 (nccl#622)", {ROCE + "lid": "0x1\n"}),
    ("33", "GIDs of interfaces that the pod has not", "gid-netns", "thread: reading gid_attrs/types gives EINVAL (nccl#1573)", {f"{ROCE}gid_attrs/ndevs/{i}": None for i in range(4)} | {"sys/class/net/eth8": None}),
    ("34", "ksmbd does not load beside another RDMA stack", "log-rdma-symbols", "thread (cifsd-team/ksmbd#574)", log("ksmbd: disagrees about version of symbol ib_mr_pool_destroy", "ksmbd: Unknown symbol ib_mr_pool_destroy (err -22)")),
    ("34", "nvidia_peermem does not load", "log-peermem-symbols", "thread (gpu-operator#2868, nv_peer_memory#84)", log("nvidia_peermem: disagrees about version of symbol ib_register_peer_memory_client", "nvidia_peermem: Unknown symbol ib_register_peer_memory_client (err -22)")),
    ("35", "the HCA's GID has no netdev in the pod", "gid-netns", "memory: ndevs names an interface that is not there (nccl#925)", {"sys/class/net/eth8": None}),
    ("37", "no provider library in the image", "provider-library", "thread: no userspace device-specific driver found for uverbs0 to uverbs4 (caffe#590); libraries in the image solve it (k8s-rdma-sriov-dev-plugin#17); that rxe's is there is from memory", {"usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so": "", "etc/libibverbs.d/rxe.driver": "driver rxe\n"}),
    ("38", "one uverbs file is not exposed", "dev-infiniband", "memory (rdma-core#1060)", {"sys/class/infiniband_verbs/uverbs0/ibdev": "mlx5_0\n", "sys/class/infiniband_verbs/uverbs1/ibdev": "mlx5_1\n", "dev/infiniband/uverbs0": "", "proc/2/comm": "kthreadd\n"}),
    ("43", "nvidia_peermem is not loaded", "peermem", "thread: modprobe nvidia_peermem solved it (nccl#1343, nv_peer_memory#36); the other modules are from memory", {"proc/modules": ENTRY % "ib_core" + ENTRY % "nvidia", "proc/driver/nvidia/version": CLOSED}),
    ("45", "no DMA-BUF with the proprietary modules", "dmabuf", "thread: DMA_BUF_SUPPORTED=0 (mscclpp#657); the version line is from memory", {"proc/modules": ENTRY % "ib_core" + ENTRY % "nvidia", "proc/driver/nvidia/version": CLOSED}),
    ("48", "BAR1 is too small: the line in the log", "log-pin-pages", "thread (nv_peer_memory#27)", log("ib_umem_get: failed to get user pages, nr_pages=512", "mlx5_0:mr_umem_get:709:(pid 15855): umem get failed (-131668346275144)")),
    ("48", "BAR1 is too small: the window", "bar1-size", "thread: 256 MB (ucx#8049)", {GPU + "resource": "0x00000000c0000000 0x00000000c0ffffff 0x0000000000040200\n0x00000c0000000000 0x00000c000fffffff 0x000000000014220c\n"}),
    ("49", "a GeForce card", "gpu-geforce", "thread: RTX 3090 (gdrcopy#211)", {"proc/driver/nvidia/gpus/0000:13:00.0/information": "Model: \t\t NVIDIA GeForce RTX 3090\nDevice Minor: \t 0\n"}),
    ("51", "IBGDA without peer mapping", "gpu-initiated", "memory: one of the two settings (DeepEP#163)", {"proc/driver/nvidia/params": "EnableStreamMemOPs: 1\nRegistryDwords: \"\"\n"}),
    ("55", "a port is slower than the others", "port-speed-uniform", "thread: the ports had different rates (ucx#2684); which two is from memory", {"sys/class/infiniband/mlx5_3/ports/1/rate": "100 Gb/sec (4X EDR)\n"}),
    ("56", "a link that flaps", "log-link-flaps", "thread: port errors again and again, a flapping link (nccl#905); mlx5's lines are from memory", log(*["mlx5_core 0000:15:00.0 ib0: Link down", "mlx5_core 0000:15:00.0 ib0: Link up"] * 6)),
    ("57", "status 12 now and then; open", None, "memory: an ordinary log", log("mlx5_core 0000:15:00.0: Port module event: module 0, Cable plugged")),
    ("58", "ACS redirects peer-to-peer", "acs-redirect", "thread: ACSCtl: SrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ (nccl#304), 0x001d (nccl#2079)", acs(0x001D)),
    ("59", "GPU memory at 56 TB", "bar-address", "thread: MMIO window at 56 TB (perftest#173)", {GPU + "resource": "0x0000000000000000 0x0000000000000000 0x0000000000000000\n0x0000380000000000 0x0000381fffffffff 0x000000000014220c\n"}),
    ("60", "status 9 after the failed RTR2RTS", "log-retry-count", "thread (charm#2532)", log("mlx5_core 0000:04:00.0: mlx5_cmd_check:795:(pid 9993): RTR2RTS_QP(0x504) op_mod(0x0) failed, status bad parameter(0x3), syndrome (0x4bb88f)")),
    ("61", "status 9; open", None, "thread: the log has nothing (nccl#1710)", log("mlx5_core 0000:15:00.0: firmware version: 28.39.1002")),
    ("63", "the HCA has died", "log-nic-health", "thread (charm#2635, the same line)", log("mlx5_core 0000:5e:00.0: device's health compromised - reached miss count", "mlx5_core 0000:5e:00.0: synd 0x7: irisc not responding")),
    ("64", "the peer was killed for want of memory", "log-oom", "thread: out of memory, a container with a limit of 8 GB (awsome-distributed-ai#312); the kernel's line is from memory", log("Memory cgroup out of memory: Killed process 4711 (python) total-vm:8388608kB, anon-rss:8388000kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:16384kB oom_score_adj:0")),
    ("68", "mlx4 and pages of 64 kB", "log-uar-pages", "thread (mft-scripts#2)", log("mlx4_core 0004:02:00.0: Only 64 UAR pages (need more than 128)", "mlx4_core 0004:02:00.0: Increase firmware log2_uar_bar_megabytes?")),
    ("66", "commands that the firmware never answers", "log-nic-health", "thread (ucx#7738)", log("mlx5_core 0000:61:00.0: wait_func_handle_exec_timeout:1104:(pid 141183): cmd[22]: CREATE_DCT(0x710) No done completion", "mlx5_core 0000:61:00.0: wait_func:1132:(pid 141181): CREATE_DCT(0x710) timeout. Will cause a leak of a command resource")),
    ("73", "the driver gives up when it starts", "nic-driver", "thread: probe of 0000:03:00.0 failed with error -22 (tinycore-redpill#9, rp-ext#129)", no_rdma("sys/bus/pci/devices/0000:15:00.0/driver") | log("mlx5_core 0000:03:00.0: handle_hca_cap failed", "mlx5_core 0000:03:00.0: mlx5_load_one failed with error code -22", "mlx5_core: probe of 0000:03:00.0 failed with error -22")),
    ("74", "firmware too old: a driver, no RDMA device", "nic-driver", "thread: the driver speaks of the card, /sys/class/infiniband has nothing (trinity#219)", no_rdma() | log("mlx4_en: Mellanox ConnectX HCA Ethernet driver v2.2-1 (Feb 2014)", "mlx4_en 0000:0d:00.0: LSO not supported, please upgrade to later FW version to enable LSO", "<mlx4_ib> mlx4_ib_add: mlx4_ib: Mellanox ConnectX InfiniBand driver v2.2-1 (Feb 2014)")),
    ("75", "containers begin with the limit of containerd", "memlock", "thread: ulimit -l 8192 in pods, 8 MiB from containerd (nvidia-container-toolkit#2037); that containerd itself has all capabilities is from memory", launcher("containerd", 8192 << 10) | {"proc/4242/status": "Name:\tcontainerd\nUid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n"}),
    ("76", "the link is one generation below both ends", "pcie-link-speed", "thread: LnkCap 16GT/s of port and card, LnkSta Speed 8GT/s, Width x4 (NVIDIA developer forum: ConnectX-5 Ex, PCIe Gen4 equalization completes but speed change to 16GT/s never asserted)", link("a7:00.0", "8.0", "16.0", 4, 4) | link("a8:00.0", "8.0", "16.0", 4, 16) | link("a8:00.1", "8.0", "16.0", 4, 16)),
    ("77", "a slot with two lanes under a port of 200 Gbit/s", "pcie-bandwidth", "thread: LnkCap Width x4, LnkSta Width x2, the port above has two lanes (NVIDIA developer forum: ASUS Ascent GX10, second ConnectX-7 PCIe slot wired at Gen5 x2)", link("a7:00.0", "32.0", "32.0", 2, 2) | link("a8:00.0", "32.0", "32.0", 2, 4) | link("a8:00.1", "32.0", "32.0", 2, 4) | {ROCE + "rate": "200 Gb/sec (4X HDR)\n"}),
    ("78", "a port that comes and goes", "port-state", "thread: lid 3403 sm_lid 1 state DOWN physical_state POLLING (rccl#1423)", {IB + "state": "1: DOWN\n", IB + "phys_state": "2: Polling\n", IB + "lid": "0xd4b\n", IB + "sm_lid": "0x1\n"}),
    ("79", "RoCE in a pod that has no interface of the NIC", "gid-usable", "thread: link type Ethernet, GID 00:00:...:00 at both ends (k8s-rdma-shared-dev-plugin#72, #101)", gid_table({}) | {"sys/class/net/eth8": None}),
    ("80", "PCIe errors: hardware", "log-pcie-errors", "thread (returnn#1500)", log("pcieport 0000:00:03.0: AER: Multiple Uncorrected (Fatal) error received: 0000:00:03.0", "pcieport 0000:00:03.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, (Requester ID)", "pcieport 0000:00:03.0:   device [8086:6f08] error status/mask=00004020/00000000", "nvidia 0000:03:00.0: AER: can't recover (no error_detected callback)")),
    ("81", "BlueField-3 in NIC mode got no memory from its Arm side", "log-nic-health", "page (NVIDIA BlueField troubleshooting guide: NIC mode)", log("mlx5_core 0000:05:00.0: poll_health:840:(pid 0): device's health compromised - reached miss count", "mlx5_core 0000:05:00.0: print_health_info:429:(pid 0): Health issue observed, firmware internal error, severity(2) CRITICAL:", "mlx5_core 0000:05:00.0: print_health_info:433:(pid 0): assert_var[0] 0x0000001e")),
    ("82", "GID 1 is link-local, GID 3 works", None, "thread: the whole table (nccl#769)", gid_table({0: ("fe80:0000:0000:0000:0ac0:ebff:feda:1cfb\n", V1), 1: ("fe80:0000:0000:0000:0ac0:ebff:feda:1cfb\n", V2), 2: (mapped("c800d106"), V1), 3: (mapped("c800d106"), V2)})),
    ("83", "irdma: RoCE v2 at 0 and 1, nothing at 3", None, "thread: the table of kinds (libfabric#12673); the addresses are from memory", gid_table({0: ("fe80:0000:0000:0000:527c:6fff:fe3c:3b56\n", V2), 1: (mapped("0a080001"), V2)})),
    ("84", "IPv6 alone, link-local and fd93::", None, "thread: all GIDs are fe80:: and fd93:: (uccl#803); the digits behind are from memory", gid_table({0: ("fe80:0000:0000:0000:0000:0000:0000:0008\n", V1), 1: ("fe80:0000:0000:0000:0000:0000:0000:0008\n", V2), 2: ("fd93:0000:0000:0000:0000:0000:0000:0008\n", V1), 3: ("fd93:0000:0000:0000:0000:0000:0000:0008\n", V2)})),
    ("85", "GIDs of a pod at 14 and 15, one lane of 25 Gbit/s; open", None, "thread: GID[14] and [15] of c0a8:0606, active_width 1X, 25.0 Gbps, ACTIVE (k8s-rdma-shared-dev-plugin#164)", gid_table({14: (mapped("c0a80606"), V1), 15: (mapped("c0a80606"), V2)}) | {ROCE + "rate": "25 Gb/sec (1X EDR)\n"}),
    ("86", "GB300: no issm in /dev/infiniband", None, "thread: umad and uverbs are there, issm is not (NVSentinel#1663, #1728)", device_files("uverbs", "umad")),
    ("87", "an old NCCL does not see nvidia_peermem", None, "thread: nvidia_peermem is loaded (nccl#1676); the other modules are from memory", {"proc/modules": ENTRY % "ib_core" + ENTRY % "nvidia" + ENTRY % "nvidia_peermem"}),
    ("88", "lines of a NIC that starts as it should", None, "thread (arm-nas#16)", log("mlx5_core 0004:01:00.0: firmware version: 16.27.2048", "mlx5_core 0004:01:00.0: 63.008 Gb/s available PCIe bandwidth (8.0 GT/s PCIe x8 link)", "mlx5_core 0004:01:00.0: Port module event: module 0, Cable plugged", "mlx5_core 0004:01:00.0: mlx5_pcie_event:294:(pid 542): PCIe slot advertised sufficient power (75W).")),
    ("89", "queue pairs with local length errors; open", None, "thread (Mooncake#3299)", log("mlx5_bond_0/1: QP 51291 error: local length error (0x8e 0x0 0x0)", "mlx5_bond_1/1: QP 114233 error: local length error (0x8e 0x0 0x0)", "mlx5_bond_1/1: QP 114235 error: local length error (0x8e 0x0 0x0)")),
    ("90", "a hang; ACS with source validation alone; open", None, "thread: ACSCtl: SrcValid+ TransBlk- ReqRedir- CmpltRedir- UpstreamFwd- (nccl#606)", acs(0x0001)),
    ("91", "ENOMEM with memlock unlimited: pages of CMA that kexec handover keeps", None, "thread: CmaTotal 0 kB, CmaFree 940604 kB, memlock and ports in order (NV-Kernels#591, DeepSeek-v4-Flash-DSpark-2x-DGX-Spark#259)", {"proc/meminfo": "MemTotal:       127535656 kB\nCmaTotal:              0 kB\nCmaFree:          940604 kB\n", **launcher("slurmd", "unlimited")}),
    ("92", "27 W from the slot, full bandwidth", None, "thread: also on systems with healthy bandwidth (dgx-spark-playbooks#108); the line (gpud#348)", log("mlx5_core 0000:15:00.0: mlx5_pcie_event:299:(pid 268269): Detected insufficient power on the PCIe slot (27W).")),
    ("93", "slot power that is not advertised; open", None, "thread (gpu-operator#2511)", log("mlx5_core 0000:15:00.0: mlx5_pcie_event:297:(pid 11): PCIe slot power capability was not advertised.", "mlx5_core 0000:15:00.0: 504.112 Gb/s available PCIe bandwidth (32.0 GT/s PCIe x16 link)")),
    ("94", "nvidia-peermem: invalid context", None, "thread: harmless (nv_peer_memory#120, gdrcopy#306)", log("nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further processing")),
    ("95", "memory keys leaked by killed jobs", "log-mkey-limit", "page (Mooncake troubleshooting, Mooncake#1765)", log("mlx5_core 0000:65:01.0: mlx5_cmd_out_err:829:(pid 3958462): CREATE_MKEY(0x200) op_mod(0x0) failed, status no resources(0xf), syndrome (0x2aac7c), err(-11)")),
    ("96", "a GPU has fallen off the bus", "log-pcie-errors", "thread (NVSentinel#155)", log("NVRM: Xid (PCI:0000:44:00): 79, GPU has fallen off the bus", "NVRM: fallen off the bus and is not responding to commands.")),
    ("97", "a link that flaps, as ib_core tells it", "log-link-flaps", "the kernel's patch (IB/cache, 2025); that it comes several times is from memory", log(*["mlx5_core 0000:08:00.0 mlx5_0: Port: 1 Link DOWN", "mlx5_core 0000:08:00.0 mlx5_0: Port: 1 Link ACTIVE"] * 6)),
    ("98", "nvme connect fails: keys with protection information are refused", "log-mkey-pi", "thread (ucx#9488); the beginning of the first line is from memory", log("mlx5_core 0000:81:00.0: mlx5_cmd_check:810:(pid 923941): create_mkey(0x200) op_mod(0x0) failed, status bad parameter(0x3), syndrome (0x35e6ec)", "nvme nvme1: failed to initialize pi mr pool sized 128 for qid 1", "nvme nvme1: rdma connection establishment failed (-22)")),
]

# The status of rows whose rule does not tell it: P, the cause is probable; H, the host was in order.
STATUS = {"91": "S"} | dict.fromkeys(("66", "76", "78", "80"), "P") | dict.fromkeys(("82", "83", "84", "86", "87", "88", "92", "94"), "H")

# Settled, and no bundle here: a rule that other tests show, or why none can.
OTHERS = [
    ("6", "none", "UCX merged regions wrongly: nothing on the host shows it"),
    ("12", "hugepages-efa", "tests/unit/test-check-*.c; page size of a registration is seen in the program only"),
    ("13c", "nic-map lists what is attached", "how many NICs there should be stands in a profile (profile-nic)"),
    ("15", "neighbour-failed, rail-route", "needs netlink: tests/vm/cases/66-check.sh on kernels, tests/unit/test-check-roce.c"),
    ("22", "none", "max_rd_atomic of both ends: qp-state --join on two hosts"),
    ("23", "none", "the program resets a queue pair twice; no sign on the host but the driver's name"),
    ("25", "none", "a field that the program does not set"),
    ("28", "none", "inline size: asked by the program, told by trace-errno"),
    ("29", "none", "the same"),
    ("30", "none", "harmless: trace-errno marks it so"),
    ("31", "none", "a version of libfabric inside a container"),
    ("36", "none", "the program addresses by LID; nic-map shows link layer Ethernet, LID 0"),
    ("39", "none", "DEVX of the driver: asked by the program"),
    ("41", "dmabuf", "tests/unit: the kernel's BTF tells whether ib_core takes DMA-BUFs"),
    ("42", "none", "IBGDA needs mlx5: nic-map shows the driver"),
    ("44", "none", "an allocator's setting inside the process"),
    ("47", "none", "the pointer that is registered; trace-errno shows EFAULT"),
    ("50", "ats-guest", "tests/unit/test-check-*.c"),
    ("52", "gid-usable, gid-v2, nic-map --check-env", "the index is in the job's environment"),
    ("53", "roce-mtu, mtu-uniform", "the other end and the switch are elsewhere; tests/unit/test-check-*.c"),
    ("54", "roce-lossless, roce-trust, roce-tclass", "needs DCB netlink, which no test machine's kernel shows: messages made by hand, tests/unit/test-netstate.c and test-check-roce.c"),
    ("62", "none", "rnr_retry of a queue pair: qp-state --trace"),
    ("67", "roce-devx-tclass", "needs netlink: tests/unit/test-check-roce.c"),
    ("69", "nic-map", "order of bridges: nic-map --path shows them; NCCL_TOPO_FILE by --nccl-xml"),
]


NONE = {"O": "none may: stays unknown", "H": "none may: in order", "S": "none reads it: no alarm"}


def status(row, rule):
    return STATUS.get(row, "S" if rule else "O")


def table():
    print("""# Public cases, and the rules that name their causes

The numbers are those of a collection of 72 public reports of RDMA that was broken or slow, which is not part of this
repository; those from 73 on were added here. S: the thread settled on the cause; P: it named a probable one; O: it did not,
so no rule may raise an alarm; H: the host was in order and the cause elsewhere, so none may either. Written by
`tests/bundles/casebook.py --table`; each row with evidence is a host that `tests/bats/casebook.bats` lays out and holds
against the rule, both ways.

| row | case | S | rule | evidence |
| --- | --- | --- | --- | --- |""")
    for row, what, rule, evidence, _ in CASES:
        print(f"| {row} | {what} | {status(row, rule)} | {rule or NONE[status(row, rule)]} | {evidence} |")
    print("\nSettled, without a host of their own:\n\n| row | rule | why |\n| --- | --- | --- |")
    for row, rule, why in OTHERS:
        print(f"| {row} | {rule} | {why} |")


def remove(root, path):
    """And the folders that were made for it."""
    os.unlink(path)
    path = os.path.dirname(path)
    while path != root and not os.listdir(path):
        os.rmdir(path)
        path = os.path.dirname(path)


def restore(path, data):
    """Its folder may have been empty, and so be gone."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)


def put(root, files):
    """Returns what undoes it."""
    undo = []
    for name, data in files.items():
        path = os.path.join(root, name)
        old = None
        if os.path.islink(path):
            target = os.readlink(path)
            undo.append(lambda p=path, t=target: os.symlink(t, p))
            os.unlink(path)
            continue
        if os.path.exists(path):
            with open(path, "rb") as f:
                old = f.read()
            undo.append(lambda p=path, o=old: restore(p, o))
        elif data is not None:
            undo.append(lambda p=path: remove(root, p))
        if callable(data):
            data = data(old)
        if data is None:
            os.unlink(path)
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode())
    return undo


def alarms(rdmadiag, root):
    out = subprocess.run([rdmadiag, "--from", root, "topo-check", "--json"], capture_output=True, text=True)
    checks = json.loads(out.stdout)["checks"]
    return {c["id"]: c["observed"] for c in checks if c["result"] in ("warn", "fail")}


def main(rdmadiag, work):
    root = os.path.join(work, "host")
    subprocess.run(["tests/bench/nic-map-tree", root], check=True)
    healthy = alarms(rdmadiag, root)
    print(f"1..{len(CASES) + 1}")
    print(f"{'not ' if healthy else ''}ok 1 - the healthy host raises no alarm {healthy or ''}")
    failed = bool(healthy)
    for n, (row, what, rule, _, files) in enumerate(CASES, 2):
        undo = put(root, files)
        found = alarms(rdmadiag, root)
        for step in reversed(undo):
            step()
        good = rule in found if rule else not found
        failed |= not good
        print(f"{'' if good else 'not '}ok {n} - row {row}: {what}: {rule or 'no alarm'}")
        if not good:
            print(f"# found: {found}")
    left = alarms(rdmadiag, root)
    if left != healthy:
        print(f"# left behind: {left}")
    shutil.rmtree(root)
    return failed or left != healthy


if __name__ == "__main__":
    sys.exit(table() if sys.argv[1:] == ["--table"] else main(*sys.argv[1:3]))
