/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libarchive, loaded when an archive or a packed kernel module is really read. It brings an XML parser, Unicode tables and a
 * C++ library along: linked, it would be two thirds of the time that every command takes to start.
 */
#ifndef RD_SOURCE_LIBARCHIVE_H
#define RD_SOURCE_LIBARCHIVE_H

#include <archive.h>
#include <archive_entry.h>

#include "base/err.h"

/* The functions that are called, without their "archive_". */
#define RD_LIBARCHIVE(x)                                                                                              \
	x(entry_clear) x(entry_filetype) x(entry_free) x(entry_hardlink) x(entry_new) x(entry_pathname) x(            \
		entry_set_mode) x(entry_set_mtime) x(entry_set_pathname) x(entry_set_size) x(entry_set_symlink)       \
		x(entry_size) x(entry_symlink) x(errno) x(error_string) x(filter_bytes) x(filter_code) x(read_data)   \
			x(read_free) x(read_new) x(read_next_header) x(read_open_fd) x(read_open_memory) x(           \
				read_support_filter_bzip2) x(read_support_filter_gzip) x(read_support_filter_xz)      \
				x(read_support_filter_zstd) x(read_support_format_empty) x(read_support_format_raw)   \
					x(read_support_format_tar) x(write_add_filter_bzip2) x(write_add_filter_gzip) \
						x(write_add_filter_none) x(write_add_filter_zstd) x(write_close)      \
							x(write_data) x(write_free) x(write_header) x(write_new)      \
								x(write_open_fd) x(write_set_format_pax_restricted)

struct rd_libarchive {
#define RD_LIBARCHIVE_MEMBER(name) __typeof__(&archive_##name) f_##name;
	RD_LIBARCHIVE(RD_LIBARCHIVE_MEMBER)
#undef RD_LIBARCHIVE_MEMBER
};

/* Filled by rd_libarchive_load; nobody else writes it. */
extern struct rd_libarchive rd_libarchive;

/* To be called before the first of the functions, as often as one likes. -EOPNOTSUPP with `err` filled where there is no
 * libarchive. */
int rd_libarchive_load(const char *object, struct rd_err *err);

#endif
