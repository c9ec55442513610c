/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NCCL's variables: the table of rules, and the rules that are the same on every host. */
#include <string.h>

#include "analyse/env/envcheck-priv.h"
#include "base/text.h"

#define QPS_MAX 128 /* NCCL_IB_MAX_QPS */

/* Each NIC of a merged NIC has this many. */
static void check_queue_pairs(struct rd_check_env *check)
{
	long n;

	if (!rd_envcheck_value(check, RD_ENV_NCCL, 1, &n))
		return;
	if (n < 1 || n > QPS_MAX) {
		rd_envcheck_effect(check,
				   "NCCL supports 1 to %d queue pairs per connection, and does not check the value",
				   QPS_MAX);
		rd_envcheck_finding(check, RD_SEV_CRITICAL, "env-out-of-range", "Value out of range",
				    "NCCL does not check it: the process crashes, or connects without queue pairs",
				    rd_text("%ld", n), rd_text("1 to %d", QPS_MAX));
		return;
	}
	rd_envcheck_effect(check, "%ld queue pair%s per connection (channel and peer) and NIC%s", n, n == 1 ? "" : "s",
			   n == 1 ? " (the default)" : ", and as many per NIC that is merged with it");
	if (n > 1)
		rd_envcheck_effect(
			check,
			rd_envcheck_nccl_number(check, "NCCL_IB_SPLIT_DATA_ON_QPS", 0) == 1 ?
				"each message is split across them" :
				"messages use them round-robin (NCCL_IB_SPLIT_DATA_ON_QPS=1 splits each message)");
}

static void check_split(struct rd_check_env *check)
{
	long qps = rd_envcheck_nccl_number(check, "NCCL_IB_QPS_PER_CONNECTION", 1), split;

	if (!rd_envcheck_value(check, RD_ENV_NCCL, 0, &split))
		return;
	if (split == 1 && qps == 1)
		rd_envcheck_effect(check, "no effect unless NICs are merged: a connection has one queue pair "
					  "(NCCL_IB_QPS_PER_CONNECTION)");
	else if (split == 1)
		rd_envcheck_effect(check, "each message is split across all queue pairs of the connection");
	else
		rd_envcheck_effect(check, "messages use the queue pairs round-robin%s",
				   split == 0 ? " (the default)" : "");
}

static void check_family(struct rd_check_env *check)
{
	const char *value = check->effect->value;
	bool v6 = strcmp(value, "AF_INET6") == 0, known = v6 || strcmp(value, "AF_INET") == 0;

	rd_envcheck_effect(
		check, known ? "%s addresses for socket connections" : "invalid: the first address found, of %s family",
		v6    ? "IPv6" :
		known ? "IPv4" :
			"any");
	if (known || !*value)
		return;
	rd_envcheck_finding(check, RD_SEV_WARNING, "env-ignored", "Invalid value", "NCCL behaves as if it were not set",
			    NULL, rd_text("AF_INET or AF_INET6"));
}

static void check_subsystems(struct rd_check_env *check)
{
	static const char known[] =
		" INIT COLL P2P SHM NET GRAPH TUNING ENV ALLOC ALLOC_HOST CALL PROXY NVLS BOOTSTRAP REG "
		"PROFILE RAS VERBS DESTROY DIAG ALL ";
	_cleanup_env_list_ struct rd_env_list unknown = { 0 };
	const char *at = check->effect->value + (*check->effect->value == '^'), *entry;
	size_t size;

	while (rd_env_entry(&at, &entry, &size))
		if (!rd_envcheck_listed(known, entry, size, false))
			rd_env_list_add(&unknown, entry, size);
	rd_envcheck_effect(check, "selects what NCCL_DEBUG=INFO logs");
	if (unknown.n)
		rd_envcheck_unknown_value(check, rd_env_list_take(&unknown), NULL);
}

/* clang-format off */
static const struct rd_env_values merge_vfs = { RD_ENV_NCCL, 1, 0, 0, RD_ENV_MEANINGS(
	{ 0, "virtual functions are separate NICs; only the ports of one device are merged" },
	{ 1, "the device and function numbers of PCI addresses are ignored: virtual functions on the same bus are merged" }),
	"same as 1", NULL, false };
static const struct rd_env_values merge_nics = { RD_ENV_NCCL, 1, 0, 0, RD_ENV_MEANINGS(
	{ 0, "NICs are not merged: each port is a separate NIC" },
	{ 1, "ports of one card are merged into one NIC, up to NCCL_NET_MERGE_LEVEL" }), "same as 1", NULL, false };
