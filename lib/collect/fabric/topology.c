/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Topology files: parsing, also of ibnetdiscover's output, and writing. */
#include "collect/fabric/topology.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"

#define PORT_MAX 254
#define DESCRIPTION_MAX 255
#define LINE_SIZE 2048 /* enough for a description with all bytes escaped */

struct cable {
	uint64_t guid, peer_guid;
	unsigned port, peer_port, width, speed;
};

struct parser {
	const char *name;
	struct rd_err *err;
	size_t line;
	struct rd_fabric fabric; /* nodes in the order of the file */
	size_t ports;		 /* of all nodes */
	size_t node;		 /* ibnetdiscover: the node whose ports follow; RD_NONE: none yet */
	struct cable *cables;
	size_t n_cables, cap_cables;
};

static int bad(struct parser *p, const char *what)
{
	return rd_err_set(p->err, EBADMSG, p->name, "line %zu: %s", p->line, what);
}

/* ---- fields of a line; each function advances *at past its field */

static bool take_word(const char **at, char *word, size_t size)
{
	size_t len;

	*at += strspn(*at, " \t");
	len = strcspn(*at, " \t");
	if (len == 0 || len >= size)
		return false;
	memcpy(word, *at, len);
	word[len] = '\0';
	*at += len;
	return true;
}

static bool take_hex(const char **at, uint64_t *ret)
{
	*at += strspn(*at, " \t");
	return rd_take_uint(at, RD_HEX, UINT64_MAX, ret) == 0;
}

static bool take_number(const char **at, unsigned most, unsigned *ret)
{
	*at += strspn(*at, " \t");
	return rd_take_u32(at, RD_DECIMAL, most, ret) == 0;
}

/* "4xQDR"; otherwise both stay 0: unknown. */
static void take_rate(const char *word, unsigned *width, unsigned *speed)
{
	const char *at = word;

	if (!take_number(&at, 12, width) || *at++ != 'x') {
		*width = 0;
		return;
	}
	for (unsigned s = 1; s < RD_SPEEDS; s++)
		if (strcmp(rd_link_speed_name(s), at) == 0)
			*speed = s;
}

/* A string in double quotes; \xNN is a byte. */
static bool take_quoted(const char **at, char *ret, size_t size)
{
	size_t n = 0;

	*at += strspn(*at, " \t");
	if (*(*at)++ != '"')
		return false;
	while (**at && **at != '"') {
		char c = *(*at)++;
		const char *digits = *at + 1;
		uint64_t byte;

		if (c == '\\' && **at == 'x' && rd_take_hex(&digits, 2, &byte) == 0) {
			c = (char)byte;
			*at = digits;
		}
		if (n + 1 >= size || c == '\0')
			return false;
		ret[n++] = c;
	}
	ret[n] = '\0';
	return *(*at)++ == '"';
}

/* ---- the two formats */

static int add_node(struct parser *p, uint64_t guid, enum rd_node_kind kind, unsigned n_ports, const char *description)
{
	p->ports += n_ports;
	if (p->fabric.n_nodes >= RD_TOPOLOGY_NODES || p->ports > RD_TOPOLOGY_PORTS)
		return rd_err_set(p->err, EFBIG, p->name, "line %zu: more than %d nodes or %d ports", p->line,
				  RD_TOPOLOGY_NODES, RD_TOPOLOGY_PORTS);
	rd_fabric_add_node(&p->fabric, guid, kind, n_ports, description);
	p->node = p->fabric.n_nodes - 1;
	return 0;
}

/* node GUID switch|ca|router PORTS "description" */
static int own_node(struct parser *p, const char *at)
{
	char kind[8], description[DESCRIPTION_MAX + 1];
	unsigned n_ports;
	uint64_t guid;

	if (!take_hex(&at, &guid) || !take_word(&at, kind, sizeof(kind)) || !take_number(&at, PORT_MAX, &n_ports) ||
	    !take_quoted(&at, description, sizeof(description)) || at[strspn(at, " \t")])
		return bad(p, "expected: node GUID switch|ca|router PORTS \"description\"");
	for (unsigned k = RD_NODE_CA; k <= RD_NODE_ROUTER; k++)
		if (strcmp(rd_node_kind_name(k), kind) == 0)
			return add_node(p, guid, k, n_ports, description);
	return bad(p, "invalid type of node: expected switch, ca or router");
}

