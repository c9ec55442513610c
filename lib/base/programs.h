/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of programs (/proc/PID/comm) that mean the same on every host. */
#ifndef RD_PROGRAMS_H
#define RD_PROGRAMS_H

#include "base/base.h"

/* What starts jobs and containers: its limits are what they begin with. */
bool rd_program_starts_jobs(const char *comm);

/* That, and what every cluster runs: the name tells of nobody. */
bool rd_program_is_common(const char *comm);

#endif
