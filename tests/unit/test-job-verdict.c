// SPDX-License-Identifier: GPL-2.0-or-later
/* What job says of a process, as a table: lines about the process, its queue pairs, and the verdict. */
#include "unit.h"

#include "analyse/job/job.h"
#include "analyse/qp/qp.h"
#include "base/text.h"
#include "collect/rdma/rdma.h"
#include "report/job/report-job.h"
#include "source/live/live.h"

#define NET "addr 127.0.0.1\naddr 10.0.0.1\nrdma mlx5_0\nrdma mlx5_1\n"
#define FAR_NET "other net\nother mnt\naddr 127.0.0.1\naddr 172.17.0.2\nrdma mlx5_0\nrdma mlx5_1\n"
#define NODES "dev uverbs0 231:192 0666 0 0\ndev uverbs1 231:193 0666 0 0\ndev rdma_cm 10:58 0666 0 0\n"
#define NO_NODES "dev uverbs0 ENOENT\ndev uverbs1 ENOENT\ndev rdma_cm ENOENT\n"
#define PROVIDERS "provider mlx5 1 1\nproviders\n"
#define FILES "fds 12\n"
#define GOOD NET NODES PROVIDERS FILES
#define NCCL "lib /usr/lib/x86_64-linux-gnu/libnccl.so.2.27.3\n"
#define UCX "lib /usr/lib/x86_64-linux-gnu/libucp.so.0.0.0\n"
#define VERBS "lib /usr/lib/x86_64-linux-gnu/libibverbs.so.1.14.39.0\n"
#define MPI "lib /usr/lib/libmpi.so.40\n"
#define OFI "lib /usr/lib/libfabric.so.1\n"
#define BULK "tcp 10.0.0.2 90000000 90000000\n"
#define LITTLE "tcp 10.0.0.2 90000 90000\n"
#define INSIDE "tcp 127.0.0.1 90000000 90000000\n"

