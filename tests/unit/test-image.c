/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The type information in made-up kernel images. */
#include "unit.h"

#include "trace/select/select.h"

#define RELEASE "9.9-test"
#define BANNER "Linux version " RELEASE " (gcc)\n"

/* BTF with that many bytes of types, all of them `fill`, and the strings "" and "int". */
static void add_btf(struct rd_buf *out, uint32_t types, char fill)
{
	const uint32_t lengths[] = { 0, types, types, 5 };

	rd_buf_add(out, "\x9f\xeb\1\0\x18\0\0\0", 8);
	rd_buf_add(out, lengths, sizeof(lengths));
	for (uint32_t i = 0; i < types; i++)
		rd_buf_add(out, &fill, 1);
	rd_buf_add(out, "\0int\0", 5);
}

/* A kernel that is not compressed: banner and BTF. */
static void make_kernel(struct rd_buf *out)
{
	rd_buf_str(out, "\177ELF" BANNER);
	add_btf(out, 16, 'k');
}

/* A bzImage with `payload`; its header says that it begins there and is that long. */
static void make_bzimage(struct rd_buf *out, const void *payload, size_t size, uint32_t at, uint32_t length)
{
	static const uint8_t zeros[1024];

	rd_buf_add(out, zeros, sizeof(zeros));
	out->data[0x1f1] = 1; /* setup sectors */
	memcpy(out->data + 0x202, "HdrS\x0f\x02", 6);
	memcpy(out->data + 0x248, &at, 4);
	memcpy(out->data + 0x24c, &length, 4);
	rd_buf_add(out, payload, size);
}

/* The size of the BTF and the first byte of its types, or -errno; nothing lies behind the image. */
static int btf_in(const struct rd_buf *image, char *ret)
{
	struct rd_bytes bytes = { .data = malloc(image->len ? image->len : 1), .size = image->len };
	_cleanup_bytes_ struct rd_bytes btf = { 0 };
	struct rd_err err = { 0 };
	int r;

	assert_non_null(bytes.data);
	if (image->len)
		memcpy(bytes.data, image->data, image->len);
	r = rd_image_btf(&bytes, RELEASE, &btf, &err);
	rd_bytes_deinit(&bytes);
	assert_int_equal(r, -err.code);
	if (r) {
		assert_true(err.message[0] && !btf.data);
		return r;
	}
	assert_memory_equal(btf.data, "\x9f\xeb\1\0\x18", 5);
	*ret = (char)btf.data[24];
	return (int)btf.size;
}

TEST(the_largest_type_information_is_that_of_the_kernel)
{
	static const uint32_t sizes[][3] = { { 16, 40, 24 }, { 40, 16, 24 }, { 16, 24, 40 } };
	char first;

	for (size_t i = 0; i < RD_ARRAY_SIZE(sizes); i++) {
		_cleanup_buf_ struct rd_buf image = { 0 };

		rd_buf_str(&image, "begin " BANNER);
		for (size_t k = 0; k < 3; k++) {
			add_btf(&image, sizes[i][k], sizes[i][k] == 40 ? 'k' : 'm');
			rd_buf_str(&image, "between");
		}
		assert_int_equal(btf_in(&image, &first), 24 + 40 + 5);
		assert_int_equal(first, 'k');
	}
}

TEST(an_image_of_another_release_is_refused)
{
	static const char *const banners[] = { "", "Linux version 9.9-test2 (gcc)", "Linux version 9.9-tes (gcc)",
					       "Linux version 9.9-test", "9.9-test (gcc)" };
	char first;

	for (size_t i = 0; i < RD_ARRAY_SIZE(banners); i++) {
		_cleanup_buf_ struct rd_buf image = { 0 };

		rd_buf_str(&image, banners[i]);
		add_btf(&image, 16, 'k');
		assert_int_equal(btf_in(&image, &first), -ENOEXEC);
	}
	assert_int_equal(btf_in(&(struct rd_buf){ 0 }, &first), -ENOEXEC);
}

