/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is compared of a host: with other hosts, and with an earlier capture of itself. */
#include <arpa/inet.h>

#include "analyse/compare/compare.h"
#include "model/host/attributes.h"

/* Extracts from a host what is compared with others. */

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

	ret->place = rd_text("%s/%u", nic_place(host, port->ibdev), port->num);
	ret->label = rd_dup(rd_port_label(host, port).text);
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

void rd_compared_take(const char *name, const struct rd_host *host, const struct rd_nicmap *map,
		      const struct rd_facts *facts, struct rd_compared *ret)
{
	size_t cap = 0;

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
	for (size_t i = 0; i < map->nccl.n; i++) {
		const struct rd_choice *choice = &map->nccl.v[i];
		struct rd_rail *rail = &ret->rails[ret->n_rails];

		if (choice->n_ports == 0)
			continue;
		*rail = (struct rd_rail){ .gpu = choice->gpu,
					  .port = (size_t)choice->ports[0],
					  .nic = rd_dup(rd_port_label(host, &host->ports[choice->ports[0]]).text) };
		ret->n_rails++;
	}
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

static const struct rd_fact *fact_of(const struct rd_change *change)
{
	return change->after ?: change->before;
}

static unsigned weight_of(const struct rd_change *change)
{
	const struct rd_fact *fact = fact_of(change);
	/* Routes to containers are known by their interface. */
	const char *field = fact->area == RD_AREA_ROUTE ? fact->value : fact->field;
	unsigned weight = rd_attribute_find(fact->area, fact->subject, field)->weight;

	/* What was added is less significant than what was removed. */
	return weight == 100 && !change->before ? 95 : weight;
}

/* Highest weight first, then by name. */
static int by_weight(const void *pa, const void *pb)
{
	const struct rd_change *a = pa, *b = pb;

	return RD_CMP(b->weight, a->weight) ?: rd_fact_compare(fact_of(a), fact_of(b));
}

static int compare_facts(const void *a, const void *b)
{
	return rd_fact_compare(a, b);
}

static const struct rd_fact *find_fact(const struct rd_facts *facts, enum rd_area area, const char *subject,
				       const char *field)
{
	const struct rd_fact key = { .area = area, .subject = (char *)subject, .field = (char *)field };
	size_t at = rd_lower_bound(&key, facts->v, facts->n, sizeof(key), compare_facts);

	return at < facts->n && rd_fact_compare(&facts->v[at], &key) == 0 ? &facts->v[at] : NULL;
}

static bool has_subject(const struct rd_facts *facts, const char *subject)
{
	return find_fact(facts, RD_AREA_DEVICE, subject, "present");
}

static bool is_gpu(const struct rd_facts *facts, const char *subject)
{
	const struct rd_fact *class = find_fact(facts, RD_AREA_DEVICE, subject, "class");

	return class && class->value &&
	       (strncmp(class->value, "0x03", 4) == 0 || strncmp(class->value, "0x12", 4) == 0);
}

/* Whether the fact is the current link speed of a GPU, or of the port above it: some GPUs lower it when idle, so a change is
 * not significant. */
static bool is_idling(const struct rd_facts *facts, const struct rd_fact *fact)
{
	if (fact->area != RD_AREA_LINK || strcmp(fact->field, "current_link_speed") != 0)
		return false;
	if (is_gpu(facts, fact->subject))
		return true;
	for (size_t i = 0; i < facts->n; i++)
		if (facts->v[i].area == RD_AREA_DEVICE && strcmp(facts->v[i].field, "bridge") == 0 &&
		    strcmp(facts->v[i].value, fact->subject) == 0 && is_gpu(facts, facts->v[i].subject))
			return true;
	return false;
}

/* What is missing in one capture because it could not be read, or was not read by the version that made it, is not a change. */
static bool is_unread(const struct rd_change *change, const struct rd_facts *before, const struct rd_facts *after)
{
	const struct rd_fact *fact = fact_of(change);

	if (change->before && change->after)
		return !change->before->value || !change->after->value;
	return !fact->value || (change->before ? after : before)->partial[fact->area] ||
	       rd_attribute_find(fact->area, fact->subject, fact->field)->of != RD_OBJECT_FILE;
}

/* Whether the change only follows from its device (of "mlx5_0/1": "mlx5_0") being added or removed. */
static bool follows_from_device(const struct rd_facts *before, const struct rd_facts *after, const struct rd_fact *fact)
{
	_cleanup_free_ char *device = NULL;

	if (fact->area == RD_AREA_DEVICE && strcmp(fact->field, "present") == 0)
		return false;
	if (fact->area == RD_AREA_ROUTE || fact->area == RD_AREA_MODULE || fact->area == RD_AREA_HOST)
		return false;
	device = rd_dup_part(fact->subject, strcspn(fact->subject, "/"));
	return device && has_subject(before, device) != has_subject(after, device);
}

/* Whether the change only follows from its module being loaded or unloaded: version and parameters. */
static bool follows_from_module(const struct rd_change *change, const struct rd_facts *other)
{
	const struct rd_fact *fact = fact_of(change);

	if (fact->area != RD_AREA_MODULE || strcmp(fact->field, "loaded") == 0 ||
	    strcmp(fact->subject, "kernel") == 0 || (change->before && change->after))
		return false;
	return !find_fact(other, RD_AREA_MODULE, fact->subject, "loaded");
}

static void add_change(struct rd_changes *changes, const struct rd_facts *before, const struct rd_facts *after,
		       const struct rd_fact *old, const struct rd_fact *new)
{
	struct rd_change change = { .before = old, .after = new };

	if (follows_from_device(before, after, fact_of(&change)) ||
	    follows_from_module(&change, old ? after : before) || is_unread(&change, before, after))
		return;
	change.weight = is_idling(new ? after : before, fact_of(&change)) ? 15 : weight_of(&change);
	*RD_ADD(changes->v, changes->n, changes->cap) = change;
}

void rd_diff(const struct rd_facts *before, const struct rd_facts *after, struct rd_changes *ret)
{
	size_t i = 0, k = 0;

	while ((i < before->n || k < after->n)) {
		const struct rd_fact *old = i < before->n ? &before->v[i] : NULL;
		const struct rd_fact *new = k < after->n ? &after->v[k] : NULL;
		int order = !old ? 1 : !new ? -1 : rd_fact_compare(old, new);

		if (order < 0)
			add_change(ret, before, after, old, NULL);
		else if (order > 0)
			add_change(ret, before, after, NULL, new);
		else if (!old->value || !new->value || strcmp(old->value, new->value) != 0)
			add_change(ret, before, after, old, new);
		i += order <= 0;
		k += order >= 0;
	}
	rd_sort(ret->v, ret->n, sizeof(*ret->v), by_weight);
}
