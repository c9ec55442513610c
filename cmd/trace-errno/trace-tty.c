// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Our side of a command's own session. Through a terminal that it shares with us a program can type into the shell that
 * we came from (TIOCSTI, until Linux 6.2 for everybody), read what is typed there, and change its settings. So each of 0, 1, 2
 * that is a terminal is a pty for the command, and we copy between that and the terminal. Pipes and files stay what
 * they are. Where none is a terminal there is no pty, and the command has no terminal at all.
 *
 * While the command is in the foreground our terminal is raw: all keys go to the pty, whose line discipline makes of them what
 * the command wants. While it is in the background (we are, or we are part of a pipeline whose other processes may read
 * the terminal), our terminal stays as it is. When the command reads then, the pty stops it, and it gets the foreground
 * if we have it.
 */
#include "trace-child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>

#include "base/base.h"
#include "base/end.h"
#include "base/memory.h"

/* The kernel holds at most some 20 KiB of what was written to a pty. More than this, once the command has ended or was stopped,
 * comes from others. */
#define REST_MAX (64 * 1024u)

/* One direction. Reads when all that was read is written. */
struct lane {
	int from, to; /* -1: over */
	size_t at, n;
	char buf[4096];
};

/* A terminal of ours and the pty that stands for it. */
struct line {
	unsigned device;
	int terminal; /* opened anew: others who have it are not to see our O_NONBLOCK */
	int master, slave;
	struct lane output;
};

struct trace_tty {
	int socket, monitors_socket;
	int line_of[3]; /* of 0, 1, 2; -1: none */
	struct line lines[3];
	size_t n_lines; /* the first is the session's terminal */
	struct lane keys;
	bool raw; /* the first terminal is, and the command in the foreground */
	bool know_cooked;
	struct termios cooked; /* how the first terminal was */
	tcflag_t opost;	       /* whether the command wants its newlines translated, while that is off */
};

static struct trace_tty *current; /* whose terminal is to be given back */

static bool is_foreground(const struct trace_tty *tty)
{
	pid_t group = tcgetpgrp(tty->lines[0].terminal);

	return group < 0 || group == getpgrp(); /* -1: it is not our controlling terminal, so nobody stops us */
}

/* Newlines are translated once: by the pty while our terminal is raw, else by our terminal. Returns what it was before. */
static tcflag_t translate_newlines(int fd, tcflag_t opost)
{
	struct termios t;
	tcflag_t before;

	if (tcgetattr(fd, &t))
		return opost;
	before = t.c_oflag & OPOST;
	t.c_oflag = (t.c_oflag & ~(tcflag_t)OPOST) | opost;
	if (before != opost)
		tcsetattr(fd, TCSANOW, &t);
	return before;
}

static void copy_size(const struct line *line)
{
	struct winsize size;

	if (!ioctl(line->terminal, TIOCGWINSZ, &size))
		ioctl(line->master, TIOCSWINSZ, &size);
}

/* Raw but for OPOST, which our own lines on it need. */
static void go_raw(struct trace_tty *tty)
{
	const struct line *line = &tty->lines[0];
	struct termios t;

	if (!tty->n_lines || !is_foreground(tty) || tcgetattr(line->terminal, &t))
		return;
	/* After a stop it may still be as we had set it. */
	if (!tty->know_cooked || t.c_lflag & ICANON)
		tty->cooked = t;
	tty->know_cooked = true;
	t.c_iflag &= ~(tcflag_t)(IGNBRK | BRKINT | PARMRK | ISTRIP | INLCR | IGNCR | ICRNL | IXON | IXOFF);
	t.c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ICANON | ISIG | IEXTEN);
	t.c_cc[VMIN] = 1;
	t.c_cc[VTIME] = 0;
	if (tcsetattr(line->terminal, TCSADRAIN, &t))
		return;
	if (!tty->raw)
		translate_newlines(line->master, tty->opost);
	tty->raw = true;
	copy_size(line);
}

static void leave_raw(struct trace_tty *tty)
{
	if (!tty->raw)
		return;
	tty->raw = false;
	tty->opost = translate_newlines(tty->lines[0].master, 0);
}

static void give_terminal_back(void)
{
	if (current && current->raw)
		tcsetattr(current->lines[0].terminal, TCSADRAIN, &current->cooked);
}

static void order(struct trace_tty *tty, int kind, int signal)
{
	struct trace_order order = { .kind = kind, .signal = signal };

	send(tty->socket, &order, sizeof(order), MSG_NOSIGNAL);
}

