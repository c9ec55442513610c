/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo-check's page for people. */
#include <stdio.h>
#include <string.h>

#include "topo.h"

static const char *const colours[] = {
	[RD_FAIL] = "\033[1;31m", [RD_WARN] = "\033[1;33m", [RD_UNKNOWN] = "\033[36m",
	[RD_PASS] = "\033[32m",	  [RD_SKIP] = "",
};

static size_t count(const struct rd_verdicts *verdicts, enum rd_result result)
{
	size_t n = 0;

	for (size_t i = 0; i < verdicts->n; i++)
		n += verdicts->v[i].result == result;
	return n;
}

void topo_headline(const struct checks *checks, struct rd_buf *out)
{
	const struct rd_verdicts *v = &checks->verdicts;
	size_t fails = count(v, RD_FAIL), warnings = count(v, RD_WARN);

	rd_buf_str(out, "topo-check");
	if (checks->report.host) {
		rd_buf_str(out, " of ");
		rd_buf_safe(out, checks->report.host, strlen(checks->report.host));
	}
	rd_buf_printf(out, ": %zu failure%s, %zu warning%s, %zu unknown; %zu passed, %zu not applicable", fails,
		      fails == 1 ? "" : "s", warnings, warnings == 1 ? "" : "s", count(v, RD_UNKNOWN),
		      count(v, RD_PASS), count(v, RD_SKIP));
}

static void add_word(const struct rd_ctx *ctx, enum rd_result result, struct rd_buf *out)
{
	static const char *const words[] = {
		[RD_FAIL] = "FAIL", [RD_WARN] = "WARN", [RD_UNKNOWN] = "UNKN", [RD_PASS] = "pass", [RD_SKIP] = "skip",
	};
	bool colour = ctx->globals.style.colour && *colours[result];

	rd_buf_printf(out, "%s%s%s", colour ? colours[result] : "", words[result], colour ? "\033[0m" : "");
}

static void add_part(const char *before, const char *text, struct rd_buf *out)
{
	if (!text)
		return;
	rd_buf_str(out, before);
	rd_buf_safe(out, text, strlen(text));
}

static bool same_fix(const struct rd_verdict *a, const struct rd_verdict *b)
{
	return a->result == b->result && a->check == b->check &&
	       (a->fix == b->fix || (a->fix && b->fix && strcmp(a->fix, b->fix) == 0));
}

#define SUBJECTS_SHOWN 6 /* of one rule; -v shows all */

static void add_subject(const struct rd_verdict *verdict, bool with_fix, struct rd_buf *out)
{
	add_part("     ", verdict->subject, out);
	add_part(": ", verdict->observed, out);
	add_part("; wanted: ", verdict->expected, out);
	rd_buf_str(out, "\n");
	if (!with_fix)
		return;
	add_part("       fix: ", verdict->fix ? verdict->fix : verdict->check->fix, out);
	rd_buf_str(out, "\n");
}

/* The rule once, then who breaks it: results of one rule and kind stand together. */
static size_t add_problem(const struct rd_ctx *ctx, const struct rd_verdicts *verdicts, size_t first, struct rd_buf *out)
{
	const struct rd_verdict *verdict = &verdicts->v[first];
	size_t end = first, shown = SIZE_MAX;

	rd_buf_str(out, "\n");
	add_word(ctx, verdict->result, out);
	add_part(" ", verdict->check->title, out);
	rd_buf_printf(out, " [%s]\n", verdict->check->id);
	while (end < verdicts->n && verdicts->v[end].check == verdict->check &&
	       verdicts->v[end].result == verdict->result)
		end++;
	if (end - first > SUBJECTS_SHOWN && !ctx->globals.verbose)
		shown = SUBJECTS_SHOWN - 1;
	for (size_t i = first; i < end && i - first < shown; i++)
		add_subject(&verdicts->v[i],
			    i + 1 == end || i + 1 - first == shown || !same_fix(&verdicts->v[i], &verdicts->v[i + 1]),
			    out);
	if (end - first > shown)
		rd_buf_printf(out, "     and %zu more: -v shows all\n", end - first - shown);
	add_part("     why: ", verdict->check->why, out);
	rd_buf_str(out, "\n");
	return end;
}

/* Most of what could not be told could not for one reason: each reason stands once, with the rules that it kept. */
static void add_unknown(const struct rd_ctx *ctx, const struct rd_verdicts *verdicts, struct rd_buf *out)
{
	for (size_t i = 0; i < verdicts->n; i++) {
		const struct rd_verdict *first = &verdicts->v[i];
		bool told = first->result != RD_UNKNOWN;

		for (size_t j = 0; j < i && !told; j++)
			told = verdicts->v[j].result == RD_UNKNOWN &&
			       strcmp(verdicts->v[j].observed, first->observed) == 0;
		if (told)
			continue;
		rd_buf_str(out, "\n");
		add_word(ctx, RD_UNKNOWN, out);
		add_part(" ", first->observed, out);
		rd_buf_str(out, ":\n    ");
		for (size_t j = i; j < verdicts->n; j++)
			if (verdicts->v[j].result == RD_UNKNOWN && strcmp(verdicts->v[j].observed, first->observed) == 0)
				rd_buf_printf(out, " %s", verdicts->v[j].check->id);
		rd_buf_str(out, "\n");
	}
}

void topo_text(const struct rd_ctx *ctx, const struct checks *checks, struct rd_buf *out)
{
	const struct topo_opts *opts = ctx->state;
	const struct rd_verdicts *verdicts = &checks->verdicts;

	topo_headline(checks, out);
	rd_buf_str(out, "\n");
	for (size_t i = 0;
	     i < verdicts->n && verdicts->v[i].result >= RD_WARN && verdicts->v[i].result >= opts->severity;)
		i = add_problem(ctx, verdicts, i, out);
	if (opts->severity <= RD_UNKNOWN)
		add_unknown(ctx, verdicts, out);
	if (!ctx->globals.verbose || opts->severity > RD_PASS)
		return;
	rd_buf_str(out, "\n");
	for (size_t i = 0; i < verdicts->n; i++) {
		const struct rd_verdict *verdict = &verdicts->v[i];

		if (verdict->result > RD_PASS)
			continue;
		add_word(ctx, verdict->result, out);
		rd_buf_printf(out, " %s", verdict->check->id);
		add_part(": ", verdict->result == RD_PASS ? verdict->subject : verdict->observed, out);
		rd_buf_str(out, "\n");
	}
}
