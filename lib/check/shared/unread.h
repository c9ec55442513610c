/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_CHECK_UNREAD_H
#define RD_CHECK_UNREAD_H

#include "model/shared/check.h"

/* The first failed read of any of these parts (enum rd_part, or-ed); NULL: none, or the list is NULL. */
const struct rd_err *rd_check_unread(const struct rd_errlist *unread, unsigned parts);

#endif
