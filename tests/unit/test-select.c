/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The selection on a made-up host: modules that the machine's own compiler makes now, a core with a few doors, and a
 * driver that nobody has ever seen, with a core driver of its vendor below it.
 */
#include "unit.h"

#include "select-host.h"

static const char types_h[] = "#define KEEP __attribute__((noinline, used))\n"
			      "typedef long ssize_t;\n"
			      "struct device { int x; unsigned devt; };\n"
			      "struct file { int f; };\n"
			      "struct inode { int i; };\n"
			      "struct vm_area_struct { int v; };\n"
			      "struct file_operations {\n"
			      "	void *owner;\n"
			      "	ssize_t (*write)(struct file *, const char *, unsigned long, long *);\n"
			      "	long (*unlocked_ioctl)(struct file *, unsigned, unsigned long);\n"
			      "	long (*compat_ioctl)(struct file *, unsigned, unsigned long);\n"
			      "	int (*mmap)(struct file *, struct vm_area_struct *);\n"
			      "	int (*open)(struct inode *, struct file *);\n"
			      "	int (*release)(struct inode *, struct file *);\n"
			      "};\n"
			      "struct ib_device { char pad[24]; char name[64]; };\n"
			      "struct ib_qp { void *pad; struct ib_device *device; unsigned qp_num, port; };\n"
			      "struct ib_device_ops {\n"
			      "	void *owner;\n"
			      "	int (*query_device)(struct ib_device *, int);\n"
			      "	int (*post_send)(struct ib_qp *, int);\n"
			      "	int (*create_qp)(struct ib_qp *, int);\n"
			      "	int (*modify_qp)(struct ib_qp *, int);\n"
			      "	int (*destroy_qp)(struct ib_qp *);\n"
			      "	void *(*reg_user_mr)(struct ib_device *, long);\n"
			      "	int (*fill_res)(struct ib_device *);\n"
			      "};\n"
			      "struct ib_uverbs_device { long refs; struct device dev; };\n"
			      "struct ib_uverbs_file { long refs; struct ib_uverbs_device *device; };\n"
			      "struct uverbs_attr_bundle { long pad[3]; struct ib_uverbs_file *ufile; };\n"
			      "extern int ib_core_check(struct ib_device *, int);\n"
			      "extern int hw_command(struct ib_device *, int);\n"
			      "extern int printk(int);\n";

static const char vmlinux_c[] = "#include \"types.h\"\n"
				"struct file_operations used;\n"
				"struct trace_kprobe { int x; };\n"
				"KEEP int register_ftrace_direct(struct trace_kprobe *p) { return p->x; }\n"
				"KEEP int printk(int x) { return used.owner != 0; }\n";

static const char ib_core_c[] =
	"#include \"types.h\"\n"
	"KEEP int ib_core_check(struct ib_device *d, int x) { return x > 3 ? -22 : d->pad[0]; }\n"
	"KEEP void ib_set_device_ops(struct ib_device *d, const struct ib_device_ops *o) { d->pad[1] = !o; }\n"
	"KEEP unsigned ib_core_flags(struct ib_qp *qp) { return qp->qp_num; }\n";

static const char ib_uverbs_c[] =
	"#include \"types.h\"\n"
	/* clang describes in full only what a function takes a pointer to. */
	"KEEP void uv_device(struct ib_uverbs_device *d) { d->refs++; }\n"
	"KEEP void uv_file(struct ib_uverbs_file *f) { f->refs++; }\n"
	"KEEP static int run(struct file *f, int x) { return ib_core_check(0, f->f + x) + 1; }\n"
	"KEEP static ssize_t uv_write(struct file *f, const char *b, unsigned long n, long *p) { return f->f + n; }\n"
	"KEEP static long uv_ioctl(struct file *f, unsigned c, unsigned long a) { return run(f, 1) - 1; }\n"
	"KEEP static int uv_mmap(struct file *f, struct vm_area_struct *v) { return f->f + v->v; }\n"
	"KEEP static int uv_open(struct inode *i, struct file *f) { return i->i; }\n"
	"KEEP static int uv_release(struct inode *i, struct file *f) { return i->i + 1; }\n"
	"const struct file_operations uverbs_fops = { .write = uv_write, .unlocked_ioctl = uv_ioctl,\n"
	"	.compat_ioctl = uv_ioctl, .mmap = uv_mmap, .open = uv_open, .release = uv_release };\n"
	"KEEP static int ib_uverbs_reg_mr(struct uverbs_attr_bundle *b) { return ib_core_check(0, b->pad[0]); }\n"
	"KEEP static int ib_uverbs_post_send(struct uverbs_attr_bundle *b)\n"
	"	{ return b->ufile->device->dev.devt; }\n"
	"KEEP static int ib_uverbs_handler_UVERBS_METHOD_QP_CREATE(struct uverbs_attr_bundle *b)\n"
	"	{ return ib_core_check(0, b->pad[2]) + 5; }\n"
	"int (*const uverbs_def_write_intf[])(struct uverbs_attr_bundle *) = { ib_uverbs_reg_mr, ib_uverbs_post_send };\n"
	"int (*const methods[])(struct uverbs_attr_bundle *) = { ib_uverbs_handler_UVERBS_METHOD_QP_CREATE };\n";

