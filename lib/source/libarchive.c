/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/libarchive.h"

RD_LATE_DEFINE(rd_libarchive, RD_LIBARCHIVE_CALLS, RD_LIBARCHIVE)
