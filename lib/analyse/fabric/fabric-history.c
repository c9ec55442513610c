/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What repeated sweeps have counted and found. */
#include <stdlib.h>
#include <string.h>

#include "analyse/fabric/fabric-history.h"
#include "base/memory.h"
#include "model/fabric/fabric.h"

/* In place of a counter: of port 0, a node restarted; of others, a cable was plugged in. Its count: 1 if a discovery found it, at the
 * time of that; 0 if a restart is known by its counters. */
#define RESTARTED UINT16_MAX

void rd_fabric_history_deinit(struct rd_fabric_history *history)
{
	free(history->v);
	*history = (struct rd_fabric_history){ 0 };
}

static int compare(const void *a, const void *b)
{
	const struct rd_history_entry *x = a, *y = b;

	return RD_CMP(x->guid, y->guid) ?: RD_CMP(x->port, y->port) ?: RD_CMP(x->counter, y->counter);
}

static const struct rd_history_entry *find_entry(const struct rd_fabric_history *history, uint64_t guid, unsigned port,
						 size_t counter)
{
	struct rd_history_entry key = { .guid = guid, .port = port, .counter = (uint16_t)counter };
	size_t at = history ? rd_lower_bound(&key, history->v, history->n, sizeof(key), compare) : 0;

	return history && at < history->n && compare(&history->v[at], &key) == 0 ? &history->v[at] : NULL;
}

static void forget_old(struct rd_fabric_history *history, uint64_t now)
{
	uint64_t since = now > RD_HISTORY_HOUR_NS ? now - RD_HISTORY_HOUR_NS : 0;
	size_t kept = 0;

	for (size_t i = 0; i < history->n; i++) {
		struct rd_history_entry *entry = &history->v[i];
		uint16_t n = 0;

		for (uint16_t k = 0; k < entry->n; k++)
			if (entry->v[k].ns >= since)
				entry->v[n++] = entry->v[k];
		entry->n = n;
		if (n > 0)
			history->v[kept++] = *entry;
	}
	history->n = kept;
}

/* Entries up to `sorted` are in order, those after it are of this sweep. */
static void add_entry(struct rd_fabric_history *history, size_t sorted, const struct rd_history_entry *new)
{
	size_t at = rd_lower_bound(new, history->v, sorted, sizeof(*new), compare);
	struct rd_history_entry *entry = at < sorted ? &history->v[at] : NULL;

	if (entry && compare(entry, new) == 0) {
		if (new->counter == RESTARTED)
			entry->n = 0;
		if (entry->n == RD_HISTORY_TIMES) {
			size_t closest = 0;

			/* Merges the two increases that are closest in time. They take the time of the older one: what is merged is forgotten early
			 * rather than late. */
			for (size_t i = 1; i + 1 < entry->n; i++)
				if (entry->v[i + 1].ns - entry->v[i].ns <
				    entry->v[closest + 1].ns - entry->v[closest].ns)
					closest = i;
			entry->v[closest].count += entry->v[closest + 1].count;
			entry->n--;
			for (size_t i = closest + 1; i < entry->n; i++)
				entry->v[i] = entry->v[i + 1];
		}
		entry->v[entry->n++] = new->v[0];
		return;
	}
	if (history->n >= RD_HISTORY_MAX)
		return;
	*RD_ADD(history->v, history->n, history->cap) = *new;
}

/* Whether what a port counted of packets is less than before: 1, or 0. -1: not known. */
static int went_back(const struct rd_fabric *fabric, const struct rd_fabric_port *port)
{
	int known = -1;

	for (size_t i = RD_C_XMIT_DATA; i <= RD_C_RCV_PKTS && i < fabric->n_values; i++) {
		if (!port->fresh || !port->before || !port->before_ns || !port->values || port->before[i].bits != 64 ||
		    port->values[i].bits != 64 || port->before[i].v == 0)
			continue;
		if (port->values[i].v < port->before[i].v)
			return 1;
		known = 0;
	}
	return known;
}

/* Whether a node restarted: most of its ports, from `first` to `end`, went back. Of a few somebody has cleared the counters. */
static bool has_restarted(const struct rd_fabric *fabric, size_t first, size_t end)
{
	size_t back = 0, known = 0;

	for (size_t i = first; i < end; i++) {
		int r = went_back(fabric, &fabric->ports[i]);

		known += r >= 0;
		back += r > 0;
	}
	return back * 2 > known;
}

