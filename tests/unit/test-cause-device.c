// SPDX-License-Identifier: GPL-2.0-or-later
#include "made-failure.h"

/* --- checks of the core --- */

FAILURE_TEST(functions_with_one_reason)
{
	made_failure(m, "ibv_alloc_pd", EINVAL, MADE_UVERBS, "ib_uverbs_get_ucontext_file");
	ASSERT_CAUSE(m, "context-state", HIGH, "no context yet",
		     "ib_uverbs_get_ucontext_file returns EINVAL for no other reason");
	/* With the suffix of a compiler, too. */
	ASSERT_CAUSE(made_function(m, "ib_uverbs_get_ucontext_file.isra.0"), "context-state", HIGH, "no context yet");
	/* What it calls may have failed; another errno; a function that is not in the table. */
	ASSERT_NOTHING(made_exact(m, false));
	made_exact(m, true);
	ASSERT_NOTHING(made_errno(m, EACCES));
	made_errno(m, EINVAL);
	ASSERT_NOTHING(made_function(m, "ib_uverbs_alloc_pd"));
	made_function(made_errno(m, EPERM), "ib_uverbs_open");
	ASSERT_CAUSE(m, "device-namespace", HIGH, "another network namespace", "rdma system");
	made_function(made_errno(m, ENFILE), "alloc_begin_fd_uobject");
	ASSERT_CAUSE(m, "descriptors-exhausted", HIGH, "fs.file-max", "sysctl fs.file-nr");
	made_origin(made_errno(m, EINVAL), MADE_CORE, "rdma_query_gid_table");
	ASSERT_CAUSE(m, "attribute-value", HIGH, "more GIDs than the array", "gid_tbl_len");
	made_origin(m, "ib_cm", "ib_cm_init_qp_attr");
	ASSERT_CAUSE(m, "cm-id-state", HIGH, "the peer gave up", "rdma_get_cm_event");
	m->event.origin = -1;
	ASSERT_NOTHING(m);
}

/* --- resources that are used up --- */

FAILURE_TEST(a_device_that_has_no_queue_pairs_left)
{
	struct rd_res_dev devs[] = { { .name = (char *)"mlx5_1", .used[RD_RES_QP] = { 100, RD_OK } },
				     { .name = (char *)"mlx5_0", .used[RD_RES_QP] = { 64, RD_OK } } };
	struct rd_qp qp = { .owner.pid = { MADE_PID, RD_OK } };

	made_failure(m, "ibv_create_qp", ENOMEM, MADE_DRIVER, "mlx5_ib_create_qp");
	m->f.res = (struct rd_res){ .devs = devs, .n_devs = 2, .qps = &qp, .n_qps = 1 };
	ASSERT_UNKNOWN(m, "logged nothing");
	ASSERT_CAUSE(made_attr(m, "max_qp", 64), "device-resources", HIGH,
		     "mlx5_0 has no queue pairs left: 64 of max_qp 64", "this process has 1 of them",
		     "rdma resource show qp link mlx5_0");
	/* The core runs out of memory only. */
	ASSERT_CAUSE(made_module(m, MADE_UVERBS), "device-resources", MEDIUM, "64");
	devs[1].used[RD_RES_QP].v = 63;
	ASSERT_UNKNOWN(m, "mlx5_0 has 63 queue pairs of at most 64");
	devs[1].used[RD_RES_QP] = (__typeof__(devs[1].used[0])){ 64, RD_DENIED };
	ASSERT_UNKNOWN(m, "logged nothing");
}

FAILURE_TEST(the_regions_of_the_process_are_counted)
{
	struct rd_res_dev dev = { .name = (char *)"mlx5_0", .used[RD_RES_MR] = { 9, RD_OK } };
	struct rd_res_object objects[] = {
		{ .kind = RD_RES_MR, .owner.pid = { MADE_PID, RD_OK } },
		{ .kind = RD_RES_MR, .owner.pid = { MADE_PID, RD_OK } },
		{ .kind = RD_RES_MR, .owner.pid = { 1, RD_OK } },
		{ .kind = RD_RES_MR, .owner.pid = { MADE_PID, RD_DENIED } },
		{ .kind = RD_RES_CQ, .owner.pid = { MADE_PID, RD_OK } },
	};

	made_failure(m, "ibv_reg_mr", ENOSPC, MADE_DRIVER, "mlx5_ib_reg_user_mr");
	m->f.res =
		(struct rd_res){ .devs = &dev, .n_devs = 1, .objects = objects, .n_objects = RD_ARRAY_SIZE(objects) };
	ASSERT_CAUSE(made_attr(m, "max_mr", 8), "device-resources", HIGH, "no memory regions left: 9 of max_mr 8",
		     "process has 2 of them", "rdma resource show mr dev mlx5_0");
}

