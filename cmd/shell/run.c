/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each command runs in a process of its own, as it would from another shell: it drops privileges, and ends by a signal, without the
 * shell. On a terminal that process has a process group of its own, so that Ctrl-C reaches only it.
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
#include "cmd/shell/filter.h"
#include "cmd/shell/shell.h"
#include "source/bundle/standard-input.h"

enum { READ_END, WRITE_END };

/* Where the output of a command goes. */
struct running {
	int findings[2], output[2];	   /* pipes; `output` only if the shell reads it */
	struct shell_filtering *filtering; /* NULL: `taken` gets the output */
	struct rd_buf *taken;
	int out;
	int failed; /* errno of writing to `out` */
};

void shell_child_begin(const struct shell *shell)
{
	if (shell->terminal) {
		setpgid(0, 0);
		signal(SIGTSTP, SIG_IGN);
	} else {
		int nothing = open("/dev/null", O_RDONLY);

		/* The lines of a script are not the input of its commands. */
		if (nothing >= 0)
			dup2(nothing, STDIN_FILENO);
		close(nothing);
	}
	/* The holder ends when no process can send commands to it any more. */
	if (shell->holder.pid)
		close(shell->holder.sock);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
}

void shell_give_terminal(const struct shell *shell, pid_t group)
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

	shell_child_begin(shell);
	shell_give_terminal(shell, getpid());
	rd_end_watch();
	if (dup2(running->output[READ_END] >= 0 ? running->output[WRITE_END] : running->out, STDOUT_FILENO) < 0)
		_exit(RD_EXIT_UNKNOWN);
	shell_findings_send(running->findings[WRITE_END]);
	while (argv[argc])
		argc++;
	_exit(rd_program_run(argc, argv) & 0xff);
}

static void write_out(struct running *running, struct rd_buf *out)
{
	if (!running->failed && out->len > 0)
		running->failed = -rd_write_all(running->out, out->data, out->len);
	out->len = 0;
}

static void take_output(struct running *running, const char *data, size_t size)
{
	if (running->filtering) {
		shell_filter_take(running->filtering, data, size);
		write_out(running, &running->filtering->out);
	} else if (running->taken->len < SHELL_FINDINGS_BYTES) {
		rd_buf_add(running->taken, data, size);
	}
}

