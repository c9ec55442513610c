/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/nvshmem.h"

#include <errno.h>

#include "base/text.h"

enum { FREE = -1, NO_MORE = -2 };

struct candidate {
	unsigned pe;
	size_t dev; /* index into ports */
	enum rd_path path;
};

struct state {
	const struct rd_host *host;
	const struct rd_nicmap *map;
	int *ports; /* the devices: active ports in the order of libibverbs, taken for that of names */
	size_t n_devs;
	unsigned pes, each; /* each: devices a process gets at most */
	struct candidate *pairs;
	size_t n_pairs;
	long *taken;	    /* [pe * each + i]: device, or FREE, NO_MORE */
	enum rd_path *path; /* likewise */
	unsigned *users;    /* of each device */
};

static int gpu_of(const struct state *st, unsigned pe)
{
	return (int)(pe % st->host->n_gpus);
}

/* PIX and PXB are the same to it. */
static int merit(enum rd_path path)
{
	switch (path) {
	case RD_PATH_PIX:
	case RD_PATH_PXB:
		return 4;
	case RD_PATH_PHB:
		return 3;
	case RD_PATH_NODE:
		return 2;
	default:
		return 1;
	}
}

/* Sorted by path; among equals the order of processes, then of devices. */
static void make_pairs(struct state *st)
{
	for (int path = RD_PATH_PIX; path <= RD_PATH_SYS + 1; path++)
		for (unsigned pe = 0; pe < st->pes; pe++)
			for (size_t d = 0; d < st->n_devs; d++) {
				size_t ibdev = (size_t)st->host->ports[st->ports[d]].ibdev;
				enum rd_path own = rd_nicmap_pair(st->map, (size_t)gpu_of(st, pe), ibdev)->nvshmem;

				if ((own == RD_PATH_UNKNOWN ? RD_PATH_SYS + 1 : (int)own) == path)
					st->pairs[st->n_pairs++] = (struct candidate){ pe, d, own };
			}
}

static void pass_one(struct state *st)
{
	size_t settled = 0;

	for (size_t i = 0; i < st->n_pairs && settled < (size_t)st->pes * st->each; i++) {
		const struct candidate *pair = &st->pairs[i];
		size_t base = (size_t)pair->pe * st->each, slot = base;

		while (slot < base + st->each && st->taken[slot] != FREE)
			slot++;
		if (slot == base + st->each)
			continue;
		if (merit(pair->path) < merit(st->path[base])) {
			for (; slot < base + st->each; slot++, settled++)
				st->taken[slot] = NO_MORE;
			continue;
		}
		st->taken[slot] = (long)pair->dev;
		st->path[slot] = pair->path;
		st->users[pair->dev]++;
		settled++;
	}
}

static void relieve(struct state *st, unsigned pe, size_t slot)
{
	unsigned density = st->users[st->taken[slot]];

	for (size_t i = 0; i < st->n_pairs && density >= 2; i++) {
		const struct candidate *pair = &st->pairs[i];

		if (pair->pe != pe)
			continue;
		if (merit(pair->path) < merit(st->path[slot]))
			break;
		if (density < st->users[pair->dev] + 2)
			continue;
		st->users[st->taken[slot]]--;
		density = ++st->users[pair->dev];
		st->taken[slot] = (long)pair->dev;
		st->path[slot] = pair->path;
	}
}

static void pass_two(struct state *st)
{
	for (unsigned pe = 0; pe < st->pes; pe++)
		for (size_t slot = (size_t)pe * st->each; slot < (size_t)(pe + 1) * st->each; slot++)
			if (st->taken[slot] >= 0)
				relieve(st, pe, slot);
}

static int answer(struct state *st, struct rd_choices *ret)
{
	ret->v = calloc(st->pes + 1, sizeof(*ret->v));
	if (!ret->v)
		return -ENOMEM;
	for (unsigned pe = 0; pe < st->pes; pe++) {
		struct rd_choice *choice = &ret->v[ret->n++];
		size_t base = (size_t)pe * st->each;
		const char *path;

		choice->gpu = gpu_of(st, pe);
		choice->backup = -1;
		choice->ports = calloc(st->each + 1, sizeof(*choice->ports));
		if (!choice->ports)
			return -ENOMEM;
		for (unsigned i = 0; i < st->each; i++)
			if (st->taken[base + i] >= 0)
				choice->ports[choice->n_ports++] = st->ports[st->taken[base + i]];
		if (choice->n_ports == 0)
			continue;
		path = rd_path_name(st->path[base]);
		choice->why = rd_text("process %u: %s by its rule; %u on this NIC", pe,
				      path ? path : "distance unknown", st->users[st->taken[base]]);
		if (!choice->why)
			return -ENOMEM;
	}
	ret->note =
		rd_text("for %u processes on this host; NVSHMEM_ENABLE_NIC_PE_MAPPING not set. NVSHMEM_HCA_PREFIX is "
			"mlx5: IBGDA leaves out what is named otherwise",
			st->pes);
	return ret->note ? 0 : -ENOMEM;
}

int rd_nvshmem_choose(const struct rd_host *host, const struct rd_nicmap *map, unsigned pes, const bool *allowed,
		      struct rd_choices *ret)
{
	_cleanup_free_ int *ports = calloc(host->n_ports + 1, sizeof(*ports));
	struct state st = { .host = host, .map = map, .ports = ports };
	_cleanup_free_ struct candidate *pairs = NULL;
	_cleanup_free_ long *taken = NULL;
	_cleanup_free_ enum rd_path *path = NULL;
	_cleanup_free_ unsigned *users = NULL;

	if (!ports)
		return -ENOMEM;
	for (size_t p = 0; p < host->n_ports; p++)
		if ((allowed ? allowed[p] : true) &&
		    (rd_port_active(&host->ports[p]) || (host->from_topology_file && !host->ports[p].state)))
			ports[st.n_devs++] = (int)p;
	st.pes = host->n_gpus == 0 || st.n_devs == 0 ? 0 : pes ? pes : (unsigned)host->n_gpus;
	st.each = st.pes && st.n_devs / st.pes > 0 ? (unsigned)(st.n_devs / st.pes) : 1;
	st.pairs = pairs = calloc((size_t)st.pes * st.n_devs + 1, sizeof(*pairs));
	st.taken = taken = calloc((size_t)st.pes * st.each + 1, sizeof(*taken));
	st.path = path = calloc((size_t)st.pes * st.each + 1, sizeof(*path));
	st.users = users = calloc(st.n_devs + 1, sizeof(*users));
	if (!pairs || !taken || !path || !users)
		return -ENOMEM;
	for (size_t i = 0; i < (size_t)st.pes * st.each; i++) {
		taken[i] = FREE;
		path[i] = RD_PATH_SYS;
	}
	make_pairs(&st);
	pass_one(&st);
	pass_two(&st);
	return answer(&st, ret);
}
