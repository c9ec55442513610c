/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the counters of all selected ports of a network: performance attributes, which of them are needed, and the sweep. */

#include "collect/fabric/fabric.h"
#include "source/shared/libibmad.h"

/* ---- attributes */

#define RD_PMA_CLASS_PORT_INFO 0x0001
#define RD_PMA_RCV_ERROR_DETAILS 0x0015
#define RD_PMA_XMIT_DISCARD_DETAILS 0x0016
#define RD_PMA_ALL_PORTS 255 /* PortSelect */
#define RD_PMA_DATA 192	     /* bytes of data, after 64 bytes of headers */
#define DATA_AT 64

/* CapabilityMask and CapabilityMask2 of ClassPortInfo: InfiniBand Architecture Specification, volume 1, 16.1.3. */
#define CAP_ALL_PORT_SELECT (1u << 8)
#define CAP_EXTENDED_WIDTH (1u << 9)
#define CAP_EXTENDED_WIDTH_NO_IETF (1u << 10) /* without unicast and multicast packets */
#define CAP_XMIT_WAIT (1u << 12)
#define CAP_QP1_DROPPED (1u << 15)
#define CAP2_EXTENDED_ERRORS (1u << 1)

/* Counters that follow each other in rd_pma_counters and in libibmad's table of fields, and have the same width. */
struct field_run {
	uint16_t attribute;
	uint8_t bits, n;
	uint16_t counter;
	enum MAD_FIELDS field;
	unsigned cap, cap2; /* bits of CapabilityMask and CapabilityMask2 with which the fields are valid; 0: always */
};

static const struct field_run runs[] = {
	{ 0x12, 16, 1, RD_C_SYMBOL_ERROR, IB_PC_ERR_SYM_F },
	{ 0x12, 8, 2, RD_C_LINK_ERROR_RECOVERY, IB_PC_LINK_RECOVERS_F },
	{ 0x12, 16, 4, RD_C_RCV_ERRORS, IB_PC_ERR_RCV_F },
	{ 0x12, 8, 2, RD_C_XMIT_CONSTRAINT_ERRORS, IB_PC_ERR_XMTCONSTR_F },
	{ 0x12, 4, 2, RD_C_LOCAL_LINK_INTEGRITY_ERRORS, IB_PC_ERR_LOCALINTEG_F },
	{ 0x12, 16, 1, RD_C_VL15_DROPPED, IB_PC_VL15_DROPPED_F },
	{ 0x12, 16, 1, RD_C_QP1_DROPPED, IB_PC_QP1_DROP_F, CAP_QP1_DROPPED },
	{ 0x12, 32, 1, RD_C_XMIT_WAIT, IB_PC_XMT_WAIT_F, CAP_XMIT_WAIT },
	{ 0x12, 32, 4, RD_C_XMIT_DATA, IB_PC_XMT_BYTES_F },
	{ 0x1d, 64, 4, RD_C_XMIT_DATA, IB_PC_EXT_XMT_BYTES_F },
	{ 0x1d, 64, 4, RD_C_UNICAST_XMIT_PKTS, IB_PC_EXT_XMT_UPKTS_F, CAP_EXTENDED_WIDTH },
	{ 0x1d, 64, 12, RD_C_SYMBOL_ERROR, IB_PC_EXT_ERR_SYM_F, 0, CAP2_EXTENDED_ERRORS },
	{ 0x1d, 64, 1, RD_C_XMIT_WAIT, IB_PC_EXT_XMT_WAIT_F, 0, CAP2_EXTENDED_ERRORS },
	{ 0x1d, 64, 1, RD_C_QP1_DROPPED, IB_PC_EXT_QP1_DROP_F, 0, CAP2_EXTENDED_ERRORS },
	{ 0x15, 16, 6, RD_C_LOCAL_PHYSICAL_ERRORS, IB_PC_RCV_LOCAL_PHY_ERR_F },
	{ 0x16, 16, 4, RD_C_INACTIVE_DISCARDS, IB_PC_XMT_INACT_DISC_F },
	{ 0x17, 32, 2, RD_C_OP_RCV_PKTS, IB_PC_PORT_OP_RCV_PKTS_F },
	{ 0x18, 32, 2, RD_C_XMIT_FLOW_PKTS, IB_PC_PORT_XMIT_FLOW_PKTS_F },
	{ 0x19, 16, 16, RD_C_VL_OP_PACKETS_0, IB_PC_PORT_VL_OP_PACKETS0_F },
	{ 0x1a, 32, 16, RD_C_VL_OP_DATA_0, IB_PC_PORT_VL_OP_DATA0_F },
	{ 0x1b, 2, 16, RD_C_VL_XMIT_FLOW_CTL_UPDATE_ERRORS_0, IB_PC_PORT_VL_XMIT_FLOW_CTL_UPDATE_ERRORS0_F },
	{ 0x1c, 16, 16, RD_C_VL_XMIT_WAIT_0, IB_PC_PORT_VL_XMIT_WAIT0_F },
	{ 0x30, 16, 16, RD_C_SW_PORT_VL_CONGESTION_0, IB_PC_SW_PORT_VL_CONGESTION0_F },
	{ 0x31, 32, 2, RD_C_PKT_RCV_FECN, IB_PC_RCV_CON_CTRL_PKT_RCV_FECN_F },
	{ 0x32, 32, 16, RD_C_SL_RCV_FECN_0, IB_PC_SL_RCV_FECN0_F },
	{ 0x33, 32, 16, RD_C_SL_RCV_BECN_0, IB_PC_SL_RCV_BECN0_F },
	{ 0x34, 32, 1, RD_C_XMIT_TIME_CONG, IB_PC_XMIT_CON_CTRL_TIME_CONG_F },
	{ 0x35, 32, 15, RD_C_VL_XMIT_TIME_CONG_0, IB_PC_VL_XMIT_TIME_CONG0_F },
	{ 0x36, 32, 16, RD_C_XMIT_DATA_SL_0, IB_PC_XMT_DATA_SL0_F },
	{ 0x37, 32, 16, RD_C_RCV_DATA_SL_0, IB_PC_RCV_DATA_SL0_F },
};

