/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rdmadiag shell: a prompt over this host or a bundle, and scripts on standard input. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "cmd/opts.h"
#include "cmd/shell/reader.h"
#include "cmd/shell/shell.h"

#define PROMPT_NAME 24 /* columns of the bundle's name */

struct shell_opts {
	bool keep_going;
};

struct session {
	struct shell shell;
	const struct shell_opts *opts;
	unsigned line; /* number of the latest one */
	bool quit;
};

/* ---- commands of the shell itself: exit codes */

static int print(const char *text)
{
	struct rd_buf out = { .data = (char *)text, .len = strlen(text) };

	rd_out(&out);
	return RD_EXIT_OK;
}

static int run_use(struct session *s, const struct shell_line *line)
{
	const char *what = line->n > 1 ? line->words[1] : NULL;
	_cleanup_free_ char *text = NULL, *safe = NULL;

	if (what)
		return shell_use(&s->shell, strcmp(what, "live") == 0 ? NULL : what) < 0 ? RD_EXIT_UNKNOWN : RD_EXIT_OK;
	safe = rd_safe(s->shell.bundle ? s->shell.bundle : "live, which is this host");
	text = rd_text("in use: %s\n", safe);
	return print(text);
}

static int refuse(const char *object, const char *message, const char *hint)
{
	struct rd_err err = { 0 };

	rd_err_set(&err, EINVAL, object, "%s", message);
	rd_err_hint(&err, "%s", hint);
	return rd_fail_usage(NULL, &err);
}

/* The finding with the number in the second word; NULL: there is no such finding, which has been reported. */
static const struct shell_finding *get_finding(const struct session *s, const struct shell_line *line)
{
	const struct shell_finding *finding = NULL;
	uint64_t number;

	if (s->shell.findings.n == 0) {
		refuse(line->words[0], "no command has printed findings yet", "topo-check");
		return NULL;
	}
	if (line->n > 1 && rd_parse_uint(line->words[1], RD_DECIMAL, SHELL_FINDINGS_MAX, &number) == 0)
		finding = shell_findings_get(&s->shell.findings, (unsigned)number);
	if (!finding)
		refuse(line->n > 1 ? line->words[1] : line->words[0], "the number of a finding is expected", "findings");
	return finding;
}

static int run_explain(struct session *s, const struct shell_line *line)
{
	const struct shell_finding *finding = get_finding(s, line);

	return finding ? print(finding->text) : RD_EXIT_UNKNOWN;
}

/* Printed only: what it says may interrupt jobs. */
static int run_fix(struct session *s, const struct shell_line *line)
{
	const struct shell_finding *finding = get_finding(s, line);

	if (!finding)
		return RD_EXIT_UNKNOWN;
	return print(*finding->fix ? finding->fix : "nothing is known that would fix it\n");
}

static int run_findings(struct session *s, const struct shell_line *line)
{
	_cleanup_buf_ struct rd_buf out = { 0 };

	(void)line;
	if (s->shell.findings.n == 0)
		return print("no command has printed findings yet\n");
	rd_buf_printf(&out, "of %s:\n", s->shell.source ? s->shell.source : "the latest command");
	for (size_t i = 0; i < s->shell.findings.n; i++) {
		const struct shell_finding *finding = &s->shell.findings.v[i];

		rd_buf_printf(&out, "[%u] %.*s\n", finding->number, (int)strcspn(finding->text, "\n"), finding->text);
	}
	rd_out(&out);
	return RD_EXIT_OK;
}

static int run_quit(struct session *s, const struct shell_line *line)
{
	(void)line;
	s->quit = true;
	return RD_EXIT_OK;
}

static int run_help(struct session *s, const struct shell_line *line);

static const struct own_command {
	const char *name, *operand, *help;
	size_t most; /* words after the name */
	int (*run)(struct session *s, const struct shell_line *line);
} own_commands[] = {
	{ "use", "[BUNDLE|live]", "read a bundle from now on, or this host; without operand: what is in use", 1,
	  run_use },
	{ "findings", "", "list the findings of the latest command that had some", 0, run_findings },
	{ "explain", "N", "all that is known about finding N; with a line of a log: what it means", 1, run_explain },
	{ "fix", "N", "what to do about finding N; nothing is run", 1, run_fix },
	{ "help", "[COMMAND]", "this list, or the help of a command", 1, run_help },
	{ "quit", "", "leave the shell; so does Ctrl-D", 0, run_quit },
};

