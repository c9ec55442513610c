/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_COLLECT_NLDEV_PRIV_H
#define RD_COLLECT_NLDEV_PRIV_H

#include "collect/rdma/nldev.h"
#include "collect/shared/nlattr.h"
#include "collect/shared/uapi.h"

/* The expected type of each attribute. */
extern const uint8_t rd_nldev_policy[RD_NLDEV_ATTRS];

struct rd_nldev_attrs {
	const struct nlattr *v[RD_NLDEV_ATTRS];
};

/* The nldev command that lists a kind. */
unsigned rd_nldev_command(enum rd_res_kind kind);

/* Calls fn for each message of a reply to this command with valid attributes. A negative return of fn ends the loop. */
typedef int rd_nldev_fn(void *arg, const struct rd_nldev_attrs *attrs);
int rd_nldev_each(const struct rd_bytes *reply, unsigned command, rd_nldev_fn *fn, void *arg);

/* Copies a string attribute to *ret; keeps *ret if the attribute is missing. */
void rd_nldev_text(const struct rd_nldev_attrs *attrs, unsigned type, char **ret);

/* A request with up to three attributes. */
struct rd_nldev_request {
	uint8_t bytes[MNL_NLMSG_HDRLEN + 64] __attribute__((aligned(MNL_ALIGNTO)));
	struct nlmsghdr *head; /* within `bytes` */
};
void rd_nldev_request_init(struct rd_nldev_request *request, unsigned command, uint16_t flags);
int rd_nldev_send(struct rd_source *src, const struct rd_nldev_request *request, struct rd_bytes *ret,
		  struct rd_err *err);

/* Requests queue pair `lqpn` of a port, by RDMA_NLDEV_CMD_RES_QP_GET or _GET_RAW. */
int rd_nldev_query_qp(struct rd_source *src, unsigned command, uint32_t device, uint32_t port, uint32_t lqpn,
		      struct rd_bytes *ret);

/*
 * Takes the context of `qp` from a dump by mlx5 (source/shared/mlx5-dump.h). False: the dump is not about this queue pair, or it
 * contradicts what the kernel lists (the queue pair changed its state meanwhile, or the layout is another one).
 */
bool rd_mlx5_take_context(const uint8_t *dump, size_t size, const struct rd_res_dev *dev, struct rd_qp *qp);

/* Takes what the driver adds to an entry (RDMA_NLDEV_ATTR_DRIVER) into rd_qp.context. 0 or -ENOMEM. */
int rd_nldev_take_driver(const struct nlattr *nest, const struct rd_res_dev *dev, struct rd_qp *qp);

#define RD_NLDEV_U8(attrs, type, field)                                   \
	do {                                                              \
		if ((attrs)->v[type])                                     \
			RD_SET(field, mnl_attr_get_u8((attrs)->v[type])); \
	} while (0)
#define RD_NLDEV_U32(attrs, type, field)                                   \
	do {                                                               \
		if ((attrs)->v[type])                                      \
			RD_SET(field, mnl_attr_get_u32((attrs)->v[type])); \
	} while (0)
#define RD_NLDEV_U64(attrs, type, field)                                   \
	do {                                                               \
		if ((attrs)->v[type])                                      \
			RD_SET(field, mnl_attr_get_u64((attrs)->v[type])); \
	} while (0)

#endif
