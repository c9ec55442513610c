/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture: runs the record function of every command, sample by sample, and writes all that they read to one file. */
#include "cmd/cmd.h"
#include "cmd/fabric/fabric.h"
#include "cmd/job/job.h"
#include "cmd/qp-state/qp.h"
#include "collect/kernel/kernel.h"
#include "report/host/report-capture.h"
#include "source/opener/child.h"
#include "source/record/record.h"
#include "trace/attach/session.h"

#include <poll.h>
#include <time.h>

#define SAMPLES_MAX 1000
#define BOX_SECONDS 15	    /* a busy service takes a second */
#define STANDARD_OUTPUT "-" /* instead of the name of a file */

extern const struct rd_cmd rd_cmd_capture;

struct capture_state {
	struct job_opts job; /* processes to record as job does; first, for job_take_filter */
	struct rd_repeat repeat;
	bool redact;		/* also set if there is a key */
	bool force;		/* replace an existing file */
	const char *redact_key; /* a file; NULL: a random key that is not kept */
	bool fabric;		/* also the counters of the InfiniBand fabric */
	bool black_box;		/* of trace-errno --service: nothing is recorded */
};

/* Shows the current step on a line that is overwritten; NULL clears it. Only on a terminal. */
static void show_progress(const char *what, uint64_t sample, uint64_t samples)
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

static int record_sample(struct rd_ctx *ctx, struct rd_source *source, uint64_t sample, uint64_t samples,
			 struct rd_err *err)
{
	const struct capture_state *state = ctx->state;
	int r;

