/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads that gave no answer in time, and what is known of why. */
#ifndef RD_STALL_H
#define RD_STALL_H

#include "base/err.h"

enum rd_stall_kind {
	RD_STALL_UNASKED, /* the time was over before it was its turn */
	RD_STALL_SLOW,	  /* at work, or waiting for a processor, while it was waited for */
	RD_STALL_UNSURE,  /* nothing is shown: it slept too short a time, or other reads were slow as well */
	RD_STALL_BLOCKED, /* slept in one piece, far longer than another read took at the same time */
	RD_STALL_DIED,	  /* ended the process that read */
};

struct rd_stall {
	enum rd_stall_kind kind;
	unsigned ms;	   /* how long it was waited for */
	struct rd_err err; /* what was read is err.object */
};

struct rd_stalls {
	struct rd_stall *v;
	size_t n, cap;
	unsigned limit_ms; /* for all reads together */
	size_t answered;   /* reads that did give an answer */
};

/* Keeps a copy; a list that cannot grow drops it. */
void rd_stalls_add(struct rd_stalls *stalls, const struct rd_stall *stall);
void rd_stalls_deinit(struct rd_stalls *stalls);

/* The first of this kind; NULL: there is none. */
const struct rd_stall *rd_stalls_first(const struct rd_stalls *stalls, enum rd_stall_kind kind);
size_t rd_stalls_count(const struct rd_stalls *stalls, enum rd_stall_kind kind);

#endif
