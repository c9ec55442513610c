// SPDX-License-Identifier: GPL-2.0-or-later
/* Resources of the device and memory of the host that are used up. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/shared/rule.h"

static const struct {
	const char *verb;
	enum rd_res_kind kind;
	const char *attr, *what;
} kinds[] = {
	{ "ibv_create_qp", RD_RES_QP, "max_qp", "queue pairs" },
	{ "ibv_create_qp_ex", RD_RES_QP, "max_qp", "queue pairs" },
	{ "ibv_create_cq", RD_RES_CQ, "max_cq", "completion queues" },
	{ "ibv_create_cq_ex", RD_RES_CQ, "max_cq", "completion queues" },
	{ "ibv_reg_mr", RD_RES_MR, "max_mr", "memory regions" },
	{ "ibv_reg_dmabuf_mr", RD_RES_MR, "max_mr", "memory regions" },
	{ "ibv_alloc_pd", RD_RES_PD, "max_pd", "protection domains" },
	{ "ibv_create_srq", RD_RES_SRQ, "max_srq", "shared receive queues" },
};

static const struct rd_res_dev *find_dev(const struct rd_failure *f)
{
	for (size_t i = 0; f->event->ibdev && i < f->res.n_devs; i++)
		if (!strcmp(f->res.devs[i].name, f->event->ibdev))
			return &f->res.devs[i];
	return NULL;
}

/* The objects of the process that holds most of them. */
static void add_holders(const struct rd_failure *f, enum rd_res_kind kind, struct rd_explanation *ret)
{
	uint64_t own = 0;

	for (size_t i = 0; i < f->res.n_qps && kind == RD_RES_QP; i++)
		own += f->res.qps[i].owner.pid.known == RD_OK && f->res.qps[i].owner.pid.v == f->event->pid;
	for (size_t i = 0; i < f->res.n_objects; i++)
		own += f->res.objects[i].kind == kind && f->res.objects[i].owner.pid.known == RD_OK &&
		       f->res.objects[i].owner.pid.v == f->event->pid;
	rd_explain_fact(ret, "this process has %" PRIu64 " of them", own);
}

static bool find_exhausted(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	const struct rd_res_dev *dev = find_dev(f);
	uint64_t most;

	for (size_t i = 0; dev && i < RD_ARRAY_SIZE(kinds); i++) {
		if (!rd_is_verb(f->event, kinds[i].verb) || dev->used[kinds[i].kind].known != RD_OK ||
		    !rd_failure_attr(f, kinds[i].attr, &most))
			continue;
		if (dev->used[kinds[i].kind].v < most) {
			rd_explain_fact(looked, "%s has %" PRIu64 " %s of at most %" PRIu64, dev->name,
					dev->used[kinds[i].kind].v, kinds[i].what, most);
			return false;
		}
		rd_explain(ret, "device-resources", rd_failure_in_driver(f) ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
			   "%s has no %s left: %" PRIu64 " of %s %" PRIu64 " are in use", dev->name, kinds[i].what,
			   dev->used[kinds[i].kind].v, kinds[i].attr, most);
		add_holders(f, kinds[i].kind, ret);
		rd_explain_fix(ret, "rdma resource show %s %s %s\n# end what holds them: the list names the processes",
			       rd_res_kind_name(kinds[i].kind), kinds[i].kind == RD_RES_QP ? "link" : "dev", dev->name);
		return true;
	}
	return false;
}

const struct rd_cause_rule rd_cause_exhausted = { .errnos = { ENOMEM, ENOSPC, EINVAL },
						  .needs = RD_FACT_LIMITS | RD_FACT_OBJECTS,
						  .find = find_exhausted };

/* ENOMEM without another reason. A control group near its limit does not show that it is the reason: page cache fills it, and the
 * kernel counts each time that it had to free some of it. So this is never a cause, but the operator has to know it. */
static bool find_memory(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	const struct rd_memory_group *g = &f->memory.group;
	char max[RD_BYTES_TEXT], now[RD_BYTES_TEXT];

	(void)ret;
	if (!g->path && !f->cgroups_v1)
		rd_explain_fact(looked, "no control group of the process limits its memory");
	if (!g->path || g->current.known != RD_OK || g->max.known != RD_OK)
		return false;
	rd_explain_fact(looked, "control group %s uses %s of %s memory, page cache included", g->path,
			rd_bytes_text(g->current.v, now), rd_bytes_text(g->max.v, max));
	if (g->failures.known == RD_OK && g->failures.v)
		rd_explain_fact(looked, "%s reached its limit %" PRIu64 " time%s since it was created", g->path,
				g->failures.v, g->failures.v == 1 ? "" : "s");
	return false;
}

const struct rd_cause_rule rd_cause_out_of_memory = { .errnos = { ENOMEM },
						      .needs = RD_FACT_MEMORY,
						      .find = find_memory };
