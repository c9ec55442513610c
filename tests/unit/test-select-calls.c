/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the selection notes about each function besides its rule: what it calls and which errnos its code has, which decides whether
 * an origin is exact; functions that are selected alone; offsets in the structures of the core.
 */
#include "unit.h"

#include "select-host.h"

static const char types_h[] =
	"#define KEEP __attribute__((noinline, used))\n"
	"#define OPAQUE __asm__ volatile(\"\")\n"
	"struct resource { long pad; unsigned id; };\n"
	"struct ib_device { char pad[24]; char name[64]; };\n"
	"struct ib_pd { void *device; int usecnt; struct resource res; };\n"
	"struct ib_cq { long pad[2]; int usecnt; struct resource res; };\n"
	"struct ib_srq { long pad[3]; int usecnt; struct resource res; };\n"
	"struct ib_mr { long pad[5]; struct resource res; };\n"
	"struct ib_qp { void *pad; struct ib_device *device; unsigned qp_num, port; int qp_type, usecnt; };\n"
	"struct ib_device_ops {\n"
	"	void *owner;\n"
	"	int (*query_qp)(struct ib_qp *, int);\n"
	"	int (*query_device)(struct ib_device *, int);\n"
	"	int (*post_send)(struct ib_qp *, int);\n"
	"	int (*create_qp)(struct ib_qp *, int);\n"
	"	int (*modify_qp)(struct ib_qp *, int);\n"
	"	int (*destroy_qp)(struct ib_qp *);\n"
	"	int (*dereg_mr)(struct ib_mr *);\n"
	"	int (*fill_res)(struct ib_device *);\n"
	"};\n"
	"struct device { int x; unsigned devt; };\n"
	"struct xarray { int lock; void *xa_head; };\n"
	"struct uverbs_api_object { long pad; unsigned id; };\n"
	"struct ib_uverbs_device { long refs; struct device dev; };\n"
	"struct ib_uverbs_file { long refs; struct ib_uverbs_device *device; struct xarray idr; };\n"
	"struct ib_uobject { void *ufile; void *object; int usecnt; const struct uverbs_api_object *uapi_object; };\n"
	"struct udata { const void *inbuf; void *outbuf; unsigned long inlen, outlen; };\n"
	"struct uverbs_attr_bundle { long pad; struct udata driver, ucore; struct ib_uverbs_file *ufile;\n"
	"	struct ib_uobject *uobject; };\n"
	"struct uverbs_obj_idr_type { long type; int (*destroy_object)(struct ib_uobject *, int); };\n"
	"struct rdma_cm_id { struct ib_device *device; void *context; };\n"
	"struct rdma_id_private { struct rdma_cm_id id; long pad[3]; int state; };\n"
	"extern int ib_check(struct ib_device *, int), ib_modify_qp_is_ok(int, int, int, int), hw_command(int), hw_void_user(int);\n"
	"extern int ib_query_port(struct ib_device *), ib_destroy_qp_user(struct ib_qp *), ib_dereg_mr_user(struct ib_mr *);\n"
	"extern int pin_user_pages(int), printk(int), snprintf(char *, int), memcpy_asm(int);\n"
	"extern void complain(int) __attribute__((cold));\n"
	"extern void schedule(int);\n"
	"extern unsigned jiffies_of(int);\n"
	"extern long kernel_wait(int);\n";

static const char vmlinux_c[] = "#include \"types.h\"\n"
				"KEEP int printk(int x) { return x + 1; }\n"
				"KEEP int snprintf(char *b, int n) { return n; }\n"
				"KEEP int pin_user_pages(int n) { return n + 2; }\n"
				"KEEP long kernel_wait(int n) { return n + 3; }\n"
				"KEEP void schedule(int x) { OPAQUE; }\n"
				"KEEP void complain(int x) { OPAQUE; }\n"
				"KEEP unsigned jiffies_of(int x) { return x; }\n";

