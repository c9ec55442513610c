/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/shared/gid.h"

const char *rd_gid_fault(const struct rd_host *host, const struct rd_port *port, const struct rd_gid *gid)
{
	if (!rd_port_is_roce(host, port))
		return NULL;
	if (gid->type == RD_GID_ROCE_V1)
		return "RoCE v1: not routable, and most networks are configured for v2";
	/* Trees without any interface have no information about namespaces. */
	if (host->n_netdevs > 0 && rd_host_find_netdev(host, gid->netdev) < 0)
		return "interface is in another network namespace";
	if (gid->type == RD_GID_UNKNOWN)
		return "GID type not reported by the driver";
	if (rd_gid_is_link_local(gid))
		return "link-local: not routable";
	return NULL;
}

static void choose_gid(const struct rd_host *host, const struct rd_port *port, struct rd_port_view *view)
{
	const char *fault = NULL;
	int global = -1;

	view->gid = -1;
	if (port->n_gids == 0) {
		view->gid_why = "GID table is empty or missing";
		return;
	}
	if (!rd_port_is_roce(host, port) || rd_ibdev_is_gaudi(host, port->ibdev)) {
		view->gid = port->gids[0].index == 0 ? 0 : -1;
		view->gid_why = host->ibdevs[port->ibdev].iwarp	     ? "iWARP: the device's own address" :
				rd_ibdev_is_efa(host, port->ibdev)   ? "EFA: the device's own address" :
				rd_ibdev_is_gaudi(host, port->ibdev) ? "Gaudi: addressed by MAC, link-local by design" :
								       "InfiniBand: the port's own GID";
		return;
	}
	for (size_t i = 0; i < port->n_gids; i++) {
		const char *why = rd_gid_fault(host, port, &port->gids[i]);

		if (!why && rd_gid_is_v4(&port->gids[i])) {
			view->gid = (int)i;
			view->gid_why = "RoCE v2, IPv4, on an interface of this network namespace";
			return;
		}
		if (!why && global < 0)
			global = (int)i;
		/* The fault of a RoCE v2 GID is more useful than "RoCE v1". */
		if (why && (!fault || port->gids[i].type != RD_GID_ROCE_V1))
			fault = why;
	}
	view->gid = global;
	view->gid_why = global < 0 ? fault : "RoCE v2, global IPv6, on an interface of this network namespace";
}

void rd_gid_choose(struct rd_port_views *views)
{
	for (size_t p = 0; p < views->n; p++) {
		const struct rd_port *port = &views->host->ports[p];
		int index = rd_gid_nccl(port, false, 2, NULL);

		choose_gid(views->host, port, &views->v[p]);
		views->v[p].gid_nccl = -1;
		for (size_t i = 0; index >= 0 && i < port->n_gids; i++)
			if (port->gids[i].index == (unsigned)index)
				views->v[p].gid_nccl = (int)i;
	}
}

const struct rd_gid *rd_gid_at(const struct rd_port *port, long index)
{
	for (size_t i = 0; i < port->n_gids; i++)
		if (port->gids[i].index == index)
			return &port->gids[i];
	return NULL;
}

static int version_of(const struct rd_gid *gid)
{
	return !gid || gid->type == RD_GID_UNKNOWN ? -1 : gid->type == RD_GID_ROCE_V2 ? 2 : 1;
}

/* Neither empty nor link-local. */
static bool is_valid(const struct rd_gid *gid)
{
	return gid && !rd_gid_is_link_local(gid);
}

static bool is_within(const struct rd_gid_range *range, bool v6, const struct rd_gid *gid)
{
	int bits = range ? range->bits : 0;

	for (size_t i = v6 ? 0 : 12; bits > 0 && i < sizeof(gid->raw); i++, bits -= 8) {
		uint8_t mask = bits >= 8 ? 0xff : (uint8_t)(0xff << (8 - bits));

		if ((gid->raw[i] ^ range->prefix[i]) & mask)
			return false;
	}
	return true;
}

int rd_gid_nccl(const struct rd_port *port, bool v6, int roce_version, const struct rd_gid_range *range)
{
	const struct rd_gid *current = rd_gid_at(port, 0);
	int index = 0;

	if (port->n_gids == 0)
		return -1;
	if (!rd_port_is_ethernet(port))
		return 0;
	for (size_t i = 0; i < port->n_gids; i++) {
		const struct rd_gid *gid = &port->gids[i];
		bool family = rd_gid_is_v4(gid) == !v6;
		bool current_family = current && rd_gid_is_v4(current) == !v6;
		int version = version_of(gid);

		if (gid->index == 0 || !family || !is_within(range, v6, gid))
			continue;
		/* NCCL counts an empty GID as IPv6. */
		if (!current_family && !(v6 && !current)) {
			current = gid;
		} else if (is_valid(gid) && version == roce_version &&
			   (version_of(current) != version || !is_valid(current))) {
			current = gid;
		} else {
			continue;
		}
		index = (int)gid->index;
	}
	return index;
}
