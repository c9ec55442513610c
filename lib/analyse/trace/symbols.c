// SPDX-License-Identifier: GPL-2.0-or-later
/* Resolves kernel addresses to functions. */
#include "analyse/trace/trace.h"

#define FUNCTION_LONGEST (1024 * 1024) /* an address further away is not in the function */
#define CALL_SITE_END 16	       /* endbr64 or similar, and a call */

/* The function at or before an address; NULL: unknown. */
static const struct rd_ksym *find_symbol(const struct rd_ksyms *s, uint64_t addr)
{
	const uint64_t behind = addr + 1;
	size_t low = addr == UINT64_MAX ? s->n : rd_lower_bound(&behind, s->v, s->n, sizeof(*s->v), rd_compare_u64);

	if (!low || addr - s->v[low - 1].addr >= FUNCTION_LONGEST)
		return NULL;
	/* Of several names for one address, always use the first. */
	for (low--; low && s->v[low - 1].addr == s->v[low].addr;)
		low--;
	return &s->v[low];
}

/* BPF programs and trampolines have the pseudo module "bpf"; the others handle function returns. */
static bool is_tracing(const struct rd_frame *f)
{
	static const char *const words[] = { "bpf_trampoline", "bpf_prog_", "__bpf_",		"trace_call_bpf",
					     "rethook",	       "fprobe",    "kretprobe",	"kprobe_multi",
					     "ftrace_",	       "perf_func", "return_to_handler" };

	if (f->object && !strcmp(f->object, "bpf"))
		return true;
	for (size_t i = 0; f->function && i < RD_ARRAY_SIZE(words); i++)
		if (strstr(f->function, words[i]))
			return true;
	return false;
}

/* A trampoline calls the body of the function that called it: the function is then in the stack twice, the second time at the
 * ftrace site at its start. */
static bool is_call_site(const struct rd_frame *f, const struct rd_frame *above)
{
	return f->function && above->function && !strcmp(f->function, above->function) && f->offset <= CALL_SITE_END;
}

void rd_symbols_resolve(const struct rd_ksyms *s, struct rd_frame *frames, size_t *n)
{
	size_t kept = 0, all = *n;
	bool tracing = false;

	for (size_t i = 0; i < all; i++) {
		const struct rd_ksym *symbol = find_symbol(s, frames[i].addr);
		struct rd_frame f = frames[i];
		bool drop;

		if (symbol) {
			f.function = rd_dup(symbol->name);
			f.object = rd_dup_if(symbol->module);
			f.offset = f.addr - symbol->addr;
		}
		drop = is_tracing(&f) || (tracing && kept && is_call_site(&f, &frames[kept - 1]));
		tracing = is_tracing(&f);
		if (drop)
			RD_FREE(f.function, f.object, f.file);
		else
			frames[kept++] = f;
	}
	*n = kept;
}
