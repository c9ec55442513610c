# SPDX-License-Identifier: GPL-2.0-or-later
"""Made-up hosts as sysfs and procfs show real ones: a model of PCI functions, RDMA devices and interfaces (hosts.py describes
hosts with it, faults.py changes it), and render(), which makes files of it. A file is text or bytes, a link is Link.

What the kernel derives is derived here, too: both ends of a PCI Express link show the same, GIDs follow the addresses of
interfaces, routes follow addresses. So a fault that is planted in the model looks as it does on a machine.
Registers: PCI Express Base Specification; sysfs: Documentation/ABI of the kernel."""
import ipaddress, os

SPEED = {1: "2.5 GT/s PCIe", 2: "5.0 GT/s PCIe", 3: "8.0 GT/s PCIe", 4: "16.0 GT/s PCIe", 5: "32.0 GT/s PCIe", 6: "64.0 GT/s PCIe"}
RATE = {800: "800 Gb/sec (4X XDR)", 400: "400 Gb/sec (4X NDR)", 200: "200 Gb/sec (4X HDR)", 100: "100 Gb/sec (4X EDR)",
        50: "50 Gb/sec (2X EDR)", 40: "40 Gb/sec (4X QDR)", 25: "25 Gb/sec (1X EDR)", 10: "10 Gb/sec (4X SDR)"}
STATE = {"DOWN": "1: DOWN", "INIT": "2: INIT", "ACTIVE": "4: ACTIVE"}
PHYS = {"Polling": "2: Polling", "Disabled": "3: Disabled", "LinkUp": "5: LinkUp"}
ENDPOINT, ROOT_PORT, UPSTREAM, DOWNSTREAM = 0, 4, 5, 6
PORT_COUNTERS = """symbol_error link_error_recovery port_rcv_errors port_rcv_remote_physical_errors port_xmit_discards
port_xmit_constraint_errors port_rcv_constraint_errors local_link_integrity_errors excessive_buffer_overrun_errors
VL15_dropped port_xmit_wait port_xmit_data port_rcv_data port_xmit_packets port_rcv_packets""".split()


class Link(str):
    """A symbolic link's target."""


class Kind:
    """What functions of one model have in common. ids: vendor, device, subsystem vendor and device. link: highest
    generation and width. mps: largest payload, bytes. mrrs: what this host's setup has made of it."""

    def __init__(self, ids, cls, driver, link, **more):
        self.ids, self.cls, self.driver, self.link = ids, cls, driver, link
        self.mps, self.mrrs, self.bars = 512, 512, ()
        self.rdma_driver = self.firmware = self.board = self.hca_type = self.gids = self.dev = self.model = None
        self.vf = False
        self.__dict__.update(more)

    def but(self, **more):
        kind = Kind(self.ids, self.cls, self.driver, self.link)
        kind.__dict__.update(self.__dict__, **more)
        return kind


class Fn:
    """A PCI function. link: what it has trained to, None where its registers say nothing (virtual functions). acs: the ACS
    control register, None without the capability."""

    def __init__(self, up, addr, kind, numa, pcie=ENDPOINT, root=None):
        self.up, self.addr, self.kind, self.numa, self.pcie = up, addr, kind, numa, pcie
        self.dead = False  # listed, and not on the bus any more
        self.root = root or up.root
        self.ids, self.cls, self.driver, self.maxlink = kind.ids, kind.cls, kind.driver, kind.link
        self.link = None if kind.vf else kind.link
        self.mrrs, self.mps, self.relaxed, self.acs, self.atomics = kind.mrrs, 256, True, None, True
        self.rdma, self.nets, self.buses, self.role, self.children, self.gpu = [], [], None, None, [], False
        self.physfn = None
        if up:
            up.children.append(self)

    def path(self):
        return f"{self.up.path() if self.up else self.root}/{self.addr}"

    def domain(self):
        return self.addr.split(":")[0]

    def bridges(self):
        """Those above, the nearest first."""
        return [self.up] + self.up.bridges() if self.up else []

    def trained(self):
        """A port shows the link to what is below it; one whose device has gone shows a link without lanes."""
        if self.pcie in (ROOT_PORT, DOWNSTREAM):
            return self.children[0].link if self.children else (1, 0)
        return self.link


