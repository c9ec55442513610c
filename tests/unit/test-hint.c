/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "analyse/trace/trace.h"
#include "source/shared/source.h"

static struct rd_module modules[] = { { .name = "ib_core" }, { .name = "ib_uverbs" }, { .name = "some_driver" } };

static const char *find_in(const struct rd_hints *hints, const char *verb, int err, const char *origin, uint32_t module)
{
	struct rd_fn fn = { .name = (char *)origin, .module = module };
	struct rd_fnset set = { .modules = modules, .n_modules = 3, .fns = &fn, .n_fns = 1 };
	struct rd_event ev = { .verb = (char *)verb, .err = -err, .origin = origin ? 0 : -1 };

	return rd_hint_find(hints, &ev, &set);
}

static void parse(const char *text, struct rd_hints *ret, struct rd_errlist *notes)
{
	assert_int_equal(rd_hints_parse("hints", text, strlen(text), ret, notes, NULL), 0);
}

TEST(the_first_line_that_fits_wins)
{
	_cleanup_(rd_hints_deinit) struct rd_hints hints = { 0 };

	parse("# comment\n"
	      "\n"
	      "ibv_reg_mr ENOMEM *umem* memlock\n"
	      "ibv_reg_mr\tENOMEM\t*\t  other  \r\n"
	      "* E[AI]* ib_core:find find in the core\n"
	      "- * * unnamed",
	      &hints, NULL);
	assert_int_equal(hints.n, 4);
	assert_string_equal(find_in(&hints, "ibv_reg_mr", ENOMEM, "ib_umem_get", 1), "memlock");
	assert_string_equal(find_in(&hints, "ibv_reg_mr", ENOMEM, "ib_umem_get.isra.0", 1), "memlock");
	assert_string_equal(find_in(&hints, "ibv_reg_mr", ENOMEM, "alloc", 2), "other");
	assert_string_equal(find_in(&hints, "ibv_x", EIO, "find", 0), "find in the core");
	assert_null(find_in(&hints, "ibv_x", EIO, "find", 1));
	assert_string_equal(find_in(&hints, NULL, EIO, NULL, 0), "unnamed");
	assert_null(find_in(&hints, "ibv_x", EBUSY, NULL, 0));
}

TEST(a_line_that_is_no_good_is_noted_and_left_out)
{
	_cleanup_(rd_errlist_deinit) struct rd_errlist notes = { 0 };
	_cleanup_(rd_hints_deinit) struct rd_hints hints = { 0 };

	parse("too few words\nfour words but   \n* * * good\nx\n", &hints, &notes);
	ASSERT_EACH(IS(hints.n, 1), IS(notes.n, 3));
	ASSERT_EACH(HAS(notes.v[0].message, "line 1"), HAS(notes.v[2].message, "line 4"));
}

TEST(a_table_without_end_is_refused)
{
	_cleanup_(rd_hints_deinit) struct rd_hints hints = { 0 };
	_cleanup_free_ char *many = malloc(11000 * 8 + 1);
	struct rd_err err = { 0 };

	assert_int_equal(rd_hints_parse("hints", "", 2000000, &hints, NULL, &err), -EFBIG);
	assert_non_null(many);
	for (size_t i = 0; i < 11000; i++)
		memcpy(many + i * 8, "* * * x\n", 9);
	assert_int_equal(rd_hints_parse("hints", many, 11000 * 8, &hints, NULL, &err), -EFBIG);
	assert_int_equal(hints.n, 10000);
}

/* The table that is installed. */
static void load(struct rd_hints *ret)
{
	_cleanup_(rd_errlist_deinit) struct rd_errlist notes = { 0 };
	_cleanup_(rd_source_closep) struct rd_source *src = NULL;
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };

	assert_int_equal(rd_source_live_open("data", &src, NULL), 0);
	assert_int_equal(rd_read_file(src, "/hints", &bytes, NULL), 0);
	assert_int_equal(rd_hints_parse("data/hints", (const char *)bytes.data, bytes.size, ret, &notes, NULL), 0);
	assert_int_equal(notes.n, 0);
}

TEST(the_causes_of_enomem_are_told_apart_by_origin)
{
	static const struct {
		const char *verb, *origin, *says;
	} causes[] = {
		{ "ibv_reg_mr", "ib_umem_get", "Max locked memory" },
		{ "ibv_reg_mr", "__ib_umem_get_va", "Max locked memory" },
		{ "ibv_create_cq", "ib_umem_get", "Max locked memory" },
		{ "ibv_reg_mr", "drv_create_mkey", "memory regions" },
		{ "ibv_open_device", "drv_alloc_uar", "UAR" },
		{ "ibv_create_qp", "drv_create_qp", "queue pair" },
		{ "ibv_create_cq", "drv_create_cq", "completion queue" },
		{ "ibv_reg_mr", "drv_reg_user_mr", "limits exceeded" },
		{ "ibv_reg_mr", "ib_umem_odp_get", "on-demand" },
		{ "ibv_open_device", "drv_something", "rdma resource show ctx" },
		{ "ibv_alloc_pd", "drv_something", "free memory" },
	};
	_cleanup_(rd_hints_deinit) struct rd_hints hints = { 0 };

	load(&hints);
	for (size_t i = 0; i < RD_ARRAY_SIZE(causes); i++) {
		const char *hint = find_in(&hints, causes[i].verb, ENOMEM, causes[i].origin, 2);

		assert_non_null(hint);
		if (!strstr(hint, causes[i].says))
			fail_msg("%s from %s: %s", causes[i].verb, causes[i].origin, hint);
	}
}

TEST(the_installed_table_knows_the_settled_cases)
{
	static const struct {
		const char *verb;
		int err;
		const char *origin;
		uint32_t module;
		const char *says;
	} cases[] = {
		{ "ibv_reg_mr", EFAULT, "ib_umem_get", 1, "nvidia_peermem" },
		{ "ibv_modify_qp", ETIMEDOUT, "rdma_addr_find_l2_eth_by_grh", 0, "ip neigh" },
		{ "ibv_modify_qp", ENODEV, "rdma_resolve_ip", 0, "network namespace" },
		{ "ibv_modify_qp", EINVAL, "rdma_check_ah_attr", 0, "ibv_modify_qp(3)" },
		{ "ibv_modify_qp", EINVAL, "drv_modify_qp", 2, "messages of the driver" },
		{ "ibv_reg_dmabuf_mr", EOPNOTSUPP, "x", 2, "ibv_devinfo -v" },
		{ "ibv_create_qp", EINVAL, "drv_create_qp", 2, "max_inline_data" },
		{ "rdma_bind_addr", EADDRINUSE, "cma_get_port", 0, "cm_id" },
		{ "ibv_alloc_pd", EIO, "ib_uverbs_cmd_verbs", 1, "removed" },
	};
	_cleanup_(rd_hints_deinit) struct rd_hints hints = { 0 };

	load(&hints);
	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		const char *hint = find_in(&hints, cases[i].verb, cases[i].err, cases[i].origin, cases[i].module);

		assert_non_null(hint);
		if (!strstr(hint, cases[i].says))
			fail_msg("%s from %s: %s", cases[i].verb, cases[i].origin, hint);
	}
}
