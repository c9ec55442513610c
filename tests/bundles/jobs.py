#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Made-up jobs: bundles of hosts whose queue pairs are connected with each other.
jobs.py FOLDER HOSTS QPS           a job of HOSTS hosts with QPS RC queue pairs each; rdma_cm knows the peers of half of them
jobs.py FOLDER iwarp|xrc [gone]    two hosts with one connection; gone: that of the second host is not there any more
All are tests/bundles/pair-a.tar.zst with other replies of the kernel: that host has one RDMA device, of soft-RoCE."""
import io, json, os, re, socket, struct, subprocess, sys, tarfile

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
RC, XRC_INI, XRC_TGT = 2, 9, 10
INIT, RTR, RTS, ERR = 1, 2, 3, 6
# Numbers of enum rdma_nldev_attr.
DEV_INDEX, DEV_NAME, PORT, SUMMARY, SUMMARY_ENTRY, ENTRY_NAME, ENTRY_CURR = 1, 2, 3, 15, 16, 17, 18
QPS, QP, LQPN, RQPN, RQ_PSN, SQ_PSN, MIG, TYPE, STATE, PID, CM_IDS, CM_ID = 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 30, 31
PS, SRC, DST, CM_IDN, PROTOCOL = 32, 33, 34, 63, 67


def attr(kind, data):
    return struct.pack("<HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def u8(kind, value):
    return attr(kind, bytes([value]))


def u32(kind, value):
    return attr(kind, struct.pack("<I", value))


def message(command, attributes):
    """A message of a dump of the RDMA netlink protocol."""
    return struct.pack("<IHHII", 16 + len(attributes), 5 << 10 | command, 2, 0, 0) + attributes


def sockaddr(ip, port):
    return struct.pack("<H", socket.AF_INET) + struct.pack(">H", port) + socket.inet_aton(ip) + bytes(120)


class Qp:
    def __init__(self, lqpn, rqpn, kind=RC, state=RTS, link=None):
        """link: own address, own port, the peer's address and port; rqpn None: not reported."""
        self.lqpn, self.rqpn, self.kind, self.state, self.link = lqpn, rqpn, kind, state, link

    def entry(self):
        number = b"" if self.rqpn is None else u32(RQPN, self.rqpn) + u32(RQ_PSN, 1)
        return attr(QP, u32(PORT, 1) + u32(LQPN, self.lqpn) + u32(PID, 211) + number + u32(SQ_PSN, 1) + u8(MIG, 0) +
                    u8(TYPE, self.kind) + u8(STATE, self.state))

    def cm_id(self, n):
        own, own_port, peer, peer_port = self.link
        return attr(CM_ID, u32(PORT, 1) + u32(LQPN, self.lqpn) + u8(TYPE, self.kind) + u32(PS, 0x106) + u8(STATE, 7) +
                    attr(SRC, sockaddr(own, own_port)) + attr(DST, sockaddr(peer, peer_port)) + u32(CM_IDN, n) +
                    u32(PID, 211))


def dump(command, table, entries):
    """The kernel's list of objects, in messages of a page."""
    out, part = b"", []
    head = u32(DEV_INDEX, 0) + attr(DEV_NAME, b"rxe0\0")
    for entry in entries:
        part.append(entry)
        if len(part) == 40:
            out, part = out + message(command, head + attr(table, b"".join(part))), []
    return out + (message(command, head + attr(table, b"".join(part))) if part else b"")


