// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which backend to prefer: the cost of attaching and detaching against the cost per call, among those that miss no calls.
 *
 * A tracing program is skipped while another task that was preempted inside it waits for the same CPU: the recursion guard of
 * the kernel is per program and CPU, and only migration is disabled while it runs. On a preemptible kernel, with eight threads on
 * two CPUs that fail 20,000 times, fexit-multi missed half of the calls and fexit a fifth; kprobe-multi, whose handlers run
 * with preemption disabled, missed none. Where there is no kprobe-multi (Debian's 6.1 with preempt=full), kprobe missed none of
 * these, and 12,000 of 19,000 calls of 48 threads, more than a kretprobe has instances for (10 on two CPUs); fexit missed 15,000.
 */
#include "trace/attach/attach.h"

#include <stdio.h>
#include <string.h>

/* Attaching and detaching may take at most this share of the duration; a trace without end takes the hook that costs least per
 * call. */
#define SHARE 0.05

/* Attaching and detaching this few hooks is quick with any backend. */
#define FEW 8

/*
 * Seconds per function to attach and to detach one fexit program on 6.1 and 6.12 (7.x has fexit-multi). Detaching waits
 * for one RCU-tasks grace period per program, one after the other. Measured by tests/bench: tests/bench/results/trace-errno.md.
 */
#define FEXIT_ATTACH 0.015
#define FEXIT_DETACH 0.14

static void set_order(enum rd_backend order[RD_BACKEND_COUNT], enum rd_backend a, enum rd_backend b, enum rd_backend c,
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
		set_order(order, attach->opts->backend, RD_BACKEND_NONE, RD_BACKEND_NONE, RD_BACKEND_NONE);
		snprintf(text, sizeof(text), "%s, as requested", rd_backend_name(attach->opts->backend));
	} else if (works[RD_BACKEND_FEXIT_MULTI] && attach->opts->kernel_stack) {
		/* On kernels with this backend, the registers that kprobe-multi passes do not lead to the caller. */
		set_order(order, RD_BACKEND_FEXIT_MULTI, RD_BACKEND_FEXIT, RD_BACKEND_KPROBE_MULTI, RD_BACKEND_KPROBE);
		snprintf(text, sizeof(text), "fexit-multi: provides the complete kernel stack");
	} else if (works[RD_BACKEND_KPROBE_MULTI] && attach->preemptible) {
		set_order(order, RD_BACKEND_KPROBE_MULTI, RD_BACKEND_FEXIT_MULTI, RD_BACKEND_FEXIT, RD_BACKEND_KPROBE);
		snprintf(text, sizeof(text),
			 "kprobe-multi: fexit costs less per call, but misses calls under load on a preemptible kernel");
	} else if (works[RD_BACKEND_KPROBE] && attach->preemptible) {
		set_order(order, RD_BACKEND_KPROBE, RD_BACKEND_FEXIT_MULTI, RD_BACKEND_FEXIT, RD_BACKEND_NONE);
		snprintf(text, sizeof(text),
			 "kprobe: fexit costs less per call, but misses calls under load on a preemptible kernel; this kernel "
			 "has no kprobe-multi");
	} else if (works[RD_BACKEND_FEXIT_MULTI]) {
		set_order(order, RD_BACKEND_FEXIT_MULTI, RD_BACKEND_FEXIT, RD_BACKEND_KPROBE_MULTI, RD_BACKEND_KPROBE);
		snprintf(text, sizeof(text), "fexit-multi: lowest cost per call, and one link per module");
	} else if (works[RD_BACKEND_KPROBE_MULTI] && works[RD_BACKEND_FEXIT] && functions > FEW &&
		   !attach->opts->endless && (seconds <= 0 || wait > seconds * SHARE)) {
		set_order(order, RD_BACKEND_KPROBE_MULTI, RD_BACKEND_FEXIT, RD_BACKEND_KPROBE, RD_BACKEND_NONE);
		snprintf(
			text, sizeof(text),
			"kprobe-multi: fexit costs less per call, but takes about %.0f s to attach and detach %zu functions%s",
			wait, functions, seconds > 0 ? ", much of the duration" : "");
	} else if (works[RD_BACKEND_FEXIT]) {
		set_order(order, RD_BACKEND_FEXIT, RD_BACKEND_KPROBE_MULTI, RD_BACKEND_KPROBE, RD_BACKEND_NONE);
		snprintf(text, sizeof(text), "fexit: lowest cost per call%s",
			 works[RD_BACKEND_KPROBE_MULTI] ? ", and the trace is long, without end, or has few functions" :
							  "");
	} else if (works[RD_BACKEND_KPROBE_MULTI]) {
		set_order(order, RD_BACKEND_KPROBE_MULTI, RD_BACKEND_KPROBE, RD_BACKEND_NONE, RD_BACKEND_NONE);
		snprintf(text, sizeof(text), "kprobe-multi: this kernel does not support fexit programs");
	} else {
		set_order(order, RD_BACKEND_KPROBE, RD_BACKEND_NONE, RD_BACKEND_NONE, RD_BACKEND_NONE);
		snprintf(text, sizeof(text), "kprobe: this kernel supports no faster backend");
	}
	*reason = strdup(text);
}
