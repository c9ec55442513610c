// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/symbols/ustack-priv.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "base/text.h"

/* Limits, because a process controls what it maps. Programs with a thousand libraries stay far below. */
#define MAPS_MAX ((size_t)8 << 20)
#define FILES_MAX 4096
#define VDSO_MAX ((uint64_t)64 << 10)
#define APART_MAX (UINT64_C(64) << 20) /* segments may be aligned to huge pages */

struct line {
	uint64_t start, end, offset, dev, ino;
	bool code, shared;
	const char *name;
};

/* A number and the character after it. */
static bool take_number(const char **at, enum rd_radix radix, uint64_t *ret, char behind)
{
	return rd_take_uint(at, radix, UINT64_MAX, ret) == 0 && *(*at)++ == behind;
}

/* "7f1e8a600000-7f1e8a628000 r-xp 00028000 fe:01 1835092    /usr/lib/libc.so.6" */
static bool parse_line(const char *line, struct line *ret)
{
	const char *at = line;
	uint64_t major, minor;

	if (!take_number(&at, RD_HEX, &ret->start, '-') || !take_number(&at, RD_HEX, &ret->end, ' ') ||
	    strcspn(at, " ") != 4)
		return false;
	ret->code = at[2] == 'x';
	ret->shared = at[3] == 's';
	at += 5;
	if (!take_number(&at, RD_HEX, &ret->offset, ' ') || !take_number(&at, RD_HEX, &major, ':') ||
	    !take_number(&at, RD_HEX, &minor, ' ') || rd_take_uint(&at, RD_DECIMAL, UINT64_MAX, &ret->ino) < 0)
		return false;
	ret->dev = makedev((unsigned)major, (unsigned)minor);
	ret->name = at + strspn(at, " ");
	return ret->start < ret->end;
}

static bool next_line(char **at, struct line *ret)
{
	const char *line = strsep(at, "\n");

	return line && parse_line(line, ret);
}

/* The maps of a process that ends while they are read stop early, without an error. */
static bool has_text(int fd)
{
	char byte;

	return lseek(fd, 0, SEEK_SET) == 0 && read(fd, &byte, 1) == 1;
}

static int read_text(const char *path, struct rd_buf *text, bool *ret_whole)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char page[16384];
	ssize_t n = 0;

	if (fd < 0)
		return -errno;
	while (text->len < MAPS_MAX && (n = read(fd, page, sizeof(page))) > 0)
		rd_buf_add(text, page, (size_t)n);
	*ret_whole = n == 0 && has_text(fd);
	return text->failed ? -ENOMEM : n < 0 ? -errno : text->len ? 0 : -ESRCH;
}

/* Whether the segment belongs to the same load of a file: the load bias of its segments is nearly the same. */
static bool belongs_to(const struct line *line, const struct rd_mapped *file)
{
	uint64_t apart = (line->start - line->offset) - (file->start - file->offset);

	return file->ino == line->ino && file->dev == line->dev && strcmp(file->name, line->name) == 0 &&
	       (apart <= APART_MAX || -apart <= APART_MAX);
}

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

void rd_maps_parse(char *text, bool whole, struct rd_maps *ret)
{
	struct line line;
	bool understood = true;

	*ret = (struct rd_maps){ 0 };
	while (understood && next_line(&text, &line)) {
		bool in_file = *line.name == '/' || strcmp(line.name, "[vdso]") == 0;
		struct rd_mapped *last = ret->n ? &ret->v[ret->n - 1] : NULL;

		if (in_file && (!last || !belongs_to(&line, last))) {
			understood = ret->n < FILES_MAX;
			if (!understood)
				break;
			last = RD_ADD(ret->v, ret->n, ret->cap);
			*last = (struct rd_mapped){ .name = rd_dup(line.name),
						    .start = line.start,
						    .first_end = line.end,
						    .offset = line.offset,
						    .dev = line.dev,
						    .ino = line.ino };
		}
		if (in_file) {
			last->end = line.end;
			last->code |= line.code;
		}
		if (!line.code)
			continue;
		/* rd_maps_code needs them in order. */
		understood = !ret->n_areas || line.start >= ret->areas[ret->n_areas - 1].end;
		if (understood)
			*RD_ADD(ret->areas, ret->n_areas, ret->cap_areas) =
				(struct rd_area){ .start = line.start,
						  .end = line.end,
						  .offset = line.offset,
						  .file = in_file ? (int)ret->n - 1 : -1 };
	}
	/* What follows the last line is empty; a line that is not understood may hide others. */
	ret->complete = whole && understood && !text;
}

