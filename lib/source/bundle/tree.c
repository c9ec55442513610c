/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/bundle/tree.h"

#include <sys/mman.h>

#include "base/map.h"
#include "base/siphash.h"

#define BLOCK_SIZE ((size_t)64 << 10)

/* Memory that is freed all at once. */
struct block {
	struct block *next;
	size_t used, size;
	_Alignas(16) uint8_t bytes[];
};

struct rd_tree {
	struct rd_node *nodes;
	size_t n, cap;
	struct rd_map children; /* nodes by (parent, name) */
	uint64_t seed;
	struct block *blocks;
	struct rd_bytes map;
	size_t bytes;
};

static void *tree_alloc(struct rd_tree *tree, size_t size)
{
	size_t need = (size + 15) & ~(size_t)15, room = need > BLOCK_SIZE ? need : BLOCK_SIZE;
	struct block *block = tree->blocks;
	void *p;

	if (!block || block->size - block->used < need) {
		/* Exactly as much: rd_end_limit counts what was reserved. */
		block = rd_alloc(1, sizeof(*block) + room);
		*block = (struct block){ .next = tree->blocks, .size = room };
		/* A large block is inserted after the current one, which still has space. */
		if (tree->blocks && room > BLOCK_SIZE) {
			block->next = tree->blocks->next;
			tree->blocks->next = block;
		} else {
			tree->blocks = block;
		}
	}
	p = block->bytes + block->used;
	block->used += need;
	return p;
}

/* Seeded, so that an archive cannot be crafted in which all names collide. */
static uint64_t name_hash(const struct rd_tree *tree, uint32_t dir, const char *name, size_t size)
{
	uint64_t h = tree->seed ^ (dir * 0x9e3779b97f4a7c15u);

	for (size_t i = 0; i < size; i++) {
		h = (h ^ (uint8_t)name[i]) * 0xff51afd7ed558ccdu;
		h ^= h >> 32;
	}
	return h ^ (h >> 29);
}

struct rd_tree *rd_tree_create(void)
{
	struct rd_tree *tree = rd_alloc(1, sizeof(*tree));
	struct rd_sipkey key;

	rd_sipkey_of_process(&key);
	tree->seed = key.k[0];
	rd_reserve(&tree->nodes, &tree->cap, 1, sizeof(*tree->nodes));
	tree->nodes[tree->n++] = (struct rd_node){ .name = (char *)"", .type = RD_NODE_DIR };
	return tree;
}

void rd_tree_destroy(struct rd_tree *tree)
{
	if (!tree)
		return;
	for (size_t i = 0; i < tree->n; i++)
		if (tree->nodes[i].more) {
			rd_texts_deinit(&tree->nodes[i].more->names);
			free(tree->nodes[i].more->target);
		}
	while (tree->blocks) {
		struct block *next = tree->blocks->next;

		free(tree->blocks);
		tree->blocks = next;
	}
	if (tree->map.data)
		munmap(tree->map.data, tree->map.size);
	rd_map_deinit(&tree->children);
	RD_FREE(tree->nodes, tree);
}

struct rd_node *rd_tree_node(struct rd_tree *tree, uint32_t node)
{
	return &tree->nodes[node];
}

uint32_t rd_tree_child(struct rd_tree *tree, uint32_t dir, const char *name, size_t size)
{
	uint64_t hash = name_hash(tree, dir, name, size);
	size_t i;

	for (size_t probe = 0; (i = rd_map_next(&tree->children, hash, &probe)) != RD_MAP_END;) {
		const struct rd_node *node = &tree->nodes[i];

		if (node->parent == dir && strncmp(node->name, name, size) == 0 && !node->name[size])
			return (uint32_t)i;
	}
	return 0;
}

int rd_tree_charge(struct rd_tree *tree, size_t size)
{
	if (size > RD_TREE_FILE_MAX || tree->bytes + size > RD_TREE_BYTES_MAX)
		return -EFBIG;
	tree->bytes += size;
	return 0;
}

