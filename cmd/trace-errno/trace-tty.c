// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Our side of the command's session. A program that shares our terminal can insert input into the shell that started us (TIOCSTI,
 * before Linux 6.2 always permitted), read what is typed there, and change the terminal settings. So each of 0, 1, 2 that is a
 * terminal is replaced with a pty for the command, and we copy between the pty and the terminal. Pipes and files are not replaced.
 * If none is a terminal, there is no pty, and the command has no controlling terminal.
 *
 * While the command is in the foreground, our terminal is raw: all input goes to the pty, and the line discipline of the pty
 * processes it. While the command is in the background (because we are, or because we are part of a pipeline whose other processes
 * may read the terminal), our terminal settings are not changed. If the command then reads its terminal, the pty stops it, and we
 * put it in the foreground if we are in the foreground ourselves.
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

/* The kernel buffers at most about 20 KiB of output of a pty. More output than this, after the command has ended or was stopped,
 * comes from other processes. */
#define REST_MAX (64 * 1024u)

/* Copies one direction. Reads again when everything read has been written. */
struct stream {
	int from, to; /* -1: closed */
	size_t at, n;
	char buf[4096];
};

/* A terminal of ours and the pty that replaces it. */
struct line {
	unsigned device;
	int terminal; /* reopened, so that O_NONBLOCK does not affect other processes */
	int master, slave;
	struct stream output;
};

struct trace_tty {
	int socket, monitors_socket;
	int line_of[3]; /* of 0, 1, 2; -1: none */
	struct line lines[3];
	size_t n_lines; /* the first is the terminal of the session */
	struct stream input;
	bool raw; /* the first terminal is raw, and the command is in the foreground */
	bool know_cooked;
	struct termios cooked; /* original settings of the first terminal */
	tcflag_t opost;	       /* OPOST as the command set it, while it is off on the pty */
};

static struct trace_tty *current; /* whose terminal to restore at exit */

static bool is_foreground(const struct trace_tty *tty)
{
	pid_t group = tcgetpgrp(tty->lines[0].terminal);

	return group < 0 || group == getpgrp(); /* -1: not our controlling terminal, so it does not stop us */
}

/* Newlines are translated once: by the pty while our terminal is raw, else by our terminal. Returns the previous OPOST. */
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

/* Raw except OPOST, which our own output needs. */
static void go_raw(struct trace_tty *tty)
{
	const struct line *line = &tty->lines[0];
	struct termios t;

	if (!tty->n_lines || !is_foreground(tty) || tcgetattr(line->terminal, &t))
		return;
	/* After a stop it may still have our settings. */
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

static void restore_terminal(void)
{
	if (current && current->raw)
		tcsetattr(current->lines[0].terminal, TCSADRAIN, &current->cooked);
}

static void send_order(struct trace_tty *tty, int kind, int signal)
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
		return rd_err_set(err, errno, path, "cannot open the terminal (COMMAND gets a pty in its place)");
	line->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	if (line->master < 0 || unlockpt(line->master))
		return rd_err_set(err, errno, "/dev/ptmx", "cannot create a pty for the command");
	line->slave = ioctl(line->master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	/* The owner can reopen it, for example as /dev/stderr. */
	if (line->slave < 0 || fchown(line->slave, owner, (gid_t)-1))
		return rd_err_set(err, errno, "/dev/ptmx", "cannot open the pty of the command");
	t.c_oflag &= ~(tcflag_t)OPOST;
	tcsetattr(line->slave, TCSANOW, &t);
	copy_size(line);
	line->output.from = line->master;
	line->output.to = line->terminal;
	return 0;
}

/* If several of 0, 1, 2 are the same terminal, they are the same pty for the command. */
static int assign_line(struct trace_tty *tty, int fd, uid_t owner, struct rd_err *err)
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

	tty->input.from = tty->input.to = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets)) {
		free(tty);
		return rd_err_set(err, errno, "session of the command", "cannot create a socket pair");
	}
	tty->socket = sockets[0];
	tty->monitors_socket = sockets[1];
	for (int fd = 0; fd < 3 && !r; fd++)
		r = assign_line(tty, fd, owner, err);
	if (r) {
		trace_tty_destroy(tty);
		return r;
	}
	if (tty->n_lines) {
		struct termios t;

		tty->opost = tcgetattr(tty->lines[0].terminal, &t) ? OPOST : t.c_oflag & OPOST;
		tty->input.from = tty->lines[0].terminal;
		tty->input.to = tty->lines[0].master;
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

	/* Only stop_self() unblocks them: with both blocked, we can set and write a terminal while in its background. */
	sigemptyset(&held);
	sigaddset(&held, SIGTTIN);
	sigaddset(&held, SIGTTOU);
	sigprocmask(SIG_BLOCK, &held, NULL);
	current = tty;
	rd_at_end(restore_terminal);
	/* In a pipeline other processes may read the terminal: then only once the command reads it. */
	if (tty->line_of[0] >= 0 && tty->line_of[1] >= 0)
		go_raw(tty);
	return tty->raw;
}

