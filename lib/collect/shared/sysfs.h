/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading small sysfs and procfs files: what is not there is absent; what could not be read (rd_could_not_look) is noted,
 * and denied. */
#ifndef RD_COLLECT_SYSFS_H
#define RD_COLLECT_SYSFS_H

#include "base/base.h"
#include "base/err.h"
#include "source/shared/source.h"

struct rd_sysfs {
	struct rd_source *src;
	struct rd_errlist *errors; /* what could not be read; NULL: not kept */
};

/* The file's text without trailing blanks; NULL unless it could be read. Files whose content is empty, and those that
 * answer EINVAL, EOPNOTSUPP or ENODEV (many attributes do, where a device has no such thing), are absent. */
char *rd_sysfs_text(const struct rd_sysfs *fs, enum rd_known *known, const char *fmt, ...) RD_PRINTF(3, 4);

/* A number in C notation; RD_OK only if the whole text is one. */
enum rd_known rd_sysfs_int(const struct rd_sysfs *fs, int64_t *ret, const char *fmt, ...) RD_PRINTF(3, 4);

/* The target of a link; NULL if it is none. */
char *rd_sysfs_link(const struct rd_sysfs *fs, const char *fmt, ...) RD_PRINTF(2, 3);

/* Names in a folder; -errno. */
int rd_sysfs_list(const struct rd_sysfs *fs, struct rd_names *ret, const char *fmt, ...) RD_PRINTF(3, 4);

/* Orders names as people count: mlx5_2 before mlx5_10. */
int rd_natural_compare(const char *a, const char *b);
void rd_names_sort_natural(struct rd_names *names);

/* The part after the last slash. */
const char *rd_basename(const char *path);

#endif
