/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Builds the profile of a host. */
#include "analyse/compare/profile.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "model/host/attributes.h"

#define NAME_MAX_ 160

struct maker {
	const struct rd_host *host;
	const struct rd_port_view *views; /* of each port */
	const struct rd_netstate *net;	  /* NULL: not read */
	struct rd_profile *ret;
	bool learn; /* omits values that change by themselves, and absent ones */
};

static void add_value(const struct maker *maker, const char *kind, const char *name, const char *field,
		      const char *value)
{
	char key[NAME_MAX_ + 64];

	snprintf(key, sizeof(key), "%s.%.*s.%s", kind, NAME_MAX_, name, field);
	if (value)
		rd_profile_add(maker->ret, key, value);
	else if (!maker->learn)
		rd_profile_add_unknown(maker->ret, key);
}

static void add_number(const struct maker *maker, const char *kind, const char *name, const char *field,
		       enum rd_known known, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.15g", value);
	add_value(maker, kind, name, field, known == RD_OK ? text : NULL);
}

/* `own_pace`: the link speed may change: a GPU lowers it when idle, for itself and the port above. */
static void add_link(const struct maker *maker, const char *kind, const char *name, const struct rd_pci *pci,
		     bool own_pace)
{
	add_number(maker, kind, name, "max_link_width", pci->max.width.known, pci->max.width.v);
	add_number(maker, kind, name, "max_link_mtps", pci->max.mtps.known, pci->max.mtps.v);
	add_number(maker, kind, name, "link_width", pci->now.width.known, pci->now.width.v);
	if (!own_pace || !maker->learn)
		add_number(maker, kind, name, "link_mtps", pci->now.mtps.known, pci->now.mtps.v);
}

static void add_attributes(const struct maker *maker, const char *kind, const char *name, enum rd_object of,
			   const void *object)
{
	for (const struct rd_attribute *row = NULL; (row = rd_attribute_next(of, row));) {
		_cleanup_free_ char *text = row->use == RD_WITH_PROFILE ? rd_attribute_text(row, object) : rd_dup("");

		if (!text || *text)
			add_value(maker, kind, name, row->field, text);
	}
}

/* Adds all bridges above accelerators and NICs. */
static void add_bridges(const struct maker *maker)
{
	const struct rd_host *host = maker->host;
	_cleanup_free_ bool *above = rd_alloc(host->n_pcis + 1, sizeof(*above));
	_cleanup_free_ bool *above_gpu = rd_alloc(host->n_pcis + 1, sizeof(*above_gpu));

	for (size_t g = 0; g < host->n_gpus; g++) {
		int up = host->pcis[host->gpus[g].pci].parent;

		if (up >= 0)
			above_gpu[up] = true;
		for (; up >= 0; up = host->pcis[up].parent)
			above[up] = true;
	}
	for (size_t i = 0; i < host->n_ibdevs; i++)
		if (host->ibdevs[i].pci >= 0 && !host->ibdevs[i].parent_netdev)
			for (int up = host->pcis[host->ibdevs[i].pci].parent; up >= 0; up = host->pcis[up].parent)
				above[up] = true;
	for (size_t i = 0; i < host->n_pcis; i++)
		if (above[i]) {
			add_link(maker, "bridge", host->pcis[i].addr, &host->pcis[i], above_gpu[i]);
			add_attributes(maker, "bridge", host->pcis[i].addr, RD_OBJECT_PCI, &host->pcis[i]);
		}
}

/* The interface of an InfiniBand port may be down or absent: few clusters need IPoIB on each port. */
static void add_netdev(const struct maker *maker, const char *name, const struct rd_port *port)
{
	const struct rd_netdev *netdev = port->n_netdevs > 0 ? &maker->host->netdevs[port->netdevs[0]] : NULL;
	const struct rd_netif *netif;
	bool none = !netdev && !port->netdev_name && !maker->host->from_topology_file;
	bool up = netdev && netdev->operstate && strcmp(netdev->operstate, "up") == 0;

	if (none && maker->learn)
		return;
	add_value(maker, "port", name, "netdev", none ? "none" : port->netdev_name);
	if (up || !maker->learn)
		add_value(maker, "port", name, "netdev_state", none ? "none" : netdev ? netdev->operstate : NULL);
	if (none)
		add_value(maker, "port", name, "netdev_mtu_bytes", "none");
	else if (up || !maker->learn || rd_port_is_ethernet(port))
		add_number(maker, "port", name, "netdev_mtu_bytes", netdev ? netdev->mtu.known : RD_ABSENT,
			   netdev ? netdev->mtu.v : 0);
	if (netdev && netdev->ipoib_mode)
		add_value(maker, "port", name, "ipoib_mode", netdev->ipoib_mode);
	netif = netdev && maker->net ? rd_netstate_find_name(maker->net, netdev->name) : NULL;
	if (netif)
		add_attributes(maker, "port", name, RD_OBJECT_NETIF, netif);
}

