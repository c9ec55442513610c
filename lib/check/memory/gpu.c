/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules about the memory path to accelerators and their drivers. */

#include "check/shared/rules.h"
#include "model/host/profile.h"
#include "model/host/system.h"

/* Shared by rules about access of NICs to the memory of accelerators. */

/* Modules and kernel features that let NICs reach the memory of accelerators. */

/* Public reports differ on whether the driver of NVIDIA does without it. */
#define NO_P2PDMA "the kernel lacks CONFIG_PCI_P2PDMA: DMA-BUF of GPU memory may not work"
#define UNREAD_MODULES "/proc/modules could not be read"

/* Number of accelerators of this vendor ("NVIDIA") that are not assigned to guests. */
static size_t rd_gpus_of(const struct rd_host *host, const char *vendor)
{
	size_t n = 0;

	for (size_t g = 0; g < host->n_gpus; g++)
		n += host->gpus[g].vendor && strcmp(host->gpus[g].vendor, vendor) == 0 && !rd_gpu_is_for_guest(host, g);
	return n;
}

static bool is_geforce(const struct rd_gpu *gpu)
{
	return gpu->name && strstr(gpu->name, "GeForce");
}

/* Whether NICs can be given the memory of one: the driver does not do so for GeForce cards, of which another rule speaks. */
static bool has_direct_gpu(const struct rd_host *host)
{
	size_t n = rd_gpus_of(host, "NVIDIA");

	for (size_t g = 0; g < host->n_gpus; g++)
		n -= is_geforce(&host->gpus[g]) && !rd_gpu_is_for_guest(host, g);
	return n > 0;
}

/* The open kernel module supports Turing (device IDs from 1e00) and newer GPUs. */
static bool lacks_open_module(const struct rd_host *host)
{
	for (size_t g = 0; g < host->n_gpus; g++) {
		const struct rd_pci *pci = &host->pcis[host->gpus[g].pci];

		if (pci->vendor.v == 0x10de && pci->device.known == RD_OK && pci->device.v < 0x1e00)
			return true;
	}
	return false;
}

static bool has_only_efa(const struct rd_host *host)
{
	/* Those made in software reach no accelerator. */
	for (size_t d = 0; d < host->n_ibdevs; d++)
		if (!rd_ibdev_is_efa(host, (int)d) && host->ibdevs[d].pci >= 0 && !host->ibdevs[d].parent_netdev)
			return false;
	return rd_host_has_efa(host);
}

static bool gives_peermem(const struct rd_check_input *in)
{
	return has_only_efa(in->host) ? rd_gives_efa_peermem(in->system) : rd_gives_peermem(in->system);
}

/* NULL: that of the rule. */
static char *peermem_fix(const struct rd_check_input *in)
{
	bool old = lacks_open_module(in->host);

	if (has_only_efa(in->host))
		return rd_text("%s# install the EFA driver of Amazon's installer%s",
			       in->system->nvidia_open.v ? "modprobe efa_nv_peermem\n" : "",
			       old ? "" : ", and the open kernel module");
	return old ? rd_text("modprobe nvidia_peermem\n# until the next boot; also in /etc/modules-load.d/") : NULL;
}

static void unknown_peermem(struct rd_check_out *out, const char *module, const char *why)
{
	_cleanup_free_ char *reason = rd_text("%s is not loaded, and %s", module, why);

	rd_check_unknown(out, module, reason);
}

