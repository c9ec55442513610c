/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_SNAPSHOT_H
#define RD_SNAPSHOT_H

#include "model/host/netstate.h"
#include "model/shared/facts.h"
#include "source/shared/source.h"

/*
 * Everything that `diff` compares: RDMA devices and their ports, GIDs and counters, interfaces, PCI functions with a network or
 * accelerator class, addresses and routes, kernel and modules, settings; and what model/host/attributes.h lists. Absent values
 * are omitted, unreadable ones have no text. Fails with -ENOMEM, -E2BIG. `ret` is sorted; the caller releases it, also on
 * failure.
 */
int rd_snapshot_collect(struct rd_source *src, struct rd_facts *ret, struct rd_err *err);

/* The part for addresses and routes. */
void rd_snapshot_net(const struct rd_netstate *net, struct rd_facts *ret);

#endif
