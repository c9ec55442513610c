# SPDX-License-Identifier: GPL-2.0-or-later
"""Every variable that nic-map --check-env judges: its rule in one sentence, and the file and function of the library that the rule
was read from. Releases: NCCL 2.30.7, NVSHMEM 3.5.1 (2d7d25f), UCX 1.23 (9466d104a3), libfabric 2.7.0a1 (af8ddbe92), Mooncake
3b5a59413; of Gloo, PyTorch's use of it. cases() are made-up settings for rules that no thread covers. A variable that the code
checks but that is missing here, or in no case, fails the test."""
import glob, os, re, threads

HERE = os.path.dirname(os.path.abspath(__file__))
IB, NET, TOPO = "src/transport/net_ib/", "src/plugin/net.cc: ", "src/graph/"
QP = IB + "connect.cc: ncclIbSenderQpsToRts, ncclIbReceiverQpsCreateToRts"
GID = IB + "connect.cc: ncclIbGetGidIndex"
NV = "src/modules/transport/"
NVGUIDE = "NVSHMEM 3.7.0 user guide, Environment Variables"
BOOL = "src/include/bootstrap_host_transport/env_defs_internal.h: nvshmemi_getenv_bool"
IBGDA = NV + "ibgda/ibgda.cpp: "
UCP, UIB, URC = "src/ucp/core/ucp_context.c: ", "src/uct/ib/base/ib_iface.c: ", "src/uct/ib/rc/base/rc_iface.c: "
MC = "mooncake-transfer-engine/src/config.cpp: loadGlobalConfig"
MCI = "mooncake-transfer-engine/src/transfer_engine_impl.cpp: TransferEngineImpl::init"

