#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Cases reported in public, with the cause that their thread settled on: each as a host that has the evidence, and the rule
that has to name it. casebook.py RDMADIAG WORK-FOLDER: lays out a healthy made-up host, puts in the evidence of one case after
the other, and holds what topo-check says against it; speaks TAP. casebook.py --table: CASEBOOK.md.

Evidence marked "thread" stands in the thread so; "memory" is what such a host has, written from memory. The numbers are
those of the casebook. A case whose thread was not settled (rule None, status O) must raise no alarm."""
import json, os, shutil, subprocess, sys

GPU = "sys/bus/pci/devices/0000:13:00.0/"
ROCE = "sys/class/infiniband/mlx5_8/ports/1/"
LIMITS = "Limit                     Soft Limit           Hard Limit           Units     \nMax locked memory         %-20s %-20s bytes     \n"
ENTRY = "%s 16384 2 - Live 0x0000000000000000 (OE)\n"
OPEN = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build\n"
CLOSED = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\n"


def log(*lines):
    return {"dev/kmsg": "6,0,1,-;Linux version 6.1.0\n" + "".join(f"4,{n},{n * 1000000},-;{line}\n" for n, line in enumerate(lines, 1))}


def launcher(comm, size):
    return {"proc/4242/comm": comm, "proc/4242/limits": LIMITS % (size, size), "proc/1/comm": "systemd",
            "proc/1/limits": LIMITS % (size, size)}


def gids(keep):
    """All but the GIDs of these indices are empty."""
    zero = "0000:0000:0000:0000:0000:0000:0000:0000\n"
    return {f"{ROCE}gids/{i}": zero for i in range(4) if i not in keep}


def acs(on):
    """The control register of the switch's downstream ports above GPU and NIC."""
    def change(data):
        return data[:0x106] + bytes([0x1D if on else 0, 0]) + data[0x108:]
    return {f"sys/bus/pci/devices/0000:{a}/config": change for a in ("12:00.0", "12:01.0", "12:02.0", "12:03.0")}


