/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/nicmap/stacks.h"

const char *rd_stack_name(enum rd_stack_id id)
{
	static const char *const names[RD_STACKS] = {
		[RD_STACK_MOONCAKE] = "mooncake",
		[RD_STACK_UCX] = "ucx",
		[RD_STACK_NIXL_LIBFABRIC] = "nixl_libfabric",
		[RD_STACK_LIBFABRIC] = "libfabric",
	};

	return names[id];
}

static void deinit_one(struct rd_stack *stack)
{
	for (size_t i = 0; i < stack->n; i++)
		RD_FREE(stack->v[i].ports, stack->v[i].why);
	RD_FREE(stack->v, stack->ports, stack->note);
}

void rd_stacks_deinit(struct rd_stacks *stacks)
{
	for (size_t i = 0; i < RD_STACKS; i++)
		deinit_one(&stacks->v[i]);
	rd_findings_deinit(&stacks->findings);
	*stacks = (struct rd_stacks){ 0 };
}
