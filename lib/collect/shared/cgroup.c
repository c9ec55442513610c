// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/shared/cgroup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"

#define PATHS_MAX 4096	/* ids remembered, also those that were not found */
#define WALK_DIRS 20000 /* cgroups looked at in one search */
#define WALK_DEPTH 24
#define WALK_SHARE 20 /* of the time: a search is followed by a pause that is so many times as long */

/* The inode number that the initial pid namespace has on every kernel (PROC_PID_INIT_INO). */
#define INIT_PID_NS "pid:[4026531836]"

struct known {
	uint64_t id;
	char *path; /* NULL: searched for in vain */
};

struct rd_cgroups {
	struct rd_source *src;
	const char *mount; /* NULL: no unified hierarchy */
	bool init_pid_ns;
	struct known *known;
	size_t n, cap;
	uint64_t walk_again; /* not before this time */
};

int rd_cgroups_create(struct rd_source *src, struct rd_cgroups **ret)
{
	static const char *const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	struct rd_cgroups *cg = calloc(1, sizeof(*cg));
	_cleanup_free_ char *ns = NULL;

	if (!cg)
		return -ENOMEM;
	cg->src = src;
	for (size_t i = 0; i < RD_ARRAY_SIZE(mounts) && !cg->mount; i++) {
		_cleanup_bytes_ struct rd_bytes bytes = { 0 };
		char path[64];

		snprintf(path, sizeof(path), "%s/cgroup.controllers", mounts[i]);
		if (!rd_read_file(src, path, &bytes, NULL))
			cg->mount = mounts[i];
	}
	/* Where the link cannot be read, processes are taken for ours to see: /proc then says ENOENT if not. */
	cg->init_pid_ns = rd_read_link(src, "/proc/self/ns/pid", &ns, NULL) || !strcmp(ns, INIT_PID_NS);
	*ret = cg;
	return 0;
}

void rd_cgroups_destroy(struct rd_cgroups *cg)
{
	if (!cg)
		return;
	for (size_t i = 0; i < cg->n; i++)
		free(cg->known[i].path);
	free(cg->known);
	free(cg);
}

int rd_cgroups_id(struct rd_cgroups *cg, const char *path, uint64_t *ret, struct rd_err *err)
{
	char dir[4096];

	if (!cg->mount)
		return rd_err_set(err, ENOTSUP, path, "this host has no unified cgroup hierarchy to filter by");
	if (!strncmp(path, cg->mount, strlen(cg->mount)))
		path += strlen(cg->mount);
	if ((size_t)snprintf(dir, sizeof(dir), "%s%s%s", cg->mount, *path == '/' ? "" : "/", path) >= sizeof(dir))
		return rd_err_set(err, ENAMETOOLONG, "cgroup", "its path is too long");
	if (cg->src->ops->stat_ino(cg->src, dir, ret, NULL))
		return rd_err_set(err, ENOENT, dir, "there is no such cgroup");
	return 0;
}

bool rd_cgroups_initial_pids(const struct rd_cgroups *cg)
{
	return cg->init_pid_ns;
}

static struct known *find(struct rd_cgroups *cg, uint64_t id)
{
	for (size_t i = 0; i < cg->n; i++)
		if (cg->known[i].id == id)
			return &cg->known[i];
	return NULL;
}

/* Takes `path` over. */
static void keep(struct rd_cgroups *cg, uint64_t id, char *path)
{
	struct known *k = find(cg, id);

	if (!k && cg->n < PATHS_MAX && !rd_grow(&cg->known, &cg->cap, cg->n + 1, sizeof(*cg->known))) {
		k = &cg->known[cg->n++];
		*k = (struct known){ .id = id };
	}
	if (!k) {
		free(path);
		return;
	}
	free(k->path);
	k->path = path;
}

/*
 * How much a line of /proc/PID/cgroup is to be trusted to name the job: job managers make a cgroup per job in the v1
 * hierarchies they control (Slurm in the freezer at least), while the unified one of such a host is systemd's alone.
 */
static int rank_line(const char *controllers, size_t len)
{
	static const struct {
		const char *name;
		int rank;
	} ranks[] = { { "", 3 },       { "name=systemd", 2 }, { "devices", 4 },
		      { "memory", 5 }, { "cpuset", 6 },	      { "freezer", 7 } };
	const char *end = controllers + len, *next;
	int best = 0;

	for (const char *p = controllers; p <= end; p = next + 1) {
		next = memchr(p, ',', end - p);
		if (!next)
			next = end;
		for (size_t i = 0; i < RD_ARRAY_SIZE(ranks); i++)
			if ((size_t)(next - p) == strlen(ranks[i].name) && !memcmp(p, ranks[i].name, next - p) &&
			    ranks[i].rank > best)
				best = ranks[i].rank;
	}
	return best;
}

