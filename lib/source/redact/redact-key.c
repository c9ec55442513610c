/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The key of pseudonyms: a file of the operator, or random. */
#include "source/opener/opener.h"
#include "source/record/record.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#define KEY_MIN 16
#define KEY_MAX 4096

int rd_redact_key_make_up(struct rd_sipkey *ret, struct rd_err *err)
{
	if (getrandom(ret->k, sizeof(ret->k), 0) != sizeof(ret->k))
		return rd_err_set(err, errno, "getrandom", "cannot generate a key for pseudonyms");
	return 0;
}

/* Derives the sixteen key bytes of the hash from all bytes of the file. */
static void key_of(uint8_t *bytes, size_t size, struct rd_sipkey *ret)
{
	struct rd_sipkey first;

	memcpy(first.k, bytes, sizeof(first.k));
	for (uint8_t i = 0; i < 2; i++) {
		bytes[size] = i;
		ret->k[i] = rd_siphash(&first, bytes, size + 1);
	}
}

int rd_redact_key_read(const char *path, struct rd_sipkey *ret, struct rd_err *err)
{
	_cleanup_close_ int fd = rd_opener_open(path);
	uint8_t bytes[KEY_MAX + 1];
	ssize_t size = fd < 0 ? -1 : read(fd, bytes, KEY_MAX);

	if (size < 0) {
		int code = fd < 0 ? -fd : errno;

		rd_err_set(err, code, path, "cannot read the key");
		if (code == ENOENT)
			rd_err_hint(err, "(umask 077; head -c 32 /dev/urandom > %s)", path);
		return -code;
	}
	if (size < KEY_MIN)
		return rd_err_set(err, EINVAL, path, "a key must have at least %d bytes; this file has %zd", KEY_MIN,
				  size);
	key_of(bytes, (size_t)size, ret);
	explicit_bzero(bytes, sizeof(bytes));
	return 0;
}
