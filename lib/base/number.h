/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parsing of numbers in kernel files, other files and options.
 *
 * A number begins at the first byte: spaces are not skipped, and unsigned numbers have no sign, not even "+". Digits are ASCII, and
 * the decimal point does not depend on the locale. All return 0 or -errno: -EINVAL if there is no number, -ERANGE if it is out of
 * the range of the caller or the type. On failure neither `*at` nor `*ret` is changed.
 *
 * rd_take_… reads the number at `*at` and moves `*at` behind it, whatever follows. rd_parse_… requires the whole text to be the
 * number, without a newline (rd_read_textf removes that).
 */
#ifndef RD_NUMBER_H
#define RD_NUMBER_H

#include "base/base.h"

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

#endif
