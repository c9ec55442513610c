/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An InfiniBand network: nodes, ports, cables, and the performance counters of every port. Nodes are known by their GUID,
 * ports by the node and their number; LIDs come and go.
 */
#ifndef RD_MODEL_FABRIC_H
#define RD_MODEL_FABRIC_H

#include "base/base.h"
#include "base/err.h"

#define RD_NONE SIZE_MAX /* no such node, port or agent */

/* As NodeInfo has it. */
enum rd_node_kind { RD_NODE_CA = 1, RD_NODE_SWITCH = 2, RD_NODE_ROUTER = 3 };

/* As PortInfo has it. */
enum rd_link_state { RD_LINK_DOWN = 1, RD_LINK_INIT, RD_LINK_ARMED, RD_LINK_ACTIVE };

struct rd_fabric_node {
	uint64_t guid, system_guid;
	enum rd_node_kind kind;
	char *description; /* what the node calls itself: foreign text. Owned, never NULL */
	char *name;	   /* of the node-name-map; owned, NULL: not in it */
	uint32_t vendor, device;
	unsigned n_ports;
	/* What ClassPortInfo of its performance agent says; absent: not asked or no answer. */
	RD_FIELD(uint16_t) capability;
	RD_FIELD(uint32_t) capability2;
	/* In what PortXmitWait counts, as PortSamplesControl has it: 4 nanoseconds times (tick + 1). Asked by
	 * rd_fabric_ask_ticks only. */
	RD_FIELD(uint8_t) tick;
	/* Bit I: the attribute rd_pma_attributes[I] was answered once; or it is not there: refused, or never answered by an agent
	 * that answers others. */
	uint64_t having, lacking;
};

/* What became of a port between two discoveries. */
enum rd_presence {
	RD_PORT_PRESENT,
	RD_PORT_NEW,	  /* was not there before */
	RD_PORT_REPLACED, /* new, at the cable of a node that is gone */
	RD_PORT_MOVED,	  /* the same, with another LID */
	RD_PORT_GONE,	  /* was there before; what is known of it is old */
};

/* A value and how wide the counter is that it was read from. */
struct rd_pma_value {
	uint64_t v;
	uint8_t bits; /* 0: unknown. A value of all ones in a counter of less than 64 bits has stopped there */
};

struct rd_fabric_port {
	size_t node;
	unsigned number;
	uint16_t lid; /* that its performance agent answers at; 0: none */
	uint8_t lmc;
	size_t peer; /* the port at the other end of the cable; RD_NONE */
	unsigned state, physical_state;
	/* Lanes: 1, 2, 4, 8, 12; 0: unknown. `supported` is a mask as PortInfo has it: 1x 1, 4x 2, 8x 4, 12x 8, 2x 16. */
	unsigned width_active, width_enabled, width_supported;
	/* Speeds as rd_link_speed below; `supported` and `enabled` are masks of 1 << speed. */
	unsigned speed_active, speed_enabled, speed_supported;
	enum rd_presence presence;
	uint64_t old_guid; /* REPLACED: of the node that was there */
	uint16_t old_lid;  /* MOVED */

	bool selected;		     /* its counters are asked for */
	bool fresh;		     /* all that was asked in the latest sweep was answered in it */
	bool silent;		     /* nothing at its LID was heard in the latest sweep that asked it */
	uint64_t read_ns;	     /* monotonic time of the values below; 0: never read */
	int error;		     /* positive errno of the latest sweep: ETIMEDOUT, EBADMSG …; 0: none */
	int error_status;	     /* the MAD's status, where that was the error (EREMOTEIO) */
	unsigned error_attribute;    /* what was asked when it failed */
	struct rd_pma_value *values; /* fabric->n_values, as rd_pma_counters has them; owned, NULL: never read */
	/* Those of the reading before, for rates. */
	struct rd_pma_value *before;
	uint64_t before_ns;
};

/* Names of the speeds of a lane, slowest first; 0 is unknown. */
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
double rd_link_lane_gbps(unsigned speed);	/* 25.78125 for EDR: the signalling rate of a lane; 0: unknown */
double rd_link_data_gbps(unsigned speed);	/* 25 for EDR: what is left of it behind the line code; 0: unknown */

