/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads an InfiniBand network with MADs. */

#ifndef RD_COLLECT_FABRIC_H
#define RD_COLLECT_FABRIC_H

#include "model/fabric/fabric.h"
#include "source/shared/mad.h"
#include "source/shared/source.h"

/*
 * Sends many queries (Get MADs) to many agents, with a limited number in flight in all and per agent. It does not interpret
 * attributes. Responses are matched to queries by the lower half of the transaction id, in any order.
 */

/*
 * Windows are numbers of MADs in flight. At 250 µs per response, 64 in all yield 256,000 responses per second, more than one core
 * decodes, and stay far below the limits of the kernel's queues. 2 per agent hide its turnaround without flooding it: with 1, the
 * largest switch determines the duration of the sweep. Measurements: tests/bench/results/fabric.md.
 */
struct rd_sweep_limits {
	unsigned window;     /* in flight, in all: 1 … RD_SWEEP_WINDOW_MAX */
	unsigned per_lid;    /* in flight to one LID that has responded; before it has, 1 */
	unsigned timeout_ms; /* of the first try; doubles with each, up to RD_SWEEP_TIMEOUT_MAX_MS */
	unsigned retries;    /* after the first try; done here, the retry count given to the kernel is 0 */
	/* Directed routes: in flight to or through one switch. SMPs are sent on VL15, which has no flow control and few buffers in
	 * switches: opensm keeps 4 in flight, ibnetdiscover 2, to the whole network. This allows for more in all where routes do not meet;
	 * where it is too much, losses halve the window, down to RD_SWEEP_WINDOW_LOSSY. The switches that have this limit, by index: the one before it on the way, 0: the root; 0 of them: none. */
	unsigned per_switch;
	size_t n_switches;
	const uint32_t *switches; /* owned by the caller */
};
#define RD_SWEEP_TIMEOUT_MAX_MS 2000
#define RD_SWEEP_WINDOW_MAX 1024
#define RD_SWEEP_WINDOW_LOSSY 8
/* 50, 100, 200 and 400 ms in all. Current devices respond within a millisecond: a lost datagram, whose place in the windows stays
 * occupied, is retried early, and a slow device has as much time as opensm gives it (200 ms), and more. */
#define RD_SWEEP_LIMITS_DEFAULT                                                             \
	{                                                                                   \
		.window = 64, .per_lid = 2, .timeout_ms = 50, .retries = 3, .per_switch = 2 \
	}

/* A directed route: the egress port of each hop, beginning with the local port. */
#define RD_MAD_ROUTE_MAX 63
struct rd_mad_route {
	uint8_t hops;
	uint8_t path[RD_MAD_ROUTE_MAX];
};

/* One query: a Get of an attribute. */
struct rd_sweep_query {
	struct rd_mad_dest dest;
	uint8_t mad_class; /* 0x01 (subnet management, LID routed), 0x81 (directed route) or 0x04 (performance management) */
	uint8_t port_select; /* class 0x04, all but ClassPortInfo: PortSelect, byte 1 of the data */
	bool expected; /* the agent responded to an earlier sweep: one query without a response does not end its others */
	bool optional;	  /* may fail without consequences for other queries: the agent need not support it */
	bool after;	  /* sent only when all earlier queries of its LID have a result */
	uint8_t next_hop; /* class 0x81: egress port appended to the route; 0: none */
	uint16_t attribute;
	uint32_t modifier;
	const struct rd_mad_route *route; /* class 0x81; owned by the caller */
	uint32_t gate; /* the last switch that it passes and that has a limit; 0: none. The same for all queries of a LID */
	size_t subject; /* of the caller: what the query is about */
	size_t lid; /* index of the agent, chosen by the caller, below n_lids. Queries of one LID must be contiguous */
};

/* Result of a query. error 0: `mad` is a valid response. ETIMEDOUT: no response to any try. EREMOTEIO: `mad_status` is the error
 * status of the response. EBADMSG: the responses to all tries do not match the query. EHOSTDOWN: not sent, because the LID did not
 * respond before. ENODATA: not needed. Otherwise: the errno of sending. */
struct rd_sweep_result {
	size_t query;	/* index */
	unsigned tries; /* MADs sent for it */
	int error;
	unsigned mad_status;
	const uint8_t *mad;  /* RD_MAD_SIZE bytes; NULL: none. Valid during the call */
	uint64_t latency_ns; /* of `mad`, since its latest try */
	uint64_t at_ns;	     /* clock of the port */
	const struct rd_sweep_query *sent;
};

