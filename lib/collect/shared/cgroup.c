/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Control groups, and the jobs that they are of. */
#include "collect/shared/cgroup.h"

#include <ctype.h>
#include <time.h>

#define PATHS_MAX 4096	/* cached ids, including those not found */
#define WALK_DIRS 20000 /* limit of cgroups read in one search */
#define WALK_DEPTH 24
#define WALK_PAUSE 20 /* the pause after a search, in multiples of its duration */

struct known {
	uint64_t id;
	char *path; /* NULL: not found */
};

struct rd_cgroups {
	struct rd_source *src;
	const char *mount; /* NULL: no unified hierarchy */
	struct known *known;
	size_t n, cap;
	uint64_t next_walk; /* earliest time of the next search, ns */
};

struct rd_cgroups *rd_cgroups_create(struct rd_source *src)
{
	static const char *const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	struct rd_cgroups *cg = rd_alloc(1, sizeof(*cg));

	cg->src = src;
	for (size_t i = 0; i < RD_ARRAY_SIZE(mounts) && !cg->mount; i++) {
		_cleanup_bytes_ struct rd_bytes bytes = { 0 };
		char path[64];

		snprintf(path, sizeof(path), "%s/cgroup.controllers", mounts[i]);
		if (!rd_read_file(src, path, &bytes, NULL))
			cg->mount = mounts[i];
	}
	return cg;
}

void rd_cgroups_destroy(struct rd_cgroups *cg)
{
	if (!cg)
		return;
	for (size_t i = 0; i < cg->n; i++)
		free(cg->known[i].path);
	RD_FREE(cg->known, cg);
}

int rd_cgroups_id(struct rd_cgroups *cg, const char *path, uint64_t *ret, struct rd_err *err)
{
	char dir[4096];

	if (!cg->mount)
		return rd_err_set(err, ENOTSUP, path,
				  "cannot filter by cgroup: this host has no unified cgroup hierarchy (cgroup v2)");
	if (rd_starts_with(path, cg->mount))
		path += strlen(cg->mount);
	if ((size_t)snprintf(dir, sizeof(dir), "%s%s%s", cg->mount, *path == '/' ? "" : "/", path) >= sizeof(dir))
		return rd_err_set(err, ENAMETOOLONG, "cgroup", "path is too long");
	return rd_stat(cg->src, RD_OP_INO, dir, ret, NULL) ? rd_err_set(err, ENOENT, dir, "no such cgroup") : 0;
}

static struct known *find_known(struct rd_cgroups *cg, uint64_t id)
{
	for (size_t i = 0; i < cg->n; i++)
		if (cg->known[i].id == id)
			return &cg->known[i];
	return NULL;
}

/* Takes ownership of `path`. */
static void remember_path(struct rd_cgroups *cg, uint64_t id, char *path)
{
	struct known *k = find_known(cg, id);

	if (!k && cg->n < PATHS_MAX) {
		k = RD_ADD(cg->known, cg->n, cg->cap);
		*k = (struct known){ .id = id };
	}
	if (!k)
		return free(path);
	free(k->path);
	k->path = path;
}

/*
 * How likely a line of /proc/PID/cgroup names the job, by its controllers. Job managers create a cgroup per job in the v1
 * hierarchies that they use (Slurm at least in the freezer), while the unified hierarchy of such a host is used only by systemd.
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
			rank = 1; /* at the root: the hierarchy is not used for this process */
		if (rank > best_rank) {
			best_rank = rank;
			*ret = path + 1;
			best = eol - path - 1;
		}
	}
	return best;
}

/* From /proc; NULL if the process has ended, or was moved to a different cgroup. */
static char *path_of_process(struct rd_cgroups *cg, uint32_t pid, uint64_t id)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	char file[64], *path, dir[4096];
	const char *text = NULL;
	uint64_t ino;
	size_t len;

	snprintf(file, sizeof(file), "/proc/%u/cgroup", pid);
	if (!pid || rd_read_file(cg->src, file, &bytes, NULL))
		return NULL;
	len = rd_cgroup_parse((const char *)bytes.data, &text);
	if (!len)
		return NULL;
	path = rd_dup_part(text, len);
	/* The pid may have been reused, or the process moved. */
	if (cg->mount && id && (size_t)snprintf(dir, sizeof(dir), "%s%s", cg->mount, path) < sizeof(dir) &&
	    !rd_stat(cg->src, RD_OP_INO, dir, &ino, NULL)) {
		if (ino != id) {
			free(path);
			return NULL;
		}
		remember_path(cg, id, rd_dup(path));
	}
	return path;
}

/* Whether the name is an interface file of the kernel, not a child cgroup. */
static bool is_interface_file(const char *name)
{
	static const char *const prefixes[] = { "cgroup.",  "memory.", "cpu.",	"cpuset.", "io.",  "pids.",
						"hugetlb.", "rdma.",   "misc.", "irq.",	   "dmem." };

	for (size_t i = 0; i < RD_ARRAY_SIZE(prefixes); i++)
		if (rd_starts_with(name, prefixes[i]))
			return true;
	return false;
}

struct search {
	struct rd_cgroups *cg;
	uint64_t id;
	size_t budget;
	char *found; /* path below the mount */
};

