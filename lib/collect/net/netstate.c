/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The network settings of a host: firewall, devlink, sysctl; then those of each interface. */
#include "collect/net/netstate.h"

#include <arpa/inet.h>
#include <linux/devlink.h>
#include <linux/ethtool_netlink.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>

/* Requests a netlink dump from the kernel. */

enum rd_known rd_netstate_dump(const struct rd_sysfs *fs, int protocol, const void *request, size_t size,
			       rd_nlmsg_fn *fn, void *arg)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	struct rd_err why = { 0 };
	int code = rd_netlink(fs->src, protocol, request, size, &bytes, &why);

	if (code == -EPERM || code == -EACCES || code == -ENOMEM) {
		rd_errlist_add(fs->errors, &why);
		return RD_DENIED;
	}
	if (code < 0)
		return RD_ABSENT;
	rd_nlmsgs_each(&bytes, fn, arg);
	return RD_OK;
}

/*
 * Whether nftables has a rule or policy that can drop UDP packets to port 4791. Neither the order of rules nor the way to a chain
 * is followed: that packets are dropped is sure only where a rule names the port and no other rule has another verdict.
 */

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

static void take_message(void *arg, uint16_t type, const uint8_t *body, size_t size)
{
	const size_t head = sizeof(struct nfgenmsg);
	const struct nlattr *hook, *policy, *element = NULL;
	struct ruleset *set = arg;
	struct rule rule = { 0 };
	uint32_t value;

	if (size < head || body[0] == NFPROTO_ARP)
		return;
	if ((type & 0xff) == NFT_MSG_NEWCHAIN) {
		hook = find_attr(body + head, size - head, NFTA_CHAIN_HOOK);
		policy = find_attr(body + head, size - head, NFTA_CHAIN_POLICY);
		if (hook && be32_of(hook, NFTA_HOOK_HOOKNUM) != NF_INET_FORWARD)
			set->may_drop |= rd_nla_bytes(policy, &value, sizeof(value)) && ntohl(value) == NF_DROP;
		return;
	}
	while (rd_nla_next_nested(find_attr(body + head, size - head, NFTA_RULE_EXPRESSIONS), &element)) {
		const struct nlattr *name = within(element, NFTA_EXPR_NAME), *data = within(element, NFTA_EXPR_DATA),
				    *verdict;

		if (is_named(name, "meta")) {
			rule.loaded = be32_of(data, NFTA_META_KEY) == NFT_META_L4PROTO ? LOADED_PROTOCOL : LOADED_OTHER;
		} else if (is_named(name, "payload")) {
			rule.loaded = be32_of(data, NFTA_PAYLOAD_BASE) == NFT_PAYLOAD_TRANSPORT_HEADER &&
						      be32_of(data, NFTA_PAYLOAD_OFFSET) == 2 &&
						      be32_of(data, NFTA_PAYLOAD_LEN) == 2 ?
					      LOADED_PORT :
					      LOADED_OTHER;
		} else if (is_named(name, "cmp")) {
			read_compare(data, &rule);
		} else if (is_named(name, "immediate")) {
			verdict = within(within(data, NFTA_IMMEDIATE_DATA), NFTA_DATA_VERDICT);
			rule.drops |= be32_of(verdict, NFTA_VERDICT_CODE) == NF_DROP;
			rule.others |= verdict && be32_of(verdict, NFTA_VERDICT_CODE) != NF_DROP;
		} else if (is_named(name, "reject")) {
			rule.drops = true;
		} else if (!is_named(name, "counter") && !is_named(name, "log") && !is_named(name, "notrack")) {
			rule.conditions = true;
			/* More than a condition: targets of iptables, programs, other devices, maps of verdicts. */
			if (!name || is_named(name, "target") || is_named(name, "queue") || is_named(name, "fwd") ||
			    (is_named(name, "lookup") && be32_of(data, NFTA_LOOKUP_DREG) == NFT_REG_VERDICT))
				rule.drops = rule.others = true;
		}
	}
	if (rule.excludes)
		return;
	set->drops |= rule.drops && rule.names && !rule.conditions;
	set->may_drop |= rule.drops;
	set->others |= rule.others;
}

/* Whether a module of legacy iptables is loaded, whose rules cannot be read over netlink: 0 if so, or why not, or why that is
 * unknown. */
