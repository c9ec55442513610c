/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules about the state of ports and the health of devices. */
#include "check/shared/rules.h"

#include <inttypes.h>
#include <net/if.h>

#include "base/err.h"

/* Ports that are not active, or go down repeatedly. */

#define DOWN_MANY 10 /* since the driver was loaded; every change of cable or switch causes a few */

#define CABLE "# check cable, transceiver and switch port"

/* The link is up, but not the port, or there is no carrier: that is set for a virtual function on its physical one, perhaps by a hypervisor. */
static char *virtual_fix(const struct rd_host *host, const struct rd_port *port)
{
	const struct rd_ibdev *dev = &host->ibdevs[port->ibdev];
	int pf = dev->pci < 0 ? -1 : host->pcis[dev->pci].pf;
	bool no_guid = rd_port_is_ib(port) && dev->node_guid && strspn(dev->node_guid, "0:") == strlen(dev->node_guid);
	const char *name = "PF";

	for (size_t i = 0; pf >= 0 && i < host->n_netdevs; i++)
		if (host->netdevs[i].pci == pf)
			name = host->netdevs[i].name;
	return rd_text("%sip link show dev %s\n# %sip link set %s vf N state auto%s",
		       pf < 0 ? "# if this is a virtual function, on the hypervisor: " : "", name,
		       pf < 0 ? "there: " : "", name,
		       no_guid ? "; the node GUID is 0: ip link set ... vf N node_guid GUID, then port_guid GUID, too" :
				 "");
}

/* The vendor's tool. */
static const char *shows_them(const struct rd_host *host, const struct rd_ibdev *dev)
{
	if (dev->pci < 0 || host->pcis[dev->pci].vendor.v == 0x15b3)
		return "; mlxlink -m shows them";
	return dev->driver && strcmp(dev->driver, "hfi1") == 0 ? "; opainfo shows them" : "";
}

/* An interface that is up already has no carrier. */
static char *down_fix(const struct rd_check_input *in, const struct rd_port *port)
{
	const struct rd_host *host = in->host;
	const struct rd_ibdev *dev = &host->ibdevs[port->ibdev];
	const struct rd_netdev *netdev = NULL;
	const struct rd_netif *netif;

	/* A cable is that of a bond's member. */
	for (size_t i = 0; i < port->n_netdevs && (!netdev || netdev->is_bond); i++)
		netdev = &host->netdevs[port->netdevs[i]];
	netif = netdev && in->net ? rd_netstate_find_name(in->net, netdev->name) : NULL;
	if (!rd_port_is_ethernet(port) || !netdev)
		return rd_text("ibstat IBDEV\n" CABLE "%s", shows_them(host, dev));
	if (!netif || !(netif->flags & IFF_UP))
		return NULL;
	return dev->pci >= 0 && rd_pcie_is_vf(host, &host->pcis[dev->pci]) ?
		       virtual_fix(host, port) :
		       rd_text("ethtool -m %s\n" CABLE, netdev->name);
}

static void fail_down(const struct rd_check_input *in, size_t p, const char *name, struct rd_check_out *out)
{
	const struct rd_host *host = in->host;
	const struct rd_port *port = &host->ports[p];
	const char *phys = port->phys_state ?: "-";
	int pci = host->ibdevs[port->ibdev].pci;
	bool up = rd_port_is_ib(port) && strcmp(phys, "LinkUp") == 0 && strcmp(port->state, "DOWN") == 0;
	bool virtual = up && (host->guest.known != RD_OK || host->guest.v || (pci >= 0 && host->pcis[pci].pf >= 0));

	/* Setting an Ethernet interface down also takes the RDMA port down; an IPoIB interface does not affect the link
	 * below it. */
	rd_check_bad(out, RD_SEV_CRITICAL, name,
		     rd_port_layer_is_odd(in->ports, p) ?
			     rd_text("%s, %s, link layer %s differs from the other compute ports", port->state, phys,
				     port->link_layer) :
			     rd_text("%s, %s", port->state, phys),
		     rd_text("ACTIVE, LinkUp"),
		     virtual ? virtual_fix(host, port) :
		     up	     ? rd_text("mlxlink -d ADDRESS\n"
					    "# check the switch port, and that the subnet manager has not disabled this one") :
			       down_fix(in, port));
}

