/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The server side: the opener process. */
#include "opener-priv.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/memory.h"
#include "source/bundle/bundle.h"
#include "source/opener/new-file.h"
#include "source/shared/scrub.h"

#define MADS_MAX 8
#define MAD_MS_MAX 61000 /* the longest --timeout, plus a margin */
#define FORKS_MAX 128	 /* twice the maximum that the guard abandons */

struct server {
	int sock;
	struct opener_names names;
	struct rd_source *host; /* NULL: not opened yet */
	struct rd_new_file file;
	char *name; /* of the file */
	struct rd_mads *mads[MADS_MAX];
	pid_t *forks; /* openers of children that have not ended */
	size_t n_forks, cap_forks;
	bool is_fork; /* this process is one of them */
	bool families_asked;
	bool writing, bundle; /* what has no name on the command line */
	bool made_bundle;
};

/* A reply: message, bytes and descriptor. Owned. */
struct reply {
	struct opener_message message;
	struct rd_bytes bytes;
	int fd; /* -1: none */
};

static int open_host(struct server *server, struct rd_err *err)
{
	return server->host ? 0 : rd_source_live_open(NULL, &server->host, err);
}

/* Sets the number if it is unset. Returns false if it was set to another value. */
static bool is_same(_Atomic uint64_t *number, uint64_t value)
{
	uint64_t none = 0;

	return atomic_compare_exchange_strong(number, &none, value + 1) || none == value + 1;
}

/* Opens an input. -ESTALE if it is not the file that was first opened: otherwise a user with write access to its directory, together
 * with a compromised parser, could read any file of root. A descriptor or -errno. */
