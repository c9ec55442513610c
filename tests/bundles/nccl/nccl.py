#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts on which NCCL's rules matter that most hosts never meet, and what they come to there.

  nccl.py RDMADIAG WORK-FOLDER    the prediction must be what the rules come to; speaks TAP
  nccl.py --table                 TREES.md on standard output

None of them was recorded: each is made from a public description, which `source` names; `filled` says what is made up. What is
expected was worked out from NCCL's rules (tests/rules/NCCL.md) by hand. WORK-FOLDER is made, and removed at the end."""
import json, os, shutil, subprocess, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "silent"))

from hostgen import Host, lay, render
from hosts import HOSTS, build
from kinds import *  # all that hosts are made of

TREES = {}


def tree(name, source, filled, nets, gpus, gdr):
    """nets: NICs as NCCL sees them. gpus: of each accelerator the NICs it gets, and the path to the first. gdr: pairs
    "GPU NIC" with GPUDirect, yes, no or unknown."""
    def add(make):
        make.title, make.source, make.filled = make.__doc__, source, filled
        make.nets, make.gpus, make.gdr = nets.split(), gpus, gdr
        TREES[name] = make
        return make
    return add


@tree("pf-and-vf", "NVIDIA/nccl#1422: a container sees the physical function of a card and virtual ones; NCCL takes them for ports of one NIC, and "
      "NCCL_IB_MERGE_NICS=0 is the way out", "one card beside each of two GPUs, two virtual functions each, the device number of the last is 1",
      "mlx5_0+mlx5_1+mlx5_2 mlx5_3+mlx5_4+mlx5_5", [("mlx5_0 mlx5_1 mlx5_2", "PIX"), ("mlx5_3 mlx5_4 mlx5_5", "PIX")],
      {"0 mlx5_0": "yes", "0 mlx5_2": "yes", "0 mlx5_3": "no"})
def pf_and_vf():
    """Physical and virtual functions of each card, all active: one NIC for NCCL"""
    h = Host("pf-and-vf", SPR, cores(64, 2), modules(), gpu_driver=NVIDIA_OPEN)
    for n, base in enumerate((0x15, 0x97)):
        nic, gpu = leaf(h, INTEL5, n, base, PEX5, (base + 3, base + 4))
        pf = roce(h, nic, CX7, f"mlx5_{3 * n}", f"eth{3 * n}", 400, (f"10.1.{n}.5/24",))
        h.gpu(gpu, H100)
        for k, fn in enumerate(("00.2", "01.1")):
            vf = roce(h, nic, CX7_VF, f"mlx5_{3 * n + 1 + k}", f"eth{3 * n + 1 + k}", 400, (f"10.1.{n}.{6 + k}/24",), fn=int(fn[-1]))
            vf.addr, vf.physfn = f"0000:{base + 3:02x}:{fn}", pf
    return h


@tree("cloud-hypervisor", "Mellanox/nccl-rdma-sharp-plugins#145: in a guest of cloud-hypervisor virtual functions are endpoints of the root complex, and "
      "merging takes all of them for parts of the host bridge; NCCL_IB_MERGE_VFS=0 is the way out", "two GPUs and four NICs on bus 0, their numbers",
      "mlx5_0+mlx5_1+mlx5_2+mlx5_3", [("mlx5_0 mlx5_1 mlx5_2 mlx5_3", "PHB"), ("mlx5_0 mlx5_1 mlx5_2 mlx5_3", "PHB")],
      {"0 mlx5_0": "no", "1 mlx5_3": "no"})
def cloud_hypervisor():
    """A guest without bridges: all NICs stand on bus 0, with the host bridge at 00:00.0"""
    h = Host("cloud-hypervisor", SPR_GUEST, cores(32, 1, False), modules(), gpu_driver=NVIDIA_OPEN, dmi=("Cloud Hypervisor", "cloud-hypervisor"))
    h.endpoint(None, INTEL5.but(cls=0x060000, driver=None), 0, root=(0, 0), numa=0)
    for n in range(2):
        h.gpu(None, H100, 0, root=(0, 4 + n), numa=0)
    for n in range(4):
        ib(h, None, CX7_VF, f"mlx5_{n}", f"ib{n}", bus=(0, 8 + n), numa=0, net_up=False)
    return h


@tree("gb200", HOSTS["gb200"].source, HOSTS["gb200"].filled, "mlx5_0 mlx5_1 mlx5_2+mlx5_3 mlx5_4 mlx5_5 mlx5_6+mlx5_7",
      [("mlx5_0 mlx5_1", "P2C"), ("mlx5_1 mlx5_2 mlx5_3", "P2C"), ("mlx5_4 mlx5_5", "P2C"), ("mlx5_5 mlx5_6 mlx5_7", "P2C")],
      {"0 mlx5_0": "yes", "0 mlx5_4": "no"})
