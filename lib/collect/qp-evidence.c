// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/qp-evidence.h"

#include <ctype.h>

#define PORTS_MAX 8 /* of a NIC: no more is asked */

/* As the drivers name them. The first that a port has counts for it. */
static const struct {
	enum rd_qp_count what;
	const char *name;
} counters[] = {
	{ RD_QPC_RETRIES, "completer_retry_err" }, /* soft-RoCE */
	{ RD_QPC_RETRIES, "local_ack_timeout_err" },
	{ RD_QPC_RETRIES, "to_retransmits" },
	{ RD_QPC_EXHAUSTED, "retry_exceeded_err" }, /* soft-RoCE */
	{ RD_QPC_EXHAUSTED, "req_transport_retries_exceeded" },
	{ RD_QPC_EXHAUSTED, "max_retry_exceeded" },
	{ RD_QPC_RNR, "rcvd_rnr_err" }, /* soft-RoCE */
	{ RD_QPC_RNR, "rnr_nak_retry_err" },
	{ RD_QPC_RNR, "rnr_naks_rcvd" },
	{ RD_QPC_RNR_EXHAUSTED, "retry_rnr_exceeded_err" }, /* soft-RoCE */
	{ RD_QPC_RNR_EXHAUSTED, "req_rnr_retries_exceeded" },
};

void rd_collect_qp_counts(struct rd_source *src, const char *ibdev, unsigned n_ports, struct rd_qp_counts *ret)
{
	*ret = (struct rd_qp_counts){ 0 };
	for (unsigned port = 1; port <= n_ports && port <= PORTS_MAX; port++) {
		bool had[RD_QPC_N] = { false };

		for (size_t i = 0; i < RD_ARRAY_SIZE(counters); i++) {
			_cleanup_free_ char *text = NULL;

			if (had[counters[i].what] ||
			    rd_read_textf(src, &text, NULL, "/sys/class/infiniband/%s/ports/%u/hw_counters/%s", ibdev,
					  port, counters[i].name) ||
			    !isdigit((unsigned char)*text))
				continue;
			had[counters[i].what] = true;
			ret->v[counters[i].what].v += strtoull(text, NULL, 10);
			ret->v[counters[i].what].known = RD_OK;
		}
	}
}