static void run_nvidia(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_system *system = in->system;
	const char *module = has_only_efa(in->host) ? "efa_nv_peermem" : "nvidia_peermem";

	if (!has_direct_gpu(in->host) || in->host->n_ibdevs == 0)
		return rd_check_skip(out, "no NVIDIA accelerator with GPUDirect RDMA, or no RDMA device");
	if (!system || !system->modules_known)
		rd_check_unknown(out, module, UNREAD_MODULES);
	else if (gives_peermem(in) || rd_has_dmabuf(system))
		rd_check_good(out, gives_peermem(in) ? module : "DMA-BUF");
	else if (!rd_system_module(system, "nvidia"))
		rd_check_bad(out, RD_SEV_CRITICAL, "nvidia", rd_text("NVIDIA driver is not loaded"),
			     rd_text("nvidia, %s", module),
			     rd_text("modprobe -a nvidia %s\n"
				     "# if it is not found, install NVIDIA's driver for this kernel",
				     module));
	else if (system->nvidia_open.known != RD_OK)
		unknown_peermem(out, module,
				"whether the driver is the open flavour, which does not need it, is unknown "
				"(/proc/driver/nvidia/version, /sys/module/nvidia/taint)");
	else if (system->nvidia_open.v && system->dmabuf.known != RD_OK)
		unknown_peermem(out, module, "whether the RDMA core of this kernel supports DMA-BUF is unknown");
	else if (system->nvidia_open.v && system->dmabuf.v)
		unknown_peermem(out, module, NO_P2PDMA);
	else
		rd_check_bad(out, RD_SEV_CRITICAL, module,
			     rd_text("not loaded, and DMA-BUF is not possible (%s)",
				     system->nvidia_open.v ? "the RDMA core is too old" :
							     "not the open flavour of the driver"),
			     rd_text("%s loaded%s", module,
				     lacks_open_module(in->host) ? "; the open kernel module needs Turing or newer" :
								   ", or the open kernel module"),
			     peermem_fix(in));
}

static void run_old(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_system *system = in->system;

	if (rd_gpus_of(in->host, "NVIDIA") == 0)
		return rd_check_skip(out, "no NVIDIA accelerator");
	if (!system || !system->modules_known)
		rd_check_unknown(out, "nv_peer_mem", UNREAD_MODULES);
	else if (rd_has_old_peermem(system))
		rd_check_bad(out, rd_has_peermem(system) ? RD_SEV_CRITICAL : RD_SEV_WARNING, "nv_peer_mem",
			     rd_text("loaded%s", rd_has_peermem(system) ? " together with nvidia_peermem" : ""),
			     rd_text("only nvidia_peermem"), NULL);
	else
		rd_check_good(out, "nv_peer_mem");
}

static void run_amd(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_system *system = in->system;

	if (rd_gpus_of(in->host, "AMD") == 0 || in->host->n_ibdevs == 0)
		return rd_check_skip(out, "no AMD accelerator, or no RDMA device");
	if (!system || !system->modules_known)
		rd_check_unknown(out, "amdgpu", UNREAD_MODULES);
	else if (!rd_system_module(system, "amdgpu"))
		rd_check_bad(out, RD_SEV_CRITICAL, "amdgpu", rd_text("not loaded"), rd_text("loaded"),
			     rd_text("modprobe amdgpu\n# it is part of the ROCm release"));
	else if (rd_texts_has(&system->memory_peers, "amdkfd") ||
		 (system->dmabuf.known == RD_OK && system->dmabuf.v && !rd_lacks_p2pdma(system)))
		rd_check_good(out, "amdgpu");
	else if (rd_lacks_p2pdma(system))
		rd_check_bad(
			out, RD_SEV_WARNING, "amdgpu", rd_text("no PeerDirect, and the kernel lacks CONFIG_PCI_P2PDMA"),
			rd_text("PeerDirect, or a kernel with CONFIG_PCI_P2PDMA=y"),
			rd_text("# boot a kernel with CONFIG_PCI_P2PDMA=y\n"
				"# or use an RDMA stack with peer memory and the amdgpu driver of the ROCm release"));
	else if (system->dmabuf.known != RD_OK)
		rd_check_unknown(out, "amdgpu",
				 "whether the RDMA core of this kernel supports DMA-BUF is unknown (no BTF of "
				 "ib_uverbs)");
	else
		rd_check_fail(out, "amdgpu", rd_text("no PeerDirect, and the RDMA core does not support DMA-BUF"),
			      rd_text("PeerDirect or DMA-BUF"));
}

