// SPDX-License-Identifier: GPL-2.0-or-later
/* What a baseline keeps of the functions of a kernel. */
#include "analyse/trace/audit.h"
#include "base/memory.h"

/* Those that have a name: a document has no others, and a set is compared with one that was read from a document. */
static void take_errnos(const struct rd_fn *fn, struct rd_audit_fn *to)
{
	for (int code = 0; (code = rd_fn_next_errno(fn->loaded, code));)
		to->errnos[code / 64] |= 1ull << code % 64;
}

/* Of several functions of one name, an address tells which to hook. Users who may not see addresses compare with those who may. */
static uint8_t hooks_of(const struct rd_fn *fn, const struct rd_fnset *set)
{
	uint8_t by_address = 1u << RD_BACKEND_KPROBE_MULTI | (fn->no_kprobe ? 0 : 1u << RD_BACKEND_KPROBE);

	return set->backends & (fn->attachable | (fn->in_filter && fn->ambiguous ? by_address : 0));
}

void rd_audit_take(const struct rd_fnset *set, bool complete, struct rd_audit_set *ret)
{
	*ret = (struct rd_audit_set){ .kernel = rd_dup(set->kernel ? set->kernel : ""), .complete = complete };
	rd_reserve(&ret->fns, &ret->cap, set->n_fns + 1, sizeof(*ret->fns));
	for (size_t i = 0; i < set->n_fns; i++) {
		const struct rd_fn *fn = &set->fns[i];
		struct rd_audit_fn *to = &ret->fns[ret->n++];

		*to = (struct rd_audit_fn){
			.function = rd_dup(fn->name),
			.module = rd_dup(set->modules[fn->module].name),
			.selected = fn->selected,
			.rule = fn->rule,
			.attachable = hooks_of(fn, set),
			.size = fn->size,
			.other_calls = fn->indirect || fn->outside || !fn->calls_known,
			.taken = fn->taken,
			.calls = rd_alloc(fn->n_calls + 1u, sizeof(*to->calls)),
			.n_calls = fn->n_calls,
		};
		take_errnos(fn, to);
		for (uint32_t c = 0; c < fn->n_calls; c++)
			to->calls[c] = rd_dup(set->fns[fn->calls[c]].name);
	}
	for (size_t r = 0; r < set->n_roots; r++) {
		struct rd_audit_fn *root = &ret->fns[set->roots[r].fn];

		if (!root->root)
			root->via = rd_fnset_via(set, set->roots[r].fn);
		root->root = true;
	}
	rd_reserve(&ret->modules, &ret->cap_modules, set->n_modules + 1, sizeof(*ret->modules));
	for (size_t m = 0; m < set->n_modules; m++)
		ret->modules[ret->n_modules++] = (struct rd_audit_module){
			.name = rd_dup(set->modules[m].name),
			.version = rd_dup_if(set->modules[m].version),
			.has_btf = set->modules[m].has_btf,
			.has_file = set->modules[m].file_matches,
			.stripped = set->modules[m].unnamed > 0,
		};
}
