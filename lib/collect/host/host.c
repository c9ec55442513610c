/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/host/host.h"

#include "base/memory.h"
#include "collect/host/verbs.h"

static int first_of_bus(const struct rd_host *host, int pci)
{
	const struct rd_pci *of = pci >= 0 ? &host->pcis[pci] : NULL;

	for (size_t i = 0; of && (of->dev || of->fn) && i < host->n_pcis; i++)
		if (host->pcis[i].domain == of->domain && host->pcis[i].bus == of->bus && !host->pcis[i].dev &&
		    !host->pcis[i].fn)
			return (int)i;
	return -1;
}

/* Functions and bridges that several devices have in common are read once. */
static void read_details(const struct rd_sysfs *fs, unsigned what, struct rd_host *host)
{
	for (size_t i = 0; i < host->n_ibdevs; i++) {
		rd_collect_pci_detail(fs, host, host->ibdevs[i].pci, what);
		/* NCCL uses it as the location of all NICs on the bus. */
		rd_collect_pci_detail(fs, host, first_of_bus(host, host->ibdevs[i].pci), 0);
		if (host->ibdevs[i].pci >= 0 && host->pcis[host->ibdevs[i].pci].driver)
			host->ibdevs[i].driver = rd_dup(host->pcis[host->ibdevs[i].pci].driver);
	}
	for (size_t i = 0; what & (RD_COLLECT_ACS | RD_COLLECT_PCI) && i < host->n_gpus; i++)
		rd_collect_pci_detail(fs, host, host->gpus[i].pci, what);
	if (what & RD_COLLECT_PCI) {
		rd_collect_pci_orphans(fs, host, what);
		rd_collect_pci_sisters(fs, host);
	}
	rd_collect_pci_slots(fs, host);
}

static void name_gpus(const struct rd_sysfs *fs, struct rd_host *host)
{
	for (size_t i = 0; i < host->n_gpus; i++) {
		const struct rd_pci *pci = &host->pcis[host->gpus[i].pci];

		if (host->gpus[i].name || pci->vendor.known != RD_OK || pci->device.known != RD_OK)
			continue;
		if (!host->ids)
			rd_collect_pci_ids(fs, host);
		/* Most hosts have several of one model. */
		if (i > 0 && host->gpus[i - 1].name && host->pcis[host->gpus[i - 1].pci].vendor.v == pci->vendor.v &&
		    host->pcis[host->gpus[i - 1].pci].device.v == pci->device.v)
			host->gpus[i].name = rd_dup(host->gpus[i - 1].name);
		else
			host->gpus[i].name = rd_pci_ids_device(host, pci->vendor.v, pci->device.v);
	}
}

int rd_collect_host(struct rd_source *src, unsigned what, struct rd_host *host, struct rd_errlist *errors,
		    struct rd_err *err)
{
	const struct rd_sysfs fs = { .src = src, .errors = errors };
	int r;

	rd_collect_numa(&fs, host);
	r = rd_collect_pci(&fs, host, err);
	if (r)
		return r;
	rd_collect_ib(&fs, what, host);
	rd_collect_netdev(&fs, host);
	rd_collect_join_netdevs(host);
	rd_collect_gpu(&fs, host);
	rd_collect_pci_marks(&fs, host);
	read_details(&fs, what, host);
	rd_collect_verbs(src, what & RD_COLLECT_VERBS, host, errors);
	name_gpus(&fs, host);
	return 0;
}
