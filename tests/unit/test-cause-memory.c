// SPDX-License-Identifier: GPL-2.0-or-later
#include "made-failure.h"

#include <linux/capability.h>

#define PIN "ib_umem_get"
#define MIB (1u << 20)

/* ibv_reg_mr of 1 MiB at 0x7f0000000000 with IBV_ACCESS_LOCAL_WRITE. */
static void register_memory(struct made_failure *m, int err, const char *module, const char *origin)
{
	made_failure(m, "ibv_reg_mr", err, module, origin);
	MADE_FIELDS(m, { RD_REQ_ADDRESS, 0x7f0000000000 }, { RD_REQ_LENGTH, MIB }, { RD_REQ_IOVA, 0x7f0000000000 },
		    { RD_REQ_ACCESS, 1 });
}

/* --- the limit of locked memory --- */

static void limit(struct made_failure *m, int err, const char *module, const char *origin)
{
	register_memory(m, err, module, origin);
	RD_SET(m->event.moment.memlock, 8 * MIB);
	RD_SET(m->event.moment.pinned, 7 * MIB + 4096);
	RD_SET(m->event.moment.caps, 0);
	RD_SET(m->event.moment.user_ns_level, 0);
}

FAILURE_TEST(locked_memory_beyond_the_limit_is_reported_with_all_numbers)
{
	limit(m, ENOMEM, MADE_UVERBS, PIN);
	ASSERT_CAUSE(m, "memlock-limit", HIGH, "may pin 8 MiB", "7172 KiB are pinned", "1 MiB more", "4 KiB too much",
		     "CAP_IPC_LOCK is not effective", "limits.conf");
	/* One page less fits. */
	m->event.moment.pinned.v -= 4096;
	ASSERT_UNKNOWN(m, "RLIMIT_MEMLOCK is 8 MiB, and 7 MiB are pinned: not exceeded by the request");
	/* The range touches one more page. */
	ASSERT_CAUSE(made_field(m, RD_REQ_ADDRESS, 0x7f0000000800), "memlock-limit", HIGH, "257 pages");
	m->event.moment.pinned.v = 8 * MIB;
	ASSERT_CAUSE(made_field(m, RD_REQ_LENGTH, 1), "memlock-limit", HIGH, "requested: 1 byte at", ", 1 page");
	assert_null(strstr(m->said, "1 pages"));
}

FAILURE_TEST(the_limit_is_only_likely_if_the_driver_failed_itself)
{
	limit(m, ENOMEM, MADE_DRIVER, "mlx5_ib_reg_user_mr");
	ASSERT_CAUSE(m, "memlock-limit", MEDIUM, "4 KiB too much");
}

FAILURE_TEST(the_limit_is_not_the_cause_for_those_that_may_exceed_it)
{
	limit(m, ENOMEM, MADE_UVERBS, PIN);
	m->event.moment.caps.v = 1ull << CAP_IPC_LOCK;
	ASSERT_UNKNOWN(m, "CAP_IPC_LOCK is effective");
	/* The capability of a user namespace does not count. */
	m->event.moment.user_ns_level.v = 1;
	ASSERT_CAUSE(m, "memlock-limit", HIGH, "only in a user namespace");
	m->event.moment.caps.known = RD_DENIED;
	ASSERT_UNKNOWN(m, "no control group");
	m->event.moment.caps.known = RD_OK;
	m->event.moment.pinned.known = RD_DENIED;
	ASSERT_UNKNOWN(m, "no control group");
}

/* Nothing is pinned: paged on demand, a DMA-BUF, or a region of which only access is changed. */
FAILURE_TEST(the_limit_is_not_the_cause_where_no_page_is_pinned)
{
	limit(m, ENOMEM, MADE_DRIVER, "ib_umem_odp_get");
	ASSERT_UNKNOWN(made_field(m, RD_REQ_ACCESS, 65), "no control group");
	made_field(m, RD_REQ_ACCESS, 1);
	ASSERT_UNKNOWN(made_field(m, RD_REQ_FD, 9), "no control group");
	m->event.request.known[RD_REQ_FD] = false;
	made_verb(m, "ibv_rereg_mr");
	ASSERT_UNKNOWN(made_field(m, RD_REQ_REREG, 4), "no control group");
	ASSERT_CAUSE(made_field(m, RD_REQ_REREG, 5), "memlock-limit", MEDIUM, "4 KiB too much");
}

