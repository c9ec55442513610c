/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each rule has a twin: the same errno of the same function, from a failure that is real. */
#include "unit.h"

#include "analyse/trace/trace.h"

#include <linux/types.h>

#include "bpf/record.h"

enum {
	INVOKE_WRITE,
	CMD_VERBS,
	IOCTL,
	GET_GID,
	GID_HANDLER,
	GET_EVENT,
	UCMA_WRITE,
	QUERY_DEVICE,
	DRIVER,
	SUFFIXED,
	N_FNS
};

static struct rd_fn fns[N_FNS] = {
	[INVOKE_WRITE] = { .name = "ib_uverbs_handler_UVERBS_METHOD_INVOKE_WRITE" },
	[CMD_VERBS] = { .name = "ib_uverbs_cmd_verbs" },
	[IOCTL] = { .name = "ib_uverbs_ioctl" },
	[GET_GID] = { .name = "rdma_get_gid_attr" },
	[GID_HANDLER] = { .name = "ib_uverbs_handler_UVERBS_METHOD_QUERY_GID_ENTRY" },
	[GET_EVENT] = { .name = "ucma_get_event" },
	[UCMA_WRITE] = { .name = "ucma_write" },
	[QUERY_DEVICE] = { .name = "ib_uverbs_query_device" },
	[DRIVER] = { .name = "some_driver_function" },
	[SUFFIXED] = { .name = "ucma_get_event.isra.0" },
};
static const struct rd_fnset set = { .fns = fns, .n_fns = N_FNS };

#define QUERY_DEVICE_KEY RD_VERB(RD_VERB_INVOKE_WRITE, 1)
#define REG_MR_KEY RD_VERB(RD_VERB_INVOKE_WRITE, 9)
#define MODIFY_QP_KEY RD_VERB(RD_VERB_INVOKE_WRITE, 26)
#define GID_ENTRY_KEY RD_VERB(RD_VERB_IOCTL, 6)
#define GID_TABLE_KEY RD_VERB(RD_VERB_IOCTL, 5)
#define CQ_CREATE_KEY RD_VERB(RD_VERB_IOCTL, 3 << 16)
#define GET_EVENT_KEY RD_VERB(RD_VERB_UCMA, 12)
#define CONNECT_KEY RD_VERB(RD_VERB_UCMA, 6)

static bool benign(uint64_t key, int err, int origin, uint16_t num_attrs)
{
	struct rd_link chain = { .fn = origin, .err = -err };
	struct rd_event ev = {
		.verb_key = key, .err = -err, .origin = origin, .num_attrs = num_attrs, .chain = &chain, .n_chain = 1
	};

	return rd_benign_reason(&ev, &set) != NULL;
}

