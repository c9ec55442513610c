/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which kernel functions tell of queue pairs, and where in their arguments. */
#ifndef RD_TRACE_SELECT_QP_H
#define RD_TRACE_SELECT_QP_H

#include "base/err.h"
#include "bpf/qp.h"
#include "model/trace/fnset.h"
#include "source/shared/source.h"

/* What the recorder hooks. */
struct rd_qp_watch {
	struct rd_qp_config cfg;
	uint8_t *roles; /* per function of the set: enum rd_qp_role */
};

/*
 * Fills *set with the functions of the loaded RDMA modules and *ret with where things lie in their arguments, by the BTF of
 * the loaded ib_core: without it nothing can be recorded, -ENOTSUP. -ENODEV: no RDMA module is loaded. `notes`: what
 * could not be read, and what that loses. The caller frees by rd_fnset_deinit and rd_qp_watch_deinit.
 */
int rd_select_qp(struct rd_source *src, struct rd_fnset *set, struct rd_qp_watch *ret, struct rd_errlist *notes,
		 struct rd_err *err);
void rd_qp_watch_deinit(struct rd_qp_watch *watch);

/*
 * Selects the functions to hook: for transitions by the first of RD_QP_CHOICES ways, from *choice on, that this kernel seems
 * to have; *choice becomes that way. Whether it can be hooked shows only when it is tried. False: there is no more.
 */
#define RD_QP_CHOICES 3
bool rd_qp_watch_choose(struct rd_fnset *set, struct rd_qp_watch *watch, unsigned *choice);

/* Whether a function of that role was hooked. */
bool rd_qp_watch_has(const struct rd_fnset *set, const struct rd_qp_watch *watch, enum rd_qp_role role);

#endif
