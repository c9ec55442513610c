/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_COLLECT_SYSTEM_H
#define RD_COLLECT_SYSTEM_H

#include "collect/shared/sysfs.h"
#include "model/host/system.h"

/* Reads software and limits of the host. `pid`: process whose limits to read; 0: of the processes that start jobs. `system` is
 * zeroed by the caller. 0; -ESRCH: no such process. */
int rd_collect_system(struct rd_source *src, int pid, struct rd_system *system, struct rd_errlist *errors,
		      struct rd_err *err);

/* Its parts. */
/* Modules and features that give NICs access to the memory of accelerators. */
void rd_collect_gpu_memory(const struct rd_sysfs *fs, struct rd_system *system);
int rd_collect_limits(const struct rd_sysfs *fs, struct rd_system *system);
void rd_collect_userspace(const struct rd_sysfs *fs, struct rd_system *system);

/* Parses a size in the syntax of systemd, to bytes: "64M", "8M:16M" (the first counts), "infinity", "65536". False: invalid. */
bool rd_size_parse(const char *text, uint64_t *ret);

#endif
