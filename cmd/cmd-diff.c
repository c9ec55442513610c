/* SPDX-License-Identifier: GPL-2.0-or-later */
/* diff: changes on a host between two captures, or between a capture and now. */
#include "repeat.h"

#include "analyse/compare/compare.h"
#include "collect/snapshot/snapshot.h"
#include "report/host/report-capture.h"
#include "source/opener/child.h"

#include <time.h>

/* One of the two states that are compared. */
struct side {
	struct rd_source *source;
	struct rd_facts facts;
	char *host;
	uint64_t time;
};

struct diff {
	struct rd_repeat repeat;
	struct side before;
	const char *after; /* "live" or a path */
	bool fail;	   /* as in other commands; it always does */
};

#define INTERVAL 5 /* seconds, without --interval */
/* The weight from which a change matters. Not of counters: counters --since knows their limits. */
#define MATTERS 55

static void side_deinit(struct side *side)
{
	rd_source_closep(&side->source);
	rd_facts_deinit(&side->facts);
	free(side->host);
}

static int side_init(struct side *side, const char *path, struct rd_err *err)
{
	int r = strcmp(path, "live") == 0 ? rd_source_live_open(NULL, &side->source, err) :
					    rd_source_bundle_open(path, &side->source, err);

	if (r < 0)
		return r;
	/* Of a bundle with several samples the last one is compared. */
	while (rd_source_bundle_next(side->source, NULL) == 0)
		;
	side->time = side->source->ops->now(side->source, CLOCK_REALTIME);
	rd_read_textf(side->source, &side->host, NULL, "/proc/sys/kernel/hostname");
	return rd_snapshot_collect(side->source, &side->facts, err);
}

/* Host and time of the document are those of `after`. */
static void make_report(struct rd_ctx *ctx, const struct side *before, const struct side *after,
			struct rd_report *report)
{
	struct rd_changes changes = { 0 };

	rd_diff(&before->facts, &after->facts, &changes);
	rd_report_init(report, ctx->schema);
	report->time = after->time;
	report->source = after->source->ops->name;
	report->host = rd_dup_if(after->host);
	if (strcmp(report->source, "bundle") == 0)
		RD_SET(report->read_at, rd_clock_ns(CLOCK_REALTIME));
	rd_report_changes(report, before->host, before->time, &changes);
	for (size_t i = 0; i < changes.n; i++) {
		const struct rd_fact *fact = changes.v[i].after ? changes.v[i].after : changes.v[i].before;

		if (changes.v[i].weight >= MATTERS && fact->area != RD_AREA_COUNTER)
			report->status = RD_EXIT_WARNING;
	}
	free(changes.v);
}

static int compare(struct rd_ctx *ctx, void *arg)
{
	const struct diff *diff = arg;
	const struct side *before = &diff->before;
	_cleanup_(side_deinit) struct side after = { 0 };
	_cleanup_(rd_report_deinit) struct rd_report report = { 0 };
	struct rd_err err = { 0 };
	int r = side_init(&after, diff->after, &err);

	if (r < 0) {
		rd_fail(ctx, &err);
		return r;
	}
	make_report(ctx, before, &after, &report);
	if (!diff->repeat.looks && before->host && after.host && strcmp(before->host, after.host) != 0)
		rd_warn(ctx, "the captures are of different hosts: %s and %s", before->host, after.host);
	rd_repeat_head(ctx, &diff->repeat, after.time);
	return rd_output_print(ctx, &report);
}

static int check(struct rd_ctx *ctx, int argc, char **argv, struct rd_err *err)
{
	const struct diff *diff = ctx->state;

	if (argc != 2 || ctx->globals.from)
		return rd_err_set(err, EINVAL, "diff", "expects two bundles, or a bundle and 'live'");
	if (rd_repeat_wanted(&diff->repeat) && strcmp(argv[1], "live") != 0)
		return rd_err_set(err, EINVAL, "diff",
				  "--interval and --count require 'live' as second operand: a bundle does not change");
	return 0;
}

static int run_diff(struct rd_ctx *ctx, int argc, char **argv)
{
	struct diff *diff = ctx->state;
	struct rd_err err = { 0 };
	int r;

	diff->after = argv[1];
	r = side_init(&diff->before, argv[0], &err);
	r = r < 0 ? rd_fail(ctx, &err) : rd_repeat(ctx, &diff->repeat, INTERVAL, compare, diff);
	side_deinit(&diff->before);
	return r;
}

static int record(struct rd_source *source, struct rd_err *err)
{
	_cleanup_(rd_facts_deinit) struct rd_facts facts = { 0 };

	return rd_snapshot_collect(source, &facts, err);
}

static const struct rd_opt opts[] = {
	RD_REPEAT_OPTS(diff, repeat),
	{ "fail", 0, NULL, "exit 1 if something that matters has changed (default)", RD_FLAG(diff, fail) },
	{ 0 },
};

const struct rd_cmd rd_cmd_diff = {
	.name = "diff",
	.summary = "compare two bundles, or a bundle with this host",
	.question = "What changed since a bundle was made",
	.operands = "BUNDLE BUNDLE|live",
	.operand_needs = RD_NEEDS_FOREIGN_BUNDLE,
	.live_operand = true,
	.opts = opts,
	.description =
		"Compares two captures of a host, or a capture with the current state of the host ('live'): devices, links,\n"
		"firmware, kernel and modules, GIDs, addresses, routes, settings, counters. The most significant change is\n"
		"listed first. The exit status is 1 if a change, other than of a counter, has a weight of 55 or more.",
	.examples = "  rdmadiag diff monday.tar.zst live\n"
		    "  rdmadiag diff before.tar.zst after.tar.zst -o +weight\n"
		    "  rdmadiag diff good.tar.zst live -i 10\n",
	.columns = rd_diff_columns,
	.n_columns = RD_DIFF_COLUMNS,
	.state_size = sizeof(struct diff),
	.check = check,
	.record = record,
	.run = run_diff,
};
