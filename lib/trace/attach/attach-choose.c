// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which way of hooking to prefer: what it costs to come and go against what each call costs, where it misses nothing.
 *
 * A tracing program does not run while another task that was preempted inside it waits for the same CPU: the kernel's
 * guard against recursion is per program and CPU, and only migration is switched off around it. On a preemptible kernel
 * eight threads on two CPUs that fail 20,000 times lost half of the calls to that under fexit-multi, a fifth under fexit;
 * kprobe-multi, whose handlers run with preemption off, lost none.
 */
#include "trace/attach/attach.h"

#include <stdio.h>
#include <string.h>

/* A run may spend this share of its time on attaching and detaching. */
#define SHARE 0.05

/* So few hooks come and go quickly whatever they cost. */
#define FEW 8

/*
 * Seconds per function to attach and to detach one fexit program on 6.1 and 6.12 (7.x has fexit-multi). Detaching waits
 * for one RCU-tasks grace period each, one after the other. tests/bench measures them: see tests/bench/results/trace-errno.md.
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

void rd_attach_choose(const struct rd_attach *attach, size_t functions, enum rd_backend order[RD_BACKEND_COUNT],
		      char **reason)
{
	double wait = (double)functions * (FEXIT_ATTACH + FEXIT_DETACH), seconds = attach->opts->seconds;
	const bool *works = attach->works;
	char text[256];

	if (attach->opts->backend != RD_BACKEND_NONE) {
		put(order, attach->opts->backend, RD_BACKEND_NONE, RD_BACKEND_NONE, RD_BACKEND_NONE);
		snprintf(text, sizeof(text), "%s, as asked", rd_backend_name(attach->opts->backend));
	} else if (works[RD_BACKEND_FEXIT_MULTI] && attach->opts->kernel_stack) {
		/* Where this kind is there, the registers that kprobe-multi hands over lead to no caller. */
		put(order, RD_BACKEND_FEXIT_MULTI, RD_BACKEND_FEXIT, RD_BACKEND_KPROBE_MULTI, RD_BACKEND_KPROBE);
		snprintf(text, sizeof(text), "fexit-multi: it sees the whole kernel stack");
	} else if (works[RD_BACKEND_KPROBE_MULTI] && attach->preemptible) {
		put(order, RD_BACKEND_KPROBE_MULTI, RD_BACKEND_FEXIT_MULTI, RD_BACKEND_FEXIT, RD_BACKEND_KPROBE);
		snprintf(
			text, sizeof(text),
			"kprobe-multi: fexit costs less per call, but on a preemptible kernel it misses calls under load");
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
