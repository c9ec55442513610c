// SPDX-License-Identifier: GPL-2.0-or-later
/* ibv_modify_qp: the transition, and values of attributes. */
#include <stdarg.h>

#include "base/buf.h"
#include "diagnose/shared/rule.h"

/*
 * Transitions of queue pairs: which attributes each requires and permits (IBTA vol. 1, 11.2.5.2, tables 96 and following), as the
 * RDMA core applies it in ib_modify_qp_is_ok(), which nearly every driver calls. The state before the call and the attributes are
 * those that this function was called with.
 */

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

/* clang-format off */
#define TO_INIT (M_PKEY | M_PORT | M_ACCESS)
#define TO_RTR (M_AV | M_MTU | M_DEST_QPN | M_RQ_PSN)
#define RESPONDER (M_DEST_RD_ATOMIC | M_RNR_TIMER)
#define REQUESTER (M_TIMEOUT | M_RETRY | M_RNR_RETRY | M_RD_ATOMIC)
#define RUNNING (M_CUR_STATE | M_ALT | M_ACCESS | M_MIG)

static const struct transition {
	uint8_t from, to;
	uint32_t required[COLUMNS], optional[COLUMNS];
} transitions[] = {
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
/* clang-format on */

static int column_of(unsigned type)
{
	static const uint8_t types[COLUMNS] = {
		[RC] = RD_QPT_RC,	[UC] = RD_QPT_UC,	[UD] = RD_QPT_UD,
		[INI] = RD_QPT_XRC_INI, [TGT] = RD_QPT_XRC_TGT, [RAW] = RD_QPT_RAW_PACKET,
	};

	for (int i = 0; i < COLUMNS; i++)
		if (types[i] == type)
			return i;
	return -1;
}

static const char *state_name(unsigned state)
{
	const char *name = rd_qp_state_name(state);

	return name ?: "?";
}

static const struct transition *find_transition(unsigned from, unsigned to)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(transitions); i++)
		if (transitions[i].from == from && transitions[i].to == to)
			return &transitions[i];
	return NULL;
}

static void add_states(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_moment *m = &f->event->moment;

	if (m->qp.mask & M_CUR_STATE)
		rd_explain_fact(ret, "the request says that the state is %s (cur_qp_state); the call moves it to %s",
				state_name(m->qp.cur), state_name(m->qp.next));
	else if (f->event->qpn.known == RD_OK)
		rd_explain_fact(ret, "queue pair %u was in state %s; the call moves it to %s", f->event->qpn.v,
				state_name(m->qp.cur), state_name(m->qp.next));
	else
		rd_explain_fact(ret, "the queue pair was in state %s; the call moves it to %s", state_name(m->qp.cur),
				state_name(m->qp.next));
	rd_explain_fact(ret, "attr_mask 0x%x: %s", m->qp.mask, RD_WORD_MASK(m->qp.mask));
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

	if (missing) {
		rd_explain(ret, "qp-attribute-missing", RD_CONFIDENCE_HIGH,
			   "%s to %s requires %s, missing in attr_mask", state_name(m->qp.cur), state_name(m->qp.next),
			   RD_WORD_MASK(missing));
		rd_explain_fix(ret, "# set %s in attr_mask\n# ibv_modify_qp(3) lists what each transition requires",
			       is_one(missing) ? "the attribute and its bit" : "these attributes and their bits");
	} else if (extra) {
		rd_explain(ret, "qp-attribute-not-allowed", RD_CONFIDENCE_HIGH,
			   "%s to %s does not permit %s in attr_mask", state_name(m->qp.cur), state_name(m->qp.next),
			   RD_WORD_MASK(extra));
		rd_explain_fix(ret, "# leave %s out of attr_mask\n# ibv_modify_qp(3) lists what a transition permits",
			       is_one(extra) ? "it" : "them");
	} else {
		return false;
	}
	add_states(f, ret);
	return true;
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
	return rd_explain_fix(ret, "# move it to INIT first, and check that this succeeded");
}

/* Attributes that no transition of this type of queue pair has. Drivers check them; if the core failed, that was before it asked
 * the driver, and for another reason. */
