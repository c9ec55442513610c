/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "confine-priv.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define NOBODY 65534 /* the kernel's overflow uid, which owns nothing */

static struct rd_confined state;

const struct rd_confined *rd_confined(void)
{
	return &state;
}

static bool is_root(void)
{
	uid_t real = 0, effective = 0, saved = 0;

	return getresuid(&real, &effective, &saved) < 0 || !real || !effective || !saved;
}

/*
 * If that is refused (the uid is not mapped in this user namespace, the container's root may not change it), the remaining
 * privilege of root is the ownership of files.
 */
static int drop_uid(void)
{
	int signal = 0, groups, group, user;
	pid_t parent = getppid();

	if (!is_root())
		return 0;
	/* A change of the uid resets it. */
	prctl(PR_GET_PDEATHSIG, &signal, 0, 0, 0);
	groups = setgroups(0, NULL) < 0 ? errno : 0;
	group = setresgid(NOBODY, NOBODY, NOBODY) < 0 ? errno : 0;
	user = setresuid(NOBODY, NOBODY, NOBODY) < 0 ? errno : 0;
	prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0);
	if (signal && getppid() != parent)
		raise(signal);
	state.uid_dropped = !user;
	return user ? user : group ? group : groups;
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 } };

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &head, none) < 0 ? -errno : 0;
}

int rd_confine(unsigned needs, const struct rd_confine_dir *dirs, struct rd_err *err)
{
	int r;

	state.active = true;
	if (!(needs & RD_CONFINE_UID))
		state.uid = drop_uid();
	r = drop_capabilities();
	if (r < 0)
		return rd_err_set(err, -r, "capabilities", "cannot drop");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return rd_err_set(err, errno, "no_new_privs", "cannot set");
	if (needs & RD_CONFINE_PROGRAM)
		return 0;
#ifdef RD_SANITIZED
	/* At exit a sanitizer starts another process that inspects this one, with files and calls that no list could cover. */
	(void)dirs;
	(void)needs;
	prctl(PR_SET_DUMPABLE, 1);
	state.landlock = state.seccomp = EOPNOTSUPP;
#else
	state.landlock = -rd_landlock_apply(needs & RD_CONFINE_READ ? dirs : NULL, needs & RD_CONFINE_VERBS,
					    &state.landlock_abi);
	state.seccomp = -rd_seccomp_apply(needs);
#endif
	return 0;
}

static void add_mechanism(struct rd_buf *out, const char *name, int code)
{
	rd_buf_printf(out, "%s%s%s", out->len ? ", " : "", code ? "no " : "", name);
	if (code)
		rd_buf_printf(out, " (%s)", rd_errno_text(code));
}

void rd_confined_text(const struct rd_confined *confined, struct rd_buf *out)
{
	char landlock[40];

	snprintf(landlock, sizeof(landlock), "landlock ABI %u", confined->landlock_abi);
	if (confined->uid_dropped)
		rd_buf_printf(out, "uid %d", NOBODY);
	if (confined->uid)
		rd_buf_printf(out, "%sroot's %s kept (%s)", out->len ? ", " : "",
			      confined->uid_dropped ? "groups" : "uid", rd_errno_text(confined->uid));
	add_mechanism(out, "no capabilities", 0);
	add_mechanism(out, "no new privileges", 0);
	add_mechanism(out, confined->landlock ? "landlock" : landlock, confined->landlock);
	add_mechanism(out, "seccomp", confined->seccomp);
}
