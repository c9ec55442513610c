/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NCCL's paths between accelerators and NICs (src/graph/paths.cc, ncclTopoComputePaths). */

#include "analyse/nccl/nccl-priv.h"
#include "analyse/shared/distance.h"

#define DEPTH_MAX 64
/* GB/s, more than any NIC: used if the number of NVLinks is unknown. */
#define NVLINK_BW 200.0f

struct state {
	const struct rd_host *host;
	const struct rd_nccl_nets *nets;
	const struct rd_nccl_settings *settings;
	struct rd_nccl_paths *paths;
	size_t *order;		/* of each accelerator: its position in NCCL's tree */
	struct cpu_path *homes; /* of each accelerator: the path to the CPU that NCCL considers local */
	size_t *locals;		/* scratch */
};

/* From an accelerator to a CPU: PHB, or P2C where it is C2C. */
struct cpu_path {
	enum rd_path type;
	float bw;
	int hops, numa;
};

static float least(float a, float b)
{
	return a < b ? a : b;
}

/* Units of 100 Mb/s per lane, after encoding. An unknown speed counts as 8 GT/s. */
static float lane_speed(unsigned mtps)
{
	static const struct {
		unsigned mtps;
		float speed;
	} table[] = {
		{ 2500, 15 }, { 5000, 30 }, { 8000, 60 }, { 16000, 120 }, { 32000, 240 }, { 64000, 480 },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(table); i++)
		if (table[i].mtps == mtps)
			return table[i].speed;
	return 60;
}

/* GB/s of the link between a function and its parent. For NICs and switches NCCL uses the maximum that both ends support, so a
 * link that trained at a lower speed is not noticed; for accelerators it uses the current link (ncclTopoGetXmlFromSys). */
static float link_of(const struct rd_host *host, int index, bool gpu)
{
	const struct rd_pci *pci = &host->pcis[index], *up = pci->parent >= 0 ? &host->pcis[pci->parent] : NULL;
	const struct rd_pcie_link *link = gpu && pci->now.mtps.known == RD_OK ? &pci->now : &pci->max;
	unsigned mtps = link->mtps.known == RD_OK ? link->mtps.v : 0;
	unsigned width = link->width.known == RD_OK ? link->width.v : 0;

	if (!gpu && !host->from_topology_file && up) {
		if (up->max.mtps.known == RD_OK && (!mtps || up->max.mtps.v < mtps))
			mtps = up->max.mtps.v;
		if (up->max.width.known == RD_OK && (!width || up->max.width.v < width))
			width = up->max.width.v;
	}
	return (float)(width ?: 16) * lane_speed(mtps) / 80.0f;
}

/* ncclTopoGetInterCpuBw */
float rd_nccl_between_cpus(const struct rd_host *host)
{
	const struct rd_cpu *cpu = &host->cpu;
	const char *vendor = cpu->vendor ?: "";

	if (cpu->arch && strncmp(cpu->arch, "ppc64", 5) == 0)
		return 32;
	if (cpu->arch && strcmp(cpu->arch, "arm64") == 0)
		return 6;
	if (strcmp(vendor, "AuthenticAMD") == 0)
		return 16;
	if (strcmp(vendor, "GenuineIntel") == 0) {
		unsigned model = cpu->family.v == 6 ? cpu->model.v : 0;

		return model >= 0xcf ? 40 : model >= 0x8f ? 22 : model >= 0x55 ? 10 : 6;
	}
	if (strcmp(vendor, "CentaurHauls") == 0 || strcmp(vendor, "  Shanghai  ") == 0)
		return cpu->family.v == 7 && cpu->model.v == 0x5b ? 9 : 6;
	return RD_NCCL_LOC_BW;
}

static float narrowest_up_to(const struct rd_host *host, int pci, int top, bool gpu)
{
	float bw = RD_NCCL_LOC_BW;

	for (int depth = 0; pci >= 0 && pci != top && depth < DEPTH_MAX; depth++) {
		bw = least(bw, link_of(host, pci, gpu && depth == 0));
		pci = rd_nccl_parent(host, pci);
	}
	return bw;
}

