// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/qp/udp-sport.h"

#define FLOW_LABEL_MASK 0xfffffu /* 20 bits */
#define PORT_LOW 0x3fffu	 /* bits that the lower bits of the label set */
#define PORT_LEAST 0xc000u	 /* start of the ephemeral ports */

uint32_t rd_flow_label_of_qps(uint32_t lqpn, uint32_t rqpn)
{
	uint64_t v = (uint64_t)lqpn * rqpn;

	v ^= v >> 20;
	v ^= v >> 40;
	return (uint32_t)(v & FLOW_LABEL_MASK);
}

uint16_t rd_udp_sport(uint32_t flow_label, uint32_t lqpn, uint32_t rqpn)
{
	uint32_t label = flow_label ? flow_label & FLOW_LABEL_MASK : rd_flow_label_of_qps(lqpn, rqpn);

	return (uint16_t)(((label & PORT_LOW) ^ (label >> 14)) | PORT_LEAST);
}

void rd_qp_seen_add_sport(struct rd_qp_seen *seen, uint32_t lqpn, bool has_lid)
{
	if (seen->flow_label.known == RD_OK && seen->dest_qpn.known == RD_OK && !has_lid)
		RD_SET(seen->udp_sport, rd_udp_sport(seen->flow_label.v, lqpn, seen->dest_qpn.v));
}
