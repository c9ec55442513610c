/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The NICs that NCCL assigns to each accelerator (src/graph/topo.cc, ncclTopoGetLocalNetType). */
#include "analyse/nccl/nccl.h"

#include <stdint.h>
#include <string.h>

#include "analyse/nccl/nccl-priv.h"
#include "analyse/shared/distance.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/nicmap/nicmap.h"

/* More accelerators than any host has: a topology file can hold thousands, and PXN is computed for all pairs. */
#define GPUS_MAX 64

struct rd_nccl_settings rd_nccl_defaults(void)
{
	return (struct rd_nccl_settings){
		.merge_vfs = true, .merge = true, .pxn = true, .pxn_c2c = true, .gdr_level = RD_PATH_P2C
	};
}

/* Whether `path` has more bandwidth than the best so far, or the same and is nearer. */
static bool is_better(const struct rd_nccl_path *path, const struct rd_nccl_path *best)
{
	return path->bw > best->bw || (path->bw == best->bw && path->type < best->type);
}

size_t rd_nccl_local_nets(const struct rd_nccl_paths *paths, size_t n_nets, size_t gpu, size_t *ret)
{
	struct rd_nccl_path best = { .type = RD_PATH_SYS + 1 };
	size_t n = 0;

	for (size_t i = 0; i < n_nets; i++) {
		const struct rd_nccl_path *path = &paths->to_net[gpu * n_nets + i];

		if (is_better(path, &best)) {
			best = *path;
			n = 0;
		}
		if (path->bw == best.bw && path->type == best.type)
			ret[n++] = i;
	}
	return n;
}

size_t rd_nccl_local_gpus(const struct rd_nccl_paths *paths, size_t n_nets, size_t n_gpus, size_t net, size_t *ret)
{
	struct rd_nccl_path best = { .type = RD_PATH_SYS + 1 };
	size_t n = 0;

	for (size_t g = 0; g < n_gpus; g++) {
		const struct rd_nccl_path *path = &paths->to_gpu[g * n_nets + net];

		if (is_better(path, &best)) {
			best = *path;
			n = 0;
		}
		if (path->bw == best.bw && path->type == best.type)
			ret[n++] = g;
	}
	return n;
}

static size_t mirror_bits(size_t value, size_t pow2)
{
	size_t mirrored = 0;

	for (size_t bit = 1, other = pow2 >> 1; bit < pow2; bit <<= 1, other >>= 1)
		if (value & bit)
			mirrored |= other;
	return mirrored;
}

/* Equally good NICs are divided among accelerators: `each` NICs per accelerator, from index `first`. */
struct share {
	size_t n_nets, n_gpus, each, first;
};

/* `locals` receives the NICs; the rest of it is scratch. */
static struct share share_of(const struct rd_host *host, const struct rd_nccl_paths *paths, size_t n_nets, size_t gpu,
			     size_t *locals)
{
	struct share share = { .n_nets = rd_nccl_local_nets(paths, n_nets, gpu, locals) };

	if (share.n_nets == 0)
		return share;
	share.n_gpus = rd_nccl_local_gpus(paths, n_nets, host->n_gpus, locals[0], locals + n_nets);
	share.n_gpus = share.n_gpus ? share.n_gpus : 1;
	share.each = (share.n_nets + share.n_gpus - 1) / share.n_gpus;
	share.first = (size_t)host->gpus[gpu].dev % share.n_gpus;
	if ((share.n_nets & (share.n_nets - 1)) == 0)
		share.first = mirror_bits(share.first, share.n_nets);
	return share;
}

size_t rd_nccl_net_of(const struct rd_host *host, const struct rd_nccl_paths *paths, size_t n_nets, size_t gpu,
		      size_t channel, size_t *locals)
{
	struct share share = share_of(host, paths, n_nets, gpu, locals);

	return share.n_nets ? locals[(share.first + channel % share.each) % share.n_nets] : SIZE_MAX;
}

/* NCCL supports NVIDIA accelerators, and RCCL, which derives from it, AMD's. A topology file may omit the vendor. */
static bool is_supported(const struct rd_gpu *gpu)
{
	return !gpu->vendor || strcmp(gpu->vendor, "NVIDIA") == 0 || strcmp(gpu->vendor, "AMD") == 0;
}

static void choose_for(const struct rd_host *host, const struct rd_nccl_paths *paths, const struct rd_nccl_nets *nets,
		       size_t gpu, size_t *locals, struct rd_choice *choice)
{
	struct share share = share_of(host, paths, nets->n, gpu, locals);
	const struct rd_nccl_path *path;

	choice->gpu = (int)gpu;
	choice->backup = choice->library_backup = -1;
	if (share.n_nets == 0 || !is_supported(&host->gpus[gpu]))
		return;
	path = &paths->to_net[gpu * nets->n + locals[0]];
	choice->ports = rd_alloc(host->n_ports + 1, sizeof(*choice->ports));
	for (size_t i = 0; i < share.each; i++) {
		const struct rd_nccl_net *net = &nets->v[locals[(share.first + i) % share.n_nets]];

		for (size_t p = 0; p < net->n_ports && choice->n_ports < host->n_ports; p++)
			choice->ports[choice->n_ports++] = net->ports[p];
	}
	if (path->type == RD_PATH_PXN)
		choice->why = rd_text("PXN over NVLink of GPU%d, %.1f GB/s", path->via, (double)path->bw);
	else
		choice->why = rd_text("%s, %.1f GB/s; %zu equally good NIC%s, shared by %zu accelerator%s",
				      rd_path_name(path->type), (double)path->bw, share.n_nets,
				      share.n_nets > 1 ? "s" : "", share.n_gpus, share.n_gpus > 1 ? "s" : "");
}

