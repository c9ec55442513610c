/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An InfiniBand network: nodes, ports, cables, and the performance counters of every port. Nodes are identified by GUID, ports by
 * node and number; LIDs can change.
 */
#ifndef RD_MODEL_FABRIC_H
#define RD_MODEL_FABRIC_H

#include "base/map.h"
#include "base/text.h"
#include "model/shared/finding.h"

#define RD_NONE SIZE_MAX /* no such node, port or agent */

/* Values of NodeInfo:NodeType. */
enum rd_node_kind { RD_NODE_CA = 1, RD_NODE_SWITCH = 2, RD_NODE_ROUTER = 3 };

/* Values of PortInfo:PortState. */
enum rd_link_state { RD_LINK_DOWN = 1, RD_LINK_INIT, RD_LINK_ARMED, RD_LINK_ACTIVE };

const char *rd_node_kind_name(unsigned kind);	/* "switch"; NULL: unknown */
const char *rd_link_state_name(unsigned state); /* "ACTIVE"; NULL: unknown */

/* Where the route from here to a node that does not respond, or the route back, ends before it arrives. */
struct rd_fabric_block {
	uint64_t guid;	/* of the switch; 0: it does not, or that is not known */
	unsigned port;	/* its egress port, whose link is down or in state INIT; 0: it has no route */
	unsigned state; /* of the port */
	bool back;	/* on the way back */
};

struct rd_fabric_node {
	uint64_t guid;		/* unambiguous: made up if another device reports the same one */
	uint64_t reported_guid; /* then the one in its NodeInfo; else 0 */
	uint64_t system_guid;
	enum rd_node_kind kind;
	char *description; /* NodeDescription: untrusted text. Owned, never NULL */
	char *name;	   /* from the node-name-map, or made by rd_fabric_tell_apart; owned, NULL: neither */
	uint32_t vendor, device;
	unsigned n_ports;
	size_t first, end; /* its ports are [first, end) of the fabric's; set by rd_fabric_index_ports */
	unsigned unread; /* attributes that the latest walk queried of it without a response: NodeDescription, PortInfo … */
	/* CapabilityMask and CapabilityMask2 of its PMA's ClassPortInfo; absent: not queried, or no response. */
	RD_FIELD(uint16_t) capability;
	RD_FIELD(uint32_t) capability2;
	/* PortSamplesControl:Tick, the unit of PortXmitWait: see rd_fabric_wait_share. Read by rd_fabric_query_ticks only. */
	RD_FIELD(uint8_t) tick;
	/* Bit I is for rd_pma_attributes[I]. responded: a Get of it succeeded at least once. unsupported: it was rejected, or timed out
	 * at an agent that responds to other attributes. */
	uint64_t responded, unsupported;
	/* PortCounters of all ports together (PortSelect 255), in the order of rd_pma_counters, of the latest sweep whose values its
	 * ports have; owned, NULL: not read. */
	struct rd_pma_value *sums;
	struct rd_fabric_block blocked;
	bool no_sums; /* do not query them: the agent refused, did not respond, or does not add them up */
};

/* A value, and the width of the field that it was read from. */
struct rd_pma_value {
	uint64_t v;
	uint8_t bits; /* 0: unknown. A counter of less than 64 bits stops at all ones */
};

/* Change of a port between two discoveries. */
enum rd_presence {
	RD_PORT_PRESENT,
	RD_PORT_NEW,	   /* not found before */
	RD_PORT_REPLACED,  /* new, at the cable of a node that disappeared */
	RD_PORT_MOVED,	   /* its LID changed */
	RD_PORT_GONE,	   /* found before, but not now; its values are old */
	RD_PORT_UNREACHED, /* found before; the latest walk did not get there, so its state is of an earlier one */
};

#define RD_PHYSICAL_DISABLED 3 /* PortInfo:PortPhysicalState */

