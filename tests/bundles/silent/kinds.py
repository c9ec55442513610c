# SPDX-License-Identifier: GPL-2.0-or-later
"""What hosts are made of: processors, GPUs, NICs, switches, each with the identifiers of the PCI database and what its driver
shows; and the few lines that put one of them into a host."""
from hostgen import Kind, Net, Port, Rdma

GIB = 1 << 30
V1, V2 = "IB/RoCE v1", "RoCE v2"
FLAGS = "flags\t\t: fpu vme de pse tsc msr pae mce cx8 apic sep"


def x86(vendor, family, model, guest=False):
    return f"vendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\n{FLAGS}{' hypervisor' if guest else ''}"


SPR, SPR_GUEST = x86("GenuineIntel", 6, 143), x86("GenuineIntel", 6, 143, True)
ICX, SKX = x86("GenuineIntel", 6, 106), x86("GenuineIntel", 6, 85)
ROME, MILAN, GENOA, TURIN = (x86("AuthenticAMD", *v) for v in ((23, 49), (25, 1), (25, 17), (26, 2)))
MILAN_GUEST = x86("AuthenticAMD", 25, 1, True)
GRACE = "BogoMIPS\t: 2000.00\nFeatures\t: fp asimd evtstrm aes\nCPU implementer\t: 0x41\nCPU architecture: 8"

# Root ports and switches.
INTEL5 = Kind((0x8086, 0x352A, 0, 0), 0x060400, "pcieport", (5, 16))
INTEL4 = Kind((0x8086, 0x347A, 0, 0), 0x060400, "pcieport", (4, 16))
INTEL3 = Kind((0x8086, 0x2030, 0, 0), 0x060400, "pcieport", (3, 16))
AMD5 = Kind((0x1022, 0x14AB, 0, 0), 0x060400, "pcieport", (5, 16))
AMD4 = Kind((0x1022, 0x1483, 0, 0), 0x060400, "pcieport", (4, 16))
GRACE5 = Kind((0x10DE, 0x22B1, 0, 0), 0x060400, "pcieport", (5, 16))
PEX5 = Kind((0x1000, 0xC030, 0x1000, 0x1003), 0x060400, "pcieport", (5, 16))
PEX5_TOP = PEX5.but(ids=(0x1000, 0xC030, 0x1000, 0x0072), link=(2, 16))
PEX3 = Kind((0x10B5, 0x9797, 0x10B5, 0x9797), 0x060400, "pcieport", (3, 16))
PEX4 = Kind((0x1000, 0xC010, 0x1000, 0xA096), 0x060400, "pcieport", (4, 16))
PLX_VM = Kind((0x10B5, 0x8796, 0x10B5, 0x8796), 0x060400, "pcieport", (5, 16))
CX8_SWITCH = Kind((0x15B3, 0x197C, 0, 0), 0x060400, "pcieport", (6, 16))
CX8_DMA = Kind((0x15B3, 0x2100, 0x15B3, 0x2100), 0x080100, "mlx5_ib", (6, 16))
CX7_SWITCH = Kind((0x15B3, 0x197B, 0, 0), 0x060400, "pcieport", (5, 16))

# Accelerators.
H100 = Kind((0x10DE, 0x2330, 0x10DE, 0x16C1), 0x030200, "nvidia", (5, 16), model="NVIDIA H100 80GB HBM3", bars=(16 << 20, 128 * GIB, 32 << 20))
V100 = Kind((0x10DE, 0x1DB8, 0x10DE, 0x131D), 0x030200, "nvidia", (3, 16), model="Tesla V100-SXM3-32GB", bars=(16 << 20, 32 * GIB, 32 << 20))
A100 = Kind((0x10DE, 0x20B2, 0x10DE, 0x1463), 0x030200, "nvidia", (4, 16), model="NVIDIA A100-SXM4-80GB", bars=(16 << 20, 128 * GIB, 32 << 20))
A100_PCIE = Kind((0x10DE, 0x20B5, 0x10DE, 0x1533), 0x030200, "nvidia", (4, 16), model="NVIDIA A100 80GB PCIe", bars=(16 << 20, 128 * GIB, 32 << 20))
B200 = Kind((0x10DE, 0x2901, 0x10DE, 0x1999), 0x030200, "nvidia", (5, 16), model="NVIDIA B200", bars=(64 << 20, 256 * GIB, 32 << 20))
GB200 = Kind((0x10DE, 0x2941, 0x10DE, 0x2046), 0x030200, "nvidia", (5, 16), model="NVIDIA GB200", bars=(64 << 20, 256 * GIB, 32 << 20))
GB300 = GB200.but(ids=(0x10DE, 0x31C2, 0x10DE, 0x21F1), link=(6, 16), model="NVIDIA GB300")
MI300X = Kind((0x1002, 0x74A1, 0x1002, 0x74A1), 0x120000, "amdgpu", (5, 16), bars=(256 * GIB, 2 << 20))
MI355X = Kind((0x1002, 0x75A3, 0x1002, 0x75A3), 0x120000, "amdgpu", (5, 16), bars=(512 * GIB, 2 << 20))
GAUDI2 = Kind((0x1DA3, 0x1020, 0x1DA3, 0x0200), 0x120000, "habanalabs", (4, 16), bars=(64 << 20, 128 << 20, 128 * GIB))

