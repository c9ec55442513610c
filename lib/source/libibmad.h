/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libibumad and libibmad, loaded when datagrams are sent, or read that were recorded. */
#ifndef RD_SOURCE_LIBIBMAD_H
#define RD_SOURCE_LIBIBMAD_H

#include <infiniband/mad.h>
#include <infiniband/umad.h>

#include "base/late.h"

/* clang-format off */
#define RD_LIBIBUMAD_CALLS(x) \
	x(umad_close_port) x(umad_get_ca) x(umad_get_cas_names) x(umad_get_mad) x(umad_get_mad_addr) x(umad_init) \
	x(umad_open_port) x(umad_poll) x(umad_recv) x(umad_register) x(umad_release_ca) x(umad_send) \
	x(umad_set_addr) x(umad_size) x(umad_status) x(umad_unregister)
#define RD_LIBIBMAD_CALLS(x) \
	x(mad_get_field) x(mad_get_field64)
/* clang-format on */

struct rd_libibumad {
	RD_LIBIBUMAD_CALLS(RD_LATE_MEMBER)
};
struct rd_libibmad {
	RD_LIBIBMAD_CALLS(RD_LATE_MEMBER)
};
extern struct rd_libibumad rd_libibumad;
extern struct rd_libibmad rd_libibmad;

/* To be called before the first function of each; see rd_late_load. */
int rd_libibumad_load(const char *object, struct rd_err *err);
int rd_libibmad_load(const char *object, struct rd_err *err);

#endif
