/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "analyse/explain/log.h"
#include "diagnose/explain/log-join.h"

static const char table[] = "# comment\n"
			    "form net-completion critical\n"
			    "\tsource net 1.0 net.c test\n"
			    "\tmatch Got completion from peer {peer} with status={status} vendor err {vendor}\n"
			    "\tmatch Got completion with error {status}, opcode {opcode}\n"
			    "\talso hca {ibdev}\n"
			    "\talso remoteGids{pgid}\n"
			    "\tmeans A work request failed.\n"
			    "\tcause gid-usable | GID is unusable | first message | o/r#1\n"
			    "\tcause other | Other | tells\n"
			    "\tnext look at {netdev}\n"
			    "\tnext look at {ibdev}\n"
			    "form net-any note\n"
			    "\tmatch Got completion\n"
			    "\tmeans Anything.\n"
			    "form net-general note general\n"
			    "\tmatch Got completion with error {n}, opcode {n} at last\n"
			    "\tmatch at last: {...}\n"
			    "\tmeans Something.\n"
			    "form wqe critical detail\n"
			    "\tmatch QP {qpn} wqe[{n}]\n"
			    "\talso rqpn {rqpn}\n"
			    "\tmeans The work request.\n"
			    "form late critical consequence\n"
			    "\tmatch {status_text} on {ibdev}:{port}/{w} (late)\n"
			    "\tmeans Late.\n"
			    "form cmd warning\n"
			    "\tmatch {cmd}({n}) failed, syndrome ({syndrome}), err({errno})\n"
			    "\tmeans Refused.\n"
			    "form hex note\n"
			    "\tmatch qpn={qpn:x} end{{\n"
			    "\tmeans Hexadecimal.\n"
			    "form call note\n"
			    "\tmatch ibv_{w}: {errno_text}\n"
			    "\tmeans A call failed.\n"
			    "form step note\n"
			    "\tmatch step err {n} of\n"
			    "\tmeans A step.\n"
			    "form hello note\n"
			    "\tmatch hello from {n} to port {peer}:{n}\n"
			    "\tmeans A greeting.\n"
			    "form event note\n"
			    "\tmatch event of {pci} {netdev} guid {guid} port {port} qp {qpn}: -{errno} {...}\n"
			    "\tmeans An event.\n"
			    "form objects note detail\n"
			    "\tmatch never printed\n"
			    "\talso err {errno}\n"
			    "\talso from {peer}\n"
			    "\talso port {port}\n"
			    "\tmeans Objects.\n"
			    "code status 5 IBV_WC_WR_FLUSH_ERR critical consequence\n"
			    "\tmeans Flushed.\n"
			    "code status 12 IBV_WC_RETRY_EXC_ERR critical\n"
			    "\talias transport retry counter exceeded\n"
			    "\tmeans No response.\n"
			    "code vendor-mlx5 0x81 retries critical\n"
			    "\tmeans Retries.\n"
			    "code errno 12 ENOMEM warning\n"
			    "\tmeans No memory.\n"
			    "code syndrome 0x35e6ec pi warning\n"
			    "\tmeans PI.\n";

struct all {
	struct rd_log_forms forms;
	struct rd_log log;
	struct rd_errlist notes;
	struct rd_log_reader reader;
};

static void parse(struct all *all, const char *text)
{
	struct rd_err err = { 0 };

	assert_int_equal(rd_log_forms_parse("table", text, strlen(text), &all->forms, &all->notes, &err), 0);
	rd_log_forms_index(&all->forms);
	all->reader = (struct rd_log_reader){ .forms = &all->forms, .log = &all->log };
}

static void all_deinit(struct all *all)
{
	rd_log_forms_deinit(&all->forms);
	rd_log_deinit(&all->log);
	rd_errlist_deinit(&all->notes);
}

static void feed(struct all *all, const char *file, const char *text)
{
	rd_log_begin(&all->reader, file);
	rd_log_feed(&all->reader, text, strlen(text));
	rd_log_end(&all->reader);
}

