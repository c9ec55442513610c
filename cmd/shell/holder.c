/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The holder of a bundle. It reads the bundle once, without privileges, and forks for each command, which finds the bundle in memory. Over
 * a socket it gets command lines, each with the descriptors for its output and its findings, and returns exit codes.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/end.h"
#include "base/memory.h"
#include "cmd/privileges.h"
#include "cmd/program.h"
#include "cmd/shell/shell.h"

#define WORDS_BYTES 65536

/* ---- in the holder */

static const struct rd_cmd holder_cmd = { .name = "shell" };

/* Splits words that end in NULs. `argv` has room for `most` and a NULL. */
static int split_words(char *text, size_t size, char **argv, int most)
{
	int n = 0;

	for (char *at = text; at < text + size && n < most; at += strlen(at) + 1)
		argv[n++] = at;
	argv[n] = NULL;
	return n;
}

/* One command, in a process of its own. */
_Noreturn static void run_received(char *text, size_t size, const int fds[2])
{
	static char *argv[WORDS_BYTES / 2];
	int argc = split_words(text, size, argv, (int)RD_ARRAY_SIZE(argv) - 1);

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	rd_end_watch();
	if (dup2(fds[0], STDOUT_FILENO) < 0)
		_exit(RD_EXIT_UNKNOWN);
	close(fds[0]);
	shell_findings_send(fds[1]);
	_exit(rd_program_run(argc, argv) & 0xff);
}

/* A command line; 0: the shell has ended. */
static ssize_t receive(int sock, char *text, size_t size, int fds[2])
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(2 * sizeof(int))];
	} control;
	struct iovec part = { text, size };
	struct msghdr msg = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	ssize_t n;

	do
		n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n <= 0 || !CMSG_FIRSTHDR(&msg) || CMSG_FIRSTHDR(&msg)->cmsg_type != SCM_RIGHTS)
		return 0;
	memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&msg)), 2 * sizeof(int));
	return n;
}

static int code_of(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

_Noreturn static void serve_commands(int sock)
{
	static char text[WORDS_BYTES];
	int fds[2];
	ssize_t n;

	while ((n = receive(sock, text, sizeof(text), fds)) > 0) {
		int status = RD_EXIT_UNKNOWN << 8, code;
		pid_t pid = fork();

		if (pid == 0)
			run_received(text, (size_t)n, fds);
		close(fds[0]);
		close(fds[1]);
		while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		code = code_of(status);
		if (rd_write_all(sock, &code, sizeof(code)) < 0)
			break;
	}
	_exit(0);
}

_Noreturn static void hold(const struct shell *shell, const char *path, int sock)
{
	struct rd_ctx ctx = { .cmd = &holder_cmd, .globals.from = path };
	struct rd_source *source = NULL;
	struct rd_err err = { 0 };
	int r;

	shell_child_begin(shell);
	shell_give_terminal(shell, getpid());
	rd_end_watch();
	rd_privileges_note(RD_NEEDS_FOREIGN_BUNDLE, path);
	if (shell->terminal) {
		rd_privileges_note(RD_NEEDS_TERMINAL, NULL);
		ctx.globals.style.width = 80; /* tables will be fitted */
	}
	r = rd_privileges_drop(&ctx, 0, (char *[]){ NULL }, &err);
	if (!r)
		r = rd_source_bundle_open(path, &source, &err);
	if (r < 0) {
		rd_fail(&ctx, &err);
		_exit(RD_EXIT_UNKNOWN);
	}
	rd_program_hold(source, path);
	/* From now on signals of the terminal are for its commands. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	if (rd_write_all(sock, &r, sizeof(r)) == 0)
		serve_commands(sock);
	_exit(RD_EXIT_UNKNOWN);
}

/* ---- in the shell */

/* -1: the holder has ended. */
static int receive_code(int sock)
{
	int code = 0;
	ssize_t n;

	do
		n = recv(sock, &code, sizeof(code), 0);
	while (n < 0 && errno == EINTR);
	return n == sizeof(code) ? code : -1;
}

/* Returns how it ended, as of wait(2). */
static int end_holder(struct shell_holder *holder)
{
	int status = 0;

	close(holder->sock);
	while (waitpid(holder->pid, &status, 0) < 0 && errno == EINTR)
		;
	*holder = (struct shell_holder){ 0 };
	return status;
}

void shell_holder_end(struct shell_holder *holder)
{
	if (holder->pid <= 0)
		return;
	kill(holder->pid, SIGTERM);
	end_holder(holder);
}

int shell_holder_start(struct shell *shell, const char *path, struct shell_holder *ret)
{
	struct shell_holder holder = { 0 };
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	holder.pid = fork();
	if (holder.pid == 0) {
		close(ends[0]);
		hold(shell, path, ends[1]);
	}
	close(ends[1]);
	holder.sock = ends[0];
	if (holder.pid < 0) {
		close(ends[0]);
		return -errno;
	}
	if (shell->terminal)
		setpgid(holder.pid, holder.pid);
	if (receive_code(holder.sock) != 0)
		return WIFSIGNALED(end_holder(&holder)) ? -EINTR : -EBADMSG;
	*ret = holder;
	return 0;
}

bool shell_holder_send(struct shell_holder *holder, char *const *words, int out, int findings)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(2 * sizeof(int))];
	} control = {
		.head = { .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(2 * sizeof(int)) }
	};
	_cleanup_buf_ struct rd_buf text = { 0 };
	struct msghdr msg = { .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control) };
	struct iovec part;

	for (; *words; words++)
		rd_buf_add(&text, *words, strlen(*words) + 1);
	if (text.len > WORDS_BYTES)
		return false;
	memcpy(CMSG_DATA(&control.head), (int[]){ out, findings }, 2 * sizeof(int));
	part = (struct iovec){ text.data, text.len };
	msg.msg_iov = &part;
	return sendmsg(holder->sock, &msg, MSG_NOSIGNAL) == (ssize_t)text.len;
}

int shell_holder_wait(struct shell_holder *holder)
{
	return receive_code(holder->sock);
}
