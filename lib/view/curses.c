/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/curses.h"

RD_LATE_DEFINE(rd_curses, RD_CURSES_CALLS, RD_LIBNCURSES)