static void add_port(const struct maker *maker, size_t p)
{
	const struct rd_port *port = &maker->host->ports[p];
	/* The rate of a port that is down is meaningless; a spare port may be cabled later. */
	bool stable = rd_port_active(port) || !maker->learn;
	char name[NAME_MAX_];

	snprintf(name, sizeof(name), "%.100s/%u", rd_ibdev_label(maker->host, port->ibdev), port->num);
	if (stable)
		add_value(maker, "port", name, "state", port->state);
	add_value(maker, "port", name, "link_layer", port->link_layer);
	add_value(maker, "port", name, "role", rd_role_name(maker->views[p].role));
	add_netdev(maker, name, port);
	add_attributes(maker, "port", name, RD_OBJECT_PORT, port);
	if (stable) {
		add_number(maker, "port", name, "rate_gbps", port->rate_gbps.known, port->rate_gbps.v);
		add_number(maker, "port", name, "mtu_bytes", port->mtu.known, port->mtu.v);
	}
}

static void add_nics(const struct maker *maker)
{
	const struct rd_host *host = maker->host;

	for (size_t i = 0; i < host->n_ibdevs; i++) {
		const struct rd_ibdev *dev = &host->ibdevs[i];
		const struct rd_pci *pci = dev->pci >= 0 ? &host->pcis[dev->pci] : NULL;
		const char *name = rd_ibdev_label(host, (int)i);

		add_number(maker, "nic", name, "ports", RD_OK, dev->n_ports);
		add_value(maker, "nic", name, "pci", pci ? pci->addr : NULL);
		if (dev->driver || (pci && !dev->parent_netdev))
			add_value(maker, "nic", name, "driver", dev->driver);
		add_value(maker, "nic", name, "board", dev->board);
		add_value(maker, "nic", name, "firmware", dev->firmware);
		if (pci && !dev->parent_netdev) {
			add_link(maker, "nic", name, pci, false);
			add_number(maker, "nic", name, "numa_node", pci->numa.known, pci->numa.v);
			add_attributes(maker, "nic", name, RD_OBJECT_PCI, pci);
		}
		for (unsigned p = 0; p < dev->n_ports; p++)
			add_port(maker, (size_t)dev->first_port + p);
	}
}

static void add_gpus(const struct maker *maker)
{
	const struct rd_host *host = maker->host;

	for (size_t g = 0; g < host->n_gpus; g++) {
		const struct rd_pci *pci = &host->pcis[host->gpus[g].pci];

		add_value(maker, "gpu", pci->addr, "name", host->gpus[g].name ? host->gpus[g].name : "unnamed");
		add_value(maker, "gpu", pci->addr, "driver",
			  pci->driver || !pci->detailed || maker->learn ? pci->driver : "none");
		add_link(maker, "gpu", pci->addr, pci, true);
		add_number(maker, "gpu", pci->addr, "numa_node", pci->numa.known, pci->numa.v);
		add_attributes(maker, "gpu", pci->addr, RD_OBJECT_PCI, pci);
	}
}

static void add_software(const struct maker *maker, const struct rd_system *system)
{
	rd_profile_add(maker->ret, "software.kernel", system->release);
	rd_profile_add(maker->ret, "software.libibverbs", system->libibverbs);
	rd_profile_add(maker->ret, "software.nvidia", system->nvidia_version);
	for (size_t i = 0; i < system->n_modules; i++) {
		const struct rd_loaded_module *module = &system->modules[i];

		if (!module->rdma && strcmp(module->name, "ib_core") != 0 && !module->version)
			continue;
		add_value(maker, "module", module->name, "loaded", "yes");
		if (module->version)
			add_value(maker, "module", module->name, "version", module->version);
	}
}

static void add_all(const struct maker *maker, const struct rd_system *system)
{
	const struct rd_host *host = maker->host;

	rd_profile_addf(maker->ret, "count.gpus", "%zu", host->n_gpus);
	rd_profile_addf(maker->ret, "count.nics", "%zu", host->n_ibdevs);
	rd_profile_addf(maker->ret, "count.numa_nodes", "%zu", host->n_numas);
	add_gpus(maker);
	add_nics(maker);
	add_bridges(maker);
	if (system)
		add_software(maker, system);
}

void rd_profile_of(const struct rd_port_views *views, const struct rd_system *system, struct rd_profile *ret)
{
	add_all(&(struct maker){ .host = views->host, .views = views->v, .net = views->net, .ret = ret }, system);
}

void rd_profile_learn(const struct rd_port_views *views, const struct rd_system *system, struct rd_profile *ret)
{
	add_all(&(struct maker){ .host = views->host, .views = views->v, .net = views->net, .ret = ret, .learn = true },
		system);
}
