/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A host: CPUs and NUMA nodes, then everything that the other files of this directory collect. */
#include "collect/host/host.h"

/* /sys/devices/system/node, sockets of processors, /proc/cpuinfo */

static char *cpuinfo_value(const char *text, const char *key)
{
	size_t n = strlen(key);

	for (const char *line = text; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
		const char *colon;

		if (strncmp(line, key, n) != 0)
			continue;
		colon = line + n + strspn(line + n, " \t");
		if (*colon != ':')
			continue;
		colon += 1 + strspn(colon + 1, " \t");
		return rd_dup_part(colon, strcspn(colon, "\n"));
	}
	return NULL;
}

static void read_number(const char *text, const char *key, unsigned *ret, enum rd_known *known)
{
	_cleanup_free_ char *value = cpuinfo_value(text, key);

	if (value && rd_parse_u32(value, RD_AS_C, UINT32_MAX, ret) == 0)
		*known = RD_OK;
}

/* On x86 from the CPU flags, on others from DMI. */
static void read_hypervisor(const struct rd_sysfs *fs, const char *cpuinfo, struct rd_host *host)
{
	static const char *const makers[] = { "QEMU",
					      "KVM",
					      "VMware",
					      "Xen",
					      "Google Compute Engine",
					      "Virtual Machine",
					      "OpenStack",
					      "Alibaba Cloud ECS",
					      "VirtualBox" };
	_cleanup_free_ char *flags = cpuinfo ? cpuinfo_value(cpuinfo, "flags") : NULL;
	_cleanup_free_ char *vendor = NULL, *product = NULL;

	if (flags) {
		RD_SET(host->guest, strstr(flags, " hypervisor") != NULL);
		return;
	}
	vendor = rd_sysfs_text(fs, NULL, "/sys/class/dmi/id/sys_vendor");
	product = rd_sysfs_text(fs, NULL, "/sys/class/dmi/id/product_name");
	for (size_t i = 0; i < RD_ARRAY_SIZE(makers); i++)
		if ((vendor && strstr(vendor, makers[i])) || (product && strstr(product, makers[i])))
			RD_SET(host->guest, true);
}

static void read_cpu(const struct rd_sysfs *fs, struct rd_host *host)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	const char *text = NULL;

	if (rd_read_file(fs->src, "/proc/cpuinfo", &bytes, NULL) == 0)
		text = (char *)bytes.data;
	read_hypervisor(fs, text, host);
	if (!text)
		return;
	host->cpu.vendor = cpuinfo_value(text, "vendor_id");
	if (host->cpu.vendor)
		host->cpu.arch = rd_dup("x86_64");
	else if (strstr(text, "CPU implementer"))
		host->cpu.arch = rd_dup("arm64");
	else if (strstr(text, "POWER"))
		host->cpu.arch = rd_dup("ppc64");
	read_number(text, "cpu family", &host->cpu.family.v, &host->cpu.family.known);
	read_number(text, "model", &host->cpu.model.v, &host->cpu.model.known);
}

