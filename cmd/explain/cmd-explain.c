/* SPDX-License-Identifier: GPL-2.0-or-later */
/* explain: what lines of a log mean, which objects they are about, and what this host has of them. */

#include "analyse/explain/log.h"
#include "cmd/checks/checks.h"
#include "cmd/datafile.h"
#include "diagnose/explain/log-join.h"
#include "report/explain/report-explain.h"
#include "source/bundle/bundle.h"
#include "source/opener/input.h"

#define FILES_MAX 64
#define READ_SIZE ((size_t)256 << 10)

struct explain {
	const char *files[FILES_MAX]; /* of --log */
	size_t n_files;
	bool fail;
};

/* The tables, of which those that sites extend come first. */
static const char *const tables[] = { "explain", "explain-jobs", "explain-services", "explain-kernel" };

static int take_log(void *state, const struct rd_opt *opt, const char *arg, struct rd_err *err)
{
	struct explain *explain = state;

	if (explain->n_files == FILES_MAX)
		return rd_opt_refuse(opt, err, "given more than %d times", FILES_MAX);
	explain->files[explain->n_files++] = arg;
	return 0;
}

static void read_forms(struct rd_log_forms *ret, struct rd_errlist *errors)
{
	for (size_t t = 0; t < RD_ARRAY_SIZE(tables); t++) {
		_cleanup_(rd_table_deinit) struct rd_table table = { 0 };

		rd_table_read(tables[t], &table, errors);
		for (size_t i = 0; i < table.n; i++) {
			struct rd_err err = { 0 };

			if (rd_log_forms_parse(table.v[i].path, (char *)table.v[i].bytes.data, table.v[i].bytes.size,
					       ret, errors, &err) < 0)
				rd_errlist_add(errors, &err);
		}
	}
}

/* A form that is made of what the program knows otherwise. Valid until the next one is added. `source`: static; the other texts are kept. */
static struct rd_log_form *add_form(struct rd_log_forms *forms, const char *id, enum rd_severity severity,
				    const char *means, const char *source)
{
	struct rd_log_form *form = RD_ADD(forms->v, forms->n, forms->cap);

	*form = (struct rd_log_form){ .id = rd_texts_keep(&forms->texts, id, strlen(id)), .severity = severity };
	*RD_ADD(form->parts, form->n, form->cap) =
		(struct rd_log_part){ .kind = RD_LOG_MEANS,
				      .v = { rd_texts_keep(&forms->texts, means, strlen(means)) } };
	*RD_ADD(form->parts, form->n, form->cap) = (struct rd_log_part){ .kind = RD_LOG_SOURCE, .v = { source } };
	return form;
}

/* Names of rules and counters are explained in the words of topo-check and counters. */
static void add_names(struct rd_log_forms *forms, struct rd_errlist *errors)
{
	_cleanup_(rd_meanings_deinit) struct rd_meanings meanings = { 0 };
	struct rd_err err = { 0 };

	for (size_t i = 0; i < rd_n_checks; i++) {
		const struct rd_check *check = rd_checks[i];
		_cleanup_free_ char *means = rd_text("%s: %s", check->title, check->why);
		struct rd_log_form *form = add_form(forms, check->id, RD_SEV_WARNING, means, "rdmadiag topo-check");

		*RD_ADD(form->parts, form->n, form->cap) =
			(struct rd_log_part){ .kind = RD_LOG_CAUSE, .v = { check->id, check->title, check->needs } };
	}
	if (rd_read_meanings(&meanings, errors, &err) == 0)
		for (size_t i = 0; i < meanings.n; i++)
			add_form(forms, meanings.v[i].name, RD_SEV_NOTE, meanings.v[i].text, "rdmadiag counters");
}

static int read_file(struct rd_log_reader *reader, const char *name, struct rd_err *err)
{
	bool standard = !name || rd_is_standard_input(name);
	_cleanup_(rd_input_close) struct rd_input input = { .fd = STDIN_FILENO };
	_cleanup_free_ char *buffer = rd_alloc(READ_SIZE, 1);
	const char *object = standard ? "standard input" : name;
	int r = standard ? 0 : rd_input_open(name, &input, err);
	ssize_t n;

	if (!r && S_ISDIR(input.mode))
		r = rd_err_set(err, EISDIR, object, "cannot read");
	if (r < 0)
		return r;
	rd_log_begin(reader, standard ? NULL : name);
	while ((n = read(input.fd, buffer, READ_SIZE)) != 0)
		if (n > 0)
			rd_log_feed(reader, buffer, (size_t)n);
		else if (errno != EINTR)
			return rd_err_set(err, errno, object, "cannot read");
	rd_log_end(reader);
	return reader->number == 0 ? rd_err_set(err, ENODATA, object, "is empty") : 0;
}

