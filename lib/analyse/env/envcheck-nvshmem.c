/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NVSHMEM's variables: src/modules/transport/common/env_defs.h, and the transports that read them. */
#include <ctype.h>
#include <strings.h>

#include "analyse/env/envcheck-priv.h"

/* Whether a switch is set, and on. */
static bool is_on(const struct rd_effects *all, const char *name)
{
	return rd_env_number(all, RD_ENV_LETTER, name, 0) != 0;
}

#define TRANSPORTS "ibrc, ibdevx, ucx, libfabric or gpunetio"

/* src/host/transport/transport.cpp compares eight letters, ignoring case. IBGDA has a variable of its own. */
static void check_remote(struct rd_check_env *check)
{
	static const char *const known[] = { "ibrc", "ucx", "ibdevx", "libfabric", "gpunetio" };
	const char *value = check->effect->value;
	bool ibgda = is_on(check->all, "NVSHMEM_IB_ENABLE_IBGDA");

	for (size_t i = 0; i < RD_ARRAY_SIZE(known); i++)
		if (strncasecmp(value, known[i], 8) == 0)
			return rd_envcheck_effect(check, "%s between hosts%s%s", known[i],
						  i == 0 ? " (the default)" : "",
						  ibgda ? ", and IBGDA for GPU-initiated transfers" : "");
	if (ibgda)
		return rd_envcheck_effect(check, "no host-initiated transport: IBGDA only between hosts");
	if (strcasecmp(value, "none") != 0 && strcasecmp(value, "ibgda") != 0)
		return rd_envcheck_unknown_value(check, NULL, rd_text(TRANSPORTS));
	rd_envcheck_effect(check, "no transport between hosts");
	if (rd_envcheck_has_rdma(check, true))
		rd_envcheck_finding_fix(check, RD_SEV_CRITICAL, "env-rdma-off", "RDMA is disabled",
					"PEs on other hosts are unreachable", NULL, rd_text(TRANSPORTS),
					rd_text("# unset NVSHMEM_REMOTE_TRANSPORT in the job's environment"));
}

/* src/modules/transport/ibgda/ibgda.cpp, ibgda_parse_nic_handler_request. */
static void check_handler(struct rd_check_env *check)
{
	static const struct {
		const char *word, *text;
	} known[] = {
		{ "auto",
		  "GPUs ring doorbells if the driver allows it (PeerMappingOverride=1, or DMA-BUF of the UAR), else the "
		  "CPU does (the default)" },
		{ "gpu",
		  "GPUs ring doorbells if the driver allows it (NVreg_RegistryDwords=\"PeerMappingOverride=1;\"), "
		  "else the CPU does: the same as auto" },
		{ "cpu", "the CPU rings doorbells through GDRCopy: gdrdrv must be loaded, or IBGDA fails to start" },
		{ "cpu_host_memory",
		  "the CPU rings doorbells through host memory: slower, but needs no driver setting" },
	};
	char word[20];
	size_t n = 0;

	for (const char *c = check->effect->value; *c && n + 1 < sizeof(word); c++)
		if (!isspace((unsigned char)*c))
			word[n++] = (char)tolower((unsigned char)*c);
	word[n] = '\0';
	for (size_t i = 0; i < RD_ARRAY_SIZE(known); i++)
		if (strcmp(word, known[i].word) == 0) {
			rd_envcheck_effect(check, "%s", known[i].text);
			if (i != 2 || !is_on(check->all, "NVSHMEM_DISABLE_GDRCOPY"))
				return;
			return rd_envcheck_finding(check, RD_SEV_CRITICAL, "env-refused", "NIC handler needs GDRCopy",
						   "IBGDA fails to start", rd_text("NVSHMEM_DISABLE_GDRCOPY is set"),
						   rd_text("auto, gpu or cpu_host_memory"));
		}
	rd_envcheck_unknown_value(check, NULL, rd_text("auto, gpu, cpu or cpu_host_memory"));
}

static void check_map(struct rd_check_env *check)
{
	static const char *const known[] = { "cta", "sm", "warp", "dct" };
	bool dci = strstr(check->effect->name, "DCI") != NULL;

	for (size_t i = 0; i < 3 + (size_t)dci; i++)
		if (strcasecmp(check->effect->value, known[i]) == 0)
			return rd_envcheck_effect(check, "queue pairs are mapped by %s%s", known[i],
						  i == 0 ? " (the default)" : "");
	rd_envcheck_unknown_value(check, NULL, rd_text(dci ? "cta, sm, warp or dct" : "cta, sm or warp"));
}

static void check_memtype(struct rd_check_env *check)
{
	const char *value = check->effect->value;

	if (strcasecmp(value, "gpumem") == 0)
		rd_envcheck_effect(check, "NIC queues are in GPU memory (the default)");
	else if (strcasecmp(value, "hostmem") == 0)
		rd_envcheck_effect(check, "NIC queues are in host memory: each doorbell crosses PCI");
	else
		rd_envcheck_effect(check, "NIC queues are in GPU memory if the NIC can read it, else in host memory");
}

