/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each command runs in a process of its own, as it would from another shell: it drops privileges, and ends by a signal, without the
 * shell. On a terminal that process has a process group of its own, so that Ctrl-C reaches only it, and the program that its output is
 * piped to.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/end.h"
#include "base/memory.h"
#include "cmd/opts.h"
#include "cmd/program.h"
#include "cmd/shell/shell.h"
#include "confine/confine.h"
#include "source/bundle/bundle.h"

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
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
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

_Noreturn static void become_command(const struct shell *shell, char **argv, const struct running *running)
{
	int argc = 0;

	begin_child(shell, 0);
	give_terminal(shell, getpid());
	rd_end_watch();
	if (dup2(running->output[WRITE_END] >= 0 ? running->output[WRITE_END] : running->out, STDOUT_FILENO) < 0)
		_exit(RD_EXIT_UNKNOWN);
	shell_findings_send(running->findings[WRITE_END]);
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

static void close_end(int pipe[2], int end)
{
	if (pipe[end] >= 0)
		close(pipe[end]);
	pipe[end] = -1;
}

static int open_pipes(struct running *running)
{
	if (pipe2(running->findings, O_CLOEXEC) < 0)
		return -errno;
	if ((running->program || running->taken) && pipe2(running->output, O_CLOEXEC) < 0)
		return -errno;
	return 0;
}

static void close_pipes(struct running *running)
{
	for (int end = READ_END; end <= WRITE_END; end++) {
		close_end(running->findings, end);
		close_end(running->output, end);
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
	int r = open_pipes(running), code;

	shell->findings.pending.len = 0; /* of a command that was ended */
	if (shell->terminal)
		tcgetattr(STDIN_FILENO, &shell->modes);
	code = r < 0 ? cannot_start("pipe", -r) : run_forked(shell, argv, running);
	close_pipes(running);
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

int shell_run(struct shell *shell, const struct shell_line *line, int out)
{
	_cleanup_free_ char **argv = make_argv(shell->bundle, line, (char *[2]){ NULL });
	struct running running = { .findings = { -1, -1 }, .output = { -1, -1 }, .program = line->program, .out = out };

	return run_argv(shell, argv, &running);
}

static int complete_with(struct shell *shell, const char *bundle, const struct shell_line *line, struct rd_buf *ret)
{
	static char command[] = "complete", end[] = "--";
	_cleanup_free_ char **argv = make_argv(bundle, line, (char *[2]){ command, end });
	struct running running = { .findings = { -1, -1 }, .output = { -1, -1 }, .taken = ret, .out = STDOUT_FILENO };
	int code = run_argv(shell, argv, &running);

	rd_buf_str(ret, "");
	return code;
}

void shell_complete(struct shell *shell, const struct shell_line *line, struct rd_buf *ret)
{
	complete_with(shell, shell->bundle, line, ret);
}

int shell_use(struct shell *shell, const char *path)
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

void shell_deinit(struct shell *shell)
{
	shell_findings_deinit(&shell->findings);
	free(shell->bundle);
	free(shell->source);
	*shell = (struct shell){ 0 };
}
