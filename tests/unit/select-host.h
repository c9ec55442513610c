/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A made-up host with modules that the machine's own compiler makes now, and what is selected there. */
#ifndef RD_UNIT_SELECT_HOST_H
#define RD_UNIT_SELECT_HOST_H

#include "fake-host.h"
#include "trace/select/select.h"

struct select_module {
	const char *name, *source;
};

/*
 * Compiles the modules and their type information, on top of that of `vmlinux`. The sources include "types.h". Each module is filed
 * as lib/modules/9.9/NAME.ko with its build-id as the kernel's note; the lists of modules are the caller's. False if the compilers
 * are missing.
 */
bool select_host_build(struct fake_host *host, const char *types, const char *vmlinux,
		       const struct select_module *modules, size_t n);

/* The selection, which must succeed. The caller frees it with rd_fnset_deinit. */
struct rd_fnset select_host_run(struct fake_host *host, struct rd_errlist *notes);

/* The function of that name, which must exist. */
const struct rd_fn *select_host_fn(const struct rd_fnset *set, const char *name);

/* Whether the function is reached from a root that is called like this. */
bool select_host_reached(const struct rd_fnset *set, const char *name, const char *via);

#endif
