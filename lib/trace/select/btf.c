/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/select/btf.h"

/* Longer chains of types exist only in damaged data. */
#define MAX_DEPTH 32

/* Bytes of a type by BTF_KIND_*, with its head; 0: no such kind. And of what follows as often as the head says. */
#define HEAD sizeof(struct btf_type)
static const uint8_t once[32] = { 0, 16, 12, 24, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 16, 12, 12, 16, 12, 12 };
static const uint8_t each[32] = { [BTF_KIND_STRUCT] = 12,    [BTF_KIND_UNION] = 12,   [BTF_KIND_ENUM] = 8,
				  [BTF_KIND_FUNC_PROTO] = 8, [BTF_KIND_DATASEC] = 12, [BTF_KIND_ENUM64] = 12 };

static uint32_t size_of(const struct btf_type *t)
{
	return once[btf_kind(t)] + (uint32_t)each[btf_kind(t)] * btf_vlen(t);
}

/* Finds the types and names in the bytes. False: damaged, or newer. */
static bool index_types(struct rd_btf *btf)
{
	const struct btf_header *h = (const void *)btf->bytes.data;
	uint64_t size = btf->bytes.size;
	const char *at, *end;
	size_t n = 0, cap = 0;

	if (size < sizeof(*h) || size > UINT32_MAX || h->magic != BTF_MAGIC || h->version != BTF_VERSION ||
	    h->hdr_len < sizeof(*h) || (h->hdr_len | h->type_off) % 4 || !h->str_len ||
	    (uint64_t)h->hdr_len + h->type_off + h->type_len > size ||
	    (uint64_t)h->hdr_len + h->str_off + h->str_len > size)
		return false;
	btf->names = (const char *)h + h->hdr_len + h->str_off;
	btf->names_size = h->str_len;
	if (btf->names[h->str_len - 1] || (!btf->base && *btf->names))
		return false;
	at = (const char *)h + h->hdr_len + h->type_off;
	for (end = at + h->type_len; at < end; at += size, btf->end++) {
		const struct btf_type *t = (const void *)at;

		size = (size_t)(end - at) < HEAD ? 0 : size_of(t);
		if (size < HEAD || size > (size_t)(end - at))
			return false;
		if ((btf->end - btf->first) % RD_BTF_STRIDE == 0)
			*RD_ADD(btf->types, n, cap) = t;
	}
	return true;
}

static const struct btf_type *type_of(const struct rd_btf *btf, uint32_t id)
{
	const struct btf_type *t;

	while (btf && id < btf->first)
		btf = btf->base;
	if (!btf || id >= btf->end)
		return NULL;
	id -= btf->first;
	for (t = btf->types[id / RD_BTF_STRIDE], id %= RD_BTF_STRIDE; id; id--)
		t = (const void *)((const char *)t + size_of(t));
	return t;
}

static const char *name_of(const struct rd_btf *btf, uint32_t offset)
{
	while (btf->base && offset < btf->base->names_size)
		btf = btf->base;
	offset -= btf->base ? btf->base->names_size : 0;
	return offset < btf->names_size ? btf->names + offset : NULL;
}

void rd_btf_index(struct rd_btf *btf)
{
	for (uint32_t id = btf->first; id < btf->end; id++) {
		const struct btf_type *t = type_of(btf, id);
		const char *name = btf_is_func(t) ? name_of(btf, t->name_off) : NULL;

		if (!name || !name[0])
			continue;
		*RD_ADD(btf->funcs, btf->n_funcs, btf->cap_funcs) = (struct rd_btf_func){ name, id };
	}
	rd_sort(btf->funcs, btf->n_funcs, sizeof(*btf->funcs), rd_compare_texts);
}

static int read_btf(struct rd_source *src, const char *name, const struct rd_btf *base, struct rd_btf *ret,
		    struct rd_err *err)
{
	struct rd_btf btf = { .base = base, .first = base ? base->end : 1, .end = base ? base->end : 1 };
	char path[128];
	int rc;

