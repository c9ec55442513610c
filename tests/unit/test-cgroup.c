/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "collect/shared/cgroup.h"
#include "fake-host.h"

static uint64_t inode(const struct fake_host *host, const char *path)
{
	uint64_t ino = 0;

	assert_int_equal(rd_stat(host->source, RD_OP_INO, path, &ino, NULL), 0);
	return ino;
}

/* A process 77 in a job. `unified`: as on hosts with cgroup v2, whose directories have an id. */
static void host_open(struct fake_host *host, bool unified)
{
	*host = fake_host_make();
	if (unified) {
		fake_host_text(host, "/sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
		fake_host_text(host,
			       "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_42/step_0/user/task_0/cgroup.procs",
			       "");
		fake_host_text(host, "/sys/fs/cgroup/system.slice/memory.max", "max\n");
	}
	fake_host_text(host, "/proc/77/cgroup", "0::/system.slice/slurmstepd.scope/job_42/step_0/user/task_0\n");
}

TEST(a_process_that_has_gone_is_found_by_the_id_of_its_cgroup)
{
	static const char step[] = "/system.slice/slurmstepd.scope/job_42/step_0";
	_cleanup_free_ char *by_id = NULL, *again = NULL, *unknown = NULL;
	struct rd_cgroups *cg = NULL;
	char full[128];
	_cleanup_(fake_host_deinit) struct fake_host host;
	uint64_t id;

	host_open(&host, true);
	snprintf(full, sizeof(full), "/sys/fs/cgroup%s", step);
	id = inode(&host, full);
	cg = rd_cgroups_create(host.source);
	by_id = rd_cgroups_path(cg, 4711, id);
	assert_string_equal(by_id, step);
	again = rd_cgroups_path(cg, 4711, id);
	assert_string_equal(again, step);
	unknown = rd_cgroups_path(cg, 4711, 1);
	assert_null(unknown);
	rd_cgroups_destroy(cg);
}

static uint64_t clock_ns = 1000000000;

/* A search, between two looks at the clock, takes 1 ms. */
static uint64_t made_up_now(struct rd_source *src, int clock)
{
	return clock_ns += 1000000;
}

TEST(searches_for_cgroups_take_a_twentieth_of_the_time)
{
	_cleanup_free_ char *first = NULL, *early = NULL, *later = NULL;
	struct rd_cgroups *cg = NULL;
	struct rd_source_ops ops;
	_cleanup_(fake_host_deinit) struct fake_host host;

	host_open(&host, true);
	ops = *host.source->ops;
	ops.now = made_up_now;
	host.source->ops = &ops;
	cg = rd_cgroups_create(host.source);
	first = rd_cgroups_path(cg, 4711, 1);
	assert_null(first);
	clock_ns += 15000000;
	early = rd_cgroups_path(cg, 4711, inode(&host, "/sys/fs/cgroup/system.slice"));
	assert_null(early);
	clock_ns += 15000000;
	later = rd_cgroups_path(cg, 4711, inode(&host, "/sys/fs/cgroup/system.slice"));
	assert_string_equal(later, "/system.slice");
	rd_cgroups_destroy(cg);
}

TEST(another_process_with_the_same_number_is_not_believed)
{
	_cleanup_free_ char *path = NULL;
	struct rd_cgroups *cg = NULL;
	_cleanup_(fake_host_deinit) struct fake_host host;

	host_open(&host, true);
	cg = rd_cgroups_create(host.source);
	/* /proc/77 says step_0's task, the record says system.slice. */
	path = rd_cgroups_path(cg, 77, inode(&host, "/sys/fs/cgroup/system.slice"));
	assert_string_equal(path, "/system.slice");
	rd_cgroups_destroy(cg);
}

TEST(without_a_unified_hierarchy_the_process_alone_can_say)
{
	_cleanup_free_ char *alive = NULL, *gone = NULL;
	struct rd_err err = { 0 };
	_cleanup_(fake_host_deinit) struct fake_host host;
	struct rd_cgroups *cg = NULL;
	uint64_t id;

	host_open(&host, false);
	cg = rd_cgroups_create(host.source);
	alive = rd_cgroups_path(cg, 77, 1);
	assert_string_equal(alive, "/system.slice/slurmstepd.scope/job_42/step_0/user/task_0");
	gone = rd_cgroups_path(cg, 4711, 1);
	assert_null(gone);
	assert_int_equal(rd_cgroups_id(cg, "/x", &id, &err), -ENOTSUP);
	rd_cgroups_destroy(cg);
}

static void assert_picked(const char *text, const char *expected)
{
	const char *path = NULL;
	size_t n = rd_cgroup_parse(text, &path);

	assert_int_equal(n, expected ? strlen(expected) : 0);
	if (expected)
		assert_memory_equal(path, expected, n);
}

TEST(the_line_that_names_the_job_is_picked)
{
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