static const char new_driver_c[] =
	"#include \"types.h\"\n"
	"KEEP static int newd_below_inline(int x) { __asm__ volatile(\"\"); return x + 8; }\n"
	"KEEP __attribute__((patchable_function_entry(0))) static int header_helper(struct file *f)\n"
	"{ return newd_below_inline(f->f); }\n"
	"KEEP static int newd_check_attr(struct ib_qp *qp, int x) { return x > 7 ? -22 : (int)qp->qp_num; }\n"
	"KEEP static int newd_shared(int x) { __asm__ volatile(\"\"); return x - 4; }\n"
	"KEEP static void newd_void(struct ib_qp *qp) { qp->port = hw_command(qp->device, 1); }\n"
	"KEEP static _Bool newd_flag(struct ib_qp *qp) { return qp->port & 1; }\n"
	"KEEP static int newd_destroy_helper(struct ib_qp *qp) { return qp->port - 1; }\n"
	"KEEP static int newd_task(void *arg) { return newd_shared(*(int *)arg); }\n"
	"KEEP static void newd_set_task(int (*fn)(void *)) { __asm__ volatile(\"\" : : \"r\"(fn)); }\n"
	"KEEP static int newd_query_device(struct ib_device *d, int x) { return d->pad[x]; }\n"
	"KEEP static int newd_post_send(struct ib_qp *qp, int x) { return newd_shared(x) + 1; }\n"
	"KEEP static int newd_create_qp(struct ib_qp *qp, int x)\n"
	"{ newd_void(qp); newd_set_task(newd_task); return newd_flag(qp) + newd_check_attr(qp, x) + header_helper(0); }\n"
	"KEEP static int newd_modify_qp(struct ib_qp *qp, int x)\n"
	"{ return newd_shared(x) + newd_check_attr(qp, x) + ib_core_check(qp->device, x); }\n"
	"KEEP static int newd_destroy_qp(struct ib_qp *qp) { return newd_destroy_helper(qp); }\n"
	"KEEP static void *newd_reg_user_mr(struct ib_device *d, long x) { return (void *)(long)ib_core_check(d, x); }\n"
	"const struct ib_device_ops newd_ops = { .query_device = newd_query_device, .post_send = newd_post_send,\n"
	"	.create_qp = newd_create_qp, .modify_qp = newd_modify_qp, .destroy_qp = newd_destroy_qp,\n"
	"	.reg_user_mr = newd_reg_user_mr };\n"
	/* As large, and no such table. */
	"int (*const newd_others[8])(int) = { 0, newd_shared, newd_shared };\n"
	"KEEP static int newd_idle(int x) { __asm__ volatile(\"\"); return x + 9; }\n";

static const char new_hw_c[] = "#include \"types.h\"\n"
			       "KEEP static int hw_mailbox(int x) { __asm__ volatile(\"\"); return x - 1; }\n"
			       "KEEP int hw_command(struct ib_device *d, int x) { return hw_mailbox(x) + d->pad[0]; }\n"
			       "KEEP int hw_netdev_only(int x) { __asm__ volatile(\"\"); return x + 6; }\n";

static const char proc_modules[] = "new_driver 4096 0 - Live 0x0\n"
				   "new_hw 4096 1 new_driver, Live 0x0\n"
				   "tunnel 4096 1 new_driver, Live 0x0\n"
				   "ib_uverbs 4096 1 new_driver, Live 0x0\n"
				   "ib_core 4096 2 new_driver,ib_uverbs, Live 0x0\n"
				   "loop 4096 0 - Live 0x0\n";