/* Page cache fills a control group, too. */
FAILURE_TEST(a_control_group_near_its_limit_is_not_a_cause)
{
	made_failure(m, "ibv_reg_mr", ENOMEM, MADE_DRIVER, "mlx5_ib_reg_user_mr");
	ASSERT_UNKNOWN(m, "no control group of the process limits its memory");
	m->f.memory.group.path = (char *)"/job";
	RD_SET(m->f.memory.group.max, 100u << 20);
	RD_SET(m->f.memory.group.current, 99u << 20);
	RD_SET(m->f.memory.group.failures, 12);
	ASSERT_UNKNOWN(m, "/job uses 99 MiB of 100 MiB memory, page cache included", "12 times");
	m->f.memory.group.failures.v = 1;
	ASSERT_UNKNOWN(m, "1 time since");
	m->f.memory.group.current.known = RD_DENIED;
	ASSERT_UNKNOWN(m, "logged nothing");
}

/* --- firmware --- */

#define CMD_PREFIX "mlx5_core 0000:1b:00.0: mlx5_cmd_out_err:803:(pid "
#define MKEY_LIMIT "CREATE_MKEY(0x200) op_mod(0x0) failed, status limits exceeded(0x8), syndrome (0x59c8a4)"

static void log_of(struct made_failure *m, struct rd_krecord *records, size_t n)
{
	made_failure(m, "ibv_reg_mr", ENOMEM, MADE_DRIVER, "mlx5_ib_reg_user_mr");
	for (size_t i = 0; i < n; i++)
		if (!records[i].device)
			records[i].device = "+pci:" MADE_PCI;
	m->f.log = (struct rd_klog){ .known = RD_OK, .v = records, .n = n };
}

FAILURE_TEST(a_firmware_command_that_failed)
{
	struct rd_krecord records[] = { { .text = CMD_PREFIX "4721): " MKEY_LIMIT ", err(-12)" },
					{ .text = "eth0: link up" } };

	log_of(m, records, 2);
	ASSERT_CAUSE(m, "device-resources", HIGH, "no memory keys left", "firmware command CREATE_MKEY failed",
		     "\"limits exceeded\", syndrome 0x59c8a4", "kernel log: mlx5_core",
		     "rdma resource show mr dev mlx5_0\n# end");
	/* Older drivers. */
	records[0].text = "mlx5_core 0000:1b:00.0: mlx5_cmd_check:810:(pid 4721): " MKEY_LIMIT;
	ASSERT_CAUSE(m, "device-resources", HIGH, "CREATE_MKEY");
	records[0].text = MKEY_LIMIT;
	ASSERT_CAUSE(m, "device-resources", MEDIUM, "CREATE_MKEY");
	/* What is in the log of a program that writes to it. */
	records[0].facility = 1;
	ASSERT_UNKNOWN(m, "2 kernel messages since two seconds before the call: none reports");
}

/* A command that timed out has nothing to do with neighbours. */
FAILURE_TEST(a_timeout_of_the_driver)
{
	made_failure(m, "ibv_create_qp", ETIMEDOUT, MADE_DRIVER, "mlx5_cmd_exec");
	ASSERT_UNKNOWN(m, "mlx5_0 is present", ": dmesg");
	ASSERT_UNKNOWN(made_module(m, MADE_CORE), ": ip neigh");
}

