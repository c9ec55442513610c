/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses in text, in all notations of sysfs, procfs and tools. */
#include "source/redact/redact.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>

#include "base/number.h"

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Hexadecimal digits with `separator` after every `group` bytes; returns the number of bytes, 0: no match. */
static size_t parse_hex(const char *text, size_t size, size_t group, char separator, uint8_t *ret, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < size; n++) {
		if (n > 0 && group && n % group == 0) {
			if (text[i++] != separator)
				return 0;
		}
		if (n == max || i + 2 > size || rd_digit_value(text[i]) >= 16 || rd_digit_value(text[i + 1]) >= 16)
			return 0;
		ret[n] = (uint8_t)(rd_digit_value(text[i]) << 4 | rd_digit_value(text[i + 1]));
		i += 2;
	}
	return n;
}

static void add_hex(const uint8_t *bytes, size_t size, size_t group, char separator, bool upper, struct rd_buf *out)
{
	for (size_t i = 0; i < size; i++) {
		if (i > 0 && group && i % group == 0)
			rd_buf_add(out, &separator, 1);
		rd_buf_printf(out, upper ? "%02X" : "%02x", bytes[i]);
	}
}

static bool has_upper(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (isupper((unsigned char)text[i]))
			return true;
	return false;
}

/* Pairs of digits with colons or dashes: MACs, IPoIB addresses, GUIDs. */
static bool try_pairs(struct rd_redact *redact, const char *text, size_t size, char separator, struct rd_buf *out)
{
	uint8_t bytes[20];
	size_t n = size >= 17 && text[2] == separator ? parse_hex(text, size, 1, separator, bytes, sizeof(bytes)) : 0;

	if (n == 8)
		rd_redact_guid(redact, bytes);
	else if (n == 6 || n == 20)
		rd_redact_hardware(redact, bytes, n);
	else
		return false;
	add_hex(bytes, n, 1, separator, has_upper(text, size), out);
	return true;
}

/* "0002:c903:00a1:b2c3", and GIDs written in full. */
static bool try_quads(struct rd_redact *redact, const char *text, size_t size, struct rd_buf *out)
{
	uint8_t bytes[16];
	size_t n = size == 19 || size == 39 ? parse_hex(text, size, 2, ':', bytes, sizeof(bytes)) : 0;

	if (n == 8)
		rd_redact_guid(redact, bytes);
	else if (n == 16)
		rd_redact_ip6(redact, bytes);
	else
		return false;
	add_hex(bytes, n, 2, ':', has_upper(text, size), out);
	return true;
}

static bool try_ip(struct rd_redact *redact, const char *text, size_t size, unsigned flags, struct rd_buf *out)
{
	char copy[INET6_ADDRSTRLEN], again[INET6_ADDRSTRLEN];
	uint8_t bytes[16];

	if (size >= sizeof(copy))
		return false;
	memcpy(copy, text, size);
	copy[size] = '\0';
	if (!(flags & RD_REDACT_VERSIONS) && inet_pton(AF_INET, copy, bytes) == 1) {
		rd_redact_ip4(redact, bytes);
		rd_buf_str(out, inet_ntop(AF_INET, bytes, again, sizeof(again)));
		return true;
	}
	if (strchr(copy, ':') && inet_pton(AF_INET6, copy, bytes) == 1) {
		rd_redact_ip6(redact, bytes);
		rd_buf_str(out, inet_ntop(AF_INET6, bytes, again, sizeof(again)));
		return true;
	}
	return false;
}

/* An address with colons or dots at this position; returns its length, 0: none. */
static size_t try_address(struct rd_redact *redact, const char *text, size_t size, unsigned flags, struct rd_buf *out)
{
	size_t n = 0;

	while (n < size && (isxdigit((unsigned char)text[n]) || text[n] == ':' || text[n] == '.'))
		n++;
	/* Trailing punctuation, or the colon of "address:port", does not belong to it. */
	for (; n >= 2; n--) {
		if (n < size && is_word(text[n]) && (text[n - 1] != ':' && text[n - 1] != '.'))
			continue;
		if (try_pairs(redact, text, n, ':', out) || try_quads(redact, text, n, out) ||
		    try_ip(redact, text, n, flags, out))
			return n;
		if (text[n - 1] != ':' && text[n - 1] != '.')
			break;
	}
	/* "address:port" */
	for (n = 0; n < size && (isdigit((unsigned char)text[n]) || text[n] == '.');)
		n++;
	while (n > 0 && text[n - 1] == '.')
		n--;
	if (n >= 7 && (n == size || !is_word(text[n])) && try_ip(redact, text, n, flags, out))
		return n;
	if (size >= 17 && (size == 17 || !is_word(text[17])) && try_pairs(redact, text, 17, '-', out))
		return 17;
	return 0;
}

