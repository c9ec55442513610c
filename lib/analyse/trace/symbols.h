/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resolves kernel addresses to functions. */
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
 * Parses the functions in the text of /proc/kallsyms (NUL-terminated). If the kernel hides addresses (kptr_restrict), the
 * result is empty. Lines of unknown form are ignored. -E2BIG.
 */
int rd_symbols_parse(const char *text, struct rd_symbols *ret, struct rd_err *err);
void rd_symbols_deinit(struct rd_symbols *symbols);

/* The function at or before an address, and the offset in bytes from it. Module NULL: the kernel itself. False: unknown. */
bool rd_symbols_find(const struct rd_symbols *symbols, uint64_t addr, const char **function, const char **module,
		     uint64_t *offset);

/*
 * Resolves the frames of a kernel stack, and removes those of the tracing itself (BPF program, trampoline, return handlers of
 * the kernel). `n`: number of frames, updated.
 */
void rd_symbols_resolve(const struct rd_symbols *symbols, struct rd_frame *frames, size_t *n);

#endif
