/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Libraries that are loaded on demand (base/late.h), and what is not available without each. */
#ifndef RD_LIBRARY_H
#define RD_LIBRARY_H

#include <stddef.h>

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

#endif
