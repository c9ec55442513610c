// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/attach/holder.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>

#include "trace/attach/holder-caps.h"
#include "trace/attach/watch.h"

#define WATCH_MS 500
#define LOG_LINES 20 /* of the verifier */

struct holder {
	int sock, signals;
	int stats;	   /* keeps run statistics on while open; -1: not enabled by us */
	bool measured;	   /* run statistics were on at every check */
	uint64_t reported; /* ms of CLOCK_MONOTONIC */
	struct rd_watch watch;
	struct rd_attach attach;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint64_t now_ms(void)
{
	return now_ns() / 1000000;
}

/* While attaching: reports progress, and checks whether the command still runs. */
static int tick(void *arg, size_t done, size_t total)
{
	struct holder *h = arg;
	struct pollfd p[] = { { .fd = h->sock, .events = POLLIN | POLLOUT }, { .fd = h->signals, .events = POLLIN } };
	struct rd_msg msg = { .type = RD_MSG_PROGRESS, .a = done, .b = total };
	uint64_t now = now_ms();

	poll(p, RD_ARRAY_SIZE(p), 0);
	if (p[0].revents & ~POLLOUT || p[1].revents)
		return 1;
	/* Do not block on a stopped command. */
	if (now - h->reported < 50 || !(p[0].revents & POLLOUT))
		return 0;
	h->reported = now;
	return rd_msg_send(h->sock, &msg, NULL, 0) < 0;
}

static bool stats_enabled(const struct holder *h)
{
	char on = '0';
	_cleanup_close_ int fd = h->stats >= 0 ? -1 : open("/proc/sys/kernel/bpf_stats_enabled", O_RDONLY | O_CLOEXEC);

	return h->stats >= 0 || (fd >= 0 && read(fd, &on, 1) == 1 && on != '0');
}

static void read_counts(struct holder *h, struct rd_attach_counts *ret)
{
	h->measured &= stats_enabled(h);
	rd_attach_count(&h->attach, ret);
	ret->all_runs &= h->measured;
}

/* False: the command stops the trace, or has ended. */
static bool handle_message(struct holder *h)
{
	struct rd_msg msg, reply = { .type = RD_MSG_COUNTS };
	int fds[RD_MSG_FDS];
	int r = rd_msg_recv(h->sock, &msg, fds, 0, 0);

	if (r == -EINTR || r == -EAGAIN || r == -EPROTO)
		return true;
	if (r || msg.type == RD_MSG_STOP)
		return false;
	h->watch.heard_ns = now_ns();
	if (msg.type == RD_MSG_GET_COUNTS) {
		read_counts(h, &reply.counts);
		rd_msg_send(h->sock, &reply, NULL, 0);
	} else if (msg.type == RD_MSG_HOOKS) {
		rd_attach_add(&h->attach, fds, msg.a, msg.b);
		for (size_t i = 0; i < RD_BACKEND_COUNT; i++)
			h->attach.added[i] += msg.functions[i];
		rd_attach_update_record(&h->attach, RD_HOLD_ON);
	}
	return true;
}

/* The sender of the signal. */
static void set_sender(struct holder *h, struct rd_err *err)
{
	struct signalfd_siginfo info = { 0 };

	if (read(h->signals, &info, sizeof(info)) != sizeof(info))
		return;
	rd_err_set(err, ECANCELED, "trace", "hooks detached at the request of process %u of user %u", info.ssi_pid,
		   info.ssi_uid);
}

static enum rd_early_end check_limits(struct holder *h, struct rd_err *err)
{
	struct rd_watch_reading reading = { .now_ns = now_ns() };
	struct rd_attach_counts counts;
	enum rd_early_end why;

	if (rd_watch_due(&h->watch, reading.now_ns)) {
		rd_attach_count(&h->attach, &counts);
		reading.run_ns = counts.run_ns;
		reading.counted = stats_enabled(h) && counts.all_runs;
		h->measured &= reading.counted;
		why = rd_watch_step(&h->watch, &reading);
	} else {
		why = rd_watch_reader(&h->watch, reading.now_ns);
	}
	if (why == RD_EARLY_END_CPU)
		rd_err_set(err, ECANCELED, "trace",
			   "BPF programs used %.2f%% of a CPU over %d s; --max-cpu allows %g%%", h->watch.percent,
			   (int)(RD_WATCH_WINDOW_NS / 1000000000u), h->watch.max_percent);
	if (why == RD_EARLY_END_UNREAD)
		rd_err_set(err, ECANCELED, "trace", "no events were read for %.0f s (--max-unread)",
			   (double)h->watch.max_silence_ns / 1e9);
	return why;
}

/* Until the command stops the trace or a limit ends it; then `err` has the reason. */
static enum rd_early_end serve(struct holder *h, struct rd_err *err)
{
	int wait = h->watch.max_percent > 0 || h->watch.max_silence_ns ? WATCH_MS : -1;
	enum rd_early_end why = RD_EARLY_END_NOT;

