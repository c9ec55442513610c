/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/host/symmetry.h"

void rd_symmetry_deinit(struct rd_symmetry *symmetry)
{
	for (size_t i = 0; i < symmetry->n_odds; i++)
		RD_FREE(symmetry->odds[i].is, symmetry->odds[i].usual);
	for (size_t i = 0; i < symmetry->n_missing; i++)
		free(symmetry->missing[i].empty);
	RD_FREE(symmetry->odds, symmetry->missing);
	*symmetry = (struct rd_symmetry){ 0 };
}

const struct rd_odd *rd_symmetry_odd(const struct rd_symmetry *symmetry, enum rd_trait trait, int pci, int port)
{
	for (size_t i = 0; symmetry && i < symmetry->n_odds; i++) {
		const struct rd_odd *odd = &symmetry->odds[i];

		if (odd->trait == trait && (port >= 0 ? odd->port == port : odd->pci == pci))
			return odd;
	}
	return NULL;
}
