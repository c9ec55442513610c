/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_RENDER_QP_EVENT_H
#define RD_RENDER_QP_EVENT_H

#include "base/buf.h"
#include "report/shared/report.h"

/*
 * Renders a row with the keys of a recorded event (time, kind, old_state …) as one line, and the attributes set by the call as
 * a second one:
 *
 *     14:03:07.123456 rxe0 qpn 17 RC: INIT -> RTR in 38 us  trainer[812]
 *         mtu 1024  rqpn 18  peer ::ffff:10.9.0.2  sgid 1  sport 49170  hops 64  tclass 0  rq_psn 101
 *
 * Missing keys and unknown values are left out.
 */
void rd_render_qp_event(const struct rd_section *section, size_t row, bool colour, struct rd_buf *out);

#endif