static int common_node(const struct rd_host *host, int a, int b)
{
	for (int p = rd_nccl_parent(host, a), i = 0; p >= 0 && i < DEPTH_MAX; p = rd_nccl_parent(host, p), i++)
		for (int q = rd_nccl_parent(host, b), j = 0; q >= 0 && j < DEPTH_MAX; q = rd_nccl_parent(host, q), j++)
			if (p == q)
				return p;
	return -1;
}

/* GB/s of C2C; 0: none. The kernel does not report it, so on a live host it follows from the accelerator's name, as in
 * topology files of GH200 (10 links of 44.7 GB/s), GB200 and GB300 (5 links). */
static float c2c_of(const struct rd_host *host, size_t gpu)
{
	static const struct {
		const char *name;
		float gbytes;
	} known[] = { { "GH200", 447.1f }, { "GB200", 223.6f }, { "GB300", 223.6f } };
	const struct rd_gpu *of = &host->gpus[gpu];

	if (of->c2c_gbytes.known == RD_OK)
		return (float)of->c2c_gbytes.v;
	if (host->from_topology_file || !host->cpu.arch || strcmp(host->cpu.arch, "arm64") != 0 || !of->name)
		return 0;
	for (size_t i = 0; i < RD_ARRAY_SIZE(known); i++)
		if (strstr(of->name, known[i].name))
			return known[i].gbytes;
	return 0;
}

static float gpu_to_cpu(const struct rd_host *host, size_t gpu)
{
	float pci = narrowest_up_to(host, host->gpus[gpu].pci, -1, true), c2c = c2c_of(host, gpu);

	return c2c > pci ? c2c : pci;
}

static float net_to_cpu(const struct rd_host *host, const struct rd_nccl_net *net)
{
	return least((float)net->gbps / 8, net->pci < 0 ? RD_NCCL_LOC_BW : narrowest_up_to(host, net->pci, -1, false));
}

/* Through PCI, or through C2C instead of PCI between CPU and accelerator. */
static struct rd_nccl_path direct_path(const struct rd_host *host, size_t gpu, const struct rd_nccl_net *net)
{
	int pci = host->gpus[gpu].pci, top = net->pci < 0 ? -1 : common_node(host, pci, net->pci);
	struct rd_nccl_path path = { .type = rd_distance_nccl_pci(host, pci, net->pci, net->numa), .via = -1 };

	if (path.type == RD_PATH_PIX || path.type == RD_PATH_PXB) {
		path.bw = least(narrowest_up_to(host, pci, top, true), narrowest_up_to(host, net->pci, top, false));
		path.bw = least(path.bw, (float)net->gbps / 8);
		return path;
	}
	path.bw = least(gpu_to_cpu(host, gpu), net_to_cpu(host, net));
	if (path.type == RD_PATH_SYS)
		path.bw = least(path.bw, rd_nccl_between_cpus(host));
	return path;
}

static size_t at(const struct state *st, size_t gpu, size_t net)
{
	return gpu * st->nets->n + net;
}

/* ncclTopoNVLinkBw: GB/s of `n` NVLinks. */
static float nvlinks(const struct rd_gpu *gpu, unsigned n)
{
	unsigned sm = gpu->sm.known == RD_OK ? gpu->sm.v : 0;
	float each = sm >= 100 ? 40.1f :
		     sm >= 90  ? 20.6f :
		     sm == 86  ? 12.0f :
		     sm >= 70  ? 20.0f :
		     sm >= 60  ? 18.0f :
				 20.0f;

	return sm ? each * (float)n : NVLINK_BW;
}

/* GB/s of its NVLinks to `target`, "" for NVSwitches; 0: none. */
static float nvlinks_to(const struct rd_host *host, const struct rd_gpu *gpu, const char *target)
{
	bool switches = !target[0] && host->has_nvswitch && gpu->vendor && strcmp(gpu->vendor, "NVIDIA") == 0;
	float bw = 0;

	for (size_t i = 0; i < gpu->n_nvlinks; i++)
		if (strcmp(gpu->nvlinks[i].target, target) == 0)
			bw += nvlinks(gpu, gpu->nvlinks[i].n);
	return bw > 0 ? bw : switches ? NVLINK_BW : 0;
}

