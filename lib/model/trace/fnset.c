// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/trace/fnset.h"

#include "base/buf.h"
#include "base/err.h"

static const char *const backend_names[RD_BACKEND_COUNT] = {
	[RD_BACKEND_NONE] = "none",
	[RD_BACKEND_FEXIT] = "fexit",
	[RD_BACKEND_FEXIT_MULTI] = "fexit-multi",
	[RD_BACKEND_KPROBE_MULTI] = "kprobe-multi",
	[RD_BACKEND_KPROBE] = "kprobe",
};
static const struct rule_text {
	const char *name, *reason;
} rules[RD_RULE_COUNT] = {
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

void rd_ksyms_deinit(struct rd_ksyms *syms)
{
	for (size_t i = 0; i < syms->n; i++)
		RD_FREE(syms->v[i].name, syms->v[i].module);
	free(syms->v);
	*syms = (struct rd_ksyms){ 0 };
}

struct key {
	uint32_t module, id;
	uint64_t addr;
	const char *name;
};

static int compare_keys(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	return RD_FIRST(RD_CMP(x->module, y->module), RD_CMP(x->addr, y->addr), strcmp(x->name, y->name));
}

void rd_fnset_update(struct rd_fnset *set, struct rd_fnset *newer)
{
	/* Where the parts of the newer set go: indices in the set, existing or behind its end. */
	_cleanup_free_ uint32_t *modules = rd_alloc(newer->n_modules + 1, sizeof(*modules));
	_cleanup_free_ uint32_t *fns = rd_alloc(newer->n_fns + 1, sizeof(*fns));
	_cleanup_free_ struct key *keys =
		rd_alloc(set->n_fns + 1, sizeof(*keys)); /* the functions of the set, sorted */
	size_t had_modules = set->n_modules, had_fns = set->n_fns;

	for (uint32_t i = 0; i < had_fns; i++)
		keys[i] = (struct key){ set->fns[i].module, i, set->fns[i].addr, set->fns[i].name };
	qsort(keys, had_fns, sizeof(*keys), compare_keys);

	for (uint32_t i = 0; i < newer->n_modules; i++) {
		int at = rd_fnset_module(set, newer->modules[i].name, newer->modules[i].instance);

		modules[i] = at >= 0 ? (uint32_t)at : (uint32_t)set->n_modules++;
		if (at >= 0)
			continue;
		rd_reserve(&set->modules, &set->cap_modules, set->n_modules, sizeof(*set->modules));
		set->modules[modules[i]] = RD_TAKE(newer->modules[i]);
	}
	for (uint32_t i = 0; i < newer->n_fns; i++) {
		const struct rd_fn *fn = &newer->fns[i];
		const struct key wanted = { modules[fn->module], 0, fn->addr, fn->name }, *found = NULL;

		if (wanted.module < had_modules && had_fns)
			found = bsearch(&wanted, keys, had_fns, sizeof(*keys), compare_keys);
		fns[i] = found ? found->id : (uint32_t)set->n_fns++;
	}
	rd_reserve(&set->fns, &set->cap_fns, set->n_fns, sizeof(*set->fns));
	for (size_t i = 0; i < had_fns; i++) {
		set->fns[i].selected = false;
		set->fns[i].n_roots = 0;
	}
	for (uint32_t i = 0; i < newer->n_fns; i++) {
		struct rd_fn *to = &set->fns[fns[i]];
		enum rd_backend backend = RD_BACKEND_NONE;

		if (fns[i] < had_fns) {
			backend = to->backend;
			RD_FREE(to->name, to->roots, to->calls);
		}
		*to = RD_TAKE(newer->fns[i]);
		to->backend = backend;
		to->module = modules[to->module];
		for (uint32_t c = 0; c < to->n_calls; c++)
			to->calls[c] = fns[to->calls[c]];
		rd_sort(to->calls, to->n_calls, sizeof(*to->calls), rd_compare_u32);
	}
	/* The roots are all those of the newer set. */
	for (size_t i = 0; i < set->n_roots; i++)
		free(set->roots[i].via);
	free(set->roots);
	set->roots = RD_TAKE(newer->roots);
	set->n_roots = newer->n_roots;
	set->cap_roots = newer->cap_roots;
	newer->n_roots = newer->cap_roots = 0;
	for (size_t i = 0; i < set->n_roots; i++)
		set->roots[i].fn = fns[set->roots[i].fn];
	set->off = newer->off;
	rd_fnset_deinit(newer);
}
