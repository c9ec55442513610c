/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ncurses, loaded when a view starts. */
#ifndef RD_VIEW_CURSES_H
#define RD_VIEW_CURSES_H

#define NCURSES_NOMACROS
#define NCURSES_WIDECHAR 1
#include <curses.h>

#include "base/late.h"

/* Functions and variables; the table has their addresses. */
/* clang-format off */
#define RD_CURSES_CALLS(x) \
	x(attroff) x(attron) x(cbreak) x(COLOR_PAIR) x(curs_set) x(delscreen) x(endwin) x(erase) x(getch) \
	x(has_colors) x(init_pair) x(keypad) x(mvaddnwstr) x(mvhline) x(newterm) x(nodelay) x(noecho) x(refresh) \
	x(set_escdelay) x(start_color) x(use_default_colors) x(COLS) x(LINES) x(stdscr)
/* clang-format on */

RD_LATE_DECLARE(rd_curses, RD_CURSES_CALLS);

#endif
