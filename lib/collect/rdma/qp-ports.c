/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What queue pairs run over, and what their device counted. */
#include "collect/rdma/rdma.h"

#include <limits.h>
#include <net/if.h>

#include "collect/host/host.h"

#define PORTS_MAX 4096 /* in all; a host has a few */
#define GIDS_MAX 4096  /* entries of a table */
#define GIDS_EMPTY 16

/* Whose index was read last. */
struct interface {
	char name[IF_NAMESIZE];
	unsigned index;
};

static void read_interface(const struct rd_sysfs *fs, const char *name, struct rd_qp_port *port)
{
	int64_t value;

	if (rd_sysfs_int(fs, &value, "/sys/class/net/%s/flags", name) == RD_OK)
		RD_SET(port->admin_up, (value & IFF_UP) != 0);
	/* Reading this fails while the interface is down. */
	if (rd_sysfs_int(fs, &value, "/sys/class/net/%s/carrier", name) == RD_OK)
		RD_SET(port->carrier, value != 0);
	if (rd_sysfs_int(fs, &value, "/sys/class/net/%s/mtu", name) == RD_OK && value > 0 && value <= UINT32_MAX)
		RD_SET(port->mtu, (uint32_t)value);
}

/* 0: unknown. Entries of one interface are mostly adjacent. */
static unsigned index_of(const struct rd_sysfs *fs, const char *netdev, struct interface *last)
{
	int64_t value;

	if (!netdev || strlen(netdev) >= sizeof(last->name) || strchr(netdev, '/'))
		return 0;
	if (strcmp(netdev, last->name) != 0) {
		strcpy(last->name, netdev);
		last->index = rd_sysfs_int(fs, &value, "/sys/class/net/%s/ifindex", netdev) == RD_OK && value > 0 &&
					      value <= INT_MAX ?
				      (unsigned)value :
				      0;
	}
	return last->index;
}

static void add_interface(struct rd_qp_port *port, unsigned index)
{
	for (unsigned i = 0; i < port->n_ifs && i < RD_QP_PORT_IFS; i++)
		if (port->ifs[i] == index)
			return;
	if (index && port->n_ifs < RD_QP_PORT_IFS)
		port->ifs[port->n_ifs] = index;
	if (index && port->n_ifs <= RD_QP_PORT_IFS)
		port->n_ifs++;
}

enum entry { ENTRY_UNREAD, ENTRY_EMPTY, ENTRY_GID };

static enum entry read_gid(const struct rd_sysfs *fs, const char *dir, unsigned index, struct rd_qp_port *port,
			   struct interface *last, struct rd_qp_ports *ret)
{
	struct rd_qp_gid *new;
	struct rd_gid gid;
	bool is_empty;

	if (rd_collect_gid(fs, dir, NULL, index, &is_empty, &gid) != RD_OK)
		return is_empty ? ENTRY_EMPTY : ENTRY_UNREAD;
	new = RD_ADD(ret->gids, ret->n_gids, ret->cap_gids);
	*new = (struct rd_qp_gid){ .dev = port->dev, .port = port->num, .here = gid.netdev != NULL };
	new->ifindex = index_of(fs, gid.netdev, last);
	add_interface(port, new->ifindex);
	memcpy(new->raw, gid.raw, sizeof(new->raw));
	free(gid.netdev);
	return ENTRY_GID;
}

static void read_gids(const struct rd_sysfs *fs, const char *ibdev, bool all, struct rd_qp_port *port,
		      struct rd_qp_ports *ret)
{
	_cleanup_texts_ struct rd_texts names = { 0 };
	struct interface last = { 0 };
	size_t index = 0, entries = 0; /* A table may have a thousand: counted only where one cannot be read. */
	unsigned empty = 0;
	bool unread = false;
	char dir[256];

	snprintf(dir, sizeof(dir), "/sys/class/infiniband/%s/ports/%u", ibdev, port->num);
	for (; index < GIDS_MAX && (all || empty < GIDS_EMPTY); index++) {
		enum entry entry = read_gid(fs, dir, (unsigned)index, port, &last, ret);

		if (entry == ENTRY_UNREAD && !entries && rd_sysfs_list(fs, &names, "%s/gids", dir) >= 0)
			entries = names.n;
		if (entry == ENTRY_UNREAD && index >= entries)
			break;
		unread |= entry == ENTRY_UNREAD;
		empty = entry == ENTRY_GID ? 0 : empty + 1;
		if (entry == ENTRY_EMPTY && index < 8 * sizeof(port->gids_empty))
			port->gids_empty[index / 8] |= (uint8_t)(1u << index % 8);
	}
	port->gids_complete = entries > 0 && index == entries && !unread;
}

