/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages made by hand after the kernel's headers and sources: Debian's kernels have no driver in a virtual machine that
 * would show Data Center Bridging, devlink, FEC or header split. */
#include "unit.h"

#include "collect/net/netstate.h"
#include "fake-host.h"
#include "fake-netlink.h"

#include <arpa/inet.h>
#include <linux/dcbnl.h>
#include <linux/devlink.h>
#include <linux/ethtool_netlink.h>
#include <linux/fib_rules.h>
#include <linux/genetlink.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

/* The kernel, and what it answers next. */
static struct fake_netlink fake;
static const struct rd_sysfs fs = { .src = &fake.source };
static struct fake_answer *answer;
static struct nlmsghdr *message;

TEST(pfc_ets_dscp_and_trust)
{
	struct ieee_pfc pfc = { .pfc_cap = 8, .pfc_en = 1 << 3, .requests = { [3] = 77 } };
	struct ieee_ets ets = { .ets_cap = 8, .prio_tc = { [3] = 3 } };
	struct dcb_app dscp = { .selector = IEEE_8021QAZ_APP_SEL_DSCP, .priority = 3, .protocol = 26 };
	struct dcb_app bad = { .selector = IEEE_8021QAZ_APP_SEL_DSCP, .priority = 9, .protocol = 99 };
	struct dcb_app port = { .selector = IEEE_8021QAZ_APP_SEL_DGRAM, .priority = 5, .protocol = 4791 };
	struct dcbmsg info = { .cmd = DCB_CMD_IEEE_GET };
	struct nlattr *ieee, *table;
	struct rd_dcb dcb = { 0 };

	fake_netlink_init(&fake, NULL);
	answer = fake_answer_add(&fake, NETLINK_ROUTE, RTM_GETDCB, -1);
	message = fake_message(answer, RTM_GETDCB, &info, sizeof(info));
	mnl_attr_put_strz(message, DCB_ATTR_IFNAME, "eth2");
	ieee = mnl_attr_nest_start(message, DCB_ATTR_IEEE);
	mnl_attr_put(message, DCB_ATTR_IEEE_ETS, sizeof(ets), &ets);
	mnl_attr_put(message, DCB_ATTR_IEEE_PFC, sizeof(pfc), &pfc);
	table = mnl_attr_nest_start(message, DCB_ATTR_IEEE_APP_TABLE);
	mnl_attr_put(message, DCB_ATTR_IEEE_APP, sizeof(dscp), &dscp);
	mnl_attr_put(message, DCB_ATTR_IEEE_APP, sizeof(bad), &bad);
	mnl_attr_put(message, DCB_ATTR_IEEE_APP, sizeof(port), &port);
	mnl_attr_nest_end(message, table);
	table = mnl_attr_nest_start(message, 11);
	mnl_attr_put_u8(message, DCB_ATTR_IEEE_APP, IEEE_8021QAZ_APP_SEL_DSCP);
	mnl_attr_nest_end(message, table);
	mnl_attr_nest_end(message, ieee);
	fake_message_end(answer, message);
	rd_collect_dcb(&fs, "eth2", &dcb);
	ASSERT_EACH(IS(dcb.known, RD_OK), IS(dcb.pfc.known, RD_OK), IS(dcb.pfc.enable, 8), IS(dcb.pfc.requests[3], 77),
		    IS(dcb.ets.prio_tc[3], 3), IS(dcb.dscp_prio_set.v, UINT64_C(1) << 26), IS(dcb.dscp_prio[26], 3),
		    IS(dcb.trust.n, 1));
	assert_int_equal(dcb.trust.selectors[0], IEEE_8021QAZ_APP_SEL_DSCP);
	/* A driver without DCB: not known, and no zeros for it. */
	fake.n = 0;
	dcb = (struct rd_dcb){ 0 };
	rd_collect_dcb(&fs, "eth2", &dcb);
	ASSERT_EACH(IS(dcb.known, RD_ABSENT), IS(dcb.pfc.known, RD_ABSENT));
}

static void begin_generic(uint8_t command)
{
	struct genlmsghdr genl = { .cmd = command };

	answer = fake_answer_add(&fake, NETLINK_GENERIC, FAKE_FAMILY, command);
	message = fake_message(answer, FAKE_FAMILY, &genl, sizeof(genl));
}

