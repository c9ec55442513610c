/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decodes nldev replies into the model. */
#include "collect/rdma/nldev-priv.h"

#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "base/memory.h"

#define RELEASE_STEP 65536 /* bytes */

/* The command and attributes of each kind: table, entry, and number of an entry. */
static const struct {
	uint16_t command, table, entry, id;
} places[RD_RES_KINDS] = {
	[RD_RES_QP] = { RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_QP_ENTRY,
			RDMA_NLDEV_ATTR_RES_LQPN },
	[RD_RES_CM_ID] = { RDMA_NLDEV_CMD_RES_CM_ID_GET, RDMA_NLDEV_ATTR_RES_CM_ID, RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY,
			   RDMA_NLDEV_ATTR_RES_CM_IDN },
	[RD_RES_CQ] = { RDMA_NLDEV_CMD_RES_CQ_GET, RDMA_NLDEV_ATTR_RES_CQ, RDMA_NLDEV_ATTR_RES_CQ_ENTRY,
			RDMA_NLDEV_ATTR_RES_CQN },
	[RD_RES_MR] = { RDMA_NLDEV_CMD_RES_MR_GET, RDMA_NLDEV_ATTR_RES_MR, RDMA_NLDEV_ATTR_RES_MR_ENTRY,
			RDMA_NLDEV_ATTR_RES_MRN },
	[RD_RES_PD] = { RDMA_NLDEV_CMD_RES_PD_GET, RDMA_NLDEV_ATTR_RES_PD, RDMA_NLDEV_ATTR_RES_PD_ENTRY,
			RDMA_NLDEV_ATTR_RES_PDN },
	[RD_RES_CTX] = { RDMA_NLDEV_CMD_RES_CTX_GET, RDMA_NLDEV_ATTR_RES_CTX, RDMA_NLDEV_ATTR_RES_CTX_ENTRY,
			 RDMA_NLDEV_ATTR_RES_CTXN },
	[RD_RES_SRQ] = { RDMA_NLDEV_CMD_RES_SRQ_GET, RDMA_NLDEV_ATTR_RES_SRQ, RDMA_NLDEV_ATTR_RES_SRQ_ENTRY,
			 RDMA_NLDEV_ATTR_RES_SRQN },
};

unsigned rd_nldev_command(enum rd_res_kind kind)
{
	return places[kind].command;
}

void rd_nldev_text(const struct rd_nldev_attrs *attrs, unsigned type, char **ret)
{
	char *copy;

	if (!attrs->v[type])
		return;
	copy = rd_dup(mnl_attr_get_str(attrs->v[type]));
	free(*ret);
	*ret = copy;
}

static void take_owner(const struct rd_nldev_attrs *attrs, struct rd_owner *owner)
{
	RD_NLDEV_U32(attrs, RDMA_NLDEV_ATTR_RES_PID, owner->pid);
	rd_nldev_text(attrs, RDMA_NLDEV_ATTR_RES_KERN_NAME, &owner->kernel);
}

/* The value as text, in `text` (32 bytes) or the attribute itself; false: not a value. */
static bool value_of(const struct nlattr *attr, bool hex, char *text, const char **ret)
{
	size_t size = mnl_attr_get_payload_len(attr);
	uint64_t number;

	*ret = text;
	switch (mnl_attr_get_type(attr)) {
	case RDMA_NLDEV_ATTR_DRIVER_STRING:
		*ret = mnl_attr_get_str(attr);
		return true;
	case RDMA_NLDEV_ATTR_DRIVER_S32:
	case RDMA_NLDEV_ATTR_DRIVER_S64:
		if ((size != 4 && size != 8) || !rd_nla_uint(attr, &number))
			return false;
		snprintf(text, 32, "%" PRId64, size == 4 ? (int64_t)(int32_t)number : (int64_t)number);
		return true;
	case RDMA_NLDEV_ATTR_DRIVER_U32:
	case RDMA_NLDEV_ATTR_DRIVER_U64:
		if (!rd_nla_uint(attr, &number))
			return false;
		snprintf(text, 32, hex ? "0x%" PRIx64 : "%" PRIu64, number);
		return true;
	default:
		return false;
	}
}

static bool is_text(const struct nlattr *attr)
{
	return mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_DRIVER_STRING &&
	       mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) >= 0;
}

/*
 * Values whose name alone does not tell what they are, but whose driver's source does. bnxt_re: the code of the local ACK timeout
 * that modify_qp set, which RTS requires.
 */
