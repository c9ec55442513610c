// SPDX-License-Identifier: GPL-2.0-or-later
/* The traced command: forked first, so that it can be filtered by, and let go only once the hooks are on. */
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* What the child says when it could not become the command. */
struct failure {
	int err;
	bool as_user; /* changing to the user failed, not running the command */
};

static int find_user(const char *name, struct passwd *pw, char **buf, struct rd_err *err)
{
	struct passwd *found = NULL;
	size_t size = 16384;
	char *end;
	long uid;

	*buf = rd_alloc(size, 1);
	getpwnam_r(name, pw, *buf, size, &found);
	if (found)
		return 0;
	uid = strtol(name, &end, 10);
	if (end != name && !*end && uid >= 0)
		getpwuid_r((uid_t)uid, pw, *buf, size, &found);
	return found ? 0 : rd_err_set(err, ENOENT, name, "there is no such user");
}

static bool is_in(const char *folder, int len, const char *name)
{
	char file[4096];

	snprintf(file, sizeof(file), "%.*s%s%s", len, folder, len ? "/" : "", name);
	return !access(file, X_OK);
}

/* Looked for before the hooks are put on, which takes time. As execvp does it. */
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

		if (is_in(path, len, name))
			return 0;
		if (errno == EACCES)
			code = EACCES;
		path += len;
	}
	return rd_err_set(err, code, name, "cannot run this command");
}

static void become(int failed, const struct passwd *pw, char **argv)
{
	struct failure failure = { 0 };
	sigset_t none;

	if (pw && (initgroups(pw->pw_name, pw->pw_gid) || setgid(pw->pw_gid) || setuid(pw->pw_uid))) {
		failure = (struct failure){ .err = errno, .as_user = true };
	} else {
		signal(SIGPIPE, SIG_DFL);
		signal(SIGXFSZ, SIG_DFL);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		execvp(argv[0], argv);
		failure.err = errno;
	}
	if (write(failed, &failure, sizeof(failure)) < 0)
		_exit(126);
	_exit(127);
}

int trace_child_start(struct trace_child *child, char **argv, const char *user, struct rd_err *err)
{
	_cleanup_close_ int wait = -1, failed = -1;
	_cleanup_free_ char *buf = NULL;
	struct passwd pw;
	int go[2], back[2], r;
	char byte;

	r = find_command(argv[0], err);
	if (!r && user)
		r = find_user(user, &pw, &buf, err);
	if (r)
		return r;
	if (pipe2(go, O_CLOEXEC))
		return rd_err_set(err, errno, argv[0], "cannot start this command");
	wait = go[0];
	child->go = go[1];
	if (pipe2(back, O_CLOEXEC))
		return rd_err_set(err, errno, argv[0], "cannot start this command");
	child->failed = back[0];
	failed = back[1];
	/* What the command leaves running stays below us, and so within the filter. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	child->pid = fork();
	if (child->pid < 0) {
		child->pid = 0;
		return rd_err_set(err, errno, argv[0], "cannot start this command");
	}
	if (child->pid)
		return 0;
	close(child->go);
	close(child->failed);
	while ((r = (int)read(wait, &byte, 1)) < 0 && errno == EINTR)
		;
	if (r != 1)
		_exit(0);
	become(failed, user ? &pw : NULL, argv);
	return 0;
}

int trace_child_go(struct trace_child *child, const char *name, struct rd_err *err)
{
	struct failure failure;
	ssize_t n = write(child->go, "", 1);

	close(child->go);
	child->go = -1;
	if (n != 1)
		return rd_err_set(err, ECHILD, name, "the command has died before it was started");
	/* Closed by a successful exec. */
	while ((n = read(child->failed, &failure, sizeof(failure))) < 0 && errno == EINTR)
		;
	close(child->failed);
	child->failed = -1;
	if (n == sizeof(failure))
		return rd_err_set(err, failure.err, name,
				  failure.as_user ? "cannot become the user to run this command" :
						    "cannot run this command");
	return 0;
}

void trace_child_reap(struct trace_child *child)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == child->pid) {
			child->ended = true;
			child->status = status;
		}
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
	/* A command that was never let go ends by itself now. */
	child->go = child->failed = -1;
}