/* GB/s, over NVSwitches or without; 0: none. */
static float nvlink_between(const struct rd_host *host, size_t a, size_t b)
{
	const struct rd_gpu *ga = &host->gpus[a], *gb = &host->gpus[b];
	float direct = nvlinks_to(host, ga, host->pcis[gb->pci].addr);
	float switched = least(nvlinks_to(host, ga, ""), nvlinks_to(host, gb, ""));

	return direct > switched ? direct : switched;
}

static struct cpu_path direct_cpu_path(const struct rd_host *host, size_t gpu)
{
	int pci = host->gpus[gpu].pci;
	struct cpu_path way = {
		.type = RD_PATH_P2C, .bw = c2c_of(host, gpu), .hops = 2, .numa = rd_pci_numa(host, pci)
	};

	if (way.bw > 0)
		return way;
	way.type = RD_PATH_PHB;
	way.bw = narrowest_up_to(host, pci, -1, true);
	for (int depth = 0; depth < DEPTH_MAX && (pci = rd_nccl_parent(host, pci)) >= 0; depth++)
		way.hops++;
	return way;
}

/* ncclTopoSetPaths: a path to a CPU may use one NVLink to an accelerator that is next to that CPU. */
static bool cpu_path_through_peer(const struct rd_host *host, size_t gpu, size_t peer, struct cpu_path *ret)
{
	float nvlink = nvlinks_to(host, &host->gpus[gpu], host->pcis[host->gpus[peer].pci].addr);

	*ret = direct_cpu_path(host, peer);
	if (nvlink <= 0 || ret->hops > 2)
		return false;
	ret->hops++;
	ret->bw = least(ret->bw, nvlink);
	return true;
}

/* Among equal paths, the one to the first CPU is better. */
static bool is_better_cpu_path(const struct rd_host *host, const struct cpu_path *way, const struct cpu_path *best)
{
	if (way->numa == best->numa && way->type != best->type)
		return way->type < best->type;
	if (way->bw != best->bw)
		return way->bw > best->bw;
	if (way->type != best->type || way->hops != best->hops)
		return way->type != best->type ? way->type < best->type : way->hops < best->hops;
	return rd_host_find_numa(host, way->numa) < rd_host_find_numa(host, best->numa);
}

bool rd_nccl_near_enough(const struct rd_nccl_settings *settings, const struct rd_nccl_paths *paths, size_t n_nets,
			 size_t gpu, size_t net)
{
	const struct rd_nccl_path *path = &paths->to_net[gpu * n_nets + net];

	if (path->type == RD_PATH_PXN)
		path = &paths->to_net[(size_t)path->via * n_nets + net];
	return path->type <= settings->gdr_level;
}

/* ncclTopoCheckGdr. If support is unknown, it is assumed, as on a correctly configured host. */
static bool uses_gdr(const struct state *st, size_t gpu, size_t net)
{
	const struct rd_port *port = &st->host->ports[st->nets->v[net].ports[0]];

	if (port->gdr.known == RD_OK && !port->gdr.v)
		return false;
	return (st->paths->offers[gpu].offered.known != RD_OK || st->paths->offers[gpu].offered.v) &&
	       rd_nccl_near_enough(st->settings, st->paths, st->nets->n, gpu, net);
}

static bool is_below(const struct rd_host *host, int pci, int node)
{
	while (pci >= 0 && pci != node)
		pci = rd_nccl_parent_unmerged(host, pci);
	return pci >= 0;
}

