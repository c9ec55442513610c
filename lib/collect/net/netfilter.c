/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Determines what nftables would do with a UDP packet to port 4791. Rules that match only on the protocol and the UDP
 * destination port are evaluated; a rule with any other condition may or may not match the packet.
 */
#include "collect/net/netstate.h"
#include "collect/shared/nlattr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>

#include "base/text.h"

#define ROCE_PORT 4791
#define CHAINS_MAX 4096
#define RULES_MAX 65536
#define DEPTH_MAX 8

struct rule {
	bool certain; /* the packet meets all conditions; false: some conditions are not evaluated */
	int verdict;  /* NF_ACCEPT, NF_DROP, NFT_JUMP, NFT_GOTO, NFT_RETURN; NFT_CONTINUE: none */
	char *target; /* chain of a jump */
};

struct chain {
	uint8_t family;
	char *table, *name;
	int hook; /* NF_INET_*; -1: not a base chain */
	uint32_t policy;
	struct rule *rules;
	size_t n, cap;
};

struct ruleset {
	struct chain *v;
	size_t n, cap;
	size_t n_rules;
};

static void ruleset_deinit(struct ruleset *set)
{
	for (size_t i = 0; i < set->n; i++) {
		for (size_t k = 0; k < set->v[i].n; k++)
			free(set->v[i].rules[k].target);
		RD_FREE(set->v[i].rules, set->v[i].table, set->v[i].name);
	}
	free(set->v);
}

static struct chain *find_chain(const struct ruleset *set, uint8_t family, const char *table, const char *name)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->v[i].family == family && strcmp(set->v[i].table, table) == 0 &&
		    strcmp(set->v[i].name, name) == 0)
			return &set->v[i];
	return NULL;
}

static bool is_ip_family(uint8_t family)
{
	return family == NFPROTO_IPV4 || family == NFPROTO_INET;
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
	struct chain *chain;

	if ((type & 0xff) != NFT_MSG_NEWCHAIN || size < sizeof(info) || set->n == CHAINS_MAX)
		return 0;
	memcpy(&info, body, sizeof(info));
	rd_nla_table(body + sizeof(info), size - sizeof(info), policy, RD_ARRAY_SIZE(policy), table);
	if (!is_ip_family(info.nfgen_family) || !table[NFTA_CHAIN_TABLE] || !table[NFTA_CHAIN_NAME])
		return 0;
	if (rd_grow(&set->v, &set->cap, set->n + 1, sizeof(*set->v)) < 0)
		return -ENOMEM;
	chain = &set->v[set->n];
	*chain = (struct chain){ .family = info.nfgen_family, .hook = -1, .policy = NF_ACCEPT };
	chain->table = rd_nla_text(table[NFTA_CHAIN_TABLE]);
	chain->name = rd_nla_text(table[NFTA_CHAIN_NAME]);
	set->n++;
	if (!chain->table || !chain->name)
		return -ENOMEM;
	rd_nla_nested(table[NFTA_CHAIN_HOOK], hook_policy, RD_ARRAY_SIZE(hook_policy), hook);
	if (hook[NFTA_HOOK_HOOKNUM])
		chain->hook = (int)ntohl(mnl_attr_get_u32(hook[NFTA_HOOK_HOOKNUM]));
	if (table[NFTA_CHAIN_POLICY])
		chain->policy = ntohl(mnl_attr_get_u32(table[NFTA_CHAIN_POLICY]));
	return 0;
}

/* State while the expressions of one rule are read: what the register was last loaded with. */
struct reading {
	enum { LOADED_OTHER, LOADED_PROTOCOL, LOADED_PORT } loaded;
	bool impossible; /* the packet does not meet a condition */
	struct rule rule;
};

static uint32_t be32_of(const struct nlattr *attr)
{
	return attr ? ntohl(mnl_attr_get_u32(attr)) : UINT32_MAX;
}

static void read_meta(const struct nlattr *data, struct reading *reading)
{
	static const uint8_t policy[] = { [NFTA_META_KEY] = MNL_TYPE_U32 };
	const struct nlattr *table[RD_ARRAY_SIZE(policy)];

	rd_nla_nested(data, policy, RD_ARRAY_SIZE(policy), table);
	reading->loaded = be32_of(table[NFTA_META_KEY]) == NFT_META_L4PROTO ? LOADED_PROTOCOL : LOADED_OTHER;
}

