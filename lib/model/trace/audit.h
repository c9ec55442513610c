/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of the RDMA modules of one kernel, as they are kept in a baseline, and what differs in another kernel. Indices
 * between objects; one owner.
 */
#ifndef RD_MODEL_AUDIT_H
#define RD_MODEL_AUDIT_H

#include "base/text.h"
#include "model/shared/finding.h"
#include "model/trace/fnset.h"

/* A document with more functions is refused. All drivers of a distribution have 9,000. */
#define RD_AUDIT_FNS_MAX 200000

struct rd_audit_fn {
	char *function, *module;
	bool selected;
	enum rd_rule rule;
	uint8_t attachable; /* bit 1 << enum rd_backend */
	uint32_t size;	    /* bytes of code; 0: unknown */
	uint64_t errnos[3]; /* as struct rd_fn.loaded */
	bool root;	    /* the kernel calls it for a verb through a table, or it is an entry point */
	char *via;	    /* how: rd_fnset_via(); NULL: it does not, or this is unknown */
	bool taken;	    /* as in struct rd_fn */
	bool other_calls;   /* it also calls functions of the kernel image, or through pointers, or this is unknown */
	char **calls;	    /* names, as in struct rd_fn; unsorted */
	uint32_t n_calls;
};

struct rd_audit_module {
	char *name, *version; /* MODULE_VERSION of out-of-tree drivers; NULL: none */
	bool has_btf, has_file;
	bool stripped; /* symbols of functions were removed from the file */
};

/* A call that was made to fail, and whether the trace showed it. */
struct rd_audit_probe {
	char *name; /* what was called */
	int err;    /* positive errno; 0: it did not fail; -1: it could not be tried */
	bool seen, exact;
	char *verb, *origin, *module; /* of the event; NULL: none */
};
void rd_audit_probe_deinit(struct rd_audit_probe *probe);

struct rd_audit_set {
	char *kernel;
	char *version; /* of the rdmadiag that wrote the baseline; NULL: unknown, or selected now */
	bool complete; /* all RDMA modules of the kernel; false: those that were loaded */
	/* The set was selected without the modules that a baseline lacks: the set with them, not owned. NULL: it has all. */
	const struct rd_audit_set *all;
	struct rd_audit_fn *fns;
	size_t n, cap;
	struct rd_audit_module *modules;
	size_t n_modules, cap_modules;
	struct rd_audit_probe *probes;
	size_t n_probes, cap_probes;
};
void rd_audit_set_deinit(struct rd_audit_set *set);

/* Index of a module by name, or -1. */
int rd_audit_module_find(const struct rd_audit_set *set, const char *name);

/* How a verb gets to a function. The longest path of a real set is below 30. */
#define RD_AUDIT_PATH_MAX 64
#define RD_AUDIT_CALLERS_MAX 12
struct rd_audit_reason {
	uint32_t fn;	 /* index in the set */
	const char *via; /* how the first function of the path is called, not owned; NULL: no verb reaches it */
	uint32_t path[RD_AUDIT_PATH_MAX]; /* from a root to the function itself, a shortest one by direct calls */
	size_t n_path;
	bool gap; /* behind the root, calls go through functions that return no errno, and are not in the path */
	uint32_t callers[RD_AUDIT_CALLERS_MAX];
	size_t n_callers; /* may be more than are listed */
};

enum rd_audit_kind {
	RD_CHANGE_LOST_HOOK,   /* was watched, is still there, and cannot be hooked any more */
	RD_CHANGE_LEFT_OUT,    /* was watched and is still there, but a rule leaves it out, or no verb reaches it */
	RD_CHANGE_INLINED,     /* was watched; its code is in its callers now */
	RD_CHANGE_REMOVED,     /* was watched, and is not there any more */
	RD_CHANGE_RENAMED,     /* watched under another name */
	RD_CHANGE_MOVED,       /* watched in another module */
	RD_CHANGE_HOOK,	       /* watched, but fewer or more backends can hook it */
	RD_CHANGE_ERRNOS,      /* watched; the errnos that stand in its code differ */
	RD_CHANGE_ADDED,       /* watched, and new */
	RD_CHANGE_REACHED,     /* watched, and was there before but left out */
	RD_CHANGE_MODULE_GONE, /* the module is not part of the kernel any more */
	RD_CHANGE_MODULE_NEW,
	RD_CHANGES,
};
/* "lost-hook", "inlined" …: stable. */
const char *rd_change_name(enum rd_audit_kind change);

struct rd_audit_change {
	enum rd_audit_kind change;
	enum rd_severity severity;     /* critical: an origin that was visible is not visible any more */
	const char *function, *module; /* of the baseline, if it is there; not owned. function is NULL for modules */
	const char *new_function, *new_module; /* not owned; NULL: as before */
	char *detail;			       /* owned: which callers, hooks, errnos; NULL: none */
};

struct rd_audit {
	struct rd_audit_change *v; /* worst first, then by module and function */
	size_t n, cap;
	size_t compared;	 /* functions that are watched in the baseline, in modules that both have */
	struct rd_texts missing; /* modules of the baseline that are not loaded here, and so are not compared */
	struct rd_texts unequal; /* modules that are not compared because their file or types were known on one side only */
	struct rd_texts stripped; /* modules that are not compared because symbols were removed from a file */
};
void rd_audit_deinit(struct rd_audit *audit);

#endif
