/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source to counters. A reader finds out once what there is and how it is asked for (one netlink request for all RDMA
 * counters of a port, one ioctl for all of a driver's statistics, one file for each of the rest), and then reads as often
 * as wanted into a sample that is used again.
 *
 * Whatever cannot be read is so for that counter alone: the value is unknown, with its errno. Where a function refuses
 * every read, which for mlx5 leaves a line in the kernel log each time, the rest of its folder is left alone.
 */
#ifndef RD_COLLECT_COUNTERS_H
#define RD_COLLECT_COUNTERS_H

#include "base/err.h"
#include "model/counters/counter.h"
#include "source/shared/source.h"

struct rd_counter_reader;

/* What to read: bits 1 << enum rd_counter_group. */
#define RD_COUNTERS_ALL ((1u << RD_GROUPS) - 1)

/* Finds out what there is. `errors` (may be NULL) gets what was refused; it is not kept. 0 or -ENOMEM; a host without
 * RDMA has a set without ports, and *rdma_error says why, as in struct rd_host. */
int rd_counter_reader_create(struct rd_source *src, unsigned groups, struct rd_counter_reader **ret, int *rdma_error,
			     struct rd_errlist *errors, struct rd_err *err);
void rd_counter_reader_destroy(struct rd_counter_reader *reader);
static inline void rd_counter_reader_destroyp(struct rd_counter_reader **reader)
{
	rd_counter_reader_destroy(*reader);
}

/* What the values of a sample belong to; the reader's. Meanings are filled in by who has the table: it is not const. */
struct rd_counter_set *rd_counter_reader_set(struct rd_counter_reader *reader);

/* Reads all. 0 or -ENOMEM. Where devices have come or gone, or queue pairs were bound to other counters, returns 1: what
 * could be read is in the sample; make another reader for what is new. */
int rd_counter_reader_sample(struct rd_counter_reader *reader, struct rd_counter_sample *sample, struct rd_err *err);

#endif
