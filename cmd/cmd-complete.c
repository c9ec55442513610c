/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hidden command, called by the shell when Tab is pressed. `complete -- WORD…` prints the completions of the last WORD, one
 * per line, each followed by a tab and a description. ":file" and ":command" make the shell use its own completion.
 * `complete --dump` prints the option tables, for tests and packagers.
 */
#include "opts.h"

#include <ctype.h>

#include "check/shared/check.h"
#include "cmd/datafile.h"
#include "cmd/privileges.h"
#include "collect/rdma/rdma.h"
#include "report/shared/report.h"

struct complete_state {
	bool dump;
};

/* Parser state after the words before the last one. */
struct cursor {
	const struct rd_cmd *cmd;
	const struct rd_opt *pending; /* the next word is its argument */
	bool operands;		      /* options have ended */
	bool help;		      /* the command is "help" */
	size_t n_operands;
};

/* Prints `before` + `word` as a candidate if it begins with `typed`. */
static void add_candidate(struct rd_buf *out, const char *typed, const char *before, const char *word, const char *help)
{
	_cleanup_buf_ struct rd_buf whole = { 0 };

	rd_buf_part(&whole, before, word);
	if (!rd_starts_with(whole.data, typed))
		return;
	rd_buf_printf(out, "%s\t", whole.data);
	rd_buf_safe(out, help, strlen(help));
	rd_buf_str(out, "\n");
}

static void add_options(struct rd_buf *out, const char *typed, const struct rd_cmd *cmd)
{
	const struct rd_opt *opts[2 * RD_OPTS_MAX] = { 0 };
	size_t n = cmd ? rd_opts_of(cmd, opts) : 0;

	for (size_t i = 0; i < n; i++)
		add_candidate(out, typed, "--", opts[i]->name, opts[i]->help);
	for (const struct rd_opt *opt = rd_global_opts; opt->name; opt++)
		add_candidate(out, typed, "--", opt->name, opt->help);
}

static void add_words(struct rd_buf *out, const char *typed, const char *before, const char *words)
{
	while (words) {
		_cleanup_free_ char *word = rd_next_part(&words, '|');

		add_candidate(out, typed, before, word, "");
	}
}

static void add_ibdevs(struct rd_source *source, struct rd_buf *out, const char *typed, const char *before)
{
	_cleanup_texts_ struct rd_texts names = { 0 };

	if (rd_list_dir(source, "/sys/class/infiniband", &names, NULL) < 0)
		return;
	for (size_t i = 0; i < names.n; i++)
		add_candidate(out, typed, before, names.v[i], "");
}

static void add_pids(struct rd_source *source, struct rd_buf *out, const char *typed, const char *before)
{
	_cleanup_texts_ struct rd_texts names = { 0 };

	if (rd_list_dir(source, "/proc", &names, NULL) < 0)
		return;
	for (size_t i = 0; i < names.n; i++) {
		_cleanup_free_ char *comm = NULL;

		if (!isdigit((unsigned char)names.v[i][0]))
			continue;
		rd_read_textf(source, &comm, NULL, "/proc/%s/comm", names.v[i]);
		add_candidate(out, typed, before, names.v[i], comm ?: "");
	}
}

static void add_users(struct rd_source *source, struct rd_buf *out, const char *typed, const char *before)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	char *line, *rest;

	if (rd_read_file(source, "/etc/passwd", &bytes, NULL) < 0)
		return;
	for (line = strtok_r((char *)bytes.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		line[strcspn(line, ":")] = '\0';
		add_candidate(out, typed, before, line, "");
	}
}

/* The part of a list that is complete: "a,b," of "a,b,c"; caller frees. */
static char *listed_before(const char *typed, const char *before)
{
	const char *comma = strrchr(typed, ',');

	return comma ? rd_dup_part(typed, (size_t)(comma + 1 - typed)) : rd_dup(before);
}