static void begin_devlink(uint8_t command)
{
	begin_generic(command);
	mnl_attr_put_strz(message, DEVLINK_ATTR_BUS_NAME, "pci");
	mnl_attr_put_strz(message, DEVLINK_ATTR_DEV_NAME, "0000:1b:00.0");
}

static void add_version(uint16_t kind, const char *name, const char *value)
{
	struct nlattr *nest = mnl_attr_nest_start(message, kind);

	mnl_attr_put_strz(message, DEVLINK_ATTR_INFO_VERSION_NAME, name);
	mnl_attr_put_strz(message, DEVLINK_ATTR_INFO_VERSION_VALUE, value);
	mnl_attr_nest_end(message, nest);
}

TEST(firmware_and_health_by_devlink)
{
	_cleanup_(rd_netstate_deinit) struct rd_netstate net = { 0 };
	struct nlattr *nest;

	fake_netlink_init(&fake, NULL);
	begin_devlink(DEVLINK_CMD_INFO_GET);
	add_version(DEVLINK_ATTR_INFO_VERSION_RUNNING, "fw.version", "28.39.1002");
	add_version(DEVLINK_ATTR_INFO_VERSION_STORED, "fw.version", "28.40.1000");
	fake_message_end(answer, message);
	begin_devlink(DEVLINK_CMD_HEALTH_REPORTER_GET);
	nest = mnl_attr_nest_start(message, DEVLINK_ATTR_HEALTH_REPORTER);
	mnl_attr_put_strz(message, DEVLINK_ATTR_HEALTH_REPORTER_NAME, "fw_fatal");
	mnl_attr_put_u8(message, DEVLINK_ATTR_HEALTH_REPORTER_STATE, 1);
	mnl_attr_put_u64(message, DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT, 2);
	mnl_attr_put_u64(message, DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT, 1);
	mnl_attr_nest_end(message, nest);
	fake_message_end(answer, message);
	rd_collect_devlink(&fs, &net);
	ASSERT_EACH(IS(net.devlink_known, RD_OK), IS(net.n_devlinks, 1));
	assert_int_equal(net.devlinks[0].n_versions, 2);
	ASSERT_EACH(IS(net.devlinks[0].versions[1].kind, RD_FWVER_STORED),
		    READS(net.devlinks[0].versions[1].value, "28.40.1000"), IS(net.devlinks[0].n_reporters, 1));
	ASSERT_EACH(IS(net.devlinks[0].reporters[0].healthy, false), IS(net.devlinks[0].reporters[0].errors, 2));
}

static void put_bit(const char *name, bool value)
{
	struct nlattr *bit = mnl_attr_nest_start(message, ETHTOOL_A_BITSET_BITS_BIT);

	mnl_attr_put_strz(message, ETHTOOL_A_BITSET_BIT_NAME, name);
	if (value)
		mnl_attr_put(message, ETHTOOL_A_BITSET_BIT_VALUE, 0, NULL);
	mnl_attr_nest_end(message, bit);
}

TEST(header_split_steering_and_queues)
{
	struct rd_ethfamilies families = { FAKE_FAMILY, FAKE_FAMILY };
	struct rd_netif netif = { .name = (char *)"eth2", .ifindex = 4 };
	struct nlattr *set, *bits;

	fake_netlink_init(&fake, NULL);
	begin_generic(ETHTOOL_MSG_RINGS_GET);
	mnl_attr_put_u32(message, ETHTOOL_A_RINGS_RX, 1024);
	mnl_attr_put_u8(message, ETHTOOL_A_RINGS_TCP_DATA_SPLIT, ETHTOOL_TCP_DATA_SPLIT_ENABLED);
	fake_message_end(answer, message);
	begin_generic(ETHTOOL_MSG_FEATURES_GET);
	set = mnl_attr_nest_start(message, ETHTOOL_A_FEATURES_HW);
	bits = mnl_attr_nest_start(message, ETHTOOL_A_BITSET_BITS);
	put_bit("rx-ntuple-filter", true);
	mnl_attr_nest_end(message, bits);
	mnl_attr_nest_end(message, set);
	set = mnl_attr_nest_start(message, ETHTOOL_A_FEATURES_ACTIVE);
	mnl_attr_put(message, ETHTOOL_A_BITSET_NOMASK, 0, NULL);
	bits = mnl_attr_nest_start(message, ETHTOOL_A_BITSET_BITS);
	put_bit("rx-gro", false);
	mnl_attr_nest_end(message, bits);
	mnl_attr_nest_end(message, set);
	fake_message_end(answer, message);
	begin_generic(10); /* NETDEV_CMD_QUEUE_GET */
	mnl_attr_put_u32(message, 3, 0);
	mnl_attr_put_u32(message, 5, 9);
	fake_message_end(answer, message);
	message = fake_message(answer, FAKE_FAMILY, &(struct genlmsghdr){ .cmd = 10 }, sizeof(struct genlmsghdr));
	mnl_attr_put_u32(message, 3, 1);
	fake_message_end(answer, message);
	rd_collect_ethstate(&fs, &families, &netif);
	ASSERT_EACH(IS(netif.eth.rx_ring.v, 1024), IS(netif.eth.data_split.v, 2), IS(netif.eth.ntuple_able.v, true),
		    IS(netif.eth.ntuple.known, RD_OK), IS(netif.eth.ntuple.v, false), IS(netif.queues.known, RD_OK),
		    IS(netif.queues.n_dmabuf, 1), IS(netif.eth.pause_rx.known, RD_ABSENT));
}

