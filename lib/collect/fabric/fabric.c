/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ports of this host, a network as the walk found it, and names of its nodes. */
#include "collect/fabric/fabric.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "collect/fabric/walk.h"
#include "source/shared/libibmad.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NAME_MAX_BYTES 128
#define PORTS_OF_NODE_MAX 255

/* "mlx5_0 1 0c42a103008b1c3e 0c42a103008b1c3e 12 0 1 4 5 200 InfiniBand": the format of rd_mad_ports. */
static bool parse_mad_port(char *line, struct rd_mad_port *ret)
{
	unsigned *const numbers[] = { &ret->lid,      &ret->lmc, &ret->sm_lid, &ret->state, &ret->physical_state,
				      &ret->rate_gbps };
	char *words[11] = { 0 };

	*ret = (struct rd_mad_port){ 0 };
	if (rd_words(&line, words, 11) < 10 || strlen(words[0]) >= sizeof(ret->ibdev) ||
	    rd_parse_u32(words[1], RD_DECIMAL, UINT32_MAX, &ret->port) < 0 ||
	    rd_parse_uint(words[2], RD_HEX, UINT64_MAX, &ret->node_guid) < 0 ||
	    rd_parse_uint(words[3], RD_HEX, UINT64_MAX, &ret->port_guid) < 0)
		return false;
	for (size_t i = 0; i < RD_ARRAY_SIZE(numbers); i++)
		if (rd_parse_u32(words[4 + i], RD_DECIMAL, UINT32_MAX, numbers[i]) < 0)
			return false;
	snprintf(ret->ibdev, sizeof(ret->ibdev), "%s", words[0]);
	snprintf(ret->link_layer, sizeof(ret->link_layer), "%s", words[10] ? words[10] : "");
	return true;
}

int rd_collect_mad_ports(struct rd_source *src, struct rd_mad_port **ret, size_t *n, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	_cleanup_free_ struct rd_mad_port *ports = NULL;
	size_t cap = 0, count = 0;
	char *at, *line;
	int r = rd_mad_ports(src, &bytes, err);

	if (r < 0)
		return r;
	at = (char *)bytes.data;
	while ((line = strsep(&at, "\n"))) {
		struct rd_mad_port port;

		if (parse_mad_port(line, &port))
			*RD_ADD(ports, count, cap) = port;
	}
	if (!count)
		return rd_err_set(err, ENODEV, "MAD ports", "none on this host");
	*ret = RD_TAKE(ports);
	*n = count;
	return 0;
}

static unsigned lanes_of_width(unsigned width)
{
	static const struct {
		unsigned bit, lanes;
	} widths[] = { { 1, 1 }, { 2, 4 }, { 4, 8 }, { 8, 12 }, { 16, 2 } };

	for (size_t i = 0; i < RD_ARRAY_SIZE(widths); i++)
		if (widths[i].bit == width)
			return widths[i].lanes;
	return 0;
}

/* LinkSpeed (1, 2, 4: SDR, DDR, QDR) and LinkSpeedExt (1, 2, 4, 8: FDR to NDR) as one mask of 1 << enum rd_link_speed. */
static unsigned speed_mask(unsigned plain, unsigned extended, bool fdr10)
{
	unsigned mask = (plain & 7) << RD_SPEED_SDR | (extended & 15) << RD_SPEED_FDR;

	/* All ones: whatever the hardware supports. */
	if (plain == 15)
		mask |= 7 << RD_SPEED_SDR;
	return mask | (unsigned)fdr10 << RD_SPEED_FDR10;
}

static unsigned fastest(unsigned mask)
{
	unsigned speed = RD_SPEED_UNKNOWN;

	for (unsigned i = 1; i < RD_SPEEDS; i++)
		if (mask >> i & 1)
			speed = i;
	return speed;
}

static void decode_link(struct rd_walk_port *from, struct rd_fabric_port *port)
{
	const uint8_t *info = from->info, *more = from->extended;

	port->state = rd_mad_field(info, IB_PORT_STATE_F);
	port->physical_state = rd_mad_field(info, IB_PORT_PHYS_STATE_F);
	port->width_active = lanes_of_width(rd_mad_field(info, IB_PORT_LINK_WIDTH_ACTIVE_F));
	port->width_enabled = rd_mad_field(info, IB_PORT_LINK_WIDTH_ENABLED_F);
	port->width_supported = rd_mad_field(info, IB_PORT_LINK_WIDTH_SUPPORTED_F);
	port->speed_supported = speed_mask(rd_mad_field(info, IB_PORT_LINK_SPEED_SUPPORTED_F),
					   rd_mad_field(info, IB_PORT_LINK_SPEED_EXT_SUPPORTED_F),
					   rd_mad_field(more, IB_MLNX_EXT_PORT_LINK_SPEED_SUPPORTED_F) & 1);
	port->speed_enabled = speed_mask(rd_mad_field(info, IB_PORT_LINK_SPEED_ENABLED_F),
					 rd_mad_field(info, IB_PORT_LINK_SPEED_EXT_ENABLED_F),
					 rd_mad_field(more, IB_MLNX_EXT_PORT_LINK_SPEED_ENABLED_F) & 1);
	port->speed_active = fastest(speed_mask(rd_mad_field(info, IB_PORT_LINK_SPEED_ACTIVE_F),
						rd_mad_field(info, IB_PORT_LINK_SPEED_EXT_ACTIVE_F),
						rd_mad_field(more, IB_MLNX_EXT_PORT_LINK_SPEED_ACTIVE_F) & 1));
	/* Without a link the active fields are not valid. */
	if (port->state <= RD_LINK_DOWN)
		port->width_active = port->speed_active = 0;
}

