# SPDX-License-Identifier: GPL-2.0-or-later
"""Inputs that another user or another host could hand to a command, each of 10 MB or so at most and made to cost as much as it can.
worst_inputs.py FOLDER NAME… writes those; INPUTS says which there are, and which commands read each."""
import itertools, json, os, string, subprocess, sys

ZERO = b"\0" * 512


def member(name, data=b"", kind=b"0", target=""):
    """A member of a tar archive, as ustar has it."""
    raw, prefix = name.encode(), b""
    if len(raw) > 100:
        cut = raw.rindex(b"/", 0, 156)
        prefix, raw = raw[:cut], raw[cut + 1:]
    size = len(data)
    head = b"%b%b%b%b" % (raw.ljust(100, b"\0"), b"0000644\0" + b"0000000\0" * 2, b"%011o\0%011o\0" % (size, 0), b"        " + kind)
    head = (head + target.encode().ljust(100, b"\0") + b"ustar\x0000").ljust(345, b"\0") + prefix.ljust(155, b"\0")
    head = head.ljust(512, b"\0")
    head = head[:148] + b"%06o\0 " % sum(head) + head[156:]
    return head + (data + b"\0" * (-len(data) % 512) if size else b"")


class Link(str):
    """A symbolic link's target."""


def tar(path, files):
    """files: pairs of name and bytes, text or Link. Packed, so that 10 MB hold far more than that."""
    with subprocess.Popen(["zstd", "-q", "-1", "-f", "-o", path], stdin=subprocess.PIPE) as pipe:
        for name, data in files:
            if isinstance(data, Link):
                pipe.stdin.write(member(name, kind=b"2", target=data))
            else:
                pipe.stdin.write(member(name, data if isinstance(data, bytes) else data.encode()))
        pipe.stdin.write(ZERO * 2)
        pipe.stdin.close()


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def address(n):
    return f"{n >> 16 & 0xffff:04x}:{n >> 8 & 0xff:02x}:{n >> 3 & 0x1f:02x}.{n & 7}"


def function(n, vendor, device, cls, parent="pci0000:00"):
    at = f"sys/devices/{parent}/{address(n)}"
    yield f"{at}/vendor", f"0x{vendor:04x}\n"
    yield f"{at}/device", f"0x{device:04x}\n"
    yield f"{at}/class", f"0x{cls:06x}\n"
    yield f"{at}/numa_node", "0\n"
    yield f"sys/bus/pci/devices/{address(n)}", Link(f"../../../devices/{parent}/{address(n)}")


def rdma(n, index, ports=1, gids=1, gid="fe80:0000:0000:0000:a088:c203:0000:{:04x}", ethernet=True, parent="pci0000:00"):
    name, at = f"mlx5_{index}", f"sys/devices/{parent}/{address(n)}/infiniband/mlx5_{index}"
    yield f"{at}/node_guid", f"a088:c203:{index >> 16:04x}:{index & 0xffff:04x}\n"
    yield f"{at}/fw_ver", f"28.41.{index}\n"
    yield f"{at}/device", Link("../../../" + address(n))
    yield f"sys/class/infiniband/{name}", Link(f"../../devices/{parent}/{address(n)}/infiniband/{name}")
    for port in range(1, ports + 1):
        p = f"{at}/ports/{port}"
        yield f"{p}/state", "4: ACTIVE\n"
        yield f"{p}/rate", f"{100 + index} Gb/sec (4X NDR)\n"
        yield f"{p}/link_layer", "Ethernet\n" if ethernet else "InfiniBand\n"
        for g in range(gids):
            yield f"{p}/gids/{g}", gid.format(index * gids * ports + g & 0xffff) + "\n"
            yield f"{p}/gid_attrs/types/{g}", "RoCE v2\n"


