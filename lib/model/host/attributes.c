/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/host/attributes.h"

#include <fnmatch.h>
#include <net/if.h>

#include "base/buf.h"

static bool is_endpoint(const struct rd_pci *pci)
{
	return pci->class.v >> 16 != RD_PCI_BRIDGE;
}

static char *pci_configuration(const void *object)
{
	const struct rd_host *host = object;
	bool any = false;

	for (size_t i = 0; i < host->n_pcis; i++) {
		if (host->pcis[i].config_denied)
			return rd_dup("first 64 bytes only (not root)");
		any |= host->pcis[i].config.dev_ctl.known == RD_OK;
	}
	return any ? rd_dup("read") : NULL;
}

static char *peer_memory(const void *object)
{
	const struct rd_system *system = object;

	return system->modules_known ? rd_dup(rd_gives_peermem(system) ? "yes" : "no") : NULL;
}

/* Of Device Control: a virtual function uses the settings of its physical function. */
static char *control_text(const struct rd_pci *pci, bool bridges, char *text)
{
	_cleanup_free_ char *own = text;

	if (pci->pf >= 0 || !(bridges || is_endpoint(pci)))
		return rd_dup("");
	return pci->config.dev_ctl.known == RD_OK ? RD_TAKE(own) : NULL;
}

static char *max_payload(const void *object)
{
	return control_text(object, true, rd_text("%u", rd_pcie_payload(object)));
}

static char *max_read_request(const void *object)
{
	return control_text(object, false, rd_text("%u", rd_pcie_read_request(object)));
}

/* Bit 4 (PCI Express Base Specification, 7.5.3.4). */
static char *relaxed_ordering(const void *object)
{
	const struct rd_pci *pci = object;

	return control_text(pci, false, rd_dup(pci->config.dev_ctl.v & 0x10 ? "on" : "off"));
}

static char *acs_control(const void *object)
{
	const struct rd_pci *pci = object;

	if (pci->acs_missing)
		return rd_dup(is_endpoint(pci) ? "" : "none");
	return pci->acs_ctl.known == RD_OK ? rd_text("0x%04x", pci->acs_ctl.v) : NULL;
}

static char *bar_sizes(const void *object)
{
	const struct rd_pci *pci = object;
	_cleanup_buf_ struct rd_buf text = { 0 };

	for (unsigned i = 0; i < pci->n_bars; i++)
		rd_buf_printf(&text, "%s%" PRIu64 " KiB", i ? ", " : "", pci->bars[i].size >> 10);
	return is_endpoint(pci) ? RD_TAKE(text.data) : rd_dup("");
}

/* Accelerators may be suspended while idle. */
static char *power_state(const void *object)
{
	const struct rd_pci *pci = object;

	return pci->class.v >> 16 == RD_PCI_NETWORK ? rd_dup_if(pci->power_state) : rd_dup("");
}

static int by_pkey(const void *pa, const void *pb)
{
	return (int)*(const uint16_t *)pa - (int)*(const uint16_t *)pb;
}

/* Sorted: the subnet manager may assign any index. */
static char *pkeys(const void *object)
{
	const struct rd_port *port = object;
	_cleanup_free_ uint16_t *sorted = rd_alloc(port->n_pkeys + 1, sizeof(*sorted));
	_cleanup_buf_ struct rd_buf text = { 0 };

	for (size_t i = 0; i < port->n_pkeys; i++)
		sorted[i] = port->pkeys[i];
	qsort(sorted, port->n_pkeys, sizeof(*sorted), by_pkey);
	for (size_t i = 0; i < port->n_pkeys; i++)
		rd_buf_printf(&text, "%s0x%04x", i ? ", " : "", sorted[i]);
	return !port->pkeys_known ? NULL : text.data ? RD_TAKE(text.data) : rd_dup("none");
}

static char *admin_state(const void *object)
{
	return rd_dup(((const struct rd_netif *)object)->flags & IFF_UP ? "up" : "down");
}

static char *pfc_priorities(const void *object)
{
	const struct rd_dcb *dcb = &((const struct rd_netif *)object)->dcb;
	_cleanup_buf_ struct rd_buf text = { 0 };

	for (unsigned i = 0; i < RD_PRIOS; i++)
		if (dcb->pfc.enable >> i & 1)
			rd_buf_printf(&text, "%s%u", text.len ? ", " : "", i);
	return dcb->pfc.known != RD_OK ? NULL : text.data ? RD_TAKE(text.data) : rd_dup("none");
}

static char *trust(const void *object)
{
	const struct rd_dcb *dcb = &((const struct rd_netif *)object)->dcb;

	if (dcb->trust.known != RD_OK && dcb->dscp_prio_set.known != RD_OK)
		return NULL;
	return rd_dup(rd_dcb_trusts_dscp(dcb) ? "dscp" : "pcp");
}

