/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What holds of a command's answer, whatever the host said. */
#ifndef RD_FUZZ_INVARIANTS_H
#define RD_FUZZ_INVARIANTS_H

#include "base/buf.h"

struct answer {
	char *const *argv; /* ended by NULL; argv[0] is the program */
	int status;
	struct rd_buf out, err;
};

/* NULL if all holds; else what does not. Static. */
const char *broken(const struct answer *answer);

/* The warnings and worse of a document, "\nRULE SUBJECT\n…"; caller frees. NULL: it is no document of check or topo-check. */
char *alarms_of(const struct answer *answer);

/* The first of `found` that is not in `known`, up to its "\n"; NULL: there is none. */
const char *new_alarm(const char *known, const char *found);

bool has_word(const struct answer *answer, const char *word);

#endif
