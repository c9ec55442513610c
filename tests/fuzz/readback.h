/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What one command wrote, another must take. */
#ifndef RD_FUZZ_READBACK_H
#define RD_FUZZ_READBACK_H

#include "base/buf.h"
#include "base/err.h"

typedef int read_back_fn(const char *path, struct rd_err *err);

/* The reader of what a command line writes: to standard output, or to the file that it names. NULL: nobody reads it. 0 or
 * -errno with `err` filled. */
read_back_fn *reader_of_output(const char *words);
read_back_fn *reader_of_file(const char *words);

#endif
