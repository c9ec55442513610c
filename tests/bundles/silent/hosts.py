# SPDX-License-Identifier: GPL-2.0-or-later
"""Healthy hosts, made from public descriptions. What the source says is in `source`, what was filled in is in `filled`: bus
numbers of bridges, identifiers of cards, addresses, serial numbers are always filled in where the source has none.

A new host is a function that returns a Host, below @host. `allowed` lists what its owner would accept to be told although
nothing is broken: (rule, subject, reason), subject "" for any."""
from hostgen import Host, Net, Port, Rdma
from kinds import *  # all that hosts are made of

HOSTS = {}
# True of each such host, and nothing is broken: libraries that fail over by themselves go by the order of devices.


def host(name, source, filled, allowed=()):
    def add(build):
        build.title, build.source, build.filled, build.allowed = build.__doc__, source, filled, list(allowed)
        HOSTS[name] = build
        return build
    return add


@host("dgx-h100", "NVIDIA DGX H100 User Guide, table of network modules (GPU, interface, RDMA device); DGX BasePOD deployment guide, "
      "network ports: port 2 of slots 1 and 2 bonded Ethernet, port 1 InfiniBand storage, optional",
      "bus numbers of GPUs and switches; the optional storage ports are not cabled")
def dgx_h100():
    """DGX H100, eight InfiniBand compute ports, Ethernet bond over two cards, their other ports spare"""
    h = Host("dgx-h100", SPR, cores(112, 2), modules(ofed="24.10-1.1.4"), gpu_driver=NVIDIA_OPEN, dmi=("NVIDIA", "DGXH100"),
             log=["mlx5_core 0000:29:00.0: mlx5_pcie_event:301:(pid 1402): Detected insufficient power on the PCIe slot (27W).",
                  "mlx5_core 0000:18:00.0: Port module event: module 0, Cable plugged",
                  "mlx5_core 0000:18:00.0: firmware version: 28.43.2026"])
    nics = ((0, 0x18, 0x1B), (3, 0x40, 0x43), (4, 0x4F, 0x52), (5, 0x5E, 0x61), (6, 0x9A, 0x9D), (9, 0xC0, 0xC3), (10, 0xCE, 0xD1), (11, 0xDC, 0xDF))
    for n, (dev, nic, gpu) in enumerate(nics):
        a, b = leaf(h, INTEL5, n // 4, nic - 3, PEX5, (nic, gpu))
        ib(h, a, CX7, f"mlx5_{dev}", f"ibp{nic}s0")
        h.gpu(b, H100)
    members = []
    for numa, bus, dev in ((0, 0x29, 1), (1, 0xAA, 7)):
        slot = h.slot(INTEL5, numa, bus - 1, bus)
        ib(h, slot, CX7_DUAL, f"mlx5_{dev}", f"ibp{bus}s0f0", role="spare", cabled=False)
        members.append(roce(h, slot, CX7_DUAL, f"mlx5_{dev + 1}", f"enp{bus}s0f1np1", 200, role="storage", fn=1).nets[0])
    bonded(h, "bond0", members, ("10.133.4.21/22",), "10.133.4.1")
    for n, down in enumerate(leaf(h, INTEL5, 0, 0x03, PEX5, (0x06, 0x07, 0x08, 0x09))):
        h.endpoint(down, NVSWITCH)
    server(h, INTEL5, 1)
    return h


@host("dgx-a100", "NVIDIA/nccl#1505, NCCL topology of a DGX A100 (PEX switches, mlx5_0 at 0c:00.0 on node 3); k8snetworkplumbingwg/"
      "sriov-network-operator#635, lspci and ibdev2netdev of one: mlx5_4 enp97s0f0 up, mlx5_5 ibp97s0f1 down",
      "the inner buses of the switches; eight compute ports up")
def dgx_a100():
    """DGX A100, NPS4, switches in two levels, a dual-port storage card of which one port is Ethernet and the other spare"""
    h = Host("dgx-a100", ROME, cores(128, 8), modules(ofed="5.8-2.0.3"), gpu_driver=NVIDIA_CLOSED, dmi=("NVIDIA", "DGXA100 920-23687-2530-000"))
    boards = ((3, 0x01, (0, 1), (0x0C, 0x12), (0x07, 0x0F)), (1, 0x41, (2, 3), (0x4B, 0x54), (0x47, 0x4E)),
              (7, 0x81, (6, 7), (0x8D, 0x94), (0x87, 0x90)), (5, 0xB1, (8, 9), (0xBA, 0xCC), (0xB7, 0xBD)))
    for numa, base, devs, nics, gpus in boards:
        top = h.switch(PEX4, h.slot(AMD4, numa, base - 1, base), base)
        for n in range(2):
            inner = h.switch(PEX4, h.down(top, base + 2 + 2 * n), base + 2 + 2 * n)
            ib(h, h.down(inner, nics[n]), CX6, f"mlx5_{devs[n]}", f"ibp{nics[n]}s0", 200)
            h.gpu(h.down(inner, gpus[n]), A100)
    slot = h.slot(AMD4, 0, 0x60, 0x61)
    roce(h, slot, CX6_DUAL, "mlx5_4", "enp97s0f0", 100, ("10.30.1.14/24",), "storage", mtu=9000)
    ib(h, slot, CX6_DUAL, "mlx5_5", "ibp97s0f1", 200, "spare", fn=1, cabled=False)
    ethernet(h, h.slot(AMD4, 4, 0xE0, 0xE2), X550, ["enp226s0"], 1, ("10.20.1.14/24",), "10.20.1.1")
    server(h, AMD4, 0, bus=0x20)
    return h


@host("dgx-2", "NVIDIA/nccl-tests#78, nvidia-smi topo -m of a host with 16 GPUs: mlx5_0 PIX to two GPUs, PXB to the two beside; mlx5_8 and mlx5_9 near none",
      "InfiniBand EDR on all ten, buses")
def dgx_2():
    """DGX-2: sixteen V100, a NIC on the same switch as two GPUs, two storage NICs near none"""
    h = Host("dgx-2", SKX, cores(48, 2), modules(ofed="5.8-4.1.5"), gpu_driver=NVIDIA_CLOSED, dmi=("NVIDIA", "DGX-2"))
    for n, base in enumerate((0x31, 0x51, 0xB1, 0xD1)):
        top = h.switch(PEX3, h.slot(INTEL3, n // 2, base - 1, base), base)
        for k in range(2):
            inner = h.switch(PEX3, h.down(top, base + 2 + 8 * k), base + 2 + 8 * k)
            for gpu in range(2):
                h.gpu(h.down(inner, base + 4 + 8 * k + gpu), V100)
            ib(h, h.down(inner, base + 7 + 8 * k), CX5, f"mlx5_{2 * n + k}", f"ib{2 * n + k}", 100)
    for numa, bus in ((0, 0x18), (1, 0x86)):
        ib(h, h.slot(INTEL3, numa, bus - 1, bus), CX5, f"mlx5_{8 + numa}", f"ib{8 + numa}", 100, "storage")
    ethernet(h, h.slot(INTEL3.but(link=(3, 4)), 0, 0x02, 0x04), X550, ["enp4s0f0", "enp4s0f1"], 10, ("10.22.0.7/16",), "10.22.0.1")
    server(h, INTEL3, 1)
    return h


@host("dgx-a100-sriov", "k8snetworkplumbingwg/sriov-network-operator#635, lspci and ibdev2netdev of a DGX A100 in Kubernetes: virtual functions of "
      "mlx5_2 and mlx5_6, all down on the host",
      "as dgx-a100; seven functions a card; the port state of a virtual function without policy")
def dgx_a100_sriov():
    """DGX A100 in Kubernetes: virtual functions wait for containers, their ports down"""
    h = dgx_a100()
    h.name = "dgx-a100-sriov"
    pf = {f.rdma[0].name: f for f in h.nics("compute")}
    ib_vfs(h, pf["mlx5_2"], CX6_VF, [f"mlx5_{12 + n}" for n in range(7)], "ibp75s0")
    ib_vfs(h, pf["mlx5_6"], CX6_VF, [f"mlx5_{19 + n}" for n in range(7)], "ibp141s0")
    return h


@host("hgx-b200", "vllm-project/vllm#16336, nvidia-smi topo -m of an HGX B200: one NIC PXB to each GPU, two dual-port cards, one a socket",
      "that the dual-port cards are BlueField-3 with storage on one port and the front-end on the other; its GPU without NVLink is whole here")
def hgx_b200():
    """HGX B200, eight RoCE compute ports, two dual-port BlueField-3: storage, and a front-end with the default route"""
    h = Host("hgx-b200", SPR, cores(112, 2), modules(), gpu_driver=NVIDIA_OPEN, dmi=("Supermicro", "SYS-A22GA-NBRT"))
    for n, base in enumerate((0x15, 0x26, 0x37, 0x48, 0x97, 0xA7, 0xB7, 0xC7)):
        top = h.switch(PEX5, h.slot(INTEL5, n // 4, base, base + 1), base + 1)
        inner = h.switch(PEX5, h.down(top, base + 3), base + 3)
        roce(h, h.down(top, base + 7), CX7, f"mlx5_{n}", f"gpu{n}rdma0", 400, (f"10.64.{n}.21/24",))
        h.gpu(h.down(inner, base + 5), B200)
    for numa, bus in ((0, 0x5A), (1, 0xD8)):
        slot, first = h.slot(INTEL5, numa, bus - 1, bus), 8 + 2 * numa
        roce(h, slot, BF3, f"mlx5_{first}", f"enp{bus}s0f0np0", 200, (f"10.96.{numa}.21/24",), "storage")
        roce(h, slot, BF3, f"mlx5_{first + 1}", f"enp{bus}s0f1np1", 200, ("10.10.3.21/24",) if numa == 0 else ("10.11.3.21/24",), "front", fn=1,
             mtu=1500, gateway="10.10.3.1" if numa == 0 else None)
    server(h, INTEL5, 1)
    return h


@host("hgx-b200-16nic", "sgl-project/sglang#8120 and #38207, nvidia-smi topo -m of HGX B200 hosts: 16 NICs, ten on node 0; NIC4 next to GPU0, NIC0 to NIC3 next to "
      "none; NVIDIA Fabric Manager user guide: ConnectX-7 bridge devices by which the NVLink switches are managed",
      "that NIC0 to NIC3 are these bridge devices, InfiniBand, configured by the NVLink subnet manager; InfiniBand compute ports; the rest as hgx-b200")
def hgx_b200_16nic():
    """HGX B200 whose NVLink switches show four InfiniBand devices of their own; two dual-port BlueField-3"""
    h = Host("hgx-b200-16nic", SPR, cores(112, 2), modules(ofed="24.10-1.1.4"), gpu_driver=NVIDIA_OPEN, dmi=("Supermicro", "SYS-A22GA-NBRT"))
    for n, down in enumerate(leaf(h, INTEL5, 0, 0x02, PEX5, (0x05, 0x06, 0x07, 0x08))):
        ib(h, down, CX7_BRIDGE, f"mlx5_{n}", f"ibp{5 + n}s0", role="nvlink", net_up=False)
    for n, base in enumerate((0x15, 0x26, 0x37, 0x48, 0x97, 0xA7, 0xB7, 0xC7)):
        top = h.switch(PEX5, h.slot(INTEL5, n // 4, base, base + 1), base + 1)
        inner = h.switch(PEX5, h.down(top, base + 3), base + 3)
        ib(h, h.down(top, base + 7), CX7, f"mlx5_{n + (4 if n < 4 else 6)}", f"ibp{base + 7}s0", net_up=False)
        h.gpu(h.down(inner, base + 5), B200)
    for numa, bus, dev in ((0, 0x5A, 8), (1, 0xD8, 14)):
        slot = h.slot(INTEL5, numa, bus - 1, bus)
        roce(h, slot, BF3, f"mlx5_{dev}", f"enp{bus}s0f0np0", 200, (f"10.96.{numa}.21/24",), "storage")
        roce(h, slot, BF3, f"mlx5_{dev + 1}", f"enp{bus}s0f1np1", 200, ("10.10.3.21/24",) if numa == 0 else (), "front", fn=1, mtu=1500,
             gateway="10.10.3.1" if numa == 0 else None, cabled=numa == 0)
    server(h, INTEL5, 1)
    return h


@host("h100-pure-ib", "imbue-ai/cluster-health#4, ibdev2netdev of an H100 host on \"a pure IB fabric, i.e. no RoCE or IPoIB\": all IPoIB "
      "interfaces down; two dual-port CX-6 Ethernet cards, one port of each up",
      "GPU buses, which follow a Dell XE9680's; addresses")
def h100_pure_ib():
    """H100 on pure InfiniBand, IPoIB interfaces down; dual-port Ethernet cards cabled on one side"""
    h = Host("h100-pure-ib", SPR, cores(112, 2), modules(ofed="24.01-0.3.3"), gpu_driver=NVIDIA_OPEN, dmi=("Dell Inc.", "PowerEdge XE9680"),
             iommu="identity")
    nics = ((0, 0x1A), (3, 0x3C), (4, 0x4D), (5, 0x5E), (6, 0x9C), (9, 0xBC), (10, 0xCC), (11, 0xDC))
    for n, (dev, bus) in enumerate(nics):
        ports = leaf(h, INTEL5, n // 4, bus - 5, PEX5, (bus - 1, bus) + ((bus + 1,) if dev in (0, 6) else ()))
        h.gpu(ports[0], H100)
        ib(h, ports[1], CX7, f"mlx5_{dev}", f"ibp{bus}s0", net_up=False)
        if dev in (0, 6):
            name = f"enp{bus + 1}s0f%dnp%d"
            roce(h, ports[2], CX6DX, f"mlx5_{dev + 1}", name % (0, 0), 100, (f"10.7.{dev // 6}.42/24",), "front", mtu=1500,
                 gateway="10.7.0.1" if dev == 0 else None)
            roce(h, ports[2], CX6DX, f"mlx5_{dev + 2}", name % (1, 1), 100, (), "spare", fn=1, mtu=1500, cabled=False)
    server(h, INTEL5, 1)
    return h


@host("h100-roce-lag", "NVIDIA/nccl#2150, RoCE LAG, 802.3ad: nvidia-smi topo -m with one bond PXB to each GPU; scitix/sichek#112: "
      "the bonded second function has no infiniband folder; show_gids of mlx5_bond_0 in NVIDIA/nccl#769",
      "that each bond is a dual-port ConnectX-7, 2 x 200 Gb/s; addresses")
def h100_roce_lag():
    """H100 with eight RoCE LAGs: both ports of each ConnectX-7 in a bond, one RDMA device a card"""
    h = Host("h100-roce-lag", GENOA, cores(128, 2), modules(ofed="24.10-0.7.0"), gpu_driver=NVIDIA_OPEN, dmi=("Inspur", "NF5688M7"))
    for n, base in enumerate((0x01, 0x21, 0x41, 0x61, 0x81, 0xA1, 0xC1, 0xE1)):
        top = h.switch(PEX5, h.slot(AMD5, n // 4, base - 1, base), base)
        inner = h.switch(PEX5, h.down(top, base + 3), base + 3)
        lag(h, h.down(top, base + 8), CX7_DUAL, f"mlx5_bond_{n}", (f"ens{n + 10}f0np0", f"ens{n + 10}f1np1"), f"bond{n}", 200, (f"10.96.{n}.26/24",))
        h.gpu(h.down(inner, base + 5), H100)
    ethernet(h, h.slot(AMD5, 0, 0x10, 0x12), X550, ["eno1", "eno2"], 10, ("172.16.4.26/24",), "172.16.4.1")
    server(h, AMD5, 1, bus=0xF0)
    return h


@host("oci-h100", "oracle-quickstart/oci-hpc samples/gpu/H100-topology.xml (BM.GPU.H100.8): GPUs, PEX switches, dual-port NICs whose ports are "
      "devices of their own; the outer switches' uplinks say 5.0 GT/s x16; mlx5_2 and mlx5_11 are left out there: the front-end",
      "root ports, the front-end cards' places, addresses: all rails in one network with arp_ignore, as the provider sets it up")
def oci_h100():
    """OCI H100: two 200 Gb/s rails a GPU, sixteen RoCE ports in one IP network, front-end cards of their own"""
    net = {f"proc/sys/net/ipv4/conf/all/{k}": f"{v}\n" for k, v in (("arp_ignore", 2), ("arp_announce", 1), ("rp_filter", 0))}
    h = Host("oci-h100", SPR, cores(112, 2), modules(), gpu_driver=NVIDIA_OPEN, dmi=("Oracle Corporation", "ORACLE SERVER H100"), more=net)
    cards = ((0x08, 0x0A, 0x0C, 0x0F, 0), (0x26, 0x28, 0x2A, 0x2D, 3), (0x3D, 0x3F, 0x41, 0x44, 5), (0x54, 0x56, 0x58, 0x5B, 7),
             (0x82, 0x84, 0x86, 0x89, 9), (0xA1, 0xA3, 0xA5, 0xA8, 12), (0xB9, 0xBB, 0xBD, 0xC0, 14), (0xD1, 0xD3, 0xD5, 0xD8, 16))
    for n, (base, inner, nic, gpu, dev) in enumerate(cards):
        top = h.switch(PEX5_TOP, h.slot(INTEL5, n // 4, base - 2, base), base)
        a, b = (h.switch(PEX5, h.down(top, bus), bus) for bus in (inner, inner + 3))
        down = h.down(a, nic)
        for fn in range(2):
            roce(h, down, CX7_DUAL, f"mlx5_{dev + fn}", f"rdma{2 * n + fn}", 200, (f"10.224.{2 * n + fn}.77/12",), fn=fn, mtu=4220)
        h.gpu(h.down(b, gpu), H100)
    for numa, bus, dev in ((0, 0x1F, 2), (1, 0x9A, 11)):
        roce(h, h.slot(INTEL5, numa, bus - 1, bus), CX6DX, f"mlx5_{dev}", f"eth{numa}", 100, ("10.0.7.77/20",) if numa == 0 else (), "front",
             gateway="10.0.0.1" if numa == 0 else None, cabled=numa == 0)
    server(h, INTEL5, 1)
    return h


@host("azure-nd-h100-v5", "Azure/azhpc-images topology/ndv5-topo.xml: GPUs and NICs each in a PCI domain of its own, four a node; Azure docs: "
      "eight 400 Gb/s NDR, topology-agnostic; one Ethernet with accelerated networking",
      "PCI domain of the Ethernet function; that link registers of virtual functions read 0, as the PCI Express specification has it")
def azure():
    """Azure ND H100 v5: a guest without PCIe switches, NICs are virtual functions"""
    h = Host("azure-nd-h100-v5", SPR_GUEST, cores(96, 2, False), modules(ofed="24.10-0.7.0"), gpu_driver=NVIDIA_OPEN,
             dmi=("Microsoft Corporation", "Virtual Machine"))
    for n, gpu in enumerate((0x1, 0x2, 0x3, 0x8, 0x9, 0xA, 0xB, 0xC)):
        h.gpu(None, H100, 0, root=(0, 0), numa=n // 4, domain=gpu)
        ib(h, None, CX7_VF, f"mlx5_{n}", f"ib{n}", bus=(0, 0), numa=n // 4, domain=0x101 + n, net_up=False)
    f = roce(h, None, CX5_VF, "mlx5_8", "enP46036s1", 80, bus=(0, 2), numa=0, domain=0xB3D4, role="front", mtu=1500)
    f.rdma[0].ports[0].rate = 100
    eth0 = Net("eth0", f.nets[0].mac, 80, ("10.4.0.9/16",), gateway="10.4.0.1")
    f.nets[0].master = eth0
    h.virtual.append(eth0)
    return h


@host("kvm-h100", "NVIDIA/nccl#1519, NCCL log of an H100 guest: switches 10b5:8796 made by the hypervisor, two GPUs and two NICs below each, 25 GB/s a NIC",
      "the buses of the first socket, RoCE, addresses; virtual functions")
def kvm_h100():
    """H100 guest with switches that the hypervisor makes up: two GPUs and two 200 Gb/s NICs below each"""
    h = Host("kvm-h100", SPR_GUEST, cores(96, 2, False), modules(), gpu_driver=NVIDIA_OPEN, dmi=("QEMU", "Standard PC (Q35 + ICH9, 2009)"))
    for n, base in enumerate((0x02, 0x09, 0x82, 0x89)):
        up = h.switch(PLX_VM, h.slot(INTEL5, n // 2, 0x00 if n < 2 else 0x80, base, dev=1 + n), base)
        for k in range(2):
            h.gpu(h.down(up, base + 2 + k), H100)
        for k in range(2):
            i = 2 * n + k
            roce(h, h.down(up, base + 4 + k), CX7_VF, f"mlx5_{i}", f"eth{i + 1}", 200, (f"172.27.{i}.5/24",))
    ethernet(h, None, VIRTIO, ["eth0"], 0, ("10.128.0.32/20",), "10.128.0.1", bus=(0, 6))
    return h


@host("aws-p5", "aws/aws-ofi-nccl topology/p5.48xl-topo.xml: eight groups of one GPU and four EFA, 100 Gb/s each; EFA device names, which carry "
      "the bus, in aws/eks-charts#1144; link layer Unknown, state always ACTIVE in linux-rdma/rdma-core#884 and amzn/amzn-drivers#114",
      "GPU buses, switches' buses; huge pages, as many as the EFA installer reserves")
def aws_p5():
    """AWS p5.48xlarge: 32 EFA, four to a GPU"""
    h = Host("aws-p5", MILAN_GUEST, cores(96, 2), modules("efa", None),
             gpu_driver=NVIDIA_OPEN, dmi=("Amazon EC2", "p5.48xlarge"), hugepages=2564)
    for n, first in enumerate((0x4F, 0x60, 0x71, 0x82, 0x93, 0xA4, 0xB5, 0xC6)):
        base = first - 11
        up = h.switch(PEX4, h.slot(AMD4, n // 4, base, base + 1), base + 1)
        for k in range(4):
            f = h.endpoint(h.down(up, first + k), EFA)
            net = Net("", mac(h, "02:bf:a5"), 100)
            f.rdma, f.role = [Rdma(f"rdmap{first + k}s0", EFA, "0000:0000:0000:0000", [Port("Unknown", 100, net)])], "compute"
        h.gpu(h.down(up, first + 4), H100)
    ethernet(h, None, ENA, ["ens32"], 100, ("172.31.20.9/20",), "172.31.16.1", bus=(0, 0x10), oui="02:bf:a5")
    return h


@host("a100-nps4-shared", "NVIDIA/nccl#1435, nvidia-smi topo -m: six NICs, one PXB to each pair of GPUs, nodes 3, 1, 7, 5 of eight; "
      "NVIDIA/nccl#1412, ibstatus of the same hosts: 200 Gb/s HDR, mlx5_3 40 Gb/s Ethernet",
      "buses; mlx5_3 and mlx5_4 as the two ports of one Ethernet card")
def a100_nps4_shared():
    """A100, EPYC in NPS4, one InfiniBand NIC for two GPUs"""
    h = Host("a100-nps4-shared", MILAN, cores(64, 8), modules(ofed="5.8-3.0.7"), gpu_driver=NVIDIA_CLOSED, dmi=("GIGABYTE", "G492-ZD2-00"))
    for numa, base, dev, nic, gpus in ((3, 0x01, 1, 0x0A, (0x07, 0x08)), (1, 0x41, 0, 0x4A, (0x47, 0x48)), (7, 0x81, 5, 0x8A, (0x87, 0x88)),
                                       (5, 0xC1, 2, 0xCA, (0xC7, 0xC8))):
        a, b = leaf(h, AMD4, numa, base - 1, PEX4, (base + 3, nic))
        inner = h.switch(PEX4, a, base + 3)
        for gpu in gpus:
            h.gpu(h.down(inner, gpu), A100)
        ib(h, b, CX6, f"mlx5_{dev}", f"ib{dev}", 200)
    slot = h.slot(AMD4, 4, 0xA0, 0xA1)
    roce(h, slot, CX6DX, "mlx5_3", "enp161s0f0np0", 40, ("192.168.88.14/24",), "front", mtu=1500, gateway="192.168.88.1")
    roce(h, slot, CX6DX, "mlx5_4", "enp161s0f1np1", 40, (), "spare", fn=1, mtu=1500, cabled=False)
    server(h, AMD4, 0, bus=0x20)
    return h


@host("h100-4nic", "NVIDIA/nccl#1737 and #1591, nvidia-smi topo -m and lsmod: six NICs, a NIC PIX to every other GPU, the GPUs between have none; 400 Gb/s",
      "which NICs are Ethernet (NIC2, NIC3), buses, addresses",
      [("nic-not-compute", "", "NVSHMEM spreads GPUs over all NICs of one distance; the owner keeps it off them with NVSHMEM_HCA_LIST")])
def h100_4nic():
    """H100 with four NICs: every other GPU has one below its switch, the others use their neighbour's"""
    h = Host("h100-4nic", SPR, cores(64, 2), modules(ofed="24.04-0.6.6"), gpu_driver=NVIDIA_CLOSED, dmi=("GIGABYTE", "G593-SD0-AAX1-000"))
    dev = {0: 0, 2: 1, 4: 4, 6: 5}
    for n, base in enumerate((0x15, 0x27, 0x37, 0x47, 0x97, 0xA7, 0xB7, 0xC7)):
        ports = leaf(h, INTEL5, n // 4, base, PEX5, (base + 3, base + 4) if n in dev else (base + 3,))
        h.gpu(ports[0], H100)
        if n in dev:
            ib(h, ports[1], CX7, f"mlx5_{dev[n]}", f"ib{dev[n]}")
    slot = h.slot(INTEL5, 0, 0x59, 0x5A)
    roce(h, slot, CX6DX, "mlx5_2", "ens9f0np0", 100, ("10.1.22.6/24",), "front", gateway="10.1.22.1")
    roce(h, slot, CX6DX, "mlx5_3", "ens9f1np1", 100, ("10.2.22.6/24",), "storage", fn=1)
    server(h, INTEL5, 1)
    return h


@host("a100-pcie-spare", "NVIDIA/nccl-tests#128, ibstat: mlx5_0 200 Gb/s active, mlx5_1, the same card model, down and never configured; "
      "mlx5_2 a ConnectX-4 Lx, active",
      "that each CX-6 is a dual-port card, two of them, the second port of each not cabled; four A100 on root ports of their own",
      [("nic-not-compute", "", "NVSHMEM spreads GPUs over all NICs of one distance; the owner keeps it off them with NVSHMEM_HCA_LIST")])
def a100_pcie_spare():
    """A100 PCIe server, two dual-port InfiniBand cards with spare second ports, no PCIe switch"""
    h = Host("a100-pcie-spare", ICX, cores(64, 2), modules(), gpu_driver=NVIDIA_OPEN, dmi=("Lenovo", "ThinkSystem SR670 V2"))
    for n, bus in enumerate((0x17, 0x31, 0x98, 0xB1)):
        h.gpu(h.slot(INTEL4, n // 2, bus - 1, bus), A100_PCIE)
    for numa, bus in ((0, 0x4B), (1, 0xCA)):
        slot = h.slot(INTEL4, numa, bus - 1, bus)
        ib(h, slot, CX6_DUAL, f"mlx5_{3 * numa}", f"ib{2 * numa}", 200)
        ib(h, slot, CX6_DUAL, f"mlx5_{3 * numa + 1}", f"ib{2 * numa + 1}", 200, "spare", fn=1, cabled=False)
    roce(h, h.slot(INTEL4, 0, 0x64, 0x65), CX4LX, "mlx5_2", "ens3np0", 25, ("10.9.0.31/24",), "front", mtu=1500, gateway="10.9.0.1")
    server(h, INTEL4, 1, bus=0xE0)
    return h


@host("gb200", "NVIDIA Mission Control, north-south network guide for GB200: compute tray's ports, PCIe places and RDMA devices; NVIDIA multi-node "
      "tuning guide; sgl-project/sglang#11208: GPU memory as NUMA nodes, no NIC nearer than the node",
      "GPU places, IPoIB down, addresses; the GPU link as PCIe 5.0 x16",
      [("nic-not-compute", "", "the two links of each BlueField-3 are as fast as a compute port and as near: NCCL_IB_HCA keeps NCCL off them")])
def gb200():
    """GB200 compute tray: arm64, four GPUs and four NICs on host bridges of their own, two BlueField-3"""
    nodes = ["0-71", "72-143"] + [""] * 32
    h = Host("gb200", GRACE, nodes, modules(), gpu_driver=NVIDIA_OPEN.replace("x86_64", "aarch64"), dmi=("NVIDIA", "GB200 NVL"), iommu="identity")
    for n, domain in enumerate((0x08, 0x09, 0x18, 0x19)):
        h.gpu(h.slot(GRACE5, n // 2, 0, 1, 0, domain), GB200)
    for n, (domain, dev) in enumerate(((0x00, 0), (0x02, 1), (0x10, 4), (0x12, 5))):
        up = h.switch(CX7_SWITCH, h.slot(GRACE5, n // 2, 0, 1, 0, domain), 1)
        ib(h, h.down(up, 3), CX7, f"mlx5_{dev}", f"ibP{domain}p3s0" if domain else "ibp3s0", net_up=False)
    for n, (domain, dev) in enumerate(((0x06, 2), (0x16, 6))):
        down = h.down(h.switch(CX7_SWITCH, h.slot(GRACE5, n, 0, 1, 0, domain), 1), 3)
        ports = [roce(h, down, BF3, f"mlx5_{dev + fn}", f"enP{domain}p3s0f{fn}np{fn}", 200, (), ("front", "storage")[fn], fn=fn).nets[0] for fn in range(2)]
        bonded(h, f"bond{n}", ports, (f"10.180.{n}.12/24",), "10.180.0.1" if n == 0 else None)
    return h


@host("gb300", "rdma_topo of rdma-core: the data direct function of a ConnectX-8 and a GPU below one switch, the NIC's own function on another "
      "root port, ACS bits of each port", "GPU and NIC addresses, addresses of the front; 800 Gb/s")
def gb300():
    """GB300 compute tray: arm64, four GPUs below the switches of four ConnectX-8, whose data direct functions reach them"""
    h = Host("gb300", GRACE, ["0-71", "72-143"] + [""] * 32, modules(), gpu_driver=NVIDIA_OPEN.replace("x86_64", "aarch64"), dmi=("NVIDIA", "GB300 NVL"),
             iommu="identity")
    for n, domain in enumerate((0x08, 0x09, 0x18, 0x19)):
        root = h.slot(GRACE5.but(link=(6, 16)), n // 2, 0, 1, 0, domain)
        top = h.switch(CX8_SWITCH, root, 1)
        direct, deep = h.down(top, 3), h.down(top, 4)
        h.endpoint(direct, CX8_DMA)
        last = h.down(h.switch(CX8_SWITCH, deep, 4), 6)
        h.gpu(last, GB300)
        # Isolated as the kernel does it, but for what passes between the two; no source validation at the root port.
        root.acs, direct.acs, deep.acs, last.acs = 0x1C, 0x19, 0x15, 0x1D
    for n, (domain, dev) in enumerate(((0x00, 0), (0x02, 1), (0x10, 4), (0x12, 5))):
        up = h.switch(CX8_SWITCH, h.slot(GRACE5.but(link=(6, 16)), n // 2, 0, 1, 0, domain), 1)
        ib(h, h.down(up, 3), CX8, f"mlx5_{dev}", f"ibP{domain}p3s0" if domain else "ibp3s0", 800, net_up=False)
    roce(h, h.down(h.switch(CX7_SWITCH, h.slot(GRACE5, 0, 0, 1, 0, 0x06), 1), 3), BF3, "mlx5_2", "enP6p3s0f0np0", 200, ("10.180.4.13/24",), "front",
         gateway="10.180.4.1")
    return h


@host("mi300x-thor2", "ROCm/RIXL#34, hwloc of an MI300X host with bnxt_re; uccl-project/uccl#803, Thor-2 GID tables",
      "buses, addresses (IPv4), eight 400 Gb/s Thor2, one below each GPU's switch, and an empty drive slot there")
def mi300x_thor2():
    """MI300X with eight Broadcom Thor2 (bnxt_re), RoCE"""
    h = Host("mi300x-thor2", GENOA, cores(192, 2), modules("bnxt_re", "bnxt_en", gpu="amdgpu"), dmi=("Dell Inc.", "PowerEdge XE9680"), iommu="identity")
    for n, base in enumerate((0x19, 0x39, 0x49, 0x5A, 0x99, 0xB9, 0xC9, 0xD9)):
        a, b, _ = leaf(h, AMD5, n // 4, base - 5, PEX5, (base, base + 2, base + 3))
        roce(h, a, THOR2, f"bnxt_re{n}", f"benic{n + 1}p1", 400, (f"192.168.{n}.37/31",), oui="5c:25:73")
        h.gpu(b, MI300X)
    ethernet(h, h.slot(AMD5, 0, 0x70, 0x71), X550, ["eno8303", "eno8403"], 10, ("10.227.7.37/22",), "10.227.4.1")
    server(h, AMD5, 1, bus=0xF0)
    return h


@host("mi300x-thor2-ipv6", "uccl-project/uccl#803: Thor-2 ports whose GIDs are all IPv6, link-local fe80:: and ULA fd93::, index 3 works",
      "buses and addresses")
def mi300x_thor2_ipv6():
    """MI300X with Thor2, RoCE over IPv6 only"""
    h = mi300x_thor2()
    h.name = "mi300x-thor2-ipv6"
    for n, f in enumerate(h.nics("compute")):
        f.nets[0].addrs = [f"fd93:16d3:59b6:{n}::25/64"]
    return h


@host("mi300x-pollara", "ROCm/rocm-systems#3654, amd-smi of an AI NIC: driver ionic, enp229s0, rocep229s0, firmware 1.110.1-a-1; "
      "ROCm/mori#120: GID index 1",
      "eight of them, one below each GPU's switch, buses of the others, all cabled")
def mi300x_pollara():
    """MI300X with eight AMD Pensando Pollara (ionic), RoCE"""
    h = Host("mi300x-pollara", TURIN, cores(128, 2), modules("ionic_rdma", "ionic", gpu="amdgpu"), dmi=("Supermicro", "AS -8125GS-TNMR2"))
    for n, bus in enumerate((0x09, 0x25, 0x49, 0x65, 0x89, 0xA5, 0xC9, 0xE5)):
        a, b = leaf(h, AMD5, n // 4, bus - 4, PEX5, (bus, bus + 2))
        roce(h, a, POLLARA, f"rocep{bus}s0", f"enp{bus}s0", 400, (f"10.50.{n}.9/24",), oui="04:90:81")
        h.gpu(b, MI300X)
    ethernet(h, h.slot(AMD5, 0, 0x70, 0x71), X550, ["eno1np0", "eno2np1"], 10, ("10.6.1.9/24",), "10.6.1.1")
    server(h, AMD5, 1, bus=0xF0)
    return h


@host("mi355x-ionic-ipv6", "ROCm/rocm-aic#62, inventory of a cluster: 8 MI355X, 4 a socket, NPS1; 8 ionic 400 Gb/s RoCE v2, IPv6-only ULA; "
      "one mlx5 200 Gb/s RoCE v2, management, IPv4",
      "buses, addresses, drives fewer than eight")
def mi355x_ionic_ipv6():
    """MI355X, eight ionic ports with IPv6 only, one mlx5 for management"""
    h = Host("mi355x-ionic-ipv6", TURIN, cores(118, 2), modules("ionic_rdma", "ionic", gpu="amdgpu") + ["mlx5_ib ", "mlx5_core mlx5_ib"],
             dmi=("Supermicro", "AS -8126GS-TNMR"))
    for n, bus in enumerate((0x06, 0x26, 0x46, 0x66, 0x86, 0xA6, 0xC6, 0xE6)):
        a, b = leaf(h, AMD5, n // 4, bus - 4, PEX5, (bus, bus + 2))
        roce(h, a, POLLARA, f"ionic_{n}", f"enp{bus}s0", 400, (f"fd00:5a:{n + 1}::64/64",), oui="04:90:81")
        h.gpu(b, MI355X)
    roce(h, h.slot(AMD5, 0, 0x70, 0x71), CX7, "mlx5_0", "enp113s0np0", 200, ("10.20.40.64/22",), "front", mtu=1500, gateway="10.20.40.1")
    server(h, AMD5, 1, nvme=4, bus=0xF0)
    return h


@host("irdma-hpc", "`rdma link` and `ibv_devinfo -v` of a host with an E810: irdma0 down, not cabled, irdma1 active on enp23s0f1, LID 1, 32 GIDs, "
      "active MTU 1024 (public notes; NVIDIA/nccl#622 has the LID, too)",
      "no GPU; a second card of the same kind, used alike")
def irdma_hpc():
    """CPU-only host, Intel E810 (irdma), the first port of each card not cabled"""
    h = Host("irdma-hpc", ICX, cores(64, 2), modules("irdma", "ice", gpu=None), dmi=("Intel", "M50CYP2SB2U"))
    for numa, bus in ((0, 0x17), (1, 0xB1)):
        slot = h.slot(INTEL4, numa, bus - 1, bus)
        for fn in range(2):
            f = roce(h, slot, E810, f"irdma{2 * numa + fn}", f"enp{bus}s0f{fn}", 100, (f"10.15.{numa}.8/24",) if fn else (), "storage" if fn else "spare",
                     fn=fn, mtu=1500, cabled=fn == 1, gateway="10.15.0.1" if fn and not numa else None, oui="6c:fe:54")
            f.rdma[0].ports[0].lid = 1
    server(h, INTEL4, 1, bus=0xE0)
    return h


@host("hpc-no-gpu", "stackhpc/ansible-slurm-appliance#988: two mlx5 ports, both active, 100 Gb/s EDR, one of them Ethernet", "the rest; IOMMU on, ACS on root ports")
def hpc_no_gpu():
    """CPU-only compute node: one InfiniBand card, one Ethernet port with RDMA that nobody uses"""
    h = Host("hpc-no-gpu", GENOA, cores(192, 2), modules(gpu=None), dmi=("Lenovo", "ThinkSystem SD665 V3"), iommu="DMA-FQ")
    up = h.slot(AMD5, 0, 0x40, 0x41)
    ib(h, up, CX6, "mlx5_0", "ib0", 100)
    up2 = h.slot(AMD5, 1, 0xC0, 0xC1)
    roce(h, up2, CX6DX, "mlx5_1", "eno1np0", 100, ("10.3.0.17/16",), "front", mtu=1500, gateway="10.3.0.1")
    up.acs = up2.acs = 0x1D
    server(h, AMD5, 1)
    return h


@host("storage-server", "daos-stack/daos#2734: eight PCIe 4.0 NVMe for a 200 Gb/s NIC, a NIC a socket; linux-nvme/nvme-cli#636: dual-port 100 Gb/s cards, "
      "storage over a bonded RoCE interface",
      "24 drives behind two switches with ACS as the IOMMU has set it; the second card's ports as two interfaces")
def storage_server():
    """Storage server: 24 NVMe behind switches, two dual-port cards, one in a LAG, one with two networks"""
    h = Host("storage-server", GENOA, cores(64, 2), modules(gpu=None), dmi=("Supermicro", "SSG-121E-NE316R"), iommu="DMA-FQ")
    for numa, base in ((0, 0x40), (1, 0xC0)):
        for down in leaf(h, AMD5, numa, base, PEX5, range(base + 4, base + 16)):
            down.acs = 0x1D
            h.endpoint(down, NVME.but(link=(5, 4)))
    lag(h, h.slot(AMD5, 0, 0x20, 0x21), CX6DX, "mlx5_bond_0", ("ens1f0np0", "ens1f1np1"), "bond0", 100, ("10.40.0.3/24",), "storage", "10.40.0.1")
    slot = h.slot(AMD5, 1, 0xA0, 0xA1)
    for fn in range(2):
        roce(h, slot, CX6DX, f"mlx5_{2 + fn}", f"ens2f{fn}np{fn}", 100, (f"10.41.{fn}.3/24",), "storage", fn=fn)
    server(h, AMD5, 0, nvme=1)
    return h


@host("gaudi2", "Intel Gaudi docs, Gaudi 2 server: eight accelerators, 24 ports of 100 Gb/s each, three to the outside; habanalabs network driver "
      "patches (RDMA device of 24 ports, RoCE v2)",
      "device and interface names, that all ports have their link-local address only; a dual-port host NIC")
def gaudi2():
    """Gaudi 2 server: eight accelerators with 24 RDMA ports each, a dual-port host NIC"""
    hbl = GAUDI2.but(gids=(V2,), firmware="1.18.0", rdma_driver="habanalabs_ib", dev="hbl")
    lines = [m for m in modules("mlx5_ib", "mlx5_core", gpu=None) if not m.startswith("ib_core")]
    lines += ["ib_core rdma_ucm,ib_ipoib,ib_umad,rdma_cm,iw_cm,ib_cm,ib_uverbs,mlx5_ib,habanalabs_ib", "habanalabs_ib ", "habanalabs_en ",
              "habanalabs_cn habanalabs_ib,habanalabs_en", "habanalabs habanalabs_ib,habanalabs_en,habanalabs_cn"]
    h = Host("gaudi2", ICX, cores(80, 2), lines, dmi=("Supermicro", "SYS-820GH-TNR2-01"))
    for n, base in enumerate((0x15, 0x2F, 0x49, 0x63, 0x95, 0xAF, 0xC9, 0xE3)):
        f = h.gpu(leaf(h, INTEL4, n // 4, base, PEX4, (base + 4,))[0], hbl)
        f.nets = [Net(f"acc{n}p{p}", mac(h, "b0:fd:0b"), 100, mtu=8000) for p in range(24)]
        for p, net in enumerate(f.nets):
            net.dev_port = p
        guid = f.nets[0].link_local().packed[8:].hex()
        f.rdma = [Rdma(f"hbl_{n}", hbl, ":".join(guid[i:i + 4] for i in range(0, 16, 4)), [Port("Ethernet", 100, net, num=p + 1) for p, net in enumerate(f.nets)])]
        f.role = "compute"
    slot = h.slot(INTEL4, 0, 0x7D, 0x7E)
    roce(h, slot, CX6DX, "mlx5_0", "ens8f0np0", 100, ("10.2.8.5/24",), "front", gateway="10.2.8.1")
    roce(h, slot, CX6DX, "mlx5_1", "ens8f1np1", 100, (), "spare", fn=1, cabled=False)
    server(h, INTEL4, 1, bus=0xF0)
    return h


def build(name):
    return HOSTS[name]()
