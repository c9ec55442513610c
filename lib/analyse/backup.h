/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_ANALYSE_BACKUP_H
#define RD_ANALYSE_BACKUP_H

#include "model/nicmap.h"

/* Sets backup and backup_why of each choice: the other port of a two-port card, else the neighbour in the order of the
 * compute NICs (even + 1, odd - 1), else the nearest one that is up. 0 or -ENOMEM. */
int rd_backup_fill(const struct rd_host *host, const struct rd_nicmap *map, struct rd_choices *choices);

#endif
