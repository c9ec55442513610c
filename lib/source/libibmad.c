/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/libibmad.h"

RD_LATE_DEFINE(rd_libibumad, RD_LIBIBUMAD_CALLS, RD_LIBIBUMAD)
RD_LATE_DEFINE(rd_libibmad, RD_LIBIBMAD_CALLS, RD_LIBIBMAD)
