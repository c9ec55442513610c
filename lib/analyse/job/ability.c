// SPDX-License-Identifier: GPL-2.0-or-later
/* What stands between a process and RDMA, in the order in which a program meets it, and what to do about it. */
#include <ctype.h>
#include <inttypes.h>
#include <linux/capability.h>

#include "analyse/job/job.h"
#include "base/text.h"

/* Parts of the path of a control group, as the runtimes name them by default. Kubernetes and Slurm come first: they use a runtime themselves. */
static const struct {
	const char *part, *name;
} runtimes[] = {
	{ "kubepods", "Kubernetes" }, { "slurm", "Slurm" },	      { "docker", "docker" },
	{ "crio-", "CRI-O" },	      { "containerd", "containerd" }, { "libpod", "podman" },
};

const char *rd_job_runtime(const struct rd_job_proc *proc)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(runtimes) && proc->cgroup; i++)
		if (strstr(proc->cgroup, runtimes[i].part))
			return runtimes[i].name;
	return NULL;
}

/* NULL: as on the host. */
static const struct {
	const char *id, *host, *container, *kubernetes, *slurm;
} fixes[] = {
	{ "job-device-file", "modprobe -a ib_uverbs rdma_ucm\n# in a container: start it with --device=/dev/infiniband",
	  "# start the container with --device=/dev/infiniband",
	  "# give the pod the resource of the RDMA device plugin (resources.limits, rdma/NAME); it mounts the device files",
	  "# allow the device in gres.conf, or do not constrain devices (ConstrainDevices in cgroup.conf)" },
	{ "job-device-mode",
	  "chmod 0666 /dev/infiniband/uverbs*\n# permanently: rdma-core's udev rules, then udevadm trigger", NULL,
	  "# chmod 0666 /dev/infiniband/uverbs* on the node, or securityContext.supplementalGroups with the group of the file",
	  NULL },
	{ "job-device-rules", "# allow c 231:* rwm in the control group (DeviceAllow in its unit)",
	  "# start the container with --device=/dev/infiniband",
	  "# give the pod the resource of the RDMA device plugin (resources.limits, rdma/NAME)",
	  "# ConstrainDevices in cgroup.conf" },
	{ "job-namespace",
	  "rdma system show\n# rdma dev set DEVICE netns NAME, or rdma system set netns shared while no other namespace exists",
	  "# start the container with --network=host, or rdma dev set DEVICE netns NAME",
	  "# add the rdma CNI plugin to the network of the pod, or set the mode shared on the node", NULL },
	{ "job-gid", "# give the namespace an interface of DEVICE (macvlan, ipvlan, virtual function) with an address",
	  "# start the container with --network=host, or a macvlan network on the interface of DEVICE",
	  "# add a secondary network on DEVICE (k8s.v1.cni.cncf.io/networks), or hostNetwork: true", NULL },
	{ "job-port", "rdmadiag topo-check", NULL, NULL, NULL },
	{ "job-provider", "# install the providers of rdma-core (Debian: ibverbs-providers; Red Hat: libibverbs)",
	  "# install in the image the providers of rdma-core (Debian: ibverbs-providers; Red Hat: libibverbs)", NULL,
	  NULL },
	{ "job-provider-abi", "# install the provider library of the kernel's driver, from the same release",
	  "# install in the image the provider library of the kernel's driver, from the same release", NULL, NULL },
	{ "job-memlock",
	  "# prlimit --pid PID --memlock=unlimited; permanently: LimitMEMLOCK=infinity in the unit that starts it",
	  "# start the container with --ulimit memlock=-1:-1",
	  "# LimitMEMLOCK=infinity for containerd (or default_ulimits of CRI-O); capabilities.add: [IPC_LOCK] works only for root",
	  "# PropagateResourceLimitsExcept=MEMLOCK in slurm.conf, LimitMEMLOCK=infinity in the unit of slurmd" },
	{ "job-memlock-login",
	  "# prlimit --pid PID --memlock=unlimited; permanently: memlock in limits.conf (\"* - memlock unlimited\"), and a new login",
	  NULL, NULL, NULL },
	/* Slurm: where a step has it from, by its limits and those of slurmd (memlock_source). */
	{ "job-memlock-slurmd",
	  "# LimitMEMLOCK=infinity in the unit of slurmd (systemctl edit slurmd), then restart it; and PropagateResourceLimitsExcept=MEMLOCK in slurm.conf",
	  NULL, NULL, NULL },
	{ "job-memlock-propagated",
	  "# PropagateResourceLimitsExcept=MEMLOCK in slurm.conf, then scontrol reconfigure: the limit of the login node came with the job; else a soft memlock in "
	  "limits.conf (UsePAM=1), or ulimit -S -l in the job or a prolog",
	  NULL, NULL, NULL },
	{ "job-memlock-step",
	  "# memlock in limits.conf of this node, if slurm.conf has UsePAM=1 (\"* - memlock unlimited\"); else ulimit -l in the job or a TaskProlog",
	  NULL, NULL, NULL },
	{ "job-nofile",
	  "# prlimit --pid PID --nofile=1048576:1048576; permanently: LimitNOFILE in the unit that starts it",
	  "# start the container with --ulimit nofile=1048576:1048576",
	  "# LimitNOFILE for containerd, default_ulimits of CRI-O", NULL },
	{ "job-cgroup", "# raise this limit of its control group", NULL, "# raise resources.limits of the pod",
	  "# raise the request of the job" },
	{ "job-shm", "# mount -o remount,size=50% /dev/shm", "# start the container with --shm-size=16g, or --ipc=host",
	  "# mount a volume emptyDir with medium: Memory at /dev/shm", NULL },
	{ "job-gpu-memory", "modprobe nvidia_peermem", "# on the host: modprobe nvidia_peermem",
	  "# on the node: modprobe nvidia_peermem", NULL },
};

