/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture: what all commands read, in one file. */
#include "cmd.h"

#include "report/report-capture.h"
#include "source/record.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SAMPLES_MAX 1000

extern const struct rd_cmd rd_cmd_capture;

struct capture_state {
	double interval;
	uint64_t count;
	bool redact;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int signal)
{
	(void)signal;
	interrupted = 1;
}

static int option(struct rd_ctx *ctx, const struct rd_opt *opt, const char *arg, struct rd_err *err)
{
	struct capture_state *state = ctx->state;
	char *end;

	if (opt->letter == 'i') {
		state->interval = strtod(arg, &end);
		if (end == arg || *end || !isfinite(state->interval) || state->interval <= 0 || state->interval > 86400)
			return rd_err_set(err, EINVAL, "--interval", "\"%s\" is not a number of seconds", arg);
	} else if (opt->letter == 'c') {
		errno = 0;
		state->count = strtoull(arg, &end, 10);
		if (errno || end == arg || *end || *arg == '-' || !state->count || state->count > SAMPLES_MAX)
			return rd_err_set(err, EINVAL, "--count", "\"%s\" is not a number from 1 to %d", arg,
					  SAMPLES_MAX);
	} else {
		state->redact = true;
	}
	return 0;
}

static double seconds_now(void)
{
	struct timespec ts = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* One line that is written over; NULL takes it away. Only for somebody who looks at it. */
static void progress(const char *what, uint64_t sample, uint64_t samples)
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

/* What a manifest says of the host. */
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

static int record_sample(struct rd_ctx *ctx, struct rd_source *source, uint64_t sample, uint64_t samples,
			 struct rd_err *err)
{
	record_host(source);
	for (const struct rd_cmd *const *cmd = rd_commands; *cmd; cmd++) {
		struct rd_err why = { 0 };
		int r;

		if (!(*cmd)->record)
			continue;
		progress((*cmd)->name, sample, samples);
		r = (*cmd)->record(source, &why);
		/* A host lacks this and that; memory is another matter. */
		if (r == -ENOMEM) {
			*err = why;
			return r;
		}
		if (r < 0)
			rd_verbose(ctx, "%s: %s: %s", (*cmd)->name, why.object, why.message);
	}
	return 0;
}

/* Until the next whole interval since `start`. */
static void wait_until(double start, double interval, uint64_t sample)
{
	double left = start + interval * (double)sample - seconds_now();
	struct timespec ts = { .tv_sec = (time_t)left, .tv_nsec = (long)((left - floor(left)) * 1e9) };

	if (left > 0)
		nanosleep(&ts, NULL);
}

/* A bundle is recorded anew sample by sample, as many as it has. */
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

static int record_all(struct rd_ctx *ctx, struct rd_source *source, struct rd_err *err)
{
	const struct capture_state *state = ctx->state;
	uint64_t samples = state->count ? state->count : 1;
	double interval = state->interval > 0 ? state->interval : 1, start = seconds_now();
	int r;

	for (uint64_t i = 0; i < samples; i++) {
		if (i > 0) {
			progress("waiting", i, samples);
			wait_until(start, interval, i);
			/* Ctrl-C ends the waiting; what was recorded is kept. */
			if (interrupted)
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

static void count_facts(struct rd_ctx *ctx, const struct rd_recording *recording, struct rd_capture_facts *facts)
{
	facts->samples = recording->n_samples;
	for (size_t i = 0; i < recording->n_samples; i++) {
		const struct rd_record_sample *sample = &recording->samples[i];

		facts->requests += sample->n_requests;
		for (size_t k = 0; k < sample->n_requests; k++) {
			const struct rd_request *request = &sample->requests[k];
			const struct rd_node *node = rd_tree_node(sample->tree, request->node);
			int code = node->more ? node->more->code[request->ask] : 0;
			_cleanup_free_ char *path = NULL;

			if (code != EACCES && code != EPERM)
				continue;
			facts->denied++;
			path = ctx->globals.verbose ? rd_tree_path(sample->tree, sample->root, request->node) : NULL;
			if (path)
				rd_verbose(ctx, "denied: /%s", path);
		}
	}
}

/* "rdmadiag-HOST-20260102T030405Z.tar.zst" in the working directory. Without the host's name where that is to stay out. */
static char *default_name(struct rd_ctx *ctx)
{
	const struct capture_state *state = ctx->state;
	time_t seconds = ctx->source->ops->now(ctx->source, CLOCK_REALTIME) / 1000000000u;
	_cleanup_free_ char *host = NULL;
	char date[32] = "";
	char *name;
	struct tm tm;

	if (!state->redact)
		rd_read_textf(ctx->source, &host, NULL, "/proc/sys/kernel/hostname");
	for (char *c = host; c && *c; c++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_", *c))
			*c = '_';
	if (gmtime_r(&seconds, &tm))
		strftime(date, sizeof(date), "%Y%m%dT%H%M%SZ", &tm);
	if (asprintf(&name, RD_PROGRAM "-%s%s%s.tar.zst", host && *host ? host : "", host && *host ? "-" : "", date) < 0)
		return NULL;
	return name;
}

static int save(struct rd_ctx *ctx, const struct rd_recording *recording, struct rd_capture_facts *facts,
		struct rd_err *err)
{
	sigset_t signals, before;
	int r;

	progress("writing", 0, 1);
	/* A half-written file would stay behind. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, &before);
	count_facts(ctx, recording, facts);
	r = rd_record_save(recording, RD_VERSION, facts->file, &facts->size, err);
	sigprocmask(SIG_SETMASK, &before, NULL);
	progress(NULL, 0, 1);
	return r;
}

static int capture(struct rd_ctx *ctx, struct rd_capture_facts *facts, struct rd_err *err)
{
	const struct capture_state *state = ctx->state;
	_cleanup_(rd_source_closep) struct rd_source *source = NULL;
	_cleanup_(rd_recording_deinit) struct rd_recording recording = { 0 };
	double start = seconds_now();
	int r = rd_record_can_save(facts->file, err);

	if (!r)
		r = rd_source_record_open(ctx->source, &source, err);
	if (!r)
		r = ctx->globals.from ? record_bundle(ctx, source, err) : record_all(ctx, source, err);
	if (!r)
		r = rd_source_record_take(source, &recording, err);
	if (!r && state->redact)
		r = rd_record_redact(&recording, err);
	if (!r)
		r = save(ctx, &recording, facts, err);
	facts->seconds = seconds_now() - start;
	progress(NULL, 0, 1);
	return r;
}

static int run(struct rd_ctx *ctx, int argc, char **argv)
{
	const struct capture_state *state = ctx->state;
	struct sigaction action = { .sa_handler = on_signal };
	_cleanup_(rd_report_deinit) struct rd_report report = { 0 };
	_cleanup_free_ char *name = NULL;
	struct rd_capture_facts facts = { 0 };
	struct rd_err err = { 0 };

	if (argc > 1) {
		rd_err_set(&err, EINVAL, argv[1], "capture writes one file");
		return rd_fail_usage(ctx->cmd, &err);
	}
	if (state->interval > 0 && !state->count) {
		rd_err_set(&err, EINVAL, "--interval", "needs --count, so that the bundle has an end");
		return rd_fail_usage(ctx->cmd, &err);
	}
	if (ctx->globals.from && state->count) {
		rd_err_set(&err, EINVAL, "--count", "a bundle has the samples that it has");
		return rd_fail_usage(ctx->cmd, &err);
	}
	name = argc ? strdup(argv[0]) : default_name(ctx);
	if (!name) {
		rd_err_set(&err, ENOMEM, "capture", "no memory for a name");
		return rd_fail(ctx, &err);
	}
	facts.file = name;
	if (state->count > 1)
		sigaction(SIGINT, &action, NULL);
	if (capture(ctx, &facts, &err) < 0)
		return rd_fail(ctx, &err);
	rd_answer_init(ctx, &report);
	if (rd_report_capture(&report, &facts) < 0) {
		rd_err_set(&err, ENOMEM, "capture", "cannot say what was written");
		return rd_fail(ctx, &err);
	}
	return rd_answer_print(ctx, &report);
}

static const struct rd_opt opts[] = {
	{ "interval", 'i', "SECONDS", "look at the host again every SECONDS (with -c)", NULL },
	{ "count", 'c', "N", "look N times; later samples hold only what changed", NULL },
	{ "redact", 0, NULL, "replace host names, addresses, GUIDs, serial numbers and command lines", NULL },
	{ 0 },
};

const struct rd_cmd rd_cmd_capture = {
	.name = "capture",
	.summary = "write what the other commands read into one file",
	.operands = "[FILE]",
	.opts = opts,
	.description =
		"Asks this host all that the other commands ask, and keeps the answers, errors included, in a bundle\n"
		"that --from reads elsewhere. FILE ends in .tar, .tar.gz, .tar.bz2 or .tar.zst; without FILE the bundle\n"
		"gets the host's name and the time. Works without root for what is readable.",
	.examples = "  rdmadiag capture\n"
		    "  rdmadiag capture --redact /tmp/host.tar.zst      to be sent by mail\n"
		    "  rdmadiag capture -i 10 -c 6 minute.tar.zst      six samples in a minute\n"
		    "  rdmadiag --from full.tar.zst capture --redact for-others.tar.zst\n",
	.columns = rd_capture_columns,
	.n_columns = RD_CAPTURE_COLUMNS,
	.state_size = sizeof(struct capture_state),
	.option = option,
	.run = run,
};