# NICs. An owner of a GPU host has set read requests of 4096, as the vendors' guides say.
CX7 = Kind((0x15B3, 0x1021, 0x15B3, 0x0023), 0x020000, "mlx5_core", (5, 16), mrrs=4096, bars=(32 << 20,), dev="mlx5", gids=(V1, V2),
           firmware="28.43.2026", board="MT_0000000838", hca_type="MT4129")
CX8 = CX7.but(ids=(0x15B3, 0x1023, 0x15B3, 0x0023), link=(6, 16), firmware="40.45.1200", board="MT_0000001222", hca_type="MT4131")
CX7_DUAL = CX7.but(ids=(0x15B3, 0x1021, 0x15B3, 0x0038), board="MT_0000000892")
CX7_BRIDGE = CX7.but(board="NVD0000000054", firmware="28.43.2566", mrrs=512)
CX6 = CX7.but(ids=(0x15B3, 0x101B, 0x15B3, 0x0007), link=(4, 16), firmware="20.43.1014", board="MT_0000000223", hca_type="MT4123")
CX6_DUAL = CX6.but(ids=(0x15B3, 0x101B, 0x15B3, 0x0006), board="MT_0000000224")
CX6DX = CX6.but(ids=(0x15B3, 0x101D, 0x15B3, 0x0016), firmware="22.43.1014", board="MT_0000000359", hca_type="MT4125")
CX4LX = CX6.but(ids=(0x15B3, 0x1015, 0x15B3, 0x0003), link=(3, 8), firmware="14.32.1010", board="MT_2420110034", hca_type="MT4117", mrrs=512)
BF3 = CX7.but(ids=(0x15B3, 0xA2DC, 0x15B3, 0x0009), firmware="32.43.1014", board="MT_0000000884", hca_type="MT41692")
CX5 = CX7.but(ids=(0x15B3, 0x1019, 0x15B3, 0x0008), link=(3, 16), firmware="16.35.3006", board="MT_0000000008", hca_type="MT4121")
CX7_VF = CX7.but(ids=(0x15B3, 0x101E, 0x15B3, 0x0023), vf=True, firmware="28.42.1000", board="MT_0000000838", hca_type="MT4126")
CX6_VF = CX7_VF.but(ids=(0x15B3, 0x101C, 0x15B3, 0x0007), link=(4, 16), firmware="20.43.1014", board="MT_0000000223", hca_type="MT4124")
CX5_VF = CX7_VF.but(ids=(0x15B3, 0x101A, 0x15B3, 0x0190), link=(3, 8), firmware="16.31.2408", board="MSF0000000012", hca_type="MT4122")
THOR2 = Kind((0x14E4, 0x1760, 0x14E4, 0x9345), 0x020000, "bnxt_en", (5, 16), mrrs=4096, bars=(64 << 10, 1 << 20), dev="bnxt_re", gids=(V1, V2),
             firmware="231.2.63.0", hca_type="Broadcom NetXtreme-C/E RoCE Driver HCA")
POLLARA = Kind((0x1DD8, 0x1002, 0x1DD8, 0x5201), 0x020000, "ionic", (5, 16), mrrs=4096, bars=(64 << 10,), dev="ionic", gids=(V2,),
               firmware="1.110.1-a-1")