static void read_text(struct all *all, const char *text)
{
	parse(all, table);
	assert_int_equal(all->notes.n, 0);
	feed(all, NULL, text);
	rd_log_sort(&all->log);
}

#define ALL_TEST(name) TEST_ON(name, struct all, all, { 0 }, all_deinit)

ALL_TEST(a_line_has_its_values_and_codes)
{
	const struct rd_log_line *line;

	read_text(all, "gpu-a:10:20 [4] NCCL WARN Got completion  from peer 192.0.2.36 with status=12 vendor err 129 "
		       "remoteGids::ffff:10.0.0.2 hca mlx5_4");
	assert_int_equal(all->log.n, 1);
	line = &all->log.v[0];
	ASSERT_EACH(READS(line->form->id, "net-completion"), READS(line->values[RD_LOG_PEER], "192.0.2.36"),
		    READS(line->values[RD_LOG_IBDEV], "mlx5_4"), READS(line->values[RD_LOG_PGID], "::ffff:10.0.0.2"),
		    IS(line->numbers[RD_LOG_STATUS].v, 12), READS(line->codes[0]->id, "IBV_WC_RETRY_EXC_ERR"),
		    READS(line->codes[1]->id, "retries"), READS(line->host, "gpu-a"));
}

ALL_TEST(the_form_with_most_literal_text_wins)
{
	read_text(all, "Got completion\nGot completion with error 12, opcode 3\n");
	assert_int_equal(all->log.n, 2);
	assert_string_equal(all->log.v[0].form->id, "net-completion");
	assert_string_equal(all->log.v[1].form->id, "net-any");
}

ALL_TEST(numbers_are_whole_words)
{
	read_text(all, "QP 0x9d0 wqe[1]: RDMA_WRITE [rqpn 0x9d4 dlid=0]\n"
		       "QP 12ab wqe[1]\n"
		       "QP 0xzz wqe[1]\n"
		       "qpn=9d end{\n"
		       "qpn=xyz end{\n"
		       "CREATE_MKEY(0x200) failed, syndrome (0x35e6ec), err(-12)\n"
		       "CREATE_MKEY(0x200) failed, syndrome (0x1), err(-999999999999999999999999)\n");
	assert_int_equal(all->log.n, 3);
	ASSERT_EACH(IS(all->log.v[0].numbers[RD_LOG_QPN].v, 0x9d0), IS(all->log.v[0].numbers[RD_LOG_RQPN].v, 0x9d4),
		    IS(all->log.v[2].numbers[RD_LOG_QPN].v, 0x9d),
		    READS(all->log.v[1].values[RD_LOG_CMD], "CREATE_MKEY"), READS(all->log.v[1].codes[0]->id, "pi"),
		    READS(all->log.v[1].codes[1]->id, "ENOMEM"), IS(all->log.unknown, 4));
}

ALL_TEST(a_code_without_public_meaning_is_marked)
{
	read_text(all, "CREATE_MKEY(0x200) failed, syndrome (0x777), err(-12)\n");
	assert_int_equal(all->log.v[0].not_public, UINT64_C(1) << RD_LOG_SYNDROME);
}

/* A vendor error is no errno, and not everything behind a colon is the text of one. */
ALL_TEST(numbers_and_texts_are_not_taken_for_others)
{
	read_text(all, "Got completion from peer 192.0.2.36 with status=12 vendor err 129\n"
		       "Got completion with error 12, opcode 3: err 22\n"
		       "ibv_devinfo: 4 devices\n"
		       "ibv_reg_mr: ENOMEM\n"
		       "step err 7 of 9\n"
		       "hello from 3 to port 192.0.2.36:18515 (rc=-1)\n"
		       "hello from 4 to port 192.0.2.37:18515 (exitcode : -12)\n"
		       "hello from 5 to port 192.0.2.38:18515 exited with code -12, rc = -12\n"
		       "code -12, hello from 6 to port 192.0.2.39:18515\n");
	assert_int_equal(all->log.n, 6);
	assert_null(all->log.v[0].values[RD_LOG_ERRNO]);
	ASSERT_EACH(IS(all->log.v[1].numbers[RD_LOG_ERRNO].v, 22), READS(all->log.v[2].form->id, "call"),
		    READS(all->log.v[3].form->id, "step"));
	assert_null(all->log.v[3].values[RD_LOG_ERRNO]);
	assert_string_equal(all->log.v[4].values[RD_LOG_PEER], "192.0.2.36");
	assert_null(all->log.v[4].values[RD_LOG_PORT]);
	assert_null(all->log.v[4].values[RD_LOG_ERRNO]);
	assert_int_equal(all->log.v[4].count, 2); /* the second ended by a signal */
	assert_int_equal(all->log.v[5].numbers[RD_LOG_ERRNO].v, 12);
	assert_int_equal(all->log.v[5].count, 2);
}

