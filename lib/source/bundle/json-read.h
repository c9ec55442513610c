/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads JSON sequentially without building a document, so that a manifest of many requests costs no memory. After an error every
 * function returns false; callers check `failed` once.
 */
#ifndef RD_JSON_READ_H
#define RD_JSON_READ_H

#include "base/buf.h"

struct rd_json {
	const char *at, *end;
	size_t depth;
	bool failed;
	bool first; /* no member of the innermost object or array has been read yet */
};

void rd_json_init(struct rd_json *json, const void *data, size_t size);

/* The first character of the next value; '\0' at the end. */
char rd_json_peek(struct rd_json *json);

/* Enters an object or array. */
bool rd_json_enter(struct rd_json *json, char bracket);

/* Goes to the next member of the object entered with '{' and reads its name; false (and leaves the object) at its end. */
bool rd_json_member(struct rd_json *json, struct rd_buf *name);

/* The same for an array. */
bool rd_json_element(struct rd_json *json);

/* Reads one value; another type is an error. Strings contain no NUL. */
bool rd_json_text(struct rd_json *json, struct rd_buf *ret);
bool rd_json_uint(struct rd_json *json, uint64_t *ret);
bool rd_json_skip(struct rd_json *json);

/* Whether the whole input was read without error. */
bool rd_json_end(struct rd_json *json);

/* Adds text as a JSON string. A byte that is not UTF-8 is preserved. */
void rd_json_add_text(struct rd_buf *out, const char *text);

#endif
