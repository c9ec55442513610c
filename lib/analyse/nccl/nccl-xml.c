/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/nccl/nccl.h"

#define CPUS_MAX 8192
#define DEPTH_MAX 64

struct writer {
	const struct rd_host *host;
	struct rd_buf *out;
	int *up; /* of each function: its parent node, -1: a CPU */
	bool *included;
};

/* Characters that XML cannot hold are escaped as in tables. */
static void add_value(struct rd_buf *out, const char *name, const char *value)
{
	_cleanup_free_ char *safe = rd_safe(value);

	rd_buf_printf(out, " %s=\"", name);
	for (const char *at = safe; *at; at++)
		if (*at == '&')
			rd_buf_str(out, "&amp;");
		else if (*at == '<')
			rd_buf_str(out, "&lt;");
		else if (*at == '"')
			rd_buf_str(out, "&quot;");
		else
			rd_buf_add(out, at, 1);
	rd_buf_str(out, "\"");
}

static void indent(struct rd_buf *out, int depth)
{
	for (int i = 0; i < depth; i++)
		rd_buf_str(out, "  ");
}

/* "0-15,64-79" as words of 32 bits, the highest first. */
static void add_affinity(struct rd_buf *out, const char *cpulist)
{
	uint32_t words[CPUS_MAX / 32] = { 0 };
	size_t n = 1;

	while (cpulist && *cpulist) {
		uint64_t first, last;

		if (rd_take_uint(&cpulist, RD_DECIMAL, UINT64_MAX, &first) < 0)
			break;
		last = first;
		if (*cpulist == '-') {
			cpulist++;
			rd_take_uint(&cpulist, RD_DECIMAL, UINT64_MAX, &last);
		}
		for (uint64_t cpu = first; cpu <= last && cpu < CPUS_MAX; cpu++) {
			words[cpu / 32] |= 1u << cpu % 32;
			n = cpu / 32 + 1 > n ? cpu / 32 + 1 : n;
		}
		cpulist = *cpulist == ',' ? cpulist + 1 : "";
	}
	rd_buf_str(out, " affinity=\"");
	for (size_t i = n; i > 0; i--)
		rd_buf_printf(out, "%08x%s", words[i - 1], i > 1 ? "," : "\"");
}

/* As NCCL reads it: the maximum that both the device and the port above it support. */
static void add_link(struct writer *w, int index)
{
	const struct rd_pci *pci = &w->host->pcis[index];
	const struct rd_pci *port = !w->host->from_topology_file && pci->parent >= 0 ? &w->host->pcis[pci->parent] :
										       pci;
	unsigned mtps = pci->max.mtps.known == RD_OK ? pci->max.mtps.v : 0;
	unsigned width = pci->max.width.known == RD_OK ? pci->max.width.v : 0;

	if (port->max.mtps.known == RD_OK && port->max.mtps.v < mtps)
		mtps = port->max.mtps.v;
	if (port->max.width.known == RD_OK && port->max.width.v < width)
		width = port->max.width.v;
	if (mtps)
		rd_buf_printf(w->out, " link_speed=\"%.1f GT/s PCIe\" link_width=\"%u\"", mtps / 1000.0, width);
	else
		rd_buf_str(w->out, " link_speed=\"\" link_width=\"0\"");
}

static void add_id(struct rd_buf *out, const char *name, uint16_t value, enum rd_known known)
{
	if (known == RD_OK)
		rd_buf_printf(out, " %s=\"0x%04x\"", name, value);
}

