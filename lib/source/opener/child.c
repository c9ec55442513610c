/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/opener/child.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

/* The header before the bytes. Both ends are the same program: native byte order. */
struct reply {
	int64_t result;
	uint64_t size;
	struct rd_err err;
};

/* Whether this process is a child that its parent can abandon, and its end of the connection. */
static bool is_child;
static int own_end = -1;

#define NAP_MS 20
#define DESCENT_MAX 64
#define FOREVER_MS (24 * 3600 * 1000)

/* Abandoned children that have not ended yet. */
static struct {
	pid_t *v;
	size_t n, cap;
} behind;

static void reap(void)
{
	size_t kept = 0;

	for (size_t i = 0; i < behind.n; i++)
		if (waitpid(behind.v[i], NULL, WNOHANG) == 0)
			behind.v[kept++] = behind.v[i];
	behind.n = kept;
}

void rd_child_leave(pid_t child)
{
	kill(child, SIGKILL);
	*RD_ADD(behind.v, behind.n, behind.cap) = child;
	reap();
}

void rd_child_reap(void)
{
	for (int left = 10; reap(), behind.n > 0 && left > 0; left--)
		usleep(1000);
}

bool rd_child_lacked_memory(pid_t child)
{
	/* Its end of the pipe is closed shortly before it can be reaped. */
	for (int left = 10; left > 0; left--) {
		siginfo_t info = { 0 };

		if (waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
			return false;
		if (info.si_pid == child)
			return info.si_code == CLD_EXITED && info.si_status == RD_EXIT_NO_MEMORY;
		usleep(1000);
	}
	return false;
}

static void close_range_of(unsigned first, unsigned last)
{
	struct rlimit limit = { 0 };

	if (first > last || syscall(SYS_close_range, first, last, 0) == 0)
		return;
	getrlimit(RLIMIT_NOFILE, &limit);
	for (; first <= last && first < limit.rlim_cur; first++)
		close((int)first);
}

void rd_child_close_others(void)
{
	close_range_of(STDERR_FILENO + 1, (unsigned)own_end - 1);
	close_range_of((unsigned)own_end + 1, UINT_MAX);
}

int rd_child_start(const char *what, bool talk, pid_t *child, int *fd, struct rd_err *err)
{
	pid_t parent = getpid();
	int ends[2], null;

	if (talk ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0 : pipe2(ends, O_CLOEXEC) < 0)
		return rd_err_set(err, errno, what, "cannot make a %s", talk ? "socket" : "pipe");
	*child = fork();
	if (*child < 0) {
		int r = rd_err_set(err, errno, what, "cannot start a process");

		close(ends[0]);
		close(ends[1]);
		return r;
	}
	*fd = ends[*child == 0];
	close(ends[*child != 0]);
	if (*child != 0)
		return 1;
	/* A reader that waits for the end of our output must not wait for a hanging child: it keeps no descriptor but its own end. */
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	for (int i = 0; null >= 0 && i <= STDERR_FILENO; i++)
		dup2(null, i);
	if (null > STDERR_FILENO)
		close(null);
	is_child = true;
	own_end = *fd;
	behind.n = 0;
	return 0;
}

static void read_of(pid_t child, const char *name, char *text, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)child, name);
	rd_read_own(path, text, size);
}

/* 0: no such process. `parent` may be NULL. */
static char stat_of(pid_t child, pid_t *parent)
{
	const char *state, *above;
	uint32_t number = 0;
	char text[512];

	read_of(child, "stat", text, sizeof(text));
	state = rd_stat_field(text, 3);
	above = rd_stat_field(text, 4);
	if (above)
		rd_take_u32(&above, RD_DECIMAL, INT32_MAX, &number);
	if (parent)
		*parent = (pid_t)number;
	return state ? *state : '\0';
}

bool rd_process_descends(pid_t pid, pid_t ancestor)
{
	/* A limit, because the tree changes while it is read. */
	for (int i = 0; i < DESCENT_MAX && pid > 0 && pid != ancestor; i++)
		if (!stat_of(pid, &pid))
			return false;
	return pid == ancestor;
}

void rd_child_look(pid_t child, struct rd_child_state *ret)
{
	char name[40], text[512];
	const char *at = text;
	uint64_t times[3] = { 0 }, pid;

	*ret = (struct rd_child_state){ 0 };
	/* The child itself, or the child that it started and waits for: the last one that has not ended. */
	snprintf(name, sizeof(name), "task/%d/children", (int)child);
	read_of(child, name, text, sizeof(text));
	while (rd_take_uints(&at, RD_DECIMAL, &pid, 1) == 1 && pid > 0 && pid <= INT32_MAX)
		if (stat_of((pid_t)pid, NULL) && stat_of((pid_t)pid, NULL) != 'Z')
			child = (pid_t)pid;
	ret->state = stat_of(child, NULL);
	read_of(child, "schedstat", text, sizeof(text));
	at = text;
	ret->known = ret->state && rd_take_uints(&at, RD_DECIMAL, times, 3) == 3;
	ret->cpu = times[0];
	ret->waited = times[1];
	ret->ran = times[2];
	read_of(child, "wchan", ret->place, sizeof(ret->place));
	if (strcmp(ret->place, "0") == 0)
		ret->place[0] = '\0';
}

