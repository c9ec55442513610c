/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Libraries that are loaded when they are needed. Linked, each would cost every command its share of the time to start, and a
 * host that lacks one could run none of them.
 *
 * A header lists the functions that are called, and makes a table of it, which is the only way to call them; a source
 * defines it, with what fills it:
 *
 *	#define RD_LIBX_CALLS(x) x(x_open) x(x_close)
 *	RD_LATE_DECLARE(rd_libx, RD_LIBX_CALLS);
 *
 *	RD_LATE_DEFINE(rd_libx, RD_LIBX_CALLS, RD_LIBX)
 */
#ifndef RD_LATE_H
#define RD_LATE_H

#include "base/err.h"
#include "base/library.h"

#define RD_LATE_MEMBER(name) __typeof__(&name) name;
#define RD_LATE_NAME(name) #name,

struct rd_late {
	const struct rd_library *library;
	const char *const *names; /* RD_LIBX(RD_LATE_NAME) */
	size_t n;		  /* of them */
	void *table;		  /* n pointers, zeroed, which are filled in one go */
	char why[160];		  /* not there: what the loader said first */
};

/* May be called as often as one likes. `object`: what it was needed for. -EOPNOTSUPP with `err` filled where the library or
 * one of the functions is not there: found out once, for a process that has given up its privileges could only tell that it
 * may not look. The library stays. */
int rd_late_load(struct rd_late *late, const char *object, struct rd_err *err);

/* The table, and what fills it, which is to be called before the first of the functions; see rd_late_load. */
#define RD_LATE_DECLARE(lib, list)   \
	struct lib {                 \
		list(RD_LATE_MEMBER) \
	};                           \
	extern struct lib lib;       \
	int lib##_load(const char *object, struct rd_err *err)
#define RD_LATE_DEFINE(lib, list, id)                                                                          \
	struct lib lib;                                                                                        \
	int lib##_load(const char *object, struct rd_err *err)                                                 \
	{                                                                                                      \
		static const char *const names[] = { list(RD_LATE_NAME) };                                     \
		static struct rd_late late = {                                                                 \
			.library = &rd_libraries[id], .names = names, .n = RD_ARRAY_SIZE(names), .table = &lib \
		};                                                                                             \
		_Static_assert(sizeof(lib) == sizeof(void *) * RD_ARRAY_SIZE(names), "a pointer a name");      \
                                                                                                               \
		return rd_late_load(&late, object, err);                                                       \
	}

#endif