# variable: (rule, read from)
RULES = {
    "NCCL_IB_HCA": ("an optional ^, then an optional =, once; 32 entries name[:port[:rail[:plane]]]; without = a name is a prefix; ACTIVE ports only", IB + "init.cc: ncclIbInitDevices; src/misc/utils.cc: parseStringList, matchIfList"),
    "NCCL_NET": ("the first network of this name, ignoring case: plugins, then IB, then Socket; if there is none, NCCL fails", NET + "ncclNetInit"),
    "NCCL_NET_PLUGIN": ("none, or names: NAME itself, else libnccl-net-NAME.so; not set: libnccl-net.so; NCCL's built-in networks follow", NET + "initPluginLibsOnceFunc; src/plugin/plugin_open.cc: openPluginLib"),
    "NCCL_IB_DISABLE": ("a number other than 0 disables NCCL's built-in IB/RoCE transport; plugins are not affected", IB + "init.cc: ncclIbInitDevices; src/misc/param.cc: ncclLoadParam"),
    "NCCL_SOCKET_IFNAME": ("as NCCL_IB_HCA, with interfaces; fewer than two characters count as not set", "src/misc/socket.cc: ncclFindInterfaces; src/os/linux.cc: ncclOsFindInterfaces"),
    "NCCL_SOCKET_FAMILY": ("AF_INET or AF_INET6 exactly, else any", "src/misc/socket.cc: ncclEnvSocketFamily"),
    "NCCL_IB_GID_INDEX": ("0 or more is used on RoCE ports; InfiniBand ports use index 0", GID),
    "NCCL_IB_ADDR_FAMILY": ("AF_INET or AF_INET6 exactly, else AF_INET; only if no index is set", IB + "connect.cc: envIbAddrFamily"),
    "NCCL_IB_ADDR_RANGE": ("ADDRESS/BITS of the family, else any address; only if no index is set", IB + "connect.cc: envIbAddrRange, matchGidAddrPrefix"),
    "NCCL_IB_ROCE_VERSION_NUM": ("from index 0 up, NCCL prefers a GID of the address family, and among these one of this RoCE version", IB + "connect.cc: ncclUpdateGidIndex"),
    "NCCL_IB_TIMEOUT": ("local ACK timeout, 4.096 us x 2^N, five bits; 0: none; the error comes after retries + 1 of them, each up to 4 times as long", QP + "; InfiniBand specification, 9.7.6.1.3"),
    "NCCL_IB_RETRY_CNT": ("transport retries, three bits", QP + "; ibv_modify_qp(3)"),
    "NCCL_IB_SL": ("service level 0 to 15; on RoCE the priority of the VLAN tag, 0 to 7", IB + "connect.cc: ncclIbConnectImpl, ncclIbQpRtr"),
    "NCCL_IB_TC": ("traffic class of the GRH: DSCP x 4 + ECN; RoCE only", IB + "connect.cc: ncclIbConnect, ncclIbQpRtr"),
    "NCCL_IB_FIFO_TC": ("the same for control messages", IB + "connect.cc: ncclIbReceiverQpsCreateToRts"),
    "NCCL_GIN_IB_TC": ("the same for GPU-initiated transfers", IB + "gin.cc: ncclGinIbConnect, ncclGinIbGdakiCreateContext"),
    "NCCL_IB_PKEY": ("an index into the port's P_Key table", QP),
    "NCCL_IB_QPS_PER_CONNECTION": ("queue pairs per NIC of a connection, the NICs of a merged NIC added up; at most 128, not checked", IB + "connect.cc: ncclIbConnectImpl; common.h: NCCL_IB_MAX_QPS"),
    "NCCL_IB_SPLIT_DATA_ON_QPS": ("1: a message is split across all queue pairs; else they are used round-robin", IB + "common.h: ncclIbCommBaseGetNqpsPerRequest"),
    "NCCL_IB_MERGE_VFS": ("not 0: function and both device digits of the PCI path are ignored", IB + "init.cc: ncclIbGetPciPath, ncclIbMatchVfPath"),
    "NCCL_IB_MERGE_NICS": ("0: NICs are not merged into a virtual NIC", IB + "init.cc: ncclIbMakeVDeviceInternal"),
    "NCCL_NET_MERGE_LEVEL": ("starts with LOC PORT PIX PXB P2C PXN PHB SYS, else LOC", TOPO + "topo.cc: ncclTopoGetFusionEnv; xml.h: kvConvertToInt"),
    "NCCL_NET_MERGE_POLICY": ("RAIL or ALL, ignoring case, else ALL", TOPO + "topo.cc: ncclTopoGetMergePolicy"),
    "NCCL_NET_FORCE_MERGE": ("groups separated by ;, exact names by commas; if one is missing, NCCL fails", TOPO + "topo.cc: ncclTopoForceMerge"),
    "NCCL_NETDEVS_POLICY": ("AUTO, ALL or MAX:N, ignoring case, else AUTO", TOPO + "topo.cc: getNetDevsPolicyOnce"),
    "NCCL_TOPO_FILE": ("loaded before detection; if it cannot be opened, NCCL logs that at INFO", TOPO + "topo.cc: ncclTopoGetSystem; xml.cc: ncclTopoGetXmlFromFile"),
    "NCCL_DEBUG_SUBSYS": ("names of subsystems, separated by commas; a ^ at the start excludes them", "NCCL 2.32 user guide, Environment Variables, Logging, Diagnostics"),
    "NCCL_CROSS_NIC": ("0: same NIC number on all hosts, 1: any, 2: whichever is faster", TOPO + "search.cc: ncclTopoCompute"),
    "NCCL_PXN_DISABLE": ("1: no sending through another GPU's NIC", TOPO + "paths.cc: ncclPxnDisable, ncclTopoComputePaths"),
    "NCCL_P2P_PXN_LEVEL": ("for send and receive: 0 never, 1 where it avoids the CPU, 2 to the receiver's rail", TOPO + "search.cc: ncclTopoGetNetDev"),
    "NCCL_IB_DATA_DIRECT": ("0: not used, 1: used alone, 2: used in addition to the PCI path", IB + "init.cc: ncclIbInitDevices"),
    "NCCL_NET_GDR_LEVEL": ("LOC NVL NVB C2C PIX PXB P2C PXN PHB SYS exactly, or an old number 0 to 5; else as if not set", TOPO + "paths.cc: ncclGetLevel, ncclTopoCheckGdr"),
    "NCCL_NET_GDR_READ": ("0: no GPUDirect for sending, 1: used, not set: on Ampere and later or with NVLink", TOPO + "paths.cc: ncclTopoCheckGdr"),
    "NCCL_NET_GDR_C2C": ("0: the default level is PXB, else P2C", TOPO + "paths.cc: ncclTopoCheckGdr"),
    "NCCL_DMABUF_ENABLE": ("0: no DMA-BUF", "src/init.cc: dmaBufSupported"),
    "NCCL_P2P_LEVEL": ("as NCCL_NET_GDR_LEVEL, between GPUs", TOPO + "paths.cc: ncclGetUserP2pLevel"),
    "NCCL_P2P_DISABLE": ("1, and no other number: level LOC", TOPO + "paths.cc: ncclGetLevel"),
    "NCCL_SHM_DISABLE": ("1, and no other number: no shared memory", "src/transport/shm.cc: shmCanConnect"),
    "NCCL_IB_ADAPTIVE_ROUTING": ("not set: on for InfiniBand, off for RoCE", IB + "init.cc: ncclIbInitDevices; p2p.cc: ncclIbMultiSend"),
    "NCCL_IB_AR_THRESHOLD": ("a second RDMA write signals larger messages", IB + "p2p.cc: ncclIbMultiSend"),
    "NCCL_IB_PCI_RELAXED_ORDERING": ("1 or 2: if libibverbs supports it; else not; RCCL on Hyper-V with NUMA balancing: else no GPUDirect RDMA (ROCm/rccl#1377)", IB + "init.cc: ncclIbRelaxedOrderingCapable"),
    "NCCL_IB_USE_INLINE": ("not 0: control messages inline", IB + "connect.cc: ncclIbQpCreate"),
    "NCCL_IB_ECE_ENABLE": ("0: ECE is not exchanged", IB + "connect.cc: ncclIbSenderQpsCreate"),
    "NCCL_IB_RETURN_ASYNC_EVENTS": ("0: a fatal event does not become an error", IB + "common.cc: ncclIbStatsCheckFatalCount"),
    "NCCL_GDR_FLUSH_DISABLE": ("not 0: no flush after a receive", IB + "connect.cc: ncclIbAcceptImpl"),
    "NCCL_IB_RESILIENCY_PORT_FAILOVER": ("1: a failed port of a merged NIC is no longer used", IB + "p2p_resiliency.cc: ncclIbResiliencyInit"),
    "NCCL_IB_SUBNET_AWARE_ROUTING": ("not 0: a NIC in the peer's subnet is searched for", IB + "connect.cc: ncclIbFindDevBySubnet"),
    "NCCL_IB_OOO_RQ": ("not 0: receives out of order, or failure", IB + "init.cc: ncclIbQueryOooRqSize"),
    "NCCL_MNNVL_ENABLE": ("0 off, 1 required, 2 if available", "src/mnnvl.cc: ncclMnnvlCheck"),
    "NCCL_NET_DISABLE_INTRA": ("1: no network within a host", TOPO + "paths.cc: ncclTopoCheckNet"),
    "NCCL_GIN_TYPE": ("not set or -1: what the network offers; 2 proxy, 3 GDAKI, 4 GPI, 5 EFA-GDA, which needs PeerMappingOverride=1 of the NVIDIA driver; any other: none", "src/include/nccl_device/gin/gin_device_host_common.h: ncclGinType_t; src/transport/net_ib/gin.cc; aws-ofi-nccl, doc/gin-getting-started.md"),
    "NVSHMEM_HCA_LIST": ("exact name:port, ^ at the start excludes, no =; 48 entries; takes precedence over HCA_PE_MAPPING", NV + "common/transport_common.cpp: nvshmemt_parse_hca_list"),
    "NVSHMEM_HCA_PE_MAPPING": ("exact name:port:count; not read if HCA_LIST is set", NV + "ibrc/ibrc.cpp: nvshmemt_init"),
    "NVSHMEM_ENABLE_NIC_PE_MAPPING": ("on: NIC = PE number modulo number of NICs; off: by distance", "src/host/transport/transport.cpp: nvshmemi_setup_connections; " + BOOL),
    "NVSHMEM_HCA_PREFIX": ("matches anywhere in the name; IBGDA and IBDEVX only", IBGDA + "nvshmemt_init"),
    "NVSHMEM_REMOTE_TRANSPORT": ("ibrc, ucx, ibdevx, libfabric, gpunetio (since 3.7.0), the first eight letters, ignoring case; else none", "src/host/transport/transport.cpp: nvshmemi_transport_init"),
    "NVSHMEM_IB_ENABLE_IBGDA": ("off if it starts with 0, n, N, f, F; else on", BOOL),
    "NVSHMEM_IB_GID_INDEX": ("as NCCL_IB_GID_INDEX", NV + "common/transport_ib_common.h: ib_get_gid_index"),
    "NVSHMEM_IB_ADDR_FAMILY": ("as NCCL_IB_ADDR_FAMILY", NV + "common/transport_ib_common.h: ib_get_gid_index"),
    "NVSHMEM_IB_ADDR_RANGE": ("as NCCL_IB_ADDR_RANGE; the default ::/0 is any", NV + "common/transport_ib_common.h: ib_get_gid_index"),
    "NVSHMEM_IB_ROCE_VERSION_NUM": ("as NCCL_IB_ROCE_VERSION_NUM", NV + "common/transport_ib_common.h: ib_get_gid_index"),
    "NVSHMEM_IB_SL": ("as NCCL_IB_SL", NV + "ibrc/ibrc.cpp: ep_connect; " + IBGDA + "ibgda_rc_init2rtr"),
    "NVSHMEM_IB_TRAFFIC_CLASS": ("as NCCL_IB_TC; IBGDA sets it on InfiniBand, too, without a GRH", IBGDA + "ibgda_rc_init2rtr"),
    "NVSHMEM_IB_NUM_RC_PER_DEVICE": ("RC queue pairs per PE and NIC", NV + "common/transport_ib_common.cpp: nvshmemt_ib_common_connect_endpoints"),
    "NVSHMEM_IB_DISABLE_DMABUF": ("on: no DMA-BUF", IBGDA + "nvshmemt_init"),
    "NVSHMEM_IB_ENABLE_RELAXED_ORDERING": ("off: no PCI relaxed ordering", NV + "common/transport_ib_common.cpp: nvshmemt_ib_common_reg_mem_handle"),
    "NVSHMEM_IBGDA_NIC_HANDLER": ("auto, gpu, cpu, cpu_host_memory, ignoring case and blanks; auto and gpu fall back to the CPU; cpu without GDRCopy is rejected", IBGDA + "ibgda_parse_nic_handler_request"),
    "NVSHMEM_IBGDA_NUM_RC_PER_PE": ("RC queue pairs per PE; 8 with Data Direct", IBGDA + "nvshmemt_init, ibgda_setup_rc"),
    "NVSHMEM_IBGDA_NUM_DCI": ("0 or less: NVSHMEM decides", IBGDA + "ibgda_setup_dci"),
    "NVSHMEM_IBGDA_NUM_DCT": ("number of DCT queue pairs", IBGDA + "ibgda_setup_dct"),
    "NVSHMEM_IBGDA_NUM_SHARED_DCI": ("of the DCI queue pairs", IBGDA + "ibgda_setup_dci"),
    "NVSHMEM_IBGDA_DCI_MAP_BY": ("cta, sm, warp, dct; else rejected", IBGDA + "ibgda_parse_qp_map_by"),
    "NVSHMEM_IBGDA_RC_MAP_BY": ("cta, sm, warp; else rejected", IBGDA + "ibgda_parse_qp_map_by"),
    "NVSHMEM_IBGDA_ENABLE_MULTI_PORT": ("off: one NIC per PE", IBGDA + "nvshmemt_ibgda_connect_endpoints"),
    "NVSHMEM_IBGDA_FORCE_NIC_BUF_MEMTYPE": ("gpumem, hostmem, else NVSHMEM decides", IBGDA + "ibgda_parse_nic_mapping_memtype_request"),
    "NVSHMEM_DISABLE_GDRCOPY": ("on: no GDRCopy", NV + "ibrc/ibrc.cpp: nvshmemt_init"),
    "NVSHMEM_DISABLE_P2P": ("on: the P2P transport is not used", "src/host/transport/transport.cpp: nvshmemi_transport_init"),
    "NVSHMEM_DISABLE_MNNVL": ("on: no NVLink between hosts", "src/include/host/env/env_defs.h; " + BOOL),
    "NVSHMEM_DISABLE_DATA_DIRECT": ("on: no Data Direct function", NV + "ibrc/ibrc.cpp: nvshmemt_init"),
    "NVSHMEM_DISABLE_IB_NATIVE_ATOMICS": ("on: atomics by the proxy", NV + "ibrc/ibrc.cpp: nvshmemt_init"),
    "NVSHMEM_QP_DEPTH": ("128 to 32768, else IBGDA fails to start", IBGDA + "nvshmemt_init"),
    "NVSHMEM_GPUNETIO_ENABLE_GDAKI": ("as NVSHMEM_IB_ENABLE_IBGDA; only with NVSHMEM_REMOTE_TRANSPORT=gpunetio", NVGUIDE),
    "NVSHMEM_IB_TIMEOUT": ("as NCCL_IB_TIMEOUT, five bits", NVGUIDE),
    "NVSHMEM_IB_RETRY_CNT": ("as NCCL_IB_RETRY_CNT, three bits", NVGUIDE),
    "NVSHMEM_IB_PKEY_INDEX": ("an index into the port's P_Key table", NVGUIDE),
    "NVSHMEM_LIBFABRIC_MAX_NIC_PER_PE": ("NICs per PE of the libfabric transport at most; 16 if not set", NVGUIDE),
    "NVSHMEM_LIBFABRIC_PROVIDER": ("cxi, efa or verbs", NV + "common/env_defs.h"),
    "NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME": ("as NCCL_SOCKET_IFNAME", "src/modules/bootstrap/uid/ncclSocket/ncclsocket_socket.cpp: findInterfaces"),
    "UCX_NET_DEVICES": ("exact device:port, or (January 2026) device, or an interface for TCP; ^ at the start excludes; prefix[first-last]suffix; all; more than 64 abort the process", UCP + "ucp_is_resource_in_device_list; src/ucs/config/parser.c: ucs_config_sscanf_allow_list_with_ranges"),
    "UCX_TLS": ("transports and aliases; ^ at the start excludes", UCP + "ucp_tl_aliases, ucp_is_resource_enabled"),
    "UCX_IB_GID_INDEX": ("an index, or auto", UIB + "uct_ib_iface_init_roce_gid_info"),
    "UCX_IB_SL": ("0 to 15, or auto; on RoCE the priority", UIB + "uct_ib_iface_config_table"),
    "UCX_IB_TRAFFIC_CLASS": ("of the GRH, or auto: 106 on RoCE v2", UIB + "uct_ib_iface_config_table"),
    "UCX_RC_TIMEOUT": ("a time, rounded to the nearest 4.096 us x 2^N", "src/uct/ib/base/ib_device.c: uct_ib_to_qp_fabric_time; " + URC + "uct_rc_iface_common_config_table"),
    "UCX_RC_RETRY_COUNT": ("more than 7 counts as 7", URC + "uct_rc_iface_config_limit_value"),
    "UCX_MAX_RNDV_RAILS": ("devices that share a large message", UCP + "ucp_context_config_table"),
    "UCX_MAX_EAGER_RAILS": ("devices that share a small message", UCP + "ucp_context_config_table"),
    "UCX_MAX_RMA_RAILS": ("devices that share a put or get", UCP + "ucp_context_config_table"),
    "UCX_IB_NUM_PATHS": ("queue pairs to a peer, or auto: 2 on a LAG", UIB + "uct_ib_iface_config_table"),
    "UCX_IB_ROCE_LOCAL_SUBNET": ("y: only peers of the interface's subnet", UIB + "uct_ib_iface_roce_is_routable"),
    "FI_PROVIDER": ("names, layers joined by ;, ^ at the start excludes; other providers are not used", "src/fabric.c: ofi_create_filter, ofi_getprov"),
    "FI_EFA_IFACE": ("exact names, or all; an empty value aborts the process", "prov/efa/src/efa_env.c: efa_env_param_get; efa_env.h: efa_env_allows_nic"),
    "FI_EFA_USE_DEVICE_RDMA": ("0: RDMA is emulated; 1 on a device without RDMA: the process aborts", "prov/efa/src/efa_env.c: efa_env_param_get"),
    "FI_EFA_ENABLE_SHM_TRANSFER": ("0: the NIC is used within the host, too", "prov/efa/src/efa_env.c: efa_env_param_get"),
    "FI_EFA_FORK_SAFE": ("1: registered memory stays valid after fork()", "prov/efa/src/efa_env.c: efa_env_define"),
    "FI_VERBS_DEVICE_NAME": ("name prefixes, ignoring case", "prov/verbs/src/verbs_info.c: vrb_init_info"),
    "FI_VERBS_IFACE": ("interface name prefixes", "prov/verbs/src/verbs_init.c: vrb_read_params"),
    "FI_TCP_IFACE": ("one exact interface name", "prov/tcp/src/xnet_init.c"),
    "FI_HMEM_DISABLE_P2P": ("1: NICs do not access GPU memory", "src/hmem.c: ofi_hmem_init"),
    "FI_HMEM_CUDA_USE_DMABUF": ("0: no DMA-BUF", "src/hmem_cuda.c: cuda_hmem_init"),
    "GLOO_SOCKET_IFNAME": ("exact interface names separated by commas; a missing one raises an exception", "PyTorch, torch/csrc/distributed/c10d/init.cpp"),
    "MC_TE_FILTERS": ("exact names, blanks around them are ignored", "mooncake-transfer-engine/src/topology.cpp: listInfiniBandDevices"),
    "MC_FORCE_TCP": ("set to any value: TCP only", MCI),
    "MC_FORCE_HCA": ("set to any value: RDMA even if no NIC was found", MCI),
    "MC_FORCE_MNNVL": ("set to any value: NVLink between hosts", MCI),
    "MC_INTRANODE_NVLINK": ("set to any value: NVLink within the host", MCI),
    "MC_GID_INDEX": ("0 to 255, else ignored; not set: NCCL_IB_GID_INDEX", MC),
    "MC_IB_PORT": ("1 to 255, else ignored", MC),
    "MC_PKEY_INDEX": ("0 to 65535, else ignored", MC),
    "MC_IB_TC": ("0 to 255, else ignored", MC),
    "MC_IB_SL": ("0 to 15, else ignored", MC),
    "MC_MTU": ("512, 1024, 2048 or 4096, else ignored; at most the port's MTU", MC + "; mooncake-transfer-engine/src/transport/rdma_transport/rdma_endpoint.cpp: RdmaEndPoint::doSetupConnection"),
    "MC_NUM_QP_PER_EP": ("1 to 255, else ignored", MC),
    "MC_NUM_CQ_PER_CTX": ("1 to 255, else ignored", MC),
    "MC_WORKERS_PER_CTX": ("1 to 8, else ignored", MC),
    "MC_MAX_WR": ("1 to 65535, else ignored", MC),
    "MC_SLICE_SIZE": ("more than 0, else ignored", MC),
    "MC_SLICE_TIMEOUT": ("1 to 65535 seconds, else ignored", MC),
    "MC_RETRY_CNT": ("1 to 127 tries of a slice, else ignored; queue pairs keep 7", MC),
    "MC_IB_PCI_RELAXED_ORDERING": ("0, 1, 2, else ignored", MC),
    "MC_PATH_ROUNDROBIN": ("1 or true", "mooncake-transfer-engine/src/topology.cpp: Topology::Topology"),
    "MC_MLX5_QP_LAG_PORT_BALANCE": ("a switch", MC),
    "MC_CUSTOM_TOPO_JSON": ("read instead of detecting the topology", MCI),
    "MC_DISABLE_METACACHE": ("set to any value", MC),
    "MC_USE_IPV6": ("set to any value", MC),
    "MC_ENABLE_DEST_DEVICE_AFFINITY": ("set to any value", MC),
}