static const struct row {
	const char *name, *text;
	unsigned qps; /* connected ones, on mlx5_0 */
	enum rd_job_asked asked;
	enum rd_job_verdict verdict;
	enum rd_severity severity;
	const char *reason; /* a part of it; with $, its end */
	bool datagram;	    /* of type UD */
	bool connecting;    /* one more, of type RC in INIT */
} rows[] = {
	{ "rdma", GOOD NCCL LITTLE "open uverbs0\n", 2, 0, RD_JOB_RDMA, RD_SEV_OK,
	  "2 connected queue pairs on mlx5_0/1" },
	{ "rdma and a download", GOOD NCCL "open uverbs0\ntcp 192.0.2.7 0 90000000\n", 2, 0, RD_JOB_RDMA, RD_SEV_OK,
	  "2 connected" },
	{ "mixed", GOOD NCCL BULK "open uverbs0\n", 2, 0, RD_JOB_MIXED, RD_SEV_WARNING, "to the same peers" },
	{ "tcp", GOOD NCCL VERBS BULK, 0, 0, RD_JOB_TCP, RD_SEV_WARNING, "RDMA can be used (mlx5_0, mlx5_1)$" },
	{ "tcp, and NCCL without libibverbs", GOOD NCCL BULK, 0, 0, RD_JOB_TCP, RD_SEV_WARNING,
	  "; but NCCL has not loaded libibverbs, which it does when it starts" },
	{ "tcp, and NCCL with a plugin", GOOD NCCL VERBS "lib /opt/libnccl-net.so\n" BULK, 0, 0, RD_JOB_TCP,
	  RD_SEV_WARNING, "(mlx5_0, mlx5_1)$" },
	{ "tcp, and NCCL beside a UCX that is not used", GOOD NCCL UCX VERBS BULK, 0, 0, RD_JOB_TCP, RD_SEV_WARNING,
	  "(mlx5_0, mlx5_1)$" },
	{ "tcp, and UCX without InfiniBand", GOOD UCX VERBS BULK, 0, 0, RD_JOB_TCP, RD_SEV_WARNING,
	  "; but UCX has not loaded libuct_ib" },
	{ "tcp, and UCX with it", GOOD UCX VERBS "lib /usr/lib64/ucx/libuct_ib.so.0.0.0\n" BULK, 0, 0, RD_JOB_TCP,
	  RD_SEV_WARNING, "(mlx5_0, mlx5_1)$" },
	{ "tcp, and MPI by sockets", GOOD "lib /opt/lib/libmpi.so.40.30.4\n" BULK "env OMPI_MCA_btl=self,vader\n", 0, 0,
	  RD_JOB_TCP, RD_SEV_WARNING, "; but its MPI has loaded none of UCX, libfabric and libibverbs" },
	{ "tcp, and MPI without UCX, as set", GOOD MPI BULK "env OMPI_MCA_pml=ob1\n", 0, 0, RD_JOB_TCP, RD_SEV_WARNING,
	  "; but OMPI_MCA_pml=ob1 leaves out UCX and libfabric$" },
	{ "tcp, and MPI with libfabric", GOOD "lib /opt/lib/libmpi.so.12\nlib /opt/lib/libfabric.so.1.17.0\n" VERBS BULK,
	  0, 0, RD_JOB_TCP, RD_SEV_WARNING, "(mlx5_0, mlx5_1)$" },
	{ "tcp, libraries unknown", GOOD "error maps EACCES\n" BULK, 0, 0, RD_JOB_TCP, RD_SEV_WARNING,
	  "(mlx5_0, mlx5_1)$" },
	{ "tcp as set", GOOD NCCL BULK "env NCCL_IB_DISABLE=1\n", 0, RD_JOB_ASKED_TCP, RD_JOB_TCP, RD_SEV_NOTE,
	  "set by NCCL_IB_DISABLE=1" },
	{ "tcp as not set", GOOD NCCL BULK "env NCCL_IB_DISABLE=0\n", 0, 0, RD_JOB_TCP, RD_SEV_WARNING,
	  "RDMA can be used" },
	{ "another library's variable", GOOD UCX BULK "env NCCL_IB_DISABLE=1\n", 0, 0, RD_JOB_TCP, RD_SEV_WARNING, "" },
	{ "mappings unknown", GOOD "error maps EACCES\n" BULK "env NCCL_IB_DISABLE=1\n", 0, RD_JOB_ASKED_TCP,
	  RD_JOB_TCP, RD_SEV_NOTE, "" },
	{ "requested", GOOD NCCL BULK "env NCCL_IB_HCA=mlx5\n", 0, RD_JOB_ASKED_RDMA, RD_JOB_TCP, RD_SEV_CRITICAL,
	  "NCCL_IB_HCA=mlx5" },
	{ "all but these NICs", GOOD NCCL VERBS BULK "env NCCL_IB_HCA=^mlx5_0,mlx5_1\n", 0, 0, RD_JOB_TCP,
	  RD_SEV_WARNING, "(mlx5_0, mlx5_1)$" },
	{ "both: TCP wins", GOOD NCCL BULK "env NCCL_IB_HCA=mlx5\nenv NCCL_NET=Socket\n", 0, RD_JOB_ASKED_TCP,
	  RD_JOB_TCP, RD_SEV_NOTE, "" },
	{ "UCX list", GOOD UCX BULK "env UCX_TLS=tcp,self,rc_x\n", 0, RD_JOB_ASKED_RDMA, RD_JOB_TCP, RD_SEV_CRITICAL,
	  "" },
	{ "UCX tcp", GOOD UCX BULK "env UCX_TLS=sm,tcp\n", 0, RD_JOB_ASKED_TCP, RD_JOB_TCP, RD_SEV_NOTE, "" },
	{ "UCX on Ethernet", GOOD UCX BULK "env UCX_NET_DEVICES=eth0\n", 0, RD_JOB_ASKED_TCP, RD_JOB_TCP, RD_SEV_NOTE,
	  "set by UCX_NET_DEVICES=eth0" },
	{ "UCX on IPoIB", GOOD UCX BULK "env UCX_NET_DEVICES=ibp24s0\n", 0, RD_JOB_ASKED_TCP, RD_JOB_TCP, RD_SEV_NOTE,
	  "set by UCX_NET_DEVICES=ibp24s0" },
	{ "UCX on all", GOOD UCX BULK "env UCX_NET_DEVICES=all\n", 0, 0, RD_JOB_TCP, RD_SEV_WARNING, "" },
	{ "UCX on Ethernet and a NIC", GOOD UCX BULK "env UCX_NET_DEVICES=eth0,mlx5_0:1\n", 0, RD_JOB_ASKED_RDMA,
	  RD_JOB_TCP, RD_SEV_CRITICAL, "" },
	{ "TCP for MPI, beside NCCL", GOOD NCCL MPI BULK "env OMPI_MCA_btl=tcp,self\n", 0, 0, RD_JOB_TCP,
	  RD_SEV_WARNING, "RDMA can be used" },
	{ "TCP for libfabric, beside NCCL", GOOD NCCL OFI BULK "env FI_PROVIDER=tcp\n", 0, 0, RD_JOB_TCP,
	  RD_SEV_WARNING, "" },
	{ "TCP for NCCL's libfabric", GOOD NCCL OFI "lib /opt/aws/libnccl-net-ofi.so\n" BULK "env FI_PROVIDER=tcp\n", 0,
	  RD_JOB_ASKED_TCP, RD_JOB_TCP, RD_SEV_NOTE, "" },
	{ "TCP for MPI", GOOD MPI BULK "env OMPI_MCA_btl=tcp,self\n", 0, RD_JOB_ASKED_TCP, RD_JOB_TCP, RD_SEV_NOTE, "" },
	{ "TCP for a module that UCX replaces", GOOD MPI UCX BULK "env OMPI_MCA_btl=tcp,self\nenv OMPI_MCA_pml=ucx\n",
	  0, 0, RD_JOB_TCP, RD_SEV_WARNING, "RDMA can be used" },
	{ "TCP for a module that libfabric replaces",
	  GOOD MPI OFI VERBS BULK "env OMPI_MCA_btl=tcp,self\nenv OMPI_MCA_pml=cm\n", 0, 0, RD_JOB_TCP, RD_SEV_WARNING,
	  "RDMA can be used" },
	{ "MVAPICH2", GOOD MPI BULK "env MV2_IBA_HCA=mlx5_0\n", 0, RD_JOB_ASKED_RDMA, RD_JOB_TCP, RD_SEV_CRITICAL,
	  "requested by MV2_IBA_HCA=mlx5_0; but its MPI has loaded none of UCX, libfabric and libibverbs" },
	{ "no library of RDMA", GOOD BULK, 0, 0, RD_JOB_TCP, RD_SEV_WARNING,
	  "(mlx5_0, mlx5_1); but the process maps no libibverbs" },
	{ "UCX all but ib", GOOD UCX BULK "env UCX_TLS=^ib\n", 0, RD_JOB_ASKED_TCP, RD_JOB_TCP, RD_SEV_NOTE, "" },
	{ "UCX all but RC, DC and UD", GOOD UCX BULK "env UCX_TLS=^rc,dc,ud\n", 0, RD_JOB_ASKED_TCP, RD_JOB_TCP,
	  RD_SEV_NOTE, "" },
	{ "TCP for a module that is excluded", GOOD MPI UCX BULK "env OMPI_MCA_btl=tcp,self\nenv OMPI_MCA_pml=^ob1\n",
	  0, 0, RD_JOB_TCP, RD_SEV_WARNING, "" },
	{ "UCX all but tcp", GOOD UCX BULK "env UCX_TLS=^tcp\n", 0, 0, RD_JOB_TCP, RD_SEV_WARNING, "" },
	{ "UCX all but those of NVIDIA", GOOD UCX BULK "env UCX_TLS=^rc,dc,ud\n", 0, RD_JOB_ASKED_TCP, RD_JOB_TCP,
	  RD_SEV_NOTE, "set by UCX_TLS=^rc,dc,ud" },
	{ "UCX all but rc and dc", GOOD UCX BULK "env UCX_TLS=^rc,dc\n", 0, 0, RD_JOB_TCP, RD_SEV_WARNING, "" },
	{ "UCX neither ib nor tcp", GOOD UCX BULK "env UCX_TLS=^ib,tcp\n", 0, 0, RD_JOB_TCP, RD_SEV_WARNING, "" },
	{ "UCX inside the host", GOOD UCX BULK "env UCX_TLS=sm,self\n", 0, 0, RD_JOB_TCP, RD_SEV_WARNING, "" },
	{ "UCX without one NIC", GOOD UCX BULK "env UCX_NET_DEVICES=^mlx5_0:1\n", 0, 0, RD_JOB_TCP, RD_SEV_WARNING, "" },
	{ "UCX on Ethernet, with rc", GOOD UCX BULK "env UCX_TLS=rc,tcp\nenv UCX_NET_DEVICES=eth0\n", 0,
	  RD_JOB_ASKED_TCP, RD_JOB_TCP, RD_SEV_NOTE, "set by UCX_NET_DEVICES=eth0" },
	{ "UCX tcp, beside NCCL", GOOD NCCL UCX VERBS BULK "env UCX_TLS=tcp,self\n", 0, 0, RD_JOB_TCP, RD_SEV_WARNING,
	  "(mlx5_0, mlx5_1)$" },
	{ "UCX rc, beside NCCL", GOOD NCCL UCX VERBS BULK "env UCX_TLS=rc\n", 0, 0, RD_JOB_TCP, RD_SEV_WARNING,
	  "(mlx5_0, mlx5_1)$" },
	{ "UCX tcp, as NCCL's plugin", GOOD NCCL UCX VERBS BULK "env UCX_TLS=tcp\nenv NCCL_PLUGIN_P2P=ucx\n", 0,
	  RD_JOB_ASKED_TCP, RD_JOB_TCP, RD_SEV_NOTE, "set by UCX_TLS=tcp" },
	{ "UCX tcp, of NIXL beside NCCL", GOOD NCCL UCX VERBS "lib /x/libnixl.so\n" BULK "env UCX_TLS=tcp\n", 0,
	  RD_JOB_ASKED_TCP, RD_JOB_TCP, RD_SEV_NOTE, "set by UCX_TLS=tcp" },
	{ "TCP for a module that is excluded", GOOD MPI UCX VERBS BULK "env OMPI_MCA_btl=tcp\nenv OMPI_MCA_pml=^ob1\n",
	  0, 0, RD_JOB_TCP, RD_SEV_WARNING, "RDMA can be used" },
	{ "TCP, and another module excluded", GOOD MPI VERBS BULK "env OMPI_MCA_btl=tcp\nenv OMPI_MCA_pml=^ucx\n", 0,
	  RD_JOB_ASKED_TCP, RD_JOB_TCP, RD_SEV_NOTE, "" },
	/* Each stack forced off, with twins that only look so. */
	{ "NCCL in any case of letters", GOOD NCCL BULK "env NCCL_NET=SOCKET\n", 0, RD_JOB_ASKED_TCP, RD_JOB_TCP,
	  RD_SEV_NOTE, "" },
	{ "NCCL, a word for a number", GOOD NCCL VERBS BULK "env NCCL_IB_DISABLE=true\n", 0, 0, RD_JOB_TCP,
	  RD_SEV_WARNING, "" },
	{ "NCCL over GPUDirect-TCPX",
	  GOOD NCCL "lib /usr/local/tcpx/lib64/libnccl-net.so\n" BULK "env NCCL_NET=GPUDirectTCPX_v7\n", 0,
	  RD_JOB_ASKED_TCP, RD_JOB_TCP, RD_SEV_NOTE, "" },
	{ "NCCL with the plugin of HPC-X",
	  GOOD NCCL VERBS "lib /opt/hpcx/nccl_rdma_sharp_plugin/lib/libnccl-net.so.0.0.0\n" BULK
			  "env NCCL_NET=IBext_v8\n",
	  0, RD_JOB_ASKED_RDMA, RD_JOB_TCP, RD_SEV_CRITICAL, "" },
	{ "no InfiniBand in NCCL, whose plugin is for EFA",
	  GOOD NCCL OFI VERBS "lib /opt/amazon/ofi-nccl/lib/libnccl-net-ofi.so\n" BULK "env NCCL_IB_DISABLE=1\n", 0, 0,
	  RD_JOB_TCP, RD_SEV_WARNING, "" },
	{ "RCCL", GOOD "lib /opt/rocm-6.4.1/lib/librccl.so.1.0.60401\n" VERBS BULK "env NCCL_IB_DISABLE=1\n", 0,
	  RD_JOB_ASKED_TCP, RD_JOB_TCP, RD_SEV_NOTE, "" },
	{ "NCCL inside of the program", GOOD "open nvidia0\nopen nvidiactl\n" BULK "env NCCL_IB_DISABLE=1\n", 0,
	  RD_JOB_ASKED_TCP, RD_JOB_TCP, RD_SEV_NOTE, "" },
	{ "NCCL inside of the program, requested", GOOD "open kfd\n" VERBS BULK "env NCCL_IB_HCA=mlx5\n", 0,
	  RD_JOB_ASKED_RDMA, RD_JOB_TCP, RD_SEV_CRITICAL, "" },
	{ "accelerators, and UCX instead of NCCL",
	  GOOD "open nvidia0\n" UCX VERBS "lib /u/ucx/libuct_ib.so.0\n" BULK "env NCCL_IB_DISABLE=1\n", 0, 0,
	  RD_JOB_TCP, RD_SEV_WARNING, "(mlx5_0, mlx5_1)$" },
	{ "NCCL's variable without accelerators", GOOD BULK "env NCCL_IB_DISABLE=1\n", 0, 0, RD_JOB_TCP, RD_SEV_WARNING,
	  "" },
	{ "UCX, only ud left", GOOD UCX BULK "env UCX_TLS=ud,tcp\n", 0, RD_JOB_ASKED_RDMA, RD_JOB_TCP, RD_SEV_CRITICAL,
	  "" },
	{ "UCX, names of transports excluded", GOOD UCX BULK "env UCX_TLS=^rc_mlx5,rc_verbs,dc_mlx5,ud_mlx5,ud_verbs\n",
	  0, RD_JOB_ASKED_TCP, RD_JOB_TCP, RD_SEV_NOTE, "" },
	{ "NIXL over libfabric, beside NCCL",
	  GOOD NCCL OFI VERBS "lib /n/libplugin_LIBFABRIC.so\n" BULK "env FI_PROVIDER=tcp\n", 0, RD_JOB_ASKED_TCP,
	  RD_JOB_TCP, RD_SEV_NOTE, "" },
	{ "Intel MPI 2018 over TCP", GOOD MPI BULK "env I_MPI_FABRICS=shm:tcp\n", 0, RD_JOB_ASKED_TCP, RD_JOB_TCP,
	  RD_SEV_NOTE, "" },
	{ "Intel MPI over libfabric", GOOD MPI OFI VERBS BULK "env I_MPI_FABRICS=shm:ofi\n", 0, 0, RD_JOB_TCP,
	  RD_SEV_WARNING, "" },
	{ "Intel MPI's provider before libfabric's",
	  GOOD MPI OFI BULK "env FI_PROVIDER=mlx\nenv I_MPI_OFI_PROVIDER=tcp\n", 0, RD_JOB_ASKED_TCP, RD_JOB_TCP,
	  RD_SEV_NOTE, "set by I_MPI_OFI_PROVIDER=tcp" },
	{ "libfabric's layers", GOOD OFI BULK "env FI_PROVIDER=tcp;ofi_rxm\n", 0, RD_JOB_ASKED_TCP, RD_JOB_TCP,
	  RD_SEV_NOTE, "" },
	{ "libfabric without a provider", GOOD OFI VERBS BULK "env FI_PROVIDER=^verbs\n", 0, 0, RD_JOB_TCP,
	  RD_SEV_WARNING, "" },
	{ "a library that is not mapped, excluded", GOOD UCX VERBS BULK "env FI_PROVIDER=^verbs\nenv UCX_TLS=tcp\n", 0,
	  RD_JOB_ASKED_TCP, RD_JOB_TCP, RD_SEV_NOTE, "set by UCX_TLS=tcp" },
	{ "Open MPI by libfabric over TCP",
	  GOOD MPI OFI BULK "env OMPI_MCA_pml=cm\nenv OMPI_MCA_mtl_ofi_provider_include=tcp\n", 0, RD_JOB_ASKED_TCP,
	  RD_JOB_TCP, RD_SEV_NOTE, "" },
	{ "Open MPI by UCT", GOOD MPI UCX BULK "env OMPI_MCA_btl=uct,self\n", 0, RD_JOB_ASKED_RDMA, RD_JOB_TCP,
	  RD_SEV_CRITICAL, "" },
	{ "Open MPI without UCX's list", GOOD MPI BULK "env OMPI_MCA_btl=^openib\n", 0, 0, RD_JOB_TCP, RD_SEV_WARNING,
	  "" },
	{ "NVSHMEM over GPUNetIO", GOOD BULK "env NVSHMEM_REMOTE_TRANSPORT=gpunetio\n", 0, RD_JOB_ASKED_RDMA,
	  RD_JOB_TCP, RD_SEV_CRITICAL, "" },
	{ "Gloo", GOOD NCCL VERBS BULK "env GLOO_SOCKET_IFNAME=eth0\n", 0, 0, RD_JOB_TCP, RD_SEV_WARNING, "" },
	{ "MORI", GOOD "lib /m/libmori_application.so\n" BULK "env MORI_RDMA_DEVICES=mlx5_0\n", 0, RD_JOB_ASKED_RDMA,
	  RD_JOB_TCP, RD_SEV_CRITICAL, "" },
	{ "MORI without a NIC", GOOD "lib /m/libmori_application.so\n" BULK "env MORI_RDMA_DEVICES=^mlx5_0\n", 0, 0,
	  RD_JOB_TCP, RD_SEV_WARNING, "" },
	{ "UCCL", GOOD NCCL "lib /u/libnccl-net-uccl.so\n" BULK "env UCCL_IB_HCA=mlx5_0\n", 0, RD_JOB_ASKED_RDMA,
	  RD_JOB_TCP, RD_SEV_CRITICAL, "" },
	{ "Mooncake, any value", GOOD BULK "env MC_FORCE_TCP=true\n", 0, RD_JOB_ASKED_TCP, RD_JOB_TCP, RD_SEV_NOTE, "" },
	{ "datagrams alone", GOOD UCX LITTLE "open uverbs0\n", 2, 0, RD_JOB_RDMA, RD_SEV_OK, "", true },
	{ "datagrams, and TCP", GOOD UCX BULK "open uverbs0\n", 2, 0, RD_JOB_CANNOT_TELL, RD_SEV_UNKNOWN, "of type UD",
	  true },
	{ "datagrams, a connection is being set up", GOOD UCX LITTLE "open uverbs0\n", 1, 0, RD_JOB_CANNOT_TELL,
	  RD_SEV_UNKNOWN, "only those of type UD are ready", true, true },
	{ "connected, another one is being set up", GOOD UCX LITTLE "open uverbs0\n", 1, 0, RD_JOB_RDMA, RD_SEV_OK, "",
	  false, true },
	{ "datagrams, and shared memory: Open MPI on one host, over UCX",
	  GOOD MPI UCX LITTLE
	  "open uverbs0\nsegment ucx_\nenv OMPI_COMM_WORLD_LOCAL_SIZE=2\nenv OMPI_COMM_WORLD_SIZE=2\n",
	  2, 0, RD_JOB_HOST, RD_SEV_OK, "shared memory", true },
	{ "datagrams, and shared memory: a Slurm step of one node",
	  GOOD MPI UCX LITTLE "open uverbs0\nsegment ucx_\nenv SLURM_STEP_NUM_NODES=1\n", 2, 0, RD_JOB_HOST, RD_SEV_OK,
	  "", true },
	{ "datagrams, and shared memory: of several hosts",
	  GOOD MPI UCX LITTLE
	  "open uverbs0\nsegment ucx_\nenv OMPI_COMM_WORLD_LOCAL_SIZE=2\nenv OMPI_COMM_WORLD_SIZE=4\n",
	  2, 0, RD_JOB_CANNOT_TELL, RD_SEV_UNKNOWN, "of type UD", true },
	{ "datagrams, and shared memory: of how many is unknown", GOOD UCX LITTLE "open uverbs0\nsegment ucx_\n", 2, 0,
	  RD_JOB_CANNOT_TELL, RD_SEV_UNKNOWN, "shares memory inside the host", true },
	{ "libfabric 1.17's net", GOOD OFI VERBS BULK "env FI_PROVIDER=net\n", 0, RD_JOB_ASKED_TCP, RD_JOB_TCP,
	  RD_SEV_NOTE, "set by FI_PROVIDER=net" },
	{ "no device file", FAR_NET NO_NODES PROVIDERS FILES NCCL "tcp 10.0.0.2 90000000 9\nenv NCCL_NET=IB\n", 0,
	  RD_JOB_ASKED_RDMA, RD_JOB_TCP, RD_SEV_CRITICAL, "mlx5_0: /dev/infiniband/uverbs0 is missing" },
	{ "device file unknown", NET "dev uverbs0 EACCES\ndev uverbs1 EACCES\n" PROVIDERS FILES NCCL BULK, 0, 0,
	  RD_JOB_TCP, RD_SEV_WARNING, "could not be read" },
	{ "device file of another device",
	  NET "dev uverbs0 231:200 0666 0 0\ndev uverbs1 ENOENT\n" PROVIDERS FILES NCCL BULK, 0, 0, RD_JOB_TCP,
	  RD_SEV_WARNING, "has number 231:200" },
	{ "mode", NET "dev uverbs0 231:192 0600 0 0\ndev uverbs1 231:193 0600 0 0\n" PROVIDERS FILES NCCL BULK, 0, 0,
	  RD_JOB_TCP, RD_SEV_WARNING, "mode 0600" },
	{ "mode with access list",
	  NET "dev uverbs0 231:192 0600 0 0 acl\ndev uverbs1 ENOENT\n" PROVIDERS FILES NCCL BULK, 0, 0, RD_JOB_TCP,
	  RD_SEV_WARNING, "is unknown" },
	{ "access list with the user",
	  NET "dev uverbs0 231:192 0660 0 0 acl=1.6.0,2.6.1000,4.0.0,16.6.0,32.0.0\ndev uverbs1 ENOENT\n" PROVIDERS FILES
		  NCCL BULK,
	  0, 0, RD_JOB_TCP, RD_SEV_WARNING, "RDMA can be used" },
	{ "access list with a group",
	  NET "dev uverbs0 231:192 0660 0 0 acl=1.6.0,4.0.0,8.6.44,16.6.0,32.0.0\ndev uverbs1 ENOENT\n" PROVIDERS FILES
		  NCCL BULK,
	  0, 0, RD_JOB_TCP, RD_SEV_WARNING, "RDMA can be used" },
	{ "access list that its mask limits",
	  NET
	  "dev uverbs0 231:192 0640 0 44 acl=1.6.0,2.6.1000,4.6.0,16.4.0,32.6.0\ndev uverbs1 ENOENT\n" PROVIDERS FILES
		  NCCL BULK,
	  0, 0, RD_JOB_TCP, RD_SEV_WARNING, "mode 0640" },
	{ "access list that denies the user",
	  NET "dev uverbs0 231:192 0666 0 0 acl=1.6.0,2.0.1000,4.6.0,16.6.0,32.6.0\ndev uverbs1 ENOENT\n" PROVIDERS FILES
		  NCCL BULK,
	  0, 0, RD_JOB_TCP, RD_SEV_WARNING, "mode 0666" },
	{ "access list that denies a group",
	  NET "dev uverbs0 231:192 0660 0 0 acl=1.6.0,4.0.0,8.4.44,16.6.0,32.6.0\ndev uverbs1 ENOENT\n" PROVIDERS FILES
		  NCCL BULK,
	  0, 0, RD_JOB_TCP, RD_SEV_WARNING, "mode 0660" },
	{ "access list of another user, and others",
	  NET "dev uverbs0 231:192 0666 0 0 acl=1.6.0,2.0.1001,4.0.0,16.6.0,32.6.0\ndev uverbs1 ENOENT\n" PROVIDERS FILES
		  NCCL BULK,
	  0, 0, RD_JOB_TCP, RD_SEV_WARNING, "RDMA can be used" },
	{ "access list that is damaged",
	  NET "dev uverbs0 231:192 0660 0 0 acl=1.6.0,2.6\ndev uverbs1 ENOENT\n" PROVIDERS FILES NCCL BULK, 0, 0,
	  RD_JOB_TCP, RD_SEV_WARNING, "is unknown" },
	{ "mode of its group", NET "dev uverbs0 231:192 0660 0 44\ndev uverbs1 ENOENT\n" PROVIDERS FILES NCCL BULK, 0,
	  0, RD_JOB_TCP, RD_SEV_WARNING, "RDMA can be used" },
	{ "no provider", NET NODES "provider efa 1 1\nproviders\n" FILES NCCL BULK, 0, 0, RD_JOB_TCP, RD_SEV_WARNING,
	  "no libibverbs provider for mlx5" },
	{ "no libibverbs", NET NODES "providers\n" FILES NCCL BULK, 0, 0, RD_JOB_TCP, RD_SEV_WARNING,
	  "no libibverbs in" },
	{ "a wheel's own provider", NET NODES "providers\n" FILES NCCL BULK "lib /opt/wheel/libmlx5-9d1b0ca6.so.1\n", 0,
	  0, RD_JOB_TCP, RD_SEV_WARNING, "RDMA can be used" },
	{ "a program's own libibverbs",
	  NET NODES "providers\n" FILES NCCL "lib /opt/conda/lib/libibverbs.so.1.14.50.0\nenv NCCL_NET=IB\n", 0,
	  RD_JOB_ASKED_RDMA, RD_JOB_IDLE, RD_SEV_UNKNOWN, "its own libibverbs" },
	{ "the system's libibverbs alone",
	  NET NODES "provider efa 1 1\nproviders\n" FILES NCCL VERBS "env NCCL_NET=IB\n", 0, RD_JOB_ASKED_RDMA,
	  RD_JOB_IDLE, RD_SEV_CRITICAL, "no libibverbs provider for mlx5" },
	{ "Intel MPI over sockets", GOOD MPI OFI BULK "env I_MPI_OFI_PROVIDER=sockets\n", 0, RD_JOB_ASKED_TCP,
	  RD_JOB_TCP, RD_SEV_NOTE, "" },
	{ "Intel MPI over EFA", GOOD MPI OFI VERBS BULK "env I_MPI_OFI_PROVIDER=efa\n", 0, RD_JOB_ASKED_RDMA,
	  RD_JOB_TCP, RD_SEV_CRITICAL, "" },
	{ "libfabric over PSM3", GOOD OFI VERBS BULK "env FI_PROVIDER=psm3\n", 0, RD_JOB_ASKED_RDMA, RD_JOB_TCP,
	  RD_SEV_CRITICAL, "requested by FI_PROVIDER=psm3" },
	{ "libfabric over PSM3 over sockets", GOOD OFI VERBS BULK "env FI_PROVIDER=psm3\nenv PSM3_HAL=sockets\n", 0,
	  RD_JOB_ASKED_TCP, RD_JOB_TCP, RD_SEV_NOTE, "set by PSM3_HAL=sockets" },
	{ "libfabric over UCX", GOOD OFI UCX VERBS BULK "env FI_PROVIDER=mlx\n", 0, RD_JOB_ASKED_RDMA, RD_JOB_TCP,
	  RD_SEV_CRITICAL, "" },
	{ "providers unknown", NET NODES FILES NCCL BULK, 0, 0, RD_JOB_TCP, RD_SEV_WARNING, "were not read" },
	{ "provider of another interface", NET NODES "provider mlx5 3 4\nproviders\n" FILES NCCL BULK, 0, 0, RD_JOB_TCP,
	  RD_SEV_WARNING, "supports 3 to 4" },
	{ "namespace without GID", FAR_NET NODES PROVIDERS FILES NCCL "tcp 10.0.0.2 90000000 9\n", 0, 0, RD_JOB_TCP,
	  RD_SEV_WARNING, "no GID" },
	{ "device in another namespace", "other net\naddr 127.0.0.1\naddr 10.0.0.1\n" NODES PROVIDERS FILES NCCL BULK,
	  0, 0, RD_JOB_TCP, RD_SEV_WARNING, "not in the network namespace" },
	{ "a device of another namespace that is not shown here, requested",
	  "other net\naddr 127.0.0.1\nrdma mlx5_7\n" NODES PROVIDERS FILES NCCL "env NCCL_NET=IB\n", 0,
	  RD_JOB_ASKED_RDMA, RD_JOB_IDLE, RD_SEV_UNKNOWN, "mlx5_7: in the network namespace of the process" },
	{ "a device of another namespace that is not shown here, in use",
	  "other net\naddr 127.0.0.1\nrdma mlx5_7\n" NODES PROVIDERS FILES NCCL
	  "open uverbs7\ntcp 10.0.0.2 90000000 9\n",
	  0, 0, RD_JOB_CANNOT_TELL, RD_SEV_UNKNOWN, "cannot be listed from this network namespace" },
	{ "a device of another namespace that is not shown here, and TCP",
	  "other net\naddr 127.0.0.1\nrdma mlx5_7\n" NODES PROVIDERS FILES NCCL "tcp 10.0.0.2 90000000 9\n", 0, 0,
	  RD_JOB_TCP, RD_SEV_WARNING, "mlx5_7: in the network namespace of the process, and not in that of /sys" },
	{ "namespace not entered", "other net\nerror net EPERM\n" NODES PROVIDERS FILES NCCL, 0, 0, RD_JOB_CANNOT_TELL,
	  RD_SEV_UNKNOWN, "TCP connections" },
	{ "context elsewhere", FAR_NET NODES PROVIDERS FILES NCCL "open uverbs0\n", 0, 0, RD_JOB_CANNOT_TELL,
	  RD_SEV_UNKNOWN, "cannot be listed" },
	{ "files denied", NET NODES PROVIDERS "error fds EACCES\n" NCCL, 0, 0, RD_JOB_CANNOT_TELL, RD_SEV_UNKNOWN,
	  "open files" },
	{ "sockets unknown", GOOD NCCL "error tcp ELIBACC\n", 0, 0, RD_JOB_CANNOT_TELL, RD_SEV_UNKNOWN,
	  "TCP connections" },
	{ "DEVX", GOOD "lib /usr/lib/libdoca_verbs.so\nopen uverbs0\n" BULK, 0, 0, RD_JOB_CANNOT_TELL, RD_SEV_UNKNOWN,
	  "DEVX" },
	{ "DEVX, no context", GOOD "lib /usr/lib/libdoca_verbs.so\n" BULK, 0, 0, RD_JOB_TCP, RD_SEV_WARNING, "" },
	{ "shared memory", GOOD NCCL "segment nccl-\n" INSIDE, 0, 0, RD_JOB_HOST, RD_SEV_OK, "shared memory" },
	{ "inside the host", GOOD NCCL INSIDE, 0, 0, RD_JOB_HOST, RD_SEV_OK, "" },
	{ "idle", GOOD, 0, 0, RD_JOB_IDLE, RD_SEV_OK, "" },
	{ "idle, requested", GOOD "env NVSHMEM_REMOTE_TRANSPORT=ibrc\n", 0, RD_JOB_ASKED_RDMA, RD_JOB_IDLE, RD_SEV_OK,
	  "" },
	{ "idle, requested, cannot", NET NO_NODES PROVIDERS FILES "env NVSHMEM_REMOTE_TRANSPORT=ibrc\n", 0,
	  RD_JOB_ASKED_RDMA, RD_JOB_IDLE, RD_SEV_CRITICAL, "is missing" },
	{ "idle, cannot", NET NO_NODES PROVIDERS FILES NCCL, 0, 0, RD_JOB_IDLE, RD_SEV_OK, "is missing" },
	{ "open files", NET NODES PROVIDERS "fds 1000\n" NCCL BULK "env NCCL_NET=IB\n", 0, RD_JOB_ASKED_RDMA,
	  RD_JOB_TCP, RD_SEV_CRITICAL, "1000 open, limit 1024" },
};

