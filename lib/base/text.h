/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small string functions: formatting, trimming, splitting. */
#ifndef RD_TEXT_H
#define RD_TEXT_H

#include <stdarg.h>

#include "base/base.h"

/* A new string formatted by printf; caller frees. Out of memory ends the program (base/end.h). */
char *rd_text(const char *fmt, ...) RD_PRINTF(1, 2);
char *rd_vtext(const char *fmt, va_list ap) RD_PRINTF(1, 0);

/* Strips white space from both ends, in place: returns the beginning of the trimmed text, inside `text`. */
char *rd_trim(char *text);

/* Cuts the next word, delimited by spaces and tabs, off a line, in place; NULL at its end. */
char *rd_word(char **line);

/* Cuts up to `n` words off a line, in place; returns their number. */
size_t rd_words(char **line, char **ret, size_t n);

/* A copy of the next element of a list; *at is moved behind its separator, and becomes NULL after the last element. NULL: no more
 * elements. Caller frees. */
char *rd_next_part(const char **at, char separator);

/* Whether `words`, separated by spaces, has this one. */
bool rd_is_listed(const char *words, const char *text, size_t size);

/* Goes to the next line of a text, without its newline; `*at` is moved behind that. False: there is none. */
bool rd_next_line(const char **at, const char **ret, size_t *ret_size);

/* The absolute path of one that may be relative to the working directory; nothing is read of its directories. NULL with errno: the working
 * directory is not known. Caller frees. */
char *rd_whole_path(const char *path);

/* The field of /proc/PID/stat with this number in proc(5), 3 (the state) and up, with the fields after it. They follow a name that
 * may contain any character. NULL: no such field. */
const char *rd_stat_field(const char *text, unsigned number);

/* Whether a port matches the user's choice: DEVICE, DEVICE/PORT (as in rdma(8)) or DEVICE:PORT, both optionally shell
 * patterns; an empty device matches any. Port 0 means the device as a whole, not a port. */
bool rd_port_fits(const char *wanted, const char *device, unsigned port);

/*
 * The character set of the environment (LC_CTYPE) is loaded when the first text needs it, as it takes 150 KiB and a few files:
 * rd_charset_init lets rd_charset_load do so, once. Without that the caller has set the locale.
 */
void rd_charset_init(void);
void rd_charset_load(void);

/* A list of texts: of names, or of copies that were parsed in place, and to which results point. */
struct rd_texts {
	char **v; /* owned */
	size_t n, cap;
};
#define _cleanup_texts_ __attribute__((cleanup(rd_texts_deinit)))

/* Keeps a copy of `size` bytes of text, made by rd_dup_part, and returns it. */
char *rd_texts_keep(struct rd_texts *texts, const char *text, size_t size);

void rd_texts_add(struct rd_texts *texts, const char *text); /* a copy */
bool rd_texts_has(const struct rd_texts *texts, const char *text);
void rd_texts_copy(const struct rd_texts *from, struct rd_texts *ret);
void rd_texts_sort(struct rd_texts *texts); /* by byte value */
void rd_texts_deinit(struct rd_texts *texts);

#endif
