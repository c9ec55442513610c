/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Expected state of the hosts of a cluster: lines "key = value". A key is "count.gpus", "nic.mlx5_0.rate_gbps",
 * "gpu.0000:1b:00.0.name", "module.nvidia_peermem.version", "rule.memlock"; "*" in it matches any characters. The same list
 * is built from a host: learning writes it to a file, checking compares the two.
 */
#ifndef RD_MODEL_PROFILE_H
#define RD_MODEL_PROFILE_H

#include "base/buf.h"
#include "base/err.h"

struct rd_profile_line {
	char *key, *value; /* owned; value NULL, only in the list of a host: exists, but could not be read */
};

/* "ignore = RULE[@SUBJECT] until DATE reason": findings of that rule about that subject are suppressed up to that day. */
struct rd_ignore {
	char *rule;	  /* owned */
	char *subject;	  /* pattern with "*"; NULL: all subjects; owned */
	char *until;	  /* "2026-12-31", as in the file; owned */
	char *reason;	  /* owned */
	int64_t last_day; /* the same date, inclusive: days since 1970-01-01, UTC */
	unsigned line;	  /* line number in the profile */
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
/* For a host: the value exists, but could not be read. It is not written, and compares as unknown. */
void rd_profile_add_unknown(struct rd_profile *profile, const char *key);

/* The value of exactly this key; NULL: none, or `profile` is NULL. */
const char *rd_profile_get(const struct rd_profile *profile, const char *key);

/* Whether the profile has "rule.ID = required": then an unknown result affects the exit status, and rules about optional
 * features are applied. NULL: no. */
bool rd_profile_requires(const struct rd_profile *profile, const char *id);

/* Whether a key of a profile, with "*", matches this key of a host. */
bool rd_profile_matches(const char *pattern, const char *key);

/* The day of a time, UTC: ns and days since 1970-01-01. */
int64_t rd_profile_day(uint64_t realtime_ns);

/* Whether the last day has passed: then the line has no effect, which is reported. */
bool rd_ignore_over(const struct rd_ignore *ignore, int64_t day);

/* The line that suppresses this finding on that day; NULL: none. `subject` NULL: only lines without a subject. */
const struct rd_ignore *rd_profile_ignored(const struct rd_profile *profile, const char *id, const char *subject,
					   int64_t day);

/* Whether all ignored rules exist: 0, or -EINVAL with the line number in `err`. `exists`: whether a rule exists. `name`: of the
 * profile, for errors. */
int rd_profile_check_ignores(const struct rd_profile *profile, bool (*exists)(const char *id), const char *name,
			     struct rd_err *err);

/* Lines "key = value" and "ignore = …", "#" begins a comment. -EINVAL with the line number in `err`; -E2BIG. `name`: of the
 * profile, for errors. */
int rd_profile_parse(const char *text, size_t size, const char *name, struct rd_profile *ret, struct rd_err *err);

/* Writes the text of a profile, which parses to the same. Values that could not be read or are not printable are omitted. */
void rd_profile_write(const struct rd_profile *profile, struct rd_buf *out);

#endif
