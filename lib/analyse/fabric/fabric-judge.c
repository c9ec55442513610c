/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/fabric/fabric-judge.h"

#include <inttypes.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/fabric/fabric-rates.h"

#define HOUR 3600.0
#define SHORTEST 60.0 /* seconds: one error in a second is not 3600 in an hour */

struct judge {
	const struct rd_fabric *fabric;
	const struct rd_fabric_limits *limits;
	struct rd_findings *findings;
};

static const struct rd_fabric_node *node_of(const struct judge *j, const struct rd_fabric_port *port)
{
	return &j->fabric->nodes[port->node];
}

/* "leaf3 port 17, to node5 port 1" */
static char *cable_text(const struct judge *j, const struct rd_fabric_port *port)
{
	const struct rd_fabric_port *peer = port->peer == RD_NONE ? NULL : &j->fabric->ports[port->peer];

	if (!peer)
		return rd_text("%s port %u", rd_fabric_name(node_of(j, port)), port->number);
	return rd_text("%s port %u, to %s port %u", rd_fabric_name(node_of(j, port)), port->number,
		       rd_fabric_name(node_of(j, peer)), peer->number);
}

static char *node_text(const struct rd_fabric_node *node)
{
	return rd_text("%s (0x%016" PRIx64 ")", rd_fabric_name(node), node->guid);
}

/* ---- errors and counters that stand */

/* Adds what a counter says against its limits; the severity of it. */
static enum rd_severity weigh(const struct judge *j, const struct rd_fabric_port *port, size_t counter,
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
		if (limit->warning < 0 || (double)delta <= limit->warning * hours || delta == 0)
			return RD_SEV_NOTE;
		rd_buf_printf(out, "%s%s +%" PRIu64 " in %.3g s (%" PRIu64 ")", out->len ? ", " : "", name, delta,
			      seconds, value.v);
		return limit->critical >= 0 && (double)delta > limit->critical * hours ? RD_SEV_CRITICAL :
											 RD_SEV_WARNING;
	}
	if (limit->total < 0 || (double)value.v <= limit->total || port->before_ns)
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
		.title = "errors above their threshold",
		.why = "a bad cable, connector or transceiver is the usual cause of symbol errors, recoveries and receive errors; "
		       "discards mean congestion or a dead end",
	};

	for (size_t i = 0; i < j->fabric->n_values; i++) {
		enum rd_severity severity;

		if (rd_pma_counters[i].kind == RD_PMA_DATA || rd_pma_counters[i].kind == RD_PMA_PACKETS)
			continue;
		severity = weigh(j, port, i, &observed);
		finding.severity = severity > finding.severity ? severity : finding.severity;
	}
	if (finding.severity == RD_SEV_NOTE)
		return;
	finding.subject = cable_text(j, port);
	finding.observed = rd_dup(observed.data);
	finding.expected = rd_dup("below the thresholds of data/fabric-thresholds or --thresholds");
	finding.fix = rd_dup(
		"see whether they still rise: --interval 10 --count 2; compare the port at the other end; clean, "
		"reseat, replace the cable");
	rd_finding_add(j->findings, &finding);
}

