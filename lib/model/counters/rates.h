/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traffic of ports. */
#ifndef RD_MODEL_RATES_H
#define RD_MODEL_RATES_H

#include "model/counters/counter.h"

enum rd_load {
	RD_LOAD_TX_BYTES,
	RD_LOAD_RX_BYTES,
	RD_LOAD_TX_PACKETS,
	RD_LOAD_RX_PACKETS,
	RD_LOADS,
};

struct rd_port_rate {
	RD_FIELD(double) per_second[RD_LOADS]; /* bytes and packets */
	RD_FIELD(double) tx_gbps, rx_gbps;
	RD_FIELD(double) tx_share, rx_share; /* of the line rate, 0 to 1 */
	/* The counter that the sent bytes come from, owned by the set; NULL: none. */
	const struct rd_counter *counted_by;
	double usual_gbps; /* both directions, average of recent intervals without this one; 0: none yet */
	bool lost;	   /* reported as having lost its traffic, which has not come back yet */
};

/* Rates of all ports of a set; see analyse/counters/rates.h. */
struct rd_rates {
	struct rd_port_rate *ports; /* as many as the set has ports */
	size_t n;
	struct rd_load_counters *counters; /* which counters to use; as many */
	unsigned intervals;		   /* so far */
};

#endif