E810 = Kind((0x8086, 0x1592, 0x8086, 0x0002), 0x020000, "ice", (4, 16), bars=(32 << 20,), dev="irdma", gids=(V2,), firmware="1.54")
EFA = Kind((0x1D0F, 0xEFA2, 0x1D0F, 0xEFA2), 0x020000, "efa", (4, 8), bars=(16 << 10, 1 << 20), dev="rdmap", gids=(V1,), firmware="0.0.0.0")
X550 = Kind((0x8086, 0x1563, 0x8086, 0x001A), 0x020000, "ixgbe", (3, 4))
ENA = Kind((0x1D0F, 0xEC20, 0x1D0F, 0xEC20), 0x020000, "ena", (1, 1))
VIRTIO = Kind((0x1AF4, 0x1041, 0x1AF4, 0x1100), 0x020000, "virtio-pci", (1, 1))

NVME = Kind((0x144D, 0xA826, 0x144D, 0xAA0A), 0x010802, "nvme", (5, 4))
ASPEED = Kind((0x1A03, 0x2000, 0x1A03, 0x2000), 0x030000, "ast", (1, 1))
NVSWITCH = Kind((0x10DE, 0x22A3, 0x10DE, 0x1796), 0x068000, "nvidia-nvswitch", (2, 2), bars=(32 << 20,))

IB_STACK = ["rdma_ucm ", "ib_ipoib ", "ib_umad ", "rdma_cm rdma_ucm", "iw_cm rdma_cm", "ib_cm rdma_cm,ib_ipoib"]


def modules(driver="mlx5_ib", low="mlx5_core", peermem=True, ofed=None, gpu="nvidia"):
    """Lines of /proc/modules: an InfiniBand stack, the NIC's driver (low: the Ethernet part that it stands on), the GPU's. ofed: the
    version that out-of-tree modules give."""
    users = f"rdma_ucm,ib_ipoib,ib_umad,rdma_cm,iw_cm,ib_cm,ib_uverbs,{driver}"
    lines = list(IB_STACK) + [f"{driver} ", f"ib_uverbs rdma_ucm,{driver}"] + ([f"{low} {driver}"] if low else [])
    if gpu == "nvidia":
        users += ",nvidia_peermem" if peermem else ""
        lines += ["nvidia_uvm 570.124.06|", "nvidia 570.124.06|nvidia_uvm" + (",nvidia_peermem" if peermem else "")]
        lines += ["nvidia_peermem 570.124.06|"] if peermem else []
    elif gpu:
        lines += [f"{gpu} "]
    lines += [f"ib_core {users}"]
    return [f"{line.split()[0]} {ofed}|{line.partition(' ')[2]}" if ofed and "nvidia" not in line.split()[0] else line for line in lines]


NVIDIA_OPEN = ("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.124.06  Release Build  (dvs-builder@U16-I2-C03-12-4)  "
               "Wed Feb 26 01:51:24 UTC 2025\nGCC version:  gcc version 12.3.0\n")
NVIDIA_CLOSED = ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\n"
                 "GCC version:  gcc version 12.3.0\n")


def cores(count, nodes, threads=True):
    """CPU lists of equal nodes; the second threads follow all first ones."""
    each = count // nodes
    return [f"{n * each}-{n * each + each - 1}" + (f",{count + n * each}-{count + n * each + each - 1}" if threads else "") for n in range(nodes)]


def number(host):
    host.serial = getattr(host, "serial", 0) + 1
    return host.serial


def mac(host, oui="a0:88:c2"):
    n = number(host)
    return f"{oui}:{0x30 + n // 200:02x}:{n % 200 + 1:02x}:{0x1e:02x}"


def place(host, up, kind, fn, bus, numa, domain):
    """Below a bridge; or, without one, as a guest sees it: alone on a root bus, (bus, device)."""
    if up is None:
        return host.endpoint(None, kind, bus[0], fn, bus, numa, domain)
    return host.endpoint(up, kind, fn=fn)


