/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queries of nldev, their order, and what their replies say. */
#include "collect/rdma/rdma.h"

#include <sys/socket.h>

#include "collect/host/host.h"
#include "collect/shared/nlattr.h"
#include "collect/shared/uapi.h"

#define RELEASE_STEP 65536 /* bytes */
#define DEVICES_MAX 4096
/* Numbers to try after a dump that ended early: one request each, about 1 us. */
#define NUMBERS_MAX 65536u

/* The expected type of each attribute. */
/* clang-format off */
static const uint8_t policy[RD_NLDEV_ATTRS] = {
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

#define TAKE(type, attrs, attr, field)                                     \
	do {                                                               \
		if ((attrs)[attr])                                         \
			RD_SET(field, mnl_attr_get_##type((attrs)[attr])); \
	} while (0)

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

static void take_text(const struct nlattr *const *attrs, unsigned type, char **ret)
{
	if (!attrs[type])
		return;
	free(*ret);
	*ret = rd_dup(mnl_attr_get_str(attrs[type]));
}

static void take_owner(const struct nlattr *const *attrs, struct rd_owner *owner)
{
	TAKE(u32, attrs, RDMA_NLDEV_ATTR_RES_PID, owner->pid);
	take_text(attrs, RDMA_NLDEV_ATTR_RES_KERN_NAME, &owner->kernel);
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

/* Whether path_mig_state is what the device has: hns always says ARMED, the others do not write it. */
static bool tells_migration(const struct rd_res_dev *dev)
{
	return dev->driver_id.known != RD_OK ||
	       (dev->driver_id.v != RD_DRIVER_HNS && dev->driver_id.v != RD_DRIVER_BNXT_RE &&
		dev->driver_id.v != RD_DRIVER_ERDMA);
}

static void take_qp(const struct nlattr *const *attrs, int dev, struct rd_res *res)
{
	bool iwarp = res->devs[dev].protocol && strcmp(res->devs[dev].protocol, "iw") == 0;
	struct rd_qp *qp;

	/* Skip entries without a number. */
	if (!attrs[RDMA_NLDEV_ATTR_RES_LQPN])
		return;
	qp = RD_ADD(res->qps, res->n_qps, res->cap_qps);
	*qp = (struct rd_qp){ .dev = dev, .proc = -1 };
	TAKE(u32, attrs, RDMA_NLDEV_ATTR_RES_LQPN, qp->lqpn);
	TAKE(u32, attrs, RDMA_NLDEV_ATTR_PORT_INDEX, qp->port);
	TAKE(u32, attrs, RDMA_NLDEV_ATTR_RES_PDN, qp->pdn);
	TAKE(u8, attrs, RDMA_NLDEV_ATTR_RES_TYPE, qp->type);
	if (!res->devs[dev].tells_no_state)
		TAKE(u8, attrs, RDMA_NLDEV_ATTR_RES_STATE, qp->state);
	/* iWARP has none of these: its drivers write zeros, or leave what was in the kernel's memory, which sends it all the same. */
	if (!iwarp) {
		TAKE(u32, attrs, RDMA_NLDEV_ATTR_RES_RQPN, qp->rqpn);
		TAKE(u32, attrs, RDMA_NLDEV_ATTR_RES_SQ_PSN, qp->sq_psn);
		TAKE(u32, attrs, RDMA_NLDEV_ATTR_RES_RQ_PSN, qp->rq_psn);
		if (tells_migration(&res->devs[dev]))
			TAKE(u8, attrs, RDMA_NLDEV_ATTR_RES_PATH_MIG_STATE, qp->path_mig);
	}
	take_owner(attrs, &qp->owner);
	take_text(attrs, RDMA_NLDEV_ATTR_RES_SUBTYPE, &qp->subtype);
	if (attrs[RDMA_NLDEV_ATTR_DRIVER])
		take_driver(attrs[RDMA_NLDEV_ATTR_DRIVER], &res->devs[dev], qp);
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

static void take_cm_id(const struct nlattr *const *attrs, int dev, struct rd_res *res)
{
	struct rd_cm_id *cm_id;

	/* All kernels tell its port space. */
	if (!attrs[RDMA_NLDEV_ATTR_RES_PS])
		return;
	cm_id = RD_ADD(res->cm_ids, res->n_cm_ids, res->cap_cm_ids);
	*cm_id = (struct rd_cm_id){ .dev = dev, .proc = -1 };
	TAKE(u32, attrs, RDMA_NLDEV_ATTR_RES_LQPN, cm_id->lqpn);
	TAKE(u8, attrs, RDMA_NLDEV_ATTR_RES_STATE, cm_id->state);
	take_sockaddr(attrs[RDMA_NLDEV_ATTR_RES_SRC_ADDR], &cm_id->src);
	take_sockaddr(attrs[RDMA_NLDEV_ATTR_RES_DST_ADDR], &cm_id->dst);
	take_owner(attrs, &cm_id->owner);
}

static void take_object(const struct nlattr *const *attrs, enum rd_res_kind kind, int dev, struct rd_res *res)
{
	struct rd_res_object *object;

	/* Kernels before 5.1 tell no numbers, but the owner. */
	if (!attrs[places[kind].id] && !attrs[RDMA_NLDEV_ATTR_RES_PID] && !attrs[RDMA_NLDEV_ATTR_RES_KERN_NAME])
		return;
	object = RD_ADD(res->objects, res->n_objects, res->cap_objects);
	*object = (struct rd_res_object){ .dev = dev, .kind = kind, .proc = -1 };
	TAKE(u32, attrs, places[kind].id, object->id);
	TAKE(u32, attrs, RDMA_NLDEV_ATTR_RES_PDN, object->pdn);
	take_owner(attrs, &object->owner);
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

static void take_entry(const struct take *take, const struct nlattr *const *attrs)
{
	if (take->kind == RD_RES_QP)
		take_qp(attrs, take->dev, take->res);
	else if (take->kind == RD_RES_CM_ID)
		take_cm_id(attrs, take->dev, take->res);
	else
		take_object(attrs, take->kind, take->dev, take->res);
}

static void take_table(const struct take *take, const struct nlattr *table)
{
	const struct nlattr *entry = NULL, *attrs[RD_NLDEV_ATTRS];

	while (rd_nla_next_nested(table, &entry)) {
		if (mnl_attr_get_type(entry) != places[take->kind].entry)
			continue;
		if (rd_nla_nested(entry, policy, RD_NLDEV_ATTRS, attrs))
			take_entry(take, attrs);
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

/* For use in an rd_nlmsg_fn: the flags of the message with this body. */
static uint16_t flags_of(const uint8_t *body)
{
	struct nlmsghdr head;

	memcpy(&head, body - NLMSG_HDRLEN, sizeof(head));
	return head.nlmsg_flags;
}

/* The positive errno of an NLMSG_ERROR, with which the kernel ends a dump that failed; 0 for other messages. */
static int error_of(uint16_t type, const uint8_t *body, size_t size)
{
	int code;

	if (type != NLMSG_ERROR || size < sizeof(code))
		return 0;
	memcpy(&code, body, sizeof(code));
	return code < 0 && code >= -4095 ? -code : 0;
}

static void take_message(void *arg, uint16_t type, const uint8_t *body, size_t size)
{
	const struct nlattr *attrs[RD_NLDEV_ATTRS] = { 0 };
	struct take *take = arg;

	release(take, body);
	if (error_of(type, body, size))
		take->gap->code = error_of(type, body, size);
	take->gap->interrupted |= (flags_of(body) & NLM_F_DUMP_INTR) != 0;
	if (type != RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, places[take->kind].command))
		return;
	if (!rd_nla_table(body, size, policy, RD_NLDEV_ATTRS, attrs))
		take->gap->damaged = true;
	/* Ignore replies about another device than the queried one. */
	if (!attrs[RDMA_NLDEV_ATTR_DEV_INDEX] ||
	    mnl_attr_get_u32(attrs[RDMA_NLDEV_ATTR_DEV_INDEX]) != take->res->devs[take->dev].index)
		return;
	/* A dump has a table; the reply to a query by number has the attributes next to those of the device. */
	if (attrs[places[take->kind].table])
		take_table(take, attrs[places[take->kind].table]);
	else if (attrs[places[take->kind].id])
		take_entry(take, attrs);
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

/* A request with up to three attributes. */
struct request {
	uint8_t bytes[MNL_NLMSG_HDRLEN + 64] __attribute__((aligned(MNL_ALIGNTO)));
	struct nlmsghdr *head; /* within `bytes` */
};

struct nldev {
	struct rd_source *src;
	const char *wanted; /* device; NULL: all */
	struct rd_res *res;
	struct rd_errlist *errors;
};

/* `dev`: the device that it is about; -1: none. */
static void request_init(struct request *request, const struct nldev *nl, unsigned command, uint16_t flags, int dev)
{
	*request = (struct request){ 0 };
	request->head = mnl_nlmsg_put_header(request->bytes);
	request->head->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command);
	request->head->nlmsg_flags = NLM_F_REQUEST | flags;
	if (dev >= 0)
		mnl_attr_put_u32(request->head, RDMA_NLDEV_ATTR_DEV_INDEX, nl->res->devs[dev].index);
}

static int send_request(struct rd_source *src, const struct request *request, struct rd_bytes *ret, struct rd_err *err)
{
	return rd_netlink(src, NETLINK_RDMA, request->head, request->head->nlmsg_len, ret, err);
}

/* Takes the attributes of a message of a reply. */
typedef void take_fn(const struct nldev *nl, int dev, const struct nlattr *const *attrs);

struct each {
	const struct nldev *nl;
	int dev;
	uint16_t type;
	take_fn *take;
};

static void each_message(void *arg, uint16_t type, const uint8_t *body, size_t size)
{
	const struct nlattr *attrs[RD_NLDEV_ATTRS];
	const struct each *each = arg;

	if (type == each->type && rd_nla_table(body, size, policy, RD_NLDEV_ATTRS, attrs))
		each->take(each->nl, each->dev, attrs);
}

/* Sends a request, and takes the messages of the reply. */
static int query_each(const struct nldev *nl, const struct request *request, int dev, take_fn *take, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes reply = { 0 };
	struct each each = { nl, dev, request->head->nlmsg_type, take };
	int r = send_request(nl->src, request, &reply, err);

	if (!r)
		rd_nlmsgs_each(&reply, each_message, &each);
	return r;
}

/* The same for a device; what fails is an error of the result. */
static void query_device(const struct nldev *nl, unsigned command, uint16_t flags, int dev, take_fn *take)
{
	struct request request;
	struct rd_err err = { 0 };

	request_init(&request, nl, command, flags, dev);
	if (query_each(nl, &request, dev, take, &err) < 0)
		rd_errlist_add(nl->errors, &err);
}

static void take_device(const struct nldev *nl, int unused, const struct nlattr *const *attrs)
{
	struct rd_res *res = nl->res;
	struct rd_res_dev *dev;
	const char *name;

	if (!attrs[RDMA_NLDEV_ATTR_DEV_INDEX] || !attrs[RDMA_NLDEV_ATTR_DEV_NAME] || res->n_devs >= DEVICES_MAX)
		return;
	name = mnl_attr_get_str(attrs[RDMA_NLDEV_ATTR_DEV_NAME]);
	if ((nl->wanted && strcmp(name, nl->wanted) != 0) || rd_res_find_dev(res, name) >= 0)
		return;
	dev = RD_ADD(res->devs, res->n_devs, res->cap_devs);
	*dev = (struct rd_res_dev){ .index = mnl_attr_get_u32(attrs[RDMA_NLDEV_ATTR_DEV_INDEX]), .name = rd_dup(name) };
	if (attrs[RDMA_NLDEV_ATTR_PORT_INDEX])
		dev->n_ports = mnl_attr_get_u32(attrs[RDMA_NLDEV_ATTR_PORT_INDEX]);
	TAKE(u64, attrs, RDMA_NLDEV_ATTR_NODE_GUID, dev->node_guid);
	TAKE(u8, attrs, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, dev->node_type);
	take_text(attrs, RDMA_NLDEV_ATTR_FW_VERSION, &dev->firmware);
	take_text(attrs, RDMA_NLDEV_ATTR_DEV_PROTOCOL, &dev->protocol);
}

static int compare_devices(const void *a, const void *b)
{
	const struct rd_res_dev *x = a, *y = b;

	return rd_natural_compare(x->name, y->name);
}

static int collect_devices(const struct nldev *nl, struct rd_err *err)
{
	_cleanup_texts_ struct rd_texts names = { 0 };
	struct request request;
	/* Opening a socket of this protocol would load ib_core: reading must not change the host. */
	int r = rd_list_dir(nl->src, "/sys/class/infiniband", &names, err);

	if (r < 0)
		return r == -ENOENT ? rd_no_rdma_stack(err) : r;
	request_init(&request, nl, RDMA_NLDEV_CMD_GET, NLM_F_DUMP, -1);
	r = query_each(nl, &request, -1, take_device, err);
	if (r == -ENOENT) {
		rd_err_set(err, ENOENT, "RDMA netlink", "the bundle contains no queue pairs");
		rd_err_hint(err, "run rdmadiag capture to record queue pairs; a plain sysfs tree does not contain them");
	}
	if (r < 0)
		return r;
	rd_sort(nl->res->devs, nl->res->n_devs, sizeof(*nl->res->devs), compare_devices);
	if (!nl->res->n_devs && nl->wanted)
		return rd_err_set(err, ENODEV, nl->wanted, "no such RDMA device in this network namespace");
	return 0;
}

/* Whether all network namespaces see all devices. Kernels before 5.2 do not report it; there, they do. */
static void take_mode(const struct nldev *nl, int unused, const struct nlattr *const *attrs)
{
	if (attrs[RDMA_NLDEV_SYS_ATTR_NETNS_MODE])
		RD_SET(nl->res->netns_shared, mnl_attr_get_u8(attrs[RDMA_NLDEV_SYS_ATTR_NETNS_MODE]) == 1);
}

static void take_counts(const struct nldev *nl, int dev, const struct nlattr *const *attrs)
{
	const struct nlattr *entry = NULL, *one[RD_NLDEV_ATTRS] = { 0 };

	while (rd_nla_next_nested(attrs[RDMA_NLDEV_ATTR_RES_SUMMARY], &entry)) {
		rd_nla_nested(entry, policy, RD_NLDEV_ATTRS, one);
		if (!one[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME])
			continue;
		for (int kind = 0; kind < RD_RES_KINDS; kind++)
			if (strcmp(mnl_attr_get_str(one[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME]),
				   rd_res_kind_name(kind)) == 0)
				TAKE(u64, one, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, nl->res->devs[dev].used[kind]);
	}
}

static void take_driver_id(const struct nldev *nl, int dev, const struct nlattr *const *attrs)
{
	TAKE(u32, attrs, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, nl->res->devs[dev].driver_id);
}

/* The driver of the device. Without ib_uverbs, skipped: the query would load the module. */
static void collect_driver(const struct nldev *nl, int dev)
{
	struct rd_res_dev *of = &nl->res->devs[dev];
	_cleanup_free_ char *release = NULL;
	struct request request;
	uint64_t ino;

	if (rd_stat(nl->src, RD_OP_INO, "/sys/class/infiniband_verbs", &ino, NULL) < 0)
		return;
	request_init(&request, nl, RDMA_NLDEV_CMD_GET_CHARDEV, 0, dev);
	mnl_attr_put_strz(request.head, RDMA_NLDEV_ATTR_CHARDEV_TYPE, "uverbs");
	query_each(nl, &request, dev, take_driver_id, NULL);
	if (of->driver_id.known != RD_OK || of->driver_id.v != RD_DRIVER_SIW)
		return;
	/* Its query_qp of 6.1 does not write the state, that of 6.12 does. */
	rd_read_textf(nl->src, &release, NULL, "/proc/sys/kernel/osrelease");
	of->tells_no_state = !release || strverscmp(release, "6.12") < 0;
}

static void take_port(const struct nldev *nl, int dev, const struct nlattr *const *attrs)
{
	struct rd_res *res = nl->res;
	struct rd_res_port *port;

	if (!attrs[RDMA_NLDEV_ATTR_PORT_INDEX])
		return;
	port = RD_ADD(res->ports, res->n_ports, res->cap_ports);
	*port = (struct rd_res_port){ .dev = dev, .num = mnl_attr_get_u32(attrs[RDMA_NLDEV_ATTR_PORT_INDEX]) };
	TAKE(u8, attrs, RDMA_NLDEV_ATTR_PORT_STATE, port->state);
	TAKE(u8, attrs, RDMA_NLDEV_ATTR_PORT_PHYS_STATE, port->phys_state);
	TAKE(u32, attrs, RDMA_NLDEV_ATTR_LID, port->lid);
	TAKE(u32, attrs, RDMA_NLDEV_ATTR_NDEV_INDEX, port->netdev_index);
	take_text(attrs, RDMA_NLDEV_ATTR_NDEV_NAME, &port->netdev);
}

/* -errno; -ENOENT: no QP with this number; -EAGAIN: the QP has another port or, before INIT, none. */
static int query_number(const struct nldev *nl, int dev, uint32_t port, uint32_t id, struct rd_bytes *ret)
{
	struct request request;

	request_init(&request, nl, RDMA_NLDEV_CMD_RES_QP_GET, 0, dev);
	mnl_attr_put_u32(request.head, RDMA_NLDEV_ATTR_PORT_INDEX, port);
	mnl_attr_put_u32(request.head, RDMA_NLDEV_ATTR_RES_LQPN, id);
	return send_request(nl->src, &request, ret, NULL);
}

/* Whether the kernel supports queries by number, and the device still exists. 0xffffff is the multicast QPN: no QP has it. */
static bool supports_query_by_number(const struct nldev *nl, int dev)
{
	_cleanup_bytes_ struct rd_bytes reply = { 0 };

	return query_number(nl, dev, 1, 0xffffff, &reply) == -ENOENT;
}

/* Queries one QP by its number in the kernel's table. 1: found, 0: no such QP, -ENODEV: no reply any more. */
static int collect_number(const struct nldev *nl, int dev, uint32_t id)
{
	_cleanup_bytes_ struct rd_bytes reply = { 0 };
	struct rd_res *res = nl->res;
	uint32_t port = id >> 24 ? id >> 24 : 1, last = id >> 24 ? id >> 24 : res->devs[dev].n_ports;
	size_t before = res->n_qps;
	struct rd_qp *qp;
	int r;

	do
		r = query_number(nl, dev, port, id, &reply);
	while (r == -EAGAIN && port++ < last);
	if (r == -ENOENT)
		return 0;
	if (r == 0) {
		rd_nldev_take(&reply, RD_RES_QP, dev, res);
		return res->n_qps > before;
	}
	if (r != -EAGAIN && !supports_query_by_number(nl, dev))
		return -ENODEV;
	/* It exists, but its query failed. */
	qp = RD_ADD(res->qps, res->n_qps, res->cap_qps);
	*qp = (struct rd_qp){ .dev = dev, .proc = -1, .query_errno = -r };
	RD_SET(qp->lqpn, id & 0xffffff);
	if (id >> 24)
		RD_SET(qp->port, id >> 24);
	return 1;
}

/*
 * The dump ended at a QP whose query failed. It is in ascending order, so all QPs after the last listed one are missing,
 * including those of the message that the kernel was filling. Order of queries: special QPs, which the kernel indexes by port;
 * then the following numbers; then numbers of connections. Ends when as many QPs are known as the kernel counts.
 */
static void collect_by_number(const struct nldev *nl, int dev, size_t first)
{
	struct rd_res *res = nl->res;
	struct rd_res_dev *of = &res->devs[dev];
	uint64_t all = of->used[RD_RES_QP].known == RD_OK ? of->used[RD_RES_QP].v : UINT64_MAX,
		 have = res->n_qps - first;
	uint32_t from = 0, below = 0;
	int r = 0;

	for (size_t i = first; i < res->n_qps; i++)
		if (res->qps[i].lqpn.v >= from)
			from = res->qps[i].lqpn.v + 1;
	for (unsigned port = 1; port <= of->n_ports && port < 255 && have < all && r >= 0; port++)
		for (uint32_t id = 0; id <= 1 && r >= 0; id++) {
			r = collect_number(nl, dev, port << 24 | id);
			have += r > 0;
		}
	below = from < NUMBERS_MAX ? NUMBERS_MAX : from + NUMBERS_MAX;
	for (uint32_t id = from; id < below && have < all && r >= 0; id++) {
		r = collect_number(nl, dev, id);
		have += r > 0;
	}
	for (size_t i = 0; i < res->n_cm_ids && have < all && r >= 0; i++) {
		const struct rd_cm_id *cm_id = &res->cm_ids[i];

		if (cm_id->dev != dev || cm_id->lqpn.known != RD_OK || cm_id->lqpn.v < below)
			continue;
		r = collect_number(nl, dev, cm_id->lqpn.v);
		have += r > 0;
	}
}

/* After a dump that ended early: queries the rest by number, and reports an error. */
static void collect_rest(const struct nldev *nl, int dev, size_t first)
{
	const struct rd_res_dev *of = &nl->res->devs[dev];
	size_t listed = nl->res->n_qps - first;
	bool numbers = of->n_ports > 0 && supports_query_by_number(nl, dev);
	struct rd_err err = { 0 };

	if (numbers)
		collect_by_number(nl, dev, first);
	rd_err_set(&err, of->gaps[RD_RES_QP].code, of->name,
		   "the kernel ended its dump of queue pairs after %zu; queries by number found %zu more%s", listed,
		   nl->res->n_qps - first - listed, numbers ? "" : ": the kernel does not support them");
	rd_errlist_add(nl->errors, &err);
}

static int compare_qps(const void *a, const void *b)
{
	const struct rd_qp *x = a, *y = b;

	return RD_CMP(x->dev, y->dev) ?: RD_CMP(x->lqpn.v, y->lqpn.v) ?: RD_CMP(x->port.v, y->port.v);
}

/* A dump resumes by position: if a QP is destroyed meanwhile, the next message may repeat another one. */
static void sort_qps(struct rd_res *res)
{
	size_t kept = 0, sorted = 1;

	/* The kernel's order, mostly. qsort would use as much memory again. */
	while (sorted < res->n_qps && compare_qps(&res->qps[sorted - 1], &res->qps[sorted]) <= 0)
		sorted++;
	if (sorted < res->n_qps)
		qsort(res->qps, res->n_qps, sizeof(*res->qps), compare_qps);
	for (size_t i = 0; i < res->n_qps; i++)
		if (kept > 0 && compare_qps(&res->qps[kept - 1], &res->qps[i]) == 0)
			rd_qp_deinit(&res->qps[i]);
		else
			res->qps[kept++] = res->qps[i];
	res->n_qps = kept;
}

static void collect_kind(const struct nldev *nl, enum rd_res_kind kind, int dev)
{
	_cleanup_bytes_ struct rd_bytes reply = { 0 };
	struct rd_res_gap *gap = &nl->res->devs[dev].gaps[kind];
	size_t first = nl->res->n_qps;
	struct request request;
	int r;

	request_init(&request, nl, places[kind].command, NLM_F_DUMP, dev);
	r = send_request(nl->src, &request, &reply, NULL);
	nl->res->devs[dev].requested[kind] = true;
	/* Old kernels do not support all kinds (EOPNOTSUPP, EINVAL): not an error, but not zero either. */
	if (r < 0)
		gap->code = -r;
	else
		rd_nldev_consume(&reply, kind, dev, nl->res);
	if (gap->code && kind == RD_RES_QP)
		collect_rest(nl, dev, first);
}

/* QPs destroyed between the count and the dump are not missing from the list. */
static void update_count(const struct nldev *nl, int dev, size_t listed)
{
	struct rd_res_dev *of = &nl->res->devs[dev];
	uint64_t before = of->used[RD_RES_QP].v;

	if (of->used[RD_RES_QP].known != RD_OK || before <= listed)
		return;
	query_device(nl, RDMA_NLDEV_CMD_RES_GET, 0, dev, take_counts);
	/* Nor are QPs created since. */
	if (of->used[RD_RES_QP].v > before)
		of->used[RD_RES_QP].v = before;
}

static void collect_of_device(const struct nldev *nl, unsigned want, int dev)
{
	/* QPs last: queries by number use the numbers of connections. */
	static const enum rd_res_kind order[] = { RD_RES_CM_ID, RD_RES_CQ,  RD_RES_MR, RD_RES_PD,
						  RD_RES_CTX,	RD_RES_SRQ, RD_RES_QP };
	size_t first = nl->res->n_qps;

	query_device(nl, RDMA_NLDEV_CMD_RES_GET, 0, dev, take_counts);
	collect_driver(nl, dev);
	if (want & RD_WANT_PORTS)
		query_device(nl, RDMA_NLDEV_CMD_PORT_GET, NLM_F_DUMP, dev, take_port);
	for (size_t i = 0; i < RD_ARRAY_SIZE(order); i++)
		if (want & 1u << order[i])
			collect_kind(nl, order[i], dev);
	if (want & RD_WANT_QPS)
		update_count(nl, dev, nl->res->n_qps - first);
}

int rd_collect_res(struct rd_source *src, unsigned want, const char *device, struct rd_res *ret,
		   struct rd_errlist *errors, struct rd_err *err)
{
	struct nldev nl = { src, device, ret, errors };
	int r = collect_devices(&nl, err);
	struct request request;

	if (r < 0)
		return r;
	request_init(&request, &nl, RDMA_NLDEV_CMD_SYS_GET, 0, -1);
	query_each(&nl, &request, -1, take_mode, NULL);
	for (size_t i = 0; i < ret->n_devs; i++)
		collect_of_device(&nl, want, (int)i);
	sort_qps(ret);
	for (size_t i = 0; i < ret->n_qps; i++)
		ret->devs[ret->qps[i].dev].listed[RD_RES_QP]++;
	for (size_t i = 0; i < ret->n_cm_ids; i++)
		ret->devs[ret->cm_ids[i].dev].listed[RD_RES_CM_ID]++;
	for (size_t i = 0; i < ret->n_objects; i++)
		ret->devs[ret->objects[i].dev].listed[ret->objects[i].kind]++;
	/* After the counts: the child process opens a context of its own. */
	if (want & RD_WANT_LIMITS)
		rd_collect_res_limits(src, ret, errors);
	if (want & RD_WANT_PROCS)
		rd_collect_res_procs(src, ret);
	/* After the list: a queue pair that is created in between is not missing here. */
	if (want & RD_WANT_RECORDED)
		rd_collect_qp_recorded(src, ret, errors);
	rd_collect_qp_queries(src, ret, errors);
	return 0;
}
