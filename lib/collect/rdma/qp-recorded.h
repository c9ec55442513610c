/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The map of a running recorder (bpf/qp.h: RD_QP_MAP), usually of another process. */
#ifndef RD_COLLECT_QP_RECORDED_H
#define RD_COLLECT_QP_RECORDED_H

#include "base/err.h"
#include "model/rdma/qp.h"
#include "source/shared/source.h"

/*
 * Adds what the recorders of this host know of queue pairs of the devices in `res`. That none runs, or that this user must not read
 * their maps, is not an error; a map that cannot be used, or is incomplete, is one in `errors` (may be NULL).
 */
void rd_collect_qp_recorded(struct rd_source *src, struct rd_res *res, struct rd_errlist *errors);

/* Decodes the bytes of the file; does not trust them. Called by the function above and a fuzz target. */
void rd_qp_recorded_take(const struct rd_bytes *maps, struct rd_res *res, struct rd_errlist *errors);

#endif
