/* SPDX-License-Identifier: GPL-2.0-or-later */
/* GID tables of RoCE ports. */

#include "check/shared/rules.h"
#include "model/host/system.h"

#define NOT_GIVEN "no RoCE port of a device whose file this container was given"

/* The rules in this file do not apply to the ports of a Gaudi, which are RoCE as well. */
static bool is_roce(const struct rd_host *host, size_t p)
{
	const struct rd_port *port = &host->ports[p];

	return rd_port_is_roce(host, port) && rd_port_active(port) && !rd_ibdev_is_gaudi(host, port->ibdev);
}

/* In a container that was given device files of some devices: not of this one, whose interface may be elsewhere, too. */
static bool is_withheld(const struct rd_check_input *in, const struct rd_port *port)
{
	const char *name = in->host->ibdevs[port->ibdev].name;
	size_t n;
	_cleanup_free_ char *given = in->system && in->system->uverbs_known ? rd_system_given(in->system, &n) : NULL;

	for (size_t i = 0; given && name && i < in->system->n_uverbs; i++)
		if (in->system->uverbs[i].ibdev && strcmp(in->system->uverbs[i].ibdev, name) == 0)
			return !in->system->uverbs[i].node;
	return false;
}

static bool any_type_known(const struct rd_port *port)
{
	for (size_t g = 0; g < port->n_gids; g++)
		if (port->gids[g].type != RD_GID_UNKNOWN)
			return true;
	return false;
}

/* A GID whose interface has a name that no interface has: renamed meanwhile, or not what the kernel printed. */
static bool has_stranger(const struct rd_host *host, const struct rd_port *port)
{
	for (size_t g = 0; g < port->n_gids; g++)
		if (port->gids[g].netdev && rd_host_find_netdev(host, port->gids[g].netdev) < 0)
			return true;
	return false;
}

/* The interface, or the bond or bridge above it, has an address that is not link-local. */
static bool has_address(const struct rd_host *host, const struct rd_port *port)
{
	for (size_t i = 0; i < port->n_netdevs; i++) {
		const struct rd_netdev *netdev = &host->netdevs[port->netdevs[i]];
		int master = rd_host_find_netdev(host, netdev->master);

		if (rd_netdev_has_address(netdev) || (master >= 0 && rd_netdev_has_address(&host->netdevs[master])))
			return true;
	}
	return false;
}

/* In an Open vSwitch, whose own interface has the address: that makes no GID. */
static bool is_switched(const struct rd_host *host, const struct rd_port *port)
{
	return port->n_netdevs > 0 && rd_same_text(host->netdevs[port->netdevs[0]].master, "ovs-system");
}

/* Drivers create an RDMA device for every port of a NIC, used or not. A port without an address is unused if it is not for
 * computing, if its virtual functions have the addresses, or if the host has no accelerator that it would serve. */
static bool is_idle(const struct rd_host *host, const struct rd_port *port, enum rd_role role)
{
	int pci = host->ibdevs[port->ibdev].pci;

	if (has_address(host, port) || pci < 0 || host->ibdevs[port->ibdev].parent_netdev)
		return false;
	for (size_t i = 0; i < host->n_pcis; i++)
		if (host->pcis[i].pf == pci)
			return true;
	for (size_t i = 0; i < host->n_netdevs; i++)
		if (host->netdevs[i].represents && host->netdevs[i].pci == pci)
			return true;
	return role == RD_ROLE_STORAGE || role == RD_ROLE_MANAGEMENT || !rd_host_has_peer(host);
}

/* Its link is the backup of a bond, whose GIDs the kernel gives to the device of the active one. */
static bool is_backup(const struct rd_host *host, const struct rd_port *port)
{
	int pci = host->ibdevs[port->ibdev].pci, bond = rd_host_bond_of(host, pci);

	for (size_t i = 0;
	     bond >= 0 && rd_same_text(host->netdevs[bond].bond_mode, "active-backup 1") && i < host->n_netdevs; i++) {
		const struct rd_netdev *other = &host->netdevs[i];

		if (other->pci != pci && rd_host_find_netdev(host, other->master) == bond &&
		    rd_same_text(other->bond_state, "active") && rd_host_ibdev_at(host, other->pci) >= 0)
			return true;
	}
	return false;
}

