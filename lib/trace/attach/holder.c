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
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>

#include "trace/attach/holder-caps.h"
#include "trace/attach/watch.h"

#define WATCH_MS 500

int rd_msg_send(int sock, const struct rd_msg *msg, const int *fds, size_t n_fds)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int) * RD_FD_COUNT)];
	} control = {};
	struct iovec iov = { .iov_base = (void *)msg, .iov_len = sizeof(*msg) };
	struct msghdr head = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (n_fds) {
		struct cmsghdr *c;

		head.msg_control = control.space;
		head.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
		c = CMSG_FIRSTHDR(&head);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * n_fds);
	}
	return sendmsg(sock, &head, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int rd_msg_recv(int sock, struct rd_msg *msg, int *fds, size_t n_fds, int timeout_ms)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int) * RD_FD_COUNT)];
	} control = {};
	struct iovec iov = { .iov_base = msg, .iov_len = sizeof(*msg) };
	struct msghdr head = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof(control.space)
	};
	struct pollfd p = { .fd = sock, .events = POLLIN };
	int r = poll(&p, 1, timeout_ms);
	struct cmsghdr *c;
	ssize_t size;

	if (r <= 0)
		return r ? -errno : -EAGAIN;
	size = recvmsg(sock, &head, MSG_CMSG_CLOEXEC);
	if (size < 0)
		return -errno;
	if (size != sizeof(*msg))
		return -EPIPE;
	c = CMSG_FIRSTHDR(&head);
	if (c && fds && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int) * n_fds))
		memcpy(fds, CMSG_DATA(c), sizeof(int) * n_fds);
	else if (msg->type == RD_MSG_READY)
		return -EPROTO;
	return 0;
}

struct holder {
	int sock, signals;
	int stats;	   /* as long as it is open, the kernel measures programs; -1: others decide */
	bool measured;	   /* it has done so all along, as far as was looked */
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

/* While attaching: says how far it got, and looks whether anybody still wants it. */
static int tick(void *arg, size_t done, size_t total)
{
	struct holder *h = arg;
	struct pollfd p[] = { { .fd = h->sock, .events = POLLIN | POLLOUT }, { .fd = h->signals, .events = POLLIN } };
	struct rd_msg msg = { .type = RD_MSG_PROGRESS, .a = done, .b = total };
	uint64_t now = now_ms();

	poll(p, RD_ARRAY_SIZE(p), 0);
	if (p[0].revents & ~POLLOUT || p[1].revents)
		return 1;
	/* A command that was stopped does not stop us. */
	if (now - h->reported < 50 || !(p[0].revents & POLLOUT))
		return 0;
	h->reported = now;
	return rd_msg_send(h->sock, &msg, NULL, 0) < 0;
}

static void send_notes(int sock, const struct rd_errlist *notes)
{
	for (size_t i = 0; i < notes->n; i++) {
		struct rd_msg msg = { .type = RD_MSG_NOTE, .err = notes->v[i] };

		rd_msg_send(sock, &msg, NULL, 0);
	}
}

static bool measuring(const struct holder *h)
{
	char on = '0';
	_cleanup_close_ int fd = h->stats >= 0 ? -1 : open("/proc/sys/kernel/bpf_stats_enabled", O_RDONLY | O_CLOEXEC);

	return h->stats >= 0 || (fd >= 0 && read(fd, &on, 1) == 1 && on != '0');
}

static void count(struct holder *h, struct rd_attach_counts *ret)
{
	h->measured &= measuring(h);
	rd_attach_count(&h->attach, ret);
	ret->all_runs &= h->measured;
}

/* False: the command wants no more, or is gone. */
static bool take_message(struct holder *h)
{
	struct rd_msg msg, answer = { .type = RD_MSG_COUNTS };
	int r = rd_msg_recv(h->sock, &msg, NULL, 0, 0);

	if (r == -EINTR || r == -EAGAIN)
		return true;
	if (r || msg.type == RD_MSG_STOP)
		return false;
	h->watch.heard_ns = now_ns();
	if (msg.type == RD_MSG_ASK_COUNTS) {
		count(h, &answer.counts);
		rd_msg_send(h->sock, &answer, NULL, 0);
	}
	return true;
}

/* Who asked, as the signal has it. */
static void say_who(struct holder *h, struct rd_err *err)
{
	struct signalfd_siginfo info = { 0 };

	if (read(h->signals, &info, sizeof(info)) != sizeof(info))
		return;
	rd_err_set(err, ECANCELED, "trace", "process %u of user %u asked for the hooks to be taken away", info.ssi_pid,
		   info.ssi_uid);
}

static enum rd_let_go look(struct holder *h, struct rd_err *err)
{
	struct rd_watch_look look = { .now_ns = now_ns() };
	struct rd_attach_counts counts;
	enum rd_let_go why;

