/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/shared/gpudirect.h"

#include <string.h>

static struct rd_offer yes(const char *why)
{
	return (struct rd_offer){ .offered = { .v = true, .known = RD_OK }, .why = why };
}

static struct rd_offer no(const char *why)
{
	return (struct rd_offer){ .offered = { .v = false, .known = RD_OK }, .why = why };
}

static struct rd_offer unknown(const char *why)
{
	return (struct rd_offer){ .why = why };
}

static struct rd_offer of_nvidia(const struct rd_system *system, const struct rd_gpu *gpu)
{
	/* CPU and GPU share one memory; the driver supports neither peer memory nor DMA-BUF. */
	if (gpu->name && strstr(gpu->name, "GB10") && !strstr(gpu->name, "GB100"))
		return no("GB10 does not support GPUDirect RDMA");
	if (rd_has_peermem(system))
		return yes("nvidia_peermem");
	if (rd_gives_peermem(system))
		return yes("nv_peer_mem");
	if (!system->modules_known)
		return unknown("could not read /proc/modules");
	if (rd_has_dmabuf(system))
		return yes("DMA-BUF");
	if (!rd_system_module(system, "nvidia"))
		return unknown("the nvidia driver is not loaded");
	if (system->nvidia_open.known != RD_OK)
		return unknown(
			"nvidia_peermem is not loaded; could not determine whether the nvidia driver is the open one, "
			"which supports DMA-BUF");
	if (system->nvidia_open.v && system->dmabuf.known != RD_OK)
		return unknown(
			"nvidia_peermem is not loaded; could not determine whether this kernel's RDMA core supports "
			"DMA-BUF");
	if (system->nvidia_open.v && system->dmabuf.v)
		return unknown(
			"nvidia_peermem is not loaded, and the kernel lacks CONFIG_PCI_P2PDMA, which DMA-BUF may need");
	return no("nvidia_peermem is not loaded, and DMA-BUF is not available");
}

static struct rd_offer of_amd(const struct rd_system *system)
{
	if (!system->modules_known)
		return unknown("could not read /proc/modules");
	if (!rd_system_module(system, "amdgpu"))
		return unknown("the amdgpu driver is not loaded");
	if (rd_text_list_has(&system->memory_peers, "amdkfd"))
		return yes("amdkfd");
	if (system->dmabuf.known != RD_OK)
		return unknown("could not determine whether this kernel's RDMA core supports DMA-BUF");
	if (rd_lacks_p2pdma(system))
		return no("no PeerDirect, and the kernel lacks CONFIG_PCI_P2PDMA");
	return system->dmabuf.v ? yes("DMA-BUF") : no("no PeerDirect, and the RDMA core does not support DMA-BUF");
}

struct rd_offer rd_gpudirect_offer(const struct rd_host *host, const struct rd_system *system, size_t gpu)
{
	const struct rd_gpu *of = &host->gpus[gpu];

	if (of->gdr.known == RD_OK)
		return of->gdr.v ? yes("gdr=\"1\" in the topology file") : no("gdr=\"0\" in the topology file");
	if (!system)
		return unknown("not in the topology file");
	if (rd_gpu_is_for_guest(host, gpu))
		return no("the accelerator is passed through to a virtual machine");
	if (of->vendor && strcmp(of->vendor, "NVIDIA") == 0)
		return of_nvidia(system, of);
	if (of->vendor && strcmp(of->vendor, "AMD") == 0)
		return of_amd(system);
	return unknown("unknown for accelerators of this vendor");
}
