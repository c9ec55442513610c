/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <limits.h>
#include <strings.h>

#include "base/text.h"

struct errno_entry {
	int code;
	const char *name, *text;
};

/* Those of the kernel's own <linux/errno.h>, which must never reach user space and are seen by a tracer nevertheless. The C library knows
 * all others. */
static const struct errno_entry of_kernel[] = {
	{ 512, "ERESTARTSYS", "Interrupted, to be restarted after the signal" },
	{ 513, "ERESTARTNOINTR", "Interrupted, to be restarted always" },
	{ 514, "ERESTARTNOHAND", "Interrupted, to be restarted if no handler runs" },
	{ 515, "ENOIOCTLCMD", "No such ioctl command" },
	{ 516, "ERESTART_RESTARTBLOCK", "Interrupted, to be restarted by restart_syscall" },
	{ 517, "EPROBE_DEFER", "Driver asks to be probed again later" },
	{ 518, "EOPENSTALE", "Open found a stale entry" },
	{ 519, "ENOPARAM", "Parameter not supported" },
	{ 521, "EBADHANDLE", "Illegal NFS file handle" },
	{ 522, "ENOTSYNC", "Update synchronization mismatch" },
	{ 523, "EBADCOOKIE", "Cookie is stale" },
	{ 524, "ENOTSUPP", "Operation is not supported (kernel-internal)" },
	{ 525, "ETOOSMALL", "Buffer or request is too small" },
	{ 526, "ESERVERFAULT", "An untranslatable error occurred" },
	{ 527, "EBADTYPE", "Type not supported by server" },
	{ 528, "EJUKEBOX", "Request initiated, but will not complete before timeout" },
	{ 529, "EIOCBQUEUED", "Queued, completion event to come" },
	{ 530, "ERECALLCONFLICT", "Conflict with recalled state" },
	{ 531, "ENOGRACE", "NFS file lock reclaim refused" },
};

static const struct errno_entry aliases[] = {
	{ EWOULDBLOCK, "EWOULDBLOCK", NULL },
	{ EDEADLOCK, "EDEADLOCK", NULL },
	{ ENOTSUP, "ENOTSUP", NULL },
};

#define LAST 531

static const struct errno_entry *find_of_kernel(int code)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(of_kernel); i++)
		if (of_kernel[i].code == code || -of_kernel[i].code == code)
			return &of_kernel[i];
	return NULL;
}

const char *rd_errno_name(int code)
{
	const struct errno_entry *entry = find_of_kernel(code);

	return entry ? entry->name : code && code != INT_MIN ? strerrorname_np(abs(code)) : NULL;
}

const char *rd_errno_text(int code)
{
	const struct errno_entry *entry = find_of_kernel(code);
	const char *text = code && code != INT_MIN && !entry ? strerrordesc_np(abs(code)) : NULL;

	return entry ? entry->text : text ?: "Unknown error";
}

int rd_errno_parse(const char *name)
{
	uint32_t number;

	if (rd_parse_u32(name, RD_DECIMAL, 9999, &number) == 0)
		return (int)number;
	for (int code = 1; code <= LAST; code++)
		if (rd_errno_name(code) && strcasecmp(rd_errno_name(code), name) == 0)
			return code;
	for (size_t i = 0; i < RD_ARRAY_SIZE(aliases); i++)
		if (strcasecmp(aliases[i].name, name) == 0)
			return aliases[i].code;
	return -1;
}
