/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Draws all conclusions about a host: assignments, backups, and findings about both. */
#include "analyse/nicmap/nicmap.h"

#include "analyse/env/envcheck.h"
#include "analyse/shared/distance.h"
#include "analyse/shared/gid.h"
#include "analyse/stacks/stacks.h"

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

static void set_nccl_backups(const struct rd_nccl_nets *nets, struct rd_choices *choices)
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

/* Sets backup and backup_why of each choice, what rdmadiag advises: the other port of a two-port card, else the neighbour in
 * the order of the compute NICs (even + 1, odd - 1), else the nearest active port. */
static void advise_backups(const struct rd_host *host, const struct rd_nicmap *map, struct rd_choices *choices)
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
			enum rd_role role = map->ports.v[choice->ports[0]].role;
			int best = -1, best_rank = 0;

			/* The nearest usable port, those of the same role first. */
			for (size_t p = 0; p < host->n_ports; p++) {
				enum rd_path path =
					rd_nicmap_pair(map, (size_t)choice->gpu, (size_t)host->ports[p].ibdev)->path;
				int rank = (path == RD_PATH_UNKNOWN ? RD_PATH_SYS + 1 : (int)path) +
					   (map->ports.v[p].role != role) * 16;

				if (is_usable_backup(host, choice, p) && (best < 0 || rank < best_rank)) {
					best = (int)p;
					best_rank = rank;
				}
			}
			choice->backup = best;
			what = "nearest active port";
		}
		if (choice->backup < 0)
			continue;
		choice->backup_why = describe_shared(host, what, choice->ports[0], choice->backup);
	}
}

static bool is_used(const struct rd_choices *choices, int ibdev, const struct rd_host *host)
{
	for (size_t i = 0; i < choices->n; i++)
		for (size_t p = 0; p < choices->v[i].n_ports; p++)
			if (host->ports[choices->v[i].ports[p]].ibdev == ibdev)
				return true;
	return false;
}

/* An unused port that is as fast as the shared one, and as near to this accelerator. */
static int idle_equal(const struct rd_host *host, const struct rd_nicmap *map, const struct rd_choices *choices,
		      const struct rd_choice *choice)
{
	const struct rd_port *own = &host->ports[choice->ports[0]];
	enum rd_path path = rd_nicmap_pair(map, (size_t)choice->gpu, (size_t)own->ibdev)->path;

	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];

		if (rd_port_active(port) && port->rate_gbps.v >= own->rate_gbps.v && path != RD_PATH_UNKNOWN &&
		    rd_nicmap_pair(map, (size_t)choice->gpu, (size_t)port->ibdev)->path == path &&
		    !is_used(choices, port->ibdev, host))
			return (int)p;
	}
	return -1;
}

static void judge_shared(const struct rd_host *host, const struct rd_nicmap *map, const char *library,
			 const struct rd_choices *choices, struct rd_findings *ret)
{
	struct rd_finding kind = {
		.id = "nic-shared",
		.severity = RD_SEV_WARNING,
		.title = "Two accelerators share a NIC while an equally near one is idle",
		.why = "each gets half of the NIC's bandwidth",
	};

	for (size_t i = 0; i < choices->n; i++)
		for (size_t j = i + 1; j < choices->n; j++) {
			const struct rd_choice *a = &choices->v[i], *b = &choices->v[j];
			int idle;

			if (!a->n_ports || !b->n_ports || rd_gpu_is_for_guest(host, (size_t)a->gpu) ||
			    a->gpu == b->gpu || a->ports[0] != b->ports[0])
				continue;
			idle = idle_equal(host, map, choices, b);
			if (idle < 0)
				continue;
			kind.expected = rd_text("%s for one of them: same distance, unused",
						rd_ibdev_label(host, host->ports[idle].ibdev));
			rd_finding_put(ret, &kind, rd_text("GPU%d, GPU%d", a->gpu, b->gpu),
				       rd_text("%s selects %s for both", library,
					       rd_ibdev_label(host, host->ports[a->ports[0]].ibdev)),
				       rd_text("rdmadiag nic-map --env %s\n# set for the job what it prints", library));
		}
}

static void judge_role(const struct rd_port_views *views, const char *library, const struct rd_choices *choices,
		       struct rd_findings *ret)
{
	const struct rd_host *host = views->host;
	struct rd_finding kind = {
		.id = "nic-not-compute",
		.severity = RD_SEV_WARNING,
		.title = "A library would use a NIC that is not a compute NIC",
		.why = "its traffic competes with storage and management traffic on that NIC and is slower",
	};

	for (size_t i = 0; i < choices->n; i++) {
		const struct rd_choice *choice = &choices->v[i];

		for (size_t p = 0; p < choice->n_ports; p++) {
			const struct rd_port *port = &host->ports[choice->ports[p]];
			const struct rd_port_view *view = &views->v[choice->ports[p]];

			if (view->role == RD_ROLE_COMPUTE || view->role == RD_ROLE_UNKNOWN ||
			    rd_gpu_is_for_guest(host, (size_t)choice->gpu))
				continue;
			kind.expected = rd_text("a compute NIC");
			rd_finding_put(ret, &kind, rd_text("GPU%d", choice->gpu),
				       rd_text("%s selects %s (%s: %s)", library, rd_ibdev_label(host, port->ibdev),
					       rd_role_name(view->role), view->role_why),
				       rd_text("rdmadiag nic-map --env %s\n# set for the job what it prints", library));
		}
	}
}

