/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric --path and --routes: routes by the forwarding tables of switches. */

#include "fabric.h"
#include "report/shared/report.h"

#define CANDIDATES 5 /* that an error names */

static const char adaptive_note[] =
	"These are the routes of the linear forwarding tables. Whether switches use adaptive routing is not known: if they do, "
	"packets may take other ports, too.";
static const char loops_note[] =
	"Checked: that each route arrives. Not checked: whether routes that arrive wait for each other in a circle (credit loops); "
	"ibdmchk does that for the tables of opensm.";

struct end {
	size_t port;
	uint16_t lid;
};

/* Finds the port that an operand means; -errno with the candidates if there is not exactly one. */
static int find_end(const struct rd_fabric *fabric, const char *text, struct end *ret, struct rd_err *err)
{
	_cleanup_free_ size_t *found = NULL;
	size_t n = rd_fabric_find_ports(fabric, text, CANDIDATES, &found);
	uint32_t lid;

	if (n == 0) {
		rd_err_set(err, ENOENT, "--path", "no port has the name, GUID or LID '%s'", text);
		return rd_err_hint(err, "rdmadiag counters --fabric --all -o node,port,lid,guid lists all");
	}
	if (n > 1) {
		_cleanup_buf_ struct rd_buf names = { 0 };

		for (size_t i = 0; i < n && i < CANDIDATES; i++) {
			const struct rd_fabric_port *port = &fabric->ports[found[i]];

			rd_buf_printf(&names, "%s%s/%u (LID %u)", i ? ", " : "",
				      rd_fabric_name(&fabric->nodes[port->node]), port->number, port->lid);
		}
		if (n > CANDIDATES)
			rd_buf_printf(&names, ", %zu more", n - CANDIDATES);
		rd_err_set(err, ENOTUNIQ, "--path", "'%s' may be %s", text, names.data);
		return rd_err_hint(err, "give the whole name, NAME/PORT, the GUID or the LID");
	}
	*ret = (struct end){ found[0], fabric->ports[found[0]].lid };
	/* Of several LIDs of a port the one that was given. */
	if (rd_parse_u32(text, RD_DECIMAL, RD_LID_MAX, &lid) == 0 &&
	    rd_port_has_lid(&fabric->ports[found[0]], (uint16_t)lid))
		ret->lid = (uint16_t)lid;
	if (!ret->lid) {
		rd_err_set(err, ENETUNREACH, "--path", "'%s' has no LID", text);
		return rd_err_hint(err,
				   "the subnet manager has not configured it: check the cable of the port, and sminfo");
	}
	return 0;
}

static int read_tables(struct fabric_session *s, const uint16_t *lids, size_t n, struct rd_routes *routes,
		       struct rd_err *err)
{
	rd_routes_init(&s->run.fabric, routes);
	return rd_routes_read(s->run.mads, &s->run.limits, &s->run.fabric, lids, n, routes, err);
}

/* Reads the counters of the ports on the paths: once or, with -i, twice. Without the verification of LIDs and without a discovery,
 * which would change indices. */
static int read_counters(struct fabric_session *s, const struct rd_path paths[2], struct rd_err *err)
{
	struct rd_fabric *fabric = &s->run.fabric;
	struct rd_repeat *repeat = &s->cmd->repeat;
	int r;

	for (size_t i = 0; i < fabric->n_ports; i++)
		fabric->ports[i].selected = false;
	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < paths[i].n; j++) {
			const size_t ports[] = { paths[i].hops[j].in, paths[i].hops[j].out };

			for (size_t k = 0; k < RD_ARRAY_SIZE(ports); k++)
				if (ports[k] != RD_NONE)
					fabric->ports[ports[k]].selected = fabric->ports[ports[k]].lid != 0;
		}
	if (repeat->seconds <= 0)
		return rd_fabric_sweep(s->run.mads, &s->run.limits, false, fabric, err);
	rd_repeat_begin(repeat, repeat->seconds);
	/* The first tick is due immediately, which would make the interval shorter than requested. */
	r = rd_ticks_wait(&repeat->ticks);
	for (int i = 0; i < 2 && !r; i++) {
		r = rd_ticks_wait(&repeat->ticks);
		if (r < 0)
			return rd_err_set(err, EINTR, "--path", "ended by a signal before the second reading");
		r = rd_fabric_sweep(s->run.mads, &s->run.limits, false, fabric, err);
	}
	return r;
}

