/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording: a file of series that grows for hours. A sample is written whole or not at all; samples that do not fit on a full
 * disk are dropped, reported and counted, and recording continues when there is space.
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
	struct rd_buf out; /* the current sample */
};

/* The suffix of the name selects the format. An existing file is overwritten if it is empty or a recording in this format; links
 * are not followed. -EINVAL for another name or file, -errno; `file` must be closed in any case. */
int record_file_open(struct rd_ctx *ctx, const char *path, struct record_file *file, struct rd_err *err);
void record_file_close(struct record_file *file);

/* Begins a sample. What was added to `out` before comes after the head of the file. */
void record_file_begin(struct record_file *file, uint64_t time_ns);

/* Writes the sample. False: it is not in the file, and definitions written before may be missing, too. */
bool record_file_write(struct record_file *file);

/* Ends the file. -ENOSPC if samples were lost. */
int record_file_finish(struct record_file *file, size_t series, struct rd_err *err);

#endif
