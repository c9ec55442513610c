/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a program asked of the kernel in a call that failed: the attributes of its request, decoded from the structures of the
 * user ABI (rdma/ib_user_verbs.h, ib_user_ioctl_cmds.h, rdma_user_cm.h).
 */
#ifndef RD_MODEL_REQUEST_H
#define RD_MODEL_REQUEST_H

#include "base/base.h"

enum rd_req_field {
	/* Objects, by their handle in the table of the process. */
	RD_REQ_H_PD,
	RD_REQ_H_MR,
	RD_REQ_H_MW,
	RD_REQ_H_AH,
	RD_REQ_H_QP,
	RD_REQ_H_CQ, /* of a queue pair: for sends */
	RD_REQ_H_RECV_CQ,
	RD_REQ_H_SRQ,
	RD_REQ_H_XRCD,
	RD_REQ_H_WQ,
	RD_REQ_H_OTHER,
	RD_REQ_HANDLES,
	/* Memory regions and windows */
	RD_REQ_ADDRESS = RD_REQ_HANDLES,
	RD_REQ_LENGTH,
	RD_REQ_IOVA,
	RD_REQ_ACCESS, /* enum ib_access_flags */
	RD_REQ_REREG,  /* enum ib_mr_rereg_flags */
	RD_REQ_FD,     /* of a DMA-BUF, or of a completion channel */
	RD_REQ_MW_TYPE,
	/* Queues */
	RD_REQ_CQE,
	RD_REQ_COMP_VECTOR,
	RD_REQ_SEND_WR,
	RD_REQ_RECV_WR,
	RD_REQ_SEND_SGE,
	RD_REQ_RECV_SGE,
	RD_REQ_INLINE,
	RD_REQ_QP_TYPE,
	RD_REQ_FLAGS, /* of create_qp and create_cq */
	RD_REQ_IS_SRQ,
	RD_REQ_SRQ_TYPE,
	RD_REQ_SRQ_WR,
	RD_REQ_SRQ_SGE,
	RD_REQ_SRQ_LIMIT,
	RD_REQ_SRQ_MASK,
	/* modify_qp */
	RD_REQ_MASK, /* enum ib_qp_attr_mask: which of the following are valid */
	RD_REQ_STATE,
	RD_REQ_CUR_STATE,
	RD_REQ_PATH_MTU, /* enum ib_mtu */
	RD_REQ_QKEY,
	RD_REQ_DEST_QPN,
	RD_REQ_PKEY_INDEX,
	RD_REQ_RD_ATOMIC,
	RD_REQ_DEST_RD_ATOMIC,
	RD_REQ_MIN_RNR_TIMER,
	RD_REQ_TIMEOUT,
	RD_REQ_RETRY_CNT,
	RD_REQ_RNR_RETRY,
	RD_REQ_ALT_PORT,
	RD_REQ_ALT_TIMEOUT,
	RD_REQ_ALT_PKEY_INDEX,
	RD_REQ_QP_ACCESS,
	/* Address vectors, of modify_qp and create_ah */
	RD_REQ_AV_PORT,
	RD_REQ_AV_GLOBAL,
	RD_REQ_SGID_INDEX,
	RD_REQ_DLID,
	RD_REQ_ALT_AV_PORT,
	/* Others */
	RD_REQ_PORT,
	RD_REQ_GID_INDEX,
	RD_REQ_MLID,
	RD_REQ_CM_ID,
	RD_REQ_BACKLOG,
	RD_REQ_PRIVATE_LEN,
	RD_REQ_PORT_SPACE,
	RD_REQ_OPTION_LEVEL,
	RD_REQ_OPTION,
	RD_REQ_EVENT,
	RD_REQ_JOIN_FLAGS,
	RD_REQ_REASON,
	RD_REQ_ADDR_SIZE,
	RD_REQ_FIELDS,
};

/* An IP address or GID. */
struct rd_req_address {
	bool known;
	uint16_t family; /* as passed: AF_INET, AF_INET6, AF_IB or anything else */
	uint16_t port;
	uint8_t addr[16];  /* of AF_INET: the first four bytes */
	uint32_t scope_id; /* of AF_INET6 */
};

/* Whether 16 bytes are an IPv4 address in the form of a GID: ::ffff:a.b.c.d */
bool rd_is_v4_gid(const uint8_t *gid);

struct rd_request {
	bool readable; /* the request was read; false: no field is known */
	bool known[RD_REQ_FIELDS];
	uint64_t v[RD_REQ_FIELDS];
	bool has_gid;
	uint8_t gid[16]; /* destination of an address vector, or the multicast group */
	struct rd_req_address src, dst;
};

static inline bool rd_req_has(const struct rd_request *request, enum rd_req_field field)
{
	return request->known[field];
}

/* "max_send_sge", "timeout": the name in libibverbs or librdmacm. */
const char *rd_req_name(enum rd_req_field field);

/* ---- the write commands of uverbs: numbers of ib_user_verbs.h as of Linux 7.x, a stable ABI */

/* Marks a command of the extended numbering in INVOKE_WRITE: IB_USER_VERBS_CMD_FLAG_EXTENDED. */
#define RD_COMMAND_EXTENDED 0x80000000u

struct rd_command {
	uint8_t id;
	bool extended;
	const char *name, *object;
	const char *verb;    /* the library call; NULL: does not correspond to a single one */
	const char *handler; /* after "ib_uverbs_"; NULL: the name in lower case, after "ex_" if extended */
};

/* `number` as in INVOKE_WRITE, with RD_COMMAND_EXTENDED. NULL: unknown. */
const struct rd_command *rd_command_find(uint32_t number);

/* The command that a kernel function handles; the name may have a suffix added by the compiler (.isra.0). NULL: none. */
const struct rd_command *rd_command_of_handler(const char *function);

#endif