FAILURE_TEST(a_limit_of_zero_is_told_apart)
{
	limit(m, EPERM, MADE_UVERBS, PIN);
	ASSERT_NOTHING(m);
	m->event.moment.memlock.v = 0;
	ASSERT_CAUSE(m, "memlock-zero", HIGH, "RLIMIT_MEMLOCK is 0");
	ASSERT_CAUSE(made_origin(m, MADE_DRIVER, "mlx5_ib_reg_user_mr"), "memlock-zero", MEDIUM, "RLIMIT_MEMLOCK is 0");
	/* Something else than memory. */
	m->event.request.known[RD_REQ_LENGTH] = false;
	ASSERT_NOTHING(m);
}

FAILURE_TEST(queues_near_the_limit_may_need_more_than_is_left)
{
	made_failure(m, "ibv_create_qp", ENOMEM, MADE_UVERBS, PIN);
	RD_SET(m->event.moment.memlock, 64 * MIB);
	RD_SET(m->event.moment.pinned, 60 * MIB);
	RD_SET(m->event.moment.caps, 0);
	ASSERT_CAUSE(m, "memlock-limit", MEDIUM, "64 MiB", "60 MiB are pinned", "the queue needs more");
	m->event.moment.pinned.v = 48 * MIB;
	ASSERT_CAUSE(m, "memlock-limit", MEDIUM, "48 MiB are pinned");
	m->event.moment.pinned.v -= 4096;
	ASSERT_UNKNOWN(m, "not exceeded");
	m->event.moment.pinned.v = 65 * MIB;
	ASSERT_CAUSE(m, "memlock-limit", MEDIUM, "65 MiB are pinned");
	m->event.moment.pinned.v = 60 * MIB;
	ASSERT_UNKNOWN(made_function(m, "mlx5_ib_create_qp"), "not exceeded");
}

FAILURE_TEST(where_to_raise_the_limit_depends_on_the_control_group)
{
	static const char *const cases[][2] = {
		{ "/kubepods.slice/kubepods-pod1.slice/cri-containerd-1.scope", "containerd.service" },
		{ "/system.slice/slurmstepd.scope/job_12/step_0", "systemctl restart slurmd.service" },
		{ "/system.slice/storage.service", "infinity\\n' >/etc/systemd/system/storage.service.d/memlock.conf" },
		{ "/user.slice/user-7.slice/user@7.service/app.slice/storage.service", "limits.conf" },
		{ "/system.slice/$(reboot).service", "limits.conf" },
		{ "/user.slice/session-1.scope", "limits.conf" },
	};

	limit(m, ENOMEM, MADE_UVERBS, PIN);
	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		m->event.cgroup = (char *)cases[i][0];
		ASSERT_CAUSE(m, "memlock-limit", HIGH, cases[i][1]);
	}
}

/* --- memory.c --- */

FAILURE_TEST(a_hole_is_named_by_its_address)
{
	register_memory(m, EFAULT, MADE_UVERBS, PIN);
	m->event.moment.fault = (struct rd_mapping){ .kind = RD_MAPPING_HOLE, .at = 0x7f0000010000 };
	ASSERT_CAUSE(m, "memory-not-mapped", HIGH, "0x7f0000010000 is not mapped", "64 KiB after the start",
		     "range of 1 MiB at 0x7f0000000000");
	m->event.moment.fault.at = 0x7f0000000000;
	ASSERT_CAUSE(m, "memory-not-mapped", HIGH, "address 0x7f0000000000 is not mapped");
	/* The driver may have failed for another reason. */
	ASSERT_CAUSE(made_origin(m, MADE_DRIVER, "mlx5_ib_reg_user_mr"), "memory-not-mapped", MEDIUM, "0x7f0000000000");
}

