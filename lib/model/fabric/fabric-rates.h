/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What two readings of a port's counters say. */
#ifndef RD_MODEL_FABRIC_RATES_H
#define RD_MODEL_FABRIC_RATES_H

#include "model/fabric/fabric.h"

/* The latest value of a counter; false where it is not known. */
bool rd_fabric_value(const struct rd_fabric *fabric, const struct rd_fabric_port *port, size_t counter,
		     struct rd_pma_value *ret);

/*
 * How much came between the two latest readings, and in which time. False where that cannot be told: read once only, from
 * a field of another width, gone down (somebody cleared it), or at the end of the field, where all counters but those of 64
 * bits stop.
 */
bool rd_fabric_delta(const struct rd_fabric *fabric, const struct rd_fabric_port *port, size_t counter, uint64_t *delta,
		     double *seconds);

/* Data that the link could carry in each direction, Gbit/s; 0: unknown. */
double rd_fabric_link_gbps(const struct rd_fabric_port *port);

/* Gbit/s between the two latest readings: of PortXmitData or PortRcvData, which count units of four octets. */
bool rd_fabric_gbps(const struct rd_fabric *fabric, const struct rd_fabric_port *port, size_t counter, double *ret);

/*
 * Share of the time, 0 to 1, in which the port had data to send and was not allowed to. PortXmitWait counts ticks, and a tick
 * is a multiple of the time that an octet takes on a lane: PortSamplesControl:Tick + 1 octets (InfiniBand Architecture
 * Specification, volume 1, PortSamplesControl; 4 ns at SDR). Devices that say 7 count 8 octets of the whole port, whatever its
 * width, those that say more count for each lane (NVIDIA, ibdiagnet user manual, "Congestion Assessment on InfiniBand Links"):
 *
 *     ticks * octets of a tick * 8 / (data rate of the link * time)
 *
 * False where the device does not say its tick, or there are no two readings.
 */
bool rd_fabric_wait_share(const struct rd_fabric *fabric, const struct rd_fabric_port *port, double *ret);

#endif
