/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/fabric/share.h"

#include <stdlib.h>

const char *const rd_share_columns[RD_SHARE_COLUMNS] = {
	[RD_SHARE_TIME] = "time",
	[RD_SHARE_HOST] = "host",
	[RD_SHARE_INDEX] = "share",
	[RD_SHARE_OF] = "shares",
	[RD_SHARE_TOPOLOGY] = "topology",
	[RD_SHARE_ALL_PORTS] = "all_ports",
	[RD_SHARE_LOOK_PORTS] = "look_ports",
	[RD_SHARE_LOOK_FRESH] = "look_fresh",
	[RD_SHARE_GUID] = "node_guid",
	[RD_SHARE_PORT] = "port",
	[RD_SHARE_NODE] = "node",
	[RD_SHARE_KIND] = "kind",
	[RD_SHARE_LID] = "lid",
	[RD_SHARE_STATE] = "state",
	[RD_SHARE_LINK] = "link",
	[RD_SHARE_PEER_GUID] = "peer_guid",
	[RD_SHARE_PEER_PORT] = "peer_port",
	[RD_SHARE_FRESH] = "fresh",
	[RD_SHARE_AGE] = "age_seconds",
	[RD_SHARE_ERROR] = "error",
	[RD_SHARE_SATURATED] = "saturated",
};

void rd_share_files_deinit(struct rd_share_files *files)
{
	for (size_t i = 0; i < files->n; i++)
		rd_findings_deinit(&files->v[i].findings);
	RD_FREE(files->v, files->rows, files->seen);
	rd_texts_deinit(&files->texts);
	*files = (struct rd_share_files){ 0 };
}