static const char ib_core_c[] =
	"#include \"types.h\"\n"
	/* clang describes in full only what a function takes a pointer to. */
	"KEEP void c_pd(struct ib_pd *o) { o->usecnt++; }\n"
	"KEEP void c_cq(struct ib_cq *o) { o->usecnt++; }\n"
	"KEEP void c_srq(struct ib_srq *o) { o->usecnt++; }\n"
	"KEEP void c_mr(struct ib_mr *o) { o->res.id++; }\n"
	"KEEP void ib_set_device_ops(struct ib_device *d, const struct ib_device_ops *o) { d->pad[1] = !o; }\n"
	"KEEP int ib_check(struct ib_device *d, int x) { return x > 3 ? -22 : d->pad[0]; }\n"
	"KEEP int ib_modify_qp_is_ok(int c, int n, int t, int m) { return c + n + t + m > 9; }\n"
	"KEEP static int ib_port_check(struct ib_device *d) { OPAQUE; return d->pad[2]; }\n"
	"KEEP static int ib_query_cache(struct ib_device *d) { OPAQUE; return d->pad[3]; }\n"
	"KEEP int ib_query_port(struct ib_device *d) { return ib_port_check(d) + ib_query_cache(d); }\n"
	"KEEP static int ib_free_cq_shared(void *p) { OPAQUE; return p != 0; }\n"
	"KEEP static int ib_release_qp_parts(struct ib_qp *qp) { OPAQUE; return qp->port; }\n"
	"KEEP static int ib_drop_all(struct ib_qp *qp) { OPAQUE; return qp->qp_num; }\n"
	"KEEP int ib_destroy_qp_user(struct ib_qp *qp)\n"
	"{ return ib_release_qp_parts(qp) + ib_drop_all(qp) + ib_free_cq_shared(qp); }\n"
	"KEEP int ib_dereg_mr_user(struct ib_mr *mr) { return ib_free_cq_shared(mr) + 1; }\n";

static const char ib_uverbs_c[] =
	"#include \"types.h\"\n"
	"typedef int handler(struct uverbs_attr_bundle *);\n"
	"KEEP void uv_device(struct ib_uverbs_device *d) { d->refs++; }\n"
	"KEEP void uv_file(struct ib_uverbs_file *f) { f->refs++; }\n"
	"KEEP void uv_object(struct ib_uobject *u, struct uverbs_api_object *o) { u->usecnt = o->id; }\n"
	"KEEP void uv_type(const struct uverbs_obj_idr_type *t) { OPAQUE; }\n"
	"KEEP static int ib_uverbs_handler_UVERBS_METHOD_QP_DESTROY(struct uverbs_attr_bundle *b)\n"
	"{ return ib_destroy_qp_user(b->uobject->object) + 1; }\n"
	"KEEP static int ib_uverbs_handler_UVERBS_METHOD_MR_DESTROY(struct uverbs_attr_bundle *b)\n"
	"{ return ib_dereg_mr_user(b->uobject->object) + 2; }\n"
	"KEEP static int ib_uverbs_handler_UVERBS_METHOD_QUERY_PORT(struct uverbs_attr_bundle *b)\n"
	"{ return ib_query_port(b->uobject->object) + 3; }\n"
	"KEEP static int ib_uverbs_dereg_mr(struct uverbs_attr_bundle *b) { return b->pad + 4; }\n"
	"KEEP static int ib_uverbs_post_recv(struct uverbs_attr_bundle *b) { return b->pad + 5; }\n"
	"KEEP static int uverbs_free_qp(struct ib_uobject *u, int why) { return u->usecnt + 6; }\n"
	"KEEP static int uverbs_free_mr(struct ib_uobject *u, int why) { return u->usecnt + 7; }\n"
	"handler *const uverbs_def_write_intf[] = { ib_uverbs_dereg_mr, ib_uverbs_post_recv };\n"
	"handler *const methods[] = { ib_uverbs_handler_UVERBS_METHOD_QP_DESTROY,\n"
	"	ib_uverbs_handler_UVERBS_METHOD_MR_DESTROY, ib_uverbs_handler_UVERBS_METHOD_QUERY_PORT };\n"
	"const struct uverbs_obj_idr_type type_qp = { .destroy_object = uverbs_free_qp };\n"
	"const struct uverbs_obj_idr_type type_mr = { .destroy_object = uverbs_free_mr };\n";

