/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_CONFINE_PRIV_H
#define RD_CONFINE_PRIV_H

#include "confine/confine.h"

/* Restricts open to files below `dirs` (may be NULL): for reading, and for writing if the directory and `may_write` allow it.
 * 0 with the landlock ABI version in `abi`, or -errno. Requires no_new_privs. */
int rd_landlock_apply(const struct rd_confine_dir *dirs, bool may_write, unsigned *abi);

/* Allows only the system calls for `needs`; all others fail with EPERM or ENOSYS. 0 or -errno. Requires no_new_privs. */
int rd_seccomp_apply(unsigned needs);

#endif