/* "from sources" names no peer, and a longer word no errno. */
TEST(words_are_not_taken_for_objects)
{
	_cleanup_(all_deinit) struct all all = { 0 };

	read_text(&all, "step err 7 of 9 from sources, XENOMEMORY\n");
	assert_null(all.log.v[0].values[RD_LOG_PEER]);
	assert_null(all.log.v[0].codes[0]);
	all_deinit(&all);
	all = (struct all){ 0 };
	read_text(&all, "step err 7 of 9 from gpu-a: ENOMEM\n");
	assert_string_equal(all.log.v[0].values[RD_LOG_PEER], "gpu-a");
	assert_string_equal(all.log.v[0].codes[0]->id, "ENOMEM");
}

/* RDMA drivers print their device where others print the interface, IPoIB interfaces are named like devices, and hosts begin like them. */
ALL_TEST(no_value_is_of_another_kind)
{
	read_text(all, "event of 0000:81:00.0 bnxt_re0 guid be port 0 qp -16: -70000 by manager1\n"
		       "event of ce.1 mlx5_ib0.8008 guid 0002c903 port 1 qp 16: -5 by ibserver2\n"
		       "event of 0000:81:00.0 is guid 2 port 1 qp 16: -5 by ibserver2\n");
	assert_int_equal(all->log.n, 3);
	assert_null(all->log.v[2].values[RD_LOG_NETDEV]);
	assert_string_equal(all->log.v[0].values[RD_LOG_PCI], "0000:81:00.0");
	assert_string_equal(all->log.v[0].values[RD_LOG_IBDEV], "bnxt_re0");
	for (size_t i = 0; i < 5; i++) {
		static const enum rd_log_field none[] = { RD_LOG_NETDEV, RD_LOG_GUID, RD_LOG_PORT, RD_LOG_QPN,
							  RD_LOG_ERRNO };

		assert_null(all->log.v[0].values[none[i]]);
	}
	assert_null(all->log.v[1].values[RD_LOG_PCI]);
	assert_null(all->log.v[1].values[RD_LOG_IBDEV]);
	ASSERT_EACH(READS(all->log.v[1].values[RD_LOG_NETDEV], "mlx5_ib0.8008"),
		    READS(all->log.v[1].values[RD_LOG_GUID], "0002c903"), IS(all->log.v[1].numbers[RD_LOG_PORT].v, 1),
		    IS(all->log.v[1].numbers[RD_LOG_QPN].v, 16), IS(all->log.v[1].numbers[RD_LOG_ERRNO].v, 5));
}

/* With a domain: "12:30:15.5" may be a time. Of several, none is the line's. */
ALL_TEST(one_pci_address_in_a_line_is_its_own)
{
	read_text(all, "12:30:15.5 step err 7 of 9 at (0000:81:00.0), vf of 0000:81:00.0\n"
		       "12:30:15.5 step err 8 of 9\n"
		       "step err 6 of 9 at 0000:81:00.0 and 0001:81:00.0\n");
	assert_int_equal(all->log.n, 2); /* the second and the third are alike */
	assert_string_equal(all->log.v[0].values[RD_LOG_PCI], "0000:81:00.0");
	assert_null(all->log.v[1].values[RD_LOG_PCI]);
}

