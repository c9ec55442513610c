/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes are what netlink answered: redacted, freed of keys, and collected from. */
#include "answerer.h"
#include "tests/source-parts.h"

#include "collect/net/netstate.h"
#include "collect/snapshot/snapshot.h"
#include "source/redact/redact.h"
#include "source/shared/redaction.h"

#include <linux/netlink.h>

static const struct source_parts ops = { .ops.get = parts_get, .ops.name = "live", .netlink = answer };

void fuzz_one(const uint8_t *data, size_t size)
{
	static const char *const protocols[] = { "route", "rdma", "generic", "12" };
	struct answerer answerer = { { &ops.ops }, data, size };

	for (size_t i = 0; i < RD_ARRAY_SIZE(protocols); i++) {
		_cleanup_(rd_redact_deinit) struct rd_redact redact = { 0 };
		_cleanup_bytes_ struct rd_bytes bytes = { 0 };

		if (rd_bytes_copy(data, size, &bytes) < 0)
			return;
		rd_redact_messages(&redact, protocols[i], bytes.data, bytes.size);
		rd_scrub_messages(NETLINK_RDMA, &bytes);
	}
	/* Collectors are given sound messages only. */
	if (rd_nlmsgs_sound(data, size)) {
		struct rd_netstate net = { 0 };
		struct rd_host host = { 0 };
		struct rd_facts facts = { 0 };

		rd_collect_netstate(&answerer.src, &host, &net, NULL);
		rd_snapshot_net(&net, &facts);
		rd_netstate_deinit(&net);
		rd_facts_deinit(&facts);
	}
}
