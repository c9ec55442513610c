/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libarchive: a tar archive, member by member into a tree, and single files, in its "raw" format: one member without a name. Nothing is
 * written anywhere. */
#include "source/bundle/bundle.h"

#include "source/bundle/libarchive.h"

RD_LATE_DEFINE(rd_libarchive, RD_LIBARCHIVE_CALLS, RD_LIBARCHIVE)

#define READ_SIZE ((size_t)64 << 10)
#define PIECE_SIZE ((size_t)4 << 10) /* of an archive in memory */
/* After the end of an archive: its padding, and the end of the compressed stream. No bundle is that small. */
#define REST_MAX ((size_t)2 << 10)
#define TAR_BLOCK 512
/* Limits of an archive that contains a tree of the maximum size: each member has a header and padding. They also limit duplicate
 * names and headers, which are not part of the tree. */
#define MEMBERS_MAX RD_TREE_NODES_MAX
#define UNPACKED_MAX (RD_TREE_BYTES_MAX + 2 * TAR_BLOCK * MEMBERS_MAX)

#define HEAD_SIZE 8 /* at least the longest magic */

struct packing {
	const char *name, *magic;
	size_t size;
	bool bundle; /* also of a bundle */
	int (**support)(struct archive *archive);
};

static const struct packing packings[] = {
	{ "gzip", "\x1f\x8b", 2, true, &rd_libarchive.archive_read_support_filter_gzip },
	{ "bzip2", "BZh", 3, true, &rd_libarchive.archive_read_support_filter_bzip2 },
	{ "zstd", "\x28\xb5\x2f\xfd", 4, true, &rd_libarchive.archive_read_support_filter_zstd },
	{ "xz", "\xfd\x37zXZ", 6, false, &rd_libarchive.archive_read_support_filter_xz },
	/* legacy frames, as lz4 -l writes */
	{ "lz4", "\x02\x21\x4c\x18", 4, false, &rd_libarchive.archive_read_support_filter_lz4 },
};

/* That of the magic, the only one that is enabled: the file must not select other parsers. */
static const struct packing *packing_of(const void *head, size_t size)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(packings); i++)
		if (size >= packings[i].size && memcmp(head, packings[i].magic, packings[i].size) == 0)
			return &packings[i];
	return NULL;
}

static int damaged_as(struct archive *archive, const char *name, const char *what, struct rd_err *err)
{
	const char *why = rd_libarchive.archive_error_string(archive);

	if (rd_libarchive.archive_errno(archive) == ENOMEM)
		return rd_err_set(err, ENOMEM, name, "no memory to read it");
	return rd_err_set(err, EBADMSG, name, "%s: %s", what, why ? why : "damaged data");
}

static int damaged(struct archive *archive, const char *name, struct rd_err *err)
{
	return damaged_as(archive, name, "not a complete tar archive", err);
}

/* An archive in memory is handed to libarchive in pieces: what remains at its end shows whether something follows. */
struct pieces {
	const struct rd_bytes *bytes;
	size_t at;
};

static la_ssize_t next_piece(struct archive *archive, void *arg, const void **ret)
{
	struct pieces *pieces = arg;
	size_t left = pieces->bytes->size - pieces->at, size = left < PIECE_SIZE ? left : PIECE_SIZE;

	*ret = pieces->bytes->data + pieces->at;
	pieces->at += size;
	return (la_ssize_t)size;
}

static int read_member(struct archive *archive, const char *name, size_t claimed, struct rd_bytes *ret,
		       struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	la_ssize_t n;

	if (claimed > RD_TREE_FILE_MAX)
		return rd_err_set(err, EFBIG, name, "a file of %zu bytes exceeds the limit of %zu", claimed,
				  RD_TREE_FILE_MAX);
	bytes.data = rd_alloc(claimed + 1, 1);
	while (bytes.size < claimed) {
		n = rd_libarchive.archive_read_data(archive, bytes.data + bytes.size, claimed - bytes.size);
		if (n < 0)
			return damaged(archive, name, err);
		if (n == 0)
			return rd_err_set(err, EBADMSG, name, "not a complete tar archive: a file is truncated");
		bytes.size += n;
	}
	/* Read to the end: only then libarchive skips the padding after the file. */
	if (rd_libarchive.archive_read_data(archive, bytes.data + bytes.size, 1) != 0)
		return damaged(archive, name, err);
	bytes.data[bytes.size] = '\0';
	*ret = RD_TAKE(bytes);
	return 0;
}

