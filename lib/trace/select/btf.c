/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/select/btf.h"

#include <sys/mman.h>

/* Longer chains of types exist only in damaged data. */
#define MAX_DEPTH 32

int rd_btf_read_base(struct rd_source *src, struct btf **ret, struct rd_err *err)
{
	static const char path[] = "/sys/kernel/btf/vmlinux";
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	int rc = rd_read_file(src, path, &bytes, err);

	if (rc)
		return rc;
	*ret = bytes.size <= UINT32_MAX ? btf__new(bytes.data, (uint32_t)bytes.size) : NULL;
	if (!*ret)
		return rd_err_set(err, errno == ENOMEM ? ENOMEM : EBADMSG, path, "cannot read type information");
	return 0;
}

static void index_funcs(struct rd_btf *btf)
{
	uint32_t n = btf__type_cnt(btf->btf);

	for (uint32_t id = btf->first; id < n; id++) {
		const struct btf_type *t = btf__type_by_id(btf->btf, id);
		const char *name = t && btf_is_func(t) ? btf__name_by_offset(btf->btf, t->name_off) : NULL;

		if (!name || !name[0])
			continue;
		*RD_ADD(btf->funcs, btf->n_funcs, btf->cap_funcs) = (struct rd_btf_func){ name, id };
	}
	rd_sort(btf->funcs, btf->n_funcs, sizeof(*btf->funcs), rd_compare_texts);
}

void rd_btf_index_base(struct btf *base, struct rd_btf *ret)
{
	*ret = (struct rd_btf){ .btf = base, .first = 1 };
	index_funcs(ret);
}

int rd_btf_read_module(struct rd_source *src, struct btf *base, const char *module, struct rd_btf *ret,
		       struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	struct rd_btf btf = { .first = btf__type_cnt(base) };
	const struct btf_header *header;
	const char *first;
	_cleanup_close_ int fd = -1;
	char path[128], own[32];
	bool fit = true;
	uint32_t size;
	int rc;

	snprintf(path, sizeof(path), "/sys/kernel/btf/%s", module);
	rc = rd_read_file(src, path, &bytes, err);
	if (rc)
		return rc;
	/* libbpf 1.1 declares btf__new_split but does not export it; the exported function needs a path, here of a memfd. */
	fd = memfd_create("btf", MFD_CLOEXEC);
	snprintf(own, sizeof(own), "/proc/self/fd/%d", fd);
	if (fd >= 0 && rd_write_all(fd, bytes.data, bytes.size) >= 0)
		btf.btf = btf__parse_raw_split(own, base);
	if (!btf.btf)
		return rd_err_set(err, errno == ENOMEM ? ENOMEM : EBADMSG, path,
				  "cannot read type information: it is damaged, or for another build of the kernel");
	index_funcs(&btf);
	/* Names in the types of a module are offsets that count on from the end of the strings of its base. With another base they
	 * point into the middle of words. */
	header = btf__raw_data(btf.btf, &size);
	first = header ? (const char *)header + header->hdr_len + header->str_off : NULL;
	for (size_t i = 0; i < btf.n_funcs && fit; i++)
		fit = btf.funcs[i].name == first || !btf.funcs[i].name[-1];
	if (!fit) {
		rd_btf_deinit(&btf);
		return rd_err_set(err, ESTALE, path,
				  "type information is for another build of the kernel than the image that is there");
	}
	*ret = btf;
	return 0;
}

void rd_btf_deinit(struct rd_btf *btf)
{
	btf__free(btf->btf);
	free(btf->funcs);
	*btf = (struct rd_btf){ 0 };
}

uint32_t rd_btf_find_func(const struct rd_btf *btf, const char *name)
{
	struct rd_btf_func key = { .name = name }, *f;

	if (!btf->n_funcs)
		return 0;
	f = bsearch(&key, btf->funcs, btf->n_funcs, sizeof(key), rd_compare_texts);
	return f ? f->id : 0;
}

/* Without typedefs and qualifiers; NULL for void and invalid ids. */
static const struct btf_type *bare(const struct rd_btf *btf, uint32_t id, uint32_t *ret_id)
{
	for (int depth = 0; depth < MAX_DEPTH; depth++) {
		const struct btf_type *t = id ? btf__type_by_id(btf->btf, id) : NULL;

		if (!t)
			return NULL;
		if (!btf_is_mod(t) && !btf_is_typedef(t) && btf_kind(t) != BTF_KIND_TYPE_TAG) {
			if (ret_id)
				*ret_id = id;
			return t;
		}
		id = t->type;
	}
	return NULL;
}

