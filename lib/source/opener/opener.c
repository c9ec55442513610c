/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/opener/opener.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "base/memory.h"
#include "base/text.h"
#include "source/opener/child.h"
#include "source/opener/new-file.h"

/* A request, followed by the path and the contents; or a reply, followed by the bytes, or the struct rd_err of a failure. Both ends are
 * the same program: native byte order. */
struct message {
	enum { RECORD, CHECK, WRITE } what;
	int32_t result; /* 0 or -errno */
	uint32_t parts, limit_ms;
	mode_t mode;
	uint32_t replace;
	uint64_t path_size, size;
};

#define PATH_SIZE_MAX 4097
#define CONTENTS_MAX ((uint64_t)1 << 30)
#define FOREVER_MS INT64_MAX

static struct {
	struct name {
		enum rd_opener_use use;
		char *path, *whole; /* as given, and as absolute path */
	} * v;
	size_t n, cap;
} names;

static int opener = -1; /* the socket */
static pid_t opener_pid;
static struct rd_source *recorded;
static bool is_lost; /* no more requests are sent: data in the socket may be the rest of a reply */

bool rd_opener_used(void)
{
	return opener >= 0;
}

void rd_opener_name(enum rd_opener_use use, const char *path)
{
	_cleanup_free_ char *here = *path == '/' ? NULL : getcwd(NULL, 0);

	*RD_ADD(names.v, names.n, names.cap) = (struct name){
		.use = use,
		.path = rd_dup(path),
		.whole = here ? rd_text("%s/%s", here, path) : rd_dup(path),
	};
}

/* ---- the opener */

static const struct name *find_name(enum rd_opener_use use, const char *path)
{
	for (size_t i = 0; i < names.n; i++)
		if (names.v[i].use == use && (strcmp(names.v[i].path, path) == 0 || strcmp(names.v[i].whole, path) == 0))
			return &names.v[i];
	return NULL;
}

/* "rdmadiag-….tar.zst", the default file name of capture. */
static bool is_bundle_here(const char *path)
{
	static const char beginning[] = "rdmadiag-", end[] = ".tar.zst";
	size_t length = strlen(path);

	return find_name(RD_OPENER_BUNDLE, ".") && !strchr(path, '/') && length > strlen(beginning) + strlen(end) &&
	       strncmp(path, beginning, strlen(beginning)) == 0 && strcmp(path + length - strlen(end), end) == 0;
}

static int serve_file(const struct message *request, const char *path, const struct rd_buf *contents, struct rd_err *err)
{
	static bool made_bundle;
	const struct name *name = find_name(RD_OPENER_OUTPUT, path);
	mode_t mask = umask(0);
	int r;

	umask(mask);
	if (!name && !request->replace)
		name = find_name(RD_OPENER_NEW_FILE, path);
	if (!name && (request->replace || made_bundle || !is_bundle_here(path)))
		return rd_err_set(err, EPERM, path, "not a file named on the command line");
	path = name ? name->path : path;
	if (request->what == CHECK)
		return rd_new_file_check(path, request->replace, err);
	r = rd_write_file(path, request->replace, request->mode & 0666 & ~mask, contents, err);
	made_bundle |= r == 0 && !name;
	return r;
}

static int receive(int sock, void *to, size_t size)
{
	return rd_child_read(sock, FOREVER_MS, to, size);
}

/* One request and its reply. -errno if the socket is of no use any more. */
static int serve(int sock, rd_opener_record_fn *record)
{
	_cleanup_free_ char *path = NULL, *data = NULL;
	_cleanup_buf_ struct rd_buf out = RD_BUF_CHECKED;
	struct message message;
	struct rd_buf contents = RD_BUF_CHECKED;
	struct rd_err err = { 0 };
	int r = receive(sock, &message, sizeof(message));

	if (r < 0 || message.path_size > PATH_SIZE_MAX || message.size > CONTENTS_MAX)
		return -ECHILD;
	path = rd_alloc(1, message.path_size + 1);
	data = rd_alloc(1, message.size + 1);
	contents.data = data;
	contents.len = message.size;
	r = RD_FIRST(receive(sock, path, message.path_size), receive(sock, data, message.size));
	if (r < 0)
		return r;
	if (message.what == RECORD)
		record(message.parts, message.limit_ms, &out);
	else
		r = serve_file(&message, path, &contents, &err);
	if (r < 0)
		rd_buf_add(&out, &err, sizeof(err));
	message.result = out.failed ? -ENOMEM : r;
	message.size = out.len;
	return RD_FIRST(rd_write_all(sock, &message, sizeof(message)), rd_write_all(sock, out.data, out.len));
}

/*
 * Ends this process by SIGTERM when the other end of the pipe is closed, also if it hangs in an interruptible read.
 * PR_SET_PDEATHSIG does not work: the parent has no permission to signal us.
 */