static int unknown_subset(const char *word, size_t n, struct rd_err *err)
{
	char names[200] = "all";

	for (size_t i = 0; i < rd_pma_n_attributes; i++)
		if (!strstr(names, rd_pma_attributes[i].subset) &&
		    strlen(names) + strlen(rd_pma_attributes[i].subset) + 3 < sizeof(names))
			strcat(strcat(names, ", "), rd_pma_attributes[i].subset);
	rd_err_set(err, EINVAL, "--subsets", "unknown group of attributes '%.*s'", (int)(n < 40 ? n : 40), word);
	return rd_err_hint(err, "groups: %s", names);
}

int rd_pma_subsets(const char *list, uint64_t *ret, struct rd_err *err)
{
	uint64_t mask = 0;

	for (const char *word = list ? list : RD_PMA_DEFAULT_SUBSETS;; word++) {
		size_t n = strcspn(word, ",");
		uint64_t found = 0;

		for (size_t i = 0; i < rd_pma_n_attributes; i++) {
			const char *subset = rd_pma_attributes[i].subset;

			if ((strlen(subset) == n && strncmp(subset, word, n) == 0) ||
			    (n == 3 && strncmp(word, "all", 3) == 0))
				found |= UINT64_C(1) << i;
		}
		if (!found)
			return unknown_subset(word, n, err);
		mask |= found;
		word += n;
		if (!*word)
			break;
	}
	*ret = mask;
	return 0;
}

size_t rd_pma_n_values(uint64_t attributes)
{
	size_t n = 0;

	for (size_t i = 0; i < RD_ARRAY_SIZE(runs); i++) {
		size_t attribute = rd_pma_find_attribute(runs[i].attribute);

		if (attributes >> attribute & 1 && runs[i].counter + runs[i].n > n)
			n = runs[i].counter + runs[i].n;
	}
	return n;
}

/* Whether to query an attribute of a node: not if ClassPortInfo reports that it is unsupported, if the node rejected it before, or
 * if only switches have it and the node is not a switch. */
static bool pma_has(const struct rd_fabric_node *node, size_t attribute)
{
	unsigned id = rd_pma_attributes[attribute].id;

	if (node->unsupported >> attribute & 1)
		return false;
	if (id == IB_GSI_SW_PORT_VL_CONGESTION)
		return node->kind == RD_NODE_SWITCH;
	if (id == IB_GSI_PORT_COUNTERS_EXT && node->capability.known == RD_OK)
		return node->capability.v & (CAP_EXTENDED_WIDTH | CAP_EXTENDED_WIDTH_NO_IETF);
	return true;
}

