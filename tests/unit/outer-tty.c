/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "outer-tty.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <termios.h>

#include "cmd/trace-errno/trace.h"
#include "unit.h"

#define WAIT_MS 60000

static char player[64];

const char *outer_player(void)
{
	int from, to;

	if (*player)
		return player;
	strcpy(player, "/tmp/rdmadiag-play-XXXXXX");
	from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	to = mkostemp(player, O_CLOEXEC);
	while (sendfile(to, from, NULL, 1 << 30) > 0)
		;
	fchmod(to, 0755);
	close(from);
	close(to);
	return player;
}

void outer_remove_player(void)
{
	if (*player)
		unlink(player);
	*player = 0;
}

/* trace-errno from the moment on at which the hooks are there, and as if its trace had ended. */
_Noreturn static void trace(const struct job *job)
{
	struct trace t = { .signals = -1, .stopped = 1, .child = TRACE_CHILD_INIT };
	struct trace_command command = { 0 };
	char *shell[] = { "/bin/sh", "-c", (char *)job->command, NULL };
	char *play[] = { player, "play", (char *)job->play, NULL };
	struct rd_err err = { 0 };
	int r = 0;

	rd_end_watch();
	command.argv = job->play ? play : shell;
	if (!job->shared && trace_user_find("nobody", &t.user, &err) == 0)
		command.user = &t.user;
	t.signals = trace_signals_open(!job->shared, &err);
	r = trace_child_start(&t.child, &command, &err);
	if (!r)
		r = trace_child_go(&t.child, command.argv[0], &err);
	if (job->says) {
		struct termios modes = { 0 };
		bool translated;

		for (int i = 0; t.child.terminal && i < 6000 && !tcgetattr(1, &modes) && modes.c_oflag & OPOST; i++)
			usleep(10000);
		translated = trace_child_translate(&t.child, true);
		r |= rd_write_all(1, "ours\n", 5);
		trace_child_translate(&t.child, translated);
	}
	if (job->dies)
		rd_out_of_memory();
	if (!r)
		trace_wait_for_command(&t);
	trace_child_deinit(&t.child);
	trace_user_deinit(&t.user);
	_exit(r ? 99 : trace_child_exit_code(&t.child));
}

static void redirect(int from, int to)
{
	if (from)
		dup2(from, to);
}

static pid_t start_job(const struct job *job)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	/* A test that fails leaves nothing running. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	if (!job->background)
		tcsetpgrp(0, getpgrp());
	signal(SIGTTOU, SIG_DFL);
	redirect(job->input, 0);
	redirect(job->output, 1);
	redirect(job->errors, 2);
	trace(job);
}

static bool same_modes(const struct termios *a, const struct termios *b)
{
	return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag && a->c_lflag == b->c_lflag &&
	       !memcmp(a->c_cc, b->c_cc, sizeof(a->c_cc));
}

static void report_job(int to, pid_t job, int status, struct termios *modes)
{
	struct report report = { .job = job, .status = status };
	struct termios now;

	tcsetpgrp(0, getpgrp());
	tcgetattr(0, &now);
	report.cooked = same_modes(&now, modes);
	tcsetattr(0, TCSADRAIN, modes);
	ioctl(0, FIONREAD, &report.typed);
	if (write(to, &report, sizeof(report)) < 0)
		_exit(1);
}

/* A shell with job control and one job. */
_Noreturn static void shell(const struct job *job, int orders, int reports)
{
	struct termios modes;
	int status = 0;
	char order;
	pid_t pid;

	signal(SIGTTOU, SIG_IGN);
	tcgetattr(0, &modes);
	pid = start_job(job);
	setpgid(pid, pid);
	if (!job->background)
		tcsetpgrp(0, pid);
	while (waitpid(pid, &status, WUNTRACED) == pid) {
		report_job(reports, pid, status, &modes);
		if (!WIFSTOPPED(status) || read(orders, &order, 1) != 1)
			break;
		tcsetpgrp(0, pid);
		kill(-pid, SIGCONT);
	}
	/* Whoever else has this terminal keeps it until the test has ended. */
	while (read(orders, &order, 1) > 0)
		;
	_exit(0);
}

