/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The NICs that NCCL builds from the ports, and those that it assigns to each accelerator (src/graph/topo.cc,
 * ncclTopoGetLocalNetType); NCCL_IB_HCA. */
#include "analyse/nccl/nccl.h"

#include "analyse/nccl/nccl-priv.h"
#include "analyse/shared/distance.h"

/* NCCL_IB_HCA (src/transport/net_ib/init.cc, src/misc/utils.cc). */

void rd_hca_list_parse(const char *value, struct rd_hca_list *ret)
{
	rd_hca_list_parse_most(value, RD_NCCL_HCAS, ret);
}

void rd_hca_list_parse_most(const char *value, size_t most, struct rd_hca_list *ret)
{
	size_t cap = 1;

	*ret = (struct rd_hca_list){ 0 };
	ret->exclude = *value == '^';
	value += ret->exclude;
	ret->exact = *value == '=';
	value += ret->exact;
	for (const char *c = value; *c && cap < most; c++)
		cap += *c == ',';
	ret->v = rd_alloc(cap, sizeof(*ret->v));
	while (*value) {
		struct rd_hca_entry entry = { .port = -1 };
		size_t n = strcspn(value, ","), name = strcspn(value, ":,");

		snprintf(entry.name, sizeof(entry.name), "%.*s", (int)name, value);
		if (name < n && name + 1 < n && value[name + 1] != ':')
			entry.port = rd_as_atoi(value + name + 1);
		if (name > 0 && ret->n == most)
			ret->left++;
		else if (name > 0)
			ret->v[ret->n++] = entry;
		value += n + (value[n] == ',');
	}
}

void rd_hca_list_deinit(struct rd_hca_list *list)
{
	free(list->v);
	*list = (struct rd_hca_list){ 0 };
}

bool rd_hca_entry_matches(const struct rd_hca_list *list, const struct rd_hca_entry *entry, const char *name,
			  unsigned port)
{
	if (entry->port != -1 && entry->port != (int)port)
		return false;
	return list->exact ? strcmp(name, entry->name) == 0 : rd_starts_with(name, entry->name);
}

bool rd_hca_list_allows(const struct rd_hca_list *list, const char *name, unsigned port)
{
	bool matches = list->n == 0;

	for (size_t i = 0; i < list->n && !matches; i++)
		matches = rd_hca_entry_matches(list, &list->v[i], name, port);
	return matches != list->exclude;
}

/* The NICs that NCCL builds from the ports (src/transport/net_ib/init.cc, src/graph/topo.cc). */

/* MAX_IB_DEVS, NCCL_NET_MAX_DEVS_PER_NIC. */
#define DEVICES_MAX 32
#define MERGED_MAX 8

/* A port in NCCL's device list, and the PCI function that NCCL attaches it to. */
struct device {
	int port, pci;
	uint64_t place; /* PCI address that NCCL assigns to the device: devices with the same one are one NIC */
	bool direct, placed;
};

struct state {
	const struct rd_host *host;
	const struct rd_nccl_settings *settings;
	struct device v[DEVICES_MAX];
	size_t n;
	bool apart[DEVICES_MAX][DEVICES_MAX]; /* merging these two failed */
};

static bool is_usable_port(const struct rd_host *host, const struct rd_nccl_settings *settings, size_t p)
{
	const struct rd_port *port = &host->ports[p];

	if (settings->allowed && !settings->allowed[p])
		return false;
	/* NCCL does not support EFA's link layer; Gaudi ports are used by HCCL only. */
	return !rd_ibdev_is_efa(host, port->ibdev) && !rd_ibdev_is_gaudi(host, port->ibdev) &&
	       (rd_port_active(port) || (host->from_topology_file && !port->state));
}

static uint64_t place_of(const struct rd_pci *pci)
{
	return (uint64_t)pci->domain << 16 | (uint64_t)pci->bus << 8 | (uint64_t)pci->dev << 3 | pci->fn;
}

static int find_place(const struct rd_host *host, uint64_t place)
{
	for (size_t i = 0; i < host->n_pcis; i++)
		if (place_of(&host->pcis[i]) == place)
			return (int)i;
	return -1;
}

int rd_nccl_place(const struct rd_host *host, int ibdev)
{
	const struct rd_ibdev *dev = &host->ibdevs[ibdev];
	int first;

	if (dev->data_direct >= 0 || dev->pci < 0 || host->from_topology_file)
		return dev->data_direct >= 0 ? dev->data_direct : dev->pci;
	first = find_place(host, place_of(&host->pcis[dev->pci]) & ~(uint64_t)0xff);
	return first >= 0 ? first : dev->pci;
}