/* Where the limit of locked memory of a process comes from, as a row of `fixes`. Slurm propagates the soft limit alone; what lowers the hard one as well
 * is limits.conf, or a command of the job. Those who log in by ssh are adopted by step "extern". */
static const char *memlock_source(const struct rd_job_proc *proc, bool slurm)
{
	if (slurm && proc->cgroup && strstr(proc->cgroup, "/step_extern"))
		return "job-memlock-login";
	if (slurm && proc->memlock.known == RD_OK && proc->slurmd_memlock.known == RD_OK) {
		if (proc->slurmd_memlock.v <= proc->memlock.v)
			return "job-memlock-slurmd";
		if (proc->memlock_hard.known == RD_OK && proc->slurmd_memlock_hard.known == RD_OK)
			return proc->memlock_hard.v < proc->slurmd_memlock_hard.v ? "job-memlock-step" :
										    "job-memlock-propagated";
	}
	/* A login has the limit of pam_limits, not of a unit. */
	if (!rd_job_runtime(proc) && (proc->memlock_from ? strcmp(proc->memlock_from, "limits.conf") == 0 :
							   proc->cgroup && strstr(proc->cgroup, "user.slice")))
		return "job-memlock-login";
	return "job-memlock";
}

char *rd_job_fix(const struct rd_job_proc *proc, const char *id)
{
	const char *runtime = rd_job_runtime(proc), *text = NULL;
	bool slurm = runtime && strcmp(runtime, "Slurm") == 0, pod = runtime && strcmp(runtime, "Kubernetes") == 0;

	if (strcmp(id, "job-memlock") == 0)
		id = memlock_source(proc, slurm);
	for (size_t i = 0; i < RD_ARRAY_SIZE(fixes); i++) {
		if (strcmp(fixes[i].id, id) != 0)
			continue;
		text = fixes[i].host;
		if ((runtime && !slurm) || proc->mnt_other)
			text = fixes[i].container ? fixes[i].container : text;
		if (pod && fixes[i].kubernetes)
			text = fixes[i].kubernetes;
		if (slurm && fixes[i].slurm)
			text = fixes[i].slurm;
	}
	return rd_dup_if(text);
}

/* Below this limit of locked memory no queue pair with its completion queue can be created, below the other one no buffers of a job
 * can be registered (as in the rule "memlock"). */
#define MEMLOCK_NONE (UINT64_C(1) << 20)
#define MEMLOCK_FEW (UINT64_C(64) << 20)
#define SHM_DEFAULT (UINT64_C(64) << 20) /* of a container without a setting */

static const struct rd_finding fine = { .id = "job-device", .title = "", .severity = RD_SEV_OK };

/* An obstacle, or what may be one; without its subject. Takes ownership of `observed`. */
static struct rd_finding made(const char *id, enum rd_severity severity, char *observed, const char *expected)
{
	return (struct rd_finding){
		.id = id, .title = "", .severity = severity, .observed = observed, .expected = rd_dup_if(expected)
	};
}

