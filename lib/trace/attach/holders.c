// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/attach/session.h"

#include <bpf/bpf.h>
#include <signal.h>
#include <sys/syscall.h>

#include "trace/attach/attach.h"

#define PF_EXITING 0x4 /* a task flag of the kernel */
#define MAPS_MAX 64    /* per program; ours have fewer */

/* The trace that a program belongs to. */
struct owned_prog {
	uint32_t prog;
	size_t held;
};

struct walk {
	struct rd_held_list *list;
	struct owned_prog *progs;
	size_t n_progs, cap_progs;
};

/* A type of BPF object: how to iterate, how to open one, how to process it. */
struct object_type {
	const char *name;
	int (*next)(__u32 id, __u32 *next);
	int (*open)(__u32 id);
	int (*process)(struct walk *walk, __u32 id, int fd);
};

bool rd_hold_record_read(const void *value, size_t size, struct rd_hold_record *ret)
{
	struct rd_hold_record owner;

	if (size < sizeof(owner))
		return false;
	memcpy(&owner, value, sizeof(owner));
	if (memcmp(owner.magic, RD_HOLD_MAGIC, sizeof(owner.magic)) != 0 || owner.version < RD_HOLD_VERSION)
		return false;
	owner.what[sizeof(owner.what) - 1] = 0;
	owner.command[sizeof(owner.command) - 1] = 0;
	*ret = owner;
	return true;
}

static int process_map(struct walk *walk, __u32 id, int fd)
{
	struct rd_held_list *list = walk->list;
	_cleanup_free_ void *value = NULL;
	struct bpf_map_info info = {};
	__u32 len = sizeof(info), zero = 0;
	struct rd_hold_record owner;

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return -errno;
	if (info.type != BPF_MAP_TYPE_ARRAY || info.max_entries != 1 || info.value_size > 65536 ||
	    strncmp(info.name, RD_HOLD_MAP, sizeof(info.name)) != 0)
		return 0;
	value = rd_alloc(info.value_size, 1);
	if (bpf_map_lookup_elem(fd, &zero, value))
		return -errno;
	if (rd_hold_record_read(value, info.value_size, &owner))
		*RD_ADD(list->v, list->n, list->cap) = (struct rd_held){ .owner = owner, .map = id };
	return 0;
}

static int process_prog(struct walk *walk, __u32 id, int fd)
{
	__u32 maps[MAPS_MAX] = {};
	struct bpf_prog_info info = { .nr_map_ids = MAPS_MAX, .map_ids = (__u64)(uintptr_t)maps };
	__u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return -errno;
	for (__u32 m = 0; m < info.nr_map_ids && m < MAPS_MAX; m++)
		for (size_t i = 0; i < walk->list->n; i++) {
			struct rd_held *held = &walk->list->v[i];

			if (held->map != maps[m])
				continue;
			*RD_ADD(walk->progs, walk->n_progs, walk->cap_progs) =
				(struct owned_prog){ .prog = id, .held = i };
			held->programs++;
			held->uid = info.created_by_uid;
			held->run_ns += info.run_time_ns;
			held->runs += info.run_cnt;
		}
	return 0;
}

static int process_link(struct walk *walk, __u32 id, int fd)
{
	struct bpf_link_info info = {};
	__u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return -errno;
	for (size_t i = 0; i < walk->n_progs; i++)
		if (walk->progs[i].prog == info.prog_id)
			walk->list->v[walk->progs[i].held].links++;
	return 0;
}

/* Objects that are removed in the meantime are skipped, and links that are not complete yet (EAGAIN), which are not attached. */
static int walk_objects(struct walk *walk, const struct object_type *type, struct rd_err *err)
{
	__u32 id = 0;
	int r = 0;

	while (!type->next(id, &id)) {
		_cleanup_close_ int fd = type->open(id);

		if (fd < 0 && (errno == ENOENT || errno == EAGAIN))
			continue;
		r = fd < 0 ? -errno : type->process(walk, id, fd);
		if (r)
			return rd_err_set(err, -r, type->name, "cannot read BPF object ID %u", id);
	}
	if (errno == ENOENT)
		return 0;
	r = rd_err_set(err, errno, type->name, "cannot list BPF objects: attached traces are unknown");
	rd_err_hint(err, "%s", "run as root or with CAP_SYS_ADMIN");
	return r;
}