struct rd_fabric_port {
	size_t node;
	unsigned number;
	uint64_t guid; /* NodeInfo:PortGUID, of ports that the discovery reached from their neighbour; 0: unknown */
	uint16_t lid;  /* of its PMA; 0: none */
	uint8_t lmc;
	size_t peer; /* index of the port at the other end of the cable; RD_NONE */
	/* Without a peer: the node GUID and port at the other end of its latest link, in an earlier discovery; 0: none known. */
	uint64_t was_guid;
	unsigned was_port;
	unsigned state, physical_state;
	/* Lanes: 1, 2, 4, 8, 12; 0: unknown. `enabled` and `supported` are masks of PortInfo: 1x 1, 4x 2, 8x 4, 12x 8, 2x 16. */
	unsigned width_active, width_enabled, width_supported;
	/* Speeds as rd_link_speed below; `supported` and `enabled` are masks of 1 << speed. */
	unsigned speed_active, speed_enabled, speed_supported;
	enum rd_presence presence;
	uint64_t old_guid;   /* REPLACED: of the previous node */
	uint16_t old_lid;    /* MOVED */
	bool connected;	     /* the latest walk found its first link: see rd_fabric_has_no_link */
	bool unread;	     /* the latest walk did not read its PortInfo */
	bool peer_unreached; /* its link is up, but the latest walk got no response from the node behind it */
	/* Of a port whose link the latest walk found up: when it was queried after the latest sweep, */
	bool lost; /* its link was down */
	bool mute; /* it did not respond */

	bool selected;	  /* its counters are read */
	bool fresh;	  /* its values are of the latest sweep; if `error`, those of an attribute are unknown */
	bool silent;	  /* its LID did not respond to anything in the latest sweep that queried it */
	uint64_t read_ns; /* monotonic time of the values below; 0: never read */
	int error;	  /* positive errno of the latest sweep: ETIMEDOUT, EBADMSG …; 0: none */
	int error_status; /* the MAD's status, if that was the error (EREMOTEIO) */
	unsigned error_attribute;    /* the attribute whose query failed */
	struct rd_pma_value *values; /* fabric->n_values, in the order of rd_pma_counters; owned, NULL: never read */
	unsigned mads;		     /* sent to its LID in the latest sweep */
	/* Its agent, in that sweep: shortest time to a response, of at least two; time from the first query to the last response. 0:
	 * unknown */
	uint64_t response_ns, busy_ns;
	/* Those of the previous reading, for rates. */
	struct rd_pma_value *before;
	uint64_t before_ns;
};

/* Speeds of a lane, slowest first; 0: unknown. */
enum rd_link_speed {
	RD_SPEED_UNKNOWN,
	RD_SPEED_SDR,
	RD_SPEED_DDR,
	RD_SPEED_QDR,
	RD_SPEED_FDR10,
	RD_SPEED_FDR,
	RD_SPEED_EDR,
	RD_SPEED_HDR,
	RD_SPEED_NDR,
	RD_SPEED_XDR,
	RD_SPEEDS,
};

const char *rd_link_speed_name(unsigned speed); /* "EDR"; NULL: unknown */
unsigned rd_link_fastest(unsigned mask);	/* of a mask of 1 << enum rd_link_speed; RD_SPEED_UNKNOWN: empty */
/* The number, of 1 to `most`, of which `name` returns this text (NULL: none): a kind, a state or a speed; 0: none. */
unsigned rd_fabric_number_of(const char *(*name)(unsigned), unsigned most, const char *text);
double rd_link_lane_gbps(unsigned speed); /* signalling rate of a lane: 25.78125 for EDR; 0: unknown */
double rd_link_data_gbps(unsigned speed); /* data rate of a lane, without the line code: 25 for EDR; 0: unknown */