struct rd_sweep_callbacks {
	/* Called just before a query is sent; returns false if earlier responses make it unnecessary: it then ends with ENODATA.
	 * NULL: all are sent. The second query of a LID is sent only after the first has a result. */
	bool (*needed)(void *arg, size_t query);
	/* Called once for each query. */
	void (*done)(void *arg, const struct rd_sweep_result *result);
	void *arg;
};

/*
 * Sends all queries, calls `done` exactly once for each, and fills `stats` unless it is NULL. An agent that has not responded yet gets one query at
 * a time. One whose latest try timed out is queried again only when no other LID waits, so unresponsive LIDs delay the others only
 * if there are as many as the window is wide. -errno if the local port failed; queries without a result then end with that error.
 */
int rd_sweep_run(struct rd_mads *mads, const struct rd_sweep_limits *limits, const struct rd_sweep_query *queries,
		 size_t n_queries, size_t n_lids, const struct rd_sweep_callbacks *callbacks,
		 struct rd_sweep_stats *stats, struct rd_err *err);

/* A port of this host, as reported by libibumad. */
struct rd_mad_port {
	char ibdev[64];
	unsigned port;
	uint64_t node_guid, port_guid;
	unsigned lid, lmc, sm_lid, state, physical_state, rate_gbps;
	char link_layer[32]; /* "InfiniBand", "Ethernet"; empty: not reported by the kernel */
};

/* Lists the ports; the caller frees *ret. -ENODEV if there are none. */
int rd_collect_mad_ports(struct rd_source *src, struct rd_mad_port **ret, size_t *n, struct rd_err *err);

/* Discovers the network from a port of this host and fills `fabric`. `attributes`: mask of rd_pma_attributes to read later. */
int rd_collect_fabric(struct rd_mads *mads, const struct rd_mad_port *from, const struct rd_sweep_limits *limits,
		      uint64_t attributes, struct rd_fabric *fabric, struct rd_err *err);

/* Queries NodeInfo of the nodes with `asked` at the LIDs of their ports; sets `responds` of those that respond with their own GUID. Both
 * are per node. A response does not depend on the route of a walk: the node is there. */
int rd_fabric_probe(struct rd_mads *mads, const struct rd_sweep_limits *limits, const struct rd_fabric *fabric,
		    const bool *asked, bool *responds, struct rd_err *err);

/*
 * Queries the state of ports, of at most 128, whose link may be down since the discovery: their LinkDownedCounter increased, or
 * is at its maximum. Their neighbours are queried, too. Sets `lost` and `mute` of these ports, and fabric->changed if the state of
 * one is another one than at the discovery. -errno if the local port failed.
 */
int rd_fabric_check_links(struct rd_mads *mads, const struct rd_sweep_limits *limits, struct rd_fabric *fabric,
			  struct rd_err *err);

/* Follows the route to each node (of at most 256) that did not respond in the latest sweep although the walk found it, and back; sets
 * `blocked` of all nodes. `known_lids`: the walk is later than the silence, so that a switch without a route to a LID lacks it. -errno if
 * the local port failed. */
int rd_fabric_trace_silent(struct rd_mads *mads, const struct rd_sweep_limits *limits, bool known_lids,
			   struct rd_fabric *fabric, struct rd_err *err);

/* SMInfo of the subnet manager. */
struct rd_sm_info {
	bool known; /* it responded */
	uint64_t guid;
	uint32_t activity; /* ActCount: increases with whatever it does */
	unsigned state;	   /* 3: master */
	bool stalled;	   /* activity has not increased since the previous query; set by the caller */
};

/* Queries the subnet manager at a LID. -errno if the local port failed. */
int rd_fabric_query_sm(struct rd_mads *mads, const struct rd_sweep_limits *limits, uint16_t lid, struct rd_sm_info *ret,
		       struct rd_err *err);

/* Takes names from a node-name-map: lines of GUID and "name", as in infiniband-diags and opensm. Counts invalid lines in
 * `ret_bad`. */
void rd_fabric_name_nodes(struct rd_fabric *fabric, const char *text, size_t *ret_bad);

/*
 * Queries the counters of the selected ports. A port of which all responses arrived is fresh and has new values, and the previous
 * ones as `before`; other ports keep their values. The model is updated after all queries have ended. `verify`: also query
 * NodeInfo of each LID, to detect LIDs that were assigned to a different node.
 */
int rd_fabric_sweep(struct rd_mads *mads, const struct rd_sweep_limits *limits, bool verify, struct rd_fabric *fabric,
		    struct rd_err *err);

