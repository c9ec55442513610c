/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that own RDMA resources, and what a process needs to use RDMA. */
#include "collect/rdma/rdma.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <fnmatch.h>

#include "collect/host/host.h"

#define NAMES_SIZE 256 /* of all known names of libraries together */

struct pids {
	uint32_t *v;
	size_t n;
};

static void add_pid(struct pids *pids, const struct rd_owner *owner)
{
	/* Objects of one process are mostly adjacent. */
	if (owner->pid.known == RD_OK && (pids->n == 0 || pids->v[pids->n - 1] != owner->pid.v))
		pids->v[pids->n++] = owner->pid.v;
}

static void list_pids(const struct rd_res *res, struct pids *pids)
{
	size_t kept = 0;

	pids->v = rd_alloc(res->n_qps + res->n_cm_ids + res->n_objects + 1, sizeof(*pids->v));
	for (size_t i = 0; i < res->n_qps; i++)
		add_pid(pids, &res->qps[i].owner);
	for (size_t i = 0; i < res->n_cm_ids; i++)
		add_pid(pids, &res->cm_ids[i].owner);
	for (size_t i = 0; i < res->n_objects; i++)
		add_pid(pids, &res->objects[i].owner);
	qsort(pids->v, pids->n, sizeof(*pids->v), rd_compare_u32);
	for (size_t i = 0; i < pids->n; i++)
		if (kept == 0 || pids->v[kept - 1] != pids->v[i])
			pids->v[kept++] = pids->v[i];
	pids->n = kept;
}

static void read_proc(struct rd_source *src, struct rd_proc *proc)
{
	_cleanup_free_ char *groups = NULL;
	const char *path;
	size_t size;

	/* The process may have exited, or be hidden from this user (hidepid): then it has no name. */
	rd_read_textf(src, &proc->comm, NULL, "/proc/%u/comm", proc->pid);
	if (!proc->comm || rd_read_textf(src, &groups, NULL, "/proc/%u/cgroup", proc->pid) < 0)
		return;
	size = rd_cgroup_parse(groups, &path);
	if (size > 0)
		proc->cgroup = rd_dup_part(path, size);
	proc->job = rd_job_from_cgroup(proc->cgroup);
}

static int find_owner(const struct rd_res *res, const struct rd_owner *owner)
{
	return owner->pid.known == RD_OK ? rd_res_find_proc(res, owner->pid.v) : -1;
}

void rd_collect_res_procs(struct rd_source *src, struct rd_res *res)
{
	struct pids pids = { 0 };

	list_pids(res, &pids);
	for (size_t i = 0; i < pids.n; i++) {
		struct rd_proc *proc = RD_ADD(res->procs, res->n_procs, res->cap_procs);

		*proc = (struct rd_proc){ .pid = pids.v[i] };
		read_proc(src, proc);
	}
	free(pids.v);
	for (size_t i = 0; i < res->n_qps; i++)
		res->qps[i].proc = find_owner(res, &res->qps[i].owner);
	for (size_t i = 0; i < res->n_cm_ids; i++)
		res->cm_ids[i].proc = find_owner(res, &res->cm_ids[i].owner);
	for (size_t i = 0; i < res->n_objects; i++)
		res->objects[i].proc = find_owner(res, &res->objects[i].owner);
}

void rd_collect_proc_libs(struct rd_source *src, struct rd_proc *proc)
{
	_cleanup_free_ char *text = NULL;

	if (proc->devx_libs || rd_read_textf(src, &text, NULL, RD_SOURCE_LIBS "/%u", proc->pid) < 0)
		return;
	/* A bundle may contain any text: it is shown escaped, as all foreign text. */
	for (char *at = text; (at = strchr(at, '\n'));)
		*at = ' ';
	proc->devx_libs = rd_dup_part(text, NAMES_SIZE);
}

/* IPv4 as ::ffff:a.b.c.d. */
static bool take_ip(const char *text, uint8_t ret[16])
{
	memset(ret, 0, 16);
	if (inet_pton(AF_INET6, text, ret) == 1)
		return true;
	memset(ret + 10, 0xff, 2);
	return inet_pton(AF_INET, text, ret + 12) == 1;
}

