/* SPDX-License-Identifier: GPL-2.0-or-later */
/* manifest.json: the recorded requests, their times, and replies that no file can hold. */
#include "source/bundle/bundle.h"

#include "source/bundle/json-read.h"

/* A host with many devices has about 50,000 requests of 100 bytes each. */
#define REQUESTS_MAX ((size_t)1 << 20)
#define NAME_COST 48 /* memory of a name in a list, without its bytes */

const char *const rd_query_names[RD_OP_PATHS] = {
	[RD_OP_READ] = "read", [RD_OP_LIST] = "list", [RD_OP_LINK] = "link",
	[RD_OP_RDEV] = "rdev", [RD_OP_INO] = "ino",   [RD_OP_MODE] = "mode",
};

void rd_redaction_deinit(struct rd_redaction *redaction)
{
	free(redaction->nets);
	*redaction = (struct rd_redaction){ 0 };
}

void rd_redaction_add_net(struct rd_redaction *redaction, uint16_t pseudonym, uint64_t id)
{
	*RD_ADD(redaction->nets, redaction->n_nets, redaction->cap_nets) = (struct rd_redacted_net){ pseudonym, id };
}

void rd_manifest_deinit(struct rd_manifest *manifest)
{
	RD_FREE(manifest->hostname, manifest->samples);
	rd_redaction_deinit(&manifest->redaction);
	*manifest = (struct rd_manifest){ 0 };
}

const char *rd_sample_folder(size_t sample, const char *name, char *buf)
{
	if (!sample)
		return name;
	snprintf(buf, 16, "t%03zu/%s", (sample - 1) % RD_SAMPLES_MAX, name);
	return buf;
}

/* The request that is being parsed. */
struct request {
	struct rd_buf path, word, target;
	struct rd_texts names;
	int query, code;
	uint64_t value, hash;
	bool has_names, has_target, has_value, has_hash;
};

struct reader {
	struct rd_json json;
	struct rd_tree *tree;
	uint32_t top;
	struct rd_manifest *manifest;
	struct request request;
	size_t sample, n_requests;
	bool schema;
	const char *wrong;     /* the error, unless it is invalid JSON */
	struct rd_err of_file; /* the error of a file */
};

static bool set_wrong(struct reader *reader, const char *what)
{
	if (!reader->wrong)
		reader->wrong = what;
	reader->json.failed = true;
	return false;
}

static bool read_names(struct reader *reader)
{
	struct request *request = &reader->request;
	struct rd_json *json = &reader->json;

	request->has_names = true;
	for (rd_json_enter(json, '['); rd_json_element(json);) {
		if (!rd_json_text(json, &request->word))
			return false;
		if (!request->word.len || strchr(request->word.data, '/'))
			return set_wrong(reader, "invalid name in a list");
		if (rd_tree_charge(reader->tree, request->word.len + NAME_COST) < 0)
			return set_wrong(reader, "lists of names exceed the limits");
		rd_texts_add(&request->names, request->word.data);
	}
	return !json->failed;
}

static bool read_hash(struct reader *reader, struct rd_buf *word, uint64_t *ret)
{
	const char *at;

	if (!rd_json_text(&reader->json, word))
		return false;
	at = word->data;
	return (word->len == 16 && strspn(at, "0123456789abcdef") == 16 && rd_take_hex(&at, 16, ret) == 0) ||
	       set_wrong(reader, "invalid hash");
}

static bool read_field(struct reader *reader, const char *name)
{
	struct request *request = &reader->request;
	struct rd_json *json = &reader->json;

	if (strcmp(name, "path") == 0)
		return rd_json_text(json, &request->path);
	if (strcmp(name, "ask") == 0) {
		if (!rd_json_text(json, &request->word))
			return false;
		/* RD_OP_PATHS: of a later version, ignored */
		for (request->query = 0; request->query < RD_OP_PATHS; request->query++)
			if (strcmp(rd_query_names[request->query], request->word.data) == 0)
				break;
		return true;
	}
	if (strcmp(name, "errno") == 0) {
		if (!rd_json_text(json, &request->word))
			return false;
		request->code = rd_errno_parse(request->word.data);
		return request->code > 0 && request->code < 4096 ? true : set_wrong(reader, "invalid errno");
	}
	if (strcmp(name, "names") == 0)
		return read_names(reader);
	if (strcmp(name, "target") == 0) {
		request->has_target = true;
		return rd_json_text(json, &request->target);
	}
	if (strcmp(name, "value") == 0) {
		request->has_value = true;
		return rd_json_uint(json, &request->value);
	}
	if (strcmp(name, "hash") == 0) {
		request->has_hash = true;
		return read_hash(reader, &request->word, &request->hash);
	}
	return rd_json_skip(json);
}

