/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads JSON front to back without building anything of it, so that a manifest of many requests costs no memory. Every
 * function returns false once something was wrong, and from then on; callers check `failed` once.
 */
#ifndef RD_JSON_READ_H
#define RD_JSON_READ_H

#include "base/buf.h"

struct rd_json {
	const char *at, *end;
	size_t depth;
	bool failed;
	bool first; /* no member of the innermost object or array was read yet */
};

void rd_json_init(struct rd_json *json, const void *data, size_t size);

/* The character that the next value begins with; '\0' at the end. */
char rd_json_peek(struct rd_json *json);

/* Steps into an object or array. */
bool rd_json_enter(struct rd_json *json, char bracket);

/* Goes to the next member of what was entered with '{' and reads its name; false (and steps out) at its end. */
bool rd_json_member(struct rd_json *json, struct rd_buf *name);

/* The same for '['. */
bool rd_json_element(struct rd_json *json);

/* Reads one value; of another kind than asked for is an error. Strings have no NUL in them. */
bool rd_json_text(struct rd_json *json, struct rd_buf *ret);
bool rd_json_uint(struct rd_json *json, uint64_t *ret);
bool rd_json_skip(struct rd_json *json);

/* Whether all was read. */
bool rd_json_end(struct rd_json *json);

/* Adds text as a JSON string. A byte that is not UTF-8 is kept, and read as it was. */
void rd_json_add_text(struct rd_buf *out, const char *text);

#endif
