/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/nicmap/library-rules.h"

#include <string.h>

#include "base/base.h"

const struct rd_library_rules rd_library_rules[] = {
	{ "nccl", "2.30.7 (5067397c)", "src/graph, src/transport/net_ib" },
	{ "nvshmem", "3.5.1.1 (2d7d25f)", "src/host/topo" },
	{ "ucx", "1.23 development version (9466d104a3)", "src/ucs/sys/topo, src/uct/ib/base, src/ucp/core" },
	{ "nixl", "1.4.0 development version (8770b655a)", "src/plugins/ucx, src/utils/libfabric" },
	{ "mooncake", "0.3.12.post1 plus 245 commits (3b5a59413)", "mooncake-transfer-engine/src" },
	{ "libfabric", "2.7.0 development version (af8ddbe92)", "src/fabric.c, prov/verbs, prov/efa" },
};
const size_t rd_n_library_rules = RD_ARRAY_SIZE(rd_library_rules);

const char *rd_library_release(const char *library)
{
	for (size_t i = 0; i < rd_n_library_rules; i++)
		if (strcmp(rd_library_rules[i].library, library) == 0)
			return rd_library_rules[i].release;
	return NULL;
}
