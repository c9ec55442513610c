/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "collect/kernel/kernel.h"

#include <linux/types.h>

#include "bpf/record.h"

#define PAGE ((uint64_t)sysconf(_SC_PAGESIZE)) /* of the host of a record, which is this one */

static struct rd_moment decode(const struct rd_rec_moment *rec)
{
	/* Behind the stacks of a record it is not aligned, and a sanitizer sees each byte that is read behind it. */
	_cleanup_free_ uint8_t *exact = malloc(sizeof(*rec) + 1);
	struct rd_moment ret;

	assert_non_null(exact);
	memcpy(exact + 1, rec, sizeof(*rec));
	memset(&ret, 0xff, sizeof(ret));
	rd_moment_decode(exact + 1, &ret);
	return ret;
}

/* Everything that could be read of a caller, all of it different. */
static struct rd_rec_moment example(void)
{
	return (struct rd_rec_moment){
		.memlock = 65536,
		.nofile = 1024,
		.pinned = 16,
		.locked = 17,
		.caps = 1ull << 14 | 1,
		.started = 9000000001,
		.user_ns_level = 2,
		.net_ns = 4026531840,
		.next_fd = 33,
		.qp_mask = 0x12345,
		.qp_cur = 1,
		.qp_next = 2,
		.qp_type = 4,
		.cm_state = 5,
	};
}

TEST(what_was_read_is_known)
{
	struct rd_rec_moment rec = example();
	struct rd_moment m;

	rec.known = RD_MOMENT_LIMITS | RD_MOMENT_MEMORY | RD_MOMENT_CREDS | RD_MOMENT_NET | RD_MOMENT_FILES |
		    RD_MOMENT_QP | RD_MOMENT_CM;
	m = decode(&rec);
	ASSERT_EACH(IS(m.started_ns, 9000000001), IS(m.memlock.v, 65536), IS(m.nofile.v, 1024),
		    IS(m.pinned.v, 16 * PAGE), IS(m.locked.v, 17 * PAGE), IS(m.caps.v, 0x4001),
		    IS(m.user_ns_level.v, 2), IS(m.net_ns.v, 4026531840), IS(m.next_fd.v, 33), IS(m.qp.known, true),
		    IS(m.qp.cur, 1), IS(m.qp.next, 2), IS(m.qp.type, 4), IS(m.qp.mask, 0x12345), IS(m.cm_state.v, 5));
}

/* Which of the fields are known, a bit each. */
static unsigned known(const struct rd_moment *m)
{
	const bool bits[] = {
		m->memlock.known == RD_OK,  m->nofile.known == RD_OK,  m->pinned.known == RD_OK,
		m->locked.known == RD_OK,   m->caps.known == RD_OK,    m->user_ns_level.known == RD_OK,
		m->net_ns.known == RD_OK,   m->next_fd.known == RD_OK, m->qp.known,
		m->cm_state.known == RD_OK,
	};
	unsigned ret = 0;

	for (size_t i = 0; i < RD_ARRAY_SIZE(bits); i++)
		ret |= (unsigned)bits[i] << i;
	return ret;
}

TEST(each_part_that_was_not_read_is_unknown)
{
	static const struct {
		uint32_t flag;
		unsigned known;
	} parts[] = {
		{ 0, 0 },
		{ RD_MOMENT_LIMITS, 1 | 2 },
		{ RD_MOMENT_MEMORY, 4 | 8 },
		{ RD_MOMENT_CREDS, 16 | 32 },
		{ RD_MOMENT_NET, 64 },
		{ RD_MOMENT_FILES, 128 },
		{ RD_MOMENT_QP, 256 },
		{ RD_MOMENT_CM, 512 },
		{ 0x80000000, 0 },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(parts); i++) {
		struct rd_rec_moment rec = example();
		struct rd_moment m;

		rec.known = parts[i].flag;
		m = decode(&rec);
		assert_int_equal(known(&m), parts[i].known);
		/* What is unknown is no remnant either. */
		if (!(parts[i].flag & RD_MOMENT_QP))
			assert_int_equal(m.qp.mask, 0);
	}
}

TEST(impossible_amounts_of_memory_are_unknown)
{
	struct rd_rec_moment rec = example();
	struct rd_moment m;

	rec.known = RD_MOMENT_MEMORY | RD_MOMENT_LIMITS;
	rec.memlock = UINT64_MAX; /* unlimited */
	rec.pinned = UINT64_MAX;  /* a counter below zero */
	m = decode(&rec);
	assert_int_not_equal(m.pinned.known, RD_OK);
	ASSERT_EACH(IS(m.memlock.known, RD_OK), IS(m.memlock.v, UINT64_MAX));
	rec.pinned = 1ull << 40;
	rec.locked = UINT64_MAX / PAGE + 1;
	m = decode(&rec);
	assert_int_not_equal(m.locked.known, RD_OK);
}

