/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one door through which facts of a host enter. A source hands out bytes and knows nothing of their meaning.
 *
 * Exceptions, which touch the host elsewhere: BPF load, attach and list (lib/trace/attach/attach*.c, holder*.c): what they learn is a
 * result, not a fact, and the events they lead to come through drain_events; user stacks (lib/trace/symbols/ustack*.c), whose
 * files are opened there: their symbolised result is what a recording keeps.
 */
#ifndef RD_SOURCE_H
#define RD_SOURCE_H

#include "base/base.h"
#include "base/err.h"

/* Bytes of a file or message, owned by whoever holds the struct. data[size] is always NUL, so text can be parsed in
 * place. */
struct rd_bytes {
	uint8_t *data;
	size_t size;
};
void rd_bytes_deinit(struct rd_bytes *bytes);
#define _cleanup_bytes_ __attribute__((cleanup(rd_bytes_deinit)))
/* A copy, with a NUL behind it. 0, for those that answer with it. */
int rd_bytes_copy(const void *data, size_t size, struct rd_bytes *ret);

/* Names in a directory, sorted by byte value, without "." and "..". */
struct rd_names {
	char **v;
	size_t n, cap;
};
void rd_names_deinit(struct rd_names *names);
#define _cleanup_names_ __attribute__((cleanup(rd_names_deinit)))
int rd_names_copy(const struct rd_names *from, struct rd_names *ret);

/* One event's bytes; valid during the call only. A negative return ends the draining and is handed on. */
typedef int rd_event_fn(void *arg, const void *data, size_t size);

struct rd_source;
struct rd_mads;
struct rd_mad_walk;

/*
 * Paths are absolute, as on the host ("/sys/class/infiniband"). All return 0 (or a count) or -errno with `err` filled;
 * ENOENT and EACCES are facts too. Outputs are written on success only.
 */
struct rd_source_ops {
	const char *name; /* "live" or "bundle", as CLI.md has it for the JSON key "source" */
	int (*read_file)(struct rd_source *src, const char *path, struct rd_bytes *ret, struct rd_err *err);
	/* See rd_read_again; NULL: as read_file. */
	int (*read_again)(struct rd_source *src, const char *path, uint32_t *slot, char *ret, size_t size);
	int (*list_dir)(struct rd_source *src, const char *path, struct rd_names *ret, struct rd_err *err);
	int (*read_link)(struct rd_source *src, const char *path, char **ret, struct rd_err *err);
	/* Device number of a file, as st_rdev has it (0 for a regular file); -ENOENT if it is not there. */
	int (*stat_rdev)(struct rd_source *src, const char *path, uint64_t *ret, struct rd_err *err);
	/* Inode number: what the kernel calls a cgroup's id. */
	int (*stat_ino)(struct rd_source *src, const char *path, uint64_t *ret, struct rd_err *err);
	/* Permission bits, as chmod has them. */
	int (*stat_mode)(struct rd_source *src, const char *path, uint64_t *ret, struct rd_err *err);
	/*
	 * Asks the kernel over netlink and gathers what it answers. `protocol`: NETLINK_ROUTE, NETLINK_RDMA, NETLINK_GENERIC …
	 * `request`: one message, nlmsg_len == size, NLM_F_REQUEST set, nlmsg_seq and nlmsg_pid 0. `ret`: whole messages, one
	 * behind the other, each length verified, without NLMSG_DONE and acknowledgements and with seq and pid 0; empty
	 * if there were none. What the kernel refuses (NLMSG_ERROR) is a fact: its -errno. Where it breaks off a dump that
	 * had begun, what came is the answer, and an NLMSG_ERROR with the -errno is its last message. A dump during which the
	 * kernel's tables changed is asked for again; where that does not help, NLM_F_DUMP_INTR is left in the flags.
	 * -EBADMSG for a malformed answer, -EOPNOTSUPP where there is no netlink (a folder).
	 */
	int (*netlink)(struct rd_source *src, int protocol, const void *request, size_t size, struct rd_bytes *ret,
		       struct rd_err *err);
	/* Management datagrams: see source/shared/mad.h, which has the functions to call. NULL: as files say, which recordings have. */
	int (*mad_ports)(struct rd_source *src, struct rd_bytes *ret, struct rd_err *err);
	int (*mad_open)(struct rd_source *src, const char *ibdev, unsigned port, struct rd_mads **ret,
			struct rd_err *err);
	/* Calls fn for each event that has arrived; never waits. Returns how many. */
	int (*drain_events)(struct rd_source *src, rd_event_fn *fn, void *arg, struct rd_err *err);
	/* Nanoseconds of CLOCK_REALTIME or CLOCK_MONOTONIC; of a recording: as they were. */
	uint64_t (*now)(struct rd_source *src, int clock);
	/* Of a bundle: see rd_source_bundle_next. NULL: there are no samples. */
	int (*next)(struct rd_source *src, struct rd_err *err);
	void (*close)(struct rd_source *src);
};

/* Every implementation starts with this. */
struct rd_source {
	const struct rd_source_ops *ops;
};

static inline int rd_read_file(struct rd_source *src, const char *path, struct rd_bytes *ret, struct rd_err *err)
{
	return src->ops->read_file(src, path, ret, err);
}

