/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The shape of the lists that scripts/env-names.py writes. */
#ifndef RD_ANALYSE_ENV_NAMES_PRIV_H
#define RD_ANALYSE_ENV_NAMES_PRIV_H

#include "base/base.h"

struct rd_env_names {
	const char *prefix;  /* "NCCL_" */
	const char *title;   /* "NCCL" */
	const char *release; /* that the names were read from; NULL: of no one release */
	const char *const *names;
	size_t n; /* sorted */
	/* UCX puts names together: UCX_, a transport, a field. Both sorted; 0: the library does not. */
	const char *const *fields;
	size_t n_fields;
	const char *const *prefixes;
	size_t n_prefixes;
};

extern const struct rd_env_names rd_env_names[];
extern const size_t rd_env_n_names;

#endif
