// SPDX-License-Identifier: GPL-2.0-or-later
#include "render/render-event.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#define INDENT "    "
#define ARROW " -> "
#define NAME_WIDTH 48 /* longer names push their line out, not all lines */
#define MODULE_WIDTH 16

/* SGR parameters. */
#define BOLD "1"
#define DIM "2"
#define RED "1;31"
#define CYAN "36"
#define YELLOW "33"

struct view {
	const struct rd_section *section;
	const struct rd_row *row;
	bool colour;
	int width;
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

static struct view row_of(const struct view *v, const struct rd_section *sub, size_t row)
{
	struct view below = *v;

	below.section = sub;
	below.row = &sub->rows[row];
	return below;
}

static void put(const struct view *v, const char *sgr, const char *s)
{
	if (v->colour && sgr)
		rd_buf_printf(v->out, "\033[%sm", sgr);
	rd_buf_safe(v->out, s, strlen(s));
	if (v->colour && sgr)
		rd_buf_str(v->out, "\033[0m");
}

static void pad(struct rd_buf *out, size_t have, size_t want)
{
	for (; have < want; have++)
		rd_buf_str(out, " ");
}

static void put_time(const struct view *v)
{
	const struct rd_cell *c = cell(v, "time");
	char clock[16];
	struct tm tm;
	time_t t;

	if (!c)
		return;
	t = c->u / 1000000000u;
	if (!localtime_r(&t, &tm) || !strftime(clock, sizeof(clock), "%H:%M:%S", &tm))
		return;
	if (v->colour)
		rd_buf_str(v->out, "\033[" DIM "m");
	rd_buf_printf(v->out, "%s.%06u ", clock, (unsigned)(c->u % 1000000000u / 1000));
	if (v->colour)
		rd_buf_str(v->out, "\033[0m");
}

static void put_call(const struct view *v)
{
	const char *verb = text(v, "verb"), *object = text(v, "object"), *method = text(v, "method");
	const char *name = text(v, "errno");
	const struct rd_cell *code = cell(v, "code");

	if (verb) {
		put(v, BOLD, verb);
	} else if (object || method) {
		put(v, BOLD, object ? object : "?");
		rd_buf_str(v->out, " ");
		put(v, BOLD, method ? method : "?");
	} else {
		put(v, BOLD, "call");
	}
	rd_buf_str(v->out, ": ");
	put(v, RED, name ? name : "?");
	if (code)
		rd_buf_printf(v->out, " (%s)", rd_errno_text((int)code->u));
}

static void put_number(const struct view *v, const char *key)
{
	const struct rd_cell *c = cell(v, key);

	if (c)
		rd_buf_printf(v->out, " %s %" PRIu64, key, c->u);
}

static void put_word(const struct view *v, const char *before, const char *key)
{
	const char *s = text(v, key);

	if (!s)
		return;
	rd_buf_str(v->out, before);
	put(v, NULL, s);
}

static void put_caller(const struct view *v)
{
	const struct rd_cell *pid = cell(v, "pid"), *tid = cell(v, "tid");
	const char *comm = text(v, "comm");

	rd_buf_str(v->out, "  ");
	put(v, NULL, comm && *comm ? comm : "?");
	if (pid)
		rd_buf_printf(v->out, "[%" PRIu64, pid->u);
	if (pid && tid && tid->u != pid->u)
		rd_buf_printf(v->out, "/%" PRIu64, tid->u);
	if (pid)
		rd_buf_str(v->out, "]");
	put_word(v, " ", "ibdev");
	put_number(v, "port");
	put_number(v, "qpn");
	put_word(v, " job ", "job");
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

static void put_link(const struct view *link, size_t i, const struct widths *w, const char *note)
{
	const char *name = text(link, "function"), *module = text(link, "module"), *err = text(link, "errno");
	const struct rd_cell *translated = cell(link, "translated");
	size_t len;

	name = name ? name : "?";
	module = module ? module : "?";
	err = err ? err : "?";
	rd_buf_str(link->out, i ? ARROW : INDENT);
	put(link, i ? NULL : BOLD, name);
	pad(link->out, strlen(name), w->name);
	rd_buf_str(link->out, " [");
	put(link, CYAN, module);
	rd_buf_str(link->out, "]");
	pad(link->out, strlen(module), w->module);
	rd_buf_str(link->out, " ");
	put(link, translated && translated->b ? YELLOW : NULL, err);
	if (note) {
		len = strlen(err);
		pad(link->out, len, w->err);
		rd_buf_printf(link->out, "  <- %s", note);
	}
	rd_buf_str(link->out, "\n");
}

static void put_chain(const struct view *v)
{
	const struct rd_cell *c = cell(v, "chain"), *dropped = cell(v, "chain_dropped");
	struct widths w = { 0 };
	bool before = false;

	for (size_t i = 0; c && i < c->sub->n; i++) {
		struct view link = row_of(v, c->sub, i);

		widen(&w.name, text(&link, "function"), NAME_WIDTH);
		widen(&w.module, text(&link, "module"), MODULE_WIDTH);
		widen(&w.err, text(&link, "errno"), MODULE_WIDTH);
	}
	for (size_t i = 0; c && i < c->sub->n; i++) {
		struct view link = row_of(v, c->sub, i);
		const struct rd_cell *translated = cell(&link, "translated");
		const char *note = !i ? "origin" : before ? "errno changed here" : NULL;

		put_link(&link, i, &w, translated && translated->b && i ? NULL : note);
		before = translated && translated->b;
	}
	if (dropped && dropped->u)
		rd_buf_printf(v->out, INDENT "(%" PRIu64 " more functions had no room in the record)\n", dropped->u);
}

static void put_frame(const struct view *f)
{
	const char *function = text(f, "function"), *object = text(f, "object"), *file = text(f, "file");
	const struct rd_cell *offset = cell(f, "offset"), *line = cell(f, "line");

	rd_buf_str(f->out, INDENT INDENT);
	if (!function && !object) {
		rd_buf_str(f->out, "?\n");
		return;
	}
	put(f, NULL, function ? function : object);
	if (offset)
		rd_buf_printf(f->out, "+0x%" PRIx64, offset->u);
	if (file) {
		rd_buf_str(f->out, " at ");
		put(f, NULL, file);
		if (line)
			rd_buf_printf(f->out, ":%" PRIu64, line->u);
	}
	if (function && object) {
		rd_buf_str(f->out, " [");
		put(f, CYAN, object);
		rd_buf_str(f->out, "]");
	}
	rd_buf_str(f->out, "\n");
}

static void put_stack(const struct view *v, const char *key, const char *title)
{
	const struct rd_cell *c = cell(v, key);

	if (!c)
		return;
	rd_buf_printf(v->out, INDENT "%s:\n", title);
	for (size_t i = 0; i < c->sub->n; i++) {
		struct view frame = row_of(v, c->sub, i);

		put_frame(&frame);
	}
}

/* "    hint: words", broken between words, what follows standing below the words. */
static void put_remark(const struct view *v, const char *label, const char *words)
{
	size_t margin = strlen(INDENT) + strlen(label) + 1, at = margin;
	size_t width = v->width > 40 ? (size_t)v->width : 80;

	rd_buf_str(v->out, INDENT);
	put(v, YELLOW, label);
	rd_buf_str(v->out, ":");
	while (*words) {
		size_t n = strcspn(words, " ");

		if (at > margin && at + 1 + n > width) {
			rd_buf_str(v->out, "\n");
			pad(v->out, 0, margin);
			at = margin;
		}
		rd_buf_str(v->out, " ");
		rd_buf_safe(v->out, words, n);
		at += n + 1;
		words += n + strspn(words + n, " ");
	}
	rd_buf_str(v->out, "\n");
}

int rd_render_event(const struct rd_section *section, size_t row, bool colour, int width, struct rd_buf *out)
{
	struct view v = { section, &section->rows[row], colour, width, out };
	const char *benign = text(&v, "benign_reason"), *hint = text(&v, "hint");

	put_time(&v);
	put_call(&v);
	put_caller(&v);
	rd_buf_str(out, "\n");
	put_chain(&v);
	put_stack(&v, "kernel_stack", "kernel stack");
	put_stack(&v, "user_stack", "user stack");
	if (benign)
		put_remark(&v, "benign", benign);
	if (hint)
		put_remark(&v, "hint", hint);
	return out->failed ? -ENOMEM : 0;
}
