/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A source whose reads can be given up. A child process asks the guarded source; one that is held up in the kernel cannot be
 * woken, and not even killed: it is left behind, with nothing of ours open, and the next question goes to another child.
 */
#include "source/source-guard.h"
#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "source/child.h"
#include "source/netlink.h"

/* One answer may take this part of the time that is left: several that hang do not use all of it up. */
#define PATIENCE_PART 8
#define PATIENCE_LEAST_MS 10
#define ANSWER_MAX ((uint64_t)256 << 20)
#define AHEAD_WRITE ((size_t)64 << 10)

enum op { OP_READ, OP_LIST, OP_LINK, OP_RDEV, OP_INO, OP_MODE, OP_NETLINK };

/* Both ends are one program: native byte order. */
struct question {
	uint32_t op;
	int32_t protocol;
	uint64_t size; /* of the path with its NUL, or of the request, which follows */
};

struct answer {
	int64_t result;
	uint64_t number, size; /* of the bytes that follow */
	struct rd_err err;
};

struct guard {
	struct rd_source src;
	struct rd_source_ops ops;
	struct rd_source *inner;
	int64_t deadline_ms;
	int fd;	     /* -1: no child */
	pid_t child; /* 0: none */
	struct rd_errlist stalls;
	struct rd_buf ahead; /* questions with their answers, that were asked ahead */
	size_t at;	     /* the next one of them */
	bool writing;	     /* this is the process that asks ahead: answers are written to fd, too */
};

static struct guard *guard_of(struct rd_source *src)
{
	return (struct guard *)src;
}

/* All of it; false at the end of the stream. For the child, which may wait. */
static bool take_whole(int fd, void *to, size_t size)
{
	for (uint8_t *at = to; size > 0;) {
		ssize_t n = read(fd, at, size);

		if (n == 0 || (n < 0 && errno != EINTR))
			return false;
		if (n > 0) {
			at += n;
			size -= (size_t)n;
		}
	}
	return true;
}

static int names_to_bytes(const struct rd_names *names, struct rd_bytes *ret)
{
	size_t size = 0, at = 0;

	for (size_t i = 0; i < names->n; i++)
		size += strlen(names->v[i]) + 1;
	ret->data = malloc(size + 1);
	if (!ret->data)
		return -ENOMEM;
	for (size_t i = 0; i < names->n; i++) {
		size_t n = strlen(names->v[i]) + 1;

		memcpy(ret->data + at, names->v[i], n);
		at += n;
	}
	ret->size = size;
	return 0;
}

static int ask_inner(struct rd_source *inner, const struct question *question, const uint8_t *data,
		     struct rd_bytes *bytes, uint64_t *number, struct rd_err *err)
{
	const char *path = (const char *)data;
	_cleanup_names_ struct rd_names names = { 0 };
	char *target = NULL;
	int r = -EINVAL;

	switch ((enum op)question->op) {
	case OP_READ:
		return rd_read_file(inner, path, bytes, err);
	case OP_LIST:
		r = rd_list_dir(inner, path, &names, err);
		return r < 0 ? r : names_to_bytes(&names, bytes);
	case OP_LINK:
		r = rd_read_link(inner, path, &target, err);
		if (r == 0)
			*bytes = (struct rd_bytes){ (uint8_t *)target, strlen(target) };
		return r;
	case OP_RDEV:
		return inner->ops->stat_rdev(inner, path, number, err);
	case OP_INO:
		return inner->ops->stat_ino(inner, path, number, err);
	case OP_MODE:
		return inner->ops->stat_mode(inner, path, number, err);
	case OP_NETLINK:
		return rd_netlink(inner, question->protocol, data, question->size, bytes, err);
	}
	return r;
}

/* Who waits for the end of what we write must not wait for a child that hangs: it holds nothing but its own end. */
static void let_go_of_files(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; null >= 0 && i <= STDERR_FILENO; i++)
		dup2(null, i);
	if (null > STDERR_FILENO)
		close(null);
}