/* Two RoCE devices with an address of this namespace. */
static void make_host(struct rd_host *host, struct rd_job_kernel *kernel, struct rd_res *res)
{
	for (int i = 0; i < 2; i++) {
		_cleanup_free_ char *name = rd_text("mlx5_%d", i);
		struct rd_ibdev *dev = rd_host_add_ibdev(host);
		struct rd_port *port = rd_host_add_port(host, i);

		dev->name = rd_dup(name);
		dev->n_ports = 1;
		dev->first_port = i;
		port->num = 1;
		port->state = rd_dup("ACTIVE");
		port->link_layer = rd_dup("Ethernet");
		port->gids_known = true;
		*RD_ADD(port->gids, port->n_gids, port->cap_gids) = (struct rd_gid){
			.index = 3, .raw = { [10] = 0xff, 0xff, 10, 0, 0, 1 }, .netdev = rd_dup("eth0")
		};
		*RD_ADD(kernel->v, kernel->n, kernel->cap) =
			(struct rd_job_uverbs){ .name = rd_text("uverbs%d", i),
						.ibdev = rd_dup(name),
						.number = rd_text("231:%d", 192 + i),
						.abi = { 1, RD_OK },
						.driver = { 1, RD_OK } };
		*RD_ADD(res->devs, res->n_devs, res->cap_devs) =
			(struct rd_res_dev){ .name = rd_dup(name), .driver_id = { 1, RD_OK } };
	}
	kernel->known = true;
}

