/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads another source and records the replies, including errors. Within a sample every request is made once, and repeated requests
 * get the same reply, so that a report made while recording equals one made from the recording. Its clock stops, too. Of later samples,
 * the changes are kept.
 */
#include "source/record/record.h"

#include <linux/netlink.h>
#include <time.h>

#include "source/record/mad-record.h"
#include "source/shared/netlink.h"

void rd_record_sample_init(struct rd_record_sample *sample)
{
	*sample = (struct rd_record_sample){ .tree = rd_tree_create() };
	/* Nothing else can fail in an empty tree. */
	if (rd_tree_enter(sample->tree, RD_TREE_TOP, "root", &sample->root) < 0 ||
	    rd_tree_enter(sample->tree, RD_TREE_TOP, "nl", &sample->nl) < 0)
		rd_out_of_memory();
	rd_tree_node(sample->tree, sample->root)->type = RD_NODE_DIR;
	rd_tree_node(sample->tree, sample->nl)->type = RD_NODE_DIR;
}

void rd_record_sample_deinit(struct rd_record_sample *sample)
{
	rd_tree_destroy(sample->tree);
	free(sample->requests);
	*sample = (struct rd_record_sample){ 0 };
}

void rd_recording_deinit(struct rd_recording *recording)
{
	for (size_t i = 0; i < recording->n_samples; i++)
		rd_record_sample_deinit(&recording->samples[i]);
	free(recording->samples);
	rd_redaction_deinit(&recording->redaction);
	*recording = (struct rd_recording){ 0 };
}

void rd_recording_inherit(struct rd_recording *recording, const struct rd_source *from)
{
	const struct rd_redaction *redaction = rd_source_bundle_redaction(from);

	if (!redaction)
		return;
	recording->redaction = (struct rd_redaction){ .redacted = redaction->redacted,
						      .key = { redaction->key.v, redaction->key.known } };
	for (size_t i = 0; i < redaction->n_nets; i++)
		rd_redaction_add_net(&recording->redaction, redaction->nets[i].pseudonym, redaction->nets[i].id);
}

void rd_record_sample_log(struct rd_record_sample *sample, uint32_t node, enum rd_op query, uint64_t at_ns)
{
	*RD_ADD(sample->requests, sample->n_requests, sample->cap_requests) =
		(struct rd_recorded_request){ node, query, at_ns };
}

static bool names_equal(const struct rd_texts *a, const struct rd_texts *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->v[i], b->v[i]) != 0)
			return false;
	return true;
}

static int code_of(const struct rd_node *node, enum rd_op query)
{
	return node->more ? node->more->code[query] : 0;
}

/* Whether a reply is recorded. */
static bool is_recorded(const struct rd_node *node, enum rd_op query)
{
	return (node->more && node->more->queried[query]) || (query == RD_OP_READ && node->type == RD_NODE_FILE);
}

