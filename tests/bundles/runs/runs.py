#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs that somebody published, and what nic-map --against says of them.

  runs.py RDMADIAG WORK-FOLDER [NAME...]   each log against the host that it goes with, and round trips; speaks TAP
  runs.py --table                          RUNS.md on standard output
  runs.py --lay NAME FOLDER                lays the host of one run out, to look at it by hand

A log has the lines of its thread that say something, names of hosts and addresses replaced. Its host is one of those that were
made after other public descriptions (tests/bundles/silent), or, where there is none, made here of what the log itself says:
devices, PCI addresses of GPUs; which NIC is next to which GPU is then taken from the channels, and marked so. Expected are the
rows that differ, the exit status, and rows that must be there. Whether GPUDirect can be used is judged by other tests: rows about
it may agree or not, and raise the status to 1 at most."""
import glob, json, os, shutil, subprocess, sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "silent"))

from hostgen import Host, Link, render
from hosts import build
from kinds import *  # all that hosts are made of

TOPOLOGIES = os.path.join(HERE, "../../../../shared/data/nccl-topo-xml")
ROUND_TRIPS = ("dgx-h100", "dgx-a100", "hgx-b200", "azure-nd-h100-v5", "aws-p5", "gb200", "mi300x-thor2")
RUNS = {}


def run(name, thread, version, shows, status, differs=(), rows=(), said=None, silent=None, hostname=None):
    """differs: "topic subject" of each row that must differ. rows: "topic subject verdict" that must be there. said: text on
    standard error or in a finding. silent: the host is that one of tests/bundles/silent."""
    def add(make):
        RUNS[name] = {"thread": thread, "version": version, "shows": shows, "status": status, "differs": set(differs), "rows": set(rows),
                      "said": said, "silent": silent, "hostname": hostname, "make": make, "from": make.__doc__ if not silent else None}
        return make
    return add


def buses(used):
    """Bus numbers that nobody has, for bridges."""
    return (bus for bus in range(0x02, 0xFF) if bus not in used)


def made(name, *groups, peermem=True):
    """A group: node, buses of GPUs, NICs below the same switch: (device, bus, layer, Gb/s[, "down"]). Below no switch where the
    group is one function."""
    host = Host(name, SPR, cores(96, 2), modules(peermem=peermem), gpu_driver=NVIDIA_OPEN)
    taken = {bus for _, gpus, nics in groups for bus in list(gpus) + [nic[1] for nic in nics]}
    free = buses(taken)
    for n, (numa, gpus, nics) in enumerate(groups):
        one = len(gpus) + len({nic[1] for nic in nics}) == 1
        root = 0x00 if numa == 0 else 0x80
        first = (list(gpus) + [nic[1] for nic in nics])[0]
        slot = host.slot(INTEL5, numa, root, first if one else next(free), 1 + n % 30)
        if one:
            place = {first: slot}
        else:
            up = host.switch(PEX5, slot, slot.buses[1])
            up.buses = (up.buses[0], next(free), up.buses[2])
            place = {bus: host.down(up, bus) for bus in list(gpus) + sorted({nic[1] for nic in nics})}
        for bus in gpus:
            host.gpu(place[bus], H100)
        for k, nic in enumerate(nics):
            add_nic(host, place[nic[1]], k, nics, *nic)
    return host


def add_nic(host, up, k, nics, dev, bus, layer, rate, state="up"):
    fn = sum(1 for other in nics[:k] if other[1] == bus)
    if layer == "IB":
        ib(host, up, CX7, dev, f"ib{number(host)}", rate, fn=fn, cabled=state == "up")
    else:
        roce(host, up, CX7, dev, f"eth{number(host)}", rate, (f"10.{number(host)}.0.5/24",), fn=fn, cabled=state == "up")


def numbered(count, layer, gpus=True, rate=400, name="mlx5_%d"):
    """So many switches with a NIC each and, where wanted, a GPU."""
    return [(2 * i // count, [0x20 + 8 * i] if gpus else [], [(name % i, 0x22 + 8 * i, layer, rate)]) for i in range(count)]


@run("h100-roce-8nic", "devopsrustem/slurmv4, folder 3 (log of a decode node)", "2.27.5",
     "NCCL_IB_HCA without = is a prefix; a plugin that was loaded and left; channels of eight GPUs", 0,
     rows=[f"nic GPU{i} same" for i in range(8)] + ["network NCCL same", "device mlx5_11/1 same", "order 8 devices same", "gpu 8 GPUs same"])
def h100_roce_8nic():
    """GPU addresses from the log; NIC addresses of mlx5_0, mlx5_2, mlx5_5 from pciPath of its neighbour's log, others filled in one bus further than
    the GPU; mlx5_3, mlx5_4 and mlx5_10 filled in, not for computing"""
    pairs = ((0x18, "mlx5_0", 0x19), (0x2A, "mlx5_1", 0x2B), (0x3A, "mlx5_2", 0x3B), (0x5D, "mlx5_5", 0x5C),
             (0x9A, "mlx5_6", 0x9B), (0xAB, "mlx5_7", 0xAC), (0xBA, "mlx5_8", 0xBB), (0xDB, "mlx5_11", 0xDC))
    groups = [(i // 4, [gpu], [(dev, nic, "RoCE", 400)]) for i, (gpu, dev, nic) in enumerate(pairs)]
    return made("node-8", *groups, (0, [], [("mlx5_3", 0x4F, "RoCE", 25), ("mlx5_4", 0x4F, "RoCE", 25)]), (1, [], [("mlx5_10", 0xCF, "RoCE", 200, "down")]))


@run("v100-nccl-2.5", "Mellanox/nv_peer_memory#56", "2.5.6", "lines of two hosts: those of this one are taken", 0,
     rows=["network NCCL same", "device mlx5_0/1 same"])
def v100_nccl_2_5():
    """one NIC, four GPUs on two sockets; addresses filled in"""
    return made("master_node", (0, [0x18], []), (0, [0x1A], []), (1, [0x86], []), (1, [0x88], []), (0, [], [("mlx5_0", 0x3B, "IB", 100)]))


@run("horovod-nccl-2.4", "horovod/horovod#1523", "2.4.7", "the name of the network is not logged yet", 0, rows=["network NCCL same", "device mlx5_0/1 same"])
def horovod():
    """as v100-nccl-2.5: the same reporter"""
    return v100_nccl_2_5()


@run("a100-p2p-loc", "NVIDIA/nccl#707", "2.7.6", "mixed InfiniBand and RoCE; NCCL_P2P_LEVEL=LOC sends traffic inside the host over NICs, which then are not a GPU's own",
     0, rows=["network NCCL same", "device mlx5_16/1 same", "nic GPU2 same", "nic GPU0 unknown", "nic GPU1 unknown", "nic GPU3 unknown"])
def a100_p2p_loc():
    """GPU addresses from the log; one switch a GPU with a NIC beside it, and the third NIC beside GPU2 because the log has it there; all else filled in"""
    return made("node-152", (1, [0x87], [("mlx5_8", 0x84, "IB", 200)]), (1, [0x8D], [("mlx5_9", 0x8B, "IB", 200)]),
                (1, [0xC7], [("mlx5_10", 0xC4, "IB", 200)]), (1, [0xCA], [("mlx5_11", 0xCC, "IB", 200)]),
                (0, [], [("mlx5_12", 0xD1, "IB", 200)]), (0, [], [("mlx5_14", 0xD3, "IB", 200)]), (0, [], [("mlx5_15", 0xD5, "IB", 200)]),
                (0, [], [("mlx5_16", 0xE1, "RoCE", 100)]), (0, [], [("mlx5_17", 0xE3, "RoCE", 100)]))


@run("container-no-module", "NVIDIA/nccl#899", "-", "two containers in one log and neither is called as this host: the error names both", 3,
     said="6a5a91752e39, 21346d5cefce", hostname="gpu-1")
def container_no_module():
    """four NICs and a GPU at the address of the log"""
    return made("gpu-1", (0, [0x1A], [("mlx5_0", 0x1B, "IB", 200)]), *[(1, [], [(f"mlx5_{i}", 0x80 + 0x10 * i, "IB", 200)]) for i in (1, 2, 3)], peermem=False)


@run("container-no-module@21346d5cefce", "NVIDIA/nccl#899", "-", "the same log, of one of its hosts: (no module), and channels without GDRDMA", 0,
     rows=["nic GPU0 same", "device mlx5_3/1 same", "network NCCL same"])
def container_no_module_here():
    """as above, and called as the container; which NIC is next to the GPU is from the channels"""
    host = container_no_module()
    host.name = "21346d5cefce"
    return host


@run("h100-gdr-disabled", "NVIDIA/nccl#1537", "-", "GPU Direct RDMA Disabled for HCA", 0, rows=["network NCCL same", "gpu 1 GPU same", "device mlx5_1/1 same"])
def h100_gdr_disabled():
    """GPU address from the log; both NICs beside it; nvidia_peermem is not in memory here"""
    return made("hostname1", (0, [0x1C], [("mlx5_0", 0x1D, "RoCE", 400)]), (1, [], [("mlx5_1", 0x9D, "RoCE", 400)]), peermem=False)


@run("h100-two-of-twelve", "NVIDIA/nccl-tests#185", "2.19.3", "the list has two of twelve devices, and the log does not show why", 1,
     differs=[f"device mlx5_{i}/1" for i in range(10)], rows=["device mlx5_10/1 same", "network NCCL same"], said="NCCL_IB_HCA was set but not logged")
def h100_two_of_twelve():
    """a DGX H100's number of devices, all active; filled in but for the names of the two in the log"""
    return made("node-4", *numbered(12, "RoCE"))