static int open_line(int fd, uid_t owner, struct line *line, struct rd_err *err)
{
	char path[32];
	struct termios t;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	line->terminal = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	if (line->terminal < 0 || tcgetattr(line->terminal, &t))
		return rd_err_set(err, errno, path, "cannot open this terminal, which the command gets a pty for");
	line->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	if (line->master < 0 || unlockpt(line->master))
		return rd_err_set(err, errno, "/dev/ptmx", "cannot make a pty for the command");
	line->slave = ioctl(line->master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	/* The owner can open it again, as with /dev/stderr. */
	if (line->slave < 0 || fchown(line->slave, owner, (gid_t)-1))
		return rd_err_set(err, errno, "/dev/ptmx", "cannot give the command its pty");
	t.c_oflag &= ~(tcflag_t)OPOST;
	tcsetattr(line->slave, TCSANOW, &t);
	copy_size(line);
	line->output.from = line->master;
	line->output.to = line->terminal;
	return 0;
}

/* What is one terminal to us is one to the command. */
static int find_line(struct trace_tty *tty, int fd, uid_t owner, struct rd_err *err)
{
	struct line *line;
	unsigned device;

	tty->line_of[fd] = -1;
	if (!isatty(fd) || ioctl(fd, TIOCGDEV, &device))
		return 0;
	for (size_t i = 0; i < tty->n_lines; i++)
		if (tty->lines[i].device == device) {
			tty->line_of[fd] = (int)i;
			return 0;
		}
	tty->line_of[fd] = (int)tty->n_lines;
	line = &tty->lines[tty->n_lines++];
	*line = (struct line){ .device = device, .terminal = -1, .master = -1, .slave = -1 };
	return open_line(fd, owner, line, err);
}

int trace_tty_create(uid_t owner, struct trace_tty **ret, struct rd_err *err)
{
	struct trace_tty *tty = rd_alloc(1, sizeof(*tty));
	int sockets[2], r = 0;

	tty->keys.from = tty->keys.to = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets)) {
		free(tty);
		return rd_err_set(err, errno, "the command's session", "cannot set it up");
	}
	tty->socket = sockets[0];
	tty->monitors_socket = sockets[1];
	for (int fd = 0; fd < 3 && !r; fd++)
		r = find_line(tty, fd, owner, err);
	if (r) {
		trace_tty_destroy(tty);
		return r;
	}
	if (tty->n_lines) {
		struct termios t;

		tty->opost = tcgetattr(tty->lines[0].terminal, &t) ? OPOST : t.c_oflag & OPOST;
		tty->keys.from = tty->lines[0].terminal;
		tty->keys.to = tty->lines[0].master;
	}
	*ret = tty;
	return 0;
}

static void close_fd(int *fd)
{
	rd_cleanup_close(fd);
	*fd = -1;
}

void trace_tty_forked(struct trace_tty *tty)
{
	close_fd(&tty->monitors_socket);
	for (size_t i = 0; i < tty->n_lines; i++)
		close_fd(&tty->lines[i].slave);
}

void trace_tty_monitor(const struct trace_tty *tty, struct trace_monitor *ret)
{
	ret->socket = tty->monitors_socket;
	for (size_t i = 0; i < 3; i++)
		ret->std[i] = tty->line_of[i] < 0 ? -1 : tty->lines[tty->line_of[i]].slave;
}

bool trace_tty_begin(struct trace_tty *tty)
{
	sigset_t held;

	/* Only suspend() lets them in: a terminal that others have now still takes our settings and our output. */
	sigemptyset(&held);
	sigaddset(&held, SIGTTIN);
	sigaddset(&held, SIGTTOU);
	sigprocmask(SIG_BLOCK, &held, NULL);
	current = tty;
	rd_at_end(give_terminal_back);
	/* In a pipeline others may read the terminal: then not before the command wants to. */
	if (tty->line_of[0] >= 0 && tty->line_of[1] >= 0)
		go_raw(tty);
	return tty->raw;
}

/* Does what it can without waiting; false: nothing was moved. */
static bool move(struct lane *lane)
{
	ssize_t n;

	if (lane->from < 0)
		return false;
	if (lane->at == lane->n) {
		n = read(lane->from, lane->buf, sizeof(lane->buf));
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return false;
		if (n <= 0) {
			lane->from = -1;
			return false;
		}
		lane->at = 0;
		lane->n = (size_t)n;
	}
	n = write(lane->to, lane->buf + lane->at, lane->n - lane->at);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	/* A terminal that was hung up takes nothing any more: what goes there is lost, as it is without a pty. */
	lane->at = n < 0 ? lane->n : lane->at + (size_t)n;
	return true;
}

/* What our terminal gets from the pty has been translated as the command wants it; what we write ourselves has not. */
static bool move_output(struct trace_tty *tty, size_t i)
{
	struct line *line = &tty->lines[i];
	tcflag_t opost = 0;
	bool moved;

	if (!tty->raw || i)
		return move(&line->output);
	opost = translate_newlines(line->terminal, 0);
	moved = move(&line->output);
	translate_newlines(line->terminal, opost);
	return moved;
}

/* The kernel hands out all that was written before it says that there is no more for now, or EIO where nobody has the pty. */
static void move_rest_of(struct trace_tty *tty, size_t i)
{
	struct lane *lane = &tty->lines[i].output;
	size_t rest = 0;

	while (rest < REST_MAX && (move_output(tty, i) || lane->at < lane->n)) {
		struct pollfd room = { .fd = lane->to, .events = POLLOUT };

		rest += lane->at == lane->n ? lane->n : 0;
		if (lane->at < lane->n)
			poll(&room, 1, -1);
	}
}

static void move_rest(struct trace_tty *tty)
{
	for (size_t i = 0; i < tty->n_lines; i++)
		move_rest_of(tty, i);
}

