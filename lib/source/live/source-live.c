/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This host, or a directory with the same layout. */
#include "source/live/live.h"
#include "source/opener/child.h"
#include "source/opener/opener.h"
#include "source/shared/mad.h"
#include "source/shared/netlink.h"

#include <bpf/libbpf.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/ethtool.h>
#include <linux/openat2.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

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

/* Takes ownership of the descriptor in the slot `*slot` (0: a new one, stored in `*slot`), if another file may stay open: half of the
 * descriptors of the process are left for other uses. */
static void keep_or_close(struct kept *kept, int fd, uint32_t *slot)
{
	if (!kept->most)
		kept->most = raise_limit();
	if (kept->open >= kept->most) {
		close(fd);
		return;
	}
	if (!*slot) {
		*RD_ADD(kept->fds, kept->n, kept->cap) = -1;
		*slot = (uint32_t)kept->n;
	}
	kept->fds[*slot - 1] = fd;
	kept->open++;
}

struct live {
	struct rd_source src;
	int root;
	bool confined; /* a directory is the host: all links, also absolute ones, are resolved within it */
	struct rd_nlsockets sockets;
	struct kept kept;
	int ethtool;	      /* a socket for the ioctl; -1: not open yet */
	int queries;	      /* the map of RD_SOURCE_QUERIES; -1: none */
	int64_t verbs_silent; /* libibverbs did not reply: it is not queried before that time */
	struct ring_buffer *ring;
	rd_event_fn *fn; /* of the drain_events that is running */
	void *arg;
};

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
	*ret = RD_TAKE(bytes);
	return 0;
}

size_t rd_read_own(const char *path, char *ret, size_t size)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, ret, size - 1);

	ret[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

static int read_kmsg(int fd, struct rd_bytes *ret)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	size_t cap = 0;

	for (int reads = 0; reads < KMSG_READS; reads++) {
		ssize_t n;

		if (bytes.size > KMSG_MAX) {
			/* The offset of the first record in the second half. */
			size_t from = bytes.size / 2;

			while (from < bytes.size && (bytes.data[from - 1] != '\n' || bytes.data[from] == ' '))
				from++;
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
	*ret = RD_TAKE(bytes);
	return 0;
}

/* ---- ethtool's ioctl */

/* mlx5 has about 1,500 on a host of 64 queues. */
#define STATS_MAX 65536
/* Queues that are added between the two calls may make the reply longer than announced. */
#define STATS_SPARE 4096

static int call_ethtool(int fd, const char *netdev, void *data)
{
	struct ifreq request = { .ifr_data = data };

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", netdev);
	return ioctl(fd, SIOCETHTOOL, &request) < 0 ? -errno : 0;
}

/* The number of statistics. */
static int count_stats(int fd, const char *netdev, uint32_t *ret)
{
	_Alignas(struct ethtool_sset_info) uint8_t request[sizeof(struct ethtool_sset_info) + sizeof(*ret)] = { 0 };
	struct ethtool_sset_info *info = (struct ethtool_sset_info *)request;
	int r;

	info->cmd = ETHTOOL_GSSET_INFO;
	info->sset_mask = 1ull << ETH_SS_STATS;
	r = call_ethtool(fd, netdev, request);
	if (r < 0)
		return r;
	/* The number follows the head, if the set is still in the mask. */
	*ret = 0;
	if (info->sset_mask)
		memcpy(ret, request + sizeof(*info), sizeof(*ret));
	return *ret > STATS_MAX ? -EFBIG : 0;
}

static int read_strings(int fd, const char *netdev, uint32_t count, struct rd_bytes *ret)
{
	size_t room = (size_t)count + STATS_SPARE;
	_cleanup_free_ struct ethtool_gstrings *strings = rd_alloc(1, sizeof(*strings) + room * ETH_GSTRING_LEN);
	int r;

	strings->cmd = ETHTOOL_GSTRINGS;
	strings->string_set = ETH_SS_STATS;
	strings->len = count;
	r = call_ethtool(fd, netdev, strings);
	if (r < 0)
		return r;
	return strings->len > room ? -EBADMSG :
				     rd_bytes_copy(strings->data, (size_t)strings->len * ETH_GSTRING_LEN, ret);
}

static int read_stats(int fd, const char *netdev, uint32_t count, struct rd_bytes *ret)
{
	size_t room = (size_t)count + STATS_SPARE;
	_cleanup_free_ struct ethtool_stats *stats = rd_alloc(1, sizeof(*stats) + room * sizeof(uint64_t));
	int r;

	stats->cmd = ETHTOOL_GSTATS;
	stats->n_stats = count;
	r = call_ethtool(fd, netdev, stats);
	if (r < 0)
		return r;
	return stats->n_stats > room ? -EBADMSG : rd_bytes_copy(stats->data, stats->n_stats * sizeof(uint64_t), ret);
}

/* RD_SOURCE_ETHTOOL. `*fd` is a socket, -1 before the first call; the caller closes it. */
static int read_ethtool(int *fd, const char *path, struct rd_bytes *ret, struct rd_err *err)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	char netdev[IFNAMSIZ], what[16];
	bool names;
	uint32_t count = 0;
	int r;

	if (sscanf(path, RD_SOURCE_ETHTOOL "/%15[^/]/%15[a-z]", netdev, what) != 2)
		return rd_err_set(err, ENOENT, path, "unknown ethtool file");
	if (*fd < 0)
		*fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (*fd < 0)
		return rd_err_set(err, errno, path, "cannot open a socket");
	names = strcmp(what, "strings") == 0;
	if (strcmp(what, "driver") == 0) {
		r = call_ethtool(*fd, netdev, &info);
		if (!r)
			r = rd_bytes_copy(&info, sizeof(info), ret);
	} else if (names || strcmp(what, "stats") == 0) {
		r = count_stats(*fd, netdev, &count);
		if (!r && !count)
			r = -EOPNOTSUPP;
		if (!r)
			r = names ? read_strings(*fd, netdev, count, ret) : read_stats(*fd, netdev, count, ret);
	} else {
		r = -ENOENT;
	}
	return r < 0 ? rd_err_set(err, -r, path, "ethtool ioctl failed") : 0;
}

/* ---- maps of bpf(2) */

#define MAPS_LOOKED_AT (1u << 16) /* a host has hundreds; programs with CAP_BPF can create more */
#define MAPS_MAX 64		  /* with this name */
#define KEY_MAX 64
#define VALUE_MAX 1024
#define MAPS_SIZE_MAX ((size_t)64 << 20)
#define BATCH 512

struct maps {
	const char *name;
	struct rd_buf out;
	unsigned found;
	bool more; /* maps that were not looked at */
};

/* The system call itself: libbpf would be loaded by every command that asks for a map, and most hosts have none. */
static int call_bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	long r = syscall(SYS_bpf, command, attr, sizeof(*attr));

	return r < 0 ? -errno : (int)r;
}

