/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/bundle/json-read.h"

#include "base/text.h"

#define DEPTH_MAX 32
#define TEXT_MAX 65536
/* An invalid UTF-8 byte, 0x80 to 0xff, is encoded as \udc80 to \udcff, like Python's surrogateescape: names of files and
 * interfaces are bytes, and must be the same when they are read back. */
#define BARE_BYTE 0xdc80

void rd_json_init(struct rd_json *json, const void *data, size_t size)
{
	*json = (struct rd_json){ .at = data, .end = (const char *)data + size };
}

static bool fail(struct rd_json *json)
{
	json->failed = true;
	return false;
}

static void skip_blank(struct rd_json *json)
{
	while (json->at < json->end && (*json->at == ' ' || *json->at == '\n' || *json->at == '\t' || *json->at == '\r'))
		json->at++;
}

char rd_json_peek(struct rd_json *json)
{
	skip_blank(json);
	return json->at < json->end ? *json->at : '\0';
}

static bool take_char(struct rd_json *json, char c)
{
	if (json->failed || rd_json_peek(json) != c)
		return fail(json);
	json->at++;
	return true;
}

bool rd_json_enter(struct rd_json *json, char bracket)
{
	if (++json->depth > DEPTH_MAX)
		return fail(json);
	json->first = true;
	return take_char(json, bracket);
}

/* Goes to the next member or element; false at the end. */
static bool advance(struct rd_json *json, char closing)
{
	if (json->failed)
		return false;
	if (rd_json_peek(json) == closing) {
		json->at++;
		json->depth--;
		json->first = false;
		return false;
	}
	if (!json->first && !take_char(json, ','))
		return false;
	json->first = false;
	return true;
}

bool rd_json_member(struct rd_json *json, struct rd_buf *name)
{
	if (!advance(json, '}'))
		return false;
	return rd_json_text(json, name) && take_char(json, ':');
}

bool rd_json_element(struct rd_json *json)
{
	return advance(json, ']');
}

static bool hex4(struct rd_json *json, uint32_t *ret)
{
	*ret = 0;
	for (int i = 0; i < 4; i++, json->at++) {
		unsigned digit = json->at < json->end ? rd_digit_value(*json->at) : 16;

		if (digit >= 16)
			return fail(json);
		*ret = *ret << 4 | digit;
	}
	return true;
}

static bool add_code(struct rd_json *json, uint32_t code, struct rd_buf *ret)
{
	/* Behind the first byte, whose upper bits are their number, each has six bits. */
	size_t n = code < 0x80 || (code & 0xff80) == BARE_BYTE ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
	static const uint8_t first[] = { 0, 0xc0, 0xe0, 0xf0 };
	char utf8[4] = { (char)(first[n] | code >> 6 * n) };

	if (!code || (code >= 0xd800 && code < 0xe000 && (code & 0xff80) != BARE_BYTE))
		return fail(json);
	for (size_t i = 1; i <= n; i++)
		utf8[i] = (char)(0x80 | (code >> 6 * (n - i) & 0x3f));
	rd_buf_add(ret, utf8, n + 1);
	return true;
}

static bool take_unicode(struct rd_json *json, struct rd_buf *ret)
{
	uint32_t code, low;

	if (!hex4(json, &code))
		return false;
	if (code >= 0xd800 && code < 0xdc00) {
		if (json->end - json->at < 2 || json->at[0] != '\\' || json->at[1] != 'u')
			return fail(json);
		json->at += 2;
		if (!hex4(json, &low) || low < 0xdc00 || low > 0xdfff)
			return fail(json);
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
	}
	return add_code(json, code, ret);
}

static bool take_escape(struct rd_json *json, struct rd_buf *ret)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	char c = json->at < json->end ? *json->at++ : '\0';
	const char *found;

	if (c == 'u')
		return take_unicode(json, ret);
	found = c ? strchr(from, c) : NULL;
	if (!found)
		return fail(json);
	rd_buf_add(ret, &to[found - from], 1);
	return true;
}

bool rd_json_text(struct rd_json *json, struct rd_buf *ret)
{
	ret->len = 0;
	rd_buf_str(ret, "");
	if (!take_char(json, '"'))
		return false;
	while (json->at < json->end && *json->at != '"') {
		const char *start = json->at;

		while (json->at < json->end && *json->at != '"' && *json->at != '\\' && (uint8_t)*json->at >= 0x20)
			json->at++;
		rd_buf_add(ret, start, json->at - start);
		if (json->at < json->end && (uint8_t)*json->at < 0x20)
			return fail(json);
		if (json->at < json->end && *json->at == '\\') {
			json->at++;
			if (!take_escape(json, ret))
				return false;
		}
		if (ret->len > TEXT_MAX)
			return fail(json);
	}
	return take_char(json, '"');
}

bool rd_json_uint(struct rd_json *json, uint64_t *ret)
{
	uint64_t value = 0;
	const char *start;

	if (json->failed)
		return false;
	skip_blank(json);
	for (start = json->at; json->at < json->end && *json->at >= '0' && *json->at <= '9'; json->at++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*json->at - '0'), &value))
			return fail(json);
	if (json->at == start)
		return fail(json);
	*ret = value;
	return true;
}

static bool skip_word(struct rd_json *json)
{
	const char *start = json->at;

	while (json->at < json->end &&
	       (strchr("+-.", *json->at) || (*json->at >= '0' && *json->at <= '9') ||
		(*json->at >= 'a' && *json->at <= 'z') || *json->at == 'E') &&
	       *json->at)
		json->at++;
	return json->at > start ? true : fail(json);
}

bool rd_json_skip(struct rd_json *json)
{
	_cleanup_buf_ struct rd_buf text = { 0 };

	if (json->failed)
		return false;
	switch (rd_json_peek(json)) {
	case '{':
		rd_json_enter(json, '{');
		while (rd_json_member(json, &text))
			rd_json_skip(json);
		break;
	case '[':
		rd_json_enter(json, '[');
		while (rd_json_element(json))
			rd_json_skip(json);
		break;
	case '"':
		rd_json_text(json, &text);
		break;
	default:
		skip_word(json);
	}
	return !json->failed;
}

bool rd_json_end(struct rd_json *json)
{
	return !json->failed && !json->depth && (rd_json_peek(json) == '\0' && json->at == json->end);
}

void rd_json_add_text(struct rd_buf *out, const char *text)
{
	size_t size = strlen(text);

	rd_buf_str(out, "\"");
	while (size > 0) {
		uint32_t code;
		size_t n = rd_utf8_next(text, size, &code);

		if (!n)
			rd_buf_printf(out, "\\u%04x", BARE_BYTE | (uint8_t)*text);
		else if (*text == '"' || *text == '\\')
			rd_buf_printf(out, "\\%c", *text);
		else if ((uint8_t)*text < 0x20)
			rd_buf_printf(out, "\\u%04x", (uint8_t)*text);
		else
			rd_buf_add(out, text, n);
		text += n ? n : 1;
		size -= n ? n : 1;
	}
	rd_buf_str(out, "\"");
}
