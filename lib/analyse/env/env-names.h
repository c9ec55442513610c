/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which library an environment variable belongs to, and whether that library reads it. Pure. */
#ifndef RD_ANALYSE_ENV_NAMES_H
#define RD_ANALYSE_ENV_NAMES_H

#include "base/base.h"

enum rd_env_known {
	RD_ENV_NAME_FOREIGN = 0, /* of none of these libraries */
	RD_ENV_NAME_UNKNOWN,	 /* has the prefix of a library, but is not in our list of that library's names */
	RD_ENV_NAME_OTHER,	 /* has the prefix of a library, but other software reads it: a plugin, PyTorch */
	RD_ENV_NAME_RETIRED,	 /* was read by older releases */
	RD_ENV_NAME_KNOWN,
};

/* `library` (may be NULL) is set to "NCCL", "UCX" …, `note` (may be NULL) to the software that reads it, or to the release
 * that dropped it. Static texts; NULL if there is none. */
enum rd_env_known rd_env_name_known(const char *name, const char **library, const char **note);

/* "not known to release 2.32.3 of NCCL": the newest release in our list of the library's names. A newer one may know it. A new
 * string. `library`: as rd_env_name_known sets it. */
char *rd_env_not_known(const char *library);

/* The variable that was probably meant: different case, one letter off, an underscore or a part of the name added or missing. A
 * new string; NULL if no name of the same library is similar. */
char *rd_env_name_near(const char *name);

/* Edit distance: letters inserted, deleted, replaced, or two swapped; `most` + 1 if it exceeds `most` (at most 3). Texts of more
 * than 63 characters are never similar. */
unsigned rd_env_distance(const char *a, const char *b, unsigned most);

#endif
