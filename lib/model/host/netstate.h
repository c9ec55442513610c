/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The network configuration on which RDMA over Ethernet depends, in this network namespace: interfaces, addresses, routes,
 * policy rules, neighbours, Data Center Bridging, sysctls, data of ethtool and devlink, firewall. Plain data, one owner.
 * Interfaces are identified by their index, as in the kernel.
 */
#ifndef RD_MODEL_NETSTATE_H
#define RD_MODEL_NETSTATE_H

#include "model/host/host.h"

#define RD_PRIOS 8 /* priorities and traffic classes of IEEE 802.1Q */

/* Data Center Bridging, operational values (IEEE 802.1Qaz). known: RD_ABSENT if the driver does not support it. */
struct rd_dcb {
	enum rd_known known;
	struct {
		enum rd_known known;
		uint8_t enable; /* bit per priority */
		uint64_t requests[RD_PRIOS], indications[RD_PRIOS];
	} pfc;
	struct {
		enum rd_known known;
		uint8_t prio_tc[RD_PRIOS]; /* class of a priority */
	} ets;
	RD_FIELD(uint64_t) dscp_prio_set; /* bit per DSCP value that is mapped to a priority */
	uint8_t dscp_prio[64];
	struct {
		enum rd_known known;
		uint8_t n, selectors[8]; /* IEEE_8021QAZ_APP_SEL_*, highest precedence first; 5: DSCP, 255: PCP */
	} trust;
};

/* ethtool netlink. RD_ABSENT: not supported by the driver. */
struct rd_ethstate {
	RD_FIELD(bool) pause_rx, pause_tx;
	RD_FIELD(uint32_t) rx_ring;
	RD_FIELD(uint8_t) data_split;	    /* header split: 1: disabled, 2: enabled */
	RD_FIELD(bool) ntuple, ntuple_able; /* flow steering; able: can be enabled */
};

/* Receive queues, from the netdev family of generic netlink. */
struct rd_queues {
	enum rd_known known;
	unsigned n_dmabuf, n_io_uring; /* bound to device memory; to io_uring zero-copy receive */
};

struct rd_netif {
	unsigned ifindex;
	char *name;
	char *kind;		/* "bond", "vlan", "veth" …; NULL: none, as hardware */
	unsigned flags;		/* IFF_* */
	unsigned master, lower; /* ifindex of the bond, bridge or VRF above, of the interface below; 0: none */
	int vlan;		/* -1: none */
	bool rdma;		/* on an RDMA port, or above an interface that is */
	RD_FIELD(uint32_t) carrier_down, carrier_up; /* number of losses, of gains since creation */
	RD_FIELD(int)
	rp_filter, arp_ignore, arp_announce, arp_filter; /* the effective value: the larger of its own and all's */
	/* Of interfaces on RDMA ports only: */
	struct rd_dcb dcb;
	struct rd_ethstate eth;
	struct rd_queues queues;
	/* RoCE congestion control, if the driver has files for it: bit per priority; DSCP and priority of CNPs. */
	RD_FIELD(uint8_t) ecn_np, ecn_rp;
	RD_FIELD(uint8_t) cnp_dscp, cnp_prio;
	RD_FIELD(int) tclass; /* forced for connections made by the kernel; -1: not forced */
};

struct rd_ifaddr {
	unsigned ifindex;
	unsigned flags; /* IFA_F_* */
	struct rd_addr addr;
};

struct rd_route {
	bool v6, has_gateway, has_source, multipath;
	uint8_t dst[16], gateway[16], source[16];
	unsigned dst_len;
	unsigned ifindex; /* 0: none */
	unsigned table, metric;
	uint8_t type; /* RTN_*: 1 unicast, 2 local, 7 unreachable … */
};

struct rd_policy { /* ip rule */
	bool v6;
	unsigned table;
	uint8_t source[16];
	unsigned source_len;
};

/* NUD_* of the kernel. */
enum {
	RD_NEIGH_INCOMPLETE = 0x01,
	RD_NEIGH_FAILED = 0x20,
	RD_NEIGH_REACHED = 0x9e
}; /* reached: now or before, or permanent */

struct rd_neigh {
	bool v6;
	unsigned ifindex;
	uint8_t addr[16];
	uint16_t state;
};

struct rd_fwver {
	enum rd_fwver_kind { RD_FWVER_RUNNING, RD_FWVER_STORED } kind;
	char *name, *value; /* "fw.version", "28.39.1002" */
};

struct rd_reporter {
	char *name; /* "fw_fatal", "tx" … */
	bool healthy;
	uint64_t errors, recoveries;
};

struct rd_devlink {
	char *bus, *dev; /* "pci", "0000:1b:00.0" */
	enum rd_known health_known;
	struct rd_fwver *versions;
	size_t n_versions, cap_versions;
	struct rd_reporter *reporters;
	size_t n_reporters, cap_reporters;
};

/* What the firewall may do with UDP packets to port 4791 (RoCE v2) that pass through the kernel: those of soft devices; a NIC
 * handles them in hardware. */
struct rd_firewall {
	enum rd_known
		known; /* RD_DENIED: no privilege; RD_ABSENT: not read, or with `legacy` an unsupported kind of rules */
	bool legacy;   /* a module of iptables is loaded */
	bool drops;    /* a rule drops this port, and none accepts anything */
	bool may_drop; /* a rule or policy drops what may be such packets */
};

struct rd_netstate {
	enum rd_known links_known, addrs_known, routes_known, policies_known, neighs_known, devlink_known;
	struct rd_netif *ifs;
	size_t n_ifs, cap_ifs;
	struct rd_ifaddr *addrs;
	size_t n_addrs, cap_addrs;
	struct rd_route *routes; /* without table local */
	size_t n_routes, cap_routes;
	struct rd_policy *policies;
	size_t n_policies, cap_policies;
	struct rd_neigh *neighs; /* all entries except permanent and multicast ones */
	size_t n_neighs, cap_neighs;
	struct rd_devlink *devlinks;
	size_t n_devlinks, cap_devlinks;
	struct rd_firewall firewall;
	RD_FIELD(int) ttl; /* net.ipv4.ip_default_ttl */
};
void rd_netstate_deinit(struct rd_netstate *net);

/* NULL: no interface with that index or name. */
const struct rd_netif *rd_netstate_find(const struct rd_netstate *net, unsigned ifindex);
const struct rd_netif *rd_netstate_find_name(const struct rd_netstate *net, const char *name);

/* The next interface that carries the packets of `netif`: the members of a bond, else itself. `*at` is 0 at first. NULL: no more. */
const struct rd_netif *rd_netstate_next_carrier(const struct rd_netstate *net, const struct rd_netif *netif, size_t *at);

/* Whether packets get their priority from their DSCP. */
bool rd_dcb_trusts_dscp(const struct rd_dcb *dcb);

/* The priority of packets with this traffic class. Without a map, drivers use the upper three bits of the DSCP. */
unsigned rd_dcb_prio(const struct rd_dcb *dcb, unsigned tclass);

/* An address as text: "10.1.2.3", "fe80::1". `ret`: 46 bytes. */
void rd_ip_text(bool v6, const uint8_t *addr, char *ret);

/* Whether `addr` is in the network `net`/`prefix`. */
bool rd_ip_within(const uint8_t *addr, const uint8_t *net, unsigned prefix);

#endif
