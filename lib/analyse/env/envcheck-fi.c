/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libfabric's variables (src/fabric.c, prov/efa/src, prov/verbs/src/verbs_info.c), and Gloo's. */
#include <string.h>
#include <strings.h>

#include "analyse/env/envcheck-priv.h"
#include "base/text.h"

/* Whether a word of FI_PROVIDER is one: "verbs", or layers "tcp;ofi_rxm", of which any may be. */
static bool is_rdma(const char *word, size_t size)
{
	static const char *const rdma[] = { "efa",   "verbs", "cxi", "psm2", "psm3", "opx",
					    "usnic", "ucx",   "mlx", "gni",  "lnx" };

	while (size > 0) {
		size_t n = 0;

		while (n < size && word[n] != ';')
			n++;
		for (size_t i = 0; i < RD_ARRAY_SIZE(rdma); i++)
			if (strlen(rdma[i]) == n && strncasecmp(word, rdma[i], n) == 0)
				return true;
		word += n + (n < size);
		size -= n + (n < size);
	}
	return false;
}

static bool names(const char *value, const char *provider)
{
	size_t n = strlen(provider);

	for (; *value; value += strcspn(value, ",;"), value += *value != '\0')
		if (strncasecmp(value, provider, n) == 0 && (!value[n] || strchr(",;", value[n])))
			return true;
	return false;
}

static bool allows_rdma(const char *value)
{
	const char *entry;
	size_t size;
	bool any = false;

	if (*value == '^' || !*value)
		return true; /* a few are left out; the others are there */
	while (rd_env_entry(&value, &entry, &size))
		any |= is_rdma(entry, size);
	return any;
}

static void check_efa(struct rd_check_env *check)
{
	bool others = rd_envcheck_has_rdma(check, false);

	rd_envcheck_effect(check, "this host has no EFA device: no provider is found");
	rd_envcheck_advise(check, RD_SEV_CRITICAL, "env-no-provider", "There is no device for this provider",
			   "fi_getinfo finds nothing: -61, No data available",
			   rd_text("no EFA device in /sys/class/infiniband"), NULL,
			   rd_text(others ? "FI_PROVIDER=verbs; in a container: hand the devices in" :
					    "hand the devices of the host into the container"));
}

static void check_provider(struct rd_check_env *check)
{
	const char *value = check->effect->value;
	bool efa = rd_envcheck_has_efa(check->host);

	if (*value == '^') {
		rd_envcheck_effect(check, "all providers but these");
		return;
	}
	if (strcasecmp(value, "efa") == 0 && !efa) {
		check_efa(check);
		return;
	}
	if (allows_rdma(value)) {
		rd_envcheck_effect(check, "only %.*s%s", RD_ENV_QUOTED, value,
				   efa && !names(value, "efa") ? ", which leaves EFA out" : "");
		return;
	}
	rd_envcheck_effect(check, "only %.*s: no RDMA", RD_ENV_QUOTED, value);
	if (!rd_envcheck_has_rdma(check, true))
		return;
	rd_envcheck_advise(check, RD_SEV_CRITICAL, "env-rdma-off", "libfabric is kept from RDMA",
			   "between hosts it goes over TCP or UDP, at a fraction of the rate", NULL,
			   rd_text(efa ? "efa" : "verbs"),
			   rd_text("FI_PROVIDER=%s, or unset it", efa ? "efa" : "verbs"));
}

/* The devices that a list of libfabric's names: each in full, or by the beginning of its name, whatever the case. */
static void check_names(struct rd_check_env *check, bool exact, const char *title)
{
	_cleanup_env_list_ struct rd_env_list none = { 0 };
	const struct rd_host *host = check->host;
	const char *at = check->effect->value, *entry;
	size_t size;

	while (rd_env_entry(&at, &entry, &size)) {
		bool found = false;

		for (size_t p = 0; p < host->n_ports; p++) {
			const char *name = rd_ibdev_label(host, host->ports[p].ibdev);

			if (exact ? strlen(name) != size || strncmp(name, entry, size) != 0 :
				    strncasecmp(name, entry, size) != 0)
				continue;
			found = true;
			rd_envcheck_selects(check, p);
		}
		if (!found)
			rd_env_list_add(&none, entry, size);
	}
	rd_envcheck_tell_count(check);
	if (!none.n)
		return;
	rd_envcheck_say(check, RD_SEV_WARNING, "env-no-device", title, "the entry does nothing",
			rd_env_list_take(&none), NULL);
}