static const struct select_module modules[] = {
	{ "ib_core", ib_core_c },
	{ "ib_uverbs", ib_uverbs_c },
	{ "new_driver", new_driver_c },
	{ "new_hw", new_hw_c },
};

static bool build_all(struct fake_host *host)
{
	fake_host_text(host, "/proc/modules", proc_modules);
	fake_host_text(host, "/proc/sys/kernel/osrelease", "9.9\n");
	fake_host_text(host, "/lib/modules/9.9/modules.dep",
		       "ib_core.ko:\nib_uverbs.ko: ib_core.ko\nnew-driver.ko:\nnew_hw.ko:\n");
	fake_host_text(host, "/sys/module/new_hw/drivers/pci:new_hw/x", "");
	return select_host_build(host, types_h, vmlinux_c, modules, RD_ARRAY_SIZE(modules)) &&
	       fake_host_run(host, "mv lib/modules/9.9/new_driver.ko lib/modules/9.9/new-driver.ko") == 0;
}

static void begin(struct fake_host *host)
{
	*host = fake_host_make();
	assert_true(build_all(host));
}

static const struct rd_module *module_of(const struct rd_fnset *set, const char *name)
{
	for (size_t i = 0; i < set->n_modules; i++)
		if (!strcmp(set->modules[i].name, name))
			return &set->modules[i];
	return NULL;
}

static bool noted(const struct rd_errlist *notes, const char *object, const char *words)
{
	for (size_t i = 0; i < notes->n; i++)
		if (strstr(notes->v[i].object, object) && strstr(notes->v[i].message, words))
			return true;
	return false;
}

#define FAKE_HOST_TEST(name) TEST_BEGUN(name, struct fake_host, host, begin, fake_host_deinit)

FAKE_HOST_TEST(a_driver_never_seen_is_selected_by_what_its_verbs_reach)
{
	static const struct {
		const char *name;
		enum rd_rule rule;
	} cases[] = {
		{ "newd_create_qp", RD_RULE_SELECTED },
		{ "newd_modify_qp", RD_RULE_SELECTED },
		{ "newd_reg_user_mr", RD_RULE_SELECTED },
		{ "newd_check_attr", RD_RULE_SELECTED },
		{ "ib_core_check", RD_RULE_SELECTED },
		{ "hw_command", RD_RULE_SELECTED },
		{ "hw_mailbox", RD_RULE_SELECTED },
		{ "newd_void", RD_RULE_RETURN },
		{ "newd_flag", RD_RULE_RETURN },
		{ "newd_query_device", RD_RULE_SELECTED },
		{ "newd_destroy_qp", RD_RULE_SELECTED },
		{ "newd_destroy_helper", RD_RULE_CLEANUP },
		{ "newd_post_send", RD_RULE_DATA_PATH },
		{ "newd_shared", RD_RULE_DATA_PATH },
		{ "newd_task", RD_RULE_DATA_PATH },
		{ "newd_idle", RD_RULE_NOT_REACHED },
		{ "header_helper", RD_RULE_COMMON },
		{ "newd_below_inline", RD_RULE_SELECTED },
		{ "uv_ioctl", RD_RULE_ENTRY },
		{ "uv_mmap", RD_RULE_ENTRY },
		{ "uv_open", RD_RULE_ENTRY },
		{ "ib_uverbs_reg_mr", RD_RULE_ENTRY },
		{ "ib_uverbs_post_send", RD_RULE_DATA_PATH },
		{ "uv_write", RD_RULE_DATA_PATH },
		{ "uv_release", RD_RULE_CLEANUP },
	};
	_cleanup_(rd_fnset_deinit) struct rd_fnset set = select_host_run(host, NULL);

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		const struct rd_fn *fn = select_host_fn(&set, cases[i].name);

		if (fn->rule != cases[i].rule || fn->selected != (fn->rule <= RD_RULE_ENTRY))
			fail_msg("%s: %s", cases[i].name, rd_rule_name(fn->rule));
	}
	/* Of a vendor's core driver, what verbs do not reach is not our business; nor are tunnels. */
	ASSERT_EACH(IS(rd_fnset_find(&set, "hw_netdev_only"), -1), IS(module_of(&set, "new_hw")->rdma, false),
		    IS(module_of(&set, "tunnel") == NULL, true), IS(module_of(&set, "loop") == NULL, true),
		    IS(module_of(&set, "new_driver")->has_ops, true), IS(module_of(&set, "ib_uverbs")->has_ops, false),
		    READS(set.kernel, "9.9"));
}

