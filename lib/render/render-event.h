/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Renders an event of trace-errno as text. */
#ifndef RD_RENDER_EVENT_H
#define RD_RENDER_EVENT_H

#include "base/buf.h"
#include "report/shared/report.h"

/*
 * Adds a row of a section with the keys of an event (time, verb, errno, chain …), as lines:
 *
 *     14:03:07.123456 ibv_reg_mr: EFAULT (Bad address)  trainer[812] rxe0 qpn 17 job slurm:42.0
 *         ib_umem_get           [ib_core]    EFAULT  <- origin
 *      -> ib_uverbs_reg_mr      [ib_uverbs]  EFAULT
 *      -> ib_uverbs_ioctl       [ib_uverbs]  EFAULT
 *         hint: …
 *
 * then the stacks, if any. The hint is wrapped to `width` columns (0: 80). Keys that the section lacks are
 * omitted.
 */
void rd_render_event(const struct rd_section *section, size_t row, bool colour, int width, struct rd_buf *out);

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

/*
 * Adds the rows of a section with the keys of a meaning (name, driver, unit …), as lines:
 *
 *     symbol_error (any driver)
 *       errors on the physical link
 *       counts packets; 16 bits, saturates at 65535; cause; may be added up over ports
 */
void rd_render_meanings(const struct rd_section *section, struct rd_buf *out);

#endif
