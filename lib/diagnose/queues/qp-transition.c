// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Transitions of queue pairs: which attributes each requires and permits (IBTA vol. 1, 11.2.5.2, tables 96 and following), as the
 * RDMA core applies it in ib_modify_qp_is_ok(), which nearly every driver calls. The state before the call and the attributes are
 * those that this function was called with.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/shared/rule.h"

/* enum ib_qp_attr_mask */
enum {
	M_STATE = 1 << 0,
	M_CUR_STATE = 1 << 1,
	M_NOTIFY = 1 << 2,
	M_ACCESS = 1 << 3,
	M_PKEY = 1 << 4,
	M_PORT = 1 << 5,
	M_QKEY = 1 << 6,
	M_AV = 1 << 7,
	M_MTU = 1 << 8,
	M_TIMEOUT = 1 << 9,
	M_RETRY = 1 << 10,
	M_RNR_RETRY = 1 << 11,
	M_RQ_PSN = 1 << 12,
	M_RD_ATOMIC = 1 << 13,
	M_ALT = 1 << 14,
	M_RNR_TIMER = 1 << 15,
	M_SQ_PSN = 1 << 16,
	M_DEST_RD_ATOMIC = 1 << 17,
	M_MIG = 1 << 18,
	M_DEST_QPN = 1 << 20,
	M_RATE_LIMIT = 1 << 25,
};
#define ALL_ATTRIBUTES 0x1fffffu

/* Types of queue pairs as columns of the tables; SMI and GSI are of the kernel only. */
enum column { RC, UC, UD, INI, TGT, RAW, COLUMNS };

struct transition {
	uint8_t from, to;
	uint32_t required[COLUMNS], optional[COLUMNS];
};

static const struct transition transitions[];
static const size_t n_transitions;

static int column_of(unsigned type)
{
	switch (type) {
	case RD_QPT_RC:
		return RC;
	case RD_QPT_UC:
		return UC;
	case RD_QPT_UD:
		return UD;
	case RD_QPT_XRC_INI:
		return INI;
	case RD_QPT_XRC_TGT:
		return TGT;
	case RD_QPT_RAW_PACKET:
		return RAW;
	default:
		return -1;
	}
}

static const char *state_name(unsigned state)
{
	const char *name = rd_qp_state_name(state);

	return name ? name : "?";
}

static const struct transition *find_transition(unsigned from, unsigned to)
{
	for (size_t i = 0; i < n_transitions; i++)
		if (transitions[i].from == from && transitions[i].to == to)
			return &transitions[i];
	return NULL;
}

/* From any state a queue pair can be moved to RESET, and from any but RESET to ERR. */
static bool is_valid(unsigned from, unsigned to)
{
	return to == RD_QPS_RESET || (to == RD_QPS_ERR && from != RD_QPS_RESET) || find_transition(from, to);
}

static void add_states(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_moment *m = &f->event->moment;
	char mask[RD_WORD_MASK];

	if (m->qp.mask & M_CUR_STATE)
		rd_explain_fact(ret, "the request says that the state is %s (cur_qp_state); the call moves it to %s",
				state_name(m->qp.cur), state_name(m->qp.next));
	else if (f->event->qpn.known == RD_OK)
		rd_explain_fact(ret, "queue pair %u was in state %s; the call moves it to %s", f->event->qpn.v,
				state_name(m->qp.cur), state_name(m->qp.next));
	else
		rd_explain_fact(ret, "the queue pair was in state %s; the call moves it to %s", state_name(m->qp.cur),
				state_name(m->qp.next));
	rd_explain_fact(ret, "attr_mask 0x%x: %s", m->qp.mask, rd_word_mask(m->qp.mask, mask));
}

static void explain_invalid(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_moment *m = &f->event->moment;
	static const char *const before[RD_QPS_N] = {
		[RD_QPS_INIT] = "RESET", [RD_QPS_RTR] = "INIT", [RD_QPS_RTS] = "RTR", [RD_QPS_SQD] = "RTS"
	};
	const char *from = m->qp.next < RD_QPS_N ? before[m->qp.next] : NULL;

	rd_explain(ret, "qp-state", RD_CONFIDENCE_HIGH, "a queue pair cannot be moved from %s to %s",
		   state_name(m->qp.cur), state_name(m->qp.next));
	add_states(f, ret);
	if (from)
		rd_explain_fix(ret,
			       "# move it to %s first, and check that this succeeded\n# a queue pair in ERR "
			       "must be moved to RESET and connected again",
			       from);
	else
		rd_explain_fix(ret, "# move it to RESET, and connect it again");
}

static bool is_one(uint32_t mask)
{
	return !(mask & (mask - 1));
}

static bool find_attributes(const struct rd_failure *f, const struct transition *t, int column,
			    struct rd_explanation *ret)
{
	const struct rd_moment *m = &f->event->moment;
	uint32_t required = t ? t->required[column] : 0, optional = t ? t->optional[column] : 0;
	uint32_t missing = required & ~m->qp.mask;
	uint32_t extra = m->qp.mask & ~(required | optional | M_STATE | M_RATE_LIMIT);
	char names[RD_WORD_MASK];