static const struct rd_env_values cross_nic = { RD_ENV_NCCL, 2, 0, 2, RD_ENV_MEANINGS(
	{ 0, "a ring or tree uses the NIC of the same number on all hosts: for rails that do not reach each other" },
	{ 1, "a ring or tree may use different NICs on each host: every NIC must reach every other" },
	{ 2, "a ring or tree uses the NIC of the same number on all hosts where that is as fast" }), NULL, "NCCL searches for rings as with 0", false };
static const struct rd_env_values pxn_disable = { RD_ENV_NCCL, 0, 0, 0, RD_ENV_MEANINGS(
	{ 0, "GPUs may send through another GPU's NIC over NVLink (PXN)" },
	{ 1, "no sending through another GPU's NIC (PXN): if a GPU has no near NIC, or rails are separate, traffic crosses "
	     "the CPU" }),
	"same as 0", NULL, false };
static const struct rd_env_values pxn_level = { RD_ENV_NCCL, 2, 0, 2, RD_ENV_MEANINGS(
	{ 0, "point-to-point operations (ncclSend, ncclRecv) do not use another GPU's NIC (PXN)" },
	{ 1, "point-to-point operations (ncclSend, ncclRecv) use another GPU's NIC (PXN) where that avoids the CPU" },
	{ 2, "point-to-point operations (ncclSend, ncclRecv) use the NIC of the receiver's rail (PXN)" }), NULL, NULL, false };
static const struct rd_env_values data_direct = { RD_ENV_NCCL, 1, 0, 2, RD_ENV_MEANINGS(
	{ 0, "Data Direct is not used: data takes the PCI path of the NIC" },
	{ 1, "if a NIC has a Data Direct function, only that is used" },
	{ 2, "a NIC with a Data Direct function is listed twice: with it and without" }), NULL, NULL, false };
static const struct rd_env_values gdr_read = { RD_ENV_NCCL, -2, 0, 0, RD_ENV_MEANINGS(
	{ -2, "NICs read GPU memory directly to send, on Ampere and later or with NVLink" },
	{ 0, "data to send is copied through host memory", RD_SEV_WARNING, "env-gdr-off",
	  "GPUDirect RDMA is disabled for sending", "data is copied through host memory first", "# unset NCCL_NET_GDR_READ in the job's environment" },
	{ 1, "NICs read GPU memory directly to send" }), "same as 1", NULL, false };
static const struct rd_env_values gdr_c2c = { RD_ENV_NCCL, 1, 0, 0, RD_ENV_MEANINGS(
	{ 0, "GPUDirect RDMA up to PXB only, also where C2C connects GPU and CPU" },
	{ 1, "GPUDirect RDMA over C2C, too" }), "same as 1", NULL, false };
static const struct rd_env_values dmabuf = { RD_ENV_NCCL, 1, 0, 0, RD_ENV_MEANINGS(
	{ 0, "GPU memory is registered through nvidia_peermem only, which must be loaded" },
	{ 1, "GPU memory is registered as DMA-BUF if the kernel and the driver support it" }), "same as 1", NULL, false };
static const struct rd_env_values p2p_disable = { RD_ENV_NCCL, 0, 0, 0, RD_ENV_MEANINGS(
	{ 0, "GPUs of this host access each other directly (P2P)" },
	{ 1, "no P2P between GPUs, NVLink included: data goes through host memory" }),
	"same as 0: only 1 disables P2P", NULL, false };
static const struct rd_env_values shm_disable = { RD_ENV_NCCL, 0, 0, 0, RD_ENV_MEANINGS(
	{ 0, "processes of this host use shared memory where GPUs have no P2P access" },
	{ 1, "no shared memory: processes of this host without P2P access use the network" }), "same as 0",
	NULL, false };
static const struct rd_env_values adaptive = { RD_ENV_NCCL, -2, 0, 0, RD_ENV_MEANINGS(
	{ -2, "on for InfiniBand, off for RoCE" },
	{ 0, "off: data and its completion signal are one RDMA write" },
	{ 1, "on: larger messages are sent as an RDMA write, and a second one signals completion, so packets may arrive out "
	     "of order" }),
	"same as 1", NULL, false };
static const struct rd_env_values ar_threshold = { RD_ENV_NCCL, 8192, 0, 0, NULL,
	"with adaptive routing, a second RDMA write signals messages above %ld bytes", NULL, false };
static const struct rd_env_values relaxed = { RD_ENV_NCCL, 2, 0, 2, RD_ENV_MEANINGS(
	{ 0, "no PCI relaxed ordering: slow in virtual machines and on some AMD processors" },
	{ 1, "PCI relaxed ordering if libibverbs supports it" },
	{ 2, "PCI relaxed ordering if libibverbs supports it" }), NULL, "NCCL treats it as 0", false };
