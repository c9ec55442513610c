/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The topology of a fabric as text: what --save-topology writes and --compare reads. */
#ifndef RD_COLLECT_TOPOLOGY_H
#define RD_COLLECT_TOPOLOGY_H

#include "base/buf.h"
#include "base/err.h"
#include "model/fabric/fabric.h"

#define RD_TOPOLOGY_MAGIC "# rdmadiag topology 1"

/*
 * Reads a topology file, or the output of ibnetdiscover(8), which looks different enough to be told apart by itself: nodes,
 * ports and cables; a link is ACTIVE at both ends where the file has it, and of the width and speed that stand there.
 * `name`: what to call the file in messages. -EBADMSG with the line that is no good; -EFBIG above the limits, of
 * which a subnet has fewer by far: it has 49,151 LIDs; `ret` is written on success only, and the caller's to release.
 */
#define RD_TOPOLOGY_NODES 200000
#define RD_TOPOLOGY_PORTS 1000000
int rd_topology_parse(const char *name, const char *text, size_t size, struct rd_fabric *ret, struct rd_err *err);

/* Writes the same, nodes and cables in the order of their GUIDs: equal topologies give equal files. What is gone is left
 * out. */
void rd_topology_write(const struct rd_fabric *fabric, struct rd_buf *out);

/* Names, one a line, the first word of each ("#" begins a comment): hosts, as MPI's host files have them. Caller frees the
 * texts and the list. -EBADMSG for what is no host name, -EFBIG above a million, -ENODATA for none. */
int rd_hostfile_parse(const char *name, const char *text, size_t size, char ***ret, size_t *n, struct rd_err *err);
void rd_hostfile_free(char **names, size_t n);

#endif
