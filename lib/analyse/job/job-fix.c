// SPDX-License-Identifier: GPL-2.0-or-later
/* What to do about an obstacle, where the process runs. */
#include <string.h>

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

/* NODE: the name of the device; PID: the process. NULL: as on the host. */
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
	  "rdma system show\n# rdma dev set NODE netns NAME, or rdma system set netns shared while no other namespace exists",
	  "# start the container with --network=host, or rdma dev set NODE netns NAME",
	  "# add the rdma CNI plugin to the network of the pod, or set the mode shared on the node", NULL },
	{ "job-gid", "# give the namespace an interface of NODE (macvlan, ipvlan, virtual function) with an address",
	  "# start the container with --network=host, or a macvlan network on the interface of NODE",
	  "# add a secondary network on NODE (k8s.v1.cni.cncf.io/networks), or hostNetwork: true", NULL },
	{ "job-port", "rdmadiag topo-check", NULL, NULL, NULL },
	{ "job-provider", "# install the providers of rdma-core (Debian: ibverbs-providers; Red Hat: libibverbs)",
	  "# install them in the image (Debian: ibverbs-providers; Red Hat: libibverbs)",
	  "# install them in the image (Debian: ibverbs-providers; Red Hat: libibverbs)", NULL },
	{ "job-provider-abi", "# install the provider library of the kernel's driver, from the same release",
	  "# install in the image the provider library of the kernel's driver, from the same release",
	  "# install in the image the provider library of the kernel's driver, from the same release", NULL },
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

char *rd_job_fix(const struct rd_job_proc *proc, const char *id, const char *node)
{
	const char *runtime = rd_job_runtime(proc), *text = NULL;
	_cleanup_free_ char *pid = rd_text("%u", proc->pid), *copy = NULL;

	for (size_t i = 0; i < RD_ARRAY_SIZE(fixes); i++) {
		if (strcmp(fixes[i].id, id) != 0)
			continue;
		if (runtime)
			text = strcmp(runtime, "Kubernetes") == 0 ? fixes[i].kubernetes :
			       strcmp(runtime, "Slurm") == 0	  ? fixes[i].slurm :
								    fixes[i].container;
		/* Of a container whose runtime is not known, advice for the host is wrong. */
		text = text						 ? text :
		       !runtime && proc->mnt_other && fixes[i].container ? fixes[i].container :
									   fixes[i].host;
	}
	if (!text)
		return NULL;
	/* The words are in advice, which rd_fix_fill leaves alone; the name is that of a device of the kernel. */
	for (const char *at = text; *at;) {
		size_t n = strcspn(at, "NP");
		const char *word = strncmp(at + n, "NODE", 4) == 0 ? node : strncmp(at + n, "PID", 3) == 0 ? pid : NULL;
		size_t skip = !at[n] ? 0 : word == node && word ? 4 : word ? 3 : 1;
		char *longer = rd_text("%s%.*s%s", copy ? copy : "", (int)(word ? n : n + skip), at, word ? word : "");

		free(copy);
		copy = longer;
		at += n + skip;
	}
	return RD_TAKE(copy);
}