# row, what, rule, evidence, where the evidence is from, files
CASES = [
    ("1", "memlock of 8192 kB inside mpirun", "memlock", "thread: ulimit -l was 8192 (nccl-tests#206)", launcher("slurmd", 8192 << 10)),
    ("2", "ibv_reg_mr of a sample program", "memlock", "thread: ulimit -l unlimited mended it; the 64 kB are from memory (the-geek-in-the-corner#6)", launcher("slurmd", 64 << 10)),
    ("3", "ibv_create_cq", "memlock", "thread: max locked memory (kbytes, -l) 64 (ucx#8229)", launcher("slurmd", 64 << 10)),
    ("4", "memory keys used up", "log-mkey-limit", "thread (ucx#6264)", log("mlx5_core 0000:41:00.0: mlx5_cmd_out_err:800:(pid 233522): CREATE_MKEY(0x200) op_mod(0x0) failed, status limits exceeded(0x8), syndrome (0x18af6), err(-12)")),
    ("5", "only on some nodes; suspects, no cause", None, "thread: vm.max_map_count 65530 (ucx#8702)", {"proc/sys/vm/max_map_count": "65530\n", **launcher("slurmd", "unlimited")}),
    ("7", "queue pairs used up", "log-qp-limit", "thread (libfabric#7368)", log("mlx5_core 0000:5e:00.0: mlx5_cmd_check:824:(pid 46096): CREATE_QP(0x500) op_mod(0x0) failed, status limits exceeded(0x8), syndrome (0x19c6d6)")),
    ("9", "doorbell pages used up", "log-uar-limit", "thread (ucx#6049)", log("mlx5_core 0000:61:00.0: mlx5_cmd_check:795:(pid 53945): ALLOC_UAR(0x802) op_mod(0x0) failed, status limits exceeded(0x8), syndrome (0x5a7939)")),
    ("11", "DEVX queue pair; external, unsettled", None, "memory: a syndrome that nobody has explained", log("mlx5_core 0000:41:00.0: mlx5_cmd_check:795:(pid 1): CREATE_QP(0x500) op_mod(0x0) failed, status bad parameter(0x3), syndrome (0x123456)")),
    ("13b", "EFA's receive buffers", "memlock", "thread: max locked memory was 65536 (awsome-distributed-ai#647)", launcher("slurmd", 65536)),
    ("18", "the GID is link-local", "gid-usable", "memory: a port that has fe80:: only (Mooncake#204)", gids((0, 1))),
    ("21", "retry count of 20", "log-retry-count", "thread (charm#2532)", log("mlx5_core 0000:04:00.0: mlx5_cmd_check:795:(pid 9993): RTR2RTS_QP(0x504) op_mod(0x0) failed, status bad parameter(0x3), syndrome (0x4bb88f)")),
    ("24", "irdma shows LID 1 on Ethernet", "roce-lid", "thread: lid 1 (nccl#622)", {ROCE + "lid": "0x1\n"}),
    ("33", "GIDs of interfaces that the pod has not", "gid-netns", "thread: reading gid_attrs/types gives EINVAL (nccl#1573)", {f"{ROCE}gid_attrs/ndevs/{i}": None for i in range(4)} | {"sys/class/net/eth8": None}),
    ("34", "nvidia_peermem does not load", "log-peermem-symbols", "thread (gpu-operator#2868, nv_peer_memory#84)", log("nvidia_peermem: disagrees about version of symbol ib_register_peer_memory_client", "nvidia_peermem: Unknown symbol ib_register_peer_memory_client (err -22)")),
    ("35", "the HCA's GID has no netdev in the pod", "gid-netns", "memory: ndevs names an interface that is not there (nccl#925)", {"sys/class/net/eth8": None}),
    ("37", "no provider library in the image", "provider-library", "memory: libmlx5 missing beside others (caffe#590)", {"usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so": "", "etc/libibverbs.d/rxe.driver": "driver rxe\n"}),
    ("38", "one uverbs file is not exposed", "dev-infiniband", "memory (rdma-core#1060)", {"sys/class/infiniband_verbs/uverbs0/ibdev": "mlx5_0\n", "sys/class/infiniband_verbs/uverbs1/ibdev": "mlx5_1\n", "dev/infiniband/uverbs0": ""}),
    ("43", "nvidia_peermem is not loaded", "peermem", "memory: modules of a host without it (nv_peer_memory#36)", {"proc/modules": ENTRY % "ib_core" + ENTRY % "nvidia", "proc/driver/nvidia/version": CLOSED}),
    ("45", "no DMA-BUF with the proprietary modules", "dmabuf", "thread: DMA_BUF_SUPPORTED=0 (mscclpp#657); the version line is from memory", {"proc/modules": ENTRY % "ib_core" + ENTRY % "nvidia", "proc/driver/nvidia/version": CLOSED}),
    ("48", "BAR1 is too small: the line in the log", "log-pin-pages", "thread (nv_peer_memory#27)", log("ib_umem_get: failed to get user pages, nr_pages=512", "mlx5_0:mr_umem_get:709:(pid 15855): umem get failed (-131668346275144)")),
    ("48", "BAR1 is too small: the window", "bar1-size", "thread: 256 MB (ucx#8049)", {GPU + "resource": "0x00000000c0000000 0x00000000c0ffffff 0x0000000000040200\n0x00000c0000000000 0x00000c000fffffff 0x000000000014220c\n"}),
    ("49", "a GeForce card", "gpu-geforce", "thread: RTX 3090 (gdrcopy#211)", {"proc/driver/nvidia/gpus/0000:13:00.0/information": "Model: \t\t NVIDIA GeForce RTX 3090\nDevice Minor: \t 0\n"}),
    ("51", "IBGDA without peer mapping", "gpu-initiated", "memory: one of the two settings (DeepEP#163)", {"proc/driver/nvidia/params": "EnableStreamMemOPs: 1\nRegistryDwords: \"\"\n"}),
    ("55", "a port is slower than the others", "port-speed-uniform", "memory (ucx#2684)", {"sys/class/infiniband/mlx5_3/ports/1/rate": "100 Gb/sec (4X EDR)\n"}),
    ("56", "a link that flaps", "log-link-flaps", "memory: mlx5's line, several times (nccl#905)", log(*["mlx5_core 0000:15:00.0 ib0: Link down", "mlx5_core 0000:15:00.0 ib0: Link up"] * 6)),
    ("57", "status 12 now and then; open", None, "memory: an ordinary log", log("mlx5_core 0000:15:00.0: Port module event: module 0, Cable plugged")),
    ("58", "ACS redirects peer-to-peer", "acs-redirect", "thread: ACSCtl with ReqRedir+ (nccl#304); the register is from memory", acs(True)),
    ("59", "GPU memory at 56 TB", "bar-address", "thread: MMIO window at 56 TB (perftest#173)", {GPU + "resource": "0x0000000000000000 0x0000000000000000 0x0000000000000000\n0x0000380000000000 0x0000381fffffffff 0x000000000014220c\n"}),
    ("60", "status 9 after the failed RTR2RTS", "log-retry-count", "thread (charm#2532)", log("mlx5_core 0000:04:00.0: mlx5_cmd_check:795:(pid 9993): RTR2RTS_QP(0x504) op_mod(0x0) failed, status bad parameter(0x3), syndrome (0x4bb88f)")),
    ("61", "status 9; open", None, "thread: the log has nothing (nccl#1710)", log("mlx5_core 0000:15:00.0: firmware version: 28.39.1002")),
    ("63", "the HCA has died", "log-nic-health", "thread (charm#2635, the same line)", log("mlx5_core 0000:5e:00.0: device's health compromised - reached miss count", "mlx5_core 0000:5e:00.0: synd 0x7: irisc not responding")),
    ("64", "the peer was killed for want of memory", "log-oom", "memory: the kernel's line (awsome-distributed-ai#312)", log("Memory cgroup out of memory: Killed process 4711 (python) total-vm:8388608kB, anon-rss:8388000kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:16384kB oom_score_adj:0")),
    ("68", "mlx4 and pages of 64 kB", "log-uar-pages", "thread (mft-scripts#2)", log("mlx4_core 0004:02:00.0: Only 64 UAR pages (need more than 128)", "mlx4_core 0004:02:00.0: Increase firmware log2_uar_bar_megabytes?")),
]

