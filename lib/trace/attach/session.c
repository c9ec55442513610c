// SPDX-License-Identifier: GPL-2.0-or-later
/* The trace as the command sees it: started, extended while it runs, read and stopped. */
#include "trace/attach/session.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "bpf/trace.h"
#include "trace/attach/attach.h"

/* Hooks that are being added. */
struct adding {
	int sock;	   /* -1: none are */
	uint8_t *backends; /* shared with the process */
	bool *add;
	size_t n_fns;
	struct rd_errlist notes;
};

struct rd_session {
	int sock, poll; /* to the holder; epoll of all sockets */
	pid_t holder;
	struct adding adding;
	int fds[RD_FD_COUNT];
	volatile uint8_t *page;	    /* the map with the on switch, shared with the programs; NULL: not mapped */
	size_t switch_at, loads_at; /* offsets in it; loads_at: of struct rd_module_loads, SIZE_MAX: none */
	size_t unloads_at;	    /* of struct rd_module_unloads, likewise */
	bool stopped;
	uint64_t reading_sent; /* CLOCK_MONOTONIC, ns: time of the last RD_MSG_READING */
	bool counted;
	struct rd_attach_counts counts; /* last counts from the holder */
	enum rd_early_end early_end;
	struct rd_err why;
	struct rd_session_info info;
};

/* Sets .backend of the functions with add[i] (NULL: of all); returns how many have hooks. */
static size_t take_backends(struct rd_session *session, struct rd_fnset *set, const uint8_t *backends, const bool *add)
{
	size_t n = 0;

	for (size_t i = 0; i < set->n_fns; i++) {
		enum rd_backend b = backends[i] < RD_BACKEND_COUNT ? backends[i] : RD_BACKEND_NONE;

		if (add && !add[i])
			continue;
		set->fns[i].backend = b;
		if (b == RD_BACKEND_NONE)
			continue;
		session->info.per_backend[b]++;
		session->info.functions++;
		n++;
	}
	return n;
}

/* rd_session_holder_fd becomes readable with this socket. -errno. */
static int watch_socket(const struct rd_session *session, int sock)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(session->poll, EPOLL_CTL_ADD, sock, &event) ? -errno : 0;
}

/* Cancels, if hooks are being added; else does nothing. */
static void end_adding(struct rd_session *session)
{
	struct adding *a = &session->adding;

	if (a->sock < 0)
		return;
	close(a->sock); /* the process ends if it has not yet */
	munmap(a->backends, a->n_fns + 1);
	free(a->add);
	rd_errlist_deinit(&a->notes);
	*a = (struct adding){ .sock = -1 };
}

int rd_session_extend(struct rd_session *session, struct rd_fnset *set, const bool *add,
		      const struct rd_session_opts *opts, struct rd_err *err)
{
	struct rd_session_opts own = *opts;
	struct adding *a = &session->adding;
	size_t size = set->n_fns + 1;
	int socks[2];
	pid_t pid;

	if (a->sock >= 0)
		return rd_err_set(err, EBUSY, "trace", "hooks are being added");
	*a = (struct adding){ .sock = -1, .n_fns = set->n_fns };
	a->backends = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (a->backends == MAP_FAILED || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks)) {
		if (a->backends != MAP_FAILED)
			munmap(a->backends, size);
		return rd_err_set(err, ENOMEM, "trace", "cannot add hooks");
	}
	a->add = rd_alloc(size, sizeof(*a->add));
	memcpy(a->add, add, set->n_fns * sizeof(*add));
	for (size_t i = 0; i < set->n_fns; i++)
		a->backends[i] = (uint8_t)set->fns[i].backend;
	a->sock = socks[0];
	own.share = session->fds;
	pid = rd_adder_start(socks[1], set, a->add, &own, a->backends);
	close(socks[1]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	if (pid > 0 && !watch_socket(session, a->sock))
		return 0;
	rd_err_set(err, errno, "trace", "cannot start the process that adds hooks");
	end_adding(session);
	return -err->code;
}