static bool find_foreign(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_request *r = &f->event->request;
	const struct rd_moment_handle *qp = rd_handle_of(f, RD_REQ_H_QP);
	int column = qp && qp->found && qp->qp_type.known == RD_OK ? column_of(qp->qp_type.v) : -1;
	uint32_t known = M_STATE | M_CUR_STATE | M_RATE_LIMIT, extra;

	if (column < 0 || !rd_req_has(r, RD_REQ_MASK) || !rd_failure_in_driver(f))
		return false;
	for (size_t i = 0; i < RD_ARRAY_SIZE(transitions); i++)
		known |= transitions[i].required[column] | transitions[i].optional[column];
	extra = (uint32_t)r->v[RD_REQ_MASK] & ALL_ATTRIBUTES & ~known;
	if (!extra)
		return false;
	rd_explain(ret, "qp-attribute-not-allowed", RD_CONFIDENCE_HIGH, "queue pairs of type %s have no %s",
		   rd_qp_type_name(qp->qp_type.v), RD_WORD_MASK(extra));
	rd_explain_fact(ret, "attr_mask 0x%" PRIx64 ": %s", r->v[RD_REQ_MASK],
			RD_WORD_MASK((uint32_t)r->v[RD_REQ_MASK]));
	return rd_explain_fix(ret, "# leave %s out of attr_mask\n# ibv_modify_qp(3) lists the attributes of each type",
			      is_one(extra) ? "it" : "them");
}

bool rd_find_qp_transition(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	if (!rd_is_verb(f->event, "ibv_modify_qp"))
		return false;
	if (f->event->moment.qp.known) {
		const struct rd_moment *m = &f->event->moment;
		int column = column_of(m->qp.type);

		if (m->qp.cur >= RD_QPS_N || m->qp.next >= RD_QPS_N)
			return false;
		if (m->qp.mask & M_CUR_STATE && (m->qp.cur < RD_QPS_RTR || m->qp.cur == RD_QPS_ERR)) {
			rd_explain(ret, "qp-state", RD_CONFIDENCE_HIGH,
				   "cur_qp_state may only be RTR, RTS, SQD or SQE, and is %s", state_name(m->qp.cur));
			add_states(f, ret);
			return rd_explain_fix(ret, "# leave IBV_QP_CUR_STATE out of attr_mask");
		}
		/* From any state a queue pair can be moved to RESET, and from any but RESET to ERR. */
		if (m->qp.next != RD_QPS_RESET && !(m->qp.next == RD_QPS_ERR && m->qp.cur != RD_QPS_RESET) &&
		    !find_transition(m->qp.cur, m->qp.next)) {
			explain_invalid(f, ret);
			return true;
		}
		/* Only UC and UD queue pairs get into SQE. */
		if (m->qp.mask & M_CUR_STATE && m->qp.cur == RD_QPS_SQE && column != UC && column != UD) {
			rd_explain(ret, "qp-state", RD_CONFIDENCE_HIGH,
				   "cur_qp_state is SQE, in which a queue pair of type %s never is",
				   rd_qp_type_name(m->qp.type) ? rd_qp_type_name(m->qp.type) : "?");
			add_states(f, ret);
			return rd_explain_fix(ret, "# leave IBV_QP_CUR_STATE out of attr_mask");
		}
		if (column >= 0 && find_attributes(f, find_transition(m->qp.cur, m->qp.next), column, ret))
			return true;
		if (column >= 0)
			rd_explain_fact(looked, "%s to %s with these attributes is permitted", state_name(m->qp.cur),
					state_name(m->qp.next));
		return false;
	}
	return find_never_init(f, ret) || find_foreign(f, ret);
}

/* Values of attributes of modify_qp that are out of the range of the specification, or beyond a limit of the device. */

#define MASK_KNOWN 0x1ffffffu /* bits 0 to 24 are defined, or were once */
#define MASK_RATE_LIMIT (1u << 25)

