/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The client side: the confined process. */
#include "opener-priv.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/text.h"

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
	int ends[2], life[2];
	pid_t child;
	int r;

	named.host = host;
	named.requester = getpid();
	r = rd_opener_share_identities(&named);
	if (r < 0)
		return rd_err_set(err, -r, "opener process", "cannot start");
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

static int take_bytes(struct opener_message *reply, struct rd_bytes *ret, struct rd_err *err)
{
	struct rd_bytes bytes = { .data = malloc(reply->size + 1), .size = reply->size };
	int r;

	if (!bytes.data) {
		is_lost = true;
		return rd_err_set(err, ENOMEM, "opener", "no memory for the reply");
	}
	r = rd_opener_data(opener, bytes.data, bytes.size);
	bytes.data[bytes.size] = '\0';
	if (r < 0 || !ret)
		free(bytes.data);
	else
		*ret = bytes;
	return r < 0 ? set_lost(r, err) : 0;
}

int rd_opener_request(struct opener_message *message, const void *data, int *fd, struct rd_bytes *bytes,
		      struct rd_err *err)
{
	int r = is_lost ? -ECHILD : rd_opener_send(opener, message, data, -1);
	struct rd_err why;

	if (!r)
		r = rd_opener_receive(opener, message, fd);
	if (r < 0)
		return set_lost(r, err);
	if (message->what < 0 && message->size == sizeof(why)) {
		r = rd_opener_data(opener, &why, sizeof(why));
		if (r < 0)
			return set_lost(r, err);
		if (err)
			*err = why;
		return (int)message->what;
	}
	r = take_bytes(message, bytes, err);
	return r || !fd || *fd >= 0 ? r : set_lost(-EBADMSG, err);
}

static int request_path(enum opener_verb verb, const char *path, uint64_t number, int *fd, struct rd_bytes *bytes,
			struct rd_err *err)
{
	struct opener_message message = { verb, number, strlen(path) + 1 };

	return rd_opener_request(&message, path, fd, bytes, err);
}

int rd_opener_open(const char *path)
{
	int fd, r;

	if (rd_opener_used()) {
		r = request_path(OPENER_OPEN, path, 0, &fd, NULL, NULL);
		return r < 0 ? r : fd;
	}
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd >= 0 ? fd : -errno;
}

int rd_opener_walk(const char *path, struct rd_bytes *ret)
{
	return request_path(OPENER_WALK, path, 0, NULL, ret, NULL);
}

int rd_opener_update(const char *path, struct rd_err *err)
{
	int fd, r = request_path(OPENER_UPDATE, path, 0, &fd, NULL, err);

	return r < 0 ? r : fd;
}

int rd_opener_check(const char *path, bool replace, struct rd_err *err)
{
	return request_path(OPENER_CHECK, path, replace, NULL, NULL, err);
}

int rd_opener_create(const char *path, bool replace, struct rd_err *err)
{
	int fd, r = request_path(OPENER_CREATE, path, replace, &fd, NULL, err);

	return r < 0 ? r : fd;
}

int rd_opener_finish(mode_t mode, struct rd_err *err)
{
	struct opener_message message = { OPENER_FINISH, mode, 0 };

	return rd_opener_request(&message, NULL, NULL, NULL, err);
}

void rd_opener_abandon(void)
{
	struct opener_message message = { OPENER_ABANDON, 0, 0 };

	rd_opener_request(&message, NULL, NULL, NULL, NULL);
}

int rd_opener_fork(pid_t *pid, struct rd_err *err)
{
	struct opener_message message = { OPENER_FORK, 0, 0 };
	int fd, r = rd_opener_request(&message, NULL, &fd, NULL, err);

	*pid = (pid_t)message.number;
	return r < 0 ? r : fd;
}

void rd_opener_leave(pid_t pid)
{
	struct opener_message message = { OPENER_LEAVE, (uint64_t)pid, 0 };

	rd_opener_request(&message, NULL, NULL, NULL, NULL);
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
	if (rd_opener_request(&message, NULL, NULL, &bytes, NULL) == 0 && bytes.size == sizeof(*ret))
		memcpy(ret, bytes.data, sizeof(*ret));
}

static int opener_get(struct rd_source *src, const struct rd_query *query, struct rd_reply *ret, struct rd_err *err)
{
	struct opener_message message = { OPENER_GET, query->op | (uint64_t)query->protocol << 32, query->size };
	int r;

	(void)src;
	if (message.size > OPENER_REQUEST_MAX)
		return rd_err_set(err, EFBIG, query->op == RD_OP_NETLINK ? "netlink" : query->data, "request too long");
	r = rd_opener_request(&message, query->data, NULL, &ret->bytes, err);
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

static void close_source(struct rd_source *src)
{
	free(src);
}

static const struct rd_source_ops ops = {
	.name = "live",
	.get = opener_get,
	.mad_ports = rd_opener_mad_ports,
	.mad_open = rd_opener_mad_open,
	.now = now,
	.close = close_source,
};

struct rd_source *rd_opener_source(void)
{
	struct rd_source *source = rd_alloc(1, sizeof(*source));

	source->ops = &ops;
	return source;
}
