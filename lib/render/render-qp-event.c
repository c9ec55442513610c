// SPDX-License-Identifier: GPL-2.0-or-later
#include "render/render-qp-event.h"

#include <inttypes.h>
#include <string.h>

#include "render/row.h"

/* In us, ms or s. */
static void put_seconds(struct rd_buf *out, double s)
{
	if (s < 1e-3)
		rd_buf_printf(out, "%.0f us", s * 1e6);
	else if (s < 1)
		rd_buf_printf(out, "%.1f ms", s * 1e3);
	else
		rd_buf_printf(out, "%.1f s", s);
}

static void put_where(const struct rd_row_view *v)
{
	const struct rd_cell *qpn = rd_row_cell(v, "lqpn"), *port = rd_row_cell(v, "port");
	const char *ibdev = rd_row_text(v, "ibdev"), *type = rd_row_text(v, "type"), *kind = rd_row_text(v, "kind");

	rd_row_put(v, RD_BOLD, ibdev ? ibdev : "?");
	if (qpn)
		rd_buf_printf(v->out, " qpn %" PRIu64, qpn->u);
	else if (port && kind && !strcmp(kind, "device-event"))
		rd_buf_printf(v->out, " port %" PRIu64, port->u);
	if (type) {
		rd_buf_str(v->out, " ");
		rd_row_put(v, NULL, type);
	}
	rd_buf_str(v->out, ": ");
}

/* ", was INIT for 11.2 s": time in the previous state. */
static void put_age(const struct rd_row_view *v)
{
	const struct rd_cell *age = rd_row_cell(v, "state_seconds");
	const char *state = rd_row_text(v, "old_state"), *kind = rd_row_text(v, "state_age_kind");

	if (!age || !state)
		return;
	rd_buf_printf(v->out, ", was %s for ", state);
	if (kind && strcmp(kind, "exact") != 0)
		rd_buf_str(v->out, "at least ");
	put_seconds(v->out, age->d);
}

static void put_call(const struct rd_row_view *v)
{
	const char *from = rd_row_text(v, "old_state"), *to = rd_row_text(v, "new_state"),
		   *name = rd_row_text(v, "errno");
	const struct rd_cell *took = rd_row_cell(v, "duration_seconds"), *code = rd_row_cell(v, "code");
	bool bad = name || (to && (!strcmp(to, "ERR") || !strcmp(to, "SQE")));

	if (to) {
		rd_buf_printf(v->out, "%s -> ", from ? from : "?");
		rd_row_put(v, bad ? RD_RED : NULL, to);
	} else {
		rd_buf_printf(v->out, "attributes set in %s", from ? from : "an unknown state");
	}
	if (name) {
		rd_buf_str(v->out, " failed: ");
		rd_row_put(v, RD_RED, name);
		if (code)
			rd_buf_printf(v->out, " (%s)", rd_errno_text((int)code->u));
	}
	if (took) {
		rd_buf_str(v->out, " in ");
		put_seconds(v->out, took->d);
	}
}

static void put_what(const struct rd_row_view *v)
{
	const char *kind = rd_row_text(v, "kind"), *event = rd_row_text(v, "event");

	if (!kind)
		return;
	if (!strcmp(kind, "modify")) {
		put_call(v);
	} else if (event) {
		rd_buf_str(v->out, "event ");
		rd_row_put(v, RD_YELLOW, event);
		put_age(v);
	} else {
		rd_buf_str(v->out, !strcmp(kind, "create") ? "created" : "destroyed");
		put_age(v);
	}
}

static void put_caller(const struct rd_row_view *v)
{
	const struct rd_cell *pid = rd_row_cell(v, "pid");
	const char *comm = rd_row_text(v, "comm"), *job = rd_row_text(v, "job");

	if (!pid)
		return;
	rd_buf_str(v->out, "  ");
	rd_row_put(v, NULL, comm && *comm ? comm : "?");
	rd_buf_printf(v->out, "[%" PRIu64 "]", pid->u);
	if (job) {
		rd_buf_str(v->out, " job ");
		rd_row_put(v, NULL, job);
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

static void put_details(const struct rd_row_view *v)
{
	bool any = false;

	for (size_t i = 0; i < RD_ARRAY_SIZE(details); i++) {
		const struct rd_cell *c = rd_row_cell(v, details[i].key);

		if (!c)
			continue;
		rd_buf_str(v->out, any ? "  " : "    ");
		any = true;
		rd_buf_printf(v->out, "%s ", details[i].label);
		if (c->type == RD_T_STR)
			rd_row_put(v, NULL, c->s);
		else
			rd_buf_printf(v->out, "%" PRIu64, c->u);
	}
	if (any)
		rd_buf_str(v->out, "\n");
}

void rd_render_qp_event(const struct rd_section *section, size_t row, bool colour, struct rd_buf *out)
{
	struct rd_row_view v = { section, rd_section_row(section, row), colour, 0, out };

	rd_row_put_time(&v);
	put_where(&v);
	put_what(&v);
	put_caller(&v);
	rd_buf_str(out, "\n");
	put_details(&v);
}
