/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/kernel/kallsyms.h"

#include <string.h>

#include "base/memory.h"
#include "base/number.h"

typedef bool want_fn(void *arg, const char *module);

static void add_ksym(struct rd_ksyms *syms, const char *name, const char *module, uint64_t addr, bool global)
{
	*RD_ADD(syms->v, syms->n, syms->cap) =
		(struct rd_ksym){ .name = rd_dup(name), .module = rd_dup(module), .addr = addr, .global = global };
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
static void add_symbol(struct rd_ksyms *syms, char *line, want_fn *want, void *arg)
{
	char *module = cut_module(line);
	const char *at = line, *type;
	uint64_t addr;

	if (!module || rd_take_uint(&at, RD_HEX, UINT64_MAX, &addr) < 0)
		return;
	if (at[0] != ' ' || !at[1] || at[2] != ' ' || !at[3])
		return;
	type = at + 1;
	if (strchr("tTwW", *type) && want(arg, module))
		add_ksym(syms, type + 2, module, addr, *type == 'T' || *type == 'W');
}

/* "ib_create_cq [ib_core]" */
static void add_filter(struct rd_ksyms *syms, char *line, want_fn *want, void *arg)
{
	char *module = cut_module(line);

	if (module && line[0] && want(arg, module))
		add_ksym(syms, line, module, 0, false);
}

static int read_lines(struct rd_source *src, const char *path, want_fn *want, void *arg,
		      void (*add_line)(struct rd_ksyms *, char *, want_fn *, void *), struct rd_ksyms *ret,
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
		add_line(&syms, line, want, arg);
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