/* Unknown: after a failed read the port may be down (undecided); the driver may also lack the file. */
static void report_unread(const struct rd_check_input *in, const char *subject, const char *what,
			  struct rd_check_out *out)
{
	const struct rd_err *unread = rd_check_unread(in->unread, RD_PART_RDMA);
	_cleanup_free_ char *reason = NULL;

	if (!unread)
		return rd_check_unknown(out, subject, "port state not reported by the driver");
	reason = rd_text("%s could not be read: %s: %s", what, unread->object, rd_errno_text(unread->code));
	rd_check_undecided(out, subject, reason);
}

/* Not a port on the board of which a driver makes an RDMA device, used or not. */
static bool may_be_meant(const struct rd_host *host, const struct rd_port *port)
{
	return port->n_netdevs == 0 || rd_port_is_configured(host, port) || host->n_gpus > 0 ||
	       !rd_port_is_ethernet(port);
}

/* Roles follow PCI location and kind, so a port that is down has the role of its peers. Other ports are often not cabled. */
static void run_state(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_host *host = in->host;
	bool any_active = false, any_meant = false;

	for (size_t p = 0; p < host->n_ports; p++) {
		any_active |= rd_port_active(&host->ports[p]) || !host->ports[p].state;
		any_meant |= may_be_meant(host, &host->ports[p]);
	}
	/* A bond that carries the default route over RDMA ports none of which is active. */
	for (size_t i = 0; i < host->n_netdevs; i++) {
		const struct rd_netdev *bond = &host->netdevs[i];
		size_t ports = 0, active = 0;

		if (!bond->is_bond || !bond->default_route)
			continue;
		for (size_t j = 0; j < host->n_ports; j++)
			for (size_t n = 0; n < host->ports[j].n_netdevs; n++) {
				const struct rd_netdev *netdev = &host->netdevs[host->ports[j].netdevs[n]];

				if (!host->ports[j].state || !netdev->master || strcmp(netdev->master, bond->name) != 0)
					continue;
				ports++;
				active += rd_port_active(&host->ports[j]);
			}
		if (ports > 0 && active == 0)
			rd_check_bad(out, RD_SEV_WARNING, bond->name,
				     rd_text("carries the default route, but none of its %zu RDMA port%s is active",
					     ports, ports == 1 ? "" : "s"),
				     rd_text("at least one active RDMA port"),
				     rd_text("ip link show master IF\n"
					     "# check cables, transceivers and switch ports of these interfaces"));
	}
	for (size_t d = 0; d < host->n_ibdevs; d++)
		if (host->ibdevs[d].ports_unread)
			report_unread(in, rd_ibdev_label(host, (int)d), "the list of ports", out);
	if (any_meant && !any_active && rd_check_compute_cards(in->ports) == 0)
		rd_check_fail(out, "host", rd_text("none of %zu RDMA ports is active", host->n_ports),
			      rd_text("at least one active RDMA port"));
	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];
		const struct rd_port_view *view = &in->ports->v[p];
		struct rd_port_name name = rd_port_label(host, port);

		if (!port->state)
			report_unread(in, name.text, "the port state", out);
		else if (rd_port_active(port) && rd_ibdev_is_efa(host, port->ibdev) && !rd_port_has_carrier(host, port))
			rd_check_unknown(out, name.text,
					 "the EFA driver reports every port as ACTIVE, with or without link");
		else if (rd_port_active(port))
			rd_check_good(out, name.text);
		else if (view->role == RD_ROLE_COMPUTE)
			fail_down(in, p, name.text, out);
		else if (view->role == RD_ROLE_UNKNOWN && !rd_port_is_aside(in->ports, p))
			rd_check_unknown(out, name.text, "port is not active, and its role is unknown");
		else
			rd_check_note(out, name.text,
				      rd_text("%s; %s", port->state, view->role_why ?: "not a compute port"), NULL,
				      NULL);
	}
}

