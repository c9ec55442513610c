/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "analyse/trace/chain.h"
#include "collect/kernel/trace-event.h"
#include "collect/shared/cgroup.h"

#include <errno.h>
#include <ftw.h>
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bpf/record.h"

#define DEV(major, minor) ((major) << 20 | (minor))

/* A host of files below a folder of our own. */
struct host {
	char root[32];
	struct rd_source *src;
	struct rd_trace_facts *facts;
};

static int unlink_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static void make_dirs(char *path)
{
	for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(path, 0755);
		*p = '/';
	}
}

static void put(const struct host *host, const char *path, const char *text)
{
	char full[512];
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", host->root, path);
	make_dirs(full);
	if (!text) {
		mkdir(full, 0755);
		return;
	}
	file = fopen(full, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static uint64_t inode(const struct host *host, const char *path)
{
	uint64_t ino = 0;

	assert_int_equal(host->src->ops->stat_ino(host->src, path, &ino, NULL), 0);
	return ino;
}

static void host_open(struct host *host, bool unified)
{
	struct rd_err err = { 0 };

	strcpy(host->root, "/tmp/rd-unit-XXXXXX");
	assert_non_null(mkdtemp(host->root));
	put(host, "/sys/class/infiniband_verbs/abi_version", "6\n");
	put(host, "/sys/class/infiniband_verbs/uverbs0/dev", "231:192\n");
	put(host, "/sys/class/infiniband_verbs/uverbs0/ibdev", "rxe0\n");
	if (unified) {
		put(host, "/sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
		put(host, "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_42/step_0/user/task_0", NULL);
		put(host, "/sys/fs/cgroup/system.slice/memory.max", "max\n");
	}
	put(host, "/proc/77/cgroup", "0::/system.slice/slurmstepd.scope/job_42/step_0/user/task_0\n");
	assert_int_equal(rd_source_live_open(host->root, &host->src, &err), 0);
	assert_int_equal(rd_trace_facts_create(host->src, &host->facts), 0);
}

static void host_close(struct host *host)
{
	rd_trace_facts_destroy(host->facts);
	host->src->ops->close(host->src);
	nftw(host->root, unlink_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* A record as the programs send it: cut off behind the links in use, frames behind them. */
struct bytes {
	size_t size;
	uint8_t data[sizeof(struct rd_rec) + 2 * RD_STACK_MAX * 8];
};

static struct rd_rec example(void)
{
	struct rd_rec rec = {
		.time = 5,
		.verb = RD_VERB(RD_VERB_INVOKE_WRITE, 9),
		.pid = 77,
		.tid = 78,
		.uid = 1000,
		.root = 2,
		.origin = 0,
		.dev = DEV(231, 192),
		.qpn = 17,
		.port = 1,
		.err = -14,
		.n_chain = 3,
		.flags = RD_REC_QPN | RD_REC_PORT,
		.num_attrs = 3,
		.comm = "trainer",
		.chain = { { 0, -14, 0 }, { 1, -14, RD_LINK_BRANCH }, { 2, -14, 0 } },
	};

	return rec;
}

static void encode(const struct rd_rec *rec, struct bytes *ret)
{
	size_t at = offsetof(struct rd_rec, chain) + rec->n_chain * sizeof(rec->chain[0]);

	memcpy(ret->data, rec, at);
	for (unsigned i = 0; i < rec->n_kstack + rec->n_ustack; i++) {
		uint64_t addr = 0x1000 + i;

		memcpy(ret->data + at, &addr, sizeof(addr));
		at += sizeof(addr);
	}
	ret->size = at;
}

static int decode(struct host *host, const struct rd_rec *rec, struct rd_event *ret)
{
	static struct bytes bytes;
	struct rd_err err = { 0 };

	encode(rec, &bytes);
	return rd_trace_event_decode(host->facts, bytes.data, bytes.size, 3, ret, &err);
}

static void a_record_becomes_an_event(void **state)
{
	_cleanup_(rd_event_deinit) struct rd_event ev = { 0 };
	struct rd_rec rec = example();
	struct host host;

	(void)state;
	host_open(&host, true);
	rec.n_kstack = 2;
	rec.n_ustack = 1;
	assert_int_equal(decode(&host, &rec, &ev), 0);
	assert_int_equal(ev.pid, 77);
	assert_int_equal(ev.tid, 78);
	assert_int_equal(ev.uid, 1000);
	assert_string_equal(ev.comm, "trainer");
	assert_string_equal(ev.ibdev, "rxe0");
	assert_string_equal(ev.cgroup, "/system.slice/slurmstepd.scope/job_42/step_0/user/task_0");
	assert_int_equal(ev.qpn.known, RD_OK);
	assert_int_equal(ev.qpn.v, 17);
	assert_int_equal(ev.port.v, 1);
	assert_int_equal(ev.err, -14);
	assert_int_equal(ev.num_attrs, 3);
	assert_int_equal(ev.n_chain, 3);
	assert_true(ev.chain[1].branch);
	assert_int_equal(ev.n_kstack, 2);
	assert_int_equal(ev.kstack[1].addr, 0x1001);
	assert_int_equal(ev.n_ustack, 1);
	assert_int_equal(ev.ustack[0].addr, 0x1002);
	host_close(&host);
}

static void counts_that_do_not_fit_the_size_are_refused(void **state)
{
	static struct bytes bytes;
	struct rd_event ev = { 0 };
	struct rd_err err = { 0 };
	struct rd_rec rec;
	struct host host;

	(void)state;
	host_open(&host, true);
	rec = example();
	rec.n_kstack = 1;
	encode(&rec, &bytes);
	for (size_t size = 0; size < bytes.size; size++) {
		/* Right behind the allocation an access would be seen by the sanitizer. */
		_cleanup_free_ uint8_t *exact = malloc(size + 1);

		assert_non_null(exact);
		memcpy(exact, bytes.data, size);
		assert_int_equal(rd_trace_event_decode(host.facts, exact, size, 3, &ev, &err), -EBADMSG);
	}
	rec = example();
	rec.n_chain = 0xffff;
	assert_int_equal(rd_trace_event_decode(host.facts, &rec, sizeof(rec), 3, &ev, &err), -EBADMSG);
	rec = example();
	rec.n_kstack = 0xffff;
	rec.n_ustack = 0xffff;
	assert_int_equal(rd_trace_event_decode(host.facts, &rec, sizeof(rec), 3, &ev, &err), -EBADMSG);
	rec = example();
	rec.err = 0;
	assert_int_equal(rd_trace_event_decode(host.facts, &rec, sizeof(rec), 3, &ev, &err), -EBADMSG);
	host_close(&host);
}

static void functions_that_do_not_exist_and_text_without_end(void **state)
{
	_cleanup_(rd_event_deinit) struct rd_event ev = { 0 };
	struct rd_rec rec = example();
	struct host host;

	(void)state;
	host_open(&host, true);
	rec.root = 3;
	rec.origin = RD_NO_FN;
	rec.chain[0].fn = 0x80000000u;
	memset(rec.comm, 'x', sizeof(rec.comm));
	memset(rec.ibdev, 'y', sizeof(rec.ibdev));
	assert_int_equal(decode(&host, &rec, &ev), 0);
	assert_int_equal(ev.root, -1);
	assert_int_equal(ev.origin, -1);
	assert_int_equal(ev.chain[0].fn, -1);
	assert_int_equal(strlen(ev.comm), 15);
	assert_int_equal(strlen(ev.ibdev), 64);
	host_close(&host);
}

/* Whatever the bytes: an error or an event, and no access outside of them (SAN=1 watches). */
static void damaged_records_do_no_harm(void **state)
{
	static struct bytes bytes;
	struct rd_rec rec = example();
	struct host host;

	(void)state;
	host_open(&host, true);
	rec.n_kstack = 3;
	rec.pid = 4711;
	srandom(1);
	for (int i = 0; i < 20000; i++) {
		_cleanup_(rd_event_deinit) struct rd_event ev = { 0 };
		struct rd_err err = { 0 };
		_cleanup_free_ uint8_t *exact = NULL;
		size_t size;

		encode(&rec, &bytes);
		size = random() % 4 ? bytes.size : (size_t)random() % bytes.size;
		for (int n = random() % 8; n >= 0; n--)
			bytes.data[random() % bytes.size] = (uint8_t)random();
		exact = malloc(size + 1);
		assert_non_null(exact);
		memcpy(exact, bytes.data, size);
		if (rd_trace_event_decode(host.facts, exact, size, 3, &ev, &err))
			continue;
		assert_in_range(ev.n_chain, 0, RD_CHAIN_SLOTS);
		assert_in_range(ev.n_kstack + ev.n_ustack, 0, 2 * RD_STACK_MAX);
		rd_chain_settle(&ev);
		assert_true(ev.n_chain > 0);
	}
	host_close(&host);
}

static void what_the_record_does_not_say_is_unknown(void **state)
{
	_cleanup_(rd_event_deinit) struct rd_event ev = { 0 };
	struct rd_rec rec = example();
	struct host host;

	(void)state;
	host_open(&host, true);
	rec.flags = 0;
	rec.dev = 0;
	rec.pid = 78; /* has gone */
	assert_int_equal(decode(&host, &rec, &ev), 0);
	assert_int_not_equal(ev.qpn.known, RD_OK);
	assert_int_not_equal(ev.port.known, RD_OK);
	assert_null(ev.ibdev);
	assert_null(ev.cgroup);
	rd_event_deinit(&ev);

	/* On its way to be created a queue pair has no number. */
	rec = example();
	rec.qpn = 0;
	assert_int_equal(decode(&host, &rec, &ev), 0);
	assert_int_not_equal(ev.qpn.known, RD_OK);
	host_close(&host);
}

static void a_device_keeps_its_name_after_it_has_gone(void **state)
{
	struct host host;
	char path[600], list[64];
	uint64_t id;
	struct rd_err err = { 0 };

	(void)state;
	host_open(&host, true);
	assert_string_equal(rd_trace_facts_ibdev(host.facts, DEV(231, 192)), "rxe0");
	assert_null(rd_trace_facts_ibdev(host.facts, DEV(231, 193)));
	assert_int_equal(rd_trace_facts_dev(host.facts, "rxe0"), DEV(231, 192));
	assert_int_equal(rd_trace_facts_dev(host.facts, "rxe1"), 0);
	rd_trace_facts_list(host.facts, list, sizeof(list));
	assert_string_equal(list, "rxe0");
	snprintf(path, sizeof(path), "%s/sys/class/infiniband_verbs/uverbs0/dev", host.root);
	unlink(path);
	assert_string_equal(rd_trace_facts_ibdev(host.facts, DEV(231, 192)), "rxe0");

	assert_int_equal(rd_trace_facts_cgroup(host.facts, "/sys/fs/cgroup/system.slice", &id, &err), 0);
	assert_int_equal(id, inode(&host, "/sys/fs/cgroup/system.slice"));
	assert_int_equal(rd_trace_facts_cgroup(host.facts, "system.slice/", &id, &err), 0);
	assert_int_equal(rd_trace_facts_cgroup(host.facts, "/nowhere", &id, &err), -ENOENT);
	host_close(&host);
}

static void a_process_that_has_gone_is_found_by_the_id_of_its_cgroup(void **state)
{
	static const char step[] = "/system.slice/slurmstepd.scope/job_42/step_0";
	_cleanup_free_ char *by_id = NULL, *again = NULL, *unknown = NULL;
	struct rd_cgroups *cg = NULL;
	char full[128];
	struct host host;
	uint64_t id;

	(void)state;
	host_open(&host, true);
	snprintf(full, sizeof(full), "/sys/fs/cgroup%s", step);
	id = inode(&host, full);
	assert_int_equal(rd_cgroups_create(host.src, &cg), 0);
	by_id = rd_cgroups_path(cg, 4711, id);
	assert_string_equal(by_id, step);
	again = rd_cgroups_path(cg, 4711, id);
	assert_string_equal(again, step);
	unknown = rd_cgroups_path(cg, 4711, 1);
	assert_null(unknown);
	rd_cgroups_destroy(cg);
	host_close(&host);
}

static uint64_t clock_ns = 1000000000;

/* A search, between two looks at the clock, takes 1 ms. */
static uint64_t made_up_now(struct rd_source *src, int clock)
{
	(void)src;
	(void)clock;
	return clock_ns += 1000000;
}

static void searches_for_cgroups_take_a_twentieth_of_the_time(void **state)
{
	_cleanup_free_ char *first = NULL, *early = NULL, *later = NULL;
	struct rd_cgroups *cg = NULL;
	struct rd_source_ops ops;
	struct host host;

	(void)state;
	host_open(&host, true);
	ops = *host.src->ops;
	ops.now = made_up_now;
	host.src->ops = &ops;
	assert_int_equal(rd_cgroups_create(host.src, &cg), 0);
	first = rd_cgroups_path(cg, 4711, 1);
	assert_null(first);
	clock_ns += 15000000;
	early = rd_cgroups_path(cg, 4711, inode(&host, "/sys/fs/cgroup/system.slice"));
	assert_null(early);
	clock_ns += 15000000;
	later = rd_cgroups_path(cg, 4711, inode(&host, "/sys/fs/cgroup/system.slice"));
	assert_string_equal(later, "/system.slice");
	rd_cgroups_destroy(cg);
	host_close(&host);
}

static void another_process_with_the_same_number_is_not_believed(void **state)
{
	_cleanup_free_ char *path = NULL;
	struct rd_cgroups *cg = NULL;
	struct host host;

	(void)state;
	host_open(&host, true);
	assert_int_equal(rd_cgroups_create(host.src, &cg), 0);
	/* /proc/77 says step_0's task, the record says system.slice. */
	path = rd_cgroups_path(cg, 77, inode(&host, "/sys/fs/cgroup/system.slice"));
	assert_string_equal(path, "/system.slice");
	rd_cgroups_destroy(cg);
	host_close(&host);
}

static void without_a_unified_hierarchy_the_process_alone_can_say(void **state)
{
	_cleanup_free_ char *alive = NULL, *gone = NULL;
	struct rd_err err = { 0 };
	struct host host;
	struct rd_cgroups *cg = NULL;
	uint64_t id;

	(void)state;
	host_open(&host, false);
	assert_int_equal(rd_cgroups_create(host.src, &cg), 0);
	alive = rd_cgroups_path(cg, 77, 1);
	assert_string_equal(alive, "/system.slice/slurmstepd.scope/job_42/step_0/user/task_0");
	gone = rd_cgroups_path(cg, 4711, 1);
	assert_null(gone);
	assert_int_equal(rd_cgroups_id(cg, "/x", &id, &err), -ENOTSUP);
	rd_cgroups_destroy(cg);
	host_close(&host);
}

static void assert_picked(const char *text, const char *expected)
{
	const char *path = NULL;
	size_t n = rd_cgroup_parse(text, &path);

	assert_int_equal(n, expected ? strlen(expected) : 0);
	if (expected)
		assert_memory_equal(path, expected, n);
}

static void the_line_that_names_the_job_is_picked(void **state)
{
	(void)state;
	assert_picked("0::/user.slice/user-0.slice\n", "/user.slice/user-0.slice");
	assert_picked("0::/\n", "/");
	/* Hybrid: Slurm in its controllers, systemd in its own two. */
	assert_picked("12:freezer:/slurm/uid_0/job_42/step_0\n5:memory:/system.slice/slurmd.service\n"
		      "1:name=systemd:/system.slice/slurmd.service\n0::/system.slice/slurmd.service\n",
		      "/slurm/uid_0/job_42/step_0");
	assert_picked("12:freezer:/\n4:cpu,cpuacct:/x\n1:name=systemd:/user.slice\n0::/\n", "/user.slice");
	assert_picked("8:hugetlb,memory:/docker/abc\n0::/\n", "/docker/abc");
	assert_picked("", NULL);
	assert_picked("nonsense\n1:2\n:\n::\n0::relative\n", NULL);
	assert_picked("0::/no-newline", "/no-newline");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_record_becomes_an_event),
		TEST(counts_that_do_not_fit_the_size_are_refused),
		TEST(functions_that_do_not_exist_and_text_without_end),
		TEST(damaged_records_do_no_harm),
		TEST(what_the_record_does_not_say_is_unknown),
		TEST(a_device_keeps_its_name_after_it_has_gone),
		TEST(a_process_that_has_gone_is_found_by_the_id_of_its_cgroup),
		TEST(searches_for_cgroups_take_a_twentieth_of_the_time),
		TEST(another_process_with_the_same_number_is_not_believed),
		TEST(without_a_unified_hierarchy_the_process_alone_can_say),
		TEST(the_line_that_names_the_job_is_picked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
