/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/rates.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

#define CANDIDATES 4
#define TOGETHER 2 /* irdma counts IPv4 and IPv6 apart */
#define NONE UINT32_MAX

struct rd_load_counters {
	/* Counters in the order of how well they fit; what stands together is added up. */
	uint32_t v[RD_LOADS][CANDIDATES][TOGETHER];
	double factor[RD_LOADS][CANDIDATES];
};

/*
 * Counters that count what a port carries, the best first: those of the port itself, which see all QPs, also those of
 * vendors' interfaces; then the driver's own; then the interface's, which see other traffic as well. port_*_data counts
 * units of 4 octets (InfiniBand specification, PortCounters).
 */
static const struct {
	enum rd_counter_group group;
	const char *tx[TOGETHER], *rx[TOGETHER];
	bool packets;
	double factor;
} table[] = {
	{ RD_GROUP_PORT, { "port_xmit_data" }, { "port_rcv_data" }, false, 4 },
	{ RD_GROUP_HW, { "sent_bytes" }, { "rcvd_bytes" }, false, 1 },
	{ RD_GROUP_HW, { "tx_bytes" }, { "rx_bytes" }, false, 1 },
	{ RD_GROUP_HW, { "ip4OutOctets", "ip6OutOctets" }, { "ip4InOctets", "ip6InOctets" }, false, 1 },
	{ RD_GROUP_ETHTOOL, { "tx_vport_rdma_unicast_bytes" }, { "rx_vport_rdma_unicast_bytes" }, false, 1 },
	{ RD_GROUP_NETDEV, { "tx_bytes" }, { "rx_bytes" }, false, 1 },
	{ RD_GROUP_PORT, { "port_xmit_packets" }, { "port_rcv_packets" }, true, 1 },
	{ RD_GROUP_HW, { "sent_pkts" }, { "rcvd_pkts" }, true, 1 },
	{ RD_GROUP_HW, { "tx_pkts" }, { "rx_pkts" }, true, 1 },
	{ RD_GROUP_HW, { "ip4OutPkts", "ip6OutPkts" }, { "ip4InPkts", "ip6InPkts" }, true, 1 },
	{ RD_GROUP_ETHTOOL, { "tx_vport_rdma_unicast_packets" }, { "rx_vport_rdma_unicast_packets" }, true, 1 },
	{ RD_GROUP_NETDEV, { "tx_packets" }, { "rx_packets" }, true, 1 },
};

static uint32_t find(const struct rd_counter_set *set, uint32_t port, enum rd_counter_group group, const char *name)
{
	for (size_t i = 0; name && i < set->n; i++)
		if (set->counters[i].port == port && set->counters[i].group == group &&
		    strcmp(set->counters[i].name, name) == 0)
			return (uint32_t)i;
	return NONE;
}

static void add_candidate(struct rd_load_counters *to, enum rd_load load, const struct rd_counter_set *set,
			  uint32_t port, size_t row, const char *const *names)
{
	size_t at = 0;

	while (at < CANDIDATES && to->v[load][at][0] != NONE)
		at++;
	if (at == CANDIDATES)
		return;
	for (size_t i = 0; i < TOGETHER; i++)
		to->v[load][at][i] = find(set, port, table[row].group, names[i]);
	to->factor[load][at] = table[row].factor;
	/* Half of a sum is no sum. */
	if (names[1] && to->v[load][at][1] == NONE)
		to->v[load][at][0] = NONE;
}

void rd_rates_init(struct rd_rates *rates, const struct rd_counter_set *set)
{
	*rates = (struct rd_rates){ .n = set->n_ports };
	rates->ports = rd_alloc(set->n_ports + 1, sizeof(*rates->ports));
	rates->counters = rd_alloc(set->n_ports + 1, sizeof(*rates->counters));
	memset(rates->counters, 0xff, (set->n_ports + 1) * sizeof(*rates->counters)); /* NONE */
	for (uint32_t p = 0; p < set->n_ports; p++)
		for (size_t row = 0; row < RD_ARRAY_SIZE(table) && set->ports[p].port; row++) {
			struct rd_load_counters *to = &rates->counters[p];

			add_candidate(to, table[row].packets ? RD_LOAD_TX_PACKETS : RD_LOAD_TX_BYTES, set, p, row,
				      table[row].tx);
			add_candidate(to, table[row].packets ? RD_LOAD_RX_PACKETS : RD_LOAD_RX_BYTES, set, p, row,
				      table[row].rx);
		}
}

void rd_rates_deinit(struct rd_rates *rates)
{
	free(rates->ports);
	free(rates->counters);
	*rates = (struct rd_rates){ 0 };
}

void rd_rates_carry(struct rd_rates *rates, const struct rd_counter_set *set, const struct rd_rates *old,
		    const struct rd_counter_set *old_set)
{
	rates->looks = old->looks;
	for (size_t p = 0; p < rates->n; p++)
		for (size_t o = 0; o < old->n; o++) {
			if (set->ports[p].port != old_set->ports[o].port ||
			    strcmp(set->ports[p].ibdev, old_set->ports[o].ibdev) != 0)
				continue;
			rates->ports[p] = old->ports[o];
			rates->ports[p].counted_by = NULL;
		}
}

