/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters: sampling, comparing, selecting. */
#include "counters.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "analyse/counters/causes.h"
#include "analyse/counters/threshold.h"
#include "base/text.h"
#include "cmd/datafile.h"
#include "cmd/meanings.h"
#include "cmd/table.h"
#include "collect/counters/counters-saved.h"
#include "source/guard/source-guard.h"

void counters_init(struct rd_ctx *ctx, const struct counters_opts *opts, struct counters *c)
{
	*c = (struct counters){ .ctx = ctx, .opts = opts };
	/* Without the complete table, counters are listed but not compared: counters_need_meanings. */
	rd_read_meanings(&c->meanings, &c->errors, &c->table);
	rd_warn_errors(ctx, &c->errors, 0);
}

int counters_need_meanings(const struct counters *c, struct rd_err *err)
{
	if (c->meanings.n > 0 && !c->table.code)
		return 0;
	if (c->table.code)
		*err = c->table;
	else
		rd_err_set(err, ENODATA, "counters", "the table of counters is empty");
	return -err->code;
}

static void moment_deinit(struct counters_moment *moment)
{
	rd_counter_set_deinit(&moment->own);
	rd_counter_sample_deinit(&moment->sample);
}

void counters_deinit(struct counters *c)
{
	moment_deinit(&c->now);
	moment_deinit(&c->before);
	rd_counter_reader_destroy(c->reader);
	rd_counter_reader_destroy(c->old);
	rd_causes_deinit(&c->causes);
	rd_errlist_deinit(&c->errors);
	rd_meanings_deinit(&c->meanings);
	free(c->deltas);
	free(c->selected);
}

static int recreate_reader(struct counters *c, struct rd_source *source, struct rd_err *err)
{
	const struct counters_opts *opts = c->opts;
	struct rd_counter_reader *reader;
	int r = rd_counter_reader_create(source, opts->groups ? opts->groups : RD_COUNTERS_ALL, &reader, &c->rdma_error,
					 c->reader ? NULL : &c->errors, err);

	if (r < 0)
		return r;
	rd_meanings_apply(&c->meanings, rd_counter_reader_set(reader));
	/* Keeps the reader whose set `before` uses, however often devices change in between. */
	if (c->old && c->before.set == rd_counter_reader_set(c->old)) {
		rd_counter_reader_destroy(c->reader);
	} else {
		rd_counter_reader_destroy(c->old);
		c->old = c->reader;
	}
	c->reader = reader;
	c->stale = false;
	return 0;
}

int counters_sample(struct counters *c, struct rd_source *source, struct rd_err *err)
{
	int r = c->reader && !c->stale ? 0 : recreate_reader(c, source, err);

	if (r < 0)
		return r;
	c->now.set = rd_counter_reader_set(c->reader);
	c->stale = rd_counter_reader_sample(c->reader, &c->now.sample);
	return 0;
}

void counters_keep_before(struct counters *c)
{
	struct rd_counter_sample sample = c->before.sample;

	rd_counter_set_deinit(&c->before.own);
	c->before.set = c->now.set;
	c->before.sample = c->now.sample;
	c->now.sample = sample;
	c->now.set = NULL;
}

void counters_read_ahead(struct rd_source *source, void *unused)
{
	_cleanup_(rd_counter_reader_destroyp) struct rd_counter_reader *reader = NULL;
	_cleanup_(rd_counter_sample_deinit) struct rd_counter_sample sample = { 0 };
	struct rd_err err = { 0 };
	int rdma_error;

	(void)unused;
	if (rd_source_guard_ready(source, &err) == 0 &&
	    rd_counter_reader_create(source, RD_COUNTERS_ALL, &reader, &rdma_error, NULL, &err) == 0)
		rd_counter_reader_sample(reader, &sample);
}

