/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What hosts read of their shares of a fabric, as files have it. */
#ifndef RD_MODEL_SHARE_H
#define RD_MODEL_SHARE_H

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
	uint64_t known;		  /* bit I: values[I] is known */
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
	size_t *seen;	       /* hash table of `texts`: index + 1; 0: free */
	size_t cap_seen;
};

void rd_share_files_deinit(struct rd_share_files *files);

#endif
