/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the program ends where it cannot go on: no memory is left, or a library calls exit. */
#ifndef RD_END_H
#define RD_END_H

#define RD_EXIT_NO_MEMORY 3 /* the exit status of such an end: nothing could be told */

/* Registers what is to be done at such an end, last registered first: give the terminal back, remove temporary files. A
 * function that is registered twice is called once; it must not allocate, and has to bear being called when there is nothing
 * to do. */
void rd_at_end(void (*step)(void));

/* main calls it first. From then on this process, not what it forks, does the steps and says why it ends, and exit() called
 * by anybody but main (libarchive does so when it has no memory) is such an end. */
void rd_end_watch(void);

/* main returns through it: `code`, an end in good order. */
int rd_end_in_order(int code);

/* Does the steps, says on standard error that there is no memory, and exits with 3. In a forked process: exits with 3. */
_Noreturn void rd_out_of_memory(void);

#endif
