/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/envcheck.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "analyse/envcheck-priv.h"
#include "analyse/gid.h"
#include "base/text.h"

int rd_effects_set(struct rd_effects *effects, const char *name, const char *value)
{
	struct rd_effect effect = { .name = strdup(name), .value = strdup(value) };

	for (size_t i = 0; effect.name && effect.value && i < effects->n; i++) {
		if (strcmp(effects->v[i].name, name) != 0)
			continue;
		free(effect.name);
		free(effects->v[i].value);
		effects->v[i].value = effect.value;
		return 0;
	}
	if (!effect.name || !effect.value || rd_grow(&effects->v, &effects->cap, effects->n + 1, sizeof(effect)) < 0) {
		free(effect.name);
		free(effect.value);
		return -ENOMEM;
	}
	effects->v[effects->n++] = effect;
	return 0;
}

const char *rd_effects_get(const struct rd_effects *effects, const char *name)
{
	for (size_t i = 0; i < effects->n; i++)
		if (strcmp(effects->v[i].name, name) == 0)
			return effects->v[i].value;
	return NULL;
}

int rd_envcheck_say(struct rd_check_env *check, enum rd_severity severity, const char *id, const char *title,
		    const char *why, char *observed, char *expected)
{
	struct rd_finding finding = {
		.id = id,
		.severity = severity,
		.title = title,
		.why = why,
		.subject = rd_text("%s=%s", check->effect->name, check->effect->value),
		.observed = observed,
		.expected = expected,
	};

	return rd_finding_add(check->findings, &finding);
}

void rd_envcheck_selects(struct rd_check_env *check, size_t port)
{
	char label[128];

	check->selected[port] = true;
	rd_port_label(check->host, &check->host->ports[port], label, sizeof(label));
	rd_buf_printf(&check->selects, "%s%s", check->selects.len ? " " : "", label);
}

bool rd_envcheck_number(const char *text, long *ret)
{
	char *end;

	errno = 0;
	*ret = strtol(text, &end, 10);
	return !errno && end != text && !*end;
}

/* Of one RoCE port: whether the GID at the index can be used. */
static int check_gid(struct rd_check_env *check, const struct rd_port *port, long index)
{
	const struct rd_gid *gid = index >= 0 ? rd_gid_at(port, (unsigned)index) : NULL;
	const char *fault = gid ? rd_gid_fault(check->host, port, gid) : NULL;
	char label[128];

	if (!rd_port_is_ethernet(port) || !rd_port_active(port) || port->n_gids == 0)
		return 0;
	rd_port_label(check->host, port, label, sizeof(label));
	if (!gid)
		return rd_envcheck_say(check, RD_SEV_CRITICAL, "env-gid-gone", "There is no GID at this index",
				       "connecting fails: modify_qp returns ENODATA or EINVAL",
				       rd_text("%s has none at %ld", label, index),
				       port->gid >= 0 ? rd_text("%u", port->gids[port->gid].index) : NULL);
	if (!fault)
		return 0;
	return rd_envcheck_say(check, RD_SEV_CRITICAL, "env-gid-bad", "The GID at this index is not one to use",
			       "connections time out: errno 110, or completion status 12",
			       rd_text("%s: %s", label, fault),
			       port->gid >= 0 ? rd_text("%u", port->gids[port->gid].index) : NULL);
}

int rd_envcheck_gid_index(struct rd_check_env *check)
{
	long index;
	int r = 0;

	if (strcmp(check->effect->value, "auto") == 0 && strncmp(check->effect->name, "UCX", 3) == 0)
		return 0;
	if (!rd_envcheck_number(check->effect->value, &index))
		return rd_envcheck_say(check, RD_SEV_CRITICAL, "env-no-number", "A number is expected here",
				       "the library reads something else out of it, or nothing", NULL,
				       rd_text("a GID index"));
	if (index == -1 && strncmp(check->effect->name, "UCX", 3) != 0)
		return 0; /* the library chooses */
	for (size_t p = 0; !r && p < check->host->n_ports; p++)
		if (check->by_hca ? check->by_hca[p] : check->host->ports[p].role == RD_ROLE_COMPUTE)
			r = check_gid(check, &check->host->ports[p], index);
	return r;
}

/* Left alone, NCCL may pick one that is no good. */
static int check_own_gid(struct rd_check_env *check)
{
	int r = 0;

	for (size_t p = 0; !r && p < check->host->n_ports; p++) {
		const struct rd_port *port = &check->host->ports[p];
		int index = rd_gid_nccl(port, false, 2);

		if (check->by_hca[p] && index >= 0)
			r = check_gid(check, port, index);
	}
	return r;
}

static bool name_matches(const char *entry, size_t n, const char *name, bool exact)
{
	return exact ? strlen(name) == n && strncmp(name, entry, n) == 0 : strncmp(name, entry, n) == 0;
}

