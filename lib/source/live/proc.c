// SPDX-License-Identifier: GPL-2.0-or-later
/* What processes have: TCP connections, libraries, and what they find of RDMA; users and their groups. */
#include "source/live/live.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <endian.h>
#include <fcntl.h>
#include <grp.h>
#include <ifaddrs.h>
#include <libmnl/libmnl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/openat2.h>
#include <linux/posix_acl_xattr.h>
#include <linux/sock_diag.h>
#include <pwd.h>
#include <rdma/rdma_netlink.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include "confine/confine.h"
#include "source/opener/child.h"
#include "source/shared/netlink.h"
#include "source/shared/redaction.h"

#define FILES_MAX (1u << 20)	     /* the default of fs.nr_open */
#define PART_MAX ((size_t)128 << 20) /* 800,000 sockets; of /proc/PID/maps: the default of vm.max_map_count is 65530 */
#define ADDRESSES_MAX 1024
#define ESTABLISHED 1

void rd_proc_tcp_deinit(struct rd_proc_tcp *tcp)
{
	RD_FREE(tcp->inodes, tcp->local, tcp->remote);
	*tcp = (struct rd_proc_tcp){ 0 };
}

static int compare_addresses(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct rd_tcp_address));
}

/* The process that a path names in the directory `dir`; NULL: none. */
static const char *process_of(const char *path, const char *dir)
{
	const char *process = path + strlen(dir);
	uint64_t pid;

	return *process && rd_parse_uint(++process, RD_DECIMAL, UINT32_MAX, &pid) == 0 ? process : NULL;
}

/* A file of the process; -errno. */
static int read_part(const char *process, const char *part, struct rd_bytes *ret)
{
	_cleanup_close_ int fd = -1;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/%s", process, part);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : rd_read_fd(fd, PART_MAX, ret);
}

static void add_open(struct rd_proc_job *job, const char *target);

/* The open files of a process: sockets go to `tcp`, others to `job`, if that is not NULL; `n`: how many there are. -errno; the first of those
 * after which the rest is read all the same. */
static int list_files(struct rd_proc_tcp *tcp, const char *process, struct rd_proc_job *job, unsigned *n)
{
	_cleanup_dir_ DIR *dir = NULL;
	const struct dirent *entry;
	char path[64], target[256];
	uint64_t inode;
	int r = 0;

	snprintf(path, sizeof(path), "/proc/%s/fd", process);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while ((errno = 0, entry = readdir(dir))) {
		const char *at; /* "socket:[12345]" */
		ssize_t size;

		if (entry->d_name[0] == '.')
			continue;
		if (*n == FILES_MAX)
			return -E2BIG;
		++*n;
		size = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);
		if (size < 0 && errno != ENOENT) /* closed meanwhile */
			r = r ? r : -errno;
		target[size > 0 ? size : 0] = '\0';
		at = target + strlen("socket:[");
		if (strncmp(target, "socket:[", strlen("socket:[")) == 0 &&
		    rd_take_uint(&at, RD_DECIMAL, UINT64_MAX, &inode) == 0)
			*RD_ADD(tcp->inodes, tcp->n_inodes, tcp->cap_inodes) = inode;
		else if (job)
			add_open(job, target);
	}
	r = r ? r : -errno;
	rd_sort(tcp->inodes, tcp->n_inodes, sizeof(*tcp->inodes), rd_compare_u64);
	return r;
}

/* " 0200A8C0:1F90": 8 or 32 digits, each word in host byte order, and a port. */
static int take_address(const char **at, struct rd_tcp_address *ret)
{
	size_t digits;
	uint64_t word;

	*at += strspn(*at, " ");
	digits = strcspn(*at, ": \n");
	if (digits != 8 && digits != 32)
		return -EINVAL;
	*ret = (struct rd_tcp_address){ 0 };
	if (digits == 8)
		memset(ret->ip + 10, 0xff, 2);
	for (size_t i = digits == 8 ? 12 : 0; i < 16; i += 4) {
		uint32_t part;

		if (rd_take_hex(at, 8, &word) < 0)
			return -EINVAL;
		part = (uint32_t)word;
		memcpy(ret->ip + i, &part, sizeof(part));
	}
	*at += strcspn(*at, " \n");
	return 0;
}

static const char *skip_columns(const char *at, int n)
{
	while (n--) {
		at += strspn(at, " ");
		at += strcspn(at, " \n");
	}
	return at + strspn(at, " ");
}

