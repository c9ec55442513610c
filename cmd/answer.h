/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_ANSWER_H
#define RD_ANSWER_H

/* The errno of the first write to standard output that failed; 0: none did. */
int rd_out_failure(void);

#endif