static void add_result(struct rd_findings *can, const char *subject, struct rd_finding finding)
{
	finding.subject = rd_dup(subject);
	rd_finding_add(can, &finding);
}

/* libibverbs' provider of each driver: by the number that RDMA netlink reports (enum rdma_driver_id), else by the name of the PCI driver up to "_".
 * `min`, `max`: versions of the kernel's interface that the one of rdma-core supports, all its releases up to 59 (providers/, match_min_abi_version and
 * match_max_abi_version); 0: not compared. */
static const struct {
	uint32_t id;
	const char *driver, *provider;
	uint32_t min, max;
} providers[] = {
	{ 1, "mlx5", "mlx5", 1, 1 },	   { 2, "mlx4", "mlx4", 2, 4 },	      { 4, "cxgb4", "cxgb4", 0, 0 },
	{ 6, "bnxt", "bnxt_re", 1, 1 },	   { 9, "ice", "irdma", 0, 5 },	      { 9, "i40e", "irdma", 0, 5 },
	{ 9, "idpf", "irdma", 0, 5 },	   { 10, "vmw", "vmw_pvrdma", 0, 0 }, { 11, "qede", "qedr", 8, 8 },
	{ 12, "hns3", "hns", 0, 0 },	   { 14, "rxe", "rxe", 1, 2 },	      { 15, "hfi1", "hfi1verbs", 0, 0 },
	{ 16, "qib", "ipathverbs", 0, 0 }, { 17, "efa", "efa", 1, 1 },	      { 18, "siw", "siw", 1, 1 },
	{ 19, "erdma", "erdma", 0, 1 },	   { 20, "mana", "mana", 1, 1 },      { 21, "ionic", "ionic", 1, 1 },
};

static int provider_row(const struct rd_job_uverbs *uverbs, const struct rd_host *host)
{
	int dev = uverbs->ibdev ? rd_host_find_ibdev(host, uverbs->ibdev) : -1;
	const char *driver = dev >= 0 && !host->ibdevs[dev].parent_netdev ? host->ibdevs[dev].driver : NULL;

	for (size_t i = 0; i < RD_ARRAY_SIZE(providers); i++)
		if ((uverbs->driver.known == RD_OK && uverbs->driver.v == providers[i].id) ||
		    (uverbs->driver.known != RD_OK && driver && strcspn(driver, "_") == strlen(providers[i].driver) &&
		     strncmp(driver, providers[i].driver, strlen(providers[i].driver)) == 0))
			return (int)i;
	return -1;
}

/* Tags of acl(5), as system.posix_acl_access has them. */
enum { ACL_USER = 2, ACL_GROUP_OBJ = 4, ACL_GROUP = 8, ACL_MASK = 16, ACL_OTHER = 32 };

/* Whether an access list allows to open a file for reading and writing: 1, 0; -1: unknown. */
static int acl_allows(const struct rd_job_proc *proc, const struct rd_job_node *node)
{
	uint64_t user = 0, mask = 7, other = 0, entry[3];
	bool named = false, member = false, granted = false;

	for (const char *at = node->acl; at;) {
		_cleanup_free_ char *part = rd_next_part(&at, ',');
		const char *from = part;

		for (char *c = part; c && *c; c++)
			*c = *c == '.' ? ' ' : *c;
		if (!part || rd_take_uints(&from, RD_DECIMAL, entry, 3) != 3)
			return -1;
		if (entry[0] == ACL_USER && entry[2] == proc->uid.v)
			named = true, user = entry[1];
		mask = entry[0] == ACL_MASK ? entry[1] : mask;
		other = entry[0] == ACL_OTHER ? entry[1] : other;
		if ((entry[0] == ACL_GROUP_OBJ && rd_job_in_group(proc, node->gid)) ||
		    (entry[0] == ACL_GROUP && rd_job_in_group(proc, entry[2])))
			member = true, granted |= (entry[1] & 6) == 6;
	}
	return ((named ? user & mask : member ? mask & (granted ? 6 : 0) : other) & 6) == 6;
}

