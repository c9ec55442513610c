/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/counters/rates.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

#define CANDIDATES 4
#define TOGETHER 2 /* irdma has separate counters for IPv4 and IPv6 */
#define NONE UINT32_MAX

struct rd_load_counters {
	/* Counters, the best candidates first; those of one candidate are added up. */
	uint32_t v[RD_LOADS][CANDIDATES][TOGETHER];
	double factor[RD_LOADS][CANDIDATES];
};

static const enum rd_topic topics[RD_LOADS] = {
	[RD_LOAD_TX_BYTES] = RD_TOPIC_DATA_SENT,
	[RD_LOAD_RX_BYTES] = RD_TOPIC_DATA_GOT,
	[RD_LOAD_TX_PACKETS] = RD_TOPIC_PACKETS_SENT,
	[RD_LOAD_RX_PACKETS] = RD_TOPIC_PACKETS_GOT,
};

/* The best first: counters of the port include all QPs, also those of vendors' interfaces; then those of the driver; then those
 * of the interface, which include other traffic. */
static const enum rd_counter_group groups[] = { RD_GROUP_PORT, RD_GROUP_HW, RD_GROUP_ETHTOOL, RD_GROUP_NETDEV };

static double factor_of(const char *unit)
{
	return strcmp(unit, "4-octets") == 0 ? 4 : strcmp(unit, "bits") == 0 ? 1.0 / 8 : 1;
}

static void add_candidate(struct rd_load_counters *to, enum rd_load load, const struct rd_counter_set *set, uint32_t i)
{
	const struct rd_counter *counter = &set->counters[i];

	for (size_t c = 0; c < CANDIDATES; c++) {
		uint32_t *v = to->v[load][c];

		if (v[0] == NONE) {
			v[0] = i;
			to->factor[load][c] = factor_of(counter->about->unit);
			return;
		}
		if (set->counters[v[0]].about != counter->about || set->counters[v[0]].group != counter->group)
			continue;
		/* From another interface of this port, or the other half. */
		if (counter->about->parts > 1 && v[1] == NONE && strcmp(set->counters[v[0]].name, counter->name) != 0)
			v[1] = i;
		return;
	}
}

static void find_candidates(struct rd_rates *rates, const struct rd_counter_set *set, enum rd_counter_group group)
{
	for (uint32_t i = 0; i < set->n; i++) {
		const struct rd_counter *counter = &set->counters[i];

		if (!counter->about || counter->group != group || !set->ports[counter->port].port)
			continue;
		for (enum rd_load load = 0; load < RD_LOADS; load++)
			if (counter->about->topic == topics[load])
				add_candidate(&rates->counters[counter->port], load, set, i);
	}
}

void rd_rates_init(struct rd_rates *rates, const struct rd_counter_set *set)
{
	*rates = (struct rd_rates){ .n = set->n_ports };
	rates->ports = rd_alloc(set->n_ports + 1, sizeof(*rates->ports));
	rates->counters = rd_alloc(set->n_ports + 1, sizeof(*rates->counters));
	memset(rates->counters, 0xff, (set->n_ports + 1) * sizeof(*rates->counters)); /* NONE */
	for (size_t g = 0; g < RD_ARRAY_SIZE(groups); g++)
		find_candidates(rates, set, groups[g]);
}

void rd_rates_deinit(struct rd_rates *rates)
{
	RD_FREE(rates->ports, rates->counters);
	*rates = (struct rd_rates){ 0 };
}

void rd_rates_carry(struct rd_rates *rates, const struct rd_counter_set *set, const struct rd_rates *old,
		    const struct rd_counter_set *old_set)
{
	rates->intervals = old->intervals;
	for (size_t p = 0; p < rates->n; p++)
		for (size_t o = 0; o < old->n; o++) {
			if (set->ports[p].port != old_set->ports[o].port ||
			    strcmp(set->ports[p].ibdev, old_set->ports[o].ibdev) != 0)
				continue;
			rates->ports[p] = old->ports[o];
			rates->ports[p].counted_by = NULL;
		}
}

/* False if any of them is unknown or missing: a partial sum would be wrong. */
static bool sum_deltas(const uint32_t *counters, unsigned parts, const struct rd_delta *deltas, double *ret)
{
	*ret = 0;
	for (size_t i = 0; i < parts; i++) {
		if (counters[i] == NONE || deltas[counters[i]].kind != RD_DELTA_EXACT)
			return false;
		*ret += (double)deltas[counters[i]].v;
	}
	return true;
}

static void update_load(struct rd_port_rate *rate, const struct rd_load_counters *counters, enum rd_load load,
			const struct rd_counter_set *set, const struct rd_delta *deltas, double seconds)
{
	double total;

	rate->per_second[load].known = RD_ABSENT;
	for (size_t c = 0; c < CANDIDATES && counters->v[load][c][0] != NONE; c++) {
		const uint32_t *v = counters->v[load][c];

		if (!sum_deltas(v, set->counters[v[0]].about->parts, deltas, &total))
			continue;
		RD_SET(rate->per_second[load], total * counters->factor[load][c] / seconds);
		if (load == RD_LOAD_TX_BYTES)
			rate->counted_by = &set->counters[v[0]];
		return;
	}
}

static double total_gbps(const struct rd_port_rate *rate)
{
	return (rate->tx_gbps.known == RD_OK ? rate->tx_gbps.v : 0) +
	       (rate->rx_gbps.known == RD_OK ? rate->rx_gbps.v : 0);
}

/* Weight of an interval in the moving average, whether it is a tenth of a second or a second long. */
#define WEIGHT 0.2

