/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PCI functions: their place, properties, configuration space, names. */
#include "collect/host/host.h"

/*
 * Names from pci.ids, read through the source and searched as text: a few names out of 35,000, for which building libpci's
 * table would take longer than the rest of a command.
 */

static void read_ids(const struct rd_sysfs *fs, struct rd_host *host)
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
char *rd_pci_ids_device(const struct rd_sysfs *fs, struct rd_host *host, uint16_t vendor, uint16_t device)
{
	const char *at, *end;
	char wanted[8];

	if (!host->ids)
		read_ids(fs, host);
	if (!host->ids)
		return NULL;
	end = host->ids + host->ids_size;
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

/* Configuration space and other attributes of a PCI function that rules check. */

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
	uint64_t unsupported;

	at = at ? at + strlen(total) : "";
	if (rd_take_uints(&at, RD_DECIMAL, ret, 1) < 1)
		return known == RD_DENIED ? RD_DENIED : RD_ABSENT;
	/* Software that looks for devices and registers makes these. */
	at = strcmp(which, "nonfatal") == 0 ? strstr(text, "UnsupReq") : NULL;
	at = at ? at + strlen("UnsupReq") : "";
	if (rd_take_uints(&at, RD_DECIMAL, &unsupported, 1) == 1)
		*ret -= unsupported < *ret ? unsupported : *ret;
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

/* Whether the group contains other devices than functions of the same card and bridges. */
static bool is_shared(const struct rd_sysfs *fs, const struct rd_host *host, const struct rd_pci *pci, const char *group)
{
	_cleanup_texts_ struct rd_texts names = { 0 };
	size_t slot = strcspn(pci->addr, ".");

	if (rd_sysfs_list(fs, &names, "/sys/kernel/iommu_groups/%s/devices", group) < 0)
		return false;
	for (size_t i = 0; i < names.n; i++) {
		int other = rd_host_find_pci(host, names.v[i]);

		if (other >= 0 && strncmp(pci->addr, names.v[i], slot + 1) != 0 &&
		    host->pcis[other].class.v >> 16 != RD_PCI_BRIDGE)
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

/* Error counts, power state, IOMMU group, base addresses of one function. */
static void rd_collect_pci_extras(const struct rd_sysfs *fs, struct rd_host *host, struct rd_pci *pci)
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

/* /sys/bus/pci */

#define PCIS_MAX 65536
#define DEPTH_MAX 64

bool rd_pci_place_parse(const char *target, struct rd_pci_place *ret)
{
	const char *sf = strstr(target, "mlx5_core.sf.");
	struct rd_pci pci;

	*ret = (struct rd_pci_place){ 0 };
	if (sf && (sf += sizeof("mlx5_core.sf.") - 1, rd_take_u32(&sf, RD_DECIMAL, UINT32_MAX - 1, &ret->sf)) == 0)
		ret->sf++;
	while (*target) {
		size_t n = strcspn(target, "/");
		char word[RD_PCI_ADDR] = "";

		if (n < sizeof(word))
			memcpy(word, target, n);
		if (n > 4 && n < RD_PCI_ADDR && strncmp(word, "pci", 3) == 0 && memchr(word, ':', n)) {
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

/* False: another name. */
static bool add_function(const struct rd_sysfs *fs, struct rd_host *host, const char *name, struct rd_pci_place *place)
{
	_cleanup_free_ char *target = NULL;
	struct rd_pci parsed, *pci;
	int64_t value;

	if (rd_pci_parse(name, &parsed) < 0)
		return false;
	pci = rd_host_add_pci(host);
	rd_pci_parse(name, pci);
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
	_cleanup_texts_ struct rd_texts names = { 0 };
	_cleanup_free_ struct rd_pci_place *places = NULL;
	size_t n = 0;

	if (rd_sysfs_list(fs, &names, "/sys/bus/pci/devices") < 0)
		return 0;
	if (names.n > PCIS_MAX)
		return rd_err_set(err, E2BIG, "/sys/bus/pci/devices", "too many PCI functions: at most %d", PCIS_MAX);
	places = rd_alloc(names.n + 1, sizeof(*places));
	for (size_t i = 0; i < names.n; i++)
		n += add_function(fs, host, names.v[i], &places[n]);
	/* Parents may follow their children in the listing. */
	for (size_t j = 0; j < host->n_pcis; j++)
		if (places[j].parent[0])
			host->pcis[j].parent = rd_host_find_pci(host, places[j].parent);
	/* A hostile tree may contain a cycle. */
	for (size_t j = 0; j < host->n_pcis; j++) {
		int up = host->pcis[j].parent, depth = 0;

		while (up >= 0 && depth++ < DEPTH_MAX)
			up = host->pcis[up].parent;
		if (up >= 0)
			host->pcis[j].parent = -1;
	}
	return 0;
}

static void read_link(const struct rd_sysfs *fs, const char *addr, const char *which, struct rd_pcie_link *link)
{
	_cleanup_free_ char *speed = rd_sysfs_text(fs, NULL, "/sys/bus/pci/devices/%s/%s_link_speed", addr, which);
	const char *at = speed;
	int64_t width;
	double gtps;

	/* "Unknown", "Unknown speed"; "16.0 GT/s PCIe", before kernel 5.7 "16 GT/s". */
	if (speed && rd_take_real(&at, &gtps) == 0 && gtps >= 0.0005 && gtps <= 1000)
		RD_SET(link->mtps, (unsigned)(gtps * 1000 + 0.5));
	if (rd_sysfs_int(fs, &width, "/sys/bus/pci/devices/%s/%s_link_width", addr, which) == RD_OK && width > 0 &&
	    width <= 32)
		RD_SET(link->width, (unsigned)width);
}

#define READ_ID(field, name)                                                                       \
	do {                                                                                       \
		if (rd_sysfs_int(fs, &value, "/sys/bus/pci/devices/%s/" name, pci->addr) == RD_OK) \
			RD_SET(pci->field, (uint16_t)value);                                       \
	} while (0)

void rd_collect_pci_detail(const struct rd_sysfs *fs, struct rd_host *host, int index, unsigned what)
{
	for (int depth = 0; index >= 0 && depth < DEPTH_MAX; depth++) {
		struct rd_pci *pci = &host->pcis[index];

		if (!pci->detailed) {
			_cleanup_free_ char *driver = rd_sysfs_link(fs, "/sys/bus/pci/devices/%s/driver", pci->addr);
			_cleanup_free_ char *physfn = rd_sysfs_link(fs, "/sys/bus/pci/devices/%s/physfn", pci->addr);
			int64_t value;

			pci->detailed = true;
			READ_ID(vendor, "vendor");
			READ_ID(device, "device");
			READ_ID(subvendor, "subsystem_vendor");
			READ_ID(subdevice, "subsystem_device");
			if (rd_sysfs_int(fs, &value, "/sys/bus/pci/devices/%s/numa_node", pci->addr) == RD_OK &&
			    value >= -1 && value < 65536)
				RD_SET(pci->numa, (int)value);
			read_link(fs, pci->addr, "current", &pci->now);
			read_link(fs, pci->addr, "max", &pci->max);
			if (driver)
				pci->driver = rd_dup(rd_basename(driver));
			if (physfn)
				pci->pf = rd_host_find_pci(host, rd_basename(physfn));
		}
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
	_cleanup_texts_ struct rd_texts names = { 0 };

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
