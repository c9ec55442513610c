/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many nodes and links of each kind a network has. */
#ifndef RD_MODEL_FABRIC_CENSUS_H
#define RD_MODEL_FABRIC_CENSUS_H

#include "model/fabric/fabric.h"

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

#endif