FAILURE_TEST(a_hole_is_not_the_cause_of_other_errnos)
{
	register_memory(m, ENOMEM, MADE_UVERBS, PIN);
	m->event.moment.fault = (struct rd_mapping){ .kind = RD_MAPPING_HOLE, .at = 0x7f0000010000 };
	ASSERT_UNKNOWN(m, "no control group");
	ASSERT_CAUSE(made_errno(m, EFAULT), "memory-not-mapped", HIGH, "0x7f0000010000");
}

/* In haste, when failures come too fast to read the state of the host. */
FAILURE_TEST(mappings_are_judged_without_the_state_of_the_host)
{
	register_memory(m, EFAULT, MADE_UVERBS, PIN);
	m->f.read = 0;
	m->event.moment.fault = (struct rd_mapping){ .kind = RD_MAPPING_HOLE, .at = 0x7f0000010000 };
	ASSERT_CAUSE(m, "memory-not-mapped", HIGH, "0x7f0000010000");
	m->event.moment.fault.kind = RD_MAPPING_READ_ONLY;
	ASSERT_CAUSE(m, "memory-read-only", HIGH, "0x7f0000010000");
	/* What a module for accelerators does depends on whether it is loaded, and huge pages on how many are free. */
	m->event.moment.fault = (struct rd_mapping){
		.kind = RD_MAPPING_DEVICE, .at = 0x7f0000010000, .has_file = true, .name = "nvidia0"
	};
	ASSERT_NOTHING(m);
	m->event.moment.fault.kind = RD_MAPPING_NONE;
	m->event.moment.mapped_all = true;
	m->event.moment.special = (struct rd_mapping){ .kind = RD_MAPPING_HUGE, .at = 0x7f0000000000 };
	ASSERT_NOTHING(m);
	m->event.moment.special =
		(struct rd_mapping){ .kind = RD_MAPPING_FILE, .at = 0x7f0000000000, .has_file = true, .name = "log" };
	ASSERT_NOTHING(m);
}

FAILURE_TEST(mappings_without_a_name_or_with_one_right)
{
	register_memory(m, EFAULT, MADE_UVERBS, PIN);
	made_field(m, RD_REQ_LENGTH, 1);
	m->event.moment.fault = (struct rd_mapping){ .kind = RD_MAPPING_DEVICE, .at = 0x1000 };
	ASSERT_CAUSE(m, "memory-device-mapping", HIGH,
		     "0x1000 is memory of a device or of the kernel itself, which has", "request: 1 byte at");
	ASSERT_EACH(LACKS(m->said, "''"), LACKS(m->said, "anonymous"));
	m->event.moment.fault.kind = RD_MAPPING_NO_ACCESS;
	ASSERT_CAUSE(m, "memory-no-access", HIGH, "not readable (PROT_NONE, or PROT_EXEC alone)");
	m->event.moment.fault.writable = true;
	ASSERT_CAUSE(m, "memory-no-access", HIGH, "not readable (PROT_WRITE without PROT_READ)", "write-only");
}