static void run_dmabuf(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_system *system = in->system;

	if (!has_direct_gpu(in->host) || lacks_open_module(in->host))
		return rd_check_skip(out,
				     "no NVIDIA accelerator with GPUDirect RDMA that the open kernel module supports");
	if (!system || system->nvidia_open.known != RD_OK)
		rd_check_unknown(out, "nvidia",
				 "driver flavour unknown: not in /proc/driver/nvidia/version, nor in "
				 "/sys/module/nvidia/taint");
	else if (!system->nvidia_open.v && gives_peermem(in))
		rd_check_note(
			out, "nvidia",
			rd_text("proprietary flavour of the driver: no DMA-BUF; peer memory is there instead"),
			rd_text("the open kernel module, if memory from CUDA virtual memory management is registered"),
			NULL);
	else if (!system->nvidia_open.v && !system->modules_known)
		rd_check_unknown(out, "nvidia", UNREAD_MODULES);
	else if (!system->nvidia_open.v)
		rd_check_warn(out, "nvidia", rd_text("proprietary flavour of the driver: no DMA-BUF"),
			      rd_text("the open kernel module"));
	else if (system->dmabuf.known != RD_OK)
		rd_check_unknown(out, "ib_uverbs",
				 "whether the RDMA core of this kernel supports DMA-BUF is unknown (no BTF of "
				 "ib_uverbs)");
	else if (!system->dmabuf.v && gives_peermem(in))
		rd_check_note(out, "ib_uverbs",
			      rd_text("the RDMA core does not support DMA-BUF; peer memory is there instead"),
			      rd_text("one that does, if memory from CUDA virtual memory management is registered"),
			      NULL);
	else if (!system->dmabuf.v)
		rd_check_warn(out, "ib_uverbs", rd_text("the RDMA core does not support DMA-BUF"),
			      rd_text("an RDMA core with DMA-BUF support"));
	else if (rd_lacks_p2pdma(system) && rd_has_peermem(system))
		rd_check_note(out, "kernel", rd_text("%s; nvidia_peermem is loaded instead", NO_P2PDMA), NULL, NULL);
	else if (rd_lacks_p2pdma(system))
		rd_check_unknown(out, "kernel", NO_P2PDMA);
	else
		rd_check_good(out, "nvidia");
}

const struct rd_check rd_check_peermem = {
	.id = "peermem",
	.title = "NICs cannot reach the memory of NVIDIA GPUs (nvidia_peermem, DMA-BUF)",
	.why = "registering GPU memory fails with EFAULT; libraries that fall back copy through host memory",
	.fix = "modprobe nvidia_peermem\n"
	       "# until the next boot; also in /etc/modules-load.d/\n"
	       "# or install the open kernel module",
	.needs = "/proc/modules, /proc/driver/nvidia/version (else /sys/module/nvidia/taint), BTF of ib_uverbs",
	.parts = { RD_PART_MODULES | RD_PART_PCI, RD_PART_RDMA },
	.run = run_nvidia,
};

const struct rd_check rd_check_peermem_old = {
	.id = "peermem-old",
	.title = "Obsolete module nv_peer_mem is loaded",
	.why = "it is no longer maintained: two modules that serve the same memory make registrations fail, and "
	       "updates break it",
	.fix = "rmmod nv_peer_mem\n"
	       "modprobe nvidia_peermem\n"
	       "# no job may use GPUDirect RDMA meanwhile\n"
	       "# it lasts until the next boot; permanently: remove the package nvidia-peer-memory",
	.needs = "/proc/modules",
	.parts = { 0, RD_PART_PCI | RD_PART_RDMA | RD_PART_MODULES },
	.run = run_old,
};

