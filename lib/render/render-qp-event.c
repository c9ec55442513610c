// SPDX-License-Identifier: GPL-2.0-or-later
#include "render/render-qp-event.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* SGR parameters. */
#define BOLD "1"
#define DIM "2"
#define RED "1;31"
#define YELLOW "33"

struct view {
	const struct rd_section *section;
	const struct rd_row *row;
	bool colour;
	struct rd_buf *out;
};

static const struct rd_cell *cell(const struct view *v, const char *key)
{
	for (size_t i = 0; i < v->section->n_columns; i++)
		if (!strcmp(v->section->columns[i].key, key))
			return v->row->cells[i].known == RD_OK ? &v->row->cells[i] : NULL;
	return NULL;
}

static const char *text(const struct view *v, const char *key)
{
	const struct rd_cell *c = cell(v, key);

	return c ? c->s : NULL;
}

static void put(const struct view *v, const char *sgr, const char *s)
{
	if (v->colour && sgr)
		rd_buf_printf(v->out, "\033[%sm", sgr);
	rd_buf_safe(v->out, s, strlen(s));
	if (v->colour && sgr)
		rd_buf_str(v->out, "\033[0m");
}

static void put_time(const struct view *v)
{
	const struct rd_cell *c = cell(v, "time");
	char clock[16], whole[32];
	struct tm tm;
	time_t t;

	if (!c)
		return;
	t = (time_t)(c->u / 1000000000u);
	if (!localtime_r(&t, &tm) || !strftime(clock, sizeof(clock), "%H:%M:%S", &tm))
		return;
	snprintf(whole, sizeof(whole), "%s.%06u ", clock, (unsigned)(c->u % 1000000000u / 1000));
	put(v, DIM, whole);
}

/* In the unit that people would say it in. */
static void put_seconds(struct rd_buf *out, double s)
{
	if (s < 1e-3)
		rd_buf_printf(out, "%.0f us", s * 1e6);
	else if (s < 1)
		rd_buf_printf(out, "%.1f ms", s * 1e3);
	else
		rd_buf_printf(out, "%.1f s", s);
}

static void put_where(const struct view *v)
{
	const struct rd_cell *qpn = cell(v, "lqpn"), *port = cell(v, "port");
	const char *ibdev = text(v, "ibdev"), *type = text(v, "type"), *kind = text(v, "kind");

	put(v, BOLD, ibdev ? ibdev : "?");
	if (qpn)
		rd_buf_printf(v->out, " qpn %" PRIu64, qpn->u);
	else if (port && kind && !strcmp(kind, "device-event"))
		rd_buf_printf(v->out, " port %" PRIu64, port->u);
	if (type) {
		rd_buf_str(v->out, " ");
		put(v, NULL, type);
	}
	rd_buf_str(v->out, ": ");
}

/* "in INIT for 11.2 s": of the state that was left, as well as it is known. */
static void put_age(const struct view *v)
{
	const struct rd_cell *age = cell(v, "state_seconds");
	const char *state = text(v, "old_state"), *kind = text(v, "state_age_kind");

	if (!age || !state)
		return;
	rd_buf_printf(v->out, ", was %s for ", state);
	if (kind && strcmp(kind, "exact") != 0)
		rd_buf_str(v->out, "at least ");
	put_seconds(v->out, age->d);
}

static void put_call(const struct view *v)
{
	const char *from = text(v, "old_state"), *to = text(v, "new_state"), *name = text(v, "errno");
	const struct rd_cell *took = cell(v, "duration_seconds"), *code = cell(v, "code");
	bool bad = name || (to && (!strcmp(to, "ERR") || !strcmp(to, "SQE")));

	if (to) {
		rd_buf_printf(v->out, "%s -> ", from ? from : "?");
		put(v, bad ? RED : NULL, to);
	} else {
		rd_buf_printf(v->out, "attributes set in %s", from ? from : "an unknown state");
	}
	if (name) {
		rd_buf_str(v->out, " failed: ");
		put(v, RED, name);
		if (code)
			rd_buf_printf(v->out, " (%s)", rd_errno_text((int)code->u));
	}
	if (took) {
		rd_buf_str(v->out, " in ");
		put_seconds(v->out, took->d);
	}
}

static void put_what(const struct view *v)
{
	const char *kind = text(v, "kind"), *event = text(v, "event");

	if (!kind)
		return;
	if (!strcmp(kind, "modify")) {
		put_call(v);
	} else if (event) {
		rd_buf_str(v->out, "event ");
		put(v, YELLOW, event);
		put_age(v);
	} else {
		rd_buf_str(v->out, !strcmp(kind, "create") ? "created" : "destroyed");
		put_age(v);
	}
}

static void put_caller(const struct view *v)
{
	const struct rd_cell *pid = cell(v, "pid");
	const char *comm = text(v, "comm"), *job = text(v, "job");

	if (!pid)
		return;
	rd_buf_str(v->out, "  ");
	put(v, NULL, comm && *comm ? comm : "?");
	rd_buf_printf(v->out, "[%" PRIu64 "]", pid->u);
	if (job) {
		rd_buf_str(v->out, " job ");
		put(v, NULL, job);
	}
}

static const struct {
	const char *key, *label;
} details[] = {
	{ "path_mtu_bytes", "mtu" },
	{ "rqpn", "rqpn" },
	{ "peer_gid", "peer" },
	{ "sgid_index", "sgid" },
	{ "dlid", "dlid" },
	{ "udp_sport", "sport" },
	{ "flow_label", "flow" },
	{ "traffic_class", "tclass" },
	{ "hop_limit", "hops" },
	{ "sl", "sl" },
	{ "rq_psn", "rq_psn" },
	{ "sq_psn", "sq_psn" },
	{ "timeout", "timeout" },
	{ "retry_cnt", "retry" },
	{ "rnr_retry", "rnr_retry" },
	{ "min_rnr_timer", "rnr_timer" },
	{ "max_rd_atomic", "rd_atomic" },
	{ "max_dest_rd_atomic", "dest_rd_atomic" },
};

static void put_details(const struct view *v)
{
	bool any = false;

	for (size_t i = 0; i < RD_ARRAY_SIZE(details); i++) {
		const struct rd_cell *c = cell(v, details[i].key);

		if (!c)
			continue;
		rd_buf_str(v->out, any ? "  " : "    ");
		any = true;
		rd_buf_printf(v->out, "%s ", details[i].label);
		if (c->type == RD_T_STR)
			put(v, NULL, c->s);
		else
			rd_buf_printf(v->out, "%" PRIu64, c->u);
	}
	if (any)
		rd_buf_str(v->out, "\n");
}

int rd_render_qp_event(const struct rd_section *section, size_t row, bool colour, struct rd_buf *out)
{
	struct view v = { section, &section->rows[row], colour, out };

	put_time(&v);
	put_where(&v);
	put_what(&v);
	put_caller(&v);
	rd_buf_str(out, "\n");
	put_details(&v);
	return out->failed ? -ENOMEM : 0;
}
