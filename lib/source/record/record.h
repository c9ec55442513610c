/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a recording source has gathered, and how it becomes a bundle. */
#ifndef RD_RECORD_H
#define RD_RECORD_H

#include "base/buf.h"
#include "base/siphash.h"
#include "source/bundle/tree.h"

/* In the order they were asked. */
struct rd_request {
	uint32_t node;
	enum rd_ask ask;
	uint64_t at_ns; /* since the sample began */
};

/* One look at the host. root and nl are directories of the tree. */
struct rd_record_sample {
	struct rd_tree *tree;
	uint32_t root, nl;
	uint64_t realtime_ns, monotonic_ns;
	struct rd_request *requests;
	size_t n_requests, cap_requests;
};

struct rd_recording {
	struct rd_record_sample *samples; /* the first whole, of the others what changed */
	size_t n_samples, cap_samples;
	bool redacted;
};

void rd_recording_deinit(struct rd_recording *recording);

int rd_record_sample_init(struct rd_record_sample *sample);
void rd_record_sample_deinit(struct rd_record_sample *sample);
int rd_record_sample_log(struct rd_record_sample *sample, uint32_t node, enum rd_ask ask, uint64_t at_ns);

/* What is in `now` and was not so in `before`, as a sample of its own. */
int rd_record_sample_changes(struct rd_record_sample *before, struct rd_record_sample *now,
			     struct rd_record_sample *ret);

/* Hands over what `src` (of rd_source_record_open) has gathered; the source is then empty and only to be closed. */
int rd_source_record_take(struct rd_source *src, struct rd_recording *ret, struct rd_err *err);

/*
 * Writes the bundle to `path`: a tar archive, packed as the suffix says (.tar, .tar.gz, .tgz, .tar.bz2, .tar.zst), -EINVAL
 * for another. It appears under its name when it is complete, and not at all on failure; without `replace` not where
 * something has that name, -EEXIST. `ret_size` (may be NULL) is its size in bytes.
 */
int rd_record_save(const struct rd_recording *recording, const char *version, const char *path, bool replace,
		   uint64_t *ret_size, struct rd_err *err);

/* Whether `path` is a name that rd_record_save would take: for asking before the work. 0, -EINVAL or -EEXIST. */
int rd_record_can_save(const char *path, bool replace, struct rd_err *err);

/* The key that stand-ins are made with: of a file of 16 bytes at least (4096 count), or made up. 0 or -errno. */
int rd_redact_key_read(const char *path, struct rd_sipkey *ret, struct rd_err *err);
int rd_redact_key_make_up(struct rd_sipkey *ret, struct rd_err *err);

/* How many lines of the kernel log are left, and how many were dropped; of all samples. */
struct rd_redacted {
	size_t log_kept, log_dropped;
};

/* Replaces in place what names a host, an address, a GUID, a serial number, a user, a job or a program: in contents, names, link
 * targets and netlink messages. The same original has the same stand-in wherever it stands, and in each recording of one key. */
int rd_record_redact(struct rd_recording *recording, const struct rd_sipkey *key, struct rd_redacted *ret,
		     struct rd_err *err);

#endif