const struct rd_check rd_check_amd_peer = {
	.id = "amd-peer",
	.title = "NICs cannot reach the memory of AMD GPUs (PeerDirect, DMA-BUF)",
	.why = "registering GPU memory fails; libraries that fall back copy through host memory",
	.fix = "# use the amdgpu driver of the ROCm release\n"
	       "# use an RDMA stack with peer memory, or a kernel whose RDMA core supports DMA-BUF",
	.needs = "/proc/modules, /sys/kernel/mm/memory_peers, BTF of ib_uverbs",
	.parts = { RD_PART_MODULES | RD_PART_PCI, RD_PART_RDMA },
	.run = run_amd,
};

const struct rd_check rd_check_dmabuf = {
	.id = "dmabuf",
	.title = "Memory of NVIDIA GPUs cannot be registered as DMA-BUF",
	.why = "nvidia_peermem cannot register memory from CUDA virtual memory management (cuMem, expandable segments): "
	       "EFAULT",
	.fix = "# install the open kernel module (nvidia-open), and a kernel whose RDMA core supports DMA-BUF\n"
	       "# until then: set NCCL_CUMEM_ENABLE=0 in the job's environment",
	.needs = "/proc/driver/nvidia/version (else /sys/module/nvidia/taint), BTF of ib_uverbs",
	.parts = { RD_PART_MODULES | RD_PART_PCI, RD_PART_RDMA },
	.run = run_dmabuf,
};

/* Options of the NVIDIA driver, and its limits on consumer cards. */

static void run_ibgda(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_system *system = in->system;
	bool wanted = rd_profile_requires(in->profile, "gpu-initiated"), mapping, memops;

	if (rd_gpus_of(in->host, "NVIDIA") == 0)
		return rd_check_skip(out, "no NVIDIA accelerator");
	if (!system || !system->nvidia_registry || system->nvidia_stream_memops.known != RD_OK)
		return rd_check_unknown(out, "nvidia", "not reported in /proc/driver/nvidia/params");
	mapping = rd_maps_peers(system);
	memops = system->nvidia_stream_memops.v;
	if (!mapping && !memops && !wanted)
		rd_check_skip(out, "not configured for GPU-initiated RDMA, and the profile does not require it");
	else if (mapping && memops)
		rd_check_good(out, "nvidia");
	else
		rd_check_bad(out, wanted ? RD_SEV_CRITICAL : RD_SEV_WARNING, "nvidia",
			     rd_text("PeerMappingOverride=1 %s, EnableStreamMemOPs %s", mapping ? "set" : "missing",
				     memops ? "1" : "0"),
			     rd_text("PeerMappingOverride=1 set, EnableStreamMemOPs 1"), NULL);
}

static void run_geforce(const struct rd_check_input *in, struct rd_check_out *out)
{
	if (rd_gpus_of(in->host, "NVIDIA") == 0 || in->host->n_ibdevs == 0)
		return rd_check_skip(out, "no NVIDIA accelerator, or no RDMA device");
	for (size_t g = 0; g < in->host->n_gpus; g++) {
		const struct rd_gpu *gpu = &in->host->gpus[g];

		if (!gpu->vendor || strcmp(gpu->vendor, "NVIDIA") != 0)
			continue;
		if (!gpu->name)
			rd_check_unknown(out, in->host->pcis[gpu->pci].addr,
					 "the model of the accelerator is unknown: no driver names it, nor pci.ids");
		else if (is_geforce(gpu))
			rd_check_warn(out, in->host->pcis[gpu->pci].addr, rd_text("%s", gpu->name),
				      rd_text("a data-centre or workstation card"));
		else
			rd_check_good(out, in->host->pcis[gpu->pci].addr);
	}
}

