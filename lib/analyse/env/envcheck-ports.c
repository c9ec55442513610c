/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Variables that several libraries have: lists of NICs and interfaces, GIDs, attributes of queue pairs. */
#include <arpa/inet.h>
#include <strings.h>

#include "analyse/env/envcheck-priv.h"
#include "analyse/shared/gid.h"

/* Variables that list NICs, by the rules of NCCL and NVSHMEM. */

#define NVSHMEM_HCAS 48 /* MAX_NUM_HCAS of its transports */

static const char *device(const struct rd_host *host, size_t port)
{
	return rd_ibdev_label(host, host->ports[port].ibdev);
}

static void add_port(struct rd_env_list *list, const struct rd_host *host, size_t port)
{
	struct rd_port_name label = rd_port_label(host, &host->ports[port]);

	rd_env_list_add(list, label.text, strlen(label.text));
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
	if (n == 0)
		return rd_envcheck_finding(check, RD_SEV_CRITICAL, "env-selects-nothing", "No active port is selected",
					   "the library falls back to TCP or fails", rd_text("none"), NULL);
	/* All of them: as if the variable were not set. */
	if (other.n)
		rd_envcheck_finding(check, n < active ? RD_SEV_WARNING : RD_SEV_NOTE, "env-not-compute",
				    "Storage or management NICs are selected",
				    "job traffic competes with storage and login traffic on them",
				    rd_env_list_take(&other), NULL);
	/* A mapping assigns one NIC to each PE: with several NICs per accelerator, it cannot name all of them. */
	if (missing.n && (strcmp(check->effect->name, "NVSHMEM_HCA_PE_MAPPING") != 0 || n < host->n_gpus))
		rd_envcheck_finding(check, RD_SEV_WARNING, "env-left-out", "Compute NICs are not selected",
				    "accelerators near them use NICs that are farther away", rd_env_list_take(&missing),
				    NULL);
}

/* Faults of entries, in the order of reporting; entries with the same one share a finding. */
enum { SIGN_MISPLACED, NO_DEVICE, NO_PORT, PREFIX, PORT_DOWN, ENTRY_FAULTS };
static const struct rd_finding entry_faults[ENTRY_FAULTS] = {
	{ "env-sign-misplaced", "^ or = is misplaced",
	  "^ and = apply to the whole list and come once, in this order, at its start; elsewhere they are part of a name",
	  RD_SEV_CRITICAL, .expected = "^=NAME,NAME or =NAME,NAME" },
	{ "env-no-device", "No such device", "the entry has no effect", RD_SEV_WARNING },
	{ "env-no-port", "Device has no such port", "the entry has no effect", RD_SEV_WARNING },
	{ "env-prefix", "Name without = matches as a prefix", "the entry also matches other devices", RD_SEV_WARNING },
	{ "env-port-down", "Port is not active", "the library ignores it", RD_SEV_WARNING },
};

/* What an entry matches on this host. */
struct entry_match {
	size_t devices, ports, up;
	bool exact;
	struct rd_env_list also; /* other devices whose names start with the entry */
};

/* Checks one entry against all ports, and adds it to the entries with its fault. */
static void check_entry(const struct rd_host *host, const struct rd_hca_list *list, const struct rd_hca_entry *entry,
			struct rd_env_list *faults)
{
	struct entry_match match = { 0 };
	_cleanup_free_ char *also = NULL, *text = NULL;
	int fault;

	for (size_t p = 0; p < host->n_ports; p++) {
		struct rd_hca_entry any = *entry;
		const char *name = device(host, p);
		bool again = p > 0 && host->ports[p].ibdev == host->ports[p - 1].ibdev;

		any.port = -1;
		if (!rd_hca_entry_matches(list, &any, name, host->ports[p].num))
			continue;
		match.devices++;
		if (!rd_hca_entry_matches(list, entry, name, host->ports[p].num))
			continue;
		match.ports++;
		match.up += rd_port_active(&host->ports[p]);
		match.exact |= strcmp(name, entry->name) == 0;
		if (strcmp(name, entry->name) != 0 && !again)
			rd_env_list_add(&match.also, name, strlen(name));
	}
	also = rd_env_list_take(&match.also);
	if (strpbrk(entry->name, "^="))
		fault = SIGN_MISPLACED;
	else if (match.devices == 0)
		fault = NO_DEVICE;
	else if (match.ports == 0)
		fault = NO_PORT;
	else if (match.exact && also)
		fault = PREFIX;
	else if (match.up == 0 && !list->exclude)
		fault = PORT_DOWN;
	else
		return;
	text = fault == NO_PORT	  ? rd_text("%s, port %d", entry->name, entry->port) :
	       fault == PREFIX	  ? rd_text("%s also matches %s", entry->name, also) :
	       fault == PORT_DOWN ? rd_dup(entry->name) :
				    rd_text("'%s'", entry->name);
	rd_env_list_add(&faults[fault], text, strlen(text));
}