/* ncclIbCompareDevs: sorts by the address of the device itself; devices without one come last. */
static uint64_t order_of(const struct rd_host *host, const struct device *dev)
{
	int pci = host->ibdevs[host->ports[dev->port].ibdev].pci;

	return pci < 0 ? UINT64_MAX : place_of(&host->pcis[pci]);
}

/* The CPU that a topology file lists the device under. */
static int cpu_of(const struct state *st, const struct device *dev)
{
	return st->host->ibdevs[st->host->ports[dev->port].ibdev].numa;
}

/* ncclTopoGetPath: devices on one function, or on functions of one card, are ports of one NIC, and so are devices without a
 * function on the same CPU. More distant ones are merged up to NCCL_NET_MERGE_LEVEL. */
static bool can_merge(const struct state *st, size_t i, size_t j)
{
	const struct device *a = &st->v[i], *b = &st->v[j];

	if (st->apart[i][j])
		return false;
	if (a->pci < 0 && b->pci < 0)
		return !st->host->from_topology_file || cpu_of(st, a) == cpu_of(st, b);
	if ((a->place | 7) == (b->place | 7))
		return true;
	if (st->settings->merge_level == RD_PATH_UNKNOWN || a->pci < 0 || b->pci < 0)
		return false;
	return rd_distance_nccl_pci(st->host, a->pci, b->pci, rd_pci_numa(st->host, b->pci)) <=
	       st->settings->merge_level;
}

/* ncclIbMakeVDeviceInternal */
static bool link_layers_differ(const struct state *st, const size_t *members, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (rd_port_is_ethernet(&st->host->ports[st->v[members[i]].port]) !=
		    rd_port_is_ethernet(&st->host->ports[st->v[members[0]].port]))
			return true;
	return false;
}

/* ncclTopoAutoMerge: the devices to merge with the first remaining one; if they cannot be merged, it stays a NIC of its own. */
static size_t next_group(struct state *st, size_t first, size_t *members)
{
	size_t n = 0;

	members[n++] = first;
	for (size_t j = 0; st->settings->merge && j < st->n && n < MERGED_MAX; j++)
		if (j != first && !st->v[j].placed && can_merge(st, first, j))
			members[n++] = j;
	if (link_layers_differ(st, members, n)) {
		for (size_t i = 1; i < n; i++)
			st->apart[first][members[i]] = st->apart[members[i]][first] = true;
		n = 1;
	}
	for (size_t i = 0; i < n; i++)
		st->v[members[i]].placed = true;
	return n;
}

static void add_net(const struct state *st, const size_t *members, size_t n, struct rd_nccl_nets *ret)
{
	struct rd_nccl_net *net = &ret->v[ret->n++];
	_cleanup_buf_ struct rd_buf name = { 0 };

	*net = (struct rd_nccl_net){ .ports = rd_alloc(n, sizeof(*net->ports)), .pci = st->v[members[0]].pci };
	net->numa = rd_nccl_numa(st->host, st->host->ports[st->v[members[0]].port].ibdev, net->pci);
	for (size_t i = 0; i < n; i++) {
		const struct device *dev = &st->v[members[i]];
		const struct rd_port *port = &st->host->ports[dev->port];

		net->ports[net->n_ports++] = dev->port;
		/* NCCL assumes 10 Gb/s for a NIC without a speed. */
		net->gbps += port->rate_gbps.known == RD_OK && port->rate_gbps.v > 0 ? port->rate_gbps.v : 10;
		net->data_direct |= dev->direct;
		rd_buf_printf(&name, "%s%s%s", i > 0 ? "+" : "", rd_ibdev_label(st->host, port->ibdev),
			      dev->direct ? "_dma" : "");
	}
	net->name = RD_TAKE(name.data);
}

/* NCCL walks its tree CPU by CPU, in the order in which it found them: that of the first accelerator, then those of NICs. */
static int cpu_rank(const struct rd_host *host, const struct rd_nccl_nets *nets, int numa)
{
	if (host->n_gpus > 0 && rd_pci_numa(host, host->gpus[0].pci) == numa)
		return -1;
	for (size_t i = 0; i < nets->n; i++)
		if (nets->v[i].numa == numa)
			return (int)i;
	return -1;
}

