/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings of rules as text, for topo-check and check -v. */
#include <string.h>

#include "checks.h"

static void add_part(const char *before, const char *text, struct rd_buf *out)
{
	if (!text)
		return;
	rd_buf_str(out, before);
	rd_buf_safe(out, text, strlen(text));
}

/* Many rules are unknown for the same reason: each reason is printed once, with the ids of its rules. */
static void add_unknown(const struct rd_findings *findings, struct rd_buf *out)
{
	for (size_t i = 0; i < findings->n; i++) {
		const struct rd_finding *first = &findings->v[i];
		bool printed = first->severity != RD_SEV_UNKNOWN || !rd_finding_stands(first);

		for (size_t j = 0; j < i && !printed; j++)
			printed = findings->v[j].severity == RD_SEV_UNKNOWN &&
				  strcmp(findings->v[j].observed, first->observed) == 0;
		if (printed)
			continue;
		add_part("\nunknown: ", first->observed, out);
		rd_buf_str(out, ":\n    ");
		for (size_t j = i; j < findings->n; j++)
			if (findings->v[j].severity == RD_SEV_UNKNOWN && rd_finding_stands(&findings->v[j]) &&
			    strcmp(findings->v[j].observed, first->observed) == 0)
				rd_buf_printf(out, " %s", findings->v[j].id);
		rd_buf_str(out, "\n");
	}
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

void checks_text(const struct rd_ctx *ctx, const struct rd_findings *findings, enum rd_severity least, bool why,
		 struct rd_buf *out)
{
	const struct rd_finding_style style = {
		.colour = ctx->globals.style.colour,
		.verbose = ctx->globals.verbose,
		.why = why,
		.gaps = why,
		.least = least > RD_SEV_WARNING ? least : RD_SEV_WARNING,
	};
	const struct rd_finding_style plain = { .verbose = style.verbose };
	const struct rd_findings notes = notes_of(findings);
	_cleanup_buf_ struct rd_buf text = { 0 };

	rd_render_findings(findings, &style, &text);
	if (text.len > 0) {
		rd_buf_str(out, why ? "\n" : "");
		rd_buf_str(out, text.data);
	}
	if (notes.n > 0 && least <= RD_SEV_NOTE) {
		rd_buf_str(out, "\n");
		rd_render_findings(&notes, &plain, out);
	}
	if (least <= RD_SEV_UNKNOWN)
		add_unknown(findings, out);
	if (style.verbose && least <= RD_SEV_OK)
		add_rest(findings, out);
}
