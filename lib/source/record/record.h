/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The data of a recording source, and writing them as a bundle. */
#ifndef RD_RECORD_H
#define RD_RECORD_H

#include "base/siphash.h"
#include "source/bundle/tree.h"
#include "source/shared/redaction.h"

/* In order of the requests. */
struct rd_recorded_request {
	uint32_t node;
	enum rd_op query;
	uint64_t at_ns; /* since the sample began */
};

/* One sample of the host. root and nl are directories of the tree. */
struct rd_record_sample {
	struct rd_tree *tree;
	uint32_t root, nl;
	uint64_t realtime_ns, monotonic_ns;
	struct rd_recorded_request *requests;
	size_t n_requests, cap_requests;
};

struct rd_recording {
	struct rd_record_sample *samples; /* the first is complete, the others contain changes */
	size_t n_samples, cap_samples;
	struct rd_redaction redaction;
};

void rd_recording_deinit(struct rd_recording *recording);

void rd_record_sample_init(struct rd_record_sample *sample);
void rd_record_sample_deinit(struct rd_record_sample *sample);
void rd_record_sample_log(struct rd_record_sample *sample, uint32_t node, enum rd_op query, uint64_t at_ns);

/* Moves the data of `src` (of rd_source_record_open) to the caller; the source is then empty and can only be closed. */
int rd_source_record_take(struct rd_source *src, struct rd_recording *ret, struct rd_err *err);

/*
 * Writes the bundle to `path`: a tar archive; the suffix selects the compression (.tar, .tar.gz, .tgz, .tar.bz2, .tar.zst),
 * -EINVAL for another suffix. It appears under its name when it is complete, and not at all on failure; without `replace`
 * -EEXIST if the name exists. `ret_size` (may be NULL) is its size in bytes.
 */
int rd_record_save(const struct rd_recording *recording, const char *version, const char *path, bool replace,
		   uint64_t *ret_size, struct rd_err *err);

/* The same bundle in memory; `path`: for messages, and for its suffix. `ret` is released by the caller, also on failure. -errno. */
int rd_record_pack(const struct rd_recording *recording, const char *version, const char *path, struct rd_buf *ret,
		   struct rd_err *err);

/* Whether rd_record_save would accept `path`, to be called before the work. 0, -EINVAL or -EEXIST. */
int rd_record_can_save(const char *path, bool replace, struct rd_err *err);

/* The key of pseudonyms: from a file of at least 16 bytes (at most 4096 are used), or random. 0 or -errno. */
int rd_redact_key_read(const char *path, struct rd_sipkey *ret, struct rd_err *err);
int rd_redact_key_make_up(struct rd_sipkey *ret, struct rd_err *err);

/* Kernel log lines that were kept and dropped, in all samples. */
struct rd_redacted {
	size_t log_kept, log_dropped;
};

/* Of a recording of a bundle that was redacted: its pseudonyms are those of the bundle. */
void rd_recording_inherit(struct rd_recording *recording, const struct rd_source *from);

/* Replaces names of hosts, users, jobs and programs, addresses, GUIDs and serial numbers, in place: in contents, names, link
 * targets and netlink messages. The same original has the same pseudonym everywhere, and in each recording with the same key. */
int rd_record_redact(struct rd_recording *recording, const struct rd_sipkey *key, struct rd_redacted *ret,
		     struct rd_err *err);

#endif