static bool pma_extended_errors(const struct rd_fabric_node *node)
{
	return node->capability2.known == RD_OK && node->capability2.v & CAP2_EXTENDED_ERRORS &&
	       pma_has(node, rd_pma_find_attribute(IB_GSI_PORT_COUNTERS_EXT));
}

/* Whether ClassPortInfo reports that the fields are valid. */
static bool is_valid(const struct rd_fabric_node *node, const struct field_run *run)
{
	unsigned cap = node->capability.known == RD_OK ? node->capability.v : 0;
	unsigned cap2 = node->capability2.known == RD_OK ? node->capability2.v : 0;

	return (cap & run->cap) == run->cap && (cap2 & run->cap2) == run->cap2;
}

void rd_pma_decode(size_t attribute, const uint8_t *mad, const struct rd_fabric_node *node, struct rd_pma_value *values,
		   size_t n)
{
	unsigned id = rd_pma_attributes[attribute].id;
	for (size_t i = 0; i < RD_ARRAY_SIZE(runs); i++) {
		const struct field_run *run = &runs[i];

		if (run->attribute != id || !is_valid(node, run) || (size_t)run->counter + run->n > n)
			continue;
		for (unsigned k = 0; k < run->n; k++) {
			struct rd_pma_value *value = &values[run->counter + k];
			enum MAD_FIELDS field = run->field + k;

			if (value->bits > run->bits)
				continue;
			value->bits = run->bits;
			value->v = run->bits == 64 ? rd_mad_field64(mad + DATA_AT, field) :
						     rd_mad_field(mad + DATA_AT, field);
		}
	}
}

/* ---- need
 *
 * Which queries a sweep by need can leave out, and what is known without them.
 *
 * An agent with AllPortSelect returns, for PortSelect 255, each counter of PortCounters summed over its ports (InfiniBand
 * Architecture Specification, volume 1, 16.1.3.5). Counters are not negative and do not decrease unless they are cleared: if a sum
 * is 0, the counter of every port is 0; if it is the same as before and below its maximum, no port's counter has changed.
 */

/* Number of sums: up to the data and packet counters of PortCounters. */
#define RD_PMA_SUMS (RD_C_RCV_PKTS + 1)

static bool same(const struct rd_pma_value *a, const struct rd_pma_value *b)
{
	return a->bits && a->bits == b->bits && a->v == b->v && !rd_pma_saturated(a);
}

/*
 * Sets those of `values` (fabric->n_values) that follow from the sums of the port's node, and are unknown so far. Returns whether
 * one that is needed does not follow, so that the port must be read: an error or drop or, if fabric->traffic, PortXmitWait. Call it
 * before the sums are stored in the node.
 */
static bool need_conclude(const struct rd_fabric *fabric, const struct rd_fabric_port *port,
			  const struct rd_pma_value *sums, struct rd_pma_value *values)
{
	const struct rd_fabric_node *node = &fabric->nodes[port->node];
	bool read = false;

	for (size_t i = 0; i < RD_PMA_SUMS; i++) {
		bool unmoved = node->sums && port->fresh && port->values && same(&sums[i], &node->sums[i]);
		struct rd_pma_value value = { 0 };

		if (sums[i].bits == 0)
			continue;
		if (sums[i].v == 0)
			value.bits = pma_extended_errors(node) || rd_pma_counters[i].kind == RD_PMA_DATA ||
						     rd_pma_counters[i].kind == RD_PMA_PACKETS ?
					     64 :
					     sums[i].bits;
		else if (unmoved)
			value = port->values[i];
		if (values[i].bits == 0)
			values[i] = value;
		/* Notes, as PortRcvSwitchRelayErrors, which counts on healthy switches, are worth no query of their own. */
		read |= value.bits == 0 &&
			(rd_pma_is_fault(i) || (rd_pma_counters[i].kind == RD_PMA_WAIT && fabric->traffic));
	}
	return read;
}

/*
 * Whether to query PortRcvErrorDetails or PortXmitDiscardDetails (`attribute`: index into rd_pma_attributes): if the counter that
 * they divide is above 0, and has changed since they were read. If it has not, their previous values are copied. At 0 they are
 * unknown, not 0: both can be cleared separately.
 */
