/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_COLLECT_SYSTEM_H
#define RD_COLLECT_SYSTEM_H

#include "collect/shared/sysfs.h"
#include "model/host/system.h"

/* What the host runs and allows. `pid`: a process whose limits are asked for; 0: those of what starts jobs here. `system` is
 * zeroed by the caller. 0; -ENOMEM; -ESRCH if there is no such process. */
int rd_collect_system(struct rd_source *src, int pid, struct rd_system *system, struct rd_errlist *errors,
		      struct rd_err *err);

/* The parts. 0 or -ENOMEM. */
/* Who offers the memory of accelerators to NICs: modules among it. */
int rd_collect_gpu_memory(const struct rd_sysfs *fs, struct rd_system *system);
int rd_collect_limits(const struct rd_sysfs *fs, struct rd_system *system);
int rd_collect_userspace(const struct rd_sysfs *fs, struct rd_system *system);

/* Bytes of a size as systemd writes it: "64M", "8M:16M" (the first counts), "infinity", "65536". False if it is none. */
bool rd_size_parse(const char *text, uint64_t *ret);

#endif
