/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/trace/fnset.h"

#include <errno.h>
#include <string.h>

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

int rd_fnset_find(const struct rd_fnset *set, const char *name)
{
	for (size_t i = 0; i < set->n_fns; i++)
		if (!strcmp(set->fns[i].name, name))
			return (int)i;
	return -1;
}

void rd_fnset_deinit(struct rd_fnset *set)
{
	for (size_t i = 0; i < set->n_modules; i++) {
		free(set->modules[i].name);
		free(set->modules[i].path);
		free(set->modules[i].note);
	}
	for (size_t i = 0; i < set->n_fns; i++) {
		free(set->fns[i].name);
		free(set->fns[i].roots);
	}
	for (size_t i = 0; i < set->n_roots; i++)
		free(set->roots[i].via);
	free(set->modules);
	free(set->fns);
	free(set->roots);
	free(set->kernel);
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
	[RD_RULE_SELECTED] = { "selected", "A verb reaches it, and it can return an errno." },
	[RD_RULE_ENTRY] = { "entry", "A door of the kernel: calls begin and end here." },
	[RD_RULE_NOT_REACHED] = { "not-reached", "No verb that changes something leads to it." },
	[RD_RULE_RETURN] = { "return", "It returns nothing that could be an errno." },
	[RD_RULE_QUERY] = { "query", "It only reads, or only functions that only read lead to it." },
	[RD_RULE_DATA_PATH] = { "data-path", "It runs while data is moved: posting, polling, and what they call." },
	[RD_RULE_CLEANUP] = { "cleanup", "It undoes or releases, or only such functions lead to it." },
	[RD_RULE_REFCOUNT] = { "refcount", "It counts references." },
	[RD_RULE_COMMON] = { "common",
			     "Inline code, of a header more often than not: the kernel does not let it be traced." },
	[RD_RULE_DIAGNOSTIC] = { "diagnostic",
				 "Tracing, printing, debugfs or sysfs, or only such functions lead to it." },
	[RD_RULE_COLD] = { "cold", "The cold half of a function, which that function's own return covers." },
};
