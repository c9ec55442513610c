// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace-child.h"

#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "base/memory.h"
#include "base/number.h"

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
	if (setenv("HOME", pw->pw_dir, 1) || setenv("USER", pw->pw_name, 1) || setenv("LOGNAME", pw->pw_name, 1) ||
	    setenv("SHELL", *pw->pw_shell ? pw->pw_shell : "/bin/sh", 1))
		return -errno;
	return 0;
}