/* Reads both pipes up to their ends. */
static void read_pipes(struct shell *shell, struct running *running)
{
	struct pollfd fds[] = { { .fd = running->findings[READ_END], .events = POLLIN },
				{ .fd = running->output[READ_END], .events = POLLIN } };
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
			else if (n > 0)
				take_output(running, piece, (size_t)n);
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
	if ((running->filtering || running->taken) && pipe2(running->output, O_CLOEXEC) < 0)
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

/* RD_EXIT_NOT_HELD: the holder cannot run it. -1: it has ended. */
static int run_held(struct shell *shell, char **argv, struct running *running)
{
	int out = running->output[WRITE_END] >= 0 ? running->output[WRITE_END] : running->out;

	shell_give_terminal(shell, shell->holder.pid);
	if (!shell_holder_send(&shell->holder, argv, out, running->findings[WRITE_END]))
		return RD_EXIT_NOT_HELD;
	close_end(running->findings, WRITE_END);
	close_end(running->output, WRITE_END);
	read_pipes(shell, running);
	return shell_holder_wait(&shell->holder);
}

static int run_forked(struct shell *shell, char **argv, struct running *running)
{
	pid_t pid = fork();
	struct rd_err err;

	if (pid < 0) {
		rd_err_set(&err, errno, "process", "cannot start it");
		return rd_fail(NULL, &err);
	}
	if (pid == 0)
		become_command(shell, argv, running);
	if (shell->terminal)
		setpgid(pid, pid);
	shell_give_terminal(shell, pid);
	close_end(running->findings, WRITE_END);
	close_end(running->output, WRITE_END);
	read_pipes(shell, running);
	return wait_for(pid);
}

/* The holder ended, for lack of memory or by somebody's hand: it is not started again until the bundle is chosen again. */
static int give_up_holder(struct shell *shell)
{
	struct rd_err err;

	shell_holder_end(&shell->holder);
	rd_err_set(&err, ECHILD, shell->bundle, "the process that holds this bundle has ended");
	rd_err_hint(&err, "use %s", shell->bundle);
	return rd_fail(NULL, &err);
}

/* A command that was killed may have left half a reply of the process that opens files for the holder: then another one is started. */
static void renew_holder(struct shell *shell)
{
	if (!shell->stale)
		return;
	shell->stale = false;
	shell_holder_end(&shell->holder);
	shell_holder_start(shell, shell->bundle, &shell->holder);
}

/* `argv`: NULL-terminated, with the name of the program first. `from`: it reads the bundle in use. */
static int run_argv(struct shell *shell, char **argv, bool from, struct running *running)
{
	int code = RD_EXIT_NOT_HELD, r;
	struct rd_err err;

	/* Before there are pipes, which it would keep open. */
	if (from)
		renew_holder(shell);
	r = open_pipes(running);
	shell->findings.pending.len = 0; /* of a command that was ended */
	if (shell->terminal)
		tcgetattr(STDIN_FILENO, &shell->modes);
	if (!r && shell->holder.pid && from) {
		code = run_held(shell, argv, running);
		shell->stale = code > 128 && code != RD_EXIT_NOT_HELD;
	}
	if (!r && code == RD_EXIT_NOT_HELD) {
		close_pipes(running);
		r = open_pipes(running);
		if (!r)
			code = run_forked(shell, argv, running);
	}
	close_pipes(running);
	shell_give_terminal(shell, getpgrp());
	if (code < 0)
		return give_up_holder(shell);
	if (!r)
		return code;
	rd_err_set(&err, -r, "pipe", "cannot make one");
	return rd_fail(NULL, &err);
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

/* The name of the program, what is in use, `before` (may be empty), and the words of the line. Only the array is owned. */
static char **make_argv(const struct shell *shell, const struct shell_line *line, char *const before[2], bool from)
{
	static char program[] = RD_PROGRAM, option[] = "--from";
	char **argv = rd_alloc(line->n + 6, sizeof(*argv));
	size_t n = 0;

	argv[n++] = program;
	if (from) {
		argv[n++] = option;
		argv[n++] = shell->bundle;
	}
	for (size_t i = 0; i < 2 && before[i]; i++)
		argv[n++] = before[i];
	for (size_t i = 0; i < line->n; i++)
		argv[n++] = line->words[i];
	return argv;
}

static struct running running_to(int out)
{
	return (struct running){ .findings = { -1, -1 }, .output = { -1, -1 }, .out = out };
}

int shell_run(struct shell *shell, const struct shell_line *line, int out)
{
	bool from = shell->bundle && !has_from(line);
	_cleanup_free_ char **argv = make_argv(shell, line, (char *[2]){ NULL }, from);
	struct running running = running_to(out);
	struct shell_filtering filtering;
	struct rd_err err;
	int code;

	shell_filter_init(line, &filtering);
	running.filtering = line->n_filters > 0 ? &filtering : NULL;
	code = run_argv(shell, argv, from, &running);
	if (running.filtering) {
		shell_filter_end(&filtering);
		write_out(&running, &filtering.out);
	}
	shell_filter_deinit(&filtering);
	if (!running.failed)
		return code;
	rd_err_set(&err, running.failed, line->file ? line->file : "standard output", "cannot write");
	return rd_fail(NULL, &err);
}

void shell_complete(struct shell *shell, const struct shell_line *line, struct rd_buf *ret)
{
	static char command[] = "complete", end[] = "--";
	bool from = shell->bundle && !has_from(line);
	_cleanup_free_ char **argv = make_argv(shell, line, (char *[2]){ command, end }, from);
	struct running running = running_to(STDOUT_FILENO);

	running.taken = ret;
	run_argv(shell, argv, from, &running);
	rd_buf_str(ret, "");
}

int shell_use(struct shell *shell, const char *path)
{
	struct shell_holder holder = { 0 };
	struct rd_err err;
	int r = 0;

	if (path && rd_is_standard_input(path)) {
		rd_err_set(&err, EINVAL, path, "the shell itself reads standard input: write the bundle to a file");
		rd_fail_usage(NULL, &err);
		return -EINVAL;
	}
	if (path) {
		if (shell->terminal)
			tcgetattr(STDIN_FILENO, &shell->modes);
		r = shell_holder_start(shell, path, &holder);
		shell_give_terminal(shell, getpgrp());
	}
	if (r == -EINTR) {
		rd_err_set(&err, 0, path, "interrupted: what was in use stays in use");
		rd_fail(NULL, &err);
	} else if (r < 0 && r != -EBADMSG) {
		rd_err_set(&err, -r, path, "cannot start the process that holds it");
		rd_fail(NULL, &err);
	}
	if (r < 0)
		return r;
	shell_holder_end(&shell->holder);
	shell->holder = holder;
	free(shell->bundle);
	shell->bundle = rd_dup_if(path);
	return 0;
}

void shell_deinit(struct shell *shell)
{
	shell_holder_end(&shell->holder);
	shell_findings_deinit(&shell->findings);
	free(shell->bundle);
	free(shell->source);
	*shell = (struct shell){ 0 };
}