static bool sleeps(const struct rd_child_state *state)
{
	return state->known && (state->state == 'S' || state->state == 'D');
}

bool rd_child_ran(const struct rd_child_state *before, const struct rd_child_state *now)
{
	return before->known && now->known &&
	       (now->state == 'R' || before->cpu != now->cpu || before->waited != now->waited ||
		before->ran != now->ran);
}

bool rd_child_slept(const struct rd_child_state *before, const struct rd_child_state *now)
{
	return sleeps(before) && sleeps(now) && !rd_child_ran(before, now);
}

uint64_t rd_clock_ns(int clock)
{
	struct timespec ts = { 0 };

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

int64_t rd_monotonic_ms(void)
{
	return (int64_t)(rd_clock_ns(CLOCK_MONOTONIC) / 1000000);
}

int rd_child_read(int fd, int64_t deadline_ms, void *to, size_t size)
{
	/* A child that waits for its own child appears to sleep. If the observer cannot see for which one, it does not sleep long. */
	int most = is_child && access("/proc/thread-self/children", R_OK) < 0 ? NAP_MS : INT_MAX;
	uint8_t *at = to;

	while (size > 0) {
		int64_t left = deadline_ms - rd_monotonic_ms();
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		ssize_t n;

		if (left <= 0)
			return -ETIMEDOUT;
		n = poll(&wait, 1, left < most ? (int)left : most);
		if (n == 0 || (n < 0 && errno == EINTR))
			continue;
		n = n < 0 ? -1 : read(fd, at, size);
		/* A socket is reset if data that we wrote were not read. */
		if (n == 0 || (n < 0 && errno == ECONNRESET))
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

static int receive_reply(const char *what, int fd, unsigned limit_ms, size_t limit_size, struct rd_bytes *ret,
			 struct rd_err *err)
{
	int64_t deadline = rd_monotonic_ms() + limit_ms;
	struct reply reply;
	int r = rd_child_read(fd, deadline, &reply, sizeof(reply));

	if (r == 0 && reply.result < 0) {
		/* The child may have parsed what others wrote. */
		reply.err.object[sizeof(reply.err.object) - 1] = reply.err.message[sizeof(reply.err.message) - 1] =
			reply.err.hint[sizeof(reply.err.hint) - 1] = '\0';
		if (err)
			*err = reply.err;
		return (int)reply.result;
	}
	if (r == 0 && reply.size > limit_size)
		return rd_err_set(err, EFBIG, what, "reply of %llu bytes exceeds the limit of %zu",
				  (unsigned long long)reply.size, limit_size);
	if (r == 0) {
		*ret = (struct rd_bytes){ rd_alloc(1, reply.size + 1), reply.size };
		r = rd_child_read(fd, deadline, ret->data, reply.size);
		if (r == 0)
			return 0;
		rd_bytes_deinit(ret);
	}
	if (r == -ETIMEDOUT)
		return rd_err_set(err, ETIMEDOUT, what, "no reply within %u ms", limit_ms);
	if (r == -ECHILD)
		return rd_err_set(err, ECHILD, what, "the reading process ended before it replied");
	return rd_err_set(err, -r, what, "cannot read from the reading process");
}

int rd_child_run(const char *what, rd_child_fn *work, void *arg, unsigned limit_ms, size_t limit_size,
		 struct rd_bytes *ret, struct rd_err *err)
{
	pid_t child;
	int fd, r;

	/* The parent of this process can abandon it. */
	if (is_child)
		limit_ms = FOREVER_MS;
	r = rd_child_start(what, false, &child, &fd, err);
	if (r < 0)
		return r;
	if (r == 0) {
		struct rd_bytes bytes = { 0 };
		struct reply reply = { 0 };

		reply.result = work(arg, &bytes, &reply.err);
		reply.size = reply.result < 0 ? 0 : bytes.size;
		if (rd_write_all(fd, &reply, sizeof(reply)) == 0)
			rd_write_all(fd, bytes.data, reply.size);
		_exit(0);
	}
	r = receive_reply(what, fd, limit_ms, limit_size, ret, err);
	close(fd);
	rd_child_leave(child);
	return r;
}
