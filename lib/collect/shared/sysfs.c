/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/shared/sysfs.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

static int path_of(char *path, size_t size, const char *fmt, va_list ap)
{
	int n = vsnprintf(path, size, fmt, ap);

	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

static char *read_text(const struct rd_sysfs *fs, enum rd_known *known, const char *fmt, va_list ap)
{
	_cleanup_free_ char *text = NULL;
	struct rd_err err = { 0 };
	char path[512];
	int r = path_of(path, sizeof(path), fmt, ap);

	*known = RD_ABSENT;
	if (!r)
		r = rd_read_textf(fs->src, &text, &err, "%s", path);
	if (rd_could_not_look(r)) {
		*known = RD_DENIED;
		rd_errlist_add(fs->errors, &err);
		return NULL;
	}
	if (r < 0 || !*text)
		return NULL;
	*known = RD_OK;
	return RD_TAKE(text);
}

char *rd_sysfs_text(const struct rd_sysfs *fs, enum rd_known *known, const char *fmt, ...)
{
	enum rd_known ignored;
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = read_text(fs, known ? known : &ignored, fmt, ap);
	va_end(ap);
	return text;
}

enum rd_known rd_sysfs_int(const struct rd_sysfs *fs, int64_t *ret, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL;
	enum rd_known known;
	va_list ap;

	va_start(ap, fmt);
	text = read_text(fs, &known, fmt, ap);
	va_end(ap);
	if (!text)
		return known;
	return rd_parse_int(text + strspn(text, " \t"), RD_AS_C, INT64_MIN, INT64_MAX, ret) < 0 ? RD_ABSENT : RD_OK;
}

/* Records the error of a directory or link that could not be read. */
static int record_listing_error(const struct rd_sysfs *fs, int r, struct rd_err *err)
{
	if (rd_could_not_look(r)) {
		err->listing = true;
		rd_errlist_add(fs->errors, err);
	}
	return r;
}

char *rd_sysfs_link(const struct rd_sysfs *fs, const char *fmt, ...)
{
	char path[512], *target = NULL;
	struct rd_err err = { 0 };
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = path_of(path, sizeof(path), fmt, ap);
	va_end(ap);
	if (!r)
		r = record_listing_error(fs, rd_read_link(fs->src, path, &target, &err), &err);
	return r < 0 ? NULL : target;
}

int rd_sysfs_list(const struct rd_sysfs *fs, struct rd_names *ret, const char *fmt, ...)
{
	struct rd_err err = { 0 };
	char path[512];
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = path_of(path, sizeof(path), fmt, ap);
	va_end(ap);
	if (r < 0)
		return r;
	return record_listing_error(fs, rd_list_dir(fs->src, path, ret, &err), &err);
}

int rd_natural_compare(const char *a, const char *b)
{
	while (*a && *b) {
		if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
			size_t na, nb;
			int r;

			while (*a == '0' && isdigit((unsigned char)a[1]))
				a++;
			while (*b == '0' && isdigit((unsigned char)b[1]))
				b++;
			na = strspn(a, "0123456789");
			nb = strspn(b, "0123456789");
			r = na != nb ? (na < nb ? -1 : 1) : strncmp(a, b, na);
			if (r)
				return r;
			a += na;
			b += nb;
		} else if (*a != *b) {
			return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
		} else {
			a++;
			b++;
		}
	}
	return *a ? 1 : *b ? -1 : 0;
}

static int compare_natural(const void *a, const void *b)
{
	return rd_natural_compare(*(char *const *)a, *(char *const *)b);
}

void rd_names_sort_natural(struct rd_names *names)
{
	if (names->n > 0)
		qsort(names->v, names->n, sizeof(*names->v), compare_natural);
}

const char *rd_basename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}
