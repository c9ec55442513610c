# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults, planted in the model of a host as they look in the field. A fault is a function that changes the host and returns a
Fault; None where this host has nothing that can break so, or where it would leave no trace. Which device it meets, `pick` says.

Fault.objects: names that a finding has to give, one of them: the device, its place, the bridge. Fault.words: what it has to
speak of, a regular expression. Both are judged from the fault, not from the rules."""
import functools, ipaddress

from hostgen import DOWNSTREAM, UPSTREAM, Host
from kinds import PLX_VM

FAULTS = {}


class Fault:
    def __init__(self, what, objects, words):
        self.what, self.objects, self.words = what, [o for o in objects if o], words


def fault(name):
    def add(make):
        FAULTS[name] = make
        return make
    return add


def fault_of(name, candidates):
    """A fault that meets one of candidates(host), if there are any; its function gets the host, that one, and all of them."""
    def add(make):
        @functools.wraps(make)
        def meet(host, pick):
            all_of = candidates(host)
            return make(host, pick.choice(all_of), all_of) if all_of else None
        return fault(name)(meet)
    return add


def plant(name, host, pick):
    return FAULTS[name](host, pick)


def names(fn):
    """What a finding may call a function: its address, RDMA device, port, interfaces."""
    devs = [r.name for r in fn.rdma]
    nets = [n.name for n in fn.nets] + [n.master.name for n in fn.nets if n.master]
    return [fn.addr, *devs, *[f"{d}/1" for d in devs], *nets]


def gpu_names(host, fn):
    return [fn.addr, f"GPU{sorted(g.addr for g in host.gpus()).index(fn.addr)}"]


def above(fn):
    return [b.addr for b in fn.bridges()]


def neighbours(host, fn):
    """NICs and GPUs below the switch that is next above; without a switch, those of the same NUMA node."""
    top = [b for b in fn.bridges() if b.pcie == UPSTREAM][-1:]
    near = [f for f in host.fns if f is not fn and (top[0] in f.bridges() if top else f.numa == fn.numa)]
    return [n for f in near for n in (gpu_names(host, f) if f.gpu else names(f) if f.role == "compute" else [])]


def ports(host, layer=None, kind=None):
    """Compute NICs that this fault can meet; where accelerators have RDMA ports themselves, these. There are two or more."""
    return [f for f in host.nics("compute") if layer in (None, f.rdma[0].ports[0].layer) and kind in (None, f.rdma[0].kind.dev)]


def odd(cards, fn):
    """Names of the odd one out. Of two that differ nothing says which it is."""
    return names(fn) if len(cards) > 2 else [n for f in cards for n in names(f)]


def card(host, fn):
    """All functions of its card."""
    return [f for f in host.fns if f.addr[:-2] == fn.addr[:-2]]


def set_down(port, phys):
    port.state, port.phys = "DOWN", phys
    nets = list(port.net.slaves) or [port.net]
    for net in [port.net] + nets:
        net.carrier = False
    if port.layer == "InfiniBand":
        port.rate, port.lid, port.sm_lid = 10, 65535, 0


@fault_of("gpu-gone", Host.gpus)
def gpu_gone(host, fn, cards):
    """a GPU has fallen off the bus: no function, the port above it has a link without lanes"""
    called, near, up = gpu_names(host, fn), neighbours(host, fn), above(fn)
    numa = fn.numa
    host.remove(fn)
    return Fault(f"GPU {fn.addr} has gone", [*called, *near, *up, f"node {numa}", "GPUs", "accelerators", "host"], r"GPU|accelerator|no lanes|x0|link")


@fault("all-gpus-gone")
def all_gpus_gone(host, pick):
    """all accelerators have fallen off the bus, their driver is still loaded"""
    fns = list(host.gpus())
    if any(f.rdma for f in fns):
        return None
    for fn in fns:
        host.remove(fn)
    return Fault(f"all {len(fns)} GPUs have gone", ["host", "GPUs", "accelerators"], r"GPU|accelerator")


@fault_of("off-bus", lambda host: [f for f in ports(host) if not f.gpu and not f.kind.vf])
def off_bus(host, fn, cards):
    """a NIC is listed, and does not answer any more: its configuration space reads as ones, its link is not told"""
    for f in card(host, fn):
        f.dead = True
    return Fault(f"{fn.rdma[0].name} at {fn.addr} does not answer", names(fn), r"answer|ones|bus")


@fault_of("nic-gone", lambda host: [f for f in ports(host) if not f.gpu])
def nic_gone(host, fn, cards):
    """a compute NIC is not there: none of its functions, the port above it has a link without lanes"""
    called, near, up = names(fn), neighbours(host, fn), above(fn)
    for f in card(host, fn):
        host.remove(f)
        for net in f.nets:
            if net.master in host.virtual:
                host.virtual.remove(net.master)
    return Fault(f"NIC {called[1]} at {fn.addr} has gone", [*called, *near, *up, f"node {fn.numa}", "NICs", "host"], r"NIC|RDMA device|no lanes|x0|link|accelerator|GPU")


@fault("rails-swapped")
def rails_swapped(host, pick):
    """two NICs' cables, and with them their addresses, are exchanged (RoCE with a network for each rail)"""
    cards = [f for f in ports(host, "Ethernet") if f.rdma[0].ports[0].net.addrs]
    if not cards or "/12" in cards[0].rdma[0].ports[0].net.addrs[0]:
        return None
    a, b = pick.sample(cards, 2)
    na, nb = a.rdma[0].ports[0].net, b.rdma[0].ports[0].net
    na.addrs, nb.addrs = nb.addrs, na.addrs
    return Fault(f"addresses of {a.rdma[0].name} and {b.rdma[0].name} exchanged", names(a) + names(b), r"rail|subnet|network|address|order")


