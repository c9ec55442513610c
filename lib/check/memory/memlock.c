/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules about limits of processes and the memory of programs. */
#include "check/shared/rules.h"

#include <inttypes.h>

#include "model/host/profile.h"
#include "model/host/system.h"

/* Limits of jobs: locked memory, mappings, open files. */

/* A queue pair with its completion queue locks some hundred KiB; buffers of a job lock most of memory. Below this limit no
 * job works, above it some may. */
#define FEW (UINT64_C(64) << 20)

#define ELSEWHERE                                                                                                       \
	"# limits.conf applies only to logins\n"                                                                        \
	"# in a container: set the limit of containerd or CRI-O; CAP_IPC_LOCK counts only in the effective set of the " \
	"process"

/* `more` is appended to the limit, NULL: nothing. `pid` 0: the default of services. */
static void judge_limit(const char *subject, uint64_t bytes, const char *more, int pid, struct rd_check_out *out)
{
	bool whole = bytes % (1 << 20) == 0;

	if (bytes == RD_UNLIMITED)
		rd_check_good(out, subject);
	else
		rd_check_bad(out, bytes <= FEW ? RD_SEV_CRITICAL : RD_SEV_WARNING, subject,
			     rd_text("%" PRIu64 " %s%s%s", whole ? bytes >> 20 : bytes >> 10, whole ? "MiB" : "KiB",
				     more ? ", " : "", more ?: ""),
			     rd_text("unlimited"),
			     pid ? rd_text("prlimit --pid %d --memlock=unlimited\n"
					   "# it and what it starts from then on have the new limit\n"
					   "# permanently: LimitMEMLOCK=infinity in the unit of the job launcher "
					   "(systemctl edit slurmd), then restart it while no job runs\n" ELSEWHERE,
					   pid) :
				   NULL);
}

static void run_memlock(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_system *system = in->system;
	_cleanup_free_ char *from = NULL;
	bool judged = false, runtime = false;

	if (!system)
		return rd_check_unknown(out, "services", "limits were not read");
	for (size_t i = 0; i < system->n_launchers; i++)
		runtime |= rd_program_starts_containers(system->launchers[i].comm) &&
			   strcmp(system->launchers[i].comm, "kubelet") != 0;
	for (size_t i = 0; i < system->n_launchers; i++) {
		bool asked = system->launchers[i].pid == system->asked_pid;
		const struct rd_launcher *launcher;
		char subject[64];

		/* Whether a daemon uses RDMA is unknown; pods have the limit of the container runtime that the kubelet calls. */
		if ((!asked &&
		     (system->launchers[i].serves || (runtime && strcmp(system->launchers[i].comm, "kubelet") == 0))) ||
		    (in->user && rd_program_starts_containers(system->launchers[i].comm)))
			continue;
		/* `asked`: the process of --pid, judged with its capabilities. Processes that a launcher starts inherit its limit only. */
		launcher = &system->launchers[i];
		snprintf(subject, sizeof(subject), "%.32s, process %d", launcher->comm, launcher->pid);
		if (asked && launcher->ipc_lock.known == RD_OK && launcher->ipc_lock.v)
			rd_check_good(out, subject);
		else if (launcher->memlock.known != RD_OK)
			rd_check_unknown(out, subject,
					 launcher->memlock.known == RD_DENIED ?
						 "no permission to read /proc/PID/limits" :
						 "not reported in /proc/PID/limits");
		else if (asked && launcher->memlock.v != RD_UNLIMITED && launcher->ipc_lock.known != RD_OK)
			rd_check_unknown(
				out, subject,
				"limit set, and whether CAP_IPC_LOCK overrides it is unknown (/proc/PID/status)");
		else
			judge_limit(subject, launcher->memlock.v,
				    asked ? "and CAP_IPC_LOCK is not in its effective set" : NULL, launcher->pid, out);
		judged = true;
	}
	if (judged)
		return;
	from = rd_text("from %s", system->default_memlock_from ?: "default");
	/* No job launcher was found. If accelerators or the profile indicate jobs, they get the default limit of services. */
	if (in->user)
		rd_check_not_asked(out, "no job launcher runs here; user-rdma judges the limit of the user of --user");
	else if (in->host->n_gpus == 0 && !rd_profile_requires(in->profile, "memlock"))
		rd_check_skip(out, "no job launcher runs here, and no accelerator; --pid checks one process");
	else if (system->default_memlock.known == RD_OK)
		judge_limit("services", system->default_memlock.v, from, 0, out);
	else
		rd_check_unknown(out, "services",
				 "neither the defaults of systemd nor the limits of process 1 are readable");
}