/* Where the time of a sweep went. */
struct rd_sweep_stats {
	uint64_t sent, received, retries, timeouts;
	uint64_t stray;	    /* duplicates, late ones, and answers to what nobody asked: dropped */
	uint64_t malformed; /* answers that are none: short, of another class or attribute, of another port */
	uint64_t refused;   /* with an error status */
	uint64_t skipped;   /* not sent, because the port or its LID did not answer before */
	unsigned window, per_lid_window;
	uint64_t duration_ns;
	/* From sending a MAD to its answer; 0 answers: nothing is known. */
	uint64_t latencies;
	uint64_t latency_min_ns, latency_median_ns, latency_p99_ns, latency_max_ns;
};

struct rd_fabric {
	struct rd_fabric_node *nodes; /* sorted by GUID */
	size_t n_nodes, cap_nodes;
	struct rd_fabric_port *ports; /* sorted by node, then number */
	size_t n_ports, cap_ports;
	char ibdev[64]; /* the port of this host that asks */
	unsigned port;
	size_t self; /* index of that port; RD_NONE */
	uint16_t sm_lid;
	uint64_t discovered_ns, discovery_ns; /* when (monotonic), and how long it took */
	uint64_t asked;			      /* bit I: rd_pma_attributes[I] is read */
	size_t n_values;		      /* how many counters, from the first, a port keeps values of */
	struct rd_sweep_stats sweep;	      /* the latest */
	uint64_t swept_ns;		      /* monotonic time of its end; 0: none yet */
	bool moved; /* the latest sweep found another node, or silence, at a LID: look for the fabric again */
};

void rd_fabric_deinit(struct rd_fabric *fabric);

/*
 * Building one: all nodes first, sorted, then their ports, sorted: sorting puts them in the order that the finders need, and
 * drops who is there twice. Text is copied. NULL for the port of a node that is not there.
 */
struct rd_fabric_node *rd_fabric_add_node(struct rd_fabric *fabric, uint64_t guid, enum rd_node_kind kind,
					  unsigned n_ports, const char *description);
void rd_fabric_sort_nodes(struct rd_fabric *fabric);
struct rd_fabric_port *rd_fabric_add_port(struct rd_fabric *fabric, uint64_t guid, unsigned number);
void rd_fabric_sort_ports(struct rd_fabric *fabric);

/* Index by identity; RD_NONE. */
size_t rd_fabric_find_node(const struct rd_fabric *fabric, uint64_t guid);
size_t rd_fabric_find_port(const struct rd_fabric *fabric, uint64_t guid, unsigned number);

/* The name of the map or what the node calls itself. */
static inline const char *rd_fabric_name(const struct rd_fabric_node *node)
{
	return node->name ? node->name : node->description;
}

/* What a counter counts. */
enum rd_pma_kind {
	RD_PMA_ERROR, /* any increase is worth a look */
	RD_PMA_DROP,  /* packets that were not sent or not taken */
	RD_PMA_WAIT,  /* ticks in which a packet waited for credits */
	RD_PMA_DATA,  /* units of four octets */
	RD_PMA_PACKETS,
	RD_PMA_NOTE, /* informational */
};

/* A counter by the name that the InfiniBand specification gives it. What PortCounters and PortCountersExtended both have
 * is one counter: the wider value counts. */
struct rd_pma_counter {
	const char *name; /* "SymbolErrorCounter" */
	enum rd_pma_kind kind;
	uint8_t attribute; /* index into rd_pma_attributes of the narrow one */
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
};

/* An attribute of the performance management class, a row of --subsets. */
struct rd_pma_attribute {
	uint16_t id;	    /* 0x12 */
	const char *name;   /* "PortCounters" */
	const char *subset; /* "counters" */
};

extern const struct rd_pma_counter rd_pma_counters[];
extern const size_t rd_pma_n_counters;
extern const struct rd_pma_attribute rd_pma_attributes[];
extern const size_t rd_pma_n_attributes;

#define RD_PMA_DEFAULT_SUBSETS "counters,extended,rcv-errors,xmit-discards"

/* Index of a counter by its name, an attribute by its number; RD_NONE. */
size_t rd_pma_find_counter(const char *name);
size_t rd_pma_find_attribute(unsigned id);

/* Whether a value has reached the end of a counter that stops there. */
static inline bool rd_pma_saturated(const struct rd_pma_value *value)
{
	return value->bits && value->bits < 64 && value->v >= (UINT64_C(1) << value->bits) - 1;
}

#endif