class Net:
    """An interface. addrs: "10.1.0.5/24", "fd00::5/64"; the link-local one comes by itself."""

    def __init__(self, name, mac, speed, addrs=(), mtu=1500, up=True, ipoib=False, gateway=None):
        self.name, self.mac, self.speed, self.addrs, self.mtu, self.up = name, mac, speed, list(addrs), mtu, up
        self.ipoib, self.gateway, self.master, self.slaves, self.carrier, self.dev_port = ipoib, gateway, None, (), up, 0
        self.lost = 0  # times that it lost its carrier
        self.vlan, self.lower, self.vlans = 0, None, []  # of a VLAN: its number, the interface below; the VLANs above
        self.mode, self.aggregator, self.standby = "802.3ad 4", None, False  # of a bond; of its members: None as the bond's

    def link_local(self):
        m = [int(x, 16) for x in self.mac.split(":")][-8:]
        if len(m) == 6:
            m = [m[0] ^ 2, m[1], m[2], 0xFF, 0xFE, m[3], m[4], m[5]]
        return ipaddress.ip_address(b"\xfe\x80" + bytes(6) + bytes(m))

    def addresses(self):
        """The link-local one first, as an interface gets it first: when it has a carrier, and no master."""
        own = [ipaddress.ip_interface(a) for a in self.addrs]
        if self.up and self.carrier and not self.master and not self.ipoib:
            own.insert(0, ipaddress.ip_interface(f"{self.link_local()}/64"))
        return own


class Port:
    def __init__(self, layer, rate, net=None, lid=0, sm_lid=0, num=1):
        self.layer, self.rate, self.net, self.lid, self.sm_lid, self.num = layer, rate, net, lid, sm_lid, num
        self.state, self.phys, self.link_downed = "ACTIVE", "LinkUp", 0
        self.rate_text = None


class Rdma:
    def __init__(self, name, kind, guid, ports):
        self.name, self.kind, self.guid, self.ports, self.firmware = name, kind, guid, ports, kind.firmware


class Host:
    """cpu: one of hosts.py's; nodes: CPU lists of NUMA nodes; iommu: type of its groups, None without; modules: "name user,user"
    lines; gpu_driver: text of /proc/driver/nvidia/version."""

    def __init__(self, name, cpu, nodes, modules, iommu=None, gpu_driver=None, dmi=("Made", "Up"), log=(), more=(), hugepages=0):
        self.name, self.cpu, self.nodes, self.modules, self.iommu = name, cpu, nodes, modules, iommu
        self.gpu_driver, self.dmi, self.log, self.more = gpu_driver, dmi, list(log), dict(more)
        self.fns, self.virtual, self.hugepages = [], [], hugepages

    def _add(self, *args, **more):
        fn = Fn(*args, **more)
        if any(other.addr == fn.addr for other in self.fns):
            raise ValueError(f"{self.name}: two functions at {fn.addr}")
        self.fns.append(fn)
        return fn

    def slot(self, kind, numa, root, bus, dev=1, domain=0):
        """A root port, and the bus below it."""
        fn = self._add(None, f"{domain:04x}:{root:02x}:{dev:02x}.0", kind, numa, ROOT_PORT, f"pci{domain:04x}:{root:02x}")
        fn.buses = (root, bus, bus)
        return fn

    def switch(self, kind, up, bus):
        """A switch on `bus` below `up`: its upstream port. Its downstream ports hang on the next bus."""
        fn = self._add(up, f"{up.domain()}:{bus:02x}:00.0", kind, up.numa, UPSTREAM)
        fn.buses, fn.acs = (bus, bus + 1, bus + 1), None
        return fn

    def down(self, up, bus):
        fn = self._add(up, f"{up.domain()}:{up.buses[1]:02x}:{len(up.children):02x}.0", up.kind, up.numa, DOWNSTREAM)
        fn.buses, fn.acs = (up.buses[1], bus, bus), 0
        return fn

    def endpoint(self, up, kind, bus=None, fn=0, root=None, numa=None, domain=0):
        """Below a bridge, or (root, bus) on a root bus of its own."""
        if up:
            return self._add(up, f"{up.domain()}:{up.buses[1]:02x}:00.{fn}", kind, up.numa)
        return self._add(None, f"{domain:04x}:{bus:02x}:{root[1]:02x}.{fn}", kind, numa, root=f"pci{domain:04x}:{root[0]:02x}")

    def gpu(self, *args, **more):
        fn = self.endpoint(*args, **more)
        fn.gpu = True
        return fn

    def gpus(self):
        return [f for f in self.fns if f.gpu]

    def nics(self, role=None):
        return [f for f in self.fns if f.rdma and role in (None, f.role)]

    def nets(self):
        return self.virtual + [n for f in self.fns for n in f.nets]

    def remove(self, fn):
        for child in list(fn.children):
            self.remove(child)
        self.fns.remove(fn)
        if fn.up:
            fn.up.children.remove(fn)