FAILURE_TEST(each_kind_of_mapping_has_its_cause)
{
	static const struct {
		struct rd_mapping map;
		const char *id, *word, *more, *most;
	} cases[] = {
		{ { .kind = RD_MAPPING_NO_ACCESS, .at = 0x1000, .start = 0x1000, .end = 0x3000 },
		  "memory-no-access",
		  "0x1000 is mapped, but not readable",
		  "0x1000-0x3000 not readable private anonymous",
		  "mprotect" },
		{ { .kind = RD_MAPPING_READ_ONLY, .at = 0x1000, .has_file = true, .name = "weights" },
		  "memory-read-only",
		  "0x1000 is mapped read-only",
		  "access flags 0x1",
		  "'weights'" },
		{ { .kind = RD_MAPPING_DEVICE, .at = 0x1000, .has_file = true, .name = "resource0" },
		  "memory-device-mapping",
		  "0x1000 is memory of a device",
		  "'resource0'",
		  "DMA-BUF" },
		{ { .kind = RD_MAPPING_DEVICE, .at = 0x1000, .has_file = true, .name = "gdrdrv" },
		  "memory-device-mapping",
		  "gdrdrv",
		  "GPU pointer",
		  "0x1000" },
		{ { .kind = RD_MAPPING_DEVICE, .at = 0x1000, .has_file = true, .name = "nvidia-uvm" },
		  "memory-gpu",
		  "'nvidia-uvm'",
		  "nvidia_peermem is not loaded",
		  ": modprobe nvidia_peermem\n# until the next boot" },
		{ { .kind = RD_MAPPING_DEVICE, .at = 0x1000, .has_file = true, .name = "kfd" },
		  "memory-gpu",
		  "'kfd'",
		  "the module is not loaded",
		  ": # register the memory as DMA-BUF" },
		{ { .kind = RD_MAPPING_PAST_END, .at = 0x2000, .has_file = true, .name = "shard", .file_size = 4096 },
		  "memory-past-end-of-file",
		  "'shard' is longer than the file (4 KiB)",
		  "0x2000",
		  "ftruncate" },
	};

	register_memory(m, EFAULT, MADE_UVERBS, PIN);
	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		m->event.moment.fault = cases[i].map;
		ASSERT_CAUSE(m, cases[i].id, HIGH, cases[i].word, cases[i].more, cases[i].most);
	}
}

FAILURE_TEST(memory_of_an_accelerator_may_be_refused_by_its_module)
{
	register_memory(m, ENOMEM, MADE_UVERBS, PIN);
	m->event.moment.fault =
		(struct rd_mapping){ .kind = RD_MAPPING_NO_ACCESS, .at = 0x1000, .has_file = true, .name = "nvidia0" };
	RD_SET(m->f.memory.peer_module, true);
	ASSERT_CAUSE(m, "memory-gpu", MEDIUM, "did not accept", "nvidia_peermem is loaded", "cudaMalloc");
}

FAILURE_TEST(ordinary_memory_is_said_to_be_so)
{
	register_memory(m, EFAULT, MADE_UVERBS, PIN);
	m->event.moment.mapped_all = true;
	made_exact(m, false);
	RD_SET(m->f.memory.corrupted, 8192);
	ASSERT_UNKNOWN(m, "0x7f0000000000 to 0x7f0000100000 is mapped", "8 KiB of this host");
	m->event.moment.mapped_all = false;
	m->event.moment.mapped_in_part = true;
	ASSERT_UNKNOWN(m, "many mappings");
}

FAILURE_TEST(files_are_not_pinned_by_every_kernel)
{
	register_memory(m, EFAULT, MADE_UVERBS, PIN);
	m->event.moment.mapped_all = true;
	m->event.moment.special = (struct rd_mapping){
		.kind = RD_MAPPING_FILE, .at = 0x1000, .writable = true, .shared = true, .has_file = true, .name = "log"
	};
	ASSERT_CAUSE(m, "memory-shared-file", MEDIUM, "kernels from Linux 6.5 on", "'log'");
	RD_SET(m->f.memory.refuses_files, true);
	ASSERT_CAUSE(m, "memory-shared-file", HIGH, "0x1000", "'log'", "this kernel", "read-write shared");
	m->f.memory.refuses_files.v = false;
	ASSERT_UNKNOWN(m, "shared mapping of the file 'log': its file system can refuse a page");
	/* Without memory a kernel that pins files fails as well. */
	ASSERT_UNKNOWN(made_errno(m, ENOMEM), "no control group");
	made_errno(m, EFAULT);
	m->event.moment.special.magic = 0x5345434d;
	ASSERT_CAUSE(m, "memory-secret", HIGH, "0x1000 is memory of memfd_secret");
	/* Without knowing the rest of the range, or where the driver failed. */
	m->event.moment.mapped_all = false;
	made_assert_not(m, "memory-secret");
	m->event.moment.mapped_all = true;
	made_assert_not(made_function(m, "ib_uverbs_reg_mr"), "memory-secret");
}

