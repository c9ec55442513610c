/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Differences of a host from the profile of its fleet. */
#include "model/host/profile.h"

#include <string.h>

#include "check/shared/rules.h"
#include "model/shared/finding.h"

static void report_differences(const struct rd_check_input *in, struct rd_check_out *out, const char *id)
{
	if (!in->profile || !in->differences) {
		rd_check_not_asked(out, "no profile given (--profile)");
		return;
	}
	for (size_t i = 0; i < in->differences->n; i++) {
		const struct rd_finding *finding = &in->differences->v[i];

		if (strcmp(finding->id, id) != 0)
			continue;
		if (finding->severity == RD_SEV_UNKNOWN)
			rd_check_unknown(out, finding->subject, finding->observed ? finding->observed : "-");
		else
			rd_check_bad(out, finding->severity == RD_SEV_CRITICAL ? RD_SEV_CRITICAL : RD_SEV_WARNING,
				     finding->subject, rd_text("%s", finding->observed ? finding->observed : "-"),
				     rd_text("%s", finding->expected ? finding->expected : "-"), NULL);
	}
	rd_check_good(out, "profile");
}

static void run_gpu(const struct rd_check_input *in, struct rd_check_out *out)
{
	report_differences(in, out, "profile-gpu");
}

static void run_nic(const struct rd_check_input *in, struct rd_check_out *out)
{
	report_differences(in, out, "profile-nic");
}

static void run_value(const struct rd_check_input *in, struct rd_check_out *out)
{
	report_differences(in, out, "profile-value");
}

const struct rd_check rd_check_profile_gpu = {
	.id = "profile-gpu",
	.title = "Accelerator listed in the profile is missing",
	.why = "it fell off the bus, or was never installed: jobs that rely on it fail at start",
	.fix = "dmesg | grep -e NVRM -e AER -e pciehp\n"
	       "# Xid 79: it fell off the bus\n"
	       "# power-cycle the host while no job runs, then reseat or replace the accelerator\n"
	       "# if the host was changed: rdmadiag topo-check --learn FILE",
	.needs = "--profile; accelerators by PCI address",
	.whole = RD_PART_ALL & ~RD_PART_PROCESSES,
	.run = run_gpu,
};

const struct rd_check rd_check_profile_nic = {
	.id = "profile-nic",
	.title = "NIC listed in the profile is missing",
	.why = "it fell off the bus, or its driver failed: jobs run on fewer NICs, or not at all",
	.fix = "lspci | grep -e Ethernet -e Infiniband\n"
	       "dmesg | grep -e mlx5 -e AER -e pciehp\n"
	       "# power-cycle the host while no job runs, then reseat or replace the NIC\n"
	       "# if the host was changed: rdmadiag topo-check --learn FILE",
	.needs = "--profile; RDMA devices by name",
	.whole = RD_PART_ALL & ~RD_PART_PROCESSES,
	.run = run_nic,
};

const struct rd_check rd_check_profile_value = {
	.id = "profile-value",
	.title = "Host differs from its profile",
	.why = "job placement assumes that all hosts are alike",
	.fix = "# change the host to match the profile\n"
	       "# if the profile is out of date: rdmadiag topo-check --learn FILE on a good host",
	.needs = "--profile; the fields in it",
	.whole = RD_PART_ALL & ~RD_PART_PROCESSES,
	.run = run_value,
};
