/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes are what netlink and the ethtool ioctl answer when counters are looked for and read. */
#include "answerer.h"
#include "tests/source-parts.h"

#include "collect/counters/counters.h"

/* Collectors are given sound messages only. */
static int answer_if_sound(struct rd_source *src, int protocol, const void *request, size_t size, struct rd_bytes *ret,
			   struct rd_err *err)
{
	struct answerer *answerer = (struct answerer *)src;

	if (!rd_nlmsgs_sound(answerer->data, answerer->size))
		return rd_err_set(err, EBADMSG, "netlink", "cut short");
	return answer(src, protocol, request, size, ret, err);
}

static int read_file(struct rd_source *src, const char *path, struct rd_bytes *ret, struct rd_err *err)
{
	struct answerer *answerer = (struct answerer *)src;

	if (strstr(path, "/parent"))
		return rd_bytes_copy("eth0\n", 5, ret);
	if (strstr(path, "/ifindex"))
		return rd_bytes_copy("2\n", 2, ret);
	if (strncmp(path, RD_SOURCE_ETHTOOL, strlen(RD_SOURCE_ETHTOOL)) == 0 || strstr(path, "counters/"))
		return rd_bytes_copy(answerer->data, answerer->size, ret);
	return rd_err_set(err, ENOENT, path, "not here");
}

static int list_dir(struct rd_source *src, const char *path, struct rd_texts *ret, struct rd_err *err)
{
	static const char *const dirs[][2] = {
		{ "/sys/class/infiniband", "mlx5_0" },
		{ "/sys/class/infiniband/mlx5_0/ports", "1" },
		{ "/sys/class/infiniband/mlx5_0/ports/1/counters", "symbol_error" },
		{ "/sys/class/net", "eth0" },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(dirs); i++)
		if (strcmp(path, dirs[i][0]) == 0) {
			if (rd_grow(&ret->v, &ret->cap, 1, sizeof(*ret->v)) < 0)
				return -ENOMEM;
			ret->v[0] = strdup(dirs[i][1]);
			ret->n = ret->v[0] ? 1 : 0;
			return 0;
		}
	return rd_err_set(err, ENOENT, path, "not here");
}

static int a_number(struct rd_source *src, enum rd_op op, const char *path, uint64_t *ret, struct rd_err *err)
{
	*ret = 5;
	return 0;
}

static uint64_t now(struct rd_source *src, int clock)
{
	return (uint64_t)clock + 1;
}

static const struct source_parts ops = {
	.ops.get = parts_get,
	.ops.name = "live",
	.read_file = read_file,
	.list_dir = list_dir,
	.stat = a_number,
	.netlink = answer_if_sound,
	.ops.now = now,
};

void fuzz_one(const uint8_t *data, size_t size)
{
	struct answerer answerer = { { &ops.ops }, data, size };
	struct rd_counter_reader *reader = NULL;
	struct rd_counter_sample sample = { 0 };
	int rdma_error;

	if (rd_counter_reader_create(&answerer.src, RD_COUNTERS_ALL, &reader, &rdma_error, NULL, NULL) == 0) {
		rd_counter_reader_sample(reader, &sample);
		/* Another answer than the one that was learnt from. */
		answerer.size = size / 2 & ~(size_t)3;
		rd_counter_reader_sample(reader, &sample);
	}
	rd_counter_sample_deinit(&sample);
	rd_counter_reader_destroy(reader);
}
