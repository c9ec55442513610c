/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <ctype.h>

#define UNTOUCHED 4711

static void assert_uint(const char *text, enum rd_radix radix, uint64_t most, uint64_t want)
{
	uint64_t got = UNTOUCHED;

	assert_int_equal(rd_parse_uint(text, radix, most, &got), 0);
	assert_int_equal(got, want);
}

static void refuse_uint(const char *text, enum rd_radix radix, uint64_t most, int want)
{
	uint64_t got = UNTOUCHED;

	assert_int_equal(rd_parse_uint(text, radix, most, &got), want);
	assert_int_equal(got, UNTOUCHED);
}

static void assert_taken(const char *text, enum rd_radix radix, uint64_t want, const char *rest)
{
	const char *at = text;
	uint64_t got = UNTOUCHED;

	assert_int_equal(rd_take_uint(&at, radix, UINT64_MAX, &got), 0);
	ASSERT_EACH(IS(got, want), READS(at, rest));
}

TEST(a_number_is_read_up_to_the_greatest)
{
	assert_uint("0", RD_DECIMAL, UINT64_MAX, 0);
	assert_uint("18446744073709551615", RD_DECIMAL, UINT64_MAX, UINT64_MAX);
	refuse_uint("18446744073709551616", RD_DECIMAL, UINT64_MAX, -ERANGE);
	refuse_uint("184467440737095516150", RD_DECIMAL, UINT64_MAX, -ERANGE);
	assert_uint("ffffffffffffffff", RD_HEX, UINT64_MAX, UINT64_MAX);
	refuse_uint("10000000000000000", RD_HEX, UINT64_MAX, -ERANGE);
	assert_uint("01777777777777777777777", RD_AS_C, UINT64_MAX, UINT64_MAX);
	refuse_uint("02000000000000000000000", RD_AS_C, UINT64_MAX, -ERANGE);
	assert_uint("000000000000000000000000000000007", RD_DECIMAL, 7, 7);
}

TEST(a_range_ends_where_the_caller_says)
{
	uint32_t value = UNTOUCHED;

	assert_uint("65535", RD_DECIMAL, 65535, 65535);
	refuse_uint("65536", RD_DECIMAL, 65535, -ERANGE);
	refuse_uint("1", RD_DECIMAL, 0, -ERANGE);
	assert_int_equal(rd_parse_u32("4294967296", RD_DECIMAL, UINT32_MAX, &value), -ERANGE);
	assert_int_equal(value, UNTOUCHED);
	assert_int_equal(rd_parse_u32("4294967295", RD_DECIMAL, UINT32_MAX, &value), 0);
	assert_int_equal(value, UINT32_MAX);
}

TEST(a_number_is_nothing_but_digits)
{
	static const char *const bad[] = { "",	"-",   "+",  "+1", "-1", "-0", " 1",  "1 ",   "1\n", "\t1",
					   "x", "0x1", "1.", "1,", "1a", "a",  "\v1", "\xb2", "½",   "1\xc2\xa0" };

	for (size_t i = 0; i < RD_ARRAY_SIZE(bad); i++)
		refuse_uint(bad[i], RD_DECIMAL, UINT64_MAX, -EINVAL);
	refuse_uint("0x", RD_HEX, UINT64_MAX, -EINVAL);
	refuse_uint("0xg", RD_HEX, UINT64_MAX, -EINVAL);
	refuse_uint("0x0x1", RD_HEX, UINT64_MAX, -EINVAL);
	refuse_uint("-0x1", RD_HEX, UINT64_MAX, -EINVAL);
	refuse_uint("08", RD_AS_C, UINT64_MAX, -EINVAL);
	refuse_uint("0b1", RD_AS_C, UINT64_MAX, -EINVAL);
}

TEST(a_radix_is_the_callers_or_that_of_c)
{
	assert_uint("010", RD_DECIMAL, UINT64_MAX, 10);
	assert_uint("010", RD_AS_C, UINT64_MAX, 8);
	assert_uint("010", RD_HEX, UINT64_MAX, 16);
	assert_uint("0X1F", RD_HEX, UINT64_MAX, 31);
	assert_uint("1f", RD_HEX, UINT64_MAX, 31);
	assert_uint("0x1f", RD_AS_C, UINT64_MAX, 31);
	assert_uint("31", RD_AS_C, UINT64_MAX, 31);
	assert_uint("0", RD_AS_C, UINT64_MAX, 0);
}

