/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sweep over the ports of a network, and what it says about each. */
#include "collect/fabric/fabric.h"
#include "collect/fabric/pma.h"
#include "source/shared/libibmad.h"

#include <errno.h>
#include <string.h>

#define CLASS_SMI 0x01
#define CLASS_PM 0x04
#define ATTR_NODE_INFO 0x0011
#define SMP_DATA_AT 64
#define STATUS_CODE(status) ((status) >> 2 & 7)
#define STATUS_NO_METHOD 2    /* the agent lacks the method … */
#define STATUS_NO_ATTRIBUTE 3 /* … or the attribute */
#define LIDS ((size_t)IB_MAX_UCAST_LID + 1)

/* What a question is about. */
struct about {
	enum { ABOUT_CAPABILITY, ABOUT_COUNTERS, ABOUT_NODE } what;
	size_t port;	  /* one of those behind the LID */
	size_t attribute; /* ABOUT_COUNTERS */
};

/* What a sweep has heard of a port so far. */
struct heard {
	struct rd_pma_value *values; /* owned */
	unsigned asked, answered;
	int error;
	unsigned status, attribute;
	uint64_t at_ns;
};

struct job {
	struct rd_fabric *fabric;
	bool verify;
	struct rd_sweep_ask *asks;
	struct about *about;
	size_t n, cap, cap_about, n_lids, n_groups;
	struct heard *heard; /* one a port */
	uint32_t *ports;     /* those to ask, by LID */
	size_t n_ports;
	bool *other;  /* of a LID that answers for another node */
	bool *silent; /* of a LID of which nothing was heard */
	bool failed;
};

static struct rd_fabric_node *node_of(struct job *job, size_t port)
{
	return &job->fabric->nodes[job->fabric->ports[port].node];
}

/* What a node need not know, and was never heard to. */
static bool optional(const struct rd_fabric_node *node, const struct about *about)
{
	unsigned id = rd_pma_attributes[about->attribute].id;

	return about->what == ABOUT_COUNTERS && id != IB_GSI_PORT_COUNTERS && id != IB_GSI_PORT_COUNTERS_EXT &&
	       !(node->having >> about->attribute & 1);
}

static void add(struct job *job, const struct about *about, uint8_t mad_class, uint16_t attribute, size_t group)
{
	const struct rd_fabric_port *port = &job->fabric->ports[about->port];

	if (rd_grow(&job->asks, &job->cap, job->n + 1, sizeof(*job->asks)) < 0 ||
	    rd_grow(&job->about, &job->cap_about, job->n + 1, sizeof(*job->about)) < 0) {
		job->failed = true;
		return;
	}
	job->asks[job->n] = (struct rd_sweep_ask){
		.dest.lid = port->lid,
		.mad_class = mad_class,
		.port_select = (uint8_t)port->number,
		.optional = optional(node_of(job, about->port), about),
		.attribute = attribute,
		.lid = job->n_lids - 1,
		.group = group,
	};
	job->about[job->n++] = *about;
}

static void add_port(struct job *job, size_t port)
{
	size_t group = job->n_groups++;

	for (size_t i = 0; i < rd_pma_n_attributes; i++)
		if (job->fabric->asked >> i & 1)
			add(job, &(struct about){ ABOUT_COUNTERS, port, i }, CLASS_PM, rd_pma_attributes[i].id, group);
}

/* The ports of one LID: what its agent can, its counters, who it is. */
static void add_lid(struct job *job, const uint32_t *ports, size_t n)
{
	job->n_lids++;
	if (node_of(job, ports[0])->capability.known != RD_OK)
		add(job, &(struct about){ ABOUT_CAPABILITY, ports[0], 0 }, CLASS_PM, RD_PMA_CLASS_PORT_INFO,
		    job->n_groups++);
	for (size_t i = 0; i < n; i++)
		add_port(job, ports[i]);
	if (job->verify)
		add(job, &(struct about){ ABOUT_NODE, ports[0], 0 }, CLASS_SMI, ATTR_NODE_INFO, job->n_groups++);
}

/* Ports by LID, those of a LID in their order: counting, then placing. */
static int sort_by_lid(struct job *job)
{
	const struct rd_fabric *fabric = job->fabric;
	_cleanup_free_ uint32_t *first = calloc(LIDS + 1, sizeof(*first));

	job->ports = calloc(fabric->n_ports + 1, sizeof(*job->ports));
	if (!first || !job->ports)
		return -ENOMEM;
	for (size_t i = 0; i < fabric->n_ports; i++)
		if (fabric->ports[i].selected && fabric->ports[i].presence != RD_PORT_GONE) {
			first[fabric->ports[i].lid + 1]++;
			job->n_ports++;
		}
	for (size_t i = 0; i < LIDS; i++)
		first[i + 1] += first[i];
	for (size_t i = 0; i < fabric->n_ports; i++)
		if (fabric->ports[i].selected && fabric->ports[i].presence != RD_PORT_GONE)
			job->ports[first[fabric->ports[i].lid]++] = (uint32_t)i;
	return 0;
}