/* prov/efa/src: names separated by commas, exactly; "all" in front is enough. */
static void check_efa_iface(struct rd_check_env *check)
{
	const char *value = check->effect->value;

	if (!*value) {
		rd_envcheck_effect(check, "libfabric aborts the process");
		rd_envcheck_say(check, RD_SEV_CRITICAL, "env-refused", "The library refuses the value",
				"libfabric aborts the process", NULL, rd_text("names of EFA devices, or all"));
		return;
	}
	if (strncmp(value, "all", 3) == 0) {
		rd_envcheck_effect(check, "all EFA devices (the default)");
		return;
	}
	check_names(check, true, "There is no such device");
}

static void check_device_name(struct rd_check_env *check)
{
	check_names(check, false, "No device has a name that begins so");
}

static const char *off(const struct rd_effects *all, const char *name)
{
	const char *provider = rd_effects_get(all, "FI_PROVIDER");

	if (!provider || !*provider || *provider == '^')
		return NULL;
	if (strncmp(name, "FI_EFA_", 7) == 0 && !names(provider, "efa"))
		return "FI_PROVIDER leaves efa out";
	if (strncmp(name, "FI_VERBS_", 9) == 0 && !names(provider, "verbs"))
		return "FI_PROVIDER leaves verbs out";
	return NULL;
}

/* clang-format off */
static const struct rd_env_values device_rdma = { RD_ENV_WORD, 1, 0, 0, RD_ENV_SAYS(
	{ 0, "EFA emulates RDMA by sends: data is copied", RD_SEV_WARNING, "env-gdr-off",
	  "RDMA reads and writes of EFA are off", "data is copied through buffers instead", "unset FI_EFA_USE_DEVICE_RDMA" },
	{ 1, "EFA reads and writes by RDMA where the device can; one that cannot ends the process" }), NULL, NULL, false };
static const struct rd_env_values shm = { RD_ENV_ANY_BASE, 1, 0, 0, RD_ENV_SAYS(
	{ 0, "processes of the host reach each other through the NIC" },
	{ 1, "processes of the host reach each other by shared memory" }), "as 1", NULL, false };
static const struct rd_env_values fork_safe = { RD_ENV_WORD, 0, 0, 0, RD_ENV_SAYS(
	{ 0, "processes that fork must not touch registered memory (kernels from 5.13 on do not mind)" },
	{ 1, "registered memory survives a fork" }), NULL, NULL, false };
static const struct rd_env_values p2p = { RD_ENV_WORD, 0, 0, 0, RD_ENV_SAYS(
	{ 0, "NICs read and write GPU memory where they can" },
	{ 1, "NICs do not touch GPU memory: data is copied through that of the host", RD_SEV_WARNING, "env-gdr-off",
	  "GPUDirect RDMA is off", "data is copied through the memory of the host", "unset FI_HMEM_DISABLE_P2P" }),
	NULL, NULL, false };
static const struct rd_env_values dmabuf = { RD_ENV_WORD, 1, 0, 0, RD_ENV_SAYS(
	{ 0, "GPU memory is registered through a peer memory driver only" },
	{ 1, "GPU memory is registered as DMA-BUF where the driver can" }), NULL, NULL, false };

static const struct rd_env_rule rules[] = {
	{ "FI_PROVIDER", check_provider, false, NULL },
	{ "FI_EFA_IFACE", check_efa_iface, true, NULL },
	{ "FI_EFA_USE_DEVICE_RDMA", NULL, false, &device_rdma },
	{ "FI_EFA_ENABLE_SHM_TRANSFER", NULL, false, &shm },
	{ "FI_EFA_FORK_SAFE", NULL, false, &fork_safe },
	{ "FI_VERBS_DEVICE_NAME", check_device_name, true, NULL },
	{ "FI_VERBS_IFACE", rd_envcheck_interfaces, false, NULL },
	{ "FI_TCP_IFACE", rd_envcheck_interfaces, false, NULL },
	{ "FI_HMEM_DISABLE_P2P", NULL, false, &p2p },
	{ "FI_HMEM_CUDA_USE_DMABUF", NULL, false, &dmabuf },
};
const struct rd_env_rules rd_env_libfabric = { rules, RD_ARRAY_SIZE(rules), off };

static const struct rd_env_rule gloo_rules[] = {
	{ "GLOO_SOCKET_IFNAME", rd_envcheck_interfaces, false, NULL },
};
/* clang-format on */
const struct rd_env_rules rd_env_gloo = { gloo_rules, RD_ARRAY_SIZE(gloo_rules), NULL };
