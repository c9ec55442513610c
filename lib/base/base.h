/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For all directories: the headers of C that nearly every file needs, scope guards, memory, growing arrays, small macros. */
#ifndef RD_BASE_H
#define RD_BASE_H

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RD_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Order of two values, for qsort; of several keys: RD_CMP(x->a, y->a) ?: RD_CMP(x->b, y->b) */
#define RD_CMP(a, b) (((a) > (b)) - ((a) < (b)))

/* The first of up to six values that is not 0; those behind it are not computed. */
#define RD_FIRST(...) RD_FIRST_OF(__VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define RD_FIRST_OF(a, b, c, d, e, f, ...) ((a) ?: (b) ?: (c) ?: (d) ?: (e) ?: (f))

/* Scope guards: the variable is released when it goes out of scope, whichever way that happens. */
static inline void rd_cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void rd_cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#define _cleanup_free_ __attribute__((cleanup(rd_cleanup_free)))
#define _cleanup_close_ __attribute__((cleanup(rd_cleanup_close)))
#define _cleanup_(fn) __attribute__((cleanup(fn)))

/* Frees each of these pointers. All are read before the first is freed: one may be in what another points to. */
#define RD_FREE(...) rd_free_each((void *[]){ __VA_ARGS__ }, RD_ARRAY_SIZE(((void *[]){ __VA_ARGS__ })))
static inline void rd_free_each(void *const *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(v[i]);
}

/* Takes a pointer, or a struct that owns some, out of its scope guard, which then frees NULL. */
#define RD_TAKE(p)                          \
	({                                  \
		__typeof__(p) taken_ = (p); \
		(p) = (__typeof__(p)){ 0 }; \
		taken_;                     \
	})

#define RD_TAKE_FD(fd)           \
	({                       \
		int taken_ = fd; \
		fd = -1;         \
		taken_;          \
	})

#define RD_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))

/* Reserves space for `need` elements in an array that grows by doubling. On failure `*v` is unchanged. Returns 0 or
 * -ENOMEM. */
int rd_grow(void *v, size_t *cap, size_t need, size_t elem_size);

/* Writes all bytes, repeating short writes. 0 or -errno. */
int rd_write_all(int fd, const void *data, size_t size);

/* Sends a message of `size` bytes over a socket, with `n` descriptors of open files. 0 or -errno. */
#define RD_FDS_MAX 64
int rd_send_fds(int sock, const void *data, size_t size, const int *fds, size_t n);
/* Receives one, with *n descriptors, of which `fds` has place for RD_FDS_MAX and which are the caller's. Returns the bytes, or -errno. */
ssize_t rd_recv_fds(int sock, void *data, size_t size, int *fds, size_t *n);

/* 64-bit FNV-1a: the same on every machine and in every version. Begin with RD_HASH, continue with the result. Not for hash
 * tables with untrusted keys. */
#define RD_HASH UINT64_C(0xcbf29ce484222325)
uint64_t rd_hash(uint64_t hash, const void *data, size_t size);

/* The element of a sorted array whose first member, a uint64_t, is `key`; NULL: not found. */
void *rd_find_u64(const void *v, size_t n, size_t elem_size, uint64_t key);

/* Compare two elements that begin with such a number, by that. */
int rd_compare_u32(const void *a, const void *b);
int rd_compare_u64(const void *a, const void *b);
/* The same with a text. */
int rd_compare_texts(const void *a, const void *b);

/* NULL equals NULL only. */
bool rd_same_text(const char *a, const char *b);

/* The index of the first element not less than `key` in an array sorted by `compare`; `n`: all are less. */
size_t rd_lower_bound(const void *key, const void *v, size_t n, size_t elem_size,
		      int (*compare)(const void *elem, const void *key));

/* qsort of an array that may be empty, and then NULL. */
static inline void rd_sort(void *v, size_t n, size_t elem_size, int (*compare)(const void *a, const void *b))
{
	if (v)
		qsort(v, n, elem_size, compare);
}

/* Whether SIGHUP is ignored, as under nohup: then the program must not catch it. */
bool rd_hangup_ignored(void);

/* Whether a fact is known. Unknown is never zero: it is "-" in a table and null in JSON. */
enum rd_known {
	RD_ABSENT = 0, /* the host does not have it, or it was not requested */
	RD_OK,
	RD_DENIED, /* could not be read (permission, I/O error, no descriptors): may exist */
	RD_STALE,  /* an older value; must not be shown as current */
} __attribute__((packed));

#define RD_FIELD(type)               \
	struct {                     \
		type v;              \
		enum rd_known known; \
	}

/* The same without padding, in structs of which there are thousands. No pointer may refer to its members. */
#define RD_PACKED_FIELD(type)        \
	struct {                     \
		type v;              \
		enum rd_known known; \
	} __attribute__((packed))

#define RD_SET(field, value)           \
	do {                           \
		(field).v = (value);   \
		(field).known = RD_OK; \
	} while (0)

/* Copies an RD_FIELD; each is a different unnamed type. */
#define RD_COPY(to, from)                  \
	do {                               \
		(to).v = (from).v;         \
		(to).known = (from).known; \
	} while (0)

/*
 * ---- memory for internal data: a failed allocation ends the program (rd_out_of_memory), so none of these returns NULL or an error.
 * What a file, a message or a process can make long has a limit of its own where time matters, and all of it together has one of
 * memory where foreign files are read alone (rd_end_limit).
 */

/* `n` zeroed elements; caller frees. Not NULL for 0 elements either. */
void *rd_alloc(size_t n, size_t elem_size) __attribute__((malloc, returns_nonnull, alloc_size(1, 2)));

/* Copies of text, the second of at most `size` bytes of it; caller frees. */
char *rd_dup(const char *text) __attribute__((malloc, returns_nonnull, nonnull));
char *rd_dup_part(const char *text, size_t size) __attribute__((malloc, returns_nonnull, nonnull));

/* A copy, or NULL of NULL. */
static inline char *rd_dup_if(const char *text)
{
	return text ? rd_dup(text) : NULL;
}

/* rd_grow that does not fail. */
void rd_reserve(void *v, size_t *cap, size_t need, size_t elem_size);

/* A new element at the end of the array `v` of `n` elements, for the caller to set. */
#define RD_ADD(v, n, cap) (rd_reserve(&(v), &(cap), (n) + 1, sizeof(*(v))), &(v)[(n)++])

/* ---- abnormal end of the program: out of memory, or a library calls exit */

#define RD_EXIT_NO_MEMORY 3 /* the exit status of such an end: unknown */

/* Registers a cleanup step for such an end: restore the terminal, remove temporary files. The last registered step runs first. A
 * function that is registered twice is called once; it must not allocate, and may be called when there is nothing to do. */
void rd_at_end(void (*step)(void));

/* main calls it first. From then on this process, not its forks, runs the steps and reports why it ends, and a call of exit()
 * outside main (libarchive does that when it is out of memory) is such an end. */
void rd_end_watch(void);

/* Limits the memory of this process and its forks, in bytes: all lists that an input can fill have this bound together, and each of them
 * alone needs none for the sake of memory. Ignored in programs built with a sanitizer, which reserve more. */
void rd_end_limit(size_t bytes);

/* main returns through it with `code`: a normal end. */
int rd_end_in_order(int code);

/* Runs the steps, reports on standard error that there is no memory, and exits with 3. In a forked process: exits with 3. */
_Noreturn void rd_out_of_memory(void);

#endif
