/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program as it would be if it kept its privileges: linked with --wrap=rd_privileges_drop, next to which the other one is
 * measured. */
#include "cmd/privileges.h"

int __wrap_rd_privileges_drop(struct rd_ctx *ctx, int argc, char **argv, struct rd_err *err);

int __wrap_rd_privileges_drop(struct rd_ctx *ctx, int argc, char **argv, struct rd_err *err)
{
	return 0;
}
