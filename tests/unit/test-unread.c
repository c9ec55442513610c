/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A read that failed: what it was about, and what becomes of a fault that may be no more than something not seen. */
#include "unit.h"

#include "check-run.h"
#include "check/shared/check.h"
#include "model/nicmap/nicmap.h"

TEST(errnos_that_say_there_is_none_are_answers)
{
	static const int absent[] = { 0, ENOENT, ENODEV, EINVAL, EOPNOTSUPP };
	static const int unread[] = { EACCES, EPERM, EIO, EMFILE, ENFILE, ENOMEM, ENOBUFS, ETIMEDOUT };

	for (size_t i = 0; i < RD_ARRAY_SIZE(absent); i++)
		assert_false(rd_could_not_look(-absent[i]));
	for (size_t i = 0; i < RD_ARRAY_SIZE(unread); i++)
		assert_true(rd_could_not_look(-unread[i]));
	assert_false(rd_could_not_look(17));
}

static void add(struct rd_errlist *list, const char *object, int code)
{
	struct rd_err err;

	rd_err_set(&err, code, object, "cannot be read");
	rd_errlist_add(list, &err);
}

TEST(a_path_belongs_to_one_part)
{
	static const struct {
		const char *object;
		unsigned part;
	} cases[] = {
		{ "/sys/class/infiniband", RD_PART_RDMA },
		{ "/sys/class/infiniband/mlx5_0/ports", RD_PART_RDMA },
		{ "/sys/class/infiniband_verbs", RD_PART_PROGRAMS },
		{ "/sys/bus/pci/devices/0000:01:00.0/class", RD_PART_PCI },
		{ "netlink route, request 18", RD_PART_NET },
		{ "/proc", RD_PART_PROCESSES },
		{ "/proc/12/comm", RD_PART_PROCESSES },
		{ "/proc/modules", RD_PART_MODULES },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		struct rd_errlist list = { 0 };

		add(&list, cases[i].object, EIO);
		assert_ptr_equal(rd_check_unread(&list, cases[i].part), &list.v[0]);
		assert_null(rd_check_unread(&list, ~cases[i].part));
		rd_errlist_deinit(&list);
	}
	assert_null(rd_check_unread(NULL, ~0u));
}

/* A NIC without a driver is a fault, unless the link that names its driver could not be read. */
TEST(a_fault_that_may_be_unseen_is_undecided)
{
	_cleanup_(rd_errlist_deinit) struct rd_errlist unread = { 0 };
	_cleanup_(rd_host_deinit) struct rd_host host = { 0 };
	struct rd_port_views ports = { .host = &host };
	struct rd_check_input in = { .host = &host, .ports = &ports, .unread = &unread };
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };
	struct rd_pci *pci = rd_host_add_pci(&host);

	assert_non_null(pci);
	RD_SET(pci->class, 0x020700);
	assert_int_equal(check_worst(&in, "nic-driver"), RD_SEV_CRITICAL);
	add(&unread, "/proc/12/comm", EACCES);
	assert_int_equal(check_worst(&in, "nic-driver"), RD_SEV_CRITICAL);
	add(&unread, "/sys/bus/pci/devices/0000:00:00.0/driver", EMFILE);
	assert_int_equal(check_worst(&in, "nic-driver"), RD_SEV_UNKNOWN);
	rd_checks_run(&in, NULL, &findings);
	for (size_t i = 0; i < findings.n; i++)
		if (strcmp(findings.v[i].id, "nic-driver") == 0 || strcmp(findings.v[i].id, "counters-moved") == 0)
			assert_int_equal(findings.v[i].undecided, strcmp(findings.v[i].id, "nic-driver") == 0);
}
