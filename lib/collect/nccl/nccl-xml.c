/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NCCL's topology files: system > cpu > pci … > gpu, or nic > net. */

#include "collect/host/host.h"
#include "collect/nccl/libexpat.h"
#include "collect/nccl/runlog.h"
#include "source/shared/source.h"

/*
 * Small XML files of elements and attributes, parsed by libexpat. Document types are rejected, so there are only XML's five
 * predefined entities and nothing external; no namespaces; text between elements is ignored. A file above the limits is
 * rejected.
 */

#define RD_XML_DEPTH 64
#define RD_XML_ATTRS 32
#define RD_XML_ELEMENTS 65536
#define RD_XML_NAME 31	 /* bytes of a name */
#define RD_XML_VALUE 255 /* bytes of a value */

struct element {
	const char *name;
	const char *const *attrs; /* name, value, ...; NULL-terminated */
};

/* Called while the file is parsed; the arguments are valid only during the call. `end` (may be NULL) is not called for an element whose
 * `start` failed. */
struct xml_ops {
	int (*start)(void *arg, const struct element *element, struct rd_err *err);
	void (*end)(void *arg);
};

RD_LATE_DEFINE(rd_libexpat, RD_LIBEXPAT_CALLS, RD_LIBEXPAT)

struct reader {
	const struct xml_ops *ops;
	void *arg;
	XML_Parser parser;
	const char *name;
	struct rd_err *err;
	size_t elements, depth;
	int r; /* below 0: parsing failed with this errno, and `err` is set */
};

/* libexpat may still call the end handler of an empty element. */
static void stop_parser(struct reader *xml, int r)
{
	xml->r = r;
	rd_libexpat.XML_StopParser(xml->parser, XML_FALSE);
}

static int set_bad_message(const struct reader *xml, const char *what)
{
	return rd_err_set(xml->err, EBADMSG, xml->name, "line %lu: %s",
			  (unsigned long)rd_libexpat.XML_GetCurrentLineNumber(xml->parser), what);
}

static int set_above_limit(const struct reader *xml, size_t most, const char *what)
{
	return rd_err_set(xml->err, E2BIG, xml->name, "line %lu: more than %zu %s",
			  (unsigned long)rd_libexpat.XML_GetCurrentLineNumber(xml->parser), most, what);
}

static int within_limits(const struct reader *xml, const char *name, const char *const *attrs)
{
	size_t n = 0;

	if (xml->elements > RD_XML_ELEMENTS)
		return set_above_limit(xml, RD_XML_ELEMENTS, "elements");
	if (xml->depth > RD_XML_DEPTH)
		return set_above_limit(xml, RD_XML_DEPTH, "nested elements");
	if (strlen(name) > RD_XML_NAME)
		return set_above_limit(xml, RD_XML_NAME, "bytes in a name");
	for (; attrs[2 * n]; n++) {
		if (n == RD_XML_ATTRS)
			return set_above_limit(xml, RD_XML_ATTRS, "attributes in an element");
		if (strlen(attrs[2 * n]) > RD_XML_NAME)
			return set_above_limit(xml, RD_XML_NAME, "bytes in a name");
		if (strlen(attrs[2 * n + 1]) > RD_XML_VALUE)
			return set_above_limit(xml, RD_XML_VALUE, "bytes in a value");
	}
	return 0;
}

static void XMLCALL on_xml_start(void *arg, const XML_Char *name, const XML_Char **attrs)
{
	const struct element element = { name, attrs };
	struct reader *xml = arg;
	int r;

	if (xml->r < 0)
		return;
	xml->elements++;
	xml->depth++;
	r = within_limits(xml, name, attrs);
	if (!r)
		r = xml->ops->start(xml->arg, &element, xml->err);
	if (r < 0)
		stop_parser(xml, r);
}

static void XMLCALL on_xml_end(void *arg, const XML_Char *name)
{
	struct reader *xml = arg;

	if (xml->r < 0)
		return;
	xml->depth--;
	if (xml->ops->end)
		xml->ops->end(xml->arg);
}

static void XMLCALL on_doctype(void *arg, const XML_Char *name, const XML_Char *system, const XML_Char *public,
			       int has_internal)
{
	struct reader *xml = arg;

	stop_parser(xml, set_bad_message(xml, "document type declarations (DOCTYPE) are not supported"));
}

/* -EBADMSG if it is not such a file, -EFBIG or -E2BIG above a limit, -EOPNOTSUPP without libexpat, or what the callbacks return. */
static int parse_xml(const char *name, const char *text, size_t size, const struct xml_ops *ops, void *arg,
		     struct rd_err *err)
{
	struct reader xml = { .ops = ops, .arg = arg, .name = name, .err = err };
	int r = rd_libexpat_load(name, err);

