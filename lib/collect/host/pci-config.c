/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configuration space and other attributes of a PCI function that rules check. */
#include "collect/host/host.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"

/*
 * Capability list: id, next; Express capability 0x10, type in bits 7:4 of its register at 2. Extended list from 0x100: id
 * in bits 15:0, next in 31:20; ACS is 0x000d, control register at 6; ATS 0x000f, the same. (PCI Express Base
 * Specification; offsets as in linux/pci_regs.h.)
 */
enum {
	CAP_POINTER = 0x34,
	CAP_EXPRESS = 0x10,
	EXT_FIRST = 0x100,
	EXT_ACS = 0x000d,
	EXT_ATS = 0x000f,
	EXT_CTL = 6,
	EXP_DEV_CAP = 0x04,
	EXP_DEV_CTL = 0x08,
	EXP_SLOT_CAP = 0x14,
	EXP_DEV_CAP2 = 0x24,
	EXP_DEV_CTL2 = 0x28,
	EXP_SLOT = 0x0100, /* in the register at 2: slot implemented */
};

static uint16_t le16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t le32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void parse_express(const uint8_t *c, size_t at, struct rd_pci *pci)
{
	static const uint8_t kinds[16] = {
		[0] = RD_PCIE_ENDPOINT,
		[4] = RD_PCIE_ROOT_PORT,
		[5] = RD_PCIE_UPSTREAM,
		[6] = RD_PCIE_DOWNSTREAM,
	};
	uint16_t flags = le16(c + at + 2);

	RD_SET(pci->kind, kinds[flags >> 4 & 15]);
	if (at + EXP_DEV_CTL + 2 > 256)
		return;
	RD_SET(pci->config.dev_cap, le32(c + at + EXP_DEV_CAP));
	RD_SET(pci->config.dev_ctl, le16(c + at + EXP_DEV_CTL));
	if (flags & EXP_SLOT && at + EXP_SLOT_CAP + 4 <= 256)
		RD_SET(pci->config.slot_cap, le32(c + at + EXP_SLOT_CAP));
	/* Version 2 of the capability has the second set of registers. */
	if ((flags & 15) < 2 || at + EXP_DEV_CTL2 + 2 > 256)
		return;
	RD_SET(pci->config.dev_cap2, le32(c + at + EXP_DEV_CAP2));
	RD_SET(pci->config.dev_ctl2, le16(c + at + EXP_DEV_CTL2));
}

static void parse_extended(const uint8_t *c, struct rd_pci *pci)
{
	size_t at = EXT_FIRST;

	pci->acs_missing = true;
	for (int left = 480; at >= EXT_FIRST && at + 8 <= 4096 && left > 0; left--, at = le32(c + at) >> 20 & 0xffc) {
		unsigned id = le32(c + at) & 0xffff;

		if (id == EXT_ACS && pci->acs_missing) {
			RD_SET(pci->acs_ctl, le16(c + at + EXT_CTL));
			pci->acs_missing = false;
		} else if (id == EXT_ATS && pci->config.ats_ctl.known != RD_OK) {
			RD_SET(pci->config.ats_ctl, le16(c + at + EXT_CTL));
		}
	}
}

void rd_collect_pci_config(const struct rd_sysfs *fs, struct rd_pci *pci)
{
	_cleanup_bytes_ struct rd_bytes config = { 0 };
	size_t at;
	char path[96];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/config", pci->addr);
	pci->config_read = true;
	if (rd_read_file(fs->src, path, &config, NULL) < 0 || config.size == 0)
		return;
	/* Same check as pci_device_is_present(): a vendor ID is never 0xffff. */
	if (config.size >= 4 && le32(config.data) == UINT32_MAX) {
		pci->no_answer = true;
		return;
	}
	/* Without CAP_SYS_ADMIN the kernel returns only 64 bytes; all functions have at least 256. */
	pci->config_denied = config.size < 256;
	if (config.size < 4096)
		pci->acs_ctl.known = pci->config.ats_ctl.known = RD_DENIED;
	if (config.size < 256) {
		pci->config.dev_cap.known = pci->config.dev_ctl.known = RD_DENIED;
		pci->config.dev_cap2.known = pci->config.dev_ctl2.known = pci->config.slot_cap.known = RD_DENIED;
		return;
	}
	at = config.data[CAP_POINTER] & 0xfc;
	for (int left = 48; at >= 0x40 && at + 4 <= 256 && left > 0; left--, at = config.data[at + 1] & 0xfc)
		if (config.data[at] == CAP_EXPRESS) {
			parse_express(config.data, at, pci);
			break;
		}
	if (config.size >= 4096)
		parse_extended(config.data, pci);
}