/* Attributes that only a topology file has; on a live host NCCL queries NVML. */
static void add_gpu(struct writer *w, int pci, int depth)
{
	for (size_t g = 0; g < w->host->n_gpus; g++) {
		const struct rd_gpu *gpu = &w->host->gpus[g];

		if (gpu->pci != pci || gpu->sm.known != RD_OK)
			continue;
		indent(w->out, depth);
		rd_buf_printf(w->out, "<gpu dev=\"%d\" sm=\"%u\"", gpu->dev, gpu->sm.v);
		if (gpu->gdr.known == RD_OK)
			rd_buf_printf(w->out, " gdr=\"%d\"", gpu->gdr.v);
		rd_buf_str(w->out, ">\n");
		for (size_t i = 0; i < gpu->n_nvlinks; i++) {
			const struct rd_nvlink *link = &gpu->nvlinks[i];

			indent(w->out, depth + 1);
			rd_buf_str(w->out, "<nvlink");
			add_value(w->out, "target", link->target[0] ? link->target : "fffffff:ffff:ff");
			rd_buf_printf(w->out, " count=\"%u\" tclass=\"%s\"/>\n", link->n,
				      link->target[0] ? "0x030200" : "0x068000");
		}
		if (gpu->c2c_gbytes.known == RD_OK) {
			indent(w->out, depth + 1);
			rd_buf_printf(w->out, "<c2c bw=\"%.0f\" count=\"1\"/>\n", gpu->c2c_gbytes.v * 1000);
		}
		indent(w->out, depth);
		rd_buf_str(w->out, "</gpu>\n");
	}
}

/* The NICs of a function; with `pci` -1, NICs without a function on a NUMA node. */
static void add_nets(struct writer *w, int pci, int numa, int depth)
{
	const struct rd_host *host = w->host;
	size_t n = 0;

	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];
		const struct rd_ibdev *dev = &host->ibdevs[port->ibdev];
		_cleanup_free_ char *name = NULL;

		if (rd_nccl_place(host, port->ibdev) != pci || !dev->name || (pci < 0 && dev->numa != numa))
			continue;
		if (n++ == 0) {
			indent(w->out, depth);
			rd_buf_str(w->out, "<nic>\n");
		}
		indent(w->out, depth + 1);
		rd_buf_str(w->out, "<net");
		name = rd_text("%s%s", dev->name, dev->data_direct >= 0 ? "_dma" : "");
		add_value(w->out, "name", name);
		rd_buf_printf(w->out, " dev=\"%zu\"", p);
		if (port->rate_gbps.known == RD_OK)
			rd_buf_printf(w->out, " speed=\"%.0f\"", port->rate_gbps.v * 1000);
		rd_buf_printf(w->out, " port=\"%u\"", port->num);
		if (dev->sys_image_guid) {
			char guid[24] = "0x";
			size_t at = 2;

			for (const char *c = dev->sys_image_guid; *c && at + 1 < sizeof(guid); c++)
				if (*c != ':' && !(c[0] == '0' && c[1] == 'x') && *c != 'x')
					guid[at++] = *c;
			add_value(w->out, "guid", guid);
		}
		if (port->gdr.known == RD_OK)
			rd_buf_printf(w->out, " gdr=\"%d\"", port->gdr.v);
		rd_buf_str(w->out, "/>\n");
	}
	if (n > 0) {
		indent(w->out, depth);
		rd_buf_str(w->out, "</nic>\n");
	}
}

/* The host bridge, and the bridge between this function and its parent node, which NCCL does not list. NCCL ignores unknown
 * attributes; rdmadiag reads them back. */
static void add_place(struct writer *w, int index)
{
	const struct rd_pci *pci = &w->host->pcis[index];
	int above = w->host->from_topology_file ? -1 : pci->parent;

	if (w->host->from_topology_file && !w->host->file_whole)
		return;
	if (w->up[index] < 0 && pci->root)
		add_value(w->out, "host_bridge", pci->root);
	if (above >= 0 || pci->skipped[0])
		add_value(w->out, "below", above >= 0 ? w->host->pcis[above].addr : pci->skipped);
}

