/* SPDX-License-Identifier: GPL-2.0-or-later */
/* To be preloaded: there is no memory for allocation NO_MEMORY_AT (from 1) alone, or, when it is preceded by "+", from that on.
 * Without it, after SIGUSR1. NO_MEMORY_COUNT=FILE: how many there were. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size), *__libc_calloc(size_t n, size_t size), *__libc_realloc(void *p, size_t size);

static volatile sig_atomic_t over;
static long at, done;
static int count = -1;
static int all_after;

static void end_it(int signal)
{
	over = 1;
}

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("NO_MEMORY_AT");

	all_after = text && *text == '+';
	at = text ? atol(text + all_after) : 0;
	if (!text && !getenv("NO_MEMORY_COUNT"))
		signal(SIGUSR1, end_it);
	/* Now: a process that parses what others wrote opens nothing later. */
	if (getenv("NO_MEMORY_COUNT"))
		count = open(getenv("NO_MEMORY_COUNT"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	done = 0;
}

__attribute__((destructor)) static void tell(void)
{
	if (count >= 0)
		dprintf(count, "%ld\n", done);
}

static int fails(void)
{
	done++;
	if (!over && (!at || (all_after ? done < at : done != at)))
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return fails() ? NULL : __libc_realloc(p, size);
}
