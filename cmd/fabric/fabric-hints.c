/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric: when to discover the network again. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "analyse/fabric/fabric-update.h"
#include "base/memory.h"
#include "fabric.h"
#include "model/fabric/fabric.h"

/* A walk after a hint, or after one that was incomplete. Each that found no change doubles the time until the next. */
#define WALK_SOON_NS UINT64_C(5000000000)
#define WALK_HINT_MAX_NS UINT64_C(60000000000)
/* Without a hint. A link that comes up, goes down or is exchanged leaves a trace in what every sweep reads; what does not, such as a
 * node that was renamed, can wait. Each walk costs several queries per port. */
#define WALK_LATE_NS UINT64_C(600000000000)
/* opensm itself is active at least every 10 seconds, its default sweep interval. */
#define SM_CHECK_NS UINT64_C(10000000000)
/* A subnet manager that responded before may be restarting: it is then checked more often, and reported as silent only after so many
 * checks. */
#define SM_CHECK_SILENT_NS UINT64_C(2000000000)
#define SM_SILENCES 5
/* The subnet manager may have changed routes. */
#define TRACE_NS UINT64_C(10000000000)
#define RECENT_NS UINT64_C(1000000000)

static bool has_moved(const struct rd_fabric *fabric, const struct rd_fabric_port *port, size_t counter)
{
	uint64_t delta;
	double seconds;

	return rd_fabric_delta(fabric, port, counter, &delta, &seconds) && delta > 0;
}

/* A link went down since the previous sweep, or a port whose link was down passes packets. */
static bool has_link_changed(const struct rd_fabric *fabric, const struct rd_fabric_port *port)
{
	if (!port->fresh || port->presence == RD_PORT_GONE)
		return false;
	if (has_moved(fabric, port, RD_C_LINK_DOWNED))
		return true;
	return port->number > 0 && port->peer == RD_NONE && port->state == RD_LINK_DOWN && !port->unread &&
	       (has_moved(fabric, port, RD_C_RCV_PKTS) || has_moved(fabric, port, RD_C_XMIT_PKTS));
}

/* The subnet manager stopped, moved, or is no longer the master: it may have changed LIDs and routes. */
static bool has_manager_changed(struct fabric_run *run)
{
	struct rd_sm_info now = { 0 }, *before = &run->sm;
	bool changed, first = run->sm_checked_ns == 0;
	uint64_t wait = run->sm_silences ? SM_CHECK_SILENT_NS : SM_CHECK_NS;

	if (strcmp(run->source->ops->name, "live") != 0 || !run->from.sm_lid ||
	    run->source->ops->now(run->source, CLOCK_MONOTONIC) - run->sm_checked_ns < wait)
		return false;
	run->sm_checked_ns = run->source->ops->now(run->source, CLOCK_MONOTONIC);
	if (rd_fabric_query_sm(run->mads, &run->limits, (uint16_t)run->from.sm_lid, &now, NULL) < 0)
		return false;
	run->sm_silences = now.known ? 0 : run->sm_silences + (first ? SM_SILENCES : 1);
	now.stalled = now.known && before->known && now.guid == before->guid && now.activity == before->activity;
	changed = before->known && (!now.known || now.guid != before->guid || now.state != before->state ||
				    (now.stalled && !before->stalled));
	if (changed)
		fabric_refresh_sm_lid(run);
	*before = now;
	return changed;
}

/* The routes of nodes that do not respond: when there are more or fewer of these, and from time to time. */
static void trace_silent(struct fabric_run *run)
{
	uint64_t now = run->source->ops->now(run->source, CLOCK_MONOTONIC);
	struct rd_sweep_limits limits = run->walk;
	size_t silent = 0;
	bool recent;

	for (size_t i = 0; i < run->fabric.n_ports; i++)
		silent += run->fabric.ports[i].selected && run->fabric.ports[i].error == ETIMEDOUT;
	if (silent == run->silent_ports && (!silent || now - run->traced_ns < TRACE_NS))
		return;
	/* A walk just before this sweep knows the LIDs, and so does one after the nodes became silent. */
	recent = now < run->discovered_ns + run->fabric.sweep.duration_ns + RECENT_NS;
	limits.retries = limits.retries > 1 ? 1 : limits.retries;
	run->silent_ports = silent;
	run->traced_ns = now;
	rd_fabric_trace_silent(run->mads, &limits, recent || !run->fabric.changed, &run->fabric, NULL);
}

void fabric_note_hints(struct fabric_run *run)
{
	struct rd_fabric *fabric = &run->fabric;

	trace_silent(run);
	if (strcmp(run->source->ops->name, "live") == 0 && run->sweeps > 0)
		rd_fabric_check_links(run->mads, &run->limits, fabric, NULL);
	run->changed |= has_manager_changed(run);
	run->changed |= fabric->changed;
	fabric->sm_silent = run->sm_silences >= SM_SILENCES;
	for (size_t i = 0; i < fabric->n_ports && !run->changed; i++)
		run->changed = has_link_changed(fabric, &fabric->ports[i]);
}

bool fabric_walk_is_due(const struct fabric_run *run)
{
	uint64_t wait = WALK_LATE_NS;

	if (run->changed)
		wait = run->walk_wait_ns < WALK_HINT_MAX_NS ? run->walk_wait_ns : WALK_HINT_MAX_NS;
	else if (run->incomplete)
		wait = run->walk_wait_ns < WALK_LATE_NS ? run->walk_wait_ns : WALK_LATE_NS;
	return run->source->ops->now(run->source, CLOCK_MONOTONIC) - run->discovered_ns >= wait;
}

void fabric_note_walk(struct fabric_run *run, bool hinted)
{
	const struct rd_fabric *fabric = &run->fabric;
	bool changed = false;
	size_t gone = 0;

	for (size_t i = 0; i < fabric->n_ports; i++) {
		enum rd_presence presence = fabric->ports[i].presence;

		gone += presence == RD_PORT_GONE;
		changed |= presence == RD_PORT_NEW || presence == RD_PORT_REPLACED || presence == RD_PORT_MOVED;
	}
	changed |= gone != run->gone;
	run->gone = gone;
	run->incomplete = rd_fabric_is_incomplete(fabric);
	if (changed || !hinted || !run->walk_wait_ns)
		run->walk_wait_ns = WALK_SOON_NS;
	else if (run->walk_wait_ns < WALK_LATE_NS)
		run->walk_wait_ns *= 2;
}
