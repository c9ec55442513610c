/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This host, or a directory with the same layout. */
#include "source/live/live.h"
#include "source/opener/opener.h"
#include "source/shared/mad.h"
#include "source/shared/netlink.h"

#include <bpf/libbpf.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/memory.h"

/* Far above the files that are read (kallsyms has about 15 MB, the largest module 30 MB), and harmless for the host. */
#define READ_FIRST 4096

/* The kernel log: a read returns one record, and fails if the record does not fit. At most the newest 4 MiB are kept, and a
 * quarter of a million records are read: a flood of messages does not block us. */
#define KMSG "/dev/kmsg"
#define KMSG_RECORD 16384
#define KMSG_MAX ((size_t)4 << 20)
#define KMSG_READS (1 << 18)

/* Files that stay open because they are read repeatedly. */
struct kept {
	int *fds; /* -1: a slot without a file */
	size_t n, cap, open;
	size_t most; /* limit of open files; 0: not known yet */
};

#define KEPT_MAX 65536

static void kept_deinit(struct kept *kept)
{
	for (size_t i = 0; i < kept->n; i++)
		if (kept->fds[i] >= 0)
			close(kept->fds[i]);
	free(kept->fds);
	*kept = (struct kept){ 0 };
}

/* The usual soft limit of 1024 is for programs that use select; we can use the hard limit. */
static size_t raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 256;
	if (limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max < 2 * KEPT_MAX ? limit.rlim_max : 2 * KEPT_MAX;
		if (setrlimit(RLIMIT_NOFILE, &limit) < 0 && getrlimit(RLIMIT_NOFILE, &limit) < 0)
			return 256;
	}
	return limit.rlim_cur / 2 < KEPT_MAX ? limit.rlim_cur / 2 : KEPT_MAX;
}

/* Whether another file may stay open: half of the descriptors of the process are left for other uses. */
static bool kept_has_room(struct kept *kept)
{
	if (!kept->most)
		kept->most = raise_limit();
	return kept->open < kept->most;
}

/* Takes ownership of the descriptor in the slot `*slot` (0: a new one, stored in `*slot`). */
static void kept_add(struct kept *kept, int fd, uint32_t *slot)
{
	if (!*slot) {
		rd_reserve(&kept->fds, &kept->cap, kept->n + 1, sizeof(*kept->fds));
		kept->n++;
		*slot = (uint32_t)kept->n;
	}
	kept->fds[*slot - 1] = fd;
	kept->open++;
}

/* The descriptor of a slot; -1: none. */
static int kept_fd(const struct kept *kept, uint32_t slot)
{
	return slot && slot <= kept->n ? kept->fds[slot - 1] : -1;
}

static void kept_drop(struct kept *kept, uint32_t slot)
{
	int fd = kept_fd(kept, slot);

	if (fd < 0)
		return;
	close(fd);
	kept->fds[slot - 1] = -1;
	kept->open--;
}

struct live {
	struct rd_source src;
	int root;
	bool confined; /* a directory is the host: all links, also absolute ones, are resolved within it */
	struct rd_nlsockets sockets;
	struct kept kept;
	int ethtool;	   /* a socket for the ioctl; -1: not open yet */
	int queries;	   /* the map of RD_SOURCE_QUERIES; -1: none */
	bool verbs_silent; /* libibverbs did not reply: it is not queried again */
	struct ring_buffer *ring;
	rd_event_fn *fn; /* of the drain_events that is running */
	void *arg;
};

static struct live *live_of(struct rd_source *src)
{
	return (struct live *)src;
}

