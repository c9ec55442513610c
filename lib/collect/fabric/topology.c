/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Topology files: parsing, also of ibnetdiscover's output, and writing. */
#include "collect/fabric/fabric.h"

#define PORT_MAX 254
#define DESCRIPTION_MAX 255
#define WIDTH_MAX 12
#define LINE_SIZE 2048 /* enough for a description with all bytes escaped */

/* What rd_topology_read returns: the counts, then the nodes in the order of the file, then the cables. */
struct counts {
	uint64_t nodes, cables;
};

struct node {
	uint64_t guid;
	unsigned kind, n_ports;
	char description[DESCRIPTION_MAX + 1];
};

struct cable {
	uint64_t guid, peer_guid;
	unsigned port, peer_port, width, speed;
};

struct parser {
	const char *name;
	struct rd_err *err;
	size_t line;
	struct node *nodes; /* ibnetdiscover: ports belong to the last one */
	size_t n_nodes, cap_nodes;
	size_t ports; /* of all nodes */
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

	if (take_number(&at, WIDTH_MAX, width) && *at++ == 'x')
		*speed = rd_fabric_number_of(rd_link_speed_name, RD_SPEEDS - 1, at);
	else
		*width = 0;
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
	struct node *node;

	p->ports += n_ports;
	if (p->n_nodes >= RD_TOPOLOGY_NODES || p->ports > RD_TOPOLOGY_PORTS)
		return rd_err_set(p->err, EFBIG, p->name, "line %zu: more than %d nodes or %d ports", p->line,
				  RD_TOPOLOGY_NODES, RD_TOPOLOGY_PORTS);
	node = RD_ADD(p->nodes, p->n_nodes, p->cap_nodes);
	*node = (struct node){ .guid = guid, .kind = kind, .n_ports = n_ports };
	snprintf(node->description, sizeof(node->description), "%s", description);
	return 0;
}

