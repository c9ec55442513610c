#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Pairs of hosts that differ in one known thing: diff must name it first, and nic-map --compare must find it.

  pairs.py RDMADIAG WORK-FOLDER [WORD]   all pairs, or those with this word in what they are; speaks TAP
  pairs.py --lay NUMBER FOLDER           lays both out below FOLDER: a, b

A row: what differs, base, steps that make B (twinrows.py), the first change ("area subject field", a regular expression; "" if
nothing that matters differs: then diff exits with 0), and `compare`, what nic-map --compare of two hosts as A and one as B warns
of; "": of nothing. `both`: steps of A and B."""
import json, os, re, shutil, subprocess, sys

sys.dont_write_bytecode = True

import netlink
from hostgen import Net, change
from kinds import NVIDIA_CLOSED
from twinrows import acs, addrs, dev_fail, dev_put, down, driver, fail, gone, half_config, link, lossless, lossy, net_of, net_put, pci_fail, pci_put, put, refuse, sysctl, unlisted, without
from twins import folders, make

ALARM = ("warning", "critical")
LIMITS = "Limit                     Soft Limit           Hard Limit           Units     \nMax locked memory         %s                %s                bytes     "
FEW = LIMITS % ("65536", "65536")
NVREG = "sys/module/nvidia/parameters/NVreg_EnableStreamMemOPs"
RECLAIM = "proc/sys/vm/zone_reclaim_mode"


def fn(dev, **values):
    return lambda m: m.fn(dev).__dict__.update(values)


def rdma(dev, **values):
    return lambda m: m.fn(dev).rdma[0].__dict__.update(values)


def port(dev, **values):
    return lambda m: m.fn(dev).rdma[0].ports[0].__dict__.update(values)


def net(name, **values):
    return lambda m: net_of(m, name).__dict__.update(values)


def bars(dev, *sizes):
    return lambda m: setattr(m.fn(dev), "kind", m.fn(dev).kind.but(bars=sizes))


def pcp(name):
    """No DSCP is mapped to a priority: mlx5 trusts the VLAN tag then."""
    def step(m):
        plain = m.dcb
        m.dcb = lambda nic: plain(nic) if nic.net.name != name else (
            plain(nic)[0].replace(netlink.applications({d: d >> 3 for d in range(64)}), netlink.applications({})), plain(nic)[1])
    return step


def pause(name):
    return lambda m: m.pauses.update({name: 1})


def updated(m):
    """Another version of the GPU driver, its modules too."""
    m.host.gpu_driver = m.host.gpu_driver.replace("570.124.06", "570.133.20")
    m.host.modules = [x.replace("570.124.06", "570.133.20") for x in m.host.modules]


def container(m):
    m.host.virtual.append(Net("veth5e1f", "02:00:5e:00:00:01", 10))



class Pair:
    def __init__(self, what, base, steps, first, compare=None, both=()):
        self.what, self.first, self.compare = what, first, compare
        self.base, self.steps, self.both = base, steps if isinstance(steps, list) else [steps], list(both)

    def made(self, after):
        row = type("Row", (), {"base": self.base, "steps": self.both + (self.steps if after else [])})
        return make(row)


PAIRS = [Pair(*row[:-1], **row[-1]) if isinstance(row[-1], dict) else Pair(*row) for row in (
    ("MTU of an interface", "hgx-b200", net("gpu0rdma0", mtu=1500), "link gpu0rdma0 mtu", {"compare": "gpu0rdma0 mtu.*1500.*9000"}),
    ("PFC is off", "hgx-b200", lossy("gpu1rdma0"), "setting gpu1rdma0 pfc_priorities", {"compare": "gpu1rdma0 pfc_priorities.*none.*: 3,"}),
    ("PFC on another priority", "hgx-b200", lossless(4, {}, "gpu2rdma0"), "setting gpu2rdma0 pfc_priorities"),
    ("trust PCP", "hgx-b200", pcp("gpu3rdma0"), "setting gpu3rdma0 trust", {"compare": "gpu3rdma0 trust.*pcp.*dscp"}),
    ("a DSCP on another priority", "hgx-b200", lossless(3, {26: 5}, "gpu4rdma0"), "setting gpu4rdma0 dscp_priorities"),
    ("pause frames on", "hgx-b200", pause("gpu5rdma0"), "setting gpu5rdma0 pause_rx"),
    ("a P_Key more", "dgx-h100", dev_put("mlx5_3", "ports/1/pkeys/1", "0x8001"), "setting mlx5_3/1 pkeys",
     {"compare": "mlx5_3/1 pkeys.*0x8001, 0xffff.*: 0xffff"}),
    ("a small BAR", "dgx-h100", bars("GPU2", 16 << 20, 256 << 20, 32 << 20), "device 0000:.* bar_sizes", {"compare": "bar_sizes.*262144 KiB"}),
    ("little locked memory", "dgx-h100", put("proc/2101/limits", FEW), "setting slurmd memlock_bytes", {"compare": "slurmd memlock_bytes.*65536.*unlimited"}),
    ("fatal PCIe errors", "dgx-h100", pci_put("mlx5_4", "aer_dev_fatal", "Undefined 3\nTOTAL_ERR_FATAL 3"), "counter 0000:4f:00.0 aer_fatal",
     {"compare": "0000:4f:00.0 aer_fatal"}),
    ("a module's parameter", "dgx-h100", put(NVREG, "1"), "setting nvidia NVreg_EnableStreamMemOPs",
     {"both": [put(NVREG, "0")], "compare": "NVreg_EnableStreamMemOPs"}),
    ("a sysctl", "dgx-h100", put(RECLAIM, "1"), "setting sysctl vm/zone_reclaim_mode",
     {"both": [put(RECLAIM, "0")], "compare": "sysctl vm/zone_reclaim_mode"}),
    ("rp_filter of all interfaces", "oci-h100", sysctl(rp_filter=1), "setting sysctl net/ipv4/conf/all/rp_filter"),
    ("firmware of one NIC", "dgx-h100", rdma("mlx5_5", firmware="28.39.1002"), "firmware mlx5_5 fw_ver", {"compare": "mlx5_5/1.*28.39.1002"}),
    ("an InfiniBand port is down", "dgx-h100", down("mlx5_0"), "link mlx5_0/1 state", {"compare": "mlx5_0/1.*DOWN"}),
    ("a RoCE port is down", "hgx-b200", down("mlx5_6"), "link mlx5_6/1 state"),
    ("no subnet manager", "dgx-h100", port("mlx5_9", state="INIT", sm_lid=0, lid=0), "link mlx5_9/1 state"),
    ("a NIC fell off the bus", "dgx-h100", gone("mlx5_10"), "device (0000:ce:00.0|ibp206s0|mlx5_10) present", {"compare": "0000:ce:00.0"}),
    ("a GPU fell off the bus", "dgx-h100", gone("GPU1"), "device 0000:43:00.0 present"),
    ("a NIC's link is narrow", "hgx-b200", link("mlx5_0", (5, 8)), "link 0000:.* current_link_width", {"compare": "current_link_width"}),
    ("ACS redirects", "dgx-h100", acs("mlx5_0"), "setting 0000:.* acs_control", {"compare": "acs_control"}),
    ("another kernel", "dgx-h100", put("proc/sys/kernel/osrelease", "6.8.0-71-generic"), "module kernel release", {"compare": "kernel release"}),
    ("another GPU driver", "dgx-h100", updated, "module nvidia driver", {"compare": "nvidia driver"}),
    ("the GPU driver is closed", "dgx-h100", driver(NVIDIA_CLOSED), "module nvidia (driver|open_modules)"),
    ("nvidia_peermem is not loaded", "dgx-h100", without("nvidia_peermem"), "module nvidia_peermem loaded", {"compare": "peer_memory"}),
    ("an interface is set down", "hgx-b200", [down("mlx5_2"), net("gpu2rdma0", up=False)], "link gpu2rdma0 admin_state"),
    ("an address is missing", "hgx-b200", addrs("gpu7rdma0"), "address gpu7rdma0 "),
    ("another gateway", "hgx-b200", net("enp90s0f1np1", gateway="10.10.3.254"), "route 0.0.0.0/0.* path"),
    ("another link layer", "dgx-h100", dev_put("mlx5_6", "ports/1/link_layer", "Ethernet"), "link mlx5_6/1 link_layer"),
    ("a port is slow", "dgx-h100", port("mlx5_11", rate=200), "link mlx5_11/1 rate"),
    ("relaxed ordering is off", "hgx-b200", fn("mlx5_1", relaxed=False), "setting 0000:.* relaxed_ordering", {"compare": "relaxed_ordering"}),
    ("small read requests", "hgx-b200", fn("mlx5_1", mrrs=128), "setting 0000:.* max_read_request_bytes"),
    ("a GPU without its driver", "dgx-h100", fn("GPU3", driver="vfio-pci"), "device 0000:.* driver"),
    ("IPoIB in connected mode", "dgx-h100", net_put("ibp24s0", "mode", "connected"), "link ibp24s0 mode"),
    ("another host", "dgx-h100", put("proc/sys/kernel/hostname", "dgx-h101"), "host host hostname", {"compare": ""}),
    ("the IOMMU translates", "h100-pure-ib", lambda m: setattr(m.host, "iommu", "DMA"), "setting kernel command line iommu", {"compare": "iommu_type"}),
    ("a NIC sleeps", "hgx-b200", pci_put("mlx5_4", "power_state", "D3cold"), "link 0000:.* power_state"),
    ("another node", "hgx-b200", pci_put("mlx5_5", "numa_node", "0"), "device 0000:.* numa_node"),
    # Nothing that matters differs.
    ("counters moved", "dgx-h100", [dev_put("mlx5_0", f"ports/1/counters/{name}", "7") for name in ("link_downed", "port_rcv_data", "symbol_error")], "",
     {"compare": ""}),
    ("a GPU idles", "dgx-h100", link("GPU0", (1, 16)), ""),
    ("a container's interface", "hgx-b200", container, "", {"compare": ""}),
    ("rebooted", "hgx-b200", put("proc/sys/kernel/random/boot_id", "b"), "", {"both": [put("proc/sys/kernel/random/boot_id", "a")]}),
    ("read without root: PCI configuration", "dgx-h100", half_config, "", {"compare": ""}),
    ("read without root: limits", "dgx-h100", fail("proc/2101/limits"), "", {"compare": ""}),
    ("read without root: a module's parameter", "dgx-h100", fail(NVREG), "", {"both": [put(NVREG, "0")]}),
    ("DCB not read", "hgx-b200", refuse("route", 78), "", {"compare": ""}),
    ("rtnetlink not read", "hgx-b200", refuse("route"), ""),
    ("P_Keys not read", "dgx-h100", [dev_fail("mlx5_0", f"ports/1/pkeys/{n}") for n in range(8)], "", {"compare": ""}),
    ("P_Keys in another order", "dgx-h100", [dev_put("mlx5_0", "ports/1/pkeys/0", "0x8001"), dev_put("mlx5_0", "ports/1/pkeys/1", "0xffff")], "",
     {"both": [dev_put("mlx5_0", "ports/1/pkeys/1", "0x8001")], "compare": ""}),
    ("RDMA devices not listed", "dgx-h100", unlisted("sys/class/infiniband"), ""),
    ("base addresses not read", "dgx-h100", pci_fail("GPU0", "resource"), "", {"compare": ""}),
    ("no process that starts jobs", "dgx-h100", put("proc/2101/comm", "bash"), "", {"compare": ""}),
)]


def ask(rdmadiag, *args):
    out = subprocess.run([rdmadiag, *args], capture_output=True, text=True, check=False)
    try:
        return json.loads(out.stdout), out.returncode
    except ValueError:
        return None, f"{out.returncode} {out.stderr}"


def of_diff(rdmadiag, root, pair):
    document, status = ask(rdmadiag, "diff", f"{root}/a", f"{root}/b", "--json")
    if document is None:
        return f"diff: exit {status}"
    told = [f"{c['area']} {c['subject']} {c['field']}: {c['before']} -> {c['after']}" for c in document["changes"]]
    if not pair.first:
        return "" if status == 0 else f"diff: exit {status}: {'; '.join(told[:3])}"
    wanted = 0 if pair.first.startswith("counter ") else 1
    return "" if status == wanted and told and re.match(pair.first, told[0]) else f"diff: exit {status}: {'; '.join(told[:3])}"


def of_compare(rdmadiag, root, pair):
    document, status = ask(rdmadiag, "--from", f"{root}/a", "nic-map", "--compare", f"{root}/c", f"{root}/b", "--json")
    if document is None:
        return f"nic-map --compare: exit {status}"
    told = [f"{f['subject']}: {f['observed']}; expected: {f['expected']}" for f in document["findings"] if f["severity"] in ALARM]
    right = any(re.search(pair.compare, text) for text in told) if pair.compare else not told
    return "" if right else f"nic-map --compare: exit {status}: {'; '.join(told[:3])}"


def write(root, name, made, hostname=None, old=None):
    """The files; `old`: those that are there, of which only what differs is written."""
    if hostname:
        put("proc/sys/kernel/hostname", hostname)(made)
    files = made.bundle()
    change(f"{root}/{name}", old or {}, files)
    folders(f"{root}/{name}", made)
    return files


def run(rdmadiag, work, pairs):
    bad, kept, files = 0, None, {}
    print(f"1..{len(pairs)}")
    for n, pair in enumerate(sorted(pairs, key=lambda p: (p.base, p.both != [])), 1):
        if kept != pair.base or pair.both:
            shutil.rmtree(work, ignore_errors=True)
            write(work, "a", pair.made(False))
            write(work, "c", pair.made(False), "third")
            kept, files = None if pair.both else pair.base, {}
        files = write(work, "b", pair.made(True), None, files)
        wrong = [of_diff(rdmadiag, work, pair)] + ([of_compare(rdmadiag, work, pair)] if pair.compare is not None else [])
        wrong = [text for text in wrong if text]
        bad += bool(wrong)
        print(f"{'not ' if wrong else ''}ok {n} - {pair.base}: {pair.what}", flush=True)
        for text in wrong:
            print(f"# {text}")
    shutil.rmtree(work)
    return bad > 0


def main(args):
    if len(args) < 2:
        sys.exit(__doc__)
    if args[0] == "--lay":
        for name, after in (("a", False), ("b", True)):
            write(args[2], name, PAIRS[int(args[1]) - 1].made(after))
        return 0
    return run(os.path.abspath(args[0]), args[1], [p for p in PAIRS if not args[2:] or args[2] in p.what])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
