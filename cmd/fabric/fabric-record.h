/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric --record */
#ifndef RD_CMD_FABRIC_RECORD_H
#define RD_CMD_FABRIC_RECORD_H

#include "cmd/record-file.h"
#include "model/fabric/fabric.h"

/* One line of the file: a counter of a port. */
struct fabric_track {
	bool defined, written; /* in the file */
	bool known, moved;     /* as it was written last */
	uint64_t value;
};

/* A port, for as long as the recording lasts, whatever becomes of it. */
struct fabric_recorded {
	uint64_t key; /* of its GUID and number */
	size_t id;    /* from 0 */
	char *device; /* "leaf 3 0x…": names alone need not be different */
	size_t first; /* the first counter of it in the file; RD_NONE: none */
	enum rd_presence presence;
	struct fabric_track *tracks;
};

struct fabric_record {
	struct record_file to;
	struct fabric_recorded *ports; /* sorted by key */
	size_t n, cap;
	size_t n_values, series;
};

int fabric_record_open(struct rd_ctx *ctx, const char *path, struct fabric_record *record, struct rd_err *err);
void fabric_record_close(struct fabric_record *record);

/* Adds what differs from what the file says already. What is not fresh is written as not known. */
void fabric_record_add(struct fabric_record *record, const struct rd_fabric *fabric, uint64_t time_ns);

/* Ends the file. */
int fabric_record_finish(struct fabric_record *record, struct rd_err *err);

#endif
