# SPDX-License-Identifier: GPL-2.0-or-later
"""What the kernel of a made-up host replies to the netlink requests of rdmadiag, and bundle(), which adds that to the files of
hostgen.py. All of it is derived from the model, so that a fault shows in sysfs and in netlink alike. The kernel is 6.8.

What a reply contains, and what is refused: dcbnl_ieee_fill (net/dcb/dcbnl.c), net/ethtool, net/devlink, net/core/netdev-genl.c,
fill_dev_info and its neighbours (drivers/infiniband/core/nldev.c), and of each driver the operations that it has: mlx5 (en_dcbnl.c,
en_ethtool.c, ipoib/ethtool.c, devlink.c), bnxt_en (bnxt_dcb.c), ice (ice_dcb_nl.c), ionic and hbl_en. A device without an
operation is refused with EOPNOTSUPP: virtual functions of mlx5, bonds, IPoIB and ionic have no DCB."""
import ipaddress, json, os, struct

from hostgen import render

UNSUPPORTED = "EOPNOTSUPP"
CONTROL, NETDEV, ETHTOOL, DEVLINK = 16, 21, 22, 23  # families of generic netlink; all but the first differ between hosts
# Flags of a dump and of its messages, RTPROT_KERNEL and RTPROT_STATIC, tables, flags of interfaces.
DUMP, MULTI, KERNEL, STATIC, MAIN, LOCAL = 0x300, 2, 2, 4, 254, 255
UP, BROADCAST, LOOPBACK, RUNNING, MASTER, SLAVE, MULTICAST, LOWER_UP = 1, 2, 8, 0x40, 0x400, 0x800, 0x1000, 0x10000

# What an owner has set on the ports that carry RoCE: priority with PFC, DSCP to priority where it is not its upper three bits.
# Most guides: priority 3, DSCP 26, and 48 for CNPs. Oracle's agent for its cluster network, which sets an MTU of 4220, too: DSCP
# 26, for GPUs 10, priority 5 (assumed of 10); CNPs 46, priority 6.
LOSSLESS = {"oci-h100": (5, {10: 5, 26: 5, 46: 6})}
RINGS = {  # receive, largest, transmit, largest, header split (1 off, 2 on, 0 not told), channels, largest: as the drivers set it
    "mlx5_core": (1024, 8192, 1024, 8192, 1, 63, 63), "ipoib": (1024, 8192, 1024, 8192, 1, 63, 63),
    "bnxt_en": (511, 2047, 511, 2047, 2, 64, 74), "ice": (2048, 8160, 256, 8160, 0, 64, 64),
    "ionic": (4096, 16384, 4096, 16384, 0, 16, 64), "netvsc": (10486, 18811, 192, 2560, 0, 8, 64)}
FEATURES = ((0, "tx-scatter-gather"), (5, "highdma"), (8, "rx-vlan-hw-parse"), (11, "tx-generic-segmentation"), (14, "rx-gro"),
            (16, "tx-tcp-segmentation"), (27, "rx-ntuple-filter"), (30, "rx-hashing"), (31, "rx-checksum"))
NTUPLE = {"mlx5_core": (1, 0), "bnxt_en": (1, 1), "ice": (1, 1)}  # can be on, is on
DRIVER_ID = {"mlx5": 1, "bnxt_re": 6, "irdma": 9, "rdmap": 17, "ionic": 21}


