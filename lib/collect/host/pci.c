/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /sys/bus/pci */
#include "collect/host/host.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"

#define PCIS_MAX 65536
#define DEPTH_MAX 64

static bool is_root_name(const char *s, size_t n)
{
	return n > 4 && n < RD_PCI_ADDR && strncmp(s, "pci", 3) == 0 && memchr(s, ':', n);
}

bool rd_pci_place_parse(const char *target, struct rd_pci_place *ret)
{
	struct rd_pci pci;

	*ret = (struct rd_pci_place){ 0 };
	while (*target) {
		size_t n = strcspn(target, "/");
		char word[RD_PCI_ADDR] = "";

		if (n < sizeof(word))
			memcpy(word, target, n);
		if (is_root_name(word, n)) {
			/* A bus created by a function of another domain (VMD) is the root of a separate tree. */
			if (!ret->root[0])
				memcpy(ret->root, word, sizeof(word));
			ret->self[0] = '\0';
		} else if (n < sizeof(word) && rd_pci_parse(word, &pci) == 0) {
			memcpy(ret->parent, ret->self, sizeof(ret->parent));
			memcpy(ret->self, pci.addr, sizeof(ret->self));
		}
		target += n + (target[n] == '/');
	}
	return ret->self[0] != '\0';
}

/* Parents may follow their children in the listing. */
static void link_parents(struct rd_host *host, const struct rd_pci_place *places)
{
	for (size_t i = 0; i < host->n_pcis; i++)
		if (places[i].parent[0])
			host->pcis[i].parent = rd_host_find_pci(host, places[i].parent);
	/* A hostile tree may contain a cycle. */
	for (size_t i = 0; i < host->n_pcis; i++) {
		int up = host->pcis[i].parent, depth = 0;

		while (up >= 0 && depth++ < DEPTH_MAX)
			up = host->pcis[up].parent;
		if (up >= 0)
			host->pcis[i].parent = -1;
	}
}

/* False: another name. */
static bool add_function(const struct rd_sysfs *fs, struct rd_host *host, const char *name, struct rd_pci_place *place)
{
	_cleanup_free_ char *target = NULL;
	struct rd_pci parsed = { 0 }, *pci;
	int64_t value;

	if (rd_pci_parse(name, &parsed) < 0)
		return false;
	pci = rd_host_add_pci(host);
	memcpy(pci->addr, parsed.addr, sizeof(pci->addr));
	pci->domain = parsed.domain;
	pci->bus = parsed.bus;
	pci->dev = parsed.dev;
	pci->fn = parsed.fn;
	*place = (struct rd_pci_place){ 0 };
	target = rd_sysfs_link(fs, "/sys/bus/pci/devices/%s", name);
	if (target && rd_pci_place_parse(target, place) && place->root[0])
		pci->root = rd_dup(place->root);
	if (rd_sysfs_int(fs, &value, "/sys/bus/pci/devices/%s/class", name) == RD_OK)
		RD_SET(pci->class, (uint32_t)value & 0xffffff);
	return true;
}

int rd_collect_pci(const struct rd_sysfs *fs, struct rd_host *host, struct rd_err *err)
{
	_cleanup_names_ struct rd_names names = { 0 };
	_cleanup_free_ struct rd_pci_place *places = NULL;
	size_t n = 0;

	if (rd_sysfs_list(fs, &names, "/sys/bus/pci/devices") < 0)
		return 0;
	if (names.n > PCIS_MAX)
		return rd_err_set(err, E2BIG, "/sys/bus/pci/devices", "too many PCI functions: at most %d", PCIS_MAX);
	places = rd_alloc(names.n + 1, sizeof(*places));
	for (size_t i = 0; i < names.n; i++)
		n += add_function(fs, host, names.v[i], &places[n]);
	link_parents(host, places);
	return 0;
}

static unsigned mtps_of(const char *text)
{
	double gtps;

	/* "Unknown", "Unknown speed"; "16.0 GT/s PCIe", before kernel 5.7 "16 GT/s". */
	return rd_take_real(&text, &gtps) == 0 && gtps <= 1000 ? (unsigned)(gtps * 1000 + 0.5) : 0;
}

static void read_link(const struct rd_sysfs *fs, const char *addr, const char *which, struct rd_pcie_link *link)
{
	_cleanup_free_ char *speed = rd_sysfs_text(fs, NULL, "/sys/bus/pci/devices/%s/%s_link_speed", addr, which);
	int64_t width;

	if (speed && mtps_of(speed) > 0)
		RD_SET(link->mtps, mtps_of(speed));
	if (rd_sysfs_int(fs, &width, "/sys/bus/pci/devices/%s/%s_link_width", addr, which) == RD_OK && width > 0 &&
	    width <= 32)
		RD_SET(link->width, (unsigned)width);
}

#define READ_ID(field, name)                                                                       \
	do {                                                                                       \
		if (rd_sysfs_int(fs, &value, "/sys/bus/pci/devices/%s/" name, pci->addr) == RD_OK) \
			RD_SET(pci->field, (uint16_t)value);                                       \
	} while (0)