static void update_port(struct rd_port_rate *rate, const struct rd_load_counters *counters,
			const struct rd_counter_set *set, const struct rd_counter_port *port,
			const struct rd_delta *deltas, double seconds, unsigned intervals)
{
	double before = total_gbps(rate);

	if (intervals > 0)
		rate->usual_gbps = intervals == 1 ? before : rate->usual_gbps + WEIGHT * (before - rate->usual_gbps);
	rate->counted_by = NULL;
	for (enum rd_load load = 0; load < RD_LOADS; load++)
		update_load(rate, counters, load, set, deltas, seconds);
	rate->tx_gbps.known = rate->per_second[RD_LOAD_TX_BYTES].known;
	rate->rx_gbps.known = rate->per_second[RD_LOAD_RX_BYTES].known;
	rate->tx_gbps.v = rate->per_second[RD_LOAD_TX_BYTES].v * 8 / 1e9;
	rate->rx_gbps.v = rate->per_second[RD_LOAD_RX_BYTES].v * 8 / 1e9;
	rate->tx_share.known = rate->rx_share.known = RD_ABSENT;
	if (port->rate_gbps.known != RD_OK || port->rate_gbps.v <= 0)
		return;
	if (rate->tx_gbps.known == RD_OK)
		RD_SET(rate->tx_share, rate->tx_gbps.v / port->rate_gbps.v);
	if (rate->rx_gbps.known == RD_OK)
		RD_SET(rate->rx_share, rate->rx_gbps.v / port->rate_gbps.v);
}

void rd_rates_update(struct rd_rates *rates, const struct rd_counter_set *set, const struct rd_delta *deltas,
		     double seconds)
{
	if (seconds <= 0)
		return;
	for (size_t p = 0; p < rates->n; p++)
		update_port(&rates->ports[p], &rates->counters[p], set, &set->ports[p], deltas, seconds,
			    rates->intervals);
	rates->intervals++;
}

/* Below this rate a port was idle and had no traffic to lose. */
#define BUSY_GBPS 0.01
#define LOST 0.1   /* of the usual rate */
#define GAINED 0.5 /* of the lost rate */

static bool is_active(const struct rd_counter_state *state)
{
	return state->there && (!state->state[0] || strcmp(state->state, "ACTIVE") == 0);
}

static bool has_lost(const struct rd_port_rate *rate)
{
	return rate->usual_gbps > BUSY_GBPS && total_gbps(rate) < LOST * rate->usual_gbps;
}

/* The port that gained most in this interval; NONE: no port gained half of the lost rate. */
static uint32_t successor_of(const struct rd_rates *rates, double lost)
{
	uint32_t best = NONE;
	double most = GAINED * lost;

	for (uint32_t p = 0; p < rates->n; p++) {
		double gained = total_gbps(&rates->ports[p]) - rates->ports[p].usual_gbps;

		if (gained <= most)
			continue;
		most = gained;
		best = p;
	}
	return best;
}

/* Whether the host as a whole still has traffic. A job that pauses affects all ports alike. */
static bool has_traffic(const struct rd_rates *rates)
{
	double usual = 0, now = 0;

	for (size_t p = 0; p < rates->n; p++) {
		usual += rates->ports[p].usual_gbps;
		now += total_gbps(&rates->ports[p]);
	}
	return rates->n > 1 && now > GAINED * usual;
}

static void add_lost_finding(const struct rd_rates *rates, const struct rd_counter_set *set,
			     const struct rd_counter_sample *now, uint32_t port, struct rd_findings *findings)
{
	const struct rd_port_rate *rate = &rates->ports[port];
	const struct rd_counter_state *state = &now->states[port];
	bool active = is_active(state);
	uint32_t successor = successor_of(rates, rate->usual_gbps - total_gbps(rate));
	char label[80], to[80] = "";
	struct rd_finding finding = {
		.id = "traffic-lost",
		.severity = active ? RD_SEV_WARNING : RD_SEV_CRITICAL,
		.title = active ? "traffic on the port stopped" : "port went down and its traffic stopped",
		.why = "a job that loads all NICs evenly is slowed down to the remaining bandwidth",
	};

	rd_counter_port_label(&set->ports[port], label, sizeof(label));
	finding.subject = rd_text("%s", label);
	if (successor != NONE)
		rd_counter_port_label(&set->ports[successor], to, sizeof(to));
	finding.observed = rd_text("%.2f Gbit/s, port %s%s%s%s", total_gbps(rate),
				   !state->there   ? "missing" :
				   state->state[0] ? state->state :
						     "state unknown",
				   successor != NONE ? "; " : "", to, successor != NONE ? " took over traffic" : "");
	finding.expected = rd_text("%.2f Gbit/s, the recent average", rate->usual_gbps);
	finding.fix = rd_text(
		"rdmadiag counters %s --filter 'link*'\ndmesg -T | grep -iw link\n# check the link and the link partner",
		label);
	rd_finding_add(findings, &finding);
}

void rd_rates_findings(struct rd_rates *rates, const struct rd_counter_set *set, const struct rd_counter_sample *now,
		       struct rd_findings *findings)
{
	bool others = has_traffic(rates);

	for (uint32_t p = 0; rates->intervals > 1 && p < rates->n; p++) {
		struct rd_port_rate *rate = &rates->ports[p];
		bool lost = set->ports[p].port && has_lost(rate) && (others || !is_active(&now->states[p]));

		if (lost && !rate->lost)
			add_lost_finding(rates, set, now, p, findings);
		rate->lost = lost || (rate->lost && total_gbps(rate) < BUSY_GBPS);
	}
}