FAILURE_TEST(messages_of_other_calls_are_not_taken)
{
	struct rd_krecord records[] = { { .text = CMD_PREFIX "4721): " MKEY_LIMIT ", err(-12)" } };

	log_of(m, records, 1);
	/* Too old. */
	m->f.log_first = 1;
	ASSERT_UNKNOWN(m, "the kernel logged nothing since");
	m->f.log_first = 0;
	/* Another errno. */
	ASSERT_UNKNOWN(made_errno(m, EIO), "1 kernel message since");
	made_errno(m, ENOMEM);
	/* Another device. */
	records[0].device = "+pci:0000:1c:00.0";
	ASSERT_UNKNOWN(m, "1 kernel message since");
	records[0].device = "+pci:" MADE_PCI;
	/* Another process, which is said. */
	records[0].text = CMD_PREFIX "999): " MKEY_LIMIT ", err(-12)";
	ASSERT_UNKNOWN(m, "of another call", "(pid 999)");
	/* An earlier call of the thread: in this one, the driver did not fail. */
	records[0].text = CMD_PREFIX "4721): " MKEY_LIMIT ", err(-12)";
	ASSERT_UNKNOWN(made_origin(m, MADE_UVERBS, "ib_umem_get"), "of another call", "(pid 4721)");
	ASSERT_CAUSE(made_exact(made_function(m, "ib_uverbs_reg_mr"), false), "device-resources", HIGH, "CREATE_MKEY");
	made_exact(made_origin(m, MADE_DRIVER, "mlx5_ib_reg_user_mr"), true);
	records[0].text = CMD_PREFIX "999): " MKEY_LIMIT ", err(-12)";
	/* Ours is not known. */
	m->event.tid = 0;
	ASSERT_CAUSE(m, "device-resources", MEDIUM, "CREATE_MKEY");
	/* Soft devices have no firmware. */
	m->f.dev.pci = NULL;
	ASSERT_UNKNOWN(m, "no control group");
}

FAILURE_TEST(ours_is_found_among_those_of_other_processes)
{
	struct rd_krecord records[] = {
		{ .text = CMD_PREFIX
		  "998): CREATE_QP(0x500) op_mod(0x0) failed, status bad parameter(0x3), syndrome (0x1), err(-12)" },
		{ .text = CMD_PREFIX "4721): " MKEY_LIMIT ", err(-12)" },
		{ .text = CMD_PREFIX
		  "999): CREATE_QP(0x500) op_mod(0x0) failed, status bad parameter(0x3), syndrome (0x2), err(-12)" },
	};

	log_of(m, records, 3);
	ASSERT_CAUSE(m, "device-resources", HIGH, "CREATE_MKEY", "0x59c8a4");
	m->f.log.known = RD_DENIED;
	ASSERT_UNKNOWN(m, "the kernel log is not readable (dmesg_restrict)");
	m->f.read &= ~(unsigned)RD_FACT_LOG;
	ASSERT_UNKNOWN(m, "no control group");
}

FAILURE_TEST(what_a_status_means_depends_on_the_command)
{
	static const char *const cases[][3] = {
		{ "CREATE_QP(0x500) op_mod(0x0) failed, status limits exceeded(0x8), syndrome (0x65b500), err(-12)",
		  "device-resources", "no queue pairs left" },
		{ "ALLOC_UAR(0x802) op_mod(0x0) failed, status limits exceeded(0x8), syndrome (0x1), err(-12)",
		  "device-resources", "doorbell pages" },
		{ "CREATE_CQ(0x400) op_mod(0x0) failed, status limits exceeded(0x8), syndrome (0x1), err(-12)",
		  "device-resources", "a limit of the adapter is reached" },
		{ "CREATE_CQ(0x400) op_mod(0x0) failed, status no resources(0xf), syndrome (0x1), err(-12)",
		  "device-resources", "no resources left" },
		{ "CREATE_MKEY(0x200) op_mod(0x0) failed, status bad parameter(0x3), syndrome (0x1), err(-12)",
		  "firmware-status", "refused a parameter" },
		{ "CREATE_MKEY(0x200) op_mod(0x0) failed, status unheard of(0x99), syndrome (0x1), err(-12)",
		  "firmware-status", "refused the command" },
		{ "CREATE_CQ(0x400) op_mod(0x0) failed, status bad system state(0x4), syndrome (0x1), err(-12)",
		  "firmware-status", "devlink dev reload pci/" MADE_PCI "\n# no job may use mlx5_0 meanwhile" },
	};
	struct rd_krecord record = { .text = NULL };
	char text[256];

	log_of(m, &record, 1);
	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		snprintf(text, sizeof(text), CMD_PREFIX "4721): %s", cases[i][0]);
		record.text = text;
		ASSERT_CAUSE(m, cases[i][1], HIGH, cases[i][2]);
	}
	/* Not of this form. */
	record.text = "mlx5_core 0000:1b:00.0: CREATE_MKEY op_mod(0x0) failed";
	ASSERT_UNKNOWN(m, "none reports a firmware command");
}

/* --- control groups --- */