static void serve(struct rd_source *inner, int fd)
{
	struct question question;

	while (take_whole(fd, &question, sizeof(question)) && question.size < UINT32_MAX) {
		_cleanup_free_ uint8_t *data = calloc(1, question.size + 1);
		_cleanup_bytes_ struct rd_bytes bytes = { 0 };
		struct answer answer = { 0 };

		if (!data || !take_whole(fd, data, question.size))
			break;
		answer.result = ask_inner(inner, &question, data, &bytes, &answer.number, &answer.err);
		answer.size = answer.result < 0 ? 0 : bytes.size;
		if (rd_write_all(fd, &answer, sizeof(answer)) < 0 || rd_write_all(fd, bytes.data, answer.size) < 0)
			break;
	}
	_exit(0);
}

/* The one that asks is left to itself: killed if it can be, and not waited for. */
static void abandon(struct guard *guard)
{
	if (guard->child > 0) {
		kill(guard->child, SIGKILL);
		waitpid(guard->child, NULL, WNOHANG);
	}
	if (guard->fd >= 0)
		close(guard->fd);
	guard->child = 0;
	guard->fd = -1;
}

/* A child: returns 0 in it, 1 in the parent, -errno. */
static int start_child(struct guard *guard, struct rd_err *err)
{
	pid_t parent = getpid();
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return rd_err_set(err, errno, "reading", "cannot make a pair of sockets");
	guard->child = fork();
	if (guard->child < 0) {
		int code = errno;

		close(ends[0]);
		close(ends[1]);
		guard->child = 0;
		return rd_err_set(err, code, "reading", "cannot start a process");
	}
	if (guard->child == 0) {
		close(ends[0]);
		guard->fd = ends[1];
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		let_go_of_files();
		return 0;
	}
	close(ends[1]);
	guard->fd = ends[0];
	return 1;
}

static int start(struct guard *guard, struct rd_err *err)
{
	int r = guard->child > 0 ? 1 : start_child(guard, err);

	if (r == 0)
		serve(guard->inner, guard->fd);
	return r < 0 ? r : 0;
}

static int exchange(struct guard *guard, const struct question *question, const void *data, int64_t until,
		    struct answer *answer, struct rd_bytes *bytes)
{
	int r = rd_write_all(guard->fd, question, sizeof(*question));

	if (!r)
		r = rd_write_all(guard->fd, data, question->size);
	if (!r)
		r = rd_child_read(guard->fd, until, answer, sizeof(*answer));
	if (r || answer->result < 0)
		return r;
	if (answer->size > ANSWER_MAX)
		return -EFBIG;
	bytes->data = malloc(answer->size + 1);
	if (!bytes->data)
		return -ENOMEM;
	bytes->size = answer->size;
	bytes->data[bytes->size] = '\0';
	return rd_child_read(guard->fd, until, bytes->data, bytes->size);
}

/* In the process that asks ahead. */
static void write_ahead(struct guard *guard, bool all)
{
	if (guard->ahead.failed || (all ? guard->ahead.len == 0 : guard->ahead.len < AHEAD_WRITE))
		return;
	if (rd_write_all(guard->fd, guard->ahead.data, guard->ahead.len) < 0)
		_exit(1);
	guard->ahead.len = 0;
}

static int ask_and_write(struct guard *guard, const struct question *question, const void *data, struct answer *answer,
			 struct rd_bytes *bytes)
{
	answer->result = ask_inner(guard->inner, question, data, bytes, &answer->number, &answer->err);
	answer->size = answer->result < 0 ? 0 : bytes->size;
	rd_buf_add(&guard->ahead, question, sizeof(*question));
	rd_buf_add(&guard->ahead, data, question->size);
	rd_buf_add(&guard->ahead, answer, sizeof(*answer));
	if (answer->size)
		rd_buf_add(&guard->ahead, bytes->data, answer->size);
	write_ahead(guard, false);
	return 0;
}

/* The answer, if this is the question that was asked next; false: ask. What was asked ahead in another order, or not to
 * its end, is asked again. */
static bool answer_ahead(struct guard *guard, const struct question *question, const void *data, struct answer *answer,
			 struct rd_bytes *bytes)
{
	size_t left = guard->ahead.len - guard->at, head = sizeof(*question) + question->size + sizeof(*answer);
	const char *at = guard->ahead.data + guard->at;