static bool read_stat(struct rd_source *src, const char *pid, struct rd_holder_proc *ret)
{
	_cleanup_free_ char *text = NULL;
	const char *state, *parent, *flags, *start;
	uint32_t number, above, set;

	if (rd_read_textf(src, &text, NULL, "/proc/%s/stat", pid))
		return false;
	state = rd_stat_field(text, 3);
	parent = rd_stat_field(text, 4);
	flags = rd_stat_field(text, 9);
	start = rd_stat_field(text, 22);
	if (!start || rd_parse_u32(pid, RD_DECIMAL, INT32_MAX, &number) < 0 ||
	    rd_take_u32(&parent, RD_DECIMAL, INT32_MAX, &above) < 0 ||
	    rd_take_u32(&flags, RD_DECIMAL, UINT32_MAX, &set) < 0 ||
	    rd_take_uint(&start, RD_DECIMAL, UINT64_MAX, &ret->start) < 0)
		return false;
	ret->state = *state;
	ret->exiting = set & PF_EXITING;
	ret->pid = ret->own_pid = (pid_t)number;
	ret->parent = (pid_t)above;
	return true;
}

/* The last number of "NSpid:\t4711\t12": the PID in the namespace of the process. Without the line: the same as ours. */
static void read_own_pid(struct rd_source *src, const char *pid, struct rd_holder_proc *ret)
{
	_cleanup_free_ char *text = NULL;
	const char *at;
	uint64_t number;

	if (rd_read_textf(src, &text, NULL, "/proc/%s/status", pid))
		return;
	at = strstr(text, "\nNSpid:");
	if (!at)
		return;
	at += 7;
	while (rd_take_uints(&at, RD_DECIMAL, &number, 1) == 1 && number <= INT32_MAX)
		ret->own_pid = (pid_t)number;
}

int rd_holders_processes(struct rd_source *src, struct rd_holder_proc **ret, size_t *n, struct rd_err *err)
{
	_cleanup_free_ struct rd_holder_proc *v = NULL;
	_cleanup_texts_ struct rd_texts names = { 0 };
	size_t found = 0, cap = 0;
	int r = rd_list_dir(src, "/proc", &names, err);

	for (size_t i = 0; !r && i < names.n; i++) {
		_cleanup_free_ char *comm = NULL;

		if (names.v[i][0] < '1' || names.v[i][0] > '9' ||
		    rd_read_textf(src, &comm, NULL, "/proc/%s/comm", names.v[i]) || strcmp(comm, RD_HOLDER_NAME) != 0)
			continue;
		rd_reserve(&v, &cap, found + 1, sizeof(*v));
		if (!read_stat(src, names.v[i], &v[found]))
			continue;
		read_own_pid(src, names.v[i], &v[found++]);
	}
	if (r)
		return r;
	*ret = RD_TAKE(v);
	*n = found;
	return 0;
}

/* A PID is reused; a PID together with a start time is unique. */
static void find_process(struct rd_source *src, struct rd_held *held, const struct rd_holder_proc *procs, size_t n)
{
	struct rd_holder_proc parent = { 0 };
	char pid[16];

	for (size_t i = 0; i < n; i++)
		if (procs[i].own_pid == (pid_t)held->owner.holder && procs[i].start == held->owner.holder_start)
			held->proc = procs[i];
	if (!held->proc.pid)
		return;
	snprintf(pid, sizeof(pid), "%d", held->proc.parent);
	if (!read_stat(src, pid, &parent))
		return;
	read_own_pid(src, pid, &parent);
	if (parent.own_pid == (pid_t)held->owner.reader)
		RD_SET(held->reader, parent.pid);
}