	record_host(source);
	for (const struct rd_cmd *const *cmd = rd_commands; *cmd; cmd++) {
		struct rd_err why = { 0 };

		if (!(*cmd)->record)
			continue;
		show_progress((*cmd)->name, sample, samples);
		r = (*cmd)->record(source, &why);
		/* Missing files are normal; lack of memory is not. */
		if (r == -ENOMEM) {
			*err = why;
			return r;
		}
		if (r < 0)
			rd_verbose(ctx, "%s: %s: %s", (*cmd)->name, why.object, why.message);
	}
	show_progress("job", sample, samples);
	r = job_record(&state->job, ctx->source, source, err);
	if (r < 0 && r != -ENOMEM)
		rd_warn(ctx, "%s: %s", err->object, err->message);
	if (!state->fabric || r == -ENOMEM)
		return r == -ENOMEM ? r : 0;
	/* Requested by the user: a failure is reported, and is in the recording. */
	show_progress("the fabric", sample, samples);
	r = fabric_record(source, err);
	if (r < 0 && r != -ENOMEM)
		rd_warn(ctx, "--fabric: %s: %s: %s", err->object, err->message, rd_errno_text(err->code));
	return r == -ENOMEM ? r : 0;
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
			show_progress("waiting", i, samples);
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

static void count_facts(struct rd_ctx *ctx, const struct rd_recording *recording, struct rd_capture_facts *facts)
{
	facts->samples = recording->n_samples;
	for (size_t i = 0; i < recording->n_samples; i++) {
		const struct rd_record_sample *sample = &recording->samples[i];

		facts->requests += sample->n_requests;
		for (size_t k = 0; k < sample->n_requests; k++) {
			const struct rd_recorded_request *request = &sample->requests[k];
			const struct rd_node *node = rd_tree_node(sample->tree, request->node);
			int code = node->more ? node->more->code[request->query] : 0;
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

/* "rdmadiag-HOST-20260102T030405Z.tar.zst" in the working directory; without the host name if redacted. */
static char *default_name(struct rd_ctx *ctx)
{
	const struct capture_state *state = ctx->state;
	time_t seconds = ctx->source->ops->now(ctx->source, CLOCK_REALTIME) / 1000000000u;
	_cleanup_free_ char *host = NULL;
	char date[32] = "";
	struct tm tm;

	if (!state->redact)
		rd_read_textf(ctx->source, &host, NULL, "/proc/sys/kernel/hostname");
	for (char *c = host; c && *c; c++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_", *c))
			*c = '_';
	if (gmtime_r(&seconds, &tm))
		strftime(date, sizeof(date), "%Y%m%dT%H%M%SZ", &tm);
	return rd_text(RD_PROGRAM "-%s%s%s.tar.zst", host && *host ? host : "", host && *host ? "-" : "", date);
}

static bool is_standard_output(const char *file)
{
	return strcmp(file, STANDARD_OUTPUT) == 0;
}

static int save_recording(struct rd_ctx *ctx, const struct rd_recording *recording, struct rd_capture_facts *facts,
			  struct rd_err *err)
{
	const struct capture_state *state = ctx->state;
	_cleanup_buf_ struct rd_buf bundle = { 0 };
	int r;

	show_progress("writing", 0, 1);
	count_facts(ctx, recording, facts);
	if (!is_standard_output(facts->file))
		return rd_record_save(recording, RD_VERSION, facts->file, state->force, &facts->size, err);
	/* Nothing is written before the bundle is complete in memory. main reports a failure of rd_out. */
	r = rd_record_pack(recording, RD_VERSION, "bundle.tar.zst", &bundle, err);
	if (r < 0)
		return r;
	facts->size = bundle.len;
	rd_out(&bundle);
	return 0;
}

static int redact_recording(struct rd_ctx *ctx, const struct rd_sipkey *key, struct rd_recording *recording,
			    struct rd_capture_facts *facts, struct rd_err *err)
{
	struct rd_redacted redacted = { 0 };
	int r;

	show_progress("(redacting)", 0, 1);
	r = rd_record_redact(recording, key, &redacted, err);
	if (r < 0)
		return r;
	RD_SET(facts->log_dropped, redacted.log_dropped);
	rd_verbose(ctx, "kernel log: kept %zu lines of known forms, dropped %zu", redacted.log_kept,
		   redacted.log_dropped);
	return 0;
}

static int capture(struct rd_ctx *ctx, struct rd_capture_facts *facts, struct rd_err *err)
{
	const struct capture_state *state = ctx->state;
	_cleanup_(rd_source_closep) struct rd_source *source = NULL;
	_cleanup_(rd_recording_deinit) struct rd_recording recording = { 0 };
	struct qp_probe probe = { 0 };
	uint64_t start = rd_clock_ns(CLOCK_MONOTONIC);
	struct rd_sipkey key = { 0 };
	int r = is_standard_output(facts->file) ? 0 : rd_record_can_save(facts->file, state->force, err);

	/* Before the recording, which takes a while, so that an error shows at once. */
	if (!r && state->redact_key)
		r = rd_redact_key_read(state->redact_key, &key, err);
	else if (!r && state->redact)
		r = rd_redact_key_make_up(&key, err);
	if (!r) {
		/* Before the first list of queue pairs, which is the only one of a sample. */
		if (!ctx->globals.from && !state->job.no_probe)
			qp_probe_start(ctx, ctx->source, &probe);
		source = rd_source_record_open(ctx->source);
		r = ctx->globals.from ? record_bundle(ctx, source, err) : record_live(ctx, source, err);
	}
	if (!r)
		r = rd_source_record_take(source, &recording, err);
	qp_probe_end(&probe);
	if (!r)
		rd_recording_inherit(&recording, ctx->source);
	if (!r && state->redact)
		r = redact_recording(ctx, &key, &recording, facts, err);
	if (!r)
		r = save_recording(ctx, &recording, facts, err);
	if (r == -EEXIST)
		rd_err_hint(err, "use --force to replace it");
	facts->seconds = (double)(rd_clock_ns(CLOCK_MONOTONIC) - start) / 1e9;
	show_progress(NULL, 0, 1);
	return r;
}

static int check(struct rd_ctx *ctx, int argc, char **argv, struct rd_err *err)
{
	const struct capture_state *state = ctx->state;

	if (argc > 1)
		return rd_err_set(err, EINVAL, argv[1], "capture writes only one file");
	if (argc && state->black_box)
		return rd_err_set(err, EINVAL, argv[0], "the service writes the black box to its own directory");
	if (argc == 0 || !is_standard_output(argv[0]))
		return 0;
	if (ctx->globals.json || ctx->globals.style.columns)
		return rd_err_set(err, EINVAL, STANDARD_OUTPUT,
				  "the bundle is written to standard output: no table or document");
	if (!isatty(STDOUT_FILENO))
		return 0;
	rd_err_set(err, EINVAL, STANDARD_OUTPUT, "standard output is a terminal: the bundle is not written there");
	return rd_err_hint(err, RD_PROGRAM " capture - > host.tar.zst; from another host: ssh HOST " RD_PROGRAM
					   " capture - > HOST.tar.zst");
}

/* All that the table shows to act on. */
static int report_on_stderr(const struct rd_ctx *ctx, const struct rd_capture_facts *facts)
{
	if (facts->denied)
		rd_warn(ctx,
			"%" PRIu64 " of %" PRIu64
			" reads were denied for lack of privilege, and are recorded as such%s",
			facts->denied, facts->requests, ctx->globals.verbose ? "" : "; -v lists them");
	rd_verbose(ctx, "bundle of %" PRIu64 " bytes, %" PRIu64 " sample%s, %" PRIu64 " reads", facts->size,
		   facts->samples, facts->samples == 1 ? "" : "s", facts->requests);
	return rd_out_failure() ? RD_EXIT_UNKNOWN : RD_EXIT_OK;
}

/* ---- the black box of trace-errno --service */

/* Has the service write it, and waits until the service names another one than `now` does. */
static int write_black_box(struct rd_source *source, const struct rd_held *service, struct rd_recent *now,
			   struct rd_err *err)
{
	_cleanup_free_ char *before = now->known == RD_OK ? rd_dup(now->file->box) : NULL;
	int r;

	if (!before || !*before)
		return rd_err_set(err, ENODATA, "black box", "%s",
				  before ? "the service runs without --black-box" : now->why);
	r = rd_holders_freeze(source, service, err);
	for (unsigned i = 0; !r && i < BOX_SECONDS * 5; i++) {
		poll(NULL, 0, 200);
		rd_recent_deinit(now);
		rd_collect_recent(source, now);
		if (now->known == RD_OK && strcmp(now->file->box, before) != 0)
			return 0;
	}
	if (r)
		return r;
	rd_err_set(err, ETIMEDOUT, before, "the service has written no black box within %d s", BOX_SECONDS);
	return rd_err_hint(err, "journalctl -u rdmadiag-trace; it writes at most 20 in 24 hours");
}

static int run_black_box(struct rd_ctx *ctx)
{
	_cleanup_(rd_held_list_deinit) struct rd_held_list list = { 0 };
	_cleanup_(rd_report_deinit) struct rd_report report = { 0 };
	_cleanup_(rd_recent_deinit) struct rd_recent recent = { 0 };
	const struct rd_held *service = NULL;
	struct rd_err err = { 0 };
	int r = rd_holders_list(ctx->source, &list, &err);

	for (size_t i = 0; i < list.n; i++)
		if (strcmp(list.v[i].owner.what, "service") == 0 && list.v[i].owner.state != RD_HOLD_DETACHING)
			service = &list.v[i];
	if (!r && !service) {
		rd_err_set(&err, ESRCH, "black box", "trace-errno --service does not run on this host");
		r = rd_err_hint(&err, "systemctl start rdmadiag-trace");
	}
	rd_collect_recent(ctx->source, &recent);
	if (!r)
		r = write_black_box(ctx->source, service, &recent, &err);
	if (r < 0)
		return rd_fail(ctx, &err);
	rd_output_init(ctx, &report);
	rd_report_capture(&report, &(struct rd_capture_facts){ .file = recent.file->box });
	return rd_output_print(ctx, &report);
}

static int run_capture(struct rd_ctx *ctx, int argc, char **argv)
{
	struct capture_state *state = ctx->state;
	_cleanup_(rd_report_deinit) struct rd_report report = { 0 };
	_cleanup_free_ char *name = NULL;
	struct rd_capture_facts facts = { 0 };
	struct rd_err err = { 0 };

	if (state->black_box)
		return run_black_box(ctx);
	state->redact |= state->redact_key != NULL;
	name = argc ? rd_dup(argv[0]) : default_name(ctx);
	facts.file = name;
	if (capture(ctx, &facts, &err) < 0)
		return rd_fail(ctx, &err);
	if (is_standard_output(name))
		return report_on_stderr(ctx, &facts);
	rd_output_init(ctx, &report);
	rd_report_capture(&report, &facts);
	return rd_output_print(ctx, &report);
}

static const struct rd_opt opts[] = {
	{ "interval", 'i', "SECONDS", "take a sample every SECONDS (with -c)",
	  RD_SECONDS(capture_state, repeat.seconds, RD_TICKS_LEAST, RD_TICKS_MOST) },
	{ "count", 'c', "N", "take N samples; later samples hold only changes",
	  RD_NUMBER(capture_state, repeat.count, 1, SAMPLES_MAX) },
	{ "pid", 'p', "PID,...", "also record these processes for job, as far as it reads them", "pid",
	  RD_TAKES(job_take_filter) },
	{ "job", 0, "PATTERN", "same for the processes of this job (slurm:42 includes its steps)",
	  RD_TAKES(job_take_filter) },
	{ "cgroup", 0, "PATH", "same for the processes of this control group and those below it",
	  RD_TEXT(capture_state, job.cgroup) },
	{ "comm", 0, "PATTERN", "same for the processes with this name", RD_TAKES(job_take_filter) },
	{ "fabric", 0, NULL, "also record every node, port and counter of the InfiniBand fabric", NULL, RD_NEEDS_PORTS,
	  RD_FLAG(capture_state, fabric) },
	{ "no-probe", 0, NULL, "attach nothing to the kernel: peers and timers of queue pairs are not recorded",
	  RD_FLAG(capture_state, job.no_probe) },
	{ "force", 0, NULL, "replace FILE if it exists", NULL, RD_NEEDS_TO_REPLACE, RD_FLAG(capture_state, force) },
	{ "redact", 0, NULL, "replace names of hosts, users, jobs and programs, and addresses, by pseudonyms",
	  RD_FLAG(capture_state, redact) },
	{ "redact-key", 0, "FILE",
	  "same, but derive pseudonyms from the key in FILE: they match in all bundles made with it", "file",
	  RD_NEEDS_OWN_FILE, RD_TEXT(capture_state, redact_key) },
	{ "black-box", 0, NULL, "have trace-errno --service write its black box now, and show where",
	  RD_FLAG(capture_state, black_box) },
	{ 0 },
};

static const struct rd_opt_rule rules[] = {
	{ RD_EXCLUDES, "black-box", "interval count fabric no-probe force redact redact-key from pid job cgroup comm",
	  "the service writes what it has kept" },
	{ RD_REQUIRES, "interval", "count", "a bundle has a fixed number of samples" },
	{ RD_EXCLUDES, "redact redact-key", "fabric", "names and GUIDs of the fabric are not redacted" },
	{ RD_EXCLUDES, "count", "from", "all samples of the bundle are copied" },
	{ 0 },
};

const struct rd_cmd rd_cmd_capture = {
	.name = "capture",
	.summary = "record all data that the other commands read in one file",
	.question = "Let others look at it: all data in one file",
	.operands = "[FILE|-]",
	.operand_needs = RD_NEEDS_NEW_FILE,
	.opts = opts,
	.rules = rules,
	.description =
		"Records everything that the other commands read on this host, including read errors, in a bundle for\n"
		"--from. FILE ends in .tar, .tar.gz, .tar.bz2 or .tar.zst; without FILE the bundle is named after\n"
		"the host and the time; '-' writes it to standard output. Without root, records what is readable.",
	.examples = "  rdmadiag capture\n"
		    "  rdmadiag capture --redact /tmp/host.tar.zst      to share with others\n"
		    "  rdmadiag capture -i 10 -c 6 minute.tar.zst      six samples in one minute\n"
		    "  ssh host17 rdmadiag capture - | rdmadiag --from - topo-check\n"
		    "  rdmadiag --from full.tar.zst capture --redact for-others.tar.zst\n"
		    "  rdmadiag capture --redact-key site.key a.tar.zst  to compare with other hosts\n"
		    "  rdmadiag capture --black-box                    the service's last failures\n",
	.columns = rd_capture_columns,
	.n_columns = RD_CAPTURE_COLUMNS,
	.state_size = sizeof(struct capture_state),
	.check = check,
	.run = run_capture,
};
