/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Repeated sampling. Memory and open files are reused: there may be ten samples per second. */
#include "counters-watch.h"

#include <string.h>

#define DEFAULT_SECONDS 1.0
#define EVENTS_MAX 1000 /* far more than an operator reads */

void counters_watch_init(struct counters_watch *w, struct counters *c, double seconds)
{
	*w = (struct counters_watch){ .c = c };
	rd_ticks_init(&w->ticks, seconds > 0 ? seconds : DEFAULT_SECONDS);
}

void counters_watch_deinit(struct counters_watch *w)
{
	rd_rates_deinit(&w->rates);
	rd_findings_deinit(&w->findings);
	rd_findings_deinit(&w->events);
	rd_counter_sample_deinit(&w->first);
	free(w->selected);
	free(w->ports);
}

static void keep_first(struct counters_watch *w)
{
	const struct rd_counter_sample *now = &w->c->now.sample;
	struct rd_counter_value *values;
	struct rd_counter_state *states;

	rd_counter_sample_fit(&w->first, w->c->now.set);
	values = w->first.values;
	states = w->first.states;
	memcpy(values, now->values, now->n * sizeof(*values));
	memcpy(states, now->states, now->n_ports * sizeof(*states));
	w->first.realtime_ns = now->realtime_ns;
	w->first.monotonic_ns = now->monotonic_ns;
	memcpy(w->first.boot_id, now->boot_id, sizeof(w->first.boot_id));
}

static void select_counters(struct counters_watch *w)
{
	const struct rd_counter_set *set = w->c->now.set;

	free(w->selected);
	free(w->ports);
	w->selected = rd_alloc(set->n + 1, sizeof(*w->selected));
	w->ports = rd_alloc(set->n_ports + 1, sizeof(*w->ports));
	for (size_t p = 0; p < set->n_ports; p++)
		w->ports[p] = counters_port_matches(w->c, &set->ports[p]);
	for (size_t i = 0; i < set->n; i++)
		w->selected[i] = w->ports[set->counters[i].port] && counters_match(w->c, &set->counters[i]);
}

/* Devices were added or removed: keeps the state of the remaining ones. */
static void take_set(struct counters_watch *w)
{
	struct rd_rates rates;

	rd_rates_init(&rates, w->c->now.set);
	if (w->set)
		rd_rates_carry(&rates, w->c->now.set, &w->rates, w->set);
	rd_rates_deinit(&w->rates);
	w->rates = rates;
	select_counters(w);
	free(w->c->deltas);
	w->c->deltas = rd_alloc(w->c->now.set->n + 1, sizeof(*w->c->deltas));
	w->set = w->c->now.set;
	keep_first(w);
}

static void keep_events(struct counters_watch *w)
{
	for (size_t i = 0; i < w->findings.n && w->events.n < EVENTS_MAX; i++)
		rd_finding_copy(&w->events, &w->findings.v[i]);
}

static void compare(struct counters_watch *w)
{
	struct counters *c = w->c;
	const struct rd_moment before = { c->before.set, &c->before.sample }, now = { c->now.set, &c->now.sample };

	rd_deltas(&before, &now, c->deltas);
	c->seconds = rd_moments_seconds(&before, &now);
	rd_rates_update(&w->rates, c->now.set, c->deltas, c->seconds);
	rd_findings_deinit(&w->findings);
	rd_rates_findings(&w->rates, c->now.set, &c->now.sample, &w->findings);
	keep_events(w);
}

int counters_advance(struct counters_watch *w, struct rd_err *err)
{
	struct counters *c = w->c;
	int r;

	if (c->now.set)
		counters_keep_before(c);
	r = counters_sample(c, c->ctx->source, err);
	if (r < 0)
		return r;
	if (c->now.set != w->set)
		take_set(w);
	w->interval = c->before.set;
	if (w->interval && counters_need_meanings(c, err) < 0)
		return -err->code;
	if (w->interval)
		compare(w);
	return 0;
}
