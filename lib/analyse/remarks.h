/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a look at the map tells an operator. Pure. */
#ifndef RD_ANALYSE_REMARKS_H
#define RD_ANALYSE_REMARKS_H

#include "model/nicmap.h"

int rd_remarks_fill(const struct rd_host *host, const struct rd_nicmap *map, struct rd_remarks *ret);

/* Adds one; takes the owned texts over, also on failure. -ENOMEM also where `subject` is NULL. */
int rd_remark_add(struct rd_remarks *list, const struct rd_remark *remark);

#endif