/* Connected queue pairs of process 77 with 10.0.0.2. */
static void add_qps(struct rd_res *res, unsigned n, bool datagram)
{
	for (unsigned i = 0; i < n; i++) {
		struct rd_qp *qp = RD_ADD(res->qps, res->n_qps, res->cap_qps);
		struct rd_cm_id *cm = RD_ADD(res->cm_ids, res->n_cm_ids, res->cap_cm_ids);

		*qp = (struct rd_qp){ .proc = -1,
				      .owner.pid = { 77, RD_OK },
				      .lqpn = { 100 + i, RD_OK },
				      .port = { 1, RD_OK },
				      .type = { datagram ? RD_QPT_UD : RD_QPT_RC, RD_OK },
				      .state = { RD_QPS_RTS, RD_OK } };
		*cm = (struct rd_cm_id){ .proc = -1,
					 .lqpn = { 100 + i, RD_OK },
					 .dst = { .family = 2, .ip = { 10, 0, 0, 2 } } };
	}
}

static bool has(const char *reason, const char *part)
{
	size_t n = strcspn(part, "$"), all = strlen(reason);

	return part[n] ? all >= n && strncmp(reason + all - n, part, n) == 0 : strstr(reason, part) != NULL;
}

static bool judge(const struct row *row)
{
	_cleanup_(rd_job_proc_deinit) struct rd_job_proc proc = { .pid = 77,
								  .comm = rd_dup("python3"),
								  .uid = { 1000, RD_OK },
								  .gid = 1000,
								  .caps = { 0, RD_OK },
								  .nofile = { 1024, RD_OK },
								  .memlock = { RD_UNLIMITED, RD_OK } };
	_cleanup_(rd_job_view_deinit) struct rd_job_view view = { .proc = &proc };
	_cleanup_(rd_job_kernel_deinit) struct rd_job_kernel kernel = { 0 };
	_cleanup_(rd_host_deinit) struct rd_host host = { 0 };
	_cleanup_(rd_res_deinit) struct rd_res res = { 0 };
	_cleanup_(rd_qp_views_deinit) struct rd_qp_views qps;
	const struct rd_job_input in = { &host, &kernel, NULL, &qps };

	make_host(&host, &kernel, &res);
	proc.groups = rd_alloc(1, sizeof(*proc.groups));
	proc.groups[proc.n_groups++] = 44;
	add_qps(&res, row->qps, row->datagram);
	if (row->connecting) {
		add_qps(&res, 1, false);
		RD_SET(res.qps[res.n_qps - 1].state, RD_QPS_INIT);
	}
	rd_qp_views_init(&qps, &res);
	rd_qp_link(&qps);
	rd_job_take(row->text, &proc);
	rd_job_judge(&in, &view);
	if (view.asked != row->asked || view.verdict != row->verdict || view.severity != row->severity ||
	    !has(view.reason, row->reason)) {
		print_error("%s: asked %d, %s, severity %d: %s\n", row->name, view.asked,
			    rd_job_verdict_name(view.verdict), view.severity, view.reason);
		return true;
	}
	return false;
}

