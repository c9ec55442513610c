/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mutate.h"
#include "base/buf.h"

#include "source/bundle/tree.h"
#include "source/shared/netlink.h"

#include <errno.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <string.h>

#define ANSWER_MAX ((size_t)128 << 10)
#define NAME_BYTES_MAX 255

static char long_text[2000], long_digits[400];

static const char *const tokens[] = {
	"0",
	"-1",
	"1",
	"65535",
	"65536",
	"2147483648",
	"4294967295",
	"4294967296",
	"9223372036854775807",
	"9223372036854775808",
	"18446744073709551615",
	"18446744073709551616",
	"-9223372036854775808",
	"1e308",
	"1e999",
	"nan",
	"inf",
	"0.1",
	"-0.0",
	"0x",
	"0xffffffffffffffff",
	"0x7fffffff",
	"1:2:3:4:5:6:7:8:9",
	"::",
	"0000:0000:0000:0000:0000:ffff:0a00:0001",
	"fe80:0000:0000:0000:0000:0000:0000:0001",
	"ffff:ff:1f.7",
	"0000:00:00.0",
	"10000:00:00.0",
	"%n%s%n",
	"%",
	"\033[2J",
	"\a\b\r",
	"\n",
	"\n\n",
	"\t",
	" ",
	"\x7f",
	"\xc2\x9b"
	"31m",
	"\xff\xfe",
	"\xc0\xaf",
	"\xed\xa0\x80",
	"\xf4\x90\x80\x80",
	"\xe2\x80\xae",
	"\xe2\x80\xa8",
	"\xf0\x9f\xa6\x86",
	"\xc3",
	"'",
	"\"",
	"\\",
	"';reboot;'",
	"$(reboot)",
	"|",
	"#",
	"=",
	",",
	":",
	"^",
	"*",
	"[",
	"<",
	"&lt;]]>",
	"{\"a\":",
	"..",
	".",
	"../../..",
	"/",
	"mlx5_0",
	"mlx5_bond_0",
	"rxe0",
	"lo",
	"unknown",
	"Unknown",
	"N/A",
	"none",
	"4: ACTIVE",
	"1: DOWN",
	"5: LinkUp",
	"InfiniBand",
	"Ethernet",
	"RoCE v2",
	"IB/RoCE v1",
	"400 Gb/sec (4X NDR)",
	"0 Gb/sec (0X)",
	"99999999999 Gb/sec (4X HDR)",
	"32.0 GT/s PCIe",
	"0x030200",
	"0x020700",
	"0x060400",
	"0x15b3",
	"0-1048575",
	"0-4294967295",
	"5-3",
	long_digits,
	long_text,
};

#define REFUSALS 4 /* of the first */
static const int errnos[] = { EACCES,	    EIO,	EPERM,	 EMFILE,  ETIMEDOUT,	  ENOENT, ENODEV,
			      EINVAL,	    EOPNOTSUPP, ENOTDIR, EISDIR,  ENXIO,	  EAGAIN, ELOOP,
			      ENAMETOOLONG, EBADMSG,	EFBIG,	 ENODATA, EPROTONOSUPPORT };

static const uint64_t numbers[] = {
	0,
	1,
	2,
	0x7f,
	0x80,
	0xff,
	0x7fff,
	0x8000,
	0xffff,
	0x7fffffff,
	0x80000000,
	0xffffffff,
	0x100000000,
	INT64_MAX,
	UINT64_MAX,
	UINT64_MAX - 7,
	1000000000,
	86400000000000,
	20000000000000000,
};

static const char *token(const struct change *change)
{
	if (!long_text[0]) {
		memset(long_text, 'A', sizeof(long_text) - 1);
		memset(long_digits, '9', sizeof(long_digits) - 1);
	}
	return tokens[change->pick % RD_ARRAY_SIZE(tokens)];
}

void change_read(struct reader *input, struct change *ret)
{
	ret->verb = reader_byte(input) % VERBS;
	ret->pick = reader_byte(input);
	ret->at = reader_short(input);
	ret->data = input->data;
	ret->size = ret->verb == V_BYTES || ret->verb == V_PUT ? reader_byte(input) : 0;
	ret->data = input->data;
	ret->size = ret->size < input->size ? ret->size : input->size;
	input->data += ret->size;
	input->size -= ret->size;
}

void change_refuse(struct change *change)
{
	change->verb = V_ERRNO;
	change->pick %= REFUSALS;
}

int change_errno(const struct change *change)
{
	return errnos[change->pick % RD_ARRAY_SIZE(errnos)];
}

