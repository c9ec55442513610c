/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The single interface through which facts of a host are read. A source returns bytes and does not interpret them.
 *
 * Exceptions that access the host directly: BPF load, attach and list (lib/trace/attach/attach*.c, holder*.c), whose output is a
 * result and not a fact, and whose events are read through drain_events; user stacks (lib/trace/symbols/ustack*.c), whose
 * files are opened there: a recording keeps the symbolised result.
 */
#ifndef RD_SOURCE_H
#define RD_SOURCE_H

#include <dirent.h>

#include "base/buf.h"
#include "base/text.h"
#include "source/shared/libmnl.h"

/* Bytes of a file or message, owned by the owner of the struct. data[size] is always NUL, so that text can be parsed in
 * place. */
struct rd_bytes {
	uint8_t *data;
	size_t size;
};
void rd_bytes_deinit(struct rd_bytes *bytes);
/* The first `n` bytes are not needed any more: whole pages of them are given back to the system and read as 0 from then on. Only of bytes
 * that a source returned. */
void rd_bytes_release(struct rd_bytes *bytes, size_t n);
#define _cleanup_bytes_ __attribute__((cleanup(rd_bytes_deinit)))
/* A copy, followed by a NUL. Always 0, for callers that return the result. */
int rd_bytes_copy(const void *data, size_t size, struct rd_bytes *ret);
/* Takes what was added to the buffer. -ENOMEM with `err` filled if there was no memory for it. */
int rd_bytes_of_buf(struct rd_buf *buf, const char *object, struct rd_bytes *ret, struct rd_err *err);

/* As the reply to RD_OP_LIST. Always 0, for callers that return the result. */
int rd_texts_pack(const struct rd_texts *names, struct rd_bytes *ret);

static inline void rd_cleanup_dir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}
#define _cleanup_dir_ __attribute__((cleanup(rd_cleanup_dir)))

/* The bytes of one event; valid during the call only. A negative return value ends the draining and is returned to its caller. */
typedef int rd_event_fn(void *arg, const void *data, size_t size);

struct rd_source;
struct rd_mads;
struct rd_mad_walk;

/* Queries to a source. */
enum rd_op {
	/* About a path, which is absolute as on the host ("/sys/class/infiniband"). */
	RD_OP_READ, /* bytes: of the file */
	RD_OP_LIST, /* bytes: the names in the directory, sorted by byte value, without "." and "..", each with its NUL */
	RD_OP_LINK, /* bytes: the target of the link */
	RD_OP_RDEV, /* number: of the device, as in st_rdev; 0 for a regular file */
	RD_OP_INO,  /* number: of the inode; the ID of a cgroup in the kernel */
	RD_OP_MODE, /* number: permission bits, as for chmod */
	RD_OP_PATHS,
	/*
	 * Sends a request to the kernel over netlink and collects the reply. `protocol`: NETLINK_ROUTE, NETLINK_RDMA, NETLINK_GENERIC …
	 * `data`: one message, nlmsg_len == size, NLM_F_REQUEST set, nlmsg_seq and nlmsg_pid 0. Bytes: complete messages with
	 * verified lengths, one after the other, without NLMSG_DONE and acknowledgements and with seq and pid 0; empty if there
	 * were none. A refusal by the kernel (NLMSG_ERROR) is a fact: its -errno. If the kernel aborts a dump, the reply is the
	 * messages received so far, followed by an NLMSG_ERROR with the -errno. A dump during which the
	 * kernel's tables changed is repeated; if that does not help, NLM_F_DUMP_INTR remains in the flags.
	 * -EBADMSG for a malformed reply, -EOPNOTSUPP if there is no netlink (a directory).
	 */
	RD_OP_NETLINK = RD_OP_PATHS,
	/* Between the processes of a guard. */
	RD_OP_OPEN,
	RD_OP_NOW,
};

struct rd_query {
	uint32_t op; /* enum rd_op */
	int32_t protocol;
	uint64_t size;	  /* of the path with its NUL, or of the message */
	const void *data; /* the path or the message */
};

