/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An NCCL topology file, all that is concluded from it, and the file that is written of it, which can be read. */
#include "fuzz.h"

#include "analyse/nccl/nccl.h"
#include "analyse/nicmap/nicmap.h"
#include "collect/host/host.h"

/* Names that are escaped can be too long for the reader. */
static void read_again(const struct rd_buf *text)
{
	struct rd_host host = { 0 };
	struct rd_err err = { 0 };
	int r = rd_collect_nccl_xml("again.xml", text->data, text->len, &host, &err);

	rd_host_deinit(&host);
	if (r < 0 && r != -E2BIG && r != -EFBIG) {
		fprintf(stderr, "what was written cannot be read: %s: %s\n%s", err.object, err.message, text->data);
		abort();
	}
}

void fuzz_one(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = text_of(data, size);
	_cleanup_buf_ struct rd_buf out = { 0 };
	struct rd_host host = { 0 };
	struct rd_nicmap map = { 0 };
	struct rd_err err = { 0 };

	if (rd_collect_nccl_xml("topo.xml", text, size, &host, &err) == 0 && host.n_gpus * host.n_ibdevs < 10000) {
		rd_nicmap_analyse(&host, NULL, 3, &map);
		rd_nccl_xml_write(&host, &out);
		read_again(&out);
	}
	rd_nicmap_deinit(&map);
	rd_host_deinit(&host);
}