void rd_holders_run_stats(struct rd_source *src, struct rd_held_list *ret)
{
	_cleanup_free_ char *text = NULL;

	if (!rd_read_textf(src, &text, NULL, "/proc/sys/kernel/bpf_stats_enabled"))
		RD_SET(ret->run_stats, *text != '0');
}

int rd_holders_list(struct rd_source *src, struct rd_held_list *ret, struct rd_err *err)
{
	static const struct object_type types[] = {
		{ "BPF maps", bpf_map_get_next_id, bpf_map_get_fd_by_id, process_map },
		{ "BPF programs", bpf_prog_get_next_id, bpf_prog_get_fd_by_id, process_prog },
		{ "BPF links", bpf_link_get_next_id, bpf_link_get_fd_by_id, process_link },
	};
	_cleanup_free_ struct rd_holder_proc *procs = NULL;
	struct rd_held_list list = { 0 };
	struct walk walk = { .list = &list };
	size_t n = 0, kept = 0;
	int r = 0;

	for (size_t i = 0; !r && i < RD_ARRAY_SIZE(types); i++)
		r = walk_objects(&walk, &types[i], err);
	free(walk.progs);
	/* The command keeps the maps open while it reads counts: without programs, nothing is attached. */
	for (size_t i = 0; i < list.n; i++)
		if (list.v[i].programs)
			list.v[kept++] = list.v[i];
	list.n = kept;
	if (!r && list.n)
		r = rd_holders_processes(src, &procs, &n, err);
	if (r) {
		rd_held_list_deinit(&list);
		return r;
	}
	for (size_t i = 0; i < list.n; i++)
		find_process(src, &list.v[i], procs, n);
	rd_holders_run_stats(src, &list);
	*ret = list;
	return 0;
}

int rd_holders_detach(struct rd_source *src, const struct rd_held *held, struct rd_err *err)
{
	struct rd_holder_proc now = { 0 };
	_cleanup_close_ int fd = -1;
	char pid[16];
	int r = ESRCH;

	snprintf(pid, sizeof(pid), "%d", held->proc.pid);
	if (held->proc.pid)
		fd = (int)syscall(SYS_pidfd_open, held->proc.pid, 0);
	/* The pidfd refers to one process: check that it is the one found before. */
	if (fd >= 0 && read_stat(src, pid, &now) && now.start == held->proc.start)
		r = syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0) ||
				    (held->proc.state == 'T' && syscall(SYS_pidfd_send_signal, fd, SIGCONT, NULL, 0)) ?
			    errno :
			    0;
	if (!r)
		return 0;
	return rd_err_set(
		err, r, held->proc.pid ? pid : held->owner.command, "%s",
		r == EPERM ? "trace of another user: only that user or root can end it" :
			     "the process that holds its hooks is not visible in this PID namespace, or has ended");
}

int rd_holders_freeze(struct rd_source *src, const struct rd_held *held, struct rd_err *err)
{
	struct rd_holder_proc now = { 0 };
	_cleanup_close_ int fd = -1;
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", held->proc.pid);
	if (held->reader.known == RD_OK && held->reader.v > 1)
		fd = (int)syscall(SYS_pidfd_open, held->reader.v, 0);
	/* The pidfd refers to the parent of the holder found before, if that still has this parent. */
	if (fd >= 0 && read_stat(src, pid, &now) && now.start == held->proc.start && now.parent == held->reader.v)
		return syscall(SYS_pidfd_send_signal, fd, SIGUSR1, NULL, 0) ?
			       rd_err_set(err, errno, held->owner.command, "cannot signal the service") :
			       0;
	return rd_err_set(err, ESRCH, held->owner.command,
			  "the service is not visible in this PID namespace, or has ended");
}