static bool need_details(const struct rd_fabric *fabric, const struct rd_fabric_port *port, size_t attribute,
			 struct rd_pma_value *values)
{
	size_t parent = rd_pma_attributes[attribute].id == RD_PMA_RCV_ERROR_DETAILS ? RD_C_RCV_ERRORS :
										      RD_C_XMIT_DISCARDS;
	bool unmoved = port->values && same(&values[parent], &port->values[parent]), known = unmoved;

	if (values[parent].bits == 0 || values[parent].v == 0)
		return false;
	for (size_t i = 0; i < fabric->n_values; i++)
		if (rd_pma_counters[i].attribute == attribute)
			known = known && port->values[i].bits;
	for (size_t i = 0; known && i < fabric->n_values; i++)
		if (rd_pma_counters[i].attribute == attribute)
			values[i] = port->values[i];
	return !known;
}

/* Whether the ports read one by one count more than their sum: then the agent does something else than adding. */
static bool need_contradicts(const struct rd_pma_value *sums, const uint64_t *added)
{
	for (size_t i = 0; i < RD_PMA_SUMS; i++)
		if (rd_pma_is_fault(i) && sums[i].bits && !rd_pma_saturated(&sums[i]) && added[i] > sums[i].v)
			return true;
	return false;
}

/* ---- the sweep */

#define CLASS_SMI 0x01
#define CLASS_PM 0x04
#define ATTR_NODE_INFO 0x0011
#define STATUS_CODE(status) ((status) >> 2 & 7)
#define STATUS_NO_METHOD 2    /* method not supported */
#define STATUS_NO_ATTRIBUTE 3 /* method and attribute combination not supported */
#define LIDS ((size_t)IB_MAX_UCAST_LID + 1)

/* The subject of a query. */
struct query_info {
	enum { QUERY_CAPABILITY, QUERY_SUMS, QUERY_COUNTERS, QUERY_NODE } what;
	size_t port;	  /* index; for the other kinds: the first port of the LID */
	size_t attribute; /* QUERY_COUNTERS */
};

/* Responses of a port, collected during a sweep. */
struct port_result {
	struct rd_pma_value *values; /* owned */
	unsigned responded;
	bool concluded; /* all that is needed of PortCounters follows from the sums of its node */
	int error;
	unsigned status, attribute;
	uint64_t at_ns;
	bool at_traffic; /* at_ns is the time of the attribute with the data counters */
};

/* An agent, and what is known of it during a sweep. */
struct lid {
	size_t first, n; /* its ports are job->ports[first] to [first + n - 1] */
	bool wrong_node; /* responded with a different node GUID */
	bool silent;	 /* no response so far */
	unsigned sent;	 /* MADs */
	unsigned responses;
	uint64_t fastest_ns, begun_ns, ended_ns;
	/* Bit I is for rd_pma_attributes[I]: responded; got no response to any try, once and twice. */
	uint64_t responded, silent_once, silent_twice;
	struct rd_pma_value *sums; /* RD_PMA_SUMS; owned, NULL: none */
	uint64_t sums_ns;
};

struct sweep_job {
	struct rd_fabric *fabric;
	bool verify;
	struct rd_sweep_query *queries;
	struct query_info *info;
	size_t n, cap, cap_info;
	struct lid *lids;
	size_t n_lids, cap_lids;
	struct port_result *results; /* per port of the fabric */
	uint32_t *ports;	     /* indices of the ports to query, sorted by LID */
	size_t n_ports;
};

static struct rd_fabric_node *node_of(struct sweep_job *job, size_t port)
{
	return &job->fabric->nodes[job->fabric->ports[port].node];
}

/* What an agent need not support: the sums, and an attribute that it has not returned so far. The first query is optional, too,
 * unless the agent was silent before: one that does not respond to ClassPortInfo may respond to others. */
static bool is_optional(const struct sweep_job *job, const struct query_info *info)
{
	const struct rd_fabric_port *port = &job->fabric->ports[info->port];
	unsigned id = rd_pma_attributes[info->attribute].id;

	if (info->what == QUERY_CAPABILITY)
		return !port->silent;
	if (info->what == QUERY_SUMS)
		return true;
	return info->what == QUERY_COUNTERS && id != IB_GSI_PORT_COUNTERS && id != IB_GSI_PORT_COUNTERS_EXT &&
	       !(job->fabric->nodes[port->node].responded >> info->attribute & 1);
}

