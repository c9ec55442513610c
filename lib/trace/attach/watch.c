// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/attach/watch.h"

bool rd_watch_due(const struct rd_watch *w, uint64_t now_ns)
{
	return w->max_percent > 0 && (!w->measuring || now_ns - w->since_ns >= RD_WATCH_WINDOW_NS);
}

enum rd_early_end rd_watch_reader(const struct rd_watch *w, uint64_t now_ns)
{
	return w->max_silence_ns && now_ns > w->heard_ns && now_ns - w->heard_ns > w->max_silence_ns ?
		       RD_EARLY_END_UNREAD :
		       RD_EARLY_END_NOT;
}

static enum rd_early_end check_cpu(struct rd_watch *w, const struct rd_watch_reading *reading)
{
	bool whole = w->measuring && reading->counted && reading->run_ns >= w->since_run_ns;

	if (whole && reading->now_ns - w->since_ns < RD_WATCH_WINDOW_NS)
		return RD_EARLY_END_NOT;
	if (whole) {
		w->percent =
			100.0 * (double)(reading->run_ns - w->since_run_ns) / (double)(reading->now_ns - w->since_ns);
		if (w->percent > w->highest)
			w->highest = w->percent;
	}
	w->measuring = reading->counted;
	w->since_ns = reading->now_ns;
	w->since_run_ns = reading->run_ns;
	return whole && w->percent > w->max_percent ? RD_EARLY_END_CPU : RD_EARLY_END_NOT;
}

enum rd_early_end rd_watch_step(struct rd_watch *w, const struct rd_watch_reading *reading)
{
	enum rd_early_end r = w->max_percent > 0 ? check_cpu(w, reading) : RD_EARLY_END_NOT;

	return r ? r : rd_watch_reader(w, reading->now_ns);
}
