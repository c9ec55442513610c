/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether nftables has a rule or policy that can drop UDP packets to port 4791. Neither the order of rules nor the way to a chain
 * is followed: that packets are dropped is sure only where a rule names the port and no other rule has another verdict.
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

#define ROCE_PORT 4791

struct ruleset {
	bool drops, may_drop;
	bool others; /* verdicts that may keep a packet from a rule that drops it */
};

/* The last attribute of a type, or NULL. */
static const struct nlattr *find_attr(const void *data, size_t size, uint16_t type)
{
	const struct nlattr *attr = NULL, *found = NULL;

	while (rd_nla_next(data, size, &attr))
		if (mnl_attr_get_type(attr) == type)
			found = attr;
	return found;
}

static const struct nlattr *within(const struct nlattr *nest, uint16_t type)
{
	return nest ? find_attr(mnl_attr_get_payload(nest), mnl_attr_get_payload_len(nest), type) : NULL;
}

static uint32_t be32_of(const struct nlattr *nest, uint16_t type)
{
	uint32_t value;

	return rd_nla_bytes(within(nest, type), &value, sizeof(value)) ? ntohl(value) : UINT32_MAX;
}

struct rule {
	enum { LOADED_OTHER, LOADED_PROTOCOL, LOADED_PORT } loaded; /* what the register has */
	bool excludes;						    /* RoCE, by protocol or port */
	bool names;						    /* its port */
	bool conditions;					    /* there are others */
	bool drops, others;
};

static void read_compare(const struct nlattr *data, struct rule *rule)
{
	const uint8_t port[] = { ROCE_PORT >> 8, ROCE_PORT & 0xff }, protocol[] = { IPPROTO_UDP };
	bool is_port = rule->loaded == LOADED_PORT, equal;
	uint8_t bytes[2];

	if (rule->loaded == LOADED_OTHER || be32_of(data, NFTA_CMP_OP) != NFT_CMP_EQ ||
	    !rd_nla_bytes(within(within(data, NFTA_CMP_DATA), NFTA_DATA_VALUE), bytes, is_port ? 2 : 1)) {
		rule->conditions = true;
		return;
	}
	equal = memcmp(bytes, is_port ? port : protocol, is_port ? 2 : 1) == 0;
	rule->excludes |= !equal;
	rule->names |= equal && is_port;
}

static bool is_named(const struct nlattr *name, const char *text)
{
	return name && mnl_attr_get_payload_len(name) == strlen(text) + 1 &&
	       memcmp(mnl_attr_get_payload(name), text, strlen(text) + 1) == 0;
}

static void read_expression(const struct nlattr *element, struct rule *rule)
{
	const struct nlattr *name = within(element, NFTA_EXPR_NAME), *data = within(element, NFTA_EXPR_DATA), *verdict;

	if (is_named(name, "meta")) {
		rule->loaded = be32_of(data, NFTA_META_KEY) == NFT_META_L4PROTO ? LOADED_PROTOCOL : LOADED_OTHER;
	} else if (is_named(name, "payload")) {
		rule->loaded = be32_of(data, NFTA_PAYLOAD_BASE) == NFT_PAYLOAD_TRANSPORT_HEADER &&
					       be32_of(data, NFTA_PAYLOAD_OFFSET) == 2 &&
					       be32_of(data, NFTA_PAYLOAD_LEN) == 2 ?
				       LOADED_PORT :
				       LOADED_OTHER;
	} else if (is_named(name, "cmp")) {
		read_compare(data, rule);
	} else if (is_named(name, "immediate")) {
		verdict = within(within(data, NFTA_IMMEDIATE_DATA), NFTA_DATA_VERDICT);
		rule->drops |= be32_of(verdict, NFTA_VERDICT_CODE) == NF_DROP;
		rule->others |= verdict && be32_of(verdict, NFTA_VERDICT_CODE) != NF_DROP;
	} else if (is_named(name, "reject")) {
		rule->drops = true;
	} else if (!is_named(name, "counter") && !is_named(name, "log") && !is_named(name, "notrack")) {
		rule->conditions = true;
		/* More than a condition: targets of iptables, programs, other devices, maps of verdicts. */
		if (!name || is_named(name, "target") || is_named(name, "queue") || is_named(name, "fwd") ||
		    (is_named(name, "lookup") && be32_of(data, NFTA_LOOKUP_DREG) == NFT_REG_VERDICT))
			rule->drops = rule->others = true;
	}
}