/* Whether the reply in the manifest agrees with the tree. */
static bool agrees_with_tree(const struct request *request, const struct rd_node *node)
{
	bool has = request->query == RD_OP_READ ? node->type == RD_NODE_FILE :
		   request->query == RD_OP_LIST ? node->type == RD_NODE_DIR :
						  node->type == RD_NODE_LINK || request->has_target;

	if (request->query == RD_OP_RDEV || request->query == RD_OP_INO || request->query == RD_OP_MODE)
		return request->code || request->has_value;
	/* A directory that could not be listed may still have members that were read by name. */
	if (request->code && request->query == RD_OP_LIST)
		return true;
	/* Data read through a link that points outside the tree are stored in place of the link. */
	return has == !request->code;
}

/* Verifies the hash of a file. `path`: below the top. */
static bool verify_hash(struct reader *reader, uint32_t at, const char *path)
{
	const struct rd_node *node = rd_tree_node(reader->tree, at);

	if (node->more && node->more->code[RD_OP_READ])
		return rd_err_set(&reader->of_file, node->more->code[RD_OP_READ], path, "cannot read") == 0;
	if (node->type == RD_NODE_FILE && rd_hash(RD_HASH, node->data, node->size) == reader->request.hash)
		return true;
	rd_err_set(&reader->of_file, EBADMSG, path, "damaged: hash differs from manifest.json");
	return false;
}

static bool keep_answer(struct reader *reader, uint32_t node)
{
	struct request *request = &reader->request;
	struct rd_node_more *more;

	/* The tree has everything for nearly all requests. */
	if (!request->code && (request->query == RD_OP_READ || (request->query == RD_OP_LINK && !request->has_target)))
		return true;
	more = rd_tree_more(reader->tree, node);
	if (more->queried[request->query])
		return set_wrong(reader, "duplicate request");
	more->queried[request->query] = true;
	more->code[request->query] = request->code;
	if (request->code)
		return true;
	if (rd_node_value(more, request->query))
		*rd_node_value(more, request->query) = request->value;
	if (request->has_names) {
		more->names = request->names;
		more->has_names = true;
		request->names = (struct rd_texts){ 0 };
	}
	if (request->has_target) {
		more->target = rd_dup(request->target.data);
		if (rd_tree_charge(reader->tree, request->target.len) < 0)
			return set_wrong(reader, "targets of links exceed the limits");
	}
	return true;
}

static bool keep_request(struct reader *reader)
{
	struct request *request = &reader->request;
	_cleanup_free_ char *path = NULL;
	char folder[16];
	uint32_t node;
	bool netlink;

	if (++reader->n_requests > REQUESTS_MAX)
		return set_wrong(reader, "too many requests");
	if (!request->path.len || request->query < 0)
		return set_wrong(reader, "request without 'path' or 'ask'");
	if (request->query == RD_OP_PATHS)
		return true;
	/* "/sys/…" is below root/, "route/…" below nl/. */
	netlink = request->path.data[0] != '/';
	path = rd_text("%s/%s", rd_sample_folder(reader->sample, netlink ? "nl" : "root", folder),
		       request->path.data + !netlink);
	if (request->code == ENOENT || request->code == ENOTDIR) {
		char absolute[8200];

		snprintf(absolute, sizeof(absolute), "/%s", path);
		/* In the first sample this needs no node: what is not in the tree is ENOENT. */
		if (!reader->sample && strlen(path) < 4096 &&
		    rd_tree_resolve(reader->tree, reader->top, absolute, false) < 0)
			return true;
	}
	if (request->path.len == 1 && !netlink)
		path[strlen(path) - 1] = '\0';
	if (rd_tree_enter(reader->tree, reader->top, path, &node) < 0)
		return set_wrong(reader, "invalid path in a request");
	if (netlink ? rd_tree_node(reader->tree, node)->type != RD_NODE_FILE :
		      !agrees_with_tree(request, rd_tree_node(reader->tree, node)))
		return set_wrong(reader, "contradicts the files of the bundle");
	return (!request->has_hash || verify_hash(reader, node, path)) && keep_answer(reader, node);
}

