/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts: formatting, trimming, splitting; lists and tables of them; names of programs; numbers and times in them. */
#ifndef RD_TEXT_H
#define RD_TEXT_H

#include <stdarg.h>

#include "base/err.h"

static inline bool rd_starts_with(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* A new string formatted by printf; caller frees. Out of memory ends the program (rd_out_of_memory). */
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

/* ---- hand-written tables: one entry per line, words separated by spaces, comments and empty lines anywhere */

/* Ten thousand lines; sites have a few hundred. */
#define RD_TABLE_BYTES ((size_t)1 << 20)

struct rd_lines {
	const char *name; /* the file's */
	bool continued;	  /* a line that begins with a space continues the line above it, unless that is a comment */
	unsigned number;  /* number of the first line of the current entry, from 1 */
	/* for text.c */
	unsigned last;
	char *rest;
};

/* Begins to read `size` bytes of text; `texts` keeps a copy, and lines point into it. `name` must outlive `ret`. */
void rd_lines_init(struct rd_lines *ret, struct rd_texts *texts, const char *name, const char *text, size_t size);

/* The same for a table of at most RD_TABLE_BYTES: else -EFBIG with `err` filled. `what` it contains: "hints". */
int rd_lines_init_table(struct rd_lines *ret, struct rd_texts *texts, const char *what, const char *name,
			const char *text, size_t size, struct rd_err *err);

/* The next line that is neither empty nor a comment (#), trimmed; may be split in place (rd_words). NULL: end. */
char *rd_lines_next(struct rd_lines *lines);

/* An error in the current line. The message is "line N" followed by `fmt`: ": no such name". Returns -code. */
int rd_lines_err(const struct rd_lines *lines, struct rd_err *err, int code, const char *fmt, ...) RD_PRINTF(4, 5);

/* ---- names of programs (/proc/PID/comm) that mean the same on every host */

/* A program that starts jobs and containers: they inherit its limits. */
bool rd_program_starts_jobs(const char *comm);

/* One of these that starts containers only: users' processes outside of them come from elsewhere. */
bool rd_program_starts_containers(const char *comm);

/* A daemon that serves storage to many hosts. */
bool rd_program_serves_storage(const char *comm);

/* One of these, or a program common to all clusters: its name identifies no user. */
bool rd_program_is_common(const char *comm);

/*
 * ---- numbers in kernel files, other files and options
 *
 * A number begins at the first byte: spaces are not skipped, and unsigned numbers have no sign, not even "+". Digits are ASCII, and
 * the decimal point does not depend on the locale. All return 0 or -errno: -EINVAL if there is no number, -ERANGE if it is out of
 * the range of the caller or the type. On failure neither `*at` nor `*ret` is changed.
 *
 * rd_take_… reads the number at `*at` and moves `*at` behind it, whatever follows. rd_parse_… requires the whole text to be the
 * number, without a newline (rd_read_textf removes that).
 */

enum rd_radix {
	RD_DECIMAL = 10,
	RD_HEX = 16, /* "1f" or "0x1f" */
	RD_AS_C = 0, /* "31", "0x1f", "037" */
};

/* The value of a hexadecimal digit of either case; 16 and more: not a digit. */
static inline unsigned rd_digit_value(char c)
{
	unsigned digit = (unsigned)(unsigned char)c - '0', letter = ((unsigned)(unsigned char)c | 32) - 'a';

	return digit < 10 ? digit : letter < 6 ? letter + 10 : UINT8_MAX;
}

/* All digits; a value of at most `most`. */
int rd_take_uint(const char **at, enum rd_radix radix, uint64_t most, uint64_t *ret);
int rd_parse_uint(const char *text, enum rd_radix radix, uint64_t most, uint64_t *ret);

/* The same for a number that may begin with "-", from `least` to `most`. */
int rd_take_int(const char **at, enum rd_radix radix, int64_t least, int64_t most, int64_t *ret);
int rd_parse_int(const char *text, enum rd_radix radix, int64_t least, int64_t most, int64_t *ret);

/* The same for 32-bit values. */
int rd_take_u32(const char **at, enum rd_radix radix, uint32_t most, uint32_t *ret);
int rd_parse_u32(const char *text, enum rd_radix radix, uint32_t most, uint32_t *ret);

/* Up to `n` numbers, each with optional leading spaces, as in columns of kernel files. Returns their number, and moves behind the
 * last one. */
size_t rd_take_uints(const char **at, enum rd_radix radix, uint64_t *ret, size_t n);

/* Exactly `digits` hexadecimal digits without "0x", at most 16; a further digit may follow. */
int rd_take_hex(const char **at, unsigned digits, uint64_t *ret);

/* "12", "0.25", ".5", "1e-12", rounded to nearest: never infinite; 0 on underflow. */
int rd_take_real(const char **at, double *ret);
int rd_parse_real(const char *text, double least, double most, double *ret);

/* The result of atoi(3): leading spaces and a sign are accepted, trailing text is ignored, and text without a number is 0. Only for
 * showing how programs that use atoi read a value. */
int rd_as_atoi(const char *text);

#define RD_RFC3339_SIZE 48

/* "2026-01-31T23:59:59.123456Z" of ns since the epoch. 0, or -EOVERFLOW for a time out of range, with "" in
 * `ret`. */
int rd_rfc3339(uint64_t ns, char ret[RD_RFC3339_SIZE]);

/* The reverse: ns since the epoch; 0: not such a text, or NULL. */
uint64_t rd_rfc3339_parse(const char *text);

#endif