int rd_envcheck_interfaces(struct rd_check_env *check)
{
	const char *value = check->effect->value;
	bool nccl = strncmp(check->effect->name, "NCCL", 4) == 0, exclude = nccl && *value == '^', exact;
	int r = 0;

	value += exclude;
	exact = !nccl || *value == '=';
	value += nccl && *value == '=';
	for (; *value && !r; value += *value == ',') {
		size_t n = strcspn(value, ","), found = 0;

		for (size_t i = 0; n > 0 && i < check->host->n_netdevs; i++) {
			const char *name = check->host->netdevs[i].name;

			if (!name_matches(value, n, name, exact))
				continue;
			found++;
			rd_buf_printf(&check->selects, "%s%s%s", check->selects.len ? " " : "", exclude ? "not " : "",
				      name);
		}
		if (n > 0 && !found && !exclude && check->host->n_netdevs > 0)
			r = rd_envcheck_say(check, RD_SEV_CRITICAL, "env-no-interface", "There is no such interface",
					    "processes cannot find each other", rd_text("%.*s", (int)n, value), NULL);
		value += n;
	}
	return r;
}

static int check_disable(struct rd_check_env *check)
{
	long off;

	if (!rd_envcheck_number(check->effect->value, &off) || off == 0)
		return 0;
	return rd_envcheck_say(check, RD_SEV_WARNING, "env-rdma-off", "RDMA is switched off", "NCCL goes over TCP",
			       NULL, NULL);
}

/* Those that choose NICs come first: what is about GIDs looks at these. */
static const struct {
	const char *name;
	int (*check)(struct rd_check_env *check);
	bool hca; /* its selection is the library's */
} known[] = {
	{ "NCCL_IB_HCA", rd_envcheck_nccl_hca, true },
	{ "NCCL_IB_GID_INDEX", rd_envcheck_gid_index, false },
	{ "NCCL_SOCKET_IFNAME", rd_envcheck_interfaces, false },
	{ "NCCL_IB_DISABLE", check_disable, false },
	{ "GLOO_SOCKET_IFNAME", rd_envcheck_interfaces, false },
	{ "NVSHMEM_HCA_LIST", rd_envcheck_nvshmem_list, true },
	{ "NVSHMEM_HCA_PE_MAPPING", rd_envcheck_nvshmem_list, true },
	{ "NVSHMEM_ENABLE_NIC_PE_MAPPING", NULL, false },
	{ "NVSHMEM_HCA_PREFIX", rd_envcheck_nvshmem_prefix, false },
	{ "NVSHMEM_IB_GID_INDEX", rd_envcheck_gid_index, false },
	{ "UCX_NET_DEVICES", rd_envcheck_ucx, true },
	{ "UCX_IB_GID_INDEX", rd_envcheck_gid_index, false },
};

bool rd_envcheck_knows(const char *name)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(known); i++)
		if (strcmp(known[i].name, name) == 0)
			return true;
	return false;
}

static struct rd_effect *find(const struct rd_effects *effects, const char *name)
{
	for (size_t i = 0; i < effects->n; i++)
		if (strcmp(effects->v[i].name, name) == 0)
			return &effects->v[i];
	return NULL;
}

static size_t family(const char *name)
{
	return strcspn(name, "_");
}

int rd_envcheck(const struct rd_host *host, struct rd_effects *effects, struct rd_findings *findings)
{
	_cleanup_free_ bool *selected = calloc(host->n_ports + 1, 1), *by_hca = calloc(host->n_ports + 1, 1);
	const char *chosen_by = NULL;
	int r = selected && by_hca ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < RD_ARRAY_SIZE(known); i++) {
		struct rd_check_env check = { .host = host, .all = effects, .findings = findings, .selected = selected };

		check.effect = find(effects, known[i].name);
		if (!check.effect || !known[i].check)
			continue;
		memset(selected, 0, host->n_ports);
		if (chosen_by && family(chosen_by) == family(known[i].name) &&
		    strncmp(chosen_by, known[i].name, family(chosen_by)) == 0)
			check.by_hca = by_hca;
		r = known[i].check(&check);
		if (known[i].hca) {
			memcpy(by_hca, selected, host->n_ports);
			chosen_by = known[i].name;
		}
		if (!r && strcmp(known[i].name, "NCCL_IB_HCA") == 0 && !find(effects, "NCCL_IB_GID_INDEX")) {
			check.by_hca = by_hca;
			r = check_own_gid(&check);
		}
		free(check.effect->selects);
		check.effect->selects = check.selects.failed ? NULL : check.selects.data;
	}
	return r;
}

int rd_effects_take(const char *line, size_t size, struct rd_effects *effects)
{
	_cleanup_free_ char *copy = strndup(line, size);
	char *name = copy, *value;
	size_t n;

	if (!copy)
		return -ENOMEM;
	name += strspn(name, " \t");
	if (strncmp(name, "export ", 7) == 0)
		name += 7 + strspn(name + 7, " \t");
	value = strchr(name, '=');
	if (!value)
		return 0;
	*value++ = '\0';
	n = strlen(value);
	while (n > 0 && strchr(" \t\r", value[n - 1]))
		value[--n] = '\0';
	if (n >= 2 && (*value == '"' || *value == '\'') && value[n - 1] == *value) {
		value[n - 1] = '\0';
		value++;
	}
	return rd_envcheck_knows(name) ? rd_effects_set(effects, name, value) : 0;
}
