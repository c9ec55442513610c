// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/live/proc-job.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include "base/number.h"
#include "confine/confine.h"
#include "source/live/provider-abi.h"
#include "source/opener/child.h"
#include "source/shared/scrub.h"

#define LIMIT_MS 10000 /* a job may leave us little of the processors */
#define LIMIT_SIZE ((size_t)1 << 20)
#define TEXT_MAX ((size_t)64 << 20)   /* as in proc-libs.c */
#define LIBRARY_MAX ((size_t)4 << 20) /* the largest provider has 500 KB */
#define FILES_MAX (1u << 20)	      /* the default of fs.nr_open */
#define LINES_MAX 256		      /* variables, libraries, kinds of files */
#define VALUE_MAX 1024		      /* bytes of a variable */
#define PROVIDERS_MAX 64

/* Beginnings of the file names of libraries that carry traffic, or select what does. */
static const char *const transports[] = {
	"libibverbs.so", "librdmacm.so", "libmlx5",   "libefa",	    "libnccl",	   "librccl",	      "libucp.so",
	"libuct",	 "libucs.so",	 "libfabric", "libmpi.so",  "libmpi_",	   "libopen-pal",     "libnvshmem",
	"nvshmem_",	 "libgloo",	 "libnixl",   "libplugin_", "libmooncake", "transfer_engine", "libpsm",
	"libmori",	 "librocshmem",	 "libuccl",   "libdoca_",   "libgdrapi",   "libaws-ofi",
};
/* Beginnings of the names of what they share between processes of one host, in /dev/shm. */
static const char *const segments[] = { "nccl-", "rccl-", "ucx_", "vader_", "sm_segment", "psm", "mpich", "Intel_MPI" };

static const char *const provider_dirs[] = { "usr/lib64",
					     "usr/lib/x86_64-linux-gnu",
					     "usr/lib/aarch64-linux-gnu",
					     "usr/lib/powerpc64le-linux-gnu",
					     "usr/lib",
					     "usr/local/lib" };

/* The bytes of a provider, to be parsed when privileges are dropped. */
struct provider {
	char name[64];
	struct rd_bytes bytes;
	int code;
};

void rd_proc_job_error(struct rd_proc_job *job, const char *part, int code)
{
	rd_buf_printf(&job->out, "error %s %s\n", part, rd_errno_name(code) ? rd_errno_name(code) : "EIO");
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
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return (int)i;
	return -1;
}

void rd_proc_job_maps(struct rd_proc_job *job, const char *text)
{
	const char *last = "";
	size_t last_size = 0, lines = 0;

	for (const char *line = text; *line; line += *line == '\n') {
		size_t size = strcspn(line, "\n");
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
		line += size;
	}
}

static bool read_part(struct rd_proc_job *job, const char *part, struct rd_bytes *ret)
{
	_cleanup_close_ int fd = -1;
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/%s/%s", job->process, part);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	r = fd < 0 ? -errno : rd_read_fd(fd, TEXT_MAX, ret);
	if (r < 0)
		rd_proc_job_error(job, part, -r);
	return r >= 0;
}

/* Variables of communication libraries only, without secrets. */
static void add_environment(struct rd_proc_job *job)
{
	_cleanup_bytes_ struct rd_bytes text = { 0 };
	size_t lines = 0, n;

	if (!read_part(job, "environ", &text))
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
		rd_proc_job_error(job, "environ", E2BIG);
}

static int compare_inodes(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* "socket:[12345]"; "/dev/infiniband/uverbs0", "/dev/nvidia0": as it is seen from its root. */
static void add_open(struct rd_proc_job *job, const char *target)
{
	const char *name = strrchr(target, '/'), *at = target + strlen("socket:[");
	uint64_t inode;

	if (strncmp(target, "socket:[", 8) == 0 && rd_take_uint(&at, RD_DECIMAL, UINT64_MAX, &inode) == 0 &&
	    rd_grow(&job->inodes, &job->cap_inodes, job->n_inodes + 1, sizeof(*job->inodes)) == 0)
		job->inodes[job->n_inodes++] = inode;
	else if (name &&
		 (strstr(target, "/infiniband/") || strncmp(name, "/nvidia", 7) == 0 || strcmp(name, "/kfd") == 0) &&
		 job->out.len < LIMIT_SIZE / 2)
		add_line(job, "open", name + 1, strlen(name + 1));
}

static void add_files(struct rd_proc_job *job)
{
	struct dirent *entry;
	unsigned n = 0;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/fd", job->process);
	dir = opendir(path);
	if (!dir)
		return rd_proc_job_error(job, "fds", errno);
	while ((entry = readdir(dir)) && n < FILES_MAX) {
		char target[256];
		ssize_t size = entry->d_name[0] == '.' ?
				       -1 :
				       readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);

		n += entry->d_name[0] != '.';
		if (size < 0)
			continue;
		target[size] = '\0';
		add_open(job, target);
	}
	closedir(dir);
	rd_buf_printf(&job->out, "fds %u\n", n);
	if (job->n_inodes)
		qsort(job->inodes, job->n_inodes, sizeof(*job->inodes), compare_inodes);
}

