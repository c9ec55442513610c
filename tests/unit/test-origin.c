/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "analyse/trace/trace.h"

enum { CORE, DRIVER, VENDOR, N_MODULES };

static struct rd_module modules[N_MODULES] = {
	[CORE] = { .name = "ib_core", .rdma = true, .file_matches = true },
	[DRIVER] = { .name = "newd", .rdma = true, .has_ops = true, .file_matches = true },
	[VENDOR] = { .name = "new_hw", .file_matches = true },
};

enum { ORIGIN, CALLEE, DEEPER, LAST, MEMBER, N_FNS };

/* A set of five functions, none of which contains an errno: ORIGIN, which is traced, calls CALLEE, which calls DEEPER, which calls
 * LAST. Nothing calls MEMBER. */
struct made_up {
	struct rd_fn fns[N_FNS];
	uint32_t calls[3];
	struct rd_fnset set;
	struct rd_event event;
	bool add[N_FNS];
};

static void make(struct made_up *m, int err)
{
	*m = (struct made_up){ .calls = { CALLEE, DEEPER, LAST } };
	for (size_t i = 0; i < N_FNS; i++)
		m->fns[i] = (struct rd_fn){ .name = "some_function",
					    .module = DRIVER,
					    .rule = RD_RULE_NOT_REACHED,
					    .attachable = 1 << RD_BACKEND_KPROBE,
					    .calls_known = true };
	for (size_t i = 0; i < 3; i++) {
		m->fns[i].calls = &m->calls[i];
		m->fns[i].n_calls = 1;
	}
	m->fns[ORIGIN].rule = RD_RULE_SELECTED;
	m->fns[ORIGIN].backend = RD_BACKEND_FEXIT;
	m->set = (struct rd_fnset){ .modules = modules, .n_modules = N_MODULES, .fns = m->fns, .n_fns = N_FNS };
	m->event = (struct rd_event){ .err = -err, .origin = ORIGIN, .method = (char *)"INVOKE_WRITE:CREATE_QP" };
}

static void has_errno(struct rd_fn *fn, int err)
{
	fn->errnos[err / 64] |= 1ull << err % 64;
}

static void judge(struct made_up *m)
{
	free(m->event.below);
	m->event.below = NULL;
	rd_chain_settle(&m->event, &m->set);
	rd_origin_judge(&m->event, &m->set);
}

/* The origin returned what CALLEE did, or may have. */
static void assert_below(struct made_up *m)
{
	judge(m);
	ASSERT_EACH(IS(m->event.origin_exact, false), IS(m->event.n_below, 1));
	assert_int_equal(m->event.below[0], CALLEE);
}

static void assert_exact(struct made_up *m)
{
	judge(m);
	ASSERT_EACH(IS(m->event.origin_exact, true), IS(m->event.n_below, 0));
}

static void end(struct made_up *m)
{
	RD_FREE(m->event.below, m->event.chain);
}

/* The chain: `below` failed with ENOENT, then ORIGIN with the errno of the event. Returns what is left of it. */
static size_t links_after(struct made_up *m, int below)
{
	free(m->event.chain);
	m->event.chain = calloc(2, sizeof(*m->event.chain));
	assert_non_null(m->event.chain);
	m->event.chain[0] = (struct rd_link){ .fn = below, .err = -ENOENT };
	m->event.chain[1] = (struct rd_link){ .fn = ORIGIN, .err = m->event.err };
	m->event.n_chain = 2;
	judge(m);
	return m->event.n_chain;
}

/* Two functions failed with the errno of the event, the second in a branch of its own or not, then ORIGIN. */
static void fail_twice(struct made_up *m, int first, bool branch, int second)
{
	free(m->event.chain);
	m->event.chain = calloc(3, sizeof(*m->event.chain));
	assert_non_null(m->event.chain);
	m->event.chain[0] = (struct rd_link){ .fn = first, .err = m->event.err };
	m->event.chain[1] = (struct rd_link){ .fn = second, .err = m->event.err, .branch = branch };
	m->event.chain[2] = (struct rd_link){ .fn = ORIGIN, .err = m->event.err };
	m->event.n_chain = 3;
	judge(m);
}

static void begin(struct made_up *m)
{
	make(m, EINVAL);
}

#define MADE_UP_TEST(name) TEST_BEGUN(name, struct made_up, m, begin, end)

