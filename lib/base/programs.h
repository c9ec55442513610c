/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of programs (/proc/PID/comm) that mean the same on every host. */
#ifndef RD_PROGRAMS_H
#define RD_PROGRAMS_H

#include "base/base.h"

/* A program that starts jobs and containers: they inherit its limits. */
bool rd_program_starts_jobs(const char *comm);

/* One of these that starts containers only: users' processes outside of them come from elsewhere. */
bool rd_program_starts_containers(const char *comm);

/* A daemon that serves storage to many hosts. */
bool rd_program_serves_storage(const char *comm);

/* One of these, or a program common to all clusters: its name identifies no user. */
bool rd_program_is_common(const char *comm);

#endif
