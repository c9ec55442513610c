/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ports that are not up, or go down again and again. */
#include <inttypes.h>
#include <stdio.h>

#include "check/port.h"
#include "check/rules.h"

#define DOWN_MANY 10 /* since the driver was loaded: a few come with every change of cable or switch */

struct rd_port_name rd_check_port_name(const struct rd_host *host, const struct rd_port *port)
{
	struct rd_port_name name;

	snprintf(name.text, sizeof(name.text), "%.64s/%u", rd_ibdev_label(host, port->ibdev), port->num);
	return name;
}

bool rd_port_layer_known(const struct rd_host *host, const struct rd_port *port, struct rd_check_out *out)
{
	if (port->link_layer)
		return true;
	rd_check_unknown(out, rd_check_port_name(host, port).text, "its link layer is not told");
	return false;
}

/* Roles go by kind: a port that is down has that of its like. Ports of others are often left without a cable. */
static void run_state(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_host *host = in->host;
	bool any_active = false;

	for (size_t p = 0; p < host->n_ports; p++)
		any_active |= rd_port_active(&host->ports[p]);
	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];
		struct rd_port_name name = rd_check_port_name(host, port);

		if (!port->state)
			rd_check_unknown(out, name.text, "its state is not told");
		else if (rd_port_active(port) && rd_ibdev_is_efa(host, port->ibdev) && !rd_port_has_carrier(host, port))
			rd_check_unknown(out, name.text, "the driver of EFA reports every port ACTIVE, link or not");
		else if (rd_port_active(port))
			rd_check_good(out, name.text);
		else if (port->role == RD_ROLE_COMPUTE || !any_active)
			rd_check_fail(out, name.text,
				      rd_text("%s, %s", port->state, port->phys_state ? port->phys_state : "-"),
				      rd_text("ACTIVE, LinkUp"));
		else
			rd_check_good(out, name.text);
	}
}

static void run_init(const struct rd_check_input *in, struct rd_check_out *out)
{
	for (size_t p = 0; p < in->host->n_ports; p++) {
		const struct rd_port *port = &in->host->ports[p];
		struct rd_port_name name = rd_check_port_name(in->host, port);

		if (!rd_port_is_ib(port))
			continue;
		if (!port->state || !port->phys_state)
			rd_check_unknown(out, name.text, "its state is not told");
		else if (strcmp(port->phys_state, "LinkUp") == 0 &&
			 (strcmp(port->state, "INIT") == 0 || strcmp(port->state, "ARMED") == 0))
			rd_check_fail(out, name.text, rd_text("%s, %s", port->state, port->phys_state),
				      rd_text("ACTIVE"));
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
			rd_check_warn(out, name.text,
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
	.why = "libraries pass over it: accelerators next to it share another NIC, or the job does not start",
	.fix = "look at the cable and the switch port; ip link set DEV up; ibportstate, dmesg",
	.needs = "sysfs state and phys_state of ports, their roles",
	.quick = true,
	.run = run_state,
};

const struct rd_check rd_check_port_init = {
	.id = "ib-no-sm",
	.title = "The link of an InfiniBand port is up, and no subnet manager has made it active",
	.why = "without a subnet manager there is no LID and no route",
	.fix = "is one running on the switch or a host (sminfo; systemctl status opensm), and does it reach this port?",
	.needs = "sysfs state and phys_state of ports",
	.quick = true,
	.run = run_init,
};

const struct rd_check rd_check_link_downed = {
	.id = "link-downed",
	.title = "A link went down many times",
	.why = "each time queue pairs break with completion status 12; the next time is likely",
	.fix = "clean or swap cable and optics; rdmadiag counters shows whether it goes on",
	.needs = "sysfs counters/link_downed",
	.quick = true,
	.run = run_flaps,
};
