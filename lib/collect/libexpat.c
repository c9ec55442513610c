/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/libexpat.h"

RD_LATE_DEFINE(rd_libexpat, RD_LIBEXPAT_CALLS, RD_LIBEXPAT)