TEST(verdicts)
{
	unsigned failed = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		failed += judge(&rows[i]);
	assert_int_equal(failed, 0);
}

/* As many processes as NICs, or more, all on one of two; and one alone, which uses the NIC next to its accelerator. */
TEST(few_of_the_nics)
{
	for (size_t n = 1; n <= 3; n++) {
		struct rd_job_proc proc = { .pid = 77, .memlock = { RD_UNLIMITED, RD_OK } };
		struct rd_job_view views[3] = { { .proc = &proc }, { .proc = &proc }, { .proc = &proc } };
		_cleanup_(rd_job_kernel_deinit) struct rd_job_kernel kernel = { 0 };
		_cleanup_(rd_host_deinit) struct rd_host host = { 0 };
		_cleanup_(rd_res_deinit) struct rd_res res = { 0 };
		_cleanup_(rd_qp_views_deinit) struct rd_qp_views qps;
		const struct rd_job_input in = { &host, &kernel, NULL, &qps, NULL };

		make_host(&host, &kernel, &res);
		add_qps(&res, 2, false);
		rd_qp_views_init(&qps, &res);
		rd_qp_link(&qps);
		rd_job_take(GOOD NCCL "open uverbs0\n", &proc);
		for (size_t i = 0; i < n; i++)
			rd_job_judge(&in, &views[i]);
		rd_job_judge_whole(&in, views, n);
		assert_int_equal(views[0].verdict, n > 1 ? RD_JOB_UNEVEN : RD_JOB_RDMA);
		assert_int_equal(strstr(views[0].reason, "use 1 of 2 NICs") != NULL, n > 1);
		for (size_t i = 0; i < 3; i++)
			rd_job_view_deinit(&views[i]);
		rd_job_proc_deinit(&proc);
	}
}

TEST(hostile_lines)
{
	_cleanup_(rd_job_proc_deinit) struct rd_job_proc proc = { 0 };

	rd_job_take("dev\ndev x\ndev uverbs0 231:192 99999 0 0\ntcp 1 2 3\ntcp 10.0.0.2 99999999999999999999 1\naddr x\n"
		    "shm 1\nfds x\nprovider\nother\n\n\n \nx",
		    &proc);
	assert_int_equal(proc.n_tcp, 0);
	assert_int_equal(proc.n_addrs, 0);
	assert_int_equal(proc.nodes[0].mode.known, RD_ABSENT);
	assert_int_equal(proc.fds.known, RD_ABSENT);
}

TEST(mappings)
{
	struct rd_proc_job job = { .out = { 0 } };

	rd_proc_job_maps(
		&job,
		"55-56 r-xp 0 08:01 1 /usr/bin/python3\n55-56 r--p 0 08:01 2   /a b/libnccl.so.2\n55-56 r-xp 0 08:01 2   /a b/libnccl.so.2\n"
		"55-56 rw-s 0 00:1 3 /dev/shm/nccl-x (deleted)\n55-56 rw-p 0 00:00 0 [heap]\n55-56 r-xp 0 08:01 2 /x/librxe-rdmav34.so\n"
		"55-56 r-xp 0 08:01 4 /x/libibverbs-8ba3bcb2.so.1\n");
	assert_string_equal(
		job.out.data,
		"lib /a b/libnccl.so.2\nsegment nccl-\nlib /x/librxe-rdmav34.so\nlib /x/libibverbs-8ba3bcb2.so.1\n");
	rd_buf_deinit(&job.out);
}

