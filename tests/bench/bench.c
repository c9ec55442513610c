// SPDX-License-Identifier: GPL-2.0-or-later
#include "bench.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "trace/select/select.h"

/* Letting go of some 300 fexit programs takes a 6.x kernel a minute. */
#define GONE_S 200

void bench_fail(const char *what, int code)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(code < 0 ? -code : code));
	exit(1);
}

void bench_fail_err(const struct rd_err *err)
{
	fprintf(stderr, "bench: %s: ", err->object);
	bench_fail(err->message, err->code);
}

double bench_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

void bench_select(struct rd_fnset *set)
{
	struct rd_source *src;
	struct rd_err err = {};

	if (rd_source_live_open(NULL, &src, &err) || rd_select(src, set, NULL, &err))
		bench_fail_err(&err);
	src->ops->close(src);
}

size_t bench_bpf_objects(void)
{
	size_t n = 0;

	for (__u32 id = 0; !bpf_prog_get_next_id(id, &id);)
		n++;
	for (__u32 id = 0; !bpf_link_get_next_id(id, &id);)
		n++;
	return n;
}

double bench_wait_gone(size_t before)
{
	static const struct timespec nap = { .tv_nsec = 5000000 };
	double start = bench_now(), passed = 0;

	while (bench_bpf_objects() > before) {
		nanosleep(&nap, NULL);
		passed = bench_now() - start;
		if (passed > GONE_S)
			bench_fail("hooks do not go away", ETIMEDOUT);
	}
	return passed;
}