/* 8-4-4-4-12 digits. */
static size_t try_uuid(struct rd_redact *redact, const char *text, size_t size, struct rd_buf *out)
{
	static const size_t groups[] = { 4, 2, 2, 2, 6 };
	uint8_t bytes[16];
	size_t at = 0, n = 0;

	if (size < 36 || (size > 36 && isxdigit((unsigned char)text[36])))
		return 0;
	for (size_t i = 0; i < RD_ARRAY_SIZE(groups); i++) {
		if (i > 0 && text[at++] != '-')
			return 0;
		if (parse_hex(text + at, 2 * groups[i], 0, 0, bytes + n, groups[i]) != groups[i])
			return 0;
		n += groups[i];
		at += 2 * groups[i];
	}
	rd_redact_uuid(redact, bytes);
	for (size_t i = 0, done = 0; i < RD_ARRAY_SIZE(groups); done += groups[i++]) {
		rd_buf_str(out, i ? "-" : "");
		add_hex(bytes + done, groups[i], 0, 0, has_upper(text, 36), out);
	}
	return 36;
}

/* Digits without separators are an address if that address is known ("enx0002c9a1b2c3"). */
static size_t try_digits(struct rd_redact *redact, const char *text, size_t size, struct rd_buf *out)
{
	uint8_t bytes[16], stand_in[16];
	size_t n = 0;
	bool known;

	while (n < size && isxdigit((unsigned char)text[n]))
		n++;
	if (n != 12 && n != 16 && n != 32)
		return 0;
	parse_hex(text, n, 0, 0, bytes, sizeof(bytes));
	if (n == 32)
		known = rd_redact_known(redact, RD_SECRET_IP6, bytes, 16, stand_in) ||
			rd_redact_known(redact, RD_SECRET_UUID, bytes, 16, stand_in);
	else
		known = rd_redact_known(redact, n == 12 ? RD_SECRET_MAC : RD_SECRET_GUID, bytes, n / 2, stand_in);
	if (!known)
		return 0;
	add_hex(stand_in, n / 2, 0, 0, has_upper(text, n), out);
	return n;
}

/* "kernel", "node0": may be a directory of sysfs, even if the host has that name. */
static bool may_be_folder(const char *name, size_t size)
{
	static const char *const counted[] = { "node", "cpu", "eth", "ib", "host", "card" };
	size_t letters = 0;

	while (letters < size && (islower((unsigned char)name[letters]) || name[letters] == '_'))
		letters++;
	if (letters == size)
		return true;
	for (size_t i = letters; i < size; i++)
		if (!isdigit((unsigned char)name[i]))
			return false;
	for (size_t i = 0; i < RD_ARRAY_SIZE(counted); i++)
		if (strlen(counted[i]) == letters && memcmp(counted[i], name, letters) == 0)
			return true;
	return false;
}

/* The longest known word at this position. `whole`: the text is a path component. */
static size_t try_word(struct rd_redact *redact, const char *text, size_t size, bool whole, struct rd_buf *out)
{
	for (size_t n = size < redact->longest ? size : redact->longest; n > 0; n--) {
		const struct rd_secret_word *word;

		if (!redact->has_length[n] || (n < size && is_word(text[n])))
			continue;
		word = rd_redact_find_word(redact, text, n);
		if (!word || !word->out)
			continue;
		if (whole && n == size && word->kind == RD_WORD_HOST && may_be_folder(text, n))
			continue;
		rd_buf_str(out, word->out);
		return n;
	}
	return 0;
}

void rd_redact_text(struct rd_redact *redact, const char *text, size_t size, unsigned flags, struct rd_buf *out)
{
	for (size_t i = 0; i < size;) {
		bool begins = i == 0 || !is_word(text[i - 1]);
		bool digits = i == 0 || !isxdigit((unsigned char)text[i - 1]);
		size_t n = 0;

		if (begins && (isxdigit((unsigned char)text[i]) || text[i] == ':'))
			n = try_uuid(redact, text + i, size - i, out);
		if (!n && begins && (i == 0 || text[i - 1] != '.') &&
		    (isxdigit((unsigned char)text[i]) || text[i] == ':'))
			n = try_address(redact, text + i, size - i, flags, out);
		if (!n && digits && isxdigit((unsigned char)text[i]))
			n = try_digits(redact, text + i, size - i, out);
		if (!n && begins)
			n = try_word(redact, text + i, size - i, i == 0 && (flags & RD_REDACT_PATH), out);
		if (!n) {
			rd_buf_add(out, text + i, 1);
			n = 1;
		}
		i += n;
	}
	if (out->failed)
		redact->failed = true;
}
