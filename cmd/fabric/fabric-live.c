/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric --live: links with the most traffic, increasing errors, ports waiting for credits. */
#include <time.h>

#include "fabric.h"
#include "view/view.h"

#define LONG_SWEEP 500000000u /* ns: shorter ones are not shown as in progress */

struct live {
	struct fabric_session *s;
	struct rd_view *view;
	enum rd_fabric_order order;
	bool resort;	   /* a key changed what is shown: show the latest sweep again */
	bool busy;	   /* within a discovery or sweep */
	bool begun;	   /* the network was discovered */
	bool ended;	   /* by the user */
	uint64_t since_ns; /* CLOCK_MONOTONIC: begin of the discovery or sweep */
	struct rd_err err; /* why the network could not be discovered; code 0: it was */
};

static int ms_until_due(void *arg)
{
	struct live *live = arg;

	return rd_ticks_left_ms(&live->s->cmd->repeat.ticks);
}

/* Discovers the network again between two sweeps, if that is due. */
static bool refresh_between(void *arg, unsigned ms)
{
	struct live *live = arg;

	return live->begun && fabric_refresh(&live->s->run, ms);
}

static uint64_t monotonic(const struct live *live)
{
	return live->s->ctx->source->ops->now(live->s->ctx->source, CLOCK_MONOTONIC);
}

/* Called while responses are waited for. */
static bool show_progress(void *arg, size_t nodes)
{
	struct live *live = arg;
	uint64_t ns = monotonic(live) - live->since_ns;
	char text[64] = "";

	if (!live->begun)
		snprintf(text, sizeof(text), "walking, %zu node%s", nodes, nodes == 1 ? "" : "s");
	else if (ns >= LONG_SWEEP)
		snprintf(text, sizeof(text), "reading, %.1f s", (double)ns / 1e9);
	live->ended = !rd_view_busy(live->view, text[0] ? text : NULL);
	return !live->ended;
}

/* Discovers the network, if it was not yet, and sweeps. 1: no more sweeps. */
static int sweep(struct live *live, struct rd_err *err)
{
	int r = 0;

	live->busy = true;
	live->since_ns = monotonic(live);
	if (!live->begun && fabric_session_begin(live->s, err) < 0) {
		live->err = *err;
		r = 1;
	}
	live->begun = true;
	/* The first interval begins after the first discovery. */
	if (!r && !rd_repeat_next(&live->s->cmd->repeat))
		r = 1;
	if (!r)
		r = fabric_session_sweep(live->s, err);
	live->busy = false;
	return live->ended ? 1 : r;
}

static int fill_page(struct live *live, struct rd_view_page *page, struct rd_err *err)
{
	static const char *const by[] = { "node", "traffic", "errors", "waiting" };
	_cleanup_free_ const struct rd_fabric_latch **ranked = NULL;
	_cleanup_free_ size_t *order = NULL;
	struct rd_buf line = { 0 };
	_cleanup_(rd_report_deinit) struct rd_report report = { 0 };

	if (!live->s->run.mads)
		return rd_err_set(err, ENODEV, "network", "the local port failed: values are old");
	order = rd_fabric_sort_by(&live->s->run.fabric, live->order);
	fabric_session_report(live->s, NULL, order, NULL, &report);
	/* The first section of the report, the ports, moves to the page. */
	page->body = rd_report_take(&report, 0);
	rd_section_store(page->body); /* shown while the next sweep changes the network */
	ranked = rd_fabric_latches_ranked(&live->s->latches);
	page->top = rd_report_fabric_seen(ranked, live->s->latches.n);
	rd_buf_printf(&line, "by %s: ", by[live->order]);
	fabric_verdict(live->s, &report, &line);
	page->headline = line.data;
	return 0;
}

/* Sweeps, unless a key only changed what is shown. */
static int make_page(void *arg, struct rd_view_page *page, struct rd_err *err)
{
	struct live *live = arg;
	int r = 0;

	live->view = page->view;
	if (!live->resort)
		r = sweep(live, err);
	live->resort = false;
	if (r)
		return r;
	/* Called by a key during the first discovery or sweep: there is nothing to show. */
	return live->busy && live->s->n_durations == 0 ? 0 : fill_page(live, page, err);
}

