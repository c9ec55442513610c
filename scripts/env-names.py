#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Generates lib/analyse/env/env-names-list.c: the environment variables that the libraries read, extracted from their source trees.
env-names.py NCCL NVSHMEM UCX LIBFABRIC MOONCAKE > lib/analyse/env/env-names-list.c; set the releases in RELEASES. Only names are
extracted. Names that UCX composes from a transport and a field are listed as prefixes and fields."""
import os, re, sys

RELEASES = {"nccl": "2.32.3", "nvshmem": "3.7.0", "ucx": "1.23 (9466d104a3)", "libfabric": "2.7.0a1", "mooncake": "3b5a59413"}
# Names that releases after those of the trees (NCCL 2.30.7, NVSHMEM 3.5.1) read, from their user guides and release notes.
DOCUMENTED = {
    "NCCL": ("CE_COLL_AG_MULTICAST_THRESHOLD CFT_ENABLE DEBUG_LEVELS DIAGNOSTICS_ECC_THRESHOLD ENQUEUE_REARCH_ENABLE "
        "GDRCOPY_USE_INTERNAL_DMABUF GIN_IB_OOO_OPT GIN_PROXY_NTHREADS GIN_PROXY_POLL_BATCH "
        "HIER_CE_COLL_AG_RAIL_RING_ENABLE HIER_CE_COLL_NUM_CTX IB_EVENT_BASED_LB IB_EVENT_BASED_LB_REMOTE "
        "IB_PKEY_VALUE IB_RAIL_POLICY IB_WQE_LATENCY_REPORT IB_WQE_LATENCY_THRESHOLD_NS LIBIBVERBS_SO "
        "NUM_RMA_INT_CTX P2P_PER_CHANNEL_REG_NET_BW RMA_EAGER_INIT RMA_MULTI_CTX_THRESHOLD RUN_DIAGNOSTICS "
        "RUN_RAS_DIAGNOSTICS TOPO_SCATTER_START_NET").split(),
    "NVSHMEM": ("BOOTSTRAP_SHMEM_MODE CONF_FILE CPU_AFFINITY ENABLE_LOGICAL_ENDPOINT GPUNETIO_ENABLE_GDAKI "
        "GPUNETIO_ENABLE_ORDERING_SEMANTIC GPUNETIO_NIC_HANDLER GPUNETIO_NUM_FETCH_SLOTS_PER_RC "
        "GPUNETIO_NUM_RC_PER_PE_CPU GPUNETIO_NUM_RC_PER_PE_GPU GPUNETIO_NUM_REQUESTS_IN_BATCH IB_PKEY_INDEX "
        "IB_RETRY_CNT IB_TIMEOUT LIBFABRIC_DISABLE_BATCH_RMA LIBFABRIC_MAX_NIC_PER_PE "
        "LIBFABRIC_PROXY_REQUEST_BATCH_MAX LIBFABRIC_SIGNAL_WAIT_SPIN_COUNT NETDEVS_POLICY TMA_POLICY "
        "TRANSPORT_BATCH_MAX_OPS").split(),
}
PREFIXES = {"libfabric": "FI_", "gloo": "GLOO_", "mooncake": "MC_", "nccl": "NCCL_", "nvshmem": "NVSHMEM_", "ucx": "UCX_"}
# Variables of PyTorch, read by Gloo and by older releases of PyTorch's NCCL code.
GLOO = ["GLOO_SOCKET_IFNAME", "GLOO_DEVICE_TRANSPORT", "GLOO_DEVICE_TRANSPORT_TCP_TLS_PKEY", "GLOO_DEVICE_TRANSPORT_TCP_TLS_CERT",
        "GLOO_DEVICE_TRANSPORT_TCP_TLS_CA_FILE", "GLOO_DEVICE_TRANSPORT_TCP_TLS_CA_PATH"]
PROVIDERS = {"&cxip_prov": "CXI_", "&fi_opx_provider": "OPX_", "fi_opx_provider": "OPX_", "&efa_prov": "EFA_", "&rxm_prov": "OFI_RXM_",
             "&xnet_prov": "TCP_", "&sock_prov": "SOCKETS_", "&psmx3_prov": "PSM3_", "&psmx2_prov": "PSM2_", "&ucx_prov": "UCX_",
             "&lpp_prov": "LPP_", "&smr_prov": "SHM_", "&rxd_prov": "OFI_RXD_", "&lnx_prov": "LNX_", "&mrail_prov": "OFI_MRAIL_",
             "&udpx_prov": "UDP_", "&core_prov": "", "NULL": ""}
TRANSPORTS = ("CM_ CMA_ CUDA_COPY_ CUDA_IPC_ DC_ DC_MLX5_ GAUDI_GDR_ GDR_COPY_ GGA_ GGA_MLX5_ IB_ KNEM_ MLX5_ MM_ POSIX_ RC_ RC_GDA_ "
              "RC_MLX5_ RC_VERBS_ RDMA_CM_ RDMACM_ ROCM_COPY_ ROCM_IPC_ SCOPY_ SELF_ SM_ SRD_ SYSV_ TCP_ TCP_CM_ UD_ UD_MLX5_ UD_VERBS_ "
              "UGNI_ XPMEM_ ZE_COPY_").split()


def sources(root, kinds, skip=()):
    for directory, subdirectories, names in os.walk(root):
        subdirectories[:] = sorted(d for d in subdirectories if d not in skip)
        for name in sorted(names):
            if name.endswith(kinds):
                yield open(os.path.join(directory, name), encoding="utf-8", errors="replace").read()


def nccl(root):
    found = set()
    for text in sources(os.path.join(root, "src"), (".cc", ".h", ".cu")):
        found |= {"NCCL_" + n for n in re.findall(r'NCCL_PARAM\(\s*\w+\s*,\s*"([A-Z0-9_]+)"', text)}
        found |= set(re.findall(r'(?:ncclGetEnv|getenv|ncclGetLevel\([^;]*?)\s*\(?\s*"(NCCL_[A-Z0-9_]+)"', text))
        found |= set(re.findall(r'DEFINE_NCCL_PARAM\(\s*\w+\s*,[^,]+,\s*(NCCL_[A-Z0-9_]+)', text))
        found |= {n for call in re.findall(r'ncclGetLevel\(([^;]*?)\)', text) for n in re.findall(r'"(NCCL_[A-Z0-9_]+)"', call)}
    return found


def nvshmem(root):
    found = set()
    for text in sources(os.path.join(root, "src"), ("env_defs.h",)):
        found |= {"NVSHMEM_" + n for n in re.findall(r"^\s*NVSHMEMI_ENV_DEF\(\s*([A-Z0-9_]+)\s*,", text, re.M)}
    return found


def documented(library):
    return {f"{library}_{n}" for n in DOCUMENTED[library]}


def ucx(root):
    whole, fields = set(), set()
    for text in sources(os.path.join(root, "src"), (".c",)):
        for table, body in re.findall(r"ucs_config_field_t\s+(\w+)\s*\[\]\s*=\s*\{(.*?)\n\};", text, re.S):
            names = [n for n in re.findall(r'\n\s*\{"([A-Z0-9_]+)",\s*(?:"|NULL|UC)', body) if not n.endswith("_")]
            top = table.startswith(("ucs_", "ucp_", "ucm_"))
            prefix = "UCX_MEM_" if table.startswith("ucm_") else "UCX_"
            if top:
                whole |= {prefix + n for n in names}
            else:
                fields |= set(names)
        for prefix in re.findall(r'UCT_IFACE_MPOOL_CONFIG_FIELDS\(\s*"([A-Z_]*)"', text):
            fields |= {prefix + n for n in ("MAX_BUFS", "BUFS_GROW", "MAX_BUFS_MEM", "BUFS_GROW_FACTOR")}
    fields |= {"RCACHE_" + n for n in ("MEM_PRIO", "OVERHEAD", "MAX_REGIONS", "MAX_SIZE", "MAX_UNRELEASED", "PURGE_ON_FORK", "ENABLE")}
    return whole | {"UCX_RCACHE_ENABLE", "UCX_STATS_DEST"}, fields


def libfabric(root):
    found = set()
    for part in ("prov", "src"):
        for text in sources(os.path.join(root, part), (".c", ".h"), ("test", "tests")):
            for provider, name in re.findall(r'fi_param_define\s*\(\s*([^,]+?)\s*,\s*"([^"]+)"', text):
                if provider in PROVIDERS:
                    found.add("FI_" + PROVIDERS[provider] + name.upper())
            found |= {"FI_VERBS_" + n.upper() for n in re.findall(r'vrb_get_param_(?:int|bool|str)\(\s*"([^"]+)"', text)}
            found |= set(re.findall(r'getenv\(\s*"(FI_[A-Z0-9_]+)"', text))
    return found


def mooncake(root):
    found = set()
    for text in sources(root, (".cpp", ".h", ".py", ".cu", ".cuh"), ("tests", "test", "docs", "benchmark")):
        found |= {n for n in re.findall(r'"(MC_[A-Z0-9_]+)"', text) if not n.startswith("MC_TEST_")}
    return found


def table(name, comment, names, prefix=""):
    """The names without the prefix, each between blanks."""
    assert all(n.startswith(prefix) for n in names)
    print(f"\n/* {comment} */\nstatic const char {name}[] =")
    line = " "
    for n in sorted(n[len(prefix):] for n in names):
        if len(line) + len(n) > 109:
            print(f'\t"{line}"')
            line = ""
        line += n + " "
    print(f'\t"{line}";')


def main(trees):
    whole, fields = ucx(trees[2])
    print("/* SPDX-License-Identifier: GPL-2.0-or-later */\n"
          "/* Names of the variables that the libraries read. Generated by scripts/env-names.py, do not edit. */\n"
          '#include "analyse/env/envcheck.h"')
    tables = [("nccl", "NCCL", nccl(trees[0]) | documented("NCCL")), ("nvshmem", "NVSHMEM", nvshmem(trees[1]) | documented("NVSHMEM")), ("ucx", "UCX", whole),
              ("libfabric", "libfabric", libfabric(trees[3])), ("gloo", "PyTorch's Gloo", GLOO), ("mooncake", "Mooncake", mooncake(trees[4]))]
    for name, title, names in tables:
        release = RELEASES.get(name)
        table(f"{name}_names", title + (f" {release}" if release else ""), names, PREFIXES[name])
    table("ucx_fields", "fields of UCX's transports: prefix UCX_IB_ and field GID_INDEX form UCX_IB_GID_INDEX", fields)
    table("ucx_prefixes", "the prefixes of these fields, after UCX_", TRANSPORTS)
    print("\nconst struct rd_env_names rd_env_names[] = {")
    for name, title in (("libfabric", "libfabric"), ("gloo", "Gloo"), ("mooncake", "Mooncake"), ("nccl", "NCCL"), ("nvshmem", "NVSHMEM"), ("ucx", "UCX")):
        prefix = PREFIXES[name]
        release = f'"{RELEASES[name]}"' if name in RELEASES else "NULL"
        extra = ", ucx_fields, ucx_prefixes" if name == "ucx" else ', "", ""'
        print(f'\t{{ "{prefix}", "{title}", {release}, {name}_names{extra} }},')
    print("};\nconst size_t rd_env_n_names = RD_ARRAY_SIZE(rd_env_names);")


main(sys.argv[1:])