/* Copies without blocking; false: nothing was copied. */
static bool copy_stream(struct stream *stream)
{
	ssize_t n;

	if (stream->from < 0)
		return false;
	if (stream->at == stream->n) {
		n = read(stream->from, stream->buf, sizeof(stream->buf));
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return false;
		if (n <= 0) {
			stream->from = -1;
			return false;
		}
		stream->at = 0;
		stream->n = (size_t)n;
	}
	n = write(stream->to, stream->buf + stream->at, stream->n - stream->at);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	/* Output to a terminal that was hung up is lost, as without a pty. */
	stream->at = n < 0 ? stream->n : stream->at + (size_t)n;
	return true;
}

/* Output of the pty is already translated; our own output is not. */
static bool copy_output(struct trace_tty *tty, size_t i)
{
	struct line *line = &tty->lines[i];
	tcflag_t opost = 0;
	bool copied;

	if (!tty->raw || i)
		return copy_stream(&line->output);
	opost = translate_newlines(line->terminal, 0);
	copied = copy_stream(&line->output);
	translate_newlines(line->terminal, opost);
	return copied;
}

/* The kernel returns everything that was written before it returns EAGAIN, or EIO if no process has the pty open. */
static void copy_rest_of(struct trace_tty *tty, size_t i)
{
	struct stream *stream = &tty->lines[i].output;
	size_t rest = 0;

	while (rest < REST_MAX && (copy_output(tty, i) || stream->at < stream->n)) {
		struct pollfd room = { .fd = stream->to, .events = POLLOUT };

		rest += stream->at == stream->n ? stream->n : 0;
		if (stream->at < stream->n)
			poll(&room, 1, -1);
	}
}

static void copy_rest(struct trace_tty *tty)
{
	for (size_t i = 0; i < tty->n_lines; i++)
		copy_rest_of(tty, i);
}

/* Our terminal was hung up: hangs up the pty. */
static void hang_up(struct trace_tty *tty)
{
	tty->raw = false;
	tty->lines[0].output.from = -1;
	close_fd(&tty->lines[0].master);
}

static void copy_input(struct trace_tty *tty)
{
	if (!tty->raw)
		return;
	copy_stream(&tty->input);
	if (tty->input.from >= 0)
		return;
	/* Reading also fails if the terminal has another foreground process group now. */
	if (is_foreground(tty)) {
		hang_up(tty);
		return;
	}
	tty->input.from = tty->lines[0].terminal;
	leave_raw(tty);
}

static void resume(struct trace_tty *tty)
{
	/* Other processes may have the terminal now, or may have changed its settings. */
	if (tty->raw && !is_foreground(tty))
		leave_raw(tty);
	go_raw(tty);
	send_order(tty, tty->raw ? TRACE_ORDER_FRONT : TRACE_ORDER_BACK, 0);
}

