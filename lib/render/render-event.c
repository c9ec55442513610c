/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of a report as lines of text: failed calls, events of queue pairs, meanings of counters. */
#include "render/render.h"

#include <limits.h>
#include <time.h>

/* A row as lines of text: shared by renderers of events. */

/* SGR parameters. */
#define RD_BOLD "1"
#define RD_DIM "2"
#define RD_RED "1;31"
#define RD_CYAN "36"
#define RD_YELLOW "33"

struct rd_row_view {
	const struct rd_section *section;
	const struct rd_row *row;
	bool colour;
	int width; /* of the terminal; 0: unknown */
	struct rd_buf *out;
};

static const struct rd_cell *rd_row_cell(const struct rd_row_view *v, const char *key)
{
	for (size_t i = 0; i < v->section->n_columns; i++)
		if (!strcmp(v->section->columns[i].key, key))
			return v->row->cells[i].known == RD_OK ? &v->row->cells[i] : NULL;
	return NULL;
}

/* The cell of the column with this key; NULL: no such column, or unknown. */
static const char *rd_row_text(const struct rd_row_view *v, const char *key)
{
	const struct rd_cell *c = rd_row_cell(v, key);

	return c ? c->s : NULL;
}

/* Adds text, escaped, in these colours (NULL: none). */
static void put_text(const struct rd_row_view *v, const char *sgr, const char *s)
{
	if (v->colour && sgr)
		rd_buf_printf(v->out, "\033[%sm", sgr);
	rd_buf_safe(v->out, s, strlen(s));
	if (v->colour && sgr)
		rd_buf_str(v->out, "\033[0m");
}

/* Adds the key "time" as "14:03:07.123456 ", local time; nothing if unknown. */
static void rd_row_put_time(const struct rd_row_view *v)
{
	const struct rd_cell *c = rd_row_cell(v, "time");
	char clock[16], whole[32];
	struct tm tm;
	time_t t;

	if (!c)
		return;
	t = (time_t)(c->u / 1000000000u);
	if (!localtime_r(&t, &tm) || !strftime(clock, sizeof(clock), "%H:%M:%S", &tm))
		return;
	snprintf(whole, sizeof(whole), "%s.%06u ", clock, (unsigned)(c->u % 1000000000u / 1000));
	put_text(v, RD_DIM, whole);
}

#define INDENT "    "
#define ARROW " -> "
#define NAME_WIDTH 48 /* a longer name widens only its own line */
#define MODULE_WIDTH 16
#define BELOW_SHOWN 6

static struct rd_row_view row_of(const struct rd_row_view *v, const struct rd_section *sub, size_t row)
{
	struct rd_row_view below = *v;

	below.section = sub;
	below.row = rd_section_row(sub, row);
	return below;
}

static void pad(struct rd_buf *out, size_t have, size_t want)
{
	for (; have < want; have++)
		rd_buf_str(out, " ");
}

static void put_number(const struct rd_row_view *v, const char *key)
{
	const struct rd_cell *c = rd_row_cell(v, key);

	if (c)
		rd_buf_printf(v->out, " %s %" PRIu64, key, c->u);
}

static void put_word(const struct rd_row_view *v, const char *before, const char *key)
{
	const char *s = rd_row_text(v, key);

	if (!s)
		return;
	rd_buf_str(v->out, before);
	put_text(v, NULL, s);
}

struct widths {
	size_t name, module, err;
};

static void widen(size_t *width, const char *s, size_t most)
{
	size_t n = s ? strlen(s) : 1;

	if (n > *width)
		*width = n < most ? n : most;
}

static void put_link(const struct rd_row_view *link, size_t i, const struct widths *w, const char *note)
{
	const char *name = rd_row_text(link, "function") ?: "?", *module = rd_row_text(link, "module") ?: "?",
		   *err = rd_row_text(link, "errno") ?: "?";
	const struct rd_cell *translated = rd_row_cell(link, "translated");

	rd_buf_str(link->out, i ? ARROW : INDENT);
	put_text(link, i ? NULL : RD_BOLD, name);
	pad(link->out, strlen(name), w->name);
	rd_buf_str(link->out, " [");
	put_text(link, RD_CYAN, module);
	rd_buf_str(link->out, "]");
	pad(link->out, strlen(module), w->module);
	rd_buf_str(link->out, " ");
	put_text(link, translated && translated->b ? RD_YELLOW : NULL, err);
	if (note) {
		pad(link->out, strlen(err), w->err);
		rd_buf_printf(link->out, "  <- %s", note);
	}
	rd_buf_str(link->out, "\n");
}

