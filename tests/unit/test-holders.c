/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "fake-host.h"
#include "trace/attach/attach.h"
#include "trace/attach/session.h"

#define S UINT64_C(1000000000)

static enum rd_early_end step(struct rd_watch *w, uint64_t now_ns, uint64_t run_ns, bool counted)
{
	return rd_watch_step(w, &(struct rd_watch_reading){ .now_ns = now_ns, .run_ns = run_ns, .counted = counted });
}

TEST(share_of_one_processor)
{
	struct rd_watch w = { .max_percent = 10 };

	assert_true(rd_watch_due(&w, 0));
	assert_int_equal(step(&w, 100 * S, 5 * S, true),
			 RD_EARLY_END_NOT); /* what was before the first look is not ours */
	assert_false(rd_watch_due(&w, 101 * S));
	assert_int_equal(step(&w, 101 * S, 6 * S, true), RD_EARLY_END_NOT); /* half a window says nothing */
	assert_true(rd_watch_due(&w, 102 * S));
	assert_int_equal(step(&w, 102 * S, 5 * S + S / 5, true), RD_EARLY_END_NOT); /* 10% is allowed */
	assert_float_equal(w.percent, 10, 1e-9);
	assert_int_equal(step(&w, 104 * S, 5 * S + S / 5 + S / 5 + 1000000, true), RD_EARLY_END_CPU);
	assert_float_equal(w.percent, 10.05, 1e-9);
	/* On many processors the sum may be above 100. */
	w = (struct rd_watch){ .max_percent = 250 };
	step(&w, 0, 0, true);
	assert_int_equal(step(&w, 2 * S, 5 * S, true), RD_EARLY_END_NOT);
	assert_int_equal(step(&w, 4 * S, 11 * S, true), RD_EARLY_END_CPU);
	assert_float_equal(w.percent, 300, 1e-9);
}

/* A look that comes late, on a busy host, makes the window longer and not the share greater. */
TEST(late_looks)
{
	struct rd_watch w = { .max_percent = 10 };

	step(&w, 0, 0, true);
	assert_int_equal(step(&w, 20 * S, 2 * S, true), RD_EARLY_END_NOT);
	assert_float_equal(w.percent, 10, 1e-9);
}

/* What was not measured all the time is no zero, and what comes after it is not compared with what was before. */
TEST(statistics_that_come_and_go)
{
	struct rd_watch w = { .max_percent = 10 };

	step(&w, 0, 0, false);
	assert_int_equal(step(&w, 2 * S, 0, false), RD_EARLY_END_NOT);
	assert_int_equal(step(&w, 4 * S, S, true), RD_EARLY_END_NOT); /* the window begins here */
	assert_float_equal(w.highest, 0, 0);
	assert_int_equal(step(&w, 6 * S, 2 * S, false), RD_EARLY_END_NOT); /* and was not measured to its end */
	assert_int_equal(step(&w, 8 * S, 3 * S, true), RD_EARLY_END_NOT);
	assert_int_equal(step(&w, 10 * S, 4 * S, true), RD_EARLY_END_CPU);
}

TEST(no_limit)
{
	struct rd_watch w = { 0 };

	assert_false(rd_watch_due(&w, S));
	step(&w, 0, 0, true);
	assert_int_equal(step(&w, 1000 * S, 100000 * S, true), RD_EARLY_END_NOT);
	assert_int_equal(rd_watch_reader(&w, 1000000 * S), RD_EARLY_END_NOT);
}

TEST(nobody_reads)
{
	struct rd_watch w = { .max_silence_ns = 300 * S, .heard_ns = 1000 * S };

	assert_int_equal(rd_watch_reader(&w, 900 * S), RD_EARLY_END_NOT);
	assert_int_equal(rd_watch_reader(&w, 1300 * S), RD_EARLY_END_NOT);
	assert_int_equal(rd_watch_reader(&w, 1300 * S + 1), RD_EARLY_END_UNREAD);
	w.heard_ns = 1300 * S;
	assert_int_equal(rd_watch_reader(&w, 1300 * S + 1), RD_EARLY_END_NOT);
	assert_int_equal(step(&w, 1601 * S, 0, false), RD_EARLY_END_UNREAD);
}

