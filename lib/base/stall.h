/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads without a reply in time, and their likely cause. */
#ifndef RD_STALL_H
#define RD_STALL_H

#include "base/err.h"

enum rd_stall_kind {
	RD_STALL_UNASKED, /* not started before the deadline */
	RD_STALL_SLOW,	  /* running, or waiting for a CPU */
	RD_STALL_UNSURE,  /* cause unknown: it slept too short a time, or other reads were slow as well */
	RD_STALL_BLOCKED, /* slept without interruption, far longer than another read took at the same time */
	RD_STALL_DIED,	  /* terminated the reading process */
};

struct rd_stall {
	enum rd_stall_kind kind;
	unsigned ms;	   /* waiting time */
	struct rd_err err; /* err.object: what was read */
};

struct rd_stalls {
	struct rd_stall *v;
	size_t n, cap;
	unsigned limit_ms; /* for all reads together */
	size_t replied;	   /* reads with a reply */
};

/* Keeps a copy; a list that cannot grow drops it. */
void rd_stalls_add(struct rd_stalls *stalls, const struct rd_stall *stall);
void rd_stalls_deinit(struct rd_stalls *stalls);

/* The first of this kind; NULL: none. */
const struct rd_stall *rd_stalls_first(const struct rd_stalls *stalls, enum rd_stall_kind kind);
size_t rd_stalls_count(const struct rd_stalls *stalls, enum rd_stall_kind kind);

#endif