@run("merged-by-plugin", "NVIDIA/nccl-tests#373", "-", "{[0] mlx5_2:1/RoCE, [1] mlx5_3:1/RoCE} is one NIC; a plugin takes it although NCCL_IB_DISABLE=1", 0,
     rows=["network NCCL same", "device mlx5_3/1 same", "gpu 1 GPU same", "nic GPU0 same"])
def merged_by_plugin():
    """GPU address from the log; two cards of two ports, that of mlx5_0 and mlx5_1 beside the GPU as the channels say"""
    return made("node-1", (0, [0x31], [("mlx5_0", 0x33, "RoCE", 100), ("mlx5_1", 0x33, "RoCE", 100)]), (1, [], [("mlx5_2", 0xB1, "RoCE", 100), ("mlx5_3", 0xB1, "RoCE", 100)]))


@run("rccl-reversed", "ROCm/rccl#419", "-", "devices listed from the last to the first", 0, rows=["device mlx5_0/1 same", "order 4 devices unknown", "network NCCL same"])
def rccl_reversed():
    """four NICs in the order of their names"""
    return made("node-9", *numbered(4, "IB", rate=200))


@run("dgx-a100-socket", "NVIDIA/nccl#676", "2.11.4", "NCCL_NET=Socket, set on purpose and not logged by this version", 2,
     differs=["network NCCL"], rows=["gpu 1 GPU same"], said="TCP sockets", silent="dgx-a100", hostname="gpu01")
