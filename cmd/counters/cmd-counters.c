/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters: sampling, comparing, selecting, printing. */
#include <fnmatch.h>

#include "cmd/datafile.h"
#include "cmd/fabric/fabric.h"
#include "counters.h"
#include "report/counters/report-counters.h"
#include "source/guard/source-guard.h"
#include "source/opener/opener.h"

static void counters_init(struct rd_ctx *ctx, const struct counters_opts *opts, struct counters *c)
{
	*c = (struct counters){ .ctx = ctx, .opts = opts };
	/* Without the complete table, counters are listed but not compared: counters_need_meanings. */
	rd_read_meanings(&c->meanings, &c->errors, &c->table);
	rd_warn_errors(ctx, &c->errors, 0);
}

int counters_need_meanings(const struct counters *c, struct rd_err *err)
{
	if (c->table.code)
		*err = c->table;
	else if (c->meanings.n == 0)
		rd_err_set(err, ENODATA, "counters", "the table of counters is empty");
	else
		return 0;
	return -err->code;
}

/* Reads the table of meanings. The caller releases `c` in any case; `opts` must outlive it. */
static void counters_deinit(struct counters *c)
{
	rd_counter_sample_deinit(&c->now.sample);
	rd_counter_sample_deinit(&c->before.sample);
	rd_counter_set_deinit(&c->before.own);
	rd_counter_reader_destroy(c->reader);
	rd_counter_reader_destroy(c->old);
	rd_causes_deinit(&c->causes);
	rd_errlist_deinit(&c->errors);
	rd_meanings_deinit(&c->meanings);
	RD_FREE(c->deltas, c->selected);
}

