// SPDX-License-Identifier: GPL-2.0-or-later
/* The traced command: forked before the hooks are attached, so that the trace can be limited to it, and executed after that. */
#include "trace-child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/base.h"
#include "base/number.h"

/* What the child reports if it could not execute the command. */
struct failure {
	int err;
	char what[64];
};

static bool is_executable_in(const char *dir, int len, const char *name)
{
	char file[4096];

	snprintf(file, sizeof(file), "%.*s%s%s", len, dir, len ? "/" : "", name);
	return !access(file, X_OK);
}

/* Searches PATH as execvp does. Done before the hooks are attached, which takes time. */
static int find_command(const char *name, struct rd_err *err)
{
	const char *path = getenv("PATH");
	int code = ENOENT;

	if (strchr(name, '/'))
		return access(name, X_OK) ? rd_err_set(err, errno, name, "cannot run this command") : 0;
	if (!path)
		path = "/usr/bin:/bin";
	for (bool more = *name; more; more = *path++) {
		int len = (int)strcspn(path, ":");

		if (is_executable_in(path, len, name))
			return 0;
		if (errno == EACCES)
			code = EACCES;
		path += len;
	}
	return rd_err_set(err, code, name, "cannot run this command");
}

/* Kernels before 5.9 and the seccomp filters of some containers lack close_range. RLIMIT_NOFILE does not bound the open
 * descriptors: they stay open when it is lowered, and it may be 10^9. */
static int close_from(int first)
{
	struct dirent *entry;
	DIR *dir;

	if (!close_range((unsigned)first, ~0U, 0))
		return 0;
	dir = opendir("/proc/self/fd");
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		uint32_t fd;

		if (rd_parse_u32(entry->d_name, RD_DECIMAL, INT32_MAX, &fd) == 0 && (int)fd >= first &&
		    (int)fd != dirfd(dir))
			close((int)fd);
	}
	closedir(dir);
	return 0;
}

int trace_keep_only(int *fds, size_t n)
{
	int next = 3;

	for (size_t i = 0; i < n; i++)
		if (fds[i] >= 0 && (fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 3 + (int)n)) < 0)
			return -errno;
	for (size_t i = 0; i < n; i++) {
		if (fds[i] < 0)
			continue;
		if (dup3(fds[i], next, O_CLOEXEC) < 0)
			return -errno;
		fds[i] = next++;
	}
	return close_from(next);
}

_Noreturn void trace_child_fail(int failed, int err, const char *what)
{
	struct failure failure = { .err = err };

	snprintf(failure.what, sizeof(failure.what), "%s", what);
	if (write(failed, &failure, sizeof(failure)) < 0)
		_exit(126);
	_exit(127);
}

_Noreturn void trace_command_run(const struct trace_command *command, int failed)
{
	sigset_t none;
	int r = trace_keep_only(&failed, 1);

	if (r)
		trace_child_fail(failed, -r, "cannot close inherited file descriptors");
	if (command->user)
		r = trace_user_become(command->user, command->keep_privs);
	if (r)
		trace_child_fail(failed, -r, "cannot change to the user of this command");
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(command->argv[0], command->argv);
	trace_child_fail(failed, errno, "cannot run this command");
}

/* The forked process: waits for the byte on `go`, which says whether the command starts in the foreground. */
_Noreturn static void wait_and_run(struct trace_child *child, const struct trace_command *command, int go, int failed)
{
	struct trace_monitor monitor = { .failed = failed };
	ssize_t n;

	close(child->go);
	close(child->failed);
	while ((n = read(go, &monitor.front, 1)) < 0 && errno == EINTR)
		;
	if (n != 1)
		_exit(0);
	if (child->tty) {
		trace_tty_monitor(child->tty, &monitor);
		trace_monitor_run(command, &monitor);
	}
	trace_command_run(command, failed);
}

int trace_child_start(struct trace_child *child, const struct trace_command *command, struct rd_err *err)
{
	_cleanup_close_ int wait = -1, failed = -1;
	const char *name = command->argv[0];
	int go[2], back[2], r;

	r = find_command(name, err);
	if (!r && command->session)
		r = trace_tty_create(command->user ? command->user->entry.pw_uid : (uid_t)-1, &child->tty, err);
	if (r)
		return r;
	if (pipe2(go, O_CLOEXEC))
		return rd_err_set(err, errno, name, "cannot start this command");
	wait = go[0];
	child->go = go[1];
	if (pipe2(back, O_CLOEXEC))
		return rd_err_set(err, errno, name, "cannot start this command");
	child->failed = back[0];
	failed = back[1];
	/* Processes that the command leaves running become our children, and so stay within the filter. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	child->pid = fork();
	if (child->pid < 0) {
		child->pid = 0;
		return rd_err_set(err, errno, name, "cannot start this command");
	}
	if (!child->pid)
		wait_and_run(child, command, wait, failed);
	if (child->tty)
		trace_tty_forked(child->tty);
	return 0;
}

int trace_child_go(struct trace_child *child, const char *name, struct rd_err *err)
{
	bool front = child->tty && trace_tty_begin(child->tty);
	ssize_t n = write(child->go, &front, 1);
	struct failure failure;

	close(child->go);
	child->go = -1;
	if (n != 1)
		return rd_err_set(err, ECHILD, name, "the child process ended before it executed the command");
	/* Closed by a successful exec. */
	while ((n = read(child->failed, &failure, sizeof(failure))) < 0 && errno == EINTR)
		;
	close(child->failed);
	child->failed = -1;
	if (n == sizeof(failure))
		return rd_err_set(err, failure.err, name, "%s", failure.what);
	return 0;
}

static void set_ended(struct trace_child *child, int status)
{
	child->ended = true;
	child->status = status;
	if (child->tty)
		trace_tty_end(child->tty);
}

void trace_child_reap(struct trace_child *child)
{
	int status;
	pid_t pid;

	/* The monitor lives until we end. It ends earlier only if it is killed; the command has then received SIGHUP. */
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == child->pid && !child->ended)
			set_ended(child, status);
}

void trace_child_signal(struct trace_child *child, const struct signalfd_siginfo *info)
{
	if (child->tty)
		trace_tty_signal(child->tty, info);
	else if (info->ssi_code != SI_KERNEL) /* signals of the terminal reach the command without us */
		kill(child->pid, (int)info->ssi_signo);
}

size_t trace_child_fds(const struct trace_child *child, struct pollfd fds[TRACE_CHILD_FDS])
{
	return child->tty && !child->ended ? trace_tty_fds(child->tty, fds) : 0;
}

void trace_child_serve(struct trace_child *child)
{
	int status;

	if (child->tty && !child->ended && trace_tty_serve(child->tty, &status))
		set_ended(child, status);
}

int trace_child_exit_code(const struct trace_child *child)
{
	return WIFSIGNALED(child->status) ? 128 + WTERMSIG(child->status) : WEXITSTATUS(child->status);
}

void trace_child_deinit(struct trace_child *child)
{
	if (child->go >= 0)
		close(child->go);
	if (child->failed >= 0)
		close(child->failed);
	/* A child that has not executed the command ends by itself now. */
	child->go = child->failed = -1;
	trace_tty_destroy(child->tty);
	child->tty = NULL;
}
