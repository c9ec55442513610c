/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/rdma/procs.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "collect/shared/cgroup.h"
#include "collect/shared/job.h"

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

static int compare_pids(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
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
	qsort(pids->v, pids->n, sizeof(*pids->v), compare_pids);
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

/* "10.0.0.2 3": the address into `ip`; false: another line. */
static bool take_line(const char *line, uint8_t ip[16], uint64_t *connections)
{
	size_t n = strcspn(line, " \n");
	char text[INET6_ADDRSTRLEN];
	const char *at = line + n;

	if (*at != ' ' || n >= sizeof(text))
		return false;
	memcpy(text, line, n);
	text[n] = '\0';
	at++;
	memset(ip, 0, 10);
	memset(ip + 10, 0xff, 2);
	return (inet_pton(AF_INET, text, ip + 12) == 1 || inet_pton(AF_INET6, text, ip) == 1) &&
	       rd_take_uint(&at, RD_DECIMAL, UINT64_MAX, connections) == 0;
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
		else if (take_line(line, ip, &count))
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
		if (strncmp(text, name, strlen(name)) == 0)
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
			RD_SET(proc->frozen, strncmp(value, files[i].yes, strlen(files[i].yes)) == 0);
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
	/* The second field is the name, which may contain anything. */
	at = text ? strrchr(text, ')') : NULL;
	for (int field = 2; at && field < FIELD_START; field++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
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