/* Those with a meaning; names that are patterns are left out. */
static void add_counters(struct rd_buf *out, const char *typed, const char *before)
{
	_cleanup_(rd_errlist_deinit) struct rd_errlist notes = { 0 };
	_cleanup_(rd_meanings_deinit) struct rd_meanings meanings = { 0 };
	const char *last = "";
	struct rd_err err;

	rd_read_meanings(&meanings, &notes, &err);
	for (size_t i = 0; i < meanings.n; i++) {
		const struct rd_meaning *meaning = &meanings.v[i];

		if (strpbrk(meaning->name, "*?[") || strcmp(meaning->name, last) == 0)
			continue;
		add_candidate(out, typed, before, meaning->name, meaning->text);
		last = meaning->name;
	}
}

/* Numbers of queue pairs, with their device and the process that owns them. */
static void add_qpns(struct rd_source *source, struct rd_buf *out, const char *typed, const char *before)
{
	_cleanup_(rd_errlist_deinit) struct rd_errlist errors = { 0 };
	_cleanup_free_ char *kept = listed_before(typed, before);
	_cleanup_(rd_res_deinit) struct rd_res res = { 0 };
	struct rd_err err;

	if (rd_collect_res(source, RD_WANT_QPS | RD_WANT_PROCS, NULL, &res, &errors, &err) < 0)
		return;
	for (size_t i = 0; i < res.n_qps; i++) {
		const struct rd_qp *qp = &res.qps[i];
		const struct rd_proc *proc = qp->proc >= 0 ? &res.procs[qp->proc] : NULL;
		_cleanup_free_ char *number = rd_text("%u", qp->lqpn.v);
		_cleanup_free_ char *help = rd_text("%s%s%s", res.devs[qp->dev].name, proc && proc->comm ? " " : "",
						    proc && proc->comm ? proc->comm : "");

		add_candidate(out, typed, kept, number, help);
	}
}

/* Column names after a comma or a plus sign; the text before them is kept. */
static void add_columns(const struct rd_cmd *cmd, struct rd_buf *out, const char *typed, const char *before)
{
	_cleanup_free_ char *kept = NULL;
	const char *comma = strrchr(typed, ',');

	if (!cmd)
		return;
	kept = comma ? rd_dup_part(typed, (size_t)(comma + 1 - typed)) :
		       rd_text("%s%s", before, typed[strlen(before)] == '+' ? "+" : "");
	for (size_t c = 0; c < cmd->n_columns; c++)
		add_candidate(out, typed, kept, cmd->columns[c].key, cmd->columns[c].help ? cmd->columns[c].help : "");
}

/* `before`: the part of the same word before the argument ("--color="). */
static void complete_argument(const struct rd_ctx *ctx, const struct cursor *cursor, const struct rd_opt *opt,
			      const char *typed, const char *before, struct rd_buf *out)
{
	const char *kind = opt->complete;

	if (!kind)
		return;
	if (strcmp(kind, "file") == 0)
		rd_buf_str(out, ":file\n");
	else if (strcmp(kind, "errno") == 0) {
		for (int code = 1; code < 134; code++)
			if (rd_errno_name(code))
				add_candidate(out, typed, before, rd_errno_name(code), rd_errno_text(code));
	} else if (strcmp(kind, "ibdev") == 0)
		add_ibdevs(ctx->source, out, typed, before);
	else if (strcmp(kind, "pid") == 0)
		add_pids(ctx->source, out, typed, before);
	else if (strcmp(kind, "user") == 0)
		add_users(ctx->source, out, typed, before);
	else if (strcmp(kind, "rule") == 0) {
		_cleanup_free_ char *kept = listed_before(typed, before);

		for (size_t i = 0; i < rd_n_checks; i++)
			add_candidate(out, typed, kept, rd_checks[i]->id, rd_checks[i]->title);
	} else if (strcmp(kind, "counter") == 0)
		add_counters(out, typed, before);
	else if (strcmp(kind, "qpn") == 0)
		add_qpns(ctx->source, out, typed, before);
	else if (strcmp(kind, "column") == 0)
		add_columns(cursor->cmd, out, typed, before);
	else if (strchr(kind, '|'))
		add_words(out, typed, before, kind);
}