def netdev(index, n=None, parent="pci0000:00"):
    at = f"sys/devices/{parent}/{address(n)}/net/eth{index}" if n is not None else f"sys/devices/virtual/net/v{index}"
    name = at.rsplit("/", 1)[1]
    yield f"{at}/ifindex", f"{index + 2}\n"
    yield f"{at}/type", "1\n"
    yield f"{at}/mtu", f"{1500 + index % 7}\n"
    yield f"{at}/operstate", "up\n"
    yield f"{at}/address", f"a0:88:c2:{index >> 16:02x}:{index >> 8 & 0xff:02x}:{index & 0xff:02x}\n"
    yield f"sys/class/net/{name}", Link("../../" + at[4:])
    if n is not None:
        yield f"{at}/device", Link("../../../" + address(n))


def host(gpus=0, nics=0, functions=0, netdevs=0, **more):
    n = 1
    yield "proc/sys/kernel/hostname", "worst\n"
    for _ in range(gpus):
        yield from function(n, 0x10DE, 0x2330, 0x030200)
        n += 1
    for i in range(nics):
        yield from function(n, 0x15B3, 0x1021, 0x020000)
        yield from rdma(n, i, **more)
        yield from netdev(i, n)
        n += 1
    for _ in range(functions):
        yield from function(n, 0x8086, 0x3250, 0x088000)
        n += 1
    for i in range(netdevs):
        yield from netdev(nics + i)


ONE = list(host(1, 1))


# ---- environments

LISTS = ("NCCL_IB_HCA", "NCCL_SOCKET_IFNAME", "UCX_NET_DEVICES", "NVSHMEM_HCA_LIST", "NVSHMEM_HCA_PE_MAPPING",
         "GLOO_SOCKET_IFNAME", "FI_VERBS_IFACE", "UCX_TLS", "MC_TE_FILTERS", "FI_PROVIDER")


def env_list(path):
    write(path, "NCCL_IB_HCA=" + ",".join(f"mlx5_{i}" for i in range(8900)) + "\n")


def env_lists(path):
    write(path, "".join(f"{name}={'m,' * 65000}\n" for name in LISTS))


def env_ranges(path):
    write(path, "UCX_NET_DEVICES=" + "m[0-1023]," * 13000 + "\n")


def env_names(path):
    write(path, "".join(f"NCCL_{i:x}=\n" for i in range(850000)))


def env_values(path):
    write(path, "".join(f"NCCL_IB_{i:x}={'x' * 2300}\n" for i in range(4000)))


# ---- topology files of NCCL

def xml(gpus, nics, functions=0, depth=1, nvlinks=0, name="n", cpus=1):
    n, out = 0, ['<system version="1">']
    bridge = '<pci busid="{}" class="0x060400" link_speed="16 GT/s" link_width="16">'

    def new():
        nonlocal n
        n += 1
        return address(n * 8)

    for cpu in range(cpus):
        out.append(f'<cpu numaid="{cpu}" affinity="ff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">')
        out += [bridge.format(new()) for _ in range(depth)]
        for g in range(gpus):
            out.append(f'<pci busid="{new()}" class="0x030200" link_speed="16 GT/s" link_width="16"><gpu dev="{g}" sm="90" rank="{g}" gdr="1">')
            out += ['<nvlink target="0000:00:01.0" count="1" tclass="0x030200"/>'] * nvlinks + ["</gpu></pci>"]
        for i in range(nics):
            out.append(f'<pci busid="{new()}" class="0x020700"><nic><net name="{name}{cpu}_{i}" speed="400000" port="1" gdr="1"/></nic></pci>')
        out += [f'<pci busid="{new()}" class="0x088000"/>' for _ in range(functions)]
        out += ["</pci>"] * depth + ["</cpu>"]
    return "\n".join(out + ["</system>\n"])


def xml_pairs(path):
    write(path, xml(128, 512, 3000, 50, 64, "n" * 200))


def xml_most(path):
    write(path, xml(128, 128, 3600, 50, 64, "n" * 240))


def xml_elements(path):
    write(path, xml(0, 0, 65000))


def xml_cpus(path):
    write(path, xml(0, 0, 0, 3, cpus=1000))


