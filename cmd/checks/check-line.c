/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first line of check, and the details of -v below it. */
#include "check-line.h"
#include "base/no-rdma.h"
#include "check/shared/unread.h"

#include <stdio.h>
#include <string.h>

#define LINE_MAX_BYTES 512

void check_result_deinit(struct check_result *result)
{
	checks_deinit(&result->checks);
	rd_findings_deinit(&result->moved);
	rd_stalls_deinit(&result->stalls);
}

/* Counts a port. Spare ports and unused virtual functions are down by design, and count only if active. */
static void count_port(const struct rd_port_views *views, size_t p, struct check_numbers *ret)
{
	bool active = rd_port_active(&views->host->ports[p]);

	ret->active += active;
	ret->ports += active || !rd_port_is_aside(views, p);
}

void check_count(const struct check_result *result, struct check_numbers *ret)
{
	const struct rd_host *host = &result->checks.host;

	*ret = (struct check_numbers){ 0 };
	for (size_t i = 0; i < result->checks.findings.n; i++) {
		const struct rd_finding *finding = &result->checks.findings.v[i];

		ret->muted += finding->muted != NULL;
		if (rd_finding_stands(finding))
			ret->results[finding->severity == RD_SEV_NOTE ? RD_SEV_OK : finding->severity]++;
	}
	for (size_t i = 0; i < host->n_ports; i++)
		count_port(&result->checks.map.ports, i, ret);
	/* A device has at least one port. */
	for (size_t i = 0; i < host->n_ibdevs; i++)
		ret->ports += host->ibdevs[i].ports_unread;
	/* Which ports are left out depends on PCI data. */
	ret->at_least = rd_check_unread(result->checks.in.unread, RD_PART_PCI | RD_PART_RDMA) != NULL;
}

static void add_problem(const struct rd_finding *finding, struct rd_buf *out)
{
	const char *parts[] = { finding->subject, finding->title, finding->observed };

	for (size_t i = 0; i < RD_ARRAY_SIZE(parts); i++) {
		if (!parts[i])
			continue;
		rd_buf_str(out, i == 0 ? "" : ": ");
		rd_buf_safe(out, parts[i], strlen(parts[i]));
	}
}

static bool is_problem(const struct rd_finding *finding)
{
	return finding->severity >= RD_SEV_WARNING && rd_finding_stands(finding);
}

/* "3 more: rule rule" */
static void add_others(const struct rd_findings *findings, struct rd_buf *out)
{
	const char *last = "";
	size_t n = 0;

	while (n + 1 < findings->n && is_problem(&findings->v[n + 1]))
		n++;
	if (n == 0)
		return;
	rd_buf_printf(out, "; %zu more:", n);
	for (size_t i = 1; i <= n; i++) {
		if (strcmp(findings->v[i].id, last) != 0)
			rd_buf_printf(out, " %s", findings->v[i].id);
		last = findings->v[i].id;
	}
}

static const char *word(int status)
{
	static const char *const words[] = { "OK", "WARNING", "CRITICAL", "UNKNOWN" };

	return words[status >= 0 && status <= 3 ? status : 3];
}

/* Shortens the text, and replaces "|": in plugin output the first bar starts the performance data. */
static void finish_text(struct rd_buf *text)
{
	if (!text->data)
		return;
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
}

/* Why there is no verdict. */
static void add_reason(const struct check_result *result, struct rd_buf *out)
{
	const struct rd_errlist *unread = &result->checks.unread;
	const struct rd_findings *findings = &result->checks.findings;
	bool undecided = false;

	for (size_t i = 0; i < findings->n; i++)
		undecided |= findings->v[i].undecided && rd_finding_stands(&findings->v[i]);
	if (result->no_rdma) {
		rd_buf_str(out, result->no_rdma);
	} else if (undecided && unread->n > 0) {
		rd_buf_str(out, "failed read: ");
		rd_buf_safe(out, unread->v[0].object, strlen(unread->v[0].object));
		rd_buf_printf(out, ": %s", rd_errno_text(unread->v[0].code));
	} else {
		rd_buf_str(out, "a rule that the profile requires is unknown");
	}
}

static void add_ports(const struct check_numbers *numbers, struct rd_buf *out)
{
	rd_buf_printf(out, "%zu of %s%zu ports active, %zu rules passed", numbers->active,
		      numbers->at_least ? "at least " : "", numbers->ports, numbers->results[RD_SEV_OK]);
}

void check_line(const struct check_result *result, const struct check_numbers *numbers, struct rd_buf *out)
{
	const struct rd_findings *findings = &result->checks.findings;
	_cleanup_buf_ struct rd_buf text = { 0 };
	int status = result->status;
	size_t unknown = numbers->results[RD_SEV_UNKNOWN];

	rd_buf_printf(&text, "RDMA %s - ", word(status));
	if (status == RD_EXIT_UNKNOWN) {
		add_reason(result, &text);
	} else if (findings->n > 0 && is_problem(&findings->v[0])) {
		add_problem(&findings->v[0], &text);
		add_others(findings, &text);
	} else {
		add_ports(numbers, &text);
	}
	if (unknown)
		rd_buf_printf(&text, ", %zu unknown", unknown);
	if (numbers->muted)
		rd_buf_printf(&text, ", %zu muted", numbers->muted);
	finish_text(&text);
	rd_buf_str(out, text.data ? text.data : "");
	rd_buf_printf(
		out,
		" | failed=%zu;;0;0 warned=%zu;0;;0 unknown=%zu;;;0 passed=%zu;;;0 ports=%zu;;;0 active=%zu;;;0;%zu\n",
		numbers->results[RD_SEV_CRITICAL], numbers->results[RD_SEV_WARNING], unknown,
		numbers->results[RD_SEV_OK], numbers->ports, numbers->active, numbers->ports);
}

void check_details(const struct rd_ctx *ctx, const struct check_result *result, struct rd_buf *out)
{
	_cleanup_buf_ struct rd_buf text = { 0 };

	checks_text(ctx, &result->checks.findings, RD_SEV_OK, false, &text);
	/* A bar starts performance data in long output, too. */
	for (size_t i = 0; i < text.len; i++)
		if (text.data[i] == '|')
			text.data[i] = '/';
	rd_buf_str(out, text.data ? text.data : "");
}

void check_no_rdma(struct check_result *result)
{
	struct rd_err *err = &result->why;
	int error = result->checks.host.rdma_error;

	if (error == 0)
		result->no_rdma = RD_NO_RDMA_DEVICE " (is the NIC driver loaded?)";
	else if (rd_could_not_look(-error))
		result->no_rdma = "cannot list RDMA devices";
	else
		result->no_rdma = RD_NO_RDMA_STACK " (modprobe ib_core, or load the NIC driver)";
	rd_no_rdma(error, err);
	rd_errlist_add(&result->checks.report.errors, err);
	result->checks.report.status = RD_EXIT_UNKNOWN;
}

void check_failure(const struct rd_ctx *ctx, const struct rd_err *err)
{
	_cleanup_buf_ struct rd_buf text = { 0 };

	if (ctx->globals.json || ctx->globals.openmetrics)
		return;
	rd_buf_str(&text, "RDMA UNKNOWN - ");
	rd_buf_safe(&text, err->object, strlen(err->object));
	rd_buf_str(&text, ": ");
	rd_buf_safe(&text, err->message, strlen(err->message));
	finish_text(&text);
	rd_buf_str(&text, "\n");
	rd_out(&text);
}
