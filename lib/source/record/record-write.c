/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording as a tar archive. */
#include "source/bundle/bundle.h"
#include "source/bundle/json-read.h"
#include "source/bundle/libarchive.h"
#include "source/opener/opener.h"
#include "source/record/record.h"

#include <sys/stat.h>

/* The text of a file of the first sample, without the newline at its end, if it was recorded. */
static void add_fact(const struct rd_recording *recording, const char *key, const char *path, struct rd_buf *out)
{
	const struct rd_record_sample *sample = &recording->samples[0];
	_cleanup_free_ char *text = NULL;
	const struct rd_node *node;
	int at = rd_tree_resolve(sample->tree, sample->root, path, true);

	if (at < 0 || rd_tree_node(sample->tree, (uint32_t)at)->type != RD_NODE_FILE)
		return;
	node = rd_tree_node(sample->tree, (uint32_t)at);
	text = rd_dup_part((char *)node->data, strcspn((char *)node->data, "\n"));
	rd_buf_printf(out, "\"%s\": ", key);
	rd_json_add_text(out, text);
	rd_buf_str(out, ",\n");
}

/* Whether a listing equals the members in the archive. */
static bool lists_members(struct rd_tree *tree, uint32_t dir, const struct rd_texts *names)
{
	size_t members = 0;

	for (uint32_t i = rd_tree_node(tree, dir)->child; i; i = rd_tree_node(tree, i)->next)
		members += rd_tree_node(tree, i)->type != RD_NODE_NONE;
	if (members != names->n)
		return false;
	for (size_t i = 0; i < names->n; i++) {
		uint32_t child = rd_tree_child(tree, dir, names->v[i], strlen(names->v[i]));

		if (!child || rd_tree_node(tree, child)->type == RD_NODE_NONE)
			return false;
	}
	return true;
}

static void add_hash(const char *key, uint64_t hash, struct rd_buf *out)
{
	rd_buf_printf(out, "\"%s\":\"%016llx\"", key, (unsigned long long)hash);
}

static void add_answer(struct rd_tree *tree, const struct rd_recorded_request *request, bool first, struct rd_buf *out)
{
	const struct rd_node *node = rd_tree_node(tree, request->node);
	struct rd_node_more *more = node->more;
	int code = more ? more->code[request->query] : 0;

	if (code) {
		const char *name = rd_errno_name(code);

		rd_buf_printf(out, name ? ",\"errno\":\"%s\"" : ",\"errno\":\"%s%d\"", name ? name : "", code);
		return;
	}
	if (node->type == RD_NODE_FILE) {
		rd_buf_str(out, ",");
		add_hash("hash", rd_hash(RD_HASH, node->data, node->size), out);
	}
	if (!more)
		return;
	if (request->query == RD_OP_LIST) {
		if (first && lists_members(tree, request->node, &more->names))
			return;
		rd_buf_str(out, ",\"names\":[");
		for (size_t i = 0; i < more->names.n; i++) {
			rd_buf_str(out, i ? "," : "");
			rd_json_add_text(out, more->names.v[i]);
		}
		rd_buf_str(out, "]");
	} else if (request->query == RD_OP_LINK && more->target) {
		rd_buf_str(out, ",\"target\":");
		rd_json_add_text(out, more->target);
	} else if (rd_node_value(more, request->query)) {
		rd_buf_printf(out, ",\"value\":%llu", (unsigned long long)*rd_node_value(more, request->query));
	}
}

static void add_request(const struct rd_record_sample *sample, const struct rd_recorded_request *request, bool first,
			struct rd_buf *out)
{
	_cleanup_free_ char *path = rd_tree_path(sample->tree, RD_TREE_TOP, request->node);

	rd_buf_printf(out, "{\"ask\":\"%s\",\"path\":", rd_query_names[request->query]);
	/* "root/sys/…" becomes "/sys/…", "nl/route/…" becomes "route/…". */
	if (strncmp(path, "root", 4) == 0)
		rd_json_add_text(out, path[4] ? path + 4 : "/");
	else
		rd_json_add_text(out, path + 3);
	rd_buf_printf(out, ",\"at_ns\":%llu", (unsigned long long)request->at_ns);
	add_answer(sample->tree, request, first, out);
	rd_buf_str(out, "}");
}

static void add_sample(const struct rd_record_sample *sample, bool first, struct rd_buf *out)
{
	rd_buf_printf(out, "{\"realtime_ns\": %llu, \"monotonic_ns\": %llu, ", (unsigned long long)sample->realtime_ns,
		      (unsigned long long)sample->monotonic_ns);
	add_hash("shape", rd_tree_shape(sample->tree, sample->root, RD_HASH), out);
	rd_buf_str(out, ", \"requests\": [");
	for (size_t i = 0; i < sample->n_requests; i++) {
		rd_buf_str(out, i ? ",\n" : "\n");
		add_request(sample, &sample->requests[i], first, out);
	}
	rd_buf_str(out, "]}");
}