/* Agents that were silent in the sweep before come last: they hold up nobody. */
static void plan(struct job *job, bool silent)
{
	const struct rd_fabric_port *ports = job->fabric->ports;

	for (size_t i = 0, n; i < job->n_ports; i += n) {
		const struct rd_fabric_port *port = &ports[job->ports[i]];

		for (n = 1; i + n < job->n_ports && ports[job->ports[i + n]].lid == port->lid; n++)
			;
		if ((port->error == ETIMEDOUT) == silent)
			add_lid(job, &job->ports[i], n);
	}
}

static bool want(void *arg, size_t ask)
{
	struct job *job = arg;
	const struct about *about = &job->about[ask];

	return about->what != ABOUT_COUNTERS || rd_pma_has(node_of(job, about->port), about->attribute);
}

static void hear_counters(struct job *job, size_t lid, const struct about *about, const struct rd_sweep_answer *answer)
{
	struct rd_fabric_node *node = node_of(job, about->port);
	struct heard *heard = &job->heard[about->port];

	if (answer->error == ENODATA)
		return;
	if ((answer->error == EREMOTEIO && (STATUS_CODE(answer->mad_status) == STATUS_NO_ATTRIBUTE ||
					    STATUS_CODE(answer->mad_status) == STATUS_NO_METHOD)) ||
	    (answer->error == ETIMEDOUT && !job->silent[lid] && optional(node, about))) {
		node->lacking |= UINT64_C(1) << about->attribute;
		return;
	}
	heard->asked++;
	/* Of several errors the first is the reason. */
	if (answer->error && (!heard->error || heard->error == EHOSTDOWN)) {
		heard->error = answer->error;
		heard->status = answer->mad_status;
		heard->attribute = rd_pma_attributes[about->attribute].id;
	}
	if (answer->error)
		return;
	if (!heard->values)
		heard->values = calloc(job->fabric->n_values, sizeof(*heard->values));
	if (!heard->values) {
		job->failed = true;
		return;
	}
	rd_pma_decode(about->attribute, answer->mad, node, heard->values, job->fabric->n_values);
	node->having |= UINT64_C(1) << about->attribute;
	heard->answered++;
	heard->at_ns = answer->at_ns;
}

static void hear_node(struct job *job, size_t lid, const struct about *about, const struct rd_sweep_answer *answer)
{
	uint8_t info[IB_SMP_DATA_SIZE];

	/* Subnet management can be kept from us by a key: then nobody vouches for the LID, as before. */
	if (answer->error)
		return;
	memcpy(info, answer->mad + SMP_DATA_AT, sizeof(info));
	if (rd_libibmad.mad_get_field64(info, 0, IB_NODE_GUID_F) != node_of(job, about->port)->guid)
		job->other[lid] = true;
}

static bool done(void *arg, const struct rd_sweep_answer *answer)
{
	struct job *job = arg;
	const struct about *about = &job->about[answer->ask];
	size_t lid = job->asks[answer->ask].lid;

	if (answer->error == 0 || answer->error == EREMOTEIO || answer->error == EBADMSG)
		job->silent[lid] = false;
	if (about->what == ABOUT_COUNTERS)
		hear_counters(job, lid, about, answer);
	else if (about->what == ABOUT_NODE)
		hear_node(job, lid, about, answer);
	else if (answer->error == 0)
		rd_pma_class_port_info(answer->mad, node_of(job, about->port));
	else if (answer->error != EREMOTEIO && !job->heard[about->port].error)
		job->heard[about->port].error = answer->error;
	return true;
}

static void keep(struct rd_fabric_port *port, struct heard *heard)
{
	if (heard->error == 0 && heard->answered) {
		free(port->before);
		port->before = port->values;
		port->before_ns = port->read_ns;
		port->values = RD_TAKE(heard->values);
		port->read_ns = heard->at_ns;
		port->fresh = true;
	} else if (!port->values && heard->values) {
		/* Part of it is better than nothing; it is not fresh, and the rest stays unknown. */
		port->values = RD_TAKE(heard->values);
		port->read_ns = heard->at_ns;
	}
}