static void add_query(struct sweep_job *job, const struct query_info *info, uint16_t attribute, bool after)
{
	const struct rd_fabric_port *port = &job->fabric->ports[info->port];

	rd_reserve(&job->queries, &job->cap, job->n + 1, sizeof(*job->queries));
	rd_reserve(&job->info, &job->cap_info, job->n + 1, sizeof(*job->info));
	job->queries[job->n] = (struct rd_sweep_query){
		.dest.lid = port->lid,
		.mad_class = info->what == QUERY_NODE ? CLASS_SMI : CLASS_PM,
		.port_select = info->what == QUERY_SUMS ? RD_PMA_ALL_PORTS : (uint8_t)port->number,
		.optional = is_optional(job, info),
		.after = after,
		.attribute = attribute,
		.lid = job->n_lids - 1,
	};
	job->info[job->n++] = *info;
}

static bool is_details(size_t attribute)
{
	unsigned id = rd_pma_attributes[attribute].id;

	return id == RD_PMA_RCV_ERROR_DETAILS || id == RD_PMA_XMIT_DISCARD_DETAILS;
}

/* Queries of the attributes of ports, port by port: the details, or the others. The first waits for all before, if the responses to
 * these determine whether it is needed. */
static void add_port_queries(struct sweep_job *job, const uint32_t *ports, size_t n, bool details)
{
	bool after = job->fabric->by_need;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < rd_pma_n_attributes; k++) {
			if (!(job->fabric->attributes >> k & 1) ||
			    (job->fabric->by_need ? is_details(k) != details : details))
				continue;
			add_query(job, &(struct query_info){ QUERY_COUNTERS, ports[i], k }, rd_pma_attributes[k].id,
				  after);
			after = false;
		}
}

/* The queries of one LID: ClassPortInfo if unknown, the sums over its ports, the counters of its ports and, with `verify`,
 * NodeInfo. */
static void add_lid_queries(struct sweep_job *job, size_t first, size_t n)
{
	const uint32_t *ports = &job->ports[first];
	const struct rd_fabric_node *node = node_of(job, ports[0]);

	*RD_ADD(job->lids, job->n_lids, job->cap_lids) = (struct lid){ .first = first, .n = n, .silent = true };
	if (node->capability.known != RD_OK)
		add_query(job, &(struct query_info){ QUERY_CAPABILITY, ports[0], 0 }, RD_PMA_CLASS_PORT_INFO, false);
	if (job->fabric->by_need && node->kind == RD_NODE_SWITCH)
		add_query(job, &(struct query_info){ QUERY_SUMS, ports[0], 0 }, IB_GSI_PORT_COUNTERS, true);
	add_port_queries(job, ports, n, false);
	add_port_queries(job, ports, n, true);
	if (job->verify)
		add_query(job, &(struct query_info){ QUERY_NODE, ports[0], 0 }, ATTR_NODE_INFO, false);
}

/* Adds the queries of LIDs that were silent in the previous sweep, or of the others. The silent ones are added last, so that
 * they do not delay the others. */
static void add_queries(struct sweep_job *job, bool silent)
{
	const struct rd_fabric_port *ports = job->fabric->ports;

	for (size_t i = 0, n; i < job->n_ports; i += n) {
		const struct rd_fabric_port *port = &ports[job->ports[i]];

		for (n = 1; i + n < job->n_ports && ports[job->ports[i + n]].lid == port->lid; n++)
			;
		if (port->silent == silent)
			add_lid_queries(job, i, n);
	}
}

/* ---- which queries are needed */

static struct rd_pma_value *values_of(struct sweep_job *job, size_t port)
{
	struct port_result *collected = &job->results[port];

	if (!collected->values)
		collected->values = rd_alloc(job->fabric->n_values, sizeof(*collected->values));
	return collected->values;
}

/* PortCounters and PortCountersExtended of a port, in a sweep by need. Extended has all counters of the former, or only those of
 * traffic. */
