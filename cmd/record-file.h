/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording: a file of series that grows for hours. A sample is written whole or not at all; what a full disk has no room
 * for is left out, told, and counted, and writing goes on once there is room.
 */
#ifndef RD_CMD_RECORD_FILE_H
#define RD_CMD_RECORD_FILE_H

#include "cmd.h"
#include "render/series.h"

#define RECORD_FIRST_ID 2 /* of a series */

struct record_file {
	struct rd_ctx *ctx;
	const char *path;
	enum rd_series_format format;
	int fd;
	uint64_t size; /* whole records */
	bool headed, refused;
	uint64_t samples, lost, lost_in_all;
	struct rd_buf out; /* the sample that is being made */
};

/* The format is what the name ends in. What is there is written over if it is empty or was written by us in this format;
 * links are not followed. -EINVAL for another name or file, -errno; `file` is to be closed in any case. */
int record_file_open(struct rd_ctx *ctx, const char *path, struct record_file *file, struct rd_err *err);
void record_file_close(struct record_file *file);

/* Begins a sample: what was added to `out` before stands behind the head of the file. */
void record_file_begin(struct record_file *file, uint64_t time_ns);

/* Writes the sample. False: it is not in the file, and of what was defined or written before nothing may be presumed. */
bool record_file_write(struct record_file *file);

/* Ends the file. -ENOSPC where samples were lost. */
int record_file_finish(struct record_file *file, size_t series, struct rd_err *err);

#endif
