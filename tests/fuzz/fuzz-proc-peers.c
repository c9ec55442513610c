/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include "collect/rdma/rdma.h"
#include "source/live/live.h"

/* A table of the kernel, and the file of a bundle that is made of it. */
void fuzz_one(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = rd_dup_part((const char *)data, size);
	_cleanup_free_ char *shown = NULL;
	_cleanup_buf_ struct rd_buf out = { 0 };
	struct rd_proc_tcp tcp = { .inodes = calloc(1, sizeof(*tcp.inodes)), .n_inodes = 1 };
	struct rd_proc_peers peers;

	if (!tcp.inodes)
		return;
	tcp.inodes[0] = 100;
	rd_proc_tcp_take(&tcp, text);
	rd_proc_tcp_print(&tcp, &out);
	rd_proc_tcp_deinit(&tcp);
	rd_proc_peers_take(text, &peers);
	shown = rd_proc_peers_text(&peers);
}
