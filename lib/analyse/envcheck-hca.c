/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Variables that name NICs. */
#include <string.h>

#include "analyse/envcheck-priv.h"
#include "analyse/nccl.h"
#include "base/text.h"

static const char *device(const struct rd_host *host, size_t port)
{
	return rd_ibdev_label(host, host->ports[port].ibdev);
}

int rd_envcheck_selection(struct rd_check_env *check)
{
	_cleanup_buf_ struct rd_buf other = { 0 }, missing = { 0 };
	const struct rd_host *host = check->host;
	size_t n = 0;
	int r = 0;

	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];
		char label[128];

		rd_port_label(host, port, label, sizeof(label));
		n += check->selected[p];
		if (check->selected[p] && (port->role == RD_ROLE_STORAGE || port->role == RD_ROLE_MANAGEMENT))
			rd_buf_printf(&other, "%s%s", other.len ? ", " : "", label);
		if (!check->selected[p] && port->role == RD_ROLE_COMPUTE && rd_port_active(port))
			rd_buf_printf(&missing, "%s%s", missing.len ? ", " : "", label);
	}
	if (n == 0)
		return rd_envcheck_say(check, RD_SEV_CRITICAL, "env-selects-nothing", "It selects no active port",
				       "the library falls back to TCP, or stops", rd_text("none"), NULL);
	if (other.len)
		r = rd_envcheck_say(check, RD_SEV_WARNING, "env-not-compute",
				    "It selects NICs that are not for computing",
				    "traffic meets storage and logins there", rd_text("%s", other.data), NULL);
	if (!r && missing.len)
		r = rd_envcheck_say(check, RD_SEV_WARNING, "env-left-out", "It leaves compute NICs out",
				    "accelerators next to them use others, farther away", rd_text("%s", missing.data),
				    NULL);
	return r;
}

/* One entry against all ports: what it means beyond what it says. */
static int check_entry(struct rd_check_env *check, const struct rd_hca_list *list, const struct rd_hca_entry *entry)
{
	_cleanup_buf_ struct rd_buf also = { 0 };
	const struct rd_host *host = check->host;
	size_t devices = 0, ports = 0, up = 0;
	bool itself = false;

	for (size_t p = 0; p < host->n_ports; p++) {
		struct rd_hca_entry any = *entry;
		const char *name = device(host, p);
		bool again = p > 0 && host->ports[p].ibdev == host->ports[p - 1].ibdev;

		any.port = -1;
		if (!rd_hca_entry_means(list, &any, name, host->ports[p].num))
			continue;
		devices++;
		if (!rd_hca_entry_means(list, entry, name, host->ports[p].num))
			continue;
		ports++;
		up += rd_port_active(&host->ports[p]);
		itself |= strcmp(name, entry->name) == 0;
		if (strcmp(name, entry->name) != 0 && !again)
			rd_buf_printf(&also, "%s%s", also.len ? ", " : "", name);
	}
	if (strpbrk(entry->name, "^="))
		return rd_envcheck_say(check, RD_SEV_CRITICAL, "env-sign-misplaced",
				       "^ and = stand once, in this order, in front of the whole list",
				       "elsewhere they are taken for a part of the name",
				       rd_text("\"%s\"", entry->name), rd_text("^=NAME,NAME or =NAME,NAME"));
	if (devices == 0)
		return rd_envcheck_say(check, RD_SEV_WARNING, "env-no-device", "There is no such device",
				       "the entry does nothing", rd_text("\"%s\"", entry->name), NULL);
	if (ports == 0)
		return rd_envcheck_say(check, RD_SEV_WARNING, "env-no-port", "The device has no such port",
				       "the entry does nothing", rd_text("%s, port %d", entry->name, entry->port),
				       NULL);
	if (itself && also.len)
		return rd_envcheck_say(check, RD_SEV_WARNING, "env-prefix", "A name without = is a prefix",
				       "it means other devices, too",
				       rd_text("%s also means %s", entry->name, also.data),
				       rd_text("=%s", entry->name));
	if (up == 0 && !list->exclude)
		return rd_envcheck_say(check, RD_SEV_WARNING, "env-port-down", "The port is not active",
				       "libraries pass over it", rd_text("%s", entry->name), NULL);
	return 0;
}

/* What is wrong with each, and which ports they select. */
static int check_entries(struct rd_check_env *check, const struct rd_hca_list *list)
{
	const struct rd_host *host = check->host;
	int r = 0;

	for (size_t i = 0; !r && i < list->n; i++)
		r = check_entry(check, list, &list->v[i]);
	for (size_t p = 0; p < host->n_ports; p++)
		if (rd_port_active(&host->ports[p]) && rd_hca_list_takes(list, device(host, p), host->ports[p].num))
			rd_envcheck_selects(check, p);
	return r;
}