static void read_payload(const struct nlattr *data, struct reading *reading)
{
	static const uint8_t policy[] = {
		[NFTA_PAYLOAD_BASE] = MNL_TYPE_U32, [NFTA_PAYLOAD_OFFSET] = MNL_TYPE_U32, [NFTA_PAYLOAD_LEN] = MNL_TYPE_U32
	};
	const struct nlattr *table[RD_ARRAY_SIZE(policy)];
	uint32_t base, offset, length;

	rd_nla_nested(data, policy, RD_ARRAY_SIZE(policy), table);
	base = be32_of(table[NFTA_PAYLOAD_BASE]);
	offset = be32_of(table[NFTA_PAYLOAD_OFFSET]);
	length = be32_of(table[NFTA_PAYLOAD_LEN]);
	if (base == NFT_PAYLOAD_TRANSPORT_HEADER && offset == 2 && length == 2)
		reading->loaded = LOADED_PORT;
	else if (base == NFT_PAYLOAD_NETWORK_HEADER && offset == 9 && length == 1)
		reading->loaded = LOADED_PROTOCOL;
	else
		reading->loaded = LOADED_OTHER;
}

/* A big-endian number of 1 or 2 bytes; -1: other data. */
static int value_of(const struct nlattr *attr)
{
	static const uint8_t policy[] = { [NFTA_DATA_VALUE] = MNL_TYPE_BINARY };
	const struct nlattr *table[RD_ARRAY_SIZE(policy)];
	uint8_t bytes[2];

	rd_nla_nested(attr, policy, RD_ARRAY_SIZE(policy), table);
	if (rd_nla_bytes(table[NFTA_DATA_VALUE], bytes, 1))
		return bytes[0];
	if (rd_nla_bytes(table[NFTA_DATA_VALUE], bytes, 2))
		return bytes[0] << 8 | bytes[1];
	return -1;
}

static void read_compare(const struct nlattr *data, bool range, struct reading *reading)
{
	static const uint8_t cmp_policy[] = { [NFTA_CMP_OP] = MNL_TYPE_U32, [NFTA_CMP_DATA] = MNL_TYPE_NESTED };
	static const uint8_t range_policy[] = {
		[NFTA_RANGE_OP] = MNL_TYPE_U32, [NFTA_RANGE_FROM_DATA] = MNL_TYPE_NESTED, [NFTA_RANGE_TO_DATA] = MNL_TYPE_NESTED
	};
	const struct nlattr *cmp[RD_ARRAY_SIZE(cmp_policy)], *ranges[RD_ARRAY_SIZE(range_policy)];
	int actual = reading->loaded == LOADED_PORT ? ROCE_PORT : IPPROTO_UDP, low, high;
	uint32_t op;
	bool met;

	rd_nla_nested(data, cmp_policy, RD_ARRAY_SIZE(cmp_policy), cmp);
	rd_nla_nested(data, range_policy, RD_ARRAY_SIZE(range_policy), ranges);
	op = be32_of(range ? ranges[NFTA_RANGE_OP] : cmp[NFTA_CMP_OP]);
	low = value_of(range ? ranges[NFTA_RANGE_FROM_DATA] : cmp[NFTA_CMP_DATA]);
	high = range ? value_of(ranges[NFTA_RANGE_TO_DATA]) : low;
	if (reading->loaded == LOADED_OTHER || low < 0 || high < 0 || op > (range ? 1u : 5u)) {
		reading->rule.certain = false;
		return;
	}
	switch (range ? op : op + 2) {
	case 0: /* NFT_RANGE_EQ */
		met = actual >= low && actual <= high;
		break;
	case 1:
		met = actual < low || actual > high;
		break;
	case 2: /* NFT_CMP_EQ, NEQ, LT, LTE, GT, GTE */
		met = actual == low;
		break;
	case 3:
		met = actual != low;
		break;
	case 4:
		met = actual < low;
		break;
	case 5:
		met = actual <= low;
		break;
	case 6:
		met = actual > low;
		break;
	default:
		met = actual >= low;
		break;
	}
	reading->impossible |= !met;
}