static int run_help(struct session *s, const struct shell_line *line)
{
	_cleanup_buf_ struct rd_buf out = { 0 };

	if (line->n > 1)
		return shell_run(&s->shell, line, STDOUT_FILENO);
	rd_buf_str(&out, "COMMAND [OPTION...] [> FILE | >> FILE], or COMMAND [OPTION...] | COMMAND of sh\n\n");
	for (size_t i = 0; i < RD_ARRAY_SIZE(own_commands); i++)
		rd_buf_printf(&out, "  %-9s%-14s %s\n", own_commands[i].name, own_commands[i].operand,
			      own_commands[i].help);
	rd_buf_str(&out, "\n");
	for (const struct rd_cmd *const *cmd = rd_commands; *cmd; cmd++)
		if (!(*cmd)->hidden && !(*cmd)->starts_commands)
			rd_buf_printf(&out, "  %-23s %s\n", (*cmd)->name, (*cmd)->summary);
	rd_buf_str(&out, "\nNames may be shortened. Tab completes, ? lists what can follow, Ctrl-C ends a command.\n");
	rd_out(&out);
	return RD_EXIT_OK;
}

/* ---- lines */

static bool begins(const char *name, const char *word)
{
	return strncmp(name, word, strlen(word)) == 0;
}

/* "explain 2" is about a finding; behind anything else there is the command of this name. */
static bool is_number(const struct shell_line *line)
{
	return line->n == 1 || (line->n == 2 && !line->words[1][strspn(line->words[1], "0123456789")]);
}

/* The shell's own command that the first word means: the name, or a prefix that no other command has. -EINVAL: it may be several. */
static int find_own(const struct shell_line *line, const struct own_command **ret, struct rd_err *err)
{
	_cleanup_buf_ struct rd_buf names = { 0 };
	const char *word = line->words[0];
	size_t n = 0, own = 0;

	*ret = NULL;
	if (rd_cmd_find(word) && !is_number(line))
		return 0;
	for (size_t i = 0; i < RD_ARRAY_SIZE(own_commands); i++) {
		bool whole = strcmp(own_commands[i].name, word) == 0;

		if (!whole && !begins(own_commands[i].name, word))
			continue;
		*ret = &own_commands[i];
		if (whole)
			return 0;
		own++;
		rd_buf_printf(&names, "%s%s", n++ ? ", " : "", own_commands[i].name);
	}
	for (const struct rd_cmd *const *cmd = rd_commands; own && *cmd; cmd++)
		if (!(*cmd)->hidden && begins((*cmd)->name, word) && strcmp((*cmd)->name, (*ret)->name) != 0)
			rd_buf_printf(&names, "%s%s", n++ ? ", " : "", (*cmd)->name);
	if (n > 1)
		return rd_err_set(err, EINVAL, word, "ambiguous: %s", names.data);
	if (*ret && rd_cmd_find((*ret)->name) && !is_number(line))
		*ret = NULL;
	return 0;
}

static int run_own(struct session *s, const struct own_command *own, const struct shell_line *line)
{
	if (line->n - 1 > own->most)
		return refuse(line->words[own->most + 1], "unexpected word", "help");
	if (line->program || line->file)
		return refuse(own->name, "its output cannot be piped or written to a file", "help");
	return own->run(s, line);
}

static int open_output(const struct shell_line *line, struct rd_err *err)
{
	int fd =
		open(line->file, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | (line->append ? O_APPEND : O_TRUNC), 0666);

	return fd < 0 ? rd_err_set(err, errno, line->file, "cannot open it for writing") : fd;
}

/* "topo-check -d mlx5_0", for the list of its findings. */
static void note_source(struct session *s, const struct shell_line *line)
{
	_cleanup_buf_ struct rd_buf text = { 0 };

	for (size_t i = 0; i < line->n; i++) {
		rd_buf_str(&text, i ? " " : "");
		rd_buf_safe(&text, line->words[i], strlen(line->words[i]));
	}
	free(s->shell.source);
	s->shell.source = rd_dup(text.data);
}