struct rd_reply {
	struct rd_bytes bytes;
	uint64_t number;
};

/* All return 0 (or a count) or -errno with `err` filled; ENOENT and EACCES are facts too. Outputs are written on success only. */
struct rd_source_ops {
	const char *name; /* "live" or "bundle", as CLI.md has it for the JSON key "source" */
	/* Bytes of the reply belong to the caller. The functions below, from rd_read_file to rd_netlink, call it. */
	int (*get)(struct rd_source *src, const struct rd_query *query, struct rd_reply *ret, struct rd_err *err);
	/* See rd_read_again; NULL: as RD_OP_READ. */
	int (*read_again)(struct rd_source *src, const char *path, uint32_t *slot, char *ret, size_t size);
	/* Management datagrams: see source/shared/mad.h, which has the functions to call. NULL: read from the files of a recording. */
	int (*mad_ports)(struct rd_source *src, struct rd_bytes *ret, struct rd_err *err);
	int (*mad_open)(struct rd_source *src, const char *ibdev, unsigned port, struct rd_mads **ret,
			struct rd_err *err);
	/* See rd_drain_events; NULL: there are no events. */
	int (*drain_events)(struct rd_source *src, rd_event_fn *fn, void *arg, struct rd_err *err);
	/* Nanoseconds of CLOCK_REALTIME or CLOCK_MONOTONIC; of a recording: the recorded times. */
	uint64_t (*now)(struct rd_source *src, int clock);
	/* Of a bundle: see rd_source_bundle_next. NULL: there are no samples. */
	int (*next)(struct rd_source *src, struct rd_err *err);
	void (*close)(struct rd_source *src);
};

/* Every implementation starts with this. */
struct rd_source {
	const struct rd_source_ops *ops;
};

/* Each makes a query. rd_stat: RD_OP_RDEV, RD_OP_INO or RD_OP_MODE. */
int rd_read_file(struct rd_source *src, const char *path, struct rd_bytes *ret, struct rd_err *err);
int rd_list_dir(struct rd_source *src, const char *path, struct rd_texts *ret, struct rd_err *err);
int rd_read_link(struct rd_source *src, const char *path, char **ret, struct rd_err *err);
int rd_stat(struct rd_source *src, enum rd_op op, const char *path, uint64_t *ret, struct rd_err *err);
int rd_netlink(struct rd_source *src, int protocol, const void *request, size_t size, struct rd_bytes *ret,
	       struct rd_err *err);

/*
 * Reads a small file that will be read many times, without a path lookup each time. `*slot` is 0 before the
 * first read and then belongs to the source; a caller keeps one per file. `ret` gets up to size - 1 bytes and a NUL. Returns
 * the number of bytes, or -errno: -ENODEV for a removed device, and the next read looks up the path again. `path` may be NULL
 * once there is a slot: then -ESTALE means that the path is required.
 */
int rd_read_again(struct rd_source *src, const char *path, uint32_t *slot, char *ret, size_t size);

/* Calls fn for each event that has arrived; never waits. Returns the number of events. */
int rd_drain_events(struct rd_source *src, rd_event_fn *fn, void *arg, struct rd_err *err);

/* Reads a small text file whose path is made by printf and strips the trailing newline and blanks. Caller frees. */
int rd_read_textf(struct rd_source *src, char **ret, struct rd_err *err, const char *fmt, ...) RD_PRINTF(4, 5);

static inline void rd_source_closep(struct rd_source **src)
{
	if (*src)
		(*src)->ops->close(*src);
}

/* Reads an open file to its end, at most `most` bytes. -EFBIG, -errno. */
int rd_read_fd(int fd, size_t most, struct rd_bytes *ret);
#define RD_FILE_MAX ((size_t)192 << 20)

/* Reads the beginning of a file of /proc or /sys about this process itself, not a fact about the host; adds a NUL. Returns its
 * size; 0: cannot be read. Does not allocate. */