size_t rd_cgroup_parse(const char *text, const char **ret)
{
	size_t best = 0;
	int best_rank = 0;

	while (*text) {
		const char *line = text, *eol = strchrnul(text, '\n');
		const char *number = memchr(line, ':', eol - line), *controllers = number ? number + 1 : eol;
		const char *path = memchr(controllers, ':', eol - controllers);
		int rank;

		text = *eol ? eol + 1 : eol;
		if (!path || path + 1 == eol || path[1] != '/')
			continue;
		rank = rank_line(controllers, path - controllers);
		if (rank && eol - path == 2)
			rank = 1; /* the root of a hierarchy says only that it is not used */
		if (rank > best_rank) {
			best_rank = rank;
			*ret = path + 1;
			best = eol - path - 1;
		}
	}
	return best;
}

/* From /proc; NULL if the process has gone or is not in the cgroup that it was in. */
static char *path_of_process(struct rd_cgroups *cg, uint32_t pid, uint64_t id)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	char file[64], *path, dir[4096];
	const char *text = NULL;
	uint64_t ino;
	size_t len;

	snprintf(file, sizeof(file), "/proc/%u/cgroup", pid);
	if (!cg->init_pid_ns || rd_read_file(cg->src, file, &bytes, NULL))
		return NULL;
	len = rd_cgroup_parse((const char *)bytes.data, &text);
	if (!len || !(path = strndup(text, len)))
		return NULL;
	/* Another process may have the number by now, or this one may have been moved. */
	if (cg->mount && id && (size_t)snprintf(dir, sizeof(dir), "%s%s", cg->mount, path) < sizeof(dir) &&
	    !cg->src->ops->stat_ino(cg->src, dir, &ino, NULL)) {
		if (ino != id) {
			free(path);
			return NULL;
		}
		keep(cg, id, rd_dup(path));
	}
	return path;
}

/* The files that the kernel itself puts into each cgroup; directories are named by people and programs. */
static bool is_interface_file(const char *name)
{
	static const char *const prefixes[] = { "cgroup.",  "memory.", "cpu.",	"cpuset.", "io.",  "pids.",
						"hugetlb.", "rdma.",   "misc.", "irq.",	   "dmem." };

	for (size_t i = 0; i < RD_ARRAY_SIZE(prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

struct walk {
	struct rd_cgroups *cg;
	uint64_t id;
	size_t budget;
	char *found; /* path below the mount */
};

/* `path` is the directory's own, below the mount ("" for the mount itself). */
static void walk(struct walk *w, const char *path, int depth)
{
	_cleanup_names_ struct rd_names names = { 0 };
	_cleanup_free_ char *dir = NULL;

	if (asprintf(&dir, "%s%s", w->cg->mount, path) < 0) {
		dir = NULL;
		return;
	}
	if (rd_list_dir(w->cg->src, dir, &names, NULL))
		return;
	for (size_t i = 0; i < names.n && !w->found && w->budget; i++) {
		_cleanup_free_ char *below = NULL, *full = NULL;
		uint64_t ino;

		if (is_interface_file(names.v[i]))
			continue;
		w->budget--;
		if (asprintf(&below, "%s/%s", path, names.v[i]) < 0) {
			below = NULL;
			return;
		}
		if (asprintf(&full, "%s%s", w->cg->mount, below) < 0) {
			full = NULL;
			return;
		}
		if (w->cg->src->ops->stat_ino(w->cg->src, full, &ino, NULL))
			continue;
		if (ino == w->id)
			w->found = RD_TAKE(below);
		else if (depth < WALK_DEPTH)
			walk(w, below, depth + 1);
	}
}

static char *path_of_id(struct rd_cgroups *cg, uint64_t id)
{
	struct walk w = { .cg = cg, .id = id, .budget = WALK_DIRS };
	uint64_t now = cg->src->ops->now(cg->src, CLOCK_MONOTONIC), ino;
	struct known *k = find(cg, id);

	if (k)
		return rd_dup_if(k->path);
	if (!cg->mount || !id || now < cg->walk_again)
		return NULL;
	if (!cg->src->ops->stat_ino(cg->src, cg->mount, &ino, NULL) && ino == id)
		w.found = rd_dup("/");
	else
		walk(&w, "", 0);
	keep(cg, id, rd_dup_if(w.found));
	cg->walk_again = now + (cg->src->ops->now(cg->src, CLOCK_MONOTONIC) - now) * WALK_SHARE;
	return w.found;
}

char *rd_cgroups_path(struct rd_cgroups *cg, uint32_t pid, uint64_t id)
{
	char *path = path_of_process(cg, pid, id);

	return path ? path : path_of_id(cg, id);
}