/* The first process that detects the node or the CPU: each detects those above all NICs and above its own accelerator. */
static size_t first_detecting_rank(const struct state *st, int node, int numa)
{
	const struct rd_host *host = st->host;

	for (size_t n = 0; n < st->nets->n; n++)
		if (node < 0 ? st->nets->v[n].numa == numa : is_below(host, st->nets->v[n].pci, node))
			return 0;
	for (size_t g = 0; g < host->n_gpus; g++)
		if (node < 0 ? rd_pci_numa(host, host->gpus[g].pci) == numa : is_below(host, host->gpus[g].pci, node))
			return g;
	return host->n_gpus;
}

/* The child of `top` (-1: a CPU) on the path to this function. */
static int child_towards(const struct rd_host *host, int pci, int top)
{
	for (int up; (up = rd_nccl_parent_unmerged(host, pci)) != top && up >= 0;)
		pci = up;
	return pci;
}

/* ncclTopoFuseXml: nodes that a later process adds come last. */
static bool comes_before(const struct state *st, size_t a, size_t b)
{
	const struct rd_host *host = st->host;
	int pa = host->gpus[a].pci, pb = host->gpus[b].pci, top = -1, x, y;
	int na = rd_pci_numa(host, pa), nb = rd_pci_numa(host, pb);
	size_t ka, kb;

	if (na != nb) {
		ka = first_detecting_rank(st, -1, na);
		kb = first_detecting_rank(st, -1, nb);
		return ka != kb ? ka < kb : rd_host_find_numa(host, na) < rd_host_find_numa(host, nb);
	}
	while ((x = child_towards(host, pa, top)) == (y = child_towards(host, pb, top)) && x != pa && y != pb)
		top = x;
	ka = first_detecting_rank(st, x, na);
	kb = first_detecting_rank(st, y, nb);
	return ka != kb ? ka < kb : x < y;
}

/* ncclTopoGetLocalGpu: the first local accelerator that uses this NIC for one of its channels. */
static long gpu_of_net(struct state *st, size_t net)
{
	size_t n_nets = st->nets->n, n_gpus = st->host->n_gpus;
	size_t *near = st->locals + n_nets + n_gpus, n = rd_nccl_local_gpus(st->paths, n_nets, n_gpus, net, near);
	long first = -1;

	for (size_t channel = 0; channel < n_nets && first < 0; channel++)
		for (size_t i = 0; i < n; i++)
			if (rd_nccl_net_of(st->host, st->paths, n_nets, near[i], channel, st->locals) == net &&
			    (first < 0 || st->order[near[i]] < st->order[first]))
				first = (long)near[i];
	return first;
}

/* PXN: through the NVLink of an accelerator next to the NIC, if that is faster or avoids the CPU. */
static void try_pxn(struct state *st, size_t gpu, size_t net)
{
	enum rd_path nearest = st->settings->pxn_c2c ? RD_PATH_P2C : RD_PATH_PXB;
	struct rd_nccl_path *own = &st->paths->to_net[at(st, gpu, net)], *peer;
	long via = st->settings->pxn ? gpu_of_net(st, net) : -1;
	float nvlink;

	if (via < 0 || (size_t)via == gpu)
		return;
	peer = &st->paths->to_net[at(st, (size_t)via, net)];
	nvlink = nvlink_between(st->host, (size_t)via, gpu);
	if (peer->type > nearest || !uses_gdr(st, (size_t)via, net) || nvlink <= 0)
		return;
	if (peer->bw > own->bw || own->type > RD_PATH_PXN)
		*own = (struct rd_nccl_path){ .type = RD_PATH_PXN, .bw = least(nvlink, peer->bw), .via = (int)via };
}

static struct rd_nccl_path path_through_cpu(const struct rd_host *host, const struct cpu_path *way,
					    const struct rd_nccl_net *net, int numa)
{
	struct rd_nccl_path path = { .type = RD_PATH_SYS, .bw = least(way->bw, net_to_cpu(host, net)), .via = -1 };

	if (net->numa == numa && way->numa == numa)
		path.type = way->type;
	else
		path.bw = least(path.bw, rd_nccl_between_cpus(host));
	return path;
}

