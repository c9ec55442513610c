/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/env.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "analyse/nvshmem.h"
#include "analyse/text.h"
#include "base/buf.h"

static int add(struct rd_env *env, const char *library, const char *name, char *value)
{
	if (!value || rd_grow(&env->v, &env->cap, env->n + 1, sizeof(*env->v)) < 0) {
		free(value);
		return -ENOMEM;
	}
	env->v[env->n++] = (struct rd_env_var){ .library = library, .name = name, .value = value };
	return 0;
}

static bool is_wanted(const struct rd_host *host, size_t p)
{
	return host->ports[p].role == RD_ROLE_COMPUTE && rd_port_active(&host->ports[p]) && host->ports[p].num > 0 &&
	       host->ibdevs[host->ports[p].ibdev].name;
}

/* "mlx5_0:1,mlx5_1:1" behind `prefix`; "" if there is no such port. */
static char *port_list(const struct rd_host *host, const char *prefix)
{
	_cleanup_buf_ struct rd_buf list = { 0 };

	rd_buf_str(&list, prefix);
	for (size_t p = 0, n = 0; p < host->n_ports; p++)
		if (is_wanted(host, p))
			rd_buf_printf(&list, "%s%s:%u", n++ > 0 ? "," : "", host->ibdevs[host->ports[p].ibdev].name,
				      host->ports[p].num);
	return list.failed ? NULL : RD_TAKE(list.data);
}

/* The index that all of them have; -1 if they differ, or are not RoCE. */
static int common_gid_index(const struct rd_host *host)
{
	int index = -1;

	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];
		int own;

		if (!is_wanted(host, p))
			continue;
		own = rd_port_is_ethernet(port) && port->gid >= 0 ? (int)port->gids[port->gid].index : -1;
		if (own < 0 || (index >= 0 && own != index))
			return -1;
		index = own;
	}
	return index;
}

const char *rd_env_front_end(const struct rd_host *host)
{
	for (size_t i = 0; i < host->n_netdevs; i++)
		if (host->netdevs[i].default_route)
			return host->netdevs[i].name;
	return NULL;
}

/* Process k takes the k-th device, counted in the order of devices and as often as the mapping says: that can be said
 * only where accelerators and NICs are in the same order. */
static int nvshmem_mapping(const struct rd_host *host, const struct rd_choices *choices, struct rd_env *env)
{
	_cleanup_buf_ struct rd_buf mapping = { 0 };
	int last = -1;
	unsigned count = 0;

	for (size_t i = 0; i <= choices->n; i++) {
		int port = i < choices->n && choices->v[i].n_ports > 0 ? choices->v[i].ports[0] : -1;

		if (i < choices->n && (port < last || port < 0))
			return 0;
		if (port != last && last >= 0) {
			rd_buf_printf(&mapping, "%s%s:%u:%u", mapping.len ? "," : "",
				      rd_ibdev_label(host, host->ports[last].ibdev), host->ports[last].num, count);
			count = 0;
		}
		last = port;
		count++;
	}
	if (!mapping.len && !mapping.failed)
		return 0;
	if (mapping.failed || add(env, "nvshmem", "NVSHMEM_ENABLE_NIC_PE_MAPPING", rd_text("1")) < 0)
		return -ENOMEM;
	return add(env, "nvshmem", "NVSHMEM_HCA_PE_MAPPING", RD_TAKE(mapping.data));
}

static int nvshmem(const struct rd_host *host, const struct rd_nicmap *map, int gid_index, struct rd_env *env)
{
	_cleanup_free_ bool *allowed = calloc(host->n_ports + 1, sizeof(*allowed));
	struct rd_choices choices = { 0 };
	const char *name = NULL;
	size_t before = env->n;
	int r;

	if (!allowed)
		return -ENOMEM;
	for (size_t p = 0; p < host->n_ports; p++) {
		allowed[p] = is_wanted(host, p);
		if (allowed[p])
			name = host->ibdevs[host->ports[p].ibdev].name;
	}
	r = rd_nvshmem_choose(host, map, 0, allowed, &choices);
	if (!r)
		r = nvshmem_mapping(host, &choices, env);
	rd_choices_deinit(&choices);
	if (!r && env->n == before)
		r = add(env, "nvshmem", "NVSHMEM_HCA_LIST", port_list(host, ""));
	if (!r && strncmp(name, "mlx5", 4) != 0) {
		size_t n = 0;

		while (isalpha((unsigned char)name[n]))
			n++;
		r = add(env, "nvshmem", "NVSHMEM_HCA_PREFIX", rd_text("%.*s", (int)n, name));
	}
	if (!r && gid_index >= 0)
		r = add(env, "nvshmem", "NVSHMEM_IB_GID_INDEX", rd_text("%d", gid_index));
	return r;
}

int rd_env_fill(const struct rd_host *host, const struct rd_nicmap *map, struct rd_env *ret)
{
	_cleanup_free_ char *list = port_list(host, "");
	const char *front = rd_env_front_end(host);
	int gid_index = common_gid_index(host), r;

	if (!list)
		return -ENOMEM;
	if (!*list)
		return 0;
	r = add(ret, "nccl", "NCCL_IB_HCA", rd_text("=%s", list));
	if (!r && gid_index >= 0)
		r = add(ret, "nccl", "NCCL_IB_GID_INDEX", rd_text("%d", gid_index));
	if (!r && front)
		r = add(ret, "nccl", "NCCL_SOCKET_IFNAME", rd_text("=%s", front));
	if (!r && front)
		r = add(ret, "nccl", "GLOO_SOCKET_IFNAME", rd_text("%s", front));
	if (!r)
		r = nvshmem(host, map, gid_index, ret);
	if (!r)
		r = add(ret, "ucx", "UCX_NET_DEVICES", rd_text("%s", list));
	if (!r && gid_index >= 0)
		r = add(ret, "ucx", "UCX_IB_GID_INDEX", rd_text("%d", gid_index));
	return r;
}
