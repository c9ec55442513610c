/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decodes records of the queue pair recorder (bpf/qp.h) into events. */
#ifndef RD_COLLECT_QP_EVENT_H
#define RD_COLLECT_QP_EVENT_H

#include "base/err.h"
#include "collect/shared/cgroup.h"
#include "model/rdma/qp-event.h"
#include "source/shared/source.h"

/*
 * Decodes one record; does not trust its contents. `cgroups` (may be NULL) resolves the cgroup of the process. The caller deinits *ret.
 * -EBADMSG with err filled; -ENOMEM.
 */
int rd_qp_event_decode(struct rd_source *src, struct rd_cgroups *cgroups, const void *data, size_t size,
		       struct rd_qp_event *ret, struct rd_err *err);

struct rd_qp_rec;

/* What a record of RD_QP_ROLE_MODIFY says of the call; each value is bounded. */
void rd_qp_rec_attributes(const struct rd_qp_rec *rec, struct rd_qp_event *event);

#endif
