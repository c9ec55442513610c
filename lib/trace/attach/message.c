// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "trace/attach/holder.h"

union control {
	struct cmsghdr align;
	char space[CMSG_SPACE(sizeof(int) * RD_MSG_FDS)];
};
_Static_assert(RD_FD_COUNT <= RD_MSG_FDS, "all in one message");

int rd_msg_send(int sock, const struct rd_msg *msg, const int *fds, size_t n_fds)
{
	union control control = {};
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

static size_t expected_fds(const struct rd_msg *msg, size_t n_fds)
{
	if (msg->type == RD_MSG_READY)
		return n_fds;
	return msg->type != RD_MSG_HOOKS ? 0 : msg->a + msg->b <= RD_MSG_FDS ? msg->a + msg->b : SIZE_MAX;
}

/* The descriptors that came with a message. Others than expected are closed: -EPROTO. */
static int take_fds(const struct cmsghdr *c, size_t expected, int *ret)
{
	size_t n = c && c->cmsg_type == SCM_RIGHTS ? (c->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;
	int fds[RD_MSG_FDS];

	if (n > RD_MSG_FDS)
		return -EPROTO; /* there was no place for them */
	if (n)
		memcpy(fds, CMSG_DATA(c), sizeof(int) * n);
	if (n == expected && (ret || !n)) {
		if (n)
			memcpy(ret, fds, sizeof(int) * n);
		return 0;
	}
	while (n)
		close(fds[--n]);
	return -EPROTO;
}

int rd_msg_recv(int sock, struct rd_msg *msg, int *fds, size_t n_fds, int timeout_ms)
{
	union control control = {};
	struct iovec iov = { .iov_base = msg, .iov_len = sizeof(*msg) };
	struct msghdr head = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof(control.space)
	};
	struct pollfd p = { .fd = sock, .events = POLLIN };
	int r = poll(&p, 1, timeout_ms);
	ssize_t size;

	if (r <= 0)
		return r ? -errno : -EAGAIN;
	size = recvmsg(sock, &head, MSG_CMSG_CLOEXEC);
	if (size < 0)
		return -errno;
	if (size != sizeof(*msg))
		return -EPIPE;
	return take_fds(CMSG_FIRSTHDR(&head), expected_fds(msg, n_fds), fds);
}

void rd_msg_send_notes(int sock, const struct rd_errlist *notes)
{
	for (size_t i = 0; i < notes->n; i++) {
		struct rd_msg msg = { .type = RD_MSG_NOTE, .err = notes->v[i] };

		rd_msg_send(sock, &msg, NULL, 0);
	}
}
