/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rates from two readings of a port's counters. */
#ifndef RD_MODEL_FABRIC_RATES_H
#define RD_MODEL_FABRIC_RATES_H

#include "model/fabric/fabric.h"

/* The latest value of a counter; false if unknown. */
bool rd_fabric_value(const struct rd_fabric *fabric, const struct rd_fabric_port *port, size_t counter,
		     struct rd_pma_value *ret);

/*
 * Increase between the two latest readings, and the time between them. False if unknown: read once only, read from fields of
 * different width, decreased (the counter was cleared), or at the maximum of the field, where all counters except 64-bit ones
 * stop.
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

#endif