/* Groups are in the order of their first member. */
static void sort_by_cpu(const struct rd_host *host, struct rd_nccl_nets *nets)
{
	_cleanup_free_ int *ranks = rd_alloc(nets->n + 1, sizeof(*ranks));

	for (size_t i = 0; i < nets->n; i++)
		ranks[i] = cpu_rank(host, nets, nets->v[i].numa);
	for (size_t i = 1; i < nets->n; i++)
		for (size_t j = i; j > 0 && ranks[j] < ranks[j - 1]; j--) {
			struct rd_nccl_net net = nets->v[j];
			int rank = ranks[j];

			nets->v[j] = nets->v[j - 1];
			nets->v[j - 1] = net;
			ranks[j] = ranks[j - 1];
			ranks[j - 1] = rank;
		}
}

static bool has_several_functions(const struct rd_host *host, const struct rd_nccl_net *net)
{
	for (size_t i = 1; i < net->n_ports; i++)
		if (host->ibdevs[host->ports[net->ports[i]].ibdev].pci != net->pci)
			return true;
	return false;
}

/* `top` -1: the CPU of this NUMA node. A NIC without a function is where the file lists it, whichever CPU it is attached to. */
static bool is_below(const struct rd_host *host, const struct rd_nccl_net *net, int top, int numa)
{
	if (top < 0)
		return (net->pci < 0 ? host->ibdevs[host->ports[net->ports[0]].ibdev].numa : net->numa) == numa;
	for (int pci = net->pci; pci >= 0; pci = host->pcis[pci].parent)
		if (host->pcis[pci].parent == top)
			return true;
	return false;
}

/* ncclTopoMakePciParent: ports that a topology file lists as separate functions become one NIC, which is the last child of
 * their parent node. The children of a node are consecutive. */
static void move_merged(const struct rd_host *host, struct rd_nccl_nets *nets)
{
	for (size_t p = 0, i; p < host->n_ports; p++) {
		for (i = 0; i < nets->n && nets->v[i].ports[0] != (int)p; i++)
			;
		if (i == nets->n || !has_several_functions(host, &nets->v[i]))
			continue;
		for (size_t last = nets->n - 1; last > i; last--) {
			struct rd_nccl_net net = nets->v[i];

			if (!is_below(host, &nets->v[last], host->pcis[net.pci].parent, net.numa))
				continue;
			memmove(&nets->v[i], &nets->v[i + 1], (last - i) * sizeof(net));
			nets->v[last] = net;
			break;
		}
	}
}

static void find_nets(const struct rd_host *host, const struct rd_nccl_settings *settings, struct rd_nccl_nets *ret)
{
	_cleanup_free_ struct state *st = rd_alloc(1, sizeof(*st));
	size_t members[MERGED_MAX];

	*ret = (struct rd_nccl_nets){
		.v = rd_alloc(DEVICES_MAX, sizeof(*ret->v)),
		.lost = rd_alloc(DEVICES_MAX, sizeof(*ret->lost)),
	};
	st->host = host;
	st->settings = settings;
	for (size_t p = 0; p < st->host->n_ports && st->n < DEVICES_MAX; p++)
		if (is_usable_port(st->host, st->settings, p))
			st->v[st->n++] = (struct device){ .port = (int)p };
	/* A topology file keeps its own order. */
	for (size_t i = 1; !st->host->from_topology_file && i < st->n; i++)
		for (size_t j = i; j > 0 && order_of(st->host, &st->v[j]) < order_of(st->host, &st->v[j - 1]); j--) {
			struct device swapped = st->v[j];

			st->v[j] = st->v[j - 1];
			st->v[j - 1] = swapped;
		}
	for (size_t i = 0; i < st->n; i++) {
		/* ncclIbGetPciPath: in the address "BBBB:BB:DD.F", F becomes 0, and so does DD unless NCCL_IB_MERGE_VFS is 0.
		 * If no such function exists, NCCL finds no PCI device and uses the first CPU. The address of a Data Direct
		 * function is not changed; in a topology file the addresses are already changed. */
		const struct rd_ibdev *ibdev = &st->host->ibdevs[st->host->ports[st->v[i].port].ibdev];

		st->v[i].direct = ibdev->data_direct >= 0;
		st->v[i].pci = st->v[i].direct ? ibdev->data_direct : ibdev->pci;
		st->v[i].place = st->v[i].pci < 0 ? UINT64_MAX : place_of(&st->host->pcis[st->v[i].pci]);
		if (st->v[i].pci < 0 || st->v[i].direct || st->host->from_topology_file)
			continue;
		st->v[i].place &= st->settings->merge_vfs ? ~(uint64_t)0xff : ~(uint64_t)7;
		st->v[i].pci = find_place(st->host, st->v[i].place);
	}
	for (size_t i = 0; i < st->n; i++) {
		size_t n = st->v[i].placed ? 0 : next_group(st, i, members);

		/* ncclTopoGetVNicParent: a merged NIC without a PCI function is added under the first device's <nic>, where
		 * ncclTopoAddNic does not look for it, and the single NICs have been removed by then. */
		if (n > 0 && (n == 1 || st->v[members[0]].pci >= 0))
			add_net(st, members, n, ret);
		else
			for (size_t k = 0; k < n; k++)
				ret->lost[ret->n_lost++] = st->v[members[k]].port;
	}
	if (host->from_topology_file)
		move_merged(host, ret);
	else
		sort_by_cpu(host, ret);
}

