/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the counters of all selected ports of a network. */
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
#define STATUS_NO_METHOD 2    /* method not supported */
#define STATUS_NO_ATTRIBUTE 3 /* method and attribute combination not supported */
#define LIDS ((size_t)IB_MAX_UCAST_LID + 1)

/* The subject of a query. */
struct query_info {
	enum { QUERY_CAPABILITY, QUERY_COUNTERS, QUERY_NODE } what;
	size_t port;	  /* index; for the other kinds: the first port of the LID */
	size_t attribute; /* QUERY_COUNTERS */
};

/* Responses of a port, collected during a sweep. */
struct port_result {
	struct rd_pma_value *values; /* owned */
	unsigned queried, responded;
	int error;
	unsigned status, attribute;
	uint64_t at_ns;
};

struct sweep_job {
	struct rd_fabric *fabric;
	bool verify;
	struct rd_sweep_query *queries;
	struct query_info *info;
	size_t n, cap, cap_info, n_lids, n_groups;
	struct port_result *results; /* per port of the fabric */
	uint32_t *ports;	     /* indices of the ports to query, sorted by LID */
	size_t n_ports;
	bool *wrong_node; /* per LID: responded with a different node GUID */
	bool *silent;	  /* per LID: no response so far */
	bool failed;
};

static struct rd_fabric_node *node_of(struct sweep_job *job, size_t port)
{
	return &job->fabric->nodes[job->fabric->ports[port].node];
}

/* An attribute that a node need not support, and has not returned so far. */
static bool is_optional(const struct rd_fabric_node *node, const struct query_info *info)
{
	unsigned id = rd_pma_attributes[info->attribute].id;

	return info->what == QUERY_COUNTERS && id != IB_GSI_PORT_COUNTERS && id != IB_GSI_PORT_COUNTERS_EXT &&
	       !(node->responded >> info->attribute & 1);
}

static void add_query(struct sweep_job *job, const struct query_info *info, uint8_t mad_class, uint16_t attribute,
		      size_t group)
{
	const struct rd_fabric_port *port = &job->fabric->ports[info->port];

	if (rd_grow(&job->queries, &job->cap, job->n + 1, sizeof(*job->queries)) < 0 ||
	    rd_grow(&job->info, &job->cap_info, job->n + 1, sizeof(*job->info)) < 0) {
		job->failed = true;
		return;
	}
	job->queries[job->n] = (struct rd_sweep_query){
		.dest.lid = port->lid,
		.mad_class = mad_class,
		.port_select = (uint8_t)port->number,
		.optional = is_optional(node_of(job, info->port), info),
		.attribute = attribute,
		.lid = job->n_lids - 1,
		.group = group,
	};
	job->info[job->n++] = *info;
}

static void add_port_queries(struct sweep_job *job, size_t port)
{
	size_t group = job->n_groups++;

	for (size_t i = 0; i < rd_pma_n_attributes; i++)
		if (job->fabric->attributes >> i & 1)
			add_query(job, &(struct query_info){ QUERY_COUNTERS, port, i }, CLASS_PM,
				  rd_pma_attributes[i].id, group);
}

/* The queries of one LID: ClassPortInfo if unknown, the counters of its ports and, with `verify`, NodeInfo. */
static void add_lid_queries(struct sweep_job *job, const uint32_t *ports, size_t n)
{
	job->n_lids++;
	if (node_of(job, ports[0])->capability.known != RD_OK)
		add_query(job, &(struct query_info){ QUERY_CAPABILITY, ports[0], 0 }, CLASS_PM, RD_PMA_CLASS_PORT_INFO,
			  job->n_groups++);
	for (size_t i = 0; i < n; i++)
		add_port_queries(job, ports[i]);
	if (job->verify)
		add_query(job, &(struct query_info){ QUERY_NODE, ports[0], 0 }, CLASS_SMI, ATTR_NODE_INFO,
			  job->n_groups++);
}

/* Counting sort of the ports by LID, stable. */
static int sort_by_lid(struct sweep_job *job)
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

/* Adds the queries of LIDs that timed out in the previous sweep, or of the others. Those that timed out are added last, so that
 * they do not delay the others. */
static void add_queries(struct sweep_job *job, bool timed_out)
{
	const struct rd_fabric_port *ports = job->fabric->ports;

	for (size_t i = 0, n; i < job->n_ports; i += n) {
		const struct rd_fabric_port *port = &ports[job->ports[i]];

		for (n = 1; i + n < job->n_ports && ports[job->ports[i + n]].lid == port->lid; n++)
			;
		if ((port->error == ETIMEDOUT) == timed_out)
			add_lid_queries(job, &job->ports[i], n);
	}
}

