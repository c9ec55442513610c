/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What recorders of queue pairs (bpf/qp.h) say: their records, as events; and the map of one that runs, usually in another process. */
#ifndef RD_COLLECT_QP_EVENT_H
#define RD_COLLECT_QP_EVENT_H

#include "base/buf.h"
#include "base/err.h"
#include "collect/shared/cgroup.h"
#include "model/rdma/qp.h"
#include "source/shared/source.h"

/*
 * Decodes one record; does not trust its contents. `cgroups` (may be NULL) resolves the cgroup of the process. The caller deinits *ret.
 * -EBADMSG with err filled; -ENOMEM.
 */
int rd_qp_event_decode(struct rd_source *src, struct rd_cgroups *cgroups, const void *data, size_t size,
		       struct rd_qp_event *ret, struct rd_err *err);

/* Appends an event to a file (RD_SOURCE_QP_EVENTS): its record, `raw`, and what analysis added. */
void rd_qp_event_pack(const struct rd_qp_event *event, const void *raw, struct rd_buf *out);

/* As rd_qp_event_decode, for the event at `*at`, and goes behind it. 1: decoded; 0: `*at` is the end; -EBADMSG. */
int rd_qp_event_next(struct rd_source *src, const uint8_t **at, const uint8_t *end, struct rd_qp_event *ret,
		     struct rd_err *err);

/*
 * Adds what the recorders of this host know of queue pairs of the devices in `res`. That none runs, or that this user must not read
 * their maps, is not an error; a map that cannot be used, or is incomplete, is one in `errors` (may be NULL).
 */
void rd_collect_qp_recorded(struct rd_source *src, struct rd_res *res, struct rd_errlist *errors);

/* Decodes the bytes of the file; does not trust them. Called by the function above and a fuzz target. */
void rd_qp_recorded_take(const struct rd_bytes *maps, struct rd_res *res, struct rd_errlist *errors);

/*
 * Takes what the drivers of the devices in `res` filled in when the kernel queried its queue pairs for the list, into rd_qp.context:
 * from RD_SOURCE_QUERIES, which there is while rd_source_live_set_queries is in effect, and in bundles. No such file is not an
 * error. Sets rd_res.probe if there is one, and rd_res_dev.fills.
 */
void rd_collect_qp_queries(struct rd_source *src, struct rd_res *res, struct rd_errlist *errors);

/* Decodes the bytes of the file; does not trust them. Called by the function above and a fuzz target. */
void rd_qp_queries_take(const struct rd_bytes *maps, struct rd_res *res, struct rd_errlist *errors);

#endif
