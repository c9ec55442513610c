/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The topology of a fabric as text: written by --save-topology, read by --compare. */
#ifndef RD_COLLECT_TOPOLOGY_H
#define RD_COLLECT_TOPOLOGY_H

#include "base/buf.h"
#include "base/err.h"
#include "model/fabric/fabric.h"
#include "source/shared/source.h"

#define RD_TOPOLOGY_MAGIC "# rdmadiag topology 1"

/*
 * Parses a topology file, or the output of ibnetdiscover(8): nodes, ports and cables. A link in the file is ACTIVE at both ends,
 * with the width and speed given there. `name`: of the file, for messages. -EBADMSG with the number of an invalid line; -EFBIG
 * above the limits, which are far above the size of a subnet: 49,151 LIDs. `ret` is set on success only; the caller deinitialises
 * it.
 */
#define RD_TOPOLOGY_NODES 200000
#define RD_TOPOLOGY_PORTS 1000000
int rd_topology_parse(const char *name, const char *text, size_t size, struct rd_fabric *ret, struct rd_err *err);

/*
 * The same in two steps. The first, which interprets the text, may run in a process without privileges: `ret` has numbers and texts of a
 * fixed size only, and the second checks all of them.
 */
int rd_topology_read(const char *name, const char *text, size_t size, struct rd_bytes *ret, struct rd_err *err);
int rd_topology_build(const char *name, const struct rd_bytes *read, struct rd_fabric *ret, struct rd_err *err);

/* Writes a topology file, nodes and cables sorted by GUID: equal topologies yield equal files. Omits nodes and ports that are
 * GONE. */
void rd_topology_write(const struct rd_fabric *fabric, struct rd_buf *out);

#endif
