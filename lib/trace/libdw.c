/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/libdw.h"

RD_LATE_DEFINE(rd_libdw, RD_LIBDW, .soname = "libdw.so.1",
	       .wanted_for = "what names the functions of programs cannot be loaded",
	       .package = "libdw (Debian: libdw1, Fedora: elfutils-libs)")