size_t rd_read_own(const char *path, char *ret, size_t size);

/*
 * This host, below `root` ("/" or NULL for the host itself; a directory with copies of sysfs and procfs files for tests).
 * Caller closes it by ops->close.
 */
int rd_source_live_open(const char *root, struct rd_source **ret, struct rd_err *err);

/* Lets drain_events read the BPF ring buffer behind `ringbuf_map_fd` (kept open by the caller). */
int rd_source_live_set_ring(struct rd_source *src, int ringbuf_map_fd, struct rd_err *err);

/* Makes the BPF hash map behind `map_fd` (kept open by the caller; -1: none) readable as RD_SOURCE_QUERIES. -EINVAL: not a live source. */
int rd_source_live_set_queries(struct rd_source *src, int map_fd);

/*
 * A recorded host: a bundle, or a bare tree with sys/ and optionally proc/, at the top or in a single top-level directory. A
 * directory, or a tar of one, plain or compressed by gzip, bzip2 or zstd. Nothing is extracted and no file outside is opened:
 * links are resolved within the tree. Missing files are -ENOENT; recorded errors are returned again.
 * An XML file is read as an NCCL topology: a host that has only RD_SOURCE_NCCL_XML.
 * "-": what rd_standard_input_read (bundle/bundle.h) has read before.
 * -EBADMSG for a damaged or hostile bundle, -EFBIG above the limits; `err` has the object. Caller closes it.
 */
int rd_source_bundle_open(const char *path, struct rd_source **ret, struct rd_err *err);

#define RD_SOURCE_NCCL_XML "/nccl-topo.xml"
/* Maximum size in bytes. The maximum number of functions, accelerators and NVLinks takes 2 MB. */
#define RD_SOURCE_XML_MAX ((size_t)4 << 20)

/*
 * Data of the ethtool ioctl about an interface, as virtual files: "/ethtool/eth0/driver" (struct
 * ethtool_drvinfo), "/ethtool/eth0/strings" (the names of its statistics, ETH_GSTRING_LEN bytes each) and
 * "/ethtool/eth0/stats" (their values, 8 bytes each, in the same order). read_file only; recorded like any file.
 * -EOPNOTSUPP for a driver without them.
 */
#define RD_SOURCE_ETHTOOL "/ethtool"

/*
 * Attributes of a device from libibverbs, as virtual files: "/verbs/mlx5_0", with lines "max_qp=131072" (the names of
 * struct ibv_device_attr), "num_comp_vectors=16", "port1.active_mtu_bytes=4096", "port1.max_mtu_bytes=4096", and, if libmlx5 reports one,
 * "data_direct=/devices/…/0009:01:00.0". read_file only; recorded like any file. -EOPNOTSUPP without libibverbs, -ENODEV if it does
 * not know the device, -ETIMEDOUT if that hangs.
 */
#define RD_SOURCE_VERBS "/verbs"

/*
 * Contents of all BPF hash maps of a name, as virtual files: "/bpf/rdmadiag_qps". For each map a struct rd_source_map, followed by
 * its entries: key and value each. read_file only; recorded like any file. -ENOENT without such a map, -EPERM without CAP_SYS_ADMIN.
 */
#define RD_SOURCE_MAPS "/bpf"
struct rd_source_map {
	uint32_t id;
	uint32_t key_size, value_size;
	uint32_t entries; /* that follow */
	uint32_t code;	  /* positive errno: why there are no more; 0: complete */
};

/* The map of rd_source_live_set_queries, in the same format; -ENOENT if there is none. */
#define RD_SOURCE_QUERIES "/bpf/rdmadiag_query"

/*
 * TCP connections of a process, as virtual files: "/tcp/1234". A line for each remote address of its established connections:
 * "10.0.0.2 3" (address, connections); then, for those beyond a limit, "+12". Without addresses of the host itself: loopback, and
 * local addresses of sockets in its network namespace. read_file only; recorded like any file. -EACCES: as for /proc/PID/fd.
 */
