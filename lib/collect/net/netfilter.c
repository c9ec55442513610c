/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a rule or policy of nftables drops UDP packets to port 4791. Rules of the chains at the hooks are taken in their order;
 * those that match only on the protocol and this port are certain, any other may or may not match the packet.
 */
#include "collect/net/netstate.h"
#include "collect/shared/nlattr.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>

#include "base/memory.h"
#include "base/text.h"

#define ROCE_PORT 4791
#define CHAINS_MAX 4096

/* A chain of input or output. */
struct chain {
	uint8_t family;
	char *table, *name;
	bool input, drops; /* drops: its policy, or a certain rule */
	bool decided;	   /* by a certain rule: those after it do not matter */
	bool may_accept, may_drop;
};

struct ruleset {
	struct chain *v;
	size_t n, cap;
};

static void ruleset_deinit(struct ruleset *set)
{
	for (size_t i = 0; i < set->n; i++)
		RD_FREE(set->v[i].table, set->v[i].name);
	free(set->v);
}

static uint32_t be32_of(const struct nlattr *attr)
{
	return attr ? ntohl(mnl_attr_get_u32(attr)) : UINT32_MAX;
}

static int take_chain(void *arg, uint16_t type, const uint8_t *body, size_t size)
{
	static const uint8_t policy[] = { [NFTA_CHAIN_TABLE] = MNL_TYPE_NUL_STRING,
					  [NFTA_CHAIN_NAME] = MNL_TYPE_NUL_STRING,
					  [NFTA_CHAIN_HOOK] = MNL_TYPE_NESTED,
					  [NFTA_CHAIN_POLICY] = MNL_TYPE_U32 };
	static const uint8_t hook_policy[] = { [NFTA_HOOK_HOOKNUM] = MNL_TYPE_U32 };
	const struct nlattr *table[RD_ARRAY_SIZE(policy)], *hook[RD_ARRAY_SIZE(hook_policy)];
	struct ruleset *set = arg;
	struct nfgenmsg info;
	uint32_t at;

	if ((type & 0xff) != NFT_MSG_NEWCHAIN || size < sizeof(info) || set->n == CHAINS_MAX)
		return 0;
	memcpy(&info, body, sizeof(info));
	rd_nla_table(body + sizeof(info), size - sizeof(info), policy, RD_ARRAY_SIZE(policy), table);
	rd_nla_nested(table[NFTA_CHAIN_HOOK], hook_policy, RD_ARRAY_SIZE(hook_policy), hook);
	at = be32_of(hook[NFTA_HOOK_HOOKNUM]);
	if ((info.nfgen_family != NFPROTO_IPV4 && info.nfgen_family != NFPROTO_INET) || !table[NFTA_CHAIN_TABLE] ||
	    !table[NFTA_CHAIN_NAME] || (at != NF_INET_LOCAL_IN && at != NF_INET_LOCAL_OUT))
		return 0;
	*RD_ADD(set->v, set->n, set->cap) = (struct chain){ .family = info.nfgen_family,
							    .table = rd_nla_text(table[NFTA_CHAIN_TABLE]),
							    .name = rd_nla_text(table[NFTA_CHAIN_NAME]),
							    .input = at == NF_INET_LOCAL_IN,
							    .drops = be32_of(table[NFTA_CHAIN_POLICY]) == NF_DROP };
	return 0;
}

/* State while the expressions of one rule are read: what the register was last loaded with. */
struct reading {
	enum { LOADED_OTHER, LOADED_PROTOCOL, LOADED_PORT } loaded;
	bool impossible;  /* the packet does not meet a condition */
	bool uncertain;	  /* a condition is not evaluated */
	uint32_t verdict; /* NF_ACCEPT, NF_DROP, NFT_JUMP …; NFT_CONTINUE: none */
};

/* meta, payload: loads the register. */
static void read_load(const struct nlattr *data, bool meta, struct reading *reading)
{
	static const uint8_t policy[] = { [1] = MNL_TYPE_U32, MNL_TYPE_U32, MNL_TYPE_U32, MNL_TYPE_U32 };
	const struct nlattr *table[RD_ARRAY_SIZE(policy)];
	uint32_t base, offset, length;

	rd_nla_nested(data, policy, RD_ARRAY_SIZE(policy), table);
	base = be32_of(table[NFTA_PAYLOAD_BASE]);
	offset = be32_of(table[NFTA_PAYLOAD_OFFSET]);
	length = be32_of(table[NFTA_PAYLOAD_LEN]);
	reading->loaded = LOADED_OTHER;
	if (meta ? be32_of(table[NFTA_META_KEY]) == NFT_META_L4PROTO :
		   base == NFT_PAYLOAD_NETWORK_HEADER && offset == 9 && length == 1)
		reading->loaded = LOADED_PROTOCOL;
	else if (!meta && base == NFT_PAYLOAD_TRANSPORT_HEADER && offset == 2 && length == 2)
		reading->loaded = LOADED_PORT;
}

