/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What it costs to start a process that gives up what it may do: confine RUNS. Microseconds, as lines of a table. */
#include <elfutils/libdwfl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "bpf/record.h"
#include "confine/confine.h"
#include "trace/symbols/ustack.h"

static const struct rd_confine_dir folders[] = {
	{ "/sys", false }, { "/usr/lib", false }, { "/dev", true }, { NULL, false }
};

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* In a child, until it has ended. */
static double start(unsigned needs)
{
	double begin = now_us();
	pid_t pid = fork();

	if (pid == 0)
		_exit(needs != ~0u && rd_confine(needs, folders, NULL) < 0);
	waitpid(pid, NULL, 0);
	return now_us() - begin;
}

static pid_t waiting(void)
{
	pid_t pid = fork();

	while (pid == 0)
		pause();
	return pid;
}

static double resolve(struct rd_ustack *ustack, pid_t pid)
{
	struct rd_event ev = { .pid = (uint32_t)pid, .user = calloc(1, sizeof(*ev.user)) };
	struct rd_err err = { 0 };
	double begin = now_us(), took;

	ev.user->regs[16] = (uint64_t)(uintptr_t)qsort + 8; /* rip */
	if (rd_ustack_resolve(ustack, &ev, &err) < 0 || !ev.ustack->function)
		exit(1);
	took = now_us() - begin;
	rd_event_deinit(&ev);
	return took;
}

/* As it was before: libdw in this process, which keeps nothing of it. */
static double resolve_here(pid_t pid)
{
	static const Dwfl_Callbacks callbacks = { .find_elf = dwfl_linux_proc_find_elf,
						  .find_debuginfo = dwfl_build_id_find_debuginfo };
	Dwarf_Addr addr = (Dwarf_Addr)(uintptr_t)qsort + 7;
	double begin = now_us();
	Dwfl *dwfl = dwfl_begin(&callbacks);
	Dwfl_Module *mod;

	if (dwfl_linux_proc_report(dwfl, pid) || dwfl_report_end(dwfl, NULL, NULL))
		exit(1);
	mod = dwfl_addrmodule(dwfl, addr);
	if (!dwfl_module_addrname(mod, addr))
		exit(1);
	dwfl_module_getsrc(mod, addr);
	dwfl_end(dwfl);
	return now_us() - begin;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print(const char *what, double *us, size_t n)
{
	qsort(us, n, sizeof(*us), ascending);
	printf("| %s | %.0f | %.0f |\n", what, us[n / 2], us[n * 9 / 10]);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *what;
		unsigned needs;
	} starts[] = {
		{ "a process that ends at once", ~0u },
		{ "the same, confined: nothing to be opened", 0 },
		{ "the same, confined: below three folders", RD_CONFINE_READ | RD_CONFINE_VERBS },
	};
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 200;
	double *first = calloc(n + 1, sizeof(*first)), *again = calloc(n + 1, sizeof(*again)),
	       *here = calloc(n + 1, sizeof(*here));
	struct rd_ustack *ustack;

	for (size_t i = 0; i < RD_ARRAY_SIZE(starts); i++) {
		for (size_t k = 0; k < n; k++)
			first[k] = start(starts[i].needs);
		print(starts[i].what, first, n);
	}
	if (rd_ustack_create(&ustack, NULL) < 0)
		return 1;
	for (size_t k = 0; k < n; k++) {
		pid_t pid = waiting();

		first[k] = resolve(ustack, pid);
		again[k] = resolve(ustack, pid);
		here[k] = resolve_here(pid);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	print("a frame of libc, with its debug information, by libdw in this process", here, n);
	print("the same in a process of its own, confined: the first of a traced process", first, n);
	print("its next", again, n);
	rd_ustack_destroy(ustack);
	return 0;
}
