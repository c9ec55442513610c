/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of rules: tables of topo-check, the line of check, and its numbers as metrics. */
#include "report/host/report-check.h"

#include "base/buf.h"
#include "base/fix.h"
#include "model/host/host.h"

#define LINE_MAX_BYTES 512
#define STATUS_UNKNOWN 3

/* clang-format off */
const struct rd_column rd_check_columns[RD_CHECK_COLUMNS] = {
	[RD_CHECK_RESULT] = { "result", "RESULT", RD_T_STR, "pass, warn, fail, unknown (cannot be determined), skip (does not apply to this host)", 0, false },
	[RD_CHECK_ID] = { "id", "RULE", RD_T_STR, "rule ID", 0, false },
	[RD_CHECK_SUBJECT] = { "subject", "SUBJECT", RD_T_STR, "checked object: device, port, interface, bridge", 0, false },
	[RD_CHECK_OBSERVED] = { "observed", "OBSERVED", RD_T_STR, "observed value; for unknown and skip: the reason", 0, false },
	[RD_CHECK_EXPECTED] = { "expected", "EXPECTED", RD_T_STR, "expected value", 0, false },
	[RD_CHECK_TITLE] = { "title", "TITLE", RD_T_STR, "fault that the rule detects", 0, true },
	[RD_CHECK_WHY] = { "why", "WHY", RD_T_STR, "consequence of the fault", 0, true },
	[RD_CHECK_FIX] = { "fix", "FIX", RD_T_STR, "commands that fix it", 0, true },
	[RD_CHECK_ADVICE] = { "advice", "ADVICE", RD_T_STR, "what else to do", 0, true },
};

static const struct rd_column page_columns[] = {
	{ "name", "NAME", RD_T_STR, "name of the value", 0, false },
	{ "value", "VALUE", RD_T_STR, "value", 0, false },
};

static const struct rd_column rule_columns[] = {
	{ "id", "RULE", RD_T_STR, "rule ID", 0, false },
	{ "quick", "QUICK", RD_T_BOOL, "also run by rdmadiag check", 0, false },
	{ "title", "TITLE", RD_T_STR, "fault that the rule detects", 0, false },
	{ "why", "WHY", RD_T_STR, "consequence of the fault", 0, true },
	{ "fix", "FIX", RD_T_STR, "commands that fix it", 0, true },
	{ "advice", "ADVICE", RD_T_STR, "what else to do", 0, true },
	{ "needs", "NEEDS", RD_T_STR, "facts that the rule needs", 0, true },
};
/* clang-format on */

void rd_report_checks(struct rd_report *report, const struct rd_findings *findings, enum rd_severity least)
{
	struct rd_section *section = rd_report_add(report, RD_SECTION("checks", rd_check_columns));

	report->results = findings;
	for (size_t i = 0; i < findings->n; i++) {
		const struct rd_finding *finding = &findings->v[i];
		struct rd_row *row;

		if (finding->severity < least)
			continue;
		row = RD_ROW(section, RD_STR(rd_severity_result(finding->severity)), RD_STR(finding->id),
			     RD_STR(finding->subject), RD_STR(finding->observed), RD_STR(finding->expected),
			     RD_STR(finding->title), RD_STR(finding->why));
		row->severity = finding->severity;
		rd_row_fix(row, RD_CHECK_FIX, finding->fix);
		if (finding->severity > RD_SEV_OK)
			rd_finding_copy(&report->findings, finding);
	}
}

void rd_report_topo_headline(struct rd_report *report, const size_t *hidden)
{
	_cleanup_free_ char *others = hidden ? rd_text("; %zu about other devices hidden", *hidden) : NULL;
	const struct rd_findings *f = report->results;
	size_t criticals = rd_findings_count(f, RD_SEV_CRITICAL), warnings = rd_findings_count(f, RD_SEV_WARNING);

	report->headline =
		rd_text("topo-check%s%s: %zu critical, %zu warning%s, %zu unknown; %zu passed, %zu not applicable%s",
			report->host ? " of " : "", report->host ?: "", criticals, warnings, warnings == 1 ? "" : "s",
			rd_findings_count(f, RD_SEV_UNKNOWN),
			rd_findings_count(f, RD_SEV_OK) + rd_findings_count(f, RD_SEV_NOTE),
			rd_findings_count(f, RD_SEV_SKIP), others ?: "");
}

