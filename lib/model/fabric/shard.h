/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which host reads which ports of a fabric: result of analyse/shares/fabric-shard.h. */
#ifndef RD_MODEL_SHARD_H
#define RD_MODEL_SHARD_H

#include "base/base.h"

struct rd_shard {
	char *host;	  /* owned; NULL: the division is among numbers, not names */
	bool found;	  /* has a channel adapter in this fabric with a port that is up */
	size_t ports;	  /* that it reads */
	size_t own;	  /* of these: of its own channel adapters */
	size_t leaf;	  /* of these: of its leaf switches and the adapters attached to them */
	size_t agents;	  /* LIDs that it queries */
	size_t max_agent; /* the most ports at one of these */
	double seconds;	  /* predicted duration of its sweep, see rd_shards_predict; 0: not predicted */
};

struct rd_shards {
	struct rd_shard *v;
	size_t n;
	int32_t *owner;	   /* per port of the fabric: index into v; -1: not read */
	size_t ports;	   /* that are read by any host */
	size_t most;	   /* ports that a host reads, unless it has more of its own */
	uint64_t topology; /* hash of everything that was divided: hosts with the same value compute the same shares */
};

#endif
