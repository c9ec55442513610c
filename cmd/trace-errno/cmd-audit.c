// SPDX-License-Identifier: GPL-2.0-or-later
/* trace-errno --audit: the functions that are watched on a kernel, how they differ from a baseline, and whether calls are seen. */
#include <fcntl.h>
#include <sys/wait.h>

#include "analyse/trace/audit.h"
#include "cmd/datafile.h"
#include "report/trace/report-trace.h"
#include "source/opener/opener.h"
#include "trace.h"
#include "trace/select/select.h"

/* Failures of the process that calls, in order. */
struct seen {
	struct rd_audit_probe *v;
	size_t n, cap;
};

static void take_event(void *arg, struct trace *t, struct rd_event *ev)
{
	struct seen *seen = arg;

	if (ev->origin < 0 || (size_t)ev->origin >= t->set.n_fns)
		return;
	*RD_ADD(seen->v, seen->n, seen->cap) = (struct rd_audit_probe){
		.err = -ev->err,
		.seen = true,
		.exact = ev->origin_exact,
		.verb = rd_dup_if(ev->verb),
		.origin = rd_dup(t->set.fns[ev->origin].name),
		.module = rd_dup(t->set.modules[t->set.fns[ev->origin].module].name),
	};
}

/*
 * Traces the calls on a device (NULL: the first of this host). Fills ret[PROBES], which the caller deinitialises by
 * rd_audit_probe_deinit in any case. -errno with err filled if nothing could be traced, or the calls could not be made.
 */
static int trace_probes(struct rd_ctx *ctx, struct rd_fnset *set, const char *wanted, struct rd_audit_probe *ret,
			struct rd_err *err)
{
	_cleanup_free_ char *device = rd_dup_if(wanted);
	_cleanup_texts_ struct rd_texts names = { 0 };
	/* No causes are looked for, and nothing is dropped. */
	const struct trace_opts opts = { .summary = true, .benign = true };
	struct seen seen = { 0 };
	struct trace t = {
		.ctx = ctx, .opts = &opts, .signals = -1, .child = TRACE_CHILD_INIT, .sink = take_event, .sink_arg = &seen
	};
	struct probe_result results[PROBES] = { 0 };
	char path[64], *argv[] = { "/proc/self/exe", "probe-calls", NULL, path, NULL };
	int fds[2], r;
	ssize_t n;

	/* The first of this host, unless --device names one. */
	if (!device && rd_list_dir(ctx->source, "/sys/class/infiniband", &names, err))
		return -err->code;
	if (!device && !names.n) {
		rd_err_set(err, ENODEV, "/sys/class/infiniband", "no RDMA device to make calls on");
		return rd_err_hint(err, "rdma link add rxe0 type rxe netdev eth0 makes one of soft-RoCE");
	}
	if (!device)
		device = rd_dup(names.v[0]);
	argv[2] = device;
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK))
		return rd_err_set(err, errno, "pipe", "cannot make calls");
	/* The process that calls inherits no descriptors. */
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", getpid(), fds[1]);
	for (size_t i = 0; i < PROBES; i++)
		ret[i] = (struct rd_audit_probe){ .name = rd_dup(probe_name(i)), .err = -1 };
	t.set = *set;
	t.facts = rd_trace_facts_create(ctx->source);
	r = trace_run(&t, argv, err);
	*set = t.set;
	t.set = (struct rd_fnset){ 0 };
	if (!r && (!WIFEXITED(t.child.status) || WEXITSTATUS(t.child.status)))
		r = rd_err_set(err, EIO, device, "the calls could not be made");
	n = r ? 0 : read(fds[0], results, sizeof(results));
	/* Each call that failed is the next event with its errno: the calls are made one after the other. */
	for (size_t i = 0, at = 0; n > 0 && i < (size_t)n / sizeof(*results); i++) {
		struct rd_audit_probe *probe = &ret[results[i].probe % PROBES];
		size_t next = at;

		probe->err = results[i].err;
		while (next < seen.n && seen.v[next].err != results[i].err)
			next++;
		if (results[i].err <= 0 || next == seen.n)
			continue;
		seen.v[next].name = probe->name;
		*probe = seen.v[next];
		seen.v[next] = (struct rd_audit_probe){ 0 };
		at = next + 1;
	}
	for (size_t i = 0; i < seen.n; i++)
		rd_audit_probe_deinit(&seen.v[i]);
	free(seen.v);
	trace_deinit(&t);
	close(fds[0]);
	close(fds[1]);
	return r;
}