/* Whether permissions allow to open a file for reading and writing: 1, 0; -1: unknown. */
static int mode_allows(const struct rd_job_proc *proc, const struct rd_job_node *node)
{
	unsigned shift;

	if (node->mode.known != RD_OK)
		return -1;
	if ((node->mode.v & 0666) == 0666 && !(node->acl && *node->acl))
		return 1;
	if (proc->uid.known != RD_OK || proc->caps.known != RD_OK || proc->user_other)
		return -1;
	if (proc->caps.v >> CAP_DAC_OVERRIDE & 1)
		return 1;
	if (node->acl && (!*node->acl || proc->uid.v != node->uid))
		return acl_allows(proc, node);
	shift = proc->uid.v == node->uid ? 6 : rd_job_in_group(proc, node->gid) ? 3 : 0;
	return (node->mode.v >> shift & 6) == 6;
}

/* "c 231:* rwm" and "a *:* rwm" in devices.list of control groups, version 1: 1, 0; -1: unknown. */
static int rules_allow(const char *rules, const char *number)
{
	unsigned n = (unsigned)strcspn(number, ":");

	for (const char *line = rules; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		_cleanup_free_ char *copy = rd_text("%.*s", (int)strcspn(line, "\n"), line);
		char *rest = copy, *words[3];

		if (rd_words(&rest, words, 3) != 3 || !strchr(words[2], 'r') || !strchr(words[2], 'w'))
			continue;
		if (*words[0] == 'a')
			return 1;
		if (*words[0] == 'c' && (strcmp(words[1], number) == 0 || strcmp(words[1], "*:*") == 0 ||
					 (strncmp(words[1], number, n) == 0 && strcmp(words[1] + n, ":*") == 0)))
			return 1;
	}
	return 0;
}

/* NULL: not among the files that were looked at. */
static const struct rd_job_node *find_node(const struct rd_job_proc *proc, const char *name)
{
	for (size_t i = 0; i < proc->n_nodes; i++)
		if (strcmp(proc->nodes[i].name, name) == 0)
			return &proc->nodes[i];
	return NULL;
}

/* Whether it can open a device file. `number`: as the kernel has it; NULL: unknown. `rule`: what allows it in a control group. */
static struct rd_finding judge_file(const struct rd_job_proc *proc, const char *dir, const char *name,
				    const char *number, const char *rule)
{
	const struct rd_job_node *node = find_node(proc, name);
	int allowed = node ? mode_allows(proc, node) : -1;

	if (rd_job_count_open(proc, name))
		return fine;
	if (!node || node->unknown)
		return made("job-device-file", RD_SEV_UNKNOWN,
			    rd_text("%s/%s of the process could not be read", dir, name), NULL);
	if (!node->there)
		return made("job-device-file", RD_SEV_CRITICAL, rd_text("%s/%s is missing", dir, name),
			    "a character device");
	if (node->number && number && strcmp(node->number, number) != 0)
		return made("job-device-file", RD_SEV_CRITICAL, rd_text("%s/%s has number %s", dir, name, node->number),
			    number);
	if (allowed == 0)
		return made("job-device-mode", RD_SEV_CRITICAL,
			    rd_text("%s/%s has mode %04o, owner %u, group %u%s; the process has uid %u", dir, name,
				    node->mode.v, node->uid, node->gid, node->acl ? ", and an access list" : "",
				    proc->uid.v),
			    "0666, as rdma-core's udev rule sets");
	if (proc->device_rules && node->number && !rules_allow(proc->device_rules, node->number))
		return made("job-device-rules", RD_SEV_CRITICAL,
			    rd_text("the control group does not allow device %s", node->number), rule);
	if (allowed < 0)
		return made("job-device-mode", RD_SEV_UNKNOWN,
			    rd_text("whether permissions allow to open %s/%s is unknown%s", dir, name,
				    node->acl && !*node->acl ? ": its owner or access list was not read" : ""),
			    NULL);
	return fine;
}

/* Why a device file of an accelerator cannot be opened; NULL: it can. */
static char *refusal(const struct rd_job_proc *proc, const char *dir, const char *name)
{
	struct rd_finding finding = find_node(proc, name) ? judge_file(proc, dir, name, NULL, NULL) : fine;

	if (!find_node(proc, name) && !rd_job_count_open(proc, name))
		finding.observed = rd_text("%s/%s is missing", dir, name);
	free(finding.expected);
	return finding.observed;
}