ALL_TEST(general_forms_are_for_lines_of_no_other)
{
	read_text(all, "Got completion with error 12, opcode 3 at last\nat last: done\n");
	assert_int_equal(all->log.n, 2);
	assert_int_equal(all->log.v[0].numbers[RD_LOG_STATUS].v, 12);
	assert_string_equal(all->log.v[1].form->id, "net-general");
}

ALL_TEST(details_are_added_to_the_line_before)
{
	read_text(all, "Got completion with error 12, opcode 3\nunrelated\nQP 5 wqe[0] rqpn 6\n");
	assert_int_equal(all->log.n, 1);
	assert_int_equal(all->log.v[0].numbers[RD_LOG_QPN].v, 5);
	assert_int_equal(all->log.v[0].numbers[RD_LOG_RQPN].v, 6);
}

ALL_TEST(repetitions_are_counted_and_consequences_come_last)
{
	read_text(all, "x Transport Retry Counter Exceeded on mlx5_1:1/RoCE (late)\n"
		       "Got completion from peer 192.0.2.1 with status=12 vendor err 129 hca mlx5_0\n"
		       "Got completion from peer 192.0.2.2 with status=12 vendor err 129 hca mlx5_0\n"
		       "Got completion from peer 192.0.2.1 with status=12 vendor err 129 hca mlx5_1\n");
	assert_int_equal(all->log.n, 3);
	ASSERT_EACH(IS(all->log.v[0].count, 2), IS(all->log.v[0].number, 2), IS(all->log.v[1].count, 1),
		    READS(all->log.v[2].form->id, "late"), READS(all->log.v[2].codes[0]->id, "IBV_WC_RETRY_EXC_ERR"),
		    IS(all->log.n_peers, 2));
	ASSERT_EACH(READS(all->log.peers[0].name, "192.0.2.1"), IS(all->log.peers[0].lines, 2));
}

/* The same result wherever the text is cut. */
/* What was flushed had failed before, whoever prints it; lines of normal work come last. */
ALL_TEST(failures_come_first)
{
	read_text(all, "Got completion\n"
		       "Got completion with error 5, opcode 3\n"
		       "Got completion with error 12, opcode 3\n");
	assert_int_equal(all->log.n, 3);
	ASSERT_EACH(IS(all->log.v[0].numbers[RD_LOG_STATUS].v, 12), IS(all->log.v[0].rank, RD_LOG_FAILURE),
		    IS(all->log.v[1].numbers[RD_LOG_STATUS].v, 5), IS(all->log.v[1].rank, RD_LOG_FOLLOWS),
		    IS(all->log.v[2].rank, RD_LOG_NOTE));
}

TEST(text_may_be_cut_anywhere)
{
	static const char text[] = "a\nGot completion with error 12, opcode 3\r\n\nQP 5 wqe[0]\nGot completion";
	size_t size = sizeof(text) - 1;

	for (size_t cut = 0; cut <= size; cut++) {
		_cleanup_(all_deinit) struct all all = { 0 };

		parse(&all, table);
		rd_log_begin(&all.reader, "file");
		rd_log_feed(&all.reader, text, cut);
		rd_log_feed(&all.reader, text + cut, size - cut);
		rd_log_end(&all.reader);
		assert_int_equal(all.log.n, 2);
		ASSERT_EACH(IS(all.log.v[0].number, 2), IS(all.log.v[0].numbers[RD_LOG_QPN].v, 5),
			    IS(all.log.v[1].number, 5), IS(all.log.lines, 5));
	}
}

ALL_TEST(a_long_line_is_cut)
{
	_cleanup_free_ char *text = malloc(100000 + 64);

	memset(text, 'G', 100000);
	memcpy(text, "Got completion", 14);
	strcpy(text + 99990, "\nGot completion with error 12, opcode 3");
	read_text(all, text);
	ASSERT_EACH(IS(all->log.cut, 1), IS(all->log.v[0].number, 2), IS(strlen(all->log.v[1].text), RD_LOG_LINE_MAX));
}