FAKE_HOST_TEST(each_function_says_from_which_doors_it_is_reached)
{
	_cleanup_(rd_fnset_deinit) struct rd_fnset set = select_host_run(host, NULL);

	assert_true(select_host_reached(&set, "newd_check_attr", "ib_device_ops.create_qp"));
	assert_true(select_host_reached(&set, "newd_check_attr", "ib_device_ops.modify_qp"));
	assert_true(select_host_reached(&set, "hw_mailbox", "ib_device_ops.create_qp"));
	assert_false(select_host_reached(&set, "hw_mailbox", "ib_device_ops.modify_qp"));
	assert_true(select_host_reached(&set, "ib_core_check", "ioctl handler"));
	assert_true(select_host_reached(&set, "ib_core_check", "write handler"));
	assert_true(select_host_reached(&set, "ib_core_check", "ib_device_ops.reg_user_mr"));
	assert_true(select_host_reached(&set, "uv_ioctl", "file_operations.unlocked_ioctl"));
	assert_int_equal(select_host_fn(&set, "newd_idle")->n_roots, 0);
	assert_int_equal(select_host_fn(&set, "uv_ioctl")->entry, RD_ENTRY_UVERBS_IOCTL);
	assert_int_equal(select_host_fn(&set, "uv_mmap")->entry, RD_ENTRY_UVERBS_MMAP);
	assert_int_equal(select_host_fn(&set, "uv_open")->entry, RD_ENTRY_UVERBS_OPEN);
	assert_int_equal(select_host_fn(&set, "ib_uverbs_reg_mr")->entry, RD_ENTRY_WRITE_HANDLER);
	assert_int_equal(select_host_fn(&set, "ib_uverbs_handler_UVERBS_METHOD_QP_CREATE")->entry, RD_ENTRY_NONE);
}

FAKE_HOST_TEST(types_say_what_returns_an_errno_and_where_the_queue_pair_is)
{
	_cleanup_(rd_fnset_deinit) struct rd_fnset set = select_host_run(host, NULL);
	const struct rd_fn *fn = select_host_fn(&set, "newd_modify_qp");

	ASSERT_EACH(IS(fn->ret, RD_RET_INT), IS(fn->args_ok, true), IS(fn->qp_arg, 0), IS(fn->dev_arg, -1),
		    IS(select_host_fn(&set, "newd_reg_user_mr")->ret, RD_RET_PTR),
		    IS(select_host_fn(&set, "newd_reg_user_mr")->dev_arg, 0),
		    IS(select_host_fn(&set, "uv_ioctl")->ret, RD_RET_LONG),
		    IS(select_host_fn(&set, "newd_void")->ret, RD_RET_VOID),
		    IS(select_host_fn(&set, "newd_flag")->ret, RD_RET_BOOL),
		    IS(select_host_fn(&set, "ib_core_flags")->ret, RD_RET_UNSIGNED), IS(set.off.qp_device, 8),
		    IS(set.off.qp_num, 16), IS(set.off.qp_port, 20), IS(set.off.ibdev_name, 24),
		    IS(set.off.bundle_ufile, 24), IS(set.off.ufile_device, 8), IS(set.off.uverbs_dev_devt, 12));
}

#define KPROBES (1 << RD_BACKEND_KPROBE_MULTI | 1 << RD_BACKEND_KPROBE)
#define FEXITS (1 << RD_BACKEND_FEXIT | 1 << RD_BACKEND_FEXIT_MULTI)

FAKE_HOST_TEST(what_can_be_attached_is_known_without_trying)
{
	_cleanup_(rd_fnset_deinit) struct rd_fnset set = select_host_run(host, NULL);
	const struct rd_fn *fn = select_host_fn(&set, "newd_create_qp");

	ASSERT_EACH(IS(fn->in_filter, true), IS(fn->attachable, FEXITS | KPROBES),
		    IS(set.backends, 1 << RD_BACKEND_FEXIT | 1 << RD_BACKEND_KPROBE), IS(fn->btf_id > 0, true));
	assert_true(fn->addr > 0xffffffffca00000 && fn->addr < 0xffffffffcb00000);
	for (size_t i = 1; i < set.n_fns; i++) {
		assert_true(set.fns[i - 1].module <= set.fns[i].module);
		if (set.fns[i - 1].module == set.fns[i].module)
			assert_true(set.fns[i - 1].addr <= set.fns[i].addr);
	}
}

