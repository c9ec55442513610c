/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libarchive, loaded only if an archive or a compressed kernel module is read: it depends on an XML parser, Unicode tables and a
 * C++ library.
 */
#ifndef RD_SOURCE_LIBARCHIVE_H
#define RD_SOURCE_LIBARCHIVE_H

#include <archive.h>
#include <archive_entry.h>

#include "base/late.h"

/* clang-format off */
#define RD_LIBARCHIVE_CALLS(x) \
	x(archive_entry_clear) x(archive_entry_filetype) x(archive_entry_free) x(archive_entry_hardlink) \
	x(archive_entry_new) x(archive_entry_pathname) x(archive_entry_set_mode) x(archive_entry_set_mtime) \
	x(archive_entry_set_pathname) x(archive_entry_set_size) x(archive_entry_set_symlink) x(archive_entry_size) \
	x(archive_entry_symlink) x(archive_errno) x(archive_error_string) x(archive_filter_bytes) \
	x(archive_filter_code) x(archive_read_data) x(archive_read_data_block) x(archive_read_free) x(archive_read_new) \
	x(archive_read_next_header) x(archive_read_open) x(archive_read_open_fd) x(archive_read_open_memory) \
	x(archive_read_support_filter_bzip2) x(archive_read_support_filter_gzip) x(archive_read_support_filter_lz4) \
	x(archive_read_support_filter_rpm) x(archive_read_support_filter_xz) x(archive_read_support_filter_zstd) \
	x(archive_read_support_format_ar) x(archive_read_support_format_cpio) \
	x(archive_read_support_format_empty) x(archive_read_support_format_raw) x(archive_read_support_format_tar) \
	x(archive_write_add_filter_bzip2) x(archive_write_add_filter_gzip) x(archive_write_add_filter_none) \
	x(archive_write_add_filter_zstd) x(archive_write_close) x(archive_write_data) x(archive_write_free) \
	x(archive_write_header) x(archive_write_new) x(archive_write_open) x(archive_write_open_fd) \
	x(archive_write_set_bytes_in_last_block) x(archive_write_set_format_pax_restricted)
/* clang-format on */

RD_LATE_DECLARE(rd_libarchive, RD_LIBARCHIVE_CALLS);

/* For _cleanup_(). */
static inline void rd_archive_freep(struct archive **archive)
{
	if (*archive)
		rd_libarchive.archive_read_free(*archive);
}

#endif