int rd_collect_fabric(struct rd_mads *mads, const struct rd_mad_port *from, const struct rd_sweep_limits *limits,
		      uint64_t attributes, struct rd_fabric *fabric, struct rd_err *err)
{
	_cleanup_(rd_walk_deinit) struct rd_walk walk = { 0 };
	int r = rd_walk_run(mads, limits, &walk, err);

	*fabric = (struct rd_fabric){ .port = from->port, .sm_lid = (uint16_t)from->sm_lid, .self = RD_NONE };
	if (r < 0)
		return r;
	snprintf(fabric->ibdev, sizeof(fabric->ibdev), "%s", from->ibdev);
	fabric->attributes = attributes;
	fabric->n_values = rd_pma_n_values(attributes);
	fabric->discovered_ns = mads->ops->now(mads);
	for (size_t k = 0; k < walk.n; k++) {
		struct rd_walk_node *seen = walk.nodes[k];
		char description[RD_SMP_DATA + 1] = "";
		struct rd_fabric_node *node;

		memcpy(description, seen->description, RD_SMP_DATA);
		node = rd_fabric_add_node(fabric, seen->guid, seen->kind,
					  seen->n_ports < PORTS_OF_NODE_MAX ? seen->n_ports : PORTS_OF_NODE_MAX,
					  description);
		node->reported_guid = seen->reported_guid;
		node->system_guid = rd_mad_field64(seen->info, IB_NODE_SYSTEM_GUID_F);
		node->vendor = rd_mad_field(seen->info, IB_NODE_VENDORID_F);
		node->device = rd_mad_field(seen->info, IB_NODE_DEVID_F);
		node->unread = (unsigned)seen->description_lost + seen->switch_info_lost;
		for (unsigned p = 0; p <= seen->n_ports; p++)
			node->unread += seen->ports[p].lost;
	}
	rd_fabric_sort_nodes(fabric);
	for (size_t i = 0; i < walk.n; i++) {
		struct rd_walk_node *node = walk.nodes[i];
		bool in_switch = node->kind == RD_NODE_SWITCH;
		bool enhanced = in_switch && rd_mad_field(node->switch_info, IB_SW_ENHANCED_PORT0_F);

		/* The ports of a switch share the LID of port 0, and port 0 has counters only if it is enhanced. */
		for (unsigned p = in_switch && !enhanced; p <= node->n_ports && p < PORTS_OF_NODE_MAX; p++) {
			struct rd_walk_port *seen = &node->ports[p], *manager = in_switch ? &node->ports[0] : seen;
			struct rd_fabric_port *port;

			if (!seen->known && !seen->peer && !(in_switch && seen->lost))
				continue;
			port = rd_fabric_add_port(fabric, node->guid, p);
			port->guid = seen->guid;
			port->lid = (uint16_t)rd_mad_field(manager->info, IB_PORT_LID_F);
			port->lmc = (uint8_t)rd_mad_field(manager->info, IB_PORT_LMC_F);
			port->selected = port->lid >= IB_MIN_UCAST_LID && port->lid <= IB_MAX_UCAST_LID;
			port->unread = !seen->known;
			port->peer_unreached = seen->peer_unreached;
			decode_link(seen, port);
		}
	}
	rd_fabric_sort_ports(fabric);
	for (size_t i = 0; i < walk.n; i++) {
		const struct rd_walk_node *node = walk.nodes[i];

		for (unsigned k = 0; k <= node->n_ports; k++) {
			const struct rd_walk_port *port = &node->ports[k];
			size_t here = rd_fabric_find_port(fabric, node->guid, k), there;

			if (here == RD_NONE || !port->peer)
				continue;
			there = rd_fabric_find_port(fabric, port->peer->guid, port->peer_port);
			if (there != here)
				fabric->ports[here].peer = there;
		}
	}
	fabric->self = rd_fabric_find_port(fabric, walk.nodes[0]->guid, walk.self_port);
	fabric->discovery_ns = walk.duration_ns;
	fabric->walk = walk.stats;
	return 0;
}

/* One line: 0x0002c9030061b0f0 "leaf 7" # comment. 0, or -EINVAL if it is invalid. */
static int name_node(struct rd_fabric *fabric, char *line)
{
	const char *at = rd_trim(line), *name, *close;
	uint64_t guid;
	size_t node;

	if (!*at || *at == '#')
		return 0;
	if (rd_take_uint(&at, RD_HEX, UINT64_MAX, &guid) < 0 || (*at != ' ' && *at != '\t'))
		return -EINVAL;
	name = at + strspn(at, " \t");
	close = *name == '"' ? strchr(name + 1, '"') : NULL;
	if (!close || close == name + 1 || close - name > NAME_MAX_BYTES)
		return -EINVAL;
	node = rd_fabric_find_node(fabric, guid);
	if (node == RD_NONE)
		return 0;
	free(fabric->nodes[node].name);
	fabric->nodes[node].name = rd_dup_part(name + 1, (size_t)(close - name - 1));
	return 0;
}

void rd_fabric_name_nodes(struct rd_fabric *fabric, const char *text, size_t *ret_bad)
{
	_cleanup_free_ char *copy = rd_dup(text);
	char *at = copy, *line;

	*ret_bad = 0;
	while (at && (line = strsep(&at, "\n")))
		*ret_bad += name_node(fabric, line) < 0;
}
