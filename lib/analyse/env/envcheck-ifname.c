/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Variables that list network interfaces. NCCL (src/misc/socket.cc, src/os/linux.cc) and NVSHMEM, which has the same code,
 * support ^, = and name prefixes; Gloo and libfabric's tcp provider exact names; libfabric's verbs provider prefixes. */
#include <string.h>

#include "analyse/env/envcheck-priv.h"
#include "base/memory.h"
#include "base/text.h"

static bool matches(const char *entry, size_t n, const char *name, bool exact)
{
	return exact ? strlen(name) == n && strncmp(name, entry, n) == 0 : strncmp(name, entry, n) == 0;
}

static void select_interface(struct rd_check_env *check, const struct rd_netdev *netdev, struct rd_env_list *bare)
{
	if (netdev->n_addrs == 0)
		rd_env_list_add(bare, netdev->name, strlen(netdev->name));
	rd_buf_printf(&check->selects, "%s%s", check->selects.len ? " " : "", netdev->name);
}

/* Selects the interfaces that the list matches, and returns how many. */
static size_t select_interfaces(struct rd_check_env *check, const char *value, bool exclude, bool exact,
				struct rd_env_list *none, struct rd_env_list *bare)
{
	const struct rd_host *host = check->host;
	_cleanup_free_ bool *named = rd_alloc(host->n_netdevs + 1, 1);
	const char *entry;
	size_t size, n = 0;

	while (rd_env_entry(&value, &entry, &size)) {
		size_t found = 0, name = exact ? size : strcspn(entry, ":,");

		for (size_t i = 0; i < host->n_netdevs; i++)
			if (matches(entry, name < size ? name : size, host->netdevs[i].name, exact)) {
				named[i] = true;
				found++;
			}
		if (!found)
			rd_env_list_add(none, entry, size);
	}
	for (size_t i = 0; i < host->n_netdevs; i++)
		if (named[i] != exclude) {
			select_interface(check, &host->netdevs[i], bare);
			n++;
		}
	return n;
}

void rd_envcheck_interfaces(struct rd_check_env *check)
{
	_cleanup_env_list_ struct rd_env_list none = { 0 }, bare = { 0 };
	const char *value = check->effect->value, *name = check->effect->name;
	bool signs = strncmp(name, "NCCL", 4) == 0 || strncmp(name, "NVSHMEM", 7) == 0,
	     exclude = signs && *value == '^', exact;
	bool all_needed = strncmp(name, "GLOO", 4) == 0; /* a missing one raises an exception */
	size_t n;

	value += exclude;
	exact = signs ? *value == '=' : strcmp(name, "FI_VERBS_IFACE") != 0;
	value += signs && *value == '=';
	if (check->host->n_netdevs == 0) {
		rd_envcheck_effect(check, "network interfaces of this host are unknown");
		return;
	}
	n = select_interfaces(check, value, exclude, exact, &none, &bare);
	rd_envcheck_effect(check, "%zu interface%s", n, n == 1 ? "" : "s");
	if (!none.n || exclude)
		return;
	if (n > 0 && !all_needed) {
		rd_envcheck_finding(check, RD_SEV_WARNING, "env-no-interface", "No such network interface",
				    "the entry has no effect", rd_env_list_take(&none), NULL);
		return;
	}
	rd_envcheck_finding(check, RD_SEV_CRITICAL, "env-no-interface", "No such network interface",
			    "processes cannot connect to each other", rd_env_list_take(&none), NULL);
}