static int describe_map(int fd, struct bpf_map_info *ret)
{
	union bpf_attr attr = {
		.info = { .bpf_fd = (uint32_t)fd, .info_len = sizeof(*ret), .info = (uint64_t)(uintptr_t)ret }
	};

	return call_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);
}

/* `at`: where the last batch ended; NULL: begins. `n`: the most entries; then how many were read. */
static int read_batch(int fd, uint64_t *at, uint64_t *next, uint8_t *keys, uint8_t *values, uint32_t *n)
{
	union bpf_attr attr = { .batch = { .in_batch = (uint64_t)(uintptr_t)at,
					   .out_batch = (uint64_t)(uintptr_t)next,
					   .keys = (uint64_t)(uintptr_t)keys,
					   .values = (uint64_t)(uintptr_t)values,
					   .count = *n,
					   .map_fd = (uint32_t)fd } };
	int r = call_bpf(BPF_MAP_LOOKUP_BATCH, &attr);

	*n = attr.batch.count;
	return r;
}

/* Appends entries to the file. In batches, each bucket is read under its lock, so an entry is never mixed with one that replaces it. */
static int add_entries(struct maps *maps, int fd, struct rd_source_map *head)
{
	_cleanup_free_ uint8_t *keys = calloc(BATCH, head->key_size), *values = calloc(BATCH, head->value_size);
	uint64_t at, next;
	bool begun = false;
	uint32_t n;
	int r;

	if (!keys || !values)
		return -ENOMEM;
	do {
		n = BATCH;
		r = read_batch(fd, begun ? &at : NULL, &next, keys, values, &n);
		/* ENOSPC: a bucket has more entries than a batch; in a map of a sensible size none has. */
		if (r < 0 && r != -ENOENT)
			return r;
		begun = true;
		at = next;
		for (uint32_t i = 0; i < n && i < BATCH; i++, head->entries++) {
			if (maps->out.len + head->key_size + head->value_size > MAPS_SIZE_MAX)
				return -EFBIG;
			rd_buf_add(&maps->out, keys + i * head->key_size, head->key_size);
			rd_buf_add(&maps->out, values + i * head->value_size, head->value_size);
		}
	} while (r == 0 && !maps->out.failed);
	return maps->out.failed ? -ENOMEM : 0;
}

/* A map whose entries could not be read, or not all, has an errno in its head. */
static int add_map(struct maps *maps, int fd, const struct bpf_map_info *info)
{
	struct rd_source_map head = { .id = info->id, .key_size = info->key_size, .value_size = info->value_size };
	size_t start = maps->out.len;
	int r = -EMEDIUMTYPE;

	rd_buf_add(&maps->out, &head, sizeof(head));
	if (info->type == BPF_MAP_TYPE_HASH && info->key_size <= KEY_MAX && info->value_size <= VALUE_MAX)
		r = add_entries(maps, fd, &head);
	if (r == -ENOMEM || maps->out.failed)
		return -ENOMEM;
	head.code = (uint32_t)-r;
	memcpy(maps->out.data + start, &head, sizeof(head));
	return 0;
}

