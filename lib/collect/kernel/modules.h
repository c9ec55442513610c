/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loaded kernel modules, their dependencies, and their files. */
#ifndef RD_COLLECT_MODULES_H
#define RD_COLLECT_MODULES_H

#include "source/shared/source.h"

struct rd_kmod {
	char *name;
	char **users; /* names of the modules that depend on it directly */
	size_t n_users, cap_users;
	bool out_of_tree; /* taint flag O */
};

struct rd_kmods {
	struct rd_kmod *v;
	size_t n, cap;
};

/* From /proc/modules. */
int rd_kmods_read(struct rd_source *src, struct rd_kmods *ret, struct rd_err *err);
void rd_kmods_deinit(struct rd_kmods *mods);

/* Index of a module; -1 if it is not loaded. */
int rd_kmods_find(const struct rd_kmods *mods, const char *name);
bool rd_kmod_used_by(const struct rd_kmod *mod, const char *user);

/* Marks `start` and all that depend on it, directly or not, in marked[mods->n] (zeroed by the caller). */
void rd_kmods_mark_users(const struct rd_kmods *mods, int start, bool *marked);

/* The text of modules.dep, written by depmod, and its directory. */
struct rd_moddep {
	struct rd_bytes text;
	char *dir; /* "/lib/modules/6.12.1" */
};

/* -ENOENT if there is no directory for that kernel (as in most containers). */
int rd_moddep_read(struct rd_source *src, const char *release, struct rd_moddep *ret, struct rd_err *err);
void rd_moddep_deinit(struct rd_moddep *dep);

/* The nth (from 0) file of that module, in the order of modules.dep; "-" and "_" are the same. NULL after the
 * last. Caller frees. */
char *rd_moddep_path(const struct rd_moddep *dep, const char *name, size_t nth);

/* ---- function symbols of loaded modules, as listed by the kernel */

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
