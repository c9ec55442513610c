/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes are what RDMA netlink answered, to whatever it was asked: listed, joined to processes that are not there. */
#include "answerer.h"
#include "tests/source-parts.h"

#include "collect/rdma/rdma.h"

struct patient {
	struct answerer answerer;
	unsigned asked;
};

/* A host whose every number is a QP would take a while. */
static int answer_some(struct rd_source *src, int protocol, const void *request, size_t size, struct rd_bytes *ret,
		       struct rd_err *err)
{
	struct patient *patient = (struct patient *)src;

	if (patient->asked++ > 64)
		return rd_err_set(err, ENOENT, "netlink", "enough");
	return answer(src, protocol, request, size, ret, err);
}

static int an_inode(struct rd_source *src, enum rd_op op, const char *path, uint64_t *ret, struct rd_err *err)
{
	*ret = 1;
	return 0;
}

static int an_empty_folder(struct rd_source *src, const char *path, struct rd_texts *ret, struct rd_err *err)
{
	*ret = (struct rd_texts){ 0 };
	return 0;
}

static const struct source_parts ops = {
	.ops.get = parts_get, .ops.name = "live", .netlink = answer_some, .stat = an_inode, .list_dir = an_empty_folder
};

void fuzz_one(const uint8_t *data, size_t size)
{
	struct patient patient = { .answerer = { { &ops.ops }, data, size } };
	struct rd_errlist errors = { 0 };
	struct rd_res res = { 0 };

	/* Collectors are given sound messages only; the walk over them is tried with all. */
	if (!rd_nlmsgs_sound(data, size)) {
		struct rd_res_dev dev = { 0 };
		struct rd_bytes bytes = { (uint8_t *)data, size };
		struct rd_res one = { .devs = &dev, .n_devs = 1 };

		for (int kind = 0; kind < RD_RES_KINDS; kind++)
			rd_nldev_take(&bytes, kind, 0, &one);
		one.devs = NULL;
		one.n_devs = 0;
		rd_res_deinit(&one);
		return;
	}
	rd_collect_res(&patient.answerer.src, RD_WANT_ALL, NULL, &res, &errors, NULL);
	patient.asked = 0;
	rd_errlist_deinit(&errors);
	rd_res_deinit(&res);
}
