/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What libibverbs says of a device: its limits, and the MTU of its ports. */
#ifndef RD_COLLECT_VERBS_H
#define RD_COLLECT_VERBS_H

#include "model/host/host.h"
#include "model/rdma/qp.h"
#include "source/shared/source.h"

/* The limits of each device, one child process a device. What cannot be asked is noted in `errors` and stays unknown. */
void rd_collect_res_limits(struct rd_source *src, struct rd_res *res, struct rd_errlist *errors);

/* The MTU of each port, in use and at most: what the device has, instead of what follows from its interface; and which
 * data direct function is the device's. Unless `all`, only of devices that have an active port whose MTU is not known, and
 * of all where the host has such functions. */
void rd_collect_verbs(struct rd_source *src, bool all, struct rd_host *host, struct rd_errlist *errors);

#endif
