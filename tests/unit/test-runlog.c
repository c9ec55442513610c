/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines that NCCL, UCX, Mooncake and NVSHMEM log of the NICs that they take. */
#include "unit.h"

#include "collect/nccl/runlog.h"

static struct rd_runlog runlog;

static const struct rd_run_host *parse(const char *text)
{
	rd_runlog_deinit(&runlog);
	assert_int_equal(rd_runlog_parse("run.log", text, strlen(text), &runlog, NULL), 0);
	assert_int_equal(runlog.n, 1);
	return &runlog.v[0];
}

static int release(void **state)
{
	rd_runlog_deinit(&runlog);
	return 0;
}

TEST_WITH(host_stands_before_process_and_thread, NULL, release)
{
	static const char *const lines[] = {
		"node-1:12:34 [0] NCCL INFO Using network IB\n",
		"[1,4]<stdout>:node-1:12:34 [0] NCCL INFO Using network IB\n",
		"[2025-10-16 22:16:08] node-1:12:34 [0] NCCL INFO Using network IB\r\n",
		"(Worker pid=7, ip=192.0.2.1) node-1:12:34 [0] NCCL INFO Using network IB",
		"| node-1:12:34 [0] NCCL INFO Using network IB   \n",
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(lines); i++) {
		const struct rd_run_host *host = parse(lines[i]);

		ASSERT_EACH(READS(host->name, "node-1"), READS(host->network, "IB"));
	}
	assert_string_equal(parse("<node>:12:34 [0] NCCL INFO Using network IB\n")->name, "<node>");
	assert_string_equal(parse(":12:34 [0] NCCL INFO Using network IB\n")->name, "");
	assert_string_equal(parse(" [0] NCCL INFO Using network IB\n")->name, "");
	assert_string_equal(parse("misc/socket.cc:441 NCCL WARN NET/IB : No IP interface found.\n")->name, "");
}

TEST_WITH(several_hosts_are_kept_apart, NULL, release)
{
	static const char text[] =
		"a.example:1:2 [0] NCCL INFO Using network IB\nb:1:2 [0] NCCL INFO Using network Socket\n"
		"a.example:1:3 [1] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB ; OOB eth0:192.0.2.1<0>\n"
		"c:1:2 [0] NCCL INFO Connected all rings\n";

	rd_runlog_deinit(&runlog);
	assert_int_equal(rd_runlog_parse("run.log", text, strlen(text), &runlog, NULL), 0);
	ASSERT_EACH(IS(runlog.n, 2), IS(rd_runlog_find(&runlog, "a")->devs.n, 1),
		    READS(rd_runlog_find(&runlog, "b.other")->network, "Socket"),
		    IS(rd_runlog_find(&runlog, "c") == NULL, true), IS(rd_runlog_find(&runlog, NULL) == NULL, true));
}

TEST_WITH(versions, NULL, release)
{
	parse("NCCL version 2.19.3+cuda12.3\nn:1:2 [0] NCCL INFO Using network IB\n");
	ASSERT_EACH(IS(runlog.version[1], 19), IS(rd_runlog_before(&runlog, 19, 4), true),
		    IS(rd_runlog_before(&runlog, 29, 7), true), IS(rd_runlog_before(&runlog, 19, 3), false),
		    IS(rd_runlog_before(&runlog, 18, 5), false));
	parse("n:1:2 [0] NCCL INFO NCCL version 2.30.7+cuda13.0\nn:1:2 [0] NCCL INFO Using network IB\n");
	assert_false(rd_runlog_before(&runlog, 29, 7));
	parse("RCCL version 2.18.3+hip6.0\nn:1:2 [0] NCCL INFO Using network IB\n");
	ASSERT_EACH(IS(runlog.rccl, true), IS(rd_runlog_before(&runlog, 29, 7), false));
	parse("n:1:2 [0] NCCL INFO Using network IB\n");
	ASSERT_EACH(IS(runlog.version[0], 0), IS(rd_runlog_before(&runlog, 29, 7), false));
}