static int run_command(struct session *s, const struct shell_line *line)
{
	_cleanup_close_ int file = -1;
	const char *first = s->shell.findings.n ? s->shell.findings.v[0].text : NULL;
	const struct rd_cmd *cmd = NULL;
	struct rd_err err = { 0 };
	int code;

	if (line->words[0][0] != '-' && rd_cmd_choose(line->words[0], &cmd, &err) == 0 && cmd->starts_commands)
		return refuse(cmd->name, "this is a shell already", "help");
	if (line->file) {
		file = open_output(line, &err);
		if (file < 0)
			return rd_fail(NULL, &err);
	}
	code = shell_run(&s->shell, line, file < 0 ? STDOUT_FILENO : file);
	if (s->shell.findings.n && s->shell.findings.v[0].text != first)
		note_source(s, line);
	return code;
}

/* What is pasted from a fix or a manual begins with the name of the program. */
static void drop_program(struct shell_line *line)
{
	if (line->n < 2 || strcmp(line->words[0], RD_PROGRAM) != 0)
		return;
	free(line->words[0]);
	memmove(line->words, line->words + 1, line->n * sizeof(*line->words));
	line->n--;
}

static int run_line(struct session *s, const char *text)
{
	const struct own_command *own = NULL;
	struct shell_line line;
	struct rd_err err = { 0 };
	int code = RD_EXIT_OK;

	if (shell_line_parse(text, &line, &err) < 0)
		return rd_fail_usage(NULL, &err);
	drop_program(&line);
	if (line.n > 0 && find_own(&line, &own, &err) < 0) {
		rd_err_hint(&err, "help");
		code = rd_fail_usage(NULL, &err);
	} else if (own) {
		code = run_own(s, own, &line);
	} else if (line.n > 0) {
		code = run_command(s, &line);
	}
	shell_line_deinit(&line);
	return code;
}

/* ---- completion */

static void add_candidate(struct rd_buf *out, const char *typed, const char *word, const char *help)
{
	if (begins(word, typed))
		rd_buf_printf(out, "%s\t%s\n", word, help);
}

static void complete_own(struct session *s, const struct shell_line *line, const struct own_command *own,
			 struct rd_buf *out)
{
	const char *typed = line->words[line->n - 1];

	if (own->run == run_use) {
		add_candidate(out, typed, "live", "this host");
		rd_buf_str(out, ":file\n");
	} else if (own->run == run_help) {
		for (const struct rd_cmd *const *cmd = rd_commands; *cmd; cmd++)
			if (!(*cmd)->hidden)
				add_candidate(out, typed, (*cmd)->name, (*cmd)->summary);
	} else if (own->most > 0) {
		for (size_t i = 0; i < s->shell.findings.n; i++) {
			_cleanup_free_ char *number = rd_text("%u", s->shell.findings.v[i].number);
			_cleanup_free_ char *first =
				rd_dup_part(s->shell.findings.v[i].text, strcspn(s->shell.findings.v[i].text, "\n"));

			add_candidate(out, typed, number, first);
		}
	}
}

/* See shell_reader. */
static char *complete(void *arg, const char *before)
{
	struct session *s = arg;
	_cleanup_buf_ struct rd_buf out = { 0 };
	const struct own_command *own = NULL;
	struct shell_line line;
	struct rd_err err;
	bool command;

	shell_line_typed(before, &line, &command);
	if (!command) {
		if (strchr(before, '>'))
			rd_buf_str(&out, ":file\n");
	} else if (line.n == 1) {
		for (size_t i = 0; i < RD_ARRAY_SIZE(own_commands); i++)
			add_candidate(&out, line.words[0], own_commands[i].name, own_commands[i].help);
		shell_complete(&s->shell, &line, &out);
	} else if (line.n > 1 && find_own(&line, &own, &err) == 0 && own) {
		if (line.n == 2)
			complete_own(s, &line, own, &out);
	} else if (line.n > 1) {
		shell_complete(&s->shell, &line, &out);
	}
	shell_line_deinit(&line);
	return !command && !out.len ? NULL : rd_dup(out.data ? out.data : "");
}

/* ---- all lines */

/* "rdmadiag host-a.tar.zst> " */
static char *make_prompt(const struct session *s)
{
	const char *slash = s->shell.bundle ? strrchr(s->shell.bundle, '/') : NULL;
	const char *name = !s->shell.bundle ? "live" : slash && slash[1] ? slash + 1 : s->shell.bundle;
	_cleanup_free_ char *safe = rd_safe(name);
	size_t length = strlen(safe);

	if (length <= PROMPT_NAME)
		return rd_text("%s %s> ", RD_PROGRAM, safe);
	return rd_text("%s ...%s> ", RD_PROGRAM, safe + length - PROMPT_NAME + 3);
}

