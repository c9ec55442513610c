/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The client side, the confined process; and the messages of both sides. */
#include "opener-priv.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/text.h"

union control {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int))];
};

int rd_opener_send(int sock, const struct opener_message *message, const void *data, int fd)
{
	struct iovec parts[] = { { (void *)message, sizeof(*message) }, { (void *)data, message->size } };
	struct msghdr msg = { .msg_iov = parts, .msg_iovlen = message->size ? 2 : 1 };
	size_t left = sizeof(*message) + message->size;
	union control control;

	if (fd >= 0) {
		memset(&control, 0, sizeof(control));
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control.room);
		control.head = (struct cmsghdr){ CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	}
	while (left > 0) {
		ssize_t n = sendmsg(sock, &msg, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		left -= (size_t)n;
		msg.msg_controllen = 0;
		for (size_t i = 0; i < RD_ARRAY_SIZE(parts) && n > 0; i++) {
			size_t of_part = (size_t)n < parts[i].iov_len ? (size_t)n : parts[i].iov_len;

			parts[i].iov_base = (char *)parts[i].iov_base + of_part;
			parts[i].iov_len -= of_part;
			n -= (ssize_t)of_part;
		}
	}
	return 0;
}

int rd_opener_data(int sock, void *to, size_t size)
{
	for (uint8_t *at = to; size > 0;) {
		ssize_t n = read(sock, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ECHILD;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

int rd_opener_receive(int sock, struct opener_message *message, int *fd)
{
	struct iovec part = { message, sizeof(*message) };
	union control control;
	struct msghdr msg = { .msg_iov = &part, .msg_iovlen = 1 };
	const struct cmsghdr *head;
	ssize_t n;

	if (fd) {
		*fd = -1;
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control.room);
	}
	do
		n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 ? -errno : -ECHILD;
	head = fd ? CMSG_FIRSTHDR(&msg) : NULL;
	if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
	    head->cmsg_len == CMSG_LEN(sizeof(*fd)))
		memcpy(fd, CMSG_DATA(head), sizeof(*fd));
	return rd_opener_data(sock, (char *)message + n, sizeof(*message) - (size_t)n);
}

static struct opener_names named;
static int opener = -1; /* the socket */
static pid_t opener_pid;
static bool is_lost; /* no more requests are sent: data in the socket may be the rest of a reply */

bool rd_opener_used(void)
{
	return opener >= 0;
}

void rd_opener_name(enum rd_opener_use use, const char *path)
{
	_cleanup_free_ char *here = *path == '/' ? NULL : getcwd(NULL, 0);

	*RD_ADD(named.v, named.n, named.cap) = (struct opener_name){
		.use = use,
		.path = rd_dup(path),
		.whole = here ? rd_text("%s/%s", here, path) : rd_dup(path),
	};
}

int rd_opener_start(bool host, struct rd_err *err)
{
	/* No data are sent over the pipe: it only closes when we end. */
	struct opener_identity *identities;
	int ends[2], life[2];
	pid_t child;

	named.host = host;
	named.requester = getpid();
	/* Shared by all openers. */
	identities = mmap(NULL, (named.n + 1) * sizeof(*identities), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			  -1, 0);
	if (identities == MAP_FAILED)
		return rd_err_set(err, errno, "opener process", "cannot start");
	for (size_t i = 0; i < named.n; i++)
		named.v[i].identity = &identities[i];
	if (pipe2(life, O_CLOEXEC) < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return rd_err_set(err, errno, "opener process", "cannot start");
	child = fork();
	if (child < 0)
		return rd_err_set(err, errno, "opener process", "cannot start");
	if (child == 0) {
		close(ends[0]);
		close(life[1]);
		rd_opener_end_with(life[0]);
		rd_opener_serve(ends[1], &named);
	}
	close(ends[1]);
	close(life[0]);
	opener = ends[0];
	opener_pid = child;
	return 0;
}

void rd_opener_end(void)
{
	const struct timespec most = { .tv_nsec = 100000000 };
	sigset_t ended, before;

	if (opener < 0)
		return;
	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	sigprocmask(SIG_BLOCK, &ended, &before);
	close(RD_TAKE_FD(opener));
	/* Other children may have ended, too; a hanging one is not waited for. */
	while (waitpid(opener_pid, NULL, WNOHANG) == 0 && sigtimedwait(&ended, NULL, &most) == SIGCHLD)
		continue;
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static int set_lost(int r, struct rd_err *err)
{
	is_lost = true;
	return rd_err_set(err, -r, "opener process", "ended unexpectedly: cannot open more files");
}

/* Sends one request and receives its reply in `message`. `fd`, `bytes` and `err` may be NULL. -errno with `err` filled. */
static int put_request(struct opener_message *message, const void *data, int *fd, struct rd_bytes *bytes,
		       struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes reply = { 0 };
	int r = is_lost ? -ECHILD : rd_opener_send(opener, message, data, -1);

	if (!r)
		r = rd_opener_receive(opener, message, fd);
	if (!r) {
		reply = (struct rd_bytes){ rd_alloc(message->size + 1, 1), message->size };
		r = rd_opener_data(opener, reply.data, reply.size);
	}
	if (!r && message->what >= 0 && fd && *fd < 0)
		r = -EBADMSG;
	if (r < 0)
		return set_lost(r, err);
	if (message->what < 0) {
		if (err && reply.size == sizeof(*err))
			memcpy(err, reply.data, sizeof(*err));
		return (int)message->what;
	}
	if (bytes) {
		*bytes = reply;
		reply = (struct rd_bytes){ 0 };
	}
	return 0;
}

int rd_opener_call(enum opener_verb verb, const char *path, uint64_t number, bool opens, struct rd_err *err)
{
	struct opener_message message = { verb, number, path ? strlen(path) + 1 : 0 };
	int fd, r = put_request(&message, path, opens ? &fd : NULL, NULL, err);

	return r < 0 || !opens ? r : fd;
}

int rd_opener_open(const char *path)
{
	int fd;

	if (rd_opener_used())
		return rd_opener_call(OPENER_OPEN, path, 0, true, NULL);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd >= 0 ? fd : -errno;
}

int rd_opener_walk(const char *path, struct rd_bytes *ret)
{
	struct opener_message message = { OPENER_WALK, 0, strlen(path) + 1 };

	return put_request(&message, path, NULL, ret, NULL);
}

int rd_opener_fork(pid_t *pid, struct rd_err *err)
{
	struct opener_message message = { OPENER_FORK, 0, 0 };
	int fd, r = put_request(&message, NULL, &fd, NULL, err);

	*pid = (pid_t)message.number;
	return r < 0 ? r : fd;
}

void rd_opener_leave(pid_t pid)
{
	rd_opener_call(OPENER_LEAVE, NULL, (uint64_t)pid, false, NULL);
}

void rd_opener_take(int fd)
{
	close(opener);
	opener = fd;
	is_lost = false;
}

void rd_opener_look(pid_t pid, struct rd_child_state *ret)
{
	struct opener_message message = { OPENER_LOOK, (uint64_t)pid, 0 };
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };

	*ret = (struct rd_child_state){ 0 };
	if (put_request(&message, NULL, NULL, &bytes, NULL) == 0 && bytes.size == sizeof(*ret))
		memcpy(ret, bytes.data, sizeof(*ret));
}

static int opener_get(struct rd_source *src, const struct rd_query *query, struct rd_reply *ret, struct rd_err *err)
{
	struct opener_message message = { OPENER_GET, query->op | (uint64_t)query->protocol << 32, query->size };
	int r;

	(void)src;
	if (message.size > OPENER_REQUEST_MAX)
		return rd_err_set(err, EFBIG, query->op == RD_OP_NETLINK ? "netlink" : query->data, "request too long");
	r = put_request(&message, query->data, NULL, &ret->bytes, err);
	ret->number = message.number;
	return r;
}

static uint64_t now(struct rd_source *src, int clock)
{
	struct timespec time = { 0 };

	(void)src;
	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

struct remote {
	struct rd_mads mads;
	uint64_t handle;
};

static int opener_mad_ports(struct rd_source *src, struct rd_bytes *ret, struct rd_err *err)
{
	struct opener_message message = { .what = OPENER_MAD_PORTS };

	(void)src;
	return put_request(&message, NULL, NULL, ret, err);
}

static uint64_t handle_of(struct rd_mads *mads)
{
	return ((struct remote *)mads)->handle;
}

static int remote_send(struct rd_mads *mads, const struct rd_mad *mad, unsigned timeout_ms, struct rd_err *err)
{
	struct opener_timed_mad timed = { (int32_t)timeout_ms, *mad };
	struct opener_message message = { OPENER_MAD_SEND, handle_of(mads), sizeof(timed) };

	return put_request(&message, &timed, NULL, NULL, err);
}

static int remote_recv(struct rd_mads *mads, struct rd_mad *ret, int timeout_ms, struct rd_err *err)
{
	int32_t ms = timeout_ms;
	struct opener_message message = { OPENER_MAD_RECEIVE, handle_of(mads), sizeof(ms) };
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	int r = put_request(&message, &ms, NULL, &bytes, err);

	if (r < 0 || bytes.size != sizeof(*ret))
		return r;
	memcpy(ret, bytes.data, sizeof(*ret));
	return 1;
}

static uint64_t remote_now(struct rd_mads *mads)
{
	(void)mads;
	return now(NULL, CLOCK_MONOTONIC);
}

static void remote_close(struct rd_mads *mads)
{
	struct opener_message message = { OPENER_MAD_CLOSE, handle_of(mads), 0 };

	put_request(&message, NULL, NULL, NULL, NULL);
	free(mads);
}

static const struct rd_mads_ops remote_ops = {
	.send = remote_send,
	.recv = remote_recv,
	.now = remote_now,
	.close = remote_close,
};

static int opener_mad_open(struct rd_source *src, const char *ibdev, unsigned port, struct rd_mads **ret,
			   struct rd_err *err)
{
	struct opener_message message = { OPENER_MAD_OPEN, port, strlen(ibdev) + 1 };
	struct remote *remote;
	int r;

	(void)src;
	r = put_request(&message, ibdev, NULL, NULL, err);
	if (r < 0)
		return r;
	remote = rd_alloc(1, sizeof(*remote));
	remote->mads.ops = &remote_ops;
	remote->handle = message.number;
	*ret = &remote->mads;
	return 0;
}

static void close_source(struct rd_source *src)
{
	free(src);
}

static const struct rd_source_ops ops = {
	.name = "live",
	.get = opener_get,
	.mad_ports = opener_mad_ports,
	.mad_open = opener_mad_open,
	.now = now,
	.close = close_source,
};

struct rd_source *rd_opener_source(void)
{
	struct rd_source *source = rd_alloc(1, sizeof(*source));

	source->ops = &ops;
	return source;
}
