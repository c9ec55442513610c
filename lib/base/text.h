/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small strings: made by printf, freed of blanks. */
#ifndef RD_TEXT_H
#define RD_TEXT_H

#include <stdarg.h>

#include "base/base.h"

/* A new string made by printf; caller frees. For want of memory the program ends (base/end.h). */
char *rd_text(const char *fmt, ...) RD_PRINTF(1, 2);
char *rd_vtext(const char *fmt, va_list ap) RD_PRINTF(1, 0);

/* Strips blanks and line ends from both ends, in place: returns where the text now begins, inside `text`. */
char *rd_trim(char *text);

/* Cuts the next word, which blanks and tabs end, off a line, in place; NULL at its end. */
char *rd_word(char **line);

/* Cuts up to `n` words off a line, in place; returns how many there were. */
size_t rd_words(char **line, char **ret, size_t n);

/* A copy of what stands in a list before the next separator; *at is moved behind it, and NULL behind the last part. NULL: there is
 * no other. Caller frees. */
char *rd_next_part(const char **at, char separator);

/* The field of /proc/PID/stat that proc(5) gives this number, 3 (the state) and up, with those behind it: they follow a name that
 * may hold anything. NULL: there are not so many. */
const char *rd_stat_field(const char *text, unsigned number);

/* Whether a port is the one that a user names: DEVICE, DEVICE/PORT (as rdma(8) has it) or DEVICE:PORT, both of them perhaps shell
 * patterns, no device being any. A port of 0 stands for a device as a whole, which is none of its ports. */
bool rd_port_fits(const char *wanted, const char *device, unsigned port);

/* Texts that what was parsed in place points into. */
struct rd_texts {
	char **v;
	size_t n, cap;
};

/* Keeps a copy of `size` bytes of text, as rd_dup_part has it, and returns it. */
char *rd_texts_keep(struct rd_texts *texts, const char *text, size_t size);
void rd_texts_deinit(struct rd_texts *texts);

#endif