static int find_iptables(const struct rd_sysfs *fs)
{
	static const char *const modules[] = { "iptable_filter", "iptable_raw", "iptable_mangle" };
	int r = -ENOENT;

	for (size_t i = 0; i < RD_ARRAY_SIZE(modules) && r && !rd_could_not_look(r); i++) {
		_cleanup_texts_ struct rd_texts names = { 0 };

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
	_cleanup_texts_ struct rd_texts names = { 0 };
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

/* Health reporters and firmware versions of all devices, from devlink. */

#define DEVICES_MAX 4096
#define PARTS_MAX 1024 /* versions and reporters per device; mlx5 has 20 */

enum { STATE_HEALTHY = 0 }; /* of DEVLINK_ATTR_HEALTH_REPORTER_STATE; 1: error */

static struct rd_devlink *device_of(struct rd_netstate *net, const struct nlattr *bus, const struct nlattr *dev)
{
	struct rd_devlink *devlink;

	if (!bus || !dev)
		return NULL;
	for (size_t i = 0; i < net->n_devlinks; i++)
		if (strcmp(net->devlinks[i].bus, mnl_attr_get_str(bus)) == 0 &&
		    strcmp(net->devlinks[i].dev, mnl_attr_get_str(dev)) == 0)
			return &net->devlinks[i];
	if (net->n_devlinks == DEVICES_MAX)
		return NULL;
	devlink = RD_ADD(net->devlinks, net->n_devlinks, net->cap_devlinks);
	*devlink = (struct rd_devlink){ .bus = rd_nla_text(bus), .dev = rd_nla_text(dev) };
	return devlink;
}

static void add_version(struct rd_devlink *devlink, enum rd_fwver_kind kind, const struct nlattr *attr)
{
	static const uint8_t policy[] = {
		[DEVLINK_ATTR_INFO_VERSION_NAME] = MNL_TYPE_NUL_STRING, [DEVLINK_ATTR_INFO_VERSION_VALUE] = MNL_TYPE_NUL_STRING
	};
	const struct nlattr *table[RD_ARRAY_SIZE(policy)];

	rd_nla_nested(attr, policy, RD_ARRAY_SIZE(policy), table);
	if (!table[DEVLINK_ATTR_INFO_VERSION_NAME] || !table[DEVLINK_ATTR_INFO_VERSION_VALUE] ||
	    devlink->n_versions == PARTS_MAX)
		return;
	*RD_ADD(devlink->versions, devlink->n_versions, devlink->cap_versions) =
		(struct rd_fwver){ .kind = kind,
				   .name = rd_nla_text(table[DEVLINK_ATTR_INFO_VERSION_NAME]),
				   .value = rd_nla_text(table[DEVLINK_ATTR_INFO_VERSION_VALUE]) };
}

static void take_info(void *arg, uint8_t command, const void *attrs, size_t size)
{
	static const uint8_t policy[] = {
		[DEVLINK_ATTR_BUS_NAME] = MNL_TYPE_NUL_STRING, [DEVLINK_ATTR_DEV_NAME] = MNL_TYPE_NUL_STRING
	};
	const struct nlattr *table[RD_ARRAY_SIZE(policy)], *attr = NULL;
	struct rd_devlink *devlink;

	if (command != DEVLINK_CMD_INFO_GET)
		return;
	rd_nla_table(attrs, size, policy, RD_ARRAY_SIZE(policy), table);
	devlink = device_of(arg, table[DEVLINK_ATTR_BUS_NAME], table[DEVLINK_ATTR_DEV_NAME]);
	if (!devlink)
		return;
	while (rd_nla_next(attrs, size, &attr))
		if (mnl_attr_get_type(attr) == DEVLINK_ATTR_INFO_VERSION_RUNNING)
			add_version(devlink, RD_FWVER_RUNNING, attr);
		else if (mnl_attr_get_type(attr) == DEVLINK_ATTR_INFO_VERSION_STORED)
			add_version(devlink, RD_FWVER_STORED, attr);
}

static void take_reporter(void *arg, uint8_t command, const void *attrs, size_t size)
{
	static const uint8_t policy[] = { [DEVLINK_ATTR_BUS_NAME] = MNL_TYPE_NUL_STRING,
					  [DEVLINK_ATTR_DEV_NAME] = MNL_TYPE_NUL_STRING,
					  [DEVLINK_ATTR_HEALTH_REPORTER] = MNL_TYPE_NESTED };
	static const uint8_t inner_policy[] = { [DEVLINK_ATTR_HEALTH_REPORTER_NAME] = MNL_TYPE_NUL_STRING,
						[DEVLINK_ATTR_HEALTH_REPORTER_STATE] = MNL_TYPE_U8,
						[DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT] = MNL_TYPE_U64,
						[DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT] = MNL_TYPE_U64 };
	const struct nlattr *table[RD_ARRAY_SIZE(policy)], *inner[RD_ARRAY_SIZE(inner_policy)];
	struct rd_reporter reporter = { 0 };
	struct rd_devlink *devlink;

	if (command != DEVLINK_CMD_HEALTH_REPORTER_GET)
		return;
	rd_nla_table(attrs, size, policy, RD_ARRAY_SIZE(policy), table);
	rd_nla_nested(table[DEVLINK_ATTR_HEALTH_REPORTER], inner_policy, RD_ARRAY_SIZE(inner_policy), inner);
	devlink = device_of(arg, table[DEVLINK_ATTR_BUS_NAME], table[DEVLINK_ATTR_DEV_NAME]);
	if (!devlink)
		return;
	/* A reporter without a state is ignored. */
	if (!inner[DEVLINK_ATTR_HEALTH_REPORTER_NAME] || !inner[DEVLINK_ATTR_HEALTH_REPORTER_STATE] ||
	    devlink->n_reporters == PARTS_MAX)
		return;
	devlink->health_known = RD_OK;
	reporter.healthy = mnl_attr_get_u8(inner[DEVLINK_ATTR_HEALTH_REPORTER_STATE]) == STATE_HEALTHY;
	rd_nla_uint(inner[DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT], &reporter.errors);
	rd_nla_uint(inner[DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT], &reporter.recoveries);
	reporter.name = rd_nla_text(inner[DEVLINK_ATTR_HEALTH_REPORTER_NAME]);
	*RD_ADD(devlink->reporters, devlink->n_reporters, devlink->cap_reporters) = reporter;
}

void rd_collect_devlink(const struct rd_sysfs *fs, struct rd_netstate *net)
{
	static const struct {
		uint8_t command;
		rd_genl_fn *take;
	} queries[] = { { DEVLINK_CMD_INFO_GET, take_info }, { DEVLINK_CMD_HEALTH_REPORTER_GET, take_reporter } };
	uint16_t family;

	if (rd_genl_family(fs->src, DEVLINK_GENL_NAME, &family, NULL) < 0)
		return;
	for (size_t i = 0; i < RD_ARRAY_SIZE(queries); i++) {
		_cleanup_bytes_ struct rd_bytes reply = { 0 };
		struct rd_genl_request request;
		struct rd_err why = { 0 };
		int r;

		rd_genl_begin(&request, family, queries[i].command, NLM_F_DUMP);
		r = rd_genl_query(fs->src, &request, &reply, &why);
		if (r == -EPERM) {
			rd_errlist_add(fs->errors, &why);
			net->devlink_known = RD_DENIED;
		}
		if (r < 0)
			continue;
		net->devlink_known = RD_OK;
		rd_genl_each(&reply, queries[i].take, net);
	}
}

/* The network settings that RDMA over Ethernet depends on. */

#define CONF "/proc/sys/net/ipv4/conf"

/* "Global tclass=106", only in NVIDIA's own driver packages. Empty: no traffic class is forced. */
static void read_tclass(const struct rd_sysfs *fs, const struct rd_host *host, const struct rd_port *port,
			struct rd_netif *netif)
{
	const char *dev = host->ibdevs[port->ibdev].name;
	_cleanup_free_ char *text = NULL;
	const char *value;
	uint32_t tclass;

	if (!dev ||
	    rd_read_textf(fs->src, &text, NULL, "/sys/class/infiniband/%s/tc/%u/traffic_class", dev, port->num) < 0)
		return;
	value = strstr(text, "lobal tclass=");
	value = value ? value + 13 : "";
	RD_SET(netif->tclass, rd_take_u32(&value, RD_DECIMAL, INT32_MAX, &tclass) < 0 ? -1 : (int)tclass);
}

/* What the driver says of an interface of an RDMA port, or of a member of its bond. */
static void read_driver(const struct rd_sysfs *fs, const struct rd_host *host, const struct rd_ethfamilies *families,
			const struct rd_port *port, struct rd_netif *netif)
{
	int64_t value;

	if (netif->rdma)
		return;
	netif->rdma = true;
	rd_collect_dcb(fs, netif->name, &netif->dcb);
	rd_collect_ethstate(fs, families, netif);
	/* ecn/roce_np/enable/0 … 7 and cnp_*: only in NVIDIA's own driver packages, not in the kernel's mlx5 driver. */
	for (int i = 0; i < 2; i++) {
		const char *side = i ? "roce_rp" : "roce_np";
		uint8_t mask = 0;
		int prio;

		for (prio = 0; prio < RD_PRIOS; prio++) {
			if (rd_sysfs_int(fs, &value, "/sys/class/net/%s/ecn/%s/enable/%d", netif->name, side, prio) !=
			    RD_OK)
				break;
			mask |= (uint8_t)((value != 0) << prio);
		}
		if (prio == RD_PRIOS && i)
			RD_SET(netif->ecn_rp, mask);
		else if (prio == RD_PRIOS)
			RD_SET(netif->ecn_np, mask);
	}
	if (rd_sysfs_int(fs, &value, "/sys/class/net/%s/ecn/roce_np/cnp_dscp", netif->name) == RD_OK && value >= 0 &&
	    value < 64)
		RD_SET(netif->cnp_dscp, (uint8_t)value);
	if (rd_sysfs_int(fs, &value, "/sys/class/net/%s/ecn/roce_np/cnp_802p_prio", netif->name) == RD_OK &&
	    value >= 0 && value < RD_PRIOS)
		RD_SET(netif->cnp_prio, (uint8_t)value);
	read_tclass(fs, host, port, netif);
}

void rd_collect_netstate(struct rd_source *src, const struct rd_host *host, struct rd_netstate *net,
			 struct rd_errlist *errors)
{
	const struct rd_sysfs fs = { .src = src, .errors = errors };
	struct rd_ethfamilies families = { 0 };
	static const char *const names[] = { "rp_filter", "arp_ignore", "arp_announce", "arp_filter" };
	int64_t all[RD_ARRAY_SIZE(names)], ttl;
	bool known[RD_ARRAY_SIZE(names)];

	rd_collect_links(&fs, net);
	rd_collect_ifaddrs(&fs, net);
	rd_collect_routes(&fs, net);
	rd_collect_neighs(&fs, net);
	rd_collect_firewall(&fs, net);
	rd_collect_devlink(&fs, net);
	if (host->n_ports > 0 && net->n_ifs > 0) {
		rd_genl_family(fs.src, ETHTOOL_GENL_NAME, &families.ethtool, NULL);
		rd_genl_family(fs.src, "netdev", &families.netdev, NULL);
	}
	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];

		for (size_t i = 0; i < port->n_netdevs; i++) {
			const struct rd_netif *found = rd_netstate_find_name(net, host->netdevs[port->netdevs[i]].name);
			const struct rd_netif *carrier;

			for (size_t at = 0; found && (carrier = rd_netstate_next_carrier(net, found, &at));)
				read_driver(&fs, host, &families, port, &net->ifs[carrier - net->ifs]);
			if (found)
				read_driver(&fs, host, &families, port, &net->ifs[found - net->ifs]);
		}
	}
	/* The addresses of an RDMA interface may be on a VLAN or bond above it. */
	for (size_t i = 0; i < net->n_ifs; i++) {
		const struct rd_netif *below = rd_netstate_find(net, net->ifs[i].lower);
		const struct rd_netif *above = rd_netstate_find(net, net->ifs[i].master);

		if (below && below->rdma)
			net->ifs[i].rdma = true;
		if (above && net->ifs[i].rdma)
			net->ifs[above - net->ifs].rdma = true;
	}
	if (rd_sysfs_int(&fs, &ttl, "/proc/sys/net/ipv4/ip_default_ttl") == RD_OK && ttl > 0 && ttl < 256)
		RD_SET(net->ttl, (int)ttl);
	for (size_t k = 0; k < RD_ARRAY_SIZE(names); k++)
		known[k] = rd_sysfs_int(&fs, &all[k], CONF "/all/%s", names[k]) == RD_OK;
	for (size_t k = 0; k < net->n_ifs; k++)
		if (net->ifs[k].rdma) {
			/* The effective value is the maximum of conf/all and conf/INTERFACE (Documentation/networking/ip-sysctl.rst). */
			for (size_t j = 0; j < RD_ARRAY_SIZE(names); j++) {
				int64_t value;

				if (!known[j] ||
				    rd_sysfs_int(&fs, &value, CONF "/%s/%s", net->ifs[k].name, names[j]) != RD_OK)
					continue;
				value = value > all[j] ? value : all[j];
				if (j == 0)
					RD_SET(net->ifs[k].rp_filter, (int)value);
				else if (j == 1)
					RD_SET(net->ifs[k].arp_ignore, (int)value);
				else if (j == 2)
					RD_SET(net->ifs[k].arp_announce, (int)value);
				else
					RD_SET(net->ifs[k].arp_filter, (int)value);
			}
		}
}