	h->watch.heard_ns = now_ns();
	while (!why) {
		struct pollfd p[] = { { .fd = h->sock, .events = POLLIN }, { .fd = h->signals, .events = POLLIN } };

		if (poll(p, RD_ARRAY_SIZE(p), wait) < 0 && errno != EINTR)
			break;
		if (p[0].revents && !handle_message(h))
			break;
		if (p[1].revents) {
			set_sender(h, err);
			return RD_EARLY_END_DETACHED;
		}
		why = check_limits(h, err);
	}
	return why;
}

/* The last message to the command. */
static void send_early_end(struct holder *h, enum rd_early_end why, const struct rd_err *err)
{
	struct rd_msg msg = { .type = RD_MSG_EARLY_END, .why = why, .err = *err };

	*h->attach.programs.on = false;
	read_counts(h, &msg.counts);
	rd_msg_send(h->sock, &msg, NULL, 0);
}

/* SIGTERM requests the end; it is read from a signalfd between system calls. */
static int open_signals(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_SETMASK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		sigprocmask(SIG_UNBLOCK, &set, NULL); /* then it kills us, and the kernel detaches the hooks */
	return fd;
}

/* Sets up the limits, and adds a note if a limit cannot be enforced. */
static void set_watch(struct holder *h, const struct rd_session_opts *opts, struct rd_errlist *notes)
{
	struct rd_err err = {};

	h->watch.max_percent = opts->max_percent;
	h->watch.max_silence_ns = (uint64_t)(opts->max_silence * 1e9);
	if (opts->run_stats) {
		h->stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
		if (h->stats < 0) {
			rd_err_set(&err, -h->stats, "--run-stats", "cannot enable run statistics");
			rd_err_hint(&err, "%s", "run with CAP_SYS_ADMIN, or: sudo sysctl kernel.bpf_stats_enabled=1");
			rd_errlist_add(notes, &err);
		}
	}
	h->measured = stats_enabled(h);
	if ((h->measured && !h->attach.progs_closed) || opts->max_percent <= 0)
		return;
	if (h->measured) {
		rd_err_set(&err, EMFILE, "--max-cpu",
			   "limit not enforced: too few file descriptors to measure all programs");
		rd_err_hint(&err, "%s", "raise ulimit -n, including the hard limit");
	} else {
		rd_err_set(&err, 0, "--max-cpu", "limit not enforced: kernel run statistics are off");
		rd_err_hint(&err, "%s", "add --run-stats, or: sudo sysctl kernel.bpf_stats_enabled=1");
	}
	rd_errlist_add(notes, &err);
}

/* Drops capabilities that only attaching needs. The trace continues if this fails, with a note. */
static void drop_capabilities(struct rd_attach *attach)
{
	struct rd_err err = {};
	int r = rd_holder_caps_hold();

	if (!r)
		return;
	rd_err_set(&err, -r, "capabilities", "the process that holds the hooks cannot drop its capabilities");
	rd_errlist_add(attach->notes, &err);
}

static int attach_hooks(struct holder *h, struct rd_fnset *set, const struct rd_session_opts *opts, uint8_t *backends,
			struct rd_errlist *notes, char **reason, struct rd_err *err)
{
	int r = rd_holder_caps_attach();

	if (r)
		return rd_err_set(err, -r, "capabilities",
				  "the process that holds the hooks cannot limit its capabilities");
	r = rd_attach_open(&h->attach, set, opts, backends, notes, err);
	if (r)
		return r;
	h->attach.tick = tick;
	h->attach.tick_arg = h;
	r = rd_attach_run(&h->attach, reason, err);
	if (r)
		return r;
	set_watch(h, opts, notes);
	drop_capabilities(&h->attach);
	return 0;
}

/* The end of what the verifier said. */
static void send_log(int sock, const char *log)
{
	const char *line = log + strlen(log);
	struct rd_msg msg = { .type = RD_MSG_LOG };

	for (int n = 0; line > log && n <= LOG_LINES; n += line[-1] == '\n')
		line--;
	for (size_t len; *line; line += len + (line[len] == '\n')) {
		len = strcspn(line, "\n");
		snprintf(msg.text, sizeof(msg.text), "%.*s", (int)len, line);
		rd_msg_send(sock, &msg, NULL, 0);
	}
}

_Noreturn void rd_holder_run(int sock, struct rd_fnset *set, const struct rd_session_opts *opts, uint8_t *backends)
{
	struct holder h = { .sock = sock, .stats = -1, .attach = { .owner_map = -1 } };
	struct rd_msg msg = { .type = RD_MSG_FAILED };
	struct rd_errlist notes = {};
	_cleanup_free_ char *reason = NULL;
	uint64_t start = now_ms();
	struct rd_err err = {};
	enum rd_early_end why;
	int r;

	rd_holder_leave(&sock, 1);
	h.signals = open_signals();
	r = attach_hooks(&h, set, opts, backends, &notes, &reason, &msg.err);
	rd_msg_send_notes(sock, &notes);
	if (h.attach.refusal.log)
		send_log(sock, h.attach.refusal.log);
	if (!r) {
		msg.type = RD_MSG_READY;
		msg.seconds = (double)(now_ms() - start) / 1000;
		msg.a = h.attach.programs.on_at;
		msg.b = h.attach.programs.loads_at;
		snprintf(msg.text, sizeof(msg.text), "%s", reason ? reason : "");
		r = rd_msg_send(sock, &msg, h.attach.programs.fds, RD_FD_COUNT);
		why = r ? RD_EARLY_END_NOT : serve(&h, &err);
		if (why)
			send_early_end(&h, why, &err);
	} else {
		rd_msg_send(sock, &msg, NULL, 0);
	}
	/* Detaching may take a minute: disable run statistics first. */
	if (h.stats >= 0)
		close(h.stats);
	rd_errlist_deinit(&notes);
	rd_attach_close(&h.attach);
	_exit(r ? 1 : 0);
}