/* The pty is hung up as our terminal was. */
static void hang_up(struct trace_tty *tty)
{
	tty->raw = false;
	tty->lines[0].output.from = -1;
	close_fd(&tty->lines[0].master);
}

static void move_keys(struct trace_tty *tty)
{
	if (!tty->raw)
		return;
	move(&tty->keys);
	if (tty->keys.from >= 0)
		return;
	/* A terminal that was given to others meanwhile refuses us in the same way. */
	if (is_foreground(tty)) {
		hang_up(tty);
		return;
	}
	tty->keys.from = tty->lines[0].terminal;
	leave_raw(tty);
}

static void go_on(struct trace_tty *tty)
{
	/* Others may have the terminal now, or may have had it and set it as they wanted. */
	if (tty->raw && !is_foreground(tty))
		leave_raw(tty);
	go_raw(tty);
	order(tty, tty->raw ? TRACE_ORDER_FRONT : TRACE_ORDER_BACK, 0);
}

/* Stops us by `signal`, and whoever else a terminal would have stopped. Returns when we are continued, or at once if we
 * cannot be stopped because no shell is there to continue us. */
static void suspend(struct trace_tty *tty, int signal, bool group)
{
	const struct timespec now = { 0 };
	sigset_t this, mask, cont;

	give_terminal_back();
	leave_raw(tty);
	sigemptyset(&this);
	sigaddset(&this, signal);
	sigprocmask(SIG_UNBLOCK, &this, &mask);
	kill(group ? 0 : getpid(), signal);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	/* Said to the command once: the second time might come when it has been stopped again. */
	sigemptyset(&cont);
	sigaddset(&cont, SIGCONT);
	sigtimedwait(&cont, NULL, &now);
	go_on(tty);
}

/* The command was stopped. */
static void follow(struct trace_tty *tty, int signal)
{
	bool wants_terminal = signal == SIGTTIN || signal == SIGTTOU;

	if (!tty->n_lines)
		return;
	if (wants_terminal)
		go_raw(tty);
	if (wants_terminal && tty->raw) {
		order(tty, TRACE_ORDER_FRONT, 0);
		return;
	}
	move_rest(tty);
	suspend(tty, signal, signal != SIGSTOP);
}

void trace_tty_signal(struct trace_tty *tty, const struct signalfd_siginfo *info)
{
	int signal = (int)info->ssi_signo;

	if (signal == SIGCONT) {
		go_on(tty);
		return;
	}
	if (signal == SIGWINCH) {
		for (size_t i = 0; i < tty->n_lines; i++)
			copy_size(&tty->lines[i]);
		/* The pty tells only who is in its foreground. */
		if (!tty->raw)
			order(tty, TRACE_ORDER_SIGNAL, signal);
		return;
	}
	/* What was sent to our process group, as by a terminal or timeout(1), cannot be told from what was sent to us alone. */
	order(tty, TRACE_ORDER_SIGNAL, signal);
	/* With a pty we follow the command when it has stopped. */
	if (signal == SIGTSTP && !tty->n_lines)
		suspend(tty, signal, false);
}

static size_t add_lane(const struct lane *lane, struct pollfd *fd)
{
	if (lane->from < 0)
		return 0;
	*fd = lane->at < lane->n ? (struct pollfd){ .fd = lane->to, .events = POLLOUT } :
				   (struct pollfd){ .fd = lane->from, .events = POLLIN };
	return 1;
}

size_t trace_tty_fds(const struct trace_tty *tty, struct pollfd fds[TRACE_CHILD_FDS])
{
	size_t n = 0;

	fds[n++] = (struct pollfd){ .fd = tty->socket, .events = POLLIN };
	for (size_t i = 0; i < tty->n_lines; i++)
		n += add_lane(&tty->lines[i].output, &fds[n]);
	if (tty->raw)
		n += add_lane(&tty->keys, &fds[n]);
	return n;
}

bool trace_tty_serve(struct trace_tty *tty, int *status)
{
	ssize_t n;

	move_keys(tty);
	for (size_t i = 0; i < tty->n_lines; i++)
		move_output(tty, i);
	n = recv(tty->socket, status, sizeof(*status), MSG_DONTWAIT);
	if (n == 0)
		close_fd(&tty->socket); /* the monitor has died, of which we hear by SIGCHLD */
	if (n != sizeof(*status))
		return false;
	if (!WIFSTOPPED(*status))
		return true;
	follow(tty, WSTOPSIG(*status));
	return false;
}

void trace_tty_end(struct trace_tty *tty)
{
	move_rest(tty);
	give_terminal_back();
	tty->raw = false;
}

void trace_tty_destroy(struct trace_tty *tty)
{
	if (!tty)
		return;
	if (current == tty) {
		give_terminal_back();
		current = NULL;
	}
	trace_tty_forked(tty);
	rd_cleanup_close(&tty->socket);
	for (size_t i = 0; i < tty->n_lines; i++) {
		rd_cleanup_close(&tty->lines[i].terminal);
		rd_cleanup_close(&tty->lines[i].master);
	}
	free(tty);
}