static const char rdma_cm_c[] =
	"#include \"types.h\"\n"
	"KEEP void cm_private(struct rdma_id_private *p) { p->state++; }\n"
	"KEEP int rdma_connect(struct rdma_cm_id *id, int x) { return x > 2 ? -22 : id->device != 0; }\n"
	"KEEP int rdma_idle(struct rdma_cm_id *id) { OPAQUE; return id->device != 0; }\n"
	"KEEP static int cma_second(int x, struct rdma_cm_id *id) { OPAQUE; return id->device != 0; }\n"
	"KEEP static int ucma_connect(void *f, int x) { return rdma_connect(f, x) + cma_second(x, f); }\n"
	"KEEP static int ucma_destroy_id(void *f, int x) { OPAQUE; return x + 1; }\n"
	"int (*const ucma_cmd_table[])(void *, int) = { ucma_connect, 0, ucma_destroy_id };\n";

static const char new_driver_c[] =
	"#include \"types.h\"\n"
	"KEEP static void newd_void(struct ib_qp *qp) { OPAQUE; }\n"
	"KEEP static _Bool newd_flag(struct ib_qp *qp) { OPAQUE; return qp->port; }\n"
	"KEEP static void *newd_find(struct ib_qp *qp) { OPAQUE; return qp->pad; }\n"
	"KEEP static int newd_leaf(int x) { OPAQUE; return x ? -16 : 0; }\n"
	"KEEP static int newd_rare(int x) { if (x > 5) { complain(newd_leaf(x)); return -95; } return x + 1; }\n"
	"KEEP static int newd_rare_kernel(int x) { if (x > 5) { complain(x); return pin_user_pages(x) + 1; } return x; }\n"
	"KEEP static int newd_rare_void(int x) { if (x > 5) { complain(x); return -5; } return x - 1; }\n"
	"KEEP static int newd_recursive(int x) { return x > 99 ? x : newd_recursive(x * 2 + 1) + newd_leaf(x); }\n"
	"KEEP static int newd_pins(int x) { return pin_user_pages(x) + 1; }\n"
	"KEEP static int newd_waits(int x) { return kernel_wait(x) + 1; }\n"
	"KEEP static int newd_prints(int x) { char b[8]; return printk(x) + snprintf(b, 8) + jiffies_of(x); }\n"
	"KEEP static int newd_sleeps(int x) { schedule(x); return x; }\n"
	"KEEP static int newd_copies(int x) { return memcpy_asm(x) + 1; }\n"
	"KEEP static int newd_calls_back(int (*fn)(int)) { return fn(2) + 1; }\n"
	"KEEP static int newd_callee(int x) { OPAQUE; return x + 8; }\n"
	"KEEP static int newd_below(int x) { OPAQUE; return x + 6; }\n"
	"KEEP static int newd_query_qp(struct ib_qp *qp, int x) { return newd_below(x) + 1; }\n"
	"KEEP static int newd_query_device(struct ib_device *d, int x) { return d->pad[x]; }\n"
	"KEEP static int newd_post_send(struct ib_qp *qp, int x) { return newd_query_qp(qp, x) + 1; }\n"
	"KEEP static int newd_create_qp(struct ib_qp *qp, int x)\n"
	"{ newd_void(qp); return newd_flag(qp) + (newd_find(qp) != 0) + newd_leaf(x) + ib_check(qp->device, x) + hw_command(x); }\n"
	"KEEP static int newd_modify_qp(struct ib_qp *qp, int x)\n"
	"{ return newd_rare(x) + newd_rare_kernel(x) + newd_rare_void(x) + newd_recursive(x) + newd_pins(x) + newd_waits(x)\n"
	"	+ newd_prints(x) + newd_sleeps(x) + newd_copies(x) + newd_calls_back((int (*)(int))qp->pad)\n"
	"	+ ib_modify_qp_is_ok(x, 1, 2, 3) + newd_callee(x); }\n"
	"KEEP static int newd_destroy_qp(struct ib_qp *qp) { return qp->port + 1; }\n"
	"KEEP static int newd_dereg_mr(struct ib_mr *mr) { return mr->res.id; }\n"
	"__attribute__((section(\"_kprobe_blacklist\"))) int (*const refused)(int) = newd_leaf;\n"
	"const struct ib_device_ops newd_ops = { .query_qp = newd_query_qp, .query_device = newd_query_device,\n"
	"	.post_send = newd_post_send, .create_qp = newd_create_qp, .modify_qp = newd_modify_qp,\n"
	"	.destroy_qp = newd_destroy_qp, .dereg_mr = newd_dereg_mr };\n";

