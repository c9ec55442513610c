/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_CONFINE_PRIV_H
#define RD_CONFINE_PRIV_H

#include "confine/confine.h"

/* Lets files be opened below `folders` (may be NULL) only, for reading, and for writing where they say so and `may_write`.
 * 0 with the version of the kernel's interface in `abi`, or -errno. Needs no_new_privs. */
int rd_landlock_apply(const struct rd_confine_folder *folders, bool may_write, unsigned *abi);

/* Lets the system calls be made that `needs` lists; all others fail with EPERM or ENOSYS. 0 or -errno. Needs no_new_privs. */
int rd_seccomp_apply(unsigned needs);

#endif
