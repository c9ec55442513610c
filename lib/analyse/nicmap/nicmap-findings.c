/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/nicmap/nicmap-findings.h"

#include "base/buf.h"
#include "base/text.h"

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
	for (size_t i = 0; i < choices->n; i++)
		for (size_t j = i + 1; j < choices->n; j++) {
			const struct rd_choice *a = &choices->v[i], *b = &choices->v[j];
			struct rd_finding finding = {
				.id = "nic-shared",
				.severity = RD_SEV_WARNING,
				.title = "Two accelerators share a NIC while an equally near one is idle",
				.why = "each gets half of the NIC's bandwidth",
			};
			const char *name;
			int idle;

			if (!a->n_ports || !b->n_ports || a->gpu == b->gpu || a->ports[0] != b->ports[0])
				continue;
			idle = idle_equal(host, map, choices, b);
			if (idle < 0)
				continue;
			name = rd_ibdev_label(host, host->ports[idle].ibdev);
			finding.subject = rd_text("GPU%d, GPU%d", a->gpu, b->gpu);
			finding.observed = rd_text("%s selects %s for both", library,
						   rd_ibdev_label(host, host->ports[a->ports[0]].ibdev));
			finding.expected = rd_text("%s for one of them: same distance, unused", name);
			finding.fix = rd_text("rdmadiag nic-map --env %s\n# set for the job what it prints", library);
			rd_finding_add(ret, &finding);
		}
}

static void judge_role(const struct rd_port_views *views, const char *library, const struct rd_choices *choices,
		       struct rd_findings *ret)
{
	const struct rd_host *host = views->host;

	for (size_t i = 0; i < choices->n; i++) {
		const struct rd_choice *choice = &choices->v[i];

		for (size_t p = 0; p < choice->n_ports; p++) {
			const struct rd_port *port = &host->ports[choice->ports[p]];
			const struct rd_port_view *view = &views->v[choice->ports[p]];
			struct rd_finding finding = {
				.id = "nic-not-compute",
				.severity = RD_SEV_WARNING,
				.title = "A library would use a NIC that is not a compute NIC",
				.why = "its traffic competes with storage and management traffic on that NIC and is slower",
			};

			if (view->role == RD_ROLE_COMPUTE || view->role == RD_ROLE_UNKNOWN)
				continue;
			finding.subject = rd_text("GPU%d", choice->gpu);
			finding.observed = rd_text("%s selects %s (%s: %s)", library, rd_ibdev_label(host, port->ibdev),
						   rd_role_name(view->role), view->role_why);
			finding.expected = rd_text("a compute NIC");
			finding.fix = rd_text("rdmadiag nic-map --env %s\n# set for the job what it prints", library);
			rd_finding_add(ret, &finding);
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

void rd_nicmap_judge(const struct rd_host *host, const struct rd_nicmap *map, struct rd_findings *ret)
{
	judge_shared(host, map, "nccl", &map->nccl, ret);
	judge_shared(host, map, "nvshmem", &map->nvshmem, ret);
	judge_role(&map->ports, "nccl", &map->nccl, ret);
	judge_role(&map->ports, "nvshmem", &map->nvshmem, ret);
	judge_lost(host, &map->nccl_nets, ret);
}

void rd_nicmap_judge_backup(const struct rd_nicmap *map, struct rd_findings *ret)
{
	judge_backup(&map->ports, "nccl", &map->nccl, ret);
	judge_backup(&map->ports, "nvshmem", &map->nvshmem, ret);
}
