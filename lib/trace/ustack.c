// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/ustack.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "trace/libdw.h"

#define PROCESSES 16 /* remembered at a time */

struct process {
	uint32_t pid; /* 0: this place is free */
	int pidfd;    /* -1: the kernel gave none */
	uint64_t used;
	Dwfl *dwfl; /* NULL: nothing could be learned */
};

struct rd_ustack {
	Dwfl_Callbacks callbacks;
	struct process processes[PROCESSES];
	uint64_t clock; /* counts questions: the process asked for longest ago makes room */
};

/* Opening what a process has mapped must have no effect: devices and pipes are left alone. */
static int open_regular(const char *path)
{
	struct stat st;
	int fd;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return -1;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* A module's file as the process sees it, which in a container is another than the one we see by that name. What has
 * no file ([vdso], [heap]) gets no names. */
static int find_elf(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base, char **file, Elf **elf)
{
	pid_t pid = (pid_t)(uintptr_t)*userdata;
	char path[4096];
	int fd = -1;

	(void)mod;
	(void)base;
	(void)elf;
	if (name[0] != '/')
		return -1;
	if (pid > 0 && (size_t)snprintf(path, sizeof(path), "/proc/%d/root%s", pid, name) < sizeof(path))
		fd = open_regular(path);
	if (fd < 0)
		fd = open_regular(name);
	if (fd >= 0)
		*file = strdup(name);
	return fd;
}

static void process_forget(struct process *p)
{
	if (p->dwfl)
		rd_libdw.dwfl_end(p->dwfl);
	if (p->pidfd >= 0)
		close(p->pidfd);
	*p = (struct process){ .pidfd = -1 };
}

int rd_ustack_create(struct rd_ustack **ret, struct rd_err *err)
{
	int r = rd_libdw_load("user stacks", err);
	struct rd_ustack *us;

	if (r < 0)
		return r;
	us = calloc(1, sizeof(*us));
	if (!us)
		return rd_err_set(err, ENOMEM, "user stacks", "no memory to name them");
	/* Only what lies on this host; the standard function would ask servers on the network. */
	us->callbacks =
		(Dwfl_Callbacks){ .find_elf = find_elf, .find_debuginfo = rd_libdw.dwfl_build_id_find_debuginfo };
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

/* So that find_elf knows whose file it is asked for. */
static int tell_pid(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr start, void *pid)
{
	(void)mod;
	(void)name;
	(void)start;
	*userdata = pid;
	return DWARF_CB_OK;
}

static bool read_maps(Dwfl *dwfl, uint32_t pid)
{
	if (rd_libdw.dwfl_linux_proc_report(dwfl, (pid_t)pid) || rd_libdw.dwfl_report_end(dwfl, NULL, NULL))
		return false;
	rd_libdw.dwfl_getmodules(dwfl, tell_pid, (void *)(uintptr_t)pid, 0);
	return true;
}

static void process_learn(const struct rd_ustack *us, struct process *p, uint32_t pid)
{
	p->pid = pid;
	p->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	p->dwfl = rd_libdw.dwfl_begin(&us->callbacks);
	if (p->dwfl) {
		rd_libdw.dwfl_report_begin(p->dwfl);
		if (read_maps(p->dwfl, pid))
			return;
	}
	if (p->dwfl)
		rd_libdw.dwfl_end(p->dwfl);
	p->dwfl = NULL;
}

/* Has the process ended, and another one taken its number? What was learned of one that has ended stays good. */
static bool is_another(const struct process *p)
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
	if (p && is_another(p)) {
		process_forget(p);
		oldest = p;
		p = NULL;
	}
	if (!p) {
		p = oldest;
		process_forget(p);
		process_learn(us, p, pid);
	}
	p->used = ++us->clock;
	return p;
}

static char *dup_text(const char *s)
{
	return s && *s ? strdup(s) : NULL;
}

static void name_frame(Dwfl_Module *mod, struct rd_frame *f)
{
	const char *file = NULL, *path, *name;
	Dwarf_Addr bias = 0, low = 0;
	GElf_Off offset = 0;
	Dwfl_Line *line;
	GElf_Sym sym;
	int number;

	path = rd_libdw.dwfl_module_info(mod, NULL, &low, NULL, NULL, NULL, NULL, NULL);
	f->object = dup_text(path);
	/* A return address stands behind its call, which may be the last instruction of its function. */
	name = rd_libdw.dwfl_module_addrinfo(mod, f->addr - 1, &offset, &sym, NULL, NULL, NULL);
	if (name) {
		f->function = strdup(name);
		f->offset = offset + 1;
	} else {
		f->offset = f->addr - (rd_libdw.dwfl_module_getelf(mod, &bias) ? bias : low);
	}
	line = rd_libdw.dwfl_module_getsrc(mod, f->addr - 1);
	if (line)
		file = rd_libdw.dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL);
	if (file) {
		f->file = dup_text(file);
		RD_SET(f->line, number);
	}
}

/* A library loaded since then is in no module known: the maps are read again, once per stack. */
static Dwfl_Module *module_of(struct process *p, uint64_t addr, bool *read_again)
{
	Dwfl_Module *mod = rd_libdw.dwfl_addrmodule(p->dwfl, addr);

	if (mod || *read_again)
		return mod;
	*read_again = true;
	rd_libdw.dwfl_report_begin_add(p->dwfl);
	return read_maps(p->dwfl, p->pid) ? rd_libdw.dwfl_addrmodule(p->dwfl, addr) : NULL;
}

void rd_ustack_resolve(struct rd_ustack *us, uint32_t pid, struct rd_frame *frames, size_t n)
{
	struct process *p = n ? process_of(us, pid) : NULL;
	bool read_again = false;

	for (size_t i = 0; p && p->dwfl && i < n; i++) {
		Dwfl_Module *mod = module_of(p, frames[i].addr, &read_again);

		if (mod)
			name_frame(mod, &frames[i]);
	}
}