TEST(what_is_benign_of_a_call_and_what_only_looks_like_it)
{
	/* The probe of each device open. */
	assert_true(benign(QUERY_DEVICE_KEY, ENOSPC, INVOKE_WRITE, 1));
	assert_true(benign(QUERY_DEVICE_KEY, ENOSPC, CMD_VERBS, 1));
	/* Its twin: a query that really finds no room. */
	assert_false(benign(QUERY_DEVICE_KEY, ENOSPC, INVOKE_WRITE, 3));
	assert_false(benign(QUERY_DEVICE_KEY, ENOSPC, QUERY_DEVICE, 1));
	assert_false(benign(QUERY_DEVICE_KEY, ENOSPC, DRIVER, 1));
	assert_false(benign(REG_MR_KEY, ENOSPC, INVOKE_WRITE, 1));
	assert_false(benign(QUERY_DEVICE_KEY, EIO, INVOKE_WRITE, 1));
	/* An unused entry of the GID table. */
	assert_true(benign(GID_ENTRY_KEY, ENODATA, GET_GID, 4));
	assert_true(benign(GID_ENTRY_KEY, ENODATA, GID_HANDLER, 4));
	assert_true(benign(GID_ENTRY_KEY, ENODATA, IOCTL, 4));
	/* Its twin: a queue pair moved with an unused GID. */
	assert_false(benign(MODIFY_QP_KEY, ENODATA, GET_GID, 3));
	assert_false(benign(GID_ENTRY_KEY, ENODATA, DRIVER, 4));
	assert_false(benign(GID_ENTRY_KEY, EINVAL, GET_GID, 4));
	assert_false(benign(GID_TABLE_KEY, ENODATA, GET_GID, 4));
	/* Waiting for a connection event. */
	assert_true(benign(GET_EVENT_KEY, 512, GET_EVENT, 0));
	assert_true(benign(GET_EVENT_KEY, 512, UCMA_WRITE, 0));
	assert_true(benign(GET_EVENT_KEY, EAGAIN, GET_EVENT, 0));
	assert_true(benign(GET_EVENT_KEY, EAGAIN, SUFFIXED, 0));
	/* Its twins: other calls that are interrupted or refused. */
	ASSERT_EACH(IS(benign(CONNECT_KEY, 512, UCMA_WRITE, 0), false),
		    IS(benign(CONNECT_KEY, EAGAIN, UCMA_WRITE, 0), false),
		    IS(benign(GET_EVENT_KEY, ENODEV, GET_EVENT, 0), false),
		    IS(benign(GET_EVENT_KEY, EAGAIN, DRIVER, 0), false), IS(benign(REG_MR_KEY, 512, IOCTL, 3), false));
	/* A call that the library makes in the older way then. */
	assert_true(benign(GID_ENTRY_KEY, EPROTONOSUPPORT, CMD_VERBS, 4));
	assert_true(benign(QUERY_DEVICE_KEY, EPROTONOSUPPORT, CMD_VERBS, 1));
	assert_true(benign(RD_VERB(RD_VERB_IOCTL, 0xffff0000u), 515, IOCTL, 0));
	/* Its twin: what the program cannot do without. */
	assert_false(benign(CQ_CREATE_KEY, EPROTONOSUPPORT, CMD_VERBS, 8));
	assert_false(benign(RD_VERB(RD_VERB_IOCTL, 0x10000000u), EPROTONOSUPPORT, CMD_VERBS, 8));
	assert_false(benign(GID_ENTRY_KEY, EPROTONOSUPPORT, DRIVER, 4));
	assert_false(benign(GID_ENTRY_KEY, EOPNOTSUPP, CMD_VERBS, 4));
	assert_false(benign(GID_ENTRY_KEY, 515, CMD_VERBS, 4));
}

TEST(nothing_is_benign_that_was_another_errno_first)
{
	struct rd_link chain[] = { { .fn = INVOKE_WRITE, .err = -EIO, .translated = true },
				   { .fn = IOCTL, .err = -ENOSPC } };
	struct rd_event ev = { .verb_key = QUERY_DEVICE_KEY,
			       .err = -ENOSPC,
			       .origin = INVOKE_WRITE,
			       .num_attrs = 1,
			       .chain = chain,
			       .n_chain = 2 };

	assert_null(rd_benign_reason(&ev, &set));
}

TEST(nothing_is_benign_whose_origin_is_not_known)
{
	assert_false(benign(QUERY_DEVICE_KEY, ENOSPC, -1, 1));
	assert_false(benign(QUERY_DEVICE_KEY, ENOSPC, N_FNS, 1));
}

static bool all_benign(uint64_t key, int err, int origin)
{
	const struct rd_count count = { .verb = key, .err = -err, .origin = origin, .count = 2044 };

	return rd_benign_count(&count, &set);
}

TEST(a_row_of_counts_is_benign_only_if_it_alone_tells)
{
	assert_true(all_benign(GID_ENTRY_KEY, ENODATA, GET_GID));
	assert_false(all_benign(MODIFY_QP_KEY, ENODATA, GET_GID));
	assert_false(all_benign(QUERY_DEVICE_KEY, ENOSPC, INVOKE_WRITE));
	assert_false(all_benign(GID_ENTRY_KEY, ENODATA, -1));
	assert_false(all_benign(GID_ENTRY_KEY, ENODATA, N_FNS));
}