static bool is_needed(void *arg, size_t query)
{
	struct sweep_job *job = arg;
	const struct query_info *info = &job->info[query];

	return info->what != QUERY_COUNTERS || rd_pma_has(node_of(job, info->port), info->attribute);
}

static void take_counters(struct sweep_job *job, size_t lid, const struct query_info *info,
			  const struct rd_sweep_result *result)
{
	struct rd_fabric_node *node = node_of(job, info->port);
	struct port_result *collected = &job->results[info->port];

	if (result->error == ENODATA)
		return;
	if ((result->error == EREMOTEIO && (STATUS_CODE(result->mad_status) == STATUS_NO_ATTRIBUTE ||
					    STATUS_CODE(result->mad_status) == STATUS_NO_METHOD)) ||
	    (result->error == ETIMEDOUT && !job->silent[lid] && is_optional(node, info))) {
		node->unsupported |= UINT64_C(1) << info->attribute;
		return;
	}
	collected->queried++;
	/* The first error is reported. */
	if (result->error && (!collected->error || collected->error == EHOSTDOWN)) {
		collected->error = result->error;
		collected->status = result->mad_status;
		collected->attribute = rd_pma_attributes[info->attribute].id;
	}
	if (result->error)
		return;
	if (!collected->values)
		collected->values = calloc(job->fabric->n_values, sizeof(*collected->values));
	if (!collected->values) {
		job->failed = true;
		return;
	}
	rd_pma_decode(info->attribute, result->mad, node, collected->values, job->fabric->n_values);
	node->responded |= UINT64_C(1) << info->attribute;
	collected->responded++;
	collected->at_ns = result->at_ns;
}

static void check_node_guid(struct sweep_job *job, size_t lid, const struct query_info *info,
			    const struct rd_sweep_result *result)
{
	uint8_t node_info[IB_SMP_DATA_SIZE];

	/* An M_Key can prevent NodeInfo queries: then the LID is assumed to be unchanged. */
	if (result->error)
		return;
	memcpy(node_info, result->mad + SMP_DATA_AT, sizeof(node_info));
	if (rd_libibmad.mad_get_field64(node_info, 0, IB_NODE_GUID_F) != node_of(job, info->port)->guid)
		job->wrong_node[lid] = true;
}

static bool handle_result(void *arg, const struct rd_sweep_result *result)
{
	struct sweep_job *job = arg;
	const struct query_info *info = &job->info[result->query];
	size_t lid = job->queries[result->query].lid;

	if (result->error == 0 || result->error == EREMOTEIO || result->error == EBADMSG)
		job->silent[lid] = false;
	if (info->what == QUERY_COUNTERS)
		take_counters(job, lid, info, result);
	else if (info->what == QUERY_NODE)
		check_node_guid(job, lid, info, result);
	else if (result->error == 0)
		rd_pma_class_port_info(result->mad, node_of(job, info->port));
	else if (result->error != EREMOTEIO && !job->results[info->port].error)
		job->results[info->port].error = result->error;
	return true;
}

static void store_values(struct rd_fabric_port *port, struct port_result *collected)
{
	if (collected->error == 0 && collected->responded) {
		free(port->before);
		port->before = port->values;
		port->before_ns = port->read_ns;
		port->values = RD_TAKE(collected->values);
		port->read_ns = collected->at_ns;
		port->fresh = true;
	} else if (!port->values && collected->values) {
		/* A partial reading, if there was none before: not fresh, and the rest stays unknown. */
		port->values = RD_TAKE(collected->values);
		port->read_ns = collected->at_ns;
	}
}

/* Takes the collected responses over into the ports. */
static void update_ports(struct sweep_job *job)
{
	struct rd_fabric *fabric = job->fabric;
	size_t last = RD_NONE;

	fabric->changed = false;
	for (size_t i = 0; i < fabric->n_ports; i++)
		fabric->ports[i].fresh = false;
	for (size_t i = 0; i < job->n; i++) {
		const struct query_info *info = &job->info[i];
		struct rd_fabric_port *port = &fabric->ports[info->port];
		struct port_result *collected = &job->results[info->port];
		size_t lid = job->queries[i].lid;
		bool was_silent = port->silent; /* a timeout of one query does not make it silent */

		if (info->what != QUERY_COUNTERS || info->port == last)
			continue;
		last = info->port;
		if (job->wrong_node[lid]) {
			collected->error = ESTALE;
		} else if (job->silent[lid]) {
			collected->error = collected->error && collected->error != EHOSTDOWN ? collected->error :
											       ETIMEDOUT;
			/* Attributes that timed out may be supported: the agent may have stopped responding meanwhile. */
			fabric->nodes[port->node].unsupported = 0;
		} else if (!collected->error && !collected->responded) {
			collected->error = ENODATA;
		}
		port->error = collected->error;
		port->error_status = collected->error == EREMOTEIO ? (int)collected->status : 0;
		port->error_attribute = collected->error ? collected->attribute : 0;
		port->silent = job->silent[lid];
		fabric->changed |= job->wrong_node[lid] || (port->silent && !was_silent);
		if (!job->wrong_node[lid])
			store_values(port, collected);
	}
}

