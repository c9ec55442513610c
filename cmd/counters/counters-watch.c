/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --watch: samples at intervals, printed, recorded, until a condition holds. */
#include <fnmatch.h>
#include <time.h>

#include "counters.h"
#include "report/shared/report.h"

/* counters --until 'NAME>N': prints a line with the time for each increase of the counter; ends once the total exceeds N. */

struct counters_until {
	char *name; /* pattern; owned. NULL: there is no condition */
	uint64_t more_than;
	bool per_second;
	bool announced; /* that it is waiting */
	uint64_t total; /* increase since the start, of all matching counters */
};

static int parse_until(const char *condition, struct counters_until *until, struct rd_err *err)
{
	const char *sign = strchr(condition, '>'), *number = sign ? sign + 1 : NULL;
	bool equal = number && *number == '=', good = false;

	if (sign && sign > condition) {
		number += equal;
		number += strspn(number, " ");
		good = rd_take_uint(&number, RD_DECIMAL, UINT64_MAX, &until->more_than) == 0;
		until->per_second = good && strcmp(number, "/s") == 0;
	}
	if (!good || (*number && !until->per_second) || (equal && until->more_than == 0)) {
		rd_err_set(err, EINVAL, "--until", "invalid condition '%s'", condition);
		return rd_err_hint(err, "use NAME>N, NAME>=N or NAME>N/s; for example --until 'link_downed>0'");
	}
	until->more_than -= equal;
	until->name = rd_dup_part(condition, (size_t)(sign - condition));
	rd_trim(until->name);
	return 0;
}

static const struct rd_column until_columns[] = {
	{ "time", "TIME", RD_T_TIME, "time of the sample" },
	{ "ibdev", "IBDEV", RD_T_STR, "RDMA device" },
	{ "port", "PORT", RD_T_UINT, "port number" },
	{ "netdev", "NETDEV", RD_T_STR, "network interface", .hidden = true },
	{ "group", "GROUP", RD_T_STR, "source of the counter", .hidden = true },
	{ "name", "NAME", RD_T_STR, "name of the counter" },
	{ "delta", "DELTA", RD_T_UINT, "increase since the previous sample" },
	{ "total", "TOTAL", RD_T_UINT, "increase of all matching counters since the start" },
	{ "reached", "REACHED", RD_T_BOOL, "whether this ends the wait" },
};

static int print_increase(const struct counters_until *until, const struct counters_watch *w, size_t i, bool reached)
{
	const struct counters *c = w->c;
	const struct rd_counter *counter = &w->set->counters[i];
	const struct rd_counter_port *port = &w->set->ports[counter->port];
	_cleanup_section_ struct rd_section *section = RD_SECTION("until", until_columns);
	struct rd_row *row = RD_ROW(section, RD_UINT(c->now.sample.realtime_ns), RD_STR(port->ibdev),
				    port->port ? RD_UINT(port->port) : RD_UNKNOWN_CELL, RD_STR(counter->netdev),
				    RD_STR(rd_counter_group_name(counter->group)), RD_STR(counter->name),
				    RD_UINT(c->deltas[i].v), RD_UINT(until->total), RD_BOOL(reached));
	_cleanup_buf_ struct rd_buf out = { 0 };

	if (c->ctx->globals.json) {
		rd_render_json_row(section, 0, &out);
	} else {
		_cleanup_free_ char *label = rd_counter_port_label(port);

		rd_render_cell(&until_columns[0], &row->cells[0], &out);
		rd_buf_part(&out, " ", label);
		rd_buf_part(&out, " ", counter->name);
		rd_buf_printf(&out, " +%" PRIu64 ", %" PRIu64 " in all%s\n", c->deltas[i].v, until->total,
			      reached ? ": reached" : "");
	}
	return rd_out(&out);
}

/* Counters of the port and of its driver with the same name count the same events: the first is used. */
static bool counted_before(const struct counters_watch *w, size_t i)
{
	const struct rd_counter *counter = &w->set->counters[i];

	for (size_t j = 0; j < i; j++) {
		const struct rd_counter *other = &w->set->counters[j];

		if (other->port == counter->port && other->group != counter->group && w->selected[j] &&
		    strcmp(other->name, counter->name) == 0)
			return true;
	}
	return false;
}

