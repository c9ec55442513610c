// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/symbols/ustack-priv.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/environ.h"
#include "trace/symbols/libdw.h"

#define PROCESSES 16   /* cached at a time */
#define HANGS_MAX 3    /* each delays the trace for some seconds */
#define CHANGES_MAX 64 /* of the mappings of a process: each requires a new child */

struct process {
	uint32_t pid; /* 0: unused */
	int pidfd;    /* -1: not supported by the kernel */
	uint64_t used;
	struct rd_maps maps;
	unsigned changes;
	struct rd_namer namer;
	bool given_up; /* symbols are not resolved any more */
};

struct rd_ustack {
	struct process processes[PROCESSES];
	uint64_t clock; /* counts requests; the least recently used process is evicted */
	unsigned hangs;
	struct rd_confined confined;
};

static void process_forget(struct process *p)
{
	rd_namer_stop(&p->namer);
	rd_maps_deinit(&p->maps);
	if (p->pidfd >= 0)
		close(p->pidfd);
	*p = (struct process){ .pidfd = -1 };
}

int rd_ustack_create(struct rd_ustack **ret, struct rd_err *err)
{
	/* Loaded here, so that each child inherits it. */
	char **whole = rd_environ_hide();
	int r = rd_libdw_load("user stacks", err);
	struct rd_ustack *us;

	rd_environ_show(whole);
	if (r < 0)
		return r;
	us = calloc(1, sizeof(*us));
	if (!us)
		return rd_err_set(err, ENOMEM, "user stacks", "no memory to resolve them");
	for (size_t i = 0; i < PROCESSES; i++)
		us->processes[i].pidfd = -1;
	*ret = us;
	return 0;
}

void rd_ustack_destroy(struct rd_ustack *us)
{
	if (!us)
		return;
	for (size_t i = 0; i < PROCESSES; i++)
		process_forget(&us->processes[i]);
	free(us);
}

const struct rd_confined *rd_ustack_confined(const struct rd_ustack *us)
{
	return &us->confined;
}

/* Whether the PID was reused by a new process. What is cached of an ended process stays valid. */
static bool is_reused(const struct process *p)
{
	struct pollfd fd = { .fd = p->pidfd, .events = POLLIN };
	char path[32];

	if (p->pidfd >= 0 && poll(&fd, 1, 0) <= 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%u/maps", p->pid);
	return !access(path, R_OK);
}

static struct process *process_of(struct rd_ustack *us, uint32_t pid)
{
	struct process *oldest = &us->processes[0], *p = NULL;

	for (size_t i = 0; i < PROCESSES && !p; i++) {
		if (us->processes[i].pid == pid)
			p = &us->processes[i];
		else if (us->processes[i].used < oldest->used)
			oldest = &us->processes[i];
	}
	if (p && is_reused(p)) {
		process_forget(p);
		oldest = p;
		p = NULL;
	}
	if (!p) {
		p = oldest;
		process_forget(p);
		p->pid = pid;
		p->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
		rd_maps_read((pid_t)pid, &p->maps);
	}
	p->used = ++us->clock;
	return p;
}

/* Files that were mapped since then need a new child, which has not parsed anything yet. */
static void reread_maps(struct process *p)
{
	struct rd_maps maps;

	if (p->changes == CHANGES_MAX || rd_maps_read((pid_t)p->pid, &maps) < 0)
		return;
	if (!rd_maps_same(&maps, &p->maps)) {
		rd_namer_stop(&p->namer);
		rd_maps_deinit(&p->maps);
		p->maps = maps;
		p->changes++;
	} else {
		rd_maps_deinit(&maps);
	}
}

/* Fills object and offset from the maps of the kernel. Returns whether a frame is in a file that may have symbols. */
static bool locate(const struct process *p, struct rd_frame *frames, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		const struct rd_mapped *mapped = rd_maps_find(&p->maps, frames[i].addr);

		if (!mapped)
			continue;
		frames[i].object = strdup(mapped->name);
		frames[i].offset = frames[i].addr - mapped->start;
		any |= mapped->code && *mapped->name == '/';
	}
	return any;
}

static bool all_are_known(const struct process *p, const struct rd_frame *frames, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!rd_maps_find(&p->maps, frames[i].addr))
			return false;
	return true;
}

static int resolve_symbols(struct rd_ustack *us, struct process *p, struct rd_frame *frames, size_t n,
			   struct rd_err *err)
{
	int r = p->namer.pid ? 0 : rd_namer_start(&p->namer, (pid_t)p->pid, &p->maps, err);

	if (!r)
		r = rd_namer_resolve(&p->namer, frames, n, err);
	if (p->namer.confined.active)
		us->confined = p->namer.confined;
	if (!r)
		return 0;
	rd_namer_stop(&p->namer);
	p->given_up = true;
	us->hangs += r == -ETIMEDOUT;
	snprintf(err->object, sizeof(err->object), "user stacks of PID %u", p->pid);
	rd_err_hint(err,
		    us->hangs == HANGS_MAX ? "all further user stacks are shown without names" : "shown without names");
	return r;
}

int rd_ustack_resolve(struct rd_ustack *us, uint32_t pid, struct rd_frame *frames, size_t n, struct rd_err *err)
{
	struct process *p = n ? process_of(us, pid) : NULL;

	if (!p)
		return 0;
	if (!all_are_known(p, frames, n))
		reread_maps(p);
	if (!locate(p, frames, n) || p->given_up || us->hangs >= HANGS_MAX)
		return 0;
	return resolve_symbols(us, p, frames, n, err);
}
