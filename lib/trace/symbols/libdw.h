/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libdw, loaded when user stacks are requested. */
#ifndef RD_TRACE_LIBDW_H
#define RD_TRACE_LIBDW_H

#include <elfutils/libdwfl.h>

#include "base/late.h"

/* clang-format off */
#define RD_LIBDW_CALLS(x) \
	x(dwfl_addrmodule) x(dwfl_begin) x(dwfl_lineinfo) x(dwfl_module_addrinfo) x(dwfl_module_build_id) \
	x(dwfl_module_getelf) x(dwfl_module_getsrc) x(dwfl_module_info) x(dwfl_report_end) x(dwfl_report_module)
/* clang-format on */

RD_LATE_DECLARE(rd_libdw, RD_LIBDW_CALLS);

#endif
