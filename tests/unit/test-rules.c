/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "trace/select/sel.h"

TEST(names_fall_under_the_rule_that_people_expect)
{
	static const struct {
		const char *name;
		enum rd_rule rule;
	} cases[] = {
		{ "new_create_qp", RD_RULE_SELECTED },
		{ "ib_umem_get", RD_RULE_SELECTED },
		{ "new_qp_chk_attr", RD_RULE_SELECTED },
		{ "ib_uverbs_handler_UVERBS_METHOD_QP_CREATE", RD_RULE_SELECTED },
		{ "ib_uverbs_handler_UVERBS_METHOD_QP_DESTROY", RD_RULE_CLEANUP },
		{ "ib_uverbs_handler_UVERBS_METHOD_INFO_HANDLES", RD_RULE_QUERY },
		{ "create_qp.part.0", RD_RULE_SELECTED },
		{ "new_create_qp.cold", RD_RULE_COLD },
		{ "new_create_qp.isra.0.cold", RD_RULE_COLD },
		{ "new_cold_start", RD_RULE_SELECTED },
		{ "new_post_send", RD_RULE_DATA_PATH },
		{ "new_arm_cq", RD_RULE_DATA_PATH },
		{ "new_postpone_sending", RD_RULE_SELECTED },
		{ "new_query_device", RD_RULE_QUERY },
		{ "new_destroy_cq", RD_RULE_CLEANUP },
		{ "new_dereg_mr.constprop.0", RD_RULE_CLEANUP },
		/* What comes first decides. */
		{ "find_free_slot_and_create_qp", RD_RULE_SELECTED },
		{ "free_and_find", RD_RULE_CLEANUP },
		{ "new_kref_init", RD_RULE_REFCOUNT },
		{ "new_qp_put", RD_RULE_REFCOUNT },
		/* A driver's prefix is no word of ours. */
		{ "destroyer_create_qp", RD_RULE_SELECTED },
		{ "querious_modify_qp", RD_RULE_SELECTED },
		{ "__traceiter_new_event", RD_RULE_DIAGNOSTIC },
		{ "__SCT__tp_func_new_event", RD_RULE_DIAGNOSTIC },
		{ "", RD_RULE_SELECTED },
		{ "___", RD_RULE_SELECTED },
		{ ".cold", RD_RULE_COLD },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++)
		if (rd_rules_name(cases[i].name) != cases[i].rule)
			fail_msg("%s: %s", cases[i].name, rd_rule_name(rd_rules_name(cases[i].name)));
}

TEST(device_operations_that_change_something_are_roots)
{
	static const char *const roots[] = { "reg_user_mr",  "create_qp",  "modify_qp",	    "alloc_ucontext", "mmap",
					     "attach_mcast", "iw_connect", "rereg_user_mr", "resize_cq" };
	static const char *const others[] = { "query_device",	   "post_send",	  "post_recv",	   "post_srq_recv",
					      "poll_cq",	   "destroy_qp",  "req_notify_cq", "get_link_layer",
					      "fill_res_mr_entry", "process_mad", "dealloc_pd",	   "detach_mcast" };

	for (size_t i = 0; i < RD_ARRAY_SIZE(roots); i++)
		assert_int_equal(rd_rules_member(roots[i]), RD_RULE_SELECTED);
	for (size_t i = 0; i < RD_ARRAY_SIZE(others); i++)
		assert_int_not_equal(rd_rules_member(others[i]), RD_RULE_SELECTED);
	assert_int_equal(rd_rules_member("post_send"), RD_RULE_DATA_PATH);
}

TEST(every_rule_has_a_name_and_a_reason)
{
	for (int i = 0; i < RD_RULE_COUNT; i++) {
		assert_true(strlen(rd_rule_name(i)) > 3);
		assert_true(strlen(rd_rule_reason(i)) > 10);
	}
	assert_string_equal(rd_rule_name(RD_RULE_COUNT), "unknown");
}

TEST(backends_are_named_as_on_the_command_line)
{
	enum rd_backend backend;

	for (int i = RD_BACKEND_FEXIT; i < RD_BACKEND_COUNT; i++) {
		assert_int_equal(rd_backend_parse(rd_backend_name(i), &backend), 0);
		assert_int_equal(backend, i);
	}
	assert_int_not_equal(rd_backend_parse("none", &backend), 0);
	assert_int_not_equal(rd_backend_parse("", &backend), 0);
	assert_string_equal(rd_backend_name(RD_BACKEND_KPROBE_MULTI), "kprobe-multi");
}