def dgx_a100_socket():
    return build("dgx-a100")


@run("nccl-2.3", "NVIDIA/nccl#147", "2.3.5", "a line for each device, and \"Using internal Network\"", 0, rows=["network NCCL same", "device mlx5_0/1 same", "order 4 devices unknown"])
def nccl_2_3():
    """four NICs in the order of their names"""
    return made("node-62", *numbered(4, "IB", rate=100))


@run("dgx-a100-no-device", "NVIDIA/nccl#952", "-", "NET/IB : No device found, as the title has it; GPU addresses are those of a DGX A100", 2,
     differs=["network NCCL"], rows=["gpu 4 GPUs same"], said="/dev/infiniband", silent="dgx-a100")
def dgx_a100_no_device():
    return build("dgx-a100")


@run("vm-bonds-plugin", "deepseek-ai/DeepEP#106", "-", "bonds by a plugin, a NIC a GPU with GPUDirect", 0,
     rows=[f"nic GPU{i} same" for i in range(8)] + ["network NCCL same", "order 8 devices same"])
def vm_bonds_plugin():
    """eight switches with a GPU and a NIC; that NIC i is next to GPU i is from the channels"""
    return made("VM-17-82-centos", *numbered(8, "RoCE", rate=200, name="mlx5_bond_%d"))