def le(value, size):
    return value.to_bytes(size, "little")


def config(fn):
    """4096 bytes as root reads them: power management, MSI-X, Express; AER, ACS, serial number."""
    c = bytearray(4096)
    bridge = fn.buses is not None
    gen, width = fn.maxlink
    now = fn.trained() or (0, 0)
    c[0:4] = le(fn.ids[0], 2) + le(fn.ids[1], 2)
    c[4:8] = le(0x0546, 2) + le(0x0010, 2)
    c[9:12] = le(fn.cls, 3)
    c[0x0E] = 1 if bridge else 0
    if bridge:
        c[0x18:0x1B] = bytes(fn.buses)
    else:
        c[0x2C:0x30] = le(fn.ids[2], 2) + le(fn.ids[3], 2)
    c[0x34] = 0x40
    c[0x40:0x44] = bytes([0x01, 0x50, 0x03, 0x00])
    c[0x50:0x54] = bytes([0x11, 0x60, 0x3F, 0x80])
    c[0x60:0x64] = bytes([0x10, 0x00, fn.pcie << 4 | 2, 0])
    c[0x64:0x68] = le({128: 0, 256: 1, 512: 2}[fn.kind.mps] | 1 << 5 | 1 << 15 | (0 if bridge else 1 << 28), 4)
    if not fn.kind.vf:  # in a virtual function these are reserved and read 0: the physical function's count
        size = {128: 0, 256: 1, 512: 2, 1024: 3, 2048: 4, 4096: 5}
        c[0x68:0x6A] = le(0x010F | fn.relaxed << 4 | size[fn.mps] << 5 | size[fn.mrrs] << 12, 2)
        c[0x72:0x74] = le(now[0] | now[1] << 4, 2)
    c[0x6C:0x70] = le(gen | width << 4, 4)
    # Bridges route AtomicOps; amdgpu enables them for its accelerators.
    c[0x84:0x88] = le(0x0F | 3 << 16 | bridge << 6, 4)
    c[0x88:0x8A] = le(0 if fn.kind.vf else 1 << 12 | (fn.driver == "amdgpu" and fn.atomics) << 6, 2)
    c[0x8C:0x90] = le((1 << gen + 1) - 2, 4)
    c[0x100:0x104] = le(0x0001 | 2 << 16 | 0x150 << 20, 4)
    if fn.acs is None:
        c[0x150:0x154] = le(0x0003 | 1 << 16, 4)
    else:
        c[0x150:0x154] = le(0x000D | 1 << 16 | 0x160 << 20, 4)
        c[0x154:0x158] = le(0x5F, 2) + le(fn.acs, 2)
        c[0x160:0x164] = le(0x0003 | 1 << 16, 4)
    return bytes(c)


def resource(fn, n):
    """Base addresses, each 64 bits wide: its upper half is a register of its own and reads 0."""
    lines = ["0x0000000000000000 0x0000000000000000 0x0000000000000000"] * 13
    for i, size in enumerate(fn.kind.bars):
        start = (0x20 << 40) + (n << 36) + (i << 32) if size < 1 << 32 else (0x28 << 40) + (n << 40)
        lines[2 * i] = f"0x{start:016x} 0x{start + size - 1:016x} 0x000000000014220c"
    return "\n".join(lines)


