/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The write commands of uverbs: numbers of ib_user_verbs.h as of Linux 7.x, a stable ABI. */
#ifndef RD_MODEL_COMMAND_H
#define RD_MODEL_COMMAND_H

#include "base/base.h"

/* Marks a command of the extended numbering in INVOKE_WRITE: IB_USER_VERBS_CMD_FLAG_EXTENDED. */
#define RD_COMMAND_EXTENDED 0x80000000u

struct rd_command {
	uint8_t id;
	bool extended;
	const char *name, *object;
	const char *verb;    /* the library call; NULL: does not correspond to a single one */
	const char *handler; /* after "ib_uverbs_"; NULL: the name in lower case, after "ex_" if extended */
};

/* `number` as in INVOKE_WRITE, with RD_COMMAND_EXTENDED. NULL: unknown. */
const struct rd_command *rd_command_find(uint32_t number);

/* The command that a kernel function handles; the name may have a suffix added by the compiler (.isra.0). NULL: none. */
const struct rd_command *rd_command_of_handler(const char *function);

#endif
