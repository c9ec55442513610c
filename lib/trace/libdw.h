/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libdw, loaded when the first user stack is to be named. */
#ifndef RD_TRACE_LIBDW_H
#define RD_TRACE_LIBDW_H

#include <elfutils/libdwfl.h>

#include "base/late.h"

/* clang-format off */
#define RD_LIBDW_CALLS(x) \
	x(dwfl_addrmodule) x(dwfl_begin) x(dwfl_lineinfo) x(dwfl_module_addrinfo) x(dwfl_module_build_id) \
	x(dwfl_module_getelf) x(dwfl_module_getsrc) x(dwfl_module_info) x(dwfl_report_end) x(dwfl_report_module)
/* clang-format on */

struct rd_libdw {
	RD_LIBDW_CALLS(RD_LATE_MEMBER)
};
extern struct rd_libdw rd_libdw;

/* To be called before the first of the functions; see rd_late_load. */
int rd_libdw_load(const char *object, struct rd_err *err);

#endif