static void put_stack(const struct rd_row_view *v, const char *key, const char *title)
{
	const struct rd_cell *c = rd_row_cell(v, key);

	if (!c)
		return;
	rd_buf_printf(v->out, INDENT "%s:\n", title);
	for (size_t i = 0; i < c->sub->n; i++) {
		struct rd_row_view frame = row_of(v, c->sub, i);
		const char *function = rd_row_text(&frame, "function"), *object = rd_row_text(&frame, "object"),
			   *file = rd_row_text(&frame, "file");
		const struct rd_cell *offset = rd_row_cell(&frame, "offset"), *line = rd_row_cell(&frame, "line");

		rd_buf_str(frame.out, INDENT INDENT);
		if (!function && !object) {
			rd_buf_str(frame.out, "?\n");
			continue;
		}
		put_text(&frame, NULL, function ?: object);
		if (offset)
			rd_buf_printf(frame.out, "+0x%" PRIx64, offset->u);
		if (file) {
			rd_buf_str(frame.out, " at ");
			put_text(&frame, NULL, file);
			if (line)
				rd_buf_printf(frame.out, ":%" PRIu64, line->u);
		}
		if (function && object) {
			rd_buf_str(frame.out, " [");
			put_text(&frame, RD_CYAN, object);
			rd_buf_str(frame.out, "]");
		}
		rd_buf_str(frame.out, "\n");
	}
}

/* Words, wrapped to the width; lines after the first are indented by `margin`. `at`: the column to begin at. */
static void put_words(const struct rd_row_view *v, size_t at, size_t margin, const char *words)
{
	size_t width = v->width > 40 ? (size_t)v->width : 80;
	bool first = true;

	while (*words) {
		size_t n = strcspn(words, " ");

		if (!first && at + 1 + n > width) {
			rd_buf_str(v->out, "\n");
			pad(v->out, 0, margin);
			at = margin;
		}
		rd_buf_str(v->out, " ");
		rd_buf_safe(v->out, words, n);
		at += n + 1;
		words += n + strspn(words + n, " ");
		first = false;
	}
	rd_buf_str(v->out, "\n");
}

/* "    fix: words" */
static void put_remark(const struct rd_row_view *v, const char *label, const char *words)
{
	size_t margin = strlen(INDENT) + strlen(label) + 1;

	rd_buf_str(v->out, INDENT);
	put_text(v, RD_YELLOW, label);
	rd_buf_str(v->out, ":");
	put_words(v, margin, margin, words);
}

/* The functions that may be the origin, on one line. */
static void put_below(const struct rd_row_view *v)
{
	const struct rd_cell *c = rd_row_cell(v, "origin_below");
	_cleanup_buf_ struct rd_buf names = { 0 };
	bool deepen = false;

	if (!c || !c->sub->n)
		return;
	for (size_t i = 0; i < c->sub->n && i < BELOW_SHOWN; i++) {
		struct rd_row_view one = row_of(v, c->sub, i);
		const char *name = rd_row_text(&one, "text");

		rd_buf_printf(&names, "%s%s", i ? ", " : "", name ?: "?");
		deepen |= name && !strchr(name, ' '); /* not "module x" */
	}
	if (c->sub->n > BELOW_SHOWN)
		rd_buf_printf(&names, " and %zu more", c->sub->n - BELOW_SHOWN);
	if (deepen)
		rd_buf_str(&names, " (--deepen traces them)");
	put_remark(v, "not traced", names.data);
}

/* The cause with its values, or what was looked at. */
static void put_why(const struct rd_row_view *v)
{
	const char *id = rd_row_text(v, "cause_id"), *cause = rd_row_text(v, "cause"), *fix = rd_row_text(v, "fix"),
		   *advice = rd_row_text(v, "advice"), *confidence = rd_row_text(v, "confidence"),
		   *hint = rd_row_text(v, "hint");
	const struct rd_cell *evidence = rd_row_cell(v, "evidence");
	struct rd_row_view whole = *v; /* a command that is pasted must not end at the margin */
	bool any = evidence && evidence->sub->n;

	whole.width = INT_MAX;
	if (id && cause)
		put_remark(v, confidence && strcmp(confidence, "high") != 0 ? "probable cause" : "cause", cause);
	else if (cause)
		put_remark(v, "cause", any ? "cannot tell; looked at:" : cause);
	for (size_t i = 0; cause && any && i < evidence->sub->n; i++) {
		struct rd_row_view one = row_of(v, evidence->sub, i);
		const char *text = rd_row_text(&one, "text");

		rd_buf_str(v->out, INDENT "  -");
		put_words(v, strlen(INDENT) + 3, strlen(INDENT) + 3, text ?: "?");
	}
	for (const char *line = fix; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		_cleanup_free_ char *command = rd_text("%.*s", (int)strcspn(line, "\n"), line);

		put_remark(&whole, "fix", command);
	}
	if (advice)
		put_remark(v, id ? "advice" : "check", advice);
	/* A hint of the site stands for itself; the others repeat cause and fix on one line. */
	if (hint && (!cause || !(advice && strstr(hint, advice))) && !(cause && strstr(hint, cause)))
		put_remark(v, "hint", hint);
}

