/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/memory.h"

int rd_err_set(struct rd_err *err, int code, const char *object, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return -code;
	*err = (struct rd_err){ .code = code };
	snprintf(err->object, sizeof(err->object), "%s", !object ? "" : *object ? object : "\"\"");
	va_start(ap, fmt);
	vsnprintf(err->message, sizeof(err->message), fmt, ap);
	va_end(ap);
	return -code;
}

void rd_err_hint(struct rd_err *err, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return;
	va_start(ap, fmt);
	vsnprintf(err->hint, sizeof(err->hint), fmt, ap);
	va_end(ap);
}

void rd_errlist_add(struct rd_errlist *list, const struct rd_err *err)
{
	if (!list)
		return;
	if (!list->more)
		rd_reserve(&list->v, &list->cap, list->n + 1, sizeof(*list->v));
	if (list->n < RD_ERRORS_MAX) {
		list->v[list->n++] = *err;
		return;
	}
	list->n = RD_ERRORS_MAX + 1;
	rd_err_set(&list->v[RD_ERRORS_MAX], E2BIG, "errors", "%zu more are not listed", ++list->more);
}

void rd_errlist_deinit(struct rd_errlist *list)
{
	free(list->v);
	*list = (struct rd_errlist){ 0 };
}

bool rd_could_not_look(int r)
{
	switch (-r) {
	case 0:
	case ENOENT:
	case ENOTDIR:
	case EISDIR:
	case ENODEV:
	case ENXIO:
	case ESRCH:
	case EINVAL:
	case ENODATA:
	case ENOTTY:
	case ENOSYS:
	case ENETDOWN:
	case EOPNOTSUPP:
	case EAFNOSUPPORT:
	case EPROTONOSUPPORT:
	case ECONNREFUSED:
		return false;
	default:
		return r < 0;
	}
}