#define RD_SOURCE_TCP "/tcp"

/*
 * Libraries that a process has mapped and that create queue pairs which the kernel does not track, as virtual files: "/libraries/1234",
 * a line for each ("libdoca_verbs.so"); empty if there are none. Others are not named. read_file only; recorded like any file.
 * -EACCES: as for /proc/PID/maps; -ETIMEDOUT if its memory map is locked.
 */
#define RD_SOURCE_LIBS "/libraries"

/*
 * What a process finds of RDMA and what it uses, as virtual files: "/job/1234"; "/job/self" for a process that is started by this one, "/job/host" the
 * same without the environment.
 * A line for each fact; collect/rdma/procs.c has their keys. Of its environment only variables of communication libraries, without secrets; of
 * its mappings only their libraries. Files of its root are opened below that root, and only regular ones; its network namespace is entered. read_file only;
 * recorded like any file. A part that could not be read is "error PART ENAME". -ETIMEDOUT if one of these hangs.
 */
#define RD_SOURCE_JOB "/job"

/*
 * Users and groups, as virtual files: "/user/alice", "/user/1000": the uid, the gid and all gids of the user; "/group/rdma": the gid. From the
 * databases of nsswitch.conf(5); never recorded. -ENOENT: there is no such user; another error: a database could not be read.
 */
#define RD_SOURCE_USER "/user"
#define RD_SOURCE_GROUP "/group"

/*
 * A trace of failed calls that was recorded (collect/kernel/kernel.h): the functions that were known in a sample, the events of that
 * sample, and, in the last one, the summary. Files of recordings only: a live host has none of them.
 */
#define RD_SOURCE_TRACE "/trace-errno"

/* What trace-errno --service leaves for other commands (struct rd_recent_file): a file of the host, replaced as a whole. */
#define RD_SOURCE_RECENT_DIR "/run/rdmadiag"
#define RD_SOURCE_RECENT RD_SOURCE_RECENT_DIR "/trace-errno"

/* Events of queue pairs that a black box kept (collect/rdma/rdma.h). */
#define RD_SOURCE_QP_EVENTS RD_SOURCE_TRACE "/queue-pairs"

/*
 * A source that reads `inner` (which the caller keeps, open as long) and notes the reads that failed without a reply in the sense
 * of rd_could_not_look(), in order: path ("netlink rdma, request 5121" for a netlink request) and errno. No events and no management
 * datagrams. The caller owns `failed`.
 */
struct rd_unread {
	struct rd_source src;
	struct rd_source_ops ops;
	struct rd_source *inner;
	struct rd_errlist failed;
};
void rd_unread_init(struct rd_unread *watch, struct rd_source *inner);

/* Goes to the next sample of a bundle; -ENODATA after the last one (and if it is not a bundle). */
int rd_source_bundle_next(struct rd_source *src, struct rd_err *err);

/*
 * A source that reads `inner` (which the caller keeps, open as long) and records the replies. Its clock stops until
 * rd_source_record_next begins another sample. For the recording see source/record/record.h.
 */
struct rd_source *rd_source_record_open(struct rd_source *inner);
int rd_source_record_next(struct rd_source *src, struct rd_err *err);

/* Adds a file to the current sample, which then is read from there. */
int rd_source_record_file(struct rd_source *src, const char *path, const void *data, size_t size, struct rd_err *err);

/* For walking over netlink messages: the length of the complete message at `at` of `size` bytes; 0: truncated, or an invalid
 * length. */
size_t rd_nlmsg_length(const void *at, size_t size);

/*
 * Decompresses gzip, bzip2, lz4, xz or zstd data (for example kernel modules); other data are copied.
 * `limit` bounds the result. -EFBIG above it, -EBADMSG for damaged data. Runs in this process, so only for files that belong to
 * root as this program does (below /lib/modules), or in a confined process.
 */
int rd_unpack(const struct rd_bytes *in, size_t limit, struct rd_bytes *ret, struct rd_err *err);

#endif