	if (rd_watch_due(&h->watch, look.now_ns)) {
		rd_attach_count(&h->attach, &counts);
		look.run_ns = counts.run_ns;
		look.counted = measuring(h) && counts.all_runs;
		h->measured &= look.counted;
		why = rd_watch_step(&h->watch, &look);
	} else {
		why = rd_watch_reader(&h->watch, look.now_ns);
	}
	if (why == RD_LET_GO_CPU)
		rd_err_set(err, ECANCELED, "trace",
			   "the programs took %.2f%% of a processor for %d s, more than --max-cpu allows (%g%%)",
			   h->watch.percent, (int)(RD_WATCH_WINDOW_NS / 1000000000u), h->watch.max_percent);
	if (why == RD_LET_GO_UNREAD)
		rd_err_set(err, ECANCELED, "trace", "nobody has read what the hooks sent for %.0f s (--max-unread)",
			   (double)h->watch.max_silence_ns / 1e9);
	return why;
}

/* Until the command has enough, or the holder: then `err` says why. */
static enum rd_let_go serve(struct holder *h, struct rd_err *err)
{
	int wait = h->watch.max_percent > 0 || h->watch.max_silence_ns ? WATCH_MS : -1;
	enum rd_let_go why = RD_LET_GO_NOT;

	h->watch.heard_ns = now_ns();
	while (!why) {
		struct pollfd p[] = { { .fd = h->sock, .events = POLLIN }, { .fd = h->signals, .events = POLLIN } };

		if (poll(p, RD_ARRAY_SIZE(p), wait) < 0 && errno != EINTR)
			break;
		if (p[0].revents && !take_message(h))
			break;
		if (p[1].revents) {
			say_who(h, err);
			return RD_LET_GO_DETACHED;
		}
		why = look(h, err);
	}
	return why;
}

/* The last thing that the command hears of it. */
static void say_let_go(struct holder *h, enum rd_let_go why, const struct rd_err *err)
{
	struct rd_msg msg = { .type = RD_MSG_LET_GO, .why = why, .err = *err };

	*h->attach.programs.on = false;
	count(h, &msg.counts);
	rd_msg_send(h->sock, &msg, NULL, 0);
}

/* The command's pipes and its terminal are not ours to hold open. */
static void leave_the_command(int sock)
{
	_cleanup_close_ int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	prctl(PR_SET_NAME, RD_HOLDER_NAME);
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	if (chdir("/"))
		return;
	for (int fd = 0; null >= 0 && fd < 3; fd++)
		dup2(null, fd);
	if (sock > 3)
		close_range(3, (unsigned)sock - 1, 0);
	close_range((unsigned)sock + 1, ~0U, 0);
}

/* SIGTERM is the way to ask for the end; it is taken when there is time for it. */
static int open_signals(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_SETMASK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		sigprocmask(SIG_UNBLOCK, &set, NULL); /* then it ends us, and the kernel does the rest */
	return fd;
}

/* What the limits need. A limit that nothing watches is said. */
static void set_watch(struct holder *h, const struct rd_session_opts *opts, struct rd_errlist *notes)
{
	struct rd_err err = {};

	h->watch.max_percent = opts->max_percent;
	h->watch.max_silence_ns = (uint64_t)(opts->max_silence * 1e9);
	if (opts->run_stats) {
		h->stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
		if (h->stats < 0) {
			rd_err_set(&err, -h->stats, "--run-stats", "the kernel does not switch run statistics on");
			rd_err_hint(&err, "%s", "CAP_SYS_ADMIN may; or: sudo sysctl kernel.bpf_stats_enabled=1");
			rd_errlist_add(notes, &err);
		}
	}
	h->measured = measuring(h);
	if ((h->measured && !h->attach.progs_closed) || opts->max_percent <= 0)
		return;
	if (h->measured) {
		rd_err_set(&err, EMFILE, "--max-cpu", "there are too few descriptors to watch what all programs take");
		rd_err_hint(&err, "%s", "raise ulimit -n, the hard limit too");
	} else {
		rd_err_set(&err, 0, "--max-cpu", "run statistics are off, so nothing watches what the programs take");
		rd_err_hint(&err, "%s", "--run-stats, or sudo sysctl kernel.bpf_stats_enabled=1");
	}
	rd_errlist_add(notes, &err);
}

/* The hooks stay, what made them goes. Failing here is no reason to trace less, but has to be said. */
static void drop(struct rd_attach *attach)
{
	struct rd_err err = {};
	int r = rd_holder_caps_hold();

	if (!r)
		return;
	rd_err_set(&err, -r, "capabilities", "the process that holds the hooks cannot give up its own");
	rd_errlist_add(attach->notes, &err);
}

static int silent(enum libbpf_print_level level, const char *fmt, va_list args)
{
	(void)level, (void)fmt, (void)args;
	return 0;
}

static int attach(struct holder *h, struct rd_fnset *set, const struct rd_session_opts *opts, uint8_t *backends,
		  struct rd_errlist *notes, char **reason, struct rd_err *err)
{
	int r = rd_holder_caps_attach();

