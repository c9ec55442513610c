/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <signal.h>
#include <sys/socket.h>

int rd_grow(void *v, size_t *cap, size_t need, size_t elem_size)
{
	size_t want = *cap ? *cap : 8;
	size_t bytes;
	void *old, *p;

	if (need <= *cap)
		return 0;
	while (want < need)
		if (__builtin_mul_overflow(want, 2, &want))
			return -ENOMEM;
	if (__builtin_mul_overflow(want, elem_size, &bytes))
		return -ENOMEM;
	/* `v` points to a pointer of any type: copied, as two pointer types may not alias. */
	memcpy(&old, v, sizeof(old));
	p = realloc(old, bytes);
	if (!p)
		return -ENOMEM;
	memcpy(v, &p, sizeof(p));
	*cap = want;
	return 0;
}

int rd_write_all(int fd, const void *data, size_t size)
{
	const uint8_t *bytes = data;

	while (size > 0) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		bytes += n;
		size -= (size_t)n;
	}
	return 0;
}

bool rd_hangup_ignored(void)
{
	struct sigaction action;

	return sigaction(SIGHUP, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

union control {
	struct cmsghdr align;
	char space[CMSG_SPACE(sizeof(int) * RD_FDS_MAX)];
};

int rd_send_fds(int sock, const void *data, size_t size, const int *fds, size_t n)
{
	union control control = {};
	struct iovec iov = { .iov_base = (void *)data, .iov_len = size };
	struct msghdr head = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (n) {
		struct cmsghdr *c;

		head.msg_control = control.space;
		head.msg_controllen = CMSG_SPACE(sizeof(int) * n);
		c = CMSG_FIRSTHDR(&head);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * n);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * n);
	}
	return sendmsg(sock, &head, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

ssize_t rd_recv_fds(int sock, void *data, size_t size, int *fds, size_t *n)
{
	union control control = {};
	struct iovec iov = { .iov_base = data, .iov_len = size };
	struct msghdr head = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof(control.space)
	};
	ssize_t got = recvmsg(sock, &head, MSG_CMSG_CLOEXEC);
	const struct cmsghdr *c = got < 0 ? NULL : CMSG_FIRSTHDR(&head);

	/* The kernel passes on only those that there is place for. */
	*n = c && c->cmsg_type == SCM_RIGHTS ? (c->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;
	if (*n)
		memcpy(fds, CMSG_DATA(c), sizeof(int) * *n);
	return got < 0 ? -errno : got;
}

uint64_t rd_hash(uint64_t hash, const void *data, size_t size)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

size_t rd_lower_bound(const void *key, const void *v, size_t n, size_t elem_size,
		      int (*compare)(const void *elem, const void *key))
{
	size_t low = 0;

	while (low < n) {
		size_t middle = low + (n - low) / 2;

		if (compare((const uint8_t *)v + middle * elem_size, key) < 0)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

int rd_compare_u32(const void *a, const void *b)
{
	return RD_CMP(*(const uint32_t *)a, *(const uint32_t *)b);
}

int rd_compare_u64(const void *a, const void *b)
{
	return RD_CMP(*(const uint64_t *)a, *(const uint64_t *)b);
}

int rd_compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool rd_same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

void *rd_find_u64(const void *v, size_t n, size_t elem_size, uint64_t key)
{
	size_t i = rd_lower_bound(&key, v, n, elem_size, rd_compare_u64);
	const uint8_t *at = (const uint8_t *)v + i * elem_size;

	return i < n && !rd_compare_u64(at, &key) ? (void *)(uintptr_t)at : NULL;
}
