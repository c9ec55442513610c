/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/fabric/fabric-judge.h"

#include <inttypes.h>

#include "analyse/fabric/fabric-names.h"
#include "analyse/fabric/fabric-trees.h"
#include "base/buf.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/fabric/fabric-rates.h"

#define HOUR 3600.0
#define SHORTEST 60.0 /* seconds: one error in a second is not a rate of 3600 per hour */

struct judge {
	const struct rd_fabric *fabric;
	const struct rd_fabric_limits *limits;
	struct rd_findings *findings;
};

static char *cable_text(const struct judge *j, const struct rd_fabric_port *port)
{
	return rd_fabric_cable_text(j->fabric, port);
}

static char *node_text(const struct rd_fabric_node *node)
{
	return rd_text("%s (0x%016" PRIx64 ")", rd_fabric_name(node), node->guid);
}

/* ---- errors and saturated counters */

/* Compares a counter with its limits; appends "NAME VALUE" to `out` and returns the severity if it exceeds one, else NOTE. */
static enum rd_severity judge_counter(const struct judge *j, const struct rd_fabric_port *port, size_t counter,
				      struct rd_buf *out)
{
	const struct rd_fabric_limit *limit = &j->limits->v[counter];
	const char *name = rd_pma_counters[counter].name;
	struct rd_pma_value value;
	double seconds, hours;
	uint64_t delta;

	if (!rd_fabric_value(j->fabric, port, counter, &value))
		return RD_SEV_NOTE;
	if (rd_fabric_delta(j->fabric, port, counter, &delta, &seconds)) {
		hours = (seconds < SHORTEST ? SHORTEST : seconds) / HOUR;
		if (limit->warning >= 0 && (double)delta > limit->warning * hours && delta > 0) {
			rd_buf_printf(out, "%s%s +%" PRIu64 " in %.3g s (%" PRIu64 ")", out->len ? ", " : "", name,
				      delta, seconds, value.v);
			return limit->critical >= 0 && (double)delta > limit->critical * hours ? RD_SEV_CRITICAL :
												 RD_SEV_WARNING;
		}
	}
	/* A total stands until it is cleared: a later sweep must not conceal what the first one reported. */
	if (limit->total < 0 || (double)value.v <= limit->total)
		return RD_SEV_NOTE;
	rd_buf_printf(out, "%s%s %s%" PRIu64, out->len ? ", " : "", name, rd_pma_saturated(&value) ? "at least " : "",
		      value.v);
	return RD_SEV_WARNING;
}

static void judge_errors(struct judge *j, const struct rd_fabric_port *port)
{
	_cleanup_buf_ struct rd_buf observed = { 0 };
	struct rd_finding finding = {
		.id = "fabric-errors",
		.title = "error counters above their threshold",
		.why = "symbol errors, link recoveries and receive errors are usually caused by a bad cable, connector or "
		       "transceiver; discards by congestion or an inactive egress port",
	};

	for (size_t i = 0; i < j->fabric->n_values; i++) {
		enum rd_severity severity;

		if (rd_pma_counters[i].kind == RD_PMA_DATA || rd_pma_counters[i].kind == RD_PMA_PACKETS)
			continue;
		severity = judge_counter(j, port, i, &observed);
		finding.severity = severity > finding.severity ? severity : finding.severity;
	}
	if (finding.severity == RD_SEV_NOTE)
		return;
	finding.subject = cable_text(j, port);
	finding.observed = rd_dup(observed.data);
	finding.expected = rd_dup("below the thresholds (data file fabric-thresholds, or --thresholds FILE)");
	finding.fix = rd_dup("check whether they still increase: rdmadiag counters --fabric --interval 10 --count 2; "
			     "compare with the peer port; clean, reseat or replace the cable");
	rd_finding_add(j->findings, &finding);
}

