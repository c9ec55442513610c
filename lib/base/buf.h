/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A string that grows, and the one function through which foreign text reaches a terminal. */
#ifndef RD_BUF_H
#define RD_BUF_H

#include "base/base.h"

#include <string.h>

/* Always NUL-terminated once something was added. An allocation that fails ends the program (base/end.h). In a buffer that
 * was begun as RD_BUF_CHECKED, which is for what others chose the size of, it sets `failed`, and nothing more is added:
 * callers check once, at the end. */
struct rd_buf {
	char *data;
	size_t len, cap;
	bool checked, failed;
};

#define RD_BUF_CHECKED ((struct rd_buf){ .checked = true })

/* Makes room for so many more bytes and a NUL; false, of a checked buffer: there is none. For the functions below. */
bool rd_buf_room(struct rd_buf *buf, size_t more);

/* In line: documents are made of millions of small pieces. */
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
void rd_buf_deinit(struct rd_buf *buf); /* it may be used again */
#define _cleanup_buf_ __attribute__((cleanup(rd_buf_deinit)))

/* Adds text that came from elsewhere (process names, node descriptions, file contents): control characters, escape
 * sequences and invalid UTF-8 become \xNN, so that no name can steer a terminal or break a line. */
void rd_buf_safe(struct rd_buf *buf, const char *s, size_t size);

/* The same as a new string; caller frees. */
char *rd_safe(const char *s);

/* The length in bytes of the UTF-8 character at `s`, and its code point; 0 where there is none that is valid. */
size_t rd_utf8_next(const char *s, size_t size, uint32_t *ret);

/* The same, but 0, too, where the character is one that a terminal would obey or hide: for text that goes on to a shell or into
 * a file, where an escape would be a part of it. */
size_t rd_plain_next(const char *s, size_t size);

/* What a terminal obeys or hides instead of showing: C0 and C1 controls, line and paragraph separators, and the marks
 * that turn the direction of text or have no width. U+FFFE and U+FFFF, too, which no XML file may hold. */
bool rd_unsafe(uint32_t c);

#endif
