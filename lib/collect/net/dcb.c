/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Data Center Bridging settings of an interface, from rtnetlink (DCB_CMD_IEEE_GET). */
#include "collect/net/netstate.h"
#include "collect/shared/nlattr.h"

#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <string.h>

/* DCB_ATTR_DCB_APP_TRUST_TABLE of Linux 6.2, not in the headers this is built with: a list of selectors, each an attribute of
 * one byte. 12 is another table, which kernels since 6.3 always send. */
#define ATTR_IEEE_TRUST_TABLE 11

static void read_pfc(const struct nlattr *attr, struct rd_dcb *dcb)
{
	struct ieee_pfc pfc;

	if (!rd_nla_bytes(attr, &pfc, sizeof(pfc)))
		return;
	dcb->pfc.known = RD_OK;
	dcb->pfc.cap = pfc.pfc_cap;
	dcb->pfc.enable = pfc.pfc_en;
	for (int i = 0; i < RD_PRIOS; i++) {
		dcb->pfc.requests[i] = pfc.requests[i];
		dcb->pfc.indications[i] = pfc.indications[i];
	}
}

static void read_ets(const struct nlattr *attr, struct rd_dcb *dcb)
{
	struct ieee_ets ets;

	if (!rd_nla_bytes(attr, &ets, sizeof(ets)))
		return;
	dcb->ets.known = RD_OK;
	memcpy(dcb->ets.prio_tc, ets.prio_tc, sizeof(dcb->ets.prio_tc));
	memcpy(dcb->ets.tx_bw, ets.tc_tx_bw, sizeof(dcb->ets.tx_bw));
	memcpy(dcb->ets.tsa, ets.tc_tsa, sizeof(dcb->ets.tsa));
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

static int take_dcb(void *arg, uint16_t type, const uint8_t *body, size_t size)
{
	static const uint8_t policy[] = { [DCB_ATTR_IEEE] = MNL_TYPE_NESTED, [DCB_ATTR_DCBX] = MNL_TYPE_U8 };
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
		return 0;
	memcpy(&info, body, sizeof(info));
	if (info.cmd != DCB_CMD_IEEE_GET)
		return 0;
	rd_nla_table(body + sizeof(info), size - sizeof(info), policy, RD_ARRAY_SIZE(policy), table);
	if (table[DCB_ATTR_DCBX])
		RD_SET(dcb->dcbx, mnl_attr_get_u8(table[DCB_ATTR_DCBX]));
	rd_nla_nested(table[DCB_ATTR_IEEE], ieee_policy, RD_ARRAY_SIZE(ieee_policy), ieee);
	read_ets(ieee[DCB_ATTR_IEEE_ETS], dcb);
	read_pfc(ieee[DCB_ATTR_IEEE_PFC], dcb);
	read_apps(ieee[DCB_ATTR_IEEE_APP_TABLE], dcb);
	read_trust(ieee[ATTR_IEEE_TRUST_TABLE], dcb);
	return 0;
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
