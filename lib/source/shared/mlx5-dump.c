/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/shared/mlx5-dump.h"

#define WORD 4		     /* lengths of segments are in words */
#define HEADER 4	     /* of a segment: length and type, 16 bits each */
#define RESOURCE_HEADER 16   /* of a segment about an object: header, reserved, two indices */
#define INDEX_AT 8	     /* the first index: the number of the queue pair */
#define RESOURCES_END 0xff00 /* types from here on are not about objects: info, command, error, terminate … */
#define TERMINATE 0xfffb
#define REPLY_HEADER 24 /* of the reply to QUERY_QP: status, syndrome, reserved, opt_param_mask, ece */
#define REPLY_ZEROS 16	/* status and syndrome of a command that succeeded, and reserved bytes */

/* First bit, from the most significant one of the first byte, and number of bits. */
struct field {
	uint16_t at, bits;
};

#define PATH 0xc0 /* primary_address_path */

static const struct field fields[RD_MLX5_QPC_FIELDS] = {
	[RD_MLX5_STATE] = { 0x0, 4 },
	[RD_MLX5_ST] = { 0x8, 8 },
	[RD_MLX5_MTU] = { 0x40, 3 },
	[RD_MLX5_REMOTE_QPN] = { 0xa8, 24 },
	[RD_MLX5_RETRY_COUNT] = { 0x38d, 3 },
	[RD_MLX5_RNR_RETRY] = { 0x390, 3 },
	[RD_MLX5_CUR_RNR_RETRY] = { 0x395, 3 },
	[RD_MLX5_CUR_RETRY_COUNT] = { 0x398, 3 },
	[RD_MLX5_NEXT_SEND_PSN] = { 0x3c8, 24 },
	[RD_MLX5_LAST_ACKED_PSN] = { 0x448, 24 },
	[RD_MLX5_MIN_RNR_NAK] = { 0x4a3, 5 },
	[RD_MLX5_NEXT_RCV_PSN] = { 0x4a8, 24 },
	[RD_MLX5_GRH] = { PATH + 0x28, 1 },
	[RD_MLX5_RLID] = { PATH + 0x30, 16 },
	[RD_MLX5_ACK_TIMEOUT] = { PATH + 0x40, 5 },
	[RD_MLX5_SRC_ADDR_INDEX] = { PATH + 0x48, 8 },
	[RD_MLX5_HOP_LIMIT] = { PATH + 0x58, 8 },
	[RD_MLX5_TCLASS] = { PATH + 0x64, 8 },
	[RD_MLX5_FLOW_LABEL] = { PATH + 0x6c, 20 },
	[RD_MLX5_UDP_SPORT] = { PATH + 0x110, 16 },
	[RD_MLX5_SL] = { PATH + 0x124, 4 },
};

static uint32_t take_bits(const uint8_t *data, size_t at, size_t bits)
{
	uint32_t value = 0;

	for (size_t bit = at; bit < at + bits; bit++)
		value = value << 1 | (data[bit / 8] >> (7 - bit % 8) & 1u);
	return value;
}

uint32_t rd_mlx5_get(const uint8_t *qpc, enum rd_mlx5_qpc_field field)
{
	return take_bits(qpc, fields[field].at, fields[field].bits);
}

static bool is_zero(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (data[i])
			return false;
	return true;
}

/*
 * What comes first in the segment is not published: the context, or the header of the reply. A context that begins with so many
 * zeros would have no protection domain, path MTU and doorbell page.
 */
static size_t place_in_segment(const uint8_t *segment, size_t size)
{
	size_t at = RESOURCE_HEADER;

	if (size >= at + REPLY_HEADER && is_zero(segment + at, REPLY_ZEROS))
		at += REPLY_HEADER;
	return size >= at + RD_MLX5_QPC_USED ? at : 0;
}

size_t rd_mlx5_find_qpc(const uint8_t *dump, size_t size, uint32_t *qpn)
{
	for (size_t at = 0; size - at >= HEADER;) {
		size_t length = take_bits(dump + at, 0, 16) * WORD;
		uint32_t type = take_bits(dump + at, 16, 16);

		if (length < HEADER || length > size - at || type == TERMINATE)
			return 0;
		if (type < RESOURCES_END && length >= RESOURCE_HEADER) {
			size_t place = place_in_segment(dump + at, length);

			*qpn = take_bits(dump + at + INDEX_AT, 0, 32);
			return place ? at + place : 0;
		}
		at += length;
	}
	return 0;
}
