/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses and routes. */
#include "collect/snapshot/snapshot.h"

#include <arpa/inet.h>
#include <linux/rtnetlink.h>

#include "collect/host/host.h"
#include "collect/net/netstate.h"
#include "model/host/attributes.h"

static const char *netif_name(const struct rd_netstate *net, unsigned ifindex)
{
	const struct rd_netif *netif = rd_netstate_find(net, ifindex);

	return netif ? netif->name : "?";
}

void rd_snapshot_net(const struct rd_netstate *net, struct rd_facts *ret)
{
	ret->partial[RD_AREA_ADDRESS] |= net->addrs_known != RD_OK || net->links_known != RD_OK;
	ret->partial[RD_AREA_ROUTE] |= net->routes_known != RD_OK || net->links_known != RD_OK;
	for (size_t i = 0; i < net->n_addrs; i++) {
		const struct rd_addr *addr = &net->addrs[i].addr;
		char ip[INET6_ADDRSTRLEN], field[INET6_ADDRSTRLEN + 8];

		rd_ip_text(addr->v6, addr->raw, ip);
		snprintf(field, sizeof(field), "%s/%u", ip, addr->prefix);
		rd_facts_add(ret, RD_AREA_ADDRESS, netif_name(net, net->addrs[i].ifindex), field, "yes");
	}
	/* A multipath route once, not for each next hop. */
	for (size_t i = 0; i < net->n_routes; i++)
		if (net->routes[i].type == RTN_UNICAST &&
		    (i == 0 || !net->routes[i].multipath ||
		     memcmp(net->routes[i].dst, net->routes[i - 1].dst, sizeof(net->routes[i].dst)) != 0)) {
			/* "10.1.0.0/16 table 7 metric 100". Each interface has the same link-local ones. */
			_cleanup_buf_ struct rd_buf subject = RD_BUF_CHECKED, value = RD_BUF_CHECKED;
			const char *dev = netif_name(net, net->routes[i].ifindex);
			char ip[INET6_ADDRSTRLEN];

			rd_ip_text(net->routes[i].v6, net->routes[i].dst, ip);
			rd_buf_printf(&subject, "%s/%u", ip, net->routes[i].dst_len);
			if (strncmp(ip, "fe80:", 5) == 0)
				rd_buf_printf(&subject, " dev %s", dev);
			if (net->routes[i].table != RT_TABLE_MAIN)
				rd_buf_printf(&subject, " table %u", net->routes[i].table);
			if (net->routes[i].metric)
				rd_buf_printf(&subject, " metric %u", net->routes[i].metric);
			rd_ip_text(net->routes[i].v6, net->routes[i].gateway, ip);
			if (net->routes[i].has_gateway)
				rd_buf_printf(&value, "via %s ", ip);
			rd_buf_printf(&value, net->routes[i].multipath ? "multipath" : "dev %s", dev);
			rd_ip_text(net->routes[i].v6, net->routes[i].source, ip);
			if (net->routes[i].has_source)
				rd_buf_printf(&value, " src %s", ip);
			if (!subject.failed && !value.failed)
				rd_facts_add(ret, RD_AREA_ROUTE, subject.data, "path", value.data);
		}
}

#define IB "/sys/class/infiniband"
#define NET "/sys/class/net"

struct snapshot {
	struct rd_source *src;
	struct rd_facts *facts;
};

/* Adds the content of a small file as a fact, if it exists and is not empty; unknown if it could not be read. */
static void add_file(struct snapshot *shot, enum rd_area area, const char *subject, const char *field, const char *dir,
		     const char *file)
{
	_cleanup_free_ char *text = NULL;

	int r = rd_read_textf(shot->src, &text, NULL, "%s/%s", dir, file);

	if (rd_could_not_look(r) || (r == 0 && *text))
		rd_facts_add(shot->facts, area, subject, field, text);
}

static void add_all(struct snapshot *shot, enum rd_area area, const char *subject, const char *dir,
		    const char *const *files)
{
	for (; *files; files++)
		add_file(shot, area, subject, strrchr(*files, '/') ? strrchr(*files, '/') + 1 : *files, dir, *files);
}

/* `area`: of what is listed. */
static void list_names(struct snapshot *shot, enum rd_area area, const char *path, struct rd_texts *ret)
{
	int r = rd_list_dir(shot->src, path, ret, NULL);

	shot->facts->partial[area] |= rd_could_not_look(r);
	if (r < 0)
		*ret = (struct rd_texts){ 0 };
}

static void add_dir(struct snapshot *shot, enum rd_area area, const char *subject, const char *dir, const char *sub)
{
	_cleanup_texts_ struct rd_texts names = { 0 };
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, sub);
	list_names(shot, area, path, &names);
	for (size_t i = 0; i < names.n; i++)
		/* The refresh interval of the driver, not a counter. */
		if (area != RD_AREA_COUNTER || strcmp(names.v[i], "lifespan") != 0)
			add_file(shot, area, subject, names.v[i], path, names.v[i]);
}