TEST(what_is_no_good_in_a_table_is_noted)
{
	static const char *const bad[] = {
		"form\n",
		"form x bad\n",
		"form x note other\n",
		"code status x N note\n",
		"other x note\n",
		"form x note\n\tmatch abc\n",
		"form x note\n\tmatch abcdef{unknown}\n",
		"form x note\n\tmatch {n}{w}abcdef\n",
		"form x note\n\tcause one | two\n",
		"form x note\n\tmeans\n",
		"form x note\n\tother text\n",
		"form x note\n\tmatch abcdef{n\n",
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(bad); i++) {
		_cleanup_(all_deinit) struct all all = { 0 };

		parse(&all, bad[i]);
		assert_int_equal(all.notes.n, 1);
	}
}

ALL_TEST(an_earlier_table_takes_precedence)
{
	parse(all, "form net-any warning\n\tmatch Got completion\n\tmeans Ours.\n");
	parse(all, table);
	feed(all, NULL, "Got completion");
	assert_string_equal(rd_log_part(all->log.v[0].form, RD_LOG_MEANS, 0)->v[0], "Ours.");
	assert_int_equal(all->notes.n, 0);
}

ALL_TEST(words_are_explained)
{
	static const char *const known[] = { "status=12",	  "vendor_err=0x81",	  "errno=enomem",
					     "syndrome=0x35e6ec", "IBV_WC_RETRY_EXC_ERR", "net-any" };
	static const char *const unknown[] = { "status=99", "12", "x=1", "peer=12", "status=" };

	parse(all, table);
	for (size_t i = 0; i < RD_ARRAY_SIZE(known); i++)
		assert_true(rd_log_add_word(&all->reader, known[i]));
	for (size_t i = 0; i < RD_ARRAY_SIZE(unknown); i++)
		assert_false(rd_log_add_word(&all->reader, unknown[i]));
	assert_int_equal(all->log.n, RD_ARRAY_SIZE(known));
	assert_string_equal(all->log.v[0].form->id, "IBV_WC_RETRY_EXC_ERR");
}

ALL_TEST(colours_are_no_part_of_a_line)
{
	parse(all, table);
	feed(all, NULL, "\033[1;31mgpu-a:10:20 [4] Got com\033[0mpletion from peer 192.0.2.1 with status=12\033[K\033[");
	assert_int_equal(all->log.n, 1);
	assert_string_equal(all->log.v[0].host, "gpu-a");
	assert_string_equal(all->log.v[0].text,
			    "gpu-a:10:20 [4] Got completion from peer 192.0.2.1 with status=12\033[");
}