def ib(host, up, kind, dev, net, rate=400, role="compute", fn=0, bus=None, numa=None, domain=0, net_up=True, cabled=True):
    """An InfiniBand port with its IPoIB interface. cabled False: nothing is plugged into it."""
    f = place(host, up, kind.but(cls=0x020700), fn, bus, numa, domain)
    n = number(host)
    guid = f"a088:c203:00{n:02x}:{0x4000 + n * 64:04x}"
    hw = "00:00:10:29:fe:80:00:00:00:00:00:00:" + ":".join(guid.replace(":", "")[i:i + 2] for i in range(0, 16, 2))
    port = Port("InfiniBand", rate, Net(net, hw, rate, mtu=4092, up=net_up and cabled, ipoib=True), lid=200 + n, sm_lid=1)
    port.link_downed = 1 + n % 2
    if not cabled:
        port.state, port.phys, port.rate, port.lid, port.sm_lid, port.link_downed = "DOWN", "Polling", 10, 65535, 0, 0
        port.net.carrier = False
    f.nets, f.role = [port.net], role
    f.rdma = [Rdma(dev, kind, guid, [port])]
    return f


def ib_vfs(host, pf, kind, devs, net):
    """Virtual functions for containers: without a policy their ports are down until one is given to a container."""
    for n, dev in enumerate(devs):
        f = ib(host, pf.up, kind, dev, f"{net}v{n}", 200, "spare", 1 + n, net_up=False)
        f.physfn, port = pf, f.rdma[0].ports[0]
        port.state, port.phys, port.lid, port.sm_lid, port.net.carrier, port.link_downed = "DOWN", "LinkUp", 65535, 0, False, 0


def roce(host, up, kind, dev, net, rate=400, addrs=(), role="compute", fn=0, bus=None, numa=None, domain=0, mtu=9000, cabled=True, gateway=None, oui="a0:88:c2"):
    """An Ethernet port with RDMA."""
    f = place(host, up, kind, fn, bus, numa, domain)
    net = Net(net, mac(host, oui), rate, addrs, mtu, gateway=gateway)
    guid = net.link_local().packed[8:].hex()
    port = Port("Ethernet", rate, net)
    if not cabled:
        port.state, port.phys, port.rate, net.carrier = "DOWN", "Disabled", 40 if kind.dev == "mlx5" else rate, False
    f.nets, f.role = [net], role
    f.rdma = [Rdma(dev, kind, ":".join(guid[i:i + 4] for i in range(0, 16, 4)), [port])]
    return f


def lag(host, up, kind, dev, nets, bond, rate=200, addrs=(), role="compute", gateway=None):
    """Both ports of a card in a bond: one RDMA device, on the first function; the second has none."""
    f = roce(host, up, kind, dev, nets[0], rate, role=role)
    second = place(host, up, kind, 1, None, None, 0)
    second.nets, second.role = [Net(nets[1], mac(host), rate, mtu=9000)], "lag"
    over = bonded(host, bond, [f.nets[0], second.nets[0]], addrs, gateway)
    f.rdma[0].ports[0].net = over
    return f


def bonded(host, name, members, addrs=(), gateway=None):
    """A bond over interfaces; RDMA devices on single cards below it get its addresses as GIDs."""
    over = Net(name, members[0].mac, sum(m.speed for m in members), addrs, members[0].mtu, gateway=gateway)
    over.slaves = members
    for member in members:
        member.master, member.addrs, member.mac = over, [], over.mac
    for f in host.fns:
        for port in (p for r in f.rdma for p in r.ports if p.net in members):
            port.net = over
    host.virtual.append(over)
    return over


def ethernet(host, up, kind, names, speed, addrs=(), gateway=None, bus=None, numa=0, oui="3c:ec:ef"):
    """Ports without RDMA; the first has the addresses and the default route, the others are not cabled."""
    for fn, name in enumerate(names):
        f = place(host, up, kind, fn, bus, numa, 0)
        f.nets = [Net(name, mac(host, oui), speed, addrs if fn == 0 else (), gateway=gateway if fn == 0 else None)]
        f.nets[0].carrier = fn == 0


def server(host, root, numa=0, nvme=2, bus=0xE4):
    """What servers have besides: the console of the management controller, drives, an empty slot."""
    host.slot(root, numa, bus, bus + 8, 8)
    video = host.slot(root.but(link=(2, 1)), numa, 0xF9, 0xFA)
    host.endpoint(video, ASPEED)
    for n in range(nvme):
        host.endpoint(host.slot(root.but(link=(root.link[0], 4)), numa, bus, bus + 1 + n, 1 + n), NVME.but(link=(min(root.link[0], 5), 4)))


def leaf(host, root, numa, base, switch, buses):
    """A root port at bus `base` with a switch below it; a downstream port for each bus."""
    up = host.switch(switch, host.slot(root, numa, base, base + 1), base + 1)
    return [host.down(up, bus) for bus in buses]
