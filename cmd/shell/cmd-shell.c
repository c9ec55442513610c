/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rdmadiag shell: a prompt over this host or a bundle, and scripts on standard input. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "cmd/opts.h"
#include "cmd/program.h"
#include "cmd/shell/shell.h"
#include "confine/confine.h"
#include "source/bundle/bundle.h"

enum token {
	TOKEN_WORD,
	TOKEN_PIPE,
	TOKEN_FILE,
	TOKEN_APPEND,
	TOKEN_END,
	TOKEN_OPEN, /* a word whose quote is not closed */
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Reads a word up to a blank or operator. Returns false if a quote is open at the end. */
static bool read_word(const char **at, struct rd_buf *word)
{
	char quote = '\0';

	for (; **at && (quote || (!is_blank(**at) && **at != '|' && **at != '>')); (*at)++) {
		if (quote ? **at == quote : **at == '\'' || **at == '"') {
			quote = quote ? '\0' : **at;
			continue;
		}
		if (**at == '\\' && quote != '\'' && (*at)[1])
			(*at)++;
		rd_buf_add(word, *at, 1);
	}
	return quote == '\0';
}

static enum token next_token(const char **at, struct rd_buf *word)
{
	word->len = 0;
	rd_buf_str(word, "");
	while (is_blank(**at))
		(*at)++;
	switch (**at) {
	case '\0':
	case '#':
		return TOKEN_END;
	case '|':
		(*at)++;
		return TOKEN_PIPE;
	case '>':
		(*at)++;
		if (**at != '>')
			return TOKEN_FILE;
		(*at)++;
		return TOKEN_APPEND;
	}
	return read_word(at, word) ? TOKEN_WORD : TOKEN_OPEN;
}

static void add_word(struct shell_line *line, const char *text)
{
	rd_reserve(&line->words, &line->cap, line->n + 2, sizeof(*line->words));
	line->words[line->n++] = rd_dup(text);
	line->words[line->n] = NULL;
}

void shell_line_deinit(struct shell_line *line)
{
	for (size_t i = 0; i < line->n; i++)
		free(line->words[i]);
	RD_FREE(line->words, line->program, line->file);
	*line = (struct shell_line){ 0 };
}

/* A word after a file belongs to nothing. */
static int take_token(struct shell_line *line, enum token token, const char **at, struct rd_buf *word,
		      struct rd_err *err)
{
	if (token == TOKEN_OPEN)
		return rd_err_set(err, EINVAL, "quote", "it is not closed");
	if (token != TOKEN_WORD && line->n == 0)
		return rd_err_set(err, EINVAL, token == TOKEN_PIPE ? "|" : ">", "there is no command before it");
	if (token == TOKEN_PIPE && line->file)
		return rd_err_set(err, EINVAL, "|", "the output goes to a file already");
	if (token == TOKEN_PIPE) {
		/* After '|': all of it is for sh. */
		while (is_blank(**at))
			(*at)++;
		if (!**at)
			return rd_err_set(err, EINVAL, "|", "a command of sh is expected");
		line->program = rd_dup(*at);
		*at += strlen(*at);
		return 0;
	}
	if (token != TOKEN_WORD) {
		bool append = token == TOKEN_APPEND;

		if (line->file)
			return rd_err_set(err, EINVAL, ">", "two files are given for the output");
		if (next_token(at, word) != TOKEN_WORD || word->len == 0)
			return rd_err_set(err, EINVAL, ">", "a file is expected");
		line->file = rd_dup(word->data);
		line->append = append;
		return 0;
	}
	if (line->file)
		return rd_err_set(err, EINVAL, word->data, "unexpected word after a file");
	add_word(line, word->data);
	return 0;
}

int shell_line_parse(const char *text, struct shell_line *ret, struct rd_err *err)
{
	_cleanup_buf_ struct rd_buf word = { 0 };
	enum token token;
	int r = 0;

	*ret = (struct shell_line){ 0 };
	while (!r && (token = next_token(&text, &word)) != TOKEN_END)
		r = take_token(ret, token, &text, &word, err);
	if (r < 0)
		shell_line_deinit(ret);
	return r;
}

void shell_line_typed(const char *text, struct shell_line *ret, bool *ret_command)
{
	_cleanup_buf_ struct rd_buf word = { 0 };
	bool blank = !*text || is_blank(text[strlen(text) - 1]), open = false;
	enum token token;

	*ret = (struct shell_line){ 0 };
	*ret_command = true;
	while ((token = next_token(&text, &word)) != TOKEN_END) {
		open = token == TOKEN_OPEN;
		if (token == TOKEN_WORD || token == TOKEN_OPEN)
			add_word(ret, word.data);
		else
			*ret_command = false;
	}
	if (*text == '#')
		*ret_command = false;
	if (blank && !open)
		add_word(ret, "");
}

/* Before the two texts. */
struct head {
	uint32_t number, text, fix; /* of the texts: bytes */
};

static int sent_to = -1;

static void send_finding(unsigned number, const char *text, const char *fix)
{
	struct head head = { number, (uint32_t)strlen(text), (uint32_t)strlen(fix) };
	_cleanup_buf_ struct rd_buf out = { 0 };

	if (number > SHELL_FINDINGS_MAX)
		return;
	rd_buf_add(&out, &head, sizeof(head));
	rd_buf_add(&out, text, head.text);
	rd_buf_add(&out, fix, head.fix);
	/* Without the shell there is nothing to number for. */
	(void)rd_write_all(sent_to, out.data, out.len);
}

static void forget(struct shell_findings *findings)
{
	for (size_t i = 0; i < findings->n; i++)
		RD_FREE(findings->v[i].text, findings->v[i].fix);
	findings->n = 0;
}

void shell_findings_take(struct shell_findings *findings, const void *data, size_t size)
{
	struct rd_buf *pending = &findings->pending;
	size_t at = 0;
	struct head head;

	/* More than it would send: what follows cannot be understood. */
	if (pending->len + size > SHELL_FINDINGS_BYTES)
		return;
	rd_buf_add(pending, data, size);
	while (pending->len - at >= sizeof(head)) {
		const char *texts = pending->data + at + sizeof(head);

		memcpy(&head, pending->data + at, sizeof(head));
		if (pending->len - at - sizeof(head) < (size_t)head.text + head.fix)
			break;
		if (head.number == 1)
			forget(findings);
		if (findings->n < SHELL_FINDINGS_MAX)
			*RD_ADD(findings->v, findings->n, findings->cap) = (struct shell_finding){
				.number = head.number,
				.text = rd_dup_part(texts, head.text),
				.fix = rd_dup_part(texts + head.text, head.fix),
			};
		at += sizeof(head) + head.text + head.fix;
	}
	memmove(pending->data, pending->data + at, pending->len - at);
	pending->len -= at;
}

const struct shell_finding *shell_findings_get(const struct shell_findings *findings, unsigned number)
{
	for (size_t i = 0; i < findings->n; i++)
		if (findings->v[i].number == number)
			return &findings->v[i];
	return NULL;
}

void shell_findings_deinit(struct shell_findings *findings)
{
	forget(findings);
	free(findings->v);
	rd_buf_deinit(&findings->pending);
	*findings = (struct shell_findings){ 0 };
}

/*
 * Each command runs in a process of its own, as it would from another shell: it drops privileges, and ends by a signal, without the
 * shell. On a terminal that process has a process group of its own, so that Ctrl-C reaches only it, and the program that its output is
 * piped to.
 */

enum { READ_END, WRITE_END };

#define CANNOT_RUN 126 /* as sh reports it */
#define NOT_FOUND 127

/* Where the output of a command goes. */
struct running {
	int findings[2], output[2]; /* pipes; `output`: to a program or, if there is `taken`, to the shell */
	const char *program;	    /* of sh; NULL: none */
	struct rd_buf *taken;
	int out;
};

static void begin_child(const struct shell *shell, pid_t group)
{
	static const int of_shell[] = { SIGINT, SIGQUIT, SIGHUP, SIGTERM };

	if (shell->terminal) {
		setpgid(0, group);
		signal(SIGTSTP, SIG_IGN);
	} else {
		int nothing = open("/dev/null", O_RDONLY);

		/* The lines of a script are not the input of its commands. */
		if (nothing >= 0)
			dup2(nothing, STDIN_FILENO);
		close(nothing);
	}
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	for (size_t i = 0; i < RD_ARRAY_SIZE(of_shell); i++)
		signal(of_shell[i], SIG_DFL);
}

/* Makes a process group the one that gets what is typed, Ctrl-C included. The shell's own: with the modes of before the command. */
static void give_terminal(const struct shell *shell, pid_t group)
{
	sigset_t stops, before;

	if (!shell->terminal)
		return;
	sigemptyset(&stops);
	sigaddset(&stops, SIGTTOU);
	sigprocmask(SIG_BLOCK, &stops, &before);
	tcsetpgrp(STDIN_FILENO, group);
	if (group == getpgrp())
		tcsetattr(STDIN_FILENO, TCSADRAIN, &shell->modes);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static void close_end(int pipe[2], int end)
{
	if (pipe[end] >= 0)
		close(pipe[end]);
	pipe[end] = -1;
}

_Noreturn static void become_command(const struct shell *shell, char **argv, struct running *running)
{
	int argc = 0;

	/* Or the pipe would have a reader when the program has ended. */
	close_end(running->output, READ_END);
	begin_child(shell, 0);
	give_terminal(shell, getpid());
	rd_end_watch();
	if (dup2(running->output[WRITE_END] >= 0 ? running->output[WRITE_END] : running->out, STDOUT_FILENO) < 0)
		_exit(RD_EXIT_UNKNOWN);
	/* In the process of a command: numbers findings, and writes them to the descriptor as well. */
	sent_to = running->findings[WRITE_END];
	rd_render_number_findings(send_finding);
	while (argv[argc])
		argc++;
	_exit(rd_program_run(argc, argv) & 0xff);
}

/* It is whatever the line names, and gets what may be foreign bytes. */
_Noreturn static void become_program(const struct shell *shell, pid_t group, const struct running *running)
{
	struct rd_err err = { 0 };

	begin_child(shell, group);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	if (dup2(running->output[READ_END], STDIN_FILENO) < 0 || dup2(running->out, STDOUT_FILENO) < 0)
		_exit(CANNOT_RUN);
	if (rd_confine(RD_CONFINE_PROGRAM, NULL, &err) == 0) {
		execl("/bin/sh", "sh", "-c", running->program, (char *)NULL);
		rd_err_set(&err, errno, "/bin/sh", "cannot run");
	}
	rd_fail(NULL, &err);
	_exit(CANNOT_RUN);
}

/* Reads the pipes of findings and of output for the shell up to their ends. */
static void read_pipes(struct shell *shell, struct running *running)
{
	struct pollfd fds[] = { { .fd = running->findings[READ_END], .events = POLLIN },
				{ .fd = running->taken ? running->output[READ_END] : -1, .events = POLLIN } };
	static char piece[65536];

	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		if (poll(fds, RD_ARRAY_SIZE(fds), -1) < 0)
			continue; /* a signal is for the command */
		for (size_t i = 0; i < RD_ARRAY_SIZE(fds); i++) {
			ssize_t n = fds[i].revents ? read(fds[i].fd, piece, sizeof(piece)) : -1;

			if (fds[i].revents && n == 0)
				fds[i].fd = -1;
			else if (n > 0 && i == 0)
				shell_findings_take(&shell->findings, piece, (size_t)n);
			else if (n > 0 && running->taken->len < SHELL_FINDINGS_BYTES)
				rd_buf_add(running->taken, piece, (size_t)n);
		}
	}
}

static int wait_for(pid_t pid)
{
	int status;

	for (;;) {
		if (waitpid(pid, &status, WUNTRACED) < 0) {
			if (errno != EINTR)
				return RD_EXIT_UNKNOWN;
		} else if (WIFSTOPPED(status)) {
			kill(pid, SIGCONT); /* there is no way to take it up again */
		} else {
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		}
	}
}

static int cannot_start(const char *what, int code)
{
	struct rd_err err;

	rd_err_set(&err, code, what, "cannot start it");
	return rd_fail(NULL, &err);
}

/* Its exit code; that of the program it is piped to does not matter, unless it could not run. */
static int run_forked(struct shell *shell, char **argv, struct running *running)
{
	pid_t program = 0, pid = fork();
	int code, last = 0;

	if (pid < 0)
		return cannot_start("process", errno);
	if (pid == 0)
		become_command(shell, argv, running);
	if (shell->terminal)
		setpgid(pid, pid);
	give_terminal(shell, pid);
	if (running->program) {
		program = fork();
		if (program == 0)
			become_program(shell, pid, running);
		if (program < 0) {
			cannot_start("process", errno);
			last = CANNOT_RUN;
		} else if (shell->terminal) {
			setpgid(program, pid);
		}
		close_end(running->output, READ_END);
	}
	close_end(running->findings, WRITE_END);
	close_end(running->output, WRITE_END);
	read_pipes(shell, running);
	code = wait_for(pid);
	if (program > 0)
		last = wait_for(program);
	return last == CANNOT_RUN || last == NOT_FOUND ? RD_EXIT_UNKNOWN : code;
}

/* `argv`: NULL-terminated, with the name of the program first. */
static int run_argv(struct shell *shell, char **argv, struct running *running)
{
	bool piped = running->program || running->taken;
	int code = 0;

	if (pipe2(running->findings, O_CLOEXEC) < 0 || (piped && pipe2(running->output, O_CLOEXEC) < 0))
		code = cannot_start("pipe", errno);
	shell->findings.pending.len = 0; /* of a command that was ended */
	if (shell->terminal)
		tcgetattr(STDIN_FILENO, &shell->modes);
	if (!code)
		code = run_forked(shell, argv, running);
	for (int end = READ_END; end <= WRITE_END; end++) {
		close_end(running->findings, end);
		close_end(running->output, end);
	}
	give_terminal(shell, getpgrp());
	return code;
}

/* Whether the words already say what is to be read. */
static bool has_from(const struct shell_line *line)
{
	const struct rd_cmd *cmd = NULL;

	/* Its operands do. */
	if (line->n > 0 && rd_cmd_choose(line->words[0], &cmd, NULL) == 0 &&
	    cmd->operand_needs == RD_NEEDS_FOREIGN_BUNDLE)
		return true;
	for (size_t i = 0; i < line->n && strcmp(line->words[i], "--") != 0; i++)
		if (strcmp(line->words[i], "--from") == 0 || strncmp(line->words[i], "--from=", 7) == 0)
			return true;
	return false;
}

/* The name of the program, `bundle` unless the line says what to read, `before` (may be empty), and the words of the line. Only the
 * array is owned. */
static char **make_argv(const char *bundle, const struct shell_line *line, char *const before[2])
{
	static char program[] = RD_PROGRAM, option[] = "--from";
	char **argv = rd_alloc(line->n + 6, sizeof(*argv));
	size_t n = 0;

	argv[n++] = program;
	if (bundle && !has_from(line)) {
		argv[n++] = option;
		argv[n++] = (char *)bundle;
	}
	for (size_t i = 0; i < 2 && before[i]; i++)
		argv[n++] = before[i];
	for (size_t i = 0; i < line->n; i++)
		argv[n++] = line->words[i];
	return argv;
}

/*
 * Runs a command line in a process of its own, reads its findings, and waits for its end. `out`: its standard output, or that of the
 * program of the line. Returns its exit code; 3 if the program could not run.
 */
static int shell_run(struct shell *shell, const struct shell_line *line, int out)
{
	_cleanup_free_ char **argv = make_argv(shell->bundle, line, (char *[2]){ NULL });
	struct running running = { .findings = { -1, -1 }, .output = { -1, -1 }, .program = line->program, .out = out };

	return run_argv(shell, argv, &running);
}

/* Runs `complete -- WORDS`; its output is added to `ret`. */
static int complete_with(struct shell *shell, const char *bundle, const struct shell_line *line, struct rd_buf *ret)
{
	static char command[] = "complete", end[] = "--";
	_cleanup_free_ char **argv = make_argv(bundle, line, (char *[2]){ command, end });
	struct running running = { .findings = { -1, -1 }, .output = { -1, -1 }, .taken = ret, .out = STDOUT_FILENO };
	int code = run_argv(shell, argv, &running);

	rd_buf_str(ret, "");
	return code;
}

/* Uses a bundle, or this host (NULL). -errno: it has been reported, and what was in use stays so. */
static int shell_use(struct shell *shell, const char *path)
{
	_cleanup_buf_ struct rd_buf ignored = { 0 };
	struct shell_line nothing = { .words = (char *[]){ (char *)"", NULL }, .n = 1 };
	struct rd_err err;
	int code = 0;

	if (path && rd_is_standard_input(path)) {
		rd_err_set(&err, EINVAL, path, "the shell itself reads standard input: write the bundle to a file");
		rd_fail_usage(NULL, &err);
		return -EINVAL;
	}
	/* Reads it once, and reports if that fails. */
	if (path)
		code = complete_with(shell, path, &nothing, &ignored);
	if (code > 128) {
		rd_err_set(&err, 0, path, "interrupted: what was in use stays in use");
		rd_fail(NULL, &err);
	}
	if (code)
		return -EBADMSG;
	free(shell->bundle);
	shell->bundle = rd_dup_if(path);
	return 0;
}

/* rdmadiag shell: a prompt over this host or a bundle, and scripts on standard input. */

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
	safe = rd_safe(s->shell.bundle ?: "live, which is this host");
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