/* A job without accelerators is as healthy as one that is given some of them: what it lacks is a note. */
static void judge_accelerators(const struct rd_job_input *in, const struct rd_job_proc *proc, struct rd_findings *can)
{
	static const char *const kinds[][2] = {
		{ "nvidia", "/dev" }, { "renderD", "/dev/dri" }, { "accel", "/dev/accel" }, { "hl", "/dev" }
	};
	_cleanup_free_ char *first = NULL, *lacks = NULL;
	size_t usable = 0, files = 0, all = 0;

	for (size_t g = 0; g < in->host->n_gpus; g++)
		all += rd_gpu_is_peer(in->host, g);
	for (size_t i = 0; i < proc->n_nodes; i++)
		for (size_t k = 0; k < RD_ARRAY_SIZE(kinds); k++) {
			const char *name = proc->nodes[i].name;
			_cleanup_free_ char *why = NULL;

			if (strncmp(name, kinds[k][0], strlen(kinds[k][0])) != 0 ||
			    !isdigit((unsigned char)name[strlen(kinds[k][0])]))
				continue;
			why = refusal(proc, kinds[k][1], name);
			files++;
			usable += !why;
			if (!why && k == 0 && !lacks)
				lacks = refusal(proc, "/dev", "nvidiactl") ?: refusal(proc, "/dev", "nvidia-uvm");
			if (!first)
				first = RD_TAKE(why);
		}
	if (!find_node(proc, "nvidiactl") || files + all == 0)
		return;
	add_result(can, "accelerators",
		   made("job-accelerator", usable && !lacks ? RD_SEV_OK : RD_SEV_NOTE,
			files == 0 ? rd_text("none of the %zu of this host has a device file in its root", all) :
			lacks	   ? rd_text("%s, without which CUDA does not start", lacks) :
			usable	   ? rd_text("%zu of %zu device files can be opened", usable, files) :
				     rd_text("none of %zu device files can be opened: %s", files, first),
			NULL));
}

/* A copy that a program brings along is in another directory. NULL: none is mapped. */
static const char *mapped_lib(const struct rd_job_proc *proc, const char *name)
{
	_cleanup_free_ char *part = rd_text("/lib%s", name);

	for (size_t i = 0; i < proc->libs.n; i++)
		if (strstr(proc->libs.v[i], part))
			return proc->libs.v[i];
	return NULL;
}

static struct rd_finding judge_provider(const struct rd_job_input *in, const struct rd_job_proc *proc,
					const struct rd_job_uverbs *uverbs)
{
	int row = provider_row(uverbs, in->host);
	const char *name = row < 0 ? NULL : providers[row].provider;
	const struct rd_job_provider *found = NULL;
	const char *own = mapped_lib(proc, "ibverbs");

	if (rd_job_count_open(proc, uverbs->name) || (name && mapped_lib(proc, name)))
		return fine;
	for (size_t i = 0; i < proc->n_providers && name && !found; i++)
		found = strcmp(proc->providers[i].name, name) == 0 ? &proc->providers[i] : NULL;
	if (found && found->min.known == RD_OK && uverbs->abi.known == RD_OK) {
		if (uverbs->abi.v >= found->min.v && uverbs->abi.v <= found->max.v)
			return fine;
		return made("job-provider-abi", RD_SEV_CRITICAL,
			    rd_text("kernel interface version %u; its libibverbs provider %s supports %u to %u",
				    uverbs->abi.v, name, found->min.v, found->max.v),
			    "the provider of the kernel's driver");
	}
	if (row >= 0 && providers[row].max && uverbs->abi.known == RD_OK &&
	    (uverbs->abi.v < providers[row].min || uverbs->abi.v > providers[row].max))
		return made(
			"job-provider-abi", RD_SEV_UNKNOWN,
			rd_text("kernel interface version %u; rdma-core's provider %s supports %u to %u, so only that of the "
				"driver's vendor fits; which is installed was not read",
				uverbs->abi.v, name, providers[row].min, providers[row].max),
			NULL);
	if (found && proc->providers_known)
		return fine;
	own = own && strncmp(own, "/usr/lib", 8) != 0 && strncmp(own, "/lib", 4) != 0 ? own : NULL;
	if (!name || !proc->providers_known || own)
		return made("job-provider", RD_SEV_UNKNOWN,
			    rd_dup(!name ? "which provider its driver has is unknown" :
				   own	 ? "it brings its own libibverbs, whose providers were not read" :
					   "the directories of libibverbs were not read"),
			    NULL);
	if (proc->n_providers == 0)
		return made("job-provider", RD_SEV_CRITICAL, rd_dup("no libibverbs in the directories of its root"),
			    "libibverbs and its provider");
	return made("job-provider", RD_SEV_CRITICAL, rd_text("no libibverbs provider for %s", name),
		    "its provider library");
}