static const struct rd_env_values use_inline = { RD_ENV_NCCL, 0, 0, 0, RD_ENV_MEANINGS(
	{ 0, "control messages are not sent inline: the NIC reads them from memory" }, { 1, "control messages are sent inline" }), "same as 1", NULL, false };
static const struct rd_env_values ece = { RD_ENV_NCCL, 1, 0, 0, RD_ENV_MEANINGS(
	{ 0, "no enhanced connection establishment (ECE): the two NICs do not negotiate features" },
	{ 1, "the NICs negotiate features such as congestion control" }), "same as 1", NULL, false };
static const struct rd_env_values async_events = { RD_ENV_NCCL, 1, 0, 0, RD_ENV_MEANINGS(
	{ 0, "fatal events of a NIC are logged, and the job continues", RD_SEV_WARNING, "env-events-ignored",
	  "Fatal asynchronous events of NICs do not fail the job", "the job may hang instead", "# unset NCCL_IB_RETURN_ASYNC_EVENTS in the job's environment" },
	{ 1, "a fatal event of a NIC fails the job" }), "same as 1", NULL, false };
static const struct rd_env_values flush = { RD_ENV_NCCL, 0, 0, 0, RD_ENV_MEANINGS(
	{ 0, "a flush (RDMA read) after a receive ensures that the data is in GPU memory" },
	{ 1, "no flush after a receive: GPUs that need it (before Hopper) may read stale data" }),
	"same as 1", NULL, false };
static const struct rd_env_values failover = { RD_ENV_NCCL, 0, 0, 0, RD_ENV_MEANINGS(
	{ 0, "a port failure fails the job" },
	{ 1, "a failed port of a merged NIC is no longer used" }), "same as 0", NULL, false };
static const struct rd_env_values subnet_aware = { RD_ENV_NCCL, 0, 0, 0, RD_ENV_MEANINGS(
	{ 0, "a NIC connects to the peer's NIC regardless of the subnet" },
	{ 1, "a NIC in the peer's subnet is preferred" }), "same as 1", NULL, false };
static const struct rd_env_values ooo_rq = { RD_ENV_NCCL, 0, 0, 0, RD_ENV_MEANINGS(
	{ 0, "receives complete in order" },
	{ 1, "receives complete out of order: the NIC must support it" }), "same as 1", NULL, false };
static const struct rd_env_values mnnvl = { RD_ENV_NCCL, 2, 0, 2, RD_ENV_MEANINGS(
	{ 0, "NVLink between hosts (MNNVL) is not used: traffic uses NICs" },
	{ 1, "NVLink between hosts (MNNVL) must work, or NCCL fails" },
	{ 2, "NVLink between hosts (MNNVL) is used where available" }), NULL, NULL, false };
static const struct rd_env_values net_intra = { RD_ENV_NCCL, 0, 0, 0, RD_ENV_MEANINGS(
	{ 0, "the network may be used within the host" }, { 1, "the network is not used within the host" }), "same as 1",
	NULL, false };

/* RCCL, GPUDirect RDMA in net_ib.cc: not on Hyper-V with automatic NUMA balancing, unless ordering is relaxed. */
static void check_relaxed(struct rd_check_env *check)
{
	const struct rd_host *host = check->host;
	bool amd = false;

	rd_envcheck_values(check, &relaxed);
	for (size_t g = 0; g < host->n_gpus; g++)
		amd |= host->gpus[g].vendor && strcmp(host->gpus[g].vendor, "AMD") == 0;
	if (!amd || !host->hyper_v || host->numa_balancing.known != RD_OK || !host->numa_balancing.v ||
	    rd_envcheck_nccl_number(check, check->effect->name, 2) != 0)
		return;
	rd_envcheck_finding_fix(check, RD_SEV_WARNING, "env-numa-balancing", "RCCL does not use GPUDirect RDMA on this guest",
				"on Hyper-V, RCCL leaves GPUDirect RDMA off if kernel.numa_balancing is 1 and PCI relaxed "
				"ordering is off: data goes through host memory",
				rd_text("kernel.numa_balancing 1, and no PCI relaxed ordering"),
				rd_text("kernel.numa_balancing 0, or relaxed ordering"),
				rd_text("sysctl -w kernel.numa_balancing=0\n"
					"# until the next boot; also in /etc/sysctl.d/\n"
					"# or leave NCCL_IB_PCI_RELAXED_ORDERING unset"));
}

