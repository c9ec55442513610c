// SPDX-License-Identifier: GPL-2.0-or-later
/* The privileged parent: starts the child, opens debug files for it, and treats its output as untrusted. */
#include "trace/symbols/ustack-priv.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/memory.h"
#include "bpf/record.h"
#include "source/opener/child.h"

#define LIMIT_MS 5000 /* an idle host needs 0.1 s for the debug information of libc */
#define FRAMES_MAX RD_STACK_MAX
#define RESPONSE_MAX (FRAMES_MAX * (sizeof(struct rd_named) + 2 * RD_NAMED_TEXT))

int rd_namer_start(struct rd_namer *namer, pid_t traced, const struct rd_maps *maps, struct rd_err *err)
{
	char what[40];
	pid_t child;
	int fd, r;

	snprintf(what, sizeof(what), "user stacks of PID %d", (int)traced);
	r = rd_child_start_talk(what, &child, &fd, err);
	if (r == 0)
		rd_namer_serve(fd, traced, maps);
	if (r < 0)
		return r;
	/* The pidfd ensures that rd_namer_stop does not signal a process with a reused PID. */
	*namer = (struct rd_namer){ .pid = child, .pidfd = (int)syscall(SYS_pidfd_open, child, 0), .sock = fd };
	return 0;
}

void rd_namer_stop(struct rd_namer *namer)
{
	if (!namer->pid)
		return;
	if (namer->pidfd >= 0) {
		syscall(SYS_pidfd_send_signal, namer->pidfd, SIGKILL, NULL, 0);
		close(namer->pidfd);
	}
	close(namer->sock);
	*namer = (struct rd_namer){ .pidfd = -1, .sock = -1 };
}

/* Opens only files below the directory of debug files, which root owns: the name is checked. */
static int open_debug(const char *id, size_t size)
{
	char path[64 + 2 * RD_BUILD_ID_MAX];

	if (size < 4 || size > 2 * RD_BUILD_ID_MAX || strspn(id, "0123456789abcdef") != size)
		return -1;
	snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int send_file(int sock, int fd)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(fd))];
	} control = {};
	struct iovec byte = { .iov_base = (char[]){ 0 }, .iov_len = 1 };
	struct msghdr head = { .msg_iov = &byte, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (fd >= 0) {
		head.msg_control = control.space;
		head.msg_controllen = sizeof(control.space);
		c = CMSG_FIRSTHDR(&head);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	return sendmsg(sock, &head, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int send_debug(int sock, const char *id, size_t size)
{
	_cleanup_close_ int fd = open_debug(id, size);

	return send_file(sock, fd);
}

static char *text_of(const char *text, size_t size)
{
	return size ? rd_dup_part(text, size) : NULL;
}

static int parse_names(struct rd_frame *frames, size_t *n, const char *data, size_t size)
{
	size_t end = *n;

	for (size_t i = 0; i < *n; i++) {
		struct rd_named named;

		if (size < sizeof(named))
			return -EPROTO;
		memcpy(&named, data, sizeof(named));
		data += sizeof(named);
		size -= sizeof(named);
		if ((size_t)named.function + named.file > size)
			return -EPROTO;
		if (named.past_end && i > 0 && i < end)
			end = i;
		frames[i].offset = named.offset;
		frames[i].function = text_of(data, named.function);
		frames[i].file = text_of(data + named.function, named.file);
		if (frames[i].file)
			RD_SET(frames[i].line, named.line);
		data += named.function + named.file;
		size -= (size_t)named.function + named.file;
	}
	*n = end;
	return size ? -EPROTO : 0;
}

static int parse_confined(struct rd_namer *namer, const char *data, size_t size)
{
	if (size != sizeof(namer->confined))
		return -EPROTO;
	memcpy(&namer->confined, data, size);
	return 0;
}

static int parse_failure(const char *data, size_t size, struct rd_err *err)
{
	struct rd_err failure;

	if (size != sizeof(failure))
		return -EPROTO;
	memcpy(&failure, data, size);
	failure.object[sizeof(failure.object) - 1] = failure.message[sizeof(failure.message) - 1] =
		failure.hint[sizeof(failure.hint) - 1] = '\0';
	*err = failure;
	return failure.code > 0 ? -failure.code : -EPROTO;
}

/* Receives one message. 1: more messages follow. */
static int receive_message(struct rd_namer *namer, int64_t deadline, struct rd_frame *frames, size_t *n,
			   struct rd_err *err)
{
	_cleanup_free_ char *data = NULL;
	struct rd_namer_head head;
	int r = rd_child_read(namer->sock, deadline, &head, sizeof(head));

	if (r < 0)
		return r;
	if (head.size > RESPONSE_MAX)
		return -EPROTO;
	data = rd_alloc(1, (size_t)head.size + 1);
	r = rd_child_read(namer->sock, deadline, data, head.size);
	if (r < 0)
		return r;
	switch (head.kind) {
	case RD_NAMER_READY:
		r = parse_confined(namer, data, head.size);
		return r < 0 ? r : 1;
	case RD_NAMER_DEBUG:
		r = send_debug(namer->sock, data, head.size);
		return r < 0 ? r : 1;
	case RD_NAMER_FAILED:
		return parse_failure(data, head.size, err);
	case RD_NAMER_NAMES:
		return parse_names(frames, n, data, head.size);
	default:
		return -EPROTO;
	}
}

static int send_request(int sock, const struct rd_frame *frames, size_t n)
{
	struct {
		uint32_t n;
		uint64_t addrs[FRAMES_MAX];
	} __attribute__((packed)) request = { .n = (uint32_t)n };

	for (size_t i = 0; i < n; i++)
		request.addrs[i] = frames[i].addr;
	/* Fits into the socket buffer, which is empty between requests. */
	return send(sock, &request, sizeof(request.n) + n * sizeof(*request.addrs), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ?
		       -errno :
		       0;
}

int rd_namer_resolve(struct rd_namer *namer, struct rd_frame *frames, size_t *n, struct rd_err *err)
{
	int64_t deadline = rd_monotonic_ms() + LIMIT_MS;
	size_t sent = *n < FRAMES_MAX ? *n : FRAMES_MAX, real = sent;
	int r = send_request(namer->sock, frames, sent);

	*err = (struct rd_err){ 0 };
	do {
		r = r < 0 ? r : receive_message(namer, deadline, frames, &real, err);
	} while (r > 0 && rd_monotonic_ms() < deadline);
	if (r > 0)
		r = -ETIMEDOUT;
	if (r == 0 && real < sent)
		*n = real;
	if (r < 0 && !err->code)
		rd_err_set(err, -r, "user stacks", "%s",
			   r == -ETIMEDOUT	       ? "the process that resolves symbols timed out" :
			   r == -ECHILD || r == -EPIPE ? "the process that resolves symbols ended" :
							 "invalid response of the process that resolves symbols");
	return r;
}