/* link GUID PORT GUID PORT RATE */
static int own_link(struct parser *p, const char *at)
{
	struct cable cable = { 0 };
	char rate[16];

	if (!take_hex(&at, &cable.guid) || !take_number(&at, PORT_MAX, &cable.port) ||
	    !take_hex(&at, &cable.peer_guid) || !take_number(&at, PORT_MAX, &cable.peer_port) ||
	    !take_word(&at, rate, sizeof(rate)) || at[strspn(at, " \t")])
		return bad(p, "expected: link GUID PORT GUID PORT RATE");
	take_rate(rate, &cable.width, &cable.speed);
	*RD_ADD(p->cables, p->n_cables, p->cap_cables) = cable;
	return 0;
}

static int own_line(struct parser *p, const char *at)
{
	char word[8];

	if (!take_word(&at, word, sizeof(word)))
		return *at ? bad(p, "expected a line that begins with node or link") : 0;
	if (word[0] == '#')
		return 0;
	if (strcmp(word, "node") == 0)
		return own_node(p, at);
	return strcmp(word, "link") == 0 ? own_link(p, at) : bad(p, "expected a line that begins with node or link");
}

/* "S-0008f10500200b50" */
static bool take_id(const char **at, uint64_t *guid)
{
	char id[64];
	const char *hex = id + 2;

	return take_quoted(at, id, sizeof(id)) && id[0] && id[1] == '-' && take_hex(&hex, guid) && *hex == '\0';
}

/* Switch	36 "S-0008f10500200b50"		# "description" base port 0 lid 9 lmc 0 */
static int net_node(struct parser *p, const char *at, enum rd_node_kind kind)
{
	char description[DESCRIPTION_MAX + 1] = "";
	unsigned n_ports;
	uint64_t guid;

	if (!take_number(&at, PORT_MAX, &n_ports) || !take_id(&at, &guid))
		return bad(p, "expected the number of ports and the GUID of a node");
	at = strchr(at, '#');
	if (at) {
		at++;
		if (!take_quoted(&at, description, sizeof(description)))
			return bad(p, "expected the description of a node in double quotes");
	}
	return add_node(p, guid, kind, n_ports, description);
}

/* [1](guid) 	"S-0008f10500108c5c"[15]		# lid 3 lmc 0 "description" lid 16 4xQDR */
static int net_port(struct parser *p, const char *at)
{
	struct cable cable = { 0 };
	const char *rate;

	if (p->node == RD_NONE)
		return bad(p, "port before any node");
	cable.guid = p->fabric.nodes[p->node].guid;
	at++;
	if (!take_number(&at, PORT_MAX, &cable.port) || *at++ != ']')
		return bad(p, "expected the number of a port in brackets");
	at += strcspn(at, "\"");
	if (!take_id(&at, &cable.peer_guid) || *at++ != '[' || !take_number(&at, PORT_MAX, &cable.peer_port) ||
	    *at != ']')
		return bad(p, "expected the GUID and port at the other end of the cable");
	rate = strrchr(at, ' ');
	if (rate)
		take_rate(rate + 1, &cable.width, &cable.speed);
	*RD_ADD(p->cables, p->n_cables, p->cap_cables) = cable;
	return 0;
}

static int net_line(struct parser *p, const char *at)
{
	static const struct {
		const char *word;
		enum rd_node_kind kind;
	} kinds[] = { { "Switch", RD_NODE_SWITCH }, { "Ca", RD_NODE_CA }, { "Rt", RD_NODE_ROUTER } };
	char word[32];

	if (*at == '[')
		return net_port(p, at);
	if (!take_word(&at, word, sizeof(word)))
		return 0;
	for (size_t i = 0; i < RD_ARRAY_SIZE(kinds); i++)
		if (strcmp(word, kinds[i].word) == 0)
			return net_node(p, at, kinds[i].kind);
	return 0; /* vendid=, devid=, chassis and comments */
}

/* ---- connecting nodes, ports and cables */

static int make_ports(struct parser *p)
{
	struct rd_fabric *fabric = &p->fabric;
	size_t n = fabric->n_nodes;

	rd_fabric_sort_nodes(fabric);
	if (fabric->n_nodes < n)
		return rd_err_set(p->err, EBADMSG, p->name, "%zu of %zu nodes are listed twice", n - fabric->n_nodes, n);
	for (size_t i = 0; i < n; i++)
		for (unsigned number = 1; number <= fabric->nodes[i].n_ports; number++) {
			struct rd_fabric_port *port = rd_fabric_add_port(fabric, fabric->nodes[i].guid, number);

			port->state = RD_LINK_DOWN;
			port->selected = fabric->nodes[i].kind == RD_NODE_SWITCH;
		}
	rd_fabric_index_ports(fabric);
	return 0;
}

