/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Variables that select a GID. NCCL: src/transport/net_ib/connect.cc, ncclIbGetGidIndex; NVSHMEM has the same rule
 * (src/modules/transport/common/transport_ib_common.cpp). */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "analyse/env/envcheck-priv.h"
#include "analyse/shared/gid.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"

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
	const struct rd_gid *gid = index >= 0 && index <= 0xffff ? rd_gid_at(port, (unsigned)index) : NULL;
	const char *fault = gid ? rd_gid_fault(check->host, port, gid) : NULL;
	int advised = rd_port_gid_index(check->views, p);
	char label[128];

	if (!rd_port_is_ethernet(port) || !rd_port_active(port) || port->n_gids == 0 ||
	    (gid ? !fault : !port->gids_known))
		return;
	rd_port_label(check->host, port, label, sizeof(label));
	faults->advised = faults->empty.n + faults->bad.n == 0 || faults->advised == advised ? advised : -1;
	rd_env_list_add(gid ? &faults->bad : &faults->empty, label, strlen(label));
	if (fault)
		faults->why = !faults->why || strcmp(faults->why, fault) == 0 ? fault : "several reasons";
}

static void report_faults(struct rd_check_env *check, struct faults *faults, enum rd_severity severity)
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
	char label[128], ip[46] = "";
	bool one;

	for (size_t p = 0; p < check->host->n_ports; p++)
		if (which[p]) {
			rd_port_label(check->host, &check->host->ports[p], label, sizeof(label));
			rd_env_list_add(&ports, label, strlen(label));
		}
	one = ports.n == 1;
	if (example && one)
		rd_gid_ip(example, ip);
	list = ports.n > RD_ENV_NAMED ? rd_text("%zu ports", ports.n) : rd_env_list_take(&ports);
	if (list)
		rd_envcheck_effect(check, "GID index %d (%s%s%s) on %s", index, type ? type : "empty", *ip ? ", " : "",
				   ip, list);
}

static int index_of(const struct rd_port *port, const struct gid_filter *filter)
{
	return rd_gid_nccl_in(port, filter->v6, filter->version, &filter->range);
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
		show_index(check, which, index, index >= 0 ? rd_gid_at(port, (unsigned)index) : NULL);
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
	rd_envcheck_count(check, &roce, &ib);
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
		if (rd_envcheck_uses(check, p) && check->host->ports[p].n_gids > 0) {
			const struct rd_port *port = &check->host->ports[p];

			/* A device that supports RoCE v1 only leaves no choice. */
			if (!rd_port_is_v1_only(port))
				note_gid(check, &faults, p, index_of(port, filter));
		}
	report_faults(check, &faults, severity);
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
		rd_envcheck_finding(check, RD_SEV_WARNING, "env-out-of-range", "RoCE version does not exist",
				    "the library uses the first GID of the address family, which is often RoCE v1",
				    rd_text("%ld", version), rd_text("1 or 2"));
		return;
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
			bool in_range = index >= 0 && index <= 0xffff;
			const struct rd_gid *gid = in_range ? rd_gid_at(&host->ports[p], (unsigned)index) : NULL;

			which[p] = gid != NULL;
			example = example ? example : gid;
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
		if (strncmp(check->all->v[i].name, "MC_", 3) == 0) {
			rd_envcheck_effect(check, index >= 0 && index <= 255 ? "Mooncake uses it, too" :
									       "Mooncake ignores it");
			return;
		}
}

void rd_envcheck_gid_index(struct rd_check_env *check)
{
	bool ucx = strncmp(check->effect->name, "UCX", 3) == 0;
	struct faults faults = { .advised = -1 };
	size_t roce, ib;
	long index;

	if (strcmp(check->effect->value, "auto") == 0 && ucx) {
		rd_envcheck_effect(check, "UCX selects the GID");
		return;
	}
	if (!rd_envcheck_number(check->effect->value, &index)) {
		rd_envcheck_effect(check, "not a number");
		rd_envcheck_finding(check, RD_SEV_CRITICAL, "env-no-number", "Value is not a number",
				    "the library parses a different number from it, or none", NULL,
				    rd_text("a GID index"));
		return;
	}
	if (index == -1 && !ucx) {
		rd_envcheck_effect(check, "the library selects the GID (the default)");
		return;
	}
	rd_envcheck_count(check, &roce, &ib);
	if (!roce && ib && !ucx) {
		rd_envcheck_effect(check, "not used: no selected port is RoCE");
		return;
	}
	show_fixed(check, index);
	show_mooncake(check, index);
	for (size_t p = 0; p < check->host->n_ports; p++)
		if (check->by_hca ? check->by_hca[p] : check->views->v[p].role == RD_ROLE_COMPUTE)
			note_gid(check, &faults, p, index);
	report_faults(check, &faults, RD_SEV_CRITICAL);
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
	report_faults(check, &faults, RD_SEV_CRITICAL);
}