/* Ranks the findings, adds them to the report, and sets its status. */
static void take_findings(struct rd_report *report, struct rd_findings *findings)
{
	rd_fabric_rank(findings);
	rd_report_add_findings(report, findings);
	report->status = rd_report_judge(report);
	if (report->status < RD_EXIT_CRITICAL && rd_findings_count(&report->findings, RD_SEV_UNKNOWN) > 0)
		report->status = RD_EXIT_UNKNOWN;
}

/* "host 3-7 port 1 (LID 40)", "leaf 2 (LID 4)" */
static char *end_text(const struct rd_fabric *fabric, const struct end *end)
{
	const struct rd_fabric_port *port = &fabric->ports[end->port];
	const struct rd_fabric_node *node = &fabric->nodes[port->node];

	if (node->kind == RD_NODE_SWITCH)
		return rd_text("%s (LID %u)", rd_fabric_name(node), end->lid);
	return rd_text("%s port %u (LID %u)", rd_fabric_name(node), port->number, end->lid);
}

static char *path_headline(const struct rd_fabric *fabric, const struct rd_path paths[2], const struct end both[2],
			   const struct rd_report *report)
{
	_cleanup_free_ char *from = end_text(fabric, &both[0]), *to = end_text(fabric, &both[1]);
	_cleanup_free_ char *fault = rd_path_fault(fabric, &paths[0]), *back = rd_path_fault(fabric, &paths[1]);
	size_t faults = rd_findings_count(&report->findings, RD_SEV_WARNING) +
			rd_findings_count(&report->findings, RD_SEV_CRITICAL);
	const char *way = rd_path_is_reverse(&paths[0], &paths[1]) ? "the way back is the same" :
								     "the way back takes other ports";

	if (fault || back)
		return rd_text("path from %s to %s: %s%s%s%s", from, to, fault ?: "", fault && back ? "; " : "",
			       back ? "way back: " : "", back ?: "");
	return rd_text("path from %s to %s: %zu cable%s, %s; %zu finding%s", from, to, paths[0].n - 1,
		       paths[0].n == 2 ? "" : "s", way, faults, faults == 1 ? "" : "s");
}

/* What is wrong and what to do first, then the table. */
static int print_routes(struct fabric_session *s, struct rd_report *report)
{
	_cleanup_buf_ struct rd_buf head = { 0 }, out = rd_out_pieces();
	bool plain = s->ctx->globals.rows_only, rows = report->sections[0]->n > 0;
	struct rd_err err = { 0 };

	if (s->ctx->globals.json)
		return rd_output_print(s->ctx, report);
	if (!plain)
		rd_render_headline(report, &head);
	if (report->findings.n > 0) {
		rd_buf_str(&head, plain ? "" : "\n");
		rd_output_findings(s->ctx, report, &head);
	}
	rd_buf_str(&head, rows && !plain ? "\n" : "");
	rd_out_beside(s->ctx, &head);
	if ((rows || plain) && rd_render_table(report->sections[0], &s->ctx->globals.style, &out, &err) < 0)
		return rd_fail_usage(s->ctx->cmd, &err);
	if (!plain)
		rd_render_notes(report, &out);
	rd_out(&out);
	return report->status;
}

static void note_lids(const struct rd_fabric *fabric, const struct end *end, struct rd_report *report)
{
	const struct rd_fabric_port *port = &fabric->ports[end->port];

	if (port->lmc > 0)
		rd_report_note(report, "%s port %u has %u LIDs, %u to %u: each may have another route.",
			       rd_fabric_name(&fabric->nodes[port->node]), port->number, 1u << port->lmc, port->lid,
			       port->lid + (1u << port->lmc) - 1);
}

static int report_paths(struct fabric_session *s, const struct rd_path paths[2], const struct end both[2])
{
	const struct rd_fabric *fabric = &s->run.fabric;
	bool same_way = rd_path_is_reverse(&paths[0], &paths[1]);
	const struct rd_path *const pair[] = { &paths[0], &paths[1] };
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };
	_cleanup_(rd_report_deinit) struct rd_report report = { 0 };
	struct rd_fabric part;

	rd_output_init(s->ctx, &report);
	rd_path_judge(fabric, &paths[0], &findings);
	rd_path_judge(fabric, &paths[1], &findings);
	rd_path_part(fabric, pair, 2, &part);
	rd_fabric_judge(&part, &s->limits, NULL, &findings);
	rd_path_free_part(&part);
	take_findings(&report, &findings);
	rd_report_path(&report, fabric, paths,
		       paths[0].end == RD_ROUTE_ARRIVES && paths[1].end == RD_ROUTE_ARRIVES ? &same_way : NULL);
	report.headline = path_headline(fabric, paths, both, &report);
	note_lids(fabric, &both[0], &report);
	note_lids(fabric, &both[1], &report);
	rd_report_note(&report, "%s", adaptive_note);
	return print_routes(s, &report);
}