/* Without GPUDirect RDMA the path goes through the memory of the accelerator's local CPU. NCCL uses NVLinks only on the way to
 * that CPU. */
static void divert_through_cpu(struct state *st, size_t gpu, size_t net)
{
	struct rd_nccl_path *out = &st->paths->to_net[at(st, gpu, net)], *back = &st->paths->to_gpu[at(st, gpu, net)];
	const struct cpu_path *home = &st->homes[gpu];
	struct cpu_path own = direct_cpu_path(st->host, gpu);

	if (out->type >= RD_PATH_PHB || uses_gdr(st, gpu, net))
		return;
	if (own.numa != home->numa)
		own.bw = gpu_to_cpu(st->host, gpu);
	*out = path_through_cpu(st->host, home, &st->nets->v[net], home->numa);
	*back = path_through_cpu(st->host, &own, &st->nets->v[net], home->numa);
}

static struct rd_offer known_offer(bool offered, const char *why)
{
	return (struct rd_offer){ .offered = { .v = offered, .known = RD_OK }, .why = why };
}

static struct rd_offer unknown(const char *why)
{
	return (struct rd_offer){ .why = why };
}

static struct rd_offer of_amd(const struct rd_system *system)
{
	if (!system->modules_known)
		return unknown("could not read /proc/modules");
	if (!rd_system_module(system, "amdgpu"))
		return unknown("the amdgpu driver is not loaded");
	if (rd_texts_has(&system->memory_peers, "amdkfd"))
		return known_offer(true, "amdkfd");
	if (system->dmabuf.known != RD_OK)
		return unknown("could not determine whether this kernel's RDMA core supports DMA-BUF");
	if (rd_lacks_p2pdma(system))
		return known_offer(false, "no PeerDirect, and the kernel lacks CONFIG_PCI_P2PDMA");
	return system->dmabuf.v ? known_offer(true, "DMA-BUF") :
				  known_offer(false, "no PeerDirect, and the RDMA core does not support DMA-BUF");
}

/* Whether NICs of this host can access the memory of the accelerator, whatever the distance. Same checks as NCCL
 * (src/transport/net_ib/gdr.cc: ncclIbGdrSupport, ncclIbDmaBufSupport). `system` may be NULL. */
static struct rd_offer offer_of(const struct rd_host *host, const struct rd_system *system, size_t gpu)
{
	const struct rd_gpu *of = &host->gpus[gpu];

	if (of->gdr.known == RD_OK)
		return of->gdr.v ? known_offer(true, "gdr=\"1\" in the topology file") :
				   known_offer(false, "gdr=\"0\" in the topology file");
	if (!system)
		return unknown("not in the topology file");
	if (rd_gpu_is_for_guest(host, gpu))
		return known_offer(false, "the accelerator is passed through to a virtual machine");
	if (of->vendor && strcmp(of->vendor, "NVIDIA") == 0) {
		/* CPU and GPU share one memory; the driver supports neither peer memory nor DMA-BUF. */
		if (of->name && strstr(of->name, "GB10") && !strstr(of->name, "GB100"))
			return known_offer(false, "GB10 does not support GPUDirect RDMA");
		if (rd_has_peermem(system))
			return known_offer(true, "nvidia_peermem");
		if (rd_gives_peermem(system))
			return known_offer(true, rd_gives_efa_peermem(system) ? "peer memory of EFA" : "nv_peer_mem");
		if (!system->modules_known)
			return unknown("could not read /proc/modules");
		if (rd_has_dmabuf(system))
			return known_offer(true, "DMA-BUF");
		if (!rd_system_module(system, "nvidia"))
			return unknown("the nvidia driver is not loaded");
		if (system->nvidia_open.known != RD_OK)
			return unknown(
				"nvidia_peermem is not loaded; could not determine whether the nvidia driver is the open one, "
				"which supports DMA-BUF");
		if (system->nvidia_open.v && system->dmabuf.known != RD_OK)
			return unknown(
				"nvidia_peermem is not loaded; could not determine whether this kernel's RDMA core supports "
				"DMA-BUF");
		if (system->nvidia_open.v && system->dmabuf.v)
			return unknown(
				"nvidia_peermem is not loaded, and the kernel lacks CONFIG_PCI_P2PDMA, which DMA-BUF may need");
		return known_offer(false, "nvidia_peermem is not loaded, and DMA-BUF is not available");
	}
	return of->vendor && strcmp(of->vendor, "AMD") == 0 ? of_amd(system) :
							      unknown("unknown for accelerators of this vendor");
}