static bool read_requests(struct reader *reader)
{
	struct request *request = &reader->request;
	struct rd_json *json = &reader->json;
	_cleanup_buf_ struct rd_buf name = { 0 };

	for (rd_json_enter(json, '['); rd_json_element(json);) {
		request->path.len = request->target.len = 0;
		rd_texts_deinit(&request->names);
		request->query = -1;
		request->code = 0;
		request->has_names = request->has_target = request->has_value = request->has_hash = false;
		for (rd_json_enter(json, '{'); rd_json_member(json, &name);)
			if (!read_field(reader, name.data))
				return false;
		if (json->failed || !keep_request(reader))
			return false;
	}
	return !json->failed;
}

static bool read_sample(struct reader *reader)
{
	struct rd_manifest *manifest = reader->manifest;
	struct rd_json *json = &reader->json;
	struct rd_bundle_sample sample = { 0 };
	_cleanup_buf_ struct rd_buf name = { 0 }, word = { 0 };
	uint64_t shape = 0, recorded;
	char folder[16], path[32];
	int root;

	reader->sample = manifest->n_samples;
	if (manifest->n_samples > RD_SAMPLES_MAX)
		return set_wrong(reader, "too many samples");
	/* The shape of the files, before requests add nodes for missing ones. */
	snprintf(path, sizeof(path), "/%s", rd_sample_folder(reader->sample, "root", folder));
	root = rd_tree_resolve(reader->tree, reader->top, path, false);
	if (root >= 0)
		shape = rd_tree_shape(reader->tree, (uint32_t)root, RD_HASH);
	for (rd_json_enter(json, '{'); rd_json_member(json, &name);) {
		bool ok;

		if (strcmp(name.data, "realtime_ns") == 0)
			ok = rd_json_uint(json, &sample.realtime_ns);
		else if (strcmp(name.data, "monotonic_ns") == 0)
			ok = rd_json_uint(json, &sample.monotonic_ns);
		else if (strcmp(name.data, "shape") == 0)
			ok = read_hash(reader, &word, &recorded) &&
			     (shape == recorded ||
			      set_wrong(reader, "names or links of the bundle differ from the recorded ones"));
		else if (strcmp(name.data, "requests") == 0)
			ok = read_requests(reader);
		else
			ok = rd_json_skip(json);
		if (!ok)
			return false;
	}
	/* Years beyond 2200 do not fit into signed nanoseconds, which callers use. */
	if (json->failed || sample.realtime_ns > INT64_MAX || sample.monotonic_ns > INT64_MAX)
		return set_wrong(reader, "invalid time");
	*RD_ADD(manifest->samples, manifest->n_samples, manifest->cap_samples) = sample;
	return true;
}

/* "244.77": the first two bytes of an address. */
static bool read_network(struct reader *reader, const char *name)
{
	struct rd_redaction *redaction = &reader->manifest->redaction;
	_cleanup_buf_ struct rd_buf word = { 0 };
	const char *at = name;
	uint32_t first, second;
	uint64_t id;

	if (!read_hash(reader, &word, &id))
		return false;
	if (rd_take_u32(&at, RD_DECIMAL, 255, &first) < 0 || *at++ != '.' ||
	    rd_parse_u32(at, RD_DECIMAL, 255, &second) < 0 || redaction->n_nets > UINT16_MAX)
		return set_wrong(reader, "invalid network");
	rd_redaction_add_net(redaction, (uint16_t)(first << 8 | second), id);
	return true;
}