/* 1: all hooks are there; 0: not yet; -errno with err filled. */
static int receive(struct rd_session *session, struct rd_err *err)
{
	struct pollfd holder = { .fd = session->sock, .events = POLLOUT };
	struct rd_msg msg;
	int fds[RD_FDS_MAX];
	int r = rd_msg_recv(session->adding.sock, &msg, fds, 0, 0);

	if (r == -EAGAIN || r == -EINTR)
		return 0;
	if (r)
		return rd_err_set(err, -r, "trace", "the process that adds hooks died");
	switch (msg.type) {
	case RD_MSG_NOTE:
		rd_errlist_add(&session->adding.notes, &msg.err);
		break;
	case RD_MSG_HOOKS:
		/* The holder takes over the descriptors. It is not waited for: a stopped one would stop the command, too. */
		r = poll(&holder, 1, 0) > 0 && holder.revents == POLLOUT ?
			    rd_msg_send(session->sock, &msg, fds, msg.a + msg.b) :
			    -EAGAIN;
		for (size_t i = 0; i < msg.a + msg.b; i++)
			close(fds[i]);
		if (r)
			return rd_err_set(err, -r, "trace", "the process that holds the hooks does not take more");
		break;
	case RD_MSG_ADDED:
		return 1;
	case RD_MSG_FAILED:
		*err = msg.err;
		return err->code ? -err->code : -EIO;
	default:
		break;
	}
	return receive(session, err);
}

bool rd_session_extended(struct rd_session *session, struct rd_fnset *set, size_t *added, struct rd_errlist *notes,
			 struct rd_err *err)
{
	struct adding *a = &session->adding;
	int r = a->sock < 0 ? 0 : receive(session, err);

	*added = 0;
	if (!r)
		return false;
	if (r > 0)
		*added = take_backends(session, set, a->backends, a->add);
	rd_errlist_add_all(notes, &a->notes);
	end_adding(session);
	return true;
}

uint64_t rd_session_loads(const struct rd_session *session, uint64_t *at_ns)
{
	const volatile struct rd_module_loads *loads;

	if (!session->page || session->loads_at > (size_t)sysconf(_SC_PAGESIZE) - sizeof(*loads))
		return 0;
	loads = (const volatile void *)(session->page + session->loads_at);
	*at_ns = loads->at;
	return loads->n;
}

size_t rd_session_unloads(const struct rd_session *session, uint64_t *seen, char (*ret)[RD_UNLOAD_NAME])
{
	const volatile struct rd_module_unloads *unloads;
	size_t n = 0;
	uint64_t end;

	if (!session->page || session->unloads_at > (size_t)sysconf(_SC_PAGESIZE) - sizeof(*unloads))
		return 0;
	unloads = (const volatile void *)(session->page + session->unloads_at);
	end = unloads->n;
	for (uint64_t i = end - *seen > RD_UNLOADS ? end - RD_UNLOADS : *seen; i < end; i++, n++) {
		memcpy(ret[n], (const void *)unloads->names[i % RD_UNLOADS], RD_UNLOAD_NAME);
		ret[n][RD_UNLOAD_NAME - 1] = 0;
	}
	*seen = end;
	return n;
}

size_t rd_session_release(struct rd_session *session, struct rd_fnset *set, uint32_t module)
{
	struct rd_msg msg = { .type = RD_MSG_RELEASE, .a = module };
	size_t n = 0;

	for (size_t i = 0; i < set->n_fns; i++) {
		struct rd_fn *fn = &set->fns[i];

		if (fn->module != module || fn->backend == RD_BACKEND_NONE)
			continue;
		msg.functions[fn->backend]++;
		session->info.per_backend[fn->backend]--;
		session->info.functions--;
		fn->backend = RD_BACKEND_NONE;
		n++;
	}
	if (n)
		rd_msg_send(session->sock, &msg, NULL, 0);
	return n;
}

/* A holder that does not respond in this time is stuck in the kernel; only missed hooks and run time are then outdated. */
#define RESPONSE_MS 2000

/* Interval of RD_MSG_READING to the holder; its limit is in the order of minutes. */
#define READING_NS UINT64_C(500000000)

/* Waits until the holder is ready. Reports progress and collects notes. */
static int wait_ready(struct rd_session *session, const struct rd_session_opts *opts, struct rd_errlist *notes,
		      struct rd_err *err)
{
	uint64_t done = 0, total = 0;