/* Words that are known each, else one line. Operands with blanks are lines. */
static void read_operands(struct rd_log_reader *reader, int argc, char **argv)
{
	bool words = true;

	for (int i = 0; i < argc && words; i++)
		words = rd_log_add_word(reader, argv[i]);
	if (words)
		return;
	rd_log_deinit(reader->log);
	rd_log_begin(reader, NULL);
	for (int i = 0; i < argc; i++) {
		rd_log_feed(reader, argv[i], strlen(argv[i]));
		rd_log_feed(reader, i + 1 < argc && !strchr(argv[i], ' ') ? " " : "\n", 1);
	}
	rd_log_end(reader);
}

static int read_all(struct rd_ctx *ctx, struct rd_log_reader *reader, int argc, char **argv, struct rd_err *err)
{
	const struct explain *explain = ctx->state;
	int r = 0;

	if (argc > 0)
		read_operands(reader, argc, argv);
	else if (!explain->n_files)
		r = read_file(reader, NULL, err);
	for (size_t i = 0; i < explain->n_files && !r; i++)
		r = read_file(reader, explain->files[i], err);
	rd_log_sort(reader->log);
	return r;
}

/* What could not be read of this host leaves causes unknown. */
static void join_host(struct rd_ctx *ctx, struct rd_log *log)
{
	_cleanup_(checks_deinit) struct checks checks = { 0 };
	struct rd_log_here here = { 0 };
	struct rd_err err = { 0 };

	if (log->n == 0 || checks_load(ctx, ctx->source, 0, &checks, &err) < 0 || checks.host.n_ibdevs == 0) {
		rd_log_join(log, NULL);
		return;
	}
	checks_conclude(&checks, NULL, RD_SEV_SKIP, false);
	here = (struct rd_log_here){ .name = checks.report.host,
				     .host = &checks.host,
				     .net = &checks.net,
				     .res = checks.in.res,
				     .recent = &checks.recent,
				     .findings = &checks.findings };
	rd_log_join(log, &here);
}

static int status_of(const struct rd_log *log, bool fail)
{
	enum rd_severity worst = RD_SEV_SKIP;

	for (size_t i = 0; i < log->n; i++)
		worst = log->v[i].form->severity > worst ? log->v[i].form->severity : worst;
	return !fail			? RD_EXIT_OK :
	       worst == RD_SEV_CRITICAL ? RD_EXIT_CRITICAL :
	       worst == RD_SEV_WARNING	? RD_EXIT_WARNING :
					  RD_EXIT_OK;
}

/* A document has its sections, empty. */
static int fail(struct rd_ctx *ctx, const struct rd_err *err)
{
	_cleanup_(rd_report_deinit) struct rd_report report = { 0 };
	const struct rd_log none = { 0 };

	if (ctx->globals.json) {
		rd_output_init(ctx, &report);
		rd_report_explain(&report, &none);
		rd_errlist_add(&report.errors, err);
		report.status = RD_EXIT_UNKNOWN;
		rd_output_print(ctx, &report);
	}
	return rd_fail(ctx, err);
}

static int nothing_known(struct rd_ctx *ctx, const struct rd_log *log, int argc, char **argv)
{
	struct rd_err err = { 0 };

	if (argc == 1 && !strchr(argv[0], ' '))
		rd_err_set(&err, ENOENT, argv[0], "not a line, code, counter, rule or event that is known");
	else
		rd_err_set(&err, ENODATA, NULL, "no known form in %zu line%s", log->lines, log->lines == 1 ? "" : "s");
	rd_err_hint(
		&err,
		"give the whole line, as it was printed, or a file by --log FILE; a site adds forms in /etc/rdmadiag/explain.d");
	return fail(ctx, &err);
}

static int show(struct rd_ctx *ctx, const struct rd_log *log, size_t files, struct rd_errlist *errors)
{
	const struct explain *explain = ctx->state;
	_cleanup_(rd_report_deinit) struct rd_report report = { 0 };
	_cleanup_buf_ struct rd_buf out = { 0 };

	if (!ctx->globals.json)
		rd_warn_errors(ctx, errors, 0);
	rd_output_init(ctx, &report);
	for (size_t i = 0; i < errors->n; i++)
		rd_errlist_add(&report.errors, &errors->v[i]);
	report.status = status_of(log, explain->fail);
	rd_report_explain(&report, log);
	if (ctx->globals.json || ctx->globals.rows_only || ctx->globals.style.columns)
		return rd_output_print(ctx, &report);
	rd_report_explain_text(log, files, ctx->globals.verbose, &out);
	rd_out(&out);
	return report.status;
}