class Base:
    """The bundle that all are made from; what is the same in all of them is stored once, as it is in the archive."""

    def __init__(self):
        packed = open(os.path.join(TOP, "tests/bundles/pair-a.tar.zst"), "rb").read()
        data = subprocess.run(["zstd", "-dcq"], input=packed, stdout=subprocess.PIPE, check=True).stdout
        self.changed, same = {}, io.BytesIO()
        own = re.compile(r"manifest\.json|root/proc/sys/kernel/hostname|nl/rdma/51(21|29|30|31)-.*|nl/route/22-.*|.*/gids/1")
        with tarfile.open(fileobj=io.BytesIO(data)) as old, tarfile.open(fileobj=same, mode="w") as new:
            for member in old:
                if own.fullmatch(member.name) and member.isfile():
                    self.changed[member.name] = old.extractfile(member).read()
                else:
                    new.addfile(member, old.extractfile(member) if member.isfile() else None)
        self.same = same.getvalue()
        # What is changed by hand has no hash.
        manifest = json.loads(self.changed["manifest.json"])
        manifest.pop("hash", None)
        for sample in manifest["samples"]:
            sample.pop("shape", None)
            for request in sample["requests"]:
                request.pop("hash", None)
        self.manifest = json.dumps(manifest, separators=(",", ":"))

    def reply(self, name, messages):
        old = self.changed[name]
        return old[: struct.unpack_from("<I", old)[0]] + messages

    def write(self, path, host, ip, qps, protocol="roce"):
        files = {}
        links = [qp for qp in qps if qp.link]
        for name, old in self.changed.items():
            if name == "manifest.json":
                new = re.sub('"hostname": *"[^"]*"', f'"hostname":"{host}"', self.manifest).encode()
            elif name.endswith("/hostname"):
                new = host.encode() + b"\n"
            elif name.endswith("/gids/1"):
                a, b, c, d = socket.inet_aton(ip)
                new = f"0000:0000:0000:0000:0000:ffff:{a:02x}{b:02x}:{c:02x}{d:02x}\n".encode()
            elif "/5121-" in name:
                new = old.replace(attr(PROTOCOL, b"roce\0"), attr(PROTOCOL, protocol.encode() + b"\0"))
                new = self.reply(name, message(1, new[new.index(struct.pack("<HH", 8, DEV_INDEX)):]))
            elif "/5129-" in name:
                counts = b"".join(attr(SUMMARY_ENTRY, attr(ENTRY_NAME, kind + b"\0") + attr(ENTRY_CURR, struct.pack("<Q", n)))
                                  for kind, n in ((b"qp", len(qps)), (b"cm_id", len(links))))
                new = self.reply(name, message(9, u32(DEV_INDEX, 0) + attr(DEV_NAME, b"rxe0\0") + attr(SUMMARY, counts)))
            elif "/5130-" in name:
                new = self.reply(name, dump(10, QPS, [qp.entry() for qp in qps]))
            elif "/5131-" in name:
                new = self.reply(name, dump(11, CM_IDS, [qp.cm_id(n) for n, qp in enumerate(links)]))
            else:
                new = old.replace(socket.inet_aton("10.9.1.1"), socket.inet_aton(ip))
            files[name] = new
        own = io.BytesIO()
        with tarfile.open(fileobj=own, mode="w") as tar:
            for name, new in files.items():
                member = tarfile.TarInfo(name)
                member.size = len(new)
                tar.addfile(member, io.BytesIO(new))
        # Without the end of the first archive.
        length = sum(512 + (len(new) + 511) // 512 * 512 for new in files.values())
        with open(path, "wb") as out:
            subprocess.run(["zstd", "-q", "-1", "-c"], input=own.getvalue()[:length] + self.same, stdout=out, check=True)


def ip_of(host):
    return f"10.{64 + (host >> 16)}.{host >> 8 & 255}.{host & 255}"


def job_qps(host, hosts, n):
    """Queue pair 2k is connected to 2k + 1 of the host that comes 1 + k later. Of each eleven hosts, one has lost a queue pair and
    one has a failed one."""
    first = lambda of: 0x100 + of * 2654435761 % 0x7fffff
    qps = []
    for i in range(n):
        k, step = i // 2, 1 + i // 2 % max(hosts - 1, 1)
        peer = (host + step if i % 2 == 0 else host - step) % hosts
        ends = [(ip_of(host), 20000 + k), (ip_of(peer), 7174)]
        link = sum(ends if i % 2 == 0 else [(ip_of(host), 7174), (ip_of(peer), 20000 + k)], ()) if k % 2 else None
        if host % 11 == 5 and i == 7:
            continue
        qps.append(Qp(first(host) + i, first(peer) + (i ^ 1), state=ERR if host % 11 == 7 and i == 6 else RTS, link=link))
    return qps


def write_pair(base, folder, kind, gone):
    ips = ["10.9.1.1", "10.9.1.2"]
    links = [(ips[0], 40000, ips[1], 7174), (ips[1], 7174, ips[0], 40000)]
    for i in range(2):
        if kind == "iwarp":
            # What drivers of iWARP leave in the remote number means nothing.
            qps = [Qp(5 + i, 0x5a5a, link=links[i])]
        else:
            qps = [Qp(17 + i, None, (XRC_INI, XRC_TGT)[i], (RTS, RTR)[i], links[i])]
        if gone and i == 1:
            qps = [Qp(30, None, XRC_TGT, INIT)] if kind == "xrc" else []
        base.write(f"{folder}/{kind}-{'ab'[i]}.tar.zst", f"{kind}-{'ab'[i]}", ips[i], qps, "iw" if kind == "iwarp" else "roce")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    base, folder = Base(), sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    if sys.argv[2] in ("iwarp", "xrc"):
        write_pair(base, folder, sys.argv[2], len(sys.argv) > 3)
        return
    hosts, n = int(sys.argv[2]), int(sys.argv[3])
    for host in range(hosts):
        base.write(f"{folder}/n{host:06d}.tar.zst", f"n{host:06d}", ip_of(host), job_qps(host, hosts, n))


main()
