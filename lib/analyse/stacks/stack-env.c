/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "analyse/env/envcheck.h"
#include "analyse/stacks/stack-priv.h"
#include "analyse/stacks/stacks.h"
#include "base/buf.h"
#include "base/memory.h"
#include "base/text.h"

static void add_var(struct rd_env *env, const char *library, const char *name, char *value)
{
	*RD_ADD(env->v, env->n, env->cap) = (struct rd_env_var){ .library = library, .name = name, .value = value };
}

static bool is_first_of_device(const struct rd_port_views *views, size_t p)
{
	const struct rd_host *host = views->host;
	for (size_t o = 0; o < p; o++)
		if (rd_env_wants(views, o) && host->ports[o].ibdev == host->ports[p].ibdev)
			return false;
	return true;
}

/* "mlx5_0,mlx5_1": the devices of the selected ports. */
static char *device_list(const struct rd_port_views *views)
{
	const struct rd_host *host = views->host;
	_cleanup_buf_ struct rd_buf list = { 0 };

	rd_buf_str(&list, "");
	for (size_t p = 0; p < host->n_ports; p++)
		if (rd_env_wants(views, p) && is_first_of_device(views, p))
			rd_buf_printf(&list, "%s%s", list.len ? "," : "", host->ibdevs[host->ports[p].ibdev].name);
	return RD_TAKE(list.data);
}

/* The port number of all selected ports; 0: they differ. */
static unsigned common_port(const struct rd_port_views *views)
{
	const struct rd_host *host = views->host;
	unsigned common = 0;

	for (size_t p = 0; p < host->n_ports; p++) {
		if (!rd_env_wants(views, p))
			continue;
		if (common && common != host->ports[p].num)
			return 0;
		common = host->ports[p].num;
	}
	return common;
}

/* libfabric compares prefixes: mlx5_1 also matches mlx5_10. */
static bool matches_others(const struct rd_port_views *views)
{
	const struct rd_host *host = views->host;
	for (size_t p = 0; p < host->n_ports; p++) {
		const char *name = host->ibdevs[host->ports[p].ibdev].name;

		for (size_t o = 0; name && !rd_env_wants(views, p) && o < host->n_ports; o++) {
			const char *wanted = host->ibdevs[host->ports[o].ibdev].name;

			if (rd_env_wants(views, o) && host->ports[o].ibdev != host->ports[p].ibdev &&
			    strncasecmp(name, wanted, strlen(wanted)) == 0)
				return true;
		}
	}
	return false;
}

/* The network interfaces of the selected ports; libfabric prefers an exact name match. "" if one port has no interface or no
 * address: libfabric then skips the device without trying its GIDs. */
static char *interface_list(const struct rd_port_views *views)
{
	const struct rd_host *host = views->host;
	_cleanup_buf_ struct rd_buf list = { 0 };

	rd_buf_str(&list, "");
	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];

		if (!rd_env_wants(views, p))
			continue;
		if (port->n_netdevs == 0 || host->netdevs[port->netdevs[0]].n_addrs == 0)
			return rd_dup("");
		rd_buf_printf(&list, "%s%s", list.len ? "," : "", host->netdevs[port->netdevs[0]].name);
	}
	return RD_TAKE(list.data);
}

static void add_libfabric(const struct rd_port_views *views, struct rd_env *env)
{
	_cleanup_free_ char *interfaces = NULL;

	if (!matches_others(views)) {
		add_var(env, "libfabric", "FI_VERBS_DEVICE_NAME", device_list(views));
		return;
	}
	interfaces = interface_list(views);
	if (*interfaces)
		add_var(env, "libfabric", "FI_VERBS_IFACE", RD_TAKE(interfaces));
}

void rd_stack_env_fill(struct rd_nicmap *map)
{
	const struct rd_port_views *views = &map->ports;
	struct rd_env *env = &map->env;
	unsigned port = common_port(views);
	int gid_index = rd_env_gid_index(views);

	/* No port is selected. */
	if (env->n == 0)
		return;
	add_var(env, "mooncake", "MC_TE_FILTERS", device_list(views));
	if (gid_index >= 0)
		add_var(env, "mooncake", "MC_GID_INDEX", rd_text("%d", gid_index));
	if (port > 1)
		add_var(env, "mooncake", "MC_IB_PORT", rd_text("%u", port));
	add_libfabric(views, env);
}

void rd_stack_env_efa(const struct rd_host *host, struct rd_env *ret)
{
	for (size_t p = 0; p < host->n_ports; p++)
		if (rd_ibdev_is_efa(host, host->ports[p].ibdev)) {
			add_var(ret, "libfabric", "FI_PROVIDER", rd_text("efa"));
			return;
		}
}

/* The selected ports that NIXL's UCX backend would use for this accelerator. */
static void add_gpu_note(const struct rd_port_views *views, const struct rd_stack_choice *choice, struct rd_buf *ret)
{
	const struct rd_host *host = views->host;
	size_t n = 0;

	for (size_t i = 0; i < choice->n_first; i++) {
		const struct rd_port *port = &host->ports[choice->ports[i]];

		if (!rd_env_wants(views, (size_t)choice->ports[i]))
			continue;
		if (n++ == 0)
			rd_buf_printf(ret, "for a process on GPU%u (%s) only: UCX_NET_DEVICES=",
				      host->gpus[choice->gpu].index, host->pcis[host->gpus[choice->gpu].pci].addr);
		rd_buf_printf(ret, "%s%s:%u", n > 1 ? "," : "", rd_ibdev_label(host, port->ibdev), port->num);
	}
	if (n > 0)
		rd_buf_str(ret, "\n");
}

void rd_stack_env_notes(const struct rd_nicmap *map, const char *library, struct rd_buf *ret)
{
	const struct rd_stack *ucx = &map->stacks.v[RD_STACK_UCX];

	if (strcmp(library, "mooncake") == 0) {
		rd_buf_str(
			ret,
			"Mooncake 0.3.12 and later read MC_TE_FILTERS when they detect the topology; a device list given to the API or in a "
			"configuration file applies in addition\n");
		if (common_port(&map->ports) == 0)
			rd_buf_str(
				ret,
				"Mooncake opens the same port number on all devices: MC_IB_PORT cannot select these ports\n");
	} else if (strcmp(library, "nixl") == 0) {
		rd_buf_str(ret, "the device_list parameter of NIXL's UCX backend overrides UCX_NET_DEVICES\n");
		rd_buf_str(ret, "the list contains no network interface, so UCX fails instead of using TCP\n");
		for (size_t i = 0; i < ucx->n; i++)
			if (ucx->v[i].gpu >= 0)
				add_gpu_note(&map->ports, &ucx->v[i], ret);
	} else if (strcmp(library, "libfabric") == 0) {
		rd_buf_str(
			ret,
			"FI_PROVIDER=verbs prevents a fallback to TCP; NIXL's LIBFABRIC backend does not support verbs "
			"and fails to start with it\n");
	}
}
