/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who reads which ports of a fabric: analyse/fabric/fabric-shard.h divides. */
#ifndef RD_MODEL_SHARD_H
#define RD_MODEL_SHARD_H

#include "base/base.h"

struct rd_shard {
	char *host;	  /* owned; NULL: the division is among numbers, not names */
	bool found;	  /* has a channel adapter in this fabric, of which a port is up */
	size_t ports;	  /* all it is to read */
	size_t own;	  /* of these: its own channel adapters' */
	size_t leaf;	  /* of these: of its leaf switches and what hangs on them */
	size_t agents;	  /* LIDs that it asks */
	size_t max_agent; /* most ports at one of these */
	double seconds;	  /* that a sweep of it will take, see rd_shards_predict; 0: not predicted */
};

struct rd_shards {
	struct rd_shard *v;
	size_t n;
	int32_t *owner;	   /* of each port of the fabric, an index into v; -1: is not read */
	size_t ports;	   /* that are read at all */
	uint64_t topology; /* what the division was made from: hosts that have the same number divide alike */
};

#endif