static void add_port(struct rd_fabric_history *history, size_t sorted, const struct rd_fabric *fabric,
		     const struct rd_fabric_port *port, bool restarted)
{
	struct rd_history_entry new = { .guid = fabric->nodes[port->node].guid, .n = 1, .v[0].ns = port->read_ns };
	double seconds;
	uint64_t delta;

	if (port->presence == RD_PORT_NEW || restarted) {
		new.counter = RESTARTED;
		new.v[0].count = !restarted;
		new.v[0].ns = restarted ? port->read_ns : fabric->discovered_ns;
		add_entry(history, sorted, &new);
		new.v[0].ns = port->read_ns;
	}
	new.port = port->number;
	if (port->connected) {
		new.counter = RESTARTED;
		new.v[0] = (struct rd_history_time){ .ns = fabric->discovered_ns, .count = 1 };
		add_entry(history, sorted, &new);
		new.v[0].ns = port->read_ns;
	}
	for (size_t i = 0; i < fabric->n_values; i++) {
		if (rd_pma_counters[i].kind != RD_PMA_ERROR && rd_pma_counters[i].kind != RD_PMA_DROP)
			continue;
		if (!rd_fabric_delta(fabric, port, i, &delta, &seconds) || delta == 0)
			continue;
		new.counter = (uint16_t)i;
		new.v[0].count = delta;
		add_entry(history, sorted, &new);
	}
}

void rd_fabric_history_add(struct rd_fabric_history *history, const struct rd_fabric *fabric)
{
	size_t sorted;

	if (fabric->swept_ns <= history->swept_ns)
		return;
	history->swept_ns = fabric->swept_ns;
	forget_old(history, fabric->swept_ns);
	sorted = history->n;
	for (size_t i = 0; i < fabric->n_nodes; i++) {
		bool restarted = has_restarted(fabric, fabric->nodes[i].first, fabric->nodes[i].end);

		for (size_t k = fabric->nodes[i].first; k < fabric->nodes[i].end; k++)
			if (fabric->ports[k].fresh)
				add_port(history, sorted, fabric, &fabric->ports[k], restarted);
	}
	if (history->n > sorted) {
		size_t n = 0;

		qsort(history->v, history->n, sizeof(*history->v), compare);
		/* Several ports of a switch may each have told that it restarted. */
		for (size_t i = 0; i < history->n; i++)
			if (n == 0 || compare(&history->v[n - 1], &history->v[i]) != 0)
				history->v[n++] = history->v[i];
		history->n = n;
	}
}

uint64_t rd_fabric_history_sum(const struct rd_fabric_history *history, const struct rd_fabric *fabric,
			       const struct rd_fabric_port *port, size_t counter)
{
	const struct rd_history_entry *entry =
		find_entry(history, fabric->nodes[port->node].guid, port->number, counter);
	uint64_t sum = 0;
	double seconds;

	for (size_t i = 0; entry && i < entry->n; i++)
		sum += entry->v[i].count;
	if (!history && !rd_fabric_delta(fabric, port, counter, &sum, &seconds))
		return 0;
	return sum;
}

/* The links and nodes at both ends of a cable. */
struct losses {
	const struct rd_history_entry *links[2], *restarts[2], *connected[2]; /* NULL: none */
	uint64_t late_ns; /* a restart is discovered at most that long after the link came up */
	bool still, drops;
};

static bool is_near_restart(const struct losses *losses, uint64_t ns, uint64_t restart)
{
	return ns + losses->late_ns >= restart && ns <= restart + RD_HISTORY_LOSS_NS;
}

/* Whether what was counted at `ns` is a consequence of this restart. A node that was found comes up, perhaps at a port that lost no
 * link. Else a link was lost before it. In between, the link is down: packets are dropped, but no errors are received. */
static bool is_of_restart(const struct losses *losses, const struct rd_history_time *restart, uint64_t ns)
{
	if (restart->count && is_near_restart(losses, ns, restart->ns))
		return true;
	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; losses->links[side] && i < losses->links[side]->n; i++) {
			uint64_t lost = losses->links[side]->v[i].ns;

			if (restart->ns + RD_HISTORY_LOSS_NS < lost || restart->ns > lost + RD_HISTORY_BOOT_NS)
				continue;
			if ((ns + RD_HISTORY_LOSS_NS >= lost && ns <= lost + RD_HISTORY_LOSS_NS) ||
			    is_near_restart(losses, ns, restart->ns) ||
			    (losses->drops && ns >= lost && ns <= restart->ns))
				return true;
		}
	return false;
}