/* src/modules/transport/libfabric/libfabric.cpp. */
static void check_provider(struct rd_check_env *check)
{
	const char *value = check->effect->value, *remote = rd_effects_get(check->all, "NVSHMEM_REMOTE_TRANSPORT");
	bool known = strcmp(value, "cxi") == 0 || strcmp(value, "efa") == 0 || strcmp(value, "verbs") == 0;

	if (!remote || strncasecmp(remote, "libfabric", 8) != 0)
		rd_envcheck_effect(check, "not used: NVSHMEM_REMOTE_TRANSPORT is not libfabric");
	else
		rd_envcheck_effect(check, "libfabric provider %.*s", RD_ENV_QUOTED, value);
	if (!known)
		rd_envcheck_unknown_value(check, NULL, rd_text("cxi, efa or verbs"));
}

static const char *unused_by(const struct rd_effects *all, const char *name)
{
	const char *remote = rd_effects_get(all, "NVSHMEM_REMOTE_TRANSPORT");
	bool ibgda = is_on(all, "NVSHMEM_IB_ENABLE_IBGDA");

	if (strcmp(name, "NVSHMEM_REMOTE_TRANSPORT") == 0 || strcmp(name, "NVSHMEM_IB_ENABLE_IBGDA") == 0)
		return NULL;
	/* Only if it is set: programs such as DeepEP enable IBGDA themselves. */
	if (strncmp(name, "NVSHMEM_IBGDA_", 14) == 0 && rd_effects_get(all, "NVSHMEM_IB_ENABLE_IBGDA") && !ibgda)
		return "NVSHMEM_IB_ENABLE_IBGDA disables IBGDA";
	if (strncmp(name, "NVSHMEM_GPUNETIO_", 17) == 0 && (!remote || strncasecmp(remote, "gpunetio", 8) != 0))
		return "NVSHMEM_REMOTE_TRANSPORT is not gpunetio";
	if (remote && strcasecmp(remote, "none") == 0 && !ibgda &&
	    (strncmp(name, "NVSHMEM_IB_", 11) == 0 || strncmp(name, "NVSHMEM_HCA_", 12) == 0))
		return "NVSHMEM_REMOTE_TRANSPORT=none";
	return NULL;
}

