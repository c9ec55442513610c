/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two processes: one that parses untrusted data without privileges (confine/confine.h), and the opener, which keeps the privileges and
 * parses no file of others. It opens nothing that is requested: it records what the command reads of this host, always the same, and writes
 * the files that the command line names. What is to be read was opened before (input.h).
 *
 * First the files to be written are declared by rd_opener_name; then rd_opener_start forks the opener; then the caller confines itself.
 * From then on rd_source_live_open returns what was recorded, and rd_write_file uses the opener.
 */
#ifndef RD_SOURCE_OPENER_H
#define RD_SOURCE_OPENER_H

#include "base/buf.h"
#include "source/shared/source.h"

enum rd_opener_use {
	RD_OPENER_OUTPUT,   /* a file to create or replace */
	RD_OPENER_NEW_FILE, /* a file to create that does not exist yet */
	RD_OPENER_BUNDLE, /* the working directory, in which one bundle may be created with the default name of capture */
};

/* `path` may be relative to the working directory. */
void rd_opener_name(enum rd_opener_use use, const char *path);

/* What is recorded; or-ed together. */
#define RD_OPENER_OWN 1u  /* tables of the program, and of the site */
#define RD_OPENER_HOST 2u /* facts of this host */

/* Called in the opener: appends the parts (rd_source_guard_pack). `limit_ms`: for all of it; 0: none. */
typedef void rd_opener_record_fn(unsigned parts, unsigned limit_ms, struct rd_buf *out);

/* `facts` is kept until the process ends: all that rd_source_live_open returns reads it. -errno with `err` filled. */
int rd_opener_start(rd_opener_record_fn *record, struct rd_source *facts, struct rd_err *err);

/* Ends the opener, and waits at most 100 ms for it, so that no process is left for init to reap. */
void rd_opener_end(void);

/* Whether this process has an opener. */
bool rd_opener_used(void);

/* Has the opener record. -errno. */
int rd_opener_record(unsigned parts, unsigned limit_ms, struct rd_bytes *ret, struct rd_err *err);

/* A source of what was recorded. Caller closes it. */
struct rd_source *rd_opener_source(void);

#endif