uint64_t change_number(const struct change *change)
{
	return numbers[change->pick % RD_ARRAY_SIZE(numbers)];
}

/* Puts other bytes in the place of `size` bytes at `at`. */
static void splice(struct rd_bytes *bytes, size_t at, size_t size, const void *data, size_t data_size)
{
	struct rd_buf out = { 0 };

	if (bytes->size - size + data_size > ANSWER_MAX)
		return;
	rd_buf_add(&out, bytes->data, at);
	rd_buf_add(&out, data, data_size);
	rd_buf_add(&out, bytes->data + at + size, bytes->size - at - size);
	if (out.failed)
		return;
	free(bytes->data);
	*bytes = (struct rd_bytes){ (uint8_t *)out.data, out.len };
}

/* The n-th run of bytes that are, or are not, blank and such, counted round. False: there is none. */
static bool part(const struct rd_bytes *bytes, const char *ends, size_t n, size_t *at, size_t *size)
{
	size_t parts = 0;

	for (int pass = 0; pass < 2; pass++) {
		size_t seen = 0;

		for (size_t i = 0; i < bytes->size;) {
			size_t begin = i;

			while (i < bytes->size && !memchr(ends, bytes->data[i], strlen(ends)))
				i++;
			if (i > begin && pass == 1 && seen == n % parts) {
				*at = begin;
				*size = i - begin;
				return true;
			}
			seen += i > begin;
			i++;
		}
		parts = seen;
		if (parts == 0)
			return false;
	}
	return false;
}

static void repeat(struct rd_bytes *bytes, size_t at, size_t size, unsigned times)
{
	_cleanup_free_ uint8_t *one = malloc(size + 1);
	struct rd_buf all = { 0 };

	if (one) {
		memcpy(one, bytes->data + at, size);
		for (unsigned i = 0; i < times && all.len < ANSWER_MAX / 2; i++)
			rd_buf_add(&all, one, size);
		splice(bytes, at, 0, all.data ? all.data : "", all.len);
	}
	rd_buf_deinit(&all);
}

static void put_number(const struct change *change, struct rd_bytes *bytes)
{
	uint64_t value = change_number(change);
	size_t width = (size_t)1 << (change->pick >> 5 & 3), at;

	if (bytes->size < width)
		return;
	at = change->at % (bytes->size - width + 1);
	memcpy(bytes->data + at, &value, width);
}

static void put_data(const struct change *change, struct rd_bytes *bytes)
{
	size_t at = bytes->size ? change->at % bytes->size : 0;
	size_t size = change->size < bytes->size - at ? change->size : bytes->size - at;

	if (size)
		memcpy(bytes->data + at, change->data, size);
}

static void change_line(const struct change *change, struct rd_bytes *bytes)
{
	size_t at, size;

	if (!part(bytes, "\n", change->at, &at, &size))
		return;
	size += at + size < bytes->size;
	if (change->verb == V_DROP)
		splice(bytes, at, size, "", 0);
	else
		repeat(bytes, at, size, change->pick + 1u);
}

void change_bytes(const struct change *change, struct rd_bytes *bytes)
{
	size_t at = change->at % (bytes->size + 1), size;
	const char *text = token(change);

	switch (change->verb) {
	case V_EMPTY:
		splice(bytes, 0, bytes->size, "", 0);
		break;
	case V_CUT:
		splice(bytes, at, bytes->size - at, "", 0);
		break;
	case V_TOKEN:
		splice(bytes, 0, bytes->size, text, strlen(text));
		break;
	case V_WORD:
		if (part(bytes, " \t\n,:=/()[]{}<>\"'", change->at, &at, &size))
			splice(bytes, at, size, text, strlen(text));
		break;
	case V_INSERT:
		splice(bytes, at, 0, text, strlen(text));
		break;
	case V_BYTES:
		splice(bytes, 0, bytes->size, change->data, change->size);
		break;
	case V_PUT:
		put_data(change, bytes);
		break;
	case V_NUMBER:
		put_number(change, bytes);
		break;
	case V_FLIP:
		if (bytes->size)
			bytes->data[change->at % bytes->size] ^= (uint8_t)(1u << change->pick % 8);
		break;
	case V_DROP:
	case V_REPEAT:
		change_line(change, bytes);
		break;
	default:
		break;
	}
}

/* The n-th message, counted round; false: there are none. */
static bool message(const struct rd_bytes *bytes, size_t n, size_t *at, size_t *size)
{
	size_t messages = 0;

	for (size_t i = 0, length; (length = rd_nlmsg_length(bytes->data + i, bytes->size - i)); i += length)
		messages++;
	n = messages ? n % messages : 0;
	for (size_t i = 0, length; messages && (length = rd_nlmsg_length(bytes->data + i, bytes->size - i)); i += length)
		if (n-- == 0) {
			*at = i;
			*size = length;
			return true;
		}
	return false;
}