static int add_child(struct rd_tree *tree, uint32_t dir, const char *name, size_t size, uint32_t *ret)
{
	uint32_t next = tree->nodes[dir].child;
	char *copy;

	if (tree->n >= RD_TREE_NODES_MAX)
		return -EFBIG;
	if (rd_tree_charge(tree, sizeof(*tree->nodes) + size) < 0)
		return -EFBIG;
	copy = tree_alloc(tree, size + 1);
	memcpy(copy, name, size);
	copy[size] = '\0';
	rd_map_put(&tree->children, name_hash(tree, dir, name, size), tree->n);
	*ret = (uint32_t)tree->n;
	*RD_ADD(tree->nodes, tree->n, tree->cap) = (struct rd_node){ .name = copy, .parent = dir, .next = next };
	tree->nodes[dir].child = *ret;
	return 0;
}

static bool is_dots(const char *name, size_t size)
{
	return (size == 1 || size == 2) && name[0] == '.' && name[size - 1] == '.';
}

int rd_tree_enter(struct rd_tree *tree, uint32_t dir, const char *path, uint32_t *ret)
{
	size_t depth = 0;

	if (*path == '/' || !*path)
		return -EBADMSG;
	while (*path) {
		size_t size = strcspn(path, "/");
		enum rd_node_type type = tree->nodes[dir].type;
		uint32_t child;
		int r = 0;

		if (is_dots(path, size) || size > 255 || ++depth > RD_TREE_DEPTH_MAX)
			return -EBADMSG;
		if (type != RD_NODE_NONE && type != RD_NODE_DIR)
			return -EBADMSG;
		tree->nodes[dir].type = RD_NODE_DIR;
		child = rd_tree_child(tree, dir, path, size);
		if (!child)
			r = add_child(tree, dir, path, size, &child);
		if (r < 0)
			return r;
		dir = child;
		path += size;
		path += strspn(path, "/");
	}
	*ret = dir;
	return 0;
}

int rd_tree_refer(struct rd_tree *tree, uint32_t node, enum rd_node_type type, uint8_t *data, size_t size)
{
	int r = rd_tree_charge(tree, size);

	if (r < 0)
		return r;
	tree->nodes[node].data = data;
	tree->nodes[node].size = size;
	tree->nodes[node].type = type;
	return 0;
}

int rd_tree_set(struct rd_tree *tree, uint32_t node, enum rd_node_type type, const void *data, size_t size)
{
	uint8_t *copy;
	int r = rd_tree_refer(tree, node, type, NULL, size);

	if (r < 0)
		return r;
	copy = tree->nodes[node].data = tree_alloc(tree, size + 1);
	if (size)
		memcpy(copy, data, size);
	copy[size] = '\0';
	return 0;
}

int rd_tree_map(struct rd_tree *tree, int fd, struct rd_bytes *ret)
{
	off_t size = lseek(fd, 0, SEEK_END);
	void *map = size < 0 ? MAP_FAILED : mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (map == MAP_FAILED)
		return -errno;
	tree->map = *ret = (struct rd_bytes){ map, (size_t)size };
	return 0;
}

struct rd_node_more *rd_tree_more(struct rd_tree *tree, uint32_t node)
{
	struct rd_node *of = &tree->nodes[node];

	if (!of->more) {
		tree->bytes += sizeof(*of->more);
		of->more = tree_alloc(tree, sizeof(*of->more));
		*of->more = (struct rd_node_more){ 0 };
	}
	return of->more;
}

/* The rest of the path to follow, with links replaced by their targets. */
struct walk {
	char rest[2 * 4096];
	size_t links;
};

