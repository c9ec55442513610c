/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/terminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "view/curses.h"

#include <term.h>

RD_LATE_DEFINE(rd_curses, RD_CURSES_CALLS, RD_LIBNCURSES)

/* Of ncurses, too, but term.h has macros of the commonest words, which is nothing for the other files. */
#define TERMINFO(x) x(cur_term) x(del_curterm) x(setupterm) x(tigetstr)

static struct {
	TERMINFO(RD_LATE_MEMBER)
} terminfo;

static const char *const names[] = { TERMINFO(RD_LATE_NAME) };

static struct rd_late late = {
	.library = &rd_libraries[RD_LIBNCURSES], .names = names, .n = RD_ARRAY_SIZE(names), .table = &terminfo
};

int rd_view_check_terminal(struct rd_err *err)
{
	char *cup = NULL;
	int known, r;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		rd_err_set(err, ENOTTY, "--live", "needs a terminal for input and output");
		rd_err_hint(err, "leave out --live");
		return -ENOTTY;
	}
	r = rd_curses_load("--live", err);
	if (!r)
		r = rd_late_load(&late, "--live", err);
	if (r < 0)
		return r;
	if (terminfo.setupterm(NULL, STDOUT_FILENO, &known) == OK) {
		cup = terminfo.tigetstr("cup");
		terminfo.del_curterm(*terminfo.cur_term);
	}
	if (cup && cup != (char *)-1)
		return 0;
	rd_err_set(err, EOPNOTSUPP, "TERM", "names no terminal that a live view can be shown on");
	rd_err_hint(err, "TERM=xterm, or leave out --live");
	return -EOPNOTSUPP;
}

static const int asking[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
static struct sigaction before[RD_ARRAY_SIZE(asking)];
static volatile sig_atomic_t asked;

static void ask(int signal)
{
	asked = 1;
	for (size_t i = 0; i < RD_ARRAY_SIZE(asking); i++)
		if (asking[i] == signal)
			sigaction(signal, &before[i], NULL);
}

void rd_view_catch_signals(void)
{
	const struct sigaction action = { .sa_handler = ask };

	asked = 0;
	for (size_t i = 0; i < RD_ARRAY_SIZE(asking); i++) {
		sigaction(asking[i], NULL, &before[i]);
		if (asking[i] != SIGHUP || !rd_hangup_ignored())
			sigaction(asking[i], &action, NULL);
	}
}

void rd_view_release_signals(void)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(asking); i++)
		sigaction(asking[i], &before[i], NULL);
}

bool rd_view_wait(int ms)
{
	struct pollfd terminal = { .fd = STDIN_FILENO, .events = POLLIN };
	struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };
	sigset_t blocked, usual;

	/* A signal between the question and the waiting would be slept over. */
	sigemptyset(&blocked);
	for (size_t i = 0; i < RD_ARRAY_SIZE(asking); i++)
		sigaddset(&blocked, asking[i]);
	sigprocmask(SIG_BLOCK, &blocked, &usual);
	if (!asked)
		ppoll(&terminal, 1, ms < 0 ? NULL : &ts, &usual);
	sigprocmask(SIG_SETMASK, &usual, NULL);
	return !asked && !(terminal.revents & (POLLHUP | POLLERR | POLLNVAL));
}
