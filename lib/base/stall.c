/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/stall.h"

void rd_stalls_add(struct rd_stalls *stalls, const struct rd_stall *stall)
{
	if (rd_grow(&stalls->v, &stalls->cap, stalls->n + 1, sizeof(*stalls->v)) == 0)
		stalls->v[stalls->n++] = *stall;
}

void rd_stalls_deinit(struct rd_stalls *stalls)
{
	free(stalls->v);
	*stalls = (struct rd_stalls){ 0 };
}

const struct rd_stall *rd_stalls_first(const struct rd_stalls *stalls, enum rd_stall_kind kind)
{
	for (size_t i = 0; i < stalls->n; i++)
		if (stalls->v[i].kind == kind)
			return &stalls->v[i];
	return NULL;
}

size_t rd_stalls_count(const struct rd_stalls *stalls, enum rd_stall_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < stalls->n; i++)
		n += stalls->v[i].kind == kind;
	return n;
}