/* ORIGIN calls CALLEE, which calls DEEPER, and LAST. */
MADE_UP_TEST(of_two_failures_the_first_that_was_returned_is_the_origin)
{
	uint32_t calls[] = { CALLEE, LAST };

	m->fns[ORIGIN].calls = calls;
	m->fns[ORIGIN].n_calls = 2;
	m->fns[DEEPER].n_calls = 0;
	m->fns[LAST].backend = RD_BACKEND_FEXIT;
	for (int branch = 0; branch < 2; branch++) {
		fail_twice(m, DEEPER, branch, LAST);
		ASSERT_EACH(IS(m->event.origin, DEEPER), IS(m->event.rival.known, RD_OK), IS(m->event.rival.v, LAST),
			    IS(m->event.origin_exact, false), IS(m->event.n_chain, 2));

		/* CALLEE is traced and returned no error: it kept that of DEEPER. */
		m->fns[CALLEE].backend = RD_BACKEND_FEXIT;
		fail_twice(m, DEEPER, branch, LAST);
		assert_int_equal(m->event.origin, LAST);
		assert_int_not_equal(m->event.rival.known, RD_OK);
		assert_true(m->event.origin_exact);
		m->fns[CALLEE].backend = RD_BACKEND_NONE;
	}
	/* CALLEE called DEEPER. */
	fail_twice(m, DEEPER, false, CALLEE);
	assert_int_equal(m->event.origin, DEEPER);
	assert_int_not_equal(m->event.rival.known, RD_OK);
	assert_int_equal(m->event.n_chain, 3);
}

MADE_UP_TEST(a_failure_of_another_call_is_left_out)
{
	make(m, EADDRINUSE);
	ASSERT_EACH(IS(links_after(m, CALLEE), 2), IS(m->event.origin, CALLEE), IS(links_after(m, LAST), 2),
		    IS(links_after(m, MEMBER), 1), IS(m->event.origin, ORIGIN), IS(links_after(m, -1), 2));
	m->event.err = -ENOENT;
	ASSERT_EACH(IS(links_after(m, CALLEE), 2), IS(links_after(m, MEMBER), 1));
	m->event.err = -EADDRINUSE;
	m->fns[DEEPER].indirect = true;
	assert_int_equal(links_after(m, MEMBER), 2);
	m->fns[DEEPER].indirect = false;
	m->fns[DEEPER].calls_known = false;
	assert_int_equal(links_after(m, MEMBER), 2);
	m->fns[CALLEE].backend = RD_BACKEND_FEXIT; /* it may have kept an error for later */
	assert_int_equal(links_after(m, MEMBER), 2);
}

/* The handler of INVOKE_WRITE calls the function of a command through a table. */
MADE_UP_TEST(the_function_of_a_carried_command)
{
	make(m, ENOENT);
	m->fns[ORIGIN].name = (char *)"ib_uverbs_handler_UVERBS_METHOD_INVOKE_WRITE";
	m->fns[MEMBER].name = (char *)"ib_uverbs_req_notify_cq";
	m->fns[MEMBER].rule = RD_RULE_DATA_PATH;
	m->event.method = (char *)"INVOKE_WRITE:REQ_NOTIFY_CQ";
	assert_exact(m);
	has_errno(&m->fns[MEMBER], ENOENT);
	judge(m);
	ASSERT_EACH(IS(m->event.origin_exact, false), IS(m->event.n_below, 1));
	assert_int_equal(m->event.below[0], MEMBER);
	m->event.method = (char *)"INVOKE_WRITE:POLL_CQ";
	assert_exact(m);
	m->event.method = (char *)"INVOKE_WRITE:REQ_NOTIFY_CQ";
	m->fns[MEMBER].backend = RD_BACKEND_FEXIT;
	assert_exact(m);
}

MADE_UP_TEST(an_origin_whose_callees_do_not_know_the_errno_is_exact)
{
	has_errno(&m->fns[ORIGIN], EINVAL);
	has_errno(&m->fns[CALLEE], ENOMEM);
	has_errno(&m->fns[MEMBER], EINVAL);
	assert_exact(m);
	/* A function that calls nothing. */
	m->event.origin = LAST;
	assert_exact(m);
}

