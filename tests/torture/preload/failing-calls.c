/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded by tests/torture/failing-calls: counts the calls of each kind that a program and its children make, and lets one
 * of them fail. FAILING_CALLS names a file of a struct tally, which is mapped, so that all processes count together; when a
 * call fails, its callers go to descriptor FAILING_CALLS_LOG.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { MALLOC, OPEN, READ, READLINK, GETDENTS, NETLINK, WRITE, FSYNC, RENAME, FORK, KINDS };

static const int codes[KINDS] = {
	[MALLOC] = ENOMEM,   [OPEN] = EMFILE,  [READ] = EIO,  [READLINK] = EIO,	 [GETDENTS] = EIO,
	[NETLINK] = ENOBUFS, [WRITE] = ENOSPC, [FSYNC] = EIO, [RENAME] = EACCES, [FORK] = EAGAIN,
};

/* Written by the driver: which call of which kind is to fail, from 1 on; 0: none. */
struct tally {
	uint32_t kind, at;
	uint32_t calls[KINDS];
};

static struct tally *tally;
static int log_fd = -1;

static void tell(void)
{
	void *callers[32];

	if (log_fd >= 0)
		backtrace_symbols_fd(callers, backtrace(callers, 32), log_fd);
}

/* Counts the call; whether it is to fail, with errno set. */
static bool fails(enum kind kind)
{
	static __thread bool telling;
	uint32_t call;

	if (!tally || telling)
		return false;
	call = __atomic_add_fetch(&tally->calls[kind], 1, __ATOMIC_RELAXED);
	if (tally->kind != kind || tally->at != call)
		return false;
	telling = true;
	tell();
	telling = false;
	errno = codes[kind];
	return true;
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("FAILING_CALLS"), *log = getenv("FAILING_CALLS_LOG");
	void *callers[2], *mapped;
	int fd;

	backtrace(callers, 2); /* loads what it needs */
	if (log)
		log_fd = atoi(log);
	fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	mapped = fd >= 0 ? mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
	if (mapped == MAP_FAILED)
		abort();
	close(fd);
	/* What the program starts is none of ours. */
	unsetenv("LD_PRELOAD");
	unsetenv("FAILING_CALLS");
	unsetenv("FAILING_CALLS_LOG");
	tally = mapped;
}

#define NEXT(name) ((__typeof__(&(name)))next_of(#name))

/* dlsym may ask for memory itself: it gets some of this, which is never given back. */
static char early[8192];
static size_t early_used;

static void *early_alloc(size_t size)
{
	size_t at = early_used;

	early_used += (size + 15) & ~(size_t)15;
	return early_used <= sizeof(early) ? early + at : NULL;
}

static bool is_early(const void *p)
{
	return (const char *)p >= early && (const char *)p < early + sizeof(early);
}

static void *next_of(const char *name)
{
	void *next = dlsym(RTLD_NEXT, name);

	if (!next)
		abort();
	return next;
}