	if (s->shell.findings.n == 0)
		return print("no command has printed findings yet\n");
	rd_buf_printf(&out, "of %s:\n", s->shell.source ?: "the latest command");
	for (size_t i = 0; i < s->shell.findings.n; i++) {
		const struct shell_finding *finding = &s->shell.findings.v[i];

		rd_buf_printf(&out, "[%u] %.*s\n", finding->number, (int)strcspn(finding->text, "\n"), finding->text);
	}
	rd_out(&out);
	return RD_EXIT_OK;
}

static int run_quit(struct session *s, const struct shell_line *line)
{
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

		if (!whole && !rd_starts_with(own_commands[i].name, word))
			continue;
		*ret = &own_commands[i];
		if (whole)
			return 0;
		own++;
		rd_buf_printf(&names, "%s%s", n++ ? ", " : "", own_commands[i].name);
	}
	for (const struct rd_cmd *const *cmd = rd_commands; own && *cmd; cmd++)
		if (!(*cmd)->hidden && rd_starts_with((*cmd)->name, word) && strcmp((*cmd)->name, (*ret)->name) != 0)
			rd_buf_printf(&names, "%s%s", n++ ? ", " : "", (*cmd)->name);
	if (n > 1)
		return rd_err_set(err, EINVAL, word, "ambiguous: %s", names.data);
	if (*ret && rd_cmd_find((*ret)->name) && !is_number(line))
		*ret = NULL;
	return 0;
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
		int fd = open(line->file,
			      O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | (line->append ? O_APPEND : O_TRUNC), 0666);
		file = fd < 0 ? rd_err_set(&err, errno, line->file, "cannot open it for writing") : fd;
		if (file < 0)
			return rd_fail(NULL, &err);
	}
	code = shell_run(&s->shell, line, file < 0 ? STDOUT_FILENO : file);
	if (s->shell.findings.n && s->shell.findings.v[0].text != first) {
		/* "topo-check -d mlx5_0", for the list of its findings. */
		_cleanup_buf_ struct rd_buf text = { 0 };

		for (size_t i = 0; i < line->n; i++) {
			rd_buf_part(&text, i ? " " : "", line->words[i]);
		}
		free(s->shell.source);
		s->shell.source = rd_dup(text.data);
	}
	return code;
}