/* "-" alone: the lines of standard input, as without operands. */
static bool is_input(int argc, char **argv)
{
	return argc == 1 && rd_is_standard_input(argv[0]);
}

static int run_explain(struct rd_ctx *ctx, int argc, char **argv)
{
	const struct explain *explain = ctx->state;
	_cleanup_(rd_log_forms_deinit) struct rd_log_forms forms = { 0 };
	_cleanup_(rd_errlist_deinit) struct rd_errlist errors = { 0 };
	_cleanup_(rd_log_deinit) struct rd_log log = { 0 };
	struct rd_log_reader reader = { .forms = &forms, .log = &log };
	struct rd_err err = { 0 };
	int r;

	if (is_input(argc, argv))
		argc = 0;
	read_forms(&forms, &errors);
	if (argc > 0)
		add_names(&forms, &errors);
	rd_log_forms_index(&forms);
	r = read_all(ctx, &reader, argc, argv, &err);
	if (r < 0)
		return fail(ctx, &err);
	if (log.n == 0)
		return nothing_known(ctx, &log, argc, argv);
	join_host(ctx, &log);
	return show(ctx, &log, explain->n_files, &errors);
}

static int check(struct rd_ctx *ctx, int argc, char **argv, struct rd_err *err)
{
	const struct explain *explain = ctx->state;
	size_t inputs = ctx->globals.from && rd_is_standard_input(ctx->globals.from);
	int terminal = isatty(STDIN_FILENO);

	if (is_input(argc, argv) && !explain->n_files)
		argc = terminal = 0;
	if (argc > 0 && explain->n_files)
		return rd_err_set(err, EINVAL, argv[0], "expects lines, or files by --log, not both");
	for (size_t i = 0; i < explain->n_files; i++)
		inputs += rd_is_standard_input(explain->files[i]);
	inputs += argc == 0 && !explain->n_files;
	if (inputs > 1) {
		rd_err_set(err, EINVAL, "-", "standard input is either a bundle or a log");
		return rd_err_hint(err, RD_PROGRAM " --from BUNDLE explain --log FILE");
	}
	if (argc == 0 && !explain->n_files && terminal) {
		rd_err_set(err, EINVAL, "explain", "expects a line, --log FILE, or a log on standard input");
		return rd_err_hint(err, "dmesg | " RD_PROGRAM " explain");
	}
	return 0;
}

static void read_host(const struct rd_ctx *ctx, struct rd_source *source)
{
	struct rd_err err;

	checks_record(source, &err);
}

static const struct rd_opt opts[] = {
	{ "log", 0, "FILE", "explain the lines of FILE (-: standard input); repeatable", "file", RD_NEEDS_FOREIGN_FILE,
	  RD_TAKES(take_log) },
	{ "fail", 0, NULL, "exit 1 or 2 by what the lines mean for jobs", RD_FLAG(explain, fail) },
	{ 0 },
};

const struct rd_cmd rd_cmd_explain = {
	.name = "explain",
	.summary = "say what a line of a log means, and what to do next",
	.question = "What does this line of a log mean",
	.operands = "[--] [LINE | NAME=VALUE | NAME]...",
	.operand_needs = RD_NEEDS_FOREIGN_TEXT,
	.opts = opts,
	.description =
		"Recognizes lines of the kernel, of NCCL, UCX, libfabric, MPI, libibverbs, storage and others, and says what\n"
		"they mean, which device, queue pair and peer they are about, which causes are known, and which of them this\n"
		"host (or the bundle of --from) shows. What began comes first, what follows from it last. Also explains\n"
		"NAME=VALUE (status=12, vendor_err=129, errno=ENOMEM, syndrome=0x35e6ec), and names: of a completion status,\n"
		"an event, a counter, a rule. Exit status: 0 explained, 3 nothing known.\n",
	.examples = "  rdmadiag explain 'Got completion from peer 192.0.2.36<4> with status=12'\n"
		    "  rdmadiag explain --log job.out\n"
		    "  dmesg | rdmadiag explain\n"
		    "  rdmadiag explain status=12 vendor_err=129\n"
		    "  rdmadiag --from host17.tar.zst explain --log job.out --json\n",
	.columns = rd_explain_columns,
	.n_columns = RD_EXPLAIN_COLUMNS,
	.state_size = sizeof(struct explain),
	.check = check,
	.read = read_host,
	.run = run_explain,
};
