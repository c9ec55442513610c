/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PCI functions: links, drivers, and settings in configuration space. */
#include "collect/host/host.h"
#include "collect/snapshot/snapshot.h"

#include <stdio.h>

#include "base/memory.h"
#define PCI "/sys/bus/pci/devices"

struct pci {
	const struct rd_sysfs fs;
	struct rd_facts *facts;
	struct rd_host host;
	bool *above;	 /* bridges above a network, display or accelerator function */
	bool any_denied; /* only the first 64 bytes of some configuration space were readable */
	bool any_read;
};

static uint32_t base_class(const struct rd_pci *pci)
{
	return pci->class.known == RD_OK ? pci->class.v >> 16 : 0;
}

/* Network, display and accelerator functions. */
static bool is_device(const struct rd_pci *pci)
{
	uint32_t base = base_class(pci);

	return base == RD_PCI_NETWORK || base == RD_PCI_DISPLAY || base == RD_PCI_ACCELERATOR;
}

static bool is_bridge(const struct rd_pci *pci)
{
	return pci->class.known == RD_OK && pci->class.v >> 8 == RD_PCI_CLASS_BRIDGE;
}

static void add_text(struct pci *shot, enum rd_area area, const char *addr, const char *file)
{
	_cleanup_free_ char *text = rd_sysfs_text(&shot->fs, NULL, PCI "/%s/%s", addr, file);

	if (text)
		rd_facts_add(shot->facts, area, addr, file, text);
}

static void add_number(struct pci *shot, const char *addr, const char *field, const char *fmt, unsigned value)
{
	char text[16];

	snprintf(text, sizeof(text), fmt, value);
	rd_facts_add(shot->facts, RD_AREA_SETTING, addr, field, text);
}

/*
 * Device Control (PCI Express Base Specification, 7.5.3.4): payload in bits 7:5, read requests in 14:12, both 128 bytes
 * shifted; relaxed ordering in bit 4. ACS control: 7.7.8.3. Virtual functions use the settings of their physical function.
 */
static void add_config(struct pci *shot, struct rd_pci *pci)
{
	_cleanup_free_ char *physical = rd_sysfs_link(&shot->fs, PCI "/%s/physfn", pci->addr);
	unsigned control;

	if (physical)
		return;
	rd_collect_pci_config(&shot->fs, pci);
	control = pci->config.dev_ctl.v;
	shot->any_denied |= pci->config_denied;
	shot->any_read |= pci->config.dev_ctl.known == RD_OK;
	if (pci->config.dev_ctl.known == RD_OK)
		add_number(shot, pci->addr, "max_payload_bytes", "%u", 128u << (control >> 5 & 7));
	if (pci->config.dev_ctl.known == RD_OK && !is_bridge(pci)) {
		add_number(shot, pci->addr, "max_read_request_bytes", "%u", 128u << (control >> 12 & 7));
		rd_facts_add(shot->facts, RD_AREA_SETTING, pci->addr, "relaxed_ordering", control & 0x10 ? "on" : "off");
	}
	if (pci->acs_ctl.known == RD_OK)
		add_number(shot, pci->addr, "acs_control", "0x%04x", pci->acs_ctl.v);
	else if (pci->acs_missing && is_bridge(pci))
		rd_facts_add(shot->facts, RD_AREA_SETTING, pci->addr, "acs_control", "none");
}

static void add_function(struct pci *shot, size_t index)
{
	static const char *const link[] = { "current_link_speed", "current_link_width", "max_link_speed",
					    "max_link_width" };
	static const char *const device[] = { "vendor", "device", "class", "numa_node" };
	struct rd_pci *pci = &shot->host.pcis[index];
	_cleanup_free_ char *driver = rd_sysfs_link(&shot->fs, PCI "/%s/driver", pci->addr);

	rd_facts_add(shot->facts, RD_AREA_DEVICE, pci->addr, "present", "yes");
	for (size_t i = 0; i < RD_ARRAY_SIZE(link); i++)
		add_text(shot, RD_AREA_LINK, pci->addr, link[i]);
	for (size_t i = 0; i < RD_ARRAY_SIZE(device); i++)
		add_text(shot, RD_AREA_DEVICE, pci->addr, device[i]);
	if (driver)
		rd_facts_add(shot->facts, RD_AREA_DEVICE, pci->addr, "driver", rd_basename(driver));
	if (pci->parent >= 0)
		rd_facts_add(shot->facts, RD_AREA_DEVICE, pci->addr, "bridge", shot->host.pcis[pci->parent].addr);
	/* 1 ms each on real hardware: only for devices and the bridges above them. */
	if (is_device(pci) || shot->above[index])
		add_config(shot, pci);
}

int rd_snapshot_pci(struct rd_source *src, struct rd_facts *ret, struct rd_err *err)
{
	struct pci shot = { .fs = { .src = src }, .facts = ret };
	int r = rd_collect_pci(&shot.fs, &shot.host, err);

	shot.above = rd_alloc(shot.host.n_pcis, sizeof(*shot.above));
	for (size_t i = 0; i < shot.host.n_pcis; i++)
		for (int up = shot.host.pcis[i].parent; is_device(&shot.host.pcis[i]) && up >= 0;
		     up = shot.host.pcis[up].parent)
			shot.above[up] = true;
	for (size_t i = 0; i < shot.host.n_pcis; i++)
		if (is_device(&shot.host.pcis[i]) || is_bridge(&shot.host.pcis[i]))
			add_function(&shot, i);
	if (shot.any_denied || shot.any_read)
		rd_facts_add(ret, RD_AREA_HOST, "host", "pci_configuration",
			     shot.any_denied ? "first 64 bytes only (not root)" : "read");
	free(shot.above);
	rd_host_deinit(&shot.host);
	return r;
}