static bool is_lost(const struct losses *losses, uint64_t ns)
{
	for (size_t side = 0; side < 2; side++) {
		const struct rd_history_entry *link = losses->links[side], *restarts = losses->restarts[side];
		const struct rd_history_entry *connected = losses->connected[side];

		for (size_t i = 0; connected && i < connected->n; i++)
			if (is_near_restart(losses, ns, connected->v[i].ns))
				return true;
		for (size_t i = 0; losses->still && link && i < link->n; i++)
			if (ns + RD_HISTORY_LOSS_NS >= link->v[i].ns)
				return true;
		for (size_t i = 0; restarts && i < restarts->n; i++)
			if (is_of_restart(losses, &restarts->v[i], ns))
				return true;
	}
	return false;
}

uint64_t rd_fabric_history_lost(const struct rd_fabric_history *history, const struct rd_fabric *fabric,
				const struct rd_fabric_port *port, const struct rd_fabric_port *peer, size_t counter,
				bool still)
{
	uint64_t here = fabric->nodes[port->node].guid;
	uint64_t there = peer ? fabric->nodes[peer->node].guid : 0;
	const struct rd_history_entry *entry = find_entry(history, here, port->number, counter);
	struct losses losses = { .still = still, .drops = rd_pma_counters[counter].kind == RD_PMA_DROP };
	uint64_t interval = port->before_ns ? port->read_ns - port->before_ns : 0;
	uint64_t sum = 0;

	losses.late_ns = interval > RD_HISTORY_LOSS_NS ? interval : RD_HISTORY_LOSS_NS;
	losses.links[0] = find_entry(history, here, port->number, RD_C_LINK_DOWNED);
	losses.connected[0] = find_entry(history, here, port->number, RESTARTED);
	losses.restarts[0] = find_entry(history, here, 0, RESTARTED);
	if (there) {
		losses.links[1] = find_entry(history, there, peer->number, RD_C_LINK_DOWNED);
		losses.connected[1] = find_entry(history, there, peer->number, RESTARTED);
		losses.restarts[1] = find_entry(history, there, 0, RESTARTED);
	}
	for (size_t i = 0; entry && i < entry->n; i++)
		sum += is_lost(&losses, entry->v[i].ns) ? entry->v[i].count : 0;
	return losses.drops || sum <= RD_HISTORY_LOSS_ERRORS ? sum : 0;
}

bool rd_fabric_history_restarted(const struct rd_fabric_history *history, uint64_t guid)
{
	return find_entry(history, guid, 0, RESTARTED) != NULL;
}

/* ---- findings */

static void latch_deinit(struct rd_fabric_latch *latch)
{
	RD_FREE(latch->subject, latch->observed, latch->fix);
}

void rd_fabric_latches_deinit(struct rd_fabric_latches *latches)
{
	for (size_t i = 0; i < latches->n; i++)
		latch_deinit(&latches->v[i]);
	free(latches->v);
	*latches = (struct rd_fabric_latches){ 0 };
}

static int compare_keys(const void *a, const void *b)
{
	const struct rd_fabric_latch *x = a, *y = b;

	return strcmp(x->id, y->id) ?: strcmp(x->subject, y->subject) ?: RD_CMP(x->severity, y->severity);
}

/* Adds a finding to the latch with its key among the first `n`, which are sorted, else as a new one at the end. */
static void add_finding(struct rd_fabric_latches *latches, size_t n, const struct rd_finding *finding, size_t rank,
			uint64_t now_ns)
{
	struct rd_fabric_latch key = { .id = finding->id,
				       .severity = finding->severity,
				       .subject = finding->subject ? finding->subject : (char[]){ "" } };
	struct rd_fabric_latch *latch = n ? bsearch(&key, latches->v, n, sizeof(key), compare_keys) : NULL;

	if (!latch) {
		latch = RD_ADD(latches->v, latches->n, latches->cap);
		*latch = key;
		latch->subject = rd_dup(key.subject);
	}
	RD_FREE(latch->observed, latch->fix);
	latch->title = finding->title;
	latch->observed = rd_dup_if(finding->observed);
	latch->fix = rd_dup_if(finding->fix);
	if (latch->current)
		return; /* another finding of this sweep has the same key: nodes can have the same name */
	latch->current = true;
	latch->cleared = false;
	latch->rank = rank;
	rd_latched_look(&latch->looks, now_ns);
}

