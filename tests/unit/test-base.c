/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <limits.h>
#include <sys/socket.h>

static void assert_safe(const char *in, const char *out)
{
	_cleanup_free_ char *safe = rd_safe(in);

	assert_string_equal(safe, out);
}

TEST(a_nul_is_not_the_end)
{
	_cleanup_buf_ struct rd_buf out = { 0 };

	rd_buf_safe(&out, "a\0b", 3);
	assert_string_equal(out.data, "a\\x00b");
}

TEST(text_of_others_is_shown_so_that_it_does_nothing)
{
	/* A process name cannot clear the screen. */
	assert_safe("\033[2Jevil", "\\x1b[2Jevil");
	assert_safe("a\nb\r\tc\a\177", "a\\x0ab\\x0d\\x09c\\x07\\x7f");
	/* Eight bit controls do not reach the terminal. */
	/* U+009B is CSI to a terminal; as a bare byte it is no UTF-8 at all. */
	assert_safe("\xc2\x9b"
		    "2J",
		    "\\xc2\\x9b2J");
	assert_safe("\x9b"
		    "2J",
		    "\\x9b2J");
	/* Text cannot be turned round or hidden. */
	assert_safe("a\u202eb", "a\\xe2\\x80\\xaeb");
	assert_safe("a\u200bb", "a\\xe2\\x80\\x8bb");
	/* Two are no characters, the third is one. */
	assert_safe("\xef\xbf\xbe\xef\xbf\xbf\xef\xbf\xbd", "\\xef\\xbf\\xbe\\xef\\xbf\\xbf\xef\xbf\xbd");
	/* Honest text stays as it is. */
	assert_safe("", "");
	assert_safe("mlx5_0 Zürich 東京 😀 a\\b", "mlx5_0 Zürich 東京 😀 a\\b");
	/* Broken UTF-8 is shown byte by byte. */
	assert_safe("\xc3", "\\xc3");
	assert_safe("\xe6\x9d", "\\xe6\\x9d");
	assert_safe("\xc0\xaf", "\\xc0\\xaf");			 /* overlong slash */
	assert_safe("\xed\xa0\x80", "\\xed\\xa0\\x80");		 /* surrogate */
	assert_safe("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"); /* above U+10FFFF */
}

TEST(a_long_string_grows_in_steps)
{
	_cleanup_buf_ struct rd_buf buf = { 0 };

	for (int i = 0; i < 10000; i++)
		rd_buf_printf(&buf, "%d,", i % 10);
	ASSERT_EACH(IS(buf.failed, false), IS(buf.len, 20000), IS(strlen(buf.data), 20000));
}

TEST(an_array_too_large_for_memory_is_refused)
{
	size_t cap = 0;
	void *v = NULL;

	assert_int_equal(rd_grow(&v, &cap, SIZE_MAX, 1), -ENOMEM);
	assert_int_equal(rd_grow(&v, &cap, SIZE_MAX / 2, 16), -ENOMEM);
	ASSERT_EACH(IS(v == NULL, true), IS(cap, 0));
}

TEST(every_errno_name_leads_back_to_its_number)
{
	int named = 0;

	for (int code = 1; code < 1000; code++) {
		const char *name = rd_errno_name(code);

		if (!name)
			continue;
		named++;
		assert_int_equal(rd_errno_parse(name), code);
		assert_ptr_equal(rd_errno_name(-code), name);
		if (code < 134)
			assert_string_equal(rd_errno_text(code), strerror(code));
	}
	assert_int_equal(named, 131 + 19); /* 1 to 133 without 41 and 58; 512 to 531 without 520 */
}

TEST(the_kernels_own_errnos_have_names)
{
	ASSERT_EACH(READS(rd_errno_name(-512), "ERESTARTSYS"), READS(rd_errno_name(-517), "EPROBE_DEFER"),
		    READS(rd_errno_name(524), "ENOTSUPP"), IS(rd_errno_name(0) == NULL, true),
		    IS(rd_errno_name(4095) == NULL, true), IS(rd_errno_name(INT_MIN) == NULL, true));
}