FAILURE_TEST(groups_at_their_limit_of_objects)
{
	struct rd_rdma_cgroup groups[] = { { .path = (char *)"/job" },
					   { .path = (char *)"/",
					     .of[RD_RDMA_OBJECTS] = { { 50, RD_OK }, { 50, RD_OK } } } };

	made_failure(m, "ibv_create_cq", EAGAIN, MADE_CORE, "ib_rdmacg_try_charge");
	ASSERT_UNKNOWN(m, "logged nothing", ": grep -rs hca_");
	m->f.cgroups_v1 = true;
	ASSERT_CAUSE(m, "cgroup-rdma-limit", MEDIUM, "of version 1 is at its limit of RDMA objects on mlx5_0",
		     "grep rdma /proc/4721/cgroup");
	ASSERT_UNKNOWN(made_exact(m, false), "not looked at: control groups of version 1");
	m->f.cgroups_v1 = false;
	made_exact(m, true);
	m->f.cgroups_known = RD_OK;
	ASSERT_UNKNOWN(m, "no control group of the process (/job) limits hca_object of mlx5_0");
	m->f.cgroups = groups;
	m->f.n_cgroups = 2;
	ASSERT_CAUSE(m, "cgroup-rdma-limit", HIGH, "control group / is at its limit of 50 RDMA objects on mlx5_0",
		     "hca_object of mlx5_0 is 50, in use 50", "group of the process: /job", "/sys/fs/cgroup/rdma.max");
	/* Drivers have reasons of their own. */
	ASSERT_UNKNOWN(made_origin(m, MADE_DRIVER, "mlx5_ib_create_cq"), "logged nothing", ": dmesg");
	ASSERT_CAUSE(made_exact(m, false), "cgroup-rdma-limit", MEDIUM, "50");
	RD_SET(groups[0].of[RD_RDMA_OBJECTS].max, 80);
	ASSERT_CAUSE(m, "cgroup-rdma-limit", MEDIUM, "limit of 50", "/job: hca_object of mlx5_0 is 80");
	groups[0].of[RD_RDMA_OBJECTS].max.known = RD_DENIED;
	groups[1].of[RD_RDMA_OBJECTS].now.v = 49;
	ASSERT_UNKNOWN(m, "logged nothing");
	/* Handles are counted apart. */
	made_origin(m, MADE_UVERBS, "ib_init_ucontext");
	ASSERT_UNKNOWN(made_verb(m, "ibv_open_device"), "limits hca_handle");
	RD_SET(groups[0].of[RD_RDMA_HANDLES].max, 2);
	ASSERT_CAUSE(m, "cgroup-rdma-limit", HIGH, "/job is at its limit of 2 open devices");
	ASSERT_UNKNOWN(made_origin(m, MADE_DRIVER, "mlx5_ib_alloc_ucontext"), "logged nothing");
}

FAILURE_TEST(limits_that_are_not_reached_any_more)
{
	struct rd_rdma_cgroup groups[] = {
		{ .path = (char *)"/fa/fb", .of[RD_RDMA_OBJECTS] = { { 3, RD_OK }, { 0, RD_OK } } },
		{ .path = (char *)"/fa", .of[RD_RDMA_OBJECTS] = { { 4, RD_OK }, { 1, RD_OK } } }
	};

	made_failure(m, "ibv_alloc_pd", EAGAIN, MADE_CORE, "ib_rdmacg_try_charge");
	m->f.cgroups_known = RD_OK;
	m->f.cgroups = groups;
	m->f.n_cgroups = 2;
	ASSERT_CAUSE(m, "cgroup-rdma-limit", HIGH, "/fa/fb allows 3 and /fa allows 4; which one was full is not known",
		     "| tee /sys/fs/cgroup/fa/fb/rdma.max /sys/fs/cgroup/fa/rdma.max", "in use 1");
	made_origin(m, MADE_UVERBS, "alloc_begin_idr_uobject");
	ASSERT_CAUSE(m, "cgroup-rdma-limit", MEDIUM, "is not known");
	ASSERT_UNKNOWN(made_function(m, "ib_uverbs_alloc_pd"), "logged nothing");
	/* One alone was raised. */
	made_function(m, "ib_rdmacg_try_charge");
	groups[0].of[RD_RDMA_OBJECTS].max.v = 100;
	groups[0].of[RD_RDMA_OBJECTS].now.v = 3;
	m->f.n_cgroups = 1;
	ASSERT_CAUSE(m, "cgroup-rdma-limit", MEDIUM, "it allows 100 and has 3 in use", "may have been changed since");
	/* One of two is full. */
	m->f.n_cgroups = 2;
	groups[1].of[RD_RDMA_OBJECTS].now.v = 4;
	ASSERT_CAUSE(m, "cgroup-rdma-limit", HIGH, "/fa is at its limit of 4",
		     ": echo \"mlx5_0 hca_object=max\" > /sys/fs/cgroup/fa/rdma.max");
	/* A name that a shell would run is not to be pasted. */
	groups[1].path = (char *)"/$(reboot)";
	ASSERT_CAUSE(m, "cgroup-rdma-limit", HIGH, ": # echo \"mlx5_0 hca_object=max\" > /sys/fs/cgroup/$(reboot)");
}

