// SPDX-License-Identifier: GPL-2.0-or-later
/* Resolves kernel addresses to functions. */
#include "analyse/trace/trace.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"

#define SYMBOLS_MAX 4000000
#define NAME_LONGEST 511	       /* KSYM_NAME_LEN of the kernel, less its NUL */
#define FUNCTION_LONGEST (1024 * 1024) /* an address further away is not in the function */
#define CALL_SITE_END 16	       /* endbr64 or similar, and a call */

struct rd_symbol {
	uint64_t addr;
	uint32_t name, module; /* offsets in `names`; module 0: none */
};

void rd_symbols_deinit(struct rd_symbols *symbols)
{
	RD_FREE(symbols->v, symbols->names);
	memset(symbols, 0, sizeof(*symbols));
}

/* Adds a name. Returns its offset in `names`; 0: too much text. */
static uint32_t keep_name(struct rd_symbols *s, const char *text, size_t n)
{
	uint32_t at = (uint32_t)s->names_len;

	if (s->names_len + n + 1 > UINT32_MAX)
		return 0;
	rd_reserve(&s->names, &s->names_cap, s->names_len + n + 1, 1);
	memcpy(s->names + at, text, n);
	s->names[at + n] = '\0';
	s->names_len += n + 1;
	return at;
}

/* The symbols of a module are adjacent: its name is stored once. */
static bool keep_module(struct rd_symbols *s, const char *text, size_t n, uint32_t *last)
{
	if (*last && strlen(s->names + *last) == n && !memcmp(s->names + *last, text, n))
		return true;
	*last = keep_name(s, text, n);
	return *last;
}

/* "ffffffffc0a1b2c0 t function\t[module]" */
static int parse_line(struct rd_symbols *s, const char *line, size_t n, uint32_t *last_module)
{
	const char *name, *end = line + n, *module;
	uint64_t addr = 0;
	size_t digits = 0, len;
	struct rd_symbol sym;

	for (; digits < n && digits < 16 && rd_digit_value(line[digits]) < 16; digits++)
		addr = addr << 4 | rd_digit_value(line[digits]);
	if (!digits || n < digits + 4 || line[digits] != ' ' || line[digits + 2] != ' ' || !addr)
		return 0;
	if (!strchr("tTwW", line[digits + 1]))
		return 0;
	name = line + digits + 3;
	for (len = 0; name + len < end && !isspace((unsigned char)name[len]); len++)
		;
	if (!len || len > NAME_LONGEST)
		return 0;
	sym = (struct rd_symbol){ .addr = addr };
	module = memchr(name + len, '[', end - name - len);
	if (module && end[-1] == ']' && end - module > 2 && end - module < 66) {
		if (!keep_module(s, module + 1, end - module - 2, last_module))
			return -E2BIG;
		sym.module = *last_module;
	}
	sym.name = keep_name(s, name, len);
	if (!sym.name || s->n == SYMBOLS_MAX)
		return -E2BIG;
	*RD_ADD(s->v, s->n, s->cap) = sym;
	return 0;
}

static int by_addr(const void *pa, const void *pb)
{
	const struct rd_symbol *a = pa, *b = pb;

	return (a->addr > b->addr) - (a->addr < b->addr);
}

int rd_symbols_parse(const char *text, struct rd_symbols *ret, struct rd_err *err)
{
	_cleanup_(rd_symbols_deinit) struct rd_symbols s = { 0 };
	uint32_t last_module = 0;
	int r = 0;

	keep_name(&s, "?", 1); /* so that no name has offset 0 */
	while (!r && *text) {
		size_t n = strcspn(text, "\n");

		r = parse_line(&s, text, n, &last_module);
		text += n + (text[n] == '\n');
	}
	if (r)
		return rd_err_set(err, -r, "/proc/kallsyms", "too many symbols");
	rd_sort(s.v, s.n, sizeof(*s.v), by_addr);
	*ret = s;
	memset(&s, 0, sizeof(s));
	return 0;
}

bool rd_symbols_find(const struct rd_symbols *s, uint64_t addr, const char **function, const char **module,
		     uint64_t *offset)
{
	const struct rd_symbol behind = { .addr = addr + 1 };
	size_t low = addr == UINT64_MAX ? s->n : rd_lower_bound(&behind, s->v, s->n, sizeof(behind), by_addr);

	if (!low || addr - s->v[low - 1].addr >= FUNCTION_LONGEST)
		return false;
	/* Of several names for one address, always use the first. */
	for (low--; low && s->v[low - 1].addr == s->v[low].addr;)
		low--;
	*function = s->names + s->v[low].name;
	*module = s->v[low].module ? s->names + s->v[low].module : NULL;
	*offset = addr - s->v[low].addr;
	return true;
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

void rd_symbols_resolve(const struct rd_symbols *s, struct rd_frame *frames, size_t *n)
{
	size_t kept = 0, all = *n;
	bool tracing = false;

	for (size_t i = 0; i < all; i++) {
		const char *function, *module;
		struct rd_frame f = frames[i];
		bool drop;

		if (rd_symbols_find(s, f.addr, &function, &module, &f.offset)) {
			f.function = rd_dup(function);
			f.object = rd_dup_if(module);
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