static void run_maps(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_system *system = in->system;
	bool asked = false;

	if (!system || system->max_map_count.known != RD_OK)
		return rd_check_unknown(out, "vm.max_map_count", "/proc/sys/vm/max_map_count could not be read");
	for (size_t i = 0; i < system->n_launchers; i++) {
		const struct rd_launcher *launcher = &system->launchers[i];
		char subject[64];

		if (launcher->pid != system->asked_pid)
			continue;
		asked = true;
		snprintf(subject, sizeof(subject), "%.32s, process %d", launcher->comm, launcher->pid);
		if (launcher->maps.known != RD_OK)
			rd_check_unknown(out, subject, "/proc/PID/maps could not be read");
		else if (launcher->maps.v * 10 >= system->max_map_count.v * 9)
			rd_check_fail(out, subject,
				      rd_text("%" PRIu64 " mappings, limit %" PRIu64, launcher->maps.v,
					      system->max_map_count.v),
				      rd_text("well below the limit"));
		else
			rd_check_good(out, subject);
	}
	/* The kernel default is 65530: a lower value was set by an administrator. */
	if (system->max_map_count.v < 65530)
		rd_check_warn(out, "vm.max_map_count", rd_text("%" PRIu64, system->max_map_count.v),
			      rd_text("at least 65530, the kernel default"));
	else if (!asked)
		rd_check_good(out, "vm.max_map_count");
}

/* Units of storage daemons set a million; this is what a process has without one. */
#define FEW_FILES 4096

static void run_files(const struct rd_check_input *in, struct rd_check_out *out)
{
	rd_check_skip(out, "no storage daemon runs here; --pid checks one process");
	for (size_t i = 0; in->system && i < in->system->n_launchers; i++) {
		const struct rd_launcher *launcher = &in->system->launchers[i];
		bool asked = launcher->pid == in->system->asked_pid;

		if (asked || launcher->serves) {
			bool full = launcher->files.known == RD_OK && launcher->nofile.known == RD_OK &&
				    launcher->files.v * 10 >= launcher->nofile.v * 9;
			char subject[64];

			snprintf(subject, sizeof(subject), "%.32s, process %d", launcher->comm, launcher->pid);
			if (launcher->nofile.known != RD_OK || (asked && launcher->files.known != RD_OK))
				rd_check_unknown(out, subject, "/proc/PID/limits or /proc/PID/fd could not be read");
			else if (full || (launcher->serves && launcher->nofile.v <= FEW_FILES))
				rd_check_bad(
					out, full ? RD_SEV_CRITICAL : RD_SEV_WARNING, subject,
					full ? rd_text("%" PRIu64 " open files, limit %" PRIu64, launcher->files.v,
						       launcher->nofile.v) :
					       rd_text("limit %" PRIu64, launcher->nofile.v),
					launcher->serves ? rd_text("1048576, as the units of storage daemons set") :
							   rd_text("well above the number of open files"),
					rd_text("prlimit --pid %d --nofile=1048576:1048576\n"
						"# permanently: LimitNOFILE=1048576 in its unit (systemctl edit UNIT), then restart it",
						launcher->pid));
			else
				rd_check_good(out, subject);
		}
	}
}