static void end_with(int pipe)
{
	signal(SIGTERM, SIG_DFL);
	if (fcntl(pipe, F_SETOWN, getpid()) == 0 && fcntl(pipe, F_SETSIG, SIGTERM) == 0)
		fcntl(pipe, F_SETFL, O_ASYNC);
}

/* A reader of our output must not wait for this process, and signals of the terminal are for the other one. */
static void settle(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setpgid(0, 0);
	if (null >= 0) {
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		close(null);
	}
}

/* Waits for a request. False: our parent or the last client has ended; a child that survives it has no opener. */
static bool wait_for_request(int sock, int parent, pid_t parent_pid)
{
	struct pollfd fds[] = { { sock, POLLIN, 0 }, { parent, POLLIN, 0 } };

	while (poll(fds, RD_ARRAY_SIZE(fds), -1) < 0)
		if (errno != EINTR)
			return false;
	return fds[0].revents && !fds[1].revents && getppid() == parent_pid;
}

static _Noreturn void live(int sock, rd_opener_record_fn *record, pid_t parent_pid)
{
	/* Before Linux 5.3: -1, which poll() ignores. */
	int parent = (int)syscall(SYS_pidfd_open, parent_pid, 0);

	settle();
	while (wait_for_request(sock, parent, parent_pid) && serve(sock, record) == 0)
		continue;
	rd_open_for_update_end();
	rd_child_reap();
	_exit(0);
}

/* ---- the confined process */

int rd_opener_start(rd_opener_record_fn *record, struct rd_source *facts, struct rd_err *err)
{
	/* No data are sent over the pipe: it only closes when we end. */
	pid_t self = getpid(), child;
	int ends[2], life[2];

	if (pipe2(life, O_CLOEXEC) < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return rd_err_set(err, errno, "opener process", "cannot start");
	child = fork();
	if (child < 0)
		return rd_err_set(err, errno, "opener process", "cannot start");
	if (child == 0) {
		close(ends[0]);
		close(life[1]);
		end_with(life[0]);
		live(ends[1], record, self);
	}
	close(ends[1]);
	close(life[0]);
	opener = ends[0];
	opener_pid = child;
	recorded = facts;
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

/* Sends a request, and receives the reply. -errno with `err` filled. `path` and `ret` may be NULL. */
static int request(struct message message, const char *path, const void *data, struct rd_bytes *ret, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes reply = { 0 };
	int r;

	message.path_size = path ? strlen(path) : 0;
	r = is_lost ? -ECHILD :
		      RD_FIRST(rd_write_all(opener, &message, sizeof(message)),
			       rd_write_all(opener, path, message.path_size), rd_write_all(opener, data, message.size),
			       receive(opener, &message, sizeof(message)));
	if (!r) {
		reply = (struct rd_bytes){ rd_alloc(message.size + 1, 1), message.size };
		r = receive(opener, reply.data, reply.size);
	}
	if (r < 0) {
		is_lost = true;
		return rd_err_set(err, -r, "opener process", "ended unexpectedly: nothing more can be read or written");
	}
	if (message.result < 0 && err && reply.size == sizeof(*err))
		memcpy(err, reply.data, sizeof(*err));
	if (ret && message.result >= 0) {
		*ret = reply;
		reply = (struct rd_bytes){ 0 };
	}
	return message.result;
}

int rd_opener_record(unsigned parts, unsigned limit_ms, struct rd_bytes *ret, struct rd_err *err)
{
	return request((struct message){ .what = RECORD, .parts = parts, .limit_ms = limit_ms }, NULL, NULL, ret, err);
}

int rd_opener_write(const char *path, bool replace, mode_t mode, const struct rd_buf *contents, struct rd_err *err)
{
	const struct message message = {
		.what = contents ? WRITE : CHECK, .replace = replace, .mode = mode, .size = contents ? contents->len : 0
	};

	return request(message, path, contents ? contents->data : NULL, NULL, err);
}

static int get(struct rd_source *src, const struct rd_query *query, struct rd_reply *ret, struct rd_err *err)
{
	(void)src;
	return recorded->ops->get(recorded, query, ret, err);
}

static uint64_t now(struct rd_source *src, int clock)
{
	(void)src;
	return recorded->ops->now(recorded, clock);
}

static void close_source(struct rd_source *src)
{
	free(src);
}

static int no_ports(struct rd_source *src, struct rd_bytes *ret, struct rd_err *err)
{
	(void)src, (void)ret;
	return rd_err_set(err, EPERM, "MAD", "a process that dropped its privileges must not use umad ports");
}

static const struct rd_source_ops ops = {
	.name = "live",
	.get = get,
	.mad_ports = no_ports,
	.now = now,
	.close = close_source,
};

struct rd_source *rd_opener_source(void)
{
	struct rd_source *source = rd_alloc(1, sizeof(*source));

	source->ops = &ops;
	return source;
}
