/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by rules about PCIe. */
#ifndef RD_CHECK_PCIE_H
#define RD_CHECK_PCIE_H

#include "model/host/host.h"
#include "model/nicmap/nicmap.h"
#include "model/shared/check.h"

/* Whether the function belongs to an RDMA device; to an RDMA device or an accelerator. Interfaces of virtual machines and soft
 * devices do not count. */
bool rd_pci_is_nic(const struct rd_host *host, size_t pci);
bool rd_pci_matters(const struct rd_host *host, size_t pci);

/* "mlx5_0", "GPU3"; the PCI address of others. */
const char *rd_pci_what(const struct rd_host *host, size_t pci);

/* Rate of the fastest port of a function, Gbit/s; 0: unknown. */
double rd_pci_rate(const struct rd_host *host, size_t pci);

/* Below this rate, the effect of PCIe tuning is negligible. */
#define RD_FAST_GBPS 100.0
bool rd_pci_is_fast(const struct rd_host *host, size_t pci);

/* Distance of the NIC nearest to an accelerator. */
enum rd_path rd_gpu_best_path(const struct rd_check_input *in, size_t gpu);

/* Why the registers of a function are unknown. */
const char *rd_pci_unread(const struct rd_pci *pci);

#endif