/* Reports the faults of the entries and selects the ports that they match. */
static void check_entries(struct rd_check_env *check, const struct rd_hca_list *list)
{
	const struct rd_host *host = check->host;
	struct rd_env_list faults[ENTRY_FAULTS] = { 0 };
	_cleanup_free_ char *first_prefix = NULL;

	for (size_t i = 0; i < list->n; i++) {
		check_entry(host, list, &list->v[i], faults);
		if (faults[PREFIX].n && !first_prefix)
			first_prefix = rd_text("=%s", list->v[i].name);
	}
	for (size_t p = 0; p < host->n_ports; p++)
		if (rd_port_active(&host->ports[p]) && rd_hca_list_allows(list, device(host, p), host->ports[p].num))
			rd_envcheck_selects(check, p);
	for (int i = 0; i < ENTRY_FAULTS; i++)
		if (faults[i].n)
			rd_envcheck_finding(check, entry_faults[i].severity, entry_faults[i].id, entry_faults[i].title,
					    entry_faults[i].why, rd_env_list_take(&faults[i]),
					    i == PREFIX ? RD_TAKE(first_prefix) : rd_dup_if(entry_faults[i].expected));
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

void rd_envcheck_nvshmem_list(struct rd_check_env *check)
{
	const char *mapping = rd_effects_get(check->all, "NVSHMEM_ENABLE_NIC_PE_MAPPING");
	bool is_list = strcmp(check->effect->name, "NVSHMEM_HCA_LIST") == 0;
	bool on = rd_env_number(check->all, RD_ENV_LETTER, "NVSHMEM_ENABLE_NIC_PE_MAPPING", 0);
	struct rd_hca_list list;

	if (!is_list && rd_effects_get(check->all, "NVSHMEM_HCA_LIST")) {
		rd_envcheck_effect(check, "not used: NVSHMEM_HCA_LIST overrides it");
		return rd_envcheck_finding(check, RD_SEV_WARNING, "env-overridden",
					   "NVSHMEM_HCA_LIST overrides this variable", "NVSHMEM does not read it", NULL,
					   NULL);
	}
	/* name:port[:count] with exact names; ^ at the start of the list excludes; = is not supported. */
	rd_hca_list_parse_most(check->effect->value, NVSHMEM_HCAS, &list);
	list.exclude &= is_list;
	if (list.exact)
		rd_envcheck_finding(check, RD_SEV_CRITICAL, "env-sign-misplaced",
				    "NVSHMEM does not support =", "= becomes part of the name", NULL,
				    rd_text("the list without ="));
	list.exact = true;
	check_entries(check, &list);
	rd_hca_list_deinit(&list);
	rd_envcheck_effect_count(check);
	rd_envcheck_effect(check, on ? "PEs use the NICs in this order" :
				       "each PE uses the nearest of these NICs, not the next in order");
	/* An explicit 0 is taken as intended. */
	if (!mapping || (!is_list && !on))
		rd_envcheck_finding(check, RD_SEV_WARNING, "env-mapping-off", "NVSHMEM_ENABLE_NIC_PE_MAPPING is not 1",
				    "NVSHMEM assigns these NICs to PEs by distance, not in the order given",
				    rd_text("%.*s", RD_ENV_QUOTED, mapping ?: "not set"), rd_text("1"));
	rd_envcheck_selection(check);
}

/* IBGDA and IBDEVX use devices whose names contain the value; IBRC does not read it. */
void rd_envcheck_nvshmem_prefix(struct rd_check_env *check)
{
	const char *part = check->effect->value;
	const struct rd_host *host = check->host;

	for (size_t p = 0; p < host->n_ports; p++)
		if (strstr(device(host, p), part))
			rd_envcheck_selects(check, p);
	rd_envcheck_effect(check, "IBGDA and IBDEVX use devices whose names contain '%.*s'; IBRC uses all",
			   RD_ENV_QUOTED, part);
	if (!check->selects.len)
		rd_envcheck_finding(check, RD_SEV_CRITICAL, "env-no-device", "No device name contains this text",
				    "IBGDA finds no NIC", NULL, NULL);
}

void rd_envcheck_names(struct rd_check_env *check, enum rd_env_by by, const char *title)
{
	_cleanup_env_list_ struct rd_env_list none = { 0 };
	const struct rd_host *host = check->host;
	const char *at = check->effect->value, *entry;
	size_t size;

	while (rd_env_entry(&at, &entry, &size)) {
		bool found = false;

		for (; by == RD_ENV_BY_TRIMMED && size > 0 && strchr(" \t", *entry); entry++)
			size--;
		while (by == RD_ENV_BY_TRIMMED && size > 0 && strchr(" \t", entry[size - 1]))
			size--;
		for (size_t p = 0; p < host->n_ports; p++) {
			const char *name = device(host, p);

			if (by == RD_ENV_BY_PREFIX ? strncasecmp(name, entry, size) != 0 :
						     strlen(name) != size || strncmp(name, entry, size) != 0)
				continue;
			found = true;
			if (by != RD_ENV_BY_TRIMMED || rd_port_active(&host->ports[p]))
				rd_envcheck_selects(check, p);
		}
		if (!found)
			rd_env_list_add(&none, entry, size);
	}
	rd_envcheck_effect_count(check);
	if (none.n)
		rd_envcheck_finding(check, RD_SEV_WARNING, "env-no-device", title, "the entry has no effect",
				    rd_env_list_take(&none), NULL);
}

/* Variables that list network interfaces. NCCL (src/misc/socket.cc, src/os/linux.cc) and NVSHMEM, which has the same code,
 * support ^, = and name prefixes; Gloo and libfabric's tcp provider exact names; libfabric's verbs provider prefixes. */

/* Selects the interfaces that the list matches, and returns how many. */
static size_t select_interfaces(struct rd_check_env *check, const char *value, bool exclude, bool exact,
				struct rd_env_list *none)
{
	const struct rd_host *host = check->host;
	_cleanup_free_ bool *named = rd_alloc(host->n_netdevs + 1, 1);
	const char *entry;
	size_t size, n = 0;

	while (rd_env_entry(&value, &entry, &size)) {
		size_t length = exact ? size : strcspn(entry, ":,");
		bool found = false;

		for (size_t i = 0; i < host->n_netdevs; i++)
			if (strncmp(host->netdevs[i].name, entry, length) == 0 &&
			    (!exact || strlen(host->netdevs[i].name) == length))
				found = named[i] = true;
		if (!found)
			rd_env_list_add(none, entry, size);
	}
	for (size_t i = 0; i < host->n_netdevs; i++)
		if (named[i] != exclude)
			rd_buf_printf(&check->selects, "%s%s", n++ ? " " : "", host->netdevs[i].name);
	return n;
}

void rd_envcheck_interfaces(struct rd_check_env *check)
{
	_cleanup_env_list_ struct rd_env_list none = { 0 };
	const char *value = check->effect->value, *name = check->effect->name;
	bool signs = strncmp(name, "NCCL", 4) == 0 || strncmp(name, "NVSHMEM", 7) == 0,
	     exclude = signs && *value == '^', exact;
	bool fatal = strncmp(name, "GLOO", 4) == 0; /* a missing one raises an exception */
	size_t n;

	value += exclude;
	exact = signs ? *value == '=' : strcmp(name, "FI_VERBS_IFACE") != 0;
	value += signs && *value == '=';
	if (check->host->n_netdevs == 0)
		return rd_envcheck_effect(check, "network interfaces of this host are unknown");
	n = select_interfaces(check, value, exclude, exact, &none);
	rd_envcheck_effect(check, "%zu interface%s", n, n == 1 ? "" : "s");
	if (!none.n || exclude)
		return;
	fatal |= n == 0;
	rd_envcheck_finding(check, fatal ? RD_SEV_CRITICAL : RD_SEV_WARNING, "env-no-interface",
			    "No such network interface",
			    fatal ? "processes cannot connect to each other" : "the entry has no effect",
			    rd_env_list_take(&none), NULL);
}

/* Variables that select a GID. NCCL: src/transport/net_ib/connect.cc, ncclIbGetGidIndex; NVSHMEM has the same rule
 * (src/modules/transport/common/transport_ib_common.cpp). */

/* The GID that NCCL_IB_ADDR_FAMILY, _ADDR_RANGE and _ROCE_VERSION_NUM request. */
struct gid_filter {
	bool v6;
	int version;
	struct rd_gid_range range;
};

static const char *sibling_value(const struct rd_check_env *check, const char *tail)
{
	bool nvshmem = strncmp(check->effect->name, "NVSHMEM_", 8) == 0;
	char name[64];

	snprintf(name, sizeof(name), "%s_IB_%s", nvshmem ? "NVSHMEM" : "NCCL", tail);
	return rd_effects_get(check->all, name);
}

static bool is_v6(const char *family)
{
	return family && strcmp(family, "AF_INET6") == 0;
}

/* ADDRESS/BITS of the family; NCCL ignores a value that it cannot parse. */
static bool parse_range(const char *text, bool v6, struct rd_gid_range *ret)
{
	char address[128];
	const char *slash = text ? strchr(text, '/') : NULL;
	size_t n = slash ? (size_t)(slash - text) : sizeof(address);
	int most = v6 ? 128 : 32;

	*ret = (struct rd_gid_range){ 0 };
	if (n >= sizeof(address))
		return false;
	memcpy(address, text, n);
	address[n] = '\0';
	ret->bits = rd_as_atoi(slash + 1);
	if (inet_pton(v6 ? AF_INET6 : AF_INET, address, v6 ? ret->prefix : ret->prefix + 12) == 1 && ret->bits > 0 &&
	    ret->bits <= most)
		return true;
	ret->bits = 0;
	return false;
}

static void read_filter(const struct rd_check_env *check, struct gid_filter *ret)
{
	const char *version = sibling_value(check, "ROCE_VERSION_NUM");
	long number = 2;

	ret->v6 = is_v6(sibling_value(check, "ADDR_FAMILY"));
	if (version)
		rd_envcheck_read(RD_ENV_NCCL, version, 2, &number);
	ret->version = (int)number;
	parse_range(sibling_value(check, "ADDR_RANGE"), ret->v6, &ret->range);
}

/* Ports with the same fault share one finding. */
struct faults {
	struct rd_env_list empty, bad;
	const char *why;
	int advised; /* index to use instead; -1: differs between ports, or none */
};

static void note_gid(struct rd_check_env *check, struct faults *faults, size_t p, long index)
{
	const struct rd_port *port = &check->host->ports[p];
	const struct rd_gid *gid = rd_gid_at(port, index);
	const char *fault = gid ? rd_gid_fault(check->host, port, gid) : NULL;
	int advised = rd_port_gid_index(check->views, p);

	if (!rd_port_is_ethernet(port) || !rd_port_active(port) || port->n_gids == 0 ||
	    (gid ? !fault : !port->gids_known || (port->gids_unread && index >= (long)port->gids_unread)))
		return;
	faults->advised = faults->empty.n + faults->bad.n == 0 || faults->advised == advised ? advised : -1;
	add_port(gid ? &faults->bad : &faults->empty, check->host, p);
	if (fault)
		faults->why = !faults->why || strcmp(faults->why, fault) == 0 ? fault : "several reasons";
}

static void report_gid_faults(struct rd_check_env *check, struct faults *faults, enum rd_severity severity)
{
	_cleanup_free_ char *empty = rd_env_list_take(&faults->empty), *bad = rd_env_list_take(&faults->bad);

	if (empty)
		rd_envcheck_finding(check, RD_SEV_CRITICAL, "env-gid-gone", "GID table is empty at this index",
				    "connections fail: ibv_modify_qp returns ENODATA or EINVAL",
				    rd_text("no GID at this index on %s", empty),
				    faults->advised >= 0 ? rd_text("%d", faults->advised) : NULL);
	if (bad)
		rd_envcheck_finding(
			check, severity, "env-gid-bad", "GID at this index is not usable",
			"connections time out: ETIMEDOUT (errno 110), or completion status 12 (IBV_WC_RETRY_EXC_ERR)",
			rd_text("%s: %s", bad, faults->why),
			faults->advised >= 0 ? rd_text("%d", faults->advised) : NULL);
}

/* "GID index 3 (RoCE v2, 10.0.0.1) on mlx5_0/1". */
static void show_index(struct rd_check_env *check, const bool *which, int index, const struct rd_gid *example)
{
	_cleanup_env_list_ struct rd_env_list ports = { 0 };
	_cleanup_free_ char *list = NULL;
	const char *type = example ? rd_gid_type_name(example->type) : NULL;
	char ip[46] = "";
	bool one;

	for (size_t p = 0; p < check->host->n_ports; p++)
		if (which[p])
			add_port(&ports, check->host, p);
	one = ports.n == 1;
	if (example && one)
		rd_gid_ip(example, ip);
	list = ports.n > RD_ENV_NAMED ? rd_text("%zu ports", ports.n) : rd_env_list_take(&ports);
	if (list)
		rd_envcheck_effect(check, "GID index %d (%s%s%s) on %s", index, type ?: "empty", *ip ? ", " : "", ip,
				   list);
}

static int index_of(const struct rd_port *port, const struct gid_filter *filter)
{
	return rd_gid_nccl(port, filter->v6, filter->version, &filter->range);
}

/* Shows the GID index of each RoCE port in use; ports with the same index share one entry. */
static void show_filter(struct rd_check_env *check, const struct gid_filter *filter)
{
	const struct rd_host *host = check->host;
	_cleanup_free_ bool *shown = rd_alloc(host->n_ports + 1, 1), *which = rd_alloc(host->n_ports + 1, 1);

	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];
		int index;

		if (shown[p] || !rd_envcheck_uses(check, p) || !rd_port_is_ethernet(port) || port->n_gids == 0)
			continue;
		index = index_of(port, filter);
		memset(which, 0, host->n_ports);
		for (size_t q = p; q < host->n_ports; q++)
			if (!shown[q] && rd_envcheck_uses(check, q) && rd_port_is_ethernet(&host->ports[q]) &&
			    host->ports[q].n_gids > 0 && index_of(&host->ports[q], filter) == index)
				shown[q] = which[q] = true;
		show_index(check, which, index, rd_gid_at(port, index));
	}
}

