/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tar.h"
#include "unit.h"

void tar_add_raw(struct rd_buf *tar, char type, const char *name, const char *link, const void *data, size_t size,
		 size_t claimed)
{
	static const char zeros[512];
	char head[512] = { 0 };
	unsigned sum = 0;

	memcpy(head, name, strnlen(name, 100));
	memcpy(head + 100, "0000644", 8);
	memcpy(head + 108, "0000000", 8);
	memcpy(head + 116, "0000000", 8);
	snprintf(head + 124, 12, "%011zo", claimed);
	memcpy(head + 136, "00000000000", 12);
	memset(head + 148, ' ', 8);
	head[156] = type;
	if (link)
		memcpy(head + 157, link, strnlen(link, 100));
	memcpy(head + 257, "ustar\00000", 8);
	for (size_t i = 0; i < sizeof(head); i++)
		sum += (uint8_t)head[i];
	snprintf(head + 148, 8, "%06o", sum);
	rd_buf_add(tar, head, sizeof(head));
	rd_buf_add(tar, data, size);
	rd_buf_add(tar, zeros, (512 - size % 512) % 512);
}

void tar_add(struct rd_buf *tar, const char *name, const char *text)
{
	tar_add_raw(tar, '0', name, NULL, text, strlen(text), strlen(text));
}

void tar_link(struct rd_buf *tar, const char *name, const char *target)
{
	tar_add_raw(tar, '2', name, target, NULL, 0, 0);
}

void tar_end(struct rd_buf *tar)
{
	static const char zeros[1024];

	rd_buf_add(tar, zeros, sizeof(zeros));
}

void file_make(char *path, const void *data, size_t size)
{
	int fd;

	strcpy(path, "/tmp/rdmadiag-unit-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), (ssize_t)size);
	close(fd);
}

int tar_open(const struct rd_buf *tar, struct rd_source **ret, struct rd_err *err)
{
	char path[64];
	int r;

	file_make(path, tar->data ? tar->data : "", tar->len);
	r = rd_source_bundle_open(path, ret, err);
	unlink(path);
	return r;
}

const char *text_at(struct rd_source *source, const char *path)
{
	static char texts[8][4096];
	static unsigned next;
	char *text = texts[next++ % RD_ARRAY_SIZE(texts)];
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	int r = rd_read_file(source, path, &bytes, NULL);

	if (r < 0)
		snprintf(text, sizeof(texts[0]), "(%s)", rd_errno_name(r));
	else
		snprintf(text, sizeof(texts[0]), "%s", (const char *)bytes.data);
	return text;
}