/* Inside of one message, whose length stays. */
static void change_message(const struct change *change, struct rd_bytes *bytes, size_t at, size_t size)
{
	struct change again = *change;
	struct rd_bytes one;

	if (size <= NLMSG_HDRLEN || rd_bytes_copy(bytes->data + at + NLMSG_HDRLEN, size - NLMSG_HDRLEN, &one) < 0)
		return;
	if (change->verb == V_TOKEN || change->verb == V_WORD || change->verb == V_INSERT) {
		again = (struct change){ V_PUT, 0, change->at, (const uint8_t *)token(change),
					 strlen(token(change)) + 1 };
	} else if (change->verb == V_BYTES) {
		again.verb = V_PUT;
	}
	change_bytes(&again, &one);
	if (one.size == size - NLMSG_HDRLEN)
		memcpy(bytes->data + at + NLMSG_HDRLEN, one.data, one.size);
	rd_bytes_deinit(&one);
}

void change_messages(const struct change *change, struct rd_bytes *bytes)
{
	size_t at, size;

	if (!message(bytes, change->at, &at, &size))
		return;
	switch (change->verb) {
	case V_EMPTY:
		splice(bytes, 0, bytes->size, "", 0);
		break;
	case V_CUT:
		splice(bytes, at, bytes->size - at, "", 0);
		break;
	case V_DROP:
		splice(bytes, at, size, "", 0);
		break;
	case V_REPEAT:
		repeat(bytes, at, size, change->pick % 64 + 1u);
		break;
	default:
		change_message(change, bytes, at, size);
	}
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* As a directory has them: no slashes, sorted, each once. */
static void settle(struct rd_texts *names)
{
	size_t n = 0;

	if (names->n)
		qsort(names->v, names->n, sizeof(*names->v), by_bytes);
	for (size_t i = 0; i < names->n; i++)
		if (n && strcmp(names->v[n - 1], names->v[i]) == 0)
			free(names->v[i]);
		else
			names->v[n++] = names->v[i];
	names->n = n;
}

static void add_name(struct rd_texts *names, const void *data, size_t size)
{
	char *name = strndup(data, size < NAME_BYTES_MAX ? size : NAME_BYTES_MAX);

	for (char *slash = name; slash && (slash = strchr(slash, '/'));)
		*slash = '!';
	if (!name || !*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	    rd_grow(&names->v, &names->cap, names->n + 1, sizeof(*names->v)) < 0)
		free(name);
	else
		names->v[names->n++] = name;
}

static void drop_name(struct rd_texts *names, size_t i)
{
	free(names->v[i]);
	memmove(&names->v[i], &names->v[i + 1], (names->n - i - 1) * sizeof(*names->v));
	names->n--;
}

static void keep_names(struct rd_texts *names, size_t n)
{
	while (names->n > n)
		drop_name(names, names->n - 1);
}

/* One name more, which gets the answers of the i-th. */
static void add_as(struct rd_texts *names, size_t i, const void *data, size_t size,
		   void (*add_alias)(const char *name, const char *of))
{
	size_t n = names->n;

	add_name(names, data, size);
	if (n && names->n > n)
		add_alias(names->v[n], names->v[i]);
}

void change_names(const struct change *change, char many, void (*add_alias)(const char *name, const char *of),
		  struct rd_texts *names)
{
	size_t i = names->n ? change->at % names->n : 0;
	const char *text = token(change);
	char name[512];

	switch (change->verb) {
	case V_EMPTY:
		keep_names(names, 0);
		break;
	case V_CUT:
		keep_names(names, i);
		break;
	case V_TOKEN:
	case V_WORD:
	case V_INSERT:
		add_as(names, i, text, strlen(text), add_alias);
		if (change->verb != V_INSERT && names->n > 1)
			drop_name(names, i);
		break;
	case V_BYTES:
	case V_PUT:
		add_as(names, i, change->data, change->size, add_alias);
		break;
	case V_DROP:
		if (names->n)
			drop_name(names, i);
		break;
	case V_REPEAT:
		for (unsigned n = 0; names->n && n <= change->pick; n++) {
			snprintf(name, sizeof(name), "%.200s%c%u", names->v[i], many, n);
			add_name(names, name, strlen(name));
		}
		break;
	default:
		break;
	}
	settle(names);
}
