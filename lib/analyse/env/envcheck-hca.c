/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Variables that name NICs by NCCL's and NVSHMEM's rules. */
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

/* A mapping gives each process one NIC: where accelerators have several each, it cannot name all. */
static bool serves_each_process(const struct rd_check_env *check, size_t selected)
{
	return strcmp(check->effect->name, "NVSHMEM_HCA_PE_MAPPING") == 0 && selected >= check->host->n_gpus;
}

void rd_envcheck_selection(struct rd_check_env *check)
{
	_cleanup_env_list_ struct rd_env_list other = { 0 }, missing = { 0 };
	const struct rd_host *host = check->host;
	size_t n = 0;

	for (size_t p = 0; p < host->n_ports; p++) {
		enum rd_role role = check->views->v[p].role;

		n += check->selected[p];
		if (check->selected[p] && (role == RD_ROLE_STORAGE || role == RD_ROLE_MANAGEMENT))
			add_port(&other, host, p);
		if (!check->selected[p] && role == RD_ROLE_COMPUTE && rd_port_active(&host->ports[p]))
			add_port(&missing, host, p);
	}
	if (n == 0) {
		rd_envcheck_say(check, RD_SEV_CRITICAL, "env-selects-nothing", "It selects no active port",
				"the library falls back to TCP, or stops", rd_text("none"), NULL);
		return;
	}
	if (other.n)
		rd_envcheck_say(check, RD_SEV_WARNING, "env-not-compute", "It selects NICs that are not for computing",
				"traffic meets storage and logins there", rd_env_list_take(&other), NULL);
	if (missing.n && !serves_each_process(check, n))
		rd_envcheck_say(check, RD_SEV_WARNING, "env-left-out", "It leaves compute NICs out",
				"accelerators next to them use others, farther away", rd_env_list_take(&missing), NULL);
}

/* Entries of a list with one and the same fault are one finding. */
struct entry_faults {
	struct rd_env_list signs, no_device, no_port, prefix, down;
	char *first_prefix; /* "=NAME" of the first that is a prefix; owned */
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

static void add_text(struct rd_env_list *list, char *text)
{
	rd_env_list_add(list, text, strlen(text));
	free(text);
}

/* What an entry means on this host. */
struct meaning {
	size_t devices, ports, up;
	bool itself;
	struct rd_env_list also; /* other devices, of which the name is only a beginning */
};

static void find_meaning(const struct rd_host *host, const struct rd_hca_list *list, const struct rd_hca_entry *entry,
			 struct meaning *ret)
{
	for (size_t p = 0; p < host->n_ports; p++) {
		struct rd_hca_entry any = *entry;
		const char *name = device(host, p);
		bool again = p > 0 && host->ports[p].ibdev == host->ports[p - 1].ibdev;

		any.port = -1;
		if (!rd_hca_entry_means(list, &any, name, host->ports[p].num))
			continue;
		ret->devices++;
		if (!rd_hca_entry_means(list, entry, name, host->ports[p].num))
			continue;
		ret->ports++;
		ret->up += rd_port_active(&host->ports[p]);
		ret->itself |= strcmp(name, entry->name) == 0;
		if (strcmp(name, entry->name) != 0 && !again)
			rd_env_list_add(&ret->also, name, strlen(name));
	}
}

/* One entry against all ports: what it means beyond what it says. */
static void check_entry(const struct rd_host *host, const struct rd_hca_list *list, const struct rd_hca_entry *entry,
			struct entry_faults *faults)
{
	struct meaning meaning = { 0 };
	_cleanup_free_ char *also = NULL;

