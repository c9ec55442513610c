/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State shared by the steps of the selection. Private to lib/trace/select. */
#ifndef RD_TRACE_SEL_H
#define RD_TRACE_SEL_H

#include "collect/kernel/kernel.h"
#include "trace/select/btf.h"
#include "trace/select/elfmod.h"

/* Working data of a module; same index as in rd_fnset.modules. */
struct rd_sel_mod {
	struct rd_bytes file; /* decompressed */
	struct rd_elf elf;    /* valid if the module's file_matches */
	struct rd_btf btf;    /* valid if the module's has_btf */
	const char *why;      /* why there is no file */
	uint32_t first_fn, n_fns;
	uint32_t *fn_of; /* per elf.funcs: index of the function in the set; RD_ELF_NONE: it was removed from the set */
};

struct rd_sel_edge {
	uint32_t from, to; /* indices of functions */
};

struct rd_sel {
	struct rd_source *src;
	struct rd_fnset *set;
	struct rd_errlist *notes;
	struct rd_err *err;
	struct rd_kmods kmods;
	struct rd_moddep dep;
	struct rd_btf base; /* end 0: this kernel has no BTF */
	struct rd_sel_mod *mods;
	size_t cap_mods;
	struct rd_ksyms ksyms, filter; /* of modules without a file; read once */
	bool ksyms_read;
	struct rd_sel_edge *edges; /* direct calls, sorted by from, to */
	size_t n_edges, cap_edges;
	struct rd_sel_edge *takes; /* code of `from` takes the address of `to` */
	size_t n_takes, cap_takes;
	uint32_t *edge_first; /* n_fns + 1: first edge of each function */
	struct rd_sel_excluded {
		uint32_t fn;
		enum rd_rule rule;
	} * excluded; /* functions of ops members that a rule excludes as roots */
	size_t n_excluded, cap_excluded;
};

/* callgraph.c */
void rd_sel_build_graph(struct rd_sel *sel);

/* Fills rd_fn.calls, indirect and outside. Indices must be final. */
void rd_sel_note_calls(struct rd_sel *sel);

/* roots.c */
void rd_sel_find_drivers(struct rd_sel *sel); /* sets has_ops of modules */
void rd_sel_find_roots(struct rd_sel *sel);   /* also what queries and rare destruction in the core lead to */

/* The rule of each function, and the roots it is reachable from. */
void rd_sel_judge(struct rd_sel *sel);

/* select.c: callback to read more from BTF and files when the set is complete; 0 or -errno with sel->err filled. */
typedef int rd_sel_then_fn(struct rd_sel *sel, void *arg);
int rd_select_then(struct rd_source *src, struct rd_fnset *ret, struct rd_errlist *notes, struct rd_err *err,
		   rd_sel_then_fn *then, void *arg);

/* Offset in bytes of a member by its path from a struct, "ah_attr.grh.sl"; behind ">" in what a member points to: "ufile>idr.xa_head".
 * -1: not found (or no such struct: type 0), or not `size` bytes wide (0: of any size). */
int rd_sel_offset(const struct rd_btf *btf, uint32_t type, const char *path, uint64_t size);

/* ---- functions that are left out because of their name. Compares words between underscores, never the prefix of a driver */

/* The rule that leaves a function of that name out, or RD_RULE_SELECTED if none does. The name may have a suffix added by the
 * compiler. Calls of such a function are not followed either. */
enum rd_rule rd_rules_name(const char *name);

/* The same for a member of struct ib_device_ops: whether its function is a root. */
enum rd_rule rd_rules_member(const char *member);

/* Whether a function that cleans up names a kind of object that programs create and destroy rarely, such as a queue pair: a hook
 * there costs nothing that matters. Memory regions, memory windows and address handles are not such objects. */
bool rd_rules_rare(const char *name);

/* Whether the name has a word for changing something. The only criterion without a call graph. */
bool rd_rules_changes(const char *name);

#endif