static void read_compare(const struct nlattr *data, struct reading *reading)
{
	static const uint8_t policy[] = { [NFTA_CMP_OP] = MNL_TYPE_U32, [NFTA_CMP_DATA] = MNL_TYPE_NESTED };
	static const uint8_t data_policy[] = { [NFTA_DATA_VALUE] = MNL_TYPE_BINARY };
	const struct nlattr *table[RD_ARRAY_SIZE(policy)], *inner[RD_ARRAY_SIZE(data_policy)];
	const uint8_t port[] = { ROCE_PORT >> 8, ROCE_PORT & 0xff }, protocol = IPPROTO_UDP;
	bool is_port = reading->loaded == LOADED_PORT;
	uint8_t bytes[2];

	rd_nla_nested(data, policy, RD_ARRAY_SIZE(policy), table);
	rd_nla_nested(table[NFTA_CMP_DATA], data_policy, RD_ARRAY_SIZE(data_policy), inner);
	if (reading->loaded == LOADED_OTHER || be32_of(table[NFTA_CMP_OP]) != NFT_CMP_EQ ||
	    !rd_nla_bytes(inner[NFTA_DATA_VALUE], bytes, is_port ? 2 : 1))
		reading->uncertain = true;
	else
		reading->impossible |= is_port ? memcmp(bytes, port, 2) != 0 : bytes[0] != protocol;
}

static void read_verdict(const struct nlattr *data, struct reading *reading)
{
	static const uint8_t policy[] = { [NFTA_IMMEDIATE_DATA] = MNL_TYPE_NESTED };
	static const uint8_t data_policy[] = { [NFTA_DATA_VERDICT] = MNL_TYPE_NESTED };
	static const uint8_t verdict_policy[] = { [NFTA_VERDICT_CODE] = MNL_TYPE_U32 };
	const struct nlattr *table[RD_ARRAY_SIZE(policy)], *inner[RD_ARRAY_SIZE(data_policy)],
		*verdict[RD_ARRAY_SIZE(verdict_policy)];

	rd_nla_nested(data, policy, RD_ARRAY_SIZE(policy), table);
	rd_nla_nested(table[NFTA_IMMEDIATE_DATA], data_policy, RD_ARRAY_SIZE(data_policy), inner);
	rd_nla_nested(inner[NFTA_DATA_VERDICT], verdict_policy, RD_ARRAY_SIZE(verdict_policy), verdict);
	if (verdict[NFTA_VERDICT_CODE])
		reading->verdict = be32_of(verdict[NFTA_VERDICT_CODE]);
}

static void read_expression(const struct nlattr *element, struct reading *reading)
{
	static const uint8_t policy[] = { [NFTA_EXPR_NAME] = MNL_TYPE_NUL_STRING, [NFTA_EXPR_DATA] = MNL_TYPE_NESTED };
	const struct nlattr *table[RD_ARRAY_SIZE(policy)], *data;
	const char *name;

	rd_nla_nested(element, policy, RD_ARRAY_SIZE(policy), table);
	name = table[NFTA_EXPR_NAME] ? mnl_attr_get_str(table[NFTA_EXPR_NAME]) : "";
	data = table[NFTA_EXPR_DATA];
	if (strcmp(name, "meta") == 0 || strcmp(name, "payload") == 0)
		read_load(data, *name == 'm', reading);
	else if (strcmp(name, "cmp") == 0)
		read_compare(data, reading);
	else if (strcmp(name, "immediate") == 0)
		read_verdict(data, reading);
	else if (strcmp(name, "reject") == 0)
		reading->verdict = NF_DROP;
	else if (strcmp(name, "counter") != 0 && strcmp(name, "log") != 0 && strcmp(name, "notrack") != 0)
		reading->uncertain = true;
}

static void decide(struct chain *chain, const struct reading *rule)
{
	if (rule->impossible || rule->verdict == (uint32_t)NFT_CONTINUE || chain->decided)
		return;
	if (!rule->uncertain && (rule->verdict == NF_ACCEPT || rule->verdict == NF_DROP)) {
		chain->decided = true;
		chain->drops = rule->verdict == NF_DROP;
		return;
	}
	chain->may_accept |= rule->verdict != NF_DROP; /* a jump may do both */
	chain->may_drop |= rule->verdict != NF_ACCEPT;
}