/*
 * Reads a small file that is going to be read many times, without looking its path up each time. `*slot` is 0 before the
 * first read and then the source's; a caller keeps one for each file. `ret` gets up to size - 1 bytes and a NUL. Returns
 * how many, or -errno: of a device that has gone -ENODEV, and the next read looks for the path again. `path` may be NULL
 * once there is a slot: -ESTALE then asks for it.
 */
int rd_read_again(struct rd_source *src, const char *path, uint32_t *slot, char *ret, size_t size);

static inline int rd_list_dir(struct rd_source *src, const char *path, struct rd_names *ret, struct rd_err *err)
{
	return src->ops->list_dir(src, path, ret, err);
}

static inline int rd_read_link(struct rd_source *src, const char *path, char **ret, struct rd_err *err)
{
	return src->ops->read_link(src, path, ret, err);
}

static inline int rd_netlink(struct rd_source *src, int protocol, const void *request, size_t size,
			     struct rd_bytes *ret, struct rd_err *err)
{
	return src->ops->netlink(src, protocol, request, size, ret, err);
}

/* Reads a small text file whose path is made by printf and strips the trailing newline and blanks. Caller frees. */
int rd_read_textf(struct rd_source *src, char **ret, struct rd_err *err, const char *fmt, ...) RD_PRINTF(4, 5);

static inline void rd_source_closep(struct rd_source **src)
{
	if (*src)
		(*src)->ops->close(*src);
}

/* What has been opened, to its end: `most` bytes. -EFBIG, -errno. */
int rd_read_fd(int fd, size_t most, struct rd_bytes *ret);
#define RD_FILE_MAX ((size_t)256 << 20)

/* The beginning of a file of /proc or /sys that is about ourselves and no fact of the host; it ends in NUL. Returns its size: 0,
 * where it cannot be read. Needs no memory. */
size_t rd_read_own(const char *path, char *ret, size_t size);

/*
 * This host, seen below `root` ("/" or NULL for the host itself; a folder for tests that lay out sysfs and procfs files
 * of their own). Caller closes it by ops->close.
 */
int rd_source_live_open(const char *root, struct rd_source **ret, struct rd_err *err);

/* Lets drain_events read the BPF ring buffer behind `ringbuf_map_fd` (kept open by the caller). */
int rd_source_live_set_ring(struct rd_source *src, int ringbuf_map_fd, struct rd_err *err);

/*
 * A recorded host: a bundle, or a bare tree that holds sys/ and perhaps proc/, below a single top folder or not. A
 * directory, or a tar of one, plain or packed by gzip, bzip2 or zstd. Nothing is extracted and nothing outside is opened:
 * links are resolved within the tree. What is not in there is -ENOENT; what was denied when it was recorded is so again.
 * An XML file is taken for an NCCL topology: a host that has RD_SOURCE_NCCL_XML and nothing else.
 * -EBADMSG for a damaged or hostile one, -EFBIG for one above the limits; `err` says where. Caller closes it.
 */
int rd_source_bundle_open(const char *path, struct rd_source **ret, struct rd_err *err);

#define RD_SOURCE_NCCL_XML "/nccl-topo.xml"
/* Bytes of one. As many functions, accelerators and NVLinks as are read take 2 MB. */
#define RD_SOURCE_XML_MAX ((size_t)4 << 20)

/*
 * What the ethtool ioctl says of an interface, as files that no host has: "/ethtool/eth0/driver" (struct
 * ethtool_drvinfo), "/ethtool/eth0/strings" (the names of its statistics, ETH_GSTRING_LEN bytes each) and
 * "/ethtool/eth0/stats" (their values, 8 bytes each, in the same order). read_file only; recorded like any file.
 * -EOPNOTSUPP for a driver that has none.
 */
#define RD_SOURCE_ETHTOOL "/ethtool"

/*
 * What libibverbs says of a device, as files that no host has: "/verbs/mlx5_0", of lines "max_qp=131072" (the names of
 * struct ibv_device_attr), "port1.active_mtu_bytes=4096", "port1.max_mtu_bytes=4096", and, where libmlx5 names one,
 * "data_direct=/devices/…/0009:01:00.0". read_file only; recorded like any file. -EOPNOTSUPP without libibverbs, -ENODEV where it does not know the device, -ETIMEDOUT where that hangs.
 */
#define RD_SOURCE_VERBS "/verbs"

/* Goes on to the next sample of a bundle that has several; -ENODATA behind the last one (and if it is no bundle). */
int rd_source_bundle_next(struct rd_source *src, struct rd_err *err);

/*
 * A source that asks `inner` (which stays the caller's, and open for as long) and keeps what it answered. Its clock stands
 * still until rd_source_record_next begins another sample. What becomes of it: source/record/record.h.
 */
int rd_source_record_open(struct rd_source *inner, struct rd_source **ret, struct rd_err *err);
int rd_source_record_next(struct rd_source *src, struct rd_err *err);

/* Whether and where a walk over netlink messages is sound: the length of the whole message at `at` of `size` bytes, 0
 * for one that is cut short or lies about its length. */
size_t rd_nlmsg_length(const void *at, size_t size);

/*
 * Unpacks bytes compressed with gzip, bzip2, xz or zstd (kernel modules are); bytes in no such format are copied.
 * `limit` bounds the result. -EFBIG above it, -EBADMSG for damaged data. Works in this process, so only for files that are
 * root's as this program is (below /lib/modules), or in one that is confined.
 */
int rd_unpack(const struct rd_bytes *in, size_t limit, struct rd_bytes *ret, struct rd_err *err);

#endif