FAILURE_TEST(huge_pages_are_missing_only_where_they_were_not_reserved)
{
	register_memory(m, EFAULT, MADE_UVERBS, PIN);
	m->event.moment.mapped_all = true;
	m->event.moment.special = (struct rd_mapping){ .kind = RD_MAPPING_HUGE,
						       .start = 0x7f0000000000,
						       .at = 0x7f0000000000,
						       .end = 0x7f0000800000,
						       .writable = true };
	RD_SET(m->f.memory.huge_free, 0);
	RD_SET(m->f.memory.huge_total, 512);
	RD_SET(m->f.memory.huge_reserved, 0);
	ASSERT_CAUSE(m, "memory-huge-page", HIGH, "0x7f0000000000", "without reservation", "no huge page is free",
		     "0 of 512 free", "sysctl vm.nr_hugepages=513\n");
	m->f.memory.huge_free.v = 3;
	ASSERT_UNKNOWN(m, "3 of 512 free, 0 of these reserved; the range has 1");
	made_field(m, RD_REQ_LENGTH, 8 * MIB);
	ASSERT_CAUSE(m, "memory-huge-page", MEDIUM, "too few are free", "3 of 512 free", "the range has 4");
	/* The other three are ordinary memory in front of it. */
	m->event.moment.special.at += 3 * (2ull << 20);
	ASSERT_UNKNOWN(m, "the range has 1");
	m->event.moment.special.at -= 3 * (2ull << 20);
	/* Free, and for others */
	m->f.memory.huge_reserved.v = 3;
	ASSERT_CAUSE(m, "memory-huge-page", HIGH, "no huge page is free", "3 of 512 free, 3 of these reserved");
	m->event.moment.special.block = 1 << 30;
	ASSERT_CAUSE(m, "memory-huge-page", HIGH, "huge pages of 1 GiB", "hugepages=");
	m->event.moment.special.block = 0;
	m->f.memory.huge_reserved.v = 0;
	m->f.memory.huge_free.v = 5;
	ASSERT_UNKNOWN(m, "huge pages of 2 MiB\n", "5 of 512 free");
	m->event.moment.special.shared = true;
	ASSERT_UNKNOWN(m, "hugetlbfs that may be full");
	m->event.moment.special.shared = false;
	/* All of them are in use, by this mapping perhaps. */
	m->f.memory.huge_free.v = m->f.memory.huge_reserved.v = 0;
	m->event.moment.special.reserved = true;
	ASSERT_UNKNOWN(m, "which were reserved for it", "0 of 512 free");
	m->f.memory.huge_group =
		(struct rd_memory_group){ (char *)"/job", { 2 << 20, RD_OK }, { 2 << 20, RD_OK }, { 1, RD_OK } };
	ASSERT_CAUSE(m, "cgroup-huge-pages", MEDIUM, "control group /job may have 2 MiB", "reached its limit 1 time\n");
	ASSERT_UNKNOWN(made_errno(m, ENOMEM), "no control group");
}

