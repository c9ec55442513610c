/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Differences between two samples of counters, and the rates of ports. */
#include "analyse/counters/counters.h"

#include "base/map.h"

static uint64_t max_of(unsigned bits)
{
	return bits >= 64 || bits == 0 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static struct rd_delta saturating_delta(unsigned bits, uint64_t before, uint64_t now)
{
	uint64_t end = max_of(bits);

	/* The width in the table is wrong. */
	if (now > end || before > end)
		return (struct rd_delta){ now >= before ? now - before : now, RD_DELTA_AT_LEAST, RD_NOTE_NONE };
	if (now < before)
		return (struct rd_delta){ now, RD_DELTA_AT_LEAST, RD_NOTE_RESET };
	if (now == end)
		return (struct rd_delta){ now - before, RD_DELTA_AT_LEAST, RD_NOTE_SATURATED };
	return (struct rd_delta){ now - before, RD_DELTA_EXACT, RD_NOTE_NONE };
}

static struct rd_delta wrapping_delta(unsigned bits, uint64_t before, uint64_t now, uint64_t most)
{
	uint64_t end = max_of(bits), delta;
	enum rd_delta_note note;

	if (now > end || before > end)
		return (struct rd_delta){ 0, RD_DELTA_UNKNOWN, RD_NOTE_NONE };
	delta = (now - before) & end;
	note = now < before ? RD_NOTE_WRAPPED : RD_NOTE_NONE;
	/* One more wrap would have been `end` + 1 more events. */
	if (most <= end)
		return delta > most ? (struct rd_delta){ now, RD_DELTA_AT_LEAST, RD_NOTE_RESET } :
				      (struct rd_delta){ delta, RD_DELTA_EXACT, note };
	if (end != UINT64_MAX && most - delta > end)
		return (struct rd_delta){ delta, RD_DELTA_AT_LEAST, note ?: RD_NOTE_TURNS };
	return (struct rd_delta){ delta, RD_DELTA_EXACT, note };
}

struct rd_delta rd_delta_of(enum rd_overflow overflow, unsigned bits, uint64_t before, uint64_t now, uint64_t most)
{
	switch (overflow) {
	case RD_SATURATES:
		return saturating_delta(bits, before, now);
	case RD_WRAPS:
		return wrapping_delta(bits, before, now, most);
	case RD_GAUGE:
		return (struct rd_delta){ 0, RD_DELTA_UNKNOWN, RD_NOTE_NONE };
	case RD_64BIT:
		/* On devices without extended counters it has 32 bits, and stays there. */
		if (now == UINT32_MAX && before <= now)
			return (struct rd_delta){ now - before, RD_DELTA_AT_LEAST, RD_NOTE_SATURATED };
		if (now < before)
			return (struct rd_delta){ now, RD_DELTA_AT_LEAST, RD_NOTE_RESET };
		return (struct rd_delta){ now - before, RD_DELTA_EXACT, RD_NOTE_NONE };
	case RD_OVERFLOW_UNKNOWN:
		break;
	}
	/* It may be a gauge, may have wrapped or may have been reset. */
	if (now < before)
		return (struct rd_delta){ 0, RD_DELTA_UNKNOWN, RD_NOTE_NONE };
	return (struct rd_delta){ now - before, RD_DELTA_EXACT, RD_NOTE_NONE };
}

double rd_moments_seconds(const struct rd_counted *before, const struct rd_counted *now)
{
	const struct rd_counter_sample *a = before->sample, *b = now->sample;

	if (a->boot_id[0] && strcmp(a->boot_id, b->boot_id) == 0 && a->monotonic_ns && b->monotonic_ns > a->monotonic_ns)
		return (double)(b->monotonic_ns - a->monotonic_ns) / 1e9;
	return a->realtime_ns && b->realtime_ns > a->realtime_ns ? (double)(b->realtime_ns - a->realtime_ns) / 1e9 : 0;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
	return text ? rd_hash(hash, text, strlen(text) + 1) : rd_hash(hash, "", 1);
}

static uint64_t hash_counter(const struct rd_counter_set *set, const struct rd_counter *counter)
{
	const struct rd_counter_port *port = &set->ports[counter->port];
	uint64_t hash = hash_text(hash_text(RD_HASH, port->ibdev), counter->name);

	hash = rd_hash(hash, &port->port, sizeof(port->port));
	hash = rd_hash(hash, &counter->group, sizeof(counter->group));
	return rd_hash(hash_text(hash, counter->netdev), &counter->counter, sizeof(counter->counter));
}

static bool same_counter(const struct rd_counter_set *a, const struct rd_counter *ca, const struct rd_counter_set *b,
			 const struct rd_counter *cb)
{
	const struct rd_counter_port *pa = &a->ports[ca->port], *pb = &b->ports[cb->port];

	return ca->group == cb->group && ca->counter == cb->counter && strcmp(ca->name, cb->name) == 0 &&
	       rd_same_text(ca->netdev, cb->netdev) && pa->port == pb->port && rd_same_text(pa->ibdev, pb->ibdev);
}

/* Index in `before`, whose counters are in `map`; -1: not found. */
static ptrdiff_t find_counter(const struct rd_map *map, const struct rd_counter_set *before,
			      const struct rd_counter_set *now, size_t i)
{
	uint64_t hash = hash_counter(now, &now->counters[i]);
	size_t candidate;

	for (size_t probe = 0; (candidate = rd_map_next(map, hash, &probe)) != RD_MAP_END;)
		if (same_counter(before, &before->counters[candidate], now, &now->counters[i]))
			return (ptrdiff_t)candidate;
	return -1;
}

size_t rd_counted_port(const struct rd_counter_set *set, const char *ibdev, unsigned port)
{
	for (size_t i = 0; i < set->n_ports; i++)
		if (set->ports[i].port == port && rd_same_text(set->ports[i].ibdev, ibdev))
			return i;
	return SIZE_MAX;
}

/* Why the counters of a port cannot be compared; RD_NOTE_NONE: they can. */
static enum rd_delta_note port_note(const struct rd_counted *before, const struct rd_counted *now, uint32_t port)
{
	const struct rd_counter_port *of = &now->set->ports[port], *was;
	const struct rd_counter_state *state = &now->sample->states[port], *old;
	size_t at = rd_counted_port(before->set, of->ibdev, of->port);

	if (!state->there)
		return RD_NOTE_GONE;
	if (before->sample->boot_id[0] && now->sample->boot_id[0] &&
	    strcmp(before->sample->boot_id, now->sample->boot_id) != 0)
		return RD_NOTE_REBOOT;
	if (at == SIZE_MAX || !before->sample->states[at].there)
		return RD_NOTE_NEW;
	was = &before->set->ports[at];
	old = &before->sample->states[at];
	if (was->guid && of->guid && strcmp(was->guid, of->guid) != 0)
		return RD_NOTE_REPLACED;
	if (old->instance && state->instance && old->instance != state->instance)
		return RD_NOTE_RELOADED;
	return RD_NOTE_NONE;
}

static struct rd_delta delta_at(const struct rd_counter *counter, const struct rd_counter_value *before,
				const struct rd_counter_value *now, enum rd_delta_note note, uint64_t most)
{
	if (note != RD_NOTE_NONE)
		return (struct rd_delta){ 0, RD_DELTA_UNKNOWN, note };
	if (!before)
		return (struct rd_delta){ 0, RD_DELTA_UNKNOWN, RD_NOTE_NEW };
	if (before->known != RD_OK || now->known != RD_OK)
		return (struct rd_delta){ 0, RD_DELTA_UNKNOWN, RD_NOTE_UNREAD };
	return rd_delta_of(counter->overflow, counter->bits, before->v, now->v, most);
}

/* What happened to a port between two moments. */
struct span {
	enum rd_delta_note note;
	uint64_t packets[2]; /* sent and received, from 64-bit counters; UINT64_MAX: unknown */
};

/* A packet causes at most so many events of one kind (a read request causes one for each response that is missing). */
#define EVENTS_PER_PACKET 4

/* The largest number of events a wrapping counter can have counted: bounded by the packets of the port, if these are known.
 * Flushed work requests need no packet. */
static uint64_t max_events_of(const struct rd_counter *counter, const struct span *span, uint64_t by_time)
{
	uint64_t most;

	/* A link changes at most a thousand times per second. */
	if (counter->group == RD_GROUP_NETDEV)
		return by_time == UINT64_MAX ? by_time : by_time / (uint64_t)(RD_EVENTS_PER_SECOND / 1000);
	if (counter->meaning && counter->meaning->role == RD_ROLE_FOLLOWS)
		return by_time;
	if (span->packets[0] > UINT32_MAX * UINT64_C(1024) || span->packets[1] > UINT32_MAX * UINT64_C(1024))
		return by_time;
	most = (span->packets[0] + span->packets[1]) * EVENTS_PER_PACKET;
	return most < by_time ? most : by_time;
}

void rd_deltas(const struct rd_counted *before, const struct rd_counted *now, struct rd_delta *ret)
{
	_cleanup_free_ struct span *spans = rd_alloc(now->set->n_ports + 1, sizeof(*spans));
	/* The largest number of events a port can have had in the time between. */
	double seconds = rd_moments_seconds(before, now), most = seconds * RD_EVENTS_PER_SECOND;
	uint64_t by_time = seconds <= 0 || most >= 1.8e19 ? UINT64_MAX : (uint64_t)most;
	bool same_set = before->set == now->set;
	struct rd_map map = { 0 };

	if (!same_set)
		for (size_t i = 0; i < before->set->n; i++)
			rd_map_put(&map, hash_counter(before->set, &before->set->counters[i]), i);
	for (size_t i = 0; i < now->set->n_ports; i++)
		spans[i] = (struct span){ port_note(before, now, (uint32_t)i), { UINT64_MAX, UINT64_MAX } };
	for (size_t i = 0; i < now->set->n; i++) {
		const struct rd_counter *counter = &now->set->counters[i];
		ptrdiff_t at = same_set ? (ptrdiff_t)i : find_counter(&map, before->set, now->set, i);
		struct span *span = &spans[counter->port];

		/* The counters of the port precede those of the driver. */
		ret[i] = delta_at(counter, at < 0 ? NULL : &before->sample->values[at], &now->sample->values[i],
				  span->note, max_events_of(counter, span, by_time));
		if (counter->group != RD_GROUP_PORT || ret[i].kind != RD_DELTA_EXACT)
			continue;
		if (counter->about && counter->about->topic == RD_TOPIC_PACKETS_SENT)
			span->packets[0] = ret[i].v;
		else if (counter->about && counter->about->topic == RD_TOPIC_PACKETS_GOT)
			span->packets[1] = ret[i].v;
	}
	rd_map_deinit(&map);
}

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

static void add_candidate(struct rd_load_counters *to, enum rd_load load, const struct rd_counter_set *set, uint32_t i)
{
	const struct rd_counter *counter = &set->counters[i];

	for (size_t c = 0; c < CANDIDATES; c++) {
		uint32_t *v = to->v[load][c];

		if (v[0] == NONE) {
			v[0] = i;
			to->factor[load][c] = strcmp(counter->about->unit, "4-octets") == 0 ? 4 :
					      strcmp(counter->about->unit, "bits") == 0	    ? 1.0 / 8 :
											      1;
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

void rd_rates_init(struct rd_rates *rates, const struct rd_counter_set *set)
{
	*rates = (struct rd_rates){ .n = set->n_ports };
	rates->ports = rd_alloc(set->n_ports + 1, sizeof(*rates->ports));
	rates->counters = rd_alloc(set->n_ports + 1, sizeof(*rates->counters));
	memset(rates->counters, 0xff, (set->n_ports + 1) * sizeof(*rates->counters)); /* NONE */
	for (size_t g = 0; g < RD_ARRAY_SIZE(groups); g++)
		for (uint32_t i = 0; i < set->n; i++) {
			const struct rd_counter *counter = &set->counters[i];

			if (!counter->about || counter->group != groups[g] || !set->ports[counter->port].port)
				continue;
			for (enum rd_load load = 0; load < RD_LOADS; load++)
				if (counter->about->topic == topics[load])
					add_candidate(&rates->counters[counter->port], load, set, i);
		}
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
	rates->silent_seconds = old->silent_seconds;
	for (size_t p = 0; old_set && p < rates->n; p++) {
		size_t at = rd_counted_port(old_set, set->ports[p].ibdev, set->ports[p].port);

		if (at == SIZE_MAX)
			continue;
		rates->ports[p] = old->ports[at];
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

/* Below this rate a port was idle and had no traffic to lose. */
#define BUSY_GBPS 0.01
#define LOST 0.1   /* of the usual rate */
#define GAINED 0.5 /* of the lost rate */

/* A queue pair with NCCL's timeout 20 and retry_cnt 7 takes 34.4 s to report that its path is dead, or up to four times that (IBTA vol. 1,
 * 9.7.6.1.3). So long its job may be silent before another port takes its traffic over. */
#define SILENT_SECONDS 138.0

/* The traffic of all ports in the last interval, and usually. */
static double total_of_host(const struct rd_rates *rates, double *usual)
{
	double now = 0;

	*usual = 0;
	for (size_t p = 0; p < rates->n; p++) {
		*usual += rates->ports[p].usual_gbps;
		now += total_gbps(&rates->ports[p]);
	}
	return now;
}

void rd_rates_update(struct rd_rates *rates, const struct rd_counter_set *set, const struct rd_delta *deltas,
		     double seconds)
{
	double usual, before = total_of_host(rates, &usual);
	bool silent = rates->intervals > 1 && usual > BUSY_GBPS && before < LOST * usual;

	if (seconds <= 0)
		return;
	rates->silent_seconds = silent ? rates->silent_seconds + seconds : 0;
	for (size_t p = 0; p < rates->n; p++)
		update_port(&rates->ports[p], &rates->counters[p], set, &set->ports[p], deltas, seconds,
			    silent && rates->silent_seconds < SILENT_SECONDS ? 0 : rates->intervals);
	rates->intervals++;
}

/* On Ethernet only iWARP has INIT: of an interface without an IPv4 address, which passes packets. */
static bool is_active(const struct rd_counter_port *port, const struct rd_counter_state *state)
{
	bool ethernet = port->link_layer && strcmp(port->link_layer, "Ethernet") == 0;

	return state->there && (!state->state[0] || strcmp(state->state, "ACTIVE") == 0 ||
				(ethernet && strcmp(state->state, "INIT") == 0));
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

static void add_lost_finding(const struct rd_rates *rates, const struct rd_counter_set *set,
			     const struct rd_counter_sample *now, uint32_t port, uint32_t successor,
			     struct rd_findings *findings)
{
	const struct rd_port_rate *rate = &rates->ports[port];
	const struct rd_counter_state *state = &now->states[port];
	bool active = is_active(&set->ports[port], state);
	_cleanup_free_ char *label = rd_counter_port_label(&set->ports[port]);
	_cleanup_free_ char *to = successor == NONE ? NULL : rd_counter_port_label(&set->ports[successor]);
	struct rd_finding finding = {
		.id = "traffic-lost",
		/* After a pause, a job may use other ports than before it. */
		.severity = !active		      ? RD_SEV_CRITICAL :
			    rates->silent_seconds > 0 ? RD_SEV_NOTE :
							RD_SEV_WARNING,
		.title = active ? "traffic on the port stopped" : "port went down and its traffic stopped",
		.why = "a job that loads all NICs evenly is slowed down to the remaining bandwidth",
	};

	finding.subject = rd_dup(label);
	finding.observed = rd_text("%.2f Gbit/s, port %s%s%s%s", total_gbps(rate),
				   !state->there   ? "missing" :
				   state->state[0] ? state->state :
						     "state unknown",
				   to ? "; " : "", to ?: "", to ? " took over traffic" : "");
	finding.expected = rd_text("%.2f Gbit/s, the recent average", rate->usual_gbps);
	finding.fix = rd_text(
		"rdmadiag counters %s --filter 'link*'\ndmesg -T | grep -iw link\n# check the link and the link partner",
		label);
	rd_finding_add(findings, &finding);
}

/* Its counters were reset, or could not be compared: that is not to have no traffic. */
static bool is_rate_unknown(const struct rd_rates *rates, uint32_t port)
{
	for (enum rd_load load = RD_LOAD_TX_BYTES; load <= RD_LOAD_RX_BYTES; load++)
		if (rates->counters[port].v[load][0][0] != NONE && rates->ports[port].per_second[load].known != RD_OK)
			return true;
	return false;
}

void rd_rates_findings(struct rd_rates *rates, const struct rd_counter_set *set, const struct rd_counter_sample *now,
		       struct rd_findings *findings)
{
	double usual, total = total_of_host(rates, &usual);
	/* Whether the host as a whole still has traffic. A job that pauses affects all ports alike. */
	bool others = rates->n > 1 && total > GAINED * usual;

	for (uint32_t p = 0; rates->intervals > 1 && p < rates->n; p++) {
		struct rd_port_rate *rate = &rates->ports[p];
		bool lost = set->ports[p].port &&
			    (rate->usual_gbps > BUSY_GBPS && total_gbps(rate) < LOST * rate->usual_gbps) &&
			    ((others && !is_rate_unknown(rates, p)) || !is_active(&set->ports[p], &now->states[p]));

		uint32_t successor = lost ? successor_of(rates, rate->usual_gbps - total_gbps(rate)) : NONE;

		if (lost && (!rate->lost || (successor != NONE && !rate->replaced)))
			add_lost_finding(rates, set, now, p, successor, findings);
		rate->lost = lost || (rate->lost && total_gbps(rate) < BUSY_GBPS);
		rate->replaced = rate->lost && (rate->replaced || successor != NONE);
	}
}