@fault("cards-swapped")
def cards_swapped(host, pick):
    """a compute NIC and a card of another kind are in each other's slots"""
    single = [f for f in ports(host) if len(card(host, f)) == 1 and not f.kind.vf and not f.gpu]
    others = [f for f in host.nics() if f.role in ("front", "storage", "spare") and f.addr.endswith(".0") and f.up]
    if not single or not others or not host.gpus() or not host.gpus()[0].up or not host.gpus()[0].up.up:
        return None
    a, b = pick.choice(single), pick.choice(others)
    twin = [f for f in host.fns if f.addr == b.addr[:-1] + "1"]
    called = names(a) + names(b) + [n for t in twin for n in names(t)] + neighbours(host, a) + above(a)
    a.up.children.remove(a)
    for f in [b] + twin:
        f.up.children.remove(f)
    ra, rb = a.rdma[0].name, b.rdma[0].name
    old_a, old_b = (a.up, a.addr, a.numa, a.root), (b.up, b.addr, b.numa, b.root)
    a.up, a.addr, a.numa, a.root = old_b
    for f in [b] + twin:
        f.up, f.numa, f.root = old_a[0], old_a[2], old_a[3]
        f.addr = old_a[1][:-1] + f.addr[-1]
        f.up.children.append(f)
    a.up.children.append(a)
    # Devices and interfaces are named after their places.
    a.rdma[0].name, b.rdma[0].name = rb, ra
    a.nets[0].name, b.nets[0].name = b.nets[0].name, a.nets[0].name
    return Fault(f"the cards of {ra} and {rb} exchanged", called, r"GPU|accelerator|NIC|rate|speed|other|differ|near|link.?layer")


@fault_of("port-slow", lambda host: [f for f in ports(host) if f.rdma[0].ports[0].layer != "Unknown"])
def port_slow(host, fn, cards):
    """a compute port has come up at half its rate"""
    port = fn.rdma[0].ports[0]
    full = port.rate
    port.rate = {800: 400, 400: 200, 200: 100, 100: 50, 40: 10}[full]
    for net in list(port.net.slaves) or [port.net]:
        net.speed = port.rate
    return Fault(f"{fn.rdma[0].name} at {port.rate} of {full} Gb/s", names(fn), r"Gb|rate|speed")