static const char new_hw_c[] = "#include \"types.h\"\n"
			       "KEEP int hw_attach_netdev(int x) { OPAQUE; return x + 7; }\n"
			       "KEEP int hw_command(int x) { return pin_user_pages(x) + 1; }\n"
			       "KEEP int hw_netdev_only(int x) { OPAQUE; return x + 6; }\n";

static const struct select_module modules[] = {
	{ "ib_core", ib_core_c }, { "ib_uverbs", ib_uverbs_c },	  { "rdma_cm", rdma_cm_c },
	{ "new_hw", new_hw_c },	  { "new_driver", new_driver_c },
};

static const char proc_modules[] = "new_driver 4096 0 - Live 0x0\n"
				   "new_hw 4096 1 new_driver, Live 0x0\n"
				   "rdma_cm 4096 0 - Live 0x0\n"
				   "ib_uverbs 4096 1 new_driver, Live 0x0\n"
				   "ib_core 4096 3 new_driver,ib_uverbs,rdma_cm, Live 0x0\n";

static struct fake_host host;
static struct rd_fnset set; /* of it as it is at first */

static int setup(void **state)
{
	host = fake_host_make();
	fake_host_text(&host, "/proc/modules", proc_modules);
	fake_host_text(&host, "/proc/sys/kernel/osrelease", "9.9\n");
	fake_host_text(&host, "/lib/modules/9.9/modules.dep",
		       "ib_core.ko:\nib_uverbs.ko:\nrdma_cm.ko:\nnew_hw.ko:\nnew_driver.ko:\n");
	fake_host_text(&host, "/sys/module/new_hw/drivers/pci:new_hw/x", "");
	if (!select_host_build(&host, types_h, vmlinux_c, modules, RD_ARRAY_SIZE(modules)))
		return -1;
	set = select_host_run(&host, NULL);
	return 0;
}

static int teardown(void **state)
{
	rd_fnset_deinit(&set);
	fake_host_deinit(&host);
	return 0;
}

/* Names of the functions that it calls, in the order of their ids, each followed by a blank. */
static void assert_calls(const char *name, const char *expected)
{
	const struct rd_fn *fn = select_host_fn(&set, name);
	char names[512] = "";

	for (uint32_t i = 0; i < fn->n_calls; i++) {
		ASSERT_EACH(IS(fn->calls[i] < set.n_fns, true), IS(!i || fn->calls[i - 1] < fn->calls[i], true));
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s ", set.fns[fn->calls[i]].name);
	}
	assert_string_equal(names, expected);
}

static bool has_errno(const char *name, int err)
{
	return select_host_fn(&set, name)->errnos[err / 64] >> err % 64 & 1;
}

TEST(each_function_names_the_functions_whose_errno_it_may_return)
{
	/* Neither what returns nothing nor a truth value, but a pointer; also of other modules, which come in the order of
	 * their ids. */
	assert_int_equal(select_host_fn(&set, "newd_create_qp")->n_calls, 4);
	assert_calls("newd_pins", "");
	assert_calls("newd_leaf", "");
	assert_calls("newd_query_qp", "newd_below ");
	assert_calls("ib_uverbs_handler_UVERBS_METHOD_QUERY_PORT", "ib_query_port ");
	assert_calls("ib_query_port", "ib_port_check ib_query_cache ");
	/* Not itself. */
	assert_calls("newd_recursive", "newd_leaf ");
	for (size_t i = 0; i < set.n_fns; i++)
		assert_true(set.fns[i].calls_known);
}

