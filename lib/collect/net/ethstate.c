/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings of an interface: ethtool and DCB. */
#include "collect/net/netstate.h"

#include <linux/dcbnl.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "source/shared/netlink.h"

/* Data Center Bridging settings of an interface, from rtnetlink (DCB_CMD_IEEE_GET). */

/* DCB_ATTR_DCB_APP_TRUST_TABLE of Linux 6.2, not in the headers this is built with: a list of selectors, each an attribute of
 * one byte. 12 is another table, which kernels since 6.3 always send. */
#define ATTR_IEEE_TRUST_TABLE 11

static void read_pfc(const struct nlattr *attr, struct rd_dcb *dcb)
{
	struct ieee_pfc pfc;

	if (!rd_nla_bytes(attr, &pfc, sizeof(pfc)))
		return;
	dcb->pfc.known = RD_OK;
	dcb->pfc.enable = pfc.pfc_en;
	memcpy(dcb->pfc.requests, pfc.requests, sizeof(dcb->pfc.requests));
	memcpy(dcb->pfc.indications, pfc.indications, sizeof(dcb->pfc.indications));
}

static void read_ets(const struct nlattr *attr, struct rd_dcb *dcb)
{
	struct ieee_ets ets;

	if (!rd_nla_bytes(attr, &ets, sizeof(ets)))
		return;
	dcb->ets.known = RD_OK;
	memcpy(dcb->ets.prio_tc, ets.prio_tc, sizeof(dcb->ets.prio_tc));
}

/* Only the DSCP entries of the application table matter for RoCE v2. An empty table is known to be empty. */
static void read_apps(const struct nlattr *table, struct rd_dcb *dcb)
{
	const struct nlattr *attr = NULL;
	struct dcb_app app;

	if (!table)
		return;
	RD_SET(dcb->dscp_prio_set, 0);
	while (rd_nla_next_nested(table, &attr)) {
		if (mnl_attr_get_type(attr) != DCB_ATTR_IEEE_APP || !rd_nla_bytes(attr, &app, sizeof(app)) ||
		    app.selector != IEEE_8021QAZ_APP_SEL_DSCP || app.protocol >= 64 || app.priority >= RD_PRIOS)
			continue;
		dcb->dscp_prio_set.v |= UINT64_C(1) << app.protocol;
		dcb->dscp_prio[app.protocol] = app.priority;
	}
}

static void read_trust(const struct nlattr *table, struct rd_dcb *dcb)
{
	const struct nlattr *attr = NULL;
	uint64_t selector;

	if (!table)
		return;
	dcb->trust.known = RD_OK;
	while (rd_nla_next_nested(table, &attr))
		if (dcb->trust.n < sizeof(dcb->trust.selectors) && rd_nla_uint(attr, &selector))
			dcb->trust.selectors[dcb->trust.n++] = (uint8_t)selector;
}

static void take_dcb(void *arg, uint16_t type, const uint8_t *body, size_t size)
{
	static const uint8_t policy[] = { [DCB_ATTR_IEEE] = MNL_TYPE_NESTED };
	static const uint8_t ieee_policy[] = {
		[DCB_ATTR_IEEE_ETS] = MNL_TYPE_BINARY,
		[DCB_ATTR_IEEE_PFC] = MNL_TYPE_BINARY,
		[DCB_ATTR_IEEE_APP_TABLE] = MNL_TYPE_NESTED,
		[ATTR_IEEE_TRUST_TABLE] = MNL_TYPE_NESTED,
	};
	const struct nlattr *table[RD_ARRAY_SIZE(policy)], *ieee[RD_ARRAY_SIZE(ieee_policy)];
	struct rd_dcb *dcb = arg;
	struct dcbmsg info;

	if ((type != RTM_GETDCB && type != RTM_SETDCB) || size < sizeof(info))
		return;
	memcpy(&info, body, sizeof(info));
	if (info.cmd != DCB_CMD_IEEE_GET)
		return;
	rd_nla_table(body + sizeof(info), size - sizeof(info), policy, RD_ARRAY_SIZE(policy), table);
	rd_nla_nested(table[DCB_ATTR_IEEE], ieee_policy, RD_ARRAY_SIZE(ieee_policy), ieee);
	read_ets(ieee[DCB_ATTR_IEEE_ETS], dcb);
	read_pfc(ieee[DCB_ATTR_IEEE_PFC], dcb);
	read_apps(ieee[DCB_ATTR_IEEE_APP_TABLE], dcb);
	read_trust(ieee[ATTR_IEEE_TRUST_TABLE], dcb);
}

