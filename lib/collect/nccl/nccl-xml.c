/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NCCL's topology files: system > cpu > pci … > gpu, or nic > net. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "collect/host/host.h"
#include "collect/nccl/xml.h"

#define PCIS_MAX 4096
#define CPUS_MAX 1024
#define NVLINKS_MAX 64

enum kind { OTHER = 0, CPU, PCI, NIC, GPU };

struct frame {
	enum kind kind;
	int pci;  /* the enclosing PCI function; -1: none */
	int numa; /* NUMA node of the enclosing CPU */
	bool has_gpu, has_nic;
	struct rd_gpu gpu; /* from the <gpu> element; dev is -1 if it has none */
	char root[24];	   /* host bridge, if rdmadiag wrote the file; else "" */
};

struct state {
	struct rd_host *host;
	struct frame frames[RD_XML_DEPTH + 2];
	size_t n;
	bool system;
};

static bool number_of(const struct rd_xml_element *element, const char *name, long least, long most, long *ret)
{
	const char *text = rd_xml_attr(element, name);
	int64_t value;

	if (!text || rd_parse_int(text, RD_AS_C, least, most, &value) < 0)
		return false;
	*ret = (long)value;
	return true;
}

static void set_id(const struct rd_xml_element *element, const char *name, uint16_t *ret, enum rd_known *known)
{
	long value;

	if (!number_of(element, name, 0, 0xffff, &value))
		return;
	*ret = (uint16_t)value;
	*known = RD_OK;
}

/* "000000ff,ffff0000": words of 32 bits, the highest first. Returns "0-15,64-79". */
static char *cpulist_of(const char *mask)
{
	_cleanup_free_ char *list = rd_alloc(1, 4096);
	size_t words = 1, used = 0;
	uint32_t bits[64] = { 0 };
	long start = -1;

	for (const char *c = mask; *c; c++)
		words += *c == ',';
	if (words > 64)
		return NULL;
	for (size_t w = words; w > 0; w--) {
		uint64_t word = 0;

		rd_take_uint(&mask, RD_HEX, UINT64_MAX, &word);
		bits[w - 1] = (uint32_t)word;
		mask += strcspn(mask, ",");
		mask += *mask == ',';
	}
	for (long cpu = 0; cpu <= (long)words * 32; cpu++) {
		bool set = cpu < (long)words * 32 && bits[cpu / 32] >> (cpu % 32) & 1;

		if (set && start < 0)
			start = cpu;
		if (set || start < 0)
			continue;
		if (used + 32 > 4096)
			return NULL;
		used += (size_t)snprintf(list + used, 4096 - used, start == cpu - 1 ? "%s%ld" : "%s%ld-%ld",
					 used ? "," : "", start, cpu - 1);
		start = -1;
	}
	return used ? RD_TAKE(list) : NULL;
}

static int start_cpu(struct state *st, const struct rd_xml_element *element, struct frame *frame, struct rd_err *err)
{
	const char *mask = rd_xml_attr(element, "affinity"), *arch = rd_xml_attr(element, "arch");
	const char *vendor = rd_xml_attr(element, "vendor");
	struct rd_cpu *cpu = &st->host->cpu;
	struct rd_numa *numa;
	long value;

	frame->kind = CPU;
	frame->numa = number_of(element, "numaid", -1, 65535, &value) ? (int)value : -1;
	if (st->host->n_numas >= CPUS_MAX)
		return rd_err_set(err, E2BIG, "topology file", "too many <cpu> elements");
	if (frame->numa >= 0 && !rd_host_find_numa(st->host, frame->numa)) {
		numa = rd_host_add_numa(st->host);
		numa->id = frame->numa;
		numa->cpulist = mask ? cpulist_of(mask) : NULL;
	}
	if (!cpu->arch && arch)
		cpu->arch = rd_dup(arch);
	if (!cpu->vendor && vendor)
		cpu->vendor = rd_dup(vendor);
	if (number_of(element, "familyid", 0, 65535, &value))
		RD_SET(cpu->family, (unsigned)value);
	if (number_of(element, "modelid", 0, 65535, &value))
		RD_SET(cpu->model, (unsigned)value);
	return 0;
}

static void set_link(const struct rd_xml_element *element, struct rd_pci *pci)
{
	const char *speed = rd_xml_attr(element, "link_speed");
	double gtps;
	long width;

	if (speed && rd_take_real(&speed, &gtps) == 0 && gtps > 0 && gtps < 1000)
		RD_SET(pci->max.mtps, (unsigned)(gtps * 1000 + 0.5));
	if (number_of(element, "link_width", 1, 32, &width))
		RD_SET(pci->max.width, (unsigned)width);
	pci->now = pci->max;
}

