/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libibumad and libibmad, loaded when datagrams are sent or recorded ones are read. */
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

RD_LATE_DECLARE(rd_libibumad, RD_LIBIBUMAD_CALLS);
RD_LATE_DECLARE(rd_libibmad, RD_LIBIBMAD_CALLS);

/* A field of an attribute, whose data begin at `data`. */
static inline uint32_t rd_mad_field(const void *data, enum MAD_FIELDS field)
{
	return rd_libibmad.mad_get_field((void *)(uintptr_t)data, 0, field);
}

static inline uint64_t rd_mad_field64(const void *data, enum MAD_FIELDS field)
{
	return rd_libibmad.mad_get_field64((void *)(uintptr_t)data, 0, field);
}

#endif