static bool same_answer(const struct rd_node *a, const struct rd_node *b, enum rd_op query)
{
	if (!is_recorded(a, query) || code_of(a, query) != code_of(b, query))
		return false;
	if (code_of(a, query))
		return true;
	if (query == RD_OP_LIST)
		return names_equal(&a->more->names, &b->more->names);
	if (query == RD_OP_LINK && (a->more->target || b->more->target))
		return a->more->target && b->more->target && strcmp(a->more->target, b->more->target) == 0;
	if (query == RD_OP_READ || query == RD_OP_LINK)
		return a->type == b->type && a->size == b->size &&
		       (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
	return *rd_node_value(a->more, query) == *rd_node_value(b->more, query);
}

/* The node of the same path in another tree; 0: not found. */
static uint32_t same_path(struct rd_tree *from, uint32_t node, struct rd_tree *in)
{
	const struct rd_node *of = rd_tree_node(from, node);
	uint32_t dir;

	if (node == RD_TREE_TOP)
		return RD_TREE_TOP;
	dir = same_path(from, of->parent, in);
	if (!dir && of->parent != RD_TREE_TOP)
		return 0;
	return rd_tree_child(in, dir, of->name, strlen(of->name));
}

static int copy_node(struct rd_tree *from, uint32_t node, struct rd_tree *to, uint32_t *ret)
{
	_cleanup_free_ char *path = rd_tree_path(from, RD_TREE_TOP, node);
	const struct rd_node *of = rd_tree_node(from, node);
	struct rd_node_more *more;
	int r = rd_tree_enter(to, RD_TREE_TOP, path, ret);

	/* A request below a path that turned out to be a file: the file determines its error. */
	if (r == -EBADMSG && of->type == RD_NODE_NONE)
		return copy_node(from, of->parent, to, ret);
	if (r < 0 || rd_tree_node(to, *ret)->more || rd_tree_node(to, *ret)->data)
		return r;
	if (of->type == RD_NODE_FILE || of->type == RD_NODE_LINK)
		r = rd_tree_set(to, *ret, of->type, of->data, of->size);
	else if (of->type == RD_NODE_DIR)
		rd_tree_node(to, *ret)->type = RD_NODE_DIR;
	if (r || !of->more)
		return r;
	more = rd_tree_more(to, *ret);
	*more = *of->more;
	more->target = rd_dup_if(of->more->target);
	rd_texts_copy(&of->more->names, &more->names);
	return 0;
}

/* Many replies depend on links, whether or not the links were requested themselves. */
static int copy_links(struct rd_record_sample *before, struct rd_record_sample *now, struct rd_record_sample *to,
		      uint32_t dir)
{
	for (uint32_t i = rd_tree_node(now->tree, dir)->child; i; i = rd_tree_node(now->tree, i)->next) {
		const struct rd_node *node = rd_tree_node(now->tree, i);
		int r = 0;

		if (node->type == RD_NODE_LINK) {
			uint32_t old = same_path(now->tree, i, before->tree), copy;
			const struct rd_node *was = rd_tree_node(before->tree, old);

			if (!old || was->type != RD_NODE_LINK || strcmp((char *)was->data, (char *)node->data) != 0)
				r = copy_node(now->tree, i, to->tree, &copy);
		} else if (node->type == RD_NODE_DIR) {
			r = copy_links(before, now, to, i);
		}
		if (r < 0)
			return r;
	}
	return 0;
}

/* The changes from `before` to `now`, as a separate sample. */
static int find_changes(struct rd_record_sample *before, struct rd_record_sample *now, struct rd_record_sample *ret)
{
	int r = 0;

	rd_record_sample_init(ret);
	ret->realtime_ns = now->realtime_ns;
	ret->monotonic_ns = now->monotonic_ns;
	for (size_t i = 0; !r && i < now->n_requests; i++) {
		const struct rd_recorded_request *request = &now->requests[i];
		uint32_t old = same_path(now->tree, request->node, before->tree), copy;

		if (old && same_answer(rd_tree_node(before->tree, old), rd_tree_node(now->tree, request->node),
				       request->query))
			continue;
		r = copy_node(now->tree, request->node, ret->tree, &copy);
		if (!r)
			rd_record_sample_log(ret, copy, request->query, request->at_ns);
	}
	if (!r)
		r = copy_links(before, now, ret, now->root);
	if (r < 0)
		rd_record_sample_deinit(ret);
	return r;
}

struct record {
	struct rd_source src;
	struct rd_source *inner;
	struct rd_record_sample now; /* the current sample */
	struct rd_record_sample before;
	struct rd_recording done;
	size_t size;	       /* of `done` */
	struct rd_buf mad_log; /* responses of the open recorded port … */
	uint32_t mad_node;     /* … and their node; 0: none yet */
};

static struct rd_node *node_of(struct record *record, uint32_t node)
{
	return rd_tree_node(record->now.tree, node);
}

static void log_request(struct record *record, uint32_t node, enum rd_op query)
{
	uint64_t now = record->inner->ops->now(record->inner, CLOCK_MONOTONIC);

	rd_record_sample_log(&record->now, node, query, now - record->now.monotonic_ns);
}

static void keep_code(struct record *record, uint32_t at, enum rd_op query, int code)
{
	struct rd_node_more *more = rd_tree_more(record->now.tree, at);

	more->queried[query] = true;
	more->code[query] = code;
}

/* The archive has "t000/root" above the path; deeper paths are not written, because readers refuse them. */
#define DEPTH_MAX (RD_TREE_DEPTH_MAX - 2)

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
		_cleanup_free_ char *below = rd_tree_path(record->now.tree, record->now.root, *child);

		path = rd_text("/%s", below);
		r = rd_read_link(record->inner, path, &target, NULL);
		node_of(record, *child)->probed = true;
		node_of(record, *child)->missing = r == -ENOENT || r == -ENOTDIR;
		/* For a link that points outside the tree, its target is noted, and the file behind it is recorded in place of the link. */
		if (r == 0 && rd_link_stays(target, depth))
			r = rd_tree_set(record->now.tree, *child, RD_NODE_LINK, target, strlen(target));
		else if (r == 0)
			rd_tree_more(record->now.tree, *child)->target = RD_TAKE(target);
		else
			r = 0;
	}
	return r < 0 ? r : node_of(record, *child)->missing;
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
			rd_texts_add(&more->names, (char *)reply->bytes.data + i);
		more->has_names = true;
		node_of(record, at)->type = RD_NODE_DIR;
	} else if (query->op != RD_OP_LINK) {
		*rd_node_value(more, query->op) = reply->number;
	}
	return 0;
}

