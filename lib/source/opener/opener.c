/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The opener, and the files that it writes, as does a process without one. */
#include "source/opener/opener.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "source/opener/child.h"

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
	*RD_ADD(names.v, names.n, names.cap) = (struct name){
		.use = use,
		.path = rd_dup(path),
		.whole = rd_whole_path(path) ?: rd_dup(path),
	};
}

/* ---- files to be written */

#define TEMPORARY ".rdmadiag.tmp-" /* no other file has such a name: it may be removed */

static const char *volatile unfinished;

static int exchange(struct message message, const char *path, const void *data, struct rd_bytes *ret,
		    struct rd_err *err);

int rd_new_file_check(const char *path, bool replace, struct rd_err *err)
{
	struct stat st;

	if (rd_opener_used())
		return exchange((struct message){ .what = CHECK, .replace = replace }, path, NULL, NULL, err);
	/* A rename would replace /dev/null by a regular file. */
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return rd_err_set(err, EINVAL, path, "not a regular file: not replaced");
	if (!replace && lstat(path, &st) == 0)
		return rd_err_set(err, EEXIST, path, "file exists: not overwritten");
	return 0;
}

/* Removes what a run that was killed left: temporary files of this user that no process has locked. */
static void remove_stale(int folder)
{
	_cleanup_close_ int own = folder < 0 ? -1 : openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_dir_ DIR *dir = own < 0 ? NULL : fdopendir(own);
	struct dirent *entry;
	struct stat st;

	if (!dir)
		return;
	RD_TAKE_FD(own);
	while ((entry = readdir(dir))) {
		_cleanup_close_ int fd = -1;

		if (!rd_starts_with(entry->d_name, TEMPORARY) || strlen(entry->d_name) != strlen(TEMPORARY "XXXXXX"))
			continue;
		fd = openat(folder, entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
		    flock(fd, LOCK_EX | LOCK_NB) == 0)
			unlinkat(folder, entry->d_name, 0);
	}
}

int rd_new_file_open(struct rd_new_file *file, const char *path, bool replace, struct rd_err *err)
{
	const char *slash = strrchr(path, '/');
	int len = slash ? (int)(slash - path) + 1 : 0, r;
	_cleanup_free_ char *folder = rd_text("%.*s.", len, path);
	sigset_t all;

	*file = (struct rd_new_file){ .path = path, .replace = replace, .fd = -1, .folder = -1 };
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &file->before);
	r = rd_new_file_check(path, replace, err);
	if (r < 0)
		return r;
	/* Some directories can be written to but not read: such a directory cannot be synced. */
	file->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (file->folder < 0 && errno != EACCES)
		return rd_err_set(err, errno, path, "cannot create a file there");
	remove_stale(file->folder);
	/* A file without a name, where the file system has such: nothing is left of it if the process is killed. */
	file->fd = replace ? -1 : open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (file->fd >= 0)
		return 0;
	/* A hidden name without the final suffix: a collector of *.prom must not read a partial file. */
	file->temporary = rd_text("%.*s" TEMPORARY "XXXXXX", len, path);
	file->fd = mkostemp(file->temporary, O_CLOEXEC);
	if (file->fd < 0)
		return rd_err_set(err, errno, path, "cannot create a file there");
	flock(file->fd, LOCK_EX);
	unfinished = file->temporary;
	rd_at_end(rd_new_file_abandon);
	return 0;
}