static int open_input(const struct opener_name *name, struct rd_err *err)
{
	_cleanup_close_ int fd = open(name->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return rd_err_set(err, errno, name->path, "cannot open");
	if (is_same(&name->identity->device, st.st_dev) && is_same(&name->identity->inode, st.st_ino))
		return RD_TAKE_FD(fd);
	rd_err_set(err, ESTALE, name->path, "replaced by another file while the command ran");
	rd_err_hint(err, "start the command again");
	return -ESTALE;
}

/* Reads a file of the command line, or from the host. `data` ends with a NUL. */
static int serve_get(struct server *server, const struct opener_message *request, const char *data, struct reply *ret,
		     struct rd_err *err)
{
	const struct rd_query query = { .op = (uint32_t)request->number,
					.protocol = (int32_t)(request->number >> 32),
					.size = request->size,
					.data = data };
	const struct opener_name *name =
		query.op == RD_OP_READ ? rd_opener_find(&server->names, RD_OPENER_INPUT, data) : NULL;
	struct rd_reply reply = { 0 };
	_cleanup_close_ int fd = -1;
	int r = open_host(server, err);

	if (r < 0)
		return r;
	if (query.op == RD_OP_NETLINK && query.protocol == NETLINK_GENERIC && !server->families_asked) {
		server->families_asked = true;
		rd_opener_find_families(&server->names, server->host);
	}
	if (!rd_opener_may_ask(&server->names, &query))
		return rd_err_set(err, EPERM, query.op == RD_OP_NETLINK ? "netlink" : data,
				  "a process that dropped its privileges must not read this");
	if (name) {
		fd = open_input(name, err);
		if (fd < 0)
			return fd;
		r = rd_read_fd(fd, RD_FILE_MAX, &ret->bytes);
		return r < 0 ? rd_err_set(err, -r, data, "cannot read") : 0;
	}
	r = query.op == RD_OP_NETLINK && rd_libmnl_load("netlink", err) ?
		    -ELIBACC :
		    server->host->ops->get(server->host, &query, &reply, err);
	/* Memory keys: no parser needs them. */
	if (r >= 0 && query.op == RD_OP_NETLINK)
		rd_scrub_messages(query.protocol, &reply.bytes);
	ret->bytes = reply.bytes;
	ret->message.number = reply.number;
	return r;
}

/* "rdmadiag-….tar.zst", the default file name of capture. */
static bool is_bundle_here(const struct server *server, const char *path)
{
	static const char beginning[] = "rdmadiag-", end[] = ".tar.zst";
	size_t length = strlen(path);

	return rd_opener_find(&server->names, RD_OPENER_BUNDLE, ".") && !strchr(path, '/') &&
	       length > strlen(beginning) + strlen(end) && strncmp(path, beginning, strlen(beginning)) == 0 &&
	       strcmp(path + length - strlen(end), end) == 0;
}

/* The path of an output. `replace`: replace or update it. */
static int find_output(const struct server *server, const char *path, bool replace, const char **ret, struct rd_err *err)
{
	const struct opener_name *name = rd_opener_find(&server->names, RD_OPENER_OUTPUT, path);

	if (!name && !replace)
		name = rd_opener_find(&server->names, RD_OPENER_NEW_FILE, path);
	*ret = name ? name->path : path;
	if (name || (!replace && !server->is_fork && !server->made_bundle && is_bundle_here(server, path)))
		return 0;
	return rd_err_set(err, EPERM, path, "not a file named on the command line");
}

static int serve_open(struct server *server, const char *path, struct reply *ret, struct rd_err *err)
{
	const struct opener_name *name = rd_opener_find(&server->names, RD_OPENER_INPUT, path);

	if (!name)
		return rd_err_set(err, EPERM, path, "not a file named on the command line");
	ret->fd = open_input(name, err);
	return ret->fd < 0 ? ret->fd : 0;
}

static int serve_walk(struct server *server, const char *path, struct reply *ret, struct rd_err *err)
{
	int r = serve_open(server, path, ret, err);

	if (r < 0)
		return r;
	r = rd_bundle_walk(ret->fd, &ret->bytes);
	close(RD_TAKE_FD(ret->fd));
	return r < 0 ? rd_err_set(err, -r, path, "cannot read the directory") : 0;
}

static int serve_update(struct server *server, const char *path, struct reply *ret, struct rd_err *err)
{
	const char *name;
	int r = find_output(server, path, true, &name, err);

	if (r < 0)
		return r;
	ret->fd = rd_open_for_update(name, err);
	return ret->fd < 0 ? ret->fd : 0;
}

static void abandon(struct server *server)
{
	if (server->writing)
		rd_new_file_deinit(&server->file);
	server->writing = false;
}

static int serve_create(struct server *server, const char *path, bool replace, struct reply *ret, struct rd_err *err)
{
	const char *name;
	int r = find_output(server, path, replace, &name, err);

	if (r < 0)
		return r;
	abandon(server);
	/* Kept while the file is written. */
	free(server->name);
	server->name = rd_dup(name);
	server->writing = true;
	server->bundle = name == path;
	r = rd_new_file_open(&server->file, server->name, replace, err);
	if (r < 0)
		return r;
	ret->fd = fcntl(server->file.fd, F_DUPFD_CLOEXEC, 0);
	return ret->fd < 0 ? rd_err_set(err, errno, path, "cannot open for writing") : 0;
}

static int serve_check(struct server *server, const char *path, bool replace, struct rd_err *err)
{
	const char *name;
	int r = find_output(server, path, replace, &name, err);

	return r < 0 ? r : rd_new_file_check(name, replace, err);
}

static int serve_finish(struct server *server, mode_t mode, struct rd_err *err)
{
	mode_t mask = umask(0);
	int r;

	if (!server->writing)
		return rd_err_set(err, EBADF, "opener", "no file is being written");
	umask(mask);
	r = rd_new_file_finish(&server->file, mode & 0666 & ~mask, err);
	server->made_bundle |= r == 0 && server->bundle;
	abandon(server);
	return r;
}

static void reap(struct server *server)
{
	size_t kept = 0;

	for (size_t i = 0; i < server->n_forks; i++)
		if (waitpid(server->forks[i], NULL, WNOHANG) == 0)
			server->forks[kept++] = server->forks[i];
	server->n_forks = kept;
}

/* A process started by serve_fork. */
static void serve_leave(struct server *server, pid_t pid)
{
	reap(server);
	for (size_t i = 0; i < server->n_forks; i++)
		if (server->forks[i] == pid)
			kill(pid, SIGTERM);
}

static _Noreturn void live(int sock, const struct opener_names *names, pid_t parent_pid, bool is_fork);

/* The fork serves the child. */
static int serve_fork(struct server *server, struct reply *ret, struct rd_err *err)
{
	int ends[2];
	pid_t self, child;

	reap(server);
	if (server->is_fork || server->n_forks == FORKS_MAX)
		return rd_err_set(err, EAGAIN, "opener process", "cannot start: %d of them are already running",
				  FORKS_MAX);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return rd_err_set(err, errno, "opener process", "cannot start");
	self = getpid();
	child = fork();
	if (child == 0) {
		close(ends[0]);
		close(server->sock);
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		live(ends[1], &server->names, self, true);
	}
	close(ends[1]);
	ret->fd = ends[0];
	ret->message.number = (uint64_t)child;
	if (child > 0)
		*RD_ADD(server->forks, server->n_forks, server->cap_forks) = child;
	return child < 0 ? rd_err_set(err, errno, "opener process", "cannot start") : 0;
}

/* NULL: not open. */
static struct rd_mads **mads_of(struct server *server, uint64_t handle)
{
	return handle < MADS_MAX && server->mads[handle] ? &server->mads[handle] : NULL;
}

static int serve_mad_open(struct server *server, const char *ibdev, uint64_t port, struct reply *ret, struct rd_err *err)
{
	uint64_t handle = 0;

	while (handle < MADS_MAX && server->mads[handle])
		handle++;
	if (handle == MADS_MAX)
		return rd_err_set(err, EMFILE, ibdev, "too many ports are open");
	ret->message.number = handle;
	return rd_mad_open(server->host, ibdev, (unsigned)port, &server->mads[handle], err);
}

static bool is_time(int32_t ms)
{
	return ms >= 0 && ms <= MAD_MS_MAX;
}

static int serve_mad_send(struct rd_mads *mads, const void *data, size_t size, struct rd_err *err)
{
	struct opener_timed_mad timed;

	if (size != sizeof(timed))
		return rd_err_set(err, EBADMSG, "MAD", "malformed request");
	memcpy(&timed, data, sizeof(timed));
	if (!rd_opener_may_send(&timed.mad))
		return rd_err_set(err, EPERM, "MAD", "a process that dropped its privileges may send only Get requests");
	if (!is_time(timed.ms))
		return rd_err_set(err, ERANGE, "MAD", "timeout too long");
	return mads->ops->send(mads, &timed.mad, (unsigned)timed.ms, err);
}

static int serve_mad_receive(struct rd_mads *mads, const void *data, size_t size, struct reply *ret, struct rd_err *err)
{
	struct rd_mad mad;
	int32_t ms;
	int r;

	if (size != sizeof(ms))
		return rd_err_set(err, EBADMSG, "MAD", "malformed request");
	memcpy(&ms, data, sizeof(ms));
	if (!is_time(ms))
		return rd_err_set(err, ERANGE, "MAD", "timeout too long");
	r = mads->ops->recv(mads, &mad, ms, err);
	return r <= 0 ? r : rd_bytes_copy(&mad, sizeof(mad), &ret->bytes);
}

/* Only if the command reads this host. */
static int serve_mad(struct server *server, const struct opener_message *request, const char *data, struct reply *ret,
		     struct rd_err *err)
{
	struct rd_mads **mads = mads_of(server, request->number);
	int r = server->names.host ? open_host(server, err) :
				     rd_err_set(err, EPERM, "MAD", "this command must not use umad ports");

	if (r < 0)
		return r;
	if (request->what == OPENER_MAD_PORTS)
		return rd_mad_ports(server->host, &ret->bytes, err);
	if (request->what == OPENER_MAD_OPEN)
		return serve_mad_open(server, data, request->number, ret, err);
	if (!mads)
		return rd_err_set(err, EBADF, "MAD", "port is not open");
	if (request->what == OPENER_MAD_SEND)
		return serve_mad_send(*mads, data, request->size, err);
	if (request->what == OPENER_MAD_RECEIVE)
		return serve_mad_receive(*mads, data, request->size, ret, err);
	rd_mads_closep(mads);
	*mads = NULL;
	return 0;
}

/* Only for a process that the client started, or that we started for it. */
static int serve_look(const struct server *server, pid_t pid, struct reply *ret)
{
	struct rd_child_state state = { 0 };

	if (rd_process_descends(pid, server->names.requester))
		rd_process_look(pid, &state);
	return rd_bytes_copy(&state, sizeof(state), &ret->bytes);
}

/* `data` ends with a NUL. */
static int serve(struct server *server, const struct opener_message *request, const char *data, struct reply *ret,
		 struct rd_err *err)
{
	switch ((enum opener_verb)request->what) {
	case OPENER_GET:
		return serve_get(server, request, data, ret, err);
	case OPENER_OPEN:
		return serve_open(server, data, ret, err);
	case OPENER_WALK:
		return serve_walk(server, data, ret, err);
	case OPENER_UPDATE:
		return serve_update(server, data, ret, err);
	case OPENER_CHECK:
		return serve_check(server, data, request->number, err);
	case OPENER_CREATE:
		return serve_create(server, data, request->number, ret, err);
	case OPENER_FINISH:
		return serve_finish(server, (mode_t)request->number, err);
	case OPENER_ABANDON:
		abandon(server);
		return 0;
	case OPENER_FORK:
		return serve_fork(server, ret, err);
	case OPENER_MAD_PORTS:
	case OPENER_MAD_OPEN:
	case OPENER_MAD_SEND:
	case OPENER_MAD_RECEIVE:
	case OPENER_MAD_CLOSE:
		return serve_mad(server, request, data, ret, err);
	case OPENER_LEAVE:
		serve_leave(server, (pid_t)request->number);
		return 0;
	case OPENER_LOOK:
		return serve_look(server, (pid_t)request->number, ret);
	}
	return rd_err_set(err, EBADMSG, "opener", "unknown request");
}

static int answer_one(struct server *server)
{
	_cleanup_free_ char *data = NULL;
	struct reply reply = { .fd = -1 };
	struct opener_message request = { 0 };
	struct rd_err err = { 0 };
	int r = rd_opener_receive(server->sock, &request, NULL);

	if (r < 0 || request.size > OPENER_REQUEST_MAX)
		return -ECHILD;
	data = rd_alloc(1, request.size + 1);
	r = rd_opener_data(server->sock, data, request.size);
	if (r < 0)
		return r;
	r = serve(server, &request, data, &reply, &err);
	reply.message.what = r;
	reply.message.size = r < 0 ? sizeof(err) : reply.bytes.size;
	r = rd_opener_send(server->sock, &reply.message, r < 0 ? (void *)&err : reply.bytes.data, reply.fd);
	rd_bytes_deinit(&reply.bytes);
	if (reply.fd >= 0)
		close(reply.fd);
	return r;
}

void rd_opener_end_with(int pipe)
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

static _Noreturn void live(int sock, const struct opener_names *names, pid_t parent_pid, bool is_fork)
{
	struct server server = { .sock = sock, .names = *names, .is_fork = is_fork };
	/* Before Linux 5.3: -1, which poll() ignores. */
	int parent = (int)syscall(SYS_pidfd_open, parent_pid, 0);

	rd_opener_take(-1);
	settle();
	while (wait_for_request(sock, parent, parent_pid) && answer_one(&server) == 0)
		continue;
	abandon(&server);
	reap(&server);
	_exit(0);
}

void rd_opener_serve(int sock, const struct opener_names *names)
{
	live(sock, names, names->requester, false);
}