FAILURE_TEST(pages_that_are_refused_when_they_are_faulted_in)
{
	struct rd_mapping *special;

	register_memory(m, EFAULT, MADE_UVERBS, PIN);
	m->event.moment.mapped_all = true;
	special = &m->event.moment.special;
	*special = (struct rd_mapping){ .kind = RD_MAPPING_OTHER,
					.at = 0x1000,
					.writable = true,
					.has_file = true,
					.shared = true,
					.magic = 0x01021994,
					.name = "pool" };
	ASSERT_UNKNOWN(m, "0x1000 is a shared mapping of the file 'pool' on tmpfs");
	RD_SET(special->fs_size, 64 * MIB);
	RD_SET(special->fs_used, 32 * MIB);
	ASSERT_UNKNOWN(m, "about 32 MiB of 64 MiB of the tmpfs are in use");
	special->fs_used.v = 63 * MIB;
	ASSERT_CAUSE(m, "memory-no-space", MEDIUM, "the tmpfs that holds 'pool' is full: 63 MiB of 64 MiB", "df -h");
	ASSERT_UNKNOWN(made_errno(m, ENOMEM), "no control group");
	made_errno(m, EFAULT);
	/* With a key, or watched, and full: that it is full is sure. */
	special->key = 3;
	ASSERT_CAUSE(m, "memory-no-space", MEDIUM, "63 MiB of 64 MiB");
	special->watched = true;
	ASSERT_CAUSE(m, "memory-no-space", MEDIUM, "63 MiB of 64 MiB");
	/* Any of several may have been refused. */
	special->others = true;
	ASSERT_UNKNOWN(m, "several mappings of the range can be refused",
		       "mapping: 0x0-0x0 read-write shared of 'pool'");
	special->kind = RD_MAPPING_HUGE;
	ASSERT_UNKNOWN(m, "several mappings");
	special->kind = RD_MAPPING_FILE;
	special->magic = 0;
	special->watched = false;
	ASSERT_CAUSE(m, "memory-shared-file", MEDIUM, "0x1000");
	*special = (struct rd_mapping){ .kind = RD_MAPPING_OTHER, .at = 0x1000, .watched = true };
	ASSERT_CAUSE(m, "memory-userfaultfd", MEDIUM, "0x1000", "anonymous");
	*special = (struct rd_mapping){ .kind = RD_MAPPING_OTHER, .at = 0x1000, .guarded = true };
	ASSERT_CAUSE(m, "memory-no-access", MEDIUM, "0x1000 is memory in which pages were made guards");
	*special = (struct rd_mapping){ .kind = RD_MAPPING_OTHER, .at = 0x1000, .key = 3 };
	ASSERT_CAUSE(m, "memory-protection-key", MEDIUM, "protection key 3");
	*special = (struct rd_mapping){ .kind = RD_MAPPING_OTHER, .at = 0x1000, .has_file = true, .name = "weights" };
	ASSERT_UNKNOWN(m, "private mapping of the file 'weights': its file system can refuse a page");
}

/* --- requests for regions --- */

FAILURE_TEST(ranges_that_the_kernel_refuses)
{
	static const struct {
		uint64_t address, length, iova;
		const char *id;
		const char *word, *more;
	} cases[] = {
		{ 0x7f0000000010, 4096, 0x7f0000000020, "iova-offset", "0x20 and 0x10", "iova 0x7f0000000020" },
		{ 0x7f0000000000, 0, 0x7f0000000000, "range-empty", "length of the range is 0", "length 0" },
		{ 0x7f0000000000, UINT64_MAX - 5, 0x7f0000000000, "range-overflow", "0xfffffffffffffffa",
		  "address space" },
		{ 0, 1ull << 45, 0, "range-overflow", "8589934592 pages", "at most 4294967295" },
	};

	register_memory(m, EINVAL, MADE_UVERBS, PIN);
	ASSERT_UNKNOWN(m, "range, iova and access flags (0x1) of the request are valid");
	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		made_function(m, (i ? PIN : "ib_uverbs_reg_mr"));
		MADE_FIELDS(m, { RD_REQ_ADDRESS, cases[i].address }, { RD_REQ_LENGTH, cases[i].length },
			    { RD_REQ_IOVA, cases[i].iova });
		ASSERT_CAUSE(m, cases[i].id, HIGH, cases[i].word, cases[i].more);
	}
	/* Inside of a page the kernel pins it. */
	MADE_FIELDS(m, { RD_REQ_ADDRESS, 0x7f0000000010 }, { RD_REQ_IOVA, 0x7f0000000010 });
	ASSERT_CAUSE(made_field(m, RD_REQ_LENGTH, 0), "range-empty", MEDIUM, "is 0");
	/* The access flags are looked at first. */
	made_function(m, "ib_uverbs_reg_mr");
	ASSERT_CAUSE(made_field(m, RD_REQ_ACCESS, 2), "access-flags", HIGH, "IBV_ACCESS_REMOTE_WRITE");
	made_assert_not(made_field(m, RD_REQ_ACCESS, 1), "range-empty");
	m->event.request.known[RD_REQ_IOVA] = false;
	ASSERT_NOTHING(m);
}