static int start_pci(struct state *st, const struct rd_xml_element *element, struct frame *frame, struct rd_err *err)
{
	const char *busid = rd_xml_attr(element, "busid");
	struct rd_pci parsed = { 0 }, *pci;
	const char *bridge = rd_xml_attr(element, "host_bridge"), *below = rd_xml_attr(element, "below");
	struct rd_pci skipped = { 0 };
	long class;

	if (!busid || rd_pci_parse(busid, &parsed) < 0)
		return rd_err_set(err, EBADMSG, "topology file", "<pci> element without a valid busid");
	if (st->host->n_pcis >= PCIS_MAX)
		return rd_err_set(err, E2BIG, "topology file", "too many <pci> elements");
	pci = rd_host_add_pci(st->host);
	memcpy(pci->addr, parsed.addr, sizeof(pci->addr));
	pci->domain = parsed.domain;
	pci->bus = parsed.bus;
	pci->dev = parsed.dev;
	pci->fn = parsed.fn;
	pci->parent = frame->pci;
	pci->detailed = true;
	RD_SET(pci->numa, frame->numa);
	if (number_of(element, "class", 0, 0xffffff, &class))
		RD_SET(pci->class, (uint32_t) class);
	set_id(element, "vendor", &pci->vendor.v, &pci->vendor.known);
	set_id(element, "device", &pci->device.v, &pci->device.known);
	set_id(element, "subsystem_vendor", &pci->subvendor.v, &pci->subvendor.known);
	set_id(element, "subsystem_device", &pci->subdevice.v, &pci->subdevice.known);
	set_link(element, pci);
	if (st->host->file_whole && bridge && *bridge)
		snprintf(frame->root, sizeof(frame->root), "%.23s", bridge);
	if (frame->root[0])
		pci->root = rd_dup(frame->root);
	else if (!st->host->file_whole)
		pci->root = rd_text("CPU of NUMA node %d", frame->numa);
	if (st->host->file_whole && below && rd_pci_parse(below, &skipped) == 0)
		memcpy(pci->skipped, skipped.addr, sizeof(pci->skipped));
	frame->kind = PCI;
	frame->pci = (int)st->host->n_pcis - 1;
	return 0;
}

/* Adds a device, or another port of the last device. `name` may be NULL. */
static struct rd_port *add_port(struct rd_host *host, const char *name, int pci, int numa)
{
	struct rd_ibdev *dev = host->n_ibdevs > 0 ? &host->ibdevs[host->n_ibdevs - 1] : NULL;
	struct rd_port *port;

	if (!dev || !name || !dev->name || strcmp(dev->name, name) != 0 || dev->pci != pci) {
		dev = rd_host_add_ibdev(host);
		dev->pci = pci;
		dev->numa = numa;
		dev->via = "topology file";
		dev->name = rd_dup_if(name);
	}
	port = rd_host_add_port(host, (int)host->n_ibdevs - 1);
	if (pci >= 0 && host->pcis[pci].class.v >> 8 == 0x0207)
		port->link_layer = rd_dup("InfiniBand");
	else if (pci >= 0 && host->pcis[pci].class.v >> 8 == 0x0200)
		port->link_layer = rd_dup("Ethernet");
	return port;
}

static void start_net(struct state *st, const struct rd_xml_element *element, const struct frame *frame)
{
	const char *guid = rd_xml_attr(element, "guid");
	struct rd_port *port = add_port(st->host, rd_xml_attr(element, "name"), frame->pci, frame->numa);
	long value;

	if (number_of(element, "port", 0, 254, &value))
		port->num = (unsigned)value;
	if (number_of(element, "speed", 1, 100000000, &value))
		RD_SET(port->rate_gbps, (double)value / 1000);
	if (number_of(element, "gdr", 0, 1, &value))
		RD_SET(port->gdr, value == 1);
	if (guid && !st->host->ibdevs[port->ibdev].sys_image_guid)
		st->host->ibdevs[port->ibdev].sys_image_guid = rd_dup(guid);
}

static void start_gpu(const struct rd_xml_element *element, struct frame *pci)
{
	struct rd_gpu *gpu = &pci->gpu;
	long value;

	pci->has_gpu = true;
	if (number_of(element, "dev", 0, 65535, &value))
		gpu->dev = (int)value;
	if (number_of(element, "sm", 1, 65535, &value))
		RD_SET(gpu->sm, (unsigned)value);
	if (number_of(element, "gdr", 0, 1, &value))
		RD_SET(gpu->gdr, value == 1);
	if (rd_xml_attr(element, "gcn"))
		gpu->vendor = "AMD";
	else if (rd_xml_attr(element, "sm"))
		gpu->vendor = "NVIDIA";
}