/* "10.0.0.2 3": the address into `ip`; false: another line. */
static bool take_peer(const char *line, uint8_t ip[16], uint64_t *connections)
{
	size_t n = strcspn(line, " \n");
	char text[INET6_ADDRSTRLEN];
	const char *at = line + n + 1;

	if (line[n] != ' ' || n >= sizeof(text))
		return false;
	memcpy(text, line, n);
	text[n] = '\0';
	return take_ip(text, ip) && rd_take_uint(&at, RD_DECIMAL, UINT64_MAX, connections) == 0;
}

/* Keeps those with most connections, in that order. */
static void insert(struct rd_proc_peers *ret, uint64_t counts[RD_PROC_PEERS], const uint8_t ip[16], uint64_t count)
{
	unsigned at = ret->n;

	while (at > 0 && counts[at - 1] < count)
		at--;
	if (ret->n == RD_PROC_PEERS)
		ret->more++;
	else
		ret->n++;
	if (at == RD_PROC_PEERS)
		return;
	memmove(&ret->ip[at + 1], &ret->ip[at], (ret->n - 1 - at) * sizeof(*ret->ip));
	memmove(&counts[at + 1], &counts[at], (ret->n - 1 - at) * sizeof(*counts));
	memcpy(ret->ip[at], ip, 16);
	counts[at] = count;
}

void rd_proc_peers_take(const char *text, struct rd_proc_peers *ret)
{
	uint64_t counts[RD_PROC_PEERS] = { 0 }, count, more = 0;
	uint8_t ip[16];

	*ret = (struct rd_proc_peers){ 0 };
	for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		const char *at = line + 1;

		if (*line == '+' && rd_take_uint(&at, RD_DECIMAL, UINT32_MAX, &count) == 0)
			more = count;
		else if (take_peer(line, ip, &count))
			insert(ret, counts, ip, count);
	}
	ret->more += more;
}

void rd_collect_proc_peers(struct rd_source *src, struct rd_proc *proc)
{
	_cleanup_free_ char *text = NULL;

	if (proc->peers || rd_read_textf(src, &text, NULL, RD_SOURCE_TCP "/%u", proc->pid) < 0)
		return;
	proc->peers = rd_alloc(1, sizeof(*proc->peers));
	rd_proc_peers_take(text, proc->peers);
}

/* What follows the name at the beginning of a line; NULL: no such line. The name of the process, in another line, has no newline: the
 * kernel escapes it. */
