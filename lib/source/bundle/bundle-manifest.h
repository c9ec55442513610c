/* SPDX-License-Identifier: GPL-2.0-or-later */
/* manifest.json: the recorded requests, their times, and replies that no file can hold. */
#ifndef RD_BUNDLE_MANIFEST_H
#define RD_BUNDLE_MANIFEST_H

#include "source/bundle/bundle.h"
#include "source/shared/redaction.h"

#define RD_SAMPLES_MAX 1000 /* t000 to t999 follow the first */

struct rd_sample {
	uint64_t realtime_ns, monotonic_ns;
};

struct rd_manifest {
	char *hostname; /* NULL: not recorded */
	struct rd_redaction redaction;
	struct rd_sample *samples;
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

#endif
