/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files that parse logs of runs. */
#ifndef RD_COLLECT_RUNLOG_PRIV_H
#define RD_COLLECT_RUNLOG_PRIV_H

#include "collect/nccl/runlog.h"

struct rd_run_reader {
	struct rd_runlog *log;
	size_t last; /* the host of the previous line, where lookups start */
};

/* The host of that name, added if it is new; NULL: above the limit. */
struct rd_run_host *rd_run_reader_host(struct rd_run_reader *reader, const char *name, size_t size);

/* A new element, zeroed; NULL: too many. */
void *rd_run_grow(struct rd_run_reader *reader, void *v, size_t *n, size_t *cap, size_t elem_size);
#define rd_run_new(reader, array) \
	((__typeof__((array)->v))rd_run_grow((reader), &(array)->v, &(array)->n, &(array)->cap, sizeof(*(array)->v)))

void rd_run_set(char **ret, const char *text, size_t size);
void rd_run_set_var(struct rd_run_reader *reader, struct rd_run_host *host, const char *name, size_t name_size,
		    const char *value, size_t value_size);
/* The text after the first `what` in `text`; NULL: not found. */
const char *rd_run_after(const char *text, const char *what);
/* The text after `what` if `text` starts with it, else NULL. */
const char *rd_run_begins(const char *text, const char *what);
/* Parses a number of up to nine digits at `*at` and advances it; false: no number. */
bool rd_run_number(const char **at, unsigned *ret);

/* Each parses a line, or the text after "NCCL INFO ", and returns whether it was recognised. */
bool rd_run_take_nccl(struct rd_run_reader *reader, struct rd_run_host *host, const char *message);
bool rd_run_take_ucx(struct rd_run_reader *reader, const char *line);
bool rd_run_take_mooncake(struct rd_run_reader *reader, const char *line);
bool rd_run_take_nvshmem(struct rd_run_reader *reader, const char *line);
/* Mooncake logs its topology as JSON, over any number of lines. Returns the number of memory locations found. */
size_t rd_run_take_topology(struct rd_run_reader *reader, const char *text, size_t size);

#endif
