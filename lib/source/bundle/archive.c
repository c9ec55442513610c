/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decompresses single files with libarchive's "raw" format: one member without a name. */
#include "source/shared/source.h"

#include <errno.h>
#include <string.h>

#include "source/bundle/libarchive.h"

RD_LATE_DEFINE(rd_libarchive, RD_LIBARCHIVE_CALLS, RD_LIBARCHIVE)

#define CHUNK ((size_t)64 << 10)

struct packing {
	const char *name;
	const char *magic;
	size_t magic_size;
	int (**support)(struct archive *archive);
};

static const struct packing packings[] = {
	{ "gzip", "\x1f\x8b", 2, &rd_libarchive.archive_read_support_filter_gzip },
	{ "bzip2", "BZh", 3, &rd_libarchive.archive_read_support_filter_bzip2 },
	{ "xz", "\xfd\x37zXZ", 6, &rd_libarchive.archive_read_support_filter_xz },
	{ "lz4", "\x02\x21\x4c\x18", 4,
	  &rd_libarchive.archive_read_support_filter_lz4 }, /* legacy frames, as lz4 -l writes */
	{ "zstd", "\x28\xb5\x2f\xfd", 4, &rd_libarchive.archive_read_support_filter_zstd },
};

/* Enables only the filter of the magic: the file must not select other parsers. */
static const struct packing *packing_of(const struct rd_bytes *in)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(packings); i++)
		if (in->size >= packings[i].magic_size &&
		    memcmp(in->data, packings[i].magic, packings[i].magic_size) == 0)
			return &packings[i];
	return NULL;
}

static int bytes_copy(const struct rd_bytes *in, size_t limit, struct rd_bytes *ret, struct rd_err *err)
{
	uint8_t *data;

	if (in->size > limit)
		return rd_err_set(err, EFBIG, "file", "larger than the limit of %zu bytes", limit);
	data = malloc(in->size + 1);
	if (!data)
		return rd_err_set(err, ENOMEM, "file", "no memory for %zu bytes", in->size);
	if (in->size)
		memcpy(data, in->data, in->size);
	data[in->size] = '\0';
	*ret = (struct rd_bytes){ .data = data, .size = in->size };
	return 0;
}

static int damaged(struct archive *archive, const struct packing *packing, struct rd_err *err)
{
	const char *why = rd_libarchive.archive_error_string(archive);

	if (rd_libarchive.archive_errno(archive) == ENOMEM)
		return rd_err_set(err, ENOMEM, packing->name, "no memory to decompress it");
	return rd_err_set(err, EBADMSG, packing->name, "cannot decompress: %s", why ? why : "damaged data");
}

static int read_raw(struct archive *archive, const struct packing *packing, size_t limit, struct rd_bytes *ret,
		    struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	struct archive_entry *entry;
	size_t cap = 0;

	/* ARCHIVE_EOF: a well-formed empty file. */
	if (rd_libarchive.archive_read_next_header(archive, &entry) < ARCHIVE_OK)
		return damaged(archive, packing, err);
	/* A filter that rejects the header is skipped, and the compressed bytes would be returned as contents. */
	if (rd_libarchive.archive_filter_code(archive, 0) == ARCHIVE_FILTER_NONE)
		return rd_err_set(err, EBADMSG, packing->name, "cannot decompress: damaged header");
	for (;;) {
		la_ssize_t n;

		if (rd_grow(&bytes.data, &cap, bytes.size + CHUNK + 1, 1) < 0)
			return rd_err_set(err, ENOMEM, packing->name, "no memory to decompress it");
		n = rd_libarchive.archive_read_data(archive, bytes.data + bytes.size, CHUNK);
		if (n < 0)
			return damaged(archive, packing, err);
		if (n == 0)
			break;
		bytes.size += n;
		if (bytes.size > limit)
			return rd_err_set(err, EFBIG, packing->name, "decompresses to more than the limit of %zu bytes",
					  limit);
	}
	bytes.data[bytes.size] = '\0';
	*ret = bytes;
	bytes = (struct rd_bytes){ 0 };
	return 0;
}

int rd_unpack(const struct rd_bytes *in, size_t limit, struct rd_bytes *ret, struct rd_err *err)
{
	_cleanup_(rd_archive_freep) struct archive *archive = NULL;
	const struct packing *packing = packing_of(in);
	int r;

	if (!packing)
		return bytes_copy(in, limit, ret, err);
	r = rd_libarchive_load(packing->name, err);
	if (r < 0)
		return r;
	archive = rd_libarchive.archive_read_new();
	if (!archive)
		return rd_err_set(err, ENOMEM, packing->name, "no memory to decompress it");
	/* ARCHIVE_WARN: libarchive was built without this filter, and would run the program of that name instead. */
	if ((*packing->support)(archive) != ARCHIVE_OK)
		return rd_err_set(err, ENOTSUP, packing->name, "this libarchive does not support its compression");
	if (rd_libarchive.archive_read_support_format_raw(archive) != ARCHIVE_OK ||
	    rd_libarchive.archive_read_support_format_empty(archive) != ARCHIVE_OK ||
	    rd_libarchive.archive_read_open_memory(archive, in->data, in->size) != ARCHIVE_OK)
		return damaged(archive, packing, err);
	return read_raw(archive, packing, limit, ret, err);
}
