/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Abnormal end of the program: out of memory, or a library calls exit. */
#ifndef RD_END_H
#define RD_END_H

#include <stddef.h>

#define RD_EXIT_NO_MEMORY 3 /* the exit status of such an end: unknown */

/* Registers a cleanup step for such an end: restore the terminal, remove temporary files. The last registered step runs first. A
 * function that is registered twice is called once; it must not allocate, and may be called when there is nothing to do. */
void rd_at_end(void (*step)(void));

/* main calls it first. From then on this process, not its forks, runs the steps and reports why it ends, and a call of exit()
 * outside main (libarchive does that when it is out of memory) is such an end. */
void rd_end_watch(void);

/* Limits the memory of this process and its forks, in bytes: all lists that an input can fill have this bound together, and each of them
 * alone needs none for the sake of memory. Ignored in programs built with a sanitizer, which reserve more. */
void rd_end_limit(size_t bytes);

/* main returns through it with `code`: a normal end. */
int rd_end_in_order(int code);

/* Runs the steps, reports on standard error that there is no memory, and exits with 3. In a forked process: exits with 3. */
_Noreturn void rd_out_of_memory(void);

#endif
