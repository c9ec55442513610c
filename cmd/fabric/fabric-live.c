/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric --live: links with the most traffic, increasing errors, ports waiting for credits. */
#include <errno.h>
#include <string.h>

#include "base/number.h"
#include "fabric-cmd.h"
#include "view/view.h"

struct live {
	struct fabric_session *s;
	enum rd_fabric_order order;
	bool resort; /* a key changed the order: show the latest sweep again */
};

static int ms_until_due(void *arg)
{
	struct live *live = arg;

	return rd_ticks_left_ms(&live->s->cmd->repeat.ticks);
}

/* Sweeps, unless only the order changed. The page takes the first section of the report, the ports. */
static int make_page(void *arg, struct rd_view_page *page, struct rd_err *err)
{
	static const char *const by[] = { "node", "traffic", "errors", "waiting" };
	struct live *live = arg;
	_cleanup_free_ size_t *order = NULL;
	struct rd_buf line = { 0 };
	struct rd_report report;
	int r = 0;

	if (!live->resort) {
		if (!rd_repeat_next(&live->s->cmd->repeat))
			return 1;
		r = fabric_session_sweep(live->s, err);
	}
	live->resort = false;
	if (r < 0)
		return r;
	order = rd_fabric_sort_by(&live->s->run.fabric, live->order);
	fabric_session_report(live->s, NULL, order, &report);
	page->body = report.sections[0];
	rd_section_store(page->body); /* shown while the next sweep changes the network */
	memmove(report.sections, report.sections + 1, --report.n_sections * sizeof(*report.sections));
	fabric_headline(live->s, &report, &line);
	rd_buf_printf(&line, "  (by %s)", by[live->order]);
	page->headline = line.data;
	rd_report_deinit(&report);
	return 0;
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
	return 0;
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
		NULL,
	};
	static const struct rd_view_ops ops = {
		.look = make_page,
		.due = ms_until_due,
		.keys = keys,
		.restless = restless,
		.key = handle_key,
		.detail = show_port,
		.help = help,
	};
	struct live live = { .s = s, .order = RD_FABRIC_BY_TRAFFIC };
	struct rd_err err = { 0 };

	if (fabric_session_begin(s, &err) < 0)
		return rd_fail(s->ctx, &err);
	rd_repeat_begin(&s->cmd->repeat, 1);
	if (rd_view_run(&ops, &live, s->ctx->globals.style.colour, &err) < 0)
		return rd_fail(s->ctx, &err);
	return RD_EXIT_OK;
}
