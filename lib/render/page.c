/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a page that are not tables: headline, results of rules, notes. */
#include <string.h>

#include "render/render.h"

static void add_part(const char *before, const char *text, struct rd_buf *out)
{
	if (!text)
		return;
	rd_buf_str(out, before);
	rd_buf_safe(out, text, strlen(text));
}

void rd_render_headline(const struct rd_report *report, struct rd_buf *out)
{
	if (!report->headline)
		return;
	add_part("", report->headline, out);
	add_part(" | ", report->perfdata, out);
	rd_buf_str(out, "\n");
}

void rd_render_notes(const struct rd_report *report, struct rd_buf *out)
{
	for (size_t i = 0; i < report->notes.n; i++) {
		add_part(i == 0 ? "\n" : "", report->notes.v[i], out);
		rd_buf_str(out, "\n");
	}
}

static bool is_unknown(const struct rd_finding *finding)
{
	return finding->severity == RD_SEV_UNKNOWN && rd_finding_stands(finding);
}

/* Many rules are unknown for the same reason: each reason is printed once, with the ids of its rules; or, in one line, how many there
 * are, and the one that most rules have. */
static void add_unknown(const struct rd_findings *findings, bool verbose, struct rd_buf *out)
{
	size_t rules = 0, reasons = 0, most = 0;
	const char *frequent = NULL;

	for (size_t i = 0; i < findings->n; i++) {
		const struct rd_finding *first = &findings->v[i];
		bool known = !is_unknown(first);
		size_t n = 0;

		for (size_t j = 0; j < i && !known; j++)
			known = is_unknown(&findings->v[j]) && strcmp(findings->v[j].observed, first->observed) == 0;
		if (known)
			continue;
		if (verbose)
			add_part("\nunknown: ", first->observed, out);
		rd_buf_str(out, verbose ? ":\n    " : "");
		for (size_t j = i; j < findings->n; j++) {
			if (!is_unknown(&findings->v[j]) || strcmp(findings->v[j].observed, first->observed) != 0)
				continue;
			n++;
			if (verbose)
				rd_buf_printf(out, " %s", findings->v[j].id);
		}
		rd_buf_str(out, verbose ? "\n" : "");
		rules += n;
		reasons++;
		frequent = n > most ? first->observed : frequent;
		most = n > most ? n : most;
	}
	if (verbose || rules == 0)
		return;
	rd_buf_printf(out, "\nunknown: %zu rule%s, for %zu reason%s%s", rules, rules == 1 ? "" : "s", reasons,
		      reasons == 1 ? "" : "s", reasons == 1 ? "" : ", most often");
	add_part(": ", frequent, out);
	rd_buf_str(out, "; -v lists them\n");
}

/* Notes are adjacent, because findings are sorted. */
static struct rd_findings notes_of(const struct rd_findings *findings)
{
	struct rd_findings notes = { 0 };

	for (size_t i = 0; i < findings->n; i++)
		if (findings->v[i].severity == RD_SEV_NOTE && rd_finding_stands(&findings->v[i])) {
			notes.v = notes.v ? notes.v : &findings->v[i];
			notes.n++;
		}
	return notes;
}

/* Rules that passed or do not apply. */
static void add_rest(const struct rd_findings *findings, struct rd_buf *out)
{
	rd_buf_str(out, "\n");
	for (size_t i = 0; i < findings->n; i++) {
		const struct rd_finding *finding = &findings->v[i];

		if (finding->severity > RD_SEV_OK)
			continue;
		rd_buf_printf(out, "%s: %s", rd_severity_result(finding->severity), finding->id);
		add_part(": ", finding->severity == RD_SEV_OK ? finding->subject : finding->observed, out);
		rd_buf_str(out, "\n");
	}
}

static void add_results(const struct rd_findings *results, const struct rd_finding_style *style, struct rd_buf *out)
{
	const struct rd_finding_style plain = { .verbose = style->verbose };
	const struct rd_findings notes = notes_of(results);
	struct rd_finding_style faults = *style;
	_cleanup_buf_ struct rd_buf text = { 0 };

	faults.least = style->least > RD_SEV_WARNING ? style->least : RD_SEV_WARNING;
	rd_render_findings(results, &faults, &text);
	if (text.len > 0) {
		rd_buf_str(out, style->gaps ? "\n" : "");
		rd_buf_str(out, text.data);
	}
	if (notes.n > 0 && style->least <= RD_SEV_NOTE) {
		rd_buf_str(out, "\n");
		rd_render_findings(&notes, &plain, out);
	}
	if (style->least <= RD_SEV_UNKNOWN)
		add_unknown(results, style->verbose, out);
	if (style->verbose && style->least <= RD_SEV_OK)
		add_rest(results, out);
}

void rd_render_results(const struct rd_report *report, const struct rd_finding_style *style, struct rd_buf *out)
{
	size_t below = out->len;

	add_results(report->results ? report->results : &report->findings, style, out);
	for (size_t i = below; report->perfdata && i < out->len; i++)
		if (out->data[i] == '|')
			out->data[i] = '/';
}
