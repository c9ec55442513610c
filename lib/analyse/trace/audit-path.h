/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a function is watched. */
#ifndef RD_ANALYSE_AUDIT_PATH_H
#define RD_ANALYSE_AUDIT_PATH_H

#include "model/trace/audit.h"

/* The functions of this name, whatever suffix the compiler added to it or to them. Returns their number; caller frees *ret. */
size_t rd_audit_reasons(const struct rd_fnset *set, const char *name, struct rd_audit_reason **ret);

#endif
