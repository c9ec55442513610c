/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every file and every link of a host with one NIC says these bytes. */
#include "answerer.h"
#include "tests/source-parts.h"

#include "analyse/nicmap/nicmap.h"
#include "check/shared/check.h"
#include "collect/host/host.h"
#include "collect/snapshot/snapshot.h"

static const struct {
	const char *end, *name;
} members[] = {
	{ "/infiniband", "mlx5_0" },
	{ "/ports", "1" },
	{ "/gids", "0" },
	{ "/net", "eth2" },
	{ "/devices", "0000:01:00.0" },
	{ "/node", "node0" },
	{ "/slots", "7" },
	{ "/counters", "link_downed" },
	{ "/parameters", "x" },
	{ "/pkeys", "0" },
	{ "/infiniband_verbs", "uverbs0" },
	{ "/libibverbs", "libmlx5.so" },
	{ "/system.conf.d", "a.conf" },
	{ "/hugepages", "hugepages-2048kB" },
};

static int mirror_list(struct rd_source *src, const char *path, struct rd_texts *ret, struct rd_err *err)
{
	size_t size = strlen(path);

	for (size_t i = 0; i < RD_ARRAY_SIZE(members); i++) {
		struct rd_texts names = { (char *[]){ (char *)members[i].name }, 1, 1 };
		size_t n = strlen(members[i].end);

		if (size > n && strcmp(path + size - n, members[i].end) == 0) {
			rd_texts_copy(&names, ret);
			return 0;
		}
	}
	return rd_err_set(err, ENOENT, path, "none");
}

static int mirror_read(struct rd_source *src, const char *path, struct rd_bytes *ret, struct rd_err *err)
{
	const struct answerer *mirror = (struct answerer *)src;

	/* One without which there would be no NIC and no end to its GIDs. */
	if (strstr(path, "/class") && strstr(path, "/pci/"))
		return rd_bytes_copy("0x030200\n", 9, ret);
	return rd_bytes_copy(mirror->data, mirror->size, ret);
}

static int mirror_link(struct rd_source *src, const char *path, char **ret, struct rd_err *err)
{
	const struct answerer *mirror = (struct answerer *)src;

	if (strstr(path, "/bus/pci/devices/") && !strstr(path, "driver"))
		*ret = strdup("../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0");
	else
		*ret = strndup((const char *)mirror->data, mirror->size < 4000 ? mirror->size : 4000);
	return *ret ? 0 : rd_err_set(err, ENOMEM, path, "none");
}

static int mirror_number(struct rd_source *src, enum rd_op op, const char *path, uint64_t *ret, struct rd_err *err)
{
	*ret = 1;
	return 0;
}

static uint64_t mirror_now(struct rd_source *src, int clock)
{
	return (uint64_t)clock;
}

static const struct source_parts ops = {
	.ops.get = parts_get,
	.ops.name = "bundle",
	.read_file = mirror_read,
	.list_dir = mirror_list,
	.read_link = mirror_link,
	.stat = mirror_number,
	.ops.now = mirror_now,
};

void fuzz_one(const uint8_t *data, size_t size)
{
	struct answerer mirror = { { &ops.ops }, data, size };
	struct rd_errlist errors = { 0 };
	struct rd_facts facts = { 0 };
	struct rd_system system = { 0 };
	struct rd_findings findings = { 0 };
	struct rd_nicmap map = { 0 };
	struct rd_host host = { 0 };
	const struct rd_check_input in = { .host = &host, .ports = &map.ports, .map = &map, .system = &system };

	rd_collect_host(&mirror.src, RD_COLLECT_ACS | RD_COLLECT_ALL_GIDS | RD_COLLECT_PCI | RD_COLLECT_IB, &host,
			&errors, NULL);
	rd_collect_system(&mirror.src, 1, &system, &errors, NULL);
	rd_nicmap_analyse(&host, NULL, 0, &map);
	rd_checks_run(&in, NULL, &findings);
	rd_snapshot_collect(&mirror.src, &facts, NULL);
	rd_findings_deinit(&findings);
	rd_nicmap_deinit(&map);
	rd_system_deinit(&system);
	rd_host_deinit(&host);
	rd_errlist_deinit(&errors);
	rd_facts_deinit(&facts);
}