int fabric_path(struct fabric_session *s, const char *from, const char *to)
{
	_cleanup_(rd_routes_deinit) struct rd_routes routes = { 0 };
	struct rd_path paths[2] = { 0 };
	struct end both[2] = { 0 };
	struct rd_err err = { 0 };
	int r;

	s->ctx->schema = "rdmadiag/counters-fabric-path/1";
	r = fabric_session_begin(s, &err) ?: find_end(&s->run.fabric, from, &both[0], &err);
	if (!r)
		r = find_end(&s->run.fabric, to, &both[1], &err);
	if (!r && both[0].port == both[1].port)
		r = rd_err_set(&err, EINVAL, "--path", "'%s' and '%s' are the same port", from, to);
	if (!r)
		r = read_tables(s, (uint16_t[]){ both[0].lid, both[1].lid }, 2, &routes, &err);
	if (!r) {
		rd_path_find(&s->run.fabric, &routes, both[0].port, both[1].port, both[1].lid, &paths[0]);
		rd_path_find(&s->run.fabric, &routes, both[1].port, both[0].port, both[0].lid, &paths[1]);
		r = read_counters(s, paths, &err);
	}
	r = r < 0 ? rd_fail(s->ctx, &err) : report_paths(s, paths, both);
	rd_path_deinit(&paths[0]);
	rd_path_deinit(&paths[1]);
	return r;
}

/* ---- all routes */

static char *routes_headline(const struct fabric_session *s, const struct rd_routes *routes,
			     const struct rd_routes_verdict *verdict)
{
	const struct rd_fabric *fabric = &s->run.fabric;
	uint64_t failing = rd_routes_failing(verdict), unknown = verdict->by_end[RD_ROUTE_UNKNOWN];
	_cleanup_buf_ struct rd_buf out = { 0 };

	rd_buf_printf(&out, "routes of %s/%u: ", fabric->ibdev, fabric->port);
	if (failing)
		rd_buf_printf(&out, "%" PRIu64 " of %" PRIu64 " pairs of adapters have NO route", failing,
			      verdict->pairs);
	else if (unknown)
		rd_buf_printf(&out, "%" PRIu64 " of %" PRIu64 " pairs of adapters are UNKNOWN", unknown, verdict->pairs);
	else
		rd_buf_printf(&out, "all %" PRIu64 " pairs of adapters%s have a route", verdict->pairs,
			      rd_fabric_is_incomplete(fabric) ? " that were reached" : "");
	if (failing && unknown)
		rd_buf_printf(&out, ", %" PRIu64 " are unknown", unknown);
	rd_buf_printf(&out, "; tables of %zu switch%s read in %.3f s", routes->n_switches - routes->n_unread,
		      routes->n_switches - routes->n_unread == 1 ? "" : "es", (double)routes->duration_ns / 1e9);
	if (routes->n_unread)
		rd_buf_printf(&out, ", %zu NOT read", routes->n_unread);
	return rd_dup(out.data);
}

static int report_routes(struct fabric_session *s, const struct rd_routes *routes)
{
	const struct rd_fabric *fabric = &s->run.fabric;
	_cleanup_(rd_routes_verdict_deinit) struct rd_routes_verdict verdict = { 0 };
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };
	_cleanup_(rd_report_deinit) struct rd_report report = { 0 };

	rd_output_init(s->ctx, &report);
	rd_routes_judge(fabric, routes, &verdict, &findings);
	rd_fabric_judge_walk(fabric, &findings);
	take_findings(&report, &findings);
	/* In text only groups of at least two links that are uneven, unless --all. */
	rd_report_routes(&report, fabric, routes, &verdict, s->cmd->all || s->ctx->globals.json);
	report.headline = routes_headline(s, routes, &verdict);
	rd_report_note(&report, "%s", loops_note);
	rd_report_note(&report, "%s", adaptive_note);
	return print_routes(s, &report);
}

int fabric_routes(struct fabric_session *s)
{
	_cleanup_(rd_routes_deinit) struct rd_routes routes = { 0 };
	struct rd_err err = { 0 };
	int r;

	s->ctx->schema = "rdmadiag/counters-fabric-routes/1";
	r = fabric_session_begin(s, &err) ?: read_tables(s, NULL, 0, &routes, &err);
	return r < 0 ? rd_fail(s->ctx, &err) : report_routes(s, &routes);
}
