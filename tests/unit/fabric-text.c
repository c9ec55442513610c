/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric-text.h"

#include <inttypes.h>

#include "collect/fabric/fabric.h"
#include "unit.h"

void fabric_from_text(const char *text, struct rd_fabric *ret)
{
	struct rd_err err = { 0 };

	if (rd_topology_parse("test", text, strlen(text), ret, &err) < 0)
		fail_msg("%s: %s", err.object, err.message);
}

void fabric_from_tree(unsigned leaves, unsigned spines, unsigned down, struct rd_fabric *ret)
{
	_cleanup_buf_ struct rd_buf text = { 0 };

	rd_buf_str(&text, RD_TOPOLOGY_MAGIC "\n");
	for (unsigned s = 0; s < spines; s++)
		rd_buf_printf(&text, "node 0x%x switch %u \"spine%u\"\n", 0x10000 + s, leaves, s);
	for (unsigned l = 0; l < leaves; l++) {
		rd_buf_printf(&text, "node 0x%x switch %u \"leaf%u\"\n", 0x20000 + l, down + spines, l);
		for (unsigned s = 0; s < spines; s++)
			rd_buf_printf(&text, "link 0x%x %u 0x%x %u 4xHDR\n", 0x20000 + l, down + s + 1, 0x10000 + s,
				      l + 1);
		for (unsigned h = 0; h < down; h++) {
			unsigned guid = 0x1000000 + l * 256 + h;

			rd_buf_printf(&text, "node 0x%x ca 1 \"host%u-%u HCA-1\"\n", guid, l, h);
			rd_buf_printf(&text, "link 0x%x %u 0x%x 1 4xHDR\n", 0x20000 + l, h + 1, guid);
		}
	}
	fabric_from_text(text.data, ret);
}

size_t fabric_port_at(const struct rd_fabric *fabric, uint64_t guid, unsigned number)
{
	size_t port = rd_fabric_find_port(fabric, guid, number);

	if (port == RD_NONE)
		fail_msg("no port %u at 0x%" PRIx64, number, guid);
	return port;
}