	find_meaning(host, list, entry, &meaning);
	also = rd_env_list_take(&meaning.also);
	if (strpbrk(entry->name, "^="))
		add_text(&faults->signs, rd_text("\"%s\"", entry->name));
	else if (meaning.devices == 0)
		add_text(&faults->no_device, rd_text("\"%s\"", entry->name));
	else if (meaning.ports == 0)
		add_text(&faults->no_port, rd_text("%s, port %d", entry->name, entry->port));
	else if (meaning.itself && also) {
		if (!faults->first_prefix)
			faults->first_prefix = rd_text("=%s", entry->name);
		add_text(&faults->prefix, rd_text("%s also means %s", entry->name, also));
	} else if (meaning.up == 0 && !list->exclude)
		add_text(&faults->down, rd_text("%s", entry->name));
}

static void say_faults(struct rd_check_env *check, struct entry_faults *faults)
{
	if (faults->signs.n)
		rd_envcheck_say(check, RD_SEV_CRITICAL, "env-sign-misplaced",
				"^ and = stand once, in this order, in front of the whole list",
				"elsewhere they are taken for a part of the name", rd_env_list_take(&faults->signs),
				rd_text("^=NAME,NAME or =NAME,NAME"));
	if (faults->no_device.n)
		rd_envcheck_say(check, RD_SEV_WARNING, "env-no-device", "There is no such device",
				"the entry does nothing", rd_env_list_take(&faults->no_device), NULL);
	if (faults->no_port.n)
		rd_envcheck_say(check, RD_SEV_WARNING, "env-no-port", "The device has no such port",
				"the entry does nothing", rd_env_list_take(&faults->no_port), NULL);
	if (faults->prefix.n)
		rd_envcheck_say(check, RD_SEV_WARNING, "env-prefix", "A name without = is a prefix",
				"it means other devices, too", rd_env_list_take(&faults->prefix),
				RD_TAKE(faults->first_prefix));
	if (faults->down.n)
		rd_envcheck_say(check, RD_SEV_WARNING, "env-port-down", "The port is not active",
				"libraries pass over it", rd_env_list_take(&faults->down), NULL);
}

/* What is wrong with each, and which ports they select. */
static void check_entries(struct rd_check_env *check, const struct rd_hca_list *list)
{
	const struct rd_host *host = check->host;
	struct entry_faults faults = { 0 };

	for (size_t i = 0; i < list->n; i++)
		check_entry(host, list, &list->v[i], &faults);
	for (size_t p = 0; p < host->n_ports; p++)
		if (rd_port_active(&host->ports[p]) && rd_hca_list_takes(list, device(host, p), host->ports[p].num))
			rd_envcheck_selects(check, p);
	say_faults(check, &faults);
	deinit_faults(&faults);
	if (!list->left)
		return;
	rd_envcheck_effect(check, "%zu entries behind entry %zu are not read", list->left, list->n);
	rd_envcheck_say(check, RD_SEV_WARNING, "env-list-cut", "The list is longer than what the library reads of it",
			"entries at its end do nothing", rd_text("%zu entries", list->n + list->left),
			rd_text("%zu at most", list->n));
}

void rd_envcheck_nccl_hca(struct rd_check_env *check)
{
	struct rd_hca_list list;

	rd_hca_list_parse(check->effect->value, &list);
	check_entries(check, &list);
	rd_hca_list_deinit(&list);
	rd_envcheck_tell_count(check);
	rd_envcheck_selection(check);
}

/* name:port[:count], names exact, ^ in front of the list excludes; there is no =. */
static void check_nvshmem_list(struct rd_check_env *check, bool is_list)
{
	struct rd_hca_list list;

	rd_hca_list_parse_most(check->effect->value, NVSHMEM_HCAS, &list);
	list.exclude &= is_list;
	if (list.exact)
		rd_envcheck_say(check, RD_SEV_CRITICAL, "env-sign-misplaced",
				"NVSHMEM knows no =", "it is taken for a part of the name", NULL,
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
		rd_envcheck_say(check, RD_SEV_WARNING, "env-overridden", "NVSHMEM_HCA_LIST overrides it",
				"it is not read", NULL, NULL);
		return;
	}
	check_nvshmem_list(check, is_list);
	rd_envcheck_tell_count(check);
	if (mapping)
		rd_envcheck_read(RD_ENV_LETTER, mapping, 0, &on);
	rd_envcheck_effect(check, on ? "processes take them in this order" :
				       "each process takes the nearest of them, not the next in order");
	/* Where it is set to 0, somebody has thought about it. */
	if (!mapping || (!is_list && !on))
		rd_envcheck_say(check, RD_SEV_WARNING, "env-mapping-off", "NVSHMEM_ENABLE_NIC_PE_MAPPING is not 1",
				"which process gets which of these NICs goes by distance, not by the order given",
				rd_text("%.*s", RD_ENV_QUOTED, mapping ? mapping : "not set"), rd_text("1"));
	rd_envcheck_selection(check);
}

/* IBGDA and IBDEVX take devices in whose names it stands anywhere; IBRC does not read it. */
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
	rd_envcheck_effect(check, "IBGDA and IBDEVX take devices in whose names \"%.*s\" stands; IBRC takes all",
			   RD_ENV_QUOTED, part);
	if (n > 0)
		return;
	rd_envcheck_say(check, RD_SEV_CRITICAL, "env-no-device", "No device has such a name", "IBGDA finds no NIC",
			NULL, NULL);
}
