/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that may own queue pairs which the kernel does not list. */
#include "unit.h"

#include "analyse/qp/qp.h"
#include "collect/rdma/rdma.h"
#include "source/live/live.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "fake-host.h"

#define MLX5 1
#define RXE 14

struct scene {
	struct rd_res res;
	struct rd_findings findings;
};

static void begin(struct scene *scene, size_t procs)
{
	*scene = (struct scene){ 0 };
	scene->res.devs = calloc(2, sizeof(*scene->res.devs));
	scene->res.n_devs = 2;
	scene->res.devs[0].name = strdup("mlx5_0");
	RD_SET(scene->res.devs[0].driver_id, MLX5);
	scene->res.devs[1].name = strdup("rxe0");
	RD_SET(scene->res.devs[1].driver_id, RXE);
	scene->res.procs = calloc(procs, sizeof(*scene->res.procs));
	scene->res.n_procs = procs;
	for (size_t i = 0; i < procs; i++)
		scene->res.procs[i] = (struct rd_proc){ .pid = 4242 + (uint32_t)i, .comm = strdup("python") };
	scene->res.objects = calloc(procs + 1, sizeof(*scene->res.objects));
	scene->res.qps = calloc(procs + 1, sizeof(*scene->res.qps));
}

static void open_device(struct scene *scene, int dev, int proc)
{
	scene->res.objects[scene->res.n_objects++] =
		(struct rd_res_object){ .dev = dev, .kind = RD_RES_CTX, .proc = proc };
}

static const struct rd_finding *judge(struct scene *scene, size_t n)
{
	rd_qp_hidden_findings(&scene->res, &scene->findings);
	assert_int_equal(scene->findings.n, n);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(scene->findings.v[i].id, "qps-may-be-hidden");
		assert_int_equal(scene->findings.v[i].severity, RD_SEV_NOTE);
	}
	return scene->findings.v;
}

static void end(struct scene *scene)
{
	rd_findings_deinit(&scene->findings);
	rd_res_deinit(&scene->res);
}

#define SCENE_TEST(name) TEST_ON(name, struct scene, scene, { 0 }, end)

SCENE_TEST(libraries_that_use_devx)
{
	const struct rd_finding *finding;

	begin(scene, 1);
	open_device(scene, 0, 0);
	scene->res.qps[scene->res.n_qps++] = (struct rd_qp){ .dev = 0, .proc = 0 };
	scene->res.procs[0].devx_libs = strdup("libdoca_verbs.so");
	finding = judge(scene, 1);
	assert_string_equal(finding->subject, "process 4242 (python)");
	assert_string_equal(
		finding->observed,
		"has mlx5_0 open, and libraries mapped that create queue pairs through DEVX: libdoca_verbs.so");
}

SCENE_TEST(no_queue_pair_is_listed)
{
	begin(scene, 1);
	open_device(scene, 0, 0);
	assert_string_equal(judge(scene, 1)->observed, "has mlx5_0 open; the kernel lists no queue pair of it");
}

/* It owns listed ones and no such library, or its device has none that are not listed. */
SCENE_TEST(nothing_speaks_for_it)
{
	bool may_hide[2];

	begin(scene, 2);
	open_device(scene, 0, 0);
	scene->res.qps[scene->res.n_qps++] = (struct rd_qp){ .dev = 0, .proc = 0 };
	scene->res.procs[0].devx_libs = strdup("");
	open_device(scene, 1, 1);
	judge(scene, 0);
	rd_qp_procs_that_may_hide(&scene->res, may_hide);
	assert_true(may_hide[0]);
	assert_false(may_hide[1]);
}

SCENE_TEST(many_processes)
{
	const struct rd_finding *findings;

	begin(scene, 20);
	for (int i = 0; i < 20; i++)
		open_device(scene, 0, i);
	findings = judge(scene, 17);
	assert_string_equal(findings[16].subject, "4 more processes");
}

TEST(libraries_of_a_map)
{
	_cleanup_buf_ struct rd_buf out = { 0 }, none = { 0 };

	rd_proc_libs_print("7f00-7f10 r-xp 0 08:01 42   /usr/lib/ucx/libuct_ib_mlx5.so.0.0.0\n"
			   "7f10-7f20 r--p 0 08:01 42   /usr/lib/ucx/libuct_ib_mlx5.so.0.0.0\n"
			   "7f20-7f30 r--p 0 08:01 43   /opt/a b/nvshmem_transport_ibgda.so.3 (deleted)\n"
			   "7f30-7f40 r--p 0 08:01 44   /home/alice/libdoca_verbs.so.d/secret\n"
			   "7f40-7f50 rw-p 0 00:00 0\n"
			   "7f50-7f60 rw-p 0 00:00 0   libdoca_rdma.so",
			   &out);
	assert_string_equal(out.data, "libuct_ib_mlx5\nnvshmem_transport_ibgda.so\n");
	rd_proc_libs_print("", &none);
	assert_string_equal(none.data, "");
}

/* Of this process, which maps a file of such a name. */
TEST(libraries_of_a_process)
{
	_cleanup_(rd_source_closep) struct rd_source *source = NULL;
	struct rd_proc proc = { .pid = (uint32_t)getpid() }, outsider = { .pid = UINT32_MAX };
	_cleanup_(fake_host_deinit) struct fake_host host = fake_host_make();
	char path[128];
	void *map;
	int fd;

	snprintf(path, sizeof(path), "%s/libdoca_verbs.so.2", host.root);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 4096), 0);
	map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	close(fd);
	assert_int_equal(rd_source_live_open(NULL, &source, NULL), 0);
	rd_collect_proc_libs(source, &proc);
	assert_string_equal(proc.devx_libs, "libdoca_verbs.so");
	rd_collect_proc_libs(source, &outsider);
	assert_null(outsider.devx_libs);
	munmap(map, 4096);
	free(proc.devx_libs);
}
