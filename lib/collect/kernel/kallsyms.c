/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/kernel/kallsyms.h"

#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"

typedef bool want_fn(void *arg, const char *module);

static int add_ksym(struct rd_ksyms *syms, const char *name, const char *module, uint64_t addr, bool global)
{
	struct rd_ksym sym = { .addr = addr, .global = global };

	if (rd_grow(&syms->v, &syms->cap, syms->n + 1, sizeof(sym)))
		return -ENOMEM;
	sym.name = rd_dup(name);
	sym.module = rd_dup(module);
	syms->v[syms->n++] = sym;
	return 0;
}

/* Cuts "[module]" off the end of a line and returns the module; NULL if the line names none. */
static char *cut_module(char *line)
{
	char *open = strrchr(line, '['), *close = open ? strchr(open, ']') : NULL;

	if (!open || !close || open == line)
		return NULL;
	*close = 0;
	*open = 0;
	for (char *p = open - 1; p >= line && (*p == ' ' || *p == '\t'); p--)
		*p = 0;
	return open + 1;
}

/* "ffffffffc0a01000 t ib_create_cq\t[ib_core]" */
static int add_symbol(struct rd_ksyms *syms, char *line, want_fn *want, void *arg)
{
	char *module = cut_module(line);
	const char *at = line, *type;
	uint64_t addr;

	if (!module || rd_take_uint(&at, RD_HEX, UINT64_MAX, &addr) < 0)
		return 0;
	if (at[0] != ' ' || !at[1] || at[2] != ' ' || !at[3])
		return 0;
	type = at + 1;
	if (!strchr("tTwW", *type) || !want(arg, module))
		return 0;
	return add_ksym(syms, type + 2, module, addr, *type == 'T' || *type == 'W');
}

/* "ib_create_cq [ib_core]" */
static int add_filter(struct rd_ksyms *syms, char *line, want_fn *want, void *arg)
{
	char *module = cut_module(line);

	if (!module || !line[0] || !want(arg, module))
		return 0;
	return add_ksym(syms, line, module, 0, false);
}

static int read_lines(struct rd_source *src, const char *path, want_fn *want, void *arg,
		      int (*add_line)(struct rd_ksyms *, char *, want_fn *, void *), struct rd_ksyms *ret,
		      struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes text = { 0 };
	struct rd_ksyms syms = { 0 };
	int rc = rd_read_file(src, path, &text, err);

	if (rc)
		return rc;
	for (char *line = (char *)text.data, *next; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		if (add_line(&syms, line, want, arg)) {
			rd_ksyms_deinit(&syms);
			return rd_err_set(err, ENOMEM, path, "cannot read the symbols");
		}
	}
	*ret = syms;
	return 0;
}

int rd_ksyms_read(struct rd_source *src, want_fn *want, void *arg, struct rd_ksyms *ret, struct rd_err *err)
{
	return read_lines(src, "/proc/kallsyms", want, arg, add_symbol, ret, err);
}

int rd_ksyms_read_filter(struct rd_source *src, want_fn *want, void *arg, struct rd_ksyms *ret, struct rd_err *err)
{
	int rc = read_lines(src, "/sys/kernel/tracing/available_filter_functions", want, arg, add_filter, ret, err);

	if (rc == -ENOENT)
		rc = read_lines(src, "/sys/kernel/debug/tracing/available_filter_functions", want, arg, add_filter, ret,
				err);
	return rc;
}

void rd_ksyms_deinit(struct rd_ksyms *syms)
{
	for (size_t i = 0; i < syms->n; i++)
		RD_FREE(syms->v[i].name, syms->v[i].module);
	free(syms->v);
	*syms = (struct rd_ksyms){ 0 };
}