# name of the case, host, settings, {finding ids}, {variable: part of its effect}
MADE_UP = [
    ("networks of NCCL", "ib", "NCCL_NET=socket NCCL_IB_TIMEOUT=1 NCCL_NET_GDR_LEVEL=LOC", {"env-rdma-off"}, {"NCCL_NET": "TCP between hosts", "NCCL_IB_TIMEOUT": "not used: NCCL_NET=Socket"}),
    ("a P_Key where an index belongs", "ib", "NCCL_IB_PKEY=0x8001", {"env-pkey-index"}, {"NCCL_IB_PKEY": "index 32769"}),
    ("", "ib", "NCCL_NET=IB", set(), {"NCCL_NET": "NCCL's built-in IB/RoCE transport"}),
    ("", "ib", "NCCL_NET=IB NCCL_IB_DISABLE=1", {"env-no-network", "env-rdma-off"}, {"NCCL_NET": "which NCCL_IB_DISABLE disables"}),
    ("", "ib", "NCCL_NET=TCP", {"env-no-network"}, {"NCCL_NET": "NCCL fails if there is none"}),
    ("", "ib", "'NCCL_NET=AWS Libfabric' NCCL_IB_HCA=mlx5_77", set(), {"NCCL_NET": "the plugin whose network is named", "NCCL_IB_HCA": "NCCL_NET selects a plugin"}),
    ("", "efa", "NCCL_NET_PLUGIN=none", {"env-rdma-off"}, {"NCCL_NET_PLUGIN": "no plugin"}),
    ("", "ib", "NCCL_NET_PLUGIN=ucx", set(), {"NCCL_NET_PLUGIN": "loads ucx, else libnccl-net-ucx.so; if none loads, NCCL's built-in networks"}),
    ("a word is 0", "ib", "NCCL_IB_DISABLE=true", {"env-no-number"}, {"NCCL_IB_DISABLE": "RDMA stays enabled"}),
    ("families", "roce", "NCCL_SOCKET_FAMILY=AF_INET6 NCCL_IB_ADDR_FAMILY=AF_INET6", {"env-gid-bad"}, {"NCCL_SOCKET_FAMILY": "IPv6", "NCCL_IB_ADDR_FAMILY": "GID index 0"}),
    ("", "roce", "NCCL_IB_ADDR_FAMILY=inet6", {"env-ignored"}, {"NCCL_IB_ADDR_FAMILY": "AF_INET is used; GID index 3"}),
    ("", "roce", "NCCL_IB_ADDR_RANGE=10.0.0.0", {"env-ignored"}, {"NCCL_IB_ADDR_RANGE": "any address matches; GID index 3"}),
    ("", "roce", "NCCL_IB_ROCE_VERSION_NUM=1", {"env-gid-bad"}, {"NCCL_IB_ROCE_VERSION_NUM": "GID index 2 (RoCE v1)"}),
    ("timeouts", "ib", "NCCL_IB_TIMEOUT=31", {"env-timeout-long"}, {"NCCL_IB_TIMEOUT": "2^31 = 8.8e+03 s"}),
    ("", "ib", "NCCL_IB_TIMEOUT=0", {"env-timeout-none"}, {"NCCL_IB_TIMEOUT": "no timeout"}),
    ("", "ib", "NCCL_IB_TIMEOUT=0x16", set(), {"NCCL_IB_TIMEOUT": "2^22"}),
    ("traffic classes", "roce", "NCCL_IB_TC=26", {"env-tc-is-dscp"}, {"NCCL_IB_TC": "DSCP 6, ECN bits 2"}),
    ("", "roce", "NCCL_IB_TC=107", {"env-ecn-marked"}, {"NCCL_IB_TC": "CE, congestion experienced"}),
    ("", "roce", "NCCL_IB_TC=256 NCCL_IB_SL=9", {"env-out-of-range"}, {"NCCL_IB_TC": "does not fit", "NCCL_IB_SL": "9 is not a RoCE priority"}),
    ("", "roce", "NCCL_IB_FIFO_TC=192 NCCL_GIN_IB_TC=96", set(), {"NCCL_IB_FIFO_TC": "DSCP 48", "NCCL_GIN_IB_TC": "DSCP 24"}),
    ("", "ib", "NCCL_IB_QPS_PER_CONNECTION=0", {"env-out-of-range"}, {"NCCL_IB_QPS_PER_CONNECTION": "supports 1 to 128"}),
    ("fusing", "ib", "NCCL_IB_MERGE_VFS=0 NCCL_NET_MERGE_LEVEL=port NCCL_NET_MERGE_POLICY=rails", {"env-unknown-value"},
     {"NCCL_IB_MERGE_VFS": "separate NICs", "NCCL_NET_MERGE_LEVEL": "merges no NICs", "NCCL_NET_MERGE_POLICY": "'rails' is not known"}),
    ("", "ib", "NCCL_NET_FORCE_MERGE=mlx5_0,mlx5_77", {"env-no-device"}, {"NCCL_NET_FORCE_MERGE": "1 group"}),
    ("", "ib", "NCCL_P2P_PXN_LEVEL=1 NCCL_IB_DATA_DIRECT=2 NCCL_DMABUF_ENABLE=0 NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1", set(),
     {"NCCL_P2P_PXN_LEVEL": "where that avoids the CPU", "NCCL_IB_DATA_DIRECT": "listed twice", "NCCL_DMABUF_ENABLE": "nvidia_peermem only",
      "NCCL_P2P_DISABLE": "NVLink included", "NCCL_SHM_DISABLE": "no shared memory"}),
    ("GPUDirect", "ib", "NCCL_NET_GDR_LEVEL=LOC", {"env-gdr-off"}, {"NCCL_NET_GDR_LEVEL": "0 of 8 GPUs"}),
    ("", "ib", "NCCL_NET_GDR_LEVEL=phb", {"env-unknown-value"}, {"NCCL_NET_GDR_LEVEL": "'phb' is not known"}),
    ("", "ib", "NCCL_IB_AR_THRESHOLD=0 NCCL_IB_USE_INLINE=1 NCCL_IB_ECE_ENABLE=0 NCCL_GDR_FLUSH_DISABLE=1 NCCL_IB_RESILIENCY_PORT_FAILOVER=1", set(),
     {"NCCL_IB_AR_THRESHOLD": "above 0 bytes", "NCCL_IB_USE_INLINE": "inline", "NCCL_IB_ECE_ENABLE": "no enhanced connection",
      "NCCL_GDR_FLUSH_DISABLE": "before Hopper", "NCCL_IB_RESILIENCY_PORT_FAILOVER": "is no longer used"}),
    ("", "ib", "NCCL_IB_RETURN_ASYNC_EVENTS=0 NCCL_IB_PCI_RELAXED_ORDERING=0", {"env-events-ignored"}, {"NCCL_IB_RETURN_ASYNC_EVENTS": "the job continues", "NCCL_IB_PCI_RELAXED_ORDERING": "no PCI relaxed ordering"}),
    ("", "ib", "NCCL_IB_SUBNET_AWARE_ROUTING=1 NCCL_IB_OOO_RQ=1 NCCL_NET_DISABLE_INTRA=1", set(),
     {"NCCL_IB_SUBNET_AWARE_ROUTING": "in the peer's subnet", "NCCL_IB_OOO_RQ": "out of order", "NCCL_NET_DISABLE_INTRA": "not used within the host"}),
    ("kinds of GPU-initiated transfers", "roce", "NCCL_GIN_TYPE=3", set(), {"NCCL_GIN_TYPE": "by the GPU (GDAKI): mlx5 only"}),
    ("", "roce", "NCCL_GIN_TYPE=1", set(), {"NCCL_GIN_TYPE": "has no kind 1"}),
    ("", "roce", "NCCL_GIN_TYPE=7", {"env-out-of-range"}, {"NCCL_GIN_TYPE": "outside -1 to 5"}),
    ("the driver's options are not known", "efa", "NCCL_GIN_TYPE=5", set(), {"NCCL_GIN_TYPE": "EFA-GDA"}),
    ("a list that is too long", "ib", "NCCL_IB_HCA==" + ",".join(f"mlx5_{n % 8}" for n in range(40)), {"env-list-cut"}, {"NCCL_IB_HCA": "8 entries after entry 32 are not read; 8 of 12"}),
    ("quotes in a file are a shell's", "ib", "NCCL_IB_HCA=\"'mlx5'\"", {"env-not-compute"}, {"NCCL_IB_HCA": "12 of 12"}),
    ("NVSHMEM", "ib", "NVSHMEM_HCA_LIST=mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1,mlx5_4:1,mlx5_5:1,mlx5_6:1,mlx5_7:1 NVSHMEM_HCA_PE_MAPPING=mlx5_0:1:1 NVSHMEM_ENABLE_NIC_PE_MAPPING=1",
     {"env-overridden"}, {"NVSHMEM_HCA_LIST": "8 of 12", "NVSHMEM_HCA_PE_MAPPING": "NVSHMEM_HCA_LIST overrides it"}),
    ("", "ib", "NVSHMEM_HCA_PREFIX=ibp", {"env-no-device"}, {"NVSHMEM_HCA_PREFIX": "IBRC uses all"}),
    ("", "roce", "NVSHMEM_IB_GID_INDEX=3 NVSHMEM_IB_SL=3 NVSHMEM_IB_TRAFFIC_CLASS=106", set(), {"NVSHMEM_IB_GID_INDEX": "GID index 3", "NVSHMEM_IB_SL": "priority 3", "NVSHMEM_IB_TRAFFIC_CLASS": "DSCP 26"}),
    ("", "roce", "NVSHMEM_IB_ADDR_FAMILY=AF_INET NVSHMEM_IB_ADDR_RANGE=::/0 NVSHMEM_IB_ROCE_VERSION_NUM=2", set(),
     {"NVSHMEM_IB_ADDR_FAMILY": "GID index 3", "NVSHMEM_IB_ADDR_RANGE": "GID index 3", "NVSHMEM_IB_ROCE_VERSION_NUM": "GID index 3"}),
    ("", "ib", "NVSHMEM_IB_NUM_RC_PER_DEVICE=4 NVSHMEM_IB_DISABLE_DMABUF=1 NVSHMEM_IB_ENABLE_RELAXED_ORDERING=0 NVSHMEM_DISABLE_GDRCOPY=true NVSHMEM_DISABLE_MNNVL=1", set(),
     {"NVSHMEM_IB_NUM_RC_PER_DEVICE": "4 RC queue pairs", "NVSHMEM_IB_DISABLE_DMABUF": "nvidia_peermem only", "NVSHMEM_IB_ENABLE_RELAXED_ORDERING": "no PCI relaxed ordering",
      "NVSHMEM_DISABLE_GDRCOPY": "emulates", "NVSHMEM_DISABLE_MNNVL": "is not used"}),
    ("", "ib", "NVSHMEM_IBGDA_NUM_RC_PER_PE=8 NVSHMEM_IBGDA_NUM_DCI=4 NVSHMEM_IBGDA_NUM_DCT=2 NVSHMEM_IBGDA_NUM_SHARED_DCI=1 NVSHMEM_IBGDA_DCI_MAP_BY=dct NVSHMEM_IBGDA_RC_MAP_BY=warp", set(),
     {"NVSHMEM_IBGDA_NUM_RC_PER_PE": "8 RC queue pairs", "NVSHMEM_IBGDA_NUM_DCI": "4 DCI", "NVSHMEM_IBGDA_NUM_DCT": "2 DCT", "NVSHMEM_IBGDA_NUM_SHARED_DCI": "1 of the DCI",
      "NVSHMEM_IBGDA_DCI_MAP_BY": "by dct", "NVSHMEM_IBGDA_RC_MAP_BY": "by warp"}),
    ("", "ib", "NVSHMEM_IBGDA_RC_MAP_BY=dct", {"env-unknown-value"}, {"NVSHMEM_IBGDA_RC_MAP_BY": "'dct' is not known"}),
    ("", "ib", "NVSHMEM_IBGDA_NIC_HANDLER=nic", {"env-unknown-value"}, {"NVSHMEM_IBGDA_NIC_HANDLER": "'nic' is not known"}),
    ("", "ib", "NVSHMEM_IB_ENABLE_IBGDA=no NVSHMEM_IBGDA_NIC_HANDLER=nic", set(), {"NVSHMEM_IBGDA_NIC_HANDLER": "not used: NVSHMEM_IB_ENABLE_IBGDA"}),
    ("", "ib", "NVSHMEM_IBGDA_ENABLE_MULTI_PORT=1 NVSHMEM_IBGDA_FORCE_NIC_BUF_MEMTYPE=hostmem NVSHMEM_DISABLE_DATA_DIRECT=1 NVSHMEM_DISABLE_IB_NATIVE_ATOMICS=1", set(),
     {"NVSHMEM_IBGDA_ENABLE_MULTI_PORT": "all NICs", "NVSHMEM_IBGDA_FORCE_NIC_BUF_MEMTYPE": "host memory", "NVSHMEM_DISABLE_DATA_DIRECT": "not used", "NVSHMEM_DISABLE_IB_NATIVE_ATOMICS": "a CPU proxy thread"}),
    ("", "ib", "NVSHMEM_REMOTE_TRANSPORT=gpunetio NVSHMEM_GPUNETIO_ENABLE_GDAKI=1 NVSHMEM_GPUNETIO_NIC_HANDLER=gpu_sm_bf NVSHMEM_IB_TIMEOUT=21 NVSHMEM_IB_RETRY_CNT=6 NVSHMEM_IB_PKEY_INDEX=1", set(),
     {"NVSHMEM_REMOTE_TRANSPORT": "gpunetio between hosts", "NVSHMEM_GPUNETIO_ENABLE_GDAKI": "(GPUNetIO)", "NVSHMEM_IB_TIMEOUT": "2^21 = 8.59 s; with 6 retries",
      "NVSHMEM_IB_RETRY_CNT": "up to 6 times", "NVSHMEM_IB_PKEY_INDEX": "index 1"}),
    ("", "ib", "NVSHMEM_REMOTE_TRANSPORT=quantum NVSHMEM_GPUNETIO_ENABLE_GDAKI=1", {"env-unknown-value"},
     {"NVSHMEM_REMOTE_TRANSPORT": "'quantum' is not known to release 3.7.0 of NVSHMEM", "NVSHMEM_GPUNETIO_ENABLE_GDAKI": "NVSHMEM_REMOTE_TRANSPORT is not gpunetio"}),
    ("", "ib", "NVSHMEM_IB_TIMEOUT=40 NVSHMEM_IB_RETRY_CNT=9", {"env-out-of-range"}, {"NVSHMEM_IB_TIMEOUT": "5-bit field", "NVSHMEM_IB_RETRY_CNT": "3-bit field"}),
    ("", "ib", "NVSHMEM_QP_DEPTH=64", {"env-out-of-range"}, {"NVSHMEM_QP_DEPTH": "fails to start"}),
    ("", "efa", "NVSHMEM_REMOTE_TRANSPORT=libfabric NVSHMEM_LIBFABRIC_PROVIDER=efa NVSHMEM_LIBFABRIC_MAX_NIC_PER_PE=2 NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME=eth", set(),
     {"NVSHMEM_LIBFABRIC_MAX_NIC_PER_PE": "up to 2 NICs per PE", "NVSHMEM_LIBFABRIC_PROVIDER": "provider efa", "NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME": "4 interfaces"}),
    ("UCX", "ib", "UCX_TLS=^ib", {"env-rdma-off"}, {"UCX_TLS": "allows no RDMA"}),
    ("UCX", "ib", "UCX_TLS=^rc,dc,ud", {"env-rdma-off"}, {"UCX_TLS": "allows no RDMA"}),
    ("", "ib", "UCX_TLS=^rc,dc", set(), {"UCX_TLS": "allows RDMA"}),
    ("", "ib", "UCX_TLS=^tcp,cuda_ipc", set(), {"UCX_TLS": "allows RDMA"}),
    ("", "ib", "UCX_TLS=rc,rdma", {"env-unknown-value"}, {"UCX_TLS": "allows RDMA transports; 'rdma' is not known"}),
    ("", "ib", "UCX_NET_DEVICES=mlx5_[0-7]:1", set(), {"UCX_NET_DEVICES": "8 of 12"}),
    ("", "ib", "UCX_NET_DEVICES=^mlx5_8:1,mlx5_9:1,mlx5_10:1,mlx5_11:1", set(), {"UCX_NET_DEVICES": "8 of 12"}),
    ("", "ib", "UCX_NET_DEVICES=mlx5_0,mlx5_[1-7]:1", {"env-no-port"}, {"UCX_NET_DEVICES": "8 of 12"}),
    ("", "ib", "UCX_NET_DEVICES=mlx5_0:2,mlx5_[1-7]:1", {"env-no-port", "env-left-out"}, {"UCX_NET_DEVICES": "7 of 12"}),
    ("", "ib", "UCX_NET_DEVICES=mlx5_[0-7]:1,mlx5_[100-180]:1", {"env-refused", "env-no-device"}, {"UCX_NET_DEVICES": "UCX fails: at most 64 devices"}),
    ("", "ib", "UCX_RC_TIMEOUT=1s UCX_RC_RETRY_COUNT=7 UCX_MAX_EAGER_RAILS=2 UCX_IB_NUM_PATHS=2 UCX_IB_ROCE_LOCAL_SUBNET=y", set(),
     {"UCX_RC_TIMEOUT": "2^18 = 1.07 s; with 7 retries an unreachable peer is reported after 8.59 s", "UCX_RC_RETRY_COUNT": "up to 7 times",
      "UCX_MAX_EAGER_RAILS": "up to 2 devices", "UCX_IB_NUM_PATHS": "2 queue pairs", "UCX_IB_ROCE_LOCAL_SUBNET": "only peers in the subnet"}),
    ("", "ib", "UCX_RC_TIMEOUT=soon", {"env-refused"}, {"UCX_RC_TIMEOUT": "rejects it"}),
    ("", "ib", "UCX_IB_ROCE_LOCAL_SUBNET=true", {"env-refused"}, {"UCX_IB_ROCE_LOCAL_SUBNET": "rejects it"}),
    ("libfabric", "ib", "FI_PROVIDER=verbs;ofi_rxm FI_VERBS_DEVICE_NAME=MLX5_ FI_VERBS_IFACE=ib FI_EFA_USE_DEVICE_RDMA=0", set(),
     {"FI_VERBS_DEVICE_NAME": "12 of 12", "FI_VERBS_IFACE": "8 interfaces", "FI_EFA_USE_DEVICE_RDMA": "excludes efa"}),
    ("", "efa", "FI_EFA_IFACE=mlx5_0,mlx5_77 FI_EFA_ENABLE_SHM_TRANSFER=0 FI_EFA_FORK_SAFE=1 FI_TCP_IFACE=eth8", {"env-no-device"},
     {"FI_EFA_IFACE": "1 of", "FI_EFA_ENABLE_SHM_TRANSFER": "through the NIC", "FI_EFA_FORK_SAFE": "stays valid after fork()", "FI_TCP_IFACE": "1 interface"}),
    ("", "ib", "FI_HMEM_DISABLE_P2P=1 FI_HMEM_CUDA_USE_DMABUF=0", {"env-gdr-off"}, {"FI_HMEM_DISABLE_P2P": "do not access GPU memory", "FI_HMEM_CUDA_USE_DMABUF": "peer memory driver only"}),
    ("", "ib", "FI_HMEM_DISABLE_P2P=maybe", {"env-ignored"}, {"FI_HMEM_DISABLE_P2P": "keeps its default"}),
    ("Mooncake", "ib", "'MC_TE_FILTERS= mlx5_0 , mlx5_1'", {"env-left-out"}, {"MC_TE_FILTERS": "2 of 12"}),
    ("", "ib", "MC_FORCE_TCP=0 MC_IB_TC=3", {"env-set-is-on", "env-rdma-off"}, {"MC_FORCE_TCP": "TCP only", "MC_IB_TC": "not used: MC_FORCE_TCP"}),
    ("", "roce", "MC_IB_PORT=2 MC_PKEY_INDEX=0 MC_IB_TC=160", {"env-no-port"}, {"MC_IB_PORT": "port 2", "MC_PKEY_INDEX": "index 0", "MC_IB_TC": "DSCP 40"}),
    ("", "roce", "MC_MTU=9000", {"env-ignored"}, {"MC_MTU": "ignored"}),
    ("", "ib", "MC_NUM_CQ_PER_CTX=4 MC_WORKERS_PER_CTX=9 MC_SLICE_TIMEOUT=10 MC_RETRY_CNT=5 MC_PATH_ROUNDROBIN=1 MC_MLX5_QP_LAG_PORT_BALANCE=1", {"env-out-of-range"},
     {"MC_NUM_CQ_PER_CTX": "4 completion queues", "MC_WORKERS_PER_CTX": "keeps 2", "MC_SLICE_TIMEOUT": "after 10 s", "MC_RETRY_CNT": "up to 5 times", "MC_PATH_ROUNDROBIN": "round-robin",
      "MC_MLX5_QP_LAG_PORT_BALANCE": "pinned"}),
    ("", "ib", "MC_CUSTOM_TOPO_JSON=/etc/topo.json MC_DISABLE_METACACHE=1 MC_USE_IPV6=1 MC_ENABLE_DEST_DEVICE_AFFINITY=1", set(),
     {"MC_CUSTOM_TOPO_JSON": "not checked", "MC_DISABLE_METACACHE": "each time", "MC_USE_IPV6": "IPv6", "MC_ENABLE_DEST_DEVICE_AFFINITY": "of the same name"}),
    ("", "ib", "MC_PATH_ROUNDROBIN=yes", {"env-ignored"}, {"MC_PATH_ROUNDROBIN": "keeps its default, 0"}),
    ("", "ib", "GLOO_SOCKET_IFNAME=eth8,eth77", {"env-no-interface"}, {"GLOO_SOCKET_IFNAME": "1 interface"}),
    ("newer releases", "ib", "NCCL_RUN_DIAGNOSTICS=1 NCCL_RUN_RAS_DIAGNOSTICS=1 NCCL_DEBUG_SUBSYS=^DIAG,verbs NCCL_IB_RESILIENCY_PORT_RECOVERY=1 NCCL_IB_PKEY_VALUE=0x8001 NCCL_CFT_ENABLE=1", set(),
     {"NCCL_DEBUG_SUBSYS": "selects what"}),
    ("", "ib", "NCCL_DEBUG_SUBSYS=INIT,QUANTUM NCCL_PAZ_ENABLE=1 NCCL_QUX_ENABLE=1 FI_PROVIDER=quantum", {"env-unknown-value", "env-unknown-name"},
     {"NCCL_DEBUG_SUBSYS": "'QUANTUM' is not known to release 2.32.3 of NCCL", "NCCL_PAZ_ENABLE": "not known to release 2.32.3 of NCCL: did you mean NCCL_PAT_ENABLE?",
      "NCCL_QUX_ENABLE": "not known to release 2.32.3 of NCCL"}),
    ("names", "ib", "NCCL_IB_HAC=mlx5_0 nccl_debug=INFO NCCL_SOCKET_IF_NAME=eth8 NCCL_GID_INDEX=3 NCLL_DEBUG=WARN UCX_IB_GIDINDEX=3", {"env-unknown-name"},
     {"NCCL_IB_HAC": "did you mean NCCL_IB_HCA", "nccl_debug": "did you mean NCCL_DEBUG", "NCCL_SOCKET_IF_NAME": "did you mean NCCL_SOCKET_IFNAME",
      "NCCL_GID_INDEX": "did you mean NCCL_IB_GID_INDEX", "NCLL_DEBUG": "did you mean NCCL_DEBUG", "UCX_IB_GIDINDEX": "did you mean UCX_IB_GID_INDEX"}),
    ("", "ib", "NCCL_FOO_BAR=1 UCX_RC_MLX5_TX_QUEUE_LEN=512 NCCL_DEBUG=INFO", set(), {"NCCL_FOO_BAR": "not known to release 2.32.3 of NCCL"}),
]


