/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files that judge processes. */
#ifndef RD_ANALYSE_JOB_PRIV_H
#define RD_ANALYSE_JOB_PRIV_H

#include "analyse/job/job.h"

/* Fills `can`, `able` and `obstacle`. */
void rd_job_judge_ability(const struct rd_job_input *in, struct rd_job_view *view);

/* In a network namespace whose RDMA devices and queue pairs are not shown in the one of this program: not known to be in shared mode. */
bool rd_job_is_apart(const struct rd_job_input *in, const struct rd_job_proc *proc);

/* Whether a library is mapped: the beginning of its file name, a shell pattern. */
bool rd_job_maps(const struct rd_job_proc *proc, const char *library);

#endif