/* The NIC that contains this device; -1: NCCL does not use the device. */
static long net_of_ibdev(const struct rd_host *host, const struct rd_nccl_nets *nets, size_t ibdev)
{
	for (size_t n = 0; n < nets->n; n++)
		for (size_t p = 0; p < nets->v[n].n_ports; p++)
			if (host->ports[nets->v[n].ports[p]].ibdev == (int)ibdev)
				return (long)n;
	return -1;
}

static const char *too_far(enum rd_path path)
{
	switch (path) {
	case RD_PATH_PHB:
		return "PHB is farther than NCCL_NET_GDR_LEVEL allows (PXB): NCCL copies through host memory";
	case RD_PATH_SYS:
		return "SYS is farther than NCCL_NET_GDR_LEVEL allows (PXB): NCCL copies through host memory";
	default:
		return "farther than NCCL_NET_GDR_LEVEL allows: NCCL copies through host memory";
	}
}

/* Too far: not used; near enough: used if the driver supports it. */
static void set_gpudirect(const struct rd_host *host, const struct rd_nccl_paths *paths, bool near, enum rd_path path,
			  size_t gpu, size_t ibdev, struct rd_pair *pair)
{
	const struct rd_ibdev *dev = &host->ibdevs[ibdev];
	const struct rd_port *port = dev->n_ports > 0 ? &host->ports[dev->first_port] : NULL;

	pair->gpudirect_why = paths->offers[gpu].why;
	if (paths->offers[gpu].offered.known == RD_OK)
		RD_SET(pair->gpudirect, paths->offers[gpu].offered.v && near);
	else if (!near)
		RD_SET(pair->gpudirect, false);
	if (port && port->gdr.known == RD_OK && !port->gdr.v) {
		RD_SET(pair->gpudirect, false);
		pair->gpudirect_why = "gdr=\"0\" for this NIC in the topology file";
	} else if (!near && !(paths->offers[gpu].offered.known == RD_OK && !paths->offers[gpu].offered.v)) {
		pair->gpudirect_why = too_far(path);
	}
}

static void fill_pair(const struct rd_host *host, const struct rd_nccl_settings *settings,
		      const struct rd_nccl_paths *paths, size_t gpu, size_t ibdev, struct rd_nicmap *map)
{
	struct rd_pair *pair = &map->pairs[gpu * map->n_ibdevs + ibdev];
	long net = net_of_ibdev(host, &map->nccl_nets, ibdev);
	enum rd_path physical = rd_distance_nccl(host, (int)gpu, (int)ibdev);

	pair->nccl = physical;
	pair->via = -1;
	if (net < 0 || !is_supported(&host->gpus[gpu])) {
		pair->gpudirect_why = net < 0 ? "NCCL does not use this NIC" : "NCCL does not support this accelerator";
		return;
	}
	pair->nccl = paths->to_net[gpu * map->nccl_nets.n + (size_t)net].type;
	pair->via = paths->to_net[gpu * map->nccl_nets.n + (size_t)net].via;
	/* Without GPUDirect RDMA the path was diverted through the CPU: the physical distance counts. */
	set_gpudirect(host, paths,
		      physical <= settings->gdr_level ||
			      rd_nccl_near_enough(settings, paths, map->nccl_nets.n, gpu, (size_t)net),
		      pair->nccl, gpu, ibdev, pair);
}

static char *note_of(const struct rd_host *host, const struct rd_nccl_nets *nets)
{
	bool efa = false, supported = host->n_gpus == 0;

	for (size_t d = 0; d < host->n_ibdevs; d++)
		efa |= rd_ibdev_is_efa(host, (int)d);
	for (size_t g = 0; g < host->n_gpus; g++)
		supported |= is_supported(&host->gpus[g]);
	if (!supported)
		return rd_text("NCCL does not support these accelerators");
	if (host->n_gpus > GPUS_MAX)
		return rd_text("more than %d accelerators: not predicted", GPUS_MAX);
	if (nets->n == 0 && efa)
		return rd_text("NCCL's built-in IB/RoCE transport does not support EFA; the aws-ofi-nccl plugin, if "
			       "installed, selects NICs through libfabric");
	return rd_text("by the rules of NCCL %s; NCCL_IB_HCA not set%s", rd_library_release("nccl"),
		       host->from_topology_file || host->has_nvswitch || host->n_gpus < 2 ?
			       "" :
			       "; NVLinks are not visible here: with NVLink, PXN may select other NICs");
}

void rd_nccl_fill(const struct rd_host *host, const struct rd_system *system, const struct rd_nccl_settings *settings,
		  struct rd_nicmap *map)
{
	_cleanup_(rd_nccl_paths_deinit) struct rd_nccl_paths paths = { 0 };
	size_t n_gpus = host->n_gpus > GPUS_MAX ? 0 : host->n_gpus;
	_cleanup_free_ size_t *locals = NULL;

	rd_nccl_nets_find(host, settings, &map->nccl_nets);
	locals = rd_alloc(map->nccl_nets.n + host->n_gpus + 1, sizeof(*locals));
	map->nccl.v = rd_alloc(n_gpus + 1, sizeof(*map->nccl.v));
	map->nccl.note = note_of(host, &map->nccl_nets);
	if (n_gpus)
		rd_nccl_paths_find(host, system, &map->nccl_nets, settings, &paths);
	for (size_t g = 0; g < n_gpus; g++) {
		choose_for(host, &paths, &map->nccl_nets, g, locals, &map->nccl.v[map->nccl.n++]);
		for (size_t d = 0; d < host->n_ibdevs; d++)
			fill_pair(host, settings, &paths, g, d, map);
	}
}