static void read_word(struct cursor *cursor, const char *word)
{
	const struct rd_opt *opt;

	if (cursor->pending) {
		/* bash passes "--color=x" as three words. */
		if (strcmp(word, "=") != 0)
			cursor->pending = NULL;
		return;
	}
	if (cursor->operands) {
		cursor->n_operands++;
		return;
	}
	if (strcmp(word, "--") == 0) {
		cursor->operands = true;
		return;
	}
	if (word[0] == '-' && word[1]) {
		opt = rd_opts_find(cursor->cmd, word);
		if (opt && cursor->cmd && cursor->cmd->variant && strcmp(opt->name, cursor->cmd->variant->option) == 0)
			cursor->cmd = cursor->cmd->variant;
		if (!opt || !opt->arg)
			return;
		if (rd_starts_with(word, "--") ? !strchr(word, '=') : !word[2])
			cursor->pending = opt;
		return;
	}
	if (!cursor->cmd) {
		cursor->help = strcmp(word, "help") == 0;
		if (!cursor->help)
			rd_cmd_choose(word, &cursor->cmd, NULL);
		cursor->operands = !cursor->cmd;
		return;
	}
	cursor->n_operands++;
	cursor->operands = cursor->cmd->runs_command;
}

static void add_commands(struct rd_buf *out, const char *typed)
{
	for (const struct rd_cmd *const *cmd = rd_commands; *cmd; cmd++)
		if (!(*cmd)->hidden)
			add_candidate(out, typed, "", (*cmd)->name, (*cmd)->summary);
}

static void complete_words(const struct rd_ctx *ctx, int n, char **words, struct rd_buf *out)
{
	const char *typed = n > 0 ? words[n - 1] : "";
	struct cursor cursor = { 0 };
	const struct rd_opt *opt;

	for (int i = 0; i < n - 1; i++)
		read_word(&cursor, words[i]);
	if (cursor.pending) {
		complete_argument(ctx, &cursor, cursor.pending, strcmp(typed, "=") == 0 ? "" : typed, "", out);
		return;
	}
	if (!cursor.operands && rd_starts_with(typed, "--") && strchr(typed, '=')) {
		_cleanup_free_ char *before = rd_dup_part(typed, strcspn(typed, "=") + 1);

		opt = rd_opts_find(cursor.cmd, typed);
		if (opt && opt->arg && before)
			complete_argument(ctx, &cursor, opt, typed, before, out);
		return;
	}
	if (cursor.help && cursor.n_operands == 0) {
		add_commands(out, typed);
	} else if (cursor.help) {
		add_words(out, typed, "", "all");
	} else if (!cursor.operands && typed[0] == '-') {
		add_options(out, typed, cursor.cmd);
	} else if (!cursor.cmd && !cursor.operands) {
		add_commands(out, typed);
	} else if (cursor.cmd && cursor.cmd->runs_command) {
		rd_buf_str(out, cursor.n_operands == 0 ? ":command\n" : ":file\n");
	} else if (cursor.cmd && cursor.cmd->operands) {
		if (strstr(cursor.cmd->operands, "DEVICE"))
			add_ibdevs(ctx->source, out, typed, "");
		rd_buf_str(out, ":file\n");
	}
}

static const struct rd_column command_columns[] = {
	{ .key = "name", .type = RD_T_STR },	      { .key = "summary", .type = RD_T_STR },
	{ .key = "operands", .type = RD_T_STR },      { .key = "hidden", .type = RD_T_BOOL },
	{ .key = "runs_command", .type = RD_T_BOOL },
};