static void add_port(struct snapshot *shot, const char *ibdev, const char *port)
{
	static const char *const link[] = { "state", "phys_state", "rate",     "link_layer",
					    "lid",   "sm_lid",	   "cap_mask", NULL };
	char subject[128], dir[400];
	_cleanup_texts_ struct rd_texts names = { 0 };
	char path[512];

	snprintf(subject, sizeof(subject), "%.64s/%.16s", ibdev, port);
	snprintf(dir, sizeof(dir), IB "/%.64s/ports/%.16s", ibdev, port);
	add_all(shot, RD_AREA_LINK, subject, dir, link);
	/* "fe80:… RoCE v2 eth0" */
	snprintf(path, sizeof(path), "%s/gids", dir);
	list_names(shot, RD_AREA_GID, path, &names);
	for (size_t i = 0; i < names.n; i++) {
		_cleanup_free_ char *gid = NULL, *type = NULL, *netdev = NULL, *value = NULL;
		char field[64];

		if (rd_read_textf(shot->src, &gid, NULL, "%s/%s", path, names.v[i]) < 0 || !gid[strspn(gid, "0:")])
			continue;
		rd_read_textf(shot->src, &type, NULL, "%s/gid_attrs/types/%s", dir, names.v[i]);
		rd_read_textf(shot->src, &netdev, NULL, "%s/gid_attrs/ndevs/%s", dir, names.v[i]);
		value = rd_text("%s%s%s%s%s", gid, type ? ", " : "", type ? type : "", netdev ? ", " : "",
				netdev ? netdev : "");
		snprintf(field, sizeof(field), "%.40s", names.v[i]);
		rd_facts_add(shot->facts, RD_AREA_GID, subject, field, value);
	}
	add_dir(shot, RD_AREA_COUNTER, subject, dir, "counters");
	add_dir(shot, RD_AREA_COUNTER, subject, dir, "hw_counters");
}

/* Adds the last component of a link's target: the driver of a device, the module of a driver, the function of a port. */
static void add_link(struct snapshot *shot, enum rd_area area, const char *subject, const char *field, const char *path)
{
	_cleanup_free_ char *target = NULL;

	if (rd_read_link(shot->src, path, &target, NULL) == 0)
		rd_facts_add(shot->facts, area, subject, field,
			     strrchr(target, '/') ? strrchr(target, '/') + 1 : target);
}

static void add_netdevs(struct snapshot *shot)
{
	static const char *const link[] = { "operstate", "carrier", "speed", "duplex", "mtu", "mode", NULL };
	static const char *const conf[] = { "rp_filter", "arp_ignore", "arp_announce", "accept_local", NULL };
	_cleanup_texts_ struct rd_texts names = { 0 };

	list_names(shot, RD_AREA_DEVICE, NET, &names);
	for (size_t i = 0; i < names.n; i++) {
		char dir[256];

		if (strcmp(names.v[i], "lo") == 0)
			continue;
		snprintf(dir, sizeof(dir), NET "/%.64s", names.v[i]);
		rd_facts_add(shot->facts, RD_AREA_DEVICE, names.v[i], "present", "yes");
		add_file(shot, RD_AREA_DEVICE, names.v[i], "address", dir, "address");
		add_all(shot, RD_AREA_LINK, names.v[i], dir, link);
		add_file(shot, RD_AREA_COUNTER, names.v[i], "carrier_changes", dir, "carrier_changes");
		add_dir(shot, RD_AREA_COUNTER, names.v[i], dir, "statistics");
		snprintf(dir, sizeof(dir), "/proc/sys/net/ipv4/conf/%.64s", names.v[i]);
		add_all(shot, RD_AREA_SETTING, names.v[i], dir, conf);
	}
}

