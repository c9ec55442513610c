/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What ports carry. */
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
	RD_FIELD(double) tx_share, rx_share; /* of the port's rate, 0 to 1 */
	/* The counter that the sent bytes come from; NULL: there is none. The set's. */
	const struct rd_counter *counted_by;
	double usual_gbps; /* both directions, the mean of late, not of this interval; 0: nothing yet */
	bool lost;	   /* it was said that this port has lost its traffic, and none came back yet */
};

/* Of all ports of a set; see analyse/counters/rates.h. */
struct rd_rates {
	struct rd_port_rate *ports; /* as many as the set has ports */
	size_t n;
	struct rd_load_counters *counters; /* which counters to take; as many */
	unsigned looks;
};

#endif
