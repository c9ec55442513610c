/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Divides the ports of a network among the hosts that read them, and puts together what they read. */

/*
 * Divides the ports of a fabric among the hosts that read them. There is no coordination: every host computes the same division,
 * because it depends only on the topology and the list of hosts. The order of discovery, the byte order and the order of the
 * list do not matter.
 */

#ifndef RD_ANALYSE_FABRIC_SHARD_H
#define RD_ANALYSE_FABRIC_SHARD_H

#include "model/fabric/fabric.h"

/*
 * Divides the selected ports among the `n` hosts `names` (in any order; duplicates are dropped) or, if `names` is NULL, among
 * the numbers 0 to n-1. A host first gets its own ports, then the other ends of their cables and ports of its leaf switches and of
 * the adapters attached to them, shared with the other listed hosts on that leaf. The remaining ports go to hosts by rendezvous
 * hashing with bounded loads, so that a host that leaves or joins moves few ports besides its own. No host gets more
 * than ret->most, unless it has more ports of its own. `n` is at least 1.
 */
void rd_shards_divide(const struct rd_fabric *fabric, char *const *names, size_t n, struct rd_shards *ret);
void rd_shards_deinit(struct rd_shards *shards);

/* Index of the host with that name, with or without its domain; -1. */
ssize_t rd_shards_find(const struct rd_shards *shards, const char *host);

/* Index of the host of this channel adapter, by its node description or the node-name-map; -1. */
ssize_t rd_shards_of_node(const struct rd_shards *shards, const struct rd_fabric_node *node);

/*
 * Predicts the duration of each host's sweep in seconds, if each response takes `latency` seconds, `window` MADs are outstanding
 * in all and `per_lid` per LID, and `attributes` are read per port: the greater of ports * attributes * latency / window and,
 * for the LID with the most ports, the same with its own window.
 */
void rd_shards_predict(struct rd_shards *shards, unsigned attributes, double latency, unsigned window, unsigned per_lid);

/* Adds a finding for each host that is not in the fabric: its share is not read. */
void rd_shards_judge(const struct rd_fabric *fabric, const struct rd_shards *shards, struct rd_findings *findings);

/* Puts together what hosts read of their shares of a fabric. */

/* The ports of all files, each as it was read last; times are those since the epoch. Both results are released by the caller. */
void rd_fabric_merge(const struct rd_share_files *files, struct rd_fabric *ret, struct rd_merge *merge);
void rd_merge_deinit(struct rd_merge *merge);

/* Adds the findings of the files, each once and as its worst, and what is wrong with the shares: missing, incomplete, of another
 * topology, old. `hosts`: of the shares in their order; NULL: unknown. */
void rd_fabric_merge_judge(const struct rd_share_files *files, const struct rd_merge *merge, const char *const *hosts,
			   struct rd_findings *findings);

#endif
