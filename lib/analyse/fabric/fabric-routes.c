/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/fabric/fabric-routes.h"

#include <inttypes.h>

#include "analyse/fabric/fabric-names.h"
#include "base/buf.h"
#include "base/memory.h"
#include "base/text.h"

#define NAMED_MAX 5 /* switches with the same kind of fault */

/* What fails first at a switch. */
struct fault {
	uint64_t pairs, lids;
	size_t source, to; /* an example: indices of ports */
	uint16_t lid;
};

struct job {
	const struct rd_fabric *fabric;
	const struct rd_routes *routes;
	struct rd_routes_verdict *verdict;
	size_t *sources; /* per node: index of a port that sends from this switch; RD_NONE */
	uint32_t *n_sources;
	size_t *leaves; /* nodes that have sources */
	size_t n_leaves;
	/* Per node, for the current LID: whether it was followed, what comes of it, and where. */
	uint16_t *followed;
	uint8_t *end;
	uint32_t *culprit;
	uint16_t *counted[RD_ROUTE_ENDS]; /* per culprit: the LID that was counted last */
	struct fault *faults[RD_ROUTE_ENDS];
	uint32_t *chain; /* nodes of the walk that is in progress */
};

/* A port of an adapter or router that takes part: its link is ready for data, at a switch. */
static bool takes_part(const struct rd_fabric *fabric, const struct rd_fabric_port *port)
{
	return fabric->nodes[port->node].kind != RD_NODE_SWITCH && port->presence != RD_PORT_GONE && port->lid &&
	       port->state == RD_LINK_ACTIVE && port->peer != RD_NONE &&
	       fabric->nodes[fabric->ports[port->peer].node].kind == RD_NODE_SWITCH;
}

static void find_sources(struct job *job)
{
	const struct rd_fabric *fabric = job->fabric;

	for (size_t i = 0; i < fabric->n_nodes; i++)
		job->sources[i] = RD_NONE;
	for (size_t i = 0; i < fabric->n_ports; i++) {
		size_t leaf;

		if (!takes_part(fabric, &fabric->ports[i]))
			continue;
		leaf = fabric->ports[fabric->ports[i].peer].node;
		if (job->sources[leaf] == RD_NONE) {
			job->sources[leaf] = i;
			job->leaves[job->n_leaves++] = leaf;
		}
		job->n_sources[leaf]++;
		job->verdict->sources++;
	}
}

/* Follows the route from a switch until its end is known; every switch on the way then has the same end. A loop is attributed to
 * its switch with the lowest index, so that every source counts it there. */
static void follow(struct job *job, size_t leaf, size_t to, uint16_t lid)
{
	size_t n = 0, at = leaf, in = RD_NONE, culprit;
	enum rd_route_end end;

	for (;;) {
		struct rd_route_step step;

		if (job->followed[at] == lid) {
			end = job->end[at];
			culprit = job->culprit[at];
			break;
		}
		step = rd_route_step(job->fabric, job->routes, at, in, to, lid);
		if (job->fabric->nodes[at].kind == RD_NODE_SWITCH) {
			job->followed[at] = lid;
			job->end[at] = RD_ROUTE_CONTINUES;
			job->chain[n++] = (uint32_t)at;
		}
		culprit = at;
		end = step.end;
		if (step.end != RD_ROUTE_CONTINUES) {
			/* It strayed at the last switch. */
			if (end == RD_ROUTE_ASTRAY && n)
				culprit = job->chain[n - 1];
			break;
		}
		in = step.next;
		at = job->fabric->ports[in].node;
	}
	if (end == RD_ROUTE_CONTINUES) {
		end = RD_ROUTE_LOOPS;
		culprit = at;
		for (size_t i = n; i-- > 0 && job->chain[i] != at;)
			culprit = job->chain[i] < culprit ? job->chain[i] : culprit;
	}
	for (size_t i = 0; i < n; i++) {
		job->end[job->chain[i]] = (uint8_t)end;
		job->culprit[job->chain[i]] = (uint32_t)culprit;
	}
}

static void count_fault(struct job *job, size_t leaf, size_t to, uint16_t lid, uint64_t pairs)
{
	enum rd_route_end end = job->end[leaf];
	size_t culprit = job->culprit[leaf];
	struct fault *fault;

	if (!job->faults[end]) {
		job->faults[end] = rd_alloc(job->fabric->n_nodes + 1, sizeof(struct fault));
		job->counted[end] = rd_alloc(job->fabric->n_nodes + 1, sizeof(uint16_t));
	}
	fault = &job->faults[end][culprit];
	if (job->counted[end][culprit] != lid) {
		job->counted[end][culprit] = lid;
		fault->lids++;
	}
	if (!fault->pairs) {
		fault->source = job->sources[leaf];
		fault->to = to;
		fault->lid = lid;
	}
	fault->pairs += pairs;
}