def put_class(files, path, cls, name):
    files[f"sys/class/{cls}/{name}"] = Link(f"../../devices/{path}/{cls}/{name}")
    files[f"sys/devices/{path}/{cls}/{name}/device"] = Link(f"../../../{path.rsplit('/', 1)[-1]}")


def render_function(files, fn, n, nodes):
    path = fn.path()
    at = f"sys/devices/{path}/"
    text = {"vendor": f"0x{fn.ids[0]:04x}", "device": f"0x{fn.ids[1]:04x}", "subsystem_vendor": f"0x{fn.ids[2]:04x}",
            "subsystem_device": f"0x{fn.ids[3]:04x}", "class": f"0x{fn.cls:06x}", "numa_node": fn.numa, "revision": "0x00",
            "resource": resource(fn, n), "power_state": "D0", "enable": 1, "irq": 0,
            "local_cpulist": nodes[fn.numa] if fn.numa >= 0 else nodes[0]}
    now = None if fn.dead else fn.trained()
    text["current_link_speed"] = SPEED[now[0]] if now else "Unknown"
    text["current_link_width"] = now[1] if now else 0
    text["max_link_speed"], text["max_link_width"] = SPEED[fn.maxlink[0]], fn.maxlink[1]
    if not fn.kind.vf:
        for kind, first, total in (("correctable", "RxErr", "COR"), ("nonfatal", "Undefined", "NONFATAL"), ("fatal", "Undefined", "FATAL")):
            text[f"aer_dev_{kind}"] = f"{first} 0\nBadTLP 0\nTOTAL_ERR_{total} 0"
    for name, value in text.items():
        files[at + name] = f"{value}\n"
    if fn.dead:
        text_of_dead = {"current_link_speed": "Unknown", "current_link_width": 63, "max_link_speed": "Unknown", "max_link_width": 255}
        for name, value in text_of_dead.items():
            files[at + name] = f"{value}\n"
    files[at + "config"] = b"\xff" * 4096 if fn.dead else config(fn)
    top = "../" * (path.count("/") + 2)
    files[at + "subsystem"] = Link(top + "bus/pci")
    if fn.driver:
        files[at + "driver"] = Link(top + f"bus/pci/drivers/{fn.driver}")
    if fn.physfn:
        files[at + "physfn"] = Link(f"../{fn.physfn.addr}")
    files[f"sys/bus/pci/devices/{fn.addr}"] = Link(f"../../../devices/{path}")
    for rdma in fn.rdma:
        render_rdma(files, path, rdma)
    for net in fn.nets:
        put_class(files, path, "net", net.name)
        render_net(files, f"sys/devices/{path}/net/{net.name}/", net)


def gid_text(raw):
    return ":".join(f"{raw[i]:02x}{raw[i + 1]:02x}" for i in range(0, 16, 2))


def port_gids(rdma, port):
    """(GID, type, interface): of a RoCE port one for each address and version. The first is made of the hardware address,
    with or without a carrier; a master's addresses count, too (drivers/infiniband/core/roce_gid_mgmt.c)."""
    if port.layer == "InfiniBand":
        return [(gid_text(b"\xfe\x80" + bytes(6) + bytes.fromhex(rdma.guid.replace(":", ""))), "IB/RoCE v1", None)]
    if port.layer == "Unknown":
        return [(gid_text(port.net.link_local().packed), "IB/RoCE v1", None)]
    gids = {gid_text(port.net.link_local().packed): port.net.name}
    for net in (port.net, port.net.master, *port.net.vlans):
        for addr in net.addresses() if net else []:
            raw = addr.ip.packed if addr.version == 6 else bytes(10) + b"\xff\xff" + addr.ip.packed
            gids.setdefault(gid_text(raw), net.name)
    return [(gid, version, name) for gid, name in gids.items() for version in rdma.kind.gids]


