/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples of a recording, and the changes between them. */
#include "source/record/record.h"

#include <errno.h>
#include <string.h>

#include "base/end.h"
#include "base/memory.h"

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

static bool names_equal(const struct rd_names *a, const struct rd_names *b)
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

static bool asked_of(const struct rd_node *node, enum rd_op query)
{
	return (node->more && node->more->queried[query]) || (query == RD_OP_READ && node->type == RD_NODE_FILE);
}

static bool same_bytes(const struct rd_node *a, const struct rd_node *b)
{
	return a->type == b->type && a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

static bool same_answer(const struct rd_node *a, const struct rd_node *b, enum rd_op query)
{
	if (!asked_of(a, query) || code_of(a, query) != code_of(b, query))
		return false;
	if (code_of(a, query))
		return true;
	switch (query) {
	case RD_OP_READ:
		return same_bytes(a, b);
	case RD_OP_LIST:
		return names_equal(&a->more->names, &b->more->names);
	case RD_OP_LINK:
		if (a->more->target || b->more->target)
			return a->more->target && b->more->target && strcmp(a->more->target, b->more->target) == 0;
		return same_bytes(a, b);
	case RD_OP_RDEV:
	case RD_OP_INO:
	case RD_OP_MODE:
		return *rd_node_value(a->more, query) == *rd_node_value(b->more, query);
	default:
		break;
	}
	return false;
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

static void copy_more(struct rd_tree *to, uint32_t at, const struct rd_node_more *from)
{
	struct rd_node_more *more = rd_tree_more(to, at);

	*more = *from;
	more->names = (struct rd_names){ 0 };
	more->target = rd_dup_if(from->target);
	if (from->has_names)
		rd_names_copy(&from->names, &more->names);
}

static int copy_node(struct rd_tree *from, uint32_t node, struct rd_tree *to, uint32_t *ret)
{
	_cleanup_free_ char *path = rd_tree_path(from, RD_TREE_TOP, node);
	const struct rd_node *of = rd_tree_node(from, node);
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
	if (!r && of->more)
		copy_more(to, *ret, of->more);
	return r;
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

int rd_record_sample_changes(struct rd_record_sample *before, struct rd_record_sample *now, struct rd_record_sample *ret)
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
