/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors: lists of them, those of a host without RDMA, reads without a reply. */
#include "base/err.h"

#include <stdarg.h>

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

int rd_err_hint(struct rd_err *err, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return -EINVAL;
	va_start(ap, fmt);
	vsnprintf(err->hint, sizeof(err->hint), fmt, ap);
	va_end(ap);
	return -err->code;
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

void rd_errlist_add_all(struct rd_errlist *list, const struct rd_errlist *from)
{
	for (size_t i = 0; i < from->n; i++)
		rd_errlist_add(list, &from->v[i]);
}

void rd_errlist_deinit(struct rd_errlist *list)
{
	free(list->v);
	*list = (struct rd_errlist){ 0 };
}

bool rd_could_not_look(int r)
{
	static const int looked[] = { ENOENT,	ENOTDIR,    EISDIR,	  ENODEV,	   ENXIO,
				      ESRCH,	EINVAL,	    ENODATA,	  ENOTTY,	   ENOSYS,
				      ENETDOWN, EOPNOTSUPP, EAFNOSUPPORT, EPROTONOSUPPORT, ECONNREFUSED };

	for (size_t i = 0; i < RD_ARRAY_SIZE(looked); i++)
		if (r == -looked[i])
			return false;
	return r < 0;
}

static const char object[] = "/sys/class/infiniband";

int rd_no_rdma_stack(struct rd_err *err)
{
	rd_err_set(err, ENOENT, object, RD_NO_RDMA_STACK);
	rd_err_hint(err, "modprobe ib_core, or the driver of the NIC; or read another host: --from BUNDLE");
	return -ENOENT;
}

int rd_no_rdma_device(struct rd_err *err)
{
	rd_err_set(err, ENODEV, object, RD_NO_RDMA_DEVICE);
	rd_err_hint(
		err,
		"load the driver of the NIC, or add a software RDMA device: rdma link add rxe0 type rxe netdev eth0");
	return -ENODEV;
}

void rd_stalls_add(struct rd_stalls *stalls, const struct rd_stall *stall)
{
	if (rd_grow(&stalls->v, &stalls->cap, stalls->n + 1, sizeof(*stalls->v)) == 0)
		stalls->v[stalls->n++] = *stall;
}

void rd_stalls_deinit(struct rd_stalls *stalls)
{
	free(stalls->v);
	*stalls = (struct rd_stalls){ 0 };
}

const struct rd_stall *rd_stalls_first(const struct rd_stalls *stalls, enum rd_stall_kind kind)
{
	for (size_t i = 0; i < stalls->n; i++)
		if (stalls->v[i].kind == kind)
			return &stalls->v[i];
	return NULL;
}

size_t rd_stalls_count(const struct rd_stalls *stalls, enum rd_stall_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < stalls->n; i++)
		n += stalls->v[i].kind == kind;
	return n;
}
