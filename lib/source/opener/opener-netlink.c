/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The netlink requests that a confined process may send: only those listed here, all of them read-only. */
#include "opener-priv.h"

#include <libmnl/libmnl.h>
#include <linux/dcbnl.h>
#include <linux/devlink.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>
#include <string.h>

#include "source/shared/netlink.h"

static const uint16_t rdma_gets[] = {
	RDMA_NLDEV_CMD_GET,	      RDMA_NLDEV_CMD_PORT_GET,	      RDMA_NLDEV_CMD_SYS_GET,
	RDMA_NLDEV_CMD_GET_CHARDEV,   RDMA_NLDEV_CMD_RES_GET,	      RDMA_NLDEV_CMD_RES_QP_GET,
	RDMA_NLDEV_CMD_RES_CM_ID_GET, RDMA_NLDEV_CMD_RES_CQ_GET,      RDMA_NLDEV_CMD_RES_MR_GET,
	RDMA_NLDEV_CMD_RES_PD_GET,    RDMA_NLDEV_CMD_RES_CTX_GET,     RDMA_NLDEV_CMD_RES_SRQ_GET,
	RDMA_NLDEV_CMD_STAT_GET,      RDMA_NLDEV_CMD_STAT_GET_STATUS, RDMA_NLDEV_CMD_RES_QP_GET_RAW,
};

static bool is_rdma_get(uint16_t type)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(rdma_gets); i++)
		if (type == RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, rdma_gets[i]))
			return true;
	return false;
}

static const uint16_t route_gets[] = { RTM_GETLINK, RTM_GETADDR, RTM_GETROUTE, RTM_GETRULE, RTM_GETNEIGH };

/* In a DCB message the command determines whether it is read-only, not the message type. */
static bool is_dcb_get(const struct rd_query *query, const struct nlmsghdr *head)
{
	struct dcbmsg dcb;

	if (head->nlmsg_type != RTM_GETDCB || query->size < NLMSG_HDRLEN + sizeof(dcb))
		return false;
	memcpy(&dcb, (const uint8_t *)query->data + NLMSG_HDRLEN, sizeof(dcb));
	return dcb.cmd == DCB_CMD_IEEE_GET;
}

static bool is_route_get(const struct rd_query *query, const struct nlmsghdr *head)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(route_gets); i++)
		if (head->nlmsg_type == route_gets[i])
			return true;
	return is_dcb_get(query, head);
}

static const uint8_t ethtool_gets[] = {
	ETHTOOL_MSG_LINKMODES_GET, ETHTOOL_MSG_LINKSTATE_GET, ETHTOOL_MSG_FEATURES_GET,
	ETHTOOL_MSG_RINGS_GET,	   ETHTOOL_MSG_CHANNELS_GET,  ETHTOOL_MSG_PAUSE_GET,
	ETHTOOL_MSG_FEC_GET,	   ETHTOOL_MSG_STATS_GET,     RD_ETHTOOL_MSG_RSS_GET,
};
static const uint8_t devlink_gets[] = { DEVLINK_CMD_INFO_GET, DEVLINK_CMD_HEALTH_REPORTER_GET };
static const uint8_t netdev_gets[] = { RD_NETDEV_CMD_QUEUE_GET };

/* Generic netlink families; their numbers differ between hosts. */
static const struct family {
	const char *name;
	const uint8_t *gets;
	size_t n;
} families[OPENER_FAMILIES] = {
	{ ETHTOOL_GENL_NAME, ethtool_gets, RD_ARRAY_SIZE(ethtool_gets) },
	{ DEVLINK_GENL_NAME, devlink_gets, RD_ARRAY_SIZE(devlink_gets) },
	{ "netdev", netdev_gets, RD_ARRAY_SIZE(netdev_gets) },
};

static int take_family(const struct nlattr *attr, void *arg)
{
	if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID && mnl_attr_get_payload_len(attr) >= sizeof(uint16_t))
		*(uint16_t *)arg = mnl_attr_get_u16(attr);
	return MNL_CB_OK;
}

static void find_family(struct rd_source *host, const char *name, uint16_t *ret)
{
	_cleanup_bytes_ struct rd_bytes reply = { 0 };
	union {
		struct nlmsghdr head;
		char room[64];
	} request = { .head = { 0 } };
	struct genlmsghdr *command;

	mnl_nlmsg_put_header(&request);
	request.head.nlmsg_type = GENL_ID_CTRL;
	request.head.nlmsg_flags = NLM_F_REQUEST;
	command = mnl_nlmsg_put_extra_header(&request.head, sizeof(*command));
	command->cmd = CTRL_CMD_GETFAMILY;
	command->version = 1;
	mnl_attr_put_strz(&request.head, CTRL_ATTR_FAMILY_NAME, name);
	if (rd_netlink(host, NETLINK_GENERIC, &request, request.head.nlmsg_len, &reply, NULL) == 0 &&
	    reply.size > NLMSG_HDRLEN + GENL_HDRLEN)
		mnl_attr_parse_payload(reply.data + NLMSG_HDRLEN + GENL_HDRLEN, reply.size - NLMSG_HDRLEN - GENL_HDRLEN,
				       take_family, ret);
}

void rd_opener_find_families(struct opener_names *names, struct rd_source *host)
{
	for (size_t i = 0; i < OPENER_FAMILIES; i++)
		if (!names->families[i])
			find_family(host, families[i].name, &names->families[i]);
}

static bool is_generic_get(const struct opener_names *names, const struct nlmsghdr *head, uint8_t command)
{
	if (head->nlmsg_type == GENL_ID_CTRL)
		return command == CTRL_CMD_GETFAMILY;
	for (size_t i = 0; i < OPENER_FAMILIES; i++)
		if (names->families[i] && head->nlmsg_type == names->families[i])
			return memchr(families[i].gets, command, families[i].n) != NULL;
	return false;
}

bool rd_opener_may_request(const struct opener_names *names, const struct rd_query *query)
{
	struct nlmsghdr head;

	if (!names->host || rd_nlrequest_check(query->data, query->size, NULL) < 0)
		return false;
	memcpy(&head, query->data, sizeof(head));
	switch (query->protocol) {
	case NETLINK_ROUTE:
		return is_route_get(query, &head);
	case NETLINK_NETFILTER:
		return head.nlmsg_type == (NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETCHAIN) ||
		       head.nlmsg_type == (NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETRULE);
	case NETLINK_RDMA:
		return is_rdma_get(head.nlmsg_type);
	case NETLINK_GENERIC:
		return query->size > NLMSG_HDRLEN &&
		       is_generic_get(names, &head, ((const uint8_t *)query->data)[NLMSG_HDRLEN]);
	}
	return false;
}