	for (;;) {
		struct rd_msg msg;
		int fds[RD_FDS_MAX];
		int r = rd_msg_recv(session->sock, &msg, fds, RD_FD_COUNT, 100);

		if (!r && msg.type == RD_MSG_PROGRESS) {
			done = msg.a;
			total = msg.b;
		}
		if ((!r || r == -EAGAIN || r == -EINTR) && opts->progress &&
		    opts->progress(opts->progress_arg, done, total))
			return rd_err_set(err, EINTR, "trace", "cancelled while attaching");
		if (r == -EAGAIN || r == -EINTR)
			continue;
		if (r)
			return rd_err_set(err, -r, "trace", "the process that holds the hooks died while attaching");
		switch (msg.type) {
		case RD_MSG_NOTE:
			rd_errlist_add(notes, &msg.err);
			break;
		case RD_MSG_LOG:
			if (opts->log)
				opts->log(opts->log_arg, msg.text);
			break;
		case RD_MSG_FAILED:
			*err = msg.err;
			return err->code ? -err->code : -EIO;
		case RD_MSG_READY:
			session->info.attach_seconds = msg.seconds;
			session->info.reason = strdup(msg.text);
			session->switch_at = msg.a;
			session->loads_at = msg.b;
			session->unloads_at = msg.unloads_at;
			memcpy(session->fds, fds, sizeof(session->fds));
			return 0;
		default:
			break;
		}
	}
}

int rd_session_start(struct rd_fnset *set, const struct rd_session_opts *opts, struct rd_session **ret,
		     struct rd_errlist *notes, struct rd_err *err)
{
	struct rd_session *session = rd_alloc(1, sizeof(*session));
	size_t size = set->n_fns + 1, page = (size_t)sysconf(_SC_PAGESIZE);
	void *mapped = MAP_FAILED;
	uint8_t *backends;
	int socks[2], r;

	for (size_t i = 0; i < RD_FD_COUNT; i++)
		session->fds[i] = -1;
	session->sock = session->adding.sock = -1;
	session->poll = epoll_create1(EPOLL_CLOEXEC);
	backends = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (session->poll < 0 || backends == MAP_FAILED ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks)) {
		r = rd_err_set(err, errno, "trace", "cannot set up the process that holds the hooks");
		goto out;
	}
	session->sock = socks[0];
	watch_socket(session, socks[0]);
	session->holder = fork();
	if (session->holder < 0) {
		r = rd_err_set(err, errno, "trace", "cannot start the process that holds the hooks");
		close(socks[1]);
		goto out;
	}
	if (!session->holder)
		rd_holder_run(socks[1], set, opts, backends);
	close(socks[1]);
	r = wait_ready(session, opts, notes, err);
	if (!r) {
		if (session->switch_at < page)
			mapped = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, session->fds[RD_FD_SWITCH], 0);
		session->page = mapped == MAP_FAILED ? NULL : mapped;
		take_backends(session, set, backends, NULL);
		*ret = RD_TAKE(session);
	}
out:
	if (backends != MAP_FAILED)
		munmap(backends, size);
	rd_session_destroy(session);
	return r;
}

const struct rd_session_info *rd_session_info(const struct rd_session *session)
{
	return &session->info;
}

int rd_session_ring_fd(const struct rd_session *session)
{
	return session->fds[RD_FD_RING];
}

int rd_session_holder_fd(const struct rd_session *session)
{
	return session->poll;
}

void rd_session_counts(struct rd_session *session, struct rd_count **ret, size_t *n)
{
	struct rd_count *counts = rd_alloc(RD_COUNTS_MAX, sizeof(*counts));
	struct rd_count_key key, *previous = NULL;
	int fd = session->fds[RD_FD_COUNTS];
	size_t found = 0;

	/* Keys are only added, never removed, so concurrent changes cannot return a key twice. */
	while (found < RD_COUNTS_MAX && !bpf_map_get_next_key(fd, previous, &key)) {
		__u64 value;

		if (!bpf_map_lookup_elem(fd, &key, &value))
			counts[found++] = (struct rd_count){ .origin = (int)key.origin,
							     .chain_id = key.chain_id,
							     .verb = key.verb,
							     .dev = key.dev,
							     .err = key.err,
							     .count = value };
		previous = &key;
	}
	*ret = counts;
	*n = found;
}

int rd_session_durations(struct rd_session *session, uint64_t ret[RD_QP_ENDS][RD_QP_DURATIONS], struct rd_err *err)
{
	for (__u32 i = 0; i < RD_QP_ENDS * RD_QP_DURATIONS; i++)
		if (bpf_map_lookup_elem(session->fds[RD_FD_COUNTS], &i, &ret[i / RD_QP_DURATIONS][i % RD_QP_DURATIONS]))
			return rd_err_set(err, errno, "durations", "cannot read the BPF map");
	return 0;
}