/* Returns a descriptor or -errno. */
static int live_open(struct live *live, const char *path, int flags)
{
	struct open_how how = { .flags = (uint64_t)flags | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
	int fd;

	if (live->confined)
		fd = syscall(SYS_openat2, live->root, path, &how, sizeof(how));
	else
		fd = openat(live->root, path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* File sizes in sysfs and procfs are meaningless. */
int rd_read_fd(int fd, size_t most, struct rd_bytes *ret)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	size_t cap = 0;

	for (;;) {
		size_t room;
		ssize_t n;

		rd_reserve(&bytes.data, &cap, bytes.size + READ_FIRST + 1, 1);
		room = cap - bytes.size - 1;
		n = read(fd, bytes.data + bytes.size, room < most - bytes.size + 1 ? room : most - bytes.size + 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		bytes.size += n;
		if (bytes.size > most)
			return -EFBIG;
	}
	bytes.data[bytes.size] = '\0';
	*ret = bytes;
	bytes = (struct rd_bytes){ 0 };
	return 0;
}

size_t rd_read_own(const char *path, char *ret, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, ret, size - 1);

	ret[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
	return n > 0 ? (size_t)n : 0;
}

/* The offset of the first record in the second half. */
static size_t second_half(const struct rd_bytes *bytes)
{
	size_t at = bytes->size / 2;

	while (at < bytes->size && (bytes->data[at - 1] != '\n' || bytes->data[at] == ' '))
		at++;
	return at;
}

static int read_kmsg(int fd, struct rd_bytes *ret)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	size_t cap = 0;

	for (int reads = 0; reads < KMSG_READS; reads++) {
		ssize_t n;

		if (bytes.size > KMSG_MAX) {
			size_t from = second_half(&bytes);

			memmove(bytes.data, bytes.data + from, bytes.size - from);
			bytes.size -= from;
		}
		rd_reserve(&bytes.data, &cap, bytes.size + KMSG_RECORD + 1, 1);
		n = read(fd, bytes.data + bytes.size, KMSG_RECORD);
		/* EPIPE: the next record was overwritten; the following read continues after it. */
		if (n < 0 && (errno == EINTR || errno == EPIPE))
			continue;
		if (n < 0 && errno != EAGAIN)
			return -errno;
		if (n <= 0)
			break;
		bytes.size += n;
	}
	bytes.data[bytes.size] = '\0';
	*ret = bytes;
	bytes = (struct rd_bytes){ 0 };
	return 0;
}

/* Virtual files, which are made when they are read: the path of their directory, and what makes them; NULL: with what the source has open
 * for it. */
static const struct {
	const char *dir;
	int (*make)(const char *path, struct rd_bytes *ret, struct rd_err *err);
} made[] = {
	{ RD_SOURCE_ETHTOOL, NULL },
	{ RD_SOURCE_VERBS, NULL },
	{ RD_SOURCE_MAPS, NULL },
	{ RD_SOURCE_TCP, rd_proc_tcp_read },
	{ RD_SOURCE_LIBS, rd_proc_libs_read },
	{ RD_SOURCE_JOB, rd_proc_job_read },
};

/* Its index in `made`; another number: a file of the host. */
static size_t made_at(const struct live *live, const char *path)
{
	size_t i;

	for (i = 0; i < RD_ARRAY_SIZE(made); i++) {
		size_t n = strlen(made[i].dir);

		if (!live->confined && strncmp(path, made[i].dir, n) == 0 && (path[n] == '/' || !path[n]))
			break;
	}
	return i;
}

static int live_read_file(struct live *live, const char *path, struct rd_bytes *ret, struct rd_err *err)
{
	size_t i = made_at(live, path);
	_cleanup_close_ int fd = -1;
	int r;

	if (i < RD_ARRAY_SIZE(made))
		return made[i].make ? made[i].make(path, ret, err) :
		       i == 2	    ? rd_bpf_maps_read(path, live->queries, ret, err) :
		       i	    ? rd_verbs_read(&live->verbs_silent, path, ret, err) :
				      rd_ethtool_read(&live->ethtool, path, ret, err);
	/* O_NONBLOCK: a FIFO in place of a file must not block us; regular files ignore it. */
	fd = live_open(live, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return rd_err_set(err, -fd, path, "cannot open");
	r = strcmp(path, KMSG) == 0 ? read_kmsg(fd, ret) : rd_read_fd(fd, RD_FILE_MAX, ret);
	return r < 0 ? rd_err_set(err, -r, path, "cannot read") : 0;
}

static ssize_t read_from_start(int fd, char *ret, size_t size)
{
	ssize_t n;

	do
		n = pread(fd, ret, size - 1, 0);
	while (n < 0 && errno == EINTR);
	ret[n > 0 ? n : 0] = '\0';
	return n < 0 ? -errno : n;
}

/* A device that was re-registered has new files: the old ones return ENODEV. */
static int live_read_again(struct rd_source *src, const char *path, uint32_t *slot, char *ret, size_t size)
{
	struct live *live = live_of(src);
	int fd = kept_fd(&live->kept, *slot), r;

	if (fd >= 0) {
		r = (int)read_from_start(fd, ret, size);
		if (r != -ENODEV)
			return r;
		kept_drop(&live->kept, *slot);
	}
	if (!path)
		return -ESTALE;
	fd = live_open(live, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return fd;
	r = (int)read_from_start(fd, ret, size);
	if (!kept_has_room(&live->kept))
		close(fd);
	else
		kept_add(&live->kept, fd, slot);
	return r;
}

static int live_list_dir(struct live *live, const char *path, struct rd_bytes *ret, struct rd_err *err)
{
	_cleanup_names_ struct rd_names names = { 0 };
	_cleanup_close_ int fd = live_open(live, path, O_RDONLY | O_DIRECTORY);
	const struct dirent *entry;
	DIR *dir;
	int code;

	if (fd < 0)
		return rd_err_set(err, -fd, path, "cannot open");
	dir = fdopendir(fd);
	if (!dir)
		return rd_err_set(err, errno, path, "cannot list");
	RD_TAKE_FD(fd);
	while ((errno = 0, entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			*RD_ADD(names.v, names.n, names.cap) = rd_dup(entry->d_name);
	code = errno;
	closedir(dir);
	if (code)
		return rd_err_set(err, code, path, "cannot list");
	rd_names_sort(&names);
	return rd_names_pack(&names, ret);
}

static int live_read_link(struct live *live, const char *path, struct rd_bytes *ret, struct rd_err *err)
{
	_cleanup_close_ int fd = -1;
	char target[4096];
	ssize_t n;

	if (made_at(live, path) < RD_ARRAY_SIZE(made))
		return rd_err_set(err, EINVAL, path, "cannot read the link");
	fd = live_open(live, path, O_PATH | O_NOFOLLOW);
	if (fd < 0)
		return rd_err_set(err, -fd, path, "cannot open");
	/* An empty path means the link `fd` itself. If that is not a link this is ENOENT here, elsewhere EINVAL. */
	n = readlinkat(fd, "", target, sizeof(target));
	if (n < 0)
		return rd_err_set(err, errno == ENOENT ? EINVAL : errno, path, "cannot read the link");
	if ((size_t)n == sizeof(target))
		return rd_err_set(err, ENAMETOOLONG, path, "cannot read the link");
	return rd_bytes_copy(target, (size_t)n, ret);
}

static int live_stat(struct live *live, const struct rd_query *query, uint64_t *ret, struct rd_err *err)
{
	_cleanup_close_ int fd = live_open(live, query->data, O_PATH);
	struct stat st;

	if (fd < 0)
		return rd_err_set(err, -fd, query->data, "cannot stat");
	if (fstat(fd, &st) < 0)
		return rd_err_set(err, errno, query->data, "cannot stat");
	*ret = query->op == RD_OP_INO			  ? st.st_ino :
	       query->op == RD_OP_MODE			  ? st.st_mode & 07777 :
	       S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode) ? st.st_rdev :
							    0;
	return 0;
}

static int live_get(struct rd_source *src, const struct rd_query *query, struct rd_reply *ret, struct rd_err *err)
{
	struct live *live = live_of(src);

	switch ((enum rd_op)query->op) {
	case RD_OP_READ:
		return live_read_file(live, query->data, &ret->bytes, err);
	case RD_OP_LIST:
		return live_list_dir(live, query->data, &ret->bytes, err);
	case RD_OP_LINK:
		return live_read_link(live, query->data, &ret->bytes, err);
	case RD_OP_RDEV:
	case RD_OP_INO:
	case RD_OP_MODE:
		return live_stat(live, query, &ret->number, err);
	case RD_OP_NETLINK:
		if (live->confined)
			return rd_err_set(err, EOPNOTSUPP, "netlink", "not available: the source is a directory");
		return rd_nlsockets_ask(&live->sockets, query->protocol, query->data, query->size, &ret->bytes, err);
	case RD_OP_OPEN:
	case RD_OP_NOW:
		break;
	}
	return rd_err_set(err, EINVAL, "reading", "unknown request");
}

/* A directory has no ports. */
static int no_mads(struct rd_source *src, struct rd_err *err)
{
	return live_of(src)->confined ? rd_err_set(err, EOPNOTSUPP, "MAD", "not available: the source is a directory") :
					0;
}

static int live_mad_ports(struct rd_source *src, struct rd_bytes *ret, struct rd_err *err)
{
	int r = no_mads(src, err);

	return r < 0 ? r : rd_umad_ports(ret, err);
}

static int live_mad_open(struct rd_source *src, const char *ibdev, unsigned port, struct rd_mads **ret,
			 struct rd_err *err)
{
	int r = no_mads(src, err);

	return r < 0 ? r : rd_umad_open(ibdev, port, ret, err);
}

static int live_event(void *ctx, void *data, size_t size)
{
	struct live *live = ctx;

	return live->fn(live->arg, data, size);
}

static int live_drain_events(struct rd_source *src, rd_event_fn *fn, void *arg, struct rd_err *err)
{
	struct live *live = live_of(src);
	int r;

	if (!live->ring)
		return rd_err_set(err, ENODATA, "events", "no ring buffer is set");
	live->fn = fn;
	live->arg = arg;
	r = ring_buffer__consume(live->ring);
	if (r < 0)
		return rd_err_set(err, -r, "events", "cannot read events from the ring buffer");
	return r;
}

static uint64_t live_now(struct rd_source *src, int clock)
{
	struct timespec ts;

	(void)src;
	if (clock_gettime(clock, &ts) < 0)
		return 0;
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void live_close(struct rd_source *src)
{
	struct live *live = live_of(src);

	rd_nlsockets_deinit(&live->sockets);
	kept_deinit(&live->kept);
	if (live->ethtool >= 0)
		close(live->ethtool);
	ring_buffer__free(live->ring);
	close(live->root);
	free(live);
}

static const struct rd_source_ops live_ops = {
	.name = "live",
	.get = live_get,
	.read_again = live_read_again,
	.mad_ports = live_mad_ports,
	.mad_open = live_mad_open,
	.drain_events = live_drain_events,
	.now = live_now,
	.close = live_close,
};

int rd_source_live_open(const char *root, struct rd_source **ret, struct rd_err *err)
{
	const char *path = root ? root : "/";
	struct live *live;
	int fd;

	if (!root && rd_opener_used()) {
		*ret = rd_opener_source();
		return 0;
	}
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return rd_err_set(err, errno, path, "cannot open as root directory of a host");
	live = rd_alloc(1, sizeof(*live));
	live->src.ops = &live_ops;
	live->root = fd;
	live->ethtool = live->queries = -1;
	live->confined = strcmp(path, "/") != 0;
	*ret = &live->src;
	return 0;
}

int rd_source_live_set_ring(struct rd_source *src, int ringbuf_map_fd, struct rd_err *err)
{
	struct live *live = live_of(src);
	struct ring_buffer *ring;

	if (src->ops != &live_ops)
		return rd_err_set(err, EINVAL, src->ops->name, "only a live source can read a ring buffer");
	ring = ring_buffer__new(ringbuf_map_fd, live_event, live, NULL);
	if (!ring)
		return rd_err_set(err, errno, "ring buffer", "cannot map");
	ring_buffer__free(live->ring);
	live->ring = ring;
	return 0;
}

int rd_source_live_set_queries(struct rd_source *src, int map_fd)
{
	if (src->ops != &live_ops)
		return -EINVAL;
	live_of(src)->queries = map_fd;
	return 0;
}
