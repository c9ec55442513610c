/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What every room may use: scope guards, growing arrays, small macros. */
#ifndef RD_BASE_H
#define RD_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define RD_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

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

/* Hands a guarded pointer over: the guard then frees NULL. */
#define RD_TAKE(p)                          \
	({                                  \
		__typeof__(p) taken_ = (p); \
		(p) = NULL;                 \
		taken_;                     \
	})

#define RD_TAKE_FD(fd)           \
	({                       \
		int taken_ = fd; \
		fd = -1;         \
		taken_;          \
	})

#define RD_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))

/* Makes room for `need` elements in an array that grows by doubling. `*v` keeps its contents and is unchanged on
 * failure. Returns 0 or -ENOMEM. */
int rd_grow(void *v, size_t *cap, size_t need, size_t elem_size);

/* Writes all of it, however often the kernel takes a part only. 0 or -errno. */
int rd_write_all(int fd, const void *data, size_t size);

/* FNV-1a of 64 bits: the same on every machine and in every version. Begin with RD_HASH, go on with what came out. Not for
 * tables whose keys an enemy can choose. */
#define RD_HASH UINT64_C(0xcbf29ce484222325)
uint64_t rd_hash(uint64_t hash, const void *data, size_t size);

/* The element of a sorted array whose first member, a uint64_t, is `key`; NULL: none is. */
void *rd_find_u64(const void *v, size_t n, size_t elem_size, uint64_t key);

/* Where in an array that `compare` has sorted the first element stands that is not less than `key`; `n`: all are less. */
size_t rd_lower_bound(const void *key, const void *v, size_t n, size_t elem_size,
		      int (*compare)(const void *elem, const void *key));

/* SIGHUP is ignored, as nohup has it: who is asked to stay must not catch it. */
bool rd_hangup_ignored(void);

/* What is known of a fact. Unknown is never zero: it is "-" in a table and null in JSON. */
enum rd_known {
	RD_ABSENT = 0, /* the host has no such thing, or nobody asked */
	RD_OK,
	RD_DENIED, /* could not be read (permission, I/O error, no descriptors): there or not */
	RD_STALE,  /* an older value; not to be shown as new */
};

#define RD_FIELD(type)               \
	struct {                     \
		type v;              \
		enum rd_known known; \
	}

#define RD_SET(field, value)           \
	do {                           \
		(field).v = (value);   \
		(field).known = RD_OK; \
	} while (0)

/* Of one type each, which has no name. */
#define RD_COPY(to, from)                  \
	do {                               \
		(to).v = (from).v;         \
		(to).known = (from).known; \
	} while (0)

#endif
