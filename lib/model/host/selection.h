/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The RDMA devices and ports of a host that the user named. It only limits what is shown, never what is concluded. */
#ifndef RD_MODEL_SELECTION_H
#define RD_MODEL_SELECTION_H

#include "model/host/host.h"

/* NULL arrays: all. */
struct rd_selection {
	bool *ibdevs; /* a device of which at least one port is selected */
	bool *ports;
};

/* `names`: DEVICE, DEVICE/PORT (see rd_port_fits), interfaces of a port or PCI addresses, separated by commas; NULL: all. -ENODEV
 * with err filled if one of them does not exist. The caller deinits `ret`. */
int rd_selection_make(const struct rd_host *host, const char *names, struct rd_selection *ret, struct rd_err *err);
void rd_selection_deinit(struct rd_selection *selection);

static inline bool rd_selection_has_ibdev(const struct rd_selection *selection, size_t ibdev)
{
	return !selection->ibdevs || selection->ibdevs[ibdev];
}

static inline bool rd_selection_has_port(const struct rd_selection *selection, size_t port)
{
	return !selection->ports || selection->ports[port];
}

#endif
