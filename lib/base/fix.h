/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What to do about a fault, as one text: commands, one a line, that can be pasted into a shell, and advice, in lines that begin with
 * "# ". Where nothing can be run, all is advice.
 */
#ifndef RD_FIX_H
#define RD_FIX_H

#include "base/base.h"

/* The commands, with newlines between; the advice, and all of it, with "; " between. NULL: none. Caller frees. */
char *rd_fix_commands(const char *fix);
char *rd_fix_advice(const char *fix);
char *rd_fix_line(const char *fix);

/* A word of the commands that stands for a name of this host, and that name (NULL: not known). */
struct rd_fix_word {
	const char *word, *value;
};

/* `fix` with these words replaced in its commands. What has one that is not known, or whose name a shell
 * would not take as a name, becomes advice. Caller frees. */
char *rd_fix_fill(const char *fix, const struct rd_fix_word *words, size_t n);

/* The commands for several subjects: each once; as one loop where they differ in nothing but a name. NULL: none. Caller frees. */
char *rd_fix_join(const char *const *fixes, size_t n);

#endif
