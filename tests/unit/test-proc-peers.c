/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TCP connections of processes whose queue pairs have unknown peers. */
#include "unit.h"

#include "analyse/qp/qp.h"
#include "collect/rdma/rdma.h"
#include "source/live/live.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include "fake-host.h"

/* One line of /proc/PID/net/tcp or tcp6, as this machine writes it. */
static void add_line(struct rd_buf *out, const char *local, const char *remote, unsigned tcp_state, unsigned inode)
{
	const char *const ends[] = { local, remote };

	rd_buf_printf(out, "%4zu:", out->len % 97);
	for (size_t e = 0; e < 2; e++) {
		bool v6 = strchr(ends[e], ':');
		uint32_t words[4];

		assert_int_equal(inet_pton(v6 ? AF_INET6 : AF_INET, ends[e], words), 1);
		rd_buf_str(out, " ");
		for (size_t i = 0; i < (v6 ? 4 : 1); i++)
			rd_buf_printf(out, "%08X", words[i]);
		rd_buf_str(out, ":1F90");
	}
	rd_buf_printf(
		out,
		" %02X 00000000:00000000 02:000A7214 00000000  1000        0 %u 2 0000000000000000 20 4 30 10 -1\n",
		tcp_state, inode);
}

#define HEAD "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"

static void printed(const struct rd_buf *text, const uint64_t *inodes, size_t n, struct rd_buf *out)
{
	_cleanup_(rd_proc_tcp_deinit) struct rd_proc_tcp tcp = { 0 };

	tcp.inodes = calloc(n + 1, sizeof(*tcp.inodes));
	if (n)
		memcpy(tcp.inodes, inodes, n * sizeof(*inodes));
	tcp.n_inodes = n;
	rd_proc_tcp_take(&tcp, text->data);
	rd_proc_tcp_print(&tcp, out);
}

/* Established ones of this process, to other hosts, each address once. */
TEST(connections_of_a_process)
{
	const uint64_t inodes[] = { 100, 101, 102, 103, 104, 105, 106 };
	_cleanup_buf_ struct rd_buf text = { 0 }, out = { 0 };

	rd_buf_str(&text, HEAD);
	add_line(&text, "10.0.0.1", "10.0.0.3", 1, 100);
	add_line(&text, "10.0.0.1", "10.0.0.2", 1, 101);
	add_line(&text, "::ffff:10.0.0.1", "::ffff:10.0.0.3", 1, 102);
	add_line(&text, "fd00::1", "fd00::2", 1, 103);
	add_line(&text, "127.0.0.1", "127.0.0.1", 1, 104);
	add_line(&text, "10.0.0.1", "192.168.7.1", 1, 105); /* another address of this host */
	add_line(&text, "192.168.7.1", "10.0.0.1", 1, 200);
	add_line(&text, "0.0.0.0", "0.0.0.0", 10, 106);	 /* listening */
	add_line(&text, "10.0.0.1", "10.0.0.9", 1, 201); /* of another process */
	add_line(&text, "10.0.0.1", "10.0.0.8", 6, 106); /* TIME_WAIT */
	printed(&text, inodes, RD_ARRAY_SIZE(inodes), &out);
	assert_string_equal(out.data, "10.0.0.2 1\n10.0.0.3 2\nfd00::2 1\n");
}

TEST(damaged_tables)
{
	const uint64_t inodes[] = { 100 };
	_cleanup_buf_ struct rd_buf text = { 0 };

	rd_buf_str(&text, HEAD);
	add_line(&text, "10.0.0.1", "10.0.0.3", 1, 100);
	for (size_t size = 0; size < text.len - 40; size++) {
		_cleanup_free_ char *part = strndup(text.data, size);
		const struct rd_buf cut = { .data = part, .len = size };
		_cleanup_buf_ struct rd_buf out = { 0 };

		printed(&cut, inodes, 1, &out);
		assert_true(!*out.data || !strcmp(out.data, "10.0.0.3 1\n"));
	}
}

/* Beyond the limit they are counted. */
TEST(many_addresses)
{
	_cleanup_buf_ struct rd_buf text = { 0 }, out = { 0 };
	_cleanup_free_ uint64_t *inodes = calloc(2000, sizeof(*inodes));
	struct rd_proc_peers peers;

	rd_buf_str(&text, HEAD);
	for (unsigned i = 0; i < 2000; i++) {
		char remote[32];

		snprintf(remote, sizeof(remote), "10.1.%u.%u", i / 200, i % 200 + 1);
		add_line(&text, "10.0.0.1", remote, 1, 1000 + i);
		inodes[i] = 1000 + i;
	}
	printed(&text, inodes, 2000, &out);
	assert_non_null(strstr(out.data, "\n+976\n"));
	rd_proc_peers_take(out.data, &peers);
	ASSERT_EACH(IS(peers.n, RD_PROC_PEERS), IS(peers.more, 2000 - RD_PROC_PEERS));
}