TEST(the_callees_of_create_qp_are_of_three_modules)
{
	static const char *const callees[] = { "newd_find", "newd_leaf", "ib_check", "hw_command" };
	const struct rd_fn *fn = select_host_fn(&set, "newd_create_qp");

	for (size_t i = 0; i < RD_ARRAY_SIZE(callees); i++) {
		bool found = false;

		for (uint32_t c = 0; c < fn->n_calls; c++)
			found = found || (int)fn->calls[c] == rd_fnset_find(&set, callees[i]);
		if (!found)
			fail_msg("%s", callees[i]);
	}
}

/* The compiler moves what follows a call of a cold function to a part of its own. */
TEST(what_a_cold_part_does_its_function_does)
{
	int cold = rd_fnset_find(&set, "newd_rare.cold");

	assert_true(has_errno("newd_rare", 95));
	assert_calls("newd_rare", "newd_leaf ");
	assert_true(select_host_fn(&set, "newd_rare_kernel")->outside);
	assert_true(has_errno("newd_rare_void", 5));
	assert_false(select_host_fn(&set, "newd_rare_void")->outside);
	if (cold >= 0)
		assert_int_equal(set.fns[cold].rule, RD_RULE_COLD);
	for (size_t i = 0; i < set.n_fns; i++)
		for (uint32_t c = 0; c < set.fns[i].n_calls; c++)
			assert_int_not_equal(set.fns[set.fns[i].calls[c]].rule, RD_RULE_COLD);
}

TEST(errnos_in_the_code_become_those_of_the_function)
{
	static const struct {
		const char *name;
		int err;
		bool has;
	} cases[] = {
		{ "ib_check", 22, true },     { "ib_check", 16, false },    { "newd_leaf", 16, true },
		{ "rdma_connect", 22, true }, { "newd_callee", 22, false }, { "newd_create_qp", 22, false },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++)
		if (has_errno(cases[i].name, cases[i].err) != cases[i].has)
			fail_msg("%s: %d", cases[i].name, cases[i].err);
}

TEST(what_is_noted_of_each_function)
{
	enum { OUTSIDE, TAKEN, INDIRECT, KPROBE, MULTI };
	static const struct {
		const char *name;
		uint8_t what;
		bool noted;
	} cases[] = {
		/* A call leaves the modules, and may return an errno. */
		{ "newd_pins", OUTSIDE, true },
		{ "newd_waits", OUTSIDE, true },
		{ "hw_command", OUTSIDE, true },
		{ "newd_prints", OUTSIDE, false },
		{ "newd_sleeps", OUTSIDE, false },
		{ "newd_copies", OUTSIDE, false },
		{ "newd_leaf", OUTSIDE, false },
		{ "newd_create_qp", OUTSIDE, false },
		{ "ib_query_port", OUTSIDE, false },
		{ "newd_calls_back", OUTSIDE, false },
		/* Its address is taken. */
		{ "newd_create_qp", TAKEN, true },
		{ "ib_uverbs_dereg_mr", TAKEN, true },
		{ "newd_rare", TAKEN, false },
		{ "newd_leaf", TAKEN, false },
		/* It calls through pointers. */
		{ "newd_calls_back", INDIRECT, true },
		{ "newd_modify_qp", INDIRECT, false },
		{ "newd_pins", INDIRECT, false },
		/* Kprobes refuse what the module lists. */
		{ "newd_leaf", KPROBE, false },
		{ "newd_leaf", MULTI, true },
		{ "newd_rare", KPROBE, true },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		const struct rd_fn *fn = select_host_fn(&set, cases[i].name);
		const bool noted[] = { fn->outside, fn->taken, fn->indirect, fn->attachable & 1 << RD_BACKEND_KPROBE,
				       fn->attachable & 1 << RD_BACKEND_KPROBE_MULTI };

		if (noted[cases[i].what] != cases[i].noted)
			fail_msg("%s: %d", cases[i].name, cases[i].what);
	}
}

