/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of the terminal, and waiting for a key or a terminating signal. */
#ifndef RD_VIEW_TERMINAL_H
#define RD_VIEW_TERMINAL_H

#include "base/base.h"
#include "base/err.h"

/* 0 if text can be positioned on the terminal; else -ENOTTY or -EOPNOTSUPP with err filled. */
int rd_view_check_terminal(struct rd_err *err);

/* From now on the first terminating signal (SIGHUP, SIGINT, SIGQUIT, SIGTERM) ends the waiting; the second has its previous
 * effect. Call it after newterm: the previous handlers are those of ncurses. A SIGHUP that is ignored (nohup) stays ignored. */
void rd_view_catch_signals(void);
void rd_view_release_signals(void);

/* Waits up to `ms` milliseconds (-1: without limit) for input. False: a terminating signal came, or the terminal was closed. */
bool rd_view_wait(int ms);

#endif
