/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A record of the recorder of queue pairs (bpf/qp.h), made an event. */
#ifndef RD_COLLECT_QP_EVENT_H
#define RD_COLLECT_QP_EVENT_H

#include "base/err.h"
#include "collect/shared/cgroup.h"
#include "model/rdma/qp-event.h"
#include "source/shared/source.h"

/*
 * Decodes one record as foreign input. `cgroups` (may be NULL) gives the path of the caller's. The caller deinits *ret.
 * -EBADMSG with err filled; -ENOMEM.
 */
int rd_qp_event_decode(struct rd_source *src, struct rd_cgroups *cgroups, const void *data, size_t size,
		       struct rd_qp_event *ret, struct rd_err *err);

#endif
