/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a subnet manager assigns to a port (LID, partitions), and the width of its link. */

#include "check/shared/rules.h"

#include <inttypes.h>

enum { LID_PERMISSIVE = 0xffff, PKEY_DEFAULT = 0xffff, PKEY_FULL = 0x8000 };

/* A port whose link layer differs from that of the other compute ports is left to link-layer-uniform. */
static bool is_judged(const struct rd_port_views *views, size_t p)
{
	const struct rd_port *port = &views->host->ports[p];

	return rd_port_is_ib(port) && rd_port_active(port) && !rd_port_layer_is_odd(views, p);
}

static uint64_t subnet_of(const struct rd_check_input *in, size_t p)
{
	const struct rd_port *port = &in->host->ports[p];
	uint64_t ret = 0;

	for (size_t i = 0; port->n_gids > 0 && port->gids[0].index == 0 && i < 8; i++)
		ret = ret << 8 | port->gids[0].raw[i];
	return ret;
}

static uint64_t sm_of(const struct rd_check_input *in, size_t p)
{
	return in->host->ports[p].sm_lid.v;
}

/* Rails that are networks of their own have other prefixes, or all the default one; a subnet manager that takes over has another LID. */
static void judge_subnet(const struct rd_check_input *in, size_t p, const char *name, struct rd_check_out *out)
{
	const struct rd_port *port = &in->host->ports[p];
	uint64_t own = subnet_of(in, p), prefix = rd_check_usual(in, p, subnet_of), sm = rd_check_usual(in, p, sm_of);

	if (prefix && own && own != prefix)
		/* With another rate it may be for something else. */
		rd_check_bad(out,
			     in->host->n_gpus > 0 && !rd_check_odd(in, RD_TRAIT_RATE, -1, (int)p, true) ?
				     RD_SEV_WARNING :
				     RD_SEV_NOTE,
			     name, rd_text("subnet prefix 0x%016" PRIx64, own),
			     rd_text("0x%016" PRIx64 ", as on all other compute ports", prefix), NULL);
	else if (sm && sm != port->sm_lid.v)
		rd_check_note(out, name, rd_text("subnet manager LID %u", port->sm_lid.v),
			      rd_text("%" PRIu64 ", as on all other compute ports, if all are in one subnet", sm),
			      NULL);
	else
		rd_check_good(out, name);
}

/* The LID of the port, or that of the subnet manager: what the rule is about. */
static void judge_assigned(const struct rd_check_input *in, size_t p, const char *name, struct rd_check_out *out)
{
	const struct rd_port *port = &in->host->ports[p];
	const char *of_sm = rd_check_of(out)->with;
	bool known = of_sm ? port->sm_lid.known == RD_OK : port->lid.known == RD_OK;
	unsigned lid = of_sm ? port->sm_lid.v : port->lid.v;

	if ((!of_sm && !rd_port_layer_known(in->host, port, out)) || !is_judged(in->ports, p))
		return;
	if (!known)
		rd_check_unknown(out, name, of_sm ? "subnet manager LID not reported" : "LID not reported");
	else if (lid == 0 || lid == LID_PERMISSIVE)
		rd_check_port_bad(out, in->ports->v[p].role, RD_SEV_CRITICAL, name,
				  rd_text("%sLID %u", of_sm ?: "", lid), rd_text("1 to 49151"));
	else if (of_sm)
		judge_subnet(in, p, name, out);
	else
		rd_check_good(out, name);
}

/* The first P_Key with these bits; 0: none. */
static uint16_t find_pkey(const struct rd_port *port, uint16_t mask, uint16_t bits)
{
	for (size_t i = 0; i < port->n_pkeys; i++)
		if ((port->pkeys[i] & mask) == bits)
			return port->pkeys[i];
	return 0;
}

static uint64_t full_pkey(const struct rd_check_input *in, size_t p)
{
	return find_pkey(&in->host->ports[p], PKEY_FULL, PKEY_FULL);
}

