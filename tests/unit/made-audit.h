/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Made-up functions of two kernels, and what differs between them. */
#ifndef RD_UNIT_MADE_AUDIT_H
#define RD_UNIT_MADE_AUDIT_H

#include "model/trace/audit.h"

#define KPROBE (1u << RD_BACKEND_KPROBE)
#define FEXIT (1u << RD_BACKEND_FEXIT)
#define NO_HOOK 0x80 /* `hooks` of 0 means KPROBE */

struct made {
	const char *name, *module; /* module: NULL means "drv" */
	const char *calls;	   /* names, separated by blanks */
	uint32_t size;		   /* 0 means 100 */
	int errnos[8];
	enum rd_rule rule;
	uint8_t hooks;
	bool root; /* called by the kernel for a verb */
	const char *via;
	bool taken;
	bool stripped; /* symbols were removed from the file of its module */
};

#define FNS(...) ((const struct made[]){ __VA_ARGS__, { 0 } })

/* A module without functions that are watched, so that it is there. */
#define PRESENT(name)                                            \
	{                                                        \
		"module_init", name, .rule = RD_RULE_NOT_REACHED \
	}

/* The caller frees it with rd_audit_set_deinit. */
struct rd_audit_set made_audit(const struct made *made, bool complete);

/*
 * Compares, and asserts that the changes are these: "SEVERITY CHANGE MODULE:FUNCTION[ -> MODULE:FUNCTION][: DETAIL]", one a line,
 * "=" as before; then "missing MODULE", "unequal MODULE" and "stripped MODULE". Returns the number of functions that were compared.
 */
size_t made_audit_compare(const struct rd_audit_set *was, const struct rd_audit_set *is, const char *expected);

/* The same of functions, all or some modules of whose kernels are known. */
size_t made_audit_differ(const struct made *was, bool was_complete, const struct made *is, bool is_complete,
			 const char *expected);

#define differ(was, is, expected) made_audit_differ(was, true, is, true, expected)

#endif
