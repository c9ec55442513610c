/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libfabric's variables (src/fabric.c, prov/efa/src, prov/verbs/src/verbs_info.c), and Gloo's. */
#include <strings.h>

#include "analyse/env/envcheck-priv.h"

static const char rdma_providers[] = " efa verbs cxi psm2 psm3 opx usnic ucx mlx gni lnx ";
static const char other_providers[] = " tcp udp sockets net shm sm2 ofi_rxm ofi_rxd ofi_mrail ";

/* True if `words` have one of FI_PROVIDER: "verbs", or any layer of "tcp;ofi_rxm". */
static bool is_provider(const char *words, const char *word, size_t size)
{
	while (size > 0) {
		size_t n = 0;

		while (n < size && word[n] != ';')
			n++;
		if (rd_envcheck_listed(words, word, n, false))
			return true;
		word += n + (n < size);
		size -= n + (n < size);
	}
	return false;
}

static bool names_provider(const char *value, const char *provider)
{
	size_t n = strlen(provider);

	for (; *value; value += strcspn(value, ",;"), value += *value != '\0')
		if (strncasecmp(value, provider, n) == 0 && (!value[n] || strchr(",;", value[n])))
			return true;
	return false;
}

static bool allows_rdma(const char *value, struct rd_env_list *unknown)
{
	const char *entry;
	size_t size;
	bool any = false;

	if (*value == '^' || !*value)
		return true; /* a few providers are excluded; the others remain */
	while (rd_env_entry(&value, &entry, &size)) {
		any |= is_provider(rdma_providers, entry, size);
		if (!any && !is_provider(other_providers, entry, size))
			rd_env_list_add(unknown, entry, size);
	}
	return any;
}

static void check_provider(struct rd_check_env *check)
{
	const char *value = check->effect->value;
	_cleanup_env_list_ struct rd_env_list unknown = { 0 };
	bool efa = rd_host_has_efa(check->host);

	if (*value == '^')
		return rd_envcheck_effect(check, "all providers except these");
	if (strcasecmp(value, "efa") == 0 && !efa) {
		rd_envcheck_effect(check, "no EFA device on this host: no provider is found");
		return rd_envcheck_finding_fix(check, RD_SEV_CRITICAL, "env-no-provider", "No device for this provider",
					       "fi_getinfo fails with -61 (No data available)",
					       rd_text("no EFA device in /sys/class/infiniband"), NULL,
					       rd_text("%s# in a container: start it with --device=/dev/infiniband",
						       rd_envcheck_has_rdma(check, false) ?
							       "# set FI_PROVIDER=verbs in the job's environment\n" :
							       ""));
	}
	if (allows_rdma(value, &unknown))
		return rd_envcheck_effect(check, "only %.*s%s", RD_ENV_QUOTED, value,
					  efa && !names_provider(value, "efa") ? ", which excludes EFA" : "");
	if (unknown.n)
		return rd_envcheck_unknown_value(check, rd_env_list_take(&unknown), NULL);
	rd_envcheck_effect(check, "only %.*s: no RDMA", RD_ENV_QUOTED, value);
	if (rd_envcheck_has_rdma(check, true))
		rd_envcheck_finding_fix(check, RD_SEV_CRITICAL, "env-rdma-off", "FI_PROVIDER excludes RDMA",
					"libfabric uses TCP or UDP between hosts, at a fraction of the rate", NULL,
					rd_text(efa ? "efa" : "verbs"),
					rd_text("# set FI_PROVIDER=%s in the job's environment, or unset it",
						efa ? "efa" : "verbs"));
}

