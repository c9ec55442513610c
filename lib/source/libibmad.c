/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/libibmad.h"

RD_LATE_DEFINE(rd_libibumad, RD_LIBIBUMAD, .soname = "libibumad.so.3",
	       .wanted_for = "what sends management datagrams cannot be loaded",
	       .package = "libibumad (Debian: libibumad3, Fedora: libibumad)")

RD_LATE_DEFINE(rd_libibmad, RD_LIBIBMAD, .soname = "libibmad.so.5",
	       .wanted_for = "what reads management datagrams cannot be loaded",
	       .package = "libibmad (Debian: libibmad5, Fedora: infiniband-diags)")