static void take_known(const struct rd_res_dev *dev, const struct rd_qp *qp, const char *name,
		       const struct nlattr *value, struct rd_qp_context *context)
{
	bool sends = qp->type.known == RD_OK && qp->type.v == RD_QPT_RC && qp->state.known == RD_OK &&
		     (qp->state.v == RD_QPS_RTS || qp->state.v == RD_QPS_SQD);
	uint64_t number;

	if (dev->driver_id.known != RD_OK || dev->driver_id.v != RD_DRIVER_BNXT_RE || strcmp(name, "timeout") != 0 ||
	    !sends || mnl_attr_get_type(value) != RDMA_NLDEV_ATTR_DRIVER_U32 || !rd_nla_uint(value, &number) ||
	    number > 31)
		return;
	RD_SET(context->attrs.timeout, (uint8_t)number);
}

/*
 * What a driver adds to the kernel's list of queue pairs (RDMA_NLDEV_ATTR_DRIVER): a name, for some numbers how to print it, and a
 * value, in turn. The kernel sends it unasked, to every user.
 */
static void take_driver(const struct nlattr *nest, const struct rd_res_dev *dev, struct rd_qp *qp)
{
	_cleanup_buf_ struct rd_buf out = RD_BUF_CHECKED;
	const struct nlattr *attr = NULL;
	const char *name = NULL, *value;
	bool hex = false;
	char text[32];

	while (rd_nla_next_nested(nest, &attr)) {
		if (mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_PAD) /* before 64 bits, on some architectures */
			continue;
		if (!name) {
			name = is_text(attr) ? mnl_attr_get_str(attr) : NULL;
			hex = false;
		} else if (mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_DRIVER_PRINT_TYPE) {
			uint64_t type = 0;

			hex = rd_nla_uint(attr, &type) && type == RDMA_NLDEV_PRINT_TYPE_HEX;
		} else {
			bool string = mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_DRIVER_STRING;

			if ((!string || is_text(attr)) && value_of(attr, hex, text, &value)) {
				rd_buf_add(&out, name, strlen(name) + 1);
				rd_buf_add(&out, value, strlen(value) + 1);
				take_known(dev, qp, name, attr, rd_qp_need_context(qp));
			}
			name = NULL;
		}
	}
	if (out.failed || !out.len)
		return;
	qp->context->driver_size = out.len;
	qp->context->driver = RD_TAKE(out.data);
}

static void take_qp(const struct rd_nldev_attrs *attrs, int dev, struct rd_res *res)
{
	struct rd_qp *qp;

	/* Skip entries without a number. */
	if (!attrs->v[RDMA_NLDEV_ATTR_RES_LQPN])
		return;
	qp = RD_ADD(res->qps, res->n_qps, res->cap_qps);
	*qp = (struct rd_qp){ .dev = dev, .proc = -1 };
	RD_NLDEV_U32(attrs, RDMA_NLDEV_ATTR_RES_LQPN, qp->lqpn);
	RD_NLDEV_U32(attrs, RDMA_NLDEV_ATTR_PORT_INDEX, qp->port);
	RD_NLDEV_U32(attrs, RDMA_NLDEV_ATTR_RES_RQPN, qp->rqpn);
	RD_NLDEV_U32(attrs, RDMA_NLDEV_ATTR_RES_SQ_PSN, qp->sq_psn);
	RD_NLDEV_U32(attrs, RDMA_NLDEV_ATTR_RES_RQ_PSN, qp->rq_psn);
	RD_NLDEV_U32(attrs, RDMA_NLDEV_ATTR_RES_PDN, qp->pdn);
	RD_NLDEV_U8(attrs, RDMA_NLDEV_ATTR_RES_TYPE, qp->type);
	RD_NLDEV_U8(attrs, RDMA_NLDEV_ATTR_RES_STATE, qp->state);
	RD_NLDEV_U8(attrs, RDMA_NLDEV_ATTR_RES_PATH_MIG_STATE, qp->path_mig);
	take_owner(attrs, &qp->owner);
	rd_nldev_text(attrs, RDMA_NLDEV_ATTR_RES_SUBTYPE, &qp->subtype);
	if (attrs->v[RDMA_NLDEV_ATTR_DRIVER])
		take_driver(attrs->v[RDMA_NLDEV_ATTR_DRIVER], &res->devs[dev], qp);
}