/* The priority of each DSCP, "-" without one. */
static char *dscp_priorities(const void *object)
{
	const struct rd_dcb *dcb = &((const struct rd_netif *)object)->dcb;
	char text[64 + 1] = "";

	for (unsigned i = 0; i < 64; i++)
		text[i] = (char)(dcb->dscp_prio_set.v >> i & 1 ? '0' + dcb->dscp_prio[i] % RD_PRIOS : '-');
	return dcb->dscp_prio_set.known == RD_OK ? rd_dup(dcb->dscp_prio_set.v ? text : "none") : NULL;
}

/* Where a member is: one with RD_FIELD, a text. */
#define AT(type, member) NULL, sizeof(((type *)0)->member.v), offsetof(type, member.v), offsetof(type, member.known)
#define TEXT_AT(type, member) NULL, 0, offsetof(type, member)
#define CONTAINER "@(veth|cali|cilium|cni|docker|br-|flannel|lxc|tap|virbr|vnet)*"
#define RDMA_MODULE \
	"@(ib_*|rdma_*|*peer*|mlx?_*|irdma|bnxt_*|efa|ionic*|hns_*|rdmavt|hfi1|qedr|siw|cxgb4|erdma|mana*|nvidia*|amdgpu)"

/*
 * By weight, causes come before what follows from them: what was removed or added; another host; states; links; what was
 * updated; settings that rules judge; addresses and what follows from them; counters. From 55 on the exit status of `diff` is 1
 * (but of counters). The first row that matches counts.
 */
