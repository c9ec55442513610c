/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "diagnose/findings/objects.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

enum kind { PCI, IBDEV, NETDEV };

struct rd_object_name {
	const char *text; /* in `host`; NULL: `own` */
	char own[16];	  /* "GPU3" */
	enum kind kind;
	size_t index;
};

void rd_objects_deinit(struct rd_objects *objects)
{
	free(objects->v);
	*objects = (struct rd_objects){ 0 };
}

void rd_object_names_deinit(struct rd_object_names *names)
{
	free(names->v);
	*names = (struct rd_object_names){ 0 };
}

static const char *text_of(const struct rd_object_name *name)
{
	return name->text ? name->text : name->own;
}

static int by_text(const void *pa, const void *pb)
{
	const struct rd_object_name *a = pa, *b = pb;

	return strcmp(text_of(a), text_of(b)) ?: (int)a->kind - (int)b->kind ?: RD_CMP(a->index, b->index);
}

/* `text` NULL: the accelerator with number `gpu`. */
static void add_name(struct rd_object_names *names, const char *text, unsigned gpu, enum kind kind, size_t index)
{
	struct rd_object_name name = { .text = text, .kind = kind, .index = index };
	size_t n;

	rd_reserve(&names->v, &names->cap, names->n + 1, sizeof(*names->v));
	if (!text)
		snprintf(name.own, sizeof(name.own), "GPU%u", gpu);
	n = strlen(text_of(&name));
	if (n > names->longest)
		names->longest = n;
	names->v[names->n++] = name;
}

static void add_ports(const struct rd_host *host, struct rd_object_names *names)
{
	for (size_t p = 0; p < host->n_ports; p++)
		for (size_t n = 0; n < host->ports[p].n_netdevs; n++) {
			const char *name = host->netdevs[host->ports[p].netdevs[n]].name;

			if (name)
				add_name(names, name, 0, IBDEV, (size_t)host->ports[p].ibdev);
		}
}

void rd_object_names_of(const struct rd_host *host, struct rd_object_names *ret)
{
	*ret = (struct rd_object_names){ .host = host };
	for (size_t i = 0; i < host->n_pcis; i++)
		add_name(ret, host->pcis[i].addr, 0, PCI, i);
	for (size_t i = 0; i < host->n_gpus; i++)
		add_name(ret, NULL, host->gpus[i].index, PCI, (size_t)host->gpus[i].pci);
	for (size_t i = 0; i < host->n_ibdevs; i++) {
		add_name(ret, rd_ibdev_label(host, (int)i), 0, IBDEV, i);
		if (host->ibdevs[i].pci >= 0)
			add_name(ret, host->pcis[host->ibdevs[i].pci].addr, 0, IBDEV, i);
	}
	for (size_t i = 0; i < host->n_netdevs; i++)
		if (host->netdevs[i].name)
			add_name(ret, host->netdevs[i].name, 0, NETDEV, i);
	add_ports(host, ret);
	if (ret->n > 0)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_text);
}

static void add_number(struct rd_objects *objects, size_t object)
{
	*RD_ADD(objects->v, objects->n, objects->cap) = object;
}

static void add_ibdev(const struct rd_host *host, size_t ibdev, struct rd_objects *ret)
{
	const struct rd_ibdev *dev = &host->ibdevs[ibdev];

	add_number(ret, host->n_pcis + ibdev);
	if (dev->pci >= 0)
		add_number(ret, (size_t)dev->pci);
	for (unsigned p = 0; p < dev->n_ports; p++) {
		const struct rd_port *port = &host->ports[(unsigned)dev->first_port + p];

		for (size_t i = 0; i < port->n_netdevs; i++)
			add_number(ret, host->n_pcis + host->n_ibdevs + (size_t)port->netdevs[i]);
	}
}

static void add_object(const struct rd_host *host, const struct rd_object_name *name, struct rd_objects *ret)
{
	int pci = name->kind == NETDEV ? host->netdevs[name->index].pci : -1;

	switch (name->kind) {
	case PCI:
		add_number(ret, name->index);
		return;
	case IBDEV:
		add_ibdev(host, name->index, ret);
		return;
	case NETDEV:
		break;
	}
	add_number(ret, host->n_pcis + host->n_ibdevs + name->index);
	if (pci >= 0)
		add_number(ret, (size_t)pci);
}

/* Adds all objects with this name. */
static void add_named(const struct rd_object_names *names, const char *part, size_t size, struct rd_objects *ret)
{
	size_t low = 0, high = names->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strncmp(text_of(&names->v[middle]), part, size) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	/* Of names with this prefix, the shortest is first. */
	for (; low < names->n; low++) {
		const char *text = text_of(&names->v[low]);

		if (strncmp(text, part, size) != 0 || text[size])
			break;
		add_object(names->host, &names->v[low], ret);
	}
}

/* "mlx5_1" is in "mlx5_1/1" and in "eth1, mlx5_1", but not in "mlx5_10". */
static bool may_begin(const char *text, size_t at)
{
	return at == 0 || !(isalnum((unsigned char)text[at - 1]) || strchr("_.:-", text[at - 1]));
}

static bool may_end(const char *text, size_t at)
{
	unsigned char next = (unsigned char)text[at];

	return !isalnum(next) && next != '_' && !(next == '.' && isdigit((unsigned char)text[at + 1]));
}

static int by_number(const void *pa, const void *pb)
{
	const size_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

void rd_objects_find(const struct rd_object_names *names, const char *text, struct rd_objects *ret)
{
	size_t size = strlen(text), n = 0;

	for (size_t at = 0; at < size; at++)
		for (size_t end = at + 1; may_begin(text, at) && end <= size && end - at <= names->longest; end++)
			if (may_end(text, end))
				add_named(names, text + at, end - at, ret);
	if (ret->n > 0)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_number);
	for (size_t i = 0; i < ret->n; i++)
		if (n == 0 || ret->v[i] != ret->v[n - 1])
			ret->v[n++] = ret->v[i];
	ret->n = n;
}

bool rd_objects_share(const struct rd_objects *a, const struct rd_objects *b)
{
	for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
		if (a->v[i] == b->v[k])
			return true;
		if (a->v[i] < b->v[k])
			i++;
		else
			k++;
	}
	return false;
}

bool rd_objects_have(const struct rd_objects *objects, size_t object)
{
	return objects->n > 0 && bsearch(&object, objects->v, objects->n, sizeof(*objects->v), by_number);
}