TEST(what_follows_a_number_is_left)
{
	assert_taken("12 34", RD_DECIMAL, 12, " 34");
	assert_taken("7f0a-7f0b", RD_HEX, 0x7f0a, "-7f0b");
	assert_taken("0xg", RD_HEX, 0, "xg");
	assert_taken("0x", RD_AS_C, 0, "x");
	assert_taken("078", RD_AS_C, 7, "8");
	assert_taken("3/8", RD_DECIMAL, 3, "/8");
	assert_taken("1e5", RD_DECIMAL, 1, "e5");
}

TEST(what_is_no_number_moves_nothing)
{
	const char *const words[] = { "none", "18446744073709551616", "" };

	for (size_t i = 0; i < RD_ARRAY_SIZE(words); i++) {
		const char *at = words[i];
		uint64_t u = UNTOUCHED;
		int64_t s = UNTOUCHED;
		double real = UNTOUCHED;

		assert_true(rd_take_uint(&at, RD_DECIMAL, UINT64_MAX, &u) < 0);
		assert_true(rd_take_int(&at, RD_DECIMAL, INT64_MIN, INT64_MAX, &s) < 0);
		assert_true(i == 1 || rd_take_real(&at, &real) < 0);
		assert_ptr_equal(at, words[i]);
		assert_true(u == UNTOUCHED && s == UNTOUCHED && real == UNTOUCHED);
	}
}

static void assert_int(const char *text, int64_t least, int64_t most, int want, int64_t value)
{
	int64_t got = UNTOUCHED;

	assert_int_equal(rd_parse_int(text, RD_DECIMAL, least, most, &got), want);
	assert_int_equal(got, want ? UNTOUCHED : value);
}

TEST(a_sign_is_for_numbers_that_have_one)
{
	int64_t value = 0;

	assert_int("9223372036854775807", INT64_MIN, INT64_MAX, 0, INT64_MAX);
	assert_int("9223372036854775808", INT64_MIN, INT64_MAX, -ERANGE, 0);
	assert_int("-9223372036854775808", INT64_MIN, INT64_MAX, 0, INT64_MIN);
	assert_int("-9223372036854775809", INT64_MIN, INT64_MAX, -ERANGE, 0);
	assert_int("-1", -1, 5, 0, -1);
	assert_int("-2", -1, 5, -ERANGE, 0);
	assert_int("6", -1, 5, -ERANGE, 0);
	assert_int("-0", 0, 0, 0, 0);
	assert_int("+1", -1, 5, -EINVAL, 0);
	assert_int("--1", -1, 5, -EINVAL, 0);
	assert_int("- 1", -1, 5, -EINVAL, 0);
	assert_int("-", -1, 5, -EINVAL, 0);
	assert_int_equal(rd_parse_int("-0x10", RD_AS_C, INT64_MIN, INT64_MAX, &value), 0);
	assert_int_equal(value, -16);
}

TEST(hexadecimal_of_a_width_is_cut_there)
{
	const char *text = "0001fFfF8000g", *at = text;
	uint64_t value = UNTOUCHED;

	assert_int_equal(rd_take_hex(&at, 4, &value), 0);
	assert_int_equal(value, 1);
	assert_int_equal(rd_take_hex(&at, 4, &value), 0);
	assert_int_equal(value, 0xffff);
	assert_int_equal(rd_take_hex(&at, 5, &value), -EINVAL);
	assert_ptr_equal(at, text + 8);
	assert_int_equal(value, 0xffff);
	at = "0x01";
	assert_int_equal(rd_take_hex(&at, 2, &value), -EINVAL);
	at = "ffffffffffffffff0";
	assert_int_equal(rd_take_hex(&at, 16, &value), 0);
	ASSERT_EACH(IS(value, UINT64_MAX), READS(at, "0"));
}

