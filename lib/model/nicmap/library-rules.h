/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Releases of the libraries from whose sources the rules in lib/analyse were taken. */
#ifndef RD_MODEL_LIBRARY_RULES_H
#define RD_MODEL_LIBRARY_RULES_H

#include <stddef.h>

struct rd_library_rules {
	const char *library; /* "nccl" */
	const char *release; /* version and commit */
	const char *source;  /* directories of its sources that contain the rules */
};

extern const struct rd_library_rules rd_library_rules[];
extern const size_t rd_n_library_rules;

/* The release that the rules of a library were taken from; NULL: unknown library. */
const char *rd_library_release(const char *library);

#endif