static int handle_key(void *arg, int pressed)
{
	static const struct {
		int key;
		enum rd_fabric_order order;
	} keys[] = { { 't', RD_FABRIC_BY_TRAFFIC },
		     { 'e', RD_FABRIC_BY_ERRORS },
		     { 'w', RD_FABRIC_BY_WAIT },
		     { 'n', RD_FABRIC_BY_NODE } };
	struct live *live = arg;

	for (size_t i = 0; i < RD_ARRAY_SIZE(keys); i++)
		if (keys[i].key == pressed) {
			live->order = keys[i].order;
			live->resort = true;
			return 1;
		}
	if (pressed != 'c')
		return 0;
	rd_fabric_latches_clear(&live->s->latches);
	live->resort = true;
	return 1;
}

/* Shows all counters of the port of a row. */
static int show_port(void *arg, const struct rd_section *body, size_t row, struct rd_section **ret, struct rd_err *err)
{
	const struct rd_cell *cells = body->rows[row].cells;
	struct live *live = arg;
	const struct rd_fabric *fabric = &live->s->run.fabric;
	uint64_t guid = 0;
	size_t port;

	rd_parse_uint(cells[RD_FAB_GUID].s, RD_HEX, UINT64_MAX, &guid);
	port = rd_fabric_find_port(fabric, guid, (unsigned)cells[RD_FAB_PORT].u);
	if (port == RD_NONE)
		return rd_err_set(err, ENODEV, "port", "no longer in the network");
	*ret = rd_report_fabric_port(fabric, &fabric->ports[port]);
	return 0;
}

/* Errors first: a narrow terminal leaves out what comes last. The share of time is unknown if no device reports its tick. */
static const int *choose_columns(void *arg)
{
	static const int columns[] = { RD_FAB_NODE,	  RD_FAB_PORT,	RD_FAB_RISE, RD_FAB_ERRORS, RD_FAB_WAIT,
				       RD_FAB_XMIT,	  RD_FAB_RCV,	RD_FAB_USE,  RD_FAB_ERROR,  RD_FAB_LINK,
				       RD_FAB_PEER_LABEL, RD_FAB_FRESH, -1 };
	static int with_ticks[RD_ARRAY_SIZE(columns)];
	const struct live *live = arg;
	const struct rd_fabric *fabric = &live->s->run.fabric;

	for (size_t i = 0; i < fabric->n_nodes; i++)
		if (fabric->nodes[i].tick.known == RD_OK)
			return columns;
	for (size_t i = 0; i < RD_ARRAY_SIZE(columns); i++)
		with_ticks[i] = columns[i] == RD_FAB_WAIT ? RD_FAB_WAIT_TICKS : columns[i];
	return with_ticks;
}

int fabric_live(struct fabric_session *s)
{
	static const int keys[] = { RD_FAB_GUID, RD_FAB_PORT, -1 };
	static const int restless[] = { RD_FAB_AGE, RD_FAB_INTERVAL, RD_FAB_XMIT,	RD_FAB_RCV,
					RD_FAB_USE, RD_FAB_WAIT,     RD_FAB_WAIT_TICKS, -1 };
	static const char *const help[] = {
		"t        sort by traffic sent",
		"e        sort by new errors, then by total errors",
		"w        sort by time waiting for credits",
		"n        sort by node",
		"c        clear findings that are over, which are shown as \"was\"",
		NULL,
	};
	static const struct rd_view_ops ops = {
		.look = make_page,
		.due = ms_until_due,
		.meanwhile = refresh_between,
		.keys = keys,
		.restless = restless,
		.columns = choose_columns,
		.key = handle_key,
		.detail = show_port,
		.help = help,
	};
	struct live live = { .s = s, .order = RD_FABRIC_BY_ERRORS };
	_cleanup_buf_ struct rd_buf summary = { 0 };
	struct rd_err err = { 0 };

	s->cmd->engine.pulse = (struct rd_pulse){ show_progress, &live };
	rd_repeat_begin(&s->cmd->repeat, 1);
	if (rd_view_run(&ops, &live, s->ctx->globals.style.colour, &err) < 0)
		return rd_fail(s->ctx, &err);
	if (live.err.code && !live.ended)
		return rd_fail(s->ctx, &live.err);
	fabric_summary(s, &summary);
	rd_out(&summary);
	return s->worst;
}
