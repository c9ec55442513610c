/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Function symbols of loaded modules, as the kernel itself lists them. */
#ifndef RD_COLLECT_KALLSYMS_H
#define RD_COLLECT_KALLSYMS_H

#include "source/shared/source.h"

struct rd_ksym {
	char *name, *module;
	uint64_t addr; /* 0: the kernel does not tell (kptr_restrict) */
	bool global;
};

struct rd_ksyms {
	struct rd_ksym *v;
	size_t n, cap;
};

/* Text symbols in /proc/kallsyms of the modules that `want` says yes to. Reading it costs the kernel milliseconds to
 * half a second (it unpacks some 200,000 names): only for modules of which there is no file. */
int rd_ksyms_read(struct rd_source *src, bool (*want)(void *arg, const char *module), void *arg, struct rd_ksyms *ret,
		  struct rd_err *err);

/* The same from available_filter_functions (in tracefs, wherever that is mounted): what ftrace can hook. No addresses. */
int rd_ksyms_read_filter(struct rd_source *src, bool (*want)(void *arg, const char *module), void *arg,
			 struct rd_ksyms *ret, struct rd_err *err);

void rd_ksyms_deinit(struct rd_ksyms *syms);

#endif
