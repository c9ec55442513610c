/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/buf.h"

#include <stdarg.h>

static bool fail(struct rd_buf *buf)
{
	if (!buf->checked)
		rd_out_of_memory();
	buf->failed = true;
	return false;
}

bool rd_buf_room(struct rd_buf *buf, size_t more)
{
	size_t need;

	if (buf->failed)
		return false;
	if (buf->take && buf->len > 0 && buf->len + more >= RD_BUF_PIECE) {
		buf->take(buf);
		buf->len = 0;
	}
	if (__builtin_add_overflow(buf->len, more, &need) || __builtin_add_overflow(need, 1, &need) ||
	    rd_grow(&buf->data, &buf->cap, need, 1) < 0)
		return fail(buf);
	return true;
}

void rd_buf_uint(struct rd_buf *buf, uint64_t value)
{
	char text[20], *at = text + sizeof(text);

	do
		*--at = (char)('0' + value % 10);
	while (value /= 10);
	rd_buf_add(buf, at, (size_t)(text + sizeof(text) - at));
}

void rd_buf_printf(struct rd_buf *buf, const char *fmt, ...)
{
	size_t room = buf->failed ? 0 : buf->cap - buf->len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(room ? buf->data + buf->len : NULL, room, fmt, ap);
	va_end(ap);
	if (n < 0) {
		fail(buf);
		return;
	}
	if ((size_t)n >= room) {
		if (!rd_buf_room(buf, (size_t)n))
			return;
		va_start(ap, fmt);
		vsnprintf(buf->data + buf->len, (size_t)n + 1, fmt, ap);
		va_end(ap);
	}
	buf->len += (size_t)n;
}

void rd_buf_deinit(struct rd_buf *buf)
{
	free(buf->data);
	*buf = (struct rd_buf){ .checked = buf->checked, .take = buf->take };
}

size_t rd_utf8_next(const char *s, size_t size, uint32_t *ret)
{
	const uint8_t *p = (const uint8_t *)s;
	uint32_t c, min;
	size_t n;

	if (size == 0)
		return 0;
	c = p[0];
	if (c < 0x80) {
		*ret = c;
		return 1;
	}
	if (c >= 0xc2 && c <= 0xdf) {
		n = 2, min = 0x80, c &= 0x1f;
	} else if (c >= 0xe0 && c <= 0xef) {
		n = 3, min = 0x800, c &= 0x0f;
	} else if (c >= 0xf0 && c <= 0xf4) {
		n = 4, min = 0x10000, c &= 0x07;
	} else {
		return 0;
	}
	if (size < n)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < min || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*ret = c;
	return n;
}

bool rd_unsafe(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c <= 0x9f) || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || c == 0x061c || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
	       c == 0xfffe || c == 0xffff || (c >= 0xe0000 && c <= 0xe007f);
}

size_t rd_plain_next(const char *s, size_t size)
{
	uint32_t c = 0;
	size_t n = rd_utf8_next(s, size, &c);

	return n > 0 && !rd_unsafe(c) ? n : 0;
}

void rd_buf_safe(struct rd_buf *buf, const char *s, size_t size)
{
	while (size > 0) {
		uint32_t c = ' ';
		size_t n = 0;

		while (n < size && s[n] >= 0x20 && s[n] < 0x7f)
			n++;
		n = n ?: rd_utf8_next(s, size, &c);
		if (n > 0 && !rd_unsafe(c)) {
			rd_buf_add(buf, s, n);
		} else {
			n = n > 0 ? n : 1;
			for (size_t i = 0; i < n; i++)
				rd_buf_printf(buf, "\\x%02x", (uint8_t)s[i]);
		}
		s += n;
		size -= n;
	}
	rd_buf_add(buf, "", 0);
}

void rd_buf_part(struct rd_buf *buf, const char *before, const char *text)
{
	if (!text)
		return;
	rd_buf_str(buf, before);
	rd_buf_safe(buf, text, strlen(text));
}

void rd_buf_csv(struct rd_buf *buf, const char *text)
{
	_cleanup_buf_ struct rd_buf safe = { 0 };

	text = text ?: "";
	if (!strpbrk(text, ",\"")) {
		rd_buf_safe(buf, text, strlen(text));
		return;
	}
	rd_buf_safe(&safe, text, strlen(text));
	rd_buf_str(buf, "\"");
	for (const char *c = safe.data; *c; c++)
		rd_buf_printf(buf, *c == '"' ? "\"\"" : "%c", *c);
	rd_buf_str(buf, "\"");
}

char *rd_safe(const char *s)
{
	_cleanup_buf_ struct rd_buf buf = { 0 };

	rd_buf_safe(&buf, s, strlen(s));
	return RD_TAKE(buf.data);
}
