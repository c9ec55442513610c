/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests to nldev, as bytes. */
#include "collect/rdma/nldev-priv.h"

void rd_nldev_request_init(struct rd_nldev_request *request, unsigned command, uint16_t flags)
{
	*request = (struct rd_nldev_request){ 0 };
	request->head = mnl_nlmsg_put_header(request->bytes);
	request->head->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command);
	request->head->nlmsg_flags = NLM_F_REQUEST | flags;
}

int rd_nldev_send(struct rd_source *src, const struct rd_nldev_request *request, struct rd_bytes *ret,
		  struct rd_err *err)
{
	return rd_netlink(src, NETLINK_RDMA, request->head, request->head->nlmsg_len, ret, err);
}

int rd_nldev_query_qp(struct rd_source *src, unsigned command, uint32_t device, uint32_t port, uint32_t lqpn,
		      struct rd_bytes *ret)
{
	struct rd_nldev_request request;

	rd_nldev_request_init(&request, command, 0);
	mnl_attr_put_u32(request.head, RDMA_NLDEV_ATTR_DEV_INDEX, device);
	mnl_attr_put_u32(request.head, RDMA_NLDEV_ATTR_PORT_INDEX, port);
	mnl_attr_put_u32(request.head, RDMA_NLDEV_ATTR_RES_LQPN, lqpn);
	return rd_nldev_send(src, &request, ret, NULL);
}
