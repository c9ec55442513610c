/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file in which the shell keeps the lines that were typed: $XDG_STATE_HOME/rdmadiag/history, by default below ~/.local/state. */
#ifndef RD_SHELL_HISTORY_H
#define RD_SHELL_HISTORY_H

#define SHELL_HISTORY_LINES 1000

/* Its name; the directory is made if it is missing. NULL: there is no home directory, or it is not this user's. The caller frees it. */
char *shell_history_file(void);

/* Adds the last `n` lines of readline's list. A file that cannot be written is reported once, and loses nothing else. */
void shell_history_add(const char *file, int n);

#endif