static bool read_redaction(struct reader *reader)
{
	struct rd_json *json = &reader->json;
	struct rd_redaction *redaction = &reader->manifest->redaction;
	_cleanup_buf_ struct rd_buf name = { 0 };

	for (rd_json_enter(json, '{'); rd_json_member(json, &name);) {
		bool ok = true;

		if (strcmp(name.data, "key") == 0) {
			_cleanup_buf_ struct rd_buf word = { 0 };

			ok = read_hash(reader, &word, &redaction->key.v);
			redaction->key.known = ok ? RD_OK : RD_ABSENT;
		} else if (strcmp(name.data, "networks") == 0) {
			for (rd_json_enter(json, '{'); ok && rd_json_member(json, &name);)
				ok = read_network(reader, name.data);
		} else {
			ok = rd_json_skip(json);
		}
		if (!ok)
			return false;
	}
	return !json->failed;
}

/* `before`: the hash of all bytes before this member. */
static bool read_top(struct reader *reader, const char *name, uint64_t before)
{
	struct rd_json *json = &reader->json;
	_cleanup_buf_ struct rd_buf text = { 0 };
	uint64_t recorded;
	bool ok = true;

	if (strcmp(name, "schema") == 0) {
		reader->schema = rd_json_text(json, &text) && strcmp(text.data, RD_BUNDLE_SCHEMA) == 0;
		return reader->schema ? true : set_wrong(reader, "schema is not " RD_BUNDLE_SCHEMA);
	}
	if (strcmp(name, "byte_order") == 0) {
		const char *ours = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "little" : "big";

		ok = rd_json_text(json, &text);
		return ok && strcmp(text.data, ours) != 0 ?
			       set_wrong(reader, "recorded on a host with the opposite byte order") :
			       ok;
	}
	if (strcmp(name, "hostname") == 0 && !reader->manifest->hostname) {
		ok = rd_json_text(json, &text);
		reader->manifest->hostname = ok ? rd_dup(text.data) : NULL;
		return ok;
	}
	if (strcmp(name, "redacted") == 0) {
		reader->manifest->redaction.redacted = rd_json_peek(json) == 't';
		return rd_json_skip(json);
	}
	if (strcmp(name, "redaction") == 0)
		return read_redaction(reader);
	if (strcmp(name, "samples") == 0) {
		if (reader->manifest->n_samples)
			return set_wrong(reader, "duplicate 'samples'");
		for (rd_json_enter(json, '['); rd_json_element(json);)
			if (!read_sample(reader))
				return false;
		return !json->failed;
	}
	if (strcmp(name, "hash") == 0) {
		ok = read_hash(reader, &text, &recorded);
		return ok && recorded != before ? set_wrong(reader, "damaged: hash differs from the one at its end") :
						  ok;
	}
	return rd_json_skip(json);
}

int rd_manifest_read(const struct rd_bytes *bytes, struct rd_tree *tree, uint32_t top, struct rd_manifest *ret,
		     struct rd_err *err)
{
	_cleanup_(rd_manifest_deinit) struct rd_manifest manifest = { 0 };
	struct reader reader = { .tree = tree, .top = top, .manifest = &manifest };
	struct request *request = &reader.request;
	_cleanup_buf_ struct rd_buf name = { 0 };
	const char *from = (const char *)bytes->data;
	uint64_t before = RD_HASH;

	rd_json_init(&reader.json, bytes->data, bytes->size);
	for (rd_json_enter(&reader.json, '{'); rd_json_member(&reader.json, &name); from = reader.json.at) {
		if (!read_top(&reader, name.data, before))
			break;
		before = rd_hash(before, from, reader.json.at - from);
	}
	rd_buf_deinit(&request->path);
	rd_buf_deinit(&request->word);
	rd_buf_deinit(&request->target);
	rd_texts_deinit(&request->names);
	if (reader.of_file.code)
		return rd_err_set(err, reader.of_file.code, reader.of_file.object, "%s", reader.of_file.message);
	if (!rd_json_end(&reader.json) || !reader.schema || !manifest.n_samples)
		return rd_err_set(err, EBADMSG, "manifest.json", "%s",
				  reader.wrong ? reader.wrong : "not the manifest of a bundle");
	*ret = RD_TAKE(manifest);
	return 0;
}