const struct rd_check rd_check_ibgda = {
	.id = "gpu-initiated",
	.title = "NVIDIA driver is not configured for GPU-initiated RDMA (IBGDA)",
	.why = "NVSHMEM IBGDA (DeepEP) maps the NIC's doorbells into the GPU: without these options it fails with "
	       "CUDA error 800",
	.fix = "echo 'options nvidia NVreg_EnableStreamMemOPs=1 NVreg_RegistryDwords=\"PeerMappingOverride=1;\"' "
	       ">>/etc/modprobe.d/nvidia.conf\n"
	       "# then rebuild the initramfs, and reboot while no job runs",
	.needs = "/proc/driver/nvidia/params",
	.parts = { 0, RD_PART_PCI | RD_PART_MODULES },
	.run = run_ibgda,
};

const struct rd_check rd_check_geforce = {
	.id = "gpu-geforce",
	.title = "NVIDIA driver does not support GPUDirect RDMA on GeForce cards",
	.why = "registering their memory fails; libraries copy through host memory",
	.fix = "# accept copies through host memory: set NCCL_NET_GDR_LEVEL=LOC in the job's environment\n"
	       "# or use another card",
	.needs = "names of accelerators: /proc/driver/nvidia/gpus, pci.ids",
	.thorough = true,
	.parts = { 0, RD_PART_PCI | RD_PART_MODULES },
	.run = run_geforce,
};

/* Zero-copy TCP to accelerators (devmem) and to io_uring (zcrx): Documentation/networking/devmem.rst and iou-zcrx.rst. */

enum { SPLIT_ON = 2 };

/* The first missing prerequisite; NULL: ready. */
static const char *missing_feature(const struct rd_netif *netif)
{
	const struct rd_ethstate *eth = &netif->eth;

	if (netif->queues.known != RD_OK)
		return "not ready: the kernel does not report queues through netdev netlink (needs 6.8 or later)";
	if (eth->data_split.known != RD_OK)
		return "not ready: the driver does not support header split";
	if (eth->data_split.v != SPLIT_ON)
		return "not ready: header split is off (ethtool -G IF tcp-data-split on)";
	if (eth->ntuple_able.known == RD_OK && !eth->ntuple_able.v)
		return "not ready: the driver does not support flow steering";
	if (eth->ntuple.known != RD_OK || !eth->ntuple.v)
		return "not ready: flow steering is off (ethtool -K IF ntuple on)";
	return NULL;
}

static void run_devmem(const struct rd_check_input *in, struct rd_check_out *out)
{
	rd_check_skip(out, "no accelerator, or no RDMA port over Ethernet");
	for (size_t p = 0; in->host->n_gpus > 0 && p < in->host->n_ports; p++) {
		const struct rd_netif *netif = rd_check_roce_netif(in, p);
		const char *why = netif ? missing_feature(netif) : NULL;
		char subject[160];

		if (!netif)
			continue;
		rd_check_port_subject(in, p, netif, subject);
		if (!why)
			rd_check_good(out, subject);
		else if (netif->queues.n_dmabuf + netif->queues.n_io_uring > 0)
			rd_check_warn(out, subject,
				      rd_text("%u queues are bound to device memory or io_uring, but: %s",
					      netif->queues.n_dmabuf + netif->queues.n_io_uring, why),
				      rd_text("header split and flow steering on"));
		else
			/* Not used: it need not be ready. */
			rd_check_skip(out, why);
	}
}

const struct rd_check rd_check_devmem = {
	.id = "devmem-tcp",
	.title = "Queues are bound for zero-copy TCP, and their interface is not set up for it",
	.why = "payload can be placed in device memory only if headers are split off and flows are steered to the "
	       "queue",
	.fix = "ethtool -G IF tcp-data-split on hds-thresh 0\n"
	       "ethtool -K IF ntuple on\n"
	       "# keep other traffic off these queues: ethtool -X INTERFACE equal N\n"
	       "# the driver restarts its queues: no job may use the interface meanwhile\n"
	       "# it lasts until the next boot; also in the network configuration",
	.needs = "ethtool netlink (rings, features, RSS contexts), netdev netlink (queues)",
	.thorough = true,
	.parts = { 0, RD_PART_PCI | RD_PART_NET },
	.run = run_devmem,
};
