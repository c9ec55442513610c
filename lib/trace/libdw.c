/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/libdw.h"

RD_LATE_DEFINE(rd_libdw, RD_LIBDW_CALLS, RD_LIBDW)