static void add_modules(struct snapshot *shot)
{
	static const char *const files[] = { "version", "srcversion", NULL };
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	char *line, *rest = NULL;

	add_file(shot, RD_AREA_MODULE, "kernel", "release", "/proc/sys/kernel", "osrelease");
	add_file(shot, RD_AREA_MODULE, "kernel", "version", "/proc/sys/kernel", "version");
	if (rd_read_file(shot->src, "/proc/modules", &bytes, NULL) < 0) {
		shot->facts->partial[RD_AREA_MODULE] = true;
		return;
	}
	for (line = strtok_r((char *)bytes.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char dir[256];

		line[strcspn(line, " ")] = '\0';
		rd_facts_add(shot->facts, RD_AREA_MODULE, line, "loaded", "yes");
		snprintf(dir, sizeof(dir), "/sys/module/%.100s", line);
		add_all(shot, RD_AREA_MODULE, line, dir, files);
		add_dir(shot, RD_AREA_SETTING, line, dir, "parameters");
	}
}

static void add_settings(struct snapshot *shot)
{
	static const char *const sysctls[] = {
		"kernel/numa_balancing",
		"net/core/rmem_max",
		"net/core/wmem_max",
		"vm/max_map_count",
		"vm/nr_hugepages",
		"vm/zone_reclaim_mode",
		"net/ipv4/ip_forward",
		"net/ipv4/conf/all/rp_filter",
		"net/ipv4/conf/all/arp_ignore",
		"net/ipv4/conf/all/arp_announce",
		"net/ipv4/neigh/default/gc_thresh1",
		"net/ipv4/neigh/default/gc_thresh2",
		"net/ipv4/neigh/default/gc_thresh3",
	};
	_cleanup_free_ char *command = NULL;
	char *word, *rest = NULL;

	for (size_t i = 0; i < RD_ARRAY_SIZE(sysctls); i++)
		add_file(shot, RD_AREA_SETTING, "sysctl", sysctls[i], "/proc/sys", sysctls[i]);
	add_file(shot, RD_AREA_SETTING, "kernel", "transparent_hugepage", "/sys/kernel/mm/transparent_hugepage",
		 "enabled");
	if (rd_read_textf(shot->src, &command, NULL, "/proc/cmdline") < 0)
		return;
	for (word = strtok_r(command, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
		char *value = strchr(word, '=');

		if (value)
			*value++ = '\0';
		rd_facts_add(shot->facts, RD_AREA_SETTING, "kernel command line", word, value ? value : "given");
	}
}

int rd_snapshot_collect(struct rd_source *src, struct rd_facts *ret, struct rd_err *err)
{
	struct snapshot shot = { src, ret };
	_cleanup_(rd_netstate_deinit) struct rd_netstate net = { 0 };
	_cleanup_(rd_system_deinit) struct rd_system system = { 0 };
	_cleanup_(rd_host_deinit) struct rd_host host = { 0 };
	int r = rd_collect_host(src, RD_COLLECT_ACS | RD_COLLECT_PCI | RD_COLLECT_IB, &host, NULL, err);
	static const char *const firmware[] = { "fw_ver", "board_id", "hca_type", "hw_rev", NULL };
	static const char *const guids[] = { "node_guid", "sys_image_guid", "node_desc", "node_type", NULL };
	_cleanup_texts_ struct rd_texts names = { 0 };
	static const char *const link[] = { "current_link_speed", "current_link_width", "max_link_speed",
					    "max_link_width", NULL };
	static const char *const device[] = { "vendor", "device", "class", "numa_node", NULL };

	if (!r)
		r = rd_host_within_bounds(&host, err);
	if (!r)
		r = rd_collect_system(src, 0, &system, NULL, err);
	if (!r)
		rd_collect_netstate(src, &host, &net, NULL);
	add_file(&shot, RD_AREA_HOST, "host", "hostname", "/proc/sys/kernel", "hostname");
	add_file(&shot, RD_AREA_HOST, "host", "boot", "/proc/sys/kernel/random", "boot_id");
	list_names(&shot, RD_AREA_DEVICE, IB, &names);
	for (size_t i = 0; i < names.n; i++) {
		_cleanup_texts_ struct rd_texts ports = { 0 };
		char dir[256], path[300];

		snprintf(dir, sizeof(dir), IB "/%.64s", names.v[i]);
		rd_facts_add(shot.facts, RD_AREA_DEVICE, names.v[i], "present", "yes");
		snprintf(path, sizeof(path), "%s/device", dir);
		add_link(&shot, RD_AREA_DEVICE, names.v[i], "pci", path);
		add_all(&shot, RD_AREA_FIRMWARE, names.v[i], dir, firmware);
		add_all(&shot, RD_AREA_DEVICE, names.v[i], dir, guids);
		add_dir(&shot, RD_AREA_COUNTER, names.v[i], dir, "hw_counters");
		snprintf(path, sizeof(path), "%s/ports", dir);
		list_names(&shot, RD_AREA_LINK, path, &ports);
		for (size_t k = 0; k < ports.n; k++)
			add_port(&shot, names.v[i], ports.v[k]);
	}
	add_netdevs(&shot);
	/* Network, display and accelerator functions, and bridges. */
	for (size_t j = 0; j < host.n_pcis; j++) {
		const struct rd_pci *pci = &host.pcis[j];
		uint32_t base = pci->class.v >> 16;
		char dir[64], path[80];

		if (base != RD_PCI_NETWORK && base != RD_PCI_DISPLAY && base != RD_PCI_ACCELERATOR &&
		    pci->class.v >> 8 != RD_PCI_CLASS_BRIDGE)
			continue;
		snprintf(dir, sizeof(dir), "/sys/bus/pci/devices/%s", pci->addr);
		rd_facts_add(shot.facts, RD_AREA_DEVICE, pci->addr, "present", "yes");
		add_all(&shot, RD_AREA_LINK, pci->addr, dir, link);
		add_all(&shot, RD_AREA_DEVICE, pci->addr, dir, device);
		snprintf(path, sizeof(path), "%s/driver", dir);
		add_link(&shot, RD_AREA_DEVICE, pci->addr, "driver", path);
		if (pci->parent >= 0)
			rd_facts_add(shot.facts, RD_AREA_DEVICE, pci->addr, "bridge", host.pcis[pci->parent].addr);
	}
	add_modules(&shot);
	add_settings(&shot);
	rd_snapshot_net(&net, ret);
	if (!r)
		rd_attributes_facts(&host, &system, &net, ret);
	rd_facts_sort(ret);
	return r;
}
