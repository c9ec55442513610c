/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Libraries that are loaded on demand. Linked, each would slow down the start of every command, and the program would not start
 * on a host that lacks one.
 *
 * A header lists the functions and declares a table of them, which is the only way to call them; a source file defines the
 * table and its load function:
 *
 *	#define RD_LIBX_CALLS(x) x(x_open) x(x_close)
 *	RD_LATE_DECLARE(rd_libx, RD_LIBX_CALLS);
 *
 *	RD_LATE_DEFINE(rd_libx, RD_LIBX_CALLS, RD_LIBX)
 */
#ifndef RD_LATE_H
#define RD_LATE_H

#include "base/err.h"

/* A library, and what is not available without it. */
struct rd_library {
	const char *soname;
	const char *without; /* the consequence if it is missing: "archives cannot be read or written" */
	const char *where;   /* the affected commands and options */
	const char *package; /* the package to install */
};

enum rd_library_id {
	RD_LIBARCHIVE,
	RD_LIBBPF, /* linked by "make static" */
	RD_LIBDW,
	RD_LIBELF, /* linked by libbpf, but for "make static" */
	RD_LIBEXPAT,
	RD_LIBIBMAD,
	RD_LIBIBUMAD,
	RD_LIBIBVERBS,
	RD_LIBMLX5,
	RD_LIBMNL, /* linked, but for "make static" */
	RD_LIBNCURSES,
	RD_LIBREADLINE,
	RD_LIBSMARTCOLS,
	RD_LIBRARIES
};

extern const struct rd_library rd_libraries[RD_LIBRARIES];

#define RD_LATE_MEMBER(name) __typeof__(&name) name;
#define RD_LATE_NAME(name) #name,

struct rd_late {
	const struct rd_library *library;
	const char *const *names; /* RD_LIBX(RD_LATE_NAME) */
	size_t n;		  /* of them */
	void *table;		  /* n pointers, zeroed, filled all at once */
	char why[160];		  /* not available: the first error of the loader */
};

/* May be called repeatedly. `object`: what needs the library. -EOPNOTSUPP with `err` filled if the library or one of its functions
 * is missing: the first error is kept, because a process that has dropped its privileges would only get EACCES. The library stays
 * loaded. */
int rd_late_load(struct rd_late *late, const char *object, struct rd_err *err);

/* The table and its load function, which must be called before the first of the functions; see rd_late_load. */
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
