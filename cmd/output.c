/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output to standard output and standard error; a report as tables, with findings and notes below. */
#include "cmd.h"
#include "source/opener/child.h"
#include "source/opener/opener.h"

#include <time.h>

#include "collect/host/host.h"

/* The first write error on standard output. Nothing is written after it: the document would have a hole. */
static int out_failure;

int rd_out_failure(void)
{
	return out_failure;
}

int rd_out(const struct rd_buf *buf)
{
	if (!out_failure)
		out_failure = -rd_write_all(STDOUT_FILENO, buf->data, buf->len);
	return -out_failure;
}

/* Of a buffer: writes each piece to standard output when it is full. */
static void write_piece(const struct rd_buf *buf)
{
	rd_out(buf);
}

struct rd_buf rd_out_pieces(void)
{
	return (struct rd_buf){ .take = write_piece };
}

/* Each line in a single write, so that lines of several processes do not mix. */
static void err_write(const struct rd_buf *buf)
{
	ssize_t ignored = buf->data ? write(STDERR_FILENO, buf->data, buf->len) : 0;

	(void)ignored; /* no other place to report it */
}

void rd_out_beside(const struct rd_ctx *ctx, const struct rd_buf *buf)
{
	if (ctx->globals.rows_only)
		err_write(buf);
	else
		rd_out(buf);
}

static void write_message(const char *fmt, va_list ap)
{
	_cleanup_buf_ struct rd_buf line = { 0 };
	_cleanup_free_ char *text = rd_vtext(fmt, ap);

	rd_buf_part(&line, RD_PROGRAM ": ", text);
	rd_buf_str(&line, "\n");
	err_write(&line);
}

void rd_warn(const struct rd_ctx *ctx, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	write_message(fmt, ap);
	va_end(ap);
}

/* NULL: the message says it better than the text of this errno would. */
static const char *errno_text(int code)
{
	return code && code != EBADMSG && code != E2BIG && code != ENODATA ? rd_errno_text(code) : NULL;
}

void rd_warn_errors(const struct rd_ctx *ctx, const struct rd_errlist *errors, size_t from)
{
	for (size_t i = from; i < errors->n; i++) {
		const struct rd_err *err = &errors->v[i];
		const char *text = errno_text(err->code);

		rd_warn(ctx, "%s: %s%s%s%s%s", err->object, err->message, text ? ": " : "", text ?: "",
			err->hint[0] ? "; " : "", err->hint);
	}
}

void rd_verbose(const struct rd_ctx *ctx, const char *fmt, ...)
{
	va_list ap;

	if (!ctx->globals.verbose)
		return;
	va_start(ap, fmt);
	write_message(fmt, ap);
	va_end(ap);
}

void rd_verbose_line(void *ctx, const char *line)
{
	rd_verbose(ctx, "%s", line);
}

static void print_err(const struct rd_err *err, bool with_errno)
{
	_cleanup_buf_ struct rd_buf lines = { 0 };

	rd_buf_str(&lines, RD_PROGRAM ": ");
	if (err->object[0]) {
		rd_buf_safe(&lines, err->object, strlen(err->object));
		rd_buf_str(&lines, ": ");
	}
	rd_buf_safe(&lines, err->message, strlen(err->message));
	if (with_errno && err->code) {
		const char *name = rd_errno_name(err->code), *text = errno_text(err->code);

		rd_buf_printf(&lines, "%s%s (", text ? ": " : "", text ?: "");
		if (name)
			rd_buf_printf(&lines, "%s)", name);
		else
			rd_buf_printf(&lines, "%d)", err->code);
	}
	rd_buf_str(&lines, "\n");
	if (err->hint[0]) {
		rd_buf_part(&lines, "  try: ", err->hint);
		rd_buf_str(&lines, "\n");
	}
	err_write(&lines);
}

int rd_fail(struct rd_ctx *ctx, const struct rd_err *err)
{
	print_err(err, true);
	if (ctx && (ctx->globals.json || rd_metrics_wanted(ctx)) && ctx->cmd && ctx->source && !ctx->printed) {
		struct rd_report report;

		rd_output_init(ctx, &report);
		rd_errlist_add(&report.errors, err);
		report.status = RD_EXIT_UNKNOWN;
		ctx->printed = true;
		rd_output_print(ctx, &report);
		rd_report_deinit(&report);
	}
	return RD_EXIT_UNKNOWN;
}

void rd_no_rdma(const struct rd_ctx *ctx, int error, struct rd_err *err)
{
	if (rd_could_not_look(-error)) {
		rd_err_set(err, error, "/sys/class/infiniband", "cannot list RDMA devices");
		rd_err_hint(err, "%s",
			    error == EMFILE			  ? "ulimit -n 1024" :
			    error == ETIMEDOUT || error == ECHILD ? RD_PROGRAM
				    " check --deadline SECONDS, with a larger value" :
								    "run as root; ls -l /sys/class/infiniband");
		return;
	}
	if (error == 0)
		rd_no_rdma_device(err);
	else
		rd_no_rdma_stack(err);
	rd_no_rdma_reason(ctx->source, ctx->globals.from != NULL, err);
}