/* The NICs that NCCL assigns to each accelerator (src/graph/topo.cc, ncclTopoGetLocalNetType). */

/* More accelerators than any host has: a topology file can hold thousands, and PXN is computed for all pairs. */
#define GPUS_MAX 64

struct rd_nccl_settings rd_nccl_defaults(void)
{
	return (struct rd_nccl_settings){
		.merge_vfs = true, .merge = true, .pxn = true, .pxn_c2c = true, .gdr_level = RD_PATH_P2C
	};
}

/* The best of `count` paths, of which each is `step` elements after the one before: `ret` receives their numbers. */
static size_t best_of(const struct rd_nccl_path *paths, size_t count, size_t step, size_t *ret)
{
	const struct rd_nccl_path none = { .type = RD_PATH_SYS + 1 }, *best = &none;
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		const struct rd_nccl_path *path = &paths[i * step];

		/* More bandwidth, or the same and nearer. */
		if (path->bw > best->bw || (path->bw == best->bw && path->type < best->type)) {
			best = path;
			n = 0;
		}
		if (path->bw == best->bw && path->type == best->type)
			ret[n++] = i;
	}
	return n;
}

size_t rd_nccl_local_nets(const struct rd_nccl_paths *paths, size_t n_nets, size_t gpu, size_t *ret)
{
	return best_of(&paths->to_net[gpu * n_nets], n_nets, 1, ret);
}

size_t rd_nccl_local_gpus(const struct rd_nccl_paths *paths, size_t n_nets, size_t n_gpus, size_t net, size_t *ret)
{
	return best_of(&paths->to_gpu[net], n_gpus, n_nets, ret);
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
	share.n_gpus = share.n_gpus ?: 1;
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
		pair->gpudirect_why =
			path == RD_PATH_PHB ?
				"PHB is farther than NCCL_NET_GDR_LEVEL allows (PXB): NCCL copies through host memory" :
			path == RD_PATH_SYS ?
				"SYS is farther than NCCL_NET_GDR_LEVEL allows (PXB): NCCL copies through host memory" :
				"farther than NCCL_NET_GDR_LEVEL allows: NCCL copies through host memory";
	}
}

static char *note_of(const struct rd_host *host, const struct rd_nccl_nets *nets)
{
	bool efa = rd_host_has_efa(host), supported = host->n_gpus == 0;

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

	find_nets(host, settings, &map->nccl_nets);
	locals = rd_alloc(map->nccl_nets.n + host->n_gpus + 1, sizeof(*locals));
	map->nccl.v = rd_alloc(n_gpus + 1, sizeof(*map->nccl.v));
	map->nccl.note = note_of(host, &map->nccl_nets);
	if (n_gpus)
		rd_nccl_paths_find(host, system, &map->nccl_nets, settings, &paths);
	for (size_t g = 0; g < n_gpus; g++) {
		choose_for(host, &paths, &map->nccl_nets, g, locals, &map->nccl.v[map->nccl.n++]);
		for (size_t d = 0; d < host->n_ibdevs; d++) {
			struct rd_pair *pair = &map->pairs[g * map->n_ibdevs + d];
			long net = net_of_ibdev(host, &map->nccl_nets, d);
			enum rd_path physical = rd_distance_nccl(host, (int)g, (int)d);

			pair->nccl = physical;
			pair->via = -1;
			if (net < 0 || !is_supported(&host->gpus[g])) {
				pair->gpudirect_why = net < 0 ? "NCCL does not use this NIC" :
								"NCCL does not support this accelerator";
				continue;
			}
			pair->nccl = paths.to_net[g * map->nccl_nets.n + (size_t)net].type;
			pair->via = paths.to_net[g * map->nccl_nets.n + (size_t)net].via;
			/* Without GPUDirect RDMA the path was diverted through the CPU: the physical distance counts. */
			set_gpudirect(host, &paths,
				      physical <= settings->gdr_level ||
					      rd_nccl_near_enough(settings, &paths, map->nccl_nets.n, g, (size_t)net),
				      pair->nccl, g, d, pair);
		}
	}
}