/* Several mappings of one file are one copy. */
TEST(copies_of_libibverbs)
{
	static const struct {
		const char *libs;
		const char *observed; /* a part; NULL: nothing is said */
	} copies[] = {
		{ VERBS VERBS "lib /usr/lib/x86_64-linux-gnu/librdmacm.so.1\n", NULL },
		{ VERBS "lib /s/nixl_cu13.libs/libibverbs-1de1263b.so.1.14.48.0\n",
		  "gnu/libibverbs.so.1.14.39.0 and /s/nixl_cu13.libs/libibverbs-1de1263b.so.1.14.48.0:" },
		{ VERBS "lib /opt/conda/lib/libibverbs.so.1\n" VERBS,
		  "gnu/libibverbs.so.1.14.39.0 and /opt/conda/lib/libibverbs.so.1:" },
	};

	for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
		struct rd_job_proc proc = { .pid = 1 };
		struct rd_job_view view = { .proc = &proc };
		struct rd_job_kernel kernel = { .known = true };
		struct rd_host host = { 0 };
		const struct rd_job_input in = { &host, &kernel, NULL, NULL };
		const struct rd_finding *found = NULL;

		rd_job_take(copies[i].libs, &proc);
		rd_job_judge(&in, &view);
		for (size_t k = 0; k < view.can.n; k++)
			found = strcmp(view.can.v[k].id, "job-libibverbs") == 0 ? &view.can.v[k] : found;
		assert_true(copies[i].observed ? found && found->severity == RD_SEV_NOTE &&
							 strstr(found->observed, copies[i].observed) :
						 !found);
		rd_job_view_deinit(&view);
		rd_job_proc_deinit(&proc);
	}
}

/* A module of NVIDIA's is nothing that a process on another vendor's accelerators needs. */
TEST(memory_of_accelerators)
{
	static const struct {
		const char *opened;
		bool judged;
	} accelerators[] = { { "open nvidia0\n", true }, { "open kfd\n", false }, { "", false } };

	for (size_t i = 0; i < sizeof(accelerators) / sizeof(accelerators[0]); i++) {
		struct rd_job_proc proc = { .pid = 1 };
		struct rd_job_view view = { .proc = &proc };
		struct rd_job_kernel kernel = { .known = true };
		struct rd_host host = { 0 };
		struct rd_system system = { .modules_known = true };
		const struct rd_job_input in = { &host, &kernel, &system, NULL };
		bool judged = false;

		rd_job_take(accelerators[i].opened, &proc);
		rd_job_judge(&in, &view);
		for (size_t k = 0; k < view.can.n; k++)
			judged |= strcmp(view.can.v[k].id, "job-gpu-memory") == 0;
		assert_int_equal(judged, accelerators[i].judged);
		rd_job_view_deinit(&view);
		rd_job_proc_deinit(&proc);
	}
}