/* Not every file system supports RENAME_NOREPLACE; those without it support hard links. */
static int take_name(const struct rd_new_file *file)
{
	char unnamed[32];

	if (!file->temporary) {
		snprintf(unnamed, sizeof(unnamed), "/proc/self/fd/%d", file->fd);
		return linkat(AT_FDCWD, unnamed, AT_FDCWD, file->path, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
	}
	if (file->replace)
		return rename(file->temporary, file->path) < 0 ? -errno : 0;
	if (renameat2(AT_FDCWD, file->temporary, AT_FDCWD, file->path, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (link(file->temporary, file->path) < 0)
		return -errno;
	unlink(file->temporary);
	return 0;
}

static void forget_temporary(struct rd_new_file *file)
{
	unfinished = NULL;
	free(file->temporary);
	file->temporary = NULL;
}

int rd_new_file_finish(struct rd_new_file *file, mode_t mode, struct rd_err *err)
{
	int r = fchmod(file->fd, mode) < 0 || fsync(file->fd) < 0 ? -errno : 0;

	if (r < 0)
		return rd_err_set(err, -r, file->path, "cannot write");
	r = take_name(file);
	close(RD_TAKE_FD(file->fd));
	if (r == -EEXIST)
		return rd_err_set(err, EEXIST, file->path, "file exists: not overwritten");
	if (r < 0)
		return rd_err_set(err, -r, file->path, "cannot rename the temporary file to it");
	forget_temporary(file);
	/* EINVAL: this file system cannot sync directories. */
	if (file->folder >= 0 && fsync(file->folder) < 0 && errno != EINVAL)
		return rd_err_set(err, errno, file->path,
				  "written, but cannot sync its directory: may be lost on a power failure");
	return 0;
}

void rd_new_file_deinit(struct rd_new_file *file)
{
	if (!file->path)
		return;
	rd_cleanup_close(&file->fd);
	rd_cleanup_close(&file->folder);
	rd_new_file_abandon();
	forget_temporary(file);
	sigprocmask(SIG_SETMASK, &file->before, NULL);
}

void rd_new_file_abandon(void)
{
	const char *name = unfinished;

	if (name)
		unlink(name);
}

/* Files that were opened before the process dropped its privileges. */
static struct {
	struct update {
		const char *path;
		int fd; /* or -errno */
		bool created;
		struct rd_err err;
	} * v;
	size_t n, cap;
} updates;

static int open_for_update(const char *path, struct rd_err *err)
{
	/* Do not wait for the reader of a pipe. */
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0666);

	if (fd < 0 && errno == ELOOP)
		return rd_err_set(err, ELOOP, path, "is a symbolic link, which is not followed");
	return fd < 0 ? rd_err_set(err, errno, path, "cannot open for writing") : fd;
}

void rd_open_for_update_ahead(const char *path)
{
	struct update *update = RD_ADD(updates.v, updates.n, updates.cap);

	*update = (struct update){ .path = path, .created = access(path, F_OK) < 0 && errno == ENOENT };
	update->fd = open_for_update(path, &update->err);
}

/* In the opener, at the end: removes what was created and is still empty. */
static void remove_empty_updates(void)
{
	for (size_t i = 0; i < updates.n; i++) {
		const struct update *update = &updates.v[i];
		struct stat st, now;

		if (update->created && update->fd >= 0 && fstat(update->fd, &st) == 0 && st.st_size == 0 &&
		    lstat(update->path, &now) == 0 && now.st_ino == st.st_ino && now.st_dev == st.st_dev)
			unlink(update->path);
	}
}

int rd_open_for_update(const char *path, struct rd_err *err)
{
	if (!rd_opener_used())
		return open_for_update(path, err);
	for (size_t i = 0; i < updates.n; i++) {
		if (strcmp(updates.v[i].path, path) != 0)
			continue;
		*err = updates.v[i].err;
		return updates.v[i].fd < 0 ? updates.v[i].fd : fcntl(updates.v[i].fd, F_DUPFD_CLOEXEC, 0);
	}
	return rd_err_set(err, EPERM, path, "not a file named on the command line");
}

int rd_write_file(const char *path, bool replace, mode_t mode, const struct rd_buf *contents, struct rd_err *err)
{
	_cleanup_(rd_new_file_deinit) struct rd_new_file file = { 0 };
	int r;

	if (rd_opener_used() && !contents->failed)
		return exchange((struct message){ WRITE, .replace = replace, .mode = mode, .size = contents->len },
				path, contents->data, NULL, err);
	r = rd_new_file_open(&file, path, replace, err);
	if (r < 0)
		return r;
	r = contents->failed ? -ENOMEM : rd_write_all(file.fd, contents->data, contents->len);
	return r < 0 ? rd_err_set(err, -r, path, "cannot write") : rd_new_file_finish(&file, mode, err);
}

int rd_replace_file(const char *path, const struct rd_buf *contents, struct rd_err *err)
{
	mode_t mask = umask(0);

	umask(mask);
	return rd_write_file(path, true, 0666 & ~mask, contents, err);
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
	return find_name(RD_OPENER_BUNDLE, ".") && !strchr(path, '/') &&
	       fnmatch("rdmadiag-?*.tar.zst", path, FNM_NOESCAPE) == 0;
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

/* Waits for a request. False: our parent or the last client has ended; a child that survives it has no opener. */
static bool wait_for_request(int sock, int parent, pid_t parent_pid)
{
	struct pollfd fds[] = { { sock, POLLIN, 0 }, { parent, POLLIN, 0 } };

	while (poll(fds, RD_ARRAY_SIZE(fds), -1) < 0)
		if (errno != EINTR)
			return false;
	return fds[0].revents && !fds[1].revents && getppid() == parent_pid;
}

/* `life`: a pipe that is closed when the parent ends. */
static _Noreturn void live(int sock, int life, rd_opener_record_fn *record, pid_t parent_pid)
{
	int parent, null;

	/* Ends this process by SIGTERM then, also if it hangs in an interruptible read. PR_SET_PDEATHSIG does not work: the parent has
	 * no permission to signal us. */
	signal(SIGTERM, SIG_DFL);
	if (fcntl(life, F_SETOWN, getpid()) == 0 && fcntl(life, F_SETSIG, SIGTERM) == 0)
		fcntl(life, F_SETFL, O_ASYNC);
	/* Before Linux 5.3: -1, which poll() ignores. */
	parent = (int)syscall(SYS_pidfd_open, parent_pid, 0);
	/* A reader of our output must not wait for this process, and signals of the terminal are for the other one. */
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	setpgid(0, 0);
	if (null >= 0) {
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		close(null);
	}
	while (wait_for_request(sock, parent, parent_pid) && serve(sock, record) == 0)
		continue;
	remove_empty_updates();
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
		live(ends[1], life[0], record, self);
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
static int exchange(struct message message, const char *path, const void *data, struct rd_bytes *ret, struct rd_err *err)
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
	if (ret && message.result >= 0)
		*ret = RD_TAKE(reply);
	return message.result;
}

int rd_opener_record(unsigned parts, unsigned limit_ms, struct rd_bytes *ret, struct rd_err *err)
{
	return exchange((struct message){ .what = RECORD, .parts = parts, .limit_ms = limit_ms }, NULL, NULL, ret, err);
}

static int get(struct rd_source *src, const struct rd_query *query, struct rd_reply *ret, struct rd_err *err)
{
	return recorded->ops->get(recorded, query, ret, err);
}

static uint64_t now(struct rd_source *src, int clock)
{
	return recorded->ops->now(recorded, clock);
}

static void close_source(struct rd_source *src)
{
	free(src);
}

static int no_ports(struct rd_source *src, struct rd_bytes *ret, struct rd_err *err)
{
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
