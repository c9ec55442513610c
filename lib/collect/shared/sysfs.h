/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads small sysfs and procfs files. Missing files are RD_ABSENT; files that could not be read (rd_could_not_look) are RD_DENIED,
 * and recorded in `errors`. */
#ifndef RD_COLLECT_SYSFS_H
#define RD_COLLECT_SYSFS_H

#include "source/shared/source.h"

struct rd_sysfs {
	struct rd_source *src;
	struct rd_errlist *errors; /* of files that could not be read; NULL: not recorded */
};

/* The text of the file without trailing blanks; NULL if it could not be read. Empty files, and files whose read fails with EINVAL,
 * EOPNOTSUPP or ENODEV (attributes that the device does not support), are absent. */
char *rd_sysfs_text(const struct rd_sysfs *fs, enum rd_known *known, const char *fmt, ...) RD_PRINTF(3, 4);

/* A number in C notation; RD_OK only if the whole text is a number. */
enum rd_known rd_sysfs_int(const struct rd_sysfs *fs, int64_t *ret, const char *fmt, ...) RD_PRINTF(3, 4);

/* The target of a symbolic link; NULL if it is not a link. */
char *rd_sysfs_link(const struct rd_sysfs *fs, const char *fmt, ...) RD_PRINTF(2, 3);

/* Names in a directory; -errno. */
int rd_sysfs_list(const struct rd_sysfs *fs, struct rd_texts *ret, const char *fmt, ...) RD_PRINTF(3, 4);

/* Natural order: mlx5_2 before mlx5_10. */
int rd_natural_compare(const char *a, const char *b);
void rd_texts_sort_natural(struct rd_texts *names);

/* The part after the last slash. */
const char *rd_basename(const char *path);

#endif