TEST(an_errno_can_be_typed_in_any_usual_way)
{
	ASSERT_EACH(IS(rd_errno_parse("EFAULT"), EFAULT), IS(rd_errno_parse("efault"), EFAULT),
		    IS(rd_errno_parse("14"), 14), IS(rd_errno_parse("EWOULDBLOCK"), EAGAIN),
		    IS(rd_errno_parse("ENOTSUP"), EOPNOTSUPP), IS(rd_errno_parse("EFAUL"), -1),
		    IS(rd_errno_parse(""), -1), IS(rd_errno_parse("-14"), -1),
		    IS(rd_errno_parse("99999999999999999999"), -1));
}

TEST(an_error_keeps_object_message_and_hint)
{
	struct rd_err err = { 0 };
	char longer[600];

	assert_int_equal(rd_err_set(&err, EACCES, "/sys/x", "cannot read %s", "it"), -EACCES);
	rd_err_hint(&err, "run as %s", "root");
	ASSERT_EACH(IS(err.code, EACCES), READS(err.object, "/sys/x"), READS(err.message, "cannot read it"),
		    READS(err.hint, "run as root"));
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	rd_err_set(&err, EIO, longer, "%s", longer);
	ASSERT_EACH(IS(strlen(err.object), sizeof(err.object) - 1), READS(err.hint, ""));
	assert_int_equal(rd_err_set(NULL, EIO, "x", "y"), -EIO);
}

TEST(what_is_found_is_the_element_of_that_key)
{
	struct {
		uint64_t key;
		int value;
	} v[] = { { 2, 20 }, { 4, 40 }, { 1ULL << 40, 50 }, { UINT64_MAX, 60 } };

	for (size_t n = 0; n <= RD_ARRAY_SIZE(v); n++) {
		for (size_t i = 0; i < RD_ARRAY_SIZE(v); i++)
			assert_ptr_equal(rd_find_u64(v, n, sizeof(v[0]), v[i].key), i < n ? &v[i] : NULL);
		assert_null(rd_find_u64(v, n, sizeof(v[0]), 0));
		assert_null(rd_find_u64(v, n, sizeof(v[0]), 3));
	}
}

/* Names of files in bundles are made of it: a bundle of yesterday must be read tomorrow. */
TEST(a_hash_stays_what_it_is)
{
	assert_int_equal(rd_hash(RD_HASH, "", 0), UINT64_C(0xcbf29ce484222325));
	assert_int_equal(rd_hash(RD_HASH, "foobar", 6), UINT64_C(0x85944171f73967e8));
	assert_int_equal(rd_hash(rd_hash(RD_HASH, "foo", 3), "bar", 3), rd_hash(RD_HASH, "foobar", 6));
}

TEST(blanks_go_from_both_ends_only)
{
	char text[] = " \t a b\r\n", blank[] = " \n", empty[] = "";

	assert_string_equal(rd_trim(text), "a b");
	assert_string_equal(rd_trim(blank), "");
	assert_string_equal(rd_trim(empty), "");
}

TEST(errors_beyond_the_bound_are_counted)
{
	_cleanup_(rd_errlist_deinit) struct rd_errlist list = { 0 };
	struct rd_err err;

	for (int i = 0; i < RD_ERRORS_MAX + 500; i++) {
		rd_err_set(&err, EIO, "file", "number %d", i);
		rd_errlist_add(&list, &err);
	}
	assert_int_equal(list.n, RD_ERRORS_MAX + 1);
	assert_string_equal(list.v[RD_ERRORS_MAX - 1].message, "number 999");
	assert_string_equal(list.v[RD_ERRORS_MAX].message, "500 more are not listed");
}