def render_rdma(files, path, rdma):
    at = f"sys/devices/{path}/infiniband/{rdma.name}/"
    put_class(files, path, "infiniband", rdma.name)
    text = {"fw_ver": rdma.firmware, "board_id": rdma.kind.board, "hca_type": rdma.kind.hca_type, "node_guid": rdma.guid,
            "sys_image_guid": rdma.guid, "node_desc": rdma.name, "node_type": "1: CA"}
    for name, value in text.items():
        if value is not None:
            files[at + name] = f"{value}\n"
    for port in rdma.ports:
        render_port(files, f"{at}ports/{port.num}/", rdma, port)
    return files


def render_port(files, at, rdma, port):
    text = {"link_layer": port.layer, "state": STATE[port.state], "phys_state": PHYS[port.phys], "rate": port.rate_text or RATE[port.rate],
            "lid": f"0x{port.lid:x}", "sm_lid": f"0x{port.sm_lid:x}", "cap_mask": "0xa751e848", "counters/link_downed": port.link_downed}
    text.update({f"counters/{name}": 0 for name in PORT_COUNTERS})
    for n in range(8 if port.layer == "InfiniBand" else 1):
        text[f"pkeys/{n}"] = "0xffff" if n == 0 else "0x0000"
    gids = port_gids(rdma, port)
    # Tables have 8 to 256 entries; the empty ones are all alike.
    for n in range(max(12, len(gids) + 1) if port.layer == "Ethernet" else 8 if port.layer == "InfiniBand" else 1):
        text[f"gids/{n}"] = gids[n][0] if n < len(gids) else "0000:0000:0000:0000:0000:0000:0000:0000"
        if n < len(gids):
            text[f"gid_attrs/types/{n}"] = gids[n][1]
            if gids[n][2]:
                text[f"gid_attrs/ndevs/{n}"] = gids[n][2]
    for name, value in text.items():
        files[at + name] = f"{value}\n"


def render_net(files, at, net):
    flags = 0x1002 | (1 if net.up else 0) | (0x800 if net.master else 0) | (0x400 if net.slaves else 0)
    text = {"mtu": net.mtu, "operstate": "up" if net.up and net.carrier else "down", "type": 32 if net.ipoib else 1, "address": net.mac,
            "flags": f"0x{flags:x}", "dev_port": net.dev_port, "dev_id": "0x0", "ifindex": net.index,
            "speed": net.speed * 1000 if net.carrier else -1}
    if net.up:
        text["carrier"] = int(net.carrier)
    if net.ipoib:
        text["mode"] = "datagram"
    if net.slaves:
        text["bonding/slaves"] = " ".join(s.name for s in net.slaves)
        text["bonding/mode"] = net.mode
        if "802.3ad" in net.mode:
            text["bonding/ad_aggregator"] = 1
        text["bonding/mii_status"] = "up"
    for name, value in text.items():
        files[at + name] = f"{value}\n"
    if net.master:
        on = net.up and net.carrier
        files[at + "bonding_slave/state"] = "backup\n" if net.standby else "active\n"
        files[at + "bonding_slave/mii_status"] = "up\n" if on else "down\n"
        files[at + "bonding_slave/ad_aggregator_id"] = f"{net.aggregator or (1 if on else net.index)}\n"
        # From devices/pci.../net/NAME to devices/virtual/net.
        files[at + "master"] = Link("../" * (at.count("/") - 2) + f"virtual/net/{net.master.name}")


def hex_le(addr):
    return f"{int.from_bytes(addr.packed, 'little'):08X}"


