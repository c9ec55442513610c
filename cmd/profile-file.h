/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_CMD_PROFILE_FILE_H
#define RD_CMD_PROFILE_FILE_H

#include "model/host/profile.h"

/* Reads the profile at `path` on this host, and checks that all rules that it ignores exist. `ret` is zeroed first, and must be
 * released in any case. -errno with err filled. */
int rd_profile_load(const char *path, struct rd_profile *ret, struct rd_err *err);

#endif