static int get_path(struct record *record, const struct rd_query *query, struct rd_reply *ret, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	const char *path = query->data;
	struct rd_reply reply = { 0 };
	const struct rd_node *node;
	uint32_t at;
	/* Its node, or the first missing node in it. */
	int r = rd_tree_walk(record->now.tree, record->now.root, path, query->op != RD_OP_LINK, enter_name, record, &at);

	if (r < 0)
		return rd_err_set(err, -r, path, "cannot look up");
	node = node_of(record, at);
	if (is_recorded(node, query->op))
		return rd_node_get(record->now.tree, at, query, false, ret, err);
	log_request(record, at, query->op);
	if (node->missing) {
		r = rd_err_set(err, ENOENT, path, "recorded error");
	} else if (query->op != RD_OP_LINK || (node->type != RD_NODE_LINK && !(node->more && node->more->target))) {
		/* Not a link whose target is recorded already. */
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

static int get_messages(struct record *record, const struct rd_query *query, struct rd_reply *ret, struct rd_err *err)
{
	static const uint8_t zeros[NLMSG_ALIGNTO];
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	_cleanup_buf_ struct rd_buf file = { 0 };
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
	if (is_recorded(node, RD_OP_READ)) {
		if (node->more && node->more->code[RD_OP_READ])
			return rd_err_set(err, node->more->code[RD_OP_READ], path, "recorded error");
		return rd_bytes_copy(node->data + request, node->size - request, &ret->bytes);
	}
	log_request(record, at, RD_OP_READ);
	r = record->inner->ops->get(record->inner, query, &reply, err);
	bytes = reply.bytes;
	rd_scrub_messages(query->protocol, &bytes);
	/* The request, padded, followed by the reply. */
	rd_buf_add(&file, query->data, query->size);
	rd_buf_add(&file, zeros, request - query->size);
	rd_buf_add(&file, bytes.data, bytes.size);
	kept = rd_tree_set(record->now.tree, at, RD_NODE_FILE, file.data, file.len);
	if (kept < 0)
		return rd_err_set(err, -kept, path, "cannot record");
	if (r < 0)
		keep_code(record, at, RD_OP_READ, -r);
	if (r == 0)
		ret->bytes = RD_TAKE(bytes);
	return r;
}

static int record_get(struct rd_source *src, const struct rd_query *query, struct rd_reply *ret, struct rd_err *err)
{
	return query->op == RD_OP_NETLINK ? get_messages((struct record *)src, query, ret, err) :
					    get_path((struct record *)src, query, ret, err);
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

static int record_mad_ports(struct rd_source *src, struct rd_bytes *ret, struct rd_err *err)
{
	struct record *record = (struct record *)src;
	int r, at = rd_tree_resolve(record->now.tree, record->now.root, RD_MAD_PORTS, true);

	if (at >= 0 && is_recorded(node_of(record, (uint32_t)at), RD_OP_READ)) {
		const struct rd_query query = { .op = RD_OP_READ, .data = RD_MAD_PORTS };
		struct rd_reply reply = { 0 };

		r = rd_node_get(record->now.tree, (uint32_t)at, &query, false, &reply, err);
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
	struct record *record = (struct record *)src;
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
	const struct rd_record_sample *now = &((struct record *)src)->now;

	return clock == CLOCK_REALTIME ? now->realtime_ns : now->monotonic_ns;
}

static void record_close(struct rd_source *src)
{
	struct record *record = (struct record *)src;

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
	r = find_changes(done->n_samples == 1 ? &done->samples[0] : &record->before, &record->now, &changes);
	if (r < 0)
		return r;
	*RD_ADD(done->samples, done->n_samples, done->cap_samples) = changes;
	rd_record_sample_deinit(&record->before);
	record->before = RD_TAKE(record->now);
	return 0;
}

int rd_source_record_next(struct rd_source *src, struct rd_err *err)
{
	int r = end_sample((struct record *)src);

	if (r < 0)
		return rd_err_set(err, -r, "recording", "cannot add another sample");
	begin_sample((struct record *)src);
	return 0;
}

int rd_source_record_file(struct rd_source *src, const char *path, const void *data, size_t size, struct rd_err *err)
{
	const struct rd_bytes bytes = { (uint8_t *)data, size };

	return keep_file((struct record *)src, path, 0, &bytes, err);
}

int rd_source_record_take(struct rd_source *src, struct rd_recording *ret, struct rd_err *err)
{
	struct record *record = (struct record *)src;
	int r = end_sample(record);

	if (r < 0)
		return rd_err_set(err, -r, "recording", "cannot complete");
	*ret = RD_TAKE(record->done);
	return 0;
}
