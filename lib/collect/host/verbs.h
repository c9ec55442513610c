/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Device limits and port MTUs from libibverbs. */
#ifndef RD_COLLECT_VERBS_H
#define RD_COLLECT_VERBS_H

#include "model/host/host.h"
#include "model/rdma/qp.h"
#include "source/shared/source.h"

/* The limits of each device, with one child process per device. Failed queries are noted in `errors`; the values stay
 * unknown. */
void rd_collect_res_limits(struct rd_source *src, struct rd_res *res, struct rd_errlist *errors);

/* Reads the active and maximum MTU of each port from the device, instead of computing it from the interface, and the data
 * direct function of the device. Unless `all`, only for devices with an active port of unknown MTU; for all devices if the
 * host has data direct functions. */
void rd_collect_verbs(struct rd_source *src, bool all, struct rd_host *host, struct rd_errlist *errors);

#endif
