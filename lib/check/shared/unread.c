/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Maps failed reads to parts of the host, so that a rule does not report a fault for data that was not read. */
#include "check/shared/unread.h"

#include <ctype.h>
#include <string.h>

#include "base/err.h"

/* The first match counts. */
static const struct {
	const char *prefix;
	unsigned parts;
} places[] = {
	{ "/sys/bus/pci/", RD_PART_PCI },
	{ "/sys/devices/pci", RD_PART_PCI },
	{ "/sys/kernel/iommu_groups", RD_PART_PCI },
	{ "/sys/class/infiniband_verbs", RD_PART_PROGRAMS },
	{ "/sys/class/infiniband", RD_PART_RDMA },
	{ "netlink rdma", RD_PART_QPS },
	{ "/sys/class/net", RD_PART_NET },
	{ "/proc/net/", RD_PART_NET },
	{ "netlink route", RD_PART_NET },
	{ "/sys/devices/system/", RD_PART_NUMA },
	{ "/proc/cpuinfo", RD_PART_NUMA },
	{ "/proc/modules", RD_PART_MODULES },
	{ "/sys/module/", RD_PART_MODULES },
	{ "/proc/driver/", RD_PART_MODULES },
	{ "/sys/kernel/", RD_PART_MODULES },
	{ "/sys/class/misc/", RD_PART_PROGRAMS },
	{ "/bpf/", 0 },	    /* only root can read it; rules do without */
	{ "/dev/kmsg", 0 }, /* the kernel log: its rules know its state */
	{ "/dev/", RD_PART_PROGRAMS },
	{ "/usr/", RD_PART_PROGRAMS },
	{ "/etc/", RD_PART_PROGRAMS },
};

static unsigned parts_of(const char *object)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(places); i++)
		if (strncmp(object, places[i].prefix, strlen(places[i].prefix)) == 0)
			return places[i].parts;
	if (strcmp(object, "/proc") == 0 || (strncmp(object, "/proc/", 6) == 0 && isdigit((unsigned char)object[6])))
		return RD_PART_PROCESSES;
	return 0;
}

const struct rd_err *rd_check_unread(const struct rd_errlist *unread, unsigned parts)
{
	for (size_t i = 0; unread && i < unread->n; i++)
		if (parts_of(unread->v[i].object) & parts)
			return &unread->v[i];
	/* Reads beyond the end of the list may concern any part. */
	return unread && unread->more ? &unread->v[unread->n - 1] : NULL;
}
