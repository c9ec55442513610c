/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files, directories and links held in memory by path: what an archive holds, and what a recording gathers. Names are
 * foreign: a path that is absolute or has "..", a file in place of a directory and a tree above the limits are refused.
 */
#ifndef RD_TREE_H
#define RD_TREE_H

#include "source/shared/source.h"

/* Far above what a large host's recording has (about 50,000 files of 30 MB), far below what would hurt the reader: the bytes
 * are what a tree takes in memory, its nodes among it. */
#define RD_TREE_NODES_MAX ((size_t)1 << 19)
#define RD_TREE_FILE_MAX ((size_t)64 << 20)
#define RD_TREE_BYTES_MAX ((size_t)128 << 20)
#define RD_TREE_DEPTH_MAX 64
#define RD_TREE_LINKS_MAX 40 /* on the way to a file, as the kernel has it */

enum rd_node_type {
	RD_NODE_NONE, /* was asked for, and only the errors are known */
	RD_NODE_DIR,
	RD_NODE_FILE,
	RD_NODE_LINK,
};

/* What can be asked about a path. */
enum rd_ask {
	RD_ASK_READ,
	RD_ASK_LIST,
	RD_ASK_LINK,
	RD_ASK_RDEV,
	RD_ASK_INO,
	RD_ASK_MODE,
	RD_ASKS,
};

/* What few nodes have. */
struct rd_node_more {
	int code[RD_ASKS];	  /* the positive errno that was the answer; 0: none */
	bool asked[RD_ASKS];	  /* there is an answer */
	uint64_t rdev, ino, mode; /* where asked, and code is 0 */
	struct rd_names names;	  /* of a directory whose members are not all in the tree */
	bool has_names;
	char *target; /* of a link that leads out of the tree, which no archive may hold; owned */
};

struct rd_node {
	char *name;
	struct rd_node_more *more; /* NULL: nothing */
	uint8_t *data;		   /* FILE: its bytes; LINK: its target. A NUL stands behind both */
	size_t size;
	uint32_t parent, child, next; /* 0: none; the top is nobody's child */
	enum rd_node_type type;
	bool lazy;    /* a file whose bytes are still on disk */
	bool probed;  /* while recording: it is known whether this is a link */
	bool missing; /* while recording: there is no such thing */
};

struct rd_tree;

#define RD_TREE_TOP 0u

int rd_tree_create(struct rd_tree **ret);
void rd_tree_destroy(struct rd_tree *tree);

static inline void rd_tree_destroyp(struct rd_tree **tree)
{
	rd_tree_destroy(*tree);
}

/* Good until a node is added. */
struct rd_node *rd_tree_node(struct rd_tree *tree, uint32_t node);

/* The member of a directory; 0 if there is none. */
uint32_t rd_tree_child(struct rd_tree *tree, uint32_t dir, const char *name, size_t size);

/* The node at a relative path below `dir`, added as RD_NODE_NONE where it is missing; the directories above it become
 * such. -EBADMSG for a path that is no good or leads through a file, -EFBIG above the limits, -ENOMEM. */
int rd_tree_enter(struct rd_tree *tree, uint32_t dir, const char *path, uint32_t *ret);

/* Copies bytes into a node (FILE or LINK). -EFBIG above the limits. */
int rd_tree_set(struct rd_tree *tree, uint32_t node, enum rd_node_type type, const void *data, size_t size);

/* Takes note that bytes are held elsewhere on the tree's account. -EFBIG above the limits. */
int rd_tree_charge(struct rd_tree *tree, size_t size);

/* Room for the rare facts of a node; NULL when out of memory. */
struct rd_node_more *rd_tree_more(struct rd_tree *tree, uint32_t node);

/*
 * Follows an absolute path from `top`, links included (that of the last component only if `follow`). -ENOENT, -ENOTDIR,
 * -ELOOP as the kernel has them, -EBADMSG where a link leads out of the tree, and of what is not in a directory that could not be
 * listed the errno of that.
 */
int rd_tree_resolve(struct rd_tree *tree, uint32_t top, const char *path, bool follow, uint32_t *ret);

/* The path of a node below `top`, without a leading slash; caller frees. NULL when out of memory. */
char *rd_tree_path(struct rd_tree *tree, uint32_t top, uint32_t node);

/*
 * What is below a directory, as one number: the sum of the rd_hash of each path, which begins with a slash, a NUL, the kind
 * ("d", "f", "l") and a link's target. Bytes of files do not enter into it.
 */
uint64_t rd_tree_shape(struct rd_tree *tree, uint32_t dir);

/* The members of a directory that are more than RD_NODE_NONE, sorted. */
void rd_tree_names(struct rd_tree *tree, uint32_t dir, struct rd_names *ret);

/*
 * What a node answers when it is asked, 0 or -errno with `err` filled. `path` is what the caller asked for, `whole` says
 * that what is not in the tree was not there (a bare tree) rather than not asked for (a recording), which matters to
 * listings. Lazy files are not for these.
 */
int rd_node_read(struct rd_tree *tree, uint32_t node, const char *path, struct rd_bytes *ret, struct rd_err *err);
int rd_node_list(struct rd_tree *tree, uint32_t node, const char *path, bool whole, struct rd_names *ret,
		 struct rd_err *err);
int rd_node_link(struct rd_tree *tree, uint32_t node, const char *path, char **ret, struct rd_err *err);
int rd_node_number(struct rd_tree *tree, uint32_t node, const char *path, enum rd_ask ask, uint64_t *ret,
		   struct rd_err *err);

/* Where the answer to RD_ASK_RDEV, RD_ASK_INO or RD_ASK_MODE is kept; NULL for other requests. */
uint64_t *rd_node_value(struct rd_node_more *more, enum rd_ask ask);

/* Whether a relative link target, standing in a directory `depth` levels below the top, can only lead to places in the
 * tree. Absolute ones do not. */
bool rd_link_stays(const char *target, size_t depth);

#endif
