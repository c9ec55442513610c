/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/env/envcheck.h"

#include <ctype.h>

/* That of Alibaba, erdma, has a mode without rdma_cm. */
static bool needs_rdmacm(const struct rd_host *host, int ibdev)
{
	const struct rd_ibdev *dev = &host->ibdevs[ibdev];

	return dev->iwarp && !(dev->driver && strcmp(dev->driver, "erdma") == 0);
}

/* Devices that the libraries of these variables do not use. */
static const struct foreign {
	bool (*is)(const struct rd_host *host, int ibdev);
	const char *why, *hint;
} foreign[] = {
	{ rd_ibdev_is_efa, "these variables do not apply to EFA: libraries use it through libfabric (aws-ofi-nccl)",
	  "NCCL_DEBUG=INFO logs \"Selected Provider is efa\"; if it does not, NCCL found no libnccl-net*.so" },
	{ rd_ibdev_is_gaudi, "these variables do not apply to Gaudi ports: HCCL finds them itself",
	  "rdmadiag nic-map -o +role_reason,state" },
	{ needs_rdmacm, "NCCL, NVSHMEM and UCX do not use iWARP or usNIC",
	  "use TCP (NCCL_IB_DISABLE=1); ice can provide RoCE v2 instead of iWARP: devlink parameters enable_iwarp, enable_roce" },
};

static const struct foreign *foreign_of(const struct rd_host *host, int ibdev)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(foreign); i++)
		if (foreign[i].is(host, ibdev))
			return &foreign[i];
	return NULL;
}

/* A program that used it would fail, where it could use another. */
static bool lacks_gid(const struct rd_port_views *views, size_t p)
{
	const struct rd_port *port = &views->host->ports[p];

	for (size_t g = 0; g < port->n_gids; g++)
		if (!rd_gid_is_link_local(&port->gids[g]))
			return false;
	return views->some_gid && rd_port_is_roce(views->host, port) && port->gids_known && views->v[p].gid < 0;
}

bool rd_env_wants(const struct rd_port_views *views, size_t p)
{
	const struct rd_host *host = views->host;
	const struct rd_port *port = &host->ports[p];

	return views->v[p].role == RD_ROLE_COMPUTE && rd_port_active(port) && port->num > 0 &&
	       host->ibdevs[port->ibdev].name && !foreign_of(host, port->ibdev) && !lacks_gid(views, p);
}

/* "mlx5_0/1 and 7 more" */
static bool set_refusal(const struct rd_host *host, int first, size_t n, struct rd_err *err, const char *why)
{
	_cleanup_free_ char *object = NULL;
	struct rd_port_name label = { "--env" };

	if (first >= 0)
		label = rd_port_label(host, &host->ports[first]);
	object = first >= 0 && n > 1 ? rd_text("%s and %zu more", label.text, n - 1) : rd_dup(label.text);
	rd_err_set(err, ENODEV, object, "%s", why);
	rd_err_hint(err,
		    "rdmadiag nic-map -o +role_reason,state; then name the NICs yourself: NCCL_IB_HCA==NAME:PORT,...");
	return true;
}

bool rd_env_refused(const struct rd_port_views *views, struct rd_err *err)
{
	const struct rd_host *host = views->host;
	size_t unsure = 0, compute = 0, ib = 0, wanted = 0;
	int first_unsure = -1, first_compute = -1;
	const struct foreign *other = NULL;
	char why[200];

	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];

		wanted += rd_env_wants(views, p);
		ib += rd_env_wants(views, p) && rd_port_is_ib(port);
		if (!other && views->v[p].role == RD_ROLE_COMPUTE)
			other = foreign_of(host, port->ibdev);
		if (views->v[p].role == RD_ROLE_UNKNOWN && rd_port_active(port) && !rd_port_is_aside(views, p)) {
			first_unsure = unsure++ ? first_unsure : (int)p;
		} else if (views->v[p].role == RD_ROLE_COMPUTE) {
			first_compute = compute++ ? first_compute : (int)p;
		}
	}
	if (wanted == 0 && other) {
		set_refusal(host, first_compute, compute, err, other->why);
		rd_err_hint(err, "%s", other->hint);
		return true;
	}
	if (unsure > 0) {
		snprintf(why, sizeof(why), "cannot determine its role: %s",
			 views->v[first_unsure].role_why ?: "unknown");
		return set_refusal(host, first_unsure, unsure, err, why);
	}
	if (wanted > 0 && ib > 0 && ib < wanted)
		return set_refusal(host, first_compute, compute, err,
				   "compute ports have both link layers: a library uses NICs of only one");
	if (wanted > 0)
		return false;
	if (compute == 0)
		return set_refusal(host, -1, 0, err, "no compute port found");
	return set_refusal(host, first_compute, compute, err,
			   "no compute port is active with a known device name and port number");
}

/* "mlx5_0:1,mlx5_1:1"; "" if there is no selected port. */
static char *port_list(const struct rd_port_views *views)
{
	const struct rd_host *host = views->host;
	_cleanup_buf_ struct rd_buf list = { 0 };

	rd_buf_str(&list, "");
	for (size_t p = 0, n = 0; p < host->n_ports; p++)
		if (rd_env_wants(views, p))
			rd_buf_printf(&list, "%s%s:%u", n++ > 0 ? "," : "", host->ibdevs[host->ports[p].ibdev].name,
				      host->ports[p].num);
	return RD_TAKE(list.data);
}

