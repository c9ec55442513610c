# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows of twins.py: a host of hosts.py, what is changed on it, and what may or must be said of it. Expectations:

  quiet RULE...        no new warning or critical, of these rules none at all
  unknown RULE...      the same, and these rules are unknown
  SEVERITY RULE        is found, before anything else that is told; `words`: of what
  text, no-text REGEX  of the output of `command`; fixes: what findings say to type can be typed"""
import ipaddress

from hostgen import Kind, Link, Net
from kinds import AMD4, AMD5, ASPEED, CX6DX, CX7, CX7_VF, INTEL4, INTEL5, bonded, ib_vfs

ZERO = ":".join(["0000"] * 8)
FOLDERS = set()  # paths whose listing fails, not their reading


class Row:
    def __init__(self, kind, what, base, steps, expected, words="", env=None, command="", map=False):
        self.kind, self.what, self.base, self.steps, self.expected = kind, what, base, steps if isinstance(steps, list) else [steps], expected
        self.words, self.env, self.command, self.map = words, env, command, map

    def broken(self):
        return self.expected.split()[0] not in ("quiet", "unknown", "no-text", "fixes")


# Steps: each changes a Made of twins.py.

def put(path, data):
    """A file, its contents as the kernel prints them; None: it is not there."""
    return lambda m: m.files.update({path: f"{data}\n" if type(data) is str else data})


def fail(path, errno="EACCES"):
    return lambda m: m.fails.update({path: errno})


def unlisted(path, errno="EACCES"):
    def step(m):
        FOLDERS.add(path)
        m.fails[path] = errno
    return step


def dev_put(dev, rel, data):
    return lambda m: put(f"{m.ib(dev)}/{rel}", data)(m)


def dev_fail(dev, rel, errno="EACCES"):
    return lambda m: fail(f"{m.ib(dev)}/{rel}", errno)(m)


def pci_put(dev, rel, data):
    return lambda m: put(f"{m.pci(dev)}/{rel}", data)(m)


def pci_fail(dev, rel, errno="EACCES"):
    return lambda m: fail(f"{m.pci(dev)}/{rel}", errno)(m)


def net_put(name, rel, data):
    return lambda m: put(f"{m.net(name)}/{rel}", data)(m)


def each(step, over, *args, **more):
    """A step for each of several devices, entries, paths."""
    return lambda m: [step(o, *args, **more)(m) for o in (over(m) if callable(over) else over)]


def model(change):
    return lambda m: change(m)


def gids(dev, entries=()):
    """The table of port 1: (index, GID, type, interface); the rest is zero, and has no attributes."""
    def step(m):
        at = f"{m.ib(dev)}/ports/1/"
        for n in range(12):
            for what in ("types", "ndevs"):
                m.files[f"{at}gid_attrs/{what}/{n}"] = None
            m.files[f"{at}gids/{n}"] = ZERO + "\n"
        for n, gid, kind, net in entries:
            m.files[f"{at}gids/{n}"], m.files[f"{at}gid_attrs/types/{n}"], m.files[f"{at}gid_attrs/ndevs/{n}"] = gid + "\n", kind + "\n", net + "\n"
    return step


def gid_attrs(dev, what, data, entries=range(4)):
    return lambda m: [dev_put(dev, f"ports/1/gid_attrs/{what}/{n}", data)(m) for n in entries]


def gids_fail(dev, entries, errno="EACCES", what="gids"):
    return lambda m: [dev_fail(dev, f"ports/1/{what}/{n}", errno)(m) for n in entries]


def net_of(m, name):
    return next(n for n in m.host.nets() if n.name == name)


def addrs(name, *new):
    return lambda m: setattr(net_of(m, name), "addrs", list(new))


def gateway(name, address):
    return lambda m: setattr(net_of(m, name), "gateway", address)


def bridged(name):
    """A bridge above the interface has its addresses and its default route."""
    def step(m):
        net = net_of(m, name)
        net.master = Net("br0", net.mac, net.speed, net.addrs, net.mtu, gateway=net.gateway)
        net.addrs, net.gateway, net.master.slaves = [], None, ()
        m.host.virtual.append(net.master)
    return step


def down(dev):
    def step(m):
        port = m.fn(dev).rdma[0].ports[0]
        port.state, port.phys, port.net.carrier = "DOWN", "Disabled" if port.layer == "Ethernet" else "Polling", False
        if port.layer == "InfiniBand":
            port.rate, port.lid, port.sm_lid = 10, 65535, 0
    return step


def lossy(*names):
    """Neither PFC nor pause frames."""
    return lambda m: [(m.lossless.update({n: None}), m.pauses.update({n: 0})) for n in names]


def pause_only(*names):
    return lambda m: [(m.lossless.update({n: None}), m.pauses.update({n: 1})) for n in names]


def lossless(priority, table, *names):
    return lambda m: [m.lossless.update({n: (priority, table)}) for n in names]


def refuse(protocol, kind=None, errno="EPERM"):
    return lambda m: m.refused.append((protocol, kind, errno))


REACHABLE, INCOMPLETE, STALE, FAILED = 2, 1, 4, 0x20


def near(name, **states):
    """Neighbours of an interface: how many in each state; router: the state of fe80::1."""
    def step(m):
        base = next(ipaddress.ip_interface(a) for a in net_of(m, name).addrs)
        at, found = int(base.ip) & ~0xF, []
        for state, count in ((REACHABLE, states.get("reachable", 0)), (STALE, states.get("stale", 0)), (FAILED, states.get("failed", 0)), (INCOMPLETE, states.get("incomplete", 0))):
            for _ in range(count):
                at += 1 + (at + 1 == int(base.ip))
                found.append((type(base.ip)(at), state))
        if "router" in states:
            found.append((ipaddress.ip_address("fe80::1"), states["router"]))
        m.neighbours[name] = found
    return step


def sysctl(**values):
    """IPv4 settings; name__value of one interface: interface__name."""
    def step(m):
        for key, value in values.items():
            where, _, name = key.rpartition("__")
            m.files[f"proc/sys/net/ipv4/conf/{where or 'all'}/{name}"] = f"{value}\n"
    return step


def everywhere(**values):
    return lambda m: [sysctl(**{f"{n.name}__{k}": v for k, v in values.items()}, **values)(m) for n in m.host.nets()]


def iwarp(told_type=True, only=()):
    """What the kernel shows of an iWARP device: the MAC address as its only GID, called RoCE v1; nldev's protocol. All, or the named ones."""
    def step(m):
        for f in [f for f in m.host.nics() if not only or f.rdma[0].name in only]:
            dev, net = f.rdma[0].name, f.nets[0]
            gid = (net.mac.replace(":", "") + "0" * 20)
            gids(dev, [(0, ":".join(gid[i:i + 4] for i in range(0, 32, 4)), "IB/RoCE v1", net.name)])(m)
            m.protocol[dev] = "iw"
            if told_type:
                dev_put(dev, "node_type", "4: RNIC")(m)
    return step