/* Files of accelerators: what is missing, or must not be opened, is a note; a container that is given some of them is healthy. */
TEST(files_of_accelerators)
{
	static const struct {
		const char *text;
		size_t gpus;
		enum rd_severity severity;
		const char *observed; /* a part; NULL: nothing is said */
		const char *rules;
	} cases[] = {
		{ "dev nvidia0 195:0 0666 0 0\ndev nvidia1 195:1 0666 0 0\ndev nvidiactl 195:255 0666 0 0\n"
		  "dev nvidia-uvm 510:0 0666 0 0\ndev nvidiactl ENOENT\n",
		  8, RD_SEV_OK, "2 of 2 device files", NULL },
		{ "dev nvidiactl ENOENT\n", 0, RD_SEV_OK, NULL, NULL },
		{ "", 8, RD_SEV_OK, NULL, NULL },
		{ "error accelerators EACCES\n", 8, RD_SEV_OK, NULL, NULL },
		{ "dev nvidiactl ENOENT\n", 8, RD_SEV_NOTE, "none of the 8 of this host", NULL },
		{ "dev nvidia0 195:0 0666 0 0\ndev nvidiactl 195:255 0666 0 0\ndev nvidiactl ENOENT\n", 1, RD_SEV_NOTE,
		  "/dev/nvidia-uvm is missing, without which CUDA does not start", NULL },
		{ "dev nvidia0 195:0 0666 0 0\ndev nvidiactl 195:255 0660 0 27\ndev nvidiactl ENOENT\n", 1, RD_SEV_NOTE,
		  "/dev/nvidiactl has mode 0660", NULL },
		{ "dev nvidia0 195:0 0666 0 0\nopen nvidiactl\nopen nvidia-uvm\ndev nvidiactl ENOENT\n", 1, RD_SEV_OK,
		  "1 of 1", NULL },
		{ "dev kfd 234:0 0666 0 0\ndev renderD128 226:128 0660 0 109\ndev nvidiactl ENOENT\n", 4, RD_SEV_NOTE,
		  "none of 1 device files can be opened: /dev/dri/renderD128 has mode 0660, owner 0, group 109", NULL },
		{ "dev renderD128 226:128 0660 0 44\ndev renderD129 226:129 0660 0 109\ndev nvidiactl ENOENT\n", 4,
		  RD_SEV_OK, "1 of 2 device files", NULL },
		{ "dev accel0 261:0 0666 0 0\ndev nvidiactl ENOENT\n", 0, RD_SEV_OK, "1 of 1", NULL },
		{ "dev nvidia0 195:0 0666 0 0\ndev nvidiactl 195:255 0666 0 0\ndev nvidia-uvm 510:0 0666 0 0\ndev nvidiactl ENOENT\n",
		  1, RD_SEV_NOTE, "none of 1 device files can be opened: the control group does not allow device 195:0",
		  "c 1:3 rwm\nc 231:* rwm" },
		{ "dev nvidia0 195:0 0666 0 0\ndev nvidiactl 195:255 0666 0 0\ndev nvidia-uvm 510:0 0666 0 0\ndev nvidiactl ENOENT\n",
		  1, RD_SEV_OK, "1 of 1", "c 195:* rwm\nc 510:0 rw" },
		{ "dev nvidia0 195:0 0660 0 27 acl\ndev nvidiactl ENOENT\n", 1, RD_SEV_NOTE, "is unknown", NULL },
		{ "dev nvidia0 EACCES\ndev nvidiactl ENOENT\n", 1, RD_SEV_NOTE,
		  "/dev/nvidia0 of the process could not be read", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rd_job_proc proc = { .pid = 1, .uid = { 1000, RD_OK }, .gid = 1000, .caps = { 0, RD_OK } };
		struct rd_job_view view = { .proc = &proc };
		struct rd_job_kernel kernel = { .known = true };
		struct rd_host host = { 0 };
		const struct rd_job_input in = { &host, &kernel, NULL, NULL };
		const struct rd_finding *found = NULL;

		for (size_t g = 0; g < cases[i].gpus; g++)
			rd_host_add_gpu(&host)->pci = rd_host_add_pci(&host) ? (int)g : -1;
		proc.device_rules = cases[i].rules ? rd_dup(cases[i].rules) : NULL;
		proc.groups = rd_alloc(1, sizeof(*proc.groups));
		proc.groups[proc.n_groups++] = 44;
		rd_job_take(cases[i].text, &proc);
		rd_job_judge(&in, &view);
		for (size_t k = 0; k < view.can.n; k++)
			found = strcmp(view.can.v[k].id, "job-accelerator") == 0 ? &view.can.v[k] : found;
		if (!found != !cases[i].observed ||
		    (found && (found->severity != cases[i].severity || !strstr(found->observed, cases[i].observed))))
			fail_msg("%zu: %s", i, found ? found->observed : "nothing");
		rd_job_view_deinit(&view);
		rd_job_proc_deinit(&proc);
		rd_host_deinit(&host);
	}
}

/* "gdrdrv=2.4 nv_mem dmabuf=no kernel=6.8.0-41-generic": modules, clients of the interface for memory of peers, DMA-BUF, the kernel. */
static void take_system(const char *text, struct rd_system *system)
{
	_cleanup_free_ char *copy = rd_dup(text);
	char *rest = copy, *words[8] = { 0 };
	size_t n = rd_words(&rest, words, 8);

	system->modules_known = true;
	for (size_t i = 0; i < n; i++) {
		char *value = strchr(words[i], '=');

		if (value)
			*value++ = '\0';
		if (strcmp(words[i], "dmabuf") == 0) {
			RD_SET(system->nvidia_open, strcmp(value, "yes") == 0);
			RD_SET(system->dmabuf, true);
		} else if (strcmp(words[i], "kernel") == 0) {
			system->release = rd_dup(value);
		} else if (strncmp(words[i], "nv_mem", 6) == 0) {
			rd_texts_add(&system->memory_peers, words[i]);
		} else {
			*RD_ADD(system->modules, system->n_modules, system->cap_modules) =
				(struct rd_loaded_module){ .name = rd_dup(words[i]), .version = rd_dup_if(value) };
		}
	}
}

/* Each line of the table as it ships, with twins: the version after, the one before, a setting, a version that is unknown. */
TEST(versions_that_do_not_work_together)
{
#define LIB(name) "lib /x/" name "\n"
	static const struct {
		const char *proc, *system;
		const char *thread; /* NULL: nothing is said */
	} cases[] = {
		{ LIB("libnccl.so.2.22.3"), "nvidia_peermem=550.54.15 dmabuf=no", "NVIDIA/nccl#1676" },
		{ LIB("libnccl.so.2.23.4"), "nvidia_peermem=550.54.15 dmabuf=no", NULL },
		{ LIB("libnccl.so.2.22.3"), "nvidia_peermem=550.54.15 dmabuf=no nv_mem", NULL },
		{ LIB("libnccl.so.2.22.3"), "nvidia_peermem=550.54.15 dmabuf=no nv_mem_nc", NULL },
		{ LIB("libnccl.so.2.22.3"), "nvidia_peermem=550.54.15 dmabuf=yes", NULL },
		{ LIB("libnccl.so.2.22.3"), "nvidia_peermem=550.54.15", NULL },
		{ LIB("libnccl.so.2.22.3"), "dmabuf=no", NULL },
		{ LIB("libnccl.so.2"), "nvidia_peermem=550.54.15 dmabuf=no", NULL },
		{ LIB("libnccl-net.so.2.22.3"), "nvidia_peermem=550.54.15 dmabuf=no", NULL },
		{ LIB("libnccl.so.2") "wheel libnccl 2.21.5\n", "nvidia_peermem=550.54.15 dmabuf=no",
		  "NVIDIA/nccl#1676" },
		{ LIB("libnccl.so.2") "wheel libnccl 2.27.3\n", "nvidia_peermem=550.54.15 dmabuf=no", NULL },
		{ "error maps EACCES\n", "nvidia_peermem=550.54.15 dmabuf=no", NULL },
		{ LIB("librccl.so.1.0.60200"), "kernel=6.8.0-41-generic", "ROCm/legacy-rocm-build#3772" },
		{ LIB("librccl.so.1.0.60300"), "kernel=6.8.0-41-generic", NULL },
		{ LIB("librccl.so.1.0.60200"), "kernel=6.5.0-41-generic", NULL },
		{ LIB("librccl.so.1.0.60200"), "kernel=6.11.0", "ROCm/legacy-rocm-build#3772" },
		{ LIB("librccl.so.1.0.60200") "env NCCL_DMABUF_ENABLE=1\n", "kernel=6.8.0-41-generic", NULL },
		{ LIB("librccl.so.1.0.60200") "error environ EACCES\n", "kernel=6.8.0-41-generic", NULL },
		{ LIB("librccl.so.1"), "kernel=6.8.0-41-generic", NULL },
		{ LIB("librccl.so.1.0.60200"), "", NULL },
		{ LIB("libgdrapi.so.2.3"), "gdrdrv=1.3", "NVIDIA/gdrcopy#67" },
		{ LIB("libgdrapi.so.2.3"), "gdrdrv=2.0", NULL },
		{ LIB("libgdrapi.so.1.3"), "gdrdrv=1.3", NULL },
		{ LIB("libgdrapi.so.2.3"), "gdrdrv", NULL },
		{ LIB("libgdrapi.so.2.5.2") LIB("libfabric.so.1.29.1") "env NCCL_GIN_TYPE=2\n", "gdrdrv=2.4",
		  "aws/aws-ofi-nccl#1350" },
		{ LIB("libgdrapi.so.2.5.2") LIB("libfabric.so.1.29.1"), "gdrdrv=2.4", NULL },
		{ LIB("libgdrapi.so.2.5.2") LIB("libfabric.so.1.29.1") "env NCCL_GIN_TYPE=2\n", "gdrdrv=2.5", NULL },
		{ LIB("libnccl.so.2.19.3") LIB("libfabric.so.1.21.0") "env NCCL_CUMEM_ENABLE=0\n", "efa=2.5.0g",
		  "aws/aws-ofi-nccl#584" },
		{ LIB("libnccl.so.2.21.5") LIB("libfabric.so.1.22.0"), "efa=2.5.0g", NULL },
		{ LIB("libnccl.so.2.18.6") LIB("libfabric.so.1.21.0"), "efa=2.5.0g", NULL },
		{ LIB("libnccl.so.2.21.5") LIB("libfabric.so.1.21.0"), "", NULL },
		{ LIB("libnccl.so.2.21.5") LIB("libfabric.so.1.21.0") "env FI_EFA_SET_CUDA_SYNC_MEMOPS=0\n",
		  "efa=2.5.0g", NULL },
		{ LIB("libnccl.so.2.19.4"), "", "NVIDIA/nccl#1116" },
		{ LIB("libnccl.so.2.19.4") "env NCCL_CUMEM_ENABLE=0\n", "", NULL },
		{ LIB("libnccl.so.2.20.3"), "", NULL },
		{ LIB("libnccl.so.2.18.6"), "", NULL },
		{ LIB("libnvshmem_host.so.3.4.5") LIB("nvshmem_transport_ibgda.so.3"), "", "NVIDIA/nvshmem#21" },
		{ LIB("libnvshmem_host.so.3") "wheel libnvshmem_host 3.4.5\n" LIB("nvshmem_transport_ibgda.so.3"), "",
		  "NVIDIA/nvshmem#21" },
		{ LIB("libnvshmem_host.so.3") LIB("nvshmem_transport_ibgda.so.3"), "", NULL },
		{ LIB("libnvshmem_host.so.3.4.5") LIB("nvshmem_transport_ibrc.so.3"), "", NULL },
		{ LIB("libnvshmem_host.so.3.5.19") LIB("nvshmem_transport_ibgda.so.3"), "", NULL },
		{ LIB("libibverbs.so.1.15.60.0") "provider mlx5 1 1 34\n", "", "NVIDIA-NeMo/Megatron-Bridge#2824" },
		{ LIB("libibverbs.so.1.15.60.0") "provider mlx5 1 1 59\n", "", NULL },
		{ LIB("libibverbs.so.1.14.56.0") "provider mlx5 1 1 34\n", "", NULL },
		{ LIB("libibverbs.so.1.15.60.0") "provider mlx5 1 1\n", "", NULL },
		{ LIB("libibverbs.so.1.15.60.0") "provider mlx5 1 1 34\nprovider efa 1 1 59\n", "", NULL },
		{ LIB("libibverbs-1de1263b.so.1.15.60.0") "provider mlx5 - - 34\n", "",
		  "NVIDIA-NeMo/Megatron-Bridge#2824" },
		{ LIB("libibverbs.so.1.11.32.0") "provider mlx5 1 1 34\n", "", "bytedance/byteps#313" },
		{ LIB("libibverbs.so.1.12.34.0") "provider mlx5 1 1 34\n", "", NULL },
		{ LIB("libuct_ib.so.0.0.0") LIB("libibverbs.so.1.14.39.0"), "mlx_compat mlx5_ib=4.9-2.2.4",
		  "openucx/ucx#6906" },
		{ LIB("libuct_ib.so.0.0.0") LIB("libibverbs.so.1.14.39.0"), "mlx_compat mlx5_ib=5.8-1.1.2", NULL },
		{ LIB("libuct_ib.so.0.0.0") LIB("libibverbs.so.1.14.39.0"), "mlx5_ib=5.0-0", NULL },
		{ LIB("libuct_ib.so.0.0.0") LIB("libibverbs.so.1.0.0"), "mlx_compat mlx5_ib=4.9-2.2.4", NULL },
		{ LIB("libnccl.so.2.30.7"), "kernel=7.0.0-1019-nvidia", "MiaAI-Lab/DeepSeek-v4.1-Flash-DGX-Sparks#14" },
		{ LIB("libnccl.so.2.30.7"), "kernel=6.17.0-1032-nvidia", NULL },
	};
	_cleanup_(rd_job_versions_deinit) struct rd_job_versions versions = { 0 };
	bool said[64] = { 0 };
	static char text[65536];
	struct rd_err err = { 0 };
	FILE *file = fopen("data/versions", "r");
	size_t size;

	assert_non_null(file);
	size = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	assert_int_equal(rd_job_versions_parse("data/versions", text, size, &versions, &err), 0);
	assert_in_range(versions.n, 8, 64);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rd_job_proc proc = { .pid = 1 };
		struct rd_job_view view = { .proc = &proc };
		struct rd_job_kernel kernel = { .known = true };
		struct rd_host host = { 0 };
		struct rd_system system = { 0 };
		const struct rd_job_input in = { &host, &kernel, &system, NULL, &versions };
		_cleanup_free_ char *thread = cases[i].thread ? rd_text("(%s)", cases[i].thread) : NULL;
		size_t n = 0;

		take_system(cases[i].system, &system);
		rd_job_take(cases[i].proc, &proc);
		rd_job_judge(&in, &view);
		for (size_t k = 0; k < view.can.n; k++) {
			if (strcmp(view.can.v[k].id, "job-versions") != 0)
				continue;
			n++;
			if (!thread || !strstr(view.can.v[k].observed, thread) || view.can.v[k].severity != RD_SEV_NOTE)
				fail_msg("%zu: %s", i, view.can.v[k].observed);
		}
		for (size_t v = 0; v < versions.n && thread; v++)
			said[v] |= strcmp(versions.v[v].thread, cases[i].thread) == 0;
		if (n != (thread ? 1 : 0))
			fail_msg("%zu: %s, %s: %zu findings", i, cases[i].proc, cases[i].system, n);
		rd_job_view_deinit(&view);
		rd_job_proc_deinit(&proc);
		rd_system_deinit(&system);
	}
	for (size_t v = 0; v < versions.n; v++)
		assert_true(said[v]);
}