static bool is_port_needed(struct sweep_job *job, const struct lid *lid, const struct query_info *info)
{
	const struct rd_fabric *fabric = job->fabric;
	const struct rd_fabric_node *node = node_of(job, info->port);
	bool extended = rd_pma_attributes[info->attribute].id == IB_GSI_PORT_COUNTERS_EXT, read = true;
	struct port_result *collected = &job->results[info->port];
	struct rd_pma_value *values = lid->sums ? values_of(job, info->port) : NULL;

	if (values)
		read = need_conclude(fabric, &fabric->ports[info->port], lid->sums, values);
	collected->concluded = !read;
	if (pma_extended_errors(node))
		return extended && (read || fabric->traffic);
	if (extended)
		return fabric->traffic;
	return read || (fabric->traffic && !pma_has(node, rd_pma_find_attribute(IB_GSI_PORT_COUNTERS_EXT)));
}

/* The first error of a port is reported. */
static void set_error(struct port_result *collected, int error, unsigned status, unsigned attribute)
{
	if (collected->error && collected->error != EHOSTDOWN)
		return;
	collected->error = error;
	collected->status = status;
	collected->attribute = attribute;
}

static bool is_needed(void *arg, size_t query)
{
	struct sweep_job *job = arg;
	const struct query_info *info = &job->info[query];
	const struct lid *lid = &job->lids[job->queries[query].lid];
	struct rd_fabric_node *node = node_of(job, info->port);

	if (info->what == QUERY_SUMS)
		return node->kind == RD_NODE_SWITCH && lid->n > 1 && !node->no_sums &&
		       node->capability.known == RD_OK && node->capability.v & CAP_ALL_PORT_SELECT;
	if (info->what != QUERY_COUNTERS)
		return true;
	if (!pma_has(node, info->attribute))
		return false;
	if (job->fabric->by_need && is_details(info->attribute)) {
		const struct rd_fabric_port *port = &job->fabric->ports[info->port];
		struct rd_pma_value *values = job->results[info->port].values;

		if (!values || !need_details(job->fabric, port, info->attribute, values))
			return false;
	} else if (job->fabric->by_need && !is_port_needed(job, lid, info)) {
		return false;
	}
	if (!((lid->silent_twice & ~lid->responded) >> info->attribute & 1))
		return true;
	set_error(&job->results[info->port], ETIMEDOUT, 0, rd_pma_attributes[info->attribute].id);
	return false;
}

/* ---- responses */

static bool is_unsupported(const struct rd_sweep_result *result)
{
	return result->error == EREMOTEIO && (STATUS_CODE(result->mad_status) == STATUS_NO_ATTRIBUTE ||
					      STATUS_CODE(result->mad_status) == STATUS_NO_METHOD);
}

static void take_counters(struct sweep_job *job, struct lid *lid, const struct query_info *info,
			  const struct rd_sweep_result *result)
{
	const struct rd_pma_attribute *attribute = &rd_pma_attributes[info->attribute];
	struct rd_fabric_node *node = node_of(job, info->port);
	struct port_result *collected = &job->results[info->port];
	uint64_t bit = UINT64_C(1) << info->attribute;
	struct rd_pma_value *values;

	if (result->error == ENODATA)
		return;
	if (is_unsupported(result) || (result->error == ETIMEDOUT && !lid->silent && is_optional(job, info))) {
		node->unsupported |= bit;
		return;
	}
	if (result->error == ETIMEDOUT) {
		lid->silent_twice |= lid->silent_once & bit;
		lid->silent_once |= bit;
	}
	if (result->error) {
		set_error(collected, result->error, result->mad_status, attribute->id);
		return;
	}
	values = values_of(job, info->port);
	rd_pma_decode(info->attribute, result->mad, node, values, job->fabric->n_values);
	node->responded |= bit;
	lid->responded |= bit;
	collected->responded++;
	if (!collected->at_traffic)
		collected->at_ns = result->at_ns;
	collected->at_traffic |= attribute->id == IB_GSI_PORT_COUNTERS_EXT;
}

static void take_sums(struct sweep_job *job, struct lid *lid, const struct query_info *info,
		      const struct rd_sweep_result *result)
{
	struct rd_fabric_node *node = node_of(job, info->port);

	if (result->error == ENODATA || result->error == EHOSTDOWN)
		return;
	if (result->error) {
		/* Lost, if they were read before. */
		node->no_sums = is_unsupported(result) || !node->sums;
		return;
	}
	lid->sums = rd_alloc(RD_PMA_SUMS, sizeof(*lid->sums));
	rd_pma_decode(rd_pma_find_attribute(IB_GSI_PORT_COUNTERS), result->mad, node, lid->sums, RD_PMA_SUMS);
	lid->sums_ns = result->at_ns;
	if (lid->sums[RD_C_XMIT_PKTS].v > 0 || lid->sums[RD_C_RCV_PKTS].v > 0)
		return;
	node->no_sums = true;
	free(RD_TAKE(lid->sums));
}

