// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace-child.h"

#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"

#define ENTRY_MIN (16 * 1024u)
#define ENTRY_MAX (1024 * 1024u)  /* longer entries are not valid */
#define UID_LAST (UINT32_MAX - 1) /* (uid_t)-1 means "do not change" to system calls */

static bool is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

/* By name, or by number if `name` is NULL. -ENOENT if there is no such user, whichever error the C library returns for it. */
static int look_up(const char *name, uid_t uid, struct trace_user *ret)
{
	struct passwd *found = NULL;
	int r = ERANGE;

	for (size_t size = ENTRY_MIN; r == ERANGE && size <= ENTRY_MAX; size *= 4) {
		trace_user_deinit(ret);
		ret->text = rd_alloc(size, 1);
		r = name ? getpwnam_r(name, &ret->entry, ret->text, size, &found) :
			   getpwuid_r(uid, &ret->entry, ret->text, size, &found);
	}
	if (found)
		return 0;
	trace_user_deinit(ret);
	return r && r != ESRCH ? -r : -ENOENT;
}

/* Looked up here and not in the child, because NSS services leave descriptors open. */
static void find_groups(struct trace_user *user)
{
	do {
		user->n_groups += 64; /* more than reported */
		free(user->groups);
		user->groups = rd_alloc((size_t)user->n_groups, sizeof(*user->groups));
	} while (getgrouplist(user->entry.pw_name, user->entry.pw_gid, user->groups, &user->n_groups) < 0);
}

int trace_user_find(const char *name, struct trace_user *ret, struct rd_err *err)
{
	uint32_t number = 0;
	int r = look_up(name, 0, ret);

	if (r == -ENOENT && is_number(name)) {
		if (rd_parse_u32(name, RD_DECIMAL, UID_LAST, &number) < 0)
			return rd_err_set(err, ERANGE, "--user", "invalid user ID '%s': at most %" PRIu32, name,
					  UID_LAST);
		r = look_up(NULL, (uid_t)number, ret);
	}
	if (!r) {
		find_groups(ret);
		return 0;
	}
	if (r != -ENOENT)
		return rd_err_set(err, -r, "--user", "cannot look up '%s'", name);
	rd_err_set(err, ENOENT, "--user", "no user '%s'", name);
	rd_err_hint(err, "give a user name listed by getent passwd, or a decimal user ID");
	return -ENOENT;
}

void trace_user_deinit(struct trace_user *user)
{
	free(user->text);
	free(user->groups);
	*user = (struct trace_user){ 0 };
}

/* setresuid() keeps the inheritable set, and all sets if we are not root. Without these, the ambient set is empty as well. */
static int drop_capabilities(void)
{
	struct __user_cap_header_struct self = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return syscall(SYS_capset, &self, none) ? -errno : 0;
}

static int set_variables(const struct passwd *pw)
{
	if (setenv("HOME", pw->pw_dir, 1) || setenv("USER", pw->pw_name, 1) || setenv("LOGNAME", pw->pw_name, 1) ||
	    setenv("SHELL", *pw->pw_shell ? pw->pw_shell : "/bin/sh", 1))
		return -errno;
	return 0;
}

int trace_user_become(const struct trace_user *user, bool keep_privs)
{
	const struct passwd *pw = &user->entry;
	int r = 0;

	if (setgroups((size_t)user->n_groups, user->groups) || setresgid(pw->pw_gid, pw->pw_gid, pw->pw_gid) ||
	    setresuid(pw->pw_uid, pw->pw_uid, pw->pw_uid))
		return -errno;
	if (pw->pw_uid)
		r = drop_capabilities();
	if (r)
		return r;
	if (!keep_privs && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	return set_variables(pw);
}

#define RUNUSER "/usr/sbin/runuser"
#define PRLIMIT "/usr/bin/prlimit"
#define SETPRIV "/usr/bin/setpriv"

bool trace_user_may_have_terminal(void)
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

/* The limits that we have: a session of PAM, which runuser opens, may change them, and so the failure that is traced. */
static void add_limits(struct words *words)
{
	static const char *const names[] = {
		[RLIMIT_AS] = "as",	      [RLIMIT_CORE] = "core",	      [RLIMIT_CPU] = "cpu",
		[RLIMIT_DATA] = "data",	      [RLIMIT_FSIZE] = "fsize",	      [RLIMIT_LOCKS] = "locks",
		[RLIMIT_MEMLOCK] = "memlock", [RLIMIT_MSGQUEUE] = "msgqueue", [RLIMIT_NICE] = "nice",
		[RLIMIT_NOFILE] = "nofile",   [RLIMIT_NPROC] = "nproc",	      [RLIMIT_RSS] = "rss",
		[RLIMIT_RTPRIO] = "rtprio",   [RLIMIT_RTTIME] = "rttime",     [RLIMIT_SIGPENDING] = "sigpending",
		[RLIMIT_STACK] = "stack",
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(names); i++) {
		_cleanup_buf_ struct rd_buf soft = { 0 }, hard = { 0 };
		struct rlimit limit;

		if (getrlimit((int)i, &limit) < 0)
			continue;
		rd_buf_printf(&soft, limit.rlim_cur == RLIM_INFINITY ? "unlimited" : "%ju", (uintmax_t)limit.rlim_cur);
		rd_buf_printf(&hard, limit.rlim_max == RLIM_INFINITY ? "unlimited" : "%ju", (uintmax_t)limit.rlim_max);
		add_word(words, rd_text("--%s=%s:%s", names[i], soft.data, hard.data));
	}
}

/* What trace_user_become does, as options of setpriv(1). */
static void add_privileges(struct words *words, const struct trace_user *user, bool keep_privs)
{
	struct rd_buf groups = { 0 };

	add_word(words, rd_text("--reuid=%u", user->entry.pw_uid));
	add_word(words, rd_text("--regid=%u", user->entry.pw_gid));
	for (int i = 0; i < user->n_groups; i++)
		rd_buf_printf(&groups, "%s%u", i ? "," : "--groups=", user->groups[i]);
	add_word(words, groups.data ? groups.data : "--clear-groups");
	if (user->entry.pw_uid) {
		add_word(words, "--inh-caps=-all");
		add_word(words, "--ambient-caps=-all");
	}
	if (!keep_privs)
		add_word(words, "--no-new-privs");
}

int trace_user_run_on_terminal(const struct trace_user *user, bool keep_privs, char *const *argv)
{
	struct words words = { 0 };
	int r = set_variables(&user->entry);

	if (r)
		return r;
	/* As root, so that all that it starts can set limits; -m: it leaves variables alone. */
	for (const char *const *word =
		     (const char *const[]){ RUNUSER, "-m", "-u", "root", "--pty", "--", PRLIMIT, NULL };
	     *word; word++)
		add_word(&words, *word);
	add_limits(&words);
	add_word(&words, SETPRIV);
	add_privileges(&words, user, keep_privs);
	add_word(&words, "--");
	while (*argv)
		add_word(&words, *argv++);
	add_word(&words, NULL);
	execv(words.v[0], words.v);
	return -errno;
}