/* Statistics of a sweep, in MADs unless noted. */
struct rd_sweep_stats {
	uint64_t sent, received, retries, timeouts;
	uint64_t stray;	    /* duplicate, late and unsolicited responses: dropped */
	uint64_t malformed; /* responses that are short, or of a different class, attribute or port than queried */
	uint64_t refused;   /* responses with an error status */
	uint64_t skipped;   /* queries not sent, because the port or its LID did not respond before */
	unsigned window, per_lid_window;
	uint64_t duration_ns;
	/* From sending a query to its response; known if `latencies`, the number of responses, is not 0. */
	uint64_t latencies;
	uint64_t latency_min_ns, latency_median_ns, latency_p99_ns, latency_max_ns;
};

/* Statistics of a walk, in SMPs. */
struct rd_walk_stats {
	uint64_t sent, retries;
	uint64_t lost;	 /* queries without a response to any try */
	unsigned window; /* in the end: losses halve it */
};

struct rd_fabric {
	struct rd_fabric_node *nodes; /* sorted by GUID */
	size_t n_nodes, cap_nodes;
	struct rd_fabric_port *ports; /* sorted by node, then number */
	size_t n_ports, cap_ports;
	char ibdev[64]; /* the local port that sends the queries */
	unsigned port;
	size_t self; /* index of that port; RD_NONE */
	uint16_t sm_lid;
	bool sm_silent;			      /* the subnet manager was queried, and did not respond */
	uint64_t discovered_ns, discovery_ns; /* when (monotonic), and how long it took */
	struct rd_walk_stats walk;
	uint64_t attributes; /* bit I: rd_pma_attributes[I] is read */
	/* Reads attributes only of ports where they can have something new: see fabric-need.h. Other counters are unknown. */
	bool by_need;
	bool traffic;		     /* with by_need: data, packets and PortXmitWait of every port, for rates */
	size_t n_values;	     /* number of counters, from the first, that a port has values of */
	struct rd_sweep_stats sweep; /* the latest */
	uint64_t swept_ns;	     /* monotonic time of its end; 0: none yet */
	bool changed; /* a LID responded with a different node GUID in the latest sweep, or stopped responding: rediscover */
};

void rd_fabric_deinit(struct rd_fabric *fabric);

/*
 * To build one: add all nodes and sort them, then add all ports and sort them. Sorting establishes the order that finding needs,
 * and drops duplicates. Text is copied. NULL for the port of an unknown node.
 */
struct rd_fabric_node *rd_fabric_add_node(struct rd_fabric *fabric, uint64_t guid, enum rd_node_kind kind,
					  unsigned n_ports, const char *description);
void rd_fabric_sort_nodes(struct rd_fabric *fabric);
struct rd_fabric_port *rd_fabric_add_port(struct rd_fabric *fabric, uint64_t guid, unsigned number);
void rd_fabric_sort_ports(struct rd_fabric *fabric);
void rd_fabric_index_ports(struct rd_fabric *fabric); /* of ports that are sorted: sets `first` and `end` of nodes */

/* Index by identity; RD_NONE: not found. */
size_t rd_fabric_find_node(const struct rd_fabric *fabric, uint64_t guid);
size_t rd_fabric_find_port(const struct rd_fabric *fabric, uint64_t guid, unsigned number);

/* The GUID in its NodeInfo. */
static inline uint64_t rd_fabric_reported_guid(const struct rd_fabric_node *node)
{
	return node->reported_guid ?: node->guid;
}

/* Names nodes that have the same name as another one with their GUID, too, except those that are gone, whose successor may have their
 * name: messages, and findings that are remembered, have one node. */
void rd_fabric_tell_apart(struct rd_fabric *fabric);

/* The name from the node-name-map, else the NodeDescription. */
static inline const char *rd_fabric_name(const struct rd_fabric_node *node)
{
	return node->name ?: node->description;
}

/* The kind of a counter. */
enum rd_pma_kind {
	RD_PMA_ERROR, /* any increase indicates a fault */
	RD_PMA_DROP,  /* packets discarded on transmit or receive */
	RD_PMA_WAIT,  /* ticks in which a packet waited for credits */
	RD_PMA_DATA,  /* units of four octets */
	RD_PMA_PACKETS,
	RD_PMA_NOTE, /* informational */
};