/* False where any of them is not known. */
static bool sum(const uint32_t *counters, const struct rd_delta *deltas, double *ret)
{
	*ret = 0;
	for (size_t i = 0; i < TOGETHER && counters[i] != NONE; i++) {
		if (deltas[counters[i]].kind != RD_DELTA_EXACT)
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
		if (!sum(counters->v[load][c], deltas, &total))
			continue;
		RD_SET(rate->per_second[load], total * counters->factor[load][c] / seconds);
		if (load == RD_LOAD_TX_BYTES)
			rate->counted_by = &set->counters[counters->v[load][c][0]];
		return;
	}
}

static double total_gbps(const struct rd_port_rate *rate)
{
	return (rate->tx_gbps.known == RD_OK ? rate->tx_gbps.v : 0) +
	       (rate->rx_gbps.known == RD_OK ? rate->rx_gbps.v : 0);
}

/* The mean of late: what is a tenth of a second or a second long weighs the same. */
#define WEIGHT 0.2

static void update_port(struct rd_port_rate *rate, const struct rd_load_counters *counters,
			const struct rd_counter_set *set, const struct rd_counter_port *port,
			const struct rd_delta *deltas, double seconds, unsigned looks)
{
	double before = total_gbps(rate);

	if (looks > 0)
		rate->usual_gbps = looks == 1 ? before : rate->usual_gbps + WEIGHT * (before - rate->usual_gbps);
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
		update_port(&rates->ports[p], &rates->counters[p], set, &set->ports[p], deltas, seconds, rates->looks);
	rates->looks++;
}

/* Below this a port was idle: nothing that it could lose. */
#define BUSY_GBPS 0.01
#define LOST 0.1   /* of the usual */
#define GAINED 0.5 /* of what was lost */

static bool is_active(const struct rd_counter_state *state)
{
	return state->there && (!state->state[0] || strcmp(state->state, "ACTIVE") == 0);
}

static bool has_lost(const struct rd_port_rate *rate)
{
	return rate->usual_gbps > BUSY_GBPS && total_gbps(rate) < LOST * rate->usual_gbps;
}

/* The port that gained most in this interval; NONE: nobody gained half of what was lost. */
static uint32_t heir_of(const struct rd_rates *rates, double lost)
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

/* A job that pauses leaves all ports alike. */
static bool goes_on(const struct rd_rates *rates)
{
	double usual = 0, now = 0;

	for (size_t p = 0; p < rates->n; p++) {
		usual += rates->ports[p].usual_gbps;
		now += total_gbps(&rates->ports[p]);
	}
	return rates->n > 1 && now > GAINED * usual;
}

static void say_lost(const struct rd_rates *rates, const struct rd_counter_set *set,
		     const struct rd_counter_sample *now, uint32_t port, struct rd_findings *findings)
{
	const struct rd_port_rate *rate = &rates->ports[port];
	const struct rd_counter_state *state = &now->states[port];
	bool active = is_active(state);
	uint32_t heir = heir_of(rates, rate->usual_gbps - total_gbps(rate));
	char label[80], to[80] = "";
	struct rd_finding finding = {
		.id = "traffic-lost",
		.severity = active ? RD_SEV_WARNING : RD_SEV_CRITICAL,
		.title = active ? "port lost its traffic" : "port went down and lost its traffic",
		.why = "a job that had its NICs evenly loaded is now as slow as what is left",
	};

	rd_counter_port_label(&set->ports[port], label, sizeof(label));
	finding.subject = rd_text("%s", label);
	if (heir != NONE)
		rd_counter_port_label(&set->ports[heir], to, sizeof(to));
	finding.observed = rd_text("%.2f Gbit/s, port %s%s%s%s", total_gbps(rate),
				   !state->there   ? "gone" :
				   state->state[0] ? state->state :
						     "state unknown",
				   heir != NONE ? "; " : "", to, heir != NONE ? " took traffic over" : "");
	finding.expected = rd_text("%.2f Gbit/s, as of late", rate->usual_gbps);
	finding.fix =
		rd_text("look at the link and its partner: rdmadiag counters --filter 'link*' --since FILE; dmesg");
	rd_finding_add(findings, &finding);
}

void rd_rates_findings(struct rd_rates *rates, const struct rd_counter_set *set, const struct rd_counter_sample *now,
		       struct rd_findings *findings)
{
	bool others = goes_on(rates);

	for (uint32_t p = 0; rates->looks > 1 && p < rates->n; p++) {
		struct rd_port_rate *rate = &rates->ports[p];
		bool lost = set->ports[p].port && has_lost(rate) && (others || !is_active(&now->states[p]));

		if (lost && !rate->lost)
			say_lost(rates, set, now, p, findings);
		rate->lost = lost || (rate->lost && total_gbps(rate) < BUSY_GBPS);
	}
}