static void job_deinit(struct sweep_job *job)
{
	for (size_t i = 0; job->results && i < job->fabric->n_ports; i++)
		free(job->results[i].values);
	free(job->results);
	free(job->queries);
	free(job->info);
	free(job->ports);
	free(job->wrong_node);
	free(job->silent);
}

static int prepare(struct sweep_job *job)
{
	int r = sort_by_lid(job);

	if (r < 0)
		return r;
	add_queries(job, false);
	add_queries(job, true);
	job->results = calloc(job->fabric->n_ports + 1, sizeof(*job->results));
	job->wrong_node = calloc(job->n_lids + 1, sizeof(*job->wrong_node));
	job->silent = malloc(job->n_lids + 1);
	if (job->failed || !job->results || !job->wrong_node || !job->silent)
		return -ENOMEM;
	memset(job->silent, true, job->n_lids + 1);
	return 0;
}

int rd_fabric_sweep(struct rd_mads *mads, const struct rd_sweep_limits *limits, bool verify, struct rd_fabric *fabric,
		    struct rd_err *err)
{
	_cleanup_(job_deinit) struct sweep_job job = { .fabric = fabric, .verify = verify };
	struct rd_sweep_callbacks callbacks = { .needed = is_needed, .done = handle_result, .arg = &job };
	int r = prepare(&job);

	if (r < 0)
		return rd_err_set(err, ENOMEM, "sweep", "no memory to query %zu ports", fabric->n_ports);
	r = rd_sweep_run(mads, limits, job.queries, job.n, job.n_lids, &callbacks, &fabric->sweep, err);
	if (job.failed)
		return rd_err_set(err, ENOMEM, "sweep", "no memory for the responses of %zu ports", fabric->n_ports);
	update_ports(&job);
	fabric->swept_ns = mads->ops->now(mads);
	return r;
}

struct tick_queries {
	struct rd_fabric *fabric;
	size_t *nodes; /* per query: index of its node */
};

static bool take_tick(void *arg, const struct rd_sweep_result *result)
{
	struct tick_queries *sent = arg;
	uint8_t data[RD_PMA_DATA];

	if (result->error == 0) {
		memcpy(data, result->mad + SMP_DATA_AT, sizeof(data));
		RD_SET(sent->fabric->nodes[sent->nodes[result->query]].tick,
		       (uint8_t)rd_libibmad.mad_get_field(data, 0, IB_PSC_TICK_F));
	}
	return true;
}

int rd_fabric_query_ticks(struct rd_mads *mads, const struct rd_sweep_limits *limits, struct rd_fabric *fabric,
			  struct rd_err *err)
{
	_cleanup_free_ struct rd_sweep_query *queries = calloc(fabric->n_nodes + 1, sizeof(*queries));
	_cleanup_free_ size_t *nodes = calloc(fabric->n_nodes + 1, sizeof(*nodes));
	struct tick_queries sent = { fabric, nodes };
	struct rd_sweep_callbacks callbacks = { .done = take_tick, .arg = &sent };
	struct rd_sweep_limits once = *limits;
	struct rd_sweep_stats stats;
	size_t n = 0;

	if (!queries || !nodes)
		return rd_err_set(err, ENOMEM, "PortXmitWait ticks", "no memory to query %zu nodes", fabric->n_nodes);
	once.retries = 0;
	for (size_t i = 0; i < fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &fabric->ports[i];

		if (!port->selected || fabric->nodes[port->node].kind != RD_NODE_SWITCH || port->error == ETIMEDOUT ||
		    (n && nodes[n - 1] == port->node))
			continue;
		queries[n] = (struct rd_sweep_query){
			.dest.lid = port->lid,
			.mad_class = CLASS_PM,
			.port_select = (uint8_t)port->number,
			.attribute = IB_GSI_PORT_SAMPLES_CONTROL,
			.lid = n,
			.group = n,
		};
		nodes[n++] = port->node;
	}
	return rd_sweep_run(mads, &once, queries, n, n, &callbacks, &stats, err);
}