/* A counter, by its name in the InfiniBand specification. One that is in both PortCounters and PortCountersExtended is one
 * counter, with the wider value. */
struct rd_pma_counter {
	const char *name; /* "SymbolErrorCounter" */
	enum rd_pma_kind kind;
	uint8_t attribute; /* index into rd_pma_attributes, of the narrower field */
};

/* Indices into rd_pma_counters and the values of a port. */
enum rd_pma_index {
	RD_C_SYMBOL_ERROR,
	RD_C_LINK_ERROR_RECOVERY,
	RD_C_LINK_DOWNED,
	RD_C_RCV_ERRORS,
	RD_C_RCV_REMOTE_PHYSICAL_ERRORS,
	RD_C_RCV_SWITCH_RELAY_ERRORS,
	RD_C_XMIT_DISCARDS,
	RD_C_XMIT_CONSTRAINT_ERRORS,
	RD_C_RCV_CONSTRAINT_ERRORS,
	RD_C_LOCAL_LINK_INTEGRITY_ERRORS,
	RD_C_EXCESSIVE_BUFFER_OVERRUN_ERRORS,
	RD_C_VL15_DROPPED,
	RD_C_QP1_DROPPED,
	RD_C_XMIT_WAIT,
	RD_C_XMIT_DATA,
	RD_C_RCV_DATA,
	RD_C_XMIT_PKTS,
	RD_C_RCV_PKTS,
	RD_C_UNICAST_XMIT_PKTS,
	RD_C_UNICAST_RCV_PKTS,
	RD_C_MULTICAST_XMIT_PKTS,
	RD_C_MULTICAST_RCV_PKTS,
	RD_C_LOCAL_PHYSICAL_ERRORS,
	RD_C_MALFORMED_PACKET_ERRORS,
	RD_C_BUFFER_OVERRUN_ERRORS,
	RD_C_DLID_MAPPING_ERRORS,
	RD_C_VL_MAPPING_ERRORS,
	RD_C_LOOPING_ERRORS,
	RD_C_INACTIVE_DISCARDS,
	RD_C_NEIGHBOR_MTU_DISCARDS,
	RD_C_SW_LIFETIME_LIMIT_DISCARDS,
	RD_C_SW_HOQ_LIFETIME_LIMIT_DISCARDS,
	RD_C_OP_RCV_PKTS,
	RD_C_OP_RCV_DATA,
	RD_C_XMIT_FLOW_PKTS,
	RD_C_RCV_FLOW_PKTS,
	RD_C_PKT_RCV_FECN,
	RD_C_PKT_RCV_BECN,
	RD_C_XMIT_TIME_CONG,
	RD_C_VL_OP_PACKETS_0,
	RD_C_VL_OP_DATA_0 = RD_C_VL_OP_PACKETS_0 + 16,
	RD_C_VL_XMIT_FLOW_CTL_UPDATE_ERRORS_0 = RD_C_VL_OP_DATA_0 + 16,
	RD_C_VL_XMIT_WAIT_0 = RD_C_VL_XMIT_FLOW_CTL_UPDATE_ERRORS_0 + 16,
	RD_C_SW_PORT_VL_CONGESTION_0 = RD_C_VL_XMIT_WAIT_0 + 16,
	RD_C_SL_RCV_FECN_0 = RD_C_SW_PORT_VL_CONGESTION_0 + 16,
	RD_C_SL_RCV_BECN_0 = RD_C_SL_RCV_FECN_0 + 16,
	RD_C_VL_XMIT_TIME_CONG_0 = RD_C_SL_RCV_BECN_0 + 16,
	RD_C_XMIT_DATA_SL_0 = RD_C_VL_XMIT_TIME_CONG_0 + 15,
	RD_C_RCV_DATA_SL_0 = RD_C_XMIT_DATA_SL_0 + 16,
	RD_PMA_COUNTERS = RD_C_RCV_DATA_SL_0 + 16,
};