static void handle_result(void *arg, const struct rd_sweep_result *result)
{
	struct sweep_job *job = arg;
	const struct query_info *info = &job->info[result->query];
	struct lid *lid = &job->lids[job->queries[result->query].lid];

	lid->sent += result->tries;
	if (result->mad) {
		lid->begun_ns = lid->responses ? lid->begun_ns : result->at_ns - result->latency_ns;
		lid->ended_ns = result->at_ns;
		if (lid->responses++ == 0 || result->latency_ns < lid->fastest_ns)
			lid->fastest_ns = result->latency_ns;
	}
	if (result->error == 0 || result->error == EREMOTEIO || result->error == EBADMSG)
		lid->silent = false;
	if (info->what == QUERY_COUNTERS)
		take_counters(job, lid, info, result);
	else if (info->what == QUERY_SUMS)
		take_sums(job, lid, info, result);
	else if (info->what == QUERY_NODE)
		/* An M_Key can prevent NodeInfo queries: then the LID is assumed to be unchanged. */
		lid->wrong_node |= !result->error && rd_mad_field64(result->mad + DATA_AT, IB_NODE_GUID_F) !=
							     rd_fabric_reported_guid(node_of(job, info->port));
	else if (result->error == 0) {
		struct rd_fabric_node *node = node_of(job, info->port);

		/* Takes the capabilities from a ClassPortInfo response. `mad`: a response of 256 bytes. */
		RD_SET(node->capability, (uint16_t)rd_mad_field(result->mad + DATA_AT, IB_CPI_CAPMASK_F));
		RD_SET(node->capability2, rd_mad_field(result->mad + DATA_AT, IB_CPI_CAPMASK2_F));
	} else if (result->error != EREMOTEIO)
		set_error(&job->results[info->port], result->error, 0, RD_PMA_CLASS_PORT_INFO);
}

/* ---- taking over what was read */

/* Keeps the sums of a node, for the next sweep. */
static void update_sums(struct sweep_job *job, struct lid *lid)
{
	struct rd_fabric_node *node = node_of(job, job->ports[lid->first]);
	uint64_t added[RD_PMA_SUMS] = { 0 };
	bool all = true;

	if (!lid->sums || lid->wrong_node)
		return;
	for (size_t i = lid->first; i < lid->first + lid->n; i++) {
		const struct port_result *collected = &job->results[job->ports[i]];

		all &= collected->responded && collected->values && !collected->concluded;
		for (size_t k = 0; all && k < RD_PMA_SUMS; k++)
			added[k] += collected->values[k].v;
	}
	/* Ports that counted in between are not distinguished: it costs some queries only. */
	if (all && need_contradicts(lid->sums, added)) {
		node->no_sums = true;
		return;
	}
	free(node->sums);
	node->sums = RD_TAKE(lid->sums);
}

/* Takes the collected responses over into the ports. */
static void update_fabric(struct sweep_job *job)
{
	struct rd_fabric *fabric = job->fabric;

	fabric->changed = false;
	for (size_t i = 0; i < fabric->n_ports; i++)
		if (!fabric->ports[i].selected || fabric->ports[i].presence == RD_PORT_GONE) {
			fabric->ports[i].fresh = false;
			fabric->ports[i].mads = 0;
		}
	for (size_t i = 0; i < job->n_lids; i++) {
		struct lid *lid = &job->lids[i];

		update_sums(job, lid);
		for (size_t k = lid->first; k < lid->first + lid->n; k++) {
			size_t index = job->ports[k];
			struct rd_fabric_port *port = &fabric->ports[index];
			struct port_result *collected = &job->results[index];
			bool was_silent = port->silent, read = collected->responded || collected->concluded;

			if (lid->wrong_node) {
				*collected = (struct port_result){ .values = collected->values, .error = ESTALE };
			} else if (lid->silent) {
				set_error(collected, ETIMEDOUT, 0, 0);
				/* Attributes that timed out may be supported: the agent may have stopped responding meanwhile. */
				fabric->nodes[port->node].unsupported = 0;
			} else if (!collected->error && !read) {
				collected->error = ENODATA;
			}
			if (!collected->responded)
				collected->at_ns = lid->sums_ns;
			port->error = collected->error;
			port->error_status = collected->error == EREMOTEIO ? (int)collected->status : 0;
			port->error_attribute = collected->error ? collected->attribute : 0;
			port->silent = lid->silent;
			port->fresh = false;
			port->mads = lid->sent;
			port->response_ns = lid->responses > 1 ? lid->fastest_ns : 0;
			port->busy_ns = lid->ended_ns - lid->begun_ns;
			fabric->changed |= lid->wrong_node || (port->silent && !was_silent);
			if (!lid->wrong_node && !lid->silent && read) {
				free(port->before);
				port->before = port->values;
				port->before_ns = port->read_ns;
				port->values = RD_TAKE(collected->values);
				port->read_ns = collected->at_ns;
				port->fresh = true;
			}
		}
	}
}

