/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/libarchive.h"

RD_LATE_DEFINE(rd_libarchive, RD_LIBARCHIVE, .soname = "libarchive.so.13",
	       .wanted_for = "what packs and unpacks cannot be loaded",
	       .package = "libarchive (Debian: libarchive13, Fedora: libarchive)")
