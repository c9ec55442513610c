/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order of findings about a network, and of its ports; which of them are shown. */

#include "analyse/fabric/fabric.h"

#define DEGREES 1e12 /* above the highest degree, in errors per hour */

double rd_fabric_harm(enum rd_fabric_harm kind, double degree)
{
	degree = degree < 0 ? 0 : degree > DEGREES / 2 ? DEGREES / 2 : degree;
	return (RD_HARMS - kind) * DEGREES + degree;
}

/* Findings of other files. */
static const struct {
	const char *id;
	enum rd_fabric_harm kind;
	bool planned; /* a difference from a saved topology */
} ranks[] = {
	{ "fabric-guid-duplicate", RD_HARM_DUPLICATE, false }, { "fabric-lid-duplicate", RD_HARM_DUPLICATE, false },
	{ "fabric-node-missing", RD_HARM_ADAPTER_GONE, true }, { "fabric-node-replaced", RD_HARM_OTHER, true },
	{ "fabric-node-extra", RD_HARM_OTHER, true },	       { "fabric-cable-missing", RD_HARM_LINK_DOWN, true },
	{ "fabric-cable-moved", RD_HARM_OTHER, true },	       { "fabric-cable-extra", RD_HARM_OTHER, true },
	{ "fabric-link-slower", RD_HARM_LINK_SLOW, true },     { "fabric-compare-unknown", RD_HARM_UNREAD, true },
	{ "fabric-walk-incomplete", RD_HARM_UNREAD, false },   { "fabric-route-missing", RD_HARM_ROUTE, false },
	{ "fabric-route-loop", RD_HARM_ROUTE, false },	       { "fabric-congested", RD_HARM_CONGESTED, false },
	{ "fabric-sm-silent", RD_HARM_ROUTE, false },
};

static bool is_planned(const struct rd_finding *finding)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(ranks); i++)
		if (ranks[i].planned && strcmp(ranks[i].id, finding->id) == 0)
			return true;
	return false;
}

static double harm_of(const struct rd_finding *finding)
{
	if (finding->severity < RD_SEV_UNKNOWN)
		return rd_fabric_harm(RD_HARM_NOTE, 0);
	if (finding->harm > 0)
		return finding->harm;
	for (size_t i = 0; i < RD_ARRAY_SIZE(ranks); i++)
		if (strcmp(ranks[i].id, finding->id) == 0)
			return rd_fabric_harm(ranks[i].kind, finding->severity);
	return rd_fabric_harm(finding->severity == RD_SEV_CRITICAL ? RD_HARM_LINK_DOWN : RD_HARM_OTHER, 0);
}

/* Smaller places come first. */
struct place {
	int late; /* consequences, then muted findings */
	double harm;
	size_t at;
};

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return RD_CMP(x->late, y->late) ?: RD_CMP(y->harm, x->harm) ?: RD_CMP(x->at, y->at);
}

static void reorder(struct rd_findings *findings, struct place *places)
{
	struct rd_finding *sorted = rd_alloc(findings->n + 1, sizeof(*sorted));

	qsort(places, findings->n, sizeof(*places), by_place);
	for (size_t i = 0; i < findings->n; i++)
		sorted[i] = findings->v[places[i].at];
	free(findings->v);
	findings->v = sorted;
	findings->cap = findings->n + 1;
}

void rd_fabric_rank(struct rd_findings *findings)
{
	_cleanup_free_ struct place *places = rd_alloc(findings->n + 1, sizeof(*places));

	for (size_t i = 0; i < findings->n; i++) {
		struct rd_finding *finding = &findings->v[i];

		finding->harm = harm_of(finding);
		places[i] = (struct place){ finding->muted ? 2 : finding->caused_by.id != NULL, finding->harm, i };
	}
	reorder(findings, places);
}

/* ---- a short list */

static bool is_same_kind(const struct rd_finding *a, const struct rd_finding *b)
{
	return a->severity == b->severity && strcmp(a->title, b->title) == 0;
}

#define KINDS 64

/* Kinds of findings that were seen, by one of each. */
struct kinds {
	const struct rd_finding *v[KINDS];
	size_t n;
};

/* Whether it is the first of its kind. */
static bool add_kind(struct kinds *kinds, const struct rd_finding *finding)
{
	for (size_t i = 0; i < kinds->n; i++)
		if (is_same_kind(kinds->v[i], finding))
			return false;
	if (kinds->n == KINDS)
		return false;
	kinds->v[kinds->n++] = finding;
	return true;
}

size_t rd_fabric_rank_shown(struct rd_findings *findings, size_t most)
{
	struct kinds kinds = { .n = 0 };
	_cleanup_free_ struct place *places = rd_alloc(findings->n + 1, sizeof(*places));
	size_t shown = 0;

	for (size_t i = 0; i < findings->n; i++) {
		const struct rd_finding *finding = &findings->v[i];
		bool first = add_kind(&kinds, finding);
		bool show = i < most || is_planned(finding) || (first && finding->severity > RD_SEV_NOTE);

		places[i] = (struct place){ .late = !show, .at = i };
		shown += show;
	}
	reorder(findings, places);
	return shown;
}