	if (r)
		return rd_err_set(err, -r, "capabilities", "the process that is to hold the hooks cannot limit its own");
	r = rd_attach_open(&h->attach, set, opts, backends, notes, err);
	if (r)
		return r;
	h->attach.tick = tick;
	h->attach.tick_arg = h;
	r = rd_attach_run(&h->attach, reason, err);
	if (r)
		return r;
	set_watch(h, opts, notes);
	drop(&h->attach);
	return 0;
}

_Noreturn void rd_holder_run(int sock, struct rd_fnset *set, const struct rd_session_opts *opts, uint8_t *backends)
{
	struct holder h = { .sock = sock, .stats = -1, .attach = { .owner_map = -1 } };
	struct rd_msg msg = { .type = RD_MSG_FAILED };
	struct rd_errlist notes = {};
	_cleanup_free_ char *reason = NULL;
	uint64_t start = now_ms();
	struct rd_err err = {};
	enum rd_let_go why;
	int r;

	leave_the_command(sock);
	h.signals = open_signals();
	libbpf_set_print(silent);
	r = attach(&h, set, opts, backends, &notes, &reason, &msg.err);
	send_notes(sock, &notes);
	if (!r) {
		msg.type = RD_MSG_READY;
		msg.seconds = (double)(now_ms() - start) / 1000;
		msg.a = h.attach.programs.on_at;
		snprintf(msg.text, sizeof(msg.text), "%s", reason ? reason : "");
		r = rd_msg_send(sock, &msg, h.attach.programs.fds, RD_FD_COUNT);
		why = r ? RD_LET_GO_NOT : serve(&h, &err);
		if (why)
			say_let_go(&h, why, &err);
	} else {
		rd_msg_send(sock, &msg, NULL, 0);
	}
	/* Detaching may take a minute, in which nobody is to pay for statistics. */
	if (h.stats >= 0)
		close(h.stats);
	rd_errlist_deinit(&notes);
	rd_attach_close(&h.attach);
	_exit(r ? 1 : 0);
}