TEST_WITH(lists_of_devices, NULL, release)
{
	const struct rd_run_host *host =
		parse("n:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB/SHARP [1]mlx5_1:2/RoCE "
		      "[2]mlx5_2_dma:1:0:3/IB [RO]; OOB eth0:192.0.2.1<0>\n");

	assert_int_equal(host->devs.n, 3);
	ASSERT_EACH(READS(host->devs.v[0].link, "IB"), READS(host->devs.v[1].name, "mlx5_1"),
		    IS(host->devs.v[1].port, 2), READS(host->devs.v[1].link, "RoCE"),
		    READS(host->devs.v[2].name, "mlx5_2_dma"), IS(host->devs.v[2].position, 2),
		    READS(rd_run_net(host, 2)->name, "mlx5_2_dma"), IS(host->list_whole, true));
	assert_false(parse("n:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/R\n")->list_whole);
	assert_false(parse("n:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB\n")->list_whole);
	assert_true(parse("n:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB ; OOB e:1<0>\n")->list_whole);
	/* Until 2.3. */
	host = parse("n:1:2 [0] NCCL INFO NET/IB: [0] mlx5_3:1/IB \nn:1:2 [0] NCCL INFO NET/IB: [1] mlx5_2:1/IB \n"
		     "n:1:2 [0] NCCL INFO Using internal Network IB\n");
	assert_int_equal(host->devs.n, 2);
	ASSERT_EACH(IS(host->devs.v[1].position, 1), READS(rd_run_net(host, 1)->name, "mlx5_2"),
		    READS(host->network, "IB"));
	/* 2.20 to 2.23, merged. */
	host = parse(
		"n:1:2 [0] NCCL INFO NET/IB : Using [0]={[0] mlx5_2:1/RoCE, [1] mlx5_3:1/RoCE} [1]={[2] mlx5_0:1/RoCE, "
		"[3] mlx5_1:1/RoCE} [4]mlx5_4:1/RoCE [RO]; OOB eth0:192.0.2.1<0>\n");
	ASSERT_EACH(IS(host->devs.n, 5), READS(rd_run_net(host, 0)->name, "mlx5_2+mlx5_3"),
		    READS(rd_run_net(host, 1)->name, "mlx5_0+mlx5_1"), READS(rd_run_net(host, 2)->name, "mlx5_4"));
	/* Interfaces of another plugin are no devices, and neither is what counts otherwise. */
	host = parse("n:1:2 [0] NCCL INFO NET/FastSocket : Using [0]enp0s12:192.0.2.6<0> [1]enp6s0f0:192.0.2.4<0>\n"
		     "n:1:2 [0] NCCL INFO NET/IB: [2] mlx5_2:uverbs2:1/RoCE provider=Mlx5 speed=400000\n"
		     "n:1:2 [0] NCCL INFO Using network FastSocket\n");
	assert_int_equal(host->devs.n, 0);
}

TEST_WITH(numbers_of_processes_that_differ_tell_nothing, NULL, release)
{
	const struct rd_run_host *host =
		parse("n:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB ; OOB eth0:192.0.2.1<0>\n"
		      "n:2:2 [1] NCCL INFO NCCL_IB_HCA set to mlx5_0\n"
		      "n:2:2 [1] NCCL INFO NCCL_IB_HCA set to mlx5_1\n"
		      "n:2:2 [1] NCCL INFO NET/IB : Using [0]mlx5_1:1/IB ; OOB eth0:192.0.2.1<0>\n");

	ASSERT_EACH(IS(host->devs.n, 2), IS(host->nets_vary, true), IS(rd_run_net(host, 0) == NULL, true),
		    IS(rd_run_var_varies(host, "NCCL_IB_HCA"), true), IS(rd_run_var_varies(host, "NCCL_NET"), false));
}

TEST_WITH(gpudirect_of_nics_and_pairs, NULL, release)
{
	const struct rd_run_host *host = parse(
		"n:1:2 [0] NCCL INFO NET/IB : GPU Direct RDMA Enabled for HCA 0 'mlx5_0'\n"
		"n:1:2 [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 1 'mlx5_1' (no module)\n"
		"n:1:2 [0] NCCL INFO NET/IB : Made virtual device [8] name=mlx5_0+mlx5_1 speed=800000 ndevs=2 rail=-1\n"
		"n:1:2 [0] NCCL INFO GPU Direct RDMA Disabled for GPU ca000 / HCA 0 (distance 7 > 4)\n"
		"n:1:2 [0] NCCL INFO NET/IB : GPU Direct RDMA Enabled for GPU 3[3] / HCA 1 (distance 1 < 2), read 0\n");

	ASSERT_EACH(IS(rd_run_net(host, 0)->gpudirect.v, true), IS(rd_run_net(host, 1)->gpudirect.v, false),
		    IS(rd_run_net(host, 1)->gpudirect.known, RD_OK), READS(rd_run_net(host, 8)->name, "mlx5_0+mlx5_1"));
	ASSERT_EACH(IS(host->tells_nets, true), IS(host->pairs.n, 2));
	ASSERT_EACH(READS(host->pairs.v[0].gpu.text, "ca000"), IS(host->pairs.v[0].distance.v, 7),
		    IS(host->pairs.v[0].level.v, 4), IS(host->pairs.v[0].gpudirect, false),
		    IS(host->pairs.v[1].gpudirect, true), READS(host->pairs.v[1].gpu.text, "3"));
}

