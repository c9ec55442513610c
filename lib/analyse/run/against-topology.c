/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares a topology file, dumped by NCCL or given to it, with the host. */
#include <stdio.h>
#include <string.h>

#include "analyse/run/against-priv.h"
#include "analyse/shared/distance.h"
#include "base/memory.h"
#include "base/text.h"

/* Relative difference of rates that count as equal: 56 and 54.54 Gb/s are both FDR. */
#define RATE_SLACK 0.04

static const struct rd_against_problem not_in_file = {
	.id = "against-not-used",
	.title = "Topology file lacks devices of this host",
	.why = "NCCL did not use them, and will not use them if NCCL_TOPO_FILE names this file",
	.severity = RD_SEV_WARNING,
};
static const struct rd_against_problem not_here = {
	.id = "against-not-here",
	.title = "Topology file contains devices that this host does not have",
	.why = "the file is from another host, or devices were removed since",
	.severity = RD_SEV_WARNING,
};
static const struct rd_against_problem moved = {
	.id = "against-place",
	.title = "PCI addresses differ from those in the topology file",
	.why = "with a stale file as NCCL_TOPO_FILE, NCCL assumes wrong distances",
	.severity = RD_SEV_WARNING,
};
static const struct rd_against_problem rate = {
	.id = "against-rate",
	.title = "Port rates differ from those in the topology file",
	.why = "NCCL prefers NICs with a higher rate",
	.severity = RD_SEV_WARNING,
};
static const struct rd_against_problem distance = {
	.id = "against-distance",
	.title = "Distances between GPUs and NICs differ from those in the topology file",
	.why = "NCCL selects other NICs, and may not use GPUDirect RDMA",
	.severity = RD_SEV_WARNING,
};
static const struct rd_against_problem support = {
	.id = "against-gpudirect",
	.title = "Topology file has no GPUDirect RDMA although this host supports it",
	.why = "NCCL copied GPU memory through host memory",
	.severity = RD_SEV_WARNING,
};

struct match {
	const struct rd_host *file;
	int *gpus; /* [gpu of the host]: the GPU in the file at the same PCI address; -1: none; owned */
	int *nics; /* [device of the host]: the device in the file; -1: none; owned */
};

/* The file's device with the same name, or with the same PCI address if one of the two has no name. */
static int same_device(const struct rd_host *host, size_t d, const struct rd_host *file)
{
	const struct rd_ibdev *dev = &host->ibdevs[d];
	int by_name = dev->name ? rd_host_find_ibdev(file, dev->name) : -1;

	if (by_name >= 0)
		return by_name;
	for (size_t i = 0; dev->pci >= 0 && i < file->n_ibdevs; i++)
		if (file->ibdevs[i].pci >= 0 && (!file->ibdevs[i].name || !dev->name) &&
		    strcmp(file->pcis[file->ibdevs[i].pci].addr, host->pcis[dev->pci].addr) == 0)
			return (int)i;
	return -1;
}

static void match_all(const struct rd_host *host, const struct rd_host *file, struct match *ret)
{
	ret->file = file;
	ret->gpus = rd_alloc(host->n_gpus + 1, sizeof(*ret->gpus));
	ret->nics = rd_alloc(host->n_ibdevs + 1, sizeof(*ret->nics));
	for (size_t g = 0; g < host->n_gpus; g++) {
		int pci = rd_host_find_pci(file, host->pcis[host->gpus[g].pci].addr);

		ret->gpus[g] = -1;
		for (size_t i = 0; pci >= 0 && i < file->n_gpus; i++)
			if (file->gpus[i].pci == pci)
				ret->gpus[g] = (int)i;
	}
	for (size_t d = 0; d < host->n_ibdevs; d++)
		ret->nics[d] = same_device(host, d, file);
}

static void compare_gpus(struct rd_against_state *st, const struct match *match)
{
	for (size_t g = 0; g < st->host->n_gpus; g++) {
		const char *addr = st->host->pcis[st->host->gpus[g].pci].addr;
		char *subject = rd_text("GPU%u", st->host->gpus[g].index);

		if (match->gpus[g] >= 0)
			rd_against_same(st, "gpu", subject, rd_text("%s", addr), rd_text("%s", addr), NULL);
		else
			rd_against_differs(
				st, "gpu", &not_in_file, subject, rd_text("%s", addr), NULL,
				rd_text("the run used fewer GPUs (CUDA_VISIBLE_DEVICES, a container), or the file is "
					"from another host"),
				NULL);
	}
	for (size_t i = 0; i < match->file->n_gpus; i++) {
		bool here = false;

		for (size_t g = 0; g < st->host->n_gpus; g++)
			here |= match->gpus[g] == (int)i;
		if (!here)
			rd_against_differs(st, "gpu", &not_here,
					   rd_text("%s", match->file->pcis[match->file->gpus[i].pci].addr), NULL,
					   rd_text("GPU"),
					   rd_text("removed or moved since, or the file is from another host"),
					   rd_text("lspci -d ::0302\nlspci -d ::0300"));
	}
}

