/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When a holder lets go by itself: a decision on figures, pure. */
#ifndef RD_TRACE_WATCH_H
#define RD_TRACE_WATCH_H

#include "base/base.h"
#include "model/trace/event.h"

/* The share is measured over as long as this, at least. */
#define RD_WATCH_WINDOW_NS UINT64_C(2000000000)

struct rd_watch {
	double max_percent;	 /* of one processor; 0: no limit */
	uint64_t max_silence_ns; /* from the reader; 0: no limit */
	uint64_t heard_ns;	 /* when it last gave a sign */
	bool measuring;		 /* since_* are those of a window that has begun */
	uint64_t since_ns, since_run_ns;
	double percent, highest; /* in the last window; in any */
};

/* What was found at a time: `run_ns`: how long the programs have run so far, on all processors together; `counted`: whether
 * the kernel measures that now. */
struct rd_watch_look {
	uint64_t now_ns, run_ns;
	bool counted;
};

/* Whether it is time for a look at run times, which cost a system call a program. */
bool rd_watch_due(const struct rd_watch *watch, uint64_t now_ns);

/* RD_LET_GO_NOT, RD_LET_GO_UNREAD or RD_LET_GO_CPU. A window in which the kernel did not measure all the time says nothing. */
enum rd_let_go rd_watch_step(struct rd_watch *watch, const struct rd_watch_look *look);

/* The first of the two alone. */
enum rd_let_go rd_watch_reader(const struct rd_watch *watch, uint64_t now_ns);

#endif