/* An attribute of the performance management class, and its group for --subsets. */
struct rd_pma_attribute {
	uint16_t id;	    /* 0x12 */
	const char *name;   /* "PortCounters" */
	const char *subset; /* "counters" */
};

extern const struct rd_pma_counter rd_pma_counters[RD_PMA_COUNTERS];
extern const struct rd_pma_attribute rd_pma_attributes[];
extern const size_t rd_pma_n_attributes;

#define RD_PMA_DEFAULT_SUBSETS "counters,extended,rcv-errors,xmit-discards"

/* Whether it counts faults: errors, or packets that were discarded. */
static inline bool rd_pma_is_fault(size_t counter)
{
	return rd_pma_counters[counter].kind == RD_PMA_ERROR || rd_pma_counters[counter].kind == RD_PMA_DROP;
}

/* Index of a counter by its name, an attribute by its number; RD_NONE. */
size_t rd_pma_find_counter(const char *name);
size_t rd_pma_find_attribute(unsigned id);

/* The name of an attribute that a sweep queries, by its number; NULL for others. */
const char *rd_pma_attribute_name(unsigned id);

/* Whether a counter is at its maximum, where it stops (less than 64 bits). */
static inline bool rd_pma_saturated(const struct rd_pma_value *value)
{
	return value->bits && value->bits < 64 && value->v >= (UINT64_C(1) << value->bits) - 1;
}

/* ---- rates from two readings of a port's counters */

/* The latest value of a counter; false if unknown. */
bool rd_fabric_value(const struct rd_fabric *fabric, const struct rd_fabric_port *port, size_t counter,
		     struct rd_pma_value *ret);

/*
 * Increase between the two latest readings, and the time between them. False if unknown: read once only, read from fields of
 * different width, decreased (the counter was cleared), or at the maximum of the field, where all counters except 64-bit ones
 * stop. `seconds` may be NULL.
 */
bool rd_fabric_delta(const struct rd_fabric *fabric, const struct rd_fabric_port *port, size_t counter, uint64_t *delta,
		     double *seconds);

/* Data rate of the link in each direction, Gbit/s; 0: unknown. */
double rd_fabric_link_gbps(const struct rd_fabric_port *port);

/* Gbit/s between the two latest readings: of PortXmitData or PortRcvData, which count units of four octets. */
bool rd_fabric_gbps(const struct rd_fabric *fabric, const struct rd_fabric_port *port, size_t counter, double *ret);

/*
 * Share of time, 0 to 1, in which the port had data to send but no credits. PortXmitWait counts ticks; a tick is the time that
 * PortSamplesControl:Tick + 1 octets take on one lane (InfiniBand Architecture Specification, volume 1, PortSamplesControl; 4 ns
 * at SDR). Devices that report Tick 7 count 8 octets of the whole port, whatever its width; those that report more count per
 * lane (NVIDIA, ibdiagnet user manual, "Congestion Assessment on InfiniBand Links"):
 *
 *     ticks * octets per tick * 8 / (data rate of the link * time)
 *
 * False if the device does not report its tick, or there are no two readings.
 */
bool rd_fabric_wait_share(const struct rd_fabric *fabric, const struct rd_fabric_port *port, double *ret);

/* ---- names of ports, of which the caller owns the text, and what was at the other end of a cable */

/* "leaf3 port 17" */
char *rd_fabric_port_text(const struct rd_fabric *fabric, const struct rd_fabric_port *port);

/* "leaf3 port 17, to node5 port 1": the latest one, if there is no link now; without the peer if it is unknown. */
char *rd_fabric_cable_text(const struct rd_fabric *fabric, const struct rd_fabric_port *port);

/* "leaf3 (0x0002c90300000003)" */
char *rd_fabric_node_text(const struct rd_fabric_node *node);

