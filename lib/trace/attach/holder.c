// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The process that owns the hooks (see holder.h), the one that adds hooks to a running trace, what they and the command tell each other,
 * and when the hooks are detached early.
 */
#include "trace/attach/attach.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>

_Static_assert(RD_FD_COUNT <= RD_FDS_MAX, "all in one message");

int rd_msg_send(int sock, const struct rd_msg *msg, const int *fds, size_t n_fds)
{
	return rd_send_fds(sock, msg, sizeof(*msg), fds, n_fds);
}

int rd_msg_recv(int sock, struct rd_msg *msg, int *fds, size_t n_fds, int timeout_ms)
{
	struct pollfd p = { .fd = sock, .events = POLLIN };
	int taken[RD_FDS_MAX], r = poll(&p, 1, timeout_ms);
	size_t n, expected = 0;
	ssize_t size;

	if (r <= 0)
		return r ? -errno : -EAGAIN;
	size = rd_recv_fds(sock, msg, sizeof(*msg), taken, &n);
	if (size < 0)
		return (int)size;
	if (size != sizeof(*msg))
		return -EPIPE;
	if (msg->type == RD_MSG_READY)
		expected = n_fds;
	else if (msg->type == RD_MSG_HOOKS)
		expected = msg->a + msg->b <= RD_FDS_MAX ? msg->a + msg->b : SIZE_MAX;
	if (n == expected && (fds || !n)) {
		if (n)
			memcpy(fds, taken, sizeof(int) * n);
		return 0;
	}
	/* Others than expected are closed. */
	while (n)
		close(taken[--n]);
	return -EPROTO;
}

/* An RD_MSG_NOTE for each. */
static void send_notes(int sock, const struct rd_errlist *notes)
{
	for (size_t i = 0; i < notes->n; i++) {
		struct rd_msg msg = { .type = RD_MSG_NOTE, .err = notes->v[i] };

		rd_msg_send(sock, &msg, NULL, 0);
	}
}

bool rd_watch_due(const struct rd_watch *w, uint64_t now_ns)
{
	return w->max_percent > 0 && (!w->measuring || now_ns - w->since_ns >= RD_WATCH_WINDOW_NS);
}

enum rd_early_end rd_watch_reader(const struct rd_watch *w, uint64_t now_ns)
{
	return w->max_silence_ns && now_ns > w->heard_ns && now_ns - w->heard_ns > w->max_silence_ns ?
		       RD_EARLY_END_UNREAD :
		       RD_EARLY_END_NOT;
}

static enum rd_early_end check_cpu(struct rd_watch *w, const struct rd_watch_reading *reading)
{
	bool whole = w->measuring && reading->counted && reading->run_ns >= w->since_run_ns;

	if (whole && reading->now_ns - w->since_ns < RD_WATCH_WINDOW_NS)
		return RD_EARLY_END_NOT;
	if (whole) {
		w->percent =
			100.0 * (double)(reading->run_ns - w->since_run_ns) / (double)(reading->now_ns - w->since_ns);
		if (w->percent > w->highest)
			w->highest = w->percent;
	}
	w->measuring = reading->counted;
	w->since_ns = reading->now_ns;
	w->since_run_ns = reading->run_ns;
	return whole && w->percent > w->max_percent ? RD_EARLY_END_CPU : RD_EARLY_END_NOT;
}

enum rd_early_end rd_watch_step(struct rd_watch *w, const struct rd_watch_reading *reading)
{
	enum rd_early_end r = w->max_percent > 0 ? check_cpu(w, reading) : RD_EARLY_END_NOT;

	return r ? r : rd_watch_reader(w, reading->now_ns);
}

#define BIT(cap) (UINT64_C(1) << (cap))

/* In order: programs and maps; hooks on kernel functions; BTF of modules, and perf events if perf_event_paranoid requires it;
 * addresses of functions; the preemption mode in debugfs (two); memory of maps on kernels that count it as locked. */
#define ATTACHING                                                                                         \
	(BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_SYS_ADMIN) | BIT(CAP_SYSLOG) | BIT(CAP_DAC_OVERRIDE) | \
	 BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_SYS_RESOURCE))

