/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What rules about PCIe share. */
#ifndef RD_CHECK_PCIE_H
#define RD_CHECK_PCIE_H

#include "model/host/host.h"
#include "model/nicmap/nicmap.h"
#include "model/shared/check.h"

/* Is the function of an RDMA device; of one or of an accelerator. Interfaces of virtual machines and soft devices have
 * none that would count. */
bool rd_pci_is_nic(const struct rd_host *host, size_t pci);
bool rd_pci_matters(const struct rd_host *host, size_t pci);

/* "mlx5_0", "GPU3"; the PCI address of others. */
const char *rd_pci_what(const struct rd_host *host, size_t pci);

/* The rate of the fastest port on a function, Gbit/s; 0: not known. */
double rd_pci_rate(const struct rd_host *host, size_t pci);

/* Below this rate the finer settings of PCIe cost nothing that anybody would notice. */
#define RD_FAST_GBPS 100.0
bool rd_pci_is_fast(const struct rd_host *host, size_t pci);

/* The distance of the NIC that is nearest to an accelerator. */
enum rd_path rd_gpu_best_path(const struct rd_check_input *in, size_t gpu);

/* Why the registers of a function are not known. */
const char *rd_pci_unread(const struct rd_pci *pci);

#endif