/* Whether one of the port's GIDs belongs to the network namespace of the process: 1, 0; -1: unknown. */
static int has_gid(const struct rd_job_proc *proc, const struct rd_port *port)
{
	for (size_t g = 0; g < port->n_gids; g++) {
		if (!proc->net_other && port->gids[g].netdev)
			return 1;
		for (size_t i = 0; i < proc->n_addrs; i++)
			if (memcmp(proc->addrs[i].remote, port->gids[g].raw, 16) == 0)
				return 1;
	}
	if (!port->gids_known || (proc->net_other && !(rd_job_knows(proc, "addr"))))
		return -1;
	return port->n_gids == 0 || proc->net_other || port->foreign_gids ? 0 : -1;
}

static struct rd_finding judge_ports(const struct rd_job_input *in, const struct rd_job_proc *proc,
				     const struct rd_job_uverbs *uverbs)
{
	int dev = uverbs->ibdev ? rd_host_find_ibdev(in->host, uverbs->ibdev) : -1, gid = 0;
	bool active = false, unknown = dev < 0 || in->host->ibdevs[dev].ports_unread;

	for (unsigned p = 0; dev >= 0 && p < in->host->ibdevs[dev].n_ports; p++) {
		const struct rd_port *port = &in->host->ports[in->host->ibdevs[dev].first_port + (int)p];
		int own = !rd_port_is_roce(in->host, port) ? 1 : has_gid(proc, port);

		unknown |= !port->state;
		if (!rd_port_active(port))
			continue;
		gid = !active || own == 1 || gid == 0 ? own : gid;
		active = true;
	}
	if (!active && unknown)
		return made("job-port", RD_SEV_UNKNOWN, rd_dup("state of its ports not reported"), NULL);
	if (!active)
		return made("job-port", RD_SEV_CRITICAL, rd_dup("no port is ACTIVE"), "ACTIVE");
	if (gid == 0)
		return made("job-gid", RD_SEV_CRITICAL, rd_dup("no GID of the process's network namespace"),
			    "an interface of the port, with an address, in that namespace");
	if (gid < 0)
		return made("job-gid", RD_SEV_UNKNOWN,
			    rd_dup("its GIDs or the addresses of the namespace were not read"), NULL);
	return fine;
}

/* The first obstacle of a device; RD_SEV_OK: none. What is certain comes before what is unknown. */
static struct rd_finding judge_device(const struct rd_job_input *in, const struct rd_job_proc *proc,
				      const struct rd_job_uverbs *uverbs)
{
	struct rd_finding all[3], *first = &all[0];

	if (uverbs->ibdev && rd_job_knows(proc, "rdma") && rd_job_knows(proc, "net") &&
	    !rd_texts_has(&proc->rdma, uverbs->ibdev))
		return made("job-namespace", RD_SEV_CRITICAL, rd_dup("not in the network namespace of the process"),
			    "rdma system netns shared, or the device in that namespace");
	all[0] = judge_file(proc, "/dev/infiniband", uverbs->name, uverbs->number, "c 231:* rwm");
	all[1] = judge_provider(in, proc, uverbs);
	all[2] = judge_ports(in, proc, uverbs);
	for (size_t i = 1; i < RD_ARRAY_SIZE(all); i++)
		/* Of two that are unknown, a provider says more. */
		if (all[i].severity > first->severity ||
		    (i == 1 && all[i].severity == RD_SEV_UNKNOWN && first->severity == RD_SEV_UNKNOWN))
			first = &all[i];
	for (size_t i = 0; i < RD_ARRAY_SIZE(all); i++)
		if (&all[i] != first)
			RD_FREE(all[i].observed, all[i].expected);
	return *first;
}

/* Devices of the process's network namespace that sysfs does not show, which is mounted for another one: in exclusive mode their files and ports are
 * unknown here. Returns how many. */
static size_t add_hidden(const struct rd_job_input *in, struct rd_job_view *view)
{
	const struct rd_res *res = in->qps ? in->qps->res : NULL;
	const struct rd_job_proc *proc = view->proc;
	bool apart = rd_job_is_apart(in, proc) || (res && res->netns_shared.known == RD_OK && !res->netns_shared.v);
	size_t n = 0;

	for (size_t i = 0; i < proc->rdma.n && apart; i++) {
		bool shown = false;

		for (size_t k = 0; k < in->kernel->n; k++)
			shown |= in->kernel->v[k].ibdev && strcmp(in->kernel->v[k].ibdev, proc->rdma.v[i]) == 0;
		if (shown)
			continue;
		add_result(&view->can, proc->rdma.v[i],
			   made("job-namespace", RD_SEV_UNKNOWN,
				rd_dup("in the network namespace of the process, and not in that of /sys"), NULL));
		n++;
	}
	return n;
}

