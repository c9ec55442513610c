/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/host/selection.h"

#include <errno.h>
#include <fnmatch.h>

#include "base/memory.h"
#include "base/text.h"

static bool is_interface_of(const struct rd_host *host, const struct rd_port *port, const char *name)
{
	if (port->netdev_name && fnmatch(name, port->netdev_name, 0) == 0)
		return true;
	for (size_t i = 0; i < port->n_netdevs; i++) {
		const char *own = host->netdevs[port->netdevs[i]].name;

		if (own && fnmatch(name, own, 0) == 0)
			return true;
	}
	return false;
}

/* Returns whether anything has this name. */
static bool select_named(const struct rd_host *host, const char *name, struct rd_selection *ret)
{
	int pci = rd_host_find_pci(host, name);
	bool found = false;

	for (size_t d = 0; d < host->n_ibdevs; d++)
		if (fnmatch(name, rd_ibdev_label(host, (int)d), 0) == 0 || (pci >= 0 && host->ibdevs[d].pci == pci))
			found = ret->ibdevs[d] = true;
	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];

		if (rd_port_fits(name, rd_ibdev_label(host, port->ibdev), port->num) ||
		    is_interface_of(host, port, name) || (pci >= 0 && host->ibdevs[port->ibdev].pci == pci))
			found = ret->ports[p] = ret->ibdevs[port->ibdev] = true;
	}
	return found;
}

int rd_selection_make(const struct rd_host *host, const char *names, struct rd_selection *ret, struct rd_err *err)
{
	*ret = (struct rd_selection){ 0 };
	if (!names)
		return 0;
	ret->ibdevs = rd_alloc(host->n_ibdevs + 1, sizeof(*ret->ibdevs));
	ret->ports = rd_alloc(host->n_ports + 1, sizeof(*ret->ports));
	for (const char *at = names; at;) {
		_cleanup_free_ char *name = rd_next_part(&at, ',');

		if (select_named(host, name, ret))
			continue;
		rd_err_set(err, ENODEV, name, "no such RDMA device, port, interface or PCI address");
		rd_err_hint(err, "rdmadiag nic-map");
		return -ENODEV;
	}
	return 0;
}

void rd_selection_deinit(struct rd_selection *selection)
{
	RD_FREE(selection->ibdevs, selection->ports);
	*selection = (struct rd_selection){ 0 };
}
