/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check/shared/rules.h"

#define ENTRY(name) &rd_check_##name,
const struct rd_check *const rd_checks[] = { RD_RULES(ENTRY) };
const size_t rd_n_checks = RD_ARRAY_SIZE(rd_checks);