static void judge_pkey(const struct rd_check_input *in, size_t p, const char *name, struct rd_check_out *out)
{
	const struct rd_port *port = &in->host->ports[p];
	bool full = full_pkey(in, p) != 0;
	uint16_t usual = (uint16_t)rd_check_usual(in, p, full_pkey);

	if (!is_judged(in->ports, p))
		return;
	if (!port->pkeys_known)
		rd_check_unknown(out, name, "P_Key table not reported");
	else if (port->n_pkeys == 0)
		rd_check_port_bad(out, in->ports->v[p].role, RD_SEV_CRITICAL, name, rd_text("no P_Key"),
				  rd_text("0x%04x or another P_Key", PKEY_DEFAULT));
	else if (!full && in->ports->v[p].role == RD_ROLE_STORAGE)
		rd_check_note(out, name,
			      rd_text("limited member of all %zu partitions, as clients of storage often are",
				      port->n_pkeys),
			      NULL, NULL);
	else if (!full)
		rd_check_port_bad(out, in->ports->v[p].role, RD_SEV_WARNING, name,
				  rd_text("limited member of all %zu partitions", port->n_pkeys),
				  rd_text("full member of at least one partition"));
	else if (usual && !find_pkey(port, 0xffff, usual))
		rd_check_warn(out, name, rd_text("not in the partition of the other compute ports"),
			      rd_text("P_Key 0x%04x", usual));
	else
		rd_check_good(out, name);
}

static void judge_width(const struct rd_check_input *in, size_t p, const char *name, struct rd_check_out *out)
{
	const struct rd_port *port = &in->host->ports[p];

	if (!is_judged(in->ports, p))
		return;
	/* 2X is normal with a split cable; 1X is not. */
	if (!port->width)
		rd_check_unknown(out, name, "link width not reported");
	else if (port->phys_state && strcmp(port->phys_state, "LinkUp") != 0)
		rd_check_unknown(out, name, "port is active, but its physical link is not up");
	else if (port->width == 1)
		rd_check_port_bad(out, in->ports->v[p].role, RD_SEV_CRITICAL, name,
				  rd_text("1X%s%s", port->speed ? " " : "", port->speed ?: ""), rd_text("4X"));
	/* The kernel prints it for speeds that it does not know, too (rate_show). */
	else if (port->speed && strcmp(port->speed, "SDR") == 0)
		rd_check_unknown(out, name, "speed SDR: the lowest one, or one that this kernel does not know");
	else
		rd_check_good(out, name);
}

/* Of the port that the interface is on; the interface of a partition is on none. */
static enum rd_role role_of(const struct rd_port_views *views, size_t netdev)
{
	const struct rd_host *host = views->host;
	enum rd_role role = RD_ROLE_UNKNOWN;

	for (size_t p = host->n_ports; p > 0; p--)
		for (size_t i = 0; i < host->ports[p - 1].n_netdevs; i++)
			if ((size_t)host->ports[p - 1].netdevs[i] == netdev)
				role = views->v[p - 1].role;
	return role;
}

/* In datagram mode; packets of Omni-Path have up to 10 KiB. */
static unsigned most_mtu(const struct rd_host *host, const struct rd_netdev *netdev)
{
	const char *driver = netdev->pci >= 0 ? host->pcis[netdev->pci].driver : NULL;

	return driver && strcmp(driver, "hfi1") == 0 ? 10236 : 4092;
}