static void read_detail(const struct rd_sysfs *fs, struct rd_host *host, struct rd_pci *pci)
{
	_cleanup_free_ char *driver = rd_sysfs_link(fs, "/sys/bus/pci/devices/%s/driver", pci->addr);
	_cleanup_free_ char *physfn = rd_sysfs_link(fs, "/sys/bus/pci/devices/%s/physfn", pci->addr);
	int64_t value;

	pci->detailed = true;
	READ_ID(vendor, "vendor");
	READ_ID(device, "device");
	READ_ID(subvendor, "subsystem_vendor");
	READ_ID(subdevice, "subsystem_device");
	if (rd_sysfs_int(fs, &value, "/sys/bus/pci/devices/%s/numa_node", pci->addr) == RD_OK && value >= -1 &&
	    value < 65536)
		RD_SET(pci->numa, (int)value);
	read_link(fs, pci->addr, "current", &pci->now);
	read_link(fs, pci->addr, "max", &pci->max);
	if (driver)
		pci->driver = rd_dup(rd_basename(driver));
	if (physfn)
		pci->pf = rd_host_find_pci(host, rd_basename(physfn));
}

void rd_collect_pci_detail(const struct rd_sysfs *fs, struct rd_host *host, int index, unsigned what)
{
	for (int depth = 0; index >= 0 && depth < DEPTH_MAX; depth++) {
		struct rd_pci *pci = &host->pcis[index];

		if (!pci->detailed)
			read_detail(fs, host, pci);
		if (!pci->config_read &&
		    (what & RD_COLLECT_PCI || (what & RD_COLLECT_ACS && pci->class.v >> 8 == RD_PCI_CLASS_BRIDGE)))
			rd_collect_pci_config(fs, pci);
		if (what & RD_COLLECT_PCI && !pci->extras_read)
			rd_collect_pci_extras(fs, host, pci);
		index = pci->parent;
	}
}

void rd_collect_pci_marks(const struct rd_sysfs *fs, struct rd_host *host)
{
	for (size_t i = 0; i < host->n_pcis; i++) {
		struct rd_pci *pci = &host->pcis[i];
		uint32_t class = pci->class.v >> 8;
		int64_t value;

		if (class != RD_PCI_CLASS_NVSWITCH && class != RD_PCI_CLASS_DATA_DIRECT)
			continue;
		READ_ID(vendor, "vendor");
		host->has_nvswitch |= class == RD_PCI_CLASS_NVSWITCH && pci->vendor.v == 0x10de;
		host->has_data_direct |= class == RD_PCI_CLASS_DATA_DIRECT && pci->vendor.v == 0x15b3;
	}
}

void rd_collect_pci_orphans(const struct rd_sysfs *fs, struct rd_host *host, unsigned what)
{
	for (size_t i = 0; i < host->n_pcis; i++) {
		const struct rd_pci *pci = &host->pcis[i];

		/* Without configuration space: a hypervisor may have many virtual functions. NICs that have no firmware are memory
		 * controllers. */
		if ((pci->class.v >> 16 == RD_PCI_NETWORK || pci->class.v >> 8 == RD_PCI_CLASS_MEMORY) && !pci->detailed)
			rd_collect_pci_detail(fs, host, (int)i, what & ~(unsigned)(RD_COLLECT_PCI | RD_COLLECT_ACS));
		/* For the ports of the switch above it. */
		if (pci->class.v >> 8 == RD_PCI_CLASS_DATA_DIRECT && pci->vendor.v == 0x15b3)
			rd_collect_pci_detail(fs, host, (int)i, what);
	}
}

void rd_collect_pci_sisters(const struct rd_sysfs *fs, struct rd_host *host)
{
	for (size_t i = 0; i < host->n_pcis; i++) {
		struct rd_pci *pci = &host->pcis[i];
		unsigned depth = 0;
		bool beside = false;
		int64_t value;

		if (pci->detailed || pci->class.v >> 8 != RD_PCI_CLASS_BRIDGE)
			continue;
		for (int up = pci->parent; up >= 0; up = host->pcis[up].parent, depth++)
			beside |= host->pcis[up].detailed;
		/* Below a root port, upstream and downstream ports alternate; an upstream port is a switch. One directly below
		 * a root port may have lost all devices below it. */
		if (depth % 2 == 0 || (!beside && depth > 1))
			continue;
		READ_ID(vendor, "vendor");
		READ_ID(device, "device");
	}
}

void rd_collect_pci_slots(const struct rd_sysfs *fs, struct rd_host *host)
{
	_cleanup_names_ struct rd_names names = { 0 };

	if (rd_sysfs_list(fs, &names, "/sys/bus/pci/slots") < 0)
		return;
	for (size_t i = 0; i < names.n && i < 1024; i++) {
		_cleanup_free_ char *address = rd_sysfs_text(fs, NULL, "/sys/bus/pci/slots/%s/address", names.v[i]);
		struct rd_pci wanted;
		char full[64];

		/* "0000:1b:00": a slot contains all functions of a device. */
		snprintf(full, sizeof(full), "%s.0", address ? address : "");
		if (rd_pci_parse(full, &wanted) < 0)
			continue;
		for (size_t p = 0; p < host->n_pcis; p++) {
			struct rd_pci *pci = &host->pcis[p];

			if (pci->detailed && pci->domain == wanted.domain && pci->bus == wanted.bus &&
			    pci->dev == wanted.dev && !pci->slot)
				pci->slot = rd_dup(names.v[i]);
		}
	}
}