static const char *find_line(const char *text, const char *name)
{
	while (text && *text) {
		if (rd_starts_with(text, name))
			return text + strlen(name);
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return NULL;
}

void rd_proc_state_take(const char *text, struct rd_proc *proc)
{
	const char *state = find_line(text, "State:\t"), *tracer = find_line(text, "TracerPid:\t");
	uint64_t pid;

	if (state && isalpha((unsigned char)*state))
		RD_SET(proc->state, *state);
	if (tracer && rd_take_uint(&tracer, RD_DECIMAL, UINT32_MAX, &pid) == 0)
		RD_SET(proc->tracer, (uint32_t)pid);
}

/* In the unified hierarchy, else in that of the freezer. */
static void read_frozen(struct rd_source *src, struct rd_proc *proc)
{
	static const struct {
		const char *path, *line, *yes;
	} files[] = {
		{ "/sys/fs/cgroup%s/cgroup.events", "frozen ", "1" },
		{ "/sys/fs/cgroup/unified%s/cgroup.events", "frozen ", "1" },
		{ "/sys/fs/cgroup/freezer%s/freezer.state", "", "FROZEN" },
	};

	for (size_t i = 0; proc->cgroup && i < RD_ARRAY_SIZE(files) && proc->frozen.known != RD_OK; i++) {
		_cleanup_free_ char *path = rd_text(files[i].path, proc->cgroup), *text = NULL;
		const char *value;

		rd_read_textf(src, &text, NULL, "%s", path);
		value = find_line(text, files[i].line);
		if (value)
			RD_SET(proc->frozen, rd_starts_with(value, files[i].yes));
	}
}

void rd_collect_proc_state(struct rd_source *src, struct rd_proc *proc)
{
	_cleanup_free_ char *text = NULL;

	if (rd_read_textf(src, &text, NULL, "/proc/%u/status", proc->pid) < 0)
		return;
	rd_proc_state_take(text, proc);
	read_frozen(src, proc);
}

#define FIELD_START 22 /* proc_pid_stat(5) */
#define NS_PER_TICK 10000000

static void collect_start(struct rd_source *src, struct rd_proc *proc)
{
	_cleanup_free_ char *text = NULL;
	const char *at;
	uint64_t ticks;

	rd_read_textf(src, &text, NULL, "/proc/%u/stat", proc->pid);
	at = text ? rd_stat_field(text, FIELD_START) : NULL;
	if (at && rd_take_uint(&at, RD_DECIMAL, UINT64_MAX / NS_PER_TICK, &ticks) == 0)
		RD_SET(proc->start_ns, ticks * NS_PER_TICK);
}

bool rd_collect_failed_starts(struct rd_source *src, struct rd_res *res)
{
	bool any = false;
	int last = -1; /* those of one process are mostly adjacent */

	for (size_t i = 0; i < res->n_qps; i++) {
		const struct rd_qp *qp = &res->qps[i];

		if (qp->state.known != RD_OK || (qp->state.v != RD_QPS_SQE && qp->state.v != RD_QPS_ERR))
			continue;
		any = true;
		if (qp->proc >= 0 && qp->proc != last && res->procs[qp->proc].start_ns.known != RD_OK)
			collect_start(src, &res->procs[qp->proc]);
		last = qp->proc;
	}
	return any;
}

#define LINES_MAX 32768 /* bundles are foreign */
#define GROUPS_MAX 65536

/* "uverbs0 231:192 0666 0 0 acl=1.6.0,…", "uverbs0 ENOENT"; "acl" alone: the list was not read. */
static void take_node(struct rd_job_proc *proc, char **words)
{
	struct rd_job_node *node = RD_ADD(proc->nodes, proc->n_nodes, proc->cap_nodes);
	uint32_t mode;

	*node = (struct rd_job_node){ .name = rd_dup(words[0]), .there = words[4] };
	node->acl = words[5] ? rd_dup(strncmp(words[5], "acl=", 4) == 0 ? words[5] + 4 : "") : NULL;
	node->unknown = !node->there && strcmp(words[1], "ENOENT") != 0;
	node->number = node->there ? rd_dup(words[1]) : NULL;
	if (node->there && rd_parse_u32(words[2], RD_AS_C, 07777, &mode) == 0 &&
	    rd_parse_u32(words[3], RD_DECIMAL, UINT32_MAX, &node->uid) == 0 &&
	    rd_parse_u32(words[4], RD_DECIMAL, UINT32_MAX, &node->gid) == 0)
		RD_SET(node->mode, mode);
}

static void take_provider(struct rd_job_proc *proc, char **words)
{
	struct rd_job_provider *provider = RD_ADD(proc->providers, proc->n_providers, proc->cap_providers);
	uint32_t min, max;

	*provider = (struct rd_job_provider){ .name = rd_dup(words[0]) };
	if (words[2] && rd_parse_u32(words[1], RD_DECIMAL, UINT32_MAX, &min) == 0 &&
	    rd_parse_u32(words[2], RD_DECIMAL, UINT32_MAX, &max) == 0) {
		RD_SET(provider->min, min);
		RD_SET(provider->max, max);
	}
	if (words[3] && rd_parse_u32(words[3], RD_DECIMAL, UINT32_MAX, &min) == 0)
		RD_SET(provider->private_abi, min);
}

static void take_tcp(struct rd_job_proc *proc, char **words)
{
	uint64_t sent, received;
	struct rd_job_tcp tcp;

	if (!take_ip(words[0], tcp.remote) ||
	    rd_parse_uint(words[1], RD_DECIMAL, UINT64_MAX / LINES_MAX / 2, &sent) < 0 ||
	    rd_parse_uint(words[2], RD_DECIMAL, UINT64_MAX / LINES_MAX / 2, &received) < 0)
		return;
	tcp.bytes = sent + received;
	*RD_ADD(proc->tcp, proc->n_tcp, proc->cap_tcp) = tcp;
}

static void take_addr(struct rd_job_proc *proc, char **words)
{
	struct rd_job_tcp own = { 0 };

	if (take_ip(words[0], own.remote))
		*RD_ADD(proc->addrs, proc->n_addrs, proc->cap_addrs) = own;
}

static void take_shm(struct rd_job_proc *proc, char **words)
{
	if (rd_parse_uint(words[0], RD_DECIMAL, UINT64_MAX, &proc->shm.v) == 0)
		proc->shm.known = RD_OK;
}

static void take_other(struct rd_job_proc *proc, char **words)
{
	proc->net_other |= strcmp(words[0], "net") == 0;
	proc->mnt_other |= strcmp(words[0], "mnt") == 0;
	proc->user_other |= strcmp(words[0], "user") == 0;
}

static void take_fds(struct rd_job_proc *proc, char **words)
{
	if (rd_parse_uint(words[0], RD_DECIMAL, UINT32_MAX, &proc->fds.v) == 0)
		proc->fds.known = RD_OK;
}

static void take_end(struct rd_job_proc *proc, char **words)
{
	proc->providers_known = true;
}

#define LIST(member) offsetof(struct rd_job_proc, member), 0, NULL
static const struct {
	const char *key;
	size_t list;					      /* of texts: the rest of the line is added */
	size_t words;					      /* else: at least so many, for */
	void (*take)(struct rd_job_proc *proc, char **words); /* 6 of them; NULL: missing */
} keys[] = {
	{ "error", LIST(unread) },	 { "open", LIST(opened) },	{ "lib", LIST(libs) },
	{ "segment", LIST(segments) },	 { "env", LIST(env) },		{ "rdma", LIST(rdma) },
	{ "wheel", LIST(wheels) },	 { "dev", 0, 2, take_node },	{ "provider", 0, 1, take_provider },
	{ "providers", 0, 0, take_end }, { "tcp", 0, 3, take_tcp },	{ "addr", 0, 1, take_addr },
	{ "shm", 0, 1, take_shm },	 { "other", 0, 1, take_other }, { "fds", 0, 1, take_fds },
};

static void take_line(struct rd_job_proc *proc, const char *key, char *rest)
{
	char *words[6] = { 0 };
	size_t i = 0, n;

	while (i < RD_ARRAY_SIZE(keys) && strcmp(keys[i].key, key) != 0)
		i++;
	if (i == RD_ARRAY_SIZE(keys))
		return;
	if (!keys[i].take)
		return rd_texts_add((void *)((char *)proc + keys[i].list), rest);
	n = rd_words(&rest, words, RD_ARRAY_SIZE(words));
	if (n >= keys[i].words)
		keys[i].take(proc, words);
}

void rd_job_take(const char *text, struct rd_job_proc *proc)
{
	_cleanup_free_ char *copy = rd_dup(text);
	char *rest = copy, *line;

	proc->looked = true;
	for (size_t i = 0; i < LINES_MAX && (line = strsep(&rest, "\n")); i++) {
		char *value = line + strcspn(line, " ");

		if (*value)
			*value++ = '\0';
		take_line(proc, line, value);
	}
}

void rd_collect_job_kernel(struct rd_source *src, const struct rd_res *res, struct rd_job_kernel *ret)
{
	const struct rd_sysfs fs = { .src = src };
	_cleanup_texts_ struct rd_texts names = { 0 };
	int r = rd_sysfs_list(&fs, &names, "/sys/class/infiniband_verbs");

	ret->known = r >= 0 || !rd_could_not_look(r);
	rd_texts_sort_natural(&names);
	for (size_t i = 0; i < names.n && ret->n < 4096; i++) {
		struct rd_job_uverbs *uverbs;
		int64_t abi;
		int dev;

		if (strncmp(names.v[i], "uverbs", 6) != 0)
			continue;
		uverbs = RD_ADD(ret->v, ret->n, ret->cap);
		*uverbs = (struct rd_job_uverbs){ .name = rd_dup(names.v[i]) };
		uverbs->ibdev = rd_sysfs_text(&fs, NULL, "/sys/class/infiniband_verbs/%s/ibdev", names.v[i]);
		uverbs->number = rd_sysfs_text(&fs, NULL, "/sys/class/infiniband_verbs/%s/dev", names.v[i]);
		if (rd_sysfs_int(&fs, &abi, "/sys/class/infiniband_verbs/%s/abi_version", names.v[i]) == RD_OK &&
		    abi >= 0 && abi <= UINT32_MAX)
			RD_SET(uverbs->abi, (uint32_t)abi);
		dev = uverbs->ibdev ? rd_res_find_dev(res, uverbs->ibdev) : -1;
		if (dev >= 0)
			RD_COPY(uverbs->driver, res->devs[dev].driver_id);
	}
}

/* A bundle without the file of a process, or a directory, has device files and providers of the host. */
static void take_host(const struct rd_sysfs *fs, struct rd_job_proc *proc)
{
	_cleanup_(rd_system_deinit) struct rd_system system = { 0 };

	rd_collect_userspace(fs, &system);
	for (size_t i = 0; i < system.n_uverbs && system.dev_known; i++) {
		struct rd_job_node *node = RD_ADD(proc->nodes, proc->n_nodes, proc->cap_nodes);

		*node = (struct rd_job_node){ .name = rd_dup(system.uverbs[i].name), .there = system.uverbs[i].node };
		RD_COPY(node->mode, system.uverbs[i].mode);
		node->acl = rd_dup("");
	}
	for (size_t i = 0; i < system.providers.n; i++)
		take_provider(proc, (char *[6]){ system.providers.v[i] });
	proc->providers_known = system.providers_known;
}

/* The numbers of a line of /proc/PID/status; returns how many. */
static size_t status_numbers(const char *text, const char *key, enum rd_radix radix, uint64_t *ret, size_t n)
{
	const char *at = find_line(text, key);

	if (!at)
		return 0;
	at += strspn(at, "\t ");
	return rd_take_uints(&at, radix, ret, n);
}

static void take_status(const char *text, struct rd_job_proc *proc)
{
	uint64_t ids[4], *groups = rd_alloc(GROUPS_MAX, sizeof(*groups)), value, pinned = 0;

	if (status_numbers(text, "Uid:", RD_DECIMAL, ids, 4) == 4)
		RD_SET(proc->uid, (uint32_t)ids[3]);
	if (status_numbers(text, "Gid:", RD_DECIMAL, ids, 4) == 4)
		proc->gid = (uint32_t)ids[3];
	if (status_numbers(text, "CapEff:", RD_HEX, &value, 1) == 1)
		RD_SET(proc->caps, value);
	proc->seccomp = status_numbers(text, "Seccomp:", RD_DECIMAL, &value, 1) == 1 && value == 2;
	status_numbers(text, "VmPin:", RD_DECIMAL, &pinned, 1);
	if (status_numbers(text, "VmLck:", RD_DECIMAL, &value, 1) == 1 && value < UINT64_MAX >> 12 &&
	    pinned < UINT64_MAX >> 12)
		RD_SET(proc->locked, (value + pinned) << 10);
	proc->n_groups = status_numbers(text, "Groups:", RD_DECIMAL, groups, GROUPS_MAX);
	proc->groups = groups;
}

/* `key`: what stands before the number; "" for none. "max": no limit. */
static void add_limit(struct rd_job_proc *proc, const char *name, const char *now, const char *max, const char *key)
{
	struct rd_job_limit limit = { 0 };
	const char *most = max ? strstr(max, key) : NULL, *used = now ? strstr(now, key) : NULL;

	if (!most || !used)
		return;
	most += strlen(key);
	used += strlen(key);
	if (rd_take_uint(&most, RD_DECIMAL, UINT64_MAX, &limit.max) < 0 ||
	    rd_take_uint(&used, RD_DECIMAL, UINT64_MAX, &limit.now) < 0)
		return;
	limit.name = rd_text("%s%s%.*s", name, *key ? " " : "", (int)strcspn(key, "="), key);
	*RD_ADD(proc->limits, proc->n_limits, proc->cap_limits) = limit;
}

/* rdma.max and rdma.current have a line for each device: "mlx5_0 hca_handle=2 hca_object=2000". */
static void read_rdma_limits(const struct rd_sysfs *fs, const char *group, struct rd_job_proc *proc)
{
	_cleanup_free_ char *max = rd_sysfs_text(fs, NULL, "/sys/fs/cgroup%s/rdma.max", group);
	_cleanup_free_ char *now = rd_sysfs_text(fs, NULL, "/sys/fs/cgroup%s/rdma.current", group);
	char *rest = max, *line;

	while (now && (line = strsep(&rest, "\n"))) {
		_cleanup_free_ char *dev = rd_dup_part(line, strcspn(line, " "));

		add_limit(proc, dev, strstr(now, dev), line, "hca_handle=");
		add_limit(proc, dev, strstr(now, dev), line, "hca_object=");
	}
}

static void read_cgroup(const struct rd_sysfs *fs, const char *groups, struct rd_job_proc *proc)
{
	static const char *const names[] = { "memory", "hugetlb.2MB", "hugetlb.32MB", "hugetlb.512MB", "hugetlb.1GB" };
	const char *v1 = groups ? strstr(groups, ":devices:") : NULL;
	_cleanup_free_ char *path = v1 ? rd_dup_part(v1 + 9, strcspn(v1 + 9, "\n")) : NULL;

	if (path)
		proc->device_rules = rd_sysfs_text(fs, NULL, "/sys/fs/cgroup/devices%s/devices.list", path);
	for (size_t i = 0; i < RD_ARRAY_SIZE(names) && proc->cgroup; i++) {
		_cleanup_free_ char *max = rd_sysfs_text(fs, NULL, "/sys/fs/cgroup%s/%s.max", proc->cgroup, names[i]);
		_cleanup_free_ char *now =
			rd_sysfs_text(fs, NULL, "/sys/fs/cgroup%s/%s.current", proc->cgroup, names[i]);

		add_limit(proc, names[i], now, max, "");
	}
	/* A limit above its own group counts, too: a service manager sets it, and a job launcher makes groups below. */
	for (size_t n = proc->cgroup ? strlen(proc->cgroup) : 0, levels = 0; n > 0 && levels < 32; n--) {
		_cleanup_free_ char *group = strchr("/", proc->cgroup[n]) ? rd_dup_part(proc->cgroup, n) : NULL;

		levels += group != NULL;
		if (group)
			read_rdma_limits(fs, group, proc);
	}
}

/* A step of Slurm inherits the limits of slurmd; its slurmstepd then changes them (slurmstepd/ulimits.c, pam_ses.c). Where several slurmd run, as in
 * tests of Slurm, which one it is unknown. */
static void read_slurmd(const struct rd_sysfs *fs, struct rd_job_proc *proc)
{
	_cleanup_(rd_system_deinit) struct rd_system system = { 0 };
	const struct rd_launcher *slurmd = NULL;

	if (!proc->job || !rd_starts_with(proc->job, "slurm:") || proc->memlock.known != RD_OK ||
	    proc->memlock.v == RD_UNLIMITED)
		return;
	rd_collect_limits(fs, &system);
	for (size_t i = 0; i < system.n_launchers; i++)
		if (strcmp(system.launchers[i].comm, "slurmd") == 0) {
			if (slurmd)
				return;
			slurmd = &system.launchers[i];
		}
	if (!slurmd)
		return;
	RD_COPY(proc->slurmd_memlock, slurmd->memlock);
	RD_COPY(proc->slurmd_memlock_hard, slurmd->memlock_hard);
}

static void read_limits(const struct rd_sysfs *fs, uint32_t pid, struct rd_job_proc *proc)
{
	_cleanup_(rd_system_deinit) struct rd_system system = { .asked_pid = (int)pid };

	if (rd_collect_limits(fs, &system) == 0 && system.n_launchers > 0) {
		RD_COPY(proc->nofile, system.launchers[0].nofile);
		RD_COPY(proc->memlock, system.launchers[0].memlock);
		RD_COPY(proc->memlock_hard, system.launchers[0].memlock_hard);
		RD_COPY(proc->ipc_lock, system.launchers[0].ipc_lock);
	}
	read_slurmd(fs, proc);
}

int rd_collect_job(struct rd_source *src, uint32_t pid, uint32_t self, struct rd_job_proc *ret)
{
	const struct rd_sysfs fs = { .src = src };
	uint32_t number = pid ? pid : self;
	_cleanup_free_ char *name = pid ? rd_text("%u", pid) : rd_dup(self ? "self" : "host");
	_cleanup_free_ char *text = rd_sysfs_text(&fs, NULL, RD_SOURCE_JOB "/%s", name);
	_cleanup_free_ char *status = number ? rd_sysfs_text(&fs, NULL, "/proc/%u/status", number) : NULL;
	_cleanup_free_ char *groups = number ? rd_sysfs_text(&fs, NULL, "/proc/%u/cgroup", number) : NULL;
	const char *path;
	size_t size = groups ? rd_cgroup_parse(groups, &path) : 0;

	*ret = (struct rd_job_proc){ .pid = pid, .here = !pid };
	if (pid && !text && !status)
		return -ESRCH;
	if (pid)
		ret->comm = rd_sysfs_text(&fs, NULL, "/proc/%u/comm", pid);
	ret->cgroup = size ? rd_dup_part(path, size) : NULL;
	ret->job = rd_job_from_cgroup(ret->cgroup);
	if (text)
		rd_job_take(text, ret);
	else if (!pid)
		take_host(&fs, ret);
	if (status)
		take_status(status, ret);
	read_cgroup(&fs, groups, ret);
	if (number)
		read_limits(&fs, number, ret);
	return 0;
}

/* What a job of a user would find: as a process of the host, with the user's groups and limit of locked memory. */

#define FILES_MAX 256
#define LIMITS "/etc/security/limits"

/* What limits.conf(5) sets. The entry of the highest rank counts, of several the last. */
struct settings {
	const char *user; /* NULL: the name is unknown */
	int ranks[2];
	uint64_t v[2]; /* soft, hard */
	bool doubt;    /* which entries apply is unknown */
};

/* Of an entry for all, for a group, for a user; 0: for others. Ranges of numbers are not resolved. */
static int rank_of(struct rd_source *src, const char *domain, const struct rd_job_proc *proc, struct settings *settings)
{
	_cleanup_free_ char *text = NULL;
	uint64_t gid;
	int r;

	if (strcmp(domain, "*") == 0)
		return 1;
	if (*domain != '@' || strchr(domain, ':')) {
		settings->doubt |= !settings->user || strchr(domain, ':');
		return settings->user && strcmp(domain, settings->user) == 0 ? 3 : 0;
	}
	r = rd_read_textf(src, &text, NULL, RD_SOURCE_GROUP "/%s", domain + 1);
	if (r >= 0 && rd_parse_uint(text, RD_DECIMAL, UINT32_MAX, &gid) == 0)
		return rd_job_in_group(proc, gid) ? 2 : 0;
	settings->doubt |= r != -ENOENT || strcmp(src->ops->name, "live") != 0;
	return 0;
}

/* "@rdma - memlock unlimited": domain, type, item, value in KiB. "alice -": nothing applies to her. */
static void take_entry(struct rd_source *src, char *line, const struct rd_job_proc *proc, struct settings *settings)
{
	uint64_t value = RD_UNLIMITED;
	char *words[4];
	size_t n = rd_words(&line, words, 4);
	int rank;

	settings->doubt |= n == 2 && strcmp(words[1], "-") == 0;
	if (n < 4 || strcmp(words[2], "memlock") != 0 ||
	    (strcmp(words[3], "-1") != 0 && !rd_size_parse(words[3], &value)))
		return;
	rank = rank_of(src, words[0], proc, settings);
	for (int i = 0; i < 2; i++)
		if (rank && strcmp(words[1], i ? "soft" : "hard") != 0 && rank >= settings->ranks[i]) {
			settings->ranks[i] = rank;
			settings->v[i] = value > UINT64_MAX >> 10 ? RD_UNLIMITED : value << 10;
		}
}

static void read_settings(struct rd_source *src, const struct rd_job_proc *proc, struct settings *settings)
{
	_cleanup_texts_ struct rd_texts names = { 0 };
	int r = rd_list_dir(src, LIMITS ".d", &names, NULL);

	settings->doubt |= rd_could_not_look(r);
	for (size_t i = 0; i <= names.n && i <= FILES_MAX; i++) {
		_cleanup_free_ char *text = NULL,
				    *path = i ? rd_text(LIMITS ".d/%s", names.v[i - 1]) : rd_dup(LIMITS ".conf");
		char *rest, *line;

		if (fnmatch("*.conf", path, 0) != 0)
			continue;
		r = rd_read_textf(src, &text, NULL, "%s", path);
		settings->doubt |= rd_could_not_look(r);
		for (rest = text; (line = strsep(&rest, "\n"));) {
			line[strcspn(line, "#")] = '\0';
			take_entry(src, line, proc, settings);
		}
	}
}

/* Of what starts processes of users: a batch system, else a login, to which limits.conf applies. A batch system can apply it, too, or pass on the
 * limits of a login elsewhere. */
static void find_memlock(const struct rd_sysfs *fs, const struct rd_system *system, const struct settings *settings,
			 struct rd_job_proc *proc)
{
	_cleanup_free_ char *pid = rd_sysfs_text(fs, NULL, "/run/sshd.pid");
	const struct rd_launcher *from = NULL;
	_cleanup_(rd_system_deinit) struct rd_system sshd = { 0 };
	bool batch = false, other;
	uint64_t soft, hard;

	if (pid && rd_parse_u32(pid, RD_DECIMAL, INT32_MAX, (uint32_t *)&sshd.asked_pid) == 0 && sshd.asked_pid &&
	    rd_collect_limits(fs, &sshd) == 0)
		from = sshd.launchers;
	for (size_t i = 0; i < system->n_launchers; i++) {
		const struct rd_launcher *each = &system->launchers[i];

		if (each->serves || rd_program_starts_containers(each->comm))
			continue;
		if (!batch || each->memlock.known != RD_OK || each->memlock.v < from->memlock.v)
			from = each;
		batch = true;
	}
	RD_COPY(proc->memlock, system->default_memlock);
	if (from)
		RD_COPY(proc->memlock, from->memlock);
	soft = settings->ranks[0] ? settings->v[0] : proc->memlock.v;
	hard = settings->ranks[1] ? settings->v[1] : proc->memlock.v;
	other = (soft < hard ? soft : hard) != proc->memlock.v;
	proc->memlock_from =
		settings->doubt ? rd_dup("which entries of limits.conf apply is unknown") :
		batch && other	? rd_dup("limits.conf and the batch system differ: which counts is unknown") :
		other		? rd_dup("limits.conf") :
		proc->memlock.known != RD_OK ? rd_dup("the limit of what starts jobs is not readable") :
		from			     ? rd_text("%.32s, process %d", from->comm, from->pid) :
					       rd_dup_if(system->default_memlock_from);
	if (settings->doubt || (batch && other))
		proc->memlock.known = RD_ABSENT;
	proc->memlock.v = soft < hard ? soft : hard;
}

/* "1000:1000,27" or as RD_SOURCE_USER has it. */
static int find_user(struct rd_source *src, const char *user, struct rd_job_proc *proc, struct rd_err *err)
{
	_cleanup_free_ char *text = strchr(user, ':') ? rd_dup(user) : NULL;
	uint64_t *ids = proc->groups = rd_alloc(GROUPS_MAX, sizeof(*ids));
	int r = text ? 0 : rd_read_textf(src, &text, err, RD_SOURCE_USER "/%s", user);
	const char *at = text;

	if (r < 0) {
		if (strcmp(src->ops->name, "live") != 0)
			rd_err_set(err, -r, user, "users are not in a bundle");
		rd_err_hint(err, "give UID:GID[,GID...], as id -u and id -G print them where the user is known");
		return r;
	}
	for (char *c = text; (c = strpbrk(c, ":,"));)
		*c = ' ';
	proc->n_groups = rd_take_uints(&at, RD_DECIMAL, ids, GROUPS_MAX);
	if (proc->n_groups < 2 || *at || ids[0] >= UINT32_MAX || ids[1] >= UINT32_MAX)
		return rd_err_set(err, EINVAL, user, "expected a user, or UID:GID[,GID...]");
	RD_SET(proc->uid, (uint32_t)ids[0]);
	ids[0] = proc->gid = (uint32_t)ids[1];
	return 0;
}

int rd_collect_job_user(struct rd_source *src, const char *user, const struct rd_system *system,
			struct rd_job_proc *ret, struct rd_err *err)
{
	struct settings settings = { .user = user[strspn(user, "0123456789:,")] ? user : NULL };
	const struct rd_sysfs fs = { .src = src };
	_cleanup_free_ char *recorded = rd_sysfs_text(&fs, NULL, RD_SOURCE_JOB "/host");
	int r;

	rd_collect_job(src, 0, 0, ret);
	r = find_user(src, user, ret, err);
	if (r < 0)
		return r;
	settings.doubt = ret->unrecorded = !recorded; /* of a bundle from before: nor is limits.conf */
	read_settings(src, ret, &settings);
	find_memlock(&fs, system, &settings, ret);
	/* In a container, what root may do depends on how that was started. */
	if (ret->uid.v != 0 || system->processes == RD_OF_HOST) {
		RD_SET(ret->caps, ret->uid.v ? 0 : UINT64_MAX);
		RD_SET(ret->ipc_lock, ret->uid.v == 0);
	}
	return 0;
}