TEST_WITH(channels, NULL, release)
{
	const struct rd_run_host *host =
		parse("n:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/3/GDRDMA\n"
		      "n:1:2 [0] NCCL INFO Channel 02/0 : 0[0] -> 8[0] [send] via NET/IB/3/GDRDMA\n"
		      "n:1:2 [1] NCCL INFO Channel 01/1 : 9[1] -> 1[1] [receive] via NET/IB/2/Shared\n"
		      "n:1:2 [0] NCCL INFO Channel 01/0 : 0[0] -> 8[0] [send] via NET/IB/1(4)/GDRDMA(PCI)\n"
		      "n:1:2 [2] NCCL INFO Channel 01 : 2[c7000] -> 0[87000] [receive] via NET/IB/5/GDRDMA\n"
		      "n:1:2 [2] NCCL INFO Ring 00 : 7 -> 8 [send] via NET/AWS Libfabric/0\n"
		      "n:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n");

	assert_int_equal(host->channels.n, 5);
	assert_int_equal(host->channels.v[0].n, 2);
	assert_true(host->channels.v[0].first && host->channels.v[0].gpudirect && host->channels.v[0].send);
	assert_int_equal(host->channels.v[0].proxy, -1);
	assert_true(host->channels.v[1].peer && !host->channels.v[1].send && !host->channels.v[1].gpudirect);
	ASSERT_EACH(IS(host->channels.v[1].gpu.rank.v, 1), IS(host->channels.v[2].proxy, 4),
		    IS(host->channels.v[2].gpudirect, true), READS(host->channels.v[3].gpu.text, "87000"),
		    IS(host->channels.v[3].net, 5), READS(host->channels.v[4].transport, "AWS Libfabric"),
		    READS(host->channels.v[4].gpu.text, ""));
}

TEST_WITH(ranks_and_variables, NULL, release)
{
	const struct rd_run_host *host = parse(
		"n:1:2 [0] NCCL INFO ncclCommInitRank comm 0x55 rank 9 nranks 16 cudaDev 1 nvmlDev 4 busId 2a000 commId 0xde\n"
		"n:1:2 [0] NCCL INFO comm 0x7f rank 0 nranks 2 cudaDev 0 nvmlDev 0 - Init COMPLETE\n"
		"n:1:2 [0] NCCL INFO comm 0x7e rank 3 nranks 2 cudaDev 0 busId 7000 - Init COMPLETE\n"
		"n:1:2 [0] NCCL INFO NCCL_NET_GDR_LEVEL set by environment to PIX\n"
		"n:1:2 [0] NCCL INFO NCCL_IB_TIMEOUT set by environment to 22.\n"
		"n:1:2 [0] NCCL INFO NCCL_IB_HCA set to ^mlx5_2.\n");

	assert_int_equal(host->ranks.n, 3);
	ASSERT_EACH(IS(host->ranks.v[0].bus.v, 0x2a000), IS(host->ranks.v[0].nvml.v, 4),
		    IS(host->ranks.v[1].bus.known, RD_ABSENT), IS(host->ranks.v[2].nvml.known, RD_ABSENT));
	assert_string_equal(rd_run_var(host, "NCCL_NET_GDR_LEVEL"), "PIX");
	assert_string_equal(rd_run_var(host, "NCCL_IB_TIMEOUT"), "22");
	assert_string_equal(rd_run_var(host, "NCCL_IB_HCA"), "^mlx5_2.");
}