def cases():
    last, out = "", []
    for name, host, settings, ids, effects in MADE_UP:
        last = name or last
        out.append((last, host, settings, ids, effects))
    return out


def judged():
    """The variables that the code has a rule for."""
    found = set()
    for path in glob.glob(os.path.join(HERE, "../../../lib/analyse/env/envcheck-*.c")):
        with open(path, encoding="utf-8") as f:
            found |= set(re.findall(r'^\t\{ "((?:NCCL|NVSHMEM|UCX|FI|GLOO|MC)_[A-Z0-9_]+)",\s*(?:rd_envcheck_|check_|NULL)', f.read(), re.M))
    return found


def gaps():
    """Rules without a row, rows without a rule, and rules that no case tries."""
    tried = {name for case in threads.CASES + MADE_UP for name in case[4]}
    code = judged()
    return [f"{n}: the code judges it, and rules.py lacks it" for n in sorted(code - set(RULES))] + \
        [f"{n}: rules.py has it, and the code does not judge it" for n in sorted(set(RULES) - code)] + \
        [f"{n}: no case tries it" for n in sorted(set(RULES) - tried)]


def table():
    print("# Variables that nic-map --check-env judges\n\nWritten by `env.py --table`. Rules were read from NCCL 2.30.7, NVSHMEM 3.5.1 (2d7d25f), UCX 1.23\n"
          "(9466d104a3), libfabric 2.7.0a1 (af8ddbe92) and Mooncake 3b5a59413; names and values are also known from the guides of NCCL 2.32.3 and\n"
          "NVSHMEM 3.7.0. Other variables are only listed by name.\n\n"
          "| variable | rule | read from | tried by |\n| --- | --- | --- | --- |")
    for name, (rule, source) in RULES.items():
        where = [c[0] for c in threads.CASES if name in c[4]] + ["rules.py"] * any(name in c[4] for c in MADE_UP)
        print(f"| `{name}` | {rule} | {source} | {', '.join(where)} |")
    print("\n# Settings of public threads\n\n| thread | host | settings | findings |\n| --- | --- | --- | --- |")
    for thread, host, settings, ids, _ in threads.CASES:
        print(f"| {thread} | {host} | `{settings}` | {', '.join(sorted(ids)) or 'none'} |")
    return 0