static void follow_to(struct job *job, size_t to, uint16_t lid)
{
	size_t own_leaf = job->fabric->ports[job->fabric->ports[to].peer].node;

	job->verdict->destinations++;
	for (size_t i = 0; i < job->n_leaves; i++) {
		size_t leaf = job->leaves[i];
		uint64_t pairs = job->n_sources[leaf] - (leaf == own_leaf);

		if (!pairs)
			continue;
		follow(job, leaf, to, lid);
		job->verdict->pairs += pairs;
		job->verdict->by_end[job->end[leaf]] += pairs;
		if (job->end[leaf] != RD_ROUTE_ARRIVES)
			count_fault(job, leaf, to, lid, pairs);
	}
}

/* `others`: number of switches with the same kind of fault that are not reported. */
static void report_fault(const struct job *job, enum rd_route_end end, size_t culprit, size_t others,
			 struct rd_findings *findings)
{
	const struct fault *fault = &job->faults[end][culprit];
	const struct rd_fabric *fabric = job->fabric;
	struct rd_findings one = { 0 };
	struct rd_path path;
	_cleanup_free_ char *count = NULL, *more = NULL;
	char *observed;

	rd_path_find(fabric, job->routes, fault->source, fault->to, fault->lid, &path);
	rd_path_judge(fabric, &path, &one);
	rd_path_deinit(&path);
	if (one.n == 0)
		return;
	count = rd_text("%" PRIu64 " LID%s, %" PRIu64 " of %" PRIu64 " pairs of adapters", fault->lids,
			fault->lids == 1 ? "" : "s", fault->pairs, job->verdict->pairs);
	more = others ? rd_text("; %zu more switch%s", others, others == 1 ? "" : "es") : rd_dup("");
	if (fault->lids == 1)
		observed = rd_text("%s; %s%s", one.v[0].observed, count, more);
	else
		observed = rd_text("%s; for example %s%s", count, one.v[0].observed, more);
	free(one.v[0].subject);
	one.v[0].subject = rd_dup(rd_fabric_name(&fabric->nodes[culprit]));
	free(one.v[0].observed);
	one.v[0].observed = observed;
	rd_finding_copy(findings, &one.v[0]);
	rd_findings_deinit(&one);
}

/* Those with the most pairs of a kind, one if the kind is unknown; the last has the number of the others. */
static void report_kind(const struct job *job, enum rd_route_end end, struct rd_findings *findings)
{
	const struct fault *faults = job->faults[end];
	size_t worst[NAMED_MAX], n = 0, most = end == RD_ROUTE_UNKNOWN ? 1 : NAMED_MAX, shown;

	for (size_t i = 0; i < job->fabric->n_nodes; i++) {
		size_t at = n < most ? n : most;

		if (!faults[i].pairs)
			continue;
		n++;
		for (; at > 0 && faults[worst[at - 1]].pairs < faults[i].pairs; at--)
			if (at < most)
				worst[at] = worst[at - 1];
		if (at < most)
			worst[at] = i;
	}
	shown = n < most ? n : most;
	for (size_t i = 0; i < shown; i++)
		report_fault(job, end, worst[i], i + 1 == shown ? n - shown : 0, findings);
}

void rd_routes_judge(const struct rd_fabric *fabric, const struct rd_routes *routes, struct rd_routes_verdict *verdict,
		     struct rd_findings *findings)
{
	struct job job = { .fabric = fabric, .routes = routes, .verdict = verdict };
	size_t n = fabric->n_nodes + 1;

	*verdict = (struct rd_routes_verdict){ 0 };
	job.sources = rd_alloc(n, sizeof(*job.sources));
	job.n_sources = rd_alloc(n, sizeof(*job.n_sources));
	job.leaves = rd_alloc(n, sizeof(*job.leaves));
	job.followed = rd_alloc(n, sizeof(*job.followed));
	job.end = rd_alloc(n, sizeof(*job.end));
	job.culprit = rd_alloc(n, sizeof(*job.culprit));
	job.chain = rd_alloc(n, sizeof(*job.chain));
	find_sources(&job);
	for (size_t lid = 1; lid <= RD_LID_MAX; lid++)
		if (routes->owners[lid] != RD_NONE && takes_part(fabric, &fabric->ports[routes->owners[lid]]))
			follow_to(&job, routes->owners[lid], (uint16_t)lid);
	for (int end = 0; end < RD_ROUTE_ENDS; end++)
		if (job.faults[end])
			report_kind(&job, (enum rd_route_end)end, findings);
	rd_routes_balance(fabric, routes, verdict, findings);
	RD_FREE(job.sources, job.n_sources, job.leaves, job.followed, job.end, job.culprit, job.chain);
	for (int end = 0; end < RD_ROUTE_ENDS; end++)
		RD_FREE(job.counted[end], job.faults[end]);
}

void rd_routes_verdict_deinit(struct rd_routes_verdict *verdict)
{
	free(verdict->groups);
	*verdict = (struct rd_routes_verdict){ 0 };
}