/* struct sockaddr_in, _in6 and the kernel's sockaddr_ib, by offset: attributes are not aligned. */
static void take_sockaddr(const struct nlattr *attr, struct rd_sockaddr *ret)
{
	const uint8_t *data = attr ? mnl_attr_get_payload(attr) : NULL;
	size_t size = attr ? mnl_attr_get_payload_len(attr) : 0;
	uint16_t family;

	if (size < 8)
		return;
	memcpy(&family, data, sizeof(family));
	if (family == AF_INET) {
		memcpy(ret->ip, data + 4, 4);
	} else if (size >= 24 && (family == AF_INET6 || family == RD_AF_IB)) {
		memcpy(ret->ip, data + 8, 16);
	} else {
		return;
	}
	ret->family = family;
	if (family != RD_AF_IB)
		ret->port = (uint16_t)(data[2] << 8 | data[3]);
}

static void take_cm_id(const struct rd_nldev_attrs *attrs, int dev, struct rd_res *res)
{
	struct rd_cm_id *cm_id;

	/* All kernels tell its port space. */
	if (!attrs->v[RDMA_NLDEV_ATTR_RES_PS])
		return;
	cm_id = RD_ADD(res->cm_ids, res->n_cm_ids, res->cap_cm_ids);
	*cm_id = (struct rd_cm_id){ .dev = dev, .proc = -1 };
	RD_NLDEV_U32(attrs, RDMA_NLDEV_ATTR_PORT_INDEX, cm_id->port);
	RD_NLDEV_U32(attrs, RDMA_NLDEV_ATTR_RES_LQPN, cm_id->lqpn);
	RD_NLDEV_U32(attrs, RDMA_NLDEV_ATTR_RES_CM_IDN, cm_id->id);
	RD_NLDEV_U32(attrs, RDMA_NLDEV_ATTR_RES_PS, cm_id->ps);
	RD_NLDEV_U8(attrs, RDMA_NLDEV_ATTR_RES_STATE, cm_id->state);
	RD_NLDEV_U8(attrs, RDMA_NLDEV_ATTR_RES_TYPE, cm_id->type);
	take_sockaddr(attrs->v[RDMA_NLDEV_ATTR_RES_SRC_ADDR], &cm_id->src);
	take_sockaddr(attrs->v[RDMA_NLDEV_ATTR_RES_DST_ADDR], &cm_id->dst);
	take_owner(attrs, &cm_id->owner);
}

static void take_object(const struct rd_nldev_attrs *attrs, enum rd_res_kind kind, int dev, struct rd_res *res)
{
	struct rd_res_object *object;

	/* Kernels before 5.1 tell no numbers, but the owner. */
	if (!attrs->v[places[kind].id] && !attrs->v[RDMA_NLDEV_ATTR_RES_PID] && !attrs->v[RDMA_NLDEV_ATTR_RES_KERN_NAME])
		return;
	object = RD_ADD(res->objects, res->n_objects, res->cap_objects);
	*object = (struct rd_res_object){ .dev = dev, .kind = kind, .proc = -1 };
	RD_NLDEV_U32(attrs, places[kind].id, object->id);
	RD_NLDEV_U32(attrs, RDMA_NLDEV_ATTR_RES_PDN, object->pdn);
	RD_NLDEV_U32(attrs, RDMA_NLDEV_ATTR_RES_CTXN, object->ctxn);
	RD_NLDEV_U32(attrs, RDMA_NLDEV_ATTR_RES_CQN, object->cqn);
	RD_NLDEV_U32(attrs, RDMA_NLDEV_ATTR_RES_CQE, object->cqe);
	RD_NLDEV_U64(attrs, RDMA_NLDEV_ATTR_RES_USECNT, object->users);
	RD_NLDEV_U64(attrs, RDMA_NLDEV_ATTR_RES_MRLEN, object->length);
	RD_NLDEV_U8(attrs, RDMA_NLDEV_ATTR_RES_TYPE, object->type);
	take_owner(attrs, &object->owner);
}

static void take_entry(const struct rd_nldev_attrs *attrs, enum rd_res_kind kind, int dev, struct rd_res *res)
{
	if (kind == RD_RES_QP)
		take_qp(attrs, dev, res);
	else if (kind == RD_RES_CM_ID)
		take_cm_id(attrs, dev, res);
	else
		take_object(attrs, kind, dev, res);
}

