/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Selects the kernel functions that change queue pairs, and the offsets in their arguments. */
#ifndef RD_TRACE_SELECT_QP_H
#define RD_TRACE_SELECT_QP_H

#include "base/err.h"
#include "bpf/qp.h"
#include "model/trace/fnset.h"
#include "source/shared/source.h"

/* Configuration of the recorder. */
struct rd_qp_watch {
	struct rd_qp_config cfg;
	uint8_t *roles; /* per function of the set: enum rd_qp_role */
};

/*
 * Fills *set with the functions of the loaded RDMA modules, and *ret with the offsets of members in their arguments, from the BTF
 * of the loaded ib_core. -ENOTSUP: no such BTF, so nothing can be recorded. -ENODEV: no RDMA module is loaded. `notes`: sources
 * that are not readable, and the consequence. The caller frees with rd_fnset_deinit and rd_qp_watch_deinit.
 */
int rd_select_qp(struct rd_source *src, struct rd_fnset *set, struct rd_qp_watch *ret, struct rd_errlist *notes,
		 struct rd_err *err);
void rd_qp_watch_deinit(struct rd_qp_watch *watch);

/* Fills *set with ib_query_qp alone, and *ret with the offsets of what it is passed: reads only the BTF of vmlinux and of ib_core. -errno with
 * err filled. The caller frees with rd_fnset_deinit. */
int rd_select_query(struct rd_source *src, struct rd_fnset *set, struct rd_query_config *ret, struct rd_err *err);

/*
 * Selects the functions to hook. For transitions there are RD_QP_CHOICES sets of functions: uses the first one, from *choice on,
 * that this kernel seems to have, and sets *choice to it. Whether it can be hooked shows only when attaching. False: no choice
 * left.
 */
#define RD_QP_CHOICES 3
bool rd_qp_watch_choose(struct rd_fnset *set, struct rd_qp_watch *watch, unsigned *choice);

/* Whether a function of that role was hooked. */
bool rd_qp_watch_has(const struct rd_fnset *set, const struct rd_qp_watch *watch, enum rd_qp_role role);

#endif