TEST(a_callee_that_contains_the_errno_may_be_the_origin)
{
	static const int errnos[] = { 1, EINVAL, 63, 64, ENOTSUP, 127, 128, 191 };
	struct made_up m;

	for (size_t i = 0; i < RD_ARRAY_SIZE(errnos); i++) {
		make(&m, errnos[i]);
		assert_exact(&m);
		has_errno(&m.fns[CALLEE], errnos[i]);
		assert_below(&m);
		has_errno(&m.fns[ORIGIN], errnos[i]);
		m.event.err = -(errnos[i] == 191 ? 190 : errnos[i] + 1);
		assert_exact(&m);
		end(&m);
	}
	/* The kernel's own errnos are not noted: any function may return them. */
	make(&m, 512);
	assert_below(&m);
	end(&m);
}

MADE_UP_TEST(a_callee_may_pass_on_what_functions_below_it_return)
{
	has_errno(&m->fns[LAST], EINVAL);
	assert_below(m);
	/* A function in between that is traced would have been the origin. */
	m->fns[DEEPER].backend = RD_BACKEND_KPROBE;
	assert_exact(m);
	m->fns[DEEPER].backend = RD_BACKEND_NONE;
	m->fns[CALLEE].backend = RD_BACKEND_KPROBE;
	assert_exact(m);
}

MADE_UP_TEST(functions_that_call_each_other_are_looked_at_once)
{
	uint32_t back[] = { CALLEE, DEEPER, LAST };

	m->fns[LAST].calls = back;
	m->fns[LAST].n_calls = 3;
	assert_exact(m);
	has_errno(&m->fns[DEEPER], EINVAL);
	assert_below(m);
}

MADE_UP_TEST(a_kernel_function_may_return_any_errno)
{
	m->fns[DEEPER].outside = true;
	assert_below(m);
}

/* What a driver calls through pointers is traced or left out on its own account. */
MADE_UP_TEST(a_callback_of_the_core_may_return_any_errno_but_not_one_of_a_driver)
{
	m->fns[DEEPER].indirect = true;
	assert_exact(m);
	m->fns[DEEPER].module = CORE;
	assert_below(m);
	m->fns[DEEPER].module = VENDOR;
	assert_below(m);
}

TEST(functions_that_return_no_errno_of_a_call_are_never_the_origin)
{
	static const struct {
		enum rd_rule rule;
		bool may;
	} rules[] = {
		{ RD_RULE_NOT_REACHED, true }, { RD_RULE_QUERY, true },	      { RD_RULE_COMMON, true },
		{ RD_RULE_DATA_PATH, true },   { RD_RULE_CLEANUP, false },    { RD_RULE_RETURN, false },
		{ RD_RULE_REFCOUNT, false },   { RD_RULE_DIAGNOSTIC, false },
	};
	struct made_up m;

	for (size_t i = 0; i < RD_ARRAY_SIZE(rules); i++) {
		make(&m, EINVAL);
		has_errno(&m.fns[CALLEE], EINVAL);
		m.fns[CALLEE].rule = rules[i].rule;
		judge(&m);
		ASSERT_EACH(IS(m.event.n_below, rules[i].may), IS(m.event.origin_exact, !rules[i].may));
		end(&m);
		/* Nor do they pass on what functions below them return. */
		make(&m, EINVAL);
		has_errno(&m.fns[LAST], EINVAL);
		m.fns[DEEPER].rule = rules[i].rule;
		judge(&m);
		assert_int_equal(m.event.n_below, rules[i].may);
		end(&m);
	}
}

MADE_UP_TEST(a_function_that_cleans_up_is_the_origin_only_in_calls_that_destroy)
{
	static const struct {
		const char *method;
		bool destroys;
	} methods[] = {
		{ "INVOKE_WRITE:CREATE_QP", false },
		{ "WRITE:REG_MR", false },
		{ "QP_CREATE", false },
		{ "CONNECT", false },
		{ "0x1003", false },
		{ "QP_DESTROY", true },
		{ "INVOKE_WRITE:DEREG_MR", true },
		{ "WRITE:DEALLOC_PD", true },
		{ "INVOKE_WRITE:DETACH_MCAST", true },
		{ "INVOKE_WRITE:CLOSE_XRCD", true },
		{ "DM_FREE", true },
		{ "LEAVE_MCAST", true },
		{ "INVOKE_WRITE:EX_DESTROY_WQ", true },
		{ "DESTROY_ID", true },
	};

	make(m, EBUSY);
	has_errno(&m->fns[CALLEE], EBUSY);
	m->fns[CALLEE].rule = RD_RULE_CLEANUP;
	for (size_t i = 0; i < RD_ARRAY_SIZE(methods); i++) {
		m->event.method = (char *)methods[i].method;
		judge(m);
		if (m->event.origin_exact == methods[i].destroys)
			fail_msg("%s", methods[i].method);
	}
	/* A call whose name is unknown. */
	m->event.method = NULL;
	assert_exact(m);
}