static void job_deinit(struct sweep_job *job)
{
	for (size_t i = 0; job->results && i < job->fabric->n_ports; i++)
		free(job->results[i].values);
	for (size_t i = 0; i < job->n_lids; i++)
		free(job->lids[i].sums);
	RD_FREE(job->lids, job->results, job->queries, job->info, job->ports);
}

int rd_fabric_sweep(struct rd_mads *mads, const struct rd_sweep_limits *limits, bool verify, struct rd_fabric *fabric,
		    struct rd_err *err)
{
	_cleanup_(job_deinit) struct sweep_job job = { .fabric = fabric, .verify = verify };
	struct rd_sweep_callbacks callbacks = { .needed = is_needed, .done = handle_result, .arg = &job };
	int r;
	_cleanup_free_ uint32_t *first = rd_alloc(LIDS + 1, sizeof(*first));

	/* Counting sort of the ports by LID, stable. */
	job.ports = rd_alloc(fabric->n_ports + 1, sizeof(*job.ports));
	for (size_t i = 0; i < fabric->n_ports; i++)
		if (fabric->ports[i].selected && fabric->ports[i].presence != RD_PORT_GONE) {
			first[fabric->ports[i].lid + 1]++;
			job.n_ports++;
		}
	for (size_t i = 0; i < LIDS; i++)
		first[i + 1] += first[i];
	for (size_t i = 0; i < fabric->n_ports; i++)
		if (fabric->ports[i].selected && fabric->ports[i].presence != RD_PORT_GONE)
			job.ports[first[fabric->ports[i].lid]++] = (uint32_t)i;
	add_queries(&job, false);
	add_queries(&job, true);
	job.results = rd_alloc(job.fabric->n_ports + 1, sizeof(*job.results));
	r = rd_sweep_run(mads, limits, job.queries, job.n, job.n_lids, &callbacks, &fabric->sweep, err);
	update_fabric(&job);
	fabric->swept_ns = mads->ops->now(mads);
	return r;
}

static void take_tick(void *arg, const struct rd_sweep_result *result)
{
	struct rd_fabric *fabric = arg;

	if (result->error == 0)
		RD_SET(fabric->nodes[result->sent->subject].tick,
		       (uint8_t)rd_mad_field(result->mad + DATA_AT, IB_PSC_TICK_F));
}

int rd_fabric_query_ticks(struct rd_mads *mads, const struct rd_sweep_limits *limits, struct rd_fabric *fabric,
			  struct rd_err *err)
{
	_cleanup_free_ struct rd_sweep_query *queries = rd_alloc(fabric->n_nodes + 1, sizeof(*queries));
	struct rd_sweep_callbacks callbacks = { .done = take_tick, .arg = fabric };
	struct rd_sweep_limits once = *limits;
	size_t n = 0;

	once.retries = 0;
	for (size_t i = 0; i < fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &fabric->ports[i];

		if (!port->selected || fabric->nodes[port->node].kind != RD_NODE_SWITCH || port->silent ||
		    (n && queries[n - 1].subject == port->node))
			continue;
		queries[n] = (struct rd_sweep_query){
			.dest.lid = port->lid,
			.mad_class = CLASS_PM,
			.port_select = (uint8_t)port->number,
			.attribute = IB_GSI_PORT_SAMPLES_CONTROL,
			.subject = port->node,
			.lid = n,
		};
		n++;
	}
	return rd_sweep_run(mads, &once, queries, n, n, &callbacks, NULL, err);
}