def attr(kind, data):
    return struct.pack("<HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def number(size):
    return lambda kind, value: attr(kind, value.to_bytes(size, "little"))


u8, u16, u32, u64 = (number(size) for size in (1, 2, 4, 8))


def text(kind, value):
    return attr(kind, value.encode() + b"\0")


def nest(kind, *members):
    return attr(kind | 0x8000, b"".join(members))


def message(kind, body, flags=0):
    return struct.pack("<IHHII", 16 + len(body), kind, flags, 0, 0) + body + bytes(-len(body) % 4)


def generic(command, *attributes, version=1):
    return struct.pack("BBH", command, version, 0) + b"".join(attributes)


class Replies:
    """Request to reply: bytes, or the name of an error."""

    def __init__(self):
        self.of = {}

    def add(self, protocol, kind, body, reply, flags=0):
        self.of[protocol, message(kind, body, 1 | flags)] = reply

    def dump(self, protocol, kind, body, reply_kind, bodies):
        self.add(protocol, kind, body, b"".join(message(reply_kind, b, MULTI) for b in bodies), DUMP)


class Nic:
    """An interface and what is behind it. driver: that of its ethtool operations."""

    def __init__(self, host, net, fn):
        self.net, self.fn, self.on = net, fn, net.up and net.carrier
        self.driver = "ipoib" if net.ipoib else fn.kind.driver if fn else "bond" if net.slaves else "netvsc"
        # Of a bond's second function, too, which has no RDMA device.
        roce = fn and fn.role in ("compute", "storage", "lag") and not fn.kind.vf and not net.ipoib
        self.lossless = LOSSLESS.get(host.name, (3, {})) if roce and self.driver in ("mlx5_core", "bnxt_en") else None


def interfaces(host):
    of = {id(net): fn for fn in host.fns for net in fn.nets}
    return [Nic(host, net, of.get(id(net))) for net in host.nets()]


# rtnetlink

def link_of(nic):
    net = nic.net
    flags = BROADCAST | MULTICAST | (UP if net.up else 0) | (RUNNING | LOWER_UP if nic.on else 0)
    flags |= (SLAVE if net.master else 0) | (MASTER if net.slaves else 0)
    mac = bytes.fromhex(net.mac.replace(":", ""))
    # An interface begins without carrier, and that counts.
    out = text(3, net.name) + u32(13, 1000) + u8(16, 6 if nic.on else 2) + u8(17, 0) + u32(4, net.mtu) + u32(27, 0)
    out += u8(33, int(nic.on)) + u32(35, 2 if nic.on else 1) + u32(47, int(nic.on or net.lost)) + u32(48, 1 + net.lost)
    out += attr(1, mac) + attr(2, b"\xff" * 6 if len(mac) == 6 else b"\0\xff\xff\xff\xff\x12\x40\x1b" + bytes(8) + b"\xff" * 4)
    if net.master:
        out += u32(10, net.master.index)
    if net.lower:
        out += u32(5, net.lower.index) + nest(18, text(1, "vlan"), nest(2, u16(1, net.vlan)))
    elif net.slaves or net.ipoib:
        kind = ("bond", u8(1, 4)) if net.slaves else ("ipoib", u16(1, 0x7FFF) + u16(2, 0))
        out += nest(18, text(1, kind[0]), nest(2, kind[1]))
    elif net.master and net.master.slaves:
        out += nest(18, text(4, "bond"))
    if nic.fn:
        out += text(56, nic.fn.addr) + text(57, "pci")
    return struct.pack("<BBHiII", 0, 0, 32 if net.ipoib else 1, net.index, flags, 0) + out


def address_of(index, name, addr):
    raw, link_local = addr.ip.packed, addr.version == 6 and addr.ip.is_link_local
    scope = 253 if link_local else 254 if addr.ip.is_loopback else 0
    out = attr(1, raw) + (attr(2, raw) + text(3, name) if addr.version == 4 else b"") + u32(8, 0x80)
    return struct.pack("<BBBBI", 2 if addr.version == 4 else 10, addr.network.prefixlen, 0x80, scope, index) + out


def route(index, to, table=MAIN, gateway=None, source=None, proto=KERNEL, metric=0, kind=1):
    scope = 0 if gateway or to.version == 6 else 254 if kind == 2 else 253
    out = u32(15, table) + (attr(1, to.network_address.packed) if to.prefixlen else b"") + (u32(6, metric) if metric else b"")
    out += (attr(7, source.packed) if source else b"") + (attr(5, gateway.packed) if gateway else b"") + u32(4, index)
    return struct.pack("<BBBBBBBBI", 2 if to.version == 4 else 10, to.prefixlen, 0, 0, table, proto, scope, kind, 0) + out


def routes_of(nic):
    net = nic.net
    if net.gateway and nic.on:
        gateway = ipaddress.ip_address(net.gateway)
        yield route(net.index, ipaddress.ip_network("0.0.0.0/0"), gateway=gateway, proto=STATIC, metric=100)
    for addr in net.addresses():
        if nic.on:
            four = addr.version == 4
            yield route(net.index, addr.network, source=addr.ip if four else None, metric=100 if four else 256)
            yield route(net.index, ipaddress.ip_network(addr.ip), LOCAL, source=addr.ip if four else None, kind=2)


def neighbour(index, ip, mac, state):
    body = struct.pack("<BBHiHBB", 2 if ip.version == 4 else 10, 0, 0, index, state, 0, 1)
    return body + attr(1, ip.packed) + attr(2, mac) + u32(4, 1) + attr(3, struct.pack("<IIII", 300, 600, 600, 0))


def neighbours_of(nic):
    """The gateway, and another host of each network; of IPv6, multicast groups, as well."""
    net = nic.net
    size = 20 if net.ipoib else 6
    if not nic.on or net.master:
        return
    if net.gateway:
        yield neighbour(net.index, ipaddress.ip_address(net.gateway), b"\x02" * size, 2)
    for addr in net.addresses():
        if addr.version == 6 and addr.ip.is_link_local:
            yield neighbour(net.index, ipaddress.ip_address("ff02::16"), b"\x33\x33\0\0\0\x16".ljust(size, b"\0"), 0x40)
            yield neighbour(net.index, ipaddress.ip_address("fe80::1"), b"\x02" * size, 4)
        else:
            peer = type(addr.ip)(int(addr.ip) ^ 1)
            yield neighbour(net.index, peer, b"\x06" * size, 4)


def rules():
    """Those that every host has."""
    for family, tables in ((2, ((0, LOCAL), (32766, MAIN), (32767, 253))), (10, ((0, LOCAL), (32766, MAIN)))):
        for priority, table in tables:
            out = u32(15, table) + u32(14, 0xFFFFFFFF) + u8(21, KERNEL) + (u32(6, priority) if priority else b"")
            yield struct.pack("<BBBBBBBBI", family, 0, 0, 0, table, 0, 0, 1, 0) + out


def reply_route(replies, nics):
    lo = struct.pack("<BBHiII", 0, 0, 772, 1, UP | LOOPBACK | RUNNING | LOWER_UP, 0)
    lo += text(3, "lo") + u32(4, 65536) + u8(16, 0) + u8(33, 1) + u32(35, 0) + u32(47, 0) + u32(48, 0) + attr(1, bytes(6)) + attr(2, bytes(6))
    links = [lo] + [link_of(n) for n in sorted(nics, key=lambda n: n.net.index)]
    for body in (bytes(16), bytes(16) + u32(29, 8)):  # with statistics, and without
        replies.dump("route", 18, body, 16, links)
    own = [(1, "lo", ipaddress.ip_interface(a)) for a in ("127.0.0.1/8", "::1/128")]
    own += [(n.net.index, n.net.name, a) for n in nics for a in n.net.addresses()]
    replies.dump("route", 22, bytes(8), 20, [address_of(*a) for version in (4, 6) for a in own if a[2].version == version])
    replies.dump("route", 26, bytes(12), 24, [r for n in nics for r in routes_of(n)])
    replies.dump("route", 34, bytes(12), 32, list(rules()))
    replies.dump("route", 30, bytes(12), 28, [r for n in nics for r in neighbours_of(n)])


# Data Center Bridging

def ets(classes, bandwidth, tsa, priorities):
    return attr(1, bytes([0, classes, 0, *bandwidth, *bandwidth, *tsa, *priorities]) + bytes(24))


def pfc(classes, mask, delay=0):
    return attr(2, struct.pack("<BBBxH2x", classes, mask, 0, delay) + bytes(128))


def applications(table):
    """struct dcb_app, with the DSCP selector."""
    return attr(3, b"".join(attr(1, struct.pack("<BBH", 5, prio, dscp)) for dscp, prio in table.items()))


def dcb_of(nic):
    """The inner attributes and DCBX; None: the driver has none."""
    mask = 1 << nic.lossless[0] if nic.lossless else 0
    if nic.driver == "mlx5_core" and not nic.fn.kind.vf:
        # Trust DSCP means 64 entries, as the firmware has them; trust PCP none. Classes as the driver sets them up.
        table = {dscp: nic.lossless[1].get(dscp, dscp >> 3) for dscp in range(64)} if nic.lossless else {}
        sizes = (130944, 131072) if nic.lossless else (262016, 0)
        buffers = attr(10, bytes(mask >> i & 1 for i in range(8)) + struct.pack("<9I", *sizes, *[0] * 6, 262016))
        return ets(8, [100] * 8, [255] * 8, (1, 0, 2, 3, 4, 5, 6, 7)) + attr(7, bytes(64)) + pfc(8, mask, 7) + buffers + applications(table), 0x0D
    if nic.driver == "bnxt_en":
        # As Broadcom's guide has it: RoCE priority 3 in a class of its own, CNPs priority 7, strict.
        classes = ets(3, (50, 50, 0, 0, 0, 0, 0, 0), (2, 2, 0, 0, 0, 0, 0, 0), (0, 0, 0, 1, 0, 0, 0, 2))
        return classes + pfc(8, mask) + applications({26: 3, 48: 7}), 0x09
    if nic.driver == "ice":  # link-level flow control instead
        return ets(8, (100, 0, 0, 0, 0, 0, 0, 0), (2, 0, 0, 0, 0, 0, 0, 0), [0] * 8) + pfc(8, 0) + applications({}), 0x09
    if nic.driver == "habanalabs":  # on all priorities, since the driver was loaded
        return pfc(4, 0x0F) + applications({}), 0x09
    return None


def reply_dcb(replies, nic):
    request = b"\0\x15\0\0" + text(1, nic.net.name)
    found = dcb_of(nic)
    if not found:
        return replies.add("route", 78, request, UNSUPPORTED)
    inner, dcbx = found
    # Since Linux 6.3 there is a table for rewriting (12), empty where nobody has set it.
    return replies.add("route", 78, request, message(78, request + attr(13, inner + nest(12)) + u8(14, dcbx)))


# ethtool, netdev

def bits(kind, wanted, mask=True):
    """A set as the kernel prints it: all names with a mask, otherwise those that are set."""
    members = [nest(1, u32(1, n), text(2, name), attr(3, b"") if mask and name in wanted else b"") for n, name in FEATURES if mask or name in wanted]
    return nest(kind, attr(1, b"") if not mask else b"", u32(2, 64), nest(3, *members))


def features(driver):
    able, on = NTUPLE.get(driver, (0, 0))
    names = [name for _, name in FEATURES if name != "rx-ntuple-filter"]
    hardware, active = names + ["rx-ntuple-filter"] * able, names + ["rx-ntuple-filter"] * on
    return bits(2, hardware) + bits(3, active, False) + bits(4, active, False) + bits(5, [], False)


def pauses(nic):
    """Receiving and sending alike; None: no such operation. Firmware of mlx5 has them on; PFC takes their place. What ionic
    tells is on with PFC, too. Functions of a guest may not read the port's register: the driver tells off."""
    if nic.driver == "mlx5_core":
        return int(not nic.lossless and not nic.fn.kind.vf)
    return {"bnxt_en": 0, "ice": 1, "ionic": 1}.get(nic.driver)


def ethtool_of(nic):
    """Command of the request, of the reply, attributes or None."""
    rx, rx_max, tx, tx_max, split, channels, channels_max = RINGS.get(nic.driver, (0,) * 7)
    pause = pauses(nic)
    yield 21, 22, None if pause is None else u8(2, 0) + u8(3, pause) + u8(4, pause)
    yield 15, 16, u32(2, rx_max) + u32(6, rx) + u32(5, tx_max) + u32(9, tx) + (u8(11, split) if split else b"") + u8(13, 0) + u8(14, 0) if rx else None
    yield 17, 18, u32(5, channels_max) + u32(9, channels) if rx else None
    yield 11, 11, features(nic.driver)
    speed = nic.net.speed * 1000 if nic.on and nic.net.speed else 0xFFFFFFFF
    yield 4, 4, u8(2, int(nic.driver not in ("bond", "netvsc"))) + u32(5, speed) + u8(6, 1 if nic.on else 0xFF) + u8(10, 0)
    down = u32(7, 1) if nic.driver in ("mlx5_core", "ionic") and not nic.fn.kind.vf else b""
    yield 6, 6, u8(2, int(nic.on)) + down
    physical = nic.driver in ("mlx5_core", "bnxt_en", "ice", "ionic") and not nic.fn.kind.vf
    yield 29, 30, u8(3, 1) + (u32(4, 50) if nic.on and nic.net.speed >= 50 else u32(4, 49)) if physical else None


def reply_ethtool(replies, nic):
    net = nic.net
    for command, reply, attributes in ethtool_of(nic):
        request = generic(command, nest(1, text(2, net.name)))
        head = nest(1, u32(1, net.index), text(2, net.name))
        replies.add("generic", ETHTOOL, request, UNSUPPORTED if attributes is None else message(ETHTOOL, generic(reply, head, attributes)))
    replies.add("generic", ETHTOOL, generic(38, nest(1, u32(1, net.index))), UNSUPPORTED, DUMP)  # RSS contexts: a dump since Linux 6.12
    queues = RINGS.get(nic.driver, (0, 0, 0, 0, 0, 1))[5] if net.up else 0
    replies.dump("generic", NETDEV, generic(10, u32(2, net.index)), NETDEV,
                 [generic(10, u32(1, n), u32(3, kind), u32(2, net.index)) for kind in (0, 1) for n in range(queues)])


# devlink

def versions(fn):
    """(Kind of version, name, value): 100 fixed, 101 running, 102 stored."""
    firmware = fn.rdma[0].firmware if fn.rdma else fn.kind.firmware
    if fn.kind.driver == "mlx5_core" and not fn.kind.vf:  # of virtual functions nothing
        return [(100, "fw.psid", fn.kind.board), *((kind, name, firmware) for kind in (101, 102) for name in ("fw.version", "fw"))]
    if fn.kind.driver == "bnxt_en":
        return [(100, "asic.id", f"{fn.ids[1]:x}"), *((kind, name, firmware) for kind in (101, 102) for name in ("fw", "fw.mgmt"))]
    if fn.kind.driver == "ice":
        return [(101, "fw.mgmt", "7.3.4"), (101, "fw.undi", "1.3429.0"), (102, "fw.undi", "1.3429.0")]
    return [(101, "fw", firmware)] if fn.kind.driver == "ionic" else []


def reporters(fn):
    """(Port or None, name, state). Firmware that does not answer any more is fatal, and recovery fails."""
    if fn.driver == "mlx5_core":
        yield from ((None, "fw", 0), (None, "fw_fatal", int(fn.dead)), (None, "vnic", 0))
        if fn.cls == 0x020000:
            yield from ((65535, "tx", 0), (65535, "rx", 0))
    elif fn.driver == "bnxt_en":
        yield from ((None, "hw", 0), (None, "fw", 0))


def reply_devlink(replies, host):
    fns = [fn for fn in host.fns if fn.driver in ("mlx5_core", "bnxt_en", "ice", "ionic")]
    handle = {id(fn): text(1, "pci") + text(2, fn.addr) for fn in fns}
    info, broken = [], False
    for fn in fns:
        broken |= fn.dead  # then the dump ends with an error
        members = [nest(kind, text(103, name), text(104, value)) for kind, name, value in versions(fn)]
        if not broken:
            info.append(generic(51, handle[id(fn)], text(98, fn.driver), *members))
    health = [generic(52, handle[id(fn)], u32(3, port) if port is not None else b"",
                      nest(114, text(115, name), u8(116, state), u64(117, state), u64(118, 0), u8(120, 1)))
              for fn in fns for port, name, state in reporters(fn)]
    for command, bodies in ((51, info), (52, health)):
        replies.dump("generic", DEVLINK, generic(command), DEVLINK, bodies)
    if broken:
        key = ("generic", message(DEVLINK, generic(51), 1 | DUMP))
        replies.of[key] = replies.of[key] + message(2, struct.pack("<i", -5) + bytes(16)) if info else "EIO"


def reply_families(replies):
    for name, number in (("ethtool", ETHTOOL), ("netdev", NETDEV), ("devlink", DEVLINK)):
        reply = generic(1, text(2, name), u16(1, number), u32(3, 1), u32(4, 0), u32(5, 0), version=2)
        replies.add("generic", CONTROL, generic(3, text(2, name)), message(CONTROL, reply))


# RDMA

def queue_pairs(rdma):
    """(Port, number, type, name of the kernel module): 0 SMI, 1 GSI, 4 UD. EFA and Gaudi have no agents of the subnet."""
    if rdma.kind.dev in ("rdmap", "hbl"):
        return []
    found = []
    for port in rdma.ports:
        found += [(port.num, 0, 0, "ib_core")] if port.layer == "InfiniBand" else []
        found += [(port.num, 1, 1, "ib_core")]
        found += [(port.num, 0x1A + port.num, 4, "mlx5_ib")] if rdma.kind.dev == "mlx5" else []
    return sorted(found, key=lambda qp: (qp[1], qp[0]))


def reply_rdma(replies, host):
    devices, nldev = [], 5 << 10
    for index, rdma in enumerate(r for fn in host.fns for r in fn.rdma):
        this, handle = u32(1, index), u32(1, index) + text(2, rdma.name)
        layer = {"InfiniBand": "ib", "Ethernet": "roce"}.get(rdma.ports[0].layer)  # of EFA none is told
        guid = int(rdma.guid.replace(":", ""), 16)
        devices.append(handle + u32(3, len(rdma.ports)) + u64(4, 0x1C0018221C76) + text(5, rdma.firmware) + u64(6, guid) + u64(7, guid) +
                       u8(14, 1 if layer else 7) + u8(84, 1) + (text(67, layer) if layer else b""))
        qps = [nest(20, u32(3, port), u32(21, number), text(29, owner), u32(24, 0), u8(26, kind), u8(27, 3))
               for port, number, kind, owner in queue_pairs(rdma)]
        cqs = [nest(36, u32(37, 1023), u64(38, len(qps)), u8(84, 0), u32(61, 0), text(29, "ib_core"))] if qps else []
        pds = [nest(47, u64(38, len(qps)), u32(60, 0), text(29, "ib_core"))] if qps else []
        # Command, list, its entries, in the order of the summary.
        tables = {"pd": (14, 46, pds), "cq": (12, 35, cqs), "qp": (10, 19, qps), "cm_id": (11, 30, []), "mr": (13, 40, []), "ctx": (22, 86, []),
                  "srq": (23, 88, [])}
        counts = (nest(16, text(17, name), u64(18, len(entries))) for name, (_, _, entries) in tables.items())
        replies.add("rdma", nldev | 9, this, message(nldev | 9, handle + nest(15, *counts)))
        for command, table, entries in tables.values():
            replies.dump("rdma", nldev | command, this, nldev | command, [handle + nest(table, *entries)] if entries else [])
        replies.dump("rdma", nldev | 5, this, nldev | 5, [handle + port_of(port) for port in rdma.ports])
        uverbs = u32(73, DRIVER_ID.get(rdma.kind.dev, 0)) + u64(72, 231 << 20 | 192 + index) + u64(71, 1) + text(70, f"uverbs{index}")
        replies.add("rdma", nldev | 15, this + text(69, "uverbs"), message(nldev | 15, uverbs))
    replies.dump("rdma", nldev | 1, b"", nldev | 1, devices)
    replies.add("rdma", nldev | 6, b"", message(nldev | 6, u8(66, 1) + u8(93, 1)))  # all see all devices


def port_of(port):
    """An Ethernet port of a bond gives the first interface below it."""
    out = u32(3, port.num)
    if port.layer == "InfiniBand":
        out += u64(8, 0x80FE) + u32(9, port.lid) + u32(10, port.sm_lid) + u8(11, 0)
    out += u8(12, {"DOWN": 1, "INIT": 2, "ACTIVE": 4}[port.state]) + u8(13, {"Polling": 2, "Disabled": 3, "LinkUp": 5}[port.phys])
    if port.layer == "Ethernet":
        net = port.net.slaves[0] if port.net.slaves else port.net
        out += u32(50, net.index) + text(51, net.name)
    return out


def replies_of(host):
    """render() must have numbered the interfaces."""
    replies, nics = Replies(), interfaces(host)
    reply_route(replies, nics)
    reply_families(replies)
    asked = {id(net) for fn in host.fns if fn.rdma for net in fn.nets}
    bonds = [net.master for fn in host.fns if fn.rdma for net in fn.nets if net.master]
    asked |= {id(net) for bond in bonds for net in (bond, *bond.slaves)}
    for nic in (n for n in nics if id(n.net) in asked):
        reply_dcb(replies, nic)
        reply_ethtool(replies, nic)
    reply_devlink(replies, host)
    reply_rdma(replies, host)
    for kind in (4, 7):  # chains and rules of nftables: none
        replies.dump("12", 10 << 8 | kind, bytes(4), 0, [])
    return replies.of


def file_of(protocol, request):
    """As rd_nlrequest_path names it."""
    hashed = 0xCBF29CE484222325
    for byte in request:
        hashed = (hashed ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{protocol}/{struct.unpack_from('<H', request, 4)[0]}-{hashed:016x}"


def bundle(host):
    """Files of a bundle, as hostgen.lay wants them: of the host below root/, replies below nl/, and the manifest, which says of
    folders that they were listed, and which requests were refused."""
    files = {f"root/{name}": data for name, data in render(host).items()}
    files["root/sys/module/nf_tables/refcnt"] = "0\n"
    requests = []
    for (protocol, request), reply in replies_of(host).items():
        path = file_of(protocol, request)
        refused = isinstance(reply, str)
        files[f"nl/{path}"] = request + bytes(-len(request) % 4) + (b"" if refused else reply)
        requests.append({"ask": "read", "path": path, **({"errno": reply} if refused else {})})
    folders = {""}
    for name in files:
        while name.startswith("root/") and (name := os.path.dirname(name)) not in folders and name != "root":
            folders.add(name)
    requests += [{"ask": "list", "path": name[len("root"):] or "/"} for name in sorted(folders)]
    if "root/sys/class/infiniband_verbs" in folders:
        requests.append({"ask": "ino", "path": "/sys/class/infiniband_verbs", "value": 15950})
    day = 86400 * 10**9
    sample = {"realtime_ns": 20000 * day, "monotonic_ns": 9 * day, "requests": requests}
    files["manifest.json"] = json.dumps({"schema": "rdmadiag/bundle/1", "byte_order": "little", "hostname": host.name, "samples": [sample]})
    return files
