/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

/* What comes before the bytes. Both ends are one program: native byte order. */
struct answer {
	int64_t result;
	uint64_t size;
	struct rd_err err;
};

static void work_and_end(pid_t parent, int fd, rd_child_fn *work, void *arg)
{
	struct rd_bytes bytes = { 0 };
	struct answer answer = { 0 };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	for (int i = 0; null >= 0 && i <= STDERR_FILENO; i++)
		dup2(null, i);
	answer.result = work(arg, &bytes, &answer.err);
	answer.size = answer.result < 0 ? 0 : bytes.size;
	if (rd_write_all(fd, &answer, sizeof(answer)) == 0)
		rd_write_all(fd, bytes.data, answer.size);
	_exit(0);
}

int64_t rd_monotonic_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int rd_child_read(int fd, int64_t deadline_ms, void *to, size_t size)
{
	uint8_t *at = to;

	while (size > 0) {
		int64_t left = deadline_ms - rd_monotonic_ms();
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		ssize_t n;

		if (left <= 0)
			return -ETIMEDOUT;
		n = poll(&wait, 1, (int)left);
		if (n == 0 || (n < 0 && errno == EINTR))
			continue;
		n = n < 0 ? -1 : read(fd, at, size);
		if (n == 0)
			return -ECHILD;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			at += n;
			size -= (size_t)n;
		}
	}
	return 0;
}

static int hear(const char *what, int fd, unsigned limit_ms, size_t limit_size, struct rd_bytes *ret, struct rd_err *err)
{
	int64_t deadline = rd_monotonic_ms() + limit_ms;
	struct answer answer;
	uint8_t *data;
	int r = rd_child_read(fd, deadline, &answer, sizeof(answer));

	if (r == 0 && answer.result < 0) {
		if (err)
			*err = answer.err;
		return (int)answer.result;
	}
	if (r == 0 && answer.size > limit_size)
		return rd_err_set(err, EFBIG, what, "an answer of %llu bytes is above the limit of %zu",
				  (unsigned long long)answer.size, limit_size);
	if (r == 0) {
		data = malloc(answer.size + 1);
		if (!data)
			return rd_err_set(err, ENOMEM, what, "no room for the answer");
		r = rd_child_read(fd, deadline, data, answer.size);
		if (r == 0) {
			data[answer.size] = 0;
			*ret = (struct rd_bytes){ .data = data, .size = answer.size };
			return 0;
		}
		free(data);
	}
	if (r == -ETIMEDOUT)
		return rd_err_set(err, ETIMEDOUT, what, "no answer within %u ms", limit_ms);
	if (r == -ECHILD)
		return rd_err_set(err, ECHILD, what, "the process that asked ended before it had an answer");
	return rd_err_set(err, -r, what, "cannot hear the process that asks");
}

int rd_child_run(const char *what, rd_child_fn *work, void *arg, unsigned limit_ms, size_t limit_size,
		 struct rd_bytes *ret, struct rd_err *err)
{
	pid_t parent = getpid(), child;
	int ends[2], r;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return rd_err_set(err, errno, what, "cannot make a pipe");
	child = fork();
	if (child < 0) {
		r = rd_err_set(err, errno, what, "cannot start a process");
		close(ends[0]);
		close(ends[1]);
		return r;
	}
	if (child == 0) {
		close(ends[0]);
		work_and_end(parent, ends[1], work, arg);
	}
	close(ends[1]);
	r = hear(what, ends[0], limit_ms, limit_size, ret, err);
	close(ends[0]);
	/* One that hangs in the kernel cannot die now: then there is nothing to wait for. */
	kill(child, SIGKILL);
	waitpid(child, NULL, r == -ETIMEDOUT ? WNOHANG : 0);
	return r;
}