/* node GUID switch|ca|router PORTS "description" */
static int own_node(struct parser *p, const char *at)
{
	char word[8], description[DESCRIPTION_MAX + 1];
	unsigned n_ports, kind;
	uint64_t guid;

	if (!take_hex(&at, &guid) || !take_word(&at, word, sizeof(word)) || !take_number(&at, PORT_MAX, &n_ports) ||
	    !take_quoted(&at, description, sizeof(description)) || at[strspn(at, " \t")])
		return bad(p, "expected: node GUID switch|ca|router PORTS \"description\"");
	kind = rd_fabric_number_of(rd_node_kind_name, RD_NODE_ROUTER, word);
	return kind ? add_node(p, guid, kind, n_ports, description) :
		      bad(p, "invalid type of node: expected switch, ca or router");
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

	if (p->n_nodes == 0)
		return bad(p, "port before any node");
	cable.guid = p->nodes[p->n_nodes - 1].guid;
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

static int read_lines(struct parser *p, const char *text, size_t size)
{
	bool own = size >= strlen(RD_TOPOLOGY_MAGIC) && memcmp(text, RD_TOPOLOGY_MAGIC, strlen(RD_TOPOLOGY_MAGIC)) == 0;
	int r = 0;

	for (const char *at = text, *end = text + size; !r && at < end;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((stop ? stop : end) - at);
		char line[LINE_SIZE];

		p->line++;
		if (len > 0 && at[len - 1] == '\r')
			len--;
		if (len >= sizeof(line) || memchr(at, '\0', len))
			return bad(p, "longer than 2047 characters, or contains NUL");
		memcpy(line, at, len);
		line[len] = '\0';
		r = own ? own_line(p, line) : net_line(p, line);
		at = stop ? stop + 1 : end;
	}
	if (r || p->n_nodes > 0)
		return r;
	rd_err_set(p->err, EBADMSG, p->name, "contains no nodes");
	return rd_err_hint(
		p->err,
		"write a topology with rdmadiag counters --fabric --save-topology FILE, or use the output of ibnetdiscover");
}

int rd_topology_read(const char *name, const char *text, size_t size, struct rd_bytes *ret, struct rd_err *err)
{
	struct parser p = { .name = name, .err = err };
	int r = read_lines(&p, text, size);
	const struct counts counts = { p.n_nodes, p.n_cables };
	size_t nodes = p.n_nodes * sizeof(*p.nodes), cables = p.n_cables * sizeof(*p.cables);

	if (!r) {
		*ret = (struct rd_bytes){ rd_alloc(1, sizeof(counts) + nodes + cables + 1),
					  sizeof(counts) + nodes + cables };
		memcpy(ret->data, &counts, sizeof(counts));
		memcpy(ret->data + sizeof(counts), p.nodes, nodes);
		if (cables)
			memcpy(ret->data + sizeof(counts) + nodes, p.cables, cables);
	}
	RD_FREE(p.nodes, p.cables);
	return r;
}

/* ---- connecting nodes, ports and cables */

/* Whether these numbers could come from rd_topology_read: another process wrote them, which may be under the control of the file. */
static bool is_sound(const struct counts *counts, const struct node *nodes, const struct cable *cables)
{
	size_t ports = 0;

	for (size_t i = 0; i < counts->nodes; i++) {
		if (nodes[i].kind < RD_NODE_CA || nodes[i].kind > RD_NODE_ROUTER || nodes[i].n_ports > PORT_MAX ||
		    !memchr(nodes[i].description, '\0', sizeof(nodes[i].description)))
			return false;
		ports += nodes[i].n_ports;
	}
	for (size_t i = 0; i < counts->cables; i++)
		if (cables[i].port > PORT_MAX || cables[i].peer_port > PORT_MAX || cables[i].width > WIDTH_MAX ||
		    cables[i].speed >= RD_SPEEDS)
			return false;
	return ports <= RD_TOPOLOGY_PORTS;
}

static int make_ports(const char *name, const struct node *nodes, size_t n, struct rd_fabric *fabric, struct rd_err *err)
{
	for (size_t i = 0; i < n; i++)
		rd_fabric_add_node(fabric, nodes[i].guid, nodes[i].kind, nodes[i].n_ports, nodes[i].description);
	rd_fabric_sort_nodes(fabric);
	if (fabric->n_nodes < n)
		return rd_err_set(err, EBADMSG, name, "%zu of %zu nodes are listed twice", n - fabric->n_nodes, n);
	for (size_t i = 0; i < n; i++)
		for (unsigned number = 1; number <= fabric->nodes[i].n_ports; number++) {
			struct rd_fabric_port *port = rd_fabric_add_port(fabric, fabric->nodes[i].guid, number);

			port->state = RD_LINK_DOWN;
			port->selected = fabric->nodes[i].kind == RD_NODE_SWITCH;
		}
	rd_fabric_index_ports(fabric);
	return 0;
}

static int connect_cable(const char *name, const struct cable *cable, struct rd_fabric *fabric, struct rd_err *err)
{
	size_t ends[2] = {
		rd_fabric_find_port(fabric, cable->guid, cable->port),
		rd_fabric_find_port(fabric, cable->peer_guid, cable->peer_port),
	};

	if (ends[0] == RD_NONE || ends[1] == RD_NONE || ends[0] == ends[1])
		return rd_err_set(err, EBADMSG, name,
				  "cable 0x%016" PRIx64 " port %u to 0x%016" PRIx64
				  " port %u: no such node or port, or both ends are the same",
				  cable->guid, cable->port, cable->peer_guid, cable->peer_port);
	for (int i = 0; i < 2; i++) {
		struct rd_fabric_port *port = &fabric->ports[ends[i]];

		if (port->peer != RD_NONE && port->peer != ends[1 - i])
			return rd_err_set(err, EBADMSG, name, "0x%016" PRIx64 " port %u has two cables",
					  fabric->nodes[port->node].guid, port->number);
		port->peer = ends[1 - i];
		port->state = RD_LINK_ACTIVE;
		port->selected = true;
		port->width_active = cable->width;
		port->speed_active = cable->speed;
	}
	return 0;
}

int rd_topology_build(const char *name, const struct rd_bytes *read, struct rd_fabric *ret, struct rd_err *err)
{
	struct rd_fabric fabric = { .self = RD_NONE };
	struct counts counts = { 0 };
	const struct cable *cables;
	const struct node *nodes;
	int r;

	if (read->size >= sizeof(counts))
		memcpy(&counts, read->data, sizeof(counts));
	nodes = (const struct node *)(read->data + sizeof(counts));
	cables = (const struct cable *)(nodes + (counts.nodes <= RD_TOPOLOGY_NODES ? counts.nodes : 0));
	if (counts.nodes < 1 || counts.nodes > RD_TOPOLOGY_NODES || counts.cables > SIZE_MAX / sizeof(*cables) ||
	    read->size != sizeof(counts) + counts.nodes * sizeof(*nodes) + counts.cables * sizeof(*cables) ||
	    !is_sound(&counts, nodes, cables))
		return rd_err_set(err, EBADMSG, name, "the process that parsed it did not return a topology");
	r = make_ports(name, nodes, counts.nodes, &fabric, err);
	for (size_t i = 0; i < counts.cables && !r; i++)
		r = connect_cable(name, &cables[i], &fabric, err);
	if (r)
		rd_fabric_deinit(&fabric);
	else
		*ret = fabric;
	return r;
}

int rd_topology_parse(const char *name, const char *text, size_t size, struct rd_fabric *ret, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes read = { 0 };
	int r = rd_topology_read(name, text, size, &read, err);

	return r < 0 ? r : rd_topology_build(name, &read, ret, err);
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
