/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counters --fabric --record FILE.csv: a row for each port that this host reads and each sweep, so that a database loads the
 * file. A sweep is written whole or not at all; sweeps that do not fit on a full disk are dropped, reported and
 * counted, and recording continues when there is space.
 */
#ifndef RD_CMD_FABRIC_CSV_H
#define RD_CMD_FABRIC_CSV_H

#include "fabric-cmd.h"

#define FABRIC_CSV_KEPT 4 /* full files: FILE.1, the newest, to FILE.4 */
#define FABRIC_CSV_MB 128 /* of a file, unless --record-size is given */

struct fabric_csv {
	struct fabric_session *s;
	const char *path;
	char *host;
	int fd;
	uint64_t size; /* whole sweeps */
	uint64_t sweeps, lost;
	bool refused, unrotated;
	struct rd_buf out;
};

/* Whether the name is that of such a recording. */
bool fabric_csv_wanted(const char *path);

/* Replaces an older recording; another file is refused (-EEXIST), links are not followed. `csv` must be closed in any case. */
int fabric_csv_open(struct fabric_session *s, const char *path, struct fabric_csv *csv, struct rd_err *err);
void fabric_csv_close(struct fabric_csv *csv);

/* Writes the latest sweep. */
void fabric_csv_add(struct fabric_csv *csv, uint64_t time_ns);

/* -ENOSPC if sweeps were lost. */
int fabric_csv_finish(struct fabric_csv *csv, struct rd_err *err);

#endif
