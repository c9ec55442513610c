/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Type information of a module, whole and damaged. */
#include "unit.h"

#include "fake-host.h"
#include "trace/select/btf.h"

#include <bpf/libbpf.h>

struct built {
	struct fake_host host;
	struct btf *made; /* the base, as libbpf has it */
	struct rd_btf base;
	uint8_t *raw; /* the module's, as it lies in sysfs */
	uint32_t size;
};

static int add_func(struct btf *btf, const char *name, int ret, int arg, int second)
{
	int proto = btf__add_func_proto(btf, ret);

	if (arg)
		btf__add_func_param(btf, "a", arg);
	if (second)
		btf__add_func_param(btf, "b", second);
	return btf__add_func(btf, name, BTF_FUNC_STATIC, proto);
}

/* Types of all other kinds, each of its own size, before those that are read. */
static void add_other_kinds(struct btf *btf, int t_int)
{
	int var, array = btf__add_array(btf, t_int, t_int, 4);

	btf__add_struct(btf, "sixteen", 16);
	btf__add_field(btf, "bytes", array, 0, 0);
	btf__add_enum(btf, "few", 4);
	btf__add_enum_value(btf, "one", 1);
	btf__add_enum_value(btf, "two", 2);
	btf__add_enum64(btf, "wide", 8, false);
	btf__add_enum64_value(btf, "three", 3);
	btf__add_float(btf, "real", 8);
	btf__add_restrict(btf, btf__add_volatile(btf, btf__add_type_tag(btf, "user", t_int)));
	var = btf__add_var(btf, "variable", BTF_VAR_STATIC, t_int);
	btf__add_decl_tag(btf, "tag", var, -1);
	btf__add_datasec(btf, ".data", 8);
	btf__add_datasec_var_info(btf, var, 0, 4);
	btf__add_datasec_var_info(btf, var, 4, 4);
}

static void build_module(struct btf *btf, int t_int, int t_uint, int t_big)
{
	int device, device_ptr, qp, qp_ptr, fwd_ptr, ops, proto, fn_ptr, anon;

	add_other_kinds(btf, t_int);
	device = btf__add_struct(btf, "ib_device", 80);
	btf__add_field(btf, "name", t_int, 128, 0);
	device_ptr = btf__add_ptr(btf, btf__add_const(btf, device));
	qp = btf__add_struct(btf, "ib_qp", 16);
	btf__add_field(btf, "device", device_ptr, 0, 0);
	btf__add_field(btf, "qp_num", t_uint, 64, 0);
	qp_ptr = btf__add_ptr(btf, qp);
	proto = btf__add_func_proto(btf, t_int);
	btf__add_func_param(btf, "qp", qp_ptr);
	fn_ptr = btf__add_ptr(btf, proto);
	anon = btf__add_union(btf, NULL, 8);
	btf__add_field(btf, "inner", fn_ptr, 0, 0);
	ops = btf__add_struct(btf, "table", 24);
	btf__add_field(btf, "first", t_uint, 0, 0);
	btf__add_field(btf, NULL, anon, 64, 0);
	btf__add_field(btf, "last", fn_ptr, 128, 0);
	fwd_ptr = btf__add_ptr(btf, btf__add_fwd(btf, "ib_qp", BTF_FWD_STRUCT));
	add_func(btf, "takes_qp", t_int, qp_ptr, 0);
	add_func(btf, "takes_declared_qp", t_int, t_uint, fwd_ptr);
	add_func(btf, "takes_device", t_uint, device_ptr, 0);
	add_func(btf, "takes_struct", t_int, t_big, 0);
	add_func(btf, "returns_pointer", qp_ptr, 0, 0);
	add_func(btf, "returns_nothing", 0, 0, 0);
	add_func(btf, "takes_table", 0, btf__add_ptr(btf, ops), 0);
}