def xml_names(path):
    """An element of half a million attributes: the XML parser keeps each name, and all of them before anybody can refuse it."""
    names = (name for size in range(1, 5) for name in itertools.product(string.ascii_letters, repeat=size))
    write(path, "<system " + " ".join("".join(name) + "=''" for name in itertools.islice(names, 540000)) + "/>")


# ---- logs of runs

def log_hosts(path):
    write(path, "".join(f"n{h % 1024}:1:2 [0] NCCL INFO Channel {c:02d}/0 : {c}[{c}] -> {c + 1}[{c + 1}] [send] via NET/IB/{c}\n"
                        for h in range(1024) for c in range(110)))


def log_devices(path):
    devices = " ".join(f"[{i}]mlx5_{i}:1/IB" for i in range(100))
    write(path, "".join(f"n{h}:1:2 [0] NCCL INFO NET/IB : Using {devices} [RO]; OOB eth0:1<0>\n" for h in range(5500)))


def log_variables(path):
    write(path, "".join(f"n:1:2 [0] NCCL INFO NCCL_X{i} set by environment to {i}\n" for i in range(180000)))


def log_channels(path):
    write(path, "".join(f"n:1:2 [0] NCCL INFO Channel {i % 100:02d}/{i % 3} : {i}[{i}] -> {i + 1}[{i + 1}] [send] via NET/T{i}/{i}/GDRDMA\n"
                        for i in range(110000)))


def log_pairs(path):
    write(path, "".join(f"n:1:2 [0] NCCL INFO GPU Direct RDMA Disabled for GPU {i} / HCA {i} (distance 5 > 4)\n" for i in range(110000)))


def log_most(path):
    """All that is kept of one host, and everything again and again."""
    lines = [f"n:1:2 [0] NCCL INFO Channel {c % 100:02d}/0 : {c}[{c}] -> {c + 1}[{c + 1}] [send] via NET/IB/{c}/GDRDMA\n" for c in range(1000)]
    lines += [f"n:1:2 [0] NCCL INFO NCCL_X{i} set by environment to {i}\n" for i in range(1000)]
    lines += [f"n:1:2 [0] NCCL INFO GPU Direct RDMA Disabled for GPU {i} / HCA {i} (distance 5 > 4)\n" for i in range(1000)]
    write(path, "".join(lines) * 40)


# ---- the kernel log

def kmsg(path, lines, text):
    tar(path, ONE + [("dev/kmsg", "".join(f"3,{i},{i},-;{text.format(i)}\n" for i in range(lines)))])


def kmsg_plain(path):
    kmsg(path, 40000, "mlx5_core 0000:00:00.1: cmd_work_handler:{0} 10.1.{0}.1 fe80::1 host-n.example.com: nothing in particular")


def kmsg_devices(path):
    kmsg(path, 180000, "mlx5_core {0:04x}:00:00.0: mlx5_cmd_out_err: CREATE_MKEY op_mod(0x0) failed, status bad resource(0x5), syndrome (0x{0:x}), err(-22)")


def kmsg_amber(path):
    kmsg(path, 200000, "mlx5_core {0:04x}:00:00.0: temp_warn:149: High temperature on sensors with bit set 0 {0}")


# ---- what counters has saved, profiles, files of data

def counters_rows(path):
    rows = [{"ibdev": "mlx5_0", "port": 1, "group": "port", "name": f"c{i}", "value": i} for i in range(130000)]
    write(path, json.dumps({"schema": "rdmadiag/counters/1", "time": "2026-01-02T03:04:05Z", "counters": rows}, separators=(",", ":")))


def counters_ports(path):
    rows = [{"ibdev": f"{i}", "port": 1, "group": "port", "name": "c", "value": i} for i in range(60000)]
    ports = [{"ibdev": f"{i}", "port": 1, "guid": "x"} for i in range(59999, -1, -1)]
    write(path, json.dumps({"schema": "rdmadiag/counters/1", "time": "2026-01-02T03:04:05Z", "counters": rows, "ports": ports},
                           separators=(",", ":")))