	if (r < 0)
		return r;
	/* libexpat stores each name, and all attributes of an element before it calls a handler: up to 14 bytes per byte of the file. */
	if (size > RD_SOURCE_XML_MAX)
		return rd_err_set(err, EFBIG, name, "XML file larger than %zu bytes", RD_SOURCE_XML_MAX);
	xml.parser = rd_libexpat.XML_ParserCreate(NULL);
	if (!xml.parser)
		return rd_err_set(err, ENOMEM, name, "out of memory");
	rd_libexpat.XML_SetUserData(xml.parser, &xml);
	rd_libexpat.XML_SetElementHandler(xml.parser, on_xml_start, on_xml_end);
	rd_libexpat.XML_SetStartDoctypeDeclHandler(xml.parser, on_doctype);
	if (rd_libexpat.XML_Parse(xml.parser, text, (int)size, XML_TRUE) != XML_STATUS_OK) {
		enum XML_Error code = rd_libexpat.XML_GetErrorCode(xml.parser);
		const char *why = rd_libexpat.XML_ErrorString(code);

		r = xml.r < 0			? xml.r :
		    code == XML_ERROR_NO_MEMORY ? rd_err_set(err, ENOMEM, name, "out of memory") :
						  set_bad_message(&xml, why ? why : "not XML");
	}
	rd_libexpat.XML_ParserFree(xml.parser);
	return r;
}

/* NULL: no such attribute. */
static const char *attribute_of(const struct element *element, const char *name)
{
	for (const char *const *attr = element->attrs; *attr; attr += 2)
		if (strcmp(attr[0], name) == 0)
			return attr[1];
	return NULL;
}

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

static bool number_of(const struct element *element, const char *name, long least, long most, long *ret)
{
	const char *text = attribute_of(element, name);
	int64_t value;

	if (!text || rd_parse_int(text, RD_AS_C, least, most, &value) < 0)
		return false;
	*ret = (long)value;
	return true;
}

static void set_id(const struct element *element, const char *name, uint16_t *ret, enum rd_known *known)
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