TEST(tables_of_versions_that_are_damaged)
{
	static const char *const bad[] = { "note a/b#1 libx", "fatal a/b#1 libx text", "note a/b libx text", "note",
					   "warning a/b#1" };
	_cleanup_(rd_job_versions_deinit) struct rd_job_versions versions = { 0 };
	struct rd_job_proc proc = { .pid = 1, .looked = true };
	struct rd_job_view view = { .proc = &proc };
	struct rd_job_kernel kernel = { .known = true };
	struct rd_host host = { 0 };
	const struct rd_job_input in = { &host, &kernel, NULL, NULL, &versions };
	static const char odd[] =
		"warning a/b#1 libx text\nnote a/b#2 !,<,=,>=,!=,A=,libx>=9999999999999999999999,, text\n"
		"note a/b#3 !liby<1 is not mapped\n";
	const struct rd_finding *said[2] = { 0 };
	struct rd_err err = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(rd_job_versions_parse("x", bad[i], strlen(bad[i]), &versions, &err), -EINVAL);
	assert_int_equal(versions.n, 0);
	assert_int_equal(rd_job_versions_parse("x", odd, sizeof(odd) - 1, &versions, &err), 0);
	rd_texts_add(&proc.libs, "/l/libx.so.1.2");
	rd_job_judge(&in, &view);
	for (size_t i = 0; i < view.can.n; i++)
		if (strcmp(view.can.v[i].id, "job-versions") == 0 && n < 2)
			said[n++] = &view.can.v[i];
	assert_int_equal(n, 2);
	assert_string_equal(said[0]->observed, "text (a/b#1)");
	assert_int_equal(said[0]->severity, RD_SEV_WARNING);
	assert_string_equal(said[1]->observed, "is not mapped (a/b#3)");
	rd_job_view_deinit(&view);
	rd_job_proc_deinit(&proc);
}

/* A provider as it is built, and each of its bytes damaged. */
TEST(provider)
{
	static uint8_t bytes[1 << 20];
	FILE *file = fopen("/usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so", "r");
	uint32_t min = 0, max = 0;
	size_t n;

	assert_false(rd_provider_abi(bytes, 0, "rxe", &min, &max));
	if (!file)
		skip();
	n = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	assert_true(rd_provider_abi(bytes, n, "rxe", &min, &max));
	assert_int_equal(min, 1);
	assert_int_equal(max, 2);
	assert_false(rd_provider_abi(bytes, n, "mlx5", &min, &max));
	for (size_t i = 0; i < n; i += i < 1024 ? 1 : 97) {
		bytes[i] ^= 0xff;
		rd_provider_abi(bytes, n, "rxe", &min, &max);
		bytes[i] ^= 0xff;
		rd_provider_abi(bytes, i, "rxe", &min, &max);
	}
}

TEST(runtimes)
{
	/* Made up after the defaults of each: containerd and CRI-O below Kubernetes, alone, Slurm, docker. */
	static const struct {
		const char *cgroup, *name, *advice;
	} groups[] = {
		{ "/kubepods.slice/kubepods-pod1.slice/cri-containerd-ab.scope", "Kubernetes", "device plugin" },
		{ "/kubepods.slice/kubepods-pod1.slice/crio-ab.scope", "Kubernetes", "device plugin" },
		{ "/system.slice/slurmstepd.scope/job_42/step_0/user/task_0", "Slurm", "gres.conf" },
		{ "/system.slice/docker-ab.scope", "docker", "--device=/dev/infiniband" },
		{ "/machine.slice/libpod-ab.scope", "podman", "--device=/dev/infiniband" },
		{ "/machine.slice/crio-ab.scope", "CRI-O", "--device=/dev/infiniband" },
		{ "/system.slice/containerd.service/default/ab", "containerd", "--device=/dev/infiniband" },
		{ "/user.slice/user-0.slice", NULL, "modprobe" },
	};

	/* Where the limit of locked memory is raised for good. */
	static const struct {
		const char *cgroup, *from, *advice;
	} limits[] = {
		{ "/kubepods.slice/kubepods-pod1.slice/cri-containerd-ab.scope", NULL,
		  "for containerd (or default_ulimits of CRI-O)" },
		{ "/system.slice/slurmstepd.scope/job_42/step_0/user/task_0", NULL,
		  "PropagateResourceLimitsExcept=MEMLOCK" },
		{ "/system.slice/docker-ab.scope", NULL, "--ulimit memlock=-1:-1" },
		{ "/system.slice/trainer.service", NULL, "LimitMEMLOCK=infinity in the unit" },
		{ "/user.slice/user-1000.slice/session-3.scope", NULL, "limits.conf" },
		{ "/user.slice/user-1000.slice/user@1000.service/app.slice/x.scope", NULL, "limits.conf" },
		{ NULL, "limits.conf", "limits.conf" },
		{ NULL, "slurmd, process 7", "LimitMEMLOCK=infinity in the unit" },
		{ NULL, NULL, "LimitMEMLOCK=infinity in the unit" },
	};

	/* Of a step of Slurm: its limits and those of slurmd, in MiB; 0: none, -1: unknown. */
	static const struct {
		int soft, hard, slurmd, slurmd_hard;
		const char *step, *advice;
	} slurm[] = {
		{ 8, 0, 0, 0, "step_0", "the limit of the login node came with the job" },
		{ 8, 8, 0, 0, "step_0", "memlock in limits.conf of this node" },
		{ 8, 8, 8, 8, "step_0", "LimitMEMLOCK=infinity in the unit of slurmd (systemctl edit" },
		{ 8, 0, 8, 0, "step_0", "LimitMEMLOCK=infinity in the unit of slurmd (systemctl edit" },
		{ 16, 16, 8, 8, "step_0", "LimitMEMLOCK=infinity in the unit of slurmd (systemctl edit" },
		{ 8, 8, -1, -1, "step_0", "PropagateResourceLimitsExcept=MEMLOCK in slurm.conf, LimitMEMLOCK=infinity" },
		{ 8, -1, 0, -1, "step_0", "PropagateResourceLimitsExcept=MEMLOCK in slurm.conf, LimitMEMLOCK=infinity" },
		{ 8, 8, 0, 0, "step_extern", "and a new login" },
	};

	for (size_t i = 0; i < sizeof(slurm) / sizeof(slurm[0]); i++) {
		struct rd_job_proc proc = { .cgroup = rd_text("/system.slice/slurmstepd.scope/job_42/%s/user/task_0",
							      slurm[i].step) };
		const int *values = &slurm[i].soft;
		_cleanup_free_ char *fix = NULL;

		for (int k = 0; k < 4; k++) {
			uint64_t value = values[k] ? (uint64_t)values[k] << 20 : RD_UNLIMITED;

			if (values[k] < 0)
				continue;
			if (k == 0)
				RD_SET(proc.memlock, value);
			else if (k == 1)
				RD_SET(proc.memlock_hard, value);
			else if (k == 2)
				RD_SET(proc.slurmd_memlock, value);
			else
				RD_SET(proc.slurmd_memlock_hard, value);
		}
		fix = rd_job_fix(&proc, "job-memlock");
		if (!strstr(fix, slurm[i].advice))
			fail_msg("%zu: %s", i, fix);
		rd_job_proc_deinit(&proc);
	}
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct rd_job_proc proc = { .cgroup = rd_dup_if(limits[i].cgroup),
					    .memlock_from = rd_dup_if(limits[i].from) };
		_cleanup_free_ char *fix = rd_job_fix(&proc, "job-memlock");

		if (!strstr(fix, limits[i].advice))
			fail_msg("%zu: %s", i, fix);
		rd_job_proc_deinit(&proc);
	}
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		struct rd_job_proc proc = { .cgroup = rd_dup(groups[i].cgroup) };
		_cleanup_free_ char *fix = rd_job_fix(&proc, "job-device-file");
		const char *name = rd_job_runtime(&proc);

		assert_true(name ? groups[i].name && strcmp(name, groups[i].name) == 0 : !groups[i].name);
		assert_non_null(strstr(fix, groups[i].advice));
		rd_job_proc_deinit(&proc);
	}
}