/* A field that has to be at most `most`; its width in the specification, or an attribute of the device. */
struct bound {
	uint8_t field; /* enum rd_req_field */
	uint8_t bit;   /* in attr_mask */
	uint64_t most; /* by the specification; 0: see `attr` */
	const char *attr;
};

/* IBTA vol. 1: the local ACK timeout and the RNR timer have 5 bits (9.7.6.1.3, 9.7.5.2.8), the two retry counts 3. */
static const struct bound bounds[] = {
	{ RD_REQ_TIMEOUT, 9, 31, NULL },
	{ RD_REQ_RETRY_CNT, 10, 7, NULL },
	{ RD_REQ_RNR_RETRY, 11, 7, NULL },
	{ RD_REQ_MIN_RNR_TIMER, 15, 31, NULL },
	{ RD_REQ_ALT_TIMEOUT, 14, 31, NULL },
	{ RD_REQ_STATE, 0, 6, NULL },
	{ RD_REQ_CUR_STATE, 1, 6, NULL },
	{ RD_REQ_RD_ATOMIC, 13, 0, "max_qp_init_rd_atom" },
	{ RD_REQ_DEST_RD_ATOMIC, 17, 0, "max_qp_rd_atom" },
};

enum rank {
	IGNORED, /* many drivers take as many bits as there are, and do not look at the rest */
	CHECKED, /* many drivers check it */
	CERTAIN, /* the core checks it, or it has no meaning that a driver could give it */
};

struct suspect {
	enum rank rank;
	const char *id;
	char text[160];
};

struct found {
	size_t n;
	struct suspect v[RD_EVIDENCE_MAX]; /* those that are more certain first */
};

static bool has_bit(const struct rd_request *r, unsigned bit)
{
	return r->v[RD_REQ_MASK] >> bit & 1;
}