/* An uplink in switchdev mode, as of mlx5, perhaps in a bridge: it leads out of the cluster, and jobs have other ports. */
static bool is_uplink(const struct rd_host *host, const struct rd_port *port, enum rd_role role)
{
	const char *driver = host->ibdevs[port->ibdev].driver;
	const struct rd_netdev *netdev = &host->netdevs[port->netdevs[0]];
	int master = rd_host_find_netdev(host, netdev->master);
	size_t usable = 0;

	for (size_t p = 0; p < host->n_ports; p++)
		usable += host->ports[p].n_gids > 0;
	return role != RD_ROLE_COMPUTE && driver && strncmp(driver, "mlx5", 4) == 0 &&
	       (netdev->default_route ||
		(master >= 0 && !host->netdevs[master].is_bond && host->netdevs[master].default_route)) &&
	       (host->n_gpus == 0 || usable > 0);
}

/* Whether the interface of the port's own function, which the GID names, is known not to have its address. */
static bool is_stale(const struct rd_check_input *in, const struct rd_port *port, const struct rd_gid *gid)
{
	int netdev = rd_host_find_netdev(in->host, gid->netdev);
	const struct rd_netif *netif = netdev < 0 || !in->net || in->net->addrs_known != RD_OK || !rd_gid_is_v4(gid) ||
						       in->host->netdevs[netdev].pci !=
							       in->host->ibdevs[port->ibdev].pci ?
					       NULL :
					       rd_netstate_find_name(in->net, gid->netdev);

	for (size_t i = 0; netif && i < in->net->n_addrs; i++)
		if (in->net->addrs[i].ifindex == netif->ifindex && !in->net->addrs[i].addr.v6 &&
		    memcmp(in->net->addrs[i].addr.raw, gid->raw + 12, 4) == 0)
			return false;
	return netif && netif->master == 0;
}

/* NCCL looks for an IPv4 GID; without one it uses index 0, which is link-local and, with most drivers, RoCE v1. */
static void judge_usable(const struct rd_check_input *in, size_t p, const char *name, struct rd_check_out *out)
{
	const struct rd_port_views *views = in->ports;
	const struct rd_port *port = &views->host->ports[p];
	const struct rd_port_view *view = &views->v[p];
	_cleanup_free_ char *nccl = rd_port_nccl_gid(views, p);
	int index = rd_port_gid_index(views, p);

	if (is_withheld(in, port))
		return rd_check_skip(out, NOT_GIVEN);
	if (!port->gids_known)
		rd_check_unknown(out, name, "not all of the GID table could be read");
	else if (port->n_gids == 0 && port->n_netdevs > 0 &&
		 (is_idle(views->host, port, view->role) || is_uplink(views->host, port, view->role)))
		rd_check_note(out, name,
			      rd_text("GID table is empty, as of an uplink in switchdev mode: no sign that the port is "
				      "used for RDMA"),
			      NULL, NULL);
	else if (view->gid < 0 && is_backup(views->host, port))
		rd_check_note(out, name, rd_text("backup link of a bond, whose GIDs the active one has"), NULL, NULL);
	else if (view->gid < 0 && is_switched(views->host, port))
		rd_check_unknown(out, name,
				 "its interface is in an Open vSwitch: nothing shows whether it is to be used for RDMA");
	else if (port->n_gids == 0)
		rd_check_fail(out, name, rd_text("GID table is empty"),
			      rd_text("a RoCE v2 GID with an IPv4 or global address"));
	else if (view->gid >= 0 && is_stale(in, port, &port->gids[view->gid])) {
		char ip[46];

		rd_gid_ip(&port->gids[view->gid], ip);
		rd_check_warn(out, name,
			      rd_text("GID %d is %s, which %s does not have", index, ip, port->gids[view->gid].netdev),
			      rd_text("a GID of an address of the interface"));
	} else if (view->gid >= 0 && (rd_gid_is_v4(&port->gids[view->gid]) || view->gid == view->gid_nccl))
		rd_check_good(out, name);
	else if (index >= 0)
		rd_check_note(
			out, name, rd_text("no IPv4 GID: NCCL selects %s by default", nccl), rd_text("index %d", index),
			rd_text("# set NCCL_IB_ADDR_FAMILY=AF_INET6, or NCCL_IB_GID_INDEX=%d, in the job's environment",
				index));
	else if (port->netns_other || rd_port_is_v1_only(port))
		rd_check_good(out, name); /* reported by gid-netns, gid-v2 */
	else if (!any_type_known(port))
		rd_check_unknown(out, name, "GID types not reported");
	else if (has_stranger(views->host, port))
		rd_check_unknown(out, name, "a GID is on an interface that is not listed");
	else if (is_idle(views->host, port, view->role))
		rd_check_note(out, name,
			      rd_text("no IP address and no usable GID: no sign that the port is used for RDMA"), NULL,
			      NULL);
	else if (view->role == RD_ROLE_UNKNOWN)
		rd_check_unknown(out, name, "no usable GID, and the role of the port is unknown");
	else
		rd_check_fail(out, name,
			      rd_text("%s; NCCL selects %s by default", view->gid_why ?: "no usable GID", nccl),
			      rd_text("a RoCE v2 GID with an IPv4 or global address"));
}

