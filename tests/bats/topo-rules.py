#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Each rule of topo-check both ways, on a made-up host: topo-rules.py RDMADIAG FOLDER
A case makes the host well as far as the rule is concerned, and the rule must pass; then breaks it, and the rule must say so.
Rules that need netlink or the kernel log have their cases in tests/unit/test-check-*.c or tests/bundles/silent/twinlist.py: a rule that has none anywhere fails."""
import glob, json, os, re, shutil, subprocess, sys

rd, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
here = os.path.dirname(os.path.abspath(__file__))
root = os.path.join(folder, "host")
undo = []
PCI, IB, NET = "sys/bus/pci/devices/", "sys/class/infiniband/", "sys/class/net/"
GPU0, GPU1, NIC0, NIC1, UP, DOWN0, PORT = (f"{PCI}0000:{a}" for a in (
    "13:00.0", "14:00.0", "15:00.0", "16:00.0", "11:00.0", "12:00.0", "10:01.0"))


def real(path):
    """Where a path leads in the tree, links below class and bus followed."""
    head, tail = os.path.split(os.path.join(root, path))
    return os.path.join(os.path.realpath(head), tail)


def keep(path):
    if os.path.islink(path):
        undo.append((path, "link", os.readlink(path)))
    elif os.path.exists(path):
        undo.append((path, "file", open(path, "rb").read()))
    else:
        undo.append((path, "none", None))


def put(path, data):
    path = real(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    keep(path)
    with open(path, "wb") as f:
        f.write(data if isinstance(data, bytes) else f"{data}\n".encode())


def link(path, target):
    path = real(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.lexists(path):
        drop_real(path)
    else:
        keep(path)
    os.symlink(target, path)


def drop_real(path):
    keep(path)
    os.unlink(path)


def drop(path):
    drop_real(real(path))


def bits(function, at, value, mask=0xffff):
    """Changes 16 bits of configuration space, mended where it ends too early."""
    path = real(f"{function}/config")
    data = bytearray(open(path, "rb").read())
    old = int.from_bytes(data[at:at + 2], "little")
    data[at:at + 2] = (old & ~mask | value & mask).to_bytes(2, "little")
    put(f"{function}/config", bytes(data))


def cap2(function, cap, ctl):
    """Express capability of version 2 with Device Capabilities 2 (32 bits) and Control 2."""
    path = real(f"{function}/config")
    data = bytearray(open(path, "rb").read())
    data[0x64:0x68] = cap.to_bytes(4, "little")
    data[0x68:0x6a] = ctl.to_bytes(2, "little")
    put(f"{function}/config", bytes(data))


def long_config(function, ext):
    """Extended configuration space with these bytes at 0x100."""
    data = bytearray(open(real(f"{function}/config"), "rb").read()[:256]) + bytes(4096 - 256)
    data[0x100:0x100 + len(ext)] = ext
    put(f"{function}/config", bytes(data))


def port(n, **values):
    for name, value in values.items():
        put(f"{IB}mlx5_{n}/ports/1/{name}", value)


def roce(n):
    """Makes an InfiniBand NIC of the host one of RoCE."""
    port(n, link_layer="Ethernet", lid="0x0")
    put(f"{NET}ib{n}/type", 1)
    put(f"{NET}ib{n}/mtu", 9000)
    for g, (gid, kind) in enumerate(((f"fe80:0000:0000:0000:a288:c2ff:fe00:{n:04x}", "RoCE v2"),
                                     (f"0000:0000:0000:0000:0000:ffff:0a14:{n + 1:04x}", "IB/RoCE v1"),
                                     (f"0000:0000:0000:0000:0000:ffff:0a14:{n + 1:04x}", "RoCE v2"))):
        put(f"{IB}mlx5_{n}/ports/1/gids/{g}", gid)
        put(f"{IB}mlx5_{n}/ports/1/gid_attrs/types/{g}", kind)
        put(f"{IB}mlx5_{n}/ports/1/gid_attrs/ndevs/{g}", f"ib{n}")


def all_roce():
    for n in range(8):
        roce(n)


def addressed():
    """The interface of mlx5_8 has an IPv4 address."""
    put("proc/net/route", "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\neth8\t0000080A\t00000000\t0001\t0\t0\t0\t00FFFFFF")
    put("proc/net/fib_trie", "Local:\n  +-- 10.8.0.0/24 2 0 2\n     |-- 10.8.0.1\n        /32 host LOCAL")


def drop_table(n):
    for entry in os.listdir(real(f"{IB}mlx5_{n}/ports/1/gids")):
        put(f"{IB}mlx5_{n}/ports/1/gids/{entry}", "0000:0000:0000:0000:0000:0000:0000:0000")


def second_port(n, state):
    for name, value in (("state", state), ("phys_state", "5: LinkUp"), ("link_layer", "Ethernet"), ("rate", "100 Gb/sec (4X EDR)")):
        put(f"{IB}mlx5_{n}/ports/2/{name}", value)


def modules(**flags):
    lines = ["ib_core 1 3 {u}ib_uverbs, Live 0x0{f}", "ib_uverbs 1 1 mlx5_ib, Live 0x0{f}"]
    text = "\n".join(flags.pop("lines", lines)).format(u="mlx5_ib,", f=flags.get("core", ""))
    put("proc/modules", text + f"\nmlx5_ib 1 0 - Live 0x0{flags.get('mlx5', '')}\nmlx5_core 1 1 mlx5_ib, Live 0x0{flags.get('mlx5', '')}\n"
        "nvidia 1 0 - Live 0x0 (POE)\n" + flags.get("more", ""))


def vendor_modules(above):
    """The vendor's driver of a NIC below the RDMA module of the same package (above: its taint), on the kernel's ib_core."""
    link(f"{NIC0}/driver", "../../../bus/pci/drivers/bnxt_en")
    modules(more=f"bnxt_re 1 0 - Live 0x0{above}\nbnxt_en 1 1 bnxt_re, Live 0x0 (OE)\n", lines=["ib_core 1 3 {u}bnxt_re,ib_uverbs, Live 0x0{f}", "ib_uverbs 1 2 mlx5_ib,bnxt_re, Live 0x0{f}"])


def nvidia(flavour="Open Kernel", registry="PeerMappingOverride=1;", memops=1):
    put("proc/driver/nvidia/version", f"NVRM version: NVIDIA UNIX {flavour} Module for x86_64  550.54.15  Release Build")
    put("proc/driver/nvidia/params", f'EnableStreamMemOPs: {memops}\nRegistryDwords: "{registry}"')


def btf(dmabuf=True):
    put("sys/kernel/btf/ib_uverbs", b"\0x\0ib_umem_get\0" + (b"ib_umem_dmabuf_get\0" if dmabuf else b""))


def kernel(setting):
    put("proc/sys/kernel/osrelease", "6.8.0-test")
    put("boot/config-6.8.0-test", f"CONFIG_PCI=y\n{setting}\nCONFIG_INFINIBAND=m\n")


def limits(pid, comm, memlock):
    put(f"proc/{pid}/comm", comm)
    put(f"proc/{pid}/limits", f"Limit  Soft  Hard  Units\nMax locked memory         {memlock}              {memlock}              bytes")


def iommu(function, kind, group=7):
    link(f"{function}/iommu_group", f"../../../kernel/iommu_groups/{group}")
    put(f"sys/kernel/iommu_groups/{group}/type", kind)


def guest():
    put("proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu hypervisor")


def ats(on):
    long_config(NIC0, (0x0001000F).to_bytes(4, "little") + bytes([0, 0, 0, 0x80 if on else 0]))


def gpus_are(vendor):
    for path in glob.glob(os.path.join(root, PCI, "*")):
        if open(os.path.join(path, "class")).read().startswith("0x0302"):
            put(os.path.relpath(path, root) + "/vendor", vendor)


def uverbs(nodes):
    put("dev/null", "")
    for n in range(12):
        put(f"sys/class/infiniband_verbs/uverbs{n}/ibdev", f"mlx5_{n}")
        if n in nodes:
            put(f"dev/infiniband/uverbs{n}", "")


def hugepages(*counts):
    for node, (total, free) in enumerate(counts):
        at = f"sys/devices/system/node/node{node}/hugepages/hugepages-2048kB/"
        put(at + "nr_hugepages", total)
        put(at + "free_hugepages", free)


def profile(text):
    with open(os.path.join(folder, "profile"), "w", encoding="utf-8") as f:
        f.write(text)


def resource(function, start, size):
    put(f"{function}/resource", f"0x{start:x} 0x{start + size - 1:x} 0x14220c")


def slow_switch():
    for n in (0, 1):
        port(n, state="1: DOWN")


def one_card():
    """Two functions of one card, and no other NIC that is up."""
    only_near(8, 9)


def only_near(*keep_up):
    for n in range(12):
        if n not in keep_up:
            port(n, state="1: DOWN")


def each_gpu(name, value):
    for path in glob.glob(os.path.join(root, PCI, "*")):
        if open(os.path.join(path, "class")).read().startswith("0x0302"):
            put(f"{os.path.relpath(path, root)}/{name}", value)


def other_index(n):
    """The IPv4 address of a RoCE port stands at another index of its table than it does elsewhere."""
    gid = open(real(f"{IB}mlx5_{n}/ports/1/gids/2")).read().strip()
    put(f"{IB}mlx5_{n}/ports/1/gids/2", "0000:0000:0000:0000:0000:0000:0000:0000")
    for name, value in (("gids/5", gid), ("gid_attrs/types/5", "RoCE v2"), ("gid_attrs/ndevs/5", f"ib{n}")):
        put(f"{IB}mlx5_{n}/ports/1/{name}", value)


def nothing():
    pass


P = ["--profile", os.path.join(folder, "profile")]
# rule, what makes it well, what breaks it, the result then, options
CASES = [
    ("profile-gpu", lambda: profile("count.gpus = 8\n"), lambda: profile("gpu.0000:99:00.0.name = H100\n"), "fail", P),
    ("profile-gpu", lambda: profile("gpu.0000:13:00.0.numa_node = 0\n"), lambda: profile("count.gpus = 9\n"), "fail", P),
    ("profile-nic", lambda: profile("nic.mlx5_0.ports = 1\n"), lambda: profile("nic.mlx5_99.ports = 1\n"), "fail", P),
    ("profile-value", lambda: profile("nic.mlx5_*.firmware = 28.41.1000\n"), lambda: put(f"{IB}mlx5_3/fw_ver", "28.39.1"), "warn", P),
    ("profile-value", lambda: profile("port.mlx5_4/1.rate_gbps = 400\n"), lambda: port(4, rate="200 Gb/sec (2X NDR)"), "fail", P),
    ("gpu-missing", nothing, lambda: drop(GPU1), "fail"),
    ("nic-missing", nothing, lambda: [drop(NIC1), drop(f"{IB}mlx5_1"), drop(f"{NET}ib1")], "fail"),
    ("numa-switch", nothing, lambda: put(f"{NIC0}/numa_node", 1), "warn"),
    ("gid-uniform", all_roce, lambda: other_index(3), "warn"),
    ("pcie-link-width", nothing, lambda: put(f"{NIC0}/current_link_width", 8), "fail"),
    ("pcie-link-width", nothing, lambda: put(f"{GPU0}/current_link_width", 4), "fail"),
    ("pcie-link-width", nothing, lambda: put(f"{UP}/current_link_width", 8), "fail"),
    ("pcie-link-width", nothing, lambda: [put(f"{GPU0}/{w}_link_width", 8) for w in ("current", "max")], "fail"),
    ("pcie-link-speed", nothing, lambda: put(f"{UP}/current_link_speed", "16.0 GT/s PCIe"), "fail"),
    ("pcie-link-speed", lambda: each_gpu("current_link_speed", "2.5 GT/s PCIe"),
     lambda: put(f"{GPU0}/max_link_speed", "16.0 GT/s PCIe"), "fail"),
    ("pcie-link-speed", lambda: each_gpu("current_link_speed", "2.5 GT/s PCIe"),
     lambda: put(f"{NIC0}/current_link_speed", "16.0 GT/s PCIe"), "fail"),
    ("pcie-bandwidth", nothing, lambda: [put(f"{f}/{w}_link_speed", "16.0 GT/s PCIe") for f in (NIC0,) for w in ("current", "max")], "warn"),
    ("pcie-no-answer", nothing, lambda: put(f"{NIC0}/config", b"\xff" * 64), "fail"),
    ("acs-redirect", nothing, lambda: bits(DOWN0, 0x106, 0x5c), "fail"),
    ("acs-redirect", nothing, lambda: bits(DOWN0, 0x106, 0x04), "fail"),
    ("iommu-mode", lambda: iommu(NIC0, "identity"), lambda: iommu(NIC0, "DMA-FQ"), "warn"),
    ("iommu-group", lambda: [link(f"{NIC0}/driver", "../../bus/pci/drivers/vfio-pci"), iommu(NIC0, "DMA"),
                             put("sys/kernel/iommu_groups/7/devices/0000:15:00.0", "")],
     lambda: put("sys/kernel/iommu_groups/7/devices/0000:16:00.0", ""), "warn"),
    ("ats-guest", lambda: [guest(), *[long_config(PCI + os.path.basename(os.path.realpath(os.path.join(root, IB, d, "device"))),
                           bytes(8)) for d in os.listdir(os.path.join(root, IB))], ats(False)], lambda: ats(True), "warn"),
    ("pcie-mps", nothing, lambda: bits(UP, 0x48, 0x20, 0xe0), "fail"),
    ("pcie-mps", nothing, lambda: bits(NIC0, 0x48, 0x00, 0xe0), "warn"),
    ("pcie-mrrs", nothing, lambda: bits(NIC0, 0x48, 0x1000, 0x7000), "warn"),
    ("pcie-mrrs", nothing, lambda: bits(NIC0, 0x48, 0x2000, 0x7000), "warn"),
    ("relaxed-ordering", nothing, lambda: bits(NIC0, 0x48, 0, 0x10), "warn"),
    ("pcie-ext-tags", nothing, lambda: bits(NIC0, 0x48, 0, 0x100), "warn"),
    ("pcie-10bit-tags", lambda: [cap2(PORT, 1 << 16, 0), cap2(NIC0, 1 << 17, 1 << 12)], lambda: cap2(NIC0, 1 << 17, 0), "warn"),
    ("bar1-size", nothing, lambda: resource(GPU0, 1 << 41, 256 << 20), "warn"),
    ("bar-address", nothing, lambda: resource(GPU0, 57 << 40, 128 << 30), "warn"),
    ("aer-uncorrectable", nothing, lambda: put(f"{GPU0}/aer_dev_fatal", "DLP 1\nTOTAL_ERR_FATAL 1"), "fail"),
    ("aer-uncorrectable", nothing, lambda: put(f"{UP}/aer_dev_nonfatal", "TLP 1\nTOTAL_ERR_NONFATAL 1"), "warn"),
    ("aer-correctable", lambda: put(f"{NIC0}/aer_dev_correctable", "RxErr 3\nTOTAL_ERR_COR 3"),
     lambda: put(f"{NIC0}/aer_dev_correctable", "RxErr 4321\nTOTAL_ERR_COR 4321"), "warn"),
    ("numa-node", nothing, lambda: put(f"{NIC0}/numa_node", -1), "warn"),
    ("gpu-nic-socket", nothing, lambda: only_near(4, 5, 6, 7), "warn"),
    ("switch-uneven", nothing, lambda: port(0, state="1: DOWN"), "warn"),
    ("power-state", nothing, lambda: put(f"{NIC0}/power_state", "D3hot"), "fail"),
    ("power-state", nothing, lambda: put(f"{GPU0}/power_state", "D3cold"), "warn"),
    ("slot-power", lambda: [bits(f"{PCI}0000:12:02.0", 0x42, 0x0100, 0x0100), bits(f"{PCI}0000:12:02.0", 0x54, 75 << 7)],
     lambda: bits(f"{PCI}0000:12:02.0", 0x54, 10 << 7), "warn"),
    ("nic-driver", nothing, lambda: drop(f"{NIC0}/driver"), "fail"),
    ("nic-driver", nothing, lambda: drop(f"{IB}mlx5_0"), "warn"),
    ("gpu-driver", nothing, lambda: drop(f"{GPU1}/driver"), "fail"),
    ("gpu-driver", nothing, lambda: link(f"{GPU1}/driver", "../../bus/pci/drivers/vfio-pci"), "warn"),
    ("gpu-driver", nothing, lambda: link(f"{GPU1}/driver", "../../bus/pci/drivers/nouveau"), "fail"),
    ("nic-driver", nothing, lambda: [link(f"{NIC1}/driver", "../../bus/pci/drivers/vfio-pci"), drop(f"{IB}mlx5_1")], "warn"),
    ("peermem", lambda: [modules(more="nvidia_peermem 1 0 - Live 0x0\n"), nvidia("Kernel")], modules, "fail"),
    ("peermem", lambda: [modules(), nvidia(), btf()], lambda: btf(False), "fail"),
    ("peermem-old", modules, lambda: modules(more="nv_peer_mem 1 0 - Live 0x0 (OE)\n"), "warn"),
    ("peermem-old", modules, lambda: modules(more="nv_peer_mem 1 0 - Live 0x0 (OE)\nnvidia_peermem 1 0 - Live 0x0\n"), "fail"),
    ("amd-peer", lambda: [gpus_are("0x1002"), modules(more="amdgpu 1 0 - Live 0x0\n"), btf()], lambda: btf(False), "fail"),
    ("amd-peer", lambda: [gpus_are("0x1002"), modules(more="amdgpu 1 0 - Live 0x0\n"), btf(), kernel("CONFIG_PCI_P2PDMA=y")],
     lambda: kernel("# CONFIG_PCI_P2PDMA is not set"), "warn"),
    ("amd-peer", lambda: [gpus_are("0x1002"), modules(more="amdgpu 1 0 - Live 0x0\n"), put("sys/kernel/mm/memory_peers/amdkfd/version", "1")],
     modules, "fail"),
    ("dmabuf", lambda: [modules(), nvidia(), btf()], lambda: nvidia("Kernel"), "warn"),
    ("gpu-initiated", nvidia, lambda: nvidia(registry=""), "warn"),
    ("gpu-initiated", lambda: [nvidia(), profile("rule.gpu-initiated = required\n")], lambda: nvidia(registry="", memops=0), "fail", P),
    ("gpu-geforce", nothing, lambda: put("proc/driver/nvidia/gpus/0000:13:00.0/information", "Model: NVIDIA GeForce RTX 3090"), "warn"),
    ("memlock", lambda: limits(812, "slurmd", "unlimited"), lambda: limits(812, "slurmd", 8388608), "fail"),
    ("memlock", lambda: limits(812, "kubelet", "unlimited"), lambda: limits(812, "kubelet", 1 << 30), "warn"),
    ("memlock", lambda: [put("proc/1/comm", "systemd"), put("etc/systemd/system.conf", "[Manager]\nDefaultLimitMEMLOCK=infinity")],
     lambda: put("etc/systemd/system.conf", "[Manager]\n#DefaultLimitMEMLOCK=infinity"), "fail"),
    ("memlock", lambda: [put("proc/1/comm", "systemd"), put("etc/systemd/system.conf.d/rdma.conf", "[Manager]\nDefaultLimitMEMLOCK=infinity")],
     lambda: put("etc/systemd/system.conf.d/zz.conf", "[Manager]\nDefaultLimitMEMLOCK=64M:infinity"), "fail"),
    ("memlock", lambda: [limits(812, "slurmd", 65536), limits(900, "python3", "unlimited"), put("proc/900/maps", "a\n"),
                             put("proc/900/status", "CapEff:\t0000000000000000")],
     lambda: limits(900, "python3", 65536), "fail", ["--pid", "900"]),
    ("max-map-count", lambda: put("proc/sys/vm/max_map_count", 65530), lambda: put("proc/sys/vm/max_map_count", 1000), "warn"),
    ("max-map-count", lambda: [put("proc/sys/vm/max_map_count", 65530), limits(900, "python3", "unlimited"), put("proc/900/maps", "a\n" * 100)],
     lambda: put("proc/900/maps", "a\n" * 65000), "fail", ["--pid", "900"]),
    ("hugepages-numa", lambda: hugepages((512, 10), (512, 10)), lambda: hugepages((1024, 10), (0, 0)), "warn"),
    ("hugepages-efa", lambda: [link(f"{NIC0}/driver", "../../bus/pci/drivers/efa"), hugepages((512, 100), (512, 10))],
     lambda: hugepages((0, 0), (0, 0)), "warn"),
    ("dev-infiniband", lambda: [uverbs(range(12)), put("proc/2/comm", "kthreadd\n")], lambda: drop("dev/infiniband/uverbs3"), "fail"),
    ("dev-infiniband", lambda: uverbs(range(12)), lambda: drop("sys/class/infiniband_verbs/uverbs3/ibdev"), "fail"),
    ("provider-library", lambda: put("usr/lib/x86_64-linux-gnu/libibverbs/libmlx5-rdmav34.so", ""),
     lambda: [drop("usr/lib/x86_64-linux-gnu/libibverbs/libmlx5-rdmav34.so"), put("usr/lib/x86_64-linux-gnu/libibverbs/libefa-rdmav34.so", "")], "fail"),
    ("gid-usable", addressed, lambda: drop_table(8), "fail"),
    ("gid-v2", nothing, lambda: [put(f"{IB}mlx5_8/ports/1/gid_attrs/types/{g}", "IB/RoCE v1") for g in range(4)], "warn"),
    ("gid-netns", nothing, lambda: drop(f"{NET}eth8"), "warn"),
    ("roce-netdev", all_roce, lambda: put(f"{NET}ib0/operstate", "down"), "fail"),
    ("gid-duplicate", nothing, lambda: put(f"{IB}mlx5_9/ports/1/gids/3", "0000:0000:0000:0000:0000:ffff:0a08:0001"), "fail"),
    ("node-guid", addressed, lambda: put("sys/class/infiniband/mlx5_8/node_guid", "0000:0000:0000:0000"), "warn"),
    ("roce-lid", nothing, lambda: port(8, lid="0x1"), "warn"),
    ("roce-mtu", all_roce, lambda: put(f"{NET}ib2/mtu", 1500), "warn"),
    ("ib-lid", nothing, lambda: port(0, lid="0xffff"), "fail"),
    ("ib-lid", nothing, lambda: port(0, lid="0x0"), "fail"),
    ("ib-sm-lid", lambda: [port(n, sm_lid="0x1") for n in range(8)], lambda: port(2, sm_lid="0x0"), "fail"),
    ("ib-pkey", lambda: [put(f"{IB}mlx5_{n}/ports/1/pkeys/0", "0xffff") for n in range(8)],
     lambda: put(f"{IB}mlx5_1/ports/1/pkeys/0", "0x7fff"), "warn"),
    ("ib-pkey", lambda: [put(f"{IB}mlx5_{n}/ports/1/pkeys/0", "0x7fff") or put(f"{IB}mlx5_{n}/ports/1/pkeys/1", "0x8001") for n in range(8)],
     lambda: [put(f"{IB}mlx5_1/ports/1/pkeys/{i}", "0x0000") for i in range(2)], "fail"),
    ("ib-width", nothing, lambda: port(5, rate="100 Gb/sec (1X NDR)"), "fail"),
    ("ipoib-mode", lambda: [put(f"{NET}ib{n}/mode", "datagram") for n in range(8)], lambda: put(f"{NET}ib3/mode", "connected"), "warn"),
    ("ipoib-mode", lambda: [put(f"{NET}ib{n}/mode", "datagram") for n in range(8)], lambda: put(f"{NET}ib3/mtu", 65520), "warn"),
    ("port-state", lambda: port(11, state="1: DOWN"), lambda: port(6, state="1: DOWN", phys_state="3: Disabled"), "fail"),
    ("ib-no-sm", nothing, lambda: port(6, state="2: INIT"), "fail"),
    ("link-downed", lambda: [put(f"{IB}mlx5_{n}/ports/1/counters/link_downed", 1) for n in range(12)],
     lambda: put(f"{IB}mlx5_7/ports/1/counters/link_downed", 255), "warn"),
    ("port-speed-uniform", nothing, lambda: port(4, rate="200 Gb/sec (4X HDR)"), "warn"),
    ("link-layer-uniform", nothing, lambda: roce(5), "warn"),
    ("mtu-uniform", nothing, lambda: put(f"{NET}ib4/mtu", 2044), "warn"),
    ("firmware-uniform", nothing, lambda: put(f"{IB}mlx5_3/fw_ver", "28.39.1002"), "warn"),
    ("modules-mixed", modules, lambda: modules(mlx5=" (OE)"), "warn"),
    ("modules-mixed", lambda: modules(core=" (OE)", mlx5=" (OE)"), lambda: modules(core=" (OE)"), "fail"),
    ("modules-mixed", lambda: vendor_modules(" (OE)"), lambda: vendor_modules(""), "warn"),
    ("failover-backup", nothing, lambda: only_near(0), "warn"),
    ("failover-fabric", nothing, lambda: only_near(0, 8), "warn"),
    ("failover-card", nothing, one_card, "warn"),
    ("dual-port", lambda: [second_port(8, "4: ACTIVE"), second_port(9, "4: ACTIVE")], lambda: second_port(9, "1: DOWN"), "warn"),
    ("backend-default-route", lambda: put("proc/net/route", "Iface Destination Gateway Flags RefCnt Use Metric Mask\neth8 00000000 01020304 0003 0 0 0 00000000"),
     lambda: put("proc/net/route", "Iface Destination Gateway Flags RefCnt Use Metric Mask\n" + "".join(
         f"ib{n} 00000000 01020304 0003 0 0 0 00000000\n" for n in range(8)) + "".join(f"eth{n} 00000000 01020304 0003 0 0 0 00000000\n" for n in range(8, 12))), "warn"),
    ("job-env", lambda: put("etc/nccl.conf", "NCCL_IB_HCA==mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1,mlx5_4:1,mlx5_5:1,mlx5_6:1,mlx5_7:1"),
     lambda: put("etc/nccl.conf", "NCCL_IB_HCA=mlx5_1"), "warn"),
]
# Cases elsewhere: dev-mode needs files with modes, and host-answers a read that hangs.
ELSEWHERE = glob.glob(os.path.join(here, "../unit/test-check*.c")) + glob.glob(os.path.join(here, "*.bats")) + glob.glob(
    os.path.join(here, "../vm/cases/*.sh")) + [os.path.join(here, "../bundles/silent/twinlist.py")]


def verdicts(rule, args):
    p = subprocess.run([rd, "--from", root, "topo-check", "--json", "--only", rule, *args], capture_output=True, text=True, check=False)
    try:
        return p.returncode, json.loads(p.stdout)["checks"]
    except ValueError:
        return p.returncode, [{"id": rule, "result": "nothing: " + p.stderr, "subject": "", "observed": ""}]


def restore():
    while undo:
        path, kind, old = undo.pop()
        if os.path.lexists(path):
            os.unlink(path)
        if kind == "link":
            os.symlink(old, path)
        elif kind == "file":
            with open(path, "wb") as f:
                f.write(old)


shutil.rmtree(root, ignore_errors=True)
subprocess.run([os.path.join(here, "../bench/nic-map-tree"), root, "8", "12", "70"], check=True)
bad = 0
for rule, well, broken, result, *rest in CASES:
    args = rest[0] if rest else []
    well()
    code, got = verdicts(rule, args)
    if code != 0 or [c["result"] for c in got] != ["pass"]:
        print(f"{rule}: on a host that is well: exit {code}, {[(c['result'], c['subject'], c['observed']) for c in got]}")
        bad += 1
    broken()
    code, got = verdicts(rule, args)
    worst = [c for c in got if c["result"] == result]
    if code != {"warn": 1, "fail": 2}[result] or not worst or not all(c["observed"] and c["expected"] and (c["fix"] or c["advice"]) and c["why"] for c in worst):
        print(f"{rule}: on a broken host: exit {code}, {[(c['result'], c['subject'], c['observed']) for c in got]}; wanted {result}")
        bad += 1
    for c in worst:
        # A placeholder of the rule that the runner could not fill makes the command advice, or stays in it.
        if subprocess.run(["bash", "-n"], input=c["fix"] or "", text=True).returncode or re.search(r"\b(IF|ADDRESS|IBDEV)\b|…", f"{c['fix']} {c['advice']}"):
            print(f"{rule}: cannot be pasted: {c['subject']}: {c['fix']!r}, {c['advice']!r}")
            bad += 1
    restore()
listed = subprocess.run([rd, "topo-check", "--list", "-n", "--raw", "-o", "id"], capture_output=True, text=True, check=True).stdout.split()
elsewhere = "".join(open(path, encoding="utf-8").read() for path in ELSEWHERE)
for rule in listed:
    if not any(case[0] == rule for case in CASES) and not re.search(rf"\b{rule}\b", elsewhere):
        print(f"{rule}: no test shows it both ways")
        bad += 1
print(f"{len(CASES)} cases of {len(set(c[0] for c in CASES))} rules, {len(listed)} listed")
sys.exit(bad > 0)
