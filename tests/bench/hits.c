// SPDX-License-Identifier: GPL-2.0-or-later
#include "hits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"

#define TRACING "/sys/kernel/tracing/"

static void put(const char *file, const char *text)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), TRACING "%s", file);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0 || (*text && write(fd, text, strlen(text)) < 0))
		bench_fail(path, errno);
	close(fd);
}

static void filter_modules(const struct rd_fnset *set)
{
	FILE *f = fopen(TRACING "set_ftrace_filter", "we");

	if (!f)
		bench_fail("set_ftrace_filter", errno);
	setvbuf(f, NULL, _IONBF, 0);
	for (size_t i = 0; i < set->n_modules; i++)
		if (set->modules[i].rdma)
			fprintf(f, "*:mod:%s\n", set->modules[i].name);
	fclose(f);
}

/* Where several functions of the set have the name, the one that is watched. */
static const struct rd_fn *find(const struct rd_fnset *set, const char *name)
{
	for (size_t i = 0; i < set->n_fns; i++)
		if (set->fns[i].selected && !strcmp(set->fns[i].name, name))
			return &set->fns[i];
	return NULL;
}

/* "comm-12 [000] ..... 12.345678: name <-caller" */
static void read_trace(const struct rd_fnset *set, unsigned *hits)
{
	FILE *f = fopen(TRACING "trace", "re");
	char line[512], name[128];

	if (!f)
		bench_fail("trace", errno);
	while (fgets(line, sizeof(line), f)) {
		const char *text = strstr(line, ": ");
		const struct rd_fn *fn;

		if (line[0] == '#' || !text || sscanf(text, ": %127s", name) != 1)
			continue;
		fn = find(set, name);
		if (fn)
			hits[fn - set->fns]++;
	}
	fclose(f);
}

unsigned *hits_count(const struct rd_fnset *set, void (*work)(void *arg), void *arg)
{
	unsigned *hits = calloc(set->n_fns + 1, sizeof(*hits));
	char pid[16];

	if (!hits)
		bench_fail("hits", ENOMEM);
	snprintf(pid, sizeof(pid), "%d", getpid());
	put("current_tracer", "nop");
	put("set_ftrace_pid", pid);
	filter_modules(set);
	put("current_tracer", "function");
	put("trace", "");
	put("tracing_on", "1");
	for (int i = 0; i < HITS_TIMES; i++)
		work(arg);
	put("tracing_on", "0");
	read_trace(set, hits);
	put("current_tracer", "nop");
	put("set_ftrace_filter", "");
	put("tracing_on", "1");
	for (size_t i = 0; i < set->n_fns; i++)
		hits[i] = (hits[i] + HITS_TIMES / 2) / HITS_TIMES;
	return hits;
}