/* sl local_address rem_address st tx:rx tr:tm retrnsmt uid timeout inode */
static void take_line(struct rd_proc_tcp *tcp, const char *at)
{
	struct rd_tcp_address local, remote;
	uint64_t state, inode;

	at = skip_columns(at, 1);
	if (take_address(&at, &local) < 0 || take_address(&at, &remote) < 0)
		return;
	at += strspn(at, " ");
	if (rd_take_hex(&at, 2, &state) < 0)
		return;
	at = skip_columns(at, 5);
	if (rd_take_uint(&at, RD_DECIMAL, UINT64_MAX, &inode) < 0)
		return;
	*RD_ADD(tcp->local, tcp->n_local, tcp->cap_local) = local;
	if (state == ESTABLISHED && rd_find_u64(tcp->inodes, tcp->n_inodes, sizeof(inode), inode))
		*RD_ADD(tcp->remote, tcp->n_remote, tcp->cap_remote) = remote;
}

void rd_proc_tcp_take(struct rd_proc_tcp *tcp, const char *text)
{
	const char *line;
	size_t size;

	while (rd_next_line(&text, &line, &size))
		take_line(tcp, line);
}

static bool is_v4(const uint8_t *ip)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	return memcmp(ip, mapped, sizeof(mapped)) == 0;
}

/* A host connects to its own addresses, too. */
static bool is_local(const struct rd_proc_tcp *tcp, const struct rd_tcp_address *address)
{
	static const struct rd_tcp_address loopback = { { [15] = 1 } };

	return (is_v4(address->ip) && address->ip[12] == 127) || compare_addresses(address, &loopback) == 0 ||
	       bsearch(address, tcp->local, tcp->n_local, sizeof(*address), compare_addresses);
}

static void print_address(struct rd_buf *out, int family, const void *ip)
{
	char text[INET6_ADDRSTRLEN] = "";

	inet_ntop(family, ip, text, sizeof(text));
	rd_buf_str(out, text);
}

void rd_proc_tcp_print(struct rd_proc_tcp *tcp, struct rd_buf *out)
{
	size_t lines = 0, first = 0;

	rd_sort(tcp->local, tcp->n_local, sizeof(*tcp->local), compare_addresses);
	rd_sort(tcp->remote, tcp->n_remote, sizeof(*tcp->remote), compare_addresses);
	rd_buf_str(out, "");
	for (size_t i = 1; i <= tcp->n_remote; i++) {
		const uint8_t *ip = tcp->remote[first].ip;

		if (i < tcp->n_remote && compare_addresses(&tcp->remote[i], ip) == 0)
			continue;
		if (!is_local(tcp, &tcp->remote[first]) && ++lines <= ADDRESSES_MAX) {
			print_address(out, is_v4(ip) ? AF_INET : AF_INET6, is_v4(ip) ? ip + 12 : ip);
			rd_buf_printf(out, " %zu\n", i - first);
		}
		first = i;
	}
	if (lines > ADDRESSES_MAX)
		rd_buf_printf(out, "+%zu\n", lines - ADDRESSES_MAX);
}

/* Of the network namespace of the process. A kernel without IPv6 has no tcp6. */
static int read_table(struct rd_proc_tcp *tcp, const char *process, const char *name)
{
	_cleanup_bytes_ struct rd_bytes text = { 0 };
	int r = read_part(process, name, &text);

	if (!r)
		rd_proc_tcp_take(tcp, (const char *)text.data);
	return r == -ENOENT ? 0 : r;
}

int rd_proc_tcp_read(const char *path, struct rd_bytes *ret, struct rd_err *err)
{
	const char *process = process_of(path, RD_SOURCE_TCP);
	_cleanup_(rd_proc_tcp_deinit) struct rd_proc_tcp tcp = { 0 };
	struct rd_buf out = RD_BUF_CHECKED;
	unsigned n = 0;
	int r;

	if (!process)
		return rd_err_set(err, ENOENT, path, "cannot read");
	r = list_files(&tcp, process, NULL, &n);
	if (!r && tcp.n_inodes)
		r = RD_FIRST(read_table(&tcp, process, "net/tcp"), read_table(&tcp, process, "net/tcp6"));
	if (r < 0)
		return rd_err_set(err, -r, path, "cannot read the TCP connections of the process");
	rd_proc_tcp_print(&tcp, &out);
	return rd_bytes_of_buf(&out, path, ret, err);
}

#define LIBS_MS 1000
#define LIBS_SIZE 4096

/*
 * Beginnings of the file names of libraries that create queue pairs through DEVX: UCX's DC transport and its GPU-initiated one, DOCA,
 * the GPU-initiated transports of NVSHMEM and NCCL. What is part of another library (NCCL's built-in GIN) has no name of its own.
 */
static const char *const libraries[] = {
	"libdoca_gpunetio.so", "libdoca_rdma.so", "libdoca_verbs.so",
	"libnccl-gin",	       "libuct_ib_mlx5",  "nvshmem_transport_ibgda.so",
};