static int bad_member(const char *name, const char *member, int r, struct rd_err *err)
{
	if (r == -EFBIG)
		return rd_err_set(err, EFBIG, name, "contains more than %zu files or %zu MB", MEMBERS_MAX,
				  RD_TREE_BYTES_MAX >> 20);
	return rd_err_set(err, EBADMSG, name, "not a bundle: contains '%s', which is not allowed",
			  member ? member : "(name in an unknown charset)");
}

static int take_member(struct archive *archive, struct archive_entry *entry, const char *name, struct rd_tree *tree,
		       struct rd_err *err)
{
	const char *path = rd_libarchive.archive_entry_pathname(entry);
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	mode_t type = rd_libarchive.archive_entry_filetype(entry);
	enum rd_node_type was;
	uint32_t node;
	int r;

	while (path && path[0] == '.' && path[1] == '/')
		path += 2 + strspn(path + 2, "/");
	if (path && type == AE_IFDIR && (!*path || strcmp(path, ".") == 0))
		return 0;
	r = path && !rd_libarchive.archive_entry_hardlink(entry) ? rd_tree_enter(tree, RD_TREE_TOP, path, &node) :
								   -EBADMSG;
	if (r < 0)
		return bad_member(name, path, r, err);
	was = rd_tree_node(tree, node)->type;
	/* A duplicate name: readers would differ in which of them they use. */
	if (was != RD_NODE_NONE && (was != RD_NODE_DIR || type != AE_IFDIR))
		return bad_member(name, path, -EBADMSG, err);
	if (type == AE_IFDIR) {
		rd_tree_node(tree, node)->type = RD_NODE_DIR;
	} else if (type == AE_IFLNK) {
		const char *target = rd_libarchive.archive_entry_symlink(entry);

		r = !target || !*target || strlen(target) >= 4096 ?
			    -EBADMSG :
			    rd_tree_set(tree, node, RD_NODE_LINK, target, strlen(target));
	} else if (type == AE_IFREG) {
		int64_t size = rd_libarchive.archive_entry_size(entry);

		r = read_member(archive, name, size < 0 ? SIZE_MAX : (size_t)size, &bytes, err);
		if (r < 0)
			return r;
		r = rd_tree_set(tree, node, RD_NODE_FILE, bytes.data, bytes.size);
	} else {
		r = -EBADMSG;
	}
	return r < 0 ? bad_member(name, path, r, err) : 0;
}

static int read_members(struct archive *archive, const char *name, struct rd_tree *tree, struct rd_err *err)
{
	int64_t behind = 0;
	size_t members = 0;

	for (;;) {
		struct archive_entry *entry;
		int r = rd_libarchive.archive_read_next_header(archive, &entry);
		if (r == ARCHIVE_EOF)
			break;
		/* Warnings concern features that we do not use, such as charsets of names; ARCHIVE_RETRY: a wrong header checksum. */
		if (r != ARCHIVE_OK && r != ARCHIVE_WARN)
			return damaged(archive, name, err);
		if (members++ == MEMBERS_MAX || rd_libarchive.archive_filter_bytes(archive, 0) > (int64_t)UNPACKED_MAX)
			return bad_member(name, NULL, -EFBIG, err);
		r = take_member(archive, entry, name, tree, err);
		if (r < 0)
			return r;
		behind = rd_libarchive.archive_filter_bytes(archive, 0);
	}
	/* libarchive also accepts the end of the file as end of the archive; a complete archive ends in a block of zeros. */
	if (rd_libarchive.archive_filter_bytes(archive, 0) - behind < TAR_BLOCK)
		return rd_err_set(err, EBADMSG, name, "not a complete tar archive: end-of-archive block is missing");
	return 0;
}

