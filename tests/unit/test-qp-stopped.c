/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that are stopped, by a signal or a debugger: named before anything else is advised; and processes that are not. */
#include "qp-host.h"

#include "analyse/qp/qp-verdict.h"
#include "collect/rdma/rdma.h"
#include "fake-host.h"

/* Queue pair 17 of process 235 is idle. */
static void idle_of_process(struct host *h)
{
	host_init(h);
	put(h, 17, RD_QPS_RTS)->proc = 0;
	RD_SET(h->qps[0].owner.pid, 235);
	RD_SET(h->qps[0].rqpn, 18);
	h->procs[0] = (struct rd_proc){ .pid = 235, .comm = (char *)"python3" };
	h->procs[1] = (struct rd_proc){ .pid = 236, .comm = (char *)"ib write" };
	two_looks(h, 2);
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

#define IDLE_TEST(name) TEST_BEGUN(name, struct host, h, idle_of_process, host_deinit)

IDLE_TEST(its_process_is_stopped)
{
	RD_SET(h->procs[0].state, 'T');
	judged(h, 0, "idle", "did not retransmit; its process 235 (python3) is stopped");
	assert_true(begins(h->v[0].verdict->fix, "kill -CONT 235\n# process 235 (python3) is stopped\n"));
	assert_non_null(strstr(h->v[0].verdict->fix, "gdb -p 235"));
	/* One sample is enough. */
	h->past[0].psn_per_second.known = RD_ABSENT;
	judged(h, 0, "cannot-tell", "its process 235 (python3) is stopped");
	/* The name could be a command. */
	h->procs[0].comm = (char *)"a): reboot #";
	judge(h);
	assert_true(begins(h->v[0].verdict->fix, "kill -CONT 235\n# process 235 is stopped\n"));
}

/* kill -CONT does not continue a process that its tracer stopped. */
IDLE_TEST(its_debugger_stopped_it)
{
	RD_SET(h->procs[0].state, 't');
	RD_SET(h->procs[0].tracer, 900);
	judged(h, 0, "idle", "its process 235 (python3) is stopped by its tracer, process 900");
	assert_true(begins(h->v[0].verdict->fix,
			   "ps -p 900\n# process 235 (python3) is stopped by its tracer, process 900: detach it\n"));
	h->procs[0].tracer.v = 0;
	judge(h);
	assert_null(strstr(h->v[0].verdict->fix, "kill -CONT"));
	assert_non_null(strstr(h->v[0].verdict->fix, "grep TracerPid /proc/235/status"));
}

/* Of its remote QP, on this host. */
IDLE_TEST(the_process_of_its_peer_is_stopped)
{
	static const uint8_t gid[16] = { [10] = 0xff, [11] = 0xff, [12] = 10, [15] = 2 };
	struct rd_qp_gid table = { .dev = 1, .port = 1, .here = true };
	struct rd_qp_ports ports = { .gids = &table, .n_gids = 1 };

	memcpy(table.raw, gid, 16);
	put(h, 18, RD_QPS_RTS)->dev = 1;
	h->qps[1].proc = 1;
	RD_SET(h->qps[1].rqpn, 17);
	RD_SET(h->past[1].psn_per_second, 0);
	h->past[0].seen = rd_alloc(1, sizeof(struct rd_qp_seen));
	h->past[0].seen->has_dgid = true;
	memcpy(h->past[0].seen->dgid, gid, 16);
	h->judge.ports = &ports;
	RD_SET(h->procs[1].state, 'T');
	judged(h, 0, "idle", "of its remote QP, process 236 (ib write) is stopped");
	assert_true(begins(h->v[0].verdict->fix, "kill -CONT 236\n# process 236 (ib write) is stopped\n"));
	/* Elsewhere it may be another process: the address is not one of this host alone. */
	table.here = false;
	judge(h);
	assert_null(strstr(h->v[0].verdict->why, "236"));
}

/* The signal to continue does nothing in a frozen control group, and a debugger waits without end. */
IDLE_TEST(its_control_group_is_frozen)
{
	RD_SET(h->procs[0].frozen, true);
	for (const char *c = "SDT"; *c; c++) {
		RD_SET(h->procs[0].state, *c);
		judged(h, 0, "idle", "did not retransmit; its process 235 (python3) is frozen");
		assert_true(begins(h->v[0].verdict->fix,
				   "cat /proc/235/cgroup\n# process 235 (python3) is in a frozen control group"));
		assert_null(strstr(h->v[0].verdict->fix, "gdb"));
		assert_null(strstr(h->v[0].verdict->fix, "kill"));
		assert_non_null(strstr(h->v[0].verdict->fix, "rdmadiag qp-state"));
	}
	/* Healthy: thawed, or not known. */
	RD_SET(h->procs[0].state, 'S');
	h->procs[0].frozen.v = false;
	judge(h);
	assert_null(strstr(h->v[0].verdict->why, "frozen"));
	h->procs[0].frozen.v = true;
	h->procs[0].frozen.known = RD_ABSENT;
	judge(h);
	assert_null(strstr(h->v[0].verdict->why, "frozen"));
	assert_non_null(strstr(h->v[0].verdict->fix, "gdb -p 235"));
}

TEST(frozen_groups_are_read)
{
	struct rd_proc procs[] = { { .cgroup = (char *)"/a" },
				   { .cgroup = (char *)"/b" },
				   { .cgroup = (char *)"/c" },
				   { .cgroup = (char *)"/d" },
				   { .cgroup = NULL } };
	static const int frozen[] = { true, false, true, -1, -1 };
	_cleanup_(fake_host_deinit) struct fake_host host = fake_host_make();

	fake_host_text(&host, "/proc/7/status", "State:\tS (sleeping)\n");
	fake_host_text(&host, "/sys/fs/cgroup/a/cgroup.events", "populated 1\nfrozen 1\n");
	fake_host_text(&host, "/sys/fs/cgroup/b/cgroup.events", "populated 1\nfrozen 0\n");
	fake_host_text(&host, "/sys/fs/cgroup/freezer/c/freezer.state", "FROZEN\n");
	fake_host_text(&host, "/sys/fs/cgroup/freezer/d/freezer.state", "");
	for (size_t i = 0; i < RD_ARRAY_SIZE(procs); i++) {
		procs[i].pid = 7;
		rd_collect_proc_state(host.source, &procs[i]);
		assert_int_equal(procs[i].frozen.known == RD_OK ? (int)procs[i].frozen.v : -1, frozen[i]);
	}
}

TEST(start_is_read)
{
	struct rd_proc procs[] = { { .pid = 235 }, { .pid = 236 }, { .pid = 237 } };
	struct rd_qp qps[] = { { .proc = -1 }, { .proc = 0 }, { .proc = 1 }, { .proc = 2 } };
	struct rd_res res = { .procs = procs, .n_procs = 3, .qps = qps, .n_qps = 4 };
	_cleanup_(fake_host_deinit) struct fake_host host = fake_host_make();

	fake_host_text(
		&host, "/proc/235/stat",
		"235 (a) b) S 1 235 235 0 -1 4194560 85 0 0 0 0 1 0 0 20 0 1 0 4711 8192 0 18446744073709551615\n");
	fake_host_text(&host, "/proc/236/stat", "236 (a) S 1 2\n");
	fake_host_text(&host, "/proc/237/stat", "237 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21\n");
	for (size_t i = 0; i < RD_ARRAY_SIZE(qps); i++)
		RD_SET(qps[i].state, RD_QPS_RTS);
	assert_false(rd_collect_failed_starts(host.source, &res));
	assert_int_not_equal(procs[0].start_ns.known, RD_OK);
	for (size_t i = 0; i + 1 < RD_ARRAY_SIZE(qps); i++)
		RD_SET(qps[i].state, RD_QPS_ERR);
	assert_true(rd_collect_failed_starts(host.source, &res));
	ASSERT_EACH(IS(procs[0].start_ns.known, RD_OK), IS(procs[0].start_ns.v, 47110000000));
	assert_int_not_equal(procs[1].start_ns.known, RD_OK);
	assert_int_not_equal(procs[2].start_ns.known, RD_OK);
	RD_SET(qps[3].state, RD_QPS_SQE);
	assert_true(rd_collect_failed_starts(host.source, &res));
	assert_int_equal(procs[2].start_ns.known, RD_OK);
}

/* Healthy: whatever else the state is; packets flow all the same, as the device writes for it; and what failed, failed before. */
IDLE_TEST(processes_that_do_not_matter)
{
	for (const char *c = "RSDIZX"; *c; c++) {
		RD_SET(h->procs[0].state, *c);
		judge(h);
		assert_null(strstr(h->v[0].verdict->why, "stopped"));
	}
	h->procs[0].state.known = RD_ABSENT;
	judge(h);
	assert_null(strstr(h->v[0].verdict->why, "stopped"));
	RD_SET(h->procs[0].state, 'T');
	RD_SET(h->past[0].psn_per_second, 1000);
	judged(h, 0, "ok", "1000 packets per second");
	assert_null(strstr(h->v[0].verdict->why, "stopped"));
	RD_SET(h->qps[0].state, RD_QPS_ERR);
	judge(h);
	assert_null(strstr(h->v[0].verdict->why, "stopped"));
}

/* A file of each process costs time: only of those that may matter. */
IDLE_TEST(processes_that_are_read)
{
	bool wanted[2];

	rd_qp_procs_that_may_stop(&h->views, 2, wanted);
	assert_true(wanted[0]);
	assert_false(wanted[1]);
	RD_SET(h->past[0].psn_per_second, 0.5);
	rd_qp_procs_that_may_stop(&h->views, 2, wanted);
	assert_true(wanted[0]);
	RD_SET(h->past[0].psn_per_second, 100);
	rd_qp_procs_that_may_stop(&h->views, 2, wanted);
	assert_false(wanted[0]);
	RD_SET(h->qps[0].type, RD_QPT_UD);
	h->past[0].psn_per_second.known = RD_ABSENT;
	rd_qp_procs_that_may_stop(&h->views, 0, wanted);
	assert_false(wanted[0]);
}

TEST(status_is_read)
{
	struct rd_proc proc = { .pid = 235 }, gone = { .pid = 236 }, odd = { .pid = 237 };
	_cleanup_(fake_host_deinit) struct fake_host host = fake_host_make();

	fake_host_text(&host, "/proc/235/status",
		       "Name:\tState:\\nT\nUmask:\t0022\nState:\tt (tracing stop)\nPid:\t235\nTracerPid:\t900\n");
	rd_collect_proc_state(host.source, &proc);
	ASSERT_EACH(IS(proc.state.known, RD_OK), IS(proc.state.v, 't'), IS(proc.tracer.v, 900));
	rd_collect_proc_state(host.source, &gone);
	assert_int_not_equal(gone.state.known, RD_OK);
	/* A bundle may contain anything. */
	rd_proc_state_take("State:\t\nTracerPid:\t99999999999\nState", &odd);
	rd_proc_state_take("", &odd);
	assert_int_not_equal(odd.state.known, RD_OK);
	assert_int_not_equal(odd.tracer.known, RD_OK);
}