static const struct rd_column option_columns[] = {
	{ .key = "command", .type = RD_T_STR },	 { .key = "name", .type = RD_T_STR },
	{ .key = "letter", .type = RD_T_STR },	 { .key = "argument", .type = RD_T_STR },
	{ .key = "complete", .type = RD_T_STR }, { .key = "help", .type = RD_T_STR },
};

static void add_opt_row(struct rd_section *section, const char *command, const struct rd_opt *opt)
{
	const char letter[] = { opt->letter, '\0' };

	RD_ROW(section, RD_STR(command), RD_STR(opt->name), RD_STR(opt->letter ? letter : NULL), RD_STR(opt->arg),
	       RD_STR(opt->complete), RD_STR(opt->help));
}

/* The bundle that the command line names: devices are its. NULL: this host. */
static struct rd_source *open_bundle(struct rd_ctx *ctx, int argc, char **argv)
{
	struct rd_source *source = NULL;
	const char *path = NULL;

	for (int i = 0; i + 1 < argc; i++)
		if (rd_starts_with(argv[i], "--from="))
			path = argv[i] + strlen("--from=");
		else if (strcmp(argv[i], "--from") == 0 && i + 2 < argc)
			path = argv[i + 1];
	if (!path || strcmp(path, "-") == 0)
		return NULL;
	rd_privileges_note(RD_NEEDS_FOREIGN_BUNDLE, path);
	if (rd_privileges_drop(ctx, 0, argv, NULL) < 0 || rd_source_bundle_open(path, &source, NULL) < 0)
		return NULL;
	return source;
}

static int complete_run(struct rd_ctx *ctx, int argc, char **argv)
{
	const struct complete_state *state = ctx->state;
	_cleanup_(rd_source_closep) struct rd_source *bundle = NULL;
	_cleanup_buf_ struct rd_buf out = { 0 };
	struct rd_ctx of = *ctx;

	if (state->dump) {
		struct rd_section *commands = RD_SECTION("commands", command_columns);
		struct rd_section *options = RD_SECTION("options", option_columns);
		const struct rd_opt *opts[2 * RD_OPTS_MAX];
		struct rd_report report;
		int r;

		rd_output_init(ctx, &report);
		for (const struct rd_opt *opt = rd_global_opts; opt->name; opt++)
			add_opt_row(options, NULL, opt);
		for (const struct rd_cmd *const *cmd = rd_commands; *cmd; cmd++) {
			RD_ROW(commands, RD_STR((*cmd)->name), RD_STR((*cmd)->summary), RD_STR((*cmd)->operands),
			       RD_BOOL((*cmd)->hidden), RD_BOOL((*cmd)->runs_command));
			for (size_t i = 0, n = rd_opts_of(*cmd, opts); i < n; i++)
				add_opt_row(options, (*cmd)->name, opts[i]);
		}
		ctx->globals.json = true;
		rd_report_add(&report, commands);
		rd_report_add(&report, options);
		r = rd_output_print(ctx, &report);
		rd_report_deinit(&report);
		return r;
	}
	bundle = open_bundle(ctx, argc, argv);
	if (bundle)
		of.source = bundle;
	complete_words(&of, argc, argv, &out);
	rd_out(&out);
	return RD_EXIT_OK;
}

static const struct rd_opt complete_opts[] = {
	{ "dump", 0, NULL, "print the tables of commands and options as JSON", RD_FLAG(complete_state, dump) },
	{ 0 },
};

const struct rd_cmd rd_cmd_complete = {
	.name = "complete",
	.summary = "list completions of a word on the command line",
	.operands = "-- [WORD...]",
	.opts = complete_opts,
	.description = "Used by the completion files of the shells: prints the completions of the last WORD.",
	.hidden = true,
	.runs_command = true,
	.state_size = sizeof(struct complete_state),
	.run = complete_run,
};