MADE_UP_TEST(a_task_of_the_data_path_returns_its_errors_to_no_caller)
{
	has_errno(&m->fns[CALLEE], EINVAL);
	m->fns[CALLEE].rule = RD_RULE_DATA_PATH;
	assert_below(m);
	m->fns[CALLEE].member = true;
	assert_exact(m);
	/* Other members are called by verbs. */
	m->fns[CALLEE].rule = RD_RULE_QUERY;
	assert_below(m);
}

TEST(a_lookup_is_not_the_origin_when_every_object_was_found)
{
	static const char *const lookups[] = { "rdma_lookup_get_uobject", "uverbs_get_uobject_from_file.isra.0",
					       "lookup_get_idr_uobject", "lookup_get_fd_uobject.cold" };
	struct rd_moment_handle *h;
	struct made_up m;

	for (size_t i = 0; i < RD_ARRAY_SIZE(lookups); i++) {
		make(&m, EINVAL);
		h = m.event.moment.handles;
		has_errno(&m.fns[CALLEE], EINVAL);
		m.fns[CALLEE].name = (char *)lookups[i];
		/* No handle is known: it may have failed. */
		assert_below(&m);
		m.event.moment.n_handles = 2;
		h[0] = h[1] = (struct rd_moment_handle){ .looked_up = true, .found = true };
		assert_exact(&m);
		h[1].found = false;
		assert_below(&m);
		h[1] = (struct rd_moment_handle){ .found = true };
		assert_below(&m);
		h[1] = (struct rd_moment_handle){ .looked_up = true, .found = true, .locked = true };
		assert_below(&m);
		h[1].locked = false;
		m.fns[CALLEE].name = (char *)"rdma_lookup_get_uobject_fast";
		assert_below(&m);
		end(&m);
	}
}

MADE_UP_TEST(without_a_call_graph_no_origin_is_exact)
{
	m->fns[ORIGIN].calls_known = false;
	m->fns[ORIGIN].n_calls = 0;
	judge(m);
	ASSERT_EACH(IS(m->event.origin_exact, false), IS(m->event.n_below, 0));
	/* Of a callee nothing is known. */
	m->fns[ORIGIN].calls_known = true;
	m->fns[ORIGIN].n_calls = 1;
	m->fns[CALLEE].calls_known = false;
	assert_below(m);
}

MADE_UP_TEST(an_unknown_origin_is_not_exact)
{
	has_errno(&m->fns[CALLEE], EINVAL);
	for (int origin = -1; origin <= N_FNS; origin += N_FNS + 1) {
		m->event.origin = origin;
		m->event.origin_exact = true;
		m->event.n_below = 3;
		rd_origin_judge(&m->event, &m->set);
		ASSERT_EACH(IS(m->event.origin_exact, false), IS(m->event.n_below, 0));
	}
}

MADE_UP_TEST(a_module_none_of_which_is_traced_may_have_been_called)
{
	_cleanup_free_ char *names = NULL;

	m->fns[ORIGIN].module = CORE;
	m->fns[ORIGIN].selected = m->fns[CALLEE].selected = m->fns[MEMBER].selected = true;
	assert_null(rd_origin_untraced(&m->event, &m->set));
	m->fns[ORIGIN].indirect = true;
	names = rd_origin_untraced(&m->event, &m->set);
	assert_string_equal(names, "newd");
	/* A part of them is left out on its own account. */
	m->fns[MEMBER].backend = RD_BACKEND_KPROBE;
	assert_null(rd_origin_untraced(&m->event, &m->set));
	m->fns[MEMBER].backend = RD_BACKEND_NONE;
	m->fns[CALLEE].selected = m->fns[MEMBER].selected = false;
	assert_null(rd_origin_untraced(&m->event, &m->set));
	m->fns[CALLEE].selected = true;
	m->fns[ORIGIN].module = VENDOR;
	assert_null(rd_origin_untraced(&m->event, &m->set));
	m->event.origin = -1;
	assert_null(rd_origin_untraced(&m->event, &m->set));
}

