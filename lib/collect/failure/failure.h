/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads what the host says about the objects of a failed call, right after it. */
#ifndef RD_COLLECT_FAILURE_H
#define RD_COLLECT_FAILURE_H

#include "model/trace/failure.h"
#include "source/shared/source.h"

/* Caches what does not change during a trace, and keeps the GIDs of all ports as they were when it was created. */
struct rd_failure_reader;

/* `src` must outlive it. */
struct rd_failure_reader *rd_failure_reader_create(struct rd_source *src);
void rd_failure_reader_destroy(struct rd_failure_reader *reader);

/*
 * Adds the facts in `want` (enum rd_fact) that `failure` does not have yet. The caller sets failure->event and failure->set, and
 * releases it in any case. What cannot be read is unknown there, and noted in `errors` (may be NULL).
 */
void rd_failure_read(struct rd_failure_reader *reader, unsigned want, struct rd_failure *failure,
		     struct rd_errlist *errors);

#endif
