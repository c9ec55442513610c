// SPDX-License-Identifier: GPL-2.0-or-later
/* The traced command: forked before the hooks are attached, so that the trace can be limited to it, and executed after that. */
#include "trace-child.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/text.h"

/* ---- the user */

#define UID_LAST (UINT32_MAX - 1) /* (uid_t)-1 means "do not change" to system calls */

/* By name, or by number if `name` is NULL. -ENOENT if there is no such user, whichever error the C library returns for it. */
static int look_up(const char *name, uid_t uid, struct trace_user *ret)
{
	const struct passwd *found;

	errno = 0;
	found = name ? getpwnam(name) : getpwuid(uid);
	if (!found)
		return errno && errno != ESRCH ? -errno : -ENOENT;
	ret->entry = *found;
	return 0;
}

int trace_user_find(const char *name, struct trace_user *ret, struct rd_err *err)
{
	uint32_t number = 0;
	int r = look_up(name, 0, ret);

	if (r == -ENOENT && *name && !name[strspn(name, "0123456789")]) {
		if (rd_parse_u32(name, RD_DECIMAL, UID_LAST, &number) < 0)
			return rd_err_set(err, ERANGE, "--user", "invalid user ID '%s': at most %" PRIu32, name,
					  UID_LAST);
		r = look_up(NULL, (uid_t)number, ret);
	}
	if (!r) {
		/* Looked up here and not in the child, because NSS services leave descriptors open. */
		do {
			ret->n_groups += 64; /* more than reported */
			free(ret->groups);
			ret->groups = rd_alloc((size_t)ret->n_groups, sizeof(*ret->groups));
		} while (getgrouplist(ret->entry.pw_name, ret->entry.pw_gid, ret->groups, &ret->n_groups) < 0);
		return 0;
	}
	if (r != -ENOENT)
		return rd_err_set(err, -r, "--user", "cannot look up '%s'", name);
	rd_err_set(err, ENOENT, "--user", "no user '%s'", name);
	return rd_err_hint(err, "give a user name listed by getent passwd, or a decimal user ID");
}

void trace_user_deinit(struct trace_user *user)
{
	free(user->groups);
	*user = (struct trace_user){ 0 };
}

static int set_variables(const struct passwd *pw)
{
	if (setenv("HOME", pw->pw_dir, 1) || setenv("USER", pw->pw_name, 1) || setenv("LOGNAME", pw->pw_name, 1) ||
	    setenv("SHELL", *pw->pw_shell ? pw->pw_shell : "/bin/sh", 1))
		return -errno;
	return 0;
}

#define RUNUSER "/usr/sbin/runuser"
#define PRLIMIT "/usr/bin/prlimit"
#define SETPRIV "/usr/bin/setpriv"

/* Whether 0, 1 and 2 are one terminal, in whose foreground we are, and there are the programs for another one. */
static bool may_have_terminal(void)
{
	struct stat first, st;

	for (int fd = 0; fd < 3; fd++)
		if (!isatty(fd) || fstat(fd, fd ? &st : &first) < 0 || (fd && st.st_rdev != first.st_rdev))
			return false;
	return geteuid() == 0 && tcgetpgrp(0) == getpgrp() && access(RUNUSER, X_OK) == 0 &&
	       access(PRLIMIT, X_OK) == 0 && access(SETPRIV, X_OK) == 0;
}

struct words {
	char **v;
	size_t n, cap;
};

static void add_word(struct words *words, const char *word)
{
	*RD_ADD(words->v, words->n, words->cap) = (char *)word;
}