static void add_redaction(const struct rd_redaction *redaction, struct rd_buf *out)
{
	rd_buf_str(out, "\"redaction\": {");
	add_hash("key", redaction->key.v, out);
	rd_buf_str(out, ",\"networks\":{");
	for (size_t i = 0; i < redaction->n_nets; i++) {
		const struct rd_redacted_net *net = &redaction->nets[i];
		char name[8];

		snprintf(name, sizeof(name), "%u.%u", net->pseudonym >> 8 & 255U, net->pseudonym & 255U);
		rd_buf_str(out, i ? "," : "");
		add_hash(name, net->id, out);
	}
	rd_buf_str(out, "}},\n");
}

/* The manifest, as JSON. `version`: of the program. */
static void make_manifest(const struct rd_recording *recording, const char *version, struct rd_buf *out)
{
	char time[RD_RFC3339_SIZE];

	rd_buf_str(out, "{\n\"schema\": \"" RD_BUNDLE_SCHEMA "\",\n\"version\": ");
	rd_json_add_text(out, version);
	rd_rfc3339(recording->samples[0].realtime_ns, time);
	rd_buf_printf(out, ",\n\"time\": \"%s\",\n", time);
	add_fact(recording, "hostname", "/proc/sys/kernel/hostname", out);
	add_fact(recording, "kernel", "/proc/sys/kernel/osrelease", out);
	add_fact(recording, "boot_id", "/proc/sys/kernel/random/boot_id", out);
	rd_buf_printf(out, "\"byte_order\": \"%s\",\n\"redacted\": %s,\n",
		      __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "little" : "big",
		      recording->redaction.redacted ? "true" : "false");
	if (recording->redaction.key.known == RD_OK)
		add_redaction(&recording->redaction, out);
	rd_buf_str(out, "\"samples\": [");
	for (size_t i = 0; i < recording->n_samples; i++) {
		rd_buf_str(out, i ? ",\n" : "\n");
		add_sample(&recording->samples[i], i == 0, out);
	}
	/* Covers all bytes before it, so it must be the last member. */
	rd_buf_str(out, "],\n");
	add_hash("hash", rd_hash(RD_HASH, out->data, out->len - 2), out);
	rd_buf_str(out, "\n}\n");
}

struct writer {
	struct archive *archive;
	struct archive_entry *entry;
	uint64_t mtime_ns;
};

static void writer_deinit(struct writer *writer)
{
	if (writer->entry)
		rd_libarchive.archive_entry_free(writer->entry);
	if (writer->archive)
		rd_libarchive.archive_write_free(writer->archive);
}

static int write_failed(struct writer *writer)
{
	int code = rd_libarchive.archive_errno(writer->archive);

	return code > 0 ? -code : -EIO;
}

static int write_entry(struct writer *writer, const char *path, mode_t type, const void *data, size_t size)
{
	struct archive_entry *entry = rd_libarchive.archive_entry_clear(writer->entry);

	rd_libarchive.archive_entry_set_pathname(entry, path);
	rd_libarchive.archive_entry_set_mode(entry, type | (type == AE_IFREG ? 0644 : 0755));
	rd_libarchive.archive_entry_set_mtime(entry, writer->mtime_ns / 1000000000u, 0);
	if (type == AE_IFREG)
		rd_libarchive.archive_entry_set_size(entry, size);
	if (type == AE_IFLNK)
		rd_libarchive.archive_entry_set_symlink(entry, data);
	if (rd_libarchive.archive_write_header(writer->archive, entry) < ARCHIVE_WARN)
		return write_failed(writer);
	if (type == AE_IFREG && size &&
	    rd_libarchive.archive_write_data(writer->archive, data, size) != (la_ssize_t)size)
		return write_failed(writer);
	return 0;
}

/* `path`: of the directory, in the archive. */
static int write_members(struct writer *writer, struct rd_tree *tree, uint32_t dir, const char *path)
{
	for (uint32_t i = rd_tree_node(tree, dir)->child; i; i = rd_tree_node(tree, i)->next) {
		const struct rd_node *node = rd_tree_node(tree, i);
		_cleanup_free_ char *name = rd_text("%s/%s", path, node->name);
		int r = 0;

		if (node->type == RD_NODE_DIR) {
			r = write_entry(writer, name, AE_IFDIR, NULL, 0);
			if (!r)
				r = write_members(writer, tree, i, name);
		} else if (node->type != RD_NODE_NONE) {
			r = write_entry(writer, name, node->type == RD_NODE_FILE ? AE_IFREG : AE_IFLNK, node->data,
					node->size);
		}
		if (r < 0)
			return r;
	}
	return 0;
}

static int write_folder(struct writer *writer, const struct rd_record_sample *sample, size_t n, const char *name)
{
	uint32_t dir = strcmp(name, "nl") == 0 ? sample->nl : sample->root;
	char folder[16];
	const char *path = rd_sample_folder(n, name, folder);
	int r;

	if (n && !rd_tree_node(sample->tree, dir)->child)
		return 0;
	r = write_entry(writer, path, AE_IFDIR, NULL, 0);
	return r < 0 ? r : write_members(writer, sample->tree, dir, path);
}