/* Receives one message of an attached holder. `timeout_ms` as of poll; -EAGAIN: none arrived. */
static int receive_message(struct rd_session *session, int timeout_ms)
{
	struct rd_msg msg;
	int r = rd_msg_recv(session->sock, &msg, NULL, 0, timeout_ms);

	if (r)
		return r;
	if (msg.type == RD_MSG_COUNTS || msg.type == RD_MSG_EARLY_END) {
		session->counts = msg.counts;
		session->counted = true;
	}
	if (msg.type == RD_MSG_EARLY_END) {
		session->early_end = msg.why;
		session->why = msg.err;
	}
	return 0;
}

enum rd_early_end rd_session_ended_early(struct rd_session *session, struct rd_err *err)
{
	int r = 0;

	while (!r && !session->stopped && !session->early_end)
		r = receive_message(session, 0);
	if (!session->early_end && !session->stopped && r != -EAGAIN && r != -EINTR) {
		session->early_end = RD_EARLY_END_DIED;
		rd_err_set(&session->why, ECHILD, "trace", "the process that held the hooks died");
	}
	if (session->early_end)
		*err = session->why;
	return session->early_end;
}

void rd_session_reading(struct rd_session *session)
{
	struct pollfd p = { .fd = session->sock, .events = POLLOUT };
	struct rd_msg msg = { .type = RD_MSG_READING };
	uint64_t now = rd_clock_ns(CLOCK_MONOTONIC);

	if (session->stopped || session->early_end || now - session->reading_sent < READING_NS)
		return;
	session->reading_sent = now;
	/* Do not block on a stopped holder. */
	if (poll(&p, 1, 0) > 0 && p.revents == POLLOUT)
		rd_msg_send(session->sock, &msg, NULL, 0);
}

static void request_counts(struct rd_session *session)
{
	struct rd_msg msg = { .type = RD_MSG_GET_COUNTS };

	if (session->stopped || session->early_end || rd_msg_send(session->sock, &msg, NULL, 0))
		return;
	receive_message(session, RESPONSE_MS);
}

int rd_session_totals(struct rd_session *session, struct rd_trace_totals *ret, struct rd_err *err)
{
	int cpus = libbpf_num_possible_cpus();
	_cleanup_free_ struct rd_totals *each = cpus > 0 ? rd_alloc((size_t)cpus, sizeof(*each)) : NULL;
	uint64_t broken = 0;
	__u32 zero = 0;

	if (!each)
		return rd_err_set(err, -cpus, "counts", "cannot count the CPUs");
	if (bpf_map_lookup_elem(session->fds[RD_FD_TOTALS], &zero, each))
		return rd_err_set(err, errno, "counts", "cannot read the BPF map of totals");
	*ret = (struct rd_trace_totals){};
	for (int i = 0; i < cpus; i++) {
		ret->events += each[i].events;
		ret->delivered += each[i].delivered;
		ret->lost += each[i].lost;
		ret->benign += each[i].benign;
		ret->uncounted += each[i].uncounted;
		broken += each[i].no_state + each[i].no_exit + each[i].no_entry;
	}
	request_counts(session);
	ret->missed_at_least = session->counts.missed > broken ? session->counts.missed : broken;
	ret->missed.v = ret->missed_at_least;
	ret->missed.known = session->counted && session->counts.all_missed ? RD_OK : RD_ABSENT;
	ret->run_ns.v = session->counts.run_ns;
	ret->run_ns.known = session->counted && session->counts.all_runs ? RD_OK : RD_ABSENT;
	return 0;
}

void rd_session_stop(struct rd_session *session)
{
	struct rd_msg msg = { .type = RD_MSG_STOP };

	if (session->stopped)
		return;
	request_counts(session);
	if (session->page)
		session->page[session->switch_at] = 0;
	session->stopped = true;
	rd_msg_send(session->sock, &msg, NULL, 0);
}

void rd_session_destroy(struct rd_session *session)
{
	if (!session)
		return;
	if (session->page)
		munmap((void *)session->page, (size_t)sysconf(_SC_PAGESIZE));
	for (size_t i = 0; i < RD_FD_COUNT; i++)
		if (session->fds[i] >= 0)
			close(session->fds[i]);
	end_adding(session);
	if (session->sock >= 0)
		close(session->sock);
	if (session->poll >= 0)
		close(session->poll);
	if (session->holder > 0)
		waitpid(session->holder, NULL, WNOHANG);
	RD_FREE(session->info.reason, session);
}