def counters_numbers(path):
    write(path, '{"schema":"rdmadiag/counters/1","counters":[],"x":[' + "1," * 4900000 + "1]}")


def counters_nested(path):
    write(path, '{"schema":"rdmadiag/counters/1","counters":[' + "{}," * 3300000 + "{}]}")


def profile(path):
    write(path, "".join(f"nic.mlx5_{i}.firmware = 28.41.{i}\n" for i in range(65000)))


def profile_patterns(path):
    write(path, "".join(f"nic.*_*_*_*{i}.firmware = 28.41.{i}\n" for i in range(65000)))


def profile_ignore(path):
    write(path, "".join(f"ignore = port-state@mlx5_{i} until 2199-12-31 a reason\n" for i in range(65000)))


# ---- bundles

def bundle_members(path):
    """A million empty files."""
    tar(path, ((f"sys/{i >> 10}/{i}", b"") for i in range(1000000)))


def bundle_full(path):
    """As many as there may be."""
    tar(path, ((f"sys/{i >> 10}/{i}", b"x" * 100) for i in range(520000)))


def bundle_repeated(path):
    """One directory, again and again."""
    with subprocess.Popen(["zstd", "-q", "-3", "-f", "-o", path], stdin=subprocess.PIPE) as pipe:
        block = member("sys/", kind=b"5") * 20000
        for _ in range(300):
            pipe.stdin.write(block)
        pipe.stdin.write(ZERO * 2)
        pipe.stdin.close()


def bundle_bytes(path):
    """A file of 60 MB of zeros, and three more."""
    tar(path, ((f"sys/{i}", b"\0" * (60 << 20)) for i in range(4)))


def bundle_padding(path):
    """Gigabytes of zeros behind the end."""
    with subprocess.Popen(["zstd", "-q", "-3", "-f", "-o", path], stdin=subprocess.PIPE) as pipe:
        pipe.stdin.write(member("sys/x"))
        for _ in range(8192):
            pipe.stdin.write(b"\0" * (1 << 20))
        pipe.stdin.close()


def bundle_headers(path):
    """Members whose headers hold a megabyte each."""
    record = b"%d comment=%b\n" % (900000 + 16, b"x" * 900000)
    with subprocess.Popen(["zstd", "-q", "-3", "-f", "-o", path], stdin=subprocess.PIPE) as pipe:
        for i in range(6000):
            pipe.stdin.write(member("pax", record, b"x") + member(f"sys/{i}"))
        pipe.stdin.write(ZERO * 2)
        pipe.stdin.close()


def bundle_links(path):
    """Chains of links as long as the kernel would follow, with long targets."""
    files = [(f"sys/l{i}", Link(("./" * 40) + f"l{i + 1}")) for i in range(39)] + [("sys/l39/x", b"")]
    files += [(f"sys/bus/pci/devices/{address(i)}", Link("../../../l0/x")) for i in range(200000)]
    tar(path, files)


def manifest(path):
    """A manifest that asks for a million paths that are not there."""
    requests = ",".join('{"path":"/sys/%d/x","ask":"read","errno":"EACCES"}' % i for i in range(1000000))
    tar(path, [("manifest.json", '{"schema":"rdmadiag/bundle/1","samples":[{"realtime_ns":1,"monotonic_ns":1,"requests":[' + requests + "]}]}")])


# ---- hosts

def host_pairs(path):
    tar(path, host(2000, 2000))


def host_nics(path):
    tar(path, host(8, 2048))


def host_functions(path):
    tar(path, host(1, 1, 65000))


def host_netdevs(path):
    tar(path, host(1, 8, 0, 16000))


def host_gids(path):
    tar(path, host(1, 8, ports=16, gids=256, gid="0000:0000:0000:0000:0000:ffff:0a00:0001"))