static int walk_link(struct walk *walk, const struct rd_node *link, size_t consumed)
{
	const char *rest = walk->rest + consumed;
	size_t rest_size = strlen(rest);

	if (++walk->links > RD_TREE_LINKS_MAX)
		return -ELOOP;
	if (link->data[0] == '/')
		return -EBADMSG;
	if (link->size + 1 + rest_size >= sizeof(walk->rest))
		return -ENAMETOOLONG;
	memmove(walk->rest + link->size + 1, rest, rest_size + 1);
	memcpy(walk->rest, link->data, link->size);
	walk->rest[link->size] = '/';
	return 0;
}

int rd_tree_walk(struct rd_tree *tree, uint32_t top, const char *path, bool follow, rd_tree_enter_fn *enter, void *arg,
		 uint32_t *ret)
{
	struct walk walk = { .links = 0 };
	uint32_t at = top;

	if (*path != '/')
		return -ENOENT;
	if (strlen(path) >= sizeof(walk.rest) / 2)
		return -ENAMETOOLONG;
	strcpy(walk.rest, path);
	for (;;) {
		size_t blank = strspn(walk.rest, "/"), size = strcspn(walk.rest + blank, "/");
		const char *name = walk.rest + blank, *behind = name + size;
		const struct rd_node_more *more = tree->nodes[at].more;
		uint32_t child;
		int r = 0;

		if (!size)
			break;
		if (tree->nodes[at].type == RD_NODE_FILE)
			return -ENOTDIR;
		if (is_dots(name, size)) {
			/* In a recording "/.." is the top, as on the host. */
			if (size == 2 && at == top && !enter)
				return -EBADMSG;
			at = size == 2 && at != top ? tree->nodes[at].parent : at;
			memmove(walk.rest, behind, strlen(behind) + 1);
			continue;
		}
		child = rd_tree_child(tree, at, name, size);
		if (enter)
			r = enter(arg, at, name, size, &child);
		else if (!child) /* In a directory that could not be listed it may exist. */
			r = more && rd_could_not_look(-more->code[RD_OP_LIST]) ? -more->code[RD_OP_LIST] : -ENOENT;
		if (r < 0)
			return r;
		if (tree->nodes[child].type == RD_NODE_LINK && (follow || behind[strspn(behind, "/")])) {
			r = walk_link(&walk, &tree->nodes[child], blank + size);
			if (r < 0)
				return r;
			continue;
		}
		at = child;
		memmove(walk.rest, behind, strlen(behind) + 1);
		if (r)
			break;
	}
	*ret = at;
	return 0;
}

int rd_tree_resolve(struct rd_tree *tree, uint32_t top, const char *path, bool follow)
{
	uint32_t node;
	int r = rd_tree_walk(tree, top, path, follow, NULL, NULL, &node);

	return r < 0 ? r : (int)node;
}

char *rd_tree_path(struct rd_tree *tree, uint32_t top, uint32_t node)
{
	size_t size = 0;
	char *path, *at;

	for (uint32_t i = node; i != top && i != RD_TREE_TOP; i = tree->nodes[i].parent)
		size += strlen(tree->nodes[i].name) + 1;
	path = rd_alloc(1, size + 1);
	if (!size)
		return path;
	at = path + size - 1;
	*at = '\0';
	for (uint32_t i = node; i != top && i != RD_TREE_TOP; i = tree->nodes[i].parent) {
		size_t n = strlen(tree->nodes[i].name);

		at -= n;
		memcpy(at, tree->nodes[i].name, n);
		if (at > path)
			*--at = '/';
	}
	return path;
}

uint64_t rd_tree_shape(struct rd_tree *tree, uint32_t dir, uint64_t path)
{
	uint64_t sum = 0;

	for (uint32_t i = tree->nodes[dir].child; i; i = tree->nodes[i].next) {
		const struct rd_node *node = &tree->nodes[i];
		uint64_t hash = rd_hash(rd_hash(path, "/", 1), node->name, strlen(node->name));

		if (node->type == RD_NODE_DIR)
			sum += rd_hash(hash, "\0d", 2) + rd_tree_shape(tree, i, hash);
		else if (node->type == RD_NODE_FILE)
			sum += rd_hash(hash, "\0f", 2);
		else if (node->type == RD_NODE_LINK)
			sum += rd_hash(rd_hash(hash, "\0l", 2), node->data, node->size);
	}
	return sum;
}

