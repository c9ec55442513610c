// SPDX-License-Identifier: GPL-2.0-or-later
/* Multicast groups: ib_attach_mcast(), ib_detach_mcast(). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/shared/rule.h"

static bool find_address(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_moment_handle *qp = rd_handle_of(f, RD_REQ_H_QP);
	const uint8_t *gid = f->event->request.gid;
	char text[RD_WORD_IP];

	if (gid[0] != 0xff) {
		rd_explain(ret, "multicast-address", RD_CONFIDENCE_HIGH,
			   "%s is not a multicast GID: those begin with ff", rd_word_gid(gid, text));
		rd_explain_fix(ret, "# use the MGID of the group: on RoCE ff0e::ffff:a.b.c.d for an IPv4 group");
		return true;
	}
	if (qp && qp->found && qp->qp_type.known == RD_OK && qp->qp_type.v != RD_QPT_UD) {
		const char *type = rd_qp_type_name(qp->qp_type.v);

		rd_explain(ret, "qp-type", RD_CONFIDENCE_HIGH,
			   "queue pair %u is of type %s, and only UD queue pairs can join a multicast group",
			   qp->number.v, type ? type : "?");
		rd_explain_fix(ret, "# use a queue pair of type IBV_QPT_UD");
		return true;
	}
	return false;
}

static bool find_not_attached(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_moment_handle *qp = rd_handle_of(f, RD_REQ_H_QP);
	char text[RD_WORD_IP];

	if (!rd_is_verb(f->event, "ibv_detach_mcast") || !qp || !qp->found)
		return false;
	rd_explain(ret, "multicast-not-attached",
		   rd_failure_origin_is(f, "ib_uverbs_detach_mcast") ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
		   "queue pair %u is not attached to group %s with LID %" PRIu64, qp->number.v,
		   rd_word_gid(f->event->request.gid, text), f->event->request.v[RD_REQ_MLID]);
	rd_explain_fix(ret, "# detach with the same GID and LID as it was attached with, and once");
	return true;
}

/* How many queue pairs a group has is not reported; the errno of the driver is the same for both limits. */
static bool find_full(const struct rd_failure *f, struct rd_explanation *ret)
{
	char text[RD_WORD_IP];
	uint64_t group = 0, total = 0;

	/* A driver returns ENOMEM when it runs out of memory, too: what it calls must not be the origin. */
	if (!rd_is_verb(f->event, "ibv_attach_mcast") || !f->event->origin_exact || !rd_failure_in_driver(f) ||
	    !rd_failure_attr(f, "max_mcast_qp_attach", &group))
		return false;
	rd_failure_attr(f, "max_total_mcast_qp_attach", &total);
	rd_explain(ret, "multicast-limit", RD_CONFIDENCE_MEDIUM,
		   "group %s has as many queue pairs as %s permits: max_mcast_qp_attach is %" PRIu64,
		   rd_word_gid(f->event->request.gid, text), f->event->ibdev, group);
	rd_explain_fact(ret, "limits of %s: %" PRIu64 " queue pairs in a group, %" PRIu64 " in all groups together",
			f->event->ibdev, group, total);
	rd_explain_fact(ret, "not reported by the kernel: how many are attached now");
	rd_explain_fix(ret, "# attach fewer queue pairs to the group, and let the program distribute what one of "
			    "them receives");
	return true;
}

static bool find_multicast(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	(void)looked;
	if (!f->event->request.has_gid ||
	    (!rd_is_verb(f->event, "ibv_attach_mcast") && !rd_is_verb(f->event, "ibv_detach_mcast")))
		return false;
	if (f->event->err == -ENOMEM)
		return find_full(f, ret);
	return find_address(f, ret) || find_not_attached(f, ret);
}

const struct rd_cause_rule rd_cause_multicast = { .errnos = { EINVAL, ENOMEM, ENOENT },
						  .needs = RD_FACT_LIMITS,
						  .find = find_multicast };
