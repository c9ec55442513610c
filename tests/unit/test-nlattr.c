/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "collect/shared/nlattr.h"

/* An attribute, padded; returns where the next one goes. */
static uint8_t *put(uint8_t *at, uint16_t type, const void *data, uint16_t size)
{
	struct nlattr attr = { .nla_len = (uint16_t)(sizeof(attr) + size), .nla_type = type };

	memcpy(at, &attr, sizeof(attr));
	memcpy(at + sizeof(attr), data, size);
	return at + MNL_ALIGN(sizeof(attr) + size);
}

TEST(attributes_are_what_the_policy_says_or_are_not_there)
{
	static const uint8_t policy[] = { [1] = MNL_TYPE_U32, [2] = MNL_TYPE_NUL_STRING, [3] = MNL_TYPE_BINARY };
	uint8_t data[256] __attribute__((aligned(4))) = { 0 }, *at = data;
	const struct nlattr *table[RD_ARRAY_SIZE(policy)];
	_cleanup_free_ char *text = NULL;
	uint32_t number = 7;
	uint64_t value;

	at = put(at, 1, &number, 4);
	at = put(at, 2, "eth0", 5);
	at = put(at, 3 | NLA_F_NESTED, "abc", 3);
	at = put(at, 200, "unknown", 7);
	rd_nla_table(data, at - data, policy, RD_ARRAY_SIZE(policy), table);
	assert_true(rd_nla_uint(table[1], &value));
	assert_int_equal(value, 7);
	text = rd_nla_text(table[2]);
	assert_string_equal(text, "eth0");
	assert_true(rd_nla_bytes(table[3], &number, 3));
	assert_false(rd_nla_bytes(table[3], &number, 4));
	/* Too short, without its NUL. */
	at = put(data, 1, &number, 2);
	at = put(at, 2, "eth0", 4);
	rd_nla_table(data, at - data, policy, RD_ARRAY_SIZE(policy), table);
	ASSERT_EACH(IS(table[1] == NULL, true), IS(table[2] == NULL, true));
	assert_null(rd_nla_text(NULL));
	assert_false(rd_nla_uint(NULL, &value));
}

TEST(an_attribute_that_lies_about_its_length_ends_the_walk)
{
	uint8_t data[64] __attribute__((aligned(4))) = { 0 }, *end = put(put(data, 1, "a", 1), 2, "b", 1);
	const struct nlattr *at = NULL;
	uint16_t length = 60;

	memcpy(end - 8, &length, sizeof(length));
	assert_true(rd_nla_next(data, end - data, &at));
	assert_false(rd_nla_next(data, end - data, &at));
	length = 3;
	memcpy(data, &length, sizeof(length));
	at = NULL;
	assert_false(rd_nla_next(data, end - data, &at));
	assert_false(rd_nla_next(NULL, 0, &at));
	assert_false(rd_nla_next_nested(NULL, &at));
}

static void count(void *arg, uint16_t type, const uint8_t *body, size_t size)
{
	int *n = arg;

	ASSERT_EACH(IS(type, 16), IS(size, 4));
	assert_int_equal(body[0], 'x');
	++*n;
}

TEST(a_walk_over_messages_ends_at_one_that_is_cut_short)
{
	struct nlmsghdr head = { .nlmsg_len = 20, .nlmsg_type = 16 };
	uint8_t data[64] __attribute__((aligned(4))) = { 0 };
	struct rd_bytes bytes = { data, 60 };
	int n = 0;

	for (size_t i = 0; i < 60; i += 20) {
		memcpy(data + i, &head, sizeof(head));
		data[i + 16] = 'x';
	}
	rd_nlmsgs_each(&bytes, count, &n);
	assert_int_equal(n, 3);
	bytes.size = 30;
	n = 0;
	rd_nlmsgs_each(&bytes, count, &n);
	assert_int_equal(n, 1);
}
