/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/rdma/qp-ports.h"

#include <stdlib.h>
#include <string.h>

void rd_qp_ports_deinit(struct rd_qp_ports *ports)
{
	RD_FREE(ports->v, ports->gids);
	*ports = (struct rd_qp_ports){ 0 };
}

const struct rd_qp_port *rd_qp_ports_find(const struct rd_qp_ports *ports, int dev, uint32_t num)
{
	size_t low = 0, high = ports->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct rd_qp_port *port = &ports->v[middle];

		if (port->dev == dev && port->num == num)
			return port;
		if (port->dev < dev || (port->dev == dev && port->num < num))
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static int compare_gids(const void *a, const void *b)
{
	const struct rd_qp_gid *x = a, *y = b;

	return RD_FIRST(memcmp(x->raw, y->raw, sizeof(x->raw)), RD_CMP(x->dev, y->dev), RD_CMP(x->port, y->port));
}

void rd_qp_ports_sort(struct rd_qp_ports *ports)
{
	if (ports->n_gids)
		qsort(ports->gids, ports->n_gids, sizeof(*ports->gids), compare_gids);
}

/* Index of the first GID that is not before `gid` or, with `after`, that is behind it. */
static size_t bound_of(const struct rd_qp_ports *ports, const uint8_t gid[16], bool after)
{
	size_t low = 0, high = ports->n_gids;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = memcmp(ports->gids[middle].raw, gid, 16);

		if (order < 0 || (after && order == 0))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct rd_qp_gid *rd_qp_ports_gids(const struct rd_qp_ports *ports, const uint8_t gid[16], size_t *n)
{
	size_t first = bound_of(ports, gid, false);

	*n = bound_of(ports, gid, true) - first;
	return *n ? &ports->gids[first] : NULL;
}

bool rd_qp_ports_have(const struct rd_qp_ports *ports, const uint8_t gid[16], int dev, uint32_t port)
{
	struct rd_qp_gid key = { .dev = dev, .port = port };

	memcpy(key.raw, gid, 16);
	return ports->n_gids && bsearch(&key, ports->gids, ports->n_gids, sizeof(key), compare_gids);
}
