/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For commands that read many bundles: how far they are, and whether names and addresses of several bundles can be matched. */
#ifndef RD_CMD_BUNDLES_H
#define RD_CMD_BUNDLES_H

#include "source/shared/redaction.h"

/* What was done so far, on standard error: on a terminal as a line that is overwritten, elsewhere as a line every ten seconds, so that a
 * log shows that it lives. Zeroed before the first call. */
struct rd_progress {
	int64_t began_ms, shown_ms; /* monotonic; 0: not yet */
	bool line;		    /* there is one on the terminal */
};

/* "rdmadiag: bundle 12 of 1000"; nothing in the first second. `done` counts from 1. */
void rd_progress_show(struct rd_progress *progress, const char *what, size_t done, size_t all);

/* Removes the line. */
void rd_progress_end(struct rd_progress *progress);

/* Zeroed before the first check. */
struct rd_pseudonyms {
	const char *first; /* the first bundle; NULL: none yet */
	bool redacted;
	RD_FIELD(uint64_t) key;
	const char *key_of; /* the bundle that has it */
	struct rd_known_net {
		uint64_t id;
		const char *path; /* NULL: not seen */
	} * nets;		  /* by pseudonym; NULL: none */
};
void rd_pseudonyms_deinit(struct rd_pseudonyms *pseudonyms);

/*
 * -EINVAL with `err` filled if this bundle cannot be matched with those before: redacted with a different key, or only one of them
 * is redacted, or one pseudonym means two networks. `path` must outlive `pseudonyms`. 0 also where nothing is known of the key:
 * older versions did not record it.
 */
int rd_pseudonyms_check(struct rd_pseudonyms *pseudonyms, const struct rd_source *source, const char *path,
			struct rd_err *err);

#endif
