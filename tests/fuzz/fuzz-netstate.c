/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes are what netlink answers to every question about the network: links, routes, DCB, devlink, ethtool, nftables. */
#include "answerer.h"
#include "tests/source-parts.h"

#include "collect/net/netstate.h"

/* Only the module that lets the firewall be asked for. */
static int list(struct rd_source *src, const char *path, struct rd_texts *ret, struct rd_err *err)
{
	*ret = (struct rd_texts){ 0 };
	return strcmp(path, "/sys/module/nf_tables") == 0 ? 0 : rd_err_set(err, ENOENT, path, "none");
}

static const struct source_parts ops = { .ops.get = parts_get, .ops.name = "live", .netlink = answer, .list_dir = list };

void fuzz_one(const uint8_t *data, size_t size)
{
	struct answerer answerer = { { &ops.ops }, data, size };
	const struct rd_sysfs fs = { .src = &answerer.src };
	struct rd_ethfamilies families = { 30, 30 };
	struct rd_netstate net = { 0 };
	struct rd_host host = { 0 };

	/* Collectors are given sound messages only. */
	if (!rd_nlmsgs_sound(data, size))
		return;
	rd_collect_netstate(&answerer.src, &host, &net, NULL);
	for (size_t i = 0; i < net.n_ifs && i < 4; i++) {
		rd_collect_dcb(&fs, "eth0", &net.ifs[i].dcb);
		rd_collect_ethstate(&fs, &families, &net.ifs[i]);
	}
	rd_netstate_deinit(&net);
}
