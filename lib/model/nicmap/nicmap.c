/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/nicmap/nicmap.h"

#include "base/text.h"

const char *rd_role_name(enum rd_role role)
{
	static const char *const names[] = {
		[RD_ROLE_COMPUTE] = "compute", [RD_ROLE_STORAGE] = "storage", [RD_ROLE_MANAGEMENT] = "management"
	};

	return (size_t)role < RD_ARRAY_SIZE(names) ? names[role] : NULL;
}

void rd_port_views_init(struct rd_port_views *views, const struct rd_host *host)
{
	*views = (struct rd_port_views){
		.host = host,
		.v = rd_alloc(host->n_ports + 1, sizeof(*views->v)),
		.n = host->n_ports,
	};
	for (size_t p = 0; p < views->n; p++)
		views->v[p].gid = views->v[p].gid_nccl = -1;
}

void rd_port_views_deinit(struct rd_port_views *views)
{
	for (size_t p = 0; p < views->n; p++)
		free(views->v[p].role_why);
	free(views->v);
	*views = (struct rd_port_views){ 0 };
}

bool rd_port_is_aside(const struct rd_port_views *views, size_t port)
{
	const struct rd_ibdev *dev = &views->host->ibdevs[views->host->ports[port].ibdev];
	const struct rd_port_view *view = &views->v[port];

	return view->role == RD_ROLE_UNKNOWN &&
	       (view->spare || dev->parent_netdev || (dev->pci >= 0 && views->host->pcis[dev->pci].pf >= 0));
}

int rd_port_gid_index(const struct rd_port_views *views, size_t port)
{
	int gid = views->v[port].gid;

	return gid < 0 ? -1 : (int)views->host->ports[port].gids[gid].index;
}

char *rd_port_nccl_gid(const struct rd_port_views *views, size_t port)
{
	int taken = views->v[port].gid_nccl;
	const struct rd_gid *gid = taken < 0 ? NULL : &views->host->ports[port].gids[taken];
	const char *type = gid ? rd_gid_type_name(gid->type) : NULL;
	char ip[46];

	if (!gid)
		return rd_text("index 0, which is empty");
	rd_gid_ip(gid, ip);
	return rd_text("index %u (%s%s%s)", gid->index, ip, type ? ", " : "", type ?: "");
}

const char *rd_path_name(enum rd_path path)
{
	static const char *const names[] = {
		[RD_PATH_PIX] = "PIX", [RD_PATH_PXB] = "PXB",	[RD_PATH_P2C] = "P2C", [RD_PATH_PXN] = "PXN",
		[RD_PATH_PHB] = "PHB", [RD_PATH_NODE] = "NODE", [RD_PATH_SYS] = "SYS",
	};

	return (size_t)path < RD_ARRAY_SIZE(names) ? names[path] : NULL;
}

static void choices_deinit(struct rd_choices *choices)
{
	for (size_t i = 0; i < choices->n; i++)
		RD_FREE(choices->v[i].ports, choices->v[i].why, choices->v[i].backup_why);
	RD_FREE(choices->v, choices->note);
}

void rd_env_deinit(struct rd_env *env)
{
	for (size_t i = 0; i < env->n; i++)
		free(env->v[i].value);
	free(env->v);
	*env = (struct rd_env){ 0 };
}

void rd_env_add(struct rd_env *env, const char *library, const char *name, char *value)
{
	*RD_ADD(env->v, env->n, env->cap) = (struct rd_env_var){ .library = library, .name = name, .value = value };
}

void rd_effects_deinit(struct rd_effects *effects)
{
	for (size_t i = 0; i < effects->n; i++)
		RD_FREE(effects->v[i].selects, effects->v[i].effect);
	for (size_t i = 0; i < effects->n_texts; i++)
		free(effects->texts[i]);
	RD_FREE(effects->texts, effects->v);
	*effects = (struct rd_effects){ 0 };
}

void rd_nicmap_deinit(struct rd_nicmap *map)
{
	rd_port_views_deinit(&map->ports);
	for (size_t i = 0; i < map->nccl_nets.n; i++)
		RD_FREE(map->nccl_nets.v[i].ports, map->nccl_nets.v[i].name);
	RD_FREE(map->pairs, map->nccl_nets.v, map->nccl_nets.lost);
	choices_deinit(&map->nccl);
	choices_deinit(&map->nvshmem);
	rd_stacks_deinit(&map->stacks);
	rd_env_deinit(&map->env);
	rd_findings_deinit(&map->findings);
	rd_findings_deinit(&map->backup_findings);
	*map = (struct rd_nicmap){ 0 };
}

const char *rd_stack_name(enum rd_stack_id id)
{
	static const char *const names[RD_STACKS] = {
		[RD_STACK_MOONCAKE] = "mooncake",
		[RD_STACK_UCX] = "ucx",
		[RD_STACK_NIXL_LIBFABRIC] = "nixl_libfabric",
		[RD_STACK_LIBFABRIC] = "libfabric",
	};

	return names[id];
}

void rd_stacks_deinit(struct rd_stacks *stacks)
{
	for (size_t s = 0; s < RD_STACKS; s++) {
		for (size_t i = 0; i < stacks->v[s].n; i++)
			RD_FREE(stacks->v[s].v[i].ports, stacks->v[s].v[i].why);
		RD_FREE(stacks->v[s].v, stacks->v[s].ports, stacks->v[s].note);
	}
	rd_findings_deinit(&stacks->findings);
	*stacks = (struct rd_stacks){ 0 };
}

static void free_texts(char **texts, size_t n)
{
	for (size_t i = 0; texts && i < n; i++)
		free(texts[i]);
	free(texts);
}

void rd_compared_deinit(struct rd_compared *host)
{
	free(host->name);
	free_texts(host->gpus, host->n_gpus);
	free_texts(host->nics, host->n_nics);
	for (size_t i = 0; i < host->n_ports; i++) {
		struct rd_compared_port *port = &host->ports[i];

		RD_FREE(port->place, port->label, port->board, port->subnet, port->rate, port->mtu, port->firmware,
			port->state, port->link_layer);
	}
	for (size_t i = 0; i < host->n_rails; i++)
		free(host->rails[i].nic);
	for (size_t i = 0; i < host->n_settings; i++)
		RD_FREE(host->settings[i].place, host->settings[i].label, host->settings[i].value);
	RD_FREE(host->ports, host->rails, host->settings);
	*host = (struct rd_compared){ 0 };
}

const struct rd_library_rules rd_library_rules[] = {
	{ "nccl", "2.30.7 (5067397c)", "src/graph, src/transport/net_ib" },
	{ "nvshmem", "3.5.1.1 (2d7d25f)", "src/host/topo" },
	{ "ucx", "1.23 development version (9466d104a3)", "src/ucs/sys/topo, src/uct/ib/base, src/ucp/core" },
	{ "nixl", "1.4.0 development version (8770b655a)", "src/plugins/ucx, src/utils/libfabric" },
	{ "mooncake", "0.3.12.post1 plus 245 commits (3b5a59413)", "mooncake-transfer-engine/src" },
	{ "libfabric", "2.7.0 development version (af8ddbe92)", "src/fabric.c, prov/verbs, prov/efa" },
};
const size_t rd_n_library_rules = RD_ARRAY_SIZE(rd_library_rules);

const char *rd_library_release(const char *library)
{
	for (size_t i = 0; i < rd_n_library_rules; i++)
		if (strcmp(rd_library_rules[i].library, library) == 0)
			return rd_library_rules[i].release;
	return NULL;
}
