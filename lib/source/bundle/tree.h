/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files, directories and links in memory, by path: the contents of an archive, or of a recording in progress. Names are
 * untrusted: an absolute path, a path with "..", a file in place of a directory and a tree above the limits are refused.
 */
#ifndef RD_TREE_H
#define RD_TREE_H

#include "source/shared/source.h"

/* Far above the recording of a large host (about 50,000 files, 30 MB), and harmless for the reader: the bytes are the memory of
 * a tree including its nodes. */
#define RD_TREE_NODES_MAX ((size_t)1 << 19)
#define RD_TREE_FILE_MAX ((size_t)64 << 20)
#define RD_TREE_BYTES_MAX ((size_t)128 << 20)
#define RD_TREE_DEPTH_MAX 64
#define RD_TREE_LINKS_MAX 40 /* links per path lookup, as in the kernel */

enum rd_node_type {
	RD_NODE_NONE, /* was requested; only errors are known */
	RD_NODE_DIR,
	RD_NODE_FILE,
	RD_NODE_LINK,
};

/* Members that few nodes need. */
struct rd_node_more {
	int code[RD_OP_PATHS];	   /* the positive errno of the reply; 0: no error */
	bool queried[RD_OP_PATHS]; /* a reply is recorded */
	uint64_t rdev, ino, mode;  /* valid if queried and code is 0 */
	struct rd_texts names;	   /* of a directory of which not all members are in the tree */
	bool has_names;
	char *target; /* of a link that points outside the tree, which an archive must not contain; owned */
};

struct rd_node {
	char *name;
	struct rd_node_more *more; /* NULL: not needed */
	uint8_t *data;		   /* FILE: its bytes; LINK: its target; both followed by a NUL */
	size_t size;
	uint32_t parent, child, next; /* 0: none; the top has no parent */
	enum rd_node_type type;
	bool probed;  /* while recording: it is known whether this is a link */
	bool missing; /* while recording: it does not exist */
};

struct rd_tree;

#define RD_TREE_TOP 0u

struct rd_tree *rd_tree_create(void);
void rd_tree_destroy(struct rd_tree *tree);

static inline void rd_tree_destroyp(struct rd_tree **tree)
{
	rd_tree_destroy(*tree);
}

/* Valid until a node is added. */
struct rd_node *rd_tree_node(struct rd_tree *tree, uint32_t node);

/* The member of a directory; 0: not found. */
uint32_t rd_tree_child(struct rd_tree *tree, uint32_t dir, const char *name, size_t size);

/* The node at a relative path below `dir`, added as RD_NODE_NONE if it is missing; its parents become directories. -EBADMSG for
 * an invalid path or one through a file, -EFBIG above the limits. */
int rd_tree_enter(struct rd_tree *tree, uint32_t dir, const char *path, uint32_t *ret);

/* Copies bytes into a node (FILE or LINK). -EFBIG above the limits. */
int rd_tree_set(struct rd_tree *tree, uint32_t node, enum rd_node_type type, const void *data, size_t size);

/* The same without a copy: of bytes that are followed by a NUL, and stay as long as the tree. */
int rd_tree_refer(struct rd_tree *tree, uint32_t node, enum rd_node_type type, uint8_t *data, size_t size);

/* Maps a file into memory as long as the tree lives: one per tree. */
int rd_tree_map(struct rd_tree *tree, int fd, struct rd_bytes *ret);

/* Accounts bytes that are allocated elsewhere to the tree. -EFBIG above the limits. */
int rd_tree_charge(struct rd_tree *tree, size_t size);

/* The rarely used members of a node, allocated on demand. */
struct rd_node_more *rd_tree_more(struct rd_tree *tree, uint32_t node);

/*
 * The node at an absolute path from `top`, through links (of the last component only if `follow`). -ENOENT, -ENOTDIR, -ELOOP as in
 * the kernel, -EBADMSG if a link points outside the tree, and for a missing member of a directory that could not be listed the
 * errno of listing it.
 */
int rd_tree_resolve(struct rd_tree *tree, uint32_t top, const char *path, bool follow);

/* The same, where each name is entered by a function: `*child` is its node, which the function adds if that is 0. It returns 0, 1 to end
 * there, or -errno. Then "/.." is the top. */
typedef int rd_tree_enter_fn(void *arg, uint32_t dir, const char *name, size_t size, uint32_t *child);
int rd_tree_walk(struct rd_tree *tree, uint32_t top, const char *path, bool follow, rd_tree_enter_fn *enter, void *arg,
		 uint32_t *ret);

/* The path of a node below `top`, without a leading slash; caller frees. */
char *rd_tree_path(struct rd_tree *tree, uint32_t top, uint32_t node);

/*
 * A checksum of the names below a directory: the sum of the rd_hash of each path (with leading slash), a NUL, the type
 * ("d", "f", "l") and the target of a link. The bytes of files are not included. `path`: the hash of the
 * path of the directory, RD_HASH at the top.
 */
uint64_t rd_tree_shape(struct rd_tree *tree, uint32_t dir, uint64_t path);

/*
 * The reply of a node to a query about a path, which is only for messages: 0 or -errno with `err` filled. `whole`: a file that is not
 * in the tree did not exist (a bare tree), as opposed to not requested (a recording); this matters for listings.
 */
int rd_node_get(struct rd_tree *tree, uint32_t node, const struct rd_query *query, bool whole, struct rd_reply *ret,
		struct rd_err *err);

/* The member with the reply to RD_OP_RDEV, RD_OP_INO or RD_OP_MODE; NULL for other requests. */
uint64_t *rd_node_value(struct rd_node_more *more, enum rd_op query);

/* Whether a relative link target in a directory `depth` levels below the top cannot point outside the tree. False for absolute
 * targets. */
bool rd_link_stays(const char *target, size_t depth);

#endif