TEST(without_types_of_the_kernel_every_call_of_it_may_return_an_errno)
{
	_cleanup_(rd_fnset_deinit) struct rd_fnset other;

	assert_int_equal(fake_host_run(&host, "mv sys/kernel/btf btf"), 0);
	other = select_host_run(&host, NULL);
	assert_int_equal(fake_host_run(&host, "mv btf sys/kernel/btf"), 0);
	assert_true(select_host_fn(&other, "newd_prints")->outside);
	assert_true(select_host_fn(&other, "newd_pins")->outside);
	assert_false(select_host_fn(&other, "newd_leaf")->outside);
}

TEST(without_its_file_the_calls_of_a_module_are_unknown)
{
	_cleanup_(rd_fnset_deinit) struct rd_fnset other;

	fake_host_text(&host, "/proc/kallsyms", "ffffffffc0a00100 t newd_create_qp\t[new_driver]\n");
	fake_host_text(&host, "/sys/kernel/tracing/available_filter_functions", "newd_create_qp [new_driver]\n");
	assert_int_equal(fake_host_run(&host, "mv lib/modules/9.9/new_driver.ko ."), 0);
	other = select_host_run(&host, NULL);
	assert_int_equal(fake_host_run(&host, "mv new_driver.ko lib/modules/9.9/"), 0);
	assert_false(select_host_fn(&other, "newd_create_qp")->calls_known);
	assert_int_equal(select_host_fn(&other, "newd_create_qp")->n_calls, 0);
	assert_true(select_host_fn(&other, "ib_query_port")->calls_known);
}

TEST(queries_and_rare_destruction_are_selected_alone)
{
	static const struct {
		const char *name, *via;
	} alone[] = {
		{ "ib_uverbs_handler_UVERBS_METHOD_QUERY_PORT", "ioctl handler" },
		{ "ib_uverbs_handler_UVERBS_METHOD_QP_DESTROY", "ioctl handler" },
		{ "ib_uverbs_dereg_mr", "write handler" },
		{ "ib_query_port", "query" },
		{ "ib_query_cache", "query" },
		{ "ib_destroy_qp_user", "destruction" },
		{ "ib_release_qp_parts", "destruction" },
		{ "uverbs_free_qp", "uverbs_obj_idr_type.destroy_object" },
		{ "ucma_destroy_id", "rdma_ucm command 2" },
		{ "newd_query_device", "ib_device_ops.query_device" },
		{ "newd_destroy_qp", "ib_device_ops.destroy_qp" },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(alone); i++) {
		const struct rd_fn *fn = select_host_fn(&set, alone[i].name);

		if (!fn->selected || !select_host_reached(&set, alone[i].name, alone[i].via))
			fail_msg("%s: %s", alone[i].name, rd_rule_name(fn->rule));
		for (uint32_t r = 0; r < fn->n_roots; r++)
			assert_true(set.roots[fn->roots[r]].alone);
	}
	assert_false(set.roots[select_host_fn(&set, "newd_leaf")->roots[0]].alone);
}

TEST(what_programs_call_all_the_time_is_left_out)
{
	static const struct {
		const char *name;
		enum rd_rule rule;
		bool member;
	} cases[] = {
		/* Memory regions come and go. */
		{ "ib_uverbs_handler_UVERBS_METHOD_MR_DESTROY", RD_RULE_CLEANUP, true },
		{ "ib_dereg_mr_user", RD_RULE_CLEANUP, false },
		{ "newd_dereg_mr", RD_RULE_CLEANUP, true },
		{ "uverbs_free_mr", RD_RULE_CLEANUP, true },
		/* Named for an object that is destroyed rarely, but called for regions, too. */
		{ "ib_free_cq_shared", RD_RULE_CLEANUP, false },
		/* Named for no object. */
		{ "ib_drop_all", RD_RULE_CLEANUP, false },
		/* A query is not followed: this one is not a query itself. */
		{ "ib_port_check", RD_RULE_NOT_REACHED, false },
		/* A query that posting leads to. */
		{ "newd_query_qp", RD_RULE_DATA_PATH, false },
		{ "newd_below", RD_RULE_DATA_PATH, false },
		{ "newd_post_send", RD_RULE_DATA_PATH, true },
		{ "ib_uverbs_post_recv", RD_RULE_DATA_PATH, true },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		const struct rd_fn *fn = select_host_fn(&set, cases[i].name);

		if (fn->rule != cases[i].rule || fn->selected || fn->member != cases[i].member)
			fail_msg("%s: %s%s", cases[i].name, rd_rule_name(fn->rule), fn->member ? ", a member" : "");
	}
}

