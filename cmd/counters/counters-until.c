/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --until 'NAME>N': prints a line with the time for each increase of the counter; ends once the total exceeds N. */
#include "counters-watch.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"

struct counters_until {
	char *name; /* pattern */
	uint64_t more_than;
	bool per_second;
	bool announced; /* that it is waiting */
	uint64_t total; /* increase since the start, of all matching counters */
};

static int refuse_condition(const char *condition, struct rd_err *err)
{
	rd_err_set(err, EINVAL, "--until", "invalid condition '%s'", condition);
	rd_err_hint(err, "use NAME>N, NAME>=N or NAME>N/s; for example --until 'link_downed>0'");
	return -EINVAL;
}

int counters_until_create(const char *condition, struct counters_until **ret, struct rd_err *err)
{
	struct counters_until *until = rd_alloc(1, sizeof(*until));
	const char *sign = strchr(condition, '>'), *number = sign ? sign + 1 : NULL;
	bool equal = number && *number == '=', good = false;

	if (sign && sign > condition) {
		number += equal;
		number += strspn(number, " ");
		good = rd_take_uint(&number, RD_DECIMAL, UINT64_MAX, &until->more_than) == 0;
		until->per_second = good && strcmp(number, "/s") == 0;
	}
	if (!good || (*number && !until->per_second) || (equal && until->more_than == 0)) {
		free(until);
		return refuse_condition(condition, err);
	}
	until->more_than -= equal;
	until->name = rd_text("%.*s", (int)(sign - condition), condition);
	rd_trim(until->name);
	*ret = until;
	return 0;
}

void counters_until_destroy(struct counters_until *until)
{
	if (!until)
		return;
	free(until->name);
	free(until);
}

enum { TIME, IBDEV, PORT, NETDEV, GROUP, NAME, DELTA, TOTAL, REACHED, COLUMNS };

static const struct rd_column columns[COLUMNS] = {
	[TIME] = { "time", "TIME", RD_T_TIME, "time of the sample" },
	[IBDEV] = { "ibdev", "IBDEV", RD_T_STR, "RDMA device" },
	[PORT] = { "port", "PORT", RD_T_UINT, "port number" },
	[NETDEV] = { "netdev", "NETDEV", RD_T_STR, "network interface", .hidden = true },
	[GROUP] = { "group", "GROUP", RD_T_STR, "source of the counter", .hidden = true },
	[NAME] = { "name", "NAME", RD_T_STR, "name of the counter" },
	[DELTA] = { "delta", "DELTA", RD_T_UINT, "increase since the previous sample" },
	[TOTAL] = { "total", "TOTAL", RD_T_UINT, "increase of all matching counters since the start" },
	[REACHED] = { "reached", "REACHED", RD_T_BOOL, "whether this ends the wait" },
};

static int print_increase(const struct counters_until *until, const struct counters_watch *w, size_t i, bool reached)
{
	const struct counters *c = w->c;
	const struct rd_counter *counter = &w->set->counters[i];
	const struct rd_counter_port *port = &w->set->ports[counter->port];
	struct rd_section *section = rd_section_create("until", columns, COLUMNS);
	struct rd_row *row = rd_section_add(section);
	_cleanup_buf_ struct rd_buf out = { 0 };

	rd_row_uint(row, TIME, c->now.sample.realtime_ns);
	rd_row_str(row, IBDEV, port->ibdev);
	if (port->port)
		rd_row_uint(row, PORT, port->port);
	rd_row_str(row, NETDEV, counter->netdev);
	rd_row_str(row, GROUP, rd_counter_group_name(counter->group));
	rd_row_str(row, NAME, counter->name);
	rd_row_uint(row, DELTA, c->deltas[i].v);
	rd_row_uint(row, TOTAL, until->total);
	rd_row_bool(row, REACHED, reached);
	if (c->ctx->globals.json) {
		rd_render_json_row(section, 0, &out);
	} else {
		char label[96];

		rd_counter_port_label(port, label, sizeof(label));
		rd_render_cell(&columns[TIME], &row->cells[TIME], &out);
		rd_buf_str(&out, " ");
		rd_buf_safe(&out, label, strlen(label));
		rd_buf_str(&out, " ");
		rd_buf_safe(&out, counter->name, strlen(counter->name));
		rd_buf_printf(&out, " +%" PRIu64 ", %" PRIu64 " in all%s\n", c->deltas[i].v, until->total,
			      reached ? ": reached" : "");
	}
	rd_section_destroy(section);
	return rd_out(&out);
}

static bool is_reached(const struct counters_until *until, uint64_t delta, double seconds)
{
	if (until->per_second)
		return seconds > 0 && (double)delta / seconds > (double)until->more_than;
	return until->total > until->more_than;
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

static bool matches(const struct counters_until *until, const struct counters_watch *w, size_t i)
{
	return w->selected[i] && fnmatch(until->name, w->set->counters[i].name, 0) == 0 && !counted_before(w, i);
}

int counters_until_check(struct counters_until *until, const struct counters_watch *w, struct rd_err *err)
{
	const struct counters *c = w->c;
	size_t fit = 0;
	int reached = 0;

	for (size_t i = 0; i < w->set->n; i++) {
		const struct rd_delta *delta = &c->deltas[i];
		int r;

		if (!matches(until, w, i))
			continue;
		fit++;
		if (!w->interval || delta->kind == RD_DELTA_UNKNOWN || delta->v == 0)
			continue;
		until->total += delta->v;
		if (is_reached(until, delta->v, c->seconds))
			reached = 1;
		r = until->per_second && !reached ? 0 : print_increase(until, w, i, reached);
		if (r < 0)
			return r;
	}
	if (fit == 0 && w->set->n_ports > 0) {
		rd_err_set(err, ENOENT, until->name, "no counter has this name");
		rd_err_hint(err, "list counters with rdmadiag counters");
		return -ENOENT;
	}
	if (!until->announced)
		rd_warn(c->ctx, "waiting for %s: %zu matching counters", until->name, fit);
	until->announced = true;
	return reached;
}
