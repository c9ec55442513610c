/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/fabric/fabric-judge-priv.h"

#include <inttypes.h>

#include "analyse/fabric/fabric-trees.h"
#include "base/buf.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/fabric/fabric-rates.h"

#define HOUR 3600.0
#define SHORTEST 60.0 /* seconds: one error in a second is not a rate of 3600 per hour */
#define FEWEST 2.0    /* errors: so few are not a rate, however short the time */
#define EXAMPLES 3

bool rd_judge_is_uplink(const struct judge *j, const struct rd_fabric_port *port)
{
	size_t neighbour = rd_fabric_neighbour(j->fabric, port);

	return node_of(j, port)->kind == RD_NODE_SWITCH && neighbour != RD_NONE &&
	       node_of(j, &j->fabric->ports[neighbour])->kind == RD_NODE_SWITCH;
}

/* ---- errors of a cable */

/* What the error counters of a port say. */
struct errors {
	struct rd_buf text; /* "SymbolErrorCounter +3 in 60 s (5000)" for each counter above its limit */
	enum rd_severity severity;
	double per_hour; /* the highest rate of these */
	bool receives;	 /* errors in what the port received: the other end, or the cable, causes them */
	bool flaps;	 /* the link went down within the last hour */
};

static bool is_received(size_t counter)
{
	return counter == RD_C_SYMBOL_ERROR || counter == RD_C_LINK_ERROR_RECOVERY || counter == RD_C_RCV_ERRORS ||
	       counter == RD_C_LOCAL_LINK_INTEGRITY_ERRORS;
}

/* Whether a counter increased by more than `limit` per hour: by the increases within the last hour, or by the latest one, if
 * that is not just a few. */
static bool exceeds(double limit, double sum, double delta, double seconds)
{
	double allowed = limit * (seconds < SHORTEST ? SHORTEST : seconds) / HOUR;

	return limit >= 0 && (sum > limit || delta > (allowed > FEWEST ? allowed : FEWEST));
}

/* Whether the link of the port went down because a node restarts: the node at its other end is not there now, or either was found
 * again within the hour. A single time is also what a restart looks like, at an adapter. */
static bool is_restart(const struct judge *j, const struct rd_fabric_port *port, uint64_t times)
{
	size_t neighbour = rd_fabric_neighbour(j->fabric, port);
	const struct rd_fabric_port *peer = neighbour == RD_NONE ? NULL : &j->fabric->ports[neighbour];

	if (!peer)
		return false;
	if (times == 1 && !rd_judge_is_uplink(j, port))
		return true;
	return rd_fabric_history_restarted(j->history, node_of(j, peer)->guid) ||
	       rd_fabric_history_restarted(j->history, node_of(j, port)->guid);
}

/* Whether another finding has the reason why the link of the port went down: the node at its other end is gone or silent, or the
 * link is still down. */
static bool has_reason(const struct judge *j, const struct rd_fabric_port *port)
{
	size_t neighbour = rd_fabric_neighbour(j->fabric, port);

	if (neighbour == RD_NONE)
		return port->was_guid != 0;
	return j->fates[j->fabric->ports[neighbour].node] != RD_FATE_HERE || port->peer == RD_NONE;
}

/* The increase of a counter. False: none above the limits. */
static bool judge_increase(const struct judge *j, const struct rd_fabric_port *port, size_t counter,
			   const struct rd_pma_value *value, struct errors *errors)
{
	const struct rd_fabric_limit *limit = &j->limits->v[counter];
	uint64_t delta = 0, sum = rd_fabric_history_sum(j->history, j->fabric, port, counter);
	enum rd_severity severity = RD_SEV_WARNING;
	double seconds = 0, per_hour;

	rd_fabric_delta(j->fabric, port, counter, &delta, &seconds);
	sum = sum < delta ? delta : sum;
	if (!exceeds(limit->warning, (double)sum, (double)delta, seconds))
		return false;
	if (counter == RD_C_LINK_DOWNED && has_reason(j, port))
		return false;
	if (exceeds(limit->critical, (double)sum, (double)delta, seconds))
		severity = RD_SEV_CRITICAL;
	else if (counter == RD_C_LINK_DOWNED && is_restart(j, port, sum))
		severity = RD_SEV_NOTE;
	errors->flaps |= counter == RD_C_LINK_DOWNED && severity > RD_SEV_NOTE;
	errors->severity = severity > errors->severity ? severity : errors->severity;
	per_hour = delta ? (double)delta * HOUR / (seconds < SHORTEST ? SHORTEST : seconds) : (double)sum;
	errors->per_hour = per_hour > errors->per_hour ? per_hour : errors->per_hour;
	rd_buf_printf(&errors->text, "%s%s +%" PRIu64, errors->text.len ? ", " : "", rd_pma_counters[counter].name, sum);
	if (sum == delta)
		rd_buf_printf(&errors->text, " in %.3g s (%" PRIu64 ")", seconds, value->v);
	else
		rd_buf_printf(&errors->text, " within the last hour (%" PRIu64 ")", value->v);
	return true;
}

