/* SPDX-License-Identifier: GPL-2.0-or-later */
/* BTF of the functions and types of a module. Types are in the split BTF of the module, or in its base, that of vmlinux. */
#ifndef RD_TRACE_BTF_H
#define RD_TRACE_BTF_H

#include <bpf/btf.h>

#include "model/trace/fnset.h"
#include "source/shared/source.h"

struct rd_btf_func {
	const char *name;
	uint32_t id;
};

#define RD_BTF_STRIDE 8

struct rd_btf {
	const struct rd_btf *base; /* NULL: it is the base */
	struct rd_bytes bytes;
	const struct btf_type **types; /* each RD_BTF_STRIDEth of its own, in the bytes */
	uint32_t first, end;	       /* ids of its own; end 0: not read */
	const char *names;	       /* in the bytes; their offsets count on from those of the base */
	uint32_t names_size;
	struct rd_btf_func *funcs; /* of the module itself, sorted by name */
	size_t n_funcs, cap_funcs;
};

/* BTF of vmlinux, the base of all others. */
int rd_btf_read_base(struct rd_source *src, struct rd_btf *ret, struct rd_err *err);
/* Makes its functions searchable; those of a module are already. */
void rd_btf_index(struct rd_btf *btf);

/* BTF of a loaded module. -ENOENT: none; -ESTALE: made for another base; -EBADMSG: that, or damaged. `base` must outlive *ret. */
int rd_btf_read_module(struct rd_source *src, const struct rd_btf *base, const char *module, struct rd_btf *ret,
		       struct rd_err *err);
void rd_btf_deinit(struct rd_btf *btf);

/* The first of its own types of that kind (BTF_KIND_*) and name; 0: none. */
uint32_t rd_btf_find(const struct rd_btf *btf, const char *name, uint32_t kind);

/* BTF_KIND_FUNC id; 0: none. */
uint32_t rd_btf_find_func(const struct rd_btf *btf, const char *name);

/* Fills ret, args_ok, qp_arg and dev_arg of the function with that id. */
void rd_btf_describe(const struct rd_btf *btf, uint32_t func, struct rd_fn *fn);

/*
 * The id of `struct name` as this module uses it: defined in its own BTF, or a pointer argument of its own functions.
 * A type of that name elsewhere may be of a different build and is ignored. 0: none.
 */
uint32_t rd_btf_find_struct(const struct rd_btf *btf, const char *name);

/* Whether the function takes exactly one argument, a pointer to `struct name`, and returns int. */
bool rd_btf_takes_only(const struct rd_btf *btf, uint32_t func, const char *name);

/* Whether the first argument of the function is a pointer to `struct name`. */
bool rd_btf_takes_first(const struct rd_btf *btf, uint32_t func, const char *name);

/* Whether a function matches a function pointer type: number of arguments, names of structs that arguments point to, kind of
 * return type. The modules may differ, so type ids cannot be compared. */
bool rd_btf_points_to(const struct rd_btf *a, uint32_t pointer, const struct rd_btf *b, uint32_t func);

struct rd_btf_member {
	const char *name;
	uint32_t type; /* qualifiers and typedefs removed */
	int offset;    /* bytes */
};

/* A member by name, or by byte offset, also inside anonymous members. False: not found. */
bool rd_btf_member(const struct rd_btf *btf, uint32_t type, const char *name, struct rd_btf_member *ret);
bool rd_btf_member_at(const struct rd_btf *btf, uint32_t type, uint64_t offset, struct rd_btf_member *ret);

/* The type that a pointer points to (without qualifiers and typedefs; a forward declaration is resolved to the definition in the
 * module); 0 if the type is not a pointer, or points to void. */
uint32_t rd_btf_pointee(const struct rd_btf *btf, uint32_t type);

bool rd_btf_is_func_ptr(const struct rd_btf *btf, uint32_t type);

/* In bytes; 0: unknown. */
uint64_t rd_btf_size(const struct rd_btf *btf, uint32_t type);

#endif
