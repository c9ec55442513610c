/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks at what drivers fill in while this process lists queue pairs: their peers and timers. */
#ifndef RD_CMD_QP_PROBE_H
#define RD_CMD_QP_PROBE_H

#include "cmd/cmd.h"
#include "model/trace/fnset.h"
#include "trace/attach/session.h"

struct qp_probe {
	struct rd_fnset set;
	struct rd_session *session; /* NULL: not attached */
};

/*
 * Attaches to ib_query_qp for what `source`, a live one, reads from now on, if it has queue pairs of a driver that is known to fill in
 * something. `probe` is zeroed; always end it. -errno with err filled: why nothing will be seen.
 */
int qp_probe_start(const struct rd_ctx *ctx, struct rd_source *source, struct qp_probe *probe, struct rd_err *err);

/* Detaches, in the background. `source`: as above. */
void qp_probe_end(struct rd_source *source, struct qp_probe *probe);

#endif