int rd_env_gid_index(const struct rd_port_views *views)
{
	const struct rd_host *host = views->host;
	int index = -1;

	for (size_t p = 0; p < host->n_ports; p++) {
		int own;

		if (!rd_env_wants(views, p))
			continue;
		own = rd_port_is_ethernet(&host->ports[p]) ? rd_port_gid_index(views, p) : -1;
		if (own < 0 || (index >= 0 && own != index))
			return -1;
		index = own;
	}
	return index;
}

/* The nearest port; among equals the one with the fewest users, then the first; -1 if there is none. */
static int best_port(const struct rd_host *host, const struct rd_nicmap *map, size_t gpu, const unsigned *users)
{
	enum rd_path best_path = RD_PATH_UNKNOWN;
	int best = -1;

	for (size_t p = 0; p < host->n_ports; p++) {
		enum rd_path path = rd_nicmap_pair(map, gpu, (size_t)host->ports[p].ibdev)->path;

		if (!rd_env_wants(&map->ports, p))
			continue;
		if (path == RD_PATH_UNKNOWN)
			path = RD_PATH_SYS;
		if (best >= 0 && (path > best_path || (path == best_path && users[p] >= users[best])))
			continue;
		best = (int)p;
		best_path = path;
	}
	return best;
}

/* PE k takes the k-th entry, in the order of devices, each repeated as many times as the mapping states. This is only possible
 * if accelerators and NICs are in the same order; else "". */
static char *pe_mapping(const struct rd_host *host, const struct rd_nicmap *map)
{
	_cleanup_free_ unsigned *users = rd_alloc(host->n_ports + 1, sizeof(*users));
	_cleanup_buf_ struct rd_buf mapping = { 0 };
	int last = 0;

	rd_buf_str(&mapping, "");
	for (size_t g = 0; g < host->n_gpus; g++) {
		int port = best_port(host, map, g, users);

		if (port < last)
			return rd_dup("");
		last = port;
		users[port]++;
	}
	for (size_t p = 0; p < host->n_ports; p++)
		if (users[p])
			rd_buf_printf(&mapping, "%s%s:%u", mapping.len ? "," : "",
				      rd_port_library_name(host, &host->ports[p]).text, users[p]);
	return RD_TAKE(mapping.data);
}

static void add_nvshmem(const struct rd_host *host, const struct rd_nicmap *map, int gid_index, struct rd_env *env)
{
	_cleanup_free_ char *mapping = pe_mapping(host, map);
	const char *name = NULL;

	rd_env_add(env, "nvshmem", "NVSHMEM_ENABLE_NIC_PE_MAPPING", rd_text("%d", *mapping != '\0'));
	if (*mapping)
		rd_env_add(env, "nvshmem", "NVSHMEM_HCA_PE_MAPPING", RD_TAKE(mapping));
	else
		rd_env_add(env, "nvshmem", "NVSHMEM_HCA_LIST", port_list(&map->ports));
	for (size_t p = 0; p < host->n_ports; p++)
		if (rd_env_wants(&map->ports, p))
			name = host->ibdevs[host->ports[p].ibdev].name;
	if (name && strncmp(name, "mlx5", 4) != 0) {
		size_t n = 0;

		while (isalpha((unsigned char)name[n]))
			n++;
		rd_env_add(env, "nvshmem", "NVSHMEM_HCA_PREFIX", rd_text("%.*s", (int)n, name));
	}
	if (gid_index >= 0)
		rd_env_add(env, "nvshmem", "NVSHMEM_IB_GID_INDEX", rd_text("%d", gid_index));
}

void rd_env_fill(const struct rd_host *host, const struct rd_nicmap *map, struct rd_env *ret)
{
	_cleanup_free_ char *list = port_list(&map->ports);
	const char *front = NULL; /* the interface with the default route: the bond, not its members */
	int gid_index = rd_env_gid_index(&map->ports);

	for (size_t i = 0; i < host->n_netdevs && !front; i++)
		front = host->netdevs[i].default_route ? host->netdevs[i].name : NULL;
	if (!*list || rd_env_refused(&map->ports, NULL))
		return;
	rd_env_add(ret, "nccl", "NCCL_IB_HCA", rd_text("=%s", list));
	if (gid_index >= 0)
		rd_env_add(ret, "nccl", "NCCL_IB_GID_INDEX", rd_text("%d", gid_index));
	if (front)
		rd_env_add(ret, "nccl", "NCCL_SOCKET_IFNAME", rd_text("=%s", front));
	if (front)
		rd_env_add(ret, "nccl", "GLOO_SOCKET_IFNAME", rd_text("%s", front));
	add_nvshmem(host, map, gid_index, ret);
	rd_env_add(ret, "ucx", "UCX_NET_DEVICES", rd_text("%s", list));
	if (gid_index >= 0)
		rd_env_add(ret, "ucx", "UCX_IB_GID_INDEX", rd_text("%d", gid_index));
}
