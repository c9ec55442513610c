/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes between NCCL releases that affect the choice of NICs, with the first tag that has the change in src/. */
#include "analyse/run/against.h"
#include "base/text.h"

static const struct {
	unsigned minor, patch;
	const char *what;
} changes[] = {
	[RD_NCCL_PXN] = { 12, 7, "send through the NIC of another GPU (PXN)" },
	[RD_NCCL_DMABUF] = { 13, 4, "access GPU memory through DMA-BUF, without nvidia_peermem" },
	[RD_NCCL_MERGE_VFS] = { 18, 1, "treat the functions of a card as one NIC (NCCL_IB_MERGE_VFS)" },
	[RD_NCCL_DEAL] = { 19, 1, "distribute equally near NICs among GPUs as current releases do" },
	[RD_NCCL_MERGE_NICS] = { 20, 3, "merge the ports of a card into one NIC (NCCL_IB_MERGE_NICS)" },
	[RD_NCCL_MERGE_LEVEL] = { 24, 3, "merge NICs by distance (NCCL_NET_MERGE_LEVEL)" },
	[RD_NCCL_C2C] = { 27, 3, "have the path type P2C (C2C)" },
	[RD_NCCL_DATA_DIRECT] = { 27, 3, "use the data direct function of a NIC" },
	[RD_NCCL_PCI_ORDER] = { 29, 7, "number NICs by PCI address (NCCL_IB_DEVICE_PCI_ORDER)" },
};

bool rd_nccl_lacks(const struct rd_runlog *log, enum rd_nccl_change change, char **ret)
{
	if (!rd_runlog_before(log, changes[change].minor, changes[change].patch))
		return false;
	*ret = rd_text("the run had NCCL %u.%u.%u; only NCCL 2.%u.%u and later %s", log->version[0], log->version[1],
		       log->version[2], changes[change].minor, changes[change].patch, changes[change].what);
	return true;
}