FAILURE_TEST(access_flags_that_need_others)
{
	register_memory(m, EINVAL, MADE_UVERBS, "ib_uverbs_reg_mr");
	made_field(m, RD_REQ_ACCESS, 2);
	ASSERT_CAUSE(m, "access-flags", HIGH, "IBV_ACCESS_REMOTE_WRITE requires IBV_ACCESS_LOCAL_WRITE", "flags 0x2");
	made_field(m, RD_REQ_ACCESS, 8);
	ASSERT_CAUSE(m, "access-flags", HIGH, "IBV_ACCESS_REMOTE_ATOMIC requires", "flags 0x8");
	ASSERT_CAUSE(made_field(m, RD_REQ_ACCESS, 0x10001), "access-flags", MEDIUM, "0x10001 contain 0x10000");
	/* Remote reads need nothing, and relaxed ordering is optional. */
	ASSERT_UNKNOWN(made_field(m, RD_REQ_ACCESS, 4 | 1u << 20), "(0x100004)");
}

FAILURE_TEST(on_demand_paging_that_a_device_does_not_have)
{
	register_memory(m, EINVAL, MADE_UVERBS, "ib_uverbs_reg_mr");
	made_field(m, RD_REQ_ACCESS, 65);
	ASSERT_CAUSE(m, "odp-unsupported", HIGH, "mlx5_0 does not support", "access flags 0x41");
	/* One that has it may refuse something else, and so may what it calls. */
	ASSERT_UNKNOWN(made_function(m, "ib_umem_odp_get"), "(0x41) of the request are valid");
	ASSERT_UNKNOWN(made_origin(m, MADE_DRIVER, "mlx5_ib_reg_user_mr"), "(0x41) of the request are valid");
	MADE_FIELDS(m, { RD_REQ_ADDRESS, 0 }, { RD_REQ_IOVA, 0 });
	ASSERT_CAUSE(made_field(m, RD_REQ_LENGTH, UINT64_MAX), "odp-unsupported", MEDIUM, "whole address space");
	ASSERT_CAUSE(made_errno(m, EOPNOTSUPP), "odp-unsupported", HIGH, "whole address space");
}

FAILURE_TEST(flags_that_only_some_drivers_know)
{
	register_memory(m, EOPNOTSUPP, MADE_DRIVER, "mlx5_ib_reg_user_mr");
	ASSERT_NOTHING(m);
	made_field(m, RD_REQ_ACCESS, 0x81);
	ASSERT_CAUSE(m, "access-flags", MEDIUM, "IBV_ACCESS_HUGETLB, which is in", "flags 0x81", "mlx5_0");
	made_field(m, RD_REQ_ACCESS, 0x21);
	ASSERT_CAUSE(m, "access-flags", MEDIUM, "IBV_ACCESS_ZERO_BASED, which is in", "flags 0x21");
	ASSERT_CAUSE(made_field(m, RD_REQ_ACCESS, 0x181), "access-flags", MEDIUM,
		     "IBV_ACCESS_HUGETLB or IBV_ACCESS_FLUSH_GLOBAL, which are in", "flags 0x181");
	ASSERT_NOTHING(made_exact(m, false));
	made_exact(m, true);
	ASSERT_NOTHING(made_module(m, MADE_UVERBS));
}

FAILURE_TEST(flushing_to_memory_that_is_not_persistent)
{
	register_memory(m, EINVAL, MADE_DRIVER, "rxe_mr_init_user");
	ASSERT_UNKNOWN(made_field(m, RD_REQ_ACCESS, 0x201), "are valid");
	m->event.moment.mapped_all = true;
	ASSERT_CAUSE(m, "memory-not-persistent", MEDIUM, "access flags 0x201");
	m->event.moment.special.kind = RD_MAPPING_FILE;
	ASSERT_UNKNOWN(m, "are valid");
	/* The core refuses what it does not know, before the driver. */
	m->event.moment.special.kind = RD_MAPPING_NONE;
	made_origin(m, MADE_UVERBS, "ib_uverbs_reg_mr");
	ASSERT_CAUSE(m, "access-flags", MEDIUM, "flags 0x201 contain 0x200, which this kernel does not know");
	ASSERT_UNKNOWN(made_field(m, RD_REQ_ACCESS, 0x81), "are valid");
	ASSERT_CAUSE(made_field(m, RD_REQ_ACCESS, 0x241), "odp-unsupported", HIGH, "0x241");
}