/* critical, else warning, else unknown. */
static int worst_of(int a, int b)
{
	static const int rank[] = {
		[RD_EXIT_OK] = 0, [RD_EXIT_UNKNOWN] = 1, [RD_EXIT_WARNING] = 2, [RD_EXIT_CRITICAL] = 3
	};

	return rank[a] >= rank[b] ? a : b;
}

/* Reports the line that ended a script. */
static void report_stop(const struct session *s, const char *text)
{
	_cleanup_free_ char *safe = rd_safe(text);

	rd_warn(NULL, "line %u: '%s' failed: the lines after it are not run (shell -k runs them)", s->line, safe);
}

static int run_lines(struct session *s, struct shell_reader *reader)
{
	int worst = RD_EXIT_OK;

	while (!s->quit) {
		_cleanup_free_ char *prompt = s->shell.terminal ? make_prompt(s) : NULL, *text = NULL;
		enum shell_read read = shell_reader_next(reader, prompt, &text);
		int code;

		if (read == SHELL_READ_END)
			break;
		if (read == SHELL_READ_INTERRUPTED)
			continue;
		s->line++;
		text[strcspn(text, "\n")] = '\0';
		code = run_line(s, text);
		code = code > RD_EXIT_UNKNOWN ? RD_EXIT_UNKNOWN : code;
		worst = worst_of(worst, code);
		if (s->shell.terminal || s->opts->keep_going || code != RD_EXIT_UNKNOWN)
			continue;
		report_stop(s, text);
		return worst == RD_EXIT_CRITICAL ? worst : RD_EXIT_UNKNOWN;
	}
	return s->shell.terminal ? RD_EXIT_OK : worst;
}

static int shell_cmd_run(struct rd_ctx *ctx, int argc, char **argv)
{
	struct session s = { .opts = ctx->state, .shell.terminal = isatty(STDIN_FILENO) };
	struct shell_reader reader = { .complete = complete, .arg = &s };
	int code = RD_EXIT_UNKNOWN;

	/* What is typed ends commands and lines, but not the shell. */
	if (s.shell.terminal) {
		signal(SIGINT, SIG_IGN);
		signal(SIGQUIT, SIG_IGN);
		signal(SIGTSTP, SIG_IGN);
	}
	if (argc == 0 || strcmp(argv[0], "live") == 0 || shell_use(&s.shell, argv[0]) == 0) {
		shell_reader_open(&reader, s.shell.terminal && isatty(STDOUT_FILENO));
		if (reader.edits)
			print("help lists the commands, ? what can follow. With GNU Readline this is under the GPL, "
			      "version 3 or later.\n");
		code = run_lines(&s, &reader);
		shell_reader_close(&reader);
	}
	shell_deinit(&s.shell);
	return code;
}

static int check_operands(struct rd_ctx *ctx, int argc, char **argv, struct rd_err *err)
{
	if (ctx->globals.from)
		return rd_err_set(err, EINVAL, "--from", "in the shell the bundle is an operand: shell %s",
				  ctx->globals.from);
	if (ctx->given_globals)
		return rd_err_set(err, EINVAL, "shell", "options of the output are given to the commands in the shell");
	return argc > 1 ? rd_err_set(err, EINVAL, argv[1], "unexpected operand: one bundle is used at a time") : 0;
}

static const struct rd_opt shell_options[] = {
	{ "keep-going", 'k', NULL, "in a script: go on after a line that failed", RD_FLAG(shell_opts, keep_going) },
	{ 0 },
};

const struct rd_cmd rd_cmd_shell = {
	.name = "shell",
	.summary = "a prompt over this host or a bundle, and scripts",
	.question = "Several of these, on one host or bundle?",
	.operands = "[BUNDLE|live]",
	.opts = shell_options,
	.description = "Runs commands without " RD_PROGRAM " before them, on this host or on a bundle.",
	.examples = "  rdmadiag shell\n"
		    "  rdmadiag shell host-a.tar.zst\n"
		    "  printf 'topo-check\\nqp-state --by job\\n' | rdmadiag shell host-a.tar.zst\n",
	.starts_commands = true,
	.check = check_operands,
	.state_size = sizeof(struct shell_opts),
	.run = shell_cmd_run,
};