	if (missing) {
		rd_explain(ret, "qp-attribute-missing", RD_CONFIDENCE_HIGH,
			   "%s to %s requires %s, missing in attr_mask", state_name(m->qp.cur), state_name(m->qp.next),
			   rd_word_mask(missing, names));
		rd_explain_fix(ret, "# set %s in attr_mask\n# ibv_modify_qp(3) lists what each transition requires",
			       is_one(missing) ? "the attribute and its bit" : "these attributes and their bits");
	} else if (extra) {
		rd_explain(ret, "qp-attribute-not-allowed", RD_CONFIDENCE_HIGH,
			   "%s to %s does not permit %s in attr_mask", state_name(m->qp.cur), state_name(m->qp.next),
			   rd_word_mask(extra, names));
		rd_explain_fix(ret, "# leave %s out of attr_mask\n# ibv_modify_qp(3) lists what a transition permits",
			       is_one(extra) ? "it" : "them");
	} else {
		return false;
	}
	add_states(f, ret);
	return true;
}

static bool find_noted(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	const struct rd_moment *m = &f->event->moment;
	int column = column_of(m->qp.type);

	if (m->qp.cur >= RD_QPS_N || m->qp.next >= RD_QPS_N)
		return false;
	if (m->qp.mask & M_CUR_STATE && (m->qp.cur < RD_QPS_RTR || m->qp.cur == RD_QPS_ERR)) {
		rd_explain(ret, "qp-state", RD_CONFIDENCE_HIGH,
			   "cur_qp_state may only be RTR, RTS, SQD or SQE, and is %s", state_name(m->qp.cur));
		rd_explain_fix(ret, "# leave IBV_QP_CUR_STATE out of attr_mask");
		add_states(f, ret);
		return true;
	}
	if (!is_valid(m->qp.cur, m->qp.next)) {
		explain_invalid(f, ret);
		return true;
	}
	/* Only UC and UD queue pairs get into SQE. */
	if (m->qp.mask & M_CUR_STATE && m->qp.cur == RD_QPS_SQE && column != UC && column != UD) {
		rd_explain(ret, "qp-state", RD_CONFIDENCE_HIGH,
			   "cur_qp_state is SQE, in which a queue pair of type %s never is",
			   rd_qp_type_name(m->qp.type) ? rd_qp_type_name(m->qp.type) : "?");
		rd_explain_fix(ret, "# leave IBV_QP_CUR_STATE out of attr_mask");
		add_states(f, ret);
		return true;
	}
	if (column >= 0 && find_attributes(f, find_transition(m->qp.cur, m->qp.next), column, ret))
		return true;
	if (column >= 0)
		rd_explain_fact(looked, "%s to %s with these attributes is permitted", state_name(m->qp.cur),
				state_name(m->qp.next));
	return false;
}

/* The core compares ports before it looks at the state: a queue pair that was never in INIT has none. */
static bool find_never_init(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_request *r = &f->event->request;
	const struct rd_moment_handle *qp = rd_handle_of(f, RD_REQ_H_QP);
	uint64_t mask = r->v[RD_REQ_MASK], state = r->v[RD_REQ_STATE];

	if (!qp || !qp->found || qp->port.known != RD_OK || qp->port.v || !rd_req_has(r, RD_REQ_MASK) ||
	    (mask & (M_STATE | M_AV)) != (M_STATE | M_AV) || state != RD_QPS_RTR)
		return false;
	rd_explain(ret, "qp-state", RD_CONFIDENCE_HIGH,
		   "the queue pair was never moved to INIT (it is in RESET, without a port), and cannot be moved to %s",
		   state_name((unsigned)state));
	if (qp->number.known == RD_OK)
		rd_explain_fact(ret, "queue pair %u has no port yet; the request names port %" PRIu64, qp->number.v,
				r->v[RD_REQ_AV_PORT]);
	rd_explain_fix(ret, "# move it to INIT first, and check that this succeeded");
	return true;
}

/* Attributes that no transition of this type of queue pair has. Drivers check them; if the core failed, that was before it asked
 * the driver, and for another reason. */
static bool find_foreign(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_request *r = &f->event->request;
	const struct rd_moment_handle *qp = rd_handle_of(f, RD_REQ_H_QP);
	int column = qp && qp->found && qp->qp_type.known == RD_OK ? column_of(qp->qp_type.v) : -1;
	uint32_t known = M_STATE | M_CUR_STATE | M_RATE_LIMIT, extra;
	char names[RD_WORD_MASK];

	if (column < 0 || !rd_req_has(r, RD_REQ_MASK) || !rd_failure_in_driver(f))
		return false;
	for (size_t i = 0; i < n_transitions; i++)
		known |= transitions[i].required[column] | transitions[i].optional[column];
	extra = (uint32_t)r->v[RD_REQ_MASK] & ALL_ATTRIBUTES & ~known;
	if (!extra)
		return false;
	rd_explain(ret, "qp-attribute-not-allowed", RD_CONFIDENCE_HIGH, "queue pairs of type %s have no %s",
		   rd_qp_type_name(qp->qp_type.v), rd_word_mask(extra, names));
	rd_explain_fact(ret, "attr_mask 0x%" PRIx64 ": %s", r->v[RD_REQ_MASK],
			rd_word_mask((uint32_t)r->v[RD_REQ_MASK], names));
	rd_explain_fix(ret, "# leave %s out of attr_mask\n# ibv_modify_qp(3) lists the attributes of each type",
		       is_one(extra) ? "it" : "them");
	return true;
}