/* ---- the audit */

/* Packages, directories and module files; a kernel is split into three packages at most. */
#define PATHS_MAX 32
#define BASELINES_MAX 16

struct audit_opts {
	bool audit;
	const char *paths[PATHS_MAX];
	size_t n_paths;
	const char *baselines[BASELINES_MAX];
	size_t n_baselines;
	const char *write, *explain, *device;
	bool probe;
};

struct audit {
	struct rd_ctx *ctx;
	const struct audit_opts *opts;
	struct rd_source *kernel; /* NULL: the running one */
	struct rd_fnset set;
	struct rd_audit_set now, common, baselines[BASELINES_MAX];
	size_t n_baselines;
	struct rd_audit audit;
	struct rd_audit_probe probes[PROBES];
	struct rd_errlist notes;
};

static void audit_deinit(struct audit *a)
{
	rd_source_closep(&a->kernel);
	rd_fnset_deinit(&a->set);
	rd_audit_set_deinit(&a->now);
	rd_audit_set_deinit(&a->common);
	for (size_t i = 0; i < a->n_baselines; i++)
		rd_audit_set_deinit(&a->baselines[i]);
	rd_audit_deinit(&a->audit);
	for (size_t i = 0; i < PROBES; i++)
		rd_audit_probe_deinit(&a->probes[i]);
	rd_errlist_deinit(&a->notes);
}

static int take_path(void *state, const struct rd_opt *opt, const char *arg, struct rd_err *err)
{
	struct audit_opts *o = state;

	if (o->n_paths == PATHS_MAX)
		return rd_opt_refuse(opt, err, "given more than %d times", PATHS_MAX);
	o->paths[o->n_paths++] = arg;
	return 0;
}

static int take_baseline(void *state, const struct rd_opt *opt, const char *arg, struct rd_err *err)
{
	struct audit_opts *o = state;

	if (o->n_baselines == BASELINES_MAX)
		return rd_opt_refuse(opt, err, "given more than %d times", BASELINES_MAX);
	o->baselines[o->n_baselines++] = arg;
	return 0;
}

static const struct rd_opt options[] = {
	{ "audit", 0, NULL, "show which kernel functions are watched, and what differs from a baseline",
	  RD_FLAG(audit_opts, audit) },
	{ "modules", 0, "PATH",
	  "read this module file, kernel image, or directory with modules, instead of the running kernel; repeatable",
	  "file", RD_TAKES(take_path) },
	{ "kernel-package", 0, "FILE",
	  "read this Debian or RPM package of a kernel or of drivers, instead of the running kernel; repeatable",
	  "file", RD_TAKES(take_path) },
	{ "baseline", 0, "FILE",
	  "compare with a file of --write-baseline, a package or a directory with modules; repeatable with --explain",
	  "file", RD_TAKES(take_baseline) },
	{ "write-baseline", 0, "FILE", "write the functions to this file, for --baseline; replaces the file", "file",
	  RD_NEEDS_OUTPUT, RD_TEXT(audit_opts, write) },
	{ "probe", 0, NULL, "make calls that fail, trace them, and show whether each is seen, with which origin",
	  RD_FLAG(audit_opts, probe) },
	{ "device", 0, "IBDEV", "with --probe: make the calls on this device", "ibdev", RD_TEXT(audit_opts, device) },
	{ "explain", 0, "FUNCTION", "show why a function is watched or not, and which calls lead to it", "function",
	  RD_TEXT(audit_opts, explain) },
	{ 0 },
};

static const struct rd_opt_rule rules[] = {
	{ RD_EXCLUDES, "probe", "modules kernel-package explain", "it traces calls on the running kernel" },
	{ RD_REQUIRES, "device", "probe", "only its calls are made on a device" },
	{ RD_EXCLUDES, "explain", "write-baseline", "--explain shows one function, a baseline has all" },
	{ 0 },
};

static int check(struct rd_ctx *ctx, int argc, char **argv, struct rd_err *err)
{
	const struct audit_opts *o = ctx->state;

	if (argc)
		return rd_err_set(err, EINVAL, "--audit", "does not trace, and does not take a COMMAND");
	if (o->n_baselines > 1 && !o->explain)
		return rd_err_set(err, EINVAL, "--baseline", "given more than once without --explain");
	if (o->explain && !*o->explain)
		return rd_err_set(err, EINVAL, "--explain", "the name of the function is empty");
	return o->write ? rd_new_file_check(o->write, true, err) : 0;
}