void rd_collect_dcb(const struct rd_sysfs *fs, const char *netdev, struct rd_dcb *ret)
{
	char buf[256] __attribute__((aligned(NLMSG_ALIGNTO))) = { 0 };
	struct nlmsghdr *head = mnl_nlmsg_put_header(buf);
	struct dcbmsg *info;

	if (strlen(netdev) >= 128)
		return;
	head->nlmsg_type = RTM_GETDCB;
	head->nlmsg_flags = NLM_F_REQUEST;
	info = mnl_nlmsg_put_extra_header(head, sizeof(*info));
	info->cmd = DCB_CMD_IEEE_GET;
	mnl_attr_put_strz(head, DCB_ATTR_IFNAME, netdev);
	ret->known = rd_netstate_dump(fs, NETLINK_ROUTE, head, head->nlmsg_len, take_dcb, ret);
}

/* ethtool settings and receive queues of an interface, from generic netlink. */

/* Not in the headers this is built with. */
enum { ATTR_QUEUE_IFINDEX = 2, ATTR_QUEUE_TYPE = 3, ATTR_QUEUE_DMABUF = 5, ATTR_QUEUE_IO_URING = 6 };
enum { QUEUE_TYPE_RX = 0 };

#define SET_UINT(field, attr)                                         \
	do {                                                          \
		uint64_t value_;                                      \
		if (rd_nla_uint(attr, &value_))                       \
			RD_SET(field, (__typeof__((field).v))value_); \
	} while (0)

static void take_pause(void *arg, uint8_t command, const void *attrs, size_t size)
{
	static const uint8_t policy[] = { [ETHTOOL_A_PAUSE_RX] = MNL_TYPE_U8, [ETHTOOL_A_PAUSE_TX] = MNL_TYPE_U8 };
	const struct nlattr *table[RD_ARRAY_SIZE(policy)];
	struct rd_ethstate *eth = arg;

	rd_nla_table(attrs, size, policy, RD_ARRAY_SIZE(policy), table);
	SET_UINT(eth->pause_rx, table[ETHTOOL_A_PAUSE_RX]);
	SET_UINT(eth->pause_tx, table[ETHTOOL_A_PAUSE_TX]);
}

static void take_rings(void *arg, uint8_t command, const void *attrs, size_t size)
{
	static const uint8_t policy[] = {
		[ETHTOOL_A_RINGS_RX] = MNL_TYPE_U32, [ETHTOOL_A_RINGS_TCP_DATA_SPLIT] = MNL_TYPE_U8
	};
	const struct nlattr *table[RD_ARRAY_SIZE(policy)];
	struct rd_ethstate *eth = arg;

	rd_nla_table(attrs, size, policy, RD_ARRAY_SIZE(policy), table);
	SET_UINT(eth->rx_ring, table[ETHTOOL_A_RINGS_RX]);
	SET_UINT(eth->data_split, table[ETHTOOL_A_RINGS_TCP_DATA_SPLIT]);
}

/* Whether the bit of this name is set. A bit set without a mask lists only set bits, one with a mask flags them. */
static bool has_bit(const struct nlattr *bitset, const char *name)
{
	static const uint8_t set_policy[] = {
		[ETHTOOL_A_BITSET_NOMASK] = MNL_TYPE_FLAG, [ETHTOOL_A_BITSET_BITS] = MNL_TYPE_NESTED
	};
	static const uint8_t bit_policy[] = {
		[ETHTOOL_A_BITSET_BIT_NAME] = MNL_TYPE_NUL_STRING, [ETHTOOL_A_BITSET_BIT_VALUE] = MNL_TYPE_FLAG
	};
	const struct nlattr *set[RD_ARRAY_SIZE(set_policy)], *bit[RD_ARRAY_SIZE(bit_policy)], *at = NULL;

	rd_nla_nested(bitset, set_policy, RD_ARRAY_SIZE(set_policy), set);
	while (rd_nla_next_nested(set[ETHTOOL_A_BITSET_BITS], &at)) {
		rd_nla_nested(at, bit_policy, RD_ARRAY_SIZE(bit_policy), bit);
		if (bit[ETHTOOL_A_BITSET_BIT_NAME] &&
		    strcmp(mnl_attr_get_str(bit[ETHTOOL_A_BITSET_BIT_NAME]), name) == 0)
			return set[ETHTOOL_A_BITSET_NOMASK] || bit[ETHTOOL_A_BITSET_BIT_VALUE];
	}
	return false;
}