TEST(routes_rules_and_neighbours)
{
	struct rtmsg route = {
		.rtm_family = AF_INET, .rtm_dst_len = 24, .rtm_table = RT_TABLE_MAIN, .rtm_type = RTN_UNICAST
	};
	struct fib_rule_hdr rule = { .family = AF_INET, .src_len = 32, .table = 100 };
	struct ndmsg neigh = { .ndm_family = AF_INET, .ndm_ifindex = 4, .ndm_state = NUD_FAILED };
	uint8_t net10[4] = { 10, 1, 2, 0 }, addr[4] = { 10, 1, 2, 3 };
	struct {
		struct rtnexthop hop;
		struct rtnexthop other;
	} hops = { { .rtnh_len = 8, .rtnh_ifindex = 4 }, { .rtnh_len = 8, .rtnh_ifindex = 5 } };
	_cleanup_(rd_netstate_deinit) struct rd_netstate result = { 0 };
	char text[46];

	fake_netlink_init(&fake, NULL);
	answer = fake_answer_add(&fake, NETLINK_ROUTE, RTM_GETROUTE, -1);
	message = fake_message(answer, RTM_NEWROUTE, &route, sizeof(route));
	mnl_attr_put(message, RTA_DST, 4, net10);
	mnl_attr_put(message, RTA_MULTIPATH, sizeof(hops), &hops);
	fake_message_end(answer, message);
	route.rtm_table = RT_TABLE_LOCAL;
	message = fake_message(answer, RTM_NEWROUTE, &route, sizeof(route));
	mnl_attr_put(message, RTA_DST, 4, net10);
	fake_message_end(answer, message);
	answer = fake_answer_add(&fake, NETLINK_ROUTE, RTM_GETRULE, -1);
	message = fake_message(answer, RTM_NEWRULE, &rule, sizeof(rule));
	mnl_attr_put(message, FRA_SRC, 4, addr);
	mnl_attr_put_u32(message, FRA_PRIORITY, 10);
	fake_message_end(answer, message);
	answer = fake_answer_add(&fake, NETLINK_ROUTE, RTM_GETNEIGH, -1);
	message = fake_message(answer, RTM_NEWNEIGH, &neigh, sizeof(neigh));
	mnl_attr_put(message, NDA_DST, 4, addr);
	fake_message_end(answer, message);
	rd_collect_routes(&fs, &result);
	rd_collect_neighs(&fs, &result);
	assert_int_equal(result.n_routes, 2);
	ASSERT_EACH(IS(result.routes[1].ifindex, 5), IS(result.routes[0].multipath, true));
	assert_true(rd_ip_within(addr, result.routes[0].dst, result.routes[0].dst_len));
	assert_int_equal(result.n_policies, 1);
	ASSERT_EACH(IS(result.policies[0].table, 100), IS(result.policies[0].source_len, 32), IS(result.n_neighs, 1));
	assert_int_equal(result.neighs[0].state, RD_NEIGH_FAILED);
	rd_ip_text(false, result.neighs[0].addr, text);
	assert_string_equal(text, "10.1.2.3");
}

/* nftables. */
static struct fake_answer *chains, *rules;

