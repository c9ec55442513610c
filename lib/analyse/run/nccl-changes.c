/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What changed in NCCL between releases, as far as it decides which NIC is taken. Releases are its tags; the first that has it in
 * src/ is named. */
#include "analyse/run/against.h"
#include "base/text.h"

static const struct {
	unsigned minor, patch;
	const char *what;
} changes[] = {
	[RD_NCCL_PXN] = { 12, 7, "it sends through another GPU's NIC (PXN)" },
	[RD_NCCL_DMABUF] = { 13, 4, "it reaches GPU memory by DMA-BUF, without nvidia_peermem" },
	[RD_NCCL_MERGE_VFS] = { 18, 1, "it counts the functions of one card as one (NCCL_IB_MERGE_VFS)" },
	[RD_NCCL_DEAL] = { 19, 1, "it deals NICs that are equally near out among GPUs as it does today" },
	[RD_NCCL_MERGE_NICS] = { 20, 3, "it merges the ports of a card into one NIC (NCCL_IB_MERGE_NICS)" },
	[RD_NCCL_MERGE_LEVEL] = { 24, 3, "it merges NICs by their distance (NCCL_NET_MERGE_LEVEL)" },
	[RD_NCCL_C2C] = { 27, 3, "it knows the distance over C2C (P2C)" },
	[RD_NCCL_DATA_DIRECT] = { 27, 3, "it uses the data direct function of a NIC" },
	[RD_NCCL_PCI_ORDER] = { 29, 7, "it numbers NICs by PCI address (NCCL_IB_DEVICE_PCI_ORDER)" },
};

bool rd_nccl_lacks(const struct rd_runlog *log, enum rd_nccl_change change, char **ret)
{
	if (!rd_runlog_before(log, changes[change].minor, changes[change].patch))
		return false;
	*ret = rd_text("the run had NCCL %u.%u.%u, and only since 2.%u.%u %s", log->version[0], log->version[1],
		       log->version[2], changes[change].minor, changes[change].patch, changes[change].what);
	return true;
}
