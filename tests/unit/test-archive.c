/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "source/shared/source.h"

#define TEXT_SIZE 300000
#define LIMIT (1u << 20)

/* A text of TEXT_SIZE bytes, packed by the machine's own program; false where it is not installed. */
static bool pack(const char *program, struct rd_bytes *ret)
{
	char command[256];
	size_t cap = 0;
	FILE *pipe;
	size_t n;

	snprintf(command, sizeof(command), "command -v %s >/dev/null && seq 1 100000 | head -c %d | %s -c 2>/dev/null",
		 program, TEXT_SIZE, program);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	do {
		assert_int_equal(rd_grow(&ret->data, &cap, ret->size + 65536, 1), 0);
		n = fread(ret->data + ret->size, 1, 65536, pipe);
		ret->size += n;
	} while (n > 0);
	pclose(pipe);
	return ret->size > 0;
}

static void check_packing(const char *program)
{
	_cleanup_bytes_ struct rd_bytes packed = { 0 }, plain = { 0 }, none = { 0 };
	struct rd_err err = { 0 };
	size_t whole;

	if (!pack(program, &packed))
		SKIP("a program that packs is not here");
	assert_true(packed.size < TEXT_SIZE);
	assert_int_equal(rd_unpack(&packed, LIMIT, &plain, &err), 0);
	assert_int_equal(plain.size, TEXT_SIZE);
	assert_memory_equal(plain.data, "1\n2\n3\n4\n", 8);
	assert_int_equal(plain.data[plain.size], 0);

	assert_int_equal(rd_unpack(&packed, TEXT_SIZE - 1, &none, &err), -EFBIG);
	assert_int_equal(err.code, EFBIG);

	whole = packed.size;
	packed.size = whole / 2;
	assert_int_equal(rd_unpack(&packed, LIMIT, &none, &err), -EBADMSG);
	packed.size = 8;
	assert_int_equal(rd_unpack(&packed, LIMIT, &none, &err), -EBADMSG);
	packed.size = whole;
	memset(packed.data + whole / 3, 0x5a, whole / 3);
	assert_int_equal(rd_unpack(&packed, LIMIT, &none, &err), -EBADMSG);
	assert_null(none.data);
}

TEST(a_gzip_module_is_unpacked_and_a_damaged_one_refused)
{
	check_packing("gzip");
}

TEST(a_bzip2_file_is_unpacked_and_a_damaged_one_refused)
{
	check_packing("bzip2");
}

TEST(an_xz_module_is_unpacked_and_a_truncated_one_refused)
{
	check_packing("xz");
}

TEST(a_zstd_module_is_unpacked_and_a_damaged_one_refused)
{
	check_packing("zstd");
}

TEST(a_bomb_is_stopped_at_the_limit)
{
	_cleanup_bytes_ struct rd_bytes packed = { 0 }, none = { 0 };
	static uint8_t block[65536];
	size_t cap = 0, n;
	FILE *pipe;

	pipe = popen("head -c 200000000 /dev/zero | xz -0 -c", "r");
	assert_non_null(pipe);
	while ((n = fread(block, 1, sizeof(block), pipe)) > 0) {
		assert_int_equal(rd_grow(&packed.data, &cap, packed.size + n, 1), 0);
		memcpy(packed.data + packed.size, block, n);
		packed.size += n;
	}
	if (pclose(pipe) != 0)
		SKIP("a program that packs is not here");
	assert_int_equal(rd_unpack(&packed, LIMIT, &none, NULL), -EFBIG);
}

TEST(a_plain_module_is_handed_on_unchanged)
{
	uint8_t elf[] = { 0x7f, 'E', 'L', 'F', 0, 1, 2 };
	struct rd_bytes in = { elf, sizeof(elf) };
	_cleanup_bytes_ struct rd_bytes out = { 0 }, none = { 0 };

	assert_int_equal(rd_unpack(&in, LIMIT, &out, NULL), 0);
	assert_int_equal(out.size, sizeof(elf));
	assert_memory_equal(out.data, elf, sizeof(elf));
	assert_int_equal(rd_unpack(&in, 3, &none, NULL), -EFBIG);
}

TEST(an_empty_file_unpacks_to_nothing)
{
	struct rd_bytes in = { 0 };
	_cleanup_bytes_ struct rd_bytes out = { 0 };

	assert_int_equal(rd_unpack(&in, LIMIT, &out, NULL), 0);
	ASSERT_EACH(IS(out.size, 0), IS(out.data != NULL, true));
}