static void put_chain(const char *name, int hook, uint32_t policy)
{
	struct nfgenmsg info = { .nfgen_family = NFPROTO_INET };
	struct nlattr *nest;

	message = fake_message(chains, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWCHAIN, &info, sizeof(info));
	mnl_attr_put_strz(message, NFTA_CHAIN_TABLE, "filter");
	mnl_attr_put_strz(message, NFTA_CHAIN_NAME, name);
	if (hook >= 0) {
		nest = mnl_attr_nest_start(message, NFTA_CHAIN_HOOK);
		mnl_attr_put_u32(message, NFTA_HOOK_HOOKNUM, htonl(hook));
		mnl_attr_nest_end(message, nest);
		mnl_attr_put_u32(message, NFTA_CHAIN_POLICY, htonl(policy));
	}
	fake_message_end(chains, message);
}

static void put_expression(const char *name, uint16_t a, uint32_t va, uint16_t b, uint32_t vb, uint16_t c, uint32_t vc)
{
	struct nlattr *element = mnl_attr_nest_start(message, NFTA_LIST_ELEM), *data;

	mnl_attr_put_strz(message, NFTA_EXPR_NAME, name);
	data = mnl_attr_nest_start(message, NFTA_EXPR_DATA);
	if (a)
		mnl_attr_put_u32(message, a, htonl(va));
	if (b)
		mnl_attr_put_u32(message, b, htonl(vb));
	if (c)
		mnl_attr_put_u32(message, c, htonl(vc));
	mnl_attr_nest_end(message, data);
	mnl_attr_nest_end(message, element);
}

static void put_compare(const void *value, size_t size)
{
	struct nlattr *element = mnl_attr_nest_start(message, NFTA_LIST_ELEM), *data, *nest;

	mnl_attr_put_strz(message, NFTA_EXPR_NAME, "cmp");
	data = mnl_attr_nest_start(message, NFTA_EXPR_DATA);
	mnl_attr_put_u32(message, NFTA_CMP_OP, htonl(NFT_CMP_EQ));
	nest = mnl_attr_nest_start(message, NFTA_CMP_DATA);
	mnl_attr_put(message, NFTA_DATA_VALUE, size, value);
	mnl_attr_nest_end(message, nest);
	mnl_attr_nest_end(message, data);
	mnl_attr_nest_end(message, element);
}

static void put_verdict(uint32_t code, const char *chain)
{
	struct nlattr *element = mnl_attr_nest_start(message, NFTA_LIST_ELEM), *data, *nest, *verdict;

	mnl_attr_put_strz(message, NFTA_EXPR_NAME, "immediate");
	data = mnl_attr_nest_start(message, NFTA_EXPR_DATA);
	nest = mnl_attr_nest_start(message, NFTA_IMMEDIATE_DATA);
	verdict = mnl_attr_nest_start(message, NFTA_DATA_VERDICT);
	mnl_attr_put_u32(message, NFTA_VERDICT_CODE, htonl(code));
	if (chain)
		mnl_attr_put_strz(message, NFTA_VERDICT_CHAIN, chain);
	mnl_attr_nest_end(message, verdict);
	mnl_attr_nest_end(message, nest);
	mnl_attr_nest_end(message, data);
	mnl_attr_nest_end(message, element);
}

/* "udp dport PORT VERDICT"; port 0: no condition; `ct`: with a condition of another kind. */
static void put_rule(const char *chain, uint16_t port, bool ct, uint32_t code, const char *target)
{
	struct nfgenmsg info = { .nfgen_family = NFPROTO_INET };
	uint16_t be = htons(port);
	uint8_t udp = IPPROTO_UDP;
	struct nlattr *list;

	message = fake_message(rules, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWRULE, &info, sizeof(info));
	mnl_attr_put_strz(message, NFTA_RULE_TABLE, "filter");
	mnl_attr_put_strz(message, NFTA_RULE_CHAIN, chain);
	list = mnl_attr_nest_start(message, NFTA_RULE_EXPRESSIONS);
	if (port) {
		put_expression("meta", NFTA_META_KEY, NFT_META_L4PROTO, 0, 0, 0, 0);
		put_compare(&udp, 1);
		put_expression("payload", NFTA_PAYLOAD_BASE, NFT_PAYLOAD_TRANSPORT_HEADER, NFTA_PAYLOAD_OFFSET, 2,
			       NFTA_PAYLOAD_LEN, 2);
		put_compare(&be, 2);
	}
	if (ct)
		put_expression("ct", NFTA_CT_KEY, NFT_CT_STATE, 0, 0, 0, 0);
	put_expression("counter", 0, 0, 0, 0, 0, 0);
	put_verdict(code, target);
	mnl_attr_nest_end(message, list);
	fake_message_end(rules, message);
}