static void compare_place(struct rd_against_state *st, size_t d, const struct match *match)
{
	const struct rd_ibdev *here = &st->host->ibdevs[d], *there = &match->file->ibdevs[match->nics[d]];
	const char *a = here->pci >= 0 ? st->host->pcis[here->pci].addr : NULL;
	const char *b = there->pci >= 0 ? match->file->pcis[there->pci].addr : NULL;
	char *subject = rd_text("%s", rd_ibdev_label(st->host, (int)d));

	if (!a || !b)
		rd_against_unknown(st, "nic", subject, a ? rd_text("%s", a) : NULL, b ? rd_text("%s", b) : NULL,
				   rd_text("no PCI address on one side"));
	else if (strcmp(a, b) == 0)
		rd_against_same(st, "nic", subject, rd_text("%s", a), rd_text("%s", b), NULL);
	else if (strncmp(a, b, strlen(a) - 1) == 0 ||
		 (strncmp(a, b, strlen(a) - 4) == 0 && strcmp(b + strlen(b) - 4, "00.0") == 0))
		rd_against_same(st, "nic", subject, rd_text("%s", a), rd_text("%s", b),
				rd_text("NCCL treats the functions of a card as one"));
	else
		rd_against_differs(st, "nic", &moved, subject, rd_text("%s", a), rd_text("%s", b),
				   rd_text("address of a virtual machine, card in another slot, or device renamed"),
				   rd_text("# write a new file: run the job with NCCL_TOPO_DUMP_FILE=FILE"));
}

static void compare_rate(struct rd_against_state *st, size_t d, const struct match *match)
{
	const struct rd_ibdev *here = &st->host->ibdevs[d], *there = &match->file->ibdevs[match->nics[d]];

	for (unsigned i = 0; i < here->n_ports && i < there->n_ports; i++) {
		const struct rd_port *a = &st->host->ports[here->first_port + (int)i];
		const struct rd_port *b = &match->file->ports[there->first_port + (int)i];
		double x = a->rate_gbps.v, y = b->rate_gbps.v;
		char *subject;

		if (a->rate_gbps.known != RD_OK || b->rate_gbps.known != RD_OK || x <= 0 || y <= 0)
			continue;
		subject = rd_text("%s", rd_ibdev_label(st->host, (int)d));
		if (x - y <= x * RATE_SLACK && y - x <= x * RATE_SLACK)
			rd_against_same(st, "rate", subject, rd_text("%g Gb/s", x), rd_text("%g Gb/s", y), NULL);
		else if (a->leg_gbps.known == RD_OK && a->leg_gbps.v <= y * (1 + RATE_SLACK) &&
			 a->leg_gbps.v >= y * (1 - RATE_SLACK))
			rd_against_same(st, "rate", subject, rd_text("%g Gb/s", x), rd_text("%g Gb/s", y),
					rd_text("NCCL counts only one link of the bond"));
		else
			rd_against_differs(st, "rate", &rate, subject, rd_text("%g Gb/s", x), rd_text("%g Gb/s", y),
					   rd_text("the link came up at another speed, or the file was edited"),
					   rd_text("rdmadiag topo-check"));
	}
}

static bool is_wanted(const struct rd_against_state *st, size_t d)
{
	const struct rd_ibdev *dev = &st->host->ibdevs[d];

	for (unsigned i = 0; i < dev->n_ports; i++)
		if (rd_against_usable(st->host, (size_t)dev->first_port + i))
			return true;
	return false;
}

static void compare_nics(struct rd_against_state *st, const struct match *match)
{
	for (size_t d = 0; d < st->host->n_ibdevs; d++) {
		if (match->nics[d] >= 0) {
			compare_place(st, d, match);
			compare_rate(st, d, match);
		} else if (match->file->n_ibdevs > 0 && is_wanted(st, d)) {
			rd_against_differs(
				st, "nic", &not_in_file, rd_text("%s", rd_ibdev_label(st->host, (int)d)),
				rd_text("used"), NULL,
				rd_text("NCCL_IB_HCA, a port that was down, or a container without the device"), NULL);
		}
	}
	for (size_t i = 0; i < match->file->n_ibdevs; i++) {
		const char *name = match->file->ibdevs[i].name;
		bool here = false;

		for (size_t d = 0; d < st->host->n_ibdevs; d++)
			here |= match->nics[d] == (int)i;
		/* A merged NIC is listed in addition to its parts. */
		if (!here && !(name && strchr(name, '+')))
			rd_against_differs(st, "nic", &not_here, rd_text("%s", rd_ibdev_label(match->file, (int)i)),
					   NULL, rd_text("NIC"),
					   rd_text("removed or renamed since, or the file is from another host"),
					   rd_text("rdma dev"));
	}
}