static int run_line(struct session *s, const char *text)
{
	const struct own_command *own = NULL;
	_cleanup_(shell_line_deinit) struct shell_line line;
	struct rd_err err = { 0 };
	int code = RD_EXIT_OK;

	if (shell_line_parse(text, &line, &err) < 0)
		return rd_fail_usage(NULL, &err);
	/* What is pasted from a fix or a manual begins with the name of the program. */
	if (line.n > 1 && strcmp(line.words[0], RD_PROGRAM) == 0) {
		free(line.words[0]);
		memmove(line.words, line.words + 1, line.n-- * sizeof(*line.words));
	}
	if (line.n > 0 && find_own(&line, &own, &err) < 0) {
		rd_err_hint(&err, "help");
		code = rd_fail_usage(NULL, &err);
	} else if (own && line.n - 1 > own->most) {
		code = refuse(line.words[own->most + 1], "unexpected word", "help");
	} else if (own && (line.program || line.file)) {
		code = refuse(own->name, "its output cannot be piped or written to a file", "help");
	} else if (own) {
		code = own->run(s, &line);
	} else if (line.n > 0) {
		code = run_command(s, &line);
	}
	return code;
}

/* ---- completion */

static void add_candidate(struct rd_buf *out, const char *typed, const char *word, const char *help)
{
	if (rd_starts_with(word, typed))
		rd_buf_printf(out, "%s\t%s\n", word, help);
}