static void setup(struct built *b)
{
	int t_int, t_uint, t_big, t_long;
	struct btf *module;
	const void *raw;
	uint32_t size;

	b->host = fake_host_make();
	b->made = btf__new_empty();
	t_int = btf__add_int(b->made, "int", 4, BTF_INT_SIGNED);
	t_uint = btf__add_int(b->made, "unsigned int", 4, 0);
	t_long = btf__add_int(b->made, "long", 8, BTF_INT_SIGNED);
	btf__add_typedef(b->made, "ssize_t", btf__add_typedef(b->made, "__kernel_ssize_t", t_long));
	t_big = btf__add_struct(b->made, "big", 16);
	btf__add_field(b->made, "x", t_int, 0, 0);
	raw = btf__raw_data(b->made, &size);
	fake_host_write(&b->host, "/sys/kernel/btf/vmlinux", raw, size);
	assert_int_equal(rd_btf_read_base(b->host.source, &b->base, NULL), 0);
	module = btf__new_empty_split(b->made);
	build_module(module, t_int, t_uint, t_big);
	add_func(module, "returns_ssize", t_long + 2, 0, 0);
	raw = btf__raw_data(module, &b->size);
	b->raw = malloc(b->size);
	memcpy(b->raw, raw, b->size);
	fake_host_write(&b->host, "/sys/kernel/btf/module", b->raw, b->size);
	btf__free(module);
}

static void teardown(struct built *b)
{
	rd_btf_deinit(&b->base);
	btf__free(b->made);
	fake_host_deinit(&b->host);
	free(b->raw);
}

static struct rd_fn describe(const struct rd_btf *btf, const char *name)
{
	struct rd_fn fn = { 0 };
	uint32_t id = rd_btf_find_func(btf, name);

	assert_true(id >= btf->first);
	rd_btf_describe(btf, id, &fn);
	return fn;
}

#define BUILT_TEST(name) TEST_BEGUN(name, struct built, b, setup, teardown)

BUILT_TEST(arguments_and_returns_are_read_through_typedefs_and_declarations)
{
	struct rd_btf btf = { 0 };
	struct rd_fn fn;

	assert_int_equal(rd_btf_read_module(b->host.source, &b->base, "absent", &btf, NULL), -ENOENT);
	assert_int_equal(rd_btf_read_module(b->host.source, &b->base, "module", &btf, NULL), 0);
	fn = describe(&btf, "takes_qp");
	ASSERT_EACH(IS(fn.ret, RD_RET_INT), IS(fn.qp_arg, 0), IS(fn.dev_arg, -1), IS(fn.args_ok, true),
		    IS(describe(&btf, "takes_declared_qp").qp_arg, 1), IS(describe(&btf, "takes_device").dev_arg, 0),
		    IS(describe(&btf, "takes_device").ret, RD_RET_UNSIGNED),
		    IS(describe(&btf, "takes_struct").args_ok, false),
		    IS(describe(&btf, "returns_pointer").ret, RD_RET_PTR),
		    IS(describe(&btf, "returns_nothing").ret, RD_RET_VOID),
		    IS(describe(&btf, "returns_ssize").ret, RD_RET_LONG));
	assert_int_equal(rd_btf_find_func(&btf, "unheard_of"), 0);
	rd_btf_deinit(&btf);
}

/* As the image of a kernel that was built again with other types: the same numbers, and other offsets of names. */
static int read_with_another_base(struct built *b, const char *name)
{
	struct btf *other = btf__new_empty();
	struct rd_btf base, btf = { 0 };
	const void *raw;
	uint32_t size;
	int rc;

	btf__add_int(other, "integer", 4, BTF_INT_SIGNED);
	for (int i = 0; i < 5; i++)
		btf__add_int(other, name, 4, 0);
	assert_int_equal(btf__type_cnt(other), btf__type_cnt(b->made));
	raw = btf__raw_data(other, &size);
	fake_host_write(&b->host, "/sys/kernel/btf/vmlinux", raw, size);
	assert_int_equal(rd_btf_read_base(b->host.source, &base, NULL), 0);
	rc = rd_btf_read_module(b->host.source, &base, "module", &btf, NULL);
	rd_btf_deinit(&base);
	btf__free(other);
	return rc;
}

