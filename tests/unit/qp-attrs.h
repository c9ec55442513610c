/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attributes of a queue pair in the form of bpf/qp.h: wide ones, narrow ones, and which are known. */
#ifndef RD_UNIT_QP_ATTRS_H
#define RD_UNIT_QP_ATTRS_H

#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "bpf/qp.h"

struct qp_attr {
	int field; /* enum rd_qp_attr_field; the last: -1 */
	uint32_t v;
};

static inline void qp_attrs_set(__u32 *wide, __u8 *narrow, __u64 *known, const struct qp_attr *attrs)
{
	for (; attrs->field >= 0; attrs++) {
		if (attrs->field < RD_QPA_ENUMS)
			wide[attrs->field] = attrs->v;
		else
			narrow[attrs->field - RD_QPA_ENUMS] = (uint8_t)attrs->v;
		if (known)
			*known |= 1ull << attrs->field;
	}
}

/* `of` has the members `wide` and `narrow`; `known` may be NULL. */
#define SET_ATTRS(of, known, ...) \
	qp_attrs_set((of)->wide, (of)->narrow, known, (const struct qp_attr[]){ __VA_ARGS__, { -1, 0 } })

#endif
