/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bundle on standard input. It is read once, to its end, before privileges are dropped and children are forked: these parse
 * it from memory, each from the beginning, and a child that is abandoned takes no bytes from another one.
 */
#ifndef RD_STANDARD_INPUT_H
#define RD_STANDARD_INPUT_H

#include <string.h>

#include "source/shared/source.h"

/* The name that selects standard input instead of a file; that of a file with this name is "./-". */
#define RD_STANDARD_INPUT "-"

static inline bool rd_is_standard_input(const char *name)
{
	return strcmp(name, RD_STANDARD_INPUT) == 0;
}

/* Copies everything up to the end of standard input, and interprets nothing. Waits as long as the writer takes. -ENOTTY: it is a
 * terminal; -ENODATA: it is empty; -EFBIG: larger than RD_FILE_MAX, which holds for all files that are read into memory; or
 * another -errno, each with `err` filled. */
int rd_standard_input_read(struct rd_err *err);

/* What was read, until the process ends; NULL: nothing was. */
const struct rd_bytes *rd_standard_input(void);

#endif