/* Compares a counter with its limits. */
static void judge_counter(const struct judge *j, const struct rd_fabric_port *port, size_t counter,
			  struct errors *errors)
{
	const struct rd_fabric_limit *limit = &j->limits->v[counter];
	struct rd_pma_value value;

	if (!rd_fabric_value(j->fabric, port, counter, &value))
		return;
	if (judge_increase(j, port, counter, &value, errors)) {
		errors->receives |= is_received(counter);
		return;
	}
	/* A total stands until it is cleared: a later sweep must not conceal what the first one reported. */
	if (limit->total < 0 || (double)value.v <= limit->total)
		return;
	errors->receives |= is_received(counter);
	errors->severity = errors->severity > RD_SEV_WARNING ? errors->severity : RD_SEV_WARNING;
	rd_buf_printf(&errors->text, "%s%s %s%" PRIu64, errors->text.len ? ", " : "", rd_pma_counters[counter].name,
		      rd_pma_saturated(&value) ? "at least " : "", value.v);
}

static void judge_counters(const struct judge *j, const struct rd_fabric_port *port, struct errors *errors)
{
	for (size_t i = 0; port && port->fresh && i < j->fabric->n_values; i++)
		if (rd_pma_counters[i].kind != RD_PMA_DATA && rd_pma_counters[i].kind != RD_PMA_PACKETS)
			judge_counter(j, port, i, errors);
}

/* What to do first. A port counts errors in what it receives: in what the other end drives. */
static char *errors_fix(const struct judge *j, const struct rd_fabric_port *port, const struct rd_fabric_port *peer,
			const struct errors *here, const struct errors *there)
{
	static const char again[] = "rdmadiag counters --fabric --interval 10 --count 2";
	const struct rd_fabric_port *counts = there->receives ? peer : port, *drives = there->receives ? port : peer;
	_cleanup_free_ char *at = NULL, *from = NULL;

	if (!here->receives && !there->receives)
		return rd_text(
			"check whether they still increase: %s; compare with the peer port; clean, reseat or replace "
			"the cable",
			again);
	if (!peer || (here->receives && there->receives))
		return rd_text("clean, reseat or replace the cable%s; check whether they still increase: %s",
			       peer ? ": both ends receive errors" : "", again);
	at = rd_fabric_port_text(j->fabric, counts);
	from = rd_fabric_port_text(j->fabric, drives);
	return rd_text("%s counts what %s drives: clean and reseat the cable at %s first, then at the other end, then "
		       "replace it; check whether they still increase: %s",
		       at, from, from, again);
}

static void report_errors(struct judge *j, const struct rd_fabric_port *port, const struct rd_fabric_port *peer,
			  const struct errors *here, const struct errors *there)
{
	bool flaps = here->flaps || there->flaps;
	double per_hour = here->per_hour > there->per_hour ? here->per_hour : there->per_hour;
	_cleanup_free_ char *other = NULL;
	struct rd_finding finding = {
		.id = "fabric-errors",
		.severity = here->severity > there->severity ? here->severity : there->severity,
		.title = flaps ? "link went down and came up again" : "error counters above their threshold",
		.why = "symbol errors, link recoveries and receive errors are usually caused by a bad cable, connector or "
		       "transceiver; discards by congestion or an inactive egress port",
	};

	if (finding.severity == RD_SEV_NOTE)
		finding.title = "link went down and came up again, as when a node restarts";
	finding.harm = rd_fabric_harm(finding.severity == RD_SEV_NOTE	   ? RD_HARM_NOTE :
				      flaps && rd_judge_is_uplink(j, port) ? RD_HARM_UPLINK_FLAPPING :
				      flaps				   ? RD_HARM_FLAPPING :
									     RD_HARM_ERRORS,
				      per_hour);
	finding.subject = rd_fabric_cable_text(j->fabric, here->text.len ? port : peer);
	if (here->text.len && there->text.len) {
		other = rd_fabric_port_text(j->fabric, peer);
		finding.observed = rd_text("%s; %s: %s", here->text.data, other, there->text.data);
	} else {
		finding.observed = rd_dup(here->text.len ? here->text.data : there->text.data);
	}
	finding.expected = rd_dup("below the thresholds (data file fabric-thresholds, or --thresholds FILE)");
	if (finding.severity > RD_SEV_NOTE)
		finding.fix = errors_fix(j, port, peer, here, there);
	rd_finding_add(j->findings, &finding);
}

