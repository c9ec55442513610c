/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/nicmap/port-view.h"

#include "base/memory.h"
#include "base/text.h"

const char *rd_role_name(enum rd_role role)
{
	static const char *const names[] = {
		[RD_ROLE_COMPUTE] = "compute",
		[RD_ROLE_STORAGE] = "storage",
		[RD_ROLE_MANAGEMENT] = "management",
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

	if (view->role != RD_ROLE_UNKNOWN)
		return false;
	return view->spare || dev->parent_netdev || (dev->pci >= 0 && views->host->pcis[dev->pci].pf >= 0);
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
	return rd_text("index %u (%s%s%s)", gid->index, ip, type ? ", " : "", type ? type : "");
}