/* iWARP, and devices that support one version, report other types. */
static void judge_v2(const struct rd_check_input *in, size_t p, const char *name, struct rd_check_out *out)
{
	const struct rd_port *port = &in->host->ports[p];
	const char *type = in->host->ibdevs[port->ibdev].hca_type;

	if (port->n_gids == 0)
		return;
	/* Not the Pro. */
	if (rd_port_is_v1_only(port) && type && strcmp(type, "MT4099") == 0)
		rd_check_note(
			out, name, rd_text("only RoCE v1 GIDs, as all that a ConnectX-3 has"), NULL,
			rd_text("# set NCCL_IB_ROCE_VERSION_NUM=1 in the environment of jobs, on all hosts of the subnet"));
	else if (rd_port_is_v1_only(port))
		rd_check_warn(out, name, rd_text("only RoCE v1 GIDs"), rd_text("RoCE v2 GIDs"));
	else if (any_type_known(port))
		rd_check_good(out, name);
	else
		rd_check_unknown(out, name, "GID types not reported");
}

static void judge_netns(const struct rd_check_input *in, size_t p, const char *name, struct rd_check_out *out)
{
	const struct rd_port *port = &in->host->ports[p];
	int pci = in->host->ibdevs[port->ibdev].pci;

	if (is_withheld(in, port))
		return rd_check_skip(out, NOT_GIVEN);
	if (port->netns_other && pci >= 0 && in->host->pcis[pci].pf >= 0)
		rd_check_note(out, name,
			      rd_text("virtual function; its interface was moved to another network "
				      "namespace, as for a container"),
			      NULL, NULL);
	else if (port->netns_other)
		rd_check_bad(out, in->ports->v[p].role == RD_ROLE_COMPUTE ? RD_SEV_CRITICAL : RD_SEV_WARNING, name,
			     rd_text("interface%s%s is not in this network namespace", port->netdev_name ? " " : "",
				     port->netdev_name ?: ""),
			     rd_text("interface in this network namespace, or device not visible here"),
			     port->netdev_name ?
				     rd_text("lsns -t net\n"
					     "# in its namespace (nsenter -t PID -n): ip link set %s netns 1; no "
					     "job may use it meanwhile\n"
					     "# or select NICs of this namespace (NCCL_IB_HCA), or run the job in "
					     "that of the host",
					     port->netdev_name) :
				     NULL);
	else
		rd_check_good(out, name);
}