static void __attribute__((format(printf, 4, 5)))
add_found(struct found *found, const char *id, enum rank rank, const char *fmt, ...)
{
	struct suspect one = { .rank = rank, .id = id };
	size_t at = found->n;
	va_list ap;

	if (found->n == RD_EVIDENCE_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(one.text, sizeof(one.text), fmt, ap);
	va_end(ap);
	for (; at && found->v[at - 1].rank < rank; at--)
		found->v[at] = found->v[at - 1];
	found->v[at] = one;
	found->n++;
}

static void check_bounds(const struct rd_failure *f, struct found *found)
{
	const struct rd_request *r = &f->event->request;

	for (size_t i = 0; i < RD_ARRAY_SIZE(bounds); i++) {
		const struct bound *b = &bounds[i];
		uint64_t most = b->most, v = r->v[b->field];

		if (!has_bit(r, b->bit) || !rd_req_has(r, b->field) ||
		    (b->attr && !rd_failure_attr(f, b->attr, &most)) || v <= most)
			continue;
		if (b->attr)
			add_found(found, "limit-exceeded", CHECKED,
				  "%s is %" PRIu64 ", and %s of the device is %" PRIu64, rd_req_name(b->field), v,
				  b->attr, most);
		else
			add_found(found, "attribute-value",
				  b->field == RD_REQ_STATE || b->field == RD_REQ_CUR_STATE ? CERTAIN : IGNORED,
				  "%s is %" PRIu64 ", and %" PRIu64 " is the highest value", rd_req_name(b->field), v,
				  most);
	}
}

/* enum ib_mtu: 1 is 256 bytes, 5 is 4096. */
static uint64_t mtu_bytes(uint64_t mtu)
{
	return mtu >= 1 && mtu <= 5 ? 128ull << mtu : 0;
}

static void check_mtu(const struct rd_failure *f, struct found *found)
{
	const struct rd_request *r = &f->event->request;
	uint64_t mtu = r->v[RD_REQ_PATH_MTU], most;
	char name[48];

	if (!has_bit(r, 8) || !rd_req_has(r, RD_REQ_PATH_MTU))
		return;
	snprintf(name, sizeof(name), "port%u.max_mtu_bytes", f->dev.port);
	if (!mtu_bytes(mtu))
		add_found(found, "attribute-value", CERTAIN,
			  "path_mtu is %" PRIu64 ", which is not a value of enum ibv_mtu (1 to 5)", mtu);
	else if (rd_failure_attr(f, name, &most) && mtu_bytes(mtu) > most)
		add_found(found, "limit-exceeded", CERTAIN,
			  "path_mtu is %" PRIu64 " bytes, and the port supports %" PRIu64, mtu_bytes(mtu), most);
}

/* enum ib_access_flags: bits 0 to 9, and the optional ones from 20 on. Local writes, remote reads, writes and atomics are what each
 * queue pair has; other flags are of memory regions, or of few drivers. The core does not look at any of them. */
#define ACCESS_KNOWN 0x3ff003ffu
#define ACCESS_USUAL 0x3ff0000fu

static void check_access(const struct rd_failure *f, struct found *found)
{
	const struct rd_request *r = &f->event->request;
	uint64_t access = r->v[RD_REQ_QP_ACCESS], unknown = access & ~(uint64_t)ACCESS_KNOWN,
		 unusual = access & ~(uint64_t)ACCESS_USUAL;

	if (!has_bit(r, 3) || !rd_req_has(r, RD_REQ_QP_ACCESS))
		return;
	if (unknown)
		add_found(found, "access-flags", CHECKED,
			  "qp_access_flags is 0x%" PRIx64 ", and 0x%" PRIx64 " in it is not defined", access, unknown);
	else if (unusual && rd_failure_in_driver(f) && f->event->origin_exact)
		add_found(found, "access-flags", CHECKED,
			  "qp_access_flags is 0x%" PRIx64 ", and the driver may not support 0x%" PRIx64
			  " in it for queue pairs",
			  access, unusual);
}

static const char *fix_for(const char *id)
{
	if (!strcmp(id, "limit-exceeded"))
		return "use at most the limit of the device (ibv_query_device, ibv_devinfo -v); for the number of outstanding RDMA "
		       "reads, also at most what the peer accepts";
	if (!strcmp(id, "not-supported"))
		return "leave the alternate path out, and connect again when a path fails";
	if (!strcmp(id, "pkey-index"))
		return "use the index of a partition key of the port; on RoCE that is 0";
	if (!strcmp(id, "access-flags"))
		return "set only what the peer is permitted to do: IBV_ACCESS_REMOTE_READ, _REMOTE_WRITE and _REMOTE_ATOMIC";
	return "check where the program gets the value from; ibv_modify_qp(3) describes the attributes";
}

bool rd_find_qp_values(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	uint64_t unknown;
	const struct rd_request *r;
	enum rd_confidence confidence;
	_cleanup_buf_ struct rd_buf all = { 0 };

	/* The core checks some values itself, drivers check others, or none. Elsewhere in the core it is not about values, and EPERM
	 * is about privileges. */
	bool checks = rd_failure_in_driver(f) || f->event->moment.qp.known ||
		      rd_failure_origin_is(f, "@(|_ib_|ib_uverbs_*)modify_qp");
	struct found found = { 0 };

	if (!rd_is_verb(f->event, "ibv_modify_qp") || !rd_req_has(&f->event->request, RD_REQ_MASK))
		return false;
	check_bounds(f, &found);
	check_mtu(f, &found);
	if (has_bit(&f->event->request, 14) && f->dev.link_layer && !strcmp(f->dev.link_layer, "Ethernet"))
		add_found(&found, "not-supported", CERTAIN,
			  "an alternate path (IBV_QP_ALT_PATH) is supported on InfiniBand only");
	unknown = f->event->request.v[RD_REQ_MASK] & ~(uint64_t)(MASK_KNOWN | MASK_RATE_LIMIT);
	if (unknown)
		add_found(&found, "attribute-value", CERTAIN, "attr_mask contains 0x%" PRIx64 ", which is not defined",
			  unknown);
	check_access(f, &found);
	/* The core leaves the index to the driver, and not every driver looks at it. */
	r = &f->event->request;
	if (rd_req_has(r, RD_REQ_PKEY_INDEX) && has_bit(r, 4) && f->dev.n_pkeys &&
	    r->v[RD_REQ_PKEY_INDEX] >= f->dev.n_pkeys &&
	    (rd_failure_in_driver(f) || (checks && !f->event->origin_exact)))
		add_found(&found, "pkey-index", CHECKED, "pkey_index is %" PRIu64 ", and the table of %s has %u entr%s",
			  r->v[RD_REQ_PKEY_INDEX], RD_WORD_PORT(f), f->dev.n_pkeys, f->dev.n_pkeys == 1 ? "y" : "ies");
	if (!found.n) {
		if (f->n_attrs)
			rd_explain_fact(
				looked,
				"timeouts, retry counts, path_mtu and limits of the device: no value is out of range");
		return false;
	}
	/* The cause is the only suspect, or one of several. */
	confidence = found.n == 1 && checks && found.v[0].rank == CERTAIN && f->event->err != -EPERM ?
			     RD_CONFIDENCE_HIGH :
			     RD_CONFIDENCE_MEDIUM;
	for (size_t i = 0; i < found.n; i++)
		rd_buf_printf(&all, "%s%s", !i ? "" : i + 1 < found.n ? "; " : "; or ", found.v[i].text);
	rd_explain(ret, found.v[0].id, confidence, "%s%s", found.n > 1 ? "one of these: " : "", all.data);
	rd_explain_fact(ret, "attr_mask 0x%" PRIx64 ": %s", f->event->request.v[RD_REQ_MASK],
			RD_WORD_MASK((uint32_t)f->event->request.v[RD_REQ_MASK]));
	rd_explain_fix(ret, "# %s", fix_for(found.v[0].id));
	return true;
}

/* Ports, of modify_qp and of queries. */
static bool find_port(const struct rd_failure *f, struct rd_explanation *ret)
{
	static const struct {
		enum rd_req_field field;
		int bit; /* in attr_mask; -1: always given */
	} ports[] = { { RD_REQ_PORT, 5 }, { RD_REQ_AV_PORT, 7 }, { RD_REQ_ALT_PORT, 14 }, { RD_REQ_ALT_AV_PORT, 14 } };
	const struct rd_request *r = &f->event->request;

	for (size_t i = 0; i < RD_ARRAY_SIZE(ports) && f->dev.n_ports; i++) {
		uint64_t port = r->v[ports[i].field];

		if (!rd_req_has(r, ports[i].field) ||
		    (rd_req_has(r, RD_REQ_MASK) && !has_bit(r, (unsigned)ports[i].bit)) ||
		    (port && port <= f->dev.n_ports))
			continue;
		rd_explain(ret, "port-number", RD_CONFIDENCE_HIGH, "%s is %" PRIu64 ", and %s has %s%u",
			   rd_req_name(ports[i].field), port, f->event->ibdev,
			   f->dev.n_ports == 1 ? "only port " : "ports 1 to ", f->dev.n_ports);
		return rd_explain_fix(ret, "# use a port of the device: rdma link lists them");
	}
	return false;
}

/* The port of the address vector must be that of the queue pair. */
static bool find_other_port(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_request *r = &f->event->request;
	const struct rd_moment_handle *qp = rd_handle_of(f, RD_REQ_H_QP);
	uint64_t port = r->v[RD_REQ_AV_PORT];

	if (!qp || !qp->found || qp->port.known != RD_OK || !qp->port.v || !rd_req_has(r, RD_REQ_AV_PORT) ||
	    !rd_req_has(r, RD_REQ_MASK) || !has_bit(r, 7) || !has_bit(r, 0) || r->v[RD_REQ_STATE] != RD_QPS_RTR ||
	    port == qp->port.v)
		return false;
	rd_explain(ret, "port-number", RD_CONFIDENCE_HIGH,
		   "ah_attr.port_num is %" PRIu64 ", and the queue pair is on port %u since it was moved to INIT", port,
		   qp->port.v);
	return rd_explain_fix(ret, "# use the same port in both transitions");
}

bool rd_find_ports(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	(void)looked;
	return find_port(f, ret) || find_other_port(f, ret);
}
