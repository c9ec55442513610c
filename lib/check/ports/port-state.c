/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ports that are not up, or go down again and again. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "check/shared/port.h"
#include "check/shared/rules.h"
#include "check/shared/unread.h"

#define DOWN_MANY 10 /* since the driver was loaded: a few come with every change of cable or switch */

/* An IPoIB interface has no say in the link below it; an Ethernet one that is set down takes the RDMA port with it. */
static char *fix_of(const struct rd_host *host, const struct rd_port *port, const struct rd_netdev *netdev)
{
	const struct rd_ibdev *dev = &host->ibdevs[port->ibdev];

	if (rd_port_is_ethernet(port) && netdev)
		return rd_text(
			"ip link show %s: NO-CARRIER points to cable, transceiver or switch port; DOWN without it: ip "
			"link set %s up",
			netdev->name, netdev->name);
	return rd_text("cable, transceivers and switch port of %s: ibstat %s, mlxlink -d %s -m",
		       rd_ibdev_label(host, port->ibdev), rd_ibdev_label(host, port->ibdev),
		       dev->pci >= 0 ? host->pcis[dev->pci].addr : "PCI");
}

static void fail_down(const struct rd_port_views *views, size_t p, const char *name, struct rd_check_out *out)
{
	const struct rd_host *host = views->host;
	const struct rd_port *port = &host->ports[p];
	const struct rd_netdev *netdev = port->n_netdevs > 0 ? &host->netdevs[port->netdevs[0]] : NULL;
	const char *phys = port->phys_state ? port->phys_state : "-";
	bool odd = rd_port_layer_is_odd(views, p);

	rd_check_bad(out, RD_SEV_CRITICAL, name,
		     odd ? rd_text("%s, %s, link layer %s unlike the other compute ports", port->state, phys,
				   port->link_layer) :
			   rd_text("%s, %s", port->state, phys),
		     rd_text("ACTIVE, LinkUp"), odd ? NULL : fix_of(host, port, netdev));
}

/* The host's way out, over ports that are none of them up. */
static void judge_route(const struct rd_host *host, struct rd_check_out *out)
{
	for (size_t i = 0; i < host->n_netdevs; i++) {
		const struct rd_netdev *bond = &host->netdevs[i];
		size_t ports = 0, active = 0;

		if (!bond->is_bond || !bond->default_route)
			continue;
		for (size_t p = 0; p < host->n_ports; p++)
			for (size_t n = 0; n < host->ports[p].n_netdevs; n++) {
				const struct rd_netdev *netdev = &host->netdevs[host->ports[p].netdevs[n]];

				if (!host->ports[p].state || !netdev->master || strcmp(netdev->master, bond->name) != 0)
					continue;
				ports++;
				active += rd_port_active(&host->ports[p]);
			}
		if (ports > 0 && active == 0)
			rd_check_bad(out, RD_SEV_WARNING, bond->name,
				     rd_text("carries the default route, and none of its %zu RDMA port%s is active",
					     ports, ports == 1 ? "" : "s"),
				     rd_text("one that is"),
				     rd_text("ip link show master %s: cables, transceivers and switch ports of these",
					     bond->name));
	}
}

/* Where a read failed, the port may be down; where the driver has no such file, nobody knows. */
static void tell_unread(const struct rd_check_input *in, const char *subject, const char *what, struct rd_check_out *out)
{
	const struct rd_err *unread = rd_check_unread(in->unread, RD_PART_RDMA);
	_cleanup_free_ char *reason = NULL;

	if (!unread) {
		rd_check_unknown(out, subject, "the driver does not report the port's state");
		return;
	}
	reason = rd_text("%s could not be read: %s: %s", what, unread->object, rd_errno_text(unread->code));
	rd_check_undecided(out, subject, reason);
}