/* Distances of the pairs that both sides have. */
static void compare_distances(struct rd_against_state *st, const struct match *match)
{
	for (size_t g = 0; g < st->host->n_gpus; g++)
		for (size_t d = 0; d < st->host->n_ibdevs; d++) {
			enum rd_path a, b;
			char *subject, *here, *there;

			if (match->gpus[g] < 0 || match->nics[d] < 0)
				continue;
			a = rd_distance_nccl(st->host, (int)g, (int)d);
			b = rd_distance_nccl(match->file, match->gpus[g], match->nics[d]);
			subject = rd_text("GPU%u and %s", st->host->gpus[g].index, rd_ibdev_label(st->host, (int)d));
			here = a ? rd_text("%s", rd_path_name(a)) : NULL;
			there = b ? rd_text("%s", rd_path_name(b)) : NULL;
			if (a == b && a != RD_PATH_UNKNOWN)
				rd_against_same(st, "distance", subject, here, there, NULL);
			else if (!a || !b)
				rd_against_unknown(st, "distance", subject, here, there, rd_text("unknown on one side"));
			else if (a == RD_PATH_PXN || b == RD_PATH_PXN || a == RD_PATH_P2C || b == RD_PATH_P2C)
				rd_against_unknown(
					st, "distance", subject, here, there,
					rd_text("depends on NVLink or C2C, which the file contains and sysfs does not show"));
			else
				rd_against_differs(
					st, "distance", &distance, subject, here, there,
					rd_text("cards or switches were moved, or the file, from a virtual machine, omits "
						"switches"),
					rd_text("rdmadiag nic-map --path GPU%u %s", st->host->gpus[g].index,
						rd_ibdev_label(st->host, (int)d)));
		}
}

static void compare_gdr(struct rd_against_state *st, const struct rd_run_host *gdr)
{
	for (size_t i = 0; gdr && i < gdr->nets.n; i++) {
		const struct rd_run_net *net = &gdr->nets.v[i];
		int ibdev = net->name ? rd_against_ibdev(st->host, net->name) : -1;
		bool can = false;

		if (net->gpudirect.known != RD_OK || ibdev < 0)
			continue;
		for (size_t g = 0; g < st->host->n_gpus; g++) {
			const struct rd_pair *pair = rd_nicmap_pair(st->map, g, (size_t)ibdev);

			can |= pair->gpudirect.known == RD_OK && pair->gpudirect.v;
		}
		if (!can)
			continue;
		if (net->gpudirect.v)
			rd_against_same(st, "gpudirect", rd_text("%s", net->name), rd_text("yes"), rd_text("yes"), NULL);
		else
			rd_against_differs(
				st, "gpudirect", &support, rd_text("%s", net->name), rd_text("yes"), rd_text("no"),
				rd_text("nvidia_peermem was not loaded, or not visible in the container"),
				rd_text("modprobe nvidia_peermem\n# until the next boot; also in /etc/modules-load.d/"));
	}
}

static void report_other_host(struct rd_against_state *st)
{
	struct rd_finding finding = {
		.id = "against-elsewhere",
		.severity = RD_SEV_UNKNOWN,
		.title = "Topology file is not from this host",
		.why = "no PCI address of a GPU and no NIC name in the file matches this host",
		.subject = rd_text("topology file"),
		.fix = rd_text("# write one on this host: run a job with NCCL_TOPO_DUMP_FILE=FILE"),
	};

	rd_finding_add(&st->ret->findings, &finding);
}

/* Whether nothing in the file matches this host: no GPU by PCI address, no NIC by name or address. */
static bool is_other_host(const struct rd_against_state *st, const struct match *match)
{
	for (size_t g = 0; g < st->host->n_gpus; g++)
		if (match->gpus[g] >= 0)
			return false;
	for (size_t d = 0; d < st->host->n_ibdevs; d++)
		if (match->nics[d] >= 0)
			return false;
	return true;
}

void rd_against_topology(const struct rd_host *host, const struct rd_nicmap *map, const struct rd_host *file,
			 const struct rd_run_host *gdr, struct rd_against *ret)
{
	struct rd_against_state st = { .host = host, .map = map, .ret = ret };
	struct match match = { 0 };

	match_all(host, file, &match);
	if (is_other_host(&st, &match)) {
		report_other_host(&st);
	} else {
		compare_gpus(&st, &match);
		compare_nics(&st, &match);
		compare_distances(&st, &match);
		compare_gdr(&st, gdr);
	}
	RD_FREE(match.gpus, match.nics);
}