static void judge_init(const struct rd_check_input *in, size_t p, const char *name, struct rd_check_out *out)
{
	const struct rd_port *port = &in->host->ports[p];
	size_t active = 0;

	if (!rd_port_is_ib(port) || rd_port_layer_is_odd(in->ports, p) || rd_port_is_aside(in->ports, p))
		return;
	for (size_t i = 0; i < in->host->n_ports; i++)
		active += rd_port_is_ib(&in->host->ports[i]) && rd_port_active(&in->host->ports[i]);
	if (!port->state || !port->phys_state)
		rd_check_unknown(out, name, "port state not reported");
	else if (strcmp(port->phys_state, "LinkUp") == 0 &&
		 (strcmp(port->state, "INIT") == 0 || strcmp(port->state, "ARMED") == 0))
		rd_check_port_bad(out, in->ports->v[p].role, RD_SEV_CRITICAL, name,
				  active ? rd_text("%s, %s; %zu other InfiniBand ports are ACTIVE", port->state,
						   port->phys_state, active) :
					   rd_text("%s, %s", port->state, port->phys_state),
				  rd_text("ACTIVE"));
	else
		rd_check_good(out, name);
}

/* Most other compute ports went down about as often: a switch was restarted, say. */
static bool all_flap(const struct rd_check_input *in, size_t p)
{
	size_t alike = 0, others = 0;

	for (size_t q = 0; q < in->host->n_ports; q++) {
		const struct rd_port *port = &in->host->ports[q];

		if (q == p || in->ports->v[q].role != RD_ROLE_COMPUTE || !rd_port_active(port))
			continue;
		others++;
		alike += port->link_downed.known == RD_OK &&
			 2 * port->link_downed.v >= in->host->ports[p].link_downed.v;
	}
	return others >= 3 && 2 * alike > others;
}

static void judge_flaps(const struct rd_check_input *in, size_t p, const char *name, struct rd_check_out *out)
{
	const struct rd_port *port = &in->host->ports[p];

	if (!rd_port_active(port))
		return;
	if (port->link_downed.known != RD_OK)
		rd_check_unknown(out, name, "no counter link_downed");
	else if (port->link_downed.v >= DOWN_MANY && port->link_downed.v < 255 && all_flap(in, p))
		rd_check_note(out, name,
			      rd_text("link went down %" PRIu64 " times, as those of most compute ports",
				      port->link_downed.v),
			      NULL, NULL);
	else if (port->link_downed.v >= DOWN_MANY)
		rd_check_port_bad(out, in->ports->v[p].role, RD_SEV_WARNING, name,
				  rd_text("link went down %" PRIu64 "%s times", port->link_downed.v,
					  port->link_downed.v == 255 ? " or more" : ""),
				  rd_text("fewer than %d since the driver was loaded", DOWN_MANY));
	else
		rd_check_good(out, name);
}

const struct rd_check rd_check_port_state = {
	.id = "port-state",
	.title = "Compute port is not active",
	.why = "libraries skip the port: accelerators next to it share another NIC, or the job does not start",
	.fix = "ip link set IF up\n"
	       "ip link show IF\n" CABLE " if it shows NO-CARRIER",
	.needs = "sysfs state and phys_state of ports, their roles",
	.parts = { RD_PART_PCI, RD_PART_RDMA },
	.run = run_state,
};

const struct rd_check rd_check_port_init = {
	.id = "ib-no-sm",
	.title = "InfiniBand link is up, but no subnet manager has activated the port",
	.why = "without a subnet manager there is no LID and no route",
	.fix = "ibstat IBDEV\n"
	       "# other ports are ACTIVE: check that this one is cabled to their fabric, and search the log of the subnet "
	       "manager for its GUID\n"
	       "# none is: check that a subnet manager runs on the switch or a host (systemctl status opensm)",
	.needs = "sysfs state and phys_state of ports",
	.parts = { RD_PART_PCI, RD_PART_RDMA },
	.each = { RD_EACH_PORT, NULL, judge_init, "no InfiniBand port" },
};

const struct rd_check rd_check_link_downed = {
	.id = "link-downed",
	.title = "Link went down many times (link_downed)",
	.why = "each time, queue pairs fail with completion status 12; more failures are likely",
	.fix = "rdmadiag counters --changed --filter '*link*' -i 10 -c 6\n"
	       "# it shows whether the counter still increases\n"
	       "# clean or swap cable and optics",
	.needs = "sysfs counters/link_downed",
	.parts = { 0, RD_PART_RDMA },
	.each = { RD_EACH_PORT, NULL, judge_flaps, "no active port" },
};

/* devlink: health reporters and firmware versions. */

/* Only RDMA NICs: switches and other devices have devlink instances, too. */
static bool is_nic(const struct rd_host *host, const struct rd_devlink *devlink)
{
	int pci = strcmp(devlink->bus, "pci") == 0 ? rd_host_find_pci(host, devlink->dev) : -1;

	return rd_host_ibdev_at(host, pci) >= 0;
}

