/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the terminal is good for, and waiting for a key or for what ends a view besides one. */
#ifndef RD_VIEW_TERMINAL_H
#define RD_VIEW_TERMINAL_H

#include "base/base.h"
#include "base/err.h"

/* 0 where text can be put anywhere on it; else -ENOTTY or -EOPNOTSUPP with err filled. */
int rd_view_check_terminal(struct rd_err *err);

/* From now on the first signal that asks for the end (SIGHUP, SIGINT, SIGQUIT, SIGTERM) ends the waiting; the second does
 * what it did before. After newterm: ncurses' own handlers are what was before. A SIGHUP that is ignored (nohup) stays so. */
void rd_view_catch_signals(void);
void rd_view_release_signals(void);

/* Waits so many milliseconds (-1: for ever) for something to read. False: the end was asked for, or the terminal has gone. */
bool rd_view_wait(int ms);

#endif