/* "RxErr 0\n…\nTOTAL_ERR_COR 3": the sum on the last line. */
static enum rd_known read_aer(const struct rd_sysfs *fs, const char *addr, const char *which, const char *total,
			      uint64_t *ret)
{
	enum rd_known known;
	_cleanup_free_ char *text = rd_sysfs_text(fs, &known, "/sys/bus/pci/devices/%s/aer_dev_%s", addr, which);
	const char *at = text ? strstr(text, total) : NULL;

	at = at ? at + strlen(total) : "";
	if (rd_take_uints(&at, RD_DECIMAL, ret, 1) < 1)
		return known == RD_DENIED ? RD_DENIED : RD_ABSENT;
	return RD_OK;
}

/* Lines of "start end flags": six base address registers, then ROM and bridge windows. */
void rd_collect_pci_bars(const struct rd_sysfs *fs, struct rd_pci *pci)
{
	_cleanup_free_ char *text = rd_sysfs_text(fs, NULL, "/sys/bus/pci/devices/%s/resource", pci->addr);
	char *rest = text;

	pci->n_bars = 0;
	for (unsigned i = 0; rest && i < RD_ARRAY_SIZE(pci->bars); i++) {
		const char *line = strsep(&rest, "\n");
		uint64_t ends[2];

		if (rd_take_uints(&line, RD_HEX, ends, 2) < 2 || ends[1] <= ends[0] || ends[1] - ends[0] == UINT64_MAX)
			continue;
		pci->bars[pci->n_bars++] = (struct rd_bar){ i, ends[0], ends[1] - ends[0] + 1 };
	}
}

static bool same_slot(const char *a, const char *b)
{
	const char *dot = strrchr(a, '.');

	return dot && strncmp(a, b, (size_t)(dot - a) + 1) == 0;
}

/* Whether the group contains other devices than functions of the same card and bridges. */
static bool is_shared(const struct rd_sysfs *fs, const struct rd_host *host, const struct rd_pci *pci, const char *group)
{
	_cleanup_names_ struct rd_names names = { 0 };

	if (rd_sysfs_list(fs, &names, "/sys/kernel/iommu_groups/%s/devices", group) < 0)
		return false;
	for (size_t i = 0; i < names.n; i++) {
		int other = rd_host_find_pci(host, names.v[i]);

		if (other >= 0 && !same_slot(pci->addr, names.v[i]) && host->pcis[other].class.v >> 16 != RD_PCI_BRIDGE)
			return true;
	}
	return false;
}

static void read_iommu(const struct rd_sysfs *fs, const struct rd_host *host, struct rd_pci *pci)
{
	_cleanup_free_ char *link = rd_sysfs_link(fs, "/sys/bus/pci/devices/%s/iommu_group", pci->addr);
	const char *group = link ? rd_basename(link) : NULL;
	uint32_t number;

	if (!group || rd_parse_u32(group, RD_DECIMAL, INT32_MAX, &number) < 0)
		return;
	RD_SET(pci->iommu_group, (int)number);
	pci->iommu_type = rd_sysfs_text(fs, NULL, "/sys/kernel/iommu_groups/%u/type", number);
	pci->iommu_shared = is_shared(fs, host, pci, group);
}

void rd_collect_pci_extras(const struct rd_sysfs *fs, struct rd_host *host, struct rd_pci *pci)
{
	struct rd_pci_aer *aer = &pci->aer;

	pci->extras_read = true;
	aer->correctable.known = read_aer(fs, pci->addr, "correctable", "TOTAL_ERR_COR", &aer->correctable.v);
	aer->nonfatal.known = read_aer(fs, pci->addr, "nonfatal", "TOTAL_ERR_NONFATAL", &aer->nonfatal.v);
	aer->fatal.known = read_aer(fs, pci->addr, "fatal", "TOTAL_ERR_FATAL", &aer->fatal.v);
	if (pci->class.v >> 16 == RD_PCI_BRIDGE)
		return;
	pci->power_state = rd_sysfs_text(fs, NULL, "/sys/bus/pci/devices/%s/power_state", pci->addr);
	read_iommu(fs, host, pci);
	rd_collect_pci_bars(fs, pci);
}
