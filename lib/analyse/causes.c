/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/causes.h"

int rd_causes_find(const struct rd_moment *now, const struct rd_delta *deltas, double seconds, struct rd_causes *ret)
{
	(void)now;
	(void)deltas;
	(void)seconds;
	*ret = (struct rd_causes){ 0 };
	return 0;
}