int rd_fail_usage(const struct rd_cmd *cmd, const struct rd_err *err)
{
	struct rd_err shown = *err;

	if (!shown.hint[0])
		rd_err_hint(&shown, RD_PROGRAM "%s%s%s%s --help", cmd ? " " : "", cmd ? cmd->name : "",
			    cmd && cmd->option ? " --" : "", cmd && cmd->option ? cmd->option : "");
	print_err(&shown, false);
	return RD_EXIT_UNKNOWN;
}

void rd_output_init(const struct rd_ctx *ctx, struct rd_report *report)
{
	struct rd_err err;
	int r;

	rd_render_restart_numbers();
	rd_report_init(report, ctx->schema);
	report->time = ctx->source->ops->now(ctx->source, CLOCK_REALTIME);
	report->source = ctx->source->ops->name;
	if (ctx->globals.from)
		RD_SET(report->read_at, rd_clock_ns(CLOCK_REALTIME));
	/* The report is of another file than a bundle, and not of this host. */
	if (ctx->globals.from && strcmp(ctx->source->ops->name, "live") == 0)
		return;
	r = rd_read_textf(ctx->source, &report->host, &err, "/proc/sys/kernel/hostname");
	if (r < 0 && r != -ENOENT)
		rd_errlist_add(&report->errors, &err);
}

int rd_output_textfile(const struct rd_ctx *ctx, const struct rd_report *report, struct rd_err *err)
{
	_cleanup_buf_ struct rd_buf page = { 0 };

	if (!ctx->globals.textfile)
		return 0;
	rd_render_metrics(report, ctx->cmd->name, RD_VERSION, RD_PROMETHEUS_TEXT, &page);
	return rd_replace_file(ctx->globals.textfile, &page, err);
}

bool rd_output_incomplete(const struct rd_ctx *ctx, struct rd_report *report, bool listings)
{
	const struct rd_err *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < report->errors.n; i++) {
		const struct rd_err *err = &report->errors.v[i];

		if (!rd_could_not_look(-err->code) || strncmp(err->object, "/sys/", 5) != 0 ||
		    (listings && !err->listing))
			continue;
		first = first ?: err;
		n++;
	}
	if (!first)
		return false;
	rd_warn(ctx, "%s: cannot be read: rows may be missing or wrong: %s (%zu read%s failed)", first->object,
		rd_errno_text(first->code), n, n == 1 ? "" : "s");
	report->status = RD_EXIT_UNKNOWN;
	return true;
}

int rd_output_print(struct rd_ctx *ctx, const struct rd_report *report)
{
	_cleanup_buf_ struct rd_buf out = rd_out_pieces();
	struct rd_err err = { 0 };
	int r = 0;

	if (ctx->globals.openmetrics)
		rd_render_metrics(report, ctx->cmd->name, RD_VERSION, RD_OPENMETRICS, &out);
	else if (ctx->globals.json)
		(ctx->lines ? rd_render_json_line : rd_render_json)(report, RD_VERSION, &out);
	else if (report->n_sections > 0 && !ctx->globals.textfile)
		r = rd_render_table(report->sections[0], &ctx->globals.style, &out, &err);
	if (r < 0)
		return rd_fail_usage(ctx->cmd, &err);
	ctx->printed = true;
	rd_out(&out);
	return rd_output_textfile(ctx, report, &err) < 0 ? rd_fail(ctx, &err) : report->status;
}

const struct rd_section *rd_report_section(const struct rd_report *report, const char *key)
{
	for (size_t i = 0; i < report->n_sections; i++)
		if (strcmp(report->sections[i]->key, key) == 0)
			return report->sections[i];
	return NULL;
}

void rd_output_findings(const struct rd_ctx *ctx, const struct rd_report *report, struct rd_buf *out)
{
	const struct rd_finding_style style = { .colour = ctx->globals.style.colour, .verbose = ctx->globals.verbose };

	rd_render_findings(&report->findings, &style, out);
}

int rd_output_tables(struct rd_ctx *ctx, const struct rd_report *report, const struct rd_section *const *sections,
		     size_t n)
{
	_cleanup_buf_ struct rd_buf out = rd_out_pieces(), beside = { 0 };
	struct rd_table_style style = ctx->globals.style;
	struct rd_err err = { 0 };

	if (report && !ctx->globals.rows_only)
		rd_render_headline(report, &out);
	for (size_t i = 0; i < n; i++) {
		int r;

		rd_buf_str(&out, i > 0 || out.len > 0 ? "\n" : "");
		if (i > 0)
			style.columns = NULL;
		r = rd_render_table(sections[i], &style, &out, &err);
		if (r == -EINVAL)
			return rd_fail_usage(ctx->cmd, &err);
		if (r < 0)
			return rd_fail(ctx, &err);
	}
	rd_out(&out);
	if (report && report->findings.n > 0) {
		rd_buf_str(&beside, ctx->globals.rows_only ? "" : "\n");
		rd_output_findings(ctx, report, &beside);
	}
	if (report && !ctx->globals.rows_only)
		rd_render_notes(report, &beside);
	rd_out_beside(ctx, &beside);
	return report ? report->status : RD_EXIT_OK;
}