static int start_cpu(struct state *st, const struct element *element, struct frame *frame, struct rd_err *err)
{
	const char *mask = attribute_of(element, "affinity"), *arch = attribute_of(element, "arch");
	const char *vendor = attribute_of(element, "vendor");
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

static int start_pci(struct state *st, const struct element *element, struct frame *frame, struct rd_err *err)
{
	const char *busid = attribute_of(element, "busid");
	struct rd_pci parsed, *pci;
	const char *bridge = attribute_of(element, "host_bridge"), *below = attribute_of(element, "below");
	const char *speed = attribute_of(element, "link_speed");
	struct rd_pci skipped = { 0 };
	long class, width;
	double gtps;

	if (!busid || rd_pci_parse(busid, &parsed) < 0)
		return rd_err_set(err, EBADMSG, "topology file", "<pci> element without a valid busid");
	if (st->host->n_pcis >= PCIS_MAX)
		return rd_err_set(err, E2BIG, "topology file", "too many <pci> elements");
	pci = rd_host_add_pci(st->host);
	rd_pci_parse(busid, pci);
	pci->parent = frame->pci;
	pci->detailed = true;
	RD_SET(pci->numa, frame->numa);
	if (number_of(element, "class", 0, 0xffffff, &class))
		RD_SET(pci->class, (uint32_t) class);
	set_id(element, "vendor", &pci->vendor.v, &pci->vendor.known);
	set_id(element, "device", &pci->device.v, &pci->device.known);
	set_id(element, "subsystem_vendor", &pci->subvendor.v, &pci->subvendor.known);
	set_id(element, "subsystem_device", &pci->subdevice.v, &pci->subdevice.known);
	if (speed && rd_take_real(&speed, &gtps) == 0 && gtps > 0 && gtps < 1000)
		RD_SET(pci->max.mtps, (unsigned)(gtps * 1000 + 0.5));
	if (number_of(element, "link_width", 1, 32, &width))
		RD_SET(pci->max.width, (unsigned)width);
	pci->now = pci->max;
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

static void start_gpu(const struct element *element, struct frame *pci)
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
	if (attribute_of(element, "gcn"))
		gpu->vendor = "AMD";
	else if (attribute_of(element, "sm"))
		gpu->vendor = "NVIDIA";
}

/* <nvlink target="0000:1b:00.0" count="12" tclass="0x030200"/>: an NVSwitch is recognised only by its class. */
static void start_nvlink(const struct element *element, struct rd_gpu *gpu)
{
	const char *target = attribute_of(element, "target");
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

static int on_start(void *arg, const struct element *element, struct rd_err *err)
{
	struct state *st = arg;
	struct frame *up = &st->frames[st->n - 1], *frame = &st->frames[st->n++];
	long bw, count;

	*frame = (struct frame){ .pci = up->pci, .numa = up->numa, .gpu = { .dev = -1 } };
	memcpy(frame->root, up->root, sizeof(frame->root));
	if (st->n == 2) {
		st->system = strcmp(element->name, "system") == 0;
		if (st->system) {
			/* NCCL logs the name and ignores unknown attributes; the name "rdmadiag" marks a file that is
			 * complete. */
			const char *name = attribute_of(element, "name"), *guest = attribute_of(element, "guest");

			st->host->file_whole = name && strcmp(name, "rdmadiag") == 0;
			if (st->host->file_whole && guest)
				RD_SET(st->host->guest, strcmp(guest, "1") == 0);
		}
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
	/* In MB/s per link. */
	if (up->kind == GPU && strcmp(element->name, "c2c") == 0 && number_of(element, "bw", 1, 100000000, &bw) &&
	    number_of(element, "count", 1, 1024, &count))
		RD_SET(st->frames[st->n - 3].gpu.c2c_gbytes, (double)bw * (double)count / 1000);
	if (strcmp(element->name, "nic") == 0) {
		frame->kind = NIC;
		up->has_nic = true;
	}
	if (strcmp(element->name, "net") == 0 && up->kind == NIC) {
		const char *guid = attribute_of(element, "guid");
		struct rd_port *port = add_port(st->host, attribute_of(element, "name"), up->pci, up->numa);
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
	return 0;
}

static void on_end(void *arg)
{
	struct state *st = arg;
	struct frame *frame = &st->frames[--st->n];
	const struct rd_pci *pci = frame->kind == PCI ? &st->host->pcis[frame->pci] : NULL;
	uint32_t base = pci ? pci->class.v >> 16 : 0;
	struct rd_gpu *gpu;

	if (pci && (frame->has_gpu || base == RD_PCI_DISPLAY || base == RD_PCI_ACCELERATOR)) {
		gpu = rd_host_add_gpu(st->host);
		frame->gpu.index = gpu->index;
		*gpu = frame->gpu;
		frame->gpu = (struct rd_gpu){ 0 };
		gpu->pci = frame->pci;
		if (pci->vendor.known == RD_OK)
			gpu->vendor = rd_gpu_maker(pci->vendor.v);
	} else if (pci && base == RD_PCI_NETWORK && !frame->has_nic) {
		add_port(st->host, NULL, frame->pci, frame->numa);
	}
	free(frame->gpu.nvlinks);
	frame->gpu.nvlinks = NULL;
}

int rd_collect_nccl_xml(const char *name, const char *text, size_t size, struct rd_host *host, struct rd_err *err)
{
	static const struct xml_ops ops = { .start = on_start, .end = on_end };
	struct state st = { .host = host, .n = 1 };
	int r;

	st.frames[0] = (struct frame){ .pci = -1, .numa = -1, .gpu = { .dev = -1 } };
	host->from_topology_file = true;
	r = parse_xml(name, text, size, &ops, &st, err);
	/* Frames that a truncated file left open. */
	while (st.n > 1)
		free(st.frames[--st.n].gpu.nvlinks);
	if (r < 0)
		return r;
	rd_collect_sort_gpus(host);
	return rd_host_within_bounds(host, err);
}

/* Facts of a dumped topology that are not about hardware, and so not in struct rd_host: GPUDirect support and NIC numbers. */
static int on_net(void *arg, const struct element *element, struct rd_err *err)
{
	struct rd_runlog *log = arg;
	struct rd_run_host *host = &log->v[0];
	const char *name = attribute_of(element, "name"), *gdr = attribute_of(element, "gdr");
	const char *dev = attribute_of(element, "dev");
	struct rd_run_net net = { 0 };

	if (strcmp(element->name, "net") != 0 || !name)
		return 0;
	log->cut |= host->nets.n >= RD_RUN_LIST;
	if (log->cut)
		return 0;
	net.name = rd_dup(name);
	if (dev)
		rd_take_u32(&dev, RD_DECIMAL, 999999999, &net.number);
	if (gdr)
		RD_SET(net.gpudirect, strcmp(gdr, "1") == 0);
	*RD_ADD(host->nets.v, host->nets.n, host->nets.cap) = net;
	return 0;
}

int rd_runlog_topology(const char *name, const char *text, size_t size, struct rd_runlog *ret, struct rd_err *err)
{
	static const struct xml_ops ops = { .start = on_net };

	*ret = (struct rd_runlog){ 0 };
	*RD_ADD(ret->v, ret->n, ret->cap) = (struct rd_run_host){ .name = rd_dup(""), .tells_nets = true };
	return parse_xml(name, text, size, &ops, ret, err);
}
