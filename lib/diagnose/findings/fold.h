/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One finding per cause: links findings to the finding that explains them. Pure. */
#ifndef RD_DIAGNOSE_FOLD_H
#define RD_DIAGNOSE_FOLD_H

#include "model/host/host.h"
#include "model/shared/finding.h"

/*
 * Sets caused_by of findings that another finding explains. The table in fold.c lists pairs of cause and consequence, and the
 * required relation of their objects (the same port or device, a device below a bridge, the whole host). The consequence of a
 * consequence is linked to the first cause. Objects are those named in the subject: devices, interfaces, PCI functions,
 * accelerators.
 */
void rd_findings_fold(const struct rd_host *host, struct rd_findings *findings);

#endif