/* Destination of the entries of a message. */
struct take {
	enum rd_res_kind kind;
	int dev;
	struct rd_res *res;
	struct rd_res_gap *gap;
	struct rd_bytes *reply; /* to release; NULL: it is kept */
	size_t released;	/* bytes */
};

static void take_table(const struct take *take, const struct nlattr *table)
{
	const struct nlattr *entry = NULL;
	struct rd_nldev_attrs attrs;

	while (rd_nla_next_nested(table, &entry)) {
		if (mnl_attr_get_type(entry) != places[take->kind].entry)
			continue;
		if (rd_nla_nested(entry, rd_nldev_policy, RD_NLDEV_ATTRS, attrs.v))
			take_entry(&attrs, take->kind, take->dev, take->res);
		else
			take->gap->damaged = true;
	}
	take->gap->damaged |= !rd_nla_ended_nested(table, entry);
}

/* What was taken, in steps: each is a system call. */
static void release(struct take *take, const uint8_t *body)
{
	size_t taken = take->reply ? (size_t)(body - take->reply->data) : 0;

	if (taken < take->released + RELEASE_STEP)
		return;
	rd_bytes_release(take->reply, taken);
	take->released = taken;
}

static int take_message(void *arg, uint16_t type, const uint8_t *body, size_t size)
{
	struct take *take = arg;
	struct rd_nldev_attrs attrs = { 0 };

	release(take, body);

	if (rd_nlmsg_error(type, body, size))
		take->gap->code = rd_nlmsg_error(type, body, size);
	take->gap->interrupted |= (rd_nlmsg_flags(body) & NLM_F_DUMP_INTR) != 0;
	if (type != RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, places[take->kind].command))
		return 0;
	if (!rd_nla_table(body, size, rd_nldev_policy, RD_NLDEV_ATTRS, attrs.v))
		take->gap->damaged = true;
	/* Ignore replies about another device than the queried one. */
	if (!attrs.v[RDMA_NLDEV_ATTR_DEV_INDEX] ||
	    mnl_attr_get_u32(attrs.v[RDMA_NLDEV_ATTR_DEV_INDEX]) != take->res->devs[take->dev].index)
		return 0;
	/* A dump has a table; the reply to a query by number has the attributes next to those of the device. */
	if (attrs.v[places[take->kind].table])
		take_table(take, attrs.v[places[take->kind].table]);
	else if (attrs.v[places[take->kind].id])
		take_entry(&attrs, take->kind, take->dev, take->res);
	return 0;
}

void rd_nldev_take(const struct rd_bytes *reply, enum rd_res_kind kind, int dev, struct rd_res *res)
{
	struct take take = { .kind = kind, .dev = dev, .res = res, .gap = &res->devs[dev].gaps[kind] };

	rd_nlmsgs_each(reply, take_message, &take);
}

void rd_nldev_consume(struct rd_bytes *reply, enum rd_res_kind kind, int dev, struct rd_res *res)
{
	struct take take = { kind, dev, res, &res->devs[dev].gaps[kind], reply, 0 };

	rd_nlmsgs_each(reply, take_message, &take);
}

struct each {
	unsigned command;
	rd_nldev_fn *fn;
	void *arg;
};

static int each_message(void *arg, uint16_t type, const uint8_t *body, size_t size)
{
	const struct each *each = arg;
	struct rd_nldev_attrs attrs;

	if (type != RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, each->command) ||
	    !rd_nla_table(body, size, rd_nldev_policy, RD_NLDEV_ATTRS, attrs.v))
		return 0;
	return each->fn(each->arg, &attrs);
}

int rd_nldev_each(const struct rd_bytes *reply, unsigned command, rd_nldev_fn *fn, void *arg)
{
	struct each each = { command, fn, arg };

	return rd_nlmsgs_each(reply, each_message, &each);
}

