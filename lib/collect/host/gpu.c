/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accelerators, by PCI class alone; and /proc/driver/nvidia. */
#include "collect/host/host.h"

struct maker {
	uint16_t vendor;
	const char *name;
};

/* Vendors of accelerators: their VGA controllers count as accelerators, too. */
static const struct maker makers[] = {
	{ 0x10de, "NVIDIA" },	 { 0x1002, "AMD" },	   { 0x8086, "Intel" },		{ 0x1da3, "Habana" },
	{ 0x1d94, "Hygon" },	 { 0x19e5, "Huawei" },	   { 0x1ed5, "Moore Threads" }, { 0x1e3e, "Iluvatar" },
	{ 0x1ee0, "Biren" },	 { 0x1e36, "Enflame" },	   { 0xcabc, "Cambricon" },	{ 0x1d95, "Graphcore" },
	{ 0x1ed2, "FuriosaAI" }, { 0x1eff, "Rebellions" }, { 0x1e52, "Tenstorrent" },	{ 0x1d0f, "Amazon" },
	{ 0x10ee, "Xilinx" },	 { 0x1ae0, "Google" },
};

/* Display controllers for the console of a server or virtual machine. device 0: all devices. */
static const struct {
	uint16_t vendor, device;
} consoles[] = {
	{ 0x1a03, 0 },	    /* ASPEED */
	{ 0x102b, 0 },	    /* Matrox */
	{ 0x1234, 0 },	    /* Bochs, QEMU's standard VGA */
	{ 0x1013, 0 },	    /* Cirrus */
	{ 0x15ad, 0 },	    /* VMware */
	{ 0x1af4, 0 },	    /* virtio */
	{ 0x1b36, 0 },	    /* QEMU, QXL */
	{ 0x80ee, 0 },	    /* VirtualBox */
	{ 0x1414, 0 },	    /* Hyper-V */
	{ 0x18ca, 0 },	    /* XGI */
	{ 0x126f, 0 },	    /* Silicon Motion */
	{ 0x19e5, 0x1711 }, /* Huawei iBMC */
	{ 0x1002, 0x164e }, /* in processors: Raphael (EPYC 4004) */
	{ 0x1002, 0x13c0 }, /* Granite Ridge */
	{ 0x1002, 0x515e }, /* ATI ES1000 */
	{ 0x1002, 0x5969 }, /* ATI ES1000 */
	{ 0x1002, 0x4752 }, /* ATI Rage XL */
	{ 0x1002, 0x5046 }, /* ATI Rage 128 */
	{ 0x1002, 0x5159 }, /* ATI RV100 */
};

const char *rd_gpu_maker(uint16_t vendor)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(makers); i++)
		if (makers[i].vendor == vendor)
			return makers[i].name;
	return NULL;
}

static bool is_console(const struct rd_pci *pci)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(consoles); i++)
		if (consoles[i].vendor == pci->vendor.v && (!consoles[i].device || consoles[i].device == pci->device.v))
			return true;
	/* Integrated graphics: always 00:02.0. */
	return pci->vendor.v == 0x8086 && pci->parent < 0 && pci->bus == 0 && pci->dev == 2;
}

static bool is_display_class(const struct rd_pci *pci)
{
	uint32_t base = pci->class.v >> 16;

	return pci->class.known == RD_OK && (base == RD_PCI_DISPLAY || base == RD_PCI_ACCELERATOR);
}

/* What display functions a host has: cards of class VGA, and whether there is an accelerator of another class. */
struct cards {
	size_t vga;
	bool others;
};

/* Whether a graphics card is for a screen: a driver for displays has the only one (Resizable BAR maps all memory of such, too); or its
 * memory is not mapped as a whole, and no driver that computes has it, or other accelerators are there for that. */
