/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From kernel addresses to functions. */
#ifndef RD_ANALYSE_SYMBOLS_H
#define RD_ANALYSE_SYMBOLS_H

#include "base/err.h"
#include "model/trace/event.h"

struct rd_symbols {
	struct rd_symbol *v; /* by address */
	size_t n, cap;
	char *names;
	size_t names_len, names_cap;
};

/*
 * From the text of /proc/kallsyms (NUL-terminated): the functions in it. Where the kernel hides addresses
 * (kptr_restrict) none are left, and no address finds a name. Lines in no known form are left out. -E2BIG.
 */
int rd_symbols_parse(const char *text, struct rd_symbols *ret, struct rd_err *err);
void rd_symbols_deinit(struct rd_symbols *symbols);

/* The function at or before an address, and how many bytes before. Module NULL: the kernel itself. False: none known. */
bool rd_symbols_find(const struct rd_symbols *symbols, uint64_t addr, const char **function, const char **module,
		     uint64_t *offset);

/*
 * Names the frames of a kernel stack and takes away those that belong to the tracing itself (the program, its
 * trampoline, the kernel's handlers of returns). `n`: how many there are, and how many remain.
 */
void rd_symbols_resolve(const struct rd_symbols *symbols, struct rd_frame *frames, size_t *n);

#endif