def devices(count, of, rdma_cm=True, mode=0o666, only=None):
    """Device files of the first `count` of `of` devices; /dev itself is there."""
    def step(m):
        given = [f"dev/infiniband/uverbs{n}" for n in (only if only is not None else range(count))]
        m.files["dev/null"], m.devs["dev/null"] = "", (259, 0o666)
        for n, path in enumerate(given + ["dev/infiniband/rdma_cm"] * rdma_cm):
            m.files[path], m.devs[path] = "", (59072 + n, mode)
        m.files["sys/class/misc/rdma_cm/dev"] = "10:58\n"
    return step


def container(first="bash"):
    """A PID namespace of its own: the first process is the program, there is no kthreadd."""
    return put("proc/1/comm", first)


THIS_HOST = put("proc/2/comm", "kthreadd")


def log(*lines):
    return lambda m: m.host.log.extend(lines)


def without(*names):
    """Modules that are not loaded."""
    def step(m):
        m.host.modules = [",".join(x for x in line.split(",") if x not in names) for line in m.host.modules if line.split()[0] not in names]
    return step


def siw(beside):
    """A device of siw over the interface of another device, below its PCI function, as Linux 5.3 shows it: no interface of its GID."""
    guid, ports = "0250:56ff:fe00:0001", {"link_layer": "Ethernet", "state": "4: ACTIVE", "phys_state": "5: LinkUp", "rate": "2.5 Gb/sec (1X SDR)",
                                          "lid": "0x0", "sm_lid": "0x0", "pkeys/0": "0xffff", "gids/0": "0250:5600:0001:0000:0000:0000:0000:0000"}
    text = {"node_guid": guid, "sys_image_guid": guid, "node_desc": "Software iWARP stack", "node_type": "4: RNIC", **{f"ports/1/{k}": v for k, v in ports.items()}}

    def step(m):
        fn = m.fn(beside)
        m.files["sys/class/infiniband/siw0"] = Link(f"../../devices/{fn.path()}/infiniband/siw0")
        m.files[f"{m.pci(beside)}/infiniband/siw0/device"] = Link(f"../../../{fn.addr}")
        for name, value in text.items():
            m.files[f"{m.pci(beside)}/infiniband/siw0/{name}"] = f"{value}\n"
        m.files["sys/class/infiniband_verbs/uverbs9/ibdev"] = "siw0\n"
    return step


