/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the judge of a network share. */
#ifndef RD_ANALYSE_FABRIC_JUDGE_PRIV_H
#define RD_ANALYSE_FABRIC_JUDGE_PRIV_H

#include "analyse/fabric/fabric.h"

enum rd_fate {
	RD_FATE_HERE,
	RD_FATE_SILENT, /* no queried port responded */
	RD_FATE_GONE,	/* no longer discovered */
};

struct judge {
	const struct rd_fabric *fabric;
	const struct rd_fabric_limits *limits;
	const struct rd_fabric_history *history; /* NULL: none */
	struct rd_findings *findings;
	bool *told;	     /* per port: a finding names its error counters */
	enum rd_fate *fates; /* per node */
};

static inline const struct rd_fabric_node *node_of(const struct judge *j, const struct rd_fabric_port *port)
{
	return &j->fabric->nodes[port->node];
}

/* Whether both ends are switches. */
bool rd_judge_is_uplink(const struct judge *j, const struct rd_fabric_port *port);

/* fabric-judge-nodes.c: nodes that are gone, silent, new, replaced. Fills `fates`, then adds findings. */
void rd_judge_nodes(struct judge *j);

/* Why a link has the width and speed that it has. */
enum rd_link_limit {
	RD_LINK_BEST,	    /* both ends support no more together */
	RD_LINK_CONFIGURED, /* more is disabled at an end */
	RD_LINK_FAULTY,	    /* both ends support and have enabled more */
	RD_LINK_UNKNOWN,
};
enum rd_link_limit rd_judge_limit(const struct rd_fabric_port *port, const struct rd_fabric_port *peer);

/* fabric-judge-odd.c: what differs from all others of its kind. No saved topology is needed. */
void rd_judge_odd(struct judge *j);

#endif
