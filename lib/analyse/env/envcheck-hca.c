/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Variables that list NICs, by the rules of NCCL and NVSHMEM. */
#include <string.h>

#include "analyse/env/envcheck-priv.h"
#include "analyse/nccl/nccl.h"
#include "base/text.h"

#define NVSHMEM_HCAS 48 /* MAX_NUM_HCAS of its transports */

static const char *device(const struct rd_host *host, size_t port)
{
	return rd_ibdev_label(host, host->ports[port].ibdev);
}

static void add_port(struct rd_env_list *list, const struct rd_host *host, size_t port)
{
	char label[128];

	rd_port_label(host, &host->ports[port], label, sizeof(label));
	rd_env_list_add(list, label, strlen(label));
}

/* A mapping assigns one NIC to each PE: with several NICs per accelerator, it cannot name all of them. */
static bool serves_each_process(const struct rd_check_env *check, size_t selected)
{
	return strcmp(check->effect->name, "NVSHMEM_HCA_PE_MAPPING") == 0 && selected >= check->host->n_gpus;
}

void rd_envcheck_selection(struct rd_check_env *check)
{
	_cleanup_env_list_ struct rd_env_list other = { 0 }, missing = { 0 };
	const struct rd_host *host = check->host;
	size_t n = 0, active = 0;

	for (size_t p = 0; p < host->n_ports; p++) {
		enum rd_role role = check->views->v[p].role;

		n += check->selected[p];
		active += rd_port_active(&host->ports[p]);
		if (check->selected[p] && (role == RD_ROLE_STORAGE || role == RD_ROLE_MANAGEMENT))
			add_port(&other, host, p);
		if (!check->selected[p] && role == RD_ROLE_COMPUTE && rd_port_active(&host->ports[p]))
			add_port(&missing, host, p);
	}
	if (n == 0) {
		rd_envcheck_finding(check, RD_SEV_CRITICAL, "env-selects-nothing", "No active port is selected",
				    "the library falls back to TCP or fails", rd_text("none"), NULL);
		return;
	}
	/* All of them: as if the variable were not set. */
	if (other.n)
		rd_envcheck_finding(check, n < active ? RD_SEV_WARNING : RD_SEV_NOTE, "env-not-compute",
				    "Storage or management NICs are selected",
				    "job traffic competes with storage and login traffic on them",
				    rd_env_list_take(&other), NULL);
	if (missing.n && !serves_each_process(check, n))
		rd_envcheck_finding(check, RD_SEV_WARNING, "env-left-out", "Compute NICs are not selected",
				    "accelerators near them use NICs that are farther away", rd_env_list_take(&missing),
				    NULL);
}

/* Entries with the same fault share one finding. */
struct entry_faults {
	struct rd_env_list signs, no_device, no_port, prefix, down;
	char *first_prefix; /* "=NAME" of the first entry that is a prefix; owned */
};

static void deinit_faults(struct entry_faults *faults)
{
	rd_env_list_deinit(&faults->signs);
	rd_env_list_deinit(&faults->no_device);
	rd_env_list_deinit(&faults->no_port);
	rd_env_list_deinit(&faults->prefix);
	rd_env_list_deinit(&faults->down);
	free(faults->first_prefix);
}

static void add_owned_text(struct rd_env_list *list, char *text)
{
	rd_env_list_add(list, text, strlen(text));
	free(text);
}

/* What an entry matches on this host. */
struct entry_match {
	size_t devices, ports, up;
	bool exact;
	struct rd_env_list also; /* other devices whose names start with the entry */
};

static void find_matches(const struct rd_host *host, const struct rd_hca_list *list, const struct rd_hca_entry *entry,
			 struct entry_match *ret)
{
	for (size_t p = 0; p < host->n_ports; p++) {
		struct rd_hca_entry any = *entry;
		const char *name = device(host, p);
		bool again = p > 0 && host->ports[p].ibdev == host->ports[p - 1].ibdev;

		any.port = -1;
		if (!rd_hca_entry_matches(list, &any, name, host->ports[p].num))
			continue;
		ret->devices++;
		if (!rd_hca_entry_matches(list, entry, name, host->ports[p].num))
			continue;
		ret->ports++;
		ret->up += rd_port_active(&host->ports[p]);
		ret->exact |= strcmp(name, entry->name) == 0;
		if (strcmp(name, entry->name) != 0 && !again)
			rd_env_list_add(&ret->also, name, strlen(name));
	}
}

/* Checks one entry against all ports. */
static void check_entry(const struct rd_host *host, const struct rd_hca_list *list, const struct rd_hca_entry *entry,
			struct entry_faults *faults)
{
	struct entry_match match = { 0 };
	_cleanup_free_ char *also = NULL;

	find_matches(host, list, entry, &match);
	also = rd_env_list_take(&match.also);
	if (strpbrk(entry->name, "^="))
		add_owned_text(&faults->signs, rd_text("'%s'", entry->name));
	else if (match.devices == 0)
		add_owned_text(&faults->no_device, rd_text("'%s'", entry->name));
	else if (match.ports == 0)
		add_owned_text(&faults->no_port, rd_text("%s, port %d", entry->name, entry->port));
	else if (match.exact && also) {
		if (!faults->first_prefix)
			faults->first_prefix = rd_text("=%s", entry->name);
		add_owned_text(&faults->prefix, rd_text("%s also matches %s", entry->name, also));
	} else if (match.up == 0 && !list->exclude)
		add_owned_text(&faults->down, rd_text("%s", entry->name));
}