static bool find_qp_transition(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	if (!rd_is_verb(f->event, "ibv_modify_qp"))
		return false;
	if (f->event->moment.qp.known)
		return find_noted(f, ret, looked);
	return find_never_init(f, ret) || find_foreign(f, ret);
}

const struct rd_cause_rule rd_cause_qp_transition = { .errnos = { EINVAL }, .find = find_qp_transition };

/* clang-format off */
#define TO_INIT (M_PKEY | M_PORT | M_ACCESS)
#define TO_RTR (M_AV | M_MTU | M_DEST_QPN | M_RQ_PSN)
#define RESPONDER (M_DEST_RD_ATOMIC | M_RNR_TIMER)
#define REQUESTER (M_TIMEOUT | M_RETRY | M_RNR_RETRY | M_RD_ATOMIC)
#define RUNNING (M_CUR_STATE | M_ALT | M_ACCESS | M_MIG)

static const struct transition transitions[] = {
	{ RD_QPS_RESET, RD_QPS_INIT,
	  .required = { [RC] = TO_INIT, [UC] = TO_INIT, [INI] = TO_INIT, [TGT] = TO_INIT, [UD] = M_PKEY | M_PORT | M_QKEY,
			[RAW] = M_PORT } },
	{ RD_QPS_INIT, RD_QPS_INIT,
	  .optional = { [RC] = TO_INIT, [UC] = TO_INIT, [INI] = TO_INIT, [TGT] = TO_INIT, [UD] = M_PKEY | M_PORT | M_QKEY } },
	{ RD_QPS_INIT, RD_QPS_RTR,
	  .required = { [RC] = TO_RTR | RESPONDER, [TGT] = TO_RTR | RESPONDER, [UC] = TO_RTR, [INI] = TO_RTR },
	  .optional = { [RC] = M_ALT | M_ACCESS | M_PKEY, [UC] = M_ALT | M_ACCESS | M_PKEY, [INI] = M_ALT | M_ACCESS | M_PKEY,
			[TGT] = M_ALT | M_ACCESS | M_PKEY, [UD] = M_PKEY | M_QKEY } },
	{ RD_QPS_RTR, RD_QPS_RTS,
	  .required = { [RC] = REQUESTER | M_SQ_PSN, [INI] = REQUESTER | M_SQ_PSN, [TGT] = M_TIMEOUT | M_SQ_PSN, [UC] = M_SQ_PSN,
			[UD] = M_SQ_PSN },
	  .optional = { [RC] = RUNNING | M_RNR_TIMER, [TGT] = RUNNING | M_RNR_TIMER, [UC] = RUNNING, [INI] = RUNNING,
			[UD] = M_CUR_STATE | M_QKEY } },
	{ RD_QPS_RTS, RD_QPS_RTS,
	  .optional = { [RC] = RUNNING | M_RNR_TIMER, [TGT] = RUNNING | M_RNR_TIMER, [UC] = RUNNING, [INI] = RUNNING,
			[UD] = M_CUR_STATE | M_QKEY } },
	{ RD_QPS_RTS, RD_QPS_SQD,
	  .optional = { [RC] = M_NOTIFY, [UC] = M_NOTIFY, [UD] = M_NOTIFY, [INI] = M_NOTIFY, [TGT] = M_NOTIFY } },
	{ RD_QPS_SQD, RD_QPS_RTS,
	  .optional = { [RC] = RUNNING | M_RNR_TIMER, [TGT] = RUNNING | M_RNR_TIMER, [UC] = RUNNING, [INI] = RUNNING,
			[UD] = M_CUR_STATE | M_QKEY } },
	{ RD_QPS_SQD, RD_QPS_SQD,
	  .optional = { [RC] = M_PORT | M_AV | REQUESTER | RESPONDER | M_ALT | M_ACCESS | M_PKEY | M_MIG,
			[INI] = M_PORT | M_AV | REQUESTER | M_ALT | M_ACCESS | M_PKEY | M_MIG,
			[TGT] = M_PORT | M_AV | M_TIMEOUT | RESPONDER | M_ALT | M_ACCESS | M_PKEY | M_MIG,
			[UC] = M_AV | M_ALT | M_ACCESS | M_PKEY | M_MIG, [UD] = M_PKEY | M_QKEY } },
	{ RD_QPS_SQE, RD_QPS_RTS, .optional = { [UC] = M_CUR_STATE | M_ACCESS, [UD] = M_CUR_STATE | M_QKEY } },
};
static const size_t n_transitions = RD_ARRAY_SIZE(transitions);
/* clang-format on */