/* Settings of memory that move or compact pages while jobs run. Defaults of many kernels: notes, no faults. */
static void run_tuning(const struct rd_check_input *in, struct rd_check_out *out)
{
	const char *defrag = in->system ? in->system->thp_defrag : NULL;

	rd_check_skip(out, "no accelerator");
	if (in->host->n_gpus == 0)
		return;
	if (defrag && strstr(defrag, "[always]"))
		rd_check_note(out, "transparent_hugepage/defrag",
			      rd_text("always: allocations wait until memory is compacted"),
			      rd_text("madvise or defer+madvise"),
			      rd_text("echo madvise >/sys/kernel/mm/transparent_hugepage/defrag\n"
				      "# until the next boot; permanently: transparent_hugepage_defrag in a tuned "
				      "profile, or a tmpfiles.d line"));
	if (in->host->numa_balancing.known == RD_OK && in->host->numa_balancing.v &&
	    strcmp(in->host->gpus[0].vendor ?: "", "AMD") == 0)
		rd_check_note(out, "kernel.numa_balancing", rd_text("1: pages of running jobs move between NUMA nodes"),
			      rd_text("0, which AMD's driver documentation asks for"),
			      rd_text("sysctl -w kernel.numa_balancing=0\n"
				      "# until the next boot; also in /etc/sysctl.d/"));
	rd_check_good(out, "memory settings");
}

const struct rd_check rd_check_open_files = {
	.id = "open-files",
	.title = "Limit of open files is low",
	.why = "connections, completion channels and event files fail with EMFILE; daemons abort under load",
	.fix = "# permanently: LimitNOFILE=1048576 in its unit (systemctl edit UNIT), then restart it",
	.needs = "/proc/PID/limits of storage daemons; with --pid also the number of its open files",
	.parts = { RD_PART_PROCESSES, 0 },
	.run = run_files,
};

const struct rd_check rd_check_memory_tuning = {
	.id = "memory-tuning",
	.title = "Memory is moved or compacted while jobs run",
	.why = "accelerators and NICs wait for the processes whose pages move",
	.fix = "sysctl -w kernel.numa_balancing=0",
	.needs = "transparent_hugepage/defrag in sysfs; kernel.numa_balancing",
	.parts = { 0, RD_PART_PCI },
	.run = run_tuning,
};

const struct rd_check rd_check_memlock = {
	.id = "memlock",
	.title = "RLIMIT_MEMLOCK of jobs is too low",
	.why = "queue pairs, completion queues and memory regions lock memory: creating one that exceeds the limit fails "
	       "with ENOMEM",
	.fix = "mkdir -p /etc/systemd/system.conf.d\n"
	       "printf '[Manager]\\nDefaultLimitMEMLOCK=infinity\\n' >/etc/systemd/system.conf.d/memlock.conf\n"
	       "systemctl daemon-reexec\n"
	       "# then restart the job launcher while no job runs\n"
	       "# or only for it: LimitMEMLOCK=infinity in its unit (systemctl edit slurmd)\n" ELSEWHERE,
	.needs = "/proc/PID/limits of job launchers; with --pid also the effective capabilities of the process; "
		 "otherwise the defaults of systemd or the limits of process 1",
	.parts = { RD_PART_PROCESSES, RD_PART_PCI },
	.run = run_memlock,
};

const struct rd_check rd_check_max_map_count = {
	.id = "max-map-count",
	.title = "Mapping limit is low (vm.max_map_count)",
	.why = "further mappings of memory or of a doorbell page fail with ENOMEM",
	.fix = "sysctl -w vm.max_map_count=1048576\n"
	       "# until the next boot; also in /etc/sysctl.d/",
	.needs = "/proc/sys/vm/max_map_count; with --pid also /proc/PID/maps",
	.parts = { 0, RD_PART_PCI | RD_PART_PROCESSES },
	.run = run_maps,
};

/* Huge pages. */