void rd_fabric_rank_rest(const struct rd_findings *findings, size_t from, struct rd_buf *out)
{
	_cleanup_free_ bool *counted = rd_alloc(findings->n + 1, sizeof(*counted));

	rd_buf_printf(out, "%zu more: ", findings->n - from);
	for (size_t i = from; i < findings->n; i++) {
		size_t n = 0;

		for (size_t k = i; !counted[i] && k < findings->n; k++)
			if (!counted[k] && is_same_kind(&findings->v[i], &findings->v[k])) {
				counted[k] = k > i;
				n++;
			}
		if (n > 0)
			rd_buf_printf(out, "%s%zu x %s", i > from ? ", " : "", n, findings->v[i].title);
	}
}

/* ---- ports */

struct rank {
	double first, second;
	size_t port;
};

/* Sum of the errors and drops of a port: increase since the previous sweep or, if `total`, the counter values. */
static uint64_t errors_of(const struct rd_fabric *fabric, const struct rd_fabric_port *port, bool total)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < fabric->n_values; i++) {
		struct rd_pma_value value;
		uint64_t delta;

		if (!rd_pma_is_fault(i))
			continue;
		if (total && rd_fabric_value(fabric, port, i, &value))
			sum += value.v;
		if (!total && port->fresh && rd_fabric_delta(fabric, port, i, &delta, NULL))
			sum += delta;
	}
	return sum;
}

/* Whether a port that is unread follows another one of its node, of whose ports none was read: one row shows them all. */
static bool is_repeated(const struct rd_fabric *fabric, size_t index)
{
	const struct rd_fabric_node *node = &fabric->nodes[fabric->ports[index].node];
	bool repeated = false;

	for (size_t i = node->first; i < node->end; i++) {
		const struct rd_fabric_port *port = &fabric->ports[i];

		if (!port->selected && port->presence != RD_PORT_GONE)
			continue;
		if (port->fresh)
			return false;
		repeated |= i < index;
	}
	return repeated;
}

static bool is_changed_or_unread(const struct rd_fabric_port *port)
{
	if (port->presence != RD_PORT_PRESENT)
		return true;
	return port->selected && (!port->fresh || port->error || port->error_status);
}

static void pick(const struct rd_fabric *fabric, bool total, bool *picked)
{
	for (size_t i = 0; i < fabric->n_ports; i++)
		if (is_changed_or_unread(&fabric->ports[i]) ? !is_repeated(fabric, i) :
							      errors_of(fabric, &fabric->ports[i], total) > 0)
			picked[i] = true;
}

void rd_fabric_pick_faulty(const struct rd_fabric *fabric, bool *picked)
{
	pick(fabric, true, picked);
}

void rd_fabric_pick_changed(const struct rd_fabric *fabric, size_t busiest, bool *picked)
{
	_cleanup_free_ size_t *order = rd_fabric_sort_by(fabric, RD_FABRIC_BY_TRAFFIC);

	pick(fabric, false, picked);
	for (size_t i = 0; i < fabric->n_ports && i < busiest; i++) {
		double gbps;

		if (rd_fabric_gbps(fabric, &fabric->ports[order[i]], RD_C_XMIT_DATA, &gbps) && gbps > 0)
			picked[order[i]] = true;
	}
}

static int compare(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	return RD_CMP(y->first, x->first) ?: RD_CMP(y->second, x->second) ?: RD_CMP(x->port, y->port);
}

size_t *rd_fabric_sort_by(const struct rd_fabric *fabric, enum rd_fabric_order order)
{
	_cleanup_free_ struct rank *places = rd_alloc(fabric->n_ports + 1, sizeof(*places));
	size_t *sorted = rd_alloc(fabric->n_ports + 1, sizeof(*sorted));

	for (size_t i = 0; i < fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &fabric->ports[i];
		struct rank rank = { .first = -1, .second = -1, .port = i };
		double seconds;
		uint64_t ticks;

		switch (order) {
		case RD_FABRIC_BY_TRAFFIC:
			if (port->fresh)
				rd_fabric_gbps(fabric, port, RD_C_XMIT_DATA, &rank.first);
			break;
		case RD_FABRIC_BY_ERRORS:
			rank.first = (double)errors_of(fabric, port, false);
			rank.second = (double)errors_of(fabric, port, true);
			break;
		case RD_FABRIC_BY_WAIT:
			rd_fabric_wait_share(fabric, port, &rank.first);
			if (rd_fabric_delta(fabric, port, RD_C_XMIT_WAIT, &ticks, &seconds))
				rank.second = (double)ticks / seconds;
			break;
		case RD_FABRIC_BY_NODE:
			break;
		}
		places[i] = rank;
	}
	qsort(places, fabric->n_ports, sizeof(*places), compare);
	for (size_t i = 0; i < fabric->n_ports; i++)
		sorted[i] = places[i].port;
	return sorted;
}
