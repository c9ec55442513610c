/* SPDX-License-Identifier: GPL-2.0-or-later */
/* devlink: health reporters and firmware versions. */
#include <string.h>

#include "check/shared/port.h"
#include "check/shared/rules.h"

/* Only RDMA NICs: switches and other devices have devlink instances, too. */
static bool is_nic(const struct rd_host *host, const struct rd_devlink *devlink)
{
	int pci = strcmp(devlink->bus, "pci") == 0 ? rd_host_find_pci(host, devlink->dev) : -1;

	for (size_t i = 0; pci >= 0 && i < host->n_ibdevs; i++)
		if (host->ibdevs[i].pci == pci)
			return true;
	return false;
}

static bool read_devlink(const struct rd_check_input *in, struct rd_check_out *out)
{
	rd_check_skip(out, "no NIC with devlink support");
	if (in->net && in->net->devlink_known == RD_OK)
		return true;
	if (in->net && in->net->devlink_known == RD_DENIED)
		rd_check_unknown(out, "host", "no permission to query devlink, or no response");
	return false;
}

#define RECOVERS                                                   \
	"# it may reset the device: no job may use it meanwhile\n" \
	"# if that does not help, reboot while no job runs"

static char *health_fix(const char *reporter)
{
	return rd_text("devlink health dump show pci/ADDRESS reporter %s\n"
		       "devlink health recover pci/ADDRESS reporter %s\n" RECOVERS,
		       reporter, reporter);
}

static void run_health(const struct rd_check_input *in, struct rd_check_out *out)
{
	for (size_t i = 0; read_devlink(in, out) && i < in->net->n_devlinks; i++) {
		const struct rd_devlink *devlink = &in->net->devlinks[i];

		if (!is_nic(in->host, devlink) || devlink->health_known != RD_OK)
			continue;
		for (size_t k = 0; k < devlink->n_reporters; k++) {
			const struct rd_reporter *reporter = &devlink->reporters[k];

			if (reporter->healthy)
				rd_check_good(out, devlink->dev);
			else
				rd_check_bad(out, RD_SEV_CRITICAL, devlink->dev,
					     rd_text("reporter %s in error state: %llu errors, %llu recoveries",
						     reporter->name, (unsigned long long)reporter->errors,
						     (unsigned long long)reporter->recoveries),
					     rd_text("healthy"), health_fix(reporter->name));
		}
	}
}

static const struct rd_fwver *stored_of(const struct rd_devlink *devlink, const char *name)
{
	for (size_t i = 0; i < devlink->n_versions; i++)
		if (devlink->versions[i].kind == RD_FWVER_STORED && strcmp(devlink->versions[i].name, name) == 0)
			return &devlink->versions[i];
	return NULL;
}

static void run_firmware(const struct rd_check_input *in, struct rd_check_out *out)
{
	for (size_t i = 0; read_devlink(in, out) && i < in->net->n_devlinks; i++) {
		const struct rd_devlink *devlink = &in->net->devlinks[i];

		for (size_t k = 0; is_nic(in->host, devlink) && k < devlink->n_versions; k++) {
			const struct rd_fwver *running = &devlink->versions[k];
			const struct rd_fwver *stored =
				running->kind == RD_FWVER_RUNNING ? stored_of(devlink, running->name) : NULL;

			if (!stored)
				continue;
			if (strcmp(running->value, stored->value) == 0)
				rd_check_good(out, devlink->dev);
			else
				rd_check_warn(out, devlink->dev,
					      rd_text("%s: running %s, stored %s", running->name, running->value,
						      stored->value),
					      rd_text("running version equals stored version"));
		}
	}
}

const struct rd_check rd_check_devlink_health = {
	.id = "devlink-health",
	.title = "devlink health reporter of a NIC is in error state",
	.why = "the driver could not recover it: queues or firmware hang",
	.fix = "devlink health show pci/ADDRESS\n"
	       "# devlink health dump show, then devlink health recover, for the reporter in error state\n" RECOVERS,
	.needs = "DEVLINK_CMD_HEALTH_REPORTER_GET",
	.reads = RD_PART_PCI | RD_PART_RDMA | RD_PART_NET,
	.run = run_health,
};

const struct rd_check rd_check_devlink_firmware = {
	.id = "firmware-pending",
	.title = "NIC does not run the firmware stored in its flash",
	.why = "a firmware update was flashed but not activated: it takes effect at the next reset, possibly at an "
	       "inconvenient time",
	.fix = "devlink dev reload pci/ADDRESS action fw_activate\n"
	       "# it resets the device: no job may use it meanwhile\n"
	       "# where the driver does not support that: mlxfwreset, or a power cycle while no job runs",
	.needs = "DEVLINK_CMD_INFO_GET: running and stored versions",
	.thorough = true,
	.reads = RD_PART_PCI | RD_PART_RDMA | RD_PART_NET,
	.run = run_firmware,
};
