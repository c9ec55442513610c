/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric --record */
#ifndef RD_CMD_FABRIC_RECORD_H
#define RD_CMD_FABRIC_RECORD_H

#include "cmd/record-file.h"
#include "model/fabric/fabric.h"

/* A counter of a port: what was last written of it. */
struct fabric_track {
	bool defined, written; /* the series, and a point of it, is in the file */
	bool known, increased; /* of the last point */
	uint64_t value;
};

/* A port; kept until the end of the recording, even if it disappears. */
struct fabric_recorded {
	uint64_t key; /* of its GUID and number */
	size_t id;    /* from 0 */
	char *device; /* "leaf 3 0x…": names alone may not be unique */
	size_t first; /* its first counter in the file; RD_NONE: none */
	enum rd_presence presence;
	enum { UNTOLD, TOLD_READ, TOLD_UNREAD } told; /* the latest event of it in the file */
	/* Our own MADs that can have passed it, since the recording began; at the start of the sweep that its latest values are of. */
	uint64_t passed, passed_before;
	struct fabric_track *tracks;
};

struct fabric_record {
	struct record_file to;
	struct fabric_recorded *ports; /* sorted by key */
	size_t n, cap;
	size_t n_values, series;
	uint64_t discovered_ns; /* of the network added last */
};

int fabric_record_open(struct rd_ctx *ctx, const char *path, struct fabric_record *record, struct rd_err *err);
void fabric_record_close(struct fabric_record *record);

/*
 * Writes what moved since the previous sweep: errors that counted; data and packets that counted more than our own MADs can explain.
 * At first, errors that are not 0, and an event for each port: read, or not read. Another event is written when that changes.
 *
 * Every query and every response passes a port at most once in each direction. At the cable of an adapter, only those of its LID pass,
 * and those of the walk that go there; elsewhere all can, as the routes are not known. Between two readings of a port are at most
 * the MADs of both sweeps.
 */
void fabric_record_add(struct fabric_record *record, const struct rd_fabric *fabric, uint64_t time_ns);

/* Completes the file. */
int fabric_record_finish(struct fabric_record *record, struct rd_err *err);

#endif