	if (left < head || memcmp(at, question, sizeof(*question)) != 0 ||
	    memcmp(at + sizeof(*question), data, question->size) != 0)
		return false;
	memcpy(answer, at + head - sizeof(*answer), sizeof(*answer));
	if (left - head < answer->size)
		return false;
	bytes->data = malloc(answer->size + 1);
	if (!bytes->data)
		return false;
	memcpy(bytes->data, at + head, answer->size);
	bytes->data[answer->size] = '\0';
	bytes->size = answer->size;
	guard->at += head + answer->size;
	return true;
}

static int ask(struct rd_source *src, const struct question *question, const char *object, const void *data,
	       struct rd_bytes *ret, uint64_t *number, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	struct guard *guard = guard_of(src);
	int64_t now = rd_monotonic_ms(), left = guard->deadline_ms - now, patience = left / PATIENCE_PART;
	struct answer answer = { 0 };
	struct rd_err why = { 0 };
	int r;

	if (guard->writing) {
		r = ask_and_write(guard, question, data, &answer, &bytes);
	} else if (answer_ahead(guard, question, data, &answer, &bytes)) {
		r = 0;
	} else {
		if (left <= 0) {
			rd_err_set(&why, ETIMEDOUT, object, "not asked: the deadline had passed");
			/* Who was slow without ever being given up has not answered either. */
			if (guard->stalls.n == 0)
				rd_errlist_add(&guard->stalls, &why);
			if (err)
				*err = why;
			return -ETIMEDOUT;
		}
		r = start(guard, err);
		if (r < 0)
			return r;
		patience = patience > PATIENCE_LEAST_MS ? patience : PATIENCE_LEAST_MS;
		r = exchange(guard, question, data, now + patience, &answer, &bytes);
	}
	if (r < 0) {
		abandon(guard);
		rd_err_set(&why, -r, object,
			   r == -ETIMEDOUT ? "gave no answer in time, and was given up" : "cannot be asked");
		rd_errlist_add(&guard->stalls, &why);
		if (err)
			*err = why;
		return r;
	}
	if (answer.result < 0) {
		if (err)
			*err = answer.err;
		return (int)answer.result;
	}
	if (number)
		*number = answer.number;
	if (ret) {
		*ret = bytes;
		bytes = (struct rd_bytes){ 0 };
	}
	return 0;
}

static int ask_path(struct rd_source *src, enum op op, const char *path, struct rd_bytes *ret, uint64_t *number,
		    struct rd_err *err)
{
	struct question question = { .op = op, .size = strlen(path) + 1 };

	return ask(src, &question, path, path, ret, number, err);
}

static int guard_read_file(struct rd_source *src, const char *path, struct rd_bytes *ret, struct rd_err *err)
{
	return ask_path(src, OP_READ, path, ret, NULL, err);
}

static int guard_list_dir(struct rd_source *src, const char *path, struct rd_names *ret, struct rd_err *err)
{
	_cleanup_names_ struct rd_names names = { 0 };
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	int r = ask_path(src, OP_LIST, path, &bytes, NULL, err);

	for (size_t at = 0; !r && at < bytes.size; at += strlen((char *)bytes.data + at) + 1) {
		if (rd_grow(&names.v, &names.cap, names.n + 1, sizeof(*names.v)) == 0)
			names.v[names.n] = strdup((char *)bytes.data + at);
		if (names.n == names.cap || !names.v[names.n])
			return rd_err_set(err, ENOMEM, path, "no memory for its names");
		names.n++;
	}
	if (r < 0)
		return r;
	*ret = names;
	names = (struct rd_names){ 0 };
	return 0;
}

static int guard_read_link(struct rd_source *src, const char *path, char **ret, struct rd_err *err)
{
	struct rd_bytes bytes = { 0 };
	int r = ask_path(src, OP_LINK, path, &bytes, NULL, err);

	if (r == 0)
		*ret = (char *)bytes.data;
	return r;
}

static int guard_stat_rdev(struct rd_source *src, const char *path, uint64_t *ret, struct rd_err *err)
{
	return ask_path(src, OP_RDEV, path, NULL, ret, err);
}

