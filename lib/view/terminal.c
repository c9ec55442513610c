/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/view.h"

#include <poll.h>
#include <signal.h>
#include <time.h>

#include "view/curses.h"

#include <term.h>

RD_LATE_DEFINE(rd_curses, RD_CURSES_CALLS, RD_LIBNCURSES)

/* Also from ncurses, but term.h defines macros of common words, which would break other files. */
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
		rd_err_set(err, ENOTTY, "--live", "stdin and stdout must be a terminal");
		return rd_err_hint(err, "run without --live; over ssh: ssh -t HOST rdmadiag ...");
	}
	r = rd_curses_load("--live", err) ?: rd_late_load(&late, "--live", err);
	if (r < 0)
		return r;
	if (terminfo.setupterm(NULL, STDOUT_FILENO, &known) == OK) {
		cup = terminfo.tigetstr("cup");
		terminfo.del_curterm(*terminfo.cur_term);
	}
	if (cup && cup != (char *)-1)
		return 0;
	rd_err_set(err, EOPNOTSUPP, "TERM", "terminal does not support cursor positioning");
	return rd_err_hint(err, "set TERM=xterm, or run without --live");
}

static const int end_signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
static struct sigaction before[RD_ARRAY_SIZE(end_signals)];
static volatile sig_atomic_t ended;

static void note_signal(int signal)
{
	ended = 1;
	for (size_t i = 0; i < RD_ARRAY_SIZE(end_signals); i++)
		if (end_signals[i] == signal)
			sigaction(signal, &before[i], NULL);
}

void rd_view_catch_signals(void)
{
	const struct sigaction action = { .sa_handler = note_signal };

	ended = 0;
	for (size_t i = 0; i < RD_ARRAY_SIZE(end_signals); i++) {
		sigaction(end_signals[i], NULL, &before[i]);
		if (end_signals[i] != SIGHUP || !rd_hangup_ignored())
			sigaction(end_signals[i], &action, NULL);
	}
}

void rd_view_release_signals(void)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(end_signals); i++)
		sigaction(end_signals[i], &before[i], NULL);
}

bool rd_view_wait(int ms)
{
	struct pollfd terminal = { .fd = STDIN_FILENO, .events = POLLIN };
	struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };
	sigset_t blocked, usual;

	/* Blocked, so that a signal between check and wait is not missed. */
	sigemptyset(&blocked);
	for (size_t i = 0; i < RD_ARRAY_SIZE(end_signals); i++)
		sigaddset(&blocked, end_signals[i]);
	sigprocmask(SIG_BLOCK, &blocked, &usual);
	if (!ended)
		ppoll(&terminal, 1, ms < 0 ? NULL : &ts, &usual);
	sigprocmask(SIG_SETMASK, &usual, NULL);
	return !ended && !(terminal.revents & (POLLHUP | POLLERR | POLLNVAL));
}
