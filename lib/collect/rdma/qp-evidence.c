// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/rdma/qp-evidence.h"

#include "base/number.h"

#define PORTS_MAX 8 /* ports to read per NIC */

/* Counters of packets and links are in hw_counters or, as InfiniBand defines them, in counters. */
static bool may_be_standard(enum rd_qp_count what)
{
	return what == RD_QPC_SENT || what == RD_QPC_GOT || what == RD_QPC_LINK_DOWNED;
}

static char *read_counter(struct rd_source *src, const char *ibdev, unsigned port, const struct rd_qp_counter *counter)
{
	char *text = NULL;

	if (rd_read_textf(src, &text, NULL, "/sys/class/infiniband/%s/ports/%u/hw_counters/%s", ibdev, port,
			  counter->name) == 0)
		return text;
	if (may_be_standard(counter->what) &&
	    rd_read_textf(src, &text, NULL, "/sys/class/infiniband/%s/ports/%u/counters/%s", ibdev, port,
			  counter->name) == 0)
		return text;
	return NULL;
}

static void count_port(struct rd_source *src, const char *ibdev, unsigned port, const struct rd_qp_counters *counters,
		       struct rd_qp_counts *ret)
{
	bool counted[RD_QPC_N] = { false };

	for (size_t i = 0; i < counters->n; i++) {
		enum rd_qp_count what = counters->v[i].what;
		_cleanup_free_ char *text = counted[what] ? NULL : read_counter(src, ibdev, port, &counters->v[i]);
		const char *at = text;
		uint64_t value;

		if (!text || rd_take_uint(&at, RD_DECIMAL, UINT64_MAX, &value) < 0)
			continue;
		counted[what] = true;
		ret->v[what].v += value;
		ret->v[what].known = RD_OK;
	}
}

void rd_collect_qp_counts(struct rd_source *src, const char *ibdev, unsigned n_ports,
			  const struct rd_qp_counters *counters, struct rd_qp_counts *ret)
{
	*ret = (struct rd_qp_counts){ 0 };
	for (unsigned port = 1; port <= n_ports && port <= PORTS_MAX; port++)
		count_port(src, ibdev, port, counters, ret);
}