/* Makes a node, or a port and its cable, the subject of a finding. */
void rd_finding_at_node(struct rd_finding *finding, const struct rd_fabric_node *node);
void rd_finding_at_port(struct rd_finding *finding, const struct rd_fabric *fabric, const struct rd_fabric_port *port);

/* The port at the other end of the cable or, if there is no link now, the one at its latest link; NULL: none known. */
const struct rd_fabric_port *rd_fabric_neighbour(const struct rd_fabric *fabric, const struct rd_fabric_port *port);

/* Whether the latest walk got no response from something that it knows to exist: a port, or the node behind a link that is up. */
bool rd_fabric_is_incomplete(const struct rd_fabric *fabric);

/* Whether the walk could not see what is connected to the port: its PortInfo, or the node behind it, did not respond. */
bool rd_fabric_is_unsure(const struct rd_fabric_port *port);

/* Whether no discovery found a link at the port, and the latest one saw that it is down. */
bool rd_fabric_has_no_link(const struct rd_fabric_port *port);

/* ---- how many nodes and links of each kind a network has */

#define RD_CENSUS_RATES 32 /* more combinations of width and speed are counted as unknown */

struct rd_fabric_rate {
	unsigned width, speed; /* lanes, enum rd_link_speed */
	size_t links, uplinks; /* uplinks: of these, between switches */
	size_t example;	       /* index of a port with this rate */
};

struct rd_fabric_census {
	size_t switches, adapters, routers, aggregation_nodes;
	size_t links, unknown;			      /* unknown: links whose width or speed is */
	struct rd_fabric_rate rates[RD_CENSUS_RATES]; /* most links first */
	size_t n_rates;
};

/* Counts nodes and links that are not gone. */
void rd_fabric_take_census(const struct rd_fabric *fabric, struct rd_fabric_census *ret);

/* Whether few links of the network have this rate: at most three, and at most one of twenty. */
bool rd_fabric_rate_is_rare(const struct rd_fabric_census *census, const struct rd_fabric_rate *rate);

/* Whether it is the aggregation node (SHARP) inside a switch: a channel adapter by its NodeInfo. */
bool rd_fabric_is_aggregation(const struct rd_fabric_node *node);

/*
 * Linear forwarding tables: the egress port of each switch for each LID (InfiniBand Architecture Specification, volume 1,
 * LinearForwardingTable). A route depends on the switch and the destination LID only, not on the source. With adaptive routing a
 * switch may use other ports, too: whether it is on is in vendor-specific attributes, so it is unknown here.
 */

#define RD_LID_MAX 0xbfff /* unicast */
#define RD_ROUTE_BLOCK 64 /* LIDs of a LinearForwardingTable attribute */
#define RD_ROUTE_BLOCKS ((RD_LID_MAX + 1) / RD_ROUTE_BLOCK)
#define RD_ROUTE_NONE 255 /* entry: packets are discarded */
#define RD_ROUTE_UNREAD (-1)

struct rd_route_table {
	RD_FIELD(uint16_t)
	top; /* SwitchInfo:LinearFDBTop, the last LID that has an entry; unknown: SwitchInfo was not read */
	/* Entries of block I are at blocks[I]; owned. NULL: not read. NULL: no block was read. */
	uint8_t **blocks;
	bool partial; /* SwitchInfo, or a block that was queried, was not read */
};

struct rd_routes {
	struct rd_route_table *tables; /* per node; those of switches are filled */
	size_t n_nodes;
	size_t n_switches, n_unread; /* switches; those of which the table is partial */
	size_t *owners;		     /* per LID: index of a port that has it; RD_NONE */
	uint64_t mads_sent, timeouts;
	uint64_t duration_ns;
};

/* Prepares empty tables, and finds the owners of LIDs. The fabric must not change while the routes are in use. */
void rd_routes_init(const struct rd_fabric *fabric, struct rd_routes *routes);
void rd_routes_deinit(struct rd_routes *routes);