	snprintf(path, sizeof(path), "/sys/kernel/btf/%s", name);
	rc = rd_read_file(src, path, &btf.bytes, err);
	if (rc)
		return rc;
	if (!index_types(&btf))
		rc = rd_err_set(
			err, EBADMSG, path,
			base ? "cannot read type information: it is damaged, or for another build of the kernel" :
			       "cannot read type information");
	if (!rc && base)
		rd_btf_index(&btf);
	/* Names in the types of a module are offsets that count on from the end of the strings of its base. With another base they
	 * point into the middle of words. */
	for (size_t i = 0; i < btf.n_funcs && !rc; i++)
		if (btf.funcs[i].name != btf.names && btf.funcs[i].name[-1])
			rc = rd_err_set(
				err, ESTALE, path,
				"type information is for another build of the kernel than the image that is there");
	if (rc)
		rd_btf_deinit(&btf);
	else
		*ret = btf;
	return rc;
}

int rd_btf_read_base(struct rd_source *src, struct rd_btf *ret, struct rd_err *err)
{
	return read_btf(src, "vmlinux", NULL, ret, err);
}

int rd_btf_read_module(struct rd_source *src, const struct rd_btf *base, const char *module, struct rd_btf *ret,
		       struct rd_err *err)
{
	return read_btf(src, module, base, ret, err);
}

void rd_btf_deinit(struct rd_btf *btf)
{
	rd_bytes_deinit(&btf->bytes);
	RD_FREE(btf->types, btf->funcs);
	*btf = (struct rd_btf){ 0 };
}

uint32_t rd_btf_find(const struct rd_btf *btf, const char *name, uint32_t kind)
{
	for (uint32_t id = btf->first; id < btf->end; id++) {
		const struct btf_type *t = type_of(btf, id);
		const char *s = btf_kind(t) == kind ? name_of(btf, t->name_off) : NULL;

		if (s && !strcmp(s, name))
			return id;
	}
	return 0;
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
		const struct btf_type *t = id ? type_of(btf, id) : NULL;

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
	const struct btf_type *t = type_of(btf, func);

	t = t && btf_is_func(t) ? type_of(btf, t->type) : NULL;
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
	return name_of(btf, t->name_off);
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
	const struct btf_type *x = id ? type_of(a, id) : NULL, *y = func_proto(b, func);

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
	const struct btf_type *t = id ? type_of(btf, id) : NULL;
	const char *s = t && btf_is_struct(t) ? name_of(btf, t->name_off) : NULL;

	return s && !strcmp(s, name);
}

uint32_t rd_btf_find_struct(const struct rd_btf *btf, const char *name)
{
	uint32_t own = rd_btf_find(btf, name, BTF_KIND_STRUCT);

	if (own)
		return own;
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
	name = name_of(btf, t->name_off);
	return name ? rd_btf_find(btf, name, BTF_KIND_STRUCT) : 0;
}

bool rd_btf_is_func_ptr(const struct rd_btf *btf, uint32_t type)
{
	uint32_t to = rd_btf_pointee(btf, type);
	const struct btf_type *t = to ? type_of(btf, to) : NULL;

	return t && btf_is_func_proto(t);
}

uint64_t rd_btf_size(const struct rd_btf *btf, uint32_t type)
{
	uint64_t n = 1;

	for (int depth = 0; depth < MAX_DEPTH && n <= UINT32_MAX; depth++) {
		const struct btf_type *t = bare(btf, type, NULL);

		if (!t || btf_is_ptr(t))
			return t ? n * sizeof(void *) : 0;
		if (!btf_is_array(t))
			return btf_is_int(t) || btf_is_composite(t) || btf_is_any_enum(t) ? n * t->size : 0;
		n *= btf_array(t)->nelems;
		type = btf_array(t)->type;
	}
	return 0;
}

struct member_search {
	const char *name; /* NULL: the member at `offset` */
	uint64_t offset;
	int budget; /* bounds nested anonymous members in damaged data */
	struct rd_btf_member *ret;
};

static bool find_member(const struct rd_btf *btf, uint32_t type, uint64_t base, struct member_search *search)
{
	const struct btf_type *t = type_of(btf, type);
	const struct btf_member *m;

	if (!t || !btf_is_composite(t))
		return false;
	m = btf_members(t);
	for (int i = 0; i < btf_vlen(t) && search->budget-- > 0; i++) {
		uint64_t at = base + btf_member_bit_offset(t, (uint32_t)i) / 8;
		const char *s = name_of(btf, m[i].name_off);
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
