/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads another source and records the replies, including errors. Within a sample every request is made once, and repeated requests
 * get the same reply, so that a report made while recording equals one made from the recording. Its clock stops, too.
 */
#include "base/memory.h"
#include "base/text.h"
#include "source/record/mad-record.h"
#include "source/record/record.h"
#include "source/shared/netlink.h"
#include "source/shared/scrub.h"

#include <errno.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct record {
	struct rd_source src;
	struct rd_source *inner;
	struct rd_record_sample now; /* the current sample */
	struct rd_record_sample before;
	struct rd_recording done;
	struct rd_buf mad_log; /* responses of the open recorded port … */
	uint32_t mad_node;     /* … and their node; 0: none yet */
};

static struct record *record_of(struct rd_source *src)
{
	return (struct record *)src;
}

static struct rd_node *node_of(struct record *record, uint32_t node)
{
	return rd_tree_node(record->now.tree, node);
}

static void log_request(struct record *record, uint32_t node, enum rd_op query)
{
	uint64_t now = record->inner->ops->now(record->inner, CLOCK_MONOTONIC);

	rd_record_sample_log(&record->now, node, query, now - record->now.monotonic_ns);
}

/* Whether a reply is recorded already. */
static bool known(struct record *record, uint32_t at, enum rd_op query)
{
	const struct rd_node *node = node_of(record, at);

	if (node->more && node->more->queried[query])
		return true;
	return query == RD_OP_READ && node->type == RD_NODE_FILE;
}

static void keep_code(struct record *record, uint32_t at, enum rd_op query, int code)
{
	struct rd_node_more *more = rd_tree_more(record->now.tree, at);

	more->queried[query] = true;
	more->code[query] = code;
}

/* The archive has "t000/root" above the path; deeper paths are not written, because readers refuse them. */
#define DEPTH_MAX (RD_TREE_DEPTH_MAX - 2)

/* Records the target of a link. For a link that points outside the tree, its target is noted, and the file behind it is recorded in
 * place of the link. `depth`: of its directory. */
static int keep_link(struct record *record, uint32_t at, size_t depth, char **target)
{
	if (rd_link_stays(*target, depth))
		return rd_tree_set(record->now.tree, at, RD_NODE_LINK, *target, strlen(*target));
	rd_tree_more(record->now.tree, at)->target = RD_TAKE(*target);
	return 0;
}

/* Adds a name, and determines whether it is a link. 1: it is missing, which also stands for everything below it. */
static int enter_name(void *arg, uint32_t dir, const char *name, size_t size, uint32_t *child)
{
	struct record *record = arg;
	_cleanup_free_ char *one = NULL, *path = NULL, *target = NULL;
	size_t depth = 0;
	int r = 0;

	for (uint32_t up = dir; up != record->now.root; up = node_of(record, up)->parent)
		depth++;
	if (size > 255 || depth >= DEPTH_MAX)
		return -ENAMETOOLONG;
	if (!*child) {
		one = rd_dup_part(name, size);
		r = rd_tree_enter(record->now.tree, dir, one, child);
	}
	if (r < 0)
		return r == -EBADMSG ? -ENOTDIR : r;
	if (!node_of(record, *child)->probed) {
		char *below = rd_tree_path(record->now.tree, record->now.root, *child);

		path = rd_text("/%s", below);
		free(below);
		r = rd_read_link(record->inner, path, &target, NULL);
		node_of(record, *child)->probed = true;
		node_of(record, *child)->missing = r == -ENOENT || r == -ENOTDIR;
		r = r == 0 ? keep_link(record, *child, depth, &target) : 0;
	}
	return r < 0 ? r : node_of(record, *child)->missing;
}

/* The node of a path, or the first missing node in it. */
static int find_node(struct record *record, const char *path, bool follow, uint32_t *ret)
{
	return rd_tree_walk(record->now.tree, record->now.root, path, follow, enter_name, record, ret);
}

/* Keeps the bytes or the number that a query got. -errno, also where the host has changed while it is read: a directory stays a directory
 * in the recording, and no path is both. */
static int keep_reply(struct record *record, uint32_t at, const struct rd_query *query, struct rd_reply *reply,
		      struct rd_err *err)
{
	const char *path = query->data;
	enum rd_node_type type = node_of(record, at)->type;
	struct rd_node_more *more;
	int r;

	if (query->op == RD_OP_READ) {
		if (type == RD_NODE_DIR)
			return rd_err_set(err, EISDIR, path, "was a directory before");
		rd_scrub_file(path, &reply->bytes);
		r = rd_tree_set(record->now.tree, at, RD_NODE_FILE, reply->bytes.data, reply->bytes.size);
		return r < 0 ? rd_err_set(err, -r, path, "cannot record") : 0;
	}
	if (query->op == RD_OP_LIST && type == RD_NODE_FILE)
		return rd_err_set(err, ENOTDIR, path, "was a file before");
	keep_code(record, at, query->op, 0);
	more = rd_tree_more(record->now.tree, at);
	if (query->op == RD_OP_LIST) {
		for (size_t i = 0; i < reply->bytes.size; i += strlen((char *)reply->bytes.data + i) + 1)
			*RD_ADD(more->names.v, more->names.n, more->names.cap) = rd_dup((char *)reply->bytes.data + i);
		more->has_names = true;
		node_of(record, at)->type = RD_NODE_DIR;
	} else if (query->op != RD_OP_LINK) {
		*rd_node_value(more, query->op) = reply->number;
	}
	return 0;
}