/* Queries PortSamplesControl:Tick of every switch, without retries, for rd_fabric_wait_share. Unknown if a switch does not respond.
 * Adapters are not queried: their Tick is not documented. */
int rd_fabric_query_ticks(struct rd_mads *mads, const struct rd_sweep_limits *limits, struct rd_fabric *fabric,
			  struct rd_err *err);

/* Parses "counters,extended" or "all" into a mask of rd_pma_attributes; NULL: RD_PMA_DEFAULT_SUBSETS. -EINVAL with the valid names in the hint. */
int rd_pma_subsets(const char *list, uint64_t *ret, struct rd_err *err);

/* Number of values that a port has if these attributes are read. */
size_t rd_pma_n_values(uint64_t attributes);

/* Decodes the counters of a response into `values`, `n` of them; an existing value of a wider field stays. Fields that are not
 * valid according to the node's ClassPortInfo stay unknown. */
void rd_pma_decode(size_t attribute, const uint8_t *mad, const struct rd_fabric_node *node, struct rd_pma_value *values,
		   size_t n);

/* Reads the linear forwarding tables of switches. */

/*
 * Queries SwitchInfo of all switches, then those blocks of their tables that have one of the LIDs (NULL: any LID of the fabric).
 * SMPs are routed by LID; what gets no response is queried again with directed routes, which do not depend on the tables. What neither reaches stays unread. -errno only if the local port failed.
 */
int rd_routes_read(struct rd_mads *mads, const struct rd_sweep_limits *limits, const struct rd_fabric *fabric,
		   const uint16_t *lids, size_t n_lids, struct rd_routes *routes, struct rd_err *err);

#define RD_SMP_DATA 64

/* Attributes are as on the wire; all zeros without a response. */
struct rd_walk_port {
	struct rd_walk_node *peer; /* at the other end of the cable; NULL: none was found */
	unsigned peer_port;
	uint64_t guid;	     /* NodeInfo:PortGUID; 0: the port was not reached from its neighbour */
	bool known;	     /* `info`, its PortInfo, was read */
	bool lost;	     /* its PortInfo was queried, without a response */
	bool peer_unreached; /* its link is up, but the node behind it did not respond, or not as a node does */
	uint8_t info[RD_SMP_DATA], extended[RD_SMP_DATA];
};

struct rd_walk_node {
	uint64_t guid;		   /* unambiguous */
	uint64_t reported_guid;	   /* in its NodeInfo, if a different device has the same; else 0 */
	struct rd_walk_node *twin; /* the next device that reports this GUID */
	unsigned kind, n_ports;	   /* enum rd_node_kind */
	uint8_t info[RD_SMP_DATA], switch_info[RD_SMP_DATA], description[RD_SMP_DATA];
	bool switch_info_lost, description_lost; /* queried, without a response */
	struct rd_mad_route route;
	size_t index;		    /* in rd_walk.nodes */
	uint32_t gate;		    /* of a datagram to it: see struct rd_sweep_query */
	size_t n_routes;	    /* routes to other nodes that continue from this one */
	struct rd_walk_node *via;   /* the node before it on the route; NULL: the local node */
	struct rd_walk_port *ports; /* n_ports + 1, by number */
};

struct rd_walk {
	struct rd_walk_node **nodes; /* in the order of discovery, the local node first */
	size_t n, cap;
	unsigned self_port;
	struct rd_walk_stats stats;
	uint64_t duration_ns;
};

/*
 * Where two devices report the same node GUID, the second one has a made-up one, beginning with 0xffff. They are distinguished by what
 * no device can have: two neighbours at one port, or two values in NodeInfo. Both places are queried again before, because a cable may
 * just have been moved.
 *
 * Queries each cable once: NodeInfo of the neighbour contains the number of the port that received the query. Nodes that do not
 * respond are omitted: `peer_unreached` is set where they are connected. If queries were lost that got a response when retried, what
 * is missing in the end is queried once more. limits->per_switch is the number of datagrams in flight to or through each switch
 * except the first, as far as the walk knows what it will meet; with it, routes are spread over the switches that they could take,
 * and losses halve limits->window.
 * -errno if the local port fails or does not respond. Call rd_walk_deinit in any case.
 */
int rd_walk_run(struct rd_mads *mads, const struct rd_sweep_limits *limits, struct rd_walk *walk, struct rd_err *err);
void rd_walk_deinit(struct rd_walk *walk);

/* A port of this host for MADs that is shared with work in the background, and watched while responses are waited for. */

