/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opener-priv.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

union control {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int))];
};

static void put_descriptor(struct msghdr *msg, union control *control, int fd)
{
	memset(control, 0, sizeof(*control));
	msg->msg_control = control;
	msg->msg_controllen = sizeof(control->room);
	control->head = (struct cmsghdr){ CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
	memcpy(CMSG_DATA(&control->head), &fd, sizeof(fd));
}

int rd_opener_send(int sock, const struct opener_message *message, const void *data, int fd)
{
	struct iovec parts[] = { { (void *)message, sizeof(*message) }, { (void *)data, message->size } };
	struct msghdr msg = { .msg_iov = parts, .msg_iovlen = message->size ? 2 : 1 };
	size_t left = sizeof(*message) + message->size;
	union control control;

	if (fd >= 0)
		put_descriptor(&msg, &control, fd);
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

static int take_descriptor(struct msghdr *msg)
{
	struct cmsghdr *head = CMSG_FIRSTHDR(msg);
	int fd = -1;

	if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
	    head->cmsg_len == CMSG_LEN(sizeof(fd)))
		memcpy(&fd, CMSG_DATA(head), sizeof(fd));
	return fd;
}

int rd_opener_receive(int sock, struct opener_message *message, int *fd)
{
	struct iovec part = { message, sizeof(*message) };
	union control control;
	struct msghdr msg = { .msg_iov = &part, .msg_iovlen = 1 };
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
	if (fd)
		*fd = take_descriptor(&msg);
	return rd_opener_data(sock, (char *)message + n, sizeof(*message) - (size_t)n);
}