int rd_envcheck_nccl_hca(struct rd_check_env *check)
{
	struct rd_hca_list list;
	int r = rd_hca_list_parse(check->effect->value, &list);

	if (!r)
		r = check_entries(check, &list);
	rd_hca_list_deinit(&list);
	return r ? r : rd_envcheck_selection(check);
}

/* name:port[:count], names exact, ^ in front of the list excludes; there is no =. */
int rd_envcheck_nvshmem_list(struct rd_check_env *check)
{
	const char *mapping = rd_effects_get(check->all, "NVSHMEM_ENABLE_NIC_PE_MAPPING");
	bool is_list = strcmp(check->effect->name, "NVSHMEM_HCA_LIST") == 0;
	struct rd_hca_list list;
	int r;

	if (!is_list && rd_effects_get(check->all, "NVSHMEM_HCA_LIST"))
		return rd_envcheck_say(check, RD_SEV_WARNING, "env-overridden", "NVSHMEM_HCA_LIST overrides it",
				       "it is not read", NULL, NULL);
	r = rd_hca_list_parse(check->effect->value, &list);
	if (r < 0)
		return r;
	list.exclude &= is_list;
	if (list.exact)
		r = rd_envcheck_say(check, RD_SEV_CRITICAL, "env-sign-misplaced",
				    "NVSHMEM knows no =", "it is taken for a part of the name",
				    rd_text("%s", check->effect->value),
				    rd_text("%s", check->effect->value + list.exclude + 1));
	list.exact = true;
	if (!r)
		r = check_entries(check, &list);
	rd_hca_list_deinit(&list);
	/* Where it is set to 0, somebody has thought about it. */
	if (!r && (!mapping || (!is_list && strcmp(mapping, "1") != 0)))
		r = rd_envcheck_say(check, RD_SEV_WARNING, "env-mapping-off", "NVSHMEM_ENABLE_NIC_PE_MAPPING is not 1",
				    "which process gets which of these NICs goes by distance, not by the order given",
				    rd_text("%s", mapping ? mapping : "not set"), rd_text("1"));
	return r ? r : rd_envcheck_selection(check);
}

int rd_envcheck_nvshmem_prefix(struct rd_check_env *check)
{
	const char *prefix = check->effect->value;
	const struct rd_host *host = check->host;
	size_t n = 0;

	for (size_t p = 0; p < host->n_ports; p++)
		if (strncmp(device(host, p), prefix, strlen(prefix)) == 0) {
			rd_envcheck_selects(check, p);
			n++;
		}
	if (n > 0)
		return 0;
	return rd_envcheck_say(check, RD_SEV_CRITICAL, "env-no-device", "No device has a name that begins so",
			       "IBGDA finds no NIC", NULL, NULL);
}

static int check_ucx_entry(struct rd_check_env *check, const char *entry, size_t n)
{
	const struct rd_host *host = check->host;
	size_t name = strcspn(entry, ":"), before = check->selects.len;
	bool is_device = false;

	name = name < n ? name : n;
	for (size_t p = 0; p < host->n_ports; p++) {
		char label[128];

		rd_port_label(host, &host->ports[p], label, sizeof(label));
		is_device |= strlen(device(host, p)) == name && strncmp(device(host, p), entry, name) == 0;
		if (strlen(label) == n && strncmp(label, entry, n) == 0)
			rd_envcheck_selects(check, p);
	}
	if (check->selects.len != before)
		return 0;
	for (size_t i = 0; i < host->n_netdevs; i++)
		if (strlen(host->netdevs[i].name) == n && strncmp(host->netdevs[i].name, entry, n) == 0)
			return 0; /* for its TCP transport */
	if (is_device)
		return rd_envcheck_say(check, RD_SEV_WARNING, "env-no-port",
				       name == n ? "UCX wants NAME:PORT" : "The device has no such port",
				       "the entry does nothing", rd_text("%.*s", (int)n, entry),
				       name == n ? rd_text("%.*s:1", (int)n, entry) : NULL);
	return rd_envcheck_say(check, RD_SEV_WARNING, "env-no-device", "There is no such device",
			       "the entry does nothing", rd_text("\"%.*s\"", (int)n, entry), NULL);
}

int rd_envcheck_ucx(struct rd_check_env *check)
{
	const char *value = check->effect->value;
	int r = 0;

	if (strcmp(value, "all") == 0)
		return 0;
	for (; *value && !r; value += *value == ',') {
		size_t n = strcspn(value, ",");

		if (n > 0)
			r = check_ucx_entry(check, value, n);
		value += n;
	}
	return r ? r : rd_envcheck_selection(check);
}
