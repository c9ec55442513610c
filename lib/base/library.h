/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which libraries are loaded when they are needed (base/late.h), and what cannot be had where one is not there. */
#ifndef RD_LIBRARY_H
#define RD_LIBRARY_H

#include <stddef.h>

struct rd_library {
	const char *soname;
	const char *without; /* "archives cannot be read or written": what cannot be had */
	const char *where;   /* the commands and options that this is about */
	const char *package; /* what to install, as distributions call it */
};

enum rd_library_id {
	RD_LIBARCHIVE,
	RD_LIBDW,
	RD_LIBEXPAT,
	RD_LIBIBMAD,
	RD_LIBIBUMAD,
	RD_LIBIBVERBS,
	RD_LIBMLX5,
	RD_LIBMNL, /* linked, but for "make static" */
	RD_LIBNCURSES,
	RD_LIBRARIES
};

extern const struct rd_library rd_libraries[RD_LIBRARIES];

#endif
