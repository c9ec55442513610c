// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "trace/select/image.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* With symbols, 800 MB. */
#define IMAGE_LIMIT ((size_t)2 << 30)

/* Documentation/arch/x86/boot.rst: offsets in the setup header. */
#define SETUP_SECTS 0x1f1
#define SETUP_MAGIC 0x202 /* "HdrS" */
#define SETUP_VERSION 0x206
#define SETUP_PAYLOAD 0x248 /* offset behind the setup sectors, and length */
#define SECTOR 512
#define HAS_PAYLOAD 0x208

/* Documentation/bpf/btf.rst: struct btf_header, version 1. */
static const uint8_t btf_magic[] = { 0x9f, 0xeb, 1, 0, 24, 0, 0, 0 };
#define BTF_HEADER 24

static uint32_t u32_at(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* The compressed kernel in a bzImage; without one, the whole file. */
static struct rd_bytes payload_of(const struct rd_bytes *image)
{
	const uint8_t *p = image->data;
	size_t start, length;

	if (image->size < SETUP_PAYLOAD + 8 || memcmp(p + SETUP_MAGIC, "HdrS", 4) != 0 ||
	    (p[SETUP_VERSION] | p[SETUP_VERSION + 1] << 8) < HAS_PAYLOAD)
		return *image;
	start = ((p[SETUP_SECTS] ? p[SETUP_SECTS] : 4) + 1) * (size_t)SECTOR + u32_at(p + SETUP_PAYLOAD);
	length = u32_at(p + SETUP_PAYLOAD + 4);
	if (start > image->size || length > image->size - start)
		return *image;
	return (struct rd_bytes){ .data = image->data + start, .size = length };
}

static int unpack(const struct rd_bytes *image, struct rd_bytes *ret, struct rd_err *err)
{
	struct rd_bytes payload = payload_of(image), shorter = payload;
	bool is_part = payload.data != image->data;
	int r = -EBADMSG;

	/* The kernel appends the unpacked size to what it compressed, except to gzip, which has it already. */
	if (is_part && payload.size > 4) {
		shorter.size -= 4;
		r = rd_unpack(&shorter, IMAGE_LIMIT, ret, NULL);
	}
	if (r)
		r = rd_unpack(&payload, IMAGE_LIMIT, ret, err);
	if (r)
		return rd_err_set(err, -r, NULL, "cannot decompress the kernel image");
	/* The payload of x86 is an ELF file. rd_unpack() copies what it does not know, such as LZO. */
	if (is_part && (ret->size < SELFMAG || memcmp(ret->data, ELFMAG, SELFMAG) != 0))
		return rd_err_set(err, EBADMSG, NULL,
				  "kernel image is compressed, but not by gzip, bzip2, lz4, xz or zstd");
	return 0;
}

/* The size of the BTF that begins at `p`, of at most `size` bytes; 0: it is not BTF of a kernel. */
static size_t btf_size(const uint8_t *p, size_t size)
{
	uint64_t type_off, type_len, str_off, str_len;

	if (size < BTF_HEADER)
		return 0;
	type_off = u32_at(p + 8);
	type_len = u32_at(p + 12);
	str_off = u32_at(p + 16);
	str_len = u32_at(p + 20);
	if (type_off || str_off != type_len || !type_len || !str_len || BTF_HEADER + str_off + str_len > size ||
	    p[BTF_HEADER + str_off])
		return 0;
	return BTF_HEADER + str_off + str_len;
}

static bool is_of(const struct rd_bytes *kernel, const char *release)
{
	char text[160];
	int n = snprintf(text, sizeof(text), "Linux version %s ", release);

	return n > 0 && (size_t)n < sizeof(text) && memmem(kernel->data, kernel->size, text, (size_t)n);
}

int rd_image_btf(const struct rd_bytes *image, const char *release, struct rd_bytes *ret, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes kernel = { 0 };
	const uint8_t *best = NULL, *at;
	size_t best_size = 0, left;
	int r = unpack(image, &kernel, err);

	if (r)
		return r;
	if (!is_of(&kernel, release))
		return rd_err_set(err, ENOEXEC, NULL, "kernel image of another release than %s", release);
	/* Sections are not needed, and an Image of arm64 has none. Only that of vmlinux is large. */
	for (at = kernel.data, left = kernel.size; (at = memmem(at, left, btf_magic, sizeof(btf_magic)));) {
		size_t size;

		left = kernel.size - (size_t)(at - kernel.data);
		size = btf_size(at, left);
		if (size > best_size) {
			best = at;
			best_size = size;
		}
		at += sizeof(btf_magic);
		left -= sizeof(btf_magic);
	}
	if (!best)
		return rd_err_set(err, ENOENT, NULL, "kernel image without type information (BTF)");
	return rd_bytes_copy(best, best_size, ret);
}