@run("a800-one-of-many", "NVIDIA/nccl-tests#133", "2.10.3", "one NIC for eight GPUs; a ring leaves the host by a GPU that is not next to it", 0,
     rows=["network NCCL same", "device mlx5_6/1 same"])
def a800_one_of_many():
    """GPU addresses of the log's channels; the only NIC beside the GPU that receives"""
    return made("nodeb", (0, [0x20], []), (0, [0x26], []), (1, [0x8D], [("mlx5_6", 0x8B, "RoCE", 100)]), (1, [0x92], []))


@run("ec2-many-hosts", "NVIDIA/nccl#226", "-", "many hosts and none is this one", 3, said="of 5 hosts (ip-172-31-12-21")
def ec2_many_hosts():
    """one NIC"""
    return made("gpu-1", (0, [0x20], [("mlx5_0", 0x22, "IB", 100)]))


@run("efa-libfabric", "NVIDIA/nccl#1597", "-", "EFA by way of aws-ofi-nccl", 0, rows=["network NCCL same"], silent="aws-p5", hostname="8h200-2")
def efa_libfabric():
    return build("aws-p5")


@run("efa-2019", "aws/aws-ofi-nccl#24", "-", "mpirun's tags in front; channels over AWS Libfabric name no NIC", 0, rows=["network NCCL same"], silent="aws-p5", hostname="ip-172-32-38-1")
def efa_2019():
    return build("aws-p5")


@run("ucx-four-nics", "parthenon-hpc-lab/parthenon#1260", "UCX", "UCX names four NICs between hosts; lanes inside the host are not of interest", 0,
     rows=[f"UCX mlx5_{i}/1 same" for i in range(4)])
def ucx_four_nics():
    """four NICs, four GPUs"""
    return made("node-31", *numbered(4, "IB", rate=200))


@run("ucx-tcp", "openucx/ucx#9560", "UCX", "UCX took TCP over IPoIB on a host with InfiniBand", 2, differs=["UCX ib1", "UCX ib0"], said="no RDMA device")
def ucx_tcp():
    """two InfiniBand ports"""
    return made("node-1", *numbered(2, "IB", rate=100))


@run("mooncake-gid", "kvcache-ai/Mooncake#936", "Mooncake", "GID index 3 on each device", 0, rows=["Mooncake mlx5_9 same", "gid mlx5_9 same", "gid mlx5_3 same"])
def mooncake_gid():
    """ten RoCE devices with an IPv4 address, whose RoCE v2 GID is at index 3"""
    return made("node-1", *numbered(10, "RoCE", rate=200))


@run("mooncake-four", "sgl-project/sglang#17392", "Mooncake", "which ports were available", 0, rows=[f"Mooncake mlx5_{i} same" for i in (2, 3, 4, 5)])
def mooncake_four():
    """eight devices"""
    return made("node-1", *numbered(8, "IB"))