static void judge_saturated(struct judge *j, const struct rd_fabric_port *port)
{
	_cleanup_buf_ struct rd_buf observed = { 0 };
	struct rd_finding finding = {
		.id = "fabric-saturated",
		.severity = RD_SEV_WARNING,
		.title = "error counters are at their maximum",
		.why = "they do not count further, so new errors are not visible",
	};

	for (size_t i = 0; i < j->fabric->n_values; i++) {
		struct rd_pma_value value;

		/* 32-bit data and packet counters saturate within seconds; the extended counters replace them. */
		if (rd_pma_counters[i].kind == RD_PMA_DATA || rd_pma_counters[i].kind == RD_PMA_PACKETS ||
		    rd_pma_counters[i].kind == RD_PMA_WAIT || rd_pma_counters[i].kind == RD_PMA_NOTE)
			continue;
		if (rd_fabric_value(j->fabric, port, i, &value) && rd_pma_saturated(&value))
			rd_buf_printf(&observed, "%s%s at least %" PRIu64, observed.len ? ", " : "",
				      rd_pma_counters[i].name, value.v);
	}
	if (observed.len == 0)
		return;
	finding.subject = cable_text(j, port);
	finding.observed = rd_dup(observed.data);
	finding.expected = rd_dup("below the maximum");
	finding.fix = rd_text("clear them: perfquery -R %u %u", port->lid, port->number);
	rd_finding_add(j->findings, &finding);
}

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
		finding->subject = cable_text(j, port);
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
		.why = "it limits all traffic routed over it, and with it the whole job",
		.fix = rd_dup(
			"reseat the cable at both ends, then replace it; also check that the cable is rated for the speed"),
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
		.fix = rd_dup("if not intended: ibportstate LID PORT query shows what is enabled"),
	};

	add_link_finding(j, port, &finding);
}

/* A cable is judged once, at the port with the lower index. Links limited by configuration are not a fault; one finding covers
 * all of them. */
static void judge_links(struct judge *j)
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

static void judge_state(struct judge *j, const struct rd_fabric_port *port)
{
	static const char *const names[] = { [RD_LINK_INIT] = "INIT", [RD_LINK_ARMED] = "ARMED" };
	struct rd_finding finding = {
		.id = "fabric-link-inactive",
		.severity = RD_SEV_WARNING,
		.title = "link is up, but not ACTIVE",
		.why = "the subnet manager has not set it to ACTIVE: only management packets can pass",
	};

	if (port->number == 0 || (port->state != RD_LINK_INIT && port->state != RD_LINK_ARMED))
		return;
	finding.subject = cable_text(j, port);
	finding.observed = rd_dup(names[port->state]);
	finding.expected = rd_dup("ACTIVE");
	finding.fix = rd_dup(
		"sminfo; repeat in a minute, as a sweep of the subnet manager may be in progress; then read the log of "
		"the subnet manager");
	rd_finding_add(j->findings, &finding);
}

/* ---- unresponsive agents, nodes that appear and disappear */

static char *read_error_text(const struct rd_fabric_port *port)
{
	const char *name = rd_errno_name(port->error);

	if (port->error_status)
		return rd_text("status 0x%04x for attribute 0x%02x", (unsigned)port->error_status,
			       port->error_attribute);
	return rd_text("%s for attribute 0x%02x", name ? name : "?", port->error_attribute);
}

/* Of the ports [from, to) of a node that were queried. */
static void judge_agent(struct judge *j, size_t from, size_t to)
{
	const struct rd_fabric_port *first = NULL;
	size_t queried = 0, failed = 0;
	struct rd_finding finding = {
		.id = "fabric-agent-silent",
		.severity = RD_SEV_WARNING,
		.title = "node does not respond to performance queries",
		.why = "its counters are stale or unknown, so its ports are not checked",
	};

	for (size_t i = from; i < to; i++) {
		const struct rd_fabric_port *port = &j->fabric->ports[i];

		if (!port->selected || port->presence == RD_PORT_GONE)
			continue;
		queried++;
		if (port->error || port->error_status) {
			failed++;
			first = first ? first : port;
		}
	}
	if (failed == 0)
		return;
	if (failed < queried) {
		finding.id = "fabric-ports-unread";
		finding.title = "counters of some ports could not be read";
	}
	finding.subject = node_text(&j->fabric->nodes[first->node]);
	finding.observed = read_error_text(first);
	if (finding.observed) {
		char *all = rd_text("%zu of %zu ports: %s", failed, queried, finding.observed);

		free(finding.observed);
		finding.observed = all;
	}
	finding.expected = rd_dup("a response for every port");
	finding.fix = rd_text("perfquery %u %u; if it times out too, the firmware or the CPU of that node hangs",
			      first->lid, first->number);
	rd_finding_add(j->findings, &finding);
}

