/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What NodeInfo shows about a device, and cables between devices. */
#include "collect/fabric/walk.h"

#include "source/shared/libibmad.h"

#include <string.h>

/* Whether two NodeInfo can be of one device, whichever port they were received at: type, GUIDs, DeviceID, Revision, VendorID. */
bool rd_walk_is_same_device(const uint8_t *a, const uint8_t *b)
{
	return memcmp(a + 2, b + 2, 18) == 0 && memcmp(a + 30, b + 30, 6) == 0 && memcmp(a + 37, b + 37, 3) == 0;
}

/* SwitchX, ConnectX-3 and later devices report FDR10 only in a vendor-specific attribute: PortInfo shows QDR. Bull sells them
 * under its own vendor and device IDs. Other devices would reject the query or, worse, not respond. */
bool rd_walk_has_extended_port_info(struct rd_walk_node *node)
{
	static const struct {
		unsigned vendor, first, last; /* vendor 0: any */
	} devices[] = {
		{ 0, 0x1003, 0x101b }, { 0, 0xa2d2, 0xa2d2 }, { 0, 0xc738, 0xc73b }, { 0, 0xc839, 0xc839 },
		{ 0, 0xcb20, 0xcb20 }, { 0, 0xcf08, 0xcf09 }, { 0, 0xd2f0, 0xd2f0 }, { 0x119f, 0x1b02, 0x1bf0 },
	};
	unsigned vendor = rd_libibmad.mad_get_field(node->info, 0, IB_NODE_VENDORID_F);
	unsigned device = rd_libibmad.mad_get_field(node->info, 0, IB_NODE_DEVID_F);

	for (size_t i = 0; i < RD_ARRAY_SIZE(devices); i++)
		if ((!devices[i].vendor || devices[i].vendor == vendor) && device >= devices[i].first &&
		    device <= devices[i].last)
			return true;
	return false;
}

static void unlink_port(struct rd_walk_port *port)
{
	if (port->peer)
		port->peer->ports[port->peer_port].peer = NULL;
	port->peer = NULL;
}

void rd_walk_link_ports(struct rd_walk_node *a, unsigned port_a, struct rd_walk_node *b, unsigned port_b)
{
	unlink_port(&a->ports[port_a]);
	unlink_port(&b->ports[port_b]);
	a->ports[port_a].peer = b;
	a->ports[port_a].peer_port = port_b;
	b->ports[port_b].peer = a;
	b->ports[port_b].peer_port = port_a;
	a->ports[port_a].peer_unreached = b->ports[port_b].peer_unreached = false;
}