@run("a100-merge-vfs-0", "NVIDIA/nccl-tests#182", "2.19.3", "NCCL_IB_HCA and NCCL_IB_MERGE_VFS set", 0,
     rows=["device mlx5_0/1 same", "device mlx5_1/1 same", "network NCCL same"])
def a100_merge_vfs_0():
    """two NICs, of which NCCL_IB_HCA takes one; two PCI Express GPUs"""
    return made("testgpu2", (0, [0x03], [("mlx5_0", 0x41, "IB", 200)]), (1, [0x83], [("mlx5_1", 0xC1, "IB", 200)]))


@run("h800-one-hca", "NVIDIA/nccl#1052", "2.18.5", "NCCL_IB_HCA=mlx5_4 of nine", 0, rows=["device mlx5_4/1 same", "device mlx5_0/1 same", "network NCCL same"])
def h800_one_hca():
    """nine NICs"""
    return made("node4", *numbered(9, "RoCE"))


@run("h100-4nic-plugin", "NVIDIA/nccl#1737", "2.21.5", "a plugin's list with /SHARP, cut off where it was copied from, on the host whose topology the thread has", 0,
     rows=["device mlx5_0/1 same", "device mlx5_5/1 same", "device mlx5_2/1 unknown", "device mlx5_3/1 unknown", "order 4 devices same"],
     silent="h100-4nic", hostname="gh-3714u06")
def h100_4nic_plugin():
    return build("h100-4nic")


@run("server-nvml-numbers", "NVIDIA/nccl#1358", "-", "CUDA_VISIBLE_DEVICES: cudaDev 0 is nvmlDev 3; busId tells which GPU it is", 0,
     rows=["gpu 2 GPUs same", "device mlx5_5/1 same", "network NCCL same"])
def server_nvml_numbers():
    """GPU addresses from the log, others filled in; mlx5_1 and mlx5_2 are down"""
    return made("server1", (0, [0x18], [("mlx5_0", 0x21, "RoCE", 400)]), (0, [0x2A], []), (0, [0x3A], []), (0, [0x44], [("mlx5_3", 0x45, "RoCE", 400)]),
                (1, [0x87], [("mlx5_4", 0x88, "RoCE", 400)]), (1, [0xA1], [("mlx5_5", 0xA2, "RoCE", 400)]),
                (0, [], [("mlx5_1", 0x50, "RoCE", 25, "down"), ("mlx5_2", 0x50, "RoCE", 25, "down")]))


@run("h100-sharp-plugin", "NVIDIA/nccl#1357", "-", "four of six NICs by a plugin, on a host of the same devices", 1, differs=["device mlx5_2/1", "device mlx5_3/1"],
     rows=["network NCCL same", "device mlx5_4/1 same"], silent="h100-4nic", hostname="node-19")
def h100_sharp_plugin():
    return build("h100-4nic")


@run("a100-nccl-2.22", "NVIDIA/nccl-tests#231", "2.22.3", "version and devices, nothing else", 0, rows=["order 8 devices same", "device mlx5_7/1 same"])
def a100_nccl_2_22():
    """eight NICs in the order of their names"""
    return made("puente", *numbered(8, "IB", rate=200))


@run("no-hostname", "tensorflow/tensorflow#34375", "2.4.7", "lines without a host, ranks without GPUs' addresses; no list of devices", 0, rows=["network NCCL same", "nic channels unknown"])
def no_hostname():
    """one GPU, one NIC"""
    return made("node-1", (0, [0x18], []), (0, [], [("mlx5_0", 0x3B, "RoCE", 25)]))


@run("azure-h100-vm", "AlizeeChen11/azurehpc-health-checks customTests/debugging-test-failure.md", "-",
     "devices before a service renames them: mlx5_1 is the Ethernet one, which is mlx5_8 behind it", 1, differs=["link mlx5_1/1", "link mlx5_8/1"],
     rows=["device mlx5_0/1 same", "network NCCL same"], said="another device has this name now", silent="azure-nd-h100-v5", hostname="node-1")
