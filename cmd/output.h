/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_OUTPUT_H
#define RD_OUTPUT_H

/* The errno of the first failed write to standard output; 0: no write failed. */
int rd_out_failure(void);

#endif