def gb200():
    """GB200: NICs on the processor, accelerators behind C2C"""
    return build("gb200")


@tree("gb300-data-direct", "linux-rdma/rdma-core#1725 and its manual page rdma_topo(1): on a Direct NIC platform the DMA function of a ConnectX-8 stands "
      "with a GPU below one switch, while the NIC itself stands on the processor; NVIDIA/nccl 2.30.7, net_ib/init.cc: the device is mlx5_0_dma then",
      "two GPUs and two NICs, buses, that the switch is of the card", "mlx5_0_dma mlx5_1_dma", [("mlx5_0", "PIX"), ("mlx5_1", "PIX")],
      {"0 mlx5_0": "yes", "0 mlx5_1": "no"})
def gb300_data_direct():
    """GB300: the NIC on the processor, its data direct function on the accelerator's switch"""
    h = Host("gb300", GRACE, cores(72, 1), modules(), gpu_driver=NVIDIA_OPEN.replace("x86_64", "aarch64"), dmi=("NVIDIA", "GB300"))
    for n, (nic, gpu) in enumerate(((0x00, 0x08), (0x02, 0x09))):
        ib(h, h.slot(GRACE5, 0, 0, 1, 0, nic), CX7.but(ids=(0x15B3, 0x1023, 0x15B3, 0x0041)), f"mlx5_{n}", f"ib{n}", net_up=False)
        up = h.switch(CX7_SWITCH, h.slot(GRACE5, 0, 0, 1, 0, gpu), 1)
        h.gpu(h.down(up, 3), GB200.but(model="NVIDIA GB300", ids=(0x10DE, 0x31C2, 0x10DE, 0x0000)))
        direct = h.endpoint(h.down(up, 4), CX7.but(ids=(0x15B3, 0x2100, 0x15B3, 0x0041), cls=0x080100, driver="mlx5_data_direct"))
        h.more[f"verbs/mlx5_{n}"] = f"max_qp=131072\ndata_direct=/devices/{direct.path()}\n"
    return h


@tree("h100-4nic-nvswitch", "NVIDIA/nccl#1737: eight H100 on NVSwitches (NV18), a NIC below every other one's switch",
      "as h100-4nic of the healthy hosts; the NVSwitches' place", "mlx5_0 mlx5_1 mlx5_2+mlx5_3 mlx5_4 mlx5_5",
      [("mlx5_0", "PIX"), ("mlx5_0 mlx5_1 mlx5_4 mlx5_5", "PXN"), ("mlx5_1", "PIX"), ("mlx5_0 mlx5_1 mlx5_4 mlx5_5", "PXN"),
       ("mlx5_4", "PIX"), ("mlx5_0 mlx5_1 mlx5_4 mlx5_5", "PXN"), ("mlx5_5", "PIX"), ("mlx5_0 mlx5_1 mlx5_4 mlx5_5", "PXN")],
      {"0 mlx5_0": "yes", "1 mlx5_0": "yes", "1 mlx5_2": "no"})
def h100_4nic_nvswitch():
    """Four of eight accelerators have no NIC of their own: they reach those of the others over NVLink"""
    h = build("h100-4nic")
    for down in leaf(h, INTEL5, 0, 0x03, PEX5, (0x06, 0x07, 0x08, 0x09)):
        h.endpoint(down, NVSWITCH)
    return h


@tree("a100-nvlink-far", "NVIDIA/nccl#595, nvidia-smi topo -m: four A100, NV4 between all, mlx5_0 PIX to GPU1 and mlx5_1 PIX to GPU2, SYS to the others; 200 Gb/s HDR",
      "an NCCL topology file, which names NVLinks; buses", "mlx5_0 mlx5_1",
      [("mlx5_0 mlx5_1", "PXN"), ("mlx5_0", "PIX"), ("mlx5_1", "PIX"), ("mlx5_0 mlx5_1", "PXN")],
      {"0 mlx5_0": "yes", "1 mlx5_0": "yes", "3 mlx5_1": "yes"})