def host_routes(path):
    files = dict(host(1, 64))
    files["proc/net/route"] = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n" + "".join(
        f"eth{i % 64}\t{i:08X}\t00000000\t0001\t0\t0\t0\tFFFFFFFF\t0\t0\t0\n" for i in range(400000))
    files["proc/net/fib_trie"] = "Local:\n" + "".join(f"        |-- 10.{i >> 16 & 255}.{i >> 8 & 255}.{i & 255}\n           /32 host LOCAL\n" for i in range(300000))
    files["proc/net/if_inet6"] = "".join(f"fe80{i:028x} {i % 64 + 2:02x} 40 20 80 eth{i % 64}\n" for i in range(300000))
    tar(path, files.items())


def host_modules(path):
    files = dict(host(1, 8))
    files["proc/modules"] = "".join(f"m{i} 1 1 m{i + 1}, Live 0x0000000000000000\n" for i in range(500000))
    tar(path, files.items())


MAP = ("nic-map", "nic-map --json", "nic-map --pairs")
HOST = ("nic-map", "nic-map --json", "topo-check --json", "check", "counters --json", "capture OUT.tar.zst")
ENV = ("%h nic-map --check-env --env-file @", "%h nic-map --check-env --json --env-file @")
LOG = ("%h nic-map --against @",)
SAVED = ("%h counters --since @", "%h check --since @")

# Of each what makes it, and which commands read it: @ is the input, OUT a file to write, %h a host of 8 accelerators and 12
# NICs; what has none of @ and %h gets the input by --from.
INPUTS = {
    "env_list": (env_list, ENV), "env_lists": (env_lists, ENV), "env_ranges": (env_ranges, ENV), "env_names": (env_names, ENV),
    "env_values": (env_values, ENV),
    "xml_pairs": (xml_pairs, MAP), "xml_most": (xml_most, MAP + ("nic-map --pes 4096 --json", "nic-map --nccl-xml")),
    "xml_elements": (xml_elements, MAP[:1]), "xml_cpus": (xml_cpus, MAP[:1]),
    "xml_names": (xml_names, MAP[:1] + LOG),
    "log_hosts": (log_hosts, LOG), "log_devices": (log_devices, LOG), "log_variables": (log_variables, LOG),
    "log_channels": (log_channels, LOG), "log_pairs": (log_pairs, LOG), "log_most": (log_most, LOG),
    "kmsg_plain": (kmsg_plain, ("topo-check", "check", "capture --redact OUT.tar.zst")),
    "kmsg_devices": (kmsg_devices, ("topo-check --json", "check")), "kmsg_amber": (kmsg_amber, ("topo-check --json",)),
    "counters_rows": (counters_rows, SAVED), "counters_ports": (counters_ports, SAVED),
    "counters_numbers": (counters_numbers, SAVED), "counters_nested": (counters_nested, SAVED),
    "profile": (profile, ("%h topo-check --profile @",)), "profile_patterns": (profile_patterns, ("%h topo-check --profile @",)),
    "profile_ignore": (profile_ignore, ("%h topo-check --profile @",)),
    "bundle_members": (bundle_members, ("nic-map",)), "bundle_full": (bundle_full, ("nic-map", "capture OUT.tar.zst")),
    "bundle_repeated": (bundle_repeated, ("nic-map",)), "bundle_bytes": (bundle_bytes, ("nic-map",)),
    "bundle_padding": (bundle_padding, ("nic-map",)), "bundle_headers": (bundle_headers, ("nic-map",)),
    "bundle_links": (bundle_links, ("nic-map",)), "manifest": (manifest, ("nic-map",)),
    "host_pairs": (host_pairs, HOST), "host_nics": (host_nics, HOST), "host_functions": (host_functions, HOST),
    "host_netdevs": (host_netdevs, HOST), "host_gids": (host_gids, HOST), "host_routes": (host_routes, HOST),
    "host_modules": (host_modules, HOST),
}
SUFFIX = {"env": ".env", "xml": ".xml", "log": ".log", "counters": ".json", "profile": ".profile"}


def make(folder, name):
    path = os.path.join(folder, name + SUFFIX.get(name.split("_")[0], ".tar.zst"))
    INPUTS[name][0](path)
    return path


if __name__ == "__main__":
    for wanted in sys.argv[2:]:
        print(make(sys.argv[1], wanted))
