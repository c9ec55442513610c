/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of a host that is compared with other hosts; about a thousandth of the size of a struct rd_host. */
#ifndef RD_MODEL_COMPARED_H
#define RD_MODEL_COMPARED_H

#include "base/base.h"

struct rd_compared_port {
	char *place; /* "0000:15:00.0/1", the same on hosts that are built alike; the label if there is no PCI function */
	char *label;							   /* "mlx5_0/1" */
	char *board, *subnet, *rate, *mtu, *firmware, *state, *link_layer; /* NULL: unknown; rate in Gbit/s */
	bool compute;
};

/* The NIC that NCCL selects for an accelerator. */
struct rd_rail {
	int gpu;     /* index into gpus */
	size_t port; /* index into ports */
	char *nic;   /* "mlx5_0/1" */
};

/* A setting of a port, its interface, a PCI function or the host: see model/host/attributes.h. */
struct rd_compared_setting {
	char *place; /* as above, and the field: "0000:15:00.0/1 pkeys" */
	char *label; /* "mlx5_0/1 pkeys"; NULL: the same */
	char *value;
};

struct rd_compared {
	char *name;	     /* of the host, for messages */
	char **gpus, **nics; /* PCI addresses, else labels */
	struct rd_compared_port *ports;
	struct rd_rail *rails;
	struct rd_compared_setting *settings;
	size_t n_gpus, n_nics, n_ports, n_rails, n_settings;
};
void rd_compared_deinit(struct rd_compared *host);

#endif