/* The number of ports in use that are RoCE, and InfiniBand. */
static void count_ports(const struct rd_check_env *check, size_t *roce, size_t *ib)
{
	*roce = *ib = 0;
	for (size_t p = 0; p < check->host->n_ports; p++)
		if (rd_envcheck_uses(check, p)) {
			*roce += rd_port_is_ethernet(&check->host->ports[p]);
			*ib += rd_port_is_ib(&check->host->ports[p]);
		}
}

/* Whether the variable is used: a GID index takes precedence, and InfiniBand ports use index 0. */
static bool is_used(struct rd_check_env *check)
{
	const char *index = sibling_value(check, "GID_INDEX");
	size_t roce, ib;
	long number = -1;

	if (index)
		rd_envcheck_read(RD_ENV_NCCL, index, -1, &number);
	count_ports(check, &roce, &ib);
	if (number >= 0)
		rd_envcheck_effect(check, "not used: %s_IB_GID_INDEX=%ld takes precedence",
				   strncmp(check->effect->name, "NV", 2) == 0 ? "NVSHMEM" : "NCCL", number);
	else if (!roce)
		rd_envcheck_effect(check, ib ? "not used: no selected port is RoCE" :
					       "cannot determine: no active port that it applies to is known");
	return number < 0 && roce;
}

