/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/nicmap/backup.h"

#include "analyse/nicmap/role.h"
#include "analyse/shared/distance.h"
#include "base/text.h"

static bool in_choice(const struct rd_choice *choice, int port)
{
	for (size_t i = 0; i < choice->n_ports; i++)
		if (choice->ports[i] == port)
			return true;
	return false;
}

static bool is_usable_backup(const struct rd_host *host, const struct rd_choice *choice, size_t port)
{
	const struct rd_port *p = &host->ports[port];

	return (rd_port_active(p) || (host->from_topology_file && !p->state)) && !in_choice(choice, (int)port);
}

static int other_port_of_card(const struct rd_host *host, const struct rd_choice *choice)
{
	int own = host->ports[choice->ports[0]].ibdev;

	for (size_t p = 0; p < host->n_ports; p++)
		if (is_usable_backup(host, choice, p) && rd_same_card(host, own, host->ports[p].ibdev))
			return (int)p;
	return -1;
}

static int compute_neighbour(const struct rd_port_views *views, const struct rd_choice *choice)
{
	const struct rd_host *host = views->host;
	enum rd_role role = views->v[choice->ports[0]].role;
	size_t own = 0, n = 0, wanted;

	for (size_t p = 0; p < host->n_ports; p++) {
		if (views->v[p].role != role)
			continue;
		if ((int)p == choice->ports[0])
			own = n;
		n++;
	}
	wanted = own % 2 ? own - 1 : own + 1;
	n = 0;
	for (size_t p = 0; p < host->n_ports; p++) {
		if (views->v[p].role != role)
			continue;
		if (n++ == wanted)
			return is_usable_backup(host, choice, p) ? (int)p : -1;
	}
	return -1;
}

/* The nearest usable port, those of the same role first. */
static int nearest_port(const struct rd_host *host, const struct rd_nicmap *map, const struct rd_choice *choice)
{
	enum rd_role role = map->ports.v[choice->ports[0]].role;
	int best = -1, best_rank = 0;

	for (size_t p = 0; p < host->n_ports; p++) {
		enum rd_path path = rd_nicmap_pair(map, (size_t)choice->gpu, (size_t)host->ports[p].ibdev)->path;
		int rank =
			(path == RD_PATH_UNKNOWN ? RD_PATH_SYS + 1 : (int)path) + (map->ports.v[p].role != role) * 16;

		if (is_usable_backup(host, choice, p) && (best < 0 || rank < best_rank)) {
			best = (int)p;
			best_rank = rank;
		}
	}
	return best;
}

static char *describe_shared(const struct rd_host *host, const char *what, int a, int b)
{
	int da = host->ports[a].ibdev, db = host->ports[b].ibdev, pa = host->ibdevs[da].pci, pb = host->ibdevs[db].pci;
	_cleanup_free_ int *bridges = NULL;
	size_t n = 0, top = 0;
	const char *why = NULL;
	enum rd_path path;

	if (rd_same_card(host, da, db))
		return rd_text("%s; both are on one card", what);
	path = pa >= 0 && pb >= 0 ? rd_distance_pci(host, pa, pb, &why) : RD_PATH_UNKNOWN;
	if (path == RD_PATH_PIX || path == RD_PATH_PXB) {
		rd_distance_bridges(host, pa, pb, &bridges, &n, &top);
		return rd_text("%s; both are below the switch at %s", what,
			       top > 0 ? host->pcis[bridges[top - 1]].addr : "?");
	}
	if (path == RD_PATH_UNKNOWN)
		return rd_text("%s; unknown what the two share", what);
	if (path == RD_PATH_SYS)
		return rd_text("%s; the two share only the host", what);
	return rd_text("%s; both are on one socket (NUMA node %d)", what, rd_ibdev_numa(host, da));
}

/* The neighbour in the order of all devices that the library sees, whatever their role: even + 1, odd - 1. */
static int device_neighbour(const struct rd_host *host, const struct rd_choice *choice)
{
	int first = choice->ports[0], before = -1;
	size_t n = 0;

	for (size_t p = 0; p < host->n_ports; p++) {
		if (!is_usable_backup(host, choice, p) && (int)p != first)
			continue;
		if (before == first && n % 2 == 1)
			return (int)p;
		if ((int)p == first && n % 2 == 1)
			return before;
		before = (int)p;
		n++;
	}
	return -1;
}

void rd_backup_of_nvshmem(const struct rd_host *host, struct rd_choices *choices)
{
	for (size_t i = 0; i < choices->n; i++) {
		struct rd_choice *choice = &choices->v[i];

		choice->library_backup = -1;
		if (choice->n_ports == 0)
			continue;
		choice->library_backup = other_port_of_card(host, choice);
		choice->library_backup_why = "other port of the card";
		if (choice->library_backup >= 0)
			continue;
		choice->library_backup = device_neighbour(host, choice);
		choice->library_backup_why = choice->library_backup < 0 ?
						     "no device is paired with it in the device order" :
						     "the device paired with it in the device order";
	}
}

void rd_backup_of_nccl(const struct rd_nccl_nets *nets, struct rd_choices *choices)
{
	for (size_t i = 0; i < choices->n; i++) {
		struct rd_choice *choice = &choices->v[i];

		choice->library_backup = -1;
		for (size_t n = 0; choice->n_ports > 0 && n < nets->n; n++)
			if (nets->v[n].ports[0] == choice->ports[0] && nets->v[n].n_ports > 1)
				choice->library_backup = nets->v[n].ports[1];
		choice->library_backup_why =
			choice->library_backup < 0 ?
				"none: NCCL fails over only between the ports of a merged NIC" :
				"the other port of the merged NIC, with NCCL_IB_RESILIENCY_PORT_FAILOVER=1";
	}
}

void rd_backup_fill(const struct rd_host *host, const struct rd_nicmap *map, struct rd_choices *choices)
{
	for (size_t i = 0; i < choices->n; i++) {
		struct rd_choice *choice = &choices->v[i];
		const char *what = "other port of the card";

		if (choice->n_ports == 0)
			continue;
		choice->backup = other_port_of_card(host, choice);
		if (choice->backup < 0) {
			choice->backup = compute_neighbour(&map->ports, choice);
			what = "neighbour";
		}
		if (choice->backup < 0) {
			choice->backup = nearest_port(host, map, choice);
			what = "nearest active port";
		}
		if (choice->backup < 0)
			continue;
		choice->backup_why = describe_shared(host, what, choice->ports[0], choice->backup);
	}
}
