// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/rdma/proc-peers.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "model/host/host.h"

static bool has(const struct rd_proc_peers *peers, const uint8_t ip[16])
{
	for (unsigned i = 0; i < peers->n; i++)
		if (memcmp(peers->ip[i], ip, 16) == 0)
			return true;
	return false;
}

void rd_proc_peers_merge(struct rd_proc_peers *to, const struct rd_proc_peers *from)
{
	bool left_out = false;

	for (unsigned i = 0; i < from->n; i++) {
		if (has(to, from->ip[i]))
			continue;
		if (to->n < RD_PROC_PEERS)
			memcpy(to->ip[to->n++], from->ip[i], 16);
		else
			left_out = true;
	}
	/* Those left out of several lists may be the same ones. */
	to->at_least |= from->at_least || left_out || (from->more && to->more);
	if (from->more > to->more)
		to->more = from->more;
	if (left_out && !to->more)
		to->more = 1;
}

char *rd_proc_peers_text(const struct rd_proc_peers *peers)
{
	_cleanup_buf_ struct rd_buf out = { 0 };

	rd_buf_str(&out, "");
	for (unsigned i = 0; i < peers->n; i++) {
		struct rd_gid gid;
		char text[48];

		memcpy(gid.raw, peers->ip[i], sizeof(gid.raw));
		rd_gid_ip(&gid, text);
		rd_buf_printf(&out, "%s%s", i ? "," : "", text);
	}
	if (peers->more)
		rd_buf_printf(&out, " +%" PRIu64 "%s", peers->more, peers->at_least ? " or more" : "");
	return RD_TAKE(out.data);
}
