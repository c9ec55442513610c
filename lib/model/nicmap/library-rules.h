/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Of which releases of the libraries the rules in lib/analyse were read. */
#ifndef RD_MODEL_LIBRARY_RULES_H
#define RD_MODEL_LIBRARY_RULES_H

#include <stddef.h>

struct rd_library_rules {
	const char *library; /* "nccl" */
	const char *release; /* version, and the commit where it is more than the version */
	const char *source;  /* where in its tree the rules stand */
};

extern const struct rd_library_rules rd_library_rules[];
extern const size_t rd_n_library_rules;

/* The release that the rules of a library were read from. */
const char *rd_library_release(const char *library);

#endif