/* Prints the increases of the last interval. 1: the condition is met, 0: not yet, or -errno. */
static int counters_until_check(struct counters_until *until, const struct counters_watch *w, struct rd_err *err)
{
	const struct counters *c = w->c;
	size_t fit = 0;
	int reached = 0;

	for (size_t i = 0; i < w->set->n; i++) {
		const struct rd_delta *delta = &c->deltas[i];
		int r;

		if (!(w->selected[i] && fnmatch(until->name, w->set->counters[i].name, 0) == 0 && !counted_before(w, i)))
			continue;
		fit++;
		if (!w->interval || delta->kind == RD_DELTA_UNKNOWN || delta->v == 0)
			continue;
		until->total += delta->v;
		reached |= until->per_second ?
				   c->seconds > 0 && (double)delta->v / c->seconds > (double)until->more_than :
				   until->total > until->more_than;
		r = until->per_second && !reached ? 0 : print_increase(until, w, i, reached);
		if (r < 0)
			return r;
	}
	if (fit == 0 && w->set->n_ports > 0) {
		rd_err_set(err, ENOENT, until->name, "no counter has this name");
		return rd_err_hint(err, "list counters with rdmadiag counters");
	}
	if (!until->announced)
		rd_warn(c->ctx, "waiting for %s: %zu matching counters", until->name, fit);
	until->announced = true;
	return reached;
}

/* Repeated sampling. Memory and open files are reused: there may be ten samples per second. */

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
	RD_FREE(w->selected, w->ports);
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
	if (c->now.set != w->set) {
		/* Devices were added or removed: keeps the state of the remaining ones. */
		const struct rd_counter_set *set = c->now.set;
		const struct rd_counter_sample *now = &c->now.sample;
		struct rd_rates rates;

		rd_rates_init(&rates, set);
		rd_rates_carry(&rates, set, &w->rates, w->set);
		rd_rates_deinit(&w->rates);
		w->rates = rates;
		RD_FREE(w->selected, w->ports, c->deltas);
		w->selected = rd_alloc(set->n + 1, sizeof(*w->selected));
		w->ports = rd_alloc(set->n_ports + 1, sizeof(*w->ports));
		c->deltas = rd_alloc(set->n + 1, sizeof(*c->deltas));
		for (size_t p = 0; p < set->n_ports; p++)
			w->ports[p] = counters_port_matches(c, &set->ports[p]);
		for (size_t i = 0; i < set->n; i++)
			w->selected[i] = w->ports[set->counters[i].port] && counters_match(c, &set->counters[i]);
		w->set = set;
		rd_counter_sample_deinit(&w->first);
		w->first = *now;
		w->first.values = rd_alloc(now->n + 1, sizeof(*now->values));
		w->first.states = rd_alloc(now->n_ports + 1, sizeof(*now->states));
		memcpy(w->first.values, now->values, now->n * sizeof(*now->values));
		memcpy(w->first.states, now->states, now->n_ports * sizeof(*now->states));
	}
	w->interval = c->before.set;
	if (w->interval && counters_need_meanings(c, err) < 0)
		return -err->code;
	if (w->interval) {
		const struct rd_counted before = { c->before.set, &c->before.sample },
					now = { c->now.set, &c->now.sample };

		rd_deltas(&before, &now, c->deltas);
		c->seconds = rd_moments_seconds(&before, &now);
		rd_rates_update(&w->rates, c->now.set, c->deltas, c->seconds);
		rd_findings_deinit(&w->findings);
		rd_rates_findings(&w->rates, c->now.set, &c->now.sample, &w->findings);
		for (size_t i = 0; i < w->findings.n && w->events.n < EVENTS_MAX; i++)
			rd_finding_copy(&w->events, &w->findings.v[i]);
	}
	return 0;
}

/* counters -i: rates of each interval, or changes; recordings; waiting. */

