/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/qp/qp-counters.h"

#include <string.h>

#include "base/memory.h"

/* RD_QPC_N: not evidence. */
static enum rd_qp_count count_of(enum rd_topic topic)
{
	switch (topic) {
	case RD_TOPIC_TIMEOUT:
		return RD_QPC_RETRIES;
	case RD_TOPIC_RETRIES:
		return RD_QPC_EXHAUSTED;
	case RD_TOPIC_RNR_GOT:
		return RD_QPC_RNR;
	case RD_TOPIC_RNR_END:
		return RD_QPC_RNR_EXHAUSTED;
	default:
		return RD_QPC_N;
	}
}

static bool has_counter(const struct rd_qp_counters *counters, const char *name)
{
	for (size_t i = 0; i < counters->n; i++)
		if (strcmp(counters->v[i].name, name) == 0)
			return true;
	return false;
}

void rd_qp_counters_find(const struct rd_meanings *meanings, struct rd_qp_counters *ret)
{
	for (size_t i = 0; i < meanings->n; i++) {
		const char *name = meanings->v[i].name;
		enum rd_qp_count what = count_of(meanings->v[i].topic);

		if (what == RD_QPC_N || strpbrk(name, "*?[/") || has_counter(ret, name))
			continue;
		rd_reserve(&ret->v, &ret->cap, ret->n + 1, sizeof(*ret->v));
		ret->v[ret->n++] = (struct rd_qp_counter){ what, name };
	}
}
