// SPDX-License-Identifier: GPL-2.0-or-later
/* Redaction of the BPF maps of recorders of queue pairs, which hold the addresses of peers. */
#include <linux/types.h>
#include <stddef.h>
#include <string.h>

#include "bpf/qp.h"
#include "source/redact/redact.h"
#include "source/shared/source.h"

void rd_redact_qps(struct rd_redact *redact, const uint8_t *data, size_t size, struct rd_buf *out)
{
	const size_t key = sizeof(struct rd_qp_key), one = key + sizeof(struct rd_qp_value);

	for (size_t at = 0; size - at >= sizeof(struct rd_source_map);) {
		struct rd_source_map map;
		size_t left;

		memcpy(&map, data + at, sizeof(map));
		at += sizeof(map);
		left = (size - at) / one;
		/* Of another layout: it is unknown what identifies hosts. */
		if (map.key_size != key || map.value_size != one - key || map.entries > left)
			return;
		rd_buf_add(out, &map, sizeof(map));
		for (uint32_t i = 0; i < map.entries; i++, at += one) {
			struct rd_qp_value value;

			memcpy(&value, data + at + key, sizeof(value));
			rd_redact_ip6(redact, value.dgid);
			rd_buf_add(out, data + at, key);
			rd_buf_add(out, &value, sizeof(value));
		}
	}
}
