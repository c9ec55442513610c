/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/bundle/standard-input.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#define NAME "standard input"
#define READ_SIZE ((size_t)64 << 10)

static struct rd_bytes input;
static bool is_read;

/* The flag O_NONBLOCK belongs to the pipe: another program may have set it. */
static ssize_t read_some(void *to, size_t size)
{
	struct pollfd fd = { STDIN_FILENO, POLLIN, 0 };
	ssize_t n;

	while ((n = read(STDIN_FILENO, to, size)) < 0 && (errno == EINTR || errno == EAGAIN))
		if (errno == EAGAIN)
			poll(&fd, 1, -1);
	return n;
}

static int read_all(struct rd_bytes *ret, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	size_t cap = 0;
	ssize_t n;

	do {
		if (rd_grow(&bytes.data, &cap, bytes.size + READ_SIZE + 1, 1) < 0)
			return rd_err_set(err, ENOMEM, NAME, "no memory for the bundle");
		n = read_some(bytes.data + bytes.size, READ_SIZE);
		if (n < 0)
			return rd_err_set(err, errno, NAME, "cannot read the bundle");
		bytes.size += (size_t)n;
		if (bytes.size > RD_FILE_MAX) {
			rd_err_set(err, EFBIG, NAME, "larger than the limit of %zu MB", RD_FILE_MAX >> 20);
			rd_err_hint(err, "write the bundle to a file, and name the file instead of '-'");
			return -EFBIG;
		}
	} while (n > 0);
	bytes.data[bytes.size] = '\0';
	*ret = bytes;
	bytes = (struct rd_bytes){ 0 };
	return 0;
}

int rd_standard_input_read(struct rd_err *err)
{
	int r;

	if (isatty(STDIN_FILENO)) {
		rd_err_set(err, ENOTTY, NAME, "is a terminal, but '-' means a bundle from a pipe");
		rd_err_hint(err, "ssh HOST rdmadiag capture - | rdmadiag --from - topo-check");
		return -ENOTTY;
	}
	r = read_all(&input, err);
	if (r < 0)
		return r;
	is_read = true;
	if (input.size > 0)
		return 0;
	rd_err_set(err, ENODATA, NAME, "is empty: the command before the pipe wrote no bundle");
	rd_err_hint(err, "run that command alone; its error is on standard error");
	return -ENODATA;
}

const struct rd_bytes *rd_standard_input(void)
{
	return is_read ? &input : NULL;
}