static int write_all(struct writer *writer, const struct rd_recording *recording, const char *version)
{
	_cleanup_buf_ struct rd_buf manifest = { 0 };
	int r;

	make_manifest(recording, version, &manifest);
	/* The manifest comes first, so that missing files after it are detected. */
	r = write_entry(writer, "manifest.json", AE_IFREG, manifest.data, manifest.len);
	for (size_t i = 0; !r && i < recording->n_samples; i++) {
		r = write_folder(writer, &recording->samples[i], i, "root");
		if (!r)
			r = write_folder(writer, &recording->samples[i], i, "nl");
	}
	if (!r && rd_libarchive.archive_write_close(writer->archive) != ARCHIVE_OK)
		r = write_failed(writer);
	return r;
}

static const struct {
	const char *suffix;
	int (**add)(struct archive *archive);
} packings[] = {
	{ ".tar", &rd_libarchive.archive_write_add_filter_none },
	{ ".tar.gz", &rd_libarchive.archive_write_add_filter_gzip },
	{ ".tgz", &rd_libarchive.archive_write_add_filter_gzip },
	{ ".tar.bz2", &rd_libarchive.archive_write_add_filter_bzip2 },
	{ ".tar.zst", &rd_libarchive.archive_write_add_filter_zstd },
};

static int packing_of(const char *path, size_t *ret, struct rd_err *err)
{
	size_t size = strlen(path);

	for (size_t i = 0; i < RD_ARRAY_SIZE(packings); i++) {
		size_t n = strlen(packings[i].suffix);

		if (size > n && strcmp(path + size - n, packings[i].suffix) == 0) {
			*ret = i;
			return 0;
		}
	}
	rd_err_set(err, EINVAL, path, "unknown suffix: expected .tar, .tar.gz, .tgz, .tar.bz2 or .tar.zst");
	return rd_err_hint(err, "%s.tar.zst", path);
}

int rd_record_can_save(const char *path, bool replace, struct rd_err *err)
{
	size_t packing;
	int r = rd_new_file_check(path, replace, err);

	return r < 0 ? r : packing_of(path, &packing, err);
}

/* The archive is ready to be opened. `path`: for messages, and for its suffix. */
static int init_writer(struct writer *writer, const char *path, struct rd_err *err)
{
	size_t packing;
	int r = packing_of(path, &packing, err);

	if (!r)
		r = rd_libarchive_load(path, err);
	if (r < 0)
		return r;
	writer->archive = rd_libarchive.archive_write_new();
	writer->entry = rd_libarchive.archive_entry_new();
	if (!writer->archive || !writer->entry)
		return rd_err_set(err, ENOMEM, path, "no memory to write the archive");
	/* ARCHIVE_WARN: libarchive was built without this filter, and would run the program of that name instead. */
	if ((*packings[packing].add)(writer->archive) != ARCHIVE_OK)
		return rd_err_set(err, ENOTSUP, path, "this libarchive does not support the compression");
	return rd_libarchive.archive_write_set_format_pax_restricted(writer->archive) == ARCHIVE_OK ?
		       0 :
		       rd_err_set(err, -write_failed(writer), path, "cannot write");
}

static la_ssize_t add_bytes(struct archive *archive, void *arg, const void *data, size_t size)
{
	struct rd_buf *out = arg;

	rd_buf_add(out, data, size);
	return (la_ssize_t)size;
}

int rd_record_pack(const struct rd_recording *recording, const char *version, const char *path, struct rd_buf *ret,
		   struct rd_err *err)
{
	_cleanup_(writer_deinit) struct writer writer = { .mtime_ns = recording->samples[0].realtime_ns };
	int r = init_writer(&writer, path, err);

	if (r < 0)
		return r;
	/* No zeros after the end of the compressed data. */
	rd_libarchive.archive_write_set_bytes_in_last_block(writer.archive, 1);
	if (rd_libarchive.archive_write_open(writer.archive, ret, NULL, add_bytes, NULL) != ARCHIVE_OK)
		return rd_err_set(err, -write_failed(&writer), path, "cannot write");
	r = write_all(&writer, recording, version);
	return r < 0 ? rd_err_set(err, -r, path, "cannot write") : 0;
}

int rd_record_save(const struct rd_recording *recording, const char *version, const char *path, bool replace,
		   uint64_t *ret_size, struct rd_err *err)
{
	_cleanup_buf_ struct rd_buf bundle = { 0 };
	int r = rd_record_pack(recording, version, path, &bundle, err);

	if (ret_size)
		*ret_size = bundle.len;
	/* Only the owner may read a bundle. */
	return r < 0 ? r : rd_write_file(path, replace, 0600, &bundle, err);
}