MADE_UP_TEST(only_those_of_several_callees_that_may_are_named)
{
	uint32_t calls[] = { CALLEE, DEEPER, LAST, MEMBER };

	m->fns[ORIGIN].calls = calls;
	m->fns[ORIGIN].n_calls = 4;
	m->fns[CALLEE].n_calls = m->fns[DEEPER].n_calls = 0;
	has_errno(&m->fns[DEEPER], EINVAL);
	m->fns[LAST].outside = true;
	m->fns[LAST].backend = RD_BACKEND_FEXIT_MULTI;
	m->fns[MEMBER].outside = true;
	judge(m);
	assert_int_equal(m->event.n_below, 2);
	ASSERT_EACH(IS(m->event.below[0], DEEPER), IS(m->event.below[1], MEMBER));
	/* Once more, of the same event. */
	rd_origin_judge(&m->event, &m->set);
	assert_int_equal(m->event.n_below, 2);
}

MADE_UP_TEST(what_may_be_below_is_traced_the_next_time)
{
	has_errno(&m->fns[LAST], EINVAL);
	judge(m);
	assert_int_equal(rd_origin_deepen(&m->event, &m->set, m->add), 3);
	assert_true(!m->add[ORIGIN] && m->add[CALLEE] && m->add[DEEPER] && m->add[LAST] && !m->add[MEMBER]);
	/* They are not counted twice. */
	assert_int_equal(rd_origin_deepen(&m->event, &m->set, m->add), 0);
	memset(m->add, 0, sizeof(m->add));

	/* What cannot be hooked is passed over, and what it calls is not. */
	m->fns[CALLEE].attachable = 0;
	assert_int_equal(rd_origin_deepen(&m->event, &m->set, m->add), 2);
	assert_true(!m->add[CALLEE] && m->add[DEEPER] && m->add[LAST]);
	memset(m->add, 0, sizeof(m->add));

	/* What is traced already ends the way. */
	m->fns[DEEPER].backend = RD_BACKEND_FEXIT;
	assert_int_equal(rd_origin_deepen(&m->event, &m->set, m->add), 0);
	m->fns[DEEPER].backend = RD_BACKEND_NONE;
	m->fns[DEEPER].rule = RD_RULE_CLEANUP;
	assert_int_equal(rd_origin_deepen(&m->event, &m->set, m->add), 0);
	assert_true(!m->add[DEEPER] && !m->add[LAST]);
}

MADE_UP_TEST(an_exact_origin_needs_no_further_hooks)
{
	m->fns[MEMBER].module = CORE;
	m->fns[MEMBER].member = true;
	judge(m);
	assert_int_equal(rd_origin_deepen(&m->event, &m->set, m->add), 0);
	for (size_t i = 0; i < N_FNS; i++)
		assert_false(m->add[i]);
}

TEST(callbacks_that_no_call_leads_to_are_traced_as_well)
{
	static const struct {
		unsigned module;
		enum rd_rule rule;
		const char *method;
		bool added;
	} cases[] = {
		{ CORE, RD_RULE_QUERY, "QP_CREATE", true },	  { CORE, RD_RULE_DATA_PATH, "QP_CREATE", false },
		{ CORE, RD_RULE_CLEANUP, "QP_CREATE", false },	  { CORE, RD_RULE_CLEANUP, "QP_DESTROY", true },
		{ DRIVER, RD_RULE_QUERY, "QP_CREATE", false },	  { DRIVER, RD_RULE_CLEANUP, "QP_DESTROY", true },
		{ DRIVER, RD_RULE_CLEANUP, "QP_CREATE", false },  { VENDOR, RD_RULE_QUERY, "QP_CREATE", false },
		{ VENDOR, RD_RULE_CLEANUP, "QP_DESTROY", false },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		struct made_up m;

		make(&m, EINVAL);
		has_errno(&m.fns[CALLEE], EINVAL);
		m.fns[CALLEE].n_calls = 0;
		m.event.method = (char *)cases[i].method;
		m.fns[MEMBER].module = cases[i].module;
		m.fns[MEMBER].rule = cases[i].rule;
		m.fns[MEMBER].member = true;
		judge(&m);
		rd_origin_deepen(&m.event, &m.set, m.add);
		assert_true(m.add[CALLEE]);
		if (m.add[MEMBER] != cases[i].added)
			fail_msg("case %zu", i);
		m.fns[MEMBER].member = false;
		memset(m.add, 0, sizeof(m.add));
		assert_int_equal(rd_origin_deepen(&m.event, &m.set, m.add), 1);
		end(&m);
	}
}