static void judge_filter(struct rd_check_env *check, const struct gid_filter *filter, enum rd_severity severity)
{
	struct faults faults = { .advised = -1 };

	show_filter(check, filter);
	for (size_t p = 0; p < check->host->n_ports; p++)
		/* A device that supports RoCE v1 only leaves no choice. */
		if (rd_envcheck_uses(check, p) && check->host->ports[p].n_gids > 0 &&
		    !rd_port_is_v1_only(&check->host->ports[p]))
			note_gid(check, &faults, p, index_of(&check->host->ports[p], filter));
	report_gid_faults(check, &faults, severity);
}

void rd_envcheck_addr_family(struct rd_check_env *check)
{
	const char *value = check->effect->value;
	struct gid_filter filter;

	if (strcmp(value, "AF_INET") != 0 && !is_v6(value) && *value) {
		rd_envcheck_effect(check, "invalid: AF_INET is used");
		rd_envcheck_finding(check, RD_SEV_WARNING, "env-ignored", "Invalid value",
				    "the library uses its default, AF_INET", NULL, rd_text("AF_INET or AF_INET6"));
	}
	if (!is_used(check))
		return;
	read_filter(check, &filter);
	judge_filter(check, &filter, RD_SEV_CRITICAL);
}

void rd_envcheck_addr_range(struct rd_check_env *check)
{
	struct gid_filter filter;

	read_filter(check, &filter);
	if (!filter.range.bits && *check->effect->value && strcmp(check->effect->value, "::/0") != 0) {
		rd_envcheck_effect(check, "invalid: any address matches");
		rd_envcheck_finding(check, RD_SEV_WARNING, "env-ignored", "Not an address range of this family",
				    "the library then accepts any address", NULL,
				    rd_text("ADDRESS/BITS, %s", filter.v6 ? "IPv6" : "IPv4"));
	}
	if (is_used(check))
		judge_filter(check, &filter, RD_SEV_CRITICAL);
}