/* --- removed devices --- */

FAILURE_TEST(a_device_that_was_removed)
{
	made_failure(m, "ibv_reg_mr", EIO, MADE_UVERBS, "ib_uverbs_get_ucontext_file");
	ASSERT_CAUSE(m, "device-removed", MEDIUM, "mlx5_0 was removed or reset", "is in /sys/class/infiniband");
	m->f.dev.known = RD_ABSENT;
	ASSERT_CAUSE(m, "device-removed", HIGH, "mlx5_0 is not in /sys/class/infiniband now");
	ASSERT_CAUSE(made_errno(m, ENXIO), "device-removed", HIGH, "not in");
	m->f.dev.known = RD_OK;
	ASSERT_CAUSE(m, "device-removed", MEDIUM, "is in");
	made_errno(m, EIO);
	/* A driver whose device is there. */
	m->f.dev.known = RD_OK;
	ASSERT_UNKNOWN(made_origin(m, MADE_DRIVER, "mlx5_ib_reg_user_mr"), "mlx5_0 is present, port 1 is 4: ACTIVE");
	/* And one whose port is going. */
	ASSERT_UNKNOWN(made_errno(m, ENODEV), "mlx5_0 is present");
	m->f.dev.state = m->f.dev.netdev = NULL;
	ASSERT_CAUSE(m, "device-removed", MEDIUM, "neither interface nor state");
	ASSERT_CAUSE(made_errno(m, ENODATA), "device-removed", MEDIUM, "neither interface nor state");
	ASSERT_UNKNOWN(made_errno(m, EIO), "port 1 is unknown");
	m->f.dev.known = RD_DENIED;
	ASSERT_UNKNOWN(m, "logged nothing");
	/* A renamed device is not found under its old name either. */
	m->f.dev.known = RD_ABSENT;
	ASSERT_CAUSE(made_errno(m, ENODATA), "device-removed", MEDIUM, "mlx5_0 was removed, reset or renamed");
}

/* --- what is supported --- */

