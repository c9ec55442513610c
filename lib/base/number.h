/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers in text: of the kernel, of files, of options.
 *
 * A number begins at the first byte: nothing here skips blanks, and no unsigned number has a sign, not even "+". Digits are those
 * of ASCII, and the point is one, whatever the locale. All return 0 or -errno: -EINVAL where no number stands, -ERANGE where it
 * is beyond what the caller or the type takes. What failed changes nothing: neither `*at` nor `*ret`.
 *
 * rd_take_… reads what stands at `*at` and moves that behind it, whatever comes next. rd_parse_… wants the whole text to be the
 * number: a line end, too, is more than that, and what sources hand out as text has none (rd_read_text).
 */
#ifndef RD_NUMBER_H
#define RD_NUMBER_H

#include "base/base.h"

enum rd_radix {
	RD_DECIMAL = 10,
	RD_HEX = 16, /* "1f" or "0x1f" */
	RD_AS_C = 0, /* "31", "0x1f", "037" */
};

/* The value of a hexadecimal digit of either case; 16 and more: it is none. */
extern const uint8_t rd_digit_values[256];

static inline unsigned rd_digit_value(char c)
{
	return rd_digit_values[(unsigned char)c];
}

/* As many digits as there are; up to `most`. */
int rd_take_uint(const char **at, enum rd_radix radix, uint64_t most, uint64_t *ret);
int rd_parse_uint(const char *text, enum rd_radix radix, uint64_t most, uint64_t *ret);

/* The same for a number that may begin with "-", from `least` to `most`. */
int rd_take_int(const char **at, enum rd_radix radix, int64_t least, int64_t most, int64_t *ret);
int rd_parse_int(const char *text, enum rd_radix radix, int64_t least, int64_t most, int64_t *ret);

/* For those who keep no more than 32 bits of it. */
int rd_take_u32(const char **at, enum rd_radix radix, uint32_t most, uint32_t *ret);
int rd_parse_u32(const char *text, enum rd_radix radix, uint32_t most, uint32_t *ret);

/* Numbers that blanks may precede, as the kernel aligns them in columns: up to `n`. Returns how many there are, and moves behind
 * the last of these. */
size_t rd_take_uints(const char **at, enum rd_radix radix, uint64_t *ret, size_t n);

/* Hexadecimal digits without "0x", exactly `digits` of them, 16 at most; what follows may be a digit, too. */
int rd_take_hex(const char **at, unsigned digits, uint64_t *ret);

/* "12", "0.25", ".5", "1e-12", rounded to the nearest: never infinite, and 0 where it is too close to 0. */
int rd_take_real(const char **at, double *ret);
int rd_parse_real(const char *text, double least, double most, double *ret);

/* What atoi(3) makes of it: blanks and a sign may stand before the digits, anything behind them, and what is no number is 0. For
 * saying what others will read who use that, and for nothing else. */
int rd_as_atoi(const char *text);

#endif