def render_ip(files, host):
    """Routes, local addresses, per-interface settings. The trie of local addresses is printed after the main one."""
    routes = ["Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT"]
    local, six = ["127.0.0.1"], ["00000000000000000000000000000001 01 80 10 80       lo"]
    for net in host.nets():
        if net.gateway:
            gateway = ipaddress.ip_address(net.gateway)
            routes.insert(1, f"{net.name}\t00000000\t{hex_le(gateway)}\t0003\t0\t0\t100\t00000000\t0\t0\t0")
        for addr in net.addresses():
            if addr.version == 6:
                six.append(f"{addr.ip.packed.hex()} {net.index:02x} {addr.network.prefixlen:02x} {'20' if addr.ip.is_link_local else '00'} 80 {net.name:>8}")
                continue
            local.append(str(addr.ip))
            if net.up and net.carrier:
                routes.append(f"{net.name}\t{hex_le(addr.network.network_address)}\t00000000\t0001\t0\t0\t100\t{hex_le(addr.netmask)}\t0\t0\t0")
        for name, value in (("rp_filter", 2), ("arp_ignore", 0), ("arp_announce", 0)):
            files[f"proc/sys/net/ipv4/conf/{net.name}/{name}"] = f"{value}\n"
    for where in ("all", "default"):
        for name, value in (("rp_filter", 2), ("arp_ignore", 0), ("arp_announce", 0)):
            files[f"proc/sys/net/ipv4/conf/{where}/{name}"] = f"{value}\n"
    trie = "  +-- 0.0.0.0/0 3 0 5\n" + "".join(f"     |-- {a}\n        /32 host LOCAL\n" for a in local)
    files["proc/net/route"] = "\n".join(routes) + "\n"
    files["proc/net/fib_trie"] = f"Main:\n{trie}Local:\n{trie}"
    files["proc/net/if_inet6"] = "\n".join(six) + "\n"


# By whether it is arm64: servers with Grace run kernels with pages of 64 KiB. The first size is the default.
HUGE = {False: (2048,), True: (524288, 2048, 16777216)}
PASSTHROUGH = {False: "iommu=pt", True: "iommu.passthrough=1"}


def render_system(files, host):
    cpus, arm = host.nodes[0].split("-")[0], "implementer" in host.cpu
    files["proc/cpuinfo"] = f"processor\t: {cpus}\n{host.cpu}\n\n"
    files["proc/cmdline"] = "BOOT_IMAGE=/vmlinuz root=/dev/sda2 ro" + (f" {PASSTHROUGH[arm]}" if host.iommu == "identity" else "") + "\n"
    files["proc/meminfo"] = "MemTotal:       2113527592 kB\nHugePages_Total:       0\n" + f"Hugepagesize:       {HUGE[arm][0]} kB\n"
    files["proc/sys/kernel/hostname"] = f"{host.name}\n"
    files["proc/sys/kernel/osrelease"] = "6.8.0-60-generic\n"
    files["proc/sys/vm/max_map_count"] = "1048576\n"
    files["proc/sys/net/ipv4/ip_default_ttl"] = "64\n"
    files["sys/kernel/mm/transparent_hugepage/defrag"] = "always defer defer+madvise [madvise] never\n"
    files["proc/1/comm"] = "systemd\n"
    files["proc/2101/comm"] = "slurmd\n"
    files["proc/2101/limits"] = ("Limit                     Soft Limit           Hard Limit           Units     \n"
                                 "Max locked memory         unlimited            unlimited            bytes     \n")
    for n, cpulist in enumerate(host.nodes):
        at = f"sys/devices/system/node/node{n}/"
        files[at + "cpulist"] = f"{cpulist}\n"
        files[at + "distance"] = " ".join("10" if i == n else "20" for i in range(len(host.nodes))) + "\n"
        for size in HUGE[arm]:
            count = host.hugepages if size == HUGE[arm][0] and cpulist else 0
            for what in ("nr", "free"):
                files[at + f"hugepages/hugepages-{size}kB/{what}_hugepages"] = f"{count}\n"
    lines = []
    for entry in host.modules:
        name, _, users = entry.partition(" ")
        version, _, users = users.rpartition("|")
        tag = " (OE)" if version else ""
        lines.append(f"{name} 262144 {len(users.split(',')) if users else 0} {users + ',' if users else '-'} Live 0x0000000000000000{tag}")
        files[f"sys/module/{name}/refcnt"] = "1\n"
        if version:
            files[f"sys/module/{name}/version"] = f"{version}\n"
    files["proc/modules"] = "\n".join(lines) + "\n"
    files["sys/kernel/btf/ib_uverbs"] = b"\x9f\xeb\x01\x00ib_umem_dmabuf_get\0"
    files["sys/class/dmi/id/sys_vendor"], files["sys/class/dmi/id/product_name"] = (f"{t}\n" for t in host.dmi)
    lib = "usr/lib/aarch64-linux-gnu" if arm else "usr/lib/x86_64-linux-gnu"
    files[f"{lib}/libibverbs.so.1"] = Link("libibverbs.so.1.14.50.0")
    for provider in ("bnxt_re", "efa", "hbl", "ionic", "irdma", "mlx5", "rxe"):
        files[f"{lib}/libibverbs/lib{provider}-rdmav34.so"] = ""
    files["dev/kmsg"] = "".join(f"6,{n},{n * 20011},-;{line}\n" for n, line in enumerate(["Linux version 6.8.0-60-generic"] + host.log))