/* The block of entries to fill; allocated if needed. */
uint8_t *rd_routes_block(struct rd_routes *routes, size_t node, size_t block);

/* The entry of a switch for a LID: the egress port, 0 for the switch itself, RD_ROUTE_NONE also beyond the end of the table, or
 * RD_ROUTE_UNREAD. */
int rd_routes_egress(const struct rd_routes *routes, size_t node, uint16_t lid);

/* Whether the LID is one of the port: base LID to base LID + 2^LMC - 1. All ports of a switch have the LID of the switch. */
static inline bool rd_port_has_lid(const struct rd_fabric_port *port, uint16_t lid)
{
	return port->lid && lid >= port->lid && lid - port->lid < 1 << port->lmc;
}

/* ---- what follows from the tables, see analyse/fabric/fabric.h */

enum rd_route_end {
	RD_ROUTE_ARRIVES,
	RD_ROUTE_UNKNOWN,  /* the table or the egress port of the switch, or what is behind it, was not read */
	RD_ROUTE_MISSING,  /* no entry for the LID, or one that is not a port of the switch */
	RD_ROUTE_DEAD_END, /* the egress port is down */
	RD_ROUTE_ASTRAY,   /* ends at another adapter or router, or at another port of the right one */
	RD_ROUTE_LOOPS,	   /* returns to a switch that it passed */
	RD_ROUTE_ENDS,
	RD_ROUTE_CONTINUES = RD_ROUTE_ENDS,
};

struct rd_path_hop {
	size_t node;
	size_t in, out; /* indices of ports; RD_NONE: none */
};

struct rd_path {
	struct rd_path_hop *hops; /* owned; the first is the source, the last where it ends */
	size_t n, cap;
	size_t to; /* index of the destination port */
	uint16_t lid;
	enum rd_route_end end;
	int entry; /* of the table of the last node */
};

/* Links of a switch that share destinations: parallel links to one neighbour, or all uplinks of a leaf. */
struct rd_route_group {
	size_t node;
	size_t neighbour; /* index of a node; RD_NONE: uplinks */
	unsigned links;
	uint64_t lids; /* LIDs of adapters and routers that are routed over them */
	uint64_t least, most;
	size_t busiest; /* index of the port with `most` */
	bool uneven;
};

struct rd_routes_verdict {
	/* Of ports of adapters and routers that are behind a switch: from a port to each LID of the others. */
	uint64_t sources, destinations; /* ports; LIDs */
	uint64_t pairs, by_end[RD_ROUTE_ENDS];
	struct rd_route_group *groups; /* owned */
	size_t n, cap;
};

/* Pairs whose route does not arrive. */
static inline uint64_t rd_routes_failing(const struct rd_routes_verdict *verdict)
{
	return verdict->pairs - verdict->by_end[RD_ROUTE_ARRIVES] - verdict->by_end[RD_ROUTE_UNKNOWN];
}

/* What was found at repeated sweeps, and when: a finding that is over is remembered. */

/* Latches that are kept: text of some megabytes. Every port of a network can have findings. */
#define RD_LATCHES_MAX 4096

/* Sweeps in which something held. Times are of CLOCK_REALTIME, in ns. */
struct rd_latched_looks {
	uint64_t n; /* 0: none, and the times are unknown */
	uint64_t first_ns, last_ns;
};

struct rd_fabric_latch {
	/* As in struct rd_finding, of the latest sweep that found it. Texts are owned; `observed` and `fix` may be NULL. */
	const char *id, *title;
	enum rd_severity severity;
	char *subject, *observed, *fix;
	struct rd_latched_looks looks;
	size_t rank;  /* place among the findings of its latest sweep: the most harmful comes first */
	bool current; /* found by the latest sweep */
	bool cleared; /* not current, and the user has seen that */
};