void rd_proc_libs_print(const char *maps, struct rd_buf *out)
{
	bool found[RD_ARRAY_SIZE(libraries)] = { 0 };
	const char *line;
	size_t size;

	while (rd_next_line(&maps, &line, &size)) {
		/* The name of the file that the line ends with. */
		const char *slash = memrchr(line, '/', size);

		for (size_t i = 0; slash && i < RD_ARRAY_SIZE(libraries); i++)
			found[i] |= rd_starts_with(slash + 1, libraries[i]);
	}
	rd_buf_str(out, "");
	for (size_t i = 0; i < RD_ARRAY_SIZE(libraries); i++)
		if (found[i])
			rd_buf_printf(out, "%s\n", libraries[i]);
}

static int read_maps(void *arg, struct rd_bytes *ret, struct rd_err *err)
{
	const char *path = arg;
	_cleanup_bytes_ struct rd_bytes text = { 0 };
	struct rd_buf out = RD_BUF_CHECKED;
	int r = read_part(process_of(path, RD_SOURCE_LIBS), "maps", &text);

	if (r < 0)
		return rd_err_set(err, -r, path, "cannot read");
	rd_proc_libs_print((const char *)text.data, &out);
	return rd_bytes_of_buf(&out, path, ret, err);
}

int rd_proc_libs_read(const char *path, struct rd_bytes *ret, struct rd_err *err)
{
	if (!process_of(path, RD_SOURCE_LIBS))
		return rd_err_set(err, ENOENT, path, "cannot read");
	return rd_child_run(path, read_maps, (void *)path, LIBS_MS, LIBS_SIZE, ret, err);
}

#define LIMIT_MS 10000 /* a job may leave us little of the processors */
#define LIMIT_SIZE ((size_t)1 << 20)
#define LIBRARY_MAX ((size_t)4 << 20) /* the largest provider has 500 KB */
#define LINES_MAX 256		      /* variables, libraries, kinds of files */
#define VALUE_MAX 1024		      /* bytes of a variable */
#define PROVIDERS_MAX 64

/* Beginnings of the file names of libraries that carry traffic, or select what does. */
static const char *const transports[] = {
	"libibverbs", "librdmacm",   "libmlx5",	  "libefa",	"libnccl",     "librccl",	  "libucp.so",
	"libuct",     "libucs.so",   "libfabric", "libmpi.so",	"libmpi_",     "libopen-pal",	  "libnvshmem",
	"nvshmem_",   "libgloo",     "libnixl",	  "libplugin_", "libmooncake", "transfer_engine", "libpsm",
	"libmori",    "librocshmem", "libuccl",	  "libdoca_",	"libgdrapi",   "libaws-ofi",
};
/* Beginnings of the names of what they share between processes of one host, in /dev/shm. */
static const char *const segments[] = { "nccl-", "rccl-", "ucx_", "vader_", "sm_segment", "psm", "mpich", "Intel_MPI" };

static const char *const provider_dirs[] = {
	"usr/lib64/libibverbs",
	"usr/lib/x86_64-linux-gnu/libibverbs",
	"usr/lib/aarch64-linux-gnu/libibverbs",
	"usr/lib/powerpc64le-linux-gnu/libibverbs",
	"usr/lib/libibverbs",
	"usr/local/lib/libibverbs",
};

/* The bytes of a provider, to be parsed when privileges are dropped. */
struct provider {
	char name[64];
	unsigned private_abi; /* 0: unknown */
	struct rd_bytes bytes;
};

static const char *errno_word(int code)
{
	return rd_errno_name(code) ?: "EIO";
}

static void set_error(struct rd_proc_job *job, const char *part, int code)
{
	rd_buf_printf(&job->out, "error %s %s\n", part, errno_word(code));
}

/* A line whose text is foreign: without newlines, and bounded. */
static void add_line(struct rd_proc_job *job, const char *key, const char *text, size_t size)
{
	size = size > VALUE_MAX ? VALUE_MAX : size;
	rd_buf_printf(&job->out, "%s ", key);
	for (size_t i = 0; i < size; i++)
		rd_buf_add(&job->out, text[i] == '\n' ? " " : &text[i], 1);
	rd_buf_str(&job->out, "\n");
}