TEST(those_with_most_connections_are_kept)
{
	struct rd_proc_peers peers;
	_cleanup_free_ char *text = NULL;

	rd_proc_peers_take("10.0.0.1 1\n10.0.0.2 9\n10.0.0.3 1\nfd00::4 7\n10.0.0.5 1\n10.0.0.6 1\n10.0.0.7 1\n"
			   "10.0.0.8 1\n10.0.0.9 2\nnonsense\n10.0.0.300 4\n10.0.0.4\n",
			   &peers);
	text = rd_proc_peers_text(&peers);
	assert_string_equal(text, "10.0.0.2,fd00::4,10.0.0.9,10.0.0.1,10.0.0.3,10.0.0.5,10.0.0.6,10.0.0.7 +1");
}

TEST(several_processes)
{
	struct rd_proc_peers sum = { 0 }, one, two;
	_cleanup_free_ char *text = NULL, *both = NULL;

	rd_proc_peers_take("10.0.0.1 1\n10.0.0.2 1\n", &one);
	rd_proc_peers_take("10.0.0.2 1\n10.0.0.3 1\n+4\n", &two);
	rd_proc_peers_merge(&sum, &one);
	rd_proc_peers_merge(&sum, &two);
	text = rd_proc_peers_text(&sum);
	assert_string_equal(text, "10.0.0.1,10.0.0.2,10.0.0.3 +4");
	rd_proc_peers_merge(&sum, &two);
	both = rd_proc_peers_text(&sum);
	assert_string_equal(both, "10.0.0.1,10.0.0.2,10.0.0.3 +4 or more");
}

/* Two processes with a queue pair each: the connections of one can be read, those of the other cannot. */
TEST(the_group_of_unknown_peers)
{
	_cleanup_(fake_host_deinit) struct fake_host host = fake_host_make();
	_cleanup_(rd_res_deinit) struct rd_res res = { 0 };
	_cleanup_(rd_qp_views_deinit) struct rd_qp_views views;
	_cleanup_(rd_qp_groups_deinit) struct rd_qp_groups groups;
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };
	size_t qps[2];

	fake_host_text(&host, "/tcp/812", "10.0.0.2 3\n");
	res.devs = calloc(1, sizeof(*res.devs));
	res.devs[0].name = strdup("rxe0");
	res.n_devs = 1;
	res.qps = calloc(2, sizeof(*res.qps));
	res.n_qps = 2;
	res.procs = calloc(2, sizeof(*res.procs));
	res.n_procs = 2;
	for (int i = 0; i < 2; i++) {
		RD_SET(res.qps[i].lqpn, 17 + (uint32_t)i);
		RD_SET(res.qps[i].type, RD_QPT_RC);
		res.qps[i].proc = i;
		res.procs[i] = (struct rd_proc){ .pid = 812 + (uint32_t)i, .comm = strdup("python") };
	}
	rd_qp_views_init(&views, &res);
	rd_qp_count_unknown_peers(&views, NULL, qps);
	assert_int_equal(qps[0], 1);
	rd_collect_proc_peers(host.source, &res.procs[0]);
	rd_collect_proc_peers(host.source, &res.procs[1]);
	ASSERT_EACH(IS(res.procs[0].peers->n, 1), IS(res.procs[1].peers == NULL, true));
	rd_qp_group_by(&views, NULL, RD_BY_PEER, &groups);
	assert_int_equal(groups.n, 1);
	ASSERT_EACH(IS(groups.v[0].label == NULL, true), IS(groups.v[0].peers->n, 1));
	rd_qp_proc_peers_findings(&views, NULL, &findings);
	assert_int_equal(findings.n, 1);
	ASSERT_EACH(IS(findings.v[0].severity, RD_SEV_NOTE), READS(findings.v[0].subject, "process 812 (python)"),
		    HAS(findings.v[0].observed, "10.0.0.2"));
	/* Where the peer is known, connections of the process are not looked at. */
	rd_qp_views_set_link(&views, 0, &(struct rd_qp_link){ .cm_id = -1, .has_gid = true });
	rd_qp_count_unknown_peers(&views, NULL, qps);
	assert_int_equal(qps[0], 0);
}

/* This process, which is connected to itself only. */
TEST(connections_within_the_host)
{
	_cleanup_(rd_source_closep) struct rd_source *source = NULL;
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	_cleanup_bytes_ struct rd_bytes bytes = { 0 }, none = { 0 };
	_cleanup_close_ int listener = socket(AF_INET, SOCK_STREAM, 0), end = socket(AF_INET, SOCK_STREAM, 0);
	char path[64];

	assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
	assert_int_equal(connect(end, (struct sockaddr *)&address, size), 0);
	assert_int_equal(rd_source_live_open(NULL, &source, NULL), 0);
	snprintf(path, sizeof(path), "/tcp/%d", getpid());
	assert_int_equal(rd_read_file(source, path, &bytes, NULL), 0);
	assert_int_equal(bytes.size, 0);
	assert_int_equal(rd_read_file(source, "/tcp/4294967295", &none, NULL), -ENOENT);
	assert_int_equal(rd_read_file(source, "/tcp/self", &none, NULL), -ENOENT);
	assert_int_equal(rd_read_file(source, "/tcp", &none, NULL), -ENOENT);
}