static void judge_devices(const struct rd_job_input *in, struct rd_job_view *view)
{
	size_t usable = 0, unknown = add_hidden(in, view), hidden = unknown;

	for (size_t i = 0; i < in->kernel->n; i++) {
		const struct rd_job_uverbs *uverbs = &in->kernel->v[i];
		struct rd_finding finding = judge_device(in, view->proc, uverbs);

		usable += finding.severity == RD_SEV_OK;
		unknown += finding.severity == RD_SEV_UNKNOWN;
		add_result(&view->can, uverbs->ibdev ?: uverbs->name, finding);
	}
	/* A container is given some of the devices that sysfs shows. */
	for (size_t i = 0; i < view->can.n && (usable || unknown); i++)
		if (view->can.v[i].severity == RD_SEV_CRITICAL)
			view->can.v[i].severity = RD_SEV_SKIP;
	if (usable || (in->kernel->known && !unknown))
		RD_SET(view->able, usable > 0);
	if (in->kernel->n == 0 && !hidden)
		add_result(&view->can, "host",
			   in->kernel->known ? made("job-device", RD_SEV_CRITICAL, rd_dup("no RDMA device"), NULL) :
					       made("job-device", RD_SEV_UNKNOWN,
						    rd_dup("/sys/class/infiniband_verbs could not be read"), NULL));
}

static char *size_text(uint64_t bytes)
{
	return bytes % (1 << 20) ? rd_text("%" PRIu64 " KiB", bytes >> 10) : rd_text("%" PRIu64 " MiB", bytes >> 20);
}

static void judge_memlock(const struct rd_job_proc *proc, struct rd_findings *can)
{
	_cleanup_free_ char *limit = size_text(proc->memlock.v);
	_cleanup_free_ char *locked = proc->locked.known == RD_OK ? size_text(proc->locked.v) : NULL;
	_cleanup_free_ char *slurmd = proc->slurmd_memlock.known != RD_OK    ? NULL :
				      proc->slurmd_memlock.v == RD_UNLIMITED ? rd_dup("no limit") :
									       size_text(proc->slurmd_memlock.v);
	bool free_of_it = proc->ipc_lock.known == RD_OK && proc->ipc_lock.v;
	bool full = locked && proc->locked.v >= proc->memlock.v / 10 * 9;

	if (proc->memlock.known != RD_OK || (proc->ipc_lock.known != RD_OK && proc->memlock.v != RD_UNLIMITED))
		add_result(can, "locked memory",
			   made("job-memlock", RD_SEV_UNKNOWN,
				rd_dup(proc->memlock_from ?: "limit or capabilities not readable"), NULL));
	else if (free_of_it || proc->memlock.v == RD_UNLIMITED)
		add_result(can, "locked memory", made("job-memlock", RD_SEV_OK, NULL, NULL));
	else
		add_result(
			can, "locked memory",
			made("job-memlock", full || proc->memlock.v <= MEMLOCK_NONE ? RD_SEV_CRITICAL : RD_SEV_WARNING,
			     rd_text("limit %s%s%s%s%s%s%s, and CAP_IPC_LOCK is not effective%s", limit,
				     proc->memlock_from ? ", from " : "", proc->memlock_from ?: "",
				     slurmd ? ", slurmd has " : "", slurmd ?: "", locked ? ", locked " : "",
				     locked ?: "", proc->memlock.v <= MEMLOCK_FEW ? "" : "; large buffers do not fit"),
			     "unlimited"));
}

