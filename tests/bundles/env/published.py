# SPDX-License-Identifier: GPL-2.0-or-later
"""Settings that providers publish, and broken twins of them: address, host of tests/bundles/silent, the settings, the expected
findings with their severities (exactly these). Nothing published is a warning or critical. Names of devices and interfaces are the
host's; variables that no rule concerns are left out. NCCL moves the data of these jobs: UCX is for the start only, so its findings are notes."""

OCI = "=mlx5_0,mlx5_1,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7,mlx5_8,mlx5_9,mlx5_10,mlx5_12,mlx5_13,mlx5_14,mlx5_15,mlx5_16,mlx5_17"
THOR2 = "bnxt_re0,bnxt_re1,bnxt_re2,bnxt_re3,bnxt_re4,bnxt_re5,bnxt_re6,bnxt_re7"
EIGHT = "mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1,mlx5_4:1,mlx5_5:1,mlx5_6:1,mlx5_7:1"
NO_UCX = {"note env-rdma-off"}

CASES = [
    # DSCP 10 and ECT(1), and an Open MPI over TCP
    ("https://github.com/oracle-quickstart/oci-hpc samples/gpu/nccl_run_allreduce_H100_200.sbatch", "oci-h100",
     f"NCCL_DEBUG=WARN NCCL_CUMEM_ENABLE=0 NCCL_IB_SPLIT_DATA_ON_QPS=0 NCCL_IB_QPS_PER_CONNECTION=1 NCCL_IB_GID_INDEX=3 NCCL_IB_TC=41 NCCL_IB_SL=0 NCCL_IB_TIMEOUT=22 NCCL_NET_PLUGIN=none UCX_TLS=tcp UCX_NET_DEVICES=eth0 NCCL_SOCKET_IFNAME=eth0 NCCL_IGNORE_CPU_AFFINITY=1 NCCL_IB_HCA={OCI}", NO_UCX),
    # UCX with one device
    ("https://github.com/oracle-quickstart/oci-hpc samples/gpu/rccl_run_allreduce.sbatch (MI300X)", "mi300x-thor2",
     f"UCX_NET_DEVICES=bnxt_re0:1 NCCL_SOCKET_IFNAME=eno8303 NCCL_IB_SL=0 NCCL_IB_HCA=={THOR2} NCCL_IGNORE_CPU_AFFINITY=1 NCCL_IB_QPS_PER_CONNECTION=4", {"note env-left-out"}),
    # without NCCL_IB_TC=41: the lossless priority of this host has another DSCP
    ("https://github.com/oracle-quickstart/oci-hpc samples/gpu/rccl_run_allreduce.sbatch (MI355X)", "mi300x-thor2",
     f"UCX_NET_DEVICES=eno8303 NCCL_SOCKET_IFNAME=eno8303 NCCL_IB_SL=0 NCCL_IB_HCA=={THOR2} NCCL_IGNORE_CPU_AFFINITY=1 NCCL_IB_QPS_PER_CONNECTION=1 NCCL_IB_GID_INDEX=3 NCCL_IB_TIMEOUT=22", NO_UCX),
    ("https://github.com/coreweave/nccl-tests slurm/nccl-test-distributed-gb300-roce-nvl72-enroot.slurm", "hgx-b200",
     f"NCCL_NET_PLUGIN=spcx NCCL_IB_NET_LATENCY=50 NCCL_IB_ADAPTIVE_ROUTING=1 NCCL_NVLS_NCHANNELS=24 NCCL_P2P_NET_CHUNKSIZE=524288 NCCL_NVLSTREE_MAX_CHUNKSIZE=262144 NCCL_NVLS_CHUNKSIZE=262144 NCCL_IB_TC=96 NCCL_SOCKET_IFNAME=enp90s0f0np0 NCCL_IB_HCA==mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7 UCX_TLS=tcp UCX_NET_DEVICES=enp90s0f0np0", NO_UCX),
    ("https://github.com/coreweave/nccl-tests slurm/nccl-test-distributed-h100-64-enroot-sharp.slurm", "kvm-h100",
     f"NCCL_SOCKET_IFNAME=eth0 NCCL_IB_HCA=mlx5 UCX_NET_DEVICES={EIGHT} UCX_TLS=dc,self NCCL_COLLNET_ENABLE=1", set()),
    # UCX over the front-end, without UCX_TLS
    ("https://github.com/Azure/azurehpc experimental/run_nccl_tests_ndv4/run_nccl_tests_slurm.slrm", "azure-nd-h100-v5",
     "UCX_IB_PCI_RELAXED_ORDERING=on NCCL_DEBUG=INFO NCCL_IB_PCI_RELAXED_ORDERING=1 NCCL_TOPO_FILE=/opt/microsoft/ndv4-topo.xml NCCL_SOCKET_IFNAME=eth0 UCX_NET_DEVICES=eth0", NO_UCX),
    ("https://github.com/Azure/azhpc-images tests/test-definitions.sh (nd96*v4)", "azure-nd-h100-v5", "UCX_TLS=tcp NCCL_SOCKET_IFNAME=eth0 NCCL_DEBUG=WARN NCCL_NET_GDR_LEVEL=5", NO_UCX),
    ("https://github.com/Azure/azhpc-images tests/test-definitions.sh (GB200)", "gb200", "UCX_TLS=rc UCX_IB_GID_INDEX=0 NCCL_SOCKET_IFNAME=bond0 NCCL_DEBUG=WARN NCCL_NET_GDR_LEVEL=5", set()),
    ("https://github.com/Azure/azhpc-images components/customizations/ndv5.sh", "azure-nd-h100-v5",
     "NCCL_IB_PCI_RELAXED_ORDERING=1 NCCL_TOPO_FILE=/opt/microsoft/ndv5/topo.xml NCCL_IGNORE_CPU_AFFINITY=1", set()),
    # a prefix of all devices: as if it were not set
    ("https://github.com/skypilot-org/skypilot examples/nebius_infiniband/nccl.yaml", "azure-nd-h100-v5",
     f"NCCL_IB_HCA=mlx5 UCX_NET_DEVICES={EIGHT} NCCL_DEBUG=INFO NCCL_SOCKET_IFNAME=eth0 NCCL_COLLNET_ENABLE=0", {"note env-not-compute"}),
    ("https://github.com/aws-samples/awsome-distributed-training micro-benchmarks/nccl-tests/slurm/nccl-tests-container.sbatch", "aws-p5",
     "FI_PROVIDER=efa FI_EFA_USE_DEVICE_RDMA=1 FI_EFA_FORK_SAFE=1 NCCL_DEBUG=INFO NCCL_BUFFSIZE=8388608 NCCL_P2P_NET_CHUNKSIZE=524288", set()),
    ("https://github.com/AI-Hypercomputer/gpu-recipes training/a4/llama31_405b/megatron-bridge-slurm/nemo2509/128gpus-fp8cs-gbs1024/recipe/submit.slurm", "kvm-h100",
     "UCX_TLS=tcp,sm,self UCX_NET_DEVICES=eth0 GLOO_SOCKET_IFNAME=eth0", NO_UCX),
    ("https://github.com/AI-Hypercomputer/gpu-recipes training/a4x/wan_14b/nemo-gke/nemo2511/32gpus-bf16-gbs64/recipe/launcher.sh", "kvm-h100",
     "NCCL_NET=gIB NCCL_IB_DISABLE=0 NCCL_P2P_DISABLE=0 NCCL_IB_GID_INDEX=3 NCCL_ALGO=Ring,Tree NCCL_CUMEM_ENABLE=0 NCCL_MIN_CTAS=32 NCCL_NCHANNELS_PER_NET_PEER=16", set()),
    ("https://www.alibabacloud.com/help/en/pai/use-a-custom-image", "kvm-h100",
     "NCCL_IB_TC=136 NCCL_IB_SL=5 NCCL_IB_GID_INDEX=3 NCCL_SOCKET_IFNAME=eth NCCL_DEBUG=INFO NCCL_IB_HCA=mlx5 NCCL_IB_TIMEOUT=22 NCCL_IB_QPS_PER_CONNECTION=8 NCCL_NET_PLUGIN=none", set()),
    ("https://github.com/ROCm/gpu-cluster-networking docs/how-to/multi-node-config.rst", "mi300x-thor2",
     f"NCCL_IB_HCA={THOR2} NCCL_IB_GID_INDEX=3 NCCL_IB_QPS_PER_CONNECTION=4 NCCL_IB_PCI_RELAXED_ORDERING=1 NCCL_NET_GDR_LEVEL=PHB NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,GRAPH,NET,COLL NCCL_SOCKET_IFNAME=eno8303", set()),
    # others publish 22: a note
    ("https://github.com/ROCm/cvs cvs/input/env_file/rccl/ainic_env_script.sh", "mi300x-pollara",
     "NCCL_DEBUG=ERROR NCCL_SOCKET_IFNAME=eno1np0 NCCL_IB_GID_INDEX=1 NCCL_IB_TIMEOUT=30 NCCL_IB_SL=0 NCCL_IB_TC=0 NCCL_IB_FIFO_TC=0 NCCL_PXN_DISABLE=0 NCCL_GDR_FLUSH_DISABLE=1 NCCL_NET_OPTIONAL_RECV_COMPLETION=1 NCCL_IB_USE_INLINE=1 NCCL_DMABUF_ENABLE=0 NCCL_GDR_FLUSH_GPU_MEM_NO_RELAXED_ORDERING=0 NCCL_NET_PLUGIN=librccl-anp.so",
     {"note env-timeout-long"}),
    # without effect since NCCL 2.2.12
    ("https://github.com/AMD-AGI/Primus runner/helpers/envs/base_env.sh", "mi300x-thor2",
     f"NCCL_CHECKS_DISABLE=1 NCCL_IB_GID_INDEX=3 NCCL_CROSS_NIC=0 NCCL_IB_HCA={THOR2} NCCL_SOCKET_IFNAME=eno8303 GLOO_SOCKET_IFNAME=eno8303 NCCL_PXN_DISABLE=1 NCCL_P2P_NET_CHUNKSIZE=524288", {"note env-retired"}),
    # Twins: a name that is misspelt
    ("misspelt", "oci-h100", "NCCL_IB_GID_INDX=3", {"note env-unknown-name"}),
    ("misspelt", "mi300x-thor2", "NCCL_SOCKET_IF_NAME=eno8303", {"note env-unknown-name"}),
    ("misspelt", "aws-p5", "FI_PROVIDERS=efa", {"note env-unknown-name"}),
    # a GID index that the ports do not have
    ("GID index", "oci-h100", "NCCL_IB_GID_INDEX=5 NCCL_IB_TC=41", {"critical env-gid-gone"}),
    ("GID index", "mi300x-pollara", "NCCL_IB_GID_INDEX=3", {"critical env-gid-gone"}),
    ("GID index", "hgx-b200", "UCX_TLS=^tcp UCX_IB_GID_INDEX=5 GLOO_SOCKET_IFNAME=enp90s0f0np0", {"critical env-gid-gone"}),
    # devices that do not exist
    ("devices", "mi300x-thor2", "NCCL_IB_HCA==mlx5_0,mlx5_2 NCCL_SOCKET_IFNAME=eno8303", {"warning env-no-device", "critical env-selects-nothing"}),
    ("devices", "oci-h100", f"NCCL_IB_HCA={OCI},mlx5_18", {"warning env-no-device"}),
    ("devices", "kvm-h100", "NCCL_SOCKET_IFNAME=eth0 UCX_NET_DEVICES=mlx5_80:1", {"warning env-no-device", "critical env-selects-nothing"}),
    # traffic classes out of range, DSCPs instead of traffic classes
    ("traffic class", "oci-h100", "NCCL_IB_TC=416", {"warning env-out-of-range"}),
    ("traffic class", "mi300x-pollara", "NCCL_IB_TC=104 NCCL_IB_FIFO_TC=256", {"warning env-out-of-range"}),
    ("traffic class", "hgx-b200", "UCX_IB_TRAFFIC_CLASS=1000", {"warning env-out-of-range"}),
    ("traffic class", "oci-h100", "NCCL_IB_TC=26 NCCL_IB_FIFO_TC=46", {"warning env-tc-is-dscp", "warning env-tc-no-pfc"}),
    # of a priority that is not the lossless one: 5 on oci-h100, 3 elsewhere; of the control messages it may be another
    ("lossless priority", "oci-h100", "NCCL_IB_TC=104", set()),
    ("lossless priority", "oci-h100", "NCCL_IB_TC=98", {"warning env-tc-no-pfc"}),
    ("lossless priority", "hgx-b200", "NCCL_IB_TC=106 NCCL_IB_FIFO_TC=192", set()),
    ("lossless priority", "hgx-b200", "NCCL_IB_TC=160 NCCL_IB_FIFO_TC=192", {"warning env-tc-no-pfc"}),
    ("lossless priority", "h100-roce-lag", "NCCL_IB_TC=160", {"warning env-tc-no-pfc"}),
    ("lossless priority", "mi300x-thor2", "NCCL_IB_TC=104", set()),
    ("lossless priority", "mi300x-thor2", "NCCL_IB_TC=41", {"warning env-tc-no-pfc"}),
    # UCX that NCCL or the program itself uses for data, or that contradicts itself
    ("UCX", "oci-h100", "UCX_TLS=tcp UCX_NET_DEVICES=eth0", {"critical env-rdma-off"}),
    ("UCX", "oci-h100", "NCCL_DEBUG=WARN UCX_TLS=tcp,cuda_copy", {"critical env-rdma-off"}),
    ("UCX", "oci-h100", "NCCL_PLUGIN_P2P=ucx UCX_TLS=tcp", {"critical env-rdma-off"}),
    ("UCX", "oci-h100", "NCCL_DEBUG=WARN UCX_TLS=rc UCX_NET_DEVICES=eth0", {"critical env-rdma-off"}),
    # the mapping is missing; the other host's NICs need none
    ("aws/aws-ofi-nccl#1369", "aws-p5", "NCCL_GIN_TYPE=5 NCCL_SYM_GIN_KERNELS_ENABLE=0", {"critical env-gin-mapping"}),
    ("aws/aws-ofi-nccl#1369 by proxy", "aws-p5", "NCCL_GIN_TYPE=2", set()),
    ("aws/aws-ofi-nccl#1369 elsewhere", "hgx-b200", "NCCL_GIN_TYPE=3", set()),
    ("aws/aws-ofi-nccl#1369 without EFA", "hgx-b200", "NCCL_GIN_TYPE=5", set()),
    # PIX where NICs are PXB
    ("NVIDIA/nccl-tests#191 elsewhere", "hgx-b200", "NCCL_NET_GDR_LEVEL=PIX", {"warning env-gdr-off"}),
]
