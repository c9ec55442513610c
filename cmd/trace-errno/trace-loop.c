// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waits for events and reads them. The BPF programs wake the reader for the first failure after a pause, so that the caller can be
 * looked at while it exists. They do not wake it for each of many failures, because that would slow down the failing calls: then
 * the ring buffer is polled, after 5 ms while there are events, after up to 100 ms when there are none.
 */
#include "trace.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <time.h>

#define POLL_MIN_NS 5000000u
#define POLL_MAX_NS 100000000u
#define POLL_USTACK_NS 5000000u	  /* user stacks can be resolved only while their process lives */
#define POLL_COMMAND_NS 20000000u /* with a command: fewer events are lost in bursts */

int trace_signals_open(bool session, struct rd_err *err)
{
	static const int wanted[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGQUIT };
	sigset_t set;
	int fd;

	sigemptyset(&set);
	for (size_t i = 0; i < RD_ARRAY_SIZE(wanted); i++)
		if (wanted[i] == SIGQUIT ? session : wanted[i] != SIGHUP || !rd_hangup_ignored())
			sigaddset(&set, wanted[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? rd_err_set(err, errno, "signals", "cannot create a signalfd") : fd;
}

bool trace_signalled(struct trace *t)
{
	struct signalfd_siginfo info;

	while (read(t->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD) {
			trace_child_reap(&t->child);
			continue;
		}
		if (!t->child.pid || t->child.ended || t->child.go >= 0) {
			t->interrupted = true;
			continue;
		}
		/* We keep running, to return the exit status of the command. */
		trace_child_signal(&t->child, &info);
	}
	return t->interrupted;
}

static uint64_t now(const struct trace *t)
{
	return t->ctx->source->ops->now(t->ctx->source, CLOCK_MONOTONIC);
}

/* Sleeps up to `ns`, until a signal, a message of the holder, an event (if `idle`), or the end of the reader. */
static void wait_for_input(struct trace *t, uint64_t ns, bool idle, bool *reader_gone)
{
	struct timespec ts = { .tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u) };
	struct pollfd fds[] = {
		{ .fd = t->signals, .events = POLLIN },
		/* After the request to stop it may end at any time. */
		{ .fd = t->stopped ? -1 : rd_session_holder_fd(t->session), .events = POLLIN },
		{ .fd = *reader_gone ? -1 : STDOUT_FILENO },
		{ .fd = idle && !t->stopped ? rd_session_ring_fd(t->session) : -1, .events = POLLIN },
	};

	if (ppoll(fds, RD_ARRAY_SIZE(fds), &ts, NULL) <= 0)
		return;
	if (fds[1].revents)
		t->early_end = rd_session_ended_early(t->session, &t->why_early);
	if (fds[2].revents & POLLERR)
		*reader_gone = true;
}

static bool enough_shown(const struct trace *t)
{
	return t->opts->events && t->shown >= t->opts->events;
}

/* trace_event returns -ECANCELED to stop reading. */
int trace_drain(struct trace *t, struct rd_err *err)
{
	int r = rd_drain_events(t->ctx->source, trace_event, t, err);

	rd_session_reading(t->session);
	return r == -ECANCELED ? 0 : r;
}

/* The reader of our output may have ended, but we still return the exit status of the command. */
void trace_wait_for_command(struct trace *t)
{
	bool no_reader = true;

	/* In this order: the pending signals may include SIGCHLD of the command, after which nothing else may arrive. */
	while (t->child.pid && !trace_signalled(t) && !t->child.ended)
		wait_for_input(t, 3600000000000ull, false, &no_reader);
}

int trace_loop(struct trace *t, struct rd_err *err)
{
	uint64_t end = t->opts->duration > 0 ? t->started + (uint64_t)(t->opts->duration * 1e9) : UINT64_MAX;
	uint64_t nap = POLL_MIN_NS, nap_max = t->child.pid ? POLL_COMMAND_NS : POLL_MAX_NS, at;
	bool reader_gone = false;
	int r = 0;

	if (t->opts->user_stack)
		nap_max = POLL_USTACK_NS;
	while (r >= 0 && !trace_signalled(t) && !t->child.ended && !t->early_end && !reader_gone && !enough_shown(t)) {
		r = trace_drain(t, err);
		trace_fold_flush(t, r > 0);
		trace_extend_step(t);
		nap = r > 0 ? POLL_MIN_NS : nap * 2 < nap_max ? nap * 2 : nap_max;
		at = now(t);
		if (at >= end || r < 0 || enough_shown(t))
			break;
		wait_for_input(t, end - at < nap ? end - at : nap, !r, &reader_gone);
	}
	t->stopped = now(t);
	rd_session_stop(t->session);
	while (r >= 0 && !reader_gone && !enough_shown(t) && (r = trace_drain(t, err)) > 0)
		;
	trace_wait_for_command(t);
	/* A reader that closes the pipe is not a failure. */
	return r == -EPIPE ? 0 : r < 0 ? r : 0;
}
