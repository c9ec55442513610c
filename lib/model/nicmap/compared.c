/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/nicmap/compared.h"

static void free_texts(char **texts, size_t n)
{
	for (size_t i = 0; texts && i < n; i++)
		free(texts[i]);
	free(texts);
}

void rd_compared_deinit(struct rd_compared *host)
{
	free(host->name);
	free_texts(host->gpus, host->n_gpus);
	free_texts(host->nics, host->n_nics);
	for (size_t i = 0; i < host->n_ports; i++) {
		struct rd_compared_port *port = &host->ports[i];

		RD_FREE(port->place, port->label, port->board, port->subnet, port->rate, port->mtu, port->firmware,
			port->state, port->link_layer);
	}
	for (size_t i = 0; i < host->n_rails; i++)
		free(host->rails[i].nic);
	for (size_t i = 0; i < host->n_settings; i++)
		RD_FREE(host->settings[i].place, host->settings[i].label, host->settings[i].value);
	RD_FREE(host->ports, host->rails, host->settings);
	*host = (struct rd_compared){ 0 };
}