void rd_render_event(const struct rd_section *section, size_t row, bool colour, int width, struct rd_buf *out)
{
	struct rd_row_view v = { section, rd_section_row(section, row), colour, width, out };
	const char *benign = rd_row_text(&v, "benign_reason"), *comm = rd_row_text(&v, "comm");
	const char *verb = rd_row_text(&v, "verb"), *object = rd_row_text(&v, "object"),
		   *method = rd_row_text(&v, "method"), *name = rd_row_text(&v, "errno");
	const struct rd_cell *code = rd_row_cell(&v, "code"), *pid = rd_row_cell(&v, "pid"),
			     *tid = rd_row_cell(&v, "tid"), *c = rd_row_cell(&v, "chain"),
			     *dropped = rd_row_cell(&v, "chain_dropped"), *exact = rd_row_cell(&v, "origin_exact");
	struct widths w = { 0 };
	bool before = false;

	rd_row_put_time(&v);
	if (verb) {
		put_text(&v, RD_BOLD, verb);
	} else if (object || method) {
		put_text(&v, RD_BOLD, object ?: "?");
		rd_buf_str(v.out, " ");
		put_text(&v, RD_BOLD, method ?: "?");
	} else {
		put_text(&v, RD_BOLD, "call");
	}
	rd_buf_str(v.out, ": ");
	put_text(&v, RD_RED, name ?: "?");
	if (code)
		rd_buf_printf(v.out, " (%s)", rd_errno_text((int)code->u));
	rd_buf_str(v.out, "  ");
	put_text(&v, NULL, comm && *comm ? comm : "?");
	if (pid)
		rd_buf_printf(v.out, "[%" PRIu64, pid->u);
	if (pid && tid && tid->u != pid->u)
		rd_buf_printf(v.out, "/%" PRIu64, tid->u);
	if (pid)
		rd_buf_str(v.out, "]");
	put_word(&v, " ", "ibdev");
	put_number(&v, "port");
	put_number(&v, "qpn");
	put_word(&v, " job ", "job");
	rd_buf_str(out, "\n");
	for (size_t i = 0; c && i < c->sub->n; i++) {
		struct rd_row_view link = row_of(&v, c->sub, i);

		widen(&w.name, rd_row_text(&link, "function"), NAME_WIDTH);
		widen(&w.module, rd_row_text(&link, "module"), MODULE_WIDTH);
		widen(&w.err, rd_row_text(&link, "errno"), MODULE_WIDTH);
	}
	for (size_t i = 0; c && i < c->sub->n; i++) {
		struct rd_row_view link = row_of(&v, c->sub, i);
		const struct rd_cell *translated = rd_row_cell(&link, "translated");
		const char *note = !i	  ? exact && !exact->b ? "at or below this function" : "origin" :
				   before ? "errno changed here" :
					    NULL;

		put_link(&link, i, &w, translated && translated->b && i ? NULL : note);
		before = translated && translated->b;
	}
	if (dropped && dropped->u)
		rd_buf_printf(v.out, INDENT "(%" PRIu64 " more functions did not fit into the record)\n", dropped->u);
	put_below(&v);
	put_stack(&v, "kernel_stack", "kernel stack");
	put_stack(&v, "user_stack", "user stack");
	if (rd_row_text(&v, "user_stack_end"))
		put_remark(&v, "incomplete", rd_row_text(&v, "user_stack_end"));
	if (benign)
		put_remark(&v, "benign", benign);
	put_why(&v);
}

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