static int take_rule(void *arg, uint16_t type, const uint8_t *body, size_t size)
{
	static const uint8_t policy[] = { [NFTA_RULE_TABLE] = MNL_TYPE_NUL_STRING,
					  [NFTA_RULE_CHAIN] = MNL_TYPE_NUL_STRING,
					  [NFTA_RULE_EXPRESSIONS] = MNL_TYPE_NESTED };
	struct reading reading = { .verdict = (uint32_t)NFT_CONTINUE };
	const struct nlattr *table[RD_ARRAY_SIZE(policy)], *element = NULL;
	struct ruleset *set = arg;
	struct nfgenmsg info;

	if ((type & 0xff) != NFT_MSG_NEWRULE || size < sizeof(info))
		return 0;
	memcpy(&info, body, sizeof(info));
	rd_nla_table(body + sizeof(info), size - sizeof(info), policy, RD_ARRAY_SIZE(policy), table);
	if (!table[NFTA_RULE_TABLE] || !table[NFTA_RULE_CHAIN])
		return 0;
	while (rd_nla_next_nested(table[NFTA_RULE_EXPRESSIONS], &element))
		read_expression(element, &reading);
	for (size_t i = 0; i < set->n; i++)
		if (set->v[i].family == info.nfgen_family &&
		    strcmp(set->v[i].table, mnl_attr_get_str(table[NFTA_RULE_TABLE])) == 0 &&
		    strcmp(set->v[i].name, mnl_attr_get_str(table[NFTA_RULE_CHAIN])) == 0)
			decide(&set->v[i], &reading);
	return 0;
}

static enum rd_fate judge_hook(const struct ruleset *set, bool input, char **where)
{
	enum rd_fate fate = RD_FATE_PASS;

	for (size_t i = 0; i < set->n; i++) {
		const struct chain *chain = &set->v[i];

		if (chain->input != input)
			continue;
		if (chain->drops && !chain->may_accept) {
			free(*where);
			*where = rd_text("chain %s of table %s %s", chain->name,
					 chain->family == NFPROTO_INET ? "inet" : "ip", chain->table);
			return RD_FATE_DROP;
		}
		if (chain->drops || chain->may_drop)
			fate = RD_FATE_DEPENDS;
	}
	return fate;
}

/* Whether modules of legacy iptables are loaded: their rules cannot be read over netlink. */
static bool has_iptables_rules(const struct rd_sysfs *fs)
{
	static const char *const modules[] = { "iptable_filter", "iptable_raw", "iptable_mangle" };

	for (size_t i = 0; i < RD_ARRAY_SIZE(modules); i++) {
		_cleanup_names_ struct rd_names names = { 0 };

		if (rd_sysfs_list(fs, &names, "/sys/module/%s", modules[i]) == 0)
			return true;
	}
	return false;
}

void rd_collect_firewall(const struct rd_sysfs *fs, struct rd_netstate *net)
{
	struct {
		struct nlmsghdr head;
		struct nfgenmsg info;
	} request = { .head = { .nlmsg_len = sizeof(request),
				.nlmsg_type = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETCHAIN,
				.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP } };
	_cleanup_(ruleset_deinit) struct ruleset set = { 0 };
	_cleanup_names_ struct rd_names names = { 0 };
	struct rd_firewall *firewall = &net->firewall;

	if (has_iptables_rules(fs))
		return;
	if (rd_sysfs_list(fs, &names, "/sys/module/nf_tables") < 0) {
		/* A query would load the module. Without it there are no rules, provided that sysfs lists modules. */
		firewall->known = rd_sysfs_list(fs, &names, "/sys/module") == 0 ? RD_OK : RD_ABSENT;
		return;
	}
	firewall->known = rd_netstate_dump(fs, NETLINK_NETFILTER, &request, sizeof(request), take_chain, &set);
	if (firewall->known != RD_OK)
		return;
	request.head.nlmsg_type = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETRULE;
	firewall->known = rd_netstate_dump(fs, NETLINK_NETFILTER, &request, sizeof(request), take_rule, &set);
	if (firewall->known != RD_OK)
		return;
	firewall->input = judge_hook(&set, true, &firewall->where);
	firewall->output = judge_hook(&set, false, &firewall->where);
}
