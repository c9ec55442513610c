/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What BTF says of a module's functions and types. Types live in the module's own part, or in vmlinux's below it. */
#ifndef RD_TRACE_BTF_H
#define RD_TRACE_BTF_H

#include <bpf/btf.h>

#include "model/trace/fnset.h"
#include "source/shared/source.h"

struct rd_btf_func {
	const char *name;
	uint32_t id;
};

struct rd_btf {
	struct btf *btf;
	uint32_t first;		   /* id of the first type that is the module's own */
	struct rd_btf_func *funcs; /* the module's own, sorted by name */
	size_t n_funcs, cap_funcs;
};

/* vmlinux's BTF, the base of all others. Caller frees with btf__free. */
int rd_btf_read_base(struct rd_source *src, struct btf **ret, struct rd_err *err);

/* A loaded module's. -ENOENT: it has none. `base` stays in use as long as *ret. */
int rd_btf_read_module(struct rd_source *src, struct btf *base, const char *module, struct rd_btf *ret,
		       struct rd_err *err);
void rd_btf_deinit(struct rd_btf *btf);

/* BTF_KIND_FUNC id; 0: none. */
uint32_t rd_btf_find_func(const struct rd_btf *btf, const char *name);

/* Fills what BTF knows of the function with that id: ret, nargs, args_ok, qp_arg, dev_arg. */
void rd_btf_describe(const struct rd_btf *btf, uint32_t func, struct rd_fn *fn);

/*
 * The id of `struct name` as this module uses it: defined in its own part, or what its own functions take pointers to.
 * A type of that name elsewhere may be that of another build and is not looked at. 0: none.
 */
uint32_t rd_btf_find_struct(const struct rd_btf *btf, const char *name);

/* Whether the function takes exactly one argument, a pointer to `struct name`, and returns int. */
bool rd_btf_takes_only(const struct rd_btf *btf, uint32_t func, const char *name);

/* Whether a pointer to functions is of a function's type: the same number of arguments, pointers to structs of the same
 * names, the same kind of return. Types of two modules have no ids in common. */
bool rd_btf_points_to(const struct rd_btf *a, uint32_t pointer, const struct rd_btf *b, uint32_t func);

struct rd_btf_member {
	const char *name;
	uint32_t type; /* qualifiers and typedefs removed */
	int offset;    /* bytes */
};

/* A member by name, or by byte offset, also inside anonymous members. False: there is none. */
bool rd_btf_member(const struct rd_btf *btf, uint32_t type, const char *name, struct rd_btf_member *ret);
bool rd_btf_member_at(const struct rd_btf *btf, uint32_t type, uint64_t offset, struct rd_btf_member *ret);

/* What a pointer points to (qualifiers and typedefs removed; a forward declaration resolved to the module's own
 * definition); 0 if the type is no pointer, or points to void. */
uint32_t rd_btf_pointee(const struct rd_btf *btf, uint32_t type);

bool rd_btf_is_func_ptr(const struct rd_btf *btf, uint32_t type);

/* In bytes; 0: it has none. */
uint64_t rd_btf_size(const struct rd_btf *btf, uint32_t type);

#endif