static void put_what(const struct rd_row_view *v)
{
	const char *kind = rd_row_text(v, "kind"), *event = rd_row_text(v, "event");

	if (!kind)
		return;
	if (!strcmp(kind, "modify")) {
		const char *from = rd_row_text(v, "old_state"), *to = rd_row_text(v, "new_state"),
			   *name = rd_row_text(v, "errno");
		const struct rd_cell *took = rd_row_cell(v, "duration_seconds"), *code = rd_row_cell(v, "code");
		bool bad = name || (to && (!strcmp(to, "ERR") || !strcmp(to, "SQE")));

		if (to) {
			rd_buf_printf(v->out, "%s -> ", from ?: "?");
			put_text(v, bad ? RD_RED : NULL, to);
		} else {
			rd_buf_printf(v->out, "attributes set in %s", from ?: "an unknown state");
		}
		if (name) {
			rd_buf_str(v->out, " failed: ");
			put_text(v, RD_RED, name);
			if (code)
				rd_buf_printf(v->out, " (%s)", rd_errno_text((int)code->u));
		}
		if (took) {
			rd_buf_str(v->out, " in ");
			put_seconds(v->out, took->d);
		}
	} else if (event) {
		rd_buf_str(v->out, "event ");
		put_text(v, RD_YELLOW, event);
		put_age(v);
	} else {
		rd_buf_str(v->out, !strcmp(kind, "create") ? "created" : "destroyed");
		put_age(v);
	}
}

static void put_qp_caller(const struct rd_row_view *v)
{
	const struct rd_cell *pid = rd_row_cell(v, "pid");
	const char *comm = rd_row_text(v, "comm");

	if (!pid)
		return;
	rd_buf_str(v->out, "  ");
	put_text(v, NULL, comm && *comm ? comm : "?");
	rd_buf_printf(v->out, "[%" PRIu64 "]", pid->u);
	put_word(v, " job ", "job");
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

void rd_render_qp_event(const struct rd_section *section, size_t row, bool colour, struct rd_buf *out)
{
	struct rd_row_view v = { section, rd_section_row(section, row), colour, 0, out };
	const struct rd_cell *qpn = rd_row_cell(&v, "lqpn"), *port = rd_row_cell(&v, "port");
	const char *ibdev = rd_row_text(&v, "ibdev"), *kind = rd_row_text(&v, "kind");
	bool any = false;

	rd_row_put_time(&v);
	put_text(&v, RD_BOLD, ibdev ?: "?");
	if (qpn)
		rd_buf_printf(v.out, " qpn %" PRIu64, qpn->u);
	else if (port && kind && !strcmp(kind, "device-event"))
		rd_buf_printf(v.out, " port %" PRIu64, port->u);
	put_word(&v, " ", "type");
	rd_buf_str(v.out, ": ");
	put_what(&v);
	put_qp_caller(&v);
	rd_buf_str(out, "\n");
	for (size_t i = 0; i < RD_ARRAY_SIZE(details); i++) {
		const struct rd_cell *c = rd_row_cell(&v, details[i].key);

		if (!c)
			continue;
		rd_buf_str(v.out, any ? "  " : "    ");
		any = true;
		rd_buf_printf(v.out, "%s ", details[i].label);
		if (c->type == RD_T_STR)
			put_text(&v, NULL, c->s);
		else
			rd_buf_printf(v.out, "%" PRIu64, c->u);
	}
	if (any)
		rd_buf_str(v.out, "\n");
}

void rd_render_meanings(const struct rd_section *section, struct rd_buf *out)
{
	for (size_t i = 0; i < section->n; i++) {
		const struct rd_row_view *view =
			&(struct rd_row_view){ .section = section, .row = rd_section_row(section, i), .out = out };
		const char *driver = (rd_row_text(view, "driver") ?: "*"), *unit = (rd_row_text(view, "unit") ?: "-");
		/* "16 bits, saturates at 65535"; a gauge and a counter of 64 bits never reach their limit. */
		const char *overflow = (rd_row_text(view, "overflow") ?: "width unknown");
		const struct rd_cell *summable = rd_row_cell(view, "summable"), *bits = rd_row_cell(view, "bits");

		put_text(view, NULL, (rd_row_text(view, "name") ?: "-"));
		rd_buf_printf(view->out, " (%s)\n  ", strcmp(driver, "*") == 0 ? "any driver" : driver);
		put_text(view, NULL, (rd_row_text(view, "meaning") ?: "-"));
		rd_buf_printf(view->out, "\n  counts %s; ", strcmp(unit, "-") == 0 ? "various units" : unit);
		if (bits && (strcmp(overflow, "saturates") == 0 || strcmp(overflow, "wraps") == 0))
			rd_buf_printf(view->out, "%" PRIu64 " bits, %s at %" PRIu64, bits->u, overflow,
				      (UINT64_C(1) << (bits->u & 63)) - 1);
		else
			rd_buf_str(view->out, overflow);
		rd_buf_printf(view->out, "; %s; %s\n", (rd_row_text(view, "role") ?: "no role"),
			      summable && summable->b ? "may be added up over ports" : "must not be added up");
	}
}
