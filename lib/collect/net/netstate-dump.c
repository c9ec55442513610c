/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests a netlink dump from the kernel. */
#include "collect/net/netstate.h"

#include <errno.h>

#include "collect/shared/nlattr.h"

enum rd_known rd_netstate_dump(const struct rd_sysfs *fs, int protocol, const void *request, size_t size,
			       int (*fn)(void *arg, uint16_t type, const uint8_t *body, size_t length), void *arg)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	struct rd_err why = { 0 };
	int code = rd_netlink(fs->src, protocol, request, size, &bytes, &why);

	if (code == -EPERM || code == -EACCES || code == -ENOMEM) {
		rd_errlist_add(fs->errors, &why);
		return RD_DENIED;
	}
	if (code < 0)
		return RD_ABSENT;
	rd_nlmsgs_each(&bytes, fn, arg);
	return RD_OK;
}