struct rd_fabric_latches {
	struct rd_fabric_latch *v; /* unique by id, subject and severity, and sorted by them */
	size_t n, cap;
	uint64_t dropped;		/* latches not kept for lack of room: one that persists counts at each sweep */
	struct rd_latched_looks looks;	/* all sweeps that were judged */
	struct rd_latched_looks failed; /* those that read no port */
};

static inline void rd_latched_look(struct rd_latched_looks *looks, uint64_t now_ns)
{
	if (looks->n++ == 0)
		looks->first_ns = now_ns;
	looks->last_ns = now_ns;
}

/* Ports that several hosts read: what each is to read, what each has read, as files have it, and what these cover together. */

/* Counters that a file has of a port: those of the default subsets, which are the first in rd_pma_counters. */
#define RD_SHARE_COUNTERS (RD_C_SW_HOQ_LIFETIME_LIMIT_DISCARDS + 1)

/* A port as one host read it. */
struct rd_share_row {
	uint64_t guid, peer_guid;
	unsigned port, peer_port, state, width, speed;
	enum rd_node_kind kind;
	uint16_t lid;
	bool fresh;
	uint64_t read_ns;	  /* since the epoch, by the clock of that host; 0: never read */
	const char *node, *error; /* in `texts`; NULL: none */
	uint64_t known, nulls;	  /* bit I: values[I] is known; was not read */
	uint64_t values[RD_SHARE_COUNTERS];
	size_t share;
};

/* The latest sweep of one host in a file. */
struct rd_share {
	const char *file;   /* not owned */
	const char *host;   /* in `texts` */
	uint64_t time_ns;   /* of the document, since the epoch */
	unsigned index, of; /* 1 to `of`; 0: the ports are not divided */
	RD_FIELD(uint64_t) topology, all_ports;
	size_t ports; /* that it was to read */
	size_t found; /* rows of it */
	struct rd_findings findings;
	bool replaced; /* by a later one of the same host and share */
};

struct rd_share_files {
	struct rd_share *v;
	size_t n, cap;
	struct rd_share_row *rows;
	size_t n_rows, cap_rows;
	size_t sweeps;	       /* begun, of all shares */
	struct rd_texts texts; /* that rows, shares and findings point to */
	struct rd_map by_text; /* of `texts` */
};

/* What files of shares cover together: result of analyse/shares/fabric-shard.h. */

struct rd_merge {
	unsigned shares;	      /* into which the ports are divided, by most files; 0: they are not */
	unsigned missing;	      /* of these */
	bool *have;		      /* per share, from 0; owned */
	size_t ports, fresh;	      /* in the files, each once; of these read by the latest sweep of its host */
	size_t duplicates;	      /* readings of a port that another file has newer */
	RD_FIELD(uint64_t) uncovered; /* ports of missing shares; unknown: no file says how many there are in all */
	uint64_t topology;	      /* of most shares */
	uint64_t oldest_ns, newest_ns;
	size_t oldest; /* the share */
};

/* Which host reads which ports of a fabric: result of analyse/shares/fabric-shard.h. */

struct rd_shard {
	char *host;	  /* owned; NULL: the division is among numbers, not names */
	bool found;	  /* has a channel adapter in this fabric with a port that is up */
	size_t ports;	  /* that it reads */
	size_t own;	  /* of these: of its own channel adapters */
	size_t leaf;	  /* of these: of its leaf switches and the adapters attached to them */
	size_t agents;	  /* LIDs that it queries */
	size_t max_agent; /* the most ports at one of these */
	double seconds;	  /* predicted duration of its sweep, see rd_shards_predict; 0: not predicted */
};

struct rd_shards {
	struct rd_shard *v;
	size_t n;
	int32_t *owner;	   /* per port of the fabric: index into v; -1: not read */
	size_t ports;	   /* that are read by any host */
	size_t most;	   /* ports that a host reads, unless it has more of its own */
	uint64_t topology; /* hash of everything that was divided: hosts with the same value compute the same shares */
};

#endif
