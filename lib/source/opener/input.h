/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files and directories of the command line. They are named first, then opened, all of them, before the process drops its privileges; files
 * stay open, directories are read completely. A process that has not called rd_inputs_open opens what it needs when it needs it.
 */
#ifndef RD_SOURCE_INPUT_H
#define RD_SOURCE_INPUT_H

#include <sys/stat.h>

#include "source/shared/source.h"

struct rd_input {
	char *path, *whole; /* as given, and as absolute path */
	int fd; /* of a file, or of memory: with a copy, or with what rd_bundle_walk wrote of a directory; -1: not opened */
	int code; /* positive errno: why it could not be opened or read */
	mode_t mode;
	struct rd_err err; /* the same in words */
	bool owned;	   /* opened by this call */
};

/* `path` may be relative to the working directory. */
void rd_input_name(const char *path);

/* Reads an input to its end: for a guard, which can abandon that. Number: the mode, and above that a positive errno of reading it. The contents go
 * to its descriptor. */
extern struct rd_source rd_input_source;

/* `source`: all contents are read through this guard of rd_input_source; NULL: files are only opened. What cannot be opened or read is an error
 * only when it is needed. */
void rd_inputs_open(struct rd_source *source);

/* The input with this path, or a file that is opened now. The contents are borrowed. -EPERM for another file after rd_inputs_open, -errno. */
int rd_input_open(const char *path, struct rd_input *ret, struct rd_err *err);
void rd_input_close(struct rd_input *input);

/* The contents of an input with this absolute or given path. -EISDIR for a directory, -EFBIG, -errno; -ENXIO: it is not an input. */
int rd_input_read(const char *path, struct rd_bytes *ret, struct rd_err *err);

#endif