/* What `find_node` found already: a link, whose target is recorded. */
static bool is_link(struct record *record, uint32_t at)
{
	const struct rd_node *node = node_of(record, at);

	return node->type == RD_NODE_LINK || (node->more && node->more->target);
}

static int get_path(struct record *record, const struct rd_query *query, struct rd_reply *ret, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	const char *path = query->data;
	struct rd_reply reply = { 0 };
	uint32_t at;
	int r = find_node(record, path, query->op != RD_OP_LINK, &at);

	if (r < 0)
		return rd_err_set(err, -r, path, "cannot look up");
	if (known(record, at, query->op))
		return rd_node_get(record->now.tree, at, query, false, ret, err);
	log_request(record, at, query->op);
	if (node_of(record, at)->missing) {
		r = rd_err_set(err, ENOENT, path, "recorded error");
	} else if (query->op != RD_OP_LINK || !is_link(record, at)) {
		r = record->inner->ops->get(record->inner, query, &reply, err);
		bytes = reply.bytes;
		/* A link that appeared meanwhile is ignored: the first read counts. */
		if (r == 0 && query->op == RD_OP_LINK)
			r = rd_err_set(err, EINVAL, path, "was not a link");
	}
	if (r == 0)
		r = keep_reply(record, at, query, &reply, err);
	if (r == 0)
		return rd_node_get(record->now.tree, at, query, false, ret, err);
	if (r == -EISDIR && query->op == RD_OP_READ && node_of(record, at)->type == RD_NODE_NONE)
		node_of(record, at)->type = RD_NODE_DIR;
	keep_code(record, at, query->op, -r);
	return r == -EFBIG ? rd_err_set(err, EFBIG, path, "cannot record") : r;
}

/* The request, padded, followed by the reply. */
static int keep_messages(struct record *record, uint32_t at, const struct rd_query *query, const struct rd_bytes *reply)
{
	static const uint8_t zeros[NLMSG_ALIGNTO];
	_cleanup_buf_ struct rd_buf file = { 0 };

	rd_buf_add(&file, query->data, query->size);
	rd_buf_add(&file, zeros, NLMSG_ALIGN(query->size) - query->size);
	rd_buf_add(&file, reply->data, reply->size);
	return rd_tree_set(record->now.tree, at, RD_NODE_FILE, file.data, file.len);
}

static int get_messages(struct record *record, const struct rd_query *query, struct rd_reply *ret, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	size_t request = NLMSG_ALIGN(query->size);
	struct rd_reply reply = { 0 };
	const struct rd_node *node;
	char path[64];
	uint32_t at;
	int r, kept;

	rd_nlrequest_path(query->protocol, query->data, query->size, path, sizeof(path));
	r = rd_tree_enter(record->now.tree, record->now.nl, path, &at);
	if (r < 0)
		return rd_err_set(err, -r, path, "cannot record");
	node = node_of(record, at);
	if (known(record, at, RD_OP_READ)) {
		if (node->more && node->more->code[RD_OP_READ])
			return rd_err_set(err, node->more->code[RD_OP_READ], path, "recorded error");
		return rd_bytes_copy(node->data + request, node->size - request, &ret->bytes);
	}
	log_request(record, at, RD_OP_READ);
	r = record->inner->ops->get(record->inner, query, &reply, err);
	bytes = reply.bytes;
	rd_scrub_messages(query->protocol, &bytes);
	kept = keep_messages(record, at, query, &bytes);
	if (kept < 0)
		return rd_err_set(err, -kept, path, "cannot record");
	if (r < 0)
		keep_code(record, at, RD_OP_READ, -r);
	if (r == 0) {
		ret->bytes = bytes;
		bytes = (struct rd_bytes){ 0 };
	}
	return r;
}

static int record_get(struct rd_source *src, const struct rd_query *query, struct rd_reply *ret, struct rd_err *err)
{
	return query->op == RD_OP_NETLINK ? get_messages(record_of(src), query, ret, err) :
					    get_path(record_of(src), query, ret, err);
}

/* Records the contents of a file that exists only in recordings, or its error. */
static int keep_file(struct record *record, const char *path, int r, const struct rd_bytes *bytes, struct rd_err *err)
{
	uint32_t at;
	int kept = rd_tree_enter(record->now.tree, record->now.root, path + 1, &at);

	if (!kept)
		log_request(record, at, RD_OP_READ);
	if (!kept && r == 0)
		kept = rd_tree_set(record->now.tree, at, RD_NODE_FILE, bytes->data, bytes->size);
	else if (!kept)
		keep_code(record, at, RD_OP_READ, -r);
	return kept < 0 ? rd_err_set(err, -kept, path, "cannot record") : r;
}

