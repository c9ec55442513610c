/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --live: bars of the traffic of ports; below them counters by last change, or owners of queue pairs. */
#include "counters.h"

#include <math.h>

#include "collect/rdma/rdma.h"
#include "view/view.h"

#define MARK_SECONDS 4 /* for which a change is highlighted */

struct live {
	struct counters_watch w;
	const struct rd_counter_set *set; /* the set that the rest belongs to */
	struct rd_live_history *history;
	uint64_t *moved_ns;
	uint32_t *order; /* counters in the order of the view */
	size_t n_order;
	bool owners, quiet, grouped; /* show owners of QPs; include counters that never changed; a heading per port */
	bool reselected;	     /* one of these has changed */
	size_t n_moved;
	unsigned long samples;
};

static void live_deinit(struct live *live)
{
	counters_watch_deinit(&live->w);
	RD_FREE(live->history, live->moved_ns, live->order);
}

static struct rd_live shown(const struct live *live)
{
	const struct counters *c = live->w.c;

	return (struct rd_live){
		.set = live->w.set,
		.now = &c->now.sample,
		.deltas = c->deltas,
		.seconds = c->seconds,
		.rates = &live->w.rates,
		.history = live->history,
		.ports = live->w.ports,
		.moved_ns = live->moved_ns,
	};
}

/* The last change comes first; of counters that changed together, faults before load. */
static int by_movement(const void *a, const void *b, void *arg)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct rd_live *s = arg;
	const struct rd_meaning *mx = s->set->counters[x].meaning, *my = s->set->counters[y].meaning;
	bool load_x = mx && mx->role == RD_ROLE_LOAD, load_y = my && my->role == RD_ROLE_LOAD;

	return RD_CMP(s->moved_ns[y], s->moved_ns[x]) ?: RD_CMP(load_x, load_y) ?: RD_CMP(x, y);
}

static char *headline(const struct live *live)
{
	const struct counters *c = live->w.c;
	const struct rd_finding *last = live->w.events.n ? &live->w.events.v[live->w.events.n - 1] : NULL;
	char when[RD_CLOCK_SIZE];

	return rd_text("counters  %s  %g s  %zu of %zu changed%s%s%s%s%s", rd_clock(c->now.sample.realtime_ns, when),
		       (double)live->w.ticks.interval_ns / 1e9, live->n_moved, live->w.set->n,
		       live->w.ticks.missed ? "  LATE" : "", last ? "  " : "", last ? last->subject : "",
		       last ? ": " : "", last ? last->title : "");
}

/* The worst cause since the view began, as the summary of counters -i would name it; NULL: none. */
static char *alarm_of(const struct live *live, enum rd_severity *ret_severity)
{
	const struct counters_watch *w = &live->w;
	const struct rd_counted first = { w->set, &w->first }, now = { w->set, &w->c->now.sample };
	_cleanup_free_ struct rd_delta *deltas = NULL;
	_cleanup_(rd_causes_deinit) struct rd_causes causes = { 0 };

	if (!w->interval)
		return NULL;
	deltas = rd_alloc(w->set->n + 1, sizeof(*deltas));
	rd_deltas(&first, &now, deltas);
	rd_causes_find(&first, &now, deltas, rd_moments_seconds(&first, &now), &causes);
	return rd_findings_alarm(&causes.findings, ret_severity);
}

/* Reads the owners of QPs from RDMA netlink. */
static int read_owners(const struct live *live, const char *device, struct rd_res *res, struct rd_err *err)
{
	return rd_collect_res(live->w.c->ctx->source, RD_WANT_QPS | RD_WANT_PROCS, device, res, NULL, err);
}