/* Both ends must use the same mode, so all interfaces of one role should: others may be on another network. */
static void run_ipoib(const struct rd_check_input *in, struct rd_check_out *out)
{
	const char *firsts[RD_ROLE_MANAGEMENT + 1] = { 0 };

	for (size_t i = 0; i < in->host->n_netdevs; i++) {
		const struct rd_netdev *netdev = &in->host->netdevs[i];
		enum rd_role role = role_of(in->ports, i);
		const char *mode = netdev->ipoib_mode, *first = firsts[role];

		if (netdev->type.known != RD_OK || netdev->type.v != 32)
			continue;
		if (!mode)
			rd_check_unknown(out, netdev->name, "IPoIB mode not reported");
		else if (first && strcmp(first, mode) != 0)
			rd_check_port_bad(out, role, RD_SEV_WARNING, netdev->name,
					  rd_text("%s, others %s", mode, first),
					  rd_text("the same mode on all IPoIB interfaces of one network"));
		else if (strcmp(mode, "datagram") == 0 && netdev->mtu.known == RD_OK &&
			 netdev->mtu.v > most_mtu(in->host, netdev))
			rd_check_port_bad(out, role, RD_SEV_WARNING, netdev->name,
					  rd_text("datagram mode with an MTU of %u", netdev->mtu.v),
					  rd_text("at most %u", most_mtu(in->host, netdev)));
		else
			rd_check_good(out, netdev->name);
		firsts[role] = first ?: mode;
	}
	rd_check_skip(out, "no IPoIB interface");
}

const struct rd_check rd_check_ib_lid = {
	.id = "ib-lid",
	.title = "Active InfiniBand port has no valid LID",
	.why = "the port cannot be addressed: connections fail or time out",
	.fix = "ibstat IBDEV\n"
	       "# restart the subnet manager, or trigger a sweep; new connections fail meanwhile\n"
	       "# search its log for the GUID of this port",
	.needs = "sysfs lid and link_layer of ports",
	.parts = { RD_PART_PCI, RD_PART_RDMA | RD_PART_NET },
	.each = { RD_EACH_PORT, NULL, judge_assigned, "no active InfiniBand port" },
};

const struct rd_check rd_check_ib_sm = {
	.id = "ib-sm-lid",
	.title = "Active InfiniBand port has no subnet manager LID, or is in another subnet than the others",
	.why = "path queries time out, or peers of the other ports cannot be reached: connections fail",
	.fix = "sminfo -C IBDEV\n"
	       "# a port in another subnet: check which switch it is cabled to\n"
	       "# no subnet manager: restart the subnet manager, or trigger a sweep; new connections fail meanwhile",
	.needs = "sysfs sm_lid and gids/0 of ports",
	.parts = { RD_PART_PCI, RD_PART_RDMA | RD_PART_NET },
	.each = { RD_EACH_PORT, NULL, judge_assigned, "no active InfiniBand port" },
	.with = "subnet manager ",
};

const struct rd_check rd_check_ib_pkey = {
	.id = "ib-pkey",
	.title = "InfiniBand port is a limited member of its partition, or lacks that of the others",
	.why = "limited members cannot communicate with each other: packets are dropped, and transports retry until "
	       "they fail",
	.fix = "ibstat IBDEV\n"
	       "# add the GUID of this port as =full to partitions.conf of the subnet manager",
	.needs = "sysfs pkeys of ports",
	.parts = { RD_PART_PCI | RD_PART_RDMA, RD_PART_NET },
	.each = { RD_EACH_PORT, NULL, judge_pkey, "no active InfiniBand port" },
};

const struct rd_check rd_check_ib_width = {
	.id = "ib-width",
	.title = "InfiniBand link came up with one lane (1X)",
	.why = "one lane has a quarter of the bandwidth; caused by a bad cable or connector",
	.fix = "# reseat, clean or swap the cable, then try another switch port",
	.needs = "sysfs rate of ports",
	.parts = { RD_PART_PCI, RD_PART_RDMA | RD_PART_NET },
	.each = { RD_EACH_PORT, NULL, judge_width, "no active InfiniBand port" },
};

const struct rd_check rd_check_ipoib_mode = {
	.id = "ipoib-mode",
	.title = "IPoIB mode and MTU do not fit together",
	.why = "large packets are dropped between hosts with different modes",
	.fix = "echo datagram | tee /sys/class/net/*/mode\n"
	       "# sets all IPoIB interfaces; their MTU: 2044 or 4092\n"
	       "# no job may use IPoIB meanwhile\n"
	       "# it lasts until the next boot; also in the network configuration",
	.needs = "sysfs mode, mtu and type of interfaces",
	.thorough = true,
	.parts = { RD_PART_PCI, RD_PART_RDMA | RD_PART_NET },
	.run = run_ipoib,
};