static int recreate_reader(struct counters *c, struct rd_source *source, struct rd_err *err)
{
	const struct counters_opts *opts = c->opts;
	struct rd_counter_reader *reader;
	int r = rd_counter_reader_create(source, opts->groups ?: RD_COUNTERS_ALL, &reader, &c->rdma_error,
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

static int counters_record(struct rd_source *source, struct rd_err *err)
{
	_cleanup_(rd_counter_reader_destroyp) struct rd_counter_reader *reader = NULL;
	_cleanup_(rd_counter_sample_deinit) struct rd_counter_sample sample = { 0 };
	int rdma_error;
	int r = rd_counter_reader_create(source, RD_COUNTERS_ALL, &reader, &rdma_error, NULL, err);

	if (!r)
		rd_counter_reader_sample(reader, &sample);
	return r;
}

void counters_read_ahead(struct rd_source *source, void *unused)
{
	struct rd_err err = { 0 };

	if (rd_source_guard_ready(source, &err) == 0)
		counters_record(source, &err);
}

/* Moves the set out of the reader, which is destroyed with the bundle. */
static int read_bundle(struct counters *c, const char *path, struct rd_err *err)
{
	_cleanup_(rd_source_closep) struct rd_source *bundle = NULL;
	_cleanup_(rd_counter_reader_destroyp) struct rd_counter_reader *reader = NULL;
	int rdma_error;
	int r = rd_open_local_bundle(path, counters_read_ahead, &bundle, err) ?:
			rd_counter_reader_create(bundle, RD_COUNTERS_ALL, &reader, &rdma_error, NULL, err);

	if (r < 0)
		return r;
	rd_counter_reader_sample(reader, &c->before.sample);
	c->before.own = *rd_counter_reader_set(reader);
	*rd_counter_reader_set(reader) = (struct rd_counter_set){ 0 };
	return 0;
}

/* A JSON document begins with a brace; an archive or a directory does not. */
/* Fills c->before from a saved JSON document or a bundle (its first sample): --since. */
static int counters_read_since(struct counters *c, const char *path, struct rd_err *err)
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
	const struct rd_counted now = { c->now.set, &c->now.sample };
	_cleanup_(rd_thresholds_deinit) struct rd_thresholds thresholds = { 0 };
	int r = read_thresholds(c->opts->thresholds, &thresholds, err);

	if (r < 0)
		return r;
	if (!c->deltas && rd_thresholds_compare(&thresholds)) {
		rd_err_set(err, EINVAL, c->opts->thresholds,
			   "limits on delta, per_second, per_bit or per_packet require an earlier sample");
		return rd_err_hint(err,
				   "add --since FILE, written by an earlier --save FILE; or use only limits on value");
	}
	rd_thresholds_judge(&thresholds, &now, c->deltas, c->seconds, &c->causes.findings);
	return 0;
}

static bool counters_port_named(const struct rd_counter_port *port, const char *name)
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

/* Whether only what tells of errors and congestion is listed: in a table for people, unless they choose. */
static bool counters_brief(const struct counters *c)
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

/* Computes deltas from `before` to `now`, causes, and which counters to show. */
static int counters_conclude(struct counters *c, struct rd_err *err)
{
	const struct rd_counted before = { c->before.set, &c->before.sample }, now = { c->now.set, &c->now.sample };
	int r = before.set ? counters_need_meanings(c, err) : 0;

	free(RD_TAKE(c->deltas));
	rd_causes_deinit(&c->causes);
	if (r < 0)
		return r;
	/* Every counter would have been reset. */
	if (before.set && before.sample->boot_id[0] && strcmp(before.sample->boot_id, now.sample->boot_id) == 0 &&
	    now.sample->monotonic_ns && before.sample->monotonic_ns > now.sample->monotonic_ns) {
		rd_err_set(err, EINVAL, c->opts->since ? c->opts->since : "counters",
			   "is newer than the sample that is to be compared with it");
		return rd_err_hint(err, "--since takes the older sample, --from the newer one");
	}
	if (before.set) {
		c->deltas = rd_alloc(now.set->n + 1, sizeof(*c->deltas));
		rd_deltas(&before, &now, c->deltas);
		c->seconds = rd_moments_seconds(&before, &now);
		rd_causes_find(&before, &now, c->deltas, c->seconds, &c->causes);
	} else if (!c->opts->thresholds) {
		/* What one sample shows. With limits, these decide. */
		_cleanup_free_ bool *wanted = rd_alloc(now.set->n_ports + 1, sizeof(*wanted));

		for (size_t i = 0; i < now.set->n_ports; i++)
			wanted[i] = counters_port_matches(c, &now.set->ports[i]);
		rd_saturated_find(&now, wanted, &c->causes.findings);
	}
	if (c->opts->thresholds)
		r = check_thresholds(c, err);
	if (r < 0)
		return r;
	free(c->selected);
	c->selected = rd_alloc(now.set->n + 1, sizeof(*c->selected));
	for (size_t i = 0; i < now.set->n; i++)
		c->selected[i] = is_selected(c, i);
	return 0;
}

int counters_since(struct rd_ctx *ctx, const char *path, struct rd_findings *ret, struct rd_err *err)
{
	static const struct counters_opts all = { 0 };
	_cleanup_(counters_deinit) struct counters c = { 0 };
	int r;

	counters_init(ctx, &all, &c);
	r = counters_read_since(&c, path, err) ?: counters_sample(&c, ctx->source, err);
	if (!r)
		r = counters_conclude(&c, err);
	if (r < 0)
		return r;
	*ret = c.causes.findings;
	c.causes.findings = (struct rd_findings){ 0 };
	return 0;
}

/* counters: tables, findings, meanings. */

/* What the list below is of, and what one sample cannot tell. */
static void add_headline(const struct counters *c, struct rd_buf *out)
{
	size_t n = 0, of = 0;

	for (size_t i = 0; i < c->now.set->n; i++) {
		of += counters_port_matches(c, &c->now.set->ports[c->now.set->counters[i].port]);
		n += c->selected[i];
	}
	if (of == 0) {
		rd_buf_str(out, "these ports have no counters\n");
		return;
	}
	if (n == 0)
		rd_buf_printf(out, "no counter of errors or congestion is above 0, of %zu counters; --all lists them\n",
			      of);
	else
		rd_buf_printf(out, "%zu of %zu counters tell of errors or congestion and are not 0; --all lists all\n",
			      n, of);
	if (!c->deltas && n > 0)
		rd_buf_str(out, "One sample does not tell when they were counted: " RD_PROGRAM " counters --save FILE, "
				"later --since FILE; or -i 1\n");
	rd_buf_str(out, "\n");
}

/* Both return an exit code. The first prints findings and the table; with --json the document. */
static int counters_explain(struct counters *c, const char *name)
{
	_cleanup_free_ const struct rd_meaning **found = rd_alloc(c->meanings.n, sizeof(*found));
	_cleanup_(rd_report_deinit) struct rd_report report = { 0 };
	_cleanup_buf_ struct rd_buf out = { 0 };
	struct rd_err err = { 0 };
	size_t n = 0;

	/* Both the argument and the name in the table may be patterns. */
	for (size_t i = 0; i < c->meanings.n; i++)
		if (fnmatch(c->meanings.v[i].name, name, 0) == 0 || fnmatch(name, c->meanings.v[i].name, 0) == 0)
			found[n++] = &c->meanings.v[i];
	if (n == 0) {
		if (c->errors.n > 0)
			return rd_fail(c->ctx, &c->errors.v[0]);
		rd_err_set(&err, ENOENT, name, "not in the table of counters");
		rd_err_hint(&err, "NAME may be a pattern: rdmadiag counters --explain '*retry*'");
		return rd_fail(c->ctx, &err);
	}
	rd_output_init(c->ctx, &report);
	rd_report_meanings(&report, found, n);
	if (c->ctx->globals.json)
		return rd_output_print(c->ctx, &report);
	rd_render_meanings(report.sections[0], &out);
	rd_out(&out);
	return RD_EXIT_OK;
}

/* counters: counters of the ports of this host, their increases, and likely causes. */

static int take_groups(void *state, const struct rd_opt *opt, const char *arg, struct rd_err *err)
{
	struct counters_opts *opts = state;

	for (const char *at = arg; *at;) {
		size_t n = strcspn(at, ",");
		char word[16];
		int group;

		snprintf(word, sizeof(word), "%.*s", (int)n, at);
		group = n < sizeof(word) ? rd_counter_group_parse(word) : -1;
		if (group < 0) {
			rd_opt_refuse(opt, err, "unknown group '%.*s'", (int)n, at);
			return rd_err_hint(
				err,
				"one or more of port, hw, optional, qp, ethtool, standard, netdev, separated by commas");
		}
		opts->groups |= 1u << group;
		at += n + (at[n] == ',');
	}
	return 0;
}

static int fail_without_rdma(struct rd_ctx *ctx, const struct counters *c)
{
	struct rd_err err;

	rd_no_rdma(ctx, c->rdma_error, &err);
	return rd_fail(ctx, &err);
}

static bool is_port(const struct rd_counter_set *set, const char *name)
{
	for (size_t p = 0; set && p < set->n_ports; p++)
		if (counters_port_named(&set->ports[p], name))
			return true;
	return false;
}

/* Each name must match a port of this or of the earlier sample: no output for an unknown port would look like a healthy one. */
static int check_devices(const struct counters *c, struct rd_err *err)
{
	for (const char *at = c->opts->devices; at;) {
		_cleanup_free_ char *name = rd_next_part(&at, ',');

		if (is_port(c->now.set, name) || is_port(c->before.set, name))
			continue;
		rd_err_set(err, ENODEV, name, "no such RDMA device, port or interface");
		return rd_err_hint(err, "list them with " RD_PROGRAM " nic-map");
	}
	return 0;
}

/* Reads all samples of a bundle: the last is compared with the first. */
static int sample_bundle(struct counters *c, bool compare, struct rd_err *err)
{
	int r = counters_sample(c, c->ctx->source, err);
	bool first = true;

	while (!r) {
		r = rd_source_bundle_next(c->ctx->source, err);
		if (r < 0)
			return r == -ENODATA ? 0 : r;
		if (first && compare)
			counters_keep_before(c);
		first = false;
		r = counters_sample(c, c->ctx->source, err);
	}
	return r;
}

/* --save writes all counters, whatever is shown. */
static int save_sample(struct counters *c, const char *path, struct rd_err *err)
{
	const struct rd_counters_shown shown = { .set = c->now.set, .now = &c->now.sample };
	_cleanup_(rd_report_deinit) struct rd_report report = { 0 };
	_cleanup_buf_ struct rd_buf out = { 0 };

	rd_output_init(c->ctx, &report);
	rd_errlist_add_all(&report.errors, &c->errors);
	rd_report_counters(&report, &shown);
	rd_render_json(&report, RD_VERSION, &out);
	return rd_replace_file(path, &out, err);
}

static int print_result(struct counters *c)
{
	const struct counters_opts *opts = c->opts;
	struct rd_err err = { 0 };
	struct rd_ctx *ctx = c->ctx;
	struct rd_table_style *style = &ctx->globals.style;
	_cleanup_(rd_report_deinit) struct rd_report report = { 0 };
	struct rd_counters_shown shown;

	if (counters_conclude(c, &err) < 0)
		return rd_fail(ctx, &err);
	rd_output_init(ctx, &report);
	shown = (struct rd_counters_shown){
		.set = c->now.set,
		.now = &c->now.sample,
		.deltas = c->deltas,
		.seconds = c->seconds,
		.selected = c->selected,
		.causes = &c->causes,
	};
	rd_errlist_add_all(&report.errors, &c->errors);
	rd_report_counters(&report, &shown);
	if (rd_metrics_wanted(ctx))
		rd_report_counter_metrics(&report, c->now.set, &c->now.sample, c->selected);
	if (opts->fail || opts->since || opts->thresholds) {
		report.status = rd_report_judge(&report);
		/* A comparison that was not possible does not pass. */
		if (report.status == RD_EXIT_OK && rd_findings_worst(&report.findings) == RD_SEV_UNKNOWN)
			report.status = RD_EXIT_UNKNOWN;
	}
	rd_output_incomplete(ctx, &report, true);
	if (!ctx->globals.json && !rd_metrics_wanted(ctx)) {
		_cleanup_buf_ struct rd_buf out = { 0 };

		rd_output_findings(ctx, &report, &out);
		if (report.findings.n > 0 && !ctx->globals.rows_only)
			rd_buf_str(&out, "\n");
		if (counters_brief(c))
			add_headline(c, &out);
		rd_out_beside(ctx, &out);
		/* Without an earlier sample, delta columns would be empty. Scripts with -o keep theirs. */
		if (!c->deltas && !style->columns)
			style->columns = "ibdev,port,group,name,value,unit,note";
	}
	return rd_output_print(ctx, &report);
}

static int counters_run(struct rd_ctx *ctx, int argc, char **argv)
{
	struct counters_opts *opts = ctx->state;
	_cleanup_free_ char *devices = NULL;
	_cleanup_(counters_deinit) struct counters c = { .ctx = ctx };
	struct rd_err err = { 0 };
	int r;

	if (rd_devices(ctx, opts->devices, argv, false, &devices, &err) < 0)
		return rd_fail_usage(ctx->cmd, &err);
	opts->devices = devices;
	counters_init(ctx, opts, &c);
	if (opts->explain)
		return counters_explain(&c, opts->explain);
	if (opts->live || opts->repeat.seconds > 0 || opts->record || opts->until) {
		if (counters_sample(&c, ctx->source, &err) < 0)
			return rd_fail(ctx, &err);
		if (c.now.set->n_ports == 0)
			return fail_without_rdma(ctx, &c);
		if (check_devices(&c, &err) < 0)
			return rd_fail(ctx, &err);
		c.now.set = NULL; /* the first interval begins with the next sample */
		return opts->live ? counters_live(&c) : counters_watch(&c);
	}
	if (opts->since && counters_read_since(&c, opts->since, &err) < 0)
		return rd_fail(ctx, &err);
	if (ctx->globals.from)
		r = sample_bundle(&c, !opts->since, &err);
	else
		r = counters_sample(&c, ctx->source, &err);
	if (r < 0)
		return rd_fail(ctx, &err);
	/* With --since, a host whose ports are all missing has a result. */
	if (c.now.set->n_ports == 0 && !(opts->since && c.before.set->n_ports > 0))
		return fail_without_rdma(ctx, &c);
	if (check_devices(&c, &err) < 0)
		return rd_fail(ctx, &err);
	if (opts->save && save_sample(&c, opts->save, &err) < 0)
		return rd_fail(ctx, &err);
	/* A job prologue requires the file, not a thousand lines of output. */
	if (opts->save && !opts->since && !ctx->globals.json)
		return RD_EXIT_OK;
	return print_result(&c);
}

static const struct rd_opt counters_opts[] = {
	{ "all", 0, NULL, "list all counters, not only errors and congestion that are not 0",
	  RD_FLAG(counters_opts, all) },
	{ "changed", 0, NULL, "only list counters that changed", RD_FLAG(counters_opts, changed) },
	{ "filter", 0, "GLOB", "only list counters whose name matches the pattern", "counter", RD_NEEDS_NOTHING,
	  RD_TEXT(counters_opts, filter) },
	{ "save", 0, "FILE", "write all values to FILE for a later --since", "file", RD_NEEDS_OUTPUT,
	  RD_TEXT(counters_opts, save) },
	{ "since", 0, "FILE", "compare with a saved file or a bundle, report causes, exit 0, 1 or 2", "file",
	  RD_NEEDS_FOREIGN_BUNDLE, RD_TEXT(counters_opts, since) },
	{ "interval", 'i', "SECONDS",
	  "repeat every SECONDS (0.1 or more): traffic of ports, or changes of the selected counters",
	  RD_SECONDS(counters_opts, repeat.seconds, RD_TICKS_LEAST, RD_TICKS_MOST) },
	{ "count", 'c', "N", "end after N intervals", RD_NUMBER(counters_opts, repeat.count, 1, RD_COUNT_MAX) },
	{ "live", 'w', NULL, "show a live view of ports and of changing counters", NULL, RD_NEEDS_TERMINAL,
	  RD_FLAG(counters_opts, live) },
	{ "explain", 0, "NAME", "explain a counter (NAME may be a pattern)", "counter", RD_NEEDS_NOTHING,
	  RD_TEXT(counters_opts, explain) },
	{ "fabric", 0, NULL, "read all ports of the InfiniBand network instead of this host; has its own options" },
	{ "device", 0, "DEVICE,...", "only list counters of these devices, ports or interfaces (same as operands)",
	  "ibdev", RD_TEXT(counters_opts, devices) },
	{ "nonzero", 0, NULL, "only list counters that are not 0", RD_FLAG(counters_opts, nonzero) },
	{ "group", 0, "LIST", "only read these groups: port, hw, optional, qp, ethtool, standard, netdev",
	  "port|hw|optional|qp|ethtool|standard|netdev", RD_TAKES(take_groups) },
	{ "record", 0, "FILE", "record changes to FILE: .csv, .jsonl or .json", "file", RD_NEEDS_UPDATE,
	  RD_TEXT(counters_opts, record) },
	{ "until", 0, "NAME>N", "wait until a counter has increased by more than N; N/s: per second", "counter",
	  RD_NEEDS_NOTHING, RD_TEXT(counters_opts, until) },
	{ "thresholds", 0, "FILE", "compare counters with the limits in FILE", "file", RD_NEEDS_OWN_FILE,
	  RD_TEXT(counters_opts, thresholds) },
	{ "fail", 0, NULL, "exit 1 for warnings, 2 for critical findings", RD_FLAG(counters_opts, fail) },
	{ 0 },
};

static const struct rd_opt_rule rules[] = {
	{ RD_REQUIRES, "thresholds", "since", "--save does not compare", "save" },
	{ RD_REQUIRES, "count", "interval live record until" },
	{ RD_EXCLUDES, "interval live record until", "since save thresholds", "they apply to a single sample" },
	{ RD_EXCLUDES, "interval live record until", "from", "a bundle cannot be sampled again" },
	{ RD_EXCLUDES, "interval live record until", "openmetrics",
	  "it prints the metrics once; use --textfile, which is rewritten at each interval" },
	{ RD_EXCLUDES, "live", "record until json openmetrics textfile", "the view prints and writes nothing else" },
	{ 0 },
};

const struct rd_cmd rd_cmd_counters = {
	.name = "counters",
	.summary = "list port counters and their changes, and name likely causes",
	.question = "What moved: errors, traffic, congestion",
	.operands = "[DEVICE[/PORT] | NETDEV]...",
	.opts = counters_opts,
	.rules = rules,
	.variant = &rd_cmd_fabric,
	.description =
		"Says which ports have errors, and lists the counters of errors and congestion that are not 0; with --all,\n"
		"or if some are chosen, all counters of all RDMA ports: those of the port (sysfs counters/), of the driver (hw_counters via\n"
		"netlink, optional counters, counters bound to queue pairs) and of the interface (ethtool -S, standard\n"
		"ethtool statistics, PFC, statistics/). Values that cannot be read are shown as \"-\", never as 0. With an\n"
		"earlier sample (--since, or a bundle with several samples) it shows the changes, detects saturation,\n"
		"wrapping, resets, reboots and replaced devices, and names likely causes.\n",
	.examples = "  rdmadiag counters --nonzero\n"
		    "  rdmadiag counters --save before; run-job; rdmadiag counters --since before\n"
		    "  rdmadiag counters mlx5_3/1 --group hw --filter '*cnp*'\n"
		    "  rdmadiag counters -i 1           Gbit/s and packets per second of each port\n"
		    "  rdmadiag counters -i 0.1 --record job.json\n"
		    "  rdmadiag counters --until 'link_downed>0'\n"
		    "  rdmadiag counters --explain local_ack_timeout_err\n",
	.columns = rd_counter_columns,
	.n_columns = RD_CNT_COLUMNS,
	.metrics = true,
	.state_size = sizeof(struct counters_opts),
	.record = counters_record,
	.run = counters_run,
};