@fault_of("lanes-lost", lambda host: [f for f in ports(host) if f.rdma[0].ports[0].layer == "InfiniBand"])
def lanes_lost(host, fn, cards):
    """a compute port has come up with half its lanes"""
    port = fn.rdma[0].ports[0]
    port.rate_text = {800: "400 Gb/sec (2X XDR)", 400: "200 Gb/sec (2X NDR)", 200: "100 Gb/sec (2X HDR)", 100: "50 Gb/sec (2X EDR)"}[port.rate]
    return Fault(f"{fn.rdma[0].name} at {port.rate_text}", names(fn), r"Gb|rate|speed|lane|2X|width")


@fault_of("nic-narrow", lambda host: [f for f in ports(host) if f.link])
def nic_narrow(host, fn, cards):
    """a NIC's PCIe link has trained to half its lanes"""
    fn.link = (fn.link[0], fn.link[1] // 2)
    return Fault(f"{fn.rdma[0].name} x{fn.link[1]}", names(fn) + above(fn)[:1], r"x8|x4|width|lane")


@fault_of("nic-speed", lambda host: [f for f in ports(host) if f.link])
def nic_speed(host, fn, cards):
    """a NIC's PCIe link has trained to a generation less"""
    fn.link = (fn.link[0] - 1, fn.link[1])
    return Fault(f"{fn.rdma[0].name} at PCIe {fn.link[0]}.0 of {fn.maxlink[0]}.0", names(fn) + above(fn)[:1], r"GT/s|speed|generation")


@fault_of("bridge-narrow", lambda host: [f for f in host.fns if f.pcie == UPSTREAM and f.kind is not PLX_VM and any(f in g.bridges() for g in host.gpus())])
def bridge_narrow(host, fn, cards):
    """a switch's uplink has trained to x8 of x16: the switch and the root port show it"""
    fn.link = (fn.link[0], 8)
    return Fault(f"uplink of the switch {fn.addr} x8", [fn.addr, fn.up.addr], r"x8|width|lane")


@fault_of("gpu-narrow", Host.gpus)
def gpu_narrow(host, fn, cards):
    """a GPU's PCIe link has trained to half its lanes"""
    fn.link = (fn.link[0], fn.link[1] // 2)
    return Fault(f"GPU {fn.addr} x{fn.link[1]}", gpu_names(host, fn) + above(fn)[:1] + (names(fn) if fn.rdma else []), r"x8|width|lane")


@fault_of("mrrs", lambda host: [f for f in ports(host) if not f.kind.vf])
def mrrs(host, fn, cards):
    """one NIC has another read request size: a card that was replaced, with the default"""
    fn.mrrs = 512 if fn.mrrs > 512 else 128
    return Fault(f"{fn.rdma[0].name} read requests of {fn.mrrs}", odd(cards, fn), r"read request|MRRS|MaxReadReq")


@fault_of("relaxed", lambda host: [f for f in ports(host) if not f.kind.vf])
def relaxed(host, fn, cards):
    """one NIC has relaxed ordering switched off in its device control register"""
    fn.relaxed = False
    return Fault(f"{fn.rdma[0].name} without relaxed ordering", odd(cards, fn), r"relaxed.ordering")


@fault("numa")
def numa(host, pick):
    """one device has the other socket's NUMA node, its bridges and neighbours their own"""
    choice = host.gpus() + ports(host)
    nodes = sorted({f.numa for f in choice})
    if len(nodes) < 2:
        return None
    fn = pick.choice(choice)
    was, fn.numa = fn.numa, nodes[0] if fn.numa != nodes[0] else nodes[-1]
    return Fault(f"{fn.addr} on node {fn.numa}, its switch on {was}", (gpu_names(host, fn) if fn.gpu else []) + names(fn), r"NUMA|node|socket")


@fault_of("link-layer", lambda host: [f for f in ports(host, None, "mlx5") if not f.kind.vf and not f.rdma[0].ports[0].net.slaves and f.addr.endswith(".0")])
def link_layer(host, fn, cards):
    """one ConnectX port has the other link type: it cannot come up against this switch"""
    port = fn.rdma[0].ports[0]
    net = port.net
    layers = ("InfiniBand", "Ethernet")
    other = layers[port.layer == layers[0]]
    net.addrs, net.ipoib, net.carrier, net.mtu = [], other == "InfiniBand", False, 1500 if other == "Ethernet" else 4092
    net.mac = "a0:88:c2:7e:01:1e" if other == "Ethernet" else "00:00:10:29:fe:80:00:00:00:00:00:00:a0:88:c2:03:00:7e:40:00"
    fn.cls = 0x020000 if other == "Ethernet" else 0x020700
    was, port.layer = port.layer, other
    port.state, port.phys, port.rate, port.lid, port.sm_lid = "DOWN", "Polling", 10, 65535, 0
    if other == "Ethernet":
        port.phys, port.rate, port.lid = "Disabled", 40, 0
    return Fault(f"{fn.rdma[0].name} is {other}, its twins {was}", names(fn), r"link.?layer|link.?type|LINK_TYPE|is Ethernet|is InfiniBand")


@fault("firmware")
def firmware(host, pick):
    """one NIC has an older firmware than those of its model"""
    cards = ports(host)
    if not cards or not cards[0].kind.firmware.strip("0."):
        return None
    fn = pick.choice(cards)
    parts = fn.rdma[0].firmware.split(".")
    parts[1] = str(max(0, int(parts[1]) - 4))
    for rdma in [r for f in card(host, fn) for r in f.rdma]:
        rdma.firmware = ".".join(parts)
    called = odd(cards, fn) + [n for f in card(host, fn) for n in names(f)]
    return Fault(f"{fn.rdma[0].name} firmware {fn.rdma[0].firmware}", called, r"firmware")


def switch_ports(host):
    """Below switches that have a GPU and a compute NIC: there it matters."""
    both = [f for f in host.fns if f.pcie == UPSTREAM and any(f in g.bridges() for g in host.gpus())
            and any(f in n.bridges() for n in ports(host) if not n.gpu)]
    ends = host.gpus() + ports(host)
    return [f for f in host.fns if f.pcie == DOWNSTREAM and any(b in both for b in f.bridges()) and any(f in e.bridges() for e in ends)]


@fault_of("acs-one", lambda host: [f for f in switch_ports(host) if any(f is g.up for g in host.gpus())])
def acs_one(host, fn, cards):
    """one switch port redirects peer-to-peer requests"""
    fn.acs = 0x1D
    return Fault(f"ACS redirection on {fn.addr}", [fn.addr, *[n for c in fn.children for n in gpu_names(host, c)]], r"ACS|redirect")


@fault("acs-all")
def acs_all(host, pick):
    """all switch ports redirect: a BIOS update, or an IOMMU that was switched on"""
    found = switch_ports(host)
    for fn in found:
        fn.acs = 0x1D
    return Fault(f"ACS redirection on all {len(found)} switch ports", [f.addr for f in found], r"ACS|redirect") if found else None


@fault_of("vfio", Host.gpus)
def vfio(host, fn, cards):
    """one GPU is on vfio-pci: left over from a virtual machine"""
    called = gpu_names(host, fn) + names(fn)
    fn.driver, fn.rdma, fn.nets = "vfio-pci", [], []
    return Fault(f"GPU {fn.addr} on vfio-pci", called, r"vfio|driver")


@fault_of("nic-vfio", lambda host: [f for f in ports(host) if not f.gpu])
def nic_vfio(host, fn, cards):
    """one compute NIC is on vfio-pci: left over from a virtual machine"""
    called, near = names(fn), neighbours(host, fn)
    for f in card(host, fn):
        f.driver, f.rdma, f.nets = "vfio-pci", [], []
    host.virtual = [n for n in host.virtual if not n.slaves or any(n is m.master for f in host.fns for m in f.nets)]
    return Fault(f"NIC {called[1]} at {fn.addr} on vfio-pci", [*called, *near], r"vfio|driver|no RDMA device")


@fault("display-driver")
def display_driver(host, pick):
    """all of NVIDIA's GPUs are on the kernel's driver for displays: its own was not installed, or not built for this kernel"""
    fns = [f for f in host.gpus() if f.ids[0] == 0x10DE and not f.rdma]
    for fn in fns:
        fn.driver = "nouveau"
    return Fault(f"{len(fns)} GPUs on nouveau", [n for f in fns for n in gpu_names(host, f)], r"nouveau") if fns else None


@fault_of("recovery", lambda host: [f for f in ports(host) if not f.gpu and not f.kind.vf and f.ids[0] == 0x15B3])
def recovery(host, fn, cards):
    """a compute NIC has started without its firmware: one function, a memory controller with another ID"""
    called, near = names(fn), neighbours(host, fn)
    for f in card(host, fn):
        f.driver, f.rdma, f.nets = None, [], []
        if f is not fn:
            host.remove(f)
    fn.ids, fn.cls = (0x15B3, 0x0218, 0x15B3, 0x0218), 0x058000
    host.virtual = [n for n in host.virtual if not n.slaves or any(n is m.master for f in host.fns for m in f.nets)]
    return Fault(f"NIC {called[1]} at {fn.addr} in flash recovery", [*called, *near], r"firmware|recovery|RDMA device")


@fault_of("rdma-gone", lambda host: [f for f in ports(host) if not f.gpu and f.kind.dev != "rdmap"])
def rdma_gone(host, fn, cards):
    """a compute NIC has its network driver, but no RDMA device: that part did not start"""
    called = names(fn) + neighbours(host, fn)
    what = fn.rdma[0].name
    fn.rdma = []
    return Fault(f"{what} at {fn.addr}: no RDMA device", called, r"RDMA device|driver")


@fault_of("port-down", lambda host: [f for f in ports(host) if f.rdma[0].ports[0].layer != "Unknown"])
def port_down(host, fn, cards):
    """a compute port is down, its cable is out"""
    port = fn.rdma[0].ports[0]
    set_down(port, "Polling" if port.layer == "InfiniBand" else "Disabled")
    return Fault(f"{fn.rdma[0].name} down", names(fn), r"down|disabled|polling|not active|inactive|carrier")


@fault_of("virtual-down", lambda host: [f for f in ports(host, "InfiniBand") if f.kind.vf])
def virtual_down(host, fn, cards):
    """the link of a virtual function is up, but not its port: nobody set its state on the physical function"""
    set_down(fn.rdma[0].ports[0], "LinkUp")
    return Fault(f"{fn.rdma[0].name} down, its link up", names(fn), r"DOWN, LinkUp")


@fault("all-down")
def all_down(host, pick):
    """all compute ports are down: their switch has no power; the others are up"""
    cards = [f for f in ports(host) if f.rdma[0].ports[0].layer != "Unknown" and not f.gpu]
    for fn in cards:
        port = fn.rdma[0].ports[0]
        set_down(port, "Polling" if port.layer == "InfiniBand" else "Disabled")
    called = [n for f in cards for n in names(f)]
    return Fault(f"all {len(cards)} compute ports down", called, r"down|disabled|polling|not active|inactive|carrier") if cards else None


@fault("lag-leg")
def lag_leg(host, pick):
    """one of the two links below a compute port's bond is down"""
    cards = [f for f in ports(host, "Ethernet") if f.rdma[0].ports[0].net.slaves]
    if not cards:
        return None
    fn = pick.choice(cards)
    bond = fn.rdma[0].ports[0].net
    leg = pick.choice(bond.slaves)
    leg.carrier, bond.speed = False, bond.speed // 2
    return Fault(f"{leg.name} below {bond.name} down", [*names(fn), leg.name], r"down|carrier|rate|speed|Gb")


@fault_of("port-init", lambda host: ports(host, "InfiniBand"))
def port_init(host, fn, cards):
    """an InfiniBand port stays in INIT: the subnet manager does not configure it"""
    port = fn.rdma[0].ports[0]
    port.state, port.lid, port.sm_lid, port.net.carrier = "INIT", 65535, 0, False
    return Fault(f"{fn.rdma[0].name} in INIT", names(fn), r"subnet manager|\bSM\b|INIT")


@fault_of("gid-missing", lambda host: [f for f in ports(host, "Ethernet") if f.rdma[0].ports[0].net.addrs])
def gid_missing(host, fn, cards):
    """one RoCE port's interface has lost its addresses, and so the port its GIDs"""
    fn.rdma[0].ports[0].net.addrs = []
    return Fault(f"{fn.rdma[0].name} without addresses", names(fn), r"GID|address|link-local")


@fault_of("mtu", lambda host: [f for f in ports(host, "Ethernet") if f.rdma[0].ports[0].net.mtu > 1500])
def mtu(host, fn, cards):
    """one RoCE interface has an MTU of 1500, its twins 4220 or more"""
    net = fn.rdma[0].ports[0].net
    for each in [net, *net.slaves]:
        each.mtu = 1500
    return Fault(f"{fn.rdma[0].name} with an MTU of 1500", odd(cards, fn), r"MTU|1500|1024")


def rails(host):
    """NICs with an interface of their own in a subnet of its own, if the subnets follow one another."""
    cards = [f for f in ports(host, "Ethernet") if f.rdma[0].ports[0].net.addrs and ":" not in f.rdma[0].ports[0].net.addrs[0] and not f.gpu]
    nets = [int(ipaddress.ip_interface(f.rdma[0].ports[0].net.addrs[0]).network.network_address) for f in cards]
    steps = {b - a for a, b in zip(nets, nets[1:])}
    return cards if len(cards) >= 4 and len(steps) == 1 and steps != {0} else []


@fault("rail-subnet")
def rail_subnet(host, pick):
    """a compute interface has an address in the subnet of another rail"""
    cards = rails(host)
    if not cards:
        return None
    fn = pick.choice(cards)
    other = pick.choice([f for f in cards if f is not fn])
    taken = ipaddress.ip_interface(other.rdma[0].ports[0].net.addrs[0])
    net = fn.rdma[0].ports[0].net
    net.addrs = [str(ipaddress.ip_interface((int(taken.ip) ^ 1, taken.network.prefixlen)))]
    return Fault(f"{net.name} in the subnet of {other.rdma[0].ports[0].net.name}", names(fn), r"subnet|pattern|address")


@fault_of("rail-prefix", rails)
def rail_prefix(host, fn, cards):
    """a compute interface has another prefix length than the others"""
    net = fn.rdma[0].ports[0].net
    ip, length = net.addrs[0].split("/")
    net.addrs[0] = f"{ip}/{min(int(length) + 4, 30) if int(length) < 30 else 24}"
    return Fault(f"{net.name} with {net.addrs[0]}", names(fn), r"/\d+|prefix")


def bonded(host):
    cards = [f for f in ports(host, "Ethernet") if f.rdma[0].ports[0].net.slaves]
    return cards if len(cards) >= 4 else []


@fault_of("bond-mode", bonded)
def bond_mode(host, fn, cards):
    """one bond is active-backup, the others use LACP"""
    bond = fn.rdma[0].ports[0].net
    bond.mode, bond.slaves[1].standby, bond.speed = "active-backup 1", True, bond.speed // 2
    return Fault(f"{bond.name} active-backup", names(fn), r"active-backup|mode")


@fault_of("lacp", lambda host: [f for f in ports(host, "Ethernet") if f.rdma[0].ports[0].net.slaves])
def lacp(host, fn, cards):
    """a link of a bond is in another aggregator: its switch port does not speak LACP"""
    bond = fn.rdma[0].ports[0].net
    leg = bond.slaves[1]
    leg.aggregator, leg.standby, bond.speed = 2, True, bond.speed // 2
    return Fault(f"{leg.name} in aggregator 2", [*names(fn), leg.name], r"aggregator|LACP")


@fault("acs-direct")
def acs_direct(host, pick):
    """the kernel's ACS isolation on the ports between data direct functions and GPUs"""
    directs = [f for f in host.fns if f.cls == 0x080100]
    for fn in directs:
        for port in fn.up.up.children:
            port.acs = 0x1D
    called = [port.addr for f in directs for port in f.up.up.children]
    return Fault("ACS redirects data direct traffic", called, r"ACS|redirect") if directs else None


@fault("few-files")
def few_files(host, pick):
    """a storage daemon without a limit of its own for open files"""
    if host.gpus() or len([f for f in host.fns if f.kind.driver == "nvme"]) < 8:
        return None
    host.more.update({"proc/3100/comm": "ceph-osd\n", "proc/3100/status": "Name:\tceph-osd\nPPid:\t1\n",
                      "proc/3100/limits": "Limit                     Soft Limit           Hard Limit           Units     \n"
                                          "Max open files            1024                 4096                 files     \n"})
    return Fault("ceph-osd with 1024 files", ["ceph-osd, process 3100", "3100"], r"open files|limit")
