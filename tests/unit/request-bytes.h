/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests as the programs of the tracer copy them, and what was decoded of them. */
#ifndef RD_UNIT_REQUEST_BYTES_H
#define RD_UNIT_REQUEST_BYTES_H

#include "collect/kernel/kernel.h"

#include <linux/types.h>

#include "bpf/record.h"

/* Has a few write handlers. */
extern const struct rd_fnset request_set;

/* Decodes the first `size` bytes, behind which there is nothing. */
struct rd_request request_decode(uint64_t key, const struct rd_rec_request *req, size_t size);

/* The same of a command that is copied as it is. */
struct rd_request request_raw(uint64_t key, const void *cmd, size_t size);

/* The number of fields that are known. */
size_t request_known(const struct rd_request *r);

struct request_field {
	enum rd_req_field field;
	uint64_t v;
};
#define REQUEST_END              \
	{                        \
		RD_REQ_FIELDS, 0 \
	}

/* An array of them. */
#define FIELDS(...)                      \
	{                                \
		__VA_ARGS__, REQUEST_END \
	}

/* These fields and no others are known; `fields` ends with REQUEST_END. */
void request_assert(struct rd_request r, const struct request_field *fields);

#define ASSERT_FIELDS(request, ...) request_assert(request, (const struct request_field[]){ __VA_ARGS__, REQUEST_END })

#endif
