// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The session leader of the command. The command itself must not be the leader: the process group of a leader is orphaned,
 * and the kernel does not stop orphaned groups on Ctrl-Z. The monitor keeps our privileges, but of our descriptors only its
 * end of the socket, and reads nothing that the command can write.
 */
#include "trace-child.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/base.h"

struct monitor {
	int socket, signals;
	int terminal; /* of the session; -1: none */
	pid_t command;
	pid_t front;  /* the process group to put in the foreground again */
	bool stopped; /* and not continued by us */
};

/* The terminal of the session is the first of 0, 1, 2 that has one. */
static int session_terminal(const struct trace_monitor *monitor)
{
	for (size_t i = 0; i < 3; i++)
		if (monitor->std[i] >= 0)
			return monitor->std[i];
	return -1;
}

_Noreturn static void start_command(const struct trace_command *command, const struct trace_monitor *monitor,
				    int terminal)
{
	int failed = monitor->failed;

	setpgid(0, 0);
	/* Allowed from the background because SIGTTOU is blocked. */
	if (monitor->front)
		tcsetpgrp(terminal, getpgrp());
	for (int i = 0; i < 3; i++)
		if (monitor->std[i] >= 0 && dup2(monitor->std[i], i) < 0)
			trace_child_fail(failed, errno, "cannot set the terminal of this command");
	trace_command_run(command, failed);
}

/* Creates the session, and blocks all signals: only SIGCHLD is read. */
static void create_session(struct monitor *m, int failed)
{
	sigset_t set;

	prctl(PR_SET_NAME, "rdmadiag-run");
	setsid();
	if (m->terminal >= 0 && ioctl(m->terminal, TIOCSCTTY, 0))
		trace_child_fail(failed, errno, "cannot set the terminal of this command");
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	m->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (m->signals < 0)
		trace_child_fail(failed, errno, "cannot wait for this command");
	sigfillset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
}

static void note_stop(struct monitor *m, int signal)
{
	pid_t group = m->terminal >= 0 ? tcgetpgrp(m->terminal) : -1;

	m->stopped = true;
	/* A shell that suspends itself may have given the foreground to another group. SIGTTIN and SIGTTOU mean that the
	 * command's own group needs it. */
	if (signal == SIGTTIN || signal == SIGTTOU)
		m->front = getpgid(m->command);
	else if (group > 0 && group != getpgrp())
		m->front = group;
}

/* Another process continued or killed the command: our parent, which stopped with it, continues too. */
static void continue_parent(struct monitor *m)
{
	if (m->stopped)
		kill(getppid(), SIGCONT);
	m->stopped = false;
}

/* Returns whether the command has ended. */
static bool check_command(struct monitor *m)
{
	struct signalfd_siginfo info;
	bool ended = false;
	int status;

	while (read(m->signals, &info, sizeof(info)) == sizeof(info))
		;
	while (!ended && waitpid(m->command, &status, WNOHANG | WUNTRACED | WCONTINUED) > 0) {
		ended = WIFEXITED(status) || WIFSIGNALED(status);
		if (WIFSTOPPED(status))
			note_stop(m, WSTOPSIG(status));
		else
			continue_parent(m);
		/* So that processes which the command leaves running do not receive SIGHUP when we end. */
		if (ended && m->terminal >= 0)
			tcsetpgrp(m->terminal, getpgrp());
		if (!WIFCONTINUED(status))
			send(m->socket, &status, sizeof(status), MSG_NOSIGNAL);
	}
	return ended;
}

/* To the process group of the command, which exists until the command has been waited for. */
static void signal_group(const struct monitor *m, int signal)
{
	pid_t group = getpgid(m->command);

	if (group > 0)
		kill(-group, signal);
}

static void continue_command(struct monitor *m, pid_t front)
{
	/* The group that had the foreground may have ended. */
	if (m->terminal >= 0 && tcsetpgrp(m->terminal, front))
		tcsetpgrp(m->terminal, getpgid(m->command));
	m->stopped = false;
	signal_group(m, SIGCONT);
}

static void execute_order(struct monitor *m, const struct trace_order *order)
{
	switch (order->kind) {
	case TRACE_ORDER_SIGNAL:
		signal_group(m, order->signal);
		break;
	case TRACE_ORDER_FRONT:
		continue_command(m, m->front);
		break;
	case TRACE_ORDER_BACK:
		continue_command(m, getpgrp());
		break;
	}
}

_Noreturn static void serve(struct monitor *m)
{
	struct pollfd fds[] = { { .fd = m->signals, .events = POLLIN }, { .fd = m->socket, .events = POLLIN } };
	struct trace_order order;
	bool ended = false;
	ssize_t n;

	for (;;) {
		poll(fds, RD_ARRAY_SIZE(fds), -1);
		if (fds[0].revents && !ended)
			ended = check_command(m);
		if (!fds[1].revents)
			continue;
		n = recv(m->socket, &order, sizeof(order), MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n == sizeof(order) && !ended)
			execute_order(m, &order);
		if (n > 0)
			continue;
		/* As when a terminal is closed. */
		if (!ended) {
			signal_group(m, SIGHUP);
			signal_group(m, SIGCONT);
		}
		_exit(0);
	}
}

_Noreturn void trace_monitor_run(const struct trace_command *command, struct trace_monitor *monitor)
{
	struct monitor m = { 0 };
	int fds[] = { monitor->failed, monitor->socket, monitor->std[0], monitor->std[1], monitor->std[2] };
	int r = trace_keep_only(fds, RD_ARRAY_SIZE(fds));

	if (r)
		trace_child_fail(monitor->failed, -r, "cannot close inherited file descriptors");
	*monitor = (struct trace_monitor){
		.failed = fds[0], .socket = fds[1], .std = { fds[2], fds[3], fds[4] }, .front = monitor->front
	};
	m.socket = monitor->socket;
	m.terminal = session_terminal(monitor);
	create_session(&m, monitor->failed);
	m.command = fork();
	if (m.command < 0)
		trace_child_fail(monitor->failed, errno, "cannot start this command");
	if (!m.command)
		start_command(command, monitor, m.terminal);
	/* Done by both parent and child, so that the group exists before the first signal to it. */
	setpgid(m.command, m.command);
	m.front = m.command;
	close(monitor->failed);
	serve(&m);
}