def render_gpus(files, host):
    if not host.gpu_driver:
        return
    files["proc/driver/nvidia/version"] = host.gpu_driver
    files["proc/driver/nvidia/params"] = 'EnableStreamMemOPs: 0\nRegistryDwords: ""\n'
    for n, fn in enumerate(f for f in host.gpus() if f.driver == "nvidia"):
        files[f"proc/driver/nvidia/gpus/{fn.addr}/information"] = (
            f"Model: \t\t {fn.kind.model}\nIRQ:   \t\t {200 + n}\nGPU UUID: \t GPU-{n:08x}-0000-0000-0000-000000000000\n"
            f"Bus Type: \t PCIe\nDevice Minor: \t {n}\n")


def render_iommu(files, host):
    """A group for each function; functions below a port without ACS redirection share one, as the kernel groups them."""
    if not host.iommu:
        return
    groups = {}
    for fn in host.fns:
        key = fn.addr
        for bridge in fn.bridges():
            if bridge.pcie == DOWNSTREAM and not (bridge.acs or 0) & 0x1C:
                key = bridge.up.addr
        if fn.pcie == DOWNSTREAM and not (fn.acs or 0) & 0x1C:
            key = fn.up.addr
        number = groups.setdefault(key, len(groups))
        top = "../" * (fn.path().count("/") + 2)
        files[f"sys/devices/{fn.path()}/iommu_group"] = Link(f"{top}kernel/iommu_groups/{number}")
        files[f"sys/kernel/iommu_groups/{number}/type"] = f"{host.iommu}\n"
        files[f"sys/kernel/iommu_groups/{number}/devices/{fn.addr}"] = Link(f"../../../../devices/{fn.path()}")


def render(host):
    """Path to text, bytes or Link."""
    files = {}
    for n, net in enumerate(host.nets(), 2):
        net.index = n
    big = host.gpus()
    for n, fn in enumerate(host.fns):
        render_function(files, fn, big.index(fn) if fn.gpu else n, host.nodes)
    for net in host.virtual:
        files[f"sys/class/net/{net.name}"] = Link(f"../../devices/virtual/net/{net.name}")
        render_net(files, f"sys/devices/virtual/net/{net.name}/", net)
    render_ip(files, host)
    render_system(files, host)
    render_gpus(files, host)
    render_iommu(files, host)
    for n, rdma in enumerate(r for f in host.fns for r in f.rdma):
        files[f"sys/class/infiniband_verbs/uverbs{n}/ibdev"] = f"{rdma.name}\n"
    files.update(host.more)
    return files


def put(root, name, data):
    path = os.path.join(root, name)
    if os.path.lexists(path):
        os.unlink(path)
    if data is None:
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if isinstance(data, Link):
        os.symlink(data, path)
    else:
        with open(path, "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode())


def lay(root, files):
    for name, data in files.items():
        put(root, name, data)


def change(root, old, new):
    """Makes of the files of `old` those of `new`; folders that fall empty go, too: a device that is not there has none."""
    gone = [name for name in old if name not in new]
    for name in gone:
        put(root, name, None)
    for name, data in new.items():
        if old.get(name) != data or isinstance(old.get(name), Link) != isinstance(data, Link):
            put(root, name, data)
    for folder in sorted({os.path.dirname(name) for name in gone}, key=len, reverse=True):
        path = os.path.join(root, folder)
        while path != root and os.path.isdir(path) and not os.listdir(path):
            os.rmdir(path)
            path = os.path.dirname(path)