/* One finding per node: for the first port that changed. */
static void judge_presence(struct judge *j, size_t from, size_t to)
{
	static const struct rd_finding kinds[] = {
		[RD_PORT_NEW] = { .id = "fabric-node-new", .severity = RD_SEV_NOTE, .title = "new node" },
		[RD_PORT_REPLACED] = { .id = "fabric-node-replaced",
				       .severity = RD_SEV_WARNING,
				       .title = "node was replaced: same cable, different GUID",
				       .why = "hardware was swapped: its counters start from zero" },
		[RD_PORT_MOVED] = { .id = "fabric-lid-changed",
				    .severity = RD_SEV_NOTE,
				    .title = "LID of the node changed" },
		[RD_PORT_GONE] = { .id = "fabric-node-gone",
				   .severity = RD_SEV_WARNING,
				   .title = "node disappeared: it is no longer discovered",
				   .why = "it was powered off, hangs, or lost its last cable; its values are old" },
	};
	size_t which = from;
	struct rd_finding finding;

	while (which < to && j->fabric->ports[which].presence == RD_PORT_PRESENT)
		which++;
	if (which == to || (size_t)j->fabric->ports[which].presence >= RD_ARRAY_SIZE(kinds))
		return;
	finding = kinds[j->fabric->ports[which].presence];
	finding.subject = node_text(&j->fabric->nodes[j->fabric->ports[which].node]);
	switch (j->fabric->ports[which].presence) {
	case RD_PORT_REPLACED:
		finding.observed = rd_text("instead of 0x%016" PRIx64, j->fabric->ports[which].old_guid);
		break;
	case RD_PORT_MOVED:
		finding.observed =
			rd_text("LID %u, was %u", j->fabric->ports[which].lid, j->fabric->ports[which].old_lid);
		break;
	case RD_PORT_GONE:
		finding.fix = rd_dup("check the port of its neighbour, then its power; no action needed if intended");
		break;
	default:
		break;
	}
	rd_finding_add(j->findings, &finding);
}

/* Critical if only the local node was discovered. */
static void judge_alone(struct judge *j)
{
	const struct rd_fabric *fabric = j->fabric;
	const struct rd_fabric_port *self = fabric->self == RD_NONE ? NULL : &fabric->ports[fabric->self];
	size_t others = 0;
	struct rd_finding finding = {
		.id = "fabric-alone",
		.severity = RD_SEV_CRITICAL,
		.title = "no node discovered except this one",
		.why = "no other node responded: this host cannot reach the fabric, or is not connected to one",
	};

	for (size_t i = 0; self && i < fabric->n_ports; i++)
		others += fabric->ports[i].node != self->node && fabric->ports[i].presence != RD_PORT_GONE &&
			  (fabric->ports[i].presence != RD_PORT_UNREACHED || fabric->ports[i].fresh);
	if (others > 0 || !self)
		return;
	finding.subject = rd_text("%s port %u", fabric->ibdev, fabric->port);
	finding.observed = rd_text("the link is %s, and the node at its other end does not respond",
				   self->state == RD_LINK_ACTIVE ? "ACTIVE" : "not ACTIVE");
	finding.expected = rd_dup("a switch, or another host, at the other end of the cable");
	finding.fix = rd_dup("ibstat; check the cable, and whether the switch is powered and its port enabled");
	rd_finding_add(j->findings, &finding);
}

/* ---- all */

static void judge_port(struct judge *j, const struct rd_fabric_port *port)
{
	if (port->fresh) {
		judge_errors(j, port);
		judge_saturated(j, port);
	}
	if (port->presence != RD_PORT_GONE)
		judge_state(j, port);
}

void rd_fabric_judge(const struct rd_fabric *fabric, const struct rd_fabric_limits *limits, struct rd_findings *findings)
{
	struct judge j = { .fabric = fabric, .limits = limits, .findings = findings };

	judge_alone(&j);
	for (size_t from = 0, to; from < fabric->n_ports; from = to) {
		for (to = from; to < fabric->n_ports && fabric->ports[to].node == fabric->ports[from].node; to++)
			;
		judge_presence(&j, from, to);
		judge_agent(&j, from, to);
		for (size_t i = from; i < to; i++)
			judge_port(&j, &fabric->ports[i]);
	}
	judge_links(&j);
	rd_fabric_judge_trees(fabric, limits, findings);
}