static int take_message(void *arg, uint16_t type, const uint8_t *body, size_t size)
{
	const size_t head = sizeof(struct nfgenmsg);
	const struct nlattr *hook, *policy, *element = NULL;
	struct ruleset *set = arg;
	struct rule rule = { 0 };
	uint32_t value;

	if (size < head || body[0] == NFPROTO_ARP)
		return 0;
	if ((type & 0xff) == NFT_MSG_NEWCHAIN) {
		hook = find_attr(body + head, size - head, NFTA_CHAIN_HOOK);
		policy = find_attr(body + head, size - head, NFTA_CHAIN_POLICY);
		if (hook && be32_of(hook, NFTA_HOOK_HOOKNUM) != NF_INET_FORWARD)
			set->may_drop |= rd_nla_bytes(policy, &value, sizeof(value)) && ntohl(value) == NF_DROP;
		return 0;
	}
	while (rd_nla_next_nested(find_attr(body + head, size - head, NFTA_RULE_EXPRESSIONS), &element))
		read_expression(element, &rule);
	if (rule.excludes)
		return 0;
	set->drops |= rule.drops && rule.names && !rule.conditions;
	set->may_drop |= rule.drops;
	set->others |= rule.others;
	return 0;
}

/* Whether a module of legacy iptables is loaded, whose rules cannot be read over netlink: 0 if so, or why not, or why that is
 * unknown. */
static int find_iptables(const struct rd_sysfs *fs)
{
	static const char *const modules[] = { "iptable_filter", "iptable_raw", "iptable_mangle" };
	int r = -ENOENT;

	for (size_t i = 0; i < RD_ARRAY_SIZE(modules) && r && !rd_could_not_look(r); i++) {
		_cleanup_names_ struct rd_names names = { 0 };

		r = rd_sysfs_list(fs, &names, "/sys/module/%s", modules[i]);
	}
	return r;
}

void rd_collect_firewall(const struct rd_sysfs *fs, struct rd_netstate *net)
{
	struct {
		struct nlmsghdr head;
		struct nfgenmsg info;
	} request = { .head = { .nlmsg_len = sizeof(request),
				.nlmsg_type = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETCHAIN,
				.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP } };
	struct ruleset set = { 0 };
	_cleanup_names_ struct rd_names names = { 0 };
	struct rd_firewall *firewall = &net->firewall;
	int r = find_iptables(fs);

	firewall->legacy = r == 0;
	if (r == 0 || rd_could_not_look(r))
		return;
	r = rd_sysfs_list(fs, &names, "/sys/module/nf_tables");
	if (rd_could_not_look(r))
		return;
	if (r < 0) {
		/* A query would load the module. Without it there are no rules, provided that sysfs lists modules. */
		firewall->known = rd_sysfs_list(fs, &names, "/sys/module") == 0 ? RD_OK : RD_ABSENT;
		return;
	}
	firewall->known = rd_netstate_dump(fs, NETLINK_NETFILTER, &request, sizeof(request), take_message, &set);
	if (firewall->known != RD_OK)
		return;
	request.head.nlmsg_type = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETRULE;
	firewall->known = rd_netstate_dump(fs, NETLINK_NETFILTER, &request, sizeof(request), take_message, &set);
	firewall->drops = set.drops && !set.others;
	firewall->may_drop = set.may_drop;
}