void rd_nccl_paths_find(const struct rd_host *host, const struct rd_system *system, const struct rd_nccl_nets *nets,
			const struct rd_nccl_settings *settings, struct rd_nccl_paths *ret)
{
	_cleanup_free_ size_t *locals = rd_alloc(2 * (nets->n + host->n_gpus) + 1, sizeof(*locals));
	_cleanup_free_ struct cpu_path *homes = rd_alloc(host->n_gpus + 1, sizeof(*homes));
	_cleanup_free_ size_t *order = rd_alloc(host->n_gpus + 1, sizeof(*order));
	struct state st = {
		.host = host,
		.nets = nets,
		.settings = settings,
		.paths = ret,
		.order = order,
		.homes = homes,
		.locals = locals,
	};

	ret->to_net = rd_alloc(host->n_gpus * nets->n + 1, sizeof(*ret->to_net));
	ret->to_gpu = rd_alloc(host->n_gpus * nets->n + 1, sizeof(*ret->to_gpu));
	ret->offers = rd_alloc(host->n_gpus + 1, sizeof(*ret->offers));
	for (size_t g = 0; g < host->n_gpus; g++) {
		struct cpu_path best, way, to;

		ret->offers[g] = offer_of(host, system, g);
		/* ncclGetLocalCpu: among the best paths to each CPU, the one with the most bandwidth. */
		best = direct_cpu_path(host, g);
		for (size_t a = 0; a < host->n_gpus; a++) {
			if (a == g || !cpu_path_through_peer(host, g, a, &to))
				continue;
			for (size_t b = 0; b < host->n_gpus; b++)
				if (b != g && cpu_path_through_peer(host, g, b, &way) && way.numa == to.numa &&
				    is_better_cpu_path(host, &way, &to))
					to = way;
			if (is_better_cpu_path(host, &to, &best))
				best = to;
		}
		homes[g] = best;
		for (size_t n = 0; n < nets->n; n++)
			ret->to_net[at(&st, g, n)] = ret->to_gpu[at(&st, g, n)] = direct_path(host, g, &nets->v[n]);
	}
	for (size_t a = 0; a < host->n_gpus; a++)
		for (size_t b = 0; b < host->n_gpus; b++)
			order[a] += a != b && comes_before(&st, b, a);
	/* C2C plus PCI is P2C, but only to the nearest NICs, so PXN is preferred to other NICs. */
	for (size_t g = 0; g < st.host->n_gpus; g++) {
		size_t n = rd_nccl_local_nets(st.paths, st.nets->n, g, st.locals);

		for (size_t i = 0; st.homes[g].type == RD_PATH_P2C && i < n; i++) {
			size_t k = at(&st, g, st.locals[i]);

			if (st.nets->v[st.locals[i]].numa == st.homes[g].numa && st.paths->to_net[k].type > RD_PATH_P2C)
				st.paths->to_net[k].type = st.paths->to_gpu[k].type = RD_PATH_P2C;
		}
	}
	for (size_t i = 0; i < nets->n * host->n_gpus; i++) {
		size_t n = i / host->n_gpus, g = 0;

		while (g + 1 < host->n_gpus && order[g] != i % host->n_gpus)
			g++;
		try_pxn(&st, g, n);
		divert_through_cpu(&st, g, n);
	}
}

void rd_nccl_paths_deinit(struct rd_nccl_paths *paths)
{
	RD_FREE(paths->to_net, paths->to_gpu, paths->offers);
	*paths = (struct rd_nccl_paths){ 0 };
}