static const struct btf_type *func_proto(const struct rd_btf *btf, uint32_t func)
{
	const struct btf_type *t = btf__type_by_id(btf->btf, func);

	t = t && btf_is_func(t) ? btf__type_by_id(btf->btf, t->type) : NULL;
	return t && btf_is_func_proto(t) ? t : NULL;
}

static enum rd_ret return_kind(const struct rd_btf *btf, uint32_t id)
{
	const struct btf_type *t;

	if (!id)
		return RD_RET_VOID;
	t = bare(btf, id, NULL);
	if (!t)
		return RD_RET_VOID;
	if (btf_is_ptr(t))
		return RD_RET_PTR;
	if (btf_is_enum(t) || btf_is_enum64(t))
		return RD_RET_UNSIGNED;
	if (!btf_is_int(t))
		return RD_RET_OTHER;
	if (btf_int_encoding(t) & BTF_INT_BOOL)
		return RD_RET_BOOL;
	if (!(btf_int_encoding(t) & BTF_INT_SIGNED) || t->size < 4)
		return RD_RET_UNSIGNED;
	return t->size == 4 ? RD_RET_INT : t->size == 8 ? RD_RET_LONG : RD_RET_OTHER;
}

/* Name of the struct, possibly only declared, that a pointer type points to; NULL for other types. */
static const char *pointee_struct(const struct rd_btf *btf, uint32_t id)
{
	const struct btf_type *t = bare(btf, id, NULL);

	t = t && btf_is_ptr(t) ? bare(btf, t->type, NULL) : NULL;
	if (!t || (!btf_is_struct(t) && !btf_is_fwd(t)))
		return NULL;
	return btf__name_by_offset(btf->btf, t->name_off);
}

/* Limit of the trampolines of the kernel on any architecture (MAX_BPF_FUNC_ARGS). */
#define MAX_ARGS 12

void rd_btf_describe(const struct rd_btf *btf, uint32_t func, struct rd_fn *fn)
{
	const struct btf_type *proto = func_proto(btf, func);
	const struct btf_param *p;

	fn->qp_arg = fn->dev_arg = -1;
	fn->ret = RD_RET_UNKNOWN;
	fn->args_ok = false;
	if (!proto)
		return;
	fn->ret = return_kind(btf, proto->type);
	fn->args_ok = btf_vlen(proto) <= MAX_ARGS;
	p = btf_params(proto);
	for (int i = 0; i < btf_vlen(proto); i++) {
		const char *name = pointee_struct(btf, p[i].type);
		const struct btf_type *t = bare(btf, p[i].type, NULL);

		/* One register wide. A last parameter without a type means "...". */
		if (!t || (!btf_is_ptr(t) && ((!btf_is_int(t) && !btf_is_enum(t) && !btf_is_enum64(t)) || t->size > 8)))
			fn->args_ok = false;
		if (name && i < 6 && fn->qp_arg < 0 && !strcmp(name, "ib_qp"))
			fn->qp_arg = (int8_t)i;
		if (name && i < 6 && fn->dev_arg < 0 && !strcmp(name, "ib_device"))
			fn->dev_arg = (int8_t)i;
	}
}

bool rd_btf_takes_first(const struct rd_btf *btf, uint32_t func, const char *name)
{
	const struct btf_type *proto = func_proto(btf, func);
	const char *arg = proto && btf_vlen(proto) ? pointee_struct(btf, btf_params(proto)[0].type) : NULL;

	return arg && !strcmp(arg, name);
}

bool rd_btf_takes_only(const struct rd_btf *btf, uint32_t func, const char *name)
{
	const struct btf_type *proto = func_proto(btf, func);

	return proto && btf_vlen(proto) == 1 && return_kind(btf, proto->type) == RD_RET_INT &&
	       rd_btf_takes_first(btf, func, name);
}