def azure_h100_vm():
    return build("azure-nd-h100-v5")


@run("p40-no-host-prefix", "NVIDIA/nccl#392", "2.5.7", "no host in front; Ring instead of Channel; GPUs by address", 0,
     rows=["network NCCL same", "device mlx5_0/1 same", "nic GPU0 same"])
def p40_no_host_prefix():
    """GPU addresses from the log; the only NIC"""
    return made("node-1", (0, [0x1B], []), (0, [0x1C], []), (0, [0x41], []), (0, [], [("mlx5_0", 0x5E, "RoCE", 25)]))


@run("pod-table-frame", "NVIDIA/nccl#719", "-", "a terminal's frame around each line; channels that name a NIC by number only", 0, rows=["network NCCL same", "nic channels unknown"])
def pod_table_frame():
    """GPU addresses from the log, two NICs"""
    return made("task-1", (1, [0xCB], []), (1, [0xD0], []), (0, [], [("mlx5_0", 0x5E, "IB", 200)]), (1, [], [("mlx5_1", 0xDE, "IB", 200)]))


@run("kvm-fastsocket", "NVIDIA/nccl#1519", "2.20.5", "a plugin for sockets: interfaces are no RDMA devices", 3, said="can be compared", silent="kvm-h100", hostname="node-1")
def kvm_fastsocket():
    return build("kvm-h100")


def lay(root, files):
    for name, data in files.items():
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if isinstance(data, Link):
            os.symlink(data, path)
        elif data is not None:
            with open(path, "wb") as f:
                f.write(data if isinstance(data, bytes) else data.encode())


def ask(rdmadiag, *args):
    out = subprocess.run([rdmadiag, *args], capture_output=True, text=True, check=False)
    try:
        return json.loads(out.stdout), out.returncode, out.stdout + out.stderr
    except ValueError:
        return None, out.returncode, out.stdout + out.stderr


def log_of(name):
    return os.path.join(HERE, name.split("@")[0] + ".log")


def host_of(name):
    host = RUNS[name]["make"]()
    host.name = RUNS[name]["hostname"] or host.name
    return host


def faults(name, rdmadiag, root):
    """What is not as expected."""
    case = RUNS[name]
    lay(root, render(host_of(name)))
    document, status, text = ask(rdmadiag, "--from", root, "nic-map", "--json", "--against", log_of(name))
    rows = (document or {}).get("against", [])
    differs = {f"{r['topic']} {r['subject']}" for r in rows if r["verdict"] == "differs" and r["topic"] != "gpudirect"}
    gdr = any(r["verdict"] == "differs" and r["topic"] == "gpudirect" for r in rows)
    found = {f"{r['topic']} {r['subject']} {r['verdict']}" for r in rows}
    bad = []
    if status != case["status"] and not (gdr and case["status"] == 0 and status == 1):
        bad.append(f"exit status {status} instead of {case['status']}")
    bad += [f"differs: {x}" for x in sorted(differs - case["differs"])] + [f"does not differ: {x}" for x in sorted(case["differs"] - differs)]
    bad += [f"missing: {x}" for x in sorted(case["rows"] - found)]
    if case["said"] and case["said"] not in text:
        bad.append(f"not said: {case['said']}")
    if document is None:
        bad.append("no document")
    _, plain, text = ask(rdmadiag, "--from", root, "nic-map", "--against", log_of(name))
    if plain != status:
        bad.append(f"exit status {plain} without --json, {status} with it")
    return bad


def differing(document):
    return [f"{r['topic']} {r['subject']}: {r['predicted']} / {r['observed']}" for r in document["against"] if r["verdict"] == "differs"]


