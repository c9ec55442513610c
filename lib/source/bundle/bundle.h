/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of the bundle reader: archive, directory or standard input to tree, manifest to facts of the tree. */
#ifndef RD_BUNDLE_H
#define RD_BUNDLE_H

#include "source/bundle/tree.h"
#include "source/shared/redaction.h"

#define RD_BUNDLE_SCHEMA "rdmadiag/bundle/1"

/* Reads a tar, plain or compressed, into the tree: from memory, or, if `bytes` is NULL, from `fd`. `name` is for messages. -EBADMSG for a
 * damaged or hostile archive, and, in memory, if another one follows, which would be lost silently; -EFBIG above the limits. */
int rd_bundle_read_tar(int fd, const struct rd_bytes *bytes, const char *name, struct rd_tree *tree, struct rd_err *err);

/* Writes all that a directory contains to a file, for the reader of a bundle. Follows no link, and interprets nothing. -EBADMSG if there is a
 * file type that a bundle must not contain, -EFBIG above the limits. */
int rd_bundle_walk(int dir, int to);

#define RD_SAMPLES_MAX 1000 /* t000 to t999 follow the first */

struct rd_bundle_sample {
	uint64_t realtime_ns, monotonic_ns;
};

struct rd_manifest {
	char *hostname; /* NULL: not recorded */
	struct rd_redaction redaction;
	struct rd_bundle_sample *samples;
	size_t n_samples, cap_samples;
};

void rd_manifest_deinit(struct rd_manifest *manifest);

/*
 * Reads a manifest and adds its facts about paths to the tree below `top`, in root/ and tNNN/root/. Verifies files that have a
 * hash. -EBADMSG if it is not a manifest, or contradicts the tree.
 */
int rd_manifest_read(const struct rd_bytes *json, struct rd_tree *tree, uint32_t top, struct rd_manifest *ret,
		     struct rd_err *err);

/* The directory of a sample: "root" and "nl", or "t004/root" and "t004/nl". `buf` has 16 bytes. */
const char *rd_sample_folder(size_t sample, const char *name, char *buf);

/* The words for enum rd_op in a manifest. */
extern const char *const rd_query_names[RD_OP_PATHS];

/*
 * A bundle on standard input is read once, to its end, before privileges are dropped and children are forked: these parse
 * it from memory, each from the beginning, and a child that is abandoned takes no bytes from another one.
 */

/* The name that selects standard input instead of a file; that of a file with this name is "./-". */
#define RD_STANDARD_INPUT "-"

static inline bool rd_is_standard_input(const char *name)
{
	return strcmp(name, RD_STANDARD_INPUT) == 0;
}

/* Copies everything up to the end of standard input, and interprets nothing. Waits as long as the writer takes. -ENOTTY: it is a
 * terminal; -ENODATA: it is empty; -EFBIG: larger than RD_FILE_MAX, which holds for all files that are read into memory; or
 * another -errno, each with `err` filled. */
int rd_standard_input_read(struct rd_err *err);

/* What was read, until the process ends; NULL: nothing was. */
const struct rd_bytes *rd_standard_input(void);

#endif
