/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The output of trace-errno --audit. */
#ifndef RD_REPORT_AUDIT_H
#define RD_REPORT_AUDIT_H

#include "model/trace/audit.h"
#include "report/shared/report.h"

/* Scalars, changes, added, removed, functions, modules, findings, the headline and report->status. `baseline`, `audit`: NULL, the
 * set is not compared. */
void rd_report_audit(struct rd_report *report, const struct rd_fnset *set, const struct rd_audit_set *now,
		     const struct rd_audit_set *baseline, const struct rd_audit *audit);

/* --probe: adds the section `probes`, findings and the worst status. Origins are compared with those of `baseline`, if it has them. */
void rd_report_audit_probes(struct rd_report *report, const struct rd_audit_probe *probes, size_t n,
			    const struct rd_audit_set *baseline);

/* --explain: the functions of that name, whatever suffix the compiler added, in the set and in the baselines. */
void rd_report_audit_explain(struct rd_report *report, const struct rd_fnset *set, const char *name,
			     const struct rd_audit_reason *whys, size_t n_whys, const struct rd_audit_set *baselines,
			     size_t n_baselines);

#endif
