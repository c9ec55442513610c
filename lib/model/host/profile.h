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
	char *key,
		*value; /* owned; a value of NULL, on a host's side: there is such a thing, and it could not be read */
};

/* "ignore = RULE[@SUBJECT] until DATE reason": findings of that rule about that subject are muted up to that day. */
struct rd_ignore {
	char *rule;	  /* owned */
	char *subject;	  /* pattern with "*"; NULL: all of the rule; owned */
	char *until;	  /* "2026-12-31", as it was written; owned */
	char *reason;	  /* owned */
	int64_t last_day; /* the same date, which still counts: days since 1970-01-01, UTC */
	unsigned line;	  /* of the profile's text */
};

struct rd_profile {
	struct rd_profile_line *v;
	size_t n, cap;
	size_t n_like; /* lines with "*" */
	struct rd_ignore *ignores;
	size_t n_ignores, cap_ignores;
};
void rd_profile_deinit(struct rd_profile *profile);

/* Copies; a NULL value adds nothing. */
void rd_profile_add(struct rd_profile *profile, const char *key, const char *value);
/* Of this host: there is such a thing, but it could not be read. Written it is nothing, compared it is unknown. */
void rd_profile_add_unknown(struct rd_profile *profile, const char *key);
void rd_profile_addf(struct rd_profile *profile, const char *key, const char *fmt, ...) RD_PRINTF(3, 4);

/* The value of exactly this key; NULL if there is none. NULL profile: nothing. */
const char *rd_profile_get(const struct rd_profile *profile, const char *key);

/* Whether the profile has "rule.ID = required": then a rule that cannot tell counts, and one that is about features that
 * not everybody wants judges. NULL: no. */
bool rd_profile_requires(const struct rd_profile *profile, const char *id);

/* Whether a key of a profile, with "*" in it, means this key of a host. */
bool rd_profile_matches(const char *pattern, const char *key);

/* Takes the right side of "ignore =" apart, in place; NULL, or what is wrong with it (static). The texts are copies, to be
 * released with the profile. `line` is the caller's to set. */
const char *rd_ignore_parse(char *text, struct rd_ignore *ret);
void rd_ignore_deinit(struct rd_ignore *ignore);

/* The day, UTC, of a moment: ns and days since 1970-01-01. */
int64_t rd_profile_day(uint64_t realtime_ns);

/* Whether its last day has passed: then it mutes nothing, which is worth telling. */
bool rd_ignore_over(const struct rd_ignore *ignore, int64_t day);

/* What mutes this finding on that day; NULL: nothing. `subject` NULL: only lines without one. */
const struct rd_ignore *rd_profile_ignored(const struct rd_profile *profile, const char *id, const char *subject,
					   int64_t day);

/* Whether all rules that are ignored exist: 0, or -EINVAL with the line's number in `err`. `exists` knows the rules, which
 * the model does not. `name`: whose text it is. */
int rd_profile_check_ignores(const struct rd_profile *profile, bool (*exists)(const char *id), const char *name,
			     struct rd_err *err);

/* Lines "key = value" and "ignore = …", "#" begins a comment. -EINVAL with the line's number in `err`; -E2BIG. `name`: whose text
 * it is, for errors. */
int rd_profile_parse(const char *text, size_t size, const char *name, struct rd_profile *ret, struct rd_err *err);

/* The text of a profile, which parses to the same. What is no text is left out. */
void rd_profile_write(const struct rd_profile *profile, struct rd_buf *out);

#endif