void outer_start(struct outer *outer, const struct job *job)
{
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	int orders[2], reports[2], slave;

	*outer = (struct outer){ .master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC) };
	assert_true(outer->master >= 0 && !unlockpt(outer->master));
	ioctl(outer->master, TIOCSWINSZ, &size);
	assert_int_equal(pipe2(orders, O_CLOEXEC), 0);
	assert_int_equal(pipe2(reports, O_CLOEXEC), 0);
	outer_player();
	fflush(stdout);
	outer->shell = fork();
	if (!outer->shell) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		slave = ioctl(outer->master, TIOCGPTPEER, O_RDWR | O_NOCTTY);
		setsid();
		ioctl(slave, TIOCSCTTY, 0);
		close(outer->master);
		close(orders[1]);
		for (int fd = 0; fd < 3; fd++)
			dup2(slave, fd);
		close(slave);
		shell(job, orders[0], reports[1]);
	}
	close(orders[0]);
	close(reports[1]);
	outer->orders = orders[1];
	outer->reports = reports[0];
}

void outer_end(struct outer *outer)
{
	close(outer->master);
	close(outer->orders);
	close(outer->reports);
	kill(outer->shell, SIGKILL);
	waitpid(outer->shell, NULL, 0);
}

void outer_type(struct outer *outer, const char *keys)
{
	assert_int_equal(rd_write_all(outer->master, keys, strlen(keys)), 0);
}

/* What there is for the terminal; false: nothing in this time. */
static bool look(struct outer *outer, int ms)
{
	struct pollfd fd = { .fd = outer->master, .events = POLLIN };
	ssize_t n;

	if (poll(&fd, 1, ms) <= 0)
		return false;
	n = read(outer->master, outer->seen + outer->n, sizeof(outer->seen) - 1 - outer->n);
	if (n <= 0)
		return false;
	outer->n += (size_t)n;
	outer->seen[outer->n] = 0;
	return true;
}

bool outer_shows(struct outer *outer, const char *text)
{
	char *at;

	while (!(at = strstr(outer->seen, text)))
		if (!look(outer, WAIT_MS)) {
			print_error("not shown: \"%s\", but \"%s\"\n", text, outer->seen);
			return false;
		}
	at += strlen(text);
	outer->n -= (size_t)(at - outer->seen);
	memmove(outer->seen, at, outer->n + 1);
	return true;
}

void outer_continue(struct outer *outer)
{
	assert_int_equal(write(outer->orders, "f", 1), 1);
}

struct report outer_report(struct outer *outer)
{
	struct report report = { 0 };
	struct pollfd fd = { .fd = outer->reports, .events = POLLIN };
	int waited = 0;

	/* Somebody must read the terminal, or it takes nothing more. */
	while (poll(&fd, 1, 0) == 0 && waited < WAIT_MS)
		waited += look(outer, 20) ? 0 : 20;
	assert_int_equal(read(outer->reports, &report, fd.revents ? sizeof(report) : 0), sizeof(report));
	while (look(outer, 0))
		;
	return report;
}

int outer_status(struct outer *outer)
{
	struct report report = outer_report(outer);

	ASSERT_EACH(IS(WIFSTOPPED(report.status), false), IS(report.cooked, true));
	return WIFSIGNALED(report.status) ? 128 + WTERMSIG(report.status) : WEXITSTATUS(report.status);
}

bool outer_is_cooked(const struct outer *outer)
{
	struct termios t;

	assert_int_equal(tcgetattr(outer->master, &t), 0);
	return t.c_lflag & ICANON && t.c_lflag & ECHO && t.c_lflag & ISIG;
}
