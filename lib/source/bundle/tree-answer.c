/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Serves requests from a tree. */
#include "source/bundle/tree.h"

#include <errno.h>
#include <string.h>

#include "base/memory.h"

static int set_absent(int code, const char *path, struct rd_err *err)
{
	return rd_err_set(err, code, path, "%s",
			  code == ENOENT ? "the bundle does not have it" : "cannot be read from the bundle");
}

static int was_refused(const struct rd_node *node, enum rd_query query, const char *path, struct rd_err *err)
{
	if (!node->more || !node->more->code[query])
		return 0;
	return rd_err_set(err, node->more->code[query], path, "recorded error");
}

int rd_node_read(struct rd_tree *tree, uint32_t at, const char *path, struct rd_bytes *ret, struct rd_err *err)
{
	const struct rd_node *node = rd_tree_node(tree, at);
	int r = was_refused(node, RD_QUERY_READ, path, err);

	if (r < 0)
		return r;
	if (node->type != RD_NODE_FILE)
		return set_absent(node->type == RD_NODE_DIR ? EISDIR : ENOENT, path, err);
	if (rd_bytes_copy(node->data, node->size, ret) < 0)
		return rd_err_set(err, ENOMEM, path, "no memory for the file");
	return 0;
}

int rd_node_list(struct rd_tree *tree, uint32_t at, const char *path, bool whole, struct rd_names *ret,
		 struct rd_err *err)
{
	const struct rd_node *node = rd_tree_node(tree, at);
	const struct rd_node_more *more = node->more;
	int r = was_refused(node, RD_QUERY_LIST, path, err);

	if (r < 0)
		return r;
	if (node->type != RD_NODE_DIR)
		return set_absent(node->type == RD_NODE_NONE ? ENOENT : ENOTDIR, path, err);
	if (more && more->has_names)
		rd_names_copy(&more->names, ret);
	else if (whole || (more && more->queried[RD_QUERY_LIST]))
		rd_tree_names(tree, at, ret);
	else
		return set_absent(ENOENT, path, err);
	return 0;
}

/* For a node of unknown type: whether any recorded reply shows that it existed. */
static bool was_there(const struct rd_node *node)
{
	for (size_t query = 0; node->more && query < RD_QUERIES; query++)
		if (node->more->queried[query] && node->more->code[query] != ENOENT &&
		    node->more->code[query] != ENOTDIR)
			return true;
	return node->type != RD_NODE_NONE;
}

int rd_node_link(struct rd_tree *tree, uint32_t at, const char *path, char **ret, struct rd_err *err)
{
	const struct rd_node *node = rd_tree_node(tree, at);
	int r = was_refused(node, RD_QUERY_LINK, path, err);
	const char *target = node->more ? node->more->target : NULL;

	if (r < 0)
		return r;
	if (!target && node->type == RD_NODE_LINK)
		target = (const char *)node->data;
	if (!target)
		return set_absent(was_there(node) ? EINVAL : ENOENT, path, err);
	*ret = rd_dup(target);
	return 0;
}

uint64_t *rd_node_value(struct rd_node_more *more, enum rd_query query)
{
	return query == RD_QUERY_RDEV ? &more->rdev :
	       query == RD_QUERY_INO  ? &more->ino :
	       query == RD_QUERY_MODE ? &more->mode :
					NULL;
}

int rd_node_number(struct rd_tree *tree, uint32_t at, const char *path, enum rd_query query, uint64_t *ret,
		   struct rd_err *err)
{
	const struct rd_node *node = rd_tree_node(tree, at);
	int r = was_refused(node, query, path, err);

	if (r < 0)
		return r;
	if (node->more && node->more->queried[query]) {
		*ret = *rd_node_value(node->more, query);
		return 0;
	}
	/* An archive contains no devices, so an existing file is not a device. It does not store inode numbers and modes. */
	if (query != RD_QUERY_RDEV || (node->type != RD_NODE_FILE && node->type != RD_NODE_DIR))
		return set_absent(ENOENT, path, err);
	*ret = 0;
	return 0;
}