static void judge_saturated(struct judge *j, const struct rd_fabric_port *port)
{
	_cleanup_buf_ struct rd_buf observed = { 0 };
	struct rd_finding finding = {
		.id = "fabric-saturated",
		.severity = RD_SEV_WARNING,
		.title = "counters that have stopped at their end",
		.why = "they count no further: new errors do not show in them",
	};

	for (size_t i = 0; i < j->fabric->n_values; i++) {
		struct rd_pma_value value;

		/* Data and packets of 32 bits stop within seconds; who wants them reads the extended ones. */
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
	finding.expected = rd_dup("room to count");
	finding.fix = rd_text("clear them: perfquery -R %u %u", port->lid, port->number);
	rd_finding_add(j->findings, &finding);
}

static void judge_wait(struct judge *j, const struct rd_fabric_port *port)
{
	const struct rd_fabric_limit *limit = &j->limits->v[rd_pma_n_counters];
	struct rd_finding finding = {
		.id = "fabric-congested",
		.severity = RD_SEV_WARNING,
		.title = "a port that is kept waiting much of the time",
		.why = "its neighbour gives it no credits: the cause is downstream, a slow receiver mostly",
	};
	double share;

	if (limit->warning < 0 || !rd_fabric_wait_share(j->fabric, port, &share) || share * 100 <= limit->warning)
		return;
	if (limit->critical >= 0 && share * 100 > limit->critical)
		finding.severity = RD_SEV_CRITICAL;
	finding.subject = cable_text(j, port);
	finding.observed = rd_text("could not send for %.0f %% of the time", share * 100);
	finding.expected = rd_text("at most %.0f %%", limit->warning);
	finding.fix = rd_dup("follow the port that waits towards the receiver; --live sorts by this");
	rd_finding_add(j->findings, &finding);
}

/* ---- links */

/* Lanes and their bits in PortInfo, widest first. */
static const struct {
	unsigned lanes, bit;
} widths[] = { { 12, 8 }, { 8, 4 }, { 4, 2 }, { 2, 16 }, { 1, 1 } };

/* What both ends of a cable can: lanes; enum rd_link_speed; 0: not known. */
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

/* What is switched on, of what there is; a port that does not say has all of it switched on. */
static struct rd_fabric_port enabled(const struct rd_fabric_port *port)
{
	struct rd_fabric_port on = *port;

	on.width_supported &= port->width_enabled ? port->width_enabled : ~0u;
	on.speed_supported &= port->speed_enabled ? port->speed_enabled : ~0u;
	return on;
}

enum link_verdict {
	LINK_GOOD,
	LINK_LIMITED, /* both ends could do more, but one of them has been told not to */
	LINK_DEGRADED,
};

static bool is_below(const struct rd_fabric_port *port, unsigned width, unsigned speed)
{
	return (width && port->width_active && port->width_active < width) ||
	       (speed && port->speed_active && port->speed_active < speed);
}

static enum link_verdict look_at_link(const struct rd_fabric_port *port, const struct rd_fabric_port *peer)
{
	struct rd_fabric_port here = enabled(port), there = enabled(peer);

	if (!is_below(port, common_width(port, peer), common_speed(port, peer)))
		return LINK_GOOD;
	return is_below(port, common_width(&here, &there), common_speed(&here, &there)) ? LINK_DEGRADED : LINK_LIMITED;
}

static void say_link(struct judge *j, const struct rd_fabric_port *port, struct rd_finding *finding)
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

static void say_degraded(struct judge *j, const struct rd_fabric_port *port)
{
	struct rd_finding finding = {
		.id = "fabric-link-degraded",
		.severity = RD_SEV_WARNING,
		.title = "a link below what both its ends can",
		.why = "everything that is routed over it waits for it, and with it the whole job",
		.fix = rd_dup("reseat the cable at both ends, then replace it; a cable of a lower grade does this, too"),
	};

	say_link(j, port, &finding);
}

static void say_limited(struct judge *j, const struct rd_fabric_port *port, size_t n)
{
	struct rd_finding finding = {
		.id = "fabric-link-limited",
		.severity = RD_SEV_NOTE,
		.title = n == 1 ? "a link that could do more, had it not been switched off" :
				  "links that could do more, had it not been switched off",
		.why = "what PortInfo has as enabled, at one end or at both, is less than what is supported",
		.observed =
			rd_text("%zu, this one %ux %s", n, port->width_active, rd_link_speed_name(port->speed_active)),
		.fix = rd_dup("where it was not meant: ibportstate LID PORT query shows what is enabled"),
	};

	say_link(j, port, &finding);
}

/* A cable is judged at its lower end. Links that are held back on purpose are no fault, and said once for all. */
static void judge_links(struct judge *j)
{
	const struct rd_fabric_port *example = NULL;
	size_t limited = 0;

	for (size_t i = 0; i < j->fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &j->fabric->ports[i];

		if (port->presence == RD_PORT_GONE || port->peer == RD_NONE || i >= port->peer)
			continue;
		switch (look_at_link(port, &j->fabric->ports[port->peer])) {
		case LINK_DEGRADED:
			say_degraded(j, port);
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
		say_limited(j, example, limited);
}

static void judge_state(struct judge *j, const struct rd_fabric_port *port)
{
	static const char *const names[] = { [RD_LINK_INIT] = "INIT", [RD_LINK_ARMED] = "ARMED" };
	struct rd_finding finding = {
		.id = "fabric-link-inactive",
		.severity = RD_SEV_WARNING,
		.title = "a link that is up, but not in use",
		.why = "no subnet manager has brought it to ACTIVE: nothing but management can pass",
	};

	if (port->number == 0 || (port->state != RD_LINK_INIT && port->state != RD_LINK_ARMED))
		return;
	finding.subject = cable_text(j, port);
	finding.observed = rd_dup(names[port->state]);
	finding.expected = rd_dup("ACTIVE");
	finding.fix = rd_dup(
		"sminfo; look again in a minute, a sweep of the subnet manager may be under way; then read its log");
	rd_finding_add(j->findings, &finding);
}

/* ---- what does not answer, comes and goes */

static char *why_unread(const struct rd_fabric_port *port)
{
	const char *name = rd_errno_name(port->error);

	if (port->error_status)
		return rd_text("status 0x%04x for attribute 0x%02x", (unsigned)port->error_status,
			       port->error_attribute);
	return rd_text("%s for attribute 0x%02x", name ? name : "?", port->error_attribute);
}

/* Of a node's ports [from, to) that were asked. */
static void judge_agent(struct judge *j, size_t from, size_t to)
{
	const struct rd_fabric_port *first = NULL;
	size_t asked = 0, failed = 0;
	struct rd_finding finding = {
		.id = "fabric-agent-silent",
		.severity = RD_SEV_WARNING,
		.title = "a node that was found, but does not answer performance queries",
		.why = "its counters are old or unknown: nothing is said about its ports",
	};

	for (size_t i = from; i < to; i++) {
		const struct rd_fabric_port *port = &j->fabric->ports[i];

		if (!port->selected || port->presence == RD_PORT_GONE)
			continue;
		asked++;
		if (port->error || port->error_status) {
			failed++;
			first = first ? first : port;
		}
	}
	if (failed == 0)
		return;
	if (failed < asked) {
		finding.id = "fabric-ports-unread";
		finding.title = "ports whose counters could not be read";
	}
	finding.subject = node_text(&j->fabric->nodes[first->node]);
	finding.observed = why_unread(first);
	if (finding.observed) {
		char *all = rd_text("%zu of %zu ports: %s", failed, asked, finding.observed);

		free(finding.observed);
		finding.observed = all;
	}
	finding.expected = rd_dup("an answer of every port");
	finding.fix = rd_text("perfquery %u %u; if it is silent, too: firmware or CPU of that node hangs", first->lid,
			      first->number);
	rd_finding_add(j->findings, &finding);
}

/* Said once a node: of the first port that changed so. */
static void judge_presence(struct judge *j, size_t from, size_t to)
{
	static const struct rd_finding kinds[] = {
		[RD_PORT_NEW] = { .id = "fabric-node-new",
				  .severity = RD_SEV_NOTE,
				  .title = "a node that was not there before" },
		[RD_PORT_REPLACED] = { .id = "fabric-node-replaced",
				       .severity = RD_SEV_WARNING,
				       .title = "a node in the place of another",
				       .why = "a part was swapped: counters begin anew" },
		[RD_PORT_MOVED] = { .id = "fabric-lid-changed",
				    .severity = RD_SEV_NOTE,
				    .title = "a node with another LID" },
		[RD_PORT_GONE] = { .id = "fabric-node-gone",
				   .severity = RD_SEV_WARNING,
				   .title = "a node that was there before and is not found any more",
				   .why = "it was switched off, hangs, or lost its last cable; its values are old" },
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
		finding.fix =
			rd_dup("look at the port of its neighbour, then at its power; nothing to do if it was meant");
		break;
	default:
		break;
	}
	rd_finding_add(j->findings, &finding);
}

/* A fabric of one node is none. */
static void judge_alone(struct judge *j)
{
	const struct rd_fabric *fabric = j->fabric;
	const struct rd_fabric_port *self = fabric->self == RD_NONE ? NULL : &fabric->ports[fabric->self];
	size_t others = 0;
	struct rd_finding finding = {
		.id = "fabric-alone",
		.severity = RD_SEV_CRITICAL,
		.title = "nothing but this node was found",
		.why = "no other node answered: this host cannot reach the fabric, or there is none",
	};

	for (size_t i = 0; self && i < fabric->n_ports; i++)
		others += fabric->ports[i].node != self->node && fabric->ports[i].presence != RD_PORT_GONE;
	if (others > 0 || !self)
		return;
	finding.subject = rd_text("%s port %u", fabric->ibdev, fabric->port);
	finding.observed = rd_text("the link is %s, and nobody answers at its other end",
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
		judge_wait(j, port);
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
}