struct rd_section *rd_report_check_detail(const struct rd_section *checks, size_t row)
{
	struct rd_section *page = RD_SECTION("check", page_columns);

	for (size_t c = 0; c < RD_CHECK_COLUMNS; c++) {
		const struct rd_cell *cell = &checks->rows[row].cells[c];

		RD_ROW(page, RD_STR(checks->columns[c].key), RD_STR(cell->known == RD_OK ? cell->s : NULL));
	}
	return page;
}

void rd_report_rules(struct rd_report *report, const struct rd_check *const *checks, size_t n)
{
	struct rd_section *section = rd_report_add(report, RD_SECTION("rules", rule_columns));

	for (size_t i = 0; i < n; i++) {
		const struct rd_check *check = checks[i];
		_cleanup_free_ char *commands = rd_fix_commands(check->fix), *advice = rd_fix_advice(check->fix);

		RD_ROW(section, RD_STR(check->id), RD_BOOL(!check->thorough), RD_STR(check->title), RD_STR(check->why),
		       RD_STR(commands), RD_STR(advice), RD_STR(check->needs));
	}
}

/* What an operator calls a PCI function; NULL: it has no other name. */
static char *name_of(const struct rd_host *host, const char *subject)
{
	int pci = rd_host_find_pci(host, subject), gpu = rd_host_gpu_at(host, pci), dev = rd_host_ibdev_at(host, pci);

	if (dev >= 0 && host->ibdevs[dev].name)
		return rd_dup(host->ibdevs[dev].name);
	if (gpu >= 0)
		return rd_text("GPU%d", gpu);
	for (size_t i = 0; i < host->n_netdevs && pci >= 0; i++)
		if (host->netdevs[i].pci == pci)
			return rd_dup(host->netdevs[i].name);
	return NULL;
}

static bool is_problem(const struct rd_finding *finding)
{
	return finding->severity >= RD_SEV_WARNING && rd_finding_stands(finding);
}

/* "3 more: fault; fault" */
static void add_others(const struct rd_findings *findings, struct rd_buf *out)
{
	const char *last = findings->v[0].title;
	size_t n = 0;

	while (n + 1 < findings->n && is_problem(&findings->v[n + 1]))
		n++;
	if (n == 0)
		return;
	rd_buf_printf(out, "; %zu more", n);
	for (size_t i = 1, named = 0; i <= n; i++) {
		if (strcmp(findings->v[i].title, last) != 0)
			rd_buf_printf(out, "%s%s", named++ ? "; " : ": ", findings->v[i].title);
		last = findings->v[i].title;
	}
}

static const char *word(int status)
{
	static const char *const words[] = { "OK", "WARNING", "CRITICAL", "UNKNOWN" };

	return words[status >= 0 && status < STATUS_UNKNOWN ? status : STATUS_UNKNOWN];
}

/* The text, shortened, without "|": in plugin output the first bar starts the performance data. */
static char *finish_text(struct rd_buf *text)
{
	if (text->len > LINE_MAX_BYTES) {
		size_t end = LINE_MAX_BYTES;

		while (end > 0 && (text->data[end] & 0xc0) == 0x80)
			end--;
		text->len = end;
		text->data[end] = '\0';
		rd_buf_str(text, "...");
	}
	for (char *p = text->data; (p = strchr(p, '|'));)
		*p = '/';
	return RD_TAKE(text->data);
}

/* Why there is no verdict. */
static void add_reason(const struct rd_findings *findings, const struct rd_errlist *unread, const char *no_rdma,
		       struct rd_buf *out)
{
	bool undecided = false;