def a100_nvlink_far():
    """Two of four accelerators have no NIC on their node: a topology file that names NVLinks"""
    gpus, xml = ("0000:03:00.0", "0000:44:00.0", "0000:84:00.0", "0000:c4:00.0"), '<system version="1">\n'
    link = 'link_speed="16.0 GT/s PCIe" link_width="16"'
    for n, node in enumerate((1, 0, 3, 2)):
        bus = int(gpus[n][5:7], 16)
        nvlinks = "".join(f'<nvlink target="{other}" count="4" tclass="0x030200"/>' for other in gpus if other != gpus[n])
        gpu = f'<pci busid="{gpus[n]}" class="0x030200" vendor="0x10de" device="0x20b0" {link}><gpu dev="{n}" sm="80" gdr="1">{nvlinks}</gpu></pci>'
        nic = (f'<pci busid="0000:{bus + 1:02x}:00.0" class="0x020700" vendor="0x15b3" device="0x101b" {link}><nic><net name="mlx5_{n - 1}" dev="{n - 1}" '
               f'speed="200000" port="1" guid="0x{n}" gdr="1"/></nic></pci>') if n in (1, 2) else ""
        xml += (f'<cpu numaid="{node}" arch="x86_64" vendor="AuthenticAMD" familyid="143" modelid="49">'
                f'<pci busid="0000:{bus - 1:02x}:00.0" class="0x060400" {link}>{gpu}{nic}</pci></cpu>\n')
    return xml + "</system>\n"


def put(made, folder):
    if isinstance(made, str):
        os.makedirs(folder)
        path = os.path.join(folder, "topology.xml")
        with open(path, "w") as f:
            f.write(made)
        return path
    lay(folder, render(made))
    return folder


def differences(make, document):
    """What is not as expected, a line each."""
    said = document["assignment"]
    nets = [net["name"] for net in said["nccl_nets"]]
    if nets != make.nets:
        yield f"NICs {' '.join(nets)}, expected {' '.join(make.nets)}"
    paths = {(p["gpu_index"], p["nic"]): p for p in document["paths"]}
    for n, (row, (nics, path)) in enumerate(zip(said["nccl"], make.gpus)):
        if " ".join(row["nics"]) != nics:
            yield f"GPU{n} gets {' '.join(row['nics'])}, expected {nics}"
        if row["nics"] and paths[n, nics.split()[0]]["nccl_path"] != path:
            yield f"GPU{n}: {paths[n, nics.split()[0]]['nccl_path']}, expected {path}"
    for pair, expected in make.gdr.items():
        gpu, nic = pair.split()
        value = {True: "yes", False: "no", None: "unknown"}[paths[int(gpu), nic]["gpudirect"]]
        if value != expected:
            yield f"GPU{gpu}, {nic}: GPUDirect {value} ({paths[int(gpu), nic]['gpudirect_reason']}), expected {expected}"


def ask(rdmadiag, path, *args):
    return subprocess.run([rdmadiag, "--from", path, "nic-map", *args], capture_output=True, text=True, check=False)


def lost_on_the_way(rdmadiag, path, make):
    """What a topology file that is written of the host says of NICs must be the same, a line each."""
    again = path.rstrip("/") + ".again.xml"
    with open(again, "w") as f:
        f.write(ask(rdmadiag, path, "--nccl-xml").stdout)
    nets = [net["name"] for net in json.loads(ask(rdmadiag, again, "--json").stdout)["assignment"]["nccl_nets"]]
    os.unlink(again)
    if nets != make.nets:
        yield f"after --nccl-xml NICs {' '.join(nets)}, expected {' '.join(make.nets)}"


def main():
    if sys.argv[1:] == ["--table"]:
        print("# Hosts on which NCCL's rules matter that most hosts never meet\n\nMade, not recorded. `tests/bundles/nccl/nccl.py --table > "
              "tests/bundles/nccl/TREES.md` writes this.\n")
        print("| host | what | made from | filled in | NICs as NCCL sees them | NICs of each accelerator |\n| --- | --- | --- | --- | --- | --- |")
        for name, make in TREES.items():
            print(f"| {name} | {make.title} | {make.source} | {make.filled} | {' '.join(make.nets)} | "
                  f"{'; '.join(f'{nics} ({path})' for nics, path in make.gpus)} |")
        return 0
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    failed = 0
    print(f"1..{len(TREES)}")
    for n, (name, make) in enumerate(TREES.items(), 1):
        folder = os.path.join(sys.argv[2], name)
        path = put(make(), folder)
        out = ask(sys.argv[1], path, "--json")
        wrong = [*differences(make, json.loads(out.stdout)), *lost_on_the_way(sys.argv[1], path, make)] if out.stdout else [out.stderr]
        failed += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {n} - {name}: {make.title}")
        for line in wrong:
            print(f"# {line}")
        shutil.rmtree(folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
