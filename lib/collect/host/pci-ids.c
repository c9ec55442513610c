/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names from pci.ids, read through the source and searched as text: a few names out of 35,000, for which building libpci's
 * table would take longer than the rest of a command.
 */
#include "collect/host/host.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

void rd_collect_pci_ids(const struct rd_sysfs *fs, struct rd_host *host)
{
	static const char *const paths[] = { "/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids" };

	for (size_t i = 0; i < RD_ARRAY_SIZE(paths) && !host->ids; i++) {
		struct rd_bytes bytes = { 0 };
		struct rd_err err = { 0 };
		int r = rd_read_file(fs->src, paths[i], &bytes, &err);

		if (rd_could_not_look(r))
			rd_errlist_add(fs->errors, &err);
		if (r < 0)
			continue;
		host->ids = (char *)bytes.data;
		host->ids_size = bytes.size;
	}
}

/* "10de  NVIDIA Corporation", then "\t2330  GH100 [H100 SXM5 80GB]", then "\t\tsubvendor subdevice  name". */
char *rd_pci_ids_device(const struct rd_host *host, uint16_t vendor, uint16_t device)
{
	const char *at, *end = host->ids ? host->ids + host->ids_size : NULL;
	char wanted[8];

	if (!host->ids)
		return NULL;
	snprintf(wanted, sizeof(wanted), "\n%04x  ", vendor);
	at = memmem(host->ids, host->ids_size, wanted, 7);
	if (!at)
		return NULL;
	at++;
	snprintf(wanted, sizeof(wanted), "%04x  ", device);
	while ((at = memchr(at, '\n', end - at)) && ++at < end) {
		const char *stop = memchr(at, '\n', end - at);

		if (*at == '#' || (*at == '\t' && at + 1 < end && at[1] == '\t'))
			continue;
		if (*at != '\t')
			return NULL;
		if (!stop || stop - at < 8 || strncmp(at + 1, wanted, 6) != 0)
			continue;
		return rd_dup_part(at + 7, stop - at - 7);
	}
	return NULL;
}
