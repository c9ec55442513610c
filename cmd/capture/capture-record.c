/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs the record function of every command, sample by sample. */
#include "capture.h"
#include "cmd/fabric/fabric.h"
#include "cmd/ticks.h"

#include <errno.h>
#include <stdio.h>

void capture_progress(const char *what, uint64_t sample, uint64_t samples)
{
	if (!isatty(STDERR_FILENO))
		return;
	if (what && samples > 1)
		dprintf(STDERR_FILENO, "\r\033[K" RD_PROGRAM ": sample %llu of %llu: %s ",
			(unsigned long long)sample + 1, (unsigned long long)samples, what);
	else if (what)
		dprintf(STDERR_FILENO, "\r\033[K" RD_PROGRAM ": recording %s ", what);
	else
		dprintf(STDERR_FILENO, "\r\033[K");
}

/* The files of the host that the manifest quotes. */
static void record_host(struct rd_source *source)
{
	static const char *const paths[] = {
		"/proc/sys/kernel/hostname",
		"/proc/sys/kernel/osrelease",
		"/proc/sys/kernel/version",
		"/proc/sys/kernel/random/boot_id",
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(paths); i++) {
		struct rd_bytes bytes = { 0 };

		rd_read_file(source, paths[i], &bytes, NULL);
		rd_bytes_deinit(&bytes);
	}
}

/* Requested by the user: a failure is reported, and is in the recording. */
static int record_fabric(struct rd_ctx *ctx, struct rd_source *source, uint64_t sample, uint64_t samples,
			 struct rd_err *err)
{
	struct rd_err why = { 0 };
	int r;

	capture_progress("the fabric", sample, samples);
	r = fabric_record(source, &why);
	if (r == -ENOMEM)
		*err = why;
	else if (r < 0)
		rd_warn(ctx, "--fabric: %s: %s: %s", why.object, why.message, rd_errno_text(why.code));
	return r == -ENOMEM ? r : 0;
}

static int record_sample(struct rd_ctx *ctx, struct rd_source *source, uint64_t sample, uint64_t samples,
			 struct rd_err *err)
{
	record_host(source);
	for (const struct rd_cmd *const *cmd = rd_commands; *cmd; cmd++) {
		struct rd_err why = { 0 };
		int r;

		if (!(*cmd)->record)
			continue;
		capture_progress((*cmd)->name, sample, samples);
		r = (*cmd)->record(source, &why);
		/* Missing files are normal; lack of memory is not. */
		if (r == -ENOMEM) {
			*err = why;
			return r;
		}
		if (r < 0)
			rd_verbose(ctx, "%s: %s: %s", (*cmd)->name, why.object, why.message);
	}
	if (((const struct capture_state *)ctx->state)->fabric)
		return record_fabric(ctx, source, sample, samples, err);
	return 0;
}

/* Records all samples of a bundle again. */
static int record_bundle(struct rd_ctx *ctx, struct rd_source *source, struct rd_err *err)
{
	int r = record_sample(ctx, source, 0, 1, err);

	while (!r) {
		r = rd_source_bundle_next(ctx->source, err);
		if (r == -ENODATA)
			return 0;
		if (!r)
			r = rd_source_record_next(source, err);
		if (!r)
			r = record_sample(ctx, source, 0, 1, err);
	}
	return r;
}

static int record_live(struct rd_ctx *ctx, struct rd_source *source, struct rd_err *err)
{
	const struct capture_state *state = ctx->state;
	uint64_t samples = state->repeat.count ? state->repeat.count : 1;
	struct rd_ticks ticks;
	int r;

	rd_ticks_init(&ticks, state->repeat.seconds > 0 ? state->repeat.seconds : 1);
	if (samples > 1)
		rd_ticks_catch_signals();
	for (uint64_t i = 0; i < samples; i++) {
		if (i > 0) {
			capture_progress("waiting", i, samples);
			/* Ctrl-C ends the wait; the recorded samples are kept. */
			if (rd_ticks_wait(&ticks) < 0)
				break;
			r = rd_source_record_next(source, err);
			if (r < 0)
				return r;
		}
		r = record_sample(ctx, source, i, samples, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int capture_record(struct rd_ctx *ctx, struct rd_source *source, struct rd_err *err)
{
	return ctx->globals.from ? record_bundle(ctx, source, err) : record_live(ctx, source, err);
}