/* clang-format off */
static const struct rd_env_rule rules[] = {
	{ "NVSHMEM_HCA_LIST", rd_envcheck_nvshmem_list, .hca = true },
	{ "NVSHMEM_HCA_PE_MAPPING", rd_envcheck_nvshmem_list, .hca = true },
	{ "NVSHMEM_ENABLE_NIC_PE_MAPPING", NULL, { RD_ENV_LETTER, 0, 0, 0, RD_ENV_MEANINGS(
		{ 0, "each PE uses the NIC nearest to its GPU" },
		{ 1, "PEs use NICs in the order of NVSHMEM_HCA_PE_MAPPING or _HCA_LIST, else round-robin, regardless of distance" }) } },
	{ "NVSHMEM_HCA_PREFIX", rd_envcheck_nvshmem_prefix },
	{ "NVSHMEM_REMOTE_TRANSPORT", check_remote },
	{ "NVSHMEM_IB_ENABLE_IBGDA", NULL, { RD_ENV_LETTER, 0, 0, 0, RD_ENV_MEANINGS(
		{ 0, "GPUs do not initiate RDMA themselves: a CPU proxy thread does" },
		{ 1, "GPUs initiate RDMA themselves (IBGDA): mlx5 devices only" }) } },
	{ "NVSHMEM_GPUNETIO_ENABLE_GDAKI", NULL, { RD_ENV_LETTER, 0, 0, 0, RD_ENV_MEANINGS(
		{ 0, "GPUs do not initiate RDMA themselves: the CPU does" },
		{ 1, "GPUs initiate RDMA themselves (GPUNetIO)" }) } },
	{ "NVSHMEM_IB_GID_INDEX", rd_envcheck_gid_index },
	{ "NVSHMEM_IB_ADDR_FAMILY", rd_envcheck_addr_family },
	{ "NVSHMEM_IB_ADDR_RANGE", rd_envcheck_addr_range },
	{ "NVSHMEM_IB_ROCE_VERSION_NUM", rd_envcheck_roce_version },
	{ "NVSHMEM_IB_TIMEOUT", rd_envcheck_timeout },
	{ "NVSHMEM_IB_RETRY_CNT", rd_envcheck_retry_count },
	{ "NVSHMEM_IB_PKEY_INDEX", rd_envcheck_pkey },
	{ "NVSHMEM_IB_SL", rd_envcheck_service_level },
	{ "NVSHMEM_IB_TRAFFIC_CLASS", rd_envcheck_traffic_class },
	{ "NVSHMEM_IB_NUM_RC_PER_DEVICE", NULL, { RD_ENV_ANY_BASE, 1, 1, 1024, NULL, "%ld RC queue pairs per peer PE and NIC", "connections fail" } },
	{ "NVSHMEM_IB_DISABLE_DMABUF", NULL, { RD_ENV_LETTER, 0, 0, 0, RD_ENV_MEANINGS(
		{ 0, "GPU memory is registered as DMA-BUF if the driver supports it" },
		{ 1, "GPU memory is registered through nvidia_peermem only, which must be loaded" }) } },
	{ "NVSHMEM_IB_ENABLE_RELAXED_ORDERING", NULL, { RD_ENV_LETTER, 1, 0, 0, RD_ENV_MEANINGS(
		{ 0, "no PCI relaxed ordering" },
		{ 1, "PCI relaxed ordering" }) } },
	{ "NVSHMEM_IBGDA_NIC_HANDLER", check_handler },
	{ "NVSHMEM_IBGDA_NUM_RC_PER_PE", NULL, { RD_ENV_ANY_BASE, 2, 0, 0, RD_ENV_MEANINGS(
		{ 0, "no RC queue pairs: DCI and DCT only" }), "%ld RC queue pairs per peer PE and NIC" } },
	{ "NVSHMEM_IBGDA_NUM_DCI", NULL, { RD_ENV_ANY_BASE, 1, 0, 0, NULL, "%ld DCI queue pairs (0 or less: NVSHMEM decides)" } },
	{ "NVSHMEM_IBGDA_NUM_DCT", NULL, { RD_ENV_ANY_BASE, 2, 0, 0, NULL, "%ld DCT queue pairs" } },
	{ "NVSHMEM_IBGDA_NUM_SHARED_DCI", NULL, { RD_ENV_ANY_BASE, 1, 0, 0, NULL, "%ld of the DCI queue pairs are shared" } },
	{ "NVSHMEM_IBGDA_DCI_MAP_BY", check_map },
	{ "NVSHMEM_IBGDA_RC_MAP_BY", check_map },
	{ "NVSHMEM_IBGDA_ENABLE_MULTI_PORT", NULL, { RD_ENV_LETTER, 0, 0, 0, RD_ENV_MEANINGS(
		{ 0, "one NIC per PE, even if several are equally near" },
		{ 1, "all NICs that are as near as the nearest one, for each PE" }) } },
	{ "NVSHMEM_IBGDA_FORCE_NIC_BUF_MEMTYPE", check_memtype },
	{ "NVSHMEM_DISABLE_GDRCOPY", NULL, { RD_ENV_LETTER, 0, 0, 0, RD_ENV_MEANINGS(
		{ 0, "GDRCopy is used if available" },
		{ 1, "GDRCopy is not used: IBRC emulates atomics" }) } },
	{ "NVSHMEM_DISABLE_P2P", NULL, { RD_ENV_LETTER, 0, 0, 0, RD_ENV_MEANINGS(
		{ 0, "GPUs of this host access each other directly (P2P)" },
		{ 1, "GPUs of this host communicate over the network only" }) } },
	{ "NVSHMEM_DISABLE_MNNVL", NULL, { RD_ENV_LETTER, 0, 0, 0, RD_ENV_MEANINGS(
		{ 0, "NVLink between hosts (MNNVL) is used where available" },
		{ 1, "NVLink between hosts (MNNVL) is not used" }) } },
	{ "NVSHMEM_DISABLE_DATA_DIRECT", NULL, { RD_ENV_LETTER, 0, 0, 0, RD_ENV_MEANINGS(
		{ 0, "Data Direct functions are used if NICs have them" },
		{ 1, "Data Direct functions are not used" }) } },
	{ "NVSHMEM_DISABLE_IB_NATIVE_ATOMICS", NULL, { RD_ENV_LETTER, 0, 0, 0, RD_ENV_MEANINGS(
		{ 0, "NICs execute atomics" },
		{ 1, "a CPU proxy thread executes atomics" }) } },
	{ "NVSHMEM_QP_DEPTH", NULL, { RD_ENV_ANY_BASE, 1024, 128, 32768, NULL,
		"%ld work requests per queue pair (IBGDA: rounded up to a power of two)", "NVSHMEM fails to start", true } },
	{ "NVSHMEM_LIBFABRIC_PROVIDER", check_provider },
	{ "NVSHMEM_LIBFABRIC_MAX_NIC_PER_PE", NULL, { RD_ENV_ANY_BASE, 16, 0, 0, NULL, "up to %ld NICs per PE" } },
	{ "NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME", rd_envcheck_interfaces },
};
/* clang-format on */
const struct rd_env_rules rd_env_nvshmem = { rules, RD_ARRAY_SIZE(rules), unused_by };