static void firewall_begin(struct fake_host *files)
{
	*files = fake_host_make();
	fake_host_text(files, "/sys/module/nf_tables/refcnt", "1\n");
	fake_netlink_init(&fake, files->source);
	chains = fake_answer_add(&fake, NETLINK_NETFILTER, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETCHAIN, -1);
	rules = fake_answer_add(&fake, NETLINK_NETFILTER, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETRULE, -1);
}

static void firewall_known(enum rd_known known, bool drops, bool may_drop)
{
	struct rd_netstate net = { 0 };

	rd_collect_firewall(&fs, &net);
	ASSERT_EACH(IS(net.firewall.known, known), IS(net.firewall.drops, drops), IS(net.firewall.may_drop, may_drop));
	rd_netstate_deinit(&net);
}

/* And begins with no rules again. */
static void expect(bool drops, bool may_drop)
{
	firewall_known(RD_OK, drops, may_drop);
	chains->size = rules->size = 0;
}

#define FIREWALL_TEST(name) TEST_BEGUN(name, struct fake_host, files, firewall_begin, fake_host_deinit)

/* A read that timed out says nothing of iptables, nor that there are no rules; a module that is loaded does. */
TEST(a_firewall_that_is_not_read)
{
	static const struct {
		const char *module;
		bool legacy;
	} cases[] = { { "iptable_filter", false }, { "nf_tables", false }, { "iptable_mangle", true } };

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		struct rd_netstate net = { 0 };
		struct fake_host files = fake_host_make();
		const struct rd_sysfs of_files = { .src = files.source };
		char made[128];

		/* A link to itself cannot be followed: any error but that there is no such directory. */
		snprintf(made, sizeof(made),
			 cases[i].legacy ? "mkdir -p sys/module/%s" : "mkdir -p sys/module && ln -s %s sys/module/%s",
			 cases[i].module, cases[i].module);
		assert_int_equal(fake_host_run(&files, made), 0);
		rd_collect_firewall(&of_files, &net);
		assert_int_not_equal(net.firewall.known, RD_OK);
		assert_int_equal(net.firewall.legacy, cases[i].legacy);
		rd_netstate_deinit(&net);
		fake_host_deinit(&files);
	}
}

FIREWALL_TEST(a_firewall_that_drops_roce)
{
	put_chain("input", NF_INET_LOCAL_IN, NF_ACCEPT);
	put_rule("input", 22, false, NF_ACCEPT, NULL);
	put_rule("input", 4791, false, NF_DROP, NULL);
	expect(true, true);
}

FIREWALL_TEST(a_firewall_that_lets_roce_pass)
{
	expect(false, false);
	/* Rules about other ports, without verdict, and that accept. */
	put_chain("input", NF_INET_LOCAL_IN, NF_ACCEPT);
	put_rule("input", 22, false, NF_DROP, NULL);
	put_rule("input", 0, true, NF_ACCEPT, NULL);
	put_rule("input", 0, true, (uint32_t)NFT_CONTINUE, NULL);
	put_rule("input", 4791, false, NF_ACCEPT, NULL);
	expect(false, false);
	/* A policy for packets that are forwarded. */
	put_chain("deny", -1, 0);
	put_chain("forward", NF_INET_FORWARD, NF_DROP);
	expect(false, false);
}

FIREWALL_TEST(a_firewall_that_may_drop_roce)
{
	put_chain("input", NF_INET_LOCAL_IN, NF_DROP);
	put_rule("input", 4791, false, NF_ACCEPT, NULL);
	expect(false, true);
	/* Everything, or with a condition of another kind. */
	put_rule("input", 0, false, NF_DROP, NULL);
	expect(false, true);
	put_rule("input", 4791, true, NF_DROP, NULL);
	expect(false, true);
	/* Rules that accept packets or lead elsewhere are not followed. */
	put_rule("input", 0, true, NF_ACCEPT, NULL);
	put_rule("input", 4791, false, NF_DROP, NULL);
	expect(false, true);
	put_rule("input", 4791, false, NF_DROP, NULL);
	put_rule("late", 0, false, (uint32_t)NFT_JUMP, "input");
	expect(false, true);
	chains->code = EPERM;
	firewall_known(RD_DENIED, false, false);
	/* Rules of the older kind cannot be read. */
	fake_host_text(files, "/sys/module/iptable_filter/refcnt", "1\n");
	firewall_known(RD_ABSENT, false, false);
}
