/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An NCCL topology file, and all that is concluded from it. */
#include "fuzz.h"

#include "analyse/nccl-xml.h"
#include "analyse/nicmap.h"
#include "collect/host.h"

#include <string.h>

void fuzz_one(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = malloc(size + 1);
	_cleanup_buf_ struct rd_buf out = { 0 };
	struct rd_host host = { 0 };
	struct rd_nicmap map = { 0 };
	struct rd_err err = { 0 };

	if (!text)
		return;
	memcpy(text, data, size);
	text[size] = '\0';
	if (rd_collect_nccl_xml("topo.xml", text, size, &host, &err) == 0 && host.n_gpus * host.n_ibdevs < 10000) {
		rd_nicmap_analyse(&host, NULL, 3, &map);
		rd_nccl_xml_write(&host, &out);
	}
	rd_nicmap_deinit(&map);
	rd_host_deinit(&host);
}
