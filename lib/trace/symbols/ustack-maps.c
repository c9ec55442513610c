// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/symbols/ustack-priv.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "base/buf.h"
#include "base/number.h"

/* Limits, because a process controls what it maps. Programs with a thousand libraries stay far below. */
#define MAPS_MAX ((size_t)8 << 20)
#define FILES_MAX 4096
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
	return true;
}

static bool next_line(char **at, struct line *ret)
{
	const char *line = strsep(at, "\n");

	return line && parse_line(line, ret);
}

static int read_text(const char *path, struct rd_buf *text)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char page[16384];
	ssize_t n = 0;

	if (fd < 0)
		return -errno;
	while (text->len < MAPS_MAX && (n = read(fd, page, sizeof(page))) > 0)
		rd_buf_add(text, page, (size_t)n);
	return text->failed ? -ENOMEM : n < 0 ? -errno : text->len ? 0 : -ESRCH;
}

/* Whether the segment belongs to the same load of a file: the load bias of its segments is nearly the same. */
static bool belongs_to(const struct line *line, const struct rd_mapped *file)
{
	uint64_t apart = (line->start - line->offset) - (file->start - file->offset);

	return file->ino == line->ino && file->dev == line->dev && strcmp(file->name, line->name) == 0 &&
	       (apart <= APART_MAX || -apart <= APART_MAX);
}

static int add_line(struct rd_maps *maps, const struct line *line)
{
	struct rd_mapped *last = maps->n ? &maps->v[maps->n - 1] : NULL;

	if (*line->name != '/' && strcmp(line->name, "[vdso]") != 0)
		return 0;
	if (!last || !belongs_to(line, last)) {
		if (maps->n == FILES_MAX)
			return -E2BIG;
		if (rd_grow(&maps->v, &maps->cap, maps->n + 1, sizeof(*maps->v)) < 0)
			return -ENOMEM;
		last = &maps->v[maps->n];
		*last = (struct rd_mapped){ .start = line->start,
					    .first_end = line->end,
					    .offset = line->offset,
					    .dev = line->dev,
					    .ino = line->ino };
		last->name = strdup(line->name);
		if (!last->name)
			return -ENOMEM;
		maps->n++;
	}
	last->end = line->end;
	last->code |= line->code;
	return 0;
}

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool is_ours(pid_t pid)
{
	char mounts[32], root[32];

	snprintf(mounts, sizeof(mounts), "/proc/%d/ns/mnt", (int)pid);
	snprintf(root, sizeof(root), "/proc/%d/root", (int)pid);
	return same_file(mounts, "/proc/self/ns/mnt") && same_file(root, "/");
}

int rd_maps_read(pid_t pid, struct rd_maps *ret)
{
	_cleanup_buf_ struct rd_buf text = RD_BUF_CHECKED;
	struct line line;
	char path[32], *at;
	int r;

	*ret = (struct rd_maps){ 0 };
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	ret->ours = is_ours(pid);
	r = read_text(path, &text);
	at = text.data;
	while (!r && next_line(&at, &line))
		r = add_line(ret, &line);
	if (!r || r == -E2BIG)
		return 0;
	rd_maps_deinit(ret);
	return r;
}

void rd_maps_deinit(struct rd_maps *maps)
{
	for (size_t i = 0; i < maps->n; i++)
		free(maps->v[i].name);
	free(maps->v);
	*maps = (struct rd_maps){ 0 };
}

bool rd_maps_same(const struct rd_maps *a, const struct rd_maps *b)
{
	bool same = a->n == b->n;

	for (size_t i = 0; same && i < a->n; i++)
		same = a->v[i].start == b->v[i].start && a->v[i].end == b->v[i].end && a->v[i].ino == b->v[i].ino &&
		       strcmp(a->v[i].name, b->v[i].name) == 0;
	return same;
}

const struct rd_mapped *rd_maps_find(const struct rd_maps *maps, uint64_t addr)
{
	for (size_t i = 0; i < maps->n; i++)
		if (addr >= maps->v[i].start && addr < maps->v[i].end)
			return &maps->v[i];
	return NULL;
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

/* On some file systems (overlayfs, btrfs), device and inode in maps differ from those of stat. */
static int find_here(const struct rd_mapped *file, bool ours)
{
	int fd = open(file->name, O_PATH | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || ours || (fstat(fd, &st) == 0 && st.st_dev == file->dev && st.st_ino == file->ino))
		return fd;
	close(fd);
	return -1;
}

int rd_maps_open(pid_t pid, const struct rd_mapped *file, bool ours)
{
	_cleanup_close_ int fd = -1;
	char path[80];

	if (*file->name != '/')
		return -1;
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
	char *at;

	if (read_text("/proc/self/maps", &text) < 0)
		return;
	at = text.data;
	while (next_line(&at, &line))
		if (line.shared)
			munmap((void *)(uintptr_t)line.start, line.end - line.start);
}
