/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory allocation that does not fail, and the abnormal end of the program. */
#include "base/base.h"

#include <sys/resource.h>

#define HINT "  try: free memory, or raise its limit (ulimit -v, memory.max of the control group)\n"

static pid_t watched;
static bool in_order, limited;
static void (*steps[4])(void);
static size_t n_steps;

void rd_at_end(void (*step)(void))
{
	for (size_t i = 0; i < n_steps; i++)
		if (steps[i] == step)
			return;
	if (n_steps == sizeof(steps) / sizeof(steps[0]))
		abort();
	steps[n_steps++] = step;
}

_Noreturn static void end_program(const char *why)
{
	ssize_t ignored;

	if (getpid() != watched)
		_exit(RD_EXIT_NO_MEMORY);
	while (n_steps > 0)
		steps[--n_steps]();
	ignored = write(STDERR_FILENO, why, strlen(why));
	(void)ignored; /* no other place to report it */
	_exit(RD_EXIT_NO_MEMORY);
}

void rd_end_limit(size_t bytes)
{
#ifndef RD_SANITIZED /* see confine.c: more than any limit */
	struct rlimit limit;

	if (getrlimit(RLIMIT_DATA, &limit) < 0 || limit.rlim_cur <= bytes)
		return;
	limit.rlim_cur = bytes;
	limited = setrlimit(RLIMIT_DATA, &limit) == 0;
#endif
}

_Noreturn void rd_out_of_memory(void)
{
	end_program(
		limited ?
			"rdmadiag: out of memory, of which inputs of this size may take no more: output is incomplete\n" :
			"rdmadiag: out of memory: output is incomplete\n" HINT);
}

static void at_exit(void)
{
	if (!in_order && getpid() == watched)
		end_program(
			"rdmadiag: a library called exit(), probably for lack of memory: output is incomplete\n" HINT);
}

void rd_end_watch(void)
{
	watched = getpid();
	in_order = false;
	if (atexit(at_exit) != 0)
		rd_out_of_memory();
}

int rd_end_in_order(int code)
{
	in_order = true;
	return code;
}

void *rd_alloc(size_t n, size_t elem_size)
{
	void *ret = calloc(n ?: 1, elem_size ?: 1);

	if (!ret)
		rd_out_of_memory();
	return ret;
}

char *rd_dup(const char *text)
{
	return rd_dup_part(text, strlen(text));
}

char *rd_dup_part(const char *text, size_t size)
{
	char *ret = strndup(text, size);

	if (!ret)
		rd_out_of_memory();
	return ret;
}

void rd_reserve(void *v, size_t *cap, size_t need, size_t elem_size)
{
	if (rd_grow(v, cap, need, elem_size) < 0)
		rd_out_of_memory();
}