/* Both ports of a cable, once: at the one with the lower index. */
static void judge_errors(struct judge *j, size_t index)
{
	const struct rd_fabric_port *port = &j->fabric->ports[index];
	const struct rd_fabric_port *peer = port->peer == RD_NONE ? NULL : &j->fabric->ports[port->peer];
	struct errors here = { .severity = RD_SEV_SKIP }, there = { .severity = RD_SEV_SKIP };

	if (peer && port->peer < index)
		return;
	judge_counters(j, port, &here);
	judge_counters(j, peer, &there);
	j->told[index] = here.text.len > 0;
	if (peer)
		j->told[port->peer] = there.text.len > 0;
	if (here.text.len || there.text.len)
		report_errors(j, port, peer, &here, &there);
	free(here.text.data);
	free(there.text.data);
}

/* ---- saturated counters */

/* "LocalLinkIntegrityErrors at least 15", for each error counter at its maximum. */
static void saturated_text(const struct judge *j, const struct rd_fabric_port *port, struct rd_buf *out)
{
	for (size_t i = 0; port->fresh && i < j->fabric->n_values; i++) {
		struct rd_pma_value value;

		/* 32-bit data and packet counters saturate within seconds; the extended counters replace them. */
		if (rd_pma_counters[i].kind == RD_PMA_DATA || rd_pma_counters[i].kind == RD_PMA_PACKETS ||
		    rd_pma_counters[i].kind == RD_PMA_WAIT || rd_pma_counters[i].kind == RD_PMA_NOTE)
			continue;
		if (rd_fabric_value(j->fabric, port, i, &value) && rd_pma_saturated(&value))
			rd_buf_printf(out, "%s%s at least %" PRIu64, out->len ? ", " : "", rd_pma_counters[i].name,
				      value.v);
	}
}

/* One finding for all ports: a warning if another finding does not name the errors of one of them, else a note. */
static void judge_saturated(struct judge *j)
{
	_cleanup_buf_ struct rd_buf examples = { 0 }, text = { 0 };
	const struct rd_fabric_port *first = NULL;
	size_t n = 0;
	struct rd_finding finding = {
		.id = "fabric-saturated",
		.severity = RD_SEV_NOTE,
		.title = "error counters are at their maximum",
		.why = "they do not count further, so new errors are not visible",
		.harm = rd_fabric_harm(RD_HARM_SATURATED, 0),
	};

	for (size_t i = 0; i < j->fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &j->fabric->ports[i];
		_cleanup_free_ char *name = NULL;

		text.len = 0;
		saturated_text(j, port, &text);
		if (text.len == 0)
			continue;
		first = first ? first : port;
		if (!j->told[i])
			finding.severity = RD_SEV_WARNING;
		if (n++ >= EXAMPLES)
			continue;
		name = rd_fabric_port_text(j->fabric, port);
		rd_buf_printf(&examples, "%s%s: %s", n > 1 ? "; " : "", name, text.data);
		if (n == 1)
			finding.observed = rd_dup(text.data);
	}
	if (n == 0)
		return;
	finding.subject = n == 1 ? rd_fabric_cable_text(j->fabric, first) : rd_text("%zu ports", n);
	if (n > 1) {
		free(finding.observed);
		finding.observed = rd_text("%s%s", examples.data, n > EXAMPLES ? "; ..." : "");
	}
	finding.expected = rd_dup("below the maximum");
	finding.fix = n == 1 ? rd_text("clear them: perfquery -R %u %u", first->lid, first->number) :
			       rd_dup("clear the error counters of all ports: ibqueryerrors -k");
	rd_finding_add(j->findings, &finding);
}

/* ---- all */

void rd_fabric_judge(const struct rd_fabric *fabric, const struct rd_fabric_limits *limits,
		     const struct rd_fabric_history *history, struct rd_findings *findings)
{
	struct judge j = { .fabric = fabric, .limits = limits, .history = history, .findings = findings };

	j.told = rd_alloc(fabric->n_ports + 1, sizeof(*j.told));
	rd_judge_find_fates(&j);
	rd_judge_nodes(&j);
	for (size_t i = 0; i < fabric->n_ports; i++)
		judge_errors(&j, i);
	judge_saturated(&j);
	rd_judge_links(&j);
	rd_fabric_judge_trees(fabric, limits, findings);
	free(j.fates);
	free(j.first);
	free(j.told);
}
