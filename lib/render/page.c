/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings as text, and the parts of a page that are not tables. */
#include "render/render.h"

#include "base/fix.h"

/* Findings as text: subject and fault, then the fix. The same in every command. */

#define SUBJECTS_SHOWN 6 /* of one id and severity */

struct page {
	const struct rd_findings *findings;
	const struct rd_finding_style *style;
	struct rd_buf *out;
};

static void add_word(const struct page *page, const struct rd_finding *finding)
{
	static const char *const colours[RD_SEVERITIES] = {
		[RD_SEV_CRITICAL] = "\033[1;31m", [RD_SEV_WARNING] = "\033[1;33m", [RD_SEV_UNKNOWN] = "\033[36m"
	};
	const char *colour = page->style->colour && !finding->muted ? colours[finding->severity] : NULL;

	rd_buf_printf(page->out, "%s%s%s:", colour ?: "",
		      finding->muted ? "muted" : rd_severity_name(finding->severity), colour ? "\033[0m" : "");
}

static bool is_alike(const struct rd_finding *a, const struct rd_finding *b)
{
	return a->severity == b->severity && strcmp(a->id, b->id) == 0 && strcmp(a->title, b->title) == 0 &&
	       !a->muted == !b->muted && !a->caused_by.id == !b->caused_by.id;
}

/* A line each: the first behind `label`, the others below it. */
static void add_lines(struct rd_buf *out, const char *label, const char *text)
{
	for (size_t size, n = 0; text && *text; text += size + (text[size] == '\n'), n++) {
		size = strcspn(text, "\n");
		rd_buf_printf(out, "%*s", (int)strlen(label), n == 0 ? label : "");
		rd_buf_safe(out, text, size);
		rd_buf_str(out, "\n");
	}
}

/* Of `n` findings, of which `shown` have been listed: those of the others only in a loop. */
static void add_todo(const char *const *fixes, size_t n, size_t shown, const char *before, const char *before_advice,
		     struct rd_buf *out)
{
	_cleanup_free_ char *all = rd_fix_join(fixes, n), *some = rd_fix_join(fixes, shown);

	add_lines(out, before, n > shown && all && strncmp(all, "for ", 4) != 0 ? some : all);
	for (size_t i = 0; i < shown; i++) {
		_cleanup_free_ char *advice = rd_fix_advice(fixes[i]);
		bool known = false;

		for (size_t k = 0; k < i && !known && advice; k++) {
			_cleanup_free_ char *other = rd_fix_advice(fixes[k]);

			known = other && strcmp(other, advice) == 0;
		}
		if (!known)
			add_lines(out, before_advice, advice);
	}
}

void rd_render_fix(const char *fix, struct rd_buf *out)
{
	add_todo(&fix, 1, 1, "  fix: ", "  advice: ", out);
}

/* About `n` findings that are alike; caller frees. */
static const char **fixes_of(const struct rd_finding *first, size_t n)
{
	const char **fixes = rd_alloc(n, sizeof(*fixes));

	for (size_t i = 0; i < n; i++)
		fixes[i] = first[i].fix;
	return fixes;
}

/* Consequences: each with -v, else their ids. */
static void add_consequences(const struct page *page, const struct rd_finding *cause)
{
	const char *last = "";
	size_t n = 0;

	for (size_t i = 0; i < page->findings->n; i++) {
		const struct rd_finding *finding = &page->findings->v[i];

		if (finding->muted || !rd_finding_is_caused_by(finding, cause))
			continue;
		if (page->style->verbose) {
			rd_buf_part(page->out, "  therefore: ", finding->subject);
			rd_buf_part(page->out, ": ", finding->title);
			rd_buf_part(page->out, "; ", finding->observed);
			rd_buf_printf(page->out, " [%s]\n", finding->id);
			continue;
		}
		if (strcmp(finding->id, last) != 0)
			rd_buf_printf(page->out, "%s%s", n++ == 0 ? "  therefore also: " : ", ", finding->id);
		last = finding->id;
	}
	if (n > 0)
		rd_buf_str(page->out, "\n");
}

static void add_tail(const struct page *page, const struct rd_finding *finding)
{
	if (page->style->why && finding->why) {
		rd_buf_part(page->out, "  why: ", finding->why);
		rd_buf_str(page->out, "\n");
	}
	if (finding->muted) {
		rd_buf_part(page->out, "  muted ", finding->muted);
		rd_buf_str(page->out, "\n");
	}
}

/* Of the node that the subject names. */
static void add_guid(struct rd_buf *out, const struct rd_finding *finding)
{
	if (finding->node_guid && !strstr(finding->subject, "0x"))
		rd_buf_printf(out, ", 0x%016" PRIx64, finding->node_guid);
}

static void add_one(const struct page *page, const struct rd_finding *finding)
{
	add_word(page, finding);
	rd_buf_part(page->out, " ", finding->subject);
	rd_buf_part(page->out, ": ", finding->title);
	rd_buf_part(page->out, "; ", finding->observed);
	rd_buf_part(page->out, "; expected: ", finding->expected);
	rd_buf_printf(page->out, " [%s", finding->id);
	add_guid(page->out, finding);
	rd_buf_str(page->out, "]\n");
	rd_render_fix(finding->fix, page->out);
	add_consequences(page, finding);
	add_tail(page, finding);
}