/* The next function of this name, looked up once. */
#define REAL(ret, name, ...)             \
	static ret (*real)(__VA_ARGS__); \
	if (!real)                       \
	real = (ret(*)(__VA_ARGS__))next_of(#name)

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static void (*real_free)(void *);

/* False while the functions below are being looked up. */
static bool have_memory(void)
{
	static bool looking;

	if (real_free)
		return true;
	if (looking)
		return false;
	looking = true;
	real_malloc = (void *(*)(size_t))next_of("malloc");
	real_calloc = (void *(*)(size_t, size_t))next_of("calloc");
	real_realloc = (void *(*)(void *, size_t))next_of("realloc");
	real_free = (void (*)(void *))next_of("free");
	looking = false;
	return true;
}

void *malloc(size_t size)
{
	if (!have_memory())
		return early_alloc(size);
	return fails(MALLOC) ? NULL : real_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	if (!have_memory())
		return early_alloc(n * size);
	return fails(MALLOC) ? NULL : real_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	if (!have_memory() || is_early(p))
		abort();
	return fails(MALLOC) ? NULL : real_realloc(p, size);
}

void free(void *p)
{
	if (!is_early(p) && have_memory())
		real_free(p);
}

int posix_memalign(void **ret, size_t alignment, size_t size)
{
	REAL(int, posix_memalign, void **, size_t, size_t);
	return fails(MALLOC) ? ENOMEM : real(ret, alignment, size);
}

/* open and its kin take a mode where the flags say so. */
#define WITH_MODE(flags, mode)                   \
	mode_t mode = 0;                         \
	if ((flags) & (O_CREAT | __O_TMPFILE)) { \
		va_list ap;                      \
		va_start(ap, flags);             \
		mode = va_arg(ap, mode_t);       \
		va_end(ap);                      \
	}

#define OPEN_LIKE(name)                                            \
	int name(const char *path, int flags, ...)                 \
	{                                                          \
		REAL(int, name, const char *, int, ...);           \
		WITH_MODE(flags, mode)                             \
		return fails(OPEN) ? -1 : real(path, flags, mode); \
	}
OPEN_LIKE(open)
OPEN_LIKE(open64)

#define OPENAT_LIKE(name)                                              \
	int name(int at, const char *path, int flags, ...)             \
	{                                                              \
		REAL(int, name, int, const char *, int, ...);          \
		WITH_MODE(flags, mode)                                 \
		return fails(OPEN) ? -1 : real(at, path, flags, mode); \
	}
OPENAT_LIKE(openat)
OPENAT_LIKE(openat64)

/* A function of these arguments that says `failure`. Fortified ones have no declaration elsewhere. */
#define LIKE(kind, failure, ret, name, params, args, ...) \
	ret name params;                                  \
	ret name params                                   \
	{                                                 \
		REAL(ret, name, __VA_ARGS__);             \
		return fails(kind) ? failure : real args; \
	}

LIKE(OPEN, -1, int, __open_2, (const char *path, int flags), (path, flags), const char *, int)
LIKE(OPEN, -1, int, __open64_2, (const char *path, int flags), (path, flags), const char *, int)
LIKE(OPEN, -1, int, __openat_2, (int at, const char *path, int flags), (at, path, flags), int, const char *, int)
LIKE(OPEN, -1, int, __openat64_2, (int at, const char *path, int flags), (at, path, flags), int, const char *, int)
LIKE(OPEN, -1, int, mkostemp, (char *path, int flags), (path, flags), char *, int)
LIKE(OPEN, -1, int, mkostemp64, (char *path, int flags), (path, flags), char *, int)
LIKE(OPEN, NULL, FILE *, fopen, (const char *path, const char *mode), (path, mode), const char *, const char *)
LIKE(OPEN, NULL, FILE *, fopen64, (const char *path, const char *mode), (path, mode), const char *, const char *)
LIKE(OPEN, NULL, DIR *, opendir, (const char *path), (path), const char *)

LIKE(READ, -1, ssize_t, read, (int fd, void *to, size_t size), (fd, to, size), int, void *, size_t)
LIKE(READ, -1, ssize_t, __read_chk, (int fd, void *to, size_t size, size_t room), (fd, to, size, room), int, void *,
     size_t, size_t)
LIKE(READ, -1, ssize_t, pread, (int fd, void *to, size_t size, off_t at), (fd, to, size, at), int, void *, size_t, off_t)
LIKE(READ, -1, ssize_t, pread64, (int fd, void *to, size_t size, off64_t at), (fd, to, size, at), int, void *, size_t,
     off64_t)
LIKE(READ, -1, ssize_t, __pread_chk, (int fd, void *to, size_t size, off_t at, size_t room), (fd, to, size, at, room),
     int, void *, size_t, off_t, size_t)
LIKE(READ, -1, ssize_t, __pread64_chk, (int fd, void *to, size_t size, off64_t at, size_t room),
     (fd, to, size, at, room), int, void *, size_t, off64_t, size_t)

LIKE(READLINK, -1, ssize_t, readlink, (const char *path, char *to, size_t size), (path, to, size), const char *, char *,
     size_t)
LIKE(READLINK, -1, ssize_t, __readlink_chk, (const char *path, char *to, size_t size, size_t room),
     (path, to, size, room), const char *, char *, size_t, size_t)
LIKE(READLINK, -1, ssize_t, readlinkat, (int at, const char *path, char *to, size_t size), (at, path, to, size), int,
     const char *, char *, size_t)
LIKE(READLINK, -1, ssize_t, __readlinkat_chk, (int at, const char *path, char *to, size_t size, size_t room),
     (at, path, to, size, room), int, const char *, char *, size_t, size_t)

LIKE(GETDENTS, NULL, struct dirent *, readdir, (DIR * dir), (dir), DIR *)
LIKE(GETDENTS, NULL, struct dirent64 *, readdir64, (DIR * dir), (dir), DIR *)
LIKE(GETDENTS, -1, ssize_t, getdents64, (int fd, void *to, size_t size), (fd, to, size), int, void *, size_t)

static bool is_netlink(int fd)
{
	int domain = 0;
	socklen_t size = sizeof(domain);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_NETLINK;
}

#define RECEIVE(name, params, args, ...)                                  \
	ssize_t name params;                                              \
	ssize_t name params                                               \
	{                                                                 \
		REAL(ssize_t, name, __VA_ARGS__);                         \
		return is_netlink(fd) && fails(NETLINK) ? -1 : real args; \
	}
RECEIVE(recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags), int, struct msghdr *, int)
RECEIVE(recv, (int fd, void *to, size_t size, int flags), (fd, to, size, flags), int, void *, size_t, int)
RECEIVE(__recv_chk, (int fd, void *to, size_t size, size_t room, int flags), (fd, to, size, room, flags), int, void *,
	size_t, size_t, int)

ssize_t write(int fd, const void *from, size_t size)
{
	REAL(ssize_t, write, int, const void *, size_t);
	/* When a message cannot be written, there is nowhere left to say it. */
	return fd != STDERR_FILENO && fails(WRITE) ? -1 : real(fd, from, size);
}
LIKE(WRITE, -1, ssize_t, pwrite, (int fd, const void *from, size_t size, off_t at), (fd, from, size, at), int,
     const void *, size_t, off_t)
LIKE(WRITE, -1, ssize_t, pwrite64, (int fd, const void *from, size_t size, off64_t at), (fd, from, size, at), int,
     const void *, size_t, off64_t)
LIKE(WRITE, -1, ssize_t, writev, (int fd, const struct iovec *from, int n), (fd, from, n), int, const struct iovec *,
     int)

LIKE(FSYNC, -1, int, fsync, (int fd), (fd), int)
LIKE(FSYNC, -1, int, fdatasync, (int fd), (fd), int)

LIKE(RENAME, -1, int, rename, (const char *from, const char *to), (from, to), const char *, const char *)
LIKE(RENAME, -1, int, link, (const char *from, const char *to), (from, to), const char *, const char *)
LIKE(RENAME, -1, int, renameat2, (int a, const char *from, int b, const char *to, unsigned flags),
     (a, from, b, to, flags), int, const char *, int, const char *, unsigned)

LIKE(FORK, -1, pid_t, fork, (void), (), void)

/* openat2 has no function of its own. */
long syscall(long number, ...)
{
	long a[6];
	va_list ap;
	REAL(long, syscall, long, ...);

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	return number == SYS_openat2 && fails(OPEN) ? -1 : real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
