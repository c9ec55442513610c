/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One finding per cause: what follows from another finding about the same object is made its consequence. Pure. */
#ifndef RD_DIAGNOSE_FOLD_H
#define RD_DIAGNOSE_FOLD_H

#include "model/host/host.h"
#include "model/shared/finding.h"

/*
 * Sets caused_by of findings that another one explains: the table in fold.c says which ids follow from which, and by what
 * object they must be connected (the same port or device, a device below a bridge, the whole host). A finding that is
 * itself a consequence hands on its cause, so that every chain ends at what stands by itself. Objects are those that a
 * subject names: devices, interfaces, PCI functions, accelerators.
 */
void rd_findings_fold(const struct rd_host *host, struct rd_findings *findings);

#endif