void rd_envcheck_roce_version(struct rd_check_env *check)
{
	struct gid_filter filter;
	long version;

	if (!rd_envcheck_value(check, RD_ENV_NCCL, 2, &version))
		return;
	if (version != 1 && version != 2) {
		rd_envcheck_effect(check, "RoCE version %ld does not exist: no GID is preferred", version);
		return rd_envcheck_finding(
			check, RD_SEV_WARNING, "env-out-of-range", "RoCE version does not exist",
			"the library uses the first GID of the address family, which is often RoCE v1",
			rd_text("%ld", version), rd_text("1 or 2"));
	}
	if (!is_used(check))
		return;
	read_filter(check, &filter);
	judge_filter(check, &filter, version == 1 ? RD_SEV_WARNING : RD_SEV_CRITICAL);
}

static void show_fixed(struct rd_check_env *check, long index)
{
	const struct rd_host *host = check->host;
	_cleanup_free_ bool *which = rd_alloc(host->n_ports + 1, 1);
	const struct rd_gid *example = NULL;

	for (size_t p = 0; p < host->n_ports; p++)
		if (rd_envcheck_uses(check, p) && rd_port_is_ethernet(&host->ports[p])) {
			const struct rd_gid *gid = rd_gid_at(&host->ports[p], index);

			which[p] = gid != NULL;
			example = example ?: gid;
		}
	if (example)
		show_index(check, which, (int)index, example);
	else
		rd_envcheck_effect(check, "no RoCE port in use has a GID at index %ld", index);
}