/* Several findings of one rule: the fault once, then the subjects, then what to do about all. */
static void add_several(const struct page *page, const struct rd_finding *first, size_t n)
{
	_cleanup_free_ const char **fixes = fixes_of(first, n);
	size_t shown = n > SUBJECTS_SHOWN && !page->style->verbose ? SUBJECTS_SHOWN - 1 : n;

	add_word(page, first);
	rd_buf_part(page->out, " ", first->subject);
	rd_buf_printf(page->out, " and %zu more", n - 1);
	rd_buf_part(page->out, ": ", first->title);
	rd_buf_printf(page->out, " [%s]\n", first->id);
	for (size_t i = 0; i < shown; i++) {
		rd_buf_part(page->out, "    ", first[i].subject);
		add_guid(page->out, &first[i]);
		rd_buf_part(page->out, ": ", first[i].observed);
		rd_buf_part(page->out, "; expected: ", first[i].expected);
		rd_buf_str(page->out, "\n");
	}
	if (n > shown)
		rd_buf_printf(page->out, "    and %zu more, use -v to list all\n", n - shown);
	add_todo(fixes, n, shown, "  fix: ", "  advice: ", page->out);
	for (size_t i = 0; i < n; i++)
		add_consequences(page, &first[i]);
	add_tail(page, first);
}

static struct {
	rd_take_finding *take;
	unsigned last;
} numbers;

void rd_render_number_findings(rd_take_finding *take)
{
	numbers.take = take;
	numbers.last = 0;
}

void rd_render_restart_numbers(void)
{
	numbers.last = 0;
}

/* Numbers `n` findings that are alike, and passes them on with all that is known about them. */
static void number_findings(const struct page *page, const struct rd_finding *first, size_t n)
{
	_cleanup_buf_ struct rd_buf all = { 0 }, todo = { 0 };
	_cleanup_free_ const char **fixes = fixes_of(first, n);
	const struct rd_finding_style style = { .verbose = true, .why = true };
	const struct page whole = { page->findings, &style, &all };

	if (!numbers.take)
		return;
	rd_buf_printf(page->out, "[%u] ", ++numbers.last);
	if (n == 1)
		add_one(&whole, first);
	else
		add_several(&whole, first, n);
	rd_buf_str(&todo, "");
	add_todo(fixes, n, n, "", "# ", &todo);
	numbers.take(numbers.last, all.data, todo.data);
}

void rd_render_findings(const struct rd_findings *findings, const struct rd_finding_style *style, struct rd_buf *out)
{
	struct page page = { findings, style, out };
	size_t muted = 0, printed = 0;

	for (size_t i = 0, n; i < findings->n; i += n) {
		const struct rd_finding *finding = &findings->v[i];

		for (n = 1; i + n < findings->n && is_alike(finding, &findings->v[i + n]);)
			n++;
		if (finding->muted)
			muted += n;
		if (finding->severity < style->least || finding->caused_by.id || (finding->muted && !style->verbose))
			continue;
		if (style->gaps && printed++ > 0)
			rd_buf_str(out, "\n");
		number_findings(&page, finding, n);
		if (n == 1)
			add_one(&page, finding);
		else
			add_several(&page, finding, n);
	}
	if (muted > 0 && !style->verbose)
		rd_buf_printf(out, "%zu muted by the profile, use -v to list %s\n", muted, muted == 1 ? "it" : "them");
}

/* The parts of a page that are not tables: headline, results of rules, notes. */

void rd_render_headline(const struct rd_report *report, struct rd_buf *out)
{
	if (!report->headline)
		return;
	rd_buf_part(out, "", report->headline);
	rd_buf_part(out, " | ", report->perfdata);
	rd_buf_str(out, "\n");
}

void rd_render_notes(const struct rd_report *report, struct rd_buf *out)
{
	for (size_t i = 0; i < report->notes.n; i++) {
		rd_buf_part(out, i == 0 ? "\n" : "", report->notes.v[i]);
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
			rd_buf_part(out, "\nunknown: ", first->observed);
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
	rd_buf_part(out, ": ", frequent);
	rd_buf_str(out, "; -v lists them\n");
}

void rd_render_results(const struct rd_report *report, const struct rd_finding_style *style, struct rd_buf *out)
{
	size_t below = out->len;
	const struct rd_findings *results = report->results ?: &report->findings;
	const struct rd_finding_style plain = { .verbose = style->verbose };
	struct rd_finding_style faults = *style;
	_cleanup_buf_ struct rd_buf text = { 0 };
	struct rd_findings notes = { 0 };

	/* Notes are adjacent, because findings are sorted. */
	for (size_t i = 0; i < results->n; i++)
		if (results->v[i].severity == RD_SEV_NOTE && rd_finding_stands(&results->v[i])) {
			notes.v = notes.v ?: &results->v[i];
			notes.n++;
		}
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
	if (style->verbose && style->least <= RD_SEV_OK) {
		/* Rules that passed or do not apply. */
		rd_buf_str(out, "\n");
		for (size_t i = 0; i < results->n; i++) {
			const struct rd_finding *finding = &results->v[i];

			if (finding->severity > RD_SEV_OK)
				continue;
			rd_buf_printf(out, "%s: %s", rd_severity_result(finding->severity), finding->id);
			rd_buf_part(out, ": ", finding->severity == RD_SEV_OK ? finding->subject : finding->observed);
			rd_buf_str(out, "\n");
		}
	}
	for (size_t i = below; report->perfdata && i < out->len; i++)
		if (out->data[i] == '|')
			out->data[i] = '/';
}