static void add_node(struct writer *w, int index, int depth)
{
	const struct rd_pci *pci = &w->host->pcis[index];
	size_t at;

	if (depth > DEPTH_MAX)
		return;
	indent(w->out, depth);
	rd_buf_str(w->out, "<pci");
	add_value(w->out, "busid", pci->addr);
	rd_buf_printf(w->out, " class=\"0x%06x\"", pci->class.v);
	add_id(w->out, "vendor", pci->vendor.v, pci->vendor.known);
	add_id(w->out, "device", pci->device.v, pci->device.known);
	add_id(w->out, "subsystem_vendor", pci->subvendor.v, pci->subvendor.known);
	add_id(w->out, "subsystem_device", pci->subdevice.v, pci->subdevice.known);
	add_link(w, index);
	add_place(w, index);
	rd_buf_str(w->out, ">\n");
	at = w->out->len;
	for (size_t i = 0; i < w->host->n_pcis; i++)
		if (w->included[i] && w->up[i] == index)
			add_node(w, (int)i, depth + 1);
	add_gpu(w, index, depth + 1);
	add_nets(w, index, -1, depth + 1);
	if (w->out->len == at) {
		/* Empty: "/>" instead of ">". */
		w->out->len -= 2;
		return rd_buf_str(w->out, "/>\n");
	}
	indent(w->out, depth);
	rd_buf_str(w->out, "</pci>\n");
}

static void add_cpu(struct writer *w, int id)
{
	const struct rd_cpu *cpu = &w->host->cpu;
	const struct rd_numa *numa = rd_host_find_numa(w->host, id);

	rd_buf_printf(w->out, "  <cpu numaid=\"%d\"", id);
	add_affinity(w->out, numa ? numa->cpulist : NULL);
	if (cpu->arch)
		add_value(w->out, "arch", cpu->arch);
	if (cpu->vendor)
		add_value(w->out, "vendor", cpu->vendor);
	if (cpu->family.known == RD_OK && cpu->model.known == RD_OK)
		rd_buf_printf(w->out, " familyid=\"%u\" modelid=\"%u\"", cpu->family.v, cpu->model.v);
	rd_buf_str(w->out, ">\n");
	for (size_t i = 0; i < w->host->n_pcis; i++)
		if (w->included[i] && w->up[i] < 0 && rd_pci_numa(w->host, (int)i) == id)
			add_node(w, (int)i, 2);
	add_nets(w, -1, id, 2);
	rd_buf_str(w->out, "  </cpu>\n");
}

/* NCCL walks upwards from each endpoint, two functions at a time. */
static void include_ancestors(struct writer *w, int pci)
{
	for (int depth = 0; pci >= 0 && !w->included[pci] && depth < DEPTH_MAX; depth++) {
		int up = w->host->pcis[pci].parent;

		if (up >= 0 && !w->host->from_topology_file)
			up = w->host->pcis[up].parent;
		w->included[pci] = true;
		w->up[pci] = up;
		pci = up;
	}
}

void rd_nccl_xml_write(const struct rd_host *host, struct rd_buf *out)
{
	_cleanup_free_ int *up = rd_alloc(host->n_pcis + 1, sizeof(*up));
	_cleanup_free_ bool *included = rd_alloc(host->n_pcis + 1, 1);
	struct writer w = { .host = host, .out = out, .up = up, .included = included };
	bool no_numa = false;

	for (size_t g = 0; g < host->n_gpus; g++)
		include_ancestors(&w, host->gpus[g].pci);
	for (size_t d = 0; d < host->n_ibdevs; d++)
		include_ancestors(&w, rd_nccl_place(host, (int)d));
	rd_buf_str(out, "<system version=\"1\"");
	if (!host->from_topology_file || host->file_whole)
		rd_buf_printf(out, " name=\"rdmadiag\"%s",
			      host->guest.known == RD_OK && host->guest.v ? " guest=\"1\"" : "");
	rd_buf_str(out, ">\n");
	for (size_t i = 0; i < host->n_numas; i++)
		add_cpu(&w, host->numas[i].id);
	for (size_t i = 0; i < host->n_pcis; i++)
		no_numa |= included[i] && up[i] < 0 && !rd_host_find_numa(host, rd_pci_numa(host, (int)i));
	if (no_numa)
		add_cpu(&w, -1);
	rd_buf_str(out, "</system>\n");
}