def rxe(net):
    """A device of soft-RoCE over this interface."""
    text = {"node_desc": "rxe0", "node_type": "1: CA", "node_guid": "0250:56ff:fe00:0002", "parent": net, "ports/1/link_layer": "Ethernet",
            "ports/1/state": "4: ACTIVE", "ports/1/phys_state": "5: LinkUp", "ports/1/rate": "2.5 Gb/sec (1X SDR)"}

    def step(m):
        m.files["sys/class/infiniband/rxe0"] = Link("../../devices/virtual/infiniband/rxe0")
        m.files.update({f"sys/devices/virtual/infiniband/rxe0/{name}": f"{value}\n" for name, value in text.items()})
    return step


def out_of_tree(*names):
    """Modules that a vendor's package has brought."""
    return lambda m: setattr(m.host, "modules", [f"{x.split()[0]} 1.0|{x.partition(' ')[2]}" if x.split()[0] in names else x for x in m.host.modules])


def driver(text):
    return lambda m: setattr(m.host, "gpu_driver", text)


def only_nics(*devs):
    """The others have never been there, nor the ports that they would be on."""
    def step(m):
        for f in list(m.host.nics()):
            if f.rdma[0].name not in devs:
                up = f.up
                m.host.remove(f)
                while up and not up.children:
                    m.host.remove(up)
                    up = up.up
        m.host.virtual = [n for n in m.host.virtual if not n.slaves or all(any(s in f.nets for f in m.host.fns) for s in n.slaves)]
    return step


def gone(dev):
    return lambda m: m.host.remove(m.fn(dev))


def link(dev, now, most=None, above=None):
    """What a function's link has trained to, what it can, and what the port above it can."""
    def step(m):
        fn = m.fn(dev)
        for f in (x for x in m.host.fns if x.addr[:-2] == fn.addr[:-2]):
            f.link, f.maxlink = now, most or f.maxlink
        if above:
            fn.up.maxlink = above
    return step


def acs(dev):
    """Requests redirected at the port above it."""
    return lambda m: setattr(m.fn(dev).up, "acs", 0x1D)


def half_config(m):
    """As somebody who is not root reads it: 64 bytes."""
    from hostgen import config
    for f in m.host.fns:
        m.files[f"sys/devices/{f.path()}/config"] = config(f)[:64]


def far(m):
    """PCI domains of more than 16 bits: six digits."""
    for fn in m.host.fns:
        digits = fn.domain()
        fn.addr, fn.root = (text.replace(digits, f"10{digits}", 1) for text in (fn.addr, fn.root))


def hide_net(name):
    """An interface that was moved to another network namespace: the GIDs stay, and name it."""
    def step(m):
        m.files[m.net(name)] = m.files[f"sys/class/net/{name}"] = None
    return step


def no_rdma(*devs):
    """Functions without an RDMA device, whatever else they have."""
    return lambda m: [(setattr(m.fn(d), "nets", []), setattr(m.fn(d), "rdma", [])) for d in devs]


def guid(dev, data):
    return dev_put(dev, "sys_image_guid", data)


def bind(driver, *devs):
    """Functions on another driver, all accelerators where none is named; None: on none. Given to a guest, they have no devices."""
    def step(m):
        for f in [m.fn(d) for d in devs] or m.host.gpus():
            f.driver = driver
            if driver == "vfio-pci":
                f.rdma, f.nets = [], []
    return step


def no_nvidia(m):
    """NVIDIA's driver is not installed."""
    m.host.gpu_driver = None
    m.host.modules = [line.replace(",nvidia_peermem", "") for line in m.host.modules if not line.startswith("nvidia")]