void rd_collect_numa(const struct rd_sysfs *fs, struct rd_host *host)
{
	_cleanup_free_ char *bios = rd_sysfs_text(fs, NULL, "/sys/class/dmi/id/bios_version");
	_cleanup_texts_ struct rd_texts names = { 0 };
	int64_t balancing;

	host->hyper_v = bios && strncmp(bios, "Hyper-V UEFI Release", 20) == 0;
	if (rd_sysfs_int(fs, &balancing, "/proc/sys/kernel/numa_balancing") == RD_OK)
		RD_SET(host->numa_balancing, balancing == 1);
	read_cpu(fs, host);
	if (rd_sysfs_list(fs, &names, "/sys/devices/system/node") < 0)
		return;
	rd_texts_sort_natural(&names);
	for (size_t i = 0; i < names.n && host->n_numas < 4096; i++) {
		struct rd_numa *numa;
		enum rd_known known;
		uint32_t id;
		const char *at;
		int64_t package;
		uint32_t cpu;

		if (strncmp(names.v[i], "node", 4) != 0 || rd_parse_u32(names.v[i] + 4, RD_DECIMAL, 65535, &id) < 0)
			continue;
		numa = rd_host_add_numa(host);
		numa->id = (int)id;
		numa->cpulist = rd_sysfs_text(fs, &known, "/sys/devices/system/node/%s/cpulist", names.v[i]);
		/* Every node has the file: a node of memory alone, such as that of a GPU, has nothing in it. */
		if (known == RD_ABSENT)
			numa->cpulist = rd_dup("");
		/* -1: firmware does not number the sockets. */
		at = numa->cpulist ? numa->cpulist : "";
		if (rd_take_u32(&at, RD_DECIMAL, 65535, &cpu) < 0)
			continue;
		if (rd_sysfs_int(fs, &package, "/sys/devices/system/cpu/cpu%u/topology/physical_package_id", cpu) ==
			    RD_OK &&
		    package >= 0 && package <= INT32_MAX)
			RD_SET(numa->package, (int)package);
	}
}

static int first_of_bus(const struct rd_host *host, int pci)
{
	const struct rd_pci *of = pci >= 0 ? &host->pcis[pci] : NULL;

	for (size_t i = 0; of && (of->dev || of->fn) && i < host->n_pcis; i++)
		if (host->pcis[i].domain == of->domain && host->pcis[i].bus == of->bus && !host->pcis[i].dev &&
		    !host->pcis[i].fn)
			return (int)i;
	return -1;
}

int rd_collect_host(struct rd_source *src, unsigned what, struct rd_host *host, struct rd_errlist *errors,
		    struct rd_err *err)
{
	const struct rd_sysfs fs = { .src = src, .errors = errors };
	int r;

	rd_collect_numa(&fs, host);
	r = rd_collect_pci(&fs, host, err);
	if (r)
		return r;
	rd_collect_ib(&fs, what, host);
	rd_collect_netdev(&fs, host);
	rd_collect_join_netdevs(host);
	rd_collect_gpu(&fs, host);
	rd_collect_pci_marks(&fs, host);
	/* Functions and bridges that several devices have in common are read once. */
	for (size_t i = 0; i < host->n_ibdevs; i++) {
		rd_collect_pci_detail(&fs, host, host->ibdevs[i].pci, what);
		/* NCCL uses it as the location of all NICs on the bus. */
		rd_collect_pci_detail(&fs, host, first_of_bus(host, host->ibdevs[i].pci), 0);
		if (host->ibdevs[i].pci >= 0 && host->pcis[host->ibdevs[i].pci].driver)
			host->ibdevs[i].driver = rd_dup(host->pcis[host->ibdevs[i].pci].driver);
	}
	for (size_t i = 0; what & (RD_COLLECT_ACS | RD_COLLECT_PCI) && i < host->n_gpus; i++)
		rd_collect_pci_detail(&fs, host, host->gpus[i].pci, what);
	if (what & RD_COLLECT_PCI) {
		rd_collect_pci_orphans(&fs, host, what);
		rd_collect_pci_sisters(&fs, host);
	}
	rd_collect_pci_slots(&fs, host);
	rd_collect_verbs(src, what & RD_COLLECT_VERBS, host, errors);
	for (size_t j = 0; j < host->n_gpus; j++) {
		const struct rd_pci *pci = &host->pcis[host->gpus[j].pci];

		if (host->gpus[j].name || pci->vendor.known != RD_OK || pci->device.known != RD_OK)
			continue;
		/* Most hosts have several of one model. */
		if (j > 0 && host->gpus[j - 1].name && host->pcis[host->gpus[j - 1].pci].vendor.v == pci->vendor.v &&
		    host->pcis[host->gpus[j - 1].pci].device.v == pci->device.v)
			host->gpus[j].name = rd_dup(host->gpus[j - 1].name);
		else
			host->gpus[j].name = rd_pci_ids_device(&fs, host, pci->vendor.v, pci->device.v);
	}
	return 0;
}
