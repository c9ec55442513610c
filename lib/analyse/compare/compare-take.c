/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Extracts from a host what is compared with others. */
#include "analyse/compare/compare.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "model/host/attributes.h"

/* "10.1.0.0/16" of the interface's first IPv4 address. */
static char *subnet_of(const struct rd_host *host, const struct rd_port *port)
{
	for (size_t i = 0; i < port->n_netdevs; i++) {
		const struct rd_netdev *netdev = &host->netdevs[port->netdevs[i]];

		for (size_t a = 0; a < netdev->n_addrs; a++) {
			const struct rd_addr *addr = &netdev->addrs[a];
			char text[INET_ADDRSTRLEN];
			uint8_t net[4];

			if (addr->v6 || addr->prefix == 0 || addr->prefix > 32)
				continue;
			for (unsigned b = 0; b < 4; b++) {
				unsigned bits = addr->prefix > 8 * b ? addr->prefix - 8 * b : 0;

				net[b] = bits >= 8 ? addr->raw[b] : (uint8_t)(addr->raw[b] & ~(0xff >> bits));
			}
			inet_ntop(AF_INET, net, text, sizeof(text));
			return rd_text("%s/%u", text, addr->prefix);
		}
	}
	return NULL;
}

/* A soft device is identified by its label: it shares the PCI address of its interface with other devices. */
static const char *nic_place(const struct rd_host *host, int ibdev)
{
	const struct rd_ibdev *dev = &host->ibdevs[ibdev];

	return dev->pci >= 0 && !dev->parent_netdev ? host->pcis[dev->pci].addr : rd_ibdev_label(host, ibdev);
}

static void take_port(const struct rd_port_views *views, size_t p, struct rd_compared_port *ret)
{
	const struct rd_host *host = views->host;
	const struct rd_port *port = &host->ports[p];
	const struct rd_ibdev *dev = &host->ibdevs[port->ibdev];
	char label[128];

	rd_port_label(host, port, label, sizeof(label));
	ret->place = rd_text("%s/%u", nic_place(host, port->ibdev), port->num);
	ret->label = rd_dup(label);
	ret->subnet = subnet_of(host, port);
	/* The rate of a port that is not active is only what it would try first. */
	if (port->rate_gbps.known == RD_OK && (!port->state || rd_port_active(port)))
		ret->rate = rd_text("%g", port->rate_gbps.v);
	if (port->mtu.known == RD_OK && rd_port_active(port) && views->v[p].role == RD_ROLE_COMPUTE)
		ret->mtu = rd_text("RDMA MTU %u", port->mtu.v);
	ret->compute = views->v[p].role == RD_ROLE_COMPUTE;
	ret->board = rd_dup_if(dev->board);
	ret->firmware = rd_dup_if(dev->firmware);
	ret->state = rd_dup_if(port->state);
	ret->link_layer = rd_dup_if(port->link_layer);
}

static void take_rails(const struct rd_host *host, const struct rd_nicmap *map, struct rd_compared *ret)
{
	for (size_t i = 0; i < map->nccl.n; i++) {
		const struct rd_choice *choice = &map->nccl.v[i];
		struct rd_rail *rail = &ret->rails[ret->n_rails];
		char label[128];

		if (choice->n_ports == 0)
			continue;
		rd_port_label(host, &host->ports[choice->ports[0]], label, sizeof(label));
		*rail = (struct rd_rail){ .gpu = choice->gpu, .port = (size_t)choice->ports[0], .nic = rd_dup(label) };
		ret->n_rails++;
	}
}

static bool has_text(char *const *v, size_t n, const char *text)
{
	while (n > 0 && strcmp(v[n - 1], text) != 0)
		n--;
	return n > 0;
}

/* What the object of a fact is identified by; NULL: it is not compared. Caller frees. */
static char *place_of(const struct rd_host *host, const struct rd_compared *all, const struct rd_fact *fact)
{
	const struct rd_attribute *attribute = rd_attribute_find(fact->area, fact->subject, fact->field);

	if (attribute->use == RD_ALONE || !fact->value)
		return NULL;
	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];

		if (strcmp(all->ports[p].label, fact->subject) == 0)
			return rd_dup(all->ports[p].place);
		if (port->n_netdevs > 0 && strcmp(host->netdevs[port->netdevs[0]].name, fact->subject) == 0)
			return rd_text("%s netdev", all->ports[p].place);
	}
	/* Of other interfaces and functions hosts may have any; of bridges, ACS decides between hosts. */
	if (!attribute->subject && (attribute->of == RD_OBJECT_FILE || attribute->of == RD_OBJECT_PCI) &&
	    strcmp(fact->field, "acs_control") != 0 && !has_text(all->gpus, all->n_gpus, fact->subject) &&
	    !has_text(all->nics, all->n_nics, fact->subject))
		return NULL;
	return rd_dup(fact->subject);
}

static void take_settings(const struct rd_host *host, const struct rd_facts *facts, struct rd_compared *ret)
{
	size_t cap = 0;

	for (size_t i = 0; i < facts->n; i++) {
		const struct rd_fact *fact = &facts->v[i];
		_cleanup_free_ char *place = place_of(host, ret, fact);

		if (place)
			*RD_ADD(ret->settings, ret->n_settings, cap) = (struct rd_compared_setting){
				.place = rd_text("%s %s", place, fact->field),
				.label = strcmp(place, fact->subject) == 0 ?
						 NULL :
						 rd_text("%s %s", fact->subject, fact->field),
				.value = rd_dup(fact->value),
			};
	}
}

void rd_compared_take(const char *name, const struct rd_host *host, const struct rd_nicmap *map,
		      const struct rd_facts *facts, struct rd_compared *ret)
{
	*ret = (struct rd_compared){
		.name = rd_dup(name),
		.gpus = rd_alloc(host->n_gpus + 1, sizeof(*ret->gpus)),
		.nics = rd_alloc(host->n_ibdevs + 1, sizeof(*ret->nics)),
		.ports = rd_alloc(host->n_ports + 1, sizeof(*ret->ports)),
		.rails = rd_alloc(map->nccl.n + 1, sizeof(*ret->rails)),
	};
	for (size_t g = 0; g < host->n_gpus; g++)
		ret->gpus[ret->n_gpus++] = rd_dup(host->pcis[host->gpus[g].pci].addr);
	for (size_t i = 0; i < host->n_ibdevs; i++)
		ret->nics[ret->n_nics++] = rd_dup(nic_place(host, (int)i));
	for (size_t p = 0; p < host->n_ports; p++)
		take_port(&map->ports, p, &ret->ports[ret->n_ports++]);
	take_rails(host, map, ret);
	take_settings(host, facts, ret);
}