/* Stops us by `signal`, and with `group` our whole process group, as a terminal does. Returns when we are continued, or
 * immediately if we cannot be stopped because our process group is orphaned. */
static void stop_self(struct trace_tty *tty, int signal, bool group)
{
	const struct timespec now = { 0 };
	sigset_t this, mask, cont;

	restore_terminal();
	leave_raw(tty);
	sigemptyset(&this);
	sigaddset(&this, signal);
	sigprocmask(SIG_UNBLOCK, &this, &mask);
	kill(group ? 0 : getpid(), signal);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	/* Continue the command only once: a second SIGCONT might arrive after it was stopped again. */
	sigemptyset(&cont);
	sigaddset(&cont, SIGCONT);
	sigtimedwait(&cont, NULL, &now);
	resume(tty);
}

/* The command was stopped: puts it in the foreground if it needs the terminal, else stops us. */
static void handle_stop(struct trace_tty *tty, int signal)
{
	bool wants_terminal = signal == SIGTTIN || signal == SIGTTOU;

	if (!tty->n_lines)
		return;
	if (wants_terminal)
		go_raw(tty);
	if (wants_terminal && tty->raw) {
		send_order(tty, TRACE_ORDER_FRONT, 0);
		return;
	}
	copy_rest(tty);
	stop_self(tty, signal, signal != SIGSTOP);
}

void trace_tty_signal(struct trace_tty *tty, const struct signalfd_siginfo *info)
{
	int signal = (int)info->ssi_signo;

	if (signal == SIGCONT) {
		resume(tty);
		return;
	}
	if (signal == SIGWINCH) {
		for (size_t i = 0; i < tty->n_lines; i++)
			copy_size(&tty->lines[i]);
		/* The pty signals only its foreground process group. */
		if (!tty->raw)
			send_order(tty, TRACE_ORDER_SIGNAL, signal);
		return;
	}
	/* A signal to our process group, for example of a terminal or timeout(1), cannot be distinguished from one to us alone. */
	send_order(tty, TRACE_ORDER_SIGNAL, signal);
	/* With a pty, we stop after the command has stopped. */
	if (signal == SIGTSTP && !tty->n_lines)
		stop_self(tty, signal, false);
}

static size_t add_stream(const struct stream *stream, struct pollfd *fd)
{
	if (stream->from < 0)
		return 0;
	*fd = stream->at < stream->n ? (struct pollfd){ .fd = stream->to, .events = POLLOUT } :
				       (struct pollfd){ .fd = stream->from, .events = POLLIN };
	return 1;
}

size_t trace_tty_fds(const struct trace_tty *tty, struct pollfd fds[TRACE_CHILD_FDS])
{
	size_t n = 0;

	fds[n++] = (struct pollfd){ .fd = tty->socket, .events = POLLIN };
	for (size_t i = 0; i < tty->n_lines; i++)
		n += add_stream(&tty->lines[i].output, &fds[n]);
	if (tty->raw)
		n += add_stream(&tty->input, &fds[n]);
	return n;
}

bool trace_tty_serve(struct trace_tty *tty, int *status)
{
	ssize_t n;

	copy_input(tty);
	for (size_t i = 0; i < tty->n_lines; i++)
		copy_output(tty, i);
	n = recv(tty->socket, status, sizeof(*status), MSG_DONTWAIT);
	if (n == 0)
		close_fd(&tty->socket); /* the monitor has died; SIGCHLD reports it */
	if (n != sizeof(*status))
		return false;
	if (!WIFSTOPPED(*status))
		return true;
	handle_stop(tty, WSTOPSIG(*status));
	return false;
}

void trace_tty_end(struct trace_tty *tty)
{
	copy_rest(tty);
	restore_terminal();
	tty->raw = false;
}

void trace_tty_destroy(struct trace_tty *tty)
{
	if (!tty)
		return;
	if (current == tty) {
		restore_terminal();
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