	for (size_t i = 0; i < findings->n; i++)
		undecided |= findings->v[i].undecided && rd_finding_stands(&findings->v[i]);
	if (no_rdma) {
		rd_buf_str(out, no_rdma);
	} else if (undecided && unread->n > 0) {
		rd_buf_part(out, "failed read: ", unread->v[0].object);
		rd_buf_printf(out, ": %s", rd_errno_text(unread->v[0].code));
	} else {
		rd_buf_str(out, undecided ? "whether a job of the user can use RDMA is unknown" :
					    "a rule that the profile requires is unknown");
	}
}

void rd_report_check_line(struct rd_report *report, const struct rd_host *host, const struct rd_check_numbers *numbers,
			  const struct rd_errlist *unread, const char *no_rdma)
{
	const struct rd_findings *findings = report->results;
	size_t unknown = numbers->results[RD_SEV_UNKNOWN];
	_cleanup_free_ char *passed = NULL, *name = NULL;
	struct rd_buf text = { 0 };

	rd_buf_printf(&text, "RDMA %s - ", word(report->status));
	if (report->status == STATUS_UNKNOWN) {
		add_reason(findings, unread, no_rdma, &text);
	} else if (findings->n > 0 && is_problem(&findings->v[0])) {
		/* "mlx5_0 (0000:1b:00.0): fault: observed value" */
		name = name_of(host, findings->v[0].subject);
		rd_buf_part(&text, "", name);
		rd_buf_part(&text, name ? " (" : "", findings->v[0].subject);
		rd_buf_part(&text, name ? "): " : ": ", findings->v[0].title);
		rd_buf_part(&text, ": ", findings->v[0].observed);
		add_others(findings, &text);
	} else {
		rd_buf_printf(&text, "%zu of %s%zu ports active, %zu rules passed", numbers->active,
			      numbers->at_least ? "at least " : "", numbers->ports, numbers->results[RD_SEV_OK]);
	}
	if (unknown && !no_rdma)
		rd_buf_printf(&text, ", %zu unknown", unknown);
	if (numbers->muted)
		rd_buf_printf(&text, ", %zu muted", numbers->muted);
	report->headline = finish_text(&text);
	/* The number that passed means nothing without RDMA: U, as plugins print it. */
	passed = no_rdma ? rd_dup("U") : rd_text("%zu", numbers->results[RD_SEV_OK]);
	report->perfdata = rd_text(
		"failed=%zu;;0;0 warned=%zu;0;;0 unknown=%zu;;;0 passed=%s;;;0 ports=%zu;;;0 active=%zu;;;0;%zu",
		numbers->results[RD_SEV_CRITICAL], numbers->results[RD_SEV_WARNING], unknown, passed, numbers->ports,
		numbers->active, numbers->ports);
}

void rd_report_check_failure(struct rd_report *report, const struct rd_err *err)
{
	struct rd_buf text = { 0 };

	rd_buf_printf(&text, "RDMA %s - ", word(STATUS_UNKNOWN));
	rd_buf_safe(&text, err->object, strlen(err->object));
	rd_buf_part(&text, ": ", err->message);
	report->headline = finish_text(&text);
}

void rd_report_check_metrics(struct rd_report *report, const struct rd_check_numbers *numbers)
{
	struct rd_metrics *metrics = &report->metrics;
	struct rd_metric *results = rd_metrics_family(metrics, "check_results", RD_METRIC_GAUGE, NULL,
						      "Number of rule results, by result.");
	struct rd_metric *ports = rd_metrics_family(metrics, "check_ports", RD_METRIC_GAUGE, NULL,
						    "Number of RDMA ports: active, and all.");
	struct rd_label active = { "state", "active" }, all = { "state", "all" };

	for (enum rd_severity i = RD_SEV_SKIP; i <= RD_SEV_CRITICAL; i++)
		if (i != RD_SEV_NOTE)
			rd_metric_uint(results, numbers->results[i],
				       &(struct rd_label){ "result", rd_severity_result(i) }, 1);
	rd_metric_uint(ports, numbers->active, &active, 1);
	rd_metric_uint(ports, numbers->ports, &all, 1);
}