/* Counters to show for an interval: those selected that changed, or with --nonzero are not 0. */
static bool *shown_counters(const struct counters_watch *w)
{
	const struct counters_opts *opts = w->c->opts;
	bool *shown = rd_alloc(w->set->n + 1, sizeof(*shown));

	for (size_t i = 0; i < w->set->n; i++) {
		const struct rd_delta *delta = &w->c->deltas[i];
		const struct rd_counter_value *value = &w->c->now.sample.values[i];
		bool moved = (delta->kind != RD_DELTA_UNKNOWN && delta->v) ||
			     (delta->note != RD_NOTE_NONE && delta->note != RD_NOTE_UNREAD);

		shown[i] = w->selected[i] &&
			   (moved || (opts->nonzero && !opts->changed && value->known == RD_OK && value->v));
	}
	return shown;
}

static void print_time(const struct counters_watch *w, const struct rd_report *report)
{
	time_t seconds = (time_t)(report->time / 1000000000u);
	_cleanup_buf_ struct rd_buf out = { 0 };
	char text[32];
	struct tm tm;

	if (w->c->ctx->globals.rows_only || !localtime_r(&seconds, &tm))
		return;
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	rd_buf_printf(&out, "\n%s.%03u, %.3f s", text, (unsigned)(report->time % 1000000000u / 1000000), w->c->seconds);
	if (w->ticks.missed)
		rd_buf_printf(&out, ", %" PRIu64 " intervals missed so far", w->ticks.missed);
	rd_buf_str(&out, "\n");
	rd_out(&out);
}

static void print_interval(const struct counters_watch *w)
{
	struct rd_ctx *ctx = w->c->ctx;
	const struct counters_opts *opts = w->c->opts;
	/* If counters were selected they are shown; otherwise the traffic of ports. */
	bool first_counters = opts->filter || opts->groups || opts->changed || opts->nonzero;
	_cleanup_free_ bool *shown = shown_counters(w);
	const struct rd_counters_shown counters = { .set = w->set,
						    .now = &w->c->now.sample,
						    .deltas = w->c->deltas,
						    .seconds = w->c->seconds,
						    .selected = shown };
	_cleanup_(rd_report_deinit) struct rd_report report = { 0 };

	rd_output_init(ctx, &report);
	report.time = w->c->now.sample.realtime_ns;
	if (first_counters)
		rd_report_add(&report, rd_counters_section(&counters));
	rd_report_add(&report, rd_rates_section(&w->rates, w->set, &w->c->now.sample, w->ports));
	if (!first_counters && w->c->ctx->globals.json)
		rd_report_add(&report, rd_counters_section(&counters));
	rd_report_add_findings(&report, &w->findings);
	if (rd_metrics_wanted(w->c->ctx))
		rd_report_counter_metrics(&report, w->set, &w->c->now.sample, w->selected);
	if (!ctx->globals.json && !ctx->globals.textfile)
		print_time(w, &report);
	if (!ctx->globals.json) {
		/* Between tables findings would scroll away: they are printed to standard error, too, with their time. */
		for (size_t i = 0; i < w->findings.n; i++) {
			const struct rd_finding *finding = &w->findings.v[i];

			rd_warn(w->c->ctx, "%s: %s: %s; before: %s", finding->subject, finding->title,
				finding->observed ?: "", finding->expected ?: "");
		}
	}
	rd_output_print(ctx, &report);
}