TEST(records)
{
	struct rd_hold_record record = { .magic = RD_HOLD_MAGIC, .version = RD_HOLD_VERSION, .holder = 7 }, ret = { 0 };
	struct rd_hold_record other;
	uint8_t longer[sizeof(record) + 64] = { 0 };

	memset(record.what, 'x', sizeof(record.what));
	memset(record.command, 'y', sizeof(record.command));
	assert_true(rd_hold_record_read(&record, sizeof(record), &ret));
	ASSERT_EACH(IS(ret.holder, 7), IS(strlen(ret.what), sizeof(ret.what) - 1),
		    IS(strlen(ret.command), sizeof(ret.command) - 1));
	/* A later version has more behind it. */
	record.version = RD_HOLD_VERSION + 1;
	memcpy(longer, &record, sizeof(record));
	assert_true(rd_hold_record_read(longer, sizeof(longer), &ret));
	/* A map that is merely called so. */
	assert_false(rd_hold_record_read(&record, sizeof(record) - 1, &ret));
	other = record;
	other.magic[3] ^= 1;
	assert_false(rd_hold_record_read(&other, sizeof(other), &ret));
	other = record;
	other.version = 0;
	assert_false(rd_hold_record_read(&other, sizeof(other), &ret));
}

static void write_process(struct fake_host *host, int pid, const char *comm, const char *stat, const char *status)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	fake_host_text(host, path, comm);
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fake_host_text(host, path, stat);
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	fake_host_text(host, path, status);
}

#define REST " 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 "

TEST(processes)
{
	_cleanup_free_ struct rd_holder_proc *v = NULL;
	_cleanup_(fake_host_deinit) struct fake_host host = fake_host_make();
	size_t n = 0;

	write_process(&host, 812, "rdmadiag-hold\n", "812 (rdmadiag-hold) S 811" REST "987654 0 0\n",
		      "Name:\trdmadiag-hold\nNSpid:\t812\nThreads:\t1\n");
	/* In a container; the name in stat is another's doing. */
	write_process(&host, 900, "rdmadiag-hold\n", "900 (x) R 7 (rdm) T 899" REST "5 0 0\n",
		      "Name:\trdmadiag-hold\nNSpid:\t900\t12\n");
	write_process(&host, 901, "rdmadiag\n", "901 (rdmadiag) S 1" REST "5 0 0\n", "NSpid:\t901\n");
	write_process(&host, 903, "rdmadiag-hold\n",
		      "903 (rdmadiag-hold) R 1 1 1 0 -1 4194308 0 0 0 0 0 0 0 0 20 0 1 0 6 0 0\n", "NSpid:\t903\n");
	/* Ended while it was being looked at. */
	fake_host_text(&host, "/proc/902/comm", "rdmadiag-hold\n");
	fake_host_text(&host, "/proc/sys/kernel/bpf_stats_enabled", "1\n");
	assert_int_equal(rd_holders_processes(host.source, &v, &n, NULL), 0);
	assert_int_equal(n, 3);
	ASSERT_EACH(IS(v[0].pid, 812), IS(v[0].own_pid, 812), IS(v[0].parent, 811), IS(v[0].start, 987654),
		    IS(v[0].state, 'S'), IS(v[0].exiting, false), IS(v[1].pid, 900), IS(v[1].own_pid, 12),
		    IS(v[1].parent, 899), IS(v[1].start, 5), IS(v[1].state, 'T'), IS(v[2].pid, 903),
		    IS(v[2].exiting, true));
}

TEST(run_statistics)
{
	struct rd_held_list list = { 0 };
	_cleanup_(fake_host_deinit) struct fake_host host = fake_host_make();

	rd_holders_run_stats(host.source, &list);
	assert_int_not_equal(list.run_stats.known, RD_OK);
	fake_host_text(&host, "/proc/sys/kernel/bpf_stats_enabled", "0\n");
	rd_holders_run_stats(host.source, &list);
	ASSERT_EACH(IS(list.run_stats.known, RD_OK), IS(list.run_stats.v, false));
	fake_host_text(&host, "/proc/sys/kernel/bpf_stats_enabled", "1\n");
	rd_holders_run_stats(host.source, &list);
	assert_true(list.run_stats.v);
}

/* A process that has taken the number of one that has ended is left alone. */
TEST(another_process_of_that_number)
{
	struct rd_held held = { .proc = { .pid = getpid(), .start = 1, .state = 'S' } };
	struct rd_source *src = NULL;
	struct rd_err err = { 0 };

	assert_int_equal(rd_source_live_open(NULL, &src, &err), 0);
	assert_int_equal(rd_holders_detach(src, &held, &err), -ESRCH); /* else SIGTERM would end this test */
	held.proc.pid = 0;
	assert_int_equal(rd_holders_detach(src, &held, &err), -ESRCH);
	src->ops->close(src);
}