TEST(the_state_of_each_object_is_told_by_its_flags)
{
	struct rd_rec_moment rec = {
		.n_handles = 4,
		.handles = {
			{ .handle = 1, .number = 99, .users = 98, .type = 97, .port = 96, .detail = 95 },
			{ .handle = 2, .flags = RD_HANDLE_LOOKED_UP },
			{ .handle = 3, .number = 17, .users = 2, .type = RD_OBJ_QP, .port = 1, .detail = 2,
			  .flags = RD_HANDLE_LOOKED_UP | RD_HANDLE_FOUND | RD_HANDLE_NUMBER | RD_HANDLE_USERS | RD_HANDLE_PORT |
				   RD_HANDLE_DETAIL },
			{ .handle = 4, .users = -1, .type = RD_OBJ_CQ, .detail = 2,
			  .flags = RD_HANDLE_LOOKED_UP | RD_HANDLE_FOUND | RD_HANDLE_LOCKED | RD_HANDLE_USERS | RD_HANDLE_DETAIL },
		},
	};
	struct rd_moment m = decode(&rec);
	const struct rd_moment_handle *h = m.handles;

	ASSERT_EACH(IS(m.n_handles, 4), IS(h[0].handle, 1), IS(h[0].looked_up || h[0].found || h[0].locked, false));
	assert_int_equal(h[0].number.known | h[0].users.known | h[0].port.known | h[0].qp_type.known, RD_ABSENT);
	ASSERT_EACH(IS(h[1].looked_up && !h[1].found, true), IS(h[2].handle, 3),
		    IS(h[2].looked_up && h[2].found && !h[2].locked, true), IS(h[2].type, RD_OBJ_QP),
		    IS(h[2].number.v, 17), IS(h[2].users.v, 2), IS(h[2].port.v, 1), IS(h[2].port.known, RD_OK),
		    IS(h[2].qp_type.v, 2), IS(h[2].qp_type.known, RD_OK), IS(h[3].locked, true), IS(h[3].users.v, -1),
		    IS(h[3].number.known, RD_ABSENT));
	/* Only of a queue pair. */
	assert_int_equal(h[3].qp_type.known, RD_ABSENT);
	rec.n_handles = 0xffff;
	assert_int_equal(decode(&rec).n_handles, RD_MOMENT_HANDLES);
}

TEST(mappings_have_their_kind_and_their_file)
{
	struct rd_rec_moment rec = {
		.fault = { .start = 0x1000,
			   .end = 0x9000,
			   .at = 0x3000,
			   .flags = 0x2 | 0x8 | 0x200000,
			   .file_size = 0x2000,
			   .inode = 12,
			   .magic = 0xef53,
			   .dev = 5,
			   .rdev = 6,
			   .mode = 0100644,
			   .name = "weights.bin" },
		.special = { .what = RD_MAPPING_HUGE, .at = 0x5000, .flags = 1, .others = 1 },
	};
	struct rd_moment m;

	for (uint16_t what = 0; what <= RD_MAPPING_OTHER; what++) {
		rec.fault.what = what;
		assert_int_equal(decode(&rec).fault.kind, what);
	}
	rec.fault.what = RD_MAPPING_PAST_END;
	m = decode(&rec);
	ASSERT_EACH(IS(m.fault.start, 0x1000), IS(m.fault.end, 0x9000), IS(m.fault.at, 0x3000));
	assert_true(m.fault.writable && m.fault.shared && !m.fault.reserved && m.fault.has_file);
	ASSERT_EACH(IS(m.fault.mode, 0100644), IS(m.special.others && !m.fault.others, true),
		    IS(m.fault.file_size, 0x2000), IS(m.fault.inode, 12), IS(m.fault.magic, 0xef53),
		    IS(m.fault.rdev, 6), READS(m.fault.name, "weights.bin"), IS(m.special.kind, RD_MAPPING_HUGE),
		    IS(m.special.at, 0x5000));
	assert_false(m.special.writable || m.special.shared || m.special.has_file);
	ASSERT_EACH(IS(m.special.reserved, true), READS(m.special.name, ""));
	memset(rec.fault.name, 'n', sizeof(rec.fault.name));
	assert_int_equal(strlen(decode(&rec).fault.name), sizeof(rec.fault.name) - 1);
	rec.fault.what = RD_MAPPING_OTHER + 1;
	m = decode(&rec);
	ASSERT_EACH(IS(m.fault.kind, RD_MAPPING_NONE), IS(m.fault.end, 0));
}

TEST(whether_the_range_was_looked_at_in_full)
{
	struct rd_rec_moment rec = { .mapped = RD_MAPPED_ALL };
	struct rd_moment m = decode(&rec);

	assert_true(m.mapped_all && !m.mapped_in_part);
	rec.mapped = RD_MAPPED_MORE;
	m = decode(&rec);
	assert_true(!m.mapped_all && m.mapped_in_part);
	rec.mapped = 0;
	m = decode(&rec);
	assert_false(m.mapped_all || m.mapped_in_part);
}

TEST(only_two_things_keep_a_response_from_being_written)
{
	struct rd_rec_moment rec = { .response = 0x7000 };

	for (uint16_t what = 0; what < 20; what++) {
		struct rd_moment m;

		rec.response_what = what;
		m = decode(&rec);
		if (what == RD_MAPPING_HOLE || what == RD_MAPPING_READ_ONLY) {
			assert_int_equal(m.response.kind,
					 what == RD_MAPPING_HOLE ? RD_MAPPING_HOLE : RD_MAPPING_READ_ONLY);
			assert_int_equal(m.response.at, 0x7000);
		} else {
			ASSERT_EACH(IS(m.response.kind, RD_MAPPING_NONE), IS(m.response.at, 0));
		}
	}
}

TEST(damaged_bytes_do_no_harm)
{
	srandom(1);
	for (int round = 0; round < 5000; round++) {
		struct rd_rec_moment rec;
		struct rd_moment m;

		for (size_t i = 0; i < sizeof(rec); i++)
			((uint8_t *)&rec)[i] = (uint8_t)random();
		rec.fault.what = random() % 10;
		m = decode(&rec);
		assert_in_range(m.n_handles, 0, RD_MOMENT_HANDLES);
		assert_in_range(m.fault.kind, 0, RD_MAPPING_OTHER);
		assert_in_range(strlen(m.fault.name), 0, sizeof(m.fault.name) - 1);
	}
}