static int guard_stat_ino(struct rd_source *src, const char *path, uint64_t *ret, struct rd_err *err)
{
	return ask_path(src, OP_INO, path, NULL, ret, err);
}

static int guard_stat_mode(struct rd_source *src, const char *path, uint64_t *ret, struct rd_err *err)
{
	return ask_path(src, OP_MODE, path, NULL, ret, err);
}

static int guard_netlink(struct rd_source *src, int protocol, const void *request, size_t size, struct rd_bytes *ret,
			 struct rd_err *err)
{
	struct question question = { .op = OP_NETLINK, .protocol = protocol, .size = size };
	char object[RD_NLOBJECT];
	int r = rd_nlrequest_check(request, size, err);

	if (r < 0)
		return r;
	rd_nlrequest_name(protocol, request, size, object);
	return ask(src, &question, object, request, ret, NULL, err);
}

static int guard_drain_events(struct rd_source *src, rd_event_fn *fn, void *arg, struct rd_err *err)
{
	(void)src;
	(void)fn;
	(void)arg;
	return rd_err_set(err, ENODATA, "events", "not to be had under a deadline");
}

static uint64_t guard_now(struct rd_source *src, int clock)
{
	return guard_of(src)->inner->ops->now(guard_of(src)->inner, clock);
}

static void guard_close(struct rd_source *src)
{
	struct guard *guard = guard_of(src);

	abandon(guard);
	rd_errlist_deinit(&guard->stalls);
	rd_buf_deinit(&guard->ahead);
	free(guard);
}

int rd_source_guard_open(struct rd_source *inner, unsigned limit_ms, struct rd_source **ret, struct rd_err *err)
{
	struct guard *guard = calloc(1, sizeof(*guard));

	if (!guard)
		return rd_err_set(err, ENOMEM, "reading", "no memory for a source");
	guard->ops = (struct rd_source_ops){
		.name = inner->ops->name,
		.read_file = guard_read_file,
		.list_dir = guard_list_dir,
		.read_link = guard_read_link,
		.stat_rdev = guard_stat_rdev,
		.stat_ino = guard_stat_ino,
		.stat_mode = guard_stat_mode,
		.netlink = guard_netlink,
		.drain_events = guard_drain_events,
		.now = guard_now,
		.close = guard_close,
	};
	guard->src.ops = &guard->ops;
	guard->inner = inner;
	guard->deadline_ms = rd_monotonic_ms() + limit_ms;
	guard->fd = -1;
	guard->ahead = RD_BUF_CHECKED;
	*ret = &guard->src;
	return 0;
}

/* Takes what the child writes until its end, or until nothing comes any more. */
static void hear_ahead(struct guard *guard)
{
	static const size_t step = 65536;
	_cleanup_free_ uint8_t *room = malloc(step);

	while (room && !guard->ahead.failed && guard->ahead.len < ANSWER_MAX) {
		struct pollfd wait = { .fd = guard->fd, .events = POLLIN };
		int64_t left = guard->deadline_ms - rd_monotonic_ms();
		int n = left > 0 ? poll(&wait, 1, (int)(left / PATIENCE_PART)) : 0;
		ssize_t got = n > 0 ? read(guard->fd, room, step) : 0;

		if ((n < 0 || got < 0) && errno == EINTR)
			continue;
		if (n <= 0 || got <= 0)
			break;
		rd_buf_add(&guard->ahead, room, (size_t)got);
	}
	if (guard->ahead.failed)
		rd_buf_deinit(&guard->ahead);
}

void rd_source_guard_ahead(struct rd_source *src, rd_guard_fn *fn, void *arg)
{
	struct guard *guard = guard_of(src);
	int r = guard->child ? -EBUSY : start_child(guard, NULL);

	if (r < 0)
		return;
	if (r == 0) {
		guard->writing = true;
		fn(src, arg);
		write_ahead(guard, true);
		_exit(0);
	}
	hear_ahead(guard);
	abandon(guard);
}

const struct rd_errlist *rd_source_guard_stalls(const struct rd_source *src)
{
	return &((const struct guard *)src)->stalls;
}