/* The same, on a terminal of its own: becomes runuser(1), which copies between that and ours. Returns -errno. */
static int run_on_terminal(const struct trace_user *user, bool keep_privs, char *const *argv)
{
	static const char *const limits[] = {
		[RLIMIT_AS] = "as",	      [RLIMIT_CORE] = "core",	      [RLIMIT_CPU] = "cpu",
		[RLIMIT_DATA] = "data",	      [RLIMIT_FSIZE] = "fsize",	      [RLIMIT_LOCKS] = "locks",
		[RLIMIT_MEMLOCK] = "memlock", [RLIMIT_MSGQUEUE] = "msgqueue", [RLIMIT_NICE] = "nice",
		[RLIMIT_NOFILE] = "nofile",   [RLIMIT_NPROC] = "nproc",	      [RLIMIT_RSS] = "rss",
		[RLIMIT_RTPRIO] = "rtprio",   [RLIMIT_RTTIME] = "rttime",     [RLIMIT_SIGPENDING] = "sigpending",
		[RLIMIT_STACK] = "stack",
	};
	struct rd_buf groups = { 0 };
	struct words words = { 0 };
	int r = set_variables(&user->entry);

	if (r)
		return r;
	/* As root, so that all that it starts can set limits; -m: it leaves variables alone. */
	for (const char *const *word =
		     (const char *const[]){ RUNUSER, "-m", "-u", "root", "--pty", "--", PRLIMIT, NULL };
	     *word; word++)
		add_word(&words, *word);
	/* The limits that we have: a session of PAM, which runuser opens, may change them, and so the failure that is traced. */
	for (size_t i = 0; i < RD_ARRAY_SIZE(limits); i++) {
		_cleanup_buf_ struct rd_buf soft = { 0 }, hard = { 0 };
		struct rlimit limit;

		if (getrlimit((int)i, &limit) < 0)
			continue;
		rd_buf_printf(&soft, limit.rlim_cur == RLIM_INFINITY ? "unlimited" : "%ju", (uintmax_t)limit.rlim_cur);
		rd_buf_printf(&hard, limit.rlim_max == RLIM_INFINITY ? "unlimited" : "%ju", (uintmax_t)limit.rlim_max);
		add_word(&words, rd_text("--%s=%s:%s", limits[i], soft.data, hard.data));
	}
	/* What become_user does, as options of setpriv(1). */
	add_word(&words, SETPRIV);
	add_word(&words, rd_text("--reuid=%u", user->entry.pw_uid));
	add_word(&words, rd_text("--regid=%u", user->entry.pw_gid));
	for (int i = 0; i < user->n_groups; i++)
		rd_buf_printf(&groups, "%s%u", i ? "," : "--groups=", user->groups[i]);
	add_word(&words, groups.data ?: "--clear-groups");
	if (user->entry.pw_uid) {
		add_word(&words, "--inh-caps=-all");
		add_word(&words, "--ambient-caps=-all");
	}
	if (!keep_privs)
		add_word(&words, "--no-new-privs");
	add_word(&words, "--");
	while (*argv)
		add_word(&words, *argv++);
	add_word(&words, NULL);
	execv(words.v[0], words.v);
	return -errno;
}

/* ---- the process */

/* What the child reports if it could not execute the command. */
struct failure {
	int err;
	char what[64];
};

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

		char file[4096];

		snprintf(file, sizeof(file), "%.*s%s%s", len, path, len ? "/" : "", name);
		if (!access(file, X_OK))
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

_Noreturn static void fail(int failed, int err, const char *what)
{
	struct failure failure = { .err = err };

	snprintf(failure.what, sizeof(failure.what), "%s", what);
	if (write(failed, &failure, sizeof(failure)) < 0)
		_exit(126);
	_exit(127);
}

/* Without a terminal of its own the command may only write to ours: another user must not read what is typed there. */
static int close_input(void)
{
	for (int fd = 0; fd < 3; fd++) {
		char path[32];
		int other;

		if (!isatty(fd))
			continue;
		snprintf(path, sizeof(path), fd ? "/proc/self/fd/%d" : "/dev/null", fd);
		other = open(path, (fd ? O_WRONLY : O_RDONLY) | O_NOCTTY | O_CLOEXEC);
		if (other < 0 || dup2(other, fd) < 0)
			return -errno;
	}
	return 0;
}

/* Sets ids, groups and variables of the user, drops all capabilities unless the user is root and, unless `keep_privs`, sets
 * no_new_privs. If we are killed, the command is hung up, as when a terminal is closed; runuser hangs it up when it ends. */
