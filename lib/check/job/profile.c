/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules about a profile, the separation of networks, and what was found elsewhere: in settings of all jobs, and in counters. */
#include "check/shared/rules.h"

#include "model/host/profile.h"
#include "model/host/system.h"

/* Differences of a host from the profile of its fleet. */

/* The differences with the name of the rule. */
static void run_differences(const struct rd_check_input *in, struct rd_check_out *out)
{
	if (!in->profile || !in->differences)
		return rd_check_not_asked(out, "no profile given (--profile)");
	for (size_t i = 0; i < in->differences->n; i++) {
		const struct rd_finding *finding = &in->differences->v[i];

		if (strcmp(finding->id, rd_check_of(out)->id) != 0)
			continue;
		if (finding->severity == RD_SEV_UNKNOWN)
			rd_check_unknown(out, finding->subject, finding->observed ?: "-");
		else
			rd_check_bad(out, finding->severity == RD_SEV_CRITICAL ? RD_SEV_CRITICAL : RD_SEV_WARNING,
				     finding->subject, rd_text("%s", finding->observed ?: "-"),
				     rd_text("%s", finding->expected ?: "-"), NULL);
	}
	rd_check_good(out, "profile");
}

const struct rd_check rd_check_profile_gpu = {
	.id = "profile-gpu",
	.title = "Accelerator listed in the profile is missing",
	.why = "it fell off the bus, or was never installed: jobs that rely on it fail at start",
	.fix = "dmesg | grep -e GPUDRIVER -e AER -e pciehp\n"
	       "# NVIDIA, Xid 79: it fell off the bus\n"
	       "# power-cycle the host while no job runs, then reseat or replace the accelerator\n"
	       "# if the host was changed: rdmadiag topo-check --learn FILE",
	.needs = "--profile; accelerators by PCI address",
	.parts = { RD_PART_ALL & ~RD_PART_PROCESSES, 0 },
	.run = run_differences,
};

const struct rd_check rd_check_profile_nic = {
	.id = "profile-nic",
	.title = "NIC listed in the profile is missing",
	.why = "it fell off the bus, or its driver failed: jobs run on fewer NICs, or not at all",
	.fix = "lspci | grep -e Ethernet -e Infiniband\n"
	       "dmesg | grep -e NICDRIVER -e AER -e pciehp\n"
	       "# power-cycle the host while no job runs, then reseat or replace the NIC\n"
	       "# if the host was changed: rdmadiag topo-check --learn FILE",
	.needs = "--profile; RDMA devices by name",
	.parts = { RD_PART_ALL & ~RD_PART_PROCESSES, 0 },
	.run = run_differences,
};

const struct rd_check rd_check_profile_value = {
	.id = "profile-value",
	.title = "Host differs from its profile",
	.why = "job placement assumes that all hosts are alike",
	.fix = "# change the host to match the profile\n"
	       "# if the profile is out of date: rdmadiag topo-check --learn FILE on a good host",
	.needs = "--profile; the fields in it",
	.parts = { RD_PART_ALL & ~RD_PART_PROCESSES, 0 },
	.run = run_differences,
};

/* Separation of front-end and back-end networks. */

static void judge_route(const struct rd_check_input *in, size_t p, const char *name, struct rd_check_out *out)
{
	const struct rd_netdev *route = rd_port_route(in->host, &in->host->ports[p]);

	if (in->ports->v[p].role != RD_ROLE_COMPUTE)
		return;
	if (route)
		rd_check_warn(out, name, rd_text("%s carries the default route", route->name),
			      rd_text("default route on a front-end interface"));
	else
		rd_check_good(out, name);
}

/* With one card there is nothing to separate. */
static void run_route(const struct rd_check_input *in, struct rd_check_out *out)
{
	size_t cards = rd_check_compute_cards(in->ports);

	if (cards < 2 || in->host->n_gpus == 0)
		rd_check_skip(out, in->host->n_gpus == 0 ? "no accelerator, so no back-end network" :
				   cards == 1		 ? "only one compute card" :
							   "no port is known to be a compute port");
	else
		rd_check_each(in, out);
}

/* A fault that was found elsewhere becomes one of this rule. */
static void pass_on(const struct rd_finding *finding, const char *expected, struct rd_check_out *out)
{
	rd_check_bad(out, finding->severity == RD_SEV_CRITICAL ? RD_SEV_CRITICAL : RD_SEV_WARNING,
		     finding->subject ?: "settings",
		     rd_text("%s%s%s", finding->title, *finding->title && finding->observed ? ": " : "",
			     finding->observed ?: ""),
		     rd_dup(finding->expected ?: expected), rd_dup_if(finding->fix));
}

