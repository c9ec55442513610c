/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of the NVIDIA driver, and its limits on consumer cards. */
#include <string.h>

#include "check/memory/gpumem.h"
#include "check/shared/rules.h"
#include "model/host/profile.h"
#include "model/host/system.h"

static void run_ibgda(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_system *system = in->system;
	bool wanted = rd_profile_requires(in->profile, "gpu-initiated"), mapping, memops;

	if (rd_gpus_of(in->host, "NVIDIA") == 0) {
		rd_check_skip(out, "no NVIDIA accelerator");
		return;
	}
	if (!system || !system->nvidia_registry || system->nvidia_stream_memops.known != RD_OK) {
		rd_check_unknown(out, "nvidia", "not reported in /proc/driver/nvidia/params");
		return;
	}
	mapping = strstr(system->nvidia_registry, "PeerMappingOverride=1") != NULL;
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
	if (rd_gpus_of(in->host, "NVIDIA") == 0 || in->host->n_ibdevs == 0) {
		rd_check_skip(out, "no NVIDIA accelerator, or no RDMA device");
		return;
	}
	for (size_t g = 0; g < in->host->n_gpus; g++) {
		const struct rd_gpu *gpu = &in->host->gpus[g];

		if (!gpu->vendor || strcmp(gpu->vendor, "NVIDIA") != 0)
			continue;
		if (!gpu->name)
			rd_check_unknown(out, in->host->pcis[gpu->pci].addr,
					 "the model of the accelerator is unknown: no driver names it, nor pci.ids");
		else if (strstr(gpu->name, "GeForce"))
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
	.reads = RD_PART_PCI | RD_PART_MODULES,
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
	.reads = RD_PART_PCI | RD_PART_MODULES,
	.run = run_geforce,
};