static bool read_devlink(const struct rd_check_input *in, struct rd_check_out *out)
{
	rd_check_skip(out, "no NIC with devlink support");
	if (in->net && in->net->devlink_known == RD_OK)
		return true;
	if (in->net && in->net->devlink_known == RD_DENIED)
		rd_check_unknown(out, "host", "no permission to query devlink, or no response");
	return false;
}

#define RECOVERS                                                   \
	"# it may reset the device: no job may use it meanwhile\n" \
	"# if that does not help, reboot while no job runs"

static void run_health(const struct rd_check_input *in, struct rd_check_out *out)
{
	for (size_t i = 0; read_devlink(in, out) && i < in->net->n_devlinks; i++) {
		const struct rd_devlink *devlink = &in->net->devlinks[i];

		if (!is_nic(in->host, devlink) || devlink->health_known != RD_OK)
			continue;
		for (size_t k = 0; k < devlink->n_reporters; k++) {
			const struct rd_reporter *reporter = &devlink->reporters[k];

			if (reporter->healthy)
				rd_check_good(out, devlink->dev);
			else
				rd_check_bad(out, RD_SEV_CRITICAL, devlink->dev,
					     rd_text("reporter %s in error state: %llu errors, %llu recoveries",
						     reporter->name, (unsigned long long)reporter->errors,
						     (unsigned long long)reporter->recoveries),
					     rd_text("healthy"),
					     rd_text("devlink health dump show pci/ADDRESS reporter %s\n"
						     "devlink health recover pci/ADDRESS reporter %s\n" RECOVERS,
						     reporter->name, reporter->name));
		}
	}
}

static const struct rd_fwver *stored_of(const struct rd_devlink *devlink, const char *name)
{
	for (size_t i = 0; i < devlink->n_versions; i++)
		if (devlink->versions[i].kind == RD_FWVER_STORED && strcmp(devlink->versions[i].name, name) == 0)
			return &devlink->versions[i];
	return NULL;
}

static void run_firmware(const struct rd_check_input *in, struct rd_check_out *out)
{
	for (size_t i = 0; read_devlink(in, out) && i < in->net->n_devlinks; i++) {
		const struct rd_devlink *devlink = &in->net->devlinks[i];

		for (size_t k = 0; is_nic(in->host, devlink) && k < devlink->n_versions; k++) {
			const struct rd_fwver *running = &devlink->versions[k];
			const struct rd_fwver *stored =
				running->kind == RD_FWVER_RUNNING ? stored_of(devlink, running->name) : NULL;

			if (!stored)
				continue;
			if (strcmp(running->value, stored->value) == 0)
				rd_check_good(out, devlink->dev);
			else
				rd_check_warn(out, devlink->dev,
					      rd_text("%s: running %s, stored %s", running->name, running->value,
						      stored->value),
					      rd_text("running version equals stored version"));
		}
	}
}

const struct rd_check rd_check_devlink_health = {
	.id = "devlink-health",
	.title = "devlink health reporter of a NIC is in error state",
	.why = "the driver could not recover it: queues or firmware hang",
	.fix = "devlink health show pci/ADDRESS\n"
	       "# devlink health dump show, then devlink health recover, for the reporter in error state\n" RECOVERS,
	.needs = "DEVLINK_CMD_HEALTH_REPORTER_GET",
	.parts = { 0, RD_PART_PCI | RD_PART_RDMA | RD_PART_NET },
	.run = run_health,
};

const struct rd_check rd_check_devlink_firmware = {
	.id = "firmware-pending",
	.title = "NIC does not run the firmware stored in its flash",
	.why = "a firmware update was flashed but not activated: it takes effect at the next reset, possibly at an "
	       "inconvenient time",
	.fix = "devlink dev reload pci/ADDRESS action fw_activate\n"
	       "# it resets the device: no job may use it meanwhile\n"
	       "# where the driver does not support that: mlxfwreset, or a power cycle while no job runs",
	.needs = "DEVLINK_CMD_INFO_GET: running and stored versions",
	.thorough = true,
	.parts = { 0, RD_PART_PCI | RD_PART_RDMA | RD_PART_NET },
	.run = run_firmware,
};