/* mooncake-transfer-engine/src/config.cpp: if MC_GID_INDEX is not set, it uses NCCL_IB_GID_INDEX. */
static void show_mooncake(struct rd_check_env *check, long index)
{
	if (strcmp(check->effect->name, "NCCL_IB_GID_INDEX") != 0 || rd_effects_get(check->all, "MC_GID_INDEX"))
		return;
	for (size_t i = 0; i < check->all->n; i++)
		if (strncmp(check->all->v[i].name, "MC_", 3) == 0)
			return rd_envcheck_effect(check, index >= 0 && index <= 255 ? "Mooncake uses it, too" :
										      "Mooncake ignores it");
}

void rd_envcheck_gid_index(struct rd_check_env *check)
{
	bool ucx = strncmp(check->effect->name, "UCX", 3) == 0;
	struct faults faults = { .advised = -1 };
	size_t roce, ib;
	long index;

	if (strcmp(check->effect->value, "auto") == 0 && ucx)
		return rd_envcheck_effect(check, "UCX selects the GID");
	if (!rd_envcheck_number(check->effect->value, &index)) {
		rd_envcheck_effect(check, "not a number");
		return rd_envcheck_finding(check, RD_SEV_CRITICAL, "env-no-number", "Value is not a number",
					   "the library parses a different number from it, or none", NULL,
					   rd_text("a GID index"));
	}
	if (index == -1 && !ucx)
		return rd_envcheck_effect(check, "the library selects the GID (the default)");
	count_ports(check, &roce, &ib);
	if (!roce && ib && !ucx)
		return rd_envcheck_effect(check, "not used: no selected port is RoCE");
	show_fixed(check, index);
	show_mooncake(check, index);
	for (size_t p = 0; p < check->host->n_ports; p++)
		if (check->by_hca ? check->by_hca[p] : check->views->v[p].role == RD_ROLE_COMPUTE)
			note_gid(check, &faults, p, index);
	report_gid_faults(check, &faults, RD_SEV_CRITICAL);
}

/* Without these variables, NCCL may select an unusable GID. */
void rd_envcheck_own_gid(struct rd_check_env *check)
{
	struct faults faults = { .advised = -1 };
	struct gid_filter filter;

	if (sibling_value(check, "GID_INDEX") || sibling_value(check, "ADDR_FAMILY") ||
	    sibling_value(check, "ADDR_RANGE") || sibling_value(check, "ROCE_VERSION_NUM"))
		return;
	read_filter(check, &filter);
	for (size_t p = 0; p < check->host->n_ports; p++)
		if (check->by_hca[p] && check->host->ports[p].n_gids > 0)
			note_gid(check, &faults, p, index_of(&check->host->ports[p], &filter));
	report_gid_faults(check, &faults, RD_SEV_CRITICAL);
}

/* Queue pair attributes: timeout, retry count, service level, traffic class, P_Key index. The fields are those of
 * ibv_modify_qp(3); NCCL sets them in src/transport/net_ib/connect.cc. */

#define CODE_POINTS \
	UINT64_C(0x0101515555555503) /* bits of the DSCPs with names: CS0 to CS7, AF11 to AF43, VA, EF, LE */
#define WATCHDOG 600		     /* seconds: PyTorch's default timeout of an NCCL collective */

static enum rd_env_read reader(const struct rd_check_env *check)
{
	const char *name = check->effect->name;

	if (strncmp(name, "UCX_", 4) == 0)
		return RD_ENV_UCX_AUTO;
	if (strncmp(name, "NVSHMEM_", 8) == 0)
		return RD_ENV_ANY_BASE;
	return strncmp(name, "MC_", 3) == 0 ? RD_ENV_STOI : RD_ENV_NCCL;
}

static double ack_timeout(long exponent)
{
	return 4.096e-6 * (double)(UINT64_C(1) << exponent);
}

/* The timer is 4.096 us x 2^N; the specification allows a device up to four times that. */
void rd_envcheck_timeout(struct rd_check_env *check)
{
	bool nccl = reader(check) == RD_ENV_NCCL;
	long exponent, retries = rd_env_number(check->all, RD_ENV_NCCL,
					       nccl ? "NCCL_IB_RETRY_CNT" : "NVSHMEM_IB_RETRY_CNT", 7);
	double total;

	if (!rd_envcheck_value(check, reader(check), 20, &exponent))
		return;
	if (exponent < 0 || exponent > 31) {
		rd_envcheck_effect(check, "%ld does not fit the 5-bit field", exponent);
		return rd_envcheck_finding(check, RD_SEV_WARNING, "env-out-of-range", "Value out of range",
					   "the driver rejects it or truncates it to 5 bits", rd_text("%ld", exponent),
					   rd_text("0 to 31; 20 to 23 is usual"));
	}
	if (exponent == 0) {
		rd_envcheck_effect(check, "no timeout: a lost packet or an unreachable peer is never detected");
		return rd_envcheck_finding(check, RD_SEV_WARNING, "env-timeout-none", "0 disables the timeout",
					   "a lost packet hangs the connection forever", NULL, rd_text("20 to 23"));
	}
	retries = retries < 0 || retries > 7 ? 7 : retries;
	total = ack_timeout(exponent) * (double)(retries + 1);
	rd_envcheck_effect(
		check,
		"local ACK timeout 4.096 us x 2^%ld = %.3g s; with %ld retries an unreachable peer is reported "
		"after %.3g s at the earliest, 4 times that at the latest",
		exponent, ack_timeout(exponent), retries, total);
	if (total > WATCHDOG)
		rd_envcheck_finding(check, RD_SEV_NOTE, "env-timeout-long",
				    "Unreachable peer is reported only after the PyTorch watchdog fires",
				    "PyTorch's watchdog (600 s) aborts the job first, without naming the peer",
				    rd_text("%.3g s", total), rd_text("20 to 23"));
	else if (total < 1)
		rd_envcheck_finding(check, RD_SEV_WARNING, "env-timeout-short",
				    "Short network interruption fails the job",
				    "a link flap or a reroute in the fabric takes longer than this timeout",
				    rd_text("error after %.3g s at the earliest, 4 times that at the latest", total),
				    rd_text("20 to 23 (%ld is set)", exponent));
}