bool rd_link_stays(const char *target, size_t depth)
{
	if (*target == '/' || !*target)
		return false;
	while (*target) {
		size_t size = strcspn(target, "/");

		if (size == 2 && is_dots(target, size)) {
			if (!depth--)
				return false;
		} else if (size > 0 && !is_dots(target, size)) {
			depth++;
		}
		target += size;
		target += strspn(target, "/");
	}
	return true;
}

uint64_t *rd_node_value(struct rd_node_more *more, enum rd_op op)
{
	return op == RD_OP_RDEV ? &more->rdev : op == RD_OP_INO ? &more->ino : op == RD_OP_MODE ? &more->mode : NULL;
}

/* For a node of unknown type: whether any recorded reply shows that it existed. */
static bool was_there(const struct rd_node *node)
{
	for (size_t op = 0; node->more && op < RD_OP_PATHS; op++)
		if (node->more->queried[op] && node->more->code[op] != ENOENT && node->more->code[op] != ENOTDIR)
			return true;
	return node->type != RD_NODE_NONE;
}

static int list_node(struct rd_tree *tree, uint32_t at, bool whole, struct rd_bytes *ret)
{
	const struct rd_node *node = rd_tree_node(tree, at);
	const struct rd_node_more *more = node->more;
	_cleanup_texts_ struct rd_texts names = { 0 };

	if (node->type != RD_NODE_DIR)
		return node->type == RD_NODE_NONE ? -ENOENT : -ENOTDIR;
	if (more && more->has_names)
		return rd_texts_pack(&more->names, ret);
	if (!whole && (!more || !more->queried[RD_OP_LIST]))
		return -ENOENT;
	for (uint32_t i = node->child; i; i = tree->nodes[i].next)
		if (tree->nodes[i].type != RD_NODE_NONE)
			rd_texts_add(&names, tree->nodes[i].name);
	rd_texts_sort(&names);
	return rd_texts_pack(&names, ret);
}

int rd_node_get(struct rd_tree *tree, uint32_t at, const struct rd_query *query, bool whole, struct rd_reply *ret,
		struct rd_err *err)
{
	const struct rd_node *node = rd_tree_node(tree, at);
	struct rd_node_more *more = node->more;
	enum rd_op op = query->op;
	const char *target = more && more->target	? more->target :
			     node->type == RD_NODE_LINK ? (const char *)node->data :
							  NULL;
	int r;

	if (more && more->code[op])
		return rd_err_set(err, more->code[op], query->data, "recorded error");
	switch (op) {
	case RD_OP_READ:
		r = node->type == RD_NODE_FILE ? rd_bytes_copy(node->data, node->size, &ret->bytes) :
		    node->type == RD_NODE_DIR  ? -EISDIR :
						 -ENOENT;
		break;
	case RD_OP_LIST:
		/* Processes that were judged: their listing is what was recorded. */
		r = list_node(tree, at, whole || strcmp(query->data, RD_SOURCE_JOB) == 0, &ret->bytes);
		break;
	case RD_OP_LINK:
		r = target ? rd_bytes_copy(target, strlen(target), &ret->bytes) : was_there(node) ? -EINVAL : -ENOENT;
		break;
	default:
		/* An archive contains no devices, so an existing file is not a device. It does not store inode numbers and modes. */
		ret->number = more && more->queried[op] ? *rd_node_value(more, op) : 0;
		r = (more && more->queried[op]) ||
				    (op == RD_OP_RDEV && (node->type == RD_NODE_FILE || node->type == RD_NODE_DIR)) ?
			    0 :
			    -ENOENT;
	}
	return r < 0 ? rd_err_set(err, -r, query->data, "%s",
				  r == -ENOENT ? "the bundle does not have it" : "cannot be read from the bundle") :
		       0;
}
