/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the two halves of symmetry share. */
#ifndef RD_ANALYSE_SYMMETRY_PRIV_H
#define RD_ANALYSE_SYMMETRY_PRIV_H

#include "analyse/shared/symmetry.h"

/* What hangs below a bridge, or is this function. */
struct rd_below {
	bool is_gpu, is_nic;   /* an accelerator; a physical function of a make that does RDMA */
	bool near;	       /* has an accelerator below a switch above it */
	int gpu;	       /* a function of an accelerator that is or hangs below it; -1 */
	unsigned gpus, nics;   /* functions */
	unsigned main_gpus;    /* of the model that most have */
	unsigned main_nics;    /* cards of the board that most have below switches with accelerators */
	unsigned others;       /* devices that are neither */
	unsigned ports, empty; /* bridges on its secondary bus; bridges anywhere below that have nothing behind them */
	bool child;	       /* has something below */
	bool told_gpu, told_nic; /* something missing below has been told */
};

/* "10de:2330" or, of NICs, "15b3:1021:15b3:0041"; "" where an id is not known. `ret` has room for 32. */
void rd_board_key(const struct rd_pci *pci, bool subsystem, char *ret);

/* How many NICs would be one or more for each accelerator, or one for several. */
static inline bool rd_is_regular(unsigned nics, size_t gpus)
{
	return nics > 0 && gpus > 0 && (nics % gpus == 0 || gpus % nics == 0);
}

void rd_twins_find(const struct rd_port_views *views, const struct rd_below *below, struct rd_symmetry *ret);
void rd_sisters_find(const struct rd_host *host, struct rd_below *below, struct rd_symmetry *ret);

#endif