/* prov/efa/src: exact names separated by commas; a value that starts with "all" selects all. */
static void check_efa_iface(struct rd_check_env *check)
{
	const char *value = check->effect->value;

	if (!*value) {
		rd_envcheck_effect(check, "libfabric aborts the process");
		return rd_envcheck_finding(check, RD_SEV_CRITICAL, "env-refused", "Library rejects the value",
					   "libfabric aborts the process", NULL,
					   rd_text("names of EFA devices, or all"));
	}
	if (strncmp(value, "all", 3) == 0)
		return rd_envcheck_effect(check, "all EFA devices (the default)");
	rd_envcheck_names(check, RD_ENV_BY_NAME, "No such device");
}

static void check_device_name(struct rd_check_env *check)
{
	rd_envcheck_names(check, RD_ENV_BY_PREFIX, "No device name starts with this");
}

static const char *unused_by(const struct rd_effects *all, const char *name)
{
	const char *provider = rd_effects_get(all, "FI_PROVIDER");

	if (!provider || !*provider || *provider == '^')
		return NULL;
	if (strncmp(name, "FI_EFA_", 7) == 0 && !names_provider(provider, "efa"))
		return "FI_PROVIDER excludes efa";
	return strncmp(name, "FI_VERBS_", 9) == 0 && !names_provider(provider, "verbs") ? "FI_PROVIDER excludes verbs" :
											  NULL;
}

/* clang-format off */
static const struct rd_env_rule rules[] = {
	{ "FI_PROVIDER", check_provider },
	{ "FI_EFA_IFACE", check_efa_iface, .hca = true },
	{ "FI_EFA_USE_DEVICE_RDMA", NULL, { RD_ENV_WORD, 1, 0, 0, RD_ENV_MEANINGS(
		{ 0, "EFA emulates RDMA with sends: data is copied", RD_SEV_WARNING, "env-gdr-off", "RDMA reads and writes of EFA are disabled", "data is copied through bounce buffers instead", "# unset FI_EFA_USE_DEVICE_RDMA in the job's environment" },
		{ 1, "EFA uses RDMA reads and writes; the process aborts if the device does not support them" }) } },
	{ "FI_EFA_ENABLE_SHM_TRANSFER", NULL, { RD_ENV_ANY_BASE, 1, 0, 0, RD_ENV_MEANINGS(
		{ 0, "processes on this host communicate through the NIC" },
		{ 1, "processes on this host communicate through shared memory" }), "same as 1" } },
	{ "FI_EFA_FORK_SAFE", NULL, { RD_ENV_WORD, 0, 0, 0, RD_ENV_MEANINGS(
		{ 0, "a process that forks must not access registered memory (Linux 5.13 and later have no such limit)" },
		{ 1, "registered memory stays valid after fork()" }) } },
	{ "FI_VERBS_DEVICE_NAME", check_device_name, .hca = true },
	{ "FI_VERBS_IFACE", rd_envcheck_interfaces },
	{ "FI_TCP_IFACE", rd_envcheck_interfaces },
	{ "FI_HMEM_DISABLE_P2P", NULL, { RD_ENV_WORD, 0, 0, 0, RD_ENV_MEANINGS(
		{ 0, "NICs access GPU memory directly where supported" },
		{ 1, "NICs do not access GPU memory: data is copied through host memory", RD_SEV_WARNING, "env-gdr-off", "GPUDirect RDMA is disabled", "data is copied through host memory", "# unset FI_HMEM_DISABLE_P2P in the job's environment" }) } },
	{ "FI_HMEM_CUDA_USE_DMABUF", NULL, { RD_ENV_WORD, 1, 0, 0, RD_ENV_MEANINGS(
		{ 0, "GPU memory is registered through a peer memory driver only" },
		{ 1, "GPU memory is registered as DMA-BUF if the driver supports it" }) } },
};
const struct rd_env_rules rd_env_libfabric = { rules, RD_ARRAY_SIZE(rules), unused_by };

static const struct rd_env_rule gloo_rules[] = {
	{ "GLOO_SOCKET_IFNAME", rd_envcheck_interfaces },
};
/* clang-format on */
const struct rd_env_rules rd_env_gloo = { gloo_rules, RD_ARRAY_SIZE(gloo_rules), NULL };