static void run_env(const struct rd_check_input *in, struct rd_check_out *out)
{
	if (!in->system || !in->job_env || in->system->job_env.n == 0)
		return rd_check_skip(out, "no settings for all jobs in /etc/nccl.conf or /etc/environment");
	for (size_t i = 0; i < in->job_env->n; i++) {
		const struct rd_finding *finding = &in->job_env->v[i];

		if (finding->severity == RD_SEV_UNKNOWN)
			return rd_check_unknown(out, "settings for all jobs", finding->observed);
		if (finding->severity == RD_SEV_WARNING || finding->severity == RD_SEV_CRITICAL)
			pass_on(finding, "the compute NICs", out);
	}
	rd_check_good(out, "settings for all jobs");
}

static void pass_all(const struct rd_findings *findings, const char *expected, const char *good,
		     struct rd_check_out *out)
{
	for (size_t i = 0; i < findings->n; i++) {
		const struct rd_finding *finding = &findings->v[i];

		if (finding->severity == RD_SEV_UNKNOWN)
			(finding->undecided ? rd_check_undecided : rd_check_unknown)(
				out, finding->subject, finding->observed ?: finding->title);
		else if (finding->severity >= RD_SEV_WARNING)
			pass_on(finding, expected, out);
		else if (finding->severity == RD_SEV_NOTE && finding->observed)
			rd_check_note(out, finding->subject, rd_dup(finding->observed), NULL, NULL);
	}
	rd_check_good(out, good);
}

static void run_moved(const struct rd_check_input *in, struct rd_check_out *out)
{
	rd_check_skip(out, "no earlier sample to compare with (rdmadiag check --since FILE)");
	if (in->moved)
		pass_all(in->moved, "no such increase", "counters", out);
}

static void run_user(const struct rd_check_input *in, struct rd_check_out *out)
{
	rd_check_not_asked(out, "no user was named (rdmadiag check --user USER)");
	if (in->user && in->host->n_ibdevs > 0)
		pass_all(in->user, "what a job needs for RDMA", "jobs of the user", out);
}

const struct rd_check rd_check_user_rdma = {
	.id = "user-rdma",
	.title = "Jobs of the user cannot use RDMA, or only in part",
	.why = "a library that finds no RDMA device uses TCP without a message, or ends",
	.fix = "modprobe -a ib_uverbs rdma_ucm",
	.needs = "with --user: the user's groups, device files and their access lists, providers of libibverbs, ports, limits of what "
		 "starts jobs, limits.conf",
	.parts = { RD_PART_RDMA, RD_PART_PROGRAMS },
	.run = run_user,
};

const struct rd_check rd_check_default_route = {
	.id = "backend-default-route",
	.title = "Compute NIC carries the default route",
	.why = "logins, storage and the scheduler share the links of the collectives",
	.fix = "ip route show default\n"
	       "# move it to a front-end interface: ip route replace default via GATEWAY dev INTERFACE\n"
	       "# logins over it break meanwhile\n"
	       "# it lasts until the next boot; also in the network configuration",
	.needs = "routes, roles of ports",
	.parts = { RD_PART_PCI | RD_PART_RDMA | RD_PART_NET, 0 },
	.run = run_route,
	.each = { RD_EACH_PORT, NULL, judge_route, NULL },
};

const struct rd_check rd_check_job_env = {
	.id = "job-env",
	.title = "Environment variable set for all jobs does not fit this host",
	.why = "every job inherits it, and runs without RDMA, over other NICs, or without the intended setting",
	.fix = "rdmadiag nic-map --env all\n"
	       "rdmadiag nic-map --check-env --env-file /etc/environment\n"
	       "# the first prints settings that fit\n"
	       "# the second shows what the present ones select",
	.needs = "/etc/nccl.conf, /etc/environment, roles of ports",
	.thorough = true,
	.parts = { RD_PART_PCI | RD_PART_RDMA | RD_PART_NET, 0 },
	.run = run_env,
};

const struct rd_check rd_check_moved = {
	.id = "counters-moved",
	.title = "Error counters increased since the earlier sample",
	.why = "a port with errors during the previous job is likely to have errors in the next one",
	.fix = "# rdmadiag counters --since FILE, with the file given to check",
	.needs = "all counters, now and in the file given with --since",
	.run = run_moved,
};