static void run_numa(const struct rd_check_input *in, struct rd_check_out *out)
{
	uint64_t most = 0;

	for (size_t i = 0; in->system && i < in->system->n_huge; i++)
		most = in->system->huge[i].total > most ? in->system->huge[i].total : most;
	if (most == 0 || in->system->n_huge < 2)
		return rd_check_skip(out, "no huge pages reserved, or one NUMA node");
	for (size_t i = 0; i < in->system->n_huge; i++) {
		const struct rd_huge *huge = &in->system->huge[i];
		const struct rd_numa *numa = rd_host_find_numa(in->host, huge->node);
		char subject[32];

		/* Memory of an accelerator (Grace), which has no processors. */
		if (numa && numa->cpulist && !*numa->cpulist)
			continue;

		snprintf(subject, sizeof(subject), "node%d", huge->node);
		/* Nodes may differ in memory; less than half of the largest share is uneven. */
		if (huge->total * 2 < most)
			rd_check_warn(out, subject, rd_text("%" PRIu64 " MiB of huge pages", huge->total >> 20),
				      rd_text("about %" PRIu64 " MiB, as on other nodes", most >> 20));
		else
			rd_check_good(out, subject);
	}
}

/* The device limits the number of pages: with 4 KiB pages at about 95 GB (ofiwg/libfabric, issue 9739). */
static void run_efa(const struct rd_check_input *in, struct rd_check_out *out)
{
	uint64_t total = 0, available = 0;
	bool any = false;

	for (size_t i = 0; i < in->host->n_ibdevs; i++)
		any |= in->host->ibdevs[i].driver && strcmp(in->host->ibdevs[i].driver, "efa") == 0;
	/* Trainium is not of a class of displays, so not among them. */
	if (!any || (in->host->n_gpus == 0 && in->system && in->system->modules_known &&
		     !rd_system_module(in->system, "neuron")))
		return rd_check_skip(out, any ? "no accelerator: buffers are small enough for 4 KiB pages" :
						"no EFA device");
	for (size_t i = 0; in->system && i < in->system->n_huge; i++) {
		total += in->system->huge[i].total;
		available += in->system->huge[i].free;
	}
	if (!in->system || in->system->n_huge == 0)
		rd_check_unknown(out, "huge pages", "no huge page counts of NUMA nodes in sysfs");
	else if (total == 0 || available == 0)
		rd_check_warn(out, "huge pages",
			      rd_text("%" PRIu64 " MiB of huge pages, %" PRIu64 " MiB free", total >> 20,
				      available >> 20),
			      rd_text("huge pages reserved, and some of them free"));
	else
		rd_check_good(out, "huge pages");
}

const struct rd_check rd_check_hugepages_numa = {
	.id = "hugepages-numa",
	.title = "Huge pages are unevenly distributed over NUMA nodes",
	.why = "processes on a node without huge pages get memory of the other socket, or none",
	.fix = "grep . /sys/devices/system/node/node*/hugepages/hugepages-*/nr_hugepages\n"
	       "# write as many pages to the file of this node as the others have, preferably at boot",
	.needs = "/sys/devices/system/node/nodeN/hugepages",
	.thorough = true,
	.parts = { RD_PART_NUMA, RD_PART_PCI | RD_PART_RDMA },
	.run = run_numa,
};

const struct rd_check rd_check_hugepages_efa = {
	.id = "hugepages-efa",
	.title = "EFA device without free huge pages",
	.why = "the device limits the number of pages: with 4 KiB pages, registrations fail with ENOMEM near 95 GB",
	.fix = "echo 5128 >/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages\n"
	       "# 10 GiB, until the next boot; permanently: hugepagesz=2M hugepages=5128 on the kernel command line\n"
	       "# a kernel with larger pages has other sizes in /sys/kernel/mm/hugepages: as many as make 10 GiB",
	.needs = "driver of RDMA devices, /sys/devices/system/node/nodeN/hugepages",
	.thorough = true,
	.parts = { 0, RD_PART_PCI | RD_PART_RDMA | RD_PART_NUMA },
	.run = run_efa,
};
