/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A growing string, and the only function through which untrusted text reaches a terminal. */
#ifndef RD_BUF_H
#define RD_BUF_H

#include "base/base.h"

/* Always NUL-terminated once something was added. A failed allocation ends the program (rd_out_of_memory). In a buffer initialised
 * as RD_BUF_CHECKED, for data of untrusted size, it sets `failed` instead, and nothing more is added: callers check once, at
 * the end. */
struct rd_buf {
	char *data;
	size_t len, cap;
	bool checked, failed;
	/* NULL: the buffer grows. Otherwise this takes the bytes whenever a piece is full, and `len` becomes 0: for output
	 * whose size is unlimited. The caller takes the rest. */
	void (*take)(const struct rd_buf *buf);
};

/* Of a buffer with `take`, in bytes. */
#define RD_BUF_PIECE ((size_t)64 << 10)

#define RD_BUF_CHECKED ((struct rd_buf){ .checked = true })

/* Reserves space for `more` bytes and a NUL; false, only for a checked buffer: no memory. For the functions below. */
bool rd_buf_room(struct rd_buf *buf, size_t more);

/* Inline: documents consist of millions of small pieces. */
static inline void rd_buf_add(struct rd_buf *buf, const void *data, size_t size)
{
	if ((buf->failed || size >= buf->cap - buf->len) && !rd_buf_room(buf, size))
		return;
	if (size)
		memcpy(buf->data + buf->len, data, size);
	buf->len += size;
	buf->data[buf->len] = '\0';
}

static inline void rd_buf_str(struct rd_buf *buf, const char *s)
{
	rd_buf_add(buf, s, strlen(s));
}

void rd_buf_uint(struct rd_buf *buf, uint64_t value); /* decimal */
void rd_buf_printf(struct rd_buf *buf, const char *fmt, ...) RD_PRINTF(2, 3);
void rd_buf_deinit(struct rd_buf *buf); /* the buffer may be reused */
#define _cleanup_buf_ __attribute__((cleanup(rd_buf_deinit)))

/* Adds untrusted text (process names, node descriptions, file contents): control characters, escape
 * sequences and invalid UTF-8 become \xNN, so that no name can control a terminal or break a line. */
void rd_buf_safe(struct rd_buf *buf, const char *s, size_t size);

/* Adds `before`, which is ours, and such a text; nothing if that is NULL. */
void rd_buf_part(struct rd_buf *buf, const char *before, const char *text);

/* Adds such a text as a field of RFC 4180, in quotes if it has a comma or a quote. NULL: an empty field. */
void rd_buf_csv(struct rd_buf *buf, const char *text);

/* The same as a new string; caller frees. */
char *rd_safe(const char *s);

/* The length in bytes of the UTF-8 character at `s`, and its code point; 0: invalid. */
size_t rd_utf8_next(const char *s, size_t size, uint32_t *ret);

/* The same, but also 0 for a character that controls a terminal or is invisible: for text for a shell or a file, where an escape
 * would become part of it. */
size_t rd_plain_next(const char *s, size_t size);

/* Characters that control a terminal or are invisible: C0 and C1 controls, line and paragraph separators, bidirectional
 * marks and zero-width characters. Also U+FFFE and U+FFFF, which are not allowed in XML. */
bool rd_unsafe(uint32_t c);

#endif
