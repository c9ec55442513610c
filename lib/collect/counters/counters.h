/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source to counters. A reader finds once which counters exist and how to read them (one netlink request for all RDMA counters
 * of a port, one ioctl for all statistics of a driver, one file for each of the rest), and then reads repeatedly into a sample
 * that is reused.
 *
 * A read failure affects that counter only: its value is unknown, with the errno. If a function refuses every read, which for
 * mlx5 leaves a line in the kernel log each time, the rest of the directory is skipped.
 */
#ifndef RD_COLLECT_COUNTERS_H
#define RD_COLLECT_COUNTERS_H

#include "model/counters/counter.h"
#include "source/shared/source.h"

struct rd_counter_reader;

/* What to read: bits 1 << enum rd_counter_group. */
#define RD_COUNTERS_ALL ((1u << RD_GROUPS) - 1)

/* Finds the counters of the host. Read errors are added to `errors` (may be NULL), which is not kept. -EFBIG, -E2BIG above a limit; a host without
 * RDMA has a set without ports, and *rdma_error has the reason, as in struct rd_host. */
int rd_counter_reader_create(struct rd_source *src, unsigned groups, struct rd_counter_reader **ret, int *rdma_error,
			     struct rd_errlist *errors, struct rd_err *err);
void rd_counter_reader_destroy(struct rd_counter_reader *reader);
static inline void rd_counter_reader_destroyp(struct rd_counter_reader **reader)
{
	rd_counter_reader_destroy(*reader);
}

/* The set of all samples, owned by the reader. Not const: the caller that has the table fills in the meanings. */
struct rd_counter_set *rd_counter_reader_set(struct rd_counter_reader *reader);

/* Reads all values. True if devices were added or removed, or queue pairs were bound to other counters: the sample has what could be
 * read; create another reader for new counters. */
bool rd_counter_reader_sample(struct rd_counter_reader *reader, struct rd_counter_sample *sample);

/*
 * Reads a set and a sample from the JSON document of `counters` (also written by --save). The input is not trusted: size, depth
 * and number are limited. The caller zeroes both outputs, and releases them in any case. -EBADMSG with `err` filled for any
 * other document, -EFBIG, -ENOMEM. Values that are null are unknown.
 */
int rd_counters_saved(const char *name, const char *text, size_t size, struct rd_counter_set *set,
		      struct rd_counter_sample *sample, struct rd_err *err);

#endif