void rd_envcheck_retry_count(struct rd_check_env *check)
{
	long retries;

	if (!rd_envcheck_value(check, reader(check), 7, &retries))
		return;
	if (retries < 0 || retries > 7) {
		rd_envcheck_effect(check, "%ld does not fit the 3-bit field", retries);
		return rd_envcheck_finding(check, RD_SEV_WARNING, "env-out-of-range", "Value out of range",
					   "the driver rejects it or truncates it to 3 bits",
					   rd_text("%ld (lowest 3 bits: %ld)", retries, retries & 7),
					   rd_text("0 to 7"));
	}
	rd_envcheck_effect(check, "a packet is retransmitted up to %ld times%s", retries,
			   retries == 7 ? " (the default)" : "");
	if (retries <= 0)
		rd_envcheck_finding(check, RD_SEV_WARNING, "env-no-retry", "Retransmission is disabled",
				    "one lost packet breaks the connection", NULL, rd_text("7"));
}

/* On RoCE the service level is the 3-bit priority in the VLAN tag. */
void rd_envcheck_service_level(struct rd_check_env *check)
{
	size_t roce, ib;
	long level;

	if (!rd_envcheck_value(check, reader(check), -1, &level))
		return;
	count_ports(check, &roce, &ib);
	if (level == -1 && reader(check) == RD_ENV_NCCL)
		return rd_envcheck_effect(check, "service level 0 (the default)");
	if (level < 0 || level > 15 || (level > 7 && roce)) {
		rd_envcheck_effect(check, "%ld is not a %s", level, roce ? "RoCE priority" : "service level");
		return rd_envcheck_finding(check, RD_SEV_WARNING, "env-out-of-range", "Value out of range",
					   "the driver rejects or truncates it", rd_text("%ld", level),
					   rd_text(roce ? "0 to 7: on RoCE it is the priority in the VLAN tag" :
							  "0 to 15"));
	}
	if (ib || !roce)
		rd_envcheck_effect(check, "InfiniBand: service level %ld; the SL2VL tables map it to a virtual lane",
				   level);
	if (roce || !ib)
		rd_envcheck_effect(check,
				   "RoCE: priority %ld in the VLAN tag; ports that trust DSCP use the traffic class",
				   level);
}

/* Ports that would send this class with a priority without PFC, while another has it. Of a class that the
 * host forces, which takes precedence, rule roce-tclass tells. */
static void judge_priority(struct rd_check_env *check, long class)
{
	_cleanup_env_list_ struct rd_env_list ports = { 0 };
	_cleanup_free_ char *list = NULL;
	unsigned prio = 0, pfc = 0;

	for (size_t p = 0; check->views->net && !strstr(check->effect->name, "FIFO") && p < check->host->n_ports; p++) {
		const struct rd_port *port = &check->host->ports[p];
		const struct rd_netif *netif =
			port->n_netdevs == 0 ?
				NULL :
				rd_netstate_find_name(check->views->net, check->host->netdevs[port->netdevs[0]].name);
		const struct rd_netif *carrier;

		if (!netif || !rd_envcheck_uses(check, p) || !rd_port_is_roce(check->host, port))
			continue;
		for (size_t at = 0; (carrier = rd_netstate_next_carrier(check->views->net, netif, &at));) {
			const struct rd_dcb *dcb = &carrier->dcb;
			bool forced = carrier->tclass.known == RD_OK && carrier->tclass.v >= 0;

			if (forced || dcb->pfc.known != RD_OK || !dcb->pfc.enable || !rd_dcb_trusts_dscp(dcb) ||
			    dcb->pfc.enable >> rd_dcb_prio(dcb, (unsigned)class) & 1)
				continue;
			prio = rd_dcb_prio(dcb, (unsigned)class);
			pfc = dcb->pfc.enable;
			add_port(&ports, check->host, p);
			break;
		}
	}
	list = rd_env_list_take(&ports);
	if (list)
		rd_envcheck_finding(
			check, RD_SEV_WARNING, "env-tc-no-pfc", "Traffic class maps to a priority without PFC",
			"packets are dropped under congestion and retransmitted, although the network was made lossless for "
			"another priority",
			rd_text("DSCP %ld is priority %u on %s; PFC is on priority %d", class >> 2, prio, list,
				__builtin_ctz(pfc)),
			rd_text("DSCP x 4 of priority %d, as at the switch", __builtin_ctz(pfc)));
}