/* See shell_reader. */
static char *complete(void *arg, const char *before)
{
	struct session *s = arg;
	_cleanup_buf_ struct rd_buf out = { 0 };
	const struct own_command *own = NULL;
	_cleanup_(shell_line_deinit) struct shell_line line;
	struct rd_err err;
	bool command;

	shell_line_typed(before, &line, &command);
	if (!command) {
		if (strchr(before, '>'))
			rd_buf_str(&out, ":file\n");
	} else if (line.n == 1) {
		for (size_t i = 0; i < RD_ARRAY_SIZE(own_commands); i++)
			add_candidate(&out, line.words[0], own_commands[i].name, own_commands[i].help);
		complete_with(&s->shell, s->shell.bundle, &line, &out);
	} else if (line.n > 1 && find_own(&line, &own, &err) == 0 && own) {
		if (line.n == 2) {
			const char *typed = line.words[line.n - 1];

			if (own->run == run_use) {
				add_candidate(&out, typed, "live", "this host");
				rd_buf_str(&out, ":file\n");
			} else if (own->run == run_help) {
				for (const struct rd_cmd *const *cmd = rd_commands; *cmd; cmd++)
					if (!(*cmd)->hidden)
						add_candidate(&out, typed, (*cmd)->name, (*cmd)->summary);
			} else if (own->most > 0) {
				for (size_t i = 0; i < s->shell.findings.n; i++) {
					_cleanup_free_ char *number = rd_text("%u", s->shell.findings.v[i].number);
					_cleanup_free_ char *first =
						rd_dup_part(s->shell.findings.v[i].text,
							    strcspn(s->shell.findings.v[i].text, "\n"));

					add_candidate(&out, typed, number, first);
				}
			}
		}
	} else if (line.n > 1) {
		complete_with(&s->shell, s->shell.bundle, &line, &out);
	}
	return !command && !out.len ? NULL : rd_dup(out.data ?: "");
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

static int run_lines(struct session *s, struct shell_reader *reader)
{
	int worst = RD_EXIT_OK;

	while (!s->quit) {
		_cleanup_free_ char *prompt = s->shell.terminal ? make_prompt(s) : NULL, *text = NULL;
		enum shell_read read = shell_reader_next(reader, prompt, &text);
		int code;
		static const int rank[] = {
			[RD_EXIT_OK] = 0, [RD_EXIT_UNKNOWN] = 1, [RD_EXIT_WARNING] = 2, [RD_EXIT_CRITICAL] = 3
		};
		_cleanup_free_ char *safe = NULL;

		if (read == SHELL_READ_END)
			break;
		if (read == SHELL_READ_INTERRUPTED)
			continue;
		s->line++;
		text[strcspn(text, "\n")] = '\0';
		code = run_line(s, text);
		code = code > RD_EXIT_UNKNOWN ? RD_EXIT_UNKNOWN : code;
		/* critical, else warning, else unknown. */
		worst = rank[worst] >= rank[code] ? worst : code;
		if (s->shell.terminal || s->opts->keep_going || code != RD_EXIT_UNKNOWN)
			continue;
		/* Reports the line that ended a script. */
		safe = rd_safe(text);
		rd_warn(NULL, "line %u: '%s' failed: the lines after it are not run (shell -k runs them)", s->line,
			safe);
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
	shell_findings_deinit(&s.shell.findings);
	RD_FREE(s.shell.bundle, s.shell.source);
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