BUILT_TEST(types_of_a_module_for_another_build_of_the_kernel_are_refused)
{
	char word[4096];

	memset(word, 'x', sizeof(word));
	word[sizeof(word) - 1] = '\0';
	assert_int_equal(read_with_another_base(b, word), -ESTALE);
	assert_int_equal(read_with_another_base(b, "unsigned int"), -ESTALE);
}

BUILT_TEST(members_are_found_by_name_and_by_offset_inside_unnamed_ones_too)
{
	_cleanup_(rd_btf_deinit) struct rd_btf btf = { 0 };
	struct rd_btf_member m;
	uint32_t table, func;

	assert_int_equal(rd_btf_read_module(b->host.source, &b->base, "module", &btf, NULL), 0);
	table = rd_btf_find_struct(&btf, "table");
	func = rd_btf_find_func(&btf, "takes_qp");
	assert_int_equal(rd_btf_size(&btf, table), 24);
	assert_true(rd_btf_member_at(&btf, table, 8, &m));
	assert_string_equal(m.name, "inner");
	assert_true(rd_btf_is_func_ptr(&btf, m.type));
	assert_true(rd_btf_points_to(&btf, m.type, &btf, func));
	assert_false(rd_btf_points_to(&btf, m.type, &btf, rd_btf_find_func(&btf, "takes_device")));
	assert_false(rd_btf_points_to(&btf, m.type, &btf, rd_btf_find_func(&btf, "returns_nothing")));
	assert_true(rd_btf_member(&btf, table, "last", &m));
	assert_int_equal(m.offset, 16);
	assert_false(rd_btf_member_at(&btf, table, 20, &m));
	assert_false(rd_btf_member(&btf, table, "absent", &m));
	assert_int_equal(rd_btf_find_struct(&btf, "big"), 0);
	assert_true(rd_btf_member(&btf, rd_btf_find_struct(&btf, "sixteen"), "bytes", &m));
	assert_int_equal(rd_btf_size(&btf, m.type), 16);
	assert_int_equal(rd_btf_find(&b->base, "big", BTF_KIND_STRUCT), btf__find_by_name(b->made, "big"));
}

/* Everything that is asked of BTF, of whatever the bytes now say. */
static void ask_everything(struct built *b)
{
	struct rd_btf btf = { 0 };
	struct rd_btf_member m;
	uint32_t table;

	fake_host_write(&b->host, "/sys/kernel/btf/module", b->raw, b->size);
	if (rd_btf_read_module(b->host.source, &b->base, "module", &btf, NULL))
		return;
	for (size_t i = 0; i < btf.n_funcs; i++) {
		struct rd_fn fn;

		rd_btf_describe(&btf, btf.funcs[i].id, &fn);
		rd_btf_takes_only(&btf, btf.funcs[i].id, "ib_qp");
	}
	table = rd_btf_find_struct(&btf, "table");
	rd_btf_find_struct(&btf, "absent");
	for (uint64_t at = 0; at < 24; at += 8)
		if (rd_btf_member_at(&btf, table, at, &m)) {
			rd_btf_pointee(&btf, m.type);
			rd_btf_is_func_ptr(&btf, m.type);
			if (btf.n_funcs)
				rd_btf_points_to(&btf, m.type, &btf, btf.funcs[0].id);
		}
	rd_btf_deinit(&btf);
}

BUILT_TEST(damaged_types_are_refused_or_read_without_harm)
{
	static const uint8_t values[] = { 0x00, 0x01, 0x7f, 0xff };
	uint32_t whole = b->size;

	for (b->size = 0; b->size < whole; b->size++)
		ask_everything(b);
	for (uint32_t at = 0; at < whole; at++)
		for (size_t v = 0; v < RD_ARRAY_SIZE(values); v++) {
			uint8_t old = b->raw[at];

			b->raw[at] = values[v];
			ask_everything(b);
			b->raw[at] = old;
		}
}

static int quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	return 0;
}

int main(void)
{
	libbpf_set_print(quiet);
	return unit_run(NULL, NULL);
}
