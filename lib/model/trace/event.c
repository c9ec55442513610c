// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/trace/event.h"

#include <string.h>

static void frames_free(struct rd_frame *frames, size_t n)
{
	for (size_t i = 0; i < n; i++)
		RD_FREE(frames[i].function, frames[i].object, frames[i].file);
	free(frames);
}

void rd_event_deinit(struct rd_event *event)
{
	RD_FREE(event->cgroup, event->job, event->ibdev, event->object, event->method, event->verb, event->chain,
		event->below, event->below_modules, event->hint);
	rd_explanation_deinit(&event->why);
	frames_free(event->kstack, event->n_kstack);
	frames_free(event->ustack, event->n_ustack);
	memset(event, 0, sizeof(*event));
}

const char *rd_early_end_name(enum rd_early_end why)
{
	static const char *const names[] = {
		[RD_EARLY_END_DIED] = "holder-died",
		[RD_EARLY_END_DETACHED] = "detached",
		[RD_EARLY_END_UNREAD] = "unread",
		[RD_EARLY_END_CPU] = "max-cpu",
	};

	return (size_t)why < RD_ARRAY_SIZE(names) ? names[why] : NULL;
}
