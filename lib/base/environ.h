/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that got privileges through execve (file capabilities, set-uid: AT_SECURE) was started by an unprivileged user, whose
 * environment must not control which libraries are loaded or which files are read. Our own code uses secure_getenv. Not every
 * library does: libraries see an environment without such variables.
 */
#ifndef RD_ENVIRON_H
#define RD_ENVIRON_H

/* In such a process removes all variables except those of the language and of the terminal's type and size; otherwise does
 * nothing. Returns the environment for rd_environ_show, which restores it. */
char **rd_environ_hide(void);
void rd_environ_show(char **whole);

#endif
