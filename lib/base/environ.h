/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that the kernel gave privileges when it was executed (a capability of the file, set-uid: AT_SECURE) was started by
 * somebody who has none, and whose environment must not say what is loaded or which files are read. What we read ourselves we
 * read by secure_getenv. Not every library does: it is shown an environment in which there is nothing of that kind.
 */
#ifndef RD_ENVIRON_H
#define RD_ENVIRON_H

/* In such a process leaves of the environment what is about language and the terminal's kind and size only; elsewhere does
 * nothing. Returns what rd_environ_show puts back; whoever wants it to stay hidden drops that. */
char **rd_environ_hide(void);
void rd_environ_show(char **whole);

#endif
