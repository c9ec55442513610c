/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check/shared/pcie.h"

static int ibdev_of(const struct rd_host *host, size_t pci)
{
	/* A soft device has the PCI location of its interface, but is not that function's device. */
	for (size_t i = 0; i < host->n_ibdevs; i++)
		if (host->ibdevs[i].pci == (int)pci && !host->ibdevs[i].parent_netdev)
			return (int)i;
	return -1;
}

static int gpu_of(const struct rd_host *host, size_t pci)
{
	for (size_t i = 0; i < host->n_gpus; i++)
		if (host->gpus[i].pci == (int)pci)
			return (int)i;
	return -1;
}

bool rd_pci_is_nic(const struct rd_host *host, size_t pci)
{
	return ibdev_of(host, pci) >= 0;
}

static bool is_gpu(const struct rd_host *host, size_t pci)
{
	return gpu_of(host, pci) >= 0;
}

bool rd_pci_matters(const struct rd_host *host, size_t pci)
{
	return rd_pci_is_nic(host, pci) || is_gpu(host, pci);
}

const char *rd_pci_what(const struct rd_host *host, size_t pci)
{
	int ibdev = ibdev_of(host, pci);

	if (ibdev >= 0)
		return rd_ibdev_label(host, ibdev);
	return gpu_of(host, pci) >= 0 ? "GPU" : host->pcis[pci].addr;
}

double rd_pci_rate(const struct rd_host *host, size_t pci)
{
	double best = 0;

	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];
		/* Two ports in a LAG often exceed the bandwidth of their slot, by design. */
		double rate = port->leg_gbps.known == RD_OK  ? port->leg_gbps.v :
			      port->rate_gbps.known == RD_OK ? port->rate_gbps.v :
							       0;

		if (host->ibdevs[port->ibdev].pci == (int)pci && rate > best)
			best = rate;
	}
	return best;
}

const char *rd_pci_unread(const struct rd_pci *pci)
{
	if (pci->config_denied || pci->acs_ctl.known == RD_DENIED)
		return "PCI configuration space beyond the first 64 bytes not readable (needs root or "
		       "CAP_SYS_ADMIN)";
	return pci->config_read ? "register is missing in PCI configuration space" :
				  "PCI configuration space was not read";
}

bool rd_pci_is_fast(const struct rd_host *host, size_t pci)
{
	return rd_pci_is_nic(host, pci) && rd_pci_rate(host, pci) >= RD_FAST_GBPS;
}

enum rd_path rd_gpu_best_path(const struct rd_check_input *in, size_t gpu)
{
	enum rd_path best = RD_PATH_UNKNOWN;

	for (size_t n = 0; n < in->host->n_ibdevs; n++) {
		enum rd_path path = rd_nicmap_pair(in->map, gpu, n)->path;

		if (path != RD_PATH_UNKNOWN && (best == RD_PATH_UNKNOWN || path < best))
			best = path;
	}
	return best;
}