def trip(rdmadiag, origin, folder):
    """The topology that rdmadiag writes of `origin` agrees with it, read back and not."""
    path = os.path.join(folder, "topology.xml")
    out = subprocess.run([rdmadiag, "--from", origin, "nic-map", "--nccl-xml"], capture_output=True, check=False)
    if out.returncode != 0:
        return ["--nccl-xml failed: " + out.stderr.decode()]
    with open(path, "wb") as f:
        f.write(out.stdout)
    bad = []
    for source in (origin, path):
        document, status, text = ask(rdmadiag, "--from", source, "nic-map", "--json", "--against", path)
        if status != 0 or not document or document["same"] == 0:
            bad += [f"exit status {status} of {source}"] + (differing(document) if document else [text])
    return bad


def report(number, what, bad):
    print(f"{'not ok' if bad else 'ok'} {number} - {what}")
    for line in bad:
        print(f"# {line}")
    return not bad


def main(rdmadiag, work, names):
    os.makedirs(work, exist_ok=True)
    good, n = True, 0
    for name in names or RUNS:
        n += 1
        root = os.path.join(work, "host")
        shutil.rmtree(root, ignore_errors=True)
        good &= report(n, f"{name}: {RUNS[name]['shows']}", faults(name, rdmadiag, root))
    origins = [] if names else [(name, build(name)) for name in ROUND_TRIPS]
    for name, host in origins:
        n += 1
        root = os.path.join(work, "host")
        shutil.rmtree(root, ignore_errors=True)
        lay(root, render(host))
        good &= report(n, f"the topology of {name} comes back", trip(rdmadiag, root, work))
    files = [] if names else sorted(glob.glob(TOPOLOGIES + "/*.xml"))
    for path in files:
        n += 1
        document, status, text = ask(rdmadiag, "--from", path, "nic-map", "--json", "--against", path)
        bad = [] if status == 0 else [text]
        good &= report(n, f"{os.path.basename(path)} agrees with itself, and comes back", bad + trip(rdmadiag, path, work))
    if not files and not names:
        n += 1
        print(f"ok {n} - public topology files # SKIP ../shared/data is not here")
    print(f"1..{n}")
    shutil.rmtree(work, ignore_errors=True)
    return 0 if good else 1


def expected(case):
    words = {0: "agrees", 1: "warns", 2: "critical", 3: "cannot be compared"}[case["status"]]
    differs = sorted(case["differs"])
    return words + (": " + ", ".join(differs[:3]) + (f" and {len(differs) - 3} more" if len(differs) > 3 else "") if differs else "")


def table():
    print("# Published runs\n\nMade by `runs.py --table`. Each `.log` has the lines of its thread that say which NICs a run took; names of hosts and")
    print("addresses are replaced. Where the last column but one says *made here*, the host is made of what the log says, and of what stands")
    print("there; else it is one of [the healthy hosts](../silent/HOSTS.md), which were made after other public descriptions.\n")
    print("| log | thread | version | shows | host | expected |\n| --- | --- | --- | --- | --- | --- |")
    for name, case in RUNS.items():
        host = case["silent"] or "made here: " + " ".join(case["from"].split())
        print(f"| {name} | {case['thread']} | {case['version']} | {case['shows'].replace('|', '/')} | {host} | {expected(case)} |")
    print("\n## Topology files\n\nRead where they lie, where they do: Azure/azhpc-images `topology/` (azure-ndv4, azure-ncv4), aws/aws-ofi-nccl (aws-p4d-24xl),")
    print("oracle-quickstart/oci-hpc (oci-topo-flattened), ROCm/rccl `tools/topo_expl/models` (topo_3p_pcie, topo_4p1h, topo_4p2h_2nic, topo_8p1h,")
    print("topo_8p6l_1nic). Each agrees with itself, and with what `--nccl-xml` writes of it. The same of hosts: " + ", ".join(ROUND_TRIPS) + ".")
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--table"]:
        sys.exit(table())
    if sys.argv[1:2] == ["--lay"]:
        lay(sys.argv[3], render(host_of(sys.argv[2])))
        sys.exit(0)
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