/* Moves the set out of the reader, which is destroyed with the bundle. */
static int read_bundle(struct counters *c, const char *path, struct rd_err *err)
{
	_cleanup_(rd_source_closep) struct rd_source *bundle = NULL;
	_cleanup_(rd_counter_reader_destroyp) struct rd_counter_reader *reader = NULL;
	int rdma_error;
	int r = rd_open_local_bundle(path, counters_read_ahead, &bundle, err);

	if (!r)
		r = rd_counter_reader_create(bundle, RD_COUNTERS_ALL, &reader, &rdma_error, NULL, err);
	if (r < 0)
		return r;
	rd_counter_reader_sample(reader, &c->before.sample);
	c->before.own = *rd_counter_reader_set(reader);
	*rd_counter_reader_set(reader) = (struct rd_counter_set){ 0 };
	return 0;
}

/* A JSON document begins with a brace; an archive or a directory does not. */
int counters_read_since(struct counters *c, const char *path, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	int r = rd_read_local(path, &bytes, err);

	if (r == 0 && bytes.data[strspn((char *)bytes.data, " \t\r\n")] == '{')
		r = rd_counters_saved(path, (char *)bytes.data, bytes.size, &c->before.own, &c->before.sample, err);
	else if (r == 0 || r == -EISDIR || r == -EFBIG)
		r = read_bundle(c, path, err);
	if (r < 0)
		return r;
	c->before.set = &c->before.own;
	return 0;
}

/* `name` is a path, or the name of a table. */
static int read_thresholds(const char *name, struct rd_thresholds *ret, struct rd_err *err)
{
	_cleanup_(rd_table_deinit) struct rd_table table = { 0 };
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	int r = rd_read_local(name, &bytes, err);

	if (r != -ENOENT || strchr(name, '/'))
		return r < 0 ? r : rd_thresholds_parse(name, (char *)bytes.data, bytes.size, ret, err);
	r = rd_table_read_all(name, &table, err);
	for (size_t i = table.n; i-- > 0 && !r;)
		r = rd_thresholds_parse(table.v[i].path, (char *)table.v[i].bytes.data, table.v[i].bytes.size, ret, err);
	return r;
}

static int check_thresholds(struct counters *c, struct rd_err *err)
{
	const struct rd_moment now = { c->now.set, &c->now.sample };
	_cleanup_(rd_thresholds_deinit) struct rd_thresholds thresholds = { 0 };
	int r = read_thresholds(c->opts->thresholds, &thresholds, err);

	if (r < 0)
		return r;
	if (!c->deltas && rd_thresholds_compare(&thresholds)) {
		rd_err_set(err, EINVAL, c->opts->thresholds,
			   "limits on delta, per_second, per_bit or per_packet require an earlier sample");
		rd_err_hint(err, "add --since FILE, written by an earlier --save FILE; or use only limits on value");
		return -EINVAL;
	}
	rd_thresholds_judge(&thresholds, &now, c->deltas, c->seconds, &c->causes.findings);
	return 0;
}

bool counters_port_named(const struct rd_counter_port *port, const char *name)
{
	return rd_port_fits(name, port->ibdev, port->port) || (port->netdev && fnmatch(name, port->netdev, 0) == 0);
}

bool counters_port_matches(const struct counters *c, const struct rd_counter_port *port)
{
	for (const char *at = c->opts->devices; at;) {
		_cleanup_free_ char *name = rd_next_part(&at, ',');

		if (counters_port_named(port, name))
			return true;
	}
	return !c->opts->devices;
}

bool counters_match(const struct counters *c, const struct rd_counter *counter)
{
	const struct counters_opts *opts = c->opts;

	if (opts->groups && !(opts->groups & 1u << counter->group))
		return false;
	return !opts->filter || fnmatch(opts->filter, counter->name, 0) == 0;
}

bool counters_brief(const struct counters *c)
{
	const struct counters_opts *opts = c->opts;
	const struct rd_globals *globals = &c->ctx->globals;

	return !opts->all && !opts->nonzero && !opts->changed && !opts->filter && !opts->groups && !opts->live &&
	       !rd_repeat_wanted(&opts->repeat) && !globals->json && !globals->rows_only && !rd_metrics_wanted(c->ctx);
}