/* -errno or a descriptor of what is below the root of the process, and of nothing else. */
static int open_below(const struct rd_proc_job *job, const char *path, int flags)
{
	struct open_how how = { .flags = (uint64_t)flags | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	int fd = (int)syscall(SYS_openat2, job->root, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

static int begins_with_one_of(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (rd_starts_with(name, names[i]))
			return (int)i;
	return -1;
}

void rd_proc_job_maps(struct rd_proc_job *job, const char *text)
{
	const char *last = "", *line;
	size_t last_size = 0, lines = 0, size;

	while (rd_next_line(&text, &line, &size)) {
		const char *path = memchr(line, '/', size),
			   *name = path ? memrchr(path, '/', size - (size_t)(path - line)) : NULL;
		size_t length = path ? size - (size_t)(path - line) : 0;
		int kind = name ? begins_with_one_of(name + 1, segments, RD_ARRAY_SIZE(segments)) : -1;

		if (path && lines < LINES_MAX && (length != last_size || memcmp(path, last, length) != 0)) {
			last = path;
			last_size = length;
			if (strncmp(path, "/dev/shm/", 9) == 0 && kind >= 0)
				rd_buf_printf(&job->out, "segment %s\n", segments[kind]), lines++;
			else if (begins_with_one_of(name + 1, transports, RD_ARRAY_SIZE(transports)) >= 0 ||
				 memmem(name, size - (size_t)(name - line), "-rdmav", 6))
				add_line(job, "lib", path, length), lines++;
		}
	}
}

/* A file of the process, or the reason why it cannot be read. */
static bool take_part(struct rd_proc_job *job, const char *part, struct rd_bytes *ret)
{
	int r = read_part(job->process, part, ret);

	if (r < 0)
		set_error(job, part, -r);
	return r >= 0;
}

/* Variables of communication libraries only, without secrets. */
static void add_environment(struct rd_proc_job *job)
{
	_cleanup_bytes_ struct rd_bytes text = { 0 };
	size_t lines = 0, n;

	if (!take_part(job, "environ", &text))
		return;
	for (size_t at = 0; at < text.size && lines < LINES_MAX; at += n + 1) {
		const char *entry = (const char *)text.data + at;

		n = strnlen(entry, text.size - at);
		if (rd_scrub_keeps_of_job(entry, n) && memchr(entry, '=', n)) {
			add_line(job, "env", entry, n);
			lines++;
		}
	}
	if (lines == LINES_MAX)
		set_error(job, "environ", E2BIG);
}

/* "nvidia0" and what CUDA opens besides, "kfd", "renderD128", "accel0": names of device files of accelerators. */
static bool is_accelerator(const char *name)
{
	static const char *const numbered[] = { "nvidia", "renderD", "accel", "hl" };
	int kind = begins_with_one_of(name, numbered, RD_ARRAY_SIZE(numbered));

	return (kind >= 0 && isdigit((unsigned char)name[strlen(numbered[kind])])) || strcmp(name, "nvidiactl") == 0 ||
	       strcmp(name, "nvidia-uvm") == 0 || strcmp(name, "kfd") == 0;
}

/* "/dev/infiniband/uverbs0", "/dev/nvidia0": as it is seen from its root. */
static void add_open(struct rd_proc_job *job, const char *target)
{
	const char *name = strrchr(target, '/');

	if (name &&
	    (strstr(target, "/infiniband/") || (strncmp(target, "/dev/", 5) == 0 && is_accelerator(name + 1))) &&
	    job->out.len < LIMIT_SIZE / 2)
		add_line(job, "open", name + 1, strlen(name + 1));
}

/* " acl=1.6.4294967295,2.6.1000": tag, permissions and id of each entry of an access list, as linux/posix_acl_xattr.h has them. */
static void add_access_list(struct rd_proc_job *job, const char *path)
{
	struct {
		uint32_t version;
		struct posix_acl_xattr_entry v[128];
	} list;
	ssize_t size = getxattr(path, "system.posix_acl_access", &list, sizeof(list));

	if (size > 0 || (size < 0 && errno == ERANGE))
		rd_buf_str(&job->out, " acl");
	for (size_t i = 0; size > 4 && i < ((size_t)size - 4) / sizeof(*list.v); i++)
		rd_buf_printf(&job->out, "%c%u.%u.%u", i ? ',' : '=', le16toh(list.v[i].e_tag),
			      le16toh(list.v[i].e_perm), le32toh(list.v[i].e_id));
}

/* "dev uverbs0 231:192 0666 0 0": number, mode, owner, group. Nothing is opened. */
static void add_device(struct rd_proc_job *job, const char *dir, const char *name)
{
	_cleanup_close_ int fd = -1;
	char path[300], own[64];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open_below(job, path, O_PATH);
	snprintf(own, sizeof(own), "/proc/self/fd/%d", fd);
	if (fd < 0 || fstat(fd, &st) < 0) {
		rd_buf_printf(&job->out, "dev %s %s\n", name, errno_word(fd < 0 ? -fd : errno));
		return;
	}
	rd_buf_printf(&job->out, "dev %s %u:%u %04o %u %u", name, S_ISCHR(st.st_mode) ? major(st.st_rdev) : 0,
		      S_ISCHR(st.st_mode) ? minor(st.st_rdev) : 0, st.st_mode & 07777, st.st_uid, st.st_gid);
	add_access_list(job, own);
	rd_buf_str(&job->out, "\n");
}

static void add_devices(struct rd_proc_job *job)
{
	_cleanup_dir_ DIR *dir = opendir("/sys/class/infiniband_verbs");
	const struct dirent *entry;
	size_t n = 0;

	while (dir && (entry = readdir(dir)) && n++ < 4096)
		if (strncmp(entry->d_name, "uverbs", 6) == 0)
			add_device(job, "dev/infiniband", entry->d_name);
	add_device(job, "dev/infiniband", "rdma_cm");
}

/* Those that are in its root; the one that says that they were looked for comes last. */
static void add_accelerators(struct rd_proc_job *job)
{
	static const char *const dirs[] = { "dev/dri", "dev/accel", "dev" };
	size_t n = 0;
	int fd = -1;

	for (size_t d = 0; d < RD_ARRAY_SIZE(dirs); d++) {
		const struct dirent *entry;
		_cleanup_dir_ DIR *dir = NULL;

		fd = open_below(job, dirs[d], O_RDONLY | O_DIRECTORY);
		dir = fd < 0 ? NULL : fdopendir(fd);
		while (dir && (entry = readdir(dir)))
			if (is_accelerator(entry->d_name) && n++ < LINES_MAX)
				add_device(job, dirs[d], entry->d_name);
	}
	if (fd >= 0)
		add_device(job, "dev", "nvidiactl");
}

static void add_shm(struct rd_proc_job *job)
{
	_cleanup_close_ int fd = open_below(job, "dev/shm", O_PATH);
	struct statfs fs;

	if (fd < 0 || fstatfs(fd, &fs) < 0)
		return set_error(job, "shm", fd < 0 ? -fd : errno);
	rd_buf_printf(&job->out, "shm %llu %llu\n", (unsigned long long)fs.f_blocks * (unsigned long long)fs.f_bsize,
		      (unsigned long long)fs.f_bavail * (unsigned long long)fs.f_bsize);
}

/* Only of a regular file: opening a device or a FIFO has effects. */
static int read_below(const struct rd_proc_job *job, const char *path, struct rd_bytes *ret)
{
	_cleanup_close_ int at = open_below(job, path, O_PATH), fd = -1;
	struct stat st;
	char own[64];

	if (at < 0 || fstat(at, &st) < 0)
		return at < 0 ? at : -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	snprintf(own, sizeof(own), "/proc/self/fd/%d", at);
	fd = open(own, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? -errno : rd_read_fd(fd, LIBRARY_MAX, ret);
}

/* "libmlx5-rdmav34.so": mlx5. */
static void read_provider(const struct rd_proc_job *job, const char *dir, const char *file, struct provider *ret)
{
	size_t n = strncmp(file, "lib", 3) == 0 ? strcspn(file + 3, "-.") : 0;
	const char *abi = strstr(file, "-rdmav") + 6;
	char path[512];
	uint64_t value;

	if (n && n < sizeof(ret->name))
		memcpy(ret->name, file + 3, n);
	if (rd_take_uint(&abi, RD_DECIMAL, UINT32_MAX, &value) == 0)
		ret->private_abi = (unsigned)value;
	snprintf(path, sizeof(path), "%s/%s", dir, file);
	read_below(job, path, &ret->bytes);
}

/* The files in the directories that libibverbs searches; returns how many. */
static size_t read_providers(struct rd_proc_job *job, struct provider *ret)
{
	size_t n = 0;

	for (size_t d = 0; d < RD_ARRAY_SIZE(provider_dirs); d++) {
		_cleanup_close_ int fd = open_below(job, provider_dirs[d], O_RDONLY | O_DIRECTORY);
		_cleanup_dir_ DIR *dir = fd < 0 ? NULL : fdopendir(fd);
		const struct dirent *entry;

		if (dir)
			RD_TAKE_FD(fd);
		while (dir && (entry = readdir(dir)) && n < PROVIDERS_MAX)
			if (strstr(entry->d_name, "-rdmav"))
				read_provider(job, provider_dirs[d], entry->d_name, &ret[n++]);
	}
	return n;
}

static void add_providers(struct rd_proc_job *job, struct provider *providers, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct provider *p = &providers[i];
		uint32_t min, max;

		if (!*p->name)
			continue;
		rd_buf_part(&job->out, "provider ", p->name);
		if (rd_provider_abi(p->bytes.data, p->bytes.size, p->name, &min, &max))
			rd_buf_printf(&job->out, " %u %u", min, max);
		else
			rd_buf_str(&job->out, " - -");
		rd_buf_printf(&job->out, p->private_abi ? " %u\n" : "\n", p->private_abi);
		rd_bytes_deinit(&p->bytes);
	}
	rd_buf_str(&job->out, "providers\n");
}

#define SOCKETS_MAX 4096
#define STATES (1u << 1 | 1u << 8) /* TCP_ESTABLISHED and TCP_CLOSE_WAIT of the kernel's net/tcp_states.h */
/* Of struct tcp_info (linux/tcp.h), since Linux 4.1. */
#define BYTES_ACKED 120
#define BYTES_RECEIVED 128

/* The attribute of this type behind `offset` bytes of the payload; NULL: none. */
static const struct nlattr *find_attribute(const struct nlmsghdr *head, size_t offset, uint16_t type)
{
	const char *end = (const char *)head + head->nlmsg_len;
	const struct nlattr *attr = (const void *)((const char *)head + NLMSG_HDRLEN + NLMSG_ALIGN(offset));

	for (; mnl_attr_ok(attr, (int)(end - (const char *)attr)); attr = mnl_attr_next(attr))
		if (mnl_attr_get_type(attr) == type)
			return attr;
	return NULL;
}

static unsigned long long bytes_at(const struct nlattr *info, size_t at)
{
	uint64_t value = 0;

	if (info && mnl_attr_get_payload_len(info) >= at + sizeof(value))
		memcpy(&value, (const char *)mnl_attr_get_payload(info) + at, sizeof(value));
	return value;
}

/* "tcp REMOTE SENT RECEIVED" for a socket of the process. */
static void add_connection(struct rd_proc_job *job, const struct nlmsghdr *head)
{
	const struct inet_diag_msg *msg = (const void *)((const char *)head + NLMSG_HDRLEN);
	const struct nlattr *info;

	if (head->nlmsg_type != SOCK_DIAG_BY_FAMILY || head->nlmsg_len < NLMSG_HDRLEN + sizeof(*msg) ||
	    !rd_find_u64(job->sockets.inodes, job->sockets.n_inodes, sizeof(uint64_t), msg->idiag_inode))
		return;
	info = find_attribute(head, sizeof(*msg), INET_DIAG_INFO);
	if (++job->n_tcp > SOCKETS_MAX)
		return;
	rd_buf_str(&job->out, "tcp ");
	print_address(&job->out, msg->idiag_family == AF_INET6 ? AF_INET6 : AF_INET, msg->id.idiag_dst);
	rd_buf_printf(&job->out, " %llu %llu\n", bytes_at(info, BYTES_ACKED), bytes_at(info, BYTES_RECEIVED));
}

/* In exclusive mode, those of its namespace. */
static void add_rdma(struct rd_proc_job *job, const struct nlmsghdr *head)
{
	const struct nlattr *attr = find_attribute(head, 0, RDMA_NLDEV_ATTR_DEV_NAME);

	if (attr && mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) == 0)
		rd_buf_printf(&job->out, "rdma %.64s\n", mnl_attr_get_str(attr));
}

/* Requests a dump, and takes each message of the reply. */
static void dump(struct rd_proc_job *job, int protocol, struct nlmsghdr *request, const char *part,
		 void (*take)(struct rd_proc_job *job, const struct nlmsghdr *head))
{
	_cleanup_(rd_nlsockets_deinit) struct rd_nlsockets sockets = { 0 };
	_cleanup_bytes_ struct rd_bytes reply = { 0 };
	int r = rd_nlsockets_ask(&sockets, protocol, request, request->nlmsg_len, &reply, NULL);

	if (r < 0)
		set_error(job, part, -r);
	for (size_t at = 0, n; at < reply.size && (n = rd_nlmsg_length(reply.data + at, reply.size - at)); at += n)
		take(job, (const struct nlmsghdr *)(reply.data + at));
}

static void dump_sockets(struct rd_proc_job *job, uint8_t family)
{
	struct {
		struct nlmsghdr head;
		struct inet_diag_req_v2 req;
	} request = { { sizeof(request), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, 0, 0 },
		      { .sdiag_family = family,
			.sdiag_protocol = IPPROTO_TCP,
			.idiag_ext = 1u << (INET_DIAG_INFO - 1),
			.idiag_states = STATES } };

	dump(job, NETLINK_SOCK_DIAG, &request.head, "tcp", add_connection);
	if (job->n_tcp > SOCKETS_MAX)
		set_error(job, "tcp", E2BIG);
}

static void add_addresses(struct rd_proc_job *job)
{
	struct ifaddrs *list;
	unsigned n = 0;

	if (getifaddrs(&list) < 0)
		return set_error(job, "addr", errno);
	for (const struct ifaddrs *at = list; at && n < SOCKETS_MAX; at = at->ifa_next) {
		int family = at->ifa_addr ? at->ifa_addr->sa_family : AF_UNSPEC;
		const void *address = at->ifa_addr;

		if (family != AF_INET && family != AF_INET6)
			continue;
		rd_buf_str(&job->out, "addr ");
		print_address(&job->out, family,
			      family == AF_INET ? (const void *)&((const struct sockaddr_in *)address)->sin_addr :
						  &((const struct sockaddr_in6 *)address)->sin6_addr);
		rd_buf_str(&job->out, "\n");
		n++;
	}
	freeifaddrs(list);
	if (n == SOCKETS_MAX)
		set_error(job, "addr", E2BIG);
}

/* "other net": in another namespace than this process. 1, 0; -1: unknown. */
static int is_elsewhere(struct rd_proc_job *job, const char *kind)
{
	struct stat own, other;
	char path[64], self[64];

	snprintf(path, sizeof(path), "/proc/%s/ns/%s", job->process, kind);
	snprintf(self, sizeof(self), "/proc/self/ns/%s", kind);
	if (stat(path, &other) < 0 || stat(self, &own) < 0) {
		set_error(job, kind, errno);
		return -1;
	}
	if (own.st_ino != other.st_ino)
		rd_buf_printf(&job->out, "other %s\n", kind);
	return own.st_ino != other.st_ino;
}

static void add_network(struct rd_proc_job *job)
{
	struct nlmsghdr devices = { sizeof(devices), RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET),
				    NLM_F_REQUEST | NLM_F_DUMP, 0, 0 };
	_cleanup_close_ int fd = -1;
	char path[64];
	int elsewhere = is_elsewhere(job, "net");

	is_elsewhere(job, "mnt");
	is_elsewhere(job, "user");
	snprintf(path, sizeof(path), "/proc/%s/ns/net", job->process);
	if (elsewhere > 0 && ((fd = open(path, O_RDONLY | O_CLOEXEC)) < 0 || setns(fd, CLONE_NEWNET) < 0)) {
		set_error(job, "net", errno);
		return;
	}
	add_addresses(job);
	if (rd_libmnl_load("netlink", NULL) < 0)
		return set_error(job, "net", ELIBACC);
	dump_sockets(job, AF_INET);
	dump_sockets(job, AF_INET6);
	dump(job, NETLINK_RDMA, &devices, "rdma", add_rdma);
}

/* What NCCL takes from this file where the environment lacks it. */
static void add_settings(struct rd_proc_job *job)
{
	_cleanup_bytes_ struct rd_bytes text = { 0 };
	const char *line, *at = read_below(job, "etc/nccl.conf", &text) < 0 ? "" : (const char *)text.data;
	size_t size;

	while (rd_next_line(&at, &line, &size) && job->out.len < LIMIT_SIZE / 2) {
		_cleanup_free_ char *key = rd_text("\nenv %.*s=", (int)strcspn(line, "=\n"), line);

		if (rd_scrub_keeps_of_job(line, size) && memchr(line, '=', size) && !strstr(job->out.data ?: "", key))
			add_line(job, "env", line, size);
	}
}

/* "nvidia_nccl_cu12-2.27.3.dist-info" in the directory of packages: the version into `ret`; returns how many there are. */
static size_t find_wheel(const struct rd_proc_job *job, const char *packages, const char *prefix, char ret[32])
{
	_cleanup_close_ int fd = open_below(job, packages, O_RDONLY | O_DIRECTORY);
	_cleanup_dir_ DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	size_t found = 0;

	if (dir)
		RD_TAKE_FD(fd);
	for (size_t i = 0; dir && i < FILES_MAX && (entry = readdir(dir)); i++) {
		const char *at = strncmp(entry->d_name, prefix, strlen(prefix)) == 0 ? strchr(entry->d_name, '-') :
										       NULL;
		size_t n = at ? strspn(++at, "0123456789.") : 0;

		if (n > 1 && n < 32 && strcmp(at + n - 1, ".dist-info") == 0) {
			snprintf(ret, n, "%s", at);
			found++;
		}
	}
	return found;
}

/* "wheel libnccl 2.27.3": of ".../site-packages/nvidia/nccl/lib/libnccl.so.2", if one version of the package is there. */
static void add_wheels(struct rd_proc_job *job)
{
	_cleanup_free_ char *copy = rd_dup(job->out.data ?: "");
	char *rest = copy, *line;

	while ((line = strsep(&rest, "\n"))) {
		char *nvidia = strncmp(line, "lib /", 5) == 0 ? strstr(line, "-packages/nvidia/") : NULL, version[32];
		const char *name = nvidia ? strrchr(nvidia, '/') + 1 : NULL;
		_cleanup_free_ char *prefix = NULL;

		if (!nvidia)
			continue;
		nvidia += strlen("-packages");
		prefix = rd_text("nvidia_%.*s_cu", (int)strcspn(nvidia + 8, "/"), nvidia + 8);
		*nvidia = '\0';
		if (find_wheel(job, line + 4, prefix, version) == 1)
			rd_buf_printf(&job->out, "wheel %.*s %s\n", (int)strcspn(name, "-."), name, version);
	}
}

/* In the child. Files are parsed when it has dropped its privileges. */
static int look_at_process(void *arg, struct rd_bytes *ret, struct rd_err *err)
{
	static struct provider providers[PROVIDERS_MAX];
	_cleanup_bytes_ struct rd_bytes maps = { 0 };
	struct rd_proc_job *job = arg;
	unsigned files = 0;
	char path[64];
	size_t n = 0;
	int r;

	job->out = RD_BUF_CHECKED;
	snprintf(path, sizeof(path), "/proc/%s", job->process);
	if (access(path, F_OK) < 0)
		return rd_err_set(err, errno, path, "no such process");
	if (!job->self) {
		r = list_files(&job->sockets, job->process, job, &files);
		if (r < 0 && !files)
			set_error(job, "fds", -r);
		else
			rd_buf_printf(&job->out, "fds %u\n", files);
		if (take_part(job, "maps", &maps))
			rd_proc_job_maps(job, (const char *)maps.data);
	}
	if (!job->host)
		add_environment(job);
	snprintf(path, sizeof(path), "/proc/%s/root", job->process);
	job->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (job->root < 0) {
		set_error(job, "root", errno);
	} else {
		add_devices(job);
		add_accelerators(job);
		add_shm(job);
		if (!job->host)
			add_settings(job);
		add_wheels(job);
		n = read_providers(job, providers);
	}
	add_network(job);
	r = rd_confine(0, NULL, err);
	if (r < 0)
		return r;
	if (job->root >= 0)
		add_providers(job, providers, n);
	return rd_bytes_of_buf(&job->out, RD_SOURCE_JOB, ret, err);
}

int rd_proc_job_read(const char *path, struct rd_bytes *ret, struct rd_err *err)
{
	bool host = strcmp(path, RD_SOURCE_JOB "/host") == 0, self = host || strcmp(path, RD_SOURCE_JOB "/self") == 0;
	struct rd_proc_job job = {
		.process = self ? "self" : process_of(path, RD_SOURCE_JOB), .self = self, .host = host, .root = -1
	};

	if (!job.process)
		return rd_err_set(err, ENOENT, path, "cannot read");
	return rd_child_run(path, look_at_process, &job, LIMIT_MS, LIMIT_SIZE, ret, err);
}

/* RD_SOURCE_USER, RD_SOURCE_GROUP. */
static int look_up(void *arg, struct rd_bytes *ret, struct rd_err *err)
{
	const char *path = arg, *name = path + strlen(RD_SOURCE_USER "/");
	const struct passwd *user = NULL;
	const struct group *group = NULL;
	_cleanup_free_ gid_t *groups = NULL;
	struct rd_buf out = RD_BUF_CHECKED;
	uint32_t uid;
	int n = 0;

	errno = 0;
	if (strncmp(path, RD_SOURCE_USER "/", strlen(RD_SOURCE_USER "/")) != 0)
		group = getgrnam(path + strlen(RD_SOURCE_GROUP "/"));
	else if (!(user = getpwnam(name)) && rd_parse_u32(name, RD_DECIMAL, UINT32_MAX - 1, &uid) == 0)
		user = getpwuid(uid);
	/* The C library has several errors for what is not there. */
	if (!group && !user)
		return rd_err_set(err, errno && errno != ESRCH ? errno : ENOENT, strrchr(path, '/') + 1,
				  "not found by the services of /etc/nsswitch.conf");
	while (user && getgrouplist(user->pw_name, user->pw_gid, groups, &n) < 0) {
		n += 64; /* more than reported */
		free(groups);
		groups = rd_alloc((size_t)n, sizeof(*groups));
	}
	rd_buf_printf(&out, "%u", user ? user->pw_uid : group->gr_gid);
	for (int i = 0; i < n; i++)
		rd_buf_printf(&out, " %u", groups[i]);
	return rd_bytes_of_buf(&out, path, ret, err);
}

int rd_user_read(const char *path, struct rd_bytes *ret, struct rd_err *err)
{
	return strchr(path + 1, '/') ? rd_child_run(path, look_up, (void *)path, LIMIT_MS, LIMIT_SIZE, ret, err) :
				       rd_err_set(err, ENOENT, path, "cannot read");
}
