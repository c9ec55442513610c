// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/symbols/ustack-priv.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/environ.h"
#include "base/memory.h"
#include "trace/symbols/libdw.h"

#define PROCESSES 16   /* cached at a time */
#define HANGS_MAX 3    /* each delays the trace for some seconds */
#define CHANGES_MAX 64 /* of the files of a process: each requires a new child */

#define NOT_CODE "the next frame is not in executable memory: code without frame pointers hides its callers"
/* The mappings are as of an earlier frame: the process has ended, or changes them all the time. */
#define WAS_NOT_CODE "the next frame was not in executable memory when the mappings were last read"
#define PAST_END "the next frame is beyond the end of its file: code without frame pointers hides its callers"

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
	us = rd_alloc(1, sizeof(*us));
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

	if (p->pidfd >= 0 && poll(&fd, 1, 0) <= 0)
		return false;
	return rd_maps_any((pid_t)p->pid);
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

/* Files that were mapped since then need a new child, which has not parsed anything yet. Returns whether the maps are current. */
static bool reread_maps(struct process *p)
{
	struct rd_maps maps;
	bool same;

	if (rd_maps_read((pid_t)p->pid, &maps) < 0)
		return false;
	same = rd_maps_same(&maps, &p->maps);
	/* Of a process that is ending, only a part can be read. */
	if ((!same && p->changes == CHANGES_MAX) || (p->maps.complete && !maps.complete)) {
		rd_maps_deinit(&maps);
		return false;
	}
	if (!same) {
		rd_namer_stop(&p->namer);
		p->changes++;
	}
	rd_maps_deinit(&p->maps);
	p->maps = maps;
	return true;
}

/* Frame 0 is the instruction pointer. The others are return addresses: these point behind a call, which may be the last instruction
 * of the mapping. */
static const struct rd_area *area_of(const struct process *p, const struct rd_frame *frames, size_t i)
{
	return rd_maps_code(&p->maps, frames[i].addr - (i > 0));
}

/* The first frame from `i` on that is not in executable memory; `n`: all are. */
static size_t find_no_code(const struct process *p, const struct rd_frame *frames, size_t i, size_t n)
{
	while (i < n && area_of(p, frames, i))
		i++;
	return i;
}

static void drop_frames(struct rd_frame *frames, size_t *n, size_t keep, const char *why, struct rd_ustack_cut *cut)
{
	if (keep >= *n)
		return;
	for (size_t i = keep; i < *n; i++) {
		free(frames[i].function);
		free(frames[i].object);
		free(frames[i].file);
		frames[i] = (struct rd_frame){ .addr = frames[i].addr };
	}
	*cut = (struct rd_ustack_cut){ .dropped = cut->dropped + *n - keep, .why = why };
	*n = keep;
}

static void cut_stack(struct process *p, struct rd_frame *frames, size_t *n, struct rd_ustack_cut *cut)
{
	bool current = find_no_code(p, frames, 0, *n) == *n || reread_maps(p);

	if (p->maps.complete)
		drop_frames(frames, n, find_no_code(p, frames, 1, *n), current ? NOT_CODE : WAS_NOT_CODE, cut);
}

/* Fills object and offset from the maps of the kernel. Returns whether a frame is in a file that may have symbols. */
static bool locate(const struct process *p, struct rd_frame *frames, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		const struct rd_area *area = area_of(p, frames, i);
		const struct rd_mapped *mapped = area && area->file >= 0 ? &p->maps.v[area->file] : NULL;

		if (!mapped)
			continue;
		frames[i].object = rd_dup(mapped->name);
		frames[i].offset = frames[i].addr - mapped->start;
		any |= *mapped->name == '/';
	}
	return any;
}

static int resolve_symbols(struct rd_ustack *us, struct process *p, struct rd_frame *frames, size_t *n,
			   struct rd_ustack_cut *cut, struct rd_err *err)
{
	size_t keep = *n;
	int r = p->namer.pid ? 0 : rd_namer_start(&p->namer, (pid_t)p->pid, &p->maps, err);

	if (!r)
		r = rd_namer_resolve(&p->namer, frames, &keep, err);
	if (p->namer.confined.active)
		us->confined = p->namer.confined;
	drop_frames(frames, n, keep, PAST_END, cut);
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

int rd_ustack_resolve(struct rd_ustack *us, uint32_t pid, struct rd_frame *frames, size_t *n, struct rd_ustack_cut *cut,
		      struct rd_err *err)
{
	struct process *p = *n ? process_of(us, pid) : NULL;

	*cut = (struct rd_ustack_cut){ 0 };
	if (!p)
		return 0;
	cut_stack(p, frames, n, cut);
	if (!locate(p, frames, *n) || p->given_up || us->hangs >= HANGS_MAX)
		return 0;
	return resolve_symbols(us, p, frames, n, cut, err);
}