TEST(an_image_without_type_information_is_named)
{
	_cleanup_buf_ struct rd_buf image = { 0 };
	char first;

	rd_buf_str(&image, BANNER);
	assert_int_equal(btf_in(&image, &first), -ENOENT);
	/* Only the magic, which other data may contain. */
	rd_buf_add(&image, "\x9f\xeb\1\0\x18\0\0\0", 8);
	assert_int_equal(btf_in(&image, &first), -ENOENT);
}

TEST(damaged_type_information_is_not_taken)
{
	static const uint32_t bad[][4] = {
		{ 4, 16, 16, 5 },
		{ 0, 16, 12, 5 },
		{ 0, 16, 20, 5 },
		{ 0, 0, 0, 5 },
		{ 0, 16, 16, 0 },
		{ 0, 16, 16, 6 },
		{ 0, 17, 17, 4 },
		{ 0, 0xffffffff, 0xffffffff, 5 },
		{ 0, 0xffffffe8, 0xffffffe8, 5 },
		{ 0, 16, 16, 0xffffffff },
	};
	_cleanup_buf_ struct rd_buf image = { 0 };
	size_t header, end;
	char first;

	make_kernel(&image);
	header = image.len - 24 - 16 - 5;
	end = image.len;
	assert_int_equal(btf_in(&image, &first), 45);
	for (; image.len > header; image.len--)
		if (image.len < end)
			assert_int_equal(btf_in(&image, &first), -ENOENT);
	image.len = end;
	for (size_t i = 0; i < RD_ARRAY_SIZE(bad); i++) {
		memcpy(image.data + header + 8, bad[i], 16);
		assert_int_equal(btf_in(&image, &first), -ENOENT);
	}
	/* The first string is empty. */
	memcpy(image.data + header + 8, (const uint32_t[]){ 0, 16, 16, 5 }, 16);
	assert_int_equal(btf_in(&image, &first), 45);
	image.data[header + 24 + 16] = 'x';
	assert_int_equal(btf_in(&image, &first), -ENOENT);
}

/* make_kernel() through gzip -9n, and through xz --check=crc32, as scripts/xz_wrap.sh of the kernel does. */
static const uint8_t gzip[] = { 0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xab, 0x77, 0xf5,
				0x71, 0xf3, 0xc9, 0xcc, 0x2b, 0xad, 0x50, 0x28, 0x4b, 0x2d, 0x2a, 0xce, 0xcc,
				0xcf, 0x53, 0xb0, 0xd4, 0xb3, 0xd4, 0x2d, 0x49, 0x2d, 0x2e, 0x51, 0xd0, 0x48,
				0x4f, 0x4e, 0xd6, 0xe4, 0x9a, 0xff, 0x9a, 0x91, 0x41, 0x82, 0x01, 0x02, 0x04,
				0xa0, 0x98, 0x15, 0x88, 0xb3, 0xd1, 0x00, 0x43, 0x66, 0x5e, 0x09, 0x03, 0x00,
				0xf8, 0x3f, 0xbc, 0xb0, 0x4e, 0x00, 0x00, 0x00 };
static const uint8_t xz[] = { 0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x01, 0x69, 0x22, 0xde, 0x36, 0x02, 0x00, 0x21,
			      0x01, 0x1c, 0x00, 0x00, 0x00, 0x10, 0xcf, 0x58, 0xcc, 0xe0, 0x00, 0x4d, 0x00, 0x3a, 0x5d,
			      0x00, 0x3f, 0x91, 0x45, 0x84, 0x6a, 0xf6, 0xf8, 0x83, 0x6a, 0x28, 0x6f, 0x08, 0xc6, 0x6d,
			      0x25, 0x4f, 0x5e, 0x89, 0xbc, 0xaf, 0x76, 0x45, 0xfa, 0xa2, 0xa7, 0xdc, 0xf9, 0x9a, 0x85,
			      0x63, 0xaa, 0x87, 0xb9, 0xe4, 0x18, 0x94, 0x91, 0x5a, 0xa3, 0xfa, 0x5c, 0x41, 0x45, 0x3f,
			      0xdc, 0x70, 0x7a, 0x7d, 0xec, 0x20, 0x59, 0xa7, 0x4b, 0xb9, 0x1d, 0x3d, 0x00, 0x00, 0x00,
			      0x00, 0x00, 0xf8, 0x3f, 0xbc, 0xb0, 0x00, 0x01, 0x52, 0x4e, 0x6a, 0xe6, 0x6f, 0x39, 0x90,
			      0x42, 0x99, 0x0d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x01, 0x59, 0x5a };

