/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Layout of the lists that scripts/env-names.py generates. */
#ifndef RD_ANALYSE_ENV_NAMES_PRIV_H
#define RD_ANALYSE_ENV_NAMES_PRIV_H

#include "base/base.h"

struct rd_env_names {
	const char *prefix;  /* "NCCL_" */
	const char *title;   /* "NCCL" */
	const char *release; /* release that the names were read from; NULL: no single release */
	const char *const *names;
	size_t n; /* sorted */
	/* UCX composes names from UCX_, a transport and a field. Both lists are sorted; empty for other libraries. */
	const char *const *fields;
	size_t n_fields;
	const char *const *prefixes;
	size_t n_prefixes;
};

extern const struct rd_env_names rd_env_names[];
extern const size_t rd_env_n_names;

#endif