static bool is_for_screen(const struct rd_sysfs *fs, struct rd_pci *pci, const struct cards *cards)
{
	bool computes = pci->driver && (strcmp(pci->driver, "nvidia") == 0 || strcmp(pci->driver, "amdgpu") == 0);

	rd_collect_pci_bars(fs, pci);
	if (cards->vga == 1 && pci->driver && !computes && !rd_driver_is_for_guests(pci->driver))
		return true;
	for (unsigned i = 0; i < pci->n_bars; i++)
		if (pci->bars[i].size >= UINT64_C(1) << 30)
			return false;
	return pci->n_bars > 0 && (!computes || cards->others);
}

/* "Key: \t value" lines. */
static char *info_value(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	if (!at || (at != text && at[-1] != '\n'))
		return NULL;
	at += strlen(key);
	at += strspn(at, " \t");
	return rd_dup_part(at, strcspn(at, "\n"));
}

static void read_nvidia(const struct rd_sysfs *fs, const struct rd_pci *pci, struct rd_gpu *gpu)
{
	_cleanup_free_ char *text = rd_sysfs_text(fs, NULL, "/proc/driver/nvidia/gpus/%s/information", pci->addr);
	_cleanup_free_ char *minor = NULL;
	uint32_t number;

	if (!text)
		return;
	gpu->uuid = info_value(text, "GPU UUID:");
	gpu->name = info_value(text, "Model:");
	minor = info_value(text, "Device Minor:");
	if (minor && rd_parse_u32(minor, RD_DECIMAL, UINT32_MAX, &number) == 0)
		RD_SET(gpu->minor, number);
}

static int compare_places(const struct rd_pci *a, const struct rd_pci *b)
{
	uint64_t ka = (uint64_t)a->domain << 16 | (uint64_t)a->bus << 8 | (uint64_t)a->dev << 3 | a->fn;
	uint64_t kb = (uint64_t)b->domain << 16 | (uint64_t)b->bus << 8 | (uint64_t)b->dev << 3 | b->fn;

	return ka < kb ? -1 : ka > kb;
}

/* Listings are sorted as text, where domain 10000 comes before 9000. */
void rd_collect_sort_gpus(struct rd_host *host)
{
	for (size_t i = 1; i < host->n_gpus; i++)
		for (size_t j = i; j > 0; j--) {
			struct rd_gpu *a = &host->gpus[j - 1], *b = &host->gpus[j], held = *a;

			if (compare_places(&host->pcis[a->pci], &host->pcis[b->pci]) <= 0)
				break;
			*a = *b;
			*b = held;
		}
	for (size_t i = 0; i < host->n_gpus; i++) {
		host->gpus[i].index = (unsigned)i;
		if (host->gpus[i].dev < 0)
			host->gpus[i].dev = (int)i;
	}
}

void rd_collect_gpu(const struct rd_sysfs *fs, struct rd_host *host)
{
	struct cards cards = { 0 };

	for (size_t i = 0; i < host->n_pcis; i++) {
		struct rd_pci *pci = &host->pcis[i];

		if (!is_display_class(pci))
			continue;
		rd_collect_pci_detail(fs, host, (int)i, 0);
		cards.vga += rd_gpu_maker(pci->vendor.v) && !is_console(pci) && pci->class.v >> 8 == 0x0300;
		cards.others |= rd_gpu_maker(pci->vendor.v) && pci->class.v >> 8 != 0x0300;
	}
	for (size_t i = 0; i < host->n_pcis; i++) {
		struct rd_pci *pci = &host->pcis[i];
		struct rd_gpu *gpu;

		if (!is_display_class(pci) || pci->vendor.known != RD_OK || is_console(pci) ||
		    (pci->class.v >> 8 == 0x0300 && (!rd_gpu_maker(pci->vendor.v) || is_for_screen(fs, pci, &cards))))
			continue;
		gpu = rd_host_add_gpu(host);
		gpu->pci = (int)i;
		gpu->dev = -1;
		gpu->vendor = rd_gpu_maker(pci->vendor.v);
		if (pci->vendor.v == 0x10de)
			read_nvidia(fs, pci, gpu);
	}
	rd_collect_sort_gpus(host);
}