static void judge_netdev(const struct rd_check_input *in, size_t p, const char *name, struct rd_check_out *out)
{
	const struct rd_port *port = &in->host->ports[p];
	enum rd_role role = in->ports->v[p].role;
	const struct rd_netdev *netdev;

	if (!rd_port_is_ethernet(port) || port->n_netdevs == 0 || role == RD_ROLE_STORAGE ||
	    role == RD_ROLE_MANAGEMENT || rd_ibdev_is_gaudi(in->host, port->ibdev) || rd_port_is_aside(in->ports, p))
		return;
	netdev = &in->host->netdevs[port->netdevs[0]];
	if (!netdev->operstate)
		rd_check_unknown(out, name, "interface state not reported");
	else if (strcmp(netdev->operstate, "down") != 0 && strcmp(netdev->operstate, "lowerlayerdown") != 0)
		rd_check_good(out, name);
	else if (role == RD_ROLE_UNKNOWN)
		rd_check_unknown(out, name, "interface is down, and the role of the port is unknown");
	else
		rd_check_fail(out, name, rd_text("%s is %s", netdev->name, netdev->operstate), rd_text("up"));
}

/* The port of another interface with the same GID; NULL: none. */
static const struct rd_port *twin_of(const struct rd_host *host, const struct rd_port *port, const struct rd_gid *gid)
{
	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_port *other = &host->ports[p];

		for (size_t g = 0; other != port && g < other->n_gids; g++)
			if (memcmp(gid->raw, other->gids[g].raw, sizeof(gid->raw)) == 0 &&
			    gid->type == other->gids[g].type && !rd_gid_is_link_local(gid) && other->netdev_name &&
			    port->netdev_name && strcmp(other->netdev_name, port->netdev_name) != 0)
				return other;
	}
	return NULL;
}

static void judge_duplicate(const struct rd_check_input *in, size_t p, const char *name, struct rd_check_out *out)
{
	const struct rd_port *port = &in->host->ports[p], *twin = NULL;
	size_t g = 0;

	if (!rd_port_is_roce(in->host, port) || port->n_gids == 0)
		return;
	for (; g < port->n_gids && !twin; g++)
		twin = twin_of(in->host, port, &port->gids[g]);
	if (twin) {
		char ip[46];

		rd_gid_ip(&port->gids[g - 1], ip);
		rd_check_fail(out, name,
			      rd_text("%s is also in the GID table of %s", ip, rd_port_label(in->host, twin).text),
			      rd_text("a unique address"));
	} else {
		rd_check_good(out, name);
	}
}

/* Another InfiniBand device with this node GUID, which of Ethernet may be that of a bond; NULL: none. */
static const char *same_guid(const struct rd_host *host, int ibdev, const char *guid)
{
	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_ibdev *dev = &host->ibdevs[host->ports[p].ibdev];

		if (rd_port_is_ib(&host->ports[p]) && dev->pci >= 0 && dev->pci != host->ibdevs[ibdev].pci &&
		    dev->node_guid && strcmp(dev->node_guid, guid) == 0)
			return rd_ibdev_label(host, host->ports[p].ibdev);
	}
	return NULL;
}

static bool has_guid(const struct rd_host *host, size_t p)
{
	return is_roce(host, p) || (rd_port_is_ib(&host->ports[p]) && rd_port_active(&host->ports[p]));
}

/* librdmacm, which needs an address, finds the device by its node GUID. Virtual functions get theirs from the physical function. */
static void judge_guid(const struct rd_check_input *in, size_t p, const char *name, struct rd_check_out *out)
{
	const char *guid = in->host->ibdevs[in->host->ports[p].ibdev].node_guid;

	if (rd_port_is_ib(&in->host->ports[p])) {
		const char *other = guid ? same_guid(in->host, in->host->ports[p].ibdev, guid) : NULL;

		if (other)
			rd_check_warn(out, name, rd_text("node GUID %s, as of %s", guid, other),
				      rd_text("a GUID of its own"));
		else
			rd_check_good(out, name);
		return;
	}
	/* mana before Linux 6.11 has neither GIDs nor a GUID: raw packets only. */
	if (!has_address(in->host, &in->host->ports[p]) || in->host->ports[p].n_gids == 0)
		return;
	if (!guid)
		rd_check_unknown(out, name, "node GUID not reported");
	else if (strspn(guid, "0:") == strlen(guid))
		rd_check_warn(out, name, rd_text("node GUID is 0"), rd_text("a GUID of its own"));
	else
		rd_check_good(out, name);
}

