/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by twins.c and sisters.c. */
#ifndef RD_ANALYSE_SYMMETRY_PRIV_H
#define RD_ANALYSE_SYMMETRY_PRIV_H

#include "analyse/shared/symmetry.h"

/* What is below a bridge, or what the function itself is. */
struct rd_below {
	bool is_gpu, is_nic;		 /* an accelerator; a physical function of a model with RDMA */
	bool near;			 /* a switch above it has an accelerator below */
	int gpu;			 /* an accelerator's function: this one or one below; -1: none */
	unsigned gpus, nics;		 /* functions */
	unsigned main_gpus;		 /* of the model that most have */
	unsigned main_nics;		 /* cards of the board that most have below switches with accelerators */
	unsigned others;		 /* devices that are neither */
	unsigned ports, empty;		 /* bridges on its secondary bus; empty bridges anywhere below */
	bool child;			 /* has something below */
	bool reported_gpu, reported_nic; /* a missing device below has been reported */
};

/* "10de:2330" or, for NICs, "15b3:1021:15b3:0041"; "" if an ID is unknown. `ret`: 32 bytes. */
void rd_board_key(const struct rd_pci *pci, bool subsystem, char *ret);

/* Whether there is a whole number of NICs per accelerator, or of accelerators per NIC. */
static inline bool rd_is_regular(unsigned nics, size_t gpus)
{
	return nics > 0 && gpus > 0 && (nics % gpus == 0 || gpus % nics == 0);
}

void rd_twins_find(const struct rd_port_views *views, const struct rd_below *below, struct rd_symmetry *ret);
void rd_sisters_find(const struct rd_host *host, struct rd_below *below, struct rd_symmetry *ret);

#endif