static int take_page(void *arg, struct rd_view_page *page, struct rd_err *err)
{
	struct live *live = arg;
	struct counters *c = live->w.c;
	_cleanup_(rd_res_deinit) struct rd_res res = { 0 };
	struct rd_live all;
	int r;

	if (c->opts->repeat.count && live->samples++ > c->opts->repeat.count)
		return 1;
	rd_ticks_advance(&live->w.ticks);
	r = counters_advance(&live->w, err);
	if (!r && live->w.set != live->set) {
		/* Devices were added or removed. `live->set` is the previous set, which the previous reader still owns. */
		const struct rd_counter_set *set = live->w.set;
		struct rd_live_history *history = rd_alloc(set->n_ports + 1, sizeof(*history));

		for (size_t p = 0; live->set && p < set->n_ports; p++) {
			size_t at = rd_counted_port(live->set, set->ports[p].ibdev, set->ports[p].port);

			if (at != SIZE_MAX)
				history[p] = live->history[at];
		}
		RD_FREE(live->history, live->moved_ns, live->order);
		live->history = history;
		live->moved_ns = rd_alloc(set->n + 1, sizeof(*live->moved_ns));
		live->order = rd_alloc(set->n + 1, sizeof(*live->order));
		live->set = set;
	}
	if (r < 0)
		return r;
	if (live->w.interval) {
		for (size_t p = 0; p < live->w.set->n_ports; p++) {
			const struct rd_port_rate *rate = &live->w.rates.ports[p];
			struct rd_live_history *to = &live->history[p];

			to->tx[to->next] = rate->tx_share.known == RD_OK ? rate->tx_share.v : NAN;
			to->rx[to->next] = rate->rx_share.known == RD_OK ? rate->rx_share.v : NAN;
			to->next = (to->next + 1) % RD_LIVE_HISTORY;
			to->n += to->n < RD_LIVE_HISTORY;
		}
		for (size_t i = 0; i < live->w.set->n; i++)
			if (c->deltas[i].kind != RD_DELTA_UNKNOWN && c->deltas[i].v)
				live->moved_ns[i] = c->now.sample.monotonic_ns;
	}
	live->n_order = live->n_moved = 0;
	for (size_t i = 0; i < live->w.set->n; i++) {
		live->n_moved += live->moved_ns[i] != 0;
		if (live->w.selected[i] && (live->quiet || live->moved_ns[i]))
			live->order[live->n_order++] = (uint32_t)i;
	}
	all = shown(live);
	qsort_r(live->order, live->n_order, sizeof(*live->order), by_movement, &all);
	page->top = rd_live_ports(&all);
	page->headline = headline(live);
	page->alarm = alarm_of(live, &page->alarm_severity);
	page->reselected = live->reselected;
	live->reselected = false;
	if (!live->owners)
		page->body = rd_live_counters(&all, live->order, live->n_order);
	else if (read_owners(live, NULL, &res, err) == 0)
		page->body = rd_live_owners(&res);
	return page->body ? 0 : -err->code;
}

static int due(void *arg)
{
	const struct live *live = arg;

	return rd_ticks_left_ms(&live->w.ticks);
}

static int detail(void *arg, const struct rd_section *body, size_t row, struct rd_section **ret, struct rd_err *err)
{
	const struct live *live = arg;
	struct rd_live all = shown(live);
	_cleanup_(rd_res_deinit) struct rd_res res = { 0 };
	uint32_t port;
	bool known;

	if (live->owners)
		return rd_err_set(err, ENODATA, "owners",
				  "no details here: rdmadiag qp-state --live shows their queue pairs");
	if (row >= live->n_order)
		return rd_err_set(err, ENOENT, "counters", "counter no longer exists");
	port = live->w.set->counters[live->order[row]].port;
	known = read_owners(live, live->w.set->ports[port].ibdev, &res, err) == 0;
	*ret = rd_live_port(&all, port, known ? &res : NULL);
	return 0;
}

static int group(void *arg)
{
	const struct live *live = arg;

	return live->grouped && !live->owners ? RD_LIVE_GROUP : -1;
}

static int key(void *arg, int key)
{
	struct live *live = arg;
	bool *is = key == 'o' ? &live->owners : key == 'a' ? &live->quiet : key == 'g' ? &live->grouped : NULL;

	if (!is)
		return 0;
	*is = !*is;
	live->reselected = true;
	return 1;
}

int counters_live(struct counters *c)
{
	static const char *const help[] = {
		"a        include counters that have not changed since the start",
		"g        group counters by port",
		"o        show owners of queue pairs instead of counters",
		"Enter    show the port of a counter: its processes, all its counters and their meanings",
		NULL,
	};
	const struct counters_opts *opts = c->ctx->state;
	double seconds = opts->repeat.seconds > 0 ? opts->repeat.seconds : 1;
	_cleanup_(live_deinit) struct live live = { 0 };
	const struct rd_view_ops ops = {
		.look = take_page,
		.due = due,
		.keys = rd_live_keys,
		.restless = rd_live_restless,
		.marked = (uint16_t)(MARK_SECONDS / seconds + 1),
		.group = group,
		.detail = detail,
		.key = key,
		.help = help,
	};
	struct rd_err err = { 0 };

	counters_watch_init(&live.w, c, seconds);
	return rd_view_run(&ops, &live, c->ctx->globals.style.colour, &err) < 0 ? rd_fail(c->ctx, &err) : RD_EXIT_OK;
}
