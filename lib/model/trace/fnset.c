/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/trace/fnset.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/memory.h"

static const char *const backend_names[RD_BACKEND_COUNT];
static const struct rule_text {
	const char *name, *reason;
} rules[RD_RULE_COUNT];

const char *rd_backend_name(enum rd_backend backend)
{
	return (unsigned)backend < RD_BACKEND_COUNT ? backend_names[backend] : "none";
}

int rd_backend_parse(const char *name, enum rd_backend *ret)
{
	for (int i = RD_BACKEND_NONE + 1; i < RD_BACKEND_COUNT; i++)
		if (!strcmp(name, backend_names[i])) {
			*ret = i;
			return 0;
		}
	return -EINVAL;
}

const char *rd_rule_name(enum rd_rule rule)
{
	return (unsigned)rule < RD_RULE_COUNT ? rules[rule].name : "unknown";
}

const char *rd_rule_reason(enum rd_rule rule)
{
	return (unsigned)rule < RD_RULE_COUNT ? rules[rule].reason : "";
}

int rd_fn_compare_bare(const char *a, const char *b)
{
	size_t x = strcspn(a, "."), y = strcspn(b, ".");

	return strncmp(a, b, x < y ? x : y) ?: RD_CMP(x, y);
}

int rd_fn_next_errno(const uint64_t errnos[3], int code)
{
	for (code++; code < 64 * 3; code++)
		if (errnos[code / 64] >> code % 64 & 1 && rd_errno_name(code))
			return code;
	return 0;
}

void rd_offsets_init(struct rd_offsets *off)
{
	memset(off, 0xff, sizeof(*off));
}

int rd_fnset_module(const struct rd_fnset *set, const char *name, uint64_t instance)
{
	for (size_t i = 0; i < set->n_modules; i++)
		if (!strcmp(set->modules[i].name, name) && set->modules[i].instance == instance)
			return (int)i;
	return -1;
}

char *rd_fnset_via(const struct rd_fnset *set, uint32_t fn)
{
	_cleanup_buf_ struct rd_buf via = { 0 };

	for (size_t r = 0; r < set->n_roots; r++)
		if (set->roots[r].fn == fn)
			rd_buf_printf(&via, "%s%s", via.len ? ", " : "", set->roots[r].via);
	return via.len ? rd_dup(via.data) : NULL;
}

int rd_fnset_find(const struct rd_fnset *set, const char *name)
{
	for (size_t i = 0; i < set->n_fns; i++)
		if (!strcmp(set->fns[i].name, name))
			return (int)i;
	return -1;
}

void rd_fnset_deinit(struct rd_fnset *set)
{
	for (size_t i = 0; i < set->n_modules; i++)
		RD_FREE(set->modules[i].name, set->modules[i].path, set->modules[i].version, set->modules[i].note);
	for (size_t i = 0; i < set->n_fns; i++)
		RD_FREE(set->fns[i].name, set->fns[i].roots, set->fns[i].calls);
	for (size_t i = 0; i < set->n_roots; i++)
		free(set->roots[i].via);
	RD_FREE(set->modules, set->fns, set->roots, set->kernel);
	*set = (struct rd_fnset){ 0 };
}

static const char *const backend_names[RD_BACKEND_COUNT] = {
	[RD_BACKEND_NONE] = "none",
	[RD_BACKEND_FEXIT] = "fexit",
	[RD_BACKEND_FEXIT_MULTI] = "fexit-multi",
	[RD_BACKEND_KPROBE_MULTI] = "kprobe-multi",
	[RD_BACKEND_KPROBE] = "kprobe",
};

static const struct rule_text rules[RD_RULE_COUNT] = {
	[RD_RULE_SELECTED] = { "selected", "reachable from a verb, and can return an errno" },
	[RD_RULE_ENTRY] = { "entry", "kernel entry point of a verb" },
	[RD_RULE_NOT_REACHED] = { "not-reached", "not reachable from a verb that changes something" },
	[RD_RULE_RETURN] = { "return", "cannot return an errno" },
	[RD_RULE_QUERY] = { "query", "only reads, or is reachable only from functions that only read" },
	[RD_RULE_DATA_PATH] = { "data-path", "runs on the data path: posting, polling, and the functions they call" },
	[RD_RULE_CLEANUP] = { "cleanup", "cleans up, or is reachable only from functions that clean up" },
	[RD_RULE_REFCOUNT] = { "refcount", "counts references" },
	[RD_RULE_COMMON] = { "common", "inline function: the kernel does not allow tracing it" },
	[RD_RULE_DIAGNOSTIC] = { "diagnostic",
				 "tracing, printing, debugfs or sysfs, or reachable only from such functions" },
	[RD_RULE_COLD] = { "cold", "cold part of a function; the hook of the function covers it" },
};