int rd_maps_read(pid_t pid, struct rd_maps *ret)
{
	_cleanup_buf_ struct rd_buf text = RD_BUF_CHECKED;
	char path[32], mounts[32], root[32];
	bool ours, whole = false;
	int r;

	*ret = (struct rd_maps){ 0 };
	snprintf(mounts, sizeof(mounts), "/proc/%d/ns/mnt", (int)pid);
	snprintf(root, sizeof(root), "/proc/%d/root", (int)pid);
	ours = same_file(mounts, "/proc/self/ns/mnt") && same_file(root, "/");
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	r = read_text(path, &text, &whole);
	if (!r)
		rd_maps_parse(text.data, whole, ret);
	ret->ours = ours;
	return r;
}

bool rd_maps_any(pid_t pid)
{
	_cleanup_close_ int fd = -1;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && has_text(fd);
}

void rd_maps_deinit(struct rd_maps *maps)
{
	for (size_t i = 0; i < maps->n; i++)
		free(maps->v[i].name);
	RD_FREE(maps->v, maps->areas);
	*maps = (struct rd_maps){ 0 };
}

static int compare_to_area(const void *key, const void *member)
{
	const struct rd_area *area = member;
	uint64_t addr = *(const uint64_t *)key;

	return addr < area->start ? -1 : addr >= area->end;
}

const struct rd_area *rd_maps_code(const struct rd_maps *maps, uint64_t addr)
{
	return maps->n_areas ? bsearch(&addr, maps->areas, maps->n_areas, sizeof(*maps->areas), compare_to_area) : NULL;
}

/* `path_fd` is an O_PATH descriptor: opening a device or a pipe could have side effects. */
static int open_regular(int path_fd)
{
	char path[32];
	struct stat st;

	if (fstat(path_fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
	return open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
}

/* Resolves the path in the root of the process, which may be in a container. Links cannot leave that root since Linux 5.6. */
static int find_below_root(pid_t pid, const char *name)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	_cleanup_close_ int root = -1;
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -1;
	fd = (int)syscall(SYS_openat2, root, name, &how, sizeof(how));
	return fd < 0 && errno == ENOSYS ? openat(root, name + 1, O_PATH | O_CLOEXEC) : fd;
}

static int find_here(const struct rd_mapped *file, bool ours)
{
	int fd = open(file->name, O_PATH | O_CLOEXEC);
	struct stat st;

	/* On some file systems (overlayfs, btrfs), device and inode in maps differ from those of stat. */
	if (fd < 0 || ours || (fstat(fd, &st) == 0 && st.st_dev == file->dev && st.st_ino == file->ino))
		return fd;
	close(fd);
	return -1;
}

/* The only file that exists in memory alone. */
static int copy_vdso(pid_t pid, const struct rd_mapped *file)
{
	_cleanup_close_ int mem = -1;
	char path[32], page[4096];
	uint64_t size = file->end - file->start < VDSO_MAX ? file->end - file->start : VDSO_MAX;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	mem = open(path, O_RDONLY | O_CLOEXEC);
	fd = mem < 0 ? -1 : memfd_create("vdso", MFD_CLOEXEC);
	for (uint64_t at = 0; fd >= 0 && at < size; at += sizeof(page))
		if (pread(mem, page, sizeof(page), (off_t)(file->start + at)) != sizeof(page) ||
		    rd_write_all(fd, page, sizeof(page)) < 0) {
			close(fd);
			fd = -1;
		}
	return fd;
}

int rd_maps_open(pid_t pid, const struct rd_mapped *file, bool ours)
{
	_cleanup_close_ int fd = -1;
	char path[80];

	if (*file->name != '/')
		return copy_vdso(pid, file);
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, file->start, file->first_end);
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		fd = find_below_root(pid, file->name);
	if (fd < 0)
		fd = find_here(file, ours);
	return fd < 0 ? -1 : open_regular(fd);
}

void rd_maps_unshare(void)
{
	_cleanup_buf_ struct rd_buf text = RD_BUF_CHECKED;
	struct line line;
	bool whole;
	char *at;

	if (read_text("/proc/self/maps", &text, &whole) < 0)
		return;
	at = text.data;
	while (next_line(&at, &line))
		if (line.shared)
			munmap((void *)(uintptr_t)line.start, line.end - line.start);
}