/* Reduces the capabilities of this process to `permitted` and `effective`. */
static int limit_caps(uint64_t permitted, uint64_t effective)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data))
		return -errno;
	for (int i = 0; i < 2; i++) {
		data[i].permitted &= (uint32_t)(permitted >> 32 * i);
		data[i].effective = data[i].permitted & (uint32_t)(effective >> 32 * i);
		data[i].inheritable = 0;
	}
	return syscall(SYS_capset, &head, data) ? -errno : 0;
}

/*
 * Drops the rest: closing descriptors detaches the hooks without any capability. Kernels before 6.1 may refuse every bpf(2)
 * without CAP_BPF if unprivileged BPF is disabled; on those it is kept, for reading the counts of missed hooks. -errno.
 */
static int limit_to_holding(void)
{
	struct bpf_prog_info info;
	__u32 len = sizeof(info);
	int r = limit_caps(BIT(CAP_BPF), 0);

	if (r)
		return r;
	/* If the query is permitted, the error is about the descriptor (EBADF). */
	if (bpf_obj_get_info_by_fd(-1, &info, &len) && errno == EPERM)
		return limit_caps(BIT(CAP_BPF), BIT(CAP_BPF));
	return limit_caps(0, 0);
}

static int compare_fds(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Makes a forked process independent of the command, so that it does not keep pipes and the terminal of the command
 * open. Closes all descriptors but those in `keep`, which is sorted. */
static void leave_command(int *keep, size_t n)
{
	_cleanup_close_ int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	unsigned first = 3;

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
	/* The rest is closed. */
	qsort(keep, n, sizeof(*keep), compare_fds);
	for (size_t i = 0; i < n; i++) {
		if (keep[i] > (int)first)
			close_range(first, (unsigned)keep[i] - 1, 0);
		if (keep[i] >= (int)first)
			first = (unsigned)keep[i] + 1;
	}
	close_range(first, ~0U, 0);
	libbpf_set_print(NULL);
}

#define WATCH_MS 500
#define PROGRESS_NS 50000000
#define LOG_LINES 20 /* of the verifier */

struct holder {
	int sock, signals;
	int stats;	   /* keeps run statistics on while open; -1: not enabled by us */
	bool measured;	   /* run statistics were on at every check */
	uint64_t reported; /* progress, ns of CLOCK_MONOTONIC */
	struct rd_watch watch;
	struct rd_attach attach;
};

/* While attaching: reports progress, and checks whether the command still runs. */
static int tick(void *arg, size_t done, size_t total)
{
	struct holder *h = arg;
	struct pollfd p[] = { { .fd = h->sock, .events = POLLIN | POLLOUT }, { .fd = h->signals, .events = POLLIN } };
	struct rd_msg msg = { .type = RD_MSG_PROGRESS, .a = done, .b = total };
	uint64_t now = rd_clock_ns(CLOCK_MONOTONIC);

	poll(p, RD_ARRAY_SIZE(p), 0);
	if (p[0].revents & ~POLLOUT || p[1].revents)
		return 1;
	/* Do not block on a stopped command. */
	if (now - h->reported < PROGRESS_NS || !(p[0].revents & POLLOUT))
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
	int fds[RD_FDS_MAX];
	int r = rd_msg_recv(h->sock, &msg, fds, 0, 0);

	if (r == -EINTR || r == -EAGAIN || r == -EPROTO)
		return true;
	if (r || msg.type == RD_MSG_STOP)
		return false;
	h->watch.heard_ns = rd_clock_ns(CLOCK_MONOTONIC);
	if (msg.type == RD_MSG_GET_COUNTS) {
		read_counts(h, &reply.counts);
		rd_msg_send(h->sock, &reply, NULL, 0);
	} else if (msg.type == RD_MSG_HOOKS) {
		rd_attach_add(&h->attach, fds, msg.modules, msg.a, msg.b);
		for (size_t i = 0; i < RD_BACKEND_COUNT; i++)
			h->attach.added[i] += msg.functions[i];
		rd_attach_update_record(&h->attach, RD_HOLD_ON);
	} else if (msg.type == RD_MSG_RELEASE) {
		/* Those that another process attached are only counted here. */
		for (size_t i = 0; i < h->attach.set->n_fns; i++)
			if (h->attach.set->fns[i].module == msg.a && msg.functions[h->attach.backends[i]])
				msg.functions[h->attach.backends[i]]--;
		for (size_t i = 0; i < RD_BACKEND_COUNT; i++)
			h->attach.added[i] -= msg.functions[i] < h->attach.added[i] ? msg.functions[i] :
										      h->attach.added[i];
		rd_attach_release(&h->attach, (uint32_t)msg.a);
		rd_attach_update_record(&h->attach, RD_HOLD_ON);
	}
	return true;
}

static enum rd_early_end check_limits(struct holder *h, struct rd_err *err)
{
	struct rd_watch_reading reading = { .now_ns = rd_clock_ns(CLOCK_MONOTONIC) };
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
	struct signalfd_siginfo sender = { 0 };

	h->watch.heard_ns = rd_clock_ns(CLOCK_MONOTONIC);
	while (!why) {
		struct pollfd p[] = { { .fd = h->sock, .events = POLLIN }, { .fd = h->signals, .events = POLLIN } };

		if (poll(p, RD_ARRAY_SIZE(p), wait) < 0 && errno != EINTR)
			break;
		if (p[0].revents && !handle_message(h))
			break;
		if (p[1].revents) {
			if (read(h->signals, &sender, sizeof(sender)) == sizeof(sender))
				rd_err_set(err, ECANCELED, "trace",
					   "hooks detached at the request of process %u of user %u", sender.ssi_pid,
					   sender.ssi_uid);
			return RD_EARLY_END_DETACHED;
		}
		why = check_limits(h, err);
	}
	return why;
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

/* In the holder, and in a process that adds hooks, which has opts->share and keeps its capabilities until its end. */
static int attach_hooks(struct holder *h, struct rd_fnset *set, const struct rd_session_opts *opts, uint8_t *backends,
			struct rd_errlist *notes, char **reason, struct rd_err *err)
{
	struct rd_err note = {};
	int r = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : limit_caps(ATTACHING, ATTACHING);

	if (r)
		return rd_err_set(err, -r, "capabilities",
				  "the process that holds the hooks cannot limit its capabilities");
	r = rd_attach_open(&h->attach, set, opts, backends, notes, err);
	if (r)
		return r;
	h->attach.tick = tick;
	h->attach.tick_arg = h;
	r = rd_attach_run(&h->attach, reason, err);
	if (r || opts->share)
		return r;
	set_watch(h, opts, notes);
	r = limit_to_holding();
	if (r) {
		rd_err_set(&note, -r, "capabilities", "the process that holds the hooks cannot drop its capabilities");
		rd_errlist_add(notes, &note);
	}
	return 0;
}

_Noreturn void rd_holder_run(int sock, struct rd_fnset *set, const struct rd_session_opts *opts, uint8_t *backends)
{
	struct holder h = { .sock = sock, .stats = -1, .attach = { .owner_map = -1 } };
	struct rd_msg msg = { .type = RD_MSG_FAILED }, said = { .type = RD_MSG_LOG };
	struct rd_errlist notes = {};
	_cleanup_free_ char *reason = NULL;
	const char *log, *line;
	uint64_t start = rd_clock_ns(CLOCK_MONOTONIC);
	struct rd_err err = {};
	enum rd_early_end why;
	int r;

	leave_command(&sock, 1);
	h.signals = open_signals();
	r = attach_hooks(&h, set, opts, backends, &notes, &reason, &msg.err);
	send_notes(sock, &notes);
	/* The end of what the verifier said. */
	log = h.attach.refusal.log ? h.attach.refusal.log : "";
	line = log + strlen(log);
	for (int n = 0; line > log && n <= LOG_LINES; n += line[-1] == '\n')
		line--;
	for (size_t len; *line; line += len + (line[len] == '\n')) {
		len = strcspn(line, "\n");
		snprintf(said.text, sizeof(said.text), "%.*s", (int)len, line);
		rd_msg_send(sock, &said, NULL, 0);
	}
	if (!r) {
		msg.type = RD_MSG_READY;
		msg.seconds = (double)(rd_clock_ns(CLOCK_MONOTONIC) - start) / 1e9;
		msg.a = h.attach.programs.on_at;
		msg.b = h.attach.programs.loads_at;
		msg.unloads_at = h.attach.programs.unload_asked ? h.attach.programs.unloads_at : SIZE_MAX;
		snprintf(msg.text, sizeof(msg.text), "%s", reason ? reason : "");
		r = rd_msg_send(sock, &msg, h.attach.programs.fds, RD_FD_COUNT);
		why = r ? RD_EARLY_END_NOT : serve(&h, &err);
		if (why) {
			msg = (struct rd_msg){ .type = RD_MSG_EARLY_END, .why = why, .err = err };
			*h.attach.programs.on = false;
			read_counts(&h, &msg.counts);
			rd_msg_send(sock, &msg, NULL, 0);
		}
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

/* Passes the descriptors on, as many as fit at a time; with the first message the number of functions. */
static int send_hooks(int sock, const struct rd_attach *attach, const uint32_t functions[RD_BACKEND_COUNT])
{
	struct rd_msg msg = { .type = RD_MSG_HOOKS };
	int fds[RD_FDS_MAX], r = 0;

	memcpy(msg.functions, functions, sizeof(msg.functions));
	for (size_t i = 0; !r && i < attach->n_links + attach->n_progs;) {
		msg.a = msg.b = 0;
		while (i < attach->n_links + attach->n_progs && msg.a + msg.b < RD_FDS_MAX) {
			bool link = i < attach->n_links;
			const struct rd_held_fd *held = link ? &attach->links[i] : &attach->progs[i - attach->n_links];

			fds[msg.a + msg.b] = held->fd;
			msg.modules[msg.a + msg.b] = held->module;
			++*(link ? &msg.a : &msg.b);
			i++;
		}
		r = rd_msg_send(sock, &msg, fds, msg.a + msg.b);
		memset(msg.functions, 0, sizeof(msg.functions));
	}
	return r;
}

/* The process that adds hooks: passes their descriptors to the command, for the holder, and ends. */
static _Noreturn void add_hooks(int sock, struct rd_fnset *set, const struct rd_session_opts *opts, uint8_t *backends)
{
	struct holder h = { .sock = sock, .signals = -1, .stats = -1, .attach = { .owner_map = -1 } };
	struct rd_msg msg = { .type = RD_MSG_FAILED };
	uint32_t functions[RD_BACKEND_COUNT] = { 0 };
	_cleanup_free_ bool *had = rd_alloc(set->n_fns, sizeof(*had));
	struct rd_errlist notes = {};
	char *reason = NULL;
	int keep[RD_FD_COUNT + 1], r;

	memcpy(keep, opts->share, RD_FD_COUNT * sizeof(*keep));
	keep[RD_FD_COUNT] = sock;
	leave_command(keep, RD_ARRAY_SIZE(keep));
	for (size_t i = 0; i < set->n_fns; i++)
		had[i] = backends[i];
	r = attach_hooks(&h, set, opts, backends, &notes, &reason, &msg.err);
	send_notes(sock, &notes);
	/* Perf events share the templates, which count for them. */
	for (size_t i = 0; !r && i < RD_HOOK_COUNT; i++) {
		struct bpf_program *prog = h.attach.programs.kprobe[i];
		int fd = prog && bpf_program__fd(prog) >= 0 ? dup(bpf_program__fd(prog)) : -1;

		if (fd >= 0)
			rd_attach_keep_prog(&h.attach, fd, RD_NO_MODULE);
	}
	for (size_t i = 0; !r && i < set->n_fns; i++)
		functions[backends[i]] += !had[i] && backends[i];
	if (!r && !send_hooks(sock, &h.attach, functions))
		msg.type = RD_MSG_ADDED;
	rd_msg_send(sock, &msg, NULL, 0);
	_exit(0);
}

/* The second process is not a child of the command, which does not wait for it: detaching may take long. */
pid_t rd_adder_start(int sock, struct rd_fnset *set, const bool *add, const struct rd_session_opts *opts,
		     uint8_t *backends)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	if (!fork()) {
		for (size_t i = 0; i < set->n_fns; i++)
			set->fns[i].selected = add[i];
		add_hooks(sock, set, opts, backends);
	}
	_exit(0);
}
