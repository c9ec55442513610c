// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/attach/session.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "base/memory.h"
#include "bpf/trace.h"
#include "trace/attach/session-state.h"

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
		int fds[RD_MSG_FDS];
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
			memcpy(session->fds, fds, sizeof(session->fds));
			return 0;
		default:
			break;
		}
	}
}

static void map_switch(struct rd_session *session)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p;

	if (session->switch_at >= page)
		return;
	p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, session->fds[RD_FD_SWITCH], 0);
	session->page = p == MAP_FAILED ? NULL : p;
}

int rd_session_start(struct rd_fnset *set, const struct rd_session_opts *opts, struct rd_session **ret,
		     struct rd_errlist *notes, struct rd_err *err)
{
	struct rd_session *session = rd_alloc(1, sizeof(*session));
	size_t size = set->n_fns + 1;
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
	rd_session_watch(session, socks[0]);
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
		map_switch(session);
		rd_session_take_backends(session, set, backends, NULL);
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

static int by_count(const void *a, const void *b)
{
	const struct rd_count *x = a, *y = b;

	return RD_CMP(y->count, x->count) ?: x->origin - y->origin;
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
							     .verb = key.verb,
							     .dev = key.dev,
							     .err = key.err,
							     .count = value };
		previous = &key;
	}
	qsort(counts, found, sizeof(*counts), by_count);
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
	struct timespec ts;
	uint64_t now;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	now = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
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
	rd_session_adding_end(session);
	if (session->sock >= 0)
		close(session->sock);
	if (session->poll >= 0)
		close(session->poll);
	if (session->holder > 0)
		waitpid(session->holder, NULL, WNOHANG);
	free(session->info.reason);
	free(session);
}