/* The set of a kernel that is given by files. */
static int select_unbooted(const char *const *paths, size_t n, struct rd_source **source, struct rd_fnset *ret,
			   struct rd_errlist *notes, struct rd_err *err)
{
	return rd_unbooted_open(paths, n, source, notes, err) ?: rd_select(*source, ret, notes, err);
}

/* A baseline is a document, or a kernel. */
static int read_baseline(struct audit *a, const char *path, struct rd_err *err)
{
	struct rd_source *source __attribute__((cleanup(rd_source_closep))) = NULL;
	struct rd_audit_set *ret = &a->baselines[a->n_baselines];
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	_cleanup_(rd_fnset_deinit) struct rd_fnset set = { 0 };
	struct rd_err local = { 0 };
	int r = rd_read_local(path, &bytes, &local);

	if (r && r != -EISDIR) {
		*err = local;
		return r;
	}
	if (!r && bytes.size && (bytes.data[0] == '{' || bytes.data[0] <= ' ')) {
		r = rd_audit_baseline_parse(bytes.data, bytes.size, ret, err);
		if (r)
			snprintf(err->object, sizeof(err->object), "%s", path);
	} else {
		r = select_unbooted(&path, 1, &source, &set, &a->notes, err);
		if (!r)
			rd_audit_take(&set, true, ret);
	}
	if (!r)
		a->n_baselines++;
	return r;
}

static void add_notes(const struct audit *a, struct rd_report *report)
{
	const char *version = a->n_baselines ? a->baselines[0].version : NULL;

	/* Another version may select functions by other rules. */
	if (version && strcmp(version, RD_VERSION) != 0 && !a->opts->explain)
		rd_report_note(
			report,
			"the baseline was written by rdmadiag %s, and this is %s, which may select other functions; "
			"write the baseline again with this version",
			version, RD_VERSION);
	rd_errlist_add_all(&report->errors, &a->notes);
}

/* Notes that are the same for several modules are one line. */
static void warn_notes(const struct audit *a)
{
	const struct rd_errlist *notes = &a->notes;

	for (size_t i = 0, n; i < notes->n; i += n) {
		struct rd_err note = notes->v[i];
		const struct rd_errlist one = { .v = &note, .n = 1 };

		for (n = 1; !a->ctx->globals.verbose && i + n < notes->n && notes->v[i + n].code == note.code &&
			    !strcmp(notes->v[i + n].message, note.message);)
			n++;
		if (n > 1)
			snprintf(note.object, sizeof(note.object), "%.200s and %zu more (-v lists them)",
				 notes->v[i].object, n - 1);
		rd_warn_errors(a->ctx, &one, 0);
	}
}

/* Drivers that the baseline lacks would change what is selected in the others: as a data path, for example. */
static int compare(struct audit *a, struct rd_err *err)
{
	_cleanup_(rd_fnset_deinit) struct rd_fnset set = { 0 };
	bool hidden = false;
	int r;

	for (size_t i = 0; a->kernel && i < a->now.n_modules; i++) {
		const char *name = a->now.modules[i].name;

		/* Those of the core may have taken over functions of others. */
		if (rd_audit_module_find(&a->baselines[0], name) >= 0 ||
		    (a->set.modules[i].rdma && !a->set.modules[i].has_ops) ||
		    rd_audit_is_renamed_module(&a->baselines[0], &a->now, name))
			continue;
		rd_unbooted_hide(a->kernel, name);
		hidden = true;
	}
	r = hidden ? rd_select(a->kernel, &set, NULL, err) : 0;
	if (!r && hidden) {
		rd_audit_take(&set, true, &a->common);
		a->common.all = &a->now;
	}
	if (!r)
		rd_audit_compare(&a->baselines[0], hidden ? &a->common : &a->now, &a->audit);
	return r;
}