bool rd_btf_points_to(const struct rd_btf *a, uint32_t pointer, const struct rd_btf *b, uint32_t func)
{
	uint32_t id = rd_btf_pointee(a, pointer);
	const struct btf_type *x = id ? btf__type_by_id(a->btf, id) : NULL, *y = func_proto(b, func);

	if (!x || !btf_is_func_proto(x) || !y || btf_vlen(x) != btf_vlen(y) ||
	    return_kind(a, x->type) != return_kind(b, y->type))
		return false;
	for (int i = 0; i < btf_vlen(x); i++) {
		const char *p = pointee_struct(a, btf_params(x)[i].type), *q = pointee_struct(b, btf_params(y)[i].type);

		if (!p != !q || (p && strcmp(p, q) != 0))
			return false;
	}
	return true;
}

static bool is_struct_named(const struct rd_btf *btf, uint32_t id, const char *name)
{
	const struct btf_type *t = id ? btf__type_by_id(btf->btf, id) : NULL;
	const char *s = t && btf_is_struct(t) ? btf__name_by_offset(btf->btf, t->name_off) : NULL;

	return s && !strcmp(s, name);
}

uint32_t rd_btf_find_struct(const struct rd_btf *btf, const char *name)
{
	uint32_t n = btf__type_cnt(btf->btf);

	for (uint32_t id = btf->first; id < n; id++)
		if (is_struct_named(btf, id, name))
			return id;
	for (size_t i = 0; i < btf->n_funcs; i++) {
		const struct btf_type *proto = func_proto(btf, btf->funcs[i].id);

		for (int j = 0; proto && j < btf_vlen(proto); j++) {
			uint32_t to = rd_btf_pointee(btf, btf_params(proto)[j].type);

			if (is_struct_named(btf, to, name))
				return to;
		}
	}
	return 0;
}

uint32_t rd_btf_pointee(const struct rd_btf *btf, uint32_t type)
{
	const struct btf_type *t = bare(btf, type, NULL);
	const char *name;
	uint32_t id = 0;

	t = t && btf_is_ptr(t) ? bare(btf, t->type, &id) : NULL;
	if (!t)
		return 0;
	if (!btf_is_fwd(t))
		return id;
	name = btf__name_by_offset(btf->btf, t->name_off);
	for (uint32_t own = btf->first; name && own < btf__type_cnt(btf->btf); own++)
		if (is_struct_named(btf, own, name))
			return own;
	return 0;
}

bool rd_btf_is_func_ptr(const struct rd_btf *btf, uint32_t type)
{
	uint32_t to = rd_btf_pointee(btf, type);
	const struct btf_type *t = to ? btf__type_by_id(btf->btf, to) : NULL;

	return t && btf_is_func_proto(t);
}

uint64_t rd_btf_size(const struct rd_btf *btf, uint32_t type)
{
	int64_t size = btf__resolve_size(btf->btf, type);

	return size > 0 ? (uint64_t)size : 0;
}

struct member_search {
	const char *name; /* NULL: the member at `offset` */
	uint64_t offset;
	int budget; /* bounds nested anonymous members in damaged data */
	struct rd_btf_member *ret;
};

static bool find_member(const struct rd_btf *btf, uint32_t type, uint64_t base, struct member_search *search)
{
	const struct btf_type *t = btf__type_by_id(btf->btf, type);
	const struct btf_member *m;

	if (!t || !btf_is_composite(t))
		return false;
	m = btf_members(t);
	for (int i = 0; i < btf_vlen(t) && search->budget-- > 0; i++) {
		uint64_t at = base + btf_member_bit_offset(t, (uint32_t)i) / 8;
		const char *s = btf__name_by_offset(btf->btf, m[i].name_off);
		uint32_t id = 0;

		bare(btf, m[i].type, &id);
		if (s && s[0]) {
			if (search->name ? strcmp(s, search->name) != 0 : at != search->offset)
				continue;
			*search->ret = (struct rd_btf_member){ s, id, (int)at };
			return true;
		}
		if (id && find_member(btf, id, at, search))
			return true;
	}
	return false;
}

/* The largest structs of the kernel have a few hundred members. */
#define MEMBER_BUDGET 4096

bool rd_btf_member(const struct rd_btf *btf, uint32_t type, const char *name, struct rd_btf_member *ret)
{
	return find_member(btf, type, 0, &(struct member_search){ name, 0, MEMBER_BUDGET, ret });
}

bool rd_btf_member_at(const struct rd_btf *btf, uint32_t type, uint64_t offset, struct rd_btf_member *ret)
{
	return find_member(btf, type, 0, &(struct member_search){ NULL, offset, MEMBER_BUDGET, ret });
}
