/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/fabric/fabric-find.h"

#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "model/fabric/routes.h"

enum fit { FITS_NOT, FITS_PREFIX, FITS_WORDS, FITS_WHOLE };

struct wanted {
	const char *text;
	size_t size;	 /* of the name in `text` */
	unsigned number; /* of the port; 0: any */
	uint64_t guid;	 /* 0: none */
	uint32_t lid;	 /* 0: none */
};

static enum fit name_fit(const char *name, const struct wanted *wanted)
{
	if (!name || strncmp(name, wanted->text, wanted->size) != 0)
		return FITS_NOT;
	if (name[wanted->size] == '\0')
		return FITS_WHOLE;
	return name[wanted->size] == ' ' ? FITS_WORDS : FITS_PREFIX;
}

static enum fit port_fit(const struct rd_fabric *fabric, const struct rd_fabric_port *port, const struct wanted *wanted)
{
	const struct rd_fabric_node *node = &fabric->nodes[port->node];
	enum fit named, described;

	if (port->presence == RD_PORT_GONE || (wanted->number && port->number != wanted->number))
		return FITS_NOT;
	if (wanted->lid && wanted->lid <= RD_LID_MAX && rd_port_has_lid(port, (uint16_t)wanted->lid))
		return FITS_WHOLE;
	if (wanted->guid && (node->guid == wanted->guid || port->guid == wanted->guid))
		return FITS_WHOLE;
	named = name_fit(node->name, wanted);
	described = name_fit(node->description, wanted);
	named = named > described ? named : described;
	/* A number may be a whole name, too, but not the beginning of one. */
	return (wanted->lid || wanted->guid) && named != FITS_WHOLE ? FITS_NOT : named;
}

static bool is_cabled(const struct rd_fabric_port *port)
{
	return port->peer != RD_NONE && port->lid;
}

/* Of the ports [from, to) of one node that fit: which of them to keep. */
static bool keeps(const struct rd_fabric *fabric, const enum fit *fits, size_t from, size_t to, size_t at, enum fit best)
{
	bool any = false;

	if (fits[at] != best)
		return false;
	for (size_t i = from; i < to; i++) {
		if (fits[i] != best)
			continue;
		if (fabric->nodes[fabric->ports[i].node].kind == RD_NODE_SWITCH)
			return i == at;
		any |= is_cabled(&fabric->ports[i]);
	}
	return !any || is_cabled(&fabric->ports[at]);
}

static size_t find_wanted(const struct rd_fabric *fabric, const struct wanted *wanted, size_t max, size_t *ret)
{
	_cleanup_free_ enum fit *fits = rd_alloc(fabric->n_ports + 1, sizeof(*fits));
	enum fit best = FITS_PREFIX;
	size_t n = 0;

	for (size_t i = 0; i < fabric->n_ports; i++) {
		fits[i] = port_fit(fabric, &fabric->ports[i], wanted);
		best = fits[i] > best ? fits[i] : best;
	}
	for (size_t from = 0, to; from < fabric->n_ports; from = to) {
		for (to = from; to < fabric->n_ports && fabric->ports[to].node == fabric->ports[from].node; to++)
			;
		for (size_t i = from; i < to; i++)
			if (fits[i] == best && keeps(fabric, fits, from, to, i, best) && n++ < max)
				ret[n - 1] = i;
	}
	return n;
}

size_t rd_fabric_find_ports(const struct rd_fabric *fabric, const char *text, size_t max, size_t **ret)
{
	struct wanted wanted = { .text = text, .size = strlen(text) };
	const char *slash = strrchr(text, '/');
	uint32_t number;
	size_t n;

	*ret = rd_alloc(max + 1, sizeof(**ret));
	if (strncmp(text, "0x", 2) == 0)
		rd_parse_uint(text, RD_HEX, UINT64_MAX, &wanted.guid);
	else
		rd_parse_u32(text, RD_DECIMAL, UINT32_MAX, &wanted.lid);
	n = find_wanted(fabric, &wanted, max, *ret);
	if (n > 0 || !slash || slash == text || rd_parse_u32(slash + 1, RD_DECIMAL, 254, &number) < 0 || number == 0)
		return n;
	wanted = (struct wanted){ .text = text, .size = (size_t)(slash - text), .number = number };
	if (strncmp(text, "0x", 2) == 0) {
		_cleanup_free_ char *guid = rd_dup_part(text, wanted.size);

		rd_parse_uint(guid, RD_HEX, UINT64_MAX, &wanted.guid);
	}
	return find_wanted(fabric, &wanted, max, *ret);
}
