/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether names and addresses of several bundles can be matched with each other. */
#ifndef RD_CMD_PSEUDONYMS_H
#define RD_CMD_PSEUDONYMS_H

#include "source/shared/redaction.h"

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
