/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/fabric/fabric-judge-priv.h"

#include "analyse/fabric/fabric-reach.h"
#include "base/memory.h"
#include "base/text.h"

/* ---- links */

/* Lanes and their bits in PortInfo, widest first. */
static const struct {
	unsigned lanes, bit;
} widths[] = { { 12, 8 }, { 8, 4 }, { 4, 2 }, { 2, 16 }, { 1, 1 } };

/* The widest width (lanes) and highest speed (enum rd_link_speed) that both ends support; 0: unknown. */
static unsigned common_width(const struct rd_fabric_port *a, const struct rd_fabric_port *b)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(widths); i++)
		if (a->width_supported & b->width_supported & widths[i].bit)
			return widths[i].lanes;
	return 0;
}

static unsigned common_speed(const struct rd_fabric_port *a, const struct rd_fabric_port *b)
{
	for (unsigned speed = RD_SPEEDS - 1; speed > RD_SPEED_UNKNOWN; speed--)
		if (a->speed_supported & b->speed_supported & (1u << speed))
			return speed;
	return RD_SPEED_UNKNOWN;
}

/* Copy of the port with `supported` reduced to what is enabled; 0 in `enabled` means all. */
static struct rd_fabric_port enabled(const struct rd_fabric_port *port)
{
	struct rd_fabric_port on = *port;

	on.width_supported &= port->width_enabled ? port->width_enabled : ~0u;
	on.speed_supported &= port->speed_enabled ? port->speed_enabled : ~0u;
	return on;
}

enum link_verdict {
	LINK_GOOD,
	LINK_LIMITED, /* both ends support more, but one of them has it disabled */
	LINK_DEGRADED,
};

static bool is_below(const struct rd_fabric_port *port, unsigned width, unsigned speed)
{
	return (width && port->width_active && port->width_active < width) ||
	       (speed && port->speed_active && port->speed_active < speed);
}

static enum link_verdict judge_link(const struct rd_fabric_port *port, const struct rd_fabric_port *peer)
{
	struct rd_fabric_port here = enabled(port), there = enabled(peer);

	if (!is_below(port, common_width(port, peer), common_speed(port, peer)))
		return LINK_GOOD;
	return is_below(port, common_width(&here, &there), common_speed(&here, &there)) ? LINK_DEGRADED : LINK_LIMITED;
}

static void add_link_finding(struct judge *j, const struct rd_fabric_port *port, struct rd_finding *finding)
{
	const struct rd_fabric_port *peer = &j->fabric->ports[port->peer];
	unsigned width = common_width(port, peer), speed = common_speed(port, peer);

	if (!finding->subject)
		finding->subject = rd_fabric_cable_text(j->fabric, port);
	if (!finding->observed)
		finding->observed = rd_text("%ux %s", port->width_active, rd_link_speed_name(port->speed_active));
	finding->expected = rd_text("%ux %s", width ? width : port->width_active,
				    rd_link_speed_name(speed ? speed : port->speed_active));
	rd_finding_add(j->findings, finding);
}

static void report_degraded(struct judge *j, const struct rd_fabric_port *port)
{
	struct rd_finding finding = {
		.id = "fabric-link-degraded",
		.severity = RD_SEV_WARNING,
		.title = "link is narrower or slower than both ends support",
		.harm = rd_fabric_harm(RD_HARM_LINK_SLOW, 0),
		.why = "it limits all traffic routed over it, and with it the whole job",
		.fix = rd_dup(
			"# reseat the cable at both ends, then replace it\n# also check that the cable is rated for the speed"),
	};

	add_link_finding(j, port, &finding);
}

static void report_limited(struct judge *j, const struct rd_fabric_port *port, size_t n)
{
	struct rd_finding finding = {
		.id = "fabric-link-limited",
		.severity = RD_SEV_NOTE,
		.title = n == 1 ? "link is limited by configuration: both ends support more" :
				  "links are limited by configuration: both ends support more",
		.why = "PortInfo LinkWidthEnabled or LinkSpeedEnabled of one or both ends is less than supported",
		.observed = rd_text("%zu link%s, this one %ux %s", n, n == 1 ? "" : "s", port->width_active,
				    rd_link_speed_name(port->speed_active)),
		.fix = rd_text("ibportstate %u %u query\n# if not intended: ibportstate shows what is enabled",
			       port->lid, port->number),
	};

	add_link_finding(j, port, &finding);
}

enum rd_link_limit rd_judge_limit(const struct rd_fabric_port *port, const struct rd_fabric_port *peer)
{
	if (!port->width_supported || !port->speed_supported || !peer->width_supported || !peer->speed_supported)
		return RD_LINK_UNKNOWN;
	switch (judge_link(port, peer)) {
	case LINK_DEGRADED:
		return RD_LINK_FAULTY;
	case LINK_LIMITED:
		return RD_LINK_CONFIGURED;
	default:
		return RD_LINK_BEST;
	}
}