TEST(text_for_a_shell_is_stepped_over_by_character)
{
	ASSERT_EACH(IS(rd_plain_next("a", 1), 1), IS(rd_plain_next("\xc3\xa4", 2), 2), IS(rd_plain_next("\x1b", 1), 0));
	assert_int_equal(rd_plain_next("\xc2\x9b", 2), 0); /* CSI, in UTF-8 and alone */
	assert_int_equal(rd_plain_next("\x9b", 1), 0);
}

static void assert_line(struct rd_lines *lines, unsigned number, const char *want)
{
	char *line = rd_lines_next(lines);

	ASSERT_EACH(IS(line != NULL, true), READS(line, want), IS(lines->number, number));
}

TEST(a_table_has_comments_anywhere_and_its_lines_have_numbers)
{
	static const char text[] = "# first\n\n a b \r\n  # c\n\t\nlast";
	_cleanup_(rd_texts_deinit) struct rd_texts texts = { 0 };
	struct rd_lines lines;
	struct rd_err err;

	rd_lines_init(&lines, &texts, "table", text, sizeof(text) - 1);
	assert_line(&lines, 3, "a b");
	assert_int_equal(rd_lines_err(&lines, &err, EINVAL, ": no such %s", "thing"), -EINVAL);
	ASSERT_EACH(READS(err.object, "table"), READS(err.message, "line 3: no such thing"));
	assert_line(&lines, 6, "last");
	assert_null(rd_lines_next(&lines));
	assert_null(rd_lines_next(&lines));
}

TEST(a_line_goes_on_below_where_a_blank_begins)
{
	static const char text[] = "  a b\n c\n\td\n# no\n more\ne\n \n\nf\n ";
	_cleanup_(rd_texts_deinit) struct rd_texts texts = { 0 };
	struct rd_lines lines;

	rd_lines_init(&lines, &texts, "table", text, sizeof(text) - 1);
	lines.continued = true;
	assert_line(&lines, 1, "a b  c \td");
	assert_line(&lines, 5, "more");
	assert_line(&lines, 6, "e");
	assert_line(&lines, 9, "f");
	assert_null(rd_lines_next(&lines));
}

TEST(a_table_has_a_size)
{
	_cleanup_(rd_texts_deinit) struct rd_texts texts = { 0 };
	struct rd_lines lines;
	struct rd_err err;

	assert_int_equal(rd_lines_init_table(&lines, &texts, "hints", "mine", "", 0, &err), 0);
	assert_null(rd_lines_next(&lines));
	assert_int_equal(rd_lines_init_table(&lines, &texts, "hints", "mine", "", RD_TABLE_BYTES + 1, &err), -EFBIG);
	assert_string_equal(err.message, "table of hints exceeds the limit of 1048576 bytes");
	assert_null(rd_lines_next(&lines));
}

TEST(a_line_is_cut_into_words)
{
	char text[] = " a\tbb  rest of it ", *line = text, *words[3];

	assert_int_equal(rd_words(&line, words, 2), 2);
	ASSERT_EACH(READS(words[0], "a"), READS(words[1], "bb"), READS(line, " rest of it "));
	assert_int_equal(rd_words(&line, words, 3), 3);
	assert_string_equal(words[2], "it");
	assert_int_equal(rd_words(&line, words, 3), 0);
}

TEST(a_list_is_cut_into_parts)
{
	static const char *const wanted[] = { "mlx5_0", "", "mlx5_1/2", "" };
	const char *at = "mlx5_0,,mlx5_1/2,";

	for (size_t i = 0; i < RD_ARRAY_SIZE(wanted); i++) {
		_cleanup_free_ char *part = rd_next_part(&at, ',');

		assert_string_equal(part, wanted[i]);
	}
	assert_null(at);
	assert_null(rd_next_part(&at, ','));
}

TEST(a_process_name_moves_no_field_of_stat)
{
	static const char text[] = "12 (a) S (b) R 7 8";

	ASSERT_EACH(READS(rd_stat_field(text, 3), "R 7 8"), READS(rd_stat_field(text, 5), "8"),
		    IS(rd_stat_field(text, 6) == NULL, true), IS(rd_stat_field("", 3) == NULL, true),
		    IS(rd_stat_field("12 (a)", 3) == NULL, true));
}