static void take_features(void *arg, uint8_t command, const void *attrs, size_t size)
{
	static const uint8_t policy[] = {
		[ETHTOOL_A_FEATURES_HW] = MNL_TYPE_NESTED, [ETHTOOL_A_FEATURES_ACTIVE] = MNL_TYPE_NESTED
	};
	const struct nlattr *table[RD_ARRAY_SIZE(policy)];
	struct rd_ethstate *eth = arg;

	rd_nla_table(attrs, size, policy, RD_ARRAY_SIZE(policy), table);
	if (table[ETHTOOL_A_FEATURES_ACTIVE])
		RD_SET(eth->ntuple, has_bit(table[ETHTOOL_A_FEATURES_ACTIVE], "rx-ntuple-filter"));
	if (table[ETHTOOL_A_FEATURES_HW])
		RD_SET(eth->ntuple_able, has_bit(table[ETHTOOL_A_FEATURES_HW], "rx-ntuple-filter"));
}

static void take_queue(void *arg, uint8_t command, const void *attrs, size_t size)
{
	static const uint8_t policy[] = {
		[ATTR_QUEUE_TYPE] = MNL_TYPE_U32, [ATTR_QUEUE_DMABUF] = MNL_TYPE_U32, [ATTR_QUEUE_IO_URING] = MNL_TYPE_NESTED
	};
	const struct nlattr *table[RD_ARRAY_SIZE(policy)];
	struct rd_queues *queues = arg;

	rd_nla_table(attrs, size, policy, RD_ARRAY_SIZE(policy), table);
	if (!table[ATTR_QUEUE_TYPE] || mnl_attr_get_u32(table[ATTR_QUEUE_TYPE]) != QUEUE_TYPE_RX)
		return;
	queues->n_dmabuf += table[ATTR_QUEUE_DMABUF] != NULL;
	queues->n_io_uring += table[ATTR_QUEUE_IO_URING] != NULL;
}

/* RSS contexts are only recorded. */
static void read_rss(struct rd_source *src, uint16_t family, struct rd_netif *netif)
{
	_cleanup_bytes_ struct rd_bytes reply = { 0 };
	struct rd_genl_request request;
	struct nlattr *nest;

	rd_genl_begin(&request, family, RD_ETHTOOL_MSG_RSS_GET, NLM_F_DUMP);
	nest = mnl_attr_nest_start_check(&request.head, sizeof(request.data), 1);
	if (!nest ||
	    !mnl_attr_put_u32_check(&request.head, sizeof(request.data), ETHTOOL_A_HEADER_DEV_INDEX, netif->ifindex))
		return;
	mnl_attr_nest_end(&request.head, nest);
	rd_genl_query(src, &request, &reply, NULL);
}

static void read_queues(struct rd_source *src, uint16_t family, struct rd_netif *netif)
{
	_cleanup_bytes_ struct rd_bytes reply = { 0 };
	struct rd_genl_request request;

	rd_genl_begin(&request, family, RD_NETDEV_CMD_QUEUE_GET, NLM_F_DUMP);
	if (!mnl_attr_put_u32_check(&request.head, sizeof(request.data), ATTR_QUEUE_IFINDEX, netif->ifindex) ||
	    rd_genl_query(src, &request, &reply, NULL) < 0)
		return;
	netif->queues.known = RD_OK;
	rd_genl_each(&reply, take_queue, &netif->queues);
}

void rd_collect_ethstate(const struct rd_sysfs *fs, const struct rd_ethfamilies *families, struct rd_netif *netif)
{
	/* Replies to the others are only recorded, in bundles. */
	static const struct {
		uint8_t command;
		rd_genl_fn *take;
	} queries[] = {
		{ ETHTOOL_MSG_PAUSE_GET, take_pause },
		{ ETHTOOL_MSG_RINGS_GET, take_rings },
		{ ETHTOOL_MSG_CHANNELS_GET },
		{ ETHTOOL_MSG_FEATURES_GET, take_features },
		{ ETHTOOL_MSG_LINKMODES_GET },
		{ ETHTOOL_MSG_LINKSTATE_GET },
		{ ETHTOOL_MSG_FEC_GET },
	};

	for (size_t i = 0; families->ethtool && i < RD_ARRAY_SIZE(queries); i++) {
		_cleanup_bytes_ struct rd_bytes reply = { 0 };

		if (rd_ethtool_query(fs->src, families->ethtool, queries[i].command, netif->name, false, 0, &reply,
				     NULL) == 0 &&
		    queries[i].take)
			rd_genl_each(&reply, queries[i].take, &netif->eth);
	}
	if (families->ethtool)
		read_rss(fs->src, families->ethtool, netif);
	if (families->netdev)
		read_queues(fs->src, families->netdev, netif);
}