/* <nvlink target="0000:1b:00.0" count="12" tclass="0x030200"/>: an NVSwitch is recognised only by its class. */
static void start_nvlink(const struct rd_xml_element *element, struct rd_gpu *gpu)
{
	const char *target = rd_xml_attr(element, "target");
	struct rd_pci parsed = { 0 };
	struct rd_nvlink link = { 0 };
	long count, class;

	if (gpu->n_nvlinks >= NVLINKS_MAX || !number_of(element, "count", 1, 1024, &count) ||
	    !number_of(element, "tclass", 0, 0xffffff, &class))
		return;
	link.n = (unsigned)count;
	if (class >> 8 != RD_PCI_CLASS_NVSWITCH) {
		if (!target || rd_pci_parse(target, &parsed) < 0)
			return;
		memcpy(link.target, parsed.addr, sizeof(link.target));
	}
	*RD_ADD(gpu->nvlinks, gpu->n_nvlinks, gpu->cap_nvlinks) = link;
}

/* In MB/s per link. */
static void start_c2c(const struct rd_xml_element *element, struct rd_gpu *gpu)
{
	long bw, count;

	if (number_of(element, "bw", 1, 100000000, &bw) && number_of(element, "count", 1, 1024, &count))
		RD_SET(gpu->c2c_gbytes, (double)bw * (double)count / 1000);
}

/* NCCL logs the name and ignores unknown attributes; the name "rdmadiag" marks a file that is complete. */
static void start_system(struct state *st, const struct rd_xml_element *element)
{
	const char *name = rd_xml_attr(element, "name"), *guest = rd_xml_attr(element, "guest");

	st->host->file_whole = name && strcmp(name, "rdmadiag") == 0;
	if (st->host->file_whole && guest)
		RD_SET(st->host->guest, strcmp(guest, "1") == 0);
}

static int on_start(void *arg, const struct rd_xml_element *element, struct rd_err *err)
{
	struct state *st = arg;
	struct frame *up = &st->frames[st->n - 1], *frame = &st->frames[st->n++];

	*frame = (struct frame){ .pci = up->pci, .numa = up->numa, .gpu = { .dev = -1 } };
	memcpy(frame->root, up->root, sizeof(frame->root));
	if (st->n == 2) {
		st->system = strcmp(element->name, "system") == 0;
		if (st->system)
			start_system(st, element);
		return st->system ? 0 :
				    rd_err_set(err, EBADMSG, "topology file",
					       "not an NCCL topology file: the root element is <%s>", element->name);
	}
	if (strcmp(element->name, "cpu") == 0)
		return start_cpu(st, element, frame, err);
	if (strcmp(element->name, "pci") == 0)
		return start_pci(st, element, frame, err);
	if (strcmp(element->name, "gpu") == 0 && up->kind == PCI) {
		frame->kind = GPU;
		start_gpu(element, up);
	}
	if (up->kind == GPU && strcmp(element->name, "nvlink") == 0)
		start_nvlink(element, &st->frames[st->n - 3].gpu);
	if (up->kind == GPU && strcmp(element->name, "c2c") == 0)
		start_c2c(element, &st->frames[st->n - 3].gpu);
	if (strcmp(element->name, "nic") == 0) {
		frame->kind = NIC;
		up->has_nic = true;
	}
	if (strcmp(element->name, "net") == 0 && up->kind == NIC)
		start_net(st, element, up);
	return 0;
}

static void end_pci(struct state *st, struct frame *frame)
{
	const struct rd_pci *pci = &st->host->pcis[frame->pci];
	uint32_t base = pci->class.v >> 16;
	struct rd_gpu *gpu;

	if (frame->has_gpu || base == RD_PCI_DISPLAY || base == RD_PCI_ACCELERATOR) {
		gpu = rd_host_add_gpu(st->host);
		frame->gpu.index = gpu->index;
		*gpu = frame->gpu;
		frame->gpu = (struct rd_gpu){ 0 };
		gpu->pci = frame->pci;
		if (pci->vendor.known == RD_OK)
			gpu->vendor = rd_gpu_maker(pci->vendor.v);
	} else if (base == RD_PCI_NETWORK && !frame->has_nic) {
		add_port(st->host, NULL, frame->pci, frame->numa);
	}
}

static void on_end(void *arg)
{
	struct state *st = arg;
	struct frame *frame = &st->frames[--st->n];

	if (frame->kind == PCI)
		end_pci(st, frame);
	free(frame->gpu.nvlinks);
	frame->gpu.nvlinks = NULL;
}

int rd_collect_nccl_xml(const char *name, const char *text, size_t size, struct rd_host *host, struct rd_err *err)
{
	static const struct rd_xml_ops ops = { .start = on_start, .end = on_end };
	struct state st = { .host = host, .n = 1 };
	int r;

	st.frames[0] = (struct frame){ .pci = -1, .numa = -1, .gpu = { .dev = -1 } };
	host->from_topology_file = true;
	r = rd_xml_parse(name, text, size, &ops, &st, err);
	/* Frames that a truncated file left open. */
	while (st.n > 1)
		free(st.frames[--st.n].gpu.nvlinks);
	if (r < 0)
		return r;
	rd_collect_sort_gpus(host);
	return rd_host_within_bounds(host, err);
}