static bool told_before(struct record *record, const char *path, uint32_t *ret)
{
	return rd_tree_resolve(record->now.tree, record->now.root, path, true, ret) == 0 &&
	       known(record, *ret, RD_OP_READ);
}

static int record_mad_ports(struct rd_source *src, struct rd_bytes *ret, struct rd_err *err)
{
	struct record *record = record_of(src);
	uint32_t at;
	int r;

	if (told_before(record, RD_MAD_PORTS, &at)) {
		const struct rd_query query = { .op = RD_OP_READ, .data = RD_MAD_PORTS };
		struct rd_reply reply = { 0 };

		r = rd_node_get(record->now.tree, at, &query, false, &reply, err);
		*ret = reply.bytes;
		return r;
	}
	r = rd_mad_ports(record->inner, ret, err);
	return keep_file(record, RD_MAD_PORTS, r, ret, err);
}

static void keep_answers(void *arg, struct rd_buf *log)
{
	struct record *record = arg;

	if (rd_tree_set(record->now.tree, record->mad_node, RD_NODE_FILE, log->data, log->len) < 0)
		keep_code(record, record->mad_node, RD_OP_READ, EFBIG);
}

/* Responses are recorded when the port is closed, which must be before the sample ends. */
static int record_mad_open(struct rd_source *src, const char *ibdev, unsigned port, struct rd_mads **ret,
			   struct rd_err *err)
{
	struct record *record = record_of(src);
	struct rd_mads *inner = NULL;
	char path[RD_MAD_PATH_MAX];
	uint32_t at;
	int r = rd_mad_path(ibdev, port, path, err);

	if (!r)
		r = rd_mad_open(record->inner, ibdev, port, &inner, err);
	if (r < 0)
		return keep_file(record, path, r, NULL, err);
	r = rd_tree_enter(record->now.tree, record->now.root, path + 1, &at);
	if (r < 0) {
		rd_mads_closep(&inner);
		return rd_err_set(err, -r, path, "cannot record");
	}
	if (at != record->mad_node)
		rd_buf_deinit(&record->mad_log);
	record->mad_node = at;
	log_request(record, at, RD_OP_READ);
	*ret = rd_mads_record(inner, &record->mad_log, keep_answers, record);
	return 0;
}

static uint64_t record_now(struct rd_source *src, int clock)
{
	const struct rd_record_sample *now = &record_of(src)->now;

	return clock == CLOCK_REALTIME ? now->realtime_ns : now->monotonic_ns;
}

static void record_close(struct rd_source *src)
{
	struct record *record = record_of(src);

	rd_record_sample_deinit(&record->now);
	rd_record_sample_deinit(&record->before);
	rd_recording_deinit(&record->done);
	rd_buf_deinit(&record->mad_log);
	free(record);
}

static const struct rd_source_ops record_ops = {
	.name = "live",
	.get = record_get,
	.mad_ports = record_mad_ports,
	.mad_open = record_mad_open,
	.now = record_now,
	.close = record_close,
};

static void begin_sample(struct record *record)
{
	struct rd_source *inner = record->inner;

	rd_record_sample_init(&record->now);
	record->mad_node = 0;
	record->now.realtime_ns = inner->ops->now(inner, CLOCK_REALTIME);
	record->now.monotonic_ns = inner->ops->now(inner, CLOCK_MONOTONIC);
}

struct rd_source *rd_source_record_open(struct rd_source *inner)
{
	struct record *record = rd_alloc(1, sizeof(*record));

	record->src.ops = &record_ops;
	record->inner = inner;
	begin_sample(record);
	return &record->src;
}

/* Ends the sample: the first is kept completely, of later ones the changes; the last complete one is kept for the next comparison. */
static int end_sample(struct record *record)
{
	struct rd_recording *done = &record->done;
	struct rd_record_sample changes = { 0 };
	int r;

	if (done->n_samples == 0) {
		*RD_ADD(done->samples, done->n_samples, done->cap_samples) = record->now;
		record->now = (struct rd_record_sample){ 0 };
		return 0;
	}
	r = rd_record_sample_changes(done->n_samples == 1 ? &done->samples[0] : &record->before, &record->now, &changes);
	if (r < 0)
		return r;
	*RD_ADD(done->samples, done->n_samples, done->cap_samples) = changes;
	rd_record_sample_deinit(&record->before);
	record->before = record->now;
	record->now = (struct rd_record_sample){ 0 };
	return 0;
}

int rd_source_record_next(struct rd_source *src, struct rd_err *err)
{
	int r = end_sample(record_of(src));

	if (r < 0)
		return rd_err_set(err, -r, "recording", "cannot add another sample");
	begin_sample(record_of(src));
	return 0;
}

int rd_source_record_take(struct rd_source *src, struct rd_recording *ret, struct rd_err *err)
{
	struct record *record = record_of(src);
	int r = end_sample(record);

	if (r < 0)
		return rd_err_set(err, -r, "recording", "cannot complete");
	*ret = record->done;
	record->done = (struct rd_recording){ 0 };
	return 0;
}
