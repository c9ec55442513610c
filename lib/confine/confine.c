/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "confine-priv.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOBODY 65534 /* the kernel's overflow uid, which owns nothing */

static struct rd_confined state;

const struct rd_confined *rd_confined(void)
{
	return &state;
}

/* 0 also where the uid is not known in this user namespace: what is left of root's powers are capabilities then. */
static int drop_uid(struct rd_err *err)
{
	if (geteuid() != 0 && getuid() != 0)
		return 0;
	if (setresgid(NOBODY, NOBODY, NOBODY) < 0 || setgroups(0, NULL) < 0 || setresuid(NOBODY, NOBODY, NOBODY) < 0)
		return errno == EINVAL || errno == EPERM ? 0 : rd_err_set(err, errno, "uid", "cannot be given up");
	state.uid_dropped = true;
	return 0;
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 } };

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &head, none) < 0 ? -errno : 0;
}

int rd_confine(unsigned needs, const char *const *folders, struct rd_err *err)
{
	int r = drop_uid(err);

	if (r < 0)
		return r;
	state.active = true;
	r = drop_capabilities();
	if (r < 0)
		return rd_err_set(err, -r, "capabilities", "cannot be given up");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return rd_err_set(err, errno, "no_new_privs", "cannot be set");
	state.landlock = -rd_landlock_apply(needs & RD_CONFINE_READ ? folders : NULL, &state.landlock_abi);
#ifdef RD_SANITIZED
	/* What sanitizers do at the end of a process no list could name. */
	(void)needs;
	state.seccomp = EOPNOTSUPP;
#else
	state.seccomp = -rd_seccomp_apply(needs);
#endif
	return 0;
}

static void add(struct rd_buf *out, const char *name, int code)
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
	add(out, "no capabilities", 0);
	add(out, "no new privileges", 0);
	add(out, confined->landlock ? "landlock" : landlock, confined->landlock);
	add(out, "seccomp", confined->seccomp);
}