static int audit(struct audit *a, struct rd_err *err)
{
	_cleanup_buf_ struct rd_buf text = { 0 };
	const struct rd_section *tables[2];
	_cleanup_(rd_report_deinit) struct rd_report report = { 0 };
	size_t n = 0;
	int r = a->n_baselines ? compare(a, err) : 0;

	if (!r && a->opts->probe)
		r = trace_probes(a->ctx, &a->set, a->opts->device, a->probes, err);
	if (r)
		return r;
	warn_notes(a);
	rd_output_init(a->ctx, &report);
	rd_report_audit(&report, &a->set, &a->now, a->n_baselines ? &a->baselines[0] : NULL,
			a->n_baselines ? &a->audit : NULL);
	add_notes(a, &report);
	if (a->opts->probe)
		rd_report_audit_probes(&report, a->probes, PROBES, a->n_baselines ? &a->baselines[0] : NULL);
	if (a->opts->write) {
		rd_render_json(&report, RD_VERSION, &text);
		r = rd_replace_file(a->opts->write, &text, err);
	}
	if (!a->n_baselines || a->audit.n)
		tables[n++] = rd_report_section(&report, a->n_baselines ? "changes" : "modules");
	if (a->opts->probe)
		tables[n++] = rd_report_section(&report, "probes");
	if (!r)
		r = a->ctx->globals.json ? rd_output_print(a->ctx, &report) :
					   rd_output_tables(a->ctx, &report, tables, n);
	return r;
}

static int explain(struct audit *a)
{
	_cleanup_free_ struct rd_audit_reason *whys;
	size_t n = rd_audit_reasons(&a->set, a->opts->explain, &whys);
	const struct rd_section *table;
	_cleanup_(rd_report_deinit) struct rd_report report;

	warn_notes(a);
	rd_output_init(a->ctx, &report);
	rd_report_audit_explain(&report, &a->set, a->opts->explain, whys, n, a->baselines, a->n_baselines);
	add_notes(a, &report);
	table = report.sections[0];
	return a->ctx->globals.json ? rd_output_print(a->ctx, &report) :
				      rd_output_tables(a->ctx, &report, &table, table->n > 0);
}

/* A line on a terminal, which the next one overwrites; NULL removes it. Each kernel takes a quarter of a minute or more. */
static void show_progress(const char *what)
{
	if (isatty(STDERR_FILENO))
		dprintf(STDERR_FILENO, "\r\033[K%s%.60s", what ? RD_PROGRAM ": reading " : "", what ? what : "");
}

static int run_audit(struct rd_ctx *ctx, int argc, char **argv)
{
	_cleanup_(audit_deinit) struct audit a = { .ctx = ctx, .opts = ctx->state };
	struct rd_err err = { 0 };
	int r;

	ctx->schema = a.opts->explain ? "rdmadiag/trace-errno-audit-explain/1" : RD_AUDIT_SCHEMA;
	show_progress(a.opts->n_paths ? a.opts->paths[0] : "the running kernel");
	if (a.opts->n_paths)
		r = select_unbooted(a.opts->paths, a.opts->n_paths, &a.kernel, &a.set, &a.notes, &err);
	else
		r = trace_have_rdma(ctx->source, &err) ?: rd_select(ctx->source, &a.set, &a.notes, &err);
	if (!r)
		rd_audit_take(&a.set, a.opts->n_paths > 0, &a.now);
	for (size_t i = 0; !r && i < a.opts->n_baselines; i++) {
		show_progress(a.opts->baselines[i]);
		r = read_baseline(&a, a.opts->baselines[i], &err);
	}
	show_progress(NULL);
	if (!r)
		r = a.opts->explain ? explain(&a) : audit(&a, &err);
	return r < 0 ? rd_fail(ctx, &err) : r;
}

const struct rd_cmd rd_cmd_trace_audit = {
	.name = "trace-errno",
	.option = "audit",
	.summary = "show which kernel functions are watched, and what differs from a baseline",
	.question = "Will that work after a kernel update",
	.opts = options,
	.rules = rules,
	.description =
		"Computes which functions trace-errno watches on the running kernel, or on a kernel that is not booted, from its\n"
		"package or modules, and compares them with those of another kernel, the baseline. Only --probe traces.\n"
		"Exit status with a baseline: 0 the same, 1 something differs, 2 a function that could be shown as the origin\n"
		"of an error cannot be any more, 3 the result is unknown.",
	.examples =
		"  rdmadiag trace-errno --audit --write-baseline today.json\n"
		"  rdmadiag trace-errno --audit --baseline today.json --kernel-package linux-image.deb\n"
		"  rdmadiag trace-errno --audit --baseline old.json --modules /lib/modules/6.12.1/updates/dkms/mlx5_ib.ko.xz\n"
		"  rdmadiag trace-errno --audit --explain ib_umem_get\n",
	.live_only = true,
	.state_size = sizeof(struct audit_opts),
	.check = check,
	.run = run_audit,
};