/* irdma reports LID 1 for all its ports; only old NCCL fails with it. */
static bool lid_is_constant(const struct rd_host *host, const struct rd_port *port)
{
	const char *driver = host->ibdevs[port->ibdev].driver;

	return driver && port->lid.v == 1 &&
	       (strcmp(driver, "ice") == 0 || strcmp(driver, "idpf") == 0 || strcmp(driver, "i40e") == 0);
}

static void judge_lid(const struct rd_check_input *in, size_t p, const char *name, struct rd_check_out *out)
{
	const struct rd_port *port = &in->host->ports[p];

	if (port->lid.known != RD_OK)
		rd_check_unknown(out, name, "LID not reported");
	else if (lid_is_constant(in->host, port))
		rd_check_note(out, name, rd_text("LID 1, as its driver reports for all ports"), rd_text("0"), NULL);
	else if (port->lid.v != 0)
		rd_check_warn(out, name, rd_text("LID %u on an Ethernet port", port->lid.v), rd_text("0"));
	else
		rd_check_good(out, name);
}

/* The network of a desktop or a small server, whose switches and other hosts have the default of 1500. */
static bool is_in_lan(const struct rd_host *host, const struct rd_port *port)
{
	return (rd_port_route(host, port) || is_switched(host, port)) && port->rate_gbps.known == RD_OK &&
	       port->rate_gbps.v < RD_FAST_GBPS;
}

static void judge_mtu(const struct rd_check_input *in, size_t p, const char *name, struct rd_check_out *out)
{
	const struct rd_port *port = &in->host->ports[p];

	/* Without accelerators large transfers are not expected, and the default of 1500 suffices. */
	if (in->ports->v[p].role != RD_ROLE_COMPUTE || in->host->n_gpus == 0)
		return;
	if (port->mtu.known != RD_OK)
		rd_check_unknown(out, name, "MTU not reported (no interface in this network namespace)");
	else if (port->mtu.v < 4096 && is_in_lan(in->host, port))
		rd_check_note(out, name, rd_text("RDMA MTU %u, as of the network with the default route", port->mtu.v),
			      rd_text("4096 (4200 or 9000 on the interface)"), NULL);
	else if (port->mtu.v < 4096) {
		/* The provider reports an MTU even if the interface is in another network namespace. */
		const struct rd_netdev *netdev = port->n_netdevs > 0 ? &in->host->netdevs[port->netdevs[0]] : NULL;

		rd_check_warn(out, name,
			      netdev ? rd_text("RDMA MTU %u (%s has %u)", port->mtu.v, netdev->name, netdev->mtu.v) :
				       rd_text("RDMA MTU %u", port->mtu.v),
			      rd_text("4096 (4200 or 9000 on the interface)"));
	} else
		rd_check_good(out, name);
}

const struct rd_check rd_check_gid_usable = {
	.id = "gid-usable",
	.title = "RoCE port has no usable GID",
	.why = "connections fail with errno 110 (ETIMEDOUT) or 19 (ENODEV), or with completion status 12",
	.fix = "rdmadiag nic-map --gids\n"
	       "# add an IP address to the interface (ip address add), also in the network configuration",
	.needs = "sysfs gids and gid_attrs of ports",
	.parts = { RD_PART_PCI | RD_PART_RDMA | RD_PART_NET, 0 },
	.each = { RD_EACH_PORT, is_roce, judge_usable, "no active RoCE port" },
};

const struct rd_check rd_check_gid_v2 = {
	.id = "gid-v2",
	.title = "RoCE port has no RoCE v2 GID",
	.why = "RoCE v1 cannot be routed, and libraries use v2: peers cannot reach each other",
	.fix = "# update firmware and driver, which determine the GID type; an address does not change it\n"
	       "# ConnectX-3 Pro: options mlx4_core roce_mode=2 in /etc/modprobe.d/\n"
	       "# if the card supports only RoCE v1: set NCCL_IB_ROCE_VERSION_NUM=1 for jobs, on all hosts of the subnet",
	.needs = "sysfs gid_attrs/types of ports",
	.parts = { RD_PART_PCI | RD_PART_RDMA | RD_PART_NET, 0 },
	.each = { RD_EACH_PORT, is_roce, judge_v2, "no active RoCE port" },
};