static int become_user(const struct trace_child *child, const struct trace_command *command)
{
	struct __user_cap_header_struct self = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct no_caps[_LINUX_CAPABILITY_U32S_3] = { 0 };
	const struct trace_user *user = command->user;
	const struct passwd *pw = &user->entry;
	/* Keys of root's are in a keyring that all processes of a session have. A kernel or a container without keyrings has none. */
	int r = syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 && errno != ENOSYS && errno != EPERM ?
			-errno :
			0;

	if (!r && child->terminal) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		return run_on_terminal(command->user, command->keep_privs, command->argv);
	}
	setsid();
	if (!r)
		r = close_input();
	if (!r && (setgroups((size_t)user->n_groups, user->groups) || setresgid(pw->pw_gid, pw->pw_gid, pw->pw_gid) ||
		   setresuid(pw->pw_uid, pw->pw_uid, pw->pw_uid)))
		r = -errno;
	/* setresuid() keeps the inheritable set, and all sets if we are not root. Without these, the ambient set is empty as well. */
	if (!r && pw->pw_uid && syscall(SYS_capset, &self, no_caps))
		r = -errno;
	if (!r && !command->keep_privs && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		r = -errno;
	if (!r)
		r = set_variables(pw);
	prctl(PR_SET_PDEATHSIG, SIGHUP);
	return r;
}

/* The forked process: waits for a byte on `go`. */
_Noreturn static void wait_and_run(struct trace_child *child, const struct trace_command *command, int go, int failed)
{
	sigset_t none;
	ssize_t n;
	char byte;
	int r;

	close(child->go);
	close(child->failed);
	while ((n = read(go, &byte, 1)) < 0 && errno == EINTR)
		;
	if (n != 1)
		_exit(0);
	r = failed == 3 || dup3(failed, 3, O_CLOEXEC) == 3 ? close_from(4) : -errno;
	if (r)
		fail(failed, -r, "cannot close inherited file descriptors");
	failed = 3;
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	r = command->user ? become_user(child, command) : 0;
	if (r)
		fail(failed, -r, "cannot change to the user of this command");
	execvp(command->argv[0], command->argv);
	fail(failed, errno, "cannot run this command");
}

static bool has_our_terminal(void)
{
	return tcgetpgrp(STDOUT_FILENO) == getpgrp();
}

static const struct trace_child *current; /* an at_end step has no argument */

/* Of the modes that it set runuser restores what it found, unless it was killed, or trace_child_translate was faster. */
static void restore_terminal(void)
{
	if (current && has_our_terminal())
		tcsetattr(STDOUT_FILENO, TCSADRAIN, &current->modes);
	current = NULL;
}

int trace_child_start(struct trace_child *child, const struct trace_command *command, struct rd_err *err)
{
	_cleanup_close_ int wait = -1, failed = -1;
	const char *name = command->argv[0];
	int go[2], back[2], r;

	r = find_command(name, err);
	if (r)
		return r;
	child->session = command->user != NULL;
	child->terminal = child->session && may_have_terminal();
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
	return 0;
}

int trace_child_go(struct trace_child *child, const char *name, struct rd_err *err)
{
	struct failure failure;
	ssize_t n;

	if (child->terminal && tcgetattr(STDOUT_FILENO, &child->modes) == 0) {
		current = child;
		rd_at_end(restore_terminal);
	}
	n = write(child->go, "", 1);
	close(child->go);
	child->go = -1;
	if (n != 1)
		return rd_err_set(err, ECHILD, name, "the child process ended before it executed the command");
	/* Closed by a successful exec. */
	while ((n = read(child->failed, &failure, sizeof(failure))) < 0 && errno == EINTR)
		;
	close(child->failed);
	child->failed = -1;
	return n == sizeof(failure) ? rd_err_set(err, failure.err, name, "%s", failure.what) : 0;
}

bool trace_child_translate(const struct trace_child *child, bool translate)
{
	struct termios modes;
	bool before;

	if (!child->terminal || child->ended || !has_our_terminal() || tcgetattr(STDOUT_FILENO, &modes) < 0)
		return true;
	before = modes.c_oflag & OPOST;
	modes.c_oflag = translate ? modes.c_oflag | OPOST : modes.c_oflag & ~(tcflag_t)OPOST;
	if (before != translate)
		tcsetattr(STDOUT_FILENO, TCSANOW, &modes);
	return before;
}

void trace_child_reap(struct trace_child *child)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != child->pid || child->ended)
			continue;
		child->ended = true;
		child->status = status;
		restore_terminal();
	}
}

void trace_child_signal(struct trace_child *child, const struct signalfd_siginfo *info)
{
	int signal = (int)info->ssi_signo;

	if (child->terminal)
		kill(child->pid, signal == SIGHUP ? SIGTERM : signal);
	else if (child->session)
		kill(-child->pid, signal);
	else if (info->ssi_code != SI_KERNEL) /* signals of the terminal reach the command without us */
		kill(child->pid, signal);
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
	restore_terminal();
}