/* Roles go by place and kind: a port that is down has that of its like. Ports of others are often left without a cable. */
static void run_state(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_host *host = in->host;
	bool any_active = false, any_state = false;

	for (size_t p = 0; p < host->n_ports; p++) {
		any_active |= rd_port_active(&host->ports[p]) || !host->ports[p].state;
		any_state |= host->ports[p].state != NULL;
	}
	judge_route(host, out);
	for (size_t d = 0; d < host->n_ibdevs; d++)
		if (host->ibdevs[d].ports_unread)
			tell_unread(in, rd_ibdev_label(host, (int)d), "the list of its ports", out);
	if (any_state && !any_active && rd_check_compute_cards(in->ports) == 0)
		rd_check_fail(out, "host", rd_text("none of %zu RDMA ports is active", host->n_ports),
			      rd_text("one that is"));
	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];
		const struct rd_port_view *view = &in->ports->v[p];
		struct rd_port_name name = rd_check_port_name(host, port);

		if (!port->state)
			tell_unread(in, name.text, "the port's state", out);
		else if (rd_port_active(port) && rd_ibdev_is_efa(host, port->ibdev) && !rd_port_has_carrier(host, port))
			rd_check_unknown(out, name.text, "the driver of EFA reports every port ACTIVE, link or not");
		else if (rd_port_active(port))
			rd_check_good(out, name.text);
		else if (view->role == RD_ROLE_COMPUTE)
			fail_down(in->ports, p, name.text, out);
		else if (view->role == RD_ROLE_UNKNOWN && !rd_port_is_aside(in->ports, p))
			rd_check_unknown(out, name.text, "it is not active, and what it is for is not known");
		else
			rd_check_note(out, name.text,
				      rd_text("%s; %s", port->state,
					      view->role_why ? view->role_why : "not for computing"),
				      NULL, NULL);
	}
}

static void run_init(const struct rd_check_input *in, struct rd_check_out *out)
{
	for (size_t p = 0; p < in->host->n_ports; p++) {
		const struct rd_port *port = &in->host->ports[p];
		struct rd_port_name name = rd_check_port_name(in->host, port);

		if (!rd_port_is_ib(port) || rd_port_layer_is_odd(in->ports, p) || rd_port_is_aside(in->ports, p))
			continue;
		if (!port->state || !port->phys_state)
			rd_check_unknown(out, name.text, "its state is not told");
		else if (strcmp(port->phys_state, "LinkUp") == 0 &&
			 (strcmp(port->state, "INIT") == 0 || strcmp(port->state, "ARMED") == 0))
			rd_check_port_bad(out, in->ports->v[p].role, RD_SEV_CRITICAL, name.text,
					  rd_text("%s, %s", port->state, port->phys_state), rd_text("ACTIVE"));
		else
			rd_check_good(out, name.text);
	}
	rd_check_skip(out, "there is no InfiniBand port");
}

static void run_flaps(const struct rd_check_input *in, struct rd_check_out *out)
{
	for (size_t p = 0; p < in->host->n_ports; p++) {
		const struct rd_port *port = &in->host->ports[p];
		struct rd_port_name name = rd_check_port_name(in->host, port);

		if (!rd_port_active(port))
			continue;
		if (port->link_downed.known != RD_OK)
			rd_check_unknown(out, name.text, "it has no counter link_downed");
		else if (port->link_downed.v >= DOWN_MANY)
			rd_check_port_bad(out, in->ports->v[p].role, RD_SEV_WARNING, name.text,
					  rd_text("went down %" PRIu64 "%s times", port->link_downed.v,
						  port->link_downed.v == 255 ? " or more" : ""),
					  rd_text("fewer than %d since the driver was loaded", DOWN_MANY));
		else
			rd_check_good(out, name.text);
	}
	rd_check_skip(out, "no port is up");
}

const struct rd_check rd_check_port_state = {
	.id = "port-state",
	.title = "A compute port is not active",
	.why = "libraries skip it: accelerators next to it share another NIC, or the job does not start",
	.fix = "look at the cable and the switch port; ip link set DEV up; ibportstate, dmesg",
	.needs = "sysfs state and phys_state of ports, their roles",
	.quick = true,
	.whole = RD_PART_PCI,
	.reads = RD_PART_RDMA,
	.run = run_state,
};

const struct rd_check rd_check_port_init = {
	.id = "ib-no-sm",
	.title = "The link of an InfiniBand port is up, and no subnet manager has made it active",
	.why = "without a subnet manager there is no LID and no route",
	.fix = "is one running on the switch or a host (sminfo; systemctl status opensm), and does it reach this port?",
	.needs = "sysfs state and phys_state of ports",
	.quick = true,
	.whole = RD_PART_PCI,
	.reads = RD_PART_RDMA,
	.run = run_init,
};

const struct rd_check rd_check_link_downed = {
	.id = "link-downed",
	.title = "A link went down many times",
	.why = "each time queue pairs break with completion status 12; the next time is likely",
	.fix = "clean or swap cable and optics; rdmadiag counters shows whether it goes on",
	.needs = "sysfs counters/link_downed",
	.quick = true,
	.reads = RD_PART_RDMA,
	.run = run_flaps,
};