/* A cable is judged once, at the port with the lower index. Links limited by configuration are not a fault; one finding covers
 * all of them. */
static void judge_rates(struct judge *j)
{
	const struct rd_fabric_port *example = NULL;
	size_t limited = 0;

	for (size_t i = 0; i < j->fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &j->fabric->ports[i];

		if (port->presence == RD_PORT_GONE || port->peer == RD_NONE || i >= port->peer)
			continue;
		switch (judge_link(port, &j->fabric->ports[port->peer])) {
		case LINK_DEGRADED:
			report_degraded(j, port);
			break;
		case LINK_LIMITED:
			example = example ? example : port;
			limited++;
			break;
		case LINK_GOOD:
			break;
		}
	}
	if (example)
		report_limited(j, example, limited);
}

static bool is_inactive(const struct rd_fabric_port *port)
{
	return port->state == RD_LINK_INIT || port->state == RD_LINK_ARMED;
}

static void judge_state(struct judge *j, const struct rd_fabric_port *port)
{
	struct rd_finding finding = {
		.id = "fabric-link-inactive",
		.severity = RD_SEV_WARNING,
		.title = "link is up, but not ACTIVE",
		.harm = rd_fabric_harm(RD_HARM_LINK_DOWN, 0),
		.why = "the subnet manager has not set it to ACTIVE: only management packets can pass",
	};

	if (port->number == 0 || !is_inactive(port))
		return;
	/* Once per cable. */
	if (port->peer != RD_NONE && &j->fabric->ports[port->peer] < port && is_inactive(&j->fabric->ports[port->peer]))
		return;
	finding.subject = rd_fabric_cable_text(j->fabric, port);
	finding.observed = rd_dup(rd_link_state_name(port->state));
	finding.expected = rd_dup("ACTIVE");
	finding.fix = rd_dup(
		"sminfo\n# repeat in a minute, as a sweep of the subnet manager may be in progress\n# then read the log of "
		"the subnet manager");
	rd_finding_add(j->findings, &finding);
}

/* ---- links that went down between two discoveries, although both nodes are there */

static bool is_down(const struct rd_fabric_port *port)
{
	if (port->lost)
		return true;
	return port->peer == RD_NONE &&
	       (port->presence == RD_PORT_GONE || (port->state == RD_LINK_DOWN && !rd_fabric_is_unsure(port)));
}

static void judge_lost(struct judge *j, const struct rd_fabric_port *port)
{
	size_t neighbour = rd_fabric_neighbour(j->fabric, port);
	const struct rd_fabric_port *peer = neighbour == RD_NONE ? NULL : &j->fabric->ports[neighbour];
	struct rd_finding finding = {
		.id = "fabric-link-down",
		.severity = RD_SEV_WARNING,
		.title = "link went down, both nodes are still there",
		.why = "the cable was pulled, or it or a transceiver failed; other links carry its traffic, if there are any",
		.harm = rd_fabric_harm(RD_HARM_LINK_DOWN, rd_judge_is_uplink(j, port)),
	};

	if (!peer || !is_down(port) || !is_down(peer) || port->presence == RD_PORT_GONE ||
	    j->fates[port->node] != RD_FATE_HERE || j->fates[peer->node] != RD_FATE_HERE)
		return;
	/* Once per cable. */
	if (peer < port && peer->presence != RD_PORT_GONE &&
	    rd_fabric_neighbour(j->fabric, peer) == (size_t)(port - j->fabric->ports))
		return;
	if (port->physical_state == RD_PHYSICAL_DISABLED || peer->physical_state == RD_PHYSICAL_DISABLED) {
		finding.severity = RD_SEV_NOTE;
		finding.title = "link was disabled";
		finding.why = "PortPhysicalState of one of the ports is Disabled";
	} else if (port->mute || peer->mute) {
		finding.severity = RD_SEV_NOTE;
		finding.title = "link went down, and the node at one end does not respond";
		finding.why = "whether it is gone is known after the next discovery";
	}
	finding.subject = rd_fabric_cable_text(j->fabric, port);
	finding.observed = rd_dup("DOWN");
	finding.expected = rd_dup("ACTIVE, as at an earlier discovery");
	if (finding.severity != RD_SEV_NOTE)
		finding.fix =
			rd_text("ibportstate %u %u query\n# reseat the cable at both ends", port->lid, port->number);
	rd_finding_add(j->findings, &finding);
}

void rd_judge_links(struct judge *j)
{
	for (size_t i = 0; i < j->fabric->n_ports; i++) {
		if (j->fabric->ports[i].presence == RD_PORT_GONE)
			continue;
		judge_state(j, &j->fabric->ports[i]);
		judge_lost(j, &j->fabric->ports[i]);
	}
	judge_rates(j);
	rd_judge_odd_links(j);
	rd_judge_uplinks(j);
	rd_judge_rails(j);
}
