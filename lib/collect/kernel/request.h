/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decodes the request of a failed call, which the BPF programs copied from user memory. */
#ifndef RD_COLLECT_REQUEST_H
#define RD_COLLECT_REQUEST_H

#include "model/trace/fnset.h"
#include "model/trace/request.h"

/* Where a field of a request stands. */
struct rd_req_place {
	uint8_t field; /* enum rd_req_field */
	uint8_t size;  /* bytes; 16: the GID; 0: end of the list */
	uint16_t at;   /* byte offset in a command; attribute id of an ioctl */
	uint16_t in;   /* ioctl: offset in the data of an attribute that is a struct; else 0 */
	bool pointed;  /* ioctl: the attribute is such a struct */
};
#define RD_REQ_GID 0xff /* field of a place: the GID */
#define RD_REQ_SRC 0xfe /* a struct sockaddr, size as for the others */
#define RD_REQ_DST 0xfd

/*
 * Decodes the struct rd_rec_request in `data` (untrusted: every count and offset is checked against `size`). `key` is the verb of
 * the record, `set` names write handlers (may be NULL). A request that is cut short or of an unknown layout leaves fields unknown.
 */
void rd_request_decode(uint64_t key, const struct rd_fnset *set, const void *data, size_t size, struct rd_request *ret);

/* The layout of a verb, including write handlers of `set`. NULL: unknown. */
const struct rd_req_place *rd_request_layout(uint64_t key, const struct rd_fnset *set);

/* The verbs with a known layout, except write handlers, in no order. False after the last. */
bool rd_request_layout_at(size_t i, uint64_t *key);

#endif
