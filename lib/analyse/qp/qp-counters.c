/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/qp/qp-verdict.h"

#include <string.h>

#include "base/memory.h"

/* Those without a topic of their own; a retrained link (topic "link-down") did not go down. */
static enum rd_qp_count count_by_name(const char *name)
{
	if (strcmp(name, "duplicate_request") == 0)
		return RD_QPC_DUPLICATES;
	if (strcmp(name, "retrans_pkts") == 0)
		return RD_QPC_NAKS;
	return strcmp(name, "link_downed") == 0 ? RD_QPC_LINK_DOWNED : RD_QPC_N;
}

/* RD_QPC_N: not evidence. */
static enum rd_qp_count count_of(enum rd_topic topic, const char *name)
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
	case RD_TOPIC_RNR:
		return RD_QPC_RNR_SENT;
	case RD_TOPIC_LOST:
		return rd_counts_requests(name) ? RD_QPC_NAKS : RD_QPC_OUT_OF_ORDER;
	case RD_TOPIC_PACKETS_SENT:
		return RD_QPC_SENT;
	case RD_TOPIC_PACKETS_GOT:
		return RD_QPC_GOT;
	default:
		return count_by_name(name);
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
		enum rd_qp_count what = count_of(meanings->v[i].topic, name);

		if (what == RD_QPC_N || strpbrk(name, "*?[/") || has_counter(ret, name))
			continue;
		*RD_ADD(ret->v, ret->n, ret->cap) = (struct rd_qp_counter){ what, name };
	}
}