# Settled, and no bundle here: a rule that other tests show, or why none can.
OTHERS = [
    ("6", "none", "UCX merged regions wrongly: nothing on the host shows it"),
    ("12", "hugepages-efa", "tests/unit/test-check-*.c; page size of a registration is seen in the program only"),
    ("13c", "nic-map lists what is attached", "how many NICs there should be stands in a profile (profile-nic)"),
    ("15", "neighbour-failed, rail-route", "needs netlink: tests/vm/cases/66-check.sh on kernels, tests/unit/test-check-roce.c"),
    ("22", "none", "max_rd_atomic of both ends: qp-state --join on two hosts"),
    ("23", "none", "the program resets a queue pair twice; no sign on the host but the driver's name"),
    ("25", "none", "a field that the program does not set"),
    ("28", "none", "inline size: asked by the program, told by trace-errno"),
    ("29", "none", "the same"),
    ("30", "none", "harmless: trace-errno marks it so"),
    ("31", "none", "a version of libfabric inside a container"),
    ("36", "none", "the program addresses by LID; nic-map shows link layer Ethernet, LID 0"),
    ("39", "none", "DEVX of the driver: asked by the program"),
    ("41", "dmabuf", "tests/unit: the kernel's BTF tells whether ib_core takes DMA-BUFs"),
    ("42", "none", "IBGDA needs mlx5: nic-map shows the driver"),
    ("44", "none", "an allocator's setting inside the process"),
    ("47", "none", "the pointer that is registered; trace-errno shows EFAULT"),
    ("50", "ats-guest", "tests/unit/test-check-*.c"),
    ("52", "gid-usable, gid-v2, nic-map --check-env", "the index is in the job's environment"),
    ("53", "roce-mtu, mtu-uniform", "the other end and the switch are elsewhere; tests/unit/test-check-*.c"),
    ("54", "roce-lossless, roce-trust, roce-tclass", "needs DCB netlink, which no test machine's kernel shows: messages made by hand, tests/unit/test-netstate.c and test-check-roce.c"),
    ("62", "none", "rnr_retry of a queue pair: qp-state --trace"),
    ("67", "roce-devx-tclass", "needs netlink: tests/unit/test-check-roce.c"),
    ("69", "nic-map", "order of bridges: nic-map --path shows them; NCCL_TOPO_FILE by --nccl-xml"),
]


