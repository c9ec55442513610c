/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes are a manifest, of a bundle that holds a few files. */
#include "fuzz.h"

#include "source/bundle/bundle.h"

static void add(struct rd_tree *tree, const char *path, enum rd_node_type type, const char *text, size_t size)
{
	uint32_t node;

	if (rd_tree_enter(tree, RD_TREE_TOP, path, &node) < 0)
		return;
	if (type == RD_NODE_DIR)
		rd_tree_node(tree, node)->type = type;
	else
		rd_tree_set(tree, node, type, text, size);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	struct rd_manifest manifest = { 0 };
	struct rd_bytes bytes = { 0 };
	struct rd_tree *tree = rd_tree_create();

	rd_bytes_copy(data, size, &bytes);
	add(tree, "root/sys/a", RD_NODE_FILE, "a", 1);
	add(tree, "root/sys/d", RD_NODE_DIR, NULL, 0);
	add(tree, "root/sys/l", RD_NODE_LINK, "a", 1);
	add(tree, "nl/route/18-0", RD_NODE_FILE, "", 0);
	add(tree, "t000/root/sys/a", RD_NODE_FILE, "b", 1);
	if (rd_manifest_read(&bytes, tree, RD_TREE_TOP, &manifest, NULL) == 0)
		rd_manifest_deinit(&manifest);
	rd_tree_destroy(tree);
	rd_bytes_deinit(&bytes);
}