/* Searches the children of the directory `path`, relative to the mount ("": the mount itself). */
static void search_dir(struct search *w, const char *path, int depth)
{
	_cleanup_texts_ struct rd_texts names = { 0 };
	_cleanup_free_ char *dir = rd_text("%s%s", w->cg->mount, path);

	if (rd_list_dir(w->cg->src, dir, &names, NULL))
		return;
	for (size_t i = 0; i < names.n && !w->found && w->budget; i++) {
		_cleanup_free_ char *below = NULL, *full = NULL;
		uint64_t ino;

		if (is_interface_file(names.v[i]))
			continue;
		w->budget--;
		below = rd_text("%s/%s", path, names.v[i]);
		full = rd_text("%s%s", w->cg->mount, below);
		if (rd_stat(w->cg->src, RD_OP_INO, full, &ino, NULL))
			continue;
		if (ino == w->id)
			w->found = RD_TAKE(below);
		else if (depth < WALK_DEPTH)
			search_dir(w, below, depth + 1);
	}
}

char *rd_cgroups_path(struct rd_cgroups *cg, uint32_t pid, uint64_t id)
{
	char *path = path_of_process(cg, pid, id);
	struct search w = { .cg = cg, .id = id, .budget = WALK_DIRS };
	uint64_t now = cg->src->ops->now(cg->src, CLOCK_MONOTONIC), ino;
	struct known *k;

	if (path)
		return path;
	k = find_known(cg, id);
	if (k)
		return rd_dup_if(k->path);
	if (!cg->mount || !id || now < cg->next_walk)
		return NULL;
	if (!rd_stat(cg->src, RD_OP_INO, cg->mount, &ino, NULL) && ino == id)
		w.found = rd_dup("/");
	else
		search_dir(&w, "", 0);
	remember_path(cg, id, rd_dup_if(w.found));
	cg->next_walk = now + (cg->src->ops->now(cg->src, CLOCK_MONOTONIC) - now) * WALK_PAUSE;
	return w.found;
}

#define UID_DASHED 36 /* xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx */
#define UID_PLAIN 32  /* static pods: a hash */

/* One component of a path. */
struct component {
	const char *s;
	size_t n;
};

static bool next_component(const char **path, struct component *ret)
{
	*path += strspn(*path, "/");
	ret->s = *path;
	ret->n = strcspn(*path, "/");
	*path += ret->n;
	return ret->n > 0;
}

static bool starts_with(const struct component *p, const char *prefix)
{
	size_t n = strlen(prefix);

	return p->n >= n && !memcmp(p->s, prefix, n);
}

static bool ends_with(const struct component *p, const char *suffix)
{
	size_t n = strlen(suffix);

	return p->n >= n && !memcmp(p->s + p->n - n, suffix, n);
}

static bool equals(const struct component *p, const char *name)
{
	return p->n == strlen(name) && starts_with(p, name);
}

static bool is_word(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)s[i]) && s[i] != '+')
			return false;
	return n > 0;
}

static char *slurm_job(const char *path)
{
	struct component p, job = { NULL, 0 }, step = { NULL, 0 };
	bool slurm = false;

	while (next_component(&path, &p)) {
		/* "slurm", "slurm_node7" (v1); "slurmstepd.scope", "node7_slurmstepd.scope" (v2). */
		if (equals(&p, "slurm") || starts_with(&p, "slurm_") || equals(&p, "slurmstepd.scope") ||
		    ends_with(&p, "_slurmstepd.scope")) {
			slurm = true;
		} else if (slurm && starts_with(&p, "job_") && p.n > 4 && strspn(p.s + 4, "0123456789") == p.n - 4) {
			job = (struct component){ p.s + 4, p.n - 4 };
			step.n = 0;
		} else if (job.n && !step.n && starts_with(&p, "step_") && is_word(p.s + 5, p.n - 5)) {
			step = (struct component){ p.s + 5, p.n - 5 };
		}
	}
	if (!job.n)
		return NULL;
	return rd_text("slurm:%.*s%s%.*s", (int)job.n, job.s, step.n ? "." : "", (int)step.n, step.n ? step.s : "");
}

static char *kubernetes_job(const char *path)
{
	struct component p, uid = { NULL, 0 };
	bool below = false;
	char *ret = NULL;

	while (next_component(&path, &p)) {
		const char *pods = memmem(p.s, p.n, "kubepods", 8), *pod;
		size_t left, n;
		size_t i = 0;

		/* kubepods, kubepods.slice, kubepods-burstable-pod….slice, kubelet-kubepods… */
		if (pods && (pods == p.s || pods[-1] == '-'))
			below = true;
		if (!below)
			continue;
		pod = starts_with(&p, "pod") ? p.s + 3 : NULL;
		if (!pod && pods && (pod = memmem(pods, p.n - (pods - p.s), "-pod", 4)))
			pod += 4;
		if (!pod)
			continue;
		left = p.n - (pod - p.s);
		/* The length of a pod uid at `s`, 0 if there is none. The systemd cgroup driver writes its dashes as underscores. */
		while (i < left && (isxdigit((unsigned char)pod[i]) || pod[i] == '-' || pod[i] == '_'))
			i++;
		n = i == UID_DASHED || i == UID_PLAIN ? i : 0;
		/* Followed by the end, ".slice", or ":cri-containerd:…" if cgroup drivers are mixed. */
		if (n && (n == left || pod[n] == '.' || pod[n] == ':'))
			uid = (struct component){ pod, n };
	}
	if (!uid.n)
		return NULL;
	ret = rd_text("kubernetes:%.*s", (int)uid.n, uid.s);
	for (char *c = ret; *c; c++)
		if (*c == '_')
			*c = '-';
	return ret;
}

char *rd_job_from_cgroup(const char *path)
{
	char *job = path ? slurm_job(path) : NULL;

	return job || !path ? job : kubernetes_job(path);
}