FAKE_HOST_TEST(a_driver_without_type_information_is_traced_by_probes)
{
	_cleanup_(rd_errlist_deinit) struct rd_errlist notes = { 0 };
	_cleanup_(rd_fnset_deinit) struct rd_fnset set;
	const struct rd_fn *fn;

	fake_host_remove(host, "/sys/kernel/btf/new_driver");
	set = select_host_run(host, &notes);
	fn = select_host_fn(&set, "newd_check_attr");
	ASSERT_EACH(IS(fn->rule, RD_RULE_SELECTED), IS(fn->ret, RD_RET_UNKNOWN), IS(fn->attachable, KPROBES));
	assert_true(select_host_reached(&set, "hw_mailbox", "ib_device_ops.create_qp"));
	assert_false(module_of(&set, "new_driver")->has_btf);
	assert_non_null(module_of(&set, "new_driver")->note);
	assert_true(noted(&notes, "new_driver", "BTF"));
}

static void kernel_lists(struct fake_host *host)
{
	fake_host_text(host, "/proc/kallsyms",
		       "ffffffffc0a00100 t newd_create_qp\t[new_driver]\n"
		       "ffffffffc0a00200 t newd_check_attr\t[new_driver]\n"
		       "ffffffffc0a00300 t newd_void\t[new_driver]\n"
		       "ffffffffc0a00400 t newd_post_send\t[new_driver]\n"
		       "ffffffffc0a00500 t newd_idle\t[new_driver]\n"
		       "ffffffffc0a00600 t newd_modify_qp.part.0\t[new_driver]\n"
		       "ffffffffc0a00700 t newd_twice_create\t[new_driver]\n"
		       "ffffffffc0a00800 t newd_twice_create\t[new_driver]\n"
		       "ffffffffc0a00690 t __pfx_newd_idle\t[new_driver]\n");
	fake_host_text(host, "/sys/kernel/tracing/available_filter_functions",
		       "newd_create_qp [new_driver]\nnewd_check_attr [new_driver]\nnewd_modify_qp.part.0 [new_driver]\n"
		       "newd_void [new_driver]\nnewd_post_send [new_driver]\nnewd_idle [new_driver]\n");
}

FAKE_HOST_TEST(a_file_of_another_build_is_not_believed)
{
	_cleanup_(rd_errlist_deinit) struct rd_errlist notes = { 0 };
	_cleanup_(rd_fnset_deinit) struct rd_fnset set;
	const struct rd_fn *fn;

	kernel_lists(host);
	assert_int_equal(fake_host_run(host, "cp sys/module/ib_core/notes/.note.gnu.build-id "
					     "sys/module/new_driver/notes/.note.gnu.build-id"),
			 0);
	set = select_host_run(host, &notes);
	assert_false(module_of(&set, "new_driver")->file_matches);
	assert_null(module_of(&set, "new_driver")->path);
	assert_true(noted(&notes, "new_driver", "different build"));
	fn = select_host_fn(&set, "newd_create_qp");
	ASSERT_EACH(IS(fn->rule, RD_RULE_SELECTED), IS(fn->attachable, FEXITS | KPROBES), IS(fn->n_roots, 0),
		    IS(select_host_fn(&set, "newd_void")->rule, RD_RULE_NOT_REACHED),
		    IS(select_host_fn(&set, "newd_post_send")->rule, RD_RULE_DATA_PATH),
		    IS(select_host_fn(&set, "newd_idle")->rule, RD_RULE_NOT_REACHED));
	/* A clone: BTF knows the bare name only, and a trampoline cannot be put on it. */
	fn = select_host_fn(&set, "newd_modify_qp.part.0");
	ASSERT_EACH(IS(fn->suffixed, true), IS(fn->ret, RD_RET_INT), IS(fn->btf_id, 0), IS(fn->attachable, KPROBES),
		    IS(select_host_fn(&set, "newd_twice_create")->ambiguous, true),
		    IS(rd_fnset_find(&set, "__pfx_newd_idle"), -1));
}