static void judge_limits(const struct rd_job_proc *proc, struct rd_findings *can)
{
	if (proc->fds.known == RD_OK && proc->nofile.known == RD_OK) {
		bool full = proc->fds.v * 10 >= proc->nofile.v / 10 * 90 && proc->nofile.v != RD_UNLIMITED;

		add_result(can, "open files",
			   made("job-nofile", full ? RD_SEV_CRITICAL : RD_SEV_OK,
				rd_text("%" PRIu64 " open, limit %" PRIu64, proc->fds.v, proc->nofile.v),
				full ? "well above the number of open files" : NULL));
	}
	for (size_t i = 0; i < proc->n_limits; i++) {
		const struct rd_job_limit *limit = &proc->limits[i];
		bool rdma = strstr(limit->name, " hca_");

		if (limit->now < limit->max - limit->max / 10 || (limit->max == 0 && !rdma))
			continue;
		add_result(can, limit->name,
			   made("job-cgroup", rdma && limit->now >= limit->max ? RD_SEV_CRITICAL : RD_SEV_WARNING,
				rd_text("%" PRIu64 " of %" PRIu64 " in use", limit->now, limit->max), "room"));
	}
}

/* Objects of one copy of libibverbs mean nothing to another one, and each looks for providers where it was built to. */
static void judge_copies(const struct rd_job_proc *proc, struct rd_findings *can)
{
	const char *first = NULL;

	for (size_t i = 0; i < proc->libs.n; i++) {
		const char *path = proc->libs.v[i], *name = strrchr(path, '/');

		/* A wheel's own has a hash in its name. */
		if (!name || strncmp(name, "/libibverbs", 11) != 0 || !strchr(".-", name[11]) ||
		    (first && strcmp(first, path) == 0))
			continue;
		if (first)
			return add_result(
				can, "libibverbs",
				made("job-libibverbs", RD_SEV_NOTE,
				     rd_text("mapped twice, %s and %s: each finds its own providers", first, path),
				     "one copy"));
		first = path;
	}
}

static void judge_rest(const struct rd_job_input *in, const struct rd_job_proc *proc, struct rd_findings *can)
{
	const struct rd_job_node *cm = find_node(proc, "rdma_cm");
	bool missing = cm && !cm->there && !cm->unknown;

	if (in->kernel->n > 0 && (missing || (cm && cm->there && mode_allows(proc, cm) == 0)))
		add_result(can, "rdma_cm",
			   made("job-rdma-cm", RD_SEV_NOTE,
				rd_text("/dev/infiniband/rdma_cm %s: programs that connect by librdmacm fail",
					missing ? "is missing" : "must not be opened"),
				NULL));
	if (proc->shm.known == RD_OK && proc->shm.v > 0 && proc->shm.v <= SHM_DEFAULT)
		add_result(can, "/dev/shm",
			   made("job-shm", RD_SEV_WARNING, size_text(proc->shm.v),
				"more than the 64 MiB of a container without a setting"));
	if (proc->mnt_other && !proc->device_rules && rd_job_count_open(proc, "uverbs") == 0)
		add_result(
			can, "control group",
			made("job-device-rules", RD_SEV_NOTE,
			     rd_dup("its device rules (version 2) are a program that cannot be read: an open may fail with EPERM"),
			     NULL));
	if (proc->seccomp)
		add_result(can, "seccomp",
			   made("job-seccomp", RD_SEV_NOTE,
				rd_dup("a filter is active; what it forbids cannot be read"), NULL));
	if (in->system && in->system->modules_known && rd_job_count_open(proc, "nvidia") &&
	    !rd_gives_peermem(in->system) && !rd_has_dmabuf(in->system))
		add_result(can, "accelerator memory",
			   made("job-gpu-memory", RD_SEV_WARNING,
				rd_dup("neither nvidia_peermem nor DMA-BUF: transfers are copied through host memory"),
				"modprobe nvidia_peermem, or the open driver with DMA-BUF"));
}

void rd_job_judge_ability(const struct rd_job_input *in, struct rd_job_view *view)
{
	enum rd_severity worst = RD_SEV_UNKNOWN;

	judge_devices(in, view);
	judge_memlock(view->proc, &view->can);
	judge_limits(view->proc, &view->can);
	judge_copies(view->proc, &view->can);
	judge_rest(in, view->proc, &view->can);
	judge_accelerators(in, view->proc, &view->can);
	rd_job_judge_versions(in, view);
	for (size_t i = 0; i < view->can.n; i++) {
		struct rd_finding *finding = &view->can.v[i];

		if (!view->obstacle && view->able.known != RD_OK && finding->severity == RD_SEV_UNKNOWN)
			view->obstacle = finding;
		if (finding->severity > worst) {
			worst = finding->severity;
			view->obstacle = finding;
		}
		if (finding->severity >= RD_SEV_WARNING)
			finding->fix = rd_job_fix(view->proc, finding->id);
	}
}