/* clang-format off */
static const struct rd_attribute rows[] = {
	{ RD_AREAS, 10, CONTAINER, NULL },
	{ RD_AREA_DEVICE, 100, NULL, "present" },
	{ RD_AREA_DEVICE, 79, NULL, "bar_sizes", RD_WITH_PROFILE, RD_OBJECT_PCI, bar_sizes },
	{ RD_AREA_DEVICE, 80, NULL, "@(driver|numa_node)", RD_BETWEEN },
	{ RD_AREA_DEVICE, 80, NULL, NULL },
	{ RD_AREA_LINK, 94, NULL, "admin_state", RD_ALONE, RD_OBJECT_NETIF, admin_state },
	{ RD_AREA_LINK, 93, NULL, "link_layer" },
	{ RD_AREA_LINK, 92, NULL, "state" },
	{ RD_AREA_LINK, 90, NULL, "@(operstate|phys_state|carrier)" },
	{ RD_AREA_LINK, 88, NULL, "power_state", RD_BETWEEN, RD_OBJECT_PCI, power_state },
	{ RD_AREA_LINK, 87, NULL, "max_link_*", RD_BETWEEN },
	{ RD_AREA_LINK, 86, NULL, "current_link_width", RD_BETWEEN },
	{ RD_AREA_LINK, 85, NULL, "@(current_link_speed|rate|speed)" },
	{ RD_AREA_LINK, 76, NULL, "@(mtu|mode)", RD_BETWEEN },
	{ RD_AREA_LINK, 70, NULL, "rdma_mtu_bytes", RD_ALONE, RD_OBJECT_PORT, AT(struct rd_port, mtu) },
	{ RD_AREA_LINK, 55, NULL, NULL },
	{ RD_AREA_FIRMWARE, 75, NULL, NULL },
	{ RD_AREA_MODULE, 71, "kernel", "peer_memory", RD_BETWEEN, RD_OBJECT_SYSTEM, peer_memory },
	{ RD_AREA_MODULE, 71, "nvidia", "open_modules", RD_BETWEEN, RD_OBJECT_SYSTEM, AT(struct rd_system, nvidia_open) },
	{ RD_AREA_MODULE, 71, "nvidia", "driver", RD_BETWEEN, RD_OBJECT_SYSTEM, TEXT_AT(struct rd_system, nvidia_version) },
	{ RD_AREA_MODULE, 71, "libibverbs", "version", RD_BETWEEN, RD_OBJECT_SYSTEM, TEXT_AT(struct rd_system, libibverbs) },
	{ RD_AREA_MODULE, 71, "kernel", "dma_buf", RD_BETWEEN, RD_OBJECT_SYSTEM, AT(struct rd_system, dmabuf) },
	{ RD_AREA_MODULE, 73, "kernel", "release", RD_BETWEEN },
	{ RD_AREA_MODULE, 72, "kernel", NULL },
	{ RD_AREA_MODULE, 100, RDMA_MODULE, "loaded" },
	{ RD_AREA_MODULE, 50, NULL, "loaded" },
	{ RD_AREA_MODULE, 70, RDMA_MODULE, "version", RD_BETWEEN },
	{ RD_AREA_MODULE, 70, NULL, NULL },
	{ RD_AREA_SETTING, 78, NULL, "acs_control", RD_WITH_PROFILE, RD_OBJECT_PCI, acs_control },
	{ RD_AREA_SETTING, 77, "services", "memlock_bytes", RD_BETWEEN, RD_OBJECT_SYSTEM, AT(struct rd_system, default_memlock) },
	{ RD_AREA_SETTING, 58, "kernel", "thp_defrag", RD_BETWEEN, RD_OBJECT_SYSTEM, TEXT_AT(struct rd_system, thp_defrag) },
	{ RD_AREA_SETTING, 77, NULL, "memlock_bytes", RD_BETWEEN, RD_OBJECT_PROCESS, AT(struct rd_launcher, memlock) },
	{ RD_AREA_SETTING, 77, "nvidia", "RegistryDwords", RD_BETWEEN, RD_OBJECT_SYSTEM, TEXT_AT(struct rd_system, nvidia_registry) },
	{ RD_AREA_SETTING, 77, "nvidia", "EnableStreamMemOPs", RD_BETWEEN, RD_OBJECT_SYSTEM, AT(struct rd_system, nvidia_stream_memops) },
	{ RD_AREA_SETTING, 75, NULL, "pkeys", RD_WITH_PROFILE, RD_OBJECT_PORT, pkeys },
	{ RD_AREA_SETTING, 75, NULL, "pfc_priorities", RD_WITH_PROFILE, RD_OBJECT_NETIF, pfc_priorities },
	{ RD_AREA_SETTING, 75, NULL, "trust", RD_WITH_PROFILE, RD_OBJECT_NETIF, trust },
	{ RD_AREA_SETTING, 74, NULL, "dscp_priorities", RD_WITH_PROFILE, RD_OBJECT_NETIF, dscp_priorities },
	{ RD_AREA_SETTING, 74, NULL, "pause_rx", RD_WITH_PROFILE, RD_OBJECT_NETIF, AT(struct rd_netif, eth.pause_rx) },
	{ RD_AREA_SETTING, 74, NULL, "pause_tx", RD_WITH_PROFILE, RD_OBJECT_NETIF, AT(struct rd_netif, eth.pause_tx) },
	{ RD_AREA_SETTING, 74, NULL, "ecn_np_priorities", RD_BETWEEN, RD_OBJECT_NETIF, AT(struct rd_netif, ecn_np) },
	{ RD_AREA_SETTING, 74, NULL, "ecn_rp_priorities", RD_BETWEEN, RD_OBJECT_NETIF, AT(struct rd_netif, ecn_rp) },
	{ RD_AREA_SETTING, 74, NULL, "cnp_dscp", RD_BETWEEN, RD_OBJECT_NETIF, AT(struct rd_netif, cnp_dscp) },
	{ RD_AREA_SETTING, 74, NULL, "traffic_class", RD_BETWEEN, RD_OBJECT_NETIF, AT(struct rd_netif, tclass) },
	{ RD_AREA_SETTING, 59, "kernel command line", NULL },
	{ RD_AREA_SETTING, 58, NULL, "max_payload_bytes", RD_WITH_PROFILE, RD_OBJECT_PCI, max_payload },
	{ RD_AREA_SETTING, 58, NULL, "max_read_request_bytes", RD_WITH_PROFILE, RD_OBJECT_PCI, max_read_request },
	{ RD_AREA_SETTING, 58, NULL, "relaxed_ordering", RD_WITH_PROFILE, RD_OBJECT_PCI, relaxed_ordering },
	{ RD_AREA_SETTING, 58, NULL, "rx_ring", RD_BETWEEN, RD_OBJECT_NETIF, AT(struct rd_netif, eth.rx_ring) },
	{ RD_AREA_SETTING, 57, NULL, "iommu_type", RD_BETWEEN, RD_OBJECT_PCI, TEXT_AT(struct rd_pci, iommu_type) },
	{ RD_AREA_SETTING, 58, "@(sysctl|kernel|" RDMA_MODULE ")", NULL, RD_BETWEEN },
	{ RD_AREA_SETTING, 58, NULL, "@(rp_filter|arp_*)", RD_BETWEEN },
	{ RD_AREA_SETTING, 58, NULL, NULL },
	{ RD_AREA_ADDRESS, 68, NULL, NULL },
	{ RD_AREA_ROUTE, 10, NULL, "*dev " CONTAINER },
	{ RD_AREA_ROUTE, 66, NULL, NULL },
	{ RD_AREA_GID, 62, NULL, NULL },
	{ RD_AREA_HOST, 99, NULL, "hostname" },
	{ RD_AREA_HOST, 30, "host", "pci_configuration", RD_ALONE, RD_OBJECT_HOST, pci_configuration },
	{ RD_AREA_HOST, 54, NULL, NULL }, /* rebooted */
	{ RD_AREA_COUNTER, 53, NULL, "aer_fatal", RD_BETWEEN, RD_OBJECT_PCI, AT(struct rd_pci, aer.fatal) },
	{ RD_AREA_COUNTER, 53, NULL, "aer_nonfatal", RD_BETWEEN, RD_OBJECT_PCI, AT(struct rd_pci, aer.nonfatal) },
	{ RD_AREA_COUNTER, 44, NULL, "aer_correctable", RD_ALONE, RD_OBJECT_PCI, AT(struct rd_pci, aer.correctable) },
	{ RD_AREA_COUNTER, 52, NULL, "*@(link_downed|symbol_error|retry_exceeded|link_error_recovery|local_link_integrity|phy_err|carrier_changes)*" },
	{ RD_AREA_COUNTER, 45, NULL, "*@(err|discard|drop|timeout|nak|out_of_|violation|retry|overrun|collision|cnp|ecn|dup)*" },
	{ RD_AREA_COUNTER, 20, NULL, "*@(wait|pause)*" },
	{ RD_AREAS, 5, NULL, NULL },
};
/* clang-format on */

