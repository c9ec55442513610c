/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "request-bytes.h"

static struct rd_fn fns[] = {
	{ .name = "ib_uverbs_write" },	   { .name = "ib_uverbs_reg_mr" },  { .name = "ib_uverbs_ex_create_qp.isra.0" },
	{ .name = "ib_uverbs_create_qp" }, { .name = "ib_uverbs_reg_mrs" },
};
const struct rd_fnset request_set = { .fns = fns, .n_fns = RD_ARRAY_SIZE(fns) };

struct rd_request request_decode(uint64_t key, const struct rd_rec_request *req, size_t size)
{
	_cleanup_free_ void *exact = malloc(size);
	struct rd_request ret;

	/* A sanitizer sees each byte that is read behind it. */
	assert_non_null(exact);
	memcpy(exact, req, size);
	memset(&ret, 0xff, sizeof(ret));
	rd_request_decode(key, &request_set, exact, size, &ret);
	return ret;
}

struct rd_request request_raw(uint64_t key, const void *cmd, size_t size)
{
	struct rd_rec_request req = { .n_raw = size };

	memcpy(req.raw, cmd, size);
	return request_decode(key, &req, offsetof(struct rd_rec_request, raw) + size);
}

size_t request_known(const struct rd_request *r)
{
	size_t n = 0;

	for (int i = 0; i < RD_REQ_FIELDS; i++)
		n += rd_req_has(r, i);
	return n;
}

void request_assert(struct rd_request r, const struct request_field *fields)
{
	bool listed[RD_REQ_FIELDS] = { 0 };
	size_t n = 0;

	for (; fields->field != RD_REQ_FIELDS; fields++, n++) {
		listed[fields->field] = true;
		if (!rd_req_has(&r, fields->field) || r.v[fields->field] != fields->v)
			fail_msg("%s: %s %llu, not %llu", rd_req_name(fields->field),
				 rd_req_has(&r, fields->field) ? "is" : "is unknown;",
				 (unsigned long long)r.v[fields->field], (unsigned long long)fields->v);
	}
	for (int i = 0; i < RD_REQ_FIELDS; i++)
		if (rd_req_has(&r, i) && !listed[i])
			fail_msg("%s is known, too", rd_req_name(i));
	assert_int_equal(r.readable, n > 0);
}