TEST(a_port_is_spelled_with_a_slash_or_a_colon)
{
	static const struct {
		const char *wanted, *device;
		unsigned port;
		bool fits;
	} cases[] = {
		{ "mlx5_0", "mlx5_0", 1, true },      { "mlx5_0", "mlx5_0", 0, true },
		{ "mlx5_0", "mlx5_1", 1, false },     { "mlx5_0/1", "mlx5_0", 1, true },
		{ "mlx5_0:1", "mlx5_0", 1, true },    { "mlx5_0/2", "mlx5_0", 1, false },
		{ "mlx5_0:2", "mlx5_0", 1, false },   { "mlx5_0/1", "mlx5_1", 1, false },
		{ "mlx5_0/1x", "mlx5_0", 1, false },  { "mlx5_0:", "mlx5_0", 1, false },
		{ "mlx5_0/0", "mlx5_0", 0, false },   { "mlx5_0/10", "mlx5_0", 10, true },
		{ "mlx5_*/[12]", "mlx5_7", 2, true }, { "mlx5_*:*", "mlx5_7", 3, true },
		{ ":1", "mlx5_7", 1, true },	      { "/2", "mlx5_7", 1, false },
		{ "mlx5_0/*", "mlx5_0", 0, false },   { "", "mlx5_0", 1, false },
		{ "nic:0", "nic:0", 1, true },	      { "nic:0/2", "nic:0", 1, false },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++)
		assert_int_equal(rd_port_fits(cases[i].wanted, cases[i].device, cases[i].port), cases[i].fits);
}

static int compare_number(const void *elem, const void *key)
{
	const int *x = elem, *y = key;

	return *x < *y ? -1 : *x > *y;
}

static size_t lower_bound(const int *v, size_t n, int key)
{
	return rd_lower_bound(&key, v, n, sizeof(*v), compare_number);
}

TEST(the_first_that_is_not_less_is_found)
{
	static const int v[] = { 1, 3, 3, 3, 7 };

	ASSERT_EACH(IS(lower_bound(v, 5, 0), 0), IS(lower_bound(v, 5, 1), 0), IS(lower_bound(v, 5, 2), 1),
		    IS(lower_bound(v, 5, 3), 1), IS(lower_bound(v, 5, 4), 4), IS(lower_bound(v, 5, 7), 4),
		    IS(lower_bound(v, 5, 8), 5), IS(lower_bound(NULL, 0, 3), 0));
}

TEST(descriptors_pass_with_a_message_and_without)
{
	int socks[2], sent[RD_FDS_MAX], got[RD_FDS_MAX];
	char byte = 0;
	size_t n = 1;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks), 0);
	for (size_t i = 0; i < RD_FDS_MAX; i++)
		sent[i] = dup(socks[0]);
	assert_int_equal(rd_send_fds(socks[0], "a", 1, sent, RD_FDS_MAX), 0);
	assert_int_equal(rd_send_fds(socks[0], "b", 1, NULL, 0), 0);
	assert_int_equal(rd_recv_fds(socks[1], &byte, 1, got, &n), 1);
	ASSERT_EACH(IS(byte, 'a'), IS(n, RD_FDS_MAX));
	for (size_t i = 0; i < n; i++) {
		assert_true(fcntl(got[i], F_GETFD) & FD_CLOEXEC);
		assert_int_equal(close(got[i]) | close(sent[i]), 0);
	}
	assert_int_equal(rd_recv_fds(socks[1], &byte, 1, got, &n), 1);
	ASSERT_EACH(IS(byte, 'b'), IS(n, 0));
	close(socks[0]);
	assert_int_equal(rd_recv_fds(socks[1], &byte, 1, got, &n), 0);
	assert_int_equal(rd_send_fds(socks[1], "c", 1, NULL, 0), -EPIPE);
	close(socks[1]);
}
