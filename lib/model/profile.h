/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a fleet expects of a host: lines "key = value". A key is "count.gpus", "nic.mlx5_0.rate_gbps",
 * "gpu.0000:1b:00.0.name", "module.nvidia_peermem.version", "rule.memlock"; "*" in it stands for any letters. The same
 * list is made of a host, so that learning is writing it down and checking is comparing two of them.
 */
#ifndef RD_MODEL_PROFILE_H
#define RD_MODEL_PROFILE_H

#include "base/buf.h"
#include "base/err.h"

struct rd_profile_line {
	char *key, *value; /* owned */
};

struct rd_profile {
	struct rd_profile_line *v;
	size_t n, cap;
	bool failed; /* out of memory: some are missing */
};
void rd_profile_deinit(struct rd_profile *profile);

/* Copies; a NULL value adds nothing. Sets `failed` when out of memory. */
void rd_profile_add(struct rd_profile *profile, const char *key, const char *value);
void rd_profile_addf(struct rd_profile *profile, const char *key, const char *fmt, ...) RD_PRINTF(3, 4);

/* The value of exactly this key; NULL if there is none. NULL profile: nothing. */
const char *rd_profile_get(const struct rd_profile *profile, const char *key);

/* Whether the profile has "rule.ID = required": then a rule that cannot tell counts, and one that is about features that
 * not everybody wants judges. NULL: no. */
bool rd_profile_requires(const struct rd_profile *profile, const char *id);

/* Whether a key of a profile, with "*" in it, means this key of a host. */
bool rd_profile_matches(const char *pattern, const char *key);

/* Lines "key = value", "#" begins a comment. -EINVAL with the line's number in `err`; -E2BIG; -ENOMEM. `name`: whose text
 * it is, for errors. */
int rd_profile_parse(const char *text, size_t size, const char *name, struct rd_profile *ret, struct rd_err *err);

/* The text of a profile, which parses to the same. What is no text is left out. */
void rd_profile_write(const struct rd_profile *profile, struct rd_buf *out);

#endif
