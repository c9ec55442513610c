/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_REPORT_JOB_H
#define RD_REPORT_JOB_H

#include "model/rdma/job.h"
#include "report/shared/report.h"

#define RD_JOB_COLUMNS 15
extern const struct rd_column rd_job_columns[RD_JOB_COLUMNS];

/* Adds the section `processes`, a finding for each process whose verdict is not good, headline and status. */
void rd_report_job(struct rd_report *report, const struct rd_job_view *views, size_t n);

/* What was judged about one process, as a table. */
struct rd_section *rd_report_job_can(const struct rd_job_view *view);

/* The one to report first. */
const struct rd_job_view *rd_report_job_worst(const struct rd_job_view *views, size_t n);

/* "python3, process 1234: tcp: …", escaped. Caller frees. */
char *rd_report_job_line(const struct rd_job_view *view);

#endif