const struct rd_check rd_check_gid_netns = {
	.id = "gid-netns",
	.title = "Interface of a RoCE device is in another network namespace",
	.why = "its GIDs are not usable here: modify_qp fails with ENODEV, reading GID types with EINVAL",
	.fix = "lsns -t net\n"
	       "# select NICs of this namespace (NCCL_IB_HCA), or run the job in the host's network namespace\n"
	       "# or move the interface: ip link set INTERFACE netns NAME; no job may use it meanwhile",
	.needs = "sysfs gid_attrs/ndevs of ports, interfaces of this namespace",
	.parts = { RD_PART_PCI | RD_PART_RDMA | RD_PART_NET, 0 },
	.each = { RD_EACH_PORT, is_roce, judge_netns, "no active RoCE port" },
};

const struct rd_check rd_check_roce_netdev = {
	.id = "roce-netdev",
	.title = "Network interface of a RoCE port is down",
	.why = "the kernel removes its GIDs, and all connections break",
	.fix = "ip link set IF up\n"
	       "# if it stays down, check cable and switch port",
	.needs = "sysfs operstate of interfaces on RoCE ports",
	.parts = { RD_PART_PCI | RD_PART_RDMA | RD_PART_NET, 0 },
	.each = { RD_EACH_PORT, NULL, judge_netdev, "no RoCE port with an interface" },
};

const struct rd_check rd_check_gid_duplicate = {
	.id = "gid-duplicate",
	.title = "Two RoCE ports have the same GID",
	.why = "which port responds is undefined: connections time out intermittently",
	.fix = "ip -br address\n"
	       "# change the address of one of the interfaces; no job may use it meanwhile",
	.needs = "sysfs gids of ports",
	.parts = { RD_PART_PCI, RD_PART_RDMA | RD_PART_NET },
	.each = { RD_EACH_PORT, NULL, judge_duplicate, "no RoCE port" },
};

const struct rd_check rd_check_node_guid = {
	.id = "node-guid",
	.title = "RDMA device has no node GUID of its own",
	.why = "programs that connect with rdma_cm do not find the device: rdma_resolve_addr fails, or librdmacm crashes; subnet managers drop "
	       "one of two with the same",
	.fix = "# if this is a virtual function, on the hypervisor: ip link set PF vf N mac MAC (the GUID follows the MAC), then "
	       "unbind and bind the driver of the virtual function; no job may use it meanwhile\n"
	       "# InfiniBand: node_guid and port_guid instead of mac; of a card, mstflint -d ADDRESS sg",
	.needs = "sysfs node_guid of devices",
	.parts = { RD_PART_PCI | RD_PART_RDMA | RD_PART_NET, 0 },
	.each = { RD_EACH_PORT, has_guid, judge_guid,
		  "no active InfiniBand port, nor one of RoCE with an address and GIDs" },
};

const struct rd_check rd_check_roce_lid = {
	.id = "roce-lid",
	.title = "RoCE port has a LID",
	.why = "software that checks the LID treats the port as InfiniBand: modify_qp fails with EINVAL (old NCCL "
	       "with irdma)",
	.fix = "# update the driver\n"
	       "# use software that checks the link layer instead",
	.needs = "sysfs lid and link_layer of ports",
	.parts = { RD_PART_PCI, RD_PART_RDMA | RD_PART_NET },
	.each = { RD_EACH_PORT, is_roce, judge_lid, "no active RoCE port" },
};

const struct rd_check rd_check_roce_mtu = {
	.id = "roce-mtu",
	.title = "RoCE compute port has a small MTU",
	.why = "the same data takes up to four times as many packets; packets of peers set to 4096 are dropped "
	       "(completion status 12)",
	.fix = "ip link set IF mtu 9000\n"
	       "# configure the switches first\n"
	       "# no job may use the interface meanwhile\n"
	       "# it lasts until the next boot; also in the network configuration",
	.needs = "mtu of the interfaces on RoCE ports",
	.parts = { RD_PART_PCI | RD_PART_RDMA | RD_PART_NET, 0 },
	.each = { RD_EACH_PORT, is_roce, judge_mtu, "no RoCE compute port on a host with accelerators" },
};
