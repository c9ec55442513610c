// SPDX-License-Identifier: GPL-2.0-or-later
/* Hooks on further functions while a trace runs, for example of modules that are loaded in the meantime. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/trace.h"
#include "trace/attach/session-state.h"

size_t rd_session_take_backends(struct rd_session *session, struct rd_fnset *set, const uint8_t *backends,
				const bool *add)
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

int rd_session_watch(const struct rd_session *session, int sock)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(session->poll, EPOLL_CTL_ADD, sock, &event) ? -errno : 0;
}

void rd_session_adding_end(struct rd_session *session)
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
	*a = (struct adding){ .sock = -1, .n_fns = set->n_fns, .add = calloc(size, sizeof(*a->add)) };
	a->backends = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!a->add || a->backends == MAP_FAILED || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks)) {
		free(a->add);
		if (a->backends != MAP_FAILED)
			munmap(a->backends, size);
		*a = (struct adding){ .sock = -1 };
		return rd_err_set(err, ENOMEM, "trace", "cannot add hooks");
	}
	memcpy(a->add, add, set->n_fns * sizeof(*add));
	for (size_t i = 0; i < set->n_fns; i++)
		a->backends[i] = (uint8_t)set->fns[i].backend;
	a->sock = socks[0];
	own.share = session->fds;
	pid = rd_adder_start(socks[1], set, a->add, &own, a->backends);
	close(socks[1]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	if (pid > 0 && !rd_session_watch(session, a->sock))
		return 0;
	rd_err_set(err, errno, "trace", "cannot start the process that adds hooks");
	rd_session_adding_end(session);
	return -err->code;
}

/* The holder takes over the descriptors. It is not waited for: a stopped one would stop the command, too. */
static int pass_on(struct rd_session *session, const struct rd_msg *msg, int *fds)
{
	struct pollfd p = { .fd = session->sock, .events = POLLOUT };
	size_t n = msg->a + msg->b;
	int r = poll(&p, 1, 0) > 0 && p.revents == POLLOUT ? rd_msg_send(session->sock, msg, fds, n) : -EAGAIN;

	while (n)
		close(fds[--n]);
	return r;
}

/* 1: all hooks are there; 0: not yet; -errno with err filled. */
static int receive(struct rd_session *session, struct rd_err *err)
{
	struct rd_msg msg;
	int fds[RD_MSG_FDS];
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
		r = pass_on(session, &msg, fds);
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
		*added = rd_session_take_backends(session, set, a->backends, a->add);
	for (size_t i = 0; i < a->notes.n; i++)
		rd_errlist_add(notes, &a->notes.v[i]);
	rd_session_adding_end(session);
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