static const struct rd_env_rule rules[] = {
	{ "NCCL_IB_HCA", rd_envcheck_nccl_hca, true, NULL },
	{ "NCCL_NET", rd_envcheck_net, false, NULL },
	{ "NCCL_NET_PLUGIN", rd_envcheck_net_plugin, false, NULL },
	{ "NCCL_IB_DISABLE", rd_envcheck_ib_disable, false, NULL },
	{ "NCCL_SOCKET_IFNAME", rd_envcheck_interfaces, false, NULL },
	{ "NCCL_SOCKET_FAMILY", check_family, false, NULL },
	{ "NCCL_IB_GID_INDEX", rd_envcheck_gid_index, false, NULL },
	{ "NCCL_IB_ADDR_FAMILY", rd_envcheck_addr_family, false, NULL },
	{ "NCCL_IB_ADDR_RANGE", rd_envcheck_addr_range, false, NULL },
	{ "NCCL_IB_ROCE_VERSION_NUM", rd_envcheck_roce_version, false, NULL },
	{ "NCCL_IB_TIMEOUT", rd_envcheck_timeout, false, NULL },
	{ "NCCL_IB_RETRY_CNT", rd_envcheck_retry_count, false, NULL },
	{ "NCCL_IB_SL", rd_envcheck_service_level, false, NULL },
	{ "NCCL_IB_TC", rd_envcheck_traffic_class, false, NULL },
	{ "NCCL_IB_FIFO_TC", rd_envcheck_traffic_class, false, NULL },
	{ "NCCL_GIN_IB_TC", rd_envcheck_traffic_class, false, NULL },
	{ "NCCL_IB_PKEY", rd_envcheck_pkey, false, NULL },
	{ "NCCL_IB_QPS_PER_CONNECTION", check_queue_pairs, false, NULL },
	{ "NCCL_IB_SPLIT_DATA_ON_QPS", check_split, false, NULL },
	{ "NCCL_IB_MERGE_VFS", NULL, false, &merge_vfs },
	{ "NCCL_IB_MERGE_NICS", NULL, false, &merge_nics },
	{ "NCCL_NET_MERGE_LEVEL", rd_envcheck_merge_level, false, NULL },
	{ "NCCL_NET_MERGE_POLICY", rd_envcheck_merge_policy, false, NULL },
	{ "NCCL_NET_FORCE_MERGE", rd_envcheck_force_merge, false, NULL },
	{ "NCCL_NETDEVS_POLICY", rd_envcheck_netdevs_policy, false, NULL },
	{ "NCCL_TOPO_FILE", rd_envcheck_topo_file, false, NULL },
	{ "NCCL_CROSS_NIC", NULL, false, &cross_nic },
	{ "NCCL_PXN_DISABLE", NULL, false, &pxn_disable },
	{ "NCCL_P2P_PXN_LEVEL", NULL, false, &pxn_level },
	{ "NCCL_IB_DATA_DIRECT", NULL, false, &data_direct },
	{ "NCCL_NET_GDR_LEVEL", rd_envcheck_level, false, NULL },
	{ "NCCL_NET_GDR_READ", NULL, false, &gdr_read },
	{ "NCCL_NET_GDR_C2C", NULL, false, &gdr_c2c },
	{ "NCCL_DMABUF_ENABLE", NULL, false, &dmabuf },
	{ "NCCL_P2P_LEVEL", rd_envcheck_level, false, NULL },
	{ "NCCL_P2P_DISABLE", NULL, false, &p2p_disable },
	{ "NCCL_SHM_DISABLE", NULL, false, &shm_disable },
	{ "NCCL_IB_ADAPTIVE_ROUTING", NULL, false, &adaptive },
	{ "NCCL_IB_AR_THRESHOLD", NULL, false, &ar_threshold },
	{ "NCCL_IB_PCI_RELAXED_ORDERING", check_relaxed, false, NULL },
	{ "NCCL_IB_USE_INLINE", NULL, false, &use_inline },
	{ "NCCL_IB_ECE_ENABLE", NULL, false, &ece },
	{ "NCCL_IB_RETURN_ASYNC_EVENTS", NULL, false, &async_events },
	{ "NCCL_GDR_FLUSH_DISABLE", NULL, false, &flush },
	{ "NCCL_IB_RESILIENCY_PORT_FAILOVER", NULL, false, &failover },
	{ "NCCL_IB_SUBNET_AWARE_ROUTING", NULL, false, &subnet_aware },
	{ "NCCL_IB_OOO_RQ", NULL, false, &ooo_rq },
	{ "NCCL_MNNVL_ENABLE", NULL, false, &mnnvl },
	{ "NCCL_NET_DISABLE_INTRA", NULL, false, &net_intra },
	{ "NCCL_DEBUG_SUBSYS", check_subsystems, false, NULL },
};
/* clang-format on */
const struct rd_env_rules rd_env_nccl = { rules, RD_ARRAY_SIZE(rules), rd_envcheck_nccl_unused_by };