/* clang-format off */
const uint8_t rd_nldev_policy[RD_NLDEV_ATTRS] = {
	[RDMA_NLDEV_ATTR_DEV_INDEX] = MNL_TYPE_U32,
	[RDMA_NLDEV_ATTR_DEV_NAME] = MNL_TYPE_NUL_STRING,
	[RDMA_NLDEV_ATTR_PORT_INDEX] = MNL_TYPE_U32,
	[RDMA_NLDEV_ATTR_FW_VERSION] = MNL_TYPE_NUL_STRING,
	[RDMA_NLDEV_ATTR_NODE_GUID] = MNL_TYPE_U64,
	[RDMA_NLDEV_ATTR_DEV_NODE_TYPE] = MNL_TYPE_U8,
	[RDMA_NLDEV_ATTR_DEV_PROTOCOL] = MNL_TYPE_NUL_STRING,
	[RDMA_NLDEV_ATTR_LID] = MNL_TYPE_U32,
	[RDMA_NLDEV_ATTR_PORT_STATE] = MNL_TYPE_U8,
	[RDMA_NLDEV_ATTR_PORT_PHYS_STATE] = MNL_TYPE_U8,
	[RDMA_NLDEV_ATTR_NDEV_INDEX] = MNL_TYPE_U32,
	[RDMA_NLDEV_ATTR_NDEV_NAME] = MNL_TYPE_NUL_STRING,
	[RDMA_NLDEV_SYS_ATTR_NETNS_MODE] = MNL_TYPE_U8,
	[RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID] = MNL_TYPE_U32,
	[RDMA_NLDEV_ATTR_RES_SUMMARY] = MNL_TYPE_NESTED,
	[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME] = MNL_TYPE_NUL_STRING,
	[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR] = MNL_TYPE_U64,
	[RDMA_NLDEV_ATTR_RES_QP] = MNL_TYPE_NESTED,
	[RDMA_NLDEV_ATTR_RES_CM_ID] = MNL_TYPE_NESTED,
	[RDMA_NLDEV_ATTR_RES_CQ] = MNL_TYPE_NESTED,
	[RDMA_NLDEV_ATTR_RES_MR] = MNL_TYPE_NESTED,
	[RDMA_NLDEV_ATTR_RES_PD] = MNL_TYPE_NESTED,
	[RDMA_NLDEV_ATTR_RES_CTX] = MNL_TYPE_NESTED,
	[RDMA_NLDEV_ATTR_RES_SRQ] = MNL_TYPE_NESTED,
	[RDMA_NLDEV_ATTR_RES_LQPN] = MNL_TYPE_U32,
	[RDMA_NLDEV_ATTR_RES_RQPN] = MNL_TYPE_U32,
	[RDMA_NLDEV_ATTR_RES_RQ_PSN] = MNL_TYPE_U32,
	[RDMA_NLDEV_ATTR_RES_SQ_PSN] = MNL_TYPE_U32,
	[RDMA_NLDEV_ATTR_RES_PATH_MIG_STATE] = MNL_TYPE_U8,
	[RDMA_NLDEV_ATTR_RES_TYPE] = MNL_TYPE_U8,
	[RDMA_NLDEV_ATTR_RES_SUBTYPE] = MNL_TYPE_NUL_STRING,
	[RDMA_NLDEV_ATTR_RES_STATE] = MNL_TYPE_U8,
	[RDMA_NLDEV_ATTR_RES_PID] = MNL_TYPE_U32,
	[RDMA_NLDEV_ATTR_RES_KERN_NAME] = MNL_TYPE_NUL_STRING,
	[RDMA_NLDEV_ATTR_RES_PS] = MNL_TYPE_U32,
	[RDMA_NLDEV_ATTR_RES_SRC_ADDR] = MNL_TYPE_BINARY,
	[RDMA_NLDEV_ATTR_RES_DST_ADDR] = MNL_TYPE_BINARY,
	[RDMA_NLDEV_ATTR_RES_CQE] = MNL_TYPE_U32,
	[RDMA_NLDEV_ATTR_RES_USECNT] = MNL_TYPE_U64,
	[RDMA_NLDEV_ATTR_RES_MRLEN] = MNL_TYPE_U64,
	[RDMA_NLDEV_ATTR_RES_PDN] = MNL_TYPE_U32,
	[RDMA_NLDEV_ATTR_RES_CQN] = MNL_TYPE_U32,
	[RDMA_NLDEV_ATTR_RES_MRN] = MNL_TYPE_U32,
	[RDMA_NLDEV_ATTR_RES_CM_IDN] = MNL_TYPE_U32,
	[RDMA_NLDEV_ATTR_RES_CTXN] = MNL_TYPE_U32,
	[RDMA_NLDEV_ATTR_RES_SRQN] = MNL_TYPE_U32,
	[RDMA_NLDEV_ATTR_DRIVER] = MNL_TYPE_NESTED,
};
/* clang-format on */