/* The summary, from the first sample to the last: likely causes, and the number of missed intervals. */
static int finish(struct counters_watch *w, uint64_t looks)
{
	static const struct rd_column columns[] = {
		{ "seconds", "SECONDS", RD_T_DOUBLE, "seconds from the first sample to the last", 3, false },
		{ "looks", "LOOKS", RD_T_UINT, "number of intervals", 0, false },
		{ "missed", "MISSED", RD_T_UINT, "intervals missed because a sample took too long", 0, false },
	};
	struct counters *c = w->c;
	_cleanup_buf_ struct rd_buf out = { 0 };
	const struct rd_counted first = { w->set, &w->first }, last = { w->set, &c->now.sample };
	const struct counters_opts *opts = w->c->opts;
	struct rd_ctx *ctx = c->ctx;
	_cleanup_(rd_report_deinit) struct rd_report report = { 0 };
	double seconds = rd_moments_seconds(&first, &last);

	rd_deltas(&first, &last, c->deltas);
	rd_causes_deinit(&c->causes);
	rd_causes_find(&first, &last, c->deltas, seconds, &c->causes);
	ctx->schema = "rdmadiag/counters-summary/1";
	rd_output_init(ctx, &report);
	report.scalars = RD_OBJECT("summary", columns, RD_DOUBLE(seconds), RD_UINT(looks), RD_UINT(w->ticks.missed));
	rd_report_add_findings(&report, &w->events);
	rd_report_add_findings(&report, &c->causes.findings);
	if (opts->fail)
		report.status = rd_report_judge(&report);
	rd_errlist_add_all(&report.errors, &c->errors);
	if (ctx->globals.json)
		return rd_output_print(ctx, &report);
	if (ctx->globals.textfile)
		return 0;
	rd_output_findings(ctx, &report, &out);
	rd_out_beside(ctx, &out);
	if (w->ticks.missed)
		rd_warn(ctx, "%" PRIu64 " intervals were missed: samples took too long", w->ticks.missed);
	return report.status;
}

struct outputs {
	struct counters_file *file; /* NULL: none */
	struct counters_until until;
};

static void outputs_deinit(struct outputs *to)
{
	counters_file_close(to->file);
	free(to->until.name);
}

/* Takes one sample and passes it on. 1: the condition of --until is met. */
static int run_interval(struct counters_watch *w, struct outputs *to, struct rd_err *err)
{
	struct rd_ctx *ctx = w->c->ctx;
	int r = counters_advance(w, err), reached = 0;

	if (!r && to->file)
		counters_file_add(to->file, w);
	if (!r && to->until.name)
		r = reached = counters_until_check(&to->until, w, err);
	if (r < 0)
		return r;
	/* A recording and a wait print their own messages. */
	if (ctx->globals.textfile || (w->interval && !to->until.name && (!to->file || ctx->globals.json)))
		print_interval(w);
	return reached;
}

static int run_intervals(struct counters_watch *w, struct outputs *to, uint64_t *looks, struct rd_err *err)
{
	const struct counters_opts *opts = w->c->opts;
	int r = 0;

	/* A short first interval would show only noise; waiting long for its start would look like a hang. */
	if (w->ticks.interval_ns <= 1000000000u && rd_ticks_wait(&w->ticks) < 0)
		return 0;
	r = run_interval(w, to, err);
	while (!r && !rd_ticks_stopped() && !rd_out_failure() && (!opts->repeat.count || *looks < opts->repeat.count)) {
		if (rd_ticks_wait(&w->ticks) < 0)
			break;
		r = run_interval(w, to, err);
		*looks += w->interval;
	}
	return r;
}

int counters_watch(struct counters *c)
{
	const struct counters_opts *opts = c->ctx->state;
	_cleanup_(outputs_deinit) struct outputs to = { 0 };
	_cleanup_(counters_watch_deinit) struct counters_watch w;
	struct rd_err err = { 0 };
	uint64_t looks = 0;
	int r = 0;

	counters_watch_init(&w, c, opts->repeat.seconds);
	if (opts->until)
		r = parse_until(opts->until, &to.until, &err);
	if (!r && opts->record)
		r = counters_file_open(c->ctx, opts->record, &to.file, &err);
	if (r == -EINVAL)
		return rd_fail_usage(c->ctx->cmd, &err);
	if (!r) {
		c->ctx->lines = true;
		rd_ticks_catch_signals();
		r = run_intervals(&w, &to, &looks, &err);
	}
	/* Ends the file: -errno with `err` filled if samples are missing in it. */
	if (r >= 0 && to.file && counters_file_finish(to.file, &err) < 0)
		r = -err.code;
	if (r < 0)
		return rd_fail(c->ctx, &err);
	if (to.until.name)
		return r == 1 ? RD_EXIT_OK : RD_EXIT_WARNING;
	return w.set ? finish(&w, looks) : RD_EXIT_OK;
}