TEST(a_compressed_image_is_decompressed)
{
	_cleanup_buf_ struct rd_buf image = { 0 };
	char first;

	rd_buf_add(&image, gzip, sizeof(gzip));
	assert_int_equal(btf_in(&image, &first), 45);
	for (image.len = sizeof(gzip) - 1; image.len > 2; image.len--)
		assert_int_equal(btf_in(&image, &first), -EBADMSG);
}

TEST(the_payload_of_a_bzimage_is_decompressed)
{
	static const struct {
		const uint8_t *data;
		size_t size, more; /* the kernel appends its size, except to gzip */
	} payloads[] = { { gzip, sizeof(gzip), 0 }, { xz, sizeof(xz), 4 } };
	char first;

	for (size_t i = 0; i < RD_ARRAY_SIZE(payloads); i++) {
		size_t size = payloads[i].size + payloads[i].more;
		_cleanup_buf_ struct rd_buf image = { 0 }, payload = { 0 };

		rd_buf_str(&payload, "decompressor");
		rd_buf_add(&payload, payloads[i].data, payloads[i].size);
		rd_buf_add(&payload, "\x4e\0\0\0", payloads[i].more);
		rd_buf_str(&payload, "behind it");
		make_bzimage(&image, payload.data, payload.len, 12, (uint32_t)size);
		assert_int_equal(btf_in(&image, &first), 45);
		/* Truncated: the payload ends outside. */
		image.len -= strlen("behind it") + 1;
		assert_true(btf_in(&image, &first) < 0);
		for (size_t cut = 0; cut < 1024 + 12; cut += 7) {
			image.len = cut;
			assert_int_equal(btf_in(&image, &first), -ENOEXEC);
		}
	}
}

TEST(a_payload_outside_of_the_image_is_not_read)
{
	static const uint32_t places[][2] = {
		{ 0xffffffff, 10 }, { 0, 0xffffffff }, { 0xffffffff, 0xffffffff }, { 0, 0 }, { 0, 3 }, { 0, 4 },
		{ 45, 1 },	    { 46, 0 },
	};
	char first;

	for (size_t i = 0; i < RD_ARRAY_SIZE(places); i++) {
		_cleanup_buf_ struct rd_buf image = { 0 };

		make_bzimage(&image, gzip, 45, places[i][0], places[i][1]);
		assert_true(btf_in(&image, &first) < 0);
	}
}

/* Another release would be a wrong reason. */
TEST(a_payload_of_an_unknown_compression_is_no_other_release)
{
	static const char lzo[] = "\x89LZO\x00 of the kernel";
	_cleanup_buf_ struct rd_buf image = { 0 };
	char first;

	make_bzimage(&image, lzo, sizeof(lzo), 0, sizeof(lzo));
	assert_int_equal(btf_in(&image, &first), -EBADMSG);
}

/* A setup header before version 2.08 says nothing of a payload. */
TEST(an_old_or_unknown_header_is_searched_as_it_is)
{
	_cleanup_buf_ struct rd_buf image = { 0 }, kernel = { 0 };
	char first;

	make_kernel(&kernel);
	make_bzimage(&image, kernel.data, kernel.len, 0, 3);
	image.data[0x206] = 7;
	assert_int_equal(btf_in(&image, &first), 45);
	image.data[0x202] = 'X';
	assert_int_equal(btf_in(&image, &first), 45);
}