/* What all ports of the LIDs have come to. */
static void conclude(struct job *job)
{
	struct rd_fabric *fabric = job->fabric;
	size_t last = RD_NONE;

	fabric->moved = false;
	for (size_t i = 0; i < fabric->n_ports; i++)
		fabric->ports[i].fresh = false;
	for (size_t i = 0; i < job->n; i++) {
		const struct about *about = &job->about[i];
		struct rd_fabric_port *port = &fabric->ports[about->port];
		struct heard *heard = &job->heard[about->port];
		size_t lid = job->asks[i].lid;
		bool was_silent = port->silent; /* one question without an answer is not yet silence */

		if (about->what != ABOUT_COUNTERS || about->port == last)
			continue;
		last = about->port;
		if (job->other[lid]) {
			heard->error = ESTALE;
		} else if (job->silent[lid]) {
			heard->error = heard->error && heard->error != EHOSTDOWN ? heard->error : ETIMEDOUT;
			/* It may have fallen silent while it was asked what it was then taken to lack. */
			fabric->nodes[port->node].lacking = 0;
		} else if (!heard->error && !heard->answered) {
			heard->error = ENODATA;
		}
		port->error = heard->error;
		port->error_status = heard->error == EREMOTEIO ? (int)heard->status : 0;
		port->error_attribute = heard->error ? heard->attribute : 0;
		port->silent = job->silent[lid];
		fabric->moved |= job->other[lid] || (port->silent && !was_silent);
		if (!job->other[lid])
			keep(port, heard);
	}
}

static void job_deinit(struct job *job)
{
	for (size_t i = 0; job->heard && i < job->fabric->n_ports; i++)
		free(job->heard[i].values);
	free(job->heard);
	free(job->asks);
	free(job->about);
	free(job->ports);
	free(job->other);
	free(job->silent);
}

static int prepare(struct job *job)
{
	int r = sort_by_lid(job);

	if (r < 0)
		return r;
	plan(job, false);
	plan(job, true);
	job->heard = calloc(job->fabric->n_ports + 1, sizeof(*job->heard));
	job->other = calloc(job->n_lids + 1, sizeof(*job->other));
	job->silent = malloc(job->n_lids + 1);
	if (job->failed || !job->heard || !job->other || !job->silent)
		return -ENOMEM;
	memset(job->silent, true, job->n_lids + 1);
	return 0;
}

int rd_fabric_sweep(struct rd_mads *mads, const struct rd_sweep_limits *limits, bool verify, struct rd_fabric *fabric,
		    struct rd_err *err)
{
	_cleanup_(job_deinit) struct job job = { .fabric = fabric, .verify = verify };
	struct rd_sweep_calls calls = { .want = want, .done = done, .arg = &job };
	int r = prepare(&job);

	if (r < 0)
		return rd_err_set(err, ENOMEM, "sweep", "no memory to ask %zu ports", fabric->n_ports);
	r = rd_sweep_run(mads, limits, job.asks, job.n, job.n_lids, &calls, &fabric->sweep, err);
	if (job.failed)
		return rd_err_set(err, ENOMEM, "sweep", "no memory for the answers of %zu ports", fabric->n_ports);
	conclude(&job);
	fabric->swept_ns = mads->ops->now(mads);
	return r;
}

struct ticks {
	struct rd_fabric *fabric;
	size_t *nodes; /* of each question */
};

static bool hear_tick(void *arg, const struct rd_sweep_answer *answer)
{
	struct ticks *ticks = arg;
	uint8_t data[RD_PMA_DATA];

	if (answer->error == 0) {
		memcpy(data, answer->mad + SMP_DATA_AT, sizeof(data));
		RD_SET(ticks->fabric->nodes[ticks->nodes[answer->ask]].tick,
		       (uint8_t)rd_libibmad.mad_get_field(data, 0, IB_PSC_TICK_F));
	}
	return true;
}

int rd_fabric_ask_ticks(struct rd_mads *mads, const struct rd_sweep_limits *limits, struct rd_fabric *fabric,
			struct rd_err *err)
{
	_cleanup_free_ struct rd_sweep_ask *asks = calloc(fabric->n_nodes + 1, sizeof(*asks));
	_cleanup_free_ size_t *nodes = calloc(fabric->n_nodes + 1, sizeof(*nodes));
	struct ticks ticks = { fabric, nodes };
	struct rd_sweep_calls calls = { .done = hear_tick, .arg = &ticks };
	struct rd_sweep_limits once = *limits;
	struct rd_sweep_stats stats;
	size_t n = 0;

	if (!asks || !nodes)
		return rd_err_set(err, ENOMEM, "ticks", "no memory to ask %zu nodes", fabric->n_nodes);
	once.retries = 0;
	for (size_t i = 0; i < fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &fabric->ports[i];

		if (!port->selected || fabric->nodes[port->node].kind != RD_NODE_SWITCH || port->error == ETIMEDOUT ||
		    (n && nodes[n - 1] == port->node))
			continue;
		asks[n] = (struct rd_sweep_ask){
			.dest.lid = port->lid,
			.mad_class = CLASS_PM,
			.port_select = (uint8_t)port->number,
			.attribute = IB_GSI_PORT_SAMPLES_CONTROL,
			.lid = n,
			.group = n,
		};
		nodes[n++] = port->node;
	}
	return rd_sweep_run(mads, &once, asks, n, n, &calls, &stats, err);
}
