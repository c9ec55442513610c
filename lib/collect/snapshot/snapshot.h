/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_SNAPSHOT_H
#define RD_SNAPSHOT_H

#include "model/shared/facts.h"
#include "source/shared/source.h"

/*
 * All that `diff` compares: RDMA devices and their ports, GIDs and counters, interfaces, PCI functions with a network or
 * accelerator class, addresses and routes, kernel and modules, settings. From sysfs, procfs and rtnetlink. What is not there
 * or denied is left out. -ENOMEM only. `ret` comes sorted; caller deinits it also on failure.
 */
int rd_snapshot_collect(struct rd_source *src, struct rd_facts *ret, struct rd_err *err);

/* Its part for addresses and routes: rtnetlink messages to facts. */
void rd_snapshot_net(struct rd_source *src, struct rd_facts *ret);

/* Its part for PCI: functions with a network, display or accelerator class, and bridges: links, drivers, and of those that
 * matter payload, read requests, relaxed ordering and ACS out of configuration space, where that may be read. */
int rd_snapshot_pci(struct rd_source *src, struct rd_facts *ret, struct rd_err *err);

#endif
