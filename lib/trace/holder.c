// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/holder.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>

int rd_msg_send(int sock, const struct rd_msg *msg, const int *fds, size_t n_fds)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int) * RD_FD_COUNT)];
	} control = {};
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

int rd_msg_recv(int sock, struct rd_msg *msg, int *fds, size_t n_fds, int timeout_ms)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int) * RD_FD_COUNT)];
	} control = {};
	struct iovec iov = { .iov_base = msg, .iov_len = sizeof(*msg) };
	struct msghdr head = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof(control.space)
	};
	struct pollfd p = { .fd = sock, .events = POLLIN };
	int r = poll(&p, 1, timeout_ms);
	struct cmsghdr *c;
	ssize_t size;

	if (r <= 0)
		return r ? -errno : -EAGAIN;
	size = recvmsg(sock, &head, MSG_CMSG_CLOEXEC);
	if (size < 0)
		return -errno;
	if (size != sizeof(*msg))
		return -EPIPE;
	c = CMSG_FIRSTHDR(&head);
	if (c && fds && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int) * n_fds))
		memcpy(fds, CMSG_DATA(c), sizeof(int) * n_fds);
	else if (msg->type == RD_MSG_READY)
		return -EPROTO;
	return 0;
}

struct holder {
	int sock;
	uint64_t reported; /* ms of CLOCK_MONOTONIC */
	struct rd_attach attach;
};

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* While attaching: says how far it got, and looks whether anybody still wants it. */
static int tick(void *arg, size_t done, size_t total)
{
	struct holder *h = arg;
	struct pollfd p = { .fd = h->sock, .events = POLLIN };
	struct rd_msg msg = { .type = RD_MSG_PROGRESS, .a = done, .b = total };
	uint64_t now = now_ms();

	if (poll(&p, 1, 0) > 0)
		return 1;
	if (now - h->reported < 50)
		return 0;
	h->reported = now;
	return rd_msg_send(h->sock, &msg, NULL, 0) < 0;
}

static void send_notes(int sock, const struct rd_errlist *notes)
{
	for (size_t i = 0; i < notes->n; i++) {
		struct rd_msg msg = { .type = RD_MSG_NOTE, .err = notes->v[i] };

		rd_msg_send(sock, &msg, NULL, 0);
	}
}

static void serve(struct holder *h)
{
	for (;;) {
		struct rd_msg msg;
		int r = rd_msg_recv(h->sock, &msg, NULL, 0, -1);

		if (r == -EINTR)
			continue;
		if (r || msg.type == RD_MSG_STOP)
			return;
		if (msg.type == RD_MSG_ASK_MISSED) {
			struct rd_msg answer = { .type = RD_MSG_MISSED };

			answer.complete = !rd_attach_missed(&h->attach, &answer.a);
			rd_msg_send(h->sock, &answer, NULL, 0);
		}
	}
}

/* The command's pipes and its terminal are not ours to hold open. */
static void leave_the_command(int sock)
{
	_cleanup_close_ int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	prctl(PR_SET_NAME, "rdmadiag-hold");
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (chdir("/"))
		return;
	for (int fd = 0; null >= 0 && fd < 3; fd++)
		dup2(null, fd);
	if (sock > 3)
		close_range(3, (unsigned)sock - 1, 0);
	close_range((unsigned)sock + 1, ~0U, 0);
}

static int silent(enum libbpf_print_level level, const char *fmt, va_list args)
{
	(void)level, (void)fmt, (void)args;
	return 0;
}

_Noreturn void rd_holder_run(int sock, struct rd_fnset *set, const struct rd_session_opts *opts, uint8_t *backends)
{
	struct holder h = { .sock = sock };
	struct rd_msg msg = { .type = RD_MSG_FAILED };
	struct rd_errlist notes = {};
	_cleanup_free_ char *reason = NULL;
	uint64_t start = now_ms();
	int r;

	leave_the_command(sock);
	libbpf_set_print(silent);
	r = rd_attach_open(&h.attach, set, opts, backends, &notes, &msg.err);
	if (!r) {
		h.attach.tick = tick;
		h.attach.tick_arg = &h;
		r = rd_attach_run(&h.attach, &reason, &msg.err);
	}
	send_notes(sock, &notes);
	if (!r) {
		msg.type = RD_MSG_READY;
		msg.seconds = (double)(now_ms() - start) / 1000;
		msg.a = h.attach.programs.on_at;
		snprintf(msg.text, sizeof(msg.text), "%s", reason ? reason : "");
		r = rd_msg_send(sock, &msg, h.attach.programs.fds, RD_FD_COUNT);
		if (!r)
			serve(&h);
	} else {
		rd_msg_send(sock, &msg, NULL, 0);
	}
	rd_errlist_deinit(&notes);
	rd_attach_close(&h.attach);
	_exit(r ? 1 : 0);
}