TEST_WITH(ucx, NULL, release)
{
	const struct rd_run_host *host = parse(
		"[1750940428.181226] [node-1:2814548:0]  ucp_worker.c:1903 UCX  INFO  ucp_context_0 inter-node cfg#8 "
		"tag(rc_mlx5/mlx5_2:1 rc_mlx5/mlx5_2:1 tcp/eth0)\n"
		"[1750940428.181227] [node-1:2814548:0]  ucp_worker.c:1903 UCX  INFO  ucp_context_0 intra-node cfg#4 "
		"tag(sysv/memory rc_mlx5/mlx5_7:1)\n"
		"[1750940428.181228] [node-1:2814548:0]  parser.c:2036 UCX  INFO  UCX_* env variables: UCX_LOG_LEVEL=info UCX_TLS=tcp\n"
		"[1750940428.181229] [node-1:2814548:0]  | 0..inf | zero-copy | 50% on dc_mlx5/mlx5_3:1 and 50% on srd/rdmap0:1 |\n");

	ASSERT_EACH(READS(host->name, "node-1"), IS(host->uses.n, 4));
	ASSERT_EACH(READS(host->uses.v[0].device, "mlx5_2"), READS(host->uses.v[0].transport, "rc_mlx5"),
		    IS(host->uses.v[0].port, 1), READS(host->uses.v[1].transport, "tcp"),
		    READS(host->uses.v[3].device, "rdmap0"), READS(rd_run_var(host, "UCX_TLS"), "tcp"));
	/* Older lines name no host. */
	assert_string_equal(parse("ucp_worker.c:1783 UCX INFO ep_cfg[2]: tag(sysv/memory tcp/ib1)\n")->name, "");
}

TEST_WITH(mooncake_and_nvshmem, NULL, release)
{
	const struct rd_run_host *host = parse(
		"I20260203 17:42:09.401029 3720678 rdma_context.cpp:140] RDMA device: mlx5_9, LID: 0, GID: (GID_Index 3) 00:00\n"
		"I0507 13:39:06.957267 90427 topology.cpp:124] Device mlx5_2 port 1 is available\n"
		"I0507 13:39:06.957268 90427 topology.cpp:93] mlx5_7:1 is not active (state: 1)\n"
		"{\n  \"cpu:0\" : [ [ \"mlx5_0\" ], [ \"mlx5_1\" ] ],\n  \"cuda:1\" :\n  [\n    [ \"mlx5_1\", \"mlx5_2\" ],\n    []\n  ]\n}\n"
		"/src/ibgda.cpp 748 [5] IBGDA: device used mlx5_4, data_direct support: 0\n");

	assert_int_equal(host->uses.n, 4);
	ASSERT_EACH(IS(host->uses.v[0].gid, 3), READS(host->uses.v[1].device, "mlx5_2"),
		    IS(host->uses.v[1].refused, false), READS(host->uses.v[2].device, "mlx5_7"),
		    IS(host->uses.v[2].refused, true), IS(host->uses.v[3].pe, 5),
		    READS(host->uses.v[3].device, "mlx5_4"), IS(host->prefers.n, 2));
	ASSERT_EACH(READS(host->prefers.v[1].place, "cuda:1"), READS(host->prefers.v[1].names, "mlx5_1 mlx5_2"));
}

TEST_WITH(what_says_nothing_is_refused, NULL, release)
{
	static const char *const texts[] = { "",
					     "\n\n",
					     "hello\n",
					     "n:1:2 [0] NCCL INFO Connected all rings\n",
					     "NCCL version 2.19.3+cuda12.3\n",
					     "\"cuda:0\" : [ [" };

	for (size_t i = 0; i < RD_ARRAY_SIZE(texts); i++) {
		struct rd_err err = { 0 };

		rd_runlog_deinit(&runlog);
		assert_int_equal(rd_runlog_parse("run.log", texts[i], strlen(texts[i]), &runlog, &err), -EBADMSG);
		assert_true(err.hint[0]);
	}
}

/* Lines of any length, and more of them than a host can have. */
TEST_WITH(bounds_hold, NULL, release)
{
	_cleanup_free_ char *text = malloc(4 << 20);
	size_t at = 0;

	assert_non_null(text);
	for (unsigned i = 0; i < 3000; i++)
		at += (size_t)sprintf(text + at,
				      "n:1:2 [0] NCCL INFO Channel 00/0 : %u[0] -> 8[0] [send] via NET/IB/3\n", i);
	memset(text + at, 'x', 1 << 20);
	at += 1 << 20;
	at += (size_t)sprintf(text + at, "\nn:1:2 [0] NCCL INFO Using network IB\n");
	for (unsigned i = 0; i < 2000; i++)
		at += (size_t)sprintf(text + at, "host%u:1:2 [0] NCCL INFO Using network IB\n", i);
	rd_runlog_deinit(&runlog);
	assert_int_equal(rd_runlog_parse("run.log", text, at, &runlog, NULL), 0);
	ASSERT_EACH(IS(runlog.cut, true), IS(runlog.n, RD_RUN_HOSTS));
	ASSERT_EACH(IS(runlog.v[0].channels.n, RD_RUN_LIST), READS(runlog.v[0].network, "IB"));
}