static bool is_like(const char *pattern, const char *text)
{
	return !pattern || !strpbrk(pattern, "*@") ? !pattern || strcmp(pattern, text) == 0 :
						     fnmatch(pattern, text, FNM_EXTMATCH) == 0;
}

const struct rd_attribute *rd_attribute_find(enum rd_area area, const char *subject, const char *field)
{
	const struct rd_attribute *row = rows;

	while ((row->area != RD_AREAS && row->area != area) || !is_like(row->subject, subject) ||
	       !is_like(row->field, field))
		row++;
	return row;
}

const struct rd_attribute *rd_attribute_next(enum rd_object of, const struct rd_attribute *last)
{
	const struct rd_attribute *row = last ? last + 1 : rows, *end = rows + RD_ARRAY_SIZE(rows);

	while (row < end && row->of != of)
		row++;
	return row < end ? row : NULL;
}

char *rd_attribute_text(const struct rd_attribute *attribute, const void *object)
{
	const char *from = object;
	union {
		const char *text;
		uint8_t byte;
		int32_t number;
		uint64_t large;
	} value = { 0 };
	enum rd_known known = RD_OK;

	if (attribute->text)
		return attribute->text(object);
	memcpy(&value, from + attribute->value, attribute->size ?: sizeof(value.text));
	if (attribute->size == 0)
		return value.text ? rd_dup(*value.text ? value.text : "none") : NULL;
	memcpy(&known, from + attribute->known, sizeof(known));
	if (known != RD_OK)
		return NULL;
	if (attribute->size == 1)
		return rd_text("%u", value.byte);
	if (attribute->size == 8 && value.large == RD_UNLIMITED)
		return rd_dup("unlimited");
	return attribute->size == 8 ? rd_text("%" PRIu64, value.large) : rd_text("%d", value.number);
}

static void add_object(struct rd_facts *facts, enum rd_object of, const char *name, const void *object)
{
	for (const struct rd_attribute *row = NULL; (row = rd_attribute_next(of, row));) {
		_cleanup_free_ char *text = rd_attribute_text(row, object);

		if (!text || *text)
			rd_facts_add(facts, row->area, row->subject ?: name, row->field, text);
	}
}

void rd_attributes_facts(const struct rd_host *host, const struct rd_system *system, const struct rd_netstate *net,
			 struct rd_facts *ret)
{
	add_object(ret, RD_OBJECT_HOST, "host", host);
	/* Processes of the same name are represented by the first. */
	add_object(ret, RD_OBJECT_SYSTEM, "host", system);
	for (size_t i = 0, k; i < system->n_launchers; i++) {
		for (k = 0; strcmp(system->launchers[k].comm, system->launchers[i].comm) != 0; k++)
			;
		if (k == i)
			add_object(ret, RD_OBJECT_PROCESS, system->launchers[i].comm, &system->launchers[i]);
	}
	for (size_t i = 0; i < host->n_pcis; i++)
		if (host->pcis[i].extras_read)
			add_object(ret, RD_OBJECT_PCI, host->pcis[i].addr, &host->pcis[i]);
	for (size_t i = 0; i < net->n_ifs; i++)
		if (net->ifs[i].rdma)
			add_object(ret, RD_OBJECT_NETIF, net->ifs[i].name, &net->ifs[i]);
	for (size_t p = 0; p < host->n_ports; p++)
		add_object(ret, RD_OBJECT_PORT, rd_port_label(host, &host->ports[p]).text, &host->ports[p]);
}
