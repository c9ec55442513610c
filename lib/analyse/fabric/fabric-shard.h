/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dividing the ports of a fabric among the hosts that read them. Nobody coordinates: every host computes the same division,
 * because it follows from the topology and the list of hosts alone. Order of discovery, byte order and the order of the
 * list do not matter.
 */
#ifndef RD_ANALYSE_FABRIC_SHARD_H
#define RD_ANALYSE_FABRIC_SHARD_H

#include "model/fabric/fabric.h"
#include "model/fabric/shard.h"
#include "model/shared/finding.h"

/*
 * Divides the selected ports among `n` hosts of these names (sorted and without doubles inside), or, where `names` is NULL, among the numbers 0
 * to n-1. First a host gets its own ports; then those of its leaf switches and of what hangs on them, shared with the
 * other hosts there; what is left (leaves without a host that reads, tiers above) goes to whoever has fewest, whole runs of
 * a switch's ports. No host gets more than its even share, unless its own ports are more. -EINVAL for no host.
 */
int rd_shards_divide(const struct rd_fabric *fabric, char *const *names, size_t n, struct rd_shards *ret);
void rd_shards_deinit(struct rd_shards *shards);

/* Index of the host by that name, with or without its domain; -1. */
ssize_t rd_shards_find(const struct rd_shards *shards, const char *host);

/* Index of the host that this channel adapter belongs to, as its description or the node-name-map has it; -1. */
ssize_t rd_shards_of_node(const struct rd_shards *shards, const struct rd_fabric_node *node);

/*
 * Predicts the time of each sweep: MADs answer independently in `latency` seconds, `window` are under way in all and `per_lid`
 * at one LID, `attributes` are read of a port: the greater of ports * attributes * latency / window and, for the LID with
 * most ports, the same with its own window.
 */
void rd_shards_predict(struct rd_shards *shards, unsigned attributes, double latency, unsigned window, unsigned per_lid);

/* Says which shares nobody reads: hosts that are not in the fabric. */
void rd_shards_judge(const struct rd_shards *shards, struct rd_findings *findings);

#endif
