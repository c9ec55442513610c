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
	return text ? rd_text("%s", text) : NULL;
}
