// SPDX-License-Identifier: GPL-2.0-or-later
/* Which way of hooking to prefer: what it costs to come and go against what each call costs. */
#include "trace/attach.h"

#include <stdio.h>
#include <string.h>

/* A run may spend this share of its time on attaching and detaching. */
#define SHARE 0.05

/* So few hooks come and go quickly whatever they cost. */
#define FEW 8

/*
 * Seconds per function to attach and to detach one fexit program on 6.1 and 6.12 (7.x has fexit-multi). Detaching waits
 * for one RCU-tasks grace period each, one after the other. tests/bench measures them: see bench/README.md.
 */
#define FEXIT_ATTACH 0.015
#define FEXIT_DETACH 0.14

static void put(enum rd_backend order[RD_BACKEND_COUNT], enum rd_backend a, enum rd_backend b, enum rd_backend c,
		enum rd_backend d)
{
	order[0] = a;
	order[1] = b;
	order[2] = c;
	order[3] = d;
	order[4] = RD_BACKEND_NONE;
}

void rd_attach_choose(const bool works[RD_BACKEND_COUNT], enum rd_backend asked, size_t functions, double seconds,
		      enum rd_backend order[RD_BACKEND_COUNT], char **reason)
{
	double wait = (double)functions * (FEXIT_ATTACH + FEXIT_DETACH);
	char text[256];

	if (asked != RD_BACKEND_NONE) {
		put(order, asked, RD_BACKEND_NONE, RD_BACKEND_NONE, RD_BACKEND_NONE);
		snprintf(text, sizeof(text), "%s, as asked", rd_backend_name(asked));
	} else if (works[RD_BACKEND_FEXIT_MULTI]) {
		put(order, RD_BACKEND_FEXIT_MULTI, RD_BACKEND_FEXIT, RD_BACKEND_KPROBE_MULTI, RD_BACKEND_KPROBE);
		snprintf(text, sizeof(text), "fexit-multi: cheapest per call, and one link per module");
	} else if (works[RD_BACKEND_KPROBE_MULTI] && works[RD_BACKEND_FEXIT] && functions > FEW &&
		   (seconds <= 0 || wait > seconds * SHARE)) {
		put(order, RD_BACKEND_KPROBE_MULTI, RD_BACKEND_FEXIT, RD_BACKEND_KPROBE, RD_BACKEND_NONE);
		snprintf(
			text, sizeof(text),
			"kprobe-multi: fexit costs less per call, but would take about %.0f s to come and go with %zu functions%s",
			wait, functions, seconds > 0 ? ", much of this run" : "");
	} else if (works[RD_BACKEND_FEXIT]) {
		put(order, RD_BACKEND_FEXIT, RD_BACKEND_KPROBE_MULTI, RD_BACKEND_KPROBE, RD_BACKEND_NONE);
		snprintf(text, sizeof(text), "fexit: cheapest per call%s",
			 works[RD_BACKEND_KPROBE_MULTI] ? ", and the run is long or the functions few" : "");
	} else if (works[RD_BACKEND_KPROBE_MULTI]) {
		put(order, RD_BACKEND_KPROBE_MULTI, RD_BACKEND_KPROBE, RD_BACKEND_NONE, RD_BACKEND_NONE);
		snprintf(text, sizeof(text), "kprobe-multi: this kernel takes no fexit programs");
	} else {
		put(order, RD_BACKEND_KPROBE, RD_BACKEND_NONE, RD_BACKEND_NONE, RD_BACKEND_NONE);
		snprintf(text, sizeof(text), "kprobe: this kernel has nothing quicker");
	}
	*reason = strdup(text);
}
