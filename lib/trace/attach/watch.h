/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When a holder detaches by itself. Pure functions. */
#ifndef RD_TRACE_WATCH_H
#define RD_TRACE_WATCH_H

#include "base/base.h"
#include "model/trace/event.h"

/* The CPU share is measured over at least this time. */
#define RD_WATCH_WINDOW_NS UINT64_C(2000000000)

struct rd_watch {
	double max_percent;	 /* of one CPU; 0: no limit */
	uint64_t max_silence_ns; /* time without a sign of the reader; 0: no limit */
	uint64_t heard_ns;	 /* time of the last sign of the reader */
	bool measuring;		 /* a window has begun at since_* */
	uint64_t since_ns, since_run_ns;
	double percent, highest; /* in the last window; highest of all */
};

/* A reading. `run_ns`: total run time of the programs on all CPUs; `counted`: whether run statistics are on. */
struct rd_watch_reading {
	uint64_t now_ns, run_ns;
	bool counted;
};

/* Whether run times are to be read again, which costs one system call per program. */
bool rd_watch_due(const struct rd_watch *watch, uint64_t now_ns);

/* RD_EARLY_END_NOT, RD_EARLY_END_UNREAD or RD_EARLY_END_CPU. A window in which run statistics were off at times is ignored. */
enum rd_early_end rd_watch_step(struct rd_watch *watch, const struct rd_watch_reading *reading);

/* Checks only for RD_EARLY_END_UNREAD. */
enum rd_early_end rd_watch_reader(const struct rd_watch *watch, uint64_t now_ns);

#endif