void rd_collect_qp_ports(struct rd_source *src, const struct rd_res *res, bool all_gids, struct rd_qp_ports *ret)
{
	const struct rd_sysfs fs = { .src = src };

	for (size_t i = 0; i < res->n_ports && i < PORTS_MAX; i++) {
		const struct rd_res_port *from = &res->ports[i];
		struct rd_qp_port *port;

		/* The kernel lists them in this order; the search depends on it. */
		if (ret->n && (ret->v[ret->n - 1].dev > from->dev ||
			       (ret->v[ret->n - 1].dev == from->dev && ret->v[ret->n - 1].num >= from->num)))
			continue;
		port = RD_ADD(ret->v, ret->n, ret->cap);
		*port = (struct rd_qp_port){ .dev = from->dev, .num = from->num, .at = i };
		if (from->netdev && !strchr(from->netdev, '/'))
			read_interface(&fs, from->netdev, port);
		read_gids(&fs, res->devs[from->dev].name, all_gids, port, ret);
	}
	rd_qp_ports_sort(ret);
}

void rd_collect_qp_rates(struct rd_source *src, const struct rd_res *res, struct rd_qp_ports *ports)
{
	const struct rd_sysfs fs = { .src = src };

	for (size_t i = 0; i < ports->n; i++) {
		struct rd_qp_port *port = &ports->v[i];
		/* "400 Gb/sec (4X NDR)" */
		_cleanup_free_ char *text = rd_sysfs_text(&fs, NULL, "/sys/class/infiniband/%s/ports/%u/rate",
							  res->devs[port->dev].name, port->num);
		const char *at = text;
		double gbps;

		if (text && rd_take_real(&at, &gbps) == 0 && gbps > 0 && gbps < 1e6)
			RD_SET(port->rate_gbps, gbps);
	}
}

double rd_collect_dev_bytes(struct rd_source *src, const struct rd_res *res, int dev)
{
	static const char counter[] = "/sys/class/infiniband/%s/ports/%u/counters/port_%s_data";
	static const char statistic[] = "/sys/class/net/%s/statistics/%s_bytes";
	const char *ibdev = res->devs[dev].name;
	const struct rd_sysfs fs = { .src = src };
	int64_t sent, got;
	double ret = 0;

	for (size_t i = 0; i < res->n_ports; i++) {
		const struct rd_res_port *port = &res->ports[i];
		bool counted;

		if (port->dev != dev)
			continue;
		counted = rd_sysfs_int(&fs, &sent, counter, ibdev, port->num, "xmit") == RD_OK &&
			  rd_sysfs_int(&fs, &got, counter, ibdev, port->num, "rcv") == RD_OK;
		/* In units of four; those of 32 bits stay at their maximum. */
		if (counted ? sent == UINT32_MAX || got == UINT32_MAX :
			      !port->netdev || rd_sysfs_int(&fs, &sent, statistic, port->netdev, "tx") != RD_OK ||
				      rd_sysfs_int(&fs, &got, statistic, port->netdev, "rx") != RD_OK)
			return -1;
		ret += (counted ? 4 : 1) * ((double)sent + (double)got);
	}
	return ret;
}

#define PORTS_COUNTED 8 /* ports to read per NIC */

static void count_port(struct rd_source *src, const char *ibdev, unsigned port, const struct rd_qp_counters *counters,
		       struct rd_qp_counts *ret)
{
	bool counted[RD_QPC_N] = { false };

	for (size_t i = 0; i < counters->n; i++) {
		enum rd_qp_count what = counters->v[i].what;
		/* Counters of packets and links are in hw_counters or, as InfiniBand defines them, in counters. */
		bool standard = what == RD_QPC_SENT || what == RD_QPC_GOT || what == RD_QPC_LINK_DOWNED;
		static const char *const dirs[] = { "hw_counters", "counters" };
		_cleanup_free_ char *text = NULL, *name = rd_dup(counters->v[i].name);
		const char *at;
		uint64_t value;

		for (char *blank = name; (blank = strchr(blank, '?'));)
			*blank = ' ';
		for (size_t d = 0; d < (standard ? 2 : 1) && !counted[what] && !text; d++)
			rd_read_textf(src, &text, NULL, "/sys/class/infiniband/%s/ports/%u/%s/%s", ibdev, port, dirs[d],
				      name);
		at = text;
		/* Those of 32 bits stay at their maximum. */
		if (!text || rd_take_uint(&at, RD_DECIMAL, UINT64_MAX, &value) < 0 || (standard && value == UINT32_MAX))
			continue;
		counted[what] = true;
		ret->v[what].v += value;
		ret->v[what].known = RD_OK;
	}
}

void rd_collect_qp_counts(struct rd_source *src, const char *ibdev, unsigned n_ports,
			  const struct rd_qp_counters *counters, struct rd_qp_counts *ret)
{
	*ret = (struct rd_qp_counts){ 0 };
	for (unsigned port = 1; port <= n_ports && port <= PORTS_COUNTED; port++)
		count_port(src, ibdev, port, counters, ret);
}