static void read_verdict(const struct nlattr *data, struct reading *reading)
{
	static const uint8_t policy[] = {
		[NFTA_IMMEDIATE_DREG] = MNL_TYPE_U32, [NFTA_IMMEDIATE_DATA] = MNL_TYPE_NESTED
	};
	static const uint8_t data_policy[] = { [NFTA_DATA_VERDICT] = MNL_TYPE_NESTED };
	static const uint8_t verdict_policy[] = {
		[NFTA_VERDICT_CODE] = MNL_TYPE_U32, [NFTA_VERDICT_CHAIN] = MNL_TYPE_NUL_STRING
	};
	const struct nlattr *table[RD_ARRAY_SIZE(policy)], *inner[RD_ARRAY_SIZE(data_policy)],
		*verdict[RD_ARRAY_SIZE(verdict_policy)];

	rd_nla_nested(data, policy, RD_ARRAY_SIZE(policy), table);
	rd_nla_nested(table[NFTA_IMMEDIATE_DATA], data_policy, RD_ARRAY_SIZE(data_policy), inner);
	rd_nla_nested(inner[NFTA_DATA_VERDICT], verdict_policy, RD_ARRAY_SIZE(verdict_policy), verdict);
	if (!verdict[NFTA_VERDICT_CODE])
		return;
	reading->rule.verdict = (int)be32_of(verdict[NFTA_VERDICT_CODE]);
	free(reading->rule.target);
	reading->rule.target = rd_nla_text(verdict[NFTA_VERDICT_CHAIN]);
}

static void read_expression(const struct nlattr *element, struct reading *reading)
{
	static const uint8_t policy[] = { [NFTA_EXPR_NAME] = MNL_TYPE_NUL_STRING, [NFTA_EXPR_DATA] = MNL_TYPE_NESTED };
	static const char *const harmless[] = { "counter", "log", "notrack" }; /* do not affect the verdict */
	const struct nlattr *table[RD_ARRAY_SIZE(policy)];
	const char *name;

	rd_nla_nested(element, policy, RD_ARRAY_SIZE(policy), table);
	if (!table[NFTA_EXPR_NAME]) {
		reading->rule.certain = false;
		return;
	}
	name = mnl_attr_get_str(table[NFTA_EXPR_NAME]);
	if (strcmp(name, "meta") == 0) {
		read_meta(table[NFTA_EXPR_DATA], reading);
	} else if (strcmp(name, "payload") == 0) {
		read_payload(table[NFTA_EXPR_DATA], reading);
	} else if (strcmp(name, "cmp") == 0 || strcmp(name, "range") == 0) {
		read_compare(table[NFTA_EXPR_DATA], *name == 'r', reading);
	} else if (strcmp(name, "immediate") == 0) {
		read_verdict(table[NFTA_EXPR_DATA], reading);
	} else if (strcmp(name, "reject") == 0) {
		reading->rule.verdict = NF_DROP;
	} else {
		for (size_t i = 0; i < RD_ARRAY_SIZE(harmless); i++)
			if (strcmp(name, harmless[i]) == 0)
				return;
		reading->rule.certain = false;
	}
}

static int take_rule(void *arg, uint16_t type, const uint8_t *body, size_t size)
{
	static const uint8_t policy[] = { [NFTA_RULE_TABLE] = MNL_TYPE_NUL_STRING,
					  [NFTA_RULE_CHAIN] = MNL_TYPE_NUL_STRING,
					  [NFTA_RULE_EXPRESSIONS] = MNL_TYPE_NESTED };
	struct reading reading = { .rule = { .certain = true, .verdict = NFT_CONTINUE } };
	const struct nlattr *table[RD_ARRAY_SIZE(policy)], *element = NULL;
	struct ruleset *set = arg;
	struct nfgenmsg info;
	struct chain *chain;

	if ((type & 0xff) != NFT_MSG_NEWRULE || size < sizeof(info) || set->n_rules == RULES_MAX)
		return 0;
	memcpy(&info, body, sizeof(info));
	rd_nla_table(body + sizeof(info), size - sizeof(info), policy, RD_ARRAY_SIZE(policy), table);
	if (!table[NFTA_RULE_TABLE] || !table[NFTA_RULE_CHAIN])
		return 0;
	chain = find_chain(set, info.nfgen_family, mnl_attr_get_str(table[NFTA_RULE_TABLE]),
			   mnl_attr_get_str(table[NFTA_RULE_CHAIN]));
	if (!chain)
		return 0;
	while (rd_nla_next_nested(table[NFTA_RULE_EXPRESSIONS], &element))
		read_expression(element, &reading);
	if (reading.impossible || reading.rule.verdict == NFT_CONTINUE) {
		free(reading.rule.target);
		return 0;
	}
	if (rd_grow(&chain->rules, &chain->cap, chain->n + 1, sizeof(*chain->rules)) < 0) {
		free(reading.rule.target);
		return -ENOMEM;
	}
	chain->rules[chain->n++] = reading.rule;
	set->n_rules++;
	return 0;
}