/*
 * A port of this host that the caller shares with work which takes long, such as a walk, and is done in pieces. The work has a thread
 * of its own, but runs only within rd_background_continue and rd_background_finish, while the caller waits: nothing needs a lock.
 */

struct rd_background;

/* Sends and receives with `mads`, a port of its own; 0 or -errno with `err` filled. */
typedef int rd_background_fn(void *arg, struct rd_mads *mads, struct rd_err *err);

/* Takes ownership of `mads`. */
struct rd_background *rd_background_open(struct rd_mads *mads);

/* Ends what has not ended, and closes the port. */
void rd_background_close(struct rd_background *background);

/* The port of the caller. It is closed like any other, before the background or not at all. */
struct rd_mads *rd_background_port(struct rd_background *background);

/* Prepares work, of which there is one at a time; `arg` has to stay valid until it is finished. -errno with `err` filled. */
int rd_background_begin(struct rd_background *background, rd_background_fn *work, void *arg, struct rd_err *err);

/* Whether work was prepared, and not yet finished. */
bool rd_background_begun(const struct rd_background *background);

/* Lets the work go on for that long, or until it waits for responses that late. Whether it has ended. */
bool rd_background_continue(struct rd_background *background, unsigned ms);

/* The result of the work. If it has not ended, it can receive nothing any more: it fails with -ECANCELED. */
int rd_background_finish(struct rd_background *background, struct rd_err *err);

/* A port of this host for MADs that calls a function while responses are waited for: a view then shows progress and handles keys. */

#define RD_PULSE_MS 50

struct rd_pulse {
	/* Called every RD_PULSE_MS. `nodes`: those that responded to a walk so far. False: receiving fails with ECANCELED from now
	 * on, which ends the walk or the sweep. NULL: there is no such function. */
	bool (*beat)(void *arg, size_t nodes);
	void *arg;
};

/* Takes ownership of `mads`. */
struct rd_mads *rd_pulse_wrap(struct rd_mads *mads, const struct rd_pulse *pulse);

/* The topology of a fabric as text: written by --save-topology, read by --compare. */

#define RD_TOPOLOGY_MAGIC "# rdmadiag topology 1"

/*
 * Parses a topology file, or the output of ibnetdiscover(8): nodes, ports and cables. A link in the file is ACTIVE at both ends,
 * with the width and speed given there. `name`: of the file, for messages. -EBADMSG with the number of an invalid line; -EFBIG
 * above the limits, which are far above the size of a subnet: 49,151 LIDs. `ret` is set on success only; the caller deinitialises
 * it.
 */
#define RD_TOPOLOGY_NODES 200000
#define RD_TOPOLOGY_PORTS 1000000
int rd_topology_parse(const char *name, const char *text, size_t size, struct rd_fabric *ret, struct rd_err *err);

/*
 * The same in two steps. The first, which interprets the text, may run in a process without privileges: `ret` has numbers and texts of a
 * fixed size only, and the second checks all of them.
 */
int rd_topology_read(const char *name, const char *text, size_t size, struct rd_bytes *ret, struct rd_err *err);
int rd_topology_build(const char *name, const struct rd_bytes *read, struct rd_fabric *ret, struct rd_err *err);

/* Writes a topology file, nodes and cables sorted by GUID: equal topologies yield equal files. Omits nodes and ports that are
 * GONE. */
void rd_topology_write(const struct rd_fabric *fabric, struct rd_buf *out);

/* Reads what hosts read of their shares: documents of counters --fabric --json, one or several lines of them. The files are foreign
 * input. */

/*
 * Adds the shares of a file: of each host and share the latest sweep. -EBADMSG with the line or what is wrong, -EFBIG above
 * RD_SHARE_ROWS_MAX ports, RD_SHARE_FILES_MAX shares or RD_SHARE_SWEEPS_MAX sweeps in all. While a file is read, replaced shares
 * and their ports may take as much memory again.
 */
#define RD_SHARE_ROWS_MAX 400000 /* of the largest networks, each port three times: 150 MB */
#define RD_SHARE_FILES_MAX 4096
#define RD_SHARE_SWEEPS_MAX 400000 /* four days of one a second */
int rd_share_read(const char *name, const char *text, size_t size, struct rd_share_files *files, struct rd_err *err);
void rd_share_files_deinit(struct rd_share_files *files);

/* Parses a host file, as used by MPI: the first word of each line; "#" begins a comment. The caller releases `ret` in any case.
 * -EBADMSG for an invalid host name, -EFBIG above a million, -ENODATA if there are none. */
int rd_hostfile_parse(const char *name, const char *text, size_t size, struct rd_texts *ret, struct rd_err *err);

#endif
