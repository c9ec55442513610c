/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ports that several hosts read: what each is to read, what each has read, as files have it, and what these cover together. */

#ifndef RD_MODEL_SHARE_H
#define RD_MODEL_SHARE_H

#include "base/base.h"
#include "base/map.h"
#include "base/text.h"
#include "model/fabric/fabric.h"
#include "model/shared/finding.h"

/* Counters that a file has of a port: those of the default subsets, which are the first in rd_pma_counters. */
#define RD_SHARE_COUNTERS (RD_C_SW_HOQ_LIFETIME_LIMIT_DISCARDS + 1)

/* A port as one host read it. */
struct rd_share_row {
	uint64_t guid, peer_guid;
	unsigned port, peer_port, state, width, speed;
	enum rd_node_kind kind;
	uint16_t lid;
	bool fresh;
	uint64_t read_ns;	  /* since the epoch, by the clock of that host; 0: never read */
	const char *node, *error; /* in `texts`; NULL: none */
	uint64_t known, nulls;	  /* bit I: values[I] is known; was not read */
	uint64_t values[RD_SHARE_COUNTERS];
	size_t share;
};

/* The latest sweep of one host in a file. */
struct rd_share {
	const char *file;   /* not owned */
	const char *host;   /* in `texts` */
	uint64_t time_ns;   /* of the document, since the epoch */
	unsigned index, of; /* 1 to `of`; 0: the ports are not divided */
	RD_FIELD(uint64_t) topology, all_ports;
	size_t ports; /* that it was to read */
	size_t found; /* rows of it */
	struct rd_findings findings;
	bool replaced; /* by a later one of the same host and share */
};

struct rd_share_files {
	struct rd_share *v;
	size_t n, cap;
	struct rd_share_row *rows;
	size_t n_rows, cap_rows;
	size_t sweeps;	       /* begun, of all shares */
	struct rd_texts texts; /* that rows, shares and findings point to */
	struct rd_map by_text; /* of `texts` */
};

/* What files of shares cover together: result of analyse/shares/fabric-shard.h. */

struct rd_merge {
	unsigned shares;	      /* into which the ports are divided, by most files; 0: they are not */
	unsigned missing;	      /* of these */
	bool *have;		      /* per share, from 0; owned */
	size_t ports, fresh;	      /* in the files, each once; of these read by the latest sweep of its host */
	size_t duplicates;	      /* readings of a port that another file has newer */
	RD_FIELD(uint64_t) uncovered; /* ports of missing shares; unknown: no file says how many there are in all */
	uint64_t topology;	      /* of most shares */
	uint64_t oldest_ns, newest_ns;
	size_t oldest; /* the share */
};

/* Which host reads which ports of a fabric: result of analyse/shares/fabric-shard.h. */

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
