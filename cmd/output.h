/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_OUTPUT_H
#define RD_OUTPUT_H

#include "base/buf.h"

/* The errno of the first failed write to standard output; 0: no write failed. */
int rd_out_failure(void);

/* A buffer for output of any size: what exceeds a piece is written at once, the rest by rd_out at the end. Errors that prevent
 * output must come before its first piece. */
struct rd_buf rd_out_pieces(void);

#endif
