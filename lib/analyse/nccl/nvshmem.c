/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/nccl/nccl.h"

enum { FREE = -1, NO_MORE = -2 };

struct candidate {
	unsigned pe;
	size_t dev; /* index into ports */
	enum rd_path path;
};

struct state {
	const struct rd_host *host;
	const struct rd_nicmap *map;
	int *ports; /* the devices: active ports in the order of libibverbs, assumed to be that of names */
	size_t n_devs;
	unsigned pes, each; /* each: maximum number of devices per PE */
	struct candidate *pairs;
	size_t n_pairs;
	long *taken;	    /* [pe * each + i]: device, or FREE, NO_MORE */
	enum rd_path *path; /* of taken[], same index */
	unsigned *users;    /* number of PEs on each device */
};

static int gpu_of(const struct state *st, unsigned pe)
{
	return (int)(pe % st->host->n_gpus);
}

/* NVSHMEM treats PIX and PXB as equal. */
static int merit(enum rd_path path)
{
	return path == RD_PATH_PIX || path == RD_PATH_PXB ? 4 : path == RD_PATH_PHB ? 3 : path == RD_PATH_NODE ? 2 : 1;
}

/* NVSHMEM's sort order: unknown distances come last. */
static int rank_of(const struct state *st, unsigned pe, size_t dev, enum rd_path *path)
{
	*path = rd_nicmap_pair(st->map, (size_t)gpu_of(st, pe), (size_t)st->host->ports[st->ports[dev]].ibdev)->nvshmem;
	return *path == RD_PATH_UNKNOWN ? RD_PATH_SYS + 1 : (int)*path;
}

/* Rebalances one PE, over its own pairs in the same order. */
static void rebalance_pe(struct state *st, unsigned pe, size_t slot)
{
	unsigned density = st->users[st->taken[slot]];
	enum rd_path path;

	for (int rank = RD_PATH_PIX; rank <= RD_PATH_SYS + 1; rank++)
		for (size_t d = 0; d < st->n_devs && density >= 2; d++) {
			if (rank_of(st, pe, d, &path) != rank)
				continue;
			if (merit(path) < merit(st->path[slot]))
				return;
			/* An equally good device with at least two users fewer. */
			if (density < st->users[d] + 2)
				continue;
			st->users[st->taken[slot]]--;
			st->taken[slot] = (long)d;
			st->path[slot] = path;
			density = ++st->users[d];
		}
}

static void fill_choices(struct state *st, struct rd_choices *ret)
{
	ret->v = rd_alloc(st->pes + 1, sizeof(*ret->v));
	for (unsigned pe = 0; pe < st->pes; pe++) {
		struct rd_choice *choice = &ret->v[ret->n++];
		size_t base = (size_t)pe * st->each;
		const char *path;

		choice->gpu = gpu_of(st, pe);
		choice->backup = choice->library_backup = -1;
		choice->ports = rd_alloc(st->each + 1, sizeof(*choice->ports));
		for (unsigned i = 0; i < st->each; i++)
			if (st->taken[base + i] >= 0)
				choice->ports[choice->n_ports++] = st->ports[st->taken[base + i]];
		if (choice->n_ports == 0)
			continue;
		path = rd_path_name(st->path[base]);
		choice->why = rd_text("PE %u: %s by NVSHMEM's rule; PEs on this NIC: %u", pe,
				      path ?: "distance unknown", st->users[st->taken[base]]);
	}
	ret->note = st->pes == 0 ? rd_text("NVSHMEM supports NVIDIA accelerators only, and needs an active NIC") :
				   rd_text("by the rules of NVSHMEM %s"
					   " for %u PEs on this host; NVSHMEM_ENABLE_NIC_PE_MAPPING not set; "
					   "NVSHMEM_HCA_PREFIX is mlx5: IBGDA ignores devices with other names",
					   rd_library_release("nvshmem"), st->pes);
}

/* NVSHMEM supports NVIDIA accelerators only; a topology file may omit the vendor. */
static bool is_supported(const struct rd_host *host)
{
	for (size_t g = 0; g < host->n_gpus; g++)
		if (host->gpus[g].vendor && strcmp(host->gpus[g].vendor, "NVIDIA") != 0)
			return false;
	return host->n_gpus > 0;
}

void rd_nvshmem_choose(const struct rd_host *host, const struct rd_nicmap *map, unsigned pes, struct rd_choices *ret)
{
	_cleanup_free_ int *ports = rd_alloc(host->n_ports + 1, sizeof(*ports));
	struct state st = { .host = host, .map = map, .ports = ports };
	_cleanup_free_ struct candidate *pairs = NULL;
	_cleanup_free_ long *taken = NULL;
	_cleanup_free_ enum rd_path *path = NULL;
	_cleanup_free_ unsigned *users = NULL;
	size_t settled = 0;
	enum rd_path own;

	for (size_t p = 0; p < host->n_ports; p++)
		if (rd_port_active(&host->ports[p]) || (host->from_topology_file && !host->ports[p].state))
			ports[st.n_devs++] = (int)p;
	st.pes = !is_supported(host) || st.n_devs == 0 ? 0 : pes ?: (unsigned)host->n_gpus;
	st.each = st.pes && st.n_devs / st.pes > 0 ? (unsigned)(st.n_devs / st.pes) : 1;
	st.pairs = pairs = rd_alloc((size_t)st.pes * st.n_devs + 1, sizeof(*pairs));
	st.taken = taken = rd_alloc((size_t)st.pes * st.each + 1, sizeof(*taken));
	st.path = path = rd_alloc((size_t)st.pes * st.each + 1, sizeof(*path));
	st.users = users = rd_alloc(st.n_devs + 1, sizeof(*users));
	for (size_t i = 0; i < (size_t)st.pes * st.each; i++) {
		taken[i] = FREE;
		path[i] = RD_PATH_SYS;
	}
	/* Sorted by path, then by PE, then by device. */
	for (int rank = RD_PATH_PIX; rank <= RD_PATH_SYS + 1; rank++)
		for (unsigned pe = 0; pe < st.pes; pe++)
			for (size_t d = 0; d < st.n_devs; d++)
				if (rank_of(&st, pe, d, &own) == rank)
					st.pairs[st.n_pairs++] = (struct candidate){ pe, d, own };

	for (size_t i = 0; i < st.n_pairs && settled < (size_t)st.pes * st.each; i++) {
		const struct candidate *pair = &st.pairs[i];
		size_t base = (size_t)pair->pe * st.each, slot = base;

		while (slot < base + st.each && st.taken[slot] != FREE)
			slot++;
		if (slot == base + st.each)
			continue;
		if (merit(pair->path) < merit(st.path[base])) {
			for (; slot < base + st.each; slot++, settled++)
				st.taken[slot] = NO_MORE;
			continue;
		}
		st.taken[slot] = (long)pair->dev;
		st.path[slot] = pair->path;
		st.users[pair->dev]++;
		settled++;
	}
	/* Pass two. */
	for (size_t slot = 0; slot < (size_t)st.pes * st.each; slot++)
		if (taken[slot] >= 0)
			rebalance_pe(&st, (unsigned)(slot / st.each), slot);
	fill_choices(&st, ret);
}