static void report_faults(struct rd_check_env *check, struct entry_faults *faults)
{
	if (faults->signs.n)
		rd_envcheck_finding(
			check, RD_SEV_CRITICAL, "env-sign-misplaced", "^ or = is misplaced",
			"^ and = apply to the whole list and come once, in this order, at its start; elsewhere they are part of a name",
			rd_env_list_take(&faults->signs), rd_text("^=NAME,NAME or =NAME,NAME"));
	if (faults->no_device.n)
		rd_envcheck_finding(check, RD_SEV_WARNING, "env-no-device", "No such device", "the entry has no effect",
				    rd_env_list_take(&faults->no_device), NULL);
	if (faults->no_port.n)
		rd_envcheck_finding(check, RD_SEV_WARNING, "env-no-port", "Device has no such port",
				    "the entry has no effect", rd_env_list_take(&faults->no_port), NULL);
	if (faults->prefix.n)
		rd_envcheck_finding(check, RD_SEV_WARNING, "env-prefix", "Name without = matches as a prefix",
				    "the entry also matches other devices", rd_env_list_take(&faults->prefix),
				    RD_TAKE(faults->first_prefix));
	if (faults->down.n)
		rd_envcheck_finding(check, RD_SEV_WARNING, "env-port-down", "Port is not active",
				    "the library ignores it", rd_env_list_take(&faults->down), NULL);
}

/* Reports the faults of the entries and selects the ports that they match. */
static void check_entries(struct rd_check_env *check, const struct rd_hca_list *list)
{
	const struct rd_host *host = check->host;
	struct entry_faults faults = { 0 };

	for (size_t i = 0; i < list->n; i++)
		check_entry(host, list, &list->v[i], &faults);
	for (size_t p = 0; p < host->n_ports; p++)
		if (rd_port_active(&host->ports[p]) && rd_hca_list_allows(list, device(host, p), host->ports[p].num))
			rd_envcheck_selects(check, p);
	report_faults(check, &faults);
	deinit_faults(&faults);
	if (!list->left)
		return;
	rd_envcheck_effect(check, "%zu entries after entry %zu are not read", list->left, list->n);
	rd_envcheck_finding(check, RD_SEV_WARNING, "env-list-cut", "List has more entries than the library reads",
			    "entries past the limit have no effect", rd_text("%zu entries", list->n + list->left),
			    rd_text("at most %zu", list->n));
}

void rd_envcheck_nccl_hca(struct rd_check_env *check)
{
	struct rd_hca_list list;

	rd_hca_list_parse(check->effect->value, &list);
	check_entries(check, &list);
	rd_hca_list_deinit(&list);
	rd_envcheck_effect_count(check);
	rd_envcheck_selection(check);
}

/* name:port[:count] with exact names; ^ at the start of the list excludes; = is not supported. */
static void check_nvshmem_list(struct rd_check_env *check, bool is_list)
{
	struct rd_hca_list list;

	rd_hca_list_parse_most(check->effect->value, NVSHMEM_HCAS, &list);
	list.exclude &= is_list;
	if (list.exact)
		rd_envcheck_finding(check, RD_SEV_CRITICAL, "env-sign-misplaced",
				    "NVSHMEM does not support =", "= becomes part of the name", NULL,
				    rd_text("the list without ="));
	list.exact = true;
	check_entries(check, &list);
	rd_hca_list_deinit(&list);
}

void rd_envcheck_nvshmem_list(struct rd_check_env *check)
{
	const char *mapping = rd_effects_get(check->all, "NVSHMEM_ENABLE_NIC_PE_MAPPING");
	bool is_list = strcmp(check->effect->name, "NVSHMEM_HCA_LIST") == 0;
	long on = 0;

	if (!is_list && rd_effects_get(check->all, "NVSHMEM_HCA_LIST")) {
		rd_envcheck_effect(check, "not used: NVSHMEM_HCA_LIST overrides it");
		rd_envcheck_finding(check, RD_SEV_WARNING, "env-overridden", "NVSHMEM_HCA_LIST overrides this variable",
				    "NVSHMEM does not read it", NULL, NULL);
		return;
	}
	check_nvshmem_list(check, is_list);
	rd_envcheck_effect_count(check);
	if (mapping)
		rd_envcheck_read(RD_ENV_LETTER, mapping, 0, &on);
	rd_envcheck_effect(check, on ? "PEs use the NICs in this order" :
				       "each PE uses the nearest of these NICs, not the next in order");
	/* An explicit 0 is taken as intended. */
	if (!mapping || (!is_list && !on))
		rd_envcheck_finding(check, RD_SEV_WARNING, "env-mapping-off", "NVSHMEM_ENABLE_NIC_PE_MAPPING is not 1",
				    "NVSHMEM assigns these NICs to PEs by distance, not in the order given",
				    rd_text("%.*s", RD_ENV_QUOTED, mapping ? mapping : "not set"), rd_text("1"));
	rd_envcheck_selection(check);
}

/* IBGDA and IBDEVX use devices whose names contain the value; IBRC does not read it. */
void rd_envcheck_nvshmem_prefix(struct rd_check_env *check)
{
	const char *part = check->effect->value;
	const struct rd_host *host = check->host;
	size_t n = 0;

	for (size_t p = 0; p < host->n_ports; p++)
		if (strstr(device(host, p), part)) {
			rd_envcheck_selects(check, p);
			n++;
		}
	rd_envcheck_effect(check, "IBGDA and IBDEVX use devices whose names contain '%.*s'; IBRC uses all",
			   RD_ENV_QUOTED, part);
	if (n > 0)
		return;
	rd_envcheck_finding(check, RD_SEV_CRITICAL, "env-no-device", "No device name contains this text",
			    "IBGDA finds no NIC", NULL, NULL);
}
