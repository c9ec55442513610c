/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers and times in texts. */
#include "base/text.h"

#include <math.h>
#include <time.h>

#define BLANKS " \t"
#define DIGITS "0123456789"

/* Inline, so that the multiplication is by a constant: it reads lists of a hundred thousand addresses. */
static inline __attribute__((always_inline)) int take_digits(const char **at, unsigned radix, uint64_t most,
							     uint64_t *ret)
{
	const char *digit = *at;
	uint64_t value = 0;
	unsigned v;

	if (rd_digit_value(*digit) >= radix)
		return -EINVAL;
	for (; (v = rd_digit_value(*digit)) < radix; digit++)
		if (__builtin_mul_overflow(value, radix, &value) || __builtin_add_overflow(value, v, &value))
			return -ERANGE;
	if (value > most)
		return -ERANGE;
	*at = digit;
	*ret = value;
	return 0;
}

int rd_take_uint(const char **at, enum rd_radix radix, uint64_t most, uint64_t *ret)
{
	const char *begin = *at;
	int r;

	/* "0x" alone is a 0 followed by other text. */
	if (radix != RD_DECIMAL && (begin[0] == '0' && (begin[1] | 32) == 'x' && rd_digit_value(begin[2]) < 16)) {
		radix = RD_HEX;
		begin += 2;
	}
	r = radix == RD_HEX		      ? take_digits(&begin, 16, most, ret) :
	    radix == RD_AS_C && *begin == '0' ? take_digits(&begin, 8, most, ret) :
						take_digits(&begin, 10, most, ret);
	if (!r)
		*at = begin;
	return r;
}

int rd_parse_uint(const char *text, enum rd_radix radix, uint64_t most, uint64_t *ret)
{
	uint64_t value;
	int r = rd_take_uint(&text, radix, most, &value);

	if (r < 0 || *text)
		return r < 0 ? r : -EINVAL;
	*ret = value;
	return 0;
}

int rd_take_int(const char **at, enum rd_radix radix, int64_t least, int64_t most, int64_t *ret)
{
	bool negative = **at == '-';
	const char *begin = *at + negative;
	uint64_t magnitude;
	int r = rd_take_uint(&begin, radix, (uint64_t)INT64_MAX + negative, &magnitude);
	int64_t value;

	if (r < 0)
		return r;
	value = (int64_t)(negative ? -magnitude : magnitude);
	if (value < least || value > most)
		return -ERANGE;
	*at = begin;
	*ret = value;
	return 0;
}

int rd_parse_int(const char *text, enum rd_radix radix, int64_t least, int64_t most, int64_t *ret)
{
	int64_t value;
	int r = rd_take_int(&text, radix, least, most, &value);

	if (r < 0 || *text)
		return r < 0 ? r : -EINVAL;
	*ret = value;
	return 0;
}

int rd_take_u32(const char **at, enum rd_radix radix, uint32_t most, uint32_t *ret)
{
	uint64_t value;
	int r = rd_take_uint(at, radix, most, &value);

	if (!r)
		*ret = (uint32_t)value;
	return r;
}

int rd_parse_u32(const char *text, enum rd_radix radix, uint32_t most, uint32_t *ret)
{
	uint64_t value;
	int r = rd_parse_uint(text, radix, most, &value);

	if (!r)
		*ret = (uint32_t)value;
	return r;
}

size_t rd_take_uints(const char **at, enum rd_radix radix, uint64_t *ret, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *begin = *at + strspn(*at, BLANKS);

		if (rd_take_uint(&begin, radix, UINT64_MAX, &ret[i]) < 0)
			return i;
		*at = begin;
	}
	return n;
}

int rd_take_hex(const char **at, unsigned digits, uint64_t *ret)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < digits; i++) {
		if (rd_digit_value((*at)[i]) >= 16)
			return -EINVAL;
		value = value << 4 | rd_digit_value((*at)[i]);
	}
	*at += digits;
	*ret = value;
	return 0;
}

/* The length of a number with optional point and exponent. */
static size_t real_size(const char *text)
{
	size_t whole = strspn(text, DIGITS), point = text[whole] == '.';
	size_t fraction = point ? strspn(text + whole + 1, DIGITS) : 0;
	size_t size = whole + point + fraction, sign, exponent;

	if (whole + fraction == 0)
		return 0;
	if ((text[size] | 32) != 'e')
		return size;
	sign = text[size + 1] == '-' || text[size + 1] == '+';
	exponent = strspn(text + size + 1 + sign, DIGITS);
	return exponent ? size + 1 + sign + exponent : size;
}

/* strtod rounds to nearest, and uses a decimal point because the program never sets LC_NUMERIC. */
int rd_take_real(const char **at, double *ret)
{
	size_t size = real_size(*at);
	double value;

	if (size == 0)
		return -EINVAL;
	/* strtod would parse "0x1" as hexadecimal; here the number is the 0 before the x. */
	value = **at == '0' && ((*at)[1] | 32) == 'x' ? 0 : strtod(*at, NULL);
	if (isinf(value))
		return -ERANGE;
	*at += size;
	*ret = value;
	return 0;
}

int rd_parse_real(const char *text, double least, double most, double *ret)
{
	double value;
	int r = rd_take_real(&text, &value);

	if (r < 0 || *text)
		return r < 0 ? r : -EINVAL;
	if (value < least || value > most)
		return -ERANGE;
	*ret = value;
	return 0;
}

int rd_as_atoi(const char *text)
{
	return (int)strtol(text, NULL, 10);
}

int rd_rfc3339(uint64_t ns, char ret[RD_RFC3339_SIZE])
{
	time_t seconds = ns / 1000000000u;
	char date[32];
	struct tm tm;

	ret[0] = '\0';
	if (!gmtime_r(&seconds, &tm) || !strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm))
		return -EOVERFLOW;
	snprintf(ret, RD_RFC3339_SIZE, "%s.%06uZ", date, (unsigned)(ns % 1000000000u / 1000));
	return 0;
}

uint64_t rd_rfc3339_parse(const char *text)
{
	struct tm tm = { 0 };
	const char *rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
	double fraction = 0;
	time_t seconds;

	if (!rest)
		return 0;
	if (*rest == '.')
		rd_take_real(&rest, &fraction);
	seconds = timegm(&tm);
	if (strcmp(rest, "Z") != 0 || seconds <= 0 || seconds > 10000000000 || fraction >= 1)
		return 0;
	return (uint64_t)seconds * 1000000000u + (uint64_t)(fraction * 1e9);
}