FAILURE_TEST(regions_of_dmabuf_memory_have_few_flags)
{
	made_failure(m, "ibv_reg_dmabuf_mr", EINVAL, MADE_UVERBS, "uverbs_get_flags32");
	made_field(m, RD_REQ_ACCESS, 0x41);
	ASSERT_CAUSE(m, "access-flags", HIGH, "flags 0x41 contain 0x40, which regions of DMA-BUF memory cannot have");
	made_field(m, RD_REQ_ACCESS, 2);
	ASSERT_CAUSE(m, "access-flags", HIGH, "IBV_ACCESS_REMOTE_WRITE requires IBV_ACCESS_LOCAL_WRITE");
	ASSERT_NOTHING(made_field(m, RD_REQ_ACCESS, 0x10000f));
	/* Elsewhere it is not about them. */
	made_field(m, RD_REQ_ACCESS, 0x41);
	ASSERT_NOTHING(made_module(m, MADE_DRIVER));
}

/* What is not to be changed is 0 in the request. */
FAILURE_TEST(changing_a_region_is_judged_by_what_it_changes)
{
	register_memory(m, EINVAL, MADE_DRIVER, "mlx5_ib_rereg_user_mr");
	made_verb(m, "ibv_rereg_mr");
	made_field(m, RD_REQ_LENGTH, 0);
	ASSERT_CAUSE(made_field(m, RD_REQ_REREG, 0), "attribute-value", HIGH, "0x0: nothing is to be changed");
	/* The driver has no such function at all. */
	made_errno(m, EOPNOTSUPP);
	ASSERT_CAUSE(made_module(m, MADE_UVERBS), "not-supported", HIGH, "does not offer changing memory regions");
	made_errno(m, EINVAL);
	made_module(m, MADE_DRIVER);
	ASSERT_CAUSE(made_field(m, RD_REQ_REREG, 8), "attribute-value", HIGH, "the flags 0x8");
	/* Its access flags, and not its range. */
	ASSERT_UNKNOWN(made_field(m, RD_REQ_REREG, 4), "are valid");
	ASSERT_CAUSE(made_field(m, RD_REQ_ACCESS, 2), "access-flags", HIGH, "0x2");
	/* Its range, and not its access flags. */
	ASSERT_CAUSE(made_field(m, RD_REQ_REREG, 1), "range-empty", HIGH, "length 0");
	ASSERT_UNKNOWN(made_field(m, RD_REQ_LENGTH, 4096), "are valid");
}

FAILURE_TEST(a_region_that_was_registered_for_reading_only)
{
	register_memory(m, EACCES, MADE_UVERBS, "ib_umem_check_rereg");
	made_verb(m, "ibv_rereg_mr");
	made_field(m, RD_REQ_REREG, 4);
	ASSERT_CAUSE(m, "access-flags", HIGH, "the access flags 0x1 require write access", "IBV_ACCESS_LOCAL_WRITE");
	ASSERT_CAUSE(made_origin(m, MADE_DRIVER, "mlx5_ib_rereg_user_mr"), "access-flags", MEDIUM, "0x1 require");
	ASSERT_NOTHING(made_field(m, RD_REQ_ACCESS, 4));
	made_field(m, RD_REQ_ACCESS, 1);
	ASSERT_NOTHING(made_field(m, RD_REQ_REREG, 2));
}

FAILURE_TEST(windows_of_types_that_do_not_exist)
{
	made_failure(m, "ibv_alloc_mw", EINVAL, MADE_UVERBS, "ib_uverbs_alloc_mw");
	ASSERT_CAUSE(made_field(m, RD_REQ_MW_TYPE, 3), "attribute-value", HIGH, "type 3 of the memory window");
	ASSERT_NOTHING(made_field(m, RD_REQ_MW_TYPE, 2));
}
