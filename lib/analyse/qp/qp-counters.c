/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/qp/qp-verdict.h"

#include <string.h>

#include "base/memory.h"

/* Evidence by topic, else by name; a retrained link (topic "link-down") did not go down. */
static const struct {
	enum rd_topic topic;
	enum rd_qp_count what;
} topics[] = {
	{ RD_TOPIC_TIMEOUT, RD_QPC_RETRIES },	{ RD_TOPIC_RETRIES, RD_QPC_EXHAUSTED },
	{ RD_TOPIC_RNR_GOT, RD_QPC_RNR },	{ RD_TOPIC_RNR_END, RD_QPC_RNR_EXHAUSTED },
	{ RD_TOPIC_RNR, RD_QPC_RNR_SENT },	{ RD_TOPIC_LOST, RD_QPC_OUT_OF_ORDER },
	{ RD_TOPIC_PACKETS_SENT, RD_QPC_SENT }, { RD_TOPIC_PACKETS_GOT, RD_QPC_GOT },
};
static const struct {
	const char *name;
	enum rd_qp_count what;
} names[] = {
	{ "duplicate_request", RD_QPC_DUPLICATES },
	{ "retrans_pkts", RD_QPC_NAKS },
	{ "link_downed", RD_QPC_LINK_DOWNED },
};

/* RD_QPC_N: not evidence. */
static enum rd_qp_count count_of(enum rd_topic topic, const char *name)
{
	if (topic == RD_TOPIC_LOST && rd_counts_requests(name))
		return RD_QPC_NAKS;
	for (size_t i = 0; i < RD_ARRAY_SIZE(topics); i++)
		if (topics[i].topic == topic)
			return topics[i].what;
	for (size_t i = 0; i < RD_ARRAY_SIZE(names); i++)
		if (strcmp(names[i].name, name) == 0)
			return names[i].what;
	return RD_QPC_N;
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