TEST(prefixes_name_the_host)
{
	static const struct {
		const char *line, *host;
	} cases[] = {
		{ "gpu-a:10:20 [4] NCCL WARN", "gpu-a" },
		{ "[2026-11-28 10:00:00] gpu-a:10:20 [4] NCCL WARN", "gpu-a" },
		{ "[1745700389.902821] [gpu-b:6274 :0] ib_mlx5_log.c:179", "gpu-b" },
		{ "Nov  8 10:00:00 node.example.org kernel: x", "node.example.org" },
		{ "2026-11-28T10:00:00.123456+00:00 node kernel: x", "node" },
		{ "Nov 28 10:00:00 node kubelet[1301]: x", "node" },
		{ "2026-11-28T10:00:00.123456Z node kernel: x", "node" },
		{ "node: [  12.345678] mlx5_core 0000:1b:00.0: x", "node" },
		{ "[1,23]<stdout>:gpu-a:10:20 [4] NCCL WARN", "gpu-a" },
		{ "[1,23]<stderr>:[gpu-a:04770] pml_ucx.c:212  Error: x", "gpu-a" },
		{ "[gpu-a:104770] pml_ucx.c:212  Error: x", "gpu-a" },
		{ "[gpu-a][[18551,1],1][btl_openib_component.c:637:init_one_port] x", "gpu-a" },
		{ "[gpu-a:27251:0:27251] ib_mlx5_log.c:143 x", "gpu-a" },
		{ "[default3]:gpu-a:10:20 [4] NCCL WARN", "gpu-a" },
		{ "{\"log\": \"gpu-a:10:20 [4] NCCL WARN\"}", "gpu-a" },
		{ "12: [gpu-a][[18551,1],1][btl_openib_component.c:637:init_one_port] x", "gpu-a" },
		{ "<4>Nov 28 10:00:00 node kernel: [  12.345678] x", "node" },
		{ "net_mlx5: probe of PCI device ee41:00:02.0 aborted", NULL },
		{ "2026-11-28_10:12:33.123+0000: [E] VERBS RDMA x", NULL },
		{ "12: [  12.345678] mlx5_core 0000:1b:00.0: x", NULL },
		{ "[  12.345678] mlx5_core 0000:1b:00.0: x", NULL },
		{ "kernel: [  12.345678] mlx5_core 0000:1b:00.0: x", NULL },
		{ "2026-11-28T10:00:00,123456+00:00 infiniband mlx5_0: x", NULL },
		{ "2026-11-28T10:00:00,123456+00:00 mlx5_core 0000:1b:00.0: x", NULL },
		{ "2026-11-28T10:00:00.123456789Z ERROR worker.py: x", NULL },
		{ "2026-11-28T10:00:00.198Z|00006|dpdk|ERR|bnxt_rx_pkt(): RX cons 1", NULL },
		{ "Mar 26 01:05:17 996894 [A46C2700] 0x01 -> osm_vendor_bind: ERR 5426", NULL },
		{ "libfabric:462:1673041636:efa:core:rxr_info_to_rxr():506<warn> x", NULL },
		{ "libfabric:85:1747438790::core:core:fi_getinfo_():1392<warn> x", NULL },
		{ "[coro_connection.hpp:209] x", NULL },
		{ "mlx5_core 0000:1b:00.0: x", NULL },
		{ "", NULL },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		const char *at;
		size_t n = rd_log_host(cases[i].line, &at);

		assert_int_equal(n, cases[i].host ? strlen(cases[i].host) : 0);
		if (n)
			assert_memory_equal(at, cases[i].host, n);
	}
}

/* A host whose GID rule warns for mlx5_0, and passes for others. */
TEST(causes_are_compared_with_the_host)
{
	static struct rd_ibdev devs[] = { { .name = "mlx5_0", .pci = -1 }, { .name = "mlx5_1", .pci = -1 } };
	static const struct {
		const char *line;
		enum rd_known known;
		bool here;
	} cases[] = {
		{ "Got completion with error 12, opcode 3 hca mlx5_0", RD_OK, true },
		{ "Got completion with error 12, opcode 3 hca mlx5_1", RD_OK, false },
		{ "Got completion with error 12, opcode 3 hca mlx5_7", RD_ABSENT, false },
		{ "gpu-b:1:2 Got completion with error 12, opcode 3 hca mlx5_0", RD_ABSENT, false },
		{ "gpu-a:1:2 Got completion with error 12, opcode 3 hca mlx5_0", RD_OK, true },
	};
	struct rd_finding finding = {
		.id = "gid-usable", .title = "t", .severity = RD_SEV_CRITICAL, .subject = (char *)"mlx5_0/1"
	};
	struct rd_findings findings = { .v = &finding, .n = 1 };
	struct rd_host host = { .ibdevs = devs, .n_ibdevs = 2 };
	struct rd_log_here here = { .name = "gpu-a.example.org", .host = &host, .findings = &findings };

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		_cleanup_(all_deinit) struct all all = { 0 };
		const struct rd_log_cause *cause = NULL;

		read_text(&all, cases[i].line);
		rd_log_join(&all.log, &here);
		for (size_t k = 0; k < all.log.joins[0].n; k++)
			if (strcmp(all.log.joins[0].causes[k].part->v[0], "gid-usable") == 0)
				cause = &all.log.joins[0].causes[k];
		assert_non_null(cause);
		assert_int_equal(cause->here.known, cases[i].known);
		assert_int_equal(cause->here.v, cases[i].here);
	}
}

ALL_TEST(the_next_step_has_the_names_of_the_line)
{
	read_text(all, "Got completion with error 12, opcode 3 hca mlx5_0");
	rd_log_join(&all->log, NULL);
	assert_string_equal(all->log.joins[0].next, "look at mlx5_0");
}
