/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Modules and kernel features that let NICs reach the memory of accelerators. */
#include <string.h>

#include "check/memory/gpumem.h"
#include "check/shared/rules.h"
#include "model/host/system.h"

/* Public reports differ on whether the driver of NVIDIA does without it. */
#define NO_P2PDMA "the kernel lacks CONFIG_PCI_P2PDMA: DMA-BUF of GPU memory may not work"
#define UNREAD_MODULES "/proc/modules could not be read"

size_t rd_gpus_of(const struct rd_host *host, const char *vendor)
{
	size_t n = 0;

	for (size_t g = 0; g < host->n_gpus; g++)
		n += host->gpus[g].vendor && strcmp(host->gpus[g].vendor, vendor) == 0 && !rd_gpu_is_for_guest(host, g);
	return n;
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

static void run_nvidia(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_system *system = in->system;

	if (rd_gpus_of(in->host, "NVIDIA") == 0 || in->host->n_ibdevs == 0) {
		rd_check_skip(out, "no NVIDIA accelerator, or no RDMA device");
		return;
	}
	if (!system || !system->modules_known)
		rd_check_unknown(out, "nvidia_peermem", UNREAD_MODULES);
	else if (rd_gives_peermem(system) || rd_has_dmabuf(system))
		rd_check_good(out, rd_has_peermem(system) ? "nvidia_peermem" : "DMA-BUF");
	else if (!rd_system_module(system, "nvidia"))
		rd_check_bad(out, RD_SEV_CRITICAL, "nvidia", rd_text("NVIDIA driver is not loaded"),
			     rd_text("nvidia, nvidia_peermem"),
			     rd_text("modprobe -a nvidia nvidia_peermem\n"
				     "# if it is not found, install NVIDIA's driver for this kernel"));
	else if (system->nvidia_open.known != RD_OK)
		rd_check_unknown(out, "nvidia_peermem",
				 "nvidia_peermem is not loaded, and whether the driver is the open flavour, which "
				 "does not need it, is unknown (/proc/driver/nvidia/version, "
				 "/sys/module/nvidia/taint)");
	else if (system->nvidia_open.v && system->dmabuf.known != RD_OK)
		rd_check_unknown(
			out, "nvidia_peermem",
			"nvidia_peermem is not loaded, and whether the RDMA core of this kernel supports DMA-BUF is "
			"unknown");
	else if (system->nvidia_open.v && system->dmabuf.v)
		rd_check_unknown(out, "nvidia_peermem", "nvidia_peermem is not loaded, and " NO_P2PDMA);
	else
		rd_check_bad(
			out, RD_SEV_CRITICAL, "nvidia_peermem",
			rd_text("not loaded, and DMA-BUF is not possible (%s)",
				system->nvidia_open.v ? "the RDMA core is too old" :
							"not the open flavour of the driver"),
			rd_text("nvidia_peermem loaded%s", lacks_open_module(in->host) ?
								   "; the open kernel module needs Turing or newer" :
								   ", or the open kernel module"),
			lacks_open_module(in->host) ?
				rd_text("modprobe nvidia_peermem\n# until the next boot; also in /etc/modules-load.d/") :
				NULL);
}

static void run_old(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_system *system = in->system;

	if (rd_gpus_of(in->host, "NVIDIA") == 0) {
		rd_check_skip(out, "no NVIDIA accelerator");
		return;
	}
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

	if (rd_gpus_of(in->host, "AMD") == 0 || in->host->n_ibdevs == 0) {
		rd_check_skip(out, "no AMD accelerator, or no RDMA device");
		return;
	}
	if (!system || !system->modules_known)
		rd_check_unknown(out, "amdgpu", UNREAD_MODULES);
	else if (!rd_system_module(system, "amdgpu"))
		rd_check_bad(out, RD_SEV_CRITICAL, "amdgpu", rd_text("not loaded"), rd_text("loaded"),
			     rd_text("modprobe amdgpu\n# it is part of the ROCm release"));
	else if (rd_text_list_has(&system->memory_peers, "amdkfd") ||
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

	if (rd_gpus_of(in->host, "NVIDIA") == 0 || lacks_open_module(in->host)) {
		rd_check_skip(out, "no NVIDIA accelerator that the open kernel module supports");
		return;
	}
	if (!system || system->nvidia_open.known != RD_OK)
		rd_check_unknown(out, "nvidia",
				 "driver flavour unknown: not in /proc/driver/nvidia/version, nor in "
				 "/sys/module/nvidia/taint");
	else if (!system->nvidia_open.v && rd_gives_peermem(system))
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
	.whole = RD_PART_MODULES | RD_PART_PCI,
	.reads = RD_PART_RDMA,
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
	.reads = RD_PART_PCI | RD_PART_RDMA | RD_PART_MODULES,
	.run = run_old,
};

const struct rd_check rd_check_amd_peer = {
	.id = "amd-peer",
	.title = "NICs cannot reach the memory of AMD GPUs (PeerDirect, DMA-BUF)",
	.why = "registering GPU memory fails; libraries that fall back copy through host memory",
	.fix = "# use the amdgpu driver of the ROCm release\n"
	       "# use an RDMA stack with peer memory, or a kernel whose RDMA core supports DMA-BUF",
	.needs = "/proc/modules, /sys/kernel/mm/memory_peers, BTF of ib_uverbs",
	.whole = RD_PART_MODULES | RD_PART_PCI,
	.reads = RD_PART_RDMA,
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
	.whole = RD_PART_MODULES | RD_PART_PCI,
	.reads = RD_PART_RDMA,
	.run = run_dmabuf,
};