/* Sorts by key, and merges new latches that have the same key. */
static void sort_by_key(struct rd_fabric_latches *latches)
{
	size_t n = 0;

	qsort(latches->v, latches->n, sizeof(*latches->v), compare_keys);
	for (size_t i = 0; i < latches->n; i++) {
		struct rd_fabric_latch *latch = &latches->v[i];

		if (n && compare_keys(&latches->v[n - 1], latch) == 0)
			latch_deinit(latch);
		else
			latches->v[n++] = *latch;
	}
	latches->n = n;
}

/* Those to keep come first. */
static int compare_worth(const void *a, const void *b)
{
	const struct rd_fabric_latch *x = a, *y = b;

	/* Of those found at the same time, the ones that are known longer: the set does not change from sweep to sweep. */
	return RD_FIRST(RD_CMP(y->severity, x->severity), RD_CMP(y->current, x->current),
			RD_CMP(y->looks.last_ns, x->looks.last_ns), RD_CMP(x->looks.first_ns, y->looks.first_ns),
			RD_CMP(x->rank, y->rank));
}

void rd_fabric_latch(struct rd_fabric_latches *latches, const struct rd_findings *findings, uint64_t now_ns)
{
	size_t known = latches->n;

	rd_latched_look(&latches->looks, now_ns);
	for (size_t i = 0; i < known; i++)
		latches->v[i].current = false;
	for (size_t i = 0; i < findings->n; i++)
		if (findings->v[i].severity >= RD_SEV_WARNING && rd_finding_stands(&findings->v[i]))
			add_finding(latches, known, &findings->v[i], i, now_ns);
	if (latches->n > known)
		sort_by_key(latches);
	/* That a node was silent is not over when it is gone. */
	for (size_t i = 0; i < latches->n; i++) {
		struct rd_fabric_latch key = { .id = "fabric-agent-silent", .subject = latches->v[i].subject };

		if (!latches->v[i].current || strcmp(latches->v[i].id, "fabric-node-gone") != 0)
			continue;
		for (key.severity = RD_SEV_WARNING; key.severity <= RD_SEV_CRITICAL; key.severity++) {
			struct rd_fabric_latch *silent =
				bsearch(&key, latches->v, latches->n, sizeof(key), compare_keys);

			if (silent && !silent->current)
				silent->cleared = true;
		}
	}
	if (latches->n <= RD_LATCHES_MAX)
		return;
	qsort(latches->v, latches->n, sizeof(*latches->v), compare_worth);
	while (latches->n > RD_LATCHES_MAX) {
		latch_deinit(&latches->v[--latches->n]);
		latches->dropped++;
	}
	sort_by_key(latches);
}

void rd_fabric_latches_clear(struct rd_fabric_latches *latches)
{
	for (size_t i = 0; i < latches->n; i++)
		latches->v[i].cleared = !latches->v[i].current;
}

static int compare_harm(const void *a, const void *b)
{
	const struct rd_fabric_latch *x = *(const struct rd_fabric_latch *const *)a;
	const struct rd_fabric_latch *y = *(const struct rd_fabric_latch *const *)b;

	return RD_FIRST(RD_CMP(y->severity, x->severity), RD_CMP(y->current, x->current),
			x->current ? 0 : RD_CMP(y->looks.last_ns, x->looks.last_ns), RD_CMP(x->rank, y->rank),
			compare_keys(x, y));
}

const struct rd_fabric_latch **rd_fabric_latches_ranked(const struct rd_fabric_latches *latches)
{
	const struct rd_fabric_latch **ranked = rd_alloc(latches->n + 1, sizeof(*ranked));

	for (size_t i = 0; i < latches->n; i++)
		ranked[i] = &latches->v[i];
	qsort(ranked, latches->n, sizeof(*ranked), compare_harm);
	return ranked;
}

size_t rd_fabric_latches_count(const struct rd_fabric_latches *latches, enum rd_severity severity, bool current)
{
	size_t n = 0;

	for (size_t i = 0; i < latches->n; i++)
		n += latches->v[i].severity == severity && latches->v[i].current == current && !latches->v[i].cleared;
	return n;
}
