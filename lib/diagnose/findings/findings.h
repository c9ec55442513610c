/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prepares the findings of rules for the operator. Pure. */
#ifndef RD_DIAGNOSE_FINDINGS_H
#define RD_DIAGNOSE_FINDINGS_H

#include "model/host/host.h"
#include "model/host/profile.h"
#include "model/shared/finding.h"

/* Links consequences to their causes, mutes findings that the profile (NULL: none) ignores on that day (rd_profile_day), and
 * sorts the worst first. */
void rd_diagnose(const struct rd_host *host, const struct rd_profile *profile, int64_t day,
		 struct rd_findings *findings);

/* The RDMA device that the subject of a finding is about: its name, a port, an interface, its PCI function, or a function of its
 * card or a virtual function without an RDMA device. -1: the host, a bridge, an accelerator, several devices, or unknown. */
int rd_subject_ibdev(const struct rd_host *host, const char *subject);

/* Removes findings about other devices, except those that may concern a selected one: what it depends on, findings whose
 * observed values name it, and causes of findings that remain. Consequences for a bridge or an accelerator are removed with their
 * cause, unless a selected device is below it. Returns how many were removed. */
size_t rd_findings_select(const struct rd_host *host, const struct rd_selection *selection,
			  struct rd_findings *findings);

#endif