def table():
    print("""# Public cases, and the rules that name their causes

The numbers are those of a collection of 72 public reports of RDMA that was broken or slow, which is not part of this
repository; S: the thread settled on the cause; O: it did not, so no rule may
raise an alarm. Written by `tests/bundles/casebook.py --table`; each row with evidence is a host that
`tests/bats/casebook.bats` lays out and holds against the rule, both ways.

| row | case | S | rule | evidence |
| --- | --- | --- | --- | --- |""")
    for row, what, rule, evidence, _ in CASES:
        print(f"| {row} | {what} | {'S' if rule else 'O'} | {rule or 'none may: stays unknown'} | {evidence} |")
    print("\nSettled, without a host of their own:\n\n| row | rule | why |\n| --- | --- | --- |")
    for row, rule, why in OTHERS:
        print(f"| {row} | {rule} | {why} |")


def remove(root, path):
    """And the folders that were made for it."""
    os.unlink(path)
    path = os.path.dirname(path)
    while path != root and not os.listdir(path):
        os.rmdir(path)
        path = os.path.dirname(path)


def put(root, files):
    """Returns what undoes it."""
    undo = []
    for name, data in files.items():
        path = os.path.join(root, name)
        old = None
        if os.path.islink(path):
            target = os.readlink(path)
            undo.append(lambda p=path, t=target: os.symlink(t, p))
            os.unlink(path)
            continue
        if os.path.exists(path):
            with open(path, "rb") as f:
                old = f.read()
            undo.append(lambda p=path, o=old: open(p, "wb").write(o))
        elif data is not None:
            undo.append(lambda p=path: remove(root, p))
        if callable(data):
            data = data(old)
        if data is None:
            os.unlink(path)
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode())
    return undo


def alarms(rdmadiag, root):
    out = subprocess.run([rdmadiag, "--from", root, "topo-check", "--json"], capture_output=True, text=True)
    checks = json.loads(out.stdout)["checks"]
    return {c["id"]: c["observed"] for c in checks if c["result"] in ("warn", "fail")}


def main(rdmadiag, work):
    root = os.path.join(work, "host")
    subprocess.run(["tests/bench/nic-map-tree", root], check=True)
    healthy = alarms(rdmadiag, root)
    print(f"1..{len(CASES) + 1}")
    print(f"{'not ' if healthy else ''}ok 1 - the healthy host raises no alarm {healthy or ''}")
    failed = bool(healthy)
    for n, (row, what, rule, _, files) in enumerate(CASES, 2):
        undo = put(root, files)
        found = alarms(rdmadiag, root)
        for step in reversed(undo):
            step()
        good = rule in found if rule else not found
        failed |= not good
        print(f"{'' if good else 'not '}ok {n} - row {row}: {what}: {rule or 'no alarm'}")
        if not good:
            print(f"# found: {found}")
    left = alarms(rdmadiag, root)
    if left != healthy:
        print(f"# left behind: {left}")
    shutil.rmtree(root)
    return failed or left != healthy


if sys.argv[1:] == ["--table"]:
    table()
else:
    sys.exit(main(*sys.argv[1:3]))