/* Matters only after a NIC has failed: then this accelerator's traffic shares a NIC with storage. */
static void judge_backup(const struct rd_port_views *views, const char *library, const struct rd_choices *choices,
			 struct rd_findings *ret)
{
	const struct rd_host *host = views->host;

	for (size_t i = 0; i < choices->n; i++) {
		const struct rd_choice *choice = &choices->v[i];
		int backup = choice->library_backup;
		const struct rd_port_view *view = backup < 0 ? NULL : &views->v[backup];
		struct rd_finding finding = {
			.id = "backup-not-compute",
			.severity = RD_SEV_WARNING,
			.title = "A library would fail over to a NIC that is not a compute NIC",
			.why = "after a failure the job's traffic shares a NIC with storage or management: the job slows "
			       "down, or loses its peers if that network does not reach them",
		};

		if (!view || view->role == RD_ROLE_COMPUTE || view->role == RD_ROLE_UNKNOWN ||
		    views->v[choice->ports[0]].role != RD_ROLE_COMPUTE)
			continue;
		finding.subject = rd_text("GPU%d", choice->gpu);
		finding.observed = rd_text("%s: %s fails over to %s (%s), %s", library,
					   rd_ibdev_label(host, host->ports[choice->ports[0]].ibdev),
					   rd_ibdev_label(host, host->ports[backup].ibdev), rd_role_name(view->role),
					   choice->library_backup_why);
		finding.expected = choice->backup < 0 ?
					   rd_text("a compute NIC") :
					   rd_text("%s", rd_ibdev_label(host, host->ports[choice->backup].ibdev));
		finding.fix = rd_text(
			"rdmadiag nic-map --env %s\n# restrict the library to compute NICs: set for the job what it prints",
			library);
		rd_finding_add(ret, &finding);
	}
}

/* What NCCL does with several NICs for which it finds no PCI function; observed by running release 2.30.7 on such topologies. */
static void judge_lost(const struct rd_host *host, const struct rd_nccl_nets *nets, struct rd_findings *ret)
{
	struct rd_finding finding = {
		.id = "nccl-nic-lost",
		.severity = RD_SEV_WARNING,
		.title = "NCCL merges NICs that have no PCI function, and then does not find the merged NIC",
		.why = "NCCL continues with other NICs, or fails",
	};
	_cleanup_buf_ struct rd_buf names = { 0 };
	bool virtual = false;

	if (nets->n_lost == 0 || host->n_gpus == 0)
		return;
	for (size_t i = 0; i < nets->n_lost; i++) {
		const struct rd_port *port = &host->ports[nets->lost[i]];

		rd_buf_printf(&names, "%s%s", i ? ", " : "", rd_ibdev_label(host, port->ibdev));
		virtual |= host->ibdevs[port->ibdev].pci >= 0;
	}
	finding.subject = RD_TAKE(names.data);
	finding.observed = rd_text("%zu NICs are merged into one that has no PCI function", nets->n_lost);
	finding.expected = rd_text("not merged");
	finding.fix = rd_text("# set NCCL_NET_MERGE_LEVEL=LOC%s in the job's environment",
			      virtual ? " NCCL_IB_MERGE_VFS=0" : "");
	rd_finding_add(ret, &finding);
}

void rd_nicmap_analyse(const struct rd_host *host, const struct rd_system *system, unsigned pes, struct rd_nicmap *ret)
{
	const struct rd_nccl_settings settings = rd_nccl_defaults();

	rd_port_views_init(&ret->ports, host);
	rd_gid_choose(&ret->ports);
	rd_distance_fill(host, ret);
	rd_role_fill(host, ret);
	rd_nccl_fill(host, system, &settings, ret);
	rd_nvshmem_choose(host, ret, pes, &ret->nvshmem);
	advise_backups(host, ret, &ret->nccl);
	advise_backups(host, ret, &ret->nvshmem);
	set_nccl_backups(&ret->nccl_nets, &ret->nccl);
	/* Sets library_backup and its reason, what libraries do by themselves. NVSHMEM has no failover; libraries that add
	 * failover to GPU-initiated RDMA use the other port of a two-port card, else the neighbour in the order of devices,
	 * which is not necessarily a compute NIC. NCCL continues with the remaining ports of a merged NIC
	 * (src/transport/net_ib/p2p_resiliency.cc). */
	for (size_t i = 0; i < ret->nvshmem.n; i++) {
		struct rd_choice *choice = &ret->nvshmem.v[i];

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
	rd_env_fill(host, ret, &ret->env);
	rd_stacks_fill(host, ret);
	rd_stack_env_fill(ret);
	judge_shared(host, ret, "nccl", &ret->nccl, &ret->findings);
	judge_shared(host, ret, "nvshmem", &ret->nvshmem, &ret->findings);
	judge_role(&ret->ports, "nccl", &ret->nccl, &ret->findings);
	judge_role(&ret->ports, "nvshmem", &ret->nvshmem, &ret->findings);
	judge_lost(host, &ret->nccl_nets, &ret->findings);
	judge_backup(&ret->ports, "nccl", &ret->nccl, &ret->backup_findings);
	judge_backup(&ret->ports, "nvshmem", &ret->nvshmem, &ret->backup_findings);
}