static int look_at(struct maps *maps, uint32_t id)
{
	union bpf_attr attr = { .map_id = id };
	_cleanup_close_ int fd = call_bpf(BPF_MAP_GET_FD_BY_ID, &attr);
	struct bpf_map_info info = { 0 };

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd; /* it ended meanwhile */
	if (describe_map(fd, &info) || strncmp(info.name, maps->name, sizeof(info.name)) != 0)
		return 0;
	if (++maps->found > MAPS_MAX)
		return -E2BIG;
	return add_map(maps, fd, &info);
}

/* RD_SOURCE_MAPS. -ENOENT: there is no map of that name. -EPERM without CAP_SYS_ADMIN. `queries`: the map that is
 * RD_SOURCE_QUERIES; -1: none. */
static int read_bpf_maps(const char *path, int queries, struct rd_bytes *ret, struct rd_err *err)
{
	struct maps maps = { .name = path + strlen(RD_SOURCE_MAPS), .out = RD_BUF_CHECKED };
	union bpf_attr next = { .start_id = 0 };
	struct bpf_map_info own = { 0 };
	unsigned looked = 0;
	int r = 0;

	if (!*maps.name || strlen(++maps.name) >= BPF_OBJ_NAME_LEN || strchr(maps.name, '/'))
		return rd_err_set(err, ENOENT, path, "cannot read");
	if (strcmp(path, RD_SOURCE_QUERIES) == 0) {
		r = queries < 0 ? -ENOENT : describe_map(queries, &own);
		r = r ? r : add_map(&maps, queries, &own);
		maps.found = !r;
		r = r ?: -ENOENT;
	}
	for (; !r && (r = call_bpf(BPF_MAP_GET_NEXT_ID, &next)) == 0; next.start_id = next.next_id)
		r = ++looked > MAPS_LOOKED_AT ? -E2BIG : look_at(&maps, next.next_id);
	/* After the last map. Too many: those found until then are read. */
	if (r == -ENOENT || (r == -E2BIG && maps.found))
		r = maps.found ? 0 : -ENOENT;
	if (r < 0) {
		rd_buf_deinit(&maps.out);
		return rd_err_set(err, -r, path, "cannot read the BPF maps of this name");
	}
	return rd_bytes_of_buf(&maps.out, path, ret, err);
}

/* ---- files, links, directories */

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
	{ RD_SOURCE_USER, rd_user_read },
	{ RD_SOURCE_GROUP, rd_user_read },
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
		       i == 2	    ? read_bpf_maps(path, live->queries, ret, err) :
		       i	    ? rd_verbs_read(&live->verbs_silent, path, ret, err) :
				      read_ethtool(&live->ethtool, path, ret, err);
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
	struct live *live = (struct live *)src;
	int fd = *slot && *slot <= live->kept.n ? live->kept.fds[*slot - 1] : -1, r;

	if (fd >= 0) {
		r = (int)read_from_start(fd, ret, size);
		if (r != -ENODEV)
			return r;
		close(fd);
		live->kept.fds[*slot - 1] = -1;
		live->kept.open--;
	}
	if (!path)
		return -ESTALE;
	fd = live_open(live, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return fd;
	r = (int)read_from_start(fd, ret, size);
	keep_or_close(&live->kept, fd, slot);
	return r;
}

static int live_list_dir(struct live *live, const char *path, struct rd_bytes *ret, struct rd_err *err)
{
	_cleanup_texts_ struct rd_texts names = { 0 };
	_cleanup_close_ int fd = live_open(live, path, O_RDONLY | O_DIRECTORY);
	_cleanup_dir_ DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (fd < 0)
		return rd_err_set(err, -fd, path, "cannot open");
	if (!dir)
		return rd_err_set(err, errno, path, "cannot list");
	RD_TAKE_FD(fd);
	while ((errno = 0, entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			rd_texts_add(&names, entry->d_name);
	if (errno)
		return rd_err_set(err, errno, path, "cannot list");
	rd_texts_sort(&names);
	return rd_texts_pack(&names, ret);
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
	struct live *live = (struct live *)src;

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
	return ((struct live *)src)->confined ?
		       rd_err_set(err, EOPNOTSUPP, "MAD", "not available: the source is a directory") :
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
	struct live *live = (struct live *)src;
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
	return rd_clock_ns(clock);
}

static void live_close(struct rd_source *src)
{
	struct live *live = (struct live *)src;

	rd_nlsockets_deinit(&live->sockets);
	for (size_t i = 0; i < live->kept.n; i++)
		if (live->kept.fds[i] >= 0)
			close(live->kept.fds[i]);
	free(live->kept.fds);
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
	struct live *live = (struct live *)src;
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
	((struct live *)src)->queries = map_fd;
	return 0;
}