TEST(offsets_come_from_the_types_of_the_core)
{
	const struct rd_offsets *off = &set.off;

	ASSERT_EACH(IS(off->qp_device, 8), IS(off->qp_num, 16), IS(off->qp_port, 20), IS(off->qp_type, 24),
		    IS(off->ibdev_name, 24), IS(off->bundle_in, 40), IS(off->bundle_in_len, 56),
		    IS(off->bundle_ufile, 72), IS(off->ufile_device, 8), IS(off->ufile_idr, 24),
		    IS(off->uverbs_dev_devt, 12), IS(off->uobject_object, 8), IS(off->uobject_usecnt, 16),
		    IS(off->uobject_api, 24), IS(off->api_id, 8), IS(off->cm_state, 40));
}

TEST(the_number_and_the_users_of_each_kind_of_object)
{
	static const struct {
		int number, users;
	} expected[RD_OBJECTS] = {
		[1] = { 24, 8 },  /* protection domain */
		[3] = { 32, 16 }, /* completion queue */
		[4] = { 16, 28 }, /* queue pair */
		[5] = { 40, 24 }, /* shared receive queue */
		[7] = { 48, -1 }, /* memory region: has no count */
	};

	for (size_t i = 0; i < RD_OBJECTS; i++) {
		assert_int_equal(set.off.objects[i].number, expected[i].number ? expected[i].number : -1);
		assert_int_equal(set.off.objects[i].users, expected[i].users ? expected[i].users : -1);
	}
}

TEST(arguments_are_noted_of_the_core_alone)
{
	static const struct {
		const char *name;
		uint8_t notes;
	} cases[] = {
		{ "ib_modify_qp_is_ok", RD_NOTE_QP },
		{ "rdma_connect", RD_NOTE_CM },
		{ "rdma_idle", 0 },  /* no verb reaches it */
		{ "cma_second", 0 }, /* not its first argument */
		{ "ucma_connect", 0 },
		{ "newd_modify_qp", 0 },
		{ "ib_check", 0 },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++)
		if (select_host_fn(&set, cases[i].name)->notes != cases[i].notes)
			fail_msg("%s", cases[i].name);
}

TEST(modules_that_are_loaded_since_are_news)
{
	struct rd_texts names = { 0 };

	assert_int_equal(rd_select_news(host.source, &set, &names, NULL), 0);
	assert_int_equal(names.n, 0);
	/* One more, and a driver that was loaded again; a module that has nothing to do with RDMA. */
	fake_host_text(&host, "/proc/modules",
		       "loop 4096 0 - Live 0x0\n"
		       "other_driver 4096 0 - Live 0x0\n"
		       "new_driver 4096 0 - Live 0x0\n"
		       "ib_uverbs 4096 1 new_driver, Live 0x0\n"
		       "ib_core 4096 3 new_driver,ib_uverbs,other_driver, Live 0x0\n");
	assert_int_equal(fake_host_run(&host, "cp -r sys/module/new_driver sys/module/again && "
					      "mv sys/module/new_driver sys/module/before && "
					      "mv sys/module/again sys/module/new_driver"),
			 0);
	assert_int_equal(rd_select_news(host.source, &set, &names, NULL), 0);
	assert_int_equal(names.n, 2);
	ASSERT_EACH(READS(names.v[0], "other_driver"), READS(names.v[1], "new_driver"));
	rd_texts_deinit(&names);
	/* Unloaded altogether. */
	names = (struct rd_texts){ 0 };
	fake_host_text(&host, "/proc/modules", "loop 4096 0 - Live 0x0\n");
	assert_int_equal(rd_select_news(host.source, &set, &names, NULL), 0);
	assert_int_equal(names.n, 0);
	fake_host_text(&host, "/proc/modules", proc_modules);
}

int main(void)
{
	return unit_run(setup, teardown);
}