FAILURE_TEST(what_a_device_does_not_offer)
{
	made_failure(m, "ibv_create_flow", EOPNOTSUPP, MADE_UVERBS, "ib_uverbs_notsupp");
	ASSERT_CAUSE(m, "not-supported", HIGH, "driver of mlx5_0 (mlx5_core) does not offer flow steering");
	/* It does, but not this. */
	made_origin(m, MADE_DRIVER, "mlx5_ib_create_flow");
	ASSERT_CAUSE(m, "not-supported", MEDIUM, "or not with these attributes");
	/* What exports a DMA-BUF may refuse to let the device have it. */
	made_verb(m, "ibv_reg_dmabuf_mr");
	ASSERT_NOTHING(made_origin(m, MADE_CORE, "ib_umem_dmabuf_get_pinned"));
	ASSERT_CAUSE(made_origin(m, MADE_UVERBS, "ib_uverbs_reg_dmabuf_mr"), "not-supported", HIGH, "DMA-BUF");
	made_origin(m, MADE_DRIVER, "mlx5_ib_create_srq");
	made_verb(m, "ibv_create_srq");
	ASSERT_CAUSE(made_field(m, RD_REQ_SRQ_TYPE, 2), "not-supported", MEDIUM,
		     "does not support shared receive queues for tag matching", "srq_type 2");
	made_field(m, RD_REQ_SRQ_TYPE, 0);
	ASSERT_CAUSE(m, "not-supported", MEDIUM, "shared receive queues, or not with these attributes");
	m->event.request.known[RD_REQ_SRQ_TYPE] = false;
	made_verb(m, "ibv_rereg_mr");
	made_field(m, RD_REQ_REREG, 1);
	ASSERT_CAUSE(m, "not-supported", MEDIUM, "does not support changing the range of a memory region (flags 0x1)");
	ASSERT_CAUSE(made_module(m, MADE_UVERBS), "not-supported", HIGH, "does not offer changing memory regions");
	made_module(m, MADE_DRIVER);
	ASSERT_NOTHING(made_verb(m, "ibv_query_qp"));
	ASSERT_CAUSE(made_errno(m, EPROTONOSUPPORT), "not-supported", MEDIUM, "ibv_query_qp, or an attribute");
	made_errno(m, EOPNOTSUPP);
	ASSERT_NOTHING(made_verb(m, "ibv_create_qp"));
	made_field(m, RD_REQ_QP_TYPE, RD_QPT_XRC_INI);
	ASSERT_CAUSE(m, "not-supported", MEDIUM, "queue pairs of type XRC_INI", "qp_type 9");
	/* Every device has these, but not with all flags. */
	ASSERT_NOTHING(made_field(m, RD_REQ_QP_TYPE, RD_QPT_UD));
	made_field(m, RD_REQ_FLAGS, 2);
	ASSERT_CAUSE(m, "not-supported", MEDIUM, "does not support create_flags 0x2 for queue pairs of type UD");
	assert_null(strstr(m->said, "use RC or UD"));
	m->f.read &= ~(unsigned)RD_FACT_DEVICE;
	ASSERT_NOTHING(m);
}

FAILURE_TEST(groups_of_ipv6_on_roce)
{
	made_failure(m, "rdma_join_multicast", 524, MADE_CM, "cma_iboe_join_multicast");
	ASSERT_NOTHING(m);
	ASSERT_CAUSE(made_destination(m, "ff0e::1", 0), "not-supported", HIGH, "IPv6 groups (ff0e::1)");
	ASSERT_NOTHING(made_verb(m, "rdma_resolve_addr"));
}

FAILURE_TEST(requests_that_are_too_short)
{
	made_failure(m, "ibv_create_qp", ENOSPC, MADE_UVERBS, "ib_uverbs_handler_UVERBS_METHOD_INVOKE_WRITE");
	m->event.num_attrs = 3;
	ASSERT_CAUSE(m, "request-malformed", HIGH, "ibv_create_qp is shorter", "3 attributes");
	ASSERT_CAUSE(made_errno(m, EMSGSIZE), "request-malformed", MEDIUM, "the form of the request");
	ASSERT_NOTHING(made_origin(m, MADE_DRIVER, "mlx5_ib_create_qp"));
}

/* --- buffers of the request --- */

FAILURE_TEST(buffers_that_the_kernel_cannot_access)
{
	made_failure(m, "ibv_create_cq", EFAULT, MADE_UVERBS, "uverbs_copy_to");
	ASSERT_CAUSE(m, "user-buffer", HIGH, "could not read the request");
	ASSERT_CAUSE(made_exact(m, false), "user-buffer", MEDIUM, "could not access the request");
	m->event.request.readable = false;
	ASSERT_CAUSE(m, "user-buffer", MEDIUM, "holds the request is not readable");
	/* A request that a driver fails was read. */
	ASSERT_NOTHING(made_origin(m, MADE_DRIVER, "mlx5_ib_devx_create"));
	m->event.moment.response = (struct rd_mapping){ .kind = RD_MAPPING_HOLE, .at = 0x5000 };
	ASSERT_CAUSE(m, "user-buffer", HIGH, "at 0x5000, is not mapped");
	m->event.moment.response.kind = RD_MAPPING_READ_ONLY;
	ASSERT_CAUSE(m, "user-buffer", HIGH, "at 0x5000, is not writable");
	/* That is about the memory of a region. */
	ASSERT_NOTHING(made_origin(m, MADE_UVERBS, "ib_umem_get"));
}

FAILURE_TEST(a_driver_may_mean_memory_that_it_got_an_address_of)
{
	made_failure(m, "ibv_create_qp", EFAULT, MADE_DRIVER, "mlx5_ib_create_qp");
	ASSERT_CAUSE(m, "user-buffer", MEDIUM, "could not access the request");
	ASSERT_NOTHING(made_field(m, RD_REQ_ADDRESS, 0x1000));
}