/* "dev uverbs0 231:192 0666 0 0": number, mode, owner, group; an access list adds "acl". Nothing is opened. */
static void add_device(struct rd_proc_job *job, const char *name)
{
	_cleanup_close_ int fd = -1;
	char path[300], own[64];
	struct stat st;

	snprintf(path, sizeof(path), "dev/infiniband/%s", name);
	fd = open_below(job, path, O_PATH);
	snprintf(own, sizeof(own), "/proc/self/fd/%d", fd);
	if (fd < 0 || fstat(fd, &st) < 0) {
		int code = fd < 0 ? -fd : errno;

		rd_buf_printf(&job->out, "dev %s %s\n", name, rd_errno_name(code) ? rd_errno_name(code) : "EIO");
		return;
	}
	rd_buf_printf(&job->out, "dev %s %u:%u %04o %u %u%s\n", name, S_ISCHR(st.st_mode) ? major(st.st_rdev) : 0,
		      S_ISCHR(st.st_mode) ? minor(st.st_rdev) : 0, st.st_mode & 07777, st.st_uid, st.st_gid,
		      getxattr(own, "system.posix_acl_access", NULL, 0) > 0 ? " acl" : "");
}

static void add_devices(struct rd_proc_job *job)
{
	DIR *dir = opendir("/sys/class/infiniband_verbs");
	struct dirent *entry;
	size_t n = 0;

	while (dir && (entry = readdir(dir)) && n++ < 4096)
		if (strncmp(entry->d_name, "uverbs", 6) == 0)
			add_device(job, entry->d_name);
	if (dir)
		closedir(dir);
	add_device(job, "rdma_cm");
}

static DIR *list_below(const struct rd_proc_job *job, const char *path)
{
	int fd = open_below(job, path, O_RDONLY | O_DIRECTORY);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !dir)
		close(fd);
	return dir;
}

static void add_shm(struct rd_proc_job *job)
{
	_cleanup_close_ int fd = open_below(job, "dev/shm", O_PATH);
	struct statfs fs;

	if (fd < 0 || fstatfs(fd, &fs) < 0)
		return rd_proc_job_error(job, "shm", fd < 0 ? -fd : errno);
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
	char path[512];

	if (n && n < sizeof(ret->name))
		memcpy(ret->name, file + 3, n);
	snprintf(path, sizeof(path), "%s/libibverbs/%s", dir, file);
	ret->code = -read_below(job, path, &ret->bytes);
}

/* The files in the directories that libibverbs searches; returns how many. */
static size_t read_providers(struct rd_proc_job *job, struct provider *ret)
{
	size_t n = 0;

	for (size_t d = 0; d < RD_ARRAY_SIZE(provider_dirs); d++) {
		struct dirent *entry;
		char path[128];
		DIR *dir;

		snprintf(path, sizeof(path), "%s/libibverbs", provider_dirs[d]);
		dir = list_below(job, path);
		while (dir && (entry = readdir(dir)) && n < PROVIDERS_MAX)
			if (strstr(entry->d_name, "-rdmav"))
				read_provider(job, provider_dirs[d], entry->d_name, &ret[n++]);
		if (dir)
			closedir(dir);
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
		rd_buf_str(&job->out, "provider ");
		rd_buf_safe(&job->out, p->name, strlen(p->name));
		if (!p->code && rd_provider_abi(p->bytes.data, p->bytes.size, p->name, &min, &max))
			rd_buf_printf(&job->out, " %u %u", min, max);
		rd_buf_str(&job->out, "\n");
		rd_bytes_deinit(&p->bytes);
	}
	rd_buf_str(&job->out, "providers\n");
}

/* In the child. Files are parsed when it has dropped its privileges. */
static int look_at_process(void *arg, struct rd_bytes *ret, struct rd_err *err)
{
	static struct provider providers[PROVIDERS_MAX];
	_cleanup_bytes_ struct rd_bytes maps = { 0 };
	struct rd_proc_job *job = arg;
	char path[64];
	size_t n = 0;
	int r;

	job->out = RD_BUF_CHECKED;
	snprintf(path, sizeof(path), "/proc/%s", job->process);
	if (access(path, F_OK) < 0)
		return rd_err_set(err, errno, path, "no such process");
	if (!job->self) {
		add_files(job);
		if (read_part(job, "maps", &maps))
			rd_proc_job_maps(job, (const char *)maps.data);
	}
	add_environment(job);
	snprintf(path, sizeof(path), "/proc/%s/root", job->process);
	job->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (job->root < 0) {
		rd_proc_job_error(job, "root", errno);
	} else {
		add_devices(job);
		add_shm(job);
		n = read_providers(job, providers);
	}
	rd_proc_job_network(job);
	r = rd_confine(0, NULL, err);
	if (r < 0)
		return r;
	if (job->root >= 0)
		add_providers(job, providers, n);
	if (job->out.failed)
		return rd_err_set(err, ENOMEM, RD_SOURCE_JOB, "no memory");
	*ret = (struct rd_bytes){ (uint8_t *)job->out.data, job->out.len };
	return 0;
}

int rd_proc_job_read(const char *path, struct rd_bytes *ret, struct rd_err *err)
{
	const char *process = path + strlen(RD_SOURCE_JOB);
	struct rd_proc_job job = { .root = -1 };
	uint64_t pid;

	job.process = *process ? process + 1 : "";
	job.self = strcmp(job.process, "self") == 0;
	if (!job.self && rd_parse_uint(job.process, RD_DECIMAL, UINT32_MAX, &pid) < 0)
		return rd_err_set(err, ENOENT, path, "cannot read");
	return rd_child_run(path, look_at_process, &job, LIMIT_MS, LIMIT_SIZE, ret, err);
}