int rd_bundle_read_tar(int fd, const struct rd_bytes *bytes, const char *name, struct rd_tree *tree, struct rd_err *err)
{
	_cleanup_(rd_archive_freep) struct archive *archive = NULL;
	struct pieces pieces = { .bytes = bytes };
	const struct packing *packing;
	uint8_t head[HEAD_SIZE] = { 0 };
	int r = rd_libarchive_load(name, err);

	if (r < 0)
		return r;
	if (bytes)
		memcpy(head, bytes->data, bytes->size < HEAD_SIZE ? bytes->size : HEAD_SIZE);
	else if (pread(fd, head, sizeof(head), 0) < 0)
		return rd_err_set(err, errno, name, "cannot read");
	archive = rd_libarchive.archive_read_new();
	if (!archive)
		return rd_err_set(err, ENOMEM, name, "no memory to read the archive");
	packing = packing_of(head, HEAD_SIZE);
	/* ARCHIVE_WARN: libarchive was built without this filter, and would run the program of that name instead. */
	if (packing && packing->bundle && (*packing->support)(archive) != ARCHIVE_OK)
		return rd_err_set(err, ENOTSUP, name, "this libarchive does not support its compression");
	if (rd_libarchive.archive_read_support_format_tar(archive) != ARCHIVE_OK ||
	    (bytes ? rd_libarchive.archive_read_open(archive, &pieces, NULL, next_piece, NULL) :
		     rd_libarchive.archive_read_open_fd(archive, fd, READ_SIZE)) != ARCHIVE_OK)
		return damaged(archive, name, err);
	r = read_members(archive, name, tree, err);
	if (r < 0 || !bytes)
		return r;
	while (pieces.at < bytes->size && bytes->data[pieces.at] == 0)
		pieces.at++;
	if (bytes->size - pieces.at <= REST_MAX)
		return 0;
	rd_err_set(err, EBADMSG, name, "more than one bundle: %zu bytes follow the first one", bytes->size - pieces.at);
	return rd_err_hint(err, "write the bundle of each host to a file of its own");
}

static int read_raw(struct archive *archive, const struct packing *packing, size_t limit, struct rd_bytes *ret,
		    struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	struct archive_entry *entry;
	size_t cap = 0;

	/* ARCHIVE_EOF: a well-formed empty file. */
	if (rd_libarchive.archive_read_next_header(archive, &entry) < ARCHIVE_OK)
		return damaged_as(archive, packing->name, "cannot decompress", err);
	/* A filter that rejects the header is skipped, and the compressed bytes would be returned as contents. */
	if (rd_libarchive.archive_filter_code(archive, 0) == ARCHIVE_FILTER_NONE)
		return rd_err_set(err, EBADMSG, packing->name, "cannot decompress: damaged header");
	for (;;) {
		la_ssize_t n;

		rd_reserve(&bytes.data, &cap, bytes.size + READ_SIZE + 1, 1);
		n = rd_libarchive.archive_read_data(archive, bytes.data + bytes.size, READ_SIZE);
		if (n < 0)
			return damaged_as(archive, packing->name, "cannot decompress", err);
		if (n == 0)
			break;
		bytes.size += n;
		if (bytes.size > limit)
			return rd_err_set(err, EFBIG, packing->name, "decompresses to more than the limit of %zu bytes",
					  limit);
	}
	bytes.data[bytes.size] = '\0';
	*ret = RD_TAKE(bytes);
	return 0;
}

int rd_unpack(const struct rd_bytes *in, size_t limit, struct rd_bytes *ret, struct rd_err *err)
{
	_cleanup_(rd_archive_freep) struct archive *archive = NULL;
	const struct packing *packing = packing_of(in->data, in->size);
	int r;

	if (!packing && in->size > limit)
		return rd_err_set(err, EFBIG, "file", "larger than the limit of %zu bytes", limit);
	if (!packing)
		return rd_bytes_copy(in->data, in->size, ret);
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
		return damaged_as(archive, packing->name, "cannot decompress", err);
	return read_raw(archive, packing, limit, ret, err);
}