def plug(kind, root):
    """One more card, in a slot of its own."""
    return lambda m: m.host.endpoint(m.host.slot(root, 0, 0x6F, 0x70), kind)


def memory(vendor, device, cls=0x058000, driver=None):
    return Kind((vendor, device, vendor, device), cls, driver, (3, 8))


def recovery(device, *devs):
    """Cards that have started without their firmware: one function, a memory controller."""
    def step(m):
        for fn in [m.fn(d) for d in devs]:
            for f in [f for f in m.host.fns if f.addr[:-2] == fn.addr[:-2]]:
                f.driver, f.rdma, f.nets = None, [], []
                if f is not fn:
                    m.host.remove(f)
            fn.ids, fn.cls = (0x15B3, device, 0x15B3, device), 0x058000
        m.host.virtual = [n for n in m.host.virtual if not n.slaves or any(n is k.master for f in m.host.fns for k in f.nets)]
    return step


def link_up(*devs, guid=None):
    """Ports that are down while their links are up."""
    def step(m):
        for rdma in (m.fn(d).rdma[0] for d in devs):
            port = rdma.ports[0]
            port.state, port.phys, port.lid, port.sm_lid, port.net.carrier = "DOWN", "LinkUp", 65535, 0, False
            rdma.guid = guid or rdma.guid
    return step


def vfs(dev, first, count, guid=None):
    """Virtual functions that wait: mlx5_FIRST and so on."""
    def step(m):
        devs = [f"mlx5_{n}" for n in range(first, first + count)]
        ib_vfs(m.host, m.fn(dev), CX7_VF, devs, f"ibv{first}")
        for rdma in (m.fn(d).rdma[0] for d in devs):
            rdma.guid = guid or rdma.guid
    return step


def lag_mode(mode, *devs):
    return lambda m: [put(f"sys/kernel/debug/mlx5/{m.fn(d).addr}/lag/port_sel_mode", mode)(m) for d in devs]


def records(*of):
    """The kernel log: (priority and facility, seconds, text)."""
    lines = [(6, 0, "Linux version 6.8.0-60-generic"), *of]
    return put("dev/kmsg", "\n".join(f"{priority},{n},{int(at * 1e6)},-;{text}" for n, (priority, at, text) in enumerate(lines)))


def vrf(*names, each=True):
    """Interfaces in VRFs of their own, or all in one."""
    def step(m):
        for n, name in enumerate(names):
            if each or n == 0:
                over = Net(f"vrf{n}", "02:00:00:00:00:01", 0, mtu=65575)
                m.host.virtual.append(over)
            net_of(m, name).master = over
    return step


def switchdev(*devs):
    """The port has no GIDs; virtual functions are given to guests, and have interfaces that represent them, without a carrier."""
    def step(m):
        for fn in [m.fn(d) for d in devs]:
            dev, uplink = fn.rdma[0].name, fn.nets[0]
            gids(dev)(m)
            uplink.addrs = []
            for k in range(2):
                vf = m.host.endpoint(fn.up, CX7_VF, fn=len(fn.up.children))
                vf.driver, vf.physfn = "vfio-pci", fn
                fn.nets.append(Net(f"eth{dev[5:]}{k}", uplink.mac, 0))
                fn.nets[-1].carrier = False
                net_put(fn.nets[-1].name, "phys_port_name", f"pf0vf{k}")(m)
    return step


def elsewhere(*devs):
    """Devices whose interfaces are in another network namespace: their GIDs are listed, and have no attributes here."""
    def step(m):
        for dev in devs:
            for net in m.fn(dev).nets:
                hide_net(net.name)(m)
            for n in range(4):
                for what in ("types", "ndevs"):
                    dev_fail(dev, f"ports/1/gid_attrs/{what}/{n}", "EINVAL")(m)
    return step


ROWS = []


def rows(kind, *of):
    ROWS.extend(Row(kind, *row[:-1], **row[-1]) if isinstance(row[-1], dict) else Row(kind, *row) for row in of)


def settings(kind, *of):
    """Rows of nic-map --check-env: (what, base, settings, expected[, words])."""
    ROWS.extend(Row(kind, what, base, list(steps), expected, env=env) for what, base, env, expected, *steps in of)


