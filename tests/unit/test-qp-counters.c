/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which counters are evidence of why queue pairs fail, and what is counted of a port that has some of them. */
#include "unit.h"

#include "analyse/qp/qp-verdict.h"
#include "collect/rdma/rdma.h"
#include "counter-table.h"
#include "fake-host.h"

static enum rd_qp_count what_of(const struct rd_qp_counters *counters, const char *name)
{
	for (size_t i = 0; i < counters->n; i++)
		if (strcmp(counters->v[i].name, name) == 0)
			return counters->v[i].what;
	return RD_QPC_N;
}

TEST(the_table_says_which)
{
	static const struct rd_qp_counter wanted[] = {
		{ RD_QPC_RETRIES, "completer_retry_err" },
		{ RD_QPC_RETRIES, "local_ack_timeout_err" },
		{ RD_QPC_RETRIES, "to_retransmits" },
		{ RD_QPC_EXHAUSTED, "retry_exceeded_err" },
		{ RD_QPC_EXHAUSTED, "req_transport_retries_exceeded" },
		{ RD_QPC_EXHAUSTED, "max_retry_exceeded" },
		{ RD_QPC_EXHAUSTED, "requester_retries_exceeded" },
		{ RD_QPC_RNR, "rcvd_rnr_err" },
		{ RD_QPC_RNR, "rnr_nak_retry_err" },
		{ RD_QPC_RNR, "rnr_naks_rcvd" },
		{ RD_QPC_RNR_EXHAUSTED, "retry_rnr_exceeded_err" },
		{ RD_QPC_RNR_EXHAUSTED, "req_rnr_retries_exceeded" },
		{ RD_QPC_NAKS, "packet_seq_err" },
		{ RD_QPC_NAKS, "rcvd_seq_err" },
		{ RD_QPC_OUT_OF_ORDER, "out_of_sequence" },
		{ RD_QPC_OUT_OF_ORDER, "out_of_seq_request" },
		{ RD_QPC_DUPLICATES, "duplicate_request" },
		{ RD_QPC_RNR_SENT, "send_rnr_err" },
		{ RD_QPC_RNR_SENT, "out_of_buffer" },
		{ RD_QPC_SENT, "sent_pkts" },
		{ RD_QPC_SENT, "port_xmit_packets" },
		{ RD_QPC_GOT, "port_rcv_packets" },
		{ RD_QPC_LINK_DOWNED, "link_downed" },
		/* A retrained link did not go down; names that are patterns are not those of files. */
		{ RD_QPC_N, "link_error_recovery" },
		{ RD_QPC_N, "implied_nak_seq_err" },
		{ RD_QPC_N, "resp_rx_*outouf_seq" },
		/* A blank, as tables have no others in names. */
		{ RD_QPC_RNR, "RNR?received" },
		{ RD_QPC_NAKS, "Nak?Sequence?Error" },
	};
	_cleanup_(rd_qp_counters_deinit) struct rd_qp_counters counters = { 0 };
	_cleanup_(rd_meanings_deinit) struct rd_meanings meanings = { 0 };

	counter_table_read(&meanings);
	rd_qp_counters_find(&meanings, &counters);
	for (size_t i = 0; i < RD_ARRAY_SIZE(wanted); i++)
		assert_int_equal(what_of(&counters, wanted[i].name), wanted[i].what);
}

TEST(ports_are_added_up_each_by_its_first_counter)
{
	static const char table[] = "mine site times 64-bit cause:timeout sum Mine.\n"
				    "mine other times 64-bit cause:timeout sum Mine.\n"
				    "more site times 64-bit cause:timeout sum More.\n"
				    "full site times 64-bit cause:retries-exceeded sum Full.\n"
				    "of?a?peer site packets 64-bit cause:rnr-received sum Of a peer.\n"
				    "port_rcv_packets * packets 64-bit load:packets-received sum Received.\n"
				    "port_xmit_packets * packets 64-bit load:packets-sent sum Sent.\n";
	_cleanup_(rd_qp_counters_deinit) struct rd_qp_counters counters = { 0 };
	_cleanup_(rd_meanings_deinit) struct rd_meanings meanings = { 0 };
	struct rd_errlist notes = { 0 };
	struct rd_qp_counts counts;
	_cleanup_(fake_host_deinit) struct fake_host host = fake_host_make();

	assert_int_equal(rd_meanings_parse("t", table, sizeof(table) - 1, &meanings, &notes, NULL), 0);
	rd_qp_counters_find(&meanings, &counters);
	assert_int_equal(counters.n, 6);
	fake_host_text(&host, "/sys/class/infiniband/a/ports/1/hw_counters/mine", "3\n");
	fake_host_text(&host, "/sys/class/infiniband/a/ports/1/hw_counters/more", "100\n");
	fake_host_text(&host, "/sys/class/infiniband/a/ports/2/hw_counters/more", "4\n");
	fake_host_text(&host, "/sys/class/infiniband/a/ports/1/counters/port_xmit_packets", "9\n");
	fake_host_text(&host, "/sys/class/infiniband/a/ports/1/counters/mine", "1000\n");
	fake_host_text(&host, "/sys/class/infiniband/a/ports/1/hw_counters/of a peer", "5\n");
	fake_host_text(&host, "/sys/class/infiniband/a/ports/1/counters/port_rcv_packets", "4294967295\n");
	rd_collect_qp_counts(host.source, "a", 2, &counters, &counts);
	assert_int_equal(counts.v[RD_QPC_RNR].v, 5);
	/* What has 32 bits stays at their end. */
	ASSERT_EACH(IS(counts.v[RD_QPC_GOT].known, RD_ABSENT), IS(counts.v[RD_QPC_RETRIES].known, RD_OK),
		    IS(counts.v[RD_QPC_RETRIES].v, 7), IS(counts.v[RD_QPC_EXHAUSTED].known, RD_ABSENT),
		    IS(counts.v[RD_QPC_SENT].v, 9));
}
