/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Function symbols of loaded modules, as listed by the kernel. */
#ifndef RD_COLLECT_KALLSYMS_H
#define RD_COLLECT_KALLSYMS_H

#include "source/shared/source.h"

struct rd_ksym {
	char *name, *module;
	uint64_t addr; /* 0: hidden by the kernel (kptr_restrict) */
	bool global;
};

struct rd_ksyms {
	struct rd_ksym *v;
	size_t n, cap;
};

/* Text symbols in /proc/kallsyms of the modules for which `want` returns true. Reading it costs the kernel up to half a second
 * (it decompresses about 200,000 names), so it is used only for modules without a file. */
int rd_ksyms_read(struct rd_source *src, bool (*want)(void *arg, const char *module), void *arg, struct rd_ksyms *ret,
		  struct rd_err *err);

/* The same from available_filter_functions (in tracefs or debugfs): functions that ftrace can hook. No addresses. */
int rd_ksyms_read_filter(struct rd_source *src, bool (*want)(void *arg, const char *module), void *arg,
			 struct rd_ksyms *ret, struct rd_err *err);

void rd_ksyms_deinit(struct rd_ksyms *syms);

#endif
