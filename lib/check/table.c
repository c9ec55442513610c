/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules. A new one: its file, its line here, a healthy and a breaking host in tests/unit/test-check-*.c. */
#include "check/rules.h"

/* clang-format off */
const struct rd_check *const rd_checks[] = {
	/* PCIe and GPUDirect */
	&rd_check_pcie_link_width,
	&rd_check_pcie_link_speed,
};
/* clang-format on */
const size_t rd_n_checks = RD_ARRAY_SIZE(rd_checks);