/* Not traffic, and not 0, or not known. */
static bool is_telling(const struct counters *c, size_t i)
{
	const struct rd_counter *counter = &c->now.set->counters[i];
	const struct rd_counter_value *value = &c->now.sample.values[i];

	if (!counter->meaning || counter->meaning->role <= RD_ROLE_LOAD)
		return false;
	return value->known == RD_OK ? value->v > 0 : value->code && value->code != RD_COUNTER_OFF;
}

static bool is_selected(const struct counters *c, size_t i)
{
	const struct counters_opts *opts = c->opts;
	const struct rd_counter *counter = &c->now.set->counters[i];
	const struct rd_counter_value *value = &c->now.sample.values[i];

	if (!counters_match(c, counter) || (counters_brief(c) && !is_telling(c, i)))
		return false;
	if (opts->nonzero && (value->known != RD_OK || !value->v))
		return false;
	if (opts->changed && c->deltas && !(c->deltas[i].kind != RD_DELTA_UNKNOWN && c->deltas[i].v) &&
	    (c->deltas[i].note == RD_NOTE_NONE || c->deltas[i].note == RD_NOTE_UNREAD))
		return false;
	return counters_port_matches(c, &c->now.set->ports[counter->port]);
}

/* What one sample shows. */
static void judge_sample(struct counters *c, const struct rd_moment *now)
{
	_cleanup_free_ bool *wanted = rd_alloc(now->set->n_ports + 1, sizeof(*wanted));

	for (size_t i = 0; i < now->set->n_ports; i++)
		wanted[i] = counters_port_matches(c, &now->set->ports[i]);
	rd_saturated_find(now, wanted, &c->causes.findings);
}

static int compare(struct counters *c, struct rd_err *err)
{
	const struct rd_moment before = { c->before.set, &c->before.sample }, now = { c->now.set, &c->now.sample };
	int r = 0;

	free(c->deltas);
	c->deltas = NULL;
	rd_causes_deinit(&c->causes);
	if (!c->before.set) {
		/* With limits, these decide. */
		if (!c->opts->thresholds)
			judge_sample(c, &now);
		return 0;
	}
	r = counters_need_meanings(c, err);
	if (r < 0)
		return r;
	c->deltas = rd_alloc(c->now.set->n + 1, sizeof(*c->deltas));
	rd_deltas(&before, &now, c->deltas);
	c->seconds = rd_moments_seconds(&before, &now);
	rd_causes_find(&before, &now, c->deltas, c->seconds, &c->causes);
	return 0;
}

int counters_conclude(struct counters *c, struct rd_err *err)
{
	int r = compare(c, err);

	if (r < 0)
		return r;
	if (c->opts->thresholds)
		r = check_thresholds(c, err);
	if (r < 0)
		return r;
	free(c->selected);
	c->selected = rd_alloc(c->now.set->n + 1, sizeof(*c->selected));
	for (size_t i = 0; i < c->now.set->n; i++)
		c->selected[i] = is_selected(c, i);
	return 0;
}

int counters_since(struct rd_ctx *ctx, const char *path, struct rd_findings *ret, struct rd_err *err)
{
	static const struct counters_opts all = { 0 };
	_cleanup_(counters_deinit) struct counters c = { 0 };
	int r;

	counters_init(ctx, &all, &c);
	r = counters_read_since(&c, path, err);
	if (!r)
		r = counters_sample(&c, ctx->source, err);
	if (!r)
		r = counters_conclude(&c, err);
	if (r < 0)
		return r;
	*ret = c.causes.findings;
	c.causes.findings = (struct rd_findings){ 0 };
	return 0;
}

void counters_report(struct counters *c, struct rd_report *report)
{
	const struct rd_counters_shown shown = {
		.set = c->now.set,
		.now = &c->now.sample,
		.deltas = c->deltas,
		.seconds = c->seconds,
		.selected = c->selected,
		.causes = &c->causes,
	};

	for (size_t i = 0; i < c->errors.n; i++)
		rd_errlist_add(&report->errors, &c->errors.v[i]);
	rd_report_counters(report, &shown);
}