TEST(columns_are_read_up_to_what_is_no_number)
{
	const char *text = "         0 \t4294967295 x 7", *at = text;
	uint64_t v[3] = { UNTOUCHED, UNTOUCHED, UNTOUCHED };

	assert_int_equal(rd_take_uints(&at, RD_DECIMAL, v, 3), 2);
	ASSERT_EACH(IS(v[0] == 0 && v[1] == 4294967295 && v[2] == UNTOUCHED, true), READS(at, " x 7"));
	at = "1 2 3";
	assert_int_equal(rd_take_uints(&at, RD_DECIMAL, v, 2), 2);
	assert_string_equal(at, " 3");
	at = "1\n2";
	assert_int_equal(rd_take_uints(&at, RD_DECIMAL, v, 3), 1);
}

TEST(digits_have_values_and_nothing_else_has)
{
	for (int c = 0; c < 256; c++) {
		bool letter = (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'), digit = c >= '0' && c <= '9';
		unsigned want = digit ? (unsigned)c - '0' : letter ? ((unsigned)c | 32) - 'a' + 10 : 255;

		assert_int_equal(rd_digit_value((char)c), want);
	}
}

static void assert_real(const char *text, double want, const char *rest)
{
	const char *at = text;
	double got = UNTOUCHED;

	assert_int_equal(rd_take_real(&at, &got), 0);
	ASSERT_EACH(IS(got == want, true), READS(at, rest));
}

TEST(a_real_number_has_a_point_and_an_exponent)
{
	assert_real("0", 0, "");
	assert_real("2.5", 2.5, "");
	assert_real(".5", .5, "");
	assert_real("5.", 5, "");
	assert_real("1e-12", 1e-12, "");
	assert_real("1E+3s", 1000, "s");
	assert_real("16.0 GT/s PCIe", 16, " GT/s PCIe");
	assert_real("1e", 1, "e");
	assert_real("1e+", 1, "e+");
	assert_real("1,5", 1, ",5");
	assert_real("1.2.3", 1.2, ".3");
	assert_real("0x10", 0, "x10");
	assert_real("0x.8p1", 0, "x.8p1");
	assert_real("1e-999", 0, "");
	assert_real("1.7976931348623157e308", 1.7976931348623157e308, "");
	assert_real("0.1", 0.1, "");
}

TEST(a_real_number_is_finite_and_in_range)
{
	static const char *const bad[] = {
		"", ".", "-1", "+1", " 1", "inf", "INFINITY", "nan", "e5", ".e5", "1 ", "1s"
	};
	double value = UNTOUCHED;

	for (size_t i = 0; i < RD_ARRAY_SIZE(bad); i++)
		assert_int_equal(rd_parse_real(bad[i], 0, 1e9, &value), -EINVAL);
	assert_int_equal(rd_parse_real("1e309", 0, 1e300, &value), -ERANGE);
	assert_int_equal(rd_parse_real("0.09", 0.1, 10, &value), -ERANGE);
	assert_int_equal(rd_parse_real("10.01", 0.1, 10, &value), -ERANGE);
	assert_true(value == UNTOUCHED);
	assert_int_equal(rd_parse_real("10", 0.1, 10, &value), 0);
	assert_true(value == 10);
	assert_int_equal(rd_parse_real("0.1", 0.1, 10, &value), 0);
	assert_true(value == 0.1);
}

/* Of whole numbers without sign and blanks both say the same. */
TEST(the_c_library_reads_the_same)
{
	static const enum rd_radix radixes[] = { RD_DECIMAL, RD_HEX, RD_AS_C };
	static const char letters[] = "0011789afxX ";
	uint64_t seed = 1;

	for (int round = 0; round < 20000; round++) {
		enum rd_radix radix = radixes[round % 3];
		char text[24] = "", *end;
		uint64_t got = 0, want;

		for (int i = 0; i < round % 22; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			text[i] = letters[(seed >> 33) % (sizeof(letters) - 1)];
		}
		errno = 0;
		want = strtoull(text, &end, radix);
		if (end == text || *end || isspace((unsigned char)*text) || errno) {
			assert_true(rd_parse_uint(text, radix, UINT64_MAX, &got) < 0);
			continue;
		}
		assert_int_equal(rd_parse_uint(text, radix, UINT64_MAX, &got), 0);
		assert_int_equal(got, want);
	}
}
