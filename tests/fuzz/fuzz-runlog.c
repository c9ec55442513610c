/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The log of a run, and what follows from it for a small host. */
#include "fuzz.h"

#include "analyse/nicmap/nicmap.h"
#include "analyse/run/against.h"
#include "collect/host/host.h"
#include "collect/nccl/runlog.h"

static const char topology[] =
	"<system version=\"1\"><cpu numaid=\"0\"><pci busid=\"0000:17:00.0\" class=\"0x060400\">"
	"<pci busid=\"0000:18:00.0\" class=\"0x030200\"><gpu dev=\"0\" sm=\"90\"/></pci>"
	"<pci busid=\"0000:19:00.0\" class=\"0x020700\"><nic><net name=\"mlx5_0\" dev=\"0\" speed=\"400000\" port=\"1\"/></nic>"
	"</pci></pci></cpu></system>";

static void compare(const struct rd_runlog *log)
{
	struct rd_host host = { 0 };
	struct rd_nicmap map = { 0 };
	struct rd_err err = { 0 };

	if (rd_collect_nccl_xml("topo.xml", topology, sizeof(topology) - 1, &host, &err) == 0) {
		rd_nicmap_analyse(&host, NULL, 0, &map);
		for (size_t i = 0; i < log->n && i < 8; i++) {
			struct rd_against against = { 0 };

			rd_against_log(&host, NULL, &map, log, &log->v[i], "node-1", &against);
			rd_against_deinit(&against);
		}
	}
	rd_nicmap_deinit(&map);
	rd_host_deinit(&host);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	struct rd_runlog log = { 0 };
	struct rd_err err = { 0 };

	if (rd_runlog_parse("run.log", (const char *)data, size, &log, &err) == 0)
		compare(&log);
	rd_runlog_deinit(&log);
}
