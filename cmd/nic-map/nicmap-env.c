/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nic-map --env and --check-env. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyse/env.h"
#include "analyse/envcheck.h"
#include "cmd/datafile.h"
#include "nicmap.h"
#include "report/finding.h"
#include "report/report-envcheck.h"
#include "report/report-nicmap.h"

/* Names of devices come from elsewhere, and a shell is to read this. */
static void add_quoted(struct rd_buf *out, const char *value)
{
	rd_buf_str(out, "'");
	for (; *value; value++)
		if (*value == '\'')
			rd_buf_str(out, "'\\''");
		else if ((unsigned char)*value >= ' ' && *value != 0x7f)
			rd_buf_add(out, value, 1);
	rd_buf_str(out, "'");
}

int nicmap_show_env(struct rd_ctx *ctx, struct nicmap *nm)
{
	const struct nicmap_opts *opts = ctx->state;
	_cleanup_buf_ struct rd_buf out = { 0 };
	struct rd_err err = { 0 };
	size_t n = 0;

	bool refused = rd_env_refused(&nm->host, &err);

	if (ctx->globals.json) {
		if (rd_report_nicmap(&nm->report, &nm->host, &nm->map) < 0)
			return rd_no_memory(ctx, ctx->cmd->name);
		if (refused) {
			rd_errlist_add(&nm->report.errors, &err);
			nm->report.status = RD_EXIT_UNKNOWN;
		}
		return rd_answer_print(ctx, &nm->report);
	}
	if (refused)
		return rd_fail(ctx, &err);
	for (size_t i = 0; i < nm->map.env.n; i++) {
		const struct rd_env_var *var = &nm->map.env.v[i];

		if (strcmp(opts->env, "all") != 0 && strcmp(opts->env, var->library) != 0)
			continue;
		rd_buf_printf(&out, "export %s=", var->name);
		add_quoted(&out, var->value);
		rd_buf_str(&out, "\n");
		n++;
	}
	if (n == 0) {
		rd_err_set(&err, ENODEV, "--env", "no variable of this library is known");
		return rd_fail(ctx, &err);
	}
	rd_out(&out);
	return RD_EXIT_OK;
}

/* `end`: what separates entries. */
static int take_bytes(const struct rd_bytes *bytes, char end, struct rd_effects *effects)
{
	const char *at = (char *)bytes->data, *stop = at + bytes->size;

	while (at < stop) {
		const char *next = memchr(at, end, stop - at);
		size_t size = next ? (size_t)(next - at) : (size_t)(stop - at);

		if (rd_effects_take(at, size, effects) < 0)
			return -ENOMEM;
		at += size + 1;
	}
	return 0;
}

/* A file without a single variable was meant to be another one; an empty one is what grep leaves of none. */
static bool has_variables(const struct rd_bytes *bytes)
{
	return bytes->size == 0 || (!memchr(bytes->data, '\0', bytes->size) && memchr(bytes->data, '=', bytes->size));
}

static int read_variables(struct rd_ctx *ctx, struct rd_effects *effects, struct rd_err *err)
{
	const struct nicmap_opts *opts = ctx->state;
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	char path[64];
	int r;

	if (!opts->pid && !opts->env_file) {
		for (char **var = environ; *var; var++)
			if (rd_effects_take(*var, strlen(*var), effects) < 0)
				return rd_err_set(err, ENOMEM, "environment", "no memory for variables");
		return 0;
	}
	snprintf(path, sizeof(path), "/proc/%lu/environ", opts->pid);
	r = opts->pid ? rd_read_file(ctx->source, path, &bytes, err) : rd_read_local(opts->env_file, &bytes, err);
	if (r == -EACCES)
		rd_err_hint(err, "only its owner and root may read a process's environment");
	if (r == -ENOENT && opts->pid)
		rd_err_hint(err, "the process has ended, or is not in this PID namespace");
	if (r < 0)
		return r;
	if (opts->env_file && !has_variables(&bytes))
		return rd_err_set(err, EINVAL, opts->env_file, "no line of it is NAME=VALUE");
	if (take_bytes(&bytes, opts->pid ? '\0' : '\n', effects) < 0)
		return rd_err_set(err, ENOMEM, "environment", "no memory for variables");
	return 0;
}

int nicmap_check_env(struct rd_ctx *ctx, struct nicmap *nm)
{
	struct rd_effects effects = { 0 };
	struct rd_findings findings = { 0 };
	struct rd_err err = { 0 };
	char object[40];
	int r = read_variables(ctx, &effects, &err);

	if (r < 0) {
		rd_effects_deinit(&effects);
		return rd_fail(ctx, &err);
	}
	r = rd_envcheck(&nm->host, &effects, &findings);
	if (!r)
		r = rd_report_envcheck(&nm->report, &effects);
	if (!r)
		r = rd_report_add_findings(&nm->report, &findings);
	snprintf(object, sizeof(object), "%zu variable%s", effects.n, effects.n == 1 ? "" : "s");
	rd_effects_deinit(&effects);
	rd_findings_deinit(&findings);
	if (r < 0)
		return rd_no_memory(ctx, ctx->cmd->name);
	return nicmap_print_judged(ctx, nm, object);
}
