/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every rule, for the table. */
#ifndef RD_CHECK_RULES_H
#define RD_CHECK_RULES_H

#include "check/check.h"

/* pcie-link.c */
extern const struct rd_check rd_check_pcie_link_width, rd_check_pcie_link_speed;

#endif
