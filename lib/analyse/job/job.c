// SPDX-License-Identifier: GPL-2.0-or-later
/* Processes as users of RDMA: what stands between one and RDMA, in the order in which a program meets it, and what to do about it; which
 * carrier its variables request, and what carries its traffic. */
#include "analyse/job/job.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <strings.h>

#include "analyse/qp/qp.h"
#include "base/buf.h"
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

char *rd_job_fix(const struct rd_job_proc *proc, const char *id)
{
	const char *runtime = rd_job_runtime(proc), *text = NULL;
	bool slurm = runtime && strcmp(runtime, "Slurm") == 0, pod = runtime && strcmp(runtime, "Kubernetes") == 0;

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

static struct rd_finding judge_node(const struct rd_job_proc *proc, const struct rd_job_uverbs *uverbs)
{
	const struct rd_job_node *node = find_node(proc, uverbs->name);
	const char *number = node ? node->number : NULL;
	int allowed = node ? mode_allows(proc, node) : -1;

	if (rd_job_count_open(proc, uverbs->name))
		return fine;
	if (!node || node->unknown)
		return made("job-device-file", RD_SEV_UNKNOWN,
			    rd_text("/dev/infiniband/%s of the process could not be read", uverbs->name), NULL);
	if (!node->there)
		return made("job-device-file", RD_SEV_CRITICAL, rd_text("/dev/infiniband/%s is missing", uverbs->name),
			    "a character device");
	if (number && uverbs->number && strcmp(number, uverbs->number) != 0)
		return made("job-device-file", RD_SEV_CRITICAL,
			    rd_text("/dev/infiniband/%s has number %s", uverbs->name, number), uverbs->number);
	if (allowed == 0)
		return made("job-device-mode", RD_SEV_CRITICAL,
			    rd_text("/dev/infiniband/%s has mode %04o, owner %u, group %u%s; the process has uid %u",
				    uverbs->name, node->mode.v, node->uid, node->gid,
				    node->acl ? ", and an access list" : "", proc->uid.v),
			    "0666, as rdma-core's udev rule sets");
	if (proc->device_rules && number && !rules_allow(proc->device_rules, number))
		return made("job-device-rules", RD_SEV_CRITICAL,
			    rd_text("the control group does not allow device %s", number), "c 231:* rwm");
	if (allowed < 0)
		return made("job-device-mode", RD_SEV_UNKNOWN,
			    rd_text("whether permissions allow to open /dev/infiniband/%s is unknown%s", uverbs->name,
				    node->acl && !*node->acl ? ": its owner or access list was not read" : ""),
			    NULL);
	return fine;
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
	all[0] = judge_node(proc, uverbs);
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

static void judge_devices(const struct rd_job_input *in, struct rd_job_view *view)
{
	size_t usable = 0, unknown = 0;

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
	if (in->kernel->n == 0)
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
	bool free_of_it = proc->ipc_lock.known == RD_OK && proc->ipc_lock.v;
	bool full = locked && proc->locked.v >= proc->memlock.v / 10 * 9;

	if (proc->memlock.known != RD_OK || (proc->ipc_lock.known != RD_OK && proc->memlock.v != RD_UNLIMITED))
		add_result(can, "locked memory",
			   made("job-memlock", RD_SEV_UNKNOWN,
				rd_dup(proc->memlock_from ?: "limit or capabilities not readable"), NULL));
	else if (free_of_it || proc->memlock.v == RD_UNLIMITED)
		add_result(can, "locked memory", made("job-memlock", RD_SEV_OK, NULL, NULL));
	else
		add_result(can, "locked memory",
			   made("job-memlock",
				full || proc->memlock.v <= MEMLOCK_NONE ? RD_SEV_CRITICAL : RD_SEV_WARNING,
				rd_text("limit %s%s%s%s%s, and CAP_IPC_LOCK is not effective%s", limit,
					proc->memlock_from ? ", from " : "", proc->memlock_from ?: "",
					locked ? ", locked " : "", locked ?: "",
					proc->memlock.v <= MEMLOCK_FEW ? "" : "; large buffers do not fit"),
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

		if (!name || strncmp(name, "/libibverbs.so", 14) != 0 || (first && strcmp(first, path) == 0))
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

/* Fills `can`, `able` and `obstacle`. */
static void judge_ability(const struct rd_job_input *in, struct rd_job_view *view)
{
	enum rd_severity worst = RD_SEV_UNKNOWN;

	judge_devices(in, view);
	judge_memlock(view->proc, &view->can);
	judge_limits(view->proc, &view->can);
	judge_copies(view->proc, &view->can);
	judge_rest(in, view->proc, &view->can);
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

/*
 * The first row that matches decides. `library`: beginning of a file name that must be mapped, if mappings were read; NULL: any.
 * `value`: a shell pattern for the whole value or, with `part`, for one of its elements, separated by commas. Sources: NCCL 2.30 (net.cc, init.cc),
 * UCX 1.19 (ucp_context.c, aliases "ib", "rc", "ud", "dc"), libfabric 2 (fabric.c), Open MPI 5 (mca/pml, mca/btl), MVAPICH2 2.3 (ibv_param.c), Intel
 * MPI 2021 (reference), NVSHMEM 3.5, Mooncake (transfer_engine).
 */
static const struct {
	const char *name, *value, *library;
	bool part;
	enum rd_job_asked asks;
	const char *with; /* a variable that has to be set, too; NULL: none */
} rows[] = {
	{ "NCCL_IB_DISABLE", "[1-9]*", "lib?ccl", false, RD_JOB_ASKED_TCP, NULL },
	{ "NCCL_NET", "[Ss]ocket", "lib?ccl", false, RD_JOB_ASKED_TCP, NULL },
	{ "NCCL_NET_PLUGIN", "none", NULL, false, RD_JOB_ASKED_NOTHING, NULL },
	{ "NCCL_NET", "[Ii][Bb]", "lib?ccl", false, RD_JOB_ASKED_RDMA, NULL },
	{ "NCCL_NET", "AWS*", "lib?ccl", false, RD_JOB_ASKED_RDMA, NULL },
	{ "NCCL_IB_HCA", "^*", "lib?ccl", false, RD_JOB_ASKED_NOTHING, NULL },
	{ "NCCL_IB_HCA", "?*", "lib?ccl", false, RD_JOB_ASKED_RDMA, NULL },
	{ "UCX_TLS", "^ib", "libuc", true, RD_JOB_ASKED_TCP, NULL },
	{ "UCX_TLS", "^*", "libuc", false, RD_JOB_ASKED_NOTHING, NULL },
	{ "UCX_TLS", "all", "libuc", true, RD_JOB_ASKED_NOTHING, NULL },
	{ "UCX_TLS", "rc*", "libuc", true, RD_JOB_ASKED_RDMA, NULL },
	{ "UCX_TLS", "dc*", "libuc", true, RD_JOB_ASKED_RDMA, NULL },
	{ "UCX_TLS", "ud*", "libuc", true, RD_JOB_ASKED_RDMA, NULL },
	{ "UCX_TLS", "ib", "libuc", true, RD_JOB_ASKED_RDMA, NULL },
	{ "UCX_TLS", "srd", "libuc", true, RD_JOB_ASKED_RDMA, NULL },
	{ "UCX_TLS", "tcp", "libuc", true, RD_JOB_ASKED_TCP, NULL },
	{ "UCX_NET_DEVICES", "?*:[0-9]*", "libuc", true, RD_JOB_ASKED_RDMA, NULL },
	{ "UCX_NET_DEVICES", "all", "libuc", true, RD_JOB_ASKED_NOTHING, NULL },
	{ "UCX_NET_DEVICES", "mlx*", "libuc", true, RD_JOB_ASKED_NOTHING, NULL },
	{ "UCX_NET_DEVICES", "?*", "libuc", true, RD_JOB_ASKED_TCP, NULL }, /* interfaces have no port behind a colon */
	{ "FI_PROVIDER", "^*", "libfabric", false, RD_JOB_ASKED_NOTHING, NULL },
	{ "FI_PROVIDER", "*verbs*", "libfabric", true, RD_JOB_ASKED_RDMA, NULL },
	{ "FI_PROVIDER", "psm3", "libfabric", true, RD_JOB_ASKED_NOTHING, "PSM3_HAL=sockets" },
	{ "FI_PROVIDER", "[emp]*", "libfabric", true, RD_JOB_ASKED_RDMA, NULL }, /* efa, mlx, psm2, psm3 */
	{ "FI_PROVIDER", "*tcp*", "libfabric", true, RD_JOB_ASKED_TCP, NULL },
	{ "FI_PROVIDER", "sockets", "libfabric", true, RD_JOB_ASKED_TCP, NULL },
	{ "OMPI_MCA_btl", "*", "libmpi", false, RD_JOB_ASKED_NOTHING, "OMPI_MCA_pml=ucx" },
	{ "OMPI_MCA_btl", "*", "libmpi", false, RD_JOB_ASKED_NOTHING, "OMPI_MCA_pml=cm" },
	{ "OMPI_MCA_btl", "^*", "libmpi", false, RD_JOB_ASKED_NOTHING, NULL },
	{ "OMPI_MCA_btl", "openib", "libmpi", true, RD_JOB_ASKED_RDMA, NULL },
	{ "OMPI_MCA_btl", "tcp", "libmpi", true, RD_JOB_ASKED_TCP, NULL },
	{ "MV2_IBA_HCA", "?*", "libmpi", false, RD_JOB_ASKED_RDMA, NULL },
	{ "I_MPI_OFI_PROVIDER", "[emv]*", "libmpi", false, RD_JOB_ASKED_RDMA, NULL }, /* efa, mlx, verbs */
	{ "I_MPI_OFI_PROVIDER", "tcp*", "libmpi", false, RD_JOB_ASKED_TCP, NULL },
	{ "I_MPI_OFI_PROVIDER", "sockets", "libmpi", false, RD_JOB_ASKED_TCP, NULL },
	{ "NVSHMEM_REMOTE_TRANSPORT", "ib*", NULL, false, RD_JOB_ASKED_RDMA, NULL },
	{ "MOONCAKE_PROTOCOL", "rdma", NULL, false, RD_JOB_ASKED_RDMA, NULL },
	{ "MOONCAKE_PROTOCOL", "tcp", NULL, false, RD_JOB_ASKED_TCP, NULL },
	{ "MC_FORCE_TCP", "1", NULL, false, RD_JOB_ASKED_TCP, NULL },
};

static bool is_mapped(const struct rd_job_proc *proc, const char *library)
{
	for (size_t i = 0; i < proc->libs.n; i++) {
		const char *name = strrchr(proc->libs.v[i], '/');
		_cleanup_free_ char *pattern = rd_text("%s*", library);

		if (name && fnmatch(pattern, name + 1, 0) == 0)
			return true;
	}
	return false;
}

static bool fits(const char *value, const char *pattern, bool part)
{
	if (!part)
		return fnmatch(pattern, value, 0) == 0;
	for (const char *at = value; at;) {
		_cleanup_free_ char *each = rd_next_part(&at, ',');

		if (each && fnmatch(pattern, each, 0) == 0)
			return true;
	}
	return false;
}

static const char *find_variable(const struct rd_job_proc *proc, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < proc->env.n; i++)
		if (strncmp(proc->env.v[i], name, n) == 0 && proc->env.v[i][n] == '=')
			return proc->env.v[i];
	return NULL;
}

/* TCP for MPI or UCX says nothing about NCCL, whose traffic is the larger one where it is mapped (nccl-tests are started with btl=tcp), unless a
 * plugin gives NCCL libfabric. */
static bool is_beside_nccl(const struct rd_job_proc *proc, size_t i)
{
	if (rows[i].asks != RD_JOB_ASKED_TCP || !rows[i].library || strcmp(rows[i].library, "lib?ccl") == 0)
		return false;
	return is_mapped(proc, "lib?ccl.so") && !(strcmp(rows[i].library, "libfabric") == 0 &&
						  (is_mapped(proc, "lib?ccl-net") || is_mapped(proc, "libaws-ofi")));
}

/* A row without effect ends the rows of its variable. */
static void find_request(struct rd_job_view *view)
{
	const struct rd_job_proc *proc = view->proc;
	const char *done = "";

	for (size_t i = 0; i < RD_ARRAY_SIZE(rows) && !view->asked; i++) {
		const char *variable = find_variable(proc, rows[i].name);

		if (!variable || strcmp(done, rows[i].name) == 0 ||
		    !fits(variable + strlen(rows[i].name) + 1, rows[i].value, rows[i].part))
			continue;
		if (rows[i].library && !proc->here && rd_job_knows(proc, "maps") && !is_mapped(proc, rows[i].library))
			continue;
		if ((rows[i].with && !rd_texts_has(&proc->env, rows[i].with)) || is_beside_nccl(proc, i))
			continue;
		done = rows[i].name;
		view->asked = rows[i].asks;
		view->asked_by = rows[i].asks ? variable : NULL;
	}
}

/* What a stack loads when it starts to use RDMA, or to look for it: any one of these. Sources: NCCL 2.30 (misc/ibvsymbols.cc, plugin/net.cc),
 * UCX 1.19 (ucs/sys/module.c), Open MPI 5 (mca/pml/ucx, mca/mtl/ofi). */
static const struct {
	const char *stack, *loads[4]; /* beginnings of file names, shell patterns */
	uint32_t driver;	      /* if all devices are of this driver (enum rdma_driver_id); 0: of any */
	const char *text, *fix;
} stacks[] = {
	{ "lib?ccl.so",
	  { "lib?ccl-net", "libaws-ofi" },
	  17,
	  "it has loaded no plugin of NCCL for EFA, which NCCL cannot use by itself",
	  "# install aws-ofi-nccl in its root, and add its directory to LD_LIBRARY_PATH" },
	{ "lib?ccl.so",
	  { "libibverbs.so", "lib?ccl-net", "libaws-ofi" },
	  0,
	  "NCCL has not loaded libibverbs, which it does when it starts",
	  "# NCCL_DEBUG=INFO shows why; libibverbs.so.1 has to be where ldconfig -p or LD_LIBRARY_PATH of the process finds it" },
	{ "libucp.so",
	  { "libuct_ib" },
	  0,
	  "UCX has not loaded libuct_ib, its transports over RDMA",
	  "# install UCX's libuct_ib (Red Hat: the package ucx-ib); ucx_info -d in its root lists the devices that it finds" },
	{ "libmpi.so",
	  { "libucp.so", "libfabric.so", "libpsm", "libibverbs" },
	  0,
	  "its MPI has loaded none of UCX, libfabric and libibverbs",
	  "# use an MPI that is built with UCX or libfabric: of Open MPI, ompi_info lists \"pml: ucx\" or \"mtl: ofi\"" },
};

/* The row of the stack whose traffic is the largest, if that has not loaded what it needs; -1: it has, or none is mapped. */
static int find_missing(const struct rd_job_input *in, const struct rd_job_proc *proc)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(stacks) && rd_job_knows(proc, "maps"); i++) {
		bool applies = is_mapped(proc, stacks[i].stack), loaded = false;

		for (size_t k = 0; k < in->kernel->n && stacks[i].driver; k++)
			applies &= in->kernel->v[k].driver.known == RD_OK &&
				   in->kernel->v[k].driver.v == stacks[i].driver;
		for (size_t k = 0; k < RD_ARRAY_SIZE(stacks[i].loads) && stacks[i].loads[k]; k++)
			loaded |= is_mapped(proc, stacks[i].loads[k]);
		if (applies)
			return loaded ? -1 : (int)i;
	}
	return -1;
}

/* From here on TCP carries data: a rendezvous, the exchange of addresses and health checks of large jobs take less. */
#define BULK (UINT64_C(16) << 20)

/* Libraries that create queue pairs which the kernel does not list (proc.c). */
static const char *const hiders[] = { "libdoca_", "libnccl-gin", "libuct_ib_mlx5", "nvshmem_transport_ibgda" };

/* What decides, counted. */
struct traffic {
	bool qps_known, hidden;
	size_t connected; /* queue pairs that carry data */
};

static struct rd_job_nic *nic_of(struct rd_job_view *view, const char *ibdev, uint32_t port)
{
	for (size_t i = 0; i < view->n_nics; i++)
		if (strcmp(view->nics[i].ibdev, ibdev) == 0 && view->nics[i].port == port)
			return &view->nics[i];
	*RD_ADD(view->nics, view->n_nics, view->cap_nics) = (struct rd_job_nic){ .ibdev = ibdev, .port = port };
	return &view->nics[view->n_nics - 1];
}

static bool nic_has_peer(const struct rd_job_nic *nic, const uint8_t gid[16])
{
	for (size_t i = 0; i < nic->peers; i++)
		if (memcmp(nic->gids[i], gid, 16) == 0)
			return true;
	return false;
}

static void add_qp(struct rd_job_view *view, const struct rd_qp_views *qps, size_t i)
{
	const struct rd_qp *qp = &qps->res->qps[i];
	struct rd_job_nic *nic = nic_of(view, qps->res->devs[qp->dev].name, qp->port.known == RD_OK ? qp->port.v : 1);
	uint8_t gid[16];

	nic->qps++;
	if (nic->peers < 4096 && rd_qp_peer(qps, i, gid) && !nic_has_peer(nic, gid)) {
		rd_reserve(&nic->gids, &nic->cap_gids, nic->peers + 1, sizeof(*nic->gids));
		memcpy(nic->gids[nic->peers++], gid, 16);
	}
}

static bool maps_hider(const struct rd_job_proc *proc)
{
	for (size_t i = 0; i < proc->libs.n; i++)
		for (size_t k = 0; k < RD_ARRAY_SIZE(hiders); k++)
			if (strstr(proc->libs.v[i], hiders[k]))
				return true;
	return false;
}

static void count_qps(const struct rd_job_input *in, struct rd_job_view *view, struct traffic *traffic)
{
	const struct rd_job_proc *proc = view->proc;
	const struct rd_res *res = in->qps ? in->qps->res : NULL;
	bool shared = res && res->netns_shared.known == RD_OK && res->netns_shared.v;

	/* In exclusive mode the devices of another network namespace are not listed here. */
	traffic->qps_known = res && rd_job_knows(proc, "net") && (!proc->net_other || shared);
	for (size_t d = 0; res && d < res->n_devs; d++) {
		traffic->qps_known &= rd_res_is_whole(&res->devs[d], RD_RES_QP);
		traffic->hidden |= rd_res_dev_hides_qps(&res->devs[d]);
	}
	traffic->hidden &= view->contexts > 0 && (!rd_job_knows(proc, "maps") || maps_hider(proc));
	for (size_t i = 0; res && i < res->n_qps; i++) {
		const struct rd_qp *qp = &res->qps[i];

		if (qp->owner.pid.known != RD_OK || qp->owner.pid.v != proc->pid || qp->owner.kernel)
			continue;
		if (qp->state.known == RD_OK && qp->state.v >= RD_QPS_RTR && qp->state.v <= RD_QPS_SQD) {
			traffic->connected++;
			add_qp(view, in->qps, i);
		}
	}
}

/* Whether an address is one of its network namespace, or loopback. */
static bool is_local(const struct rd_job_proc *proc, const uint8_t ip[16])
{
	static const uint8_t mapped[13] = { [10] = 0xff, [11] = 0xff, [12] = 127 }, loopback[16] = { [15] = 1 };

	for (size_t i = 0; i < proc->n_addrs; i++)
		if (memcmp(proc->addrs[i].remote, ip, 16) == 0)
			return true;
	return memcmp(ip, mapped, sizeof(mapped)) == 0 || memcmp(ip, loopback, sizeof(loopback)) == 0;
}

static bool is_qp_peer(const struct rd_job_view *view, const uint8_t ip[16])
{
	for (size_t i = 0; i < view->n_nics; i++)
		if (nic_has_peer(&view->nics[i], ip))
			return true;
	return false;
}

static void count_sockets(struct rd_job_view *view)
{
	const struct rd_job_proc *proc = view->proc;
	struct rd_job_sockets *sockets = &view->sockets;

	sockets->known = rd_job_knows(proc, "fds") && rd_job_knows(proc, "tcp") && rd_job_knows(proc, "addr") &&
			 rd_job_knows(proc, "net");
	for (size_t i = 0; i < proc->n_tcp; i++) {
		uint64_t bytes = proc->tcp[i].bytes;

		if (is_local(proc, proc->tcp[i].remote)) {
			sockets->local_bytes += bytes;
			continue;
		}
		sockets->connections++;
		sockets->bytes += bytes;
		if (is_qp_peer(view, proc->tcp[i].remote))
			sockets->to_qp_peers += bytes;
	}
}

static enum rd_job_verdict decide(const struct rd_job_view *view, const struct traffic *traffic)
{
	const struct rd_job_sockets *sockets = &view->sockets;

	if (traffic->connected)
		return sockets->to_qp_peers >= BULK ? RD_JOB_MIXED : RD_JOB_RDMA;
	if (view->proc->here)
		return RD_JOB_IDLE;
	/* Without an open device file there is no queue pair, listed or not. */
	if ((!traffic->qps_known && (view->contexts > 0 || !rd_job_knows(view->proc, "fds"))) || traffic->hidden ||
	    !sockets->known)
		return RD_JOB_CANNOT_TELL;
	if (sockets->bytes >= BULK)
		return RD_JOB_TCP;
	return view->proc->segments.n > 0 || sockets->local_bytes >= BULK ? RD_JOB_HOST : RD_JOB_IDLE;
}

static char *qps_text(const struct rd_job_view *view, const struct traffic *traffic)
{
	struct rd_buf text = { 0 };

	rd_buf_printf(&text, "%zu connected queue pair%s on", traffic->connected, traffic->connected == 1 ? "" : "s");
	for (size_t i = 0; i < view->n_nics && i < 16; i++)
		rd_buf_printf(&text, "%s %s/%u", i ? "," : "", view->nics[i].ibdev, view->nics[i].port);
	return text.data;
}

/* "RDMA can be used (mlx5_0, mlx5_1)": devices that it can use. */
static char *usable_text(const struct rd_job_view *view)
{
	struct rd_buf text = { 0 };

	rd_buf_str(&text, "RDMA can be used (");
	for (size_t i = 0, n = 0; i < view->can.n; i++)
		if (strcmp(view->can.v[i].id, "job-device") == 0 && view->can.v[i].severity == RD_SEV_OK)
			rd_buf_printf(&text, "%s%s", n++ ? ", " : "", view->can.v[i].subject);
	rd_buf_str(&text, ")");
	return text.data;
}

/* Whether it did not even try RDMA: each library that uses it maps libibverbs. */
static bool has_no_verbs(const struct rd_job_view *view)
{
	return !view->proc->here && view->contexts == 0 && rd_job_knows(view->proc, "maps") &&
	       !is_mapped(view->proc, "libibverbs");
}

static const char *unknown_text(const struct rd_job_view *view, const struct traffic *traffic)
{
	if (!view->proc->looked)
		return "it could not be read within ten seconds, or has ended";
	if (!rd_job_knows(view->proc, "fds"))
		return "its open files may not be read by this user";
	if (traffic->hidden)
		return "it has an RDMA device open and a library that creates queue pairs which the kernel does not list (DEVX)";
	if (!traffic->qps_known && view->contexts > 0)
		return "it has an RDMA device open, and its queue pairs cannot be listed from this network namespace";
	return "its TCP connections could not be read";
}

static void add_reason(const struct rd_job_input *in, struct rd_job_view *view, const struct traffic *traffic)
{
	int missing = view->verdict == RD_JOB_TCP ? find_missing(in, view->proc) : -1;
	const char *lacks = missing >= 0       ? stacks[missing].text :
			    has_no_verbs(view) ? "the process maps no libibverbs" :
						 NULL;
	uint64_t bytes = view->sockets.bytes;
	_cleanup_free_ char *amount = bytes >> 30 ? rd_text("%.1f GiB", (double)bytes / (1 << 30)) :
						    rd_text("%" PRIu64 " MiB", bytes >> 20);
	_cleanup_free_ char *qps = qps_text(view, traffic), *usable = usable_text(view), *what = NULL;
	const struct rd_finding *obstacle = view->obstacle;

	switch (view->verdict) {
	case RD_JOB_CANNOT_TELL:
		view->reason = rd_text("%s", unknown_text(view, traffic));
		return;
	case RD_JOB_RDMA:
	case RD_JOB_UNEVEN:
		view->reason = RD_TAKE(qps);
		return;
	case RD_JOB_MIXED:
		view->reason = rd_text("%s, and %s over TCP to the same peers", qps, amount);
		return;
	case RD_JOB_HOST:
		view->reason = rd_text("shared memory or local connections; %s to other hosts", amount);
		return;
	case RD_JOB_TCP:
		what = rd_text("%s over %" PRIu64 " TCP connection%s, no connected queue pair; ", amount,
			       view->sockets.connections, view->sockets.connections == 1 ? "" : "s");
		break;
	case RD_JOB_IDLE:
		what = rd_text("%s", view->proc->here || view->severity == RD_SEV_CRITICAL ?
					     "" :
					     "no connected queue pair, hardly any TCP traffic; ");
		break;
	}
	if (view->asked == RD_JOB_ASKED_TCP)
		view->reason = rd_text("%sset by %s", what, view->asked_by);
	else if (obstacle)
		view->reason = rd_text("%s%s: %s", what, obstacle->subject, obstacle->observed);
	else if (view->able.known != RD_OK)
		view->reason = rd_text("%swhether it can use RDMA is unknown", what);
	else
		view->reason = rd_text("%s%s%s%s%s%s", what, usable, view->asked_by ? ", and is requested by " : "",
				       view->asked_by ?: "", lacks ? "; but " : "", lacks ?: "");
	if (missing >= 0 && !obstacle && view->asked != RD_JOB_ASKED_TCP)
		view->fix = rd_dup(stacks[missing].fix);
}

static enum rd_severity severity_of(const struct rd_job_view *view)
{
	bool unable = view->obstacle && view->obstacle->severity == RD_SEV_CRITICAL;
	bool asked = view->asked == RD_JOB_ASKED_RDMA || (view->proc->here && view->asked == RD_JOB_ASKED_NOTHING);

	switch (view->verdict) {
	case RD_JOB_CANNOT_TELL:
		return RD_SEV_UNKNOWN;
	case RD_JOB_TCP:
		return view->asked == RD_JOB_ASKED_TCP ? RD_SEV_NOTE : asked ? RD_SEV_CRITICAL : RD_SEV_WARNING;
	case RD_JOB_MIXED:
	case RD_JOB_UNEVEN:
		return RD_SEV_WARNING;
	case RD_JOB_IDLE:
		if (view->asked == RD_JOB_ASKED_TCP || !asked)
			return view->asked == RD_JOB_ASKED_TCP ? RD_SEV_NOTE : RD_SEV_OK;
		return unable				  ? RD_SEV_CRITICAL :
		       view->able.known != RD_OK	  ? RD_SEV_UNKNOWN :
		       view->obstacle && view->proc->here ? RD_SEV_WARNING :
							    RD_SEV_OK;
	default:
		return RD_SEV_OK;
	}
}

void rd_job_judge(const struct rd_job_input *in, struct rd_job_view *view)
{
	struct traffic traffic = { 0 };

	view->runtime = rd_job_runtime(view->proc);
	view->contexts = rd_job_count_open(view->proc, "uverbs");
	find_request(view);
	judge_ability(in, view);
	count_qps(in, view, &traffic);
	count_sockets(view);
	view->verdict = decide(view, &traffic);
	view->severity = severity_of(view);
	add_reason(in, view, &traffic);
	if (view->severity >= RD_SEV_WARNING && view->obstacle)
		view->fix = rd_dup_if(view->obstacle->fix);
}

void rd_job_judge_whole(const struct rd_job_input *in, struct rd_job_view *views, size_t n)
{
	size_t carriers = 0, used = 0, usable = 0;

	for (size_t d = 0; d < in->kernel->n; d++) {
		const char *ibdev = in->kernel->v[d].ibdev;
		bool carries = false, can = false;

		for (size_t i = 0; i < n && ibdev; i++) {
			for (size_t k = 0; k < views[i].n_nics; k++)
				carries |= strcmp(views[i].nics[k].ibdev, ibdev) == 0;
			for (size_t k = 0; k < views[i].can.n; k++)
				can |= views[i].can.v[k].severity == RD_SEV_OK &&
				       strcmp(views[i].can.v[k].subject, ibdev) == 0;
		}
		used += carries;
		usable += can;
	}
	for (size_t i = 0; i < n; i++)
		carriers += views[i].verdict == RD_JOB_RDMA;
	/* Each process of a job takes the NIC next to its accelerator: with as many as there are NICs, all carry. */
	for (size_t i = 0; i < n && usable >= 2 && carriers >= usable && used * 2 <= usable; i++) {
		if (views[i].verdict != RD_JOB_RDMA)
			continue;
		char *reason = rd_text("%s; together %zu processes use %zu of %zu NICs", views[i].reason, carriers,
				       used, usable);

		free(views[i].reason);
		views[i].reason = reason;
		views[i].verdict = RD_JOB_UNEVEN;
		views[i].severity = RD_SEV_WARNING;
	}
}