/* The packet's path through a chain. */
struct traversal {
	const struct ruleset *set;
	bool may_accept, may_drop; /* by a rule whose conditions are not evaluated */
	enum { UNDECIDED, ACCEPTED, DROPPED } fate;
};

static void traverse_chain(struct traversal *traversal, const struct chain *chain, size_t depth)
{
	for (size_t i = 0; i < chain->n && traversal->fate == UNDECIDED; i++) {
		const struct rule *rule = &chain->rules[i];
		const struct chain *target;

		if (rule->verdict == NF_ACCEPT || rule->verdict == NF_DROP) {
			if (rule->certain)
				traversal->fate = rule->verdict == NF_ACCEPT ? ACCEPTED : DROPPED;
			else if (rule->verdict == NF_ACCEPT)
				traversal->may_accept = true;
			else
				traversal->may_drop = true;
			continue;
		}
		if (rule->verdict == NFT_RETURN && rule->certain)
			return;
		target = rule->target && depth < DEPTH_MAX ?
				 find_chain(traversal->set, chain->family, chain->table, rule->target) :
				 NULL;
		if (!target || !rule->certain) {
			traversal->may_accept = traversal->may_drop = true;
			continue;
		}
		traverse_chain(traversal, target, depth + 1);
		if (rule->verdict == NFT_GOTO)
			return;
	}
}

static const char *family_name(uint8_t family)
{
	return family == NFPROTO_INET ? "inet" : "ip";
}

static void judge_hook(const struct ruleset *set, int hook, enum rd_fate *ret, char **where)
{
	*ret = RD_FATE_PASS;
	for (size_t i = 0; i < set->n; i++) {
		const struct chain *chain = &set->v[i];
		struct traversal traversal = { .set = set };

		if (chain->hook != hook)
			continue;
		traverse_chain(&traversal, chain, 0);
		if (traversal.fate == UNDECIDED && chain->policy == NF_DROP)
			traversal.fate = DROPPED;
		if (traversal.fate == DROPPED && !traversal.may_accept) {
			*ret = RD_FATE_DROP;
			free(*where);
			*where = rd_text("chain %s of table %s %s", chain->name, family_name(chain->family),
					 chain->table);
			return;
		}
		if (traversal.fate == DROPPED || traversal.may_drop)
			*ret = RD_FATE_DEPENDS;
	}
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

int rd_collect_firewall(const struct rd_sysfs *fs, struct rd_netstate *net)
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
	int r;

	if (has_iptables_rules(fs))
		return 0;
	if (rd_sysfs_list(fs, &names, "/sys/module/nf_tables") < 0) {
		/* A query would load the module. Without it there are no rules, provided that sysfs lists modules. */
		firewall->known = rd_sysfs_list(fs, &names, "/sys/module") == 0 ? RD_OK : RD_ABSENT;
		return 0;
	}
	firewall->known = rd_netstate_dump(fs, NETLINK_NETFILTER, &request, sizeof(request), take_chain, &set, &r);
	if (r < 0 || firewall->known != RD_OK)
		return r;
	request.head.nlmsg_type = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETRULE;
	firewall->known = rd_netstate_dump(fs, NETLINK_NETFILTER, &request, sizeof(request), take_rule, &set, &r);
	if (r < 0 || firewall->known != RD_OK)
		return r;
	judge_hook(&set, NF_INET_LOCAL_IN, &firewall->input, &firewall->where);
	judge_hook(&set, NF_INET_LOCAL_OUT, &firewall->output, &firewall->where);
	return 0;
}