/* The traffic class is a field of the GRH, which packets within a subnet do not have. NVSHMEM's IBGDA sets it without a GRH
 * (nvshmem#45). */
static void judge_class_on_ib(struct rd_check_env *check, long class)
{
	rd_envcheck_effect(check, "not used within an InfiniBand subnet: no selected port is RoCE");
	if (class == 0 || strcmp(check->effect->name, "NVSHMEM_IB_TRAFFIC_CLASS") != 0)
		return;
	rd_envcheck_finding_fix(
		check, RD_SEV_WARNING, "env-tc-on-ib", "IBGDA may fail to connect with a traffic class on InfiniBand",
		"IBGDA sets the field without a GRH, and the firmware rejects it: INIT2RTR_QP fails with errno 121",
		NULL, NULL, rd_text("# unset NVSHMEM_IB_TRAFFIC_CLASS in the environment of jobs on InfiniBand hosts"));
}

void rd_envcheck_traffic_class(struct rd_check_env *check)
{
	static const char *const ecn[] = { "not ECN-capable", "ECT(1)", "ECT(0)", "CE, congestion experienced" };
	size_t roce, ib;
	long class;

	if (!rd_envcheck_value(check, reader(check), -1, &class))
		return;
	if (class == -1 && strncmp(check->effect->name, "NCCL", 4) == 0)
		return rd_envcheck_effect(check, "traffic class 0, or the one that the program sets (the default)");
	if (class < 0 || class > 255) {
		rd_envcheck_effect(check, "%ld does not fit the 8-bit field", class);
		return rd_envcheck_finding(check, RD_SEV_WARNING, "env-out-of-range", "Value out of range",
					   "it is ignored or truncated to 8 bits", rd_text("%ld", class),
					   rd_text("0 to 255: DSCP x 4"));
	}
	count_ports(check, &roce, &ib);
	if (ib && !roce)
		return judge_class_on_ib(check, class);
	/* The byte of the IP header: 6 bits of DSCP, 2 bits of ECN. */
	rd_envcheck_effect(check, "RoCE: DSCP %ld, ECN bits %ld (%s)", class >> 2, class & 3, ecn[class & 3]);
	if ((class & 3) == 3)
		rd_envcheck_finding(
			check, RD_SEV_WARNING, "env-ecn-marked", "Traffic class marks every packet as congested",
			"the lowest two bits are the ECN field; 3 (CE) signals congestion to the receiver on every packet",
			rd_text("%ld = DSCP %ld x 4 + 3", class, class >> 2),
			rd_text("%ld or %ld", (class >> 2) * 4, (class >> 2) * 4 + 2));
	else if (class < 64 && (class & 3) && (CODE_POINTS >> class & 1) && !(CODE_POINTS >> (class >> 2) & 1))
		rd_envcheck_finding(
			check, RD_SEV_WARNING, "env-tc-is-dscp", "Value looks like a DSCP, not a traffic class",
			"a traffic class is DSCP x 4, plus 2 for ECN-capable; switches classify packets by DSCP",
			rd_text("%ld is DSCP %ld", class, class >> 2), rd_text("for DSCP %ld: %ld", class, class * 4));
	judge_priority(check, class);
}

/* An index into the port's P_Key table, often mistaken for the P_Key itself. */
void rd_envcheck_pkey(struct rd_check_env *check)
{
	_cleanup_env_list_ struct rd_env_list none = { 0 };
	const struct rd_host *host = check->host;
	long index;

	if (!rd_envcheck_value(check, reader(check), 0, &index))
		return;
	for (size_t p = 0; (index < 0 || index >= 128) && p < host->n_ports; p++)
		if (rd_envcheck_uses(check, p))
			add_port(&none, host, p);
	rd_envcheck_effect(check, "the P_Key at index %ld of each port's table%s", index,
			   index == 0 ? " (the default)" : "");
	if (none.n)
		rd_envcheck_finding(check, RD_SEV_WARNING, "env-pkey-index", "P_Key index is out of range",
				    "the value is an index, not a P_Key; the transition of the queue pair to INIT fails",
				    rd_env_list_take(&none), rd_text("the index of the P_Key in the table, from 0"));
}