FAKE_HOST_TEST(a_packed_file_is_unpacked_and_a_damaged_one_is_passed_over)
{
	_cleanup_(rd_errlist_deinit) struct rd_errlist notes = { 0 };
	_cleanup_(rd_fnset_deinit) struct rd_fnset set;

	kernel_lists(host);
	if (fake_host_run(host,
			  "cd lib/modules/9.9 && xz new-driver.ko 2>/dev/null && "
			  "head -c 500 new-driver.ko.xz > broken.xz && mkdir -p updates && "
			  "mv broken.xz updates/new_driver.ko.xz && sed -i 's/^new-driver.ko:/updates\\/new_driver.ko.xz:"
			  "\\nnew-driver.ko.xz:/' modules.dep") != 0)
		SKIP("xz is not here");
	set = select_host_run(host, &notes);
	assert_string_equal(module_of(&set, "new_driver")->path, "/lib/modules/9.9/new-driver.ko.xz");
	ASSERT_EACH(IS(select_host_fn(&set, "hw_mailbox")->rule, RD_RULE_SELECTED), IS(notes.n >= 1, true));
}

FAKE_HOST_TEST(nothing_but_names_still_gives_a_selection)
{
	_cleanup_(rd_errlist_deinit) struct rd_errlist notes = { 0 };
	_cleanup_(rd_fnset_deinit) struct rd_fnset set;
	const struct rd_fn *fn;

	kernel_lists(host);
	fake_host_text(host, "/proc/kallsyms",
		       "0000000000000000 t ib_uverbs_ioctl\t[ib_uverbs]\n"
		       "0000000000000000 T ib_core_check\t[ib_core]\n"
		       "0000000000000000 t newd_create_qp\t[new_driver]\n"
		       "0000000000000000 t newd_destroy_qp\t[new_driver]\n"
		       "0000000000000000 t newd_idle\t[new_driver]\n");
	assert_int_equal(fake_host_run(host, "rm -r lib sys/kernel"), 0);
	set = select_host_run(host, &notes);
	fn = select_host_fn(&set, "newd_create_qp");
	ASSERT_EACH(IS(fn->rule, RD_RULE_SELECTED), IS(fn->ret, RD_RET_UNKNOWN), IS(fn->attachable, 0),
		    IS(select_host_fn(&set, "newd_destroy_qp")->rule, RD_RULE_CLEANUP),
		    IS(select_host_fn(&set, "newd_idle")->rule, RD_RULE_NOT_REACHED),
		    IS(select_host_fn(&set, "ib_uverbs_ioctl")->entry, RD_ENTRY_UVERBS_IOCTL), IS(set.off.qp_num, -1),
		    IS(set.off.uverbs_dev_devt, -1), IS(noted(&notes, "available_filter_functions", ""), true),
		    IS(noted(&notes, "modules.dep", ""), true));
}

FAKE_HOST_TEST(hidden_addresses_leave_unique_names)
{
	_cleanup_(rd_fnset_deinit) struct rd_fnset set;

	for (size_t i = 0; i < RD_ARRAY_SIZE(modules); i++) {
		char path[128];

		snprintf(path, sizeof(path), "/sys/module/%s/sections/.text", modules[i].name);
		fake_host_text(host, path, "0x0000000000000000\n");
	}
	set = select_host_run(host, NULL);
	assert_true(select_host_fn(&set, "newd_create_qp")->addr == 0);
	assert_int_equal(select_host_fn(&set, "newd_create_qp")->attachable, FEXITS | KPROBES);
}

FAKE_HOST_TEST(without_rdma_modules_one_clear_message_is_given)
{
	struct rd_fnset set = { 0 };
	struct rd_err err = { 0 };

	fake_host_text(host, "/proc/modules", "loop 4096 0 - Live 0x0\n");
	assert_int_equal(fake_host_run(host, "rm -r sys/module/ib_core"), 0);
	assert_int_equal(rd_select(host->source, &set, NULL, &err), -ENODEV);
	ASSERT_EACH(HAS(err.message, "no RDMA module"), HAS(err.hint, "modprobe"));
	fake_host_text(host, "/sys/module/ib_core/parameters/x", "");
	assert_int_equal(rd_select(host->source, &set, NULL, &err), -ENODEV);
	assert_non_null(strstr(err.message, "built into"));
	fake_host_remove(host, "/proc/modules");
	assert_int_equal(rd_select(host->source, &set, NULL, &err), -ENOENT);
	assert_null(set.fns);
}