static int connect_cable(struct parser *p, const struct cable *cable)
{
	struct rd_fabric *fabric = &p->fabric;
	size_t ends[2] = {
		rd_fabric_find_port(fabric, cable->guid, cable->port),
		rd_fabric_find_port(fabric, cable->peer_guid, cable->peer_port),
	};

	if (ends[0] == RD_NONE || ends[1] == RD_NONE || ends[0] == ends[1])
		return rd_err_set(p->err, EBADMSG, p->name,
				  "cable 0x%016" PRIx64 " port %u to 0x%016" PRIx64
				  " port %u: no such node or port, or both ends are the same",
				  cable->guid, cable->port, cable->peer_guid, cable->peer_port);
	for (int i = 0; i < 2; i++) {
		struct rd_fabric_port *port = &fabric->ports[ends[i]];

		if (port->peer != RD_NONE && port->peer != ends[1 - i])
			return rd_err_set(p->err, EBADMSG, p->name, "0x%016" PRIx64 " port %u has two cables",
					  fabric->nodes[port->node].guid, port->number);
		port->peer = ends[1 - i];
		port->state = RD_LINK_ACTIVE;
		port->selected = true;
		port->width_active = cable->width;
		port->speed_active = cable->speed;
	}
	return 0;
}

static int connect_cables(struct parser *p)
{
	int r = make_ports(p);

	for (size_t i = 0; !r && i < p->n_cables; i++)
		r = connect_cable(p, &p->cables[i]);
	return r;
}

int rd_topology_parse(const char *name, const char *text, size_t size, struct rd_fabric *ret, struct rd_err *err)
{
	struct parser p = { .name = name, .err = err, .node = RD_NONE, .fabric.self = RD_NONE };
	bool own = size >= strlen(RD_TOPOLOGY_MAGIC) && memcmp(text, RD_TOPOLOGY_MAGIC, strlen(RD_TOPOLOGY_MAGIC)) == 0;
	int r = 0;

	for (const char *at = text, *end = text + size; !r && at < end;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((stop ? stop : end) - at);
		char line[LINE_SIZE];

		p.line++;
		if (len > 0 && at[len - 1] == '\r')
			len--;
		if (len >= sizeof(line) || memchr(at, '\0', len)) {
			r = bad(&p, "longer than 2047 characters, or contains NUL");
			break;
		}
		memcpy(line, at, len);
		line[len] = '\0';
		r = own ? own_line(&p, line) : net_line(&p, line);
		at = stop ? stop + 1 : end;
	}
	if (!r && p.fabric.n_nodes == 0) {
		r = rd_err_set(err, EBADMSG, name, "contains no nodes");
		rd_err_hint(
			err,
			"write a topology with rdmadiag counters --fabric --save-topology FILE, or use the output of ibnetdiscover");
	}
	if (!r)
		r = connect_cables(&p);
	free(p.cables);
	if (r)
		rd_fabric_deinit(&p.fabric);
	else
		*ret = p.fabric;
	return r;
}

/* ---- writing */

void rd_topology_write(const struct rd_fabric *fabric, struct rd_buf *out)
{
	rd_buf_str(out, RD_TOPOLOGY_MAGIC "\n");
	for (size_t i = 0, p = 0; i < fabric->n_nodes; i++) {
		const struct rd_fabric_node *node = &fabric->nodes[i];
		bool there = false;
		const char *text;

		for (; p < fabric->n_ports && fabric->ports[p].node == i; p++)
			there |= fabric->ports[p].presence != RD_PORT_GONE;
		if (!there && node->n_ports > 0)
			continue;
		rd_buf_printf(out, "node 0x%016" PRIx64 " %s %u ", node->guid, rd_node_kind_name(node->kind),
			      node->n_ports);
		text = node->description;
		rd_buf_str(out, "\"");
		for (; *text; text++) {
			unsigned char c = (unsigned char)*text;

			if (c < ' ' || c > '~' || c == '"' || c == '\\')
				rd_buf_printf(out, "\\x%02x", c);
			else
				rd_buf_add(out, text, 1);
		}
		rd_buf_str(out, "\"");
		rd_buf_str(out, "\n");
	}
	for (size_t i = 0; i < fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &fabric->ports[i], *peer;
		const char *speed = rd_link_speed_name(port->speed_active);

		if (port->peer == RD_NONE || port->peer < i || port->presence == RD_PORT_GONE)
			continue;
		peer = &fabric->ports[port->peer];
		rd_buf_printf(out, "link 0x%016" PRIx64 " %u 0x%016" PRIx64 " %u ", fabric->nodes[port->node].guid,
			      port->number, fabric->nodes[peer->node].guid, peer->number);
		if (port->width_active && speed)
			rd_buf_printf(out, "%ux%s\n", port->width_active, speed);
		else
			rd_buf_str(out, "-\n");
	}
}
